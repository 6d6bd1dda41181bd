"""Reference pages that are read off the code: commands, metrics, findings, the document, errors, settings."""

from __future__ import annotations

import inspect
import json
import math
import re
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from pathlib import Path
from types import UnionType
from typing import Any

import click

from evalreport.core.json_codec import DRAWN, NullIsInfinite
from evalreport.data.labels import Binary, Graded, Multiclass, Multilabel

TASKS = {
    "binary": ("Two classes", Binary),
    "multiclass": ("Several classes", Multiclass),
    "multilabel": ("Several labels", Multilabel),
    "graded": ("Graded items", Graded),
}


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table; what would end a cell is escaped."""
    names = list(head)
    lines = [names, ["---"] * len(names), *rows]
    return (
        "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in lines) + "\n"
    )


def plain(text: str) -> str:
    """Escape brackets and stars outside of backticks."""
    parts = " ".join(text.split()).split("`")
    parts[::2] = [re.sub(r"([<*_\[\]])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)


# commands


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every command with its words, those below `sweep` as well."""
    from evalreport.cli import group

    ctx = click.Context(group, info_name="evalreport")
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        assert command is not None
        yield name, command
        if isinstance(command, click.Group):
            for below in command.list_commands(ctx):
                inner = command.get_command(ctx, below)
                assert inner is not None
                yield f"{name} {below}", inner


def command_page() -> str:
    """Every command and option, from its own help."""
    parts = [
        "# Commands\n\nOptions may also be set as `EVALREPORT_<OPTION>` in the environment or in "
        "[a file](settings.md).\n"
    ]
    for words, command in commands():
        parts.append(f"## `evalreport {words}`\n\n{plain(command.help or '')}\n")
        sections: dict[str, list[tuple[str, str]]] = {}
        ctx = click.Context(command, info_name=words)
        for param in command.params:
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if record:
                sections.setdefault(getattr(param, "section", "Options"), []).append(record)
        for title, records in sections.items():
            rows = [(f"`{option}`", plain(told)) for option, told in records]
            parts.append(f"**{title}**\n\n{table(('option', 'what it does'), rows)}")
    return "\n".join(parts)


# metrics


def metric_page(task: str) -> str:
    """Every metric of a task: what it is, when to use it, how it misleads, what its interval holds."""
    from evalreport.metrics.catalogue import everything

    metrics = [metric for metric in everything() if metric.task == task]
    listed = table(
        ("metric", "what it is"), ((f"[`{m.name}`](#{m.name})", plain(m.meaning)) for m in metrics)
    )
    return "\n".join(
        [f"# Metrics: {TASKS[task][0].lower()}\n\n{listed}", *(_metric(metric, task) for metric in metrics)]
    )


def _metric(metric: Any, task: str) -> str:
    from evalreport.intervals.estimates import METHODS, measured_methods

    better = {"one": "nearer to 1", "zero": "nearer to 0", "neither": "neither way"}.get(
        metric.better, metric.better
    )
    methods = [f"{name}: {METHODS[name]}" for name in measured_methods(task, metric.name)]
    rows = [
        ("formula", f"`{metric.formula}`"),
        ("range", f"{metric.low:g} to {metric.high:g}; better: {better}"),
        ("needs", metric.needs),
        ("interval", plain("; ".join(methods) or metric.interval)),
        ("coverage", _coverage(task, metric.name)),
        ("source", plain(metric.source)),
        ("use it", plain(metric.use)),
        ("trap", plain(metric.trap)),
    ]
    told = "".join(f"{name}\n: {text}\n\n" for name, text in rows if text)
    return f"({metric.name}-{task})=\n## {metric.name}\n\n**{plain(metric.title)}**: {plain(metric.meaning)}.\n\n{told}"


def _coverage(task: str, name: str) -> str:
    """What was measured of a metric's 95% interval, in a sentence."""
    from evalreport.core.format import percent
    from evalreport.intervals.estimates import measured_coverage, off_coverage

    rows = measured_coverage(task, name)
    if not rows:
        return "not simulated"
    shares = sorted(row.coverage for row in rows)
    off = [f"{row.setting}, n = {row.n:,}: {percent(row.coverage)}" for row in off_coverage(task, name)]
    told = f"{percent(shares[0])} to {percent(shares[-1])} in {len(rows)} simulated settings"
    return plain(told + (f"; outside of 93 to 97%: {'; '.join(off)}" if off else ""))


# findings


def finding_page() -> str:
    """Every finding, with what makes it appear and what silences it."""
    from evalreport.findings.ordered_rules import SUPPRESSED_BY, rules

    rows = [
        (
            f"`{rule.__name__}`",
            plain(inspect.getdoc(rule) or ""),
            ", ".join(f"`{name}`" for name in SUPPRESSED_BY.get(rule.__name__, ())),
        )
        for rule in rules()
    ]
    return (
        "# Findings\n\nStatements about the model, most important first. The numbers behind each are in "
        "`evaluation.json` under `findings`. A finding is omitted when another one states the cause.\n\n"
        + table(("finding", "appears when", "omitted with"), rows)
    )


# evaluation.json


def schema_page() -> str:
    """Every object of `evaluation.json` with its keys and types, from the hints that read and write it."""
    from evalreport.evaluation.evaluation import EvaluationRecord

    queue: list[type] = [EvaluationRecord]
    parts = [
        "# evaluation.json\n\nEverything known of one run, and read back without loss by "
        "`evalreport.Evaluation.from_json`. What is not finite is null; an undefined value is an object with its "
        "`reason`. Keys, types and ranges are checked when it is read; "
        "{download}`evaluation.schema.json` is its JSON Schema. The changelog lists the keys renamed in schema 2.\n"
    ]
    for kind in queue:
        hints = typing.get_type_hints(kind)
        queue += [found for hint in hints.values() for found in _inside(hint) if found not in queue]
        about = (inspect.getdoc(kind) or "").partition("\n\n")[0]
        rows = [(f"`{field.name}`", f"`{_typed(hints[field.name])}`") for field in fields(kind)]
        parts.append(f"## {kind.__name__}\n\n{plain(about)}\n\n{table(('key', 'type'), rows)}")
    return "\n".join(parts)


def document_schema() -> dict[str, Any]:
    """The JSON Schema of `evaluation.json`, from the hints that read and write it."""
    from evalreport.evaluation.evaluation import EvaluationRecord

    known: dict[str, Any] = {}
    whole = _schema(EvaluationRecord, known)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **whole, "$defs": known}


def _schema(hint: Any, known: dict[str, Any]) -> dict[str, Any]:
    """The schema of a type hint; those of dataclasses go to `known`, by name."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    made: dict[str, Any] = {}
    if origin is typing.Annotated and inner[1] is NullIsInfinite:
        made = {"type": ["number", "null"], "minimum": -DRAWN, "maximum": DRAWN}
    elif origin is typing.Annotated:
        ends = {"minimum": inner[1].low, "maximum": inner[1].high}
        made = _schema(inner[0], known) | {name: end for name, end in ends.items() if math.isfinite(end)}
    elif origin is typing.Literal:
        made = {"enum": list(inner)}
    elif origin in (typing.Union, UnionType):
        made = {"anyOf": [_schema(one, known) for one in inner]}
    elif origin is tuple and inner[-1] is Ellipsis:
        made = {"type": "array", "items": _schema(inner[0], known)}
    elif origin is tuple:
        parts = [_schema(one, known) for one in inner]
        made = {"type": "array", "prefixItems": parts, "items": False, "minItems": len(parts)}
    elif origin is not None:
        made = {"type": "object", "additionalProperties": _schema(inner[1], known)}
    elif hasattr(hint, "from_wire"):
        made = _schema(typing.get_type_hints(hint.from_wire, include_extras=True)["wire"], known)
    elif is_dataclass(hint):
        made = {"$ref": f"#/$defs/{_defined(hint, known)}"}
    elif hint is not Any:
        types = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
        made = {"type": types[hint]}
    return made


def _defined(kind: Any, known: dict[str, Any]) -> str:
    """The name of a dataclass, whose schema is now known."""
    if kind.__name__ not in known:
        known[kind.__name__] = made = {"type": "object", "additionalProperties": False}
        hints, own = typing.get_type_hints(kind, include_extras=True), [entry.name for entry in fields(kind)]
        keys = getattr(kind, "KEYS", own)
        made["properties"] = {key: _schema(hints[key] if key in own else Any, known) for key in keys}
        made["required"] = list(keys)
    return str(kind.__name__)


def _inside(hint: Any) -> Iterator[type]:
    """The dataclasses that a type hint names, as they stand in the file."""
    if is_dataclass(hint) and isinstance(hint, type):
        wire = getattr(hint, "from_wire", None)
        if wire is not None:
            hints = {k: v for k, v in typing.get_type_hints(wire.__func__).items() if k != "return"}
            yield from _inside(next(iter(hints.values())))
        else:
            yield hint
    for inner in typing.get_args(hint):
        yield from _inside(inner)


def _typed(hint: Any) -> str:
    """A type hint as JSON would say it."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return _typed(inner[0])
    if origin is typing.Literal:
        return " or ".join(repr(value) for value in inner)
    if origin in (typing.Union, UnionType):
        return " or ".join(dict.fromkeys(_typed(one) for one in inner))
    if origin in (tuple, list):
        kinds = " , ".join(dict.fromkeys(_typed(one) for one in inner if one is not Ellipsis))
        return f"list of ({kinds})" if "or" in kinds or "," in kinds else f"list of {kinds}"
    if origin is not None and issubclass(origin, Mapping):
        return f"object of {_typed(inner[1])}"
    simple = {str: "text", int: "integer", float: "number", bool: "true or false", type(None): "null"}
    return simple.get(hint) or (getattr(next(_inside(hint), hint), "__name__", None) or "any").replace(
        "ndarray", "list"
    )


# errors and settings


def error_page() -> str:
    """Every kind of error with its code and the command's exit code."""
    from evalreport.core.errors import EvalreportError

    def below(kind: type[EvalreportError]) -> Iterator[type[EvalreportError]]:
        yield kind
        for one in kind.__subclasses__():
            yield from below(one)

    kinds: dict[str, type[EvalreportError]] = {}
    for kind in below(EvalreportError):
        kinds.setdefault(kind.code, kind)
    del kinds[EvalreportError.code]
    rows = [
        (str(kind.exit_code), f"`{code}`", plain((inspect.getdoc(kind) or "").partition("\n\n")[0]))
        for code, kind in kinds.items()
    ]
    fixed = [
        ("0", "", "done"),
        ("1", "", "a check failed, or is inconclusive"),
        ("101", "", "a defect of evalreport"),
        (
            "130",
            "",
            "interrupted; the parts already logged are listed; the same command completes the logging",
        ),
    ]
    listed: list[tuple[str, str, str]] = sorted([*fixed, *rows], key=lambda row: int(row[0]))
    return (
        "# Exit codes and errors\n\nEvery error has three lines: what went wrong, where, and how to fix it. With `--json` "
        "it is an object with `code`, `message`, `where` and `fix`. With several runs the highest code is used.\n\n"
        + table(("exit code", "code", "meaning"), listed)
    )


def setting_page() -> str:
    """Every key that a settings file may hold."""
    from evalreport.cli.settings import CHECK, KNOWN, OF_CHECK, SETTINGS

    told: dict[str | None, str] = {}
    for _, command in commands():
        for param in command.params:
            told.setdefault(param.name, getattr(param, "help", None) or "")
    words = {
        "code": "may name code, only in a trusted file",
        "server": "only in a trusted file",
        "cluster": "only in a trusted file",
        "path": "a path",
        "list or @path": "a list, or a path after @",
    }
    reach = {**SETTINGS, **OF_CHECK}
    rows = [
        (f"`{key}`", plain(told.get(key) or told.get(f"{key}s") or ""), words.get(reach[key], ""))
        for key in (*KNOWN, *CHECK)
    ]
    return (
        "# Settings\n\nAn option beats `EVALREPORT_<OPTION>` in the environment, which beats `[tool.evalreport]` in "
        "`pyproject.toml`, which beats `evalreport.toml`; `evalreport config` shows each value and where it comes from. "
        f"{', '.join(f'`{key}`' for key in CHECK)} stand in `[tool.evalreport.check]`.\n\n"
        "A tracking server, a cluster, or code to run, named in a file of the repository is ignored with a warning, and a path that "
        "leads out of the repository, itself or by a link, is refused, until you name the file with `--config` or set "
        "`EVALREPORT_TRUST_CONFIG=1`.\n\n" + table(("key", "what it does", ""), rows)
    )


PAGES: Mapping[str, Callable[[], str]] = {
    "commands": command_page,
    **{f"metrics-{task}": partial(metric_page, task) for task in TASKS},
    "findings": finding_page,
    "evaluation-json": schema_page,
    "errors": error_page,
    "settings": setting_page,
}


def write(folder: Path) -> None:
    """Write every page into a folder; one that is as it was keeps its time, so that Sphinx does not read it again."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in PAGES.items():
        path, text = folder / f"{name}.md", make()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    schema = json.dumps(document_schema(), indent=1)
    (folder / "evaluation.schema.json").write_text(schema, encoding="utf-8")

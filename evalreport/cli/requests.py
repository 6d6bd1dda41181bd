"""From parsed options to the values that the workflow takes."""

from __future__ import annotations

import math
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import click
from click.shell_completion import CompletionItem

from evalreport.core.bounds import number
from evalreport.core.errors import UsageError
from evalreport.core.text import redact

if TYPE_CHECKING:
    from evalreport.columns.column_request import Columns
    from evalreport.intervals.interval_settings import Sampling
    from evalreport.tracking.runs import Selection
    from evalreport.workflow.request import Destination, Request


LONGEST_NOTES = 50_000
"""Bytes of the notes of a page, which stays one file that can be sent."""


ENGINE = ("engine", "approximate", "spark_master")
"""Options of what counts the rows, beside the memory that it may take."""
PAGE = 200_000_000
FIGURES = 150_000_000
MLFLOW = 150_000_000
"""Bytes of a process beside the scores of its rows: Python, its libraries, a batch of rows and the page (185
MB measured at 1e8 rows); figures (305 MB with them, at 1e4 rows); MLflow's client (405 MB with both)."""


def request_of(options: Mapping[str, Any], command: str) -> Request:
    """Return what the options say about the data, the evaluation and the page."""
    from evalreport.workflow.request import Request

    plain = ("artifact", "format", "truth_file", "fuzzy", "ordered", "tune_on")
    engine = (name for name in ENGINE if name in options)
    return Request(
        **{name: options[name] for name in (*plain, *engine)},
        **memory_of(options),
        columns=_columns(options),
        parse=options["parse"] or "auto",
        threshold=None if options["threshold"] is None else str(options["threshold"]),
        sampling=_sampling(options),
        metrics=several_words(options["metrics"]),
        prevalence=options.get("prevalence"),
        title=options.get("title") or "",
        unit=_unit(options.get("unit")),
        no_examples=bool(options.get("no_examples")),
        find_slices=not options.get("no_find_slices"),
        label_names=_label_names(options.get("label_names")),
        notes=read_notes(options.get("notes")),
        command=command,
        made=written_now(),
    )


def memory_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the memory for the scores of a stream: what ``--set memory`` leaves beside the process itself.

    A task of Spark is another process: there the option is what its scores may take.

    Raises
    ------
    UsageError
        The limit is lower than what the process takes without a row.

    Examples
    --------
    >>> memory_of({"memory": 1_000_000_000, "run_ids": ()})
    {'memory': 800000000}
    """
    given = options.get("memory")
    if given is None or options.get("engine") == "spark" or options.get("table"):
        return {} if given is None else {"memory": given}
    runs = any(options.get(name) for name in ("run_ids", "experiment", "latest", "log_to"))
    figures = bool(options.get("out")) or runs
    floor = PAGE + FIGURES * figures + MLFLOW * runs
    if given < floor:
        what = "".join([" and figures" * figures, " and MLflow's client" * runs])
        raise UsageError(
            f"--set memory={given / 1e6:,.0f} MB is less than Python, its libraries{what} take without a row",
            where="--set memory",
            fix=f"pass --set memory={floor / 1e6:.0f}MB or more",
        )
    return {"memory": given - floor}


def _columns(options: Mapping[str, Any]) -> Columns:
    """Return what the options say about the data."""
    from evalreport.columns.column_request import Columns, GradeColumns, read_labels

    task = options["task"]
    named = ("truth", "pred", "score", "scores", "id", "weight", "fold", "positive")
    plain = (
        "score_kind",
        "batch_axis",
        "list_separator",
        "no_scores",
        "missing",
        "weight_kind",
        "slice_bins",
    )
    return Columns(
        **{name: options[name] for name in (*named, *plain)},
        text=options["response"],
        example_text=options["show_text"],
        group=tuple(options["group"]),
        slices=several_words(options["slices"]),
        task=None if task == "auto" else task,
        labels=_labels(options["labels"], read_labels),
        where=tuple(options["where"]),
        several_answers=options["repeats"],
        graded=GradeColumns(
            **{name: options[name] for name in ("grade", "repeat", "judge", "human")},
            measures=several_words(options["measure"]),
            passing=options["pass"],
        ),
    )


def _sampling(options: Mapping[str, Any]) -> Sampling:
    from evalreport.intervals.interval_settings import Sampling

    settings = Sampling(
        resamples=options["resamples"],
        seed=options["seed"],
        constraint_confidence=options.get("constraint_confidence"),
    )
    return settings.with_confidence(options["confidence"])


def _labels(value: Any, read: Any) -> tuple[Any, ...] | None:
    if value is None or isinstance(value, (list, tuple)):
        return tuple(value) if value else None
    labels: tuple[Any, ...] = read(value)
    return labels


def several_words(value: Any) -> tuple[str, ...]:
    """Return several names: of an option that repeats, a list of the settings, or words with commas.

    Examples
    --------
    >>> several_words("model, f1_macro")
    ('model', 'f1_macro')
    """
    if value is None:
        return ()
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return tuple(str(part) for part in value)


def _unit(value: Any) -> tuple[str, str]:
    if value is None:
        return ("case", "cases")
    parts = several_words(value)
    if len(parts) != 2:
        raise UsageError(
            f"--set unit={value} is not two words", fix="write singular and plural: --set unit=tumour,tumours"
        )
    return parts[0], parts[1]


def _label_names(value: Any) -> tuple[tuple[str, str], ...]:
    pairs = [tuple(part.strip() for part in one.split("=", 1)) for one in several_words(value)]
    for pair in pairs:
        if len(pair) != 2 or not all(pair):
            raise UsageError(
                f"--set label_names has {'='.join(pair)!r}, which is not LABEL=NAME",
                fix="write --set label_names=1=failure,0=fine",
            )
    return tuple((pair[0], pair[1]) for pair in pairs)


def destination_of(options: Mapping[str, Any], **more: Any) -> Destination:
    """Return where a result goes, as far as the command has options for it.

    Examples
    --------
    >>> destination_of({"output": "page.html", "force": True, "metrics": ()}, page=True).output
    'page.html'
    """
    from evalreport.workflow.request import Destination

    names = ("output", "out", "prefix", "log_all", "force", "allow_running", "dry_run")
    return Destination(**{name: options[name] for name in names if name in options}, **more)


def read_notes(path: str | None) -> str:
    """Return the Markdown of a page's notes.

    Raises
    ------
    UsageError
        The file cannot be read, is not text, or is too long for a section of a page.
    """
    if path is None:
        return ""
    try:
        with Path(path).open("rb") as stream:
            data = stream.read(LONGEST_NOTES + 1)
        text = data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(
            "the notes cannot be read", where=f"--set notes={path}: {why}", fix="name a Markdown file"
        ) from None
    if len(data) > LONGEST_NOTES:
        raise UsageError(
            f"the notes are longer than {LONGEST_NOTES // 1000} kB",
            where=f"--set notes={path}",
            fix="shorten them",
        )
    return text


def selection_of(options: Mapping[str, Any], *, every_status: bool = False) -> Selection | None:
    """Return the selected runs, with `every_status` unfinished ones, too; None when no run is selected."""
    from evalreport.tracking.runs import Selection

    ids = [word for run_id in options["run_ids"] for word in (_stdin_ids() if run_id == "-" else [run_id])]
    named = {"experiment": options["experiment"], "latest": options["latest"]}
    if not ids and not any(named.values()) and not options["filter"]:
        return None
    more = {"filter": options["filter"] or "", "max_runs": options["max_runs"], "every_status": every_status}
    return Selection(run_ids=tuple(ids), **more, **named)


def _stdin_ids() -> Sequence[str]:
    found = [line.strip() for line in sys.stdin if line.strip()]
    if not found:
        raise UsageError("stdin has no run id", where="--run-id -", fix="write one id per line")
    return found


def written_now() -> str:
    """Return the time in UTC, as a report states it."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def command_line() -> str:
    """Return the command as it was typed, without secrets, for the report's provenance."""
    return redact("evalreport " + shlex.join(sys.argv[1:]))


def tracking_uri(ctx: click.Context) -> str | None:
    """Return the tracking URI of an option, the environment or a trusted settings file."""
    given = ctx.meta.get("evalreport.tracking_uri")
    if given:
        return str(given)
    settings = ctx.meta.get("evalreport.settings")
    value = None if settings is None else settings.values.get("tracking_uri")
    return None if value is None else str(value)


LEVEL = click.FloatRange(0.5, 0.999)


class Level(click.ParamType):  # type: ignore[type-arg]
    """A confidence level; a per cent sign is allowed."""

    name = "level"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the level as a proportion."""
        proportion = number(str(value))
        return LEVEL.convert(value if proportion is None else proportion, param, ctx)


class Words(click.ParamType):  # type: ignore[type-arg]
    """Text, or a list from a settings file."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return lists as they are, all else as text."""
        return value if isinstance(value, list) else str(value)


class Confidence(click.ParamType):  # type: ignore[type-arg]
    """A confidence level, or ``none`` for values without intervals."""

    name = "level"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | None:
        """Return the level; None for ``none``."""
        return None if value == "none" else Level().convert(value, param, ctx)


class Amount(click.ParamType):  # type: ignore[type-arg]
    """A number above 0, and below 1 for a proportion; a per cent sign is allowed."""

    name = "number"

    def __init__(self, below: float = math.inf) -> None:
        self.below = below

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number."""
        wanted = number(str(value))
        if wanted is None or not 0 < wanted < self.below:
            kind = "proportion between 0 and 1" if self.below == 1 else "number above 0"
            self.fail(f"{value!r} is not a {kind}, such as 0.02 or 2%.", param, ctx)
        return wanted


class Bytes(click.ParamType):  # type: ignore[type-arg]
    """A size: ``500MB``, ``2GB``, or a number of bytes."""

    name = "size"
    UNITS: ClassVar = {"": 1, "B": 1, "KB": 1000, "MB": 1000**2, "GB": 1000**3, "TB": 1000**4}

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number of bytes."""
        found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?b?)", str(value).strip(), flags=re.IGNORECASE)
        wide = 0 if found is None else float(found[1]) * self.UNITS.get(found[2].upper(), 0)
        size = int(wide) if math.isfinite(wide) else 0
        if size <= 0:
            self.fail(f"{value!r} is not a size such as 500MB or 2GB.", param, ctx)
        return size


class Format(click.ParamType):  # type: ignore[type-arg]
    """The name of a reader. Readers import NumPy, so they are loaded only when a name is checked."""

    name = "format"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the readers."""
        from evalreport.readers.formats import format_names

        return format_names()

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the name of a known format."""
        if value not in self.names:
            self.fail(f"{value!r} is not one of {', '.join(map(repr, self.names))}.", param, ctx)
        return value

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return a placeholder for the help; the error of a wrong name lists all names."""
        return "NAME"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        """Return the names that start with the typed letters."""
        return [CompletionItem(name) for name in self.names if name.startswith(incomplete)]

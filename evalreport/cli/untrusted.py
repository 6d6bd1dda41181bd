"""What a settings file of a repository may set; this module decides it for every setting.

A file found in the working directory or above it may have been written by anyone. It describes data and
reports. It cannot choose code, a server, or a place outside its own folder.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from glob import has_magic, iglob
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from evalreport.core.errors import UsageError
from evalreport.core.user_functions import is_function

Reach: TypeAlias = Literal["nothing", "server", "cluster", "table", "code", "path", "folder", "list or @path"]
"""What the value of a setting can reach besides the data that the user names."""


def _reach(what: Reach, *names: str) -> dict[str, Reach]:
    return dict.fromkeys(names, what)


SETTINGS: Mapping[str, Reach] = MappingProxyType(
    {
        **_reach("nothing", "artifact", "format", "task", "truth", "pred", "score", "scores", "score_kind"),
        **_reach("nothing", "response", "fuzzy", "ordered", "positive", "id", "weight", "group", "slice"),
        **_reach("nothing", "show_text", "batch_axis", "list_separator", "fold", "where", "missing"),
        **_reach("nothing", "weight_kind", "no_scores", "repeats", "constraint_confidence", "prevalence"),
        **_reach("nothing", "confidence", "resamples", "seed", "title", "unit"),
        **_reach("nothing", "label_names", "no_examples", "no_find_slices", "prefix", "log_all"),
        **_reach("nothing", "experiment", "filter", "max_runs"),
        **_reach("nothing", "columns", "champion", "jobs", "fail_fast", "color", "engine", "approximate"),
        **_reach(
            "nothing",
            "memory",
            "timeout",
            "allow_running",
            "grade",
            "pass",
            "repeat",
            "measure",
            "judge",
            "human",
        ),
        **_reach("code", "parse", "threshold", "metrics", "sort_by"),
        **_reach("server", "tracking_uri"),
        **_reach("cluster", "spark_master"),
        **_reach("table", "table"),
        **_reach("path", "truth_file", "tune_on", "notes", "temp_dir"),
        **_reach("folder", "output"),
        **_reach("list or @path", "labels"),
    }
)
"""Keys of `[tool.evalreport]`, and what the value of each can reach."""
OF_CHECK: Mapping[str, Reach] = MappingProxyType(
    {
        **_reach("code", "require"),
        **_reach("nothing", "test_on", "inconclusive"),
        **_reach("path", "baseline", "train"),
    }
)
"""Keys of `[tool.evalreport.check]`, and what each can reach."""
_WRITTEN = ("output", "temp_dir")
"""Folders that are written to; nothing is written there through a link."""
_TRUST = "name the file with --config, or set EVALREPORT_TRUST_CONFIG=1"


def why_ignored(name: str, value: Any, file: Path, shown: str) -> str:
    """Return why a setting of an untrusted file is ignored; empty where it is not.

    Parameters
    ----------
    name : str
        A key of `SETTINGS` or `OF_CHECK`.
    value : Any
    file : Path
        The settings file; paths may not lead out of its folder.
    shown : str
        The file as a person in this folder would write it.

    Raises
    ------
    UsageError
        A path that leads out of the folder of the file, or a file as output.

    Examples
    --------
    >>> why_ignored("threshold", "max-f1", Path("pyproject.toml"), "pyproject.toml")
    ''
    >>> why_ignored("threshold", "max-a:b", Path("pyproject.toml"), "pyproject.toml").partition(":")[0]
    'threshold in pyproject.toml is ignored'
    """
    match {**SETTINGS, **OF_CHECK}[name]:
        case "server" | "cluster" | "table" as reach:
            what = f"the {reach}"
        case "code" if _NAMES_CODE[name](value):
            what = "code to run"
        case "folder" if value == "-" or Path(str(value)).suffix.lower() in (".html", ".htm", ".md"):
            raise UsageError(
                f"output in {file.name} is a file: {value}",
                where=shown,
                fix=f"name a folder, {_TRUST}",
            )
        case "path" | "folder":
            _refuse_outside(name, str(value), file, shown)
            return ""
        case "list or @path" if isinstance(value, str) and value.startswith("@"):
            _refuse_outside(name, value.removeprefix("@"), file, shown)
            return ""
        case _:
            return ""
    return (
        f"{name} in {shown} is ignored: a cloned repository must not choose {what}. Pass "
        f"--set {'check.' * (name in OF_CHECK)}{name}=VALUE, {_TRUST}"
    )


def _threshold_names_code(wanted: Any) -> bool:
    from evalreport.workflow.evaluate import is_chosen_by_function

    return is_chosen_by_function(str(wanted))


def _rules_name_code(rules: Any) -> bool:
    """Return whether the metric of a rule is a function; a class or slice in brackets may contain a colon."""
    from evalreport.core.bounds import Bound

    for rule in [rules] if isinstance(rules, str) else rules:
        with suppress(UsageError):
            if ":" in Bound.parse(str(rule)).metric:
                return True
    return False


_NAMES_CODE: Mapping[str, Callable[[Any], bool]] = {
    "parse": lambda value: is_function(str(value)),
    "threshold": _threshold_names_code,
    "metrics": lambda value: ":" in str(value),
    "sort_by": lambda value: ":" in str(value),
    "require": _rules_name_code,
}
"""Of each setting that can reach code: whether a value does, as the code that reads the value decides it."""


def _refuse_outside(name: str, value: str, file: Path, shown: str) -> None:
    """Refuse a path that leads out of the folder of the file, itself or by a link anywhere on or below it."""
    root = file.parent.resolve()
    try:
        places = [Path(value)] if name in _WRITTEN else _places_read(value)
        outside = not all(place.resolve().is_relative_to(root) for place in places)
    except (OSError, RuntimeError, ValueError):  # a loop of links, a name that no system accepts
        outside = True
    if outside:
        verb = "write" if name in _WRITTEN else "read"
        raise UsageError(
            f"{name} leads out of the folder of {file.name}: {value}",
            where=shown,
            fix=f"{verb} below that folder, {_TRUST}",
        )


def _places_read(value: str) -> Iterator[Path]:
    """Yield a path, what it matches as a pattern, and all links below these: each of them may be read."""
    yield Path(value)
    found = iglob(value, recursive=True) if has_magic(value) else [value]  # noqa: PTH207 (it may begin anywhere)
    for path in found:
        yield Path(path)
        for folder, folders, files in os.walk(path):
            yield from (one for name in (*folders, *files) if os.path.islink(one := Path(folder, name)))

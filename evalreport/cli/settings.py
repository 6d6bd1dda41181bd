"""Settings: option or --set > EVALREPORT_* > pyproject.toml > evalreport.toml > built-in.

Also what the settings of an untrusted folder may contain.
"""

from __future__ import annotations

import errno
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from glob import has_magic, iglob
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

from evalreport.core.errors import EvalreportError, FileMissingError, UsageError, nearest
from evalreport.core.extensions import extensions, is_function

Reach: TypeAlias = Literal["nothing", "server", "cluster", "table", "code", "path", "folder", "list or @path"]
"""What the value of a setting can reach besides the data that the user names."""


def _reach(what: Reach, *names: str) -> dict[str, Reach]:
    return dict.fromkeys(names, what)


SETTINGS: Mapping[str, Reach] = MappingProxyType(
    {
        **_reach("nothing", "artifact", "format", "task", "truth", "pred", "score", "scores", "score_kind"),
        **_reach("nothing", "response", "fuzzy", "ordered", "positive", "id", "weight", "group", "slice"),
        **_reach("nothing", "show_text", "batch_axis", "list_separator", "fold", "where", "missing"),
        **_reach(
            "nothing",
            "weight_kind",
            "slice_bins",
            "no_scores",
            "repeats",
            "constraint_confidence",
            "prevalence",
        ),
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
    root = os.path.realpath(file.parent)
    try:
        places = [Path(value)] if name in _WRITTEN else _places_read(value)
        outside = not all(_real_path(place).is_relative_to(root) for place in places)
    except (OSError, ValueError):  # a loop of links, a name that no system accepts
        outside = True
    if outside:
        verb = "write" if name in _WRITTEN else "read"
        raise UsageError(
            f"{name} is outside the folder of {file.name}: {value}",
            where=shown,
            fix=f"{verb} below that folder, {_TRUST}",
        )


def _real_path(place: Path) -> Path:
    """Return a path without links, whether it exists or not; a loop of links raises OSError."""
    real = Path(os.path.realpath(place))
    try:
        real.stat()
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise
    return real


def _places_read(value: str) -> Iterator[Path]:
    """Yield a path, what it matches as a pattern, and all links below these: each of them may be read."""
    yield Path(value)
    found = iglob(value, recursive=True) if has_magic(value) else [value]  # noqa: PTH207 (it may begin anywhere)
    for path in found:
        yield Path(path)
        for folder, folders, files in os.walk(path):
            yield from (one for name in (*folders, *files) if os.path.islink(one := Path(folder, name)))


KNOWN = tuple(SETTINGS)
"""Keys of `[tool.evalreport]`, which `--set` takes too."""
CHECK = tuple(OF_CHECK)
"""Keys of `[tool.evalreport.check]`."""
RENAMED = {"slice": "slices"}
"""Keys whose parameter has another name."""
SEVERAL = ("slice", "group", "where", "require", "measure")
"""Keys with one name or a list of names."""
LISTS = (*SEVERAL, "labels", "label_names", "metrics", "unit", "columns")
"""Keys that accept a list."""


def sweeps() -> tuple[str, ...]:
    """Return the commands below `sweep`, those of features among them; each takes the settings."""
    return ("thresholds", *(one.name for one in extensions("sweeps")))


@dataclass(frozen=True)
class Settings:
    """Values from settings files, with the file that each comes from."""

    values: Mapping[str, Any] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)
    check: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    refused: tuple[EvalreportError, ...] = ()
    """Errors of the files that were found; raised when no file of ``--config`` takes their place."""

    def defaults(self, command: str) -> dict[str, Any]:
        """Return the default values of a command's parameters."""
        found = {RENAMED.get(key, key): _as_option(key, value) for key, value in self.values.items()}
        if command == "check":
            found.update({key: _as_option(key, value) for key, value in self.check.items()})
        if command == "sweep":
            return dict.fromkeys(sweeps(), found)
        return found

    def origin_of(self, parameter: str) -> str:
        """Return the file that a parameter's value comes from; empty when none."""
        names = {inside: key for key, inside in RENAMED.items()}
        return self.origins.get(names.get(parameter, parameter), "")


def parse_assignments(words: Sequence[str]) -> dict[str, list[str | None]]:
    """Return the values of ``--set KEY=VALUE`` by key; None for a key without a value.

    Raises
    ------
    UsageError
        An unknown key (the nearest is named), an empty value, or a value that a settings file may not
        have either.

    Examples
    --------
    >>> parse_assignments(["weight=w", "group=site", "group=sex", "fuzzy"])
    {'weight': ['w'], 'group': ['site', 'sex'], 'fuzzy': [None]}
    """
    known = (*KNOWN, *(f"check.{name}" for name in CHECK))
    found: dict[str, list[str | None]] = {}
    for word in words:
        name, equals, value = word.partition("=")
        key = name.strip().replace("-", "_")
        if key not in known:
            raise UsageError(
                f"unknown setting {name.strip()!r}", where=f"--set {word}", fix=nearest(key, known)
            )
        if equals and not value:
            raise UsageError(
                f"the setting {key} is empty",
                where=f"--set {word}",
                fix=f"write --set {key}=VALUE, or remove it",
            )
        if equals:
            _check_kind(key.removeprefix("check."), value, f"--set {key}")
        found.setdefault(key, []).append(value if equals else None)
    return found


def load(path: str | None) -> Settings:
    """Read the settings: a named file, or the nearest pyproject.toml over ./evalreport.toml.

    Errors of files that were not named are returned, because a later ``--config`` may take their place.

    Raises
    ------
    FileMissingError
        The file does not exist.
    UsageError
        The named file: unknown keys (the nearest is named), broken TOML, credentials in a tracking URI.
    """
    if path is not None:
        return _settings([_read_named_file(path)], trusted=True)
    try:
        layers = [(file, _read_settings(file)) for file in _files_here()]
        return _settings(layers, trusted=os.environ.get("EVALREPORT_TRUST_CONFIG") == "1")
    except UsageError as error:
        return Settings(refused=(error,))


def _read_named_file(path: str) -> tuple[Path, dict[str, Any]]:
    file = Path(path)
    if not os.path.isfile(file):
        raise FileMissingError(f"no such settings file: {path}", where="--config", fix="check the path")
    return file, _read_settings(file)


def _files_here() -> list[Path]:
    """Return the settings files of this folder, the weaker first; none where the folder was deleted."""
    try:
        here = Path.cwd()
    except OSError:
        return []
    plain = Path("evalreport.toml")
    projects = (folder / "pyproject.toml" for folder in (here, *here.parents))
    nearest_project = next(filter(os.path.isfile, projects), None)
    return [file for file in (plain if os.path.isfile(plain) else None, nearest_project) if file is not None]


def _read_settings(path: Path) -> dict[str, Any]:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        why = (error.strerror or "input/output error").lower()
        raise UsageError(
            f"{path.name} cannot be read: {why}",
            where=_relative_path(path),
            fix="make it readable, or name another settings file with --config",
        ) from error
    except (ValueError, RecursionError) as error:  # also whole numbers of over 4,300 digits
        why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise UsageError(
            f"{path.name} is not valid TOML: {why}",
            where=_relative_path(path),
            fix="fix the file, or name another settings file with --config",
        ) from error
    if path.name != "pyproject.toml" and "tool" not in data:
        return data
    return _table(_table(data.get("tool", {}), "tool", path).get("evalreport", {}), "tool.evalreport", path)


def _table(value: Any, name: str, path: Path) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UsageError(
            f"{name} is not a table",
            where=_relative_path(path),
            fix=f"write [{name}] and below it name = value",
        )
    return dict(value)


def _relative_path(path: Path) -> str:
    """The path as a person in this folder would write it."""
    return os.path.relpath(path)


def _as_option(key: str, value: Any) -> Any:
    """Return a value as click expects it: numbers are text, whatever their size."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    return [value] if key in (*SEVERAL, "output") and isinstance(value, str) else value


def _settings(layers: list[tuple[Path, dict[str, Any]]], *, trusted: bool) -> Settings:
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    check: dict[str, Any] = {}
    warnings: list[str] = []
    refused: list[EvalreportError] = []
    for path, data in layers:
        rules = _check_setting_names(_table(data.pop("check", {}), "check", path), CHECK, path)
        settings = _check_setting_names(data, KNOWN, path)
        for name, value in (*rules.items(), *settings.items()):
            _check_kind(name, value, _relative_path(path))
            try:
                why = "" if trusted else why_ignored(name, value, path, _relative_path(path))
            except UsageError as error:
                refused.append(error)
            else:
                warnings += [why] if why else []
                if why:
                    continue
            into, key = (check, f"check.{name}") if name in rules else (values, name)
            into[name], origins[key] = value, _relative_path(path)
    return Settings(values, origins, check, tuple(warnings), tuple(refused))


def _check_setting_names(data: Mapping[str, Any], known: tuple[str, ...], path: Path) -> dict[str, Any]:
    found = {}
    for key, value in data.items():
        name = key.replace("-", "_")
        if name not in known:
            raise UsageError(f"unknown setting {key!r}", where=_relative_path(path), fix=nearest(name, known))
        found[name] = value
    return found


def _kind_of(value: Any) -> str:
    return "text with a NUL character" if isinstance(value, str) else f"a {type(value).__name__}"


def _check_kind(name: str, value: Any, where: str) -> None:
    """Refuse values that no setting accepts, and secrets."""
    reach = {**SETTINGS, **OF_CHECK}[name]
    if isinstance(value, dict):
        raise UsageError(f"the setting {name} is a table", where=where, fix="write one value, or a list")
    if isinstance(value, list) and name not in LISTS:
        raise UsageError(f"the setting {name} is a list", where=where, fix="write one value")
    kinds = (str,) if reach in ("path", "folder") else (str, bool, int, float)
    for one in value if isinstance(value, list) else [value]:
        if not isinstance(one, kinds) or "\0" in str(one):
            raise UsageError(
                f"the setting {name} is {_kind_of(one)}", where=where, fix="write text in quotes"
            )
    parts = urlsplit(str(value)) if name == "tracking_uri" else None
    if parts is not None and (parts.username or parts.password or parts.query):
        raise UsageError(
            "tracking_uri contains credentials",
            where=where,
            fix="keep them in MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD",
        )

"""Settings: option > EVALREPORT_* > pyproject.toml > evalreport.toml > built-in."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from evalreport.errors import FileMissingError, UsageError, nearest

KNOWN = (
    *("artifact", "format", "task", "truth", "truth_file", "pred", "score", "scores", "score_kind", "text"),
    *("parse", "fuzzy", "labels", "ordered", "positive", "id", "weight", "group", "slice", "example_text"),
    *("batch_axis", "list_separator", "fold", "where", "missing", "weight_kind", "no_scores", "answers"),
    *("threshold", "tune_on", "hold", "prevalence", "confidence", "resamples", "seed", "metrics", "sort_by"),
    *("title", "unit", "label_names", "notes", "no_examples", "checklist", "prefix", "out", "experiment"),
    *("filter", "max_runs", "columns", "champion", "jobs", "fail_fast", "color", "tracking_uri"),
    *("engine", "approximate", "memory", "spill", "spark_master"),
)
"""Keys that `[tool.evalreport]` may set, named as the options."""
CHECK = ("require", "use", "baseline", "inconclusive", "train")
"""Keys of `[tool.evalreport.check]`."""
SWEEPS = ("thresholds", "optuna", "runs")
"""Commands below `sweep`; each takes the settings."""
RENAMED = {"slice": "slices"}
"""Keys whose option has another name inside."""
SEVERAL = ("slice", "group", "where", "require")
"""Keys that hold one name or a list of them."""
LISTS = (*SEVERAL, "labels", "label_names", "metrics", "unit", "columns")
"""Keys that may hold a list."""
MAY_RUN_CODE = ("parse", "threshold")
"""Keys that take a function of the user's, as ``module:function``."""
PATHS = ("out", "labels", "truth_file", "tune_on", "notes", "baseline", "train", "spill")
"""Keys that may name a file or a folder: of `labels` what follows ``@``."""
_TRUST = "name the file with --config, or set EVALREPORT_TRUST_CONFIG=1"


@dataclass(frozen=True)
class Settings:
    """Values from settings files, with the file that each comes from."""

    values: Mapping[str, Any] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)
    check: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    refused: tuple[UsageError, ...] = ()
    """Settings that a stranger's file may not make; raised when no trusted file takes its place."""

    def defaults(self, command: str) -> dict[str, Any]:
        """Return the default values of a command's parameters."""
        found = {RENAMED.get(key, key): _several(key, value) for key, value in self.values.items()}
        if command == "check":
            found.update({key: _several(key, value) for key, value in self.check.items()})
        if command == "sweep":
            return dict.fromkeys(SWEEPS, found)
        return found

    def origin_of(self, parameter: str) -> str:
        """Return the file that a parameter's value comes from; empty when none."""
        names = {inside: key for key, inside in RENAMED.items()}
        return self.origins.get(names.get(parameter, parameter), "")


def load(path: str | None) -> Settings:
    """Read the settings: a named file, or the nearest pyproject.toml over ./evalreport.toml.

    Raises
    ------
    UsageError
        Unknown keys (the nearest is named), broken TOML, credentials in a tracking URI.
    """
    if path is not None:
        file = Path(path)
        if not file.is_file():
            raise FileMissingError(f"no such settings file: {path}", where="--config", fix="check the path")
        return _settings([(file, _read(file))], trusted=True)
    layers = []
    if (plain := Path("evalreport.toml")).is_file():
        layers.append((plain, _read(plain)))
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (project := folder / "pyproject.toml").is_file():
            layers.append((project, _read(project)))
            break
    return _settings(layers, trusted=os.environ.get("EVALREPORT_TRUST_CONFIG") == "1")


def _read(path: Path) -> dict[str, Any]:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{path.name} is not valid TOML: {error}", where=_shown(path), fix="mend the file"
        ) from error
    if path.name != "pyproject.toml" and "tool" not in data:
        return data
    return _table(_table(data.get("tool", {}), "tool", path).get("evalreport", {}), "tool.evalreport", path)


def _table(value: Any, name: str, path: Path) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UsageError(
            f"{name} is not a table", where=_shown(path), fix=f"write [{name}] and below it name = value"
        )
    return dict(value)


def _shown(path: Path) -> str:
    """The path as a person in this folder would write it."""
    return os.path.relpath(path)


def _several(key: str, value: Any) -> Any:
    return [value] if key in SEVERAL and isinstance(value, str) else value


def _settings(layers: list[tuple[Path, dict[str, Any]]], *, trusted: bool) -> Settings:
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    check: dict[str, Any] = {}
    warnings: list[str] = []
    refused: list[UsageError] = []
    for path, data in layers:
        rules = _table(data.pop("check", {}), "check", path)
        for name, value in _known(rules, CHECK, path).items():
            refused += [] if trusted else _leading_out(name, value, path)
            check[name], origins[f"check.{name}"] = value, _shown(path)
        for name, value in _known(data, KNOWN, path).items():
            _plain(name, value, path)
            warning = None if trusted else _distrusted(name, value, path)
            if warning is not None:
                warnings.append(warning)
                continue
            refused += [] if trusted else _leading_out(name, value, path)
            values[name], origins[name] = value, _shown(path)
    return Settings(values, origins, check, tuple(warnings), tuple(refused))


def _known(data: Mapping[str, Any], known: tuple[str, ...], path: Path) -> dict[str, Any]:
    found = {}
    for key, value in data.items():
        name = key.replace("-", "_")
        if name not in known:
            raise UsageError(f"unknown setting {key!r}", where=_shown(path), fix=nearest(name, known))
        found[name] = value
    return found


def _plain(name: str, value: Any, path: Path) -> None:
    """Refuse values that no option takes, and secrets."""
    if isinstance(value, dict):
        raise UsageError(
            f"the setting {name} is a table", where=_shown(path), fix="write one value, or a list"
        )
    if isinstance(value, list) and name not in LISTS:
        raise UsageError(f"the setting {name} is a list", where=_shown(path), fix="write one value")
    parts = urlsplit(str(value)) if name == "tracking_uri" else None
    if parts is not None and (parts.username or parts.password or parts.query):
        raise UsageError(
            "tracking_uri carries credentials",
            where=_shown(path),
            fix="keep them in MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD",
        )


def _distrusted(name: str, value: Any, path: Path) -> str | None:
    """Return a warning when a file that may have come with a repository sets what only the user may."""
    if name == "tracking_uri":
        why = f"a cloned repository must not choose the server. Pass --tracking-uri, {_TRUST}"
    elif name == "spark_master":
        why = f"a cloned repository must not choose the cluster. Pass --spark-master, {_TRUST}"
    elif name in MAY_RUN_CODE and _runs_code(str(value)):
        why = f"a cloned repository must not choose code to run. Pass --{name}, {_TRUST}"
    else:
        return None
    return f"{name} in {_shown(path)} is ignored: {why}"


def _leading_out(name: str, value: Any, path: Path) -> list[UsageError]:
    """Return the error of a path that leads out of the folder of a file that may have come with a repository.

    Links are followed: one inside the repository may lead out of it as well.
    """
    if name not in PATHS or not isinstance(value, str) or (name == "labels" and not value.startswith("@")):
        return []
    try:
        inside = Path(value.removeprefix("@")).resolve().is_relative_to(path.parent.resolve())
    except (OSError, RuntimeError, ValueError):  # a circle of links, a name that no system takes
        inside = False
    if inside:
        return []
    fix = f"{'write' if name == 'out' else 'read'} below that folder, {_TRUST}"
    return [
        UsageError(f"{name} leads out of the folder of {path.name}: {value}", where=_shown(path), fix=fix)
    ]


def _runs_code(value: str) -> bool:
    if ":" not in value:
        return False
    from evalreport.parsing.function import is_function

    return is_function(value)

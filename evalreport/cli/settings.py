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
    *("batch_axis", "list_separator", "threshold", "tune_on", "confidence", "resamples", "seed", "metrics"),
    *("title", "unit", "no_examples", "checklist", "prefix", "out", "experiment", "filter", "max_runs"),
    "tracking_uri",
)
"""Keys that `[tool.evalreport]` may set, named as the options."""
CHECK = ("require", "use", "baseline", "allow_drop", "inconclusive", "train")
"""Keys of `[tool.evalreport.check]`."""
RENAMED = {"slice": "slices"}


@dataclass(frozen=True)
class Settings:
    """Values from settings files, with the file that each comes from."""

    values: Mapping[str, Any] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)
    check: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def defaults(self, command: str) -> dict[str, Any]:
        """Return the default values of a command's parameters."""
        found = {RENAMED.get(key, key): value for key, value in self.values.items()}
        if command == "check":
            found.update(self.check)
        return found


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
            f"{path.name} is not valid TOML: {error}", where=str(path), fix="mend the file"
        ) from error
    tool = data.get("tool", {}).get("evalreport", {})
    return dict(tool) if path.name == "pyproject.toml" or "tool" in data else data


def _settings(layers: list[tuple[Path, dict[str, Any]]], *, trusted: bool) -> Settings:
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    check: dict[str, Any] = {}
    warnings: list[str] = []
    for path, data in layers:
        check.update(_known(data.pop("check", {}), CHECK, path))
        for name, value in _known(data, KNOWN, path).items():
            if name == "tracking_uri" and not _may_set(value, path, trusted, warnings):
                continue
            values[name], origins[name] = value, path.name
    return Settings(values, origins, check, tuple(warnings))


def _known(data: Mapping[str, Any], known: tuple[str, ...], path: Path) -> dict[str, Any]:
    found = {}
    for key, value in data.items():
        name = key.replace("-", "_")
        if name not in known:
            raise UsageError(f"unknown setting {key!r}", where=str(path), fix=nearest(name, known))
        found[name] = value
    return found


def _may_set(uri: Any, path: Path, trusted: bool, warnings: list[str]) -> bool:
    parts = urlsplit(str(uri))
    if parts.username or parts.password:
        raise UsageError(
            "tracking_uri carries credentials",
            where=str(path),
            fix="keep them in MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD",
        )
    if not trusted:
        warnings.append(
            f"tracking_uri in {path.name} is ignored: a cloned repository must not choose the server. "
            "Pass --tracking-uri, name the file with --config, or set EVALREPORT_TRUST_CONFIG=1"
        )
    return trusted

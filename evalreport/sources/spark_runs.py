"""The table of Spark that a run says its predictions are in: by a tag, or by a dataset that was logged."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from typing import Any

from evalreport.report.names import TABLE_TAG
from evalreport.sources.runs import DatasetSource, RunInfo


@dataclass(frozen=True)
class SparkSource:
    """A table that Spark reads.

    Parameters
    ----------
    name : str
        ``catalog.schema.name``, or a path of Parquet or Delta, which may stand in SQL's delta.`…`.
    version : int or None
        Of a Delta table; the newest without it.
    """

    name: str
    version: int | None = None

    @property
    def shown(self) -> str:
        """How messages call it."""
        return self.name if self.version is None else f"{self.name}, version {self.version}"

    @property
    def is_path(self) -> bool:
        """Whether it is a path, not a table of the catalog."""
        there = self.path != "" and os.path.exists(self.path)
        return there or "/" in self.path or self.path.endswith(".parquet")

    @property
    def path(self) -> str:
        """The name without what SQL puts around a path."""
        within = re.fullmatch(r"(?:delta|parquet)\.`(.+)`", self.name)
        return within[1] if within else self.name

    @property
    def is_here(self) -> bool:
        """Whether it is a path of the machine that reads it."""
        return self.is_path and ("://" not in self.path or self.path.startswith("file:"))


def tagged_table(run: RunInfo, *, remote: bool) -> SparkSource | None:
    """Return the table that the tag of a run names; what a server calls a path of this machine is not read.

    Examples
    --------
    >>> run = RunInfo("3f9c1e0a7b", "", "0", "", "FINISHED", tags={"evalreport.table": "main.risk.scores"})
    >>> tagged_table(run, remote=True).name
    'main.risk.scores'
    """
    return _readable(SparkSource(run.tags.get(TABLE_TAG, "").strip()), remote)


def logged_table(run: RunInfo, *, remote: bool) -> SparkSource | None:
    """Return the table of the one dataset of Spark or Delta that was logged with the run; SQL is not run.

    Examples
    --------
    >>> told = '{"delta_table_name": "a.b", "delta_table_version": 3}'
    >>> dataset = DatasetSource("test", "ab", "delta_table", told)
    >>> logged_table(RunInfo("3f9c1e0a7b", "", "0", "", "FINISHED", datasets=(dataset,)), remote=False).shown
    'a.b, version 3'
    """
    found = {_readable(_source_of(dataset), remote) for dataset in run.datasets} - {None}
    return found.pop() if len(found) == 1 else None


def _readable(source: SparkSource | None, remote: bool) -> SparkSource | None:
    if source is None or not source.name or (remote and source.is_here):
        return None
    return source


def _source_of(dataset: DatasetSource) -> SparkSource | None:
    if dataset.kind not in ("spark", "delta_table"):
        return None
    try:
        told: dict[str, Any] = json.loads(dataset.source)
        name = told.get("table_name") or told.get("delta_table_name") or told.get("path")
        version = told.get("delta_table_version")
    except (ValueError, AttributeError, RecursionError):
        return None
    if not isinstance(name, str) or not isinstance(version, int | None):
        return None
    return SparkSource(name, version)

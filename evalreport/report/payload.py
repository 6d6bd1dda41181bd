"""What a sink takes: every number, file and word that is to stand in a run, checked before it is written."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, TypeAlias

from evalreport.codec import dumps, encode
from evalreport.report.names import LONGEST_KEY, Part

Series: TypeAlias = tuple[tuple[int, float], ...]
"""A curve on an integer grid: (step, value), steps ascending."""

MAX_STEPS = 101
LONGEST_TAG = 8000
"""Characters of a tag's value, which MLflow cuts silently."""
OUR_TAGS = "evalreport."
_KEY = re.compile(r"[\w.\- :]+(/[\w.\- :]+)*")
_IMAGE_KEY = re.compile(r"[\w\-. /]+", re.ASCII)


@dataclass(frozen=True, eq=False)
class Payload:
    """The whole of one logging, as values.

    A payload that MLflow would refuse half way cannot be made.

    Parameters
    ----------
    metrics : mapping from key to float
        Finite; undefined values are left out.
    series : mapping from key to ((step, value), …)
        At most 101 integer steps, ascending: MLflow's charts overlay them run by run.
    tags : mapping from key to text
        Keys begin with ``evalreport.``.
    description : str
        Markdown of our block in the run's description.
    artifacts : mapping from path inside the run to bytes
    tables : mapping from path to JSON text in `log_table`'s form
    images : mapping from key to PNG
        For MLflow's image grid, at step 0.
    exports : mapping from path inside a folder to bytes
        The same for a person's folder: under bare names, the tables as CSV and Parquet. Empty where no
        folder is written, because the rows of large predictions are among them.
    model : str
        Id of the MLflow model that the metrics are of as well; empty where nobody can tell.
    part : str
        What it is of; parts of a run are replaced one without the other.
    digest : str
        Of what the payload says, without the time at which it was made: equal digests mean that there is
        nothing to write.

    Examples
    --------
    >>> payload = Payload(metrics={"eval/f1": 0.75}, digest="ab12")
    >>> payload.metrics["eval/f1"]
    0.75
    >>> Payload(metrics={"f1@k": 0.75}, digest="ab12")
    Traceback (most recent call last):
    ValueError: MLflow refuses the metric key 'f1@k'
    """

    digest: str
    metrics: Mapping[str, float] = field(default_factory=dict)
    series: Mapping[str, Series] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    description: str = ""
    artifacts: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    tables: Mapping[str, str] = field(default_factory=dict, repr=False)
    images: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    exports: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    model: str = ""
    part: Part = "evaluation"

    def __post_init__(self) -> None:
        for name in ("metrics", "series", "tags", "artifacts", "tables", "images", "exports"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        if not self.digest:
            raise ValueError("a payload has a digest")
        for key in (*self.metrics, *self.series):
            _check_key(key)
        for key, value in self.metrics.items():
            _check_value(key, value)
        for key, points in self.series.items():
            _check_series(key, points)
        _check_names(self)

    @property
    def files(self) -> dict[str, bytes]:
        """Artifacts and tables together, as a run holds them: from path to bytes."""
        return {**self.artifacts, **{path: text.encode() for path, text in self.tables.items()}}


def _check_key(key: str) -> None:
    parts = key.split("/")
    if not _KEY.fullmatch(key) or len(key) > LONGEST_KEY or any(not part.strip(".") for part in parts):
        raise ValueError(f"MLflow refuses the metric key {key!r}")


def _check_value(key: str, value: float) -> None:
    if not math.isfinite(value):
        raise ValueError(f"metric {key!r} is {value}; an undefined value is left out")


def _check_series(key: str, points: Series) -> None:
    steps = [step for step, _ in points]
    if not 1 <= len(points) <= MAX_STEPS or steps != sorted(set(steps)):
        raise ValueError(f"series {key!r} has {len(points)} steps; 1 to {MAX_STEPS}, ascending, are drawn")
    for _, value in points:
        _check_value(key, value)


def _check_names(payload: Payload) -> None:
    both = set(payload.metrics) & set(payload.series) | set(payload.artifacts) & set(payload.tables)
    if both:
        raise ValueError(f"{sorted(both)[0]!r} stands twice in the payload")
    for path in (*payload.artifacts, *payload.tables, *payload.exports):
        pure = PurePosixPath(path)
        if (
            pure.is_absolute()
            or ".." in pure.parts
            or str(pure) != path
            or not re.fullmatch(r"[\w./-]+", path)
        ):
            raise ValueError(f"{path!r} is not a path inside a run or a folder")
    for key in payload.images:
        if not _IMAGE_KEY.fullmatch(key):
            raise ValueError(f"MLflow refuses the image key {key!r}")
    for key, value in payload.tags.items():
        if not (_KEY.fullmatch(key) and key.startswith(OUR_TAGS)) or len(value) > LONGEST_TAG:
            raise ValueError(f"MLflow refuses the tag {key!r} of {len(value)} characters")


def content_digest(*parts: Any) -> str:
    """Return the sha256 of values as JSON, in a canonical form.

    Examples
    --------
    >>> content_digest({"b": 1, "a": 2}) == content_digest({"a": 2, "b": 1})
    True
    """
    text = json.dumps(
        encode(parts), sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )
    return hashlib.sha256(text.encode()).hexdigest()


def split_json(columns: Mapping[str, list[Any]]) -> str:
    """Return a table as the JSON that `log_table` writes: ``{"columns": […], "data": [[…], …]}``.

    MLflow shows every digit, so that no more than six stand here; `evaluation.json` has them all.

    Examples
    --------
    >>> split_json({"label": ["a", "b"], "f1": [0.123456789, None], "n": [1234567.0, 3]})
    '{"columns":["label","f1","n"],"data":[["a",0.123457,1234567.0],["b",null,3]]}'
    """
    rows = [list(map(_six_digits, row)) for row in zip(*columns.values(), strict=True)]
    table = {"columns": list(columns), "data": rows}
    return dumps(table)


def _six_digits(value: Any) -> Any:
    if not isinstance(value, float) or not value or not math.isfinite(value):
        return value
    return round(value, max(0, 5 - math.floor(math.log10(abs(value)))))

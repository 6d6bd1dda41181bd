"""`Evaluation`: everything known of one set of predictions, and its lossless JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from evalreport.curves import Curves, curves_from_dict
from evalreport.errors import DataError, UsageError, nearest
from evalreport.evaluation.parts import ClassResult, Mistake, Slice, Swap, from_dicts, results_from_dict
from evalreport.facts import Counts
from evalreport.format import fine
from evalreport.intervals import Sampling
from evalreport.labels import Binary, LabelSpace, Multiclass, Multilabel, Task
from evalreport.metrics.catalogue import HEADLINE
from evalreport.parsing import ParsingReport
from evalreport.predictions import Predictions, Threshold
from evalreport.provenance import Provenance
from evalreport.scores import ScoreKind
from evalreport.thresholds.sweep import Sweep
from evalreport.thresholds.tuned import Tuned
from evalreport.values import Estimate, Finding, Result, Undefined

if TYPE_CHECKING:
    import pandas as pd

NO_CURVES = Undefined("not computed")
SCHEMA = 1
"""Version of `evaluation.json`; a reader refuses a newer one."""


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """Everything known of one set of predictions.

    Two evaluations are equal when their JSON is. `predictions` are at hand only in the session that
    made the evaluation; a paired comparison needs them.

    Parameters
    ----------
    space : Binary, Multiclass or Multilabel
    rows : int
    weight : float
        Sum of weights (the number of rows without weights).
    metrics : mapping from name to Estimate or Undefined
        The catalogue of the task, in its order.
    no_skill : mapping from name to float
        What an answer that ignores the input would reach.
    classes : tuple of ClassResult
        One per label (binary: none; its two classes are the metrics themselves).
    confusion : Counts or None
        Binary and multiclass.
    tuned : Tuned or None
        Multilabel: the thresholds that were chosen label by label, with out-of-sample values.
    curves, sweep, parsing, slices, mistakes, swaps, findings, provenance
        Undefined parts are None or empty.
    pair_texts : tuple of (truth code, predicted code, texts)
        Example texts of frequent confusions, only when their column was named.
    """

    space: LabelSpace
    rows: int
    weight: float
    sampling: Sampling
    metrics: Mapping[str, Result]
    score_kind: ScoreKind | None = None
    threshold: Threshold | None = None
    weighted: bool = False
    clusters: int | None = None
    truth_digest: str = ""
    no_skill: Mapping[str, float] = field(default_factory=dict)
    classes: tuple[ClassResult, ...] = ()
    confusion: Counts | None = None
    curves: Curves | Undefined = NO_CURVES
    sweep: Sweep | None = None
    tuned: Tuned | None = None
    parsing: ParsingReport | None = None
    slices: tuple[Slice, ...] = ()
    mistakes: tuple[Mistake, ...] = ()
    swaps: tuple[Swap, ...] = ()
    pair_texts: tuple[tuple[int, int, tuple[str, ...]], ...] = ()
    facts: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)
    predictions: Predictions | None = None

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was assumed, set aside or not used on the way here; each once, without full stops."""
        told = (*self.notes, *self.provenance.notes)
        return tuple(dict.fromkeys(note.removesuffix(".") for note in told))

    def __repr__(self) -> str:
        labels = "" if isinstance(self.space, Binary) else f", {len(self.space)} labels"
        shown = ((name, self.metrics.get(name)) for name in HEADLINE[self.task])
        some = [f"{name} {fine(r.value, ends=True)}" for name, r in shown if isinstance(r, Estimate)][:3]
        found = "1 finding" if len(self.findings) == 1 else f"{len(self.findings)} findings"
        parts = ", ".join((*some, f"… {len(self.metrics)} metrics", found))
        return f"{type(self).__name__}({self.task}{labels}, {self.rows:,} rows: {parts})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Evaluation) and self.as_dict() == other.as_dict()

    __hash__ = None  # type: ignore[assignment]

    def __getitem__(self, name: str) -> Result:
        """Return a metric by its name.

        Raises
        ------
        UsageError
            No such metric for this task; names the nearest.
        """
        if name not in self.metrics:
            raise UsageError(
                f"{self.task} evaluations have no metric {name!r}", fix=nearest(name, self.metrics)
            )
        return self.metrics[name]

    @property
    def task(self) -> Task:
        """``binary``, ``multiclass`` or ``multilabel``."""
        return self.space.task

    def with_provenance(self, provenance: Provenance) -> Self:
        """Return the same evaluation with its origin filled in."""
        return replace(self, provenance=provenance)

    def to_frame(self) -> pd.DataFrame:
        """Return the metrics as a table: one row per metric with value, low, high, method, n, reason."""
        import pandas as pd

        return pd.DataFrame.from_dict({name: r.as_dict() for name, r in self.metrics.items()}, orient="index")

    def as_dict(self) -> dict[str, Any]:
        """Return the evaluation as plain JSON values; what is not finite is null."""
        whole = {
            "schema": SCHEMA,
            "task": self.task,
            "n": self.rows,
            "weight": self.weight,
            "labels": list(self.space.labels),
            "positive": self.space.positive if isinstance(self.space, Binary) else None,
            "ordered": isinstance(self.space, Multiclass) and self.space.ordered,
            "threshold": None if self.threshold is None else _finite(self.threshold.value),
            "threshold_origin": None if self.threshold is None else self.threshold.origin,
            "score_kind": self.score_kind,
            "weighted": self.weighted,
            "clusters": self.clusters,
            "truth_digest": self.truth_digest,
            "sampling": asdict(self.sampling),
            "metrics": {name: result.as_dict() for name, result in self.metrics.items()},
            "no_skill": dict(self.no_skill),
            "classes": [entry.as_dict() for entry in self.classes],
            "confusion": None if self.confusion is None else _confusion(self.space, self.confusion),
            "curves": self.curves.as_dict(),
            "thresholds": _thresholds(self.sweep, self.tuned),
            "parsing": None if self.parsing is None else self.parsing.as_dict(),
            "slices": [entry.as_dict() for entry in self.slices],
            "mistakes": [asdict(entry) for entry in self.mistakes],
            "swaps": [asdict(entry) for entry in self.swaps],
            "pair_texts": [[row, column, list(texts)] for row, column, texts in self.pair_texts],
            "facts": dict(self.facts),
            "notes": list(self.notes),
            "findings": [finding.as_dict() for finding in self.findings],
            "provenance": asdict(self.provenance),
        }
        plain: dict[str, Any] = _plain(whole)
        return plain

    def to_json(self) -> str:
        """Return `evaluation.json`: the same bytes for the same evaluation, no NaN or infinity."""
        return json.dumps(self.as_dict(), ensure_ascii=False, allow_nan=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Rebuild an evaluation from `to_json()`.

        Raises
        ------
        DataError
            Not an evaluation, or one of a newer schema.
        """
        try:
            data = json.loads(text)
            schema = data["schema"]
        except (ValueError, TypeError, KeyError) as error:
            raise DataError(
                "this is not an evaluation.json", fix="pass a file that evalreport wrote"
            ) from error
        if schema != SCHEMA:
            raise DataError(
                f"evaluation.json has schema {schema}; this version reads {SCHEMA}", fix="upgrade evalreport"
            )
        return cls(**_fields(data))


def _plain(value: Any) -> Any:
    """NumPy scalars to Python's, tuples to lists, infinity and NaN to null."""
    match value:
        case dict():
            return {str(key): _plain(entry) for key, entry in value.items()}
        case list() | tuple():
            return [_plain(entry) for entry in value]
        case np.generic():
            return _plain(value.item())
        case float() if not math.isfinite(value):
            return None
        case _:
            return value


def _confusion(space: LabelSpace, counts: Counts) -> dict[str, Any]:
    unread = ["(not readable)"] if counts.unparsed else []
    cells = zip(counts.rows.tolist(), counts.columns.tolist(), counts.weight.tolist(), strict=True)
    return {
        "labels": list(space.labels),
        "predicted_labels": [*space.labels, *unread],
        "cells": [list(cell) for cell in cells],
    }


def _counts(size: int, data: Mapping[str, Any]) -> Counts:
    cells = np.array(data["cells"], dtype=np.float64).reshape(-1, 3)
    codes = (cells[:, 0] * (size + 1) + cells[:, 1]).astype(np.int64)
    return Counts(size, codes, np.ascontiguousarray(cells[:, 2]))


def _space(data: Mapping[str, Any]) -> LabelSpace:
    match data["task"]:
        case "binary":
            return Binary(*data["labels"])
        case "multiclass":
            return Multiclass(data["labels"], ordered=data["ordered"])
        case _:
            return Multilabel(data["labels"])


def _finite(value: float | tuple[float, ...]) -> Any:
    """A threshold above all scores is null in JSON; that there is one is told by its origin."""
    if isinstance(value, tuple):
        return [entry if math.isfinite(entry) else None for entry in value]
    return value if math.isfinite(value) else None


def _infinite(value: float | None) -> float:
    return math.inf if value is None else value


def _threshold(data: Mapping[str, Any]) -> Threshold | None:
    value = data["threshold"]
    if data["threshold_origin"] is None:
        return None
    whole = tuple(map(_infinite, value)) if isinstance(value, list) else _infinite(value)
    return Threshold(whole, data["threshold_origin"])


def _thresholds(sweep: Sweep | None, tuned: Tuned | None) -> dict[str, Any] | None:
    if tuned is not None:
        keys = dict.fromkeys(("threshold", "low", "high"))
        return {"points": [], "optima": {tuned.objective: {**keys, **tuned.as_dict()}}}
    return None if sweep is None else sweep.as_dict()


def _tuned(data: Mapping[str, Any]) -> Tuned | None:
    if data["task"] != "multilabel" or data["thresholds"] is None:
        return None
    (found,) = data["thresholds"]["optima"].values()
    return Tuned.from_dict(found)


def _classes(data: Mapping[str, Any], threshold: Threshold | None) -> tuple[ClassResult, ...]:
    classes: tuple[ClassResult, ...] = from_dicts(ClassResult, data["classes"])
    if threshold is None or data["task"] != "multilabel":
        return classes
    values = threshold.value if isinstance(threshold.value, tuple) else (threshold.value,) * len(classes)
    return tuple(replace(entry, threshold=at) for entry, at in zip(classes, values, strict=True))


def _fields(data: Mapping[str, Any]) -> dict[str, Any]:
    space, threshold = _space(data), _threshold(data)
    swept = data["task"] != "multilabel" and data["thresholds"] is not None
    return {
        "space": space,
        "rows": data["n"],
        "weight": data["weight"],
        "sampling": Sampling(**data["sampling"]),
        "metrics": results_from_dict(data["metrics"]),
        "score_kind": data["score_kind"],
        "threshold": threshold,
        "weighted": data["weighted"],
        "clusters": data["clusters"],
        "truth_digest": data["truth_digest"],
        "no_skill": data["no_skill"],
        "classes": _classes(data, threshold),
        "confusion": None if data["confusion"] is None else _counts(len(space), data["confusion"]),
        "curves": curves_from_dict(space, data["curves"]),
        "sweep": Sweep.from_dict(data["thresholds"]) if swept else None,
        "tuned": _tuned(data),
        "parsing": None if data["parsing"] is None else ParsingReport.from_dict(data["parsing"]),
        "slices": from_dicts(Slice, data["slices"]),
        "mistakes": from_dicts(Mistake, data["mistakes"]),
        "swaps": tuple(Swap(**entry) for entry in data["swaps"]),
        "pair_texts": tuple((row, column, tuple(texts)) for row, column, texts in data["pair_texts"]),
        "facts": data["facts"],
        "notes": tuple(data["notes"]),
        "findings": tuple(Finding(**entry) for entry in data["findings"]),
        "provenance": Provenance.from_dict(data["provenance"]),
    }

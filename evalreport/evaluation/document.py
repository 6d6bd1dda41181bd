"""`evaluation.json` as it stands in the file: the keys, their types and their ranges."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from evalreport.codec import Infinite, Mass, Whole
from evalreport.curves import BinaryCurves, MulticlassCurves, MultilabelCurves
from evalreport.evaluation.parts import ClassResult, Disparity, Mistake, RowCounts, Slice, Swap
from evalreport.facts import Counts
from evalreport.intervals import Sampling
from evalreport.intervals.folds import Folds
from evalreport.intervals.repeated import RepeatedAnswers
from evalreport.labels import Binary, Label, LabelSpace, Multiclass, Multilabel, Task
from evalreport.parsing import ParsingReport
from evalreport.predictions import Origin, Threshold
from evalreport.provenance import Provenance
from evalreport.scores import ScoreKind
from evalreport.thresholds.records import SweepRecord, Tuned
from evalreport.thresholds.sweep import Sweep
from evalreport.values import Finding, Result, Undefined

CLASS_KEYS = "class_keys"
"""What a logged `evaluation.json` holds beside the evaluation: each label's metric key in MLflow."""
UNREAD = "(not readable)"
"""The column of answers that could not be parsed."""


@dataclass(frozen=True)
class ConfusionRecord:
    """The confusion matrix by its cells: code of the truth, code of the prediction, weight."""

    labels: tuple[Label, ...]
    predicted_labels: tuple[Label, ...]
    cells: tuple[tuple[Whole, Whole, Mass], ...]

    @classmethod
    def of(cls, space: LabelSpace, counts: Counts) -> ConfusionRecord:
        """Return the record of a matrix; unread answers have a column when there are any."""
        cells = zip(counts.rows.tolist(), counts.columns.tolist(), counts.weight.tolist(), strict=True)
        unread = (UNREAD,) if counts.unparsed else ()
        return cls(space.labels, (*space.labels, *unread), tuple(cells))

    def counts(self, size: int) -> Counts:
        """Return the matrix.

        Raises
        ------
        ValueError
            A cell outside the labels, or cells out of order.
        """
        cells = np.array(self.cells, dtype=np.float64).reshape(-1, 3)
        rows, columns = cells[:, 0], cells[:, 1]
        codes = (rows * (size + 1) + columns).astype(np.int64)
        if (rows >= size).any() or (columns > size).any() or (np.diff(codes) <= 0).any():
            raise ValueError(f"cells of the confusion matrix lie outside {size} labels, or out of order")
        return Counts(size, codes, np.ascontiguousarray(cells[:, 2]))


@dataclass(frozen=True)
class EvaluationRecord:
    """Every key of `evaluation.json`, in order."""

    schema: Literal[1]
    task: Task
    n: Whole
    weight: Mass
    labels: tuple[Label, ...]
    positive: Label | None
    ordered: bool
    threshold: tuple[Infinite, ...] | float | None
    threshold_origin: Origin | None
    score_kind: ScoreKind | None
    weighted: bool
    clusters: Whole | None
    truth_digest: str
    sampling: Sampling
    metrics: Mapping[str, Result]
    no_skill: Mapping[str, float]
    classes: tuple[ClassResult, ...]
    confusion: ConfusionRecord | None
    curves: BinaryCurves | MulticlassCurves | MultilabelCurves | Undefined
    thresholds: SweepRecord | None
    parsing: ParsingReport | None
    slices: tuple[Slice, ...]
    disparities: tuple[Disparity, ...]
    mistakes: tuple[Mistake, ...]
    swaps: tuple[Swap, ...]
    pair_texts: tuple[tuple[Whole, Whole, tuple[str, ...]], ...]
    row_counts: RowCounts | None
    off_coverage: Mapping[str, str]
    folds: Folds | None
    answers: RepeatedAnswers | None
    facts: Mapping[str, float]
    notes: tuple[str, ...]
    findings: tuple[Finding, ...]
    provenance: Provenance

    def space(self) -> LabelSpace:
        """Return the label space."""
        match self.task:
            case "binary":
                negative, positive = self.labels
                return Binary(negative, positive)
            case "multiclass":
                return Multiclass(self.labels, ordered=self.ordered)
            case "multilabel":
                return Multilabel(self.labels)

    def operating_point(self) -> Threshold | None:
        """Return where the decision was taken; an infinite threshold is null, told by its origin."""
        if self.threshold_origin is None:
            return None
        return Threshold(math.inf if self.threshold is None else self.threshold, self.threshold_origin)

    def class_results(self) -> tuple[ClassResult, ...]:
        """Return the classes, those of a multilabel problem with their thresholds."""
        if self.classes and tuple(entry.label for entry in self.classes) != self.space().shown:
            raise ValueError("the classes are not the labels")
        point = self.operating_point()
        if point is None or self.task != "multilabel":
            return self.classes
        given = point.value if isinstance(point.value, tuple) else (point.value,) * len(self.classes)
        return tuple(replace(entry, threshold=at) for entry, at in zip(self.classes, given, strict=True))

    def sweep(self) -> Sweep | None:
        """Return the thresholds of a binary problem."""
        return (
            None if self.thresholds is None or self.task == "multilabel" else Sweep.from_wire(self.thresholds)
        )

    def tuned(self) -> Tuned | None:
        """Return the thresholds that were chosen label by label."""
        if self.thresholds is None or self.task != "multilabel":
            return None
        (tuned,) = self.thresholds.optima.values()
        if not isinstance(tuned, Tuned):
            raise ValueError("a multilabel problem has one threshold per label")
        return tuned

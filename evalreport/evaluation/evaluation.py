"""`Evaluation`: everything known of one set of predictions, and its lossless JSON, `evaluation.json`.

`ThresholdSelection`: thresholds chosen for each objective, with their values here and on held-out data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, assert_never

import numpy as np

from evalreport.core.errors import DataError, UsageError, nearest
from evalreport.core.extensions import extension
from evalreport.core.format import pluralize
from evalreport.core.json_codec import (
    Infinite,
    Mass,
    Whole,
    decode,
    differing,
    dumps,
    encode,
    loads,
    shared_fields,
)
from evalreport.core.lazy import LazyField
from evalreport.core.result import Estimate, Finding, Provenance, Result, Undefined, format_estimate
from evalreport.core.sentences import Sentence
from evalreport.curves.binary import BinaryCurves, binary_curves, of_summary
from evalreport.curves.class_curves import (
    LabelSweep,
    MulticlassCurves,
    MultilabelCurves,
    of_multiclass,
    of_multilabel,
)
from evalreport.curves.curve import Band, Cardinality, Curve, Histogram, Reliability
from evalreport.data.labels import (
    Binary,
    Graded,
    Label,
    LabelSpace,
    Multiclass,
    Multilabel,
    ParsingReport,
    Task,
)
from evalreport.data.predictions import Origin, Predictions, Threshold
from evalreport.data.scores import ScoreKind
from evalreport.evaluation.parts import (
    ClassResult,
    Disparity,
    JudgedPair,
    Mistake,
    RepeatedResponses,
    RowCounts,
    Slice,
    Swap,
    WeakSlices,
)
from evalreport.intervals.folds import Folds
from evalreport.intervals.interval_settings import Sampling
from evalreport.metrics.catalogue import HEADLINE, describe_own, find
from evalreport.metrics.own import Direction
from evalreport.statistics.confusion import Counts
from evalreport.statistics.summary import Summary
from evalreport.thresholds.best_threshold import (
    Choice,
    Cutoff,
    Optimum,
    SweepRecord,
    Tuned,
    Unreachable,
    choice_to_wire,
)
from evalreport.thresholds.cross_fitting import CutoffChoice
from evalreport.thresholds.objectives import Objective
from evalreport.thresholds.sweep import Sweep

if TYPE_CHECKING:
    import pandas as pd


Curves: TypeAlias = BinaryCurves | MulticlassCurves | MultilabelCurves

__all__ = [
    "Band",
    "BinaryCurves",
    "Cardinality",
    "Curve",
    "Curves",
    "Histogram",
    "LabelSweep",
    "MulticlassCurves",
    "MultilabelCurves",
    "Reliability",
    "binary_curves",
    "curves",
]


def curves(summary: Summary, level: float = 0.95) -> Curves | Undefined:
    """Return the curves of a summary, or why there are none.

    Parameters
    ----------
    summary : Summary
    level : float
        Confidence level of bands and Wilson limits.

    Examples
    --------
    >>> from evalreport.statistics.summary import summarise
    >>> from evalreport.data.predictions import predictions
    >>> curves(summarise(predictions(Binary(0, 1), [0, 1], [0, 1])))
    Undefined(reason='needs scores; got only labels', n=2.0)
    """
    match summary.space:
        case Binary():
            return of_summary(summary, level)
        case Multiclass():
            return of_multiclass(summary, level)
        case Multilabel():
            return of_multilabel(summary, level)
        case never:
            assert_never(never)


CLASS_KEYS = "class_keys"
"""What a logged `evaluation.json` holds beside the evaluation: each label's metric key in MLflow."""
UNPARSED_LABEL = "(unparsed)"
"""The column of responses that could not be parsed."""


@dataclass(frozen=True)
class ConfusionRecord:
    """The confusion matrix by its cells: code of the truth, code of the prediction, weight."""

    labels: tuple[Label, ...]
    predicted_labels: tuple[Label, ...]
    cells: tuple[tuple[Whole, Whole, Mass], ...]

    @classmethod
    def from_counts(cls, space: LabelSpace, counts: Counts) -> ConfusionRecord:
        """Return the record of a matrix; unread answers have a column when there are any."""
        cells = zip(counts.rows.tolist(), counts.columns.tolist(), counts.weight.tolist(), strict=True)
        unparsed = (UNPARSED_LABEL,) if counts.unparsed_weight else ()
        return cls(space.labels, (*space.labels, *unparsed), tuple(cells))

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

    schema: Literal[2]
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
    label_digest: str
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
    own_metrics: Mapping[str, Direction]
    weak_slices: WeakSlices | None
    folds: Folds | None
    repeated_responses: RepeatedResponses | None
    data_checks: Mapping[str, float]
    notes: tuple[str, ...]
    findings: tuple[Finding, ...]
    provenance: Provenance

    def space(self) -> LabelSpace:
        """Return the label space."""
        match self.task:
            case "binary":
                negative, positive = self.labels
                return Binary(negative, positive)
            case "graded":
                return Graded()
            case "multiclass":
                return Multiclass(self.labels, ordered=self.ordered)
            case "multilabel":
                return Multilabel(self.labels)

    def operating_point(self) -> Threshold | None:
        """Return where the decision was taken; an infinite threshold is null, with its origin."""
        if self.threshold_origin is None:
            return None
        return Threshold(math.inf if self.threshold is None else self.threshold, self.threshold_origin)

    def class_results(self) -> tuple[ClassResult, ...]:
        """Return the classes, those of a multilabel problem with their thresholds."""
        if self.classes and tuple(entry.label for entry in self.classes) != self.space().display_labels:
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

    def tuned_thresholds(self) -> Tuned | None:
        """Return the thresholds that were chosen label by label."""
        if self.thresholds is None or self.task != "multilabel":
            return None
        (tuned,) = self.thresholds.optima.values()
        if not isinstance(tuned, Tuned):
            raise ValueError("a multilabel problem has one threshold per label")
        return tuned


NO_CURVES = Undefined("not computed")
WHAT = "evaluation.json"
SCHEMA: Literal[2] = 2
"""Version of `evaluation.json`; a reader refuses a newer one."""


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """Everything known of one set of predictions.

    Two evaluations are equal when their JSON is. `predictions` are at hand only in the session that
    made the evaluation; a paired comparison needs them. Without intervals a metric is worked out when it is
    first read, and the fields from `truth_digest` to `findings` when the first of them is. What a label of
    several has beyond the metrics that pages show is worked out when the first of it is read.

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
    own_metrics : mapping from name to {"higher", "lower"}
        Metrics of the user's own, and which values are better.
    weak_slices : WeakSlices or None
        Slices of columns that are used for nothing else in which the model is worse; None without a search.
    folds : Folds or None
        Of a cross-validation: every metric fold by fold.
    answers : RepeatedResponses or None
        Of several answers to each row: one of them, the most frequent, any of k.
    curves, sweep, parsing, slices, disparities, mistakes, swaps, findings, provenance
        Undefined parts are None or empty.
    pair_texts : tuple of (truth code, predicted code, texts)
        Example texts of frequent confusions, only when their column was named.
    row_counts : RowCounts or None
        Where rows weigh: the same counts in rows.
    off_coverage : mapping from a metric's name to text
        Where its interval did not hold what it promises, in the worst setting simulated.
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
    confusion: Counts | None = None
    tuned: Tuned | None = None
    parsing: ParsingReport | None = None
    own_metrics: Mapping[str, Direction] = field(default_factory=dict)
    weak_slices: WeakSlices | None = None
    folds: Folds | None = None
    repeated_responses: RepeatedResponses | None = None
    provenance: Provenance = field(default_factory=Provenance)
    predictions: Predictions | None = None
    label_digest: LazyField[str] = LazyField("")
    no_skill: LazyField[Mapping[str, float]] = LazyField(dict)
    classes: LazyField[tuple[ClassResult, ...]] = LazyField(())
    curves: LazyField[Curves | Undefined] = LazyField(NO_CURVES)
    sweep: LazyField[Sweep | None] = LazyField(None)
    slices: LazyField[tuple[Slice, ...]] = LazyField(())
    disparities: LazyField[tuple[Disparity, ...]] = LazyField(())
    mistakes: LazyField[tuple[Mistake, ...]] = LazyField(())
    swaps: LazyField[tuple[Swap, ...]] = LazyField(())
    pair_texts: LazyField[tuple[tuple[int, int, tuple[str, ...]], ...]] = LazyField(())
    row_counts: LazyField[RowCounts | None] = LazyField(None)
    off_coverage: LazyField[Mapping[str, str]] = LazyField(dict)
    data_checks: LazyField[Mapping[str, float]] = LazyField(dict)
    notes: LazyField[tuple[str, ...]] = LazyField(())
    findings: LazyField[tuple[Finding, ...]] = LazyField(())

    @classmethod
    def completed_later(cls, whole: Callable[[], Self], **known: Any) -> Self:
        """Return the evaluation of which some fields are known; the others are those of the whole."""
        once = cache(whole)
        later = (name for name, kind in vars(Evaluation).items() if isinstance(kind, LazyField))
        return cls(**(known | {name: partial(_field, once, name) for name in later}))

    def with_fields(self, **changes: Any) -> Self:
        """Return the same evaluation with other fields; unlike `dataclasses.replace` it makes none."""
        return type(self)(**{entry.name: vars(self)[entry.name] for entry in fields(self)} | changes)

    def __getstate__(self) -> dict[str, Any]:
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was assumed, set aside or not used on the way here; each once, without full stops."""
        notes = (*self.notes, *self.provenance.notes)
        return tuple(dict.fromkeys(note.removesuffix(".") for note in notes))

    @property
    def own_headline(self) -> Sentence | None:
        """The headline of a kind of evaluation that a feature adds; None where the task decides."""
        return None

    def judged_pair(self, names: tuple[str, str], baseline: Evaluation) -> JudgedPair | None:  # noqa: ARG002
        """Return the corrected pass rates of this run and its baseline, where one judge graded both."""
        return None

    def refuse_pair(self, baseline: Evaluation) -> None:
        """Refuse a comparison row by row with a baseline; only a kind that a feature adds has a reason."""

    @property
    def size(self) -> str:
        """How many examples there are, in words."""
        return pluralize(self.rows, *self.row_unit)

    @property
    def sample_size(self) -> int:
        """How many units a plan counts: rows."""
        return self.rows

    @property
    def sample_unit(self) -> tuple[str, str]:
        """The word for one unit of a plan and for several: "row" unless the rows have a name."""
        return ("row", "rows") if self.provenance.unit == Provenance.unit else self.provenance.unit

    @property
    def row_unit(self) -> tuple[str, str]:
        """The word for one row and for several."""
        return self.provenance.unit

    @property
    def lines(self) -> tuple[str, ...]:
        """What a terminal shows below the metrics."""
        return () if self.weak_slices is None else (self.weak_slices.summary,)

    def __repr__(self) -> str:
        labels = "" if isinstance(self.space, Binary | Graded) else f", {len(self.space)} labels"
        known = {name: r for name in HEADLINE[self.task] if isinstance(r := self.metrics.get(name), Estimate)}
        some = [f"{name} {format_estimate(r, find(name, self.task).style)}" for name, r in known.items()][:3]
        found = "1 finding" if len(self.findings) == 1 else f"{len(self.findings)} findings"
        parts = ", ".join((*some, f"… {len(self.metrics)} metrics", found))
        return f"{type(self).__name__}({self.task}{labels}, {self.rows:,} rows: {parts})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Evaluation) and encode(self) == encode(other)

    __hash__ = None  # type: ignore[assignment]

    def in_rows(self) -> Self:
        """Return the evaluation with its counts in whole rows, for sentences; metrics stay weighted."""
        found = self.row_counts
        if found is None:
            return self
        known = found.confusion() if found.cells else None
        classes = found.classes(self.classes)
        return replace(self, weight=float(self.rows), confusion=known, classes=classes, row_counts=None)

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
        return self.with_fields(provenance=provenance)

    def to_frame(self) -> pd.DataFrame:
        """Return the metrics as a table: one row per metric with value, low, high, method, n, reason."""
        import pandas as pd

        return pd.DataFrame.from_dict({name: encode(r) for name, r in self.metrics.items()}, orient="index")

    def to_wire(self) -> EvaluationRecord:
        """Return the evaluation as `evaluation.json` holds it, key by key."""
        point, known = self.threshold, self.confusion
        own: dict[str, Any] = {
            "schema": SCHEMA,
            "task": self.task,
            "n": self.rows,
            "labels": self.space.labels,
            "positive": self.space.positive if isinstance(self.space, Binary) else None,
            "ordered": isinstance(self.space, Multiclass) and self.space.ordered,
            "threshold": None if point is None else point.value,
            "threshold_origin": None if point is None else point.origin,
            "confusion": None if known is None else ConfusionRecord.from_counts(self.space, known),
            "thresholds": self._thresholds(),
        }
        return EvaluationRecord(**(shared_fields(self, EvaluationRecord) | own))

    def _thresholds(self) -> SweepRecord | None:
        if self.tuned is not None:
            return SweepRecord((), {self.tuned.objective: self.tuned})
        return None if self.sweep is None else self.sweep.to_wire()

    @classmethod
    def from_wire(cls, wire: EvaluationRecord) -> Self:
        """Return the evaluation that a document holds."""
        space = wire.space()
        _describe_own_metrics(wire)
        own: dict[str, Any] = {
            "space": space,
            "rows": wire.n,
            "threshold": wire.operating_point(),
            "classes": wire.class_results(),
            "confusion": None if wire.confusion is None else wire.confusion.counts(len(space)),
            "sweep": wire.sweep(),
            "tuned": wire.tuned_thresholds(),
        }
        return cls(**(shared_fields(wire, cls) | own))

    def to_json(self) -> str:
        """Return `evaluation.json`: the same bytes for the same evaluation, no NaN or infinity."""
        return dumps(self)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Rebuild an evaluation from `to_json()`.

        Raises
        ------
        DataError
            Not an evaluation, one of a newer schema, or one that was changed: keys, types and ranges are
            checked, and that values stored twice agree.
        """
        data = loads(text, WHAT)
        if not isinstance(data, dict) or "schema" not in data:
            raise DataError("this is not an evaluation.json", fix="pass a file that evalreport wrote")
        if data["schema"] != SCHEMA:
            is_older = isinstance(data["schema"], int) and data["schema"] < SCHEMA
            raise DataError(
                f"evaluation.json has schema {data['schema']!a:.20}; this version reads {SCHEMA}",
                fix="evaluate the predictions again" if is_older else "upgrade evalreport",
            )
        keys = data.pop(CLASS_KEYS, {})
        if not (isinstance(keys, dict) and all(isinstance(key, str) for key in keys.values())):
            raise DataError(f"{CLASS_KEYS!r} of {WHAT} is no mapping", fix="pass what evalreport wrote")
        kind = extension("grades", "reading stored grades") if data.get("task") == "graded" else cls
        made: Self = decode(kind, data, WHAT)
        place = differing(data, encode(made))
        if place is not None:
            raise DataError(
                f"{WHAT} contradicts itself",
                where=place,
                fix="pass the file that evalreport wrote, unchanged",
            )
        return made


def _describe_own_metrics(wire: EvaluationRecord) -> None:
    try:
        describe_own(wire.own_metrics)
    except UsageError as error:
        raise ValueError(error.message) from None
    unknown = [name for name in wire.own_metrics if name not in wire.metrics]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is not among the metrics")


def _field(whole: Callable[[], Evaluation], name: str) -> Any:
    return getattr(whole(), name)


PLAIN = {"0.5": "0.5 for all labels", "equal": "equal weights"}
"""What would be taken without a choice, by the name of that starting point."""

Selected: TypeAlias = Choice | Tuned | CutoffChoice
"""What was chosen for one objective."""


@dataclass(frozen=True, eq=False)
class ThresholdSelection:
    """What was chosen for each objective, and the evaluation of the rows that it is reported on.

    Parameters
    ----------
    evaluation : Evaluation
        Of the rows as they are decided without a choice.
    found : mapping from an objective's name to what was chosen for it
        Binary: `Optimum`, `Unreachable` or `Undefined`. Multilabel: `Tuned` thresholds. Multiclass: a
        `Cutoff` of confidence for a wanted accuracy, `Tuned` weights of classes for anything else.
    objectives : mapping from an objective's name to Objective
        Binary alone.
    whole : Sweep or None
        Binary: the counts at every threshold, where they were asked for.
    tuned_on : str
        Where the rows of the choice come from; empty when they are the same.
    common : mapping from an objective's name to ((percent, value), …)
        Multilabel: its value where all labels have the same threshold.
    deployed : mapping from an objective's name to (metric name to Estimate or Undefined)
        Binary, where a prevalence of deployment was stated: what its threshold does there.
    notes : tuple of str
        What else to know of the choice, in sentences.
    """

    evaluation: Evaluation
    found: Mapping[str, Selected]
    objectives: Mapping[str, Objective] = field(default_factory=dict)
    whole: Sweep | None = None
    tuned_on: str = ""
    common: Mapping[str, tuple[tuple[int, float], ...]] = field(default_factory=dict)
    deployed: Mapping[str, Mapping[str, Result]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __getitem__(self, objective: str) -> Selected:
        """Return what was chosen for an objective.

        Raises
        ------
        UsageError
            It was not asked for.
        """
        if objective not in self.found:
            raise UsageError(
                f"nothing was chosen for {objective!r}", fix=nearest(objective, list(self.found))
            )
        return self.found[objective]

    @property
    def provenance(self) -> Provenance:
        """Where the evaluation comes from."""
        return self.evaluation.provenance

    def with_provenance(self, provenance: Provenance) -> Self:
        """Return the same choice with its origin filled in."""
        return replace(self, evaluation=self.evaluation.with_provenance(provenance))

    @property
    def best(self) -> Selected:
        """What was chosen for the first objective."""
        return next(iter(self.found.values()))

    @property
    def optima(self) -> Mapping[str, Optimum]:
        """Thresholds of a binary problem that were found."""
        return {name: best for name, best in self.found.items() if isinstance(best, Optimum)}

    @property
    def tuned_choices(self) -> Mapping[str, Tuned]:
        """Thresholds of labels, or weights of classes."""
        return {name: best for name, best in self.found.items() if isinstance(best, Tuned)}

    @property
    def cutoffs(self) -> Mapping[str, Cutoff]:
        """Cut-offs of confidence."""
        return {name: best for name, best in self.found.items() if isinstance(best, Cutoff)}

    @property
    def missing(self) -> Mapping[str, str]:
        """Objectives for which nothing was found, and why."""
        none = (Unreachable, Undefined)
        return {name: best.reason for name, best in self.found.items() if isinstance(best, none)}

    @property
    def doubts(self) -> tuple[str, ...]:
        """What makes a choice uncertain."""
        messages = []
        if self.whole is not None:
            if len(self.whole) == 2:
                messages.append("All scores are equal: every threshold flags all rows or none.")
            sides = (("positive", self.whole.positives), ("negative", self.whole.negatives))
            messages += [f"The data contain no {name} example." for name, weight in sides if not weight]
        if not self.tuned_on:
            several = self.evaluation.provenance.unit[1]
            messages.append(
                f"Thresholds were chosen on the {several} they are reported on. Use the held-out "
                "estimates, or choose thresholds on other data."
            )
        messages += [
            f"{name} has no held-out estimate: {best.out_of_sample.value.reason}."
            for name, best in self.tuned_choices.items()
            if isinstance(best.out_of_sample.value, Undefined)
        ]
        messages += [
            f"{name}: the search found nothing better than {PLAIN[start]}."
            for name, best in self.tuned_choices.items()
            for start in PLAIN
            if best.method != "bayes" and best.apparent == best.starts.get(start)
        ]
        return (*messages, *self.notes, *(f"{name}: {reason}." for name, reason in self.missing.items()))

    def to_wire(self) -> dict[str, Any]:
        """Return the choices as in their file, with the thresholds that the page shows."""
        return self.record()

    def _deployment_entry(self, objective: str) -> dict[str, Any]:
        """The metrics of a threshold at the given prevalence, as a separate entry."""
        return {"deployment": encode(self.deployed[objective])} if objective in self.deployed else {}

    def to_json(self) -> str:
        """Return what was chosen as JSON: the same text for the same value; what is not finite is null."""
        return dumps(self)

    def record(self, *, whole: bool = False) -> dict[str, Any]:
        """Return what was chosen, as `--json` prints it.

        Parameters
        ----------
        whole : bool
            Of a binary problem, give every threshold instead of those that the page shows.
        """
        ev = self.evaluation
        points = self.whole if whole else ev.sweep
        return {
            "kind": "thresholds",
            "task": ev.task,
            "n": ev.rows,
            "positive": ev.space.display_labels[1] if ev.task == "binary" else None,
            "score_kind": ev.score_kind,
            "tuned_on": self.tuned_on or None,
            "objectives": list(self.found),
            "optima": {
                name: encode_choice(best) | self._deployment_entry(name) for name, best in self.found.items()
            },
            "points": () if points is None else points.points,
        }


def encode_choice(found: Selected) -> dict[str, Any]:
    """Return what was chosen as plain data: always with the five keys of a threshold.

    Of a cut-off, `apparent` and `honest` are the share that is answered.

    Examples
    --------
    >>> encode_choice(Undefined("no scores"))["reason"]
    'no scores'
    """
    match found:
        case Tuned():
            return {**encode(found), "reason": None}
        case Cutoff():
            out_of_sample = found.out_of_sample.value.value
            return {**encode(found), "apparent": found.coverage, "held_out": out_of_sample, "reason": None}
        case _:
            plain: dict[str, Any] = encode(choice_to_wire(found))
            return plain

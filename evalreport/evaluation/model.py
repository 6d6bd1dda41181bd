"""`Evaluation`: everything known of one set of predictions, and its lossless JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Literal, Self

from evalreport.codec import alike, decode, differing, dumps, encode, loads
from evalreport.curves import Curves
from evalreport.errors import DataError, UsageError, nearest
from evalreport.estimates import valued
from evalreport.evaluation.document import CLASS_KEYS, ConfusionRecord, EvaluationRecord
from evalreport.evaluation.parts import ClassResult, Disparity, Mistake, RowCounts, Slice, Swap
from evalreport.facts import Counts
from evalreport.intervals import Sampling
from evalreport.intervals.folds import Folds
from evalreport.intervals.repeated import RepeatedAnswers
from evalreport.labels import Binary, LabelSpace, Multiclass, Task
from evalreport.later import Later
from evalreport.metrics.catalogue import find
from evalreport.metrics.named_sets import HEADLINE
from evalreport.parsing import ParsingReport
from evalreport.predictions import Predictions, Threshold
from evalreport.provenance import Provenance
from evalreport.scores import ScoreKind
from evalreport.thresholds.records import SweepRecord, Tuned
from evalreport.thresholds.sweep import Sweep
from evalreport.values import Estimate, Finding, Result, Undefined

if TYPE_CHECKING:
    import pandas as pd

NO_CURVES = Undefined("not computed")
WHAT = "evaluation.json"
SCHEMA: Literal[1] = 1
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
    folds : Folds or None
        Of a cross-validation: every metric fold by fold.
    answers : RepeatedAnswers or None
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
    folds: Folds | None = None
    answers: RepeatedAnswers | None = None
    provenance: Provenance = field(default_factory=Provenance)
    predictions: Predictions | None = None
    truth_digest: Later[str] = Later("")
    no_skill: Later[Mapping[str, float]] = Later(dict)
    classes: Later[tuple[ClassResult, ...]] = Later(())
    curves: Later[Curves | Undefined] = Later(NO_CURVES)
    sweep: Later[Sweep | None] = Later(None)
    slices: Later[tuple[Slice, ...]] = Later(())
    disparities: Later[tuple[Disparity, ...]] = Later(())
    mistakes: Later[tuple[Mistake, ...]] = Later(())
    swaps: Later[tuple[Swap, ...]] = Later(())
    pair_texts: Later[tuple[tuple[int, int, tuple[str, ...]], ...]] = Later(())
    row_counts: Later[RowCounts | None] = Later(None)
    off_coverage: Later[Mapping[str, str]] = Later(dict)
    facts: Later[Mapping[str, float]] = Later(dict)
    notes: Later[tuple[str, ...]] = Later(())
    findings: Later[tuple[Finding, ...]] = Later(())

    @classmethod
    def completed_later(cls, whole: Callable[[], Self], **known: Any) -> Self:
        """Return the evaluation of which some fields are known; the others are those of the whole."""
        once = cache(whole)
        later = (name for name, kind in vars(Evaluation).items() if isinstance(kind, Later))
        return cls(**(known | {name: partial(_field, once, name) for name in later}))

    def changed(self, **changes: Any) -> Self:
        """Return the same evaluation with other fields; unlike `dataclasses.replace` it makes none."""
        return type(self)(**{entry.name: vars(self)[entry.name] for entry in fields(self)} | changes)

    def __getstate__(self) -> dict[str, Any]:
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was assumed, set aside or not used on the way here; each once, without full stops."""
        told = (*self.notes, *self.provenance.notes)
        return tuple(dict.fromkeys(note.removesuffix(".") for note in told))

    def __repr__(self) -> str:
        labels = "" if isinstance(self.space, Binary) else f", {len(self.space)} labels"
        known = {name: r for name in HEADLINE[self.task] if isinstance(r := self.metrics.get(name), Estimate)}
        some = [f"{name} {valued(r, find(name, self.task).style)}" for name, r in known.items()][:3]
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
        return self.changed(provenance=provenance)

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
            "confusion": None if known is None else ConfusionRecord.of(self.space, known),
            "thresholds": self._thresholds(),
        }
        return EvaluationRecord(**(alike(self, EvaluationRecord) | own))

    def _thresholds(self) -> SweepRecord | None:
        if self.tuned is not None:
            return SweepRecord((), {self.tuned.objective: self.tuned})
        return None if self.sweep is None else self.sweep.to_wire()

    @classmethod
    def from_wire(cls, wire: EvaluationRecord) -> Self:
        """Return the evaluation that a document holds."""
        space = wire.space()
        own: dict[str, Any] = {
            "space": space,
            "rows": wire.n,
            "threshold": wire.operating_point(),
            "classes": wire.class_results(),
            "confusion": None if wire.confusion is None else wire.confusion.counts(len(space)),
            "sweep": wire.sweep(),
            "tuned": wire.tuned(),
        }
        return cls(**(alike(wire, cls) | own))

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
            checked, and that what is told twice agrees.
        """
        data = loads(text, WHAT)
        if not isinstance(data, dict) or "schema" not in data:
            raise DataError("this is not an evaluation.json", fix="pass a file that evalreport wrote")
        if data["schema"] != SCHEMA:
            raise DataError(
                f"evaluation.json has schema {data['schema']!a:.20}; this version reads {SCHEMA}",
                fix="upgrade evalreport",
            )
        keys = data.pop(CLASS_KEYS, {})
        if not (isinstance(keys, dict) and all(isinstance(key, str) for key in keys.values())):
            raise DataError(f"{CLASS_KEYS!r} of {WHAT} is no mapping", fix="pass what evalreport wrote")
        made: Self = decode(cls, data, WHAT)
        place = differing(data, encode(made))
        if place is not None:
            raise DataError(
                f"{WHAT} contradicts itself", where=place, fix="pass what evalreport wrote, unchanged"
            )
        return made


def _field(whole: Callable[[], Evaluation], name: str) -> Any:
    return getattr(whole(), name)

"""The results of a comparison: matched rows, differences, verdicts, ranking, operating points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.core.errors import DataError, UsageError
from evalreport.core.format import pluralize
from evalreport.core.json_codec import Infinite, Mass, dumps
from evalreport.core.result import Estimate
from evalreport.data.arrays import repeated_ids
from evalreport.data.labels import UNPARSED, Binary, Graded, Label, LabelSpace, Multiclass, Multilabel
from evalreport.data.predictions import Predictions
from evalreport.data.scores import Decisions, KnownScores, NoScores
from evalreport.evaluation.evaluation import Evaluation
from evalreport.evaluation.parts import JudgedPair, WorseSlices
from evalreport.thresholds.objectives import Costs


def union_space(a: LabelSpace, b: LabelSpace) -> LabelSpace:
    """Return the label space of both runs: the first's labels, then what the second adds.

    Raises
    ------
    UsageError
        The tasks differ, or binary problems have other labels or another positive label.

    Examples
    --------
    >>> union_space(Multiclass(["a", "b"]), Multiclass(["b", "c"])).labels
    ('a', 'b', 'c')
    """
    if a == b:
        return a
    if a.task != b.task:
        raise UsageError(
            f"a {a.task} run cannot be compared with a {b.task} run",
            fix="declare the task of both with --set task, if one was inferred wrongly",
        )
    if isinstance(a, Graded) and isinstance(b, Graded):
        raise UsageError(
            f"grades on the scale {a.scale!r} cannot be compared with grades on the scale {b.scale!r}",
            fix="make a pass of both with --set pass, such as --set pass='>=4'",
        )
    known = set(a.names)
    labels: list[Label] = [*a.labels, *(label for label in b.labels if str(label) not in known)]
    match a, b:
        case Multiclass(), Multiclass():
            return Multiclass(labels, ordered=a.ordered and a.labels == b.labels)
        case Multilabel(), _:
            return Multilabel(labels)
        case _:
            raise UsageError(
                f"the binary runs differ in their labels: {' / '.join(a.names)} and {' / '.join(b.names)}",
                where="negative / positive",
                fix="name the same --positive label for both",
            )


def recode(p: Predictions, space: LabelSpace) -> Predictions:
    """Return predictions in the codes of a wider label space; an unknown label has the lowest score.

    Examples
    --------
    >>> from evalreport.data.predictions import predictions
    >>> p = predictions(Multiclass(["b", "c"]), ["b", "c"], ["b", "b"])
    >>> recode(p, Multiclass(["a", "b", "c"])).y_true
    array([1, 2], dtype=int32)
    """
    if p.space == space or isinstance(space, Binary):
        return p
    place = np.array([space.code_of[name] for name in p.space.texts], dtype=np.int32)
    return replace(
        p,
        space=space,
        y_true=_remap_codes(p.y_true, place, len(space)),
        y_pred=None if p.y_pred is None else _remap_codes(p.y_pred, place, len(space)),
        scores=_widen(p.scores, place, len(space)),
    )


def _widen(scores: KnownScores, place: npt.NDArray[np.int32], size: int) -> KnownScores:
    if isinstance(scores, NoScores):
        return scores
    lowest = scores.values.min(initial=0) - 1 if isinstance(scores, Decisions) else 0
    wide = np.full((len(scores.values), size), lowest, dtype=scores.values.dtype)
    wide[:, place] = scores.values
    return replace(scores, values=wide)


def _remap_codes(codes: npt.NDArray[Any], place: npt.NDArray[np.int32], size: int) -> npt.NDArray[Any]:
    if codes.ndim == 2:
        wide = np.zeros((len(codes), size), dtype=bool)
        wide[:, place] = codes
        return wide
    return np.where(codes == UNPARSED, UNPARSED, place[codes]).astype(np.int32)


Kind: TypeAlias = Literal["paired", "unpaired"]
Rows: TypeAlias = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Pairing:
    """Whether and how the examples of two runs were matched.

    Parameters
    ----------
    kind : {"paired", "unpaired"}
    n_shared : int
        Examples that both runs have; 0 when unpaired.
    reason : str
        The proof of the match, or the reason for none.
    only_run, only_baseline : int
        Examples that only one of them has.
    """

    kind: Kind
    n_shared: int
    reason: str
    only_run: int = 0
    only_baseline: int = 0


@dataclass(frozen=True, eq=False)
class PairedPredictions:
    """Two runs on their shared examples, in the same order; None for both when unpaired."""

    pairing: Pairing
    run: Predictions | None = None
    baseline: Predictions | None = None


SIDES = ("the run", "the baseline")
EXAMPLES = ("example", "examples")


def pair(
    run: Evaluation, baseline: Evaluation, *, unpaired: bool = False, names: tuple[str, str] = SIDES
) -> PairedPredictions:
    """Match the examples of two runs by id, or without ids by order if the true labels are equal.

    Parameters
    ----------
    unpaired : bool
        Whether the examples are known to differ: no match is tried.
    names : (str, str)
        Names of the runs in errors.

    Raises
    ------
    UsageError
        The runs have different tasks.
    DataError
        An id is repeated, an example has different true labels or weights, or runs without ids have equally
        many rows but other true labels.

    Examples
    --------
    >>> from evalreport.evaluation.evaluate import evaluate_predictions
    >>> from evalreport.data.labels import Binary
    >>> from evalreport.data.predictions import predictions
    >>> space = Binary(0, 1)
    >>> a = evaluate_predictions(predictions(space, [0, 1, 1], [0, 1, 0], ids=list("abc")))
    >>> b = evaluate_predictions(predictions(space, [1, 0], [1, 1], ids=list("ba")))
    >>> pair(a, b).pairing.reason
    'matched by id; 1 example is in one run only'
    """
    space = union_space(run.space, baseline.space)
    a, b = run.predictions, baseline.predictions
    if unpaired:
        return _unpaired_predictions("other examples, as declared")
    if a is None or b is None:
        known = bool(run.label_digest) and run.label_digest == baseline.label_digest
        how = "the examples are the same (equal digests), but " if known else ""
        return _unpaired_predictions(f"{how}the predictions of a run are missing")
    run.refuse_pair(baseline)
    unit = run.row_unit if isinstance(space, Graded) else EXAMPLES
    return match_rows(recode(a, space), recode(b, space), names, unit)


def match_rows(
    a: Predictions, b: Predictions, names: tuple[str, str] = SIDES, unit: tuple[str, str] = EXAMPLES
) -> PairedPredictions:
    """Match the rows of two runs over one label space, as `pair` does."""
    return _by_id(a, b, names, unit) if a.ids is not None and b.ids is not None else _by_order(a, b)


def _unpaired_predictions(reason: str, only: tuple[int, int] = (0, 0)) -> PairedPredictions:
    return PairedPredictions(Pairing("unpaired", 0, reason, *only))


def _by_order(a: Predictions, b: Predictions) -> PairedPredictions:
    if isinstance(a.space, Graded):
        return _unpaired_predictions("no ids on both sides: grades are matched by id only")
    if len(a) != len(b):
        return _unpaired_predictions(
            f"no ids in both runs, and {len(a):,} and {len(b):,} rows: the rows cannot be matched"
        )
    differs = _rows_of_other_truth(a, b)
    if differs.size:
        row = int(differs[0])
        raise DataError(
            f"no ids, and the true labels differ in {differs.size:,} of {len(a):,} rows: the rows are in"
            " a different order, or the test sets differ",
            where=f"first: row {row}, {_truth(a, row)} and {_truth(b, row)}",
            fix="name the column of ids with --id, or pass --unpaired if these are different examples",
        )
    _same_weights(a, b)
    return _paired_predictions(a, b, "no ids; same true labels in the same order")


def _by_id(
    a: Predictions, b: Predictions, names: tuple[str, str], unit: tuple[str, str]
) -> PairedPredictions:
    _refuse_repeated(a, names[0])
    _refuse_repeated(b, names[1])
    rows_a, rows_b = _match_ids(np.asarray(a.ids), np.asarray(b.ids))
    only = (len(a) - len(rows_a), len(b) - len(rows_b))
    if not len(rows_a):
        return _unpaired_predictions("the runs have no example ids in common", only)
    a, b = _take_rows(a, rows_a), _take_rows(b, rows_b)
    differs = _rows_of_other_truth(a, b)
    if differs.size:
        row = int(differs[0])
        raise DataError(
            f"the true labels of {differs.size:,} of {len(a):,} shared examples differ between the runs",
            where=f"first: id {str(np.asarray(a.ids)[row])!r}, {_truth(a, row)} and {_truth(b, row)}",
            fix="score both runs against one version of the test set",
        )
    _same_weights(a, b)
    lost = sum(only)
    left = f"; {pluralize(lost, *unit)} {'are' if lost > 1 else 'is'} in one run only" if lost else ""
    return _paired_predictions(a, b, f"matched by id{left}", only)


def _refuse_repeated(p: Predictions, which: str) -> None:
    again = repeated_ids(np.asarray(p.ids))
    if again is not None:
        raise DataError(
            f"{again.shown}, so examples cannot be matched by id",
            where=f"{again.first_example} of {which}",
            fix="name a column of unique ids with --id, or pass --unpaired",
        )


def _match_ids(a: npt.NDArray[np.str_], b: npt.NDArray[np.str_]) -> tuple[Rows, Rows]:
    """Rows of the ids that both have, in the order of the first."""
    if np.array_equal(a, b):
        return np.arange(len(a)), np.arange(len(b))
    place = dict(zip(b.tolist(), range(len(b)), strict=True))
    found = np.fromiter((place.get(name, -1) for name in a.tolist()), dtype=np.intp, count=len(a))
    rows = np.flatnonzero(found >= 0)
    return rows, found[rows]


def _take_rows(p: Predictions, rows: Rows) -> Predictions:
    whole = len(rows) == len(p) and np.array_equal(rows, np.arange(len(p)))
    return p if whole else p.take(rows)


def _rows_of_other_truth(a: Predictions, b: Predictions) -> Rows:
    other = a.y_true != b.y_true
    return np.flatnonzero(other.any(axis=1) if other.ndim == 2 else other)


def _same_weights(a: Predictions, b: Predictions) -> None:
    scale = a.weights.sum() / (b.weights.sum() or 1.0)  # weights are relative to the rows of each run
    differs = np.flatnonzero(~np.isclose(a.weights, scale * b.weights))
    if differs.size:
        row = int(differs[0])
        raise DataError(
            f"the weights of {differs.size:,} of {len(a):,} shared examples differ between the runs",
            where=f"first: row {row}, {a.weights[row]:g} and {b.weights[row]:g}",
            fix="name one --set weight column that both runs have, or none",
        )


def _paired_predictions(
    a: Predictions, b: Predictions, reason: str, only: tuple[int, int] = (0, 0)
) -> PairedPredictions:
    """The rows of both; groups and slices are the run's, or the baseline's where it has none."""
    groups, slices = a.groups or b.groups, a.slices or b.slices
    if groups is not a.groups or slices is not a.slices:
        a = replace(a, groups=groups, slices=slices)
    return PairedPredictions(Pairing("paired", len(a), reason, *only), a, b)


def _truth(p: Predictions, row: int) -> str:
    code = p.y_true[row]
    if np.ndim(code):
        return "[" + ", ".join(p.space.names[label] for label in np.flatnonzero(code)) + "]"
    return repr(p.space.names[int(code)])


MatchKind: TypeAlias = Literal["own_thresholds", "equal_recall", "equal_alerts", "lowest_cost"]
MatchVerdict: TypeAlias = Literal[
    "better", "worse", "not_significant", "equal_by_design", "too_few_to_say", "undefined"
]


@dataclass(frozen=True)
class MatchedCount:
    """A count of both runs at a matched point, in rows: run first, and run minus baseline.

    `low` and `high` are None and `verdict` is ``undefined`` without resamples, or if no resample differs. The
    verdict is ``too_few_to_say`` if the runs differ in so few rows that no result could be significant: the
    limits are then those of resamples if they contain 0, else None.
    """

    values: tuple[float, float]
    difference: float
    low: float | None = None
    high: float | None = None
    verdict: MatchVerdict = "undefined"


@dataclass(frozen=True)
class MatchedPoint:
    """Two binary runs at a matched operating point: own thresholds, equal recall, equal alerts or a cost.

    Parameters
    ----------
    run, baseline : str
    kind : {"own_thresholds", "equal_recall", "equal_alerts", "lowest_cost"}
    thresholds : (float, float)
        Threshold of the run, which is moved, and of the baseline, which is not; at the lowest cost both are.
    found, false_positives : MatchedCount
        Positives and negatives at or above the thresholds. At the lowest cost they are cross-fitted: counted
        on rows not used to choose the threshold.
    cost : MatchedCount or None
        Cost of 1,000 rows; None without costs.
    between : bool
        Whether no threshold gives exactly the same number, because of tied scores or weights. The counts are
        then interpolated between this threshold, which flags more, and the next.
    """

    run: str
    baseline: str
    kind: MatchKind
    thresholds: tuple[Infinite, Infinite]
    found: MatchedCount
    false_positives: MatchedCount
    cost: MatchedCount | None = None
    between: bool = False


@dataclass(frozen=True)
class AlertPoint:
    """Both runs at a number of alerts; counts within a tie are interpolated.

    Parameters
    ----------
    alerts : float
        Flagged rows.
    thresholds : (float, float)
        The lowest threshold of each that flags no more, run first; infinite (null in JSON) if the highest tie
        already flags more.
    found : MatchedCount
        With an interval at the numbers per 1,000 rows and at the runs' own numbers.
    false_positives : (float, float)
    """

    alerts: Mass
    thresholds: tuple[Infinite, Infinite]
    found: MatchedCount
    false_positives: tuple[Mass, Mass]


@dataclass(frozen=True)
class AlertList:
    """Two binary runs over the number of alerts, evenly on a logarithmic scale.

    Parameters
    ----------
    run, baseline : str
    rows, positives : float
    own : (float or None, float or None)
        Alerts of each run at its threshold.
    places : tuple of AlertPoint
    """

    run: str
    baseline: str
    rows: Mass
    positives: Mass
    own: tuple[float | None, float | None]
    places: tuple[AlertPoint, ...]


@dataclass(frozen=True)
class RocCrossing:
    """A crossing of the ROC curves of two runs, and which run finds more below and above that FPR."""

    run: str
    baseline: str
    fpr: float
    recall: float
    ahead_below: str
    ahead_above: str


Verdict: TypeAlias = Literal["better", "worse", "not_significant", "undefined"]
PairOutcome: TypeAlias = Literal["better", "worse", "trade_off", "not_significant", "undefined"]
CLASS = "class: "  # prefix of the scope of a class; that of a slice is ``column = value``
SIGNIFICANT = ("better", "worse")  # verdicts of a difference whose interval excludes 0


@dataclass(frozen=True)
class AdjustedInterval:
    """Interval of a difference at its level after Holm's correction."""

    low: float
    high: float
    level: float


@dataclass(frozen=True)
class Detectable:
    """The minimum detectable difference of a sample of this size.

    Parameters
    ----------
    power : float
    difference : float or None
        None if it exceeds the range of the metric.
    """

    power: float
    difference: float | None


@dataclass(frozen=True)
class Difference:
    """The difference of a metric: run minus baseline.

    Parameters
    ----------
    metric, run, baseline : str
    values : tuple of float or None
        The metric of the run and of the baseline, on the rows that were compared.
    difference, low, high : float or None
    p, p_adjusted : float or None
        Two-sided, by inversion of the interval; adjusted by Holm over the runs compared by this metric.
    adjusted : AdjustedInterval or None
        The interval at the level of Holm's step; it excludes 0 exactly if the adjusted p is below one minus
        the level of the comparison.
    method : str
    verdict : str
        ``better`` or ``worse`` if `adjusted` excludes 0, else ``not_significant``; ``undefined`` without an
        interval or a better direction.
    detectable : Detectable or None
        The minimum detectable difference at 80% power.
    scope : str
        Empty for all rows, else the class or the slice.
    reason : str
        The reason for a missing value.
    equal_within : float or None
        The equivalence margin: the smallest X for which two one-sided tests at the level of `adjusted` are
        significant (Schuirmann 1987).
    """

    metric: str
    run: str
    baseline: str
    values: tuple[float | None, float | None]
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_adjusted: float | None = None
    adjusted: AdjustedInterval | None = None
    method: str = ""
    verdict: Verdict = "undefined"
    detectable: Detectable | None = None
    scope: str = ""
    reason: str = ""
    equal_within: float | None = None

    @property
    def is_significant(self) -> bool:
        """Whether the adjusted interval excludes 0, in a direction that is better or worse."""
        return self.verdict in SIGNIFICANT

    @property
    def limits(self) -> tuple[float, float] | None:
        """The interval to show: the adjusted one if there is one, which agrees with the verdict."""
        if self.adjusted is not None:
            return self.adjusted.low, self.adjusted.high
        return None if self.low is None or self.high is None else (self.low, self.high)


@dataclass(frozen=True)
class McNemarResult:
    """McNemar's mid-p test of two runs on the same examples.

    The interval of the difference in accuracy is the inversion of this test.
    """

    run: str
    baseline: str
    only_first: int
    only_second: int
    p: float


@dataclass(frozen=True)
class DelongResult:
    """DeLong's paired test of two ROC AUCs; `z` is None if the two rankings are the same.

    `p` is that of the difference in ROC AUC, from Student's t.
    """

    run: str
    baseline: str
    z: float | None
    p: float | None


@dataclass(frozen=True)
class ChangedPrediction:
    """One example that only one run gets right: true label, both predictions, and the responses behind them.

    The responses, run first, only if they may be shown; ``""`` for a run that logged labels.
    """

    id: str
    truth: tuple[str, ...]
    run: tuple[str, ...]
    baseline: tuple[str, ...]
    text: str | None = None
    answers: tuple[str, str] | None = None


@dataclass(frozen=True)
class ChangedPredictions:
    """Counts of changed predictions: `fixed` are right only in the run, `broken` only in the baseline.

    `fixed_ids`, `broken_ids` and `both_wrong_ids` are the first fifty of each; `by_class` and `by_slice` map
    a name to its (fixed, broken, both wrong) counts; `examples` are some fixed, then some broken ones.
    `at_equal_recall` has the counts of classes and slices of a binary run at the threshold with the recall of
    the baseline, which separates the model from its threshold.
    """

    run: str
    baseline: str
    fixed: int
    broken: int
    both_wrong: int
    both_right: int
    fixed_ids: tuple[str, ...] = ()
    broken_ids: tuple[str, ...] = ()
    both_wrong_ids: tuple[str, ...] = ()
    by_class: Mapping[str, tuple[int, int, int]] = field(default_factory=dict)
    by_slice: Mapping[str, tuple[int, int, int]] = field(default_factory=dict)
    examples: tuple[ChangedPrediction, ...] = ()
    at_equal_recall: Mapping[str, tuple[int, int, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class RankedRun:
    """A run in the ranking by one metric.

    Parameters
    ----------
    run : str
    value, low, high : float or None
        Over all rows of the run, with the interval.
    ranks : (int, int) or None
        Lowest and highest possible rank; None if the value is undefined.
    best_group : bool
        Whether it is not significantly worse than the first.
    behind : float or None
        Absolute difference from the first on their common rows.
    """

    run: str
    value: float | None
    low: float | None
    high: float | None
    ranks: tuple[int, int] | None
    best_group: bool
    behind: float | None = None

    @property
    def result(self) -> Estimate:
        """The value, which must be defined, with its interval."""
        return Estimate(self.value or 0.0, 0, self.low, self.high)

    @property
    def shown_ranks(self) -> str:
        """The possible ranks as text, "2 to 4"."""
        first, last = self.ranks or ("–", "–")
        return str(first) if first == last else f"{first} to {last}"


@dataclass(frozen=True)
class PairVerdict:
    """The verdict of a run compared with its baseline, used by every headline, table and check.

    Parameters
    ----------
    run, baseline : str
    verdict : str
        ``better`` or ``worse`` if metrics differ significantly in one direction only, ``trade_off`` in both
        directions, ``undefined`` if no difference has an interval.
    better, worse : tuple of str
        Metrics that differ significantly; the recall of a class is ``recall[class]``.
    over : tuple of str
        All metrics tested: the primary one and those that count one kind of error. Intervals are corrected
        for their number (Holm), so that two equal runs differ significantly in at most 5% of samples.
    primary : Difference or None
        The difference of the primary metric, with the corrected interval.
    """

    run: str
    baseline: str
    verdict: PairOutcome
    better: tuple[str, ...] = ()
    worse: tuple[str, ...] = ()
    over: tuple[str, ...] = ()
    primary: Difference | None = None


@dataclass(frozen=True)
class Agreement:
    """How often the predictions of runs are correct for the same rows, on rows that all runs have.

    Parameters
    ----------
    runs : tuple of str
        The runs that are counted, the one with most correct rows first.
    rows : int
    right : tuple of int
        Correct rows of each run.
    all_right, some_right, none_right : int
        Rows that all, some but not all, and none of the runs get right; they add up to `rows`.
    majority : int or None
        Rows for which the most frequent prediction is right, of three or more single-label runs; ties go to
        the run with most correct rows.
    """

    runs: tuple[str, ...]
    rows: int
    right: tuple[int, ...]
    all_right: int
    some_right: int
    none_right: int
    majority: int | None = None


@dataclass(frozen=True)
class Comparison:
    """Several runs compared with a baseline, or all pairs of runs.

    Parameters
    ----------
    names : tuple of str
        The runs, in the given order.
    evaluations : tuple of Evaluation
    baseline : int or None
        Its position; None for all pairs.
    level : float
        Confidence level of every interval.
    primary : str
        The metric of the ranking and the verdict.
    pairings : tuple of (run, baseline, Pairing)
    differences : tuple of Difference
        All rows: each headline metric of each pair.
    parts : tuple of Difference
        Per class and per slice, the largest first.
    verdicts : tuple of PairVerdict
        One for each pair.
    ranking : tuple of RankedRun
        All runs by `primary`, the best first.
    costs : Costs or None
        Costs of the outcomes, if given.
    matched, alerts, crossings : tuple of MatchedPoint, AlertList, RocCrossing
        Binary with scores in both, on the same rows: each pair at matched points, over numbers of alerts, and
        the crossings of their curves.
    run_agreement : Agreement or None
        Rows that all, some and none of the runs get right, if all have the same rows.
    weak_slices : tuple of WorseSlices
        For each pair on the same rows: slices in which the run makes more errors than its baseline.
    judge : tuple of JudgedPair
        For each pair graded by one judge: pass rates corrected by human grades, and their difference.
    notes : tuple of str
        Caveats for readers: different label sets or thresholds, identical runs.

    Examples
    --------
    >>> import evalreport as er
    >>> truth = ["a", "b"] * 20
    >>> er.compare([er.evaluate(truth, ["a"] * 40), er.evaluate(truth, truth)])
    Comparison(run 1 and run 2: paired, 11 differences, primary metric accuracy)
    """

    KEYS: ClassVar = (
        *("baseline", "level", "primary", "pairing", "pairings", "differences", "parts", "mcnemar", "delong"),
        *("movement", "movements", "verdicts", "ranking", "costs", "matched", "alerts"),
        *("crossings", "run_agreement", "weak_slices", "judge", "notes"),
    )

    names: tuple[str, ...]
    evaluations: tuple[Evaluation, ...]
    baseline: int | None
    level: float
    primary: str
    pairings: tuple[tuple[str, str, Pairing], ...]
    differences: tuple[Difference, ...]
    parts: tuple[Difference, ...] = ()
    mcnemar: tuple[McNemarResult, ...] = ()
    delong: tuple[DelongResult, ...] = ()
    movement: tuple[ChangedPredictions, ...] = ()
    verdicts: tuple[PairVerdict, ...] = ()
    ranking: tuple[RankedRun, ...] = ()
    costs: Costs | None = None
    matched: tuple[MatchedPoint, ...] = ()
    alerts: tuple[AlertList, ...] = ()
    crossings: tuple[RocCrossing, ...] = ()
    run_agreement: Agreement | None = None
    weak_slices: tuple[WorseSlices, ...] = ()
    judge: tuple[JudgedPair, ...] = ()
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        kinds = sorted({pairing.kind for *_, pairing in self.pairings})
        shown = f"{len(self.differences)} differences, primary metric {self.primary}"
        return f"Comparison({' and '.join(self.names)}: {', '.join(kinds)}, {shown})"

    @property
    def unit(self) -> tuple[str, str]:
        """The singular and plural word for a row, from the first run."""
        return self.evaluations[0].row_unit

    def differences_for(self, metric: str, run: str | None = None) -> tuple[Difference, ...]:
        """Return the differences of a metric, for one run or for all."""
        return tuple(d for d in self.differences if d.metric == metric and run in (None, d.run))

    def differ_significantly(self, metric: str, a: str, b: str) -> bool:
        """Return whether a difference between two runs is significant."""
        return any(d.is_significant and {d.run, d.baseline} == {a, b} for d in self.differences_for(metric))

    def to_wire(self) -> dict[str, Any]:
        """Return the comparison as in its file; the evaluations are in separate files.

        Two keys are repeated for readers of a single pair: `pairing`, the weakest of the pairs, and
        `movement`, that of the only pair.
        """
        pairings = (how for *_, how in self.pairings)
        weakest = min(pairings, key=lambda how: (how.kind == "paired", how.n_shared))
        own = {
            "baseline": None if self.baseline is None else self.names[self.baseline],
            "pairing": {"kind": weakest.kind, "n_shared": weakest.n_shared, "reason": weakest.reason},
            "pairings": [{"run": run, "baseline": base, **vars(how)} for run, base, how in self.pairings],
            "movement": self.movement[0] if len(self.movement) == 1 else None,
            "movements": self.movement,
        }
        return {key: own[key] if key in own else getattr(self, key) for key in self.KEYS}

    def to_json(self) -> str:
        """Return the comparison as JSON: the same text for the same value; what is not finite is null."""
        return dumps(self)

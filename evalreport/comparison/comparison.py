"""What two binary runs reach where they decide alike: matched points, numbers of alarms, crossings.

What a comparison says, as values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

from evalreport.comparison.pairing import Pairing
from evalreport.core.json_codec import Infinite, Mass, dumps
from evalreport.core.result import Estimate
from evalreport.evaluation.evaluation import Evaluation
from evalreport.evaluation.parts import JudgedPair, WorseSlices
from evalreport.thresholds.objectives import Costs

MatchKind: TypeAlias = Literal["own_thresholds", "equal_recall", "equal_alarms", "lowest_cost"]
MatchVerdict: TypeAlias = Literal[
    "better", "worse", "not_demonstrated", "equal_by_design", "too_few_to_say", "undefined"
]


@dataclass(frozen=True)
class MatchedCount:
    """A count of both runs at a matched point, in rows: run first, and run minus baseline.

    `low` and `high` are None, and `verdict` is ``undefined``, where no resample differs or there were none;
    ``too_few_to_say`` where the runs decide so few rows differently that no count of these would demonstrate
    anything: the limits are then those of resamples where they hold 0, else None.
    """

    values: tuple[float, float]
    difference: float
    low: float | None = None
    high: float | None = None
    verdict: MatchVerdict = "undefined"


@dataclass(frozen=True)
class MatchedPoint:
    """Two binary runs where they decide alike: at their own thresholds, equal recall, equal alarms, a cost.

    Parameters
    ----------
    run, baseline : str
    kind : {"own_thresholds", "equal_recall", "equal_alarms", "lowest_cost"}
    thresholds : (float, float)
        Of the run, which moved, and of the baseline, which stayed; at the lowest cost both moved.
    found, false_alarms : MatchedCount
        Positives at or above the thresholds, and negatives. At the lowest cost they are cross-fitted: counted
        on rows that took no part in the choice of the threshold that decides them.
    cost : MatchedCount or None
        What 1,000 rows cost; None where no cost was stated.
    between : bool
        Whether the run finds, or flags, just as many at no threshold, as scores are tied or rows weigh: its
        counts are then those on the straight line from this threshold, which flags more, to the next.
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
    """Both runs at a number of alarms, within a tie as many of its rows as there are alarms left for.

    Parameters
    ----------
    alarms : float
        Rows that are flagged.
    thresholds : (float, float)
        The lowest of each that flags no more, run first; infinite (null in JSON) where the top tie alone is
        larger.
    found : MatchedCount
        With an interval at nine of the places.
    false_alarms : (float, float)
    """

    alerts: Mass
    thresholds: tuple[Infinite, Infinite]
    found: MatchedCount
    false_positives: tuple[Mass, Mass]


@dataclass(frozen=True)
class AlarmList:
    """Two binary runs over the number of alarms, evenly on a logarithmic scale.

    Parameters
    ----------
    run, baseline : str
    rows, positives : float
    own : (float or None, float or None)
        Alarms at the threshold of each.
    places : tuple of AlarmPlace
    """

    run: str
    baseline: str
    rows: Mass
    positives: Mass
    own: tuple[float | None, float | None]
    places: tuple[AlertPoint, ...]


@dataclass(frozen=True)
class RocCrossing:
    """Where the ROC curves of two runs meet or are nearest, and which finds more below and above that FPR."""

    run: str
    baseline: str
    fpr: float
    recall: float
    ahead_below: str
    ahead_above: str


Verdict: TypeAlias = Literal["better", "worse", "not_demonstrated", "undefined"]
PairOutcome: TypeAlias = Literal["better", "worse", "trade_off", "not_demonstrated", "undefined"]
CLASS = "class: "  # how the scope of a class begins; that of a slice is ``column = value``
DEMONSTRATED = ("better", "worse")  # verdicts of a difference whose interval excludes 0


@dataclass(frozen=True)
class AdjustedInterval:
    """Interval of a difference at the level that Holm's correction leaves to it."""

    low: float
    high: float
    level: float


@dataclass(frozen=True)
class Detectable:
    """The true difference that a sample like this demonstrates with the probability `power`.

    Parameters
    ----------
    power : float
    difference : float or None
        None where so small a sample demonstrates no difference that the metric can have.
    """

    power: float
    difference: float | None


@dataclass(frozen=True)
class Difference:
    """One metric of a run minus the same metric of its baseline.

    Parameters
    ----------
    metric, run, baseline : str
    values : tuple of float or None
        The metric of the run and of the baseline, on the rows that were compared.
    difference, low, high : float or None
    p, p_adjusted : float or None
        Two-sided, the inversion of the interval; adjusted by Holm over the runs compared by this metric.
    adjusted : AdjustedInterval or None
        The interval at the level of Holm's step; it excludes 0 exactly where the adjusted p is below one
        minus the level of the comparison.
    method : str
    verdict : str
        ``better`` or ``worse`` when `adjusted` excludes 0, else ``not_demonstrated``; ``undefined`` where
        there is no interval or no better direction.
    detectable : Detectable or None
        What this sample would have demonstrated with 80% probability.
    scope : str
        Empty for all rows, else the class or the slice.
    reason : str
        Why something is missing.
    equal_within : float or None
        The least X for which two one-sided tests, at the level of `adjusted`, say that the runs differ by
        less than X (Schuirmann 1987).
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
        return self.verdict in DEMONSTRATED

    @property
    def limits(self) -> tuple[float, float] | None:
        """The interval that words and marks show, which is the adjusted one: beside a verdict the plain one
        of several comparisons may exclude 0 where nothing is demonstrated."""
        if self.adjusted is not None:
            return self.adjusted.low, self.adjusted.high
        return None if self.low is None or self.high is None else (self.low, self.high)


@dataclass(frozen=True)
class McNemarResult:
    """McNemar's mid-p of right against wrong answers of two runs on the same examples.

    It is the p value of the difference in accuracy, whose interval is its inversion.
    """

    run: str
    baseline: str
    only_first: int
    only_second: int
    p: float


@dataclass(frozen=True)
class DelongResult:
    """DeLong's paired test of two ROC AUCs; `z` is None where the two rankings are the same.

    `p` is that of the difference in ROC AUC: Student's, of the same deviate.
    """

    run: str
    baseline: str
    z: float | None
    p: float | None


@dataclass(frozen=True)
class ChangedPrediction:
    """One example that one run gets right and the other wrong: truth, both labels, and the texts they are of.

    The texts, run first, only where they may be shown; ``""`` of a run that gave labels.
    """

    id: str
    truth: tuple[str, ...]
    run: tuple[str, ...]
    baseline: tuple[str, ...]
    text: str | None = None
    answers: tuple[str, str] | None = None


@dataclass(frozen=True)
class ChangedPredictions:
    """Which answers changed: `fixed` are right in the run alone, `broken` in the baseline alone.

    `fixed_ids`, `broken_ids` and `both_wrong_ids` are the first fifty of each; `by_class` and `by_slice` map
    a name to its (fixed, broken, both wrong) counts; `examples` are some fixed, then some broken ones.
    `at_equal_recall` has the counts of classes and slices where a binary run decides at the threshold that
    finds as many positives as the baseline: what is left is the model's, not the threshold's.
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
    """A run among others by one metric.

    Parameters
    ----------
    run : str
    value, low, high : float or None
        Over all its own rows, with its interval.
    ranks : (int, int) or None
        First and last rank that the data leave to it; None where its value is undefined.
    best_group : bool
        Whether it is not demonstrated worse than the first.
    behind : float or None
        How far it is from the first on the rows of both, whichever is greater.
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
        """Its value, which has to be defined, with its interval."""
        return Estimate(self.value or 0.0, 0, self.low, self.high)

    @property
    def shown_ranks(self) -> str:
        """The ranks that are left to it, "2 to 4"."""
        first, last = self.ranks or ("–", "–")
        return str(first) if first == last else f"{first} to {last}"


@dataclass(frozen=True)
class PairVerdict:
    """The verdict of a run against its baseline, which every headline, table and gate states.

    Parameters
    ----------
    run, baseline : str
    verdict : str
        ``better`` or ``worse`` where something differs significantly in one direction only, ``trade_off`` in
        both directions, ``undefined`` where no difference has an interval.
    better, worse : tuple of str
        Metrics that differ significantly; the recall of a class is ``recall[class]``.
    over : tuple of str
        All metrics that were looked at: the primary one and those that count one kind of error. Intervals
        are corrected for their number (Holm), so that two equal runs differ in at most 5% of samples.
    primary : Difference or None
        The difference of the primary metric, with the interval that this correction leaves to it.
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
    """How often runs are right together, on rows that all of them have.

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
    """Several runs against a baseline, or all against all.

    Parameters
    ----------
    names : tuple of str
        The runs, in the given order.
    evaluations : tuple of Evaluation
    baseline : int or None
        Its position; None when all are compared with all.
    level : float
        Confidence level of every interval.
    primary : str
        The metric that the ranking and the verdict are about.
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
        What outcomes cost, where it was stated.
    matched, alarms, crossings : tuple of MatchedPoint, AlarmList, RocCrossing
        Binary with scores in both, on the same rows: each pair at matched points, over numbers of alarms, and
        where curves cross.
    run_agreement : Agreement or None
        Rows that all, some and none of the runs get right, where all have the same rows.
    weak_slices : tuple of WorseSlices
        Of each pair on the same rows: slices in which the run makes more errors than its baseline.
    judge : tuple of JudgedPair
        Of each pair that one judge graded: the pass rates corrected by people, and their difference.
    notes : tuple of str
        What a reader must know: other label sets, other thresholds, the same run twice.

    Examples
    --------
    >>> import evalreport as er
    >>> truth = ["a", "b"] * 20
    >>> er.compare([er.evaluate(truth, ["a"] * 40), er.evaluate(truth, truth)])
    Comparison(run 1 and run 2: paired, 11 differences, judged by accuracy)
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
    alerts: tuple[AlarmList, ...] = ()
    crossings: tuple[RocCrossing, ...] = ()
    run_agreement: Agreement | None = None
    weak_slices: tuple[WorseSlices, ...] = ()
    judge: tuple[JudgedPair, ...] = ()
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        kinds = sorted({pairing.kind for *_, pairing in self.pairings})
        shown = f"{len(self.differences)} differences, judged by {self.primary}"
        return f"Comparison({' and '.join(self.names)}: {', '.join(kinds)}, {shown})"

    @property
    def unit(self) -> tuple[str, str]:
        """The word for one row and for several, of the first run."""
        return self.evaluations[0].provenance.unit

    def differences_for(self, metric: str, run: str | None = None) -> tuple[Difference, ...]:
        """Return the differences of a metric, of one run or of all."""
        return tuple(d for d in self.differences if d.metric == metric and run in (None, d.run))

    def differ_significantly(self, metric: str, a: str, b: str) -> bool:
        """Return whether a difference between two runs is demonstrated."""
        return any(d.is_significant and {d.run, d.baseline} == {a, b} for d in self.differences_for(metric))

    def to_wire(self) -> dict[str, Any]:
        """Return the comparison as it stands in a file; the evaluations have files of their own.

        Told again for readers that want one pair: `pairing`, the weakest of the pairs, and `movement`, of
        the only pair.
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

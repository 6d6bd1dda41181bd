"""Thresholds that meet a constraint on new rows with a given confidence.

A constraint that is met on the sample is met on new rows only about half of the time. For rates of one class
there is an exact limit: at the threshold with m misses among P positives, the miss rate in the population is
Beta(m + 1, P - m) distributed for any distribution of scores (Wilks 1941). So the probability of meeting the
constraint is exact, and so is the greatest m for a confidence. Precision and other metrics have no such
limit: thresholds are tested one after another, in an order fixed without the labels, until one does not meet
the constraint significantly (Learn then Test: Angelopoulos, Bates, Candès, Jordan & Lei 2021).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evalreport.intervals.bootstrap import posterior
from evalreport.intervals.interval_settings import Sampling
from evalreport.metrics.record import Metric, Proportion
from evalreport.statistics.confusion import Array, BinaryCounts, Places, search_lazily
from evalreport.thresholds.best_threshold import Hold, HoldCosts, HoldMethod, Optimum
from evalreport.thresholds.objectives import METRICS, Constraint, Objective
from evalreport.thresholds.resampled_thresholds import RowGroups, Units
from evalreport.thresholds.sweep import Sweep

STEPS = 40
"""Thresholds tested in sequence from the first start. More take time, and each can fail by chance; with
fewer, two neighbours differ by over a tenth of the rows."""
STARTS = 4
"""Starts of sequences, each tested at 1 / `STARTS` of the error. The first has the fewest flagged rows that
can meet the constraint significantly, which suits a model that is good at the top; later starts find
thresholds that meet it only with many flagged rows."""
SURE = 0.95
"""Default confidence for meeting a constraint on new rows."""
TINY = 1e-6
"""Tolerance for a count that is a sum of weights of 1."""
_LEAST = 10
"""Fewest rows of the first test of other metrics than proportions, whose posterior needs that many."""


@dataclass(frozen=True)
class _OneClass:
    """A rate of one class as the greatest proportion of the class that may be wrong."""

    positive: bool
    allowed: float


def one_class(bound: Constraint) -> _OneClass | None:
    """Return the class and allowed error rate of a constraint on recall, specificity, fpr or fnr, else None.

    Examples
    --------
    >>> one_class(Constraint("recall", ">=", 0.75))
    _OneClass(positive=True, allowed=0.25)
    """
    metric = METRICS[bound.metric]
    if metric.over not in ("positives", "negatives"):
        return None
    return _OneClass(
        metric.over == "positives", bound.number if metric.better == "lower" else 1 - bound.number
    )


def chance_of(wrong: npt.ArrayLike, n: float, allowed: float) -> Array:
    """Return the probability that at most the allowed proportion of a class is wrong at thresholds.

    Parameters
    ----------
    wrong : float64 array
        Rows of the class on the wrong side of each threshold.
    n : float
        Rows of the class; the effective number for weighted or grouped rows.
    allowed : float
        Allowed proportion in the population, in [0, 1].

    Examples
    --------
    >>> [round(float(chance_of(np.zeros(1), n, 0.05)[0]), 3) for n in (59, 58)]
    [0.952, 0.949]
    """
    from scipy.special import betainc

    share = min(max(allowed, 0.0), 1.0)
    wrong = np.asarray(wrong)
    right = np.maximum(n - wrong, 1e-9)  # none right: this threshold meets only a constraint that allows all
    chance: Array = np.where(right > 1e-9, betainc(wrong + 1, right, share), float(share >= 1))
    return chance


def fewest(allowed: float, confidence: float) -> int:
    """Return the fewest rows of a class with which a constraint can be met: those that allow no error.

    Examples
    --------
    >>> fewest(0.05, 0.95), fewest(0.01, 0.95)
    (59, 299)
    """
    # a whole number must not be rounded up because of the last digit of a float
    return math.ceil(math.log(1 - confidence) / math.log1p(-allowed) - 1e-9) if 0 < allowed < 1 else 0


def chance_at(
    sweep: Sweep, units: Units, bound: Constraint, best: Optimum, crossed: float | None = None
) -> float | None:
    """Return the probability that a constraint on a rate of one class is met at a threshold.

    A threshold that does not depend on this sample has the Beta posterior (Jeffreys) of the rate. For one
    that does, the result is between that and the cross-fitted probability: the posterior counts as far as
    ties determine the threshold (`_set_by_ties`). Parameters
    ----------
    sweep, units, bound, best
    crossed : float, optional
        The cross-fitted probability if the threshold was chosen on this sample.

    Returns
    -------
    float or None
        `crossed` for other metrics, and without rows of the class.
    """
    from scipy.special import betainc

    sought = one_class(bound)
    positives, negatives, rows = units.effective() if sought is not None else (0.0, 0.0, 0.0)
    if sought is None or not (n := positives if sought.positive else negatives):
        return crossed
    place = int(np.searchsorted(sweep.thresholds, best.threshold))
    wrong, allowed = float(_wrong(sweep, n, sought, np.array([place]))[0]), min(max(sought.allowed, 0.0), 1.0)
    own = float(betainc(wrong + 0.5, n - wrong + 0.5, allowed))
    if crossed is None:
        return own
    share = _set_by_ties(sweep, place, rows, math.sqrt(allowed * (1 - allowed) / max(n, 1.0)))
    return share * own + (1 - share) * crossed


def _set_by_ties(sweep: Sweep, place: int, rows: float, noise: float) -> float:
    """How far ties instead of the sample determine a threshold, in [0, 1].

    Rows with the same score get the same prediction. If their proportion of all rows (without one row) is at
    least one standard deviation of the constrained rate, another sample chooses among the same few
    thresholds. For fewer ties the result is proportional. With fifteen scores and ten to fifty positives, the
    cross-fitted probability of a recall was 6 to 11 points too low; with untied scores the posterior was up
    to 26 too high.
    """
    if not noise or place + 1 >= len(sweep):
        return 0.0
    flagged = sweep.tp[place : place + 2] + sweep.fp[place : place + 2]
    width = float(flagged[0] - flagged[1]) / (sweep.positives + sweep.negatives) - 1 / rows
    return min(max(width / noise, 0.0), 1.0)


def _effective(units: Units, sought: _OneClass) -> float:
    if isinstance(units, RowGroups):
        return units.independent(sought.allowed, positive=sought.positive)
    return units.effective()[0 if sought.positive else 1]


def _wrong(sweep: Sweep, n: float, sought: _OneClass, places: Places) -> Array:
    """Effective number of rows of the class on the wrong side at positions of the sweep."""
    total = sweep.positives if sought.positive else sweep.negatives
    wrong = total - sweep.tp[places] if sought.positive else sweep.fp[places]
    share: Array = np.maximum(wrong, 0.0) / max(total, 1e-300)
    return share * n


def find_constraint_threshold(
    sweep: Sweep, units: Units, objective: Objective, best: Optimum, sampling: Sampling
) -> Hold | None:
    """Return the threshold that meets an objective's constraint with the given confidence.

    Parameters
    ----------
    sweep : Sweep
        All thresholds of the rows that the threshold is chosen on.
    units : Units
        The independent units of these rows.
    objective : Objective
    best : Optimum
        The threshold chosen on the sample.
    sampling : Sampling
        `constraint_confidence` is the confidence.

    Returns
    -------
    Hold, or None without a constraint or a confidence
    """
    bound, confidence = objective.constraint, sampling.constraint_confidence
    if bound is None or confidence is None:
        return None
    if METRICS[bound.metric].interval == "none":  # a number of rows is not a value of the population
        reason = f"{bound.metric} is a number of rows, which has no guarantee for new rows"
        return Hold(confidence, None, "", reason=reason)
    sought = one_class(bound)
    if sought is None:
        place, method = _fixed_sequence_test(sweep, units, objective, bound, sampling), "fixed-sequence test"
        reason = f"no threshold meets it significantly by {_count(units.effective()[2])} rows"
    else:
        place = _find_binomial_limit(sweep, _effective(units, sought), sought, confidence)
        method = "exact binomial limit"
        reason = _too_few(units, sought, confidence)
    return _hold(sweep, objective, best, place, method, confidence, reason)  # type: ignore[arg-type]


def _hold(
    sweep: Sweep,
    objective: Objective,
    best: Optimum,
    place: int | None,
    method: HoldMethod,
    confidence: float,
    reason: str,
) -> Hold:
    if place is None:
        reason_text = f"cannot be held with {100 * confidence:.4g}% confidence: {reason}"
        return Hold(confidence, None, method, reason=reason_text)
    counts = sweep.counts_at(place)
    value = float(objective.value(counts))
    known = value if math.isfinite(value) else None
    costs = HoldCosts(objective.metric, known, best.apparent, float(counts.tp), float(counts.fp))
    return Hold(confidence, float(sweep.thresholds[place]), method, costs)


def find_limit_place(sweep: Sweep, bound: Constraint, confidence: float) -> int | None:
    """Return the position of the threshold that meets a constraint on one class, for unweighted rows.

    None if there is no such threshold, or if the constraint is on another metric.

    Examples
    --------
    >>> from evalreport.statistics.score_table import ScoreTable
    >>> truth = np.arange(200) >= 100
    >>> sweep = Sweep.from_table(ScoreTable.from_scores(np.linspace(0, 1, 200), truth))
    >>> place = find_limit_place(sweep, Constraint("recall", ">=", 0.95), 0.95)
    >>> int(sweep.positives - sweep.tp[place])
    1
    """
    sought = one_class(bound)
    if sought is None:
        return None
    n = sweep.positives if sought.positive else sweep.negatives
    most = most_wrong(round(n), sought.allowed, confidence)
    return _furthest(sweep, lambda place: -_wrong(sweep, n, sought, place), -(most + TINY), sought)


def most_wrong(n: int, allowed: float, confidence: float) -> int:
    """Return how many rows of a class may be wrong to meet the allowed proportion; -1: not even 0.

    Examples
    --------
    >>> most_wrong(59, 0.05, 0.95), most_wrong(58, 0.05, 0.95), most_wrong(30_000_000, 0.05, 0.95)
    (0, -1, 1498036)
    """
    low, high = -1, math.ceil(n * allowed) if 0 < allowed < 1 else -1
    while low < high:
        middle = (low + high + 1) // 2
        if chance_of(middle, n, allowed) >= confidence:
            low = middle
        else:
            high = middle - 1
    return low


def _find_binomial_limit(sweep: Sweep, n: float, sought: _OneClass, confidence: float) -> int | None:
    """Position of the threshold with as many wrong rows as the exact limit allows."""

    def chance(place: Places) -> Array:
        return chance_of(_wrong(sweep, n, sought, place), n, sought.allowed)

    return _furthest(sweep, chance, confidence, sought)


def _furthest(sweep: Sweep, good: Callable[[Places], Array], least: float, sought: _OneClass) -> int | None:
    """Position of the furthest threshold with `good` of at least `least`; never the one that flags none."""
    size, wanted = len(sweep) - 1, np.array([least])
    if sought.positive:  # the higher the threshold, the more positives are missed
        place = int(search_lazily(lambda place: -good(place), size, -wanted, "right")[0]) - 1
        return place if place >= 0 else None
    place = int(search_lazily(good, size, wanted)[0])
    return place if place < size else None


def _too_few(units: Units, sought: _OneClass, confidence: float) -> str:
    n, name = _effective(units, sought), "positives" if sought.positive else "negatives"
    needed = fewest(sought.allowed, confidence)
    if n < needed:
        return f"{_count(n)} {name} are too few, it needs {needed:,}"
    return f"of {_count(n)} {name} too many are among the scores of the other class"


def _count(n: float) -> str:
    return f"{math.floor(n + 1e-9):,}"  # effective numbers are sums: 59.999999999 is 60


def _fixed_sequence_test(
    sweep: Sweep, units: Units, objective: Objective, bound: Constraint, sampling: Sampling
) -> int | None:
    """Position of the best threshold among those that pass the sequences of tests."""
    assert sampling.constraint_confidence is not None  # noqa: S101  checked by the caller
    sequences = list(_sequences(sweep, bound, sampling.constraint_confidence))
    error = (1 - sampling.constraint_confidence) / max(len(sequences), 1)
    passed: list[int] = []
    test = _test_of(sweep, units, bound, sampling)
    for places in sequences:
        for place in places:
            if test(place) > error:
                break
            passed.append(place)
    if not passed:
        return None
    values = [float(objective.value(sweep.counts_at(place))) for place in passed]
    worst = [-math.inf if math.isnan(v) else -v if objective.lower else v for v in values]
    return passed[int(np.argmax(worst))]


def _sequences(sweep: Sweep, bound: Constraint, confidence: float) -> Iterator[list[int]]:
    """Positions in the order of their tests, from each start; the order depends on counts, not on labels.

    It goes from few flagged rows to many, because recall then grows; for npv from few unflagged rows.
    """

    def count_predicted_positive(place: Places) -> Array:
        counts: Array = sweep.tp[place] + sweep.fp[place]
        return counts

    total = float(sweep.tp[0] + sweep.fp[0])
    grows = (
        METRICS[bound.metric].better == "neither"
    )  # the predicted positive rate: flagging more rows is allowed, not better
    fewest_rows = float(
        1 if grows else max(fewest(_wrong_share(bound), 1 - (1 - confidence) / STARTS), _LEAST)
    )
    if fewest_rows >= total:
        return
    wanted = np.geomspace(fewest_rows, total, STEPS)
    if METRICS[bound.metric].over == "predicted_negatives":
        places = search_lazily(lambda place: -count_predicted_positive(place), len(sweep), wanted - total)
    else:
        last = len(sweep) - 1
        places = last - search_lazily(
            lambda place: count_predicted_positive(last - place), len(sweep), wanted
        )
    places = np.clip(places, 0, len(sweep) - 2)
    for start in (0,) if grows else range(0, STEPS, STEPS // STARTS):
        yield list(dict.fromkeys(places[start:].tolist()))


def _wrong_share(bound: Constraint) -> float:
    """Proportion of the rows of a test that may be wrong; 1/2 for a metric that is not a proportion."""
    if _is_share(bound):
        return 1 - bound.number if bound.demands == "high" else bound.number
    return 0.5


def _is_share(bound: Constraint) -> bool:
    """Whether the metric is a proportion of rows, with an exact binomial test."""
    return isinstance(METRICS[bound.metric].strategy, Proportion)


def _test_of(sweep: Sweep, units: Units, bound: Constraint, sampling: Sampling) -> Callable[[int], float]:
    """The p-value of the hypothesis that the constraint is violated at a position."""
    from scipy.special import betainc

    metric = METRICS[bound.metric]

    def exact(place: int) -> float:
        counts = sweep.counts_at(place)
        share = float(metric.function(counts))
        n = _effective_rows(units, place, metric)
        right = 0.0 if math.isnan(share) else (share if bound.demands == "high" else 1 - share) * n
        least = bound.number if bound.demands == "high" else 1 - bound.number
        return float(betainc(right, n - right + 1, least)) if right > 0 else 1.0

    def violation_probability(place: int) -> float:
        counts = sweep.counts_at(place)
        scale = units.effective()[2] / float(counts.total)
        cells = (counts.tp, counts.fp, counts.fn, counts.tn)
        draws = posterior(BinaryCounts(*(float(cell) * scale for cell in cells)), sampling)
        return float(1 - np.mean(bound.keeps(draws)))

    return exact if _is_share(bound) else violation_probability


def _effective_rows(units: Units, place: int, metric: Metric) -> float:
    """Effective number of rows of a proportion: the flagged, the unflagged, or all."""
    match metric.over:
        case "predicted_positives":
            return units.effective(start=place)[2]
        case "predicted_negatives":
            return units.effective(stop=place)[2]
        case _:
            return units.effective()[2]

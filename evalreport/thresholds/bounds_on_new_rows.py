"""Thresholds that keep a bound on new rows: exact limits for rates of one class, tests for the rest.

A bound that is read off a sample holds on new rows about half of the time. Misses at the threshold
(m + 1)th from below among P positives have a share of the population that is Beta(m + 1, P - m)
distributed, whatever the scores' distribution is (Wilks 1941): the chance is exact, and so is the greatest
m that keeps it above a confidence. Precision and the rest have no such limit; thresholds are tested one
after another, in an order that is fixed before the labels are looked at, until one cannot be shown to
keep the bound (Learn then Test: Angelopoulos, Bates, Candès, Jordan & Lei 2021).
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
"""Thresholds that are looked at in turn from the first start to the end. More cost time, and each may fail
by chance; fewer leave a step of over a tenth of the rows between two of them."""
STARTS = 4
"""Positions where the sequence may start, each tested at its part of the error: the first is the fewest rows
that could demonstrate the bound, which a model good at its top passes; later ones find bounds that hold
only where many rows are flagged."""
SURE = 0.95
"""Confidence with which the safe threshold of a bound keeps it, where none is asked for."""
TINY = 1e-6
"""Slack of a count that was summed from weights of one."""
_LEAST = 10
"""Rows of the first test of a metric that is not a proportion, whose posterior is not a test for fewer."""


@dataclass(frozen=True)
class _OneClass:
    """A rate of one class as the maximum proportion of it that may be wrong."""

    positive: bool
    allowed: float


def one_class(bound: Constraint) -> _OneClass | None:
    """Return the class and the allowed error rate of a constraint on recall, specificity, fpr or fnr; else
    None.

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
    """Return the probability that at most the allowed proportion of a class is wrong at a limit from n of
    its rows.

    Parameters
    ----------
    wrong : float64 array
        How many of a class are on the wrong side of each threshold.
    n : float
        Of how many; effective numbers where rows weigh or belong together.
    allowed : float
        Proportion of the population, in [0, 1].

    Examples
    --------
    >>> [round(float(chance_of(np.zeros(1), n, 0.05)[0]), 3) for n in (59, 58)]
    [0.952, 0.949]
    """
    from scipy.special import betainc

    share = min(max(allowed, 0.0), 1.0)
    wrong = np.asarray(wrong)
    right = np.maximum(n - wrong, 1e-9)  # none right: a limit beyond them all, which keeps no bound
    chance: Array = np.where(right > 1e-9, betainc(wrong + 1, right, share), float(share >= 1))
    return chance


def fewest(allowed: float, confidence: float) -> int:
    """Return how many of a class a bound needs to be held at all: as many as show no wrong one.

    Examples
    --------
    >>> fewest(0.05, 0.95), fewest(0.01, 0.95)
    (59, 299)
    """
    # a whole number is not rounded up for the last digit of a float
    return math.ceil(math.log(1 - confidence) / math.log1p(-allowed) - 1e-9) if 0 < allowed < 1 else 0


def chance_at(
    sweep: Sweep, units: Units, bound: Constraint, best: Optimum, crossed: float | None = None
) -> float | None:
    """Return the chance of a bound on a rate of one class at a threshold.

    The rate has a Beta posterior (Jeffreys), which says it where the threshold owes nothing to luck: it was
    chosen on other rows, lies between the last row of the class that keeps the bound and the next, or where
    ties let it lie (`_set_by_ties`).

    Parameters
    ----------
    sweep, units, bound, best
    crossed : float, optional
        The probability by cross-fitting, where the threshold depends on the sample.

    Returns
    -------
    float or None
        For another metric, and without rows of the class, `crossed`.
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
    """How far ties, not the luck of the sample, say where a threshold lies: in [0, 1].

    Rows of one score are decided together. Where their share of all rows, one aside, is as wide as a standard
    deviation of the rate that the bound is on, another sample chooses among the same few thresholds. Until
    then luck has its share: with fifteen scores the cross-fitted chance of a recall of ten to fifty positives
    was 6 to 11 points too low, and the posterior's of untied ones up to 26 too high.
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
    """How many of the class are on the wrong side at places, of its effective number."""
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
        Of the rows that the threshold is chosen on, every threshold.
    units : Units
        What of these rows is independent.
    objective : Objective
    best : Optimum
        What the sample alone suggests.
    sampling : Sampling
        `hold` is the confidence.

    Returns
    -------
    Hold, or None without a bound or a confidence
    """
    bound, confidence = objective.constraint, sampling.constraint_confidence
    if bound is None or confidence is None:
        return None
    if METRICS[bound.metric].interval == "none":  # a number of rows has no value in a population
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
        told = f"cannot be held with {100 * confidence:.4g}% confidence: {reason}"
        return Hold(confidence, None, method, reason=told)
    counts = sweep.counts_at(place)
    value = float(objective.value(counts))
    known = value if math.isfinite(value) else None
    costs = HoldCosts(objective.metric, known, best.apparent, float(counts.tp), float(counts.fp))
    return Hold(confidence, float(sweep.thresholds[place]), method, costs)


def find_limit_place(sweep: Sweep, bound: Constraint, confidence: float) -> int | None:
    """Return the position of the threshold that meets a constraint on a rate of one class, for unweighted
    rows.

    None where there is no such threshold, or the bound is on another metric.

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
    """Return how many of a class may be wrong at a limit that keeps the allowed share; -1: not even none.

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
    """The threshold with as many wrong as the exact limit allows."""

    def chance(place: Places) -> Array:
        return chance_of(_wrong(sweep, n, sought, place), n, sought.allowed)

    return _furthest(sweep, chance, confidence, sought)


def _furthest(sweep: Sweep, good: Callable[[Places], Array], least: float, sought: _OneClass) -> int | None:
    """The threshold that goes furthest and is as good as that; never one that flags all, or none."""
    size, wanted = len(sweep) - 1, np.array([least])
    if sought.positive:  # the higher the threshold, the more are missed
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
    """The best of the thresholds that the sequences of tests reach."""
    assert sampling.constraint_confidence is not None  # noqa: S101  asked before
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
    """Places in the order of their tests, from each start; by the number flagged alone, not by labels.

    From few flagged to many, for a greater recall under the bound; for npv from few left alone.
    """

    def count_predicted_positive(place: Places) -> Array:
        counts: Array = sweep.tp[place] + sweep.fp[place]
        return counts

    total = float(sweep.tp[0] + sweep.fp[0])
    grows = (
        METRICS[bound.metric].better == "neither"
    )  # the predicted positive rate: more is allowed, not better
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
    """Proportion that may be wrong among the rows of a test; a half where the metric is not a proportion."""
    if _is_share(bound):
        return 1 - bound.number if bound.demands == "high" else bound.number
    return 0.5


def _is_share(bound: Constraint) -> bool:
    """Whether the metric is a proportion of rows, with an exact binomial test."""
    return isinstance(METRICS[bound.metric].strategy, Proportion)


def _test_of(sweep: Sweep, units: Units, bound: Constraint, sampling: Sampling) -> Callable[[int], float]:
    """The p value of the hypothesis that the bound is broken at a place."""
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
    """Effective number of rows of a share: those flagged, those left alone, or all."""
    match metric.over:
        case "predicted_positives":
            return units.effective(start=place)[2]
        case "predicted_negatives":
            return units.effective(stop=place)[2]
        case _:
            return units.effective()[2]

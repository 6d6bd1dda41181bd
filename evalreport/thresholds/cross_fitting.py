"""Held-out values of a chosen threshold by cross-fitting, also of the cutoff that reaches a target accuracy.

The value of the best threshold is optimistic on the rows that it was chosen on: with 200 rows, of which 10%
are positive, the F1 at the F1-optimal threshold is about 0.09 too high. Cross-fitting chooses on nine folds,
predicts the tenth, and counts all ten together. This is repeated with different folds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias

import numpy as np

from evalreport.core.bounds import CLOSE, Operator
from evalreport.core.errors import UsageError
from evalreport.core.result import Estimate, Result, Undefined
from evalreport.data.labels import Binary
from evalreport.data.predictions import Predictions
from evalreport.data.scores import NoScores, Probabilities
from evalreport.intervals.distributions import t_quantile
from evalreport.intervals.interval_settings import Sampling
from evalreport.intervals.standard_errors import transformed_scale_limits
from evalreport.statistics.confusion import Array, BinaryCounts, Places
from evalreport.statistics.resampling import Stream
from evalreport.statistics.score_table import ScoreTable
from evalreport.thresholds.best_threshold import BoundKept, Choice, Cutoff, Optimum, OutOfSample, Unreachable
from evalreport.thresholds.bounds_on_new_rows import chance_at, find_constraint_threshold, one_class
from evalreport.thresholds.objectives import METRICS, STANDARD, Constraint, Objective
from evalreport.thresholds.resampled_thresholds import (
    RowGroups,
    SingleRows,
    SplitCounts,
    SplitWeights,
    Units,
    narrow_sweep,
    units_of,
)
from evalreport.thresholds.sweep import Sweep, middle_of_longest_run, scores_of_rows

OUTCOME = Binary("wrong", "right")


CutoffChoice: TypeAlias = Cutoff | Unreachable | Undefined


def cutoff(
    rows: Predictions,
    accuracy: float = 0.95,
    *,
    tune_on: Predictions | None = None,
    sampling: Sampling | None = None,
    strict: bool = False,
) -> CutoffChoice:
    """Return the lowest confidence from which predictions reach a target accuracy.

    Parameters
    ----------
    rows : Predictions
        Multiclass predictions with probabilities.
    accuracy : float
        Target accuracy of the accepted predictions, in (0, 1].
    tune_on : Predictions, optional
        Other rows to choose on; without them the held-out value is cross-fitted.
    sampling : Sampling, optional
    strict : bool
        Whether the accuracy must be above the target; equality is then not enough.

    Returns
    -------
    Cutoff, or Unreachable with the best accuracy of any cut-off, or Undefined without probabilities.

    Raises
    ------
    UsageError
        The accuracy is outside (0, 1], or labels or kind of scores differ from those of `tune_on`.

    Examples
    --------
    >>> from evalreport.data.labels import Multiclass
    >>> from evalreport.data.predictions import predictions
    >>> scores = Probabilities([[0.9, 0.1], [0.8, 0.2], [0.6, 0.4], [0.3, 0.7]])
    >>> found = cutoff(predictions(Multiclass("ab"), ["a", "a", "b", "b"], scores=scores), 1.0)
    >>> found.threshold, found.coverage
    (0.7, 0.75)
    """
    if not 0 < accuracy <= 1:
        raise UsageError(
            f"the target accuracy {accuracy:g} is out of range",
            fix="use a value above 0 and up to 1, as in 0.95",
        )
    if tune_on is not None:
        check_same_labels(rows, tune_on)
    own, other = answers(rows), None if tune_on is None else answers(tune_on)
    for found in (own, other):
        if isinstance(found, Undefined):
            return found
    assert isinstance(own, Predictions) and not isinstance(other, Undefined)  # noqa: S101
    operator: Operator = ">" if strict else ">="
    goal = Objective("predicted_positive_rate", Constraint("precision", operator, accuracy))
    sweep = evaluate_thresholds(scores_of_rows(own), own, tune_on=other, objectives=[goal], sampling=sampling)
    best = sweep.optima[goal.name]
    if isinstance(best, Unreachable):
        name = Constraint("accuracy", operator, accuracy).key
        return replace(best, objective=name, text=name, metric="accuracy")
    return _cutoff(accuracy, best) if isinstance(best, Optimum) else best


def answers(rows: Predictions) -> Predictions | Undefined:
    """Return the rows as a binary problem: is the most probable label right, scored by its probability.

    Examples
    --------
    >>> from evalreport.data.labels import Multiclass
    >>> from evalreport.data.predictions import predictions
    >>> scores = Probabilities([[0.9, 0.1], [0.4, 0.6]])
    >>> answers(predictions(Multiclass("ab"), ["a", "a"], scores=scores)).y_true
    array([1, 0], dtype=int32)
    """
    if not isinstance(rows.scores, Probabilities):
        return Undefined("needs probabilities of every label", float(rows.weights.sum()))
    values = rows.scores.values
    right = (values.argmax(axis=1) == rows.y_true).astype(np.int32)
    sure = Probabilities(values.max(axis=1))
    return replace(rows, space=OUTCOME, y_true=right, y_pred=None, scores=sure, threshold=None)


def _cutoff(wanted: float, best: Optimum) -> Cutoff:
    answered = best.tp + best.fp
    low, high, out_of_sample = best.low, best.high, best.out_of_sample
    assert low is not None and high is not None and out_of_sample is not None  # noqa: S101  set by the caller
    hold = best.at_confidence
    if hold is not None and hold.costs is not None:
        hold = replace(hold, costs=replace(hold.costs, metric="coverage"))
    other = (out_of_sample.value, out_of_sample.kept, out_of_sample.method, out_of_sample.chance)
    return Cutoff(wanted, best.threshold, low, high, best.apparent, best.tp / answered, *other, hold)


FOLDS = 10
"""Number of folds (Kohavi 1995, IJCAI): nine tenths of the rows choose almost as well as all."""
REPEATS = 20
"""Maximum number of repetitions of cross-fitting; fewer for many rows."""
WORK = 100_000
"""Counts evaluated per objective for its held-out value, and for its interval; chosen for speed."""
CANDIDATES = 2048
"""Candidate thresholds inside folds; using all of them would not improve the choice."""
AGAIN = 200_000
"""Counts evaluated per objective for its interval if groups are resampled and folded again: about a hundred
thresholds."""
BLOCK = 1 << 15
"""Counts evaluated at a time, so that they stay in cache."""
RESAMPLES = 200
"""Resamples for the interval of a threshold: five are beyond each 95% limit."""


def evaluate_thresholds(
    table: ScoreTable,
    rows: Predictions | None = None,
    *,
    tune_on: Predictions | None = None,
    objectives: Sequence[Objective] = STANDARD,
    sampling: Sampling | None = None,
    count: float | None = None,
) -> Sweep:
    """Return the sweep of a table with the choice for each objective, its interval and its held-out value.

    Parameters
    ----------
    table : ScoreTable
        Of the reported rows.
    rows : Predictions, optional
        The reported rows. Needed if they have weights or groups: whole groups are then put into folds and
        resampled.
    tune_on : Predictions, optional
        Other rows, on which thresholds are chosen; held-out values are then those on `table`. Without them
        held-out values are cross-fitted.
    objectives : sequence of Objective
    sampling : Sampling, optional
        Level, resamples and seed of the intervals.
    count : float, optional
        Number of rows of a weighted `table` without `rows`.

    Raises
    ------
    UsageError
        `tune_on` has other labels, or another kind of scores, than `rows`.

    Returns
    -------
    Sweep
        Counts of `table`. `apparent` is the value on the rows of the choice, `out_of_sample` the held-out
        value; `low` and `high` are the middle 95% of the thresholds chosen on 200 Poisson resamples. They
        show how stable the choice is; the position of a maximum has no exact confidence interval.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(200) < 0.1
    >>> sweep = evaluate_thresholds(ScoreTable.from_scores(rng.normal(size=200) + 1.5 * truth, truth))
    >>> f1 = sweep.best("f1")
    >>> f1.out_of_sample.value.value < f1.apparent
    True
    """
    sampling = sampling or Sampling()
    sweep = Sweep.from_table(table)
    if rows is not None and tune_on is not None:
        check_same_labels(rows, tune_on)
    if tune_on is None:
        chosen = sweep.with_optima(objectives)
        units = units_of(chosen, rows, count)
        optima = _cross_fitted(chosen, units, objectives, sampling)
        optima = with_bounds(chosen, units, optima, objectives)
        return replace(sweep, optima=with_holds(chosen, units, optima, objectives, sampling))
    if isinstance(tune_on.scores, NoScores):
        return replace(sweep, optima=dict.fromkeys((o.name for o in objectives), NO_TUNING))
    chosen = Sweep.from_table(scores_of_rows(tune_on)).with_optima(objectives)
    tuning, units = units_of(chosen, tune_on, None), units_of(sweep, rows, count)
    limited, _ = _with_limits(chosen, tuning, objectives, sampling)
    optima = _held_out_values(sweep, units, limited, objectives, sampling)
    optima = with_bounds(sweep, units, optima, objectives, fixed=True)
    return replace(sweep, optima=with_holds(chosen, tuning, optima, objectives, sampling))


def check_same_labels(rows: Predictions, tune_on: Predictions) -> None:
    """Check that a choice on other rows applies to these: same labels, same kind of scores.

    Raises
    ------
    UsageError
        The labels or the kind of scores differ.
    """
    where = "--tune-on"
    if tune_on.space != rows.space:
        raise UsageError(
            "the rows to tune on have different labels", where=where, fix="use the same label set"
        )
    kinds = {type(p.scores) for p in (rows, tune_on)} - {NoScores}
    if len(kinds) > 1:
        raise UsageError(
            "the rows to tune on have a different kind of scores",
            where=where,
            fix="declare both with --score-kind",
        )


NO_TUNING = Undefined("needs scores of the rows to tune on; got only labels")
TOO_FEW = Undefined("cross-fitting needs at least 2 rows (or groups) of each class")


def _cross_fitted(
    sweep: Sweep, units: Units, objectives: Sequence[Objective], sampling: Sampling
) -> Mapping[str, Choice]:
    optima, rechosen = _with_limits(sweep, units, objectives, sampling)
    fewer, units = narrow_sweep(sweep, units, CANDIDATES)
    if units.fewest() < 2:
        few = OutOfSample(TOO_FEW, None, "cross-fitted")
        return _with_out_of_sample(optima, {one.name: few for one in objectives})
    repeats = int(np.clip(WORK // (FOLDS * len(fewer)), 2, REPEATS))
    rng = sampling.generator(Stream.FOLDS)
    splits = [units.folds(FOLDS, rng) for _ in range(repeats)]
    held = SplitWeights(np.concatenate([s.pos for s in splits]), np.concatenate([s.neg for s in splits]))
    test = held.counts()
    train = SplitWeights(units.pos - held.pos, units.neg - held.neg).counts()
    again = None if isinstance(units, SingleRows) else _Again.from_sweep(fewer, units, sampling)
    found = {}
    for objective in objectives:
        place = chosen_places(objective, train)
        counts = _counts_across_folds(test, place, repeats)
        drawn = _draw_counts(units, counts, place[-FOLDS:], splits[-1].part_of_row, sampling)
        value = _value(objective, counts, drawn, "cross-fitted", sampling)
        value = value if again is None else again.add_intervals(objective, value, sampling)
        found[objective.name] = _correct_chance(objective, value, rechosen)
    return _with_out_of_sample(optima, found)


@dataclass(frozen=True, eq=False)
class _Again:
    """Resamples of groups, in each of which thresholds are chosen and cross-fitted again.

    A resample relates to the sample as the sample relates to the population. So the error of its cross-fitted
    value against the value of its threshold on the sample estimates the error of the reported value.
    """

    sweep: Sweep
    test: SplitCounts
    train: SplitCounts
    whole: SplitCounts
    freedom: int

    @classmethod
    def from_sweep(cls, sweep: Sweep, units: RowGroups, sampling: Sampling) -> Self:
        fewer, narrow = narrow_sweep(sweep, units, AGAIN // (RESAMPLES * FOLDS))
        assert isinstance(narrow, RowGroups)  # noqa: S101  narrowing keeps the type
        held = narrow.resample_folds(FOLDS, RESAMPLES, sampling.generator(Stream.REFOLDED))
        pos, neg = (part.reshape(-1, FOLDS, part.shape[1]).sum(axis=1) for part in (held.pos, held.neg))
        train = SplitWeights(*(np.repeat(part, FOLDS, axis=0) for part in (pos, neg)))
        train = SplitWeights(train.pos - held.pos, train.neg - held.neg)
        freedom = max(units.fewest() - 1, 1)
        return cls(fewer, held.counts(), train.counts(), SplitWeights(pos, neg).counts(), freedom)

    def add_intervals(self, objective: Objective, value: OutOfSample, sampling: Sampling) -> OutOfSample:
        """Return a held-out value with the intervals from the resamples."""
        place = chosen_places(objective, self.train)
        row = np.arange(len(place))
        cells = (self.test.tp, self.test.fp, self.test.fn, self.test.tn)
        crossed = BinaryCounts(*(cell[row, place].reshape(-1, FOLDS).sum(axis=1) for cell in cells))
        truth = self.sweep.counts_at(chosen_places(objective, self.whole))

        def estimate_interval(name: str, result: Result, of: Callable[[BinaryCounts], Any]) -> Result:
            return spread_estimate(name, result, of(crossed) - of(truth), self.freedom, sampling)

        found = replace(value, value=estimate_interval(objective.metric, value.value, objective.value))
        if objective.constraint is None or value.kept is None:
            return found
        metric = METRICS[objective.constraint.metric]
        return replace(found, kept=estimate_interval(metric.name, value.kept, metric.function))


def _draw_counts(
    units: Units, counts: BinaryCounts, place: Places, part_of_row: Places | None, sampling: Sampling
) -> BinaryCounts:
    """Resamples of the counts at positions: one for all rows, or one for each fold."""
    if isinstance(units, SingleRows):
        return units.draw_counts(counts, sampling)
    return units.draw_counts(place if part_of_row is None else place[part_of_row], sampling)


def chosen_places(objective: Objective, counts: BinaryCounts) -> Places:
    """Return the position of the best threshold in each row of counts, with the rule of `Sweep.best`.

    If no threshold meets the constraint it is the nearest one; if the metric is always undefined it is the
    last, which flags nothing.

    Parameters
    ----------
    counts : BinaryCounts with fields of shape (rows, m)

    Returns
    -------
    int array of shape (rows,)
    """
    step = max(1, BLOCK // counts.tp.shape[1])
    parts = (counts[start : start + step] for start in range(0, len(counts.tp), step))
    return np.concatenate([_choose_places(objective, part) for part in parts])


def _choose_places(objective: Objective, counts: BinaryCounts) -> Places:
    score = objective.score(counts)
    top = score.max(axis=1, keepdims=True)
    place = middle_of_longest_run(score >= top - CLOSE * np.maximum(1.0, np.abs(top)))
    none = np.isneginf(top[:, 0])
    if none.any():
        nearest = objective.margin(counts[none])
        place[none] = np.where(np.isneginf(nearest.max(axis=1)), score.shape[1] - 1, nearest.argmax(axis=1))
    return place


def _counts_across_folds(counts: BinaryCounts, place: Places, repeats: int) -> BinaryCounts:
    """Counts with one threshold per fold: sum over the folds, mean over the repetitions."""
    row = np.arange(len(place))
    cells = (counts.tp, counts.fp, counts.fn, counts.tn)
    return BinaryCounts(*(float(cell[row, place].sum()) / repeats for cell in cells))


def _with_limits(
    sweep: Sweep, units: Units, objectives: Sequence[Objective], sampling: Sampling
) -> tuple[Mapping[str, Choice], Mapping[str, float]]:
    """Optima with the interval of their thresholds, and the rate of resampled choices that meet the
    constraint on this sample."""
    fewer, units = narrow_sweep(sweep, units, WORK // RESAMPLES)
    counts = units.resamples(RESAMPLES, sampling.generator(Stream.THRESHOLD_RESAMPLES)).counts()
    found: dict[str, Choice] = {}
    kept: dict[str, float] = {}
    for objective in objectives:
        best = sweep.optima[objective.name]
        if isinstance(best, Optimum):
            places = chosen_places(objective, counts)
            best = _with_threshold_limits(best, np.sort(fewer.thresholds[places]), sampling)
            if objective.constraint is not None:
                kept[objective.name] = float(np.mean(objective.constraint.keeps(fewer.counts_at(places))))
        found[objective.name] = best
    return found, kept


def _with_threshold_limits(best: Optimum, thresholds: Array, sampling: Sampling) -> Optimum:
    out = int((1 - sampling.level) / 2 * len(thresholds))
    low, high = thresholds[[out, -1 - out]].tolist()
    low, high = min(low, best.threshold), max(high, best.threshold)
    return replace(best, low=low, high=high, interval="poisson bootstrap")


def _held_out_values(
    sweep: Sweep,
    units: Units,
    optima: Mapping[str, Choice],
    objectives: Sequence[Objective],
    sampling: Sampling,
) -> Mapping[str, Choice]:
    """Values of thresholds on rows that did not choose them."""
    found = {}
    for objective in objectives:
        best = optima[objective.name]
        if isinstance(best, Optimum):
            counts = sweep.counts_at_threshold(best.threshold)
            place = np.searchsorted(sweep.thresholds, [best.threshold])
            drawn = _draw_counts(units, counts, place, None, sampling)
            found[objective.name] = _value(objective, counts, drawn, "other rows", sampling)
    return _with_out_of_sample(optima, found)


def _with_out_of_sample(
    optima: Mapping[str, Choice], found: Mapping[str, OutOfSample]
) -> Mapping[str, Choice]:
    return {
        name: replace(best, out_of_sample=found[name]) if isinstance(best, Optimum) else best
        for name, best in optima.items()
    }


def _correct_chance(objective: Objective, value: OutOfSample, rechosen: Mapping[str, float]) -> OutOfSample:
    """Correct the probability of meeting a constraint for a threshold that was chosen on the same rows.

    For a rate of one class, `chance_at` does this. For other metrics the cross-fitted probability is about
    six points too low, and that of resampled choices on the whole sample about as much too high; their mean
    was right in the simulation (tests/thresholds/held.json).
    """
    bound = objective.constraint
    if bound is None or value.chance is None or one_class(bound) or objective.name not in rechosen:
        return value
    return replace(value, chance=(value.chance + rechosen[objective.name]) / 2)


def with_bounds(
    sweep: Sweep,
    units: Units,
    optima: Mapping[str, Choice],
    objectives: Sequence[Objective],
    *,
    fixed: bool = False,
) -> Mapping[str, Choice]:
    """Return the optima with their constraints, and the probabilities of those on a rate of one class.

    Parameters
    ----------
    sweep, units
        Of the reported rows.
    fixed : bool
        Whether thresholds were chosen on other rows; a rate of one class then has its exact posterior.
    """
    found = dict(optima)
    for objective in objectives:
        best, bound = optima[objective.name], objective.constraint
        if not isinstance(best, Optimum) or bound is None:
            continue
        in_sample = METRICS[bound.metric].function(BinaryCounts(best.tp, best.fp, best.fn, best.tn))
        kept = BoundKept(bound.metric, bound.operator, bound.number, float(in_sample))
        held_out = best.out_of_sample
        if held_out is not None and one_class(bound):
            crossed = None if fixed or _without_selection_bias(objective, bound) else held_out.chance
            chance = chance_at(sweep, units, bound, best, crossed)
            held_out = held_out if chance is None else replace(held_out, chance=chance)
        found[objective.name] = replace(best, constraint=kept, out_of_sample=held_out)
    return found


def _without_selection_bias(objective: Objective, bound: Constraint) -> bool:
    """Whether the best threshold is the last that meets a constraint on one class, as for recall under an
    FPR. It then has no selection bias, and the posterior of the class is better than cross-fitting."""
    other = METRICS[objective.metric].over if objective.metric in METRICS else None
    return one_class(bound) is not None and other in ("positives", "negatives")


def with_holds(
    sweep: Sweep,
    units: Units,
    optima: Mapping[str, Choice],
    objectives: Sequence[Objective],
    sampling: Sampling,
) -> Mapping[str, Choice]:
    """Return the optima with thresholds that meet their constraints with the confidence, if one is set.

    Parameters
    ----------
    sweep, units
        All thresholds of the rows that thresholds are chosen on.
    """
    found = dict(optima)
    for objective in objectives:
        best = optima[objective.name]
        if isinstance(best, Optimum):
            found[objective.name] = replace(
                best, at_confidence=find_constraint_threshold(sweep, units, objective, best, sampling)
            )
    return found


def _value(
    objective: Objective, counts: BinaryCounts, drawn: BinaryCounts, method: str, sampling: Sampling
) -> OutOfSample:
    n = float(counts.total)
    value = estimate_from_draws(
        objective.metric, objective.value(counts), objective.value(drawn), n, sampling
    )
    if objective.constraint is None:
        return OutOfSample(value, None, method)
    metric = METRICS[objective.constraint.metric]
    kept = estimate_from_draws(metric.name, metric.function(counts), metric.function(drawn), n, sampling)
    return OutOfSample(value, kept, method, _share_kept(objective.constraint, drawn))


def _share_kept(bound: Constraint, drawn: BinaryCounts) -> float | None:
    """Proportion of resamples that meet a constraint; None for a number of rows."""
    known = np.isfinite(np.asarray(bound.margin(drawn)))
    if METRICS[bound.metric].interval == "none" or not known.any():
        return None
    return float(np.asarray(bound.keeps(drawn))[known].mean())


def estimate_from_draws(name: str, value: float, drawn: Array, n: float, sampling: Sampling) -> Result:
    """Return a value with the central quantiles of its resamples as interval.

    Examples
    --------
    >>> estimate_from_draws("f1", 0.5, np.array([0.4, 0.5, np.nan, 0.6]), 10.0, Sampling(level=0.5)).high
    0.55
    """
    if not np.isfinite(value):
        return Undefined(f"{name} is undefined on the held-out rows", n)
    known = np.asarray(drawn)[np.isfinite(drawn)]
    if not known.size:
        return Estimate(float(value), n, reason="no resample of it was made, or none defines it")
    cut = (1 - sampling.level) / 2
    low, high = np.quantile(known, [cut, 1 - cut])
    spread = float(known.std())
    return Estimate(float(value), n, float(min(low, value)), float(max(high, value)), "drawn counts", spread)


def spread_estimate(name: str, result: Result, errors: Array, freedom: int, sampling: Sampling) -> Result:
    """Return a result with Student's t interval from its errors in resamples of groups.

    Parameters
    ----------
    name : str
        Name of the metric, for its range.
    errors : float64 array
        Error of the value in each resample.
    freedom : int
        Number of groups minus one.

    Examples
    --------
    >>> known = Estimate(0.5, 10.0, 0.45, 0.55)
    >>> found = spread_estimate("f1", known, np.array([-0.1, 0.0, np.nan, 0.1]), 9, Sampling())
    >>> round(found.low, 2), round(found.high, 2), found.method
    (0.32, 0.68, 'resampled groups')
    """
    known = errors[np.isfinite(errors)]
    if not isinstance(result, Estimate) or result.low is None or not known.size:
        return result
    value, error = result.value, float(known.std())
    quantile = t_quantile(sampling.upper, freedom)
    low, high = value - quantile * error, value + quantile * error
    if name in METRICS:
        low, high = transformed_scale_limits(METRICS[name], value, error, quantile, freedom + 1)
    ends = min(low, value), max(high, value)
    return Estimate(value, result.n, *ends, "resampled groups", error)

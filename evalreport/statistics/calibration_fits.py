"""Logistic recalibration of a score table, and a smooth calibration curve.

The recalibration has the intercept and slope that would correct the probabilities. The smooth curve is a
logistic regression on a restricted cubic spline of the logit. It has four knots at Harrell's quantiles
(Regression Modeling Strategies 2015, table 2.3) and is straight beyond the outer two. Of the two fits of
Austin & Steyerberg (2019, Statistics in Medicine 38:4051) it is the one with a known band and covariance. Two
coefficients bend it: enough for the shapes that models have, few enough for samples of some hundred rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import cast

import numpy as np

from evalreport.statistics.confusion import Array, inner, run_starts
from evalreport.statistics.stored_columns import PIECE, is_stored, run_sums

CLIP = 1e-6
"""Probabilities are clipped to [CLIP, 1 - CLIP] before the logit."""
MANY = 1 << 16
"""Distinct scores above which fits start on groups of neighbours."""
FEW = 256
"""Scores in the first block that is searched for one with weight."""
STEPS = 1 << 15
"""Equal steps of the logit from end to end; a fit on them has an error of about 1e-5."""
BLOCK = 1 << 13
"""Scores processed at a time: few enough for the cache, and for a dot product in a single thread (OpenBLAS
starts others from 10,000 numbers on, which costs more than the sum)."""


def recalibrate(
    scores: Array, pos: Array, neg: Array, start: tuple[float, float] = (0.0, 1.0)
) -> tuple[float, float]:
    """Return intercept and slope of the logistic regression of the true label on the logit (Cox 1958).

    Parameters
    ----------
    scores : float64 array of shape (m,), in [0, 1], ascending
    pos, neg : float64 arrays of shape (m,)
        Weight of positives and negatives at each score.
    start : tuple of float
        Start of Newton's method, as from a fit to `cells`; NaN: (0, 1).

    Returns
    -------
    intercept, slope : float
        0 and 1 for perfectly calibrated probabilities; NaN where no finite maximum-likelihood fit exists:
        one class, one distinct score, or scores that separate the classes.

    Examples
    --------
    >>> fit = recalibrate(np.array([0.2, 0.8]), np.array([1.0, 4.0]), np.array([4.0, 1.0]))
    >>> [round(abs(x), 12) for x in fit]
    [0.0, 1.0]
    """
    if is_separable(scores, pos, neg):
        return float("nan"), float("nan")
    first = np.array(start if np.isfinite(start[0]) else (0.0, 1.0))
    odds = logit(scores).__getitem__ if len(scores) <= MANY else lambda b: logit(scores[b])
    intercept, slope = _newton(odds, pos, neg, first)  # recomputing many logits costs less than storing them
    return float(intercept), float(slope)


def shift(scores: Array, pos: Array, neg: Array, start: float = 0.0) -> float:
    """Return calibration in the large: the intercept of the logistic regression with the slope fixed at 1.

    NaN with only one class, or if every probability is 0 or 1. Parameters are those of `recalibrate`.

    Examples
    --------
    >>> round(shift(np.array([0.5]), np.array([3.0]), np.array([1.0])), 6)
    1.098612
    """
    positives, total = float(pos.sum()), float(pos.sum() + neg.sum())
    moving = sum(inner(pos[b] + neg[b], (scores[b] > CLIP) & (scores[b] < 1 - CLIP)) for b in _pieces(scores))
    if not 0 < positives < total or not moving:
        return float("nan")
    low, high, at = (
        -40.0,
        40.0,
        start if np.isfinite(start) else 0.0,
    )  # beyond ±14 every probability is 0 or 1
    for _ in range(100):
        expected = spread = 0.0
        for b in _pieces(scores):
            predicted, weight = np.clip(scores[b], CLIP, 1 - CLIP), pos[b] + neg[b]
            mean = 1 / (1 + (1 - predicted) / predicted * np.exp(-at))
            expected += inner(weight, mean)
            spread += inner(weight, mean * (1 - mean))
        gap = positives - expected
        low, high = (at, high) if gap > 0 else (low, at)
        step = gap / max(spread, 1e-300)
        new = at + step if low <= at + step <= high else (low + high) / 2  # Newton, within its bracket
        if abs(new - at) < 1e-7 * (1 + abs(at)):
            return new  # convergence is quadratic: the remaining error is below 1e-14
        at = new
    return at


def logit(scores: Array) -> Array:
    """Return the log odds of probabilities, clipped to [CLIP, 1 - CLIP]."""
    if is_stored(scores):
        return cast(Array, scores.map_values(logit))
    odds = np.empty(len(scores))
    for block in range(0, len(scores), BLOCK):
        b = slice(block, block + BLOCK)
        clipped = np.clip(scores[b], CLIP, 1 - CLIP)
        np.log(clipped / (1 - clipped), out=odds[b])
    return odds


def is_separable(scores: Array, pos: Array, neg: Array) -> bool:
    """Return whether a cut separates all positives from all negatives; ties on the cut are allowed."""
    ends = []
    for weight in (pos, neg):
        low, high = _first_weighted_place(weight), _first_weighted_place(weight[::-1])
        if low is None or high is None:
            return True
        ends.append((scores[low], scores[len(weight) - 1 - high]))
    (low_pos, high_pos), (low_neg, high_neg) = np.clip(ends, CLIP, 1 - CLIP)
    return bool(high_neg <= low_pos or high_pos <= low_neg)


def _pieces(column: Array) -> Iterator[slice]:
    return (slice(start, start + PIECE) for start in range(0, len(column), PIECE))


def _first_weighted_place(weight: Array) -> int | None:
    """The first position with any weight, which is usually among the first few."""
    start, size = 0, FEW
    while start < len(weight):
        there = np.flatnonzero(weight[start : start + size])
        if len(there):
            return start + int(there[0])
        start, size = start + size, min(2 * size, PIECE)
    return None


@lru_cache
def _steps() -> Array:
    """The probabilities at the inner edges of the logit steps."""
    end = np.log(CLIP) - np.log1p(-CLIP)
    steps: Array = 1 / (1 + np.exp(-np.linspace(end, -end, STEPS + 1)[1:-1]))
    return steps


def cells(scores: Array, pos: Array, neg: Array) -> tuple[Array, Array, Array]:
    """Return the scores that have weight, with weights; if there are very many, sums over small logit steps.

    A step is represented by its middle score.
    """
    if not is_stored(scores) and not all((pos[b] + neg[b] > 0).all() for b in _pieces(scores)):
        held = pos + neg > 0  # stored columns have no scores without weight
        scores, pos, neg = scores[held], pos[held], neg[held]
    if len(scores) <= MANY:
        return np.asarray(scores), np.asarray(pos), np.asarray(neg)
    places = np.append(0, np.searchsorted(scores, _steps()))
    starts = places[run_starts(places)]
    starts = starts[starts < len(scores)]
    middle = (starts + np.append(starts[1:], len(scores))) // 2
    return scores[middle], run_sums(pos, starts), run_sums(neg, starts)


def _newton(logits: Callable[[slice], Array], pos: Array, neg: Array, start: Array) -> Array:
    """Maximise the likelihood; it is concave, so a halved Newton step always gains."""
    at, (value, gradient, curvature) = start, _likelihood(start, logits, pos, neg)
    for _ in range(100):
        step = newton_step(curvature, gradient, 1 + float(np.abs(at).max()))
        if np.abs(step).max() < 1e-5 * (1 + np.abs(at).max()):
            return at + step  # convergence is quadratic: the remaining error is below 1e-9
        for _ in range(50):  # halvings down to 1e-15 of the step: then only rounding prevents a gain
            new = _likelihood(at + step, logits, pos, neg)
            if new[0] >= value - 1e-12 * abs(value):
                break
            step /= 2
        at, (value, gradient, curvature) = at + step, new
    return at


def newton_step(curvature: Array, gradient: Array, size: float) -> Array:
    """Return Newton's step, at most twice `size`: at the ends of the logit there is almost no curvature."""
    try:
        step = np.asarray(np.linalg.solve(curvature, gradient), dtype=np.float64)
    except np.linalg.LinAlgError:
        step = gradient / np.finfo(float).tiny ** 0.5
    longest = float(np.abs(step).max())
    shorter: Array = step * min(1.0, 2 * size / longest) if longest > 0 else step
    return shorter


def _likelihood(
    at: Array, logits: Callable[[slice], Array], pos: Array, neg: Array
) -> tuple[float, Array, Array]:
    """Log-likelihood, its gradient and minus its second derivative."""
    sums = np.zeros(6)
    for block in range(0, len(pos), BLOCK):
        b = slice(block, block + BLOCK)
        logit, weight = logits(b), pos[b] + neg[b]
        z = np.clip(at[0] + at[1] * logit, -700, 700)  # e^709 is the greatest float
        odds_against = np.exp(-z)
        mean = 1 / (1 + odds_against)
        expected = weight * mean
        left = pos[b] - expected
        spread = expected * (1 - mean)
        across = spread * logit
        value = -(neg[b] @ z) - weight @ np.log1p(odds_against)
        sums += [value, left.sum(), left @ logit, spread.sum(), across.sum(), across @ logit]
    value, by_intercept, by_slope, flat, tilt, steep = sums
    return float(value), np.array([by_intercept, by_slope]), np.array([[flat, tilt], [tilt, steep]])


QUANTILES = (0.05, 0.35, 0.65, 0.95)
"""Quantiles of the rows at which the knots are; equal knots are merged."""
RIDGE = 1e-7
"""Ridge penalty on the bends, relative to their information at a constant probability. Without it a fit that
passes exactly through a few distinct scores diverges. It changed the mean gap of 50 to 1,000 rows by 5e-5 or
less."""
CONVERGED = 1e-9
"""Longest last step of Newton's method; convergence is quadratic, so the remaining error is far smaller."""


@dataclass(frozen=True, eq=False)
class SmoothCurve:
    """A fitted calibration curve with the scores that it was fitted to.

    Parameters
    ----------
    knots : tuple of float
        On the logit; with fewer than three the curve is a straight line.
    coefficients : float64 array of shape (k,)
        Intercept, slope, bends.
    curvature : float64 array of shape (k, k)
        Minus the second derivative of the penalised log-likelihood: the inverse of their covariance.
    scores, weight : float64 arrays of shape (m,)
        Distinct scores, or groups of neighbours if there are very many; and their weight.
    """

    knots: tuple[float, ...]
    coefficients: Array
    curvature: Array
    scores: Array
    weight: Array

    @cached_property
    def fitted_rates(self) -> Array:
        """The curve at `scores`."""
        return _sigmoid(self.design(self.scores) @ self.coefficients)

    def predict_rates(self, scores: Array) -> Array:
        """Return the rate of positives on the curve at some probabilities."""
        if scores is self.scores:
            return self.fitted_rates
        return _sigmoid(self.design(scores) @ self.coefficients)

    def design(self, scores: Array) -> Array:
        """Return the spline basis at some probabilities, shape (m, k)."""
        return _spline(logit(scores), self.knots)

    @cached_property
    def root(self) -> Array:
        """A root of the coefficients' covariance if each unit of weight is an independent row."""
        root: Array = np.linalg.inv(np.linalg.cholesky(self.curvature)).T
        return root

    @property
    def gap(self) -> float:
        """The mean absolute gap between probability and curve over rows."""
        return inner(self.weight, np.abs(self.scores - self.fitted_rates)) / float(self.weight.sum())


def smooth_curve(
    scores: Array, pos: Array, neg: Array, start: tuple[float, float] = (0.0, 1.0)
) -> SmoothCurve | None:
    """Return the smooth calibration curve of a score table of probabilities.

    Parameters
    ----------
    scores : float64 array of shape (m,), in [0, 1], ascending
    pos, neg : float64 arrays of shape (m,)
        Weight of positives and negatives at each score, not both 0.
    start : tuple of float
        Intercept and slope of the straight line from which the fit starts.

    Returns
    -------
    SmoothCurve or None
        None with one class, one distinct score, or scores that separate the classes.

    Examples
    --------
    >>> scores, rows = np.array([0.1, 0.3, 0.6, 0.9]), np.full(4, 100.0)
    >>> curve = smooth_curve(scores, rows * scores, rows * (1 - scores))
    >>> curve.predict_rates(np.array([0.2])).round(3), round(curve.gap, 6)
    (array([0.2]), 0.0)
    """
    if is_separable(scores, pos, neg):
        return None
    weight, x = pos + neg, logit(scores)
    knots = tuple(np.unique(reaching(x, np.cumsum(weight), np.array(QUANTILES))).tolist())
    if len(knots) < 3:
        knots = ()
    coefficients, curvature = _fit(_spline(x, knots), pos, weight, start)
    return SmoothCurve(knots, coefficients, curvature, scores, weight)


def reaching(values: Array, upto: Array, quantiles: Array) -> Array:
    """Return the lowest values at which the cumulative weight reaches the given quantiles.

    Parameters
    ----------
    values : float64 array of shape (m,), ascending
    upto : float64 array of shape (m,)
        Weight up to each value.
    quantiles : float64 array

    Examples
    --------
    >>> reaching(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0]), np.array([0.5]))
    array([2.])
    """
    found: Array = values[np.searchsorted(upto, quantiles * upto[-1] * (1 - 1e-9))]
    return found


def _sigmoid(z: Array) -> Array:
    risk: Array = 1 / (1 + np.exp(-np.clip(z, -700, 700)))
    return risk


def _spline(x: Array, knots: tuple[float, ...]) -> Array:
    """The restricted cubic spline basis: one, x, and bends that are straight beyond the outer knots."""
    columns = [np.ones(len(x)), x]
    for knot in knots[:-2]:
        last, end = knots[-2:]
        over, over_last, over_end = (_cube(np.maximum(x - at, 0.0)) for at in (knot, last, end))
        tied = over_last * (end - knot) / (end - last) - over_end * (last - knot) / (end - last)
        columns.append((over - tied) / (end - knots[0]) ** 2)
    return np.stack(columns, axis=1)


def _cube(x: Array) -> Array:
    """The third power by products, in a tenth of the time of a general power."""
    return x * x * x


def _fit(design: Array, pos: Array, weight: Array, start: tuple[float, float]) -> tuple[Array, Array]:
    """Maximise the penalised likelihood; it is strictly concave, so a halved Newton step always gains."""
    total, share = float(weight.sum()), float(pos.sum() / weight.sum())
    spread = np.einsum("m,mk->k", weight / total, design**2)
    penalty = RIDGE * total * share * (1 - share) * np.where(np.arange(design.shape[1]) < 2, 0.0, spread)

    def likelihood(at: Array) -> tuple[float, Array, Array]:
        z = np.clip(design @ at, -700, 700)
        odds_against = np.exp(-z)
        risk = 1 / (1 + odds_against)
        value = inner(pos - weight, z) - inner(weight, np.log1p(odds_against)) - float(penalty @ at**2) / 2
        gradient = design.T @ (pos - weight * risk) - penalty * at
        bent = (design * (weight * risk * (1 - risk))[:, None]).T @ design + np.diag(penalty)
        return value, gradient, bent

    at = np.zeros(design.shape[1])
    at[:2] = start
    value, gradient, bent = likelihood(at)
    for _ in range(200):
        step = newton_step(bent, gradient, 1 + float(np.abs(at).max()))
        for _ in range(50):
            new = likelihood(at + step)
            if new[0] >= value - 1e-12 * abs(value):
                break
            step /= 2
        at, (value, gradient, bent) = at + step, new
        if np.abs(step).max() < CONVERGED * (1 + np.abs(at).max()):
            break
    return at, bent

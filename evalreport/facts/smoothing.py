"""A smooth calibration curve: logistic regression on a restricted cubic spline of the logit.

Four knots at Harrell's quantiles (Regression Modeling Strategies 2015, table 2.3), straight beyond the outer
two: one of the two fits of Austin & Steyerberg (2019, Statistics in Medicine 38:4051), the one whose band and
covariance are known. Two coefficients bend it: enough for the shapes that models take, few enough for
samples of some hundred rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evalreport.facts.counts import Array, inner
from evalreport.facts.recalibration import logit, newton_step, separated

QUANTILES = (0.05, 0.35, 0.65, 0.95)
"""Where the knots lie among the rows; equal ones fall together."""
RIDGE = 1e-7
"""Penalty of the bends, as a share of what a row tells at most: without it a fit that passes exactly through
a few distinct scores runs off to infinity. It moved the mean gap of 50 to 1,000 rows by 5e-5 or less."""
CONVERGED = 1e-9
"""Longest last step of Newton's method; convergence is quadratic, so that what is left is far below."""


@dataclass(frozen=True, eq=False)
class SmoothCurve:
    """A fitted calibration curve with the scores that it was fitted to.

    Parameters
    ----------
    knots : tuple of float
        On the logit; fewer than three make a straight line.
    coefficients : float64 array of shape (k,)
        Intercept, slope, bends.
    curvature : float64 array of shape (k, k)
        Second derivative of the penalised likelihood: the inverse of the coefficients' covariance.
    scores, weight : float64 arrays of shape (m,)
        Distinct scores, or groups of neighbours where there are very many; and their weight.
    """

    knots: tuple[float, ...]
    coefficients: Array
    curvature: Array
    scores: Array
    weight: Array

    @cached_property
    def fitted(self) -> Array:
        """The curve at `scores`."""
        return _sigmoid(self.design(self.scores) @ self.coefficients)

    @cached_property
    def gaps(self) -> tuple[Array, Array]:
        """The gaps of probability and curve, ascending, and the weight of rows up to each."""
        gaps = np.abs(self.scores - self.fitted)
        order = np.argsort(gaps)
        return gaps[order], np.cumsum(self.weight[order])

    def at(self, scores: Array) -> Array:
        """Return the share of positives that the curve tells at some probabilities."""
        if scores is self.scores:
            return self.fitted
        return _sigmoid(self.design(scores) @ self.coefficients)

    def design(self, scores: Array) -> Array:
        """Return the spline at some probabilities, shape (m, k)."""
        return _spline(logit(scores), self.knots)

    @cached_property
    def root(self) -> Array:
        """A root of the coefficients' covariance, were each unit of weight an independent row."""
        root: Array = np.linalg.inv(np.linalg.cholesky(self.curvature)).T
        return root

    def gap(self, quantile: float | None = None) -> float:
        """Return the mean gap of probability and curve over rows, or a quantile of it."""
        if quantile is None:
            return inner(self.weight, np.abs(self.scores - self.fitted)) / float(self.weight.sum())
        return float(reaching(*self.gaps, np.array([quantile]))[0])


def smooth_curve(
    scores: Array, pos: Array, neg: Array, start: tuple[float, float] = (0.0, 1.0)
) -> SmoothCurve | None:
    """Return the smooth calibration curve of a score table of probabilities.

    Parameters
    ----------
    scores : float64 array of shape (m,), in [0, 1], ascending
    pos, neg : float64 arrays of shape (m,)
        Weight of positives and negatives at each score, never none of both.
    start : tuple of float
        Intercept and slope of the straight line that the fit starts from.

    Returns
    -------
    SmoothCurve or None
        None with one class, one distinct score, or scores that separate the classes.

    Examples
    --------
    >>> scores, rows = np.array([0.1, 0.3, 0.6, 0.9]), np.full(4, 100.0)
    >>> curve = smooth_curve(scores, rows * scores, rows * (1 - scores))
    >>> curve.at(np.array([0.2])).round(3), round(curve.gap(), 6)
    (array([0.2]), 0.0)
    """
    if separated(scores, pos, neg):
        return None
    weight, x = pos + neg, logit(scores)
    knots = tuple(np.unique(reaching(x, np.cumsum(weight), np.array(QUANTILES))).tolist())
    if len(knots) < 3:
        knots = ()
    coefficients, curvature = _fit(_spline(x, knots), pos, weight, start)
    return SmoothCurve(knots, coefficients, curvature, scores, weight)


def reaching(values: Array, upto: Array, quantiles: Array) -> Array:
    """Return the least values up to which shares of the weight lie.

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
    """The restricted cubic spline: one, x, and bends that are straight beyond the outer knots."""
    columns = [np.ones(len(x)), x]
    for knot in knots[:-2]:
        last, end = knots[-2:]
        over, over_last, over_end = (_cube(np.maximum(x - at, 0.0)) for at in (knot, last, end))
        tied = over_last * (end - knot) / (end - last) - over_end * (last - knot) / (end - last)
        columns.append((over - tied) / (end - knots[0]) ** 2)
    return np.stack(columns, axis=1)


def _cube(x: Array) -> Array:
    """The third power by products, a tenth of the time that a general power takes."""
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

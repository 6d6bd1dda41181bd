"""Logistic recalibration of a score table: the intercept and slope that would mend its probabilities."""

from __future__ import annotations

import numpy as np

from evalreport.facts.counts import Array, sums

CLIP = 1e-6
"""Probabilities are clipped to [CLIP, 1 - CLIP] before the logit."""
_COARSE = 1000
_ENOUGH = 20_000


def recalibrate(scores: Array, pos: Array, neg: Array) -> tuple[float, float]:
    """Return intercept and slope of the logistic regression of the truth on the logit (Cox 1958).

    Parameters
    ----------
    scores : float64 array of shape (m,), in [0, 1], ascending
    pos, neg : float64 arrays of shape (m,)
        Weight of positives and negatives at each score.

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
    clipped = np.clip(scores, CLIP, 1 - CLIP)
    logit = np.log(clipped) - np.log1p(-clipped)
    if _separated(logit, pos, neg):
        return float("nan"), float("nan")
    start = np.array([0.0, 1.0])
    if len(logit) > _ENOUGH:
        coarse = _coarse(logit, pos, neg)
        if not _separated(*coarse):
            start = _newton(*coarse, start)
    intercept, slope = _newton(logit, pos, neg, start)
    return float(intercept), float(slope)


def _separated(logit: Array, pos: Array, neg: Array) -> bool:
    """Whether a cut puts all positives on one side and all negatives on the other, ties on the cut."""
    positive, negative = logit[pos > 0], logit[neg > 0]
    if not len(positive) or not len(negative):
        return True
    return bool(negative.max() <= positive.min() or positive.max() <= negative.min())


def _coarse(logit: Array, pos: Array, neg: Array) -> tuple[Array, Array, Array]:
    """Bin the table, so that Newton starts next to the optimum of the whole."""
    low, high = logit[0], logit[-1]
    place = ((logit - low) * ((_COARSE - 1) / (high - low))).astype(np.int64)
    weight = pos + neg
    total = sums(place, weight, _COARSE)
    kept = total > 0
    middle = sums(place, weight * logit, _COARSE)[kept] / total[kept]
    return middle, sums(place, pos, _COARSE)[kept], sums(place, neg, _COARSE)[kept]


def _newton(logit: Array, pos: Array, neg: Array, start: Array) -> Array:
    """Maximise the likelihood; it is concave, so a halved Newton step always gains."""
    weight, at = pos + neg, start
    value, gradient, curvature = _likelihood(at, logit, pos, weight)
    for _ in range(100):
        step = np.linalg.solve(curvature, gradient)
        for _ in range(50):
            new = _likelihood(at + step, logit, pos, weight)
            if new[0] >= value - 1e-12 * abs(value):
                break
            step /= 2
        at = at + step
        value, gradient, curvature = new
        if np.abs(step).max() < 1e-10 * (1 + np.abs(at).max()):
            break
    return at


def _likelihood(at: Array, logit: Array, pos: Array, weight: Array) -> tuple[float, Array, Array]:
    z = at[0] + at[1] * logit
    small = np.exp(-np.abs(z))
    mean = np.where(z >= 0, 1.0, small) / (1 + small)
    value = pos @ z - weight @ (np.maximum(z, 0) + np.log1p(small))
    left = pos - weight * mean
    spread = weight * mean * (1 - mean)
    across = spread @ logit
    curvature = np.array([[spread.sum(), across], [across, (spread * logit) @ logit]])
    return float(value), np.array([left.sum(), left @ logit]), curvature

"""Intervals of differences between two sets of answers on the same examples.

Functions of binary counts: draws of the joint cells (truth, first answer, second answer). Everything else:
the rows' contributions to the two metrics are subtracted row by row; what is left sums to the variance of
the difference.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.facts import BinaryCounts
from evalreport.facts.counts import Array
from evalreport.intervals.inversion import DrawnCurve, StudentCurve
from evalreport.intervals.sampling import Sampling
from evalreport.metrics import Metric
from evalreport.resampling import posterior_shares

Codes = npt.NDArray[np.int32]
READABLE = np.zeros((2, 3, 3), dtype=bool)
READABLE[:, :2, :2] = True


def joint_cells(truth: npt.NDArray[np.int32], first: Codes, second: Codes) -> Array:
    """Return how often each (truth, first answer, second answer) occurs, shape (2, 3, 3).

    Parameters
    ----------
    truth, first, second : int arrays of shape (n,)
        0 negative, 1 positive; -1 for an answer that could not be read (the last cell).

    Examples
    --------
    >>> joint_cells(np.array([1, 1, 0]), np.array([1, 0, 0]), np.array([1, 1, -1]))[1, :2, :2]
    array([[0., 1.],
           [0., 1.]])
    """
    place = truth * 9 + np.where(first < 0, 2, first) * 3 + np.where(second < 0, 2, second)
    return np.bincount(place, minlength=18).astype(np.float64).reshape(2, 3, 3)


def label_cells(
    truth: npt.NDArray[Any], first: npt.NDArray[Any], second: npt.NDArray[Any], size: int
) -> Array:
    """Return `joint_cells` of each label against all others, shape (size, 2, 3, 3).

    Parameters
    ----------
    truth, first, second : codes of shape (n,), or indicators of shape (n, size)
        An answer that could not be read is an answer for no label.

    Examples
    --------
    >>> a, b = np.array([0, 1, -1]), np.array([1, 1, 0])
    >>> label_cells(np.array([0, 1, 0]), a, b, 2)[0, 1, :2, :2]
    array([[0., 1.],
           [1., 0.]])
    """
    n = len(truth)
    if truth.ndim == 2:
        t, a, b = truth.astype(bool), first.astype(bool), second.astype(bool)
        sums = [part.sum(axis=0) for part in (t, a, b, t & a, t & b, a & b, t & a & b)]
    else:
        ta, tb, ab = truth == first, truth == second, (first == second) & (first >= 0)
        kept: list[tuple[Any, Any]] = [(truth, slice(None)), (first, first >= 0), (second, second >= 0)]
        kept += [(truth, ta), (truth, tb), (first, ab), (truth, ta & tb)]
        sums = [np.bincount(codes[rows], minlength=size) for codes, rows in kept]
    t, a, b, ta, tb, ab, tab = (np.asarray(part, dtype=np.float64) for part in sums)
    cells = np.zeros((size, 2, 3, 3))
    cells[:, 1, 1, 1], cells[:, 1, 1, 0], cells[:, 1, 0, 1] = tab, ta - tab, tb - tab
    cells[:, 0, 1, 1], cells[:, 0, 1, 0], cells[:, 0, 0, 1] = ab - tab, a - ta - ab + tab, b - tb - ab + tab
    cells[:, 1, 0, 0] = t - ta - tb + tab
    cells[:, 0, 0, 0] = n - cells.sum(axis=(1, 2, 3))
    return cells


def paired_draws(cells: Array, sampling: Sampling) -> tuple[BinaryCounts, BinaryCounts]:
    """Return Dirichlet(1/2) posterior draws of the counts of both sets of answers, as shares.

    Cells of unread answers are drawn only where there are any.

    Parameters
    ----------
    cells : float64 array of shape (..., 2, 3, 3)
        Of `joint_cells`, for one or for several labels.

    Returns
    -------
    first, second : BinaryCounts with fields of shape (resamples, ...)

    Examples
    --------
    >>> a, b = paired_draws(joint_cells(*np.eye(3, 9, dtype=int)), Sampling(resamples=500))
    >>> a.tp.shape, bool(np.allclose(a.positives, b.positives))
    ((500,), True)
    """
    possible = READABLE | (cells > 0)
    return marginal_counts(
        posterior_shares(cells, possible, sampling.resamples, (-3, -2, -1), sampling.generator(7))
    )


def marginal_counts(cells: Array) -> tuple[BinaryCounts, BinaryCounts]:
    """Return the counts of the first and of the second answers from joint cells.

    Examples
    --------
    >>> a, b = marginal_counts(joint_cells(np.array([1, 1, 0]), np.array([1, 0, 0]), np.array([1, 1, -1])))
    >>> float(a.tp), float(b.tp), float(b.unread)
    (1.0, 2.0, 1.0)
    """
    return _counts(cells.sum(axis=-1)), _counts(cells.sum(axis=-2))


def _counts(table: Array) -> BinaryCounts:
    """Counts from (..., truth, answer) tables."""
    tn, fp, unread = np.moveaxis(table[..., 0, :], -1, 0)
    fn, tp, unread_positive = np.moveaxis(table[..., 1, :], -1, 0)
    return BinaryCounts(tp, fp, fn + unread_positive, tn, unread, unread_positive=unread_positive)


def drawn_curve(
    metric: Metric, gap: float, draws: tuple[BinaryCounts, BinaryCounts], level: float
) -> DrawnCurve | None:
    """Return the intervals of a difference of functions of counts; None where the draws have no value.

    Examples
    --------
    >>> from evalreport.metrics.catalogue import find
    >>> cells = np.zeros((2, 3, 3))
    >>> cells[:, :2, :2] = [[[80, 5], [5, 10]], [[5, 5], [15, 75]]]
    >>> found = drawn_curve(find("f1", "binary"), 0.05, paired_draws(cells, Sampling()), 0.95)
    >>> found.limits(0.95)[0] < 0.05 < found.limits(0.95)[1]
    True
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        drawn = np.asarray(metric.function(draws[0]) - metric.function(draws[1]), dtype=np.float64)
    if not np.isfinite(drawn).all() or np.ptp(drawn) == 0:
        return None
    return DrawnCurve.of(gap, drawn, level)


@dataclass(frozen=True)
class SampledError:
    """Standard error of a difference and the degrees of freedom that it is known with."""

    standard_error: float
    df: float

    def curve(self, gap: float) -> StudentCurve:
        """Return Student's intervals of a difference."""
        return StudentCurve(gap, self.standard_error, self.df)


def by_class(parts: Array, classes: npt.NDArray[np.integer]) -> SampledError:
    """Return the spread of a sum of rows' contributions whose metric averages over classes.

    A class of k rows shows too little of its variance by (k - 1) / k, and what a few rows show is itself
    uncertain: Welch & Satterthwaite's degrees of freedom over the classes. With two classes and ROC AUC
    this is DeLong's standard error.

    Parameters
    ----------
    parts : float64 array of shape (n,)
        Differences of the rows' contributions.
    classes : int codes of shape (n,)

    References
    ----------
    Satterthwaite 1946; Welch 1947.

    Examples
    --------
    >>> found = by_class(np.array([0.1, -0.1, 0.2, -0.2]), np.array([0, 0, 1, 1]))
    >>> round(found.standard_error, 3), round(found.df, 2)
    (0.447, 1.47)
    """
    rows = np.bincount(classes)
    squares = np.bincount(classes, parts**2)[rows > 0]
    rows = rows[rows > 0]
    free = np.maximum(rows - 1, 1)
    own = squares * np.where(rows > 1, rows / free, 1.0)
    total = float(own.sum())
    return SampledError(math.sqrt(total), total**2 / float((own**2 / free).sum()) if total else 1.0)


def of_mean(parts: Array) -> SampledError:
    """Return the spread of a mean over rows, from the rows' contributions.

    Examples
    --------
    >>> found = of_mean(np.array([0.1, -0.1, 0.1, -0.1]))
    >>> round(found.standard_error, 3), found.df
    (0.231, 3.0)
    """
    n = len(parts)
    return SampledError(math.sqrt(n / max(n - 1, 1) * float(parts @ parts)), max(n - 1.0, 1.0))


def effective(parts: Array) -> SampledError:
    """Return the spread of a sum of contributions of rows, or of clusters, of unequal moment.

    The degrees of freedom are those of the variance estimate itself: few where few rows, or heavy ones,
    make all the difference.

    Examples
    --------
    >>> effective(np.array([0.1, -0.1, 0.1, -0.1])).df
    3.0
    >>> round(effective(np.array([0.9, -0.9] + 50 * [0.01, -0.01])).df, 1)
    4.1
    """
    whole, squares = of_mean(parts), parts**2
    total = float(squares.sum())
    excess = float(squares @ squares) - total**2 / len(parts)
    if excess <= 1e-12 * total**2:
        return whole
    return SampledError(whole.standard_error, min(whole.df, max(2 * total**2 / excess, 1.0)))

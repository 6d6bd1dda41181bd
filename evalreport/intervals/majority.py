"""Intervals of what the most frequent class decides: its share, and the accuracy beyond it.

Which class is the most frequent is itself uncertain. Where several are about equal, draws of the maximum
all lie above the truth (at two equal classes their intervals covered 83 % and less); the extreme of the
limits of the candidates covers.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evalreport.facts.counts import Array
from evalreport.intervals.proportions import newcombe_paired, wilson


def share_limits(counts: Array, total: float, level: float) -> tuple[float, float]:
    """Return limits of the greatest share of several classes.

    Parameters
    ----------
    counts : float64 array of shape (K,)
        Rows of each class.
    total : float
        All rows, > 0.

    Examples
    --------
    >>> low, high = share_limits(np.array([52.0, 48.0]), 100.0, 0.95)
    >>> round(low, 3), round(high, 3)
    (0.41, 0.615)
    """
    low, _ = wilson(counts, total, _shared(level, len(_candidates(counts, total, level))))
    _, high = wilson(counts, total, level)
    return float(low.max()), float(high.max())


def gain_limits(right: Array, support: Array, total: float, level: float) -> tuple[float, float]:
    """Return limits of accuracy minus the share of the most frequent class.

    Parameters
    ----------
    right, support : float64 array of shape (K,)
        Right answers and true examples of each class.
    total : float

    Examples
    --------
    >>> low, high = gain_limits(np.array([45.0, 40.0]), np.array([50.0, 50.0]), 100.0, 0.95)
    >>> round(low, 2), round(high, 2)
    (0.21, 0.47)
    """
    candidates = _candidates(support, total, level)
    narrow, wide = [], []
    for label in candidates:
        both, truth, correct = right[label], support[label], right.sum()
        cells = (both, correct - both, truth - both, total - correct - truth + both)
        narrow.append(newcombe_paired(*cells, level=level)[1])
        wide.append(newcombe_paired(*cells, level=_shared(level, len(candidates)))[2])
    return min(narrow), min(wide)


def _candidates(counts: Array, total: float, level: float) -> npt.NDArray[np.intp]:
    """Classes that may be the most frequent: their limits reach those of the one that is."""
    low, high = wilson(counts, total, level)
    return np.flatnonzero(high >= low.max())


def _shared(level: float, number: int) -> float:
    """Bonferroni's level for one limit among several candidates."""
    return 1 - (1 - level) / number


def majority_limits(name: str, right: Array, support: Array, level: float) -> tuple[float, float]:
    """Return the limits of the metric of a name among `MAJORITY`.

    Parameters
    ----------
    name : {"no_information_rate", "accuracy_gain"}
    right, support : float64 array of shape (K,)

    Examples
    --------
    >>> limits = majority_limits("no_information_rate", np.zeros(2), np.array([70.0, 30.0]), 0.95)
    >>> round(limits[0], 3), round(limits[1], 3)
    (0.604, 0.781)
    """
    total = float(support.sum())
    if name == "accuracy_gain":
        return gain_limits(right, support, total, level)
    return share_limits(support, total, level)


MAJORITY = ("no_information_rate", "accuracy_gain")
"""Metrics that read the share of the most frequent class of the truth."""

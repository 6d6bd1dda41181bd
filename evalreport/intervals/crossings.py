"""Intervals of what a curve reads where it crosses a limit: recall at an FPR, equal error rate, lift.

Such a value moves for two reasons: the crossing moves, and so does the curve at the crossing. Both are
drawn from the posterior of the two empirical distributions (the Bayesian bootstrap), with half a row
beyond each end, without which a limit that lies beyond the last row seen would look certain: of 100
negatives none may lie in the top 1 %. Only the few ranks about the crossing are touched, so the cost does
not grow with the number of draws times the number of rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evalreport.facts import ScoreTable
from evalreport.facts.counts import Array
from evalreport.intervals.proportions import newcombe


@dataclass(frozen=True, eq=False)
class Curve:
    """The ROC curve as counts from the strictest threshold to the laxest, starting at none flagged.

    Parameters
    ----------
    tp, fp : float64 arrays of shape (distinct scores + 1,)
    size : int
        Number of draws.
    generator : numpy.random.Generator
    """

    tp: Array
    fp: Array
    size: int
    generator: np.random.Generator

    @property
    def positives(self) -> float:
        """All positives."""
        return float(self.tp[-1])

    @property
    def negatives(self) -> float:
        """All negatives."""
        return float(self.fp[-1])

    def rate(self, count: npt.ArrayLike, total: float) -> Array:
        """Draw a rate given its count: Jeffreys' posterior."""
        count = np.asarray(count)
        drawn: Array = self.generator.beta(count + 0.5, total - count + 0.5, self.size)
        return drawn

    def rows_within(self, share: float, total: float) -> npt.NDArray[np.int64]:
        """Draw how many rows the outermost `share` of a population holds; -1: it ends before the first."""
        beyond = self.generator.beta(0.5, total + 0.5, self.size)
        left = np.clip((share - beyond) / (1 - beyond), 0, 1)
        return np.where(beyond > share, -1, self.generator.binomial(round(total), left))

    def fpr_at_recall(self, recall: float) -> Array:
        """Draw the FPR at the strictest threshold that reaches a recall."""
        missed = self.rows_within(1 - recall, self.positives)
        place = np.searchsorted(self.tp, self.positives - np.maximum(missed, 0), side="left")
        return np.where(missed < 0, 1.0, self.rate(self.fp[place], self.negatives))


def tpr_at_fpr(limit: float) -> Callable[[Curve], Array]:
    """Return the function that draws the recall at the laxest threshold within an FPR."""

    def drawn(curve: Curve) -> Array:
        within = curve.rows_within(limit, curve.negatives)
        place = np.searchsorted(curve.fp, np.maximum(within, 0), side="right") - 1
        return np.where(within < 0, 0.0, curve.rate(curve.tp[place], curve.positives))

    return drawn


def fpr_at_tpr95(curve: Curve) -> Array:
    """Draw the FPR at recall 0.95."""
    return curve.fpr_at_recall(0.95)


def precision_at_recall90(curve: Curve) -> Array:
    """Draw the precision at recall 0.9, from the FPR there and the two class sizes."""
    fpr = curve.fpr_at_recall(0.9)
    positives = curve.generator.standard_gamma(curve.positives + 0.5, curve.size)
    negatives = curve.generator.standard_gamma(curve.negatives + 0.5, curve.size)
    return 0.9 * positives / (0.9 * positives + fpr * negatives)


def recall_at_precision90(curve: Curve) -> Array:
    """Draw the recall at the laxest threshold of precision 0.9; 0 where no threshold reaches it."""
    ahead = (0.1 * curve.tp - 0.9 * curve.fp)[::-1]
    np.maximum.accumulate(ahead, out=ahead)
    last = len(ahead) - 1 - int(np.searchsorted(ahead, -1e-9 * curve.tp[-1]))
    more = curve.rate(curve.tp[last], curve.positives) - curve.tp[last] / curve.positives
    other = curve.rate(curve.fp[last], curve.negatives) - curve.fp[last] / curve.negatives
    needed = 0.9 * curve.negatives * other - 0.1 * curve.positives * more
    place = len(ahead) - 1 - np.searchsorted(ahead, needed)
    return np.where(place < 0, 0.0, np.clip(curve.tp[place] / curve.positives + more, 0, 1))


def eer(curve: Curve) -> Array:
    """Draw the rate at which FPR and FNR are equal."""
    fpr, fnr = curve.fp / curve.negatives, 1 - curve.tp / curve.positives
    value = float(np.interp(0.0, fpr - fnr, fpr))
    false = curve.rate(value * curve.negatives, curve.negatives) - value
    missed = curve.rate(value * curve.positives, curve.positives) - value
    return np.clip(np.interp(missed - false, fpr - fnr, fpr) + false, 0, 1)


def lift_at_10(curve: Curve) -> Array:
    """Draw the lift in the top tenth: ten times the recall where a tenth of all rows is flagged."""
    flagged, total = curve.tp + curve.fp, curve.positives + curve.negatives
    tp = float(np.interp(0.1 * total, flagged, curve.tp))
    fp = 0.1 * total - tp
    cells = np.array([tp, fp, curve.positives - tp, curve.negatives - fp])
    drawn = curve.generator.dirichlet(np.maximum(cells, 0) + 0.5, curve.size)
    recall = drawn[:, 0] / (drawn[:, 0] + drawn[:, 2])
    # The rows flagged at this threshold are drawn; the threshold then moves to flag a tenth of them again.
    place = 0.1 * total - total * (drawn[:, 0] + drawn[:, 1] - 0.1)
    moved = (np.interp(place, flagged, curve.tp) - tp) / curve.positives
    return np.clip(recall + moved, 0, 1) / 0.1


def ks_limits(table: ScoreTable, level: float) -> tuple[float, float]:
    """Return limits of the greatest TPR - FPR: Newcombe's for the difference at the best threshold.

    The best of all thresholds flatters; Wilson's pull of both rates towards a half makes up for it.

    Examples
    --------
    >>> low, high = ks_limits(ScoreTable.of(np.arange(20.0), np.arange(20) > 9), 0.95)
    >>> round(low, 3), high
    (0.608, 1.0)
    """
    P, N = table.positives, table.negatives
    best = table.ranking.best
    _, low, high = newcombe(table.tp[best], P, table.fp[best], N, level)
    return low, high


CROSSINGS: dict[str, Callable[[Curve], Array]] = {
    "eer": eer,
    "tpr_at_fpr01": tpr_at_fpr(0.01),
    "tpr_at_fpr05": tpr_at_fpr(0.05),
    "fpr_at_tpr95": fpr_at_tpr95,
    "precision_at_recall90": precision_at_recall90,
    "recall_at_precision90": recall_at_precision90,
    "lift_at_10": lift_at_10,
}


def _first(found: npt.NDArray[np.bool_]) -> int | None:
    return int(np.argmax(found)) if found.any() else None


def _last(found: npt.NDArray[np.bool_]) -> int | None:
    return len(found) - 1 - int(np.argmax(found[::-1])) if found.any() else None


PLACES: dict[str, Callable[[ScoreTable], int | None]] = {
    "eer": lambda t: int(np.argmin(np.abs(t.fp / t.negatives - 1 + t.tp / t.positives))),
    "tpr_at_fpr01": lambda t: _first(t.fp <= 0.01 * t.negatives),
    "tpr_at_fpr05": lambda t: _first(t.fp <= 0.05 * t.negatives),
    "fpr_at_tpr95": lambda t: _last(t.tp >= 0.95 * t.positives),
    "precision_at_recall90": lambda t: _last(t.tp >= 0.9 * t.positives),
    "recall_at_precision90": lambda t: _first(t.tp >= 0.9 * (t.tp + t.fp)),
    "lift_at_10": lambda t: _last(t.tp + t.fp >= 0.1 * t.total),
}
"""Where in the table each is read; None: at no score."""
MIXED = ("precision_at_recall90", "recall_at_precision90", "lift_at_10")
"""Those that also read how many rows are positive."""
SMOOTH = ("eer", "lift_at_10")
"""Read on the line between points of the curve, of which blocks have enough."""

"""One pass over a score table for the ranking and one for the probabilities: sums that many metrics share.

The passes go in blocks that stay in cache: over millions of distinct scores, temporaries of full length
cost more than the arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evalreport.facts.counts import Array

if TYPE_CHECKING:
    from evalreport.facts.table import ScoreTable

EPS = float(np.finfo(np.float64).eps)
"""Probabilities are clipped to [EPS, 1 - EPS] before the logarithm, as scikit-learn does."""


@dataclass(frozen=True)
class RankingSums:
    """Sums over the thresholds of a table.

    Parameters
    ----------
    outranked : float
        Weight of (positive, negative) pairs in the right order, a tie counting one half.
    precision : float
        Sum over positives of the precision at their score as threshold.
    gap : float
        Greatest TPR - FPR, at least 0; NaN with one class.
    best : int
        The first place where it is greatest.
    """

    outranked: float
    precision: float
    gap: float
    best: int

    @classmethod
    def of(cls, t: ScoreTable) -> RankingSums:
        """Go through the table once."""
        tied = passed = precision = 0.0
        best, highest = 0, -np.inf
        both = t.positives > 0 and t.negatives > 0
        for b in t.blocks():
            pos, tp, fp = t.pos[b], t.tp[b], t.fp[b]
            passed += float(pos @ fp)
            tied += float(pos @ t.neg[b])
            flagged = tp + fp
            precision += float(pos @ np.divide(tp, flagged, out=flagged, where=flagged > 0))
            if both:
                apart = tp / t.positives - fp / t.negatives
                place = int(apart.argmax())
                if apart[place] > highest:
                    best, highest = b.start + place, float(apart[place])
        gap = max(highest, 0.0) if both else float("nan")
        return cls(t.positives * t.negatives - passed + tied / 2, precision, gap, best)


@dataclass(frozen=True, eq=False)
class ProbabilitySums:
    """Sums over the distinct probabilities of a table.

    Parameters
    ----------
    surprise : float
        Sum over rows of -ln of the probability of what happened.
    squares, hits, purity : float
        Sums of w s², of pos s and of pos² / w over distinct scores s with weight w: what the Brier score
        and its parts are made of.
    mass : float64 array of shape (blocks + 1,)
        Sum of w s before each block.
    """

    surprise: float
    squares: float
    hits: float
    purity: float
    mass: Array

    @classmethod
    def of(cls, t: ScoreTable) -> ProbabilitySums:
        """Go through the table once."""
        surprise = squares = hits = purity = 0.0
        mass = [0.0]
        for b in t.blocks():
            s, pos, neg = t.scores[b], t.pos[b], t.neg[b]
            p = np.clip(s, EPS, 1 - EPS)
            surprise -= float(pos @ np.log(p) + neg @ np.log(1 - p))
            weight = pos + neg
            weighted = weight * s
            mass.append(mass[-1] + float(weighted.sum()))
            squares += float(weighted @ s)
            hits += float(pos @ s)
            purity += float(pos @ np.divide(pos, weight, out=weight, where=weight > 0))
        return cls(surprise, squares, hits, purity, np.array(mass))

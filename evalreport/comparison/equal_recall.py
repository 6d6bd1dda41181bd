"""How many false alarms two binary runs are apart at equal recall, where few positives tell where that is.

Resamples move the matching threshold among the positives that are there: with few of them beyond it they
show too little of what other positives would do.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evalreport.comparison.alarms import ROUNDING
from evalreport.comparison.cheapest import scores_of
from evalreport.comparison.samples import PairedSamples
from evalreport.facts import ScoreTable
from evalreport.facts.counts import Array, inner, sums
from evalreport.intervals.quantiles import t_quantile
from evalreport.thresholds.tuned import units_of

MIDDLE = 0.5
BETWEEN = 4
"""Places looked at from one threshold to the next: tied scores are far apart, and what is between counts."""


def step_share(table: ScoreTable, place: int) -> float:
    """Return where a threshold is between the two positives that enclose it: 0 is the lowest, 1 the highest.

    Examples
    --------
    >>> table = ScoreTable.of(np.arange(5), np.array([0, 1, 0, 0, 1]) == 1)
    >>> [step_share(table, place) for place in (2, 3, 4, 1)]
    [0.0, 0.5, 1.0, 1.0]
    """
    first, last = (int((table.tp > table.tp[place] + end).sum()) for end in (ROUNDING, -ROUNDING))
    last -= 1
    return (place - first) / (last - first) if last > first else MIDDLE


def at_recall(run: ScoreTable, tp: float, share: float = MIDDLE) -> tuple[float, int]:
    """Return the false positives of a run that finds so many, and the place of its threshold.

    Between two positives every threshold finds as many. The run is put as far between them as its baseline
    is, so that the same scores give the same threshold and neither is favoured (the upper end spares the run
    half a step of false positives: five of 37 in a test of equal rankings). Where scores are tied and no
    threshold finds just as many, it is on the straight line between two: the lower one, which finds more,
    would have cost the run that was moved, 64 of 65 verdicts on equal runs.

    Parameters
    ----------
    run : ScoreTable
    tp : float
        Of the baseline.
    share : float
        Where the baseline is: see `step_share`.

    Examples
    --------
    >>> at_recall(ScoreTable.of(np.array([1, 1, 1, 2, 2]), np.array([1, 0, 0, 1, 0]) == 1), 1.5)
    (2.0, 0)
    """
    found, raised = np.append(run.tp, 0.0), np.append(run.fp, 0.0)
    last = int((found >= tp - ROUNDING).sum()) - 1
    if found[last] > tp + ROUNDING:
        part = (tp - found[last + 1]) / (found[last] - found[last + 1])
        return float(part * raised[last] + (1 - part) * raised[last + 1]), last
    first = int((found > tp + ROUNDING).sum())
    place = first + int(share * (min(last, len(run) - 1) - first) + 0.5)
    return float(raised[place]), place


def limits_at_recall(samples: PairedSamples, threshold: float, level: float) -> tuple[float, float]:
    """Return limits of how many more false alarms a run raises where it finds as many as its baseline.

    Two things are told by different rows at each threshold of the run: by the positives whether it finds as
    many, by the negatives how many more it flags. A difference is ruled out where no threshold leaves the
    squares of both deviations within that of Student's quantile, as the ROC curve of the run then passes by.

    Parameters
    ----------
    samples : PairedSamples
        Of a binary problem with scores in both.
    threshold : float
        Of the baseline, which stays.
    level : float

    Returns
    -------
    low, high : float
        Both 0 where the runs order all rows alike: they then decide alike wherever they find as many.
    """
    if _same_order(samples):
        return 0.0, 0.0
    more, raised, square, squares, both = _middles(_differences(samples, threshold))
    square = np.maximum(square, ROUNDING)
    left = t_quantile((1 + level) / 2, max(len(samples) - 1, 1)) ** 2 - more**2 / square
    half = np.sqrt(np.maximum(squares - both**2 / square, 0) * np.maximum(left, 0))
    middle, within = raised - more * both / square, left >= 0
    return float((middle - half)[within].min()), float((middle + half)[within].max())


def _differences(samples: PairedSamples, threshold: float) -> Array:
    """What is found more and raised more at each score of the run; sums of squares of both, and of products.

    Over rows, or groups of these; shape (5, scores + 1). As the threshold falls each row adds its own.
    """
    run, baseline = samples.run.predictions, samples.baseline.predictions
    values, place = np.unique(scores_of(run), return_inverse=True)
    size, unit = len(values), np.unique(units_of(run), return_inverse=True)[1]
    flagged = scores_of(baseline) >= threshold
    keys, key = np.unique(unit * (size + 1) + size - place, return_inverse=True)
    owner, at = keys // (size + 1), size - keys % (size + 1)

    def parts(kind: npt.NDArray[np.bool_]) -> tuple[Array, Array, Array]:
        """Each unit's sum where all is unflagged; what a score adds to it, and what it was before."""
        start = -sums(unit, run.weights * kind * flagged, int(unit.max()) + 1)
        added = sums(key, run.weights * kind, len(keys))
        before = np.cumsum(added) - added
        return start, added, start[owner] + before - before[np.searchsorted(owner, owner)]

    def down(start: float, added: Array) -> Array:
        return start + np.append(sums(at, added, size)[::-1].cumsum()[::-1], 0.0)

    positive = run.y_true.astype(bool)
    (s, x, a), (t, y, b) = parts(positive), parts(~positive)
    linear = down(s.sum(), x), down(t.sum(), y)
    squared = down(inner(s, s), 2 * a * x + x**2), down(inner(t, t), 2 * b * y + y**2)
    return np.array([*linear, *squared, down(inner(s, t), a * y + b * x + x * y)])


def _same_order(samples: PairedSamples) -> bool:
    both = (scores_of(side.predictions) for side in (samples.run, samples.baseline))
    return np.array_equal(*(np.unique(scores, return_inverse=True)[1] for scores in both))


def _middles(every: Array) -> Array:
    """The middle of each step between two positives, with places on the lines between and that of 0."""
    first = np.flatnonzero(np.diff(every[0], prepend=np.inf) < -ROUNDING)
    last = np.append(first[1:], every.shape[1]) - 1
    steps = every[:, (first + last + 1) // 2]
    end = steps.shape[1] - 1
    equal = np.interp(0.0, -steps[0], np.arange(end + 1))
    at = np.append(np.arange(BETWEEN * end + 1) / BETWEEN, equal)
    before = np.minimum(at.astype(np.int64), max(end - 1, 0))
    share = at - before
    return np.asarray((1 - share) * steps[:, before] + share * steps[:, np.minimum(before + 1, end)])

"""The score table: the weight of positives and negatives at every distinct score, from one sort.

One pass for rankings and one for probabilities compute the sums that many metrics use. They work in blocks
that stay in cache: with millions of distinct scores, full-length temporaries cost more than the arithmetic.
Also its convex hull, its isotonic fit, and tables of binned scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from evalreport.core.errors import UsageError
from evalreport.statistics.calibration_fits import MANY, SmoothCurve, cells, recalibrate, shift, smooth_curve
from evalreport.statistics.confusion import Array, Places, inner, run_starts, search_lazily
from evalreport.statistics.stored_columns import PIECE, WrittenColumns, is_stored, run_sums

FEW = 64
"""Points above which all points on or under the chord of their neighbours are removed at once; a step of the
chain costs as much as removing a hundred points."""


def hull(x: Array, y: Array) -> Places:
    """Return the positions of the vertices of the upper convex hull.

    Parameters
    ----------
    x, y : float64 arrays of shape (n,)
        Both ascending (a ROC curve in counts: fp and tp).

    Returns
    -------
    int array
        Includes the first and last position, but no points inside an edge.

    Examples
    --------
    >>> hull(np.array([0.0, 0, 1, 1, 2]), np.array([0.0, 1, 1, 2, 2]))
    array([0, 1, 3, 4])
    """
    if is_stored(x):  # a vertex of the whole is a vertex of every piece that contains it
        ends = (slice(at, at + PIECE - 1) for at in range(0, len(x), PIECE - 2))
        pieces = [at for at in ends if at.start < len(x) - 1 or at.start == 0]
        few = np.unique(np.concatenate([at.start + _candidate_vertices(x[at], y[at]) for at in pieces]))
        return few[hull(x[few], y[few])]
    kept = _candidate_vertices(x, y)
    return kept if len(kept) > FEW else kept[_chain(x[kept].tolist(), y[kept].tolist())]


def _candidate_vertices(x: Array, y: Array) -> Places:
    """Return positions that include all vertices: at most `FEW`, or only the vertices."""
    # At a vertex the line goes up just before and right just after.
    inner = np.flatnonzero((y[1:-1] > y[:-2]) & (x[2:] > x[1:-1])) + 1
    kept = np.concatenate([[0], inner, [len(x) - 1]])
    while len(kept) > FEW:  # a point on or under the chord of its neighbours is not a vertex
        under = _turns(x[kept], y[kept]) >= 0
        if not under.any():
            break
        kept = kept[np.concatenate([[True], ~under, [True]])]
    return kept


def _turns(x: Array, y: Array) -> Array:
    """Cross product at each inner point; negative where the line bends downwards."""
    dx, dy = np.diff(x), np.diff(y)
    turns: Array = dx[:-1] * dy[1:] - dy[:-1] * dx[1:]
    return turns


def _chain(x: list[float], y: list[float]) -> list[int]:
    """Andrew's monotone chain."""
    kept: list[int] = []
    for i in range(len(x)):
        while len(kept) > 1:
            a, b = kept[-2], kept[-1]
            if (x[b] - x[a]) * (y[i] - y[b]) - (y[b] - y[a]) * (x[i] - x[b]) < 0:
                break
            kept.pop()
        kept.append(i)
    return kept


@dataclass(frozen=True, eq=False)
class IsotonicFit:
    """Rates of positives that never fall as the score rises, by blocks of scores, ascending.

    Parameters
    ----------
    start, end : float64 arrays of shape (blocks,)
        Lowest and highest score of each block.
    pos, neg : float64 arrays of shape (blocks,)
        Weight of positives and negatives in each block.
    """

    start: Array
    end: Array
    pos: Array
    neg: Array

    @property
    def rate(self) -> Array:
        """Rate of positives in each block."""
        rate: Array = self.pos / (self.pos + self.neg)
        return rate

    @property
    def brier(self) -> float:
        """Brier score with the rate of its block as prediction of every row."""
        return inner(self.pos, 1 - self.rate) / float(self.pos.sum() + self.neg.sum())


def isotonic(scores: Array, path: tuple[Array, Array], corners: Places) -> IsotonicFit:
    """Return the isotonic fit of the true labels on the scores.

    Parameters
    ----------
    scores : float64 array of shape (m,), ascending
    path : two float64 arrays of shape (m + 1,)
        Weight of true and false positives from the strictest threshold to the laxest, 0 first.
    corners : int array
        Positions in the path of the vertices of its convex hull.

    Examples
    --------
    >>> scores, path = np.array([0.1, 0.4, 0.6]), (np.array([0.0, 1, 2, 2]), np.array([0.0, 1, 1, 2]))
    >>> isotonic(scores, path, hull(path[1], path[0])).rate.round(3)
    array([0.   , 0.667])
    """
    tp, fp = path
    steps = (slice(start, start + PIECE + 1) for start in range(0, len(scores), PIECE))
    if not is_stored(scores) and not all((np.diff(tp[b] + fp[b]) > 0).all() for b in steps):
        moves = np.append(True, np.diff(tp + fp) > 0)  # removes scores without weight; none are stored
        tp, fp, scores = tp[moves], fp[moves], scores[moves[:0:-1]]
        corners = hull(fp, tp)
    corners = corners[::-1]
    starts, ends = len(scores) - corners[:-1], len(scores) - corners[1:]
    pos, neg = tp[corners[:-1]] - tp[corners[1:]], fp[corners[:-1]] - fp[corners[1:]]
    return IsotonicFit(scores[starts], scores[ends - 1], pos, neg)


Keys = npt.NDArray[Any]


def keys_of(scores: npt.NDArray[Any]) -> Keys:
    """Return signed integers with the width and the sort order of the floats; -0.0 equals 0.0.

    Examples
    --------
    >>> keys = keys_of(np.array([-0.5, -0.0, 0.0, 0.25]))
    >>> (np.diff(keys.astype(float)) > 0).tolist(), scores_of(keys).tolist()
    ([True, False, True], [-0.5, 0.0, 0.0, 0.25])
    """
    word = np.int32 if scores.dtype.itemsize == 4 else np.int64
    return _flip_negative_order((np.ascontiguousarray(scores) + scores.dtype.type(0)).view(word))


def scores_of(keys: Keys) -> npt.NDArray[Any]:
    """Return the floats of sort keys."""
    return _flip_negative_order(keys.copy()).view(np.float32 if keys.dtype.itemsize == 4 else np.float64)


def _flip_negative_order(bits: Keys) -> Keys:
    """Reverse the order of negative keys in place: for negative floats larger bits mean a smaller value."""
    bits ^= (bits >> (8 * bits.dtype.itemsize - 1)) & np.iinfo(bits.dtype).max
    return bits


LARGE = 16_384
"""Distinct scores above which variances are computed over blocks."""
BLOCKS = 4000
"""Number of blocks; each has about the same proportion of the positives plus proportion of the negatives."""
TAIL = 500
"""Distinct scores at either end that are not merged: there a single row can matter."""


def coarse(t: ScoreTable) -> tuple[Array, Array, Array]:
    """Return the mean score of each block, and the weight of its positives and negatives.

    A variance over blocks equals that over rows to a ten-thousandth, because rows of one block differ so
    little.

    Examples
    --------
    >>> from evalreport.statistics.score_table import ScoreTable
    >>> even = np.arange(100_000)
    >>> scores, pos, neg = coarse(ScoreTable.from_scores(even / 100_000, even % 2 == 0))
    >>> len(scores), float(pos.sum()), float(neg.sum())
    (4960, 50000.0, 50000.0)
    """

    def score_block(place: Places) -> Array:
        share = (t.tp[place] / max(t.positives, 1.0) + t.fp[place] / max(t.negatives, 1.0)) * (BLOCKS / 2)
        passed: Array = -np.floor(share)
        return passed

    starts = search_lazily(score_block, len(t), np.arange(-BLOCKS, 1.0))
    starts = starts[starts < len(t)]
    ends = np.arange(TAIL)
    starts = np.sort(np.concatenate([starts, ends, len(t) - 1 - ends]))
    starts = starts[run_starts(starts)]  # np.unique would hash numbers that are already sorted
    pos, neg = run_sums(t.pos, starts), run_sums(t.neg, starts)
    mass = np.concatenate([_masses(t, part) for part in _spans(starts, len(t))])
    return mass / np.maximum(pos + neg, np.finfo(np.float64).tiny), pos, neg


def _spans(starts: Places, size: int) -> Iterator[tuple[Places, int]]:
    """Starts of blocks in groups of about `LARGE` scores, each with the end of the group."""
    first = 0
    ends = np.append(starts[1:], size)
    while first < len(starts):
        last = max(int(np.searchsorted(ends, starts[first] + LARGE, side="right")), first + 1)
        yield starts[first:last], int(ends[last - 1])
        first = last


def _masses(t: ScoreTable, span: tuple[Places, int]) -> Array:
    """Sum of weight times score in each block of a span."""
    starts, stop = span
    here = slice(int(starts[0]), stop)
    pos, neg, scores = (np.asarray(part[here]) for part in (t.pos, t.neg, t.scores))
    mass: Array = np.add.reduceat((pos + neg) * scores, starts - starts[0])
    return mass


EPS = float(np.finfo(np.float64).eps)
"""Probabilities are clipped to [EPS, 1 - EPS] before the logarithm, as scikit-learn does."""


@dataclass(frozen=True)
class RankingSums:
    """Sums over the thresholds of a score table.

    Parameters
    ----------
    outranked : float
        Weight of (positive, negative) pairs in the right order; a tie counts one half.
    precision : float
        Sum over positives of the precision at their score as the threshold.
    gap : float
        Greatest TPR - FPR, at least 0; NaN with only one class.
    best : int
        First position of the greatest TPR - FPR.
    """

    outranked: float
    precision: float
    gap: float
    best: int

    @classmethod
    def from_table(cls, t: ScoreTable) -> RankingSums:
        """Compute the sums in one pass."""
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
    """Sums over the distinct probabilities of a score table.

    Parameters
    ----------
    surprise : float
        Sum over rows of -ln of the predicted probability of the true label.
    squares, hits, purity : float
        Sums of w s², of pos s and of pos² / w over distinct scores s with weight w, for the Brier score and
        its decomposition.
    mass : float64 array of shape (blocks + 1,)
        Sum of w s before each block.
    """

    surprise: float
    squares: float
    hits: float
    purity: float
    mass: Array

    @classmethod
    def from_table(cls, t: ScoreTable) -> ProbabilitySums:
        """Compute the sums in one pass."""
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


BLOCK = 1 << 13
"""Scores processed at a time: few enough for the cache, and for a dot product in a single thread (OpenBLAS
starts others from 10,000 numbers on, which costs more than the sum)."""

SMALL = ("positives", "negatives", "ranking", "probability", "coarse")
"""Cached results that are small compared with the columns of a table."""


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Distinct scores, ascending, with the weight of positives and negatives at each.

    Everything that depends only on scores and binary true labels is a function of it: every threshold, the
    curves, AUC, average precision, log loss, Brier score, calibration.

    Examples
    --------
    >>> table = ScoreTable.from_scores(np.array([0.1, 0.9, 0.9]), np.array([False, True, False]))
    >>> table.scores, table.pos, table.neg
    (array([0.1, 0.9]), array([0., 1.]), array([1., 1.]))
    >>> table.tp, table.fp
    (array([1., 1.]), array([2., 1.]))
    """

    scores: Array
    pos: Array
    neg: Array
    stored: WrittenColumns | None = None
    """Storage of the columns if they are not arrays."""

    @classmethod
    def from_scores(
        cls, scores: npt.NDArray[Any], positive: npt.NDArray[np.bool_], weights: Array | None = None
    ) -> ScoreTable:
        """Build the table from rows.

        Parameters
        ----------
        scores : float32 or float64, shape (n,), finite
        positive : bool, shape (n,)
        weights : float64, shape (n,), optional
            Scores of only zero-weight rows are not in the table.
        """
        if weights is not None:
            kept = weights > 0
            return _table_from_weighted(scores[kept], positive[kept], weights[kept])
        packed = pack(scores, positive)
        if packed is None:
            return _merge_classes(scores, positive)
        packed.sort()
        return cls(*counted_runs(packed, spend=True))

    @classmethod
    def from_stored_columns(cls, stored: WrittenColumns) -> ScoreTable:
        """Return the table of stored columns."""
        scores, pos, neg = stored.columns()
        return cls(cast(Array, scores), cast(Array, pos), cast(Array, neg), stored)

    def __add__(self, other: ScoreTable) -> ScoreTable:
        return ScoreTable.merge_parts([self, other])

    @staticmethod
    def merge_parts(tables: Sequence[ScoreTable]) -> ScoreTable:
        """Return the sum of any number of tables, with one sort.

        Examples
        --------
        >>> one = ScoreTable(np.array([0.5]), np.array([1.0]), np.array([0.0]))
        >>> ScoreTable.merge_parts([one, one, one]).pos
        array([3.])
        """
        parts = ((table.scores, table.pos, table.neg) for table in tables)
        return _collapse(*(np.concatenate(part) for part in zip(*parts, strict=True)))

    def __len__(self) -> int:
        return len(self.scores)

    def blocks(self, start: int = 0, stop: int | None = None) -> Iterator[slice]:
        """Yield the positions from `start` to `stop` in blocks that stay in cache, lowest scores first."""
        stop = len(self) if stop is None else stop
        return (slice(at, min(at + BLOCK, stop)) for at in range(start, stop, BLOCK))

    @cached_property
    def positives(self) -> float:
        """Weight of all positives, P."""
        return float(self.pos.sum())

    @cached_property
    def negatives(self) -> float:
        """Weight of all negatives, N."""
        return float(self.neg.sum())

    @property
    def total(self) -> float:
        """P + N."""
        return self.positives + self.negatives

    @cached_property
    def path(self) -> tuple[Array, Array]:
        """True and false positives from the strictest threshold to the laxest, shape (m + 1,), 0 first."""
        if self.stored is not None:
            above = self.stored.cumulative_counts()
            return above[0][::-1], above[1][::-1]
        tp, fp = np.zeros(len(self) + 1), np.zeros(len(self) + 1)
        np.cumsum(self.pos[::-1], out=tp[1:])
        np.cumsum(self.neg[::-1], out=fp[1:])
        return tp, fp

    @property
    def tp(self) -> Array:
        """Weight of positives scored at least `scores[i]`."""
        return self.path[0][:0:-1]

    @property
    def fp(self) -> Array:
        """Weight of negatives scored at least `scores[i]`."""
        return self.path[1][:0:-1]

    @cached_property
    def ranking(self) -> RankingSums:
        """Sums that ranking metrics use."""
        return RankingSums.from_table(self)

    @cached_property
    def probability(self) -> ProbabilitySums:
        """Sums that metrics of probabilities use."""
        return ProbabilitySums.from_table(self)

    @cached_property
    def coarse(self) -> ScoreTable:
        """The table in blocks of neighbouring scores if it is large, else itself."""
        return self if len(self) <= LARGE else ScoreTable(*coarse(self))

    def remake_with_sums(self, make: Callable[[], ScoreTable]) -> Callable[[], ScoreTable]:
        """Return a function that rebuilds the table with the sums that are computed so far.

        Examples
        --------
        >>> scores, truth = np.array([0.1, 0.9]), np.array([False, True])
        >>> table = ScoreTable.from_scores(scores, truth)
        >>> ranking = table.ranking
        >>> table.remake_with_sums(lambda: ScoreTable.from_scores(scores, truth))().ranking is ranking
        True
        """
        known = {name: part for name, part in vars(self).items() if name in SMALL and part is not self}

        def remake_table() -> ScoreTable:
            table = make()
            vars(table).update(known)
            return table

        return remake_table

    def mass_below(self, place: int) -> float:
        """Return the sum of weight times score over the scores before a position."""
        block = place // BLOCK
        rest = slice(block * BLOCK, place)
        tail = (self.pos[rest] + self.neg[rest]) @ self.scores[rest]
        return float(self.probability.mass[block] + tail)

    @cached_property
    def cells(self) -> tuple[Array, Array, Array]:
        """Scores and weights on which logistic fits of a table of probabilities start: see `cells`."""
        return cells(self.scores, self.pos, self.neg)

    @cached_property
    def _start(self) -> tuple[float, float]:
        return recalibrate(*self.cells)

    @cached_property
    def recalibration(self) -> tuple[float, float]:
        """Intercept and slope of `recalibrate`, for a table of probabilities."""
        if len(self) <= MANY:
            return self._start
        return recalibrate(self.scores, self.pos, self.neg, self._start)

    @cached_property
    def in_the_large(self) -> float:
        """Intercept of `shift`, for a table of probabilities."""
        return shift(self.scores, self.pos, self.neg, shift(*self.cells) if len(self) > MANY else 0.0)

    @cached_property
    def smooth(self) -> SmoothCurve | None:
        """The smooth calibration curve of a table of probabilities; None without a finite fit."""
        return smooth_curve(*self.cells, self._start)

    @cached_property
    def isotonic(self) -> IsotonicFit:
        """The isotonic fit: the rate of positives as a function of the score that never falls."""
        return isotonic(self.scores, self.path, self.corners)

    @cached_property
    def corners(self) -> Places:
        """Positions in `path` of the vertices of the ROC curve's convex hull."""
        return hull(self.path[1], self.path[0])


def pack(scores: npt.NDArray[Any], positive: npt.NDArray[np.bool_]) -> npt.NDArray[Any] | None:
    """Return score bits and true label in one unsigned word, without loss; sorting values beats an argsort.

    The two top bits of floats in [0, 2) are 0, so that a shift by one loses nothing; None for other floats.

    Examples
    --------
    >>> pack(np.array([0.5], dtype=np.float32), np.array([True]))
    array([2113929217], dtype=uint32)
    """
    if len(scores) and not (scores.min() >= 0 and scores.max() < 2):
        return None
    word = np.uint32 if scores.dtype == np.float32 else np.uint64
    packed: npt.NDArray[Any] = (scores + scores.dtype.type(0)).view(word)  # -0.0 becomes 0.0
    packed <<= word(1)
    packed |= positive
    return packed


def scores_in(packed: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the scores in packed words.

    Examples
    --------
    >>> scores_in(np.array([2113929217], dtype=np.uint32))
    array([0.5], dtype=float32)
    """
    kind = np.float32 if packed.itemsize == 4 else np.float64
    scores: npt.NDArray[Any] = (packed >> packed.dtype.type(1)).view(kind)
    return scores


def counted_runs(packed: npt.NDArray[Any], *, spend: bool = False) -> tuple[Array, Array, Array]:
    """Return the distinct scores of sorted words, with the positives and negatives of each.

    It works in blocks that stay in cache: with 1e7 rows, full-length arrays cost more than the sort, mostly
    in memory pages. With `spend`, eight-byte words are overwritten by the scores.
    """
    size, one = len(packed), packed.dtype.type(1)
    scores = packed.view(np.float64) if spend and packed.itemsize == 8 else np.empty(size)
    pos, neg = np.empty(size), np.empty(size)
    filled, open_rows, open_pos = 0, 0, 0  # the run that continues from the previous block
    for start in range(0, size, BLOCK):
        block = packed[start : start + BLOCK]
        following = packed[start + 1 : start + BLOCK + 1]
        apart, truth = (block[: len(following)] ^ following) > 1, block & one
        if apart.all():  # no score appears twice
            here = slice(filled, filled + len(block))
            scores[here], pos[here] = scores_in(block), truth
            np.subtract(1, pos[here], out=neg[here])
            pos[filled], neg[filled] = pos[filled] + open_pos, neg[filled] + open_rows - open_pos
            filled, open_rows, open_pos = here.stop, 0, 0
            continue
        ends = np.flatnonzero(apart)
        if len(following) < len(block):
            ends = np.append(ends, len(block) - 1)
        here, below = slice(filled, filled + len(ends)), np.cumsum(truth, dtype=np.int32)
        if len(ends):
            closed = below[ends]
            scores[here] = scores_in(block[ends])
            np.subtract(closed[1:], closed[:-1], out=pos[filled + 1 : here.stop])
            np.subtract(ends[1:], ends[:-1], out=neg[filled + 1 : here.stop])
            pos[filled], neg[filled] = open_pos + closed[0], open_rows + ends[0] + 1
            neg[here] -= pos[here]
            filled, open_rows, open_pos = here.stop, -int(ends[-1]) - 1, -int(closed[-1])
        open_rows, open_pos = open_rows + len(block), open_pos + int(below[-1])
    kept = scores[:filled] if 2 * filled > size else scores[:filled].copy()  # do not keep all words for few
    return kept, pos[:filled], neg[:filled]


def insert_counted_scores(
    runs: tuple[Array, Array, Array], scores: Array, counted: Array
) -> tuple[Array, Array, Array]:
    """Return distinct scores with their counts, after inserting scores that are already counted by class.

    Examples
    --------
    >>> insert_counted_scores(
    ...     (np.array([0.5]), np.array([1]), np.array([0])), np.array([0.25]), np.array([[2], [3]])
    ... )
    (array([0.25, 0.5 ]), array([3, 1]), array([2, 0]))
    """
    if not len(scores):
        return runs
    places = np.searchsorted(runs[0], scores)
    known, neg, pos = (
        np.insert(runs[k].astype(new.dtype), places, new)
        for k, new in ((0, scores), (2, counted[0]), (1, counted[1]))
    )
    return known, pos, neg


def runs_of(packed: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    """Return `counted_runs` of words that stay in cache: scores keep their width, counts are integers.

    Examples
    --------
    >>> runs_of(pack(np.array([0.25, 0.5, 0.5], dtype=np.float32), np.array([True, False, True])))
    (array([0.25, 0.5 ], dtype=float32), array([1, 1], dtype=int32), array([0, 1], dtype=int32))
    """
    one, kind = packed.dtype.type(1), np.int32 if len(packed) < 2**31 else np.int64
    truth = (packed & one).astype(kind)  # a sum that converts as it goes takes twice as long
    cut, below = np.ones(len(packed) + 1, dtype=np.bool_), np.zeros(len(packed) + 1, dtype=kind)
    np.greater(packed[1:] ^ packed[:-1], one, out=cut[1:-1])
    np.cumsum(truth, out=below[1:])
    starts = np.flatnonzero(cut)
    rows, pos = np.diff(starts.astype(kind)), np.diff(below.take(starts))
    return scores_in(packed.take(starts[:-1])), pos, rows - pos


def _merge_classes(scores: npt.NDArray[Any], positive: npt.NDArray[np.bool_]) -> ScoreTable:
    pos, pos_count = np.unique(scores[positive], return_counts=True)
    neg, neg_count = np.unique(scores[~positive], return_counts=True)
    return _collapse(
        np.concatenate([pos, neg]).astype(np.float64),
        np.concatenate([pos_count, np.zeros(len(neg))]),
        np.concatenate([np.zeros(len(pos)), neg_count]),
    )


def _table_from_weighted(
    scores: npt.NDArray[Any], positive: npt.NDArray[np.bool_], weights: Array
) -> ScoreTable:
    return _collapse(
        scores.astype(np.float64), np.where(positive, weights, 0.0), np.where(positive, 0.0, weights)
    )


def _collapse(scores: Array, pos: Array, neg: Array) -> ScoreTable:
    order = np.argsort(scores, kind="stable")
    scores = scores[order]
    starts = run_starts(scores)
    if not len(starts):
        return ScoreTable(scores, pos, neg)
    return ScoreTable(
        scores[starts], np.add.reduceat(pos[order], starts), np.add.reduceat(neg[order], starts)
    )


DIGITS = 11
"""Bits after the leading one that determine a bin: 2,048 bins from 1/4 to 1/2, and as many from 1/8. Two
million uniform scores fill 38,000 bins; the measured bound on ROC AUC is 3.3e-5."""
_SHIFT = 52 - DIGITS
NEEDS_EXACT_SCORES = "needs exact scores, not bins: leave --set approximate out"
"""Why a metric of binned scores is undefined."""
_HALF, _ONE = (int(keys_of(np.array([at]))[0]) >> _SHIFT for at in (0.5, 1.0))

Bins = npt.NDArray[np.int64]

Bounds = tuple[float, float]
"""The lowest and the highest value that the bins allow."""


def bins_of(scores: npt.NDArray[Any]) -> Bins:
    """Return the bin of each score, as integers with the order of the scores.

    Examples
    --------
    >>> places = bins_of(np.array([-2.0, 0.1, 0.10001, 0.5, 0.99999, 1.0, 3.0]))
    >>> int(np.diff(places).min()), int(places[2] - places[1])
    (1, 1)
    """
    scores = scores.astype(np.float64)
    found: Bins = keys_of(scores) >> _SHIFT
    upper = (scores >= 0.5) & (scores <= 1)
    found[upper] = 2 * _HALF + (-keys_of(1 - scores[upper]) >> _SHIFT)  # both steps are exact
    found[scores > 1] += 2 * _HALF - _ONE
    return found


def edges_of(bins: Bins) -> Array:
    """Return the lower edge of each bin.

    Examples
    --------
    >>> edges_of(bins_of(np.array([0.1, 0.5, 0.75, 1.0]))).tolist()
    [0.0999755859375, 0.5, 0.75, 1.0]
    """
    upper, beyond = (bins >= _HALF) & (bins <= 2 * _HALF), bins > 2 * _HALF
    keys = np.where(upper, 2 * _HALF - bins, np.where(beyond, bins - 2 * _HALF + _ONE, bins))
    found = scores_of(keys << _SHIFT)
    found[upper] = 1 - found[upper]
    least: Array = np.maximum(found, np.finfo(np.float64).min)
    return least


@dataclass(frozen=True, eq=False)
class BinnedTable(ScoreTable):
    """Positives and negatives in each bin of scores; `scores` are the lower edges of the bins.

    With these as thresholds, counts are exact. Metrics of the scores have bounds, or are undefined.

    Examples
    --------
    >>> table = BinnedTable(edges_of(bins_of(np.array([0.1, 0.7]))), np.ones(2), np.zeros(2))
    >>> table.tp, bool((table.ends > [0.1, 0.7]).all())
    (array([2., 1.]), True)
    """

    @cached_property
    def ends(self) -> Array:
        """The upper edge of each bin, exclusive."""
        return edges_of(bins_of(self.scores) + 1)

    @staticmethod
    def merge_parts(tables: Sequence[ScoreTable]) -> BinnedTable:
        """Return the sum of binned tables."""
        whole = ScoreTable.merge_parts(tables)
        return BinnedTable(whole.scores, whole.pos, whole.neg)

    def check_edge(self, threshold: float) -> None:
        """Reject a threshold inside a bin that contains scores.

        Raises
        ------
        UsageError
            The message names the edges of the bin.
        """
        inside = bins_of(np.array([threshold]))
        below, above = edges_of(np.append(inside, inside + 1)).tolist()
        if below < threshold and below in self.scores:
            raise UsageError(
                f"a threshold of {threshold:.10g} is inside a bin of scores",
                where="--set approximate",
                fix=f"pass {below!r} or {above!r}, edges of the bin, or leave --set approximate out",
            )

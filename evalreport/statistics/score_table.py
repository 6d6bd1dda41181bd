"""The score table: the weight of positives and negatives at every distinct score, from one sort.

One pass over it for the ranking and one for the probabilities give the sums that many metrics share. The
passes go in blocks that stay in cache: over millions of distinct scores, temporaries of full length cost
more than the arithmetic. Also its convex hull, its isotonic fit, and tables of scores in fixed bins.
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
"""Points from which on all that lie on or under the chord of their neighbours are dropped at once: a step of
the chain takes as long as to drop a hundred."""


def hull(x: Array, y: Array) -> Places:
    """Return the places of the vertices of the upper convex hull.

    Parameters
    ----------
    x, y : float64 arrays of shape (n,)
        Both ascending (a ROC curve in counts: fp and tp).

    Returns
    -------
    int array
        First and last place included; points inside an edge left out.

    Examples
    --------
    >>> hull(np.array([0.0, 0, 1, 1, 2]), np.array([0.0, 1, 1, 2, 2]))
    array([0, 1, 3, 4])
    """
    if is_stored(x):  # vertices of the whole are vertices of every piece that they lie in
        ends = (slice(at, at + PIECE - 1) for at in range(0, len(x), PIECE - 2))
        pieces = [at for at in ends if at.start < len(x) - 1 or at.start == 0]
        few = np.unique(np.concatenate([at.start + _candidate_vertices(x[at], y[at]) for at in pieces]))
        return few[hull(x[few], y[few])]
    kept = _candidate_vertices(x, y)
    return kept if len(kept) > FEW else kept[_chain(x[kept].tolist(), y[kept].tolist())]


def _candidate_vertices(x: Array, y: Array) -> Places:
    """Return places among which all vertices are: no more than `FEW` of them, or the vertices alone."""
    # A vertex is where the line goes up just before and right just after.
    inner = np.flatnonzero((y[1:-1] > y[:-2]) & (x[2:] > x[1:-1])) + 1
    kept = np.concatenate([[0], inner, [len(x) - 1]])
    while len(kept) > FEW:  # what lies on or under the chord of its neighbours is no vertex
        under = _turns(x[kept], y[kept]) >= 0
        if not under.any():
            break
        kept = kept[np.concatenate([[True], ~under, [True]])]
    return kept


def _turns(x: Array, y: Array) -> Array:
    """Cross product at each inner point; negative where the line bends downward."""
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
    """Shares of positives that never fall as the score rises, block by block of scores, ascending.

    Parameters
    ----------
    start, end : float64 arrays of shape (blocks,)
        Least and greatest score of each block.
    pos, neg : float64 arrays of shape (blocks,)
        Weight of positives and negatives in each block.
    """

    start: Array
    end: Array
    pos: Array
    neg: Array

    @property
    def rate(self) -> Array:
        """Share of positives in each block."""
        rate: Array = self.pos / (self.pos + self.neg)
        return rate

    @property
    def brier(self) -> float:
        """Brier score of answering the rate of its block to every row."""
        return inner(self.pos, 1 - self.rate) / float(self.pos.sum() + self.neg.sum())


def isotonic(scores: Array, path: tuple[Array, Array], corners: Places) -> IsotonicFit:
    """Return the isotonic fit of the truth on the scores.

    Parameters
    ----------
    scores : float64 array of shape (m,), ascending
    path : two float64 arrays of shape (m + 1,)
        Weight of true and false positives from the strictest threshold to the laxest, 0 first.
    corners : int array
        Places in the path of the vertices of its convex hull.

    Examples
    --------
    >>> scores, path = np.array([0.1, 0.4, 0.6]), (np.array([0.0, 1, 2, 2]), np.array([0.0, 1, 1, 2]))
    >>> isotonic(scores, path, hull(path[1], path[0])).rate.round(3)
    array([0.   , 0.667])
    """
    tp, fp = path
    steps = (slice(start, start + PIECE + 1) for start in range(0, len(scores), PIECE))
    if not is_stored(scores) and not all((np.diff(tp[b] + fp[b]) > 0).all() for b in steps):
        moves = np.append(True, np.diff(tp + fp) > 0)  # a score without weight, of which none is stored
        tp, fp, scores = tp[moves], fp[moves], scores[moves[:0:-1]]
        corners = hull(fp, tp)
    corners = corners[::-1]
    starts, ends = len(scores) - corners[:-1], len(scores) - corners[1:]
    pos, neg = tp[corners[:-1]] - tp[corners[1:]], fp[corners[:-1]] - fp[corners[1:]]
    return IsotonicFit(scores[starts], scores[ends - 1], pos, neg)


Keys = npt.NDArray[Any]


def keys_of(scores: npt.NDArray[Any]) -> Keys:
    """Return signed integers, as wide as the floats, that sort as these do; a negative zero is a zero.

    Examples
    --------
    >>> keys = keys_of(np.array([-0.5, -0.0, 0.0, 0.25]))
    >>> (np.diff(keys.astype(float)) > 0).tolist(), scores_of(keys).tolist()
    ([True, False, True], [-0.5, 0.0, 0.0, 0.25])
    """
    word = np.int32 if scores.dtype.itemsize == 4 else np.int64
    return _flip_negative_order((np.ascontiguousarray(scores) + scores.dtype.type(0)).view(word))


def scores_of(keys: Keys) -> npt.NDArray[Any]:
    """Return the floats of keys."""
    return _flip_negative_order(keys.copy()).view(np.float32 if keys.dtype.itemsize == 4 else np.float64)


def _flip_negative_order(bits: Keys) -> Keys:
    """Turn round the order of negative ones, in place: as floats they fall while their bits rise."""
    bits ^= (bits >> (8 * bits.dtype.itemsize - 1)) & np.iinfo(bits.dtype).max
    return bits


LARGE = 16_384
"""Distinct scores from which variances are taken over blocks."""
BLOCKS = 4000
"""Blocks, each with at most one in so many of the positives and of the negatives."""
TAIL = 500
"""Distinct scores at either end that stay by themselves: there one row can matter."""


def coarse(t: ScoreTable) -> tuple[Array, Array, Array]:
    """Return the mean score of each block, with the weight of its positives and negatives.

    A variance over blocks is that over rows to a ten-thousandth: what rows of one block differ in is
    a ten-thousandth of what they differ in at all.

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
    starts = starts[run_starts(starts)]  # np.unique of ascending numbers would hash them
    pos, neg = run_sums(t.pos, starts), run_sums(t.neg, starts)
    mass = np.concatenate([_masses(t, part) for part in _spans(starts, len(t))])
    return mass / np.maximum(pos + neg, np.finfo(np.float64).tiny), pos, neg


def _spans(starts: Places, size: int) -> Iterator[tuple[Places, int]]:
    """Starts of blocks in groups that reach over `LARGE` scores or little more, each with its end."""
    first = 0
    ends = np.append(starts[1:], size)
    while first < len(starts):
        last = max(int(np.searchsorted(ends, starts[first] + LARGE, side="right")), first + 1)
        yield starts[first:last], int(ends[last - 1])
        first = last


def _masses(t: ScoreTable, span: tuple[Places, int]) -> Array:
    """Sum of weight times score of each block of a span."""
    starts, stop = span
    here = slice(int(starts[0]), stop)
    pos, neg, scores = (np.asarray(part[here]) for part in (t.pos, t.neg, t.scores))
    mass: Array = np.add.reduceat((pos + neg) * scores, starts - starts[0])
    return mass


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
    def from_table(cls, t: ScoreTable) -> RankingSums:
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
    def from_table(cls, t: ScoreTable) -> ProbabilitySums:
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


BLOCK = 1 << 13
"""Scores that are worked on at a time: few enough to stay in cache, and for a dot product to stay in its
thread (OpenBLAS wakes others from 10,000 on, which costs more than the sum)."""

SMALL = ("positives", "negatives", "ranking", "probability", "coarse")
"""What is known of a table that is as good as nothing beside its columns."""


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Distinct scores, ascending, with the weight of positives and negatives at each.

    Everything that depends on scores and a binary truth alone is a function of it: every threshold,
    the curves, AUC, average precision, log loss, Brier, calibration.

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
    """Where the columns lie when they are not held as arrays."""

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
            Scores that only zero-weight rows have do not appear.
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
        """Return the table whose columns were written."""
        scores, pos, neg = stored.columns()
        return cls(cast(Array, scores), cast(Array, pos), cast(Array, neg), stored)

    def __add__(self, other: ScoreTable) -> ScoreTable:
        return ScoreTable.merge_parts([self, other])

    @staticmethod
    def merge_parts(tables: Sequence[ScoreTable]) -> ScoreTable:
        """Return the sum of tables, whatever their number in one sort.

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
        """Yield the places from `start` to `stop` in blocks that stay in cache, lowest scores first."""
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
        """What ranking metrics share."""
        return RankingSums.from_table(self)

    @cached_property
    def probability(self) -> ProbabilitySums:
        """What metrics of probabilities share."""
        return ProbabilitySums.from_table(self)

    @cached_property
    def coarse(self) -> ScoreTable:
        """The table in blocks of neighbouring scores, when it is large."""
        return self if len(self) <= LARGE else ScoreTable(*coarse(self))

    def remake_with_sums(self, make: Callable[[], ScoreTable]) -> Callable[[], ScoreTable]:
        """Return what makes the table anew and leaves out the sums that are known of it now.

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
        """Return the sum of weight times score over the scores before a place."""
        block = place // BLOCK
        rest = slice(block * BLOCK, place)
        tail = (self.pos[rest] + self.neg[rest]) @ self.scores[rest]
        return float(self.probability.mass[block] + tail)

    @cached_property
    def cells(self) -> tuple[Array, Array, Array]:
        """Scores and weights where logistic fits to a table of probabilities start: see `cells`."""
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
        """The smooth calibration curve of a table of probabilities; None where it has no finite fit."""
        return smooth_curve(*self.cells, self._start)

    @cached_property
    def isotonic(self) -> IsotonicFit:
        """The share of positives as a function of the score that never falls."""
        return isotonic(self.scores, self.path, self.corners)

    @cached_property
    def corners(self) -> Places:
        """Places in `path` of the vertices of the ROC curve's convex hull."""
        return hull(self.path[1], self.path[0])


def pack(scores: npt.NDArray[Any], positive: npt.NDArray[np.bool_]) -> npt.NDArray[Any] | None:
    """Return score bits and truth in one unsigned word: exact, and a value sort beats any argsort.

    Floats in [0, 2) have their two top bits free, so that one shift loses nothing; None for others.

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
    """Return the scores of words.

    Examples
    --------
    >>> scores_in(np.array([2113929217], dtype=np.uint32))
    array([0.5], dtype=float32)
    """
    kind = np.float32 if packed.itemsize == 4 else np.float64
    scores: npt.NDArray[Any] = (packed >> packed.dtype.type(1)).view(kind)
    return scores


def counted_runs(packed: npt.NDArray[Any], *, spend: bool = False) -> tuple[Array, Array, Array]:
    """Return the distinct scores of sorted words, with the positives and negatives in each run of equal ones.

    In blocks that stay in cache: at 1e7 rows, arrays of full length cost more than the sort, most of it in
    pages of the system. Words that may be spent are written over by scores of eight bytes.
    """
    size, one = len(packed), packed.dtype.type(1)
    scores = packed.view(np.float64) if spend and packed.itemsize == 8 else np.empty(size)
    pos, neg = np.empty(size), np.empty(size)
    filled, open_rows, open_pos = 0, 0, 0  # the run that the block before left open
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
    kept = scores[:filled] if 2 * filled > size else scores[:filled].copy()  # not all words for a few scores
    return kept, pos[:filled], neg[:filled]


def insert_counted_scores(
    runs: tuple[Array, Array, Array], scores: Array, counted: Array
) -> tuple[Array, Array, Array]:
    """Return distinct scores with their counts, others put among them that were counted by their truth.

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
    """Return the same of some that stay in cache: scores as wide as they were, counts as whole numbers.

    Examples
    --------
    >>> runs_of(pack(np.array([0.25, 0.5, 0.5], dtype=np.float32), np.array([True, False, True])))
    (array([0.25, 0.5 ], dtype=float32), array([1, 1], dtype=int32), array([0, 1], dtype=int32))
    """
    one, kind = packed.dtype.type(1), np.int32 if len(packed) < 2**31 else np.int64
    truth = (packed & one).astype(kind)  # a sum that widens as it goes takes twice as long
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
"""Binary digits behind the first one that tell a bin: 2,048 bins from 1/4 to 1/2, and as many from 1/8. Two
million uniform scores fill 38,000 bins and have a bound of 3.3e-5 on ROC AUC (measured)."""
_SHIFT = 52 - DIGITS
NOT_TOLD = "scores in bins do not tell it: leave --set approximate out"
"""Why a number of scores in bins is undefined."""
_HALF, _ONE = (int(keys_of(np.array([at]))[0]) >> _SHIFT for at in (0.5, 1.0))

Bins = npt.NDArray[np.int64]

Bounds = tuple[float, float]
"""The lowest and the highest value that the bins allow."""


def bins_of(scores: npt.NDArray[Any]) -> Bins:
    """Return the bin of each score: whole numbers that sort as scores do.

    Examples
    --------
    >>> places = bins_of(np.array([-2.0, 0.1, 0.10001, 0.5, 0.99999, 1.0, 3.0]))
    >>> int(np.diff(places).min()), int(places[2] - places[1])
    (1, 1)
    """
    scores = scores.astype(np.float64)
    found: Bins = keys_of(scores) >> _SHIFT
    upper = (scores >= 0.5) & (scores <= 1)
    found[upper] = 2 * _HALF + (-keys_of(1 - scores[upper]) >> _SHIFT)  # both steps without rounding
    found[scores > 1] += 2 * _HALF - _ONE
    return found


def edges_of(bins: Bins) -> Array:
    """Return the least score of each bin.

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
    """Positives and negatives in each bin of scores; `scores` are the least that each bin may hold.

    At these, as thresholds, counts are exact. Metrics of the scores are given with bounds, or not at all.

    Examples
    --------
    >>> table = BinnedTable(edges_of(bins_of(np.array([0.1, 0.7]))), np.ones(2), np.zeros(2))
    >>> table.tp, bool((table.ends > [0.1, 0.7]).all())
    (array([2., 1.]), True)
    """

    @cached_property
    def ends(self) -> Array:
        """What the scores of each bin stay below."""
        return edges_of(bins_of(self.scores) + 1)

    @staticmethod
    def merge_parts(tables: Sequence[ScoreTable]) -> BinnedTable:
        """Return the sum of tables of bins."""
        whole = ScoreTable.merge_parts(tables)
        return BinnedTable(whole.scores, whole.pos, whole.neg)

    def check_edge(self, threshold: float) -> None:
        """Refuse a threshold on whose both sides a bin has scores.

        Raises
        ------
        UsageError
            Names the edges next to it.
        """
        inside = bins_of(np.array([threshold]))
        below, above = edges_of(np.append(inside, inside + 1)).tolist()
        if below < threshold and below in self.scores:
            raise UsageError(
                f"a threshold of {threshold:.10g} is inside a bin of scores",
                where="--set approximate",
                fix=f"pass {below!r} or {above!r}, edges of the bin, or leave --set approximate out",
            )

"""Scores of several labels, one column per label; metrics read them label by label."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.statistics.confusion import Array, sums
from evalreport.statistics.rankings import Placing, Rankings, rank_classes, rank_labels, rank_pooled
from evalreport.statistics.score_table import ScoreTable, counted_runs, pack, scores_in

BINS = 15
"""Equal-width calibration bins."""
CELLS = 1 << 17
"""(row, label) cells counted at a time: a megabyte, which fits a second-level cache."""
KEPT = 1 << 23
"""Most distinct scores of cached tables of weighted multilabel rows: 40 bytes each, with cumulative sums."""


def bin_of(values: npt.NDArray[Any], bins: int = BINS) -> npt.NDArray[np.int64]:
    """Return the right-closed equal-width bin of values in [0, 1]; the first bin includes 0.

    Examples
    --------
    >>> bin_of(np.array([0.0, 0.2, 0.21, 1.0]), 5)
    array([0, 0, 1, 4])
    """
    edges = np.linspace(0, 1, bins + 1)
    place: npt.NDArray[np.int64] = np.ceil(values * bins).astype(np.int64) - 1
    np.clip(place, 0, bins - 1, out=place)
    place -= (values <= edges[place]) & (place > 0)  # the product is rounded: the edges decide
    place += (values > edges[place + 1]) & (place < bins - 1)
    return place


def right_between(
    values: npt.NDArray[Any], truth: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the thresholds, exclusive and inclusive, between which all labels of a row are correct.

    The lower one is the highest score of a label that the row does not have, the upper one the lowest score
    of a label that it has. If the lower is not below the upper, no threshold is correct for the row.

    Parameters
    ----------
    values, truth : arrays of shape (n, K)

    Examples
    --------
    >>> right_between(np.array([[0.9, 0.2], [0.3, 0.6]]), np.array([[True, False], [True, True]]))
    (array([ 0.2, -inf]), array([0.9, 0.3]))
    """
    low = np.where(truth, values.dtype.type(-np.inf), values).max(axis=1)
    return low, np.where(truth, values, values.dtype.type(np.inf)).min(axis=1)


def _of_type(at: Array, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """The least numbers of the scores' type that are at least `at`: the same scores reach them."""
    near = at.astype(dtype)
    return np.where(near < at, np.nextafter(near, dtype.type(np.inf)), near)


class LabelScores(ABC):
    """Scores of several labels with the true labels, one column per label, as metrics and curves use them.

    `ClassScores` contain every row; `PlacedScores` and `LabelTables` contain counts of streamed rows.
    """

    @abstractmethod
    def __len__(self) -> int:
        """Number of rows."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of labels K."""

    @property
    @abstractmethod
    def weight(self) -> float:
        """Weight of all rows."""

    @property
    @abstractmethod
    def rankings(self) -> Rankings:
        """Areas of each label against all others."""

    @property
    @abstractmethod
    def pooled_areas(self) -> tuple[float, float]:
        """ROC AUC and average precision of all (row, label) decisions pooled."""

    @abstractmethod
    def pooled_merged_table(self) -> ScoreTable:
        """Return the table of all decisions pooled; negatives without a positive between them are merged."""

    @abstractmethod
    def own(self, label: int) -> tuple[npt.NDArray[Any], Array]:
        """Return the label's scores of the rows with the label, and their weights."""

    @abstractmethod
    def take(self, rows: npt.NDArray[Any]) -> ClassScores:
        """Return some rows."""


class RankedScores(LabelScores):
    """Scores of several labels with the exact table of each label, and that of all decisions pooled."""

    @abstractmethod
    def table(self, label: int) -> ScoreTable:
        """Return the one-vs-rest table of a label."""

    @abstractmethod
    def pooled_table(self) -> ScoreTable:
        """Return the table of all (row, label) decisions pooled, as for micro averages."""

    def reaching(self, label: int, at: Array) -> tuple[Array, Array, float]:
        """Return the weight of positives and of all rows at or above thresholds, and of all positives.

        Parameters
        ----------
        label : int
        at : float64 array
            Thresholds; rows with this score or a higher one are counted.
        """
        table = self.table(label)
        flagged = len(table) - np.searchsorted(table.scores, at)
        tp, fp = (path[flagged] for path in table.path)
        return tp, tp + fp, table.positives

    @abstractmethod
    def wholly_right(self, at: Array) -> Array:
        """Return the weight of rows whose labels are all predicted correctly with one threshold for all.

        Parameters
        ----------
        at : float64 array
            Thresholds, ascending.
        """


@dataclass(frozen=True, eq=False)
class ClassScores(RankedScores):
    """The score matrix with the true labels; exact one-vs-rest tables are built from it on demand.

    Only the rows are exact: one-vs-one AUC needs each column by true class. Adding concatenates rows.

    Parameters
    ----------
    scores : float array of shape (n, K)
    truth : int32 codes of shape (n,) for multiclass, bool of shape (n, K) for multilabel
    weights : float64 array of shape (n,), or None if every row has weight 1

    Examples
    --------
    >>> facts = ClassScores(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0, 1]), None)
    >>> facts.table(0).tp, len(facts + facts)
    (array([1., 1.]), 4)
    """

    scores: npt.NDArray[Any]
    truth: npt.NDArray[Any]
    weights: Array | None
    _kept: dict[int, ScoreTable] = field(default_factory=dict, init=False, repr=False)

    def __len__(self) -> int:
        return len(self.scores)

    def __add__(self, other: ClassScores) -> ClassScores:
        return ClassScores.merge_parts([self, other])

    @staticmethod
    def merge_parts(shards: Sequence[ClassScores]) -> ClassScores:
        """Return the rows of all shards, copied once."""
        weighted = any(one.weights is not None for one in shards)
        return ClassScores(
            np.concatenate([one.scores for one in shards]),
            np.concatenate([one.truth for one in shards]),
            np.concatenate([one.row_weights for one in shards]) if weighted else None,
        )

    @property
    def row_weights(self) -> Array:
        """Weights of the rows, ones if none were given."""
        return np.ones(len(self)) if self.weights is None else self.weights

    @property
    def size(self) -> int:
        """Number of labels K."""
        return int(self.scores.shape[1])

    @property
    def weight(self) -> float:
        """Weight of all rows."""
        return float(self.row_weights.sum())

    def own(self, label: int) -> tuple[npt.NDArray[Any], Array]:
        """Return the label's scores of the rows with the label, and their weights."""
        carried = np.flatnonzero(self.positive(label))
        own = np.ones(len(carried)) if self.weights is None else self.weights[carried]
        return self.scores[carried, label], own

    def take(self, rows: npt.NDArray[Any]) -> ClassScores:
        """Return some rows."""
        weights = None if self.weights is None else self.weights[rows]
        return ClassScores(self.scores[rows], self.truth[rows], weights)

    def positive(self, label: int) -> npt.NDArray[np.bool_]:
        """Return which rows have a label, shape (n,)."""
        found: npt.NDArray[np.bool_] = self.truth[:, label] if self.truth.ndim == 2 else self.truth == label
        return found

    def table(self, label: int) -> ScoreTable:
        """Return the one-vs-rest table of a label; weighted multilabel tables are cached up to `KEPT`."""
        if label not in self._kept:
            made, few = self.maker(label)(), self.truth.ndim == 1 or self._words is not None
            if sum(map(len, self._kept.values())) > (0 if few else KEPT) - len(made):
                self._kept.clear()
            self._kept[label] = made
        return self._kept[label]

    def reaching(self, label: int, at: Array) -> tuple[Array, Array, float]:
        """Return the same; sorted words need no table."""
        if self._words is None:
            return super().reaching(label, at)
        mine, at = self._words[label], _of_type(at, self.scores.dtype)
        own = mine[(mine & mine.dtype.type(1)).astype(np.bool_)]
        tp, every = (
            (len(some) - np.searchsorted(scores_in(some), at)).astype(np.float64) for some in (own, mine)
        )
        return tp, every, float(len(own))

    def maker(self, label: int) -> Callable[[], ScoreTable]:
        """Return a function that builds a label's table; it keeps only the rows or their sorted words."""
        if self._words is not None:
            words = self._words[label]
            return lambda: ScoreTable(*counted_runs(words))
        values, positive, weights = self.scores, self.positive(label), self.weights
        return lambda: ScoreTable.from_scores(np.ascontiguousarray(values[:, label]), positive, weights)

    @cached_property
    def _words(self) -> npt.NDArray[Any] | None:
        """Multilabel: the sorted words of each label, shape (K, n); None for weights or unpackable scores."""
        several = self.truth.ndim == 2 and self.weights is None
        words = pack(self.scores, self.truth) if several else None
        if words is not None:
            words = np.ascontiguousarray(words.T)
            words.sort(axis=1)
        return words

    def tables(self) -> Iterator[ScoreTable]:
        """Yield the one-vs-rest table of each label in turn."""
        return (self.table(label) for label in range(self.size))

    def pooled_table(self) -> ScoreTable:
        """Return the table of all (row, label) decisions pooled, as for micro averages."""
        return self._pooled_table

    @cached_property
    def _pooled_words(self) -> npt.NDArray[Any] | None:
        """The sorted words of all labels; runs merged by a stable sort take more than twice as long."""
        return None if self._words is None else np.sort(self._words, axis=None)

    @cached_property
    def _pooled_table(self) -> ScoreTable:
        words, spend = self._pooled_words, "_pooled_ranks" in vars(self)
        if words is not None:
            if spend:  # nothing else reads the words: the scores overwrite them
                del vars(self)["_pooled_words"]
            return ScoreTable(*counted_runs(words, spend=spend))
        truth = self.truth if self.truth.ndim == 2 else self.truth[:, None] == np.arange(self.size)
        weights = None if self.weights is None else np.repeat(self.weights, self.size)
        return ScoreTable.from_scores(self.scores.ravel(), truth.ravel(), weights)

    def wholly_right(self, at: Array) -> Array:
        """Return the weight of rows whose labels are all correct, at each of ascending thresholds."""
        change, step = np.zeros(len(at) + 1), max(1, CELLS // self.size)
        at = _of_type(at, self.scores.dtype)
        for start in range(0, len(self), step):
            rows = slice(start, start + step)
            low, high = right_between(self.scores[rows], self.truth[rows])
            can = low < high
            weights = None if self.weights is None else self.weights[rows][can]
            for ends, sign in ((low, 1), (high, -1)):
                change += sign * sums(np.searchsorted(at, ends[can], "right"), weights, len(change))
        return change[:-1].cumsum()

    @cached_property
    def rankings(self) -> Rankings:
        """Areas of each label against all others, computed once for all their averages."""
        if self.truth.ndim == 1:
            return rank_classes(*self._weighted_rows())
        words = self._words
        return rank_labels(
            map(Placing.of_table, self.tables()) if words is None else map(Placing.of_words, words)
        )

    @cached_property
    def _pooled_ranks(self) -> tuple[float, float, ScoreTable]:
        if self.truth.ndim == 2:
            words = self._pooled_words
            placing = Placing.of_table(self.pooled_table()) if words is None else Placing.of_words(words)
            return *placing.areas(), placing.table()
        return rank_pooled(*self._weighted_rows())

    @property
    def pooled_areas(self) -> tuple[float, float]:
        """ROC AUC and average precision of all (row, label) decisions pooled."""
        return self._pooled_ranks[:2]

    def pooled_merged_table(self) -> ScoreTable:
        """Return the table of all decisions pooled; negatives without a positive between them are merged."""
        return self._pooled_ranks[2]

    def _weighted_rows(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any], Array | None]:
        """Scores, true labels and weights of the rows with a weight above 0."""
        if self.weights is None or self.weights.all():
            return self.scores, self.truth, self.weights
        kept = self.weights > 0
        return self.scores[kept], self.truth[kept], self.weights[kept]


@dataclass(frozen=True, eq=False)
class ClassBins:
    """Weight, summed probability and positives per label and equal-width bin of its probability.

    Parameters
    ----------
    weight, probability, positives : float64 arrays of shape (K, 15)

    Examples
    --------
    >>> float(
    ...     ClassBins.from_scores(
    ...         np.array([[0.9, 0.1]]), np.array([[True, False]]), np.ones(1)
    ...     ).weight.sum()
    ... )
    2.0
    """

    weight: Array
    probability: Array
    positives: Array

    @classmethod
    def from_scores(
        cls, scores: npt.NDArray[Any], truth: npt.NDArray[np.bool_], weights: Array | None = None
    ) -> ClassBins:
        """Bin probabilities of shape (n, K) with the true labels as indicators.

        With many classes most probabilities are in the first bin: it is the column's total minus the other
        bins.
        """
        size = scores.shape[1]
        cell = np.flatnonzero(scores > 1 / BINS)  # flat positions take half the time of (row, label) pairs
        high, positive = scores.ravel()[cell].astype(np.float64), truth.ravel()[cell]
        place = cell % size * BINS + bin_of(high)
        weight = None if weights is None else weights[cell // size]

        def total(everything: Any, where: npt.NDArray[Any], some: Array | None) -> Array:
            binned = sums(where, some, size * BINS).reshape(size, BINS)
            binned[:, 0] += np.maximum(everything - binned.sum(axis=1), 0)
            return binned

        everyone = np.full(size, len(scores) if weights is None else weights.sum())
        chances = scores.sum(axis=0, dtype=np.float64) if weights is None else weights @ scores
        carriers = truth.sum(axis=0) if weights is None else weights @ truth
        return cls(
            total(everyone, place, weight),
            total(chances, place, high if weight is None else weight * high),
            total(carriers, place[positive], None if weight is None else weight[positive]),
        )

    def __add__(self, other: ClassBins) -> ClassBins:
        return ClassBins(
            self.weight + other.weight,
            self.probability + other.probability,
            self.positives + other.positives,
        )

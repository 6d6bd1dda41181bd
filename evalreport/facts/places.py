"""Scores of several classes that go by twice: exact areas without the matrix of rows and classes.

First each row's score of its own class is kept. Then every cell is placed among the scores that the examples
of its class have, and only how many stand where is counted: an area is a sum over the places.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.errors import DataError
from evalreport.facts.classes import ClassScores, LabelScores
from evalreport.facts.columns import StoredColumns
from evalreport.facts.counts import Array, sums
from evalreport.facts.ladders import Ladder, TablesMade, between
from evalreport.facts.rankings import Placing, Rankings, class_rankings
from evalreport.facts.table import ScoreTable


class OwnScores:
    """The score that each row has of its own class: eight bytes a row, and two for the class.

    Examples
    --------
    >>> own = OwnScores(2)
    >>> own.add(np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]]), np.array([0, 1, 0]))
    >>> own.sorted()
    [array([0.6, 0.9]), array([0.8])]
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._parts: list[tuple[npt.NDArray[Any], npt.NDArray[np.uint16]]] = []

    def __len__(self) -> int:
        return sum(len(own) for own, _ in self._parts)

    def add(self, scores: npt.NDArray[Any], truth: npt.NDArray[Any]) -> None:
        """Take rows: scores of shape (n, K) and codes of shape (n,)."""
        self._parts.append((scores[np.arange(len(truth)), truth], truth.astype(np.uint16)))

    def sorted(self) -> list[npt.NDArray[Any]]:
        """Return the scores class by class, ascending; nothing is kept behind."""
        kind = np.result_type(*(own.dtype for own, _ in self._parts)) if self._parts else np.float64
        support = sum((sums(truth, None, self._size) for _, truth in self._parts), np.zeros(self._size))
        found = [np.empty(int(rows), dtype=kind) for rows in support]
        filled = np.zeros(self._size, dtype=np.intp)
        while self._parts:
            own, truth = self._parts.pop()
            order = np.argsort(truth, kind="stable")
            ends = np.cumsum(np.bincount(truth, minlength=self._size))
            for label, part in enumerate(np.split(own[order], ends[:-1])):
                found[label][filled[label] : filled[label] + len(part)] = part
            filled += np.diff(ends, prepend=0)
        for values in found:
            values.sort()
        return found

    def placed(self, wanted: npt.NDArray[Any]) -> ScorePlaces:
        """Return what places the same rows, which go by again, of which some are kept whole."""
        return ScorePlaces(self.sorted(), wanted)


class KeptRows:
    """Rows that go by for the second time, of which some are kept whole.

    Parameters
    ----------
    wanted : int array, ascending
        Rows that are kept.

    Examples
    --------
    >>> kept = KeptRows(np.array([1]))
    >>> kept.add(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0, 1]))
    >>> kept.take(np.array([1])).scores
    array([[0.2, 0.8]])
    """

    def __init__(self, wanted: npt.NDArray[Any]) -> None:
        self.wanted = wanted
        self._parts: list[ClassScores] = []
        self._rows = 0

    def add(self, scores: npt.NDArray[Any], truth: npt.NDArray[Any]) -> None:
        """Take rows, in the order of before: scores of shape (n, K), truth of shape (n,) or (n, K)."""
        start, stop = np.searchsorted(self.wanted, [self._rows, self._rows + len(truth)])
        rows = self.wanted[start:stop] - self._rows
        self._parts.append(ClassScores(scores[rows], truth[rows], None))
        self._rows += len(truth)

    @property
    def kept(self) -> KeptRows:
        """What keeps rows."""
        return self

    @property
    def rows(self) -> ClassScores:
        """The rows that were kept."""
        return self.shards[0][2]

    def part(self, start: int, stop: int) -> KeptRows:
        """Return what keeps those of the rows between two that are to be kept."""
        first, last = np.searchsorted(self.wanted, [start, stop])
        return KeptRows(self.wanted[first:last] - start)

    def take_parts(self, rows: int, parts: Iterable[ClassScores]) -> None:
        """Take over what parts of all rows, in their order, have kept."""
        self._parts, self._rows = list(parts), rows

    def check_all(self, total: int) -> None:
        """Check that all rows of before went by.

        Raises
        ------
        DataError
        """
        if self._rows != total:
            raise DataError(
                f"the files held {total:,} rows when they were read first, and {self._rows:,} then",
                fix="read files that nobody writes to",
            )

    @cached_property
    def shards(self) -> tuple[tuple[int, npt.NDArray[Any], ClassScores]]:
        """Number of rows, those that were kept, and what stands in them."""
        return ((self._rows, self.wanted, ClassScores.merged(self._parts)),)

    def take(self, rows: npt.NDArray[Any]) -> ClassScores:
        """Return some of the rows that were kept."""
        return self.rows.take(np.searchsorted(self.wanted, rows))


class KeptShards:
    """Rows that several shards kept, each in its own order.

    Where a row is asked for that was not kept, others of its shard stand for it: each shard kept some at
    random, at least as many as its share of those that are looked at of the whole.

    Parameters
    ----------
    shards : sequence of (number of rows, int array of those that were kept, ClassScores of them)

    Examples
    --------
    >>> one = ClassScores(np.array([[0.9, 0.1]]), np.array([[True, False]]), None)
    >>> kept = KeptShards([(5, np.array([3]), one), (5, np.array([0]), one)])
    >>> len(kept.take(np.array([1, 7])))
    2
    """

    def __init__(self, shards: Sequence[tuple[int, npt.NDArray[Any], ClassScores]]) -> None:
        self.shards = tuple(shards)

    def take(self, rows: npt.NDArray[Any]) -> ClassScores:
        """Return some of the rows that were kept, ascending, or as many others.

        Raises
        ------
        DataError
            A shard kept none.
        """
        ends = np.cumsum([size for size, *_ in self.shards])
        parts = np.split(rows, np.searchsorted(rows, ends[:-1]))
        found = []
        for asked, start, (_, wanted, kept) in zip(parts, [0, *ends[:-1]], self.shards, strict=True):
            places = np.searchsorted(wanted, asked - start)
            if not np.isin(asked - start, wanted).all():
                places = np.linspace(0, len(wanted), len(asked), endpoint=False).astype(np.intp)
            if len(wanted) < len(asked):
                raise DataError(
                    "the facts keep too few rows for intervals", fix="pass --confidence none here, too"
                )
            found.append(kept.take(places))
        return ClassScores.merged(found)


class ScorePlaces:
    """Rows that go by for the second time, counted by where their scores stand.

    Parameters
    ----------
    own : sequence of float arrays, one per class, ascending
        Of `OwnScores`.
    wanted : int array, ascending
        Rows that are kept whole.

    Examples
    --------
    >>> own, scores = OwnScores(2), np.array([[0.9, 0.1], [0.2, 0.8]])
    >>> own.add(scores, np.array([0, 1]))
    >>> places = ScorePlaces(own.sorted(), np.array([1]))
    >>> places.add(scores, np.array([0, 1]))
    >>> facts = places.scores()
    >>> facts.rankings.roc_auc, facts.take(np.array([1])).truth
    (array([1., 1.]), array([1]))
    """

    def __init__(self, own: Sequence[npt.NDArray[Any]], wanted: npt.NDArray[Any]) -> None:
        self._total = sum(map(len, own))
        self._each = [Placing(Ladder(values), float(self._total)) for values in own]
        self._pool = Placing(Ladder(np.sort(np.concatenate(own))), float(self._total * len(own)))
        self._against = np.zeros((len(own), len(own)))
        self.kept = KeptRows(wanted)

    def add(self, scores: npt.NDArray[Any], truth: npt.NDArray[Any]) -> None:
        """Place rows, in the order of before: scores of shape (n, K) and codes of shape (n,)."""
        self.kept.add(scores, truth)
        for label, column in enumerate(np.ascontiguousarray(scores.T)):
            order = np.argsort(column)
            outranked = self._each[label].above(self._each[label].add_sorted(column[order]))
            self._against[label] += sums(truth[order], outranked, len(self._each))
        self._pool.add_sorted(np.sort(scores, axis=None))

    def scores(self) -> PlacedScores:
        """Return what was counted.

        Raises
        ------
        DataError
            Not the rows of before went by.
        """
        self.kept.check_all(self._total)
        return PlacedScores(self._each, self._pool, self._against, self.kept)


class PlacedScores(LabelScores):
    """Scores of several classes of which only the places were counted, row by row or range by range."""

    def __init__(self, each: Sequence[Placing], pool: Placing, against: Array, kept: KeptRows) -> None:
        self._each, self._pool, self._against, self._kept = each, pool, against, kept
        self._support = np.array([placing.positives for placing in each])

    def __len__(self) -> int:
        return int(self._support.sum())

    @property
    def size(self) -> int:
        """Number of labels K."""
        return len(self._each)

    @property
    def weight(self) -> float:
        """Weight of all rows, each 1."""
        return float(len(self))

    def own(self, label: int) -> tuple[npt.NDArray[Any], Array]:
        """Return the label's distinct scores of the rows that carry it, ascending, and how many have each."""
        return self._each[label].values, self._each[label].weights

    def take(self, rows: npt.NDArray[Any]) -> ClassScores:
        """Return some of the rows that were kept."""
        return self._kept.take(rows)

    @cached_property
    def rankings(self) -> Rankings:
        """Areas of each label against all others, computed once for every average of them."""
        tables = TablesMade([placing.table for placing in self._each])
        return class_rankings(zip(self._each, self._against, strict=True), self._support, tables)

    @cached_property
    def pooled_areas(self) -> tuple[float, float]:
        """ROC AUC and average precision of all (row, label) decisions together."""
        return self._pool.areas()

    def pooled_merged(self) -> ScoreTable:
        """Return the table of all decisions together, negatives merged that no positive lies between."""
        stored = StoredColumns(np.float64, None, _Between(self._pool.values))
        for piece in self._pool.runs():
            stored.append(*piece)
        return ScoreTable.of_stored(stored)


class _Between:
    """Distinct scores, and what lies between them: worked out where it is looked at."""

    def __init__(self, values: npt.NDArray[Any]) -> None:
        self._values = values

    def __len__(self) -> int:
        return 2 * len(self._values) + 1

    def append(self, values: npt.NDArray[Any]) -> None:
        """Leave what is known."""

    def read(self, start: int, stop: int) -> Array:
        """Return the numbers between two places."""
        first = max(start // 2 - 1, 0)
        here = between(self._values[first : stop // 2 + 1].astype(np.float64))
        return here[start - 2 * first : stop - 2 * first]

    def rows(self, places: npt.NDArray[Any], wide: int) -> Array:
        """Return `wide` numbers from each place on."""
        return np.stack([self.read(place, place + wide) for place in places.tolist()])

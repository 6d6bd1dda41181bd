"""Scores on their way into a table: one packed word for each row, kept in ranges, on disk where asked.

A word holds the bits of a probability with the truth in the lowest one, so that words sort as scores do.
Words that fall between the same edges are kept together, and a range is sorted when all of it is there:
whatever the edges are, the table is exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol
from weakref import WeakSet, finalize

import numpy as np
import numpy.typing as npt

from evalreport.core.errors import DataError
from evalreport.features.large.spill import FILES, Spill, SpillFile, StoredColumns, WordRange, map_values
from evalreport.statistics.confusion import Array
from evalreport.statistics.score_table import (
    BinnedTable,
    Bins,
    ScoreTable,
    bins_of,
    edges_of,
    insert_counted_scores,
    pack,
    runs_of,
    scores_in,
)

RANGES = 64
"""Number of ranges of packed scores: each has about a hundredth of the rows, and is sorted separately."""
PART = 1 << 15
"""Words that are counted at a time: they and what is made of them stay in a second-level cache."""
FEW = 1 << 14
"""Distinct scores up to which a table is held as arrays in any case: intervals go through so many at once."""
ARRAYS = 160
"""Bytes of the budget for each distinct score from which a table is held as arrays, which are read faster:
four times what they take, with their running sums."""
ROW = 6
"""Bytes that a distinct score takes in a table that is stored, of float32."""
STEPS = 16
"""Bits of the steps that edges of ranges lie between: their table stays in a second-level cache."""
HEAVY = 64
"""A score that one row in so many has, is counted instead of being kept."""
WHOLE = 1 << 24
"""Words up to which all are one range: to sort so many takes no longer than to part them first."""

Words = npt.NDArray[Any]


class Holder(Protocol):
    """An object that holds scores in memory, and can write them to the folder of its budget."""

    held: int
    """Bytes in memory."""

    def write(self) -> None:
        """Write all that is in memory."""


class MemoryAccount:
    """What all holders of one budget hold together, and the files that they share."""

    def __init__(self) -> None:
        self.holders: WeakSet[Holder] = WeakSet()
        self.tables = 0
        """Bytes of the tables in memory, as arrays or as columns."""
        self.spill: Spill | None = None

    @property
    def held_bytes(self) -> int:
        """Bytes of words in memory."""
        return sum(one.held for one in self.holders)

    @property
    def used_bytes(self) -> int:
        """Bytes of words and tables in memory."""
        return self.held_bytes + self.tables

    def count(self, stored: object, size: int) -> None:
        """Count an object of so many bytes in memory, as long as it is used."""
        self.tables += size
        finalize(stored, self._release, size)

    def _release(self, size: int) -> None:
        self.tables -= size


@dataclass(frozen=True)
class Budget:
    """How much memory the words of all holders together may take, and the folder that they go to beyond it.

    Parameters
    ----------
    memory : int
        Bytes.
    spill : Path or None
        Without it, words stay in memory.
    setting : str
        What names that folder: a variable, or a setting of Spark.
    """

    memory: int = 1 << 30
    spill: Path | None = None
    setting: str = "TMPDIR"
    edges: ClassVar[None] = None
    ledger: MemoryAccount = field(default_factory=MemoryAccount, compare=False, repr=False)

    def holder(self) -> ScoreWords:
        """Return what holds the scores of one table."""
        return ScoreWords(self)

    def files(self) -> Spill | None:
        """Return the files beyond memory; None where there is no folder for them."""
        if self.ledger.spill is None and self.spill is not None:
            self.ledger.spill = Spill(self.spill)
        return self.ledger.spill

    def has_room(self, size: int) -> bool:
        """Return whether a table of so many distinct scores may be held as arrays, and count it as one."""
        if size <= FEW:
            return True
        fits = self.ledger.used_bytes + size * ARRAYS <= self.memory
        self.ledger.tables += size * ARRAYS if fits else 0
        return fits

    def array(self, size: int, kind: npt.DTypeLike) -> npt.NDArray[Any]:
        """Return zeros of shape (size,): in memory within the budget, else in a file of the folder.

        Raises
        ------
        DataError
            The folder is full.
        """
        wide = size * np.dtype(kind).itemsize
        if self.spill is None or self.ledger.used_bytes + wide <= self.memory:
            found = np.zeros(size, dtype=kind)
            self.ledger.count(found, wide)
            return found
        try:
            return map_values(self.spill, size, kind)
        except OSError as error:
            raise self.no_room(wide) from error

    def is_over(self, size: int) -> bool:
        """Return whether the columns of so many distinct scores are to be kept in the folder."""
        return self.spill is not None and self.ledger.used_bytes + size * ROW > self.memory

    @property
    def words(self) -> int:
        """Bytes that words in memory may take: half, as the table that is made of them takes as much."""
        return self.memory // 2

    def spill_if_over_budget(self) -> None:
        """Write the words of all holders where they take more than their part of the memory.

        Raises
        ------
        DataError
            The folder is full.
        """
        if self.spill is not None and self.ledger.held_bytes > self.words:
            for one in [*self.ledger.holders]:
                one.write()

    @property
    def budget(self) -> Budget:
        """What tables that are made of others may take."""
        return self

    def keys(self) -> KeyCounter:
        """Return what counts keys."""
        return KeyCounter(self)

    def no_room(self, need: int) -> DataError:
        """Return the error of a disk that is full, or a folder that cannot be written to."""
        return DataError(
            f"the folder has less room than the {need / 1e6:,.1f} MB that are to be written",
            where=f"{self.setting} {self.spill}",
            fix=f"name a folder with more room by {self.setting}, or pass more --set memory",
        )


class ScoreWords:
    """Scores with a binary truth, batch by batch, and the exact table of them all.

    Examples
    --------
    >>> words = ScoreWords(Budget(memory=1 << 16))
    >>> for batch in ([0.9, 0.1], [0.9, 0.4]):
    ...     words.add(np.array(batch), np.array([True, False]))
    >>> words.table().scores, len(words)
    (array([0.1, 0.4, 0.9]), 4)
    """

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._ranges = [WordRange()]
        self._kind: np.dtype[Any] = np.dtype(np.uint64)
        self._edges: Words = np.empty(0, dtype=np.uint64)
        self._heavy: Words = self._edges
        self._counted = np.zeros((2, 0))
        self._ends, self._shift, self._range_of = (self._edges, self._edges), np.uint64(0), self._edges
        self._loose: list[tuple[Array, npt.NDArray[np.bool_]]] = []
        self._files: list[SpillFile] = []
        self.held = self._rows = 0
        """Bytes of words in memory, and rows."""
        budget.ledger.holders.add(self)

    def __len__(self) -> int:
        return self._rows

    def __enter__(self) -> ScoreWords:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give back memory and files."""
        for one in self._ranges:
            one.close()
        while self._files:
            self._files.pop().leave()
        self.held = 0

    def add(self, scores: npt.NDArray[Any], positive: npt.NDArray[np.bool_]) -> None:
        """Take some rows: scores of shape (n,), float32 or float64, always of one of them, and their truth.

        Raises
        ------
        DataError
            The folder of the budget is full.
        """
        words = None if self._loose else pack(scores, positive)
        if words is None or (len(self) and words.dtype != self._kind):
            self._loose.append((scores.astype(np.float64), positive))
        else:
            self._take(words)
        self._rows += len(scores)

    def _take(self, words: Words) -> None:
        if not len(words):
            return
        self._kind = words.dtype
        self.held += words.nbytes
        if len(self._edges):
            self._place(words)
        else:
            self._ranges[0].held.append(words)
            if self.held > min(WHOLE, self._sort_limit) * self._kind.itemsize:
                self._part()
        self._budget.spill_if_over_budget()

    @property
    def _sort_limit(self) -> int:
        """Words of a range that are sorted at a time."""
        return max(self._budget.memory // 4 // self._kind.itemsize, RANGES**2)

    def _part(self) -> None:
        """Part the words that are one range until now."""
        pieces = [*self._ranges[0].pieces(self._sort_limit)]
        self._begin(np.sort(pieces[-1]))
        while pieces:
            self._place(pieces.pop())

    def _place(self, words: Words) -> None:
        """Put words into their ranges, in no order: to sort what is sorted later costs four times as much."""
        if len(self._heavy):
            self.held -= words.nbytes
            words = self._count(np.sort(words))
            self.held += words.nbytes
        steps = np.clip(words, *self._ends) - self._ends[0] >> self._shift
        ranges = self._range_of[steps.astype(np.uint16)]
        stops = np.bincount(ranges, minlength=len(self._ranges)).cumsum()
        parts = np.split(words[np.argsort(ranges, kind="stable")], stops[:-1])  # of bytes: a radix sort
        for one, part in zip(self._ranges, parts, strict=True):
            if len(part):
                one.held.append(part.copy())  # a view would keep the whole batch

    def _count(self, words: Words) -> Words:
        """Count the sorted words whose scores are counted, and return the others."""
        for place, heavy in enumerate(self._heavy):
            start, middle, stop = np.searchsorted(words, [heavy, heavy + 1, heavy + 2]).tolist()
            self._counted[:, place] += middle - start, stop - middle
            words = np.concatenate([words[:start], words[stop:]])
        return words

    def _begin(self, words: Words) -> None:
        """Settle edges and scores that are counted by one batch, sorted; any of them are exact."""
        one = words.dtype.type(1)
        scores, times = np.unique(words >> one, return_counts=True)
        self._heavy = scores[times * HEAVY > len(words)] << one
        self._counted = np.zeros((2, len(self._heavy)))
        light = words[~np.isin(words >> one, self._heavy >> one)]
        quantiles = (light if len(light) else words)[np.arange(1, RANGES) * (len(light) or 1) // RANGES]
        low = (quantiles[0] >> one) << one
        self._ends = low, max(quantiles[-1], low + one + one)
        # Edges lie on steps between these ends, so that a table tells the range of a word. They are even:
        # words of one score stay together. The last of them parts words whatever they are.
        reach = self._ends[1] - low
        self._shift = words.dtype.type(max(1, int(reach).bit_length() - STEPS))
        steps = np.unique(np.append(quantiles - low, reach) >> self._shift)
        self._edges = low + (steps[steps > 0] << self._shift)
        every = low + (np.arange(1 << STEPS, dtype=words.dtype) << self._shift)
        self._range_of = np.searchsorted(self._edges, every, side="right").astype(np.uint8)
        self._ranges = [WordRange() for _ in range(len(self._edges) + 1)]

    def write(self) -> None:
        """Write the words that are in memory.

        Raises
        ------
        DataError
            The folder of the budget is full.
        """
        spill = self._budget.files()
        if spill is None or not self.held:
            return
        if not len(self._edges):
            self._part()
        try:
            if not self._files:
                share = max(1, FILES // len(self._budget.ledger.holders))
                self._files = [spill.file().join() for _ in range(share)]
            for number, one in enumerate(self._ranges):
                one.write(self._files[number * len(self._files) // len(self._ranges)])
        except OSError as error:
            need = self.held
            self.close()
            raise self._budget.no_room(need) from error
        self.held = 0

    def table(self) -> ScoreTable:
        """Return the table of all rows that were added; nothing is kept behind."""
        if self._loose:
            return self._of_loose()
        kind = np.float32 if self._kind.itemsize == 4 else np.float64
        table = table_of_runs(self._runs(), kind, self._budget, written=bool(self._files))
        self.close()
        return table

    def _of_loose(self) -> ScoreTable:
        """Scores outside of [0, 2) do not fit into a word with their truth: they are sorted as a whole."""
        apart = [ScoreTable(*runs) for runs in self._runs()]
        rows = [(np.empty(0), np.empty(0, dtype=bool)), *self._loose]
        scores, positive = (np.concatenate(parts) for parts in zip(*rows, strict=True))
        self._loose = []
        return ScoreTable.merge_parts([*apart, ScoreTable.from_scores(scores, positive)])

    def _runs(self) -> Iterator[tuple[Array, Array, Array]]:
        """Distinct scores with their positives and negatives, range by range, ascending."""
        place = np.searchsorted(self._edges, self._heavy, side="right")
        for number, one in enumerate(self._ranges):
            yield from self._of_range(one, self._heavy[place == number], self._counted[:, place == number])

    def _of_range(self, one: WordRange, heavy: Words, counted: Array) -> Iterator[tuple[Array, Array, Array]]:
        if self._budget.spill is not None and len(one) > self._sort_limit:
            yield from self._split_range(one, heavy, counted)
            return
        words, filled = np.empty(len(one), dtype=self._kind), 0
        for piece in one.pieces(self._sort_limit):
            words[filled : filled + len(piece)] = piece
            filled += len(piece)
        words.sort()
        bit = words.dtype.type(1)
        edges = (words[PART::PART] >> bit) << bit  # even: words of one score stay together
        place = np.searchsorted(edges, heavy, side="right")
        for number, part in enumerate(np.split(words, np.searchsorted(words, edges))):
            here = place == number
            yield insert_counted_scores(runs_of(part), scores_in(heavy[here]), counted[:, here])

    def _split_range(
        self, one: WordRange, heavy: Words, counted: Array
    ) -> Iterator[tuple[Array, Array, Array]]:
        """Sort a range that is too large in smaller ranges."""
        with ScoreWords(self._budget) as finer:
            for piece in one.pieces(self._sort_limit):
                finer._take(piece)
            known = np.concatenate([finer._heavy, heavy])
            order = np.argsort(known)
            finer._heavy = known[order]
            finer._counted = np.concatenate([finer._counted, counted], axis=1)[:, order]
            yield from finer._runs()


def table_of_runs(
    runs: Iterable[tuple[Array, Array, Array]], kind: npt.DTypeLike, budget: Budget, *, written: bool
) -> ScoreTable:
    """Return the table of distinct scores that come in pieces, ascending, with positives and negatives.

    Parameters
    ----------
    runs : iterable of (scores, positives, negatives)
    kind : float32 or float64
        What holds each score exactly.
    budget : Budget
        Within which a table is held as arrays.
    written : bool
        Whether it is kept in the folder of the budget, where there is one.

    Examples
    --------
    >>> pieces = [(np.array([0.5]), np.array([1.0]), np.array([2.0]))]
    >>> table_of_runs(pieces, np.float32, Budget(), written=False).total
    3.0
    """
    stored, size = StoredColumns(kind, budget.files() if written else None), 0
    try:
        for piece in runs:
            stored.append(*piece)
            size += len(piece[0])
    except OSError as error:
        raise budget.no_room(size * ROW) from error
    table = ScoreTable.from_stored_columns(stored)
    if not budget.has_room(size):
        if not written:
            budget.ledger.count(stored, size * ROW)
        return table
    return ScoreTable(np.asarray(table.scores), np.asarray(table.pos), np.asarray(table.neg))


class KeyCounter:
    """How often each of some keys occurs, batch by batch; kept as words are.

    Examples
    --------
    >>> keys = KeyCounter(Budget())
    >>> keys.add(np.array([7, 4, 7], dtype=np.uint64))
    >>> sorted(int(times) for part in keys.times() for times in part if times)
    [1, 2]
    """

    def __init__(self, budget: Budget) -> None:
        self._words = ScoreWords(budget)

    def add(self, keys: npt.NDArray[np.uint64]) -> None:
        """Take keys of shape (n,)."""
        if len(keys):
            self._words._take(keys)

    def times(self) -> Iterator[Array]:
        """Yield how often each key occurs, some of them 0 times; nothing is kept behind."""
        for _, odd, even in self._words._runs():  # the lowest bit stands where a word has its truth
            yield odd
            yield even

    def close(self) -> None:
        """Give back memory and files."""
        self._words.close()


@dataclass(frozen=True)
class ScoreBins:
    """What makes holders of scores in bins."""

    budget: Budget
    edges: ClassVar[None] = None

    def keys(self) -> KeyCounter:
        """Return what counts keys of rows."""
        return self.budget.keys()

    def holder(self) -> BinnedScores:
        """Return a new holder."""
        return BinnedScores()


class BinnedScores:
    """Scores with a binary truth, batch by batch, of which the counts in each bin are kept.

    Examples
    --------
    >>> held = BinnedScores()
    >>> held.add(np.array([0.1, 0.100001, 0.7]), np.array([False, True, True]))
    >>> held.table().pos, held.table().tp
    (array([1., 1.]), array([2., 1.]))
    """

    def __init__(self) -> None:
        self._bins: Bins = np.empty(0, dtype=np.int64)
        self._counts = np.zeros((2, 0))

    def add(self, scores: npt.NDArray[Any], positive: npt.NDArray[np.bool_]) -> None:
        """Take some rows: finite scores of shape (n,), float32 or float64, and their truth."""
        found, times = np.unique(bins_of(scores) << 1 | positive, return_counts=True)
        both = np.union1d(self._bins, found >> 1)
        counts = np.zeros((2, len(both)))
        counts[:, np.searchsorted(both, self._bins)] = self._counts
        counts[found & 1, np.searchsorted(both, found >> 1)] += times
        self._bins, self._counts = both, counts

    def table(self) -> BinnedTable:
        """Return the table of all rows that were added."""
        return BinnedTable(edges_of(self._bins), self._counts[1], self._counts[0])

    def close(self) -> None:
        """Nothing is kept that must be given back."""

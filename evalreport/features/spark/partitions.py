"""Scores that are counted in many places: words in ranges, packed where the rows are, merged range by range.

A word is an integer that sorts as its score does, whatever the score is. Each place sends, for every
range between two edges, its words of positives and of negatives, a word that occurs often once with its
count. Merged, a range is its distinct scores with their counts: whatever the edges, the places and their
order are, the table is exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evalreport.features.large.score_words import Budget
from evalreport.statistics.binned_tables import BinnedTable, bins_of, edges_of
from evalreport.statistics.confusion import Array, run_starts
from evalreport.statistics.score_table import Keys, ScoreTable, keys_of, scores_of

OFTEN = 4
"""Rows of one score in one place from which their number is sent: fewer words of four bytes take less."""


class PackedWords(NamedTuple):
    """What one place sends of one range."""

    bucket: int
    positive: bool
    wide: int
    """Bytes of a word: 4 of single precision, 8 of double."""
    words: bytes
    """The few of each, as often as they occur, and then those of `times`, once."""
    times: bytes
    """How often the last words occur, as int64."""


class MergedWords(NamedTuple):
    """The distinct words of one range, ascending, with their counts as unsigned integers of any width."""

    wide: int
    words: bytes
    positives: bytes
    negatives: bytes

    def runs(self) -> tuple[Array, Array, Array]:
        """Return the scores with their positives and negatives."""
        words = np.frombuffer(self.words, dtype=f"i{self.wide}")
        positives, negatives = (_counts(data, len(words)) for data in (self.positives, self.negatives))
        return scores_of(words).astype(np.float64), positives, negatives


@dataclass(frozen=True)
class Buckets:
    """What makes holders of packed words: of scores, or of the least scores of their bins.

    Parameters
    ----------
    edges : tuple of float
        Scores between ranges, ascending.
    binned : bool
    budget : Budget
    """

    edges: tuple[float, ...] = ()
    binned: bool = False
    budget: Budget = field(default_factory=Budget)

    def __len__(self) -> int:
        return len(self.edges) + 1

    def __reduce__(self) -> tuple[type[Buckets], tuple[Any, ...]]:
        """What travels: the budget is of the place where all come together."""
        return Buckets, (self.edges, self.binned)

    def keys(self) -> KeysAway:
        """Return what holds the keys of rows."""
        return KeysAway()

    def holder(self) -> BucketWords:
        """Return a new holder."""
        return BucketWords(self.edges, binned=self.binned)


class BucketWords:
    """Scores of one place on their way out; where all places come together, what became of them.

    Examples
    --------
    >>> held = Buckets((0.5,)).holder()
    >>> held.add(np.array([0.75, 0.25, 0.75]), np.array([True, False, True]))
    >>> [(part.bucket, part.positive, len(part.words), len(part.times)) for part in held.pop_packed()]
    [(0, False, 8, 0), (1, True, 16, 0)]
    """

    def __init__(self, edges: tuple[float, ...], *, binned: bool) -> None:
        self._edges, self._binned = np.array(edges), binned
        self.whole: ScoreTable | None = None
        self._parts: list[tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]] = []

    def __len__(self) -> int:
        return sum(len(scores) for scores, _ in self._parts)

    def add(self, scores: npt.NDArray[Any], positive: npt.NDArray[np.bool_]) -> None:
        """Take some rows: finite scores of shape (n,), float32 or float64, and their truth."""
        self._parts.append((edges_of(bins_of(scores)) if self._binned else scores, positive))

    def pop_packed(self) -> Iterator[PackedWords]:
        """Give away what is held."""
        parts, self._parts = self._parts, []
        if not parts:
            return
        scores, positive = (np.concatenate(part) for part in zip(*parts, strict=True))
        wide = scores.dtype.itemsize
        edges = keys_of(self._edges.astype(scores.dtype))
        for truth in (False, True):
            words = np.sort(keys_of(scores[positive == truth]))
            for bucket, part in enumerate(np.split(words, np.searchsorted(words, edges))):
                if len(part):
                    yield PackedWords(bucket, truth, wide, *_run_lengths(part))

    def table(self) -> ScoreTable:
        """Return the table of the scores of all places, once it is there."""
        whole = (
            ScoreTable.from_scores(np.empty(0), np.empty(0, dtype=bool)) if self.whole is None else self.whole
        )
        if not self._binned:
            return whole
        return BinnedTable(np.asarray(whole.scores), np.asarray(whole.pos), np.asarray(whole.neg))

    def close(self) -> None:
        """Give back memory."""
        self._parts.clear()


class KeysAway:
    """Keys of rows on their way out: equal ones of all places come together, and are counted there.

    Examples
    --------
    >>> keys = KeysAway()
    >>> keys.add(np.array([7, 4, 7], dtype=np.uint64))
    >>> [(bucket, len(data)) for bucket, data in keys.pop_packed(2)]
    [(0, 8), (1, 16)]
    """

    def __init__(self) -> None:
        self._parts: list[npt.NDArray[np.uint64]] = []

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def add(self, keys: npt.NDArray[np.uint64]) -> None:
        """Take keys of shape (n,)."""
        self._parts.append(keys)

    def pop_packed(self, buckets: int) -> Iterator[tuple[int, bytes]]:
        """Give away what is held, a part for each bucket."""
        keys = np.concatenate([np.empty(0, dtype=np.uint64), *self._parts])
        self._parts.clear()
        bucket = keys % np.uint64(buckets)
        yield from ((one, keys[bucket == one].tobytes()) for one in np.unique(bucket).tolist())

    def times(self) -> Iterator[Array]:
        """Yield nothing: they are counted elsewhere."""
        return iter(())

    def close(self) -> None:
        """Give back memory."""
        self._parts.clear()


def _run_lengths(words: Keys) -> tuple[bytes, bytes]:
    distinct, times = _runs(words)
    often = times >= OFTEN
    both = np.concatenate([words[np.repeat(~often, times)], distinct[often]])
    return both.tobytes(), times[often].astype(np.int64).tobytes()


def _runs(words: Keys) -> tuple[Keys, npt.NDArray[np.int64]]:
    """Distinct sorted words and their counts; `np.unique` would look whether they are sorted."""
    starts = run_starts(words)
    return words[starts], np.diff(starts, append=len(words))


def merge_words(parts: Iterable[PackedWords]) -> MergedWords:
    """Return the distinct words of one range from what all places sent of it.

    Examples
    --------
    >>> held = Buckets().holder()
    >>> held.add(np.array([0.5, 0.5, 0.75]), np.array([True, False, True]))
    >>> [column.tolist() for column in merge_words(held.pop_packed()).runs()]
    [[0.5, 0.75], [1.0, 1.0], [1.0, 0.0]]
    """
    parts = list(parts)
    wide = max(part.wide for part in parts)
    sides = [_side([part for part in parts if part.positive == truth], wide) for truth in (False, True)]
    both = np.concatenate([words for words, _ in sides])
    both.sort(kind="stable")  # two ascending runs are merged, not sorted
    distinct, _ = _runs(both)
    negatives, positives = (_spread_counts(words, times, distinct) for words, times in sides)
    return MergedWords(wide, distinct.tobytes(), positives, negatives)


def _side(parts: list[PackedWords], wide: int) -> tuple[Keys, npt.NDArray[np.int64]]:
    """The distinct words of one class with their counts."""
    none = np.empty(0, dtype=f"i{wide}")
    once, often, times = [none], [none], [np.empty(0, dtype=np.int64)]
    for part in parts:
        words = np.frombuffer(part.words, dtype=f"i{part.wide}")
        if part.wide < wide:  # single precision fits into double
            words = keys_of(scores_of(words).astype(np.float64))
        counts = np.frombuffer(part.times, dtype=np.int64)
        once.append(words[: len(words) - len(counts)])
        often.append(words[len(words) - len(counts) :])
        times.append(counts)
    single = np.concatenate(once)
    single.sort()
    words, counts = _runs(single)
    if not any(map(len, often)):
        return words, counts
    distinct, places = np.unique(np.concatenate([words, *often]), return_inverse=True)
    summed = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(summed, places, np.concatenate([counts, *times]))
    return distinct, summed


def _spread_counts(words: Keys, times: npt.NDArray[np.int64], distinct: Keys) -> bytes:
    """Counts at all distinct words, in the narrowest integer."""
    found = np.zeros(len(distinct), dtype=np.min_scalar_type(int(times.max(initial=0))))
    found[np.searchsorted(distinct, words)] = times
    return found.tobytes()


def _counts(data: bytes, size: int) -> Array:
    return np.frombuffer(data, dtype=f"u{len(data) // size if size else 1}").astype(np.float64)

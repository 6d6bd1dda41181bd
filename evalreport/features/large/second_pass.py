"""Scores of several classes that go by twice: exact areas without the matrix of rows and classes.

First each row's score of its own class is kept. Then every cell is placed among the scores that the examples
of its class have, and only how many stand where is counted: an area is a sum over the places.

Scores of several labels per row of which the tables are held, label by label, and no row but a few.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.core.errors import DataError
from evalreport.features.large.score_words import Budget, table_of_runs
from evalreport.features.large.spill import Segments, StoredColumns
from evalreport.statistics.class_scores import ClassScores, LabelScores, RankedScores
from evalreport.statistics.confusion import Array, sums
from evalreport.statistics.rankings import (
    Placing,
    Rankings,
    TablesMade,
    class_rankings,
    interleave_midpoints,
    rank_labels,
)
from evalreport.statistics.score_table import ScoreTable


class OwnScores:
    """The score of each row for its own class, with the class; written to the folder beyond the budget.

    Parameters
    ----------
    size : int
        Number of classes.
    budget : Budget

    Examples
    --------
    >>> own = OwnScores(2, Budget())
    >>> own.add(np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]]), np.array([0, 1, 0]))
    >>> own.sort_by_class()
    [array([0.6, 0.9]), array([0.8])]
    """

    def __init__(self, size: int, budget: Budget) -> None:
        self._budget, self._support = budget, np.zeros(size)
        self._parts: list[tuple[npt.NDArray[Any], npt.NDArray[np.uint16]]] = []
        self._files: dict[np.dtype[Any], tuple[Segments, Segments]] = {}
        self.held = 0
        """Bytes in memory."""
        budget.ledger.holders.add(self)

    def __len__(self) -> int:
        return int(self._support.sum())

    def add(self, scores: npt.NDArray[Any], truth: npt.NDArray[Any]) -> None:
        """Add rows: scores of shape (n, K) and codes of shape (n,).

        Raises
        ------
        DataError
            The folder of the budget is full.
        """
        own = scores[np.arange(len(truth)), truth]
        self._parts.append((own, truth.astype(np.uint16)))
        self._support += sums(truth, None, len(self._support))
        self.held += own.nbytes + 2 * len(own)
        self._budget.spill_if_over_budget()

    def write(self) -> None:
        """Write the scores that are in memory.

        Raises
        ------
        DataError
            The folder of the budget is full.
        """
        spill = self._budget.files()
        if spill is None:
            return
        try:
            for own, truth in self._parts:
                if own.dtype not in self._files:
                    files = Segments(spill.file(), own.dtype), Segments(spill.file(), truth.dtype)
                    self._files[own.dtype] = files
                for file, values in zip(self._files[own.dtype], (own, truth), strict=True):
                    file.append(values)
        except OSError as error:
            raise self._budget.no_room(self.held) from error
        self._parts, self.held = [], 0

    def _pieces(self) -> Iterator[tuple[npt.NDArray[Any], npt.NDArray[np.uint16]]]:
        """Yield all rows, and keep none."""
        for own, truth in self._files.values():
            for start in range(0, len(own), PIECE):
                stop = min(start + PIECE, len(own))
                yield own.read_range(start, stop), truth.read_range(start, stop)
        self.close()
        while self._parts:
            yield self._parts.pop()
        self.held = 0

    def sort_by_class(self) -> list[npt.NDArray[Any]]:
        """Return the scores class by class, ascending, as slices of one array; no rows are kept."""
        kinds = [*self._files, *(own.dtype for own, _ in self._parts)]
        whole = self._budget.array(len(self), np.result_type(*kinds) if kinds else np.float64)
        filled = (np.cumsum(self._support) - self._support).astype(np.intp)
        found = np.split(whole, filled[1:])
        for own, truth in self._pieces():
            order = np.argsort(truth, kind="stable")
            counts = np.bincount(truth, minlength=len(filled))
            for label, part in enumerate(np.split(own[order], np.cumsum(counts)[:-1])):
                whole[filled[label] : filled[label] + len(part)] = part
            filled += counts
        for values in found:
            values.sort()
        return found

    def build_places(self, wanted: npt.NDArray[Any]) -> ScorePlaces:
        """Return what places the same rows, which are read again, of which some are kept whole."""
        return ScorePlaces(self.sort_by_class(), wanted, self._budget)

    def close(self) -> None:
        """Close the files."""
        for files in self._files.values():
            for file in files:
                file.leave()
        self._files = {}


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
                fix="read files that do not change",
            )

    @cached_property
    def shards(self) -> tuple[tuple[int, npt.NDArray[Any], ClassScores]]:
        """Number of rows, the kept rows, and their values."""
        return ((self._rows, self.wanted, ClassScores.merge_parts(self._parts)),)

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
                    "the statistics file keeps too few rows for intervals",
                    fix="pass --set confidence=none here, too",
                )
            found.append(kept.take(places))
        return ClassScores.merge_parts(found)


class ScorePlaces:
    """Rows that go by for the second time, counted by where their scores stand.

    Parameters
    ----------
    own : sequence of float arrays, one per class, ascending
        Of `OwnScores`.
    wanted : int array, ascending
        Rows that are kept whole.
    budget : Budget

    Examples
    --------
    >>> own, scores = OwnScores(2, Budget()), np.array([[0.9, 0.1], [0.2, 0.8]])
    >>> own.add(scores, np.array([0, 1]))
    >>> places = own.build_places(np.array([1]))
    >>> places.add(scores, np.array([0, 1]))
    >>> facts = places.scores()
    >>> facts.rankings.roc_auc, facts.take(np.array([1])).truth
    (array([1., 1.]), array([1]))
    """

    def __init__(self, own: Sequence[npt.NDArray[Any]], wanted: npt.NDArray[Any], budget: Budget) -> None:
        self._total, self._budget = sum(map(len, own)), budget
        pool, start = budget.array(self._total, own[0].dtype), 0
        for values in own:
            pool[start : start + len(values)] = values
            start += len(values)
        pool.sort()
        self._each = _placings(own, float(self._total), budget)
        (self._pool,) = _placings([pool], float(self._total * len(own)), budget)
        self._against = np.zeros((len(own), len(own)))
        self.kept = KeptRows(wanted)

    def add(self, scores: npt.NDArray[Any], truth: npt.NDArray[Any]) -> None:
        """Place rows, in the order of before: scores of shape (n, K) and codes of shape (n,)."""
        self.kept.add(scores, truth)
        for label, column in enumerate(np.ascontiguousarray(scores.T)):
            order = np.argsort(column)
            outranked = self._each[label].weight_above(self._each[label].add_sorted(column[order]))
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
        return PlacedScores(self._each, self._pool, self._against, self.kept, self._budget)


def _placings(own: Sequence[npt.NDArray[Any]], total: float, budget: Budget) -> list[Placing]:
    """Return where scores are counted among sorted ones, class by class; equal ones are merged in place."""
    rows, kind, start = sum(map(len, own)), np.uint32 if total < 1 << 32 else np.uint64, 0
    reach, counts = budget.array(rows + len(own), kind), budget.array(2 * rows + len(own), kind)
    found = []
    for number, values in enumerate(own):
        ends = reach[start + number : start + number + len(values) + 1]
        size, last = 0, np.nan
        for at in range(0, len(values), PIECE):
            part = values[at : at + PIECE].copy()
            new = np.flatnonzero(part != np.append(last, part[:-1]).astype(part.dtype))
            values[size : size + len(new)], ends[size : size + len(new)] = part[new], at + new
            size, last = size + len(new), part[-1]
        ends[size] = len(values)
        here = counts[2 * start + number : 2 * start + number + 2 * size + 1]
        found.append(Placing.of_reach(values[:size], ends[: size + 1], here, total))
        start += len(values)
    return found


class PlacedScores(LabelScores):
    """Scores of several classes of which only the places were counted, row by row or range by range."""

    def __init__(
        self,
        each: Sequence[Placing],
        pool: Placing,
        against: Array,
        kept: KeptRows,
        budget: Budget | None = None,
    ) -> None:
        self._each, self._pool, self._against, self._kept = each, pool, against, kept
        self._budget = Budget() if budget is None else budget
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
        tables = TablesMade([partial(self._table, placing) for placing in self._each])
        return class_rankings(zip(self._each, self._against, strict=True), self._support, tables)

    @cached_property
    def pooled_areas(self) -> tuple[float, float]:
        """ROC AUC and average precision of all (row, label) decisions together."""
        return self._pool.areas()

    def pooled_merged_table(self) -> ScoreTable:
        """Return the table of all decisions together; negatives without a positive between them are
        merged."""
        return self._read_stored_evaluation(self._pool)

    def _table(self, placing: Placing) -> ScoreTable:
        """The table of one class, in the folder if it is over the budget."""
        return (
            self._read_stored_evaluation(placing)
            if self._budget.is_over(2 * len(placing.values))
            else placing.table()
        )

    def _read_stored_evaluation(self, placing: Placing) -> ScoreTable:
        spill = self._budget.files() if self._budget.is_over(2 * len(placing.values)) else None
        stored = StoredColumns(np.float64, spill, _Between(placing.values))
        for piece in placing.runs():
            stored.append(*piece)
        return ScoreTable.from_stored_columns(stored)


class _Between:
    """Distinct scores and the intervals between them, computed on access."""

    def __init__(self, values: npt.NDArray[Any]) -> None:
        self._values = values

    def __len__(self) -> int:
        return 2 * len(self._values) + 1

    def append(self, values: npt.NDArray[Any]) -> None:
        """Keep the cached values."""

    def read_range(self, start: int, stop: int) -> Array:
        """Return the numbers between two places."""
        first = max(start // 2 - 1, 0)
        here = interleave_midpoints(self._values[first : stop // 2 + 1].astype(np.float64))
        return here[start - 2 * first : stop - 2 * first]

    def rows(self, places: npt.NDArray[Any], wide: int) -> Array:
        """Return `wide` numbers from each place on."""
        return np.stack([self.read_range(place, place + wide) for place in places.tolist()])


PIECE = 1 << 20
"""Distinct scores of all labels that are brought together at a time, about."""
STRIDE = 1 << 14
"""Distinct scores of a label from one to the next that is looked at for where a piece may end."""


class LabelTables(RankedScores):
    """Scores of several labels, made of the table of each.

    Parameters
    ----------
    tables : sequence of ScoreTable
        Of each label, all rows in each.
    right : ScoreTable
        Of rows that some threshold for all labels makes wholly right: as positives the scores above which
        they are, as negatives those up to which they are, but for infinite ones.
    always : float
        How many are above any threshold, up to theirs.
    kind : float32 or float64
        What holds each score exactly.
    budget : Budget
        What the table of all decisions may take.

    Examples
    --------
    >>> scores, truth = np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([[True, False], [True, True]])
    >>> tables = [ScoreTable.from_scores(scores[:, label], truth[:, label]) for label in (0, 1)]
    >>> right = ScoreTable.from_scores(np.array([0.1, 0.9, 0.2]), np.array([True, False, False]))
    >>> facts = LabelTables(tables, right, 1.0, np.float64, Budget())
    >>> facts.rankings.positives, len(facts.pooled_table()), facts.wholly_right(np.array([0.2, 0.5]))
    (array([2., 1.]), 4, array([2., 1.]))
    """

    def __init__(
        self,
        tables: Sequence[ScoreTable],
        right: ScoreTable,
        always: float,
        kind: npt.DTypeLike,
        budget: Budget,
    ) -> None:
        self._tables, self._right, self._always = tables, right, always
        self._kind, self._budget = kind, budget
        self._latest: dict[int, ScoreTable] = {}
        self.kept: KeptRows | KeptShards = KeptRows(np.empty(0, dtype=np.intp))
        """Rows that are kept whole, when they go by again."""

    def __len__(self) -> int:
        return int(self._tables[0].total)

    @staticmethod
    def merge_parts(shards: Sequence[LabelTables]) -> LabelTables:
        """Return the tables of all shards together."""
        first = shards[0]
        tables = [ScoreTable.merge_parts(each) for each in zip(*(one._tables for one in shards), strict=True)]
        found = LabelTables(
            tables,
            ScoreTable.merge_parts([one._right for one in shards]),
            sum(one._always for one in shards),
            np.result_type(*(one._kind for one in shards)),
            first._budget,
        )
        found.kept = KeptShards([shard for one in shards for shard in one.kept.shards])
        return found

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return all that is held, one table behind the other."""
        tables = self.tables
        pos, neg = (
            np.concatenate([np.asarray(getattr(one, name)) for one in tables]) for name in ("pos", "neg")
        )
        sizes, rows, kept = zip(*self.kept.shards, strict=True)
        return {
            "scores": np.concatenate([np.asarray(one.scores).astype(self._kind) for one in tables]),
            "pos": pos.astype(np.min_scalar_type(int(pos.max(initial=0)))),
            "neg": neg.astype(np.min_scalar_type(int(neg.max(initial=0)))),
            "lengths": np.array([len(one) for one in tables]),
            "always": np.array([self._always]),
            "shards": np.array([sizes, [*map(len, rows)]]),
            "kept_rows": np.concatenate(rows).astype(np.int64),
            "kept_scores": np.concatenate([one.scores for one in kept]),
            "kept_truth": np.concatenate([one.truth for one in kept]).astype(np.uint8),
        }

    @classmethod
    def of_arrays(cls, held: Mapping[str, npt.NDArray[Any]]) -> LabelTables:
        """Return what `arrays` gave."""
        ends = np.cumsum(held["lengths"])[:-1]
        columns = (np.split(held[name].astype(np.float64), ends) for name in ("scores", "pos", "neg"))
        *tables, right = (ScoreTable(*column) for column in zip(*columns, strict=True))
        found = cls(tables, right, float(held["always"][0]), held["scores"].dtype, Budget())
        sizes, numbers = held["shards"]
        cuts = np.cumsum(numbers)[:-1]
        rows, scores, truth = (
            np.split(held[name], cuts) for name in ("kept_rows", "kept_scores", "kept_truth")
        )
        found.kept = KeptShards(
            [
                (int(size), some, ClassScores(values, flags.astype(bool), None))
                for size, some, values, flags in zip(sizes, rows, scores, truth, strict=True)
            ]
        )
        return found

    @property
    def tables(self) -> tuple[ScoreTable, ...]:
        """Of each label, and of the rows that are wholly right."""
        return (*self._tables, self._right)

    @property
    def size(self) -> int:
        """Number of labels K."""
        return len(self._tables)

    @property
    def weight(self) -> float:
        """Weight of all rows, each 1."""
        return float(len(self))

    def table(self, label: int) -> ScoreTable:
        """Return the table of a label; its cached values are freed by the next one."""
        if label not in self._latest:
            self._latest.clear()
            self._latest[label] = replace(self._tables[label])
        return self._latest[label]

    def subtract_part(self, label: int, part: ScoreTable) -> ScoreTable:
        """Return the table of a label of all rows but those of a part, of which that is the table."""
        table = self._tables[label]
        runs = _subtract_runs(table, part)
        if table.stored is None:
            scores, pos, neg = map(np.concatenate, zip(*runs, strict=True))
            return ScoreTable(scores, pos, neg)
        small = replace(self._budget, memory=0)  # it is gone soon: no room is kept for it
        return table_of_runs(runs, self._kind, small, written=self._budget.is_over(len(table)))

    def own(self, label: int) -> tuple[npt.NDArray[Any], Array]:
        """Return the label's distinct scores of the rows that carry it, and how many have each."""
        table = self._tables[label]
        carried = np.flatnonzero(np.asarray(table.pos))
        return table.scores[carried], table.pos[carried]

    def take(self, rows: npt.NDArray[Any]) -> ClassScores:
        """Return some of the rows that were kept."""
        return self.kept.take(rows)

    def wholly_right(self, at: Array) -> Array:
        """Return the number of rows of which every label is right, at each of ascending thresholds."""
        flagged = len(self._right) - np.searchsorted(self._right.scores, at)
        above, upto = (path[flagged] for path in self._right.path)
        return self._always + (self._right.positives - above) - (self._right.negatives - upto)

    @cached_property
    def rankings(self) -> Rankings:
        """Areas of each label against all others, computed once for every average of them."""
        merged = TablesMade([partial(_merge_negatives, table) for table in self._tables])
        return rank_labels(map(Placing.of_table, self._tables), merged)

    @cached_property
    def pooled_areas(self) -> tuple[float, float]:
        """ROC AUC and average precision of all (row, label) decisions together."""
        return Placing.of_table(self._pooled_table).areas()

    def pooled_merged_table(self) -> ScoreTable:
        """Return the table of all decisions together; negatives without a positive between them are
        merged."""
        return _merge_negatives(self._pooled_table)

    def pooled_table(self) -> ScoreTable:
        """Return the table of all (row, label) decisions together."""
        return replace(self._pooled_table)  # what it keeps of what is asked of it goes with who asked

    @cached_property
    def _pooled_table(self) -> ScoreTable:
        written = self._budget.is_over(sum(map(len, self._tables)))
        return table_of_runs(self._runs(), self._kind, self._budget, written=written)

    def _runs(self) -> Iterator[tuple[Array, Array, Array]]:
        """Distinct scores of all labels with their positives and negatives, piece by piece, ascending."""
        starts = np.zeros(self.size, dtype=np.intp)
        looked = [table.scores[np.arange(0, len(table), STRIDE)] for table in self._tables]
        edges = np.sort(np.concatenate(looked))[PIECE // STRIDE :: PIECE // STRIDE]
        for edge in [*np.unique(edges).tolist(), np.inf]:
            stops = [np.searchsorted(table.scores, edge) for table in self._tables]
            parts = [slice(*ends) for ends in zip(starts.tolist(), map(int, stops), strict=True)]
            one = ScoreTable.merge_parts(
                [_slice(table, part) for table, part in zip(self._tables, parts, strict=True)]
            )
            yield one.scores, one.pos, one.neg
            starts[:] = stops


def _merge_negatives(table: ScoreTable) -> ScoreTable:
    return Placing.of_table(table).table()


def _slice(table: ScoreTable, part: slice) -> ScoreTable:
    scores, pos, neg = (np.asarray(column[part]) for column in (table.scores, table.pos, table.neg))
    return ScoreTable(scores, pos, neg)


def _subtract_runs(table: ScoreTable, part: ScoreTable) -> Iterator[tuple[Array, Array, Array]]:
    """What a table has beside a part of it, piece by piece."""
    start = 0
    for at in range(0, len(table), PIECE):
        here = _slice(table, slice(at, at + PIECE))
        stop = int(np.searchsorted(part.scores, here.scores[-1], side="right"))
        gone = _slice(part, slice(start, stop))
        places = np.searchsorted(here.scores, gone.scores)
        pos, neg = here.pos.copy(), here.neg.copy()
        pos[places] -= gone.pos
        neg[places] -= gone.neg
        some = pos + neg > 0
        yield here.scores[some], pos[some], neg[some]
        start = stop

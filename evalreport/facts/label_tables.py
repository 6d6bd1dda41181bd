"""Scores of several labels per row of which the tables are held, label by label, and no row but a few."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.facts.classes import ClassScores, RankedScores
from evalreport.facts.counts import Array
from evalreport.facts.ladders import TablesMade
from evalreport.facts.places import KeptRows, KeptShards
from evalreport.facts.rankings import Placing, Rankings, rank_labels
from evalreport.facts.table import ScoreTable
from evalreport.facts.words import Budget, table_of_runs

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
    >>> tables = [ScoreTable.of(scores[:, label], truth[:, label]) for label in (0, 1)]
    >>> right = ScoreTable.of(np.array([0.1, 0.9, 0.2]), np.array([True, False, False]))
    >>> facts = LabelTables(tables, right, 1.0, np.float64, Budget())
    >>> facts.rankings.positives, len(facts.pooled()), facts.wholly_right(np.array([0.2, 0.5]))
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
    def merged(shards: Sequence[LabelTables]) -> LabelTables:
        """Return the tables of all shards together."""
        first = shards[0]
        tables = [ScoreTable.merged(each) for each in zip(*(one._tables for one in shards), strict=True)]
        found = LabelTables(
            tables,
            ScoreTable.merged([one._right for one in shards]),
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
        """Return the table of a label; what it keeps of what is asked of it goes with the next one."""
        if label not in self._latest:
            self._latest.clear()
            self._latest[label] = replace(self._tables[label])
        return self._latest[label]

    def without(self, label: int, part: ScoreTable) -> ScoreTable:
        """Return the table of a label of all rows but those of a part, of which that is the table."""
        table = self._tables[label]
        runs = _left(table, part)
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
        merged = TablesMade([partial(_merged, table) for table in self._tables])
        return rank_labels(map(Placing.of_table, self._tables), merged)

    @cached_property
    def pooled_areas(self) -> tuple[float, float]:
        """ROC AUC and average precision of all (row, label) decisions together."""
        return Placing.of_table(self._pooled).areas()

    def pooled_merged(self) -> ScoreTable:
        """Return the table of all decisions together, negatives merged that no positive lies between."""
        return _merged(self._pooled)

    def pooled(self) -> ScoreTable:
        """Return the table of all (row, label) decisions together."""
        return replace(self._pooled)  # what it keeps of what is asked of it goes with who asked

    @cached_property
    def _pooled(self) -> ScoreTable:
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
            one = ScoreTable.merged(
                [_slice(table, part) for table, part in zip(self._tables, parts, strict=True)]
            )
            yield one.scores, one.pos, one.neg
            starts[:] = stops


def _merged(table: ScoreTable) -> ScoreTable:
    return Placing.of_table(table).table()


def _slice(table: ScoreTable, part: slice) -> ScoreTable:
    scores, pos, neg = (np.asarray(column[part]) for column in (table.scores, table.pos, table.neg))
    return ScoreTable(scores, pos, neg)


def _left(table: ScoreTable, part: ScoreTable) -> Iterator[tuple[Array, Array, Array]]:
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

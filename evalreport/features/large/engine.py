"""The streaming engine: predictions batch by batch, exact, without ever holding their rows.

Counts and means over rows add up. Scores of several classes are counted in two readings.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from evalreport.core.errors import UsageError
from evalreport.data.labels import UNPARSED, LabelSpace
from evalreport.data.predictions import Predictions, Threshold
from evalreport.data.scores import NoScores, Probabilities, ScoreKind, highest
from evalreport.features.large.score_words import Budget
from evalreport.features.large.second_pass import KeptRows, LabelTables, OwnScores, PlacedScores, ScorePlaces
from evalreport.statistics.class_scores import right_between
from evalreport.statistics.confusion import Array, BinaryCounts, Counts, Places, run_starts, sums
from evalreport.statistics.rankings import CumulativeWeights, Placing
from evalreport.statistics.score_table import ScoreTable
from evalreport.statistics.summary import (
    LabelMoments,
    RowSums,
    Summary,
    align_row_sums,
    decide_at,
    merge,
    summarise_counts,
)

HEAVY = 64
"""Rows of one score in one place from which equal cells of a class are sent once, with their number: many
scores of a forest of trees are 0, which would all go to one range as they are."""

Column = npt.NDArray[Any]


class ClassCells:
    """Scores of several classes of one place on their way out; where all come together, their places.

    Examples
    --------
    >>> cells = ClassCells(2, (0.5,))
    >>> cells.add(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0, 1]))
    >>> [bucket for bucket, _ in cells.pop_packed()], len(cells)
    ([0, 1], 0)
    """

    def __init__(self, size: int, edges: tuple[float, ...]) -> None:
        self._size, self._edges = size, np.array(edges)
        self._parts: list[tuple[npt.NDArray[Any], npt.NDArray[np.uint16]]] = []
        self._whole: PlacedCells | None = None

    def __len__(self) -> int:
        return sum(scores.size for scores, _ in self._parts)

    def add(self, scores: npt.NDArray[Any], truth: npt.NDArray[Any]) -> None:
        """Take rows: scores of shape (n, K) and codes of shape (n,)."""
        self._parts.append((scores, truth.astype(np.uint16)))

    def pop_packed(self) -> Iterator[tuple[int, bytes]]:
        """Give away what is held, a part for each range."""
        parts, self._parts = self._parts, []
        if not parts:
            return
        scores, truth = map(np.concatenate, zip(*parts, strict=True))
        columns = [_cells(column, truth, self._size) for column in np.ascontiguousarray(scores.T)]
        cuts = np.stack([np.searchsorted(column[0], self._edges) for column in columns])
        cuts = np.pad(cuts, ((0, 0), (1, 1)))
        cuts[:, -1] = [len(column[0]) for column in columns]
        for bucket, lengths in enumerate(np.diff(cuts).T):
            if lengths.any():
                here = [slice(*ends) for ends in cuts[:, bucket : bucket + 2].tolist()]
                some = (
                    [part[at] for part, at in zip(each, here, strict=True)]
                    for each in zip(*columns, strict=True)
                )
                yield bucket, pack_arrays(lengths, *map(np.concatenate, some))

    def take(self, ranges: Callable[[], Iterable[bytes]]) -> None:
        """Take what gives the results of `placed_range` for all ranges, the highest scores first."""
        self._whole = PlacedCells.from_ranges(ranges, self._size)

    def build_places(self, wanted: npt.NDArray[Any]) -> RangePlaces:
        """Return the places of all cells, for rows to go by again of which some are kept whole."""
        return RangePlaces(self._whole, wanted)


def _cells(column: npt.NDArray[Any], truth: npt.NDArray[Any], size: int) -> tuple[Column, Column, Column]:
    """The scores of a class, ascending, with the classes of their rows, and the number of equal rows."""
    order = np.argsort(column)
    scores, truth = column[order], truth[order]
    starts = run_starts(scores)
    run_lengths = np.diff(starts, append=len(scores))
    if run_lengths.max(initial=0) < HEAVY:
        return scores, truth, np.ones(len(scores), dtype=np.uint8)
    code, times = np.unique(np.repeat(np.arange(len(starts)) * size, run_lengths) + truth, return_counts=True)
    return scores[starts][code // size], (code % size).astype(np.uint16), _narrow(times)


def placed_range(parts: Iterable[bytes], size: int) -> bytes:
    """Return how the cells of one range stand, from what all places sent of it.

    Examples
    --------
    >>> cells = ClassCells(2, ())
    >>> cells.add(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0, 1]))
    >>> _, values, *_ = unpack_arrays(placed_range((part for _, part in cells.pop_packed()), 2))
    >>> values
    array([0.9, 0.8, 0.8, 0.9])
    """
    lengths, *columns = zip(*map(unpack_arrays, parts), strict=True)
    label = np.concatenate([np.repeat(np.arange(size, dtype=np.uint16), part) for part in lengths])
    order = np.argsort(label, kind="stable")
    scores, truth, times = (np.concatenate(column)[order] for column in columns)
    label, times = label[order], times.astype(np.float64)
    ends = np.cumsum(np.bincount(label, minlength=size))
    against, cells, found = np.zeros((size, size)), np.zeros((size, size)), list[Placing]()
    for one, stop in enumerate(ends.tolist()):
        rows = slice(int(ends[one - 1]) if one else 0, stop)
        placing, here = _build_placing(scores[rows], times[rows], truth[rows] == one)
        against[one] = sums(truth[rows], placing.weight_above(here) * times[rows], size)
        cells[one] = sums(truth[rows], times[rows], size)
        found.append(placing)
    found.append(_build_placing(scores, times, truth == label)[0])
    values = np.concatenate([placing.values for placing in found])
    weights, counts = (
        _narrow(np.concatenate(parts))
        for parts in zip(*((placing.weights, placing.counts) for placing in found), strict=True)
    )
    lengths = np.array([len(placing.values) for placing in found])
    return pack_arrays(lengths, values, weights, counts, _narrow(2 * against), _narrow(cells))


def _build_placing(
    scores: npt.NDArray[Any], times: Array, own: npt.NDArray[np.bool_]
) -> tuple[Placing, npt.NDArray[np.intp]]:
    placing = Placing(CumulativeWeights.from_values(scores[own], times[own]), 0.0)
    return placing, placing.add(scores, times)


@dataclass(frozen=True, eq=False)
class PlacedCells:
    """Where the cells of all ranges stand.

    Parameters
    ----------
    each : sequence of Placing
        Of each class.
    pool : Placing
        Of all classes together.
    against : float64 array of shape (K, K)
        Weight of the examples of each class above the rows of each class, by the score of the first.
    """

    each: Sequence[Placing]
    pool: Placing
    against: Array

    @classmethod
    def from_ranges(cls, ranges: Callable[[], Iterable[bytes]], size: int) -> PlacedCells | None:
        """Put ranges together, the highest scores first, which are gone through twice; None without any."""
        heads = _Heads(size)
        for data in ranges():
            heads.add(*unpack_arrays(data)[:4])
        if not heads.kinds:
            return None
        joined = heads.build_joined()
        above, against = np.zeros(size + 1), np.zeros((size, size))
        for data in ranges():
            length, values, weights, counts, twice, cells = unpack_arrays(data)
            against += twice / 2 + cells * above[:-1, None]
            above += sums(np.repeat(np.arange(size + 1), length), weights, size + 1)
            ends = np.cumsum(length)
            both = np.split(values, ends), np.split(weights, ends)
            split = zip(*both, np.split(counts, 2 * ends + np.arange(1, size + 2)), strict=True)
            for one, column in zip(joined, split, strict=False):
                one.add(*column)
        *each, pool = (one.placing() for one in joined)
        return cls(each, pool, against)


class _Heads:
    """What is to be known of all ranges first, class by class and of all: how long and wide columns are."""

    def __init__(self, size: int) -> None:
        self.kinds = list[tuple[np.dtype[Any], np.dtype[Any]]]()
        """Types of scores and weights."""
        self._lengths, self._rows = np.zeros(size + 1, dtype=np.int64), 0
        self._most, self._open = np.zeros(size + 1), np.zeros(size + 1)

    def add(self, lengths: Places, values: Column, weights: Column, counts: Column) -> None:
        """Take the next range, below all others: what lies between two of them is counted in both."""
        self.kinds.append((values.dtype, weights.dtype))
        self._rows += int(weights[len(weights) - lengths[-1] :].sum())
        self._lengths += lengths
        ends = np.cumsum(2 * lengths + 1)
        firsts, lasts = counts[ends - 2 * lengths - 1], self._open + counts[ends - 1]
        inside = np.maximum.reduceat(counts, ends - 2 * lengths - 1)
        self._most = np.maximum.reduce([self._most, lasts, inside])
        self._open = np.where(lengths > 0, firsts, lasts)

    def build_joined(self) -> list[_Joined]:
        """Return what each class's are put together in, and all's."""
        types = [np.result_type(*each) for each in zip(*self.kinds, strict=True)]
        size, total = len(self._most) - 1, float(self._rows)
        return [
            _Joined(length, total * (size if label == size else 1), *types, np.min_scalar_type(int(most)))
            for label, (length, most) in enumerate(zip(self._lengths.tolist(), self._most, strict=True))
        ]


class _Joined:
    """Where all scores stand, filled from where those of each range do, the highest first."""

    def __init__(self, size: int, total: float, *kinds: np.dtype[Any]) -> None:
        kind, weight, counts = kinds
        self._values, self._weights = np.empty(size, dtype=kind), np.empty(size, dtype=weight)
        self._counts, self._start = np.zeros(2 * size + 1, dtype=counts), size
        self._total = total

    def add(self, values: npt.NDArray[Any], weights: npt.NDArray[Any], counts: npt.NDArray[Any]) -> None:
        """Take the next range: what is below its first and above the last of the one after, lies between."""
        stop, self._start = self._start, self._start - len(values)
        self._values[self._start : stop], self._weights[self._start : stop] = values, weights
        here = self._counts[2 * self._start : 2 * stop + 1]
        np.add(here, counts.astype(here.dtype, copy=False), out=here)

    def placing(self) -> Placing:
        """Return it once all are taken."""
        return Placing.of_counts(self._values, self._weights, self._counts, self._total)


class RangePlaces:
    """Rows that go by for the second time, whose cells were placed range by range before.

    Parameters
    ----------
    placed : PlacedCells, optional
        The totals over all places.
    wanted : int array, ascending
        Rows that are kept whole.

    Examples
    --------
    >>> cells, rows = ClassCells(2, (0.5,)), (np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0, 1]))
    >>> cells.add(*rows)
    >>> ranges = [placed_range([part], 2) for _, part in cells.pop_packed()]
    >>> cells.take(lambda: ranges[::-1])
    >>> places = cells.build_places(np.array([1]))
    >>> places.add(*rows)
    >>> places.scores().rankings.roc_auc, places.kept.rows.truth
    (array([1., 1.]), array([1]))
    """

    def __init__(self, placed: PlacedCells | None, wanted: npt.NDArray[Any]) -> None:
        self._placed, self.kept = placed, KeptRows(wanted)

    def add(self, scores: npt.NDArray[Any], truth: npt.NDArray[Any]) -> None:
        """Take rows, in the order of before: scores of shape (n, K) and codes of shape (n,)."""
        self.kept.add(scores, truth)

    def scores(self) -> PlacedScores:
        """Return where all cells stand, with the rows that were kept.

        Raises
        ------
        DataError
            Not the rows of before went by.
        """
        if self._placed is None:
            raise UsageError("no cells were placed", fix="add batches, then place them")
        self.kept.check_all(int(self._placed.pool.positives))
        return PlacedScores(self._placed.each, self._placed.pool, self._placed.against, self.kept)


def _narrow(counts: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return counts.astype(np.min_scalar_type(int(counts.max(initial=0))))


def pack_arrays(*arrays: npt.NDArray[Any]) -> bytes:
    """Return arrays as bytes.

    Examples
    --------
    >>> unpack_arrays(pack_arrays(np.zeros(1), np.ones(2, dtype=np.uint8)))
    [array([0.]), array([1, 1], dtype=uint8)]
    """
    held = io.BytesIO()
    for array in arrays:
        np.save(held, array, allow_pickle=False)
    return held.getvalue()


def unpack_arrays(data: bytes) -> list[npt.NDArray[Any]]:
    """Return the arrays that `pack_arrays` was given."""
    held, found = io.BytesIO(data), list[npt.NDArray[Any]]()
    while held.tell() < len(data):
        found.append(np.load(held, allow_pickle=False))
    return found


class ScoreHolder(Protocol):
    """What scores with a binary truth go into, and the table of them comes out of."""

    def add(self, scores: npt.NDArray[Any], positive: npt.NDArray[np.bool_], /) -> None:
        """Take some rows."""

    def table(self) -> ScoreTable:
        """Return the table of all rows that were added."""

    def close(self) -> None:
        """Give back memory and files."""


class KeyHolder(Protocol):
    """What keys of rows go into, and how often each occurs comes out of."""

    def add(self, keys: npt.NDArray[np.uint64], /) -> None:
        """Take keys of shape (n,)."""

    def times(self) -> Iterator[npt.NDArray[Any]]:
        """Yield how often each key occurs, some of them 0 times."""

    def close(self) -> None:
        """Give back memory and files."""


class Holders(Protocol):
    """What makes a holder for each table, and one for the keys of rows."""

    def holder(self) -> ScoreHolder:
        """Return a new one."""

    @property
    def budget(self) -> Budget:
        """What tables that are made of others may take."""

    @property
    def edges(self) -> tuple[float, ...] | None:
        """Scores between ranges that other processes merge; None where all rows are counted here."""

    def keys(self) -> KeyHolder:
        """Return a new one of keys."""


class BinaryStream:
    """Counts of binary predictions, added batch by batch; one more for each value of each slice.

    Parameters
    ----------
    space : Binary
    holders : Holders
        What the scores go into, such as a `Budget`.
    answered : bool
        Whether the batches come with answers; else a threshold decides in the end.

    Examples
    --------
    >>> from evalreport.features.large.score_words import Budget
    >>> from evalreport.data.labels import Binary
    >>> from evalreport.data.predictions import predictions
    >>> from evalreport.data.scores import Probabilities
    >>> stream = BinaryStream(Binary(0, 1), Budget())
    >>> for part in ([0.1, 0.9], [0.4, 0.6]):
    ...     stream.add(predictions(Binary(0, 1), [0, 1], scores=Probabilities(part)))
    >>> stream.summary().counts.total
    4.0
    """

    def __init__(self, space: LabelSpace, holders: Holders, *, answered: bool = False) -> None:
        self.space, self.answered = space, answered
        self._truth, self._decided = holders.holder(), holders.holder()
        self.support = np.zeros(2)
        """Rows of each label."""
        self._counts: list[Counts] = []
        self._kind: ScoreKind | None = None
        self._implied = True
        self.rows = 0

    def add(self, batch: Predictions) -> None:
        """Count a batch: validated, of these labels, each row weighing 1.

        Raises
        ------
        UsageError
            Rows with weights, groups or folds.
        DataError
            The disk is full.
        """
        check_plain(batch)
        self.rows += len(batch)
        self.support += sums(batch.y_true, None, 2)
        if self.answered and batch.y_pred is not None:
            self._counts = [reduce(add, [*self._counts, Counts.from_codes(batch.y_true, batch.y_pred, 2)])]
            self._implied &= batch.threshold is not None
        if isinstance(batch.scores, NoScores):
            return
        self._kind = batch.scores.declared
        self._truth.add(batch.scores.values, batch.y_true.astype(bool))
        if self.answered and batch.y_pred is not None:
            read = batch.y_pred != UNPARSED
            self._decided.add(batch.scores.values[read], batch.y_pred[read].astype(bool))

    def summary(self) -> Summary:
        """Return the statistics of all batches; nothing can be added afterwards."""
        if self._kind is None:
            return self.summary_without_scores
        plain = replace(self.summary_without_scores, scores=self._truth.table())
        if self._kind == "decision" or self.answered:
            return plain
        return decide_at(plain, Threshold(0.5, "default"))

    @property
    def summary_without_scores(self) -> Summary:
        """The statistics of all batches without their scores."""
        implied = self.answered and self._implied and self._kind not in (None, "decision")
        return Summary(
            space=self.space,
            rows=self.rows,
            weight=float(self.rows),
            tally=RowSums.from_rows({}, np.array([float(self.rows)])),
            counts=self._counts[0] if self._counts else None,
            score_kind=self._kind,
            threshold=Threshold(0.5, "predictions") if implied else None,
        )

    def take(self, counted: Summary) -> None:
        """Add the counts of another process, without scores; nothing else is added."""
        self.rows, self._kind = counted.rows, counted.score_kind
        self._counts = [counted.counts] if isinstance(counted.counts, Counts) else []
        self._implied = counted.threshold is not None

    def holders(self) -> Mapping[str, ScoreHolder]:
        """Return what holds the scores against the truth, and against the answers, by a name."""
        return {"truth": self._truth, "answers": self._decided}

    @cached_property
    def prediction_table(self) -> ScoreTable | None:
        """The scores against the predictions; None if these follow from a known threshold."""
        apart = self.answered and self._kind is not None
        return self._decided.table() if apart and (not self._implied or self._kind == "decision") else None

    def close(self) -> None:
        """Give back memory and files, whatever happened."""
        for words in (self._truth, self._decided):
            words.close()


def check_plain(batch: Predictions) -> None:
    """Refuse rows that weigh or belong together, which a stream does not know.

    Raises
    ------
    UsageError
    """
    if batch.weighted or batch.groups is not None or batch.folds is not None:
        raise UsageError("a stream supports neither weights nor groups", fix="use --set engine=memory")


class TruthDigest:
    """The digest of (label, truth) in the order of the rows, as of `Predictions.truth_digest` without ids.

    Examples
    --------
    >>> from evalreport.data.labels import Binary
    >>> from evalreport.data.predictions import predictions
    >>> p = predictions(Binary("b", "a"), ["a", "b"], ["a", "a"])
    >>> digest = TruthDigest(p.space)
    >>> digest.add(p)
    >>> digest.hex == p.truth_digest
    True
    """

    def __init__(self, space: LabelSpace) -> None:
        self._place = np.argsort(np.argsort(space.names, kind="stable")).astype(np.int32)
        self._digest = hashlib.sha256("\x1f".join(sorted(space.names)).encode())

    def add(self, batch: Predictions) -> None:
        """Take the truth of a batch."""
        truth = batch.y_true
        placed = truth[:, np.argsort(self._place)] if truth.ndim == 2 else self._place[truth]
        self._digest.update(np.ascontiguousarray(placed).data)

    @property
    def hex(self) -> str:
        """The digest so far."""
        return self._digest.hexdigest()


class SeveralStream:
    """Counts of predictions of several labels, added batch by batch.

    Parameters
    ----------
    space : Multiclass or Multilabel
    tables : bool
        Whether scores are ranked; without it there are counts and means over rows alone.
    """

    def __init__(self, space: LabelSpace, *, tables: bool = True) -> None:
        self.space, self._tables = space, tables
        self.support = np.zeros(len(space))
        """Examples of each label."""
        self._facts: Summary | None = None

    @property
    def rows(self) -> int:
        """Rows so far."""
        return 0 if self._facts is None else self._facts.rows

    @property
    def score_kind(self) -> ScoreKind | None:
        """Kind of the scores that rows came with."""
        return None if self._facts is None else self._facts.score_kind

    @property
    def is_scored(self) -> bool:
        """Whether rows came with scores that are ranked, and are to go by again."""
        return self._tables and self.score_kind is not None

    def add(self, batch: Predictions) -> None:
        """Count a batch: validated, of these labels, each row weighing 1.

        Raises
        ------
        UsageError
            Rows with weights, groups or folds.
        DataError
            The disk is full.
        """
        check_plain(batch)
        truth = batch.y_true
        self.support += truth.sum(axis=0) if truth.ndim == 2 else sums(truth, None, len(self.space))
        facts = self._summarise_batch(replace(batch, space=self.space))
        self._facts = facts if self._facts is None else merge(align_row_sums([self._facts, facts]))

    def _summarise_batch(self, batch: Predictions) -> Summary:
        """The statistics of a batch."""
        return summarise_counts(batch)

    def summary(self) -> Summary:
        """Return the statistics of all batches; nothing can be added afterwards."""
        return self.summary_without_scores

    @property
    def summary_without_scores(self) -> Summary:
        """The statistics of all batches without their scores."""
        return (
            Summary(self.space, 0, 0.0, RowSums.from_rows({}, np.zeros(0)))
            if self._facts is None
            else self._facts
        )

    def take(self, counted: Summary) -> None:
        """Add the counts of another process, without scores; nothing else is added."""
        self._facts = counted

    def holders(self) -> Mapping[str, ScoreHolder]:
        """Return what holds scores, by a name."""
        return {}

    def close(self) -> None:
        """Give back memory and files, whatever happened."""


class ClassStream(SeveralStream):
    """Statistics of multiclass predictions, added batch by batch.

    Parameters
    ----------
    space : Multiclass
    holders : Holders
        What the confidences go into, such as a `Budget`.
    tables : bool
        Whether scores are ranked; without it there are counts and means over rows alone.

    Examples
    --------
    >>> from evalreport.features.large.score_words import Budget
    >>> from evalreport.data.labels import Multiclass
    >>> from evalreport.data.predictions import predictions
    >>> stream = ClassStream(Multiclass("abc"), Budget())
    >>> for truth in ("ab", "ca"):
    ...     stream.add(predictions(Multiclass("abc"), list(truth), list("ab")))
    >>> stream.summary().counts.marginals.tp
    array([1., 1., 0.])
    """

    def __init__(self, space: LabelSpace, holders: Holders, *, tables: bool = True) -> None:
        super().__init__(space, tables=tables)
        size, edges = len(space), holders.edges
        self.ranked: OwnScores | ClassCells = (
            OwnScores(size, holders.budget) if edges is None else ClassCells(size, edges)
        )
        self._confidence = holders.holder()
        self.places: ScorePlaces | RangePlaces | None = None
        """What rows go by again for."""

    def add(self, batch: Predictions) -> None:
        """Count a batch, and keep what of its scores they are ranked by."""
        super().add(batch)
        if self._tables and not isinstance(batch.scores, NoScores):
            values = batch.scores.values
            self.ranked.add(values, batch.y_true)
            if isinstance(batch.scores, Probabilities):
                best = highest(values)
                self._confidence.add(values[np.arange(len(best)), best], best == batch.y_true)

    def prepare_second_pass(self, wanted: npt.NDArray[Any]) -> None:
        """Make ready for the same rows to go by again, of which some are kept whole."""
        self.places = self.ranked.build_places(wanted)

    def place(self, batch: Predictions) -> None:
        """Place the scores of a batch among those of the first time."""
        if self.places is not None and not isinstance(batch.scores, NoScores):
            self.places.add(batch.scores.values, batch.y_true)

    def holders(self) -> Mapping[str, ScoreHolder]:
        """Return what holds the confidences, by a name."""
        return {"confidence": self._confidence} if self._tables else {}

    def summary(self) -> Summary:
        """Return the statistics of all batches; nothing can be added afterwards."""
        facts = super().summary()
        if self.places is None:
            return replace(facts, bins=None)
        confidence = None if facts.bins is None else self._confidence.table()
        return replace(facts, scores=self.places.scores(), confidence=confidence)

    def close(self) -> None:
        """Give back memory and files, whatever happened."""
        self._confidence.close()
        if isinstance(self.ranked, OwnScores):
            self.ranked.close()


class LabelStream(SeveralStream):
    """Statistics of multilabel predictions, added batch by batch.

    Each label is a binary problem, whose scores go into a separate holder.

    Parameters
    ----------
    space : Multilabel
    holders : Holders
        What the scores go into, such as a `Budget`.
    tables : bool
        Whether scores are kept; without it there are counts and means over rows alone.

    Examples
    --------
    >>> from evalreport.features.large.score_words import Budget
    >>> from evalreport.data.predictions import predictions
    >>> from evalreport.data.labels import Multilabel
    >>> stream = LabelStream(Multilabel("ab"), Budget())
    >>> for truth in (["a"], ["a", "b"]):
    ...     stream.add(predictions(Multilabel("ab"), [truth], [["a"]]))
    >>> stream.summary().counts.tp
    array([2., 0.])
    """

    def __init__(self, space: LabelSpace, holders: Holders, *, tables: bool = True) -> None:
        super().__init__(space, tables=tables)
        self._holders = holders
        self._truth: list[ScoreHolder] = []
        self._right = holders.holder()
        self.always = 0
        """Rows that are wholly right above any threshold, up to one."""
        self._decided: list[ScoreHolder] = []
        self._kind: npt.DTypeLike = np.float64
        self._scores: LabelTables | None = None
        self.places = KeptRows(np.empty(0, dtype=np.intp))
        """What rows go by again for."""

    def add(self, batch: Predictions) -> None:
        """Count a batch, and keep its scores label by label."""
        super().add(batch)
        if not self._tables or isinstance(batch.scores, NoScores):
            return
        values = np.ascontiguousarray(batch.scores.values.T)
        if not self._truth:
            self._kind = values.dtype
            self._truth = [self._holders.holder() for _ in values]
        _add(self._truth, values, batch.y_true)
        self._add_right(batch.scores.values, batch.y_true.astype(bool))
        if batch.y_pred is not None and (batch.threshold is None or batch.threshold.origin == "predictions"):
            self._decided = self._decided or [self._holders.holder() for _ in values]
            _add(self._decided, values, batch.y_pred)

    def _add_right(self, values: npt.NDArray[Any], truth: npt.NDArray[np.bool_]) -> None:
        low, high = right_between(values, truth)
        can = low < high
        ends = (low[can & np.isfinite(low)], high[can & np.isfinite(high)])
        self.always += int(np.count_nonzero(can & np.isinf(low)))
        self._right.add(np.concatenate(ends), np.repeat([True, False], [*map(len, ends)]))

    def take(self, counted: Summary) -> None:
        """Add the counts of another process, with a holder for each table of scores."""
        super().take(counted)
        if self.is_scored:
            self._truth = [self._holders.holder() for _ in self.space.names]
            answered = counted.counts is not None and counted.threshold is None
            self._decided = [self._holders.holder() for _ in self.space.names] if answered else []

    def holders(self) -> Mapping[str, ScoreHolder]:
        """Return what holds the scores of each label, and those of rows that are wholly right, by a name."""
        held = {"truth": self._truth, "answers": self._decided, "right": [self._right]}
        return {f"{name} {label}": one for name, each in held.items() for label, one in enumerate(each)}

    def scores(self) -> LabelTables:
        """Return the table of each label; nothing can be added after it."""
        if self._scores is None:
            tables = [one.table() for one in self._truth]
            self._scores = LabelTables(
                tables, self._right.table(), float(self.always), self._kind, self._holders.budget
            )
        return self._scores

    def prediction_tables(self) -> list[ScoreTable]:
        """Return each label's scores against its answers; none where these follow from a threshold."""
        unknown = self._facts is not None and self._facts.threshold is None
        return [one.table() for one in self._decided] if unknown else []

    def prepare_second_pass(self, wanted: npt.NDArray[Any]) -> None:
        """Make ready for the same rows to go by again, of which some are kept whole."""
        self.places = self.scores().kept = KeptRows(wanted)

    def place(self, batch: Predictions) -> None:
        """Take a batch that goes by again."""
        if not isinstance(batch.scores, NoScores):
            self.places.add(batch.scores.values, batch.y_true)

    def _summarise_batch(self, batch: Predictions) -> Summary:
        facts = super()._summarise_batch(batch)
        if batch.y_pred is None:
            return facts
        moments = LabelMoments.from_flags(batch.y_true.astype(bool), batch.y_pred.astype(bool))
        return replace(facts, together=moments)

    def summary(self) -> Summary:
        """Return the statistics of all batches; nothing can be added afterwards."""
        facts = super().summary()
        if isinstance(facts.counts, BinaryCounts) and facts.threshold is None:
            unknown = np.full(len(self.space), np.nan)  # where some batches agreed with a threshold by chance
            facts = replace(facts, counts=replace(facts.counts, threshold=unknown))
        if not self.is_scored:
            return replace(facts, bins=None)
        self.places.check_all(self.rows)
        return replace(facts, scores=self.scores())

    def close(self) -> None:
        """Give back memory and files, whatever happened."""
        for one in (*self._truth, *self._decided, self._right):
            one.close()


def _add(holders: Sequence[ScoreHolder], values: npt.NDArray[Any], flags: npt.NDArray[Any]) -> None:
    for holder, column, flag in zip(holders, values, flags.T, strict=True):
        holder.add(column, np.ascontiguousarray(flag, dtype=np.bool_))

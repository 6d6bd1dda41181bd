"""The streaming engine: predictions batch by batch, exact, without ever holding their rows."""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from evalreport.errors import UsageError
from evalreport.facts import Counts, ScoreTable, Summary, Tally
from evalreport.facts.binned import BinnedTable
from evalreport.facts.words import Budget
from evalreport.labels import UNPARSED, LabelSpace
from evalreport.predictions import Predictions, Threshold
from evalreport.scores import NoScores, ScoreKind

EXTREMES = 20
"""Rows of each class that are kept from either end of the scores: the worst mistakes are among them,
whatever the threshold."""


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
    >>> from evalreport.facts.words import Budget
    >>> from evalreport.labels import Binary
    >>> from evalreport.predictions import predictions
    >>> from evalreport.scores import Probabilities
    >>> stream = BinaryStream(Binary(0, 1), Budget())
    >>> for part in ([0.1, 0.9], [0.4, 0.6]):
    ...     stream.add(predictions(Binary(0, 1), [0, 1], scores=Probabilities(part)))
    >>> stream.summary().counts.total
    4.0
    """

    def __init__(self, space: LabelSpace, holders: Holders, *, answered: bool = False) -> None:
        self.space, self.answered = space, answered
        self._truth, self._decided = holders.holder(), holders.holder()
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
        if self.answered and batch.y_pred is not None:
            self._counts = [reduce(add, [*self._counts, Counts.of(batch.y_true, batch.y_pred, 2)])]
            self._implied &= batch.threshold is not None
        if isinstance(batch.scores, NoScores):
            return
        self._kind = batch.scores.declared
        self._truth.add(batch.scores.values, batch.y_true.astype(bool))
        if self.answered and batch.y_pred is not None:
            read = batch.y_pred != UNPARSED
            self._decided.add(batch.scores.values[read], batch.y_pred[read].astype(bool))

    def summary(self) -> Summary:
        """Return the facts of all batches; nothing can be added after it."""
        if self._kind is None:
            return self.counted
        plain = replace(self.counted, scores=self._truth.table())
        if self._kind == "decision" or self.answered:
            return plain
        return decided_at(plain, Threshold(0.5, "default"))

    @property
    def counted(self) -> Summary:
        """The facts of all batches but for their scores."""
        implied = self.answered and self._implied and self._kind not in (None, "decision")
        return Summary(
            space=self.space,
            rows=self.rows,
            weight=float(self.rows),
            tally=Tally.of({}, np.array([float(self.rows)])),
            counts=self._counts[0] if self._counts else None,
            score_kind=self._kind,
            threshold=Threshold(0.5, "predictions") if implied else None,
        )

    def take(self, counted: Summary) -> None:
        """Take over what was counted elsewhere, but for the scores: nothing else is added."""
        self.rows, self._kind = counted.rows, counted.score_kind
        self._counts = [counted.counts] if isinstance(counted.counts, Counts) else []
        self._implied = counted.threshold is not None

    def holders(self) -> Mapping[str, ScoreHolder]:
        """Return what holds the scores against the truth, and against the answers, by a name."""
        return {"truth": self._truth, "answers": self._decided}

    def decided(self) -> ScoreTable | None:
        """Return the scores against the answers, where these follow from no threshold that is known."""
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
        raise UsageError("a stream counts rows that weigh 1 and stand alone", fix="use --engine memory")


def decided_at(summary: Summary, threshold: Threshold) -> Summary:
    """Return the facts of the same rows decided at a threshold, which their score table tells.

    Examples
    --------
    >>> from evalreport.labels import Binary
    >>> table = ScoreTable.of(np.array([0.2, 0.8]), np.array([False, True]))
    >>> plain = Summary(Binary(0, 1), 2, 2.0, Tally.of({}, np.ones(2)), scores=table)
    >>> decided_at(plain, Threshold(0.5, "given")).counts.dense()
    array([[1., 0., 0.],
           [0., 1., 0.]])

    Raises
    ------
    UsageError
        There are no scores.
    """
    table = summary.scores
    if not isinstance(table, ScoreTable):
        raise UsageError(
            "a threshold needs scores, and there are none", fix="name the score column with --score"
        )
    if isinstance(table, BinnedTable) and isinstance(threshold.value, float):
        table.check_edge(threshold.value)
    tp, fp = table.path
    flagged = len(table) - bisect_left(table.scores, threshold.value)  # a stored column is not read whole
    cells = {
        0: table.negatives - fp[flagged],
        1: fp[flagged],
        3: table.positives - tp[flagged],
        4: tp[flagged],
    }
    held = [cell for cell, weight in cells.items() if weight]
    counts = Counts(2, np.array(held, dtype=np.int64), np.array([float(cells[cell]) for cell in held]))
    return replace(summary, counts=counts, threshold=threshold)


@dataclass(frozen=True, eq=False)
class _Kept:
    """A row that may be among the worst mistakes."""

    row: int
    truth: int
    answer: int | None
    score: float
    id: str | None


class Extremes:
    """The rows of two labels with scores among which the worst mistakes are, whatever the threshold.

    Parameters
    ----------
    first : int
        Number of the first row.

    Examples
    --------
    >>> from evalreport.labels import Binary
    >>> from evalreport.predictions import predictions
    >>> from evalreport.scores import Probabilities
    >>> kept = Extremes()
    >>> kept.add(predictions(Binary(0, 1), [0, 1], [0, 0], Probabilities([0.1, 0.2])), None)
    >>> [one.row for one in kept.rows]
    [1]
    """

    def __init__(self, first: int = 0) -> None:
        self._cells: dict[tuple[int, int | None, int], list[_Kept]] = {}
        self._rows = first

    @property
    def rows(self) -> list[_Kept]:
        """The rows that are kept, in their order."""
        found = {one.row: one for cell in self._cells.values() for one in cell}
        return [found[row] for row in sorted(found)]

    def add(self, batch: Predictions, ids: npt.NDArray[Any] | None) -> None:
        """Look at a batch of binary predictions, with the ids of its rows."""
        answers = batch.y_pred if batch.threshold is None or batch.threshold.origin == "predictions" else None
        for truth in (0, 1):
            here = batch.y_true == truth
            if answers is None:
                self._look(here, (truth, None), batch, ids)
                continue
            for answer in (UNPARSED, 1 - truth):
                self._look(here & (answers == answer), (truth, answer), batch, ids)
        self._rows += len(batch)

    def _look(
        self,
        here: npt.NDArray[np.bool_],
        cell: tuple[int, int | None],
        batch: Predictions,
        ids: npt.NDArray[Any] | None,
    ) -> None:
        if isinstance(batch.scores, NoScores):
            return
        scores = batch.scores.values
        for sign in (1, -1):
            known, nearer = self._cells.get((*cell, sign), []), here
            if len(known) == EXTREMES:  # of equal scores the row that came first is kept
                last = known[-1].score
                nearer = here & ((scores < last) if sign > 0 else (scores > last))
            some = rows = np.flatnonzero(nearer)
            if len(rows) > EXTREMES:
                key = sign * scores[rows]
                near = rows[key <= np.partition(key, EXTREMES)[EXTREMES - 1]]
                some = near[np.argsort(sign * scores[near], kind="stable")[:EXTREMES]]
            found = [
                _Kept(self._rows + row, *cell, scores[row].item(), None if ids is None else str(ids[row]))
                for row in some.tolist()
            ]
            self._keep((*cell, sign), found)

    def _keep(self, cell: tuple[int, int | None, int], found: list[_Kept]) -> None:
        known = [*self._cells.get(cell, []), *found]
        known.sort(key=lambda one: (cell[2] * one.score, one.row))
        self._cells[cell] = known[:EXTREMES]

    def state(self) -> list[Any]:
        """Return the rows that are kept as what JSON can hold."""
        return [[*cell, [list(vars(one).values()) for one in kept]] for cell, kept in self._cells.items()]

    def take(self, state: Sequence[Any], number: Callable[[int], int]) -> None:
        """Add the rows of another, each under a number that follows from the one it has there."""
        for truth, answer, sign, rows in state:
            self._keep((truth, answer, sign), [_Kept(number(row), *more) for row, *more in rows])


class TruthDigest:
    """The digest of (label, truth) in the order of the rows, as of `Predictions.truth_digest` without ids.

    Examples
    --------
    >>> from evalreport.labels import Binary
    >>> from evalreport.predictions import predictions
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

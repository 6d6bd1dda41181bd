"""The worst mistakes of a stream of predictions, by the rules of rows in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.engines.stream import Extremes
from evalreport.evaluation.parts import Mistake
from evalreport.evaluation.rows import MISTAKES, in_turns, worst_mistakes
from evalreport.facts import Counts, Summary
from evalreport.labels import UNPARSED, LabelSpace, Multilabel
from evalreport.predictions import Predictions, Threshold, predictions
from evalreport.scores import Decisions, Probabilities


class MixUps:
    """The first rows of each mix-up, where no score tells which is the worst.

    Of twenty mix-ups or more one row of each is shown: only of fewer are there several kept.

    Examples
    --------
    >>> from evalreport.labels import Multiclass
    >>> p = predictions(Multiclass("abc"), list("abca"), list("acbb"))
    >>> kept = MixUps(p.space)
    >>> kept.add(p, None)
    >>> counts = Counts.of(p.y_true, p.y_pred, 3)
    >>> [one.row for one in kept.mistakes(Summary(p.space, 4, 4.0, None, counts), None)]
    [3, 1, 2]
    """

    def __init__(self, space: LabelSpace, first: int = 0) -> None:
        self._space = space
        self._rows: dict[int, list[tuple[int, str | None]]] = {}
        self._seen = first

    def add(self, batch: Predictions, ids: npt.NDArray[Any] | None) -> None:
        """Look at a batch with answers, with the ids of its rows."""
        if batch.y_pred is not None:
            size = len(self._space) + 1
            wrong = np.flatnonzero(batch.y_true != batch.y_pred)
            pair = batch.y_true[wrong].astype(np.int64) * size + batch.y_pred[wrong] + 1  # unread ones first
            order = np.argsort(pair, kind="stable")
            found, starts = np.unique(pair[order], return_index=True)
            for code, rows in zip(found.tolist(), np.split(wrong[order], starts[1:]), strict=False):
                self._keep(code, rows, ids)
        self._seen += len(batch)

    def _keep(self, code: int, rows: npt.NDArray[np.intp], ids: npt.NDArray[Any] | None) -> None:
        known = self._rows.setdefault(code, [])
        most = 1 if len(self._rows) > MISTAKES else MISTAKES
        for row in rows[: max(most - len(known), 0)].tolist():
            at = self._seen + row
            known.append((at, None if ids is None else str(ids[row])))

    def mistakes(self, summary: Summary, point: Threshold | None) -> tuple[Mistake, ...]:
        """Return the most frequent mix-ups, one row of each in turn."""
        del point
        counts, size = summary.counts, len(self._space) + 1
        if not isinstance(counts, Counts) or not self._rows:
            return ()
        matrix = counts.dense()
        pairs = {code: divmod(code, size) for code in sorted(self._rows)}
        often = sorted(pairs, key=lambda code: -matrix[pairs[code][0], pairs[code][1] - 1])[:MISTAKES]
        of_row = {row: (code, name) for code in often for row, name in self._rows[code]}
        rows = in_turns([[row for row, _ in self._rows[code]] for code in often])
        return tuple(self._mistake(row, of_row[row][1], *pairs[of_row[row][0]]) for row in rows)

    def state(self) -> list[Any]:
        """Return the rows that are kept as what JSON can hold."""
        return [[code, rows] for code, rows in self._rows.items()]

    def take(self, state: Sequence[Any], number: Callable[[int], int]) -> None:
        """Add the rows of another, each under a number that follows from the one it has there."""
        for code, rows in state:
            known = [*self._rows.get(code, []), *((number(row), name) for row, name in rows)]
            self._rows[code] = sorted(known, key=lambda one: one[0])[:MISTAKES]

    def _mistake(self, row: int, name: str | None, truth: int, answer: int) -> Mistake:
        names, name = self._space.names, str(row) if name is None else name
        return Mistake(row, name, (names[truth],), () if answer == 0 else (names[answer - 1],), None)


class WorstRows:
    """The worst mistakes of several classes with scores, or of several labels per row.

    Those of each batch are found by the rule of rows in memory; of them the worst are kept.

    Examples
    --------
    >>> from evalreport.labels import Multiclass
    >>> kept = WorstRows(Multiclass("ab"))
    >>> for scores in ([[0.2, 0.8]], [[0.1, 0.9]]):
    ...     kept.add(predictions(Multiclass("ab"), ["a"], scores=Probabilities(scores)), None)
    >>> [(one.row, one.confidence) for one in kept.mistakes(None, None)]
    [(1, 0.9), (0, 0.8)]
    """

    def __init__(self, space: LabelSpace, first: int = 0) -> None:
        self._key = _most_errors if isinstance(space, Multilabel) else _most_confident
        self._rows: list[Mistake] = []  # without an id where rows have none
        self._seen = first

    def add(self, batch: Predictions, ids: npt.NDArray[Any] | None) -> None:
        """Look at a batch, with the ids of its rows."""
        for one in worst_mistakes(batch):
            name = "" if ids is None else str(ids[one.row])
            self._rows.append(replace(one, row=self._seen + one.row, id=name))
        self._rows = sorted(self._rows, key=self._key)[:MISTAKES]
        self._seen += len(batch)

    def state(self) -> list[Any]:
        """Return the rows that are kept as what JSON can hold."""
        return [[one.row, one.id, one.truth, one.predicted, one.confidence] for one in self._rows]

    def take(self, state: Sequence[Any], number: Callable[[int], int]) -> None:
        """Add the rows of another, each under a number that follows from the one it has there."""
        for row, name, truth, predicted, confidence in state:
            self._rows.append(Mistake(number(row), name, tuple(truth), tuple(predicted), confidence))
        self._rows = sorted(self._rows, key=self._key)[:MISTAKES]

    def mistakes(self, summary: Summary, point: Threshold | None) -> tuple[Mistake, ...]:
        """Return the worst of all."""
        del summary, point
        return tuple(replace(one, id=one.id or str(one.row)) for one in self._rows)


def _most_confident(one: Mistake) -> tuple[float, int]:
    return (np.inf if one.confidence is None else -one.confidence), one.row


def _most_errors(one: Mistake) -> tuple[float, int]:
    return -len({*one.truth} ^ {*one.predicted}), one.row


class ScoredMistakes:
    """The most confident wrong answers to two labels.

    Rows at both ends of the scores are kept, for a threshold that is not known yet.

    Examples
    --------
    >>> from evalreport.facts import Tally
    >>> from evalreport.labels import Binary
    >>> p = predictions(Binary(0, 1), [0, 1], None, Probabilities([0.7, 0.2]))
    >>> kept = ScoredMistakes(p.space, answered=False)
    >>> kept.add(p, None)
    >>> plain = Summary(p.space, 2, 2.0, Tally.of({}, np.ones(2)), Counts.of(p.y_true, p.y_pred, 2))
    >>> [one.row for one in kept.mistakes(plain, Threshold(0.5, "default"))]
    [1, 0]
    """

    def __init__(self, space: LabelSpace, first: int = 0, *, answered: bool) -> None:
        self._space, self._answered = space, answered
        self._kept = Extremes(first)

    def add(self, batch: Predictions, ids: npt.NDArray[Any] | None) -> None:
        """Look at a batch with scores, with the ids of its rows."""
        self._kept.add(batch, ids)

    def state(self) -> list[Any]:
        """Return the rows that are kept as what JSON can hold."""
        return self._kept.state()

    def take(self, state: Sequence[Any], number: Callable[[int], int]) -> None:
        """Add the rows of another, each under a number that follows from the one it has there."""
        self._kept.take(state, number)

    def mistakes(self, summary: Summary, point: Threshold | None) -> tuple[Mistake, ...]:
        """Return the worst mistakes at a threshold, by the rule of rows in memory."""
        rows = self._kept.rows
        if not rows or summary.counts is None:
            return ()
        given = self._answered and (point is None or point.origin == "predictions")
        scores = Decisions if summary.score_kind == "decision" else Probabilities
        few = predictions(
            self._space,
            [self._space.labels[row.truth] for row in rows],
            [_label(self._space, row.answer) for row in rows] if given else None,
            scores(np.array([row.score for row in rows])),
            ids=[row.id if row.id is not None else str(row.row) for row in rows],
            missing="wrong",
        )
        if point is not None and not given:
            few = few.at(point)
        return tuple(replace(one, row=rows[one.row].row) for one in worst_mistakes(few))


def _label(space: LabelSpace, answer: int | None) -> Any:
    return None if answer is None or answer == UNPARSED else space.labels[answer]

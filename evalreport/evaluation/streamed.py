"""What is observed of a stream of predictions: facts that were counted, and the few rows that are shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.answers import counted_wrong
from evalreport.engines.stream import BinaryStream, Extremes, TruthDigest, decided_at
from evalreport.errors import DataError
from evalreport.evaluation.observed import Observed
from evalreport.evaluation.parts import Mistake
from evalreport.evaluation.row_facts import table_facts
from evalreport.evaluation.rows import worst_mistakes
from evalreport.evaluation.slices import MOST_VALUES
from evalreport.facts import Counts, ScoreTable, Summary
from evalreport.facts.words import Budget
from evalreport.labels import UNPARSED, LabelSpace
from evalreport.predictions import Predictions, Threshold, predictions
from evalreport.scores import Decisions, NoScores, Probabilities, clipped

MOST_SLICES = 1000
"""Values of a column up to which each is counted: every one has a table of its own."""


class Watch:
    """Everything that is observed of a stream of binary predictions.

    Parameters
    ----------
    space : Binary
    budget : Budget
    answered : bool
        Whether the batches come with answers.

    Examples
    --------
    >>> from evalreport.labels import Binary
    >>> p = predictions(Binary(0, 1), [0, 1], [0, 0])
    >>> with Watch(p.space, Budget(), answered=True) as watch:
    ...     watch.add(p, None)
    ...     seen = watch.observed()
    >>> seen.mistakes[0].row, seen.summary.rows
    (1, 2)
    """

    def __init__(self, space: LabelSpace, budget: Budget, *, answered: bool) -> None:
        self.space, self.budget, self.answered = space, budget, answered
        self._whole = BinaryStream(space, budget, answered=answered)
        self._parts: dict[str, dict[str, BinaryStream]] = {}
        self._extremes, self._digest = Extremes(), TruthDigest(space)
        self._ids = False
        self._lost = self._clipped = 0

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_: object) -> None:
        self._whole.close()
        for column in self._parts.values():
            for part in column.values():
                part.close()

    @property
    def rows(self) -> int:
        """Rows so far."""
        return self._whole.rows

    def add(self, batch: Predictions, ids: npt.NDArray[Any] | None) -> None:
        """Count a batch, and look at its rows."""
        self._whole.add(batch)
        self._extremes.add(batch, ids)
        self._digest.add(batch)
        self._ids = ids is not None
        self._lost += 0 if batch.y_pred is None else int(np.count_nonzero(batch.y_pred == UNPARSED))
        if not isinstance(batch.scores, NoScores):
            self._clipped += sum(int(note.split()[0]) for note in batch.scores.notes)
        for name, column in batch.slices.items():
            parts = self._parts.setdefault(name, {})
            for code in np.unique(column.codes).tolist():
                value = column.values[code]
                if value not in parts:
                    self._check(name, parts)
                    parts[value] = BinaryStream(self.space, self.budget, answered=self.answered)
                parts[value].add(batch.take(column.codes == code))

    def _check(self, name: str, parts: Mapping[str, BinaryStream]) -> None:
        if len(parts) >= MOST_SLICES:
            raise DataError(
                f"column {name!r} has over {MOST_SLICES:,} values, which are no slices",
                where=f"--slice {name}",
                fix="name a column of fewer values",
            )

    def observed(self, threshold: Threshold | None = None, notes: Iterable[str] = ()) -> Observed:
        """Return what was observed, decided at a threshold where one is given."""
        summary = self._whole.summary()
        facts: dict[str, float] = {}
        if isinstance(summary.scores, ScoreTable):
            table = None if threshold is not None else self._whole.decided()
            kind = summary.score_kind != "decision"
            facts = table_facts(summary.scores, table, probabilities=kind)
        seen = Observed(
            summary=summary,
            facts=facts,
            slices={name: _most_frequent(parts) for name, parts in self._parts.items()},
            truth_digest="" if self._ids else self._digest.hex,
            notes=(*notes, *counted_wrong(self._lost), *([clipped(self._clipped)] if self._clipped else [])),
        )
        return self.decided(seen, summary.threshold if threshold is None else threshold, again=threshold)

    def decided(self, seen: Observed, point: Threshold | None, *, again: Threshold | None) -> Observed:
        """Return what was observed with decisions at another threshold, and the mistakes that these make."""
        if again is not None:
            slices = {
                name: {value: decided_at(part, again) for value, part in parts.items()}
                for name, parts in seen.slices.items()
            }
            seen = replace(seen, summary=decided_at(seen.summary, again), slices=slices)
        return replace(seen, mistakes=self._mistakes(seen.summary, point))

    def _mistakes(self, summary: Summary, point: Threshold | None) -> tuple[Mistake, ...]:
        """The worst mistakes: the rule of rows in memory, on the rows that can be among them."""
        rows = self._extremes.rows
        if not rows or summary.counts is None:
            return ()
        given = self.answered and (point is None or point.origin == "predictions")
        scored = rows[0].score is not None
        if given and not scored:
            rows = _frequent_longer(rows, summary)
        answers = [_label(self.space, row.answer) for row in rows] if given else None
        scores = Decisions if summary.score_kind == "decision" else Probabilities
        few = predictions(
            self.space,
            [self.space.labels[row.truth] for row in rows],
            answers,
            scores(np.array([row.score for row in rows])) if scored else None,
            ids=[row.id if row.id is not None else str(row.row) for row in rows],
            missing="wrong",
        )
        if point is not None and not given:
            few = few.at(point)
        found = worst_mistakes(few)
        return tuple(replace(one, row=rows[one.row].row) for one in found)


def _label(space: LabelSpace, answer: int | None) -> Any:
    return None if answer is None or answer == UNPARSED else space.labels[answer]


def _frequent_longer(rows: list[Any], summary: Summary) -> list[Any]:
    """Rows of mix-ups, of the more frequent ones more: their order follows from how many there are."""
    if not isinstance(summary.counts, Counts):
        return rows
    matrix = summary.counts.dense()
    counts = Counter((row.truth, row.answer) for row in rows)
    order = sorted(counts, key=lambda pair: (-matrix[pair[0], pair[1]], pair))
    most = {pair: max(counts.values()) - rank for rank, pair in enumerate(order)}
    taken: Counter[tuple[int, int]] = Counter()
    kept = []
    for row in rows:
        pair = (row.truth, row.answer)
        taken[pair] += 1
        if taken[pair] <= most[pair]:
            kept.append(row)
    return kept


def _most_frequent(parts: Mapping[str, BinaryStream]) -> dict[str, Summary]:
    told = sorted(sorted(parts), key=lambda value: -parts[value].rows)[:MOST_VALUES]
    return {value: parts[value].summary() for value in told}

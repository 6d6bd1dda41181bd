"""The worst mistakes of a stream of predictions, by the rules of rows in memory.

Observations of a stream of predictions: statistics, and the few rows that are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.columns.column_request import Columns
from evalreport.core.errors import DataError
from evalreport.data.labels import UNPARSED, Binary, LabelSpace, Multilabel
from evalreport.data.predictions import Predictions, Threshold, counted_wrong, predictions
from evalreport.data.scores import Decisions, NoScores, Probabilities, clipped_notes
from evalreport.evaluation.data_checks import (
    Repeats,
    ScoreShape,
    absent_labels,
    nearest_rule,
    row_keys,
    table_facts,
)
from evalreport.evaluation.evaluate import Observed
from evalreport.evaluation.parts import MISTAKES, Mistake, Swap, in_turns, top_swaps, worst_mistakes
from evalreport.evaluation.slices import MOST_VALUES
from evalreport.features.large.engine import (
    BinaryStream,
    ClassStream,
    Holders,
    KeyHolder,
    LabelStream,
    TruthDigest,
)
from evalreport.features.large.guard import ReadingGuard, refuse_reading
from evalreport.features.large.read import PredictionStream
from evalreport.features.large.second_pass import LabelTables
from evalreport.intervals.class_averages import sample_covariance_rows
from evalreport.intervals.interval_settings import Sampling
from evalreport.statistics.confusion import Counts
from evalreport.statistics.score_table import BinnedTable, ScoreTable
from evalreport.statistics.summary import Summary, align_row_sums, decide_at


class MixUps:
    """The first rows of each confusion, where there are no scores to sort by.

    With twenty confusions or more, one row of each is shown; with fewer, several are kept.

    Examples
    --------
    >>> from evalreport.data.labels import Multiclass
    >>> p = predictions(Multiclass("abc"), list("abca"), list("acbb"))
    >>> kept = MixUps(p.space)
    >>> kept.add(p, None)
    >>> counts = Counts.from_codes(p.y_true, p.y_pred, 3)
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
        """Return rows of the most frequent confusions, one row of each in turn."""
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
    >>> from evalreport.data.labels import Multiclass
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


EXTREMES = 20
"""Rows of each class that are kept from either end of the scores: the worst mistakes are among them,
whatever the threshold."""


@dataclass(frozen=True, eq=False)
class _Kept:
    """A row that may be among the worst mistakes."""

    row: int
    truth: int
    answer: int | None
    score: float
    id: str | None


class ScoredMistakes:
    """The most confident wrong predictions of a binary problem.

    Rows at both ends of the scores are kept, for a threshold that is not known yet.

    Examples
    --------
    >>> from evalreport.statistics.summary import RowSums
    >>> from evalreport.data.labels import Binary
    >>> p = predictions(Binary(0, 1), [0, 1], None, Probabilities([0.7, 0.2]))
    >>> kept = ScoredMistakes(p.space, answered=False)
    >>> kept.add(p, None)
    >>> plain = Summary(
    ...     p.space, 2, 2.0, RowSums.from_rows({}, np.ones(2)), Counts.from_codes(p.y_true, p.y_pred, 2)
    ... )
    >>> [one.row for one in kept.mistakes(plain, Threshold(0.5, "default"))]
    [1, 0]
    """

    def __init__(self, space: LabelSpace, first: int = 0, *, answered: bool) -> None:
        self._space, self._answered, self._seen = space, answered, first
        self._cells: dict[tuple[int, int | None, int], list[_Kept]] = {}

    def add(self, batch: Predictions, ids: npt.NDArray[Any] | None) -> None:
        """Look at a batch, with the ids of its rows."""
        answers = batch.y_pred if batch.threshold is None or batch.threshold.origin == "predictions" else None
        for truth in (0, 1):
            here = batch.y_true == truth
            self._look(here, (truth, None), batch, ids)
            for answer in () if answers is None else (UNPARSED, 1 - truth):
                self._look(here & (answers == answer), (truth, answer), batch, ids)
        self._seen += len(batch)

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
                _Kept(self._seen + row, *cell, scores[row].item(), None if ids is None else str(ids[row]))
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

    def mistakes(self, summary: Summary, point: Threshold | None) -> tuple[Mistake, ...]:
        """Return the worst mistakes at a threshold, by the rule of rows in memory."""
        given = self._answered and (point is None or point.origin == "predictions")
        kept = [rows for cell, rows in self._cells.items() if (cell[1] is not None) == given]
        found = {one.row: one for rows in kept for one in rows}
        rows = [found[row] for row in sorted(found)]
        if not rows or summary.counts is None:
            return ()
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
            few = few.with_threshold(point)
        return tuple(replace(one, row=rows[one.row].row) for one in worst_mistakes(few))


def _label(space: LabelSpace, answer: int | None) -> Any:
    return None if answer is None or answer == UNPARSED else space.labels[answer]


class RowFacts:
    """What `row_facts` says of scores of several labels, batch by batch.

    Examples
    --------
    >>> from evalreport.data.labels import Multiclass
    >>> from evalreport.features.large.score_words import Budget
    >>> facts = RowFacts(Budget().keys())
    >>> for scores in ([[0.9, 0.1]], [[0.0, 1.0]]):
    ...     facts.add(predictions(Multiclass("ab"), ["a"], scores=Probabilities(scores)))
    >>> facts.collect_facts()
    {'constant_scores': 0.0, 'hard_scores': 0.0, 'ruled_out': 1.0, 'off_scores': 0.0}
    """

    def __init__(self, keys: KeyHolder) -> None:
        self.keys = keys
        self.repeats, self.shape = Repeats(), ScoreShape()
        """Of rows in another process, and of all rows."""

    def add(self, batch: Predictions) -> None:
        """Look at a batch."""
        if not isinstance(batch.scores, NoScores):
            self.shape += ScoreShape.from_predictions(batch)
            self.keys.add(row_keys(batch, batch.scores.values))

    def collect_facts(self) -> dict[str, float]:
        """Return the statistics; nothing can be added afterwards."""
        return self.shape.facts((self.repeats + Repeats.from_counts(self.keys.times())).facts())

    def close(self) -> None:
        """Give back memory and files, whatever happened."""
        self.keys.close()


MOST_SLICES = 1000
"""Maximum number of values of a column that are counted: every one has a separate table."""


AnyStream: TypeAlias = BinaryStream | ClassStream | LabelStream


class StreamingEvaluation:
    """Everything that is observed of a stream of predictions.

    Parameters
    ----------
    space : Binary or Multiclass
    holders : Holders
        What scores go into, such as a `Budget`.
    answered : bool
        Whether the batches come with answers.
    first : int
        Number of the first row.
    at : Threshold, optional
        Several labels per row: where they are decided, as each batch comes.
    tables : bool
        Several labels: whether their scores are ranked.

    Examples
    --------
    >>> from evalreport.features.large.score_words import Budget
    >>> from evalreport.data.predictions import predictions
    >>> p = predictions(Binary(0, 1), [0, 1], [0, 0])
    >>> with StreamingEvaluation(p.space, Budget(), answered=True) as watch:
    ...     watch.add(p, None)
    ...     seen = watch.build_observed()
    >>> seen.mistakes[0].row, seen.summary.rows
    (1, 2)
    """

    def __init__(
        self,
        space: LabelSpace,
        holders: Holders,
        *,
        answered: bool,
        first: int = 0,
        at: Threshold | None = None,
        tables: bool = True,
    ) -> None:
        self.space, self.holders, self.answered = space, holders, answered
        self._first, self._at = first, at if isinstance(space, Multilabel) else None
        self._whole, self._tables = self._stream(tables=tables), tables
        self._second_pass: StreamingEvaluation | None = None
        self._parts: dict[str, dict[str, AnyStream]] = {}
        self._shown = self._rows_shown(scored=False)
        self._row_facts, self._known = RowFacts(holders.keys()), dict[str, float]()
        self._digest = TruthDigest(space)
        self.guard = ReadingGuard(len(space))
        self._ids = False
        self._lost = self._clipped = 0

    def __enter__(self) -> StreamingEvaluation:
        return self

    def __exit__(self, *_: object) -> None:
        self._whole.close()
        self._row_facts.close()
        for column in self._parts.values():
            for part in column.values():
                part.close()

    def _stream(self, *, tables: bool = True) -> AnyStream:
        if isinstance(self.space, Binary):
            return BinaryStream(self.space, self.holders, answered=self.answered)
        if isinstance(self.space, Multilabel):
            return LabelStream(self.space, self.holders, tables=tables)
        return ClassStream(self.space, self.holders, tables=tables)

    def _rows_shown(self, *, scored: bool) -> MixUps | ScoredMistakes | WorstRows:
        """What keeps the rows that may be shown."""
        if isinstance(self.space, Multilabel) or (scored and not isinstance(self.space, Binary)):
            return WorstRows(self.space, self._first)
        if scored:
            return ScoredMistakes(self.space, self._first, answered=self.answered)
        return MixUps(self.space, self._first)

    @property
    def rows(self) -> int:
        """Rows so far."""
        return self._whole.rows

    def add(
        self,
        batch: Predictions,
        ids: npt.NDArray[Any] | None,
        beside: Mapping[str, npt.NDArray[Any]] | None = None,
    ) -> None:
        """Count a batch, with the ids of its rows and the columns that may separate evaluations."""
        self.guard.add(batch, ids, beside or {})
        batch = batch if self._at is None else batch.with_threshold(self._at)
        scored = not isinstance(batch.scores, NoScores)
        if scored and not self.rows:
            self._shown = self._rows_shown(scored=True)
        self._whole.add(batch)
        if self._tables and not isinstance(self._whole, BinaryStream):
            self._row_facts.add(batch)
        self._shown.add(batch, ids)
        self._digest.add(batch)
        self._ids = ids is not None
        self._lost += batch.lost
        self._clipped += batch.scores.clipped if isinstance(batch.scores, Probabilities) else 0
        for name, column in batch.slices.items():
            for code in np.unique(column.codes).tolist():
                self._part(name, column.values[code]).add(batch.take(column.codes == code))

    def _part(self, name: str, value: str) -> AnyStream:
        """The rows with a value of a column of slices."""
        parts = self._parts.setdefault(name, {})
        if value not in parts:
            if len(parts) >= MOST_SLICES:
                raise DataError(
                    f"column {name!r} has over {MOST_SLICES:,} values, too many for slices",
                    where=f"--slice {name}",
                    fix="name a column with fewer values",
                )
            parts[value] = self._stream(tables=False)
        return parts[value]

    def prepare_second_pass(self, sampling: Sampling) -> bool:
        """Return whether the same batches are to go by again, and make ready for them."""
        stream = self._whole
        if isinstance(stream, BinaryStream) or not stream.is_scored:
            return False
        self._known = (
            self._row_facts.collect_facts()
        )  # now, so that what it holds is gone before places are counted
        rows, size = self.rows, len(self.space)
        wanted = np.empty(0, dtype=np.intp)
        if sampling.intervals:
            wanted = sample_covariance_rows(rows, size, sampling)
        stream.prepare_second_pass(wanted)
        return True

    def refuse_misread(self, stream: PredictionStream, request: Columns, seen: Observed) -> None:
        """Refuse a reading that the counted rows contradict.

        Raises
        ------
        DataError
        """
        whole = self._whole
        table = whole.prediction_table if isinstance(whole, BinaryStream) and whole.answered else None
        refuse_reading(self.guard, stream, request, seen.summary, whole.support, table)

    def label_scores(self) -> LabelTables | None:
        """Return the tables of several labels per row, once all rows have gone by."""
        return (
            self._whole.scores() if isinstance(self._whole, LabelStream) and self._whole.is_scored else None
        )

    def decide_in_second_pass(self, at: Threshold) -> None:
        """Decide several labels per row in another process in a second pass."""
        self._second_pass = StreamingEvaluation(
            self.space, self.holders, answered=False, first=self._first, at=at, tables=False
        )

    def place(self, batch: Predictions, ids: npt.NDArray[Any] | None = None) -> None:
        """Take a batch that goes by again."""
        if not isinstance(self._whole, BinaryStream):
            self._whole.place(batch)
        if self._second_pass is not None:
            self._second_pass.add(batch, ids)

    def build_observed(self, threshold: Threshold | None = None, notes: Iterable[str] = ()) -> Observed:
        """Return what was observed, decided at a threshold where one is given."""
        summary = self._whole.summary()
        seen = Observed(
            summary=summary,
            data_checks=self._facts(summary, threshold),
            slices={name: _most_frequent(parts) for name, parts in self._parts.items()},
            swaps=_swaps(summary),
            label_digest="" if self._ids else self._digest.hex,
            notes=(*notes, *counted_wrong(self._lost), *clipped_notes(self._clipped)),
        )
        if self._second_pass is not None:
            return _merge_decisions(seen, self._second_pass.build_observed())
        again = None if isinstance(self.space, Multilabel) else threshold
        return self.apply_threshold(seen, summary.threshold if threshold is None else threshold, again=again)

    def _facts(self, summary: Summary, threshold: Threshold | None) -> dict[str, float]:
        match self._whole:
            case ClassStream() as several:
                return absent_labels(several.support) | self._known
            case LabelStream() as labels:
                off = [nearest_rule(table)[0] for table in labels.prediction_tables()]
                known = self._known | ({"off_scores": sum(off)} if off else {})
                return absent_labels(labels.support) | known
            case BinaryStream() if isinstance(summary.scores, BinnedTable):
                return {}
            case BinaryStream() as binary if isinstance(summary.scores, ScoreTable):
                table = None if threshold is not None else binary.prediction_table
                return table_facts(summary.scores, table, probabilities=summary.score_kind != "decision")
            case _:
                return {}

    def apply_threshold(
        self, seen: Observed, point: Threshold | None, *, again: Threshold | None
    ) -> Observed:
        """Return what was observed with decisions at another threshold, and the mistakes that these make."""
        if again is not None:
            slices = {
                name: {value: decide_at(part, again) for value, part in parts.items()}
                for name, parts in seen.slices.items()
            }
            checks = {name: value for name, value in seen.data_checks.items() if name not in OF_ANSWERS}
            seen = replace(seen, summary=decide_at(seen.summary, again), slices=slices, data_checks=checks)
        return replace(seen, mistakes=self._shown.mistakes(seen.summary, point))


OF_ANSWERS = ("off_scores", "near_threshold")
"""Checks of the answers that were given, which are gone once a threshold decides."""


def _merge_decisions(seen: Observed, decided: Observed) -> Observed:
    """The observations of rows, with later decisions and their results."""
    summary = replace(decided.summary, scores=seen.summary.scores, bins=seen.summary.bins)
    facts = {name: value for name, value in seen.data_checks.items() if name not in OF_ANSWERS}
    more = {name: getattr(decided, name) for name in ("slices", "swaps", "mistakes")}
    return replace(seen, summary=summary, data_checks=facts, **more)


def _swaps(summary: Summary) -> tuple[Swap, ...]:
    if summary.together is None or not isinstance(summary.space, Multilabel):
        return ()
    both, left, added = summary.together.count_swaps()
    return top_swaps(summary.space, both, np.outer(left, added) / summary.weight)


def _most_frequent(parts: Mapping[str, AnyStream]) -> dict[str, Summary]:
    most = sorted(sorted(parts), key=lambda value: -parts[value].rows)[:MOST_VALUES]
    return dict(zip(most, align_row_sums([parts[value].summary() for value in most]), strict=True))

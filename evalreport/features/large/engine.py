"""The streaming engine: predictions batch by batch, exact, without ever holding their rows.

The streaming engine for several classes, and for several labels per row.

What both share, counts and means over rows, adds up; areas of classes are counted in two readings.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, reduce
from operator import add
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from evalreport.core.errors import UsageError
from evalreport.data.labels import UNPARSED, LabelSpace
from evalreport.data.predictions import Predictions, Threshold
from evalreport.data.scores import NoScores, Probabilities, ScoreKind, highest
from evalreport.features.large.class_ranges import ClassCells, RangePlaces
from evalreport.features.large.score_words import Budget
from evalreport.features.large.second_pass import KeptRows, LabelTables, OwnScores, ScorePlaces
from evalreport.statistics.class_scores import right_between
from evalreport.statistics.confusion import BinaryCounts, Counts, sums
from evalreport.statistics.row_sums import LabelMoments, Tally
from evalreport.statistics.score_table import ScoreTable
from evalreport.statistics.summary import Summary, align_tallies, decide_at, merge, summarise_counts


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
        """Return the facts of all batches; nothing can be added after it."""
        if self._kind is None:
            return self.summary_without_scores
        plain = replace(self.summary_without_scores, scores=self._truth.table())
        if self._kind == "decision" or self.answered:
            return plain
        return decide_at(plain, Threshold(0.5, "default"))

    @property
    def summary_without_scores(self) -> Summary:
        """The facts of all batches but for their scores."""
        implied = self.answered and self._implied and self._kind not in (None, "decision")
        return Summary(
            space=self.space,
            rows=self.rows,
            weight=float(self.rows),
            tally=Tally.from_rows({}, np.array([float(self.rows)])),
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
        raise UsageError("a stream counts rows that weigh 1 and stand alone", fix="use --set engine=memory")


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
        self._facts = facts if self._facts is None else merge(align_tallies([self._facts, facts]))

    def _summarise_batch(self, batch: Predictions) -> Summary:
        """The facts of a batch."""
        return summarise_counts(batch)

    def summary(self) -> Summary:
        """Return the facts of all batches; nothing can be added after it."""
        return self.summary_without_scores

    @property
    def summary_without_scores(self) -> Summary:
        """The facts of all batches but for their scores."""
        return (
            Summary(self.space, 0, 0.0, Tally.from_rows({}, np.zeros(0)))
            if self._facts is None
            else self._facts
        )

    def take(self, counted: Summary) -> None:
        """Take over what was counted elsewhere, but for the scores: nothing else is added."""
        self._facts = counted

    def holders(self) -> Mapping[str, ScoreHolder]:
        """Return what holds scores, by a name."""
        return {}

    def close(self) -> None:
        """Give back memory and files, whatever happened."""


class ClassStream(SeveralStream):
    """Facts of predictions of several classes, added batch by batch.

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
        """Return the facts of all batches; nothing can be added after it."""
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
    """Facts of predictions of several labels per row, added batch by batch.

    Each label is a binary problem, whose scores go into a holder of its own.

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
        """Take over what was counted elsewhere, with a holder for each table of scores."""
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
        """Return the facts of all batches; nothing can be added after it."""
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

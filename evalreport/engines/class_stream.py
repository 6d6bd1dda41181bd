"""The streaming engine for several classes: counts, and areas in two readings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.engines.memory import counted
from evalreport.engines.stream import Holders, check_plain
from evalreport.facts import Summary, Tally
from evalreport.facts.counts import sums
from evalreport.facts.places import OwnScores, ScorePlaces
from evalreport.facts.summary import merge
from evalreport.labels import LabelSpace
from evalreport.predictions import Predictions
from evalreport.scores import NoScores, Probabilities, highest


class ClassStream:
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
    >>> from evalreport.facts.words import Budget
    >>> from evalreport.labels import Multiclass
    >>> from evalreport.predictions import predictions
    >>> stream = ClassStream(Multiclass("abc"), Budget())
    >>> for truth in ("ab", "ca"):
    ...     stream.add(predictions(Multiclass("abc"), list(truth), list("ab")))
    >>> stream.summary().counts.marginals.tp
    array([1., 1., 0.])
    """

    def __init__(self, space: LabelSpace, holders: Holders, *, tables: bool = True) -> None:
        self.space, self._tables = space, tables
        self._facts: Summary | None = None
        self.support = np.zeros(len(space))
        """Examples of each label."""
        self._own = OwnScores(len(space))
        self._confidence = holders.holder()
        self._places: ScorePlaces | None = None

    @property
    def rows(self) -> int:
        """Rows so far."""
        return 0 if self._facts is None else self._facts.rows

    @property
    def is_scored(self) -> bool:
        """Whether rows came with scores, and are to go by again."""
        return self._tables and self._facts is not None and self._facts.score_kind is not None

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
        self.support += sums(batch.y_true, None, len(self.space))
        facts = counted(replace(batch, space=self.space))
        if self._facts is not None:
            known = [self._facts, facts]
            shared = {*facts.tally.names} & {*self._facts.tally.names}  # an unread answer has no distance
            facts = merge([replace(one, tally=one.tally.only(shared)) for one in known])
        self._facts = facts
        if self._tables and not isinstance(batch.scores, NoScores):
            values = batch.scores.values
            self._own.add(values, batch.y_true)
            if isinstance(batch.scores, Probabilities):
                best = highest(values)
                self._confidence.add(values[np.arange(len(best)), best], best == batch.y_true)

    def again(self, wanted: npt.NDArray[Any]) -> None:
        """Make ready for the same rows to go by again, of which some are kept whole."""
        self._places = ScorePlaces(self._own.sorted(), wanted)

    def place(self, batch: Predictions) -> None:
        """Place the scores of a batch among those of the first time."""
        if self._places is not None and not isinstance(batch.scores, NoScores):
            self._places.add(batch.scores.values, batch.y_true)

    def summary(self) -> Summary:
        """Return the facts of all batches; nothing can be added after it."""
        if self._facts is None:
            return Summary(self.space, 0, 0.0, Tally.of({}, np.zeros(0)))
        if self._places is None:
            return replace(self._facts, bins=None)
        confidence = None if self._facts.bins is None else self._confidence.table()
        return replace(self._facts, scores=self._places.scores(), confidence=confidence)

    def close(self) -> None:
        """Give back memory and files, whatever happened."""
        self._confidence.close()

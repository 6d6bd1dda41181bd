"""The streaming engine for several classes: counts, and areas in two readings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.engines.several_stream import SeveralStream
from evalreport.engines.stream import Holders, ScoreHolder
from evalreport.facts import Summary
from evalreport.facts.places import OwnScores, ScorePlaces
from evalreport.labels import LabelSpace
from evalreport.predictions import Predictions
from evalreport.scores import NoScores, Probabilities, highest


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
        super().__init__(space, tables=tables)
        self.own = OwnScores(len(space))
        self._confidence = holders.holder()
        self.places: ScorePlaces | None = None
        """What rows go by again for."""

    def add(self, batch: Predictions) -> None:
        """Count a batch, and keep the scores that rows have of their own class."""
        super().add(batch)
        if self._tables and not isinstance(batch.scores, NoScores):
            values = batch.scores.values
            self.own.add(values, batch.y_true)
            if isinstance(batch.scores, Probabilities):
                best = highest(values)
                self._confidence.add(values[np.arange(len(best)), best], best == batch.y_true)

    def again(self, wanted: npt.NDArray[Any]) -> None:
        """Make ready for the same rows to go by again, of which some are kept whole."""
        self.places = ScorePlaces(self.own.sorted(), wanted)

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

"""What findings need of the rows of a stream of scores of several labels, counted batch by batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from evalreport.evaluation.row_facts import again, row_keys, unlike_scores
from evalreport.facts.words import Budget, KeyTimes
from evalreport.labels import Multiclass
from evalreport.predictions import Predictions
from evalreport.scores import NoScores, Probabilities


class RowFacts:
    """What `row_facts` says of scores of several labels.

    Examples
    --------
    >>> from evalreport.predictions import predictions
    >>> facts = RowFacts(Budget())
    >>> for scores in ([[0.9, 0.1]], [[0.0, 1.0]]):
    ...     facts.add(predictions(Multiclass("ab"), ["a"], scores=Probabilities(scores)))
    >>> facts.found()
    {'constant_scores': 0.0, 'hard_scores': 0.0, 'off_scores': 0.0}
    """

    def __init__(self, budget: Budget) -> None:
        self._keys = KeyTimes(budget)
        self._first: Any = None
        self._cells = 0
        self._constant = self._hard = True
        self._off: float | None = None

    def add(self, batch: Predictions) -> None:
        """Look at a batch."""
        if isinstance(batch.scores, NoScores):
            return
        values = batch.scores.values
        if not self._cells:
            self._first = values.flat[0]
        self._cells += values.size
        self._constant = self._constant and bool((values == self._first).all())
        self._hard = self._hard and isinstance(batch.scores, Probabilities) and not (values % 1).any()
        self._keys.add(row_keys(batch, values))
        if batch.y_pred is not None and isinstance(batch.space, Multiclass):
            self._off = (self._off or 0.0) + unlike_scores(batch)

    def found(self) -> dict[str, float]:
        """Return the facts; nothing can be added after it."""
        if not self._cells:
            return {}
        constant = self._constant and self._cells > 1
        facts = {"constant_scores": float(constant), "hard_scores": float(self._hard and not constant)}
        facts |= again(times.astype(np.int64) for times in self._keys.times())
        return facts if self._off is None else {**facts, "off_scores": self._off}

    def close(self) -> None:
        """Give back memory and files, whatever happened."""
        self._keys.close()

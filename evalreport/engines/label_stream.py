"""The streaming engine for several labels per row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evalreport.engines.memory import counted
from evalreport.engines.stream import check_plain
from evalreport.facts import BinaryCounts, Summary, Tally
from evalreport.facts.moments import LabelMoments
from evalreport.facts.summary import merge
from evalreport.labels import LabelSpace
from evalreport.predictions import Predictions


class LabelStream:
    """Facts of predictions of several labels per row, added batch by batch.

    Parameters
    ----------
    space : Multilabel

    Examples
    --------
    >>> from evalreport.labels import Multilabel
    >>> from evalreport.predictions import predictions
    >>> stream = LabelStream(Multilabel("ab"))
    >>> for truth in (["a"], ["a", "b"]):
    ...     stream.add(predictions(Multilabel("ab"), [truth], [["a"]]))
    >>> stream.summary().counts.tp
    array([2., 0.])
    """

    def __init__(self, space: LabelSpace) -> None:
        self.space = space
        self._facts: Summary | None = None
        self.support = np.zeros(len(space))
        """Examples of each label."""

    @property
    def rows(self) -> int:
        """Rows so far."""
        return 0 if self._facts is None else self._facts.rows

    def add(self, batch: Predictions) -> None:
        """Count a batch: validated, of these labels, each row weighing 1.

        Raises
        ------
        UsageError
            Rows with weights, groups or folds.
        """
        check_plain(batch)
        self.support += batch.y_true.sum(axis=0)
        facts = counted(replace(batch, space=self.space))
        if batch.y_pred is not None:
            moments = LabelMoments.of(batch.y_true.astype(bool), batch.y_pred.astype(bool))
            facts = replace(facts, together=moments)
        self._facts = facts if self._facts is None else merge([self._facts, facts])

    def summary(self) -> Summary:
        """Return the facts of all batches."""
        facts = self._facts
        if facts is None:
            return Summary(self.space, 0, 0.0, Tally.of({}, np.zeros(0)))
        if isinstance(facts.counts, BinaryCounts) and facts.threshold is None:
            unknown = np.full(len(self.space), np.nan)  # where some batches agreed with a threshold by chance
            facts = replace(facts, counts=replace(facts.counts, threshold=unknown))
        return facts

    def close(self) -> None:
        """Nothing is kept that must be given back."""

"""The streaming engine for several labels per row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evalreport.engines.several_stream import SeveralStream
from evalreport.facts import BinaryCounts, Summary
from evalreport.facts.moments import LabelMoments
from evalreport.predictions import Predictions


class LabelStream(SeveralStream):
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

    def _of(self, batch: Predictions) -> Summary:
        facts = super()._of(batch)
        if batch.y_pred is None:
            return facts
        return replace(facts, together=LabelMoments.of(batch.y_true.astype(bool), batch.y_pred.astype(bool)))

    def summary(self) -> Summary:
        """Return the facts of all batches."""
        facts = super().summary()
        if isinstance(facts.counts, BinaryCounts) and facts.threshold is None:
            unknown = np.full(len(self.space), np.nan)  # where some batches agreed with a threshold by chance
            facts = replace(facts, counts=replace(facts.counts, threshold=unknown))
        return facts

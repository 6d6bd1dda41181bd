"""What streams of several classes and of several labels share: counts and means over rows, which add up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from evalreport.engines.memory import counted
from evalreport.engines.stream import ScoreHolder, check_plain
from evalreport.facts import Summary, Tally
from evalreport.facts.counts import sums
from evalreport.facts.summary import merge, tallied_alike
from evalreport.labels import LabelSpace
from evalreport.predictions import Predictions
from evalreport.scores import ScoreKind


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
        facts = self._of(replace(batch, space=self.space))
        self._facts = facts if self._facts is None else merge(tallied_alike([self._facts, facts]))

    def _of(self, batch: Predictions) -> Summary:
        """The facts of a batch."""
        return counted(batch)

    def summary(self) -> Summary:
        """Return the facts of all batches; nothing can be added after it."""
        return self.counted

    @property
    def counted(self) -> Summary:
        """The facts of all batches but for their scores."""
        return Summary(self.space, 0, 0.0, Tally.of({}, np.zeros(0))) if self._facts is None else self._facts

    def take(self, counted: Summary) -> None:
        """Take over what was counted elsewhere, but for the scores: nothing else is added."""
        self._facts = counted

    def holders(self) -> Mapping[str, ScoreHolder]:
        """Return what holds scores, by a name."""
        return {}

    def close(self) -> None:
        """Give back memory and files, whatever happened."""

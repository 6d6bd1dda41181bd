"""Everything that was counted of one set of predictions; the sum of two is the whole of both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evalreport.errors import DataError
from evalreport.facts.classes import ClassBins, ClassScores
from evalreport.facts.counts import BinaryCounts, Counts
from evalreport.facts.table import ScoreTable
from evalreport.facts.tally import Tally
from evalreport.labels import LabelSpace
from evalreport.predictions import Threshold
from evalreport.scores import ScoreKind


@dataclass(frozen=True, eq=False)
class Summary:
    """The facts of one set of predictions.

    Parameters
    ----------
    space : Binary, Multiclass or Multilabel
    rows : int
        Rows read.
    weight : float
        Their weight.
    counts : Counts (binary, multiclass), BinaryCounts with one entry per label (multilabel), or None
        None when nothing decides: decision scores without predictions or threshold.
    scores : ScoreTable (binary), ClassScores (multiclass, multilabel), or None without scores
    tally : Tally
        Means over rows (log loss, top-k hits, sample-wise set scores).
    confidence : ScoreTable or None
        Multiclass probabilities: confidence of the answer against whether it was right.
    bins : ClassBins or None
        Multiclass and multilabel probabilities, binned label by label.
    cardinality : Counts or None
        Multilabel: number of labels of a row in truth against that in the predictions (unparsed where
        nothing decides).
    """

    space: LabelSpace
    rows: int
    weight: float
    tally: Tally
    counts: Counts | BinaryCounts | None = None
    scores: ScoreTable | ClassScores | None = None
    confidence: ScoreTable | None = None
    bins: ClassBins | None = None
    cardinality: Counts | None = None
    score_kind: ScoreKind | None = None
    threshold: Threshold | None = None

    def __add__(self, other: Summary) -> Summary:
        if self.space != other.space or self.threshold != other.threshold:
            raise DataError("two shards differ in labels or threshold", fix="declare both for all shards")
        return Summary(
            space=self.space,
            rows=self.rows + other.rows,
            weight=self.weight + other.weight,
            tally=self.tally + other.tally,
            counts=_plus(self.counts, other.counts),
            scores=_plus(self.scores, other.scores),
            confidence=_plus(self.confidence, other.confidence),
            bins=_plus(self.bins, other.bins),
            cardinality=_plus(self.cardinality, other.cardinality),
            score_kind=self.score_kind,
            threshold=self.threshold,
        )


def _plus(a: Any, b: Any) -> Any:
    return None if a is None or b is None else a + b

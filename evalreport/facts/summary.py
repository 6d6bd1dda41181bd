"""Everything that was counted of one set of predictions; the sum of two is the whole of both."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from evalreport.errors import DataError, some_of
from evalreport.facts.classes import ClassBins, LabelScores
from evalreport.facts.counts import BinaryCounts, Counts
from evalreport.facts.table import ScoreTable
from evalreport.facts.tally import LabelMoments, Tally
from evalreport.labels import Binary, LabelSpace, Multiclass, Multilabel
from evalreport.later import Later
from evalreport.predictions import Threshold
from evalreport.scores import ScoreKind


@dataclass(frozen=True, eq=False)
class Summary:
    """The facts of one set of predictions; of rows in memory each is counted when it is first read.

    Parameters
    ----------
    space : Binary, Multiclass or Multilabel
    rows : int
        Rows read.
    weight : float
        Their weight.
    counts : Counts (binary, multiclass), BinaryCounts with one entry per label (multilabel), or None
        None when nothing decides: decision scores without predictions or threshold.
    scores : ScoreTable (binary), LabelScores (multiclass, multilabel), or None without scores
    tally : Tally
        Means over rows (log loss, top-k hits, sample-wise set scores).
    confidence : ScoreTable or None
        Multiclass probabilities: confidence of the answer against whether it was right.
    bins : ClassBins or None
        Multiclass and multilabel probabilities, binned label by label.
    cardinality : Counts or None
        Multilabel: number of labels of a row in truth against that in the predictions (unparsed where
        nothing decides).
    together : LabelMoments or None
        Multilabel, where rows are not at hand: how the labels of a row go together.
    """

    space: LabelSpace
    rows: int
    weight: float
    tally: Later[Tally] = Later(Tally.of({}, np.zeros(0)))
    counts: Counts | BinaryCounts | None = None
    scores: Later[ScoreTable | LabelScores | None] = Later(None)
    confidence: Later[ScoreTable | None] = Later(None)
    bins: Later[ClassBins | None] = Later(None)
    cardinality: Later[Counts | None] = Later(None)
    together: LabelMoments | None = None
    score_kind: ScoreKind | None = None
    threshold: Threshold | None = None

    def __add__(self, other: Summary) -> Summary:
        return merge([self, other])


ALIKE = {"space": "labels", "score_kind": "the kind of scores", "threshold": "threshold"}
"""What shards must have in common, and what it is called."""
SUMS = tuple(one.name for one in fields(Summary) if one.name not in (*ALIKE, "rows", "weight"))
"""What is summed, each by its own rule."""


def merge(shards: Sequence[Summary]) -> Summary:
    """Return the facts of all shards together; the cost is linear in their number.

    A threshold that the predictions of each shard agree with is one of the whole only where all agree;
    decisions at different thresholds do not add up.

    Raises
    ------
    DataError
        Shards that differ in labels, kind of scores or threshold, or of which some lack a fact that others
        have.

    Examples
    --------
    >>> from evalreport.labels import Binary
    >>> import numpy as np
    >>> one = Summary(Binary(0, 1), rows=2, weight=2.0, tally=Tally.of({}, np.ones(2)))
    >>> merge([one, one, one]).rows
    6
    """
    shards = _agreeing(shards)
    first = shards[0]
    for name, called in ALIKE.items():
        other = next((n for n, one in enumerate(shards) if getattr(one, name) != getattr(first, name)), None)
        if other is not None:
            values = " and ".join(_told(getattr(one, name)) for one in (first, shards[other]))
            raise DataError(
                f"shards 1 and {other + 1} differ in {called}: {values}",
                where=name,
                fix="declare labels, kind of scores and threshold alike for all shards",
            )
    summed = {name: _sum(name, [getattr(one, name) for one in shards]) for name in SUMS}
    weight = math.fsum(one.weight for one in shards)
    return replace(first, rows=sum(one.rows for one in shards), weight=weight, **summed)


def tallied_alike(parts: Sequence[Summary]) -> list[Summary]:
    """Return facts without means over rows that one of them lacks, as of distances to no answer.

    Examples
    --------
    >>> from evalreport.labels import Multiclass
    >>> import numpy as np
    >>> one = Summary(Multiclass("ab"), 2, 2.0, Tally.of({"loss": np.zeros(2)}, np.ones(2)))
    >>> [part.tally.names for part in tallied_alike([one, replace(one, tally=one.tally.only(()))])]
    [(), ()]
    """
    shared = set.intersection(*({*one.tally.names} for one in parts)) if parts else set()
    return [replace(one, tally=one.tally.only(shared)) for one in parts]


def _agreeing(shards: Sequence[Summary]) -> Sequence[Summary]:
    """Predictions that agree with a threshold in one shard alone have none over all."""
    implied = [one.threshold is not None and one.threshold.origin == "predictions" for one in shards]
    if all(implied) or not any(implied):
        return shards
    return [replace(one, threshold=None) if own else one for one, own in zip(shards, implied, strict=True)]


def _told(fact: object) -> str:
    match fact:
        case Threshold():
            return f"{fact.value} ({fact.origin})"
        case Binary() | Multiclass() | Multilabel():
            return f"{fact.task} {some_of(fact.texts)}"
        case _:
            return str(fact)


def _sum(name: str, parts: Sequence[Any]) -> Any:
    lacking = [number for number, part in enumerate(parts) if part is None]
    if len(lacking) == len(parts):
        return None
    if lacking:
        raise DataError(
            f"shard {lacking[0] + 1} has no {name}, and others have",
            where=name,
            fix="make the facts of all shards of the same columns",
        )
    if len({type(part) for part in parts}) > 1:
        raise DataError(
            f"some shards hold the {name} of each row, and others what was counted of them",
            where=name,
            fix="make the facts of all shards with one engine, and with --approximate all or none",
        )
    together = getattr(type(parts[0]), "merged", None)  # what would be copied again with every shard
    return reduce(add, parts) if together is None else together(parts)

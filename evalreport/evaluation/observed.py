"""What an engine has seen of predictions: all that an evaluation is made of when the rows are gone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evalreport.evaluation.parts import Mistake, Swap
from evalreport.evaluation.row_facts import row_facts
from evalreport.evaluation.rows import pair_texts, swaps, worst_mistakes
from evalreport.evaluation.slices import SliceFacts, slice_facts
from evalreport.facts import Counts, ScoreTable, Summary
from evalreport.predictions import Predictions


@dataclass(frozen=True, eq=False)
class Observed:
    """The facts of predictions, and the few rows that a report shows.

    Parameters
    ----------
    summary : Summary
    facts : mapping from name to float
        As of `row_facts`.
    slices : mapping from a column's name to a mapping from a value to `Summary`
    mistakes, swaps, pair_texts, truth_digest, notes
        As of `Evaluation`.
    """

    summary: Summary
    facts: Mapping[str, float] = field(default_factory=dict)
    slices: SliceFacts = field(default_factory=dict)
    mistakes: tuple[Mistake, ...] = ()
    swaps: tuple[Swap, ...] = ()
    pair_texts: tuple[tuple[int, int, tuple[str, ...]], ...] = ()
    truth_digest: str = ""
    notes: tuple[str, ...] = ()


def observed(p: Predictions, summary: Summary) -> Observed:
    """Return what there is to see in predictions held in memory, whose facts are known.

    Examples
    --------
    >>> from evalreport.engines.memory import summarise
    >>> from evalreport.labels import Binary
    >>> from evalreport.predictions import predictions
    >>> p = predictions(Binary(0, 1), [0, 1], [0, 0])
    >>> observed(p, summarise(p)).mistakes[0].row
    1
    """
    return Observed(
        summary=summary,
        facts=row_facts(p, summary.scores if isinstance(summary.scores, ScoreTable) else None),
        slices=slice_facts(p),
        mistakes=worst_mistakes(p),
        swaps=swaps(p),
        pair_texts=pair_texts(p, summary.counts) if isinstance(summary.counts, Counts) else (),
        truth_digest=p.truth_digest,
        notes=p.notes,
    )

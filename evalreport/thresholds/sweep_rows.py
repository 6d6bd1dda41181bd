"""Every threshold as a sweep, whatever the task: of the score, of each label, of the confidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from evalreport.core.result import Undefined
from evalreport.data.labels import Binary, Multiclass, Multilabel
from evalreport.data.predictions import Predictions
from evalreport.data.scores import NoScores
from evalreport.statistics.score_table import ScoreTable
from evalreport.thresholds.coverage_cutoff import answers
from evalreport.thresholds.sweep import Sweep, scores_of_rows

MOST = 1_000_000
"""Thresholds of all labels together that are kept; above it each label is thinned to its share."""


def every_threshold(rows: Predictions) -> Mapping[str, Sweep]:
    """Return the counts at every threshold, by label where each label has its own.

    Parameters
    ----------
    rows : Predictions

    Returns
    -------
    mapping from label to Sweep
        Multilabel: of each label, thinned where all of them together have more than a million
        thresholds; no optimum of a label moves by that. Else one sweep under an empty name: binary of the
        score; multiclass of the confidence, where a positive is an answer that is right. Empty without
        scores, and for a multiclass problem without probabilities.

    Examples
    --------
    >>> from evalreport.data.predictions import predictions
    >>> from evalreport.data.scores import Probabilities
    >>> scores = Probabilities([[0.2, 0.7], [0.6, 0.3], [0.1, 0.2]])
    >>> found = every_threshold(predictions(Multilabel("ab"), [["b"], ["a"], []], scores=scores))
    >>> {label: sweep.tp.tolist() for label, sweep in found.items()}
    {'a': [1.0, 1.0, 1.0, 0.0], 'b': [1.0, 1.0, 1.0, 0.0]}
    """
    if isinstance(rows.scores, NoScores):
        return {}
    match rows.space:
        case Binary():
            return {"": Sweep.from_table(scores_of_rows(rows))}
        case Multiclass():
            found = answers(rows)
            return {} if isinstance(found, Undefined) else {"": Sweep.from_table(scores_of_rows(found))}
        case Multilabel():
            return _of_labels(rows)
        case never:
            assert_never(never)


def _of_labels(rows: Predictions) -> dict[str, Sweep]:
    assert not isinstance(rows.scores, NoScores)  # noqa: S101  asked before
    weights, scores, truth = rows.weights if rows.weighted else None, rows.scores.values, rows.y_true
    found: dict[str, Sweep] = {}
    for place, name in enumerate(rows.space.names):
        sweep = Sweep.from_table(
            ScoreTable.from_scores(scores[:, place], truth[:, place].astype(bool), weights)
        )
        found[name] = (
            sweep if scores.size <= MOST else sweep.thin(max(MOST // len(rows.space), 300))
        )  # 300: both grids of `thin`, and bends
    return found

"""The rows that all of several runs share, row by row in one order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce

from evalreport.comparison.pairing import match_rows
from evalreport.comparison.spaces import recoded, union_space
from evalreport.errors import DataError, EvalreportError
from evalreport.evaluation.model import Evaluation
from evalreport.format import counted
from evalreport.predictions import Predictions


@dataclass(frozen=True, eq=False)
class AlignedRuns:
    """Runs on the rows that all of them share.

    Parameters
    ----------
    runs : mapping from a run's name to its predictions
    left_out : mapping from a run's name to the number of its rows that other runs lack
    """

    runs: Mapping[str, Predictions]
    left_out: Mapping[str, int]


def aligned(evaluations: Mapping[str, Evaluation]) -> AlignedRuns:
    """Match the rows of several runs by id, or without ids by order when the truth is equal.

    Parameters
    ----------
    evaluations : mapping from a run's name to its evaluation

    Raises
    ------
    UsageError
        The runs have different tasks.
    DataError
        A run without rows of its own, no row that all share, another truth or weight of the same row.

    Examples
    --------
    >>> from evalreport.evaluation.evaluate import evaluate_predictions
    >>> from evalreport.labels import Binary
    >>> from evalreport.predictions import predictions
    >>> space = Binary(0, 1)
    >>> a = evaluate_predictions(predictions(space, [0, 1, 1], [0, 1, 0], ids=list("abc")))
    >>> b = evaluate_predictions(predictions(space, [1, 0], [1, 1], ids=list("ba")))
    >>> found = aligned({"one": a, "two": b})
    >>> found.left_out, found.runs["two"].y_pred
    ({'one': 1, 'two': 0}, array([1, 1], dtype=int32))
    """
    space = reduce(union_space, (ev.space for ev in evaluations.values()))
    every = {name: recoded(_rows(name, ev), space) for name, ev in evaluations.items()}
    (first, shared), *others = every.items()
    for name, p in others:
        shared, _ = _matched(shared, p, first, name)
    on_shared = {name: _matched(shared, p, first, name)[1] for name, p in every.items()}
    same = {name: replace(p, groups=shared.groups, slices=shared.slices) for name, p in on_shared.items()}
    return AlignedRuns(same, {name: len(p) - len(shared) for name, p in every.items()})


def _rows(name: str, ev: Evaluation) -> Predictions:
    if ev.predictions is None:
        raise DataError(
            "the predictions of the run are not at hand, only its evaluation",
            where=name,
            fix="name a run or a file that holds the predictions: rows are matched one by one",
        )
    return ev.predictions


def _matched(shared: Predictions, p: Predictions, first: str, name: str) -> tuple[Predictions, Predictions]:
    """Both on the rows that they share; a run that lacks one row of all is refused."""
    try:
        found = match_rows(shared, p)
    except EvalreportError as error:
        raise error.located(f"{first} and {name}") from error
    if found.run is None or found.baseline is None:
        raise DataError(
            f"the runs share no rows: {found.pairing.reason}",
            where=f"{name}, {counted(len(p), 'row')}",
            fix="leave this run out, or score every run against the same examples",
        )
    return found.run, found.baseline

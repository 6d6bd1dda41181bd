"""Changed predictions between two runs on the same examples, and agreement of several runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.comparison.comparison import Agreement, ChangedPrediction, ChangedPredictions, pair
from evalreport.data.labels import UNPARSED, Graded
from evalreport.data.predictions import Predictions
from evalreport.data.scores import NoScores
from evalreport.evaluation.evaluation import Evaluation
from evalreport.evaluation.parts import answer_names, confidence, example_id, truncate_text

Mask = npt.NDArray[np.bool_]
Kinds: TypeAlias = tuple[Mask, Mask, Mask]
"""Rows that are fixed, broken, wrong in both."""
Counts: TypeAlias = tuple[int, int, int]
"""Ids of the same three."""
NAMED = 50
"""Maximum number of ids kept of each kind (chosen by hand)."""
SHOWN = 12
"""Maximum number of examples kept with their predictions: the most confident first."""


def correct_rows(p: Predictions) -> Mask:
    """Return which predictions are right, shape (n,); multilabel: every label of the row.

    Examples
    --------
    >>> from evalreport.data.labels import Multilabel
    >>> from evalreport.data.predictions import predictions
    >>> correct_rows(predictions(Multilabel("ab"), [["a"], ["a", "b"]], [["a"], ["b"]]))
    array([ True, False])
    """
    same = np.asarray(p.y_true == p.y_pred)
    return np.asarray(same.all(axis=1)) if same.ndim == 2 else same


def count_changes(
    run: Predictions,
    baseline: Predictions,
    names: tuple[str, str],
    *,
    withheld: bool = False,
    equal_recall: float | None = None,
) -> ChangedPredictions:
    """Return the examples that the run fixed and broke, by class and by slice.

    Parameters
    ----------
    run, baseline : Predictions
        Of the same rows in the same order, with answers.
    withheld : bool
        Whether no example may be named.
    equal_recall : float, optional
        Threshold at which the run finds as many positives as the baseline (binary).

    Examples
    --------
    >>> from evalreport.data.labels import Binary
    >>> from evalreport.data.predictions import predictions
    >>> a, b = (predictions(Binary(0, 1), [0, 1, 1], y, ids=list("abc")) for y in ([0, 1, 0], [1, 1, 0]))
    >>> found = count_changes(a, b, ("new", "old"))
    >>> found.fixed, found.broken, found.both_wrong, found.fixed_ids
    (1, 0, 1, ('a',))
    """
    now, before = correct_rows(run), correct_rows(baseline)
    fixed, broken, wrong = kinds = _kinds(now, before)
    ids: list[tuple[str, ...]] = [
        () if withheld else tuple(example_id(run, int(row)) for row in np.flatnonzero(rows)[:NAMED])
        for rows in kinds
    ]
    examples = () if withheld else (*_examples(run, baseline, fixed), *_examples(run, baseline, broken))
    moved: dict[str, Counts] = {}
    if equal_recall is not None and not isinstance(run.scores, NoScores):
        at = _kinds((run.scores.values >= equal_recall) == run.y_true.astype(bool), before)
        moved = {**_by_class(run, at), **_by_slice(run, at)}
    return ChangedPredictions(
        *names,
        fixed=int(fixed.sum()),
        broken=int(broken.sum()),
        both_wrong=int(wrong.sum()),
        both_right=int((now & before).sum()),
        fixed_ids=ids[0],
        broken_ids=ids[1],
        both_wrong_ids=ids[2],
        by_class=_by_class(run, kinds),
        by_slice=_by_slice(run, kinds),
        examples=examples,
        at_equal_recall=moved,
    )


def _kinds(now: Mask, before: Mask) -> Kinds:
    return now & ~before, before & ~now, ~now & ~before


def _by_slice(run: Predictions, kinds: Kinds) -> dict[str, Counts]:
    return {
        f"{name} = {value}": moved
        for name, column in run.slices.items()
        for value, moved in _counts_by_name(
            column.values, [np.bincount(column.codes[rows], minlength=len(column.values)) for rows in kinds]
        ).items()
    }


def _examples(run: Predictions, baseline: Predictions, rows: Mask) -> tuple[ChangedPrediction, ...]:
    """The rows with the most confident wrong predictions."""
    found = np.flatnonzero(rows)
    sure = np.zeros(len(found))
    for side in (run, baseline):
        own, wrong = confidence(side, found), ~correct_rows(side)[found]
        if own is not None:
            sure += np.where(wrong, np.nan_to_num(own), 0.0)
    chosen = found[np.argsort(-sure, kind="stable")[:SHOWN]]
    texts = run.texts if run.texts is not None else baseline.texts
    raw = [p.parsed.texts if p.parsed is not None else () for p in (run, baseline)]
    return tuple(
        ChangedPrediction(
            id=example_id(run, row),
            truth=answer_names(run, run.y_true, row),
            run=answer_names(run, run.y_pred, row),
            baseline=answer_names(baseline, baseline.y_pred, row),
            text=None if texts is None else truncate_text(texts[row]),
            answers=None
            if texts is None or not any(raw)
            else (
                truncate_text(raw[0][row]) if len(raw[0]) else "",
                truncate_text(raw[1][row]) if len(raw[1]) else "",
            ),
        )
        for row in map(int, chosen)
    )


def _by_class(p: Predictions, kinds: Kinds) -> dict[str, Counts]:
    if isinstance(p.space, Graded):
        return {}
    if p.y_true.ndim == 2:
        moves = [p.y_true[rows].sum(axis=0) for rows in kinds]
    else:
        moves = [np.bincount(p.y_true[rows], minlength=len(p.space)) for rows in kinds]
    return {name: counts for name, counts in _counts_by_name(p.space.names, moves).items() if any(counts)}


def _counts_by_name(names: Sequence[str], moves: Sequence[npt.NDArray[np.integer]]) -> dict[str, Counts]:
    fixed, broken, wrong = (counts.tolist() for counts in moves)
    return dict(zip(names, zip(fixed, broken, wrong, strict=True), strict=True))


FAR_BEHIND = 0.5
"""Runs with fewer correct rows than this proportion of the best one are skipped: they would decide "all"."""


@dataclass(frozen=True, eq=False)
class PredictedRows:
    """The predictions of a run row by row, and which of them are right.

    Parameters
    ----------
    right : bool array of shape (n,)
    names : tuple of str
        Labels by their codes; empty for predictions of several labels.
    codes : integer array of shape (n,)
        Predicted labels, -1 for a response that could not be parsed; all 0 for predictions of several labels.
    """

    right: Mask
    names: tuple[str, ...]
    codes: npt.NDArray[np.integer]


def predicted_rows(p: Predictions) -> PredictedRows:
    """Return the predictions of a run row by row; it has predictions."""
    right = correct_rows(p)
    if p.y_pred is None or p.y_pred.ndim == 2:
        return PredictedRows(right, (), np.zeros(len(p), dtype=np.int64))
    return PredictedRows(right, tuple(p.space.names), p.y_pred.astype(np.int32, copy=False))


def agreement(names: Sequence[str], evaluations: Sequence[Evaluation]) -> Agreement | None:
    """Return how often the runs agree; None unless all have predictions for the same rows.

    Examples
    --------
    >>> import evalreport as er
    >>> truth = ["a", "b", "a", "b"]
    >>> votes = (["a", "b", "b", "b"], ["a", "b", "a", "a"], ["a", "a", "b", "b"])
    >>> found = agreement("xyz", [er.evaluate(truth, vote) for vote in votes])
    >>> found.all_right, found.some_right, found.none_right, found.majority
    (1, 3, 0, 3)
    """
    rows = _same_rows(evaluations)
    return None if rows is None else count_agreement(names, [predicted_rows(p) for p in rows])


def count_agreement(names: Sequence[str], runs: Sequence[PredictedRows]) -> Agreement | None:
    """Return how often runs agree, from their predictions for the same rows in the same order.

    Of three or more runs, those that are far behind are ignored; None if fewer than two remain.
    """
    counts = [int(run.right.sum()) for run in runs]
    order = sorted(range(len(names)), key=lambda place: -counts[place])
    least = FAR_BEHIND * counts[order[0]] if len(order) > 2 else 0
    kept = [place for place in order if counts[place] >= least]
    if len(kept) < 2:
        return None
    masks = np.array([runs[place].right for place in kept])
    every, some = masks.all(axis=0), masks.any(axis=0)
    voted = _majority([runs[place] for place in kept]) if len(kept) > 2 and runs[0].names else None
    return Agreement(
        runs=tuple(names[place] for place in kept),
        rows=masks.shape[1],
        right=tuple(counts[place] for place in kept),
        all_right=int(every.sum()),
        some_right=int((some & ~every).sum()),
        none_right=int((~some).sum()),
        majority=voted,
    )


def _same_rows(evaluations: Sequence[Evaluation]) -> list[Predictions] | None:
    """The predictions of all runs in the order of the first; None where one lacks rows or predictions."""
    first = evaluations[0]
    if first.predictions is None or first.predictions.y_pred is None:
        return None
    rows = [first.predictions]
    for ev in evaluations[1:]:
        matched = pair(first, ev)
        other = matched.baseline
        if other is None or other.y_pred is None or len(other) != len(first.predictions):
            return None
        rows.append(other)
    return rows


def _majority(runs: Sequence[PredictedRows]) -> int:
    """Rows for which the most frequent label is the true one; the first run decides ties."""
    codes = {name: code for code, name in enumerate(sorted({name for run in runs for name in run.names}))}
    votes = np.array([np.array([codes[name] for name in run.names])[run.codes] for run in runs])
    parsed, rows = np.array([run.codes != UNPARSED for run in runs]), np.arange(votes.shape[1])
    counts = np.zeros((len(codes), votes.shape[1]))
    for place, vote in enumerate(votes):
        counts[vote, rows] += np.where(parsed[place], 1 if place else 1.5, 0)
    winner = counts.argmax(axis=0)
    right = np.array([run.right for run in runs])
    return int((right & (votes == winner)).any(axis=0).sum())

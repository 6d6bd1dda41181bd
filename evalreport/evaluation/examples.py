"""Examples to show: the worst mistakes, swapped labels, example texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.data.labels import UNPARSED, Binary, Multilabel
from evalreport.data.predictions import Predictions
from evalreport.data.scores import NoScores, Probabilities
from evalreport.evaluation.parts import Mistake, Swap
from evalreport.statistics.confusion import Counts

MISTAKES = 20
"""Maximum number of rows in the list of worst mistakes."""
SWAPS = 50
"""Pairs of labels, the most frequent first: the page shows a dozen, `evaluation.json` more."""
PAIRS = 120
"""Confusions that may carry example texts, two each: 240 texts are 30 kB of a page."""
TEXT = 140
"""Characters of an example text that the report shows."""
WHOLE = 1000
"""Characters of the text of a mistake that are kept, to be opened."""


def truncate_text(text: str, length: int = TEXT) -> str:
    """Return the text cut to a length, with an ellipsis where something is missing.

    Examples
    --------
    >>> truncate_text("abcdef", 4)
    'abc…'
    """
    short = text if len(text) <= length else text[: length - 1] + "…"
    return short.encode("utf-8", "replace").decode("utf-8")  # a half surrogate pair has no place in a file


def worst_mistakes(p: Predictions, limit: int = MISTAKES) -> tuple[Mistake, ...]:
    """Return the most confident wrong predictions; multilabel: the rows with most label errors.

    Without scores, rows of the most frequent confusions: one row of each in turn.

    Examples
    --------
    >>> from evalreport.data.predictions import predictions
    >>> from evalreport.data.labels import Multiclass
    >>> worst_mistakes(predictions(Multiclass(["a", "b"]), ["a", "b"], ["a", "a"]))[0].predicted
    ('a',)
    """
    if p.y_pred is None:
        return ()
    if isinstance(p.space, Multilabel):
        errors = (p.y_true != p.y_pred).sum(axis=1)
        wrong = np.flatnonzero(errors)
        key = doubt = -errors[wrong].astype(np.float64)
    else:
        wrong = np.flatnonzero((p.y_true != p.y_pred) & (p.weights > 0))
        sure = confidence(p, wrong)
        if sure is None:
            return tuple(_mistake(p, row) for row in _of_each_pair(p, wrong, limit))
        key = doubt = -np.nan_to_num(sure, nan=-np.inf)
        if not isinstance(p.scores, NoScores) and p.scores.values.ndim == 1:
            # 1 - 1e-20 is 1: of answers that seem equally sure the score tells more.
            doubt = np.where(p.y_pred[wrong] == 1, key, p.scores.values[wrong])
    if len(wrong) > limit:
        first = key <= np.partition(key, limit)[limit]
        wrong, key, doubt = wrong[first], key[first], doubt[first]
    chosen = wrong[np.lexsort((doubt, key))[:limit]]
    return tuple(_mistake(p, int(row)) for row in chosen)


def _of_each_pair(p: Predictions, wrong: npt.NDArray[np.intp], limit: int) -> list[int]:
    """Rows of different confusions in turn, then sorted by the frequency of their confusion."""
    pair = p.y_true[wrong].astype(np.int64) * (len(p.space) + 1) + np.asarray(p.y_pred)[wrong]
    _, code, count = np.unique(pair, return_inverse=True, return_counts=True)
    frequent = np.argsort(-count, kind="stable")[:limit]
    return in_turns([wrong[np.flatnonzero(code == which)[:limit]].tolist() for which in frequent], limit)


def in_turns(rows: Sequence[Sequence[int]], limit: int = MISTAKES) -> list[int]:
    """Return one row of each confusion in turn until there are enough, sorted by confusion.

    Parameters
    ----------
    rows : the rows of each confusion, most frequent first
    limit : int

    Examples
    --------
    >>> in_turns([[3, 4, 5], [1]], 3)
    [3, 4, 1]
    """
    turns = [(turn, rank, row) for rank, found in enumerate(rows) for turn, row in enumerate(found)]
    return [row for rank, row in sorted((rank, row) for _, rank, row in sorted(turns)[:limit])]


def confidence(p: Predictions, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.float64] | None:
    """Return the score of the answer of some rows; NaN for unparsed; None without scores.

    Binary probabilities give P(answer); binary decision scores their distance from the threshold.
    """
    if isinstance(p.scores, NoScores) or p.y_pred is None or p.y_true.ndim == 2:
        return None
    answer = p.y_pred[rows]
    if p.scores.values.ndim == 2:
        own = p.scores.values[rows, np.maximum(answer, 0)].astype(np.float64)
        return np.where(answer == UNPARSED, np.nan, own)
    values = p.scores.values[rows].astype(np.float64)
    if isinstance(p.scores, Probabilities):
        return np.where(answer == 1, values, 1 - values)
    middle = p.threshold.value if p.threshold is not None else 0.0
    distance: npt.NDArray[np.float64] = np.abs(values - np.asarray(middle))
    return distance


def _mistake(p: Predictions, row: int) -> Mistake:
    sure = confidence(p, np.array([row]))
    return Mistake(
        row=row,
        id=example_id(p, row),
        truth=answer_names(p, p.y_true, row),
        predicted=answer_names(p, p.y_pred, row),
        confidence=None if sure is None or not np.isfinite(sure[0]) else float(sure[0]),
        text=None if p.texts is None else truncate_text(p.texts[row], WHOLE),
        response=None
        if p.parsed is None or not p.parsed.texts
        else truncate_text(p.parsed.texts[row], WHOLE),
    )


def example_id(p: Predictions, row: int) -> str:
    """Return the id of a row, its position where rows have none."""
    return str(row) if p.ids is None else str(p.ids[row])


def answer_names(p: Predictions, codes: npt.NDArray[np.generic] | None, row: int) -> tuple[str, ...]:
    """Return the labels of a row: none where no label could be read."""
    if codes is None:
        return ()
    if codes.ndim == 2:
        return tuple(p.space.names[label] for label in np.flatnonzero(codes[row]))
    code = int(codes[row])
    return () if code == UNPARSED else (p.space.names[code],)


def one_label(p: Predictions, code: int) -> Predictions:
    """Return one label of a problem against all others, as a binary problem on the same rows.

    Examples
    --------
    >>> from evalreport.data.labels import Multiclass
    >>> from evalreport.data.predictions import predictions
    >>> one_label(predictions(Multiclass("abc"), list("abc"), list("abb")), 1).y_pred
    array([0, 1, 1], dtype=int32)
    """
    name, point, scores = p.space.names[code], p.threshold, p.scores
    if point is not None and isinstance(point.value, tuple):
        point = replace(point, value=point.value[code])
    if not isinstance(scores, NoScores):
        scores = replace(scores, values=np.ascontiguousarray(scores.values[:, code]))
    return replace(
        p,
        space=Binary(negative=f"not {name}", positive=name),
        y_true=_column(p.y_true, code),
        y_pred=None if p.y_pred is None else _column(p.y_pred, code),
        scores=scores,
        threshold=point,
        parsed=None,
    )


def _column(codes: npt.NDArray[Any], code: int) -> npt.NDArray[np.int32]:
    return (codes[:, code] if codes.ndim == 2 else codes == code).astype(np.int32)


def swaps(p: Predictions) -> tuple[Swap, ...]:
    """Return label pairs of which one was missed and the other added, most frequent first.

    `by_chance` is the product of both error counts over the number of rows.
    """
    if p.y_pred is None or not isinstance(p.space, Multilabel):
        return ()
    left, added = p.y_true & ~p.y_pred, p.y_pred & ~p.y_true
    wrong = np.flatnonzero(left.any(axis=1) & added.any(axis=1))
    both = np.zeros((len(p.space), len(p.space)))
    for label, rows in enumerate(left[wrong].T):  # a row leaves out few labels: this beats a matrix product
        np.einsum("i,ij->j", p.weights[wrong[rows]], added[wrong[rows]], out=both[label])
    chance = np.outer(_weigh(p, left), _weigh(p, added)) / p.weights.sum()
    return top_swaps(p.space, both, chance)


def top_swaps(space: Multilabel, both: npt.NDArray[Any], chance: npt.NDArray[Any]) -> tuple[Swap, ...]:
    """Return the pairs of labels with the greatest weight.

    Parameters
    ----------
    both, chance : float64 arrays of shape (labels, labels)
        How often the first was missed and the second added, and how often by chance.

    Examples
    --------
    >>> top_swaps(Multilabel("ab"), np.array([[0.0, 2.0], [0.0, 0.0]]), np.ones((2, 2)))[0].rows
    2.0
    """
    order = np.argsort(-both, axis=None, kind="stable")[:SWAPS]
    pairs = [np.unravel_index(place, both.shape) for place in order]
    return tuple(
        Swap(space.names[a], space.names[b], float(both[a, b]), float(chance[a, b]))
        for a, b in pairs
        if both[a, b] > 0
    )


def _weigh(p: Predictions, rows: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    found: npt.NDArray[np.float64] = np.einsum("i,ij->j", p.weights, rows)
    return found


def pair_texts(p: Predictions, counts: Counts) -> tuple[tuple[int, int, tuple[str, ...]], ...]:
    """Return up to two texts of each of the most frequent confusions; nothing without texts."""
    if p.texts is None or p.y_pred is None:
        return ()
    top = counts.off_diagonal[:PAIRS]
    found = []
    for row, column in zip(counts.rows[top].tolist(), counts.columns[top].tolist(), strict=True):
        answer = UNPARSED if column == counts.size else column
        rows = np.flatnonzero((p.y_true == row) & (p.y_pred == answer))[:2]
        found.append((row, column, tuple(truncate_text(p.texts[int(i)]) for i in rows)))
    return tuple(found)

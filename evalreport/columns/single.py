"""Problems with one label per row: a column of labels, scores, or responses that are parsed later.

One column of scores is P(positive), or the confidence of the predicted label.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evalreport.columns.column_request import Columns, list_names
from evalreport.columns.join import Rows
from evalreport.columns.label_sets import (
    Array,
    Parts,
    RawScores,
    align_scores,
    column_mapping,
    raw_scores,
    unscored_labels_note,
    used_columns,
)
from evalreport.columns.names import Part, Roles, is_confidence, one_spelling
from evalreport.columns.nested import are_fractions
from evalreport.columns.plausible import refuse_labels
from evalreport.columns.single_label import (
    Labelled,
    UnnamedScoresError,
    as_text,
    cast_label,
    check_names,
    decode_label_names,
    labels_of,
    refuse_joined,
    single_label,
)
from evalreport.core.errors import DataError, UsageError
from evalreport.data.labels import Binary, LabelSpace, distinct_labels
from evalreport.data.predictions import answers_of, with_gaps


def read_single(rows: Rows, roles: Roles, request: Columns) -> Parts:
    """Read labels and scores of a binary or multiclass problem.

    Raises
    ------
    ColumnNotFoundError, UsageError, DataError
    """
    truth = roles.truth
    if truth.labels:
        raise UsageError(
            f"{truth.display_name} have one column per label, which is a multilabel problem",
            fix="leave --set task out, or name the column of labels with --truth",
        )
    pred, text = roles.pred, roles.text
    if request.task is None and request.labels is None and text is None:
        cells = {cell for cell in rows.truth[truth.columns[0]].tolist() if isinstance(cell, str)}
        refuse_joined(sorted(cells), truth.columns[0])
    y_true = _labels(rows.truth, truth)
    y_pred, lost, as_score = _answers(rows, pred, request)
    y_pred = decode_label_names(y_pred, y_true, request)
    y_pred, matched = (y_pred, "") if y_pred is None else one_spelling(y_true, y_pred)
    y_true, y_pred = as_text(y_true, y_pred)
    part = as_score or _named_labels(roles.score, request)
    if request.labels is None and text is None:
        refuse_labels(y_true, y_pred, truth.columns[0], () if part is None else part.columns)
    scored = _read_scores(rows, part, y_true, y_pred, request)
    labels = () if scored.raw is None else scored.raw.labels
    found = single_label(y_true, y_pred, labels, request, text is not None)
    scored = _of_space(scored, found, request, alone=y_pred is None and text is None)
    scores, unscored = (None, ()) if scored.raw is None else scores_in_order(scored.raw, found.space)
    kind = None if scored.raw is None else scored.raw.kind
    return Parts(
        found.space,
        found.y_true,
        with_gaps(found.y_pred, lost),
        scores,
        kind,
        text,
        column_mapping(truth, None if as_score else pred, scored.part, kind),
        tuple(filter(None, (found.note, matched, *scored.notes, *unscored_labels_note(unscored)))),
        used_columns(truth, pred, scored.part),
    )


def _named_labels(part: Part | None, request: Columns) -> Part | None:
    """Return the scores; columns named by ``--set label_names`` become those of the labels."""
    label_of = {name: label for label, name in request.label_names}
    if part is None or not part.labels or not set(part.labels) <= label_of.keys():
        return part
    return replace(part, labels=tuple(label_of[name] for name in part.labels))


@dataclass(frozen=True, eq=False)
class _Scored:
    """The scores so far, with notes."""

    part: Part | None
    raw: RawScores | None
    notes: tuple[str, ...] = ()


def _answers(
    rows: Rows, pred: Part | None, request: Columns
) -> tuple[Array | None, Array | None, Part | None]:
    """Return the predicted labels, and the rows without one; predictions that are fractions are scores."""
    if pred is None or pred.labels:
        return None if pred is None else _labels(rows.columns, pred), None, None
    values = rows.columns[pred.columns[0]]
    if are_fractions(values) and not request.are_scores_named:
        return None, None, Part(pred.columns)
    values, lost = answers_of(values, pred.columns[0], request.missing)
    return labels_of(values, pred.columns[0]), lost, None


def _read_scores(
    rows: Rows, part: Part | None, y_true: Array, y_pred: Array | None, request: Columns
) -> _Scored:
    """Read the scores; unusable scores that the user did not name are skipped if there are predictions."""
    if part is None:
        return _Scored(None, None)
    try:
        raw = raw_scores(rows, part, request.score_kind)
        if part.labels:
            occurring = distinct_labels(y_true, *(() if y_pred is None else (y_pred,)))
            part, note = in_label_order(
                part,
                request.labels or occurring,
                raw.values,
                y_pred,
                declared=request.labels is not None,
                y_true=y_true,
            )
            if request.labels is None:
                check_names(part.labels, occurring)
            return _Scored(part, replace(raw, labels=part.labels), (note,))
        return _Scored(part, raw)
    except DataError as error:
        if y_pred is None or request.are_scores_named:
            raise
        return _Scored(None, None, (_not_used(part, error),))


def _not_used(part: Part, error: DataError) -> str:
    return f"the scores {part.display_name} are not used: {error.message}; to use them: {error.fix}"


def _of_space(scored: _Scored, found: Labelled, request: Columns, *, alone: bool) -> _Scored:
    """Return the scores by label; a confidence of the predicted label becomes P(positive)."""
    part, note = usable(scored.part, found.space, named=request.are_scores_named, alone=alone)
    if part is None or scored.raw is None:
        return _Scored(None, None, (*scored.notes, note))
    raw, notes = scored.raw, (*scored.notes, note)
    if isinstance(found.space, Binary) and not part.labels and raw.kind == "probability":
        values, said = of_positive(raw.values[:, 0], found.y_pred, found.space, part.columns[0])
        if values is None:
            return _Scored(None, None, (*notes, said))
        return _Scored(part, replace(raw, values=values[:, None]), (*notes, said))
    return _Scored(part, align_label_names(raw, found.space), notes)


def _labels(columns: Mapping[str, Array], part: Part) -> Array:
    if part.labels:
        raise UsageError(
            f"{part.display_name} have one column per label, which is a multilabel problem",
            fix="name one column of labels with --pred",
        )
    return labels_of(columns[part.columns[0]], part.columns[0])


def align_label_names(raw: RawScores, space: LabelSpace) -> RawScores:
    """Return the scores with labels spelled as in the label space: ``1.0`` as ``1``."""
    labels = (str(cast_label(label, space.labels, "score column for label")) for label in raw.labels)
    return replace(raw, labels=tuple(labels))


def scores_in_order(raw: RawScores, space: LabelSpace) -> tuple[Array, tuple[str, ...]]:
    """Return scores of shape (n,) for P(positive), else (n, labels), and the labels without a column."""
    if not isinstance(space, Binary) or len(raw.labels) > 1:
        return align_scores(raw, space.texts)
    if raw.labels and raw.labels[0] != str(space.positive):
        raise UsageError(
            f"the scores are for {raw.labels[0]}, but the positive label is {space.positive}",
            where=f"labels {space.names[0]} and {space.names[1]}",
            fix=f"pass --positive {raw.labels[0]}, or name the score column of {space.positive} with --score",
        )
    return raw.values[:, 0], ()


def usable(part: Part | None, space: LabelSpace, *, named: bool, alone: bool) -> tuple[Part | None, str]:
    """Return the scores if they can rank these labels: one column cannot rank three.

    Raises
    ------
    DataError
        The column was named, or there are no predictions.
    """
    if part is None or len(part.columns) > 1 or isinstance(space, Binary):
        return part, ""
    if named or alone:
        raise cannot_rank(part.display_name, space, has_predictions=not alone)
    return None, f"{part.display_name} is one score column for {len(space)} labels and was not used"


class OneScoreError(UnnamedScoresError):
    """One score column for three or more labels."""


def cannot_rank(name: str, space: LabelSpace, *, has_predictions: bool = False) -> DataError:
    """Return the error of one score column for three or more labels."""
    more = "; or evaluate the predictions alone: leave the option for the scores out"
    return OneScoreError(
        f"one score column cannot rank {len(space)} labels",
        where=f"column {name!r}; labels {list_names(space.texts)}",
        fix=f"name one score column per label, as in --scores 'proba_*'{more if has_predictions else ''}",
    )


def of_positive(scores: Array, y_pred: Array | None, space: Binary, name: str) -> tuple[Array | None, str]:
    """Return P(positive), converted if the scores are those of the predicted label.

    They are if none is below one half although both labels are predicted: as P(positive) they would
    contradict every prediction of the negative label.

    Parameters
    ----------
    scores : float array of shape (n,)
        Probabilities.
    y_pred : labels of shape (n,), or None

    Returns
    -------
    P(positive) of shape (n,), or None if the scores cannot be used; and a note

    Examples
    --------
    >>> p, note = of_positive(np.array([0.75, 0.5]), np.array([1, 0]), Binary(0, 1), "score")
    >>> p.tolist()
    [0.75, 0.5]
    >>> note[:46]
    'score is the confidence of the predicted label'
    """
    if y_pred is None or not len(scores):
        return scores, ""
    positive = y_pred.astype(str) == str(space.positive)
    if positive.all() or not positive.any():
        return scores, ""
    if scores.min() >= 0.5 and scores.max() <= 1:
        given = f"{name} is the confidence of the predicted label"
        note = f"{given}, converted to that of {space.positive}: s, or 1 - s where the other was answered"
        return np.where(positive, scores, 1 - scores), note
    if is_confidence(name) and scores[positive].mean() <= scores[~positive].mean():
        return (
            None,
            f"{name} is the confidence of the predicted label and was not used: some are below one half",
        )
    return scores, ""


def in_label_order(
    part: Part,
    labels: Sequence[Any],
    values: Array,
    y_pred: Array | None,
    *,
    declared: bool,
    y_true: Array | None = None,
) -> tuple[Part, str]:
    """Name numbered score columns after the labels, in the order that the rows prove.

    Declared labels give the order. Otherwise it is the order (by value, as text or as numbers) in which the
    highest score is that of the prediction; without predictions, the order in which the scores fit the labels
    best.

    Raises
    ------
    DataError
        The order of lists of scores cannot be determined.
    """
    names = tuple(str(label) for label in labels)
    places = tuple(str(place) for place in range(len(part.labels)))
    lists = part.pattern.endswith("[*]")
    if part.labels != places or (set(names) <= set(places) and not lists):
        return part, ""
    if declared and len(names) == len(places):
        return replace(
            part, labels=names
        ), f"{part.display_name} are in the order of --labels: {list_names(names)}"
    are_places = set(names) <= set(places)
    if are_places and (places == tuple(sorted(places)) or not isinstance(labels[0], str)):
        return part, ""
    orders = _orders(places if are_places else names, len(places))
    found = [order for order in orders if _is_proven(order, values, y_pred, y_true)]
    if len(found) == 1:
        return replace(
            part, labels=found[0]
        ), f"{part.display_name} are in this order of labels: {list_names(found[0])}"
    if not lists or (not are_places and not set(names) & set(places)):
        return part, ""  # column names are used as labels
    text = sorted(names)
    raise UnnamedScoresError(
        f"the order of {part.display_name} is not known: they are numbered from 0",
        where=f"{part.display_name}; labels {list_names(names)}",
        fix=f"pass the order that was used, as in --labels {shlex.quote(','.join(text))}; "
        "or ignore the scores: --set no_scores",
    )


def _orders(names: Sequence[str], width: int) -> list[tuple[str, ...]]:
    """Orders in which programs write the scores of some labels, one for each position."""
    found = [tuple(names), tuple(sorted(names))]
    if all(name.lstrip("-").isdecimal() for name in names):
        found.append(tuple(sorted(names, key=int)))
    return [order for order in dict.fromkeys(found) if len(order) == width]


_PROVEN = 0.95
"""Proportion of rows with the highest score for the predicted label from which an order is proven."""
_BEYOND = 0.1
"""Accuracy above that of the most frequent label from which scores show their order."""


def _is_proven(names: Sequence[str], values: Array, y_pred: Array | None, y_true: Array | None) -> bool:
    """Return whether the predictions, or else the labels, fit the scores in this order."""
    decided = np.asarray(names)[values.argmax(axis=1)]
    if y_pred is not None:
        return bool((decided == y_pred.astype(str)).mean() >= _PROVEN)
    if y_true is None or len(y_true) < 2 * len(names):
        return False
    known = y_true.astype(str)
    _, counts = np.unique(known, return_counts=True)
    if (decided == known).mean() < counts.max() / len(known) + _BEYOND:
        return False
    rows = [known == name for name in names]
    means = np.array([values[some].mean(axis=0) for some in rows if some.any()])
    from scipy.optimize import linear_sum_assignment

    best = linear_sum_assignment(means, maximize=True)[1]
    return bool((best == np.flatnonzero([some.any() for some in rows])).all())

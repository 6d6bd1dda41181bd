"""Labels, predictions and scores of the columns of the roles, in one label space: one label per row or any.

One column of scores is P(positive), or the confidence of the predicted label.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.columns.assign import RawScores, align_scores, raw_scores, without_gaps
from evalreport.columns.column_request import Columns, list_names
from evalreport.columns.join import MAX_LABEL, Rows, check_length
from evalreport.columns.label_pairs import as_text, cast_label, harmonise_labels, one_spelling, usual_orders
from evalreport.columns.names import Part, Roles, is_confidence
from evalreport.columns.nested import are_fractions, split_lists
from evalreport.columns.plausible import refuse_labels
from evalreport.core.errors import DataError, UsageError, nearest
from evalreport.core.format import pluralize
from evalreport.data.arrays import GAPS, is_gap, to_labels
from evalreport.data.labels import (
    Binary,
    Label,
    LabelSpace,
    Multiclass,
    Multilabel,
    distinct_labels,
    from_lists,
)
from evalreport.data.predictions import answers_of, with_gaps
from evalreport.data.scores import ScoreKind

Array = npt.NDArray[Any]
MAX_CLASSES = 10_000
"""Distinct labels from which a column contains numbers or texts, not classes (chosen by hand)."""


class UnnamedScoresError(DataError):
    """Score columns of which nothing says which label each is of."""


@dataclass(frozen=True, eq=False)
class Parts:
    """The parts of a problem: labels in a label space, and scores in the order of its labels.

    Parameters
    ----------
    text : str or None
        The column of generated responses.
    taken : tuple of (part, column)
    notes : tuple of str
    columns : tuple of str
        All used columns.
    """

    space: LabelSpace
    y_true: Array
    y_pred: Array | None
    scores: Array | None
    kind: ScoreKind | None
    text: str | None
    taken: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]
    columns: tuple[str, ...]


def column_mapping(
    truth: Part, pred: Part | None, scores: Part | None, kind: str | None
) -> tuple[tuple[str, str], ...]:
    """Return the column mapping, for printing."""
    pairs = (
        ("truth", truth.display_name),
        ("prediction", None if pred is None else pred.display_name),
        (
            "scores" if scores is not None and len(scores.columns) > 1 else "score",
            None if scores is None else scores.display_name,
        ),
        ("score kind", kind),
    )
    return tuple((part, shown) for part, shown in pairs if shown is not None)


def used_columns(*parts: Part | None) -> tuple[str, ...]:
    """Return the columns of all given parts."""
    return tuple(column for part in parts if part is not None for column in part.columns)


def unscored_labels_note(labels: Sequence[str]) -> tuple[str, ...]:
    """Return the note on labels without a score column, or nothing.

    Examples
    --------
    >>> unscored_labels_note(["grief"])
    ('1 label without a score column, probability 0 assumed: grief',)
    """
    if not labels:
        return ()
    some = pluralize(len(labels), "label")
    return (f"{some} without a score column, probability 0 assumed: {list_names(labels)}",)


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
        values, note = of_positive(raw.values[:, 0], found.y_pred, found.space, part.columns[0])
        if values is None:
            return _Scored(None, None, (*notes, note))
        return _Scored(part, replace(raw, values=values[:, None]), (*notes, note))
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
    orders = usual_orders(places if are_places else names)
    fit = [order for order in orders if len(order) == len(places)]
    found = [order for order in fit if _is_proven(order, values, y_pred, y_true)]
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


@dataclass(frozen=True, eq=False)
class Labelled:
    """Labels and predictions of a problem with one label per row, and its label space.

    Parameters
    ----------
    space : Binary or Multiclass
    y_true, y_pred : labels of shape (n,), text, int64 or bool
    note : str
        The assumption that was made; may be empty.
    """

    space: LabelSpace
    y_true: Array
    y_pred: Array | None
    note: str = ""


def labels_of(values: Array, name: str) -> Array:
    """Return one label per row as text, int64 or bool.

    Raises
    ------
    DataError
        There are gaps, mixed types, numbers that are not integers, or whole texts.
    """
    check_length(values, name, MAX_LABEL)
    try:
        return to_labels(values, name)
    except DataError as error:
        if error.fix != GAPS or all(map(is_gap, values.tolist())):
            raise
        raise DataError(error.message, where=error.where, fix=f"{GAPS}, or {without_gaps(name)}") from None


def single_label(
    y_true: Array, y_pred: Array | None, scored: Sequence[str], request: Columns, is_text: bool
) -> Labelled:
    """Return the label space of a problem with one label per row.

    Parameters
    ----------
    scored : labels with a score column, as text
    is_text : bool
        Whether predictions are parsed from text later: the problem is then multiclass.

    Raises
    ------
    DataError
        There are more than 10,000 labels, or more than two in a binary problem.
    UsageError
        The positive label is not in the label set.
    """
    y_true, y_pred = harmonise_labels(y_true, y_pred)
    occurring = distinct_labels(y_true, *(() if y_pred is None else (y_pred,)))
    named = {label for label, _ in request.label_names}
    if request.labels is None and named > set(map(str, occurring)):
        request = replace(request, labels=tuple(label for label, _ in request.label_names))
    if request.labels is not None:
        labels = tuple(cast_label(label, occurring, "label of --labels") for label in request.labels)
    else:
        found = [cast_label(label, occurring, "score column for label") for label in scored]
        labels = tuple(sorted({*occurring, *found}))
    check_count(labels)
    positive = None if request.positive is None else cast_label(request.positive, occurring, "--positive")
    task = request.task or ("multiclass" if is_text or len(labels) > 2 else "binary")
    if task == "multiclass":
        return Labelled(Multiclass(labels), y_true, y_pred)
    if positive is None and len(scored) == 1:
        positive = cast_label(scored[0], occurring, "score column for label")
    space, note = _binary(labels, positive, declared=request.labels is not None)
    return Labelled(space, y_true, y_pred, note)


_JOINED = 3
"""Labels with a separator from which they may be sets of labels."""


def refuse_joined(labels: Sequence[str], truth: str) -> None:
    """Refuse labels that are sets of labels in one text, as ``news,sport``: each part is in several of them.

    Examples
    --------
    >>> refuse_joined(["Korea, North", "Korea, South", "Japan"], "country")
    >>> refuse_joined(["news,sport", "news,art", "art,sport"], "tags")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    evalreport.core.errors.DataError: 'tags' contains several labels in one cell

    Raises
    ------
    DataError
    """
    for separator in (",", "|", ";"):
        if sum(separator in label for label in labels) < _JOINED:
            continue
        parts = [[part.strip() for part in label.split(separator)] for label in labels]
        counts = Counter(part for some in parts for part in some)
        joined = [some for some in parts if len(some) > 1]
        if all(counts[part] > 1 for some in joined for part in some):
            example = next(label for label in labels if separator in label)
            raise DataError(
                f"{truth!r} contains several labels in one cell",
                where=f"column {truth!r}, such as {example!r}",
                fix=f"separate them with --set list_separator={shlex.quote(separator)}; "
                "if each text is one class pass --set task=multiclass",
            )


def check_count(labels: Collection[Label]) -> None:
    """Refuse more distinct labels than there are classes of anything.

    Raises
    ------
    DataError
    """
    if len(labels) > MAX_CLASSES:
        raise DataError(
            f"there are {len(labels):,} distinct labels; at most {MAX_CLASSES:,} are classes",
            fix="check that the columns of truth and prediction hold labels",
        )


def check_names(scored: Sequence[str], occurring: Sequence[Label]) -> None:
    """Refuse score columns of which none is for a label that occurs: they are named otherwise.

    Raises
    ------
    DataError
    """
    try:
        names = [cast_label(label, occurring, "score column for label") for label in scored]
    except DataError as error:
        fix = _names_of(scored, occurring)
        raise UnnamedScoresError(error.message, where=error.where, fix=fix) from None
    if len(names) > 1 and not set(names) & set(occurring):
        raise UnnamedScoresError(
            "no score column belongs to a label that occurs",
            where=f"scores of {list_names(map(str, scored))}; labels {list_names(map(str, occurring))}",
            fix=_names_of(scored, occurring),
        )


def _names_of(scored: Sequence[str], occurring: Sequence[Label]) -> str:
    """The fix for score columns that are named otherwise: numbered ones have an order, others names."""
    labels = list(map(str, occurring))
    if list(scored) == [str(place) for place in range(len(scored))] and len(scored) == len(labels):
        return f"pass the order that was used, as in --labels {shlex.quote(','.join(labels))}"
    if len(scored) == len(labels):
        pairs = ",".join(f"{label}={name}" for label, name in zip(labels, scored, strict=True))
        return f"say which is which, as in --set label_names={shlex.quote(pairs)}"
    return "name the score columns after the labels, or leave them out: --set no_scores"


def decode_label_names(values: Array | None, y_true: Array, request: Columns) -> Array | None:
    """Return the labels of predictions that are written as display names (``label_names``)."""
    if values is None or not request.label_names:
        return values
    label_of = {name: label for label, name in request.label_names}
    present = set(np.unique(values).astype(str).tolist())
    if not present <= label_of.keys() or present <= {*label_of.values()}:
        return values
    occurring = [np.unique(y_true)[0].item()]
    labels = {
        name: cast_label(label, occurring, "label of --set label_names") for name, label in label_of.items()
    }
    return np.asarray([labels[name] for name in values.astype(str).tolist()])


def _binary(labels: Sequence[Label], positive: Label | None, *, declared: bool) -> tuple[Binary, str]:
    if len(labels) > 2:
        raise DataError(
            f"a binary problem has two labels, not {len(labels)}",
            where=list_names(map(str, labels)),
            fix="leave --set task out",
        )
    if len(labels) == 1:
        return _one_label(labels[0], positive)
    if positive is None:
        return Binary(*labels), ""
    if positive not in labels:
        names = [str(label) for label in labels]
        raise UsageError(
            f"positive label {str(positive)!r} is not among the labels",
            where="--positive" if not declared else "--positive, --labels",
            fix=nearest(str(positive), names),
        )
    negative = labels[0] if labels[1] == positive else labels[1]
    return Binary(negative, positive), ""


def _one_label(label: Label, positive: Label | None) -> tuple[Binary, str]:
    """Complete a label that occurs alone: 0 with 1, False with True, and text with what it is not."""
    if positive is not None and positive != label:
        return Binary(label, positive), f"only {label} occurs"
    if label in (0, 1):
        other = not label if isinstance(label, bool) else 1 - int(label)
        space = Binary(other, label) if positive == label else Binary(*sorted((label, other)))
        return space, f"only {label} occurs"
    note = f"only {label} occurs; pass --labels to name the other label"
    return Binary(f"not {label}", label), note


def is_lists(values: Array) -> bool:
    """Return whether a column contains lists of labels.

    Examples
    --------
    >>> is_lists(np.fromiter([None, ["joy"]], dtype=object))
    True
    """
    return values.dtype == object and list in set(map(type, values.tolist()))


def is_multilabel(columns: Mapping[str, Array], truth: Part, request: Columns) -> bool:
    """Return whether rows can have several labels, by the user's options, else by the labels.

    Examples
    --------
    >>> is_multilabel({}, Part(("true_joy", "true_anger"), ("joy", "anger")), Columns())
    True
    """
    if request.task is not None:
        return request.task == "multilabel"
    lists = not truth.labels and is_lists(columns[truth.columns[0]])
    return bool(truth.labels) or lists or request.list_separator is not None


def read_multilabel(rows: Rows, roles: Roles, request: Columns) -> Parts:
    """Read labels and scores of a multilabel problem.

    Raises
    ------
    ColumnNotFoundError, UsageError, DataError
    """
    truth, pred, part = roles.truth, roles.pred, roles.score
    true_lists = None if truth.labels else lists_of(rows.truth, truth, request)
    pred_lists = None if pred is None or pred.labels else lists_of(rows.columns, pred, request)
    lists = [column for column in (true_lists, pred_lists) if column is not None]
    labels = truth.labels or _label_set(lists, () if part is None else part.labels, request.labels or ())
    space = Multilabel(request.labels if request.labels is not None else labels)
    if request.labels is not None and not truth.labels:
        space = Multilabel(cast_label(label, labels, "label of --labels") for label in request.labels)
    raw = None if part is None else raw_scores(rows, part, request.score_kind)
    if raw is not None and request.labels is not None:
        raw = _select_labels(raw, space.texts)
    scores, lost = (None, ()) if raw is None else align_scores(raw, space.texts)
    kind = None if raw is None else raw.kind
    return Parts(
        space,
        _indicators(rows.truth, truth, true_lists, space, "--truth"),
        None if pred is None else _indicators(rows.columns, pred, pred_lists, space, "--pred"),
        scores,
        kind,
        None,
        column_mapping(truth, pred, part, kind),
        unscored_labels_note(lost),
        used_columns(truth, pred, part),
    )


def lists_of(columns: Mapping[str, Array], part: Part, request: Columns) -> Array:
    """Return the lists of labels of a column, as lists or split texts.

    Raises
    ------
    DataError
        The cells are texts, and no separator is given.
    """
    name = part.columns[0]
    values = columns[name]
    if is_lists(values):
        return values
    if request.list_separator is None:
        raise DataError(
            f"column {name!r} contains no lists of labels",
            where=f"column {name!r}, first: row 0, {str(values[0])[:80]!r}",
            fix="for text cells declare the separator, as in --set list_separator='|'",
        )
    return split_lists(values, request.list_separator)


def _flat(lists: Sequence[Array]) -> set[Any]:
    return {label for column in lists for row in column.tolist() if isinstance(row, list) for label in row}


def _label_set(
    lists: Sequence[Array], scored: Sequence[str], declared: tuple[Label, ...]
) -> tuple[Label, ...]:
    """Return the sorted union of the labels in lists and of those with a score column, else the declared."""
    found = _flat(lists)
    kinds = {str if isinstance(label, str) else int if isinstance(label, int) else object for label in found}
    if len(kinds) > 1 or object in kinds:
        raise DataError(
            "the lists of labels mix types", fix="use text for all labels, or whole numbers for all"
        )
    if not found and not scored:
        if declared:
            return declared
        raise DataError("no label occurs in any list", fix="pass the label set with --labels")
    named = {cast_label(label, found or {""}, "score column for label") for label in scored}
    if len(named) > 1 and found and found.isdisjoint(named):
        raise DataError(
            "no score column belongs to a label that occurs",
            where=f"scores of {list_names(scored)}; labels {list_names(sorted(map(str, found)))}",
            fix="name the score columns after the labels, or leave them out: --set no_scores",
        )
    labels = found | named
    if len(labels) > MAX_CLASSES:
        raise DataError(
            f"there are {len(labels):,} distinct labels; at most {MAX_CLASSES:,} are read",
            fix="check that the column holds labels, not texts",
        )
    return tuple(sorted(labels))


def _select_labels(raw: RawScores, names: Sequence[str]) -> RawScores:
    """Leave out the scores of labels that were not declared: multilabel scores do not sum to one."""
    kept = [index for index, label in enumerate(raw.labels) if label in set(names)]
    return replace(raw, values=raw.values[:, kept], labels=tuple(raw.labels[index] for index in kept))


def _indicators(
    columns: Mapping[str, Array], part: Part, lists: Array | None, space: Multilabel, option: str
) -> npt.NDArray[np.bool_]:
    if lists is None:
        return matrix(columns, part, space.texts, option)
    return from_lists(space, lists.tolist(), part.columns[0])


def matrix(
    columns: Mapping[str, Array], part: Part, labels: Sequence[str], option: str
) -> npt.NDArray[np.bool_]:
    """Return the indicator matrix of columns, one per label, in the order of the labels.

    Raises
    ------
    DataError
        A label without a column; values other than 0 and 1.
    """
    place = dict(zip(part.labels, part.columns, strict=True))
    lost = [label for label in labels if label not in place]
    if lost:
        raise DataError(
            f"{pluralize(len(lost), 'label')} without a column like {part.pattern}",
            where=f"first: {part.pattern.replace('*', lost[0])}",
            fix=f"name the columns with {option} 'PATTERN*', or the labels that have one with --labels",
        )
    full = np.empty((len(columns[part.columns[0]]), len(labels)), dtype=bool)
    for index, label in enumerate(labels):
        full[:, index] = _flags(columns[place[label]], place[label])
    return full


def _flags(values: Array, name: str) -> npt.NDArray[np.bool_]:
    bad = np.flatnonzero(~((values == 0) | (values == 1)))
    if bad.size:
        raise DataError(
            f"column {name!r} has {pluralize(bad.size, 'value')} other than 0 and 1",
            where=f"column {name!r}, first: row {bad[0]}, {str(values[bad[0]])[:80]!r}",
            fix="indicators are 0 or 1; scores go into proba_<label> or logit_<label>",
        )
    flags: npt.NDArray[np.bool_] = values == 1
    return flags

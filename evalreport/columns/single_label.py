"""Score columns by name, or by values if they have class names; and the label space of one label per row.

The label space is the task, the label set and the positive label.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.columns.column_request import Columns, list_names
from evalreport.columns.join import MAX_LABEL, check_length
from evalreport.columns.names import (
    FAMILIES,
    LOOSE,
    SINGLE,
    Affix,
    Part,
    are_probabilities,
    class_columns,
    describe_columns,
    family,
    kind_in,
    kind_of,
    name_weights,
    named_part,
    role,
    says_score,
    whole,
)
from evalreport.core.errors import DataError, UsageError, nearest
from evalreport.data.arrays import GAPS, is_gap, plain, to_labels
from evalreport.data.labels import Binary, Label, LabelSpace, Multiclass, distinct_labels
from evalreport.data.scores import ScoreKind

Array = npt.NDArray[Any]


OR_NONE = ", or pass --set no_scores"


def named_scores(names: Sequence[str], request: Columns, known: Collection[str], file: str) -> Part:
    """Return the scores that the user named.

    Parameters
    ----------
    known : the known labels, as text

    Raises
    ------
    ColumnNotFoundError
        A named column does not exist.
    """
    if request.score is None:
        return named_part(names, str(request.scores), "--scores", file)
    if request.score not in names and (part := _matrix(names, request.score)):
        return part
    part = named_part(names, request.score, "--score", file)
    return _with_label(replace(part, kind=part.kind or kind_of(request.score)), known)


def score_candidates(
    columns: Mapping[str, Array], names: Sequence[str], known: Collection[str], *, single: bool, several: bool
) -> list[Part]:
    """Return possible scores of some labels: vectors, one column per label, and single columns.

    Parameters
    ----------
    columns : mapping from name to array
    names : sequence of str
        Columns of numbers without a role.
    known : the known labels, as text
    single : bool
        Whether each row has one label, so that scores may sum to 1.
    several : bool
        Whether there are more than two labels, which a single column cannot score.
    """
    found = [*_matrices(names), *_families(columns, names, known, single=single)]
    if not any(part.columns for part in found if not part.pattern.endswith("[*]")):
        places = {str(place) for place in range(len(known))}
        found += [part for part in _families(columns, names, places, single=single) if len(part.labels) > 1]
    loose = _loose(names, known)
    if loose is not None and not any(set(loose.columns) & set(part.columns) for part in found):
        found.append(loose)
    if not single or several:
        return found
    taken = {name for part in found for name in part.columns}
    alone = [name for name in names if name not in taken and not name.endswith("]")]
    return found + [
        _with_label(Part((name,), kind=SINGLE.get(name) or kind_of(name)), known) for name in alone
    ]


def _matrix(names: Sequence[str], name: str) -> Part | None:
    """Return the columns of the lists of one column: ``probs[0]``, ``probs[1]``."""
    columns = tuple(other for other in names if other.startswith(f"{name}[") and other.endswith("]"))
    labels = tuple(other[len(name) + 1 : -1] for other in columns)
    return Part(columns, labels, SINGLE.get(name) or kind_of(name), f"{name}[*]") if columns else None


def _matrices(names: Sequence[str]) -> list[Part]:
    heads = dict.fromkeys(name.partition("[")[0] for name in names if name.endswith("]") and "[" in name)
    return [part for part in (_matrix(names, head) for head in heads) if part is not None]


def _families(
    columns: Mapping[str, Array], names: Sequence[str], known: Collection[str], *, single: bool
) -> list[Part]:
    """Return the sets of score columns, one per label, by names and values.

    Columns named only after the classes, or without a word for scores, count if they are probabilities: in
    [0, 1], each row summing to one.
    """
    found: dict[tuple[str, ...], Part] = {}
    plain = [name for name in names if name in columns and not name.endswith("]")]
    for affix, some in class_columns(plain, known).items():
        every = whole(affix, some, plain)
        held = [columns[name] for name in every.values()]
        if says_score(affix) or (are_probabilities(held) if single else _are_predicted(affix, held)):
            kind: ScoreKind | None = kind_in(affix) or (None if says_score(affix) else "probability")
            part = Part(tuple(every.values()), tuple(every), kind, describe_columns(affix, every))
            found.setdefault(tuple(sorted(part.columns)), part)
    taken = {name for part in found.values() for name in part.columns}
    for prefix in FAMILIES:
        part = family(names, prefix, exclude=SINGLE)
        if part.columns and not taken & set(part.columns) and not _is_lone_name(part, known):
            alone = single and len(part.columns) == 1
            found[part.columns] = _with_label(Part(part.columns), known) if alone else part
    return list(found.values())


def _are_predicted(affix: Affix, held: Sequence[Array]) -> bool:
    """Whether columns named as predictions of several labels are scores: all in [0, 1], some between."""
    if len(held) < 2 or name_weights(" ".join(affix))["prediction"] < 2:
        return False
    inside = all(
        values.dtype.kind in "fiu" and (values >= 0).all() and (values <= 1).all() for values in held
    )
    return inside and any((values != np.rint(values)).any() for values in held)


def _is_lone_name(part: Part, known: Collection[str]) -> bool:
    """Whether the only column of a family has no label in its name: ``prob_label`` is read by its words."""
    return len(part.columns) == 1 and part.labels[0] not in known and role(part.columns[0]) == "score"


def _loose(names: Sequence[str], known: Collection[str]) -> Part | None:
    """Return ``p_<label>`` or ``score_<label>`` columns of known labels."""
    for prefix in LOOSE:
        part = family(names, prefix)
        pairs = [(c, label) for c, label in zip(part.columns, part.labels, strict=True) if label in known]
        if pairs:
            columns, labels = zip(*pairs, strict=True)
            return Part(columns, labels, part.kind, part.pattern)
    return None


def _with_label(part: Part, known: Collection[str]) -> Part:
    """Return a single column with the label at the end of its name: ``p_malignant`` scores ``malignant``.

    If only one label occurs, the name of the column may be the other one.
    """
    if part.labels:
        return part
    column = part.columns[0]
    kind = part.kind or SINGLE.get(column)
    for prefix, declared in {**FAMILIES, **LOOSE}.items():
        if column.startswith(prefix):
            label = column.removeprefix(prefix)
            other = prefix != "score_" and {label.isdigit()} == {name.isdigit() for name in known}
            is_label = label in known or (len(known) == 1 and other)
            return Part(part.columns, (label,) if is_label else (), kind or declared)
    return Part(part.columns, (), kind)


MAX_CLASSES = 10_000
"""Distinct labels from which a column contains numbers or texts, not classes (chosen by hand)."""


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


def without_gaps(name: str) -> str:
    """Return the fix that excludes the rows in which a column has no value."""
    return f"ignore them: --where {shlex.quote(f'{name}!=')}"


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


class UnnamedScoresError(DataError):
    """Score columns of which nothing says which label each is of."""


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


def harmonise_labels(y_true: Array, y_pred: Array | None) -> tuple[Array, Array | None]:
    """Return labels of which 0/1 and False/True are one kind.

    Examples
    --------
    >>> harmonise_labels(np.array([0, 1]), np.array([True, False]))[1]
    array([1, 0])
    """
    if y_pred is None or {y_true.dtype.kind, y_pred.dtype.kind} != {"b", "i"}:
        return y_true, y_pred
    return y_true.astype(np.int64), y_pred.astype(np.int64)


def _names_of(scored: Sequence[str], occurring: Sequence[Label]) -> str:
    """The fix for score columns that are named otherwise: numbered ones have an order, others names."""
    labels = list(map(str, occurring))
    if list(scored) == [str(place) for place in range(len(scored))] and len(scored) == len(labels):
        return f"pass the order that was used, as in --labels {shlex.quote(','.join(labels))}"
    if len(scored) == len(labels):
        pairs = ",".join(f"{label}={name}" for label, name in zip(labels, scored, strict=True))
        return f"say which is which, as in --set label_names={shlex.quote(pairs)}"
    return "name the score columns after the labels, or leave them out: --set no_scores"


def as_text(y_true: Array, y_pred: Array | None) -> tuple[Array, Array | None]:
    """Return both sides as text where one is text and has numbers of the other among it.

    A CSV has no types: labels may be digits in one column, and digits among words in another.

    Examples
    --------
    >>> as_text(np.array([101, 102]), np.array(["101", "foo"]))[0]
    array(['101', '102'], dtype='<U21')
    """
    if y_pred is None or (y_true.dtype.kind == "U") == (y_pred.dtype.kind == "U"):
        return y_true, y_pred
    if not set(np.unique(y_true).astype(str)) & set(np.unique(y_pred).astype(str)):
        return y_true, y_pred
    return y_true.astype(str), y_pred.astype(str)


def decode_label_names(values: Array | None, y_true: Array, request: Columns) -> Array | None:
    """Return the labels of predictions that are written as display names (``label_names``)."""
    if values is None or not request.label_names:
        return values
    label_of = {name: label for label, name in request.label_names}
    told = set(np.unique(values).astype(str).tolist())
    if not told <= label_of.keys() or told <= {*label_of.values()}:
        return values
    occurring = [np.unique(y_true)[0].item()]
    labels = {
        name: cast_label(label, occurring, "label of --set label_names") for name, label in label_of.items()
    }
    return np.asarray([labels[name] for name in values.astype(str).tolist()])


def cast_label(label: Label, others: Iterable[Label], what: str) -> Label:
    """Return a label that was written as text in the type of the labels that occur.

    Raises
    ------
    DataError
        Text where the labels are numbers.

    Examples
    --------
    >>> cast_label("1", [0], "--positive")
    1
    """
    known = list(others)
    kind = type(known[0])
    text = str(plain([label])[0])
    if kind is str:
        return text
    if kind is bool and text.lower() in ("true", "1", "false", "0"):
        return text.lower() in ("true", "1")
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if kind is bool or not number.is_integer():
        raise DataError(
            f"{what} {text!r} has a different type than the labels of the data, which are {kind.__name__}",
            where=f"{what} {text!r}",
            fix=f"labels are: {list_names([str(one) for one in plain(known)])}",
        )
    return int(number)


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

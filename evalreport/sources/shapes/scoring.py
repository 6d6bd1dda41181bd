"""Which columns hold the scores, judged by their names and, where these are the classes' own, by values."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy.typing as npt

from evalreport.scores import ScoreKind
from evalreport.sources.request import Columns, several
from evalreport.sources.shapes.families import (
    are_probabilities,
    class_columns,
    kind_in,
    says_score,
    shown_as,
    whole,
)
from evalreport.sources.shapes.naming import kind_of, named_as, role
from evalreport.sources.shapes.roles import ARRAYS, FAMILIES, LOOSE, SINGLE, Part, family, named_part

Array = npt.NDArray[Any]


OR_NONE = ", or pass --no-scores"


def score_part(
    columns: Mapping[str, Array],
    names: Sequence[str],
    request: Columns,
    known: Collection[str],
    file: str,
    *,
    taken: Collection[str] = (),
    single: bool = True,
) -> Part | None:
    """Return the part of the scores, or None where there is none.

    Parameters
    ----------
    columns : mapping from name to array
        What was read: columns that are named after the classes alone are judged by their values.
    known : the labels that are known so far, as text
    taken : collection of str
        Columns of truth and predictions.
    single : bool
        Whether one column can score the problem; a multilabel problem needs one per label.

    Raises
    ------
    UsageError
        Several columns could be meant.
    ColumnNotFoundError
        A named column is not there.
    """
    if request.no_scores:
        return None
    if request.score is not None:
        if request.score not in names and (part := _matrix(names, request.score)):
            return part
        return _with_label(named_part(names, request.score, "--score", file), known)
    if request.scores is not None:
        return named_part(names, request.scores, "--scores", file)
    free = [name for name in names if name not in request.given and name not in taken]
    found = [*_matrices(free), *_families(columns, free, known, single=single)]
    if len(found) > 1:
        shown, example = [part.shown for part in found], f"'{found[0].pattern}'"
        raise several(shown, "sets of scores could be meant", "--scores", example, OR_NONE)
    if found:
        return found[0]
    return _loose(free, known) or (_one_of(free, known) if single else None)


def _matrix(names: Sequence[str], name: str) -> Part | None:
    """Return the columns that the lists of one column became: ``probs[0]``, ``probs[1]``."""
    columns = tuple(other for other in names if other.startswith(f"{name}[") and other.endswith("]"))
    labels = tuple(other[len(name) + 1 : -1] for other in columns)
    return Part(columns, labels, SINGLE.get(name) or kind_of(name), f"{name}[*]") if columns else None


def _matrices(names: Sequence[str]) -> list[Part]:
    heads = dict.fromkeys(name.partition("[")[0] for name in names if name.endswith("]") and "[" in name)
    parts = [_matrix(names, head) for head in heads if role(head) == "score" or head in ARRAYS]
    return [part for part in parts if part is not None]


def _families(
    columns: Mapping[str, Array], names: Sequence[str], known: Collection[str], *, single: bool
) -> list[Part]:
    """Return the sets of score columns, one per label, that names and values show.

    Columns named after the classes alone, or with a word that is none of scores, count where they are
    probabilities: in [0, 1], each row summing to one.
    """
    found: dict[tuple[str, ...], Part] = {}
    plain = [name for name in names if name in columns and not name.endswith("]")]
    for affix, some in class_columns(plain, known).items():
        every = whole(affix, some, plain)
        if says_score(affix) or (single and are_probabilities([columns[name] for name in every.values()])):
            kind: ScoreKind | None = kind_in(affix) or (None if says_score(affix) else "probability")
            part = Part(tuple(every.values()), tuple(every), kind, shown_as(affix, every))
            found.setdefault(tuple(sorted(part.columns)), part)
    taken = {name for part in found.values() for name in part.columns}
    for prefix in FAMILIES:
        part = family(names, prefix, exclude=SINGLE)
        if part.columns and not taken & set(part.columns) and not _is_lone_name(part, known):
            alone = single and len(part.columns) == 1
            found[part.columns] = _with_label(Part(part.columns), known) if alone else part
    return list(found.values())


def _is_lone_name(part: Part, known: Collection[str]) -> bool:
    """Whether one column of a family is a score of no label: ``prob_label`` is read by its words."""
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


def _one_of(names: Sequence[str], known: Collection[str]) -> Part | None:
    """Return the one column that is called a score, or of a binary problem the only ``score_…``."""
    if len(known) > 2:
        return None
    usual = [name for name in names if name in SINGLE]
    singles = usual or named_as("score", names, ()) or family(names, "score_").columns
    if len(singles) > 1:
        raise several(singles, "columns could be the score", "--score", more=OR_NONE)
    return Part((singles[0],), kind=SINGLE.get(singles[0]) or kind_of(singles[0])) if singles else None


def _with_label(part: Part, known: Collection[str]) -> Part:
    """Give one named column the label that its name ends in: ``p_malignant`` scores ``malignant``.

    Where one label occurs alone, the name of the column may be the other one.
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

"""Score columns that are named after the classes, whatever stands round the class's name."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.scores import ROW_SUM, ScoreKind
from evalreport.sources.request import listed
from evalreport.sources.shapes.naming import is_like_score, kind_of, words

Array = npt.NDArray[Any]
Affix = tuple[str, str]
_TRIED = 5
"""Labels from which the affixes are taken: one column may be missing for a class that was never scored."""


def class_columns(names: Collection[str], labels: Collection[str]) -> Mapping[Affix, Mapping[str, str]]:
    """Return the sets of columns that are named alike but for the label, as label to column.

    By what stands before and behind the label: ``class_0``, ``p0``, ``setosa``, ``P(setosa)``. A set holds
    at least two labels, and all of them where nothing in its name says that it holds scores.

    Examples
    --------
    >>> class_columns(["age", "p0", "p1"], ["0", "1"])
    {('p', ''): {'0': 'p0', '1': 'p1'}}
    """
    there = set(names)
    found: dict[Affix, Mapping[str, str]] = {}
    for affix in _affixes(names, labels):
        before, after = affix
        columns = {label: column for label in labels if (column := f"{before}{label}{after}") in there}
        if len(columns) >= 2 and (len(columns) == len(labels) or says_score(affix)):
            found[affix] = columns
    return found


def _affixes(names: Collection[str], labels: Collection[str]) -> Iterator[Affix]:
    seen = set()
    for label in sorted(filter(None, labels), key=len, reverse=True)[:_TRIED]:
        for name in names:
            start = name.find(label)
            while start >= 0:
                affix = name[:start], name[start + len(label) :]
                if affix not in seen and _is_apart(affix, label):
                    seen.add(affix)
                    yield affix
                start = name.find(label, start + 1)


def _is_apart(affix: Affix, label: str) -> bool:
    """Whether the label is a word of its own in the name: not the ``a`` of ``age``."""
    before, after = affix
    follows = not before or not before[-1].isalnum() or (label.isdigit() and before[-1].isalpha())
    return follows and (not after or not after[0].isalnum())


def says_score(affix: Affix) -> bool:
    """Tell whether what stands round the label is a word of scores.

    Examples
    --------
    >>> says_score(("prob_class_", "")), says_score(("P(", ")")), says_score(("x", ""))
    (True, True, False)
    """
    joined = "_".join(affix)
    return is_like_score(joined) or words(joined)[:1] == ["p"]


def whole(affix: Affix, columns: Mapping[str, str], names: Sequence[str]) -> Mapping[str, str]:
    """Return a set of columns with those of labels that do not occur, where the name tells them."""
    before, after = affix
    if not before and not after:
        return columns
    there = {
        name[len(before) : len(name) - len(after)]: name
        for name in names
        if name.startswith(before)
        and name.endswith(after)
        and len(name) > len(before) + len(after)
        and _is_apart(affix, name[len(before) : len(name) - len(after)])
    }
    return there if says_score(affix) else columns


def shown_as(affix: Affix, columns: Mapping[str, str]) -> str:
    """Return how a set of columns is named: a pattern, or the names where they are the labels alone."""
    return "*".join(affix) if any(affix) else listed(columns.values())


def are_probabilities(columns: Sequence[Array]) -> bool:
    """Tell whether columns are the probabilities of classes: in [0, 1], and each row sums to one.

    Examples
    --------
    >>> are_probabilities([np.array([0.25, 1.0]), np.array([0.75, 0.0])])
    True
    """
    if any(column.ndim != 1 or column.dtype.kind not in "fiu" for column in columns):
        return False
    total = np.zeros(len(columns[0]))
    for column in columns:
        if not ((column >= -ROW_SUM) & (column <= 1 + ROW_SUM)).all():  # a NaN is neither
            return False
        total += column
    return bool((np.abs(total - 1) <= ROW_SUM).all())


def kind_in(affix: Affix) -> ScoreKind | None:
    """Return the kind of score that the words round the label declare."""
    joined = "_".join(affix)
    return kind_of(joined) or ("probability" if words(joined)[:1] == ["p"] else None)

"""Two spellings of one set of labels, matched where there is one way to match them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.errors import some_of

Array = npt.NDArray[Any]
_TWO: Mapping[str, int] = {
    **dict.fromkeys(("yes", "y", "true", "t", "positive", "pos", "1", "on"), 1),
    **dict.fromkeys(("no", "n", "false", "f", "negative", "neg", "0", "off"), 0),
}
"""Words that say one of two without saying of what."""
_NUMBERED = re.compile(r"\D*?[_\- ]?(\d+)(?:\.0)?")
_SHOWN = 3
"""Pairs of spellings that a note names."""


def one_spelling(y_true: Array, y_pred: Array) -> tuple[Array, str]:
    """Return the predictions in the truth's spelling, and what was matched; unchanged where they agree.

    ``LABEL_1`` and ``label 1`` are 1, ``Yes`` is True or 1, ``Spam`` is ``spam``, ``"1"`` is 1: each only
    where every label of one side is met by exactly one of the other.

    Examples
    --------
    >>> one_spelling(np.array(["Yes", "No"]), np.array([1, 0]))
    (array(['Yes', 'No'], dtype='<U3'), 'y_pred matched to the labels of the truth: 0 is No, 1 is Yes')
    """
    right, told = np.unique(y_true).tolist(), np.unique(y_pred).tolist()
    same = isinstance(right[0], str) == isinstance(told[0], str)
    if same and set(told) & set(right):
        return y_pred, ""
    for key in (_plain, _folded, _number, _of_two):
        matched = _matched(right, told, key)
        if matched is not None:
            return _rewritten(y_true, y_pred, told, matched)
    return y_pred, ""


def _plain(label: Any) -> Any:
    return str(label)


def _folded(label: Any) -> Any:
    return " ".join(str(label).casefold().replace("_", " ").replace("-", " ").split())


def _number(label: Any) -> Any:
    found = _NUMBERED.fullmatch(str(label).strip())
    return int(found.group(1)) if found else None


def _of_two(label: Any) -> Any:
    return _TWO.get(str(label).strip().casefold())


def _matched(right: Sequence[Any], told: Sequence[Any], key: Any) -> Mapping[Any, Any] | None:
    """Return the truth's label for each answer where the keys are distinct on both sides."""
    ours, theirs = {key(label): label for label in right}, {key(label): label for label in told}
    if None in ours or None in theirs or len(ours) < len(right) or len(theirs) < len(told):
        return None
    shared = theirs.keys() & ours.keys()
    if not shared or (len(shared) < len(theirs) and len(shared) < len(ours)):
        return None
    if len(shared) < len(theirs) and isinstance(right[0], str) and key is not _number:
        return None
    return {label: ours.get(name, name if key is _number else label) for name, label in theirs.items()}


def _rewritten(
    y_true: Array, y_pred: Array, told: Sequence[Any], matched: Mapping[Any, Any]
) -> tuple[Array, str]:
    values = [matched[label] for label in told]
    if isinstance(y_true[0].item(), str):
        values = [str(value) for value in values]
    _, codes = np.unique(y_pred, return_inverse=True)
    some = some_of([f"{label} is {matched[label]}" for label in told], _SHOWN)
    note = f"y_pred matched to the labels of the truth: {some}"
    return np.asarray(values)[codes], note

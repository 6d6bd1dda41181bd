"""Answers as codes: what was predicted for each row, and the rows for which nothing was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.cells import as_array, gaps_of, is_gap, to_labels
from evalreport.errors import DataError
from evalreport.labels import UNPARSED, LabelSpace, Multilabel, encode, indicators
from evalreport.parsing import Parsed

Codes: TypeAlias = npt.NDArray[np.int32] | npt.NDArray[np.bool_]


def codes_of(space: LabelSpace, values: npt.ArrayLike | Sequence[Any], what: str) -> Codes:
    """Return labels as codes of shape (n,), or sets of labels as bool of shape (n, labels).

    Raises
    ------
    DataError
        Gaps, mixed types, labels outside the set.
    """
    if isinstance(space, Multilabel):
        return indicators(space, values, what)
    return encode(to_labels(values, what), space, what)


def answers_of(
    values: npt.ArrayLike | Sequence[Any], what: str, missing: str | None
) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_] | None]:
    """Return predictions with each gap filled by an answer that was given, and where the gaps were.

    Parameters
    ----------
    missing : str or None
        ``wrong`` allows gaps; the caller counts those rows as answers that could not be read.

    Raises
    ------
    DataError
        Gaps that nobody allowed, or no answer at all.

    Examples
    --------
    >>> answers_of([1, None], "y_pred", "wrong")
    (array([1, 1], dtype=object), array([False,  True]))
    """
    array = as_array(values)
    gaps = gaps_of(array) if array.ndim == 1 else np.zeros(0, dtype=np.intp)
    if not gaps.size:
        return array, None
    if missing != "wrong":
        raise DataError(
            f"{what} is missing for {gaps.size} row{'s' if gaps.size > 1 else ''}",
            where=f"{what}, first: row {gaps[0]}",
            fix="to count such rows as wrong pass --missing wrong; else fill the gaps or drop the rows",
        )
    if gaps.size == len(array):
        raise DataError(f"{what} is missing for every row", where=what, fix="name another column with --pred")
    lost = np.zeros(len(array), dtype=bool)
    lost[gaps] = True
    filled = array.copy()
    filled[lost] = array[~lost][0]
    return filled, lost


def with_gaps(values: npt.NDArray[Any] | None, lost: npt.NDArray[np.bool_] | None) -> Any:
    """Return answers with None where there were gaps, the other way round from `answers_of`.

    Examples
    --------
    >>> with_gaps(np.array([1, 1]), np.array([False, True]))
    array([1, None], dtype=object)
    """
    if values is None or lost is None:
        return values
    gapped = values.astype(object)
    gapped[lost] = None
    return gapped


def decisions(
    space: LabelSpace,
    y_pred: npt.ArrayLike | Sequence[Any] | Parsed | None,
    truth: Codes,
    missing: str | None,
) -> tuple[Codes | None, int]:
    """Return the codes of the answers, and how many rows had none and count as wrong.

    Parameters
    ----------
    truth : codes of the true labels
    missing : str or None
        ``wrong`` allows rows without an answer.

    Raises
    ------
    DataError
        Rows without an answer that nobody allowed; what `codes_of` refuses.
    """
    match y_pred:
        case None:
            return None, 0
        case Parsed():
            return y_pred.codes, 0
    if isinstance(space, Multilabel):
        return _several_labels(space, y_pred, truth, missing)
    filled, lost = answers_of(y_pred, "y_pred", missing)
    codes = codes_of(space, filled, "y_pred")
    if lost is None:
        return codes, 0
    return np.where(lost, np.int32(UNPARSED), codes).astype(np.int32), int(lost.sum())


def _several_labels(
    space: Multilabel, y_pred: npt.ArrayLike | Sequence[Any], truth: Codes, missing: str | None
) -> tuple[Codes, int]:
    """A set of labels has no place for an answer that is not there: the row is wrong in each label."""
    rows = y_pred if isinstance(y_pred, np.ndarray) else list(y_pred)  # type: ignore[arg-type]
    lost = [row for row, item in enumerate(rows) if is_gap(item)] if missing == "wrong" else []
    if not lost:
        return codes_of(space, y_pred, "y_pred"), 0
    gone = set(lost)
    codes = indicators(space, [() if row in gone else item for row, item in enumerate(rows)], "y_pred")
    codes[lost] = ~truth[lost].astype(bool)
    return codes, len(lost)


def counted_wrong(lost: int) -> tuple[str, ...]:
    """Return the note on rows without an answer, if there are any.

    Examples
    --------
    >>> counted_wrong(2)
    ('y_pred is missing for 2 rows, counted as wrong',)
    """
    if not lost:
        return ()
    return (f"y_pred is missing for {lost} row{'s' if lost > 1 else ''}, counted as wrong",)

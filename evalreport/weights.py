"""Weights of rows: relative ones, of which a common factor says nothing, and numbers of rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.cells import read_only
from evalreport.errors import DataError

if TYPE_CHECKING:
    from evalreport.predictions import Predictions

WeightKind: TypeAlias = Literal["sampling", "count"]
MOST_ROWS = 50_000_000
"""Rows that weights of kind ``count`` may stand for: more would not be held in memory."""

BITS = 40
"""Bits of a rescaled weight: twelve decimals, and 13 bits for the rounding of what they were divided by."""


def relative(weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return weights of mean 1 over the rows that weigh anything; equal ones are exactly 1.

    Examples
    --------
    >>> relative(np.array([3.0, 0.0, 1.0]))
    array([1.5, 0. , 0.5])
    """
    given = weights[weights > 0]
    mantissa, exponent = np.frexp(weights / (given.mean() if np.ptp(given) else given[0]))
    # Rounded, so that what the factor leaves in the last bits decides no tie: the same bits for all factors.
    return np.asarray(np.ldexp(np.round(np.ldexp(mantissa, BITS)), exponent - BITS))


def repeated(p: Predictions, counts: npt.NDArray[np.float64]) -> Predictions:
    """Return each row as often as its weight says, without weights.

    Raises
    ------
    DataError
        A weight that is no whole number, or too many rows.

    Examples
    --------
    >>> from evalreport.labels import Binary
    >>> from evalreport.predictions import predictions
    >>> p = predictions(Binary(0, 1), [0, 1], [0, 0])
    >>> repeated(p, np.array([1.0, 2.0])).y_true
    array([0, 1, 1], dtype=int32)
    """
    if (counts % 1 != 0).any():
        row = int(np.flatnonzero(counts % 1)[0])
        raise DataError(
            f"weight {counts[row]:g} of row {row} is no number of rows",
            where="weights",
            fix="weights of kind count are whole; leave the kind out for weights that are relative",
        )
    if counts.sum() > MOST_ROWS:
        raise DataError(
            f"the weights stand for {counts.sum():,.0f} rows; at most {MOST_ROWS:,} are evaluated",
            where="weights",
            fix="leave the kind of the weights out: then they are relative",
        )
    times = counts.astype(np.int64)
    whole = p.take(np.repeat(np.arange(len(p)), times))
    note = f"{np.count_nonzero(times):,} rows stand for {len(whole):,}: their weights are numbers of rows"
    which = np.arange(len(whole)) - np.repeat(np.cumsum(times) - times, times)
    ids = whole.ids
    if ids is not None:
        ids = read_only(
            np.array(
                [f"{i} ({k + 1})" if k else i for i, k in zip(ids.tolist(), which.tolist(), strict=True)]
            )
        )
    return replace(
        whole, weights=read_only(np.ones(len(whole))), weighted=False, ids=ids, notes=(*p.notes, note)
    )

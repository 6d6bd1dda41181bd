"""Floats as integers of the same order: what is sorted, cut by bits, or sent as bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Keys = npt.NDArray[Any]


def keys_of(scores: npt.NDArray[Any]) -> Keys:
    """Return signed integers, as wide as the floats, that sort as these do; a negative zero is a zero.

    Examples
    --------
    >>> keys = keys_of(np.array([-0.5, -0.0, 0.0, 0.25]))
    >>> (np.diff(keys.astype(float)) > 0).tolist(), scores_of(keys).tolist()
    ([True, False, True], [-0.5, 0.0, 0.0, 0.25])
    """
    word = np.int32 if scores.dtype.itemsize == 4 else np.int64
    return _turned((np.ascontiguousarray(scores) + scores.dtype.type(0)).view(word))


def scores_of(keys: Keys) -> npt.NDArray[Any]:
    """Return the floats of keys."""
    return _turned(keys.copy()).view(np.float32 if keys.dtype.itemsize == 4 else np.float64)


def _turned(bits: Keys) -> Keys:
    """Turn round the order of negative ones, in place: as floats they fall while their bits rise."""
    bits ^= (bits >> (8 * bits.dtype.itemsize - 1)) & np.iinfo(bits.dtype).max
    return bits

"""The derivative of a function of counts by each of them, numerically."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from evalreport.facts.counts import Array

STEP = 1e-5
"""Relative step: about the cube root of the precision of a float64, where what a central difference leaves
out and what it loses by rounding are about equal."""
BLOCK = 256
"""Counts that are moved at a time."""


def slopes(function: Callable[[Array], Any], at: Array) -> Array:
    """Return the derivative of a function by each count; 0 for a count of 0, which no row is in.

    Parameters
    ----------
    function : callable
        From arrays of shape (m, *shape of `at`) to values of shape (m,).
    at : float64 array
        Counts, >= 0.

    Examples
    --------
    >>> slopes(lambda c: c[:, 0] / (c[:, 0] + c[:, 1]), np.array([3.0, 1.0])).round(6)
    array([ 0.0625, -0.1875])
    """
    flat = at.ravel()
    step = STEP * np.nan_to_num(flat)
    found = np.zeros(len(flat))
    moved = np.flatnonzero(step > 0)
    for start in range(0, len(moved), BLOCK):
        place = moved[start : start + BLOCK]
        moves = np.zeros((len(place), len(flat)))
        moves[np.arange(len(place)), place] = step[place]
        with np.errstate(divide="ignore", invalid="ignore"):
            up, down = (function((flat + sign * moves).reshape(-1, *at.shape)) for sign in (1, -1))
        found[place] = np.nan_to_num((np.asarray(up) - np.asarray(down)) / (2 * step[place]))
    return found.reshape(at.shape)

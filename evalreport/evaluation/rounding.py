"""Whether rows of several scores may be equal because the scores were rounded."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

DECIMALS = 5
"""Decimals from which on rounding is not looked for."""
CLOSE = 1e-6
"""How far a rounded score may be from its decimals: a float of 32 bits is."""
MOST = 0.99
"""Share of the rows whose scores have so many decimals or fewer, where all were rounded."""
HALVES = 16
"""Kinds of rows by what the highest score leaves to the others: a half or more, a quarter or more, …"""
TOGETHER = 30
"""How many times as many rows may meet as where all places are alike: of 11 models the one whose scores are
nearly constant had 25, all others at most 4 (3 to 50 classes, 60 to 100,000 rows, one to four decimals)."""


def decimals(values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Count rows by what tells how easily rounding makes them equal.

    Parameters
    ----------
    values : array of shape (n,) or (n, K)

    Returns
    -------
    array of shape (DECIMALS + 1, 2, HALVES)
        By the decimals of all scores (the last: more), by whether three scores are not 0, and by what the
        highest leaves to the others.

    Examples
    --------
    >>> scores = np.array([[0.25, 0.75, 0.0], [0.5, 0.25, 0.25], [0.1234567, 0.4, 0.4765433]])
    >>> decimals(scores).sum(axis=2).tolist()
    [[0, 0], [0, 0], [1, 1], [0, 0], [0, 0], [0, 1]]
    """
    cells = values.reshape(len(values), -1).astype(np.float64, copy=False)
    digits = np.full(len(cells), DECIMALS)
    for count in reversed(range(DECIMALS)):
        digits[(np.abs(cells - cells.round(count)) < CLOSE).all(axis=1)] = count
    wide = np.count_nonzero(cells, axis=1) > 2
    left = np.clip(cells.sum(axis=1) - cells.max(axis=1), 0.5**HALVES, 1)
    halves = np.minimum(-np.log2(left), HALVES - 1).astype(np.int64)
    found = np.zeros((DECIMALS + 1, 2, HALVES), dtype=np.int64)
    np.add.at(found, (digits, wide.astype(np.int64), halves), 1)
    return found


def met_by_rounding(counted: npt.NDArray[Any], rows: int) -> float:
    """Return how many of so many rows rounding may have made equal to others, by `decimals` of some of them.

    As birthdays meet: of the rows of a kind half their square, over the places that there are for them. What
    the highest score leaves to one other has a place for each step of the last decimal, to two others half
    the square of the steps.

    Examples
    --------
    >>> scores = np.random.default_rng(0).dirichlet([1, 1, 1], 400)
    >>> [round(met_by_rounding(decimals(scores.round(digits)), 400), 1) for digits in (2, 3, 17)]
    [1072.2, 10.7, 0.0]
    """
    known = np.cumsum(counted, axis=0)
    digits = int(np.argmax(known.sum(axis=(1, 2)) >= MOST * known[-1].sum()))
    if digits == DECIMALS:
        return 0.0
    steps = 10.0**digits * 0.5 ** np.arange(HALVES)
    places = np.maximum([steps / 2, steps**2 * 3 / 8], 1)
    return float(TOGETHER * np.sum((rows * known[digits] / known[-1].sum()) ** 2 / 2 / places))

"""How many rows a question needs: from what a sample like this one can tell."""

from __future__ import annotations

import math


def rows_needed(rows: int, detectable: float, wanted: float) -> int | None:
    """Return how many rows demonstrate a difference, where `rows` demonstrate another with the same chance.

    A standard error falls with the square root of the number of rows, as long as they are of the same kind.

    Parameters
    ----------
    rows : int
        Of the pilot: the rows that `detectable` was worked out for.
    detectable : float
        What they demonstrate, > 0.
    wanted : float
        What is to be demonstrated, on the same scale.

    Returns
    -------
    int or None
        None where no number of rows will do: a difference of 0.

    Examples
    --------
    >>> rows_needed(400, 0.02, 0.01), rows_needed(400, 0.02, 0.0)
    (1600, None)
    """
    if not wanted or not math.isfinite(detectable):
        return None
    # a whole number of rows is not rounded up for the last digit of a float
    return math.ceil(rows * (detectable / wanted) ** 2 - 1e-9)

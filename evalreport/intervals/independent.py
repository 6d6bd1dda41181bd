"""The difference of two estimates that were made on different rows."""

from __future__ import annotations

import math

from evalreport.intervals.quantiles import normal_quantile, two_sided_p
from evalreport.values import Estimate, Result, Undefined


def independent_difference(a: Result, b: Result, level: float = 0.95) -> tuple[Result, float | None]:
    """Return ``a - b`` with the limits that the two own intervals give (MOVER), and a two-sided p-value.

    Parameters
    ----------
    a, b : Estimate or Undefined
        Of independent rows.
    level : float
        Level of both intervals, and of the difference's.

    Returns
    -------
    difference : Estimate or Undefined
        Without an interval when either has none.
    p : float or None
        From the limit that faces zero, read as a normal's.

    References
    ----------
    Zou & Donner 2008; with Wilson's limits this is Newcombe's (1998) method 10.

    Examples
    --------
    >>> a = Estimate(0.8, n=100, low=0.711, high=0.867, method="wilson")
    >>> b = Estimate(0.6, n=100, low=0.502, high=0.691, method="wilson")
    >>> gap, p = independent_difference(a, b)
    >>> round(gap.low, 3), round(gap.high, 3), round(p, 4)
    (0.073, 0.319, 0.0021)
    """
    if isinstance(a, Undefined):
        return a, None
    if isinstance(b, Undefined):
        return b, None
    gap, n = a.value - b.value, a.n + b.n
    if a.low is None or a.high is None or b.low is None or b.high is None:
        return Estimate(gap, n=n, reason=a.reason or b.reason or "one side has no interval"), None
    down = math.hypot(a.value - a.low, b.high - b.value)
    up = math.hypot(a.high - a.value, b.value - b.low)
    facing = down if gap > 0 else up
    p = two_sided_p(gap / facing * normal_quantile((1 + level) / 2)) if facing else float(gap == 0)
    return Estimate(gap, n=n, low=gap - down, high=gap + up, method="MOVER, independent rows"), p

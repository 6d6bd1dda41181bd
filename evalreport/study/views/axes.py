"""Scales and thinning, shared by the views."""

from __future__ import annotations

import math
from collections.abc import Iterable

from evalreport.format import significant
from evalreport.study import ParameterColumn, Trials

MOST_TICKS = 6
"""Labels of an axis that do not run into each other."""
MOST_POINTS = 400
"""Points of one drawing; more add nothing that is visible."""


def thinned(n: int, keep: Iterable[int], most: int = MOST_POINTS) -> tuple[int, ...]:
    """Return at most `most` positions of `n`: those to keep, and the rest evenly.

    Parameters
    ----------
    n : int
    keep : iterable of int
        Positions that must stay, most wanted first; cut off when they alone are too many.
    most : int

    Examples
    --------
    >>> thinned(10, keep=[3], most=4)
    (0, 3, 5, 9)
    >>> thinned(3, keep=[])
    (0, 1, 2)
    """
    if n <= most:
        return tuple(range(n))
    kept = list(dict.fromkeys(keep))[:most]
    others = sorted(set(range(n)) - set(kept))
    room = most - len(kept)
    if room == 1:
        kept.append(others[0])
    elif room:
        kept += [others[round(at * (len(others) - 1) / (room - 1))] for at in range(room)]
    return tuple(sorted(kept))


def ticks_of(axis: ParameterColumn) -> list[tuple[float, str]]:
    """Return places in 0 … 1 with their text: categories, decades, or round numbers, whole where all are.

    Examples
    --------
    >>> ticks_of(ParameterColumn("C", "number", (), 0.01, 100.0, log=True))
    [(0.0, '0.01'), (0.25, '0.1'), (0.5, '1'), (0.75, '10'), (1.0, '100')]
    >>> [text for _, text in ticks_of(ParameterColumn("depth", "number", (), 2, 33, whole=True))]
    ['10', '20', '30']
    >>> [text for _, text in ticks_of(ParameterColumn("rate", "number", (), 0.03, 0.48))]
    ['0.1', '0.2', '0.3', '0.4']
    """
    if axis.choices:
        names = axis.choices[:: max(1, -(-len(axis.choices) // MOST_TICKS))]
        return [(axis.place(name) or 0.0, name) for name in names]
    if axis.high <= axis.low:
        return [(0.5, significant(axis.low))]
    values = _decades(axis.low, axis.high) if axis.log else _round(axis.low, axis.high, whole=axis.whole)
    return [(round(axis.place(value) or 0.0, 4), significant(value, 3)) for value in values]


def _decades(low: float, high: float) -> list[float]:
    """Powers of ten; within less than two of them 1, 2 and 5 times these."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    inside = low * (1 - 1e-9), high * (1 + 1e-9)
    powers = [10.0**power for power in range(first, last + 1)]
    held = [value for value in powers if inside[0] <= value <= inside[1]]
    if len(held) < 2:
        finer = (times * power for power in powers for times in (1, 2, 5))
        held = [value for value in finer if inside[0] <= value <= inside[1]]
    return held[:: max(1, -(-len(held) // MOST_TICKS))] if len(held) > 1 else [low, high]


def _round(low: float, high: float, *, whole: bool) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10((high - low) / MOST_TICKS))
    step = next(times * power for times in (1, 2, 5, 10) if (high - low) / (times * power) < MOST_TICKS)
    step = max(step, 1.0) if whole else step
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{place * step:.12g}") for place in range(first, last + 1)]


def best_first(trials: Trials, at: int) -> list[int]:
    """Return positions within `contenders`, best value of objective `at` first."""
    sign = trials.objectives[at].sign
    values = [sign * trial.values[at] for trial in trials.contenders]
    return sorted(range(len(values)), key=lambda position: -values[position])

"""Scales and thinning, shared by the views."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from evalreport.study import ParameterColumn, Trials

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


@dataclass(frozen=True, slots=True)
class ParameterAxis:
    """A scale for one parameter or objective.

    Parameters
    ----------
    name : str
    low, high : float
        Ends; NaN for categories.
    log : bool
    choices : tuple of str
        Categories in order; empty for a number.
    """

    name: str
    low: float
    high: float
    log: bool = False
    choices: tuple[str, ...] = ()

    def place(self, value: float | str | None) -> float | None:
        """Return where a value lies on the axis, in [0, 1]; None for a gap.

        Examples
        --------
        >>> ParameterAxis("C", 0.01, 100.0, log=True).place(100.0)
        1.0
        >>> ParameterAxis("kernel", math.nan, math.nan, choices=("a", "b", "c")).place("c")
        1.0
        """
        if value is None:
            return None
        if isinstance(value, str):
            return 0.5 if len(self.choices) == 1 else self.choices.index(value) / (len(self.choices) - 1)
        if self.high <= self.low:
            return 0.5
        bend = math.log if self.log else float
        low, high = bend(self.low), bend(self.high)
        return min(max((bend(value) - low) / (high - low), 0.0), 1.0)


def axis_of(column: ParameterColumn) -> ParameterAxis:
    """Return the axis of a parameter.

    Parameters
    ----------
    column : ParameterColumn
        With declared bounds where the sweep declared them.
    """
    return ParameterAxis(column.name, column.low, column.high, column.log, column.choices)


def best_first(trials: Trials, at: int) -> list[int]:
    """Return positions within `contenders`, best value of objective `at` first."""
    sign = trials.objectives[at].sign
    values = [sign * trial.values[at] for trial in trials.contenders]
    return sorted(range(len(values)), key=lambda position: -values[position])

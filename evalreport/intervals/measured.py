"""How often each interval held the truth in simulation: data made by `make coverage`, never typed."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from evalreport.format import percent
from evalreport.values import Result, Undefined

NOMINAL = 0.95
"""Level of the intervals that were simulated."""
NEAR = (0.93, 0.97)
"""Coverage that counts as holding what was promised, from `ENOUGH` rows on."""
ENOUGH = 200
"""Rows from which on a method that misses what it promises is named."""


@dataclass(frozen=True)
class Measured:
    """The measured coverage of one metric's 95% interval in one setting.

    Parameters
    ----------
    task, metric, method : str
        Several methods stand with a semicolon between them.
    setting : str
        How the data were simulated, in words.
    n : int
        Rows of each data set.
    simulations : int
        Data sets on which an interval was given.
    coverage : float
        Share of intervals that held the truth.
    attainable : float or None
        Where counts of few rows jump: the least share of 95% or more that an interval can have.
    """

    task: str
    metric: str
    method: str
    setting: str
    n: int
    simulations: int
    coverage: float
    attainable: float | None = None

    @property
    def inevitable(self) -> bool:
        """Whether counts of so few rows allow no lower share, give or take the error of the simulation."""
        return self.attainable is not None and self.coverage <= self.attainable + self._slack(self.attainable)

    def _slack(self, share: float) -> float:
        """Two standard errors of a share in the simulation."""
        return 2 * math.sqrt(share * (1 - share) / max(self.simulations, 1))

    @property
    def within(self) -> bool:
        """Whether the coverage is within 93 to 97%."""
        return NEAR[0] <= self.coverage <= NEAR[1]

    @property
    def near(self) -> bool:
        """Whether the coverage is within 93 to 97%, give or take the error of the simulation."""
        slack = self._slack(self.coverage)
        return NEAR[0] - slack <= self.coverage <= NEAR[1] + slack


@cache
def _rows() -> Mapping[tuple[str, str], Sequence[dict[str, Any]]]:
    """What was measured, by task and metric: thousands of settings, of which one evaluation reads some."""
    text = files("evalreport.intervals").joinpath("coverage.json").read_text(encoding="utf-8")
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in json.loads(text):
        found.setdefault((row["task"], row["metric"]), []).append(row)
    return found


@cache
def measured_coverage(task: str, metric: str) -> tuple[Measured, ...]:
    """Return what was measured of a metric's interval, the settings in their order; empty when nothing was.

    Examples
    --------
    >>> {row.metric for row in measured_coverage("binary", "roc_auc")}
    {'roc_auc'}
    """
    return tuple(Measured(**row) for row in _rows().get((task, metric), ()))


def measured_methods(task: str, metric: str) -> tuple[str, ...]:
    """Return the names of the methods of a metric's interval, those of independent rows first.

    Examples
    --------
    >>> measured_methods("binary", "roc_auc")[0]
    'delong'
    """
    named = (name for row in measured_coverage(task, metric) for name in row.method.split("; "))
    return tuple(dict.fromkeys(named))


def off_coverage(task: str, metric: str) -> tuple[Measured, ...]:
    """Return the settings of 200 rows or more in which the interval did not hold what it promises."""
    return tuple(row for row in measured_coverage(task, metric) if row.n >= ENOUGH and not row.near)


def missed(task: str, name: str, result: Result) -> str:
    """Return where the interval of a metric did not hold what it promises, in the worst setting simulated.

    Examples
    --------
    >>> missed("binary", "accuracy", Undefined("no rows"))
    ''
    """
    if isinstance(result, Undefined) or result.low is None:
        return ""
    off = [row for row in off_coverage(task, name) if result.method in row.method.split("; ")]
    if not off:
        return ""
    worst = max(off, key=lambda row: abs(row.coverage - NOMINAL))
    why = "; counts of so few rows allow no less" if worst.inevitable and worst.coverage > NOMINAL else ""
    share = percent(worst.coverage)
    return f"held the truth in {share} of simulations: {worst.setting}, n = {worst.n:,}{why}"

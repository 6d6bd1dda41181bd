"""A bound with the number that it is held against."""

from __future__ import annotations

from dataclasses import dataclass

from evalreport.bounds import Bound
from evalreport.gate.results import CheckKind


@dataclass(frozen=True)
class MeasuredBound:
    """A bound, and what was measured of it.

    Parameters
    ----------
    bound : Bound
    value : float or None
        On the scale of the bound: of a drop, baseline minus run. None where it is undefined.
    limits : (float, float) or None
        Its interval, low end first.
    rows, level
        Rows behind it, and the confidence of the interval.
    exact : bool
        Counts and settings, which estimate nothing; and values that no sample could change.
    paired : bool
        Of a change: whether it was measured on the same examples.
    reason : str
        Why there is no value, or no interval.
    note : str
        What else is to be said of it.
    """

    bound: Bound
    value: float | None
    limits: tuple[float, float] | None
    rows: int
    level: float
    exact: bool = False
    paired: bool = True
    reason: str = ""
    note: str = ""

    @property
    def kind(self) -> CheckKind:
        """Of a value, or of a change."""
        return "change" if self.bound.change else "rule"

    def reported(self, limits: tuple[float, float]) -> tuple[float, float]:
        """Return limits as run minus baseline: those of a drop change their sign and order."""
        return (0.0 - limits[1], 0.0 - limits[0]) if self.bound.change == "drops" else limits

"""ROC and precision-recall of whatever runs or averages: one axis, one guide, one way to draw a curve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.curves import Curve
from evalreport.estimates import with_interval
from evalreport.panels.chart import BOTTOM, LEFT, RIGHT, TOP, Axes, Chart, Path, Shape, x_axis, y_axis
from evalreport.panels.words import Sentence, say
from evalreport.values import Estimate

Kind: TypeAlias = Literal["roc", "pr"]
AXES = {"roc": ("False-alarm rate (1 − specificity)", "Recall ↑"), "pr": ("Recall", "Precision ↑")}
NAMES = {"roc": "ROC", "pr": "Precision–recall"}
LETTER = 6.2
"""Width of a bold letter of a label, in units of the chart."""


def named(name: str, result: Estimate | None) -> str:
    """Return what stands beside a curve: "AUC 0.99 (0.98 to 0.99)"; nothing where it is undefined.

    Examples
    --------
    >>> named("AUC", Estimate(0.9, 50, 0.81, 0.95))
    'AUC 0.900 (0.810 to 0.950)'
    """
    return "" if result is None else f"{name} {with_interval(result, 'ratio')}"


def described(what: str, key: str, name: str, result: Estimate | None) -> Sentence:
    """Return what is said of curves to those who cannot see them: the area, where it is known."""
    if result is None:
        return say(what + ".")
    return say(what + "; " + name + " {" + key + ":ratio}.", {key: result})


@dataclass(frozen=True)
class RatePlot:
    """Curves of one kind, before they are named.

    Parameters
    ----------
    kind : str
        ``roc`` or ``pr``.
    lines : tuple of (shape, curve)
        In drawing order.
    luck : float or None
        Precision of a model that knows nothing; ROC has its diagonal.
    averaged : str
        After the name of the recall: over what it is averaged.
    """

    kind: Kind
    lines: tuple[tuple[Shape, Curve], ...]
    luck: float | None = None
    averaged: str = ""

    @property
    def axes(self) -> Axes:
        """Both axes, from 0 to 1."""
        across, up = AXES[self.kind]
        return Axes(x_axis(0, 1, across + self.averaged), y_axis(0, 1, up))

    @property
    def near(self) -> npt.NDArray[np.float64]:
        """Points of the curves, shape (m, 2), in units of the chart: what labels keep clear of."""
        return np.vstack([self.axes.outline(curve.x, curve.y) for _, curve in self.lines])

    def _guide(self) -> tuple[Path, ...]:
        if self.kind == "roc":
            return (Path("guide", f"M{LEFT:g} {BOTTOM:g}L{RIGHT:g} {TOP:g}"),)
        return () if self.luck is None else (Path("guide", self.axes.level(self.luck)),)

    def chart(
        self,
        *,
        of: str = "",
        note: Sentence,
        description: Sentence,
        under: Sequence[Path] = (),
        over: Sequence[Path] = (),
        **rest: Any,
    ) -> Chart:
        """Return the chart: what lies under the curves, the guide, the curves, what lies over them.

        Parameters
        ----------
        of : str
            After the name of the kind, in the title.
        rest
            Labels, ring and values of the chart.
        """
        axes = self.axes
        drawn = (Path(shape, axes.polyline(c.x, c.y, steps=c.steps)) for shape, c in self.lines)
        paths = (*under, *self._guide(), *drawn, *over)
        title = NAMES[self.kind] + of
        return Chart(self.kind, title, note, description, axes, paths, **rest)

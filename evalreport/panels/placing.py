"""Where a label stands in a chart: beside its line, clear of the others, inside the plot."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from evalreport.panels.chart import RIGHT, Label, Look


def labelled(spot: tuple[float, float], width: float, text: str, look: Look = "") -> Label:
    """Return a label at a spot; one near the right edge ends there, whatever its letters measure."""
    if spot[0] + width > RIGHT - 14:
        return Label(RIGHT - 4, spot[1], text, "end", look)
    return Label(*spot, text, look=look)


def taken(spot: tuple[float, float], width: float) -> npt.NDArray[np.float64]:
    """Return points that a label at a spot covers, for the next one to keep clear of."""
    across_label = np.arange(spot[0], spot[0] + width + 1, 4.0)
    return np.column_stack([across_label, np.full(len(across_label), spot[1] - 4)])


def clearest(
    spots: Sequence[tuple[float, float]],
    width: float,
    obstacles: npt.NDArray[np.float64],
    enough: float = 12.0,
) -> tuple[float, float]:
    """Return the spot for a label (its left end and baseline) that lies furthest from the points.

    Parameters
    ----------
    spots : sequence of (x, y)
        Candidates, the preferred first.
    width : float
        Of the label, in units.
    obstacles : float64, shape (n, 2)
        Points that it should not cover.
    enough : float
        Distance at which a spot is as good as any further one.

    Examples
    --------
    >>> clearest([(50, 20), (50, 250)], 100, np.array([[60.0, 22.0], [90.0, 25.0]]))
    (50, 250)
    """

    def room(spot: tuple[float, float]) -> float:
        left, base = spot
        dx = np.maximum(np.maximum(left - obstacles[:, 0], obstacles[:, 0] - left - width), 0)
        dy = np.maximum(np.maximum(base - 10 - obstacles[:, 1], obstacles[:, 1] - base - 3), 0)
        return min(float(np.hypot(dx, dy).min(initial=np.inf)), enough)

    return max(spots, key=room)

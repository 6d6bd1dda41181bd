"""Figures of results in Python, in the namespace `plot` of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from evalreport.figures.plots import drawing_on

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

T = TypeVar("T")


def draw(function: Callable[[T], Figure], result: T, ax: Axes | None) -> Figure:
    """Return the figure of a result, drawn on given axes where there are any.

    Raises
    ------
    UsageError
        The figure has several charts, and axes are given.
    """
    if ax is None:
        return function(result)
    with drawing_on(ax):
        return function(result)

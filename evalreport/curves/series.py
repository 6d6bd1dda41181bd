"""What a curve is: columns of numbers, small enough for a page, equal after a trip through JSON."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.codec import Infinite

POINTS = 400
"""The most points that a curve keeps."""

Numbers: TypeAlias = tuple[Infinite, ...]


def numbers(values: npt.ArrayLike) -> Numbers:
    """Return an array as a tuple of Python floats.

    Examples
    --------
    >>> numbers(np.array([1, 2]))
    (1.0, 2.0)
    """
    return tuple(np.asarray(values, dtype=np.float64).tolist())


@dataclass(frozen=True)
class Series:
    """Columns of equal length; an infinite threshold is null in JSON."""

    def __post_init__(self) -> None:
        lengths = self.lengths()
        if len(set(lengths.values())) > 1:
            told = ", ".join(f"{name} {length}" for name, length in lengths.items())
            raise ValueError(f"columns of unequal length: {told}")

    def lengths(self) -> dict[str, int]:
        """Return how many rows each column speaks for."""
        columns = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: len(column) for name, column in columns.items() if isinstance(column, tuple)}


@dataclass(frozen=True)
class Curve(Series):
    """A line through points.

    Parameters
    ----------
    x, y : tuple of float
        At most 400 points, `x` ascending.
    threshold : tuple of float, or None
        The threshold behind each point (positive when ``score >= threshold``); infinite where nothing is
        flagged (null in JSON).
    steps : bool
        Whether `y[i]` holds on ``(x[i-1], x[i]]``: precision does not interpolate linearly between points
        (Davis & Goadrich 2006).

    Examples
    --------
    >>> from evalreport.codec import decode, encode
    >>> curve = Curve((0.0, 1.0), (0.0, 1.0), (float("inf"), 0.5))
    >>> encode(curve)["threshold"]
    [None, 0.5]
    >>> decode(Curve, encode(curve)) == curve
    True
    """

    x: Numbers
    y: Numbers
    threshold: Numbers | None = None
    steps: bool = False


@dataclass(frozen=True)
class Band(Series):
    """Pointwise confidence limits along `x`: each point alone has the stated level, not all at once.

    Examples
    --------
    >>> Band((0.0, 1.0), (0.0, 0.9), (0.2, 1.0)).level
    0.95
    """

    x: Numbers
    low: Numbers
    high: Numbers
    level: float = 0.95
    steps: bool = False


@dataclass(frozen=True)
class Reliability(Series):
    """Mean score against observed share, bin by bin; empty bins are left out.

    Parameters
    ----------
    start, end : tuple of float
        Limits of each bin: its least and greatest score (equal count) or its edges (equal width).
    score : tuple of float
        Mean score in the bin.
    observed, low, high : tuple of float
        Share of positives (of right answers, for a top label) with Wilson limits.
    n : tuple of float
        Weight in the bin.
    equal : str
        ``count`` or ``width``: what is equal about the bins.

    Examples
    --------
    >>> bins = Reliability((0.0,), (1.0,), (0.5,), (0.4,), (0.2,), (0.6,), (20.0,), equal="count")
    >>> len(bins.start)
    1
    """

    start: Numbers
    end: Numbers
    score: Numbers
    observed: Numbers
    low: Numbers
    high: Numbers
    n: Numbers
    equal: str
    level: float = 0.95


@dataclass(frozen=True)
class Histogram(Series):
    """Weight of scores in equal-width bins, by class.

    Parameters
    ----------
    edges : tuple of float
        One more than there are bins; bins are closed on the right, the first on both sides.
    positive, negative : tuple of float
        Weight of positives (right answers) and negatives (wrong answers) in each bin.

    Examples
    --------
    >>> sum(Histogram((0.0, 0.5, 1.0), (1.0, 3.0), (4.0, 0.0)).positive)
    4.0
    """

    edges: Numbers
    positive: Numbers
    negative: Numbers

    def lengths(self) -> dict[str, int]:
        """Return how many bins each column speaks for; between n + 1 edges are n bins."""
        return {**super().lengths(), "edges": len(self.edges) - 1}


@dataclass(frozen=True)
class Cardinality(Series):
    """How many rows carry 0, 1, 2, … labels.

    Parameters
    ----------
    labels : tuple of float
        Number of labels on a row.
    true, predicted : tuple of float
        Weight of rows with that many labels in truth and in the predictions.

    Examples
    --------
    >>> Cardinality((0.0, 1.0), (1.0, 9.0), (4.0, 6.0)).true
    (1.0, 9.0)
    """

    labels: Numbers
    true: Numbers
    predicted: Numbers

"""Curves of a binary problem (ROC, PR, DET, gain, lift, decision curve, calibration), and pointwise bands.

At a threshold, recall and false positive rate are two independent proportions with Wilson limits. The recall
*at a given* false positive rate varies with both: the convex hull of the curve gives the change in recall for
an error of the false positive rate, without jumps between points. The two distances combine as the sides of a
right triangle (Zou & Donner 2008, "MOVER"), which keeps the asymmetry of Wilson's limits. In 400 simulated
samples of 200 and 1,000 rows at prevalence 0.05, 0.1 and 0.5, a pointwise 95% band covered the true ROC curve
95 to 99% and the true PR curve 92 to 98% of the time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evalreport.core.result import Undefined
from evalreport.curves.curve import (
    CANDIDATES,
    POINTS,
    Band,
    Curve,
    Histogram,
    Reliability,
    bends,
    evenly_spaced_places,
    histogram,
    numbers,
    reliability,
    stairs,
    weights_above,
)
from evalreport.intervals.calibration_intervals import smooth_band
from evalreport.intervals.distributions import normal_quantile, wilson
from evalreport.statistics.calibration_fits import logit
from evalreport.statistics.confusion import Array, Places
from evalreport.statistics.score_table import NEEDS_EXACT_SCORES, BinnedTable, ScoreTable, hull
from evalreport.statistics.summary import Summary

WIDEST = 100.0
"""Half-width on the log scale above which a band is unbounded (e^100); e^710 overflows."""


def roc_band(fpr: Array, tpr: Array, sizes: tuple[float, float], level: float = 0.95) -> Band:
    """Return pointwise limits of recall at each false positive rate.

    Parameters
    ----------
    fpr, tpr : float64 arrays of shape (n,), ascending from 0 to 1
        Points of the ROC curve.
    sizes : tuple of float
        Numbers of positives and negatives.
    level : float
        Pointwise confidence level.

    Examples
    --------
    >>> band = roc_band(np.array([0.0, 0.2, 1.0]), np.array([0.0, 0.8, 1.0]), (50.0, 50.0))
    >>> at = band.x.index(0.2)
    >>> round(band.low[at], 2), round(band.high[at], 2)
    (0.26, 0.89)
    """
    P, N = sizes
    corners = hull(fpr, tpr)
    bent = fpr[corners], tpr[corners]
    fpr, tpr = _fill_gaps(fpr, tpr)
    tpr_low, tpr_high = wilson(tpr * P, P, level)
    fewer, more = _vertical_limits(fpr, wilson(fpr * N, N, level), *bent)
    low = (tpr - np.hypot(tpr - tpr_low, fewer)).clip(0, 1)
    high = (tpr + np.hypot(tpr_high - tpr, more)).clip(0, 1)
    low, high = np.maximum.accumulate(low), np.maximum.accumulate(high)
    return Band(numbers(fpr), numbers(np.minimum(low, tpr)), numbers(high), level)


def _fill_gaps(fpr: Array, tpr: Array) -> tuple[Array, Array]:
    """Points of the curve, with more on it between distant points, where limits are not straight."""
    grid = np.linspace(0, 1, 51)  # 7 of the 340 units of a chart: limits look smooth (chosen by eye)
    place = np.searchsorted(fpr, grid, side="right").clip(1, len(fpr) - 1)
    far = fpr[place] - fpr[place - 1] > 2 * grid[1]
    between = far & (grid > fpr[place - 1]) & (grid < fpr[place])
    where, at = place[between], grid[between]
    return np.insert(fpr, where, at), np.insert(tpr, where, np.interp(at, fpr, tpr))


def precision_band(fpr: Array, tpr: Array, sizes: tuple[float, float], level: float = 0.95) -> Band:
    """Return pointwise limits of precision at each recall.

    The odds of a false positive among the flagged rows are N/P times FPR/TPR: the limits combine those of the
    false positive rate at that recall and those of the odds N/P.

    Parameters
    ----------
    fpr, tpr : float64 arrays of shape (n,), ascending from 0 to 1
        Points of the curve; the first flags nothing and gets the limits of the second.
    sizes : tuple of float
        Numbers of positives and negatives.
    level : float
        Pointwise confidence level.

    Examples
    --------
    >>> band = precision_band(np.array([0.0, 0.2, 1.0]), np.array([0.0, 0.8, 1.0]), (50.0, 50.0))
    >>> round(band.low[1], 2), round(band.high[1], 2)
    (0.52, 0.9)
    """
    P, N = sizes
    corners = hull(fpr, tpr)
    fpr_low, fpr_high = wilson(fpr * N, N, level)
    fewer, more = _vertical_limits(tpr, wilson(tpr * P, P, level), tpr[corners], fpr[corners])
    wide = normal_quantile((1 + level) / 2) * np.sqrt(1 / P + 1 / N)
    ratio, spread = N / P, np.exp(min(wide, WIDEST))
    odds = fpr * ratio
    least = odds - np.hypot(ratio * np.hypot(fpr - fpr_low, fewer), odds * (1 - 1 / spread))
    most = odds + np.hypot(ratio * np.hypot(fpr_high - fpr, more), odds * (spread - 1))
    low, high = tpr / (tpr + most), np.ones(len(tpr))
    flagged = tpr + least.clip(0, None) > 0
    high[flagged] = (tpr / (tpr + least.clip(0, None) + ~flagged))[flagged]
    low[0], high[0] = low[1], high[1]
    return Band(numbers(tpr), numbers(low), numbers(high), level, steps=True)


def _vertical_limits(x: Array, limits: tuple[Array, Array], xs: Array, ys: Array) -> tuple[Array, Array]:
    """Return how far the line `xs`, `ys` falls and rises if `x` is wrong by its distance to a limit."""
    low, high = limits
    at = np.interp(x, xs, ys)
    return at - np.interp(2 * x - high, xs, ys), np.interp(2 * x - low, xs, ys) - at


CALIBRATION = (
    "reliability",
    "reliability_width",
    "smooth",
    "smooth_band",
    "isotonic",
    "benefit",
    "benefit_all",
)
"""Curves that need probabilities."""
NO_PROBABILITIES = "needs probabilities; got decision scores"
GRID = np.arange(1, 100) / 100
"""Threshold probabilities of the decision curve."""


@dataclass(frozen=True)
class BinaryCurves:
    """Curves of one binary problem.

    Parameters
    ----------
    roc : Curve
        False positive rate against recall, from nothing flagged to all flagged.
    roc_band : Band
        Limits of recall at a false positive rate.
    pr : Curve
        Recall against precision, in steps; the first point only starts the first step.
    pr_band : Band
        Limits of precision at a recall.
    det : Curve
        False positive rate against false negative rate (Martin et al. 1997), for normal-deviate or
        logarithmic axes.
    gain : Curve
        Proportion flagged against recall.
    lift : Curve
        Proportion flagged against recall divided by that proportion.
    benefit, benefit_all : Curve
        Threshold probability against net benefit of the model and of flagging all (Vickers & Elkin
        2006); flagging nothing is 0.
    reliability, reliability_width : Reliability
        Ten bins of equal count and of equal width.
    smooth : Curve
        Probability against the rate of positives on a logistic regression spline (`SmoothCurve`).
    smooth_band : Band
        Limits of `smooth` at a probability.
    isotonic : Curve
        Probability against the isotonic rate of positives: the CORP reliability diagram (Dimitriadis,
        Gneiting & Jordan 2021), from end to end of each block.
    histogram : Histogram
        Scores by class.

    Examples
    --------
    >>> table = ScoreTable.from_scores(np.array([0.1, 0.4, 0.35, 0.8]), np.array([False, False, True, True]))
    >>> binary_curves(table, probabilities=True).roc.y
    (0.0, 0.5, 0.5, 1.0, 1.0)
    """

    roc: Curve | Undefined
    roc_band: Band | Undefined
    pr: Curve | Undefined
    pr_band: Band | Undefined
    det: Curve | Undefined
    gain: Curve | Undefined
    lift: Curve | Undefined
    benefit: Curve | Undefined
    benefit_all: Curve | Undefined
    reliability: Reliability | Undefined
    reliability_width: Reliability | Undefined
    smooth: Curve | Undefined
    smooth_band: Band | Undefined
    isotonic: Curve | Undefined
    histogram: Histogram | Undefined


@dataclass(frozen=True, eq=False)
class _Path:
    """The path from nothing flagged to all flagged, at the points that any curve may need.

    `hull` contains positions in these points; the other fields are arrays over them.
    """

    tp: Array
    fp: Array
    threshold: Array
    hull: Places
    P: float
    N: float

    @property
    def tpr(self) -> Array:
        return self.tp / self.P

    @property
    def fpr(self) -> Array:
        return self.fp / self.N

    @property
    def share(self) -> Array:
        return (self.tp + self.fp) / (self.P + self.N)

    @property
    def precision(self) -> Array:
        """0 at the first point, where nothing is flagged."""
        flagged = self.tp + self.fp
        precision: Array = self.tp / np.where(flagged > 0, flagged, 1)
        return precision


def binary_curves(
    table: ScoreTable, *, probabilities: bool, rows: float | None = None, level: float = 0.95
) -> BinaryCurves:
    """Return all curves of a score table.

    Parameters
    ----------
    table : ScoreTable
    probabilities : bool
        Whether the scores are probabilities; without them calibration and net benefit are undefined.
    rows : float, optional
        Number of rows of weighted counts, for bands and Wilson limits.
    level : float
        Confidence level of the bands.

    Returns
    -------
    BinaryCurves
        Each curve has at most 400 points, including vertices of its convex hull and its ends.
    """
    path = _path(table)
    scale = 1.0 if rows is None else rows / (table.positives + table.negatives)
    return BinaryCurves(**_ranking(path, scale, level), **_calibration(table, probabilities, rows, level))


def _path(table: ScoreTable) -> _Path:
    tp, fp = table.path
    P, N = table.positives, table.negatives
    vertices = table.corners

    def length(place: Places) -> Array:
        return tp[place] / max(P, 1e-300) + fp[place] / max(N, 1e-300)

    # both ends also on a log scale: there a single row changes precision and lift the most
    first = np.geomspace(1, len(tp), CANDIDATES // 4).astype(int) - 1
    last = min(int(np.searchsorted(tp, P)), len(tp) - 1)  # where recall reaches 1 (weights are rounded)
    places = np.unique(
        np.concatenate(
            [evenly_spaced_places(length, len(tp), CANDIDATES), first, len(tp) - 1 - first, vertices, [last]]
        )
    )
    threshold = np.append(np.inf, table.scores[-places[1:]])
    return _Path(tp[places], fp[places], threshold, np.searchsorted(places, vertices), P, N)


def _ranking(path: _Path, scale: float, level: float) -> Mapping[str, Any]:
    pr, steps = _precision_recall(path)
    if isinstance(pr, Undefined):
        return dict.fromkeys(("roc", "roc_band", "pr", "pr_band", "det", "gain", "lift"), pr)
    roc = _line(path, path.fpr, path.tpr)
    return {
        "roc": _curve(path, roc, path.fpr, path.tpr),
        "roc_band": roc_band(path.fpr[roc], path.tpr[roc], (path.P * scale, path.N * scale), level),
        "pr": pr,
        "pr_band": precision_band(path.fpr[steps], path.tpr[steps], (path.P * scale, path.N * scale), level),
        "det": _det(path, scale),
        "gain": _curve(path, _line(path, path.share, path.tpr), path.share, path.tpr),
        "lift": _lift(path),
    }


def precision_recall(table: ScoreTable) -> Curve | Undefined:
    """Return only recall against precision, as in `binary_curves`.

    Examples
    --------
    >>> table = ScoreTable.from_scores(np.array([0.1, 0.4, 0.35, 0.8]), np.array([False, False, True, True]))
    >>> precision_recall(table) == binary_curves(table, probabilities=True).pr
    True
    """
    return _precision_recall(_path(table))[0]


def _precision_recall(path: _Path) -> tuple[Curve | Undefined, Places]:
    """The curve, and the positions of its points in the path."""
    if path.P == 0 or path.N == 0:
        reason = f"no {'positive' if path.P == 0 else 'negative'} example"
        return Undefined(reason, path.P + path.N), path.hull[:0]
    steps = stairs(path.tpr, path.precision, POINTS)
    return _curve(path, steps, path.tpr, path.precision, steps=True), steps


def _line(path: _Path, x: Array, y: Array) -> Places:
    return bends(x, y, _fewer(path, path.hull), POINTS)


def _fewer(path: _Path, vertices: Places) -> Places:
    """The vertices of the hull, or its sharpest bends if they are more than half of a curve's points."""
    if len(vertices) <= POINTS // 2:
        return vertices
    return vertices[bends(path.fpr[vertices], path.tpr[vertices], np.array([], dtype=int), POINTS // 2, 0.0)]


def _curve(path: _Path, places: Places, x: Array, y: Array, *, steps: bool = False) -> Curve:
    drawn = y[places]
    if steps:
        drawn[0] = drawn[1]  # the first point only starts the first step
    return Curve(numbers(x[places]), numbers(drawn), numbers(path.threshold[places]), steps)


def _det(path: _Path, scale: float) -> Curve:
    fnr = 1 - path.tpr

    def scale_rate(rate: Array, weight: float) -> Array:
        n = max(weight * scale, 1.0)  # rows: rates are at least half a row from either end
        held = rate.clip(0.5 / n, 1 - 0.5 / n)
        logit: Array = np.log(held / (1 - held)) / (2 * np.log(2 * n))
        return logit

    places = bends(scale_rate(path.fpr, path.N), scale_rate(fnr, path.P), path.hull[:0], POINTS)
    return _curve(path, places, path.fpr, fnr)


def _lift(path: _Path) -> Curve:
    share = path.share[1:]
    lift = path.tpr[1:] / share
    places = bends(share, lift / lift.max(), np.array([int(lift.argmax())]), POINTS)
    return Curve(numbers(share[places]), numbers(lift[places]), numbers(path.threshold[1:][places]))


def _calibration(
    table: ScoreTable, probabilities: bool, rows: float | None, level: float
) -> Mapping[str, Any]:
    parts: dict[str, Any] = {"histogram": histogram(table, unit=probabilities)}
    if not probabilities:
        missing = Undefined(NO_PROBABILITIES, table.positives + table.negatives)
        return {
            **dict.fromkeys(CALIBRATION, missing),
            **parts,
        }
    parts["reliability"] = reliability(table, "count", rows=rows, level=level)
    parts["reliability_width"] = reliability(table, "width", rows=rows, level=level)
    parts["smooth"], parts["smooth_band"] = _smooth(table, rows, level)
    parts["isotonic"] = _isotonic(table)
    parts["benefit"], parts["benefit_all"] = _benefit(table)
    return parts


def _smooth(
    table: ScoreTable, rows: float | None, level: float
) -> tuple[Curve | Undefined, Band | Undefined]:
    """The smooth calibration curve at probabilities that are even on the plain and on the logit scale."""
    curve = table.smooth
    if curve is None:
        none = Undefined("the smooth calibration curve has no finite fit", table.total)
        return none, none
    low, high = float(curve.scores[0]), float(curve.scores[-1])
    least, most = logit(np.array([low, high])).tolist()
    even = 1 / (1 + np.exp(-np.linspace(least, most, POINTS // 4)))
    at = np.union1d(np.linspace(low, high, POINTS // 4), even.clip(low, high))
    wide = 1.0 if rows is None else np.sqrt(table.total / rows)
    below, above_it = smooth_band(curve, at, normal_quantile((1 + level) / 2), curve.root * wide)
    band = Band(numbers(at), numbers(below), numbers(above_it), level)
    return Curve(numbers(at), numbers(curve.predict_rates(at))), band


def _isotonic(table: ScoreTable) -> Curve:
    fit = table.isotonic
    x, y = np.stack([fit.start, fit.end], axis=1).ravel(), np.repeat(fit.rate, 2)
    places = bends(x, y, np.array([], dtype=int), POINTS)
    return Curve(numbers(x[places]), numbers(y[places]))


def _benefit(table: ScoreTable) -> tuple[Curve, Curve]:
    place = np.searchsorted(table.scores, GRID)
    tp, fp = weights_above(table, place)
    n, odds = table.positives + table.negatives, GRID / (1 - GRID)
    grid = numbers(GRID)
    model = numbers(tp / n - fp / n * odds)
    everyone = numbers(table.positives / n - table.negatives / n * odds)
    return Curve(grid, model, grid), Curve(grid, everyone, grid)


def of_summary(summary: Summary, level: float = 0.95) -> BinaryCurves | Undefined:
    """Return the curves of a binary summary, or why there are none."""
    if not isinstance(summary.scores, ScoreTable):
        return Undefined("needs scores; got only labels", summary.weight)
    is_binned = isinstance(summary.scores, BinnedTable)
    found = binary_curves(
        summary.scores,
        probabilities=summary.score_kind != "decision" and not is_binned,
        rows=summary.rows,
        level=level,
    )
    if not is_binned:
        return found
    none = Undefined(NEEDS_EXACT_SCORES, summary.weight)
    return replace(found, **dict.fromkeys((*CALIBRATION, "histogram"), none))

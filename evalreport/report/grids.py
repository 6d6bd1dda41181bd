"""Curves on integer grids, as MLflow's charts overlay them: steps are percents, the scale is in the key.

Metrics of a cross-validation have a step for each fold.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.curves.series import Curve
from evalreport.curves.thin import bends
from evalreport.evaluation.model import Evaluation
from evalreport.intervals.folds import FoldedMetric
from evalreport.labels import Binary
from evalreport.metrics.named_sets import AT_THRESHOLDS, COMPARED
from evalreport.report.payload import MAX_STEPS, Series
from evalreport.thresholds.objectives import Objective
from evalreport.values import Undefined

Array: TypeAlias = npt.NDArray[np.float64]

PERCENT = np.arange(101)
TENTH = 10
"""Percents at which every curve has a step, so that a chart tells the values of all runs there."""
SHOWS = 1 / 400
"""A step less that moves the line by no more than this share of its height does not show: cards of MLflow are
about 200 points high. A store takes a fifth of a millisecond for a step."""
CURVES: tuple[tuple[str, str], ...] = (
    ("roc", "curves/roc_tpr_by_fpr_pct"),
    ("pr", "curves/pr_precision_by_recall_pct"),
    ("gain", "curves/gain_recall_by_flagged_pct"),
    ("benefit", "curves/net_benefit_by_threshold_pct"),
    ("coverage", "curves/accuracy_by_coverage_pct"),
)
"""Part of the evaluation's curves, and the key of its series; x goes from 0 to 1 in all of them."""


def grids(ev: Evaluation) -> dict[str, Series]:
    """Return every curve of an evaluation at percents, without what is undefined or lies on a line.

    Parameters
    ----------
    ev : Evaluation

    Returns
    -------
    dict from key (without prefix) to ((percent, value), …)
    """
    found: dict[str, Series] = {}
    if not isinstance(ev.curves, Undefined):
        for name, key in CURVES:
            curve = getattr(ev.curves, name, None)
            if isinstance(curve, Curve):
                found[key] = on_grid(lambda x, curve=curve: at(curve, x))  # type: ignore[misc]
    if isinstance(ev.space, Binary) and ev.sweep is not None and ev.score_kind == "probability":
        counts = ev.sweep.at(PERCENT / 100)
        for name in AT_THRESHOLDS:
            with np.errstate(divide="ignore", invalid="ignore"):
                values = np.asarray(Objective(name).value(counts), dtype=np.float64)
            found[f"thresholds/{name}_by_threshold_pct"] = series_of(values)
    if ev.folds is not None:
        found |= {
            f"folds/{name}": _by_fold(ev.folds[name])
            for name in COMPARED[ev.task]
            if name in ev.folds.metrics
        }
    return {key: series for key, series in found.items() if series}


def _by_fold(line: FoldedMetric) -> Series:
    """A step for each fold in which the metric is defined."""
    steps = [(step, value) for step, value in enumerate(line.folds) if value is not None]
    return tuple(steps[:MAX_STEPS])


def on_grid(function: Callable[[Array], Array]) -> Series:
    """Return the values of a function of a share at 0% to 100%, see `series_of`.

    Examples
    --------
    >>> on_grid(lambda x: np.where(x < 0.8, np.nan, np.maximum(x, 0.9)))
    ((80, 0.9), (90, 0.9), (100, 1.0))
    """
    return series_of(function(PERCENT / 100))


def at(curve: Curve, x: Array) -> Array:
    """Return the height of a curve at places; NaN outside it.

    Where the curve rises straight up, the upper end counts; steps hold on ``(x[i-1], x[i]]``.

    Examples
    --------
    >>> at(Curve((0.0, 0.0, 1.0), (0.0, 0.5, 1.0)), np.array([0.0, 0.5]))
    array([0.5 , 0.75])
    >>> at(Curve((0.0, 0.5, 1.0), (1.0, 1.0, 0.6), steps=True), np.array([0.5, 0.6]))
    array([1. , 0.6])
    """
    xs, ys = np.asarray(curve.x), np.asarray(curve.y)
    if curve.steps:
        places = np.searchsorted(xs, x - 1e-12, side="left")
        inside = ys[np.minimum(places, len(ys) - 1)]
    else:
        inside = np.interp(x + 1e-15, xs, ys)
    return np.where((x >= xs[0] - 1e-12) & (x <= xs[-1] + 1e-12), inside, np.nan)


def series_of(values: npt.ArrayLike) -> Series:
    """Return values at 0%, 1%, …, 100% as a series.

    Undefined values are left out, and those between tens that the line between their neighbours tells.

    Parameters
    ----------
    values : array-like of shape (101,)
    """
    found = np.asarray(values, dtype=np.float64)
    steps = np.flatnonzero(np.isfinite(found))
    if not len(steps):
        return ()
    known = found[steps]
    height = max(float(np.ptp(known)), 1e-300)
    kept = bends(
        steps.astype(np.float64), known / height, np.flatnonzero(steps % TENTH == 0), len(steps), SHOWS
    )
    return tuple(zip(steps[kept].tolist(), known[kept].tolist(), strict=True))

"""The share that intervals of what a curve reads at a limit cannot help but hold.

A reading is that of one threshold, and an interval has to hold those of all thresholds that a sample does not
rule out. Whether a threshold keeps the limit its counts tell, by a test that none is more powerful than
(Karlin & Rubin 1956); few rows rule out next to nothing, so that the truth is held in nearly every sample.
Here each threshold is ruled out where its own test says so at 5%, as if it were the only one, and what is
read at those that are left reaches as far as exact limits of 5% on either side. An interval that rules out
less holds more, and one that rules out more misses other truths too often. Clusters are as many rows as would
tell as much of the limit (Kish 1965), all of them independent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.stats import binom

from evalreport.intervals.estimates import NOMINAL
from evalreport.metrics.record import CurvePoint, Reading, view
from evalreport.statistics.confusion import Array
from evalreport.statistics.summary import summarise
from tests.coverage.measure import MOST
from tests.coverage.settings import Setting

Counts: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]
Test: TypeAlias = Callable[[Counts, Counts, float], tuple[Bools, Bools]]

SAMPLES = 1000
KINDS = ("equal", "unequal", "steps", "hundredths", "apart", "clusters")
"""Settings whose rows count alike."""
TAIL = 1 - NOMINAL


def _many(count: Counts, rows: Counts, share: float) -> Bools:
    """Whether counts are too great for a share of their rows, by the exact test of one side."""
    found: Bools = count > binom.isf(TAIL, np.arange(rows.max() + 1), share)[rows]
    return found


def _few(count: Counts, rows: Counts, share: float) -> Bools:
    found: Bools = count < binom.ppf(TAIL, np.arange(rows.max() + 1), share)[rows]
    return found


def _by_fpr(tp: Counts, fp: Counts, at: float) -> tuple[Bools, Bools]:
    return _many(fp, fp[:, -1:], at), _few(fp, fp[:, -1:], at)


def _by_recall(tp: Counts, fp: Counts, at: float) -> tuple[Bools, Bools]:
    return _few(tp, tp[:, -1:], at), _many(tp, tp[:, -1:], at)


def _by_precision(tp: Counts, fp: Counts, at: float) -> tuple[Bools, Bools]:
    return _few(tp, tp + fp, at), _many(tp, tp + fp, at)


READINGS: dict[Reading, tuple[Test, bool]] = {
    "tpr at fpr": (_by_fpr, True),
    "fpr at tpr": (_by_recall, False),
    "recall at precision": (_by_precision, True),
}
"""The test of thresholds: which surely break the limit, and which surely keep it; and whether the recall of
the laxest that keeps it is read, else the FPR of the strictest."""


def attainable_reading(setting: Setting, point: CurvePoint, truth: float) -> float | None:
    """Return the share of samples in which an interval has to hold the truth; None where it is not known.

    >>> from tests.coverage.settings import BINARY
    >>> attainable_reading(BINARY[7], CurvePoint("recall at precision", 0.9), 0.009) > 0.99
    True
    """
    if setting.kind not in KINDS or point.reading not in READINGS:
        return None
    rows = setting.n
    if setting.kind == "clusters":
        if point.reading != "recall at precision":
            return None
        rows = round(rows / design_effect(setting, point.at))
    return held_share(_thresholds(replace(setting, n=rows)), rows, point, truth)


def design_effect(setting: Setting, precision: float) -> float:
    """Return the variance of what a precision has beyond its limit over that of as many independent rows.

    Where the population's own threshold lies: sums over clusters, squared, against those of rows.
    """
    p = setting.draw(np.random.default_rng(99), MOST // 2)
    positive, scores = p.y_true.astype(bool), np.asarray(p.scores.values)  # type: ignore[union-attr]
    order = np.argsort(-scores)
    found = positive[order].cumsum() >= precision * np.arange(1, len(order) + 1)
    beyond = (scores >= scores[order][np.flatnonzero(found)[-1]]) * (positive - precision)
    sums = np.bincount(p.groups.codes, beyond)  # type: ignore[union-attr]
    return float((sums**2).sum() / (beyond**2).sum())


def held_share(share: Array, rows: int, point: CurvePoint, truth: float) -> float:
    """Return the share of samples that do not rule out the truth of a reading.

    Parameters
    ----------
    share : float64 array of shape (2, thresholds)
        Of all rows that are positive, and negative, from threshold to threshold, the strictest first.
    rows : int
        Of a sample.
    """
    test, laxest = READINGS[point.reading]
    tp, fp = _samples(share, rows)
    if point.reading == "recall at precision":
        given = ((tp >= point.at * (tp + fp)) & (tp + fp > 0)).any(axis=1)  # else it has no value
        tp, fp = tp[given], fp[given]
    broken, sure = test(tp, fp, point.at)
    if not laxest:
        broken, sure = broken[:, ::-1], sure[:, ::-1]
    later = np.logical_or.accumulate(sure[:, ::-1], axis=1)[:, ::-1]
    left = ~broken & ~np.append(later[:, 1:], np.zeros((len(sure), 1), dtype=bool), axis=1)
    if not laxest:
        left = left[:, ::-1]
    count = tp if laxest else fp
    size = count[:, -1]
    least, most = np.where(left, count, size[:, None]).min(axis=1), np.where(left, count, 0).max(axis=1)
    held = left.any(axis=1) & ~_many(least, size, truth) & ~_few(most, size, truth)
    return float(held.mean())


def _samples(share: Array, rows: int) -> tuple[Counts, Counts]:
    """Draws of true and false positives of each threshold, from none flagged on."""
    drawn = np.random.default_rng(7).multinomial(rows, share.ravel() / share.sum(), SAMPLES)
    tp, fp = np.moveaxis(drawn.reshape(SAMPLES, 2, -1).cumsum(axis=2), 1, 0)
    none = np.zeros((SAMPLES, 1), dtype=np.int64)
    return np.append(none, tp, axis=1), np.append(none, fp, axis=1)


def _thresholds(setting: Setting) -> Array:
    """The share of rows of each kind between thresholds; of distinct scores these are a row apart."""
    whole = view(summarise(setting.draw(np.random.default_rng(99), MOST)), "scores")
    share: Array = np.diff(np.stack(whole.path)) / whole.total
    if share.shape[1] <= setting.n:
        return share
    place = np.minimum((share.sum(axis=0).cumsum() * setting.n).astype(np.int64), setting.n - 1)
    return np.stack([np.bincount(place, part, setting.n) for part in share])

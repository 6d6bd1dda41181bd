"""Intervals of functions of counts, by draws of the counts themselves: the cost does not know the rows.

The counts of an operating point are one draw from a multinomial. Posterior draws of its probabilities
under Jeffreys' prior, Dirichlet(1/2, …), are laid through any function of the counts at once; their
quantiles covered best of the methods tried (see `coverage.json`), also where a cell is empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from evalreport.facts import BinaryCounts
from evalreport.facts.counts import Array
from evalreport.intervals.sampling import Sampling
from evalreport.metrics import Metric
from evalreport.resampling import posterior_shares

MOST = 1_000_000
"""Draws over all labels, and values worked out at a time: a thousand labels get a thousand each."""

Bounds: TypeAlias = tuple[Array, Array, Array]
"""Low, high and standard error, one entry per label."""


def posterior(counts: BinaryCounts, sampling: Sampling) -> BinaryCounts:
    """Return Dirichlet(1/2) posterior draws of the counts, fields of shape (resamples, *shape).

    Cells of unparsed answers are drawn only where there are any: elsewhere they cannot occur.

    Examples
    --------
    >>> drawn = posterior(BinaryCounts(3, 0, 2, 5), Sampling(resamples=500))
    >>> drawn.tp.shape, bool((drawn.fp > 0).all()), bool(abs(drawn.total - 1).max() < 1e-12)
    ((500,), True, True)
    """
    missed = np.asarray(counts.fn) - counts.unread_positive
    parts = (counts.tp, counts.fp, missed, counts.tn, counts.unread, counts.unread_positive)
    cells = np.stack(np.broadcast_arrays(*(np.asarray(part, dtype=np.float64) for part in parts)), axis=-1)
    size = max(200, min(sampling.resamples, MOST // max(1, cells[..., 0].size)))
    possible = (cells > 0) | (np.arange(6) < 4)
    drawn = posterior_shares(cells, possible, size, (-1,), sampling.generator(1))
    tp, fp, fn, tn, unread, unread_positive = np.moveaxis(drawn, -1, 0)
    return BinaryCounts(tp, fp, fn + unread_positive, tn, unread, counts.threshold, unread_positive)


def count_bounds(metrics: Sequence[Metric], counts: BinaryCounts, sampling: Sampling) -> dict[str, Bounds]:
    """Return the limits of functions of the counts, each of the shape of the counts.

    Parameters
    ----------
    metrics : sequence of Metric
        Binary records of the family ``counts``.
    counts : BinaryCounts

    Examples
    --------
    >>> from evalreport.metrics.catalogue import find
    >>> found = count_bounds([find("f1", "binary")], BinaryCounts(40, 10, 10, 40), Sampling())
    >>> low, high, error = found["f1"]
    >>> round(float(low), 1), round(float(high), 1)
    (0.7, 0.9)
    """
    if not metrics:
        return {}
    found: dict[str, Bounds] = {}
    drawn, ends = posterior(counts, sampling), [(1 - sampling.level) / 2, (1 + sampling.level) / 2]
    step = max(1, MOST // np.size(drawn.tp))
    for some in (metrics[start : start + step] for start in range(0, len(metrics), step)):
        values = np.array([metric.function(drawn) for metric in some], dtype=np.float64)
        low, high = np.quantile(values, ends, axis=1)
        names = (metric.name for metric in some)
        found |= dict(zip(names, zip(low, high, values.std(axis=1), strict=True), strict=True))
    return found

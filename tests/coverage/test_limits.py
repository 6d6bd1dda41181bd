"""How often a reading at a limit has to be held: against the binomial probabilities of one threshold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from evalreport.metrics.strategies import CurvePoint
from tests.coverage.limits import held_share

ERROR = 0.016  # two of the simulation, near 95 %


@pytest.mark.parametrize("fpr", [0.011, 0.02, 0.004])
def test_a_threshold_is_ruled_out_as_often_as_its_count_says(fpr: float) -> None:
    """One threshold below that of all rows: beyond an FPR of 1 % nothing is flagged, else 30 % are found."""
    negative, found = 0.5, 0.3
    share = np.array([[(1 - negative) * found, (1 - negative) * (1 - found)], negative * np.array([fpr, 1 - fpr])])
    truth = found if fpr <= 0.01 else 0.0
    sizes = np.arange(850, 1151)
    few, many = binom.ppf(0.05, sizes, 0.01), binom.isf(0.05, sizes, 0.01)
    if truth:  # missed where the count is too great for the limit, or too few or, if nothing else is left, many are found
        gone, alone = binom.sf(many, sizes, fpr), binom.cdf(few - 1, sizes, fpr)
        low, high = binom.cdf(binom.ppf(0.05, sizes, found) - 1, sizes, found), binom.sf(
            binom.isf(0.05, sizes, found), sizes, found
        )
        missed = gone + (1 - gone) * low + alone * high
    else:
        missed = binom.cdf(few - 1, sizes, fpr)
    expected = 1 - float(np.average(missed, weights=binom.pmf(sizes, 2000, negative)))
    assert held_share(share, 2000, CurvePoint("tpr at fpr", 0.01), truth) == pytest.approx(expected, abs=ERROR)

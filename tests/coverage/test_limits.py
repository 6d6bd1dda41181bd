"""How often a reading at a limit has to be held: against the binomial probabilities of one threshold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from evalreport.metrics.record import CurvePoint
from tests.coverage.limits import attainable_reading, design_effect, held_share
from tests.coverage.settings import HARD

ERROR = 0.016  # two of the simulation, near 95%
FOUND, LIMIT, ROWS = 0.3, 0.01, 2000


@pytest.mark.parametrize("fpr", [0.011, 0.02, 0.004])
def test_a_threshold_is_ruled_out_as_often_as_its_count_says(fpr: float) -> None:
    """One threshold above that of all rows, with 30% of the positives: beyond the limit nothing is read."""
    share = np.array([[FOUND, 1 - FOUND], [fpr, 1 - fpr]]) / 2
    sizes = np.arange(850, 1151)  # negatives, or positives
    few, many = binom.ppf(0.05, sizes, LIMIT), binom.isf(0.05, sizes, LIMIT)
    gone = binom.cdf(few - 1, sizes, fpr)  # surely within the limit, so that nothing flagged is no reading
    truth, missed = 0.0, gone
    if fpr <= LIMIT:
        truth = FOUND
        least, most = binom.ppf(0.05, sizes, FOUND), binom.isf(0.05, sizes, FOUND)
        beyond, rare = binom.sf(many, sizes, fpr), binom.cdf(least - 1, sizes, FOUND)
        missed = beyond + (1 - beyond) * rare + gone * binom.sf(most, sizes, FOUND)
    expected = 1 - float(np.average(missed, weights=binom.pmf(sizes, ROWS, 0.5)))
    found = held_share(share, ROWS, CurvePoint("tpr at fpr", LIMIT), truth)
    assert found == pytest.approx(expected, abs=ERROR)


def test_clusters_tell_less_than_as_many_rows() -> None:
    """Of fifty clusters a handful of rows lie beyond a precision of 90%: nothing rules the truth out."""
    clusters = HARD[7]
    assert 1.2 < design_effect(clusters, 0.9) < 8  # rows of a cluster
    found = attainable_reading(clusters, CurvePoint("recall at precision", 0.9), 0.13)
    assert found is not None
    assert found > 0.997
    assert attainable_reading(clusters, CurvePoint("tpr at fpr", 0.01), 0.3) is None

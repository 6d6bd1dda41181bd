"""Two studies of readers and cases, against what was published of them.

Areas under the curve by reader and what is known of their errors, as OR-DBM MRMC 2.51 and Chakraborty 2017
(Observer Performance Methods for Diagnostic Imaging) print them: spin echo against cine MRI of the aorta (Van
Dyke et al. 1993; 5 readers, 114 cases) and five ways of processing mammograms (Zanca et al. 2009; 4 readers,
200 cases). A reader is here a run with a seed of its own, a way to make the image a system.

The published standard error of a mean over readers (Obuchowski & Rockette 1995; Hillis 2007) is ours. What
differs: Student's t has fewer degrees of freedom here than Hillis gives it, because these are an estimate as
well, so that intervals are 3 to 22% wider; and the same people read both kinds of image, which leaves the
readers' skill out of a published difference, whereas a seed has nothing in common with its namesake in
another system, so that ours holds both systems' seeds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from evalreport.features.systems.variance import MeasuredRuns, variance_components
from evalreport.intervals.paired import SampledError

SPIN_ECHO = (0.91964573, 0.85877617, 0.90386473, 0.97310789, 0.82979066)
CINE = (0.94782609, 0.90531401, 0.92173913, 0.99935588, 0.92995169)
ONE_READER, TWO_READERS = 0.00034661371, 0.00023902837
"""Covariance of the areas by both kinds of image: of one reader, and of two."""
TREATMENTS = (
    # areas, cases, error of fixed readers, covariance of two readers; published: error, df, low, high
    (SPIN_ECHO, 114, 0.024289710, 0.00048396180, 0.033173597, 12.744648, 0.82522360, 0.96885048),
    (CINE, 114, 0.016776324, 0.00020418785, 0.021566368, 12.710190, 0.89413783, 0.98753689),
    ((0.90425, 0.79820, 0.81175, 0.86645), 200, 0.018330, 0.00021118589, 0.028578244, 5.4574766, 0.77351391,
     0.91681109),
    ((0.86425, 0.84470, 0.82050, 0.87160), 200, 0.019689, 0.00026649085, 0.019928157, 27.7225775, 0.80942311,
     0.89110189),
    ((0.81295, 0.81635, 0.75275, 0.85730), 200, 0.020085, 0.00024646233, 0.026647889, 7.0371428, 0.74689261,
     0.87278239),
    ((0.90235, 0.83150, 0.78865, 0.87980), 200, 0.018626, 0.00022042897, 0.029408701, 5.4032614, 0.77664342,
     0.92450658),
    ((0.84140, 0.77300, 0.77115, 0.84800), 200, 0.019670, 0.00022200226, 0.025758346, 6.7756525, 0.74706746,
     0.86970754),
)  # fmt: skip


def error_of(cases: int) -> Any:
    """The standard error of a sum of contributions that are given by their covariances."""
    return lambda parts: SampledError(float(np.linalg.norm(parts)), cases - 1)


def covariances(readers: int, fixed: float, two: float) -> Any:
    """Covariances of the areas of readers, whose mean has the error of fixed readers."""
    own = readers * fixed**2 - (readers - 1) * two
    return np.full((readers, readers), two) + np.eye(readers) * (own - two)


@pytest.mark.parametrize(("areas", "cases", "fixed", "two", "error", "df", "low", "high"), TREATMENTS)
def test_the_error_of_a_mean_over_readers_is_the_published_one(
    areas: Any, cases: int, fixed: float, two: float, error: float, df: float, low: float, high: float
) -> None:
    parts = np.linalg.cholesky(covariances(len(areas), fixed, two))
    found = variance_components([MeasuredRuns(np.array(areas), parts)], error_of(cases))
    assert np.sqrt(found.rows + found.both) == pytest.approx(fixed)
    assert np.sqrt(found.variance) == pytest.approx(error, rel=1e-6)
    readers = np.var(areas, ddof=1)
    assert (readers + len(areas) * two) ** 2 / (readers**2 / (len(areas) - 1)) == pytest.approx(df, rel=1e-5)
    assert len(areas) - 1 <= found.df < df
    half, published = found.half_width(0.95), (high - low) / 2
    assert np.mean(areas) == pytest.approx((low + high) / 2)
    assert published < half < 1.25 * published


def test_the_difference_of_two_kinds_of_image_is_not_demonstrated_for_new_readers() -> None:
    within = [covariances(5, row[2], row[3]) for row in TREATMENTS[:2]]
    across = np.full((5, 5), TWO_READERS) + np.eye(5) * (ONE_READER - TWO_READERS)
    parts = np.linalg.cholesky(np.block([[within[0], across], [across, within[1]]]))
    sides = [MeasuredRuns(np.array(SPIN_ECHO), parts[:5]), MeasuredRuns(np.array(CINE), parts[5:])]
    found = variance_components(sides, error_of(114))
    gap = np.mean(SPIN_ECHO) - np.mean(CINE)
    # For these readers, on other cases: as published, demonstrated.
    alone = np.sqrt(found.rows + found.both)
    assert alone == pytest.approx(0.018717483, rel=1e-6)
    assert 2 * stats.norm.sf(abs(gap) / alone) == pytest.approx(0.019279843, rel=1e-4)
    # For other readers, too: as published (-0.0880 to 0.0004, p = 0.052), not demonstrated.
    skill = np.array(SPIN_ECHO), np.array(CINE)
    paired = np.var(skill[0] - skill[1], ddof=1) / 5 + 2 * (0.00034407483 - TWO_READERS)
    assert stats.t.ppf(0.975, 15.259675) * np.sqrt(paired) == pytest.approx(0.087959499 + gap, rel=1e-5)
    assert found.half_width(0.95) > 0.087959499 + gap > abs(gap)
    # Ours holds the skill of two sets of readers, worked by hand.
    both = sum(np.var(one, ddof=1) / 5 for one in skill) + 0.00048396180 + 0.00020418785
    assert found.variance == pytest.approx(both - 2 * (ONE_READER + 4 * TWO_READERS) / 5, rel=1e-6)

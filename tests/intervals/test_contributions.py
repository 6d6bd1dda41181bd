"""The contribution of a row is the derivative of the metric by its weight: held against the metric itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evalreport.core.result import Undefined
from evalreport.data.labels import Binary, LabelSpace, Multiclass, Multilabel
from evalreport.data.predictions import Predictions
from evalreport.intervals.row_influence import Counted, contributions
from evalreport.metrics.catalogue import catalogue
from evalreport.metrics.record import Metric
from evalreport.statistics.summary import summarise
from tests import factories

SAMPLES = {
    "binary": factories.binary(60),
    "multiclass": factories.multiclass(60, 3),
    "multilabel": factories.multilabel(60, 3),
}
SPACES: dict[str, LabelSpace] = {
    "binary": Binary(0, 1),
    "multiclass": Multiclass([0, 1]),
    "multilabel": Multilabel([0, 1]),
}
CASES = [(task, metric) for task, space in SPACES.items() for metric in catalogue(space)]


def moved(p: Predictions, row: int, step: float) -> Predictions:
    weights = p.weights.copy()
    weights[row] += step
    return replace(p, weights=weights, weighted=True)


@pytest.mark.parametrize(("task", "metric"), CASES, ids=lambda case: getattr(case, "name", case))
def test_contribution_is_the_derivative_by_the_weight(task: str, metric: Metric) -> None:
    p = SAMPLES[task]
    if isinstance(metric.compute_value(summarise(p)), Undefined):
        return
    rows = contributions(metric, Counted.from_predictions(p))
    if rows is None or metric.interval == "none":
        return
    assert rows.shape == (len(p),)
    assert abs(rows.sum()) < 1e-5, "the metric does not change when all weights grow alike"
    for row in (0, 17, 41):
        up, down = (metric.compute_value(summarise(moved(p, row, step))) for step in (1e-4, -1e-4))
        assert not isinstance(up, Undefined)
        assert not isinstance(down, Undefined)
        assert rows[row] == pytest.approx((up - down) / 2e-4, abs=2e-6, rel=1e-4)

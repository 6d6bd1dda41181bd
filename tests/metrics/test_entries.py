"""The tuples of entries against the catalogue: no record is left out, and none appears twice."""

from __future__ import annotations

from collections import Counter
from types import ModuleType

import pytest

from evalreport.features.text_labels import metrics
from evalreport.metrics import (
    averages,
    binary_decisions,
    binary_probability,
    binary_ranking,
    multiclass,
    multilabel,
    operating_points,
)
from evalreport.metrics.catalogue import everything
from evalreport.metrics.record import Metric

MODULES = (
    *(averages, averages, binary_decisions, binary_decisions, binary_probability, binary_ranking),
    *(multiclass, multiclass, multilabel, operating_points, metrics),
)


def records(module: ModuleType) -> list[Metric]:
    """The records in the tuples of a module."""
    tuples = (value for value in vars(module).values() if isinstance(value, tuple))
    return [entry for value in tuples for entry in value if isinstance(entry, Metric)]


def test_every_record_is_in_the_catalogue_once() -> None:
    made = {(record.task, record.name) for module in MODULES for record in records(module)}
    known = Counter((record.task, record.name) for record in everything())
    assert set(known.values()) == {1}
    assert made <= set(known)


@pytest.mark.parametrize("base", [averages.PRECISION, averages.RECALL, averages.F1])
def test_averages_of_one_metric_differ_in_name_and_words(base: averages.Base) -> None:
    ways = (averages.MICRO, averages.MACRO, averages.SUPPORTED, averages.DECLARED, averages.WEIGHTED)
    made = [averages.make_average_metric("multiclass", base, way, multiclass.majority) for way in ways]
    for part in ("name", "title", "meaning"):
        assert len({getattr(metric, part) for metric in made}) == len(ways), part
    assert {metric.better for metric in made} == {"higher"}
    assert {(metric.low, metric.high) for metric in made} == {(0.0, 1.0)}

"""A record promises an interval by its strategy: for each, something makes it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evalreport.core.json_codec import encode
from evalreport.core.result import Estimate
from evalreport.data.labels import UNPARSED, Binary, Multiclass
from evalreport.data.predictions import Predictions, predictions
from evalreport.data.scores import Probabilities
from evalreport.intervals.estimates import estimates
from evalreport.intervals.interval_settings import Sampling
from evalreport.intervals.multiclass import class_estimates
from evalreport.metrics.catalogue import BINARY, catalogue
from evalreport.metrics.record import CurvePoint, Metric, NoMethod, Smooth
from evalreport.statistics.summary import summarise
from tests import factories

QUICK = Sampling(resamples=200)


def _stepped(n: int) -> Predictions:
    """Binary, in scores of a tenth: those that rows share have a reliability."""
    rng = np.random.default_rng(0)
    scores = rng.integers(1, 10, n) / 10
    truth = rng.random(n) < 1 / (1 + np.exp(-8 * (scores - 0.5)))
    return predictions(Binary(0, 1), truth.astype(int), scores=Probabilities(scores), threshold=0.5)


def _ordered(n: int) -> Predictions:
    p = factories.multiclass(n, 6)
    return replace(p, space=Multiclass(p.space.labels, ordered=True))


SAMPLES = {"binary": _stepped(300), "multiclass": _ordered(300), "multilabel": factories.multilabel(300, 4)}
DEPENDENCE = ("independent", "weights", "groups")


def _sample(task: str, dependence: str) -> Predictions:
    p = SAMPLES[task]
    groups = predictions(Binary(0, 1), [0, 1] * 150, [0, 1] * 150, groups=np.arange(300) // 6).groups
    if dependence == "weights":
        return replace(p, weights=np.arange(1.0, 301.0) % 3 + 1, weighted=True)
    return replace(p, groups=groups) if dependence == "groups" else p


def _without(p: Predictions, metrics: tuple[Metric, ...]) -> set[str]:
    found = estimates(metrics, summarise(p), p, QUICK)
    return {
        metric.name
        for metric in metrics
        if metric.no_interval is None and not encode(found[metric.name])["method"]
    }


@pytest.mark.parametrize("dependence", DEPENDENCE)
@pytest.mark.parametrize("task", SAMPLES)
def test_every_promised_interval_is_made(task: str, dependence: str) -> None:
    p = _sample(task, dependence)
    assert _without(p, catalogue(p.space)) == set()


@pytest.mark.parametrize("dependence", DEPENDENCE)
def test_every_interval_of_unread_answers_is_made(dependence: str) -> None:
    """Labels read from text, one in ten unread: grades that were not read have no order."""
    p = _sample("multiclass", dependence)
    codes = np.where(np.arange(300) % 10 == 0, UNPARSED, np.asarray(p.y_pred)).astype(np.int32)
    p = replace(p, y_pred=codes)
    assert _without(p, catalogue(p.space, text=True)) == {
        "cohen_kappa_quadratic",
        "cohen_kappa_linear",
        "mean_absolute_error",
    }


@pytest.mark.parametrize("dependence", DEPENDENCE)
def test_every_interval_of_a_label_is_made(dependence: str) -> None:
    p = _sample("multilabel", dependence)
    for label in class_estimates(BINARY, summarise(p), p, QUICK):
        without = {m.name for m in BINARY if m.no_interval is None and not encode(label[m.name])["method"]}
        assert without <= {"recall_at_precision90"}


@pytest.mark.parametrize("dependence", DEPENDENCE)
@pytest.mark.parametrize("task", SAMPLES)
def test_a_metric_without_a_measured_method_says_so(task: str, dependence: str) -> None:
    p = _sample(task, dependence)
    metrics = [metric for metric in catalogue(p.space) if isinstance(metric.strategy, NoMethod)]
    for name, result in estimates(metrics, summarise(p), p, QUICK).items():
        assert isinstance(result, Estimate), name
        assert (result.low, result.reason) == (None, "no method with measured coverage"), name


def test_the_records_and_their_strategies_fit() -> None:
    for sample in SAMPLES.values():
        for metric in catalogue(sample.space):
            if isinstance(metric.strategy, Smooth):
                assert metric.derivative is not None, metric.name
            if isinstance(metric.strategy, CurvePoint):
                assert (metric.strategy.reading == "equal errors") == (metric.strategy.at == 0), metric.name

"""Slices: counted once, held against the rest, corrected for looking at all of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evalreport.codec import encode
from evalreport.engines.memory import summarise
from evalreport.evaluation.slices import slice_results
from evalreport.intervals import Sampling, estimates
from evalreport.intervals.independent import independent_difference
from evalreport.labels import Binary
from evalreport.metrics.catalogue import find
from evalreport.metrics.named_sets import HEADLINE
from evalreport.predictions import Categorical, Predictions, predictions
from evalreport.scores import Probabilities
from evalreport.values import Estimate, Undefined
from tests import factories

SAMPLING = Sampling(resamples=500)


def sliced(p: Predictions, names: list[str]) -> Predictions:
    return replace(p, slices={"site": Categorical.of(names)})


@pytest.mark.parametrize("make", [factories.binary, factories.multiclass, factories.multilabel])
def test_a_slice_is_what_its_rows_alone_would_be(make: object) -> None:
    assert callable(make)
    p: Predictions = make(200)
    names = np.array(["north", "south", "west"])[np.arange(200) % 3]
    for part in slice_results(sliced(p, names.tolist()), SAMPLING):
        rows = p.take(names == part.value)
        rest = p.take(names != part.value)
        metrics = [find(name, p.space.task) for name in HEADLINE[p.space.task]]
        alone = estimates(metrics, summarise(rows), rows, SAMPLING)
        others = estimates(metrics, summarise(rest), rest, SAMPLING)
        assert part.rows == len(rows)
        for name in part.metrics:
            assert part.metrics[name] == alone[name]
            gap, _ = independent_difference(alone[name], others[name])
            found = part.differences[name].value
            assert found == pytest.approx(gap.value) if gap.value is not None else found is None


def test_few_rows_are_counted_and_nothing_is_claimed() -> None:
    p = factories.binary(100)
    found = slice_results(sliced(p, ["rare"] * 9 + ["common"] * 91), SAMPLING)
    assert [(part.value, part.rows, part.too_few) for part in found] == [
        ("common", 91, False),
        ("rare", 9, True),
    ]
    assert not found[1].metrics
    assert not found[1].differences


def test_a_planted_gap_comes_first_and_survives_correction() -> None:
    p = factories.multiclass(600, 3, skill=3.0)
    names = [f"site {k % 6}" for k in range(600)]
    assert p.y_pred is not None
    wrong = p.y_pred.copy()
    rows = np.arange(600) % 6 == 4
    wrong[rows] = (p.y_true[rows] + 1) % 3
    found = slice_results(sliced(replace(p, y_pred=wrong), names), SAMPLING)
    assert found[0].value == "site 4"
    assert found[0].p_adjusted["accuracy"] < 1e-6
    assert all(part.p_adjusted["accuracy"] > 0.001 for part in found[1:] if part.value != "site 4")


def test_equal_slices_are_called_different_at_most_as_often_as_stated() -> None:
    """Six equal sites, 300 samples: Holm keeps the chance of any false difference at 5 %."""
    rng, called = np.random.default_rng(1), 0
    for _ in range(300):
        truth = rng.integers(2, size=240)
        answer = np.where(rng.random(240) < 0.8, truth, 1 - truth)
        p = predictions(Binary(0, 1), truth, answer, slices={"site": rng.integers(6, size=240)})
        parts = slice_results(p, Sampling(resamples=200))
        called += any(part.p_adjusted.get("recall", 1.0) < 0.05 for part in parts)
    assert called <= 300 * 0.05 + 3 * np.sqrt(300 * 0.05 * 0.95)


def test_one_value_has_no_rest() -> None:
    (only,) = slice_results(sliced(factories.binary(50), ["here"] * 50), SAMPLING)
    assert only.metrics
    assert not only.differences


def test_a_gap_is_a_value_of_the_column() -> None:
    age = np.array([None, 3] * 20, dtype=object)
    scores = Probabilities(np.array([0.2, 0.7] * 20))
    p = predictions(Binary(0, 1), [0, 1] * 20, scores=scores, slices={"age": age})
    assert {part.value for part in slice_results(p, SAMPLING)} == {"(missing)", "3"}


def test_difference_of_undefined_is_undefined() -> None:
    known = Estimate(0.5, n=10, low=0.2, high=0.8, method="wilson")
    assert independent_difference(known, Undefined("no example"))[0] == Undefined("no example")
    assert encode(independent_difference(known, Estimate(0.4, n=3, reason="too few"))[0])["low"] is None

"""Rules on a change from a baseline: which are refused, and what is measured of the rest."""

from __future__ import annotations

import numpy as np
import pytest

import evalreport as er
from evalreport.comparison.compare import compare
from evalreport.core.bounds import Bound
from evalreport.core.errors import UsageError
from evalreport.features.gate.rules import check_change, measured_change


def run_of(seed: int, skill: float) -> er.Evaluation:
    rng = np.random.default_rng(seed)
    truth = np.arange(200) % 2
    scores = 1 / (1 + np.exp(-(skill * (2 * truth - 1) + rng.normal(size=200))))
    return er.evaluate(truth, scores=er.Probabilities(scores), threshold=0.5, resamples=100)


@pytest.fixture(scope="module")
def old() -> er.Evaluation:
    return run_of(0, 1.0)


@pytest.fixture(scope="module")
def new() -> er.Evaluation:
    return run_of(0, 2.0)


@pytest.mark.parametrize(
    ("rule", "said", "fix"),
    [
        ("recall rises <= 0.1", "requires a worse value", 'write "recall drops <= 0.1"'),
        ("log_loss drops <= 0.1", "requires a worse value", 'write "log_loss rises <= 0.1"'),
        ("recall drops <= 2", "is always met", "a percentage"),
        ("mcc drops <= 2", "is always met", "a percentage"),
    ],
)
def test_a_change_that_nobody_wants_to_bound_is_refused(
    new: er.Evaluation, rule: str, said: str, fix: str
) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        check_change(new, Bound.parse(rule))
    assert fix in caught.value.fix


@pytest.mark.parametrize("rule", ["recall drops <= 0.1", "mcc drops <= 1.9", "log_loss rises <= 0.1"])
def test_a_change_that_can_happen_is_a_rule(new: er.Evaluation, rule: str) -> None:
    check_change(new, Bound.parse(rule))


def test_a_change_has_the_sign_of_its_word(old: er.Evaluation, new: er.Evaluation) -> None:
    found = compare([new, old], 1, names=["new", "old"], metrics=["recall", "log_loss"])
    recall, loss = (found.differences_for(name)[0] for name in ("recall", "log_loss"))
    drop = measured_change(new, Bound.parse("recall drops <= 0.02"), found, "new")
    rise = measured_change(new, Bound.parse("log_loss rises <= 0.02"), found, "new")
    assert recall.difference is not None and recall.low is not None and recall.high is not None
    assert (drop.value, drop.limits) == (-recall.difference, (-recall.high, -recall.low))
    assert (rise.value, rise.limits) == (loss.difference, (loss.low, loss.high))
    assert drop.paired and drop.note.startswith("paired on 200 examples")


def test_without_a_baseline_there_is_no_change(new: er.Evaluation) -> None:
    with pytest.raises(UsageError, match="needs a baseline"):
        measured_change(new, Bound.parse("recall drops <= 0.02"), None, "new")


def test_a_run_against_itself_is_pointed_out(new: er.Evaluation) -> None:
    found = compare([new, new], 1, names=["new", "again"], metrics=["roc_auc"])
    said = measured_change(new, Bound.parse("roc_auc drops <= 0.02"), found, "new")
    assert (said.value, said.limits) == (0, (0, 0))
    assert said.note.startswith("the two do not differ in any row")

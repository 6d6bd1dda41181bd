"""Rules on the estimate and on the interval's bad end, drops on the paired difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from evalreport.checks.drops import drop_checks
from evalreport.checks.rules import run_rules
from evalreport.checks.values import AllowedDrop, CheckResult, Rule, tally, verdict
from evalreport.errors import DataError, UsageError
from evalreport.evaluation.evaluate import evaluate_predictions
from evalreport.evaluation.model import Evaluation
from evalreport.intervals import Sampling
from evalreport.labels import Binary, Multiclass
from evalreport.predictions import predictions
from evalreport.scores import Decisions, Probabilities
from evalreport.values import Estimate, Undefined

SPACE = Binary("ham", "spam")
FEW = Sampling(0.95, 200, 0)


def binary(right: int, wrong: int, ham: int = 50, **more: Any) -> Evaluation:
    """Recall right / (right + wrong), specificity 1."""
    truth = ["spam"] * (right + wrong) + ["ham"] * ham
    answers = ["spam"] * right + ["ham"] * (wrong + ham)
    return evaluate_predictions(predictions(SPACE, truth, answers, **more), FEW)


def one(ev: Evaluation, rule: str, use: Any = "estimate") -> CheckResult:
    (result,) = run_rules(ev, [Rule.parse(rule)], use)
    return result


@pytest.mark.parametrize(
    ("rule", "outcome"),
    [
        ("recall >= 0.9", "passed"),
        ("recall >= 90%", "passed"),
        ("recall > 0.9", "failed"),
        ("recall >= 0.91", "failed"),
        ("recall <= 0.9", "passed"),
        ("recall < 0.9", "failed"),
        ("recall<0.95", "passed"),
    ],
)
def test_the_estimate_against_a_bound(rule: str, outcome: str) -> None:
    assert one(binary(90, 10), rule).outcome == outcome


def test_the_bad_end_is_the_one_that_the_rule_fears() -> None:
    ev = binary(90, 10)
    recall = ev["recall"]
    assert isinstance(recall, Estimate)
    assert recall.low is not None
    assert recall.high is not None
    assert recall.low < 0.9 < recall.high
    least = one(ev, "recall >= 0.89", "lower")
    assert (least.outcome, least.shown) == ("failed", f"lower bound {recall.low:.3f}")
    assert (least.value, least.low, least.bound) == (0.9, recall.low, 0.89)
    assert one(ev, f"recall >= {recall.low - 0.001}", "lower").outcome == "passed"
    most = one(ev, "recall <= 0.91", "lower")
    assert (most.outcome, most.shown) == ("failed", f"upper bound {recall.high:.3f}")
    assert one(ev, f"recall <= {recall.high + 0.001}", "lower").outcome == "passed"


def test_a_metric_without_an_interval_under_lower() -> None:
    ev = binary(90, 10)
    bare = replace(ev, metrics={**ev.metrics, "recall": Estimate(0.9, n=100, reason="one cluster")})
    result = one(bare, "recall >= 0.5", "lower")
    assert (result.outcome, result.shown) == ("inconclusive", "0.900, no interval")
    assert "one cluster" in result.detail
    assert one(bare, "recall >= 0.95", "lower").outcome == "failed"
    assert one(bare, "recall >= 0.5").outcome == "passed"


def test_a_plain_count_needs_no_interval() -> None:
    ev = binary(90, 10)
    (name, result), *_ = [
        (n, r) for n, r in ev.metrics.items() if isinstance(r, Estimate) and r.value == 10 and r.low is None
    ]
    assert result.value == 10
    assert one(ev, f"{name} <= 10", "lower").outcome == "passed"
    assert one(ev, f"{name} < 10", "lower").outcome == "failed"


def test_an_undefined_value_fails_with_its_reason() -> None:
    ev = evaluate_predictions(predictions(SPACE, ["ham", "spam"] * 20, ["ham"] * 40), FEW)
    value = ev["precision"]
    assert isinstance(value, Undefined)
    for use in ("estimate", "lower"):
        result = one(ev, "precision <= 0.5", use)
        assert (result.outcome, result.shown) == ("failed", f"undefined: {value.reason}")
        assert result.value is None


def test_rounding_does_not_hide_on_which_side_of_the_bound_a_value_lies() -> None:
    ev = binary(90, 10)
    near = replace(ev, metrics={"recall": Estimate(0.89996, n=1e6)})
    assert one(near, "recall >= 0.9").shown == "0.89996"
    assert one(near, "recall >= 0.8").shown == "0.900"


def test_a_rule_for_one_class() -> None:
    truth = ["a", "b", "card arrival"] * 20
    ev = evaluate_predictions(predictions(Multiclass(["a", "b", "card arrival"]), truth, ["a"] * 60), FEW)
    assert one(ev, "recall[a] >= 1").outcome == "passed"
    failed = one(ev, "recall[card arrival] >= 0.5")
    assert (failed.name, failed.outcome) == ("recall[card arrival] >= 0.5", "failed")
    with pytest.raises(UsageError, match="no class 'card arival'") as error:
        one(ev, "recall[card arival] >= 0.5")
    assert "card arrival" in error.value.fix
    with pytest.raises(UsageError, match="no metric 'recal'"):
        one(ev, "recal[a] >= 0.5")
    with pytest.raises(UsageError, match="binary"):
        one(binary(9, 1), "recall[spam] >= 0.5")


def sliced() -> Evaluation:
    """Two sites of fifty rows, and one of two: of `a` half of the spam is found, of `b` all."""
    site = ["a"] * 50 + ["b"] * 50 + ["rare"] * 2
    truth = ["spam", "ham"] * 51
    answers = [
        "spam" if t == "spam" and (s != "a" or row % 4 == 0) else "ham"
        for row, (t, s) in enumerate(zip(truth, site, strict=True))
    ]
    rows = predictions(Binary("ham", "spam"), truth, answers, slices={"site": site})
    return evaluate_predictions(rows)


def test_a_rule_for_one_slice() -> None:
    ev = sliced()
    found = one(ev, "recall[site=a] >= 0.9")
    assert (found.outcome, found.name) == ("failed", "recall[site=a] >= 0.9")
    assert found.value == pytest.approx(13 / 25)
    assert one(ev, "recall[site = b] >= 0.9").outcome == "passed"
    assert one(ev, "recall[site=b] >= 0.9", "lower").outcome == "failed"
    few = one(ev, "recall[site=rare] >= 0.1")
    assert (few.outcome, few.shown) == ("failed", "undefined: only 2 rows have site = rare")
    for rule, said, fix in (
        ("recall[site=c] >= 0.5", "no row has site = c", "site="),
        ("recall[age=9] >= 0.5", "was not asked for", "--slice age"),
        ("recal[site=a] >= 0.5", "recal", "recall"),
        ("recall[site=a] >= 50", "can never hold", "90%"),
    ):
        with pytest.raises(UsageError, match=said) as error:
            one(ev, rule)
        assert fix in error.value.fix


@pytest.mark.parametrize(
    "text", ["", "recall", "recall 0.9", "recall = 0.9", "recall >= much", "recall >= nan", ">= 1"]
)
def test_what_is_not_a_rule(text: str) -> None:
    with pytest.raises(UsageError, match="is not a rule"):
        Rule.parse(text)


def test_a_rule_is_shown_with_all_its_digits() -> None:
    assert Rule.parse("recall>=0.123456789").text == "recall >= 0.123456789"


@pytest.mark.parametrize("text", ["", "f1_macro", "f1_macro -0.1", "f1_macro inf", "0.1 f1_macro"])
def test_what_is_not_an_allowed_drop(text: str) -> None:
    with pytest.raises(UsageError, match="is not an allowed drop"):
        AllowedDrop.parse(text)


def test_an_unknown_metric_names_the_nearest_and_an_impossible_bound_is_refused() -> None:
    with pytest.raises(UsageError) as error:
        one(binary(9, 1), "recal >= 0.5")
    assert "recall" in error.value.fix
    with pytest.raises(UsageError, match="within 0 to 1"):
        one(binary(9, 1), "recall >= 90")
    with pytest.raises(UsageError, match="can never hold"):
        one(binary(9, 1), "recall < 0")


def noisy(rate: float, n: int, seed: int, ids: Sequence[str] | None = None) -> Evaluation:
    """Answers that are wrong on a share of the rows; the truth is the same for every seed."""
    random = np.random.default_rng(seed)
    truth = np.arange(n) % 2
    wrong = random.random(n) < rate
    scores = np.clip(
        np.where(truth == 1, 0.8, 0.2) + np.where(wrong, np.where(truth == 1, -0.6, 0.6), 0), 0, 1
    )
    names = np.array(["ham", "spam"])
    rows = predictions(SPACE, names[truth], scores=Probabilities(scores), ids=ids)
    return evaluate_predictions(rows, FEW)


def drop(run: Evaluation, baseline: Evaluation, text: str) -> CheckResult:
    (result,) = drop_checks(run, baseline, [AllowedDrop.parse(text)])
    return result


def test_a_drop_is_excluded_shown_or_undecided() -> None:
    good, equal, bad = noisy(0.1, 2000, 1), noisy(0.1, 2000, 2), noisy(0.3, 2000, 3)
    passed = drop(equal, good, "accuracy 0.05")
    assert passed.outcome == "passed"
    assert "excluded" in passed.detail
    assert "paired on 2,000 examples" in passed.detail
    failed = drop(bad, good, "accuracy 0.05")
    assert failed.outcome == "failed"
    assert failed.high is not None
    assert failed.high < -0.05
    open_one = drop(equal, good, "accuracy 0.001")
    assert open_one.outcome == "inconclusive"
    assert open_one.smallest is not None
    assert f"could have shown is {open_one.smallest:.4f}" in open_one.detail


def test_where_lower_is_better_a_rise_is_the_drop() -> None:
    good, bad = noisy(0.1, 2000, 1), noisy(0.3, 2000, 3)
    assert drop(bad, good, "brier 0.01").outcome == "failed"
    assert drop(good, bad, "brier 0.01").outcome == "passed"
    assert drop(bad, good, "brier 0.01").name == "brier rises by at most 0.01"


def test_a_run_against_itself_has_no_drop_at_all() -> None:
    run = noisy(0.1, 200, 1)
    result = drop(run, run, "roc_auc 0")
    assert (result.outcome, result.value) == ("passed", 0.0)
    assert "make sure that the baseline is not the run itself" in result.detail


def test_without_predictions_the_comparison_is_unpaired_and_says_so() -> None:
    run = noisy(0.1, 2000, 1)
    stored = Evaluation.from_json(noisy(0.1, 2000, 2).to_json())
    result = drop(run, stored, "accuracy 0.1")
    assert result.outcome == "passed"
    assert result.shown.endswith(", not paired")
    assert "predictions of a run are not at hand" in result.detail


def test_an_undefined_drop_fails_and_one_without_interval_is_open() -> None:
    truth = ["ham", "spam"] * 3
    run = evaluate_predictions(predictions(SPACE, truth, ["ham"] * 6), FEW)
    base = evaluate_predictions(predictions(SPACE, truth, truth), FEW)
    undefined = drop(run, base, "precision 0.5")
    assert undefined.outcome == "failed"
    assert undefined.shown.startswith("undefined: ")
    small = drop(run, base, "accuracy 0.6")
    assert small.outcome == "inconclusive"
    assert "at least 10 shared rows" in small.detail


def test_drops_that_mean_nothing() -> None:
    run = noisy(0.1, 200, 1)
    with pytest.raises(UsageError, match="no metric 'accurcy'"):
        drop(run, run, "accurcy 0.1")
    with pytest.raises(UsageError, match="means nothing"):
        drop(run, run, "prevalence 0.1")
    other = evaluate_predictions(predictions(Multiclass("abc"), ["a", "b", "c"] * 5, ["a"] * 15), FEW)
    with pytest.raises(UsageError):
        drop(run, other, "accuracy 0.1")


def test_contradicting_truth_is_an_error() -> None:
    ids = [str(row) for row in range(200)]
    with pytest.raises(DataError, match="truth of"):
        drop(noisy(0.1, 200, 1, ids), noisy(0.1, 200, 1, ids[::-1]), "accuracy 0.1")


def test_scores_that_only_rank_have_no_decision_rule_but_rank() -> None:
    rows = predictions(SPACE, ["ham", "spam"] * 30, scores=Decisions(np.tile([-1.0, 2.0], 30)))
    ev = evaluate_predictions(rows, FEW)
    assert one(ev, "roc_auc >= 0.9").outcome == "passed"
    assert one(ev, "recall >= 0.5").outcome == "failed"


def test_the_gate_as_a_whole() -> None:
    passed, failed, undecided = (
        CheckResult("a", outcome, "") for outcome in ("passed", "failed", "inconclusive")
    )
    assert verdict((passed,))
    assert not verdict((passed, failed), inconclusive_fails=False)
    assert verdict((passed, undecided), inconclusive_fails=False)
    assert not verdict((passed, undecided))
    assert tally((passed, failed, undecided)) == "1 of 3 failed, 1 of 3 inconclusive"
    assert tally((passed, passed)) == "2 of 2 passed"

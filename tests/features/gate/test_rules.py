"""Rules on values and on changes: three outcomes on the interval, two on the estimate."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from evalreport.comparison.compare import compare
from evalreport.comparison.sample_size import about_rows
from evalreport.core.bounds import Bound
from evalreport.core.errors import DataError, UsageError
from evalreport.core.result import Estimate, Undefined
from evalreport.data.labels import Binary, Multiclass
from evalreport.data.predictions import predictions
from evalreport.data.scores import Decisions, Probabilities
from evalreport.evaluation.evaluate import evaluate_predictions
from evalreport.evaluation.evaluation import Evaluation
from evalreport.features.gate.rules import CheckResult, count_outcomes, gate_passes, outcome_of, rule_checks
from evalreport.intervals.distributions import exact_limits, wilson
from evalreport.intervals.interval_settings import Sampling

SPACE = Binary("ham", "spam")
FEW = Sampling(0.95, 200, 0)


def binary(right: int, wrong: int, ham: int = 50, **more: Any) -> Evaluation:
    """Recall right / (right + wrong), specificity 1."""
    truth = ["spam"] * (right + wrong) + ["ham"] * ham
    answers = ["spam"] * right + ["ham"] * (wrong + ham)
    return evaluate_predictions(predictions(SPACE, truth, answers, **more), FEW)


def one(ev: Evaluation, rule: str, use: Any = "estimate") -> CheckResult:
    (result,) = rule_checks(ev, [Bound.parse(rule)], use)
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


def test_three_outcomes_by_the_interval() -> None:
    ev = binary(90, 10)
    low, high = exact_limits(90, 100)
    near = one(ev, "recall >= 0.9", "interval")
    assert (near.low, near.high) == pytest.approx((low, high), abs=1e-12)
    assert near.low is not None
    low, high = near.low, near.high or 0.0
    for text, outcome in (
        (f"recall >= {low - 0.001}", "passed"),
        (f"recall >= {low + 0.001}", "inconclusive"),
        (f"recall >= {high - 0.001}", "inconclusive"),
        (f"recall >= {high + 0.001}", "failed"),
        (f"recall <= {high + 0.001}", "passed"),
        (f"recall <= {low + 0.001}", "inconclusive"),
        (f"recall <= {low - 0.001}", "failed"),
        (f"recall >= {low!r}", "passed"),
        (f"recall > {low!r}", "inconclusive"),
        (f"recall > {high!r}", "failed"),
    ):
        found = one(ev, text, "interval")
        assert found.outcome == outcome, text
        assert (found.value, found.low, found.high) == (0.9, low, high)
        assert (found.detectable is None) == (found.rows_needed is None) == (outcome != "inconclusive")


@pytest.mark.parametrize("number", [0.5, 0.7, 0.9, 0.95, 0.98, 0.99])
def test_a_model_at_the_boundary_is_failed_and_passed_in_at_most_three_per_cent(number: float) -> None:
    """Counted over all samples of 10 to 10,000 rows, not simulated; by Wilson's ends it was up to 16%."""
    ev = binary(90, 10)

    def outcome(right: int, n: int) -> str:
        low, high = (float(end) for end in wilson(right, n))
        estimate = Estimate(right / n, n=n, low=low, high=high, method="wilson")
        return one(replace(ev, metrics={"recall": estimate}), f"recall >= {number}", "interval").outcome

    for n in (*range(10, 40), 45, 60, 77, 100, 149, 250, 600, 1800, 4200, 10_000):
        counts = range(n + 1)
        failed = bisect_left(counts, True, key=lambda k: outcome(k, n) != "failed")
        passed = bisect_left(counts, True, key=lambda k: outcome(k, n) == "passed")
        assert binom.cdf(failed - 1, n, number) <= 0.03, n
        assert binom.sf(passed - 1, n, number) <= 0.03, n
        assert failed > 0, "a model without a right answer fails"


@pytest.mark.parametrize("kind", ["clusters", "weights"])
def test_the_boundary_of_rows_that_are_not_independent_is_that_of_their_effective_number(kind: str) -> None:
    """Twice the same rows, as pairs or by weight, tell nothing more."""
    once = binary(60, 20, ham=80)
    if kind == "clusters":
        many = binary(120, 40, ham=160, groups=[row // 2 for row in range(320)])
    else:
        many = binary(60, 20, ham=80, weights=[2.0] * 160)
    first, second = (one(ev, "recall >= 0.7", "interval") for ev in (once, many))
    assert (first.low, first.high) == pytest.approx(exact_limits(60, 80), abs=1e-9)
    assert (second.low, second.high) == pytest.approx((first.low, first.high), abs=0.015)


@given(
    st.floats(0.01, 0.99), st.floats(0, 0.3), st.floats(0, 0.3), st.floats(0.01, 0.99), st.sampled_from("<>")
)
def test_a_better_value_never_closes_a_gate(
    value: float, below: float, above: float, number: float, sign: str
) -> None:
    order = ("failed", "inconclusive", "passed")
    for operator in (sign, sign + "="):
        bound = Bound("recall", operator, number)  # type: ignore[arg-type]
        step = 0.05 if bound.demands == "high" else -0.05
        ends = [(v, (v - below, v + above)) for v in (value, value + step)]
        before, after = (order.index(outcome_of(bound, *entry, "interval")) for entry in ends)
        assert before <= after
        for entry in ends:
            by_value, by_interval = (outcome_of(bound, *entry, use) for use in ("estimate", "interval"))
            assert by_interval in (by_value, "inconclusive")


def test_the_rows_that_are_needed_decide_what_was_open() -> None:
    ev = binary(90, 10, ham=100)
    found = one(ev, "recall >= 0.86", "interval")
    assert found.outcome == "inconclusive"
    assert found.detectable is not None
    assert found.rows_needed is not None
    assert f"about {about_rows(found.rows_needed)} instead of 200" in found.detail
    assert f"values at least {found.detectable.difference:.3f} from it" in found.detail
    assert found.low is not None
    assert found.detectable.difference == pytest.approx((0.9 - found.low) / 1.96 * 2.80, rel=0.01)
    positives = found.rows_needed // 2
    right = np.random.default_rng(0).binomial(positives, 0.9, 40)
    held = [
        one(binary(int(k), positives - int(k), ham=5), "recall >= 0.86", "interval").outcome == "passed"
        for k in right
    ]
    assert 0.6 <= np.mean(held) <= 0.98, "80 % of forty, give or take three standard errors"
    on_it = one(ev, "recall >= 0.9", "interval")
    assert (on_it.outcome, on_it.rows_needed) == ("inconclusive", None)
    assert "stays inconclusive with any number of rows" in on_it.detail


def test_a_metric_without_an_interval_is_open() -> None:
    ev = binary(90, 10)
    bare = replace(ev, metrics={**ev.metrics, "recall": Estimate(0.9, n=100, reason="one cluster")})
    for text in ("recall >= 0.5", "recall >= 0.95"):
        result = one(bare, text, "interval")
        assert (result.outcome, result.shown) == ("inconclusive", "0.900, no interval")
        assert "one cluster" in result.detail
    assert one(bare, "recall >= 0.5").outcome == "passed"


def test_a_plain_count_needs_no_interval() -> None:
    ev = binary(90, 10)
    (name, result), *_ = [
        (n, r) for n, r in ev.metrics.items() if isinstance(r, Estimate) and r.value == 10 and r.low is None
    ]
    assert result.value == 10
    assert one(ev, f"{name} <= 10", "interval").outcome == "passed"
    assert one(ev, f"{name} < 10", "interval").outcome == "failed"


def test_an_undefined_value_fails_with_its_reason() -> None:
    ev = evaluate_predictions(predictions(SPACE, ["ham", "spam"] * 20, ["ham"] * 40), FEW)
    value = ev["precision"]
    assert isinstance(value, Undefined)
    for use in ("estimate", "interval"):
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
    assert one(ev, "recall[site=b] >= 0.9", "interval").outcome == "inconclusive"
    few = one(ev, "recall[site=rare] >= 0.1")
    assert (few.outcome, few.shown) == ("failed", "undefined: only 2 rows have site = rare")
    for rule, said, fix in (
        ("recall[site=c] >= 0.5", "no row has site = c", "site="),
        ("recall[age=9] >= 0.5", "is not a slice column", "--slice age"),
        ("recal[site=a] >= 0.5", "recal", "recall"),
        ("recall[site=a] >= 50", "can never be met", "90%"),
    ):
        with pytest.raises(UsageError, match=said) as error:
            one(ev, rule)
        assert fix in error.value.fix


def test_an_unknown_metric_names_the_nearest_and_an_impossible_bound_is_refused() -> None:
    with pytest.raises(UsageError) as error:
        one(binary(9, 1), "recal >= 0.5")
    assert "recall" in error.value.fix
    with pytest.raises(UsageError, match="within 0 to 1"):
        one(binary(9, 1), "recall >= 90")
    with pytest.raises(UsageError, match="can never be met"):
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


def change(run: Evaluation, baseline: Evaluation, text: str, use: Any = "interval") -> CheckResult:
    bound = Bound.parse(text)
    parts = bool(bound.part)
    against = compare(
        [run, baseline], 1, names=["new", "old"], metrics=() if parts else [bound.metric], details=parts
    )
    (result,) = rule_checks(run, [bound], use, against=against, run="new")
    return result


def test_a_drop_is_excluded_demonstrated_or_undecided() -> None:
    good, equal, bad = noisy(0.1, 2000, 1), noisy(0.1, 2000, 2), noisy(0.3, 2000, 3)
    passed = change(equal, good, "accuracy drops <= 0.05")
    assert passed.outcome == "passed"
    assert "paired on 2,000 examples" in passed.detail
    failed = change(bad, good, "accuracy drops <= 5 %")
    assert failed.outcome == "failed"
    assert failed.high is not None
    assert failed.high < -0.05
    open_one = change(equal, good, "accuracy drops <= 0.001")
    assert (open_one.outcome, open_one.kind) == ("inconclusive", "change")
    assert open_one.detectable is not None
    assert open_one.rows_needed is not None
    assert open_one.rows_needed > 2000
    assert change(equal, good, "accuracy drops <= 0.001", "estimate").outcome in ("passed", "failed")


def test_a_rise_can_be_asked_for() -> None:
    good, bad = noisy(0.1, 2000, 1), noisy(0.3, 2000, 3)
    assert change(good, bad, "accuracy rises >= 0.1").outcome == "passed"
    assert change(bad, good, "accuracy rises > 0").outcome == "failed"
    assert change(good, bad, "brier drops >= 0.01").outcome == "passed"


def test_where_lower_is_better_a_rise_is_bounded() -> None:
    good, bad = noisy(0.1, 2000, 1), noisy(0.3, 2000, 3)
    assert change(bad, good, "brier rises <= 0.01").outcome == "failed"
    assert change(good, bad, "brier rises <= 0.01").outcome == "passed"
    rise, drop = (change(bad, good, text) for text in ("fpr rises <= 0.5", "recall drops <= 0.5"))
    assert rise.value is not None
    assert rise.value > 0
    assert drop.value is not None
    assert drop.value < 0, "a difference is run minus baseline, whatever the word"


def test_changes_of_a_class_and_of_a_slice() -> None:
    truth = ["a", "b", "c"] * 40
    site = ["x", "y"] * 60
    space = Multiclass("abc")
    base = evaluate_predictions(predictions(space, truth, truth, slices={"site": site}), FEW)
    answers = ["b" if label == "a" else label for label in truth]
    run = evaluate_predictions(predictions(space, truth, answers, slices={"site": site}), FEW)
    assert change(run, base, "recall[a] drops <= 0.1").outcome == "failed"
    assert change(run, base, "recall[c] drops <= 0.1").outcome == "passed"
    assert change(run, base, "accuracy[site=x] drops <= 0.1").outcome == "failed"
    for text, said in (
        ("recall[d] drops <= 0.1", "no class 'd'"),
        ("accuracy[size=1] drops <= 0.1", "is not a slice column"),
        ("accuracy[site=z] drops <= 0.1", "no row has site = z"),
        ("mcc[a] drops <= 0.1", "not compared by class"),
    ):
        with pytest.raises(UsageError, match=said):
            change(run, base, text)


def test_a_run_against_itself_has_no_drop_at_all() -> None:
    run = noisy(0.1, 200, 1)
    result = change(run, run, "roc_auc drops <= 0")
    assert (result.outcome, result.value) == ("passed", 0.0)
    assert "make sure that the baseline is not the run itself" in result.detail


def test_without_predictions_the_comparison_is_unpaired_and_says_so() -> None:
    run = noisy(0.1, 2000, 1)
    stored = Evaluation.from_json(noisy(0.1, 2000, 2).to_json())
    result = change(run, stored, "accuracy drops <= 0.1")
    assert result.outcome == "passed"
    assert result.shown.endswith(", not paired")
    assert "predictions of a run are missing" in result.detail


def test_an_undefined_change_fails_and_one_without_interval_is_open() -> None:
    truth = ["ham", "spam"] * 3
    run = evaluate_predictions(predictions(SPACE, truth, ["ham"] * 6), FEW)
    base = evaluate_predictions(predictions(SPACE, truth, truth), FEW)
    undefined = change(run, base, "precision drops <= 0.5")
    assert undefined.outcome == "failed"
    assert undefined.shown.startswith("undefined: ")
    small = change(run, base, "accuracy drops <= 0.6")
    assert small.outcome == "inconclusive"
    assert "at least 10 shared rows" in small.detail


@pytest.mark.parametrize(
    ("text", "said", "fix"),
    [
        ("recall drops > 0.02", "requires a worse value", "recall drops <= 0.02"),
        ("recall rises <= 0.02", "requires a worse value", "recall drops <= 0.02"),
        ("log_loss drops <= 0.02", "requires a worse value", "log_loss rises <= 0.02"),
        ("recall drops <= 2", "is always met", "2%"),
        ("recall rises > 2", "can never be met", "90%"),
    ],
)
def test_changes_that_cannot_be_meant(text: str, said: str, fix: str) -> None:
    run = noisy(0.1, 200, 1)
    with pytest.raises(UsageError, match=said) as error:
        change(run, run, text)
    assert fix in error.value.fix


def test_a_change_of_no_better_direction_can_be_bounded() -> None:
    run = noisy(0.1, 2000, 1)
    assert change(run, noisy(0.1, 2000, 2), "predicted_positive_rate rises <= 0.1").outcome == "passed"


def test_a_change_needs_a_baseline() -> None:
    with pytest.raises(UsageError, match="needs a baseline") as error:
        one(noisy(0.1, 200, 1), "accuracy drops <= 0.1")
    assert "--baseline" in error.value.fix


def test_contradicting_truth_is_an_error() -> None:
    ids = [str(row) for row in range(200)]
    with pytest.raises(DataError, match="true labels of"):
        change(noisy(0.1, 200, 1, ids), noisy(0.1, 200, 1, ids[::-1]), "accuracy drops <= 0.1")


def test_scores_that_only_rank_have_no_decision_rule_but_rank() -> None:
    rows = predictions(SPACE, ["ham", "spam"] * 30, scores=Decisions(np.tile([-1.0, 2.0], 30)))
    ev = evaluate_predictions(rows, FEW)
    assert one(ev, "roc_auc >= 0.9").outcome == "passed"
    assert one(ev, "recall >= 0.5").outcome == "failed"


def test_the_gate_as_a_whole() -> None:
    passed, failed, undecided = (
        CheckResult("a", outcome, "") for outcome in ("passed", "failed", "inconclusive")
    )
    assert gate_passes((passed,))
    assert not gate_passes((passed, failed), inconclusive_fails=False)
    assert gate_passes((passed, undecided), inconclusive_fails=False)
    assert not gate_passes((passed, undecided))
    assert count_outcomes((passed, failed, undecided)) == "1 of 3 failed, 1 of 3 inconclusive"
    assert count_outcomes((passed, passed)) == "2 of 2 passed"


def test_the_auc_of_equal_scores_is_known_and_judged_by_its_value() -> None:
    """All scores are alike: the AUC is 0.5 whatever the sample, also of groups; nothing is left open."""
    truth = ["spam", "ham"] * 30
    for groups in (None, np.arange(60) // 2):
        p = predictions(SPACE, truth, scores=Probabilities(np.full(60, 0.3)), groups=groups)
        ev = evaluate_predictions(p, FEW)
        for text, outcome in (("roc_auc >= 0.6", "failed"), ("roc_auc >= 0.5", "passed")):
            found = one(ev, text, "interval")
            assert (found.outcome, found.value) == (outcome, 0.5)
            assert "all scores are equal" in found.detail


def test_a_sample_too_small_to_tell_any_possible_truth_says_so() -> None:
    """Of four rows no truth between 0 and 1 is far enough from the bound."""
    found = one(binary(3, 1, ham=4), "recall >= 0.5", "interval")
    assert found.outcome == "inconclusive"
    assert found.detectable is not None
    assert found.detectable.difference is None
    assert "no value passes or fails" in found.detail

"""Silence, absence, favourites, averages: what is said of labels, and what is not."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from evalreport.data.labels import Binary, Multiclass
from evalreport.data.predictions import predictions
from evalreport.features.text_labels.parser import make_parser, parse_all
from evalreport.findings.ordered_rules import find
from evalreport.findings.predicted_labels import (
    absent_classes,
    micro_macro_gap,
    never_predicted,
    unparsed_labels,
)
from tests.findings.faults import INTENTS, evaluated
from tests.findings.light import counted, light

COUNTS = {"right and rare": 40, "abandoned": 1500}


def rules(ev: object) -> set[str]:
    return {finding.rule for finding in find(ev)}  # type: ignore[arg-type]


def test_one_number_hides_a_broken_model() -> None:
    """Half of the answers are right, and 66 of 77 intents are abandoned: no metric alone tells."""
    rng = np.random.default_rng(0)
    labels = [f"intent_{code:02d}" for code in range(77)]
    truth = np.where(rng.random(3080) < 0.48, rng.integers(0, 6, 3080), rng.integers(6, 77, 3080))
    answer = np.where(truth < 6, truth, rng.integers(0, 6, 3080))
    kept = (truth >= 6) & (truth < 11) & (rng.random(3080) < 0.2)
    answer[kept] = truth[kept]
    known = np.asarray(labels)
    ev = evaluated(predictions(Multiclass(labels), known[truth], known[answer]))
    micro, macro = ev["f1_micro"].value, ev["f1_macro"].value
    assert micro == pytest.approx(0.5, abs=0.02)
    assert macro == pytest.approx(0.075, abs=0.01)
    found = micro_macro_gap(ev)
    assert found is not None
    assert found.severity == "error"
    assert found.claim.startswith("Micro F1 hides weak classes: micro F1 is 0.49")
    assert "macro F1, where every class counts the same, is 0.0" in found.claim
    assert found.evidence["n_weak"] >= 66
    assert find(ev)[0].severity == "error"
    assert {"never_predicted", "micro_macro_gap", "overpredicted_labels"} <= rules(ev)


def test_a_collapsed_model_is_reported_by_what_it_still_says() -> None:
    truth = np.arange(2000) % 20
    known = np.asarray(INTENTS)
    ev = evaluated(predictions(Multiclass(INTENTS), known[truth], known[truth % 3]))
    claim = never_predicted(ev)
    assert claim is not None
    assert claim.claim == (
        "17 of 20 classes are never predicted: every prediction is “intent_00”, “intent_01” or “intent_02”. "
        "Their 1,700 messages are wrong."
    )


def test_the_model_that_always_says_no() -> None:
    truth = ["no"] * 990 + ["yes"] * 10
    found = find(evaluated(predictions(Binary("no", "yes"), truth, ["no"] * 1000)))
    claims = {finding.rule: finding.claim for finding in found}
    assert [finding.rule for finding in found[:2]] == ["no_skill", "never_predicted"]
    assert claims["never_predicted"] == "1 of 2 classes is never predicted: “yes”. Its 10 messages are wrong."
    assert claims["imbalance"] == (
        "Accuracy misleads: always predicting “no” is right for 99.00% of messages; "
        "the model, at 99.00%, is no better."
    )


def three_states() -> tuple[npt.NDArray[np.str_], list[str]]:
    """Of four labels one is absent, one is never predicted, and one has only unreadable answers."""
    truth = np.repeat(["known", "silent", "unread"], 50)
    answers = ["known"] * 100 + ["I cannot help with that."] * 50
    return truth, answers


def test_absent_silent_and_unread_are_three_things() -> None:
    labels = ("known", "silent", "unread", "absent")
    truth, answers = three_states()
    ev = evaluated(predictions(Multiclass(labels), truth, parse_all(answers, make_parser("auto", labels))))
    silent, absent, unparsed = never_predicted(ev), absent_classes(ev), unparsed_labels(ev)
    assert silent is not None and silent.evidence["labels"] == ["silent"]
    assert absent is not None and absent.evidence["labels"] == ["absent"]
    assert unparsed is not None and unparsed.evidence["labels"] == ["unread"]
    assert "the model did not fail" in absent.claim
    assert "absent" not in silent.claim + unparsed.claim
    assert absent.severity == "caution"  # a terminal tells it, too


def test_absent_labels_lower_macro_f1_by_a_stated_amount() -> None:
    truth = ["a", "b"] * 50
    ev = evaluated(predictions(Multiclass("abcd"), truth, truth[1:] + truth[:1]))
    assert absent_classes(ev) is not None
    right = evaluated(predictions(Multiclass("abcd"), truth, ["a", "b"] * 49 + ["b", "a"]))
    found = absent_classes(right)
    assert found is not None
    assert found.claim.endswith("Counting them as zero lowers macro F1 from 0.980 to 0.49.")


@pytest.mark.parametrize(("support", "fires"), [(2, False), (9, True), (60, True)])
def test_silence_on_a_tiny_class_may_be_luck(support: int, fires: bool) -> None:
    truth = ["a"] * 200 + ["b"] * 200 + ["c"] * support
    answers = ["a"] * 195 + ["b"] * 205 + ["a"] * support
    assert (never_predicted(light(predictions(Multiclass("abc"), truth, answers))) is not None) is fires


def test_silence_is_rare_among_many_tiny_classes_that_are_answered_alike() -> None:
    """A model that answers each of 50 classes of three examples in proportion leaves some out by luck."""
    labels, findings = [f"c{code}" for code in range(50)], 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        truth, answers = rng.integers(0, 50, 150), rng.integers(0, 50, 150)
        known = np.asarray(labels)
        p = predictions(Multiclass(labels), known[truth], known[answers])
        findings += never_predicted(counted(p)) is not None
    assert findings <= 1

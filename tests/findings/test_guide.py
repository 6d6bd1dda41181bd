"""Which metric to look at: by balance, threshold, costs and task, and never one without a value."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evalreport.core.result import Estimate
from evalreport.data.labels import Multiclass
from evalreport.data.predictions import Predictions, Threshold, predictions
from evalreport.evaluation.evaluate import evaluate_predictions
from evalreport.evaluation.evaluation import Evaluation
from evalreport.page.sections.appendix import guide
from tests import factories
from tests.findings.faults import MAIL, mail, names
from tests.findings.light import FEW


def advice(p: Predictions) -> dict[str, tuple[str, ...]]:
    return {one.question: one.metrics for one in guide(evaluate_predictions(p, FEW))}


def test_balance_decides_about_accuracy() -> None:
    assert "accuracy" in advice(mail())["The classes are balanced"]
    assert advice(mail(share=0.03))["The classes are imbalanced"][0] == "recall"


def test_the_rare_class_may_be_the_negative_one() -> None:
    p = mail(share=0.97)
    found = guide(evaluate_predictions(p, FEW))[0]
    assert (found.question, found.metrics[:2]) == ("The classes are imbalanced", ("specificity", "npv"))


def test_a_threshold_that_is_chosen_makes_its_counts_count() -> None:
    assert advice(mail())["No threshold is chosen yet"] == ("roc_auc", "average_precision")
    assert advice(mail(share=0.03))["No threshold is chosen yet"] == ("average_precision", "roc_auc")
    chosen = advice(mail().with_threshold(Threshold(0.3, "given")))
    assert chosen["The threshold is fixed"] == ("recall", "precision", "specificity")


def test_unequal_costs_have_an_answer_without_probabilities() -> None:
    question = "Misses and false positives have different costs"
    assert advice(mail())[question] == ("net_benefit",)
    p = mail()
    alone = predictions(MAIL, names(MAIL, p.y_true), names(MAIL, np.asarray(p.y_pred)))
    assert advice(alone)[question] == ("recall", "specificity")


def test_ordered_classes_weigh_the_distance() -> None:
    space = Multiclass(("low", "middle", "high"), ordered=True)
    p = predictions(space, ["low", "middle", "high"] * 9, ["low", "high", "high"] * 9)
    assert advice(p)["The classes are ordered"] == ("cohen_kappa_quadratic",)


@pytest.mark.parametrize("kind", factories.ALL)
def test_all_named_metrics_have_a_value(kind: str) -> None:
    ev = evaluate_predictions(factories.ALL[kind](), FEW)  # type: ignore[operator]
    found = guide(ev)
    assert found
    for one in found:
        assert one.reason.endswith(".")
        assert all(isinstance(ev[name], Estimate) for name in one.metrics)


def test_metrics_that_were_not_asked_for_are_not_named() -> None:
    ev: Evaluation = evaluate_predictions(mail(), FEW, only=("prevalence", "accuracy"))
    assert [one.metrics for one in guide(ev)] == [("accuracy",)]
    assert guide(replace(ev, metrics={})) == ()

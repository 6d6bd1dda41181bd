"""An evaluation holds everything, loses nothing in JSON, and equals scikit-learn on the shipped data."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn import metrics as skm

import evalreport as er
from evalreport.columns.column_request import Columns
from evalreport.columns.find_columns import find_in_files, to_predictions
from evalreport.core.errors import DataError, UsageError
from evalreport.core.result import Undefined
from evalreport.data.labels import Multiclass
from evalreport.data.predictions import Predictions, predictions
from evalreport.data.scores import NoScores
from evalreport.evaluation.evaluate import evaluate_predictions
from evalreport.evaluation.evaluation import Evaluation
from evalreport.evaluation.parts import one_label, worst_mistakes
from evalreport.findings.ordered_rules import find
from evalreport.intervals.interval_settings import Sampling
from evalreport.page.contents import metrics
from evalreport.statistics.score_table import RankingSums
from tests import factories

DATA = Path(__file__).parents[2] / "examples" / "data"


@pytest.mark.parametrize("make", factories.ALL.values(), ids=factories.ALL)
def test_json_loses_nothing(make: object) -> None:
    from dataclasses import replace

    assert callable(make)
    ev = evaluate_predictions(make())
    ev = replace(ev, findings=find(ev))
    text = ev.to_json()
    assert "NaN" not in text
    assert "Infinity" not in text
    again = Evaluation.from_json(text)
    assert again == ev
    assert again.to_json() == text
    assert again.predictions is None


def test_thresholds_chosen_label_by_label_are_carried_with_their_out_of_sample_value() -> None:
    rng = np.random.default_rng(0)
    truth = rng.random((200, 3)) < [0.3, 0.2, 0.0]
    scores = er.Probabilities(np.clip(rng.random((200, 3)) * 0.6 + truth * 0.3, 0, 1))
    ev = er.evaluate(truth, scores=scores, threshold="f1_macro")
    assert ev.tuned is not None
    assert ev.tuned.out_of_sample.value.value is not None
    assert ev.tuned.out_of_sample.value.value < ev.tuned.apparent
    data = json.loads(ev.to_json())
    assert data["threshold"] == [ev.tuned.values["0"], ev.tuned.values["1"], None]
    stated = data["thresholds"]["optima"]["f1_macro"]
    assert (stated["apparent"], stated["held_out"]) == (ev.tuned.apparent, ev.tuned.out_of_sample.value.value)
    again = er.Evaluation.from_json(ev.to_json())
    assert again.tuned == ev.tuned
    assert again.classes[2].threshold == np.inf
    page = er.to_html(ev)
    assert page == er.to_html(again)
    assert "One threshold per label" in page
    assert "above all" in page


@pytest.mark.parametrize("kind", [er.Probabilities, er.Decisions])
def test_flagging_nothing_may_be_best(kind: type[er.Probabilities] | type[er.Decisions]) -> None:
    truth = np.repeat([1, 0], [10, 190])
    scores = kind(np.concatenate([np.linspace(0, 0.2, 10), np.linspace(0.1, 1, 190)]))
    ev = er.evaluate(truth, scores=scores, threshold="accuracy", labels=[0, 1])
    assert ev.threshold is not None and ev.threshold.value == np.inf
    again = er.Evaluation.from_json(ev.to_json())
    assert again.threshold == ev.threshold
    assert er.to_html(again) == er.to_html(ev)
    assert "threshold" not in metrics(ev, "", {})


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"schema": 99}'])
def test_what_is_no_evaluation_is_refused(text: str) -> None:
    with pytest.raises(DataError):
        Evaluation.from_json(text)


def test_unknown_metric_names_the_nearest() -> None:
    ev = evaluate_predictions(factories.multiclass())
    with pytest.raises(UsageError) as error:
        ev["f1_marco"]
    assert "f1_macro" in error.value.fix


def test_frame_has_a_row_per_metric() -> None:
    ev = evaluate_predictions(factories.margins())
    frame = ev.to_frame()
    assert list(frame.index) == list(ev.metrics)
    assert frame.loc["f1", "reason"] == "needs predictions or a threshold; got only decision scores"


def test_same_input_same_bytes() -> None:
    assert (
        evaluate_predictions(factories.binary()).to_json()
        == evaluate_predictions(factories.binary()).to_json()
    )


def test_one_label_is_the_same_as_the_class() -> None:
    p = factories.multiclass()
    ev = evaluate_predictions(p)
    for code, entry in enumerate(ev.classes):
        alone = evaluate_predictions(one_label(p, code))
        for name, result in entry.metrics.items():
            assert alone[name].value == pytest.approx(result.value, abs=1e-12)


def shipped(name: str, columns: Columns, truth: str | None = None) -> Predictions:
    file = None if truth is None else DATA / truth
    return to_predictions(find_in_files(DATA / name, columns, truth=file))


BINARY = [("sms_spam/oof_scores.parquet", f"score_{m}") for m in ("lr", "nb", "rf", "histgb")] + [
    ("ai4i_failure/oof_scores.parquet", f"score_{m}") for m in ("lr", "lr_balanced", "rf", "histgb")
]


@pytest.mark.parametrize(("file", "score"), BINARY)
def test_binary_data_sets_equal_scikit_learn(file: str, score: str) -> None:
    p = shipped(file, Columns(score=score))
    ev = evaluate_predictions(p)
    assert not isinstance(p.scores, NoScores)
    scores, truth, pred = p.scores.values.astype(np.float64), p.y_true, p.y_pred
    expected = {
        "accuracy": skm.accuracy_score(truth, pred),
        "f1": skm.f1_score(truth, pred),
        "mcc": skm.matthews_corrcoef(truth, pred),
        "cohen_kappa": skm.cohen_kappa_score(truth, pred),
        "roc_auc": skm.roc_auc_score(truth, scores),
        "average_precision": skm.average_precision_score(truth, scores),
        "log_loss": skm.log_loss(truth, scores),
        "brier": skm.brier_score_loss(truth, scores),
        "partial_auc_fpr10": skm.roc_auc_score(truth, scores, max_fpr=0.1),
    }
    for name, value in expected.items():
        assert ev[name].value == pytest.approx(value, abs=1e-12), name


@pytest.mark.parametrize("file", ["pred_tfidf_lr.parquet", "pred_collapsed6.parquet"])
def test_banking_equals_scikit_learn(file: str) -> None:
    p = shipped(f"banking77/{file}", Columns())
    ev = evaluate_predictions(p, Sampling().with_confidence(None))
    assert not isinstance(p.scores, NoScores)
    scores = p.scores.values
    own = scores[np.arange(len(p)), p.y_true].astype(np.float64)
    expected = {
        "accuracy": skm.accuracy_score(p.y_true, p.y_pred),
        "f1_macro": skm.f1_score(p.y_true, p.y_pred, average="macro", zero_division=0),
        "f1_weighted": skm.f1_score(p.y_true, p.y_pred, average="weighted", zero_division=0),
        "precision_macro": skm.precision_score(p.y_true, p.y_pred, average="macro", zero_division=0),
        "balanced_accuracy": skm.balanced_accuracy_score(p.y_true, p.y_pred),
        "mcc": skm.matthews_corrcoef(p.y_true, p.y_pred),
        "cohen_kappa": skm.cohen_kappa_score(p.y_true, p.y_pred),
        "log_loss": -np.log(
            np.maximum(own, np.finfo(float).eps)
        ).mean(),  # scikit-learn clips float32 at 1e-7
        "roc_auc_ovr_macro": skm.roc_auc_score(p.y_true, scores, multi_class="ovr"),
    }
    for name, value in expected.items():
        assert ev[name].value == pytest.approx(value, abs=1e-12), name
    states = [entry.state for entry in ev.classes]
    assert states.count("never_predicted") == (71 if "collapsed" in file else 0)


def test_emotions_equal_scikit_learn() -> None:
    p = shipped("goemotions/pred_test_ovr_lr_proba.parquet", Columns(), "goemotions/y_true_test.parquet")
    ev = evaluate_predictions(p, Sampling().with_confidence(None))
    assert not isinstance(p.scores, NoScores)
    truth, pred, scores = p.y_true, p.y_pred, p.scores.values.astype(np.float64)
    expected = {
        "subset_accuracy": skm.accuracy_score(truth, pred),
        "hamming_loss": skm.hamming_loss(truth, pred),
        "f1_macro": skm.f1_score(truth, pred, average="macro", zero_division=0),
        "f1_samples": skm.f1_score(truth, pred, average="samples", zero_division=0),
        "roc_auc_macro": skm.roc_auc_score(truth, scores, average="macro"),
        "average_precision_macro": skm.average_precision_score(truth, scores, average="macro"),
        "average_precision_samples": skm.label_ranking_average_precision_score(truth, scores),
        "coverage_error": skm.coverage_error(truth, scores),
        "ranking_loss": skm.label_ranking_loss(truth, scores),
    }
    for name, value in expected.items():
        assert ev[name].value == pytest.approx(value, abs=1e-12), name


def test_threshold_is_a_number_in_json() -> None:
    data = json.loads(evaluate_predictions(factories.binary()).to_json())
    assert data["threshold"] == 0.5
    assert data["threshold_origin"] == "default"
    assert isinstance(evaluate_predictions(factories.labels_alone())["log_loss"], Undefined)


def test_grouped_scores_that_nothing_decides_still_have_a_majority() -> None:
    whole = factories.margins(120)
    names, groups = np.asarray(whole.space.names), np.arange(120) // 3
    ev = evaluate_predictions(
        predictions(whole.space, names[whole.y_true], scores=whole.scores, groups=groups)
    )
    majority = ev["no_information_rate"]
    assert not isinstance(majority, Undefined)
    assert majority.value == max(np.bincount(whole.y_true)) / 120


def test_without_scores_every_mix_up_has_its_turn() -> None:
    """The most frequent mix-ups stand first, and no mix-up fills the list while another has no example."""
    truth = ["a"] * 30 + ["b"] * 5 + ["c"] * 5
    answer = ["b"] * 25 + ["c"] * 5 + ["a"] * 5 + ["c"] * 3 + ["a"] * 2
    found = worst_mistakes(predictions(Multiclass("abc"), truth, answer), limit=8)
    pairs = [entry.truth + entry.predicted for entry in found]
    assert pairs == [("a", "b")] * 2 + [("a", "c")] * 2 + [("b", "a")] * 2 + [("c", "a")] * 2
    assert [entry.row for entry in found] == [0, 1, 25, 26, 30, 31, 38, 39]
    assert len(worst_mistakes(predictions(Multiclass("abc"), truth, answer), limit=100)) == 37


def test_what_pages_show_of_a_label_is_not_worked_out_again_for_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ev = evaluate_predictions(factories.multilabel())
    monkeypatch.setattr(RankingSums, "from_table", None)
    assert not isinstance(ev.classes[0].metrics["gini"], Undefined)

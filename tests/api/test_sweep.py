"""`er.sweep`: thresholds of an evaluation and the standing of trials; pages, figures and runs of both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import evalreport as er
from evalreport.thresholds.best_threshold import Optimum, Tuned
from evalreport.tracking.client import Store
from tests.tracking import fluent, make_run
from tests.tracking.test_mlflow import snapshot


def scored(seed: int = 0) -> er.Evaluation:
    rng = np.random.default_rng(seed)
    truth = rng.random(300) < 0.2
    scores = er.Probabilities(1 / (1 + np.exp(-rng.normal(size=300) - 2 * truth + 1)))
    return er.evaluate(truth.astype(int), scores=scores, resamples=200)


def labelled(seed: int = 0) -> er.Evaluation:
    rng = np.random.default_rng(seed)
    truth = rng.random((200, 3)) < 0.3
    scores = er.Probabilities(np.clip(rng.random((200, 3)) * 0.7 + 0.3 * truth, 0, 1))
    return er.evaluate(truth, scores=scores, resamples=200)


def trials(n: int = 12) -> er.Trials:
    rows = [{"params": {"C": c}, "value": 0.8 + 0.01 * (c % 3)} for c in range(n)]
    return er.Trials.from_records(rows, objectives="accuracy")


def test_a_threshold_comes_with_its_out_of_sample_value() -> None:
    found = er.sweep(scored(), ["f1", "recall>=0.9"])
    best = found["f1"]
    assert isinstance(best, Optimum)
    assert best is found.best
    assert best.out_of_sample is not None
    assert best.out_of_sample.value.value is not None
    assert best.out_of_sample.value.value < best.apparent
    held_out = er.sweep(scored(), "f1", tune_on=scored(1)).best
    assert isinstance(held_out, Optimum)
    assert held_out.out_of_sample is not None
    assert held_out.out_of_sample.method == "other rows"
    with pytest.raises(er.EvalreportError, match="nothing was chosen for 'f2'"):
        found["f2"]


def test_the_sweep_of_an_evaluation_and_of_its_json_agree() -> None:
    ev = scored()
    assert ev.sweep is not None
    known, fresh = ev.sweep.best("f1"), er.sweep(ev, "f1").best
    again = er.sweep(er.Evaluation.from_json(ev.to_json()), "f1").best
    assert isinstance(known, Optimum)
    for found in (again, fresh):
        assert isinstance(found, Optimum)
        assert (found.threshold, found.apparent) == (known.threshold, known.apparent)


def test_labels_get_a_threshold_each_and_classes_a_weight() -> None:
    found = er.sweep(labelled(), "f1_samples", tune_on=labelled(1), trials=15).best
    assert isinstance(found, Tuned)
    assert found.trials is not None
    assert (set(found.values), len(found.trials)) == ({"0", "1", "2"}, 15)
    matrix = np.random.default_rng(0).dirichlet(np.ones(3), 200)
    ev = er.evaluate(matrix.argmax(axis=1), scores=er.Probabilities(matrix), labels=er.Multiclass([0, 1, 2]))
    weights = er.sweep(ev, costs=[[0, 5, 5], [1, 0, 1], [1, 1, 0]])["cost"]
    assert isinstance(weights, Tuned)
    assert weights.method == "bayes"


def test_a_prevalence_tells_what_a_threshold_does_there() -> None:
    ev = scored()
    found = er.sweep(ev, ["f1", "youden"], prevalence=0.01)
    assert ev.predictions is not None and found.whole is not None
    for name in ("f1", "youden_j"):
        here = found.whole.counts_at_threshold(found.optima[name].threshold)
        recall, fpr = here.tp / (here.tp + here.fn), here.fp / (here.fp + here.tn)
        slow = 0.01 * recall / (0.01 * recall + 0.99 * fpr)
        assert found.deployed[name]["precision@prevalence=0.01"].value == pytest.approx(slow)
    assert "prevalence=0.01" in found.to_json()
    with pytest.raises(er.EvalreportError, match="needs two classes"):
        er.sweep(labelled(), prevalence=0.01)
    with pytest.raises(er.EvalreportError, match="which a constraint confidence and a prevalence need"):
        er.sweep(er.Evaluation.from_json(ev.to_json()), "f1", prevalence=0.01)


def test_trials_become_a_study_with_a_page() -> None:
    study = er.sweep(trials(), judging=er.Judging(n=400))
    assert (study.best.number, len(study.tied_trials)) == (2, 11)
    assert "not significantly worse" in er.to_html(study)
    assert repr(study).startswith("Study(The best of 12 complete trials reaches accuracy 0.82")


def test_figures_of_both() -> None:
    assert isinstance(er.sweep(scored(), "f1").plot.objectives(), Figure)
    plot = er.sweep(trials()).plot
    for name in ("history", "importance", "slices", "parallel"):
        assert isinstance(getattr(plot, name)(), Figure), name
    for name in ("intermediate", "timeline", "front"):
        with pytest.raises(er.EvalreportError):
            getattr(plot, name)()
    with pytest.raises(er.EvalreportError, match="no threshold to draw"):
        er.sweep(labelled(), "f1_macro").plot.objectives()


def test_a_page_is_written_as_that_of_an_evaluation(tmp_path: Path) -> None:
    for made in (er.sweep(scored(), "f1"), er.sweep(trials())):
        path = er.report(made, tmp_path / "sweep.html")
        assert path.read_text(encoding="utf-8") == er.to_html(made)
    assert repr(er.sweep(scored(), "f1")).startswith("ThresholdSelection(F1 is best at threshold 0.")


def test_what_was_found_is_logged_once(sqlite_store: Store, tmp_path: Path) -> None:
    ev = scored()
    for found in (er.sweep(ev, "f1"), er.sweep(trials(), judging=er.Judging(n=400))):
        made = make_run(sqlite_store, folder=tmp_path)
        before = snapshot(sqlite_store, made)
        done = er.log(found, made.run_id, tracking_uri=sqlite_store.uri)
        assert done.state == "written"
        after = snapshot(sqlite_store, made)
        assert (after["status"], after["end"]) == (before["status"], before["end"])
        assert "evalreport_sweep.html" in after["files"]
        assert er.log(found, made.run_id, tracking_uri=sqlite_store.uri).state == "unchanged"
        assert snapshot(sqlite_store, made) == after


def test_what_cannot_be_swept_is_said() -> None:
    with pytest.raises(er.EvalreportError, match="no thresholds to choose"):
        er.sweep(trials(), tune_on=scored())  # type: ignore[call-overload]
    with pytest.raises(er.EvalreportError, match="tune_on has no predictions"):
        er.sweep(scored(), tune_on=er.Evaluation.from_json(scored().to_json()))
    with pytest.raises(er.EvalreportError, match="there is no threshold to sweep"):
        er.sweep(er.Evaluation.from_json(labelled().to_json()))
    with pytest.raises(er.EvalreportError, match="no scores to sweep"):
        er.sweep(er.evaluate([0, 1, 1], [0, 1, 0]))


def test_an_evaluation_goes_into_the_active_run_which_goes_on(sqlite_store: Store, tmp_path: Path) -> None:
    ev = er.evaluate([0, 1, 1, 0], [0, 1, 0, 0], labels=er.Binary(negative=0, positive=1))
    with pytest.raises(er.EvalreportError, match="none is active"):
        er.log(ev, tracking_uri=sqlite_store.uri)
    with fluent(sqlite_store) as mlflow:
        mlflow.create_experiment("live", (tmp_path / "live").as_uri())
        mlflow.set_experiment("live")
        with mlflow.start_run() as active:
            assert er.log(ev).state == "written"
            assert er.log(ev).state == "unchanged"
            run = sqlite_store.client.get_run(active.info.run_id)
            assert (run.info.status, run.info.end_time) == ("RUNNING", None)
            assert run.data.metrics["eval/recall"] == 0.5
            with pytest.raises(er.EvalreportError, match="has not ended"):
                er.log(ev, active.info.run_id)
            assert er.log(ev, active.info.run_id, allow_running=True).state == "unchanged"
    assert sqlite_store.client.get_run(active.info.run_id).info.status == "FINISHED"


def test_what_is_no_result_is_refused() -> None:
    wrong: Any = 3
    with pytest.raises(er.EvalreportError, match="int is not a result"):
        er.to_html(wrong)
    ev = er.evaluate([0, 1] * 5, [0, 1] * 5)
    with pytest.raises(er.EvalreportError, match=r"ev is Comparison, which er\.log does not accept"):
        er.log(er.compare([ev, ev]))
    with pytest.raises(er.EvalreportError, match="judging is 3"):
        er.sweep(er.Trials.from_records([{"value": 0.7}], objectives="f1"), judging=wrong)

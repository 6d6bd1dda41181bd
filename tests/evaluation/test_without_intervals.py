"""`confidence=None`: the same values without intervals, and every reader of them says so."""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import evalreport as er
from evalreport.core.errors import UsageError
from evalreport.core.result import Estimate
from evalreport.data.predictions import Predictions
from evalreport.evaluation import evaluate
from evalreport.evaluation.evaluate import evaluate_predictions
from evalreport.evaluation.evaluation import Evaluation
from evalreport.findings.ordered_rules import find
from evalreport.intervals.estimates import estimates
from evalreport.intervals.interval_settings import NOT_ASKED, Sampling
from evalreport.metrics.catalogue import BINARY, PER_CLASS, one_label
from evalreport.page.render import render
from evalreport.statistics import summary as memory
from evalreport.thresholds.best_threshold import Optimum
from tests import factories
from tests.cli.running import run

Capture = pytest.CaptureFixture[str]

ALL: dict[str, Callable[..., Predictions]] = {
    "binary": factories.binary,
    "multiclass": factories.multiclass,
    "multilabel": factories.multilabel,
}


@pytest.fixture(params=ALL)
def both(request: pytest.FixtureRequest) -> tuple[Evaluation, Evaluation]:
    rows = ALL[request.param](300, seed=3)
    return evaluate_predictions(rows, Sampling(resamples=50)), evaluate_predictions(
        rows, Sampling().with_confidence(None)
    )


def test_the_values_are_the_same(both: tuple[Evaluation, Evaluation]) -> None:
    known, bare = both
    assert {name: result.value for name, result in known.metrics.items()} == {
        name: result.value for name, result in bare.metrics.items()
    }
    for with_ends, without in zip(known.classes, bare.classes, strict=True):
        assert {n: r.value for n, r in with_ends.metrics.items()} == {
            n: r.value for n, r in without.metrics.items()
        }


def test_no_number_has_ends_and_each_says_why(both: tuple[Evaluation, Evaluation]) -> None:
    known, bare = both
    parts = [bare.metrics, *(entry.metrics for entry in bare.classes)]
    every = [result for part in parts for result in part.values() if isinstance(result, Estimate)]
    assert every
    assert all(result.low is None and result.high is None for result in every)
    assert {result.reason for result in every} == {NOT_ASKED}
    if bare.sweep is not None and known.sweep is not None:
        best, judged = bare.sweep.best("f1"), known.sweep.best("f1")
        assert isinstance(best, Optimum) and isinstance(judged, Optimum)
        assert (best.threshold, best.apparent) == (judged.threshold, judged.apparent)
        assert best.out_of_sample is None and best.low is None


@pytest.mark.parametrize("kind", ALL)
def test_what_is_not_read_is_not_made(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    parts = ("_curves", "_sweep", "_class_values", "_no_skill", "observe_predictions")
    facts = ("_row_sums", "_bins", "_cardinality", "_confidence")
    for module, name in [(evaluate, name) for name in parts] + [(memory, name) for name in facts]:
        work: Callable[..., Any] = getattr(module, name)

        def heard(*given: Any, name: str = name, work: Callable[..., Any] = work, **more: Any) -> Any:
            made.append(name)
            return work(*given, **more)

        monkeypatch.setattr(module, name, heard)
    bare = evaluate_predictions(ALL[kind](300, seed=3), Sampling().with_confidence(None))
    name = "f1" if kind == "binary" else "f1_macro"
    assert isinstance(bare.with_fields(provenance=bare.provenance)[name], Estimate)
    assert not made
    sent = pickle.loads(pickle.dumps(bare))
    assert sent.notes == bare.notes and sent == bare
    once = [name for name in made if name in parts]  # facts are also those of slices
    assert sorted(once) == sorted({*once}), "made once"
    with pytest.raises(UsageError, match="no metric"):
        bare["none"]


def test_json_page_and_findings_say_so(both: tuple[Evaluation, Evaluation]) -> None:
    bare = both[1]
    assert Evaluation.from_json(bare.to_json()) == bare
    said = [finding.claim for finding in find(bare) if finding.rule == "data_notes"]
    assert said and NOT_ASKED in said[0].casefold()
    page = render(bare)
    assert NOT_ASKED in page.casefold()
    assert "nan" not in {cell.casefold() for cell in page.split()}
    assert "intervals are 95%" in render(both[0]) and "intervals are 95%" not in render(both[1])


def test_in_memory_and_from_a_file(tmp_path: Path) -> None:
    truth, answers = ["a", "b"] * 20, ["a", "b", "b", "b"] * 10
    bare = er.evaluate(truth, answers, confidence=None)
    assert bare["accuracy"].value == 0.75
    assert getattr(bare["accuracy"], "low", 0) is None
    path = tmp_path / "rows.csv"
    pd.DataFrame({"y_true": truth, "y_pred": answers}).to_csv(path, index=False)
    assert getattr(er.evaluate_file(path, confidence=None)["accuracy"], "reason", "") == NOT_ASKED
    assert math.isclose(er.evaluate_file(path, confidence=0.9).sampling.level, 0.9)


def test_weights_and_groups_are_not_resampled(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("resampled, though no interval was asked for")

    monkeypatch.setattr(import_module("evalreport.intervals.estimates"), "resampled_limits", never)
    monkeypatch.setattr("evalreport.intervals.multiclass.Replicates", never)
    groups = [place // 4 for place in range(120)]
    bare = er.evaluate(["a", "b", "c"] * 40, ["a", "b", "b"] * 40, groups=groups, confidence=None)
    assert bare["accuracy"].value == pytest.approx(2 / 3)
    assert getattr(bare.classes[0].metrics["recall"], "low", 0) is None


def test_the_command_line(capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"y_true": ["a", "b"] * 30, "y_pred": ["a", "a", "b", "b"] * 15}).to_csv(
        "rows.csv", index=False
    )
    done = run(capsys, "report", "rows.csv", "--set", "confidence=none", "--json")
    assert done.code == 0, done.err
    stored = json.loads(json.dumps(done.json["runs"][0]["metrics"]["accuracy"]))
    assert stored["value"] == 0.5
    assert (stored["low"], stored["high"], stored["reason"]) == (None, None, NOT_ASKED)
    refused = run(capsys, "compare", "rows.csv", "rows.csv", "--set", "confidence=none")
    assert refused.code == 2, "a comparison is made of intervals"


def test_what_no_page_shows_of_a_label_is_made_when_read(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def heard(metrics: Any, *given: Any) -> Any:
        asked.append(len(metrics))
        return estimates(metrics, *given)

    rows = factories.multilabel(300, seed=3)
    summary, labels = memory.summarise(rows), len(rows.space)
    at_once = [estimates(BINARY, one_label(summary, k), None, Sampling()) for k in range(labels)]
    monkeypatch.setattr(evaluate, "estimates", heard)
    ev = evaluate_predictions(rows)
    render(ev)
    assert asked[1:] == [len(PER_CLASS)] * labels
    assert [dict(entry.metrics) for entry in ev.classes] == at_once
    assert asked[1 + labels :] == [len(BINARY) - len(PER_CLASS)] * labels
    assert list(ev.classes[0].metrics) == list(at_once[0])

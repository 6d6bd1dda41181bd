"""What of an evaluation stands in a run and in a folder, for every task."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalreport.core.result import Estimate, Finding
from evalreport.data.labels import Binary, Multiclass, Multilabel
from evalreport.data.predictions import predictions
from evalreport.data.scores import Decisions, Probabilities
from evalreport.evaluation.evaluate import evaluate_predictions
from evalreport.evaluation.evaluation import Evaluation
from evalreport.features.text_labels.parser import make_parser, parse_all
from evalreport.intervals.interval_settings import Sampling
from evalreport.metrics.catalogue import SAME
from evalreport.page.contents import class_keys
from evalreport.page.csv_tables import as_csv
from evalreport.page.evaluation_terms import whole_sweep
from evalreport.page.payload import (
    FIGURES,
    MOST_CLASSES,
    MOST_KEYS,
    Payload,
    Presentation,
    in_run,
    is_ours,
    present,
)
from evalreport.page.text_summary import as_text
from evalreport.tracking.client import Store
from evalreport.tracking.log_results import MlflowSink
from tests.tracking import make_run
from tests.tracking.test_mlflow import png

QUICK = Sampling(resamples=50)
NAMES = ("C++", "C#", "a/b", "plain", "größe")


@cache
def binary(*, decisions: bool = False) -> Evaluation:
    rng = np.random.default_rng(1)
    truth = rng.random(300) < 0.3
    scores = np.clip(rng.normal(0.35 + 0.3 * truth, 0.2), 0, 1).round(2)
    kind = Decisions(scores * 8 - 4) if decisions else Probabilities(scores)
    return evaluate_predictions(predictions(Binary(0, 1), truth.astype(int), scores=kind), QUICK)


@cache
def multiclass() -> Evaluation:
    rng = np.random.default_rng(2)
    scores = rng.dirichlet(np.ones(len(NAMES)), 200)
    truth = [NAMES[code] for code in rng.integers(0, 4, 200)]
    p = predictions(Multiclass(NAMES), truth, scores=Probabilities(scores), ids=np.arange(200).astype(str))
    return evaluate_predictions(p, QUICK)


@cache
def multilabel() -> Evaluation:
    rng = np.random.default_rng(3)
    scores = rng.random((100, 3)).astype(np.float32)
    truth = rng.random((100, 3)) < 0.4
    p = predictions(Multilabel(["joy", "anger", "fear"]), truth.astype(int), scores=Probabilities(scores))
    return evaluate_predictions(p, QUICK)


@cache
def text() -> Evaluation:
    labels = ("ham", "spam")
    answers = ["spam", "ham", "I cannot answer that.", "label: spam"] * 5
    parsed = parse_all(answers, make_parser("auto", labels))
    p = predictions(Multiclass(labels), ["spam", "ham", "spam", "ham"] * 5, parsed)
    return evaluate_predictions(p, QUICK)


ALL: tuple[Callable[[], Evaluation], ...] = (
    binary,
    multiclass,
    multilabel,
    text,
    lambda: binary(decisions=True),
)
IDS = ("binary", "multiclass", "multilabel", "text", "decisions")


def made(ev: Evaluation, page: str = "<!doctype html>", **options: object) -> Payload:
    return shown(ev, {name: png() for name in FIGURES}, **options).payload(page)


def shown(ev: Evaluation, figures: Mapping[str, bytes], **options: object) -> Presentation[Evaluation]:
    """An evaluation with figures that nobody draws."""
    made = present(ev, **options)
    vars(made)["figures"] = figures
    return made


@pytest.mark.parametrize("make", ALL, ids=IDS)
def test_log_all_logs_every_defined_metric_and_no_other(make: Callable[[], Evaluation]) -> None:
    ev = make()
    what = made(ev, log_all=True)
    logged = {key.removeprefix("eval/") for key in what.metrics}
    for name, result in ev.metrics.items():
        key = f"eval/{name}"
        if isinstance(result, Estimate) and name in logged:
            assert what.metrics[key] == result.value
            assert what.metrics.get(f"eval/ci/{name}_low") == result.low
            continue
        assert key not in what.metrics
        if isinstance(result, Estimate):  # another metric has the value
            base = name.removesuffix("_supported").removesuffix("_declared")
            same = SAME[ev.task].get(base, base)
            assert math.isclose(what.metrics[f"eval/{same}"], result.value)


DEFAULT_KEYS = {
    "binary": "recall specificity precision f1 roc_auc average_precision mcc brier threshold",
    "multiclass": "accuracy f1_macro balanced_accuracy top_3_accuracy mcc log_loss ece",
    "multilabel": "subset_accuracy label_accuracy f1_micro f1_macro average_precision_macro threshold",
    "text": "accuracy f1_macro balanced_accuracy mcc parse_rate",
}


@pytest.mark.parametrize("name", DEFAULT_KEYS)
def test_by_default_the_headline_metrics_are_logged(name: str) -> None:
    ev = dict(zip(IDS, ALL, strict=True))[name]()
    what = made(ev)
    expected = [f"eval/{key}" for key in DEFAULT_KEYS[name].split()]
    assert [*what.metrics] == expected
    assert len(expected) <= MOST_KEYS
    assert not what.series
    assert what.tags.keys() == {"evalreport.task", "evalreport.verdict"}
    rows = json.loads(what.tables["evalreport/metrics.json"])["data"]
    assert {*ev.metrics} == {row[0] for row in rows}  # the rest is in the table


def test_few_metrics_that_were_asked_for_are_all_logged() -> None:
    ev = replace(binary(), metrics={"npv": binary().metrics["npv"], "fnr": binary().metrics["fnr"]})
    assert [*made(ev).metrics] == ["eval/npv", "eval/fnr", "eval/threshold"]


def test_averages_that_equal_another_metric_are_not_logged() -> None:
    """Micro averages of single-label data are the accuracy, unless text could not be parsed."""
    micro = {f"eval/{name}_micro" for name in ("precision", "recall", "f1")}
    others = {"eval/recall_weighted", "eval/f1_macro_declared"}
    assert not (micro | others) & made(multiclass(), log_all=True).metrics.keys()
    assert "eval/f1_micro" in made(text(), log_all=True).metrics
    assert "eval/f1_micro" in made(multilabel(), log_all=True).metrics


def test_what_is_logged_by_default_and_with_log_all_differ_in_digest() -> None:
    assert made(binary()).digest != made(binary(), log_all=True).digest


@pytest.mark.parametrize("make", ALL, ids=IDS)
def test_the_files_stand_where_the_ui_compares_them(make: Callable[[], Evaluation]) -> None:
    ev = make()
    what = made(ev)
    rows = {"evalreport/rows.parquet"} if ev.parsing is not None else set()
    assert {"evalreport.html", *map(in_run, FIGURES), "evalreport/evaluation.json"} | rows == set(
        what.artifacts
    )
    assert all(is_ours(path) for path in what.files)
    assert {f"eval/{name.removesuffix('.png')}" for name in FIGURES} == set(what.images)
    again = Evaluation.from_json(what.artifacts["evalreport/evaluation.json"])
    assert again == ev
    for table in map(json.loads, what.tables.values()):
        assert all(len(row) == len(table["columns"]) for row in table["data"])


def test_a_figure_of_another_name_goes_into_the_folder() -> None:
    what = shown(binary(), {"lift.png": png()}).payload("")
    assert "evalreport/lift.png" in what.artifacts


def test_the_key_of_each_class_is_in_the_json() -> None:
    what = made(multiclass(), log_all=True)
    keys = json.loads(what.artifacts["evalreport/evaluation.json"])["class_keys"]
    assert set(keys) == set(NAMES)
    assert len({key.casefold() for key in keys.values()}) == len(NAMES)
    for entry in multiclass().classes:
        f1 = entry.metrics["f1"]
        assert what.metrics.get(keys[str(entry.label)]) == f1.value


def test_classes_are_capped_by_support() -> None:
    labels = [f"c{number}" for number in range(MOST_CLASSES + 20)]
    truth = labels + labels[-30:]
    ev = evaluate_predictions(predictions(Multiclass(labels), truth, truth), QUICK)
    keys = class_keys(ev, "eval/")
    assert len(keys) == MOST_CLASSES
    assert set(labels[-30:]) <= set(keys)
    assert len(json.loads(made(ev).tables["evalreport/classes.json"])["data"]) == len(labels)


def test_curves_on_the_grid_equal_those_of_the_rows() -> None:
    from sklearn.metrics import precision_recall_curve, roc_curve

    ev = binary()
    assert ev.predictions is not None
    truth, scores = ev.predictions.y_true, np.asarray(ev.predictions.scores.values)  # type: ignore[union-attr]
    fpr, tpr, _ = roc_curve(truth, scores, drop_intermediate=False)
    series = made(ev, log_all=True).series
    for step, value in series["eval/curves/roc_tpr_by_fpr_pct"]:
        assert value == pytest.approx(np.interp(step / 100 + 1e-12, fpr, tpr), abs=1e-3)
    precision, recall, _ = precision_recall_curve(truth, scores)
    for step, value in series["eval/curves/pr_precision_by_recall_pct"][1:]:
        reached = np.flatnonzero(recall >= step / 100 - 1e-12)[-1]
        assert value == pytest.approx(precision[reached], abs=1e-9)


def test_metrics_by_threshold_equal_those_of_the_rows() -> None:
    from sklearn.metrics import f1_score, precision_score

    ev = binary()
    assert ev.predictions is not None
    truth, scores = ev.predictions.y_true, np.asarray(ev.predictions.scores.values)  # type: ignore[union-attr]
    series = made(ev, log_all=True).series
    for step, value in series["eval/thresholds/f1_by_threshold_pct"]:
        assert value == pytest.approx(f1_score(truth, scores >= step / 100), abs=1e-12)
    precision = dict(series["eval/thresholds/precision_by_threshold_pct"])
    for step in range(101):
        flagged = scores >= step / 100
        assert (step <= max(precision)) == flagged.any()
        if flagged.any():
            reported = np.interp(step, list(precision), list(precision.values()))
            assert reported == pytest.approx(precision_score(truth, flagged), abs=5e-3)


def test_decision_scores_have_no_grid_of_thresholds() -> None:
    series = made(binary(decisions=True), log_all=True).series
    assert "eval/curves/roc_tpr_by_fpr_pct" in series
    assert not any("threshold" in key for key in series)


def test_the_prefix_is_the_users() -> None:
    what = made(binary(), prefix="test/", log_all=True)
    assert all(key.startswith("test/") for key in (*what.metrics, *what.series, *what.images))


def test_the_threshold_is_a_metric() -> None:
    assert made(binary()).metrics["eval/threshold"] == 0.5
    assert "eval/threshold" not in made(multiclass()).metrics


def test_the_best_thresholds_are_metrics_with_keys_that_mlflow_takes() -> None:
    ev = binary()
    assert ev.sweep is not None
    what = made(ev, log_all=True).metrics
    best = {key: value for key, value in what.items() if key.startswith("eval/optima/")}
    assert best["eval/optima/f1_threshold"] == ev.sweep.optima["f1"].threshold  # type: ignore[union-attr]
    assert "eval/optima/recall_at_least_0.95_threshold" in best


def test_a_card_of_300_pixels_tells_the_metric() -> None:
    """Charts of MLflow cut a title there after about 30 characters: the general part takes 12 of them."""
    for ev in (binary(), multiclass()):
        for key in made(ev, log_all=True).metrics:
            section = key.rpartition("/")[0] + "/"
            assert len(section) <= len("eval/optima/") or section.startswith(
                ("eval/classes/", "eval/slices/")
            ), key


def test_the_digest_is_of_what_is_said_not_of_when(monkeypatch: pytest.MonkeyPatch) -> None:
    ev = binary()
    now = ev.with_provenance(replace(ev.provenance, made="2026-01-01T00:00:00", command="evalreport log -v"))
    assert made(ev).digest == made(now, page="another time").digest
    changed = [
        made(replace(ev, rows=301)),
        made(ev.with_provenance(replace(ev.provenance, title="Another"))),
        made(ev, prefix="test/"),
        made(ev, notes="Of a pilot."),
        made(ev),
    ]
    monkeypatch.setattr("evalreport.page.contents.__version__", "0.2.0")
    assert len({what.digest for what in (made(ev), *changed)}) == 1 + len(changed)


def test_the_description_says_the_verdict_and_the_numbers() -> None:
    finding = Finding("r", "error", "“<b>x</b>” is never *predicted*.", {})
    block = made(
        replace(binary(), findings=(finding, replace(finding, severity="note", claim="A note.")))
    ).description
    assert block.startswith("**Finds 73 of 96 positive cases and misses 23; ")
    assert "| Recall" in block
    assert "“&lt;b&gt;x&lt;/b&gt;” is never \\*predicted\\*." in block
    assert "A note." not in block
    assert "evalreport.html" in block


@given(st.text())
def test_no_name_writes_markdown_or_html(name: str) -> None:
    shown = as_text(name)
    assert "<" not in shown
    assert "\n" not in shown
    assert all(shown[place - 1] == "\\" for place, char in enumerate(shown) if char in "`*_[]#|~$")


@given(st.lists(st.text(max_size=8), max_size=5), st.lists(st.floats(allow_nan=False), max_size=5))
def test_no_cell_of_a_csv_begins_like_a_formula(texts: list[str], numbers: list[float]) -> None:
    n = min(len(texts), len(numbers))
    data = as_csv({"=name": texts[:n], "value": numbers[:n]}).decode()
    rows = list(csv.reader(io.StringIO(data, newline="")))
    assert rows[0] == ["'=name", "value"]
    for row, number in zip(rows[1:], numbers[:n], strict=False):
        assert not row[0].lstrip(" \0").startswith(("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠"))
        if len(row) > 1:
            assert float(row[1]) == number


def test_a_folder_gets_the_page_the_numbers_and_every_row() -> None:
    files = shown(multiclass(), {"confusion_matrix.png": png()}).files("<!doctype html>")
    assert set(files) == {
        "evalreport.html",
        "evaluation.json",
        "confusion_matrix.png",
        "classes.csv",
        "predictions.parquet",
    }
    rows = pq.read_table(io.BytesIO(files["predictions.parquet"])).to_pylist()
    assert len(rows) == 200
    assert set(rows[0]) == {"example_id", "y_true", "y_pred", "status", "reason"}
    assert [row["status"] == "right" for row in rows] == [row["y_true"] == row["y_pred"] for row in rows]


def test_every_threshold_is_in_the_folder() -> None:
    ev = binary()
    table = pq.read_table(io.BytesIO(present(ev).exports()["thresholds.parquet"])).to_pydict()
    assert ev.predictions is not None
    assert table["threshold"][:-1] == sorted(set(ev.predictions.scores.values.tolist()))  # type: ignore[union-attr]
    assert table["threshold"][-1] is None
    alone = replace(ev, predictions=None)
    assert whole_sweep(alone) is ev.sweep
    assert "predictions.parquet" not in present(alone).exports()


def test_unread_answers_have_their_reason_row_by_row() -> None:
    table = pq.read_table(io.BytesIO(present(text()).exports()["predictions.parquet"])).to_pylist()
    assert len(table[2].pop("text_digest")) == 16
    assert table[2] == {
        "example_id": "2",
        "y_true": "spam",
        "y_pred": None,
        "status": "unparsed",
        "reason": "refusal",
    }
    assert table[0]["reason"] == ""


def test_multilabel_rows_are_lists() -> None:
    table = pq.read_table(io.BytesIO(present(multilabel()).exports()["predictions.parquet"])).to_pylist()
    assert all(isinstance(row["y_true"], list) for row in table)
    assert {row["status"] for row in table} <= {"right", "wrong"}


def test_rows_that_nothing_decides() -> None:
    table = pq.read_table(io.BytesIO(present(binary(decisions=True)).exports()["predictions.parquet"]))
    assert set(table.to_pydict()["status"]) == {"undecided"}


def test_a_real_evaluation_goes_into_a_real_run(sqlite_store: Store, tmp_path: Path) -> None:
    run = make_run(sqlite_store, folder=tmp_path)
    what = made(multiclass(), log_all=True)
    assert MlflowSink(sqlite_store, run.run_id).log(what, timestamp=1).state == "written"
    held = sqlite_store.ask(lambda client: client.get_run(run.run_id)).data.metrics
    last = {key: points[-1][1] for key, points in what.series.items()}
    assert held == {**what.metrics, **last}
    assert all(math.isfinite(value) for value in held.values())
    assert (
        MlflowSink(sqlite_store, run.run_id).log(made(multiclass(), log_all=True), timestamp=2).state
        == "unchanged"
    )

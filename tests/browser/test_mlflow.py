"""The report where it will be read: in the artifact viewer of a real `mlflow server`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from evalreport.tracking.client import connect
from tests.cli.running import run as run_command
from tests.sweeping import DATA, parquet
from tests.tracking import MlflowServer, make_run

if TYPE_CHECKING:
    from playwright.sync_api import Page


NAME = "evalreport.html"
CHARTS = "[...document.querySelectorAll('.js-plotly-plot')].filter(plot => plot.data && plot.data.length)"


@pytest.mark.server
def test_the_artifact_viewer_shows_a_report_that_works(
    mlflow_ui: Page, mlflow_server: MlflowServer, written: Callable[[str], Path]
) -> None:
    text = written("binary-slices").read_text(encoding="utf-8")
    run = make_run(connect(mlflow_server.uri), {NAME: text})
    page = mlflow_ui
    page.set_viewport_size({"width": 1400, "height": 900})
    page.goto(f"{mlflow_server.uri}/#/experiments/{run.experiment_id}/runs/{run.run_id}/artifacts/{NAME}")
    page.wait_for_selector("iframe")
    element = page.query_selector("iframe")
    assert element is not None
    assert "allow-scripts" in (element.get_attribute("sandbox") or "")
    frame = element.content_frame()
    assert frame is not None
    frame.wait_for_selector("#threshold-slider", state="visible")
    box = element.bounding_box()
    assert box is not None
    assert 500 < box["width"] < 900
    assert frame.evaluate("document.documentElement.scrollWidth") <= box["width"]
    assert "malignant tumours" in frame.inner_text("h1")
    frame.click("button[data-key=f1]")
    assert frame.get_attribute("button[data-key=f1]", "aria-pressed") == "true"
    frame.click("nav a[href='#provenance']")
    assert frame.evaluate("document.activeElement.id") == "provenance-title"


@pytest.mark.server
def test_the_charts_lay_the_threshold_curves_of_two_runs_over_each_other(
    mlflow_ui: Page, mlflow_server: MlflowServer, capsys: pytest.CaptureFixture[str]
) -> None:
    store = connect(mlflow_server.uri)
    table = pd.read_parquet(DATA / "sms_spam" / "oof_scores.parquet")
    made = {}
    for name, column in (("bayes", "score_nb"), ("logistic", "score_lr")):
        rows = parquet(table[["example_id", "y_true"]].assign(score=table[column]))
        made[name] = make_run(store, {"predictions.parquet": rows}, name=name, experiment="overlaid")
    ids = [word for run in made.values() for word in ("--run-id", run.run_id)]
    command = ["sweep", "thresholds", *ids, "--positive", "spam", "--objective", "f1", "-q"]
    logging = ("--log", "--log-all", "--set", "resamples=100", "--tracking-uri", store.uri)
    assert run_command(capsys, *command, *logging).code == 0
    key = "eval/sweep/f1_by_threshold_pct"
    wanted = {
        name: {point.step: point.value for point in store.client.get_metric_history(run.run_id, key)}
        for name, run in made.items()
    }
    page = mlflow_ui
    page.set_viewport_size({"width": 1400, "height": 1000})
    where = f"experiments/{made['bayes'].experiment_id}/runs?compareRunsMode=CHART"
    page.goto(f"{mlflow_server.uri}/#/{where}")
    search = page.wait_for_selector("input[placeholder='Search metric charts']")
    assert search is not None
    search.fill("sweep/f1_by_threshold_pct")
    page.wait_for_function(f"{CHARTS}.length === 1 && {CHARTS}[0].data.length >= 2")
    lines = page.evaluate(f"{CHARTS}[0].data.map(line => [line.name, [...line.x], [...line.y]])")
    assert {name for name, _, _ in lines} == set(made)
    for name, steps, values in lines:
        assert dict(zip(steps, values, strict=True)) == pytest.approx(wanted[name])

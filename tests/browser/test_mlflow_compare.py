"""What the README says of the MLflow UI, seen in a browser: four runs of `evalreport log`, side by side."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from evalreport.cli import main
from evalreport.tracking.client import connect
from tests.tracking import MlflowServer, make_run

if TYPE_CHECKING:
    from playwright.sync_api import Page


pytestmark = pytest.mark.server

MODELS = ("lr", "lr_balanced", "rf", "histgb")
SMS = Path(__file__).parents[2] / "examples" / "data" / "sms_spam" / "oof_scores.parquet"
CURVES = ("curves/pr_precision_by_recall_pct", "curves/roc_tpr_by_fpr_pct", "thresholds/f1_by_threshold_pct")
PLOTS = "[...document.querySelectorAll('.js-plotly-plot')]"


@dataclass(frozen=True)
class Logged:
    """Four runs with scores and two with classes, in an experiment each, as `evalreport log` left them."""

    uri: str
    experiments: dict[str, str]
    runs: dict[str, list[str]]

    def address(self, experiment: str, mode: str) -> str:
        """A tab of an experiment."""
        return f"{self.uri}/#/experiments/{self.experiments[experiment]}/runs?compareRunsMode={mode}"


def triage(skill: float) -> str:
    """Answers of a model with three classes, as CSV."""
    rng = np.random.default_rng(int(100 * skill))
    names = np.array(["urgent", "soon", "later"])
    truth = rng.integers(0, 3, 90)
    answer = np.where(rng.random(90) < skill, truth, rng.integers(0, 3, 90))
    return str(pd.DataFrame({"y_true": names[truth], "y_pred": names[answer]}).to_csv(index=False))


@pytest.fixture(scope="module")
def logged(mlflow_server: MlflowServer) -> Logged:
    store = connect(mlflow_server.uri)
    table = pd.read_parquet(SMS).iloc[:400]
    found = Logged(mlflow_server.uri, {}, {"spam-ui": [], "triage-ui": []})
    for place, model in enumerate(MODELS):
        spam = table[["example_id", "y_true"]].assign(
            score=table[f"score_{model}" if place != 1 else "score_nb"]
        )
        files = {"spam-ui": spam.to_csv(index=False)}
        if place < 2:
            files["triage-ui"] = triage(0.5 + 0.3 * place)
        for experiment, text in files.items():
            run = make_run(store, {"predictions.csv": text}, experiment=experiment, name=f"{model}-1")
            found.experiments[experiment] = run.experiment_id
            found.runs[experiment].append(run.run_id)
    for experiment in found.experiments:
        few = ["--metrics", "recall,precision,f1,roc_auc" if experiment == "spam-ui" else "accuracy,f1_macro"]
        with pytest.raises(SystemExit) as stop:
            main(["log", "--tracking-uri", found.uri, "--experiment", experiment, "-q", "--log-all", *few])
        assert stop.value.code == 0
    return found


@pytest.fixture
def ui(mlflow_ui: Page, logged: Logged) -> Page:
    """The UI of MLflow as large as a desk's screen, and the runs of this file in its store."""
    mlflow_ui.set_viewport_size({"width": 1600, "height": 1400})
    return mlflow_ui


def choose(page: Page, file: str) -> None:
    """Press a file of the compare page, which lies under a floating button."""
    page.get_by_text(file, exact=True).first.evaluate("e => { e.scrollIntoView(); e.click() }")


def test_the_compare_page_shows_reports_and_figures_side_by_side(ui: Page, logged: Logged) -> None:
    runs = json.dumps(logged.runs["spam-ui"])
    ui.goto(
        f"{logged.uri}/#/compare-runs?runs={runs}&experiments={json.dumps([logged.experiments['spam-ui']])}"
    )
    choose(ui, "evalreport.html")
    ui.wait_for_function("() => document.querySelectorAll('iframe').length === 4")
    boxes, shown = [], []
    for element in ui.query_selector_all("iframe"):
        frame = element.content_frame()
        assert frame is not None
        frame.wait_for_selector("h1")
        shown.append(frame.inner_text("#verdict"))
        third = frame.query_selector_all("#verdict tbody tr")[2].bounding_box()
        box = element.bounding_box()
        assert third is not None
        assert box is not None
        assert third["y"] + third["height"] <= box["y"] + box["height"], "three rows fit into the frame"
        boxes.append(box)
    assert len({box["y"] for box in boxes}) == 1, "they stand side by side"
    assert sorted(text.split()[0] for text in shown) == sorted(f"{model}-1" for model in MODELS)
    for figure in ("evalreport_roc_curve.png", "evalreport_pr_curve.png", "evalreport_confusion_matrix.png"):
        choose(ui, figure)
        loaded = "() => [...document.images].filter(i => i.src.startsWith('blob:') && i.offsetWidth > 200)"
        ui.wait_for_function(f"{loaded}.length === 4")


def test_the_charts_tab_overlays_the_curves_of_four_runs(ui: Page, logged: Logged) -> None:
    ui.goto(logged.address("spam-ui", "CHART"))
    ui.get_by_placeholder("Search metric charts").fill("|".join(f"^eval/{key}$" for key in CURVES))
    ui.get_by_text(f"eval/{CURVES[-1]}", exact=True).wait_for()
    drawn = f"() => {PLOTS}.length === {len(CURVES)} && {PLOTS}.every(plot => plot.data.length >= 4)"
    ui.wait_for_function(drawn)
    for lines in ui.evaluate(f"() => {PLOTS}.map(p => p.data.map(line => [line.name, line.x.length]))"):
        points = dict(lines)
        assert set(points) == {f"{model}-1" for model in MODELS}
        assert min(points.values()) >= 11, "at least one for each ten percent"


def test_the_table_tab_compares_classes_across_runs(ui: Page, logged: Logged) -> None:
    ui.goto(logged.address("triage-ui", "ARTIFACT"))
    ui.get_by_text("Compare:").wait_for()
    ui.get_by_test_id("dropdown-tables").click()
    ui.get_by_role("option", name="evalreport/classes.json").click()
    ui.get_by_role("option", name="evalreport/metrics.json").click()
    ui.keyboard.press("Escape")
    ui.get_by_text("urgent", exact=True).wait_for()
    text = ui.inner_text("body")
    assert text.index("Group by:\nlabel") < text.index("Compare:\nf1")
    client = connect(logged.uri).client
    for run_id in logged.runs["triage-ui"]:
        f1 = client.get_run(run_id).data.metrics["eval/classes/f1/urgent"]
        ui.get_by_text(f"{f1:.6g}", exact=True).wait_for()


def test_the_description_of_a_run_begins_with_the_verdict(ui: Page, logged: Logged) -> None:
    run_id = logged.runs["spam-ui"][0]
    verdict = connect(logged.uri).client.get_run(run_id).data.tags["evalreport.verdict"]
    ui.goto(f"{logged.uri}/#/experiments/{logged.experiments['spam-ui']}/runs/{run_id}")
    ui.locator("strong", has_text=verdict[:40]).wait_for()

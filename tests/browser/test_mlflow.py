"""The report where it will be read: in the artifact viewer of a real `mlflow server`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from evalreport.sources.mlflow_client import connect
from tests.tracking import MlflowServer, make_run

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAME = "evalreport.html"


@pytest.mark.server
def test_the_artifact_viewer_shows_a_report_that_works(
    browser: Browser, mlflow_server: MlflowServer, written: Callable[[str], Path]
) -> None:
    text = written("binary-slices").read_text(encoding="utf-8")
    run = make_run(connect(mlflow_server.uri), {NAME: text})
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.goto(f"{mlflow_server.uri}/#/experiments/{run.experiment_id}/runs/{run.run_id}/artifacts/{NAME}")
    page.wait_for_selector("iframe", timeout=60_000)
    element = page.query_selector("iframe")
    assert element is not None
    assert "allow-scripts" in (element.get_attribute("sandbox") or "")
    frame = element.content_frame()
    assert frame is not None
    frame.wait_for_selector("#threshold-slider", state="visible", timeout=60_000)
    box = element.bounding_box()
    assert box is not None
    assert 500 < box["width"] < 900
    assert frame.evaluate("document.documentElement.scrollWidth") <= box["width"]
    assert "malignant tumours" in frame.inner_text("h1")
    frame.click("button[data-key=f1]")
    assert frame.get_attribute("button[data-key=f1]", "aria-pressed") == "true"
    frame.click("nav a[href='#provenance']")
    assert frame.evaluate("document.activeElement.id") == "provenance-title"
    page.close()

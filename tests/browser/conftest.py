"""One Chromium for the whole session, and the pages that it opens."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import evalreport as er
from evalreport.comparison.compare import compare
from evalreport.comparison.comparison import Comparison
from evalreport.page.render import render
from tests.features.studies.test_page import single, two_goals
from tests.features.systems.test_page import drawn
from tests.intervals.test_folds import evaluated as of_folds
from tests.page.made import evaluation, made, multiclass
from tests.page.sweeps import made as chosen
from tests.page.test_comparison import several
from tests.tracking import MlflowServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Dialog, Frame, Page, Request


NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--disable-dev-shm-usage",
    "--no-first-run",
)
SWEEPS = {"sweep": single, "sweep-goals": two_goals}
WAIT = 120_000
"""Milliseconds; Playwright's 30 s (5 s of `expect`) are little for a busy machine."""
AXE = Path(__file__).parent / "vendor" / "axe-core" / "axe.min.js"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder needs a browser."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)


@cache
def two_models() -> Comparison:
    """Two models of one rare class, one of them the better by far, with tied scores."""
    rng = np.random.default_rng(7)
    truth = rng.random(600) < 0.1
    runs = []
    for strength in (1.0, 2.5):
        scores = np.round(1 / (1 + np.exp(2 - strength * truth - rng.normal(size=600))), 2)
        runs.append(er.evaluate(truth.astype(int), scores=er.Probabilities(scores)))
    return compare(runs, names=["old", "new"])


COMPARED: dict[str, Callable[[], Any]] = {
    "comparison-two": two_models,
    "comparison": lambda: several("binary-slices", 3),
    "systems": lambda: drawn({"new": 0.8, "old": 0.6, "older": 0.59}),
}


def page_of(kind: str) -> str:
    """The page of an evaluation, of 77 classes (``many``), of a sweep, or of chosen ``thresholds-…``."""
    if kind in SWEEPS:
        return render(SWEEPS[kind]())
    if kind.startswith("thresholds-"):
        return render(chosen(kind.removeprefix("thresholds-")))
    if kind in COMPARED:
        return render(COMPARED[kind]())
    if kind == "folds":
        return render(of_folds())
    ev = evaluation(multiclass(77, 1500)) if kind == "many" else made(kind)
    return render(ev)


def chromium() -> str | None:
    """Path of the browser: ``$CHROMIUM``, or one on the path."""
    named = os.environ.get("CHROMIUM")
    return named or next((found for name in NAMES if (found := shutil.which(name))), None)


def patient(browser: Browser, **options: Any) -> BrowserContext:
    """Return a context that waits as long as a busy machine takes."""
    context = browser.new_context(**options)
    context.set_default_timeout(WAIT)
    return context


def until(frame: Frame, condition: str) -> None:
    """Wait by asking again and again: a page whose policy forbids `eval` cannot watch for itself."""
    end = time.monotonic() + WAIT / 1000
    while not frame.evaluate(condition):
        assert time.monotonic() < end, condition
        frame.wait_for_timeout(20)


def listen(page: Page, trouble: list[str], address: str) -> Callable[[], None]:
    """Write down messages, errors, dialogs and requests other than for the page; returns how to end that."""

    def requested(request: Request) -> None:
        if request.url.split("#")[0] != address:
            trouble.append(f"request: {request.url}")

    def asked(dialog: Dialog) -> None:
        trouble.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    heard: dict[str, Callable[[Any], None]] = {
        "console": lambda message: trouble.append(f"console: {message.text}"),
        "pageerror": lambda error: trouble.append(f"error: {error}"),
        "dialog": asked,
        "request": requested,
    }

    def end() -> None:
        for event, listener in heard.items():
            page.remove_listener(event, listener)

    for event, listener in heard.items():
        page.on(event, listener)  # type: ignore[call-overload]
    return end


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless Chromium; without one the test is skipped, but on CI that is a failure."""
    path = chromium()
    if path is None:
        message = "no Chromium: install it, or set CHROMIUM to its path"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=WAIT)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=ARGUMENTS, timeout=WAIT)
        yield started
        started.close()


@pytest.fixture(scope="session")
def mlflow_ui(browser: Browser, mlflow_server: MlflowServer) -> Page:
    """One page with the UI of MLflow loaded once, for seconds of CPU: who uses it moves inside it."""
    page = patient(browser).new_page()
    page.goto(mlflow_server.uri)
    return page


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Writes the page of a kind once and returns its path."""
    folder = tmp_path_factory.mktemp("pages")

    def write(kind: str) -> Path:
        path = folder / f"{kind}.html"
        if not path.exists():
            path.write_text(page_of(kind), encoding="utf-8")
        return path

    return write


@pytest.fixture(scope="session")
def free() -> dict[frozenset[tuple[str, Any]], list[Page]]:
    """Empty pages by the options of their contexts: a new one takes half a second, a used one a quarter."""
    return {}


@pytest.fixture
def opened(
    browser: Browser, written: Callable[[str], Path], free: dict[frozenset[tuple[str, Any]], list[Page]]
) -> Iterator[Callable[..., Page]]:
    """Opens a file, or the page of a kind; a message, an error or a request fails the test at its end."""
    taken = []
    trouble: list[str] = []

    def open_page(kind: str | Path, *, width: int = 1400, height: int = 900, **options: Any) -> Page:
        key = frozenset(options.items())
        page = free[key].pop() if free.get(key) else patient(browser, **options).new_page()
        page.set_viewport_size({"width": width, "height": height})
        address = (written(kind) if isinstance(kind, str) else kind).as_uri()
        taken.append((key, page, listen(page, trouble, address)))
        page.goto(address)
        return page

    yield open_page
    for key, page, end in taken:
        end()
        page.goto("about:blank")
        page.emulate_media(media="null", color_scheme="null")
        free.setdefault(key, []).append(page)
    assert trouble == []

"""The report in a real browser: no message, no request, no barrier, at any width and in both schemes."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

from tests.browser.conftest import AXE, patient, until

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Open = Callable[..., "Page"]
SWEPT = ("sweep-goals", "thresholds-binary", "thresholds-multiclass-tuned", "thresholds-multilabel-tuned")
PAGES = (
    "binary-slices",
    "twenty",
    "text",
    "multilabel-thresholds",
    "sweep",
    "comparison",
    "comparison-two",
    "systems",
    "folds",
    "many",
    *SWEPT,
)
SAME_STYLES = ("folds", "many", "sweep-goals", "thresholds-multiclass-tuned", "thresholds-multilabel-tuned")
"""Pages each of whose elements stands on another page with the same classes, the lengths of bars apart."""
LAYOUTS: tuple[tuple[int, Literal["light", "dark"]], ...] = ((1400, "light"), (360, "dark"))
"""Each layout and each scheme once: below 736 px all widths have one layout, and colours that an element has
in the other scheme there are those of `test_style.py`, which reckons every pair in both."""
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@pytest.mark.parametrize("kind", PAGES)
def test_no_barriers(opened: Open, kind: str) -> None:
    page = opened(kind, bypass_csp=True)
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    page.add_script_tag(path=AXE)
    for width, scheme in LAYOUTS:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        assert barriers(page, contrast=kind not in SAME_STYLES) == [], (kind, width, scheme)


def barriers(page: Page, *, contrast: bool) -> object:
    """What axe finds; more than half of its time goes into contrast."""
    return page.evaluate(
        "([values, rules]) => axe.run({runOnly: {type: 'tag', values}, rules, resultTypes: ['violations']})"
        ".then(r => r.violations.map(v => [v.id, v.nodes.slice(0, 3).map(n => n.html)]))",
        [RULES, {} if contrast else {"color-contrast": {"enabled": False}}],
    )


@pytest.mark.parametrize("kind", [*PAGES, "one-row", "collapsed", "binary-ranking"])
def test_nothing_runs_off_a_narrow_screen(opened: Open, kind: str) -> None:
    page = opened(kind, width=320, height=640)
    for width in (320, 560, 736, 1088):  # where a rule of the stylesheet begins, it has the least room
        page.set_viewport_size({"width": width, "height": 700})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("kind", ["binary-slices", "many", "text", "multilabel-thresholds"])
def test_no_table_is_cut_off_on_a_wide_screen(opened: Open, kind: str) -> None:
    page = opened(kind)
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    cut = page.evaluate(
        "[...document.querySelectorAll('.scroll')].filter(b => b.scrollWidth > b.clientWidth + 1)"
        ".map(b => b.getAttribute('aria-label'))"
    )
    assert cut == []


@pytest.mark.parametrize(
    "kind", ["binary-slices", "many", "text", "multilabel-thresholds", "thresholds-multilabel-tuned"]
)
def test_first_screen(opened: Open, kind: str) -> None:
    page = opened(kind)

    def bottom(selector: str, place: int = 0) -> float:
        box = page.locator(selector).nth(place).bounding_box()
        assert box is not None, selector
        return box["y"] + box["height"]

    assert bottom(".forest tbody tr", page.locator(".forest tbody tr").count() - 1) <= 900
    if page.locator(".warnings li").count():
        assert bottom(".warnings li") <= 900
    page.set_viewport_size({"width": 360, "height": 740})
    assert bottom("h1") <= 740
    if not kind.startswith("thresholds"):
        assert bottom(".bars svg") <= 740


@pytest.mark.parametrize(
    "kind", ["binary-slices", "many", "multilabel-thresholds", "thresholds-binary-standard"]
)
def test_compare_page_of_mlflow_shows_name_verdict_and_three_rows(opened: Open, kind: str) -> None:
    page = opened(kind, width=318, height=150)
    for selector, wanted in (
        ("h1", 1),
        (".kicker strong >> visible=true", 1),
        (".forest tbody tr >> visible=true", 3),
    ):
        found = page.locator(selector)
        assert found.count() == wanted, selector
        for place in range(wanted):
            box = found.nth(place).bounding_box()
            assert box is not None
            assert box["y"] >= 0
            assert box["y"] + box["height"] <= 150, selector
    assert page.locator("text=calm-heron-412").first.is_visible()
    second = page.locator("main > section").nth(1).bounding_box()
    assert second is not None
    assert second["y"] >= 150
    assert page.evaluate("document.documentElement.scrollWidth") <= 318


@pytest.mark.parametrize("kind", [kind for kind in PAGES if kind not in SAME_STYLES])
def test_without_scripts_nothing_is_missing(opened: Open, kind: str) -> None:
    on, off = opened(kind), opened(kind, java_script_enabled=False)
    assert off.locator("[data-live] >> visible=true").count() == 0
    assert off.locator("main button >> visible=true").count() == 0
    static = off.locator("main").text_content() or ""
    for cell in on.locator("main :is(td, th, dd, h1, .summary, text, .warnings li)").all_text_contents():
        assert cell.strip() in static, cell


def test_print_unrolls_tables_and_leaves_folded_what_is_folded(opened: Open) -> None:
    page = opened("many", color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") in (
        "rgba(0, 0, 0, 0)",
        "rgb(255, 255, 255)",
    )
    assert page.locator("nav").is_hidden()
    boxes = page.evaluate(
        "[...document.querySelectorAll('.scroll')].map(b => b.scrollHeight - b.clientHeight)"
    )
    assert max(boxes) <= 1
    pdf = page.pdf(format="A4")
    assert pdf.startswith(b"%PDF")
    assert len(pdf) > 50_000
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 5
    assert page.locator("#classes-first tbody tr >> visible=true").count() == 8
    assert page.locator("details:not([open], .kin, .t *) >> visible=true").count() == 0
    assert page.locator(".kins .confusion >> visible=true").count() > 0


def test_several_runs_are_printed_on_six_pages(opened: Open) -> None:
    page = opened("comparison")
    folded = page.locator("details:not([open], .kin, .t *)")
    assert folded.count() > 0
    pdf = page.pdf(format="A4")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 6
    page.emulate_media(media="print")
    assert not any(one.is_visible() for one in folded.all()), "nothing of what is folded"


def test_a_changed_script_does_not_run(
    browser: Browser, written: Callable[[str], Path], tmp_path: Path
) -> None:
    text = written("binary-slices").read_text(encoding="utf-8")
    spoiled = tmp_path / "spoiled.html"
    spoiled.write_text(text.replace('"use strict";', '"use strict"; '), encoding="utf-8")
    page = patient(browser).new_page()
    messages: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    page.goto(spoiled.as_uri())
    assert any("Content Security Policy" in message for message in messages)
    assert page.locator("#threshold-slider").is_hidden()
    page.context.close()


def sandboxed(page: Page, text: str, sandbox: str, *, blob: bool) -> Any:
    """A frame with a report of a binary problem; returns it once its script has run."""
    frame = framed(page, text, sandbox, blob=blob)
    frame.wait_for_selector("#threshold-slider", state="visible")
    return frame


def framed(page: Page, text: str, sandbox: str, *, blob: bool, width: int = 700) -> Any:
    """A frame as MLflow and others make one."""
    page.set_content(
        f"<!doctype html><title>host</title><iframe title=report width={width} height=600></iframe>"
    )
    page.evaluate(
        """([text, sandbox, blob]) => {
            const frame = document.querySelector("iframe");
            frame.setAttribute("sandbox", sandbox);
            if (blob) frame.src = URL.createObjectURL(new Blob([text], {type: "text/html"}));
            else frame.srcdoc = text;
        }""",
        [text, sandbox, blob],
    )
    element = page.query_selector("iframe")
    assert element is not None
    frame = element.content_frame()
    assert frame is not None
    return frame


@pytest.mark.parametrize("blob", [False, True], ids=["srcdoc", "blob"])
@pytest.mark.parametrize("sandbox", ["allow-scripts", "allow-scripts allow-same-origin"])
def test_works_in_a_sandboxed_frame(
    browser: Browser, written: Callable[[str], Path], sandbox: str, blob: bool
) -> None:
    page = patient(browser).new_page()
    messages: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    frame = sandboxed(page, written("binary-slices").read_text(encoding="utf-8"), sandbox, blob=blob)
    frame.click("button[data-key=f1]")
    assert frame.get_attribute("button[data-key=f1]", "aria-pressed") == "true"
    frame.click("nav a[href='#provenance']")
    until(frame, "document.querySelector('#provenance').getBoundingClientRect().top < 200")
    assert frame.evaluate("document.activeElement.id") == "provenance-title"
    assert [text for text in messages if "can escape its sandboxing" not in text] == []
    page.context.close()


@pytest.mark.parametrize("kind", ["sweep", "thresholds-multilabel-tuned"])
def test_tables_of_a_sweep_work_in_a_sandboxed_frame(
    browser: Browser, written: Callable[[str], Path], kind: str
) -> None:
    page = patient(browser).new_page()
    messages: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    frame = framed(page, written(kind).read_text(encoding="utf-8"), "allow-scripts", blob=True, width=900)
    frame.wait_for_load_state()  # else a fold that is parsed later stays closed
    frame.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true; })")
    frame.wait_for_selector(".controls", state="visible")
    name = "trials" if kind == "sweep" else "labels"
    first = f"#{name}-table tbody tr:first-child th"
    before = frame.inner_text(first)
    frame.click(f"#{name}-table thead th:nth-child(3) button")
    frame.click(f"#{name}-table thead th:nth-child(3) button")
    assert frame.inner_text(first) != before
    frame.click("nav a[href='#history']")
    assert frame.evaluate("document.activeElement.id") == "history-title"
    assert messages == []
    page.context.close()

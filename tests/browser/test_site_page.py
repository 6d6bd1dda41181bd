"""The front page of a site in a browser: filter, order, columns, two runs, and the same without scripts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from evalreport.features.site.page import render_board, site_files
from tests.browser.conftest import listen, patient
from tests.features.site.test_site import made_up

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture
def front(browser: Browser, tmp_path: Path) -> Iterator[Callable[..., Page]]:
    """Opens the front page of thirty runs; every message, error or request fails the test."""
    path = tmp_path / "index.html"
    path.write_text(render_board(made_up(30)), encoding="utf-8")
    trouble: list[str] = []
    contexts = []

    def open_it(**options: object) -> Page:
        context = patient(browser, **options)
        contexts.append(context)
        page = context.new_page()
        listen(page, trouble, path.as_uri())
        page.goto(path.as_uri())
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert not trouble


def names(page: Page) -> list[str]:
    return list(page.locator("#lb tbody tr:visible th a").all_inner_texts())


def test_runs_are_found_ordered_and_compared(front: Callable[..., Page]) -> None:
    page = front()
    every = names(page)
    assert len(every) == 30
    page.fill("#find", "strength=1.5")
    assert names(page) == ["word-features-015"]
    page.fill("#find", "#candidate features-02")
    assert sorted(names(page)) == [f"word-features-{k:03d}" for k in range(20, 30)]
    page.fill("#find", "#nothing")
    assert page.inner_text("#status").startswith("Nothing matches")
    page.fill("#find", "")
    page.select_option("#only", "tied")
    assert 0 < len(names(page)) < 30
    page.select_option("#only", "")
    page.click("#lb thead button:has-text('Run')")
    assert names(page) == sorted(every)
    page.click(".cols summary")
    page.uncheck(".checks label:has-text('model') input")
    assert not page.locator("#lb thead th:has-text('model')").is_visible()
    page.keyboard.press("Escape")
    page.click(".cols summary")
    for name in ("word-features-029", "word-features-003"):  # the reference, and another
        page.check(f"input[aria-label='Compare {name}']")
    assert str(page.get_attribute("#pair", "href")).startswith("compare/word-features-003-")
    page.uncheck("input[aria-label='Compare word-features-029']")
    page.check("input[aria-label='Compare word-features-004']")
    assert "evalreport compare --run-id" in page.inner_text("#pair")


@pytest.mark.parametrize("width", [360, 1400])
def test_without_scripts_it_is_a_sorted_table_that_fits(front: Callable[..., Page], width: int) -> None:
    page = front(java_script_enabled=False, viewport={"width": width, "height": 800})
    values = [
        float(text.strip("%")) for text in page.locator("#lb tbody td:nth-child(3) b").all_inner_texts()
    ]
    assert values == sorted(values, reverse=True)
    assert not page.locator("#find").is_visible()
    box = page.locator("main").bounding_box()
    assert box is not None and box["x"] + box["width"] <= width


def test_a_few_runs_need_no_filter(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "index.html"
    path.write_text(render_board(made_up(3)), encoding="utf-8")
    context = patient(browser)
    page = context.new_page()
    page.goto(path.as_uri())
    assert len(names(page)) == 3 and page.is_visible(".cols summary")
    assert not page.is_visible("#find") and not page.is_visible("#only")
    context.close()


def test_paper_shows_whole_numbers_beside_the_history(front: Callable[..., Page]) -> None:
    page = front()
    page.emulate_media(media="print")
    left = "n => n.getBoundingClientRect().left"
    edge = page.locator(".timeline").evaluate(left)
    assert min(label.evaluate(left) for label in page.locator(".time .end").all()) >= edge


class Host(SimpleHTTPRequestHandler):
    """A web host that says nothing."""

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


def test_a_web_host_serves_it(browser: Browser, tmp_path: Path) -> None:
    board = made_up(9)
    reports = {f"runs/{run.stem}.html": f"<title>{run.name}</title>".encode() for run in board.runs}
    for path, data in {**site_files(board), **reports}.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(data)
    trouble: list[str] = []
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Host, directory=str(tmp_path))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/index.html"
        context = patient(browser)
        page = context.new_page()
        listen(page, trouble, address)
        page.goto(address)
        page.fill("#find", "features-002")
        assert names(page) == ["word-features-002"]
        assert not trouble
        page.click("#lb tbody tr:visible th a")
        assert page.title() == "word-features-002"
        context.close()
        server.shutdown()

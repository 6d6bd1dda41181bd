"""Hostile names in a real browser, with the page's policy and without: nothing runs, nothing is added."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from evalreport.report.render import render
from tests.browser.conftest import listen
from tests.report.made import renamed
from tests.report.test_shape import CORPUS, TASKS

if TYPE_CHECKING:
    from playwright.sync_api import Browser

COUNT = "document.querySelectorAll('*').length"
HANDLERS = """[...document.querySelectorAll("*")]
    .filter(element => [...element.attributes].some(attribute => attribute.name.startsWith("on"))).length"""


@pytest.mark.parametrize("bypass", [False, True], ids=["policy", "no policy"])
@pytest.mark.parametrize("task", TASKS)
def test_nothing_of_a_name_runs(browser: Browser, tmp_path: Path, task: str, bypass: bool) -> None:
    pages = {
        "hostile": render(renamed(task, CORPUS)),
        "plain": render(renamed(task, [f"name{n}".ljust(len(name), "x") for n, name in enumerate(CORPUS)])),
    }
    context = browser.new_context(bypass_csp=bypass, viewport={"width": 360, "height": 700})
    counts = {}
    for name, text in pages.items():
        path = tmp_path / f"{name}.html"
        path.write_text(text, encoding="utf-8")
        page = context.new_page()
        trouble: list[str] = []
        listen(page, trouble, path.as_uri())
        page.goto(path.as_uri())
        page.wait_for_timeout(50)
        assert trouble == []
        assert page.evaluate("document.scripts.length") == 2
        assert page.evaluate(HANDLERS) == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        counts[name] = page.evaluate(COUNT)
        page.close()
    context.close()
    if task != "multiclass":  # families and mix-ups differ with the order of the names
        assert counts["hostile"] == counts["plain"]

"""Hostile names in a real browser, with the page's policy and without: nothing runs, nothing is added."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from evalreport.report.render import render
from tests.browser.conftest import listen, patient
from tests.report.made import renamed
from tests.report.sweeps import hostile
from tests.report.test_shape import CORPUS, TASKS
from tests.report.test_study import named

if TYPE_CHECKING:
    from playwright.sync_api import Browser

COUNT = "document.querySelectorAll('*:not(wbr)').length"  # names wrap where they have marks
HANDLERS = """[...document.querySelectorAll("*")]
    .filter(element => [...element.attributes].some(attribute => attribute.name.startsWith("on"))).length"""


MAKERS: dict[str, Callable[[Sequence[str]], str]] = {
    **{task: lambda names, task=task: render(renamed(task, names)) for task in TASKS},  # type: ignore[misc]
    **{
        f"thresholds, {task}": lambda names, task=task: render(hostile(task, names))  # type: ignore[misc]
        for task in TASKS
    },
    "sweep": lambda names: render(named(tuple(names))),
}


@pytest.mark.parametrize("bypass", [False, True], ids=["policy", "no policy"])
@pytest.mark.parametrize("kind", MAKERS)
def test_nothing_of_a_name_runs(browser: Browser, tmp_path: Path, kind: str, bypass: bool) -> None:
    pages = {
        "hostile": MAKERS[kind](CORPUS),
        "plain": MAKERS[kind]([f"name{n}".ljust(len(name), "x") for n, name in enumerate(CORPUS)]),
    }
    context = patient(browser, bypass_csp=bypass, viewport={"width": 360, "height": 700})
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
    if kind not in ("multiclass", "sweep"):  # families and mix-ups differ with the order of the names
        assert counts["hostile"] == counts["plain"]

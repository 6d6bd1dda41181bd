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


@pytest.mark.parametrize("kind", MAKERS)
def test_nothing_of_a_name_runs(browser: Browser, tmp_path: Path, kind: str) -> None:
    hostile, plain = tmp_path / "hostile.html", tmp_path / "plain.html"
    hostile.write_text(MAKERS[kind](CORPUS), encoding="utf-8")
    harmless = [f"name{n}".ljust(len(name), "x") for n, name in enumerate(CORPUS)]
    plain.write_text(MAKERS[kind](harmless), encoding="utf-8")
    counts = {elements(browser, hostile, bypass) for bypass in (False, True)}
    assert len(counts) == 1
    if kind not in ("multiclass", "sweep"):  # families and mix-ups differ with the order of the names
        assert counts == {elements(browser, plain, bypass=False)}


def elements(browser: Browser, path: Path, bypass: bool) -> int:
    """Open a page with its policy or without; how many elements it has when nothing of it ran."""
    context = patient(browser, bypass_csp=bypass, viewport={"width": 360, "height": 700})
    page = context.new_page()
    trouble: list[str] = []
    listen(page, trouble, path.as_uri())
    page.goto(path.as_uri())
    page.wait_for_timeout(50)
    assert trouble == []
    assert page.evaluate("document.scripts.length") == 2
    assert page.evaluate(HANDLERS) == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    count = int(page.evaluate(COUNT))
    context.close()
    return count

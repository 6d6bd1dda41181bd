"""Hostile names in a real browser, with the page's policy and without: nothing runs, nothing is added."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from evalreport.page.render import render
from tests.features.studies.test_page import named
from tests.page.made import renamed
from tests.page.sweeps import hostile
from tests.page.test_shape import CORPUS, TASKS

if TYPE_CHECKING:
    from playwright.sync_api import Page


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
def test_nothing_of_a_name_runs(opened: Callable[..., Page], tmp_path: Path, kind: str) -> None:
    hostile, plain = tmp_path / "hostile.html", tmp_path / "plain.html"
    hostile.write_text(MAKERS[kind](CORPUS), encoding="utf-8")
    harmless = [f"name{n}".ljust(len(name), "x") for n, name in enumerate(CORPUS)]
    plain.write_text(MAKERS[kind](harmless), encoding="utf-8")
    counts = {elements(opened(hostile, width=360, bypass_csp=bypass)) for bypass in (False, True)}
    assert len(counts) == 1
    if kind not in ("multiclass", "sweep"):  # families and mix-ups differ with the order of the names
        assert counts == {elements(opened(plain, width=360, bypass_csp=False))}


def elements(page: Page) -> int:
    """How many elements a page has, of which none runs."""
    page.wait_for_timeout(50)
    assert page.evaluate("document.scripts.length") == 2
    assert page.evaluate(HANDLERS) == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    return int(page.evaluate(COUNT))

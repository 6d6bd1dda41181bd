"""The first screen of a comparison in the browser: what it says, within its budget, and without being cut."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

Open = Callable[..., "Page"]
FIRST = (170, 45)
"""Words and numbers of the first screen, 1,400 by 900 pixels."""
BUDGETS = {"comparison-two": (530, 250, 4.6), "comparison": (650, 300, 4.6)}
"""Words, numbers and screens of 900 pixels with the folds closed, without the box to copy from."""
TEXTS = """seen => {
    const found = [], main = document.querySelector("main");
    const walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
    for (let node; (node = walker.nextNode());) {
        const parent = node.parentElement, range = document.createRange();
        if (!node.textContent.trim() || !parent.checkVisibility({ visibilityProperty: true })) continue;
        if (parent.closest(".vh,title,desc,option,textarea,a[download]")) continue;
        range.selectNodeContents(node);
        const box = range.getBoundingClientRect();
        if (!seen || (box.width > 1 && box.bottom <= innerHeight)) found.push(node.textContent);
    }
    return found.join(" ");
}"""


def words(text: str) -> int:
    return sum(bool(re.search("[A-Za-z]", word)) for word in text.split())


def numbers(text: str) -> int:
    return len(re.findall(r"\d[\d,.]*", text))


@pytest.mark.parametrize("kind", BUDGETS)
def test_a_comparison_stays_within_its_budgets(opened: Open, kind: str) -> None:
    page = opened(kind)
    most_words, most_numbers, screens = BUDGETS[kind]
    first, text = page.evaluate(TEXTS, True), page.evaluate(TEXTS, False)
    assert words(text) <= most_words and numbers(text) <= most_numbers
    assert words(first) <= FIRST[0] and numbers(first) <= FIRST[1], first
    assert page.evaluate("document.documentElement.scrollHeight") <= 900 * screens


@pytest.mark.parametrize("kind", BUDGETS)
@pytest.mark.parametrize("width", [390, 1400])
def test_each_run_has_a_line_and_no_number_is_cut(opened: Open, kind: str, width: int) -> None:
    page = opened(kind, width=width)
    lines = page.locator(".runline:not(.head)")
    assert lines.count() == (2 if kind == "comparison-two" else 3)
    for line in lines.all():
        assert line.locator("small").inner_text()
        assert line.locator("svg path.ci, svg path.past").count() >= 1
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    outside = page.evaluate(
        """() => [...document.querySelectorAll(".rowbar text")].filter(text => {
            const box = text.getBoundingClientRect(), cell = text.closest(".rowbar").getBoundingClientRect();
            return box.right > cell.right + 1 || box.left < cell.left;
        }).map(text => text.textContent)"""
    )
    assert outside == []
    heads = page.locator(".versus h2").all_text_contents()
    assert heads == [
        "Next step: which one to use",
        "Do they make the same mistakes?",
        "Can the numbers be trusted?",
    ]

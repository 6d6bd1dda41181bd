"""Budgets of pages over the gallery (words, numbers, screens of 900 pixels), and defects that were fixed."""

from __future__ import annotations

import re
import runpy
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import evalreport as er
from evalreport.page.render import render

if TYPE_CHECKING:
    from playwright.sync_api import Page

Open = Callable[..., "Page"]
GALLERY = Path(__file__).parents[2] / "examples" / "gallery.py"
EVALUATIONS = {
    "sms-spam": (800, 260, 5.0),
    "machine-failure": (800, 260, 5.0),
    "banking77": (1000, 450, 5.0),
    "banking77-generated": (1000, 450, 5.0),
    "goemotions": (900, 400, 5.0),
}
BUDGETS = EVALUATIONS | {
    "sms-spam-two-models": (500, 250, 4.0),
    "machine-failure-four-models": (650, 300, 4.0),
    "sms-spam-thresholds": (500, 180, 4.0),
    "banking77-cutoffs": (500, 180, 4.0),
    "goemotions-thresholds": (500, 180, 4.0),
    "goemotions-search": (450, 200, 4.0),
    "banking77-seeds": (450, 180, 3.5),
    "machine-failure-site": (450, 180, 3.5),
}
"""Words, numbers and screens of 900 pixels with the folds closed, 1,400 pixels wide."""
WITH_FOLDS = {"sms-spam": (1600, 700)}
"""Words and numbers with the folds open."""
FIRST = (170, 45)
"""Words and numbers of the first screen, 1,400 by 900 pixels."""
TEXTS = """seen => {
    const main = document.querySelector("main"), found = [];
    const walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
    for (let node; (node = walker.nextNode());) {
        const parent = node.parentElement, range = document.createRange();
        if (!node.textContent.trim() || !parent.checkVisibility({ visibilityProperty: true })) continue;
        if (parent.closest(".vh,title,desc,option")) continue;
        range.selectNodeContents(node);
        const box = range.getBoundingClientRect();
        if (box.width > 1 && (!seen || box.bottom <= innerHeight)) found.push(node.textContent);
    }
    return found.join(" ");
}"""


@cache
def gallery() -> dict[str, Any]:
    return runpy.run_path(str(GALLERY))


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    folder = tmp_path_factory.mktemp("gallery")

    def write(name: str) -> Path:
        path = folder / f"{name}.html"
        if not path.exists():
            gallery()["write"](name, path)
        return path

    return write


def words(text: str) -> int:
    return sum(bool(re.search("[A-Za-z]", word)) for word in text.split())


def numbers(text: str) -> int:
    return len(re.findall(r"\d[\d,.]*", text))


@pytest.mark.parametrize("name", BUDGETS)
def test_a_page_stays_within_its_budgets(opened: Open, page_file: Callable[[str], Path], name: str) -> None:
    page = opened(page_file(name))
    most_words, most_numbers, screens = BUDGETS[name]
    first, text = page.evaluate(TEXTS, True), page.evaluate(TEXTS, False)
    assert words(text) <= most_words and numbers(text) <= most_numbers
    assert words(first) <= FIRST[0] and numbers(first) <= FIRST[1], first
    assert page.evaluate("document.documentElement.scrollHeight") <= 900 * screens
    if name in WITH_FOLDS:
        page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true; })")
        text = page.evaluate(TEXTS, False)
        assert words(text) <= WITH_FOLDS[name][0] and numbers(text) <= WITH_FOLDS[name][1]


@pytest.mark.parametrize("name", EVALUATIONS)
def test_the_first_screen_answers_four_questions(
    opened: Open, page_file: Callable[[str], Path], name: str
) -> None:
    page = opened(page_file(name))
    for selector in (".picture svg", ".three h2", ".good tbody tr", ".checks li"):
        for box in (one.bounding_box() for one in page.locator(selector).all()):
            assert box is not None and box["y"] + box["height"] <= 900, selector
    assert page.locator(".good tbody tr").count() == 4
    assert 1 <= page.locator(".three > :nth-child(2) .checks li").count() <= 3
    assert page.locator(".three > :nth-child(3) .checks .passed").count() >= 1, "checks that passed, too"
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("goemotions-search", 2),
        ("sms-spam-thresholds", 2),
        ("banking77-cutoffs", 3),
        ("goemotions-thresholds", 2),
    ],
)
def test_first_screens_of_searches_and_thresholds_show_values_and_checks(
    opened: Open, page_file: Callable[[str], Path], name: str, rows: int
) -> None:
    page = opened(page_file(name))
    assert page.locator(".good tbody tr").count() == rows
    for box in (one.bounding_box() for one in page.locator(".three h2, .checks li, .picture svg").all()):
        assert box is not None and box["y"] + box["height"] <= 900
    assert page.locator(".three > :nth-child(3) .checks .passed").count() >= 1
    page.evaluate("document.querySelectorAll('.author').forEach(one => one.remove())")
    assert not re.search(r"--[a-z]", page.locator("main").text_content() or "")
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_every_trial_by_rank_is_drawn(opened: Open, page_file: Callable[[str], Path]) -> None:
    """Trials that are not significantly worse than the best are blue, never in the colour of errors."""
    page = opened(page_file("goemotions-search"))
    study = gallery()["study"]()
    dots = [
        page.locator(f"#rank-picture {at}").get_attribute("d") or ""
        for at in ("path.worse", "path:not(.worse)")
    ]
    assert dots[1].count("M") == len(study.tied_trials)
    assert dots[0].count("M") + dots[1].count("M") + 1 == len(study.trials.contenders)
    assert page.locator("h1 .wrong").count() == 0


@pytest.mark.parametrize("name", EVALUATIONS)
def test_options_of_the_command_line_are_only_in_the_fold_for_the_author(
    opened: Open, page_file: Callable[[str], Path], name: str
) -> None:
    page = opened(page_file(name))
    page.evaluate("document.querySelector('.author').remove()")
    assert not re.search(r"--[a-z]", page.locator("main").text_content() or "")


@pytest.mark.parametrize("name", BUDGETS)
def test_navigation_has_the_words_of_the_headings(
    opened: Open, page_file: Callable[[str], Path], name: str
) -> None:
    page = opened(page_file(name))
    nav = page.locator("nav a").all_text_contents()[1:]
    heads = page.locator("main > section:not(.verdict) > h2").all_text_contents()
    assert nav == heads
    assert name not in ("sms-spam", "banking77") or {"Calibration", "All metrics", "Data"} < set(heads)


def test_the_page_opens_at_the_threshold_in_use(opened: Open, page_file: Callable[[str], Path]) -> None:
    """Headline, table and ring say the same, with scripts and without."""
    for page in (opened(page_file("sms-spam")), opened(page_file("sms-spam"), java_script_enabled=False)):
        assert page.locator("#threshold-value").inner_text() == "0.500"
        head = page.locator("h1").inner_text()
        counts = [page.locator(f"#count-{key}").inner_text() for key in ("tp", "fn")]
        assert re.search(r"Finds (\d+) .*misses (\d+)", head.replace("\n", " ")).groups() == tuple(counts)  # type: ignore[union-attr]
        assert "Recommended" in page.locator("#scores").inner_html()


def test_the_level_of_no_skill_is_marked_where_it_is(opened: Open, page_file: Callable[[str], Path]) -> None:
    """Below 736 pixels it was printed under the estimate."""
    page = opened(page_file("sms-spam"), width=390)
    assert page.locator(".good .under").count() == 0
    d = page.locator(".good tbody tr", has_text="Precision").locator("path.zero").get_attribute("d") or ""
    assert float(re.findall(r"[\d.]+", d)[0]) == pytest.approx(134, abs=1), "747 of 5,572 are spam"


def test_save_links_are_in_one_place(opened: Open, page_file: Callable[[str], Path]) -> None:
    page = opened(page_file("banking77"))
    links = page.locator("a[download]")
    assert links.count() > 8
    assert page.locator("#files a[download]").count() == links.count()


def test_no_section_is_empty(opened: Open, page_file: Callable[[str], Path]) -> None:
    page = opened(page_file("sms-spam"))
    assert page.locator("#groups").count() == 0
    assert "Not on this page: metrics by group" in (page.locator("#provenance").text_content() or "")


@pytest.mark.parametrize("width", [390, 736, 1400])
def test_texts_of_charts_can_be_read(opened: Open, page_file: Callable[[str], Path], width: int) -> None:
    page = opened(page_file("sms-spam"), width=width)
    sizes = page.evaluate(
        """() => [...document.querySelectorAll("main svg text")]
            .filter(t => t.checkVisibility()).map(text => {
            const svg = text.closest("svg[role]") || text.ownerSVGElement, box = svg.viewBox.baseVal;
            const scale = box && box.width ? svg.getBoundingClientRect().width / box.width : 1;
            return scale * parseFloat(getComputedStyle(text).fontSize);
        })"""
    )
    assert min(sizes) >= 11.5


@pytest.mark.parametrize("name", ["sms-spam", "banking77"])
def test_targets_can_be_hit(opened: Open, page_file: Callable[[str], Path], name: str) -> None:
    page = opened(page_file(name), width=390)
    small = page.evaluate(
        """() => [...document.querySelectorAll("button,summary,input,select,nav a")]
            .filter(one => one.checkVisibility())
            .map(one => [one.textContent, one.getBoundingClientRect().height])
            .filter(([, height]) => height < 24)"""
    )
    assert small == []


def test_the_first_arrow_key_moves_the_slider(opened: Open, page_file: Callable[[str], Path]) -> None:
    page = opened(page_file("sms-spam"))
    page.locator("#threshold-slider").focus()
    before = page.locator("#threshold-value").inner_text()
    page.keyboard.press("ArrowRight")
    assert page.locator("#threshold-value").inner_text() > before


def test_unparsed_responses_are_a_confusion_like_any_other(
    opened: Open, page_file: Callable[[str], Path]
) -> None:
    page = opened(page_file("banking77-generated"))
    assert "unparsed" in page.locator("#confusions ol").inner_text()
    assert "212 unparsed" in page.locator(".bars").inner_text()


def test_heights_of_the_histogram_are_counts_of_one_axis(
    opened: Open, page_file: Callable[[str], Path]
) -> None:
    """The tallest column of either class is as high as the logarithm of its count says."""
    page = opened(page_file("sms-spam"))
    rows = gallery()["spam"]().predictions
    scores, spam = rows.scores.values, rows.y_true == 1
    heights = []
    for look in (("miss", "found"), ("left", "miss")):
        side = "#scores-l", "#scores-r"
        d = "".join(
            page.locator(f"{at} .{one}").get_attribute("d") or "" for at, one in zip(side, look, strict=True)
        )
        heights.append(max(abs(float(v)) for v in re.findall(r"v(-?[\d.]+)", d)))
    most = [np.histogram(scores[rows_], 50, (0, 1))[0].max() for rows_ in (spam, ~spam)]
    assert heights[0] / heights[1] == pytest.approx(np.log1p(most[0]) / np.log1p(most[1]), rel=0.02)


def test_labels_go_by_their_names(opened: Open, tmp_path: Path) -> None:
    """With display names no caution calls a label "0" or "1"."""
    rng = np.random.default_rng(0)
    truth = rng.random(2000) < 0.05
    names = np.where(truth, "failure", "fine")
    scores = er.Probabilities(np.clip(0.2 * truth + 0.3 * rng.random(2000), 0, 1))
    place = tmp_path / "page.html"
    place.write_text(render(er.evaluate(names, scores=scores, labels=er.Binary("fine", "failure"))), "utf-8")
    text = opened(place).locator("#verdict").text_content() or ""
    assert "failure" in text and not re.search("“[01]”", text)


def test_a_wide_table_is_a_list_of_values_on_a_phone(opened: Open, page_file: Callable[[str], Path]) -> None:
    page = opened(page_file("banking77"), width=390)
    cell = page.locator("#classes-first tbody tr").first.locator("td").nth(2)
    box, row = cell.bounding_box(), page.locator("#classes-first tbody tr").first.bounding_box()
    assert box is not None and row is not None
    assert row["width"] <= 390 and box["x"] >= 0 and box["x"] + box["width"] <= 390
    assert cell.get_attribute("data-head"), "each value has its label"

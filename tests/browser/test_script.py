"""What the script adds: a slider that equals the table, sorting, filters, the matrix; formats."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import numpy as np
import pytest
from playwright.sync_api import expect

import evalreport as er
from evalreport.core import format as fmt
from evalreport.core.result import Estimate, format_estimate, interval
from evalreport.data.scores import Probabilities
from evalreport.intervals.distributions import wilson
from evalreport.page.csv_tables import extracts
from evalreport.page.render import asset, render
from tests.browser.conftest import patient, two_models

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


Open = Callable[..., "Page"]


def formats() -> str:
    """The part of the script that formats numbers."""
    script = asset("script.js")
    return script[script.index("const commas") : script.index("const write")]


def test_numbers_are_formatted_as_in_python(opened: Open) -> None:
    rng = np.random.default_rng(0)
    shares = [0.0, 1.0, 0.5, 0.125, 0.005, 0.995, 0.9996, 0.99996, 1 - 1e-9, 1e-9, 0.004, 0.0049999]
    shares += rng.random(300).tolist() + (rng.integers(0, 1000, 100) / 1000).tolist()
    shares += [0.865, 0.575, 0.145, 0.285, 0.9995]
    counts = [0.0, 1.0, 999.0, 1000.0, 1234567.0, 12.25, 0.05, 1e6 + 0.5]
    page = opened("one-row", bypass_csp=True)
    found = page.evaluate(
        """([code, shares, counts]) => new Function("shares", "counts", code + `return [
            shares.map(x => [percent(x), percent(x, 5000), ratio(x), threshold(x)]),
            counts.map(count), shares.map(x => ratio(-x))]`)(shares, counts)""",
        [formats(), shares, counts],
    )
    wanted = [[fmt.percent(x), fmt.percent(x, 5000), fmt.ratio(x), fmt.threshold(x)] for x in shares]
    assert found[0] == wanted
    assert found[1] == [fmt.count(x) for x in counts]
    assert found[2] == [fmt.ratio(-x) for x in shares]


def row_of(page: Page, table: str, name: str) -> list[str]:
    row = (
        page.locator(f"#{table} tbody tr")
        .filter(has=page.locator("th", has_text=re.compile(rf"^\s*{re.escape(name)}")))
        .first
    )
    return [text.strip() for text in row.locator("td").all_text_contents()]


BINARY = (
    "threshold-value",
    *(f"count-{k}" for k in ("tp", "fn", "fp", "tn")),
    *(f"rate-{k}" for k in ("recall", "specificity", "precision", "npv", "f1", "flagged")),
)
MICRO = (
    "threshold-value",
    *(f"count-{k}" for k in ("tp", "fn", "fp")),
    *(f"rate-{k}" for k in ("precision", "recall", "f1", "macro", "exact", "added")),
)
CUTOFF = ("cutoff-value", "cutoff-n", "cutoff-wrong", "cutoff-answered", "cutoff-right")


@pytest.mark.parametrize(
    ("kind", "slider", "ids"),
    [
        ("multilabel", "threshold", MICRO),
        ("many", "cutoff", CUTOFF),
    ],
)
def test_the_slider_equals_the_table_at_each_preset(
    opened: Open, kind: str, slider: str, ids: tuple[str, ...]
) -> None:
    page = opened(kind)
    buttons = page.locator(f"button[data-for={slider}]")
    assert buttons.count() >= 2
    for place in range(buttons.count()):
        button = buttons.nth(place)
        name = (button.text_content() or "").strip()
        button.click()
        assert button.get_attribute("aria-pressed") == "true"
        shown = [(page.locator(f"#{key}").text_content() or "").strip() for key in ids]
        assert shown == row_of(page, f"{slider}-values", name), name


@pytest.mark.parametrize("kind", ["binary-slices", "binary-weighted"])
def test_each_named_threshold_equals_its_row_and_its_intervals(opened: Open, kind: str) -> None:
    page = opened(kind)

    def shown(key: str) -> str:
        return (page.locator(f"#{key}").text_content() or "").strip()

    buttons = page.locator("button[data-for=threshold]")
    assert buttons.count() >= 3
    for place in range(buttons.count()):
        buttons.nth(place).click()
        assert buttons.nth(place).get_attribute("aria-pressed") == "true"
        name = (buttons.nth(place).text_content() or "").strip().rpartition(" ")[0]
        row = row_of(page, "threshold-steps", name)
        four = [shown(f"count-{key}") for key in ("tp", "fn", "fp")]
        assert shown("threshold-value")[:5] == row[0][:5]
        assert all(cell.startswith(text) for cell, text in zip(row[1:4], four, strict=True)), name
        if kind == "binary-slices":
            tp, fn, fp, tn = (
                float(shown(f"count-{key}").replace(",", "")) for key in ("tp", "fn", "fp", "tn")
            )
            for key, k, n in (("recall", tp, tp + fn), ("npv", tn, tn + fn), ("precision", tp, tp + fp)):
                low, high = map(float, wilson(k, n))
                result = Estimate(k / n, n, min(low, k / n), max(high, k / n))
                assert shown(f"rate-{key}") == format_estimate(result, "percent")
                assert shown(f"rate-{key}-i") == interval(result, "percent")


def test_before_any_move_the_page_says_what_it_said_without_scripts(opened: Open) -> None:
    for kind, ids in (("binary-slices", BINARY), ("multilabel", MICRO), ("many", CUTOFF)):
        on, off = opened(kind), opened(kind, java_script_enabled=False)
        for key in (*ids, *(("rate-cost",) if kind == "binary-slices" else ())):
            here, there = on.locator(f"#{key}"), off.locator(f"#{key}")
            assert here.text_content() == there.text_content(), key
            assert (here.get_attribute("class") or "") == (there.get_attribute("class") or "")
        rings = ".ring"
        for place in range(off.locator(rings).count()):
            moved = on.locator(rings).nth(place).get_attribute("transform") or ""
            stood = off.locator(rings).nth(place).get_attribute("transform") or ""
            for a, b in zip(numbers(moved), numbers(stood), strict=True):
                assert math.isclose(a, b, abs_tol=0.11)


def numbers(transform: str) -> list[float]:
    return [float(text) for text in transform.removeprefix("translate(").removesuffix(")").split()]


def test_the_slider_speaks_and_is_quick(opened: Open) -> None:
    page = opened("binary-slices")
    slider = page.locator("#threshold-slider")
    slider.focus()
    page.keyboard.press("ArrowRight")
    said = slider.get_attribute("aria-valuetext") or ""
    assert said.startswith("Threshold 0.")
    assert "false positives" in said
    expect(page.locator("#threshold-status")).to_have_text(said)
    spent = page.evaluate(
        """() => {
            const input = document.querySelector("#threshold-slider"), start = performance.now();
            for (let i = 0; i < 100; i++) { input.value = i; input.dispatchEvent(new Event("input")); }
            return (performance.now() - start) / 100;
        }"""
    )
    assert spent < 16


def test_the_cost_moves_the_threshold_and_refuses_what_is_no_cost(opened: Open) -> None:
    page = opened("binary-slices")

    def missed(cost: str) -> int:
        page.fill("#miss-cost", cost)
        return int((page.locator("#count-fn").text_content() or "").replace(",", ""))

    at_ten = missed("10")
    assert missed("0.1") >= at_ten >= missed("1000") == 0
    flag = page.locator("#flag-cost tspan").text_content()
    assert flag == page.locator("#threshold-value").text_content()
    for nothing in ("0", "-3", ""):
        assert missed(nothing) == 0, "what is no cost moves nothing"
        assert "above 0" in (page.locator("#cost-status").text_content() or "")
    assert missed("10") == at_ten


def column(page: Page, table: str, place: int) -> list[str]:
    found: list[str] = page.locator(f"#{table} tbody tr:not([hidden])").evaluate_all(
        f"rows => rows.map(row => row.cells[{place}].textContent.trim())"
    )
    return found


def unfold(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true; })")


def test_tables_sort_with_the_unknown_last(opened: Open) -> None:
    page = opened("collapsed")
    unfold(page)
    f1 = column(page, "classes-table", 2)
    assert f1 == sorted(f1, key=lambda text: (text == "–", text))
    page.click("#classes-table button:has-text('Precision')")
    precision = column(page, "classes-table", 4)
    assert "–" in precision
    assert precision == sorted(precision, key=lambda text: (text == "–", text))
    assert page.locator("#classes-table th[aria-sort]").all_text_contents() == ["Precision"]
    page.click("#classes-table button:has-text('Precision')")
    again = column(page, "classes-table", 4)
    known = [text for text in again if text != "–"]
    assert known == sorted(known, reverse=True)
    assert again[: len(known)] == known
    page.click("#classes-table button:has-text('Class')")
    names = column(page, "classes-table", 0)
    assert names == sorted(names)


def test_tables_filter_and_say_how_many_are_left(opened: Open) -> None:
    page = opened("many")
    unfold(page)
    status = page.locator("#classes-table-status")
    assert status.text_content() == "All 77 shown"
    page.fill("#classes-table-find", "intent_003")
    assert status.text_content() == "10 of 77 shown"
    assert all("intent_003" in name for name in column(page, "classes-table", 0))
    page.fill("#classes-table-find", "nobody")
    assert status.text_content() == "Nothing matches. Clear the filter to see all 77."
    page.fill("#classes-table-find", "")
    page.select_option("#classes-table-show", "few")
    assert all(float(n.replace(",", "")) < 20 for n in column(page, "classes-table", 1))


def test_the_matrix_answers_to_pointer_and_keys(opened: Open) -> None:
    page = opened("many")
    readout = page.locator("#readout b")
    first = readout.text_content() or ""
    assert " predicted as " in first
    unfold(page)
    page.locator("button.rank").nth(1).click()
    second = readout.text_content() or ""
    assert second != first
    matrix = page.locator("#matrix")
    matrix.focus()
    page.keyboard.press("Home")
    own = readout.text_content() or ""
    assert own.split("“")[1].split("”")[0] == own.split("“")[2].split("”")[0]
    seen = {own}
    for key in ("ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp"):
        page.keyboard.press(f"Shift+{key}")
        jumped = readout.text_content() or ""
        assert not jumped.startswith("0 of")
        seen.add(jumped)
    assert len(seen) > 1
    page.keyboard.press("ArrowDown")
    before = readout.text_content()
    page.select_option("#matrix-order", "recall")
    assert readout.text_content() == before
    box = matrix.bounding_box()
    assert box is not None
    side = box["width"] / 77
    for place in (3, 40):
        page.mouse.move(box["x"] + (place + 0.5) * side, box["y"] + (place + 0.5) * side)
        here = readout.text_content() or ""
        assert here.split("“")[1].split("”")[0] == here.split("“")[2].split("”")[0]


def test_the_matrix_in_its_first_order_is_drawn_the_same_by_the_script(opened: Open) -> None:
    page = opened("many", bypass_csp=True)

    def painted() -> list[str]:
        found: list[str] = page.evaluate(
            """() => {
                const cells = [];
                for (const path of document.querySelectorAll("#matrix path:is([class^=r], [class^=w])"))
                    for (const [, x, y, n] of path.getAttribute("d").matchAll(/M(\\d+) (\\d+)h(\\d+)/g))
                        for (let i = 0; i < Number(n); i++)
                            cells.push(`${path.getAttribute("class")}:${Number(x) + i},${y}`);
                return cells.sort();
            }"""
        )
        return found

    before = painted()
    unfold(page)
    page.select_option("#matrix-order", "name")
    assert painted() != before
    page.select_option("#matrix-order", "kin")
    assert painted() == before


def test_links_lead_to_their_sections_and_the_contents_follow(opened: Open) -> None:
    page = opened("binary-slices")
    page.click("nav a[href='#calibration']")
    assert page.evaluate("document.activeElement.id") == "calibration-title"
    expect(page.locator("nav a[aria-current]")).to_have_attribute("href", "#calibration")


def test_one_slider_moves_two_runs_to_the_same_number_of_alarms(opened: Open) -> None:
    """At each place: the counts at so many alerts, from the rows themselves; ties are interpolated."""
    runs = two_models().evaluations
    page = opened("comparison-two")
    handle = page.locator("#alerts-slider")
    last = int(handle.get_attribute("max") or 0)
    for place in (0, last // 3, last // 2, last - 5, last):
        handle.evaluate("(e, at) => { e.value = at; e.dispatchEvent(new Event('input')); }", place)
        said = page.locator("#alerts-said").inner_text()
        most = int(said.removeprefix("With at most ").split(" ")[0].replace(",", ""))
        for prefix, ev in zip(("base", "run"), runs, strict=True):
            assert ev.predictions is not None and isinstance(ev.predictions.scores, Probabilities)
            scores, truth = ev.predictions.scores.values, ev.predictions.y_true == 1
            steps = [scores >= t for t in np.unique(scores)[::-1]]
            flagged, found = (
                [0, *(rows.sum() for rows in cut)] for cut in (steps, [s & truth for s in steps])
            )
            tp = np.interp(most, flagged, found)
            fp, p = most - tp, truth.sum()
            wanted = {"tp": tp, "fn": p - tp, "fp": fp, "tn": len(truth) - p - fp}
            for key, rows in wanted.items():
                shown = page.locator(f"#{prefix}-{key}").inner_text().replace(",", "")
                digits = len(shown.partition(".")[2])  # what is interpolated has one decimal
                assert float(shown) == pytest.approx(rows, abs=0.5 * 10**-digits + 1e-9)
        finds = [page.locator(f"#{prefix}-tp").inner_text() for prefix in ("run", "base")]
        assert said.endswith(f": {' and '.join(finds)} of {int(truth.sum())} positive cases.")
    own = page.locator("button[data-for=alerts]", has_text="new’s own")
    own.click()
    assert own.get_attribute("aria-pressed") == "true"
    rows = runs[1].confusion
    assert rows is not None and page.locator("#run-fp").inner_text() == fmt.count(rows.dense()[0, 1])


def test_two_runs_stand_in_a_table_without_scripts(opened: Open) -> None:
    page = opened("comparison-two", java_script_enabled=False)
    expect(page.locator("#matched-values tbody tr").nth(2)).to_be_visible()
    expect(page.locator("#run-tp")).to_be_visible()
    expect(page.locator("#alerts-slider")).to_be_hidden()


def saved(page: Page, name: str) -> str:
    """The text of a file that a link of the page makes."""
    page.evaluate("document.querySelectorAll('#files details').forEach(fold => { fold.open = true; })")
    with page.expect_download() as waited:
        page.locator("a[download]", has_text=re.compile(rf"^{re.escape(name)}$")).click()
    assert waited.value.suggested_filename == name
    return Path(waited.value.path()).read_bytes().decode()


DRAWN = {"path": ("d",), "text": ("x", "y", "text-anchor"), "svg": ("width", "height")}
"""What a drawing that the page makes has in common with the one in a folder."""


@pytest.mark.parametrize("kind", ["binary-slices", "twenty", "comparison-two", "sweep"])
def test_figures_and_tables_are_saved_under_the_names_of_the_folder(
    opened: Open, written: Callable[[str], Path], kind: str
) -> None:
    page, made = opened(kind, accept_downloads=True), extracts(written(kind).read_text(encoding="utf-8"))
    names = [path.rpartition("/")[2] for path in made]
    assert sorted(page.locator("a[download]").all_text_contents()) == sorted(names)
    assert any(b'class="plot"' in data for data in made.values())
    tables = [path for path in made if path.endswith("-table.csv") or path == "tables/verdict.csv"]
    for path in tables:  # the script has sorted or filled nothing yet
        here = list(csv.reader(io.StringIO(saved(page, path.rpartition("/")[2]))))
        there = list(csv.reader(io.StringIO(made[path].decode())))
        assert here == there, path
    figure = next(path for path, data in made.items() if path.endswith(".svg") and b"<path" in data)
    tree = ElementTree.fromstring(saved(page, figure.rpartition("/")[2]))  # noqa: S314  our own
    filed = ElementTree.fromstring(made[figure])  # noqa: S314
    drawn = "{http://www.w3.org/2000/svg}path"
    assert [path.get("d") for path in tree.iter(drawn)] == [path.get("d") for path in filed.iter(drawn)]
    assert "fill" in (next(tree.iter(drawn)).get("style") or "")
    for path in (path for path, data in made.items() if b'class="plot"' in data):
        tree = ElementTree.fromstring(saved(page, path.rpartition("/")[2]))  # noqa: S314
        filed = ElementTree.fromstring(made[path])  # noqa: S314
        for tag, keys in DRAWN.items():
            shapes, filed_shapes = (
                [[shape.text, *map(shape.get, keys)] for shape in root.iter(drawn.replace("path", tag))]
                for root in (tree, filed)
            )
            assert shapes == filed_shapes, (path, tag)


def test_a_saved_table_holds_no_formula(opened: Open, tmp_path: Path, browser: Browser) -> None:
    names = ["=1+1", "@cmd", "\t-2", "plain, with a comma", 'and a "quote"']
    truth = np.array(names * 8)
    ev = er.evaluate(truth, np.roll(truth, 1), labels=er.Multiclass(names))
    place = tmp_path / "page.html"
    place.write_text(render(ev), encoding="utf-8")
    context = patient(browser, accept_downloads=True)
    page = context.new_page()
    page.goto(place.as_uri())
    rows = list(csv.reader(io.StringIO(saved(page, "classes-table.csv"))))
    assert sorted(row[0] for row in rows[1:])[:2] == ["'=1+1", "'@cmd"]
    assert {"plain, with a comma", 'and a "quote"'} < {row[0] for row in rows}
    assert rows == list(csv.reader(io.StringIO(extracts(render(ev))["tables/classes-table.csv"].decode())))
    context.close()


def test_a_frame_of_others_offers_no_files(opened: Open, written: Callable[[str], Path]) -> None:
    page = opened("one-row")
    page.set_content("<iframe sandbox=allow-scripts></iframe>")
    page.locator("iframe").evaluate(
        "(e, text) => { e.srcdoc = text; }", written("one-row").read_text("utf-8")
    )
    frame = page.frame_locator("iframe")
    frame.locator("#verdict-title").wait_for()
    assert frame.locator("a[download]").count() == 0

"""Figures and tables of pages as files: all of them, whole, standing alone."""

from __future__ import annotations

import csv
import io
import re
from xml.etree import ElementTree

import html5lib
import pytest

from evalreport.page.csv_tables import extracts
from evalreport.page.render import render
from tests.page.made import made
from tests.page.test_comparison import several

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(
    scope="module", params=["binary-slices", "twenty", "multilabel-thresholds", "text", "comparison"]
)
def page(request: pytest.FixtureRequest) -> str:
    if request.param == "comparison":
        return render(several("binary-slices", 3))
    return render(made(request.param))


def test_every_figure_and_table_of_a_page_is_a_file(page: str) -> None:
    tree = html5lib.parse(page, namespaceHTMLElements=False)
    found = extracts(page)
    lines = {svg for part in tree.iter() if part.get("class") == "runline" for svg in part.iter(f"{SVG}svg")}
    drawn = [svg for svg in tree.iter(f"{SVG}svg") if svg.get("role") == "img" and svg not in lines]
    tables = list(tree.iter("table"))
    plotted = sum(any(table.iter(f"{SVG}svg")) for table in tables)
    assert sum(path.endswith(".svg") for path in found) == len(drawn) + plotted
    assert sum(path.endswith(".csv") for path in found) == len(tables)
    rows = sorted(len(list(table.iter("tr"))) for table in tables)
    files = [list(csv.reader(io.StringIO(data.decode()))) for path, data in found.items() if "csv" in path]
    assert sorted(map(len, files)) == rows


def test_a_figure_stands_alone(page: str) -> None:
    for path, data in extracts(page).items():
        if path.endswith(".svg"):
            tree = ElementTree.fromstring(data)  # noqa: S314  our own
            assert tree.findtext(f"{SVG}title")
            style = tree.findtext(f"{SVG}style") or ""
            assert "var(" not in style
            assert not re.search(r"url\(|https?:", style)
            shapes = {shape.get("class") for shape in tree.iter(f"{SVG}path")}
            assert all(f".{shape.split()[0]}" in style for shape in shapes if shape), (path, shapes)


def test_a_table_of_intervals_is_a_drawing_with_every_word_and_interval() -> None:
    for page, name in (
        (render(made("binary-slices")), "verdict"),
        (render(several("binary-slices", 2)), "differences"),
    ):
        files = extracts(page)
        drawn = ElementTree.fromstring(files[f"figures/{name}.svg"])  # noqa: S314  our own
        words = " ".join(text.text or "" for text in drawn.iter(f"{SVG}text"))
        rows = list(csv.reader(io.StringIO(files[f"tables/{name}.csv"].decode())))
        limits = [re.search(r"[+−]?[\d.]+%? to [+−]?[\d.]+%?$", cell) for row in rows for cell in row]
        found = [limit[0] for limit in limits if limit]
        assert len(found) >= 4 and all(limit in words for limit in found), name
        tracks = [svg for svg in drawn.iter(f"{SVG}svg") if svg.get("viewBox")]
        assert sum(path.get("class") == "ci" for svg in tracks for path in svg) >= len(found)
        ends = [
            float(text.get("x", 0)) for text in drawn.iter(f"{SVG}text") if text.get("text-anchor") == "end"
        ]
        assert max(ends) <= float(drawn.get("width", 0))


def test_a_cell_is_its_number_or_its_words_and_never_a_formula() -> None:
    cells = (
        '<th scope="row">=a<b>b</b></th>',
        '<td class="n">1,200</td>',
        '<td class="q b34" data-v="0.3412">34%</td>',
        '<td class="n">−0.50</td>',
        '<td class="n" data-v="0.2">0.2 to 0.3</td>',
        "<td>007</td>",
        "<td>@x &lt;i&gt;</td>",
        '<td class="text"><details><summary>cut he…</summary><bdi>…re</bdi></details></td>',
        '<td class="n">34%</td>',
    )
    table = f'<section id="s"><table><tr>{"".join(cells)}</tr></table><table></table></section>'
    (row,) = csv.reader(io.StringIO(extracts(table)["tables/s.csv"].decode()))
    assert row == ["'=a b", "1200", "0.3412", "-0.5", "0.2 to 0.3", "007", "'@x <i>", "cut here", "34%"]
    assert extracts(table)["tables/s-2.csv"] == b""

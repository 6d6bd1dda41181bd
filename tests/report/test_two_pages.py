"""Two pages to print: two, whatever the result; the same bytes; fonts within; nobody's host."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest

import evalreport as er
from evalreport.figures.style import OTHERS, families
from evalreport.page.charts import Chart
from evalreport.page.elements import Forest
from evalreport.page.render import render_paper, sections_of
from evalreport.page.sections.threshold import Four
from evalreport.page.two_pages import found
from tests.cli.running import run
from tests.report.made import made
from tests.report.sweeps import made as chosen
from tests.report.test_comparison import several
from tests.report.test_study import single
from tests.report.test_systems_page import drawn

RESULTS: dict[str, Callable[[], Any]] = {
    "binary": lambda: made("binary-slices"),
    "classes": lambda: made("twenty"),
    "labels": lambda: made("multilabel-thresholds"),
    "one row": lambda: made("one-row"),
    "comparison": lambda: several("binary-slices", 3),
    "study": single,
    "systems": lambda: drawn({"new": 0.8, "old": 0.6}),
    "thresholds": lambda: chosen("binary-standard"),
}


@cache
def paper(kind: str) -> bytes:
    return render_paper(RESULTS[kind]())


@pytest.mark.parametrize("kind", RESULTS)
def test_any_result_has_two_pages_with_fonts_and_a_title(kind: str) -> None:
    data = paper(kind)
    assert data.startswith(b"%PDF")
    assert len(re.findall(rb"/Type /Page\b", data)) == 2
    assert b"/Title (" in data
    assert b"/FontFile2" in data
    told = re.search(rb"<<([^<>]*/Title [^<>]*)>>", data)
    assert told is not None
    assert set(re.findall(rb"/(\w+) \(", told[1])) == {b"Title", b"Creator", b"Producer"}


def test_the_same_result_gives_the_same_bytes_whatever_the_settings_of_the_user() -> None:
    before = paper("binary")
    with mpl.rc_context({"font.size": 31, "pdf.fonttype": 3, "axes.facecolor": "red"}):
        assert render_paper(RESULTS["binary"]()) == before


def test_what_is_drawn_is_what_the_page_has() -> None:
    sections = sections_of(made("binary-slices"))
    assert [chart.id for chart in found(sections, Chart)][:3] == ["roc", "pr", "reliability"]
    assert len(list(found(sections, Four))) == len(list(found(sections, Forest))) == 1


def test_the_file_is_written_and_replaced_but_never_over_one_of_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, place = tmp_path / "rows.csv", tmp_path / "two.pdf"
    table.write_text("y_true,y_pred\n" + "a,a\nb,b\na,b\n" * 9, encoding="utf-8")
    for _ in range(2):
        done = run(capsys, "report", str(table), "--pdf", str(place))
        assert (done.code, str(place) in done.out) == (0, True)
    assert place.read_bytes().startswith(b"%PDF")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.csv", "two.pdf"]
    place.write_bytes(b"%PDF-1.7 a thesis")
    assert run(capsys, "report", str(table), "--pdf", str(place)).code == 2
    assert place.read_bytes() == b"%PDF-1.7 a thesis"
    other = tmp_path / "more.csv"
    other.write_bytes(table.read_bytes())
    two = run(capsys, "report", str(table), str(other), "--pdf", str(place))
    assert two.code == 2
    assert "--pdf names one file for several results" in two.err


def test_from_python(tmp_path: Path) -> None:
    assert er.report(er.evaluate(["a", "b"], ["a", "a"]), tmp_path / "two.pdf").read_bytes()[:4] == b"%PDF"


def of_language(label: str) -> Any:
    truth = [label, "b"] * 20
    return er.evaluate(truth, truth[1:] + truth[:1], labels=er.Binary("b", label))


def test_a_character_that_no_font_has_is_told_in_words(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="the PDF: no installed font has \ue123: boxes stand in their place"):
        er.report(of_language("\ue123"), tmp_path / "a.pdf")


def test_a_pdf_of_hebrew_letters_has_them(recwarn: pytest.WarningsRecorder) -> None:
    render_paper(of_language("שלום"))
    assert [str(one.message) for one in recwarn if "matplotlib draws" not in str(one.message)] == []


def test_installed_fonts_are_asked_for_what_ours_lack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A font of one letter that no other has, made here, under a name that we ask for."""
    from fontTools.fontBuilder import FontBuilder  # type: ignore[import-untyped]
    from fontTools.pens.ttGlyphPen import TTGlyphPen  # type: ignore[import-untyped]
    from matplotlib.font_manager import fontManager

    pen = TTGlyphPen(None)
    pen.moveTo((0, 0))
    for at in ((0, 700), (700, 700), (700, 0)):
        pen.lineTo(at)
    pen.closePath()
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder([".notdef", "square"])
    builder.setupCharacterMap({0xE124: "square"})
    builder.setupGlyf({".notdef": TTGlyphPen(None).glyph(), "square": pen.glyph()})
    builder.setupHorizontalMetrics({".notdef": (800, 0), "square": (800, 0)})
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": OTHERS[0], "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    builder.save(tmp_path / "font.ttf")
    monkeypatch.setattr(fontManager, "ttflist", list(fontManager.ttflist))
    fontManager.addfont(tmp_path / "font.ttf")
    assert OTHERS[0] in families()
    assert lacking("\ue124") == ""
    assert "has \ue125:" in lacking("\ue125")


def lacking(label: str) -> str:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        render_paper(of_language(label))
    return "".join(str(one.message) for one in told)

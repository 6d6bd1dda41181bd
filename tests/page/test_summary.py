"""Ways out: one summary, from every command and on every page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from evalreport.page.payload import present
from evalreport.page.render import render
from evalreport.page.text_summary import markdown
from tests.cli.running import run
from tests.features.studies.test_page import single
from tests.page.made import made
from tests.page.sweeps import made as chosen
from tests.page.test_comparison import several
from tests.page.test_page import XHTML, tree

MADE: Mapping[str, Callable[[], Any]] = {
    "binary": lambda: made("binary"),
    "text": lambda: made("text"),
    "comparison": lambda: several("binary-slices", 2),
    "thresholds": lambda: chosen("binary-standard"),
    "study": single,
}


@pytest.mark.parametrize("kind", MADE)
def test_the_markdown_holds_every_number(kind: str) -> None:
    summary = present(MADE[kind]()).summary()
    assert summary.verdict and summary.rows
    text = markdown(summary).replace("\\_", "_").replace("\\#", "#")
    for row in summary.rows[:3]:
        assert all(cell in text for cell in row[1:] if cell and cell.isascii()), row


def test_the_page_has_the_summary_in_a_box() -> None:
    ev = made("binary")
    (box,) = tree(render(ev)).iter(XHTML + "textarea")
    assert box.text.strip() == markdown(present(ev).summary()).strip()


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "p.csv"
    rows = [f"{i % 2},{(i * 37 % 100) / 100}" for i in range(60)]
    path.write_text("y_true,score\n" + "\n".join(rows))
    path.with_name("q.csv").write_text("y_true,score\n" + "\n".join(rows))
    return path


@pytest.mark.parametrize(
    "command", ["report p.csv", "compare p.csv q.csv", "sweep thresholds p.csv --objective f1"]
)
def test_stdout_is_the_summary_alone(
    capsys: pytest.CaptureFixture[str], table: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(table.parent)
    ran = run(capsys, *command.split(), "--markdown", "-")
    assert (ran.code, ran.out[:2]) == (0, "**") and "\n|---|---:|" in ran.out
    assert not list(table.parent.glob("*.html"))
    assert run(capsys, *command.split(), "--markdown", "-", "--json").code == 2

"""Ways out: one summary, four ways to write it, from every command and on every page."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import yaml

from evalreport.page.render import render
from evalreport.page.summary import FORMS, Concluded, summary_of
from tests.cli.running import run
from tests.report.made import made
from tests.report.sweeps import made as chosen
from tests.report.test_comparison import several
from tests.report.test_page import XHTML, tree
from tests.report.test_study import single

MADE: Mapping[str, Callable[[], Concluded]] = {
    "binary": lambda: made("binary"),
    "text": lambda: made("text"),
    "comparison": lambda: several("binary-slices", 2),
    "thresholds": lambda: chosen("binary-standard"),
    "study": single,
}


@pytest.mark.parametrize("kind", MADE)
def test_all_forms_say_the_same_numbers(kind: str) -> None:
    summary = summary_of(MADE[kind]())
    assert summary.verdict and summary.rows
    for form, write in FORMS.items():
        text = write(summary)
        for sign, plain in (("\\%", "%"), ("$-$", "−"), ("\u200b", ""), ("\\_", "_"), ("\\#", "#")):
            text = text.replace(sign, plain)
        for row in summary.rows[:3]:
            assert all(cell in text for cell in row[1:] if cell and cell.isascii()), (form, row)


def test_a_model_card_has_an_index_that_yaml_reads() -> None:
    ev = made("binary")
    _, head, body = FORMS["card"](summary_of(ev)).split("---\n", 2)
    (entry,) = yaml.safe_load(head)["model-index"]
    (result,) = entry["results"]
    values = {metric["type"]: metric["value"] for metric in result["metrics"]}
    assert values["recall"] == ev["recall"].value
    assert set(result) == {"task", "dataset", "metrics"} and set(result["dataset"]) == {"name", "type"}
    assert body.lstrip().startswith("# Evaluation")


def test_latex_is_balanced_and_escaped() -> None:
    text = FORMS["tex"](summary_of(made("binary")))
    begun, ended = re.findall(r"\\begin{(\w+)}", text), re.findall(r"\\end{(\w+)}", text)
    assert begun == ended[::-1] == ["table", "tabular"]
    rows = [line for line in text.splitlines() if not line.startswith("%")]
    assert not any(re.search(r"(?<!\\)[%#_]", line) for line in rows)
    assert len({line.count(" & ") for line in rows if line.endswith(r"\\")}) == 1


def test_the_page_has_the_summary_in_a_box() -> None:
    ev = made("binary")
    (box,) = tree(render(ev)).iter(XHTML + "textarea")
    assert box.text.strip() == FORMS["md"](summary_of(ev)).strip()


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
    ran = run(capsys, *command.split(), "--summary", "slack")
    assert (ran.code, ran.out[:1]) == (0, "*") and "•" in ran.out
    assert not list(table.parent.glob("*.html"))
    assert run(capsys, *command.split(), "--summary", "md", "--json").code == 2

"""Work on several runs: the worst exit code, failures that do not stop the others, JSON line by line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalreport.cli.console import Console
from evalreport.cli.parallel import each_run
from evalreport.core.errors import DataError, NotFoundError
from tests.cli.running import run

Capture = pytest.CaptureFixture[str]


def work(item: str) -> str:
    if item == "lost":
        raise NotFoundError("there is no such run", where=item)
    if item == "broken":
        raise DataError("no truth", where=item)
    return item


def element(item: str) -> dict[str, Any]:
    return {"source": item, "ok": item != "bad"}


@pytest.mark.parametrize(
    ("items", "code"),
    [(["a", "b"], 0), (["a", "bad"], 1), (["bad", "broken"], 5), (["broken", "lost", "bad"], 5)],
)
def test_the_worst_exit_code_is_the_commands(items: list[str], code: int, capsys: Capture) -> None:
    failed: list[str] = []
    done = each_run(Console(json=True), items, work, element, {}, lambda item, _: failed.append(item))
    assert done == code
    found = json.loads(capsys.readouterr().out)
    assert [run["source"] for run in found["runs"]] == items
    assert [run["ok"] for run in found["runs"]] == [item in "ab" for item in items]
    assert found["ok"] == (code == 0)
    assert failed == [item for item in items if item in ("broken", "lost")]


def test_the_first_failure_may_end_it(capsys: Capture) -> None:
    code = each_run(Console(), ["a", "broken", "b"], work, element, {"jsonl": True, "fail_fast": True})
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert (code, [line["source"] for line in lines]) == (5, ["a", "broken"])
    assert lines[1]["error"]["where"] == "broken"


def test_one_item_alone_fails_as_the_command_does(capsys: Capture) -> None:
    with pytest.raises(DataError, match="no truth"):
        each_run(Console(json=True), ["broken"], work, element, {})
    assert each_run(Console(), ["broken"], work, element, {"jsonl": True}) == 5


def test_one_page_is_not_named_for_several_results(capsys: Capture, tmp_path: Path) -> None:
    tables = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for table in tables:
        table.write_text("y_true,y_pred\n1,1\n0,0\n")
    done = run(capsys, "report", *map(str, tables), "-o", str(tmp_path / "both.html"))
    assert done.code == 2
    assert "-o names one file for several results" in done.err
    assert sorted(tmp_path.iterdir()) == tables

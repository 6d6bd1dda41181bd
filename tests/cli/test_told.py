"""What was assumed or left aside for an evaluation is told on the terminal, in JSON and on the page."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from pathlib import Path

import pytest

import evalreport
from evalreport.sources.mlflow_client import Store
from tests.cli.running import run
from tests.tracking import files_of, make_run

Capture = pytest.CaptureFixture[str]
SAID = {"notes", "warnings", "doubts", "left", "remarks", "not_used", "unused"}
"""Names of fields that carry what the user has to be told."""
ON_THE_WAY = ("sources", "evaluation", "predictions", "scores", "provenance")
"""Where an evaluation comes from."""
IDS = "id,y_true,y_pred\n1,a,a\n1,b,b\n2,a,b\n"
MADE: dict[str, tuple[str, str | None, str]] = {
    "an id of several rows": (IDS, None, "1 id occurs more than once (first: rows 0 and 1)"),
    "rows by order": ("y_pred\na\nb\nb\n", "y_true\na\nb\na\n", "their rows are joined by their order"),
    "a clipped score": ("y_true,score\n1,1.0000001\n0,0.2\n", None, "float noise and was clipped"),
    "a column": ("y_true,score,age\n1,0.8,3\n0,0.2,4\n", None, "not used: age"),
    "a label without scores": (
        "y_true,y_pred,proba_a,proba_b\na,a,0.6,0.4\nb,b,0.4,0.6\nc,c,0.4,0.6\n",
        None,
        "1 label without a score column",
    ),
    "scores of no use": ("y_true,y_pred,score\na,a,7\nb,c,8\nc,c,9\n", None, "one column ranks no class"),
}
"""Predictions, truth of another file, and what is to be told of them."""
FOLLOWED = {
    "evaluation.document.EvaluationRecord.notes": "an id of several rows",
    "evaluation.model.Evaluation.notes": "an id of several rows",
    "predictions.Predictions.notes": "an id of several rows",
    "provenance.Provenance.notes": "a column",
    "scores.Probabilities.notes": "a clipped score",
    "scores.Decisions.notes": "",  # nothing is noted of scores without a range
    "sources.columns.Found.notes": "a label without scores",
    "sources.columns.Found.unused": "a column",
    "sources.run_tables.RunTable.notes": "a file of a run",
    "sources.shapes.join.Rows.notes": "rows by order",
    "sources.shapes.layout.Parts.notes": "a label without scores",
    "sources.shapes.single._Scored.notes": "scores of no use",
}
"""From each field that carries a warning to the case that follows it."""


def carriers() -> set[str]:
    """Every field of a dataclass on the way to an evaluation whose name says that it carries a warning."""
    found = set()
    for module in pkgutil.walk_packages(evalreport.__path__, "evalreport."):
        if module.name.split(".")[1] not in ON_THE_WAY:
            continue
        for kind in vars(importlib.import_module(module.name)).values():
            if isinstance(kind, type) and dataclasses.is_dataclass(kind) and kind.__module__ == module.name:
                names = SAID & {field.name for field in dataclasses.fields(kind)}
                found |= {f"{module.name}.{kind.__name__}.{name}" for name in names}
    return {name.removeprefix("evalreport.") for name in found}


def test_every_field_that_carries_a_warning_is_followed() -> None:
    assert carriers() == set(FOLLOWED)
    assert set(FOLLOWED.values()) - {""} == {*MADE, "a file of a run"}


@pytest.mark.parametrize("case", MADE)
def test_a_warning_reaches_terminal_json_and_page(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    monkeypatch.chdir(tmp_path)
    rows, truth, note = MADE[case]
    Path("rows.csv").write_text(rows)
    Path("truth.csv").write_text(truth or "")
    more = () if truth is None else ("--truth-file", "truth.csv")
    done = run(capsys, "report", "rows.csv", *more, "-o", "page.html", "--json")
    assert done.code == 0, done.err
    assert [line for line in done.err.splitlines() if line.startswith("warning: ") and note in line], done.err
    assert note in done.out
    assert note in Path("page.html").read_text(encoding="utf-8")


def test_a_file_of_a_run_that_is_set_aside_is_told(
    capsys: Capture, sqlite_store: Store, tmp_path: Path
) -> None:
    files = {"predictions.csv": "y_true,y_pred\na,a\nb,b\na,b\n", "scores.csv": "epoch,loss\n1,0.5\n2,0.4\n"}
    made = make_run(sqlite_store, files, folder=tmp_path)
    done = run(capsys, "log", "--run-id", made.run_id, "--tracking-uri", sqlite_store.uri, "--json")
    assert done.code == 0, done.err
    note = "scores.csv set aside"
    assert [line for line in done.err.splitlines() if line.startswith("warning: ") and note in line], done.err
    assert note in done.out
    (page,) = files_of(sqlite_store, made.run_id, tmp_path / "got").rglob("*.html")
    assert note in page.read_text(encoding="utf-8")

"""What was assumed, set aside or left is reported on the terminal, in JSON and on the page, if any."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from pathlib import Path

import pytest

import evalreport
from evalreport.tracking.client import Store
from tests.cli.running import Ran, run
from tests.sweeping import optuna_study
from tests.tracking import files_of, make_run

Capture = pytest.CaptureFixture[str]
SAID = {"clipped", "notes", "warnings", "doubts", "left", "remarks", "not_used", "unused"}
"""Names of fields that carry what the user has to see."""
IDS = "id,y_true,y_pred\n1,a,a\n1,b,b\n2,a,b\n"
MADE: dict[str, tuple[str, str | None, str]] = {
    "an id of several rows": (IDS, None, "1 id occurs more than once (first: rows 0 and 1)"),
    "rows by order": ("y_pred\na\nb\nb\n", "y_true\na\nb\na\n", "their rows are joined by their order"),
    "a clipped score": ("y_true,score\n1,1.0000001\n0,0.2\n", None, "float noise and was clipped"),
    "a column": ("y_true,score,age\n1,0.8,3\n0,0.2,4\n", None, "columns without a role: age"),
    "a label without scores": (
        "y_true,y_pred,proba_a,proba_b\na,a,0.6,0.4\nb,b,0.4,0.6\nc,c,0.4,0.6\n",
        None,
        "1 label without a score column",
    ),
    "scores of no use": (
        "y_true,y_pred,score\na,a,7\nb,c,8\nc,c,9\n",
        None,
        "one column cannot rank the classes",
    ),
}
"""Predictions, truth of another file, and what is to be reported."""
NO_WARNING = ""
FOLLOWED = {
    "api.compare.Comparison.notes": "a comparison",
    "api.compare.PlottedSelection.notes": "an own objective",
    "columns.join.Extras.notes": "quantile bins",
    "evaluation.evaluation.ThresholdSelection.notes": "an own objective",
    "api.evaluate.Evaluation.notes": "an id of several rows",
    "cli.console.Console.warnings": "a setting",
    "cli.settings.Settings.warnings": "a setting",
    "features.graded.evaluation.GradedEvaluation.notes": "grades",
    "features.graded.evaluation.GradedRecord.notes": "grades",
    "features.graded.presentation.GradedPresentation.notes": NO_WARNING,
    "features.systems.api.SystemsComparison.notes": "systems",
    "features.systems.variance.SystemsComparison.notes": "systems",
    "comparison.comparison.Comparison.notes": "a comparison",
    "evaluation.evaluation.EvaluationRecord.notes": "an id of several rows",
    "evaluation.evaluation.Evaluation.notes": "an id of several rows",
    "evaluation.evaluate.Observed.notes": "an id of several rows",
    "page.comparison.sections.ComparisonHeader.notes": "a comparison",
    "page.sections.label_table.Micro.left": NO_WARNING,  # labels that were rightly left alone
    "page.sections.threshold.Flag.left": NO_WARNING,  # a place
    "page.sections.threshold.ConfusionTable.left": NO_WARNING,
    "page.sections.first_screen.FirstScreen.left": NO_WARNING,  # a place
    "data.predictions.Predictions.notes": "an id of several rows",
    "core.result.Provenance.notes": "a column",
    "page.text_summary.ComparisonBrief.notes": "a comparison",
    "data.scores.Probabilities.clipped": "a clipped score",
    "tracking.log_results.Plan.notes": "a logging",
    "tracking.runs.Logged.left": "a logging",
    "tracking.runs.Logged.notes": "a logging",
    "columns.find_columns.Found.notes": "a label without scores",
    "columns.find_columns.Found.unused": "a column",
    "tracking.find_predictions.RunStream.notes": "a file of a run",
    "tracking.find_predictions.RunTable.notes": "a file of a run",
    "columns.join.Rows.notes": "rows by order",
    "columns.read_labels.Parts.notes": "a label without scores",
    "columns.read_labels._Scored.notes": "scores of no use",
    "thresholds.trial_search.Trials.notes": "a study",
    "workflow.deliver.Delivered.warnings": "a logging",
    "workflow.request.Request.notes": NO_WARNING,  # what the user writes onto the page
    "workflow.request.PageRequest.notes": NO_WARNING,
    "features.studies.sweep_trials.StudyRequest.notes": NO_WARNING,
    "features.systems.compare.GroupedItems.notes": "systems",
    "features.site.build.MadeSite.warnings": "a logging",
    "features.studies.presentation.StudyPresentation.notes": NO_WARNING,
    "features.systems.page.SystemsPresentation.notes": NO_WARNING,
    "page.comparison.sections.ComparisonBase.notes": NO_WARNING,
    "page.comparison.sections.ComparisonPresentation.notes": NO_WARNING,
    "page.contents.EvaluationPresentation.notes": NO_WARNING,
    "page.payload.Presentation.notes": NO_WARNING,
    "page.selection.SelectionPresentation.notes": NO_WARNING,
    "page.selection.SweepPresentation.notes": NO_WARNING,
    "workflow.deliver.Deliverable.notes": NO_WARNING,
    "readers.content.Content.notes": "a file of a run",
    "readers.formats.RawTable.notes": "a file of a run",
    "tracking.runs.RunInfo.remarks": "a logging",
}
ELSEWHERE = {"a file of a run", "a comparison", "a study", "a logging", "a setting", "systems", "grades"} | {
    "quantile bins",
    "an own objective",
}
"""Cases that are more than predictions, each with a test of its own."""
"""From each field that carries a warning to the case that follows it."""


def carriers() -> set[str]:
    """Every field of a dataclass whose name says that it carries a warning."""
    found = set()
    for module in pkgutil.walk_packages(evalreport.__path__, "evalreport."):
        for kind in vars(importlib.import_module(module.name)).values():
            if isinstance(kind, type) and dataclasses.is_dataclass(kind) and kind.__module__ == module.name:
                names = SAID & {field.name for field in dataclasses.fields(kind)}
                found |= {f"{module.name}.{kind.__name__}.{name}" for name in names}
    return {name.removeprefix("evalreport.") for name in found}


def test_every_field_that_carries_a_warning_is_followed() -> None:
    assert carriers() == set(FOLLOWED)
    assert set(FOLLOWED.values()) - {NO_WARNING} == {*MADE, *ELSEWHERE}


@pytest.mark.parametrize("case", MADE)
def test_a_warning_reaches_terminal_json_and_page(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    monkeypatch.chdir(tmp_path)
    rows, truth, note = MADE[case]
    Path("rows.csv").write_text(rows)
    Path("truth.csv").write_text(truth or "")
    more = () if truth is None else ("--set", "truth_file=truth.csv")
    done = run(capsys, "report", "rows.csv", *more, "-o", "page.html", "--json")
    check_reported(done, note, Path("page.html"))


def check_reported(done: Ran, note: str, *pages: Path) -> None:
    """Hold a command's words, its JSON and its pages against a warning."""
    assert done.code == 0, done.err
    assert [line for line in done.err.splitlines() if line.startswith("warning: ") and note in line], done.err
    assert note in done.out
    assert all(note in page.read_text(encoding="utf-8") for page in pages)


def test_what_is_noted_of_grades_is_reported(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"q{k},{'' if k == 5 else 'correct' if k % 3 else 'incorrect'}\n" for k in range(30))
    Path("rows.csv").write_text(f"question,grade\n{rows}")
    done = run(capsys, "report", "rows.csv", "-o", "page.html", "--json")
    (note,) = done.json["runs"][0]["notes"]
    check_reported(done, note, Path("page.html"))


def test_what_is_noted_of_compared_runs_is_reported(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("id,y_true,y_pred\n1,a,a\n2,b,b\n3,a,b\n")
    Path("b.csv").write_text("id,y_true,y_pred,age\n1,a,a,3\n2,b,a,4\n3,a,a,5\n")
    done = run(capsys, "compare", "a.csv", "b.csv", "-o", "page.html", "--json")
    check_reported(done, "columns without a role: age", Path("page.html"))


def test_what_is_noted_of_a_study_is_reported(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    url = optuna_study("sqlite:///s.db", "s", lambda trial: trial.suggest_float("x", 0, 1), 6)
    done = run(capsys, "sweep", "optuna", "--study", url, "--metric", "loss", "-o", "page.html", "--json")
    check_reported(done, "the study does not name its value; it is taken for loss", Path("page.html"))


def test_what_a_logging_leaves_is_reported(capsys: Capture, sqlite_store: Store, tmp_path: Path) -> None:
    made = make_run(sqlite_store, {"predictions.csv": "y_true,y_pred\na,a\nb,b\na,b\n"}, folder=tmp_path)
    command = ("log", "--run-id", made.run_id, "--tracking-uri", sqlite_store.uri, "--set", "confidence=none")
    sqlite_store.client.log_metric(made.run_id, "eval/accuracy", 0.5)
    theirs = run(capsys, *command, "--metrics", "accuracy,f1", "--json")
    check_reported(theirs, "1 metric with evalreport's names already came from another source: eval/accuracy")
    left = run(capsys, *command, "--metrics", "accuracy", "--json")
    check_reported(left, "an earlier logging left what this one does not have: eval/f1")
    assert left.json["runs"][0]["logged"]["left"] == ["eval/f1"]


def test_a_setting_that_is_ignored_is_reported(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    Path("rows.csv").write_text(IDS)
    Path("pyproject.toml").write_text('[tool.evalreport]\ntracking_uri = "http://127.0.0.1:9"\n')
    done = run(capsys, "report", "rows.csv", "-o", "page.html", "--json")
    check_reported(done, "tracking_uri in pyproject.toml is ignored")


def test_a_file_of_a_run_that_is_set_aside_is_reported(
    capsys: Capture, sqlite_store: Store, tmp_path: Path
) -> None:
    files = {"predictions.csv": "y_true,y_pred\na,a\nb,b\na,b\n", "scores.csv": "epoch,loss\n1,0.5\n2,0.4\n"}
    made = make_run(sqlite_store, files, folder=tmp_path)
    done = run(capsys, "log", "--run-id", made.run_id, "--tracking-uri", sqlite_store.uri, "--json")
    (page,) = files_of(sqlite_store, made.run_id, tmp_path / "got").rglob("*.html")
    check_reported(done, "scores.csv set aside", page)


@pytest.mark.parametrize(
    "command", [("report",), ("sweep", "thresholds", "--objective", "f1"), ("check",), ("compare",)]
)
def test_scores_of_the_other_label_are_reported_by_every_command(
    command: tuple[str, ...], tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of churn and stay the later in the alphabet is positive, and half of all people mean the other."""
    monkeypatch.chdir(tmp_path)
    for name, step in (("one", 0.004), ("two", 0.005)):
        rows = [f"{'churn' if i % 3 else 'stay'},{(0.4 if i % 3 else 0.1) + i * step:.4f}" for i in range(90)]
        Path(f"{name}.csv").write_text("\n".join(["y_true,score", *rows]))
    files = ["one.csv", "two.csv"] if command == ("compare",) else ["one.csv"]
    ran = run(capsys, *command, *files, "--set", "resamples=100")
    assert "--positive churn" in ran.err.replace("\n", " "), ran.err


def test_an_error_names_its_file_once(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("y_true,y_pred,site\na,a,n\nb,a,s\n")
    ran = run(capsys, "report", "rows.csv", "--where", "site=x")
    assert ran.code == 5 and ran.err.count("rows.csv") == 1, ran.err

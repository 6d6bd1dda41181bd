"""`evalreport sweep`: thresholds, Optuna studies and child runs; what is printed, written, and goes wrong."""

from __future__ import annotations

import math
import re
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evalreport.tracking.client import Store
from tests.cli.running import run
from tests.sweeping import GRID, nested_runs, optuna_study

SPAM = str(Path(__file__).parents[2] / "examples" / "data" / "sms_spam" / "oof_scores.parquet")
OF_SPAM = ("--score", "score_nb", "--positive", "spam")
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def study(name: str, objective: Any, n: int = 14, file: str = "", **settings: Any) -> str:
    return optuna_study(f"sqlite:///{file or name}.db", name, objective, n, **settings)


def mixed(trial: Any) -> float:
    """Conditional and categorical parameters, NaN and infinite values."""
    x = float(trial.suggest_float("x", 0, 1))
    if trial.suggest_categorical("kernel", ["rbf", "linear", None]) == "rbf":
        trial.suggest_int("degree", 1, 5)
    return {3: math.nan, 4: math.inf}.get(trial.number, x)


def failing(trial: Any) -> float:
    trial.suggest_float("x", 0, 1)
    raise RuntimeError


def test_thresholds_as_a_table_with_out_of_sample_values(capsys: Capture) -> None:
    done = run(capsys, "sweep", "thresholds", SPAM, *OF_SPAM, "--objective", "recall>=0.95", "--cost", "10")
    assert done.code == 0
    lines = done.out.splitlines()[2:]
    assert [line.split()[0] for line in lines] == ["objective", "recall>=0.95", "cost"]
    assert max(map(len, lines)) <= 80
    assert "chosen on the cases they are reported on" in done.err
    assert not list(Path.cwd().iterdir())


def test_a_stated_prevalence_stands_in_table_json_and_page(capsys: Capture) -> None:
    asked = ("sweep", "thresholds", SPAM, *OF_SPAM, "--objective", "recall>=0.95", "--set", "prevalence=1 %")
    done = run(capsys, *asked, "-o", "sweep.html")
    heads = next(line for line in done.out.splitlines() if "alerts_per_1000@prevalence=0.01" in line)
    assert heads.split()[1] == "precision@prevalence=0.01"
    assert "at a prevalence of 1%" in Path("sweep.html").read_text(encoding="utf-8")
    found = run(capsys, *asked, "--json").json["sweep"]["optima"]["recall>=0.95"]["deployment"]
    ppv = found["precision@prevalence=0.01"]
    assert 0 < ppv["low"] < ppv["value"] < ppv["high"] < 1
    assert found["alerts_per_1000@prevalence=0.01"]["value"] * ppv["value"] == pytest.approx(9.5, abs=0.1)


def test_json_holds_every_threshold_beside_the_run(capsys: Capture) -> None:
    body = run(capsys, "sweep", "thresholds", SPAM, *OF_SPAM, "--objective", "f1", "--json").json
    assert (len(body["runs"]), body["runs"][0]["source"]) == (1, "oof_scores.parquet")
    f1 = body["sweep"]["optima"]["f1"]
    assert f1["held_out"] < f1["apparent"]
    assert f1["low"] <= f1["threshold"] <= f1["high"]
    assert len(body["sweep"]["points"]) > 5000


def test_a_page_and_a_folder(capsys: Capture) -> None:
    done = run(
        capsys,
        "sweep",
        "thresholds",
        SPAM,
        *OF_SPAM,
        "--objective",
        "f1",
        "-o",
        "s.html",
        "--output",
        "all",
        "-q",
    )
    assert done.code == 0
    page = Path("s.html").read_text()
    assert page.startswith("<!doctype html>")
    assert len(page) < 150_000
    names = {path.name for path in Path("all").iterdir()}
    assert names == {
        *(
            ".evalreport",
            "evalreport_sweep.html",
            "sweep.json",
            "optima.csv",
            "thresholds.parquet",
            "sweep_thresholds.png",
            "figures",
            "tables",
        )
    }


def test_a_study_with_all_that_may_be_odd(capsys: Capture) -> None:
    storage = study("odd", mixed)
    done = run(capsys, "sweep", "optuna", "--study", storage, "--metric", "accuracy", "--examples", "100")
    assert done.code == 0, done.err
    assert "NaN or infinite" in done.err
    assert "has no noticeable selection bias: expect 0.945 on new data." in done.out
    assert "e-1" not in done.out and "looks" not in done.out
    assert done.out.splitlines()[-1] == "odd.html"
    body = run(capsys, "sweep", "optuna", "--study", storage, "--json").json
    assert body["sweep"]["best"]["values"]["value"] < 1
    assert body["sweep"]["winners_curse"]["reason"]
    assert body["runs"] == []


def test_several_objectives(capsys: Capture) -> None:
    storage = study(
        "two",
        lambda t: (t.suggest_float("x", 0, 1), t.suggest_float("y", 0, 1)),
        direction=None,
        directions=["maximize", "minimize"],
    )
    body = run(capsys, "sweep", "optuna", "--study", storage, "--json", "--output", "all").json
    assert 0 < len(body["sweep"]["front"]) < 14
    assert Path("all/sweep_front.png").is_file()
    (other,) = body["sweep"]["others"].values()
    trials = body["sweep"]["trials"]
    assert trials[other["best"]]["values"][1] == min(trial["values"][1] for trial in trials)
    assert set(other["importance"]["shares"]) == {"x", "y"}
    reported = run(
        capsys, "sweep", "optuna", "--study", storage, "--metric", "value_1", "--standard-error", "0.1"
    )
    assert reported.code == 0, reported.err
    assert "The best value_1 is" in reported.out
    assert "of it selection bias" in reported.out
    assert [line.split(" (")[0] for line in reported.out.splitlines() if line.startswith("importance")] == [
        "importance for value_1",
        "importance for value_0",
    ]


def test_names_of_strangers_reach_neither_terminal_nor_figures_raw(capsys: Capture) -> None:
    evil, word = "a\x1b[31mred\u202e", "長い名前"

    def objective(trial: Any) -> float:
        value = float(trial.suggest_float(evil, 0, 1))
        return value + float(trial.suggest_categorical(word, ["=1+1", "x\ny"]) == "x\ny")

    storage = study("st\x1b]8;;udy", objective, file="evil")
    done = run(capsys, "sweep", "optuna", "--study", storage, "--metric", "score", "--output", "all")
    assert done.code == 0, done.err
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", done.out + done.err)
    assert "Sentence(" not in done.err
    assert "Glyph" not in done.err
    assert "it is taken for score" in done.err
    assert "'=1+1" in Path("all/trials.csv").read_text(encoding="utf-8")
    assert len(list(Path("all").glob("*.png"))) >= 4


ERRORS = [
    (("optuna", "--study", "sqlite:///none.db"), 3, "no Optuna storage"),
    (("optuna", "--study", "sqlite:///empty.db"), 5, "has no trials"),
    (("optuna", "--study", "sqlite:///empty.db", "--study-name", "b"), 3, "studies there: empty"),
    (("optuna", "--study", "sqlite:///failed.db"), 5, "no trial completed"),
    (("optuna", "--study", "sqlite:///failed.db", "--log"), 2, "--run-id"),
    (("optuna",), 2, "--study"),
    (("optunas",), 2, "Did you mean optuna"),
    (("thresholds",), 2, "no file"),
    (("thresholds", "one.csv", "--labels", "0,1", "--objective", "youden"), 5, "no negative example"),
    (("thresholds", "labels.csv"), 2, "no scores"),
    (("thresholds", "constant.csv", "--objective", "precision>=0.9"), 5, "best reachable is 0.5"),
    (("thresholds", "constant.csv", "--objective", "f11"), 2, "Did you mean f1"),
    (("thresholds", "constant.csv", "--objective", "f1", "--objective", "max-f1"), 2, "two objectives"),
    (("thresholds", "constant.csv", "--log"), 2, "--run-id"),
    (("thresholds", "constant.csv", "-n"), 2, "--log"),
    (("thresholds", "constant.csv", "--cost", "costs.json"), 2, "--cost N"),
    (("thresholds", "constant.csv", "--trials", "9"), 2, "exact solution"),
    (("thresholds", "constant.csv", "--objective", "accuracy>=1.5"), 2, "can never be met"),
    (("thresholds", "constant.csv", "--tune-on", "one.csv"), 5, "all '1'"),
    (("thresholds", "constant.csv", "--tune-on", "classes.csv"), 2, "different labels"),
    (("thresholds", "gap.csv"), 5, "NaN or infinite"),
    (("thresholds", "classes.csv", "--cost", "10"), 2, "--cost FILE"),
    (("thresholds", "classes.csv", "--objective", "f1"), 2, "accuracy>=0.95 for a cut-off"),
    (("thresholds", "classes.csv", "--objective", "accuracy>=2"), 2, "up to 1"),
    (("thresholds", "classes.csv", "--study", "s.db"), 2, "remove them"),
    (("thresholds", "margins.csv", "--score-kind", "decision"), 2, "--score-kind logit"),
    (("thresholds", "several.csv", "--cost", "10"), 2, "module:function"),
    (("thresholds", "several.csv", "--objective", "recall_macro>=0.9"), 2, "constrain every label"),
    (("thresholds", "several.csv", "--trials", "9"), 2, "exact solution"),
    (("thresholds", "several.csv", "--objective", "none:f"), 2, "No module named"),
    (("optuna", "--study", "one.csv"), 5, "neither an SQLite database nor an Optuna journal"),
    (("optuna", "--study", "other.db"), 5, "no Optuna studies"),
    (("optuna", "--study", "postgresql://u:secret@h/db"), 2, "sqlite:///study.db"),
    (("optuna", "--study", "failed.db", "--metric", "f1"), 5, "no trial completed"),
    (("optuna", "--study", "both.db"), 2, "--study-name: failed, other"),
    (
        ("optuna", "--study", "both.db", "--study-name", "failed", "--study-name", "other", "--run-id", "1"),
        2,
        "one study",
    ),
    (("runs",), 2, "--run-id"),
    (("runs", "--run-id", "1234567", "--tracking-uri", "sqlite:///none.db"), 3, "creates no store"),
]


@pytest.mark.parametrize(("arguments", "code", "said"), ERRORS, ids=lambda value: str(value)[:40])
def test_each_error_is_three_lines(capsys: Capture, arguments: tuple[str, ...], code: int, said: str) -> None:
    Path("one.csv").write_text("y_true,score\n1,0.5\n1,0.6\n")
    Path("labels.csv").write_text("y_true,y_pred\na,b\nb,b\n")
    Path("constant.csv").write_text("y_true,score\n1,0.5\n0,0.5\n1,0.5\n0,0.5\n")
    classes = "0.2,0.3,0.5\n"
    rows = f"a,{classes}b,{classes}c,{classes}"
    Path("classes.csv").write_text(f"y_true,proba_a,proba_b,proba_c\n{rows}")
    Path("margins.csv").write_text(f"y_true,logit_a,logit_b,logit_c\n{rows}")
    Path("several.csv").write_text("true_a,true_b,proba_a,proba_b\n1,0,0.6,0.2\n0,1,0.3,0.8\n")
    Path("gap.csv").write_text("y_true,score\n1,0.5\n0,nan\n")
    Path("costs.json").write_text("[[0, 1], [1, 0]]")
    sqlite3.connect("other.db").execute("CREATE TABLE t (x)").connection.close()
    if "both.db" in arguments:
        study("failed", failing, 1, file="both")
        study("other", mixed, 1, file="both")
    elif arguments[:2] == ("optuna", "--study"):
        study("empty", mixed, 0)
        study("failed", failing, 2)
    done = run(capsys, "sweep", *arguments, "-q")
    assert (done.code, done.out) == (code, "")
    lines = done.err.splitlines()
    assert [line[:6] for line in lines] == ["error:", "  at  ", "  fix "]
    assert said in done.err
    assert "secret" not in done.err
    assert not Path("none.db").exists()


STRANGE = [
    ([], (), 5, "the run has no child runs"),
    ([{"params": {"C": "1"}}], (), 5, "no child run has a metric"),
    ([{"metrics": {"f1": 0.5, "loss": 1.0}}], (), 2, "name what was optimised with --metric: f1 (1 runs)"),
    (GRID, ("--metric", "f1"), 2, "val_accuracy"),
    (GRID, ("--metric", "val_accuracy", "--direction", "minimize", "--direction", "minimize"), 2, "once for"),
    ([{**row, "status": "FAILED"} for row in GRID], (), 5, "no trial completed"),
    ([{"metrics": {"f1": math.nan}}, {"metrics": {"f1": math.inf}}], (), 5, "2 of them with NaN or infinite"),
]


@pytest.mark.parametrize(("rows", "more", "code", "said"), STRANGE, ids=[entry[3][:30] for entry in STRANGE])
def test_child_runs_that_are_no_sweep(
    sqlite_store: Store,
    tmp_path: Path,
    capsys: Capture,
    rows: Any,
    more: tuple[str, ...],
    code: int,
    said: str,
) -> None:
    made = nested_runs(sqlite_store, rows, tmp_path)
    command = ["sweep", "runs", "--run-id", made.run_id, "--tracking-uri", sqlite_store.uri, *more, "-q"]
    done = run(capsys, *command)
    assert (done.code, done.out) == (code, ""), done.err
    assert [line[:6] for line in done.err.splitlines()] == ["error:", "  at  ", "  fix "]
    assert said in done.err


def test_child_runs_with_what_may_be_odd(sqlite_store: Store, tmp_path: Path, capsys: Capture) -> None:
    odd: list[dict[str, Any]] = [
        {"metrics": {"val_accuracy": math.nan}, "params": {"C": "1", "degree": "3"}},
        {"status": "FAILED"},
        {"status": "RUNNING"},
    ]
    made = nested_runs(sqlite_store, [*GRID, *odd], tmp_path)
    command = ["sweep", "runs", "--run-id", made.run_id, "--tracking-uri", sqlite_store.uri]
    body = run(capsys, *command, "--json", "-q").json["sweep"]
    assert body["counts"] == {
        "complete": 11,
        "infeasible": 0,
        "pruned": 0,
        "failed": 1,
        "running": 1,
        "waiting": 0,
    }
    assert (body["n_non_finite"], body["best"]["values"]["val_accuracy"]) == (1, pytest.approx(0.86))
    done = run(capsys, *command)
    assert done.code == 0
    assert "1 trial ended with a NaN or infinite value and cannot be the best" in done.err


def test_constant_scores_are_reported(capsys: Capture) -> None:
    Path("constant.csv").write_text("y_true,score\n1,0.5\n0,0.5\n1,0.5\n0,0.5\n")
    done = run(capsys, "sweep", "thresholds", "constant.csv", "--objective", "f1")
    assert done.code == 0
    assert "All scores are equal" in done.err


def lucky(trial: Any) -> float:
    """The accuracy of one model on 400 examples, drawn again for each trial."""
    trial.suggest_float("x", 0, 1)
    return float(np.random.default_rng(trial.number).binomial(400, 0.8)) / 400


def test_the_number_of_examples_alone_gives_the_selection_bias_of_a_proportion(capsys: Capture) -> None:
    optuna_study("sqlite:///lucky.db", "lucky", lucky, 30)
    command = ("sweep", "optuna", "--study", "sqlite:///lucky.db", "--examples", "400")
    for name in ("accuracy", "val_accuracy", "val_acc", "recall"):
        body = run(capsys, *command, "--metric", name, "--json", "-q").json["sweep"]
        curse, winner = body["winners_curse"], body["winner"]
        assert curse["reason"] is None and curse["n"] == 400
        assert curse["standard_error"] == pytest.approx(0.02, abs=0.002)
        assert 0.02 < curse["optimism"] < 0.06
        assert winner["low"] < 0.8 < winner["high"] and winner["value"] < body["best"]["values"][name]
    done = run(capsys, *command, "--metric", "accuracy")
    assert "The best of 30 trials on 400 examples looks up to" in done.out


@pytest.mark.parametrize(
    ("named", "needs"),
    [(("--metric", "f1_macro"), "--standard-error S"), ((), "add --metric accuracy")],
)
def test_what_else_the_selection_bias_needs_is_said(
    named: tuple[str, ...], needs: str, capsys: Capture
) -> None:
    optuna_study("sqlite:///lucky.db", "lucky", lucky, 12)
    command = ("sweep", "optuna", "--study", "sqlite:///lucky.db", *named)
    done = run(capsys, *command, "--examples", "400")
    assert done.code == 0 and "is not a proportion of examples" in done.out and needs in done.out
    more = ("--standard-error", "0.02")
    assert run(capsys, *command, *more, "--json", "-q").json["sweep"]["winners_curse"]["reason"] is None
    both = run(capsys, *command, *more, "--examples", "400", "-q")
    assert both.code == 2 and "no effect beside it" in both.err

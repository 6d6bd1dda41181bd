"""`evalreport sweep`: thresholds, Optuna studies and child runs; what is printed, written, and goes wrong."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from evalreport.sweep.optuna_library import quiet_optuna
from tests.cli.running import run

SPAM = str(Path(__file__).parents[2] / "examples" / "data" / "sms_spam" / "oof_scores.parquet")
OF_SPAM = ("--score", "score_nb", "--positive", "spam")
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def study(name: str, objective: Any, n: int = 14, **settings: Any) -> str:
    with quiet_optuna() as optuna:
        sampler = optuna.samplers.RandomSampler(seed=0)
        settings.setdefault("direction", "maximize")
        made = optuna.create_study(
            storage=f"sqlite:///{name}.db", study_name=name, sampler=sampler, **settings
        )
        made.optimize(objective, n_trials=n, catch=(RuntimeError,))
    return f"sqlite:///{name}.db"


def mixed(trial: Any) -> float:
    """Conditional and categorical parameters, NaN and infinite values."""
    x = float(trial.suggest_float("x", 0, 1))
    if trial.suggest_categorical("kernel", ["rbf", "linear", None]) == "rbf":
        trial.suggest_int("degree", 1, 5)
    return {3: math.nan, 4: math.inf}.get(trial.number, x)


def failing(trial: Any) -> float:
    trial.suggest_float("x", 0, 1)
    raise RuntimeError


def test_thresholds_as_a_table_with_honest_values(capsys: Capture) -> None:
    done = run(capsys, "sweep", "thresholds", SPAM, *OF_SPAM, "--objective", "recall>=0.95", "--cost", "10")
    assert done.code == 0
    assert [line.split()[0] for line in done.out.splitlines()[1:]] == ["for", "recall>=0.95", "cost"]
    assert "same cases" in done.err
    assert not list(Path.cwd().iterdir())


def test_json_holds_every_threshold_beside_the_run(capsys: Capture) -> None:
    body = run(capsys, "sweep", "thresholds", SPAM, *OF_SPAM, "--objective", "f1", "--json").json
    assert (len(body["runs"]), body["runs"][0]["source"]) == (1, "oof_scores.parquet")
    f1 = body["sweep"]["optima"]["f1"]
    assert f1["honest"] < f1["apparent"]
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
        "--out",
        "all",
        "-q",
    )
    assert done.code == 0
    page = Path("s.html").read_text()
    assert page.startswith("<!doctype html>")
    assert len(page) < 150_000
    names = {path.name for path in Path("all").iterdir()}
    assert names == {
        *("evalreport_sweep.html", "sweep.json", "optima.csv", "thresholds.parquet", "sweep_thresholds.png")
    }


def test_a_study_with_all_that_may_be_odd(capsys: Capture) -> None:
    storage = study("odd", mixed)
    done = run(capsys, "sweep", "optuna", "--study", storage, "--metric", "accuracy", "--examples", "100")
    assert done.code == 0, done.err
    assert "NaN or infinite" in done.err
    assert "may look up to" in done.out
    assert done.out.splitlines()[-1] == "sweep.html"
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
    body = run(capsys, "sweep", "optuna", "--study", storage, "--json", "--out", "all").json
    assert 0 < len(body["sweep"]["front"]) < 14
    assert Path("all/sweep_front.png").is_file()


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
]


@pytest.mark.parametrize(("arguments", "code", "said"), ERRORS, ids=lambda value: str(value)[:40])
def test_each_error_is_three_lines(capsys: Capture, arguments: tuple[str, ...], code: int, said: str) -> None:
    Path("one.csv").write_text("y_true,score\n1,0.5\n1,0.6\n")
    Path("labels.csv").write_text("y_true,y_pred\na,b\nb,b\n")
    Path("constant.csv").write_text("y_true,score\n1,0.5\n0,0.5\n1,0.5\n0,0.5\n")
    if arguments[:2] == ("optuna", "--study"):
        study("empty", mixed, 0)
        study("failed", failing, 2)
    done = run(capsys, "sweep", *arguments, "-q")
    assert (done.code, done.out) == (code, "")
    lines = done.err.splitlines()
    assert [line[:6] for line in lines] == ["error:", "  at  ", "  fix "]
    assert said in done.err
    assert not Path("none.db").exists()


def test_constant_scores_are_told(capsys: Capture) -> None:
    Path("constant.csv").write_text("y_true,score\n1,0.5\n0,0.5\n1,0.5\n0,0.5\n")
    done = run(capsys, "sweep", "thresholds", "constant.csv", "--objective", "f1")
    assert done.code == 0
    assert "All scores are equal" in done.err

"""Constraints of a study: what is infeasible is never the best, wherever the study is stored."""

from __future__ import annotations

import math
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from evalreport.core.errors import DataError, UnsafeFileError
from evalreport.core.result import Undefined
from evalreport.features.studies.page import headline
from evalreport.features.studies.presentation import (
    sections,
    study_metrics,
    study_series,
    study_tags,
    trials_table,
)
from evalreport.features.studies.read import trials_from_optuna
from evalreport.features.studies.study import (
    Importance,
    Study,
    analyse_study,
    constraints_of,
    doubts,
    mark_infeasible,
)
from evalreport.features.studies.views import study_figures
from evalreport.thresholds.trial import Judging, StudyObjective, Trial
from evalreport.thresholds.trial_search import Trials, quiet_optuna
from tests.cli.running import run


def stored(storage: Any, constraints: dict[int, Any], n_trials: int = 16) -> None:
    """A study of one objective in which the greater half of x breaks a constraint."""
    with quiet_optuna() as optuna:
        study = optuna.create_study(storage=storage, study_name="limited", direction="maximize")
        for number in range(n_trials):
            trial = optuna.trial.create_trial(
                value=0.5 + number / 100,
                params={"x": float(number), "noise": float(number * 7 % 5)},
                distributions={
                    "x": optuna.distributions.FloatDistribution(0, 100),
                    "noise": optuna.distributions.FloatDistribution(0, 5),
                },
                system_attrs={} if number not in constraints else dict(constraints[number]),
            )
            study.add_trial(trial)


def halves(key: str = "constraints") -> dict[int, Any]:
    whole = key == "constraints"
    return {n: {key: [-1.0, n - 7.5] if whole else n - 7.5, "other": "x"} for n in range(16)}


def journal(optuna: Any, path: Path) -> Any:
    return optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(str(path)))


@pytest.mark.parametrize("key", ["constraints", "constraints:memory"])
@pytest.mark.parametrize("kind", ["sqlite", "journal"])
def test_a_storage_of_either_kind_tells_what_is_infeasible(tmp_path: Path, kind: str, key: str) -> None:
    path = tmp_path / "study.db"
    with quiet_optuna() as optuna:
        stored(f"sqlite:///{path}" if kind == "sqlite" else journal(optuna, path), halves(key))
    trials = trials_from_optuna(path)
    assert trials.counts["infeasible"] == trials.counts["complete"] == 8
    assert (trials.best().number, trials.notes) == (7, ())
    with quiet_optuna() as optuna:
        storage = f"sqlite:///{path}" if kind == "sqlite" else journal(optuna, path)
        known = optuna.load_study(study_name="limited", storage=storage)
        if key == "constraints":  # which Optuna knows in every release
            assert known.best_trial.number == trials.best().number


def limited() -> Study:
    rows = [
        {
            "value": 0.5 + n / 100,
            "params": {"x": float(n), "noise": float(n * 7 % 5)},
            "state": "complete" if n < 12 else "infeasible",
            "started": float(n),
            "finished": n + 1.5,
            "intermediate": {0: 0.1, 1: 0.2},
        }
        for n in range(16)
    ]
    return analyse_study(Trials.from_records(rows, objectives="accuracy"), judging=Judging(n=400))


def test_nothing_that_is_worked_out_uses_infeasible_trials() -> None:
    study = limited()
    assert study.best.number == 11
    assert not isinstance(study.curse, Undefined)
    assert (study.curse.best, study.curse.n_trials) == (11, 12)
    assert isinstance(study.importance, Importance) and study.importance.n_trials == 12
    assert max(study.tied_trials) < 12
    wire = study.to_wire()
    assert (wire["best"]["number"], wire["counts"]["infeasible"]) == (11, 4)
    found = study_metrics(study, "")
    assert found["sweep/best/accuracy"] == pytest.approx(0.61) and found["sweep/n_complete"] == 12
    assert found["sweep/n_infeasible"] == 4
    assert max(v for _, v in study_series(study, "")["sweep/best_so_far_by_trials_pct/accuracy"]) < 0.62
    assert study_tags(study)["evalreport.sweep.best_trial"] == "11"
    assert trials_table(study)["state"].count("infeasible") == 4


def test_infeasible_trials_are_shown_as_such() -> None:
    study = limited()
    assert any("4 of 16 trials are infeasible" in doubt.claim for doubt in doubts(study))
    assert "12 complete trials" in headline(study).text
    shown = str(sections(study))
    assert "infeasible" in shown and "dots-wrong" in shown
    assert "sweep_history.png" in study_figures(study)


def test_a_front_draws_infeasible_trials_apart() -> None:
    rows = [
        {"values": (n / 10, n % 3), "params": {"a": n}, "state": "infeasible" if n > 7 else "complete"}
        for n in range(10)
    ]
    goals = [StudyObjective("f1"), StudyObjective("seconds", "minimize")]
    study = analyse_study(Trials.from_records(rows, objectives=goals))
    front = next(section for section in sections(study) if section.id == "front")
    assert "dots-wrong" in str(front) and "Orange: infeasible" in str(front)
    assert not {8, 9} & {trial.number for trial in study.trials.pareto()}
    assert "sweep_front.png" in study_figures(study)


def test_all_trials_infeasible_is_said_and_nothing_is_best(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "study.db"
    stored(f"sqlite:///{path}", {n: {"constraints": [0.5]} for n in range(16)})
    done = run(capsys, "sweep", "optuna", "--study", str(path), "-o", str(tmp_path / "page.html"), "-q")
    assert (done.code, done.out) == (5, "")
    assert "no trial meets the constraints" in done.err and "16 infeasible" in done.err
    assert not (tmp_path / "page.html").exists()
    with pytest.raises(DataError, match="no trial meets the constraints"):
        analyse_study(trials_from_optuna(path))
    alone = Study(trials_from_optuna(path))
    assert "No trial meets the constraints" in headline(alone).text
    assert alone.to_wire()["best"] is None


def test_trials_without_recorded_constraints_are_counted_and_never_best(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    some = halves()
    del some[3], some[15]
    stored(f"sqlite:///{path}", some)
    trials = trials_from_optuna(path)
    assert trials.counts["infeasible"] == 9 and trials.best().number == 7
    assert "without a recorded constraint value, counted as infeasible: 2" in trials.notes[0]


@pytest.mark.parametrize("value", [math.nan, "text", None])
def test_a_value_that_is_not_a_number_is_not_met(value: object) -> None:
    trial = Trial(0, "complete", (0.9,))
    (marked,), _ = mark_infeasible([trial], [constraints_of({"constraints:a": value})])
    assert marked.state == "infeasible"


@pytest.mark.parametrize("state", ["pruned", "failed", "running", "waiting"])
def test_other_states_stay(state: Any) -> None:
    (marked,), notes = mark_infeasible([Trial(0, state, (0.9,))], [{"0": 1.0}])
    assert (marked.state, notes) == (state, ())


def test_huge_constraints_are_refused_not_hidden(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    stored(f"sqlite:///{path}", halves(), 16)
    with sqlite3.connect(path) as database:
        database.execute(
            "UPDATE trial_system_attributes SET value_json = '[' || printf('%.*c', 40000000, ' ') || '1.0]' "
            "WHERE key = 'constraints' AND trial_id = 1"
        )
    database.close()
    with pytest.raises(UnsafeFileError, match="constraints"):
        trials_from_optuna(path)

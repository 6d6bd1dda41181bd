"""Trials from Optuna storages, as Optuna itself writes them."""

from __future__ import annotations

import logging
import math
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest

from evalreport.core.errors import (
    DataError,
    FileMissingError,
    MissingExtraError,
    NotFoundError,
    UnsafeFileError,
    UsageError,
)
from evalreport.features.studies.read import trials_from_optuna
from evalreport.thresholds.trial import StudyObjective
from evalreport.thresholds.trial_search import Trials, quiet_optuna


def objective(trial: Any) -> float:
    """Complete, pruned, failed and infinite trials, and a parameter that only one kernel has."""
    import optuna

    c = trial.suggest_float("C", 1e-3, 10.0, log=True)
    kernel = trial.suggest_categorical("kernel", ["rbf", "linear", None])
    if kernel == "rbf":
        trial.suggest_int("degree", 1, 5)
    for step in range(3):
        trial.report(c * step, step)
        if trial.number == 3 and step == 1:
            raise optuna.TrialPruned
    if trial.number == 4:
        return math.nan
    return math.inf if trial.number == 5 else float(c)


def fill(storage: Any, name: str) -> None:
    with quiet_optuna() as optuna:
        study = optuna.create_study(
            storage=storage,
            study_name=name,
            direction="maximize",
            sampler=optuna.samplers.RandomSampler(seed=1),
        )
        study.optimize(objective, n_trials=8)
        study.ask().suggest_float("C", 1e-3, 10.0, log=True)
        study.enqueue_trial({"C": 1.0})


def journal_at(path: Path) -> Any:
    with quiet_optuna() as optuna:
        return optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(str(path)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("studies")
    fill(f"sqlite:///{folder / 'one.db'}", "triage")
    fill(journal_at(folder / "journal.log"), "triage")
    with quiet_optuna() as optuna:
        both = journal_at(folder / "several.log")
        study = optuna.create_study(storage=both, study_name="front", directions=["minimize", "maximize"])
        study.set_metric_names(["seconds", "f1"])
        study.optimize(lambda trial: (trial.suggest_float("x", 0, 1), 0.5), n_trials=3)
        optuna.create_study(storage=both, study_name="empty")
    return folder


@pytest.mark.parametrize("form", ["sqlite:///{}/one.db", "{}/one.db", "{}/journal.log"])
def test_a_study_is_read_whole(folder: Path, form: str) -> None:
    trials = trials_from_optuna(form.format(folder))
    assert trials.study_name == "triage"
    assert trials.objectives == (StudyObjective("value", "maximize"),)
    assert trials.counts == {
        "complete": 6,
        "infeasible": 0,
        "pruned": 1,
        "failed": 1,
        "running": 1,
        "waiting": 1,
    }
    assert trials.n_non_finite == 1
    assert math.isfinite(trials.best().values[0])
    assert trials.best().values[0] == max(trial.params["C"] for trial in trials.contenders)  # type: ignore[type-var]
    pruned = trials.trials[3]
    assert [step for step, _ in pruned.intermediate] == [0, 1]
    assert pruned.duration is not None and pruned.duration < 60
    assert Trials.from_dict(trials.to_dict()) == trials


def test_the_declared_space_comes_along(folder: Path) -> None:
    trials = trials_from_optuna(folder / "one.db")
    c, kernel, degree = (trials.column(name) for name in ("C", "kernel", "degree"))
    assert (c.low, c.high, c.log) == (1e-3, 10.0, True)
    assert kernel.choices == ("rbf", "linear", "None")
    assert degree.kind == "number" and 0 < degree.gaps < len(trials)
    assert all((value is None) == (k != "rbf") for value, k in zip(degree.values, kernel.values, strict=True))


def test_sqlite_and_journal_say_the_same(folder: Path) -> None:
    one, other = (trials_from_optuna(folder / name) for name in ("one.db", "journal.log"))
    assert [t.params for t in one.trials] == [t.params for t in other.trials]
    assert [t.values for t in one.trials] == [t.values for t in other.trials]
    for a, b in zip(one.trials, other.trials, strict=True):
        assert a.started is None or b.started is None or abs(a.started - b.started) < 600


def test_several_objectives_keep_names_and_directions(folder: Path) -> None:
    trials = trials_from_optuna(folder / "several.log", "front")
    assert trials.objectives == (StudyObjective("seconds", "minimize"), StudyObjective("f1", "maximize"))
    assert trials.pareto()[0].number == trials.best("seconds").number


def test_reading_changes_no_byte_and_makes_no_file(folder: Path) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    trials_from_optuna(folder / "one.db")
    trials_from_optuna(folder / "several.log", "front")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_names_that_mean_something_in_a_url(folder: Path, tmp_path: Path) -> None:
    odd = tmp_path / "a b#c%41.db"
    odd.write_bytes((folder / "one.db").read_bytes())
    assert len(trials_from_optuna(odd)) == 10


def test_optuna_is_not_heard(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    level = logging.getLogger("optuna").level
    trials_from_optuna(folder / "one.db")
    assert capfd.readouterr() == ("", "")
    assert logging.getLogger("optuna").level == level


def test_missing_storage_is_not_made(tmp_path: Path) -> None:
    for form in (f"sqlite:///{tmp_path}/none.db", str(tmp_path / "none.log"), str(tmp_path)):
        with pytest.raises(FileMissingError, match="no Optuna storage"):
            trials_from_optuna(form)
    assert list(tmp_path.iterdir()) == []


def test_unknown_study_lists_those_there(folder: Path) -> None:
    with pytest.raises(NotFoundError, match="no study 'tirage'") as caught:
        trials_from_optuna(folder / "one.db", "tirage")
    assert "triage" in caught.value.fix
    with pytest.raises(UsageError, match="2 studies") as several:
        trials_from_optuna(folder / "several.log")
    assert "empty, front" in several.value.fix


def test_empty_study_says_so(folder: Path) -> None:
    with pytest.raises(DataError, match="'empty' has no trials"):
        trials_from_optuna(folder / "several.log", "empty")


def test_other_files_are_refused_unchanged(tmp_path: Path) -> None:
    other = tmp_path / "mlflow.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE runs (id TEXT)")
    connection.close()
    before = other.read_bytes()
    with pytest.raises(DataError, match="no Optuna studies"):
        trials_from_optuna(f"sqlite:///{other}")
    assert other.read_bytes() == before
    for name, content in (("a.csv", "x,y\n1,2\n"), ("b.json", "[1]"), ("c.log", ""), ("d.json", "7")):
        (tmp_path / name).write_text(content)
        with pytest.raises(DataError, match="neither an SQLite database nor an Optuna journal"):
            trials_from_optuna(tmp_path / name)


def test_broken_storages_are_data_errors(folder: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.db"
    cut.write_bytes((folder / "one.db").read_bytes()[:6000])
    journal = tmp_path / "bad.log"
    journal.write_text('{"op_code": 0}\n{"op_code": 77}\nxx\n')
    for path in (cut, journal):
        with pytest.raises(DataError) as caught:
            trials_from_optuna(path)
        assert caught.value.fix and caught.value.where == path.name


def test_storage_of_another_release_names_the_remedy(folder: Path, tmp_path: Path) -> None:
    old = tmp_path / "old.db"
    old.write_bytes((folder / "one.db").read_bytes())
    with sqlite3.connect(old) as connection:
        connection.execute("UPDATE alembic_version SET version_num = 'v1.3.0.a'")
    connection.close()
    with pytest.raises(DataError, match="another release") as caught:
        trials_from_optuna(old)
    assert "storage upgrade" in caught.value.fix


def test_other_kinds_of_storage_are_refused_without_their_password() -> None:
    with pytest.raises(UsageError, match="'postgresql'") as caught:
        trials_from_optuna("postgresql://ada:secret@host/db")
    assert "secret" not in caught.value.as_lines()


def test_optuna_is_optional(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MissingExtraError) as caught:
        trials_from_optuna(folder / "one.db")
    assert caught.value.fix == "pip install 'evalreport[optuna]'"


def test_attributes_that_nobody_reads_are_left_where_they_are(folder: Path, tmp_path: Path) -> None:
    """What Optuna would choke on is never handed to it; the run of a trial and names of objectives are."""
    storage = f"sqlite:///{tmp_path / 's.db'}"
    with quiet_optuna() as optuna:
        study = optuna.create_study(storage=storage, study_name="s", directions=["minimize", "maximize"])
        study.set_metric_names(["seconds", "f1"])
        study.set_user_attr("text", "x")
        trial = study.ask()
        trial.set_user_attr("mlflow_run_id", "5f" * 16)
        trial.set_user_attr("text", "x")
        study.tell(trial, (1.0, 0.5))
    with sqlite3.connect(tmp_path / "s.db") as database:
        for table in ("study_user_attributes", "trial_user_attributes"):
            database.execute(f"UPDATE {table} SET value_json = 'no JSON' WHERE key = 'text'")  # noqa: S608
    database.close()
    found = trials_from_optuna(storage)
    assert found.trials[0].run_id == "5f" * 16
    assert [goal.name for goal in found.objectives] == ["seconds", "f1"]


@pytest.mark.parametrize(("name", "limit"), [("one.db", "MOST_VALUES"), ("journal.log", "MOST_JOURNAL")])
def test_a_study_too_large_is_refused_before_it_is_built(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, limit: str
) -> None:
    whole = trials_from_optuna(folder / name)
    size = (folder / name).stat().st_size
    if name == "one.db":
        size = sum(1 + len(trial.params) + len(trial.intermediate) for trial in whole.trials)
    monkeypatch.setattr(f"evalreport.features.studies.read.{limit}", size)
    assert len(trials_from_optuna(folder / name)) == len(whole)
    monkeypatch.setattr(f"evalreport.features.studies.read.{limit}", size - 1)
    with pytest.raises(UnsafeFileError, match=f"has {size:,} .*, more than {size - 1:,}") as caught:
        trials_from_optuna(folder / name)
    assert "add_trials" in caught.value.fix

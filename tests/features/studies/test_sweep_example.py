"""The example sweep: read from Optuna and from MLflow it is one and the same study."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from evalreport.features.studies.read import trials_from_children, trials_from_optuna
from evalreport.features.studies.winners_curse import WinnersCurse, error_correlation, winners_curse
from evalreport.thresholds.trial_search import Trials, quiet_optuna
from evalreport.tracking.client import connect, quiet
from tests.cli.running import run
from tests.tracking import fluent

EXAMPLE = Path(__file__).parents[3] / "examples" / "sweep_study.py"


@pytest.fixture(scope="module")
def made(template_database: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Eight trials on few messages, in a store that is at hand already."""
    folder = tmp_path_factory.mktemp("sweep")
    shutil.copy(template_database, folder / "mlflow.db")
    spec = importlib.util.spec_from_file_location("sweep_study", EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with quiet(), quiet_optuna(), pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "sweep_study", module)
        spec.loader.exec_module(module)
        for name, value in {"INTENTS": 5, "TRAINED": 300, "JUDGED": 200, "FRESH": 300}.items():
            patch.setattr(module, name, value)
        with fluent(connect(f"sqlite:///{folder / 'mlflow.db'}")):
            return module.main(folder, n_trials=8)


@pytest.fixture(scope="module")
def by_optuna(made: Any) -> Trials:
    return trials_from_optuna(made.storage)


def test_optuna_and_mlflow_tell_one_story(made: Any, by_optuna: Trials) -> None:
    by_mlflow = trials_from_children(connect(made.tracking_uri), made.parent_run_id)
    assert by_mlflow.objectives == by_optuna.objectives
    assert by_mlflow.counts == by_optuna.counts
    assert by_mlflow.notes == ()
    for one, other in zip(by_optuna.trials, by_mlflow.trials, strict=True):
        assert (one.number, one.state, one.values) == (other.number, other.state, other.values)
        assert one.params == other.params
        assert one.intermediate == other.intermediate
        assert one.run_id == other.run_id
        assert one.started is not None and other.started is not None
        assert abs(one.started - other.started) < 60


def test_both_are_reported_by_the_command(made: Any, capsys: pytest.CaptureFixture[str]) -> None:
    parent = ["--run-id", made.parent_run_id, "--tracking-uri", made.tracking_uri, "--json", "-q"]
    of_optuna = run(capsys, "sweep", "optuna", "--study", made.storage, "--examples", "200", *parent)
    of_mlflow = run(capsys, "sweep", "runs", "--examples", "200", *parent)
    assert (of_optuna.code, of_mlflow.code) == (0, 0), of_optuna.err + of_mlflow.err
    one, other = of_optuna.json, of_mlflow.json
    assert one["sweep"]["n_trials"] == other["sweep"]["n_trials"] == 8
    assert one["runs"] == other["runs"]
    for name in ("counts", "winners_curse", "objective", "n_non_finite"):
        assert one["sweep"][name] == other["sweep"][name], name
    for name in ("number", "values", "params", "run_id"):
        assert one["sweep"]["best"][name] == other["sweep"]["best"][name], name


def test_the_luck_of_the_best_is_measured(made: Any, by_optuna: Trials) -> None:
    assert made.correct.mean(axis=1) == pytest.approx(
        [trial.values[0] for trial in by_optuna.completed_trials]
    )
    found = winners_curse(by_optuna, 200, correlation=error_correlation(made.correct))
    assert isinstance(found, WinnersCurse)
    assert 0 < found.optimism < 0.05
    assert 0.5 < made.fresh_accuracy < 1

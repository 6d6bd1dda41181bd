"""Trials from MLflow child runs, each layout written by the library that owns it."""

from __future__ import annotations

import contextlib
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from evalreport.core.errors import DataError, RunNotFoundError, UsageError
from evalreport.features.studies import read
from evalreport.features.studies.read import (
    callback_layout,
    layout_of,
    literal,
    storage_layout,
    trials_from_children,
)
from evalreport.thresholds.trial import Space, StudyObjective
from evalreport.thresholds.trial_search import Trials, quiet_optuna
from evalreport.tracking.client import Store, quiet
from tests.tracking import empty_store, fluent


def objective(trial: Any) -> float:
    """Trial 1 is pruned, 2 gives infinity, 3 raises; only kernel 'rbf' has a degree."""
    import optuna

    c = trial.suggest_float("C", 1e-3, 10.0, log=True)
    depth = trial.suggest_int("depth", 1, 5)
    kernel = trial.suggest_categorical("kernel", ["rbf", None])
    if kernel == "rbf":
        trial.suggest_float("gamma", 0.0, 1.0)
    for step in range(2):
        trial.report(c + step, step)
        if trial.number == 1:
            raise optuna.TrialPruned
    if trial.number == 3:
        raise RuntimeError
    return math.inf if trial.number == 2 else float(c * depth)


def study(optuna: Any, **settings: Any) -> Any:
    return optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=4), **settings)


@pytest.fixture(scope="module")
def store(template_database: Path, tmp_path_factory: pytest.TempPathFactory) -> Store:
    return empty_store(template_database, tmp_path_factory.mktemp("sweeps"))


def experiment(store: Store, name: str) -> str:
    with quiet():
        return str(store.client.create_experiment(name))


@pytest.fixture(scope="module")
def by_storage(store: Store) -> str:
    """A study in MLflow's own Optuna storage; a second one asks for a sixth trial and leaves it."""
    where = experiment(store, "storage")
    with quiet_optuna() as optuna, fluent(store):
        from mlflow.optuna.storage import MlflowStorage

        storage = MlflowStorage(where, batch_flush_interval=3600)
        made = study(optuna, storage=storage, study_name="own storage", direction="minimize")
        made.optimize(objective, n_trials=5, catch=(RuntimeError,))
        made.ask()
        storage.flush_all_batches()
        return str(made._study_id)


@pytest.fixture(scope="module")
def by_callback(store: Store) -> str:
    """Optuna's callback, which puts the trials into an experiment of the study's name."""
    return callback_sweep(store, "callback", 5, metric_name="f1", create_experiment=True)


def callback_sweep(
    store: Store,
    name: str,
    n_trials: int,
    goal: Any = objective,
    directions: tuple[str, ...] = ("minimize",),
    **settings: Any,
) -> str:
    where = experiment(store, f"{name}-parent")
    with quiet_optuna() as optuna, fluent(store) as mlflow:
        from optuna_integration.mlflow import MLflowCallback

        with mlflow.start_run(run_name=name, experiment_id=where) as parent:
            callback = MLflowCallback(mlflow_kwargs={"nested": True}, **settings)
            made = study(optuna, study_name=name, directions=list(directions))
            made.optimize(goal, n_trials=n_trials, callbacks=[callback], catch=(RuntimeError,))
    return str(parent.info.run_id)


@pytest.fixture(scope="module")
def by_hand(store: Store) -> str:
    where = experiment(store, "nested")
    with fluent(store) as mlflow:
        with mlflow.start_run(run_name="grid", experiment_id=where) as parent:
            for depth, kernel in ((3, "rbf"), (5, None), (7, "rbf")):
                with mlflow.start_run(nested=True, experiment_id=where):
                    mlflow.log_params({"depth": depth, "kernel": kernel, "lr": 0.5, "tag": "007"})
                    for step in range(3):
                        mlflow.log_metric("f1", 0.1 * depth + 0.01 * step, step=step)
                    mlflow.log_metric("custom_loss", 10.0 - depth)
            with mlflow.start_run(nested=True, experiment_id=where):
                mlflow.log_param("depth", 9)
            with contextlib.suppress(RuntimeError), mlflow.start_run(nested=True, experiment_id=where):
                raise RuntimeError
        client = mlflow.MlflowClient()
        tags = {"mlflow.parentRunId": parent.info.run_id}
        client.set_terminated(client.create_run(where, tags=tags).info.run_id, "KILLED")
        client.create_run(where, tags=tags)
    return str(parent.info.run_id)


def checked_against(trials: Trials, values: list[Any]) -> None:
    assert [trial.values for trial in trials.trials][: len(values)] == values
    assert Trials.from_dict(trials.to_dict()) == trials


def expected(n_trials: int, **settings: Any) -> Any:
    with quiet_optuna() as optuna:
        made = study(optuna, **settings)
        made.optimize(objective, n_trials=n_trials, catch=(RuntimeError,))
        return made.trials


def test_mlflow_storage_gives_the_study(store: Store, by_storage: str) -> None:
    trials = trials_from_children(store, by_storage)
    assert trials.objectives == (StudyObjective("value", "minimize"),)
    assert trials.study_name == "own storage"
    assert trials.counts == {
        "complete": 3,
        "infeasible": 0,
        "pruned": 1,
        "failed": 1,
        "running": 1,
        "waiting": 0,
    }
    truth = expected(5, direction="minimize")
    for trial, frozen in zip(trials.trials, truth, strict=False):
        assert dict(trial.params) == frozen.params
        assert list(map(type, trial.params.values())) == [type(trial.params[name]) for name in trial.params]
        assert dict(trial.intermediate) == frozen.intermediate_values
        assert trial.values == tuple(frozen.values or ())
        assert trial.run_id
    assert trials.n_non_finite == 1
    assert Space("C", 1e-3, 10.0, log=True) in trials.space
    assert Space("kernel", choices=("rbf", None)) in trials.space
    assert trials.notes == ()
    assert Trials.from_dict(trials.to_dict()) == trials


def test_callback_in_another_experiment_gives_the_study(store: Store, by_callback: str) -> None:
    trials = trials_from_children(store, by_callback)
    assert trials.objectives == (StudyObjective("f1", "minimize"),)
    assert trials.counts == {
        "complete": 3,
        "infeasible": 0,
        "pruned": 1,
        "failed": 1,
        "running": 0,
        "waiting": 0,
    }
    truth = expected(5, direction="minimize")
    for trial, frozen in zip(trials.trials, truth, strict=True):
        assert dict(trial.params) == frozen.params
        assert trial.values == tuple(frozen.values or ())
        assert trial.started is not None and trial.finished is not None
        with quiet():
            began = store.client.get_run(trial.run_id).info.start_time / 1000
        assert abs(trial.finished - began) < 60
    assert trials.column("depth").kind == "number"
    assert trials.column("kernel").choices == ("rbf", "None")
    assert trials.column("gamma").gaps > 0


def test_callback_with_several_objectives(store: Store) -> None:
    def both(trial: Any) -> tuple[float, float]:
        return trial.suggest_float("x", 0, 1), float(trial.number)

    ways = ("maximize", "minimize")
    named = callback_sweep(store, "two", 2, both, ways, create_experiment=True)
    own = callback_sweep(store, "own", 2, both, ways, create_experiment=True, metric_name=["recall", "speed"])
    trials = trials_from_children(store, named)
    assert trials.objectives == (StudyObjective("value_0", "maximize"), StudyObjective("value_1", "minimize"))
    with pytest.raises(UsageError, match="2 metrics"):
        trials_from_children(store, own)
    chosen = trials_from_children(store, own, ["recall", "speed"])
    assert chosen.objectives == (StudyObjective("recall", "maximize"), StudyObjective("speed", "minimize"))
    assert [trial.values[1] for trial in chosen.trials] == [0.0, 1.0]


def test_nested_runs_give_a_sweep(store: Store, by_hand: str) -> None:
    trials = trials_from_children(store, by_hand, "f1")
    assert trials.objectives == (StudyObjective("f1", "maximize"),)
    assert trials.counts == {
        "complete": 3,
        "infeasible": 0,
        "pruned": 1,
        "failed": 2,
        "running": 1,
        "waiting": 0,
    }
    assert trials.notes == ("runs that ended without f1, counted as failed: 1",)
    first = trials.trials[0]
    assert dict(first.params) == {"depth": 3, "kernel": "rbf", "lr": 0.5, "tag": "007"}
    assert [step for step, _ in first.intermediate] == [0, 1, 2]
    assert first.values[0] == pytest.approx(0.32)
    assert trials.best().params["depth"] == 7
    assert first.duration is not None and first.duration < 60
    assert [trial.number for trial in trials.trials] == list(range(7))
    assert trials.study_name == "grid"


def test_nested_runs_want_their_metric_named(store: Store, by_hand: str) -> None:
    with pytest.raises(UsageError, match="2 metrics") as caught:
        trials_from_children(store, by_hand)
    assert "f1 (3 runs)" in caught.value.fix
    with pytest.raises(UsageError, match="no child run has the metric 'f2'") as unknown:
        trials_from_children(store, by_hand, "f2")
    assert "f1" in unknown.value.fix


def test_a_direction_taken_from_a_name_is_reported(store: Store, by_hand: str) -> None:
    guessed = trials_from_children(store, by_hand, "custom_loss")
    assert guessed.objectives[0].direction == "minimize"
    assert "custom_loss taken as smaller is better, by its name" in guessed.notes
    said = trials_from_children(store, by_hand, StudyObjective("custom_loss", "maximize"))
    assert said.objectives[0].direction == "maximize"
    assert not any("by its name" in note for note in said.notes)
    two = trials_from_children(store, by_hand, ["f1", StudyObjective("custom_loss", "minimize")])
    assert two.pareto()[0].params["depth"] == 7


def test_children_come_page_by_page(store: Store, by_hand: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = trials_from_children(store, by_hand, "f1")
    monkeypatch.setattr("evalreport.tracking.runs.PAGE", 2)
    assert trials_from_children(store, by_hand, "f1") == whole


def test_reading_leaves_the_runs_as_they_were(store: Store, by_hand: str) -> None:
    with quiet():
        before = store.client.get_run(by_hand).to_dictionary()
    trials_from_children(store, by_hand, "f1")
    with quiet():
        assert store.client.get_run(by_hand).to_dictionary() == before


def test_a_run_without_children_and_an_unknown_run(store: Store, by_hand: str) -> None:
    leaf = trials_from_children(store, by_hand, "f1").trials[0].run_id
    assert leaf is not None
    with pytest.raises(DataError, match="no child runs"):
        trials_from_children(store, leaf)
    with pytest.raises(RunNotFoundError):
        trials_from_children(store, "0" * 32)
    with pytest.raises(UsageError):
        trials_from_children(store, "x' OR '1' = '1")


def test_children_without_a_metric(store: Store) -> None:
    where = experiment(store, "bare")
    with quiet():
        parent = store.client.create_run(where).info.run_id
        store.client.create_run(where, tags={"mlflow.parentRunId": parent})
    with pytest.raises(DataError, match="no child run has a metric"):
        trials_from_children(store, parent)


def run(**tags: str) -> Any:
    """A run as far as a layout looks at it."""
    data = SimpleNamespace(tags=tags, params={"x": "1"}, metrics={})
    return SimpleNamespace(data=data, info=SimpleNamespace(start_time=0, end_time=0, status="FINISHED"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "7",
        "IntDistribution(",
        "__import__('os').system('x')",
        "IntDistribution(high=open('x'))",
        "f(**{})",
        "(" * 900,
    ],
)
def test_tags_that_are_no_distribution_are_passed_over(text: str) -> None:
    layout = callback_layout(("maximize",))
    tagged = run(number="0", state="COMPLETE", direction="MAXIMIZE", x_distribution=text)
    assert layout.params(tagged) == {"x": 1}
    assert all(space.low is None for space in layout.spaces(tagged))


@pytest.mark.parametrize(
    "text", ["", "7", "{", '{"x": 7}', '{"x": "{}"}', '{"x": "{\\"name\\": 1, \\"attributes\\": 2}"}']
)
def test_declarations_that_are_broken_are_passed_over(text: str) -> None:
    layout = storage_layout(("maximize",))
    assert layout.params(run(param_directions=text)) == {"x": 1}
    assert layout.spaces(run(param_directions=text)) == ()


def test_numbers_that_repeat_give_way_to_the_order_of_starts() -> None:
    layout = storage_layout(("maximize",))
    assert list(read._numbers(layout, [run(numbers="0"), run(numbers="0")])) == [0, 1]
    assert list(read._numbers(layout, [run(numbers="4"), run(numbers="2")])) == [4, 2]
    assert list(read._numbers(layout, [run(numbers="4"), run(numbers="-1")])) == [0, 1]


@pytest.mark.parametrize("zone", [-11.0, -3.5, 0.0, 5.75, 14.0])
def test_clock_times_of_the_callback_find_their_zone(zone: float) -> None:
    tags = {"datetime_start": "2026-03-01 12:00:00.5", "datetime_complete": "2026-03-01 12:00:10"}
    made = run(number="0", state="COMPLETE", direction="MAXIMIZE", **tags)
    made.info.start_time = (1772366410 - zone * 3600) * 1000 + 2000
    start, end = layout_of(run(), [made]).times(made)
    assert (start, end) == (1772366400.5 - zone * 3600, 1772366410 - zone * 3600)


def test_text_of_parameters_is_taken_for_what_it_looks_like() -> None:
    texts = ["3", "-0.5", "1e-3", "True", "None", "nan", "1_000", "00.5", "v1.2", "9" * 30, ""]
    assert [literal(text) for text in texts] == [
        3, -0.5, 0.001, True, None, "nan", "1_000", "00.5", "v1.2", 1e30, "",
    ]  # fmt: skip


def limited(trial: Any) -> float:
    """The last trials are the best, and break a constraint."""
    trial.suggest_float("C", 0.0, 1.0)
    trial.set_user_attr("constraints", [trial.number - 2.5])
    return float(trial.number)


def test_constraints_of_mlflow_storage_are_met_by_the_best(store: Store) -> None:
    where = experiment(store, "limited")
    with quiet_optuna() as optuna, fluent(store):
        from mlflow.optuna.storage import MlflowStorage

        storage = MlflowStorage(where, batch_flush_interval=3600)
        sampler = optuna.samplers.NSGAIISampler(constraints_func=lambda trial: (trial.number - 2.5,), seed=0)
        made = optuna.create_study(
            storage=storage, study_name="limited", direction="maximize", sampler=sampler
        )
        made.optimize(limited, n_trials=5)
        storage.flush_all_batches()
        parent = str(made._study_id)
    trials = trials_from_children(store, parent)
    assert trials.counts["infeasible"] == 2
    assert (trials.best().number, trials.notes) == (2, ())


def test_constraints_of_the_callback_are_user_attributes(store: Store) -> None:
    parent = callback_sweep(
        store, "limited", 5, limited, ("maximize",), metric_name="f1", create_experiment=True
    )
    trials = trials_from_children(store, parent)
    assert [trial.state for trial in trials.trials] == ["complete"] * 3 + ["infeasible"] * 2
    assert trials.best().number == 2


@pytest.mark.parametrize(
    ("tags", "state"),
    [
        ({"constraint": "0.5"}, "infeasible"),
        ({"constraints": "(-1, 0)"}, "complete"),
        ({"constraints": "[0, nan]"}, "infeasible"),  # not a number is not met
        ({"constraint": "no trees"}, "infeasible"),  # no number, where another run has one
    ],
)
def test_constraints_of_plain_nested_runs_are_tags(store: Store, tags: dict[str, str], state: str) -> None:
    where = experiment(store, f"tags {tags}")
    with fluent(store) as mlflow, mlflow.start_run(experiment_id=where) as parent:
        with mlflow.start_run(nested=True, experiment_id=where, tags=tags):
            mlflow.log_metric("f1", 0.9)
        with mlflow.start_run(nested=True, experiment_id=where, tags={"constraints": "[-1]"}):
            mlflow.log_metric("f1", 0.8)
    trials = trials_from_children(store, parent.info.run_id)
    assert {trial.values[0]: trial.state for trial in trials.trials} == {0.9: state, 0.8: "complete"}


def test_a_tag_of_that_name_without_numbers_is_no_constraint(store: Store) -> None:
    where = experiment(store, "other tags")
    tags = {"constraint": "no trees"}
    with (
        fluent(store) as mlflow,
        mlflow.start_run(experiment_id=where) as parent,
        mlflow.start_run(nested=True, experiment_id=where, tags=tags),
    ):
        mlflow.log_metric("f1", 0.9)
    assert trials_from_children(store, parent.info.run_id).counts["complete"] == 1

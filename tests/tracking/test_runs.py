"""Which runs are meant, on SQLite and over HTTP."""

from __future__ import annotations

import uuid

import pytest

from evalreport.core.errors import EvalreportError, RunNotFoundError, UsageError
from evalreport.tracking.client import Store, quiet
from evalreport.tracking.runs import RunInfo, Selection, find_run, select_runs
from tests.tracking import make_run


def ids(runs: tuple[RunInfo, ...]) -> list[str]:
    return [run.run_id for run in runs]


def failing(store: Store, selection: Selection) -> EvalreportError:
    with pytest.raises(EvalreportError) as caught:
        select_runs(store, selection)
    return caught.value


def test_runs_named_by_id_come_as_named_and_once(store: Store) -> None:
    a, b = make_run(store), make_run(store, status="FAILED")
    found = select_runs(store, Selection(run_ids=(b.run_id, a.run_id[:12], b.run_id)))
    assert ids(found) == [b.run_id, a.run_id]
    assert (found[0].status, found[1].status) == ("FAILED", "FINISHED")
    assert (found[1].experiment, found[1].name) == (a.experiment, "calm-heron-412")


def test_an_unknown_id_is_exit_3(store: Store) -> None:
    make_run(store)
    for run_id in ("f" * 32, "ffffffff", "../etc", "a' OR '1'='1"):
        assert failing(store, Selection(run_ids=(run_id,))).exit_code == 3


def test_an_id_is_unique_and_long_enough(sqlite_store: Store) -> None:
    with quiet():
        experiment = sqlite_store.client.create_experiment("twins")
        pair = [sqlite_store.client.create_run(experiment).info.run_id for _ in range(40)]
    shortest = next(a for a in pair)
    assert find_run(sqlite_store, shortest[:6]).run_id == shortest
    with pytest.raises(UsageError, match="too short"):
        find_run(sqlite_store, shortest[:5])


def test_an_id_that_is_not_unique_lists_the_runs() -> None:
    class Twins:
        """Two runs whose ids begin alike."""

        def search_experiments(self, *_: object, **__: object) -> object:
            return Page([Thing(experiment_id="1", name="e")])

        def search_runs(self, *_: object) -> object:
            return Page([Thing(info=Thing(run_id=f"abcdef{i}", run_name=f"run-{i}")) for i in range(2)])

    with pytest.raises(UsageError, match="2 run ids begin with abcdef") as caught:
        find_run(Store(Twins(), "http://h"), "abcdef")
    assert "run-0" in caught.value.where
    assert "run-1" in caught.value.where


class Page(list[object]):
    """One page of answers, without a next."""

    token = None


class Thing:
    """Named attributes."""

    def __init__(self, **named: object) -> None:
        self.__dict__.update(named)


def test_a_deleted_run_is_named_as_deleted(store: Store) -> None:
    run = make_run(store)
    store.ask(lambda client: client.delete_run(run.run_id))
    for run_id in (run.run_id, run.run_id[:10]):
        error = failing(store, Selection(run_ids=(run_id,)))
        assert error.exit_code == 3
        assert "is deleted" in error.message
        assert f"mlflow runs restore --run-id {run.run_id}" in error.fix


def test_a_running_run_is_found_by_name_and_left_out_of_searches(store: Store) -> None:
    done = make_run(store)
    running = make_run(store, experiment=done.experiment, status="RUNNING")
    assert find_run(store, running.run_id).running
    assert ids(select_runs(store, Selection(experiment=done.experiment))) == [done.run_id]


def test_an_experiment_is_a_name_or_a_glob(store: Store) -> None:
    stem = uuid.uuid4().hex[:8]
    one, two = (make_run(store, experiment=f"{stem}-{kind}") for kind in ("a", "b"))
    assert ids(select_runs(store, Selection(experiment=f"{stem}-a"))) == [one.run_id]
    assert set(ids(select_runs(store, Selection(experiment=f"{stem}-*")))) == {one.run_id, two.run_id}
    brackets = make_run(store, experiment=f"{stem}[a]")
    assert ids(select_runs(store, Selection(experiment=f"{stem}[a]"))) == [brackets.run_id]


def test_an_unknown_experiment_names_the_nearest(store: Store) -> None:
    run = make_run(store)
    error = failing(store, Selection(experiment=run.experiment + "x"))
    assert error.exit_code == 3
    assert run.experiment in error.fix


def test_a_filter_goes_to_mlflow(store: Store) -> None:
    first = make_run(store, tags={"split": "test"})
    make_run(store, experiment=first.experiment, tags={"split": "dev"})
    chosen = Selection(experiment=first.experiment, filter="tags.split = 'test'")
    assert ids(select_runs(store, chosen)) == [first.run_id]


def test_a_broken_filter_is_exit_2_and_quoted(store: Store) -> None:
    error = failing(store, Selection(experiment=make_run(store).experiment, filter="loss below 3"))
    assert error.exit_code == 2
    assert "loss below 3" in error.where


def test_latest_takes_the_newest(store: Store) -> None:
    runs = [make_run(store, experiment=f"late-{id(store)}") for _ in range(3)]
    newest = [run.run_id for run in reversed(runs)]
    assert ids(select_runs(store, Selection(experiment=runs[0].experiment, latest=2))) == newest[:2]
    assert ids(select_runs(store, Selection(latest=1))) == newest[:1]


def test_more_than_max_runs_is_an_error_not_a_truncation(store: Store) -> None:
    runs = [make_run(store, experiment=f"many-{id(store)}") for _ in range(3)]
    assert len(select_runs(store, Selection(experiment=runs[0].experiment, max_runs=3))) == 3
    for selection in (
        Selection(experiment=runs[0].experiment, max_runs=2),
        Selection(experiment=runs[0].experiment, max_runs=2, latest=3),
        Selection(run_ids=tuple(run.run_id for run in runs), max_runs=2),
    ):
        error = failing(store, selection)
        assert error.exit_code == 2
        assert "more than 2 runs" in error.message


def test_no_finished_run_says_why(store: Store) -> None:
    running = make_run(store, status="RUNNING")
    assert "1 are running or have failed" in failing(store, Selection(experiment=running.experiment)).message
    matching = Selection(experiment=running.experiment, filter="tags.split = 'x'")
    assert "no finished run that matches" in failing(store, matching).message


@pytest.mark.parametrize(
    "named",
    [
        {},
        {"filter": "metrics.x > 1"},
        {"run_ids": ("abcdef",), "experiment": "x"},
        {"run_ids": ("abcdef",), "latest": 1},
        {"latest": 0},
        {"experiment": "x", "max_runs": 0},
    ],
)
def test_a_selection_that_cannot_be_meant_is_exit_2(named: dict[str, object]) -> None:
    with pytest.raises(UsageError) as caught:
        Selection(**named)  # type: ignore[arg-type]
    assert caught.value.fix


def test_searches_page_through_everything(sqlite_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalreport.tracking.runs.PAGE", 2)
    monkeypatch.setattr("evalreport.tracking.runs._EXPERIMENTS_AT_ONCE", 2)
    runs = [make_run(sqlite_store) for _ in range(5)]
    runs += [make_run(sqlite_store, experiment=runs[0].experiment) for _ in range(4)]
    found = select_runs(sqlite_store, Selection(experiment="exp-*"))
    assert ids(found) == [run.run_id for run in reversed(runs)]
    assert len(select_runs(sqlite_store, Selection(latest=3))) == 3
    with pytest.raises(RunNotFoundError):
        find_run(sqlite_store, "zzzzzz")

"""`Trials`: best, front, history, columns, and the way through JSON without loss."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalreport.core.errors import DataError, UsageError
from evalreport.thresholds.trial import LARGEST, STATES, Space, StudyObjective, Trial
from evalreport.thresholds.trial_search import Trials

BOTH = (StudyObjective("f1"), StudyObjective("seconds", "minimize"))


def of(values: list[float], direction: Any = "maximize") -> Trials:
    rows = [{"params": {"x": at}, "value": value} for at, value in enumerate(values)]
    return Trials.from_records(rows, objectives=StudyObjective("v", direction))


def test_best_honours_direction_and_takes_the_earliest_of_equals() -> None:
    assert of([0.1, 0.9, 0.9]).best().number == 1
    assert of([0.1, 0.9, 0.1], "minimize").best().number == 0


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_values_that_are_not_finite_never_win_and_are_counted(odd: float, direction: str) -> None:
    trials = of([odd, 0.5, odd], direction)
    assert trials.best().number == 1
    assert trials.n_non_finite == 2
    assert [point.best for point in trials.history()] == [None, 0.5, 0.5]
    assert trials.history()[0].value is None
    assert [trial.number for trial in trials.pareto()] == [1]


def test_only_complete_trials_compete() -> None:
    rows: list[dict[str, Any]] = [
        {"value": 0.9, "state": "pruned"},
        {"value": 0.5},
        {"state": "running"},
        {"state": "waiting"},
        {},
        {"value": 0.4},
    ]
    trials = Trials.from_records(rows, objectives="f1")
    assert trials.counts == {
        "complete": 2,
        "infeasible": 0,
        "pruned": 1,
        "failed": 1,
        "running": 1,
        "waiting": 1,
    }
    assert trials.best().number == 1
    history = trials.history()
    assert [point.best for point in history] == [None, 0.5, 0.5, 0.5, 0.5, 0.5]
    assert history[0].value == 0.9


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=25),
    st.sampled_from(["maximize", "minimize"]),
    st.sampled_from(["maximize", "minimize"]),
)
def test_front_is_what_the_definition_says(points: list[tuple[int, int]], one: Any, two: Any) -> None:
    trials = Trials.from_records(
        [{"values": list(point)} for point in points],
        objectives=[StudyObjective("a", one), StudyObjective("b", two)],
    )
    signed = [(x if one == "maximize" else -x, y if two == "maximize" else -y) for x, y in points]
    expected = [
        at
        for at, (x, y) in enumerate(signed)
        if not any(u >= x and v >= y and (u, v) != (x, y) for u, v in signed)
    ]
    assert [trial.number for trial in trials.pareto()] == expected


def test_several_objectives_want_a_name() -> None:
    trials = Trials.from_records([{"values": (0.8, 2.0)}, {"values": (0.7, 1.0)}], objectives=BOTH)
    assert trials.best("f1").number == 0
    assert trials.best("seconds").number == 1
    with pytest.raises(UsageError, match="2 objectives"):
        trials.best()
    with pytest.raises(UsageError, match="no objective 'recall'"):
        trials.history("recall")


def test_no_completed_trial_says_what_there_is() -> None:
    trials = Trials.from_records([{}, {"value": math.inf}], objectives="f1", source="sweep.db")
    with pytest.raises(DataError, match="no trial completed") as caught:
        trials.best()
    assert "1 failed" in caught.value.where and "1 of them with NaN or infinite" in caught.value.where
    with pytest.raises(DataError, match="no trial completed"):
        trials.pareto()


@pytest.mark.parametrize(
    ("trials", "objectives", "message"),
    [
        ((), (StudyObjective("f1"),), "has no trials"),
        ((Trial(0, "failed"),), (), "no objective"),
        ((Trial(0, "failed"), Trial(0, "failed")), (StudyObjective("f1"),), "appears 2 times"),
        ((Trial(0, "failed"),), (StudyObjective("f1"), StudyObjective("f1")), "appears 2 times"),
        ((Trial(0, "complete", (0.1,)),), BOTH, "1 values for 2 objectives"),
    ],
)
def test_a_study_that_cannot_be_is_refused(trials: Any, objectives: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        Trials(objectives, trials, "here")


@pytest.mark.parametrize(
    ("row", "message"),
    [({"valeu": 1}, "no field 'valeu'"), ({"value": "good"}, "not a number"), ({"state": "done"}, "state")],
)
def test_records_that_cannot_be_read_name_their_row(row: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        Trials.from_records([{"value": 1.0}, row], objectives="f1")
    assert "1" in caught.value.where


def test_records_take_numpy_values() -> None:
    row = {"params": {"C": np.float32(0.5), "n": np.int64(3), "w": (1, 2)}, "value": np.float64(0.25)}
    trial = Trials.from_records([row], objectives="f1").trials[0]
    assert trial.params == {"C": 0.5, "n": 3, "w": "(1, 2)"}
    assert type(trial.params["n"]) is int
    assert trial.values == (0.25,)


number = st.floats(allow_nan=True, allow_infinity=True)
objective = st.one_of(st.sampled_from([np.nan, np.inf, -np.inf]), st.floats(-LARGEST, LARGEST))
param = st.one_of(st.none(), st.booleans(), st.integers(-(2**60), 2**60), number, st.text(max_size=5))


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(STATES),
            objective,
            st.dictionaries(st.text(max_size=4), param, max_size=3),
            st.dictionaries(st.integers(0, 99), number, max_size=3),
            st.one_of(st.none(), st.floats(0, 2e9)),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_json_loses_nothing(rows: list[Any]) -> None:
    made = tuple(
        Trial(at, state, (value,), params, tuple(steps.items()), start, start, None)
        for at, (state, value, params, steps, start) in enumerate(rows)
    )
    space = (Space("lr", 0.1, 1.0, True), Space("k", choices=("a", None, math.inf)))
    trials = Trials((StudyObjective("loss", "minimize"),), made, "s", "name", space, ("assumed",))
    text = json.dumps(trials.to_dict(), allow_nan=False)
    again = Trials.from_dict(json.loads(text))
    assert again == trials
    assert json.dumps(again.to_dict()) == text
    for old, new in zip(trials.trials, again.trials, strict=True):
        assert [type(value) for value in old.params.values()] == [
            type(value) for value in new.params.values()
        ]


@pytest.mark.parametrize("data", [{}, {"schema": 99}, {"schema": 1}, {"schema": 1, "objectives": 3}])
def test_other_data_are_not_trials(data: dict[str, Any]) -> None:
    with pytest.raises(DataError):
        Trials.from_dict(data)


def test_frame_has_a_row_per_trial() -> None:
    trials = Trials.from_records(
        [{"params": {"C": 1.0}, "value": 0.5, "started": 1.0, "finished": 3.0}, {"params": {"k": "a"}}],
        objectives="f1",
    )
    frame = trials.to_frame()
    assert list(frame.columns) == [
        "number", "state", "f1", "params.C", "params.k", "started", "finished", "duration", "run_id",
    ]  # fmt: skip
    assert frame["duration"][0] == 2.0
    assert frame["f1"].isna().tolist() == [False, True]


def test_columns_are_all_parameters_in_order() -> None:
    rows: list[dict[str, Any]] = [{"params": {"b": 1}}, {"params": {"a": "x", "b": 2}}]
    trials = Trials.from_records(rows, objectives="f1")
    assert [column.name for column in trials.columns] == ["b", "a"]
    with pytest.raises(UsageError, match="no parameter 'c'"):
        trials.column("c")
    assert len(trials) == 2


def test_infeasible_trials_never_compete() -> None:
    rows = [
        {"values": (0.7, 3.0), "params": {"C": 1}},
        {"values": (0.99, 0.1), "params": {"C": 2}, "state": "infeasible"},
        {"values": (0.8, 4.0), "params": {"C": 3}},
    ]
    trials = Trials.from_records(rows, objectives=[StudyObjective("f1"), StudyObjective("s", "minimize")])
    assert [trial.number for trial in trials.pareto()] == [0, 2]
    assert (trials.best("f1").number, trials.best("s").number) == (2, 0)
    assert [point.best for point in trials.history("f1")] == [0.7, 0.7, 0.8]
    assert [point.value for point in trials.history("f1")] == [0.7, 0.99, 0.8]
    assert trials.counts["infeasible"] == 1 and trials.n_non_finite == 0
    assert Trials.from_dict(trials.to_dict()) == trials


def test_no_feasible_trial_has_no_best() -> None:
    rows: list[dict[str, Any]] = [{"value": 0.9, "state": "infeasible"}, {"state": "failed"}]
    trials = Trials.from_records(rows, objectives="f1")
    for ask in (trials.best, trials.pareto):
        with pytest.raises(DataError, match="no trial meets the constraints") as caught:
            ask()
        assert "1 infeasible, 1 failed" in str(caught.value.where)
    assert [point.best for point in trials.history()] == [None, None]

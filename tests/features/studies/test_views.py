"""The values that the panels of a sweep draw."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalreport.core.errors import DataError, UsageError
from evalreport.features.studies.views import (
    front_view,
    intermediate_view,
    parallel_view,
    ranked_trials,
    sampled_param,
    slice_views,
    timeline_view,
)
from evalreport.page.trial_history import MOST_POINTS, history_view, thin_positions
from evalreport.thresholds.trial import ParameterColumn, StudyObjective
from evalreport.thresholds.trial_search import Trials


def study(rows: list[dict[str, Any]], direction: Any = "maximize") -> Trials:
    return Trials.from_records(rows, objectives=StudyObjective("f1", direction))


MANY = study([{"params": {"x": at, "k": "ab"[at % 2]}, "value": math.sin(at)} for at in range(1500)])
NONE_DONE = study([{"params": {"x": 1}}, {"params": {"x": 2}, "state": "running"}])


@given(st.integers(1, 60), st.lists(st.integers(0, 59), max_size=9), st.integers(1, 20))
def test_thinning_keeps_what_it_must_in_order(n: int, keep: list[int], most: int) -> None:
    keep = [position for position in keep if position < n]
    kept = thin_positions(n, keep, most)
    assert list(kept) == sorted(set(kept))
    assert len(kept) == min(n, most)
    assert set(dict.fromkeys(keep)) <= set(kept) or len(set(keep)) > most
    assert all(0 <= position < n for position in kept)


def test_axis_places_numbers_categories_and_gaps() -> None:
    assert ParameterColumn("x", "number", (), 0.0, 4.0).place(1.0) == 0.25
    assert ParameterColumn("x", "number", (), 0.01, 100.0, log=True).place(1.0) == pytest.approx(0.5)
    assert ParameterColumn("x", "number", (), 2.0, 2.0).place(2.0) == 0.5
    assert ParameterColumn("x", "categorical", (), choices=("a",)).place("a") == 0.5
    assert ParameterColumn("x", "number", (), 0.0, 1.0).place(None) is None


def test_history_keeps_every_improvement_of_a_long_study() -> None:
    view = history_view(MANY)
    assert (len(view.points), view.n_trials) == (MOST_POINTS, 1500)
    every = [point.number for point, before in _pairs(MANY) if point.best != before]
    assert set(every) <= {point.number for point in view.points}


def _pairs(trials: Trials) -> list[Any]:
    points = trials.history()
    return list(zip(points, [None, *(point.best for point in points)], strict=False))


def test_history_of_a_study_where_nothing_finished_has_no_best() -> None:
    assert [point.best for point in history_view(NONE_DONE).points] == [None, None]


def test_slices_hold_completed_trials_of_varying_parameters() -> None:
    rows: list[dict[str, Any]] = [
        {"params": {"C": 1.0, "kernel": "rbf", "degree": 2, "same": 1}, "value": 0.5},
        {"params": {"C": 2.0, "kernel": "linear", "same": 1}, "value": 0.7},
        {"params": {"C": 3.0, "kernel": "rbf", "degree": 3, "same": 1}, "value": math.nan},
        {"params": {"C": 4.0, "kernel": "rbf", "degree": 4, "same": 1}, "value": 0.6},
        {"params": {"C": 9.0, "kernel": "poly", "same": 1}, "value": 0.9, "state": "pruned"},
    ]
    views = {view.axis.name: view for view in slice_views(study(rows))}
    assert list(views) == ["C", "kernel", "degree"]
    assert [point.number for point in views["C"].points] == [0, 1, 3]
    assert views["kernel"].axis.choices == ("linear", "rbf")
    assert [point.at for point in views["degree"].points] == [2.0, 4.0]
    assert views["degree"].axis.gaps == 1


def test_a_thinned_slice_keeps_the_best() -> None:
    view = slice_views(MANY)[0]
    assert len(view.points) == MOST_POINTS
    assert MANY.best().number in {point.number for point in view.points}


@pytest.mark.parametrize(("direction", "best"), [("maximize", 1), ("minimize", 0)])
def test_parallel_lines_rank_by_the_objective(direction: str, best: int) -> None:
    rows: list[dict[str, Any]] = [
        {"params": {"C": 1.0, "k": "a"}, "value": 0.1},
        {"params": {"C": 3.0}, "value": 0.9},
        {"params": {"C": 2.0, "k": "b"}, "value": 0.5},
    ]
    view = parallel_view(study(rows, direction))
    assert [axis.name for axis in view.axes] == ["C", "k", "f1"]
    assert [line.places for line in view.lines] == [(0.0, 0.0, 0.0), (1.0, None, 1.0), (0.5, 1.0, 0.5)]
    assert [line.rank for line in view.lines].index(1.0) == best


def test_parallel_is_thinned_and_survives_nothing() -> None:
    view = parallel_view(MANY)
    assert len(view.lines) == MOST_POINTS
    assert (1.0, 1.0) in {(line.places[-1], line.rank) for line in view.lines}  # the best, at the top
    assert parallel_view(NONE_DONE).lines == ()
    assert slice_views(NONE_DONE) == ()


def test_intermediate_keeps_pruned_beside_complete_and_drops_what_is_not_finite() -> None:
    rows: list[dict[str, Any]] = [
        {"value": 0.9, "intermediate": {0: 0.1, 1: math.nan, 2: 0.9}},
        {"state": "pruned", "intermediate": {0: 0.05}},
        {"value": 0.3},
    ]
    view = intermediate_view(study(rows))
    assert [(curve.number, curve.state, curve.steps) for curve in view.curves] == [
        (0, "complete", (0, 2)),
        (1, "pruned", (0,)),
    ]
    assert intermediate_view(NONE_DONE).curves == ()


def test_intermediate_is_thinned_in_both_ways() -> None:
    rows = [{"value": at, "intermediate": dict.fromkeys(range(300), 0.5)} for at in range(90)]
    view = intermediate_view(study(rows))
    assert (len(view.curves), view.n_curves) == (60, 90)
    assert 89 in {curve.number for curve in view.curves}
    assert all((len(c.steps), c.steps[0], c.steps[-1]) == (100, 0, 299) for c in view.curves)


def test_timeline_draws_overlapping_trials_in_rows_of_their_own() -> None:
    rows: list[dict[str, Any]] = [
        {"value": 1, "started": 100.0, "finished": 110.0},
        {"value": 1, "started": 102.0, "finished": 104.0},
        {"started": 105.0, "finished": 130.0},
        {"state": "running", "started": 106.0},
        {"value": 1, "started": 110.0, "finished": 120.0},
    ]
    view = timeline_view(study(rows))
    assert [(bar.number, bar.start, bar.end, bar.lane) for bar in view.bars] == [
        (0, 0.0, 10.0, 0),
        (1, 2.0, 4.0, 1),
        (2, 5.0, 30.0, 1),
        (4, 10.0, 20.0, 0),
    ]
    assert (view.seconds, view.lanes, view.median, view.n_unknown) == (30.0, 2, 10.0, 1)
    assert timeline_view(NONE_DONE).bars == ()


def test_table_puts_the_best_first_and_keeps_every_state() -> None:
    rows: list[dict[str, Any]] = [
        {"params": {"C": 1.0}},
        {"params": {"C": 2.0}, "value": 0.4, "run_id": "r"},
        {"params": {"k": None}, "value": math.inf},
        {"params": {}, "value": 0.2},
    ]
    table = ranked_trials(study(rows, "minimize"))
    assert [trial.number for trial in table] == [3, 1, 0, 2]
    assert [sampled_param(table[1], name) for name in ("C", "k")] == [2.0, None]
    assert table[1].run_id == "r"
    assert table[2].value_of(0) is None
    assert len(ranked_trials(MANY)) == MOST_POINTS
    assert len(ranked_trials(MANY, most=20)) == 20


GOALS = [StudyObjective("f1"), StudyObjective("seconds", "minimize"), StudyObjective("size", "minimize")]


def test_front_of_two_objectives() -> None:
    rows = [{"values": (at % 37 / 37, at % 41, at % 11)} for at in range(900)]
    trials = Trials.from_records(rows, objectives=GOALS)
    view = front_view(trials)
    assert len(view) == MOST_POINTS
    shown = {trial.number for trial, on_front in view if on_front}
    assert shown == {trial.number for trial in trials.pareto()}
    assert {trial.number for trial in ranked_trials(trials)[: len(shown)]} == shown


def test_front_wants_two_objectives_and_a_completed_trial() -> None:
    with pytest.raises(UsageError, match="one objective"):
        front_view(MANY)
    with pytest.raises(DataError, match="no trial completed"):
        front_view(Trials.from_records([{}], objectives=GOALS))

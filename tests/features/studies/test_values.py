"""Objectives, trials, spaces and columns refuse what cannot be meant and keep what they were given."""

from __future__ import annotations

import math
import pickle
from typing import Any

import pytest

from evalreport.core.errors import DataError
from evalreport.thresholds.trial import Space, StudyObjective, Trial
from evalreport.thresholds.trial_search import make_column


def test_direction_is_honoured_and_nan_is_never_better() -> None:
    assert StudyObjective("f1").better(0.9, 0.8)
    assert StudyObjective("loss", "minimize").better(0.8, 0.9)
    assert not StudyObjective("f1").better(math.nan, 0.1)
    assert not StudyObjective("f1").better(0.5, 0.5)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: StudyObjective("f1", "maximise"), "direction"),  # type: ignore[arg-type]
        (lambda: Trial(0, "done"), "state"),  # type: ignore[arg-type]
        (lambda: Trial(-1, "failed"), "negative"),
    ],
)
def test_what_cannot_be_meant_is_refused(make: Any, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        make()
    assert caught.value.fix


def test_a_trial_cannot_be_changed_and_travels() -> None:
    given = {"C": 1.0}
    trial = Trial(0, "complete", (math.nan,), given, ((3, 0.5), (1, 0.4)), 5.0, 7.0, "abc")
    given["C"] = 2.0
    assert trial.params["C"] == 1.0
    with pytest.raises(TypeError):
        trial.params["C"] = 3.0  # type: ignore[index]
    assert trial.intermediate == ((1, 0.4), (3, 0.5))
    assert pickle.loads(pickle.dumps(trial)) == trial
    assert not trial.finite
    assert {trial: 1}[trial] == 1


def test_a_clock_set_back_gives_no_negative_duration() -> None:
    assert Trial(0, "complete", (1.0,), started=10.0, finished=9.0).duration == 0.0
    assert Trial(0, "running", started=10.0).duration is None


def test_number_column_with_gaps_takes_declared_bounds() -> None:
    column = make_column("lr", [{"lr": 0.01}, {}, {"lr": 1}], Space("lr", 0.001, 10.0, log=True))
    assert (column.kind, column.values) == ("number", (0.01, None, 1.0))
    assert (column.low, column.high, column.log, column.gaps) == (0.001, 10.0, True, 1)
    assert not column.constant


@pytest.mark.parametrize(("values", "log"), [((0.01, 5.0), True), ((1.0, 50.0), False), ((0.0, 1e6), False)])
def test_undeclared_scale_is_logarithmic_over_two_decades(values: tuple[float, ...], log: bool) -> None:
    assert make_column("x", [{"x": value} for value in values], None).log is log


def test_categories_keep_declared_order_and_hold_none_apart_from_a_gap() -> None:
    rows: list[dict[str, Any]] = [{"w": None}, {"w": "balanced"}, {}, {"w": 5}]
    column = make_column("w", rows, Space("w", choices=("balanced", None)))
    assert column.kind == "categorical"
    assert column.values == ("None", "balanced", None, "5")
    assert column.choices == ("balanced", "None", "5")
    assert column.gaps == 1


def test_numbers_and_text_together_are_categories_in_order_of_size() -> None:
    column = make_column("k", [{"k": 10}, {"k": "auto"}, {"k": 9}, {"k": True}], None)
    assert column.choices == ("9", "10", "True", "auto")


def test_spaces_join() -> None:
    joined = Space("x", 0.0, 1.0, log=True) | Space("x", 0.5, 3.0)
    assert joined == Space("x", 0.0, 3.0, log=False)
    assert (Space("k", choices=("a",)) | Space("k", choices=("a", "b"))).choices == ("a", "b")

"""The search: started, seeded, reported, stopped and kept."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from evalreport.core.errors import MissingExtraError, UsageError
from evalreport.features.studies.read import trials_from_optuna
from evalreport.thresholds.trial_search import Dimension, Search, SearchProgress, SearchResult, optimise

PLANE = [Dimension("x", 0.0, 1.0), Dimension("y", 0.001, 10.0, log=True)]
START = (0.9, 9.0)


def hill(point: tuple[float, ...]) -> float:
    return -((point[0] - 0.3) ** 2) - (point[1] - 1) ** 2


def climbed(**named: object) -> SearchResult:
    return optimise(hill, PLANE, [START], Search(**{"trials": 25, **named}), "hill")  # type: ignore[arg-type]


def test_it_starts_where_requested_and_never_falls_below() -> None:
    found = climbed()
    assert tuple(found.trials.trials[0].params.values()) == START
    assert found.trials.trials[0].values == (hill(START),)
    assert found.value > hill(START) and found.value == hill(found.point)
    outside = optimise(hill, PLANE, [(7.0, 99.0)], Search(trials=1), "hill")
    assert outside.point == (1.0, 10.0)


def test_the_same_seed_tries_the_same() -> None:
    first, again, other = climbed(seed=1), climbed(seed=1), climbed(seed=2)
    assert first.trials == again.trials
    assert [t.params for t in first.trials.trials] != [t.params for t in other.trials.trials]


def test_it_tells_how_far_it_is_and_stops_when_nothing_gets_better() -> None:
    reported: list[SearchProgress] = []
    found = optimise(
        lambda _: 1.0, PLANE, [START], Search(trials=50, patience=5, progress=reported.append), "flat"
    )
    assert len(found.trials) == 6 == len(reported)
    assert reported[-1] == SearchProgress(6, 50, 1.0)
    hurried = optimise(hill, PLANE, [START, (0.5, 1.0), (0.4, 1.0)], Search(timeout=0.0), "hill")
    assert 3 <= len(hurried.trials) <= 4 and hurried.value >= hill((0.4, 1.0))


@pytest.mark.parametrize("kind", ["sqlite:///{}/study.db", "{}/study.log"])
def test_the_study_is_stored_where_requested(kind: str, tmp_path: Path) -> None:
    storage = kind.format(tmp_path)
    found = climbed(storage=storage, study_name="kept")
    kept = trials_from_optuna(storage)
    assert kept.study_name == found.trials.study_name == "kept"
    for there, here in zip(kept.trials, found.trials.trials, strict=True):
        assert (there.number, there.values, there.params) == (here.number, here.values, here.params)
    assert kept.objectives[0].name == "hill" and kept.objectives[0].direction == "maximize"
    with pytest.raises(UsageError) as caught:
        climbed(storage=storage, study_name="kept")
    assert "already holds a study 'kept'" in caught.value.message and "--study-name" in caught.value.fix


def test_a_storage_that_cannot_be_opened() -> None:
    with pytest.raises(UsageError) as caught:
        climbed(storage="nonsense://user:secret@host/db")
    assert "cannot be opened" in caught.value.message and "secret" not in caught.value.as_lines()


def test_an_objective_without_values_says_so() -> None:
    with pytest.raises(UsageError) as caught:
        optimise(lambda _: float("nan"), PLANE, [], Search(trials=3), "void")
    assert "void had no value at any of 3 trials" in caught.value.message


def test_without_optuna_the_install_command_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MissingExtraError) as caught:
        climbed()
    assert "pip install 'evalreport[optuna]'" in caught.value.fix

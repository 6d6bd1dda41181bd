"""What the simulation of decisions measured keeps what the words promise, and a short one runs."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from tests.comparison.decisions import RESULT, agreement


@pytest.fixture(scope="module")
def measured() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RESULT.read_text(encoding="utf-8"))
    return found


def error(share: float, times: int) -> float:
    """Two standard errors of a simulated share."""
    return float(2 * np.sqrt(share * (1 - share) / times))


def test_the_best_group_holds_all_equally_good_runs(measured: dict[str, Any]) -> None:
    assert len(measured["best_groups"]) == 8
    for row in measured["best_groups"]:
        assert row["held_all"] >= 0.95 - error(0.95, row["times"]), row


def test_two_equally_good_runs_get_a_verdict_in_one_of_twenty_samples(measured: dict[str, Any]) -> None:
    assert len(measured["told_apart"]) == 3
    for row in measured["told_apart"]:
        assert row["told_apart"] <= 0.05 + error(0.05, row["times"]), row


def test_two_equally_good_runs_differ_at_equal_recall_in_one_of_twenty_samples(
    measured: dict[str, Any],
) -> None:
    """By resamples it was a ninth where 50 positives are nearly all found, a seventh with tied scores."""
    assert len(measured["at_equal_recall"]) == 27
    for row in measured["at_equal_recall"]:
        assert row["apart"] <= (0.05 + error(0.05, row["told"])) * row["told"], row
    assert sum(row["apart"] for row in measured["at_equal_recall"]) <= 0.05 * sum(
        row["told"] for row in measured["at_equal_recall"]
    )


def test_the_best_group_holds_the_truly_best_run_and_ranks_hold_the_true_ones(
    measured: dict[str, Any],
) -> None:
    for row in measured["truly_best"]:
        assert min(row["held_best"], row["held_ranks"]) >= 0.95 - error(0.95, row["times"]), row


def test_the_rows_that_were_said_to_be_needed_demonstrate_it_four_times_in_five(
    measured: dict[str, Any],
) -> None:
    rows = measured["power"]
    for row in rows:
        assert abs(row["demonstrated"] - 0.8) <= 1.5 * error(0.8, row["times"]), row
    mean = float(np.mean([row["demonstrated"] for row in rows]))
    assert mean == pytest.approx(0.8, abs=0.04)


def test_interval_p_value_and_verdict_never_disagree(measured: dict[str, Any]) -> None:
    assert measured["agreement"]["differences"] > 1000
    assert measured["agreement"]["disagree"] == 0
    now = agreement(1)
    assert now["differences"] >= 100
    assert now["disagree"] == 0

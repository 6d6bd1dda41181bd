"""Intervals of differences hold the truth as often as they say; equal runs are not called different.

A short simulation here; the long one is `simulate.main`, whose result is held to its promise below.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from evalreport.intervals.estimates import Measured
from tests.comparison.simulate import RESULT, SETTINGS, Setting, coverage, false_alarms

TIMES = 120
ENDS = (0.89, 0.995)
"""Between these lies the coverage of 120 intervals that cover 93 to 97%, with room for chance."""
SHORT = (
    (Setting("binary", 200, (0.5,), (1.8, 1.8), 0.3), ("recall", "f1", "log_loss")),
    (Setting("binary", 200, (0.2,), (1.8, 1.8), 0.7), ("precision", "mcc", "average_precision")),
    (Setting("binary", 200, (0.05,), (1.8, 1.8), 0.3), ("balanced_accuracy", "roc_auc")),
    (Setting("multiclass", 200, (0.5, 0.3, 0.2), (1.8, 1.8), 0.3), ("accuracy", "f1_macro")),
    (Setting("multiclass", 200, (0.05,) * 20, (1.8, 1.8), 0.8), ("f1_macro",)),
    (Setting("multilabel", 200, (0.4, 0.1, 0.03), (1.8, 1.8), 0.3), ("f1_micro", "f1_macro")),
    (Setting("binary", 400, (0.3,), (1.8, 1.8), 0.7, 4), ("f1", "roc_auc", "recall")),
    (Setting("binary", 400, (0.3,), (1.8, 1.8), 0.7, 1, True), ("f1", "roc_auc", "recall")),
)


@pytest.mark.parametrize("case", SHORT, ids=lambda case: f"{case[0].task}-{case[1][-1]}")
def test_short_simulation(case: tuple[Setting, tuple[str, ...]]) -> None:
    setting, names = case
    for found in coverage(setting, TIMES, names).values():
        assert ENDS[0] <= found.coverage <= ENDS[1], found


def test_eight_equally_good_runs_are_seldom_called_different() -> None:
    """Without the correction for 28 pairs about half of the times would be alarms."""
    raised = false_alarms(Setting("binary", 250, (0.3,), (1.8,), 0.5), 8, 10, ["accuracy", "roc_auc"])
    assert max(raised.values()) <= 2 / 10, "at 5% more than two of ten come once in ninety times"


@pytest.fixture(scope="module")
def measured() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RESULT.read_text(encoding="utf-8"))
    return found


NEAR_TIES_OF_FEW = {
    setting.what
    for setting in SETTINGS
    if setting.task == "binary" and setting.n * setting.shares[0] * (1 - setting.correlation) <= 4
}
"""Two models differ on hardly any of the positives: the counts are too coarse for 95%."""


def test_long_simulation_kept_its_promise(measured: dict[str, Any]) -> None:
    rows = [Measured(**row) for row in measured["coverage"]]
    assert {row.method for row in rows} >= {"paired score", "paired draws of the counts", "paired bootstrap"}
    for row in rows:
        error = np.sqrt(0.95 * 0.05 / row.simulations)
        assert row.coverage >= 0.93 - 2 * error, row
        if not (row.n == 200 and row.setting in NEAR_TIES_OF_FEW):
            assert row.coverage <= 0.97 + 2 * error, row
    exact = [row for row in rows if row.simulations >= 900]
    outside = [row for row in exact if not 0.93 <= row.coverage <= 0.97]
    assert len(exact) > 400
    assert len(outside) <= 0.06 * len(exact)


def test_equal_runs_were_called_different_at_most_once_in_twenty_times(measured: dict[str, Any]) -> None:
    for row in measured["false_alarms"]:
        assert row["times"] >= 400
        error = np.sqrt(0.05 * 0.95 / row["times"])
        for name, share in row["raised"].items():
            assert share <= 0.05 + 2 * error, (name, row)

"""A short, seeded measurement of the intervals, and what the long one left in the package."""

from __future__ import annotations

import json

import numpy as np
import pytest

import evalreport as er
from evalreport.core.format import percent
from evalreport.core.result import Estimate
from evalreport.intervals.estimates import (
    ENOUGH,
    METHODS,
    measured_coverage,
    measured_methods,
    off_coverage,
)
from evalreport.metrics.catalogue import HEADLINE, certain, find
from tests.coverage.measure import measured
from tests.coverage.settings import BINARY, DEPENDENT, MULTICLASS, MULTILABEL, Setting

SIMULATIONS = 150
ERROR = (0.05 * 0.95 / SIMULATIONS) ** 0.5


@pytest.fixture
def population_of_100_000(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenth of the long measurement's: its error is a twentieth of the standard error of 200 rows."""
    monkeypatch.setattr("tests.coverage.measure.MOST", 100_000)


@pytest.mark.slow
@pytest.mark.usefixtures("population_of_100_000")
@pytest.mark.parametrize(
    "setting", [BINARY[4], MULTICLASS[1], MULTILABEL[1]], ids=lambda s: f"{s.task} {s.n}"
)
def test_headline_intervals_cover(setting: Setting) -> None:
    assert setting.n == ENOUGH
    for name, count in measured(setting, SIMULATIONS, 7, HEADLINE[setting.task]).items():
        if certain(find(name, setting.task), setting.labels):
            assert not count.given, name
            continue
        assert count.given == count.asked, name
        assert 0.93 - 3.5 * ERROR <= count.coverage <= 1.0, f"{name} covers {count.coverage:.1%}"


@pytest.mark.slow
def test_clusters_need_their_groups() -> None:
    """Thirty clusters of eight: resampled by cluster the intervals hold, row by row they do not."""
    setting, names = DEPENDENT[0], ("roc_auc", "accuracy")
    whole = measured(setting, 100, 5, names)
    naive = measured(setting, 100, 5, names, ignore_groups=True)
    for name in names:
        assert whole[name].coverage >= 0.87, f"{name} by cluster {whole[name].coverage:.0%}"
        assert naive[name].coverage <= whole[name].coverage - 0.1, f"{name} by row {naive[name].coverage:.0%}"


@pytest.mark.slow
@pytest.mark.usefixtures("population_of_100_000")
def test_the_mean_gap_of_scores_in_ten_steps_is_not_below_its_interval() -> None:
    """Half of the rows lie in one step that is off: with all gaps scaled alike, and 500 draws, 8% were."""
    found = measured(Setting("binary", "steps", 2000, 0.2), 400, 3, ("ici",))["ici"]
    assert found.above <= 0.065 * found.given


@pytest.mark.parametrize("task", ["binary", "multiclass", "multilabel"])
def test_the_table_in_the_package_holds_every_headline_metric(task: str) -> None:
    for name in HEADLINE[task]:
        rows = measured_coverage(task, name)
        assert {row.n for row in rows} >= {50, 200, 2000}, name
        assert all(0 <= row.coverage <= 1 for row in rows)
        assert set(measured_methods(task, name)) <= set(METHODS), name
        assert set(off_coverage(task, name)) <= set(rows)


def test_where_an_interval_did_not_hold_stands_beside_the_value() -> None:
    """A hundred negatives leave one beyond an FPR of 1%: wider than it says, as page and JSON tell."""
    rows = BINARY[1].draw(np.random.default_rng(0))
    ev = er.evaluate(rows.y_true, scores=er.Probabilities(rows.scores.values))  # type: ignore[union-attr]
    recall = ev["tpr_at_fpr01"]
    assert isinstance(recall, Estimate)
    off = [row for row in off_coverage("binary", "tpr_at_fpr01") if recall.method in row.method.split("; ")]
    worst = max(row.coverage for row in off)
    reported = json.loads(ev.to_json())["off_coverage"]["tpr_at_fpr01"]
    assert reported.startswith(f"coverage {percent(worst)} in simulations: ")
    assert reported in er.to_html(ev) and "accuracy" not in ev.off_coverage

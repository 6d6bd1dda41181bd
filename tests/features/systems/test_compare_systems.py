"""Systems of several runs against each other, with independent oracles."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import evalreport as er
from evalreport.core.errors import DataError, UsageError
from evalreport.data.labels import Multiclass
from evalreport.data.predictions import predictions
from evalreport.evaluation.evaluation import Evaluation
from evalreport.features.systems.compare import compare_systems
from evalreport.features.systems.page import headline
from evalreport.features.systems.variance import MeasuredRuns, variance_components
from evalreport.intervals.paired import of_mean
from tests.comparison.models import bare
from tests.features.systems.simulate import RESULT, SETTINGS, SeedSetting, coverage

ANSWERS = "abc"


def runs_of(rights: Any, **more: Any) -> list[Evaluation]:
    """Runs that answer rows of class a right (1) or with b (0)."""
    space = Multiclass(tuple(ANSWERS))
    made = []
    for row in np.asarray(rights):
        truth = np.array(["a", "b"] * len(row))[: len(row)]
        answers = np.where(row == 1, truth, "c")
        made.append(bare(predictions(space, truth, answers, **more)))
    return made


def anova(readings: Any) -> tuple[float, float, float]:
    """Variance of the mean of all readings by rows, seeds and both: two-way random effects."""
    seeds, rows = readings.shape
    grand = readings.mean()
    of_rows = seeds * sum((readings[:, i].mean() - grand) ** 2 for i in range(rows)) / (rows - 1)
    of_seeds = rows * sum((readings[s].mean() - grand) ** 2 for s in range(seeds)) / (seeds - 1)
    rest = 0.0
    for s in range(seeds):
        for i in range(rows):
            rest += (readings[s, i] - readings[s].mean() - readings[:, i].mean() + grand) ** 2
    error = rest / (rows - 1) / (seeds - 1)
    return (of_rows - error) / seeds / rows, (of_seeds - error) / seeds / rows, error / seeds / rows


@pytest.mark.parametrize("count", [2, 5])
def test_components_are_those_of_a_two_way_analysis_of_variance(count: int) -> None:
    rng = np.random.default_rng(3)
    readings = rng.normal(size=40) + 0.8 * rng.normal(size=count)[:, None] + rng.normal(size=(count, 40))
    means = readings.mean(axis=1)
    found = variance_components([MeasuredRuns(means, (readings - means[:, None]) / 40)], of_mean)
    rows, seeds, both = anova(readings)
    assert seeds > 0
    assert (found.rows, found.both) == pytest.approx((rows, both))
    # of_mean divides by n - 1 where the mean square of seeds does not: E(s²) is σ²(seeds) + σ²(both) / n
    assert found.seeds == pytest.approx(seeds, rel=1e-9)


def one_shot(readings: Any) -> float:
    """Variance of a mean reading without bias, from all pairs of readings (Gallas 2006), slowly.

    E(x²) less the mean of x(s,i) x(t,j) over other seeds and other rows is estimated term by term.
    """
    seeds, rows = readings.shape
    sums: dict[tuple[bool, bool], list[float]] = {}
    for s in range(seeds):
        for i in range(rows):
            for t in range(seeds):
                for j in range(rows):
                    sums.setdefault((s == t, i == j), []).append(readings[s, i] * readings[t, j])
    moment = {key: float(np.mean(values)) for key, values in sums.items()}
    share = {
        (True, True): 1 / (seeds * rows),
        (True, False): (rows - 1) / (seeds * rows),
        (False, True): (seeds - 1) / (seeds * rows),
        (False, False): (seeds - 1) * (rows - 1) / (seeds * rows),
    }
    return float(sum(share[key] * moment[key] for key in share) - moment[False, False])


def test_the_variance_is_that_of_all_pairs_of_readings() -> None:
    rng = np.random.default_rng(8)
    readings = (rng.normal(size=12) + rng.normal(size=4)[:, None] + rng.normal(size=(4, 12)) > 0).astype(
        float
    )
    means = readings.mean(axis=1)
    found = variance_components([MeasuredRuns(means, (readings - means[:, None]) / 12)], of_mean)
    assert found.seeds > 0
    assert found.variance == pytest.approx(one_shot(readings))


def test_the_difference_pairs_rows_and_takes_seeds_as_independent() -> None:
    rng = np.random.default_rng(5)
    shared = rng.normal(size=60)
    sides = [shared + 0.5 * rng.normal(size=k)[:, None] + rng.normal(size=(k, 60)) for k in (4, 3)]
    runs = [MeasuredRuns(x.mean(axis=1), (x - x.mean(axis=1)[:, None]) / 60) for x in sides]
    found = variance_components(runs, of_mean)
    gaps = sides[0].mean(axis=0) - sides[1].mean(axis=0)
    seeds = [anova(side)[1] for side in sides]
    assert found.variance == pytest.approx(gaps.var(ddof=1) / 60 + sum(seeds))


def test_a_system_is_reported_with_its_runs_pairs_and_changing_answers() -> None:
    new = [[1] * 38 + [0] * 2, [1] * 36 + [0] * 4, [1] * 37 + [0, 1, 0]]
    old = [[1] * 20 + [0] * 20, [1] * 22 + [0] * 18]
    found = er.compare(systems={"old": runs_of(old), "new": runs_of(new)}, primary="accuracy")
    best = found.systems[0]
    assert (best.system, len(best.runs)) == ("new", 3)
    assert best.metrics["accuracy"].value == pytest.approx(112 / 120)
    assert best.metrics["accuracy"].best_run_flatters == pytest.approx(0.95 - 112 / 120)
    reported = json.loads(found.to_json())
    assert {*reported["systems"][0]} >= {
        "system",
        "runs",
        "value",
        "low",
        "high",
        "best_run_flatters",
        "variance",
    }
    assert reported["systems"][0]["churn"] == {
        "any": pytest.approx(3 / 40),
        "two": pytest.approx((2 + 1 + 3) / 3 / 40),
        "correctness": pytest.approx(3 / 40),
    }
    assert sum(reported["systems"][0]["variance"].values()) == pytest.approx(1)
    (gap,) = found.differences_for("accuracy")
    assert (gap.run, gap.baseline, gap.verdict) == ("new", "old", "better")
    assert reported["differences"][0]["pairs"] == {"ahead": 6, "ties": 0, "of": 6}
    assert gap.only_right == (17, 0)
    assert len(best.examples) == 3
    assert any("two runs" in note for note in found.notes)


def test_one_run_leaves_the_seeds_unknown() -> None:
    found = er.compare(systems={"a": runs_of([[1] * 30 + [0] * 10]), "b": runs_of([[1] * 20 + [0] * 20] * 2)})
    value = found.system_value("a", "accuracy")
    assert value.variance is None
    assert "seeds are unknown" in value.reason
    assert found.systems[0].churn is None
    assert found.differences_for("accuracy")[0].reason == "seeds unknown of a: one run"
    assert any("the same predictions" in note for note in found.notes)


def test_systems_with_the_same_predictions_have_no_interval() -> None:
    runs = runs_of([[1, 1, 0] * 20])
    result = compare_systems({"a": runs, "b": runs}, metrics=["accuracy"])
    (found,) = result.differences_for("accuracy")
    assert (found.difference, found.low, found.verdict) == (0, None, "not_significant")
    words = "No significant difference between a and b: the runs have the same value on every row."
    assert headline(result).text == words


def test_only_shared_rows_are_compared() -> None:
    ids = np.array([f"r{k}" for k in range(100)])
    some = runs_of([[1] * 90 + [0] * 10], ids=ids)
    other = runs_of([[0] * 10 + [1] * 20], ids=ids[80:][::-1].tolist() + [f"x{k}" for k in range(10)])
    with pytest.raises(DataError, match="true labels of 20 of 20 shared"):
        er.compare(systems={"a": some, "b": other})
    part = runs_of([[1] * 20], ids=ids[:20])
    found = er.compare(systems={"a": some, "b": part}, primary="accuracy")
    assert (found.rows, set(found.left_out.values())) == (20, {80, 0})
    assert found.system_value("a").value == 1.0
    assert "under half" in " ".join(found.notes)
    with pytest.raises(DataError, match="share no rows") as error:
        er.compare(systems={"a": some, "b": runs_of([[1] * 5], ids=list("vwxyz"))})
    assert error.value.exit_code == 5


@pytest.mark.parametrize("systems", [{"a": 2}, {"a": 2, "b": 0}])
def test_too_few_runs_are_refused(systems: dict[str, int]) -> None:
    given = {name: runs_of([[1] * 20] * runs) for name, runs in systems.items()}
    with pytest.raises(UsageError):
        compare_systems(given)


def test_more_runs_and_more_rows_narrow_what_comes_from_them() -> None:
    rng = np.random.default_rng(4)
    readings = rng.normal(size=400) + 0.3 * rng.normal(size=4)[:, None] + rng.normal(size=(4, 400))
    means = readings.mean(axis=1)
    found = variance_components([MeasuredRuns(means, (readings - means[:, None]) / 400)], of_mean)
    assert found.half_width(0.95, runs=1e6) == pytest.approx(1.96 * found.rows**0.5, rel=0.02)
    assert found.half_width(0.95, rows=1e9) < found.half_width(0.95)


def test_intervals_of_systems_hold_as_often_as_they_say() -> None:
    rows = json.loads(RESULT.read_text(encoding="utf-8"))
    assert {(row["task"], row["seeds"], row["n"], row["spread"]) for row in rows} == {
        (one.task, one.seeds, one.n, one.spread) for one in SETTINGS
    }
    for row in rows:
        assert row["times"] >= 1000
        chance = 3 * (0.95 * 0.05 / row["times"]) ** 0.5  # of so many draws; one of 700 shares lies beyond
        assert 0.93 - chance <= row["value"] <= 0.97 + chance, row
        assert 0.93 - chance <= row["difference"] <= 0.97 + chance, row
        assert row["false_verdict"] <= 0.05 + chance, row
    for name, low, high in (
        ("value", 0.94, 0.965),
        ("difference", 0.94, 0.97),
        ("false_verdict", 0.02, 0.052),
    ):
        assert low <= np.average([row[name] for row in rows], weights=[row["times"] for row in rows]) <= high


def test_a_short_simulation_of_three_weak_seeds() -> None:
    for row in coverage(SeedSetting("binary", 3, 200, "weak"), 60, rows=10_000):
        assert row["value"] >= 0.85
        assert row["false_verdict"] <= 0.15

"""Graded items: reading, pass rate, repeats, comparison and rules."""

from __future__ import annotations

import json
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import evalreport as er
from evalreport.core.errors import DataError, EvalreportError, UsageError
from evalreport.core.result import Estimate
from evalreport.features.graded.evaluation import GradedEvaluation
from evalreport.features.graded.grades import read_grades
from evalreport.features.graded.metrics import METRICS
from evalreport.intervals.distributions import wilson
from tests.cli.running import run
from tests.features.graded.files import grades_of, inspect_log, lm_eval


def graded(*args: Any, **named: Any) -> GradedEvaluation:
    ev = er.evaluate(*args, **named)
    assert isinstance(ev, GradedEvaluation)
    return ev


def value(ev: GradedEvaluation, name: str) -> float:
    found = ev[name]
    assert isinstance(found, Estimate)
    return found.value


@pytest.fixture
def samples(tmp_path: Path) -> tuple[Path, Path]:
    a, b = (lm_eval(tmp_path / f"samples_{run}.jsonl", grades_of(run)) for run in "ab")
    return a, b


def test_samples_of_lm_eval_are_graded(samples: tuple[Path, Path]) -> None:
    for path, rate in zip(samples, (140 / 220, 151 / 220), strict=True):
        ev = er.evaluate_file(str(path))
        assert isinstance(ev, GradedEvaluation)
        assert (ev.task, ev.scale, ev.items, ev.rows) == ("graded", "pass", 220, 220)
        assert value(ev, "pass_rate") == pytest.approx(rate)
        assert "accuracy" not in ev.metrics
    low, high = map(float, wilson(151, 220))
    assert isinstance(ev["pass_rate"], Estimate)
    assert (ev["pass_rate"].low, ev["pass_rate"].high) == pytest.approx((low, high))
    assert ev.verdict == "Passes 151 of 220 items (69%)."


def test_a_comparison_names_fixed_and_broken_items(samples: tuple[Path, Path]) -> None:
    a, b = (er.evaluate_file(str(path)) for path in samples)
    found = er.compare([a, b])
    (moved,), (test,) = found.movement, found.mcnemar
    assert (moved.fixed, moved.broken, moved.both_right, moved.both_wrong) == (
        51,
        40,
        100,
        29,
    )
    assert moved.fixed_ids[0] == "100"
    difference = found.differences_for("pass_rate")[0]
    assert difference.difference == pytest.approx(11 / 220)
    assert difference.p == test.p > 0.2
    assert {d.metric for d in found.differences} == {"pass_rate", "no_grade_rate"}
    assert not found.parts, "there are no classes of grades"


def test_commands_read_grades(samples: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    a, b = map(str, samples)
    found = json.loads(run(capsys, "report", a, "--json").out)["runs"][0]
    assert (found["task"], found["scale"], found["n"], found["attempts"]) == ("graded", "pass", 220, 220)
    page = samples[0].with_name("a.html")
    assert run(capsys, "report", a, "-o", str(page)).code == 0
    assert "Passes 140 of 220 items (64%)." in page.read_text(encoding="utf-8")
    compared = json.loads(run(capsys, "compare", a, b, "--json").out)["comparison"]
    assert (compared["movement"]["fixed"], compared["movement"]["broken"]) == (51, 40)
    assert run(capsys, "check", a, "--require", "pass_rate >= 0.5").code == 0
    assert run(capsys, "check", b, "--baseline", a, "--require", "pass_rate drops <= 0.05").code == 0
    assert run(capsys, "check", a, "--require", "pass_rate >= 0.8").code == 1
    assert "equal within 20 points" in run(capsys, "compare", a, b, "--equivalent", "20%").out


def test_an_attempt_without_a_grade_is_not_passed() -> None:
    ev = graded(["pass"] * 29 + ["fail"] * 8 + [None] * 3, labels=er.Graded())
    assert value(ev, "pass_rate") == 29 / 40
    assert value(ev, "pass_rate_graded") == 29 / 37
    assert value(ev, "no_grade_rate") == 3 / 40
    assert ev.verdict == "Passes 29 of 40 items (73%); 3 have no grade."
    assert "3 attempts have no grade and count as not passed" in ev.remarks


def repeat_rows(items: int = 30, seed: int = 0) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    rng = np.random.default_rng(seed)
    ids = np.repeat(np.arange(items), 5)
    return ids, rng.random(5 * items) < rng.beta(0.7, 0.7, items)[ids]


def test_repeats_against_all_subsets() -> None:
    """pass@k and pass^k are the rates over all subsets of k attempts."""
    ids, passed = repeat_rows()
    ev = graded(passed, labels=er.Graded(), ids=ids)
    rows = passed.reshape(-1, 5)
    for k in range(2, 6):
        subsets = [rows[:, list(chosen)] for chosen in combinations(range(5), k)]
        assert len(subsets) == comb(5, k)
        assert value(ev, f"pass_at_{k}") == pytest.approx(np.mean([part.any(axis=1) for part in subsets]))
        assert value(ev, f"pass_hat_{k}") == pytest.approx(np.mean([part.all(axis=1) for part in subsets]))
    pairs = [rows[:, i] == rows[:, j] for i, j in combinations(range(5), 2)]
    assert value(ev, "agreement") == pytest.approx(np.mean(pairs))
    assert ev.repeats is not None
    assert ev.repeats.never == (~rows.any(axis=1)).sum()
    assert ev.repeats.some == (rows.any(axis=1) & ~rows.all(axis=1)).sum()
    assert (ev.items, ev.rows) == (30, 150)


def test_variance_of_repeats_is_split() -> None:
    ids, passed = repeat_rows(2000, seed=3)
    ev = graded(passed, labels=er.Graded(), ids=ids)
    assert ev.repeats is not None
    whole = ev.repeats.variance_items + ev.repeats.variance_repeats
    assert whole == pytest.approx(0.25, abs=0.01)
    assert ev.repeats.variance_items == pytest.approx(0.25 / 2.4, abs=0.01), "of a beta distribution"


def test_items_have_equal_weight_whatever_their_attempts() -> None:
    ev = graded([1, 1, 1, 0], labels=er.Graded(), ids=["a", "a", "a", "b"])
    assert value(ev, "pass_rate") == pytest.approx(0.5)
    assert "items have 1 to 3 attempts; each item has the same weight" in ev.remarks


def test_ids_with_the_sign_of_a_number_are_items_of_their_own() -> None:
    ids = [f"issue #{number}" for number in range(40)]
    found = er.evaluate([number % 4 > 0 for number in range(40)], labels=er.Graded(), ids=ids)
    assert isinstance(found, GradedEvaluation)
    assert (found.items, found.repeats, found["pass_rate"].value) == (40, None, 0.75)
    assert [one.id for one in found.examples] == ids[::4]


def test_the_interval_of_a_paired_difference_is_over_items() -> None:
    ids, first = repeat_rows(seed=1)
    second = np.roll(first.reshape(-1, 5), 1, axis=1).ravel()
    runs = [graded(passed, labels=er.Graded(), ids=ids) for passed in (first, second)]
    (found,) = er.compare(runs).differences_for("pass_rate")
    assert found.difference == pytest.approx(0, abs=1e-12)
    assert found.method == "paired score, by cluster"
    assert found.low is not None and found.high is not None
    assert found.low < 0 < found.high
    other = graded(repeat_rows(seed=2)[1], labels=er.Graded(), ids=ids)
    (found,) = er.compare([runs[0], other]).differences_for("pass_rate")
    gaps = (other_rows := repeat_rows(seed=2)[1].reshape(-1, 5).mean(axis=1)) - first.reshape(-1, 5).mean(
        axis=1
    )
    assert len(other_rows) == 30
    assert found.difference == pytest.approx(gaps.mean())
    assert found.low is not None and found.high is not None
    assert found.high - found.low == pytest.approx(2 * 2.045 * gaps.std(ddof=1) / 30**0.5, rel=0.05)


def test_a_difference_has_a_width_if_no_item_differs() -> None:
    ids, passed = np.repeat(np.arange(20), 3).astype(str), np.repeat(np.arange(20) > 0, 3)
    table = pd.DataFrame({"id": ids, "grade": passed, "half": np.where(np.arange(60) < 30, "a", "b")})
    run = er.evaluate(table, id="id", grade="grade", slices=["half"])
    found = er.compare([run, run])
    for one in (*found.differences_for("pass_rate"), *found.parts):
        if one.metric == "pass_rate":
            assert one.low is not None and one.high is not None
            assert one.difference == 0
            assert one.low == pytest.approx(-one.high)
            assert one.high > 0.1
            assert one.verdict == "not_significant"
    assert len([one for one in found.parts if one.metric == "pass_rate"]) == 2


def test_one_group_has_no_interval_of_a_difference() -> None:
    table = pd.DataFrame({"id": np.arange(20), "grade": np.arange(20) > 3, "topic": "one"})
    run = er.evaluate(table, id="id", grade="grade", group="topic")
    (found,) = er.compare([run, run]).differences_for("pass_rate")
    assert (found.low, found.reason) == (None, "an interval needs at least 2 groups")


def test_rates_of_attempts_have_the_interval_of_the_pass_rate() -> None:
    ids, passed = repeat_rows()
    ev = graded(passed, labels=er.Graded(), ids=ids)
    assert ev["pass_rate_graded"] == ev["pass_rate"]
    none, rate = ev["no_grade_rate"], ev["pass_rate"]
    assert isinstance(none, Estimate) and isinstance(rate, Estimate) and none.method == rate.method
    some = [None if row % 7 == 0 else bool(one) for row, one in enumerate(passed)]
    ev = graded(some, labels=er.Graded(), ids=ids)
    assert value(ev, "pass_rate_graded") == pytest.approx(np.mean([one for one in some if one is not None]))
    assert value(ev, "no_grade_rate") == pytest.approx(some.count(None) / len(some))


def test_pairing_counts_items() -> None:
    runs = [
        graded([True, False] * 20, labels=er.Graded(), ids=[f"{n + k}" for n in range(40)]) for k in (0, 5)
    ]
    ((_, _, pairing),) = er.compare(runs).pairings
    assert pairing.reason == "matched by id; 10 items are in one run only"


@pytest.mark.parametrize(
    ("written", "scale", "passes"),
    [
        ([True, False, None], "pass", 1),
        (["Yes", "no", "yes"], "pass", 2),
        (["correct", "incorrect", "error"], "pass", 1),
        (["C", "I", "N"], "pass", 1),
        (["C", "P", "I"], "unit", 1),
        (["1", "0.25", ""], "unit", 1),
        ([0.2, 1.0, float("nan")], "unit", 1),
    ],
)
def test_grades_as_they_are_written(written: list[Any], scale: str, passes: int) -> None:
    found = read_grades(written, "grade")
    assert found.space.scale == scale
    assert found.passed is not None
    assert (found.passed == 0).sum() == passes


def test_ratings_pass_by_a_rule() -> None:
    frame = {"task": list("abcd"), "grade": [5, 4, 2, None]}
    import pandas as pd

    ev = er.evaluate(pd.DataFrame(frame), grade="grade", passing=">=4", id="task")
    assert isinstance(ev, GradedEvaluation)
    assert (ev.scale, value(ev, "pass_rate"), value(ev, "mean_score")) == ("rating", 0.5, 3.0)
    plain = graded([5, 4, 2, 1], labels=er.Graded("rating"))
    assert "pass_rate" not in plain.metrics, "nothing says which ratings pass"
    assert plain.verdict == "Mean score 3.00 over 4 items."
    assert er.compare([plain, graded([5, 5, 2, 1], labels=er.Graded("rating"))]).primary == "mean_score"


@pytest.mark.parametrize(
    ("written", "words", "fix"),
    [
        (["pass", "0.7"], "mix words and numbers", "in one way"),
        (["pass", "maybe"], "'maybe' is not a grade", "pass or fail"),
        ([3.5, 87.0], "no known scale", "--set pass"),
        ([None, None], "no item has a grade", "--grade"),
        ([["a"], "pass"], "is not a grade", "pass or fail"),
    ],
)
def test_what_is_not_a_grade(written: list[Any], words: str, fix: str) -> None:
    with pytest.raises(DataError, match=words) as caught:
        read_grades(written, "grade", source="file.csv")
    assert "file.csv, column 'grade'" in caught.value.where
    assert fix in caught.value.fix


def test_grades_outside_of_the_scale() -> None:
    with pytest.raises(DataError, match="outside of the scale 'unit'"):
        er.evaluate([0.5, 3.0], labels=er.Graded("unit"))
    with pytest.raises(UsageError, match="is not a scale of grades"):
        er.Graded("units")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="cannot be compared"):
        er.compare([graded([0, 1], labels=er.Graded()), graded([0, 0.5], labels=er.Graded("unit"))])


def test_several_evaluations_are_refused(tmp_path: Path) -> None:
    twice = lm_eval(tmp_path / "twice.jsonl", grades_of("a"))
    lines = [json.loads(line) for line in twice.read_text().splitlines()]
    both = [line | {"filter": name} for name in ("strict", "flexible") for line in lines]
    twice.write_text("".join(f"{json.dumps(line)}\n" for line in both))
    with pytest.raises(EvalreportError, match="2 evaluations") as caught:
        er.evaluate_file(str(twice))
    assert "filter=strict" in caught.value.fix
    chosen = er.evaluate_file(str(twice), where="filter=strict")
    assert value(chosen, "pass_rate") == pytest.approx(140 / 220)  # type: ignore[arg-type]
    metrics = lm_eval(tmp_path / "metrics.jsonl", grades_of("a"), acc=grades_of("b"))
    with pytest.raises(EvalreportError, match="2 grades for each item: exact_match, acc") as caught:
        er.evaluate_file(str(metrics))
    assert caught.value.fix.endswith('grade="exact_match"')
    assert value(er.evaluate_file(str(metrics), grade="acc"), "pass_rate") == pytest.approx(151 / 220)  # type: ignore[arg-type]


def test_epochs_of_inspect_are_repeats(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text(json.dumps(inspect_log(["C", "I", "C", "C", None, "C"], epochs=2)))
    ev = er.evaluate_file(str(path))
    assert isinstance(ev, GradedEvaluation)
    assert (ev.items, ev.rows) == (3, 6)
    assert value(ev, "pass_rate") == pytest.approx(4 / 6)
    assert value(ev, "pass_rate_graded") == pytest.approx(4 / 5)


def test_measures_have_intervals_of_median_and_percentile(tmp_path: Path) -> None:
    """With 200 values the limits of the median are the 86th and the 115th, by the binomial distribution."""
    cost = np.random.default_rng(0).lognormal(0, 1, 200)
    path = tmp_path / "runs.csv"
    rows = [f"{k},{k % 3 == 0:d},{one}" for k, one in enumerate(cost)]
    path.write_text("\n".join(["id,passed,cost", *rows]))
    ev = er.evaluate_file(str(path), measures="cost")
    assert isinstance(ev, GradedEvaluation)
    ordered = np.sort(cost)
    for name, q in (("median", 0.5), ("p95", 0.95)):
        found = ev.measures["cost"][name]
        assert isinstance(found, Estimate)
        assert found.value == pytest.approx(np.quantile(cost, q))
        low, high = binom.ppf([0.025, 0.975], 200, q).astype(int)
        assert [found.low, found.high] == pytest.approx([ordered[low - 1], ordered[high]])
    mean = ev.measures["cost"]["mean"]
    assert isinstance(mean, Estimate)
    assert mean.value == pytest.approx(cost.mean()) and mean.low is None
    assert str(mean.reason).startswith("no interval: ")


def test_attempts_and_groups_do_not_make_a_measure_more_certain() -> None:
    """Values that repeat within an item or a group have the interval of as many single values."""
    cost = np.random.default_rng(0).lognormal(0, 1, 40)
    rows = pd.DataFrame({"id": range(40), "passed": [True, False] * 20, "cost": cost, "doc": range(40)})
    frames = (rows, pd.concat([rows] * 3), pd.concat([rows] * 3).assign(id=range(120)))
    limits = set()
    for frame in frames:
        ev = er.evaluate(frame, grade="passed", id="id", measures="cost", group="doc")
        assert isinstance(ev, GradedEvaluation)
        median = ev.measures["cost"]["median"]
        assert isinstance(median, Estimate)
        limits.add((median.low, median.high))
    assert len(limits) == 1


def test_a_pair_of_labels_wins_over_a_grade(tmp_path: Path) -> None:
    path = tmp_path / "both.csv"
    rows = [f"{k},{'ab'[k % 2]},{'ab'[k % 3 == 0]},{int(k % 2 == (k % 3 == 0))}" for k in range(40)]
    path.write_text("\n".join(["id,y_true,y_pred,correct", *rows]))
    assert er.evaluate_file(str(path)).task == "binary"


def test_every_record_is_complete() -> None:
    for metric in METRICS:
        texts = (metric.title, metric.meaning, metric.formula, metric.source, metric.use, metric.trap)
        assert all(texts) and not metric.meaning.endswith("."), metric.name
        assert metric.task == "graded"


def test_a_graded_evaluation_has_the_methods_of_every_result() -> None:
    ev = graded(["pass", "fail", None], labels=er.Graded())
    public = {name for name in dir(er.Evaluation) if not name.startswith("_")} - {"plot"}
    assert public <= set(dir(ev))
    assert ev.to_dict()["task"] == "graded"
    assert "| Pass rate | 33% |" in ev.to_markdown()
    assert ev.to_html() == er.to_html(ev)


@pytest.mark.parametrize("scores", [[0.5] * 30, [0.25, 0.75, 1.0] * 10])
def test_equal_mean_scores_differ_by_an_interval(scores: list[float]) -> None:
    """Runs with the same scores may differ on other items: the interval of the difference 0 has a width."""
    runs = [er.evaluate(scores, labels=er.Graded("unit"), ids=range(30)) for _ in range(2)]
    (found,) = [d for d in er.compare(runs).differences if d.metric == "mean_score"]
    assert found.difference == 0 and found.low is not None and found.high is not None
    assert -0.2 < found.low < 0 < found.high < 0.2 and found.p == pytest.approx(1.0)

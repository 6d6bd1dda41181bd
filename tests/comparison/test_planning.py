"""How many rows a question needs: what is promised comes true when so many rows are drawn."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from evalreport.cli.plan import equal_lines, needed_lines
from evalreport.comparison.compare import compare
from evalreport.comparison.sample_size import equivalences, plan_sample
from evalreport.core.errors import DataError
from evalreport.core.result import Estimate
from evalreport.data.labels import Binary
from evalreport.data.predictions import Predictions, predictions
from evalreport.evaluation.evaluate import evaluate_predictions
from evalreport.intervals.distributions import newcombe, wilson
from evalreport.intervals.interval_settings import Sampling
from evalreport.intervals.paired import ScoreCurve
from tests.cli.running import run

RIGHT = 0.8
Capture = pytest.CaptureFixture[str]


def answers(n: int, seed: int, right: float = RIGHT) -> Predictions:
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 2
    return predictions(Binary(0, 1), truth, np.where(rng.random(n) < right, truth, 1 - truth))


PILOT = evaluate_predictions(answers(300, 1), Sampling(resamples=100), only=("accuracy",))


def test_so_many_rows_give_the_half_width() -> None:
    (plan,) = plan_sample(PILOT, "accuracy", half_width=0.01)
    assert plan.needed is not None
    made = evaluate_predictions(answers(plan.needed, 2), Sampling(resamples=100), only=("accuracy",))
    found = made["accuracy"]
    assert isinstance(found, Estimate) and found.width is not None
    assert found.width / 2 == pytest.approx(0.01, rel=0.1)


def test_so_many_rows_demonstrate_a_difference_four_times_of_five() -> None:
    """From a fixed value by Wilson's interval, from another model on other rows by Newcombe's."""
    fixed, other = plan_sample(PILOT, "accuracy", detect=0.04)
    assert fixed.needed is not None and other.needed is not None
    rng = np.random.default_rng(0)
    _, high = wilson(rng.binomial(fixed.needed, RIGHT - 0.02, 2000), fixed.needed)
    assert (high < RIGHT + 0.02).mean() == pytest.approx(0.8, abs=0.06)
    n = other.needed
    pairs = rng.binomial(n, (RIGHT + 0.02, RIGHT - 0.02), (1000, 2)).tolist()
    assert np.mean([newcombe(a, n, b, n)[1] > 0 for a, b in pairs]) == pytest.approx(0.8, abs=0.06)


def test_no_difference_is_reported_that_the_metric_cannot_have() -> None:
    """Two rows of an accuracy of 0.5 demonstrate none, and one of 0.6 is possible with no number of rows."""
    two = evaluate_predictions(predictions(Binary(0, 1), [0, 1], [0, 0]), only=("accuracy",))
    for wanted, rows in ((0.1, "about"), (0.6, "no number of rows")):
        plans = plan_sample(two, "accuracy", detect=wanted)
        assert all(plan.reached is None and (plan.needed is None) == (wanted == 0.6) for plan in plans)
        first = needed_lines(plans)[0]
        assert rows in first and first.endswith("(these 2 detect no difference)")


def test_what_has_no_interval_plans_nothing() -> None:
    ev = evaluate_predictions(answers(1, 1), only=("accuracy",))
    with pytest.raises(DataError, match="no interval for accuracy"):
        plan_sample(ev, "accuracy", detect=0.1)


def test_the_command_and_compare_answer(capsys: Capture, tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 2)):
        p = answers(400, seed)
        table = zip(p.y_true.tolist(), np.asarray(p.y_pred).tolist(), strict=True)
        text = "y_true,y_pred\n" + "".join(f"{truth},{answer}\n" for truth, answer in table)
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    files = [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]
    done = run(
        capsys, "plan", files[0], "--metric", "accuracy", "--half-width", "1%", "--min-difference", "0.02"
    )
    assert done.code == 0
    assert [word in done.out for word in ("± 1 point needs about", "from a fixed value", "per model")] == [
        True
    ] * 3
    assert run(capsys, "plan", files[0], "--metric", "accuracy").code == 2
    assert run(capsys, "plan", files[0], "--metric", "accuracy", "--min-difference", "0").code == 2
    body = run(capsys, "compare", *files, "--metrics", "accuracy", "--min-difference", "0.01", "--json").json
    (needed,) = body["rows_needed"]
    (difference,) = body["comparison"]["differences"]
    reach = difference["detectable"]["difference"]
    assert needed["question"] == "same_rows"
    assert needed["needed"] == pytest.approx(400 * (reach / 0.01) ** 2, abs=1)


def test_plans_follow_the_number_rule() -> None:
    """Rates in points, two digits of what the pilot reaches, rows that a pilot can know."""
    half, fixed, _ = needed_lines(plan_sample(PILOT, "accuracy", half_width=0.01, detect=0.02))
    assert re.fullmatch(
        r"  an interval of ± 1 point needs about \d,\d00 rows, at most \d,\d00 within the "
        r"pilot's interval \(these 300 give ± \d\.\d points\)",
        half,
    )
    assert re.search(r"of 2 points .* about \d,\d00 rows, .* \(these 300 detect \d\.\d points\)$", fixed)


def test_the_unfavourable_end_needs_as_many_rows_as_a_truth_there_does() -> None:
    """A pilot of 100 with an accuracy of 0.95: at 0.888, its lower end, a rate varies twice as much."""
    truth = np.arange(100) % 2
    answers = np.where(np.arange(100) < 5, 1 - truth, truth)
    ev = evaluate_predictions(predictions(Binary(0, 1), truth, answers), only=("accuracy",))
    (plan,) = plan_sample(ev, "accuracy", half_width=0.01)
    found = ev["accuracy"]
    assert isinstance(found, Estimate) and found.low is not None
    assert plan.needed is not None and plan.needed_most is not None
    ratio = found.low * (1 - found.low) / (0.95 * 0.05)
    assert plan.needed_most == pytest.approx(plan.needed * ratio, rel=0.01) and ratio > 2
    perfect = evaluate_predictions(predictions(Binary(0, 1), truth, truth), only=("accuracy",))
    (plan,) = plan_sample(perfect, "accuracy", half_width=0.01)
    assert plan.needed is not None and plan.needed_most is not None
    assert plan.needed_most > plan.needed
    low = wilson(100, 100)[0]
    assert plan.needed_most == pytest.approx(1.96**2 * low * (1 - low) / 0.01**2, rel=0.02)


def test_runs_are_equal_within_what_two_one_sided_tests_rule_out() -> None:
    """At most one in twenty is called equal that differs by just the margin; equal runs are."""
    rng, called, truth = np.random.default_rng(0), 0, np.arange(400) % 2
    for _ in range(200):
        only = rng.multinomial(400, (0.10, 0.05, 0.85))  # a true difference of 0.05
        curve = ScoreCurve(int(only[0]), int(only[1]), 400)
        called += max(map(abs, curve.limits(0.9))) < 0.05
    assert called <= 200 * 0.05 + 3 * (200 * 0.05 * 0.95) ** 0.5
    pair = [
        evaluate_predictions(predictions(Binary(0, 1), truth, truth), only=("accuracy",)) for _ in range(2)
    ]
    found = compare(pair, metrics=["accuracy"])
    (d,) = found.differences_for("accuracy")
    assert d.equal_within == pytest.approx(max(map(abs, ScoreCurve(0, 0, 400).limits(0.9))))
    assert [one.equal for within in (0.001, 0.05) for one in equivalences(found, within)] == [False, True]
    assert (
        equal_lines(found, 0.05)[0].endswith("are equal within 5 points") and equal_lines(found, None) == []
    )

"""The first screen says what the sections below it say, in the units of each metric."""

from __future__ import annotations

import re

import numpy as np
import pytest

import evalreport as er
from evalreport.core.format import brief, rounded_half_up
from evalreport.core.result import Estimate
from evalreport.evaluation.evaluation import Evaluation
from evalreport.findings.chance import decision_skill
from evalreport.page.charts import LEFT, RIGHT, x_axis
from evalreport.page.contents import sections
from evalreport.page.elements import Section
from evalreport.page.sections import calibration, curves, first_screen
from evalreport.page.sections.appendix import find_missing
from evalreport.page.sections.headline import forest, headline
from tests.page.made import made


def page_of(ev: Evaluation) -> dict[str, Section]:
    return {section.id: section for section in sections(ev)}


def with_weak_group(recall: float) -> Evaluation:
    """Return 3,000 rows in two groups; the positives of the small group are found with this probability."""
    rng = np.random.default_rng(0)
    truth = rng.random(3000) < 0.2
    small = rng.random(3000) < 0.15
    found = rng.random(3000) < np.where(small, recall, 0.8)
    answers = np.where(truth, found, rng.random(3000) < 0.02)
    names = np.where(small, "small", "large")
    return er.evaluate(truth.astype(int), answers.astype(int), slices={"kind": names}, resamples=50)


@pytest.mark.parametrize("recall", [0.8, 0.62, 0.3])
def test_the_check_of_groups_says_what_the_table_of_groups_says(recall: float) -> None:
    ev = with_weak_group(recall)
    below = page_of(ev)["groups"].summary.text
    check = [one for one in first_screen.run_checks(ev) if "significantly worse" in one.title]
    assert len(check) == 1
    worse = "significantly lower than the rest" in below
    assert worse == (recall < 0.8)
    assert (check[0].state == "failed") == worse
    named = [one for one in first_screen.find_problems(ev) if "“small”" in one.title]
    assert len(named) == worse
    assert not worse or "“small”" in first_screen.next_step(ev).text


def test_barely_better_than_always_one_class_is_not_a_check_that_passed() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 40, 4000)
    answers = np.where(rng.random(4000) < 0.04, truth, rng.integers(0, 3, 4000))
    labels = [f"c{code:02d}" for code in range(40)]
    ev = er.evaluate([labels[c] for c in truth], [labels[c] for c in answers], labels=er.Multiclass(labels))
    assert decision_skill(ev) == "barely"
    (check,) = first_screen.check_skill(ev)
    assert check.state == "failed" and check.title.startswith("Barely better than always")


def test_how_well_a_metric_is_known_is_in_its_own_unit() -> None:
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 4, 900)
    answers = np.clip(truth + (rng.random(900) < 0.2) - (rng.random(900) < 0.2), 0, 3)
    names = ["low", "medium", "high", "critical"]
    space = er.Multiclass(names, ordered=True)
    ev = er.evaluate(np.array(names)[truth], np.array(names)[answers], labels=space)
    kappa = ev[forest(ev).rows[0].name]
    assert isinstance(kappa, Estimate) and kappa.low is not None and kappa.high is not None
    half = max(kappa.value - kappa.low, kappa.high - kappa.value)
    (detail,) = [one.detail for one in first_screen.run_checks(ev) if "known" in str(one.detail)]
    assert str(detail).endswith(f"±{half:.2f}")


def test_the_headline_of_labels_is_in_whole_per_cent() -> None:
    rng = np.random.default_rng(3)
    truth = rng.random((2000, 5)) < 0.3
    answers = truth ^ (rng.random((2000, 5)) < 0.15)
    text = headline(er.evaluate(truth.astype(int), answers.astype(int), resamples=50)).text
    assert re.search(r"; \d+% of its predicted labels are wrong\.$", text), text


def test_a_threshold_free_page_has_no_empty_section() -> None:
    for kind, heading in (("labels-twenty", "Examples of errors"), ("twenty", "Most confident errors")):
        page = page_of(made(kind))
        assert ("cutoff" in page) == (kind == "twenty")
        assert page["examples"].title == heading
    hints = [one.what for one in find_missing(made("labels-twenty"))]
    assert "ROC, calibration and selective prediction (no scores)" in hints
    hints = [one.what for one in find_missing(made("text"))]
    assert "selective prediction (no scores)" in hints


def test_the_name_of_the_line_of_no_skill_is_next_to_it() -> None:
    for kind in ("binary", "binary-ranking", "constant"):
        ev = made(kind)
        chart = curves.roc_chart(ev, ev.curves)  # type: ignore[arg-type]
        assert chart is not None
        (label,) = [one for one in chart.labels if one.text == "no skill"]
        end = chart.axes.x.high
        heights = [
            chart.axes.y_position(end * (at - LEFT) / (RIGHT - LEFT)) for at in (label.x, label.x + 45)
        ]
        assert min(abs(label.y - height) for height in heights) <= 15


def test_ticks_of_an_axis_of_log_odds_do_not_touch() -> None:
    axis = calibration._probability_axis(x_axis, calibration.log_odds, "")
    for (at, text), (after, following) in zip(axis.ticks, axis.ticks[1:], strict=False):
        assert after - at >= 5.9 * (len(text) + len(following)) / 2 + 2, (text, following)


def test_the_slope_and_what_it_depends_on_are_two_sentences() -> None:
    rng = np.random.default_rng(5)
    truth = rng.random(2000) < 0.3
    scores = np.clip(np.where(truth, 0.6, 0.25) + rng.normal(0, 0.25, 2000), 0, 1)
    ev = er.evaluate(truth.astype(int), scores=er.Probabilities(scores), resamples=50)
    slope = ev["calibration_slope"]
    assert isinstance(slope, Estimate)
    text = calibration._slope(ev, slope).text
    assert ". It depends on" in text and " ." not in text


def test_ordered_classes_keep_their_order_and_each_dot_has_its_name() -> None:
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 4, 900)
    answers = np.clip(truth + (rng.random(900) < 0.1 * truth), 0, 3)
    names = ["low", "medium", "high", "critical"]
    space = er.Multiclass(names, ordered=True)
    ev = er.evaluate(np.array(names)[truth], np.array(names)[answers], labels=space, resamples=50)
    bars, strip = first_screen.pictures(ev, None)
    assert isinstance(bars, first_screen.CountBars) and isinstance(strip, first_screen.Strip)
    assert [bar.name for bar in bars.bars[1:]] == names
    assert {tick.text for tick in strip.names} == set(names)


def test_a_half_is_rounded_up_as_a_ratio_and_as_per_cent() -> None:
    for thousandths in range(5, 1000, 10):
        value = thousandths / 1000
        up = (thousandths + 5) // 10
        assert brief(value, "percent") in (f"{up}%", f"{thousandths / 10:.1f}%")
        assert float(rounded_half_up(value, 2)) == up / 100
        assert int(rounded_half_up(100 * value, 0)) == up

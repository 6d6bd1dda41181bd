"""The first screen says what the sections below it say, in the units of each metric."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest

import evalreport as er
from evalreport.core.format import brief, rounded_half_up
from evalreport.core.result import Estimate, Undefined
from evalreport.evaluation.evaluation import Evaluation
from evalreport.evaluation.parts import WeakSlice, WeakSlices
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


def path_of(price: first_screen.Price | None) -> list[tuple[float, float]]:
    assert price is not None
    points = [tuple(map(float, point.split())) for point in price.path.removeprefix("M").split("L")]
    return [(x, y) for x, y in points]


@pytest.mark.parametrize("seed", range(4))
def test_the_curve_of_misses_passes_through_the_threshold_in_use(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.random(800) < 0.2
    scores = np.clip(np.where(truth, rng.beta(2, 3, 800), rng.beta(1, 40, 800)).round(3), 0, 1)
    price = first_screen.make_price(er.evaluate(truth.astype(int), scores=er.Probabilities(scores)), None)
    points = path_of(price)
    assert price is not None and points == sorted(points, key=lambda point: (point[0], -point[1]))
    (now,) = price.marks
    assert now.name == "In use 0.500"
    near = [
        abs((x - now.x) * (b - y) - (a - x) * (now.y - y)) / max(float(np.hypot(a - x, b - y)), 0.1)
        for (x, y), (a, b) in pairwise(points)
        if x - 0.06 <= now.x <= a + 0.06 and b - 0.06 <= now.y <= y + 0.06
    ]
    assert near and min(near) < 0.2


@pytest.mark.parametrize(("wrong", "keyed"), [(20, True), (150, False), (0, False)])
def test_a_number_is_never_inside_the_part_of_another(wrong: int, keyed: bool) -> None:
    truth = np.arange(300) % 3
    answers = np.where(np.arange(300) < wrong, (truth + 1) % 3, truth)
    bars = first_screen.make_bars(er.evaluate(truth, answers, labels=er.Multiclass([0, 1, 2])), None)
    assert bars is not None
    expected = (("ok", str(300 - wrong), "right"), ("no", str(wrong), "wrong"))
    assert bars.key == (expected if keyed else ())
    assert any(part.number for part in bars.bars[0].parts) != keyed


@pytest.mark.parametrize(("confirmed", "state"), [(0, "passed"), (1, "failed")])
def test_a_search_for_weak_slices_is_a_comparison_of_groups(confirmed: int, state: str) -> None:
    ev = er.evaluate([0, 1] * 100, [0, 1] * 99 + [1, 1], resamples=20)
    (check,) = [one for one in first_screen.run_checks(ev) if "group" in one.title]
    assert check.state == "unchecked", "nothing was searched"
    weak = WeakSlice("error", "kind = a", ("kind",), ("a",), 40, 20, Undefined("not computed"), 0.1, 0.001)
    ev = replace(ev, weak_slices=WeakSlices(275, 4, (weak,) * confirmed))
    (check,) = [one for one in first_screen.run_checks(ev) if "slice" in one.title]
    assert (check.state, check.section, check.detail) == (state, "groups", "275 slices searched")
    assert not any("Not compared" in one.title for one in first_screen.run_checks(ev))


def test_texts_of_which_none_is_repeated_are_not_called_few() -> None:
    texts = [f"message {k}" for k in range(200)]
    ev = er.evaluate([0, 1] * 100, [0, 1] * 99 + [1, 1], texts=texts, resamples=20)
    (check,) = [one for one in first_screen.run_checks(ev) if "repeated" in one.title]
    assert (check.title, check.detail) == ("No repeated texts", "")


def test_weak_labels_are_defined_and_named() -> None:
    rng = np.random.default_rng(5)
    truth = rng.random((3000, 6)) < [0.5, 0.4, 0.4, 0.05, 0.05, 0.05]
    answers = truth & (rng.random((3000, 6)) < [0.95, 0.95, 0.95, 0.05, 0.05, 0.9])
    ev = er.evaluate(truth, answers, labels=er.Multilabel(list("abcdef")), resamples=50)
    (weak,) = [one for one in first_screen.find_problems(ev) if "weak" in one.title]
    half = float(ev["f1_micro"].value or 0) / 2
    named = [entry.label for entry in ev.classes if float(entry.metrics["f1"].value or 0) < half]
    assert sorted(map(str, named)) == ["d", "e"] and weak.title == "2 weak labels"
    assert str(weak.detail).startswith(f"F1 < {half:.2f}, half of micro F1: ")
    assert all(f"“{name}”" in str(weak.detail) for name in named)


def test_refusals_are_said_to_be_part_of_the_unparsed_responses() -> None:
    labels = ["yes", "no"]
    truth = [labels[k % 2] for k in range(100)]
    responses = [*(["I'm sorry, but I can't assist with that."] * 12), *([""] * 8), *truth[20:]]
    ev = er.evaluate(truth, er.parse(responses, labels), labels=er.Multiclass(labels))
    details = {one.title: one.detail for one in first_screen.find_problems(ev)}
    assert details["12 refusals"] == "part of the 20 unparsed"


class Elsewhere(NamedTuple):
    """Another threshold, with what is found and flagged at it."""

    threshold: float
    tp: float
    fp: float


@pytest.mark.parametrize(("fp", "flagged"), [(1.0, "false positive"), (7.0, "false positives")])
def test_mistakes_at_the_recommended_threshold_are_named(fp: float, flagged: str) -> None:
    bars = first_screen.make_bars(made("binary"), Elsewhere(0.2, 3.0, fp))
    assert bars is not None
    words = [part.words for bar in bars.bars if bar.thin for part in bar.parts if part.end and part.number]
    assert words == ["missed", flagged]


@pytest.mark.parametrize("unparsed", [0, 30])
def test_pairs_of_classes_say_whether_unparsed_is_one(unparsed: int) -> None:
    labels = [f"intent {chr(97 + k)}" for k in range(20)]
    truth = [labels[k % 20] for k in range(400)]
    answers = [*([""] * unparsed), *(labels[(k + (k % 7 == 0)) % 20] for k in range(unparsed, 400))]
    ev = er.evaluate(truth, er.parse(answers, labels), labels=er.Multiclass(labels), resamples=20)
    assert ("with unparsed as a class" in page_of(ev)["confusions"].summary.text) == (unparsed > 0)

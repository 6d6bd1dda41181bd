"""What is said of results without a mistake: bounds of each class, and a leak where it is remarkable."""

from __future__ import annotations

import re

import numpy as np
import pytest

import evalreport as er
from evalreport.evaluation.evaluation import Evaluation
from evalreport.page.evaluation_terms import bounds_of_none


def flawless(positives: int, negatives: int, seed: int = 0, **options: object) -> Evaluation:
    truth = np.random.default_rng(seed).permutation([1] * positives + [0] * negatives)
    return er.evaluate(truth, truth, resamples=100, **options)  # type: ignore[arg-type]


def rules(ev: Evaluation) -> set[str]:
    return {finding.rule for finding in ev.findings}


def test_two_of_a_thousand_leave_recall_open_and_are_no_leak() -> None:
    ev = flawless(2, 998)
    assert bounds_of_none(ev).text == (
        "Recall is between 34% and 100% (2 positive cases). "
        "Specificity is between 99.6% and 100% (998 negative cases)."
    )
    assert "too_perfect" not in rules(ev)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("positives", "negatives"), [(2, 998), (9, 400), (10, 400), (60, 40), (400, 9)])
def test_the_bounds_are_the_intervals_of_the_metrics(positives: int, negatives: int, seed: int) -> None:
    ev = flawless(positives, negatives, seed)
    shown = [float(low) for low in re.findall(r"between ([\d.]+)% and 100%", bounds_of_none(ev).text)]
    lows = [100 * float(ev[name].low or 0) for name in ("recall", "specificity")]  # type: ignore[union-attr]
    assert shown == pytest.approx(lows, abs=0.5)
    assert ("too_perfect" in rules(ev)) == (min(positives, negatives) >= 10), "else one answer does as well"


@pytest.mark.parametrize("rare", [1, 3, 20])
def test_of_several_classes_it_is_the_rarest(rare: int) -> None:
    truth = ["a"] * 300 + ["b"] * 200 + ["c"] * rare
    ev = er.evaluate(truth, truth, resamples=100)
    low = rare / (rare + 1.959963984540054**2)
    text = bounds_of_none(ev).text
    assert text.startswith("Recall of “c” is between ") and "the fewest of a class" in text
    assert float(re.findall(r"between ([\d.]+)%", text)[0]) == pytest.approx(100 * low, abs=0.5)
    assert "too_perfect" in rules(ev), "one answer would be wrong for more than 200"


def test_labels_that_hardly_occur_are_no_leak() -> None:
    for carried, expected in ((2, False), (40, True)):
        sets = [["x"] if row < carried else [] for row in range(300)]
        ev = er.evaluate(sets, sets, labels=er.Multilabel(["x", "y"]), resamples=100)
        assert ("too_perfect" in rules(ev)) == expected
        assert "the fewest of a label" in bounds_of_none(ev).text


def test_rows_of_few_groups_bound_less() -> None:
    alone, grouped = (flawless(50, 50, groups=groups) for groups in (None, np.arange(100) // 20))
    low = [float(re.findall(r"between ([\d.]+)%", bounds_of_none(ev).text)[0]) for ev in (alone, grouped)]
    assert low[1] < low[0] - 20
    assert "All are counted as 5 independent groups." in bounds_of_none(grouped).text

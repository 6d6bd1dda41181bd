"""Ordered labels are evaluated by their order: near misses, reversed grades, and what is a confusion."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import evalreport as er
from evalreport.evaluation.evaluation import Evaluation
from evalreport.findings.chance import decision_skill
from evalreport.page.sections.headline import forest, headline

GRADES = ["1", "2", "3", "4", "5"]


@cache
def graded(kind: str, seed: int, n: int = 600, ordered: bool = True) -> Evaluation:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 5, n)
    answer = {
        "one too high": np.minimum(truth + 1, 4),
        "reversed": 4 - truth,
        "near": np.clip(truth + rng.choice([-1, 0, 0, 0, 1], n), 0, 4),
        "random": rng.integers(0, 5, n),
        "ends": np.where((truth == 0) & (rng.random(n) < 0.6), 4, truth),
    }[kind]
    names = np.asarray(GRADES)
    labels = er.Multiclass(GRADES, ordered=ordered)
    return er.evaluate(names[truth], names[answer], labels=labels, resamples=200)


def rules(ev: Evaluation) -> set[str]:
    return {finding.rule for finding in ev.findings}


@pytest.mark.parametrize("seed", range(3))
def test_grades_one_too_high_have_skill_and_near_misses(seed: int) -> None:
    ev = graded("one too high", seed)
    assert 0.6 < float(ev["cohen_kappa_quadratic"].value or 0) < 0.95
    assert decision_skill(ev) == "significant"
    assert not rules(ev) & {"no_skill", "skill_not_significant", "inverted", "top_confusions", "families"}
    text = headline(ev).text
    assert "No better than" not in text and "It never predicts “1”" in text
    plain = graded("one too high", seed, ordered=False)
    assert "no_skill" in rules(plain), "labels without an order are only right or wrong"


@pytest.mark.parametrize("seed", range(3))
def test_reversed_grades_are_called_so(seed: int) -> None:
    ev = graded("reversed", seed)
    assert headline(ev).text.startswith("The order is reversed: quadratic weighted kappa is −")
    (found,) = [finding for finding in ev.findings if finding.rule == "inverted"]
    assert found.claim.startswith("The order is reversed: quadratic weighted kappa is −")
    assert "same order" in found.action
    assert "no_skill" not in rules(ev)


@pytest.mark.parametrize("seed", range(3))
def test_near_misses_are_no_confusions_and_far_ones_are(seed: int) -> None:
    near, ends = graded("near", seed), graded("ends", seed)
    assert "top_confusions" not in rules(near)
    wrong = int(sum(truth != answer for truth, answer in zip(*answers(near), strict=True)))
    assert f"{wrong} of {wrong} mistakes are one step off; quadratic weighted kappa 0." in headline(near).text
    (found,) = [finding for finding in ends.findings if finding.rule == "top_confusions"]
    assert "“1” are misclassified as “5”" in found.claim


def answers(ev: Evaluation) -> tuple[list[int], list[int]]:
    p = ev.predictions
    assert p is not None and p.y_pred is not None
    return p.y_true.tolist(), np.asarray(p.y_pred).tolist()


@pytest.mark.parametrize("seed", range(4))
def test_random_grades_have_no_skill(seed: int) -> None:
    ev = graded("random", seed)
    assert decision_skill(ev) in ("none", "not_significant", "reversed")
    assert "quadratic weighted kappa" in headline(ev).text
    skill = ("no_skill", "skill_not_significant")
    reported = [finding.claim for finding in ev.findings if finding.rule in skill]
    assert all("quadratic weighted kappa" in claim for claim in reported)


def test_the_first_rows_are_those_of_the_order() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 5, 300)
    scores = rng.dirichlet(np.ones(5), 300) + 2 * np.eye(5)[truth]
    ev = er.evaluate(
        np.asarray(GRADES)[truth],
        scores=er.Probabilities(scores / scores.sum(axis=1, keepdims=True)),
        labels=er.Multiclass(GRADES, ordered=True),
        resamples=100,
    )
    names = ("cohen_kappa_quadratic", "mean_absolute_error", "ranked_probability_score")
    assert tuple(row.name for row in forest(ev).rows[:3]) == names

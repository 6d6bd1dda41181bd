"""Calibration and its direction, thresholds, and predictions that do not follow from scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import evalreport as er
from evalreport.data.labels import Multilabel
from evalreport.data.predictions import predictions
from evalreport.data.scores import Probabilities
from evalreport.findings.score_quality import (
    clip_note,
    clipped_slopes,
    default_threshold,
    gaps,
    miscalibrated,
    off_scores,
    other_threshold,
)
from evalreport.findings.skill import inverted, too_perfect
from tests import factories
from tests.findings.faults import MAIL, evaluated, mail, moved, names, tags
from tests.findings.light import counted, light

Bend = Callable[[npt.NDArray[Any]], npt.NDArray[Any]]


@pytest.mark.parametrize(
    ("bend", "words"),
    [
        (lambda logit: logit + 1, "The probabilities are too high: "),
        (lambda logit: logit - 1, "The probabilities are too low: "),
        (lambda logit: 3 * logit, "The probabilities are overconfident: "),
        (lambda logit: logit / 3, "The probabilities are underconfident: "),
    ],
)
def test_direction_of_miscalibration(bend: Bend, words: str) -> None:
    found = miscalibrated(evaluated(mail(2000, bend=bend)))
    assert found is not None
    assert found.claim.startswith(words), found.claim


def test_confidence_of_many_classes_is_too_high() -> None:
    p = factories.multiclass(1000, 6)
    assert isinstance(p.scores, Probabilities)
    sharp = p.scores.values**4
    bent = predictions(
        p.space,
        np.asarray(p.space.names)[p.y_true],
        scores=Probabilities(sharp / sharp.sum(axis=1, keepdims=True)),
    )
    found = miscalibrated(light(bent))
    assert found is not None
    assert found.claim.startswith("The confidence is too high: of ")


def test_labels_of_a_row_are_no_independent_witnesses() -> None:
    """Twenty labels that always come together: a sample of 200 rows is off by chance, not by fault."""
    findings = 0
    for seed in range(50):
        rng = np.random.default_rng(seed)
        chance = 1 / (1 + np.exp(-rng.normal(0, 1, 200)))
        truth = np.repeat((rng.random(200) < chance)[:, None], 20, axis=1)
        space = Multilabel([f"tag{code}" for code in range(20)])
        p = predictions(space, truth, scores=Probabilities(np.repeat(chance[:, None], 20, axis=1)))
        findings += miscalibrated(counted(p)) is not None
    assert findings == 0


def test_deviates_of_calibration_are_standard_normal() -> None:
    found = [gaps(counted(factories.binary(400, prevalence=0.5, seed=seed))) for seed in range(80)]
    shift, bend = ([getattr(one, name) for one in found] for name in ("shift", "bend"))
    for deviates in (shift, bend):
        assert abs(np.mean(deviates)) < 0.3
        assert 0.75 < np.std(deviates) < 1.25


def test_other_threshold_is_found_in_the_predictions() -> None:
    found = other_threshold(moved(0))
    assert found is not None
    assert found.evidence["near_threshold"] == pytest.approx(0.3, abs=0.01)
    assert off_scores(moved(0)) is None


def test_predictions_of_no_threshold_are_counted() -> None:
    found = off_scores(moved(40))
    assert found is not None
    assert found.evidence["off"] == 40


def test_decisions_of_several_labels_are_followed_label_by_label() -> None:
    rng = np.random.default_rng(0)
    score = rng.random((300, 4))
    answer = score >= np.array([0.2, 0.4, 0.6, 0.8])
    space = Multilabel("abcd")
    assert off_scores(light(predictions(space, answer, answer, Probabilities(score)))) is None
    answer[:3, 1] = ~answer[:3, 1]
    found = off_scores(light(predictions(space, answer, answer, Probabilities(score))))
    assert found is not None
    assert found.evidence["off"] <= 3


def test_a_threshold_that_was_chosen_is_not_called_default() -> None:
    p = mail(4000, bend=lambda logit: logit - 3)
    assert default_threshold(evaluated(p)) is not None
    truth = names(MAIL, p.y_true)
    chosen = predictions(MAIL, truth, scores=p.scores, threshold=0.5)
    assert default_threshold(evaluated(chosen)) is None


def test_swapped_labels_are_worse_than_chance() -> None:
    p = mail()
    swapped = predictions(MAIL, names(MAIL, p.y_true), names(MAIL, 1 - np.asarray(p.y_pred)))
    found = inverted(evaluated(swapped))
    assert found is not None
    assert found.claim.startswith("Worse than chance: ")


def test_a_ranking_without_exception_is_suspicious() -> None:
    truth = np.arange(100) < 30
    score = np.where(truth, 0.4, 0.1) + np.arange(100) / 1000
    found = too_perfect(evaluated(predictions(MAIL, names(MAIL, truth), scores=Probabilities(score))))
    assert found is not None
    assert found.claim.startswith("The scores separate all 100 messages perfectly.")


def test_labels_at_another_common_threshold() -> None:
    from evalreport.findings.predicted_labels import one_threshold

    found = one_threshold(tags(bend=lambda logit: logit - 2))
    assert found is not None
    assert found.evidence["best_threshold"] < 0.3
    assert found.evidence["best_f1"] > found.evidence["f1"]


def test_what_another_threshold_leaves_alone_is_not_reported_as_a_change() -> None:
    """Nothing is bought with 0 false alarms instead of 0, and 2 found instead of 2 is no find."""
    rng = np.random.default_rng(4)
    truth = np.arange(460) < 160
    apart = np.where(truth, rng.uniform(0.3, 0.99, 460), rng.uniform(0, 0.29, 460))
    ev = er.evaluate(truth.astype(int), scores=er.Probabilities(apart))
    claim = next(finding.claim for finding in ev.findings if finding.rule == "default_threshold")
    assert "labelled “1”, still without a false positive. F1 would be" in claim
    high = np.where(truth, rng.uniform(0.8, 0.99, 460), rng.uniform(0, 0.7, 460))
    ev = er.evaluate(truth.astype(int), scores=er.Probabilities(high))
    claim = next(finding.claim for finding in ev.findings if finding.rule == "default_threshold")
    assert "would find the same 160 of 160 cases labelled “1”, with 0 instead of" in claim


def test_one_answer_to_few_rows_is_not_called_no_skill_and_one_lucky_rank_no_leak() -> None:
    few = {finding.rule for finding in er.evaluate(["a", "b", "a"], ["a", "a", "a"]).findings}
    assert "skill_not_significant" in few and "no_skill" not in few
    truth = np.r_[[1, 1], np.zeros(300, dtype=int)]
    ranked = er.evaluate(truth, scores=er.Probabilities(np.linspace(0.9, 0.1, 302)))
    assert "too_perfect" not in {finding.rule for finding in ranked.findings}


def test_answers_that_point_the_wrong_way_without_scores_send_nobody_to_score_columns() -> None:
    truth = ["a", "b", "c"] * 60
    ev = er.evaluate(truth, ["b", "a", "c"] * 20 + ["b", "c", "a"] * 40, labels=er.Multiclass("abc"))
    backwards = next(finding for finding in ev.findings if finding.rule == "inverted")
    assert "score" not in backwards.action


@pytest.mark.parametrize("seed", range(4))
def test_what_depends_on_where_probabilities_of_0_and_1_are_clipped(seed: int) -> None:
    """A forest of fully grown trees gives many of them; the slope is refitted here on clipped scores."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.ensemble import RandomForestClassifier

    features, truth = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(truth))
    trained, held_out = order[:341], order[341:]
    forest = RandomForestClassifier(50, random_state=seed).fit(features[trained], truth[trained])
    chances = forest.predict_proba(features[held_out])
    score, true = chances[:, 1], truth[held_out]
    ev = er.evaluate(true, scores=er.Probabilities(score))
    found = {finding.rule: finding for finding in ev.findings}
    exact = int(((score == 0) | (score == 1)).sum())
    assert found["certain_scores"].claim.startswith(f"{exact} of 228 probabilities are exactly zero or one")
    slopes = [
        er.evaluate(true, scores=er.Probabilities(score.clip(clip, 1 - clip)))["calibration_slope"].value or 0
        for clip in (1e-6, 1e-2)
    ]
    assert clipped_slopes(ev) == pytest.approx((min(slopes), max(slopes)))
    moved = max(slopes) - min(slopes) >= 0.05
    assert ("(the slope is " in found["certain_scores"].claim) == moved
    wrong = int((chances[np.arange(228), true] == 0).sum())
    several = er.evaluate(true, scores=er.Probabilities(chances), labels=er.Multiclass([0, 1]))
    assert several.data_checks.get("ruled_out", 0) == ev.data_checks["ruled_out"] == wrong


def test_metrics_that_depend_on_a_clip_are_marked() -> None:
    truth = np.arange(200) % 2
    score = np.clip(np.where(np.arange(200) < 100, 0.5 + 0.4 * (truth - 0.5), truth), 0, 1)
    score[::37] = 0.3
    ev = er.evaluate(truth, scores=er.Probabilities(score))
    marked = {name for name in ev.metrics if clip_note(ev, name)}
    assert marked == {"log_loss", "calibration_slope", "calibration_intercept"}
    plain = er.evaluate(truth, scores=er.Probabilities(score.clip(0.01, 0.99)))
    assert not any(clip_note(plain, name) for name in plain.metrics)
    assert "certain_scores" not in {finding.rule for finding in plain.findings}

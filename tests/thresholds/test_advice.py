"""Which threshold is recommended, and which is only reported."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import evalreport as er
from evalreport.cli.sweep import _every_column
from evalreport.core.format import threshold as threshold_text
from evalreport.data.predictions import predictions
from evalreport.evaluation.evaluation import Evaluation, ThresholdSelection
from evalreport.findings.chance import ranking_skill
from evalreport.findings.ordered_rules import find
from evalreport.findings.score_quality import is_well_calibrated
from evalreport.page.render import render
from evalreport.page.sections.chosen_thresholds import (
    advice_sentence,
    forest,
    headline,
    summary,
    verdict_section,
)
from evalreport.page.sections.first_screen import next_step
from evalreport.page.sections.threshold_table import COIN, candidates, likely, recommended_candidate, steps
from evalreport.thresholds.best_threshold import Optimum
from tests.findings.faults import MAIL, evaluated, names, rare_mail

OBJECTIVES = ("f1", "cost:10", "recall>=0.95", "precision>=0.05")


@cache
def scored(seed: int, n: int, share: float, skill: float) -> Evaluation:
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < share
    truth[:3] = True, True, False
    score = 1 / (1 + np.exp(-(rng.normal(0, 1, n) + skill * truth - 1)))
    return er.evaluate(truth.astype(int), scores=er.Probabilities(score), resamples=200)


def recommended_rows(found: ThresholdSelection) -> list[str]:
    assert found.whole is not None
    named = candidates(found.evaluation, found.whole, found.optima)
    table = steps(
        found.evaluation, found.whole, named, recommended_candidate(found.evaluation, named, found.optima)
    )
    rows = () if table is None else table.rows
    return [row[0].words for row in rows if "recommended" in str(row[0].sub)]


@pytest.mark.slow
@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize(("n", "share"), [(1000, 0.1), (400, 0.4)])
def test_no_threshold_is_recommended_from_noise(objective: str, n: int, share: float) -> None:
    lucky = 0
    for seed in range(6):
        ev = scored(seed, n, share, 0.0)
        if ranking_skill(ev) == "significant":
            lucky += 1
            continue
        found = er.sweep(ev, objective)
        assert isinstance(found, ThresholdSelection)
        assert recommended_rows(found) == []
        if isinstance(found.best, Optimum):
            assert headline(found).text.startswith("No threshold is recommended: the scores"), seed
            assert "recommended threshold" not in summary(found).text + render(found)
    assert lucky <= 2


@pytest.mark.parametrize("objective", ["f1", "cost:10"])
def test_a_ranking_with_skill_may_recommend_one(objective: str) -> None:
    chosen = [er.sweep(scored(seed, 1500, 0.1, 2.0), objective) for seed in range(4)]
    assert all("No threshold is recommended" not in headline(found).text for found in chosen)
    assert any(recommended_rows(found) for found in chosen)


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["recall>=0.95", "precision>=0.5", "fpr<=0.02"])
@pytest.mark.parametrize("hold", [None, 0.95])
def test_a_constraint_that_may_well_be_missed_is_reported_and_not_recommended(
    objective: str, hold: float | None
) -> None:
    seen = set()
    for seed in range(3):
        for n in (150, 1500):
            found = er.sweep(scored(seed, n, 0.2, 1.5), objective, constraint_confidence=hold)
            assert isinstance(found, ThresholdSelection)
            best = found.best
            if not isinstance(best, Optimum) or found.whole is None:
                continue
            rows = recommended_rows(found)
            named = candidates(found.evaluation, found.whole, found.optima)
            safe = any(one.safe for one in named)
            seen.add((safe, likely(best)))
            assert bool(rows) == (safe or likely(best)), (seed, n, best.chance)
            if not rows:
                assert best.at_confidence is not None or best.chance is None or best.chance <= COIN[1]
                assert advice_sentence(found).text.startswith("No threshold is recommended: new data may")
    assert seen


def test_a_constraint_that_no_threshold_meets_is_the_headline() -> None:
    truth = np.arange(200) % 4 == 0
    scores = np.where(truth, 0.6, 0.3) + np.linspace(0, 0.1, 200)
    scores[1] = 0.99
    ev = er.evaluate(truth.astype(int), scores=er.Probabilities(scores), resamples=200)
    found = er.sweep(ev, ["precision>=0.999", "f1"])
    assert isinstance(found, ThresholdSelection)
    assert headline(found).text.startswith("Nothing can be chosen: no threshold reaches precision>=0.999")


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.02, 0.1, 0.4])
def test_beside_f1_is_that_of_flagging_all(share: float) -> None:
    for seed in range(3):
        ev = scored(seed, 800, share, 1.5)
        p = float(ev["prevalence"].value or 0)
        level = 2 * p / (1 + p)
        found = er.sweep(ev, ["f1", "mcc"])
        assert isinstance(found, ThresholdSelection)
        optima = found.record()["optima"]
        assert optima["f1"]["no_skill"] == pytest.approx(level, abs=1e-12)
        assert optima["mcc"]["no_skill"] is None
        printed = "\n".join(_every_column(found))
        assert "flagging all" in printed and f"{level:.2f}" in printed
        every = er.evaluate(
            np.array([1] * int(ev.rows * p + 0.5) + [0] * int(ev.rows * (1 - p) + 0.5)), np.ones(ev.rows, int)
        )
        assert every["f1"].value == pytest.approx(level, abs=1e-9), "it is the F1 of flagging all"


@pytest.mark.parametrize("typical", [-4.6, -4.2, -3.8])
def test_a_calibrated_model_of_a_rare_label_gets_a_warning_about_the_default(typical: float) -> None:
    for seed in range(3):
        p = rare_mail(6000, typical, seed)
        ev = er.evaluate(names(MAIL, p.y_true), scores=p.scores, labels=MAIL, resamples=200)
        found = {finding.rule: finding for finding in ev.findings}
        assert "threshold_not_chosen" in found, (seed, sorted(found))
        assert "default_threshold" not in found and "never_predicted" not in found
        claim, action = found["threshold_not_chosen"].claim, found["threshold_not_chosen"].action
        assert ("calibrated probabilities of a rare label rarely reach it" in claim) == is_well_calibrated(ev)
        assert "--threshold cost:10" in action and "constraint" in action
        assert not any("max-f1" in finding.action for finding in ev.findings), "F1 likes low thresholds"
        assert next_step(ev).text.startswith("Choose the threshold on validation data, by the cost of a miss")


def test_a_threshold_that_was_given_is_a_choice() -> None:
    p = rare_mail()
    given = predictions(MAIL, names(MAIL, p.y_true), scores=p.scores, threshold=0.5)
    assert "threshold_not_chosen" not in {finding.rule for finding in find(evaluated(given))}


def test_the_title_of_a_constraint_names_the_metric_of_its_value() -> None:
    found = er.sweep(scored(0, 1500, 0.2, 1.5), ["f1", "recall>=0.95"])
    assert isinstance(found, ThresholdSelection) and found.whole is not None
    f1, precision = forest(found).rows
    assert (f1.title, precision.title) == ("F1", "Precision at recall ≥ 0.95")
    at_half = float(found.objectives["f1"].score(found.whole.counts_at_threshold(0.5)))
    assert f"; {at_half:.2f} at 0.5" in f1.gloss.text
    for row, best in zip((f1, precision), found.optima.values(), strict=True):
        assert row.gloss.text.startswith(f"at threshold {threshold_text(best.threshold)}")


def test_a_constraint_is_said_to_be_violated_as_likely_as_its_probability() -> None:
    titles = {}
    for seed in range(3):
        found = er.sweep(scored(seed, 1500, 0.2, 1.5), "recall>=0.95")
        assert isinstance(found, ThresholdSelection)
        best = found.best
        assert isinstance(best, Optimum) and best.out_of_sample is not None
        for chance in (0.2, 0.49, 0.9):
            other = replace(
                best, out_of_sample=replace(best.out_of_sample, chance=chance), at_confidence=None
            )
            found = replace(found, found={"recall>=0.95": other})
            titles[chance] = [one.title for one in verdict_section(found).body.wrong]
    assert titles[0.2] == ["Recall ≥ 0.95: probably violated"]
    assert titles[0.49] == ["Recall ≥ 0.95: as likely violated as met"]
    assert titles[0.9] == []

"""Bounds that hold: exact limits against the binomial distribution, tests against slow sums, a simulation."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from evalreport.core.json_codec import decode, encode
from evalreport.data.labels import Binary
from evalreport.data.predictions import Predictions, predictions
from evalreport.data.scores import Decisions
from evalreport.intervals.interval_settings import Sampling
from evalreport.statistics.score_table import ScoreTable
from evalreport.thresholds import bounds_on_new_rows
from evalreport.thresholds.best_threshold import ChoiceRecord, Hold, Optimum, choice_from_wire
from evalreport.thresholds.bounds_on_new_rows import chance_of, fewest
from evalreport.thresholds.cross_fitting import evaluate_thresholds
from evalreport.thresholds.objectives import Constraint, Objective
from evalreport.thresholds.resampled_thresholds import units_of
from evalreport.thresholds.sweep import Sweep


def sample(n: int, positives: int, seed: int = 0, step: float = 0.0, groups: int = 0) -> Predictions:
    rng = np.random.default_rng(seed)
    truth = np.arange(n) < positives
    scores = rng.normal(size=n) + 2.0 * truth
    scores = np.round(scores / step) * step if step else scores
    together = np.arange(n) % groups if groups else None
    return predictions(Binary(0, 1), truth.astype(int), scores=Decisions(scores), groups=together)


def found(rows: Predictions, text: str, hold: float | None = 0.95) -> Optimum:
    objective = Objective.parse(text)
    table = ScoreTable.from_scores(rows.scores.values, rows.y_true.astype(bool), None)  # type: ignore[union-attr]
    sampling = Sampling(resamples=300, constraint_confidence=hold)
    best = evaluate_thresholds(table, rows, objectives=[objective], sampling=sampling).optima[objective.name]
    assert isinstance(best, Optimum)
    return best


def hold_of(rows: Predictions, text: str) -> Hold:
    hold = found(rows, text).at_confidence
    assert hold is not None
    return hold


@pytest.mark.parametrize(("n", "wrong", "allowed"), [(59, 0, 0.05), (200, 7, 0.05), (30, 3, 0.2)])
def test_the_chance_is_the_binomial_tail(n: int, wrong: int, allowed: float) -> None:
    """At most `wrong` of n beyond the limit: the tail that Clopper and Pearson invert."""
    slow = sum(math.comb(n, k) * allowed**k * (1 - allowed) ** (n - k) for k in range(wrong + 1))
    assert chance_of(np.array([wrong]), n, allowed)[0] == pytest.approx(1 - slow, abs=1e-12)
    assert [chance_of(np.array([n]), n, share)[0] for share in (allowed, 1.0)] == [0, 1]  # none is right


def test_how_many_a_bound_needs() -> None:
    assert (fewest(0.05, 0.95), fewest(0.1, 0.95), fewest(0.01, 0.99)) == (59, 29, 459)
    assert 0.95**59 <= 0.05 < 0.95**58


@pytest.mark.parametrize(
    ("text", "positive", "allowed"),
    [("recall>=0.8", True, 0.2), ("fnr<=0.1", True, 0.1), ("specificity>=0.95", False, 0.05)],
)
@pytest.mark.parametrize("step", [0.0, 0.5])
def test_no_more_careful_than_the_exact_limit(text: str, positive: bool, allowed: float, step: float) -> None:
    """Slow: the most that may be wrong by the binomial distribution, and the threshold that it leads to."""
    rows = sample(900, 300, step=step)
    values = rows.scores.values  # type: ignore[union-attr]
    own = values[(rows.y_true == 1) == positive]
    most = max(k for k in range(len(own)) if binom.cdf(k, len(own), allowed) <= 0.05)
    every = np.unique(values)
    wrong = [(own < t).sum() if positive else (own >= t).sum() for t in every]
    good = every[np.array(wrong) <= most]
    held = hold_of(rows, text)
    assert held.threshold == (good.max() if positive else good.min())
    assert held.method == "exact binomial limit"


def test_too_few_positives_hold_nothing() -> None:
    held = hold_of(sample(400, 40), "recall>=0.95")
    assert held.threshold is None and held.costs is None
    assert held.reason == "cannot be held with 95% confidence: 40 positives are too few, it needs 59"
    assert hold_of(sample(400, 59), "recall>=0.95").threshold is not None


def test_groups_promise_as_much_as_their_rows_are_independent() -> None:
    """Fifty groups of equal rows count as fifty; of rows that are not alike as nearly all."""
    free = sample(1000, 500, groups=50)
    assert isinstance(free.scores, Decisions)
    assert hold_of(free, "recall>=0.95").threshold is not None
    drawn = sample(50, 25)
    assert isinstance(drawn.scores, Decisions)
    rows = np.repeat(np.arange(50), 20)
    equal = predictions(
        Binary(0, 1), drawn.y_true[rows], scores=Decisions(drawn.scores.values[rows]), groups=rows
    )
    held = hold_of(equal, "recall>=0.95")
    assert held.threshold is None
    assert held.reason == "cannot be held with 95% confidence: 25 positives are too few, it needs 59"


@pytest.mark.parametrize(("shared", "bad"), [(0.3, 0.0), (0.7, 0.0), (0.3, 0.05)])
def test_a_bound_on_sixty_clusters_is_given_and_kept(shared: float, bad: float) -> None:
    """Whole clusters are positive, or not, and some of them score low throughout: it was never given."""
    rng, normal, kept, given = np.random.default_rng(0), NormalDist(), 0, 0
    cluster, recall = np.repeat(np.arange(60), 10), Objective.parse("recall>=0.8")
    for _ in range(60):
        truth = (rng.random(60) < 0.4)[cluster]
        low = (rng.random(60) < bad)[cluster] & truth
        noise = rng.normal(size=60)[cluster] * shared**0.5 + rng.normal(size=600) * (1 - shared) ** 0.5
        scores = Decisions(noise + 2 * truth - 3 * low)
        rows = predictions(Binary(0, 1), truth.astype(int), scores=scores, groups=cluster)
        sweep = Sweep.from_table(ScoreTable.from_scores(scores.values, truth))
        (best,) = sweep.choose([recall])
        assert isinstance(best, Optimum)
        found = bounds_on_new_rows.find_constraint_threshold(
            sweep, units_of(sweep, rows, None), recall, best, Sampling(constraint_confidence=0.95)
        )
        assert found is not None
        given += found.threshold is not None
        at = -np.inf if found.threshold is None else found.threshold
        kept += (1 - bad) * normal.cdf(2 - at) + bad * normal.cdf(-1 - at) >= 0.8
    assert given >= 50
    assert kept >= 60 * 0.95 - 3 * (60 * 0.95 * 0.05) ** 0.5


@pytest.mark.parametrize("text", ["precision>=0.6", "npv>=0.95", "accuracy>=0.8", "f1>=0.5"])
def test_what_is_tested_is_kept_here_with_room(text: str) -> None:
    best = found(sample(2000, 300), text)
    assert (
        best.at_confidence is not None
        and best.at_confidence.threshold is not None
        and best.constraint is not None
    )
    assert best.at_confidence.method == "fixed-sequence test"
    costs = best.at_confidence.costs
    assert costs is not None and costs.value is not None and costs.value <= best.apparent
    assert choice_from_wire(best.objective, decode(ChoiceRecord, encode(best))) == best
    strict = found(sample(60, 6), text)
    assert (
        strict.at_confidence is not None
        and strict.at_confidence.threshold is None
        and strict.at_confidence.reason
    )


def test_a_tested_precision_passes_the_binomial_test_at_the_share_of_the_error() -> None:
    costs = hold_of(sample(2000, 300), "precision>=0.6").costs
    assert costs is not None
    p_value = binom.sf(costs.tp - 1, int(costs.tp + costs.fp), 0.6)
    assert p_value <= 0.05 / 4


def test_other_rows_have_a_fixed_threshold() -> None:
    rows, tune = sample(500, 100, seed=1), sample(500, 100, seed=2)
    objective = Objective.parse("recall>=0.9")
    table = ScoreTable.from_scores(rows.scores.values, rows.y_true.astype(bool), None)  # type: ignore[union-attr]
    best = evaluate_thresholds(table, rows, tune_on=tune, objectives=[objective]).optima[objective.name]
    assert isinstance(best, Optimum) and best.at_confidence is None and best.chance is not None
    rng = np.random.default_rng(0)
    recall = float((rows.scores.values[rows.y_true == 1] >= best.threshold).sum())  # type: ignore[union-attr]
    slow = (rng.beta(recall + 0.5, 100 - recall + 0.5, 200_000) >= 0.9).mean()
    assert best.chance == pytest.approx(slow, abs=0.01)


def test_the_best_recall_under_a_false_positive_rate_owes_nothing_to_luck() -> None:
    rows = sample(300, 60)
    best = found(rows, "fpr<=0.05")
    negatives = rows.scores.values[rows.y_true == 0]  # type: ignore[union-attr]
    wrong, rng = float((negatives >= best.threshold).sum()), np.random.default_rng(0)
    slow = (rng.beta(wrong + 0.5, len(negatives) - wrong + 0.5, 200_000) <= 0.05).mean()
    assert best.chance == pytest.approx(slow, abs=0.01)


def test_nothing_is_promised_of_a_number_of_rows() -> None:
    best = found(sample(300, 60), "fp<=10")
    assert best.chance is None and best.at_confidence is not None and best.at_confidence.reason is not None
    assert "number of rows" in best.at_confidence.reason


def test_without_a_confidence_nothing_is_held() -> None:
    best = found(sample(300, 60), "recall>=0.9", hold=None)
    held, bound = encode(best)["at_confidence"], encode(best)["constraint"]
    assert best.at_confidence is None and held is None
    assert list(bound) == ["metric", "at_least", "at_most", "strict", "in_sample", "held_out", "chance"]
    assert (bound["metric"], bound["at_least"], bound["at_most"]) == ("recall", 0.9, None)


def test_a_bound_out_of_reach_has_nothing_to_hold() -> None:
    rows = sample(300, 60)
    wanted = [Objective.parse(text) for text in ("precision>=1", "f1>=0.999", "recall>=0.5")]
    rows = predictions(Binary(0, 1), rows.y_true, scores=Decisions(-rows.scores.values))  # type: ignore[union-attr]
    table = ScoreTable.from_scores(rows.scores.values, rows.y_true.astype(bool), None)  # type: ignore[union-attr]
    optima = evaluate_thresholds(
        table, rows, objectives=wanted, sampling=Sampling(resamples=200, constraint_confidence=0.95)
    ).optima
    assert [isinstance(best, Optimum) for best in optima.values()] == [False, False, True]


def test_the_surely_kept_threshold_is_found_by_looking_at_few_places(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    truth = rng.random(20_000) < 0.3
    sweep = Sweep.from_table(
        ScoreTable.from_scores(np.clip(rng.normal(0.3 + 0.3 * truth, 0.15), 0, 1), truth)
    )
    looked: list[int] = []
    wrong = bounds_on_new_rows._wrong

    def counted(sweep: Sweep, n: float, sought: Any, places: Any) -> Any:
        looked.append(np.size(places))
        return wrong(sweep, n, sought, places)

    monkeypatch.setattr(bounds_on_new_rows, "_wrong", counted)
    for metric, number in (("recall", 0.95), ("specificity", 0.9)):
        place = bounds_on_new_rows.find_limit_place(sweep, Constraint(metric, ">=", number), 0.95)
        least = sweep.positives if metric == "recall" else sweep.negatives
        every = bounds_on_new_rows.chance_of(np.arange(least), least, 1 - number)
        most = int((every >= 0.95).sum()) - 1
        assert bounds_on_new_rows.most_wrong(round(least), 1 - number, 0.95) == most
        missed = least - sweep.tp if metric == "recall" else sweep.fp
        kept = np.flatnonzero(missed[: len(sweep) - 1] <= most + 1e-9)
        assert place == (kept[-1] if metric == "recall" else kept[0])
    assert sum(looked) < 200

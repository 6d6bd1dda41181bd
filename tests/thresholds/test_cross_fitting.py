"""Values out of sample: the bias of the naive one measured, ours within 0.02; folds and groups kept apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import norm
from sklearn.metrics import f1_score

from evalreport.core.errors import UsageError
from evalreport.core.json_codec import decode, encode
from evalreport.core.result import Estimate, Undefined
from evalreport.data.labels import Binary
from evalreport.data.predictions import Predictions, predictions
from evalreport.data.scores import Decisions, Probabilities
from evalreport.intervals.interval_settings import Sampling
from evalreport.statistics.confusion import BinaryCounts
from evalreport.statistics.score_table import ScoreTable
from evalreport.thresholds.best_threshold import Optimum, OutOfSample, Unreachable
from evalreport.thresholds.cross_fitting import chosen_places, evaluate_thresholds
from evalreport.thresholds.objectives import METRICS, STANDARD, Objective
from evalreport.thresholds.resampled_thresholds import RowGroups, SingleRows, Units, narrow_sweep
from evalreport.thresholds.sweep import Sweep

F1 = (Objective.parse("f1"),)


def optimum(choice: object) -> Optimum:
    assert isinstance(choice, Optimum)
    return choice


def cross_fitted(choice: object) -> Estimate:
    found = optimum(choice).out_of_sample
    assert isinstance(found, OutOfSample) and isinstance(found.value, Estimate)
    return found.value


def drawn(n: int, seed: int, *, prevalence: float = 0.1, apart: float = 1.5) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.random(n) < prevalence
    return y, rng.normal(size=n) + apart * y


def true_f1(threshold: Any, *, prevalence: float = 0.1, apart: float = 1.5) -> Any:
    """F1 of a threshold in the population that `drawn` draws from."""
    tp, fp = norm.sf(threshold - apart) * prevalence, norm.sf(threshold) * (1 - prevalence)
    return 2 * tp / (tp + fp + prevalence)


@pytest.mark.slow
def test_the_naive_value_is_too_good_and_ours_is_not() -> None:
    grid = np.linspace(-1, 4, 2_001)
    best = grid[np.argmax(true_f1(grid))]
    naive, ours, holds, covers = [], [], [], []
    for seed in range(150):
        y, s = drawn(200, seed)
        found = optimum(evaluate_thresholds(ScoreTable.from_scores(s, y), objectives=F1).best("f1"))
        truth, value = true_f1(found.threshold), cross_fitted(found)
        assert found.low is not None and found.high is not None
        assert value.low is not None and value.high is not None
        naive.append(found.apparent - truth)
        ours.append(value.value - truth)
        holds.append(found.low <= best <= found.high)
        covers.append(value.low <= truth <= value.high)
    assert 0.07 < np.mean(naive) < 0.11
    assert abs(np.mean(ours)) < 0.02
    assert 0.9 < np.mean(holds) < 0.99 and np.mean(covers) > 0.88


def test_with_many_rows_the_bias_is_gone() -> None:
    y, s = drawn(100_000, 0)
    found = optimum(evaluate_thresholds(ScoreTable.from_scores(s, y), objectives=F1).best("f1"))
    assert cross_fitted(found).value == pytest.approx(found.apparent, abs=0.005)
    assert cross_fitted(found).value == pytest.approx(true_f1(found.threshold), abs=0.01)


def test_every_standard_objective_gets_limits_and_a_cross_fitted_value() -> None:
    y, s = drawn(500, 1)
    for choice in evaluate_thresholds(ScoreTable.from_scores(s, y)).optima.values():
        if isinstance(choice, Unreachable):
            continue
        found = optimum(choice)
        assert found.low is not None and found.high is not None and found.out_of_sample is not None
        assert found.low <= found.threshold <= found.high and found.out_of_sample.method == "cross-fitted"


def test_a_constraint_met_in_sample_is_not_met_on_held_out_data() -> None:
    kept = []
    for seed in range(20):
        y, s = drawn(150, seed, prevalence=0.3)
        found = optimum(evaluate_thresholds(ScoreTable.from_scores(s, y)).best("recall>=0.95"))
        assert found.tp / (found.tp + found.fn) >= 0.95
        assert found.out_of_sample is not None and isinstance(found.out_of_sample.kept, Estimate)
        kept.append(found.out_of_sample.kept.value)
    assert 0.85 < np.mean(kept) < 0.95


def test_the_same_seed_gives_the_same_bytes() -> None:
    y, s = drawn(300, 2)
    table = ScoreTable.from_scores(s, y)
    first, again, other = (
        encode(evaluate_thresholds(table, sampling=Sampling(seed=seed))) for seed in (0, 0, 1)
    )
    assert first == again != other
    assert encode(decode(Sweep, first)) == first


def test_tuned_on_other_rows_the_value_is_that_of_the_rows_reported() -> None:
    y, s = drawn(400, 3)
    other_y, other_s = drawn(400, 4)
    tune = binary(other_y, norm.cdf(other_s))
    sweep = evaluate_thresholds(ScoreTable.from_scores(norm.cdf(s), y), tune_on=tune, objectives=F1)
    found, value = optimum(sweep.best("f1")), cross_fitted(sweep.best("f1"))
    assert found.apparent == pytest.approx(f1_score(other_y, norm.cdf(other_s) >= found.threshold))
    assert value.value == pytest.approx(f1_score(y, norm.cdf(s) >= found.threshold))
    assert found.out_of_sample is not None and found.out_of_sample.method == "other rows"
    assert sweep.positives == y.sum()


def test_labels_alone_cannot_tune() -> None:
    y, s = drawn(50, 3)
    labels = predictions(Binary(0, 1), [0, 1], [0, 1])
    found = evaluate_thresholds(ScoreTable.from_scores(s, y), tune_on=labels, objectives=F1).best("f1")
    assert isinstance(found, Undefined) and "only labels" in found.reason


def test_rows_to_tune_on_mean_the_same() -> None:
    y, s = drawn(50, 3)
    table, rows = ScoreTable.from_scores(norm.cdf(s), y), binary(y, norm.cdf(s))
    other = predictions(Binary(1, 0), y.astype(int), scores=Probabilities(norm.cdf(s)))
    with pytest.raises(UsageError, match="different labels"):
        evaluate_thresholds(table, rows, tune_on=other)
    with pytest.raises(UsageError, match="a different kind"):
        evaluate_thresholds(
            table, rows, tune_on=predictions(Binary(0, 1), y.astype(int), scores=Decisions(s))
        )


@pytest.mark.parametrize("positives", [0, 1])
def test_too_few_positives_say_so(positives: int) -> None:
    y = np.arange(30) < positives
    found = evaluate_thresholds(
        ScoreTable.from_scores(np.linspace(0, 1, 30), y), objectives=[Objective.parse("accuracy")]
    )
    best = optimum(found.best("accuracy"))
    assert best.out_of_sample is not None and isinstance(best.out_of_sample.value, Undefined)
    assert "at least 2 rows" in best.out_of_sample.value.reason


def binary(y: Any, s: Any, groups: Any = None, weights: Any = None) -> Predictions:
    return predictions(Binary(0, 1), y.astype(int), scores=Probabilities(s), groups=groups, weights=weights)


def test_groups_are_not_split() -> None:
    y, s = drawn(60, 5, prevalence=0.3)
    many_y, many_s = np.repeat(y, 6), np.repeat(norm.cdf(s), 6)
    table = ScoreTable.from_scores(many_s, many_y)
    alone = cross_fitted(
        evaluate_thresholds(ScoreTable.from_scores(norm.cdf(s), y), objectives=F1).best("f1")
    )
    rows = binary(many_y, many_s, groups=np.repeat(np.arange(60), 6))
    apart = cross_fitted(evaluate_thresholds(table, rows, objectives=F1).best("f1"))
    leaking = optimum(evaluate_thresholds(table, objectives=F1).best("f1"))
    assert apart.value == pytest.approx(alone.value, abs=0.05)
    assert cross_fitted(leaking).value > apart.value and leaking.apparent > apart.value
    assert apart.width is not None and cross_fitted(leaking).width is not None
    assert apart.width > 1.7 * (cross_fitted(leaking).width or 1)  # 6 copies are not 6 rows


@pytest.mark.slow
def test_intervals_of_groups_hold_what_the_threshold_reaches_on_other_rows() -> None:
    """By draws of one split they held it in 85 to 91% of 150 samples, by new choices in 97 to 99%."""
    rng, held, cluster = np.random.default_rng(0), 0, np.repeat(np.arange(60), 5)
    for _ in range(40):
        y = (0.55 * rng.normal(size=60)[cluster] + 0.84 * rng.normal(size=300)) < norm.ppf(0.2)
        s = 1.5 * y + 0.7 * (rng.normal(size=60)[cluster] + rng.normal(size=300))
        best = evaluate_thresholds(
            ScoreTable.from_scores(s, y), decided(y, s, cluster), objectives=[Objective("mcc")]
        ).best("mcc")
        value, at = cross_fitted(best), optimum(best).threshold
        tp, fp = 0.2 * norm.sf(at - 1.5), 0.8 * norm.sf(at)
        true = float(METRICS["mcc"].function(BinaryCounts(tp, fp, 0.2 - tp, 0.8 - fp)))
        assert value.low is not None and value.high is not None and value.method == "resampled groups"
        held += value.low <= true <= value.high
    assert held >= 37


def decided(y: Any, s: Any, groups: Any) -> Predictions:
    return predictions(Binary(0, 1), y.astype(int), scores=Decisions(s), groups=groups)


def test_resamples_of_groups_are_dealt_whole() -> None:
    y, s = drawn(300, 8)
    cluster = np.arange(300) // 5
    sweep = Sweep.from_table(ScoreTable.from_scores(s, y))
    units = RowGroups.from_grouped_rows(sweep, decided(y, s, cluster))
    found = units.resample_folds(10, 50, np.random.default_rng(0))
    assert found.pos.shape == (500, len(sweep))
    times = (found.pos + found.neg)[:, :300].reshape(50, 10, 300)  # the last threshold flags none
    assert ((times > 0).sum(axis=1) <= 1).all(), "a row is in one fold"
    fold = np.where(times.any(axis=1), times.argmax(axis=1), -1)[:, np.argsort(np.argsort(s))]
    for one in fold.reshape(50, 60, 5):
        assert (one == one[:, :1]).all(), "a group is in one fold"
    assert times.sum() / 50 == pytest.approx(300, rel=0.05)


def split(units: Units) -> Any:
    return units.folds(10, np.random.default_rng(0))


def test_folds_are_the_whole_and_stratified() -> None:
    y, s = drawn(503, 6)
    sweep = Sweep.from_table(ScoreTable.from_scores(s.round(1), y))
    units = SingleRows.from_sweep(sweep)
    folds = split(units)
    np.testing.assert_array_equal(folds.pos.sum(axis=0), units.pos)
    np.testing.assert_array_equal(folds.neg.sum(axis=0), units.neg)
    for part in (folds.pos, folds.neg):
        sizes = part.sum(axis=1)
        assert sizes.max() - sizes.min() <= 1
    np.testing.assert_array_equal(folds.counts().tp.sum(axis=0), sweep.tp)


def test_large_samples_are_split_count_by_count() -> None:
    y, s = drawn(120_000, 7)
    whole = Sweep.from_table(ScoreTable.from_scores(s, y))
    fewer, units = narrow_sweep(whole, SingleRows.from_sweep(whole), 500)
    np.testing.assert_array_equal(units.pos[::-1].cumsum()[::-1], fewer.tp)
    folds = split(units)
    assert len(units.pos) <= 502
    np.testing.assert_array_equal(folds.neg.sum(axis=0), units.neg)
    assert folds.neg.sum(axis=1) == pytest.approx(np.full(10, (~y).sum() / 10), rel=0.05)


def test_group_folds_hold_whole_groups_and_about_as_many_positives() -> None:
    y, s = drawn(600, 8)
    group = np.random.default_rng(0).integers(0, 90, 600)
    rows = binary(y, norm.cdf(s), groups=group, weights=np.linspace(0, 2, 600))
    sweep = Sweep.from_table(ScoreTable.from_scores(rows.scores.values, y, rows.weights))  # type: ignore[union-attr]
    units = RowGroups.from_grouped_rows(sweep, rows)
    folds = split(units)
    np.testing.assert_allclose(folds.counts().fp.sum(axis=0), sweep.fp, atol=1e-9)
    assert all(len(np.unique(folds.part_of_row[units.unit == g])) == 1 for g in np.unique(group))
    counts = units.draw_counts(np.full(600, 40), Sampling(resamples=4_000))
    np.testing.assert_allclose(counts.tp.mean(), sweep.tp[40], rtol=0.05)
    np.testing.assert_allclose(counts.tn.mean(), sweep.negatives - sweep.fp[40], rtol=0.05, atol=1)
    fewer, same = narrow_sweep(sweep, units, 50)
    np.testing.assert_allclose(
        same.resamples(3_000, np.random.default_rng(1)).counts().fp.mean(axis=0), fewer.fp, rtol=0.05, atol=1
    )
    positives = folds.pos.sum(axis=1)
    assert positives.max() < 2.5 * positives.min()


def test_groups_of_one_row_are_worth_what_rows_are() -> None:
    y, s = drawn(300, 8)
    sweep = Sweep.from_table(ScoreTable.from_scores(norm.cdf(s), y))
    groups = RowGroups.from_grouped_rows(sweep, binary(y, norm.cdf(s), groups=np.arange(300)))
    for part in ((0, None), (0, 40), (40, None), (40, 41)):
        assert groups.effective(*part) == SingleRows.from_sweep(sweep).effective(*part), part


def test_weighted_rows_and_weighted_counts_agree() -> None:
    y, s = drawn(400, 9)
    weights = np.random.default_rng(1).uniform(0.5, 2, 400)
    table = ScoreTable.from_scores(norm.cdf(s), y, weights)
    by_row = evaluate_thresholds(table, binary(y, norm.cdf(s), weights=weights), objectives=F1)
    by_count = evaluate_thresholds(table, objectives=F1, count=400)
    a, b = optimum(by_row.best("f1")), optimum(by_count.best("f1"))
    assert (a.threshold, a.apparent) == (b.threshold, b.apparent)
    assert cross_fitted(a).value == pytest.approx(cross_fitted(b).value, abs=0.03)
    assert cross_fitted(a).width == pytest.approx(cross_fitted(b).width, rel=0.4)


def test_fold_choices_follow_the_rule_of_best() -> None:
    y, s = drawn(80, 10, prevalence=0.4)
    s = s.round(1)
    units = SingleRows.from_sweep(Sweep.from_table(ScoreTable.from_scores(s, y)))
    folds = split(units)
    for i in range(10):
        rest = Sweep(
            np.append(np.unique(s), np.inf),
            folds.counts().tp.sum(axis=0) - folds.counts().tp[i],
            folds.counts().fp.sum(axis=0) - folds.counts().fp[i],
            float(y.sum() - folds.pos[i].sum()),
            float((~y).sum() - folds.neg[i].sum()),
        )
        for objective in STANDARD:
            place: npt.NDArray[np.intp] = chosen_places(objective, rest.counts[None])
            choice = rest.best(objective)
            assert rest.thresholds[place[0]] == getattr(choice, "threshold", np.inf)

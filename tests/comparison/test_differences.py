"""Intervals and tests of differences, each against a second way of getting it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from scipy import optimize, stats
from sklearn.metrics import roc_auc_score

from evalreport.comparison.compare import compare
from evalreport.comparison.differences import unpaired_difference
from evalreport.core.result import Undefined
from evalreport.data.labels import Binary, Task
from evalreport.data.predictions import Categorical, Predictions, predictions
from evalreport.data.scores import Decisions, NoScores, Probabilities
from evalreport.evaluation.evaluate import evaluate_predictions
from evalreport.intervals.distributions import newcombe
from evalreport.intervals.estimates import estimates
from evalreport.intervals.interval_settings import Sampling
from evalreport.intervals.paired import (
    ScoreCurve,
    by_class,
    effective,
    label_cells,
    marginal_counts,
    of_mean,
    paired_score,
)
from evalreport.metrics.catalogue import COMPARED, catalogue, find
from evalreport.metrics.record import Metric
from evalreport.statistics.summary import summarise
from tests.comparison import models

DATA = Path(__file__).parents[2] / "examples" / "data"
FOURS = (
    ("sms_spam", "spam", ("score_lr", "score_nb", "score_rf", "score_histgb")),
    ("ai4i_failure", 1, ("score_lr", "score_lr_balanced", "score_rf", "score_histgb")),
)


def naive_delong(
    truth: npt.NDArray[np.bool_], first: npt.NDArray[np.float64], second: npt.NDArray[np.float64]
) -> tuple[float, float]:
    """DeLong 1988 as it is written: every positive against every negative."""
    placed = []
    for scores in (first, second):
        gap = scores[truth][:, None] - scores[~truth][None, :]
        wins = (gap > 0) + 0.5 * (gap == 0)
        placed.append((wins.mean(axis=1), wins.mean(axis=0)))
    covariance = sum(
        np.cov(np.stack([placed[0][side], placed[1][side]])) / len(placed[0][side]) for side in (0, 1)
    )
    contrast = np.array([1, -1])
    auc = [wins.mean() for wins, _ in placed]
    z = (auc[0] - auc[1]) / np.sqrt(contrast @ covariance @ contrast)
    return float(z), float(2 * stats.norm.sf(abs(z)))


@pytest.mark.parametrize(("source", "positive", "columns"), FOURS, ids=lambda value: str(value)[:12])
def test_all_pairs_of_real_models_have_mcnemar_and_delong_of_a_second_implementation(
    source: str, positive: object, columns: tuple[str, ...]
) -> None:
    frame = pd.read_parquet(DATA / source / "oof_scores.parquet")
    truth = (frame["y_true"] == positive).to_numpy()
    ids = frame["example_id"].astype(str).to_numpy()
    runs = [
        predictions(Binary(0, 1), truth.astype(int), scores=Probabilities(frame[column].to_numpy()), ids=ids)
        for column in columns
    ]
    result = compare(
        [models.bare(run) for run in runs],
        None,
        names=columns,
        metrics=["roc_auc", "accuracy"],
        details=False,
    )
    assert len(result.mcnemar) == len(result.delong) == 6
    for test, delong in zip(result.mcnemar, result.delong, strict=True):
        a, b = (frame[column].to_numpy().astype(np.float64) for column in (test.run, test.baseline))
        right = [((scores >= 0.5) == truth) for scores in (a, b)]
        only = int((right[0] & ~right[1]).sum()), int((right[1] & ~right[0]).sum())
        assert (test.only_first, test.only_second) == only
        k = min(only)
        mid = 2 * stats.binom.cdf(k, sum(only), 0.5) - stats.binom.pmf(k, sum(only), 0.5)
        assert test.p == pytest.approx(min(mid, 1.0), rel=1e-9, abs=1e-300)
        z, _ = naive_delong(truth, a, b)
        assert delong.z == pytest.approx(z, abs=1e-8)
        for one, metric in ((test, "accuracy"), (delong, "roc_auc")):
            reported = next(d for d in result.differences_for(metric, one.run) if d.baseline == one.baseline)
            assert one.p == reported.p, "one p value per difference"
        own = next(d for d in result.differences_for("roc_auc", delong.run) if d.baseline == delong.baseline)
        assert own.difference == pytest.approx(roc_auc_score(truth, a) - roc_auc_score(truth, b), abs=1e-12)
        assert own.low is not None
        assert own.high is not None
        assert (own.high - own.low) / 2 == pytest.approx(abs((own.difference or 0) / z) * 1.96, rel=0.01)


@pytest.mark.parametrize(
    "counts", [(12, 2, 50), (0, 0, 30), (5, 0, 20), (1, 9, 400), (40, 31, 200), (3, 3, 8)]
)
def test_paired_score_limits_are_where_the_constrained_likelihood_says(counts: tuple[int, int, int]) -> None:
    b, c, n = counts

    def deviate(gap: float) -> float:
        """The score test with its nuisance parameter found by a search."""

        def minus_log_likelihood(q: float) -> float:
            with np.errstate(divide="ignore", invalid="ignore"):
                terms = stats.multinomial.logpmf([b, c, n - b - c], n, [q + gap, q, 1 - 2 * q - gap])
            return float(-terms)

        low, high = max(0.0, -gap), (1 - gap) / 2
        q = optimize.minimize_scalar(
            minus_log_likelihood, bounds=(low, high), method="bounded", options={"xatol": 1e-12}
        ).x
        return float((b - c - n * gap) / np.sqrt(n * (2 * q + gap - gap**2)))

    low, high = paired_score(b, c, n)
    assert deviate(float(low)) == pytest.approx(1.959964, abs=2e-3)
    assert deviate(float(high)) == pytest.approx(-1.959964, abs=2e-3)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
def test_interval_of_a_proportion_excludes_0_exactly_where_mcnemars_mid_p_says_so(level: float) -> None:
    for b, c in [(4, 0), (5, 0), (0, 0), (7, 1), (9, 2), *np.random.default_rng(4).integers(0, 40, (300, 2))]:
        curve = ScoreCurve(int(b), int(c), 100)
        low, high = curve.limits(level)
        assert (low > 0 or high < 0) == (curve.p < 1 - level), (b, c)
        assert low <= curve.gap <= high
    p = 2 * stats.binom.cdf(2, 11, 0.5) - stats.binom.pmf(2, 11, 0.5)
    assert ScoreCurve(9, 2, 100).p == pytest.approx(p)


@pytest.mark.parametrize("counts", [(300, 10, 1000), (200, 0, 400), (12, 0, 50)])
def test_interval_of_a_large_difference_is_no_narrower_than_tangos(counts: tuple[int, int, int]) -> None:
    low, high = paired_score(*counts)
    assert ScoreCurve(*counts).limits(0.95) == pytest.approx((float(low), float(high)))


def test_paired_score_interval_agrees_with_mcnemars_chi_square() -> None:
    b, c = np.random.default_rng(4).integers(0, 40, (2, 500))
    low, high = paired_score(b, c, 100)
    p = stats.chi2.sf((b - c) ** 2 / np.maximum(b + c, 1), 1)
    assert (((low > 0) | (high < 0)) == (p < 0.05)).all()
    mirrored = paired_score(c, b, 100)
    assert mirrored[0] == pytest.approx(-high)
    assert mirrored[1] == pytest.approx(-low)


PLAIN: dict[Task, Callable[[], list[Predictions]]] = {
    "binary": lambda: models.binary(np.random.default_rng(0), 400, skills=(2.0, 1.5)),
    "multiclass": lambda: models.multiclass(
        np.random.default_rng(0), 400, np.full(4, 0.25), skills=(2.0, 1.5)
    ),
    "multilabel": lambda: models.multilabel(
        np.random.default_rng(0), 400, np.full(4, 0.3), skills=(2.0, 1.5)
    ),
}


def resampled(
    pair: list[Predictions], names: list[str], clusters: npt.NDArray[np.int32] | None, times: int = 250
) -> dict[str, float]:
    """Standard deviation of each difference over resamples of rows, or of whole clusters."""
    rng = np.random.default_rng(8)
    found: dict[str, list[float]] = {name: [] for name in names}
    members = (
        [np.flatnonzero(clusters == code) for code in np.unique(clusters)] if clusters is not None else None
    )
    for _ in range(times):
        if members is None:
            rows = rng.integers(0, len(pair[0]), len(pair[0]))
        else:
            rows = np.concatenate([members[code] for code in rng.integers(0, len(members), len(members))])
        facts = [summarise(replace(p, ids=None).take(rows)) for p in pair]
        for name in names:
            values = [find(name, pair[0].space.task).compute_value(fact) for fact in facts]
            if isinstance(values[0], float) and isinstance(values[1], float):
                found[name].append(values[0] - values[1])
    return {name: float(np.std(values)) for name, values in found.items()}


@pytest.mark.parametrize("task", PLAIN)
def test_intervals_are_as_wide_as_the_paired_bootstrap_says(task: Task) -> None:
    pair = PLAIN[task]()
    names = list(COMPARED[task])
    spread = resampled(pair, names, None)
    both = models.sides(pair)
    for name in names:
        found = models.paired(find(name, task), both, ("a", "b"))
        assert models.reach(found) == pytest.approx(2.80 * spread[name], rel=0.2), name


def brute_force(metric: Metric, pair: list[Predictions], seed: int = 5, times: int = 300) -> float:
    """Standard deviation of a difference over resamples of whole clusters, or of rows, one by one."""
    rng, groups = np.random.default_rng(seed), pair[0].groups
    codes = np.arange(len(pair[0]), dtype=np.int32) if groups is None else groups.codes
    members = [np.flatnonzero(codes == code) for code in range(codes.max() + 1)]
    gaps = []
    for _ in range(times):
        rows = np.concatenate([members[code] for code in rng.integers(0, len(members), len(members))])
        values = [metric.compute_value(summarise(replace(p.take(rows), ids=None))) for p in pair]
        gaps.append(values[0] - values[1])  # type: ignore[operator]
    return float(np.std(gaps))


@pytest.mark.parametrize("clusters", [False, True])
@pytest.mark.parametrize("name", ["ks", "tpr_at_fpr05", "ece", "classwise_ece"])
def test_metrics_without_contributions_are_resampled_in_pairs(name: str, clusters: bool) -> None:
    rng = np.random.default_rng(8)
    if name == "classwise_ece":
        pair = models.multiclass(rng, 240, np.array([0.5, 0.3, 0.2]), (2.0, 1.2), 0.6)
    else:
        pair = models.binary(rng, 240, 0.4, (2.0, 1.2), 0.6, per_cluster=4 if clusters else 1)
    if clusters:
        groups = Categorical(np.arange(240, dtype=np.int32) // 4, tuple(map(str, range(60))))
        pair = [replace(p, groups=groups) for p in pair]
    metric = find(name, pair[0].space.task)
    found = models.paired(metric, models.sides(pair), ("a", "b"))
    assert found.method == "paired bootstrap" + (", by cluster" if clusters else "")
    assert found.low is not None
    assert found.high is not None
    assert (found.high - found.low) / 2 == pytest.approx(1.98 * brute_force(metric, pair), rel=0.2)
    assert (found.low + found.high) / 2 == pytest.approx(found.difference)


def test_what_the_truth_alone_decides_cannot_differ() -> None:
    pair = models.sides(models.binary(np.random.default_rng(1), 80))
    for name in ("prevalence", "no_information_rate"):
        found = models.paired(find(name, "binary"), pair, ("a", "b"))
        assert (found.difference, found.low, found.high, found.p) == (0.0, 0.0, 0.0, 1.0)


def test_clusters_are_resampled_whole() -> None:
    rng = np.random.default_rng(2)
    pair = models.binary(rng, 100, skills=(2.0, 1.6))
    copies = [
        replace(
            p.take(np.repeat(np.arange(100), 4)),
            ids=None,
            groups=Categorical(np.repeat(np.arange(100), 4).astype(np.int32), tuple(map(str, range(100)))),
        )
        for p in pair
    ]
    whole, grouped = models.sides(pair), models.sides(copies)
    for name in ("f1", "roc_auc", "log_loss", "recall"):
        metric = find(name, "binary")
        one, four = (models.paired(metric, side, ("a", "b")) for side in (whole, grouped))
        assert four.difference == pytest.approx(one.difference)
        assert "by cluster" in four.method
        assert models.reach(four) == pytest.approx(models.reach(one), rel=0.2), (
            "four copies know no more than one"
        )
    clusters = np.repeat(np.arange(100), 4).astype(np.int32)
    spread = resampled(copies, ["f1", "roc_auc"], clusters)
    for name, width in spread.items():
        found = models.paired(find(name, "binary"), grouped, ("a", "b"))
        assert models.reach(found) == pytest.approx(2.80 * width, rel=0.25)


def test_whole_weights_are_repeated_rows() -> None:
    rng = np.random.default_rng(3)
    pair = models.binary(rng, 300, skills=(2.0, 1.6))
    weights = rng.integers(1, 4, 300).astype(np.float64)
    weighted = [replace(p, weights=weights, weighted=True) for p in pair]
    repeated = [replace(p.take(np.repeat(np.arange(300), weights.astype(int))), ids=None) for p in pair]
    for name in ("f1", "roc_auc", "brier", "accuracy"):
        metric = find(name, "binary")
        found = models.paired(metric, models.sides(weighted), ("a", "b"))
        other = models.paired(metric, models.sides(repeated), ("a", "b"))
        assert found.difference == pytest.approx(other.difference)
        assert models.reach(found) > models.reach(other), "a weight is not more rows"


def test_spread_by_class_of_roc_auc_is_delongs() -> None:
    pair = models.binary(np.random.default_rng(5), 200, skills=(2.0, 1.6))
    both = models.sides(pair)
    found = models.paired(find("roc_auc", "binary"), both, ("a", "b"))
    values = [p.scores.values.astype(np.float64) for p in pair if not isinstance(p.scores, NoScores)]
    z, _ = naive_delong(pair[0].y_true.astype(bool), values[0], values[1])
    parts = both.run.contributions(find("roc_auc", "binary"))
    other = both.baseline.contributions(find("roc_auc", "binary"))
    assert parts is not None
    assert other is not None
    error = by_class(parts - other, both.strata).standard_error
    assert (found.difference or 0) / error == pytest.approx(z, abs=1e-6)
    assert found.method == "delong"


def test_one_class_is_one_sample() -> None:
    parts = np.random.default_rng(1).standard_normal(50)
    parts -= parts.mean()
    whole, one = of_mean(parts), by_class(parts, np.zeros(50, dtype=int))
    assert (one.standard_error, one.df) == pytest.approx((whole.standard_error, whole.df))
    assert effective(parts).df < of_mean(parts).df


def test_label_cells_are_those_of_each_label_alone() -> None:
    rng = np.random.default_rng(0)
    truth, a, b = rng.integers(0, 3, 80), rng.integers(-1, 3, 80), rng.integers(-1, 3, 80)
    cells = label_cells(truth, a, b, 3)
    for code in range(3):
        first, second = marginal_counts(cells[code])
        for count, answer in ((first, a), (second, b)):
            assert count.tp == ((truth == code) & (answer == code)).sum()
            assert count.fp == ((truth != code) & (answer == code)).sum()
            assert count.fn == ((truth == code) & (answer != code)).sum()
        assert cells[code].sum() == 80
    matrix = [rng.random((60, 4)) < 0.4 for _ in range(3)]
    cells = label_cells(matrix[0], matrix[1], matrix[2], 4)
    for code in range(4):
        assert marginal_counts(cells[code])[1].fn == (matrix[0][:, code] & ~matrix[2][:, code]).sum()


@pytest.mark.parametrize("task", PLAIN)
def test_every_metric_that_estimates_something_gets_an_interval_or_a_reason(task: Task) -> None:
    pair = PLAIN[task]()
    both = models.sides(pair)
    for metric in catalogue(pair[0].space):
        found = models.paired(metric, both, ("a", "b"))
        if found.difference is None or found.low is None:
            assert found.reason, metric.name
            continue
        assert found.high is not None
        assert found.low <= found.difference <= found.high, metric.name
        assert found.p is not None
        assert 0 <= found.p <= 1
        assert (found.detectable is not None and models.reach(found) > 0) or found.reason, metric.name


def test_answers_that_never_differ_leave_room_and_scores_that_never_differ_do_not() -> None:
    p = models.binary(np.random.default_rng(0), 200)[0]
    both = models.sides([p, p])
    recall = models.paired(find("recall", "binary"), both, ("a", "b"))
    assert recall.low is not None
    assert recall.low < 0 == recall.difference
    auc = models.paired(find("roc_auc", "binary"), both, ("a", "b"))
    assert (auc.difference, auc.low, auc.high, auc.detectable) == (0, 0, 0, None)
    assert auc.reason == "the runs have the same value on every row"


def test_few_shared_rows_have_no_interval() -> None:
    nine, ten = (
        models.paired(
            find("accuracy", "binary"),
            models.sides([p.take(np.arange(n)) for p in models.binary(np.random.default_rng(0), 50)]),
            ("a", "b"),
        )
        for n in (9, 10)
    )
    assert (nine.low, nine.reason) == (None, "an interval needs at least 10 shared rows")
    assert ten.low is not None


def test_undefined_names_the_run_and_the_reason() -> None:
    whole = models.binary(np.random.default_rng(0), 60)[0]
    assert isinstance(whole.scores, Probabilities)
    margins = replace(whole, scores=Decisions(whole.scores.values))
    found = models.paired(find("log_loss", "binary"), models.sides([whole, margins]), ("new", "old"))
    assert (found.difference, found.verdict) == (None, "undefined")
    assert found.reason == "old: needs probabilities; got decision scores"


def test_unpaired_difference_of_proportions_is_newcombes() -> None:
    a, b = models.binary(np.random.default_rng(0), 300)
    metric = find("accuracy", "binary")
    values = [estimates([metric], summarise(p), p, Sampling())["accuracy"] for p in (a, b)]
    found = unpaired_difference(metric, (values[0], values[1]), ("a", "b"), 0.95).difference
    right = [int((p.y_true == p.y_pred).sum()) for p in (a, b)]
    _, low, high = newcombe(right[0], 300, right[1], 300)
    assert (found.low, found.high) == pytest.approx((low, high))
    assert found.method == "MOVER, unpaired"
    missing = unpaired_difference(metric, (values[0], Undefined("not there")), ("a", "b"), 0.95).difference
    assert missing.reason == "b: not there"


def test_differences_of_more_correlated_models_are_significant_more_often() -> None:
    widths = []
    for correlation in (0.0, 0.5, 0.9):
        pair = models.binary(np.random.default_rng(1), 500, correlation=correlation)
        found = models.paired(find("roc_auc", "binary"), models.sides(pair), ("a", "b"))
        widths.append(models.reach(found))
    assert widths == sorted(widths, reverse=True)


def test_every_pair_is_seen_from_both_ends() -> None:
    pair = models.binary(np.random.default_rng(1), 200, skills=(2.0, 1.4))
    for one, two in combinations(pair, 2):
        for name in ("f1", "recall", "roc_auc", "log_loss"):
            metric = find(name, "binary")
            there = models.paired(metric, models.sides([one, two]), ("a", "b"))
            back = models.paired(metric, models.sides([two, one]), ("b", "a"))
            assert there.difference == pytest.approx(-(back.difference or 0))
            assert there.low is not None
            assert back.high is not None
            assert there.low == pytest.approx(-back.high, abs=0.01)


def test_a_ranking_without_a_mistake_is_better_than_one_turned_round() -> None:
    """No row's placement varies: the limits are those of the runs' own exact ones."""
    truth = np.arange(60) % 2
    scores = np.where(truth, 0.9, 0.1) + np.linspace(0, 0.05, 60)
    both = [
        evaluate_predictions(predictions(Binary(0, 1), truth, scores=Probabilities(each)), models.QUICK)
        for each in (scores, 1 - scores)
    ]
    (found,) = compare(both, metrics=["roc_auc"]).differences_for("roc_auc")
    assert (found.difference, found.verdict) == (-1.0, "worse")
    assert found.low is not None and found.high is not None
    assert found.low == -1.0 < found.high < -0.9

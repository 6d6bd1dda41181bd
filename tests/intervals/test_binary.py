"""What every interval of a binary metric keeps to, and slow versions of the fast formulas."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evalreport.core.result import Estimate, Undefined
from evalreport.data.labels import Binary
from evalreport.data.predictions import predictions
from evalreport.data.scores import Probabilities
from evalreport.intervals.estimates import estimates
from evalreport.intervals.interval_settings import Sampling
from evalreport.intervals.standard_errors import influence, standard_error
from evalreport.metrics.catalogue import BINARY, find
from evalreport.statistics import score_table
from evalreport.statistics.confusion import Array
from evalreport.statistics.score_table import ScoreTable
from evalreport.statistics.summary import Summary, summarise

Rows: TypeAlias = npt.NDArray[np.bool_]
QUICK = Sampling(resamples=300)


def summary_of(truth: Rows, scores: Array, threshold: float = 0.5) -> Summary:
    return summarise(
        predictions(Binary(0, 1), truth.astype(int), scores=Probabilities(scores), threshold=threshold)
    )


def drawn(n: int, prevalence: float, gap: float, seed: int) -> tuple[Rows, Array]:
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < prevalence
    logit = rng.normal(size=n) + gap * truth - 1
    return truth, 1 / (1 + np.exp(-logit))


@settings(max_examples=40)
@example(
    rows=[(False, 1), (False, 8), (False, 10), (False, 10), (False, 10), (True, 3)], threshold=0.0
)  # the logistic fit of which starts where there is next to no curvature
@given(
    rows=st.lists(st.tuples(st.booleans(), st.integers(0, 10)), min_size=1, max_size=40),
    threshold=st.sampled_from([0.0, 0.3, 0.5, 0.95]),
)
def test_every_interval_holds_its_value_inside_the_range(
    rows: list[tuple[bool, int]], threshold: float
) -> None:
    truth, scores = np.array([t for t, _ in rows]), np.array([s / 10 for _, s in rows])
    summary = summary_of(truth, scores, threshold)
    for metric, result in zip(BINARY, estimates(BINARY, summary, None, QUICK).values(), strict=True):
        if isinstance(result, Undefined):
            continue
        if result.low is None or result.high is None:
            assert result.reason
        else:
            assert metric.low <= result.low <= result.value <= result.high <= metric.high, metric.name
            assert result.low < result.high, metric.name
            assert result.method
            assert len(rows) >= 2


@pytest.mark.parametrize("prevalence", [0.5, 0.05])
def test_every_metric_of_a_usual_problem_has_an_interval(prevalence: float) -> None:
    truth, scores = drawn(400, prevalence, 2.0, 1)
    found = estimates(BINARY, summary_of(truth, scores), None, QUICK)
    without = {n for n, r in found.items() if isinstance(r, Undefined) or r.low is None}
    counts = {metric.name for metric in BINARY if metric.no_interval}
    smooth = {"ici"} if prevalence < 0.1 else set()  # a curve of fewer than 20 events is not judged
    assert without == counts | smooth


def test_the_same_input_gives_the_same_bytes() -> None:
    truth, scores = drawn(300, 0.3, 1.0, 2)
    first, again = (estimates(BINARY, summary_of(truth, scores), None, QUICK) for _ in range(2))
    assert repr(first) == repr(again)
    other = estimates(BINARY, summary_of(truth, scores), None, Sampling(resamples=300, seed=1))
    assert repr(first) != repr(other)


def test_one_metric_alone_has_the_interval_that_it_has_among_all() -> None:
    truth, scores = drawn(300, 0.3, 1.0, 2)
    summary = summary_of(truth, scores)
    everything = estimates(BINARY, summary, None, QUICK)
    for name in ("f1", "mcc", "eer", "lift_at_10", "ece"):
        assert estimates([find(name, "binary")], summary, None, QUICK)[name] == everything[name]


def test_a_wider_level_gives_a_wider_interval() -> None:
    summary = summary_of(*drawn(300, 0.3, 1.0, 2))
    narrow, wide = (estimates(BINARY, summary, None, Sampling(level, 500)) for level in (0.8, 0.99))
    for name, result in narrow.items():
        other = wide[name]
        if isinstance(result, Estimate) and isinstance(other, Estimate) and result.width is not None:
            assert other.width is not None
            assert result.width < other.width, name


def test_a_perfect_ranking_is_not_certain() -> None:
    truth = np.arange(40) >= 30
    found = estimates(BINARY, summary_of(truth, np.arange(40) / 40), None, QUICK)
    for name in ("roc_auc", "gini", "average_precision", "partial_auc_fpr10", "ks", "tpr_at_fpr05"):
        result = found[name]
        assert isinstance(result, Estimate)
        assert result.value == 1
        assert result.low is not None
        assert result.low < 0.95


@pytest.mark.parametrize("n_positive", [0, 1, 2])
def test_too_few_positives_say_so(n_positive: int) -> None:
    truth = np.arange(30) >= 30 - n_positive
    result = estimates([find("roc_auc", "binary")], summary_of(truth, np.arange(30) / 30), None, QUICK)[
        "roc_auc"
    ]
    if n_positive == 0:
        assert isinstance(result, Undefined)
    elif n_positive == 1:
        assert isinstance(result, Estimate)
        assert result.low is None
        assert "two positives" in str(result.reason)
    else:
        assert isinstance(result, Estimate)
        assert result.low is not None


@pytest.mark.parametrize("name", [metric.name for metric in BINARY if metric.derivative])
def test_an_influence_is_the_derivative_in_a_rows_weight(name: str) -> None:
    rng = np.random.default_rng(0)
    scores = rng.integers(1, 40, 60) / 41
    table = ScoreTable.from_scores(scores, rng.random(60) < scores)
    function, n, step = find(name, "binary").function, 60, 1e-5
    up, down = influence(find(name, "binary"), table)
    for i in range(len(table)):
        e = step * (np.arange(len(table)) == i)
        slope_up = function(ScoreTable(table.scores, table.pos + e, table.neg)) - function(
            ScoreTable(table.scores, table.pos - e, table.neg)
        )
        slope_down = function(ScoreTable(table.scores, table.pos, table.neg + e)) - function(
            ScoreTable(table.scores, table.pos, table.neg - e)
        )
        assert up[i] == pytest.approx(n * slope_up / (2 * step), abs=1e-6)
        assert down[i] == pytest.approx(n * slope_down / (2 * step), abs=1e-6)


@pytest.mark.parametrize("name", ["roc_auc", "average_precision", "partial_auc_fpr10", "brier_skill"])
def test_the_influence_gives_the_standard_error_of_the_row_bootstrap(name: str) -> None:
    truth, scores = drawn(600, 0.3, 1.5, 5)
    table, function = ScoreTable.from_scores(scores, truth), find(name, "binary").function
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 600, (400, 600))
    replicates = [function(ScoreTable.from_scores(scores[row], truth[row])) for row in rows]
    error = standard_error(table, influence(find(name, "binary"), table))
    assert error == pytest.approx(np.std(replicates), rel=0.15)


def test_draws_of_the_counts_do_not_read_the_rows() -> None:
    small, large = (summary_of(*drawn(n, 0.3, 1.5, 3)) for n in (1000, 4000))
    assert small.counts is not None
    assert large.counts is not None
    f1 = [find("f1", "binary")]
    first, second = (estimates(f1, s, None, QUICK)["f1"] for s in (small, large))
    assert isinstance(first, Estimate)
    assert isinstance(second, Estimate)
    assert first.width is not None
    assert second.width is not None
    assert second.width == pytest.approx(first.width / 2, rel=0.2)


@pytest.mark.parametrize("prevalence", [0.3, 0.005])
def test_blocks_of_a_large_table_tell_the_limits_of_its_rows(
    prevalence: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    truth, scores = drawn(60_000, prevalence, 2.0, 6)
    scored = [metric for metric in BINARY if metric.reads == "scores"]
    in_blocks = estimates(scored, summary_of(truth, scores), None, QUICK)
    monkeypatch.setattr(score_table, "LARGE", 10**9)
    by_row = estimates(scored, summary_of(truth, scores), None, QUICK)
    assert in_blocks["roc_auc"] != by_row["roc_auc"]
    for metric in scored:
        one, other = in_blocks[metric.name], by_row[metric.name]
        assert isinstance(one, Estimate)
        assert isinstance(other, Estimate)
        assert one.value == other.value
        assert (one.width is None) == (other.width is None)
        if other.width is not None:
            assert one.width == pytest.approx(other.width, rel=0.03), metric.name

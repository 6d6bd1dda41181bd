"""Scores in bins: bounds that hold whatever the scores, counts that are exact at edges, and what is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evalreport as er
from evalreport.core.errors import UsageError
from evalreport.core.result import Estimate, Undefined
from evalreport.curves.binary import BinaryCurves
from evalreport.features.large.score_words import BinnedScores
from evalreport.metrics.catalogue import BINARY
from evalreport.metrics.record import Metric
from evalreport.statistics.score_table import BinnedTable, ScoreTable, bins_of, edges_of
from tests.cli.running import run
from tests.features.large.test_stream import FEW

DATA = Path(__file__).parents[3] / "examples" / "data"
BOUNDED: list[Metric] = [metric for metric in BINARY if metric.bounds is not None]
NEAR = [0.3 + step * 1e-6 for step in range(40)]
"""Scores of few bins: their order within a bin is what bounds have to bear."""
CHANCES = st.one_of(
    st.sampled_from([0.0, -0.0, 5e-324, 1e-300, 0.25, 0.5, np.nextafter(0.5, 0), 1 - 2**-53, 1.0]),
    st.sampled_from(NEAR),
    st.floats(0, 1),
)
ROWS = st.lists(st.tuples(CHANCES, st.booleans()), min_size=2, max_size=60)


def binned(scores: np.ndarray[Any, Any], truth: np.ndarray[Any, Any], cut: int = 0) -> BinnedTable:
    held = BinnedScores()
    for part in (slice(0, cut), slice(cut, None)):
        held.add(scores[part], truth[part])
    return held.table()


def check_bounds(scores: np.ndarray[Any, Any], truth: np.ndarray[Any, Any]) -> BinnedTable:
    """Hold the bounds against the exact values; return the bins."""
    exact, bins = ScoreTable.from_scores(scores, truth), binned(scores, truth, len(scores) // 3)
    for metric in BOUNDED:
        assert metric.bounds is not None
        low, high = metric.bounds(bins)
        for table in (exact, bins):
            assert low - 1e-12 <= metric.function(table) <= high + 1e-12, metric.name
    places = np.searchsorted(exact.scores, bins.scores)
    tp, fp = exact.path
    assert (tp[len(exact) - places] == bins.tp).all() and (fp[len(exact) - places] == bins.fp).all()
    return bins


@settings(max_examples=60)
@given(ROWS)
def test_bounds_hold_and_counts_at_edges_are_exact(rows: list[tuple[float, bool]]) -> None:
    scores, truth = np.array([score for score, _ in rows]), np.array([yes for _, yes in rows])
    if truth.all() or not truth.any():
        truth[0] = not truth[0]
    bins = check_bounds(scores, truth)
    parts = [binned(scores[part], truth[part]) for part in (slice(0, 1), slice(1, None))]
    whole = BinnedTable.merge_parts(parts)
    for name in ("scores", "pos", "neg"):
        assert getattr(whole, name).tolist() == getattr(bins, name).tolist()


def test_scores_of_one_bin_are_not_taken_for_equal_ones(tmp_path: Path) -> None:
    """Of equal scores the area is known for sure, and a gate takes it so; of one bin it may be anything."""
    rows = {"y_true": np.arange(100) % 2, "score": np.arange(1, 101) * 5e-324}
    pq.write_table(pa.table(rows), tmp_path / "rows.parquet")
    ev = er.evaluate_files(tmp_path / "rows.parquet", approximate=True, **FEW)
    area = ev["roc_auc"]
    assert isinstance(area, Estimate) and area.low is None and "one bin" in str(area.reason)
    assert area.method == "scores in bins: exact value from 0 to 1"
    none = ev["observed_expected_ratio"]
    assert isinstance(none, Undefined) and "or almost 0" in none.reason


@settings(max_examples=60)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=40))
def test_bins_are_in_order_and_hold_their_scores(values: list[float]) -> None:
    scores = np.sort(np.array([*values, -np.finfo(float).max, np.finfo(float).max]))
    bins = bins_of(scores)
    assert (np.diff(bins) >= 0).all()
    assert (edges_of(bins) <= scores).all()
    assert (bins_of(edges_of(bins)) == bins).all()
    inner = bins[:-1]
    assert (scores[:-1] < edges_of(inner + 1)).all()


def test_the_worst_orders_within_a_bin_reach_the_bound_of_auc() -> None:
    scores = np.array([*NEAR[:10], *NEAR[10:20]])
    first = np.arange(20) < 10
    for truth, exact in ((first, 0.0), (~first, 1.0)):
        low, high = er_bounds(scores, truth)
        assert (low, high) == (0.0, 1.0)
        assert er_auc(scores, truth) == exact


def er_bounds(scores: np.ndarray[Any, Any], truth: np.ndarray[Any, Any]) -> tuple[float, float]:
    bounds = next(metric.bounds for metric in BOUNDED if metric.name == "roc_auc")
    assert bounds is not None
    return bounds(binned(scores, truth))


def er_auc(scores: np.ndarray[Any, Any], truth: np.ndarray[Any, Any]) -> float:
    pairs = scores[truth][:, None] - scores[~truth][None, :]
    return float((np.sign(pairs) + 1).mean() / 2)


def test_bounds_hold_on_real_scores_and_are_narrow() -> None:
    rows = pd.read_parquet(DATA / "sms_spam" / "oof_scores.parquet")
    scores = rows["score_lr"].to_numpy()
    truth = (rows["y_true"] == rows["y_true"].max()).to_numpy()
    bins = check_bounds(scores, truth)
    low, high = er_bounds(scores, truth)
    assert high - low < 2e-3
    assert len(bins) < len(ScoreTable.from_scores(scores, truth))


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    rng = np.random.default_rng(6)
    paths = []
    for part in range(2):
        score = rng.beta(1, 3, 3000)
        rows = {"y_true": (rng.random(3000) < score).astype(int), "score": score, "site": np.arange(3000) % 2}
        paths.append(tmp_path / f"part-{part}.parquet")
        pq.write_table(pa.table(rows), paths[-1])
    return paths


def test_an_evaluation_gives_bounds_exact_counts_and_reasons(files: list[Path]) -> None:
    exact = er.evaluate_files(files, slices="site", **FEW)
    bins = er.evaluate_files(files, slices="site", approximate=True, **FEW)
    assert bins.confusion is not None and exact.confusion is not None
    assert bins.confusion.weight.tolist() == exact.confusion.weight.tolist()
    assert [one.row for one in bins.mistakes] == [one.row for one in exact.mistakes]
    reads = {metric.name: metric for metric in BINARY}
    for name, known in exact.metrics.items():
        found = bins[name]
        if reads[name].reads != "scores":
            assert found == known
        elif reads[name].bounds is None:
            assert isinstance(found, Undefined) and "--set approximate" in found.reason
        else:
            assert isinstance(found, Estimate) and isinstance(known, Estimate)
            assert found.method is not None and "exact value from " in found.method
            low, high = map(float, found.method.split("exact value from ")[1].split(" to "))
            assert low - 1e-7 <= known.value <= high + 1e-7
            if known.low is None:  # a metric without an interval
                assert found.low is found.high is None
            else:
                assert (found.low, found.high) == pytest.approx((known.low, known.high), rel=0.01, abs=0.01)
    assert isinstance(bins.curves, BinaryCurves) and isinstance(exact.curves, BinaryCurves)
    assert isinstance(bins.curves.histogram, Undefined) and isinstance(bins.curves.isotonic, Undefined)
    assert bins.sweep is not None
    chosen = bins.sweep.thresholds[np.isfinite(bins.sweep.thresholds)]
    assert (edges_of(bins_of(chosen)) == chosen).all()
    page = er.to_html(bins)
    assert "bins (--set approximate): ROC AUC is surely within" in page
    table = page.split('id="metrics-table"')[1].split("</table>")[0]
    assert "leave --set approximate out" not in table and table.count("undefined *") > 10
    assert page.split('id="metrics-table"')[0].count("leave --set approximate out") == 1
    assert er.Evaluation.from_json(bins.to_json()) == bins
    assert "exact value from" in json.loads(bins.to_json())["metrics"]["roc_auc"]["method"]


def test_facts_of_bins_add_up_and_mix_with_no_others(
    files: list[Path], capsys: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made: list[Any] = []
    for path in files:
        made.append(str(tmp_path / f"{path.stem}.stats"))
        done = run(
            capsys,
            "report",
            str(path),
            "--set",
            "approximate",
            "--save-statistics",
            made[-1],
            "-q",
            "--force",
        )
        assert done.code == 0, done.err
    for asked in ((*made,), ("part-*.parquet", "--set", "approximate")):
        done = run(capsys, "report", *asked, "--json", "-q", "-o", str(tmp_path / "p.html"), "--force")
        assert "bins (--set approximate)" in (tmp_path / "p.html").read_text()
        made.append(done.json["runs"][0]["metrics"]["roc_auc"])
    assert made[-1] == made[-2]
    plain = str(tmp_path / "plain.stats")
    run(capsys, "report", str(files[0]), "--save-statistics", plain, "-q", "--force")
    done = run(capsys, "report", plain, made[0])
    assert done.code == 5 and "--set", "approximate" in done.err


@pytest.mark.parametrize(
    ("asked", "reported"),
    [
        ({"threshold": "0.3"}, "pass 0.2999267578125 or 0.300048828125"),
        ({"truth": "site", "score": None, "no_scores": True, "pred": "y_true"}, "there are no scores"),
        ({"truth": "kind", "pred": "kind", "no_scores": True}, "there are no scores"),
    ],
)
def test_what_bins_cannot_tell_is_refused(files: list[Path], asked: dict[str, Any], reported: str) -> None:
    rows = pq.read_table(files[0])
    pq.write_table(rows.append_column("kind", pa.array(list("abc") * 1000)), files[0])
    with pytest.raises(UsageError) as caught:
        er.evaluate_files(files[0], approximate=True, **asked, **FEW)
    assert reported in f"{caught.value.message} {caught.value.fix}"


def test_rows_in_memory_are_not_put_into_bins(files: list[Path]) -> None:
    with pytest.raises(UsageError, match="only a stream or Spark counts"):
        er.evaluate_file(files[0], approximate=True)
    with pytest.raises(UsageError, match="only a stream or Spark counts"):
        er.evaluate(pd.read_parquet(files[0]), approximate=True)

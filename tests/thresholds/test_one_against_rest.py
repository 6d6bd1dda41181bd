"""Bounds of labels and classes: slow choices by hand, and simulations of what is promised."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import evalreport as er
from evalreport.core.errors import DataError, UsageError
from evalreport.data.labels import Multiclass, Multilabel
from evalreport.data.predictions import Predictions, predictions
from evalreport.data.scores import Probabilities
from evalreport.evaluation.evaluation import encode_choice
from evalreport.intervals.interval_settings import Sampling
from evalreport.thresholds.best_threshold import Cutoff, Optimum
from evalreport.thresholds.bounds_on_new_rows import find_constraint_threshold
from evalreport.thresholds.class_thresholds import _against_rest, part_bounds, part_threshold
from evalreport.thresholds.cross_fitting import answers
from evalreport.thresholds.objectives import Objective
from evalreport.thresholds.resampled_thresholds import units_of
from evalreport.thresholds.sweep import Sweep
from evalreport.workflow.evaluate import decide_rows, table_of
from tests.coverage.settings import Setting

LABELS = Setting("multilabel", "labels", 300, 0.2, 5)
CLASSES = Setting("multiclass", "even", 300, 0.0, 3)


def drawn(setting: Setting, seed: int, n: int | None = None) -> Predictions:
    return setting.draw(np.random.default_rng(seed), n)


def values(rows: Predictions) -> Any:
    return rows.scores.values  # type: ignore[union-attr]


def test_each_label_has_the_threshold_of_a_slow_loop() -> None:
    rows = drawn(LABELS, 1)
    for bound in part_bounds("recall>=0.9", rows.space):
        assert bound.label is not None
        scores, truth = values(rows)[:, bound.label], rows.y_true[:, bound.label].astype(bool)
        best = max(
            (truth[scores >= t].mean(), t) for t in scores if (scores >= t)[truth].mean() >= 0.9 - 1e-12
        )
        found = part_threshold(rows, bound, sampling=Sampling(resamples=100, constraint_confidence=0.95))
        assert isinstance(found, Optimum) and found.objective == f"recall[label {bound.label}]>=0.9"
        assert found.threshold == best[1] and found.apparent == pytest.approx(best[0])
        assert found.at_confidence is not None and found.at_confidence.method == "exact binomial limit"


def test_one_threshold_for_all_counts_all_decisions_and_whole_examples() -> None:
    rows = drawn(LABELS, 2)
    (bound,) = part_bounds("recall_micro >= 80 %", rows.space)
    found = part_threshold(rows, bound, sampling=Sampling(resamples=100, constraint_confidence=0.95))
    assert isinstance(found, Optimum) and found.constraint is not None and found.at_confidence is not None
    flagged, truth = values(rows) >= found.threshold, rows.y_true.astype(bool)
    assert (
        found.constraint.in_sample == pytest.approx(flagged[truth].mean())
        and found.constraint.in_sample >= 0.8
    )
    assert (found.metric, found.constraint.metric) == ("precision_micro", "recall_micro")
    assert found.at_confidence.costs is not None and found.at_confidence.costs.metric == "precision_micro"
    assert found.at_confidence.threshold is not None and found.at_confidence.threshold < found.threshold
    positives = truth.sum(axis=1)
    fewest = positives.sum() ** 2 / (positives**2).sum()  # whole examples, by Kish
    few = part_threshold(
        rows, *part_bounds("recall_micro>=0.995", rows.space), sampling=Sampling(constraint_confidence=0.95)
    )
    assert isinstance(few, Optimum) and few.at_confidence is not None
    words = r"cannot be held with 95% confidence: (\d+) positives are too few, it needs 598"
    counted = re.fullmatch(words, few.at_confidence.reason or "")
    assert counted and int(fewest) <= int(counted[1]) < positives.sum()  # examples are clusters of decisions


def micro_precision(rows: Predictions, at: float) -> float:
    return float(rows.y_true[values(rows) >= at].mean())


def micro_recall(rows: Predictions, at: float) -> float:
    return float((values(rows) >= at)[rows.y_true.astype(bool)].mean())


def answered(rows: Predictions, at: float) -> float:
    sure = values(rows).max(axis=1) >= at
    return float((values(rows).argmax(axis=1) == rows.y_true)[sure].mean())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "objective", "truth", "bound"),
    [
        (LABELS, "recall>=0.8", micro_recall, 0.8),
        (LABELS, "precision>=0.7", micro_precision, 0.7),
        (CLASSES, "precision>=0.95", answered, 0.95),
    ],
    ids=["recall_micro", "precision_micro", "accuracy"],
)
def test_what_is_held_holds_in_the_population(
    setting: Setting, objective: str, truth: Any, bound: float
) -> None:
    """Of 200 samples at most 5 % break it, give or take their own error; most of them can hold it."""
    goal, sampling = Objective.parse(objective), Sampling(resamples=200, constraint_confidence=0.95)
    population, kept, found = drawn(setting, 99, 40_000), [], 0
    for seed in range(200):
        whole = drawn(setting, seed)
        rows = answers(whole) if setting.task == "multiclass" else _against_rest(whole, None)
        assert isinstance(rows, Predictions)
        sweep = Sweep.from_table(table_of(rows))
        best = sweep.best(goal)
        assert isinstance(best, Optimum)
        hold = find_constraint_threshold(sweep, units_of(sweep, rows, None), goal, best, sampling)
        assert hold is not None
        found += hold.threshold is not None
        kept.append(hold.threshold is None or truth(population, hold.threshold) >= bound)
    assert np.mean(kept) >= 0.95 - 2.6 * np.sqrt(0.95 * 0.05 / 200)
    assert found >= 150


def test_a_cut_off_is_held_and_kept_in_the_json() -> None:
    rows = drawn(CLASSES, 3, 2000)
    ev = er.evaluate(rows.y_true, scores=er.Probabilities(values(rows)))
    found = er.sweep(ev, ["accuracy>=0.97", "recall[1]>=0.9"], constraint_confidence=0.95)
    cut, one = found["accuracy>=0.97"], found["recall[1]>=0.9"]
    assert isinstance(cut, Cutoff) and cut.at_confidence is not None and cut.at_confidence.costs is not None
    assert cut.at_confidence.threshold is not None and cut.at_confidence.threshold > cut.threshold
    assert (cut.at_confidence.costs.metric, cut.at_confidence.costs.instead_of) == (
        "coverage",
        cut.coverage,
    )
    assert encode_choice(cut)["at_confidence"]["threshold"] == cut.at_confidence.threshold
    assert (
        isinstance(one, Optimum) and one.at_confidence is not None and one.at_confidence.threshold is not None
    )
    recall = (values(rows)[:, 1] >= one.at_confidence.threshold)[rows.y_true == 1].mean()
    assert recall > 0.9
    page = er.to_html(found)
    assert "Met with 95% confidence" in page and "Recall (sensitivity) of 1 ≥ 0.9" in page


def test_a_report_is_decided_by_thresholds_that_hold() -> None:
    rows = drawn(LABELS, 4, 2000)
    plain, sure = (
        decide_rows(rows, "recall>=0.8", None, Sampling(resamples=100, constraint_confidence=hold)).rows
        for hold in (None, 0.95)
    )
    assert plain.threshold is not None and sure.threshold is not None
    assert np.all(np.array(sure.threshold.value) < np.array(plain.threshold.value))
    common = decide_rows(rows, "recall_micro>=0.8", None, Sampling(resamples=100)).rows.threshold
    assert common is not None and len(set(common.value)) == 1  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"recall\[label 0\]>=0.999 cannot be held with 95% confidence"):
        decide_rows(rows, "recall>=0.999", None, Sampling(resamples=100, constraint_confidence=0.95))
    with pytest.raises(UsageError, match="applies to one label"):
        decide_rows(rows, "recall[label 1]>=0.8", None, Sampling())


@pytest.mark.parametrize(
    ("text", "reported"),
    [("recall_macro>=0.9", "is an average"), ("recall[x]>=0.9", "no label 'x'"), ("recal>=0.9", "recal")],
)
def test_what_is_no_bound_of_a_label_is_refused(text: str, reported: str) -> None:
    with pytest.raises(UsageError, match=reported):
        part_bounds(text, Multilabel("ab"))


def test_nothing_to_hold_is_said() -> None:
    scores = Probabilities([[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7], [0.4, 0.3, 0.3]])
    rows = predictions(Multiclass("abc"), list("abca"), scores=scores)
    with pytest.raises(UsageError, match="there is no constraint"):
        decide_rows(rows, None, None, Sampling(constraint_confidence=0.95))

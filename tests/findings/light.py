"""Evaluations that hold all that findings read and little else: a thousand of them in a test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from evalreport.core.result import Undefined
from evalreport.curves.binary import BinaryCurves
from evalreport.curves.class_curves import MultilabelCurves, label_sweep
from evalreport.curves.curve import Curve, numbers, reliability
from evalreport.data.labels import Binary
from evalreport.data.predictions import Predictions
from evalreport.evaluation.data_checks import row_facts
from evalreport.evaluation.evaluation import Curves, Evaluation, curves
from evalreport.evaluation.parts import ClassResult, class_results
from evalreport.evaluation.slices import judged_slices, slice_facts
from evalreport.intervals.estimates import estimates
from evalreport.intervals.interval_settings import Sampling
from evalreport.intervals.multiclass import class_estimates
from evalreport.metrics.catalogue import PER_CLASS, catalogue, no_skill
from evalreport.metrics.record import Metric
from evalreport.statistics.class_scores import ClassScores
from evalreport.statistics.confusion import Counts
from evalreport.statistics.score_table import ScoreTable
from evalreport.statistics.summary import Summary, summarise
from evalreport.thresholds.cross_fitting import evaluate_thresholds
from evalreport.thresholds.objectives import Objective
from evalreport.thresholds.sweep import Sweep

FEW = Sampling(resamples=100)
READ = frozenset(
    (
        *(
            "recall",
            "specificity",
            "balanced_accuracy",
            "f1",
            "mcc",
            "prevalence",
            "roc_auc",
            "roc_auc_ovr_macro",
            "roc_auc_macro",
        ),
        *("accuracy", "accuracy_parsed", "f1_micro", "f1_macro", "f1_macro_supported", "f1_macro_declared"),
        *("subset_accuracy", "label_accuracy"),
        *("cardinality_true", "empty_prediction_rate"),
    )
)
"""Metrics that some rule reads."""
SOUGHT = (Objective("f1"), Objective("mcc"))
LEFT_OUT = Undefined("left out")


def light(p: Predictions) -> Evaluation:
    """What `evaluate_predictions` returns, as far as findings read it."""
    summary = summarise(p)
    metrics = [m for m in catalogue(p.space, text=p.parsed is not None) if m.name in READ]
    return Evaluation(
        space=p.space,
        rows=len(p),
        weight=summary.weight,
        sampling=FEW,
        metrics=estimates(metrics, summary, p, FEW),
        score_kind=summary.score_kind,
        threshold=p.threshold,
        weighted=p.weighted,
        clusters=None if p.groups is None else len(p.groups.values),
        no_skill=_no_skill(metrics, summary),
        classes=_classes(summary, p),
        confusion=summary.counts if isinstance(summary.counts, Counts) else None,
        curves=_curves(summary),
        sweep=_sweep(summary, p),
        parsing=None if p.parsed is None else p.parsed.report,
        slices=judged_slices(slice_facts(p), FEW, p),
        data_checks=row_facts(p),
        notes=p.notes,
    )


def counted(p: Predictions) -> Evaluation:
    """The same without values and intervals: what rules of counts and of reliability diagrams read."""
    summary = summarise(p)
    return Evaluation(
        space=p.space,
        rows=len(p),
        weight=summary.weight,
        sampling=FEW,
        metrics={},
        score_kind=summary.score_kind,
        confusion=summary.counts if isinstance(summary.counts, Counts) else None,
        curves=_curves(summary),
    )


def _no_skill(metrics: Sequence[Metric], summary: Summary) -> dict[str, float]:
    levels = {metric.name: no_skill(metric, summary) for metric in metrics}
    return {name: level for name, level in levels.items() if level is not None}


def _classes(summary: Summary, p: Predictions) -> tuple[ClassResult, ...]:
    if isinstance(p.space, Binary):
        return ()
    return class_results(summary, class_estimates(PER_CLASS, summary, p, FEW))


def _curves(summary: Summary) -> Curves | Undefined:
    """Reliability diagrams, and a line of recall and precision that is not thinned."""
    if summary.score_kind == "decision":
        return LEFT_OUT
    match summary.scores:
        case ScoreTable():
            empty: dict[str, Any] = dict.fromkeys((f.name for f in fields(BinaryCurves)), LEFT_OUT)
            return BinaryCurves(**{**empty, "reliability": reliability(summary.scores, "count")})
        case ClassScores() if summary.scores.truth.ndim == 2:
            table = summary.scores.pooled_table()
            recall, precision = table.tp / max(table.positives, 1), table.tp / (table.tp + table.fp)
            pr = Curve(numbers(recall), numbers(precision), numbers(table.scores), steps=True)
            sweep = label_sweep(summary.scores, np.linspace(0, 1, 11))
            return MultilabelCurves(pr, reliability(table, "width"), LEFT_OUT, LEFT_OUT, sweep)
        case _:
            return curves(summary)


def _sweep(summary: Summary, p: Predictions) -> Sweep | None:
    if not isinstance(summary.scores, ScoreTable):
        return None
    return evaluate_thresholds(summary.scores, p, objectives=SOUGHT, sampling=FEW)

"""`evaluate`: predictions in, everything known of them out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from evalreport.curves import BinaryCurves, Curves, curves
from evalreport.engines.memory import summarise
from evalreport.evaluation.classes import class_results
from evalreport.evaluation.disparities import disparities
from evalreport.evaluation.model import Evaluation
from evalreport.evaluation.row_facts import row_facts
from evalreport.evaluation.rows import one_label as label_rows
from evalreport.evaluation.rows import pair_texts, swaps, worst_mistakes
from evalreport.evaluation.slices import slice_results
from evalreport.facts import Counts, ScoreTable, Summary
from evalreport.intervals import Sampling, class_estimates, estimates
from evalreport.intervals.folds import Folds, folded, told
from evalreport.intervals.sampling import NOT_ASKED
from evalreport.labels import Binary, Multiclass, Multilabel
from evalreport.metrics.catalogue import BINARY, PER_CLASS, catalogue, find, no_skill, one_label
from evalreport.metrics.record import Metric
from evalreport.predictions import Predictions
from evalreport.scores import NoScores
from evalreport.thresholds.cross_fitting import judged
from evalreport.thresholds.sweep import Sweep
from evalreport.thresholds.tuned import Tuned
from evalreport.values import Result, Undefined

DEFAULT = Sampling()
WHOLE_LIST = 200
"""Labels up to which each of a multilabel problem gets the whole binary list."""


def evaluate_predictions(
    p: Predictions,
    sampling: Sampling = DEFAULT,
    *,
    only: Sequence[str] = (),
    more: Sequence[str] = (),
    sweep: Sweep | None = None,
    tuned: Tuned | None = None,
) -> Evaluation:
    """Return everything known of the predictions.

    Parameters
    ----------
    p : Predictions
    sampling : Sampling
        Level, number of resamples and seed of the intervals; or that there are none.
    only : sequence of str
        Names of metrics; all of the catalogue when empty.
    more : sequence of str
        Names of metrics beside these.
    sweep : Sweep, optional
        The thresholds of a binary problem, when they were judged already.
    tuned : Tuned, optional
        How the thresholds of a multilabel problem were chosen.

    Examples
    --------
    >>> from evalreport.predictions import predictions
    >>> ev = evaluate_predictions(predictions(Multiclass(["a", "b"]), ["a", "b", "b"], ["a", "b", "a"]))
    >>> round(ev["accuracy"].value, 3), ev.classes[1].state
    (0.667, 'ok')
    """
    whole, p = p, replace(p, folds=None)
    summary, facts = summarise(p), row_facts(p)
    slices = slice_results(p, sampling)
    text = p.parsed is not None
    chosen = catalogue(p.space, text=text)
    if only:
        chosen = tuple(find(name, p.space.task) for name in only)
    chosen += tuple(find(name, p.space.task) for name in more)
    found, folds = estimates(chosen, summary, p, sampling), None
    if whole.folds is not None:
        found, folds = folded(chosen, whole, found, sampling)
    return Evaluation(
        space=p.space,
        rows=len(p),
        weight=summary.weight,
        sampling=sampling,
        metrics=found,
        folds=folds,
        score_kind=summary.score_kind,
        threshold=p.threshold,
        weighted=p.weighted,
        clusters=None if p.groups is None else len(p.groups.values),
        truth_digest=p.truth_digest,
        no_skill=_no_skill(chosen, summary),
        classes=class_results(summary, _class_values(summary, p, sampling)),
        confusion=summary.counts if isinstance(summary.counts, Counts) else None,
        curves=_curves(summary, sampling),
        sweep=_sweep(summary, p, sampling) if sweep is None else sweep.thin(),
        tuned=tuned,
        parsing=None if p.parsed is None else p.parsed.summary(),
        slices=slices,
        disparities=disparities(p, slices, sampling),
        mistakes=worst_mistakes(p),
        swaps=swaps(p),
        pair_texts=pair_texts(p, summary.counts) if isinstance(summary.counts, Counts) else (),
        facts=facts,
        notes=(*_of_folds(whole, folds), *_left_out(p, facts), *(() if sampling.intervals else (NOT_ASKED,))),
        predictions=whole,
    )


def _of_folds(p: Predictions, folds: Folds | None) -> tuple[str, ...]:
    return p.notes if folds is None else (*p.notes, *told(p, folds))


def _left_out(p: Predictions, facts: Mapping[str, float]) -> tuple[str, ...]:
    """How many classes averages of areas and of calibration errors are not over."""
    absent = int(facts.get("absent_labels", 0))
    if not absent or isinstance(p.scores, NoScores):
        return ()
    some = f"{absent} of {len(p.space)} labels {'has' if absent == 1 else 'have'} no example"
    return (
        f"{some}: averages of areas and of calibration errors leave {'it' if absent == 1 else 'them'} out",
    )


def _class_values(summary: Summary, p: Predictions, sampling: Sampling) -> Iterable[Mapping[str, Result]]:
    match p.space:
        case Binary():
            return ()
        case Multiclass():
            return class_estimates(PER_CLASS, summary, p, sampling)
        case Multilabel() if len(p.space) > WHOLE_LIST:
            return class_estimates(PER_CLASS, summary, p, sampling)
        case Multilabel():
            rows = range(len(p.space))
            return (estimates(BINARY, one_label(summary, k), label_rows(p, k), sampling) for k in rows)


def _no_skill(metrics: Sequence[Metric], summary: Summary) -> dict[str, float]:
    levels = {metric.name: no_skill(metric, summary) for metric in metrics}
    return {name: level for name, level in levels.items() if level is not None}


def _curves(summary: Summary, sampling: Sampling) -> Curves | Undefined:
    found = curves(summary, sampling.level)
    if sampling.intervals or not isinstance(found, BinaryCurves):
        return found
    none = Undefined(NOT_ASKED, summary.weight)
    return replace(found, roc_band=none, pr_band=none, smooth_band=none)


def _sweep(summary: Summary, p: Predictions, sampling: Sampling) -> Sweep | None:
    if not (isinstance(summary.space, Binary) and isinstance(summary.scores, ScoreTable)):
        return None
    if not sampling.intervals:
        return Sweep.of(summary.scores).with_optima().thin()
    return judged(summary.scores, p, sampling=sampling).thin()

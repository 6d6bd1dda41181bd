"""What an engine has seen of predictions: all that an evaluation is made of when the rows are gone.

`evaluate`: predictions in, everything known of them out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from evalreport.core.lazy import LazyMapping
from evalreport.core.result import Result, Undefined
from evalreport.curves.binary import BinaryCurves
from evalreport.data.labels import Binary, LabelSpace, Multiclass, Multilabel, Task
from evalreport.data.predictions import Predictions
from evalreport.evaluation.data_checks import row_facts
from evalreport.evaluation.evaluation import Curves, Evaluation, curves
from evalreport.evaluation.parts import (
    Mistake,
    Swap,
    class_results,
    pair_texts,
    row_counts,
    swaps,
    worst_mistakes,
)
from evalreport.evaluation.parts import one_label as label_rows
from evalreport.evaluation.slices import SliceFacts, disparities, judged_slices, slice_facts
from evalreport.intervals.estimates import describe_miscoverage, estimates
from evalreport.intervals.folds import Folds, evaluate_folds, fold_notes
from evalreport.intervals.interval_settings import NOT_ASKED, Sampling, by_rows
from evalreport.intervals.multiclass import class_estimates
from evalreport.metrics.catalogue import (
    BINARY,
    PER_CLASS,
    catalogue,
    describe_own,
    find,
    no_skill,
    one_label,
)
from evalreport.metrics.own import direction_of
from evalreport.metrics.record import Metric, view
from evalreport.statistics.class_scores import ClassScores
from evalreport.statistics.confusion import Counts
from evalreport.statistics.score_table import ScoreTable
from evalreport.statistics.summary import Summary, summarise
from evalreport.thresholds.best_threshold import Optimum, Tuned
from evalreport.thresholds.bounds_on_new_rows import SURE, find_limit_place
from evalreport.thresholds.cross_fitting import evaluate_thresholds
from evalreport.thresholds.objectives import Constraint
from evalreport.thresholds.sweep import Sweep


@dataclass(frozen=True, eq=False)
class Observed:
    """The facts of predictions, and the few rows that a report shows.

    Parameters
    ----------
    summary : Summary
    facts : mapping from name to float
        As of `row_facts`.
    slices : mapping from a column's name to a mapping from a value to `Summary`
    mistakes, swaps, pair_texts, truth_digest, notes
        As of `Evaluation`.
    """

    summary: Summary
    data_checks: Mapping[str, float] = field(default_factory=dict)
    slices: SliceFacts = field(default_factory=dict)
    mistakes: tuple[Mistake, ...] = ()
    swaps: tuple[Swap, ...] = ()
    pair_texts: tuple[tuple[int, int, tuple[str, ...]], ...] = ()
    label_digest: str = ""
    notes: tuple[str, ...] = ()


def observe_predictions(p: Predictions, summary: Summary) -> Observed:
    """Return what there is to see in predictions held in memory, whose facts are known.

    Examples
    --------
    >>> from evalreport.statistics.summary import summarise
    >>> from evalreport.data.labels import Binary
    >>> from evalreport.data.predictions import predictions
    >>> p = predictions(Binary(0, 1), [0, 1], [0, 0])
    >>> observe_predictions(p, summarise(p)).mistakes[0].row
    1
    """
    return Observed(
        summary=summary,
        data_checks=row_facts(p, summary.scores if isinstance(summary.scores, ScoreTable) else None),
        slices=slice_facts(p),
        mistakes=worst_mistakes(p),
        swaps=swaps(p),
        pair_texts=pair_texts(p, summary.counts) if isinstance(summary.counts, Counts) else (),
        label_digest=p.truth_digest,
        notes=p.notes,
    )


DEFAULT = Sampling()
WHOLE_LIST = 200
"""Labels up to which each of a multilabel problem gets the whole binary list."""
BESIDE = tuple(metric for metric in BINARY if metric not in PER_CLASS)
"""Metrics of a label that no page shows: four fifths of the time of fifty labels."""


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
    >>> from evalreport.data.predictions import predictions
    >>> ev = evaluate_predictions(predictions(Multiclass(["a", "b"]), ["a", "b", "b"], ["a", "b", "a"]))
    >>> round(ev["accuracy"].value, 3), ev.classes[1].state
    (0.667, 'ok')
    """
    whole, p = p, replace(p, folds=None)
    summary = summarise(p)
    own = {name: direction_of(function) for name, function in p.own_metrics.items()}
    describe_own(own)
    chosen = _select_metrics(p.space, only, (*more, *own), text=p.parsed is not None)
    found: Mapping[str, Result] = _values(chosen, summary, p, sampling)
    folds: Folds | None = None
    if whole.folds is not None:
        found, folds = evaluate_folds(chosen, whole, found, sampling)
    known: dict[str, Any] = {
        "folds": folds,
        "weighted": p.weighted,
        "clusters": None if p.groups is None else len(p.groups.values),
        "tuned": tuned,
        "parsing": None if p.parsed is None else p.parsed.report,
        "own_metrics": own,
        "predictions": whole,
    }

    def complete_evaluation() -> Evaluation:
        ev = evaluate_observed(
            observe_predictions(p, summary), sampling, chosen, found=found, sweep=sweep, p=p
        )
        notes = (*_of_folds(whole, folds), *ev.notes[len(p.notes) :])
        return replace(ev, row_counts=row_counts(p), notes=notes, **known)

    if sampling.intervals:
        return complete_evaluation()
    return Evaluation.completed_later(complete_evaluation, **_known_fields(summary, sampling, found), **known)


def evaluate_facts(
    seen: Observed,
    sampling: Sampling = DEFAULT,
    *,
    only: Sequence[str] = (),
    more: Sequence[str] = (),
    sweep: Sweep | None = None,
    tuned: Tuned | None = None,
) -> Evaluation:
    """Return everything known of predictions whose rows are not at hand; parameters as above.

    Examples
    --------
    >>> from evalreport.data.predictions import predictions
    >>> p = predictions(Multiclass(["a", "b"]), ["a", "b", "b"], ["a", "b", "a"])
    >>> round(evaluate_facts(observe_predictions(p, summarise(p)))["accuracy"].value, 3)
    0.667
    """
    chosen = _select_metrics(seen.summary.space, only, more, text=False)
    found = estimates(chosen, seen.summary, None, sampling)
    return replace(evaluate_observed(seen, sampling, chosen, found=found, sweep=sweep), tuned=tuned)


def evaluate_observed(
    seen: Observed,
    sampling: Sampling,
    chosen: Sequence[Metric],
    *,
    found: Mapping[str, Result],
    sweep: Sweep | None = None,
    p: Predictions | None = None,
) -> Evaluation:
    """Return the evaluation that facts make, with the values of its metrics given."""
    summary = seen.summary
    slices = judged_slices(seen.slices, sampling, p)
    return Evaluation(
        **_known_fields(summary, sampling, found),
        label_digest=seen.label_digest,
        no_skill=_no_skill(chosen, summary),
        classes=class_results(summary, _class_values(summary, p, sampling)),
        curves=_curves(summary, sampling),
        sweep=_sweep(summary, p, sampling, sweep),
        slices=slices,
        disparities=disparities(seen.slices, slices, sampling, p),
        mistakes=seen.mistakes,
        swaps=seen.swaps,
        pair_texts=seen.pair_texts,
        off_coverage=_off_coverage(summary.space.task, found),
        data_checks=seen.data_checks,
        notes=(*seen.notes, *(() if sampling.intervals else (NOT_ASKED,))),
    )


def _values(
    metrics: Sequence[Metric], summary: Summary, p: Predictions, sampling: Sampling
) -> Mapping[str, Result]:
    if sampling.intervals:
        return estimates(metrics, summary, p, sampling)
    named = {metric.name: metric for metric in metrics}
    return LazyMapping(named, lambda name: estimates([named[name]], summary, p, sampling)[name])


def _known_fields(summary: Summary, sampling: Sampling, found: Mapping[str, Result]) -> dict[str, Any]:
    """The fields of an evaluation that are there with its metrics."""
    return {
        "space": summary.space,
        "rows": summary.rows,
        "weight": summary.weight,
        "sampling": sampling,
        "metrics": found,
        "score_kind": summary.score_kind,
        "threshold": summary.threshold,
        "confusion": summary.counts if isinstance(summary.counts, Counts) else None,
    }


def _select_metrics(
    space: LabelSpace, only: Sequence[str], more: Sequence[str], *, text: bool
) -> tuple[Metric, ...]:
    names = tuple(find(name, space.task) for name in only)
    return (names or catalogue(space, text=text)) + tuple(find(name, space.task) for name in more)


def _off_coverage(task: Task, found: Mapping[str, Result]) -> dict[str, str]:
    sentences = {name: describe_miscoverage(task, name, result) for name, result in found.items()}
    return {name: text for name, text in sentences.items() if text}


def _of_folds(p: Predictions, folds: Folds | None) -> tuple[str, ...]:
    return p.notes if folds is None else (*p.notes, *fold_notes(p, folds))


def _class_values(
    summary: Summary, p: Predictions | None, sampling: Sampling
) -> Iterable[Mapping[str, Result]]:
    match summary.space:
        case Binary():
            return ()
        case Multiclass():
            return class_estimates(PER_CLASS, summary, p, sampling)
        case Multilabel() if len(summary.space) > WHOLE_LIST:
            return class_estimates(PER_CLASS, summary, p, sampling)
        case Multilabel():
            rows = p if p is not None and by_rows(p) else None  # others are not looked at
            if rows is None and isinstance(summary.scores, ClassScores):
                return (
                    _label_values(summary, summary.scores, k, sampling) for k in range(len(summary.space))
                )
            return (
                estimates(
                    BINARY, one_label(summary, k), None if rows is None else label_rows(rows, k), sampling
                )
                for k in range(len(summary.space))
            )


def _label_values(summary: Summary, scores: ClassScores, k: int, sampling: Sampling) -> Mapping[str, Result]:
    """The whole list of a label: what pages show of it, and the others when one of them is first read.

    For these the sorted scores are kept, as large as the rows that the predictions hold, and no table but for
    its sums.
    """
    one = one_label(summary, k)
    shown, bare = estimates(PER_CLASS, one, None, sampling), replace(one, scores=None)
    table = view(one, "scores").remake_with_sums(scores.maker(k))

    @cache
    def hidden_estimates() -> dict[str, Result]:
        return estimates(BESIDE, replace(bare, scores=table()), None, sampling)

    return LazyMapping(
        (metric.name for metric in BINARY),
        lambda name: shown[name] if name in shown else hidden_estimates()[name],
    )


def _no_skill(metrics: Sequence[Metric], summary: Summary) -> dict[str, float]:
    levels = {metric.name: no_skill(metric, summary) for metric in metrics}
    return {name: level for name, level in levels.items() if level is not None}


def _curves(summary: Summary, sampling: Sampling) -> Curves | Undefined:
    found = curves(summary, sampling.level)
    if sampling.intervals or not isinstance(found, BinaryCurves):
        return found
    none = Undefined(NOT_ASKED, summary.weight)
    return replace(found, roc_band=none, pr_band=none, smooth_band=none)


def _sweep(summary: Summary, p: Predictions | None, sampling: Sampling, known: Sweep | None) -> Sweep | None:
    """The sweep for the page, with the thresholds that keep the bounds of its optima surely."""
    if not (isinstance(summary.space, Binary) and isinstance(summary.scores, ScoreTable)):
        return known
    if known is not None:
        sweep = known
    elif sampling.intervals:
        sweep = evaluate_thresholds(summary.scores, p, sampling=sampling)
    else:
        sweep = Sweep.from_table(summary.scores).with_optima()
    bounds = [one.constraint for one in sweep.optima.values() if isinstance(one, Optimum) and one.constraint]
    sure = (find_limit_place(sweep, Constraint(b.metric, b.operator, b.number), SURE) for b in bounds)
    return sweep.thin(keep=[place for place in sure if place is not None], corners=summary.scores.corners)

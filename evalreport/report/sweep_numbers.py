"""What MLflow is told of a sweep: chosen thresholds, or the best trial, and what they reach."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from itertools import islice
from typing import Any

import numpy as np

from evalreport.curves import MulticlassCurves
from evalreport.curves.series import Curve
from evalreport.evaluation.threshold_selection import ThresholdSelection
from evalreport.report.contents import MOST_CLASSES
from evalreport.report.grids import PERCENT, at, series_of
from evalreport.report.names import SWEEP_TAGS, keyed, metric_keys, objective_keys
from evalreport.report.payload import LONGEST_TAG, Series
from evalreport.study.judged import Study
from evalreport.study.values import is_number
from evalreport.thresholds.optimum import Optimum
from evalreport.thresholds.records import Cutoff, Tuned
from evalreport.thresholds.sweep import Sweep
from evalreport.values import Estimate, Undefined

Made = Optimum | Cutoff | Tuned


def chosen_metrics(chosen: ThresholdSelection, prefix: str) -> dict[str, float]:
    """Return the chosen thresholds, their limits, and what they reach here and elsewhere.

    Parameters
    ----------
    chosen : ThresholdSelection
    prefix : str
    """
    names = objective_keys(chosen.found, f"{prefix}sweep/")
    found: dict[str, float | None] = {}
    for name, best in chosen.optima.items():
        found |= _of_threshold(names[name], best.threshold, best.low, best.high)
        found[f"{names[name]}_apparent"] = best.apparent
    for name, cut in chosen.cutoffs.items():
        found |= _of_threshold(names[name], cut.threshold, cut.low, cut.high)
        found[f"{names[name]}_coverage"] = cut.coverage
    for name, tuned in chosen.tuned.items():
        found[f"{names[name]}_apparent"] = tuned.apparent
        found |= _of_labels(chosen, tuned, f"{names[name]}/")
    whole: Mapping[str, Made] = {**chosen.optima, **chosen.cutoffs, **chosen.tuned}
    for name, made in whole.items():
        value = None if made.out_of_sample is None else made.out_of_sample.value
        if isinstance(value, Estimate):
            found[f"{names[name]}_honest"] = value.value
            found[f"{names[name]}_honest_low"] = value.low
            found[f"{names[name]}_honest_high"] = value.high
    return {key: value for key, value in found.items() if value is not None and math.isfinite(value)}


def _of_threshold(
    start: str, threshold: float, low: float | None, high: float | None
) -> dict[str, float | None]:
    key = f"{start}_threshold"
    return {key: threshold, f"{key}_low": low, f"{key}_high": high}


def _of_labels(chosen: ThresholdSelection, tuned: Tuned, start: str) -> dict[str, float]:
    """The number of each label, of those with most examples."""
    largest = sorted(chosen.evaluation.classes, key=lambda entry: -entry.support)[:MOST_CLASSES]
    return keyed({str(entry.label): tuned.values[str(entry.label)] for entry in largest}, start)


def chosen_series(chosen: ThresholdSelection, prefix: str) -> dict[str, Series]:
    """Return the value of each objective by threshold and by share flagged, on integer percents.

    Parameters
    ----------
    chosen : ThresholdSelection
    prefix : str
    """
    names = objective_keys(chosen.found)
    found: dict[str, Series] = {}
    sweep = chosen.whole
    for name, objective in chosen.objectives.items() if sweep is not None else ():
        assert sweep is not None  # noqa: S101  asked in the line above
        at_share = sweep.at(_thresholds_by_share(sweep))
        found[f"{prefix}sweep/{names[name]}_by_flagged_pct"] = series_of(objective.value(at_share))
        if chosen.evaluation.score_kind == "probability":
            at_threshold = sweep.at(PERCENT / 100)
            found[f"{prefix}sweep/{names[name]}_by_threshold_pct"] = series_of(objective.value(at_threshold))
    for name, series in chosen.common.items():
        found[f"{prefix}sweep/{names[name]}_by_common_threshold_pct"] = series
    curves = chosen.evaluation.curves
    if chosen.cutoffs and isinstance(curves, MulticlassCurves) and isinstance(curves.coverage, Curve):
        found[f"{prefix}sweep/accuracy_by_coverage_pct"] = series_of(at(curves.coverage, PERCENT / 100))
    return {key: series for key, series in found.items() if series}


def _thresholds_by_share(sweep: Sweep) -> Any:
    """The lowest threshold that flags no more than each percent of the rows."""
    flagged = (sweep.tp + sweep.fp) / (sweep.positives + sweep.negatives)
    places = np.searchsorted(-flagged, -PERCENT / 100 - 1e-12, side="left")
    return sweep.thresholds[np.minimum(places, len(sweep) - 1)]


def chosen_tags(chosen: ThresholdSelection) -> dict[str, str]:
    """Return each chosen threshold as text, with how it was chosen; of several labels, all as JSON.

    Parameters
    ----------
    chosen : ThresholdSelection
    """
    names = objective_keys(chosen.found, f"{SWEEP_TAGS}threshold/")
    how = "chosen on other rows" if chosen.tuned_on else "cross-fitted"
    single: Mapping[str, Optimum | Cutoff] = {**chosen.optima, **chosen.cutoffs}
    tags = {names[name]: f"{best.threshold:.6g} ({how})" for name, best in single.items()}
    for name, tuned in chosen.tuned.items():
        shown = {label: at if math.isfinite(at) else None for label, at in tuned.values.items()}
        tags[names[name]] = json.dumps(shown, ensure_ascii=False)
    return {key: text for key, text in tags.items() if len(text) <= LONGEST_TAG}


MOST_PARAMS = 50
"""Parameters of the best trial that get a tag of their own; all are in `sweep.json`."""


def study_metrics(study: Study, prefix: str) -> dict[str, float]:
    """Return the best value of each objective, its luck, and the best trial's numbers.

    Parameters
    ----------
    study : Study
    prefix : str

    Examples
    --------
    >>> from evalreport.study import Trials
    >>> found = study_metrics(Study(Trials.from_records([{"value": 0.5}], objectives="f1")), "")
    >>> found["sweep/best/f1"], found["sweep/n_trials"]
    (0.5, 1.0)
    """
    trials, start = study.trials, f"{prefix}sweep/"
    goals = [goal.name for goal in trials.objectives]
    found = {f"{start}n_trials": float(len(trials)), f"{start}n_complete": float(len(trials.contenders))}
    if trials.counts["infeasible"]:
        found[f"{start}n_infeasible"] = float(trials.counts["infeasible"])
    found |= keyed({goal: trials.best(goal).values[at] for at, goal in enumerate(goals)}, f"{start}best/")
    ends = metric_keys(goals, "/") if study.several else {goals[0]: ""}
    for one in study.each:
        found |= _luck(one, start, ends[one.objective.name])
    if study.several:
        found[f"{start}n_front"] = float(len(trials.pareto()))
    drawn = study.best.params
    numbers = {name: float(str(value)) for name, value in drawn.items() if is_number(value)}
    return found | keyed(dict(islice(numbers.items(), MOST_PARAMS)), f"{start}best_param/")


def _luck(study: Study, start: str, end: str) -> dict[str, float]:
    """Of one objective: how lucky its best is, and what mattered for it."""
    found: dict[str, float] = {}
    if not isinstance(study.curse, Undefined):
        found |= {
            f"{start}optimism{end}": study.curse.optimism,
            f"{start}corrected{end}": study.curse.corrected,
            f"{start}n_tied{end}": float(len(study.curse.tied)),
        }
    if not isinstance(study.importance, Undefined):
        found |= keyed(dict(study.importance.shares[:MOST_PARAMS]), f"{start}importance{end}/")
    return found


def study_series(study: Study, prefix: str) -> dict[str, Series]:
    """Return the best value so far by percent of the trials, so that sweeps of any length overlay.

    Parameters
    ----------
    study : Study
    prefix : str

    Examples
    --------
    >>> from evalreport.study import Trials
    >>> rows = [{"value": 0.5}, {"value": 0.4}, {"value": 0.7}]
    >>> series = study_series(Study(Trials.from_records(rows, objectives="f1")), "")
    >>> dict(series["sweep/best_so_far_by_trials_pct/f1"])[100]
    0.7
    """
    names = [goal.name for goal in study.trials.objectives]
    keys = metric_keys(names, f"{prefix}sweep/best_so_far_by_trials_pct/")
    found: dict[str, Series] = {}
    for name, key in keys.items():
        course = study.trials.history(name)
        done = [course[max(math.ceil(share * len(course) / 100), 1) - 1].best for share in PERCENT.tolist()]
        found[key] = tuple((step, best) for step, best in enumerate(done) if best is not None)
    return found


def study_tags(study: Study) -> dict[str, str]:
    """Return the best trial and its parameters as text, whole and one by one.

    Parameters
    ----------
    study : Study
    """
    best = study.best
    params = {name: str(value) for name, value in islice(best.params.items(), MOST_PARAMS)}
    tags = {f"{SWEEP_TAGS}best_trial": str(best.number), **keyed(params, f"{SWEEP_TAGS}best/")}
    if study.several:
        tags[f"{SWEEP_TAGS}front"] = ", ".join(str(trial.number) for trial in study.trials.pareto())
    tags[f"{SWEEP_TAGS}best_params"] = json.dumps(dict(best.params), ensure_ascii=False)
    return {key: text for key, text in tags.items() if len(text) <= LONGEST_TAG}

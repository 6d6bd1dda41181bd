"""What MLflow is told of a sweep that others ran: the best values, their luck, the best parameters."""

from __future__ import annotations

import json
import math

from evalreport.report.grids import PERCENT
from evalreport.report.keys import metric_keys
from evalreport.report.names import SWEEP_TAGS
from evalreport.report.payload import LONGEST_TAG, Series
from evalreport.study.judged import Study
from evalreport.study.values import is_number
from evalreport.values import Undefined

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
    for at_goal, key in enumerate(metric_keys(goals, f"{start}best/").values()):
        found[key] = trials.best(goals[at_goal]).values[at_goal]
    ends = metric_keys(goals, "/") if study.several else {goals[0]: ""}
    for one in study.each:
        found |= _luck(one, start, ends[one.objective.name])
    if study.several:
        found[f"{start}n_front"] = float(len(trials.pareto()))
    drawn = study.best.params
    numbers = {name: float(str(value)) for name, value in drawn.items() if is_number(value)}
    keys = metric_keys(list(numbers)[:MOST_PARAMS], f"{start}best_param/")
    return found | {key: numbers[name] for name, key in keys.items()}


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
        shares = dict(study.importance.shares[:MOST_PARAMS])
        keys = metric_keys(shares, f"{start}importance{end}/")
        found |= {key: shares[name] for name, key in keys.items()}
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
    params = {name: str(value) for name, value in best.params.items()}
    keys = metric_keys(list(params)[:MOST_PARAMS], f"{SWEEP_TAGS}best/")
    tags = {f"{SWEEP_TAGS}best_trial": str(best.number)}
    tags |= {key: params[name] for name, key in keys.items()}
    if study.several:
        tags[f"{SWEEP_TAGS}front"] = ", ".join(str(trial.number) for trial in study.trials.pareto())
    tags[f"{SWEEP_TAGS}best_params"] = json.dumps(dict(best.params), ensure_ascii=False)
    return {key: text for key, text in tags.items() if len(text) <= LONGEST_TAG}

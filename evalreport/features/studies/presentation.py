"""A study as it is shown, written and logged: the best trial, and what it reaches."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, TypeAlias

from evalreport.core.result import Undefined
from evalreport.features.studies import page, page_results, page_space
from evalreport.features.studies.sentences import objective_section
from evalreport.features.studies.study import Study
from evalreport.page.csv_tables import PERCENT, Columns, as_csv
from evalreport.page.elements import Section
from evalreport.page.payload import (
    LONGEST_TAG,
    SWEEP_TAGS,
    TRIALS_TABLE,
    Series,
    metric_keys,
    with_metric_keys,
)
from evalreport.page.selection import SweepPresentation, finite
from evalreport.page.summary import MOST_ROWS, ResultSummary
from evalreport.thresholds.trial import is_number

Panel: TypeAlias = Callable[[Study], Section | None]
PANELS: tuple[Panel, ...] = (
    page.verdict_section,
    page.luck_section,
    page.history,
    page_results.front,
    page_space.importance,
    page_space.slices,
    page_space.parallel,
    page.timeline,
    page_results.table,
    page_results.provenance,
)
"""Panels of a sweep in the order of the page; one that does not apply returns None."""

EACH: tuple[Panel, ...] = (
    page.luck_section,
    page_space.importance,
    page_space.slices,
)
"""Those of them that each of several objectives has."""


def sections(study: Study) -> tuple[Section, ...]:
    """Return the sections of a study's page.

    Parameters
    ----------
    study : Study
    """
    made = []
    for panel in PANELS:
        for one in study.each if panel in EACH else (study,):
            section = panel(one)
            if section is not None:
                made.append(objective_section(one, section) if panel in EACH else section)
    return tuple(made)


class StudyPresentation(SweepPresentation[Study]):
    """The page of a study."""

    @property
    def title(self) -> str:
        """Title of the page."""
        of = self.of
        name = of.trials.study_name or of.provenance.run_name or "Sweep"
        return of.provenance.title or f"{name}: sweep of {of.objective.name}"

    @cached_property
    def headline(self) -> str:
        """The verdict in one sentence, plain text."""
        return page.headline(self.of).text

    def sections(self) -> Sequence[Section]:
        """Return the sections of the page, the verdict first."""
        return sections(self.of)

    def summary(self) -> ResultSummary:
        """Return the parameters of the best trial."""
        study = self.of
        best = study.best.params.items() if study.trials.contenders else ()
        rows = tuple((name, str(value)) for name, value in best)
        name = study.trials.study_name or study.provenance.run_name or "Sweep"
        about = f"{name}, {len(study.trials):,} trials, {study.objective.name}"
        return ResultSummary(self.headline, about, ("Parameter", "Best trial"), rows[:MOST_ROWS])

    @cached_property
    def figures(self) -> Mapping[str, bytes]:
        """The figures that apply, as PNG by file name."""
        from evalreport.features.studies.figures import study_figures

        return study_figures(self.of)

    def metrics(self) -> dict[str, float]:
        """Return every number that can be logged, by key."""
        return study_metrics(self.of, self.prefix)

    def headline_metrics(self) -> dict[str, float]:
        """Return the counts of trials, the best values and their correction, without parameters."""
        start = f"{self.prefix}sweep/"
        parts = tuple(f"{start}{name}" for name in ("best_param/", "importance"))
        return {key: value for key, value in self.metrics().items() if not key.startswith(parts)}

    def series(self) -> dict[str, Series]:
        """Return the curves that can be logged, on integer steps."""
        return study_series(self.of, self.prefix)

    def tags(self) -> dict[str, str]:
        """Return the verdict; with `log_all` the best trial and its parameters as well."""
        return super().tags() | (study_tags(self.of) if self.log_all else {})

    def tables(self) -> dict[str, dict[str, list[Any]]]:
        """Return the tables that MLflow shows, by their path."""
        return {TRIALS_TABLE: trials_table(self.of)}

    def exports(self) -> dict[str, bytes]:
        """Return the trials as CSV."""
        return {"trials.csv": as_csv(trials_table(self.of))}


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
    >>> from evalreport.thresholds.trials import Trials
    >>> found = study_metrics(Study(Trials.from_records([{"value": 0.5}], objectives="f1")), "")
    >>> found["sweep/best/f1"], found["sweep/n_trials"]
    (0.5, 1.0)
    """
    trials, start = study.trials, f"{prefix}sweep/"
    goals = [goal.name for goal in trials.objectives]
    found = {f"{start}n_trials": float(len(trials)), f"{start}n_complete": float(len(trials.contenders))}
    if trials.counts["infeasible"]:
        found[f"{start}n_infeasible"] = float(trials.counts["infeasible"])
    found |= with_metric_keys(
        {goal: trials.best(goal).values[at] for at, goal in enumerate(goals)}, f"{start}best/"
    )
    ends = metric_keys(goals, "/") if study.several else {goals[0]: ""}
    for one in study.each:
        found |= _luck(one, start, ends[one.objective.name])
    if study.several:
        found[f"{start}n_front"] = float(len(trials.pareto()))
    drawn = study.best.params
    numbers = {name: float(str(value)) for name, value in drawn.items() if is_number(value)}
    return found | with_metric_keys(dict(islice(numbers.items(), MOST_PARAMS)), f"{start}best_param/")


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
        found |= with_metric_keys(dict(study.importance.shares[:MOST_PARAMS]), f"{start}importance{end}/")
    return found


def study_series(study: Study, prefix: str) -> dict[str, Series]:
    """Return the best value so far by percent of the trials, so that sweeps of any length overlay.

    Parameters
    ----------
    study : Study
    prefix : str

    Examples
    --------
    >>> from evalreport.thresholds.trials import Trials
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
    tags = {f"{SWEEP_TAGS}best_trial": str(best.number), **with_metric_keys(params, f"{SWEEP_TAGS}best/")}
    if study.several:
        tags[f"{SWEEP_TAGS}front"] = ", ".join(str(trial.number) for trial in study.trials.pareto())
    tags[f"{SWEEP_TAGS}best_params"] = json.dumps(dict(best.params), ensure_ascii=False)
    return {key: text for key, text in tags.items() if len(text) <= LONGEST_TAG}


def trials_table(study: Study) -> Columns:
    """Return one row per trial, in the order of the study; what is not finite is null.

    Parameters
    ----------
    study : Study
    """
    trials = study.trials
    columns: Columns = {
        "trial": [trial.number for trial in trials.trials],
        "state": [trial.state for trial in trials.trials],
    }
    for index, goal in enumerate(trials.objectives):
        columns[f"values.{goal.name}"] = [
            finite(trial.values[index]) if len(trial.values) > index else None for trial in trials.trials
        ]
    columns["tied_with_best"] = [trial.number in study.tied_trials for trial in trials.trials]
    for column in trials.columns:
        number = column.kind == "number"
        given = [trial.params.get(column.name) for trial in trials.trials]
        columns[f"params.{column.name}"] = given if number else list(column.values)
    for name in ("started", "duration", "run_id"):
        columns[name] = [getattr(trial, name) for trial in trials.trials]
    return columns

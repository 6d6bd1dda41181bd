"""What a sweep found: the front of two objectives, every trial as a table, and where they come from."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial

from evalreport.core.format import significant
from evalreport.core.sentences import Sentence, join_as_list, join_with_dots, say
from evalreport.features.studies.page import against_the_best, duration, look_of, param_cell
from evalreport.features.studies.page import front as best_first
from evalreport.features.studies.sentences import objective_title
from evalreport.features.studies.study import Study
from evalreport.features.studies.views import front_view, infeasible_view, ranked_trials, sampled_param
from evalreport.page.charts import Axes, Chart, Path, pad_range, x_axis, y_axis
from evalreport.page.elements import Cell, Column, Section, Shown, Table, TwoColumns
from evalreport.page.sections.appendix import in_utc, origin
from evalreport.page.trial_history import STATES
from evalreport.thresholds.trial import Trial

FEW = 6
"""Choices up to which a parameter can be filtered by."""
MOST_CHOICES = 24
CONTROLS = 8
"""Trials above which the table can be searched and filtered."""


def front(study: Study) -> Section | None:
    """Return the first two objectives against each other."""
    if not study.several or not study.trials.contenders:
        return None
    summary = say("Blue: on the front. Grey: beaten by another trial in every objective.")
    if study.trials.counts["infeasible"]:
        summary += say("Orange: infeasible.")
    if len(study.trials.objectives) > 2:
        summary += say("Drawn are the first two of {goals:count}.", goals=len(study.trials.objectives))
    return Section.from_parts(
        "front", "Front", "What is traded for what", summary, TwoColumns((_front(study),))
    )


def _front(study: Study) -> Chart:
    view, (x, y, *_) = front_view(study.trials), study.trials.objectives
    place = {trial.number: at for at, trial in enumerate(best_first(study))}
    on = sorted((trial for trial, on_front in view if on_front), key=lambda trial: place[trial.number])
    off = [trial for trial, on_front in view if not on_front]
    broken = infeasible_view(study.trials)
    shown = (*on, *off, *broken)
    axes = Axes(
        x_axis(*pad_range([trial.values[0] for trial in shown]), x.name),
        y_axis(*pad_range([trial.values[1] for trial in shown]), f"{y.name} ↑"),
    )
    rows = ((str(trial.number), *map(significant, trial.values[:2])) for trial in on[:25])
    heads = ("Trial", x.name, y.name)
    wanted = f"Wanted: {{x}} {_way(x.sign)}, {{y}} {_way(y.sign)}."
    found = "{front:count} of {points:count} trials are on the front."
    return Chart(
        id="front-chart",
        title=f"{y.name} against {x.name}",
        note=say(wanted, x=x.name, y=y.name),
        description=say(found, front=len(on), points=len(view)),
        axes=axes,
        paths=(
            Path("dots-2", axes.dots(trial.values[:2] for trial in off)),
            *((Path("dots-wrong", axes.dots(trial.values[:2] for trial in broken)),) if broken else ()),
            Path("dots", axes.dots(trial.values[:2] for trial in on)),
        ),
        values=Table.from_rows("front-values", "Trials on the front", heads, rows),
    )


def _way(sign: float) -> str:
    return "high" if sign > 0 else "low"


def table(study: Study) -> Section:
    """Return every trial, best first."""
    trials = ranked_trials(study.trials)
    runs = any(trial.run_id for trial in trials)
    columns: tuple[tuple[Column, Callable[[Trial], Shown]] | None, ...] = (
        (Column("Trial", "n", "up"), lambda trial: Cell(str(trial.number), "n", trial.number)),
        (Column("State", "", "up"), lambda trial: STATES[trial.state]),
        *(
            (Column(goal.name, "n", "up" if goal.sign < 0 else "down"), partial(_value, at=at))
            for at, goal in enumerate(study.trials.objectives)
        ),
        (Column(objective_title(study, "Against the best"), "", "up"), partial(_difference_to_best, study))
        if study.tied_trials
        else None,
        *(
            (Column(name, look_of(study, name), "up"), partial(_param, study, name))
            for name in study.trials.params
        ),
        (Column("Time", "n", "down"), _took),
        (Column("MLflow run", "id"), lambda trial: (trial.run_id or "–")[:8]) if runs else None,
    )
    choices = _choices(study)
    made = Table.from_items(
        "trials-table",
        "Table of the trials",
        columns,
        trials,
        tall=True,
        filters=_filters(study, choices),
        marks=(_marks(study, trial, choices) for trial in trials),
        noun="trials" if len(trials) > CONTROLS else "",
        find="number of a trial",
    )
    summary = say("Best first, then those that cannot be the best.")
    if len(trials) < len(study.trials):
        summary += say(
            "{shown:count} of {trials:count} are shown.", shown=len(trials), trials=len(study.trials)
        )
    return Section.from_parts("trials", "Trials", "Every trial", summary, made)


def _choices(study: Study) -> dict[tuple[str, str], str]:
    """A filter key for each choice of the parameters that have but few."""
    some = [c for c in study.trials.columns if c.kind == "categorical" and 2 <= len(c.choices) <= FEW]
    pairs = [(column.name, choice) for column in some for choice in column.choices]
    return {pair: f"p{place}" for place, pair in enumerate(pairs[:MOST_CHOICES])}


def _filters(study: Study, choices: Mapping[tuple[str, str], str]) -> tuple[tuple[str, str], ...]:
    states = [(words, state) for state, words in STATES.items() if study.trials.counts[state]]
    tied = [("not told apart from the best", "tied")] if study.tied_trials else []
    return (*states, *tied, *((f"{name}: {choice}", key) for (name, choice), key in choices.items()))


def _marks(study: Study, trial: Trial, choices: Mapping[tuple[str, str], str]) -> str:
    pairs = [(name, str(sampled_param(trial, name))) for name in study.trials.params]
    keys = [choices[pair] for pair in pairs if pair in choices]
    return " ".join([trial.state, *(["tied"] if trial.number in study.tied_trials else []), *keys])


def _difference_to_best(study: Study, trial: Trial) -> str:
    return against_the_best(study, trial.number) if trial.finite else "–"


def _param(study: Study, name: str, trial: Trial) -> Cell:
    return param_cell(sampled_param(trial, name), look_of(study, name))


def _took(trial: Trial) -> Cell:
    return Cell("–" if trial.duration is None else duration(trial.duration), "n", trial.duration)


def _value(trial: Trial, at: int) -> Cell:
    value = trial.value_of(at)
    if value is None or not math.isfinite(value):
        return Cell("–" if value is None else str(value), "n")
    return Cell(significant(value), "n", value)


def provenance(study: Study) -> Section:
    """Return where the trials come from."""
    p = study.provenance
    facts: list[tuple[str, Sentence]] = [
        ("Study", say("{name}", name=study.trials.study_name or "")),
        ("Read from", say("`{source}`", source=study.trials.source)),
        ("MLflow run", say("`{run_id}`", run_id=p.run_id)),
        ("Experiment", say("{experiment}", experiment=p.experiment)),
        ("Notes", join_with_dots([say("{note}", note=note) for note in (*study.trials.notes, *p.notes)])),
        ("Software", join_as_list([say("{name} {version}", name=a, version=b) for a, b in p.software])),
        ("Made", say("{made}", made=in_utc(p.made))),
    ]
    return origin("Where the trials come from", facts, p.command)

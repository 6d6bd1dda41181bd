"""What a sweep found: the front of two objectives, every trial as a table, and where they come from."""

from __future__ import annotations

import math
from collections.abc import Mapping

from evalreport.format import significant
from evalreport.panels.chart import Axes, Chart, Path, padded, x_axis, y_axis
from evalreport.panels.parts import Beside, Cell, Column, Section, Table
from evalreport.panels.provenance import in_utc, origin
from evalreport.panels.study.course import duration
from evalreport.panels.study.luck import against_the_best
from evalreport.panels.study.verdict import front as best_first
from evalreport.panels.study.verdict import look_of, param_cell
from evalreport.panels.study.words import STATES, about
from evalreport.panels.words import Sentence, dotted, listed, say
from evalreport.study.judged import Study
from evalreport.study.views.outcome import Front, TableRow, front_view, table_view

FEW = 6
"""Choices up to which a parameter can be filtered by."""
MOST_CHOICES = 24
CONTROLS = 8
"""Trials above which the table can be searched and filtered."""


def front(study: Study) -> Section | None:
    """Return the first two objectives against each other."""
    if not study.several or not study.trials.contenders:
        return None
    view = front_view(study.trials)
    summary = say("Blue: on the front. Grey: beaten by another trial in every objective.")
    if len(study.trials.objectives) > 2:
        summary += say("Drawn are the first two of {goals:count}.", goals=len(study.trials.objectives))
    return Section.of("front", "Front", "What is traded for what", summary, Beside((_front(study, view),)))


def _front(study: Study, view: Front) -> Chart:
    place = {trial.number: at for at, trial in enumerate(best_first(study))}
    on = sorted((p for p in view.points if p.on_front), key=lambda p: place[p.number])
    off = [point for point in view.points if not point.on_front]
    axes = Axes(
        x_axis(*padded([point.x for point in view.points]), view.x.name),
        y_axis(*padded([point.y for point in view.points]), f"{view.y.name} ↑"),
    )
    rows = ((str(p.number), significant(p.x), significant(p.y)) for p in on[:25])
    heads = ("Trial", view.x.name, view.y.name)
    return Chart(
        id="front-chart",
        title=f"{view.y.name} against {view.x.name}",
        note=say(
            "Wanted: {x} {x_way}, {y} {y_way}.",
            x=view.x.name,
            y=view.y.name,
            x_way=_way(view.x.sign),
            y_way=_way(view.y.sign),
        ),
        description=say(
            "{front:count} of {points:count} trials are on the front.", front=len(on), points=len(view.points)
        ),
        axes=axes,
        paths=(
            Path("dots-2", axes.dots([p.x for p in off], [p.y for p in off])),
            Path("dots", axes.dots([p.x for p in on], [p.y for p in on])),
        ),
        values=Table.of("front-values", "Trials on the front", heads, rows),
    )


def _way(sign: float) -> str:
    return "high" if sign > 0 else "low"


def table(study: Study) -> Section:
    """Return every trial, best first."""
    view = table_view(study.trials)
    runs = any(row.run_id for row in view.rows)
    heads = (
        Column("Trial", "n", "up"),
        Column("State", "", "up"),
        *(Column(goal.name, "n", "up" if goal.sign < 0 else "down") for goal in study.trials.objectives),
        *((Column(about(study, "Against the best"), "", "up"),) if study.tied else ()),
        *(Column(name, look_of(study, name), "up") for name in view.params),
        Column("Time", "n", "down"),
        *((Column("MLflow run", "id"),) if runs else ()),
    )
    choices = _choices(study)
    made = Table.of(
        "trials-table",
        "Table of the trials",
        heads,
        (_row(study, row, runs=runs) for row in view.rows),
        tall=True,
        filters=_filters(study, choices),
        marks=(_marks(study, row, choices) for row in view.rows),
        noun="trials" if len(view.rows) > CONTROLS else "",
        find="number of a trial",
    )
    summary = say("Best first, then those that did not complete.")
    if len(view.rows) < view.n_trials:
        summary += say(
            "{shown:count} of {trials:count} are shown.", shown=len(view.rows), trials=view.n_trials
        )
    return Section.of("trials", "Trials", "Every trial", summary, made)


def _choices(study: Study) -> dict[tuple[str, str], str]:
    """A filter key for each choice of the parameters that have but few."""
    some = [c for c in study.trials.columns if c.kind == "categorical" and 2 <= len(c.choices) <= FEW]
    pairs = [(column.name, choice) for column in some for choice in column.choices]
    return {pair: f"p{place}" for place, pair in enumerate(pairs[:MOST_CHOICES])}


def _filters(study: Study, choices: Mapping[tuple[str, str], str]) -> tuple[tuple[str, str], ...]:
    states = [(words, state) for state, words in STATES.items() if study.trials.counts[state]]
    tied = [("not told apart from the best", "tied")] if study.tied else []
    return (*states, *tied, *((f"{name}: {choice}", key) for (name, choice), key in choices.items()))


def _marks(study: Study, row: TableRow, choices: Mapping[tuple[str, str], str]) -> str:
    drawn = zip(study.trials.params, row.params, strict=True)
    keys = [choices[name, str(value)] for name, value in drawn if (name, str(value)) in choices]
    return " ".join([row.state, *(["tied"] if row.number in study.tied else []), *keys])


def _row(study: Study, row: TableRow, *, runs: bool) -> tuple[Cell, ...]:
    took = "–" if row.duration is None else duration(row.duration)
    done = row.state == "complete" and all(v is not None and math.isfinite(v) for v in row.values)
    near = against_the_best(study, row.number) if done else "–"
    return (
        Cell(str(row.number), "n", row.number),
        Cell(STATES[row.state]),
        *(_value(value) for value in row.values),
        *((Cell(near),) if study.tied else ()),
        *(
            param_cell(value, look_of(study, name))
            for name, value in zip(study.trials.params, row.params, strict=True)
        ),
        Cell(took, "n", row.duration),
        *((Cell((row.run_id or "–")[:8], "id"),) if runs else ()),
    )


def _value(value: float | None) -> Cell:
    if value is None:
        return Cell("–", "n")
    return Cell(
        significant(value) if math.isfinite(value) else str(value),
        "n",
        value if math.isfinite(value) else None,
    )


def provenance(study: Study) -> Section:
    """Return where the trials come from."""
    p = study.provenance
    facts: list[tuple[str, Sentence]] = [
        ("Study", say("{name}", name=study.trials.study_name or "")),
        ("Read from", say("`{source}`", source=study.trials.source)),
        ("MLflow run", say("`{run_id}`", run_id=p.run_id)),
        ("Experiment", say("{experiment}", experiment=p.experiment)),
        ("Notes", dotted([say("{note}", note=note) for note in (*study.trials.notes, *p.notes)])),
        ("Software", listed([say("{name} {version}", name=a, version=b) for a, b in p.software])),
        ("Made", say("{made}", made=in_utc(p.made))),
    ]
    return origin("Where the trials come from", facts, p.command)

"""The sections of a study's page: trials, importance, parameters; and what is written and logged."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from typing import Any, ClassVar, TypeAlias

from evalreport.core.format import significant
from evalreport.core.result import Undefined
from evalreport.core.sentences import NOTHING, Sentence, join_as_list, join_with_dots, say, truncate_name
from evalreport.features.studies import page
from evalreport.features.studies.page import (
    against_the_best,
    duration,
    look_of,
    objective_section,
    objective_title,
    own,
    param_cell,
)
from evalreport.features.studies.page import front as best_first
from evalreport.features.studies.study import Study
from evalreport.features.studies.views import (
    ParameterSlice,
    front_view,
    infeasible_view,
    parallel_view,
    ranked_trials,
    sampled_param,
    slice_views,
    ticks_of,
)
from evalreport.page.charts import Axes, Chart, Path, named_axis, pad_range, x_axis, y_axis
from evalreport.page.csv_tables import PERCENT, Columns, as_csv
from evalreport.page.elements import (
    Cell,
    Column,
    Empty,
    Folded,
    Note,
    Section,
    Shown,
    Table,
    TwoColumns,
    share_cell,
)
from evalreport.page.payload import (
    LONGEST_TAG,
    SWEEP_TAGS,
    TRIALS_TABLE,
    Series,
    metric_keys,
    with_metric_keys,
)
from evalreport.page.sections.appendix import in_utc, origin
from evalreport.page.selection import SweepPresentation, finite
from evalreport.page.text_summary import MOST_ROWS, ResultSummary
from evalreport.page.trial_history import STATES
from evalreport.thresholds.trial import ParameterColumn, Trial, is_number

FEW = 6
"""Choices up to which a parameter can be filtered by."""
MOST_CHOICES = 24
CONTROLS = 8
"""Trials above which the table can be searched and filtered."""


def front(study: Study) -> Section | None:
    """Return the first two objectives against each other."""
    if not study.several or not study.trials.contenders:
        return None
    summary = say("Blue: on the Pareto front. Grey: another trial is better in every objective.")
    if study.trials.counts["infeasible"]:
        summary += say("Orange: infeasible.")
    if len(study.trials.objectives) > 2:
        summary += say(
            "The first two of {goals:count} objectives are shown.", goals=len(study.trials.objectives)
        )
    return Section.from_parts("front", "Pareto front", "Pareto front", summary, TwoColumns((_front(study),)))


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
    wanted = f"Best: {{x}} {_way(x.sign)}, {{y}} {_way(y.sign)}."
    found = "{front:count} of {points:count} trials are on the Pareto front."
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
        values=Table.from_rows("front-values", "Points of the Pareto front", heads, rows),
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
        (
            Column(objective_title(study, "Against the best"), "", "up"),
            partial(_difference_to_best, study),
        )
        if study.tied_trials
        else None,
        *(
            (Column(name, look_of(study, name), "up"), partial(_param, study, name))
            for name in study.trials.params
        ),
        (Column("Time", "n", "down"), _duration_cell),
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
    summary = say("Best first.")
    if len(trials) < len(study.trials):
        summary += say(
            "{shown:count} of {trials:count} are shown.", shown=len(trials), trials=len(study.trials)
        )
    return Section.from_parts("trials", "Trials", "Trials", summary, Folded("Table of trials", (made,)))


def _choices(study: Study) -> dict[tuple[str, str], str]:
    """A filter key for each choice of the parameters that have few."""
    some = [c for c in study.trials.columns if c.kind == "categorical" and 2 <= len(c.choices) <= FEW]
    pairs = [(column.name, choice) for column in some for choice in column.choices]
    return {pair: f"p{place}" for place, pair in enumerate(pairs[:MOST_CHOICES])}


def _filters(study: Study, choices: Mapping[tuple[str, str], str]) -> tuple[tuple[str, str], ...]:
    states = [(words, state) for state, words in STATES.items() if study.trials.counts[state]]
    tied = [("not significantly worse", "tied")] if study.tied_trials else []
    return (*states, *tied, *((f"{name}: {choice}", key) for (name, choice), key in choices.items()))


def _marks(study: Study, trial: Trial, choices: Mapping[tuple[str, str], str]) -> str:
    pairs = [(name, str(sampled_param(trial, name))) for name in study.trials.params]
    keys = [choices[pair] for pair in pairs if pair in choices]
    return " ".join([trial.state, *(["tied"] if trial.number in study.tied_trials else []), *keys])


def _difference_to_best(study: Study, trial: Trial) -> str:
    return against_the_best(study, trial.number) if trial.finite else "–"


def _param(study: Study, name: str, trial: Trial) -> Cell:
    return param_cell(sampled_param(trial, name), look_of(study, name))


def _duration_cell(trial: Trial) -> Cell:
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
    return origin("Provenance", facts, p.command)


MOST = 3
"""Parameters with a chart: the most important ones."""
AXES = 10
"""Parameters that have an axis among the parallel ones."""
WIDE, TALL = 700.0, 300.0
"""View box of the parallel coordinates."""
BEST = 0.9
"""Rank above which a line is drawn as one of the best."""
LETTERS = 12
"""Letters of a category beside an axis."""


@dataclass(frozen=True)
class Pole:
    """One upright axis of the parallel coordinates."""

    x: float
    name: str
    ticks: tuple[tuple[float, str], ...]


@dataclass(frozen=True)
class Parallel:
    """Parallel coordinates: poles, and the lines of the best and of the others."""

    kind: ClassVar[str] = "parallel"
    id: ClassVar[str] = "parallel-chart"
    poles: tuple[Pole, ...]
    best: str
    others: str
    width: float
    description: Sentence


def importance(study: Study) -> Section | None:
    """Return the importance of each parameter."""
    if not study.trials.contenders:
        return None
    found = study.importance
    title = "Parameter importance"
    if isinstance(found, Undefined):
        why = say("{reason}.", reason=found.reason[:1].upper() + found.reason[1:])
        empty = Empty(say("The importance of the parameters is not known."), why)
        return Section.from_parts("importance", title, title, NOTHING, empty)
    words = "{method} on {n:count} complete trials: {meaning}."
    summary = say(words, method=found.method, n=found.n_trials, meaning=found.meaning)
    rows = tuple((Cell(name), share_cell(share)) for name, share in found.shares)
    heads = ("Parameter", Column("Importance", "q"))
    table = Table.from_rows(own(study, "importance-table"), objective_title(study, "Importance"), heads, rows)
    out = [f"{name} ({why})" for name, why in found.left_out]
    notes = (Note(say("Not included: {names}.", names=", ".join(out))),) if out else ()
    folded = Folded("Importance of each parameter", (table, *notes))
    return Section.from_parts("importance", title, title, summary, folded)


def slices(study: Study) -> Section | None:
    """Return the objective over each parameter."""
    views = slice_views(study.trials, study.objective.name) if study.trials.contenders else ()
    if not views:
        return None
    leading = study.leading(MOST)
    shown = sorted(
        (view for view in views if view.axis.name in leading), key=lambda view: leading.index(view.axis.name)
    )
    charts = tuple(_slice(study, view, place) for place, view in enumerate(shown))
    summary = say("Each point is a complete trial; the ring is the best.")
    if not isinstance(study.importance, Undefined):
        summary += say("The most important parameter is first.")
    if len(views) > len(shown):
        summary += say(
            "{more:count} more {more:is|are} in the table of trials.", more=len(views) - len(shown)
        )
    return Section.from_parts("slices", "Parameters", "Parameters", summary, TwoColumns(charts))


def _slice(study: Study, view: ParameterSlice, place: int) -> Chart:
    values = [point.value for point in view.points]
    shown = view.axis.name + (" (logarithmic)" if view.axis.log else "")
    heights = y_axis(*pad_range(values), f"{study.objective.name} ↑")
    axes = Axes(named_axis(0, 1, shown, _ticks(view.axis)), heights)
    places = [view.axis.place(point.at) for point in view.points]
    xs = [0.5 if at is None else at for at in places]
    best = max(view.points, key=lambda point: study.objective.sign * point.value)
    best_at = view.axis.place(best.at)
    rows = [
        (str(point.number), param_cell(point.at), significant(point.value))
        for point in sorted(view.points, key=lambda point: -study.objective.sign * point.value)[:20]
    ]
    id, heads = own(study, f"slice-{place}"), ("Trial", Column(view.axis.name), study.objective.name)
    return Chart(
        id=id,
        title=view.axis.name,
        note=NOTHING,
        description=say(
            "{study.objective.name} over {view.axis.name} in {points:count} trials; the best is at {best}.",
            {"study": study, "view": view, "points": len(view.points), "best": param_cell(best.at).words},
        ),
        axes=axes,
        paths=(Path("dots", axes.dots(zip(xs, values, strict=True))),),
        ring=None if best_at is None else (axes.x_position(best_at), axes.y_position(best.value)),
        values=Table.from_rows(
            f"{id}-values", objective_title(study, f"The best by {view.axis.name}"), heads, rows
        ),
    )


def _ticks(axis: ParameterColumn) -> list[tuple[float, str]]:
    return [(at, truncate_name(text, LETTERS)) for at, text in ticks_of(axis)]


def parallel(study: Study) -> Section | None:
    """Return all parameters at once."""
    if not study.trials.contenders:
        return None
    view = parallel_view(study.trials, study.objective.name, study.leading(AXES))
    if len(view.axes) < 3:
        return None
    gap = max(WIDE / (len(view.axes) - 1), 90.0)
    poles = tuple(
        Pole(round(50 + place * gap, 1), axis.name, tuple((_height(at), text) for at, text in _ticks(axis)))
        for place, axis in enumerate(view.axes)
    )
    best = [line.places for line in view.lines if line.rank >= BEST]
    rest = [line.places for line in view.lines if line.rank < BEST]
    body = Parallel(
        poles=poles,
        best=_lines(poles, best),
        others=_lines(poles, rest),
        width=round(100 + gap * (len(view.axes) - 1), 1),
        description=say(
            "Each of {lines:count} complete trials is a line across its parameters; the best 10% are blue.",
            lines=len(view.lines),
        ),
    )
    best_by = say("best 10% by {name}", name=study.objective.name) if study.several else say("best 10%")
    summary = say(
        "Each line is a complete trial; the {best_by} are blue.",
        best_by=best_by,
    )
    more = len(slice_views(study.trials, study.objective.name)) - len(view.axes) + 1
    if more > 0:
        summary += say("{more:count} less important parameters are not shown.", more=more)
    if any(None in line.places for line in view.lines):
        summary += say("A line skips a parameter that its trial does not have.")
    folded = Folded("Parallel coordinates of all parameters", (body,))
    return Section.from_parts("parallel", "All parameters", "All parameters", summary, folded)


def _height(at: float) -> float:
    return round(TALL - 40 - at * (TALL - 80), 1)


def _lines(poles: tuple[Pole, ...], lines: list[tuple[float | None, ...]]) -> str:
    """Lines that skip an axis whose parameter was not sampled."""
    made = []
    for places in lines:
        pen = "M"
        for pole, at in zip(poles, places, strict=True):
            if at is None:
                continue
            made.append(f"{pen}{pole.x:g} {_height(at):g}")
            pen = "L"
    return "".join(made)


Panel: TypeAlias = Callable[[Study], Section | None]
PANELS: tuple[Panel, ...] = (
    page.verdict_section,
    front,
    page.history,
    slices,
    importance,
    parallel,
    page.bias_section,
    page.timeline,
    table,
    provenance,
)
"""Sections of a study in the order of the page; one that does not apply returns None."""

EACH: tuple[Panel, ...] = (
    page.bias_section,
    importance,
    slices,
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
        return of.provenance.title or f"{name}: study of {of.objective.name}"

    @cached_property
    def headline(self) -> str:
        """The headline as plain text."""
        return page.headline(self.of).text

    def sections(self) -> Sequence[Section]:
        """Return the sections of the page, the first screen first."""
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
        from evalreport.features.studies.views import study_figures

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
    """Return the best value of each objective, its selection bias, and the parameters of the best trial.

    Parameters
    ----------
    study : Study
    prefix : str

    Examples
    --------
    >>> from evalreport.thresholds.trial_search import Trials
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
        found |= _bias_metrics(one, start, ends[one.objective.name])
    if study.several:
        found[f"{start}n_front"] = float(len(trials.pareto()))
    drawn = study.best.params
    numbers = {name: float(str(value)) for name, value in drawn.items() if is_number(value)}
    return found | with_metric_keys(dict(islice(numbers.items(), MOST_PARAMS)), f"{start}best_param/")


def _bias_metrics(study: Study, start: str, end: str) -> dict[str, float]:
    """Selection bias of one objective, and the importance of its parameters."""
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
    >>> from evalreport.thresholds.trial_search import Trials
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

"""The page of a study: its first screen, selection bias, history and time of the trials."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import ClassVar

import numpy as np

from evalreport.core.format import format_fixed, percent, pluralize, significant
from evalreport.core.result import Estimate, Undefined, format_estimate
from evalreport.core.sentences import (
    NOTHING,
    Sentence,
    join_as_list,
    join_sentences,
    paragraph,
    reference_sentence,
    say,
)
from evalreport.features.studies.study import UNNAMED, Study, doubts, metric_of
from evalreport.features.studies.views import (
    Bar,
    Intermediate,
    StepCurve,
    Timeline,
    intermediate_view,
    sampled_param,
    timeline_view,
)
from evalreport.features.studies.winners_curse import MEANS, PROPORTIONS, WinnersCurse
from evalreport.page.charts import (
    Axes,
    Chart,
    Path,
    Shape,
    nice_step,
    pad_range,
    tick_text,
    whole_ticks,
    x_axis,
    y_axis,
)
from evalreport.page.elements import (
    Cell,
    Column,
    Empty,
    Facts,
    Folded,
    Forest,
    ForestRow,
    Heading,
    Look,
    Row,
    Section,
    Table,
    TwoColumns,
    forest_row,
)
from evalreport.page.sections.curves import evenly_spaced_places
from evalreport.page.sections.first_screen import BOTTOM, LEFT, RIGHT, TOP, FirstScreen, SummaryItem, Tick
from evalreport.page.trial_history import (
    MOST_POINTS,
    READ,
    ROWS,
    STATES,
    history_chart,
    history_view,
    thin_positions,
)
from evalreport.thresholds.trial import Param, Trial


def own(study: Study, id: str) -> str:
    """Return the id of an element that every objective has.

    Parameters
    ----------
    study : Study
    id : str
        What it is for the only objective, and for the first.
    """
    return f"{id}-{study.at}" if study.at else id


def objective_title(study: Study, words: str) -> str:
    """Return a title, with the objective where there are several.

    Parameters
    ----------
    study : Study
    words : str
    """
    return f"{words}: {study.objective.name}" if study.several else words


def objective_section(study: Study, section: Section) -> Section:
    """Return a section under an id and a title of its objective.

    Parameters
    ----------
    study : Study
    section : Section
    """
    return replace(
        section,
        id=own(study, section.id),
        nav=objective_title(study, section.nav),
        title=objective_title(study, section.title),
    )


LETTER = 5.9
"""Width of a bold letter of a label, in units of the chart."""


def history(study: Study) -> Section | None:
    """Return the value of each trial, the best so far, and what trials reported on their way."""
    charts: list[Chart] = []
    for goal in study.trials.objectives:
        course = history_view(study.trials, goal.name)
        if any(point.value is not None for point in course.points):
            charts.append(history_chart(course, len(charts)))
    if not charts:
        return None
    summary = READ
    gone = study.trials.n_non_finite
    if gone:
        summary += say("{gone:count} completed without a finite value and are not shown.", gone=gone)
    broken = study.trials.counts["infeasible"]
    if broken:
        summary += say("Orange: {broken:count} infeasible, which cannot be the best.", broken=broken)
    view = intermediate_view(study.trials)
    if view.curves:
        summary += say("{curves:count} reported intermediate values.", curves=view.n_curves)
        charts.append(_intermediate(study, view))
    return Section.from_parts("history", "History", "History", summary, TwoColumns(tuple(charts)))


def _intermediate(study: Study, view: Intermediate) -> Chart:
    steps = [float(step) for curve in view.curves for step in curve.steps]
    values = [value for curve in view.curves for value in curve.values]
    low, high = min(steps), max(*steps, min(steps) + 1)
    step = max(1.0, nice_step(high - low))
    ticks = np.arange(np.ceil(low / step) * step, high + 0.1, step).tolist()
    axes = Axes(x_axis(low, high, "Step", ticks), y_axis(*pad_range(values), f"{study.objective.name} ↑"))
    front = {trial.number for trial in study.trials.pareto()} if study.trials.contenders else set()
    best = [curve for curve in view.curves if curve.number in front]
    ended = [c for c in view.curves if c.state == "complete" and c.number not in front]
    cut = [curve for curve in view.curves if curve.state != "complete"]
    rows = (
        (str(curve.number), STATES[curve.state], f"{curve.steps[-1]:,}", significant(curve.values[-1]))
        for curve in view.curves
    )
    heads = ("Trial", Column("State"), "Last step", "Value there")
    return Chart(
        id="intermediate-chart",
        title="Learning curves",
        note=say("Blue: the best. Grey: other complete trials. Dashed: pruned, infeasible or not complete."),
        description=say("Values by step of {shown:count} trials.", shown=len(view.curves)),
        axes=axes,
        paths=(
            Path("thin-3", _lines(axes, ended)),
            Path("thin-2", _lines(axes, cut)),
            Path("line", _lines(axes, best)),
        ),
        values=Table.from_rows("intermediate-values", "Last reported values", heads, rows, tall=True),
    )


def _lines(axes: Axes, curves: Iterable[StepCurve]) -> str:
    return "".join(axes.polyline([float(s) for s in c.steps], c.values) for c in curves if len(c.steps) > 1)


def timeline(study: Study) -> Section | None:
    """Return when each trial ran, and how long trials of each state took."""
    view = timeline_view(study.trials)
    if not view.bars or not view.seconds:
        return None
    words = "{timed:count} trials ran for {total} in all, {median} each in the median, at most {lanes:count} "
    durations = {"total": duration(view.seconds), "median": duration(view.median)}
    summary = say(words + "at once.", durations, timed=len(study.trials) - view.n_unknown, lanes=view.lanes)
    parts = TwoColumns((_timeline(view), (Heading("By state"), _by_state(study))))
    return Section.from_parts("timeline", "Time", "Time", summary, Folded("Time of each trial", (parts,)))


def _by_state(study: Study) -> Table:
    rows = []
    for state, words in STATES.items():
        every = [trial.duration for trial in study.trials.trials if trial.state == state]
        seconds_known = [seconds for seconds in every if seconds is not None]
        if every:
            cells = [duration(f(seconds_known)) if seconds_known else "–" for f in (median, max, sum)]
            rows.append((words, f"{len(every):,}", *cells))
    heads = ("State", "Trials", "Median", "Longest", "In all")
    return Table.from_rows("timeline-states", "Time by state", heads, rows)


def _timeline(view: Timeline) -> Chart:
    long = ((3600.0, "hours"), (60.0, "minutes"), (1.0, "seconds"))
    scale, unit = next((pair for pair in long if view.seconds > 2 * pair[0]), long[-1])
    numbers = [bar.number for bar in view.bars]
    ends = (min(numbers) - 1, max(numbers) + 1)
    trials = y_axis(*ends, "Trial ↑", whole_ticks(*ends))
    axes = Axes(x_axis(0, view.seconds / scale, f"Time ({unit})"), trials)
    kinds: tuple[tuple[Shape, tuple[str, ...]], ...] = (
        ("span", ("complete",)),
        ("span-2", ("pruned", "running", "waiting")),
        ("span-wrong", ("failed", "infeasible")),
    )
    rows = (
        (str(bar.number), STATES[bar.state], duration(bar.start), duration(bar.end - bar.start))
        for bar in sorted(view.bars, key=lambda bar: bar.start - bar.end)[:ROWS]
    )
    heads = ("Trial", Column("State"), "Started after", "Took")
    return Chart(
        id="timeline-chart",
        title="Trials in time",
        note=say("Blue: complete. Grey: pruned or not complete. Orange: failed or infeasible."),
        description=say("Start and end of {bars:count} trials.", bars=len(view.bars)),
        axes=axes,
        paths=tuple(Path(shape, _spans(axes, view.bars, states, scale)) for shape, states in kinds),
        values=Table.from_rows("timeline-values", "The longest trials", heads, rows),
    )


def _spans(axes: Axes, bars: Iterable[Bar], states: tuple[str, ...], scale: float) -> str:
    """A line from start to end at the height of each trial; one of no length is a dot."""
    return "".join(
        axes.span((bar.start / scale, bar.end / scale), bar.number) for bar in bars if bar.state in states
    )


def duration(seconds: float) -> str:
    """Return a time in words.

    Examples
    --------
    >>> duration(0.042), duration(5), duration(90), duration(7500)
    ('42 ms', '5.0 s', '1.5 min', '2.1 h')
    """
    for unit, size, digits in (("h", 3600, 1), ("min", 60, 1), ("s", 1, 1)):
        if seconds >= size:
            return f"{format_fixed(seconds / size, digits)} {unit}"
    return f"{format_fixed(seconds * 1000, 0)} ms"


MOST = 24
"""Trials that are named one by one."""


def bias_section(study: Study) -> Section | None:
    """Return the selection bias of the best value (winner's curse), with what it is computed from."""
    if not study.trials.contenders:
        return None
    curse = study.curse
    title = "Selection bias"
    if isinstance(curse, Undefined):
        empty = Empty(
            say("The selection bias of the best value is not known."),
            say("{reason}.", reason=curse.reason[:1].upper() + curse.reason[1:]),
        )
        return Section.from_parts("bias", title, title, NOTHING, empty)
    summary = say(
        "The best of many trials looks better than it is (winner's curse). "
        "The bias grows with more trials and fewer examples."
    )
    values = _values(study, _ranked_trials(study))
    numbers = Folded("Numbers and assumptions", (Facts(_facts(curse)), Heading("Values by rank"), values))
    return Section.from_parts("bias", title, title, summary, numbers)


def remedy(study: Study) -> Sentence:
    """Return what makes the selection bias known: the examples for a proportion of them, else an error.

    Parameters
    ----------
    study : Study
    """
    if len(study.trials.contenders) < 2:
        return NOTHING
    if metric_of(study.objective.name) in PROPORTIONS | MEANS:
        return say("Give the number of examples of each trial with `--examples N`.")
    if study.objective.name == UNNAMED:
        return say(
            "The study does not name its metric: for a proportion such as accuracy add `--metric accuracy`; "
            "for any other give the standard error of one value with `--standard-error S`."
        )
    named = say(" and `--metric {name}`", name=study.objective.name) if study.several else say("")
    return say("Give the standard error of one value with `--standard-error S`{named}.", named=named)


def _facts(curse: WinnersCurse) -> tuple[tuple[str, Sentence], ...]:
    on = say("") if curse.n is None else say(", evaluated on {n:count} examples", n=curse.n)
    many = "up to" if curse.is_upper_bound else "about"
    worth = ("at least " if curse.is_upper_bound else "") + "*{expected:number}*"
    rivals = say("{rivals:count}, each set of parameters once", rivals=curse.n_trials)
    return (
        (
            "Best value",
            say("{observed:significant} (trial {best})", observed=curse.observed, best=str(curse.best)),
        ),
        ("Selection bias", say(many + " *{optimism:rough}*", optimism=curse.optimism)),
        ("Value without selection bias", say(worth, expected=curse.expected_value)),
        ("Bias if all trials were equally good", say("{equal:rough}", equal=curse.optimism_if_equal)),
        ("Standard error of one value", say("{error:rough}", error=curse.standard_error)),
        ("Trials compared", join_sentences(rivals, on)),
        ("Not significantly worse than the best", _tied_sentence(curse)),
        ("Assumption", say("{assumption}", assumption=curse.assumption)),
    )


def _tied_sentence(curse: WinnersCurse) -> Sentence:
    if not curse.tied:
        return say("none")
    named = ", ".join(map(str, curse.tied[:MOST]))
    more = len(curse.tied) - MOST
    words = "{tied:count}: trials {named}" + (" and {more:count} more" if more > 0 else "")
    words += ". With {curse.confidence:percent} confidence, one of these or trial {best} is truly the best."
    known = {"curse": curse, "best": str(curse.best)}
    return say(words, known, tied=len(curse.tied), named=named, more=more)


def _ranked_trials(study: Study) -> list[Trial]:
    """Complete trials, the best first; of very many some."""
    sign = study.objective.sign
    ranked = sorted(study.trials.contenders, key=lambda trial: -sign * trial.values[study.at])
    return [ranked[at] for at in thin_positions(len(ranked), range(len(ranked)), MOST_POINTS)]


@dataclass(frozen=True)
class RankPicture:
    """Complete trials by rank: places in per cent of the width and pixels of the height.

    Parameters
    ----------
    tied, worse : str
        Dots of the trials that are not significantly worse than the best, and of the others.
    best : (float, float)
        Place of the best trial.
    level, level_text : float or None, str
        Height of the value without selection bias, and its words.
    """

    kind: ClassVar[str] = "ranked"
    id: str
    title: str
    description: Sentence
    tied: str
    worse: str
    best: tuple[float, float]
    best_text: str
    level: float | None
    level_text: str
    y: tuple[Tick, ...]
    last: str


def rank_picture(study: Study) -> RankPicture | None:
    """Return every complete trial by rank; None for fewer than two."""
    kept = _ranked_trials(study)
    if len(kept) < 2:
        return None
    curse, name = study.curse, study.objective.name
    values = [trial.values[study.at] for trial in kept]
    corrected = None if isinstance(curse, Undefined) else curse.corrected
    low, high = pad_range([*values, *([] if corrected is None else [corrected])])
    step = (RIGHT - LEFT) / len(kept)

    def across(rank: int) -> float:
        return round(LEFT + step * (rank + 0.5), 2)

    def up(value: float) -> float:
        return round(BOTTOM - (BOTTOM - TOP) * (value - low) / (high - low), 1)

    def dots(ranks: Iterable[int]) -> str:
        return "".join(f"M{across(rank):g} {up(values[rank]):g}h0" for rank in ranks)

    near = [rank for rank, trial in enumerate(kept) if trial.number in study.tied_trials]
    far = [rank for rank in range(1, len(kept)) if rank not in near]
    unit = nice_step(high - low, 4)
    ticks = [unit * k for k in range(math.ceil(low / unit), math.floor(high / unit) + 1)]
    words = ""
    if not isinstance(curse, Undefined):
        words = f"corrected for selection bias: {format_estimate(curse.expected_value, 'number')}"
    return RankPicture(
        id=own(study, "rank-picture"),
        title=f"{name} of every complete trial, best first",
        description=say(
            "{objective} of each complete trial, best first; {tied:count} are not significantly worse.",
            objective=name,
            tied=len(study.tied_trials),
        ),
        tied=dots(near),
        worse=dots(far),
        best=(across(0), up(values[0])),
        best_text=f"trial {kept[0].number}",
        level=None if corrected is None else up(corrected),
        level_text=words,
        y=tuple(Tick(up(value), tick_text(value)) for value in ticks),
        last=f"rank {len(study.trials.contenders):,}",
    )


def _values(study: Study, kept: list[Trial]) -> Table:
    rows = []
    for place in evenly_spaced_places(len(kept), ROWS):
        trial = kept[place]
        value = significant(trial.values[study.at])
        rows.append((str(place + 1), str(trial.number), value, against_the_best(study, trial.number)))
    heads = (Column("Rank", "n"), "Trial", study.objective.name, Column("Compared with the best"))
    return Table.from_rows(own(study, "bias-values"), objective_title(study, "Values by rank"), heads, rows)


def against_the_best(study: Study, number: int) -> str:
    """Return how a complete trial compares with the best one."""
    if isinstance(study.curse, Undefined):
        return "–"
    if number == study.curse.best:
        return "best"
    return "tied" if number in study.tied_trials else "significantly worse"


SHOWN = 4
"""Parameters of the best trial that the first screen shows."""
HALF = 0.5
"""Part of the importance that the parameters on the first screen have together."""
MOST_NAMED = 6
"""Trials, tied for the best, that the first screen names; of more only the number."""
MOST_OF_FRONT = 6
"""Trials of a front that the first screen shows."""
FORESTED = 4
"""Rows of the table of best values."""
PROBLEMS = 3
"""Problems in the list of the first screen."""


def verdict_section(study: Study) -> Section:
    """Return the first screen: the best trial and all others, what to do, and whether it can be trusted."""
    warnings, some = doubts(study), bool(study.trials.contenders)
    body = FirstScreen(
        task="Hyperparameter study",
        run=study.trials.study_name or study.provenance.run_name,
        kicker=_kicker(study),
        headline=headline(study),
        left=_some_of_front(study) if study.several and some else rank_picture(study) if some else None,
        right=None,
        step=next_step(study),
        forest=_forest(study),
        wrong=tuple(
            SummaryItem(one.claim.removesuffix("."), "", one.section, "failed")
            for one in warnings[:PROBLEMS]
            if one.severity != "note"
        ),
        checks=tuple(_checks(study)) if some else (),
        author=warnings,
        hints=tuple(filter(None, (remedy(study) if isinstance(study.curse, Undefined) else NOTHING,))),
        command=study.provenance.command,
        below=_parameters(study) if some and not study.several else NOTHING,
        no_problem="No problem with the search was found.",
    )
    return Section("verdict", "Summary", "Summary", "first_screen", NOTHING, body)


def _kicker(study: Study) -> tuple[str, ...]:
    counts = [f"{n:,} {STATES[state]}" for state, n in study.trials.counts.items() if n]
    goal = " and ".join(f"{goal.direction} {goal.name}" for goal in study.trials.objectives)
    return (goal, ", ".join(counts) + " trials")


def next_step(study: Study) -> Sentence:
    """Return the one thing to do; nothing where there is none."""
    wrong = next((one for one in doubts(study) if one.action and one.severity != "note"), None)
    if wrong is not None:
        return wrong.action
    if study.several or not study.trials.contenders or not study.tied_trials:
        return NOTHING
    tied = sorted([study.best.number, *study.tied_trials])
    named = join_as_list([say(f"trial {tied[0]}"), *(say(str(number)) for number in tied[1:])], "or")
    if len(tied) > MOST_NAMED:
        named = say("one of the {best:count} best trials", best=len(tied))
    return say("Choose {named}, and evaluate it on held-out data.", named=named)


def _forest(study: Study) -> Forest:
    """The best value of each objective as it was measured, and without selection bias."""
    rows: list[ForestRow] = []
    for one in study.each if study.trials.contenders else ():
        name, trial, curse = one.objective.name, one.best, one.curse
        ranked = [t.values[one.at] for t in _ranked_trials(one)]
        known = [] if isinstance(curse, Undefined) else [curse.low, curse.high, curse.corrected]
        axis = pad_range([*ranked, *known])
        value = Estimate(trial.values[one.at], len(ranked))
        gloss = say("best value, trial {trial}; {rest}", trial=str(trial.number), rest=_middle(one))
        row = forest_row(name, name, gloss, value, "number", axis=axis)
        rows.append(replace(row, estimate=_best_value(one).text, interval="–"))
        if not isinstance(curse, Undefined):
            gloss = say("corrected for selection bias")
            title = f"{name} on new data" if study.several else "On new data"
            rows.append(forest_row(name, title, gloss, curse.expected_value, "number", axis=axis))
    levels = [one.curse.confidence for one in study.each if not isinstance(one.curse, Undefined)]
    legend = f"{percent(levels[0])} interval; the axis covers all trials" if levels else ""
    return Forest(tuple(rows[:FORESTED]), heads=("", "", legend, ""))


def _middle(study: Study) -> Sentence:
    """The value of the trial in the middle, to compare the best one with."""
    values = [trial.values[study.at] for trial in study.trials.contenders]
    if len(values) < 2:
        return say("the only one")
    if isinstance(study.curse, Undefined):
        return say("median of all trials {median:significant}", median=median(values))
    middle = reference_sentence("median", median(values), study.curse.expected_value, "number")
    return say("median of all trials {middle}", middle=middle)


def _best_value(study: Study) -> Sentence:
    """The best value with the decimals of its corrected value, where that is known."""
    if not isinstance(study.curse, Undefined):
        return _observed_value(study.curse)
    return say("{best_value:significant}", best_value=study.best.values[study.at])


def _checks(study: Study) -> Iterator[SummaryItem]:
    """Whether the best trial is clearly the best, the selection bias is known, and all trials completed."""
    for one in study.each:
        curse, of = one.curse, f" of {one.objective.name}" if study.several else ""
        if isinstance(curse, Undefined):
            yield SummaryItem(f"Selection bias{of} is not known", curse.reason, own(one, "bias"), "unchecked")
            continue
        how = "at most" if curse.is_upper_bound else "about"
        bias = say(f"Selection bias{of}: {how} {{bias:rough}}", bias=curse.optimism)
        if _has_no_bias(curse):
            bias = say(f"No noticeable selection bias{of}")
        n = "" if curse.n is None else f", {curse.n:,} examples each"
        yield SummaryItem(bias.text, f"{pluralize(curse.n_trials, 'trial')}{n}", own(one, "bias"))
        if curse.tied:
            words = say("{tied:count} others are not significantly worse", tied=len(curse.tied))
            if len(curse.tied) < MOST_NAMED:
                names = join_as_list([say(str(number)) for number in curse.tied])
                verb = "trial {names} is" if len(curse.tied) == 1 else "trials {names} are"
                words = say(verb + " not significantly worse", names=names)
            yield SummaryItem(f"The best trial{of} is uncertain", words, "", "failed")
        else:
            yield SummaryItem(f"The best trial{of} is certain", "all others are significantly worse")
    if not study.trials.counts["failed"] and not study.trials.n_non_finite:
        yield SummaryItem("No trial failed", say("{trials:count} trials", trials=len(study.trials)), "trials")


def _parameters(study: Study) -> Sentence:
    """The parameters of the best trial in one line, the most important first."""
    names = [name for name in study.leading(len(study.trials.params)) if name in study.best.params]
    if not names:
        return NOTHING
    kind, colon, _ = names[0].partition(": ")
    start = kind + colon if colon and all(name.startswith(kind + colon) for name in names) else ""
    shown, covered = _important(study, names)
    values = [
        say(
            "{name} *{value}*",
            name=name.removeprefix(start),
            value=param_cell(study.best.params[name]).words,
        )
        for name in shown
    ]
    if not values:
        return NOTHING
    what = f"Trial {{number}}, {kind}:" if start else "Trial {number}:"
    line = say(what + " {values}", number=str(study.best.number), values=join_as_list(values))
    if len(shown) == len(names):
        return say("{line}.", line=line)
    words = "{line}. Together: {covered:percent} of the importance of {all:count} parameters."
    return say(words, line=line, covered=covered, all=len(names), of=100)


def _important(study: Study, names: Sequence[str]) -> tuple[Sequence[str], float]:
    """The fewest parameters with half of the importance, and their part of it; all where they are few.

    None where a few do not have half of it, or where the importance is not known.
    """
    if len(names) <= SHOWN:
        return names, 1.0
    shares = {} if isinstance(study.importance, Undefined) else dict(study.importance.shares)
    for n in range(1, SHOWN + 1):
        covered = sum(shares.get(name, 0.0) for name in names[:n])
        if covered >= HALF:
            return names[:n], covered
    return (), 0.0


def headline(study: Study) -> Sentence:
    """Return the outcome of a study in one sentence."""
    trials, complete = study.trials, len(study.trials.contenders)
    broken = trials.counts["infeasible"]
    if not complete and broken:
        words = "_No trial meets the constraints_: {broken:count} of {trials:count} are infeasible."
        return say(words, broken=broken, trials=len(trials))
    if not complete:
        return say("_No trial completed_: {trials:count} were started.", trials=len(trials))
    if study.several:
        words = (
            "{front:count} of {complete:count} complete trials are on the Pareto front: no other trial is "
        )
        words += "better in one objective without being worse in another."
        return say(words, front=len(trials.pareto()), complete=complete)
    lead = "The only complete trial" if complete == 1 else "The best of {complete:count} complete trials"
    words = lead + " reaches {study.objective.name} {best_shown}" + ("." if complete == 1 else ";")
    found = say(words, {"study": study}, complete=complete, best_shown=_best_value(study))
    return found if complete == 1 else found + _verdict_tied(study)


def _verdict_tied(study: Study) -> Sentence:
    curse = study.curse
    if isinstance(curse, Undefined):
        return say("its selection bias is not known.")
    if not curse.tied:
        return say("every other trial is significantly worse.")
    words = "{tied:count} {tied:other is|others are} not significantly worse."
    return say(words, tied=len(curse.tied))


def summary(study: Study) -> Sentence:
    """Return the best value without its selection bias, for the terminal."""
    if not study.trials.contenders:
        return NOTHING
    if study.several:
        return paragraph(*map(_best_of_objective, study.each))
    curse = study.curse
    if isinstance(curse, Undefined):
        return paragraph(
            say("Its selection bias is not known: {reason}.", reason=curse.reason), remedy(study)
        )
    on = say(" on {n:count} examples", n=curse.n) if curse.n is not None else NOTHING
    how, words = "about", "expect {c.expected_value:number} on new data, not {observed}."
    if curse.is_upper_bound:
        how, words = (
            "up to",
            "expect at least {c.expected_value:number} on new data, not {observed}.",
        )
    start = f"The best of {{rivals:count}} trials{{on}} looks {how} {{c.optimism:rough}} better than it is: "
    words = start + words
    if _has_no_bias(curse):
        words = "The best of {rivals:count} trials{on} has no noticeable selection bias: expect {observed} "
        words += "on new data."
    words += " {c.confidence:percent} confidence interval: {c.expected_value:number interval}."
    return say(words, {"c": curse}, on=on, rivals=curse.n_trials, observed=_observed_value(curse))


def _observed_value(curse: WinnersCurse) -> Sentence:
    """The best value, with the decimals of its value without selection bias."""
    return reference_sentence("observed", curse.observed, curse.expected_value, "number")


def _has_no_bias(curse: WinnersCurse) -> bool:
    """Whether the best value and its value without selection bias are the same number as shown."""
    return _observed_value(curse).text == format_estimate(curse.expected_value, "number")


def _best_of_objective(study: Study) -> Sentence:
    """The best value of one of several objectives, and its selection bias."""
    best, words = study.best, "The best {study.objective.name} is {best_value:significant} (trial {trial})"
    found = say(words, {"study": study}, best_value=best.values[study.at], trial=str(best.number))
    if isinstance(study.curse, Undefined):
        return say("{found}.", found=found)
    limit = "up to" if study.curse.is_upper_bound else "about"
    words = f"{{found}}, {limit} {{curse.optimism:rough}} of it selection bias."
    return say(words, {"curse": study.curse}, found=found)


def front(study: Study) -> tuple[Trial, ...]:
    """Return the trials of the front, best first by the objective that the study is about.

    Parameters
    ----------
    study : Study
    """
    sign = study.objective.sign
    return tuple(sorted(study.trials.pareto(), key=lambda trial: -sign * trial.values[study.at]))


def _some_of_front(study: Study) -> Table:
    """Trials of the front from one end to the other."""
    every = front(study)
    chosen = tuple(every[at] for at in evenly_spaced_places(len(every), MOST_OF_FRONT))
    names = [name for name in study.trials.params if any(name in trial.params for trial in chosen)]
    goals = study.trials.objectives
    heads: tuple[Column | str, ...] = (
        Column("Trial", "n"),
        *(goal.name for goal in goals),
        *(Column(name, look_of(study, name)) for name in names),
    )
    rows = (_row(study, trial, names) for trial in chosen)
    return Table.from_rows("best-trials", "Trials on the Pareto front", heads, rows)


def look_of(study: Study, name: str) -> Look:
    """Return how a parameter's column is aligned: words to the left, numbers to the right."""
    return "" if name in study.trials.wordy else "n"


def _row(study: Study, trial: Trial, names: list[str]) -> Row:
    return (
        str(trial.number),
        *map(significant, trial.values),
        *(param_cell(sampled_param(trial, name), look_of(study, name)) for name in names),
    )


def param_cell(value: Param, look: Look = "") -> Cell:
    """Return a parameter's value as a cell: numbers short, "–" where it was not sampled.

    Parameters
    ----------
    value : str, int, float, bool or None
    look : str
        Of the column, which a gap takes over.

    Examples
    --------
    >>> param_cell(0.123456).text, param_cell("rbf").text, param_cell(None).text, param_cell(True).text
    ('0.1235', 'rbf', '–', 'True')
    """
    match value:
        case None:
            return Cell("–", look)
        case bool() | str():
            return Cell(str(value))
        case int() | float():
            return Cell(significant(float(value)), "n", float(value))

"""How a sweep went: best so far, values on the way, time.

The winner's curse: how much of the best value is luck, and which trials are as good as the best.

The first screen of a sweep: the best trial, and how lucky it was."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from statistics import median

import numpy as np

from evalreport.core.estimate_format import format_estimate
from evalreport.core.format import format_fixed, significant
from evalreport.core.result import Undefined
from evalreport.core.sentences import (
    NOTHING,
    Sentence,
    join_sentences,
    paragraph,
    reference_sentence,
    say,
    with_options,
)
from evalreport.features.studies.study import UNNAMED, Study, metric_of
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
    LEFT,
    Axes,
    Chart,
    Label,
    Path,
    Shape,
    clearest,
    nice_step,
    pad_range,
    place_label,
    x_axis,
    y_axis,
)
from evalreport.page.elements import (
    Cell,
    Column,
    Empty,
    Facts,
    Folded,
    Heading,
    Look,
    PagePart,
    Row,
    Section,
    Table,
    TwoColumns,
)
from evalreport.page.sections.curves import evenly_spaced_places
from evalreport.page.sections.headline import MOST as VERDICT_MOST
from evalreport.page.sections.headline import WORDS, Warned
from evalreport.page.trial_history import (
    MOST_POINTS,
    READ,
    ROWS,
    STATES,
    history_chart,
    history_view,
    thin_positions,
)
from evalreport.thresholds.trial import Param, Space, Trial, is_number


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
        summary += say("{gone:count} completed without a finite value and are left out.", gone=gone)
    broken = study.trials.counts["infeasible"]
    if broken:
        summary += say("Orange: {broken:count} infeasible, which cannot be the best.", broken=broken)
    view = intermediate_view(study.trials)
    if view.curves:
        summary += say("{curves:count} reported values on their way.", curves=view.n_curves)
        charts.append(_intermediate(study, view))
    return Section.from_parts("history", "History", "How the search went", summary, TwoColumns(tuple(charts)))


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
    took = {"total": duration(view.seconds), "median": duration(view.median)}
    summary = say(words + "at once.", took, timed=len(study.trials) - view.n_unknown, lanes=view.lanes)
    parts = TwoColumns((_timeline(view), (Heading("By state"), _by_state(study))))
    return Section.from_parts("timeline", "Time", "Where the time went", summary, parts)


def _by_state(study: Study) -> Table:
    rows = []
    for state, words in STATES.items():
        every = [trial.duration for trial in study.trials.trials if trial.state == state]
        took = [seconds for seconds in every if seconds is not None]
        if every:
            cells = [duration(f(took)) if took else "–" for f in (median, max, sum)]
            rows.append((words, f"{len(every):,}", *cells))
    heads = ("State", "Trials", "Median", "Longest", "In all")
    return Table.from_rows("timeline-states", "Time by state", heads, rows)


def _timeline(view: Timeline) -> Chart:
    long = ((3600.0, "hours"), (60.0, "minutes"), (1.0, "seconds"))
    scale, unit = next((pair for pair in long if view.seconds > 2 * pair[0]), long[-1])
    numbers = [bar.number for bar in view.bars]
    trials = y_axis(min(numbers) - 1, max(numbers) + 1, "Trial ↑")
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
LUCK_LETTER = 5.5
"""Width of a letter of a chart, as the browser draws it on average; used to keep words off the dots."""


def luck_section(study: Study) -> Section | None:
    """Return how much of the best value is luck."""
    if not study.trials.contenders:
        return None
    curse = study.curse
    title = "How much of the best is luck"
    if isinstance(curse, Undefined):
        empty = Empty(
            say("By how much the best looks better than it is, is not known."),
            paragraph(say("{reason}.", reason=curse.reason[:1].upper() + curse.reason[1:]), remedy(study)),
        )
        return Section.from_parts("luck", "Luck", title, NOTHING, empty)
    summary = say(
        "Of trials that are equally good, the luckiest comes first: the more are tried and the fewer "
        "examples judge them, the better the best looks beyond what it is."
    )
    return Section.from_parts(
        "luck", "Luck", title, summary, TwoColumns((Facts(_facts(curse)), _chart(study, curse)))
    )


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
    judged = say("") if curse.n is None else say(", judged on {n:count} examples", n=curse.n)
    many = "up to" if curse.is_upper_bound else "about"
    worth = "*{expected:number}*" + (", were all errors independent" if curse.is_upper_bound else "")
    rivals = say("{rivals:count}, each set of parameters once", rivals=curse.n_trials)
    return (
        (
            "Best value",
            say("{observed:significant} (trial {best})", observed=curse.observed, best=str(curse.best)),
        ),
        ("Looks better than it is by", say(many + " *{optimism:rough}*", optimism=curse.optimism)),
        ("Less that luck", say(worth, expected=curse.expected_value)),
        ("If all were equally good", say("by {equal:rough}", equal=curse.optimism_if_equal)),
        ("Error of one value", say("{error:rough} (standard error)", error=curse.standard_error)),
        ("Trials that competed", join_sentences(rivals, judged)),
        ("Not told apart from the best", _tied_sentence(curse)),
        ("Assumed", say("{assumption}", assumption=curse.assumption)),
    )


def _tied_sentence(curse: WinnersCurse) -> Sentence:
    if not curse.tied:
        return say("none: every other trial is demonstrated to be worse")
    named = ", ".join(map(str, curse.tied[:MOST]))
    more = len(curse.tied) - MOST
    words = "{tied:count}: trials {named}" + (" and {more:count} more" if more > 0 else "")
    words += ". With a confidence of {curse.confidence:percent} the truly best is among these and the best."
    return say(words, {"curse": curse}, tied=len(curse.tied), named=named, more=more)


def _chart(study: Study, curse: WinnersCurse) -> Chart:
    sign = study.objective.sign
    ranked = sorted(study.trials.contenders, key=lambda trial: -sign * trial.values[study.at])
    kept = [ranked[at] for at in thin_positions(len(ranked), range(len(ranked)), MOST_POINTS)]
    values = [trial.values[study.at] for trial in kept]
    heights = y_axis(*pad_range([*values, curse.corrected]), f"{study.objective.name} ↑")
    axes = Axes(x_axis(0, len(ranked) + 1, "Rank"), heights)
    described = (
        "{objective} of each complete trial, best first; {tied:count} are not told apart from the best."
    )
    return Chart(
        id=own(study, "luck-chart"),
        title="Every complete trial by rank",
        note=say("Ring: the best. Blue: not told apart from it. Grey: demonstrated to be worse."),
        description=say(described, objective=study.objective.name, tied=len(curse.tied)),
        axes=axes,
        paths=(Path("guide", axes.level(curse.corrected)), *_trial_dots(study, axes, kept, values)),
        labels=(_expected_label(curse, axes, values),),
        ring=(axes.x_position(1), axes.y_position(curse.observed)),
        values=_values(study, kept),
    )


def _trial_dots(study: Study, axes: Axes, kept: list[Trial], values: list[float]) -> tuple[Path, Path]:
    """Grey dots of the trials that are worse, over them blue ones of the others; the best is ringed."""
    ranked = list(enumerate(zip(values, kept, strict=True), 1))
    near = [(rank, value) for rank, (value, trial) in ranked if trial.number in study.tied_trials]
    far = [
        (rank, value) for rank, (value, trial) in ranked if trial.number not in study.tied_trials and rank > 1
    ]
    return Path("dots-2", axes.dots(far)), Path("dots", axes.dots(near))


def _expected_label(curse: WinnersCurse, axes: Axes, values: list[float]) -> Label:
    """The corrected value beside its guide, where it covers the fewest dots."""
    expected = format_estimate(curse.expected_value, "number")
    words = f"{'at worst' if curse.is_upper_bound else 'expect'} {expected}"
    dotted = [(axes.x_position(rank), axes.y_position(value)) for rank, value in enumerate(values, 1)]
    height = axes.y_position(curse.corrected)
    spots = [(left, base) for base in (height - 5, height + 14) for left in (LEFT + 6, 230.0, 130.0)]
    width = LUCK_LETTER * len(words)
    return place_label(clearest(spots, width, np.array([(axes.x.ticks[0][0], 0.0), *dotted])), width, words)


def _values(study: Study, kept: list[Trial]) -> Table:
    rows = []
    for place in evenly_spaced_places(len(kept), ROWS):
        trial = kept[place]
        value = significant(trial.values[study.at])
        rows.append((str(place + 1), str(trial.number), value, against_the_best(study, trial.number)))
    heads = (Column("Rank", "n"), "Trial", study.objective.name, Column("Against the best"))
    return Table.from_rows(own(study, "luck-values"), objective_title(study, "Values by rank"), heads, rows)


def against_the_best(study: Study, number: int) -> str:
    """Return how a complete trial stands to the best one."""
    if isinstance(study.curse, Undefined):
        return "–"
    if number == study.curse.best:
        return "best"
    return "not told apart" if number in study.tied_trials else "worse"


EDGE = 0.02
"""Share of a searched range that counts as its end."""
LATE = 0.1
"""Last part of a sweep in which a new best says that it was still improving."""
SOME = 20
"""Trials from which on that is worth saying."""


def doubts(study: Study) -> tuple[Warned, ...]:
    """Return what to beware of, the weightiest first."""
    told = [*_edges(study), *_late(study), *_lost_trial_warnings(study)]
    return (*told, *(Warned("note", WORDS["note"], f"{note}.", NOTHING, "") for note in study.trials.notes))


def _caution(claim: str, action: str, section: str) -> Warned:
    return Warned("caution", WORDS["caution"], claim, with_options(action), section)


def _edges(study: Study) -> Iterator[Warned]:
    if study.several or not study.trials.contenders:
        return
    best = study.best
    for space in study.trials.space:
        value = best.params.get(space.name)
        end = _end(space, float(str(value))) if is_number(value) else None
        if end is None:
            continue
        at, low, high = (significant(float(str(x))) for x in (value, space.low, space.high))
        yield _caution(
            f"The best {space.name}, {at}, lies at the {end} end of what was searched, {low} to {high}.",
            "A better one may lie beyond: search further.",
            "slices",
        )


def _end(space: Space, value: float) -> str | None:
    """The end at which a value lies; none for a range of few whole numbers, whose ends are often meant."""
    if space.low is None or space.high is None or space.high <= space.low:
        return None
    if all(float(x).is_integer() for x in (space.low, space.high, value)) and space.high - space.low < SOME:
        return None
    logs = space.log and space.low > 0 and value > 0
    low, high, at = (
        (math.log(x) for x in (space.low, space.high, value)) if logs else (space.low, space.high, value)
    )
    share = (at - low) / (high - low)
    return "lower" if share < EDGE else "upper" if share > 1 - EDGE else None


def _late(study: Study) -> Iterator[Warned]:
    trials = study.trials
    if study.several or not trials.contenders or len(trials) < SOME:
        return
    place = [trial.number for trial in trials.trials].index(study.best.number)
    if place >= (1 - LATE) * len(trials):
        yield _caution(
            f"The best came as number {place + 1:,} of {len(trials):,}: the search was still improving.",
            "More trials may find a better one.",
            "history",
        )


def _lost_trial_warnings(study: Study) -> Iterator[Warned]:
    gone, failed = study.trials.n_non_finite, study.trials.counts["failed"]
    broken = study.trials.counts["infeasible"]
    if broken:
        yield _caution(
            f"{broken:,} of {len(study.trials):,} trials are infeasible: they break a constraint "
            "of the study and cannot be best.",
            "",
            "trials",
        )
    if gone:
        words = "trial ended" if gone == 1 else "trials ended"
        yield _caution(f"{gone:,} {words} with a NaN or infinite value and cannot be best.", "", "trials")
    if failed:
        yield _caution(
            f"{failed:,} of {len(study.trials):,} trials failed.",
            "Look at why before trusting the rest.",
            "trials",
        )


SHOWN = 10
"""Parameters of the best trial that the first screen shows; the others are folded away."""
MOST_OF_FRONT = 8
"""Trials of a front that the first screen shows."""


@dataclass(frozen=True)
class StudyVerdict:
    """Kicker, headline, summary, the best trial's parameters, and what to beware of."""

    kicker: tuple[str, ...]
    name: str
    headline: Sentence
    summary: Sentence
    best: tuple[PagePart, ...]
    warnings: tuple[Warned, ...]
    more: tuple[Warned, ...]


def verdict_section(study: Study) -> Section:
    """Return the verdict of a sweep."""
    warnings = doubts(study)
    body = StudyVerdict(
        kicker=_kicker(study),
        name=study.trials.study_name or study.provenance.run_name,
        headline=headline(study),
        summary=summary(study),
        best=_best(study),
        warnings=warnings[:VERDICT_MOST],
        more=warnings[VERDICT_MOST:],
    )
    return Section("verdict", "Verdict", "Verdict", "study", NOTHING, body)


def _kicker(study: Study) -> tuple[str, ...]:
    counts = [f"{n:,} {STATES[state]}" for state, n in study.trials.counts.items() if n]
    goal = " and ".join(f"{goal.direction} {goal.name}" for goal in study.trials.objectives)
    return (goal, ", ".join(counts))


def headline(study: Study) -> Sentence:
    """Return the outcome of a sweep in one sentence."""
    trials, complete = study.trials, len(study.trials.contenders)
    broken = trials.counts["infeasible"]
    if not complete and broken:
        words = "_No trial meets the constraints_: {broken:count} of {trials:count} are infeasible."
        return say(words, broken=broken, trials=len(trials))
    if not complete:
        return say("_No trial completed_ of {trials:count} that were started.", trials=len(trials))
    if study.several:
        words = (
            "{front:count} of {complete:count} complete trials are on the front: no other beats them in one "
        )
        words += "objective without losing in another."
        return say(words, front=len(trials.pareto()), complete=complete)
    lead = "The only complete trial" if complete == 1 else "The best of {complete:count} complete trials"
    words = (
        lead + " reaches {study.objective.name} {best_value:significant}" + ("." if complete == 1 else ";")
    )
    told = say(words, {"study": study}, complete=complete, best_value=study.best.values[study.at])
    return told if complete == 1 else told + _verdict_tied(study)


def _verdict_tied(study: Study) -> Sentence:
    curse = study.curse
    if isinstance(curse, Undefined):
        return say("_how lucky it was is not known_.")
    if not curse.tied:
        return say("every other one is demonstrated to be worse.")
    if len(curse.tied) == 1:
        return say("_{tied:count} other cannot be told apart from it_.", tied=1)
    return say("_{tied:count} others cannot be told apart from it_.", tied=len(curse.tied))


def summary(study: Study) -> Sentence:
    """Return what the best value is worth."""
    if not study.trials.contenders:
        return NOTHING
    if study.several:
        return paragraph(*map(_verdict_best_of, study.each))
    curse = study.curse
    if isinstance(curse, Undefined):
        unknown = say("By how much the best looks better than it is: {reason}.", reason=curse.reason)
        return paragraph(unknown, remedy(study))
    judged = say("Judged on {n:count} examples, the", n=curse.n) if curse.n is not None else say("The")
    how, words = "looks about", "expect {c.expected_value:number} on new data, not {observed}."
    if curse.is_upper_bound:
        how = "may look up to"
        words = "{c.expected_value:number} instead of {observed}, were all errors independent."
    words = (
        f"{{judged}} best of {{rivals:count}} trials {how} *{{c.optimism:rough}}* better than it is: {words}"
    )
    words += (
        " With {c.confidence:percent} confidence the true value is in *{c.expected_value:number interval}*."
    )
    observed = reference_sentence("observed", curse.observed, curse.expected_value, "number")
    told = say(words, {"c": curse}, judged=judged, rivals=curse.n_trials, observed=observed)
    assumed = curse.assumption[:1].upper() + curse.assumption[1:]
    return paragraph(told, say("{assumption}.", assumption=assumed))


def _verdict_best_of(study: Study) -> Sentence:
    """The best value of one of several objectives, and how much of it is luck."""
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


def _best(study: Study) -> tuple[PagePart, ...]:
    """The parameters of the best trial, the most important first, or some of the front."""
    if not study.trials.contenders:
        return ()
    if study.several:
        return (_some_of_front(study),)
    names = [name for name in study.leading(len(study.trials.params)) if name in study.best.params]
    rows = [(name, param_cell(study.best.params[name])) for name in names]
    heads = ("Parameter", f"Trial {study.best.number}")
    title = "The best trial"
    parts: list[PagePart] = [Table.from_rows("best-trials", title, heads, rows[:SHOWN])] if rows else []
    if len(rows) > SHOWN:
        rest = Table.from_rows("best-trials-rest", f"{title}, the rest", heads, rows[SHOWN:])
        parts.append(Folded(f"and {len(rows) - SHOWN} more parameters", (rest,)))
    return tuple(parts)


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
    return Table.from_rows("best-trials", "Some of the front", heads, rows)


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
    """Return a parameter's value as a cell: numbers short, "–" where it was not drawn.

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

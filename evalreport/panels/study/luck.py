"""The winner's curse: how much of the best value is luck, and which trials are as good as the best."""

from __future__ import annotations

import numpy as np

from evalreport.estimates import valued
from evalreport.format import significant
from evalreport.panels.chart import LEFT, Axes, Chart, Label, Path, padded, x_axis, y_axis
from evalreport.panels.curves import spread
from evalreport.panels.parts import Beside, Column, Empty, Facts, Section, Table
from evalreport.panels.placing import clearest, labelled
from evalreport.panels.study.words import about, own
from evalreport.panels.words import NOTHING, Sentence, joined, paragraph, say
from evalreport.study import Trial, WinnersCurse
from evalreport.study.judged import UNNAMED, Study, metric_of
from evalreport.study.luck import MEANS, PROPORTIONS
from evalreport.study.views.axes import MOST_POINTS, thinned
from evalreport.values import Undefined

ROWS = 20
"""Trials of the table beside the chart."""
MOST = 24
"""Trials that are named one by one."""
LETTER = 5.5
"""Width of a letter of a chart, as the browser draws it on average; used to keep words off the dots."""


def panel(study: Study) -> Section | None:
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
        return Section.of("luck", "Luck", title, NOTHING, empty)
    summary = say(
        "Of trials that are equally good, the luckiest comes first: the more are tried and the fewer "
        "examples judge them, the better the best looks beyond what it is."
    )
    return Section.of("luck", "Luck", title, summary, Beside((Facts(_facts(curse)), _chart(study, curse))))


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
    many = "up to" if curse.at_most else "about"
    worth = "*{expected:number}*" + (", were all errors independent" if curse.at_most else "")
    rivals = say("{rivals:count}, each set of parameters once", rivals=curse.n_trials)
    return (
        (
            "Best value",
            say("{observed:significant} (trial {best})", observed=curse.observed, best=str(curse.best)),
        ),
        ("Looks better than it is by", say(many + " *{optimism:rough}*", optimism=curse.optimism)),
        ("Less that luck", say(worth, expected=curse.expected)),
        ("If all were equally good", say("by {equal:rough}", equal=curse.optimism_if_equal)),
        ("Error of one value", say("{error:rough} (standard error)", error=curse.standard_error)),
        ("Trials that competed", joined(rivals, judged)),
        ("Not told apart from the best", _tied(curse)),
        ("Assumed", say("{assumption}", assumption=curse.assumption)),
    )


def _tied(curse: WinnersCurse) -> Sentence:
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
    kept = [ranked[at] for at in thinned(len(ranked), range(len(ranked)), MOST_POINTS)]
    values = [trial.values[study.at] for trial in kept]
    heights = y_axis(*padded([*values, curse.corrected]), f"{study.objective.name} ↑")
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
        labels=(_expected(curse, axes, values),),
        ring=(axes.across(1), axes.up(curse.observed)),
        values=_values(study, kept),
    )


def _trial_dots(study: Study, axes: Axes, kept: list[Trial], values: list[float]) -> tuple[Path, Path]:
    """Grey dots of the trials that are worse, over them blue ones of the others; the best is ringed."""
    ranked = list(enumerate(zip(values, kept, strict=True), 1))
    near = [(rank, value) for rank, (value, trial) in ranked if trial.number in study.tied]
    far = [(rank, value) for rank, (value, trial) in ranked if trial.number not in study.tied and rank > 1]
    return Path("dots-2", axes.dots(far)), Path("dots", axes.dots(near))


def _expected(curse: WinnersCurse, axes: Axes, values: list[float]) -> Label:
    """The corrected value beside its guide, where it covers the fewest dots."""
    words = f"{'at worst' if curse.at_most else 'expect'} {valued(curse.expected, 'number')}"
    dotted = [(axes.across(rank), axes.up(value)) for rank, value in enumerate(values, 1)]
    height = axes.up(curse.corrected)
    spots = [(left, base) for base in (height - 5, height + 14) for left in (LEFT + 6, 230.0, 130.0)]
    width = LETTER * len(words)
    return labelled(clearest(spots, width, np.array([(axes.x.ticks[0][0], 0.0), *dotted])), width, words)


def _values(study: Study, kept: list[Trial]) -> Table:
    rows = []
    for place in spread(len(kept), ROWS):
        trial = kept[place]
        value = significant(trial.values[study.at])
        rows.append((str(place + 1), str(trial.number), value, against_the_best(study, trial.number)))
    heads = (Column("Rank", "n"), "Trial", study.objective.name, Column("Against the best"))
    return Table.of(own(study, "luck-values"), about(study, "Values by rank"), heads, rows)


def against_the_best(study: Study, number: int) -> str:
    """Return how a complete trial stands to the best one."""
    if isinstance(study.curse, Undefined):
        return "–"
    if number == study.curse.best:
        return "best"
    return "not told apart" if number in study.tied else "worse"

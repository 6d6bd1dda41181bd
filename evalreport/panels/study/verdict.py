"""The first screen of a sweep: the best trial, and how lucky it was."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from evalreport.format import significant
from evalreport.panels.curves import spread
from evalreport.panels.parts import Cell, Column, Folded, Look, PagePart, Row, Section, Table
from evalreport.panels.study.luck import remedy
from evalreport.panels.study.words import STATES
from evalreport.panels.verdict import MOST, WORDS, Warned
from evalreport.panels.words import NOTHING, Sentence, compared, paragraph, say, with_options
from evalreport.study import Param, Space, Trial
from evalreport.study.judged import Study
from evalreport.study.values import is_number
from evalreport.study.views.outcome import drawn
from evalreport.values import Undefined

EDGE = 0.02
"""Share of a searched range that counts as its end."""
LATE = 0.1
"""Last part of a sweep in which a new best says that it was still improving."""
SOME = 20
"""Trials from which on that is worth saying."""


def doubts(study: Study) -> tuple[Warned, ...]:
    """Return what to beware of, the weightiest first."""
    told = [*_edges(study), *_late(study), *_lost(study)]
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


def _lost(study: Study) -> Iterator[Warned]:
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


def panel(study: Study) -> Section:
    """Return the verdict of a sweep."""
    warnings = doubts(study)
    body = StudyVerdict(
        kicker=_kicker(study),
        name=study.trials.study_name or study.provenance.run_name,
        headline=headline(study),
        summary=summary(study),
        best=_best(study),
        warnings=warnings[:MOST],
        more=warnings[MOST:],
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
    return told if complete == 1 else told + _tied(study)


def _tied(study: Study) -> Sentence:
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
        return paragraph(*map(_best_of, study.each))
    curse = study.curse
    if isinstance(curse, Undefined):
        unknown = say("By how much the best looks better than it is: {reason}.", reason=curse.reason)
        return paragraph(unknown, remedy(study))
    judged = say("Judged on {n:count} examples, the", n=curse.n) if curse.n is not None else say("The")
    how, words = "looks about", "expect {c.expected:number} on new data, not {observed}."
    if curse.at_most:
        how = "may look up to"
        words = "{c.expected:number} instead of {observed}, were all errors independent."
    words = (
        f"{{judged}} best of {{rivals:count}} trials {how} *{{c.optimism:rough}}* better than it is: {words}"
    )
    words += (
        " With {c.confidence:percent} confidence its true value is within *{c.expected:number interval}*."
    )
    observed = compared("observed", curse.observed, curse.expected, "number")
    told = say(words, {"c": curse}, judged=judged, rivals=curse.n_trials, observed=observed)
    assumed = curse.assumption[:1].upper() + curse.assumption[1:]
    return paragraph(told, say("{assumption}.", assumption=assumed))


def _best_of(study: Study) -> Sentence:
    """The best value of one of several objectives, and how much of it is luck."""
    best, words = study.best, "The best {study.objective.name} is {best_value:significant} (trial {trial})"
    found = say(words, {"study": study}, best_value=best.values[study.at], trial=str(best.number))
    if isinstance(study.curse, Undefined):
        return say("{found}.", found=found)
    words = f"{{found}}, {'up to' if study.curse.at_most else 'about'} {{curse.optimism:rough}} of it luck."
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
    parts: list[PagePart] = [Table.of("best-trials", title, heads, rows[:SHOWN])] if rows else []
    if len(rows) > SHOWN:
        rest = Table.of("best-trials-rest", f"{title}, the rest", heads, rows[SHOWN:])
        parts.append(Folded(f"and {len(rows) - SHOWN} more parameters", (rest,)))
    return tuple(parts)


def _some_of_front(study: Study) -> Table:
    """Trials of the front from one end to the other."""
    every = front(study)
    chosen = tuple(every[at] for at in spread(len(every), MOST_OF_FRONT))
    names = [name for name in study.trials.params if any(name in trial.params for trial in chosen)]
    goals = study.trials.objectives
    heads: tuple[Column | str, ...] = (
        Column("Trial", "n"),
        *(goal.name for goal in goals),
        *(Column(name, look_of(study, name)) for name in names),
    )
    rows = (_row(study, trial, names) for trial in chosen)
    return Table.of("best-trials", "Some of the front", heads, rows)


def look_of(study: Study, name: str) -> Look:
    """Return how a parameter's column is aligned: words to the left, numbers to the right."""
    return "" if name in study.trials.wordy else "n"


def _row(study: Study, trial: Trial, names: list[str]) -> Row:
    return (
        str(trial.number),
        *map(significant, trial.values),
        *(param_cell(drawn(trial, name), look_of(study, name)) for name in names),
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

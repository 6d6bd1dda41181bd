"""What a reader should know before trusting the best trial: warnings of the first screen."""

from __future__ import annotations

import math
from collections.abc import Iterator

from evalreport.format import significant
from evalreport.panels.verdict import WORDS, Warned
from evalreport.panels.words import NOTHING, with_options
from evalreport.study import Space
from evalreport.study.judged import Study
from evalreport.study.values import is_number

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
    if gone:
        words = "trial ended" if gone == 1 else "trials ended"
        yield _caution(f"{gone:,} {words} with a NaN or infinite value and cannot be best.", "", "trials")
    if failed:
        yield _caution(
            f"{failed:,} of {len(study.trials):,} trials failed.",
            "Look at why before trusting the rest.",
            "trials",
        )

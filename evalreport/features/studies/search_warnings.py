"""What is wrong with the search of a study, or with its trials."""

from __future__ import annotations

import math
from collections.abc import Iterator

from evalreport.core.format import significant
from evalreport.core.sentences import NOTHING, with_options
from evalreport.features.studies.study import Study
from evalreport.page.sections.headline import WORDS, Warned
from evalreport.thresholds.trial import Space, is_number

EDGE = 0.02
"""Proportion of a searched range that counts as its end."""
LATE = 0.1
"""Last part of a study in which a new best value shows that the search was still improving."""
SOME = 20
"""Fewest trials for that warning."""


def doubts(study: Study) -> tuple[Warned, ...]:
    """Return what is wrong with the search or its trials, the most important first."""
    found = [*_edges(study), *_late(study), *_never_better(study), *_lost_trial_warnings(study)]
    return (*found, *(Warned("note", WORDS["note"], f"{note}.", NOTHING, "") for note in study.trials.notes))


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
            f"The best {space.name}, {at}, is at the {end} end of the searched range, {low} to {high}.",
            "Search a wider range: a better value may be outside it.",
            "slices",
        )


def _end(space: Space, value: float) -> str | None:
    """The end of the range that a value is at; none for a range of few integers."""
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
            f"The best trial was number {place + 1:,} of {len(trials):,}: the search was still improving.",
            "Run more trials.",
            "history",
        )


def _never_better(study: Study) -> Iterator[Warned]:
    """The search did not improve on its first trial."""
    trials = study.trials
    if study.several or len(trials.contenders) < SOME:
        return
    if trials.trials[0].number == study.best.number:
        claim = f"No later trial is better than the first one, trial {study.best.number}."
        yield _caution(claim, "", "history")


def _lost_trial_warnings(study: Study) -> Iterator[Warned]:
    gone, failed = study.trials.n_non_finite, study.trials.counts["failed"]
    broken = study.trials.counts["infeasible"]
    if broken:
        yield _caution(
            f"{broken:,} of {len(study.trials):,} trials are infeasible: they violate a constraint "
            "of the study and cannot be the best.",
            "",
            "trials",
        )
    if gone:
        words = "trial ended" if gone == 1 else "trials ended"
        yield _caution(f"{gone:,} {words} with a NaN or infinite value and cannot be the best.", "", "trials")
    if failed:
        yield _caution(
            f"{failed:,} of {len(study.trials):,} trials failed.",
            "Find out why before you trust the others.",
            "trials",
        )

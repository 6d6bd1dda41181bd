"""The page of a metric over time: what changed when, the chart, and each run."""

from __future__ import annotations

from evalreport.comparison.over_time import Change, OverTime, TimedRun
from evalreport.estimates import gap, interval, valued
from evalreport.format import counted
from evalreport.panels.history import History, Moment, day, days, history
from evalreport.panels.parts import Cell, Column, Section, Table
from evalreport.panels.site import FrontVerdict
from evalreport.panels.words import NOTHING, Sentence, listed, paragraph, say
from evalreport.values import Estimate

MOST_NAMED = 3
"""Changes that the sentence names; the rest is counted."""
BROKEN = "other test set"


def over_time_headline(found: OverTime) -> Sentence:
    """Return how often the metric changed, and how often the test set did."""
    title, changes = found.metric.title, found.changes
    times = "once" if len(changes) == 1 else f"{len(changes)} times"
    words = f"{title} changed *{times}*" if changes else f"*No change* of {title} is demonstrated"
    if found.breaks:
        sets = "once" if len(found.breaks) == 1 else f"{len(found.breaks)} times"
        words += f"; _the test set changed {sets}_"
    return say(words + ".")


def change_in_words(found: OverTime, change: Change) -> Sentence:
    """Return one change: at which run, by how much, since which."""
    runs = {run.run: run for run in found.runs}
    after, before = runs[change.run], runs[change.since]
    by = change.difference
    size, _ = gap(by, by - after.half, by + after.half, found.metric.style)
    names = {"run": change.run, "when": day(after.started), "start": before.run}
    return say("{size} at {run:short} ({when}), from {start:short}", names, size=size)


def over_time_sections(found: OverTime, experiment: str) -> tuple[Section, ...]:
    """Return the sections of the page."""
    first, last = found.runs[0].started, found.runs[-1].started
    kicker = (experiment, counted(len(found.runs), "run"), days(first, last))
    named = listed([change_in_words(found, change) for change in found.changes[:MOST_NAMED]])
    more = "" if len(found.changes) <= MOST_NAMED else f", and {len(found.changes) - MOST_NAMED} more"
    summary = paragraph(
        say("{named}" + more + ".", named=named) if found.changes else NOTHING,
        say("A change is told where the intervals of two runs do not overlap, and never across a change of"
            " the test set."),
    )  # fmt: skip
    verdict = FrontVerdict(kicker, over_time_headline(found), summary, "")
    note = say("Whiskers: {level:percent} intervals. Blue: where the value changed.", level=found.level)
    return (
        Section("verdict", "Verdict", "Verdict", "site_verdict", NOTHING, verdict),
        Section("history", "History", "Over time", "history", note, _chart(found)),
        Section.of("runs", "Runs", "Every run", NOTHING, _table(found)),
    )


def _chart(found: OverTime) -> History:
    changed = {change.run for change in found.changes}
    moments = [Moment(r.run, r.started, r.value, r.low, r.high, r.run in changed) for r in found.runs]
    breaks = [(run.started, BROKEN) for run in found.breaks]
    return history(found.metric, moments, breaks=breaks, joined=[run.digest for run in found.runs])


def notes_of(found: OverTime) -> dict[str, str]:
    """Return what is to be said of single runs: a change, or another test set."""
    notes = {change.run: change_in_words(found, change).text for change in found.changes}
    digests = zip(found.runs, found.runs[1:], strict=False)
    for before, after in digests:
        if before.digest != after.digest:
            notes[after.run] = f"the test set changed: digest {before.digest[:8]} to {after.digest[:8]}"
    return notes


def run_in_words(found: OverTime, run: TimedRun) -> tuple[str, str]:
    """Return the value of a run and its interval."""
    result = Estimate(run.value, 0, run.low, run.high)
    return valued(result, found.metric.style), interval(result, found.metric.style)


def _table(found: OverTime) -> Table:
    notes = notes_of(found)
    heads = ("Started", Column("Run"), found.metric.title, "Interval", Column("What changed", "text"))
    rows = [
        (
            Cell(day(run.started, year=True), "", run.started),
            Cell(run.run),
            *run_in_words(found, run),
            notes.get(run.run, ""),
        )
        for run in found.runs
    ]
    return Table.of("over-time-table", f"{found.metric.title} by start", heads, rows)

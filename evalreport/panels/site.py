"""The front page of an experiment's site: who leads, the leaderboard, its history, and what is missing."""

from __future__ import annotations

from dataclasses import dataclass

from evalreport.comparison.board import Board, MissingRun, shared_findings
from evalreport.estimates import gap, valued
from evalreport.format import count, counted
from evalreport.panels.history import Moment, day, days, history
from evalreport.panels.parts import Cell, Column, Facts, Section, Table
from evalreport.panels.site_board import leaderboard_of
from evalreport.panels.words import NOTHING, Sentence, listed, paragraph, say, shortened

MOST_NAMED = 3
"""Runs that the sentence names; the rest is counted."""
MOST_SHOWN = 30
"""Runs without a rank in the table; all are in `runs.json`."""
MOST_SHARED = 12
"""Rows of a list; the rest is in the files."""


@dataclass(frozen=True)
class FrontVerdict:
    """Kicker, headline, summary, and the comparison of champion and best."""

    kicker: tuple[str, ...]
    headline: Sentence
    summary: Sentence
    link: str


def front_page(board: Board) -> tuple[Section, ...]:
    """Return the sections of the front page."""
    made = (
        _verdict(board),
        leaderboard_of(board),
        _history(board),
        _shared(board),
        _missing(board),
        _origin(board),
    )
    return tuple(section for section in made if section is not None)


def board_headline(board: Board) -> Sentence:
    """Return who leads, how many cannot be told apart, and the champion only if it is demonstrated worse."""
    ranked = board.ranking
    names = {"best": shortened(ranked[0].run)}
    others, tied = len(ranked) - 1, sum(entry.best_group for entry in ranked[1:])
    if not others:
        return say("{best} is the only run", names)
    worse = _champion_behind(board)
    end = "; _the champion is worse._" if worse else "."
    if tied:
        who = "the other" if others == 1 else "{k:count} of the other {n:count} runs"
        words = who + " cannot be told apart from it" + end
    else:
        who = "the other is" if others == 1 else "all {n:count} others are"
        words = who + " demonstrated to be worse" + (", the champion too." if worse else ".")
    return say("{best} leads; " + words, names, k=tied, n=others)


def _champion_behind(board: Board) -> bool:
    champion = board.champion
    return champion is not None and any(e.run == champion.name and not e.best_group for e in board.ranking)


def _verdict(board: Board) -> Section:
    first = board.runs[0].facts
    started = [run.started for run in board.runs if run.started is not None]
    span = days(min(started), max(started)) if started else ""
    judged = f"{counted(len(board.runs), 'run')} ranked" + (
        f", {len(board.missing)} not" if board.missing else ""
    )
    kicker = (board.experiment, judged, f"{count(first.rows)} {first.unit[1]}", *([span] if span else []))
    apart = board.champion is not None and board.best.stem in board.compared
    link = f"compare/{board.best.stem}.html" if apart else ""
    body = FrontVerdict(kicker, board_headline(board), _summary(board), link)
    return Section("verdict", "Verdict", "Verdict", "site_verdict", NOTHING, body)


def _summary(board: Board) -> Sentence:
    best, style = board.ranking[0], board.metric.style
    tied = [entry.run for entry in board.ranking[1:] if entry.best_group]
    named = listed([say("{name:short}", name=name) for name in tied[:MOST_NAMED]])
    more = f" and {count(len(tied) - MOST_NAMED)} more" if len(tied) > MOST_NAMED else ""
    champion, worse = board.champion, NOTHING
    if champion is not None and champion is not board.best:
        behind = _champion_behind(board)
        how = "is demonstrated to be worse, by {gap}." if behind else "is not demonstrated to be worse."
        gap = _gap(board, champion.name) if behind else ""
        worse = say("The champion, *{name:short}*, " + how, name=champion.name, gap=gap)
    value = f"{{value:{style}}}" + ("" if best.low is None else f" ({{value:{style} interval}})")
    return paragraph(
        say(f"{board.metric.title} of *{{best:short}}* is {value}.", best=best.run, value=best.result),
        say("{named}" + more + " may be as good.", named=named) if tied else NOTHING,
        worse,
    )


def _gap(board: Board, name: str) -> Sentence:
    """The size of a difference to the best, with its interval, without signs."""
    d = board.field.difference(board.best.name, name)
    value, low, high = abs(d.difference or 0.0), *sorted(abs(x) for x in (d.adjusted.low, d.adjusted.high))  # type: ignore[union-attr]
    shown, limits = gap(value, low, high, board.metric.style)
    return say("{shown} ({limits})", shown=shown.removeprefix("+"), limits=limits.replace("+", ""))


def _history(board: Board) -> Section | None:
    tied = {entry.run for entry in board.ranking if entry.best_group}
    values = {entry.run: entry for entry in board.ranking}
    moments = [
        Moment(
            run.name, run.started, e.value or 0.0, e.low, e.high, run.name in tied, f"runs/{run.stem}.html"
        )
        for run in board.runs
        if run.started is not None
        for e in (values[run.name],)
    ]
    if len(moments) < 2:
        return None
    steps = [
        (run.champion, values[run.name].value or 0.0, run.name) for run in board.champions if run.champion
    ]
    body = history(board.metric, moments, steps, board.best.name)
    note = "Whiskers: {level:percent} intervals." + (
        " Rings and line: the champion of the day." if steps else ""
    )
    summary = _champions(board) + say(note + " Blue: not told apart from today's best.", level=board.level)
    return Section("history", "History", "History", "history", summary, body)


def _champions(board: Board) -> Sentence:
    champions = board.champions
    if not champions:
        return say("Each run by the time of its start.")
    ranked = {entry.run: entry for entry in board.ranking}
    first, last = (
        valued(ranked[run.name].result, board.metric.style) for run in (champions[0], champions[-1])
    )
    if len(champions) == 1:
        return say("The champion, {name:short}, has {last}.", name=champions[0].name, last=last)
    times = "once" if len(champions) == 2 else f"{len(champions) - 1} times"
    return say(f"The champion changed {times}, from {{first}} to {{last}}.", first=first, last=last)


def _shared(board: Board) -> Section | None:
    found = shared_findings([(e.run, board.by_name[e.run].facts.findings) for e in board.ranking])
    if not found:
        return None
    total = len(board.runs)
    rows = [
        (
            Cell(f"{len(one.runs)} of {total}", "q", len(one.runs), round(100 * len(one.runs) / total)),
            Cell(one.claim, "text", sub=one.action),
            Cell(_not_in(one.others, total), "text"),
        )
        for one in found[:MOST_SHARED]
    ]
    most = f"The {MOST_SHARED} that most runs share, each" if len(found) > MOST_SHARED else "Each"
    summary = say(
        most + " in the words of the best run that has it. A finding that nearly all runs share is about the"
        " data or the task, not about a model."
    )
    heads = (Column("Runs"), Column("Finding"), Column("Not in"))
    table = Table.of("shared-table", "Findings that runs share", heads, rows)
    return Section.of("shared", "Shared findings", "What many runs share", summary, table)


def _not_in(others: tuple[str, ...], total: int) -> str:
    if not others:
        return "–"
    if len(others) > total / 2:
        return f"{count(len(others))} runs"
    more = f" and {len(others) - 2} more" if len(others) > 2 else ""
    return ", ".join(shortened(name) for name in others[:2]) + more


def _missing(board: Board) -> Section | None:
    if not board.missing:
        return None
    heads = (Column("Run"), Column("Why"), Column("Remedy"), Column("Date", "n"))
    table = Table.of(
        "missing-table", "Runs that are not ranked", heads, map(_missing_row, board.missing[:MOST_SHOWN])
    )
    n = len(board.missing)
    words = "One run of the experiment is" if n == 1 else "{n:count} runs of the experiment are"
    more = " The first 30; all are in `runs.json`." if n > MOST_SHOWN else ""
    return Section.of(
        "missing", "Missing", "What is missing", say(words + " not on the board." + more, n=n), table
    )


def _missing_row(run: MissingRun) -> tuple[Cell, ...]:
    when = "–" if run.started is None else day(run.started)
    return (
        Cell(run.name),
        Cell(run.reason, "text"),
        Cell(run.remedy or "–", "text"),
        Cell(when, "n", run.started),
    )


def _origin(board: Board) -> Section:
    first = board.runs[0].facts
    known = {"board": board, "first": first, "n": len(board.runs), "k": len(board.runs) - 1}
    told = {
        "Made by": "`{command}`",
        "Holds": "this page, {n:count} reports, {k:count} comparisons with {board.reference:short}; all as "
        "CSV and JSON: `runs.csv`, `pairs.csv`, `runs.json`, and a JSON beside each page",
        "Test rows": "{first.rows:count} {unit}, truth digest `{first.digest}`, the same for all {n:count}",
        "Differences": "paired contributions of rows, one critical value over all pairs (max-t), "
        "{board.level:percent}",
    }
    known |= {"command": f"evalreport site --experiment {board.experiment}", "unit": first.unit[1]}
    pairs = tuple((name, say(words, known)) for name, words in told.items())
    return Section.of("made", "Provenance", "Where this site comes from", NOTHING, Facts(pairs))

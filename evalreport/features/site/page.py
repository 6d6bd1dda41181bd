"""The front page of an experiment's site: the best runs, leaderboard, history, findings, missing runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from evalreport import __version__
from evalreport.core.format import brief, count, format_date, format_decimals, pluralize
from evalreport.core.json_codec import dumps, encode
from evalreport.core.result import Estimate, column_places, format_estimate, gap, with_interval
from evalreport.core.sentences import NOTHING, OPTION, Sentence, join_as_list, paragraph, say, truncate_name
from evalreport.features.site.leaderboard import (
    Board,
    BoardRun,
    MissingRun,
    shared_findings,
)
from evalreport.findings.rule import spoken
from evalreport.metrics.catalogue import COMPARED, find
from evalreport.metrics.record import Metric
from evalreport.page.charts import nice_step, pad_range, tick_text
from evalreport.page.comparison.comparison_choices import (
    SAME_MISTAKES,
    WHICH_ONE,
    bars_of_agreement,
    next_best,
    overlap,
    overlap_sentence,
    purposes_table,
    use_cell,
)
from evalreport.page.comparison.sections import CONTROLS
from evalreport.page.comparison.table import RANKING_COLUMNS, head_texts, ranking_rows, row_texts, table_data
from evalreport.page.csv_tables import as_csv
from evalreport.page.elements import (
    Cell,
    Column,
    Facts,
    Folded,
    ForestRow,
    Row,
    Section,
    Table,
    forest_row,
    place,
)
from evalreport.page.payload import LONGEST_VERDICT, SITE, Payload, content_digest
from evalreport.page.render import asset, whole_page

HEIGHT = 260.0
"""Pixels of the plot."""
SIDES = (2.0, 97.0)
"""Places of the first and the last run, in per cent of the width."""
DAY = 86_400_000
"""Milliseconds."""
STEPS = (1, 2, 5, 7, 14, 30, 61, 91, 182, 365, 730)
"""Days between ticks: round ones, weeks, months, quarters and years."""
MOST_TICKS = 5
"""Most ticks on a page of 360 pixels."""


@dataclass(frozen=True)
class Moment:
    """A run in time: its value with its interval, and whether it is highlighted."""

    name: str
    at: int
    value: float
    low: float | None
    high: float | None
    strong: bool = False
    href: str = ""


@dataclass(frozen=True)
class PlacedMoment:
    """A point of the chart: per cent across, pixels down."""

    x: float
    y: float
    low: float
    high: float
    strong: bool
    ring: bool
    href: str
    title: str


@dataclass(frozen=True)
class History:
    """The chart.

    Parameters
    ----------
    title, ytitle : str
    points : tuple of PlacedMoment
    steps : tuple of (x1, y1, x2, y2)
        Lines of the champion, in per cent and pixels.
    xticks, yticks : tuple of (place, text)
    labels : tuple of (x, y, text, look)
    description : str
    """

    title: str
    ytitle: str
    points: tuple[PlacedMoment, ...]
    steps: tuple[tuple[float, float, float, float], ...]
    xticks: tuple[tuple[float, str], ...]
    yticks: tuple[tuple[float, str], ...]
    labels: tuple[tuple[float, float, str, str], ...]
    description: str


def day(at: int, *, year: bool = False) -> str:
    """Return a time as its day, UTC.

    Examples
    --------
    >>> day(0), day(0, year=True)
    ('1 Jan', '1 Jan 1970')
    """
    return format_date(datetime.fromtimestamp(at / 1000, UTC), year=year)


def history(
    metric: Metric,
    moments: Sequence[Moment],
    champions: Sequence[tuple[int, float, str]] = (),
    best: str = "",
) -> History:
    """Return the chart of runs by time.

    Parameters
    ----------
    metric : Metric
    moments : sequence of Moment
    champions : sequence of (since, value, name)
        In their order.
    best : str
        Name of the run that is labelled.
    """
    times = [*(m.at for m in moments), *(since for since, *_ in champions)]
    first, last = min(times), max(times)
    low, high = pad_range([end for m in moments for end in (m.low, m.value, m.high) if end is not None])

    def x(at: float) -> float:
        share = 0.5 if last == first else (at - first) / (last - first)
        return round(SIDES[0] + share * (SIDES[1] - SIDES[0]), 2)

    def y(value: float) -> float:
        return round(HEIGHT - (value - low) / (high - low) * HEIGHT, 1)

    rings = {name for *_, name in champions}
    points = tuple(
        PlacedMoment(
            x(m.at),
            y(m.value),
            y(m.value if m.low is None else m.low),
            y(m.value if m.high is None else m.high),
            m.strong,
            m.name in rings,
            m.href,
            _title(metric, m),
        )
        for m in moments
    )
    labels = [(x(at), y(value), text, look) for at, value, text, look in _labels(moments, champions, best)]
    step = nice_step(high - low)
    ticks = [place * step for place in range(int(low // step) + 1, int(high // step) + 1)]
    arrow = "↓" if metric.better == "lower" else "↑"
    return History(
        f"{metric.title} of every run by date",
        f"{metric.title} {arrow}",
        points,
        tuple(_steps([(x(since), y(value)) for since, value, _ in champions])),
        tuple((x(at), day(at)) for at in _days(first, last)),
        tuple((y(value), tick_text(round(value, 10))) for value in ticks),
        tuple(labels),
        f"{len(moments)} runs from {day(first, year=True)} to {day(last, year=True)}.",
    )


def _labels(
    moments: Sequence[Moment], champions: Sequence[tuple[int, float, str]], best: str
) -> list[tuple[int, float, str, str]]:
    """The best of the runs, and the current model where it is another: time, value, words, look."""
    found = [(m.at, m.value, f"{best}, best", "blue") for m in moments if m.name == best]
    if champions and champions[-1][2] != best:
        found.append((champions[-1][0], champions[-1][1], CURRENT, "strong"))
    return found


def _title(metric: Metric, m: Moment) -> str:
    return f"{m.name}: {with_interval(Estimate(m.value, 0, m.low, m.high), metric.style)}"


def _steps(places: Sequence[tuple[float, float]]) -> list[tuple[float, float, float, float]]:
    """Lines from champion to champion, and on to the right end."""
    found = []
    for (x1, y1), (x2, y2) in pairwise(places):
        found += [(x1, y1, x2, y1), (x2, y1, x2, y2)]
    return [*found, (*places[-1], 100.0, places[-1][1])] if places else found


def _days(first: int, last: int) -> list[int]:
    """Days for the ticks: at most five, a round number of days apart."""
    span = (last - first) / DAY
    apart = next((step for step in STEPS if span / step <= MOST_TICKS), STEPS[-1]) * DAY
    start = -(-first // DAY) * DAY
    found = list(range(start, last + 1, apart))
    return found if found else [first]


PLACED = {"rank", "value", "interval", "against_best"}
"""Columns of a ranking that the template places, with links and drawings."""
CURRENT = "current model"
"""What the run that is tagged as the champion is called: champion reads as winner."""
FURTHER = 3
"""Metrics beside the first that can be shown."""


@dataclass(frozen=True)
class LeaderRow:
    """A run of the leaderboard, as it is shown; `shown` has the texts of the ranking's columns by name."""

    run: BoardRun
    rank: int
    shown: Mapping[str, str]
    value: float
    track: ForestRow
    tied: bool
    champion: bool
    marks: tuple[str, ...]
    difference: str
    limits: str
    behind: float
    compare: bool
    cells: tuple[tuple[str, float | None], ...]
    date: str


@dataclass(frozen=True)
class BoardColumn:
    """A column that can be chosen: its head, whether it is shown at first, and whether it holds numbers."""

    title: str
    shown: bool
    number: bool
    descending: bool = True


@dataclass(frozen=True)
class LeaderTable:
    """The leaderboard with its columns; `ends` are the texts of the axis, `band` the interval of the best.

    `others` has names and heads of columns of the ranking beyond those that the template places.
    """

    title: str
    others: Mapping[str, str]
    rows: tuple[LeaderRow, ...]
    columns: tuple[BoardColumn, ...]
    ends: tuple[str, str]
    lower: bool
    note: Sentence
    reference: str
    date: str
    band: tuple[float, float] | None = None

    @property
    def few(self) -> bool:
        """Whether the runs are too few for a filter."""
        return len(self.rows) <= CONTROLS


def leaderboard_of(board: Board) -> Section:
    """Return the leaderboard."""
    axis = _axis(board)
    first, pairs = board.runs[0].facts, len(board.runs) * (len(board.runs) - 1) // 2
    known = {"board": board, "pairs": pairs, "rows": first.rows, "unit": first.unit[1]}
    summary = say("All runs are evaluated on the same {rows:count} {unit}.", known)
    note = say(
        "Lines: {board.level:percent} intervals; shaded: the interval of the best run. Differences are "
        "paired and adjusted for all pairs. Below a rank: the range of possible ranks."
        + (" Dashed: the current model (tag `{board.champion_tag}`)." if board.champion else ""),
        known,
    )
    note += overlap_sentence(board.ranking)
    rows = tuple(_leader_row(board, at, axis) for at in range(len(board.ranking)))
    others = [c for c in RANKING_COLUMNS if c.text is not None and c.name not in PLACED]
    body = LeaderTable(
        board.metric.title,
        {c.name: head for c, head in zip(others, head_texts(others, {}), strict=True)},
        rows,
        _columns(board)[1],
        (tick_text(axis[0]), tick_text(axis[1])),
        board.metric.better == "lower",
        note,
        board.by_name[board.reference].stem,
        f"Date, {_years(board).pop()}" if len(_years(board)) == 1 else "Date",
        _band(board, axis),
    )
    return Section("board", "Leaderboard", "Leaderboard", "site_board", summary, body)


def _band(board: Board, axis: tuple[float, float]) -> tuple[float, float] | None:
    """The interval of the best run on the axis."""
    low, high = place(board.ranking[0].low, axis), place(board.ranking[0].high, axis)
    return None if low is None or high is None else (low, high)


def _columns(board: Board) -> tuple[tuple[str, ...], tuple[BoardColumn, ...]]:
    """Names and heads of the columns that can be chosen: metrics, then parameters and tags."""
    facts = board.runs[0].facts
    asked = [name for name in board.columns if name in facts.metrics]
    usual = [name for name in COMPARED[facts.task] if name in facts.metrics and name != board.metric.name]
    metrics = tuple(dict.fromkeys((*asked, *usual[:FURTHER])))
    column_names = tuple(
        name for name in board.columns if name not in facts.metrics and _is_column(board, name)
    )
    heads = [
        BoardColumn(
            find(name, facts.task).title, name in asked, True, find(name, facts.task).better != "lower"
        )
        for name in metrics
    ]
    return (*metrics, *column_names), (*heads, *(BoardColumn(name, True, False) for name in column_names))


def _is_column(board: Board, name: str) -> bool:
    """Whether a name has texts to show; a tag that is only set or not is a mark beside the run."""
    return any(run.shown.get(name, "").lower() not in ("", "true", "1", "yes") for run in board.runs)


def _leader_row(board: Board, at: int, axis: tuple[float, float]) -> LeaderRow:
    row = ranking_rows(board.ranking, board.metric)[at]
    entry, style = row.entry, board.metric.style
    run, d = board.by_name[entry.run], board.difference_to_best(entry.run)
    mark = next(
        (e.value for e in board.ranking if board.champion is not None and e.run == board.champion.name), None
    )
    gap_texts = (
        ("–", "")
        if d is None or d.adjusted is None
        else gap(d.difference or 0.0, d.adjusted.low, d.adjusted.high, style)
    )
    names, shown = _columns(board)[0], row_texts(RANKING_COLUMNS, row, short=True)
    if entry.value is not None:
        places = column_places(one.result for one in board.ranking if one.value is not None)
        places = max(places - 2, 0) if style == "percent" else places
        shown |= {"value": format_decimals(entry.value, places, style)}
    marks = tuple(
        name
        for name in board.columns
        if name in run.shown and name not in run.facts.metrics and not _is_column(board, name)
    )
    return LeaderRow(
        run,
        at + 1,
        shown,
        round(entry.value or 0.0, 6),
        forest_row(board.metric.name, run.name, NOTHING, entry.result, style, axis=axis, reference=mark),
        entry.best_group,
        run is board.champion,
        marks,
        *gap_texts,
        round((d.difference or 0.0) if d else 0.0, 6),
        run.stem in board.compared,
        tuple(_value(board, run, name) for name in names),
        "–" if run.started is None else day(run.started, year=len(_years(board)) > 1),
    )


def _years(board: Board) -> set[int]:
    return {
        datetime.fromtimestamp(run.started / 1000, UTC).year for run in board.runs if run.started is not None
    }


def _value(board: Board, run: BoardRun, name: str) -> tuple[str, float | None]:
    if name not in board.runs[0].facts.metrics:
        return run.shown.get(name, "–"), None
    result = board.result(run.name, name)
    if not isinstance(result, Estimate):
        return "–", None
    return format_estimate(result, find(name, run.facts.task).style), round(result.value, 6)


def _axis(board: Board) -> tuple[float, float]:
    """Round ends of an axis that holds every interval, within the range of the metric."""
    known = [end for e in board.ranking for end in (e.low, e.value, e.high) if end is not None]
    step = nice_step((max(known) - min(known)) or 0.1)
    low, high = (math.floor(min(known) / step) * step, math.ceil(max(known) / step) * step)
    return round(max(low, board.metric.low), 10), round(min(high, board.metric.high), 10)


MOST_NAMED = 3
"""Runs that the sentence names; the others are counted."""
MOST_SHOWN = 30
"""Runs without a rank in the table; all are in `runs.json`."""
MOST_CHOICES = 4
"""Purposes in the table of choices, the metric of the leaderboard first."""
SHOWN = 3
"""Shared findings that are not folded."""
MOST_SHARED = 12
"""Rows of a list; the others are in the files."""


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
        _choices(board),
        _same_mistakes(board),
        _history(board),
        _shared_findings_section(board),
        _missing(board),
        _origin(board),
    )
    return tuple(section for section in made if section is not None)


def board_headline(board: Board) -> Sentence:
    """Return the best run, or those tied for best, and whether the current model is worse."""
    ranked = board.ranking
    tied = [entry.run for entry in ranked if entry.best_group]
    known = {"best": ranked[0].run, "last": ranked[-1].run, "k": len(tied), "n": len(ranked)}
    if len(ranked) == 1:
        return say("{best:short} is the only run.", known)
    if len(tied) == len(ranked):
        words = "*No run is significantly best*: {best:short} ranks first, and none is significantly worse."
        return say(
            "*No significant difference* between {best:short} and {last:short}." if len(tied) == 2 else words,
            known,
        )
    current = (
        {"current": board.champion.name} if board.champion is not None and _champion_behind(board) else {}
    )
    if len(tied) == 1:
        words = "{best:short} is *significantly better* than all {others:count} others"
        if len(ranked) == 2:
            words = "{best:short} is *significantly better* than {last:short}"
        end = ", the current model" if len(ranked) == 2 else ", including the current model, {current:short}"
        return say(words + (end if current else "") + ".", known | current, others=len(ranked) - 1)
    words = "{named} are *tied for best*"
    if len(tied) > MOST_NAMED:
        words = "*{k:count} of {n:count} runs* are tied for best, {best:short} first"
    end = "; the current model, {current:short}, is _significantly worse_" if current else ""
    named = join_as_list([say("{name:short}", name=name) for name in tied[:MOST_NAMED]])
    return say(words + end + ".", known | current, named=named)


def _choices(board: Board) -> Section | None:
    """Which run is best by each usual metric; runs whose intervals overlap that of the best are tied."""
    task = board.runs[0].facts.task
    names = dict.fromkeys((board.metric.name, *COMPARED[task]))
    rows = [row for name in names if (row := _choice(board, find(name, task))) is not None]
    table = purposes_table("run", rows[:MOST_CHOICES])
    if table is None:
        return None
    return Section.from_parts("choices-section", WHICH_ONE, WHICH_ONE, NOTHING, table)


def _same_mistakes(board: Board) -> Section | None:
    """How often the best runs are right for the same rows, and whether a majority vote is better."""
    if board.agreement is None:
        return None
    names, known = board.agreeing, {"n": len(board.agreeing), "rows": board.agreement.rows}
    words = "Of {rows:count} {unit}" + (", the {n:count} best runs." if len(names) < len(board.runs) else ".")
    summary = say(words, known, unit=board.runs[0].facts.unit[1])
    bars = bars_of_agreement(board.agreement, names)
    return Section.from_parts("same-mistakes", SAME_MISTAKES, SAME_MISTAKES, summary, bars)


def _choice(board: Board, metric: Metric) -> Row | None:
    known = {
        run.name: one
        for run in board.runs
        if isinstance(one := board.result(run.name, metric.name), Estimate) and one.low is not None
    }
    if len(known) < 2 or metric.better not in ("higher", "lower"):
        return None
    sign = 1 if metric.better == "higher" else -1
    ranked = sorted(known, key=lambda name: -sign * known[name].value)
    first = known[ranked[0]]
    tied = [name for name in ranked if overlap(known[name], first)]
    same = "the intervals overlap"
    if metric.name == board.metric.name:
        tied, same = [entry.run for entry in board.ranking if entry.best_group], "not significant"
    rest = [name for name in ranked if name not in tied]
    ends = [known[name] for name in (ranked[0], rest[0] if rest else tied[-1])]
    best, last = (brief(one.value, metric.style) for one in ends)
    if best == last:
        best, last = (format_estimate(one, metric.style) for one in ends)
    why = say("{best} to {last}: {same}", best=best, last=last, same=same)
    if rest:
        least = brief(known[tied[-1]].value, metric.style)
        shown = best if least == best or len(tied) == 1 else f"{best} to {least}"
        why = say("{best},", best=shown) + next_best(rest, len(ranked)) + say("{last}", last=last)
    at = " (own thresholds)" if metric.task == "binary" and metric.needs == "counts" else ""
    return f"the best {spoken(metric.title)}{at}", use_cell(tied, ranked), why


def _champion_behind(board: Board) -> bool:
    champion = board.champion
    return champion is not None and any(e.run == champion.name and not e.best_group for e in board.ranking)


def _verdict(board: Board) -> Section:
    judged = f"{pluralize(len(board.runs), 'run')} ranked" + (
        f", {len(board.missing)} not" if board.missing else ""
    )
    kicker = (board.experiment, judged)
    apart = board.champion is not None and board.best.stem in board.compared
    link = f"compare/{board.best.stem}.html" if apart else ""
    body = FrontVerdict(kicker, board_headline(board), _summary(board), link)
    return Section("verdict", "Summary", "Summary", "site_verdict", NOTHING, body)


def _summary(board: Board) -> Sentence:
    """Return the value of the best run, and how far the current model is behind."""
    best, champion, behind = board.ranking[0], board.champion, NOTHING
    if champion is not None and champion is not board.best:
        words = "The current model, *{name:short}*, is not significantly worse."
        if _champion_behind(board):  # the headline says that it is the current model
            words = "*{name:short}* is {size} behind."
        behind = say(words, name=champion.name, size=_gap(board, champion.name))
    words = f"{board.metric.title} of *{{best:short}}* is {{value:{board.metric.style}}}."
    return paragraph(say(words, best=best.run, value=best.result), behind)


def _gap(board: Board, name: str) -> str:
    """The size of a difference to the best, without sign."""
    d = board.field.difference(board.best.name, name)
    value, low, high = abs(d.difference or 0.0), *sorted(abs(x) for x in (d.adjusted.low, d.adjusted.high))  # type: ignore[union-attr]
    return gap(value, low, high, board.metric.style)[0].removeprefix("+")


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
    note = "Whiskers: {level:percent} intervals." + (" Rings and line: the current model." if steps else "")
    summary = _champions(board) + say(
        note + " Blue: not significantly worse than the best.", level=board.level
    )
    return Section("history", "History", "History", "history", summary, body)


def _champions(board: Board) -> Sentence:
    champions = board.champions
    if not champions:
        return say("Each run by its start time.")
    ranked = {entry.run: entry for entry in board.ranking}
    first, last = (
        format_estimate(ranked[run.name].result, board.metric.style) for run in (champions[0], champions[-1])
    )
    if len(champions) == 1:
        return say("The current model is {name:short}, {last}.", name=champions[0].name, last=last)
    times = "once" if len(champions) == 2 else f"{len(champions) - 1} times"
    return say(f"The current model changed {times}, from {{first}} to {{last}}.", first=first, last=last)


def _shared_findings_section(board: Board) -> Section | None:
    found = shared_findings([(e.run, board.by_name[e.run].facts.findings) for e in board.ranking])
    if not found:
        return None
    total = len(board.runs)
    rows = [
        (
            Cell(f"{len(one.runs)} of {total}", "q", len(one.runs), round(100 * len(one.runs) / total)),
            Cell(
                f"{one.example}: {one.claim}" if one.example else one.claim[:1].upper() + one.claim[1:],
                "text",
                sub="" if OPTION.search(one.action) else one.action,
            ),
            Cell(_not_in(one.others, total), "text"),
        )
        for one in found[:MOST_SHARED]
        if not OPTION.search(one.claim)
    ]
    summary = say("Findings of two or more runs. A finding of all runs is usually due to the data.")
    heads = (Column("Runs"), Column("Finding"), Column("Not in"))
    table = Table.from_rows("shared-table", "Findings that runs share", heads, rows[:SHOWN])
    more = (
        Folded(
            f"{len(rows) - SHOWN} more",
            (Table.from_rows("shared-rest", "More shared findings", heads, rows[SHOWN:]),),
        )
        if len(rows) > SHOWN
        else None
    )
    return Section.from_parts("shared", "Shared findings", "Shared findings", summary, table, more)


def _not_in(others: tuple[str, ...], total: int) -> str:
    if not others:
        return "–"
    if len(others) > total / 2:
        return f"{count(len(others))} runs"
    more = f" and {len(others) - 2} more" if len(others) > 2 else ""
    return ", ".join(truncate_name(name) for name in others[:2]) + more


def _missing(board: Board) -> Section | None:
    if not board.missing:
        return None
    heads = (Column("Run"), Column("Reason"), Column("Fix"), Column("Date", "n"))
    table = Table.from_rows(
        "missing-table", "Runs that are not ranked", heads, map(_missing_row, board.missing[:MOST_SHOWN])
    )
    n = len(board.missing)
    words = "One run of the experiment is" if n == 1 else "{n:count} runs of the experiment are"
    more = " The first 30 are shown; all are in `runs.json`." if n > MOST_SHOWN else ""
    return Section.from_parts(
        "missing", "Missing runs", "Missing runs", say(words + " not ranked." + more, n=n), table
    )


def _missing_row(run: MissingRun) -> tuple[Cell, ...]:
    when = "–" if run.started is None else day(run.started, year=True)
    return (
        Cell(run.name),
        Cell(run.reason, "text"),
        Cell(run.remedy or "–", "text"),
        Cell(when, "n", run.started),
    )


def _origin(board: Board) -> Section:
    first = board.runs[0].facts
    known = {"board": board, "first": first, "n": len(board.runs), "k": len(board.runs) - 1}
    templates = {
        "Command": "`{command}`",
        "Files": "{n:count} reports and {k:count} comparisons with {board.reference:short}; `runs.csv`, "
        "`pairs.csv`, `runs.json`",
        "Test data": "{first.rows:count} {unit}, label digest `{first.digest}`",
        "Differences": "paired by row, max-t over all pairs",
    }
    known |= {"command": f"evalreport site --experiment {board.experiment}", "unit": first.unit[1]}
    pairs = tuple((name, say(words, known)) for name, words in templates.items())
    return Section.from_parts("made", "Provenance", "Provenance", NOTHING, Facts(pairs))


def render_board(board: Board) -> str:
    """Return the front page of a site, reproducible to the byte."""
    footer = "Opens from a folder without a server; scripts are optional."
    return _page(f"{board.experiment}: {len(board.runs)} runs", front_page(board), footer, asset("site.js"))


def _page(title: str, made: tuple[Section, ...], footer: str, script: str) -> str:
    return whole_page(title, made, footer, asset("style.css") + asset("site.css"), script)


def site_files(board: Board) -> dict[str, bytes]:
    """Return the front page, and the leaderboard and all differences as CSV and JSON."""
    rows = [_row(board, place) for place in range(len(board.ranking))]
    names = dict.fromkeys(name for row in rows for name in row)
    pairs = [_pair(d) for d in board.field.pairs]
    whole = {
        "schema": 1,
        "experiment": board.experiment,
        "metric": board.metric.name,
        "level": board.level,
        "pair_level": board.field.pair_level,
        "reference": board.reference,
        "runs": rows,
        "missing": [encode(run) for run in board.missing],
    }
    return {
        "index.html": render_board(board).encode(),
        "runs.csv": as_csv({name: [row.get(name) for row in rows] for name in names}),
        "runs.json": dumps(whole).encode(),
        "pairs.csv": as_csv({name: [row[name] for row in pairs] for name in PAIR}),
    }


def site_payload(files: Mapping[str, bytes], headline: str) -> Payload:
    """Return a site as it is logged into a run: all of its files in a folder of its own."""
    return Payload(
        digest=content_digest(__version__, {path: data.hex() for path, data in files.items()}),
        tags={"evalreport.site": headline[:LONGEST_VERDICT]},
        artifacts={f"{SITE}/{path}": data for path, data in files.items()},
        part="site",
    )


PAIR = ("run", "baseline", "difference", "low", "high", "verdict")


def _pair(d: Any) -> dict[str, Any]:
    return {
        "run": d.run,
        "baseline": d.baseline,
        "difference": d.difference,
        "low": d.adjusted.low,
        "high": d.adjusted.high,
        "verdict": d.verdict,
    }


def _row(board: Board, place: int) -> dict[str, Any]:
    row = ranking_rows(board.ranking, board.metric)[place]
    entry = row.entry
    run, d = board.by_name[entry.run], board.difference_to_best(entry.run)
    ends = None if d is None else d.adjusted
    found: dict[str, Any] = {
        "rank": place + 1,
        **{name: column[0] for name, column in table_data(RANKING_COLUMNS, [row]).items()},
        "run_id": run.run_id,
        "difference": None if d is None else d.difference,
        "difference_low": None if ends is None else ends.low,
        "difference_high": None if ends is None else ends.high,
        "champion": run is board.champion,
        "started": run.started,
        "report": f"runs/{run.stem}.html",
        "verdict": run.facts.headline,
    }
    for name, result in run.facts.metrics.items():
        if isinstance(result, Estimate) or name in board.columns:
            found[f"metric {name}"] = result.value
    return found | {f"column {name}": run.shown.get(name, "") for name in board.columns}

"""The leaderboard of an experiment's site: ranks, values, and the difference of each run to the best."""

from __future__ import annotations

import math
from dataclasses import dataclass

from evalreport.comparison.board import Board, BoardRun
from evalreport.estimates import gap, interval, valued
from evalreport.metrics.catalogue import find
from evalreport.metrics.named_sets import COMPARED
from evalreport.panels.chart import nice_step, tick_text
from evalreport.panels.history import day
from evalreport.panels.intervals import ForestRow, forest_row
from evalreport.panels.parts import Section
from evalreport.panels.words import NOTHING, Sentence, say
from evalreport.values import Estimate

FURTHER = 3
"""Metrics beside the first that can be shown."""


@dataclass(frozen=True)
class LeaderRow:
    """A run of the leaderboard, as it is shown."""

    run: BoardRun
    rank: int
    ranks: str
    estimate: str
    interval: str
    value: float
    track: ForestRow
    word: str
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
    """The leaderboard with its columns; `ends` are the texts of the axis."""

    title: str
    rows: tuple[LeaderRow, ...]
    columns: tuple[BoardColumn, ...]
    ends: tuple[str, str]
    lower: bool
    note: Sentence
    reference: str


def leaderboard_of(board: Board) -> Section:
    """Return the leaderboard."""
    axis = _axis(board)
    first, pairs = board.runs[0].facts, len(board.runs) * (len(board.runs) - 1) // 2
    known = {"board": board, "pairs": pairs, "rows": first.rows, "unit": first.unit[1]}
    summary = say(
        f"Sorted by {board.metric.title}. All runs answered the same {{rows:count}} {{unit}}, so differences "
        "are paired. Small under a rank: the ranks that the data allow, all {pairs:count} pairs at once, "
        "{board.level:percent}.",
        known,
    )
    note = say(
        "Bars: {board.level:percent} intervals of each run alone. *Blue*: not told apart from the best; "
        "grey: demonstrated to be worse. Dashed: the champion. Difference: to {board.best.name:short}, with "
        "intervals widened so that all {pairs:count} hold together; it leads to the comparison with "
        "{board.reference:short}.",
        known,
    )
    rows = tuple(_leader_row(board, place, axis) for place in range(len(board.ranking)))
    body = LeaderTable(
        board.metric.title,
        rows,
        _columns(board)[1],
        (tick_text(axis[0]), tick_text(axis[1])),
        board.metric.better == "lower",
        note,
        board.by_name[board.reference].stem,
    )
    return Section("board", "Leaderboard", "Leaderboard", "site_board", summary, body)


def _columns(board: Board) -> tuple[tuple[str, ...], tuple[BoardColumn, ...]]:
    """Names and heads of the columns that can be chosen: metrics, then parameters and tags."""
    facts = board.runs[0].facts
    asked = [name for name in board.columns if name in facts.metrics]
    usual = [name for name in COMPARED[facts.task] if name in facts.metrics and name != board.metric.name]
    metrics = tuple(dict.fromkeys((*asked, *usual[:FURTHER])))
    said = tuple(name for name in board.columns if name not in facts.metrics and _is_column(board, name))
    heads = [
        BoardColumn(
            find(name, facts.task).title, name in asked, True, find(name, facts.task).better != "lower"
        )
        for name in metrics
    ]
    return (*metrics, *said), (*heads, *(BoardColumn(name, True, False) for name in said))


def _is_column(board: Board, name: str) -> bool:
    """Whether a name has texts to show; a tag that is only set or not is a mark beside the run."""
    return any(run.shown.get(name, "").lower() not in ("", "true", "1", "yes") for run in board.runs)


def _leader_row(board: Board, place: int, axis: tuple[float, float]) -> LeaderRow:
    entry = board.ranking[place]
    run, d, style = board.by_name[entry.run], board.behind(entry.run), board.metric.style
    result = entry.result
    mark = next(
        (e.value for e in board.ranking if board.champion is not None and e.run == board.champion.name), None
    )
    told = (
        ("–", "")
        if d is None or d.adjusted is None
        else gap(d.difference or 0.0, d.adjusted.low, d.adjusted.high, style)
    )
    names = _columns(board)[0]
    marks = tuple(
        name
        for name in board.columns
        if name in run.shown and name not in run.facts.metrics and not _is_column(board, name)
    )
    return LeaderRow(
        run,
        place + 1,
        entry.shown_ranks,
        valued(result, style),
        interval(result, style),
        round(entry.value or 0.0, 6),
        forest_row(board.metric.name, run.name, NOTHING, result, style, axis=axis, reference=mark),
        "the best" if d is None else "not told apart" if entry.best_group else "worse",
        entry.best_group,
        run is board.champion,
        marks,
        *told,
        round((d.difference or 0.0) if d else 0.0, 6),
        run.stem in board.compared,
        tuple(_value(board, run, name) for name in names),
        "–" if run.started is None else day(run.started),
    )


def _value(board: Board, run: BoardRun, name: str) -> tuple[str, float | None]:
    if name not in board.runs[0].facts.metrics:
        return run.shown.get(name, "–"), None
    result = board.result(run.name, name)
    if not isinstance(result, Estimate):
        return "–", None
    return valued(result, find(name, run.facts.task).style), round(result.value, 6)


def _axis(board: Board) -> tuple[float, float]:
    """Round ends of an axis that holds every interval, within the range of the metric."""
    known = [end for e in board.ranking for end in (e.low, e.value, e.high) if end is not None]
    step = nice_step((max(known) - min(known)) or 0.1)
    low, high = (math.floor(min(known) / step) * step, math.ceil(max(known) / step) * step)
    return round(max(low, board.metric.low), 10), round(min(high, board.metric.high), 10)

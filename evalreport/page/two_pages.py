"""A result on two pages of paper: verdict, intervals and cautions; then counts, confusions and curves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from functools import cache, partial
from typing import Any, TypeVar

from evalreport.figures.sheet import EDGE, FACES, PALE, RED, STRONG, TALL, WIDE, Sheet, printed, wrapped
from evalreport.figures.style import BLUE, BLUES, GREY, INK, ORANGE
from evalreport.page.charts import Chart
from evalreport.page.comparison.charts import Differences
from evalreport.page.comparison.matched import AlarmSide
from evalreport.page.elements import Forest, ForestRow, Section, Table
from evalreport.page.sections.confusions import ConfusionRow, CountTable
from evalreport.page.sections.threshold import Decided, Explorer, Four
from evalreport.page.sentences import Sentence

T = TypeVar("T")
MOST_CHARTS, MOST_ROWS, MOST_CLASSES = 4, 10, 8
"""Charts, rows of a table and classes of a matrix that find room."""
GAP = 14.0
"""Points between parts."""
NARROW = 10.0
"""Width of a head above numbers, in times its letters' size."""


def two_pages(title: str, sections: Sequence[Section], footer: str) -> bytes:
    """Return a PDF of two pages: the same bytes for the same sections, fonts embedded, no name of a host.

    Parameters
    ----------
    title : str
        Of the document.
    sections : sequence of Section
        Of the page, the verdict first.
    footer : str
    """
    return printed([partial(draw, sections) for draw in (_first, _second)], title, footer)


def _first(sections: Sequence[Section], sheet: Sheet) -> None:
    """Kicker, headline and summary; the intervals; what to beware of."""
    body = sections[0].body
    kicker = (getattr(body, "task", ""), getattr(body, "run", "") or getattr(body, "name", ""), *body.kicker)
    sheet.paragraph("  ·  ".join(filter(None, kicker)), 7.5, color=GREY)
    sheet.y += 4
    sheet.paragraph(body.headline.text, 17, "serif")
    sheet.y += 5
    if body.summary:
        sheet.paragraph(body.summary.text, 8.5, color=GREY)
    sheet.y += GAP
    for forest in found(body, Forest):
        _forest(sheet, forest)
    for table in found(body, Table):
        _table(sheet, table)
    for differences in found(sections[1:], Differences):
        _differences(sheet, differences)
        break
    _cautions(sheet, body)


def _second(sections: Sequence[Section], sheet: Sheet) -> None:
    """Counts of right and wrong, confusions, and the curves."""
    fours = list(_fours(sections))[:2]
    wide = (WIDE - 2 * EDGE - GAP * (len(fours) - 1)) / max(len(fours), 1)
    top = sheet.y
    for place, (named, four) in enumerate(fours):
        sheet.y = top
        _four(sheet, named, four, EDGE + place * (wide + GAP), min(wide, 300))
    for table in found(sections, CountTable):
        _matrix(sheet, table)
    _mixups(sheet, list(found(sections, ConfusionRow))[:MOST_ROWS])
    charts = list(found(sections, Chart))[:MOST_CHARTS]
    if not charts and sheet.y == EDGE:  # nothing is drawn on the page either: its tables stand here
        _tables(sheet, sections[1:])
    sheet.y += GAP
    wide = (WIDE - 2 * EDGE - 2 * GAP) / 2
    for place, chart in enumerate(charts):
        y = sheet.y + place // 2 * (wide * 0.9 + 40)
        if y + wide * 0.9 + 22 < TALL - EDGE:
            sheet.chart(chart, EDGE + place % 2 * (wide + 2 * GAP), y, wide)


def _tables(sheet: Sheet, sections: Sequence[Section]) -> None:
    """The tables of further sections, each named, while there is room."""
    for table in found(sections, Table):
        if sheet.y < TALL - 220:
            sheet.paragraph(table.name, 9, "bold")
            _table(sheet, table)


def _fours(sections: Sequence[Section]) -> Iterator[tuple[str, Four]]:
    """Two-by-two tables with what each is of."""
    for explorer in found(sections, Explorer):
        yield f"At the threshold {explorer.shown}", explorer.four
    for side in found(sections, AlarmSide):
        yield f"{side.name}, at the threshold {side.threshold}", side.four
    for decided in found(sections, Decided):
        if decided.four is not None:
            yield "As decided", decided.four


def found(value: Any, kind: type[T]) -> Iterator[T]:
    """Yield the values of a kind in sections and whatever they are made of, in their order."""
    if isinstance(value, kind):
        yield value
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from found(one, kind)
    else:
        for name in _parts(value.__class__):
            yield from found(getattr(value, name), kind)


@cache
def _parts(kind: Any) -> tuple[str, ...]:
    """The names of what a value of a kind is made of; words and numbers are made of nothing."""
    if issubclass(kind, Sentence) or not is_dataclass(kind):
        return ()
    return tuple(one.name for one in fields(kind))


def _forest(sheet: Sheet, forest: Forest) -> None:
    left, wide = 440.0, WIDE - EDGE - 440
    _heads(sheet, ((EDGE, "left"), (262, "right"), (362, "right"), (424, "right")), forest.heads)
    for at, text in forest.ticks:
        sheet.text(left + at / 1000 * wide, sheet.y - 8, text, 6.5, color=GREY, ha="center")
    for row in forest.rows:
        sheet.y += 22
        sheet.text(EDGE, sheet.y - 9, row.title, 8.5, "bold")
        sheet.text(EDGE, sheet.y, row.gloss.text[:58], 6.8, color=GREY)
        sheet.text(262, sheet.y - 6, row.estimate, 10, "bold", ha="right")
        sheet.text(362, sheet.y - 6, row.interval, 8, ha="right", color=GREY)
        sheet.text(424, sheet.y - 6, row.reference, 8, ha="right", color=GREY)
        _track(sheet, row, left, sheet.y - 8, wide)
        if forest.broken:  # the axis is magnified from its first third on, which two strokes say
            for x in (left + 0.155 * wide, left + 0.175 * wide):
                sheet.line([x - 2, x + 2], [sheet.y - 4, sheet.y - 12], STRONG)
        sheet.line([EDGE, WIDE - EDGE], [sheet.y + 4] * 2)
    sheet.y += GAP


def _heads(sheet: Sheet, places: Sequence[tuple[float, str]], heads: Sequence[str]) -> None:
    lines = [
        wrapped(head, NARROW if side == "right" else WIDE, FACES["bold"])
        for (_, side), head in zip(places, heads, strict=False)
    ]
    sheet.y += 8 * max(map(len, lines))
    for (x, side), words in zip(places, lines, strict=False):
        for up, line in enumerate(words[::-1]):
            sheet.text(x, sheet.y - 8 * up, line, 7, "bold", color=GREY, ha=side)
    sheet.line([EDGE, WIDE - EDGE], [sheet.y + 4] * 2, STRONG)
    sheet.y += 2


def _track(sheet: Sheet, row: ForestRow, left: float, y: float, wide: float, color: str = BLUE) -> None:
    """An interval on its axis, the reference dashed, below it shaded."""

    def x(at: float) -> float:
        return left + at / 1000 * wide

    if row.lucky is not None:
        a, b = map(x, row.lucky)
        sheet.axes.fill([a, b, b, a], [y - 7, y - 7, y + 7, y + 7], color="#eef1f4", linewidth=0)
    sheet.line([left, left + wide], [y, y])
    if row.zero is not None:
        sheet.line([x(row.zero)] * 2, [y - 7, y + 7], STRONG, linestyle="dashed")
    if row.low is not None and row.high is not None:
        sheet.line([x(row.low), x(row.high)], [y, y], color, linewidth=1.6)
    if row.at is not None:
        sheet.line([x(row.at)] * 2, [y - 5, y + 5], color, linewidth=3)
    if row.dots:
        sheet.axes.plot([x(at) for at in row.dots], [y] * len(row.dots), "o", color=INK, markersize=2.2)


def _differences(sheet: Sheet, differences: Differences) -> None:
    """Each difference on the axis of its units, worse on the left of zero."""
    left, wide = 370.0, WIDE - EDGE - 370
    for group in differences.groups:
        if sheet.y > TALL - 120:
            return
        _heads(sheet, ((EDGE, "left"), (left, "left"), (WIDE - EDGE, "right")), (group.title, *group.ends))
        for row in group.rows:
            color = {"better": BLUE, "worse": ORANGE}.get(row.side, STRONG)
            sheet.y += 15
            sheet.text(EDGE, sheet.y - 3, row.title[:30], 8)
            sheet.text(262, sheet.y - 3, f"{row.values[0]} → {row.values[1]}", 8, ha="right", color=GREY)
            sheet.text(356, sheet.y - 3, row.gap, 8, "bold", ha="right", color=color)
            sheet.line([left + wide / 2] * 2, [sheet.y - 11, sheet.y], STRONG)
            drawn = ForestRow("", "", Sentence(), "", "", "", row.at, row.low, row.high)
            _track(sheet, drawn, left, sheet.y - 6, wide, color)
        sheet.y += 10


def _table(sheet: Sheet, table: Table) -> None:
    """The first columns and rows of a table, as words."""
    columns = [at for at in range(len(table.columns)) if any(row[at].words for row in table.rows)][:5]
    first = 150.0
    rest = (WIDE - 2 * EDGE - first) / max(len(columns) - 1, 1)
    places = [EDGE, *(EDGE + first + rest * at for at in range(len(columns) - 1))]
    _heads(sheet, [(x, "left") for x in places], [table.columns[at].title for at in columns])
    for row in table.rows[:MOST_ROWS]:
        top = lowest = sheet.y + 3
        for x, at in zip(places, columns, strict=True):
            sheet.y = top
            room = (first if at == columns[0] else rest) - 6
            sheet.paragraph(row[at].words, 7.5, x=x, wide=room)
            if row[at].sub:
                sheet.paragraph(row[at].sub, 6.5, x=x, wide=room, color=GREY)
            lowest = max(lowest, sheet.y)
        sheet.y = lowest
        sheet.line([EDGE, WIDE - EDGE], [sheet.y + 2] * 2)
    sheet.y += GAP


def _cautions(sheet: Sheet, body: Any) -> None:
    """What to beware of, as far as there is room, with the count of the rest."""
    warned: list[tuple[str, str]] = [
        (one.word, f"{one.claim} {one.action.text}".strip()) for one in getattr(body, "warnings", ())
    ] + [("Note", note) for note in getattr(body, "notes", ())]
    left = len(getattr(body, "more", ()))
    for place, (word, words) in enumerate(warned):
        if sheet.y > TALL - 100:
            left += len(warned) - place
            break
        sheet.y += 4
        sheet.text(EDGE, sheet.y + 8.5, word, 8, "bold", color=GREY if word.startswith("Note") else "#7a4d00")
        sheet.paragraph(words, 8, x=EDGE + 52)
    if left:
        sheet.y += 4
        sheet.paragraph(f"and {left} more on the page itself.", 7.5, color=GREY)


def _four(sheet: Sheet, named: str, four: Four, x: float, wide: float) -> None:
    """The two-by-two table: what was right blue, what was wrong orange."""
    side, tall = (wide - 80) / 2, 34.0
    sheet.paragraph(named[:60], 9, "bold", x=x, wide=wide)
    sheet.y += 3
    heads = (f"Called {four.positive}", f"Called {four.negative}")
    for column, head in enumerate(heads):
        sheet.text(x + 80 + column * side, sheet.y + 8, head[:24], 7, "bold", color=GREY)
    rows = (
        (four.positive, ((four.found, "found", PALE), (four.missed, "missed", RED))),
        (four.negative, ((four.alarms, "false alarms", RED), (four.left, "left alone", PALE))),
    )
    for row, (name, boxes) in enumerate(rows):
        y = sheet.y + 13 + row * (tall + 2)
        sheet.text(x, y + 20, f"Is {name}"[:16], 7, "bold", color=GREY)
        for column, box in enumerate(boxes):
            _box(sheet, x + 80 + column * side, y, side - 2, tall, *box)
    sheet.y += 13 + 2 * (tall + 2)


def _box(
    sheet: Sheet, x: float, y: float, wide: float, tall: float, count: str, words: str, color: str
) -> None:
    sheet.axes.fill([x, x + wide, x + wide, x], [y, y, y + tall, y + tall], color=color, linewidth=0)
    sheet.text(x + 6, y + tall * 0.5, count, 10, "bold")
    sheet.text(x + 6, y + tall * 0.85, words, 6.5)


def _matrix(sheet: Sheet, table: CountTable) -> None:
    """The table of confusions of few classes."""
    heads, rows = table.heads[:MOST_CLASSES], table.rows[:MOST_CLASSES]
    side = min((WIDE - 2 * EDGE - 90) / max(len(heads), 1), 110.0)
    for column, head in enumerate(heads):
        sheet.text(EDGE + 90 + column * side, sheet.y + 8, head[: int(side / 4.6)], 7, "bold", color=GREY)
    sheet.y += 13
    for name, boxes in rows:
        sheet.text(EDGE, sheet.y + 16, name[:18], 7, "bold", color=GREY)
        for column, box in enumerate(boxes[: len(heads)]):
            color = {"right": PALE, "wrong": RED}.get(box.look, BLUES[0])
            _box(sheet, EDGE + 90 + column * side, sheet.y, side - 2, 26, box.count, box.share, color)
        sheet.y += 28


def _mixups(sheet: Sheet, rows: Sequence[ConfusionRow]) -> None:
    """What is most often taken for what."""
    if rows:
        sheet.paragraph("Most frequent mix-ups", 9, "bold")
    for row in rows:
        sheet.y += 13
        sheet.text(EDGE, sheet.y, f"{row.truth[:34]}  read as  {row.answer[:34]}", 8, color=INK)
        sheet.text(WIDE - EDGE, sheet.y, row.shown, 8, ha="right", color=GREY)

"""Estimates with their intervals on an axis: the rows that a forest table, or a cell of any table, draws.

The parts that sections are made of, as values: tables, forest tables, notes, empty states, sections.

Each has one macro, named by its `kind`, in `templates/macros/` that places it; all pages use the same ones,
and a section that is only a list of parts needs no template.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, TypeVar

from evalreport.core.format import Style, count, decimals, format_decimals, percent
from evalreport.core.result import Estimate, Result, Undefined, format_estimate, format_reference, interval
from evalreport.core.sentences import Sentence, join_sentences, say


@dataclass(frozen=True)
class ForestRow:
    """One estimate of a forest table.

    Parameters
    ----------
    title, gloss : str
        Name of the metric, and what it is in plain words.
    estimate, interval, reference : str
        As shown; "–" where there is none.
    at, low, high, zero : float or None
        Places of estimate, limits and reference on the axis, 0 to 1000.
    past : str
        ``left`` or ``right`` when something lies beyond the axis and was clipped.
    name : str
        Key of the metric.
    missed : str
        Where the interval has less than its nominal coverage.
    lucky : (float, float) or None
        The part of the axis up to the reference, to be shaded.
    start : float or None
        Where a bar to the value begins: what a run is compared with.
    side : str
        Of a bar: ``better`` (blue), ``worse`` (orange), ``none`` (not significant, hollow).
    dots : tuple of float
        Places of single values, such as those of folds.
    """

    name: str
    title: str
    gloss: Sentence
    estimate: str
    interval: str
    reference: str
    at: float | None = None
    low: float | None = None
    high: float | None = None
    zero: float | None = None
    past: Literal["", "left", "right"] = ""
    missed: str = ""
    chance_level: tuple[float, float] | None = None
    start: float | None = None
    side: str = ""
    dots: tuple[float, ...] = ()


@dataclass(frozen=True)
class Forest:
    """Estimates with intervals on a common axis.

    Parameters
    ----------
    rows : tuple of ForestRow
    ticks : tuple of (place in 0 … 1000, text)
        Without ticks no axis is drawn.
    heads : tuple of str
        Titles of the columns: metric, estimate, interval, reference; without the last there is no such column.
    broken : bool
        Whether the first third of the axis is 0 to 0.8 and the rest magnified, which the axis shows.
    """

    kind: ClassVar[str] = "forest"
    rows: tuple[ForestRow, ...]
    ticks: tuple[tuple[float, str], ...] = ((0, "0"), (500, "0.5"), (1000, "1"))
    heads: tuple[str, str, str, str] = ("Metric", "Estimate", "95% interval", "No-skill")
    broken: bool = False


HIGH = 800.0
"""Place above which all values lie where the top of the axis is magnified."""
THIRD = 1000 / 3
"""Where the magnified part of a broken axis begins."""


def magnify_axis(forest: Forest) -> Forest:
    """Return a forest whose axis is magnified from 0.8 on, where all estimates and their limits lie above.

    Examples
    --------
    >>> row = forest_row("f1", "F1", Sentence(), Estimate(0.9, 50, 0.85, 0.95), "ratio", reference=0.4)
    >>> found = magnify_axis(Forest((row,))).rows[0]
    >>> found.at, found.zero
    (666.7, 166.7)
    """
    ends = [end for row in forest.rows for end in (row.low, row.at, row.high) if end is not None]
    if not ends or min(ends) <= HIGH or len(forest.ticks) != 3:
        return forest
    ticks = ((0.0, "0"), (round(THIRD, 1), "0.8"), (round(2 * THIRD, 1), "0.9"), (1000.0, "1"))
    return replace(forest, rows=tuple(map(_stretch_row, forest.rows)), ticks=ticks, broken=True)


def _stretch_row(row: ForestRow) -> ForestRow:
    def stretch_position(at: float | None) -> float | None:
        if at is None:
            return None
        place = at / HIGH * THIRD if at <= HIGH else THIRD + (at - HIGH) / (1000 - HIGH) * 2 * THIRD
        return round(place, 1)

    chance_level = (
        None
        if row.chance_level is None
        else (stretch_position(row.chance_level[0]) or 0.0, stretch_position(row.chance_level[1]) or 0.0)
    )
    return replace(
        row,
        at=stretch_position(row.at),
        low=stretch_position(row.low),
        high=stretch_position(row.high),
        zero=stretch_position(row.zero),
        chance_level=chance_level,
    )


def forest_row(
    name: str,
    title: str,
    gloss: Sentence,
    result: Result,
    style: Style,
    *,
    reference: float | None = None,
    axis: tuple[float, float] = (0.0, 1.0),
) -> ForestRow:
    """Return a row of a forest table.

    Parameters
    ----------
    reference : float or None
        Value to compare with: no skill.
    axis : (float, float)
        Ends of the axis.

    Examples
    --------
    >>> forest_row("mcc", "MCC", Sentence(), Estimate(0.2, 50, -0.1, 0.4), "ratio").past
    'left'
    >>> row = forest_row("f1", "F1", Sentence(), Estimate(0.838, 50, 0.79, 0.885), "ratio")
    >>> row.estimate, row.interval
    ('0.838', '0.790 to 0.885')
    >>> forest_row("auc", "AUC", Sentence(), Undefined("one class only"), "ratio").estimate
    'undefined'
    """
    shown = "–" if reference is None else format_reference(reference, result, style)
    why = reason(result)
    gloss = join_sentences(gloss, say("; "), why) if gloss and why else gloss or why
    if isinstance(result, Undefined):
        return ForestRow(name, title, gloss, "undefined", "–", shown)
    ends = [end for end in (result.low, result.value, result.high) if end is not None]
    past: Literal["", "left", "right"] = (
        "left" if min(ends) < axis[0] else "right" if max(ends) > axis[1] else ""
    )
    return ForestRow(
        name=name,
        title=title,
        gloss=gloss,
        estimate=format_estimate(result, style),
        interval=interval(result, style),
        reference=shown,
        at=place(result.value, axis),
        low=place(result.low, axis),
        high=place(result.high, axis),
        zero=place(reference, axis),
        past=past,
    )


def reason(result: Result) -> Sentence:
    """Return why there is no number, or no interval; of a single row that goes without saying."""
    if not result.reason or (isinstance(result, Estimate) and (result.n or 0) < 2):
        return Sentence()
    words = "{reason}" if isinstance(result, Undefined) else "no interval: {reason}"
    return say(words, reason=result.reason)


def place(value: float | None, axis: tuple[float, float]) -> float | None:
    """Return the place of a value on an axis of 1000 units, clipped at its ends.

    Examples
    --------
    >>> place(0.25, (0.0, 1.0)), place(-1.0, (0.0, 1.0)), place(None, (0.0, 1.0))
    (250.0, 0.0, None)
    """
    if value is None:
        return None
    share = (value - axis[0]) / (axis[1] - axis[0])
    return round(1000 * min(max(share, 0.0), 1.0), 1)


Look: TypeAlias = Literal["", "n", "q", "id", "text", "right", "wrong", "none", "plot"]
"""Of a cell: words, number, number with a bar, identifier, example text, right or wrong answers, nothing to
say, an interval drawn."""


class PagePart(Protocol):
    """What can stand in a section: a value with the name of the macro that places it."""

    kind: ClassVar[str]


@dataclass(frozen=True)
class Tag:
    """A label of an item: right, ``left`` (left out) or ``added`` (wrongly), which the page says in words."""

    text: str
    look: Literal["", "left", "added"] = ""


@dataclass(frozen=True)
class Cell:
    """One cell of a table.

    Parameters
    ----------
    text : str or Sentence
    look : str
    sort : float or None
        What the script sorts by; None sorts last.
    bar : int or None
        Length of the bar in per cent, 0 to 100.
    sub : str
        A second, smaller line.
    rest : str
        What was cut from a long text, shown when opened.
    track : ForestRow or None
        An interval that is drawn above the text.
    tags : tuple of Tag
        Labels, before the text.
    """

    text: str | Sentence
    look: Look = ""
    sort: float | None = None
    bar: int | None = None
    sub: str = ""
    rest: str = ""
    track: ForestRow | None = None
    tags: tuple[Tag, ...] = ()

    @property
    def words(self) -> str:
        """The text of the cell, without its stress."""
        return self.text if isinstance(self.text, str) else self.text.text


T = TypeVar("T")
Shown: TypeAlias = Cell | str | Sentence
Row: TypeAlias = Sequence[Shown]
"""Cells of a row as they may be given: see `Table.of`."""


@dataclass(frozen=True)
class Column:
    """A column's head.

    Parameters
    ----------
    title : str
    look : str
        Alignment of the head, as of its cells.
    sorts : str
        ``""``: not sortable; ``up`` or ``down``: direction of the first click.
    sorted : str
        ``ascending`` or ``descending`` when the rows come in this column's order.
    """

    title: str
    look: Look = ""
    sorts: Literal["", "up", "down"] = ""
    sorted: Literal["", "ascending", "descending"] = ""


@dataclass(frozen=True)
class Table:
    """A table; the first column of a row is its head.

    Parameters
    ----------
    id : str
        Of the element; distinct on the page.
    name : str
        For assistive technology: caption, or name of the scroll box.
    tall : bool
        Whether it is in a scroll box with a sticky head.
    filters : tuple of (title, key) pairs
        Choices of the filter; each row lists the keys it answers to in `marks`.
    marks : tuple of str
        Space-separated filter keys, one per row; empty when there are no filters.
    noun, find : str
        What the rows are and what may be searched for; without a noun the table has no controls.
    """

    kind: ClassVar[str] = "table"
    id: str
    name: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    tall: bool = False
    filters: tuple[tuple[str, str], ...] = ()
    marks: tuple[str, ...] = ()
    noun: str = ""
    find: str = ""

    @property
    def total(self) -> str:
        """The number of rows as shown."""
        return count(len(self.rows))

    @classmethod
    def from_rows(
        cls,
        id: str,
        name: str,
        heads: Iterable[Column | str],
        rows: Iterable[Row],
        *,
        tall: bool = False,
        filters: Iterable[tuple[str, str]] = (),
        marks: Iterable[str] = (),
        noun: str = "",
        find: str = "",
    ) -> Table:
        """Return a table of heads and cells, which may be bare texts.

        A bare head is one of words when it is the first and one of numbers when it is a further one; a bare
        cell, and one without a look, looks like its column.

        Examples
        --------
        >>> table = Table.from_rows("t", "Counts", ("Class", "Cases", Column("Note", "text")), [("a", "7", "rare")])
        >>> [column.look for column in table.columns]
        ['', 'n', 'text']
        >>> [cell.look for cell in table.rows[0]]
        ['', 'n', 'text']
        """
        columns = tuple(
            Column(head, "n" if place else "") if isinstance(head, str) else head
            for place, head in enumerate(heads)
        )
        made = tuple(tuple(map(_make_cell, row, columns)) for row in rows)
        return cls(id, name, columns, made, tall, tuple(filters), tuple(marks), noun, find)

    @classmethod
    def from_items(
        cls,
        id: str,
        name: str,
        columns: Iterable[tuple[Column | str, Callable[[T], Shown]] | None],
        items: Iterable[T],
        **rest: Any,
    ) -> Table:
        """Return a table of a row for each item; a column is a head with what it shows of an item, or None.

        Examples
        --------
        >>> sizes = [("Class", str), ("Letters", lambda name: str(len(name))), None]
        >>> [cell.text for cell in Table.from_items("t", "Sizes", sizes, ["ham"]).rows[0]]
        ['ham', '3']
        """
        kept = [column for column in columns if column is not None]
        rows = (tuple(show(item) for _, show in kept) for item in items)
        return cls.from_rows(id, name, (head for head, _ in kept), rows, **rest)


def _make_cell(given: Shown, column: Column) -> Cell:
    """A cell with the look of its column, unless it has a separate one."""
    if not isinstance(given, Cell):
        return Cell(given, column.look)
    return given if given.look else replace(given, look=column.look)


@dataclass(frozen=True)
class Empty:
    """An empty state: the reason in bold, and one sentence with the fix."""

    kind: ClassVar[str] = "empty"
    fact: Sentence
    remedy: Sentence


@dataclass(frozen=True)
class Heading:
    """A heading below the section's own."""

    kind: ClassVar[str] = "heading"
    text: str


@dataclass(frozen=True)
class Note:
    """A small sentence beside a table or a chart."""

    kind: ClassVar[str] = "note"
    words: Sentence


@dataclass(frozen=True)
class Facts:
    """Names with what is to be said of each."""

    kind: ClassVar[str] = "facts"
    pairs: tuple[tuple[str | Sentence, Sentence], ...]


@dataclass(frozen=True)
class Command:
    """A command as it is typed."""

    kind: ClassVar[str] = "command"
    text: str


@dataclass(frozen=True)
class Folded:
    """Parts that are closed until asked for."""

    kind: ClassVar[str] = "folded"
    title: str
    parts: tuple[PagePart, ...]


@dataclass(frozen=True)
class TwoColumns:
    """Parts in two columns where there is room: each is a part, or several of one column."""

    kind: ClassVar[str] = "beside"
    parts: tuple[PagePart | tuple[PagePart, ...], ...]


@dataclass(frozen=True)
class Section:
    """One section of the page.

    Parameters
    ----------
    id, nav, title : str
        Id of the element, name in the contents list, heading.
    template : str
        File in `templates/panels/` that places the body.
    summary : Sentence
    body : object
        What the template places: a frozen value of the panel.
    data : mapping
        What the script needs; goes into the page's one data block under the id.
    """

    id: str
    nav: str
    title: str
    template: str
    summary: Sentence
    body: Any
    data: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_parts(
        cls,
        id: str,
        nav: str,
        title: str,
        summary: Sentence,
        *parts: PagePart | None,
        data: Mapping[str, Any] = MappingProxyType({}),
    ) -> Section:
        """Return a section that is a list of parts, one below the other; None is skipped."""
        return cls(id, nav, title, "parts", summary, tuple(part for part in parts if part is not None), data)


def column_decimals(results: Iterable[Result], style: Style) -> int | None:
    """Return the decimals of a column: those of the median interval; None where there is no interval.

    Examples
    --------
    >>> column_decimals([Estimate(0.7, 40, 0.6, 0.8), Estimate(0.7, 9000, 0.69, 0.71)], "ratio")
    2
    """
    known = (one for one in results if isinstance(one, Estimate) and one.low is not None)
    places = [decimals(one.low or 0.0, one.high or 0.0, style, one.value) for one in known]
    found = sorted(place for place in places if place is not None)
    return found[(len(found) - 1) // 2] if found else None


def value_cell(result: Result, style: Style, places: int | None = None) -> Cell:
    """Return a cell of a metric: its number, or "–" for an undefined one.

    Parameters
    ----------
    places : int, optional
        Decimals of the column; those of the interval of the metric without.

    Examples
    --------
    >>> cell = value_cell(Estimate(0.834, 10), "ratio")
    >>> cell.text, cell.look, cell.sort
    ('0.83', 'n', 0.834)
    """
    if isinstance(result, Undefined):
        return Cell("–", "n")
    text = format_estimate(result, style) if places is None else format_decimals(result.value, places, style)
    return Cell(text, "n", round(result.value, 6))


def interval_text(result: Result, style: Style, places: int | None = None) -> str:
    """Return an interval, "a to b", with the decimals of its column."""
    if places is None or not isinstance(result, Estimate) or result.low is None or result.high is None:
        return interval(result, style)
    return f"{format_decimals(result.low, places, style)} to {format_decimals(result.high, places, style)}"


def interval_cell(result: Result, style: Style, places: int | None = None) -> Cell:
    """Return a cell of an interval, "a to b"."""
    low = result.low if isinstance(result, Estimate) else None
    return Cell(interval_text(result, style, places), "n", low)


def share_cell(share: float) -> Cell:
    """Return a cell of a share with its bar.

    Examples
    --------
    >>> share_cell(0.25).text
    '25%'
    """
    return Cell(percent(share), "q", round(share, 6), round(100 * share))

"""The columns of a table of differences and of a ranking: one definition for every place that shows them.

The page, the terminal, the notebook, Markdown, CSV files and pandas frames read `DIFFERENCE_COLUMNS` and
`RANKING_COLUMNS`, so that a column is added, or changed, only here. Each output formats the label of a row (a metric, a class, a
pair of runs) itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final, Generic, Literal, TypeVar

from evalreport.comparison.comparison import Comparison, Difference, RankedRun
from evalreport.core.result import NONE, format_estimate, interval
from evalreport.core.sentences import Sentence, say
from evalreport.metrics.catalogue import find
from evalreport.metrics.record import Metric
from evalreport.page.comparison.wording import difference_size, difference_texts, missing_reason, verdict
from evalreport.page.elements import Cell, Column, Look, Shown

T = TypeVar("T")
RowT_contra = TypeVar("RowT_contra", contravariant=True)


@dataclass(frozen=True)
class TableColumn(Generic[RowT_contra]):
    """One column.

    Parameters
    ----------
    name : str
        Its key in CSV files and frames.
    title : str
        Its head; ``{level}``, ``{metric}``, ``{baseline}`` and ``{run}`` are filled in.
    value : callable, optional
        The value in CSV files and frames; without it the column is not in them.
    text : callable, optional
        The text of a cell; without it the column is only in data.
    full : callable, optional
        A longer text, where there is room.
    head : str
        Its head in terminals and notebooks; by default the title in lower case.
    look : str
        Alignment on the page.
    sorts : str
        Direction of the first click on its head; ``""``: not sortable.
    """

    name: str
    title: str = ""
    value: Callable[[RowT_contra], Any] | None = None
    text: Callable[[RowT_contra], str | Sentence] | None = None
    full: Callable[[RowT_contra], str | Sentence] | None = None
    head: str = ""
    look: Look = "n"
    sorts: Literal["", "up", "down"] = ""

    def cell(self, row: RowT_contra) -> Cell:
        """Return the cell of a row on the page, which sorts by its value where that is a number."""
        assert self.text is not None  # noqa: S101  columns of data only are not shown
        value = self.value(row) if self.value is not None and self.sorts else None
        return Cell(self.text(row), sort=value if isinstance(value, float) else None)


def head_texts(
    columns: Iterable[TableColumn[T]], known: Mapping[str, str], *, short: bool = False
) -> list[str]:
    """Return the heads of the columns with text; `short` ones for terminals and notebooks.

    Parameters
    ----------
    columns : iterable of TableColumn
    known : mapping
        Fields of the titles: the level, and the names of the runs or the metric.

    Examples
    --------
    >>> head_texts(DIFFERENCE_COLUMNS, {"level": "95%", "baseline": "old", "run": "new"}, short=True)
    ['old', 'new', 'difference', '95%', 'verdict']
    """
    return [
        ((column.head or column.title.lower()) if short else column.title).format(**known)
        for column in columns
        if column.text is not None
    ]


def row_texts(columns: Iterable[TableColumn[T]], row: T, *, short: bool = False) -> dict[str, str]:
    """Return the texts of a row by the names of the columns; `short` where there is little room.

    Examples
    --------
    >>> d = Difference("recall", "a", "b", (0.684, 0.814), -0.13, -0.185, -0.076, verdict="worse")
    >>> list(row_texts(DIFFERENCE_COLUMNS, d).values())
    ['81.4%', '68.4%', '−13.0 points', '−18.5 to −7.6', 'worse']
    """
    shown = {
        column.name: (not short and column.full) or column.text
        for column in columns
        if column.text is not None
    }
    texts = {name: text(row) for name, text in shown.items() if text is not None}
    return {name: text if isinstance(text, str) else text.text for name, text in texts.items()}


def page_columns(
    columns: Iterable[TableColumn[T]], known: Mapping[str, str]
) -> list[tuple[Column, Callable[[T], Shown]]]:
    """Return heads and cells for `Table.by`."""
    return [
        (Column(column.title.format(**known), column.look, column.sorts), column.cell)
        for column in columns
        if column.text is not None
    ]


def table_data(columns: Iterable[TableColumn[T]], rows: Sequence[T]) -> dict[str, list[Any]]:
    """Return the values of all rows by column, for CSV files and frames.

    Examples
    --------
    >>> made = table_data(RANKING_COLUMNS, [])
    >>> list(made)
    ['run', 'first_rank', 'last_rank', 'value', 'low', 'high', 'best_group', 'behind']
    """
    return {
        column.name: [column.value(row) for row in rows] for column in columns if column.value is not None
    }


DIFFERENCE_COLUMNS: Final[tuple[TableColumn[Difference], ...]] = (
    TableColumn("metric", value=attrgetter("metric")),
    TableColumn("run", value=attrgetter("run")),
    TableColumn("baseline", value=attrgetter("baseline")),
    TableColumn("scope", value=attrgetter("scope")),
    TableColumn(
        "baseline_value",
        "{baseline}",
        lambda d: d.values[1],
        lambda d: difference_texts(d).before,
        sorts="down",
    ),
    TableColumn(
        "run_value", "{run}", lambda d: d.values[0], lambda d: difference_texts(d).after, sorts="down"
    ),
    TableColumn(
        "difference", "Difference", attrgetter("difference"), lambda d: difference_texts(d).gap, sorts="down"
    ),
    TableColumn("interval", "{level} interval", text=lambda d: difference_texts(d).limits, head="{level}"),
    TableColumn("low", value=attrgetter("low")),
    TableColumn("high", value=attrgetter("high")),
    TableColumn("p", value=attrgetter("p")),
    TableColumn("p_adjusted", value=attrgetter("p_adjusted")),
    TableColumn(
        "verdict",
        "Verdict",
        attrgetter("verdict"),
        lambda d: missing_reason(d) if d.verdict == "undefined" else d.verdict.replace("_", " "),
        verdict,
        look="",
        sorts="up",
    ),
)
PLACED: Final = frozenset({"baseline_value", "run_value", "difference", "interval", "verdict"})
"""Columns that may share a cell with a drawing; all others have separate cells."""


def other_columns(*also: str) -> list[TableColumn[Difference]]:
    """Return the columns of a difference with separate cells next to a drawing, and some others."""
    return [c for c in DIFFERENCE_COLUMNS if c.text and (c.name not in PLACED or c.name in also)]


@dataclass(frozen=True)
class RankingRow:
    """A row of a ranking: a run, the best run, and the metric."""

    entry: RankedRun
    best: RankedRun
    metric: Metric


def ranking_rows(ranking: Sequence[RankedRun], metric: Metric) -> list[RankingRow]:
    """Return the rows of a ranking, the best first."""
    return [RankingRow(entry, ranking[0], metric) for entry in ranking]


def comparison_ranking(comparison: Comparison) -> list[RankingRow]:
    """Return the runs of a comparison, ranked by its primary metric."""
    return ranking_rows(comparison.ranking, find(comparison.primary, comparison.evaluations[0].task))


def _interval(row: RankingRow) -> str:
    return "undefined" if row.entry.value is None else interval(row.entry.result, row.metric.style)


def _against_best(row: RankingRow) -> str | Sentence:
    entry = row.entry
    if entry.value is None:
        return ""
    if entry is row.best:
        return say("the best value")
    if entry.best_group:
        return say("not significantly worse")
    gap = difference_size("gap", entry.behind or 0.0, entry.low, entry.high, row.metric.style)
    return say("_significantly worse_ by {gap}", gap=gap)


def _word_against_best(row: RankingRow) -> str:
    if row.entry is row.best:
        return "the best"
    return "tied" if row.entry.best_group else "significantly worse"


RANKING_COLUMNS: Final[tuple[TableColumn[RankingRow], ...]] = (
    TableColumn("run", value=attrgetter("entry.run")),
    TableColumn("rank", "Rank", text=attrgetter("entry.shown_ranks"), look=""),
    TableColumn("first_rank", value=lambda row: row.entry.ranks[0] if row.entry.ranks else None),
    TableColumn("last_rank", value=lambda row: row.entry.ranks[1] if row.entry.ranks else None),
    TableColumn(
        "value",
        "{metric}",
        attrgetter("entry.value"),
        lambda row: NONE if row.entry.value is None else format_estimate(row.entry.result, row.metric.style),
        head="{metric}",
    ),
    TableColumn("interval", "{level} interval", text=_interval, head="{level}", look="plot"),
    TableColumn("low", value=attrgetter("entry.low")),
    TableColumn("high", value=attrgetter("entry.high")),
    TableColumn("best_group", value=attrgetter("entry.best_group")),
    TableColumn(
        "against_best", "Compared with the best", text=_word_against_best, full=_against_best, look=""
    ),
    TableColumn("behind", value=attrgetter("entry.behind")),
)

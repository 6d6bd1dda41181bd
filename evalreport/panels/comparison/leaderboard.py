"""The runs ranked by one metric, with the ranks that the data leave to each, and every metric of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evalreport.comparison.values import Comparison, Difference, RankedRun
from evalreport.estimates import interval, valued
from evalreport.format import SCALE
from evalreport.metrics.catalogue import find
from evalreport.panels.chart import tick_text
from evalreport.panels.comparison.axis import axis_end
from evalreport.panels.comparison.stated import size, stated
from evalreport.panels.comparison.words import title_of_metric
from evalreport.panels.intervals import forest_row
from evalreport.panels.parts import Cell, Column, Look, PagePart, Row, Section, Table
from evalreport.panels.words import NOTHING, Sentence, say
from evalreport.values import Estimate, Result, Undefined

REACH = 0.2
"""Runs further behind the best than this are marked by an arrow, so that the others can be told apart."""
SIDE_BY_SIDE = 5
"""Runs that are columns; more of them are rows, with as many metrics as columns."""
GROUNDS: dict[str, Look] = {"better": "right", "worse": "wrong"}
"""Ground of a cell by what is demonstrated."""


def leaderboard(comparison: Comparison) -> Table:
    """Return the runs, the best first: possible ranks, value, interval, and how each stands to the best."""
    metric = find(comparison.primary, comparison.evaluations[0].task)
    known = [entry for entry in comparison.ranking if entry.value is not None]
    low, high = _axis(known, (metric.low, metric.high))
    scale, unit = SCALE[metric.style]
    ends = " to ".join(tick_text(round(end * scale, 9)) + unit for end in (low, high))
    level = f"{comparison.level * 100:.10g}%"
    heads = (
        "Rank",
        Column("Run"),
        metric.title,
        Column(f"{level} interval, {ends}", "plot"),
        Column("Against the best"),
    )
    rows = (_ranked_row(comparison, entry, (low, high)) for entry in comparison.ranking)
    return Table.of("ranking-table", f"Runs ranked by {metric.title}", heads, rows)


def _axis(known: Sequence[RankedRun], most: tuple[float, float]) -> tuple[float, float]:
    """Ends of the axis: what lies near the best, in round steps, and nothing that no run could reach."""
    if not known or known[0].value is None:
        return 0.0, 1.0
    best = known[0].value
    near = [e for e in known if e.value is not None and abs(e.value - best) <= REACH * max(abs(best), 1.0)]
    ends = [end for e in near for end in (e.low, e.value, e.high) if end is not None]
    middle = (min(ends) + max(ends)) / 2
    step = axis_end([Difference("", "", "", (None, None), (max(ends) - min(ends)) / 2)]) / 2
    low, high = (middle / step - 3) // 1 * step, -((-middle / step - 3) // 1) * step
    return max(round(low, 10), most[0]), min(round(high, 10), most[1])


def _ranked_row(comparison: Comparison, entry: RankedRun, axis: tuple[float, float]) -> Row:
    metric = find(comparison.primary, comparison.evaluations[0].task)
    if entry.value is None or entry.ranks is None:
        return "–", entry.run, "–", Cell("undefined", "none"), ""
    row = forest_row(metric.name, entry.run, NOTHING, entry.result, metric.style, axis=axis)
    look: Look = "right" if entry.best_group else ""
    told = Cell(_against_best(comparison, entry), look)
    return entry.shown_ranks, Cell(entry.run, look), row.estimate, Cell(row.interval, track=row), told


def _against_best(comparison: Comparison, entry: RankedRun) -> Sentence:
    best = comparison.ranking[0]
    if entry is best:
        return say("the best value")
    if entry.best_group:
        return say("not demonstrated to be worse")
    style = find(comparison.primary, comparison.evaluations[0].task).style
    return say("_worse_ by {gap}", gap=size("gap", entry.behind or 0.0, entry.low, entry.high, style))


def every_value(comparison: Comparison) -> Table:
    """Return every metric of every run over its own rows, with what is demonstrated against the baseline."""
    names = list(dict.fromkeys(d.metric for d in comparison.differences))
    told = {(d.metric, d.run): d for d in comparison.differences if comparison.baseline is not None}
    if len(comparison.names) > SIDE_BY_SIDE:
        names = names[:SIDE_BY_SIDE]
        rows: Iterable[Row] = (
            (run, *(_value(comparison, place, name, told) for name in names))
            for place, run in enumerate(comparison.names)
        )
        heads: tuple[Column | str, ...] = (
            "Run",
            *(Column(title_of_metric(comparison, name)) for name in names),
        )
    else:
        rows = (
            (
                _metric_cell(comparison, name),
                *(_value(comparison, place, name, told) for place in order(comparison)),
            )
            for name in names
        )
        heads = ("Metric", *(Column(comparison.names[place]) for place in order(comparison)))
    return Table.of("values-table", "Every metric of every run", heads, rows)


def order(comparison: Comparison) -> list[int]:
    """Return the positions of the runs as columns: the baseline first, then as they were given."""
    return sorted(range(len(comparison.names)), key=lambda place: place != comparison.baseline)


def _metric_cell(comparison: Comparison, name: str) -> Cell:
    lower = find(name, comparison.evaluations[0].task).better == "lower"
    return Cell(title_of_metric(comparison, name), sub="lower is better" if lower else "")


def _value(comparison: Comparison, place: int, name: str, told: dict[tuple[str, str], Difference]) -> Cell:
    task, run = comparison.evaluations[0].task, comparison.names[place]
    result = comparison.evaluations[place].metrics.get(name, Undefined("not in this evaluation"))
    style = find(name, task).style
    if not isinstance(result, Estimate):
        return Cell("–", "none", sub=result.reason)
    text = (
        say("*{value}*", value=valued(result, style))
        if run in _best(comparison, name)
        else valued(result, style)
    )
    parts = [] if result.low is None else [interval(result, style)]
    d = told.get((name, run))
    if d is not None and d.difference is not None:
        parts.append(f"{stated(d).gap} {d.verdict.replace('_', ' ')}".removesuffix(" undefined"))
    ground = GROUNDS.get(d.verdict, "") if d is not None else ""
    return Cell(text, ground, round(result.value, 6), sub="; ".join(parts))


def _best(comparison: Comparison, name: str) -> list[str]:
    """The runs with the best value."""
    sign = {"higher": 1.0, "lower": -1.0}.get(find(name, comparison.evaluations[0].task).better)
    results: list[Result] = [ev.metrics.get(name, Undefined("")) for ev in comparison.evaluations]
    known = [
        (sign * r.value, run)
        for r, run in zip(results, comparison.names, strict=True)
        if sign and r.value is not None
    ]
    return [run for value, run in known if value == max(known)[0]]


def panel(comparison: Comparison) -> Section | None:
    """Return every metric of every run; of two runs it is folded under their differences."""
    if len(comparison.names) == 2:
        return None
    against = say("Blue is better than {base}, orange worse.", base=_base(comparison))
    summary = say("Each over all of its own rows, with its interval; the best value is bold.")
    summary = against + summary if comparison.baseline is not None else summary
    if (
        len(comparison.names) > SIDE_BY_SIDE
        and len({d.metric for d in comparison.differences}) > SIDE_BY_SIDE
    ):
        summary += say("The other metrics are in the JSON.")
    part: PagePart = every_value(comparison)
    return Section.of("values", "Every metric", "Every metric, every run", summary, part)


def _base(comparison: Comparison) -> str:
    return "" if comparison.baseline is None else comparison.names[comparison.baseline]

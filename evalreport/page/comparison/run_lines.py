"""One line per run: better or worse in words, the interval on a zoomed axis, right and wrong rows, the classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, TypeAlias

from evalreport.comparison.comparison import Comparison, Difference, RankedRun
from evalreport.core.estimate_format import column_places
from evalreport.core.format import SCALE, count, format_decimals
from evalreport.core.result import Estimate
from evalreport.core.sentences import NOTHING, Sentence, say
from evalreport.data.labels import Binary, Multilabel
from evalreport.evaluation.evaluation import Evaluation
from evalreport.metrics.catalogue import OF_CHOICES, WITHOUT_PREDICTION, find
from evalreport.page.charts import tick_text
from evalreport.page.comparison.charts import axis_end
from evalreport.page.comparison.sentences import difference_size
from evalreport.page.elements import ForestRow, forest_row, place
from evalreport.page.evaluation_terms import estimate, four_counts, mistakes, units

Look: TypeAlias = Literal["best", "worse", ""]
Kind: TypeAlias = Literal["ok", "no", "un", ""]
REACH = 0.2
"""Runs further behind the best than this are off the axis, marked by an arrow."""
MOST_CLASSES = 200
"""Classes of a strip; a mark of more of them is narrower than two pixels."""
FEWEST_CLASSES = 3
LEVELS = (
    (0.5, "under 0.5"),
    (0.7, "0.5 to 0.7"),
    (0.8, "0.7 to 0.8"),
    (0.9, "0.8 to 0.9"),
    (1.1, "0.9 and more"),
)
"""Upper ends of the five colours of a strip, by F1."""
MOST_LINES = 8
"""Runs on the first screen; a table has the others."""
LETTER = 3.5
"""Per cent of a bar that a digit takes, in the narrowest column."""
BESIDE = 75.0
"""Per cent of the column that the longest bar of mistakes takes; its numbers are beside it."""


@dataclass(frozen=True)
class Share:
    """A part of a bar: where it begins and how wide it is, in per cent, and its number."""

    look: Kind
    start: float
    width: float
    text: str


@dataclass(frozen=True)
class RunLine:
    """One run: its name, what it is in words, value and interval, the bar of its rows, and its classes."""

    name: str
    status: Sentence
    look: Look
    value: str
    track: ForestRow | None
    bar: tuple[Share, ...] = ()
    described: str = ""
    strip: tuple[int, ...] = ()


@dataclass(frozen=True)
class RunLines:
    """The runs, the best first.

    Parameters
    ----------
    heads : tuple of str
        Of the columns: run, value with the ends of its axis, rows, classes; "" for a column that is not there.
    band : (float, float) or None
        The interval of the best run on the axis, in 1000 units.
    keys : tuple of (class of the mark, words)
    """

    kind: ClassVar[str] = "run_lines"
    heads: tuple[str, str, str, str]
    lines: tuple[RunLine, ...]
    band: tuple[float, float] | None
    keys: tuple[tuple[str, str], ...]
    more: Sentence = NOTHING


def run_lines(comparison: Comparison) -> RunLines:
    """Return one line for each run of a comparison, the best first."""
    task = comparison.evaluations[0].task
    metric = find(comparison.primary, task)
    known = [entry for entry in comparison.ranking if entry.value is not None]
    axis = zoomed_axis(known, (metric.low, metric.high))
    by_name = dict(zip(comparison.names, comparison.evaluations, strict=True))
    shown = comparison.ranking[:MOST_LINES]
    order = _class_order([by_name[entry.run] for entry in shown])
    most = max((_wrong(by_name[entry.run]) for entry in shown), default=0.0)
    places = column_places(entry.result for entry in known)
    places = max(places - 2, 0) if metric.style == "percent" else places
    lines = tuple(_line(comparison, entry, by_name[entry.run], axis, order, most, places) for entry in shown)
    best = known[0] if known else None
    band = None
    if best is not None and best.low is not None and best.high is not None:
        band = (place(best.low, axis) or 0.0, place(best.high, axis) or 0.0)
    scale, unit = SCALE[metric.style]
    ends = " – ".join(tick_text(round(end * scale, 9)) + unit for end in axis)
    hidden = len(comparison.ranking) - len(shown)
    level = f"{comparison.level * 100:.10g}%"
    return RunLines(
        heads=(
            "Run",
            f"{metric.title}, {level} interval, {ends}",
            _bar_head(comparison) if any(line.bar for line in lines) else "",
            f"{len(order)} {'labels' if task == 'multilabel' else 'classes'}, hardest left: F1 of each"
            if order
            else "",
        ),
        lines=lines,
        band=band,
        keys=(*_bar_keys(comparison, lines), *((f"h{k}", f"F1 {words}") for k, (_, words) in _used(lines))),
        more=say("{hidden:count} more {hidden:run|runs} in the table.", hidden=hidden) if hidden else NOTHING,
    )


def _used(lines: Sequence[RunLine]) -> list[tuple[int, tuple[float, str]]]:
    """The colours of the strips that occur."""
    found = {level for line in lines for level in line.strip}
    return [(k, level) for k, level in enumerate(LEVELS) if k in found]


def zoomed_axis(known: Sequence[RankedRun], most: tuple[float, float]) -> tuple[float, float]:
    """Return the ends of an axis: round steps around the runs near the best, within the metric's range."""
    if not known or known[0].value is None:
        return 0.0, 1.0
    best = known[0].value
    near = [e for e in known if e.value is not None and abs(e.value - best) <= REACH * max(abs(best), 1.0)]
    ends = [end for e in near for end in (e.low, e.value, e.high) if end is not None]
    middle = (min(ends) + max(ends)) / 2
    step = axis_end([Difference("", "", "", (None, None), (max(ends) - min(ends)) / 2)]) / 2
    low, high = (middle / step - 3) // 1 * step, -((-middle / step - 3) // 1) * step
    return max(round(low, 10), most[0]), min(round(high, 10), most[1])


def _line(
    comparison: Comparison,
    entry: RankedRun,
    ev: Evaluation,
    axis: tuple[float, float],
    order: Sequence[str],
    most: float,
    places: int,
) -> RunLine:
    metric = find(comparison.primary, ev.task)
    status, look = _status(comparison, entry, ev)
    if entry.value is None:
        return RunLine(entry.run, status, look, "–", None)
    track = forest_row(metric.name, entry.run, NOTHING, entry.result, metric.style, axis=axis)
    bar, described = _bar(ev, most)
    f1 = {str(one.label): one.metrics.get(OF_CHOICES["class"]) for one in ev.classes} if order else {}
    values = [f1.get(name) for name in order]
    strip = tuple(_level(v.value) if isinstance(v, Estimate) else 0 for v in values)
    value = format_decimals(entry.value, places, metric.style)
    return RunLine(entry.run, status, look, value, track, bar, described, strip)


def _level(value: float) -> int:
    return next(k for k, (end, _) in enumerate(LEVELS) if value < end)


def _status(comparison: Comparison, entry: RankedRun, ev: Evaluation) -> tuple[Sentence, Look]:
    """Better, worse or tied, in words; of two runs the verdict of the pair."""
    if len(comparison.names) == 2:
        return _status_of_two(comparison, entry)
    if entry.value is None:
        return say("undefined"), ""
    best = [one for one in comparison.ranking if one.best_group]
    if entry.best_group:
        return (say("tied for best") if len(best) > 1 else say("best")), "best"
    unused = sum(1 for one in ev.classes if not one.predicted)
    if ev.task == "multiclass" and unused * 2 >= len(ev.space):
        predicted = len(ev.space) - unused
        return say("predicts {n:count} of {all:count} classes", n=predicted, all=len(ev.space)), "worse"
    style = find(comparison.primary, ev.task).style
    gap = difference_size("gap", entry.behind or 0.0, entry.low, entry.high, style)
    return say("{gap} worse", gap=gap), "worse"


def _status_of_two(comparison: Comparison, entry: RankedRun) -> tuple[Sentence, Look]:
    verdict = comparison.verdicts[0]
    if entry.run == verdict.baseline:
        return say("baseline"), "best" if verdict.verdict == "worse" else ""
    match verdict.verdict:
        case "better":
            return say("better"), "best"
        case "worse":
            return say("worse"), "worse"
        case "trade_off":
            return say("better in some ways, worse in others"), ""
        case "undefined":
            return say("cannot be compared"), ""
        case _:
            return say("no significant difference"), ""


def _wrong(ev: Evaluation) -> float:
    return (mistakes(ev.in_rows()) or 0.0) if isinstance(ev.space, (Binary, Multilabel)) else 0.0


def _bar_head(comparison: Comparison) -> str:
    ev = comparison.evaluations[0]
    rows = f"{count(ev.rows)} {units(ev, ev.rows)}"
    return f"Mistakes in {rows}" if isinstance(ev.space, (Binary, Multilabel)) else f"Of {rows}"


def _bar_keys(comparison: Comparison, lines: Sequence[RunLine]) -> tuple[tuple[str, str], ...]:
    looks = {one.look for line in lines for one in line.bar}
    match comparison.evaluations[0].space:
        case Binary():
            words = {"no": "missed", "un": "false alarms"}
        case Multilabel():
            words = {"no": "labels left out", "un": "labels added"}
        case _:
            words = {"ok": "right", "no": "wrong", "un": "unparsed"}
    return tuple((look, text) for look, text in words.items() if look in looks)


def _bar(ev: Evaluation, most: float) -> tuple[tuple[Share, ...], str]:
    """Rows as parts of a bar: right, wrong, unparsed; of two classes and of labels the two kinds of mistakes."""
    ev = ev.in_rows()
    four = four_counts(ev)
    if four is not None:
        return _mistake_shares((("no", four.fn, "missed"), ("un", four.fp, "false alarms")), most)
    if isinstance(ev.space, Multilabel):
        left = sum(one.support - one.right for one in ev.classes)
        added = sum(one.predicted - one.right for one in ev.classes)
        return _mistake_shares((("no", left, "left out"), ("un", added, "added")), most)
    wrong = mistakes(ev)
    if wrong is None or ev.confusion is None:
        return (), ""
    unparsed = sum(found.value for name in WITHOUT_PREDICTION if (found := estimate(ev, name)) is not None)
    total = ev.confusion.total
    parts: tuple[tuple[Kind, float, str], ...] = (
        ("ok", total - wrong, "right"),
        ("no", wrong - unparsed, "wrong"),
        ("un", unparsed, "unparsed"),
    )
    return _shares(parts, total)


def _shares(parts: Sequence[tuple[Kind, float, str]], most: float) -> tuple[tuple[Share, ...], str]:
    made, start = [], 0.0
    for look, number, _ in parts:
        width = 100 * number / most if most else 0.0
        text = count(number)
        if number:
            fits = width >= LETTER * (len(text) + 1)
            made.append(Share(look, round(start, 2), round(width, 2), text if fits else ""))
        start += width
    return tuple(made), ", ".join(f"{count(number)} {word}" for _, number, word in parts)


def _mistake_shares(parts: Sequence[tuple[Kind, float, str]], most: float) -> tuple[tuple[Share, ...], str]:
    """Two kinds of mistakes, with both numbers after the bar."""
    made, described = _shares(parts, most * 100 / BESIDE)
    end = max((share.start + share.width for share in made), default=0.0)
    numbers = " + ".join(count(number) for _, number, _ in parts)
    return (*(replace(share, text="") for share in made), Share("", end, 0.0, numbers)), described


def _class_order(evaluations: Sequence[Evaluation]) -> list[str]:
    """The classes by the mean F1 of the runs, hardest first; none of two classes, or of very many."""
    space = evaluations[0].space
    if isinstance(space, Binary) or not FEWEST_CLASSES <= len(space) <= MOST_CLASSES:
        return []
    values: dict[str, list[float]] = {}
    for ev in evaluations:
        for one in ev.classes:
            f1 = one.metrics.get(OF_CHOICES["class"])
            if isinstance(f1, Estimate):
                values.setdefault(str(one.label), []).append(f1.value)
    return sorted(values, key=lambda name: sum(values[name]) / len(values[name]))

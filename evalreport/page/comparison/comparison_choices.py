"""The first screen of a comparison: one line per run, shared mistakes, and which run for which purpose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, TypeAlias

from evalreport.comparison.comparison import CLASS, Agreement, Comparison, Difference, RankedRun
from evalreport.core.format import FINEST, SCALE, count, format_decimals, format_fixed
from evalreport.core.result import Estimate, column_places, distinct_decimals
from evalreport.core.sentences import NOTHING, Sentence, join_as_list, say, truncate_name
from evalreport.data.labels import Binary, Graded, Multilabel
from evalreport.evaluation.evaluation import Evaluation
from evalreport.metrics.catalogue import LOSSES, OF_CHOICES, WITHOUT_PREDICTION, find
from evalreport.page.charts import tick_text
from evalreport.page.comparison.comparison_charts import axis_end
from evalreport.page.comparison.wording import difference_size, difference_texts, title_of_metric
from evalreport.page.elements import Cell, Column, ForestRow, Row, Table, forest_row, place
from evalreport.page.evaluation_terms import estimate, four_counts, mistakes, negative, positive, units

Look: TypeAlias = Literal["best", "worse", ""]
Kind: TypeAlias = Literal["ok", "no", "un", "none", ""]
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
"""Width of the longest bar of mistakes in percent of the column; its numbers are next to it."""


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
    more : Sentence
        What is to be known of the lines.
    ends : tuple of str
        Ends of the axis.
    """

    kind: ClassVar[str] = "run_lines"
    heads: tuple[str, str, str, str]
    lines: tuple[RunLine, ...]
    band: tuple[float, float] | None
    keys: tuple[tuple[str, str], ...]
    more: Sentence = NOTHING
    ends: tuple[str, ...] = ()


def key_of_band(name: str) -> tuple[str, str]:
    """Return the key of the shaded interval."""
    return "r1", f"interval of {truncate_name(name)}"


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
    hidden = len(comparison.ranking) - len(shown)
    level = f"{comparison.level * 100:.10g}%"
    return RunLines(
        heads=(
            "Run",
            f"{metric.title}, {level} interval",
            _bar_head(comparison) if any(line.bar for line in lines) else "",
            f"{len(order)} {'labels' if task == 'multilabel' else 'classes'}, hardest left: F1 of each"
            if order
            else "",
        ),
        lines=lines,
        band=band,
        keys=(
            *((key_of_band(best.run),) if best is not None and band is not None else ()),
            *_bar_keys(comparison, lines),
            *((f"h{k}", f"F1 {words}") for k, (_, words) in _used_colors(lines)),
        ),
        more=overlap_sentence(known)
        + (say("{hidden:count} more {hidden:run|runs} in the table.", hidden=hidden) if hidden else NOTHING),
        ends=tuple(tick_text(round(end * scale, 9)) + unit for end in axis),
    )


def _used_colors(lines: Sequence[RunLine]) -> list[tuple[int, tuple[float, str]]]:
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
            return say("partly better, partly worse"), ""
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
            words = {"no": "missed", "un": "false positives"}
        case Multilabel():
            words = {"no": "labels missed", "un": "labels added"}
        case _:
            words = {"ok": "right", "no": "wrong", "un": "unparsed"}
    return tuple((look, text) for look, text in words.items() if look in looks)


def _bar(ev: Evaluation, most: float) -> tuple[tuple[Share, ...], str]:
    """Rows as parts of a bar: right, wrong, unparsed; of two classes and of labels the two kinds of mistakes."""
    ev = ev.in_rows()
    four = four_counts(ev)
    if four is not None:
        return bar_of_counts((("no", four.fn, "missed"), ("un", four.fp, "false positives")), most)
    if isinstance(ev.space, Multilabel):
        left = sum(one.support - one.right for one in ev.classes)
        added = sum(one.predicted - one.right for one in ev.classes)
        return bar_of_counts((("no", left, "missed"), ("un", added, "added")), most)
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


def bar_of_counts(parts: Sequence[tuple[Kind, float, str]], most: float) -> tuple[tuple[Share, ...], str]:
    """Return a bar of counts, such as two kinds of mistakes, with its numbers after it, and its words."""
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


WHICH_ONE = "Next step: which one to use"
"""Title of the table of purposes."""
SAME_MISTAKES = "Do they make the same mistakes?"
MOST_NAMED = 2
"""Runs that are named as tied; of more only the number."""


@dataclass(frozen=True)
class AgreementRow:
    """A part of the rows: words, width of its bar in per cent, and number."""

    words: Sentence
    look: str
    width: float
    text: str


@dataclass(frozen=True)
class AgreementBars:
    """Rows that all, some and none of the runs get right, a sentence on the majority vote, and a note."""

    kind: ClassVar[str] = "agreement_bars"
    rows: tuple[AgreementRow, ...]
    note: Sentence = NOTHING
    vote: Sentence = NOTHING


def agreement_bars(comparison: Comparison) -> AgreementBars | None:
    """Return how often the runs make the same mistakes; None where they have no common rows."""
    if len(comparison.names) == 2 and comparison.movement:
        (moved,) = comparison.movement
        only = {moved.run: moved.fixed, moved.baseline: moved.broken}
        return _bars_of_two(moved.both_right, only, moved.both_wrong)
    found = comparison.run_agreement
    return None if found is None else bars_of_agreement(found, comparison.names)


def _bars_of_two(both: int, only: Mapping[str, int], none: int) -> AgreementBars:
    """The bars of two runs: rows that both, only one and none of them get right."""
    single = [(say("only {run:short} right", run=run), "g2", n) for run, n in only.items()]
    return AgreementBars(
        draw_bars(((say("both right"), "g1", both), *single, (say("both wrong"), "g3", none)))
    )


def bars_of_agreement(found: Agreement, names: Sequence[str]) -> AgreementBars:
    """Return how often some of the named runs make the same mistakes, and the majority vote."""
    if len(names) == 2:
        only = {run: n - found.all_right for run, n in zip(found.runs, found.right, strict=True)}
        return _bars_of_two(found.all_right, only, found.none_right)
    number = "both" if len(found.runs) == 2 else f"all {len(found.runs)}"
    parts = (
        (say(f"{number} right"), "g1", found.all_right),
        (say("some right"), "g2", found.some_right),
        (say(f"{number} wrong"), "g3", found.none_right),
    )
    left = [name for name in names if name not in found.runs]
    note = say("Without {named}.", named=_run_names(left)) if left else NOTHING
    return AgreementBars(draw_bars(parts), note, _majority_vote(found))


def _majority_vote(found: Agreement) -> Sentence:
    """Whether the most frequent prediction is right for more rows than the best run."""
    if found.majority is None:
        return NOTHING
    best, more = found.right[0], found.majority - found.right[0]
    words = "*A majority vote does not help*: it is right for {majority:count}, {run:short} alone for {best:count}."
    if more > 0:
        words = "*A majority vote gets {more:count} more right* than {run:short}: {majority:count} instead of {best:count}."
    return say(words, majority=found.majority, run=found.runs[0], best=best, more=more)


def draw_bars(parts: Sequence[tuple[Sentence, str, int]]) -> tuple[AgreementRow, ...]:
    """Return the parts of the rows as bars, the longest over the full width."""
    most = max(number for *_, number in parts) or 1
    return tuple(AgreementRow(words, look, round(100 * n / most, 2), count(n)) for words, look, n in parts)


def choice_table(comparison: Comparison) -> Table | None:
    """Return which run to use for each purpose, with the reason; None without a purpose that differs."""
    return purposes_table("run", [row for row in _choices(comparison) if row is not None])


def purposes_table(what: str, rows: Sequence[Row]) -> Table | None:
    """Return which run or system to use for each purpose, with the reason; None without rows."""
    heads = ("If you need", Column("Use", ""), Column("Because", ""))
    return Table.from_rows("choices", f"Which {what} for which purpose", heads, rows) if rows else None


def _choices(comparison: Comparison) -> Iterator[Row | None]:
    space = comparison.evaluations[0].space
    if isinstance(space, Binary):
        yield _fewest_mistakes_row(
            comparison,
            OF_CHOICES["missed"],
            say("the fewest {what} missed (own thresholds)", what=_positives(comparison)),
        )
        fewest = say("the fewest false positives (own thresholds)")
        yield _fewest_mistakes_row(comparison, OF_CHOICES["false positives"], fewest)
        yield _by_metric(comparison, OF_CHOICES["ranking"], say("the best ranking"))
    elif isinstance(space, Multilabel):
        yield _by_metric(comparison, OF_CHOICES["labels"], say("the most labels right"))
        yield _by_metric(comparison, OF_CHOICES["sets"], say("all labels of a row right"))
    elif not isinstance(space, Graded):
        yield _most_right(comparison)
    known = [set(ev.metrics) for ev in comparison.evaluations]
    loss = next((name for name in LOSSES.get(space.task, ()) if all(name in names for names in known)), None)
    if loss is not None:
        yield _by_metric(comparison, loss, say("usable probabilities"))
    yield _every_row(comparison)
    yield _one_class(comparison)


def _positives(comparison: Comparison) -> str:
    return positive(comparison.evaluations[0])


def _values(comparison: Comparison, metric: str) -> list[tuple[str, float]]:
    """The runs with a value, the best first."""
    sign = -1 if find(metric, comparison.evaluations[0].task).better == "higher" else 1
    runs = zip(comparison.names, comparison.evaluations, strict=True)
    known = [(name, found.value) for name, ev in runs if (found := estimate(ev, metric)) is not None]
    return sorted(known, key=lambda entry: sign * entry[1])


def _tied_runs(comparison: Comparison, metric: str, values: Sequence[tuple[str, float]]) -> list[str]:
    """The best run, and those that do not differ significantly from it, by the paired difference."""
    if metric == comparison.primary:
        if _verdict_is_open(comparison):
            return [name for name, _ in values]
        return [entry.run for entry in comparison.ranking if entry.best_group]
    best = values[0][0]
    same = [best]
    runs = zip(comparison.names, comparison.evaluations, strict=True)
    found = {name: estimate(ev, metric) for name, ev in runs}
    for name, _ in values[1:]:
        pair = [d for d in comparison.differences_for(metric) if {d.run, d.baseline} == {best, name}]
        if (pair and not pair[0].is_significant) or (not pair and overlap(found[best], found[name])):
            same.append(name)
    return same


def _verdict_is_open(comparison: Comparison) -> bool:
    """Whether the headline of two runs has an interval of the primary metric that contains 0."""
    if len(comparison.names) != 2 or not comparison.verdicts:
        return False
    main = comparison.verdicts[0].primary
    return main is not None and main.limits is not None and main.limits[0] <= 0 <= main.limits[1]


def overlap(a: Estimate | RankedRun | None, b: Estimate | RankedRun | None) -> bool:
    """Return whether two intervals overlap; False where there is none."""
    if a is None or b is None or a.low is None or b.low is None or a.high is None or b.high is None:
        return False
    return a.low <= b.high and b.low <= a.high


def overlap_sentence(ranking: Sequence[RankedRun]) -> Sentence:
    """Return which runs are significantly worse although their intervals overlap that of the best; nothing without any."""
    best, *others = ranking
    worse = [one.run for one in others if not one.best_group and overlap(one, best)]
    if not worse:
        return NOTHING
    verb = "is" if len(worse) == 1 else "are"
    words = f"{{named}} {verb} significantly worse although the intervals overlap."
    return say(words, named=_run_names(worse))


def _run_names(runs: Sequence[str]) -> Sentence:
    """The names of a few runs, of more their number."""
    if len(runs) > MOST_NAMED:
        return say("{n:count} runs", n=len(runs))
    return join_as_list([say("{run:short}", run=run) for run in runs])


def use_cell(same: Sequence[str], names: Sequence[str]) -> Cell:
    """Return which of several runs or systems to use, where those of `same` do not differ significantly.

    Examples
    --------
    >>> names = ["a", "b", "c", "d"]
    >>> [use_cell(names[:n], names).words for n in (1, 2, 3, 4)]
    ['a', 'a or b', 'any except d', 'any']
    """
    if len(same) == len(names):
        return Cell(say("any" if len(same) > 2 else "either"))
    if len(same) <= MOST_NAMED:
        return Cell(join_as_list([say("*{run:short}*", run=run) for run in same], "or"))
    if len(same) == len(names) - 1:
        (worse,) = set(names) - set(same)
        return Cell(say("any except {run:short}", run=worse))
    return Cell(say("any of {n:count}", n=len(same)))


def next_best(rest: Sequence[str], of: int) -> Sentence:
    """Return what comes before the value of the next best run: its name where it is the only one left.

    Examples
    --------
    >>> [next_best(["b"], 2).text, next_best(["d"], 4).text, next_best(["c", "d"], 4).text]
    ['the other', 'd', 'the next']
    """
    if of == 2:
        return say("the other")
    return say("{run:short}", run=rest[0]) if len(rest) == 1 else say("the next")


def _decimals_off_ends(value: float) -> int:
    """Return the decimals, at least 2, with which a value between 0 and 1 is not printed as 0 or as 1.

    Examples
    --------
    >>> [_decimals_off_ends(value) for value in (0.5, 0.998, 0.99998, 0.0004, 1.0)]
    [2, 3, 5, 4, 2]
    """
    places = 2
    while 0 < value < 1 and places < FINEST and float(format_fixed(value, places)) in (0, 1):
        places += 1
    return places


def _by_metric(comparison: Comparison, metric: str, purpose: Sentence) -> Row | None:
    values = _values(comparison, metric)
    if len(values) < 2:
        return None
    same = _tied_runs(comparison, metric, values)
    title = title_of_metric(comparison, metric)
    others = [entry for entry in values if entry[0] not in same]
    last = [value for name, value in values if name in same][-1]
    ends = (values[0][1], others[0][1] if others else last)
    places = max(distinct_decimals(ends), *map(_decimals_off_ends, ends))
    first, second, tied = (format_decimals(value, places, "ratio") for value in (*ends, last))
    why = say("{text}", text=f"{title} {second} to {first}: not significant")
    if others:
        best = first if tied == first else f"{first} to {tied}"
        after = next_best([name for name, _ in others], len(values))
        why = say("{text},", text=f"{title} {best}") + after + say("{second}", second=second)
    return purpose, use_cell(same, comparison.names), why


def _fewest_mistakes_row(comparison: Comparison, metric: str, purpose: Sentence) -> Row | None:
    """The fewest mistakes of one kind, in rows."""
    values = _values(comparison, metric)
    if len(values) < 2:
        return None
    same = _tied_runs(comparison, metric, values)
    runs = zip(comparison.names, comparison.evaluations, strict=True)
    counts = {name: four for name, ev in runs if (four := four_counts(ev.in_rows())) is not None}
    if values[0][0] not in counts:
        return None
    ev, four = comparison.evaluations[0], counts[values[0][0]]
    if metric == OF_CHOICES["missed"]:
        wrong = {name: one.fn for name, one in counts.items()}
        of, what, verb = four.positives, positive(ev, four.positives), "misses"
    else:
        wrong = {name: one.fp for name, one in counts.items()}
        of, what, verb = four.negatives, negative(ev, four.negatives), "has"
    best = list(dict.fromkeys(count(wrong[name]) for name in same if name in wrong))
    rest = [name for name, _ in values if name in wrong and name not in same]
    least = best[0] if len(best) == 1 else f"{best[0]} to {best[-1]}"
    why = say("{text}", text=f"{least} of {count(of)} {what}" + ("," if rest else ": not significant"))
    if rest:
        why += next_best(rest, len(values)) + say(f"{verb} {{n}}", n=count(wrong[rest[0]]))
    return purpose, use_cell(same, comparison.names), why


def _most_right(comparison: Comparison) -> Row | None:
    values = _values(comparison, OF_CHOICES["rows"])
    if len(values) < 2:
        return None
    same = _tied_runs(comparison, OF_CHOICES["rows"], values)
    right = {}
    for name, ev in zip(comparison.names, comparison.evaluations, strict=True):
        wrong = mistakes(ev.in_rows())
        right[name] = 0.0 if wrong is None or ev.confusion is None else ev.in_rows().confusion.total - wrong  # type: ignore[union-attr]
    ev = comparison.evaluations[0]
    shown = join_as_list([say(count(right[name])) for name in same[:3]])
    words = say("{shown} of {rows} right", shown=shown, rows=f"{count(ev.rows)} {units(ev, ev.rows)}")
    return say("the most {what} right", what=units(ev)), use_cell(same, comparison.names), words


def _every_row(comparison: Comparison) -> Row | None:
    """A prediction for every row, where some run has responses that could not be parsed."""
    missing = {}
    for name, ev in zip(comparison.names, comparison.evaluations, strict=True):
        parts = [estimate(ev, part) for part in WITHOUT_PREDICTION]
        missing[name] = sum(part.value for part in parts if part is not None)
    if not any(missing.values()):
        return None
    whole = [name for name, n in missing.items() if not n]
    worst = max(missing, key=lambda name: missing[name])
    why = say("{run:short} has none for {n}", run=worst, n=count(missing[worst]))
    use = use_cell(whole, comparison.names) if whole else Cell(say("–"), "none")
    return say("a prediction for every row"), use, why


def _one_class(comparison: Comparison) -> Row | None:
    """One class: the largest significant difference of F1, else the largest one."""
    classes = [d for d in comparison.parts if d.scope.startswith(CLASS) and d.metric == OF_CHOICES["class"]]
    if not classes:
        return None
    near = comparison.names if comparison.run_agreement is None else comparison.run_agreement.runs
    classes = [d for d in classes if d.run in near and d.baseline in near]
    if not classes:
        return None
    clear = [d for d in classes if d.is_significant]
    purpose = say("one class in particular")
    if not clear:
        d = classes[0]
        why = say(
            "no class differs significantly; the largest gap is {name:short}, {gap}",
            name=_scope(d),
            gap=_pair(d),
        )
        return purpose, Cell(say("–"), "none"), why
    d = clear[0]
    better = d.run if d.verdict == "better" else d.baseline
    words = "{n:count} {n:class differs|classes differ} significantly, {name:short} most: {gap}"
    return (
        purpose,
        Cell(say("*{run:short}*", run=better)),
        say(words, n=len({one.scope for one in clear}), name=_scope(d), gap=_pair(d)),
    )


def _scope(d: Difference) -> str:
    return d.scope.removeprefix(CLASS)


def _pair(d: Difference) -> str:
    """Return the two values with their runs, the better one first."""
    shown = difference_texts(d)
    values = [(shown.after, d.run), (shown.before, d.baseline)]
    (better, first), (worse, second) = values if (d.difference or 0.0) >= 0 else values[::-1]
    return f"{better} ({first}) against {worse} ({second})"

"""Which run to use for which purpose, and whether the runs make the same mistakes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from evalreport.comparison.comparison import CLASS, Comparison, Difference
from evalreport.core.estimate_format import distinct_decimals
from evalreport.core.format import FINEST, count, format_decimals, format_fixed
from evalreport.core.sentences import NOTHING, Sentence, join_as_list, say
from evalreport.data.labels import Binary, Multilabel
from evalreport.metrics.catalogue import LOSSES, OF_CHOICES, WITHOUT_PREDICTION, find
from evalreport.page.comparison.sentences import difference_texts, title_of_metric
from evalreport.page.elements import Cell, Column, Row, Table
from evalreport.page.evaluation_terms import estimate, four_counts, mistakes, negative, positive, units

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
    """Rows that all, some and none of the runs get right, and a sentence on the majority vote."""

    kind: ClassVar[str] = "agreement_bars"
    rows: tuple[AgreementRow, ...]
    note: Sentence = NOTHING


def agreement_bars(comparison: Comparison) -> AgreementBars | None:
    """Return whether the runs make the same mistakes; None where they have no rows in common."""
    if len(comparison.names) == 2 and comparison.movement:
        (moved,) = comparison.movement
        pair = (
            (say("both right"), "g1", moved.both_right),
            (say("only {run:short} right", run=moved.run), "g2", moved.fixed),
            (say("only {run:short} right", run=moved.baseline), "g2", moved.broken),
            (say("both wrong"), "g3", moved.both_wrong),
        )
        return AgreementBars(_bars(pair))
    found = comparison.run_agreement
    if found is None:
        return None
    number = "both" if len(found.runs) == 2 else f"all {len(found.runs)}"
    parts = (
        (say(f"{number} right"), "g1", found.all_right),
        (say("some of them"), "g2", found.some_right),
        (say("none"), "g3", found.none_right),
    )
    left = [name for name in comparison.names if name not in found.runs]
    note = NOTHING
    if left:
        names = join_as_list([say("{name:short}", name=name) for name in left])
        note += say("Without {names}.", names=names)
    if found.majority is not None:
        words = (
            "The majority vote is right for {majority:count}, the best single run, {best:short}, for "
            "{right:count} of {rows:count}."
        )
        note += say(words, majority=found.majority, best=found.runs[0], right=found.right[0], rows=found.rows)
    return AgreementBars(_bars(parts), note)


def _bars(parts: Sequence[tuple[Sentence, str, int]]) -> tuple[AgreementRow, ...]:
    most = max(number for *_, number in parts) or 1
    return tuple(AgreementRow(words, look, round(100 * n / most, 2), count(n)) for words, look, n in parts)


def choice_table(comparison: Comparison) -> Table | None:
    """Return which run to use for each purpose, with the reason; None without a purpose that differs."""
    rows = [row for row in _choices(comparison) if row is not None]
    heads = ("If you need", Column("Use", ""), Column("Because", ""))
    return Table.from_rows("choices", "Which run for which purpose", heads, rows) if rows else None


def _choices(comparison: Comparison) -> Iterator[Row | None]:
    space = comparison.evaluations[0].space
    if isinstance(space, Binary):
        yield _counted(
            comparison, OF_CHOICES["missed"], say("the fewest {what} missed", what=_positives(comparison))
        )
        yield _counted(comparison, OF_CHOICES["false positives"], say("the fewest false alarms"))
        yield _by_metric(comparison, OF_CHOICES["ranking"], say("the best ranking"))
    elif isinstance(space, Multilabel):
        yield _by_metric(comparison, OF_CHOICES["labels"], say("the most labels right"))
        yield _by_metric(comparison, OF_CHOICES["sets"], say("all labels of a row right"))
    else:
        yield _most_right(comparison)
    known = [set(ev.metrics) for ev in comparison.evaluations]
    loss = next((name for name in LOSSES.get(space.task, ()) if all(name in names for names in known)), None)
    if loss is not None:
        yield _by_metric(comparison, loss, say("probabilities that you can use"))
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


def _tied(comparison: Comparison, metric: str, values: Sequence[tuple[str, float]]) -> list[str]:
    """The best run, and those that do not differ significantly from it, by the paired difference."""
    if metric == comparison.primary:
        if _verdict_is_open(comparison):
            return [name for name, _ in values]
        return [entry.run for entry in comparison.ranking if entry.best_group]
    best = values[0][0]
    same = [best]
    for name, _ in values[1:]:
        pair = [d for d in comparison.differences_for(metric) if {d.run, d.baseline} == {best, name}]
        if (pair and not pair[0].is_significant) or (not pair and _overlap(comparison, metric, best, name)):
            same.append(name)
    return same


def _verdict_is_open(comparison: Comparison) -> bool:
    """Whether the headline of two runs has an interval of the primary metric that contains 0."""
    if len(comparison.names) != 2 or not comparison.verdicts:
        return False
    main = comparison.verdicts[0].primary
    return main is not None and main.limits is not None and main.limits[0] <= 0 <= main.limits[1]


def _overlap(comparison: Comparison, metric: str, one: str, other: str) -> bool:
    """Whether the intervals of two runs overlap, where no paired difference is known."""
    found = {
        name: estimate(ev, metric)
        for name, ev in zip(comparison.names, comparison.evaluations, strict=True)
        if name in (one, other)
    }
    a, b = found[one], found[other]
    if a is None or b is None or None in (a.low, a.high, b.low, b.high):
        return False
    assert a.low is not None and a.high is not None and b.low is not None and b.high is not None  # noqa: S101
    return a.low <= b.high and b.low <= a.high


def _use(comparison: Comparison, same: Sequence[str]) -> Cell:
    if len(same) == 1:
        return Cell(say("*{run:short}*", run=same[0]))
    if len(same) == len(comparison.names):
        return Cell(say("any" if len(same) > 2 else "either"))
    if len(same) <= MOST_NAMED:
        return Cell(join_as_list([say("*{run:short}*", run=run) for run in same], "or"))
    return Cell(say("any of {n:count}", n=len(same)))


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
    same = _tied(comparison, metric, values)
    title = title_of_metric(comparison, metric)
    others = [value for name, value in values if name not in same]
    ends = (values[0][1], others[0] if others else values[-1][1])
    places = max(distinct_decimals(ends), *map(_decimals_off_ends, ends))
    first, second = (format_decimals(value, places, "ratio") for value in ends)
    words = (
        f"{title} {first}, the next {second}" if others else f"{title} {second} to {first}: not significant"
    )
    return purpose, _use(comparison, same), say("{text}", text=words)


def _counted(comparison: Comparison, metric: str, purpose: Sentence) -> Row | None:
    """The fewest mistakes of one kind, in rows."""
    values = _values(comparison, metric)
    if len(values) < 2:
        return None
    same = _tied(comparison, metric, values)
    runs = zip(comparison.names, comparison.evaluations, strict=True)
    counts = {name: four for name, ev in runs if (four := four_counts(ev.in_rows())) is not None}
    if values[0][0] not in counts:
        return None
    ev, four = comparison.evaluations[0], counts[values[0][0]]
    if metric == OF_CHOICES["missed"]:
        wrong = {name: one.fn for name, one in counts.items()}
        of, what = four.positives, positive(ev, four.positives)
    else:
        wrong = {name: one.fp for name, one in counts.items()}
        of, what = four.negatives, negative(ev, four.negatives)
    best = list(dict.fromkeys(count(wrong[name]) for name in same if name in wrong))
    rest = [count(wrong[name]) for name, _ in values if name in wrong and name not in same]
    least = best[0] if len(best) == 1 else f"{best[0]} to {best[-1]}"
    words = f"{least} of {count(of)} {what}" + (f", the next {rest[0]}" if rest else ": not significant")
    return purpose, _use(comparison, same), say("{text}", text=words)


def _most_right(comparison: Comparison) -> Row | None:
    values = _values(comparison, OF_CHOICES["rows"])
    if len(values) < 2:
        return None
    same = _tied(comparison, OF_CHOICES["rows"], values)
    right = {}
    for name, ev in zip(comparison.names, comparison.evaluations, strict=True):
        wrong = mistakes(ev.in_rows())
        right[name] = 0.0 if wrong is None or ev.confusion is None else ev.in_rows().confusion.total - wrong  # type: ignore[union-attr]
    ev = comparison.evaluations[0]
    shown = join_as_list([say(count(right[name])) for name in same[:3]])
    words = say("{shown} of {rows} right", shown=shown, rows=f"{count(ev.rows)} {units(ev, ev.rows)}")
    return say("the most {what} right", what=units(ev)), _use(comparison, same), words


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
    use = _use(comparison, whole) if whole else Cell(say("–"), "none")
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
    words = "{n:count} {n:class differs|classes differ} significantly, most of all {name:short}, {gap}"
    return (
        purpose,
        Cell(say("*{run:short}*", run=better)),
        say(words, n=len(clear), name=_scope(d), gap=_pair(d)),
    )


def _scope(d: Difference) -> str:
    return d.scope.removeprefix(CLASS)


def _pair(d: Difference) -> str:
    shown = difference_texts(d)
    return f"{shown.after} and {shown.before}"

"""Which answers changed between the runs: how many, in which classes and slices, and some of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from evalreport.comparison.values import Comparison, Moved, Movement
from evalreport.format import count
from evalreport.panels.comparison.words import p_value
from evalreport.panels.examples import UNREADABLE, numbered
from evalreport.panels.parts import (
    Cell,
    Column,
    Empty,
    Folded,
    Heading,
    Note,
    PagePart,
    Row,
    Section,
    Shown,
    Table,
)
from evalreport.panels.words import NOTHING, Sentence, listed, say

MOST = 12
"""Classes and slices of each pair, those with most changes."""
DETAILED = 6
"""Pairs up to which classes and single answers are shown; of more only counts and ids."""
LISTED = 19
"""Pairs up to which ids are listed; of more only counts."""
KINDS = ("Fixed", "Broken", "Both wrong")
AT_EQUAL_RECALL = ("Fixed at equal recall", "Broken at equal recall")
NONE = (0, 0, 0)


def panel(comparison: Comparison) -> Section:
    """Return the examples that one run gets right and another wrong."""
    title = "Which answers changed"
    if not comparison.movement:
        remedy = "That takes decisions of both runs on the same examples: log their predictions with ids."
        empty = Empty(say("No example can be followed from run to run."), say(remedy))
        return Section.of("movement", "Examples", title, NOTHING, empty)
    tests = {(test.run, test.baseline): test.p for test in comparison.mcnemar}
    heads = ("Run against baseline", *KINDS, "Both right", "McNemar")
    rows = (_counts(moved, tests.get((moved.run, moved.baseline))) for moved in comparison.movement)
    table = Table.of("moves-table", "Answers that changed", heads, rows)
    summary = say("Fixed: right in the run, wrong in the baseline. Broken: the other way round.")
    if any(moved.at_equal_recall for moved in comparison.movement):
        summary += say(
            "At equal recall the run decides where it finds as many positives as the baseline: what is "
            "left is the model's, not the threshold's."
        )
    if any(ev.facts.get("withheld") for ev in comparison.evaluations):
        summary += say("Single examples are withheld.")
    number = len(comparison.movement)
    sure = all(ev.score_kind and ev.task != "multilabel" for ev in comparison.evaluations)
    if number > LISTED:
        summary += say("Which examples these are stands in the JSON.")
    listed = comparison.movement if number <= LISTED else ()
    parts = [
        part
        for place, moved in enumerate(listed)
        for part in _pair(moved, place, detailed=number <= DETAILED, several=number > 1, sure=sure)
    ]
    return Section.of("movement", "Examples", title, summary, table, *parts)


def _counts(moved: Movement, p: float | None) -> Row:
    numbers = (moved.fixed, moved.broken, moved.both_wrong, moved.both_right)
    test = "–" if p is None else p_value(p).text.removeprefix("; McNemar ")
    return (f"{moved.run} against {moved.baseline}", *map(_number, numbers), Cell(test, sort=p))


def _number(value: int) -> Cell:
    return Cell(count(value), sort=value)


def _pair(moved: Movement, place: int, *, detailed: bool, several: bool, sure: bool) -> list[PagePart]:
    """Tables, folded where there are several pairs, and ids of what changed between two runs."""
    where, answers = (_where(moved, place), _answers(moved, place)) if detailed else (None, None)
    told = (
        ("By class and slice, most changes first", where),
        ("Single answers" + (", the surest mistakes first" if sure else ""), answers),
    )
    parts: list[PagePart] = []
    for name, table in told:
        if table is not None:
            parts += [Folded(name, (table,))] if several else [Heading(name), table]
    parts += [Folded(name, (Note(_ids_in_words(ids)),)) for name, ids in _ids(moved)]
    return [Heading(f"{moved.run} against {moved.baseline}"), *parts] if several and parts else parts


def _ids_in_words(ids: Sequence[str]) -> Sentence:
    return listed([say("`{id}`", id=id) for id in ids], ",")


def _where(moved: Movement, place: int) -> Table | None:
    """Classes and slices, those with most changed answers first."""
    every = [*moved.by_class.items(), *moved.by_slice.items()]
    changed = sorted((row for row in every if row[1][0] or row[1][1]), key=lambda row: -sum(row[1][:2]))
    if not changed:
        return None
    alike = moved.at_equal_recall
    rows: Iterable[Row] = (
        (name, *map(_number, (*counts, *(alike.get(name, NONE)[:2] if alike else ()))))
        for name, counts in changed[:MOST]
    )
    heads = ("True class, or slice", *KINDS, *(AT_EQUAL_RECALL if alike else ()))
    name = f"Where answers of {moved.run} changed against {moved.baseline}"
    return Table.of(f"moves-where-{place}", name, heads, rows)


def _answers(moved: Movement, place: int) -> Table | None:
    if not moved.examples:
        return None
    texts = any(one.text is not None for one in moved.examples)
    columns: tuple[tuple[Column, Callable[[Moved], Shown]] | None, ...] = (
        (Column("Example"), lambda one: Cell(numbered(one.id), "id")),
        (Column("Now"), lambda one: say("*fixed*" if one.run == one.truth else "_broken_")),
        (Column("Text", "text"), lambda one: one.text or "") if texts else None,
        (Column("Truth"), lambda one: ", ".join(one.truth) or "–"),
        (Column(moved.baseline), lambda one: _answer(one.baseline, (one.answers or ("", ""))[1])),
        (Column(moved.run), lambda one: _answer(one.run, (one.answers or ("", ""))[0])),
    )
    name = f"Answers of {moved.run} that changed against {moved.baseline}"
    tall = len(moved.examples) > MOST
    return Table.by(f"moves-answers-{place}", name, columns, moved.examples, tall=tall)


def _answer(names: Sequence[str], written: str) -> Cell:
    return Cell(", ".join(names) or UNREADABLE, sub=f"“{written}”" if written else "")


def _ids(moved: Movement) -> tuple[tuple[str, tuple[str, ...]], ...]:
    numbers = (moved.fixed, moved.broken, moved.both_wrong)
    ids = (moved.fixed_ids, moved.broken_ids, moved.both_wrong_ids)
    return tuple(
        (f"{word}: {'ids' if len(found) == n else f'the first {len(found)} of {n:,} ids'}", found)
        for word, n, found in zip(KINDS, numbers, ids, strict=True)
        if found
    )

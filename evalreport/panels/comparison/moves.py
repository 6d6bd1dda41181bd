"""Which answers changed between the runs: how many, in which classes and slices, and some of them."""

from __future__ import annotations

from dataclasses import dataclass

from evalreport.comparison.values import Comparison, Moved, Movement
from evalreport.format import count
from evalreport.panels.comparison.words import p_value
from evalreport.panels.examples import UNREADABLE, numbered
from evalreport.panels.parts import Cell, Column, Empty, Section, Table
from evalreport.panels.words import NOTHING, say

MOST = 12
"""Classes and slices of each pair, those with most changes."""
DETAILED = 6
"""Pairs up to which classes and single answers are shown; of more only counts and ids."""
LISTED = 19
"""Pairs up to which ids are listed; of more only counts."""
KINDS = ("Fixed", "Broken", "Both wrong")


@dataclass(frozen=True)
class PairMovement:
    """What moved between two runs.

    Parameters
    ----------
    title : str
    tables : tuple of (title, Table)
        By class and slice, then single answers.
    lists : tuple of (name, ids)
    """

    title: str
    tables: tuple[tuple[str, Table], ...]
    lists: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Movements:
    """Counts of each pair, and what they are made of."""

    table: Table | None
    pairs: tuple[PairMovement, ...] = ()
    empty: Empty | None = None


def panel(comparison: Comparison) -> Section:
    """Return the examples that one run gets right and another wrong."""
    title = "Which answers changed"
    if not comparison.movement:
        empty = Empty(
            say("No example can be followed from run to run."),
            say("That takes decisions of both runs on the same examples: log their predictions with ids."),
        )
        return Section("movement", "Examples", title, "moves", NOTHING, Movements(None, (), empty))
    tests = {(test.run, test.baseline): test.p for test in comparison.mcnemar}
    heads = ("Run against baseline", *KINDS, "Both right", "McNemar")
    table = Table(
        "moves-table",
        "Answers that changed",
        tuple(Column(head, "n" if place else "") for place, head in enumerate(heads)),
        tuple(_counts(moved, tests.get((moved.run, moved.baseline))) for moved in comparison.movement),
    )
    lede = say("Fixed: right in the run, wrong in the baseline. Broken: the other way round.")
    if any(ev.facts.get("withheld") for ev in comparison.evaluations):
        lede += say("Single examples are withheld.")
    number = len(comparison.movement)
    if number > LISTED:
        lede += say("Which examples these are stands in the JSON.")
    listed = comparison.movement if number <= LISTED else ()
    pairs = tuple(_pair(moved, place, detailed=number <= DETAILED) for place, moved in enumerate(listed))
    return Section("movement", "Examples", title, "moves", lede, Movements(table, pairs))


def _counts(moved: Movement, p: float | None) -> tuple[Cell, ...]:
    numbers = (moved.fixed, moved.broken, moved.both_wrong, moved.both_right)
    test = "–" if p is None else p_value(p).text.removeprefix("; McNemar ")
    return (Cell(f"{moved.run} against {moved.baseline}"), *map(_number, numbers), Cell(test, "n", p))


def _number(value: int) -> Cell:
    return Cell(count(value), "n", value)


def _pair(moved: Movement, place: int, *, detailed: bool) -> PairMovement:
    where, answers = (_where(moved, place), _answers(moved, place)) if detailed else (None, None)
    told = (
        ("By class and slice, most changes first", where),
        ("Single answers, the surest mistakes first", answers),
    )
    title = f"{moved.run} against {moved.baseline}"
    return PairMovement(title, tuple((name, table) for name, table in told if table is not None), _ids(moved))


def _where(moved: Movement, place: int) -> Table | None:
    """Classes and slices, those with most changed answers first."""
    every = [*moved.by_class.items(), *moved.by_slice.items()]
    changed = sorted((row for row in every if row[1][0] or row[1][1]), key=lambda row: -sum(row[1][:2]))
    if not changed:
        return None
    rows = tuple((Cell(name), *map(_number, counts)) for name, counts in changed[:MOST])
    heads = (Column("True class, or slice"), *(Column(kind, "n") for kind in KINDS))
    name = f"Where answers of {moved.run} changed against {moved.baseline}"
    return Table(f"moves-where-{place}", name, heads, rows)


def _answers(moved: Movement, place: int) -> Table | None:
    if not moved.examples:
        return None
    texts = any(one.text is not None for one in moved.examples)
    heads = [Column("Example"), Column("Now")]
    heads += [Column("Text", "text")] if texts else []
    heads += [Column("Truth"), Column(moved.baseline), Column(moved.run)]
    rows = tuple(_answer(one, texts=texts) for one in moved.examples)
    name = f"Answers of {moved.run} that changed against {moved.baseline}"
    return Table(f"moves-answers-{place}", name, tuple(heads), rows, tall=len(rows) > MOST)


def _answer(one: Moved, *, texts: bool) -> tuple[Cell, ...]:
    fixed = one.run == one.truth
    return (
        Cell(numbered(one.id), "id"),
        Cell(say("*fixed*") if fixed else say("_broken_")),
        *((Cell(one.text or "", "text"),) if texts else ()),
        Cell(", ".join(one.truth) or "–"),
        *(Cell(", ".join(names) or UNREADABLE) for names in (one.baseline, one.run)),
    )


def _ids(moved: Movement) -> tuple[tuple[str, tuple[str, ...]], ...]:
    numbers = (moved.fixed, moved.broken, moved.both_wrong)
    ids = (moved.fixed_ids, moved.broken_ids, moved.both_wrong_ids)
    return tuple(
        (f"{word}: {'ids' if len(found) == n else f'the first {len(found)} of {n:,} ids'}", found)
        for word, n, found in zip(KINDS, numbers, ids, strict=True)
        if found
    )

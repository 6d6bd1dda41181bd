"""Multilabel: labels left out while another was added wrongly."""

from __future__ import annotations

from dataclasses import dataclass

from evalreport.evaluation.model import Evaluation
from evalreport.format import count, fixed
from evalreport.labels import Multilabel
from evalreport.panels.about import units
from evalreport.panels.parts import Cell, Column, Empty, Section, Table
from evalreport.panels.words import NOTHING, say

OFTEN = 4
"""Rows on which a swap was seen to be shown."""
MOST = 12


@dataclass(frozen=True)
class Swaps:
    """The table, or why there is none."""

    table: Table | None
    empty: Empty | None = None


def panel(ev: Evaluation) -> Section | None:
    """Return pairs of labels swapped for one another."""
    if not isinstance(ev.space, Multilabel) or not ev.classes:
        return None
    often = [swap for swap in ev.swaps if swap.rows >= OFTEN][:MOST]
    title = "Labels swapped for one another"
    if not often:
        empty = Empty(
            say("No swap was seen {times:count} times.", times=OFTEN),
            say("Labels that are left out are not regularly replaced by another one."),
        )
        return Section("swaps", "Swaps", title, "swaps", NOTHING, Swaps(None, empty))
    rows = tuple(
        (
            Cell(say("{left} _swapped for_ {added}", left=swap.left_out, added=swap.added)),
            Cell(count(swap.rows), "n", swap.rows),
            Cell(fixed(swap.by_chance, 1), "n"),
            Cell(fixed(swap.rows / swap.by_chance, 1) + "×" if swap.by_chance else "–", "n"),
        )
        for swap in often
    )
    heads = (
        Column("Left out, added instead"),
        Column(units(ev).capitalize(), "n"),
        Column("By chance", "n"),
        Column("Ratio", "n"),
    )
    lede = say(
        "{units} where one label was left out while another was added wrongly, compared with what chance "
        "would give.",
        units=units(ev).capitalize(),
    )
    return Section(
        "swaps", "Swaps", title, "swaps", lede, Swaps(Table("swaps-table", "Table of swaps", heads, rows))
    )

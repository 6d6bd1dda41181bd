"""Multilabel: labels left out while another was added wrongly."""

from __future__ import annotations

from evalreport.evaluation.model import Evaluation
from evalreport.format import count, fixed
from evalreport.labels import Multilabel
from evalreport.panels.about import units
from evalreport.panels.parts import Cell, Empty, Section, Table
from evalreport.panels.words import NOTHING, say

OFTEN = 4
"""Rows on which a swap was seen to be shown."""
MOST = 12
"""Swaps that are shown: a table that is read at a glance."""


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
        return Section.of("swaps", "Swaps", title, NOTHING, empty)
    rows = (
        (
            say("{left} _swapped for_ {added}", left=swap.left_out, added=swap.added),
            Cell(count(swap.rows), sort=swap.rows),
            fixed(swap.by_chance, 1),
            fixed(swap.rows / swap.by_chance, 1) + "×" if swap.by_chance else "–",
        )
        for swap in often
    )
    heads = ("Left out, added instead", units(ev).capitalize(), "By chance", "Ratio")
    summary = say(
        "{units} where one label was left out while another was added wrongly, compared with what chance "
        "would give.",
        units=units(ev).capitalize(),
    )
    return Section.of(
        "swaps", "Swaps", title, summary, Table.of("swaps-table", "Table of swaps", heads, rows)
    )

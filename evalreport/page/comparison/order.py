"""The sections of a comparison's page, and what it says in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from evalreport.comparison.comparison import Comparison
from evalreport.page.comparison import charts, matched, sections
from evalreport.page.elements import Section

Panel: TypeAlias = Callable[[Comparison], Section | None]

PANELS: tuple[Panel, ...] = (
    sections.verdict_section,
    matched.matched_section,
    sections.pairs,
    sections.leaderboard_section,
    charts.curves_section,
    sections.parts,
    sections.moves_section,
    sections.pairing,
    sections.provenance,
)
"""Panels of a comparison in the order of the page; one that does not apply returns None."""

__all__ = ["PANELS"]

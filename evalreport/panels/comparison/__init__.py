"""The sections of a comparison's page, and what it says in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from evalreport.comparison.values import Comparison
from evalreport.panels.comparison import curves, leaderboard, matched, moves, values, verdict
from evalreport.panels.parts import Section

Panel: TypeAlias = Callable[[Comparison], Section | None]

PANELS: tuple[Panel, ...] = (
    verdict.panel,
    matched.panel,
    verdict.pairs,
    leaderboard.panel,
    curves.panel,
    values.parts,
    moves.panel,
    verdict.pairing,
    verdict.provenance,
)
"""Panels of a comparison in the order of the page; one that does not apply returns None."""

__all__ = ["PANELS"]

"""The sections of the page of several systems, each of several runs, and what it says in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from evalreport.comparison.system_values import SystemsComparison
from evalreport.panels.parts import Section
from evalreport.panels.systems import seeds, verdict

Panel: TypeAlias = Callable[[SystemsComparison], Section]

PANELS: tuple[Panel, ...] = (
    verdict.panel,
    verdict.differences,
    seeds.sources,
    seeds.answers,
    verdict.values,
    verdict.provenance,
)
"""Panels in the order of the page."""

__all__ = ["PANELS"]

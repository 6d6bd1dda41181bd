"""The sections of the page of several systems, each of several runs, and what it says in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from evalreport.features.systems import page
from evalreport.features.systems.result import SystemsComparison
from evalreport.page.elements import Section

Panel: TypeAlias = Callable[[SystemsComparison], Section]

PANELS: tuple[Panel, ...] = (
    page.verdict_section,
    page.differences,
    page.sources,
    page.answers,
    page.values,
    page.provenance,
)
"""Panels in the order of the page."""

__all__ = ["PANELS"]

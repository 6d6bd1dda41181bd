"""The sections of a sweep's page: what was tried, what was best, and how much of that is luck."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from evalreport.evaluation.study import Study
from evalreport.panels.parts import Section
from evalreport.panels.trials import course, luck, outcome, space, verdict

Panel: TypeAlias = Callable[[Study], Section | None]

PANELS: tuple[Panel, ...] = (
    verdict.panel,
    luck.panel,
    course.history,
    outcome.front,
    space.importance,
    space.slices,
    space.parallel,
    course.timeline,
    outcome.table,
    outcome.provenance,
)
"""Panels of a sweep in the order of the page; one that does not apply returns None."""

__all__ = ["PANELS"]

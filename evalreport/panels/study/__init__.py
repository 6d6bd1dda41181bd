"""The sections of a sweep's page: what was tried, what was best, and how much of that is luck."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from evalreport.panels.parts import Section
from evalreport.panels.study import course, luck, outcome, space, verdict
from evalreport.panels.study.words import placed
from evalreport.study.judged import Study

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

EACH: tuple[Panel, ...] = (luck.panel, space.importance, space.slices)
"""Those of them that each of several objectives has."""


def sections(study: Study) -> tuple[Section, ...]:
    """Return the sections of a study's page.

    Parameters
    ----------
    study : Study
    """
    made = []
    for panel in PANELS:
        for one in study.each if panel in EACH else (study,):
            section = panel(one)
            if section is not None:
                made.append(placed(one, section) if panel in EACH else section)
    return tuple(made)


__all__ = ["EACH", "PANELS", "sections"]

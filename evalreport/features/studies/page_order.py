"""The sections of a sweep's page: what was tried, what was best, and how much of that is luck."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from evalreport.features.studies import page, page_results, page_space
from evalreport.features.studies.sentences import placed
from evalreport.features.studies.study import Study
from evalreport.page.elements import Section

Panel: TypeAlias = Callable[[Study], Section | None]

PANELS: tuple[Panel, ...] = (
    page.verdict_section,
    page.luck_section,
    page.history,
    page_results.front,
    page_space.importance,
    page_space.slices,
    page_space.parallel,
    page.timeline,
    page_results.table,
    page_results.provenance,
)
"""Panels of a sweep in the order of the page; one that does not apply returns None."""

EACH: tuple[Panel, ...] = (page.luck_section, page_space.importance, page_space.slices)
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

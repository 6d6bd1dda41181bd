"""Which panels the page has, in which order: pure data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from evalreport.errors import UsageError, nearest
from evalreport.evaluation.model import Evaluation
from evalreport.labels import Task
from evalreport.panels import (
    averaged,
    calibration,
    checklist,
    classes,
    confusions,
    curves,
    cutoff,
    deployment,
    examples,
    folds,
    groups,
    metrics,
    micro,
    parsing,
    provenance,
    repeated,
    threshold,
    utility,
    verdict,
)
from evalreport.panels.parts import Section

Panel: TypeAlias = Callable[[Evaluation], Section | None]

PANELS: Mapping[Task, tuple[Panel, ...]] = {
    "binary": (
        verdict.panel,
        threshold.panel,
        curves.panel,
        calibration.panel,
        utility.panel,
        deployment.panel,
    ),
    "multiclass": (
        verdict.panel,
        confusions.panel,
        classes.panel,
        cutoff.panel,
        calibration.panel,
        averaged.panel,
    ),
    "multilabel": (
        verdict.panel,
        micro.panel,
        curves.panel,
        classes.panel,
        confusions.swaps,
        calibration.panel,
    ),
}
"""Panels of each task in the order of the page; one that does not apply returns None."""

OF_ANY_TASK: tuple[Panel, ...] = (groups.panel, folds.panel, repeated.panel, parsing.panel, examples.panel)
"""What follows, whatever the task."""
LAST: tuple[Panel, ...] = (metrics.panel, provenance.panel)
CHECKLISTS: Mapping[str, Panel] = {"tripod-ai": checklist.panel}


def sections(ev: Evaluation, checklist_name: str | None = None) -> tuple[Section, ...]:
    """Return the sections of a page in order.

    Raises
    ------
    UsageError
        No such checklist.
    """
    wanted: tuple[Panel, ...] = ()
    if checklist_name is not None:
        if checklist_name not in CHECKLISTS:
            raise UsageError(
                f"there is no checklist {checklist_name!r}", fix=nearest(checklist_name, CHECKLISTS)
            )
        wanted = (CHECKLISTS[checklist_name],)
    made = (panel(ev) for panel in (*PANELS[ev.task], *OF_ANY_TASK, *wanted, *LAST))
    return tuple(section for section in made if section is not None)

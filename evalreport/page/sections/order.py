"""Which panels the page has, in which order: pure data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from evalreport.core.extensions import load_extensions
from evalreport.data.labels import Task
from evalreport.evaluation.evaluation import Evaluation
from evalreport.page.elements import Section
from evalreport.page.sections import (
    appendix,
    calibration,
    classes,
    confusions,
    coverage_cutoff,
    cross_validation,
    curves,
    examples,
    first_screen,
    multilabel,
    threshold,
    utility,
)

Panel: TypeAlias = Callable[[Evaluation], Section | None]

PANELS: Mapping[Task, tuple[Panel, ...]] = {
    "binary": (
        first_screen.first_screen,
        threshold.threshold_section,
        curves.curves_section,
        calibration.calibration_section,
        utility.utility_section,
        utility.deployment_section,
    ),
    "multiclass": (
        first_screen.first_screen,
        confusions.confusions_section,
        classes.classes_section,
        coverage_cutoff.cutoff_section,
        calibration.calibration_section,
        curves.averaged_section,
    ),
    "multilabel": (
        first_screen.first_screen,
        multilabel.micro_section,
        curves.curves_section,
        classes.classes_section,
        confusions.swaps,
        calibration.calibration_section,
    ),
    "graded": (),
}
"""Panels of each task in the order of the page; one that does not apply returns None."""

OF_ANY_TASK: tuple[Panel, ...] = (classes.groups_section, cross_validation.folds_section)
"""What follows, whatever the task; then what features add: at the point "sections" each adds a `Panel`."""
LAST: tuple[Panel, ...] = (
    examples.examples_section,
    appendix.metrics_section,
    appendix.provenance_section,
)


def sections(ev: Evaluation) -> tuple[Section, ...]:
    """Return the sections of a page in order."""
    made = (panel(ev) for panel in (*PANELS[ev.task], *OF_ANY_TASK, *load_extensions("sections"), *LAST))
    return tuple(section for section in made if section is not None)

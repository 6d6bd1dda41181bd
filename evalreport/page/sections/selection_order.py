"""The sections of a page of thresholds: what is best for which purpose, and what it is worth elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from evalreport.data.labels import Task
from evalreport.evaluation.threshold_selection import ThresholdSelection
from evalreport.page.elements import Section
from evalreport.page.sections import (
    appendix,
    coverage_cutoff,
    curves,
    multilabel,
    threshold,
    threshold_selection,
    utility,
)

Panel: TypeAlias = Callable[[ThresholdSelection], Section | None]

PANELS: Mapping[Task, tuple[Panel, ...]] = {
    "binary": (
        threshold_selection.verdict_section,
        lambda found: threshold.threshold_section(found.evaluation, found.optima, found.whole),
        threshold_selection.course,
        utility.chosen,
        lambda found: curves.curves_section(found.evaluation),
    ),
    "multiclass": (
        threshold_selection.verdict_section,
        threshold_selection.cutoffs,
        threshold_selection.bounds,
        lambda found: coverage_cutoff.cutoff_section(found.evaluation, found.cutoffs.values()),
        threshold_selection.reached,
        threshold_selection.labels_section,
        threshold_selection.searches,
    ),
    "multilabel": (
        threshold_selection.verdict_section,
        threshold_selection.bounds,
        threshold_selection.reached,
        threshold_selection.labels_section,
        threshold_selection.searches,
        lambda found: multilabel.micro_section(found.evaluation),
    ),
}
"""Panels of each task in the order of the page; one that does not apply returns None."""

LAST: tuple[Panel, ...] = (lambda found: appendix.provenance_section(found.evaluation),)

__all__ = ["LAST", "PANELS"]

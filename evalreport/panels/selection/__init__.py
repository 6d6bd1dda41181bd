"""The sections of a page of thresholds: what is best for which purpose, and what it is worth elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from evalreport.evaluation.threshold_selection import ThresholdSelection
from evalreport.labels import Task
from evalreport.panels import curves, cutoff, deployment, micro, provenance, threshold
from evalreport.panels.parts import Section
from evalreport.panels.selection import bounds, labels, optima, verdict

Panel: TypeAlias = Callable[[ThresholdSelection], Section | None]

PANELS: Mapping[Task, tuple[Panel, ...]] = {
    "binary": (
        verdict.panel,
        lambda found: threshold.panel(found.evaluation, found.optima, found.whole),
        optima.course,
        deployment.chosen,
        lambda found: curves.panel(found.evaluation),
    ),
    "multiclass": (
        verdict.panel,
        bounds.cutoffs,
        bounds.bounds,
        lambda found: cutoff.panel(found.evaluation, found.cutoffs.values()),
        labels.reached,
        labels.panel,
        labels.searches,
    ),
    "multilabel": (
        verdict.panel,
        bounds.bounds,
        labels.reached,
        labels.panel,
        labels.searches,
        lambda found: micro.panel(found.evaluation),
    ),
}
"""Panels of each task in the order of the page; one that does not apply returns None."""

LAST: tuple[Panel, ...] = (lambda found: provenance.panel(found.evaluation),)

__all__ = ["LAST", "PANELS"]

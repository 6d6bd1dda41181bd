"""Slices: the headline metrics for each value of a column, and how far each is from the rest."""

from __future__ import annotations

from evalreport.engines.memory import summarise
from evalreport.evaluation.parts import Slice
from evalreport.intervals import Sampling, estimates
from evalreport.metrics.catalogue import HEADLINE, find
from evalreport.predictions import Column, Predictions

TOO_FEW = 10
"""Rows below which a slice shows counts and claims nothing."""


def slice_results(p: Predictions, sampling: Sampling) -> tuple[Slice, ...]:
    """Return one result per value of each slice column."""
    return tuple(
        _slice(p, name, column, code, sampling)
        for name, column in p.slices.items()
        for code in range(len(column.values))
    )


def _slice(p: Predictions, name: str, column: Column, code: int, sampling: Sampling) -> Slice:
    part = p.take(column.codes == code)
    rows, weight = len(part), float(part.weights.sum())
    if rows < TOO_FEW:
        return Slice(name, column.values[code], rows, weight, too_few=True)
    metrics = [find(metric, p.space.task) for metric in HEADLINE[p.space.task]]
    return Slice(
        name, column.values[code], rows, weight, metrics=estimates(metrics, summarise(part), part, sampling)
    )

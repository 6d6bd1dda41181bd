"""Slices: the headline metrics for each value of a column, and how far each is from the rest.

Each slice is counted once; the rest of a column is the sum of its other slices' facts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from evalreport.engines.memory import summarise
from evalreport.evaluation.parts import Slice
from evalreport.facts import Summary
from evalreport.facts.summary import merge, tallied_alike
from evalreport.intervals import Sampling, estimates
from evalreport.intervals.independent import independent_difference
from evalreport.intervals.significance import holm
from evalreport.labels import Binary
from evalreport.metrics.catalogue import find, telling
from evalreport.metrics.named_sets import HEADLINE, OF_CALIBRATION
from evalreport.metrics.record import Metric
from evalreport.predictions import Categorical, Predictions

TOO_FEW = 10
"""Rows below which a slice shows counts and claims nothing."""
MOST_VALUES = 200
"""Values of a column beyond which only the most frequent are told apart."""

SliceFacts: TypeAlias = Mapping[str, Mapping[str, Summary]]
"""By column and value."""


def slice_facts(p: Predictions) -> SliceFacts:
    """Return the facts of the rows of each value of each column, the most frequent values first."""
    return {name: _of_column(p, column) for name, column in p.slices.items()}


def _of_column(p: Predictions, column: Categorical) -> dict[str, Summary]:
    counts = np.bincount(column.codes, minlength=len(column.values))
    told = [int(code) for code in np.argsort(-counts, kind="stable")[:MOST_VALUES] if counts[code]]
    facts = tallied_alike([_facts(p.take(column.codes == code)) for code in told])
    return dict(zip((column.values[code] for code in told), facts, strict=True))


def judged_slices(parts: SliceFacts, sampling: Sampling, p: Predictions | None = None) -> tuple[Slice, ...]:
    """Return the slices of each column, the largest gap to the rest first, those with too few rows last.

    Differences are Holm-corrected over the values of their column, metric by metric.

    Parameters
    ----------
    parts : mapping from a column's name to a mapping from a value to `Summary`
        The most frequent values first.
    sampling : Sampling
    p : Predictions, optional
        The rows, needed where they weigh or belong together.

    Examples
    --------
    >>> from evalreport.labels import Multiclass
    >>> from evalreport.predictions import predictions
    >>> right, wrong = ["a", "b"] * 30, ["b", "a"] * 30
    >>> site = ["north"] * 60 + ["south"] * 60
    >>> p = predictions(Multiclass("ab"), right * 2, right + wrong, slices={"site": site})
    >>> [(s.value, s.differences["accuracy"].value) for s in judged_slices(slice_facts(p), Sampling(), p)]
    [('north', 1.0), ('south', -1.0)]
    """
    return tuple(one for name, facts in parts.items() for one in _column(p, name, facts, sampling))


def _column(
    p: Predictions | None, name: str, facts: Mapping[str, Summary], sampling: Sampling
) -> list[Slice]:
    if not facts:
        return []
    space = next(iter(facts.values())).space
    read = p is not None and p.parsed is not None
    names = telling(HEADLINE["text" if read else space.task], space)
    if next(iter(facts.values())).score_kind not in (None, "decision"):
        names += OF_CALIBRATION[space.task]
    metrics = [find(metric, space.task) for metric in names]
    found = [_slice(p, name, value, facts, metrics, sampling) for value in facts]
    return sorted(_corrected(found, names), key=_gap)


def rows_with(p: Predictions | None, name: str, value: str, *, others: bool = False) -> Predictions | None:
    """Return the rows of a slice, or those of all `others`; None where the rows are not at hand."""
    if p is None:
        return None
    column = p.slices[name]
    inside = column.codes == column.values.index(value)
    return p.take(~inside if others else inside)


def _facts(rows: Predictions) -> Summary:
    """The facts that headline metrics read: of several labels none reads the score matrix."""
    facts = summarise(rows)
    return facts if isinstance(rows.space, Binary) else replace(facts, scores=None, bins=None)


def _slice(
    p: Predictions | None,
    name: str,
    value: str,
    facts: Mapping[str, Summary],
    metrics: Sequence[Metric],
    sampling: Sampling,
) -> tuple[Slice, Mapping[str, float]]:
    own = facts[value]
    plain = Slice(name, value, own.rows, own.weight)
    if own.rows < TOO_FEW or own.weight == 0:
        return replace(plain, too_few=True), {}
    here = estimates(metrics, own, rows_with(p, name, value), sampling)
    others = [part for other, part in facts.items() if other != value and part.weight > 0]
    if not others:
        return replace(plain, metrics=here), {}
    whole = merge(others)
    rest = estimates(metrics, whole, rows_with(p, name, value, others=True), sampling)
    gaps = {key: independent_difference(here[key], rest[key], sampling.level) for key in here}
    differences = {key: gap for key, (gap, _) in gaps.items()}
    p_values = {key: p_value for key, (_, p_value) in gaps.items() if p_value is not None}
    return replace(plain, metrics=here, differences=differences), p_values


def _corrected(found: Sequence[tuple[Slice, Mapping[str, float]]], names: Sequence[str]) -> list[Slice]:
    adjusted: list[dict[str, float]] = [{} for _ in found]
    for name in names:
        family = [place for place, (_, p) in enumerate(found) if name in p]
        for place, value in zip(family, holm([found[i][1][name] for i in family]), strict=True):
            adjusted[place][name] = value
    return [replace(part, p_adjusted=values) for (part, _), values in zip(found, adjusted, strict=True)]


def _gap(part: Slice) -> tuple[bool, float]:
    known = [gap.value for gap in part.differences.values() if gap.value is not None]
    return part.too_few, -abs(known[0]) if known else 0.0

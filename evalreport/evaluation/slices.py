"""Slices: the headline metrics for each value of a column, and how far each is from the rest.

Each slice is counted once; the rest of a column is the sum of its other slices' facts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np

from evalreport.engines.memory import summarise
from evalreport.evaluation.parts import Slice
from evalreport.facts import Summary
from evalreport.intervals import Sampling, estimates
from evalreport.intervals.independent import independent_difference
from evalreport.intervals.significance import holm
from evalreport.labels import Binary
from evalreport.metrics.catalogue import find
from evalreport.metrics.named_sets import HEADLINE
from evalreport.metrics.record import Metric
from evalreport.predictions import Categorical, Predictions

TOO_FEW = 10
"""Rows below which a slice shows counts and claims nothing."""
MOST_VALUES = 200
"""Values of a column beyond which only the most frequent are told apart."""


def slice_results(p: Predictions, sampling: Sampling) -> tuple[Slice, ...]:
    """Return the slices of each column, the largest gap to the rest first, those with too few rows last.

    Differences are Holm-corrected over the values of their column, metric by metric.

    Examples
    --------
    >>> from evalreport.labels import Multiclass
    >>> from evalreport.predictions import predictions
    >>> right, wrong = ["a", "b"] * 30, ["b", "a"] * 30
    >>> site = ["north"] * 60 + ["south"] * 60
    >>> p = predictions(Multiclass("ab"), right * 2, right + wrong, slices={"site": site})
    >>> [(s.value, s.differences["accuracy"].value) for s in slice_results(p, Sampling())]
    [('north', 1.0), ('south', -1.0)]
    """
    return tuple(one for name, column in p.slices.items() for one in _column(p, name, column, sampling))


def _column(p: Predictions, name: str, column: Categorical, sampling: Sampling) -> list[Slice]:
    counts = np.bincount(column.codes, minlength=len(column.values))
    told = [int(code) for code in np.argsort(-counts, kind="stable")[:MOST_VALUES] if counts[code]]
    facts = {code: _facts(p.take(column.codes == code)) for code in told}
    names = HEADLINE["text" if p.parsed is not None else p.space.task]
    metrics = [find(metric, p.space.task) for metric in names]
    found = [_slice(p, name, column, code, facts, metrics, sampling) for code in told]
    return sorted(_corrected(found, names), key=_gap)


def _facts(rows: Predictions) -> Summary:
    """The facts that headline metrics read: of several labels none reads the score matrix."""
    facts = summarise(rows)
    return facts if isinstance(rows.space, Binary) else replace(facts, scores=None, bins=None)


def _slice(
    p: Predictions,
    name: str,
    column: Categorical,
    code: int,
    facts: Mapping[int, Summary],
    metrics: Sequence[Metric],
    sampling: Sampling,
) -> tuple[Slice, Mapping[str, float]]:
    own = facts[code]
    plain = Slice(name, column.values[code], own.rows, own.weight)
    if own.rows < TOO_FEW or own.weight == 0:
        return replace(plain, too_few=True), {}
    inside = column.codes == code
    here = estimates(metrics, own, p.take(inside), sampling)
    others = [part for other, part in facts.items() if other != code and part.weight > 0]
    if not others:
        return replace(plain, metrics=here), {}
    rest = estimates(metrics, reduce(add, others), p.take(~inside), sampling)
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

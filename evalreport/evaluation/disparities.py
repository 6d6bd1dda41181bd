"""How far apart the groups of a column lie: the greatest difference and the least ratio of each metric.

The difference and the ratio of the predicted positive rate are demographic parity, those of recall equal
opportunity, the worse of recall and false positive rate equalized odds (Hardt, Price & Srebro 2016), as
Fairlearn has them; the others are the same of what a group is judged by.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from evalreport.evaluation.parts import Disparity, Slice
from evalreport.evaluation.slices import SliceFacts, rows_with
from evalreport.facts import Summary
from evalreport.intervals import Sampling, estimates
from evalreport.intervals.ranges import gap_between
from evalreport.metrics.catalogue import find
from evalreport.metrics.named_sets import OF_GROUPS
from evalreport.predictions import Predictions
from evalreport.values import Estimate, Result

EQUALIZED_ODDS = "equalized_odds"
"""The worse of recall and false positive rate; no metric of the catalogue."""


def disparities(
    parts: SliceFacts, slices: Sequence[Slice], sampling: Sampling, p: Predictions | None = None
) -> tuple[Disparity, ...]:
    """Return the gap and the ratio of each metric over the groups of each column.

    Parameters
    ----------
    parts : mapping from a column's name to a mapping from a value to `Summary`
    slices : sequence of Slice
        Groups with too few rows are left out.
    sampling : Sampling
    p : Predictions, optional
        The rows, needed where they weigh or belong together.

    Examples
    --------
    >>> from evalreport.labels import Multiclass
    >>> from evalreport.predictions import predictions
    >>> right, wrong, site = ["a", "b"] * 30, ["b", "a"] * 30, ["north"] * 60 + ["south"] * 60
    >>> p = predictions(Multiclass("ab"), right * 2, right + wrong, slices={"site": site})
    >>> from evalreport.evaluation.slices import judged_slices, slice_facts
    >>> parts = slice_facts(p)
    >>> found = disparities(parts, judged_slices(parts, Sampling()), Sampling())[0]
    >>> found.metric, found.difference.value, found.lowest, found.highest
    ('accuracy', 1.0, 'south', 'north')
    """
    found: list[Disparity] = []
    for column in dict.fromkeys(part.column for part in slices):
        told = [part for part in slices if part.column == column]
        kept = [part for part in told if not part.too_few]
        if len(kept) > 1:
            found += _column(parts[column], kept, len(told) - len(kept), sampling, p)
    return tuple(found)


def _column(
    facts: Mapping[str, Summary],
    kept: Sequence[Slice],
    few: int,
    sampling: Sampling,
    p: Predictions | None,
) -> list[Disparity]:
    task = facts[kept[0].value].space.task
    names = OF_GROUPS[task]
    metrics = [find(name, task) for name in names]
    values: dict[str, Mapping[str, Result]] = {
        part.value: estimates(metrics, facts[part.value], rows_with(p, part.column, part.value), sampling)
        for part in kept
    }
    blocks: dict[str, tuple[str, ...]] = {name: (name,) for name in names if name != "fpr"}
    if "fpr" in names:
        blocks[EQUALIZED_ODDS] = ("recall", "fpr")
    smallest = min(kept, key=lambda part: part.rows)
    return [
        _disparity(name, among, values, smallest, few, sampling)
        for name, among in blocks.items()
        if any(isinstance(results[among[0]], Estimate) for results in values.values())
    ]


def _disparity(
    name: str,
    among: Sequence[str],
    values: Mapping[str, Mapping[str, Result]],
    smallest: Slice,
    few: int,
    sampling: Sampling,
) -> Disparity:
    known = {
        group: own
        for group, results in values.items()
        if len(own := [r for each in among if isinstance(r := results[each], Estimate)]) == len(among)
    }
    blocks = [[own[place] for own in known.values()] for place in range(len(among))]
    difference, ratio = gap_between(blocks, sampling)
    worst = int(np.argmax([np.ptp([value.value for value in block]) if block else 0.0 for block in blocks]))
    ordered = sorted(known, key=lambda group: known[group][worst].value)
    return Disparity(
        column=smallest.column,
        metric=name,
        difference=difference,
        ratio=ratio,
        lowest=ordered[0] if ordered else "",
        highest=ordered[-1] if ordered else "",
        groups=len(known),
        left_out=few + len(values) - len(known),
        smallest=smallest.value,
        smallest_rows=smallest.rows,
        smallest_value=values[smallest.value][among[worst]],
    )

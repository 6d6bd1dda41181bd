"""Slices: the headline metrics for each value of a column, and how far each is from the rest.

Each slice is counted once; the rest of a column is the sum of its other slices' statistics.

How far apart the groups of a column lie: the greatest difference and the least ratio of each metric.

The difference and the ratio of the predicted positive rate are demographic parity, those of recall equal
opportunity, the worse of recall and false positive rate equalized odds (Hardt, Price & Srebro 2016), as
Fairlearn has them; the others are the same of what a group is judged by.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from evalreport.core.result import Estimate, Result, Undefined
from evalreport.data.labels import Binary
from evalreport.data.predictions import Categorical, Predictions
from evalreport.evaluation.parts import Disparity, Slice
from evalreport.intervals.calibration_intervals import FACTORS, Inversion
from evalreport.intervals.estimates import estimates
from evalreport.intervals.interval_settings import Sampling
from evalreport.intervals.paired import holm, independent_difference
from evalreport.metrics.catalogue import HEADLINE, OF_CALIBRATION, OF_GROUPS, find, telling
from evalreport.metrics.record import Metric
from evalreport.statistics.confusion import Array
from evalreport.statistics.resampling import Stream
from evalreport.statistics.summary import Summary, align_row_sums, merge, summarise

TOO_FEW = 10
"""Rows below which a slice shows counts and claims nothing."""
MOST_VALUES = 200
"""Maximum number of values of a column; only the most frequent ones are slices."""

SliceFacts: TypeAlias = Mapping[str, Mapping[str, Summary]]
"""By column and value."""


def slice_facts(p: Predictions) -> SliceFacts:
    """Return the statistics of the rows of each value of each column, the most frequent values first."""
    return {name: _of_column(p, column) for name, column in p.slices.items()}


def _of_column(p: Predictions, column: Categorical) -> dict[str, Summary]:
    counts = np.bincount(column.codes, minlength=len(column.values))
    codes = [int(code) for code in np.argsort(-counts, kind="stable")[:MOST_VALUES] if counts[code]]
    facts = align_row_sums([_facts(p.take(column.codes == code)) for code in codes])
    return dict(zip((column.values[code] for code in codes), facts, strict=True))


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
    >>> from evalreport.data.labels import Multiclass
    >>> from evalreport.data.predictions import predictions
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
    return sorted(_adjust_p_values(found, names), key=_gap)


def rows_with(p: Predictions | None, name: str, value: str, *, others: bool = False) -> Predictions | None:
    """Return the rows of a slice, or those of all `others`; None where the rows are not at hand."""
    if p is None:
        return None
    column = p.slices[name]
    inside = column.codes == column.values.index(value)
    return p.take(~inside if others else inside)


def _facts(rows: Predictions) -> Summary:
    """The statistics of headline metrics: for several labels none reads the score matrix."""
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


def _adjust_p_values(found: Sequence[tuple[Slice, Mapping[str, float]]], names: Sequence[str]) -> list[Slice]:
    adjusted: list[dict[str, float]] = [{} for _ in found]
    for name in names:
        family = [place for place, (_, p) in enumerate(found) if name in p]
        for place, value in zip(family, holm([found[i][1][name] for i in family]), strict=True):
            adjusted[place][name] = value
    return [replace(part, p_adjusted=values) for (part, _), values in zip(found, adjusted, strict=True)]


def _gap(part: Slice) -> tuple[bool, float]:
    known = [gap.value for gap in part.differences.values() if gap.value is not None]
    return part.too_few, -abs(known[0]) if known else 0.0


Apart = Callable[[Array], Array]
"""From values of shape (..., groups) to how far they lie apart, at least 0."""
METHOD = "test inversion over groups"
DRAWS = 500
"""Draws at each factor: the fewest whose tails an `Inversion` reads as they are."""
TAIL = 0.2
"""Distance from a half beyond which the sum of Wilson's limits tells the rows, within which their product."""


def span(values: Array) -> Array:
    """Return the greatest less the least."""
    apart: Array = values.max(axis=-1) - values.min(axis=-1)
    return apart


def shortfall(values: Array) -> Array:
    """Return the gap from the smallest to the largest value, as a proportion of the largest; 0 if all are
    0."""
    most = values.max(axis=-1)
    ratio: Array = np.where(most > 0, values.min(axis=-1) / np.where(most > 0, most, 1.0), 1.0)
    return 1 - ratio


WAYS: tuple[Apart, ...] = (span, shortfall)


def gap_between(blocks: Sequence[Sequence[Estimate]], sampling: Sampling) -> tuple[Result, Result]:
    """Return the greatest difference between groups, and the ratio of the least to the greatest.

    Parameters
    ----------
    blocks : sequence of sequences of Estimate
        Values in [0, 1] of each group, of independent rows; of several metrics (equalized odds) the worst
        counts.
    sampling : Sampling

    Returns
    -------
    difference, ratio : Estimate or Undefined

    Examples
    --------
    >>> values = [Estimate(0.8, 100, 0.711, 0.867), Estimate(0.6, 100, 0.502, 0.691)]
    >>> difference, ratio = gap_between([values], Sampling())
    >>> round(difference.value, 2), round(ratio.value, 2), bool(difference.low > 0.05)
    (0.2, 0.75, True)
    """
    if min(len(block) for block in blocks) < 2:
        few = Undefined("fewer than two groups have a value")
        return few, few
    gap, lack = (max(float(apart(_values(block)[1])) for block in blocks) for apart in WAYS)
    n = sum(value.n for value in blocks[0])
    none = max(value.value for block in blocks for value in block) <= 0
    if any(value.low is None or value.high is None for block in blocks for value in block):
        reason = "a group has no interval"
        difference, ratio = Estimate(gap, n, reason=reason), Estimate(1 - lack, n, reason=reason)
    else:
        pairs = [_furthest(*_values(block)) for block in blocks]
        most, least = max(pair[0] for pair in pairs), min(pair[1] for pair in pairs)
        low, lacks = _least(blocks, sampling)
        difference = Estimate(gap, n, min(low, gap), max(most, gap), METHOD)
        ratio = Estimate(1 - lack, n, min(least, 1 - lack), max(1 - lacks, 1 - lack), METHOD)
    return difference, Undefined("the value is 0 in every group", n) if none else ratio


def _values(block: Sequence[Estimate]) -> tuple[Array, Array, Array]:
    """Lower limits, values and upper limits of groups."""
    ends = [(value.low or 0.0, value.value, 1.0 if value.high is None else value.high) for value in block]
    low, centre, high = np.array(ends).T
    return low, centre, high


def _furthest(low: Array, centre: Array, high: Array) -> tuple[float, float]:
    """The greatest upper limit of a difference of two groups, and the least lower limit of a ratio of two.

    By MOVER (Zou & Donner 2008; for the ratio Donner & Zou 2012, Statistical Methods in Medical Research
    21:347).
    """
    up = centre[:, None] - centre + np.hypot((high - centre)[:, None], centre - low)
    np.fill_diagonal(up, 0.0)
    a, b = np.meshgrid(centre, centre, indexing="ij")
    below, above = np.meshgrid(low, high, indexing="ij")
    room, reach = below * (2 * a - below), above * (2 * b - above)
    with np.errstate(divide="ignore", invalid="ignore"):
        down = (a * b - np.sqrt(np.maximum((a * b) ** 2 - room * reach, 0.0))) / reach
        ends = below / above  # where the upper limit is more than twice the value, MOVER has no root
    down = np.where((reach > 0) & np.isfinite(down), down, np.where(above > 0, ends, 0.0))
    np.fill_diagonal(down, 1.0)
    return float(up.max()), float(max(down.min(), 0.0))


def _least(blocks: Sequence[Sequence[Estimate]], sampling: Sampling) -> list[float]:
    """The lower limits of how far the groups lie apart in the worst of the blocks, by each of `WAYS`."""
    factors, generator = np.linspace(0, 1, FACTORS), sampling.generator(Stream.SLICE_GAPS)
    drawn, truths = np.zeros((len(WAYS), FACTORS, DRAWS)), np.zeros((len(WAYS), FACTORS))
    seen = [0.0] * len(WAYS)
    for block in blocks:
        size = np.array([_rows(*ends, sampling.z) for ends in zip(*_values(block), strict=True)])
        centre = _values(block)[1]
        middle = np.average(centre, weights=size)
        moved = np.clip(middle + factors[:, None] * (centre - middle), 0, 1)
        noisy = generator.binomial(size.astype(np.int64), moved[:, None], (FACTORS, DRAWS, len(size))) / size
        for k, apart in enumerate(WAYS):
            drawn[k], truths[k] = np.maximum(drawn[k], apart(noisy)), np.maximum(truths[k], apart(moved))
            seen[k] = max(seen[k], float(apart(centre)))
    ways = zip(seen, drawn, np.maximum.accumulate(truths, axis=1), strict=True)
    return [Inversion(gap, sampling).limits_from_draws(values, truth)[0] for gap, values, truth in ways]


def _rows(low: float, share: float, high: float, z: float) -> float:
    """How many rows would give a proportion these limits, were they Wilson's."""
    if abs(share - 0.5) > TAIL:  # Wilson's limits are the roots of (share - x)^2 = z^2 x (1 - x) / n
        rows = z**2 * (low + high - 1) / (2 * share - low - high)
    else:
        rows = z**2 * low * high / (share**2 - low * high)
    return max(1.0, round(rows)) if rows > 0 else 1.0


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
        Groups with too few rows are skipped.
    sampling : Sampling
    p : Predictions, optional
        The rows, needed where they weigh or belong together.

    Examples
    --------
    >>> from evalreport.data.labels import Multiclass
    >>> from evalreport.data.predictions import predictions
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
        groups = [part for part in slices if part.column == column]
        kept = [part for part in groups if not part.too_few]
        if len(kept) > 1:
            found += _disparities_column(parts[column], kept, len(groups) - len(kept), sampling, p)
    return tuple(found)


def _disparities_column(
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

"""Differences class by class and slice by slice, the largest first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from evalreport.comparison.differences import Sides, paired_difference
from evalreport.comparison.pairing import Pair
from evalreport.comparison.values import Difference
from evalreport.intervals import Sampling
from evalreport.intervals.significance import holm
from evalreport.labels import Binary
from evalreport.metrics.catalogue import HEADLINE, find
from evalreport.predictions import Predictions
from evalreport.scores import NoScores

MOST_CLASSES = 300
"""Classes that are compared one by one: those with most changed answers, when there are more."""
FEWEST = 10
"""Rows of a class or slice below which nothing is claimed of it."""


def part_differences(matched: Pair, names: tuple[str, str], sampling: Sampling) -> tuple[Difference, ...]:
    """Return F1 per class and the headline metrics per slice, Holm-corrected within each kind.

    Only paired runs are compared part by part.
    """
    if matched.run is None or matched.baseline is None:
        return ()
    classes = list(_classes(matched.run, matched.baseline, names, sampling))
    slices = list(_slices(matched.run, matched.baseline, names, sampling))
    return (*_ranked(classes, sampling.level), *_ranked(slices, sampling.level))


def _ranked(parts: list[Difference], level: float) -> list[Difference]:
    known = [part for part in parts if part.p is not None]
    adjusted = holm([part.p or 0.0 for part in known]) if known else []
    judged = [_judged(part, p, level) for part, p in zip(known, adjusted, strict=True)]
    return sorted(judged, key=lambda part: -abs(part.difference or 0.0))


def _judged(part: Difference, p: float, level: float) -> Difference:
    gap = part.difference or 0.0
    shown = (
        p <= 1 - level and part.low is not None and part.high is not None and not part.low <= 0 <= part.high
    )
    up = (gap > 0) == (find_better(part.metric) != "lower")
    return replace(
        part, p_adjusted=p, verdict=("better" if up else "worse") if shown else "no difference shown"
    )


def find_better(metric: str) -> str:
    """Return the direction of a metric, whatever its task."""
    return find(metric).better


def _classes(
    run: Predictions, baseline: Predictions, names: tuple[str, str], sampling: Sampling
) -> Iterator[Difference]:
    if isinstance(run.space, Binary) or run.y_pred is None or baseline.y_pred is None:
        return
    f1 = find("f1", "binary")
    moved = [
        int((_is(run.y_pred, code) != _is(baseline.y_pred, code)).sum()) for code in range(len(run.space))
    ]
    for code in np.argsort(-np.asarray(moved), kind="stable")[:MOST_CLASSES]:
        a, b = one_vs_rest(run, int(code)), one_vs_rest(baseline, int(code))
        if a.y_true.sum() >= FEWEST:
            found = paired_difference(f1, Sides.of(a, b), names, sampling)
            yield replace(found, scope=f"class: {run.space.names[code]}")


def _is(codes: object, code: int) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    array = np.asarray(codes)
    return array[:, code].astype(bool) if array.ndim == 2 else array == code


def one_vs_rest(p: Predictions, code: int) -> Predictions:
    """Return one label of a problem as a binary problem, decisions only."""
    return replace(
        p,
        space=Binary("other", "this"),
        y_true=_is(p.y_true, code).astype(np.int32),
        y_pred=_is(p.y_pred, code).astype(np.int32),
        scores=NoScores(),
        threshold=None,
    )


def _slices(
    run: Predictions, baseline: Predictions, names: tuple[str, str], sampling: Sampling
) -> Iterator[Difference]:
    metrics = [find(name, run.space.task) for name in HEADLINE[run.space.task]]
    for column_name, column in run.slices.items():
        for code, value in enumerate(column.values):
            rows = column.codes == code
            if rows.sum() < FEWEST:
                continue
            sides = Sides.of(run.take(rows), baseline.take(rows))
            for metric in metrics:
                found = paired_difference(metric, sides, names, sampling)
                yield replace(found, scope=f"{column_name} = {value}")

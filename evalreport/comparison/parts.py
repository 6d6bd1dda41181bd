"""Differences class by class and slice by slice, the largest first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.comparison.differences import FEWEST, InferredDifference, paired_difference, within
from evalreport.comparison.judging import FEWEST_OF_CLASS, judged
from evalreport.comparison.samples import PairedSamples
from evalreport.comparison.values import CLASS, Difference
from evalreport.evaluation.rows import one_label
from evalreport.facts import BinaryCounts
from evalreport.facts.counts import Array
from evalreport.intervals.contributions import Counted
from evalreport.intervals.inversion import ScoreCurve
from evalreport.intervals.paired import drawn_curve, label_cells, marginal_counts, paired_draws
from evalreport.labels import Binary
from evalreport.metrics.catalogue import find, telling
from evalreport.metrics.named_sets import HEADLINE
from evalreport.predictions import Predictions
from evalreport.scores import NoScores

Codes: TypeAlias = npt.NDArray[np.integer]
COUNTED = tuple(find(name, "binary") for name in ("recall", "precision", "f1"))
"""Metrics of each class from its answers."""
RANKED = tuple(find(name, "binary") for name in ("roc_auc", "average_precision"))
"""Metrics of each class from its scores."""
CELLS = 2_000_000
"""(row, class) cells up to which scores are compared class by class: each class is a sort. Chosen by hand
for speed, so that classes stay a small part of a comparison's time."""
BLOCK = 40
"""Classes whose draws are held at once: 40 tables of 18 cells of 2000 draws are 12 MB."""


def part_differences(samples: PairedSamples, names: tuple[str, str]) -> tuple[Difference, ...]:
    """Return the differences of each class and each slice, corrected for their number, the largest first.

    Classes and slices with fewer than ten examples are left out.
    """
    space = samples.run.predictions.space
    classes = [] if isinstance(space, Binary) else list(_classes(samples, names))
    slices = list(_slices(samples, names))
    better = {metric.name: metric.better for metric in (*COUNTED, *RANKED)}
    headline = {name: find(name, space.task).better for name in telling(HEADLINE[space.task], space)}
    level = samples.sampling.level
    return (*_ranked(judged(classes, better, level)), *_ranked(judged(slices, headline, level)))


def scoped(found: InferredDifference, scope: str) -> InferredDifference:
    """Return a difference as that of a class or a slice."""
    return replace(found, difference=replace(found.difference, scope=scope))


def _ranked(parts: tuple[Difference, ...]) -> list[Difference]:
    known = [part for part in parts if part.difference is not None]
    return sorted(known, key=lambda part: -abs(part.difference or 0.0))


def _classes(samples: PairedSamples, names: tuple[str, str]) -> Iterator[InferredDifference]:
    run, baseline = samples.run.predictions, samples.baseline.predictions
    support = _support(run)
    codes = np.flatnonzero(support >= FEWEST)
    if run.y_pred is not None and baseline.y_pred is not None:
        yield from (
            _plain_classes(samples, names, codes) if samples.plain else _each(samples, names, codes, False)
        )
    if not isinstance(run.scores, NoScores) and len(run) * len(codes) <= CELLS:
        yield from _each(samples, names, codes, True)


def _support(p: Predictions) -> Array:
    rows = p.y_true.sum(axis=0) if p.y_true.ndim == 2 else np.bincount(p.y_true, minlength=len(p.space))
    return np.asarray(rows, dtype=np.float64)


def class_recalls(
    samples: PairedSamples, names: tuple[str, str]
) -> tuple[tuple[str, InferredDifference], ...]:
    """Return the difference of the recall of each class with enough examples.

    Of a binary problem there is none: its two classes are recall and specificity.
    """
    run, baseline = samples.run.predictions, samples.baseline.predictions
    if isinstance(run.space, Binary) or run.y_pred is None or baseline.y_pred is None:
        return ()
    codes = np.flatnonzero(_support(run) >= FEWEST_OF_CLASS)
    if samples.plain:
        cells = label_cells(run.y_true, np.asarray(run.y_pred), np.asarray(baseline.y_pred), len(run.space))
        found = [_cell_recall(cells[code], samples, names) for code in codes]
    else:
        found = [_recall(samples, names, int(code)) for code in codes]
    return tuple((run.space.names[code], one) for code, one in zip(codes, found, strict=True))


def _cell_recall(cells: Array, samples: PairedSamples, names: tuple[str, str]) -> InferredDifference:
    """The recall of one class from its joint cells: a proportion of its rows."""
    size = int(cells[1].sum())
    only_run = int(cells[1, 1].sum() - cells[1, 1, 1])
    only_baseline = int(cells[1, :, 1].sum() - cells[1, 1, 1])
    values = (cells[1, 1].sum() / size, cells[1, :, 1].sum() / size)
    gap = float(values[0] - values[1])
    start = Difference("recall", *names, values=(float(values[0]), float(values[1])), difference=gap)
    return within(start, ScoreCurve(only_run, only_baseline, size), "paired score", samples.sampling.level)


def _recall(samples: PairedSamples, names: tuple[str, str], code: int) -> InferredDifference:
    pair = [
        replace(one_label(side.predictions, code), scores=NoScores())
        for side in (samples.run, samples.baseline)
    ]
    own = PairedSamples(Counted.of(pair[0]), Counted.of(pair[1]), samples.sampling)
    return paired_difference(COUNTED[0], own, names)


def _plain_classes(
    samples: PairedSamples, names: tuple[str, str], codes: Codes
) -> Iterator[InferredDifference]:
    run, baseline = samples.run.predictions, samples.baseline.predictions
    cells = label_cells(run.y_true, np.asarray(run.y_pred), np.asarray(baseline.y_pred), len(run.space))
    for start in range(0, len(codes), BLOCK):
        block = codes[start : start + BLOCK]
        draws = paired_draws(cells[block], samples.sampling)
        for place, code in enumerate(block):
            own = (cells[code], (draws[0][:, place], draws[1][:, place]))
            scope = CLASS + run.space.names[code]
            yield from (scoped(found, scope) for found in _of_class(own, samples, names))


def _of_class(
    own: tuple[Array, tuple[BinaryCounts, BinaryCounts]], samples: PairedSamples, names: tuple[str, str]
) -> Iterator[InferredDifference]:
    cells, draws = own
    level = samples.sampling.level
    counts = marginal_counts(cells)
    for metric in COUNTED:
        values = [float(metric.function(count)) for count in counts]
        if not np.isfinite(values).all():
            continue
        gap = values[0] - values[1]
        start = Difference(metric.name, *names, values=(values[0], values[1]), difference=gap)
        if metric.name == "recall":
            yield _cell_recall(cells, samples, names)
        elif (found := drawn_curve(metric, gap, draws, level)) is not None:
            yield within(start, found, "paired draws of the counts", level)


def _each(
    samples: PairedSamples, names: tuple[str, str], codes: Codes, scores: bool
) -> Iterator[InferredDifference]:
    """Class by class as binary problems: by their scores, or by their answers."""
    for code in codes.tolist():
        pair = [one_label(side.predictions, code) for side in (samples.run, samples.baseline)]
        if not scores:
            pair = [replace(p, scores=NoScores()) for p in pair]
        own = PairedSamples(Counted.of(pair[0]), Counted.of(pair[1]), samples.sampling)
        for metric in RANKED if scores else COUNTED:
            found = paired_difference(metric, own, names)
            yield scoped(found, CLASS + samples.run.predictions.space.names[code])


def _slices(samples: PairedSamples, names: tuple[str, str]) -> Iterator[InferredDifference]:
    run, baseline = samples.run.predictions, samples.baseline.predictions
    metrics = [find(name, run.space.task) for name in telling(HEADLINE[run.space.task], run.space)]
    for column_name, column in run.slices.items():
        for code, value in enumerate(column.values):
            rows = column.codes == code
            if rows.sum() < FEWEST:
                continue
            part = PairedSamples(
                Counted.of(run.take(rows)), Counted.of(baseline.take(rows)), samples.sampling
            )
            for metric in metrics:
                yield scoped(paired_difference(metric, part, names), f"{column_name} = {value}")

"""The decision threshold: a slider over every count, presets, and the same as a table."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.estimates import beside, valued
from evalreport.evaluation.model import Evaluation
from evalreport.facts import BinaryCounts
from evalreport.format import count, fixed, percent, ratio
from evalreport.format import threshold as threshold_text
from evalreport.labels import Binary
from evalreport.metrics.catalogue import find
from evalreport.panels.about import (
    called,
    four_counts,
    one_threshold,
    units,
)
from evalreport.panels.objectives import objective_style, objective_title
from evalreport.panels.parts import Cell, Empty, Row, Section, Table
from evalreport.panels.words import NOTHING, Sentence, say
from evalreport.thresholds.optimum import Optimum, OutOfSample
from evalreport.thresholds.sweep import Sweep
from evalreport.values import Undefined

MISS_COST = 10
"""False alarms that one miss costs, until the reader says otherwise."""
GRID = 101
STATIC = 19
"""Rows of the table that stands in for the slider."""
PRESETS = (
    ("f1", "Best F1"),
    ("youden_j", "Best Youden"),
    ("recall>=0.95", "Recall ≥ 95%"),
    ("cost", "Cheapest"),
)
FloatArray: TypeAlias = npt.NDArray[np.float64]
TUNED = {"default": "Default", "given": "Given", "tuned": "Tuned", "cross-fitted": "Cross-fitted"}


@dataclass(frozen=True)
class Four:
    """The two-by-two table in words: names of the rows and columns, counts."""

    positive: str
    negative: str
    found: str
    missed: str
    alarms: str
    left: str
    unread: str = ""


@dataclass(frozen=True)
class Meter:
    """One line under the table: what, as shown, and its bar in per cent."""

    key: str
    title: str
    shown: str
    bar: int | None = None


@dataclass(frozen=True)
class Preset:
    """A button: its key, its words, and the place on the slider."""

    key: str
    title: str
    place: int


@dataclass(frozen=True)
class Explorer:
    """Slider, presets, counts and table of a binary problem.

    Parameters
    ----------
    start, last : int
        Place of the slider at the start, and its last place.
    """

    question: str
    shown: str
    start: int
    last: int
    presets: tuple[Preset, ...]
    miss_cost: int
    four: Four
    meters: tuple[Meter, ...]
    values: Table
    choices: Table | None


@dataclass(frozen=True)
class Decided:
    """Without a slider: the two-by-two table, and why nothing can be moved."""

    four: Four | None
    meters: tuple[Meter, ...]
    empty: Empty


@dataclass(frozen=True, eq=False)
class _Grid:
    """Places of the slider: thresholds with what is flagged at each."""

    t: FloatArray
    tp: FloatArray
    fp: FloatArray
    start: int

    def place(self, threshold: float) -> int:
        return min(int(np.searchsorted(self.t, threshold)), len(self.t) - 1)


def panel(ev: Evaluation) -> Section | None:
    """Return the threshold section of a binary evaluation."""
    if not isinstance(ev.space, Binary):
        return None
    sweep = ev.sweep
    if sweep is None or len(sweep) < 2:
        return _without_scores(ev)
    return _explorer(ev, sweep)


def _without_scores(ev: Evaluation) -> Section:
    counts = four_counts(ev)
    empty = Empty(
        say("No scores were logged."),
        say(
            "A label alone cannot be moved along a threshold, ranked or calibrated. Log one probability per "
            "{unit}, then run `evalreport log` again.",
            unit=units(ev, 1),
        ),
    )
    four = None if counts is None else _four(ev, counts)
    meters = () if counts is None else meters_of(counts)
    body = Decided(four, meters, empty)
    return Section("threshold", "Threshold", "Right and wrong", "decided", NOTHING, body)


def _explorer(ev: Evaluation, sweep: Sweep) -> Section:
    grid = _grid(ev, sweep)
    here = _counts(sweep, grid, grid.start)
    body = Explorer(
        question=f"Call it {called(ev, ev.space.labels[1])} when the score is at least",
        shown=threshold_text(float(grid.t[grid.start])),
        start=grid.start,
        last=len(grid.t) - 1,
        presets=_presets(ev, sweep, grid),
        miss_cost=MISS_COST,
        four=_four(ev, here),
        meters=(*meters_of(here), _cost(ev, here)),
        values=_values(ev, sweep, grid),
        choices=_choices(sweep),
    )
    return Section(
        "threshold", "Threshold", "Choose a threshold", "threshold", _lede(ev), body, _data(sweep, grid)
    )


def _lede(ev: Evaluation) -> Sentence:
    lede = say(
        "Every count comes from the same {units}. Choose on validation data: on the rows that judge the "
        "model a chosen threshold looks better than it is.",
        units=units(ev),
    )
    if ev.threshold is None and ev.confusion is not None:
        lede += say("The logged predictions follow from no single threshold; this shows the scores alone.")
    if ev.confusion is None:
        lede += say(
            "No threshold was given: the slider starts at the best F1 of these {units}.", units=units(ev)
        )
    return lede


def _grid(ev: Evaluation, sweep: Sweep) -> _Grid:
    """The kept thresholds of the sweep, an even grid, and where the decision was taken."""
    kept = sweep.thresholds[np.isfinite(sweep.thresholds)]
    unit = ev.score_kind != "decision"
    even = np.arange(GRID) / (GRID - 1) if unit else np.linspace(kept[0], kept[-1], GRID)
    t = np.union1d(kept, even)
    at = sweep.at(t)
    tp, fp = np.asarray(at.tp), np.asarray(at.fp)
    now, counts = _reachable(one_threshold(ev), kept), four_counts(ev)
    if now is not None and now not in t and counts is not None:
        place = int(np.searchsorted(t, now))
        t, tp, fp = (
            np.insert(column, place, value) for column, value in ((t, now), (tp, counts.tp), (fp, counts.fp))
        )
    return _Grid(t, tp, fp, min(int(np.searchsorted(t, _first(ev, sweep))), len(t) - 1))


def _first(ev: Evaluation, sweep: Sweep) -> float:
    """Where the slider starts: where the decision was taken, else at 0.5 or, for margins, at the best F1."""
    now, best = one_threshold(ev), sweep.best("f1")
    if now is not None:
        return now
    if ev.score_kind != "decision":
        return 0.5
    return best.threshold if isinstance(best, Optimum) else float(sweep.thresholds[0])


def _reachable(threshold: float | None, kept: FloatArray) -> float | None:
    """A place on the slider for a threshold above all scores: just beyond the greatest."""
    if threshold is None or math.isfinite(threshold):
        return threshold
    return float(kept[-1] + max(kept[-1] - kept[0], 0.01) / (GRID - 1))


def _counts(sweep: Sweep, grid: _Grid, place: int) -> BinaryCounts:
    tp, fp = float(grid.tp[place]), float(grid.fp[place])
    return BinaryCounts(tp, fp, sweep.positives - tp, sweep.negatives - fp, 0.0, float(grid.t[place]))


def _four(ev: Evaluation, c: BinaryCounts) -> Four:
    return Four(
        positive=called(ev, ev.space.labels[1]),
        negative=called(ev, ev.space.labels[0]),
        found=count(c.tp),
        missed=count(c.fn),
        alarms=count(c.fp),
        left=count(c.tn),
        unread=count(c.unread) if c.unread else "",
    )


def rates(c: BinaryCounts) -> Mapping[str, tuple[float | None, float]]:
    """Return the rates of four counts and what they are shares of; None where that is nothing.

    Examples
    --------
    >>> rates(BinaryCounts(3, 1, 1, 5))["recall"], rates(BinaryCounts(0, 0, 2, 2))["precision"]
    ((0.75, 4.0), (None, 0.0))
    """
    pairs = {
        "recall": (c.tp, c.tp + c.fn),
        "specificity": (c.tn, c.negatives),
        "precision": (c.tp, c.tp + c.fp),
        "npv": (c.tn, c.tn + c.fn),
        "f1": (2 * c.tp, 2 * c.tp + c.fp + c.fn),
        "flagged": (c.tp + c.fp, c.total),
    }
    return {
        name: (float(part / whole) if whole else None, float(whole)) for name, (part, whole) in pairs.items()
    }


TITLES = {
    key: find(name, "binary").title
    for key, name in (
        *((name, name) for name in ("recall", "specificity", "precision", "npv", "f1")),
        ("flagged", "predicted_positive_rate"),
    )
}
SHORT = ("Recall", "Specificity", "Precision", "NPV", "F1", "Flagged")
"""The same over narrow columns: all of them stand side by side on a wide screen."""
HEADS = ("At", "Threshold", "Found", "Missed", "False alarms", "Left alone", *SHORT)


def meters_of(c: BinaryCounts) -> tuple[Meter, ...]:
    """Return the lines under the two-by-two table."""
    found = []
    for key, (value, whole_of) in rates(c).items():
        text = "–" if value is None else ratio(value) if key == "f1" else percent(value, whole_of)
        found.append(Meter(key, TITLES[key], text, None if value is None else round(100 * value)))
    return tuple(found)


def cost_text(c: BinaryCounts, miss: float = MISS_COST) -> str:
    """Return the cost of 100 rows, in false alarms.

    Examples
    --------
    >>> cost_text(BinaryCounts(76, 19, 30, 160))
    '111.9'
    """
    return fixed(100 * (c.fp + miss * c.fn) / c.total, 1)


def _cost(ev: Evaluation, c: BinaryCounts) -> Meter:
    return Meter("cost", f"Cost per 100 {units(ev)}, in false alarms", cost_text(c))


def _presets(ev: Evaluation, sweep: Sweep, grid: _Grid) -> tuple[Preset, ...]:
    found = []
    now = one_threshold(ev)
    if now is not None and ev.threshold is not None:
        title = f"{TUNED.get(ev.threshold.origin, 'As logged')} {threshold_text(now)}"
        found.append(Preset("now", title, grid.start))
    for key, title, best in _optima(sweep):
        if math.isfinite(best.threshold):
            found.append(Preset(key, title, grid.place(best.threshold)))
    return tuple(found)


def _optima(sweep: Sweep) -> Iterator[tuple[str, str, Optimum]]:
    """The goals that can be reached; where one class is missing no threshold is better than another."""
    for key, title in PRESETS if sweep.positives and sweep.negatives else ():
        best = sweep.best(key)
        if isinstance(best, Optimum):
            yield key, title, best


def _values(ev: Evaluation, sweep: Sweep, grid: _Grid) -> Table:
    """The presets by name, then an even walk over the thresholds."""
    rows = [_row(preset.title, _counts(sweep, grid, preset.place)) for preset in _presets(ev, sweep, grid)]
    low, high = (0.0, 1.0) if ev.score_kind != "decision" else (float(grid.t[0]), float(grid.t[-1]))
    for step in range(1, STATIC + 1):
        threshold = low + (high - low) * step / (STATIC + 1)
        rows.append(_row("", _counts(sweep, grid, grid.place(round(threshold, 12)))))
    return Table.of("threshold-values", "Counts at thresholds", HEADS, rows)


def _row(name: str, c: BinaryCounts) -> tuple[str, ...]:
    numbers = [threshold_text(c.threshold), count(c.tp), count(c.fn), count(c.fp), count(c.tn)]
    return (name or "threshold", *numbers, *(meter.shown for meter in meters_of(c)))


def _choices(sweep: Sweep) -> Table | None:
    """What the best threshold reaches here, and on rows that took no part in choosing it."""
    rows = [
        _choice_row(title, best, best.out_of_sample)
        for _, title, best in _optima(sweep)
        if best.out_of_sample is not None
    ]
    if not rows:
        return None
    heads = ("For", "Threshold", "Interval", "Here", "Elsewhere")
    return Table.of("threshold-choices", "Best thresholds", heads, rows)


def _choice_row(title: str, best: Optimum, elsewhere: OutOfSample) -> Row:
    out_of_sample, style = elsewhere.value, objective_style(best.metric)
    return (
        Cell(title, sub=objective_title(best.metric)),
        threshold_text(best.threshold),
        _limits(best),
        beside(best.apparent, out_of_sample, style),
        Cell(
            "–" if isinstance(out_of_sample, Undefined) else valued(out_of_sample, style),
            sub="" if isinstance(out_of_sample, Undefined) else elsewhere.method,
        ),
    )


def _limits(best: Optimum) -> str:
    if best.low is None or best.high is None:
        return "–"
    if math.isinf(best.high):
        return f"{threshold_text(best.low)} or more"
    return f"{threshold_text(best.low)} to {threshold_text(best.high)}"


def _data(sweep: Sweep, grid: _Grid) -> Mapping[str, Any]:
    return {
        "t": [float(f"{value:.9g}") for value in grid.t.tolist()],
        "tp": whole(grid.tp),
        "fp": whole(grid.fp),
        "P": sweep.positives,
        "N": sweep.negatives,
    }


def whole(values: FloatArray) -> list[float]:
    """Return counts as integers where they are, to spare the page the ".0".

    Examples
    --------
    >>> whole(np.array([1.0, 2.5]))
    [1, 2.5]
    """
    return [int(value) if value.is_integer() else round(value, 6) for value in values.tolist()]

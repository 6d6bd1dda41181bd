"""The scores of both classes as a histogram over the threshold, with a flag for each named threshold.

The decision threshold: a slider over the scores of both classes, counts, and what each step costs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.core.format import count, format_fixed, percent, ratio
from evalreport.core.format import threshold as threshold_text
from evalreport.core.result import Estimate, format_estimate, interval
from evalreport.core.sentences import NOTHING, Sentence, say
from evalreport.data.labels import Binary
from evalreport.evaluation.evaluation import Evaluation
from evalreport.intervals.distributions import normal_quantile, wilson
from evalreport.metrics.catalogue import OF_FOUR, find
from evalreport.page.charts import nice_step, tick_text
from evalreport.page.elements import Column, Empty, Section, Table
from evalreport.page.evaluation_terms import (
    confidence_percent,
    display_label,
    four_counts,
    of_weights,
    one_threshold,
    tell,
    units,
)
from evalreport.page.sections.threshold_table import (
    BoundStatement,
    NamedThreshold,
    bound_statements,
    candidates,
    level_note,
    recommended_candidate,
    steps,
)
from evalreport.statistics.confusion import Array, BinaryCounts
from evalreport.thresholds.best_threshold import Optimum
from evalreport.thresholds.sweep import Sweep

WIDTH = 1000.0
"""Units from end to end, which are places of the slider, too."""
BINS = 50
"""Columns of the histogram: 2% each, as probabilities are mostly thought of."""
MIDDLE, HALF = 86.0, 80.0
"""Where the columns begin, and the height of the greatest one, up and down."""
LINE = 20
"""Height of a flag."""
NEAR = 12.0
"""Minimum distance of two flags: 7 pixels of 600."""
PAST = 620.0
"""From here on a flag's words stand to its left."""
ODDS = (0.0001, 0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999)
"""Ticks of an axis of log-odds."""


@dataclass(frozen=True)
class Flag:
    """A threshold by name: its place, and which line its words stand on."""

    key: str
    text: str
    shown: str
    at: float
    line: int
    left: bool


@dataclass(frozen=True)
class ScoresFigure:
    """A histogram with flags.

    Parameters
    ----------
    up, down : str
        Path data of positives and negatives, on one logarithmic axis of counts.
    counts : tuple of (height above the middle, text)
        Ticks of that axis.
    flags : tuple of Flag
        Leftmost first, a line each.
    ticks : tuple of (place, text)
    at : float
        Place of the threshold.
    description : Sentence
    """

    up: str
    down: str
    counts: tuple[tuple[float, str], ...]
    flags: tuple[Flag, ...]
    ticks: tuple[tuple[float, str], ...]
    at: float
    positive: str
    negative: str
    description: Sentence

    @property
    def top(self) -> int:
        """Height of all flags."""
        return LINE * len(self.flags)


@dataclass(frozen=True)
class Ruler:
    """Places of thresholds from end to end, even in the threshold or in its log-odds.

    Parameters
    ----------
    low, high : float
        Thresholds at the ends.
    clip : float or None
        Probabilities nearer to 0 and 1 are placed as this; None: even in the threshold.

    Examples
    --------
    >>> Ruler(0.0, 1.0).places(np.array([0.25, 2.0])).tolist()
    [250.0, 1000.0]
    >>> Ruler(0.0, 1.0, 0.001).places(np.array([0.5])).tolist()
    [500.0]
    """

    low: float
    high: float
    clip: float | None = None

    def places(self, thresholds: Array) -> Array:
        """Return places, 0 to 1000, rounded to a tenth."""
        low, high, values = (
            self._to_ruler_scale(self.low),
            self._to_ruler_scale(self.high),
            self._to_ruler_scale(thresholds),
        )
        placed: Array = ((values - low) / (high - low) * WIDTH).clip(0, WIDTH).round(1)
        return placed

    def _to_ruler_scale(self, thresholds: Array | float) -> Array:
        values = np.asarray(thresholds, dtype=np.float64)
        if self.clip is None:
            return values
        inside = values.clip(self.clip, 1 - self.clip)
        odds: Array = np.log(inside / (1 - inside))
        return odds

    @property
    def edges(self) -> Array:
        """Thresholds between the columns."""
        even = np.linspace(self._to_ruler_scale(self.low), self._to_ruler_scale(self.high), BINS + 1)
        return even if self.clip is None else 1 / (1 + np.exp(-even))

    @property
    def ticks(self) -> tuple[tuple[float, str], ...]:
        """Ticks with their text."""
        if self.clip is None:
            step = nice_step(self.high - self.low)
            wanted = [
                k * step
                for k in range(math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9) + 1)
            ]
        else:
            wanted = [at for at in ODDS if self.clip <= at <= 1 - self.clip]
        every = zip(self.places(np.array(wanted)).tolist(), map(tick_text, wanted), strict=True)
        return tuple(_drop_overlapping_ticks(every))


def _drop_overlapping_ticks(ticks: Iterable[tuple[float, str]]) -> Iterator[tuple[float, str]]:
    """Ticks whose texts keep clear of each other on a phone; the first begins, the last ends at its place."""
    end = -math.inf
    for at, text in ticks:
        wide = LETTER * len(text)
        left = at if at <= 100 else at - wide if at >= 900 else at - wide / 2
        if left > end:
            yield at, text
            end = left + wide + LETTER / 2


LETTER = 20
"""Width of a letter of a tick in thousandths of a phone's 340 pixels."""


def ruler(found: Sequence[NamedThreshold], low: float, high: float, *, probability: bool) -> Ruler:
    """Return the scale of a figure: log odds where the named probabilities are too close to each other."""
    plain = Ruler(low, high)
    places = np.unique(plain.places(np.array([one.threshold for one in found])))
    least = min((one.threshold for one in found if one.threshold > 0), default=1.0)
    if not probability or len(places) < 2 or np.diff(places).min() >= NEAR or least <= 0:
        return plain
    clip = 10.0 ** min(max(math.floor(math.log10(least)) - 1, -6), -2)
    return Ruler(low, high, clip)


def scores_figure(
    sweep: Sweep, found: Sequence[NamedThreshold], rule: Ruler, at: float, names: tuple[str, str]
) -> ScoresFigure:
    """Return the figure.

    Parameters
    ----------
    sweep : Sweep
    found : sequence of NamedThreshold
        Thresholds that have a flag.
    rule : Ruler
    at : float
        The threshold that the page opens at.
    names : (str, str)
        Of the positive and the negative class.
    """
    counts = sweep.counts_at_threshold(rule.edges[:-1])
    positives, negatives = (np.append(np.asarray(c, float), 0.0) for c in (counts.tp, counts.fp))
    positives[0], negatives[0] = sweep.positives, sweep.negatives
    positive, negative = names
    sides = -np.diff(positives), -np.diff(negatives)
    most = float(max(side.max(initial=1.0) for side in sides))
    return ScoresFigure(
        _columns(sides[0], -HALF, most),
        _columns(sides[1], HALF, most),
        _count_ticks(most),
        _flags(found, rule),
        rule.ticks,
        float(rule.places(np.array([at]))[0]),
        positive,
        negative,
        say(
            "Scores of {positive} above the line and of {negative} below it, counts on a logarithmic axis, with the named thresholds.",
            {"positive": positive, "negative": negative},
        ),
    )


def _columns(weights: Array, height: float, most: float) -> str:
    heights = np.log1p(weights.clip(0)) / math.log1p(most) * height
    wide = WIDTH / BINS
    return "".join(
        f"M{place * wide + 1:g} {MIDDLE:g}v{one:.1f}h{wide - 2:g}V{MIDDLE:g}z"
        for place, one in enumerate(heights.tolist())
        if abs(one) >= 0.05
    )


def _count_ticks(most: float) -> tuple[tuple[float, str], ...]:
    """Powers of ten, every second one where there are many."""
    powers = [10.0**k for k in range(1, int(math.log10(max(most, 1.0))) + 1)]
    kept = powers[1::2] if len(powers) > 2 else powers
    return tuple((round(math.log1p(at) / math.log1p(most) * HALF, 1), count(at)) for at in kept)


def _flags(found: Sequence[NamedThreshold], rule: Ruler) -> tuple[Flag, ...]:
    """Leftmost on top, a line each; thresholds that are equal share theirs."""
    shared: dict[float, list[NamedThreshold]] = {}
    for one in found:
        shared.setdefault(one.threshold, []).append(one)
    flags = []
    for line, (threshold, ones) in enumerate(sorted(shared.items())):
        place = float(rule.places(np.array([threshold]))[0])
        words = ", ".join(re.sub(r" \([^)]*\)", "", one.title) for one in ones)  # a phone has no room
        flags.append(Flag(ones[0].key, words, threshold_text(threshold), place, line, place > PAST))
    return tuple(flags)


MISS_COST = 10
"""Default cost of a miss in false positives."""
GRID = 101
"""Places of the slider: hundredths, as `MAX_STEPS` of a curve in MLflow."""
STATIC = 4
"""Rows of the table that replaces the slider."""
FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ConfusionTable:
    """The two-by-two table in words: names of the rows and columns, counts, and what changed in each."""

    positive: str
    negative: str
    found: str
    missed: str
    false_positives: str
    left: str
    unparsed: str = ""
    changes: tuple[str, str, str, str] | None = None


@dataclass(frozen=True)
class Meter:
    """One line under the table: what, as shown, its bar in per cent, and its interval."""

    key: str
    title: str
    shown: str
    bar: int | None = None
    interval: str = ""


@dataclass(frozen=True)
class Preset:
    """A button: its key, its words, and the place on the slider."""

    key: str
    title: str
    place: int


@dataclass(frozen=True)
class Explorer:
    """Slider, presets, counts and tables of a binary problem.

    Parameters
    ----------
    start : int
        Place of the threshold at the start, among all that the slider knows.
    level : str
        Of the intervals; empty where there are none.
    """

    question: str
    shown: str
    start: int
    presets: tuple[Preset, ...]
    figure: ScoresFigure
    miss_cost: int
    four: ConfusionTable
    meters: tuple[Meter, ...]
    level: str
    steps: Table | None
    note: Sentence
    promises: tuple[BoundStatement, ...]
    values: Table


@dataclass(frozen=True)
class Decided:
    """Without a slider: the two-by-two table, and why nothing can be moved."""

    four: ConfusionTable | None
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


def threshold_section(
    ev: Evaluation, asked: Mapping[str, Optimum] | None = None, whole: Sweep | None = None
) -> Section | None:
    """Return the threshold section of a binary evaluation.

    Parameters
    ----------
    asked : mapping from an objective's name to Optimum, optional
        What was chosen on purpose: the section opens at the first of them.
    whole : Sweep, optional
        Every threshold, where it is at hand.
    """
    if not isinstance(ev.space, Binary):
        return None
    sweep = ev.sweep
    if sweep is None or len(sweep) < 2:
        return _without_scores(ev)
    return _explorer(ev, sweep, asked, whole or sweep)


def _without_scores(ev: Evaluation) -> Section:
    counts = four_counts(ev)
    words = "Predicted labels have no threshold, ranking or calibration. Log one probability for each {unit}."
    empty = Empty(say("No scores were logged."), tell(ev, words))
    rows = four_counts(ev.in_rows())
    four = None if rows is None else _four(ev, rows)
    meters = () if counts is None else meters_of(counts)
    body = Decided(four, meters, empty)
    return Section("threshold", "Confusion matrix", "Confusion matrix", "decided", NOTHING, body)


def _explorer(ev: Evaluation, sweep: Sweep, asked: Mapping[str, Optimum] | None, whole: Sweep) -> Section:
    found = candidates(ev, whole, asked)
    advice = recommended_candidate(ev, found, asked)
    grid = _grid(ev, sweep, found, None if asked is None else advice)
    here = _counts(sweep, grid, grid.start)
    now = next((grid.place(one.threshold) for one in found if one.key == "now"), None)
    rule = ruler(found, float(grid.t[0]), float(grid.t[-1]), probability=ev.score_kind == "probability")
    names = display_label(ev, ev.space.display_labels[1]), display_label(ev, ev.space.display_labels[0])
    named = [replace(one, title="Recommended") if one.key == advice else one for one in found]
    exact = ev.sampling.intervals and not ev.weighted and ev.clusters is None
    level = ev.sampling.level if exact else None
    body = Explorer(
        question=f"Predict {names[0]} when the score is at least",
        shown=threshold_text(float(grid.t[grid.start])),
        start=grid.start,
        presets=tuple(
            Preset(one.key, f"{one.title} {threshold_text(one.threshold)}", grid.place(one.threshold))
            for one in sorted(named, key=lambda one: one.threshold)
        ),
        figure=scores_figure(sweep, named, rule, float(grid.t[grid.start]), names),
        miss_cost=MISS_COST,
        four=_four(ev, here, None if now is None else _counts(sweep, grid, now)),
        meters=(*meters_of(here, level), _cost(ev, here)),
        level="" if level is None else confidence_percent(ev),
        steps=steps(ev, whole, found, advice),
        note=level_note(ev),
        promises=bound_statements(ev, whole, found),
        values=_values(ev, sweep, grid),
    )
    data = _data(sweep, grid, rule) | ({} if now is None else {"now": now})
    data |= {} if level is None else {"z": normal_quantile((1 + level) / 2)}
    return Section(
        "threshold", "Choose a threshold", "Choose a threshold", "threshold", _summary(ev, asked), body, data
    )


def _summary(ev: Evaluation, asked: Mapping[str, Optimum] | None) -> Sentence:
    summary = say("The counts are of these rows; confirm a threshold on validation data.")
    if asked is not None:
        summary = say("The counts are of the rows on which the thresholds were chosen.")
        if any(best.out_of_sample and best.out_of_sample.method == "cross-fitted" for best in asked.values()):
            summary += say("The held-out estimates are cross-fitted.")
    if ev.threshold is None and ev.confusion is not None:
        summary += say("No single threshold gives the logged predictions; this section uses the scores only.")
    if ev.confusion is None:
        summary += say("No threshold was given.")
    return summary + of_weights(ev)


def _grid(ev: Evaluation, sweep: Sweep, found: Sequence[NamedThreshold], opens: str | None) -> _Grid:
    """The kept thresholds of the sweep, an even grid, and every threshold that has a name."""
    kept = sweep.thresholds[np.isfinite(sweep.thresholds)]
    unit = ev.score_kind != "decision"
    even = np.arange(GRID) / (GRID - 1) if unit else np.linspace(kept[0], kept[-1], GRID)
    t = np.union1d(kept, even)
    at = sweep.counts_at_threshold(t)
    tp, fp = np.asarray(at.tp), np.asarray(at.fp)
    named = [(one.threshold, one.tp, one.fp) for one in found]
    now, counts = _reachable(one_threshold(ev), kept), four_counts(ev)
    if now is not None and counts is not None:
        named.append((now, float(counts.tp), float(counts.fp)))
    for threshold, found_there, false_positives in named:
        if threshold not in t:
            place = int(np.searchsorted(t, threshold))
            t, tp, fp = (
                np.insert(column, place, value)
                for column, value in ((t, threshold), (tp, found_there), (fp, false_positives))
            )
    first = next((one.threshold for one in found if one.key == opens), None)
    first = _initial_threshold(ev, sweep) if first is None else first
    return _Grid(t, tp, fp, min(int(np.searchsorted(t, first)), len(t) - 1))


def _initial_threshold(ev: Evaluation, sweep: Sweep) -> float:
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


def _four(ev: Evaluation, c: BinaryCounts, now: BinaryCounts | None = None) -> ConfusionTable:
    return ConfusionTable(
        changes=None if now is None else _changes(c, now),
        positive=display_label(ev, ev.space.display_labels[1]),
        negative=display_label(ev, ev.space.display_labels[0]),
        found=count(c.tp),
        missed=count(c.fn),
        false_positives=count(c.fp),
        left=count(c.tn),
        unparsed=count(c.unread) if c.unread else "",
    )


def _changes(c: BinaryCounts, now: BinaryCounts) -> tuple[str, str, str, str]:
    """What each cell has more or fewer than at the threshold in use."""
    cells = [
        (float(a), float(b)) for a, b in ((c.tp, now.tp), (c.fn, now.fn), (c.fp, now.fp), (c.tn, now.tn))
    ]
    at = threshold_text(float(now.threshold))
    changes = [
        f"{count(abs(a - b))} {'more' if a > b else 'fewer'} than at {at}" if a != b else "" for a, b in cells
    ]
    return changes[0], changes[1], changes[2], changes[3]


KEYS = (*OF_FOUR[:-1], "flagged")
TITLES = {key: find(name, "binary").title for key, name in zip(KEYS, OF_FOUR, strict=True)}
STYLES = {key: find(name, "binary").style for key, name in zip(KEYS, OF_FOUR, strict=True)}


def rates(c: BinaryCounts) -> Mapping[str, tuple[float | None, float]]:
    """Return the rates of four counts and their denominators; None where a denominator is zero.

    Examples
    --------
    >>> rates(BinaryCounts(3, 1, 1, 5))["recall"], rates(BinaryCounts(0, 0, 2, 2))["precision"]
    ((0.75, 4.0), (None, 0.0))
    """
    pairs = (
        (c.tp, c.tp + c.fn),
        (c.tn, c.negatives),
        (c.tp, c.tp + c.fp),
        (c.tn, c.tn + c.fn),
        (2 * c.tp, 2 * c.tp + c.fp + c.fn),
        (c.tp + c.fp, c.total),
    )
    return {
        name: (float(part / whole) if whole else None, float(whole))
        for name, (part, whole) in zip(KEYS, pairs, strict=True)
    }


NO_COLUMN: Mapping[str, float] = MappingProxyType({})
SHOWN = (KEYS[0], KEYS[2], KEYS[4])
HEADS = ("Threshold", "Found", "Missed", "False positives", "Correct", "Recall", "Precision", "F1")


def meters_of(
    c: BinaryCounts, level: float | None = None, least: Mapping[str, float] = NO_COLUMN
) -> tuple[Meter, ...]:
    """Return the lines under the two-by-two table; with a level, shares have Wilson's intervals.

    In a column of shares, `least` is what the coarsest of them is of: all have its decimals.
    """
    found = []
    for key, (value, whole_of) in rates(c).items():
        is_share = STYLES[key] == "percent"
        text = (
            "–" if value is None else percent(value, least.get(key, whole_of)) if is_share else ratio(value)
        )
        limits = ""
        if level is not None and value is not None and is_share:
            low, high = (float(end) for end in wilson(value * whole_of, whole_of, level))
            result = Estimate(value, whole_of, min(low, value), max(high, value))
            text, limits = format_estimate(result, "percent"), interval(result, "percent")
        found.append(Meter(key, TITLES[key], text, None if value is None else round(100 * value), limits))
    return tuple(found)


def cost_text(c: BinaryCounts) -> str:
    """Return the cost of 100 rows, in false positives.

    Examples
    --------
    >>> cost_text(BinaryCounts(76, 19, 30, 160))
    '111.9'
    """
    return format_fixed(100 * (c.fp + MISS_COST * c.fn) / c.total, 1)


def _cost(ev: Evaluation, c: BinaryCounts) -> Meter:
    return Meter("cost", f"Cost per 100 {units(ev)}, in false positives", cost_text(c))


def _values(ev: Evaluation, sweep: Sweep, grid: _Grid) -> Table:
    """An even walk over the thresholds."""
    shown = []
    low, high = (0.0, 1.0) if ev.score_kind != "decision" else (float(grid.t[0]), float(grid.t[-1]))
    for step in range(1, STATIC + 1):
        threshold = low + (high - low) * step / (STATIC + 1)
        shown.append(_counts(sweep, grid, grid.place(round(threshold, 12))))
    known = [{key: n for key, (value, n) in rates(c).items() if value is not None} for c in shown]
    least = {key: min(row.get(key, math.inf) for row in known) for key in KEYS}
    rows = [_row(c, least) for c in shown]
    return Table.from_rows(
        "threshold-values", "Counts at thresholds", (Column(HEADS[0], "n"), *HEADS[1:]), rows
    )


def _row(c: BinaryCounts, least: Mapping[str, float]) -> tuple[str, ...]:
    numbers = [threshold_text(c.threshold), count(c.tp), count(c.fn), count(c.fp), count(c.tn)]
    return (*numbers, *(meter.shown for meter in meters_of(c, least=least) if meter.key in SHOWN))


def _data(sweep: Sweep, grid: _Grid, rule: Ruler) -> dict[str, Any]:
    return {
        "x": whole(rule.places(grid.t)),
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

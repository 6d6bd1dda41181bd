"""Two binary runs where they decide alike: a table of matched points, and a slider that moves both by alarms.

Compared at 0.5 and 0.5 two models differ mostly by how they are calibrated; matched they differ by what they
know.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.comparison.values import Comparison, MatchedCount, MatchedPoint
from evalreport.evaluation.model import Evaluation
from evalreport.facts import BinaryCounts
from evalreport.format import count, fixed, plural
from evalreport.format import threshold as threshold_text
from evalreport.panels.about import called, one_threshold, positive, whole_sweep
from evalreport.panels.parts import Cell, Column, Look, Row, Section, Table
from evalreport.panels.threshold import Four, Preset, whole
from evalreport.panels.words import NOTHING, Sentence, paragraph, say, shortened
from evalreport.thresholds.sweep import Sweep

PLACES = 180
"""Numbers of alarms that the slider can stand at, evenly on a logarithmic scale."""
SHOWN = (5, 10, 20, 50, 100, 200, 500)
"""Alarms per 1,000 rows of the static table, beside each run's own."""
TICKS = (1, 3, 10, 30, 100, 300, 1000)
DEMONSTRATED: dict[str, Look] = {"better": "right", "worse": "wrong"}
Floats: TypeAlias = npt.NDArray[np.float64]


def sentence(comparison: Comparison) -> Sentence:
    """Return what is left of a difference between two runs once both find as many."""
    points = {point.kind: point for point in comparison.matched}
    if len(comparison.names) != 2 or "equal_recall" not in points:
        return NOTHING
    point, own = points["equal_recall"], points["own_thresholds"]
    alarms = point.false_alarms
    lead = {
        "better": "*Matched, it is better*: at equal recall",
        "worse": "_Matched, it is worse_: at equal recall",
    }.get(alarms.verdict, "Matched, *no difference is demonstrated*: at equal recall")
    told = say(
        lead
        + " {run} raises {run_fp:count} false "
        + plural(alarms.values[0], ("alarm", "alarms"))
        + " instead of {base_fp:count}.",
        run=shortened(point.run),
        run_fp=alarms.values[0],
        base_fp=alarms.values[1],
    )
    return paragraph(told, _lost(point, own))


def _lost(point: MatchedPoint, own: MatchedPoint) -> Sentence:
    """That finds are lost to the threshold: only where the model is demonstrated to be the better one."""
    if own.found.verdict != "worse" or point.false_alarms.verdict != "better":
        return NOTHING
    return say(
        "The {lost:count} are lost to the threshold, not to the model: *at {matched:threshold} instead of "
        "{own:threshold} {run} finds as many as {base}*. Choose the threshold on validation data.",
        lost=-own.found.difference,
        matched=point.thresholds[0],
        own=own.thresholds[0],
        run=shortened(point.run),
        base=shortened(point.baseline),
    )


def points_table(comparison: Comparison) -> Table | None:
    """Return found positives and false alarms of each pair at each matched point; None without any."""
    if not comparison.matched:
        return None
    first = comparison.evaluations[0]
    several = len(comparison.pairings) > 1
    heads = ("Compared", Column(f"{positive(first).capitalize()} found"), Column("False alarms"))
    rows = (_point_row(point, several=several) for point in comparison.matched)
    return Table.of("matched-table", "Both runs at matched operating points", heads, rows)


def _point_row(point: MatchedPoint, *, several: bool) -> Row:
    moved = f"{shortened(point.run)} moved to {threshold_text(point.thresholds[0])}"
    title, how = {
        "own_thresholds": (
            "At their own thresholds",
            " and ".join(map(threshold_text, point.thresholds[::-1])),
        ),
        "equal_recall": ("At equal recall", moved),
        "equal_alarms": ("At the same number of alarms", moved),
    }[point.kind]
    title = f"{shortened(point.run)}: {title[0].lower()}{title[1:]}" if several else title
    return Cell(title, sub=how), counts_cell(point.found), counts_cell(point.false_alarms)


def counts_cell(found: MatchedCount) -> Cell:
    """Return a count of baseline and run, with their difference in words and its interval.

    Examples
    --------
    >>> cell = counts_cell(MatchedCount((232, 276), -44, -63.07, -24.9, "worse"))
    >>> cell.words, cell.sub, cell.look
    ('276 → 232', '44 fewer, worse (25 to 63)', 'wrong')
    """
    text = say("{before:count} → *{after:count}*", before=found.values[1], after=found.values[0])
    if found.verdict == "equal_by_design":
        return Cell(text, "none", sub="equal by design")
    gap = f"{count(abs(found.difference))} {'more' if found.difference > 0 else 'fewer'}"
    gap = gap if found.difference else "no difference"
    verdict = {"undefined": ""}.get(found.verdict, ", " + found.verdict.replace("_", " "))
    return Cell(text, DEMONSTRATED.get(found.verdict, "none"), sub=gap + verdict + _limits(found))


def _limits(found: MatchedCount) -> str:
    """The interval, in whole rows; with its signs where it holds both."""
    if found.low is None or found.high is None:
        return ""
    low, high = found.low, found.high
    if low < 0 < high:
        return f" ({fixed(low, 0)} to {'+'}{fixed(high, 0)})"
    near, far = sorted((abs(low), abs(high)))
    return f" ({fixed(near, 0)} to {fixed(far, 0)})"


@dataclass(frozen=True)
class AlarmSide:
    """One run at one number of alarms: its name, prefix of its ids, threshold and two-by-two table."""

    name: str
    prefix: str
    threshold: str
    four: Four


@dataclass(frozen=True)
class AlarmSlider:
    """The slider over alarms per 1,000 rows, both runs at its place, and some places as a table."""

    shown: str
    start: int
    last: int
    presets: tuple[Preset, ...]
    ticks: tuple[tuple[float, str], ...]
    sides: tuple[AlarmSide, AlarmSide]
    said: str
    values: Table


@dataclass(frozen=True)
class _AlarmGrid:
    """Numbers of alarms, and of each run (baseline first) its thresholds that raise no more, as counts."""

    alarms: Floats
    sides: tuple[BinaryCounts, BinaryCounts]
    positives: float
    total: float

    @classmethod
    def of(cls, sweeps: tuple[Sweep, Sweep], extra: Sequence[float]) -> _AlarmGrid:
        n = sweeps[0].positives + sweeps[0].negatives
        even = np.round(np.geomspace(max(n / 1000, 1), n, PLACES))
        alarms = np.unique([*even, *extra])
        sides = (_raising(sweeps[0], alarms), _raising(sweeps[1], alarms))
        return cls(alarms, sides, sweeps[0].positives, n)

    @property
    def per_thousand(self) -> Floats:
        """The alarms as shares."""
        return np.asarray(1000 * self.alarms / self.total)

    def place(self, alarms: float) -> int:
        """Return the place of a number of alarms."""
        return min(int(np.searchsorted(self.alarms, alarms - 1e-9)), len(self.alarms) - 1)


def _raising(sweep: Sweep, alarms: Floats) -> BinaryCounts:
    """The counts at the lowest threshold that raises no more alarms; the highest one raises none."""
    raised = sweep.tp + sweep.fp
    places = len(raised) - np.searchsorted(raised[::-1], alarms + 1e-9, side="right")
    return sweep.at(sweep.thresholds[np.minimum(places, len(raised) - 1)])


def panel(comparison: Comparison) -> Section | None:
    """Return two binary runs at the same number of alarms; None unless both scored the same rows."""
    run, base, pairing = comparison.pairings[0]
    whole_pair = pairing.kind == "paired" and not pairing.only_run and not pairing.only_baseline
    if len(comparison.names) != 2 or not whole_pair:
        return None
    # The baseline comes first: the other run is what a reader thinks of moving to.
    evaluations = [comparison.evaluations[comparison.names.index(name)] for name in (base, run)]
    before, after = map(whole_sweep, evaluations)
    if before is None or after is None or not before.positives:
        return None
    own = [_own(ev, sweep) for ev, sweep in zip(evaluations, (before, after), strict=True)]
    grid = _AlarmGrid.of((before, after), [alarms for alarms in own if alarms])
    return _section(comparison, (base, run), grid, own)


def _own(ev: Evaluation, sweep: Sweep) -> float | None:
    """Alarms at a run's own threshold."""
    now = one_threshold(ev)
    if now is None:
        return None
    here = sweep.at(now)
    return float(here.tp + here.fp)


def _section(
    comparison: Comparison, names: tuple[str, str], grid: _AlarmGrid, own: Sequence[float | None]
) -> Section:
    ev = comparison.evaluations[0]
    presets = tuple(_presets(names, grid, own))
    start = presets[0].place
    body = AlarmSlider(
        shown=_per_thousand(grid, start),
        start=start,
        last=len(grid.alarms) - 1,
        presets=presets,
        ticks=_ticks(grid),
        sides=(_side(ev, names[0], "base", grid, 0, start), _side(ev, names[1], "run", grid, 1, start)),
        said=said(names, grid, start, positive(ev)),
        values=_values(names, grid, own),
    )
    title = "At the same number of alarms"
    lede = say("One slider moves both runs: each raises as many alarms, and what it finds is counted.")
    data = {
        "a": whole(grid.alarms),
        "n": grid.total,
        "P": grid.positives,
        "names": list(names),
        "what": positive(ev),
        "sides": [
            {
                "t": [None if np.isinf(t) else float(f"{t:.9g}") for t in np.atleast_1d(side.threshold)],
                "found": whole(np.asarray(side.tp)),
                "alarms": whole(np.asarray(side.fp)),
            }
            for side in grid.sides
        ],
    }
    return Section("matched", "Same alarms", title, "matched", lede, body, data)


def _presets(names: tuple[str, str], grid: _AlarmGrid, own: Sequence[float | None]) -> Iterator[Preset]:
    for name, alarms, key in zip(names[::-1], own[::-1], ("run", "base"), strict=True):
        if alarms:
            yield Preset(key, f"{shortened(name)}’s own", grid.place(alarms))
    yield Preset("events", "As many as there are", grid.place(grid.positives))
    for rate in (10, 100):
        yield Preset(f"{rate}", f"{rate} per 1,000", grid.place(round(rate * grid.total / 1000)))


def _ticks(grid: _AlarmGrid) -> tuple[tuple[float, str], ...]:
    """Places of round numbers in per cent of the slider, whose places are even in the logarithm."""
    shown = grid.per_thousand
    inside = [tick for tick in TICKS if shown[0] <= tick * (1 + 1e-9) and tick <= shown[-1] * (1 + 1e-9)]
    last = len(shown) - 1
    return tuple(
        (round(100 * float(np.interp(np.log(tick), np.log(shown), range(last + 1))) / last, 2), count(tick))
        for tick in inside
    )


def _per_thousand(grid: _AlarmGrid, place: int) -> str:
    value = float(grid.per_thousand[place])
    return fixed(value, 0 if value >= 100 or value.is_integer() else 1)


def _side(ev: Evaluation, name: str, prefix: str, grid: _AlarmGrid, side: int, place: int) -> AlarmSide:
    here = grid.sides[side][place]
    positives, negatives = (called(ev, label) for label in ev.space.shown[::-1])
    found, missed, raised, left = (count(float(n)) for n in (here.tp, here.fn, here.fp, here.tn))
    four = Four(positives, negatives, found, missed, raised, left)
    return AlarmSide(name, prefix, _threshold(here), four)


def _threshold(here: BinaryCounts) -> str:
    at = float(np.asarray(here.threshold))
    return "above all" if np.isinf(at) else threshold_text(at)


def said(names: tuple[str, str], grid: _AlarmGrid, place: int, what: str) -> str:
    """Return who finds more at a number of alarms."""
    base, run = (side[place] for side in grid.sides)
    more = float(run.tp - base.tp)
    gap = "as many" if not more else f"{count(abs(more))} {'more' if more > 0 else 'fewer'}"
    counts = f"{count(float(run.tp))} and {count(float(base.tp))} of {count(grid.positives)} {what}"
    return f"With at most {count(grid.alarms[place])} alarms each, {names[1]} finds {gap}: {counts}."


def _values(names: tuple[str, str], grid: _AlarmGrid, own: Sequence[float | None]) -> Table:
    n = grid.total
    named = {grid.place(alarms): f"{name}’s own" for name, alarms in zip(names, own, strict=True) if alarms}
    places = sorted({*(grid.place(round(rate * n / 1000)) for rate in SHOWN), *named})
    heads = ("Alarms per 1,000", *(f"{name} finds" for name in names), "Difference")
    heads = (*heads, *(f"Threshold, {name}" for name in names))
    rows = (_value_row(grid, place, named.get(place, "")) for place in places)
    return Table.of("matched-values", "Both runs at numbers of alarms", heads, rows)


def _value_row(grid: _AlarmGrid, place: int, name: str) -> Row:
    base, run = (side[place] for side in grid.sides)
    more = float(run.tp - base.tp)
    gap = "0" if not more else f"{count(abs(more))} {'more' if more > 0 else 'fewer'}"
    found = (count(float(base.tp)), count(float(run.tp)))
    return Cell(_per_thousand(grid, place), sub=name), *found, gap, _threshold(base), _threshold(run)

"""Two binary runs at matched operating points: a table, and a slider over the number of alerts.

At their default thresholds two models differ mostly in calibration; at matched thresholds they differ in ranking.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.comparison.comparison import AlertList, Comparison, MatchedCount, MatchedPoint
from evalreport.comparison.matched_thresholds import PER_THOUSAND
from evalreport.core.format import FINEST, count, decimals, format_decimals, format_fixed
from evalreport.core.format import threshold as threshold_text
from evalreport.core.sentences import NOTHING, Sentence, paragraph, say, truncate_name
from evalreport.evaluation.evaluation import Evaluation
from evalreport.page.elements import Cell, Column, Folded, Look, Row, Section, Table
from evalreport.page.evaluation_terms import display_label, of_weights, positive, units
from evalreport.page.sections.threshold import ConfusionTable, Preset, whole

TICKS = (1, 3, 10, 30, 100, 300, 1000)
"""Ticks of the axis of alerts: each about three times the last."""
SIGNIFICANT: dict[str, Look] = {"better": "right", "worse": "wrong"}
Floats: TypeAlias = npt.NDArray[np.float64]


def matched_sentence(comparison: Comparison) -> Sentence:
    """Return the difference of two runs at equal recall."""
    points = {point.kind: point for point in comparison.matched}
    if len(comparison.names) != 2 or "own_thresholds" not in points:
        return NOTHING
    own = points["own_thresholds"]
    if "equal_recall" not in points:
        words = "{base} finds all {what}, also at any lower threshold, so the runs cannot be compared at equal recall."
        if not own.found.values[1]:
            words = "{base} finds no {what} at its threshold, so the runs cannot be compared at equal recall."
        what = positive(comparison.evaluations[0])
        return say(words, base=truncate_name(own.baseline), what=what)
    point = points["equal_recall"]
    false_positives = point.false_positives
    lead = {
        "better": "*At equal recall it is better*:",
        "worse": "_At equal recall it is worse_:",
        "too_few_to_say": "At equal recall, where too few rows differ for a test,",
    }.get(false_positives.verdict, "At equal recall *the difference is not significant*:")
    weighted = comparison.evaluations[0].weighted
    # between tied scores counts are interpolated; they are shown as whole rows, as in the table
    run_fp, base_fp = (
        false_positives.values if weighted else (float(round(value)) for value in false_positives.values)
    )
    words = (
        lead + " {run:short} has {run_fp:count} false {run_fp:positive|positives} instead of {base_fp:count}"
    )
    if run_fp == base_fp:
        words = "At equal recall both have {run_fp:count} false {run_fp:positive|positives}"
    words += " (sums of weights)." if weighted else "."
    at_equal_recall = say(words, run=point.run, run_fp=run_fp, base_fp=base_fp)
    return paragraph(at_equal_recall, _threshold_loss_sentence(point, own))


def _threshold_loss_sentence(point: MatchedPoint, own: MatchedPoint) -> Sentence:
    """A sentence that the threshold causes the loss, where the model is significantly better at equal recall."""
    if own.found.verdict != "worse" or point.false_positives.verdict != "better":
        return NOTHING
    return say(
        "The threshold causes the {lost:count} additional misses, not the model: *at {matched:threshold} instead "
        "of {own:threshold}, {point.run:short} finds as many as {point.baseline:short}*. Choose the threshold "
        "on validation data.",
        {"point": point},
        lost=-own.found.difference,
        matched=point.thresholds[0],
        own=own.thresholds[0],
    )


def points_table(comparison: Comparison) -> Table | None:
    """Return true and false positives of each pair at each matched point; None without any."""
    if not comparison.matched:
        return None
    first = comparison.evaluations[0]
    several = len(comparison.pairings) > 1
    weighted = ", weighted" if first.weighted else ""
    heads: tuple[str | Column, ...] = (
        "Compared",
        Column(f"{positive(first).capitalize()} found{weighted}"),
        Column(f"False positives{weighted}"),
    )
    if comparison.costs is not None:
        costs = comparison.costs
        # the cost ratio in words, where a miss costs a number of false positives
        plain = (costs.fp, costs.tp, costs.tn) == (1, 0, 0)
        priced = f", if a miss costs {costs.fn:g} false positives" if plain else f" ({costs})"
        heads = (*heads, Column(f"Cost per 1,000 {units(first)}{priced}"))
    rows = (_point_row(point, several=several) for point in comparison.matched)
    return Table.from_rows("matched-table", "Both runs at matched operating points", heads, rows)


def _point_row(point: MatchedPoint, *, several: bool) -> Row:
    about = "about " if point.between else ""
    moved = f"{truncate_name(point.run)} moved to {about}{threshold_text(point.thresholds[0])}"
    both = " and ".join(map(_threshold, point.thresholds[::-1]))
    title, how = {
        "own_thresholds": ("At their own thresholds", both),
        "equal_recall": ("At equal recall", moved),
        "equal_alerts": ("At the same number of alerts", moved),
        "lowest_cost": ("At the lowest cost of each", f"{both}, cross-fitted"),
    }[point.kind]
    title = f"{truncate_name(point.run)}: {title[0].lower()}{title[1:]}" if several else title
    costs = () if point.cost is None else (cost_cell(point.cost),)
    return Cell(title, sub=how), counts_cell(point.found), counts_cell(point.false_positives), *costs


def cost_cell(found: MatchedCount) -> Cell:
    """Return a cost of baseline and run, with their difference and its interval in one number of decimals.

    Examples
    --------
    >>> cell = cost_cell(MatchedCount((78.2, 183.1), -104.9, -120.3, -89.5, "better"))
    >>> cell.words, cell.sub
    ('183 → 78', '105 lower, better (90 to 120)')
    """
    known = found.low is not None and found.high is not None
    places = decimals(found.low, found.high, "number", *found.values) if known else None  # type: ignore[arg-type]
    before, after = (format_decimals(value, places, "number") for value in found.values[::-1])
    gap = f"{format_decimals(abs(found.difference), places, 'number')} {'higher' if found.difference > 0 else 'lower'}"
    gap = gap if found.difference else "no difference"
    limits = "" if not known else _limits(found, places or 0)
    text = say("{before} → *{after}*", before=before, after=after)
    return Cell(text, SIGNIFICANT.get(found.verdict, "none"), sub=gap + _verdict_words(found) + limits)


def counts_cell(found: MatchedCount) -> Cell:
    """Return a count of baseline and run, with their difference in words and its interval.

    Examples
    --------
    >>> cell = counts_cell(MatchedCount((232, 276), -44, -63.07, -24.9, "worse"))
    >>> cell.words, cell.sub, cell.look
    ('276 → 232', '44 fewer, worse (25 to 63)', 'wrong')
    >>> counts_cell(MatchedCount((5, 0), 5, 0.42, 9.6, "worse")).sub
    '5 more, worse (0.4 to 9.6)'
    """
    after, before = (
        float(round(value)) for value in found.values
    )  # means over deals and weights are not whole
    text = say("{before:count} → *{after:count}*", before=before, after=after)
    if found.verdict == "equal_by_design":
        return Cell(text, "none", sub="equal by design")
    gap = f"{count(abs(after - before))} {'more' if after > before else 'fewer'}"
    gap = gap if after != before else "no difference"
    return Cell(
        text, SIGNIFICANT.get(found.verdict, "none"), sub=gap + _verdict_words(found) + _limits(found)
    )


def _verdict_words(found: MatchedCount) -> str:
    return {"undefined": ""}.get(found.verdict, ", " + found.verdict.replace("_", " "))


def _limits(found: MatchedCount, places: int = 0) -> str:
    """The interval in whole rows; with signs where it contains zero."""
    if found.low is None or found.high is None:
        return ""
    low, high = found.low, found.high
    if low < 0 < high:
        return f" ({format_fixed(low, places)} to {'+'}{format_fixed(high, places)})"
    near, far = sorted((abs(low), abs(high)))
    while 0 < near < 0.5 * 10.0**-places and places < FINEST:  # an interval without 0 shows none
        places += 1
    return f" ({format_fixed(near, places)} to {format_fixed(far, places)})"


def points_section(comparison: Comparison) -> Section | None:
    """Return the runs at matched operating points; with more than two runs the table is folded."""
    table = points_table(comparison)
    if table is None:
        return None
    part = table if len(comparison.names) == 2 else Folded("Each run at matched operating points", (table,))
    summary = say("At equal recall, or equal numbers of alerts, only the models differ.")
    return Section.from_parts("points", "Matched operating points", "Matched operating points", summary, part)


@dataclass(frozen=True)
class AlertSide:
    """One run at one number of alerts: its name, prefix of its ids, threshold and two-by-two table."""

    name: str
    prefix: str
    threshold: str
    four: ConfusionTable


@dataclass(frozen=True)
class AlertSlider:
    """The slider over alerts per 1,000 rows, both runs at its position, and some positions as a table."""

    shown: str
    start: int
    last: int
    presets: tuple[Preset, ...]
    ticks: tuple[tuple[float, str], ...]
    sides: tuple[AlertSide, AlertSide]
    sentence: str
    values: Table


def matched_section(comparison: Comparison) -> Section | None:
    """Return two binary runs at the same number of alerts; None unless both scored the same rows."""
    _, _, pairing = comparison.pairings[0]
    whole_pair = pairing.kind == "paired" and not pairing.only_run and not pairing.only_baseline
    if len(comparison.names) != 2 or not whole_pair or not comparison.alerts:
        return None
    found, ev = comparison.alerts[0], comparison.evaluations[0]
    if not found.positives:
        return None
    presets = tuple(_presets(found))
    start = presets[0].place
    # the baseline comes first: the other run is the candidate
    names = (found.baseline, found.run)
    body = AlertSlider(
        shown=_per_thousand(found, start),
        start=start,
        last=len(found.places) - 1,
        presets=presets,
        ticks=_ticks(found),
        sides=(_side(ev, names[0], "base", found, 1, start), _side(ev, names[1], "run", found, 0, start)),
        sentence=alert_sentence(found, start, positive(ev)),
        values=_values(found),
    )
    title = "The same number of alerts"
    summary = say("The slider moves both runs.")
    summary += of_weights(ev)
    data = {
        "a": whole(np.array([place.alerts for place in found.places])),
        "n": found.rows,
        "P": found.positives,
        "names": list(names),
        "what": positive(ev),
        "sides": [_side_data(found, side) for side in (1, 0)],
    }
    return Section("matched", title, title, "matched", summary, body, data)


def _side_data(found: AlertList, side: int) -> dict[str, list[float | None]]:
    at = [place.thresholds[side] for place in found.places]
    return {
        "t": [None if np.isinf(t) else float(f"{t:.9g}") for t in at],
        "found": [*whole(np.array([place.found.values[side] for place in found.places]))],
        "false_positives": [*whole(np.array([place.false_positives[side] for place in found.places]))],
    }


def _place(found: AlertList, alerts: float) -> int:
    """The position of a number of alerts."""
    every = [place.alerts for place in found.places]
    return min(int(np.searchsorted(every, alerts - 1e-9)), len(every) - 1)


def _presets(found: AlertList) -> Iterator[Preset]:
    for name, alerts, key in zip((found.run, found.baseline), found.own, ("run", "base"), strict=True):
        if alerts:
            yield Preset(key, f"{truncate_name(name)}’s own", _place(found, alerts))
    yield Preset("events", "As many as positives", _place(found, found.positives))
    for rate in (10, 100):
        yield Preset(f"{rate}", f"{rate} per 1,000", _place(found, round(rate * found.rows / 1000)))


def _ticks(found: AlertList) -> tuple[tuple[float, str], ...]:
    """Positions of the ticks in percent of the slider, which is logarithmic."""
    shown = [1000 * place.alerts / found.rows for place in found.places]
    inside = [tick for tick in TICKS if shown[0] <= tick * (1 + 1e-9) and tick <= shown[-1] * (1 + 1e-9)]
    last = len(shown) - 1
    return tuple(
        (round(100 * float(np.interp(np.log(tick), np.log(shown), range(last + 1))) / last, 2), count(tick))
        for tick in inside
    )


def _per_thousand(found: AlertList, place: int) -> str:
    value = 1000 * found.places[place].alerts / found.rows
    return format_fixed(value, 0 if value >= 100 or value.is_integer() else 1)


def _side(ev: Evaluation, name: str, prefix: str, found: AlertList, side: int, place: int) -> AlertSide:
    here = found.places[place]
    tp, fp = here.found.values[side], here.false_positives[side]
    positives, negatives = (display_label(ev, label) for label in ev.space.display_labels[::-1])
    missed, left = found.positives - tp, found.rows - found.positives - fp
    four = ConfusionTable(positives, negatives, count(tp), count(missed), count(fp), count(left))
    return AlertSide(name, prefix, _threshold(here.thresholds[side]), four)


def _threshold(at: float) -> str:
    return "above all" if np.isinf(at) else threshold_text(at)


def alert_sentence(found: AlertList, place: int, what: str) -> str:
    """Return which run finds more at a number of alerts."""
    here = found.places[place]
    more = here.found.difference
    gap = "as many" if not more else f"{count(abs(more))} {'more' if more > 0 else 'fewer'}"
    run, base = (count(n) for n in here.found.values)
    counts = f"{run} and {base} of {count(found.positives)} {what}"
    return f"With at most {count(here.alerts)} alerts each, {found.run} finds {gap}: {counts}."


def _values(found: AlertList) -> Table:
    named = {
        _place(found, alerts): f"{name}’s own"
        for name, alerts in zip((found.baseline, found.run), found.own[::-1], strict=True)
        if alerts
    }
    places = sorted({*(_place(found, round(rate * found.rows / 1000)) for rate in PER_THOUSAND), *named})
    first = ("Alerts per 1,000", f"Found: {found.baseline} → {found.run}")
    heads = (*first, *(f"Threshold, {name}" for name in (found.baseline, found.run)))
    rows: list[Row] = []
    for place in places:
        here = found.places[place]
        first_cell = Cell(_per_thousand(found, place), sub=named.get(place, ""))
        rows.append((first_cell, counts_cell(here.found), *map(_threshold, here.thresholds[::-1])))
    return Table.from_rows("matched-values", "Both runs at numbers of alerts", heads, rows)

"""Pictures of the first screen: bars of right and wrong, misses against false positives, classes by recall."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from evalreport.core.format import count
from evalreport.core.format import threshold as threshold_text
from evalreport.core.result import Estimate
from evalreport.core.sentences import Sentence, say, truncate_name
from evalreport.data.labels import Binary, Multiclass
from evalreport.evaluation.evaluation import Evaluation
from evalreport.evaluation.parts import ClassResult
from evalreport.findings.scores import RecommendedThreshold, recommend_threshold
from evalreport.page.elements import PagePart
from evalreport.page.evaluation_terms import (
    display_label,
    four_counts,
    is_text,
    one_threshold,
    positive,
    units,
    unread,
)

FEW = 6
"""Classes up to which each has a bar of its own."""
INSIDE = 26.0
"""Part of a bar, in per cent, from which on its words have room in it."""
LEFT, RIGHT, TOP, BOTTOM = 9.0, 99.0, 14.0, 166.0
"""Ends of a plot: per cent of the width, pixels of the height."""

Look: TypeAlias = Literal["ok", "no", "none"]


@dataclass(frozen=True)
class BarPart:
    """A part of a bar: where it begins and how wide it is in per cent, and its words with their place."""

    look: Look
    start: float
    width: float
    number: str
    words: str
    at: float
    end: bool


@dataclass(frozen=True)
class CountBar:
    """One bar with its name; a thin one is what another threshold would do."""

    name: str
    parts: tuple[BarPart, ...]
    thin: bool = False


@dataclass(frozen=True)
class CountBars:
    """What is right and what is wrong, in counts.

    Parameters
    ----------
    bars : tuple of CountBar
    description : Sentence
    key : tuple of (look, number, words)
        In place of words inside the bars.
    """

    kind: ClassVar[str] = "bars"
    bars: tuple[CountBar, ...]
    description: Sentence
    key: tuple[tuple[Look, str, str], ...] = ()


def make_bar(
    name: str, parts: Sequence[tuple[Look, float, str]], *, thin: bool = False, words: bool = True
) -> CountBar:
    """Return a bar of parts that add up to the whole; the first is named at the left, the last at the right.

    Examples
    --------
    >>> bar = make_bar("spam", [("ok", 30, "found"), ("no", 10, "missed")])
    >>> [(part.start, part.width, part.at, part.end) for part in bar.parts]
    [(0.0, 75.0, 0.0, False), (75.0, 25.0, 75.0, True)]
    """
    whole = sum(n for _, n, _ in parts) or 1.0
    made, start = [], 0.0
    widths = [100 * n / whole for _, n, _ in parts]
    for place, ((look, n, text), width) in enumerate(zip(parts, widths, strict=True)):
        last = place == len(parts) - 1 and place > 0
        at = (100.0 if width >= INSIDE else start) if last else 0.0 if width >= INSIDE else width
        shown = words and (place == 0 or last) and not (n == 0 and last)
        made.append(
            BarPart(
                look,
                round(start, 2),
                round(width, 2),
                count(n) if shown else "",
                text if shown else "",
                round(at, 2),
                last,
            )
        )
        start += width
    return CountBar(name, tuple(made), thin)


def make_bars(ev: Evaluation) -> CountBars | None:
    """Return the bars of an evaluation; None without decisions."""
    ev, better = ev.in_rows(), recommend_threshold(ev)
    counts = four_counts(ev)
    if counts is not None and not unread(ev):
        return _binary(ev, better)
    if isinstance(ev.space, Binary | Multiclass):
        return _classes(ev)
    return _labels(ev) if ev.classes else None


def _binary(ev: Evaluation, better: RecommendedThreshold | None) -> CountBars | None:
    c = four_counts(ev)
    if c is None:
        return None
    names = display_label(ev, ev.space.display_labels[1]), display_label(ev, ev.space.display_labels[0])
    flagged = "false positive" if c.fp == 1 else "false positives"
    bars = [make_bar(names[0], [("ok", c.tp, "found"), ("no", c.fn, "missed")])]
    other = make_bar(names[1], [("ok", c.tn, "correct"), ("no", c.fp, flagged)])
    if better is not None and not ev.weighted:
        name, p, n = "recommended", better.now.positives, better.now.negatives
        bars.append(make_bar(name, [("ok", better.tp, ""), ("no", p - better.tp, "")], thin=True))
        bars += [other, make_bar(name, [("ok", n - better.fp, ""), ("no", better.fp, "")], thin=True)]
    else:
        bars.append(other)
    words = "Of {p:count} {positive} {tp:count} are found and {fn:count} missed. "
    words += "Of {n:count} {negative} {fp:count} are false positives."
    description = say(
        words,
        {"p": c.positives, "tp": c.tp, "fn": c.fn, "n": c.negatives, "fp": c.fp},
        positive=names[0],
        negative=names[1],
    )
    return CountBars(tuple(bars), description)


def _classes(ev: Evaluation) -> CountBars | None:
    if ev.confusion is None:
        return None
    right, lost = float(ev.confusion.marginals.tp.sum()), unread(ev)
    wrong = ev.confusion.total - right - lost
    parts: list[tuple[Look, float, str]] = [("ok", right, "right"), ("no", wrong, "wrong")]
    if is_text(ev):
        parts.append(("none", lost, "unparsed"))
    bars = [make_bar(units(ev).capitalize(), parts, words=not is_text(ev))]
    known = sorted((c for c in ev.classes if c.support), key=lambda c: c.right / c.support)
    if len(ev.space) <= FEW and not is_text(ev):
        bars += [
            make_bar(truncate_name(str(c.label), 18), [("ok", c.right, ""), ("no", c.support - c.right, "")])
            for c in known
        ]
    description = say(
        "Of {n:count} {units} {right:count} are right and {wrong:count} wrong.",
        {"n": ev.confusion.total, "right": right, "wrong": wrong + lost},
        units=units(ev),
    )
    key = tuple((look, count(n), text) for look, n, text in parts) if is_text(ev) else ()
    return CountBars(tuple(bars), description, key)


def _labels(ev: Evaluation) -> CountBars:
    true, made, right = (
        sum(getattr(entry, name) for entry in ev.classes) for name in ("support", "predicted", "right")
    )
    return CountBars(
        (
            make_bar("True labels", [("ok", right, "found"), ("no", true - right, "missed")]),
            make_bar("Predicted", [("ok", right, "correct"), ("no", made - right, "added")]),
        ),
        say(
            "Of {wanted:count} true labels {hit:count} are found; of {added:count} predicted labels {wrong:count} are wrong.",
            {"wanted": true, "hit": right, "added": made, "wrong": made - right},
        ),
    )


@dataclass(frozen=True)
class Tick:
    """A mark of an axis: its place and its text."""

    at: float
    text: str


@dataclass(frozen=True)
class Mark:
    """A threshold on the price curve: its place, its name, and the side of the name."""

    look: Literal["now", "best"]
    x: float
    y: float
    name: str
    end: bool


@dataclass(frozen=True)
class Price:
    """Misses against false positives by threshold; false positives on a logarithmic axis."""

    kind: ClassVar[str] = "price"
    id: str
    title: str
    description: Sentence
    path: str
    x: tuple[Tick, ...]
    y: tuple[Tick, ...]
    marks: tuple[Mark, ...]


def make_price(ev: Evaluation) -> Price | None:
    """Return what each threshold costs; None without scores, or where rows weigh."""
    if not isinstance(ev.space, Binary) or ev.sweep is None or ev.weighted or len(ev.sweep) < 2:
        return None
    points = ev.sweep.counts_at_threshold(ev.sweep.thresholds)
    tp, fp = np.asarray(points.tp, float), np.asarray(points.fp, float)
    p, n = float(ev.sweep.positives), float(ev.sweep.negatives)
    if not p or not n:
        return None
    better, now = recommend_threshold(ev), four_counts(ev)
    marks = [] if now is None else [("now", one_threshold(ev), float(now.tp), float(now.fp))]
    if better is not None:
        marks.append(("best", better.threshold, better.tp, better.fp))
    most = min(p, max([1.3 * (p - t) for _, _, t, _ in marks] or [p]) or p)
    order = np.lexsort((-tp, fp))
    least = np.minimum.accumulate(p - tp[order])
    first = np.append(True, np.diff(least) < 0) & (least <= most)  # the fewest misses up to each count
    xs, ys = _across(fp[order][first], n), _up(least[first], most)
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in zip(xs.tolist(), ys.tolist(), strict=True))
    return Price(
        "price",
        "Misses and false positives by threshold",
        say("Missed {what} against false positives, threshold by threshold.", what=positive(ev)),
        path,
        tuple(Tick(float(_across(np.array([at]), n)[0]), count(at)) for at in _powers(n)),
        tuple(Tick(float(_up(np.array([at]), most)[0]), count(at)) for at in _even(most)),
        tuple(_mark(look, at, t, f, (p, n, most)) for look, at, t, f in marks),
    )


def _across(fp: np.ndarray, n: float) -> np.ndarray:
    placed: np.ndarray = LEFT + (RIGHT - LEFT) * np.log1p(fp) / math.log1p(n)
    return placed


def _up(missed: np.ndarray, most: float) -> np.ndarray:
    placed: np.ndarray = TOP + (BOTTOM - TOP) * np.minimum(missed / most, 1.0)
    return placed


def _powers(n: float) -> list[float]:
    return [0.0, *(10.0**k for k in range(1, int(math.log10(max(n, 1))) + 1, 2))]


def _even(most: float) -> list[float]:
    step = 10.0 ** math.floor(math.log10(max(most, 1) / 2))
    step *= next(m for m in (1, 2, 5, 10) if most / (m * step) < 2)
    step = max(step, 1.0)
    return [step * k for k in range(int(most / step) + 1)]


def _mark(look: str, at: float | None, tp: float, fp: float, ends: tuple[float, float, float]) -> Mark:
    p, n, most = ends
    x, y = float(_across(np.array([fp]), n)[0]), float(_up(np.array([p - tp]), most)[0])
    name = "" if at is None else f" {threshold_text(at)}"
    return Mark(
        "now" if look == "now" else "best",
        round(x, 2),
        round(y, 1),
        ("In use" if look == "now" else "Recommended") + name,
        x > 50,
    )


@dataclass(frozen=True)
class Strip:
    """All classes by recall, hardest left, with their intervals."""

    kind: ClassVar[str] = "strip"
    id: str
    title: str
    description: Sentence
    dots: str
    whiskers: str
    y: tuple[Tick, ...]
    first: str
    last: str


DRAWN = 400
"""Classes above which no strip is drawn: a class would be less than two pixels wide."""


def make_strip(ev: Evaluation) -> Strip | None:
    """Return all classes by recall; None for two classes, and for very many."""
    known = [entry for entry in ev.classes if entry.support]
    if isinstance(ev.space, Binary) or not 1 < len(known) <= DRAWN:
        return None
    known.sort(key=lambda entry: (entry.right / entry.support, -entry.support))
    one, noun = ("label", "labels") if ev.task == "multilabel" else ("class", "classes")
    step = (RIGHT - LEFT) / len(known)
    places = [LEFT + step * (k + 0.5) for k in range(len(known))]
    return Strip(
        "strip",
        f"Recall of each {one}, hardest first",
        say(
            "Recall of {occurring:count} {noun} with intervals, the lowest first.",
            occurring=len(known),
            noun=noun,
        ),
        "".join(f"M{x:.1f} {_height(c.right / c.support)}h0" for x, c in zip(places, known, strict=True)),
        "".join(_whisker(c, x) for x, c in zip(places, known, strict=True)),
        tuple(Tick(_height(at), f"{100 * at:g}%") for at in (0.0, 0.5, 1.0)),
        truncate_name(str(known[0].label), 24),
        truncate_name(str(known[-1].label), 24),
    )


def _height(value: float) -> float:
    return round(BOTTOM - (BOTTOM - TOP) * value, 1)


def _whisker(entry: ClassResult, x: float) -> str:
    recall = entry.metrics.get("recall")
    if not isinstance(recall, Estimate) or recall.low is None or recall.high is None:
        return ""
    return f"M{x:.1f} {_height(recall.low)}V{_height(recall.high)}"


def pictures(ev: Evaluation) -> tuple[PagePart | None, PagePart | None]:
    """Return the bars, and beside them the price of thresholds or the strip of classes."""
    return make_bars(ev), make_price(ev) or make_strip(ev)

"""The scores of both classes as a histogram over the threshold, with a flag for each named threshold."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from evalreport.facts.counts import Array
from evalreport.format import threshold as threshold_text
from evalreport.panels.chart import nice_step, tick_text
from evalreport.panels.operating import NamedThreshold
from evalreport.panels.words import Sentence, say
from evalreport.thresholds.sweep import Sweep

WIDTH = 1000.0
"""Units from end to end, which are places of the slider, too."""
BINS = 50
"""Columns of the histogram: 2% each, as probabilities are mostly thought of."""
UP, DOWN = 100.0, 70.0
"""Heights of the greatest column of positives and of negatives."""
LINE = 20
"""Height of a flag."""
NEAR = 12.0
"""Units between two flags below which they cannot be told apart: 7 pixels of 600."""
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
        Path data of positives and negatives, each on a square-root scale of its own.
    flags : tuple of Flag
        Leftmost first, a line each.
    ticks : tuple of (place, text)
    at : float
        Place of the threshold.
    description : Sentence
    """

    up: str
    down: str
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
        low, high, values = self._scaled(self.low), self._scaled(self.high), self._scaled(thresholds)
        placed: Array = ((values - low) / (high - low) * WIDTH).clip(0, WIDTH).round(1)
        return placed

    def _scaled(self, thresholds: Array | float) -> Array:
        values = np.asarray(thresholds, dtype=np.float64)
        if self.clip is None:
            return values
        inside = values.clip(self.clip, 1 - self.clip)
        odds: Array = np.log(inside / (1 - inside))
        return odds

    @property
    def edges(self) -> Array:
        """Thresholds between the columns."""
        even = np.linspace(self._scaled(self.low), self._scaled(self.high), BINS + 1)
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
        return tuple(_apart(every))


def _apart(ticks: Iterable[tuple[float, str]]) -> Iterator[tuple[float, str]]:
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
    """Return the ruler of a figure: log-odds where named probabilities lie too close to be told apart."""
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
    counts = sweep.at(rule.edges[:-1])
    positives, negatives = (np.append(np.asarray(c, float), 0.0) for c in (counts.tp, counts.fp))
    positives[0], negatives[0] = sweep.positives, sweep.negatives
    positive, negative = names
    return ScoresFigure(
        _columns(-np.diff(positives), -UP),
        _columns(-np.diff(negatives), DOWN),
        _flags(found, rule),
        rule.ticks,
        float(rule.places(np.array([at]))[0]),
        positive,
        negative,
        say(
            "Scores of {positive} above the line and of {negative} below it, each on a square-root scale of "
            "its own, with the thresholds that are named below.",
            {"positive": positive, "negative": negative},
        ),
    )


def _columns(weights: Array, height: float) -> str:
    roots = np.sqrt(weights.clip(0)) / max(math.sqrt(weights.max(initial=0.0)), 1e-12) * height
    wide = WIDTH / BINS
    return "".join(
        f"M{place * wide + 1:g} {UP:g}v{root:.1f}h{wide - 2:g}V{UP:g}z"
        for place, root in enumerate(roots.tolist())
        if abs(root) >= 0.05
    )


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

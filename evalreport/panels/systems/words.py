"""What a comparison of systems says in sentences, for the page, the terminal and the notebook alike."""

from __future__ import annotations

from itertools import pairwise

from evalreport.comparison.system_values import SystemDifference, SystemsComparison
from evalreport.estimates import gap
from evalreport.format import Style, at, decimals
from evalreport.metrics.catalogue import find
from evalreport.metrics.record import Metric
from evalreport.panels.comparison.stated import in_words, style_of
from evalreport.panels.words import NOTHING, Number, Run, Sentence, bracketed, joined, paragraph, say

WHATEVER = 0.95
"""Share of the pairs of runs in which a system has to be ahead for it to be "whatever the seed"."""


def main_metric(found: SystemsComparison) -> Metric:
    """Return the metric that the verdict is about."""
    return find(found.primary, found.task)


def headline(found: SystemsComparison) -> Sentence:
    """Return which system beats the next one, by how much, and whether the seed decides."""
    d = found.of(found.primary)[0]

    if d.verdict == "better":
        words = f"{{d.run:short}} *beats* {{d.baseline:short}} in {main_metric(found).title} by {{gap}}"
        told = say(words, {"d": d}, gap=by_how_much(d, main_metric(found)))
        return joined(told, _whatever(found, d), say("."))
    return apart(found, d)


def apart(found: SystemsComparison, d: SystemDifference) -> Sentence:
    """Return that two systems cannot be told apart, or what one beats the other by."""
    first, second = "{d.run:short}", "{d.baseline:short}"
    if d.difference is None or d.limits is None:
        words = f"{first} and {second} cannot be compared: {{why}}."
        return say(words, {"d": d}, why=d.reason or "no interval")
    words, gap = f"{first} and {second} *cannot be told apart*: {{gap}}", in_words(d)
    if d.verdict == "better":
        words, gap = f"{first} beats {second} by {{gap}}", by_how_much(d, main_metric(found))
    return joined(say(words, {"d": d}, gap=gap), _ahead(d), say("."))


def by_how_much(d: SystemDifference, metric: Metric) -> Sentence:
    """Return a demonstrated difference as a size, better being more, with its interval."""
    sign = -1 if metric.better == "lower" else 1
    value, (low, high) = sign * (d.difference or 0.0), sorted(sign * end for end in d.limits or (0.0, 0.0))
    shown, limits = (text.replace("+", "") for text in gap(value, low, high, style_of(d)))
    return bracketed(shown, limits, gap=value, low=low, high=high)


def _whatever(found: SystemsComparison, d: SystemDifference) -> Sentence:
    seeds = min(len(one.runs) for one in found.systems if one.system in (d.run, d.baseline))
    if d.pairs is None or d.pairs.ahead < WHATEVER * d.pairs.of or seeds < 2:
        return _ahead(d)
    return say(", whatever the seed: in {ahead:count} of {of:count} pairs of runs", _counts(d))


def _ahead(d: SystemDifference) -> Sentence:
    if d.pairs is None or d.pairs.of < 2:
        return NOTHING
    tied = " and level in {ties:count}" if d.pairs.ties else ""
    return say(", ahead in {ahead:count}" + tied + " of {of:count} pairs of runs", _counts(d))


def _counts(d: SystemDifference) -> dict[str, float | str | Sentence]:
    pairs = d.pairs
    return {} if pairs is None else {"ahead": pairs.ahead, "ties": pairs.ties, "of": pairs.of}


def summary(found: SystemsComparison) -> Sentence:
    """Return what becomes of the other neighbours, how much one run may flatter, and the correction."""
    main = found.of(found.primary)
    names = [one.system for one in found.systems]
    after = {(a, b) for a, b in pairwise(names[1:])}
    others = [apart(found, d) for d in main if (d.run, d.baseline) in after]
    return paragraph(*others, _flattery(found), _corrected(found))


def _flattery(found: SystemsComparison) -> Sentence:
    known = [
        (value.best_run_flatters, one.system, len(one.runs), value)
        for one in found.systems
        if (value := one.metrics[found.primary]).best_run_flatters
    ]
    if not known:
        return NOTHING
    most, system, runs, value = max(known, key=lambda entry: entry[0] or 0.0)
    size = points(most or 0.0, value.low, value.high, main_metric(found).style)
    gaps = [abs(d.difference) for d in found.of(found.primary) if d.difference is not None]
    end = ": report the mean of the runs, not the best."
    if min(gaps, default=0.0) < (most or 0.0):
        end = ", more than two of the systems are apart: report the mean of the runs."
    words = "The best of {runs:count} runs of {system:short} looks {size} better than the system"
    return say(words + end, runs=runs, system=system, size=size)


def points(value: float, low: float | None, high: float | None, style: Style) -> Sentence:
    """Return the size of a difference with a decimal more than the interval that it stands beside has."""
    places = None if low is None or high is None else decimals(low, high, style)
    shown = at(value, None if places is None else places + 1, style).replace("%", " points")
    return Sentence((Run(shown),), (Number("size", value, shown),))


def _corrected(found: SystemsComparison) -> Sentence:
    pairs = len(found.of(found.primary))
    if pairs == 1:
        return NOTHING
    return say("Intervals of differences allow for {pairs:count} pairs of systems (Holm).", pairs=pairs)


def verdict(d: SystemDifference) -> str:
    """Return what is demonstrated of a pair.

    Examples
    --------
    >>> verdict(SystemDifference("f1", "a", "b", (0.8, 0.7), 0.1, 0.02, 0.18, verdict="better"))
    'demonstrated'
    """
    if d.verdict == "undefined":
        return d.reason or "undefined"
    return "demonstrated" if d.demonstrated else "not demonstrated"


def pairs_ahead(d: SystemDifference) -> str:
    """Return in how many pairs of runs the first system is ahead, "–" where there is no direction."""
    if d.pairs is None:
        return "–"
    ties = f", {d.pairs.ties:,} level" if d.pairs.ties else ""
    return f"{d.pairs.ahead:,} of {d.pairs.of:,}{ties}"

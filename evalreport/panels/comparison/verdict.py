"""The first screen of a comparison: which run is better, how sure that is, and the differences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from evalreport.comparison.values import Comparison, Difference
from evalreport.format import plural
from evalreport.metrics.catalogue import find
from evalreport.panels.comparison.stated import stated, style_of
from evalreport.panels.comparison.words import (
    against,
    because,
    detectable,
    headline,
    p_value,
    same_matching,
    title_of_metric,
    verdict,
)
from evalreport.panels.intervals import Forest, ForestRow, forest_row
from evalreport.panels.parts import Heading, PagePart, Section
from evalreport.panels.words import NOTHING, Sentence, paragraph, say
from evalreport.values import Estimate, Result, Undefined

ROWS = 24
"""Most rows of one forest table."""
SPANS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Ends that the axis of differences may have."""


@dataclass(frozen=True)
class Versus:
    """Kicker, headline, lede and the differences."""

    runs: int
    kicker: tuple[str, ...]
    headline: Sentence
    lede: Sentence
    forest: Forest
    note: Sentence
    notes: tuple[str, ...]


def panel(comparison: Comparison) -> Section:
    """Return the verdict: of two runs every difference, of more the primary metric of each pair."""
    two = len(comparison.pairings) == 1
    found = comparison.differences if two else comparison.of(comparison.primary)
    body = Versus(
        runs=len(comparison.names),
        kicker=_kicker(comparison),
        headline=headline(comparison),
        lede=lede(comparison),
        forest=forest(comparison, found[:ROWS], by_pair=not two),
        note=_left_out(len(found)),
        notes=comparison.notes,
    )
    return Section("verdict", "Verdict", "Verdict", "versus", NOTHING, body)


def _kicker(comparison: Comparison) -> tuple[str, ...]:
    task = comparison.evaluations[0].task
    if comparison.baseline is None:
        return (task, "all against all")
    return (task, f"baseline {comparison.names[comparison.baseline]}")


def _left_out(found: int) -> Sentence:
    if found <= ROWS:
        return NOTHING
    return say("{left:count} more pairs are in the JSON.", left=found - ROWS)


def lede(comparison: Comparison) -> Sentence:
    """Return what the verdict rests on: the examples that moved, and how the runs were matched."""
    return paragraph(
        against(comparison),
        _moved(comparison),
        _could(comparison),
        same_matching(comparison),
        _several(comparison),
    )


def _moved(comparison: Comparison) -> Sentence:
    if len(comparison.pairings) != 1 or not comparison.movement:
        return NOTHING
    (moved,) = comparison.movement
    words = say(
        "{run} is right on {fixed:count} {units} that {base} gets wrong, and wrong on {broken:count} that "
        "{base} gets right",
        run=moved.run,
        base=moved.baseline,
        fixed=moved.fixed,
        units=plural(moved.fixed, comparison.unit),
        broken=moved.broken,
    )
    tests = [p_value(test.p) for test in comparison.mcnemar]
    return joined(words, *tests, say("."))


def joined(*parts: Sentence) -> Sentence:
    """Return parts of one sentence, without spaces between.

    Examples
    --------
    >>> joined(say("a"), say("b")).text
    'ab'
    """
    return Sentence(
        tuple(run for part in parts for run in part.runs),
        tuple(number for part in parts for number in part.numbers),
    )


def _could(comparison: Comparison) -> Sentence:
    (first, *others) = comparison.of(comparison.primary)
    if others or first.verdict != "not_demonstrated" or first.detectable is None:
        return NOTHING
    return say(
        "A difference of {difference} would be demonstrated with {power:percent} probability.",
        difference=detectable(first, first.detectable),
        power=first.detectable.power,
    )


def _several(comparison: Comparison) -> Sentence:
    pairs = len(comparison.pairings)
    if pairs == 1:
        return NOTHING
    return say("Verdicts are corrected for {pairs:count} comparisons (Holm).", pairs=pairs)


def forest(comparison: Comparison, found: Sequence[Difference], *, by_pair: bool = False) -> Forest:
    """Return differences with their intervals around a line at zero.

    Parameters
    ----------
    by_pair : bool
        Whether the rows are pairs of runs, else metrics.
    """
    span = _span(found)
    ends = f"{span:g}"
    level = f"{comparison.evaluations[0].sampling.level * 100:.10g}% interval"
    return Forest(
        rows=tuple(_row(comparison, d, span, by_pair=by_pair) for d in found),
        ticks=((0, "−" + ends), (500, "0"), (1000, "+" + ends)),
        heads=("Run" if by_pair else "Metric", "Difference", level, "Baseline"),
    )


def _span(found: Iterable[Difference]) -> float:
    """The axis: of differences of scores between 0 and 1, round; what lies beyond is marked."""
    ends = [
        abs(end)
        for d in found
        for end in (*(d.limits or ()), d.difference)
        if end is not None and find(d.metric).high <= 1
    ]
    return next((span for span in SPANS if span >= max(ends, default=1.0)), 1.0)


def _row(comparison: Comparison, d: Difference, span: float, *, by_pair: bool) -> ForestRow:
    title = _pair(comparison, d) if by_pair else title_of_metric(comparison, d.metric)
    row = forest_row(
        d.metric,
        title,
        NOTHING if d.verdict == "undefined" else _gloss(comparison, d),
        result(d),
        style_of(d),
        reference=0.0,
        axis=(-span, span),
        difference=True,
    )
    return replace(row, reference=stated(d).before)


def _pair(comparison: Comparison, d: Difference) -> str:
    return d.run if comparison.baseline is not None else f"{d.run} against {d.baseline}"


def _gloss(comparison: Comparison, d: Difference) -> Sentence:
    lower = find(d.metric, comparison.evaluations[0].task).better == "lower"
    return joined(verdict(d), say("; lower is better" if lower else ""))


def result(d: Difference) -> Result:
    """Return a difference as an estimate."""
    if d.difference is None:
        return Undefined(because(d))
    low, high = d.limits or (None, None)
    return Estimate(d.difference, 0, low, high, d.method)


def pairs(comparison: Comparison) -> Section | None:
    """Return every difference, pair by pair; of two runs they stand in the verdict already."""
    if len(comparison.pairings) == 1 or comparison.baseline is None:
        return None
    parts: list[PagePart] = []
    for run, base, _ in comparison.pairings:
        own = [d for d in comparison.differences if d.run == run]
        parts += [Heading(f"{run} against {base}"), forest(comparison, own)]
    lede = say("Run minus baseline; the line is at zero.")
    return Section.of("differences", "Differences", "Every difference from the baseline", lede, *parts)

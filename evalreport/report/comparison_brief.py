"""A comparison in a few lines, for a notebook."""

from __future__ import annotations

from dataclasses import dataclass

from evalreport.comparison.values import Comparison, Difference
from evalreport.panels.comparison.stated import stated
from evalreport.panels.comparison.words import headline, same_matching, verdict

MOST = 40
"""Rows that are shown."""


@dataclass(frozen=True)
class ComparisonBrief:
    """What a small table of a comparison says: its verdict, a row per difference, how runs were matched."""

    headline: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    matched: str
    notes: tuple[str, ...]


def comparison_brief(comparison: Comparison) -> ComparisonBrief:
    """Return every difference of two runs; of more, those by the primary metric.

    Parameters
    ----------
    comparison : Comparison
    """
    two = len(comparison.pairings) == 1
    chosen = comparison.differences if two else comparison.of(comparison.primary)
    names = (chosen[0].baseline, chosen[0].run) if two else ("baseline", "run")
    more = len(chosen) - MOST
    tail = f" {more} more pairs: .differences" if more > 0 else ""
    return ComparisonBrief(
        headline=headline(comparison).text,
        heads=(
            "metric" if two else "pair",
            *names,
            "difference",
            f"{comparison.level * 100:.10g}%",
            "verdict",
        ),
        rows=tuple(_row(d, two=two) for d in chosen[:MOST]),
        matched=(same_matching(comparison).text or "Pairs were matched differently: .pairings") + tail,
        notes=comparison.notes,
    )


def _row(d: Difference, *, two: bool) -> tuple[str, ...]:
    shown = stated(d)
    name = d.metric if two else f"{d.run} against {d.baseline}"
    return (name, shown.before, shown.after, shown.gap, shown.limits, verdict(d).text)

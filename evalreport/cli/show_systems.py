"""How a comparison of systems is printed in a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from evalreport.cli.columns import aligned, indented
from evalreport.cli.console import Console
from evalreport.estimates import interval, valued
from evalreport.format import percent
from evalreport.panels.comparison.stated import stated
from evalreport.panels.systems.verdict import result_of
from evalreport.panels.systems.words import headline, main_metric, pairs_ahead, points, summary, verdict
from evalreport.values import Estimate

if TYPE_CHECKING:
    from evalreport.comparison.system_values import SystemResult, SystemsComparison


def print_systems(console: Console, found: SystemsComparison, line: Callable[[str], None]) -> None:
    """Print a comparison of systems: notes on stderr, figures and verdicts by `line`."""
    for note in found.notes:
        console.warn(note)
    line(headline(found).text)
    for sentence in filter(None, (summary(found).text,)):
        line(sentence)
    heads = ["", "runs", main_metric(found).title.lower(), f"{found.level * 100:.10g}%", "best run +"]
    heads += ["rows", "seeds", "both", "answers change"]
    table = [heads, *(_system(found, one) for one in found.systems)]
    for text in ("", *_indented(table), "", *_pairs(found)):
        line(text)


def _system(found: SystemsComparison, one: SystemResult) -> list[str]:
    value, result = one.metrics[found.primary], result_of(one, found)
    style, shares = main_metric(found).style, value.variance
    flattery = value.best_run_flatters
    return [
        one.system,
        str(len(one.runs)),
        valued(result, style) if isinstance(result, Estimate) else "–",
        interval(result, style),
        "–" if flattery is None else points(flattery, value.low, value.high, style).text,
        *(["–"] * 3 if shares is None else map(percent, (shares.rows, shares.seeds, shares.both))),
        "–" if one.churn is None else percent(one.churn.any, found.rows),
    ]


def _pairs(found: SystemsComparison) -> Iterator[str]:
    rows = [["", "difference", "", "ahead in", ""]]
    for d in found.of(found.primary):
        shown = stated(d)
        rows.append([f"{d.run} − {d.baseline}", shown.gap, shown.limits, pairs_ahead(d), verdict(d)])
    yield from _indented(rows)


def _indented(rows: list[list[str]]) -> list[str]:
    return indented(aligned(rows, {0, len(rows[0]) - 1} if len(rows[0]) == 5 else {0}))

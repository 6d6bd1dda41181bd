"""How a comparison is printed in a terminal: figures in columns, then the verdicts in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from evalreport.cli.columns import aligned, indented
from evalreport.cli.console import Console
from evalreport.cli.gate import result_lines
from evalreport.comparison.compare import MOST_RUNS
from evalreport.estimates import interval, shown_value, valued
from evalreport.format import percent, plural
from evalreport.gate.results import tally
from evalreport.metrics.catalogue import find
from evalreport.panels.comparison.stated import stated
from evalreport.panels.comparison.words import (
    against,
    headline,
    matching,
    mistakes,
    positive_label,
    same_matching,
    verdict,
)

if TYPE_CHECKING:
    from evalreport.comparison.values import Comparison, Difference
    from evalreport.workflow.compare import Compared

WIDE = 5
"""Runs that stand side by side in one table."""
NAME = 18
"""Letters of a run's name above its column."""
MOST_PARTS = 5
"""Classes and slices that are printed of each pair."""


def print_comparison(console: Console, done: Compared, line: Callable[[str], None]) -> None:
    """Print a comparison: warnings and the pairing on stderr, figures and verdicts by `line`."""
    found = done.comparison
    for note in found.notes:
        console.warn(note)
    for sentence in _unpaired(found):
        console.warn(sentence)
    line(headline(found).text)
    if len(found.names) > 2:
        _print(line, ["", *_ranking(found)])
    if len(found.names) > MOST_RUNS:
        line(same_matching(found).text)
        return
    if len(found.names) > 2:
        _print(line, ["", *_values(found)])
    blocks = _primary_only(found) if found.baseline is None and len(found.names) > 3 else _pairs(found)
    for block in blocks:
        _print(line, ["", *block])
    _print(line, _crossings(found))
    matched = same_matching(found)
    told = [matched] if matched else [matching(*how, found.unit) for how in found.pairings]
    label = positive_label(found)
    positive = [f"{label[0].upper()}{label[1:]}."] if label else []
    _print(line, ["", *(sentence.text for sentence in told), *positive, *_rules(done)])


def _crossings(found: Comparison) -> list[str]:
    """Where the better of two runs changes with how many alarms are allowed."""
    return [
        f"ROC curves of {one.run} and {one.baseline} cross at a false-alarm rate of {percent(one.fpr)}: "
        f"below it {one.ahead_below} finds more on these {found.unit[1]}, above it {one.ahead_above}"
        for one in found.crossings
    ]


def _print(out: Callable[[str], None], lines: Iterable[str]) -> None:
    for line in lines:
        out(line)


def _unpaired(found: Comparison) -> list[str]:
    return [matching(*entry, found.unit).text for entry in found.pairings if entry[2].kind == "unpaired"]


def _values(found: Comparison) -> Iterator[str]:
    """A column per run; over five runs, five at a time."""
    metrics = list(dict.fromkeys(d.metric for d in found.differences))
    for start in range(0, len(found.names), WIDE):
        part = range(start, min(start + WIDE, len(found.names)))
        head = ["", *(_cut(found.names[place]) for place in part)]
        rows = [[name, *(_value(found, place, name) for place in part)] for name in metrics]
        yield from indented(aligned([head, *rows]))


def _value(found: Comparison, place: int, metric: str) -> str:
    result = found.evaluations[place].metrics.get(metric)
    return shown_value(result, find(metric).style)


def _pairs(found: Comparison) -> Iterator[list[str]]:
    tests = {(test.run, test.baseline): test for test in found.mcnemar}
    moves = {(moved.run, moved.baseline): moved for moved in found.movement}
    for run, base, how in found.pairings:
        mine = [d for d in found.differences if (d.run, d.baseline) == (run, base)]
        basis = (
            f"paired, {how.n_shared:,} shared {plural(how.n_shared, found.unit)}"
            if how.kind == "paired"
            else "unpaired"
        )
        level = f"{found.evaluations[0].sampling.level * 100:.10g}%"
        head = ["", _cut(base), _cut(run), "difference", f"{level} ({basis})", ""]
        lines = _aligned([head, *map(_row, mine)])
        if (run, base) in moves:
            lines.append("  " + mistakes(moves[run, base], tests.get((run, base))).text)
        yield [*lines, *_parts(found, run, base)]


def _row(d: Difference) -> list[str]:
    shown = stated(d)
    limits = "" if d.limits is None else shown.limits
    return [d.metric, shown.before, shown.after, shown.gap, limits, verdict(d).text]


def _parts(found: Comparison, run: str, base: str) -> list[str]:
    """Classes and slices of which a difference is demonstrated, the largest first."""
    mine = [d for d in found.parts if (d.run, d.baseline) == (run, base) and d.demonstrated]
    if not mine:
        return []
    more = f"; {len(mine) - MOST_PARTS} more in the page and the JSON" if len(mine) > MOST_PARTS else ""
    rows = [[f"{d.scope}, {d.metric}", *_row(d)[1:]] for d in mine[:MOST_PARTS]]
    return [f"  demonstrated by class or slice (Holm){more}", *_aligned(rows)]


def _primary_only(found: Comparison) -> Iterator[list[str]]:
    rows = [[f"{d.run} against {d.baseline}", *_row(d)[3:]] for d in found.of(found.primary)]
    yield _aligned([[f"{found.primary}, all pairs", "difference", "", ""], *rows])


def _ranking(found: Comparison) -> Iterator[str]:
    """The runs by the primary metric, with the ranks that are left to each, and which are the best."""
    rows = [["", found.primary, "", "ranks", ""]]
    style = find(found.primary).style
    for entry in found.ranking:
        value, limits = "–", ""
        if entry.value is not None:
            value = valued(entry.result, style)
            limits = "" if entry.low is None else interval(entry.result, style)
        group = "best group" if entry.best_group else ""
        rows.append([entry.run, value, limits, entry.shown_ranks, group])
    yield from _aligned(rows)
    if found.baseline is not None:
        yield against(found).text


def _rules(done: Compared) -> Iterator[str]:
    """The rules run by run, as `check` prints them."""
    results = tuple(result for run in done.checked for result in run.results)
    for run in done.checked:
        yield from [run.name] if len(done.checked) > 1 else []
        yield from result_lines(run.results)
    if results:
        yield tally(results)


def _cut(name: str) -> str:
    return name if len(name) <= NAME else name[: NAME - 1] + "…"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows in columns: the first to the left, figures to the right, the last as it is."""
    last = len(rows[0]) - 1
    return indented(aligned(rows, {0, last} if last > 2 else {0}))

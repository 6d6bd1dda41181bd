"""How a comparison is printed: the verdict, a table, and the pairing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from evalreport.cli.console import Console, align_columns, emphasised, indent_lines, with_colors
from evalreport.comparison.compare import MOST_RUNS
from evalreport.core.estimate_format import shown_value
from evalreport.core.format import percent
from evalreport.metrics.catalogue import find
from evalreport.page.comparison.sentences import (
    baseline_tally,
    headline,
    mistake_counts,
    pairing_sentence,
    positive_label,
    shared_pairing,
)
from evalreport.page.comparison.table import (
    DIFFERENCE_COLUMNS,
    RANKING_COLUMNS,
    comparison_ranking,
    head_texts,
    row_texts,
)

if TYPE_CHECKING:
    from evalreport.comparison.comparison import Comparison, Difference
    from evalreport.workflow.compare import Compared

WIDE = 5
"""Runs in one table, a column each."""
NAME = 18
"""Characters of a run's name in the head of its column."""
VERDICTS = {"better": "green", "worse": "red"}
"""Colours of words of a verdict on a terminal."""
MOST_PARTS = 5
"""Classes and slices that are printed for each pair."""


def print_comparison(console: Console, done: Compared, line: Callable[[str], None]) -> None:
    """Print a comparison by `line`, and its warnings on stderr.

    Of more than two runs one table is printed; with -v also every metric and every pair.
    """
    found = done.comparison
    for note in found.notes:
        console.warn(note)
    for sentence in _unpaired(found):
        console.warn(sentence)
    line(emphasised(headline(found).text))
    several = len(found.names) > 2
    if several:
        _print(line, ["", *_ranking(found)])
    if len(found.names) > MOST_RUNS:
        line(shared_pairing(found).text)
        return
    if several and console.verbosity > 0:
        _print(line, ["", *_values(found)])
    if not several or console.verbosity > 0:
        every = found.baseline is None and len(found.names) > 3
        for block in _primary_only(found) if every else _pairs(found):
            _print(line, ["", *block])
        _print(line, _crossings(found))
    matched = shared_pairing(found)
    pairings = [matched] if matched else [pairing_sentence(*how, found.unit) for how in found.pairings]
    label = positive_label(found)
    positive = [f"{label[0].upper()}{label[1:]}."] if label else []
    rules = () if done.checks is None else done.checks.lines()
    _print(line, ["", *(sentence.text for sentence in pairings), *positive, *rules])


def _crossings(found: Comparison) -> list[str]:
    """The false-positive rates at which the ROC curves of two runs cross."""
    return [
        f"ROC curves of {one.run} and {one.baseline} cross at a false-positive rate of {percent(one.fpr)}: "
        f"below it {one.ahead_below} finds more on these {found.unit[1]}, above it {one.ahead_above}"
        for one in found.crossings
    ]


def _print(out: Callable[[str], None], lines: Iterable[str]) -> None:
    for line in lines:
        out(line)


def _unpaired(found: Comparison) -> list[str]:
    return [
        pairing_sentence(*entry, found.unit).text for entry in found.pairings if entry[2].kind == "unpaired"
    ]


def _values(found: Comparison) -> Iterator[str]:
    """A column per run; over five runs, five at a time."""
    metrics = list(dict.fromkeys(d.metric for d in found.differences))
    for start in range(0, len(found.names), WIDE):
        part = range(start, min(start + WIDE, len(found.names)))
        head = ["", *(_cut(found.names[place]) for place in part)]
        rows = [[name, *(_value(found, place, name) for place in part)] for name in metrics]
        yield from indent_lines(align_columns([head, *rows]))


def _value(found: Comparison, place: int, metric: str) -> str:
    result = found.evaluations[place].metrics.get(metric)
    return shown_value(result, find(metric).style)


def _pairs(found: Comparison) -> Iterator[list[str]]:
    tests = {(test.run, test.baseline): test for test in found.mcnemar}
    moves = {(moved.run, moved.baseline): moved for moved in found.movement}
    for run, base, how in found.pairings:
        mine = [d for d in found.differences if (d.run, d.baseline) == (run, base)]
        level = f"{found.evaluations[0].sampling.level * 100:.10g}%"
        unpaired = "" if how.kind == "paired" else " unpaired"
        known = {"baseline": _cut(base), "run": _cut(run), "level": f"{level}{unpaired}"}
        head = ["", *head_texts(DIFFERENCE_COLUMNS, known, short=True)]
        lines = _align_rows([head, *([d.metric, *_row(d)] for d in mine)])
        if (run, base) in moves:
            lines.append("  " + mistake_counts(moves[run, base], tests.get((run, base))).text)
        yield [*lines, *_parts(found, run, base)]


def _row(d: Difference) -> list[str]:
    return list(row_texts(DIFFERENCE_COLUMNS, d).values())


def _parts(found: Comparison, run: str, base: str) -> list[str]:
    """Classes and slices with a significant difference, the largest first."""
    mine = [d for d in found.parts if (d.run, d.baseline) == (run, base) and d.is_significant]
    if not mine:
        return []
    more = f"; {len(mine) - MOST_PARTS} more in the page and the JSON" if len(mine) > MOST_PARTS else ""
    rows = [[f"{d.scope}, {d.metric}", *_row(d)] for d in mine[:MOST_PARTS]]
    return [f"  significant differences by class or slice (Holm){more}", *_align_rows(rows)]


def _primary_only(found: Comparison) -> Iterator[list[str]]:
    rows = [[f"{d.run} against {d.baseline}", *_row(d)] for d in found.differences_for(found.primary)]
    known = {"level": f"{found.level * 100:.10g}%", "baseline": "baseline", "run": "run"}
    head = [f"{found.primary}, all pairs", *head_texts(DIFFERENCE_COLUMNS, known, short=True)]
    yield _align_rows([head, *rows])


def _ranking(found: Comparison) -> Iterator[str]:
    """The runs by the primary metric, with the possible ranks of each, and which runs tie for best."""
    known = {"level": f"{found.level * 100:.10g}%", "metric": found.primary}
    rows = [["", *head_texts(RANKING_COLUMNS, known, short=True)]]
    rows += [[row.entry.run, *row_texts(RANKING_COLUMNS, row).values()] for row in comparison_ranking(found)]
    yield from _align_rows(rows)
    if found.baseline is not None:
        yield baseline_tally(found).text


def _cut(name: str) -> str:
    return name if len(name) <= NAME else name[: NAME - 1] + "…"


def _align_rows(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows in columns: the first to the left, figures to the right, the last as it is."""
    last = len(rows[0]) - 1
    lines = indent_lines(align_columns(rows, {0, last} if last > 2 else {0}))
    return [with_colors(line, VERDICTS) for line in lines]

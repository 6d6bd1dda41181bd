"""What a reader of a comparison of systems must know before the numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from evalreport.comparison.notes import equal_answers
from evalreport.comparison.system_values import SystemsComparison
from evalreport.format import counted
from evalreport.predictions import Predictions

HALF = 0.5
"""Share of a run's rows that all runs have: below it the comparison may be of another population."""


def system_notes(found: SystemsComparison, runs: Sequence[Sequence[Predictions]]) -> tuple[str, ...]:
    """Return sentences on rows that are not shared, few runs, cross-validations, and runs that are the same.

    Parameters
    ----------
    found : SystemsComparison
    runs : sequence of the runs of each system, on the shared rows
    """
    return (*_rows(found), *_few(found), *_folded(found, runs), *_same(found, runs))


def _rows(found: SystemsComparison) -> Iterator[str]:
    gaps = [(name, lost) for name, lost in found.left_out.items() if lost]
    if not gaps:
        return
    name, most = max(gaps, key=lambda gap: gap[1])
    lead = f"Compared on the {found.rows:,} {found.unit[1]} that all runs have; "
    yield f"{lead}{len(gaps)} of {counted(len(found.left_out), 'run')} have more, “{name}” {most:,}."
    if found.rows < HALF * (found.rows + most):
        yield f"That is under half of the {found.unit[1]} of “{name}”: the rest may be easier or harder."


def _few(found: SystemsComparison) -> Iterator[str]:
    for one in found.systems:
        if len(one.runs) == 1:
            yield f"“{one.system}” is one run: its interval covers new {found.unit[1]} alone, seeds unknown."
        if len(one.runs) == 2:
            yield f"“{one.system}” has two runs: what two seeds tell is little, so its intervals are wide."


def _folded(found: SystemsComparison, runs: Sequence[Sequence[Predictions]]) -> Iterator[str]:
    if any(p.folds is not None for own in runs for p in own):
        yield (
            f"Runs are cross-validations: intervals hold for models that are trained on these "
            f"{found.unit[1]}; trained on others they vary more."
        )


def _same(found: SystemsComparison, runs: Sequence[Sequence[Predictions]]) -> Iterator[str]:
    for one, own in zip(found.systems, runs, strict=True):
        again = sum(equal_answers(a, b) for a, b in combinations(own, 2))
        if again:
            what = "all its runs" if again == len(own) * (len(own) - 1) // 2 else "some of its runs"
            yield f"“{one.system}”: {what} are the same predictions, so the seed changes nothing there."

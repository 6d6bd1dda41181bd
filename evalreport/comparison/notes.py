"""What a reader of a comparison must know before the numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from evalreport.comparison.system_values import SystemsComparison
from evalreport.errors import some_of
from evalreport.evaluation.model import Evaluation
from evalreport.format import counted
from evalreport.predictions import Predictions
from evalreport.scores import NoScores


def notes(names: Sequence[str], evaluations: Sequence[Evaluation]) -> tuple[str, ...]:
    """Return sentences on runs that are the same, label sets and thresholds that are not, and weights.

    Examples
    --------
    >>> from evalreport.evaluation.evaluate import evaluate_predictions
    >>> from evalreport.labels import Binary
    >>> from evalreport.predictions import predictions
    >>> ev = evaluate_predictions(predictions(Binary(0, 1), [0, 1], [0, 0]))
    >>> notes(["a", "b"], [ev, ev])
    ('“a” and “b” are the same predictions: no difference can be demonstrated.',)
    """
    ways = (_same, _labels, _thresholds, _remarks, _backwards)
    return tuple(sentence for way in ways for sentence in way(names, evaluations))


def _same(names: Sequence[str], evaluations: Sequence[Evaluation]) -> Iterator[str]:
    for (a, x), (b, y) in combinations(zip(names, evaluations, strict=True), 2):
        if same_predictions(x, y):
            yield f"“{a}” and “{b}” are the same predictions: no difference can be demonstrated."


def same_predictions(a: Evaluation, b: Evaluation) -> bool:
    """Return whether two evaluations are of the same answers and scores to the same examples."""
    if a.predictions is None or b.predictions is None:
        return bool(a.provenance.sha256) and (
            (a.provenance.sha256, a.provenance.columns) == (b.provenance.sha256, b.provenance.columns)
        )
    return a.predictions is b.predictions or equal_answers(a.predictions, b.predictions)


def equal_answers(a: Predictions, b: Predictions) -> bool:
    """Return whether two runs have the same answers and scores."""
    if a.space != b.space or len(a) != len(b) or not np.array_equal(a.y_true, b.y_true):
        return False
    if (a.y_pred is None) != (b.y_pred is None):
        return False
    if a.y_pred is not None and b.y_pred is not None and not np.array_equal(a.y_pred, b.y_pred):
        return False
    if isinstance(a.scores, NoScores) or isinstance(b.scores, NoScores):
        return type(a.scores) is type(b.scores)
    return np.array_equal(a.scores.values, b.scores.values)


def _labels(names: Sequence[str], evaluations: Sequence[Evaluation]) -> Iterator[str]:
    sets = [set(ev.space.names) for ev in evaluations]
    whole = set().union(*sets)
    for name, known in zip(names, sets, strict=True):
        missing = sorted(whole - known)
        if missing:
            shown = some_of([f"“{label}”" for label in missing])
            yield f"“{name}” does not know {shown}: compared over the union of the label sets."


def _thresholds(names: Sequence[str], evaluations: Sequence[Evaluation]) -> Iterator[str]:
    values = [None if ev.threshold is None else ev.threshold.value for ev in evaluations]
    known = [(name, value) for name, value in zip(names, values, strict=True) if isinstance(value, float)]
    if len({value for _, value in known}) > 1:
        told = ", ".join(f"“{name}” at {value:.4g}" for name, value in known)
        yield f"The runs decide at different thresholds: {told}."


def _remarks(names: Sequence[str], evaluations: Sequence[Evaluation]) -> Iterator[str]:
    """Say what is known of the rows of each run; once where it is the same of all."""
    of_all = [remark for remark in evaluations[0].remarks if all(remark in ev.remarks for ev in evaluations)]
    yield from (f"{remark} (in all runs)." for remark in of_all)
    for name, ev in zip(names, evaluations, strict=True):
        yield from (f"“{name}”: {remark}." for remark in ev.remarks if remark not in of_all)


def _backwards(names: Sequence[str], evaluations: Sequence[Evaluation]) -> Iterator[str]:
    """Say which runs are worse than chance, and how to turn them: what is compared may be another label."""
    turned = [
        (name, finding.action)
        for name, ev in zip(names, evaluations, strict=True)
        for finding in ev.findings
        if finding.rule == "inverted"
    ]
    if turned:
        who = some_of([f"“{name}”" for name, _ in turned])
        yield f"Worse than chance beyond doubt: {who}. {turned[0][1]}"


HALF = 0.5
"""Share of a run's rows that all runs have: below it the comparison may be of another population."""


def system_notes(found: SystemsComparison, runs: Sequence[Sequence[Predictions]]) -> tuple[str, ...]:
    """Return sentences on rows that are not shared, few runs, cross-validations, and runs that are the same.

    Parameters
    ----------
    found : SystemsComparison
    runs : sequence of the runs of each system, on the shared rows
    """
    return (*_rows(found), *_few(found), *_folded(found, runs), *_same_answers(found, runs))


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


def _same_answers(found: SystemsComparison, runs: Sequence[Sequence[Predictions]]) -> Iterator[str]:
    for one, own in zip(found.systems, runs, strict=True):
        again = sum(equal_answers(a, b) for a, b in combinations(own, 2))
        if again:
            what = "all its runs" if again == len(own) * (len(own) - 1) // 2 else "some of its runs"
            yield f"“{one.system}”: {what} are the same predictions, so the seed changes nothing there."

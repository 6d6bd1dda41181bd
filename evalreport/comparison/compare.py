"""Several evaluations against a baseline, or all against all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from evalreport.comparison.differences import Sides, paired_difference, unpaired_difference
from evalreport.comparison.movement import movement, right
from evalreport.comparison.pairing import Pair, pair
from evalreport.comparison.parts import part_differences
from evalreport.comparison.values import Comparison, DelongResult, Difference, McNemarResult
from evalreport.errors import UsageError
from evalreport.evaluation.model import Evaluation
from evalreport.intervals.significance import holm, mcnemar, paired_delong
from evalreport.labels import Binary
from evalreport.metrics.catalogue import COMPARED, find
from evalreport.metrics.record import Metric
from evalreport.scores import NoScores

MOST_RUNS = 20
PRIMARY = {
    "binary": ("roc_auc", "mcc"),
    "multiclass": ("accuracy",),
    "multilabel": ("f1_micro", "average_precision_macro"),
}


def compare(
    evaluations: Sequence[Evaluation],
    baseline: int | None = 0,
    *,
    names: Sequence[str] | None = None,
    metrics: Sequence[str] = (),
) -> Comparison:
    """Compare runs, paired wherever the same examples are proven.

    Parameters
    ----------
    evaluations : two to twenty evaluations
    baseline : int or None
        Position of the run that the others are held against; None compares all with all.
    names : sequence of str, optional
        What to call the runs; their own names otherwise, made distinct.
    metrics : sequence of str
        Instead of the headline metrics.

    Raises
    ------
    UsageError
        Fewer than two or more than twenty runs, or different tasks.
    DataError
        The same example has another truth in two runs.

    Examples
    --------
    >>> from evalreport.evaluation.evaluate import evaluate_predictions
    >>> from evalreport.labels import Multiclass
    >>> from evalreport.predictions import predictions
    >>> truth = ["a", "b"] * 20
    >>> runs = [predictions(Multiclass("ab"), truth, answer) for answer in (["a"] * 40, truth)]
    >>> result = compare([evaluate_predictions(run) for run in runs])
    >>> result.of("accuracy")[0].verdict
    'better'
    """
    if not 2 <= len(evaluations) <= MOST_RUNS:
        raise UsageError(
            f"{len(evaluations)} runs cannot be compared", fix=f"name 2 to {MOST_RUNS} runs or files"
        )
    called = _distinct(names or [_name(ev, place) for place, ev in enumerate(evaluations)])
    chosen = [find(name, evaluations[0].task) for name in metrics or COMPARED[evaluations[0].task]]
    chosen = [metric for metric in chosen if all(metric.name in ev.metrics for ev in evaluations)]
    order = _pairs(len(evaluations), baseline)
    pairs = [pair(evaluations[a], evaluations[b]) for a, b in order]
    both = [(called[a], called[b]) for a, b in order]
    results = [
        _compared(matched, (evaluations[a], evaluations[b]), two, chosen)
        for matched, (a, b), two in zip(pairs, order, both, strict=True)
    ]
    level = evaluations[0].sampling.level
    differences = judged([d for part in results for d in part], chosen, level)
    primary = _primary(evaluations, chosen)
    tests = [_tests(matched, two) for matched, two in zip(pairs, both, strict=True)]
    return Comparison(
        names=tuple(called),
        evaluations=tuple(evaluations),
        baseline=baseline,
        primary=primary,
        pairings=tuple((*two, matched.pairing) for two, matched in zip(both, pairs, strict=True)),
        differences=tuple(differences),
        parts=tuple(
            part
            for matched, two in zip(pairs, both, strict=True)
            for part in part_differences(matched, two, evaluations[0].sampling)
        ),
        mcnemar=tuple(test for test, _ in tests if test is not None),
        delong=tuple(test for _, test in tests if test is not None),
        movement=tuple(
            movement(matched.run, matched.baseline, two)
            for matched, two in zip(pairs, both, strict=True)
            if matched.run is not None
            and matched.baseline is not None
            and matched.run.y_pred is not None
            and matched.baseline.y_pred is not None
        ),
        groups=_groups(called, evaluations, differences, primary) if baseline is None else (),
    )


def _name(ev: Evaluation, place: int) -> str:
    return ev.provenance.title or ev.provenance.run_name or ev.provenance.source or f"run {place + 1}"


def _distinct(names: Sequence[str]) -> list[str]:
    found: list[str] = []
    for name in names:
        again = sum(other == name or other.startswith(f"{name} (") for other in found)
        found.append(f"{name} ({again + 1})" if again else name)
    return found


def _pairs(count: int, baseline: int | None) -> list[tuple[int, int]]:
    if baseline is None:
        return [(b, a) for a, b in combinations(range(count), 2)]
    return [(place, baseline) for place in range(count) if place != baseline]


def _compared(
    matched: Pair,
    evaluations: tuple[Evaluation, Evaluation],
    names: tuple[str, str],
    metrics: Sequence[Metric],
) -> list[Difference]:
    sampling = evaluations[0].sampling
    if matched.run is not None and matched.baseline is not None:
        sides = Sides.of(matched.run, matched.baseline)
        return [paired_difference(metric, sides, names, sampling) for metric in metrics]
    return [
        unpaired_difference(
            metric,
            (evaluations[0].metrics[metric.name], evaluations[1].metrics[metric.name]),
            names,
            sampling,
        )
        for metric in metrics
    ]


def judged(differences: Sequence[Difference], metrics: Sequence[Metric], level: float) -> list[Difference]:
    """Return the differences with Holm-adjusted p-values and their verdicts, in the given order.

    The family of the correction is one metric over all pairs of runs.
    """
    adjusted: dict[int, float] = {}
    for metric in metrics:
        family = [i for i, d in enumerate(differences) if d.metric == metric.name and d.p is not None]
        p = holm([differences[i].p or 0.0 for i in family]) if family else []
        adjusted.update(zip(family, p, strict=True))
    better = {metric.name: metric.better for metric in metrics}
    return [
        _judge(replace(entry, p_adjusted=adjusted.get(place)), better[entry.metric], level)
        for place, entry in enumerate(differences)
    ]


def _judge(entry: Difference, better: str, level: float) -> Difference:
    if entry.difference is None or entry.low is None or entry.high is None:
        return entry
    excluded = entry.low > 0 or entry.high < 0
    shown = excluded and (entry.p_adjusted is None or entry.p_adjusted <= 1 - level)
    if not shown or better not in ("higher", "lower"):
        return replace(entry, verdict="no difference shown")
    return replace(entry, verdict="better" if (entry.difference > 0) == (better == "higher") else "worse")


def _tests(matched: Pair, names: tuple[str, str]) -> tuple[McNemarResult | None, DelongResult | None]:
    a, b = matched.run, matched.baseline
    if a is None or b is None:
        return None, None
    counts = None
    if a.y_pred is not None and b.y_pred is not None:
        first, second = right(a), right(b)
        test = mcnemar(int((first & ~second).sum()), int((second & ~first).sum()))
        counts = McNemarResult(*names, test.only1, test.only2, test.p, test.p_mid)
    if not isinstance(a.space, Binary) or isinstance(a.scores, NoScores) or isinstance(b.scores, NoScores):
        return counts, None
    positive = a.y_true.astype(bool)
    if min(positive.sum(), (~positive).sum()) < 2:
        return counts, None
    auc = paired_delong(a.scores.values, b.scores.values, positive)
    z = auc.difference / auc.standard_error if auc.standard_error else None
    return counts, DelongResult(*names, z, None if np.isnan(auc.p) else auc.p)


def _primary(evaluations: Sequence[Evaluation], metrics: Sequence[Metric]) -> str:
    for name in PRIMARY[evaluations[0].task]:
        if all(name in ev.metrics and ev.metrics[name].value is not None for ev in evaluations):
            return name
    return metrics[0].name if metrics else ""


def _groups(
    names: Sequence[str], evaluations: Sequence[Evaluation], differences: Sequence[Difference], primary: str
) -> tuple[tuple[str, ...], ...]:
    """Runs in order of the primary metric, in the longest groups within which no two are told apart."""
    lower = find(primary, evaluations[0].task).better == "lower"
    values = {name: ev.metrics[primary].value or 0.0 for name, ev in zip(names, evaluations, strict=True)}
    ranked = sorted(names, key=lambda name: values[name] * (1 if lower else -1))
    apart = {
        frozenset((d.run, d.baseline))
        for d in differences
        if d.metric == primary and d.verdict in ("better", "worse")
    }
    groups: list[tuple[str, ...]] = []
    for start in range(len(ranked)):
        end = start + 1
        while end < len(ranked) and all(frozenset((ranked[end], n)) not in apart for n in ranked[start:end]):
            end += 1
        if not groups or ranked[end - 1] != groups[-1][-1]:
            groups.append(tuple(ranked[start:end]))
    return tuple(groups)

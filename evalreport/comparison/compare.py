"""Several evaluations against a baseline, or all against all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from evalreport.comparison.alarms import roc_crossings
from evalreport.comparison.differences import InferredDifference, paired_difference, unpaired_difference
from evalreport.comparison.judging import Look, judged, pair_verdict, ranking
from evalreport.comparison.matching import MatchedRuns, matched_runs
from evalreport.comparison.movement import movement, right
from evalreport.comparison.notes import notes
from evalreport.comparison.pairing import Pairing, pair
from evalreport.comparison.parts import class_recalls, part_differences
from evalreport.comparison.samples import PairedSamples
from evalreport.comparison.values import (
    Comparison,
    DelongResult,
    Difference,
    McNemarResult,
    Movement,
    PairVerdict,
    RankedRun,
)
from evalreport.errors import EvalreportError, UsageError
from evalreport.evaluation.model import Evaluation
from evalreport.intervals.contributions import Counted
from evalreport.intervals.inversion import StudentCurve
from evalreport.intervals.significance import mcnemar
from evalreport.labels import Binary, Task
from evalreport.metrics.catalogue import find, telling
from evalreport.metrics.named_sets import COMPARED, ERROR_KINDS, PRIMARY
from evalreport.metrics.record import Metric
from evalreport.predictions import Predictions
from evalreport.scores import NoScores
from evalreport.thresholds.objectives import Costs
from evalreport.values import Estimate, Result, Undefined

MOST_RUNS = 20
"""Runs of which every detail is compared: 190 pairs, as many as a page can show and a reader follow (chosen
by hand; time and size grow with the square)."""
MOST_LISTED = 6
"""Pairs whose alarms are listed, each place by place: those of four runs."""
MOST_RANKED = 200
"""Runs that are ranked by one metric: each against the best and its neighbours, a row each."""


@dataclass(frozen=True, eq=False)
class Match:
    """Two runs, how they were matched, and their shared rows."""

    names: tuple[str, str]
    evaluations: tuple[Evaluation, Evaluation]
    pairing: Pairing
    samples: PairedSamples | None


def compare(
    evaluations: Sequence[Evaluation],
    baseline: int | None = 0,
    *,
    names: Sequence[str] | None = None,
    metrics: Sequence[str] = (),
    primary: str | None = None,
    unpaired: bool = False,
    details: bool = True,
    costs: Costs | None = None,
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
    primary : str, optional
        The metric that the verdict is about.
    unpaired : bool
        The runs were scored on other examples: nothing is matched.
    details : bool
        Whether classes, slices and operating points are compared, too.
    costs : Costs, optional
        What outcomes of two classes cost: runs are also matched where that is lowest.

    Raises
    ------
    UsageError
        Fewer than two or too many runs, different tasks, levels or label pairs, an unknown metric.
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
    level = comparable(evaluations, MOST_RUNS if details else MOST_RANKED)
    called = distinct(names or [name_of(ev, place) for place, ev in enumerate(evaluations)])
    chosen = headline_metrics(evaluations, metrics, primary)
    counted: dict[int, Counted] = {}
    matches = _matches(evaluations, called, _order(len(called), baseline), unpaired, counted)
    inferred = _inferred(matches, chosen, level)
    found = judged(inferred, {metric.name: metric.better for metric in chosen}, level)
    main = primary or _primary(evaluations[0].task, found)
    every = matches
    if baseline is not None and len(called) > 2:
        every = _matches(evaluations, called, _order(len(called), None), unpaired, counted)
    detailed = _detailed(matches) if details else ()
    joined = [(match.samples, match.names) for match in detailed if match.samples is not None]
    every_match = (matched_runs(samples, pair, costs) for samples, pair in joined)
    alike = [runs for runs in every_match if runs is not None]
    return Comparison(
        names=tuple(called),
        evaluations=tuple(evaluations),
        baseline=baseline,
        level=level,
        primary=main,
        pairings=tuple((*match.names, match.pairing) for match in matches),
        differences=found,
        parts=tuple(part for samples, pair in joined for part in part_differences(samples, pair)),
        mcnemar=tuple(told for match in matches if (told := _mcnemar(match)) is not None),
        delong=tuple(test for match in matches if (test := _delong(match)) is not None),
        movement=_movements(matches if len(called) <= MOST_RUNS else (), alike),
        verdicts=_verdicts(matches, inferred, main, level),
        costs=costs,
        matched=tuple(point for each in alike for point in each.points),
        alarms=tuple(each.alarms for each in alike) if len(alike) <= MOST_LISTED else (),
        crossings=tuple(one for samples, pair in joined for one in roc_crossings(samples, pair)),
        ranking=_ranking(every, evaluations, called, find(main, evaluations[0].task), level),
        notes=notes(called, evaluations),
    )


def comparable(evaluations: Sequence[Evaluation], most: int) -> float:
    """Return the level of all intervals.

    Raises
    ------
    UsageError
        Fewer than two or too many runs, or several levels.
    """
    if not 2 <= len(evaluations) <= most:
        some = f"{len(evaluations)} run{'' if len(evaluations) == 1 else 's'}"
        raise UsageError(f"{some} cannot be compared", fix=f"name 2 to {most} runs or files")
    levels = {ev.sampling.level for ev in evaluations}
    if len(levels) > 1:
        shown = " and ".join(f"{level:g}" for level in sorted(levels))
        raise UsageError(
            f"the runs have intervals of different confidence: {shown}",
            fix="evaluate them with one --confidence",
        )
    return levels.pop()


def name_of(ev: Evaluation, place: int) -> str:
    """Return what to call an evaluation that nobody named."""
    return ev.provenance.title or ev.provenance.run_name or ev.provenance.source or f"run {place + 1}"


def distinct(names: Sequence[str]) -> list[str]:
    """Return the names, numbered where one comes again.

    Examples
    --------
    >>> distinct(["a", "b", "a"])
    ['a', 'b', 'a (2)']
    """
    found: list[str] = []
    for name in names:
        number, called = 1, name
        while called in found:
            number += 1
            called = f"{name} ({number})"
        found.append(called)
    return found


def headline_metrics(
    evaluations: Sequence[Evaluation], names: Sequence[str], primary: str | None
) -> tuple[Metric, ...]:
    """Return the metrics of a comparison: those named, or the usual ones of the task."""
    task = evaluations[0].task
    text = any(ev.parsing is not None for ev in evaluations)
    usual = (*(COMPARED["text"] if text and task == "multiclass" else ()), *COMPARED[task])
    usual = telling(usual, evaluations[0].space)
    wanted = dict.fromkeys((*(names or usual), *([primary] if primary else [])))
    return tuple(find(name, task) for name in wanted)


def _primary(task: Task, differences: Sequence[Difference]) -> str:
    """The metric that the verdict is about: one that every run has."""
    undefined = {entry.metric for entry in differences if entry.difference is None}
    known = list(dict.fromkeys(d.metric for d in differences if d.metric not in undefined))
    wanted = (*(name for name in PRIMARY[task] if name in known), *known)
    return wanted[0] if wanted else differences[0].metric


def _matches(
    evaluations: Sequence[Evaluation],
    names: Sequence[str],
    order: Sequence[tuple[int, int]],
    unpaired: bool,
    counted: dict[int, Counted],
) -> list[Match]:
    found = []
    for a, b in order:
        try:
            both = evaluations[a], evaluations[b]
            matched = pair(*both, unpaired=unpaired, names=(names[a], names[b]))
        except EvalreportError as error:
            raise error.located(f"{names[a]} and {names[b]}") from error
        samples = None
        if matched.run is not None and matched.baseline is not None:
            rows = [_counted(counted, side) for side in (matched.run, matched.baseline)]
            samples = PairedSamples(rows[0], rows[1], evaluations[a].sampling)
        found.append(Match((names[a], names[b]), (evaluations[a], evaluations[b]), matched.pairing, samples))
    return found


def _order(count: int, baseline: int | None) -> list[tuple[int, int]]:
    if baseline is None:
        return [(b, a) for a, b in combinations(range(count), 2)]
    return [(place, baseline) for place in range(count) if place != baseline]


def _counted(known: dict[int, Counted], rows: Predictions) -> Counted:
    """Each set of rows is counted once; while it is known, no other object can have its id."""
    if id(rows) not in known:
        known[id(rows)] = Counted.of(rows)
    return known[id(rows)]


def _inferred(matches: Sequence[Match], metrics: Sequence[Metric], level: float) -> list[InferredDifference]:
    """Metric by metric, so that what rows contribute to one is worked out once for all pairs."""
    by_metric = [[_difference(metric, match, level) for match in matches] for metric in metrics]
    return [found for pairs in zip(*by_metric, strict=True) for found in pairs]


def _difference(metric: Metric, match: Match, level: float) -> InferredDifference:
    if match.samples is not None:
        return paired_difference(metric, match.samples, match.names)
    missing = Undefined("not in this evaluation")
    values = [ev.metrics.get(metric.name, missing) for ev in match.evaluations]
    return unpaired_difference(metric, (values[0], values[1]), match.names, level)


def _ranking(
    matches: Sequence[Match],
    evaluations: Sequence[Evaluation],
    names: Sequence[str],
    metric: Metric,
    level: float,
) -> tuple[RankedRun, ...]:
    """Rank the runs by the differences of all pairs; a value that an evaluation lacks is that of its pair."""
    pairs = judged(_inferred(matches, [metric], level), {metric.name: metric.better}, level)
    known = {name: value for d in pairs for name, value in zip((d.run, d.baseline), d.values, strict=True)}
    values: dict[str, Result] = {}
    for name, ev in zip(names, evaluations, strict=True):
        value = known.get(name)
        plain = Undefined("undefined") if value is None else Estimate(value, ev.weight)
        values[name] = ev.metrics.get(metric.name, plain)
    return ranking(values, pairs, metric.better)


def _verdicts(
    matches: Sequence[Match], inferred: Sequence[InferredDifference], primary: str, level: float
) -> tuple[PairVerdict, ...]:
    """Judge each pair by the primary metric and by each kind of error, whichever metrics were asked for."""
    space = matches[0].evaluations[0].space
    compared = {one.difference.metric for one in inferred}
    metrics = [find(name, space.task) for name in dict.fromkeys((primary, *ERROR_KINDS[space.task]))]
    missing = [metric for metric in metrics if metric.name not in compared]
    every = [*inferred, *_inferred(matches, missing, level)]
    by_metric = [
        _looks(metric, [one for one in every if one.difference.metric == metric.name]) for metric in metrics
    ]
    return tuple(
        pair_verdict(
            *match.names, level, [*(looks[place] for looks in by_metric), *_of_classes(match)], primary
        )
        for place, match in enumerate(matches)
    )


def _looks(metric: Metric, pairs: Sequence[InferredDifference]) -> list[Look]:
    """One metric of every pair; those without an interval are not in the family of its correction."""
    known = [one for one in pairs if one.curve is not None]
    family = tuple(one.difference.p or 0.0 for one in known)
    return [
        Look(metric.name, one, metric.better, family, known.index(one) if one in known else 0)
        for one in pairs
    ]


def _of_classes(match: Match) -> list[Look]:
    recalls = () if match.samples is None else class_recalls(match.samples, match.names)
    return [Look(f"recall[{label}]", one, "higher", (one.difference.p or 0.0,)) for label, one in recalls]


def _detailed(matches: Sequence[Match]) -> Sequence[Match]:
    """Pairs that are compared class by class: all, or of very many those with the first run."""
    return matches if len(matches) < MOST_RUNS else [m for m in matches if m.names[1] == matches[0].names[1]]


def _answers(match: Match) -> tuple[Predictions, Predictions] | None:
    if match.samples is None:
        return None
    run, baseline = match.samples.run.predictions, match.samples.baseline.predictions
    return None if run.y_pred is None or baseline.y_pred is None else (run, baseline)


def _movements(matches: Sequence[Match], alike: Sequence[MatchedRuns]) -> tuple[Movement, ...]:
    """What changed between the answers of each pair, binary runs at equal recall, too."""
    points = [point for each in alike for point in each.points if point.kind == "equal_recall"]
    matched = {(point.run, point.baseline): point.thresholds[0] for point in points}
    found = []
    for match in matches:
        both = _answers(match)
        withheld = any(ev.facts.get("withheld") for ev in match.evaluations)
        if both is not None:
            at = matched.get(match.names)
            found.append(movement(*both, match.names, withheld=withheld, equal_recall=at))
    return tuple(found)


def _mcnemar(match: Match) -> McNemarResult | None:
    """None of rows that weigh or belong together: it takes each for one more, and belies the interval."""
    both = _answers(match)
    if both is None or match.samples is None or not match.samples.plain:
        return None
    first, second = right(both[0]), right(both[1])
    only = int((first & ~second).sum()), int((second & ~first).sum())
    return McNemarResult(*match.names, *only, mcnemar(*only))


def _delong(match: Match) -> DelongResult | None:
    if match.samples is None or not match.samples.plain:
        return None
    run, baseline = match.samples.run.predictions, match.samples.baseline.predictions
    if isinstance(run.scores, NoScores) or isinstance(baseline.scores, NoScores):
        return None
    if not isinstance(run.space, Binary):
        return None
    curve = paired_difference(find("roc_auc", "binary"), match.samples, match.names).curve
    if not isinstance(curve, StudentCurve):
        return None
    z = curve.gap / curve.standard_error if curve.standard_error else None
    return DelongResult(*match.names, z, curve.p)

"""Compare several evaluations with a baseline, or all pairs: all rows, classes and slices, with caveats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.comparison.changed_predictions import agreement, correct_rows, count_changes
from evalreport.comparison.comparison import (
    CLASS,
    ChangedPredictions,
    Comparison,
    DelongResult,
    Difference,
    McNemarResult,
    Pairing,
    PairVerdict,
    RankedRun,
    pair,
)
from evalreport.comparison.differences import (
    FEWEST,
    FEWEST_OF_CLASS,
    InferredDifference,
    PairedSamples,
    VerdictInput,
    adjusted_verdicts,
    pair_verdict,
    paired_difference,
    ranking,
    unpaired_difference,
    with_interval,
)
from evalreport.comparison.matched_thresholds import MatchedRuns, matched_runs, roc_crossings
from evalreport.core.errors import EvalreportError, UsageError, some_of
from evalreport.core.extensions import installed_extension
from evalreport.core.result import Estimate, Result, Undefined
from evalreport.data.labels import Binary, Graded, LabelSpace, Multiclass
from evalreport.data.predictions import Predictions
from evalreport.data.scores import NoScores
from evalreport.evaluation.evaluation import Evaluation
from evalreport.evaluation.parts import WorseSlices, one_label
from evalreport.intervals.paired import (
    ScoreCurve,
    StudentCurve,
    drawn_curve,
    label_cells,
    marginal_counts,
    mcnemar,
    paired_draws,
)
from evalreport.intervals.row_influence import Counted
from evalreport.metrics.catalogue import COMPARED, ERROR_KINDS, HEADLINE, OF_ORDER, PRIMARY, find, telling
from evalreport.metrics.own import is_own
from evalreport.metrics.record import Metric
from evalreport.statistics.confusion import Array, BinaryCounts
from evalreport.thresholds.objectives import Costs


def notes(names: Sequence[str], evaluations: Sequence[Evaluation]) -> tuple[str, ...]:
    """Return caveats: identical runs, different label sets or thresholds, weights, inverted scores.

    Examples
    --------
    >>> from evalreport.evaluation.evaluate import evaluate_predictions
    >>> from evalreport.data.labels import Binary
    >>> from evalreport.data.predictions import predictions
    >>> ev = evaluate_predictions(predictions(Binary(0, 1), [0, 1], [0, 0]))
    >>> notes(["a", "b"], [ev, ev])
    ('“a” and “b” have the same predictions, so they do not differ.',)
    """
    return tuple(_sentences(names, evaluations))


def _sentences(names: Sequence[str], evaluations: Sequence[Evaluation]) -> Iterator[str]:
    runs = list(zip(names, evaluations, strict=True))
    for (a, x), (b, y) in combinations(runs, 2):
        if same_predictions(x, y):
            yield f"“{a}” and “{b}” have the same predictions, so they do not differ."
    whole = set().union(*(ev.space.names for ev in evaluations))
    for name, ev in runs:
        if missing := sorted(whole - set(ev.space.names)):
            shown = some_of([f"“{label}”" for label in missing])
            yield f"“{name}” lacks the labels {shown}: compared over the union of the label sets."
    values = [(name, None if ev.threshold is None else ev.threshold.value) for name, ev in runs]
    known = [(name, value) for name, value in values if isinstance(value, float)]
    if len({value for _, value in known}) > 1:
        shown = ", ".join(f"“{name}” {value:.4g}" for name, value in known)
        yield f"The runs use different thresholds: {shown}."
    of_all = [remark for remark in evaluations[0].remarks if all(remark in ev.remarks for ev in evaluations)]
    yield from (f"{remark} (in all runs)." for remark in of_all)
    for name, ev in runs:
        yield from (f"“{name}”: {remark}." for remark in ev.remarks if remark not in of_all)
    turned = [(name, one.action) for name, ev in runs for one in ev.findings if one.rule == "inverted"]
    if turned:  # the scores may belong to another label
        who = some_of([f"“{name}”" for name, _ in turned])
        yield f"Significantly worse than chance: {who}. {turned[0][1]}"


def same_predictions(a: Evaluation, b: Evaluation) -> bool:
    """Return whether two evaluations have the same predictions and scores for the same examples."""
    if a.predictions is None or b.predictions is None:
        return bool(a.provenance.sha256) and (
            (a.provenance.sha256, a.provenance.columns) == (b.provenance.sha256, b.provenance.columns)
        )
    return a.predictions is b.predictions or equal_predictions(a.predictions, b.predictions)


def equal_predictions(a: Predictions, b: Predictions) -> bool:
    """Return whether two runs have the same predictions and scores."""
    if a.space != b.space or len(a) != len(b) or not np.array_equal(a.y_true, b.y_true):
        return False
    if a.ids is not None and b.ids is not None and not np.array_equal(a.ids, b.ids):
        return False
    if (a.y_pred is None) != (b.y_pred is None):
        return False
    if a.y_pred is not None and b.y_pred is not None and not np.array_equal(a.y_pred, b.y_pred):
        return False
    if isinstance(a.scores, NoScores) or isinstance(b.scores, NoScores):
        return type(a.scores) is type(b.scores)
    return np.array_equal(a.scores.values, b.scores.values)


Codes: TypeAlias = npt.NDArray[np.integer]
COUNTED = tuple(find(name, "binary") for name in ("recall", "precision", "f1"))
"""Metrics of each class from predictions."""
RANKED = tuple(find(name, "binary") for name in ("roc_auc", "average_precision"))
"""Metrics of each class from scores."""
CELLS = 2_000_000
"""Most (row, class) cells for comparing scores class by class, which takes a sort for each class. Chosen for
speed, so that classes take a small part of a comparison's time."""
BLOCK = 40
"""Classes resampled at once: 40 tables of 18 cells of 2000 resamples are 12 MB."""


def part_differences(samples: PairedSamples, names: tuple[str, str]) -> tuple[Difference, ...]:
    """Return the differences of each class and each slice, corrected for their number, largest first.

    Classes and slices with fewer than ten examples are skipped.
    """
    space = samples.run.predictions.space
    classes = [] if isinstance(space, Binary | Graded) else list(_classes(samples, names))
    slices = list(_slices(samples, names))
    better = {metric.name: metric.better for metric in (*COUNTED, *RANKED)}
    headline = {name: find(name, space.task).better for name in telling(HEADLINE[space.task], space)}
    level = samples.sampling.level
    return (
        *_largest_first(adjusted_verdicts(classes, better, level)),
        *_largest_first(adjusted_verdicts(slices, headline, level)),
    )


def with_scope(found: InferredDifference, scope: str) -> InferredDifference:
    """Return a difference as that of a class or a slice."""
    return replace(found, difference=replace(found.difference, scope=scope))


def _largest_first(parts: tuple[Difference, ...]) -> list[Difference]:
    known = [part for part in parts if part.difference is not None]
    return sorted(known, key=lambda part: -abs(part.difference or 0.0))


def _classes(samples: PairedSamples, names: tuple[str, str]) -> Iterator[InferredDifference]:
    run, baseline = samples.run.predictions, samples.baseline.predictions
    support = _support(run)
    codes = np.flatnonzero(support >= FEWEST)
    if run.y_pred is not None and baseline.y_pred is not None:
        yield from (
            _plain_classes(samples, names, codes)
            if samples.plain
            else _as_binary_problems(samples, names, codes, False)
        )
    if not isinstance(run.scores, NoScores) and len(run) * len(codes) <= CELLS:
        yield from _as_binary_problems(samples, names, codes, True)


def _support(p: Predictions) -> Array:
    rows = p.y_true.sum(axis=0) if p.y_true.ndim == 2 else np.bincount(p.y_true, minlength=len(p.space))
    return np.asarray(rows, dtype=np.float64)


def class_recalls(
    samples: PairedSamples, names: tuple[str, str]
) -> tuple[tuple[str, InferredDifference], ...]:
    """Return the difference of the recall of each class with enough examples.

    Empty for a binary problem: the recalls of its two classes are recall and specificity.
    """
    run, baseline = samples.run.predictions, samples.baseline.predictions
    if isinstance(run.space, Binary | Graded) or run.y_pred is None or baseline.y_pred is None:
        return ()
    codes = np.flatnonzero(_support(run) >= FEWEST_OF_CLASS)
    if samples.plain:
        cells = label_cells(run.y_true, np.asarray(run.y_pred), np.asarray(baseline.y_pred), len(run.space))
        found = [_cell_recall(cells[code], samples, names) for code in codes]
    else:
        found = [_recall(samples, names, int(code)) for code in codes]
    return tuple((run.space.names[code], one) for code, one in zip(codes, found, strict=True))


def _cell_recall(cells: Array, samples: PairedSamples, names: tuple[str, str]) -> InferredDifference:
    """The recall of one class from its joint cells: a proportion of its rows."""
    size = int(cells[1].sum())
    only_run = int(cells[1, 1].sum() - cells[1, 1, 1])
    only_baseline = int(cells[1, :, 1].sum() - cells[1, 1, 1])
    values = (cells[1, 1].sum() / size, cells[1, :, 1].sum() / size)
    gap = float(values[0] - values[1])
    start = Difference("recall", *names, values=(float(values[0]), float(values[1])), difference=gap)
    return with_interval(
        start, ScoreCurve(only_run, only_baseline, size), "paired score", samples.sampling.level
    )


def _recall(samples: PairedSamples, names: tuple[str, str], code: int) -> InferredDifference:
    pair = [
        replace(one_label(side.predictions, code), scores=NoScores())
        for side in (samples.run, samples.baseline)
    ]
    own = PairedSamples(
        Counted.from_predictions(pair[0]), Counted.from_predictions(pair[1]), samples.sampling
    )
    return paired_difference(COUNTED[0], own, names)


def _plain_classes(
    samples: PairedSamples, names: tuple[str, str], codes: Codes
) -> Iterator[InferredDifference]:
    run, baseline = samples.run.predictions, samples.baseline.predictions
    cells = label_cells(run.y_true, np.asarray(run.y_pred), np.asarray(baseline.y_pred), len(run.space))
    for start in range(0, len(codes), BLOCK):
        block = codes[start : start + BLOCK]
        draws = paired_draws(cells[block], samples.sampling)
        for place, code in enumerate(block):
            own = (cells[code], (draws[0][:, place], draws[1][:, place]))
            scope = CLASS + run.space.names[code]
            yield from (with_scope(found, scope) for found in _class_differences(own, samples, names))


def _class_differences(
    own: tuple[Array, tuple[BinaryCounts, BinaryCounts]], samples: PairedSamples, names: tuple[str, str]
) -> Iterator[InferredDifference]:
    cells, draws = own
    level = samples.sampling.level
    counts = marginal_counts(cells)
    for metric in COUNTED:
        values = [float(metric.function(count)) for count in counts]
        if not np.isfinite(values).all():
            continue
        gap = values[0] - values[1]
        start = Difference(metric.name, *names, values=(values[0], values[1]), difference=gap)
        if metric.name == "recall":
            yield _cell_recall(cells, samples, names)
        elif (found := drawn_curve(metric, gap, draws, level)) is not None:
            yield with_interval(start, found, "paired draws of the counts", level)


def _as_binary_problems(
    samples: PairedSamples, names: tuple[str, str], codes: Codes, scores: bool
) -> Iterator[InferredDifference]:
    """One binary problem per class: by scores, or by predictions."""
    for code in codes.tolist():
        pair = [one_label(side.predictions, code) for side in (samples.run, samples.baseline)]
        if not scores:
            pair = [replace(p, scores=NoScores()) for p in pair]
        own = PairedSamples(
            Counted.from_predictions(pair[0]), Counted.from_predictions(pair[1]), samples.sampling
        )
        for metric in RANKED if scores else COUNTED:
            found = paired_difference(metric, own, names)
            yield with_scope(found, CLASS + samples.run.predictions.space.names[code])


def _slices(samples: PairedSamples, names: tuple[str, str]) -> Iterator[InferredDifference]:
    run, baseline = samples.run.predictions, samples.baseline.predictions
    metrics = [find(name, run.space.task) for name in telling(HEADLINE[run.space.task], run.space)]
    for column_name, column in run.slices.items():
        for code, value in enumerate(column.values):
            rows = column.codes == code
            if rows.sum() < FEWEST:
                continue
            part = PairedSamples(
                Counted.from_predictions(run.take(rows)),
                Counted.from_predictions(baseline.take(rows)),
                samples.sampling,
            )
            for metric in metrics:
                yield with_scope(paired_difference(metric, part, names), f"{column_name} = {value}")


MOST_RUNS = 20
"""Most runs for a full comparison: 190 pairs, as many as a page can show and a reader can follow (time and
size grow with the square)."""
MOST_LISTED = 6
"""Most pairs with a list of alerts: those of four runs."""
MOST_RANKED = 200
"""Most runs for a ranking by one metric."""


@dataclass(frozen=True, eq=False)
class Match:
    """Two runs, the result of matching them, and their shared rows."""

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
    """Compare runs, paired where they have the same examples.

    Parameters
    ----------
    evaluations : two to twenty evaluations
    baseline : int or None
        Position of the run that the others are compared with; None compares all pairs.
    names : sequence of str, optional
        Names of the runs; otherwise their own names, made distinct.
    metrics : sequence of str
        Replaces the headline metrics.
    primary : str, optional
        The metric of the verdict.
    unpaired : bool
        The runs were scored on other examples: rows are not matched.
    details : bool
        Whether to compare also classes, slices and operating points.
    costs : Costs, optional
        Costs of the outcomes of two classes: runs are also matched at their lowest cost.

    Raises
    ------
    UsageError
        Fewer than two or too many runs, different tasks, levels or label pairs, an unknown metric.
    DataError
        The same example has different true labels in two runs.

    Examples
    --------
    >>> from evalreport.evaluation.evaluate import evaluate_predictions
    >>> from evalreport.data.labels import Multiclass
    >>> from evalreport.data.predictions import predictions
    >>> truth = ["a", "b"] * 20
    >>> runs = [predictions(Multiclass("ab"), truth, answer) for answer in (["a"] * 40, truth)]
    >>> result = compare([evaluate_predictions(run) for run in runs])
    >>> result.differences_for("accuracy")[0].verdict
    'better'
    """
    level = common_level(evaluations, MOST_RUNS if details else MOST_RANKED)
    called = distinct_names(names or [name_of(ev, place) for place, ev in enumerate(evaluations)])
    chosen = headline_metrics(evaluations, metrics, primary)
    counted: dict[int, Counted] = {}
    matches = _matches(evaluations, called, _index_pairs(len(called), baseline), unpaired, counted)
    inferred = _differences_by_metric(matches, chosen, level)
    found = adjusted_verdicts(inferred, {metric.name: metric.better for metric in chosen}, level)
    main = primary or _primary(evaluations[0].space, found)
    every = matches
    if baseline is not None and len(called) > 2:
        every = _matches(evaluations, called, _index_pairs(len(called), None), unpaired, counted)
    detailed = _pairs_with_parts(matches) if details else ()
    joined = [(match.samples, match.names) for match in detailed if match.samples is not None]
    every_match = (matched_runs(samples, pair, costs) for samples, pair in joined)
    matched_pairs = [runs for runs in every_match if runs is not None]
    worse = _worse_slices(matches) if details else ()
    pairs = (match.evaluations[0].judged_pair(match.names, match.evaluations[1]) for match in matches)
    judged = () if unpaired else tuple(pair for pair in pairs if pair is not None)
    return Comparison(
        names=tuple(called),
        evaluations=tuple(evaluations),
        baseline=baseline,
        level=level,
        primary=main,
        pairings=tuple((*match.names, match.pairing) for match in matches),
        differences=found,
        parts=tuple(part for samples, pair in joined for part in part_differences(samples, pair)),
        mcnemar=tuple(mcnemar for match in matches if (mcnemar := _mcnemar(match)) is not None),
        delong=tuple(test for match in matches if (test := _delong(match)) is not None),
        movement=_changed_predictions(matches if len(called) <= MOST_RUNS else (), matched_pairs),
        verdicts=_verdicts(matches, inferred, main, level),
        costs=costs,
        matched=tuple(point for each in matched_pairs for point in each.points),
        alerts=tuple(each.alerts for each in matched_pairs) if len(matched_pairs) <= MOST_LISTED else (),
        crossings=tuple(one for samples, pair in joined for one in roc_crossings(samples, pair)),
        ranking=_ranking(every, evaluations, called, find(main, evaluations[0].task), level),
        run_agreement=None if unpaired else agreement(called, evaluations),
        weak_slices=worse,
        judge=judged,
        notes=(*notes(called, evaluations), *map(_worse_note, worse), *(f"{one.summary}." for one in judged)),
    )


def _worse_slices(matches: Sequence[Match]) -> tuple[WorseSlices, ...]:
    """Search each pair on the same rows for slices in which the run is worse, where its own search was on."""
    search = installed_extension("slice_searches", "worse slices")
    if search is None:
        return ()
    found = [
        search(
            match.samples.run.predictions,
            match.samples.baseline.predictions,
            match.names,
            match.samples.sampling,
        )
        for match in matches
        if match.samples is not None and match.evaluations[0].weak_slices is not None
    ]
    return tuple(one for one in found if one is not None)


def _worse_note(found: WorseSlices) -> str:
    """Return a note about the slices from a search."""
    first = next(iter(found.confirmed), None)
    if first is None or first.difference.value is None:
        return f"“{found.run}” compared with “{found.baseline}”: {found.summary}."
    points = f"{100 * first.difference.value:.1f} points more errors in {first.n:,} rows"
    return f"“{found.run}” compared with “{found.baseline}”: {found.summary} ({points})."


def common_level(evaluations: Sequence[Evaluation], most: int) -> float:
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
            fix="evaluate them with one --set confidence",
        )
    return levels.pop()


def name_of(ev: Evaluation, place: int) -> str:
    """Return the default name of an evaluation."""
    return ev.provenance.title or ev.provenance.run_name or ev.provenance.source or f"run {place + 1}"


def distinct_names(names: Sequence[str]) -> list[str]:
    """Return the names, with numbers if one is repeated.

    Examples
    --------
    >>> distinct_names(["a", "b", "a"])
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
    """Return the metrics of a comparison: those named, or the usual ones of the task; own ones are added."""
    task = evaluations[0].task
    text = any(ev.parsing is not None for ev in evaluations)
    usual = (*(COMPARED["text"] if text and task == "multiclass" else ()), *COMPARED[task])
    usual = (*(OF_ORDER if _is_ordered(evaluations[0].space) else ()), *usual)
    usual = telling(usual, evaluations[0].space)
    if task == "graded":  # pass or fail has no score, and a rating without a rule has no pass rate
        usual = tuple(name for name in usual if any(name in ev.metrics for ev in evaluations))
    own = dict.fromkeys(name for ev in evaluations for name in ev.own_metrics)
    catalogued = [name for name in names if not is_own(name)]
    asked = names if catalogued else (*usual, *(names or own))
    wanted = dict.fromkeys((*asked, *([primary] if primary else [])))
    return tuple(find(name, task) for name in wanted)


def _is_ordered(space: LabelSpace) -> bool:
    return isinstance(space, Multiclass) and space.ordered


def _primary(space: LabelSpace, differences: Sequence[Difference]) -> str:
    """The primary metric: one that every run has."""
    undefined = {entry.metric for entry in differences if entry.difference is None}
    known = list(dict.fromkeys(d.metric for d in differences if d.metric not in undefined))
    usual = (*(OF_ORDER if _is_ordered(space) else ()), *PRIMARY[space.task])
    wanted = (*(name for name in usual if name in known), *known)
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
            raise error.with_location(f"{names[a]} and {names[b]}") from error
        samples = None
        if matched.run is not None and matched.baseline is not None:
            rows = [_count_once(counted, side) for side in (matched.run, matched.baseline)]
            samples = PairedSamples(rows[0], rows[1], evaluations[a].sampling)
        found.append(Match((names[a], names[b]), (evaluations[a], evaluations[b]), matched.pairing, samples))
    return found


def _index_pairs(count: int, baseline: int | None) -> list[tuple[int, int]]:
    if baseline is None:
        return [(b, a) for a, b in combinations(range(count), 2)]
    return [(place, baseline) for place in range(count) if place != baseline]


def _count_once(known: dict[int, Counted], rows: Predictions) -> Counted:
    """A cache of the counts of each set of rows, by object id."""
    if id(rows) not in known:
        known[id(rows)] = Counted.from_predictions(rows)
    return known[id(rows)]


def _differences_by_metric(
    matches: Sequence[Match], metrics: Sequence[Metric], level: float
) -> list[InferredDifference]:
    """Differences by metric, so that the row contributions of a metric are computed once for all pairs."""
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
    """Rank the runs by the differences of all pairs; missing values are those of the pair."""
    pairs = adjusted_verdicts(
        _differences_by_metric(matches, [metric], level), {metric.name: metric.better}, level
    )
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
    """Return the verdict of each pair by the primary metric and each kind of error, for any selection of
    metrics.

    Ordered labels use quadratic weighted kappa instead of the kinds of error.
    """
    space = matches[0].evaluations[0].space
    compared = {one.difference.metric for one in inferred}
    kinds = OF_ORDER if _is_ordered(space) else ERROR_KINDS[space.task]
    metrics = [find(name, space.task) for name in dict.fromkeys((primary, *kinds))]
    missing = [metric for metric in metrics if metric.name not in compared]
    every = [*inferred, *_differences_by_metric(matches, missing, level)]
    by_metric = [
        _candidates(metric, [one for one in every if one.difference.metric == metric.name])
        for metric in metrics
    ]
    found = []
    for place, match in enumerate(matches):
        samples = None if _is_ordered(space) else match.samples
        recalls = () if samples is None else class_recalls(samples, match.names)
        looks = [looks[place] for looks in by_metric]
        looks += [
            VerdictInput(f"recall[{label}]", one, "higher", (one.difference.p or 0.0,))
            for label, one in recalls
        ]
        found.append(pair_verdict(*match.names, level, looks, primary))
    return tuple(found)


def _candidates(metric: Metric, pairs: Sequence[InferredDifference]) -> list[VerdictInput]:
    """One metric of every pair; those without an interval are not in the family of its correction."""
    known = [one for one in pairs if one.curve is not None]
    family = tuple(one.difference.p or 0.0 for one in known)
    return [
        VerdictInput(metric.name, one, metric.better, family, known.index(one) if one in known else 0)
        for one in pairs
    ]


def _pairs_with_parts(matches: Sequence[Match]) -> Sequence[Match]:
    """Pairs that are compared class by class: all, or of very many those with the first run."""
    return matches if len(matches) < MOST_RUNS else [m for m in matches if m.names[1] == matches[0].names[1]]


def _answers(match: Match) -> tuple[Predictions, Predictions] | None:
    if match.samples is None:
        return None
    run, baseline = match.samples.run.predictions, match.samples.baseline.predictions
    return None if run.y_pred is None or baseline.y_pred is None else (run, baseline)


def _changed_predictions(
    matches: Sequence[Match], matched_pairs: Sequence[MatchedRuns]
) -> tuple[ChangedPredictions, ...]:
    """Changed predictions of each pair; for binary runs also at equal recall."""
    points = [point for each in matched_pairs for point in each.points if point.kind == "equal_recall"]
    matched = {(point.run, point.baseline): point.thresholds[0] for point in points}
    found = []
    for match in matches:
        both = _answers(match)
        withheld = any(ev.data_checks.get("withheld") for ev in match.evaluations)
        if both is not None:
            at = matched.get(match.names)
            found.append(count_changes(*both, match.names, withheld=withheld, equal_recall=at))
    return tuple(found)


def _mcnemar(match: Match) -> McNemarResult | None:
    """McNemar's test of each pair; none for weighted or grouped rows, which it would count as independent."""
    both = _answers(match)
    if both is None or match.samples is None or not match.samples.plain:
        return None
    first, second = correct_rows(both[0]), correct_rows(both[1])
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

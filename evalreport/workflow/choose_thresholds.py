"""Thresholds of a file or a run, chosen for each given objective."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import assert_never

import numpy as np

from evalreport.core.bounds import Bound, is_bound
from evalreport.core.errors import DataError, UsageError
from evalreport.core.result import Result
from evalreport.data.labels import Binary, LabelSpace, Multiclass, Multilabel
from evalreport.data.predictions import Predictions, Threshold
from evalreport.data.scores import NoScores, Probabilities
from evalreport.evaluation.evaluate import evaluate_facts, evaluate_predictions
from evalreport.evaluation.evaluation import Evaluation, Selected, ThresholdSelection
from evalreport.intervals.estimates import estimates
from evalreport.metrics.catalogue import OF_SWEEP, find
from evalreport.metrics.own import is_own, load_own_metric, not_in_memory
from evalreport.metrics.record import Metric
from evalreport.readers.read import read_costs
from evalreport.statistics.class_scores import RankedScores
from evalreport.statistics.confusion import Array, BinaryCounts
from evalreport.statistics.score_table import ScoreTable
from evalreport.statistics.summary import decide_at, summarise
from evalreport.thresholds.best_threshold import Choice, Optimum, Tuned
from evalreport.thresholds.class_thresholds import (
    PartBound,
    class_weights,
    part_bounds,
    part_threshold,
    table_threshold,
)
from evalreport.thresholds.cross_fitting import cutoff, evaluate_thresholds
from evalreport.thresholds.objectives import STANDARD, WITH_NUMBERS, CostMatrix, Objective
from evalreport.thresholds.own_objective import OwnObjective, thinned_note
from evalreport.thresholds.per_label import LabelObjective, label_thresholds
from evalreport.thresholds.sweep import Sweep
from evalreport.thresholds.trial_search import Search, SearchProgress
from evalreport.workflow.collect import Collected
from evalreport.workflow.evaluate import (
    check_both_classes,
    check_holdable,
    deployment_metrics,
    label_goal,
    no_scores,
    table_of,
)
from evalreport.workflow.items import Item
from evalreport.workflow.request import MEMORY, CollectedFacts, MadeOfFacts, Request

HOLDABLE = "recall>=0.9"
ACCURACIES = ("accuracy>=0.9", "accuracy>=0.95", "accuracy>=0.99")
MOST_CELLS = 20_000_000
"""Decisions up to which an objective of several labels is followed over a common threshold."""
EACH_LABEL = ("f1_macro", "f1_micro")
ADVICE = f"pass {MEMORY}, or ask for f1_macro, f1_micro or a bound of each label, such as recall>=0.9"


@dataclass(frozen=True)
class ThresholdRequest:
    """What thresholds are sought for.

    Parameters
    ----------
    objectives : tuple of str
        As on the command line; those of the task when empty.
    costs : str, CostMatrix or None
        Costs of a multiclass problem, or a file of them.
    search : Search or None
        How Optuna searches where an objective does not fall apart. Without it, it searches such ones of
        several labels on other rows (no search is repeated in folds), and a function of the user's always.
    progress : callable, optional
        Called after every trial of a search.
    item : str
        Name of the file or run, where several studies are kept in one storage.
    every : bool
        Whether the counts at every threshold are wanted, beside those that the page shows.
    """

    objectives: tuple[str, ...] = ()
    costs: str | CostMatrix | None = None
    search: Search | None = None
    progress: Callable[[SearchProgress], None] | None = None
    item: str = ""
    every: bool = True

    def check_searched(self, *, found: bool) -> None:
        """Refuse settings of a search where nothing is searched.

        Raises
        ------
        UsageError
        """
        if self.search is not None and not found:
            raise UsageError(
                "Optuna is not needed: the objective has an exact solution",
                where="--trials, --set timeout, --study, --study-name",
                fix="remove them, or use an objective that needs a search, such as f1_samples of labels",
            )

    def searching(self, seed: int, objective: str) -> Search:
        """Return how Optuna searches for an objective, also where the user has not said it.

        Studies that are kept have a name each: that of the user, of the objective where there are
        several, of the item.

        Examples
        --------
        >>> search = Search(storage="s.log", study_name="x")
        >>> asked = ThresholdRequest(("f1_samples", "subset_accuracy"), search=search)
        >>> asked.searching(0, "f1_samples").study_name
        'x f1_samples'
        """
        search = self.search or Search(seed=seed, progress=self.progress)
        if search.storage is None:
            return search
        named = search.study_name or ""
        goal = objective if len(self.objectives) > 1 or not named else ""
        return replace(search, study_name=" ".join(filter(None, (named, goal, self.item))))


def swept_item(
    item: Item, request: Request, asked: ThresholdRequest
) -> tuple[ThresholdSelection, Collected | MadeOfFacts[ThresholdSelection]]:
    """Read predictions, or count them, and choose the thresholds that are asked for.

    Raises
    ------
    EvalreportError
        Whatever keeps a threshold from being chosen.
    """
    read = item.read_predictions(
        request, partial(chosen_of_facts, request=request, asked=asked), asked.objectives
    )
    if isinstance(read, MadeOfFacts):
        return read.made, read
    return select_thresholds(read, request, item.tuning_rows(request), asked), read


def chosen_of_facts(counted: CollectedFacts, request: Request, asked: ThresholdRequest) -> ThresholdSelection:
    """Return what is chosen of rows that are not at hand; as `chosen`.

    Raises
    ------
    EvalreportError
    """
    summary = counted.seen.summary
    if isinstance(summary.space, Multiclass):
        raise chosen_by_row()
    deployment_metrics(summary.space, request.prevalence)
    of_labels = isinstance(summary.space, Multilabel)
    found = _reachable((_streamed_labels if of_labels else _streamed_binary)(counted, request, asked))
    return replace(found, evaluation=found.evaluation.with_provenance(counted.provenance))


def _streamed_binary(
    counted: CollectedFacts, request: Request, asked: ThresholdRequest
) -> ThresholdSelection:
    summary = counted.seen.summary
    table = summary.scores
    if not isinstance(table, ScoreTable):
        raise no_scores()

    def evaluation(sweep: Sweep) -> Evaluation:
        return evaluate_facts(counted.seen, request.sampling, only=OF_SWEEP["binary"], sweep=sweep)

    def evaluate_threshold(threshold: Threshold, metrics: Sequence[Metric]) -> Mapping[str, Result]:
        return estimates(metrics, decide_at(summary, threshold), None, request.sampling)

    return _binary(_Ranked(table, evaluation, evaluate_threshold), request, None, asked)


def _streamed_labels(
    counted: CollectedFacts, request: Request, asked: ThresholdRequest
) -> ThresholdSelection:
    summary = counted.seen.summary
    tables = summary.scores
    if not isinstance(tables, RankedScores):
        raise no_scores()
    check_holdable(summary.space, request.sampling, asked.objectives, HOLDABLE)

    def choose_for_bound(bound: PartBound) -> Choice:
        if bound.label is None:
            raise not_at_hand(bound.name)
        return table_threshold(tables.table(bound.label), bound, sampling=request.sampling)

    def find_tuned(name: str) -> Tuned:
        if name not in counted.tuned:
            raise not_at_hand(name)
        return counted.tuned[name]

    def evaluation() -> Evaluation:
        return evaluate_facts(counted.seen, request.sampling, only=OF_SWEEP["multilabel"])

    likely = summary.score_kind != "decision"
    return _multilabel(
        _Labels(summary.space, tables if likely else None, evaluation, choose_for_bound, find_tuned), asked
    )


def select_thresholds(
    collected: Collected, request: Request, tune_on: Predictions | None, asked: ThresholdRequest
) -> ThresholdSelection:
    """Return what is chosen for each objective, on other rows or on these.

    Raises
    ------
    UsageError
        No scores, an objective that is not known or appears twice.
    DataError
        Nothing can be chosen for any objective: one class only, or no threshold keeps a constraint.
    """
    rows = replace(collected.predictions, texts=None)
    if isinstance(rows.scores, NoScores):
        raise no_scores()
    ask = HOLDABLE if isinstance(rows.space, Multilabel) else "accuracy>=0.95"
    bounds = asked.objectives or (ACCURACIES if isinstance(rows.space, Multiclass) else ())
    check_holdable(rows.space, request.sampling, bounds, ask)
    deployment_metrics(rows.space, request.prevalence)
    match rows.space:
        case Binary():
            found = _binary(_ranked_from_rows(rows, request), request, tune_on, asked)
        case Multilabel():
            found = _multilabel(_labels(rows, request, tune_on, asked), asked)
        case Multiclass():
            found = _multiclass(rows, request, tune_on, asked)
        case never:
            assert_never(never)
    ev = _reachable(found).evaluation.with_provenance(collected.provenance)
    return replace(
        found, evaluation=ev, tuned_on=request.tune_on or ("" if tune_on is None else "other rows")
    )


def _reachable(found: ThresholdSelection) -> ThresholdSelection:
    if len(found.missing) == len(found.found):
        first, reason = next(iter(found.missing.items()))
        raise DataError(
            f"no threshold can be chosen by {first}: {reason}",
            fix="relax the constraint, or use another objective",
        )
    return found


def _evaluation(rows: Predictions, request: Request, sweep: Sweep | None = None) -> Evaluation:
    return evaluate_predictions(rows, request.sampling, only=OF_SWEEP[rows.space.task], sweep=sweep)


@dataclass(frozen=True, eq=False)
class _Ranked:
    """Two labels by their scores: with their rows, or what was counted of them."""

    table: ScoreTable
    evaluation: Callable[[Sweep], Evaluation]
    at: Callable[[Threshold, Sequence[Metric]], Mapping[str, Result]]
    """Metrics of decisions at a threshold."""
    rows: Predictions | None = None


def _ranked_from_rows(rows: Predictions, request: Request) -> _Ranked:
    def evaluate_threshold(threshold: Threshold, metrics: Sequence[Metric]) -> Mapping[str, Result]:
        decided = rows.with_threshold(threshold)
        return estimates(metrics, summarise(decided), decided, request.sampling)

    return _Ranked(table_of(rows), lambda sweep: _evaluation(rows, request, sweep), evaluate_threshold, rows)


def _binary(
    ranked: _Ranked, request: Request, tune_on: Predictions | None, asked: ThresholdRequest
) -> ThresholdSelection:
    _check_costs(asked, "two classes", "--cost N, or --cost fp=1,fn=10")
    asked.check_searched(found=False)
    check_both_classes(tune_on)
    own = _own_objectives(asked.objectives, ranked.rows)
    named = [name for name in asked.objectives if name not in own]
    wanted = tuple(map(Objective.parse, named)) or (() if own else STANDARD)
    check_distinct([*(one.name for one in wanted), *(name for name in asked.objectives if name in own)])
    objectives = {objective.name: objective for objective in wanted}
    rest = tuple(other for other in STANDARD if other.name not in objectives)
    sweep = evaluate_thresholds(
        ranked.table, ranked.rows, tune_on=tune_on, objectives=(*wanted, *rest), sampling=request.sampling
    )
    ev = ranked.evaluation(sweep)
    found: dict[str, Choice] = {}
    for name in [one if one in own else Objective.parse(one).name for one in asked.objectives] or objectives:
        if name in own:
            assert ranked.rows is not None  # noqa: S101  else `_own_objectives` refuses the name
            found[name] = own[name].choose(ranked.rows, request.sampling, tune_on)
        else:
            found[name] = sweep.optima[name]
    there = [find(name) for name in deployment_metrics(ev.space, request.prevalence)]
    return ThresholdSelection(
        ev,
        found,
        objectives,
        whole=Sweep.from_table(ranked.table) if asked.every else ev.sweep,
        notes=tuple(filter(None, (thinned_note(name, tune_on or ranked.rows) for name in own))),
        deployed={name: _evaluate_at_prevalence(ranked, best, there) for name, best in found.items()}
        if there
        else {},
    )


def _own_objectives(names: Sequence[str], rows: Predictions | None) -> dict[str, OwnObjective]:
    """Return the objectives that are functions of the user's own.

    Raises
    ------
    UsageError
        A function that cannot be imported, or rows that are not in memory.
    """
    known = {} if rows is None else rows.own_metrics
    own = [name for name in dict.fromkeys(names) if name in known or (is_own(name) and not is_bound(name))]
    own = [name for name in own if name.split(":")[0] not in WITH_NUMBERS]
    if own and rows is None:
        raise not_in_memory(own[0], f"--objective {own[0]}", MEMORY)
    functions = {name: known[name] if name in known else load_own_metric(name, "objective") for name in own}
    return {name: OwnObjective(name, function) for name, function in functions.items()}


def _evaluate_at_prevalence(
    ranked: _Ranked, best: Selected, metrics: Sequence[Metric]
) -> Mapping[str, Result]:
    """What a threshold does at the prevalence that was stated, counted on these rows."""
    return ranked.at(Threshold(best.threshold, "given"), metrics) if isinstance(best, Optimum) else {}


@dataclass(frozen=True, eq=False)
class _Labels:
    """Several labels by their scores: with their rows, or what was counted of them."""

    space: LabelSpace
    probabilities: RankedScores | None
    evaluation: Callable[[], Evaluation]
    bounded: Callable[[PartBound], Selected]
    tuned: Callable[[str], Selected]
    rows: Predictions | None = None


def _labels(
    rows: Predictions, request: Request, tune_on: Predictions | None, asked: ThresholdRequest
) -> _Labels:
    def choose_for_bound(bound: PartBound) -> Choice:
        return part_threshold(rows, bound, tune_on=tune_on, sampling=request.sampling)

    def tune_objective(name: str) -> Selected:
        wanted = asked.search is not None or tune_on is not None or ":" in name
        search = asked.searching(request.sampling.seed, name) if wanted else None
        return label_thresholds(rows, name, tune_on=tune_on, search=search, sampling=request.sampling)

    scores, likely = summarise(rows).scores, isinstance(rows.scores, Probabilities)
    tables = scores if likely and isinstance(scores, RankedScores) else None
    return _Labels(
        rows.space, tables, lambda: _evaluation(rows, request), choose_for_bound, tune_objective, rows
    )


def _multilabel(labels: _Labels, asked: ThresholdRequest) -> ThresholdSelection:
    _check_costs(asked, "several labels", "your own objective: --objective module:function")
    aims = label_aims(asked.objectives, labels.space)
    asked.check_searched(found=any(goal.kind in ("rows", "function") for goal in aims.goals.values()))
    found: dict[str, Selected] = {name: labels.bounded(bound) for name, bound in aims.bounds.items()}
    found |= {name: labels.tuned(name) for name in aims.goals}
    common = {name: _common(labels, goal) for name, goal in aims.goals.items()}
    return ThresholdSelection(labels.evaluation(), found, common={k: v for k, v in common.items() if v})


def _common(labels: _Labels, goal: LabelObjective) -> tuple[tuple[int, float], ...]:
    """The value of an objective where all labels have one threshold, by percent."""
    steps, rows = range(101), labels.rows
    if labels.probabilities is None or goal.kind == "function":
        return ()
    if goal.kind != "rows":
        values = common_values(labels.probabilities, goal, np.arange(101) / 100)
        return tuple(zip(steps, values.tolist(), strict=True))
    if rows is None or isinstance(rows.scores, NoScores) or rows.scores.values.size > MOST_CELLS:
        return ()
    truth, scores = rows.y_true.astype(bool), rows.scores.values
    return tuple((step, goal.value(truth, np.asarray(scores >= step / 100), rows.weights)) for step in steps)


def _multiclass(
    rows: Predictions, request: Request, tune_on: Predictions | None, asked: ThresholdRequest
) -> ThresholdSelection:
    check_cost(asked.objectives, "several classes", "--cost FILE, with a cost for each answer")
    if not isinstance(rows.scores, Probabilities):
        raise UsageError(
            "cut-offs and class weights need probabilities; got decision scores",
            where="--score-kind",
            fix="pass --score-kind logit if they are logits",
        )
    names = list(asked.objectives) or ([] if asked.costs is not None else list(ACCURACIES))
    parts = {name: part_bounds(name, rows.space) for name in names if not _is_accuracy(name)}
    names = [name for name in names if not parts.get(name)]
    bounds = {name: Bound.parse(name) if is_bound(name) else None for name in names}
    names = [name.removeprefix("max-") if bound is None else bound.key for name, bound in bounds.items()]
    check_distinct(names)
    asked.check_searched(found=asked.costs is not None or None in bounds.values())
    found: dict[str, Selected] = {
        bound.name: part_threshold(rows, bound, tune_on=tune_on, sampling=request.sampling)
        for each in parts.values()
        for bound in each
    }
    for name, wanted in zip(names, bounds.values(), strict=True):
        found[name] = (
            class_weights(
                rows,
                name,
                tune_on=tune_on,
                search=asked.searching(request.sampling.seed, name),
                sampling=request.sampling,
            )
            if wanted is None
            else cutoff(rows, wanted.number, tune_on=tune_on, sampling=request.sampling, strict=wanted.strict)
        )
    if asked.costs is not None:
        given = asked.costs
        costs = read_costs(Path(given), rows.space.texts) if isinstance(given, str) else given
        search = None if asked.search is None else asked.searching(request.sampling.seed, "cost")
        found["cost"] = class_weights(rows, costs, tune_on=tune_on, search=search, sampling=request.sampling)
    return ThresholdSelection(_evaluation(rows, request), found)


def _check_costs(asked: ThresholdRequest, what: str, instead: str) -> None:
    if asked.costs is not None:
        raise UsageError(
            f"a matrix of costs is for several classes; these are {what}",
            where="--cost",
            fix=f"use {instead}",
        )


def _is_accuracy(name: str) -> bool:
    """Whether an objective is an accuracy among the answered: what a cut-off of confidence keeps."""
    if not is_bound(name):
        return False
    bound = Bound.parse(name, where=f"objective {name!r}")
    return (bound.metric, bound.demands, bound.part, bound.change) == ("accuracy", "high", "", "")


@dataclass(frozen=True)
class LabelAims:
    """Bounds of labels, and objectives of all labels, each by its name."""

    bounds: Mapping[str, PartBound]
    goals: Mapping[str, LabelObjective]


def label_aims(objectives: Sequence[str], space: LabelSpace) -> LabelAims:
    """Parse the objectives; by default the usual ones.

    Raises
    ------
    UsageError
        An objective that is not known, or appears twice.

    Examples
    --------
    >>> list(label_aims(["max-f1", "recall[a]>=0.9"], Multilabel("ab")).goals)
    ['f1_macro']
    """
    check_cost(objectives, "several labels", "your own objective: --objective module:function")
    objectives = objectives or EACH_LABEL
    bounds = {bound.name: bound for name in objectives for bound in part_bounds(name, space)}
    names = [label_goal(name) for name in objectives if not is_bound(name)]
    check_distinct(names)
    return LabelAims(bounds, {name: LabelObjective.parse(name) for name in names})


def check_cost(objectives: Sequence[str], what: str, instead: str) -> None:
    """Refuse a cost of misses where there are more than two classes.

    Raises
    ------
    UsageError
    """
    if any(name.split(":")[0] == "cost" for name in objectives):
        raise UsageError(
            f"a cost of misses is for two classes; these are {what}", where="--cost", fix=f"use {instead}"
        )


def check_distinct(names: Sequence[str]) -> None:
    """Refuse an objective that appears twice.

    Raises
    ------
    UsageError
    """
    twice = next((name for name in names if list(names).count(name) > 1), None)
    if twice is not None:
        raise UsageError(
            f"two objectives are named {twice}", where="--objective", fix="ask for one of them at a time"
        )


def chosen_by_row() -> UsageError:
    """Return the error of what is chosen of several classes where no rows are held."""
    return UsageError(
        "cut-offs and weights of classes need all rows, which a stream does not keep",
        fix=f"pass the rows, with {MEMORY}",
    )


def not_at_hand(name: str) -> UsageError:
    """Return the error of an objective that needs rows where there are only statistics."""
    return UsageError(f"thresholds for {name} need the rows, which are not available", fix=ADVICE)


def common_values(scores: RankedScores, goal: LabelObjective, at: Array) -> Array:
    """Return the value of an objective of counts where all labels have one threshold, at each of some.

    Examples
    --------
    >>> from evalreport.statistics.class_scores import ClassScores
    >>> rows = np.array([[0.2, 0.7], [0.6, 0.3]]), np.array([[False, True], [True, True]])
    >>> common_values(ClassScores(*rows, None), LabelObjective.parse("f1_micro"), np.array([0.3, 0.9]))
    array([1., 0.])
    """
    counts = [Sweep.from_table(scores.table(label)).counts_at_threshold(at) for label in range(scores.size)]
    return np.asarray(goal.of_counts(side_by_side(counts)))


def side_by_side(counts: Sequence[BinaryCounts]) -> BinaryCounts:
    """Return the counts of each label as one, with the labels along the last axis."""
    cells = zip(*((one.tp, one.fp, one.fn, one.tn) for one in counts), strict=True)
    return BinaryCounts(*(np.stack(each, axis=-1) for each in cells))

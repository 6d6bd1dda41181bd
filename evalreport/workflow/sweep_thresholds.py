"""Thresholds of a file or a run, chosen for each objective that is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import assert_never

import numpy as np

from evalreport.bounds import Bound, is_bound
from evalreport.engines.memory import summarise
from evalreport.engines.stream import decided_at
from evalreport.errors import DataError, UsageError
from evalreport.evaluation.evaluate import evaluate_facts, evaluate_predictions
from evalreport.evaluation.model import Evaluation
from evalreport.evaluation.threshold_selection import Selected, ThresholdSelection
from evalreport.facts import ScoreTable
from evalreport.intervals import estimates
from evalreport.labels import Binary, Multiclass, Multilabel
from evalreport.metrics.catalogue import find
from evalreport.metrics.named_sets import OF_SWEEP
from evalreport.metrics.record import Metric
from evalreport.predictions import Predictions, Threshold
from evalreport.scores import NoScores, Probabilities
from evalreport.sources.reading import read_costs
from evalreport.study.search import Search, SearchProgress
from evalreport.thresholds.class_weights import class_weights
from evalreport.thresholds.costs import CostMatrix
from evalreport.thresholds.cross_fitting import judged
from evalreport.thresholds.cutoff import cutoff
from evalreport.thresholds.label_optima import LabelObjective
from evalreport.thresholds.labels import label_thresholds
from evalreport.thresholds.objectives import STANDARD, Objective
from evalreport.thresholds.one_against_rest import PartBound, part_bounds, part_threshold
from evalreport.thresholds.optimum import Optimum
from evalreport.thresholds.sweep import Sweep
from evalreport.values import Result
from evalreport.workflow.collect import Collected
from evalreport.workflow.evaluate import deployed
from evalreport.workflow.request import Request
from evalreport.workflow.runs import Item
from evalreport.workflow.stream import CollectedFacts
from evalreport.workflow.thresholds import check_both_classes, check_holdable, no_scores, table_of

EACH_LABEL = ("f1_macro", "f1_micro")
ACCURACIES = ("accuracy>=0.9", "accuracy>=0.95", "accuracy>=0.99")
MOST_CELLS = 20_000_000
"""Decisions up to which an objective of several labels is followed over a common threshold."""


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
        How Optuna searches where an objective does not fall apart. Without it, it searches such
        objectives of several labels when they are chosen on other rows (a search is not repeated in
        folds), and a function of the user's in any case.
    progress : callable, optional
        Called after every trial of a search.
    item : str
        Name of the file or run, where there are several whose studies are kept in one storage.
    """

    objectives: tuple[str, ...] = ()
    costs: str | CostMatrix | None = None
    search: Search | None = None
    progress: Callable[[SearchProgress], None] | None = None
    item: str = ""

    def check_searched(self, *, found: bool) -> None:
        """Refuse settings of a search where nothing is searched.

        Raises
        ------
        UsageError
        """
        if self.search is not None and not found:
            raise UsageError(
                "nothing is left to Optuna: what is asked for is exact",
                where="--trials, --timeout, --storage, --study-name",
                fix="leave them out, or ask for an objective that is searched, such as f1_samples of labels",
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
) -> tuple[ThresholdSelection, Collected | CollectedFacts]:
    """Read predictions, or count them, and choose the thresholds that are asked for.

    Raises
    ------
    EvalreportError
        Whatever keeps a threshold from being chosen.
    """
    read = item.read(request)
    if isinstance(read, CollectedFacts):
        return chosen_of_facts(read, request, asked), read
    return chosen(read, request, item.tuning_rows(request), asked), read


def chosen_of_facts(counted: CollectedFacts, request: Request, asked: ThresholdRequest) -> ThresholdSelection:
    """Return what is chosen of two labels whose rows are not at hand; as `chosen`.

    Raises
    ------
    EvalreportError
    """
    summary = counted.seen.summary
    if not isinstance(summary.space, Binary):
        raise UsageError(
            f"thresholds of {len(summary.space)} labels are chosen row by row", fix="pass --engine memory"
        )
    table = summary.scores
    if not isinstance(table, ScoreTable):
        raise no_scores()
    deployed(summary.space, request.prevalence)

    def evaluation(sweep: Sweep) -> Evaluation:
        return evaluate_facts(counted.seen, request.sampling, only=OF_SWEEP["binary"], sweep=sweep)

    def at(threshold: Threshold, metrics: Sequence[Metric]) -> Mapping[str, Result]:
        return estimates(metrics, decided_at(summary, threshold), None, request.sampling)

    found = _reachable(_binary(_Ranked(table, evaluation, at), request, None, asked))
    return replace(found, evaluation=found.evaluation.with_provenance(counted.provenance))


def chosen(
    collected: Collected, request: Request, tune_on: Predictions | None, asked: ThresholdRequest
) -> ThresholdSelection:
    """Return what is chosen for each objective, on other rows or on these.

    Raises
    ------
    UsageError
        No scores, an objective that is not known or stands twice.
    DataError
        Nothing can be chosen for any objective: one class only, or no threshold keeps a constraint.
    """
    rows = replace(collected.predictions, texts=None)
    if isinstance(rows.scores, NoScores):
        raise no_scores()
    ask = "recall>=0.9" if isinstance(rows.space, Multilabel) else "accuracy>=0.95"
    bounds = asked.objectives or (ACCURACIES if isinstance(rows.space, Multiclass) else ())
    check_holdable(rows.space, request.sampling, bounds, ask)
    deployed(rows.space, request.prevalence)
    match rows.space:
        case Binary():
            found = _binary(_ranked(rows, request), request, tune_on, asked)
        case Multilabel():
            found = _multilabel(rows, request, tune_on, asked)
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
            f"no threshold can be chosen by {first}: {reason}", fix="ask for less, or for another"
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


def _ranked(rows: Predictions, request: Request) -> _Ranked:
    def at(threshold: Threshold, metrics: Sequence[Metric]) -> Mapping[str, Result]:
        decided = rows.at(threshold)
        return estimates(metrics, summarise(decided), decided, request.sampling)

    return _Ranked(table_of(rows), lambda sweep: _evaluation(rows, request, sweep), at, rows)


def _binary(
    ranked: _Ranked, request: Request, tune_on: Predictions | None, asked: ThresholdRequest
) -> ThresholdSelection:
    _check_costs(asked, "two classes", "--cost N, or --cost fp=1,fn=10")
    asked.check_searched(found=False)
    check_both_classes(tune_on)
    wanted = tuple(map(Objective.parse, asked.objectives)) or STANDARD
    _check_distinct([objective.name for objective in wanted])
    objectives = {objective.name: objective for objective in wanted}
    rest = tuple(other for other in STANDARD if other.name not in objectives)
    sweep = judged(
        ranked.table, ranked.rows, tune_on=tune_on, objectives=(*wanted, *rest), sampling=request.sampling
    )
    ev = ranked.evaluation(sweep)
    found = {name: sweep.optima[name] for name in objectives}
    there = [find(name) for name in deployed(ev.space, request.prevalence)]
    return ThresholdSelection(
        ev,
        found,
        objectives,
        whole=Sweep.of(ranked.table),
        deployed={name: _at(ranked, best, there) for name, best in found.items()} if there else {},
    )


def _at(ranked: _Ranked, best: Selected, metrics: Sequence[Metric]) -> Mapping[str, Result]:
    """What a threshold does at the prevalence that was stated, counted on these rows."""
    return ranked.at(Threshold(best.threshold, "given"), metrics) if isinstance(best, Optimum) else {}


def _multilabel(
    rows: Predictions, request: Request, tune_on: Predictions | None, asked: ThresholdRequest
) -> ThresholdSelection:
    _check_cost(asked, "several labels", "an objective of yours: --objective module:function")
    _check_costs(asked, "several labels", "an objective of yours: --objective module:function")
    bounds = {bound.name: bound for name in asked.objectives for bound in part_bounds(name, rows.space)}
    wanted_names = [name for name in asked.objectives or EACH_LABEL if not is_bound(name)]
    plain = [name.removeprefix("max-") for name in wanted_names]
    names = ["f1_macro" if name == "f1" else name for name in plain]
    _check_distinct(names)
    goals = {name: LabelObjective.parse(name) for name in names}
    seed = request.sampling.seed
    asked.check_searched(found=any(goal.kind in ("rows", "function") for goal in goals.values()))
    wanted = asked.search is not None or tune_on is not None
    found: dict[str, Selected] = _bounded(rows, request, tune_on, bounds)
    found |= {
        name: label_thresholds(
            rows,
            name,
            tune_on=tune_on,
            search=asked.searching(seed, name) if wanted or goal.kind == "function" else None,
            sampling=request.sampling,
        )
        for name, goal in goals.items()
    }
    common = {name: _common(rows, goal) for name, goal in goals.items() if goal.kind != "function"}
    return ThresholdSelection(
        _evaluation(rows, request), found, common={k: v for k, v in common.items() if v}
    )


def _bounded(
    rows: Predictions, request: Request, tune_on: Predictions | None, bounds: Mapping[str, PartBound]
) -> dict[str, Selected]:
    """The thresholds under bounds of labels or classes, each against the rest."""
    return {
        name: part_threshold(rows, bound, tune_on=tune_on, sampling=request.sampling)
        for name, bound in bounds.items()
    }


def _common(rows: Predictions, goal: LabelObjective) -> tuple[tuple[int, float], ...]:
    """The value of an objective where all labels have one threshold, by percent."""
    if not isinstance(rows.scores, Probabilities) or rows.scores.values.size > MOST_CELLS:
        return ()
    truth, scores = rows.y_true.astype(bool), rows.scores.values
    steps = range(101)
    return tuple((step, goal.value(truth, np.asarray(scores >= step / 100), rows.weights)) for step in steps)


def _multiclass(
    rows: Predictions, request: Request, tune_on: Predictions | None, asked: ThresholdRequest
) -> ThresholdSelection:
    _check_cost(asked, "several classes", "--costs FILE, with a cost for each answer")
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
    _check_distinct(names)
    asked.check_searched(found=asked.costs is not None or None in bounds.values())
    found = _bounded(rows, request, tune_on, {b.name: b for each in parts.values() for b in each})
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


def _check_cost(asked: ThresholdRequest, what: str, instead: str) -> None:
    if any(name.split(":")[0] == "cost" for name in asked.objectives):
        raise UsageError(
            f"a cost of misses is for two classes; these are {what}", where="--cost", fix=f"use {instead}"
        )


def _check_costs(asked: ThresholdRequest, what: str, instead: str) -> None:
    if asked.costs is not None:
        raise UsageError(
            f"a matrix of costs is for several classes; these are {what}",
            where="--costs",
            fix=f"use {instead}",
        )


def _is_accuracy(name: str) -> bool:
    """Whether an objective is an accuracy among the answered: what a cut-off of confidence keeps."""
    if not is_bound(name):
        return False
    bound = Bound.parse(name, where=f"objective {name!r}")
    return (bound.metric, bound.demands, bound.part, bound.change) == ("accuracy", "high", "", "")


def _check_distinct(names: Sequence[str]) -> None:
    twice = next((name for name in names if list(names).count(name) > 1), None)
    if twice is not None:
        raise UsageError(
            f"two objectives are named {twice}", where="--objective", fix="ask for one of them at a time"
        )

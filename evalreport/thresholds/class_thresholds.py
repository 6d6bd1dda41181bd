"""Thresholds of several classes: weights of the probabilities, or one class against the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.core.bounds import CLOSE, Bound, is_bound
from evalreport.core.errors import UsageError, nearest
from evalreport.core.extensions import load_function
from evalreport.core.result import Undefined
from evalreport.data.labels import Binary, LabelSpace, Multilabel
from evalreport.data.predictions import Categorical, Predictions
from evalreport.data.scores import FloatArray, NoScores, Probabilities
from evalreport.intervals.interval_settings import Sampling
from evalreport.metrics.catalogue import MULTICLASS, OF_ALL, find
from evalreport.statistics.confusion import Array, Counts, Places
from evalreport.statistics.resampling import Stream, poisson_counts, unit_sums
from evalreport.statistics.score_table import ScoreTable
from evalreport.thresholds.best_threshold import Choice, Hold, Optimum, Tuned, Unreachable
from evalreport.thresholds.cross_fitting import check_same_labels, evaluate_thresholds
from evalreport.thresholds.objectives import CostMatrix, Objective, predict_weighted
from evalreport.thresholds.per_label import JointChoice, call_objective, tune_thresholds, units_of
from evalreport.thresholds.sweep import middle_of_longest_run, scores_of_rows
from evalreport.thresholds.trial import Direction
from evalreport.thresholds.trial_search import Dimension, Search, optimise

PASSES = 20
"""Most rounds of a descent over all classes, to limit its time; it usually ends earlier, when a round changes
nothing."""
WIDEST = 1000.0
"""Greatest factor of a weight in a search: beyond it a class is almost always, or never, predicted."""
RESAMPLES = 200
"""Resamples for an interval, each a count of all rows: five are beyond each 95% limit."""
TINY = 1e-300
"""Replaces a weight of 0 in a resample without rows."""


def class_weights(
    rows: Predictions,
    objective: CostMatrix | str,
    *,
    tune_on: Predictions | None = None,
    search: Search | None = None,
    sampling: Sampling | None = None,
) -> Tuned | Undefined:
    """Return a weight for each class; the prediction is the class with the greatest weighted probability.

    Parameters
    ----------
    rows : Predictions
        Reported rows of a multiclass problem, with probabilities.
    objective : CostMatrix or str
        Costs that depend only on the true label separate: by Bayes' rule the weights are these costs. Other
        costs are minimised one class at a time, each step exact, from equal weights and from the mean cost
        of each true label. A multiclass count metric (``f1_macro``, ``balanced_accuracy``, …) or
        ``module:function`` (true labels and predictions as codes, higher is better) is searched by Optuna.
    tune_on : Predictions, optional
        Other rows to fit the weights on; without them the held-out value is cross-fitted.
        Also search with Optuna if the costs do not separate.
    sampling : Sampling, optional

    Returns
    -------
    Tuned, or Undefined without probabilities. Values of costs are mean costs per row: lower is better. The
    start ``bayes rule`` is the value of `CostMatrix.answers`, which weights cannot always represent.

    Raises
    ------
    UsageError
        The objective is unknown, costs have another size, or labels or scores differ from `tune_on`.
    MissingExtraError
        Optuna is needed and not installed.

    Examples
    --------
    >>> from evalreport.data.labels import Multiclass
    >>> from evalreport.data.predictions import predictions
    >>> scores = Probabilities([[0.9, 0.1], [0.8, 0.2], [0.6, 0.4], [0.3, 0.7]])
    >>> rows = predictions(Multiclass("ab"), ["a", "b", "b", "b"], scores=scores)
    >>> found = class_weights(rows, CostMatrix([[0, 1], [4, 0]]))
    >>> found.method, found.values, found.starts["equal"], found.apparent
    ('bayes', {'a': 0.5, 'b': 2.0}, 2.0, 1.0)
    """
    goal = _Goal.parse(objective)
    if goal.costs is not None and len(goal.costs.array) != len(rows.space):
        raise UsageError(
            f"{len(goal.costs.array)} rows of costs for {len(rows.space)} labels",
            where="costs",
            fix="one row and one column per label",
        )
    lacking = "needs probabilities of every label"
    found = tune_thresholds(
        partial(_ClassRows.from_predictions, goal), rows, tune_on, search, sampling or Sampling(), lacking
    )
    if isinstance(found, Undefined):
        return found
    return replace(found, values={label: float(np.exp(log)) for label, log in found.values.items()})


@dataclass(frozen=True, eq=False)
class _Goal:
    """The objective and its direction."""

    name: str
    direction: Direction
    costs: CostMatrix | None = None
    function: Callable[[Any, Any], Any] | None = None

    @classmethod
    def parse(cls, objective: CostMatrix | str) -> _Goal:
        if isinstance(objective, CostMatrix):
            return cls("cost", "minimize", costs=objective)
        if ":" in objective:
            return cls(objective, "maximize", function=load_function(objective, "objective"))
        known = [m.name for m in MULTICLASS if m.reads == "counts" and m.better in ("higher", "lower")]
        if objective not in known:
            raise UsageError(
                f"there is no objective {objective!r} for class weights",
                fix=f"{nearest(objective, known)}; accuracy>=0.95 for a cut-off, a matrix of costs, "
                "or your module:function",
            )
        higher = find(objective, "multiclass").better == "higher"
        return cls(objective, "maximize" if higher else "minimize")


@dataclass(frozen=True, eq=False)
class _ClassRows:
    """A multiclass problem whose log weights are chosen: see `Problem`."""

    goal: _Goal
    labels: tuple[str, ...]
    scores: FloatArray
    truth: Places
    weights: Array
    unit: Places

    @classmethod
    def from_predictions(cls, goal: _Goal, rows: Predictions) -> _ClassRows | None:
        if not isinstance(rows.scores, Probabilities):
            return None
        truth = rows.y_true.astype(np.intp)
        return cls(goal, rows.space.names, rows.scores.values, truth, rows.weights, units_of(rows))

    @property
    def name(self) -> str:
        return self.goal.name

    @property
    def rounds(self) -> int:
        return 1

    @property
    def plain(self) -> Array:
        return np.zeros(len(self.labels))

    def take(self, rows: npt.NDArray[np.bool_]) -> _ClassRows:
        parts = {name: getattr(self, name)[rows] for name in ("scores", "truth", "weights", "unit")}
        return replace(self, **parts)

    def decide(self, values: Array) -> Places:
        return predict_weighted(self.scores, values)

    def value(self, decided: Places) -> float:
        if self.goal.costs is not None:
            spent = self.goal.costs.array[self.truth, decided]
            return float(self.weights @ spent / self.weights.sum())
        if self.goal.function is not None:
            takes = "two arrays of label codes (truth, answers)"
            return call_objective(self.goal.function, self.name, takes, self.truth, decided)
        return self._score_decisions(decided, self.weights)

    def choose(self, search: Search | None) -> JointChoice:
        costs = self.goal.costs
        separate = None if costs is None else costs.by_truth()
        points = {"equal": self.plain}
        if costs is not None and separate is not None:
            points["bayes"] = _center_log_weights(np.log(separate))
            values = self._values(points)
            return JointChoice(points["bayes"], values["bayes"], "bayes", values)
        if costs is None:
            share = np.bincount(self.truth, self.weights, len(self.labels)) / self.weights.sum()
            points["prior"] = _center_log_weights(-np.log(np.maximum(share, 1 / WIDEST)))
            return self._search(points, self._values(points), search or Search())
        points["mean cost"] = _center_log_weights(np.log(np.maximum(costs.extra().mean(axis=1), 1 / WIDEST)))
        for name, point in list(points.items()):
            points[f"descent from {name}"] = self._coordinate_descent(costs.array, point)
        values = self._values(points) | {"bayes rule": self.value(costs.answers(self.scores))}
        best = min(points, key=lambda name: values[name])
        if search is None:
            return JointChoice(points[best], values[best], "coordinate ascent", values)
        return self._search({best: points[best], **points}, values, search)

    def resample_values(self, decided: Places, sampling: Sampling) -> Array:
        if self.goal.function is not None:
            return np.empty(0)
        size = int(self.unit.max()) + 1
        drawn = poisson_counts(
            np.ones(size), min(sampling.resamples, RESAMPLES), sampling.generator(Stream.CLASS_WEIGHTS)
        )
        if self.goal.costs is None:
            return np.array(
                [self._score_decisions(decided, self.weights * times[self.unit]) for times in drawn]
            )
        spent = self.weights * self.goal.costs.array[self.truth, decided]
        above, below = (drawn @ unit_sums(self.unit, part, size) for part in (spent, self.weights))
        mean: Array = above / np.maximum(below, TINY)
        return mean

    def _values(self, points: Mapping[str, Array]) -> dict[str, float]:
        return {name: self.value(self.decide(point)) for name, point in points.items()}

    def _score_decisions(self, decided: Places, weights: Array) -> float:
        counts = Counts.from_codes(self.truth, decided, len(self.labels), weights)
        return float(find(self.name, "multiclass").function(counts.marginals))

    def _coordinate_descent(self, costs: Array, start: Array) -> Array:
        """Log weights that changing any single one does not improve; each change is exact.

        With the other weights fixed, the prediction of a row changes to the class once its weight exceeds the
        ratio of the greatest other weighted probability to its own probability.
        """
        logs, at = np.log(np.maximum(self.scores.astype(np.float64), TINY)), start.copy()
        for _ in range(PASSES):
            before = at.copy()
            for label in range(len(at)):
                rest = logs + at
                rest[:, label] = -np.inf
                other = rest.argmax(axis=1)
                needed = rest[np.arange(len(rest)), other] - logs[:, label]
                change = self.weights * (costs[self.truth, label] - costs[self.truth, other])
                at[label] = _lowest(needed, change, at[label])
            if (before == at).all():
                break
        return _center_log_weights(at)

    def _search(
        self, points: Mapping[str, Array], values: Mapping[str, float], search: Search
    ) -> JointChoice:
        found = optimise(
            lambda point: self.value(self.decide(np.log(point))),
            [Dimension(f"weight: {name}", 1 / WIDEST, WIDEST, log=True) for name in self.labels],
            [np.exp(point).tolist() for point in points.values()],
            search,
            self.name,
            self.goal.direction,
        )
        at = _center_log_weights(np.log(found.point))
        return JointChoice(at, found.value, "optuna", values, found.trials)


def _center_log_weights(logs: Array) -> Array:
    """Log weights with mean 0, which give the same predictions."""
    centred: Array = logs - logs.mean()
    return centred


def _lowest(needed: Array, change: Array, current: float) -> float:
    """The log weight of least cost for rows that need at most that; the current one if none is better."""
    order = np.argsort(needed)
    ranked = needed[order]
    ends = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
    sums = np.append(0.0, change[order].cumsum()[ends])
    most = sums.min() + CLOSE * len(needed)
    if sums[np.searchsorted(ranked[ends], current, side="left")] <= most:
        return current
    place = int(middle_of_longest_run(sums <= most))
    edges = np.concatenate([[ranked[0] - 1], ranked[ends], [ranked[-1] + 1]])
    return float(edges[place] + edges[place + 1]) / 2


REST = Binary("rest", "label")
_NAMES = {binary: name for name, binary in OF_ALL.items()}


@dataclass(frozen=True)
class PartBound:
    """A constraint on one label or class against the rest, or on all labels together.

    Parameters
    ----------
    name : str
        Key of the objective, as in ``recall[joy]>=0.9`` or ``recall_micro>=0.9``.
    label : int or None
        Code of the label; None for all labels together.
    objective : Objective
        Objective of the binary problem.
    """

    name: str
    label: int | None
    objective: Objective


def part_bounds(text: str, space: LabelSpace) -> tuple[PartBound, ...]:
    """Parse an objective as constraints of labels; none if it is not a constraint.

    Parameters
    ----------
    text : str
        ``recall[joy]>=0.9`` for one label or class, ``recall>=0.9`` for each, ``recall_micro>=0.9`` for all
        labels together with one threshold.

    Raises
    ------
    UsageError
        The constraint cannot be parsed, its label does not exist, or it is on an average of labels.

    Examples
    --------
    >>> [bound.name for bound in part_bounds("recall >= 90%", Multilabel("ab"))]
    ['recall[a]>=0.9', 'recall[b]>=0.9']
    >>> part_bounds("f1_macro", Multilabel("ab"))
    ()
    """
    if not is_bound(text):
        return ()
    where = f"objective {text!r}"
    bound = Bound.parse(text, where=where)
    if isinstance(space, Multilabel) and not bound.part and bound.metric in OF_ALL:
        binary = replace(bound, metric=OF_ALL[bound.metric])
        return (PartBound(bound.key, None, Objective.parse(binary.text)),)
    if bound.metric.partition("_")[2] in ("macro", "weighted", "samples", "supported"):
        raise UsageError(
            f"{bound.metric} is an average, which cannot be a constraint of a single threshold",
            where=where,
            fix="constrain every label: recall>=0.9; then the average satisfies it, too",
        )
    if bound.part and bound.part not in space.names:
        raise UsageError(
            f"there is no label {bound.part!r}", where=where, fix=nearest(bound.part, space.names)
        )
    objective = Objective.parse(replace(bound, part="").text)
    parts = (bound.part,) if bound.part else space.names
    return tuple(
        PartBound(replace(bound, part=name).key, space.names.index(name), objective) for name in parts
    )


def part_threshold(
    rows: Predictions, bound: PartBound, *, tune_on: Predictions | None = None, sampling: Sampling
) -> Choice:
    """Return the best threshold under a constraint on one label, or on all together.

    If all labels have one threshold, the rows of the binary problem are the decisions. The decisions of one
    example are a group: they stay together in folds and resamples.

    Parameters
    ----------
    rows : Predictions
        Rows of several labels or classes, with scores.
    tune_on : Predictions, optional
        Other rows to choose on; without them the held-out value is cross-fitted.

    Raises
    ------
    UsageError
        Labels or kind of scores differ from those of `tune_on`.

    Examples
    --------
    >>> from evalreport.data.predictions import predictions
    >>> from evalreport.data.scores import Probabilities
    >>> scores = Probabilities([[0.2, 0.7], [0.6, 0.3], [0.1, 0.2], [0.4, 0.1]])
    >>> rows = predictions(Multilabel("ab"), [["b"], ["a", "b"], [], ["a"]], scores=scores)
    >>> both = part_bounds("recall>=1", rows.space)
    >>> [part_threshold(rows, bound, sampling=Sampling()).threshold for bound in both]
    [0.4, 0.3]
    >>> part_threshold(rows, *part_bounds("recall_micro>=1", rows.space), sampling=Sampling()).threshold
    0.3
    """
    if tune_on is not None:
        check_same_labels(rows, tune_on)
    own, other = (None if p is None else _against_rest(p, bound.label) for p in (rows, tune_on))
    assert own is not None  # noqa: S101  never None for `rows`
    return table_threshold(scores_of_rows(own), bound, rows=own, tune_on=other, sampling=sampling)


def table_threshold(
    table: ScoreTable,
    bound: PartBound,
    *,
    rows: Predictions | None = None,
    tune_on: Predictions | None = None,
    sampling: Sampling,
) -> Choice:
    """Return the best threshold of a label's score table under a constraint; `rows` as in `part_threshold`.

    Examples
    --------
    >>> table = ScoreTable.from_scores(np.array([0.2, 0.6, 0.4]), np.array([False, True, True]))
    >>> table_threshold(table, part_bounds("recall>=1", Multilabel("a"))[0], sampling=Sampling()).threshold
    0.4
    """
    sweep = evaluate_thresholds(table, rows, tune_on=tune_on, objectives=[bound.objective], sampling=sampling)
    return _rename_choice(sweep.optima[bound.objective.name], bound)


def _against_rest(rows: Predictions, label: int | None) -> Predictions:
    """The binary problem of one label, or of all decisions."""
    plain = replace(
        rows, space=REST, y_pred=None, threshold=None, texts=None, ids=None, slices={}, parsed=None
    )
    assert not isinstance(rows.scores, NoScores)  # noqa: S101  checked by the caller
    values, width = rows.scores.values, len(rows.space)
    if label is not None:
        true = rows.y_true[:, label] if rows.y_true.ndim == 2 else rows.y_true == label
        scores = replace(rows.scores, values=np.ascontiguousarray(values[:, label]))
        return replace(plain, y_true=true.astype(np.int32), scores=scores)
    groups = rows.groups or Categorical(np.arange(len(rows), dtype=np.int32), ())
    return replace(
        plain,
        y_true=rows.y_true.astype(np.int32).ravel(),
        scores=replace(rows.scores, values=values.ravel()),
        weights=np.repeat(rows.weights, width),
        groups=replace(groups, codes=np.repeat(groups.codes, width)),
        folds=None,
    )


def _rename_choice(choice: Choice, bound: PartBound) -> Choice:
    """The choice with the name of its constraint, and with the names of metrics of all labels together."""

    def name(metric: str) -> str:
        return metric if bound.label is not None else _NAMES.get(metric, metric)

    if isinstance(choice, Unreachable):
        return replace(choice, objective=bound.name, text=bound.name, metric=name(choice.metric))
    if not isinstance(choice, Optimum):
        return choice
    return replace(
        choice,
        objective=bound.name,
        text=bound.name,
        metric=name(choice.metric),
        constraint=None
        if choice.constraint is None
        else replace(choice.constraint, metric=name(choice.constraint.metric)),
        at_confidence=None
        if choice.at_confidence is None
        else _hold_named(choice.at_confidence, name(choice.metric)),
    )


def _hold_named(hold: Hold, metric: str) -> Hold:
    return hold if hold.costs is None else replace(hold, costs=replace(hold.costs, metric=metric))

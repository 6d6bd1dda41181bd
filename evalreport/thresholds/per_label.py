"""Values chosen together, one per label: thresholds of a multilabel problem, with their held-out value.

One threshold per label is exact if the objective separates into labels or pooled counts; otherwise a search
starts from exact solutions. Cross-fitting is shared with the class weights of a multiclass problem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, Protocol, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.core.bounds import CLOSE
from evalreport.core.errors import UsageError, nearest
from evalreport.core.extensions import load_function
from evalreport.core.result import Undefined
from evalreport.data.predictions import Predictions
from evalreport.data.scores import FloatArray, NoScores, Probabilities
from evalreport.intervals.interval_settings import Sampling
from evalreport.metrics.catalogue import find
from evalreport.statistics.class_scores import ClassScores
from evalreport.statistics.confusion import Array, BinaryCounts, Places
from evalreport.statistics.resampling import BLOCK, DrawnSums, Stream, unit_sums
from evalreport.statistics.score_table import ScoreTable
from evalreport.statistics.summary import SET_SCORES
from evalreport.thresholds.best_threshold import Method, Optimum, OutOfSample, Tuned
from evalreport.thresholds.cross_fitting import FOLDS, check_same_labels, estimate_from_draws
from evalreport.thresholds.sweep import Sweep, middle_of_longest_run
from evalreport.thresholds.trial_search import Dimension, Search, Trials, optimise


@dataclass(frozen=True, eq=False)
class JointChoice:
    """The choice on some rows: one value per label, and the value of the objective on these rows."""

    values: Array
    value: float
    method: Method
    starts: Mapping[str, float]
    trials: Trials | None = None


class Problem(Protocol):
    """Rows on which values are chosen and evaluated."""

    @property
    def name(self) -> str:
        """Name of the objective."""
        ...

    @property
    def weights(self) -> Array:
        """Weight of each row."""
        ...

    @property
    def unit(self) -> Places:
        """Group of each row; the row itself without groups."""
        ...

    @property
    def rounds(self) -> int:
        """Number of repetitions of cross-fitting."""
        ...

    @property
    def plain(self) -> Array | None:
        """The default values, if any."""
        ...

    def take(self, rows: npt.NDArray[np.bool_]) -> Self:
        """Return the problem on some rows."""
        ...

    def choose(self, search: Search | None) -> JointChoice:
        """Return the best values on these rows."""
        ...

    def decide(self, values: Array) -> npt.NDArray[Any]:
        """Return the predictions with the values."""
        ...

    def value(self, decided: npt.NDArray[Any]) -> float:
        """Return the value of predictions on these rows."""
        ...

    def resample_values(self, decided: npt.NDArray[Any], sampling: Sampling) -> Array:
        """Return the values of predictions on resamples of these rows; empty if that costs too much."""
        ...


def units_of(rows: Predictions) -> Places:
    """Return the group of each row; the row itself without groups."""
    return np.arange(len(rows)) if rows.groups is None else rows.groups.codes.astype(np.intp)


def tune_thresholds(
    problem: Callable[[Predictions], Problem | None],
    rows: Predictions,
    tune_on: Predictions | None,
    search: Search | None,
    sampling: Sampling,
    needs: str,
) -> Tuned | Undefined:
    """Choose on `tune_on` and evaluate on `rows`; without `tune_on`, choose on `rows` and cross-fit.

    Parameters
    ----------
    problem : callable
        From rows to their problem; None if they have no scores.
    needs : str
        Reason for rows without scores.
    """
    if tune_on is not None:
        check_same_labels(rows, tune_on)
    own, other = problem(rows), None if tune_on is None else problem(tune_on)
    if own is None or (tune_on is not None and other is None):
        return Undefined(needs, float(rows.weights.sum()))
    choice = (own if other is None else other).choose(search)
    if other is not None:
        out_of_sample = _measure_decisions(own, own.decide(choice.values), "other rows", sampling)
    elif choice.method == "bayes":
        out_of_sample = _measure_decisions(own, own.decide(choice.values), "nothing was fitted", sampling)
    else:
        out_of_sample = _cross_fitted(own, choice, sampling)
    values = dict(zip(rows.space.names, choice.values.tolist(), strict=True))
    without = None if own.plain is None else own.value(own.decide(own.plain))
    return Tuned(
        own.name,
        values,
        choice.value,
        out_of_sample.value,
        out_of_sample.method,
        choice.method,
        choice.starts,
        choice.trials,
        without,
    )


def call_objective(function: Callable[..., Any] | None, name: str, takes: str, *given: Any) -> float:
    """Return the value of a user's objective function.

    Raises
    ------
    UsageError
        The function raised, or did not return a number.
    """
    assert function is not None  # noqa: S101  an objective of this kind has a function
    try:
        return float(function(*given))
    except Exception as error:
        raise UsageError(
            f"objective {name!r} raised {type(error).__name__}: {error}",
            where="objective",
            fix=f"it is called with {takes} and returns a number",
        ) from error


def _cross_fitted(own: Problem, choice: JointChoice, sampling: Sampling) -> OutOfSample:
    if choice.method == "optuna":
        reason = "a search is not repeated in folds: choose on other rows (--tune-on)"
        return OutOfSample(Undefined(reason), None, "cross-fitted")
    if len(np.unique(own.unit)) < FOLDS:
        return too_few()
    rng = fold_generator(sampling)
    found = [
        _measure_decisions(
            own, _cross_fitted_decisions(own, dealt(own.unit, FOLDS, rng)), "cross-fitted", sampling
        )
        for _ in range(own.rounds)
    ]
    return middle_of_rounds(found)


def too_few() -> OutOfSample:
    """Return the result for too few rows to cross-fit."""
    few = Undefined(f"cross-fitting needs at least {FOLDS} rows or groups")
    return OutOfSample(few, None, "cross-fitted")


def middle_of_rounds(found: Sequence[OutOfSample]) -> OutOfSample:
    """Return the repetition with the median value."""
    return sorted(found, key=lambda out_of_sample: out_of_sample.value.value or 0.0)[len(found) // 2]


def _cross_fitted_decisions(own: Problem, fold: Places) -> npt.NDArray[Any]:
    """Predictions of each fold with the values chosen on the other folds."""
    parts = [own.take(fold == i).decide(own.take(fold != i).choose(None).values) for i in range(FOLDS)]
    decided = np.zeros((len(fold), *parts[0].shape[1:]), dtype=parts[0].dtype)
    for i, part in enumerate(parts):
        decided[fold == i] = part
    return decided


def _measure_decisions(
    own: Problem, decided: npt.NDArray[Any], method: str, sampling: Sampling
) -> OutOfSample:
    drawn = own.resample_values(decided, sampling)
    return OutOfSample(
        estimate_from_draws(own.name, own.value(decided), drawn, float(own.weights.sum()), sampling),
        None,
        method,
    )


def dealt(unit: Places, folds: int, rng: np.random.Generator) -> Places:
    """Return a random fold of each row; rows of a group share their fold.

    Examples
    --------
    >>> fold = dealt(np.array([0, 0, 1, 2]), 3, np.random.default_rng(0))
    >>> bool(fold[0] == fold[1]), len(set(fold.tolist()))
    (True, 3)
    """
    fold = rng.permutation(int(unit.max()) + 1) % folds
    found: Places = fold[unit]
    return found


Flags: TypeAlias = npt.NDArray[np.bool_]
Corners: TypeAlias = tuple[Array, Array, Array]
"""True and false positives at some thresholds, and these thresholds."""
Kind: TypeAlias = Literal["each", "pooled", "rows", "function"]
"""Structure of an objective: separate labels, pooled counts, rows, or unknown."""

EACH: Mapping[str, str] = {
    "f1_macro": "f1",
    "f1_macro_supported": "f1",
    "f1_weighted": "f1",
    "jaccard_macro": "jaccard",
    "label_accuracy": "accuracy",
}
"""Means over labels, and the binary metric that each label maximises on its own."""
POOLED = ("f1_micro", "jaccard_micro")
"""Functions of the pooled counts of all labels; both are greatest at the same thresholds."""
ROWS = ("subset_accuracy", "f1_samples", "jaccard_samples")
"""Means over rows of a score of the row's label set."""


@dataclass(frozen=True)
class LabelObjective:
    """A multilabel metric to maximise with one threshold per label.

    Parameters
    ----------
    name : str
        Its metric name, or ``module:function``: a function of two 0/1 integer matrices (true labels, then
        predictions; rows by labels) that returns one number, higher is better.

    Examples
    --------
    >>> LabelObjective.parse("f1_samples").kind
    'rows'
    """

    name: str
    kind: Kind
    function: Callable[[Any, Any], Any] | None = None

    @classmethod
    def parse(cls, name: str) -> LabelObjective:
        """Parse an objective from the command line.

        Raises
        ------
        UsageError
            The objective is unknown (the message names the nearest), or a function cannot be imported.
        """
        if name in EACH:
            return cls(name, "each")
        if name in POOLED:
            return cls(name, "pooled")
        if name in ROWS:
            return cls(name, "rows")
        if cls.is_function(name):
            return cls(name, "function", load_function(name, "objective"))
        known = (*EACH, *POOLED, *ROWS)
        raise UsageError(
            f"there is no objective {name!r} for thresholds of several labels",
            fix=f"{nearest(name, known)}; or your module:function",
        )

    @staticmethod
    def is_function(name: str) -> bool:
        """Return whether an objective is ``module:function``, whose module `parse` imports."""
        return ":" in name

    def value(self, truth: Flags, predicted: Flags, weights: Array) -> float:
        """Return the value of predictions.

        Parameters
        ----------
        truth, predicted : bool arrays of shape (n, labels)
        weights : float64 array of shape (n,)
            Not passed to a user's function.

        Raises
        ------
        UsageError
            The user's function raised, or returned something that is not a number.
        """
        match self.kind:
            case "each" | "pooled":
                return float(self.of_counts(label_counts(truth, predicted, weights)))
            case "rows":
                both, true, flagged = ((a).sum(axis=1) for a in (truth & predicted, truth, predicted))
                score = SET_SCORES[self.name](both, true, flagged)
                return float(weights @ score / weights.sum())
            case "function":
                takes = "two 0/1 matrices (truth, predictions)"
                return call_objective(
                    self.function, self.name, takes, truth.astype(np.int8), predicted.astype(np.int8)
                )

    def of_counts(self, counts: BinaryCounts) -> Any:
        """Return the value for counts by label (the last axis), 0 if it is undefined."""
        return np.nan_to_num(find(self.name, "multilabel").function(counts))


def label_counts(truth: Flags, predicted: Flags, weights: Array) -> BinaryCounts:
    """Return the counts of each label, shape (labels,); for weights of shape (draws, n) (draws, labels).

    Examples
    --------
    >>> counts = label_counts(np.array([[True, False]]), np.array([[True, True]]), np.ones(1))
    >>> counts.tp, counts.fp
    (array([1., 0.]), array([0., 1.]))
    """
    tp = weights @ (truth & predicted)
    flagged, positives = weights @ predicted, weights @ truth
    total = weights.sum(axis=-1, keepdims=True)
    return BinaryCounts(tp, flagged - tp, positives - tp, total - flagged - positives + tp)


PASSES = 20
"""Most rounds of an ascent over all labels, to limit its time; it usually ends earlier, when a round changes
nothing."""


def each_alone(tables: Iterable[ScoreTable], metric: str) -> Array:
    """Return the best threshold of each label for a binary metric: exact for every mean over labels.

    A label without true examples flags nothing (infinity), because every flag would be wrong.

    Parameters
    ----------
    tables : iterable of ScoreTable
        One for each label against the rest.
    metric : str
        Binary count metric.

    Returns
    -------
    float64 array of shape (labels,)

    Examples
    --------
    >>> scores, truth = np.array([[0.2, 0.7], [0.6, 0.3]]), np.array([[False, True], [True, True]])
    >>> each_alone((ScoreTable.from_scores(*columns) for columns in zip(scores.T, truth.T)), "f1")
    array([0.6, 0.3])
    """
    found = []
    for table in tables:
        best = Sweep.from_table(table).best(metric)
        found.append(best.threshold if table.positives and isinstance(best, Optimum) else np.inf)
    return np.array(found)


def maximize_micro_f1(tables: Iterable[ScoreTable]) -> Array:
    """Return the thresholds with the greatest micro-averaged F1: exact, by fractional programming.

    Examples
    --------
    >>> scores, truth = np.array([[0.2, 0.7], [0.6, 0.3]]), np.array([[False, True], [True, True]])
    >>> maximize_micro_f1(ScoreTable.from_scores(*columns) for columns in zip(scores.T, truth.T))
    array([0.6, 0.3])
    """
    return of_corners([corners_of(table) for table in tables])


def of_corners(corners: Sequence[Corners]) -> Array:
    """Return one of the corners of each label, as the thresholds with the greatest micro-averaged F1.

    F = 2 TP / (P + flagged) over all labels is a ratio of sums. For a fixed value v the sum of
    2 TP - v (TP + FP) separates into labels; each part is greatest at a vertex of the hull of its ROC curve.
    v becomes the F reached there until it does not grow (Dinkelbach 1967).
    """
    positives = sum(float(tp[-1]) for tp, _, _ in corners)
    value = -1.0
    while True:
        places = [int((2 * tp - max(value, 0.0) * (tp + fp)).argmax()) for tp, fp, _ in corners]
        flagged = [(tp[i], tp[i] + fp[i]) for (tp, fp, _), i in zip(corners, places, strict=True)]
        hits, all_flagged = (float(sum(part)) for part in zip(*flagged, strict=True))
        reached = 2 * hits / max(positives + all_flagged, 1e-300)
        if reached <= value + CLOSE:
            return np.array([at[i] for (_, _, at), i in zip(corners, places, strict=True)])
        value = reached


def corners_of(table: ScoreTable) -> Corners:
    """Return the vertices of the hull of a ROC curve, from nothing flagged to all flagged."""
    (tp, fp), kept = table.path, table.corners
    return tp[kept], fp[kept], Sweep.from_table(table).thresholds[::-1][kept]


def coordinate_ascent(
    scores: FloatArray, truth: Flags, weights: Array, name: str, start: Array
) -> tuple[Array, float]:
    """Return thresholds that changing any single one does not improve, and their value.

    With the other labels fixed, the best threshold of one label is exact: each flagged row has a gain or a
    loss, and the cumulative gain from the highest score down has a maximum.

    Parameters
    ----------
    scores, truth, weights : as above
    name : str
        A row score: ``subset_accuracy``, ``f1_samples``, ``jaccard_samples``.
    start : float64 array of shape (labels,)

    Returns
    -------
    thresholds : float64 array of shape (labels,)
    value : float
        Never less than the value at `start`.

    Examples
    --------
    >>> scores, truth = np.array([[0.2, 0.7], [0.6, 0.3]]), np.array([[False, True], [True, True]])
    >>> coordinate_ascent(scores, truth, np.ones(2), "f1_samples", np.array([0.1, 0.9]))
    (array([0.6, 0.3]), 1.0)
    """
    score = SET_SCORES[name]
    thresholds = start.astype(np.float64)
    predicted = scores >= thresholds
    both, true, flagged = (part.sum(axis=1) for part in (truth & predicted, truth, predicted))
    orders = np.argsort(-scores, axis=0)
    for _ in range(PASSES):
        before = thresholds.copy()
        for label in range(scores.shape[1]):
            was, right = predicted[:, label], truth[:, label]
            both, flagged = both - (was & right), flagged - was
            off, on = score(both, true, flagged), score(both + right, true, flagged + 1)
            gain = weights * (np.asarray(on, dtype=np.float64) - off)
            thresholds[label] = _best_cut(scores[:, label], gain, orders[:, label], thresholds[label])
            now = predicted[:, label] = scores[:, label] >= thresholds[label]
            both, flagged = both + (now & right), flagged + now
        if (before == thresholds).all():
            break
    return thresholds, float(weights @ score(both, true, flagged) / weights.sum())


def _best_cut(scores: FloatArray, gain: Array, order: npt.NDArray[np.intp], current: float) -> float:
    """The threshold whose flagged rows have the greatest gain; the current one if none is better."""
    ranked = scores[order]
    ends = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
    sums = np.append(0.0, gain[order].cumsum()[ends])
    least = sums.max() - CLOSE * len(scores)
    if sums[np.searchsorted(-ranked[ends], -current, side="right")] >= least:
        return current
    place = int(middle_of_longest_run(sums >= least))
    return np.inf if place == 0 else float(ranked[ends[place - 1]])


FEW = 500_000
"""Most scores for three repetitions of cross-fitting; above it, and for scores of rows, there is one."""
PRODUCTS = 30_000_000
"""Most products of weights and counts for one interval (chosen for speed)."""


def rounds_of(scores: int) -> int:
    """Return the number of repetitions of cross-fitting for a number of scores."""
    return 3 if scores <= FEW else 1


def fold_generator(sampling: Sampling) -> np.random.Generator:
    """Return the random generator that assigns folds, the same for rows in memory and in a stream."""
    return sampling.generator(Stream.LABEL_FOLDS)


def drawn_sums(units: int, labels: int, sampling: Sampling) -> DrawnSums:
    """Return resampled sums over units, as many as affordable."""
    # 100 resamples estimate a standard error to 7% (1 / sqrt(2 * 100))
    times = max(100, min(sampling.resamples, PRODUCTS // (units * labels)))
    return DrawnSums(times, sampling.generator(Stream.LABEL_RESAMPLES))


def counts_of_sums(sums: Array) -> BinaryCounts:
    """Return the counts of each label from sums over rows: of 1, then by label of true, predicted and both.

    Examples
    --------
    >>> counts_of_sums(np.array([[5.0, 3.0, 2.0, 1.0]])).tn
    array([[1.]])
    """
    total, (positives, flagged, tp) = sums[:, :1], np.split(sums[:, 1:], 3, axis=1)
    return BinaryCounts(tp, flagged - tp, positives - tp, total - flagged - positives + tp)


def label_thresholds(
    rows: Predictions,
    objective: str = "f1_macro",
    *,
    tune_on: Predictions | None = None,
    search: Search | None = None,
    sampling: Sampling | None = None,
) -> Tuned | Undefined:
    """Return one threshold per label for an objective.

    Parameters
    ----------
    rows : Predictions
        Reported rows of a multilabel problem, with scores.
    objective : str
        ``f1_macro``, ``f1_macro_supported``, ``f1_weighted``, ``jaccard_macro``, ``label_accuracy`` (separate
        labels) and ``f1_micro``, ``jaccard_micro`` (fractional programming) are exact. ``subset_accuracy``,
        ``f1_samples`` and ``jaccard_samples`` do not separate: thresholds change one label at a time, each
        change exact, from the exact solutions of the others. ``module:function`` is searched by Optuna from
        those solutions.
    tune_on : Predictions, optional
        Other rows, on which the thresholds are chosen; the held-out value is then that on `rows`. Without
        them it is cross-fitted: chosen on nine folds, predicted on the tenth.
    search : Search, optional
        Also search with Optuna if the objective does not separate. The held-out value then needs `tune_on`,
        because a search is not repeated in folds.
    sampling : Sampling, optional
        Level, resamples and seed.

    Returns
    -------
    Tuned, or Undefined without scores. Its starts are 0.5 for all labels (``0.5``, for probabilities), the
    best F1 of each label (``each``), the best micro-averaged F1 (``pooled``) and ascents from them.

    Raises
    ------
    UsageError
        The objective is unknown, a function fails, or labels or scores differ from those of `tune_on`.
    MissingExtraError
        Optuna is needed and not installed.

    Examples
    --------
    >>> from evalreport.data.labels import Multilabel
    >>> from evalreport.data.predictions import predictions
    >>> scores = Probabilities([[0.2, 0.7], [0.6, 0.3], [0.1, 0.2], [0.4, 0.1]])
    >>> rows = predictions(Multilabel("ab"), [["b"], ["a", "b"], [], ["a"]], scores=scores)
    >>> label_thresholds(rows).values
    {'a': 0.4, 'b': 0.3}
    """
    goal = LabelObjective.parse(objective)
    lacking = "needs scores; got only labels"
    return tune_thresholds(
        partial(_LabelRows.from_predictions, goal), rows, tune_on, search, sampling or Sampling(), lacking
    )


@dataclass(frozen=True, eq=False)
class _LabelRows:
    """A multilabel problem whose thresholds are chosen: see `Problem`."""

    goal: LabelObjective
    labels: tuple[str, ...]
    scores: FloatArray
    truth: Flags
    weights: Array
    weighted: bool
    probabilities: bool
    unit: Places

    @classmethod
    def from_predictions(cls, goal: LabelObjective, rows: Predictions) -> _LabelRows | None:
        if isinstance(rows.scores, NoScores):
            return None
        return cls(
            goal,
            rows.space.names,
            rows.scores.values,
            rows.y_true.astype(bool),
            rows.weights,
            rows.weighted,
            isinstance(rows.scores, Probabilities),
            units_of(rows),
        )

    @property
    def name(self) -> str:
        return self.goal.name

    @property
    def rounds(self) -> int:
        return 1 if self.goal.kind == "rows" else rounds_of(self.scores.size)

    @property
    def plain(self) -> Array | None:
        return np.full(len(self.labels), 0.5) if self.probabilities else None

    def take(self, rows: Flags) -> _LabelRows:
        parts = {name: getattr(self, name)[rows] for name in ("scores", "truth", "weights", "unit")}
        return replace(self, **parts)

    def decide(self, values: Array) -> Flags:
        flagged: Flags = self.scores >= values
        return flagged

    def value(self, decided: Flags) -> float:
        return self.goal.value(self.truth, decided, self.weights)

    def choose(self, search: Search | None) -> JointChoice:
        points = self._starts()
        values = {name: self.value(self.decide(point)) for name, point in points.items()}
        best = max(values, key=lambda name: values[name])
        if self.goal.kind in ("each", "pooled"):
            return JointChoice(points[self.goal.kind], values[self.goal.kind], "exact", values)
        if self.goal.kind == "rows" and search is None:
            return JointChoice(points[best], values[best], "coordinate ascent", values)
        return self._search([points[best], *points.values()], values, search or Search())

    def resample_values(self, decided: Flags, sampling: Sampling) -> Array:
        if self.goal.kind == "function":
            return np.empty(0)
        size = int(self.unit.max()) + 1
        drawn = drawn_sums(size, len(self.labels), sampling)
        if len(self.unit) == size:
            for start in range(0, size, BLOCK):
                drawn.add(self._row_contributions(decided, slice(start, start + BLOCK)))
        else:
            drawn.add(unit_sums(self.unit, self._row_contributions(decided, slice(None)), size))
        if self.goal.kind == "rows":
            above, below = drawn.sums[1:].T
            values: Array = above / np.maximum(below, 1e-300)
            return values
        return np.asarray(self.goal.of_counts(counts_of_sums(drawn.sums[1:])))

    def _row_contributions(self, decided: Flags, rows: slice) -> Array:
        """Weighted quantities of rows that are summed: shape (n, k)."""
        truth, flags, weights = self.truth[rows], decided[rows], self.weights[rows, None]
        if self.goal.kind == "rows":
            both, true, flagged = (a.sum(axis=1) for a in (truth & flags, truth, flags))
            score = np.asarray(SET_SCORES[self.goal.name](both, true, flagged))
            both_parts: Array = weights * np.stack([score, np.ones(len(score))], axis=1)
            return both_parts
        added: Array = weights * np.hstack([np.ones((len(truth), 1)), truth, flags, truth & flags])
        return added

    def _starts(self) -> dict[str, Array]:
        """Starting points by name: exact solutions, and ascents from them."""
        scores = ClassScores(self.scores, self.truth, self.weights if self.weighted else None)
        points = {} if self.plain is None else {"0.5": self.plain}
        if self.goal.kind != "pooled":
            points["each"] = each_alone(scores.tables(), EACH.get(self.name, "f1"))
        if self.goal.kind != "each":
            points["pooled"] = maximize_micro_f1(scores.tables())
        if self.goal.kind == "rows":
            for name, point in list(points.items()):
                climbed, _ = coordinate_ascent(self.scores, self.truth, self.weights, self.name, point)
                points[f"ascent from {name}"] = climbed
        return points

    def _search(self, starts: list[Array], values: Mapping[str, float], search: Search) -> JointChoice:
        """Search with Optuna, for each label from flagging all rows to flagging none."""
        least, greatest = (
            end.astype(np.float64) for end in (self.scores.min(axis=0), self.scores.max(axis=0))
        )
        none = np.nextafter(greatest, np.inf)
        found = optimise(
            lambda point: self.value(self.decide(np.array(point))),
            [
                Dimension(f"threshold: {name}", low, high, log=self.probabilities and low > 0)
                for name, low, high in zip(self.labels, least.tolist(), none.tolist(), strict=True)
            ],
            [start.tolist() for start in starts],
            search,
            self.name,
        )
        point = np.array(found.point)
        thresholds = np.where(point >= none, np.inf, point)
        return JointChoice(thresholds, found.value, "optuna", values, found.trials)

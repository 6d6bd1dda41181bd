"""One threshold per label: exact where the objective allows it, searched from there where it does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from evalreport.facts import BinaryCounts, ClassScores
from evalreport.facts.counts import Array, Places
from evalreport.facts.sets import SET_SCORES
from evalreport.intervals.sampling import Sampling
from evalreport.predictions import Predictions
from evalreport.resampling import BLOCK, DrawnSums, unit_sums
from evalreport.scores import FloatArray, NoScores, Probabilities
from evalreport.study.search import Dimension, Search, optimise
from evalreport.thresholds.label_optima import EACH, Flags, LabelObjective, ascended, each_alone, pooled
from evalreport.thresholds.records import Tuned
from evalreport.thresholds.tuned import JointChoice, tuned, units_of
from evalreport.values import Undefined

FEW = 500_000
"""Scores up to which rows are dealt into folds three times; once above it, and where labels are climbed."""
PRODUCTS = 30_000_000
"""Products of weights and counts that are afforded for one interval (chosen by hand for speed)."""


def rounds_of(scores: int) -> int:
    """Return how many times rows of so many scores are dealt into folds."""
    return 3 if scores <= FEW else 1


def drawn_sums(units: int, labels: int, sampling: Sampling) -> DrawnSums:
    """Return what sums over units that are drawn anew, as often as can be afforded."""
    # 100 draws know a standard error to 7% (1 / sqrt(2 * 100))
    times = max(100, min(sampling.resamples, PRODUCTS // (units * labels)))
    return DrawnSums(times, sampling.generator(6))


def counts_of_sums(sums: Array) -> BinaryCounts:
    """Return the counts of each label, of sums over rows: of 1, then by label of truth, decision and both.

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
        Of a multilabel problem, with scores: the rows that are reported on.
    objective : str
        ``f1_macro``, ``f1_macro_supported``, ``f1_weighted``, ``jaccard_macro``, ``label_accuracy`` (each
        label alone) and ``f1_micro``, ``jaccard_micro`` (fractional programming) are exact.
        ``subset_accuracy``, ``f1_samples`` and ``jaccard_samples`` do not fall apart into labels:
        thresholds are moved one label at a time, each move exact, from the exact solutions of the
        others. ``module:function`` is searched by Optuna, from those solutions.
    tune_on : Predictions, optional
        Other rows that the thresholds are chosen on; the out-of-sample value is then that on `rows`. Without
        them it is cross-fitted: chosen on nine folds, decided on the tenth.
    search : Search, optional
        Also let Optuna search where the objective does not fall apart. An out-of-sample value then needs
        `tune_on`, since a search is not repeated in folds.
    sampling : Sampling, optional
        Level, draws and seed.

    Returns
    -------
    Tuned, or Undefined without scores. Its starts are 0.5 for all labels (``0.5``, of probabilities),
    each label's own best F1 (``each``), the best micro-averaged F1 (``pooled``) and ascents from them.

    Raises
    ------
    UsageError
        An objective that is not known; a function that fails; labels or scores unlike those of `tune_on`.
    MissingExtraError
        Optuna is needed and not installed.

    Examples
    --------
    >>> from evalreport.labels import Multilabel
    >>> from evalreport.predictions import predictions
    >>> scores = Probabilities([[0.2, 0.7], [0.6, 0.3], [0.1, 0.2], [0.4, 0.1]])
    >>> rows = predictions(Multilabel("ab"), [["b"], ["a", "b"], [], ["a"]], scores=scores)
    >>> label_thresholds(rows).values
    {'a': 0.4, 'b': 0.3}
    """
    goal = LabelObjective.parse(objective)
    lacking = "needs scores; got labels alone"
    return tuned(partial(_LabelRows.of, goal), rows, tune_on, search, sampling or Sampling(), lacking)


@dataclass(frozen=True, eq=False)
class _LabelRows:
    """A multilabel problem to choose thresholds on: see `Problem`."""

    goal: LabelObjective
    labels: tuple[str, ...]
    scores: FloatArray
    truth: Flags
    weights: Array
    weighted: bool
    probabilities: bool
    unit: Places

    @classmethod
    def of(cls, goal: LabelObjective, rows: Predictions) -> _LabelRows | None:
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

    def drawn(self, decided: Flags, sampling: Sampling) -> Array:
        if self.goal.kind == "function":
            return np.empty(0)
        size = int(self.unit.max()) + 1
        drawn = drawn_sums(size, len(self.labels), sampling)
        if len(self.unit) == size:
            for start in range(0, size, BLOCK):
                drawn.add(self._added(decided, slice(start, start + BLOCK)))
        else:
            drawn.add(unit_sums(self.unit, self._added(decided, slice(None)), size))
        if self.goal.kind == "rows":
            above, below = drawn.sums[1:].T
            values: Array = above / np.maximum(below, 1e-300)
            return values
        return np.asarray(self.goal.of_counts(counts_of_sums(drawn.sums[1:])))

    def _added(self, decided: Flags, rows: slice) -> Array:
        """What is summed of rows, by their weights: shape (n, k)."""
        truth, flags, weights = self.truth[rows], decided[rows], self.weights[rows, None]
        if self.goal.kind == "rows":
            both, true, flagged = (a.sum(axis=1) for a in (truth & flags, truth, flags))
            score = np.asarray(SET_SCORES[self.goal.name](both, true, flagged))
            both_parts: Array = weights * np.stack([score, np.ones(len(score))], axis=1)
            return both_parts
        added: Array = weights * np.hstack([np.ones((len(truth), 1)), truth, flags, truth & flags])
        return added

    def _starts(self) -> dict[str, Array]:
        """Starting points by name: those that are exact for something, and ascents from them."""
        scores = ClassScores(self.scores, self.truth, self.weights if self.weighted else None)
        points = {} if self.plain is None else {"0.5": self.plain}
        if self.goal.kind != "pooled":
            points["each"] = each_alone(scores.tables(), EACH.get(self.name, "f1"))
        if self.goal.kind != "each":
            points["pooled"] = pooled(scores.tables())
        if self.goal.kind == "rows":
            for name, point in list(points.items()):
                climbed, _ = ascended(self.scores, self.truth, self.weights, self.name, point)
                points[f"ascent from {name}"] = climbed
        return points

    def _search(self, starts: list[Array], values: Mapping[str, float], search: Search) -> JointChoice:
        """Let Optuna search from flagging all rows to flagging none, label by label."""
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

"""Averages over classes or labels of a function of their counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from evalreport.facts import BinaryCounts, LabelScores, Marginals, Tally
from evalreport.facts.counts import Array
from evalreport.facts.rankings import Rankings
from evalreport.metrics.record import divide

Over: TypeAlias = Literal["macro", "macro_supported", "macro_declared", "weighted"]
Fact: TypeAlias = BinaryCounts | Marginals


def labelwise(fact: Fact) -> BinaryCounts:
    """Return each class or label against all others, arrays of shape (..., K)."""
    return fact.one_vs_rest if isinstance(fact, Marginals) else fact


@dataclass(frozen=True)
class Average:
    """Average over the last axis of a function of one-vs-rest counts.

    Parameters
    ----------
    of : callable
        From `BinaryCounts` to values; NaN counts as 0, as with scikit-learn's ``zero_division=0``.
    over : {"macro", "macro_supported", "macro_declared", "weighted"}
        Multiclass: ``macro`` over the classes that occur in truth or predictions (scikit-learn's default),
        ``macro_supported`` over those with true examples, ``macro_declared`` over all declared,
        ``weighted`` by true examples. Multilabel: ``macro`` is over all labels, as in scikit-learn.

    Examples
    --------
    >>> from evalreport.metrics.binary_counts import recall
    >>> counts = BinaryCounts(np.array([1.0, 0.0]), 0, np.array([1.0, 0.0]), np.array([0.0, 2.0]))
    >>> float(Average(recall, "macro")(counts)), float(Average(recall, "macro_supported")(counts))
    (0.25, 0.5)
    """

    of: Callable[[BinaryCounts], Any]
    over: Over

    def __call__(self, fact: Fact) -> Any:
        """Return the average, NaN over nothing."""
        weight = self._weight(fact)
        return divide((weight * np.nan_to_num(self.of(labelwise(fact)))).sum(axis=-1), weight.sum(axis=-1))

    def seen(self, fact: Fact) -> Any:
        """Return the average over those classes alone that have a value of their own; NaN over none."""
        values, weight = self.parts(fact)
        return divide(
            (weight * np.nan_to_num(values)).sum(axis=-1), (weight * ~np.isnan(values)).sum(axis=-1)
        )

    def parts(self, fact: Fact) -> tuple[Any, Any]:
        """Return the value of each class, NaN where it has none, and its weight, arrays of shape (..., K)."""
        return self.of(labelwise(fact)), self._weight(fact)

    def _weight(self, fact: Fact) -> Any:
        counts = labelwise(fact)
        match self.over:
            case "weighted":
                return counts.positives
            case "macro_supported":
                return (counts.positives > 0).astype(np.float64)
            case "macro" if isinstance(fact, Marginals):
                return (counts.positives + counts.flagged > 0).astype(np.float64)
            case _:
                return np.ones_like(counts.positives)


@dataclass(frozen=True)
class Pooled:
    """A function of the counts of all classes or labels together: the micro average.

    Examples
    --------
    >>> from evalreport.metrics.binary_counts import precision
    >>> counts = BinaryCounts(np.array([1.0, 3.0]), np.array([4.0, 0.0]), 0, 0)
    >>> float(Pooled(precision)(counts))
    0.5
    """

    of: Callable[[BinaryCounts], Any]

    def __call__(self, fact: Fact) -> Any:
        """Return the function of the summed counts."""
        c = labelwise(fact)
        shape = np.shape(c.tp)
        parts = (np.broadcast_to(part, shape).sum(axis=-1) for part in (c.tp, c.fp, c.fn, c.tn))
        return self.of(BinaryCounts(*parts))


@dataclass(frozen=True)
class Gap:
    """A function of all classes together less an average over them.

    Examples
    --------
    >>> from evalreport.metrics.binary_counts import recall
    >>> counts = BinaryCounts(np.array([8.0, 0.0]), 0, np.array([0.0, 2.0]), 0)
    >>> round(float(Gap(Pooled(recall), Average(recall, "macro"))(counts)), 3)
    0.3
    """

    whole: Pooled
    average: Average

    def __call__(self, fact: Fact) -> Any:
        """Return the difference."""
        return self.whole(fact) - self.average(fact)


@dataclass(frozen=True)
class Mean:
    """The mean of a tallied per-row quantity.

    Examples
    --------
    >>> float(Mean("loss")(Tally.of({"loss": np.array([1.0, 3.0])}, np.ones(2))))
    2.0
    """

    name: str

    def __call__(self, tally: Tally) -> float:
        """Return the mean, NaN when it was not tallied."""
        return tally.mean(self.name)


@dataclass(frozen=True)
class AreaAverage:
    """An average over classes or labels of the area under their one-vs-rest curve.

    Parameters
    ----------
    area : {"roc_auc", "average_precision"}
    over : {"macro", "macro_declared", "weighted", "micro", "pairs"}
        ``macro`` the mean over the classes that can be measured; ``macro_declared`` over all, NaN as soon as
        one cannot; ``weighted`` by true examples, so that a class without any has no weight; ``micro`` of all
        (row, label) decisions together; ``pairs`` Hand & Till's M, the mean AUC over pairs of classes that
        have examples.

    Examples
    --------
    >>> from evalreport.facts import ClassScores
    >>> scores = ClassScores(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0, 1]), None)
    >>> AreaAverage("roc_auc", "pairs")(scores), AreaAverage("average_precision", "micro")(scores)
    (1.0, 1.0)
    """

    area: Literal["roc_auc", "average_precision"]
    over: Over | Literal["micro", "pairs"]

    def __call__(self, scores: LabelScores) -> float:
        """Return the average, NaN over nothing."""
        ranked = scores.rankings
        if self.over == "micro":
            roc_auc, precision = scores.pooled_areas
            return roc_auc if self.area == "roc_auc" else precision
        if self.over == "pairs":
            present = ranked.positives > 0
            return float(ranked.pairs[present].mean()) if present.sum() > 1 else float("nan")
        weights = self.weights(ranked)
        counted = weights > 0
        return float(weights[counted] @ self.each(ranked)[counted]) if counted.any() else float("nan")

    def each(self, ranked: Rankings) -> Array:
        """Return the area of each class, NaN where it has none, shape (K,)."""
        return ranked.roc_auc if self.area == "roc_auc" else ranked.average_precision

    def weights(self, ranked: Rankings) -> Array:
        """Return the weight of each class, shape (K,); they add up to 1, or are all 0."""
        match self.over:
            case "weighted":
                weight = ranked.positives
            case "pairs":
                weight = (ranked.positives > 0).astype(np.float64)
            case "macro":
                weight = (~np.isnan(self.each(ranked))).astype(np.float64)
            case _:
                weight = np.ones(len(ranked.positives))
        share: Array = weight / max(weight.sum(), np.finfo(np.float64).tiny)
        return share

    def unmeasured(self, scores: LabelScores) -> int:
        """Return how many classes have no area."""
        return int(np.isnan(self.each(scores.rankings)).sum())

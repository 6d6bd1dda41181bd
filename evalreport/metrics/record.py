"""Metric records and interval strategies: each record names a strategy, and `intervals` depends only on it.

A strategy contains what the interval method must know about the metric, and nothing that the method can read
from the sufficient statistics. Several strategies share a family, the name of the method in output.

A metric is one record. Listing it is enough to test, document, log and draw it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from evalreport.core.format import Style
from evalreport.core.result import Undefined
from evalreport.data.labels import Binary, Multiclass, Task
from evalreport.statistics.confusion import Array, BinaryCounts, Counts
from evalreport.statistics.score_table import NEEDS_EXACT_SCORES, BinnedTable, ScoreTable
from evalreport.statistics.summary import Summary

Family: TypeAlias = Literal["wilson", "delong", "counts", "ranking", "probabilities", "mean", "own", "none"]
"""A proportion, an AUC, a function of counts, of the ranking or of probabilities, a mean over rows, or a
user-defined function; ``none`` for plain counts and settings, which are not estimates."""


@dataclass(frozen=True)
class NoInterval:
    """A plain count or a setting: it is not an estimate."""

    family: ClassVar[Family] = "none"
    reason: ClassVar[str] = "counts and settings are not estimates"


@dataclass(frozen=True)
class NoMethod:
    """A metric without an interval method of measured coverage.

    Parameters
    ----------
    family : str
    """

    family: Family
    reason: ClassVar[str] = "no method with measured coverage"


@dataclass(frozen=True)
class Proportion:
    """A proportion of the rows that the record's `over` counts.

    Parameters
    ----------
    certain : int
        The metric is 1 for every model with at most this number of labels, so there is nothing to estimate.
    """

    certain: int = 0
    family: ClassVar[Family] = "wilson"


@dataclass(frozen=True)
class RightAnswers:
    """Multiclass: correct predictions, with the number of predictions derived from the value."""

    family: ClassVar[Family] = "counts"


@dataclass(frozen=True)
class CountDraws:
    """A smooth function of counts; resampled counts give its spread."""

    family: ClassVar[Family] = "counts"


@dataclass(frozen=True)
class DeLong:
    """ROC AUC, or a linear function of it that covers the record's range."""

    merged: ClassVar[bool] = True
    family: ClassVar[Family] = "delong"


@dataclass(frozen=True)
class Smooth:
    """A function of the score table that is smooth in the rows: the record has its `derivative`.

    Parameters
    ----------
    family : {"ranking", "probabilities", "mean"}
    merged : bool
        Whether the value is the same for a table whose negatives are merged between positives.
    """

    family: Literal["ranking", "probabilities", "mean"]
    merged: bool = False


@dataclass(frozen=True)
class CalibrationGaps:
    """The mean gap between probability and observed rate over bins, above 0 in a finite sample.

    Parameters
    ----------
    bins : {"width", "mass"}
        Bins of equal width or of equal weight.
    """

    bins: Literal["width", "mass"]
    family: ClassVar[Family] = "probabilities"


@dataclass(frozen=True)
class SmoothGaps:
    """The mean gap of probability and smooth calibration curve, above 0 in a finite sample."""

    family: ClassVar[Family] = "probabilities"


@dataclass(frozen=True)
class BestThreshold:
    """The largest difference of TPR and FPR over all thresholds."""

    family: ClassVar[Family] = "ranking"


Reading: TypeAlias = Literal[
    "equal errors", "tpr at fpr", "fpr at tpr", "precision at recall", "recall at precision", "lift"
]


@dataclass(frozen=True)
class CurvePoint:
    """The value of a curve where it crosses a limit.

    Parameters
    ----------
    reading : str
    at : float
        The limit, a fraction; not used for equal errors.
    """

    reading: Reading
    at: float = 0.0
    family: ClassVar[Family] = "ranking"


@dataclass(frozen=True)
class LabelAreas:
    """An average over classes or labels of areas under their curves, given by the function."""

    family: ClassVar[Family] = "ranking"


@dataclass(frozen=True)
class RowMean:
    """The mean of a quantity that each row has."""

    family: ClassVar[Family] = "mean"


@dataclass(frozen=True)
class OwnMetric:
    """A user-defined function of the rows; its interval is a bootstrap interval."""

    family: ClassVar[Family] = "own"


Strategy: TypeAlias = (
    NoInterval
    | NoMethod
    | Proportion
    | RightAnswers
    | CountDraws
    | DeLong
    | Smooth
    | CalibrationGaps
    | SmoothGaps
    | BestThreshold
    | CurvePoint
    | LabelAreas
    | RowMean
    | OwnMetric
)


Needs: TypeAlias = Literal["truth", "counts", "scores", "probabilities", "order", "text"]
"""Required input: only true labels, decisions, any scores, probabilities, ordered labels, or a
parser."""
Reads: TypeAlias = Literal["truth", "counts", "scores", "tally", "confidence", "bins"]
"""Which sufficient statistic the function takes: see `view`."""
Influence: TypeAlias = tuple[Array, Array]
"""Influence of a positive and of a negative row on a value, at each distinct score: see `derivatives`."""
Better: TypeAlias = Literal["higher", "lower", "one", "zero", "neither"]


@dataclass(frozen=True)
class Metric:
    """One metric of one task.

    Parameters
    ----------
    name : str
        Key in `evaluation.json`, in MLflow and on the command line.
    title, meaning, formula : str
        Shown to people: name, one line in plain English, definition.
    task : {"binary", "multiclass", "multilabel"}
    needs, reads : str
        Required input, and which sufficient statistic the function takes.
    low, high : float
        Range of possible values, both included.
    better : str
        Which direction is better; ``one`` and ``zero`` are target values.
    strategy : Strategy
        How its confidence interval is computed.
    function : callable
        From the sufficient statistic to the value; NaN if undefined. Functions of counts also take arrays.
    undefined : str or callable
        Why the value is NaN: a text, or a function of the sufficient statistic.
    over : str, optional
        Field of the sufficient statistic with the denominator of a proportion, such as ``positives``; the
        total by default.
    no_skill : callable, optional
        From the summary to the value of a model without skill; None if it depends on how that model
        guesses.
    derivative : callable, optional
        From a score table to the influence of its rows on the value.
    bounds : callable, optional
        From binned scores to bounds on the value; the value of `function` is within them. Without it, a
        metric of scores is undefined for binned scores.
    monotone : {"always", "above 0"}, optional
        For functions of binary counts: where more true positives and fewer false positives never make it
        worse or undefined, so its best threshold is a corner of the ROC curve.
    rate : bool
        Whether it is a fraction of rows or decisions, or a mean of such fractions; a `Proportion` always is.
    source, use, trap : str
        Paper or reference implementation; when to use it; how it can mislead.
    """

    name: str
    title: str
    meaning: str
    formula: str
    task: Task
    needs: Needs
    reads: Reads
    low: float
    high: float
    better: Better
    strategy: Strategy
    function: Callable[[Any], Any]
    undefined: str | Callable[[Any], str] = "it is 0/0"
    over: str | None = None
    no_skill: Callable[[Summary], float] | None = None
    derivative: Callable[[ScoreTable], Influence] | None = None
    bounds: Callable[[BinnedTable], tuple[float, float]] | None = None
    monotone: Literal["always", "above 0"] | None = None
    rate: bool = False
    source: str = ""
    use: str = ""
    trap: str = ""

    @property
    def interval(self) -> Family:
        """Family of its confidence interval."""
        return self.strategy.family

    @property
    def no_interval(self) -> str | None:
        """Why it never has an interval; None if it can have one."""
        return self.strategy.reason if isinstance(self.strategy, NoInterval | NoMethod) else None

    @property
    def style(self) -> Style:
        """How its values are shown: percent for rates, decimals for bounded metrics, otherwise a number."""
        if self.rate or isinstance(self.strategy, Proportion):
            return "percent"
        return "ratio" if self.low >= -1 and self.high <= 1 else "number"

    def compute_value(self, summary: Summary) -> float | Undefined:
        """Return the value of the metric, or why it is undefined."""
        missing = lacks(self, summary)
        if missing is None and self.is_beyond(summary):
            missing = NEEDS_EXACT_SCORES
        if missing is not None:
            return Undefined(missing, summary.weight)
        fact = view(summary, self.reads)
        value = float(self.function(fact))
        if math.isfinite(value):
            return self.clip_to_range(value)
        reason = self.undefined if isinstance(self.undefined, str) else self.undefined(fact)
        return Undefined(reason, summary.weight)

    def is_beyond(self, summary: Summary) -> bool:
        """Return whether scores are binned and this metric has no bounds for binned scores."""
        return self.reads == "scores" and self.bounds is None and isinstance(summary.scores, BinnedTable)

    def clip_to_range(self, value: float) -> float:
        """Return the value, clipped to its range if it is outside only by rounding of weighted sums."""
        # sums of many weights in another order differ by less than this
        near = 1e-9 * max(1.0, abs(value))
        return min(max(value, self.low), self.high) if self.low - near <= value <= self.high + near else value

    def weight(self, summary: Summary) -> float:
        """Return the weight that the value was computed over."""
        if self.over is None or lacks(self, summary) is not None:
            return summary.weight
        return float(self.denominator(view(summary, self.reads), summary.weight))

    def denominator(self, fact: Any, total: float) -> Any:
        """Return the weight that a value is computed over: the total, or a part of it."""
        return total if self.over is None else getattr(fact, self.over)


def divide(above: Any, below: Any) -> Any:
    """Return above / below elementwise: NaN for 0/0, infinite if only `below` is 0.

    Examples
    --------
    >>> divide(np.array([1.0, 0.0]), np.array([2.0, 0.0]))
    array([0.5, nan])
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.divide(above, below)


def because(*causes: tuple[Callable[[Any], Any], str]) -> Callable[[Any], str]:
    """Return a function that returns the text of the first cause that applies.

    Examples
    --------
    >>> because((lambda c: c.positives == 0, "no positive example"))(BinaryCounts(0, 1, 0, 4))
    'no positive example'
    """

    def reason(fact: Any) -> str:
        return next((text for holds, text in causes if holds(fact)), "it is 0/0")

    return reason


def view(summary: Summary, reads: Reads) -> Any:
    """Return the sufficient statistic that a metric takes.

    ``counts`` is `BinaryCounts` for binary (numbers) and multilabel (one entry per label) and `Marginals`
    for multiclass; ``scores`` is a `ScoreTable` for binary, else `LabelScores`; ``truth`` is the counts, or
    the scores without decisions.
    """
    if reads == "truth":
        return view(summary, "scores" if summary.counts is None else "counts")
    if reads != "counts":
        return getattr(summary, reads)
    if not isinstance(summary.counts, Counts):
        return summary.counts
    if isinstance(summary.space, Binary):
        point = summary.threshold.value if summary.threshold else math.nan
        return summary.counts.binary(point if isinstance(point, float) else math.nan)
    return summary.counts.marginals


def lacks(metric: Metric, summary: Summary) -> str | None:
    """Return a text on the input that a metric needs and the summary lacks; None if nothing is missing."""
    kind = summary.score_kind
    match metric.needs:
        case "truth":
            return None
        case "counts" | "text" if summary.counts is None:
            return "needs predictions or a threshold; got only decision scores"
        case "order" if not (isinstance(summary.space, Multiclass) and summary.space.ordered):
            return "needs ordered labels"
        case "scores" | "probabilities" if kind is None:
            return f"needs {'scores' if metric.needs == 'scores' else 'probabilities'}; got only labels"
        case "probabilities" if kind == "decision":
            return "needs probabilities; got decision scores"
        case _:
            return None


def one_vs_rest(summary: Summary) -> BinaryCounts | None:
    """Return the one-vs-rest counts of each label, fields of shape (labels,); None without decisions."""
    if summary.counts is None:
        return None
    fact = view(summary, "counts")
    if isinstance(summary.space, Binary) or isinstance(summary.counts, BinaryCounts):
        return fact  # type: ignore[no-any-return]
    return fact.one_vs_rest  # type: ignore[no-any-return]

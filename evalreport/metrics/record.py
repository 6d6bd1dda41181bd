"""How the interval of a metric is made: each record names a strategy, and `intervals` knows strategies alone.

A strategy holds what the maker of the interval has to know of the metric, and nothing that it could read off
the facts. Several kinds share a family, the word by which people are told.

What a metric is: one record, tested, documented, logged and drawn by being listed.
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
from evalreport.statistics.binned_tables import NOT_TOLD, BinnedTable
from evalreport.statistics.confusion import Array, BinaryCounts, Counts
from evalreport.statistics.score_table import ScoreTable
from evalreport.statistics.summary import Summary

Family: TypeAlias = Literal["wilson", "delong", "counts", "ranking", "probabilities", "mean", "own", "none"]
"""A proportion, an AUC, a function of counts, of the ranking, of probabilities, a mean over rows, a function
of the user's own; ``none`` for plain counts and settings, which estimate nothing."""


@dataclass(frozen=True)
class NoInterval:
    """A plain count or a setting: it estimates nothing."""

    family: ClassVar[Family] = "none"
    reason: ClassVar[str] = "counts and settings estimate nothing"


@dataclass(frozen=True)
class NoMethod:
    """A metric for whose interval no method has a measured coverage.

    Parameters
    ----------
    family : str
    """

    family: Family
    reason: ClassVar[str] = "no method with measured coverage"


@dataclass(frozen=True)
class Proportion:
    """A share of the rows that the record's `over` counts.

    Parameters
    ----------
    certain : int
        Labels up to which the metric is 1 whatever the model, so that there is nothing to estimate.
    """

    certain: int = 0
    family: ClassVar[Family] = "wilson"


@dataclass(frozen=True)
class RightAnswers:
    """Several classes: right answers among as many answers as the value itself tells."""

    family: ClassVar[Family] = "counts"


@dataclass(frozen=True)
class CountDraws:
    """A smooth function of counts, of which draws of the counts tell the spread."""

    family: ClassVar[Family] = "counts"


@dataclass(frozen=True)
class DeLong:
    """ROC AUC, or a linear function of it that reaches from end to end of the record's range."""

    merged: ClassVar[bool] = True
    family: ClassVar[Family] = "delong"


@dataclass(frozen=True)
class Smooth:
    """A function of the score table that is smooth in the rows: the record has its `derivative`.

    Parameters
    ----------
    family : {"ranking", "probabilities", "mean"}
    merged : bool
        Whether it reads the same off a table whose negatives are merged between positives.
    """

    family: Literal["ranking", "probabilities", "mean"]
    merged: bool = False


@dataclass(frozen=True)
class CalibrationGaps:
    """The mean gap between probability and frequency over bins, never 0 in a sample.

    Parameters
    ----------
    bins : {"width", "mass"}
        Bins of equal width or of equal weight.
    """

    bins: Literal["width", "mass"]
    family: ClassVar[Family] = "probabilities"


@dataclass(frozen=True)
class SmoothGaps:
    """The mean gap between probability and smooth calibration curve over rows, never 0 in a sample."""

    family: ClassVar[Family] = "probabilities"


@dataclass(frozen=True)
class BestThreshold:
    """The greatest difference of the two rates over all thresholds."""

    family: ClassVar[Family] = "ranking"


Reading: TypeAlias = Literal[
    "equal errors", "tpr at fpr", "fpr at tpr", "precision at recall", "recall at precision", "lift"
]


@dataclass(frozen=True)
class CurvePoint:
    """What a curve reads where it crosses a limit.

    Parameters
    ----------
    reading : str
    at : float
        The limit, a share; of no meaning for equal errors.
    """

    reading: Reading
    at: float = 0.0
    family: ClassVar[Family] = "ranking"


@dataclass(frozen=True)
class LabelAreas:
    """An average over classes or labels of areas under their curves: the function tells which."""

    family: ClassVar[Family] = "ranking"


@dataclass(frozen=True)
class RowMean:
    """The mean of a quantity that each row has."""

    family: ClassVar[Family] = "mean"


@dataclass(frozen=True)
class OwnMetric:
    """A function of the user's own, of the rows: its interval is that of the bootstrap."""

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
"""What must be known: the truth alone, decisions, any scores, probabilities, an order of the labels, a
parser."""
Reads: TypeAlias = Literal["truth", "counts", "scores", "tally", "confidence", "bins"]
"""Which fact the function takes: see `view`."""
Influence: TypeAlias = tuple[Array, Array]
"""What a positive and a negative row do to a value, at each distinct score: see `derivatives`."""
Better: TypeAlias = Literal["higher", "lower", "one", "zero", "neither"]


@dataclass(frozen=True)
class Metric:
    """One metric of one task.

    Parameters
    ----------
    name : str
        Key in `evaluation.json`, in MLflow and on the command line.
    title, meaning, formula : str
        For people: name in words, one line in plain English, definition.
    task : {"binary", "multiclass", "multilabel"}
    needs, reads : str
        What must be known, and which fact the function takes.
    low, high : float
        Range of possible values, both included.
    better : str
        Which direction is better; ``one`` and ``zero`` are targets.
    strategy : Strategy
        How its confidence interval is made.
    function : callable
        From the fact to the value; NaN where it is undefined. Functions of counts take arrays, too.
    undefined : str or callable
        Why the value is NaN, as text or from the fact.
    over : str, optional
        Field of the fact with the weight that the value is computed over (a proportion's denominator): a
        share of the ``positives``, of all that was ``flagged`` …; the total by default.
    no_skill : callable, optional
        From the summary to the value that a model which knows nothing would have; none where that
        depends on how it guesses.
    derivative : callable, optional
        From a score table to the influence of its rows on the value.
    bounds : callable, optional
        From scores in bins to what the value surely lies between, and so does that of `function`; a metric of
        scores without it has no value there.
    monotone : {"always", "above 0"}, optional
        Of a function of binary counts: where more true and fewer false positives never make it worse, nor
        undefined, so that its best threshold is a corner of the ROC curve.
    rate : bool
        Whether it is a share of rows or decisions, or a mean of such shares; a `Proportion` is one anyway.
    source, use, trap : str
        Paper or reference implementation; when to use it; how it misleads.
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
    undefined: str | Callable[[Any], str] = "it is 0/0 here"
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
        """Family of its confidence interval, in a word."""
        return self.strategy.family

    @property
    def no_interval(self) -> str | None:
        """Why it has no interval, whatever the data; None where it may have one."""
        return self.strategy.reason if isinstance(self.strategy, NoInterval | NoMethod) else None

    @property
    def style(self) -> Style:
        """How its values are shown: rates in per cent, what lies between ends as decimals, else a number."""
        if self.rate or isinstance(self.strategy, Proportion):
            return "percent"
        return "ratio" if self.low >= -1 and self.high <= 1 else "number"

    def compute_value(self, summary: Summary) -> float | Undefined:
        """Return the value of the metric, or why there is none."""
        missing = lacks(self, summary)
        if missing is None and self.is_beyond(summary):
            missing = NOT_TOLD
        if missing is not None:
            return Undefined(missing, summary.weight)
        fact = view(summary, self.reads)
        value = float(self.function(fact))
        if math.isfinite(value):
            return self.clip_to_range(value)
        reason = self.undefined if isinstance(self.undefined, str) else self.undefined(fact)
        return Undefined(reason, summary.weight)

    def is_beyond(self, summary: Summary) -> bool:
        """Return whether scores are in bins, which tell this metric not even within bounds."""
        return self.reads == "scores" and self.bounds is None and isinstance(summary.scores, BinnedTable)

    def clip_to_range(self, value: float) -> float:
        """Return a value on its bound where rounding of weighted sums carried it over."""
        # sums of many weights in another order differ by less, and nobody reads a ninth digit
        near = 1e-9 * max(1.0, abs(value))
        return min(max(value, self.low), self.high) if self.low - near <= value <= self.high + near else value

    def weight(self, summary: Summary) -> float:
        """Return the weight that the value was computed over."""
        if self.over is None or lacks(self, summary) is not None:
            return summary.weight
        return float(self.denominator(view(summary, self.reads), summary.weight))

    def denominator(self, fact: Any, total: float) -> Any:
        """Return the weight that a value of a fact is computed over: the total, or a part of it."""
        return total if self.over is None else getattr(fact, self.over)


def divide(above: Any, below: Any) -> Any:
    """Return above / below elementwise: NaN where 0/0, infinite where only `below` is 0.

    Examples
    --------
    >>> divide(np.array([1.0, 0.0]), np.array([2.0, 0.0]))
    array([0.5, nan])
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.divide(above, below)


def because(*causes: tuple[Callable[[Any], Any], str]) -> Callable[[Any], str]:
    """Return the function that names the first cause which holds of a fact.

    Examples
    --------
    >>> because((lambda c: c.positives == 0, "no positive example"))(BinaryCounts(0, 1, 0, 4))
    'no positive example'
    """

    def reason(fact: Any) -> str:
        return next((text for holds, text in causes if holds(fact)), "it is 0/0 here")

    return reason


def view(summary: Summary, reads: Reads) -> Any:
    """Return the fact that a metric takes.

    ``counts`` is `BinaryCounts` for binary (numbers) and multilabel (one entry per label) and `Marginals`
    for multiclass; ``scores`` is a `ScoreTable` for binary, else `LabelScores`; ``truth`` is the counts, or
    the scores where nothing decides.
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
    """Return what a metric needs and the summary has not, in words; None when nothing is missing."""
    kind = summary.score_kind
    match metric.needs:
        case "truth":
            return None
        case "counts" | "text" if summary.counts is None:
            return "needs predictions or a threshold; got decision scores alone"
        case "order" if not (isinstance(summary.space, Multiclass) and summary.space.ordered):
            return "needs labels that are declared ordered"
        case "scores" | "probabilities" if kind is None:
            return f"needs {'scores' if metric.needs == 'scores' else 'probabilities'}; got labels alone"
        case "probabilities" if kind == "decision":
            return "needs probabilities; got decision scores"
        case _:
            return None


def one_vs_rest(summary: Summary) -> BinaryCounts | None:
    """Return each label against all others, fields of shape (labels,); None without decisions."""
    if summary.counts is None:
        return None
    fact = view(summary, "counts")
    if isinstance(summary.space, Binary) or isinstance(summary.counts, BinaryCounts):
        return fact  # type: ignore[no-any-return]
    return fact.one_vs_rest  # type: ignore[no-any-return]

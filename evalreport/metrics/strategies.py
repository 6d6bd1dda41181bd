"""How the interval of a metric is made: each record names a strategy, and `intervals` knows strategies alone.

A strategy holds what the maker of the interval has to know of the metric, and nothing that it could read off
the facts. Several kinds share a family, the word by which people are told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

Family: TypeAlias = Literal["wilson", "delong", "counts", "ranking", "probabilities", "mean", "none"]
"""A proportion, an AUC, a function of counts, of the ranking, of probabilities, a mean over rows; ``none``
for plain counts and settings, which estimate nothing."""


@dataclass(frozen=True)
class NoInterval:
    """A plain count or a setting: it estimates nothing."""

    family: ClassVar[Family] = "none"


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
class Evenness:
    """How many labels a distribution is worth, at most as many as there are.

    Parameters
    ----------
    of : {"truth", "answers"}
        Whose labels.
    """

    of: Literal["truth", "answers"]
    family: ClassVar[Family] = "counts"


@dataclass(frozen=True)
class MostFrequent:
    """What the most frequent class decides.

    Parameters
    ----------
    of : {"truth", "answers"}
        Where it is the most frequent.
    gain : bool
        Whether the metric is the accuracy beyond its share, in place of the share.
    """

    of: Literal["truth", "answers"] = "truth"
    gain: bool = False
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
    """Gaps between probability and frequency over bins, which no sample has none of.

    Parameters
    ----------
    bins : {"width", "mass", "score"}
        Bins of equal width, of equal weight, or one for each distinct score.
    gap : {"mean", "square", "greatest"}
        What is made of the gaps: their mean, their mean square, or the greatest.
    base : bool
        Whether the gaps are those of always answering the prevalence, in place of the probability.
    """

    bins: Literal["width", "mass", "score"]
    gap: Literal["mean", "square", "greatest"]
    base: bool = False
    family: ClassVar[Family] = "probabilities"


@dataclass(frozen=True)
class SmoothGaps:
    """Gaps between probability and smooth calibration curve over rows, which no sample has none of.

    Parameters
    ----------
    quantile : float or None
        Which quantile of the gaps; their mean without one.
    """

    quantile: float | None = None
    family: ClassVar[Family] = "probabilities"


@dataclass(frozen=True)
class Isotonic:
    """A part of a score under the best monotone recalibration: its overfit shrinks too slowly to be told."""

    family: ClassVar[Family] = "probabilities"


@dataclass(frozen=True)
class ClassGaps:
    """The mean of the calibration gaps of each class's probability.

    Parameters
    ----------
    declared : bool
        Over all declared classes, in place of those that have examples.
    """

    declared: bool = False

    family: ClassVar[Family] = "probabilities"


@dataclass(frozen=True)
class OfPrevalence:
    """The prevalence times its complement: the truth alone."""

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


Strategy: TypeAlias = (
    NoInterval
    | Proportion
    | RightAnswers
    | CountDraws
    | Evenness
    | MostFrequent
    | DeLong
    | Smooth
    | CalibrationGaps
    | SmoothGaps
    | Isotonic
    | ClassGaps
    | OfPrevalence
    | BestThreshold
    | CurvePoint
    | LabelAreas
    | RowMean
)

"""Every curve of an evaluation, from facts alone, thinned for display."""

from __future__ import annotations

from typing import TypeAlias, assert_never

from evalreport.core.result import Undefined
from evalreport.curves.binary import BinaryCurves, binary_curves, of_summary
from evalreport.curves.curve import Band, Cardinality, Curve, Histogram, Reliability
from evalreport.curves.multiclass import (
    LabelSweep,
    MulticlassCurves,
    MultilabelCurves,
    of_multiclass,
    of_multilabel,
)
from evalreport.data.labels import Binary, Multiclass, Multilabel
from evalreport.statistics.summary import Summary

Curves: TypeAlias = BinaryCurves | MulticlassCurves | MultilabelCurves

__all__ = [
    "Band",
    "BinaryCurves",
    "Cardinality",
    "Curve",
    "Curves",
    "Histogram",
    "LabelSweep",
    "MulticlassCurves",
    "MultilabelCurves",
    "Reliability",
    "binary_curves",
    "curves",
]


def curves(summary: Summary, level: float = 0.95) -> Curves | Undefined:
    """Return the curves of a summary, or why there are none.

    Parameters
    ----------
    summary : Summary
    level : float
        Confidence level of bands and Wilson limits.

    Examples
    --------
    >>> from evalreport.statistics.summary import summarise
    >>> from evalreport.data.predictions import predictions
    >>> curves(summarise(predictions(Binary(0, 1), [0, 1], [0, 1])))
    Undefined(reason='needs scores; got only labels', n=2.0)
    """
    match summary.space:
        case Binary():
            return of_summary(summary, level)
        case Multiclass():
            return of_multiclass(summary, level)
        case Multilabel():
            return of_multilabel(summary, level)
        case never:
            assert_never(never)

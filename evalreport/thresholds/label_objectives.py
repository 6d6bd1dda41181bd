"""What the thresholds of several labels are chosen for, and whether it can be had exactly."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.errors import UsageError, nearest
from evalreport.facts import BinaryCounts
from evalreport.facts.counts import Array
from evalreport.facts.sets import SET_SCORES
from evalreport.metrics.catalogue import find
from evalreport.parsing.function import load
from evalreport.thresholds.tuned import called

Flags: TypeAlias = npt.NDArray[np.bool_]
Kind: TypeAlias = Literal["each", "pooled", "rows", "function"]
"""How labels hang together: each alone, through one pool of counts, row by row, or in a way not known."""

EACH: Mapping[str, str] = {
    "f1_macro": "f1",
    "f1_macro_supported": "f1",
    "f1_weighted": "f1",
    "jaccard_macro": "jaccard",
    "label_accuracy": "accuracy",
}
"""Means over labels, and the binary metric that each label maximises alone."""
POOLED = ("f1_micro", "jaccard_micro")
"""Functions of the counts of all labels together; both are greatest at the same thresholds."""
ROWS = ("subset_accuracy", "f1_samples", "jaccard_samples")
"""Means over rows of a score of the whole label set of a row."""


@dataclass(frozen=True)
class LabelObjective:
    """A multilabel metric to be maximised over one threshold per label.

    Parameters
    ----------
    name : str
        Its metric name, or ``module:function``: a function of two 0/1 integer matrices (truth, then
        predictions, rows by labels) that returns one number, the greater the better.

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
        """Read a goal as it stands on the command line.

        Raises
        ------
        UsageError
            A goal that is not known, with the nearest name; a function that cannot be imported.
        """
        if name in EACH:
            return cls(name, "each")
        if name in POOLED:
            return cls(name, "pooled")
        if name in ROWS:
            return cls(name, "rows")
        if ":" in name:
            return cls(name, "function", load(name, "objective"))
        known = (*EACH, *POOLED, *ROWS)
        raise UsageError(
            f"there is no objective {name!r} for thresholds of several labels",
            fix=f"{nearest(name, known)}; or module:function of yours",
        )

    def value(self, truth: Flags, predicted: Flags, weights: Array) -> float:
        """Return the value of predictions.

        Parameters
        ----------
        truth, predicted : bool arrays of shape (n, labels)
        weights : float64 array of shape (n,)
            Not told to a function of the user's.

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
                return called(
                    self.function, self.name, takes, truth.astype(np.int8), predicted.astype(np.int8)
                )

    def of_counts(self, counts: BinaryCounts) -> Any:
        """Return the value of counts by label (the last axis), 0 where it is undefined."""
        return np.nan_to_num(find(self.name, "multilabel").function(counts))


def label_counts(truth: Flags, predicted: Flags, weights: Array) -> BinaryCounts:
    """Return the counts of each label, arrays of shape (labels,); of weights (draws, n): (draws, labels).

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

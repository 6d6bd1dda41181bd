"""How well one set of labels answers another: per-row scores of multilabel predictions.

Each takes three arrays of one shape: the number of labels in both sets, in the true set and in the
predicted set. A ratio 0/0 is 0, as with scikit-learn's `zero_division=0`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.facts.counts import Array

Sizes: TypeAlias = npt.NDArray[Any]


def ratio(above: Sizes, below: Sizes) -> Array:
    """Return above / below, 0 where it is 0/0.

    Examples
    --------
    >>> ratio(np.array([1, 0]), np.array([2, 0]))
    array([0.5, 0. ])
    """
    found: Array = np.divide(above, below, out=np.zeros(np.shape(above)), where=np.asarray(below) > 0)
    return found


SET_SCORES: Mapping[str, Callable[[Sizes, Sizes, Sizes], Sizes]] = {
    "subset_accuracy": lambda both, true, predicted: (both == true) & (both == predicted),
    "jaccard_samples": lambda both, true, predicted: ratio(both, true + predicted - both),
    "precision_samples": lambda both, _, predicted: ratio(both, predicted),
    "recall_samples": lambda both, true, _: ratio(both, true),
    "f1_samples": lambda both, true, predicted: ratio(2 * both, true + predicted),
}
"""Scores of a row by name, from (labels in both, true labels, predicted labels)."""

"""What it costs to answer one label when another is true, and the rule of least expected cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evalreport.errors import DataError
from evalreport.facts.counts import Array, Places
from evalreport.scores import FloatArray


@dataclass(frozen=True, eq=False)
class CostMatrix:
    """The cost of each answer for each true label; a gain is negative.

    Parameters
    ----------
    cells : array-like of shape (K, K)
        Row: true label, column: answer, both in the order of the labels.

    Raises
    ------
    DataError
        Another shape than square, or costs that are not finite.

    Examples
    --------
    >>> costs = CostMatrix([[0, 1], [10, 0]])
    >>> costs.by_truth()
    array([ 1., 10.])
    """

    cells: npt.ArrayLike

    def __post_init__(self) -> None:
        try:
            cells = np.array(self.cells, dtype=np.float64)
        except (TypeError, ValueError):
            raise DataError("the costs are not numbers", where="costs", fix="pass a list of lists") from None
        if cells.ndim != 2 or cells.shape[0] != cells.shape[1] or not np.isfinite(cells).all():
            raise DataError(
                f"the cost matrix has shape {cells.shape}, or costs that are not finite",
                where="costs",
                fix="give one row per true label and one column per answer, all finite",
            )
        cells.flags.writeable = False
        object.__setattr__(self, "cells", cells)

    @property
    def array(self) -> Array:
        """The cells, shape (K, K)."""
        return np.asarray(self.cells)

    def extra(self) -> Array:
        """Return what wrong answers cost beyond the right one, shape (K, K - 1)."""
        extra = self.array - self.array.diagonal()[:, None]
        apart: Array = extra[~np.eye(len(extra), dtype=bool)].reshape(len(extra), -1)
        return apart

    def by_truth(self) -> Array | None:
        """Return what any wrong answer costs for each true label, if that depends on the truth alone.

        Then the costs separate: answering the greatest probability weighted with these costs has the
        least expected cost (Elkan 2001). None where they do not, or where a wrong answer is no dearer
        than the right one.
        """
        extra = self.extra()
        # differences of costs as they were typed: equal ones differ by rounding alone
        same = np.allclose(extra, extra[:, :1], rtol=1e-12, atol=0)
        return extra[:, 0] if same and (extra > 0).all() else None

    def answers(self, probabilities: FloatArray) -> Places:
        """Return the label of least expected cost for each row: Bayes' rule, exact on true probabilities.

        Parameters
        ----------
        probabilities : float array of shape (n, K)

        Returns
        -------
        int array of shape (n,)

        Examples
        --------
        >>> CostMatrix([[0, 1], [10, 0]]).answers(np.array([[0.8, 0.2], [0.95, 0.05]]))
        array([1, 0])
        """
        answers: Places = (probabilities @ self.array).argmin(axis=1)
        return answers


def answered(probabilities: FloatArray, log_weights: Array) -> Places:
    """Return the label with the greatest weighted probability, the first of equal ones.

    Examples
    --------
    >>> answered(np.array([[0.6, 0.4]]), np.log([1.0, 2.0]))
    array([1])
    """
    answers: Places = (probabilities * np.exp(log_weights)).argmax(axis=1)
    return answers

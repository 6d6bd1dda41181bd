"""Whole rows, where rows weigh: what sentences count, while shares and metrics are of weights."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evalreport.codec import Whole
from evalreport.evaluation.parts import ClassResult
from evalreport.facts import Counts
from evalreport.labels import Multilabel
from evalreport.predictions import Predictions


@dataclass(frozen=True)
class RowCounts:
    """Rows that each cell of the confusion matrix and each label has, each counted once.

    Parameters
    ----------
    cells : tuple of (truth code, predicted code, rows)
        Empty for several labels; the code after the last label is of answers that could not be read.
    labels : tuple of (support, predicted, right)
        In the order of the labels.
    """

    cells: tuple[tuple[Whole, Whole, Whole], ...]
    labels: tuple[tuple[Whole, Whole, Whole], ...]

    def confusion(self) -> Counts:
        """Return the confusion matrix in rows."""
        size = len(self.labels)
        cells = np.array(self.cells, dtype=np.int64).reshape(-1, 3)
        return Counts(size, cells[:, 0] * (size + 1) + cells[:, 1], cells[:, 2].astype(np.float64))

    def classes(self, known: tuple[ClassResult, ...]) -> tuple[ClassResult, ...]:
        """Return results of classes with their counts in rows; shares and metrics stay weighted."""
        cells = {(row, column): n for row, column, n in self.cells}
        place = {entry.label: code for code, entry in enumerate(known)}
        return tuple(
            replace(
                entry,
                support=n,
                predicted=predicted,
                right=right,
                confusions=tuple(
                    replace(one, weight=cells.get((code, place.get(one.label, len(known))), 0))  # type: ignore[arg-type]
                    for one in entry.confusions
                ),
            )
            for code, (entry, (n, predicted, right)) in enumerate(zip(known, self.labels, strict=False))
        )


def row_counts(p: Predictions) -> RowCounts | None:
    """Return the rows behind weighted counts; None where each row weighs the same, or nothing decides.

    Examples
    --------
    >>> from evalreport.labels import Binary
    >>> from evalreport.predictions import predictions
    >>> row_counts(predictions(Binary(0, 1), [0, 1, 1], [0, 1, 0], weights=[1, 2, 7])).cells
    ((0, 0, 1), (1, 0, 1), (1, 1, 1))
    """
    if not p.weighted or p.y_pred is None:
        return None
    if isinstance(p.space, Multilabel):
        truth, answer = p.y_true.astype(bool), p.y_pred > 0
        columns = truth.sum(axis=0), answer.sum(axis=0), (truth & answer).sum(axis=0)
        return RowCounts((), _whole(*columns))
    counts = Counts.of(p.y_true, p.y_pred, len(p.space), None)
    known = counts.marginals
    return RowCounts(
        _whole(counts.rows, counts.columns, counts.weight), _whole(known.support, known.predicted, known.tp)
    )


def _whole(*columns: np.ndarray) -> tuple[tuple[int, int, int], ...]:
    a, b, c = (column.astype(np.int64).tolist() for column in columns)
    return tuple(zip(a, b, c, strict=True))

"""Checks of a stream against readings that cannot be right, by statistics of all rows.

The checks are those of tables in memory (`evalreport.columns.plausible`). Confusion counts and areas under
ROC are exact. Several evaluations in one stream are found in two ways, both in bounded memory: by all rows of
some examples, chosen by a hash of their id, and by a digest of the true labels in order, for each value of a
column.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.columns.column_request import Columns as Options
from evalreport.columns.label_pairs import MOST_CLASSES, Coded, LabelPairs
from evalreport.columns.plausible import (
    MOST_EVALUATIONS,
    Several,
    is_one_sequence,
    ranking_error,
    refuse_constant,
    refuse_order,
    refuse_permuted,
    refuse_reversed,
    several_error,
    several_evaluations,
)
from evalreport.data.arrays import id_keys
from evalreport.data.labels import UNPARSED, Binary, Multilabel
from evalreport.data.predictions import Predictions
from evalreport.data.scores import NoScores, highest
from evalreport.features.large.read import PredictionStream
from evalreport.metrics.binary_ranking import roc_auc
from evalreport.readers.content import in_file
from evalreport.statistics.class_scores import LabelScores
from evalreport.statistics.confusion import Array, Counts
from evalreport.statistics.score_table import ScoreTable
from evalreport.statistics.summary import Summary

Columns = Mapping[str, npt.NDArray[Any]]
"""Columns of few values, by name, each of shape (n,)."""
KEPT = 2000
"""Rows of which ids are compared, at most: a sample of the ids with all their rows."""
PREFIX = 1000
"""True labels of a value from which a sorted or a periodic sequence is recognized."""
LEVELS = 40
"""Halvings of the sample of ids; more rows of so few ids are not evaluations of the same examples."""


class ExampleRows:
    """All rows of some examples, chosen by a hash of their id; at most `KEPT`. Two of them add up.

    Examples
    --------
    >>> rows = ExampleRows()
    >>> for model in ("a", "b"):
    ...     rows.add(np.arange(5000), np.arange(5000) % 2, {"model": np.full(5000, model)})
    >>> found = rows.several()
    >>> found.columns, found.key, 500 < len(rows) <= KEPT
    (('model',), 'id', True)
    """

    def __init__(self) -> None:
        self._level = 0
        self._keys = np.empty(0, dtype=np.uint64)
        self._labels = np.empty(0, dtype=np.int64)
        self._values: dict[str, npt.NDArray[Any]] = {}

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, ids: npt.NDArray[Any], labels: npt.NDArray[Any], beside: Columns) -> None:
        """Add rows: their ids, true labels as codes of shape (n,), and columns of few values."""
        keys = id_keys(ids)
        some = self._is_kept(keys)
        values = {name: column[some].astype(str) for name, column in beside.items()}
        self._append(keys[some], labels[some], values)

    def _is_kept(self, keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
        kept: npt.NDArray[np.bool_] = (keys & np.uint64((1 << self._level) - 1)) == 0
        return kept

    def _append(self, keys: npt.NDArray[np.uint64], labels: npt.NDArray[Any], values: Columns) -> None:
        if len(self._keys):
            keys, labels = np.concatenate([self._keys, keys]), np.concatenate([self._labels, labels])
            values = {name: np.concatenate([column, values[name]]) for name, column in self._values.items()}
        self._keys, self._labels, self._values = keys, labels.astype(np.int64), dict(values)
        while len(self._keys) > KEPT and self._level < LEVELS:
            self._level += 1
            some = self._is_kept(self._keys)
            self._keys, self._labels = self._keys[some], self._labels[some]
            self._values = {name: column[some] for name, column in self._values.items()}

    def several(self, key: str = "id") -> Several | None:
        """Return the columns that separate several evaluations; `key` is the name of the id column."""
        if self._level >= LEVELS:
            return None
        labels = np.unique(self._labels, return_inverse=True)[1]
        return several_evaluations({**self._values, key: self._keys}, labels)

    def state(self) -> list[Any]:
        """Return the rows as JSON can hold them."""
        values = {name: column.tolist() for name, column in self._values.items()}
        return [self._level, self._keys.tolist(), self._labels.tolist(), values]

    def take(self, state: Sequence[Any]) -> None:
        """Add the rows of another."""
        level, keys, labels, values = state
        self._level = max(self._level, level)
        own = self._is_kept(self._keys)
        self._keys, self._labels = self._keys[own], self._labels[own]
        self._values = {name: column[own] for name, column in self._values.items()}
        found = np.array(keys, dtype=np.uint64)
        some = self._is_kept(found)
        if some.any():
            columns = {name: np.array(column)[some] for name, column in values.items()}
            self._append(found[some], np.array(labels, dtype=np.int64)[some], columns)


class LabelSequences:
    """For each value of a column its number of rows and a digest of its true labels, in order.

    Examples
    --------
    >>> sequences, truth = LabelSequences(), np.array([0, 1, 1, 0, 0, 1, 0, 1, 1, 1, 0, 0])
    >>> for model in ("a", "b"):
    ...     sequences.add({"model": np.full(12, model)}, truth)
    >>> sequences.several().columns
    ('model',)
    """

    def __init__(self) -> None:
        self._digests: dict[str, dict[Any, Any]] = {}
        self._rows: dict[str, dict[Any, int]] = {}
        self._first: dict[str, Array] = {}
        self._dropped: set[str] = set()

    def add(self, beside: Columns, labels: npt.NDArray[Any]) -> None:
        """Add rows: columns of few values, and true labels as codes of shape (n,)."""
        for name, column in beside.items():
            coded = None if name in self._dropped else Coded.from_column(column)
            digests, rows = self._digests.setdefault(name, {}), self._rows.setdefault(name, {})
            if coded is None or len({*digests, *coded.values}) > MOST_EVALUATIONS:
                self._dropped.add(name)
                continue
            order = np.argsort(coded.codes, kind="stable")
            parts = np.split(labels[order].astype(np.int64), np.cumsum(coded.counts)[:-1])
            for value, part in zip(coded.values, parts, strict=True):
                digests.setdefault(value, hashlib.sha256()).update(part.tobytes())
                rows[value] = rows.get(value, 0) + len(part)
                if value == next(iter(digests)):
                    known = self._first.get(name, part[:0])
                    self._first[name] = np.concatenate([known, part[: max(PREFIX - len(known), 0)]])

    def several(self) -> Several | None:
        """Return the column whose values have the same true labels in the same order."""
        for name, digests in self._digests.items():
            same = len({digest.digest() for digest in digests.values()}) == 1
            if name in self._dropped or len(digests) < 2 or not same:
                continue
            if len({*self._rows[name].values()}) == 1 and is_one_sequence(self._first[name]):
                return Several((name,), (tuple(digests),), "")
        return None


class ReadingGuard:
    """Statistics of all rows of a stream that show whether its columns are read right.

    Parameters
    ----------
    size : int
        Number of labels.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self.decided: Counts | None = None
        """Several classes with predictions: predicted labels against those of the greatest score."""
        self.examples, self.sequences = ExampleRows(), LabelSequences()

    def add(self, batch: Predictions, ids: npt.NDArray[Any] | None, beside: Columns) -> None:
        """Add a batch, with the ids of its rows and the columns that may separate evaluations."""
        several = isinstance(batch.space, Multilabel)
        if not several and self._size <= MOST_CLASSES and batch.y_pred is not None:
            self._decide(batch)
        if not beside:
            return
        labels = id_keys(batch.y_true).view(np.int64) if several else batch.y_true
        if ids is not None:
            self.examples.add(ids, labels, beside)
        self.sequences.add(beside, labels)

    def _decide(self, batch: Predictions) -> None:
        if isinstance(batch.scores, NoScores) or batch.scores.values.ndim == 1 or batch.y_pred is None:
            return
        read = batch.y_pred != UNPARSED
        found = Counts.from_codes(batch.y_pred[read], highest(batch.scores.values)[read], self._size)
        self.decided = found if self.decided is None else self.decided + found

    def state(self) -> dict[str, Any]:
        """Return the statistics as JSON can hold them; partitions have no order, and no sequences."""
        cells = None if self.decided is None else [self.decided.cells.tolist(), self.decided.weight.tolist()]
        return {"decided": cells, "examples": self.examples.state()}

    def take(self, state: Mapping[str, Any]) -> None:
        """Add the statistics of another."""
        self.examples.take(state["examples"])
        if state["decided"] is not None:
            cells, weight = state["decided"]
            found = Counts(self._size, np.array(cells, dtype=np.int64), np.array(weight, dtype=np.float64))
            self.decided = found if self.decided is None else self.decided + found


def refuse_reading(
    guard: ReadingGuard,
    stream: PredictionStream,
    request: Options,
    summary: Summary,
    support: Array,
    against_predictions: ScoreTable | None,
) -> None:
    """Refuse a reading that the rows of a stream contradict, as tables in memory are refused.

    Parameters
    ----------
    guard : ReadingGuard
    stream : PredictionStream
    request : Columns
        The options about columns.
    summary : Summary
        Of all rows.
    support : float64 array
        Rows of each true label.
    against_predictions : ScoreTable, optional
        Two labels with predictions: scores against these.

    Raises
    ------
    DataError
    """
    source, space, parts = stream.data.files[0], stream.space, dict(stream.found.taken)
    truth, texts = parts["truth"], space.texts
    with in_file(str(source)):
        several = guard.examples.several(stream.request.id or "") or guard.sequences.several()
        if several is not None:
            raise several_error(several, source.name)
        if isinstance(space, Multilabel):
            return
        occurring = [space.labels[code] for code in np.flatnonzero(support).tolist()]
        named = request.truth is not None or request.labels is not None
        refuse_constant(truth, occurring, summary.rows, named=named)
        given = stream.pred is not None
        pairs = LabelPairs.from_counts(summary.counts, texts) if isinstance(summary.counts, Counts) else None
        if given and request.labels is None:
            refuse_permuted(pairs, truth)
        score = parts.get("scores", parts.get("score"))
        if score is None:
            return
        if not isinstance(space, Binary):
            if given:
                pairs = None if guard.decided is None else LabelPairs.from_counts(guard.decided, texts)
            places = score.partition(" ")[0].endswith("[*]")
            refuse_order(pairs, score, texts, given=given, places=places)
        if request.positive is None:
            table = against_predictions if given else summary.scores
            areas = _areas(table if isinstance(space, Binary) else summary.scores, support, pairs)
            of = "predicted" if given and isinstance(space, Binary) else "true"
            plain = stream.score is not None and len(stream.score.columns) == 1
            refuse_reversed(areas, score, texts, of=of, plain=plain)


def _areas(scores: object, support: Array, pairs: LabelPairs | None) -> list[tuple[float, float]]:
    """The areas under ROC for `refuse_reversed`, of two labels or of each of several."""
    if isinstance(scores, ScoreTable):
        error = ranking_error(scores.positives, scores.negatives)
        return [(float(roc_auc(scores)), error)] if error else []
    if not isinstance(scores, LabelScores) or pairs is None:
        return []
    if pairs.agreement(pairs.same) * len(support) >= 1:
        return []  # the greatest score is right at least as often as by chance
    rows = float(support.sum())
    errors = [ranking_error(positives, rows - positives) for positives in support.tolist()]
    return list(zip(scores.rankings.roc_auc.tolist(), errors, strict=True))

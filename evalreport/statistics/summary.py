"""Sufficient statistics of one set of predictions, which add up over shards.

Row sums (means over rows with variances, set scores of multilabel rows, joint moments of labels) are a part;
a set score takes three arrays of one shape: the number of labels in both sets, in the true set and in the
predicted set. A ratio 0/0 is 0, as with scikit-learn's `zero_division=0`.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial, reduce
from operator import add
from typing import Any, TypeAlias, assert_never

import numpy as np
import numpy.typing as npt

from evalreport.core.errors import DataError, UsageError, some_of
from evalreport.core.lazy import LazyField
from evalreport.data.labels import REASONS, UNPARSED, Binary, Graded, LabelSpace, Multiclass, Multilabel
from evalreport.data.predictions import Predictions, Threshold
from evalreport.data.scores import NoScores, Probabilities, ScoreKind, highest
from evalreport.statistics.class_scores import ClassBins, ClassScores, LabelScores
from evalreport.statistics.confusion import Array, BinaryCounts, Counts, less, run_starts, sums
from evalreport.statistics.score_table import BinnedTable, ScoreTable

Sizes: TypeAlias = npt.NDArray[Any]


def ratio(above: Sizes, below: Sizes) -> Array:
    """Return above / below; 0/0 gives 0.

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


@dataclass(frozen=True, eq=False)
class RowSums:
    """Weighted sums and sums of squares of named per-row quantities.

    Parameters
    ----------
    names : tuple of str
    sums, squares : float64 array, one entry per name
        Sums of ``w x`` and ``w x²``.
    weight : float
        Sum of weights.

    Examples
    --------
    >>> row_sums = RowSums.from_rows({"loss": np.array([1.0, 3.0])}, np.ones(2))
    >>> row_sums.mean("loss"), row_sums.variance("loss")
    (2.0, 1.0)
    """

    names: tuple[str, ...]
    sums: Array
    squares: Array
    weight: float

    @classmethod
    def from_rows(cls, rows: Mapping[str, npt.NDArray[Any]], weights: Array) -> RowSums:
        """Sum per-row quantities, each of shape (n,)."""
        values = [np.asarray(row, dtype=np.float64) for row in rows.values()]
        return cls(
            tuple(rows),
            np.array([(weights * value).sum() for value in values]),  # not `@`, which starts threads
            np.array([(weights * value * value).sum() for value in values]),
            float(weights.sum()),
        )

    def __add__(self, other: RowSums) -> RowSums:
        if self.names != other.names:
            apart = sorted({*self.names} ^ {*other.names}) or list(self.names)
            raise DataError(
                f"the shards have different row sums: {', '.join(apart)}",
                where="tally",
                fix="create the statistics of all shards from the same columns",
            )
        return RowSums(
            self.names, self.sums + other.sums, self.squares + other.squares, self.weight + other.weight
        )

    def select_quantities(self, names: Collection[str]) -> RowSums:
        """Return the sums of some of the quantities."""
        kept = [place for place, name in enumerate(self.names) if name in names]
        return RowSums(
            tuple(self.names[place] for place in kept), self.sums[kept], self.squares[kept], self.weight
        )

    def total(self, name: str) -> float:
        """Return the weighted sum of a quantity; NaN if it is missing."""
        return float(self.sums[self.names.index(name)]) if name in self.names else float("nan")

    def mean(self, name: str) -> float:
        """Return the weighted mean of a quantity; NaN without weight or if it is missing."""
        return self.total(name) / self.weight if self.weight else float("nan")

    def variance(self, name: str) -> float:
        """Return the weighted variance (divisor: the sum of weights) of a quantity."""
        mean = self.mean(name)
        return max(0.0, float(self.squares[self.names.index(name)] / self.weight) - mean * mean)


ROWS = 1 << 14
"""Rows whose products are summed at a time: float32 is exact for such counts."""


@dataclass(frozen=True, eq=False)
class LabelMoments:
    """Sums and products over the rows of 3 K flags: true label, predicted label, and both.

    Parameters
    ----------
    rows : float
    sums : float64 array of shape (3 K,)
    products : float64 array of shape (3 K, 3 K)

    Examples
    --------
    >>> truth, given = np.array([[True, False], [True, True]]), np.array([[True, True], [False, True]])
    >>> moments = LabelMoments.from_flags(truth, given)
    >>> moments.sums, (moments + moments).rows
    (array([2., 1., 1., 2., 1., 1.]), 4.0)
    """

    rows: float
    sums: Array
    products: Array

    @classmethod
    def from_flags(cls, truth: npt.NDArray[np.bool_], given: npt.NDArray[np.bool_]) -> LabelMoments:
        """Sum over rows: flags of shape (n, K)."""
        size = 3 * truth.shape[1]
        sums, products = np.zeros(size), np.zeros((size, size))
        for start in range(0, len(truth), ROWS):
            here = slice(start, start + ROWS)
            flags = np.hstack([truth[here], given[here], truth[here] & given[here]]).astype(np.float32)
            sums += flags.sum(axis=0, dtype=np.float64)
            products += flags.T @ flags
        return cls(float(len(truth)), sums, products)

    def __add__(self, other: LabelMoments) -> LabelMoments:
        return LabelMoments(self.rows + other.rows, self.sums + other.sums, self.products + other.products)

    def variation(self, slopes: Array) -> Array:
        """Return the sum of squared deviations of each weighted sum of the flags.

        Parameters
        ----------
        slopes : float64 array of shape (3 K, sums)
        """
        about = self.products - np.outer(self.sums, self.sums) / self.rows
        found: Array = np.einsum("im,ij,jm->m", slopes, about, slopes, optimize=True)
        return np.maximum(found, 0.0)

    def count_swaps(self) -> tuple[Array, Array, Array]:
        """Return how often a label is missing while another is added, and the totals of both.

        Returns
        -------
        swapped : float64 array of shape (K, K)
        left, added : float64 arrays of shape (K,)
        """
        size = len(self.sums) // 3
        true, given, both = (slice(size * part, size * (part + 1)) for part in range(3))
        p: Any = self.products
        swapped = p[true, given] - p[true, both] - p[both, given] + p[both, both]
        return swapped, self.sums[true] - self.sums[both], self.sums[given] - self.sums[both]


@dataclass(frozen=True, eq=False)
class Summary:
    """Sufficient statistics of one set of predictions; for rows in memory most are computed on first read.

    Parameters
    ----------
    space : Binary, Multiclass or Multilabel
    rows : int
        Rows read.
    weight : float
        Weight of the rows.
    counts : Counts (binary, multiclass), BinaryCounts with one entry per label (multilabel), or None
        None for decision scores without predictions or threshold.
    scores : ScoreTable (binary), LabelScores (multiclass, multilabel), or None without scores
    tally : RowSums
        Row sums for means over rows (log loss, top-k accuracy, sample-wise set scores).
    confidence : ScoreTable or None
        Multiclass probabilities: confidence of the most probable class, positive where it is the true label.
    bins : ClassBins or None
        Multiclass and multilabel probabilities, binned label by label.
    cardinality : Counts or None
        Multilabel: number of true labels of a row against the number of predicted labels (unparsed without
        predictions).
    together : LabelMoments or None
        Multilabel, if rows are not in memory: joint moments of the labels of a row.
    """

    space: LabelSpace
    rows: int
    weight: float
    tally: LazyField[RowSums] = LazyField(RowSums.from_rows({}, np.zeros(0)))
    counts: Counts | BinaryCounts | None = None
    scores: LazyField[ScoreTable | LabelScores | None] = LazyField(None)
    confidence: LazyField[ScoreTable | None] = LazyField(None)
    bins: LazyField[ClassBins | None] = LazyField(None)
    cardinality: LazyField[Counts | None] = LazyField(None)
    together: LabelMoments | None = None
    score_kind: ScoreKind | None = None
    threshold: Threshold | None = None

    def __add__(self, other: Summary) -> Summary:
        return merge([self, other])


AGREEING = {"space": "labels", "score_kind": "the kind of scores", "threshold": "threshold"}
"""Fields in which shards must agree, with their names in messages."""
SUMS = tuple(one.name for one in fields(Summary) if one.name not in (*AGREEING, "rows", "weight"))
"""Fields that are added, each with its own addition."""


def merge(shards: Sequence[Summary]) -> Summary:
    """Return the statistics of all shards together; the cost is linear in the number of shards.

    A threshold inferred from predictions is kept only if every shard has one; counts at different thresholds
    cannot be added.

    Raises
    ------
    DataError
        Shards differ in labels, kind of scores or threshold, or only some of them have a statistic.

    Examples
    --------
    >>> from evalreport.data.labels import Binary
    >>> import numpy as np
    >>> one = Summary(Binary(0, 1), rows=2, weight=2.0, tally=RowSums.from_rows({}, np.ones(2)))
    >>> merge([one, one, one]).rows
    6
    """
    shards = _agreeing(shards)
    first = shards[0]
    for name, called in AGREEING.items():
        other = next((n for n, one in enumerate(shards) if getattr(one, name) != getattr(first, name)), None)
        if other is not None:
            values = " and ".join(_describe_fact(getattr(one, name)) for one in (first, shards[other]))
            raise DataError(
                f"shards 1 and {other + 1} differ in {called}: {values}",
                where=name,
                fix="declare the same labels, kind of scores and threshold for all shards",
            )
    summed = {name: _sum(name, [getattr(one, name) for one in shards]) for name in SUMS}
    weight = math.fsum(one.weight for one in shards)
    return replace(first, rows=sum(one.rows for one in shards), weight=weight, **summed)


def align_row_sums(parts: Sequence[Summary]) -> list[Summary]:
    """Return the parts with only the row sums that all of them have; an unparsed prediction removes some.

    Examples
    --------
    >>> from evalreport.data.labels import Multiclass
    >>> import numpy as np
    >>> one = Summary(Multiclass("ab"), 2, 2.0, RowSums.from_rows({"loss": np.zeros(2)}, np.ones(2)))
    >>> [
    ...     part.tally.names
    ...     for part in align_row_sums([one, replace(one, tally=one.tally.select_quantities(()))])
    ... ]
    [(), ()]
    """
    shared = set.intersection(*({*one.tally.names} for one in parts)) if parts else set()
    return [replace(one, tally=one.tally.select_quantities(shared)) for one in parts]


def _agreeing(shards: Sequence[Summary]) -> Sequence[Summary]:
    """The shards; a threshold inferred from the predictions of only some shards is removed."""
    implied = [one.threshold is not None and one.threshold.origin == "predictions" for one in shards]
    if all(implied) or not any(implied):
        return shards
    return [replace(one, threshold=None) if own else one for one, own in zip(shards, implied, strict=True)]


def _describe_fact(fact: object) -> str:
    match fact:
        case Threshold():
            return f"{fact.value} ({fact.origin})"
        case Binary() | Multiclass() | Multilabel():
            return f"{fact.task} {some_of(fact.texts)}"
        case _:
            return str(fact)


def _sum(name: str, parts: Sequence[Any]) -> Any:
    lacking = [number for number, part in enumerate(parts) if part is None]
    if len(lacking) == len(parts):
        return None
    if lacking:
        raise DataError(
            f"shard {lacking[0] + 1} has no {name}, and others have",
            where=name,
            fix="create the statistics of all shards from the same columns",
        )
    if len({type(part) for part in parts}) > 1:
        raise DataError(
            f"some shards keep the {name} of each row, and others only counts",
            where=name,
            fix="create the statistics of all shards with one engine, all with or all without --set "
            "approximate",
        )
    together = getattr(type(parts[0]), "merge_parts", None)  # one concatenation instead of one per shard
    return reduce(add, parts) if together is None else together(parts)


BLOCK = 1 << 19
"""Most score cells in a block of rows: small enough for the cache, large enough to vectorise."""
TOP = (2, 3, 5)
"""The k of top-k accuracy."""

Rows: TypeAlias = Mapping[str, npt.NDArray[Any]]


def summarise(predictions: Predictions) -> Summary:
    """Return the sufficient statistics of predictions in memory.

    Examples
    --------
    >>> from evalreport.data.predictions import predictions
    >>> from evalreport.data.scores import Probabilities
    >>> facts = summarise(predictions(Binary(0, 1), [0, 1, 1], scores=Probabilities([0.1, 0.4, 0.8])))
    >>> facts.counts.total, len(facts.scores)
    (3.0, 3)
    """
    return _facts(predictions, **_tables(predictions))


def summarise_counts(p: Predictions) -> Summary:
    """Return the statistics whose size does not depend on the rows: counts, row sums, bins; no score table.

    Examples
    --------
    >>> from evalreport.data.predictions import predictions
    >>> summarise_counts(
    ...     predictions(Binary(0, 1), [0, 1, 1], scores=Probabilities([0.1, 0.4, 0.8]))
    ... ).scores is None
    True
    """
    return replace(_facts(p))  # reads all fields now, so that none keeps the rows in memory


def _facts(p: Predictions, **tables: Any) -> Summary:
    """The statistics; those of `LazyField` are computed when first read."""
    several = not isinstance(p.space, Binary)
    return Summary(
        space=p.space,
        rows=len(p),
        weight=float(p.weights.sum()),
        tally=partial(_row_sums, p),
        counts=_counts(p),
        bins=partial(_bins, p, p.scores) if several and isinstance(p.scores, Probabilities) else None,
        cardinality=partial(_cardinality, p) if isinstance(p.space, Multilabel) else None,
        score_kind=None
        if isinstance(p.scores, NoScores) or isinstance(p.space, Graded)
        else p.scores.declared,
        threshold=p.threshold,
        **tables,
    )


def _counts(p: Predictions) -> Counts | BinaryCounts | None:
    if p.y_pred is None:
        return None
    if isinstance(p.space, Multilabel):
        return _label_counts(p)
    return Counts.from_codes(p.y_true, p.y_pred, len(p.space), p.weights if p.weighted else None)


def row_values(predictions: Predictions) -> dict[str, npt.NDArray[np.float64]]:
    """Return the per-row quantities whose means are metrics, each of shape (n,).

    `RowSums` sums them; paired comparisons and cluster intervals use the rows.

    Examples
    --------
    >>> from evalreport.data.predictions import predictions
    >>> list(row_values(predictions(Multiclass(["a", "b"]), ["a", "b"], ["a", "a"])))
    []
    """
    parts = [rows for _, rows in _row_blocks(predictions)]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _tables(p: Predictions) -> dict[str, Any]:
    """The parts whose size depends on the rows: scores, and for multiclass probabilities the confidence."""
    if isinstance(p.scores, NoScores) or isinstance(p.space, Graded):
        return {}
    values, weights = p.scores.values, p.weights if p.weighted else None
    if isinstance(p.space, Binary):
        return {"scores": lambda: ScoreTable.from_scores(values, p.y_true.astype(bool), weights)}
    parts: dict[str, Any] = {"scores": ClassScores(values, p.y_true, weights)}
    if isinstance(p.space, Multiclass) and isinstance(p.scores, Probabilities):
        parts["confidence"] = partial(_confidence, p, values, weights)
    return parts


def _confidence(p: Predictions, values: npt.NDArray[Any], weights: Array | None) -> ScoreTable:
    best = highest(values)
    return ScoreTable.from_scores(values[np.arange(len(p)), best], best == p.y_true, weights)


def _cardinality(p: Predictions) -> Counts:
    true = p.y_true.sum(axis=1)
    predicted = np.full(len(true), UNPARSED) if p.y_pred is None else p.y_pred.sum(axis=1)
    return Counts.from_codes(true, predicted, len(p.space) + 1, p.weights if p.weighted else None)


def _label_counts(p: Predictions) -> BinaryCounts:
    truth, pred = p.y_true.astype(bool), np.asarray(p.y_pred).astype(bool)

    def weigh(rows: npt.NDArray[np.bool_]) -> Array:
        return p.weights @ rows if p.weighted else np.count_nonzero(rows, axis=0).astype(np.float64)

    tp, positives, predicted = weigh(truth & pred), weigh(truth), weigh(pred)
    point = np.broadcast_to(np.nan if p.threshold is None else p.threshold.value, tp.shape)
    fp, fn = less(predicted, tp), less(positives, tp)
    return BinaryCounts(tp, fp, fn, less(p.weights.sum(), tp, fp, fn), np.zeros_like(tp), point)


def _blocks(p: Predictions) -> Iterator[slice]:
    step = max(1, BLOCK // len(p.space))
    return (slice(start, start + step) for start in range(0, len(p), step))


def _bins(p: Predictions, scores: Probabilities) -> ClassBins:
    parts = []
    for block in _blocks(p):
        truth = p.y_true[block]
        indicator = truth.astype(bool)
        if truth.ndim == 1:  # setting one cell per row takes a fifth of the time of comparing all
            indicator = np.zeros((len(truth), len(p.space)), dtype=bool)
            indicator[np.arange(len(truth)), truth] = True
        weights = p.weights[block] if p.weighted else None
        parts.append(ClassBins.from_scores(scores.values[block], indicator, weights))
    return reduce(add, parts)


def _row_sums(p: Predictions) -> RowSums:
    return reduce(add, (RowSums.from_rows(rows, p.weights[block]) for block, rows in _row_blocks(p)))


def _row_blocks(p: Predictions) -> Iterator[tuple[slice, Rows]]:
    read = p.y_pred is not None and UNPARSED not in p.y_pred
    for block in _blocks(p):
        match p.space:
            case Binary():
                yield block, _text_rows(p, block)
            case Graded():
                yield block, _grade_rows(p, block)
            case Multiclass():
                yield (
                    block,
                    {**_text_rows(p, block), **_class_rows(p, block), **_order_rows(p, block, read=read)},
                )
            case Multilabel():
                yield block, {**_set_rows(p, block), **_ranking_rows(p, block)}
            case never:
                assert_never(never)


def _text_rows(p: Predictions, block: slice) -> Rows:
    if p.parsed is None:
        return {}
    return {"ambiguous": p.parsed.reasons[block] == REASONS.index("ambiguous")}


def _grade_rows(p: Predictions, block: slice) -> Rows:
    return {} if isinstance(p.scores, NoScores) else {"mean_score": p.scores.values[block, 0]}


def _class_rows(p: Predictions, block: slice) -> Rows:
    if isinstance(p.scores, NoScores):
        return {}
    scores, truth = p.scores.values[block], p.y_true[block]
    own = scores[np.arange(len(truth)), truth][:, None]
    ahead = (scores > own).sum(axis=1)
    # Ties as in scikit-learn's top_k_accuracy_score: of equal scores the later label ranks first.
    row, label = np.divmod(np.flatnonzero(scores == own), scores.shape[1])
    ahead += np.bincount(row[label > truth[row]], minlength=len(truth))
    rows = {f"top_{k}_accuracy": ahead < k for k in TOP}
    if isinstance(p.scores, Probabilities):
        eps = np.finfo(np.float64).eps
        chance = own[:, 0].astype(np.float64)
        rows["log_loss"] = -np.log(np.clip(chance, eps, 1 - eps))
        rows["brier"] = np.einsum("ij,ij->i", scores, scores, dtype=np.float64) - 2 * chance + 1
    return rows


def _order_rows(p: Predictions, block: slice, *, read: bool) -> Rows:
    """Quantities of ordered labels; the distance is missing if any prediction is unparsed."""
    if not isinstance(p.space, Multiclass) or not p.space.ordered:
        return {}
    truth, rows = p.y_true[block], {}
    if read and p.y_pred is not None:
        rows["mean_absolute_error"] = np.abs(truth - p.y_pred[block]).astype(np.float64)
    if isinstance(p.scores, Probabilities):
        below = np.cumsum(p.scores.values[block], axis=1, dtype=np.float64)[:, :-1]
        gaps = below - (truth[:, None] <= np.arange(below.shape[1]))
        rows["ranked_probability_score"] = np.square(gaps).mean(axis=1)
    return rows


def _set_rows(p: Predictions, block: slice) -> Rows:
    truth = p.y_true[block].astype(bool)
    rows: dict[str, npt.NDArray[Any]] = {"cardinality_true": truth.sum(axis=1)}
    if p.y_pred is None:
        return rows
    pred = p.y_pred[block].astype(bool)
    both = (truth & pred).sum(axis=1)
    n_true, n_pred = rows["cardinality_true"], pred.sum(axis=1)
    rows["cardinality_predicted"] = n_pred
    rows["hamming_loss"] = (truth != pred).mean(axis=1)
    rows["empty_prediction_rate"] = n_pred == 0
    rows.update({name: score(both, n_true, n_pred) for name, score in SET_SCORES.items()})
    return rows


def _ranking_rows(p: Predictions, block: slice) -> Rows:
    if isinstance(p.scores, NoScores):
        return {}
    scores, truth = p.scores.values[block], p.y_true[block].astype(bool)
    size, n_true = scores.shape[1], truth.sum(axis=1)
    row, rank, true_rank = _ranks(scores, truth)
    precision = ratio(sums(row, true_rank / rank, len(truth)), n_true)
    wrong_pairs = sums(row, rank - true_rank, len(truth))
    deepest = np.zeros(len(truth))
    if len(row):
        starts = run_starts(row)
        deepest[row[starts]] = np.maximum.reduceat(rank, starts)
    top = scores == scores.max(axis=1, keepdims=True)
    trivial = (n_true == 0) | (n_true == size)
    return {
        "average_precision_samples": np.where(trivial, 1.0, precision),
        "coverage_error": deepest,
        "ranking_loss": np.where(trivial, 0.0, ratio(wrong_pairs, n_true * (size - n_true))),
        "one_error": (top & ~truth).sum(axis=1) / top.sum(axis=1),
    }


def _ranks(scores: npt.NDArray[Any], truth: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[Any], Array, Array]:
    """Row of each true label, with the number of labels and of true labels that score at least as high.

    By comparison instead of sorting, because a row has few labels.
    """
    row, label = np.divmod(np.flatnonzero(truth), truth.shape[1])
    rank, true_rank = np.empty(len(row)), np.empty(len(row))
    step = max(
        1, (1 << 18) // scores.shape[1]
    )  # cells compared at a time: 2 MB of float64, which stay in cache
    for start in range(0, len(row), step):
        here = slice(start, start + step)
        rows = row[here]
        ahead = scores[rows] >= scores[rows, label[here]][:, None]
        rank[here] = np.count_nonzero(ahead, axis=1)
        true_rank[here] = np.count_nonzero(ahead & truth[rows], axis=1)
    return row, rank, true_rank


def decide_at(summary: Summary, threshold: Threshold) -> Summary:
    """Return the statistics of the same rows with predictions at a threshold, from their score table.

    Examples
    --------
    >>> from evalreport.data.labels import Binary
    >>> table = ScoreTable.from_scores(np.array([0.2, 0.8]), np.array([False, True]))
    >>> plain = Summary(Binary(0, 1), 2, 2.0, RowSums.from_rows({}, np.ones(2)), scores=table)
    >>> decide_at(plain, Threshold(0.5, "given")).counts.dense()
    array([[1., 0., 0.],
           [0., 1., 0.]])

    Raises
    ------
    UsageError
        There are no scores.
    """
    table = summary.scores
    if not isinstance(table, ScoreTable):
        raise UsageError(
            "a threshold needs scores, and there are none", fix="name the score column with --score"
        )
    if isinstance(table, BinnedTable) and isinstance(threshold.value, float):
        table.check_edge(threshold.value)
    tp, fp = table.path
    flagged = len(table) - bisect_left(table.scores, threshold.value)  # does not read a whole stored column
    cells = {
        0: table.negatives - fp[flagged],
        1: fp[flagged],
        3: table.positives - tp[flagged],
        4: tp[flagged],
    }
    held = [cell for cell, weight in cells.items() if weight]
    counts = Counts(2, np.array(held, dtype=np.int64), np.array([float(cells[cell]) for cell in held]))
    return replace(summary, counts=counts, threshold=threshold)

"""Answers as codes: what was predicted for each row, and the rows for which nothing was.

Weights of rows: relative ones, of which a common factor says nothing, and numbers of rows.

The validated front door: everything that is known row by row, as arrays of codes.

Nothing behind this door sees a string label, an unweighted special case, or an array that somebody
can still change.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.core.errors import DataError, UsageError
from evalreport.data.arrays import (
    as_array,
    checked_weights,
    gaps_of,
    identity_texts,
    ids_as_text,
    is_gap,
    make_read_only,
    repeated_ids,
    text_array,
    to_labels,
)
from evalreport.data.labels import (
    UNPARSED,
    Binary,
    LabelSpace,
    Multiclass,
    Multilabel,
    Parsed,
    column_order,
    encode,
    indicators,
)
from evalreport.data.scores import (
    Decisions,
    KnownScores,
    Logits,
    NoScores,
    Probabilities,
    Scores,
    highest,
    normalise_rows,
    on_scale,
)

Codes: TypeAlias = npt.NDArray[np.int32] | npt.NDArray[np.bool_]


def codes_of(space: LabelSpace, values: npt.ArrayLike | Sequence[Any], what: str) -> Codes:
    """Return labels as codes of shape (n,), or sets of labels as bool of shape (n, labels).

    Raises
    ------
    DataError
        Gaps, mixed types, labels outside the set.
    """
    if isinstance(space, Multilabel):
        return indicators(space, values, what)
    return encode(to_labels(values, what), space, what)


def answers_of(
    values: npt.ArrayLike | Sequence[Any], what: str, missing: str | None
) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_] | None]:
    """Return predictions with each gap filled by an answer that was given, and where the gaps were.

    Parameters
    ----------
    missing : str or None
        ``wrong`` allows gaps; the caller counts those rows as answers that could not be read.

    Raises
    ------
    DataError
        Missing predictions that are not allowed, or no predictions at all.

    Examples
    --------
    >>> answers_of([1, None], "y_pred", "wrong")
    (array([1, 1], dtype=object), array([False,  True]))
    """
    array = as_array(values)
    gaps = gaps_of(array) if array.ndim == 1 else np.zeros(0, dtype=np.intp)
    if not gaps.size:
        return array, None
    if missing != "wrong":
        raise DataError(
            f"{what} is missing for {gaps.size} row{'s' if gaps.size > 1 else ''}",
            where=f"{what}, first: row {gaps[0]}",
            fix="to count such rows as wrong pass --set missing=wrong; else fill the gaps or drop the rows",
        )
    if gaps.size == len(array):
        raise DataError(f"{what} is missing for every row", where=what, fix="name another column with --pred")
    lost = np.zeros(len(array), dtype=bool)
    lost[gaps] = True
    filled = array.copy()
    filled[lost] = array[~lost][0]
    return filled, lost


def with_gaps(values: npt.NDArray[Any] | None, lost: npt.NDArray[np.bool_] | None) -> Any:
    """Return answers with None where there were gaps, the other way round from `answers_of`.

    Examples
    --------
    >>> with_gaps(np.array([1, 1]), np.array([False, True]))
    array([1, None], dtype=object)
    """
    if values is None or lost is None:
        return values
    gapped = values.astype(object)
    gapped[lost] = None
    return gapped


def decisions(
    space: LabelSpace,
    y_pred: npt.ArrayLike | Sequence[Any] | Parsed | None,
    truth: Codes,
    missing: str | None,
) -> tuple[Codes | None, int]:
    """Return the codes of the answers, and how many rows had none and count as wrong.

    Parameters
    ----------
    truth : codes of the true labels
    missing : str or None
        ``wrong`` allows rows without an answer.

    Raises
    ------
    DataError
        Missing predictions that are not allowed; what `codes_of` refuses.
    """
    match y_pred:
        case None:
            return None, 0
        case Parsed():
            return y_pred.codes, 0
    if isinstance(space, Multilabel):
        return _several_labels(space, y_pred, truth, missing)
    filled, lost = answers_of(y_pred, "y_pred", missing)
    codes = codes_of(space, filled, "y_pred")
    if lost is None:
        return codes, 0
    return np.where(lost, np.int32(UNPARSED), codes).astype(np.int32), int(lost.sum())


def _several_labels(
    space: Multilabel, y_pred: npt.ArrayLike | Sequence[Any], truth: Codes, missing: str | None
) -> tuple[Codes, int]:
    """A set of labels has no place for an answer that is not there: the row is wrong in each label."""
    rows = y_pred if isinstance(y_pred, np.ndarray) else list(y_pred)  # type: ignore[arg-type]
    lost = [row for row, item in enumerate(rows) if is_gap(item)] if missing == "wrong" else []
    if not lost:
        return codes_of(space, y_pred, "y_pred"), 0
    gone = set(lost)
    codes = indicators(space, [() if row in gone else item for row, item in enumerate(rows)], "y_pred")
    codes[lost] = ~truth[lost].astype(bool)
    return codes, len(lost)


def counted_wrong(lost: int) -> tuple[str, ...]:
    """Return the note on rows without an answer, if there are any.

    Examples
    --------
    >>> counted_wrong(2)
    ('y_pred is missing for 2 rows, counted as wrong',)
    """
    if not lost:
        return ()
    return (f"y_pred is missing for {lost} row{'s' if lost > 1 else ''}, counted as wrong",)


WeightKind: TypeAlias = Literal["sampling", "count"]
MOST_ROWS = 50_000_000
"""Rows that weights of kind ``count`` may stand for: more would not be held in memory."""

BITS = 40
"""Bits of a rescaled weight: twelve decimals, and 13 bits for the rounding of what they were divided by."""


def relative(weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return weights of mean 1 over the rows that weigh anything; equal ones are exactly 1.

    Examples
    --------
    >>> relative(np.array([3.0, 0.0, 1.0]))
    array([1.5, 0. , 0.5])
    """
    given = weights[weights > 0]
    mantissa, exponent = np.frexp(weights / (given.mean() if np.ptp(given) else given[0]))
    # Rounded, so that what the factor leaves in the last bits decides no tie: the same bits for all factors.
    return np.asarray(np.ldexp(np.round(np.ldexp(mantissa, BITS)), exponent - BITS))


def repeat_rows(p: Predictions, counts: npt.NDArray[np.float64]) -> Predictions:
    """Return each row as often as its weight says, without weights.

    Raises
    ------
    DataError
        A weight that is not a whole number, or too many rows.

    Examples
    --------
    >>> from evalreport.data.labels import Binary
    >>> from evalreport.data.predictions import predictions
    >>> p = predictions(Binary(0, 1), [0, 1], [0, 0])
    >>> repeat_rows(p, np.array([1.0, 2.0])).y_true
    array([0, 1, 1], dtype=int32)
    """
    if (counts % 1 != 0).any():
        row = int(np.flatnonzero(counts % 1)[0])
        raise DataError(
            f"weight {counts[row]:g} of row {row} is not a number of rows",
            where="weights",
            fix="weights of kind count are whole; remove the kind for relative weights",
        )
    if counts.sum() > MOST_ROWS:
        raise DataError(
            f"the weights represent {counts.sum():,.0f} rows; at most {MOST_ROWS:,} are evaluated",
            where="weights",
            fix="remove the kind of the weights to make them relative",
        )
    times = counts.astype(np.int64)
    whole = p.take(np.repeat(np.arange(len(p)), times))
    note = f"{np.count_nonzero(times):,} rows stand for {len(whole):,}: their weights are numbers of rows"
    which = np.arange(len(whole)) - np.repeat(np.cumsum(times) - times, times)
    ids = whole.ids
    if ids is not None:
        ids = make_read_only(
            np.array(
                [f"{i} ({k + 1})" if k else i for i, k in zip(ids.tolist(), which.tolist(), strict=True)]
            )
        )
    return replace(
        whole, weights=make_read_only(np.ones(len(whole))), weighted=False, ids=ids, notes=(*p.notes, note)
    )


Origin: TypeAlias = Literal["default", "given", "tuned", "cross-fitted", "predictions"]


@dataclass(frozen=True)
class Threshold:
    """Where the decision was taken: positive when ``score >= value``.

    Parameters
    ----------
    value : float or tuple of float
        One for all, or (multilabel) one per label, on the scale of the scores (probabilities for
        declared logits).
    origin : str
        ``default`` (0.5), ``given``, ``tuned`` (on other rows), ``cross-fitted``, or ``predictions`` (the
        logged predictions agree with 0.5 on every row).
    """

    value: float | tuple[float, ...]
    origin: Origin


@dataclass(frozen=True, eq=False)
class Categorical:
    """A grouping column: codes of rows and the distinct values that they stand for."""

    codes: npt.NDArray[np.int32]
    values: tuple[str, ...]

    @classmethod
    def from_values(cls, values: npt.ArrayLike, what: str = "values of a column") -> Categorical:
        """Return a column from raw values; missing is a separate value, named ``(missing)``.

        Raises
        ------
        DataError
            Values that `evalreport.data.arrays.identity_texts` refuses; `what` names the column.

        Examples
        --------
        >>> Categorical.from_values(["b", None, "b"])
        Categorical(codes=array([1, 0, 1], dtype=int32), values=('(missing)', 'b'))
        """
        named = ["(missing)" if text is None else text for text in identity_texts(values, what)]
        text = text_array(named, what)
        distinct, codes = np.unique(text, return_inverse=True)
        return cls(make_read_only(codes.astype(np.int32)), tuple(distinct.tolist()))


@dataclass(frozen=True, eq=False)
class ExtraColumns(Mapping[str, npt.NDArray[Any]]):
    """Columns of the data that are neither label, prediction nor score, by name.

    Rows are selected when a column is read, so that a subset of the rows copies nothing.

    Parameters
    ----------
    arrays : mapping from a column's name to an array of one value per row
    rows : int array of shape (n,), optional
        Positions in the arrays; without it all rows.

    Examples
    --------
    >>> columns = ExtraColumns({"age": np.array([70, 20, 45])})
    >>> columns.take(np.array([2, 0]))["age"]
    array([45, 70])
    """

    arrays: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    rows: npt.NDArray[np.intp] | None = None

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """Return a column, read-only."""
        values = self.arrays[name]
        found: npt.NDArray[Any] = make_read_only(values.view() if self.rows is None else values[self.rows])
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self.arrays)

    def __len__(self) -> int:
        return len(self.arrays)

    def take(self, rows: npt.NDArray[np.intp]) -> ExtraColumns:
        """Return the columns of some rows (positions), in that order."""
        if not self.arrays:
            return self
        return replace(self, rows=rows if self.rows is None else self.rows[rows])


OwnFunction: TypeAlias = Callable[..., Any]
"""A metric of the user's: ``fn(y_true, y_pred, y_score, weight, columns)``, or a scikit-learn scorer."""


@dataclass(frozen=True, eq=False)
class Predictions:
    """Truth and predictions of n examples.

    Made by `predictions`; the fields are read-only arrays.

    Parameters
    ----------
    space : Binary, Multiclass or Multilabel
    y_true : int32 codes of shape (n,), or bool of shape (n, labels) for multilabel
    y_pred : the same; -1 where no label could be read; None when nothing decides
    scores : Probabilities, Decisions or NoScores
        Binary: P(positive) or its score, shape (n,). Else one column per label.
    weights : float64 of shape (n,), finite and >= 0
        Their mean over the rows that weigh anything is 1; without weights, or with equal ones, all are.
    weighted : bool
        Whether weights differ.
    folds : Categorical or None
        By the model of which fold of a cross-validation each row was predicted.
    lost : int
        Rows that came without an answer and count as wrong.
    columns : ExtraColumns
        Columns that are used for nothing else: for own metrics and weak slices.
    own_metrics : mapping from name to function
        The user's own metrics, evaluated on these rows.
    """

    space: LabelSpace
    y_true: Codes
    y_pred: Codes | None
    scores: KnownScores
    weights: npt.NDArray[np.float64]
    weighted: bool = False
    threshold: Threshold | None = None
    ids: npt.NDArray[np.str_] | None = None
    groups: Categorical | None = None
    folds: Categorical | None = None
    slices: Mapping[str, Categorical] = field(default_factory=dict)
    texts: Sequence[str] | None = None
    parsed: Parsed | None = None
    notes: tuple[str, ...] = ()
    lost: int = 0
    columns: ExtraColumns = field(default_factory=ExtraColumns)
    own_metrics: Mapping[str, OwnFunction] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.y_true)

    def take(self, rows: npt.NDArray[Any]) -> Predictions:
        """Return the predictions of some rows (a mask or positions), in that order."""
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows
        scores = self.scores
        if not isinstance(scores, NoScores):
            scores = replace(scores, values=scores.values[rows])
        return replace(
            self,
            y_true=make_read_only(self.y_true[rows]),
            y_pred=None if self.y_pred is None else make_read_only(self.y_pred[rows]),
            scores=scores,
            weights=make_read_only(self.weights[rows]),
            ids=None if self.ids is None else make_read_only(self.ids[rows]),
            groups=None if self.groups is None else replace(self.groups, codes=self.groups.codes[rows]),
            folds=None if self.folds is None else replace(self.folds, codes=self.folds.codes[rows]),
            slices={name: replace(column, codes=column.codes[rows]) for name, column in self.slices.items()},
            texts=None if self.texts is None else [self.texts[int(row)] for row in rows],
            parsed=None if self.parsed is None else self.parsed.take(rows),
            columns=self.columns.take(rows),
        )

    def with_threshold(self, threshold: Threshold) -> Predictions:
        """Return the same examples decided at another threshold."""
        return replace(self, y_pred=_decide(self.space, self.scores, threshold), threshold=threshold)

    @cached_property
    def truth_digest(self) -> str:
        """SHA-256 over (id, truth) pairs, independent of row order when there are ids."""
        order = np.argsort(self.space.names, kind="stable")
        place = np.argsort(order).astype(np.int32)
        truth: npt.NDArray[Any] = self.y_true
        if (order != np.arange(len(order))).any():
            truth = truth[:, order] if truth.ndim == 2 else place[truth]
        digest = hashlib.sha256("\x1f".join(sorted(self.space.names)).encode())
        if self.ids is not None:
            rows = np.argsort(self.ids, kind="stable")
            truth = truth[rows]
            digest.update(np.char.encode(self.ids[rows], "utf-8").tobytes())
        digest.update(np.ascontiguousarray(truth).data)
        return digest.hexdigest()


def predictions(
    space: LabelSpace,
    y_true: npt.ArrayLike | Sequence[Any],
    y_pred: npt.ArrayLike | Sequence[Any] | Parsed | None = None,
    scores: Scores | None = None,
    *,
    threshold: float | Sequence[float] | None = None,
    weights: npt.ArrayLike | None = None,
    weight_kind: WeightKind = "sampling",
    ids: npt.ArrayLike | None = None,
    groups: npt.ArrayLike | None = None,
    folds: npt.ArrayLike | None = None,
    slices: Mapping[str, npt.ArrayLike] | None = None,
    texts: Sequence[str] | None = None,
    notes: Sequence[str] = (),
    missing: str | None = None,
    columns: Mapping[str, npt.NDArray[Any]] | None = None,
) -> Predictions:
    """Validate and return predictions.

    Parameters
    ----------
    space : Binary, Multiclass or Multilabel
        The declared labels; a truth or prediction outside them is an error.
    y_true, y_pred : array-like
        Labels, shape (n,). Multilabel: indicator matrix (n, labels) or one list of names per row.
        `y_pred` may be `Parsed`: labels read from generated text, some of them unparsed.
    scores : Probabilities, Logits, Decisions or NoScores, optional
        Binary: shape (n,), or (n, 2) of which the column of the positive label is kept.
    threshold : float or one per label, optional
        Decides binary and multilabel rows (``score >= threshold``). Without it `y_pred` decides, and
        without that probabilities at 0.5, or the greatest score of a multiclass row.
    weights, ids, groups, folds : array-like of shape (n,), optional
        Weights are finite and >= 0. Ids that repeat are reported in `notes`;
        runs are not paired by them. Folds are of a cross-validation: no id is in two of them.
    weight_kind : {"sampling", "count"}
        Relative weights are rescaled to mean 1, so that a common factor changes nothing. Weights that are
        numbers of rows (``count``) are whole: each row stands for so many equal ones.
    slices : mapping from a column's name to its values, optional
    texts : sequence of str, optional
        Example texts that the report may show.
    missing : str, optional
        ``wrong``: a row of `y_pred` without an answer counts as one that could not be read: wrong, in a
        column of its own, in every denominator; with several labels per row wrong in each.
    columns : mapping from a column's name to its values, optional
        Other columns of the data: for own metrics and weak slices.

    Raises
    ------
    DataError
        Unequal lengths, gaps, labels outside the set, bad scores or weights.

    Examples
    --------
    >>> p = predictions(Binary("ham", "spam"), ["ham", "spam"], scores=Probabilities([0.2, 0.9]))
    >>> p.y_pred, p.threshold
    (array([0, 1], dtype=int32), Threshold(value=0.5, origin='default'))
    """
    known = _known_scores(space, scores if scores is not None else NoScores())
    truth = codes_of(space, y_true, "y_true")
    parsed = y_pred if isinstance(y_pred, Parsed) else None
    decided, lost = decisions(space, y_pred, truth, missing)
    beside = {
        "y_pred": decided,
        "weights": weights,
        "ids": ids,
        "groups": groups,
        "folds": folds,
        "texts": texts,
    }
    _check_rows(len(truth), known, (*beside.items(), *(slices or {}).items(), *(columns or {}).items()))
    decided, point = _operating_point(space, decided, known, threshold)
    named = None if ids is None else ids_as_text(ids)
    mass = np.broadcast_to(1.0, len(truth)) if weights is None else relative(checked_weights(weights))
    found = Predictions(
        space=space,
        y_true=make_read_only(truth),
        y_pred=None if decided is None else make_read_only(decided),
        scores=known,
        weights=mass if weights is None else make_read_only(mass),  # one number that stands for all rows
        weighted=weights is not None and bool((mass != 1).any()),  # equal weights are none
        threshold=point,
        ids=named,
        groups=None if groups is None else Categorical.from_values(groups, "groups"),
        folds=None if folds is None else _disjoint(Categorical.from_values(folds, "folds"), named),
        slices={name: Categorical.from_values(values, name) for name, values in (slices or {}).items()},
        texts=texts,
        parsed=parsed,
        notes=(
            *notes,
            *_repetition_notes(named),
            *counted_wrong(lost),
            *(known.notes if isinstance(known, Probabilities) else ()),
        ),
        lost=lost,
        columns=ExtraColumns(columns or {}),
    )
    counted = weights is not None and weight_kind == "count"
    return repeat_rows(found, checked_weights(weights)) if counted else found  # type: ignore[arg-type]


def _disjoint(folds: Categorical, ids: npt.NDArray[np.str_] | None) -> Categorical:
    """Refuse one fold alone, and an id that appears twice: its row was tested twice."""
    again = None if ids is None else repeated_ids(ids)
    if again is None and len(folds.values) > 1:
        return folds
    what = "this is one" if again is None else f"their rows are not disjoint: {again.shown}"
    raise DataError(
        f"a cross-validation has two or more disjoint folds, and {what}",
        where=f"fold {folds.values[0]}" if again is None else again.first_example,
        fix="pass the test rows of every fold",
    )


def _repetition_notes(ids: npt.NDArray[np.str_] | None) -> tuple[str, ...]:
    again = None if ids is None else repeated_ids(ids)
    if again is None:
        return ()
    return (f"{again.shown} (first: {again.rows}): each row counts; --set group holds rows together",)


def _known_scores(space: LabelSpace, scores: Scores) -> KnownScores:
    if isinstance(scores, NoScores):
        return scores
    width = scores.values.shape[1] if scores.values.ndim == 2 else None
    if isinstance(space, Binary) and width == 1:
        return _known_scores(space, replace(scores, values=scores.values[:, 0], columns=()))
    if width == len(space) and scores.columns:
        order = column_order(scores.columns, space, "scores")
        scores = replace(
            scores,
            values=scores.values if order is None else np.ascontiguousarray(scores.values[:, order]),
            columns=(),
        )
    if isinstance(space, Binary):
        if width not in (None, 2):
            raise _score_shape(scores.values.shape, "(rows,) or (rows, 2)")
        return _binary_scores(scores)
    if width != len(space):
        raise _score_shape(scores.values.shape, f"(rows, {len(space)}): one column per label")
    if isinstance(scores, Logits):
        return scores.probabilities(exclusive=isinstance(space, Multiclass))
    if isinstance(scores, Probabilities) and isinstance(space, Multiclass):
        return normalise_rows(scores)
    return scores


def _binary_scores(scores: Probabilities | Logits | Decisions) -> KnownScores:
    if scores.values.ndim == 2:
        if isinstance(scores, Probabilities):
            return replace(scores, values=normalise_rows(scores).values[:, 1])
        if isinstance(scores, Logits):
            scores = Logits(scores.values[:, 1].astype(np.float64) - scores.values[:, 0])
        else:
            scores = Decisions(scores.values[:, 1].astype(np.float64) - scores.values[:, 0])
    return scores.probabilities(exclusive=False) if isinstance(scores, Logits) else scores


def _score_shape(shape: tuple[int, ...], expected: str) -> DataError:
    return DataError(
        f"scores have shape {shape}; expected {expected}",
        where="scores",
        fix="log one score column per label, in the order of the labels",
    )


def _check_rows(n: int, scores: KnownScores, parts: tuple[tuple[str, Any], ...]) -> None:
    """There are rows, and every other column has as many as the labels."""
    if n == 0:
        raise DataError(
            "there are no rows to evaluate", where="y_true", fix="check the file, or the filter that made it"
        )
    for name, values in (*parts, ("scores", None if isinstance(scores, NoScores) else scores.values)):
        if values is not None and len(values) != n:
            raise DataError(
                f"{name} has {len(values)} rows and y_true has {n}",
                where=name,
                fix="every column describes the same examples in the same order",
            )


def _operating_point(
    space: LabelSpace, decided: Codes | None, scores: KnownScores, threshold: float | Sequence[float] | None
) -> tuple[Codes | None, Threshold | None]:
    if threshold is not None:
        point = _given_threshold(space, threshold, isinstance(scores, Probabilities))
        return _decide(space, scores, point), point
    if decided is not None:
        return decided, _implied_threshold(space, decided, scores)
    match scores:
        case NoScores():
            raise DataError(
                "there are neither predictions nor scores", where="y_pred", fix="pass one of them"
            )
        case Probabilities() | Decisions() if isinstance(space, Multiclass):
            return highest(scores.values), None
        case Probabilities():
            default = Threshold(0.5, "default")
            return _decide(space, scores, default), default
        case Decisions():
            return None, None


def _given_threshold(space: LabelSpace, threshold: float | Sequence[float], is_p: bool) -> Threshold:
    if isinstance(space, Multiclass):
        raise UsageError("a multiclass problem has no decision threshold", fix="leave --threshold out")
    if isinstance(threshold, (int, float)):
        return Threshold(on_scale([threshold], probabilities=is_p)[0], "given")
    if isinstance(space, Binary) or len(threshold) != len(space):
        raise UsageError(
            f"got {len(threshold)} thresholds for {len(space)} labels", fix="pass one, or one per label"
        )
    return Threshold(on_scale(threshold, probabilities=is_p), "given")


def _decide(space: LabelSpace, scores: KnownScores, threshold: Threshold) -> Codes:
    if isinstance(scores, NoScores):
        raise UsageError(
            "a threshold needs scores, and there are none", fix="name the score column with --score"
        )
    point, kinds = np.asarray(threshold.value), "dd->?"  # widened piece by piece, not into another array
    decided: npt.NDArray[np.bool_] = np.greater_equal(scores.values, point, signature=kinds)
    return decided.astype(np.int32) if isinstance(space, Binary) else decided


def _implied_threshold(space: LabelSpace, decided: Codes, scores: KnownScores) -> Threshold | None:
    if isinstance(space, Multiclass) or not isinstance(scores, Probabilities):
        return None
    same = np.array_equal(_decide(space, scores, Threshold(0.5, "default")), decided)
    return Threshold(0.5, "predictions") if same and UNPARSED not in decided else None

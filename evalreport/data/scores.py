"""Scores of a declared kind: a number whose meaning is unknown cannot be written down.

`Probabilities` feed every metric, `Logits` become probabilities at the door, `Decisions` (margins,
distances, uncalibrated scores) only rank. None of them is guessed from the range of the values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from evalreport.core.errors import DataError, UsageError

ScoreKind: TypeAlias = Literal["probability", "logit", "decision"]
FloatArray: TypeAlias = npt.NDArray[np.floating[Any]]

NOISE = 1e-6
"""Float noise outside [0, 1] that is clipped (and noted) rather than refused."""
ROUNDING = 1e-12
"""How far the sum of a row of float64 probabilities is from 1 by rounding alone."""
ROUNDING_SINGLE = 2e-6
"""The same of float32: 1,000 labels' softmax in float32 was off by 6e-7 at most (its last bit is 6e-8)."""
_LOGIT, _MARGIN = "--score-kind logit (er.Logits)", "--score-kind decision (er.Decisions)"
ROW_SUM = 1e-3
"""How far the probabilities of one row may be from 1 before they are refused."""


@dataclass(frozen=True, eq=False, repr=False)
class Probabilities:
    """Probabilities: P(positive) of shape (n,), or one column per label, shape (n, labels).

    float32 stays float32 until it is summed; float16 and integers are widened.

    Parameters
    ----------
    values : array-like of float, in [0, 1]
        Values within 1e-6 outside are clipped and noted.
    columns : tuple of str
        The label of each column; those of a frame are taken from it, and matched by name.
    clipped : int
        Values that were clipped; reported in `notes`.

    Raises
    ------
    DataError
        NaN, infinities or values outside [0, 1], with their count and the first row.

    Examples
    --------
    >>> Probabilities([0.2, 1.0000001]).notes
    ('1 score lay outside [0, 1] by float noise and was clipped',)
    """

    values: FloatArray
    declared: ScoreKind = "probability"
    columns: tuple[str, ...] = ()
    clipped: int = 0

    if TYPE_CHECKING:  # anything array-like goes in; an array of floats is what comes out

        def __init__(
            self,
            values: npt.ArrayLike,
            declared: ScoreKind = "probability",
            columns: tuple[str, ...] = (),
            clipped: int = 0,
        ) -> None: ...

    def __post_init__(self) -> None:
        _keep_names(self)
        values = _check_scores(self.values)
        if values.size and (values.min() < 0 or values.max() > 1):
            outside = (values < 0) | (values > 1)
            far = (values < -NOISE) | (values > 1 + NOISE)
            if far.any():
                raise _outside(values, far)
            object.__setattr__(self, "clipped", self.clipped + int(outside.sum()))
            values = np.clip(values, 0, 1)
        object.__setattr__(self, "values", _freeze_array(values))

    def __repr__(self) -> str:
        return _brief(self)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done to the values."""
        return clipped_notes(self.clipped)


@dataclass(frozen=True, eq=False, repr=False)
class Logits:
    """Log-odds (binary, multilabel) or unnormalised log-probabilities (multiclass).

    Turned into probabilities before anything else: sigmoid, or softmax over a row.

    Parameters
    ----------
    values : array-like of float
        Shape (n,) or (n, labels); minus infinity is allowed in a row of several.
    columns : tuple of str
        The label of each column; those of a frame are taken from it, and matched by name.

    Raises
    ------
    DataError
        NaN or infinities, with their count and the first row.

    Examples
    --------
    >>> Logits([0.0]).probabilities(exclusive=False).values
    array([0.5])
    """

    values: FloatArray
    columns: tuple[str, ...] = ()

    if TYPE_CHECKING:

        def __init__(self, values: npt.ArrayLike, columns: tuple[str, ...] = ()) -> None: ...

    def __post_init__(self) -> None:
        _keep_names(self)
        object.__setattr__(self, "values", _freeze_array(_check_scores(self.values, minus_infinity=True)))

    def __repr__(self) -> str:
        return _brief(self)

    def probabilities(self, *, exclusive: bool) -> Probabilities:
        """Return probabilities in float64, by softmax over rows when labels exclude each other.

        Parameters
        ----------
        exclusive : bool
            True for the columns of a multiclass problem.
        """
        values = self.values.astype(np.float64)
        if exclusive and values.ndim == 2:
            values -= values.max(axis=1, keepdims=True)
            np.exp(values, out=values)
            values /= values.sum(axis=1, keepdims=True)
        else:
            small = np.exp(-np.abs(values))
            values = np.where(values >= 0, 1.0, small) / (1.0 + small)
        return Probabilities(_freeze_array(values), declared="logit")


@dataclass(frozen=True, eq=False, repr=False)
class Decisions:
    """Scores that only rank: margins, distances, uncalibrated confidences.

    Parameters
    ----------
    values : array-like of float
        Shape (n,) or (n, labels), finite.
    columns : tuple of str
        The label of each column; those of a frame are taken from it, and matched by name.

    Raises
    ------
    DataError
        NaN or infinities, with their count and the first row.

    Examples
    --------
    >>> Decisions([-1.5, 0.3]).declared
    'decision'
    """

    values: FloatArray
    declared: ScoreKind = "decision"
    columns: tuple[str, ...] = ()

    if TYPE_CHECKING:

        def __init__(
            self,
            values: npt.ArrayLike,
            declared: ScoreKind = "decision",
            columns: tuple[str, ...] = (),
        ) -> None: ...

    def __post_init__(self) -> None:
        _keep_names(self)
        object.__setattr__(self, "values", _freeze_array(_check_scores(self.values)))

    def __repr__(self) -> str:
        return _brief(self)


@dataclass(frozen=True)
class NoScores:
    """Labels alone; metrics that need scores are undefined and say so."""


Scores: TypeAlias = Probabilities | Logits | Decisions | NoScores
KnownScores: TypeAlias = Probabilities | Decisions | NoScores
"""Scores after the door: logits have become probabilities."""


def on_scale(thresholds: Sequence[float], *, probabilities: bool) -> tuple[float, ...]:
    """Return thresholds that were given, on the scale of the scores.

    Raises
    ------
    UsageError
        One outside [0, 1], where the scores are probabilities: it calls everything or nothing positive.
    """
    beyond = [number for number in thresholds if not 0 <= number <= 1]
    if probabilities and beyond:
        raise UsageError(
            f"the threshold {beyond[0]:g} is outside [0, 1], where the scores are probabilities",
            where="--threshold",
            fix="pass one from 0 to 1 (declared logits are turned into probabilities), or say that scores "
            "have a scale of their own: --score-kind decision",
        )
    return tuple(map(float, thresholds))


def clipped_notes(count: int) -> tuple[str, ...]:
    """Return the note on scores that were clipped, if there are any.

    Examples
    --------
    >>> clipped_notes(2)
    ('2 scores lay outside [0, 1] by float noise and were clipped',)
    """
    if not count:
        return ()
    some, were = ("1 score", "was") if count == 1 else (f"{count} scores", "were")
    return (f"{some} lay outside [0, 1] by float noise and {were} clipped",)


def normalise_rows(scores: Probabilities) -> Probabilities:
    """Return multiclass probabilities whose rows sum to one, renormalised in float64 where they do not.

    A row that sums to one but for rounding stays as it is: a division would move its last bits and so break
    ties between rows. Where all do, float32 stays float32: half the memory, and faster sorts.

    Raises
    ------
    DataError
        A row whose sum is further than 1e-3 from one.

    Examples
    --------
    >>> float(normalise_rows(Probabilities([[0.5, 0.5004]])).values.sum())
    1.0
    """
    sums = scores.values.sum(axis=1, dtype=np.float64)
    off = np.flatnonzero(np.abs(sums - 1) > ROW_SUM)
    if off.size:
        raise DataError(
            f"the probabilities of {off.size} row{'s' if off.size > 1 else ''} do not sum to one",
            where=f"first: row {off[0]}, sum {sums[off[0]]:.6g}",
            fix=_other_sum(sums, scores.values.shape[1]),
        )
    sums[np.abs(sums - 1) < (ROUNDING if scores.values.dtype == np.float64 else ROUNDING_SINGLE)] = 1.0
    if (sums == 1).all():
        return scores
    return replace(scores, values=_freeze_array(scores.values / sums[:, None]))


def _other_sum(sums: npt.NDArray[np.float64], labels: int) -> str:
    """The remedy for rows that do not sum to one; rounding moves a sum by half a digit for each label."""
    digit = next((d for d in (3, 2, 1) if np.abs(sums - 1).max() <= labels * 0.5 * 10**-d), None)
    if digit is not None:
        rounded = f"if they are rounded to {digit} digit{'s' if digit > 1 else ''}, log more of them"
        return f"{rounded}; if they are margins, pass --score-kind decision"
    return "for logits pass --score-kind logit, for uncalibrated margins --score-kind decision"


def highest(values: FloatArray) -> npt.NDArray[np.int32]:
    """Return the column of the highest score of each row, the first of tied ones, shape (n,).

    In blocks of rows: NumPy's argmax copies the whole of an array that is read-only.

    Examples
    --------
    >>> highest(np.array([[0.2, 0.8], [0.5, 0.5]]))
    array([1, 0], dtype=int32)
    """
    step = max(1, (1 << 20) // values.shape[1])
    codes = np.empty(len(values), dtype=np.int32)
    for start in range(0, len(values), step):
        codes[start : start + step] = values[start : start + step].argmax(axis=1)
    return codes


def _keep_names(scores: Probabilities | Logits | Decisions) -> None:
    """Keep what a frame or a series calls its columns and rows, before it becomes an array."""
    object.__setattr__(
        scores, "columns", scores.columns or tuple(map(str, getattr(scores.values, "columns", ())))
    )
    keep_index(scores, scores.values)


def keep_index(made: object, rows: Any) -> None:
    """Have what is made of a series or a frame remember the index, which `index_of` finds."""
    object.__setattr__(made, _INDEX, index_of(rows))


def index_of(rows: Any) -> Any:
    """Return the index of a series or a frame, or of the one that something was made of; else None."""
    return rows.index if hasattr(rows, "iloc") else getattr(rows, _INDEX, None)


def _brief(scores: Probabilities | Logits | Decisions) -> str:
    return f"{type(scores).__name__}(shape={scores.values.shape}, dtype={scores.values.dtype})"


_INDEX = "_index_of_rows"
Any1D = TypeVar("Any1D", bound=npt.NDArray[Any])


def _freeze_array(array: Any1D) -> Any1D:
    array = array.view()
    array.flags.writeable = False
    return array


def _check_scores(values: npt.ArrayLike, *, minus_infinity: bool = False) -> FloatArray:
    array = _as_numbers(values)
    if array.ndim not in (1, 2):
        expected = "expected (rows,) or (rows, labels)"
        fix = "declare a leading batch axis with --set batch_axis, or reshape the array"
        raise DataError(f"scores have shape {array.shape}; {expected}", where="scores", fix=fix)
    if array.dtype not in (np.float32, np.float64):
        short = array.dtype.kind in "fV" and np.can_cast(array.dtype, np.float32)
        array = array.astype(np.float32 if short else np.float64)
    elif array.flags.writeable:
        array = array.copy()
    with np.errstate(invalid="ignore"):
        if array.size and np.isfinite([array.min(), array.max()]).all():  # a NaN would be both
            return array
    finite = np.isfinite(array)
    if minus_infinity:
        finite |= np.isneginf(array) if array.ndim == 2 else False
    if not finite.all():
        bad = np.argwhere(~finite)
        raise DataError(
            f"scores have {len(bad)} value{'s that are' if len(bad) > 1 else ' that is'} NaN or infinite",
            where=f"first: row {_place(bad[0])}, {array[tuple(bad[0])]}",
            fix="fix or drop these rows before the predictions are logged",
        )
    return array


def _as_numbers(values: npt.ArrayLike) -> npt.NDArray[Any]:
    if isinstance(values, np.ma.MaskedArray):  # NumPy shows the values under the mask
        values = np.ma.filled(values.astype(np.float64), np.nan)
    try:
        array = np.asarray(values)
    except Exception as error:  # rows of unequal length, or a tensor on another device
        raise DataError(
            f"scores cannot be read as an array: {str(error).splitlines()[0][:120]}",
            where="scores",
            fix="pass one row of scores per example, all of one length; of tensors t.detach().float().cpu()",
        ) from error
    if array.dtype.kind not in "fiub" and not np.can_cast(array.dtype, np.float32):  # as JAX's bfloat16 can
        raise DataError(
            f"scores are of type {array.dtype}, not numbers", where="scores", fix="log them as floats"
        )
    return np.ascontiguousarray(array) if array.ndim == 2 else array  # sums follow the order in memory


def _outside(values: FloatArray, far: npt.NDArray[np.bool_]) -> DataError:
    first = np.argwhere(far)[0]
    count = int(far.sum())
    return DataError(
        f"scores have {count} value{'s' if count > 1 else ''} outside [0, 1]",
        where=f"first: row {_place(first)}, {values[tuple(first)]:.6g}",
        fix=other_kind(values),
    )


def other_kind(values: FloatArray) -> str:
    """Return the fix for scores outside of [0, 1], by their range.

    Examples
    --------
    >>> other_kind(np.array([12.0, 88.5]))[:47]
    'if these are percents, divide them by 100; if t'
    """
    if values.min() >= 0 and 1 < values.max() <= 100:
        return f"if these are percents, divide them by 100; if they are margins, pass {_MARGIN}"
    if values.max() <= 0:
        return (
            f"if these are logarithms of probabilities, log exp(score); if they are logits, pass {_LOGIT}; "
            f"if they are margins, {_MARGIN}"
        )
    return f"if these are logits, pass {_LOGIT}; if they are margins, {_MARGIN}"


def _place(index: npt.NDArray[np.intp]) -> str:
    return str(index[0]) if index.size == 1 else f"{index[0]}, column {index[1]}"

"""Checks and conversion of one input column: missing values, types, exact values, quantile bins.

NumPy would make text of a list of names with a NaN among them, and floats of whole numbers with a gap.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from enum import Enum
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from evalreport.core.errors import DataError, UsageError

EDGE = 2**63
"""Whole numbers from here on have no place in int64."""
EXACT = 2**53
"""From here on a float no longer tells neighbouring whole numbers apart."""
HUGE = int(np.finfo(np.float64).max)
"""The largest whole number that a float holds."""
PER_CENT = "write fractions without the sign: 0.484 for 48.4%"
HEAVIEST = 1e50
"""Weight whose fourth power, as correlations and variances take it, is still far from a float's 1e308."""
WIDEST = 1e15
"""Ratio of two weights from which a sum of both is the greater one alone (2**53 is 9e15)."""


def to_labels(values: npt.ArrayLike | Sequence[Any], what: str) -> npt.NDArray[Any]:
    """Return values as an array of `str`, `bool` or `int64`; other kinds are an error.

    Whole floats (what a CSV or pandas makes of integers beside a gap) become integers.

    Parameters
    ----------
    values : array-like, shape (n,)
    what : str
        Name of the column, for the error.

    Raises
    ------
    DataError
        Gaps (with count and first row), mixed types, numbers that are not whole.

    Examples
    --------
    >>> to_labels([1.0, 0.0], "y_true")
    array([1, 0])
    """
    several = "; several labels per row are lists of names, or indicators"
    array = _one_per_row(values, what, "label", several)
    match array.dtype.kind:
        case "f":
            return _whole(array, what)
        case "i" | "u":
            return _exact(array, what)
        case "b" | "U":
            return array
    _refuse_gaps(what, gaps_of(array))
    return _one_kind(plain(array.astype(object).tolist()), what)


def as_array(values: npt.ArrayLike | Sequence[Any]) -> npt.NDArray[Any]:
    """Return values as an array in which each item is still what it was.

    Items of several types stay objects.

    Examples
    --------
    >>> as_array(["a", float("nan")])
    array(['a', nan], dtype=object)
    >>> as_array([0.5, 1])
    array([0.5, 1. ])
    """
    if hasattr(values, "__array__"):
        return np.asarray(values)
    items = plain(list(values))  # type: ignore[arg-type]
    kinds = set(map(type, items))
    nested = any(issubclass(kind, (list, tuple, set, np.ndarray)) for kind in kinds)
    if kinds == {int}:
        return _whole_numbers(items)
    is_mixed = len(kinds) > 1 and not nested and not kinds <= {int, float}
    if is_mixed or _loses_values(items, kinds):
        return _objects(items)
    try:
        return np.asarray(items)
    except ValueError:  # rows of unequal length
        return _objects(items)


def _one_per_row(
    values: npt.ArrayLike | Sequence[Any], what: str, item: str, more: str = ""
) -> npt.NDArray[Any]:
    """Return values as an array of shape (n,); another shape is an error whose fix ends with `more`."""
    array = as_array(values)
    if array.ndim == 1:
        return array
    verb = "have" if what in ("ids", "weights") else "has"
    raise DataError(
        f"{what} {verb} shape {array.shape}; expected one {item} per row",
        where=what,
        fix=f"pass one {item} per row{more}",
    )


def _loses_values(items: list[Any], kinds: set[type]) -> bool:
    """Return whether NumPy would cut the NUL off the end of a text, or make a large whole number a float."""
    if kinds == {str}:
        return any(item.endswith("\0") for item in items)
    if kinds == {int, float}:
        return any(isinstance(item, int) and abs(item) >= EXACT for item in items)
    return False


def stack(parts: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Return arrays one after the other; a large whole number stays one beside floats or unsigned numbers.

    Raises
    ------
    ValueError
        Arrays of different shapes.

    Examples
    --------
    >>> stack([np.array([2**60 + 1]), np.array([0.5])])
    array([1152921504606846977, 0.5], dtype=object)
    """
    whole = [part for part in parts if part.dtype.kind in "iu" and part.size]
    is_large = any(int(part.max()) >= EXACT or int(part.min()) <= -EXACT for part in whole)
    if is_large and len({part.dtype for part in parts}) > 1:
        parts = [part.astype(object) for part in parts]
    return np.concatenate(parts)


def plain(items: list[Any]) -> list[Any]:
    """Return NumPy's own values, and members of enumerations, as what they hold: NumPy would cut names."""
    if any(issubclass(kind, (np.generic, Enum)) for kind in set(map(type, items))):
        items = [item.value if isinstance(item, Enum) else item for item in items]
        items = [item.item() if isinstance(item, np.generic) else item for item in items]
    return items


def _whole_numbers(items: list[int]) -> npt.NDArray[Any]:
    """Return whole numbers as int64, or as objects where one is too large: NumPy would make floats."""
    try:
        return np.asarray(items, dtype=np.int64)
    except OverflowError:
        return _objects(items)


def _objects(items: Sequence[Any]) -> npt.NDArray[Any]:
    return np.fromiter(items, dtype=object, count=len(items))


def is_gap(item: object) -> bool:
    """Tell whether a value stands for nothing: None, NaN, and what pandas writes there.

    Examples
    --------
    >>> is_gap(None), is_gap(float("nan")), is_gap("nan")
    (True, True, False)
    """
    if isinstance(item, float):
        return math.isnan(item)
    return item is None or type(item).__name__ in ("NAType", "NaTType")


def gaps_of(array: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Return the rows of a column that hold nothing.

    Examples
    --------
    >>> gaps_of(as_array(["a", None]))
    array([1])
    """
    if array.dtype.kind == "f":
        return np.flatnonzero(np.isnan(array))
    items = array.astype(object).tolist() if array.dtype.kind in "OMm" else []
    if set(map(type, items)) <= {str, int, bool}:  # the types alone tell, without a look at each item
        return np.zeros(0, dtype=np.intp)
    return np.flatnonzero([is_gap(item) for item in items])


def _whole(array: npt.NDArray[Any], what: str) -> npt.NDArray[Any]:
    _refuse_gaps(what, np.flatnonzero(np.isnan(array)))
    off = np.flatnonzero(np.isfinite(array) & (array != np.rint(array)))
    if off.size:
        raise DataError(
            f"{what} has {off.size} values that are not whole numbers",
            where=f"{what}, first: row {off[0]}, {array[off[0]]}",
            fix=f"{what} holds labels; a column of scores is named with --score",
        )
    vague = np.flatnonzero(np.abs(array) >= exact_below(array.dtype))
    if vague.size:
        raise _too_large(what, int(vague[0]), array[vague[0]])
    return array.astype(np.int64)


def exact_below(dtype: np.dtype[Any]) -> float:
    """Return the number from which on floats of a dtype no longer distinguish neighboring whole numbers.

    Examples
    --------
    >>> exact_below(np.dtype(np.float32)), exact_below(np.dtype(np.float64)) == EXACT
    (16777216.0, True)
    """
    return float(2 ** (np.finfo(dtype).nmant + 1))


def _exact(array: npt.NDArray[Any], what: str) -> npt.NDArray[np.int64]:
    large = np.flatnonzero(array > np.iinfo(np.int64).max) if array.dtype.kind == "u" else np.zeros(0, int)
    if large.size:
        raise _too_large(what, int(large[0]), array[large[0]])
    return array.astype(np.int64, copy=False)


def _too_large(what: str, row: int, value: object) -> DataError:
    return DataError(
        f"{what} holds a number that is too large for a label",
        where=f"{what}, first: row {row}, {value}",
        fix="write such labels as text, in a CSV with a letter in front",
    )


GAPS = "fill the gaps or drop those rows before the predictions are logged"
"""The fix of an error about gaps."""


def _refuse_gaps(what: str, rows: npt.NDArray[np.intp]) -> None:
    if rows.size:
        raise DataError(
            f"{what} is missing for {rows.size} row{'s' if rows.size > 1 else ''}",
            where=f"{what}, first: row {rows[0]}",
            fix=GAPS,
        )


_KINDS: Mapping[type, str] = {str: "text", bool: "bool", int: "number", float: "number"}


def _one_kind(items: list[Any], what: str) -> npt.NDArray[Any]:
    kinds = {_KINDS.get(kind, kind.__name__) for kind in set(map(type, items))}
    if len(kinds) > 1:
        named = [_KINDS.get(type(item), type(item).__name__) for item in items]
        first = ", ".join(f"{kind} (first: row {named.index(kind)})" for kind in sorted(kinds))
        raise DataError(
            f"{what} mixes types of labels", where=f"{what}: {first}", fix="use one type of label"
        )
    kind = next(iter(kinds), "text")
    if kind == "number":
        return _numbers(items, what)
    if kind in ("text", "bool"):
        return text_array(items, what) if kind == "text" else np.asarray(items, dtype=bool)
    raise DataError(
        f"{what} holds values of type {kind}, not labels",
        where=f"{what}, first: row 0",
        fix="a label is text, a whole number or a boolean",
    )


def _numbers(items: list[Any], what: str) -> npt.NDArray[Any]:
    """Return numbers as int64; whole ones never pass through a float, which would merge large ones."""
    whole = [row for row, item in enumerate(items) if isinstance(item, int) and not -EDGE <= item < EDGE]
    if whole:
        raise _too_large(what, whole[0], items[whole[0]])
    if set(map(type, items)) == {int}:
        return np.asarray(items, dtype=np.int64)
    return _whole(_floats(items, what), what)


def numbers(values: npt.ArrayLike | Sequence[Any], what: str) -> npt.NDArray[np.float64]:
    """Return values as float64 of their own, shape (n,); a gap is NaN.

    Raises
    ------
    DataError
        More than one axis, or a value that is not a number (names the first row).

    Examples
    --------
    >>> numbers([1, None], "weights")
    array([ 1., nan])
    """
    array = _one_per_row(values, what, "number")
    if array.dtype.kind in "biuf":
        return array.astype(np.float64)
    items = [math.nan if is_gap(item) else item for item in array.tolist()]
    strangers = [row for row, item in enumerate(items) if not is_number(item)]
    if strangers:
        strange = next((row for row in strangers if not reads_as_number(items[row])), strangers[0])
        kind = type(items[strange])
        text = str(items[strange])[:80]
        is_percent = text.rstrip().endswith("%") and reads_as_number(text.rstrip()[:-1])
        held = "text with per cent signs" if is_percent else _KINDS.get(kind, kind.__name__)
        raise DataError(
            f"{what} holds {held}, not numbers",
            where=f"{what}, first: row {strange}, {text!r}",
            fix=PER_CENT if is_percent else "pass numbers, with a decimal point",
        )
    return _floats(items, what)


def _floats(items: list[Any], what: str) -> npt.NDArray[np.float64]:
    try:
        return np.asarray(items, dtype=np.float64)
    except OverflowError:
        row = next(row for row, item in enumerate(items) if isinstance(item, int) and abs(item) > HUGE)
        raise DataError(
            f"{what} has a number of {len(str(abs(items[row])))} digits, which do not fit into a float",
            where=f"{what}, first: row {row}",
            fix="check the program that wrote the column",
        ) from None


def is_number(item: object) -> bool:
    """Tell whether a cell is a number; True and False are none."""
    return isinstance(item, (int, float, np.number)) and not isinstance(item, bool)


def reads_as_number(item: object) -> bool:
    """Whether a text would be a number: one that would not is the reason why the column is text."""
    try:
        float(str(item))
    except ValueError:
        return False
    return True


def check_text(values: npt.NDArray[np.str_], what: str) -> None:
    r"""Refuse text with half a surrogate pair: no file can hold it.

    Raises
    ------
    DataError
        Names the first row, or the first of the names.

    Examples
    --------
    >>> check_text(np.array(["a", "b\ud800"]), "ids")
    Traceback (most recent call last):
    evalreport.core.errors.DataError: ids contain text that is not Unicode: 'b\ud800'
    """
    characters = np.ascontiguousarray(values).view(np.uint32) if values.itemsize else np.array([], np.uint32)
    halves = np.flatnonzero((characters >= 0xD800) & (characters <= 0xDFFF))
    if halves.size:
        place = int(halves[0]) // (values.itemsize // 4)
        raise DataError(
            f"{what} contain text that is not Unicode: {str(values[place])!a}",
            where=f"{what}, first: entry {place}",
            fix="write the file again as UTF-8",
        )


def checked_weights(weights: npt.ArrayLike, what: str = "weights") -> npt.NDArray[np.float64]:
    """Return weights as float64 of their own, shape (n,).

    Raises
    ------
    DataError
        Text, negative or infinite weights, gaps; all of them zero; sizes that a float cannot add or multiply.

    Examples
    --------
    >>> checked_weights([1, 0.5])
    array([1. , 0.5])
    """
    array = numbers(weights, what)
    bad = np.flatnonzero(~np.isfinite(array) | (array < 0))
    if bad.size:
        raise DataError(
            f"{bad.size} weight{'s are' if bad.size > 1 else ' is'} negative or not finite",
            where=f"{what}, first: row {bad[0]}, {array[bad[0]]}",
            fix="a weight is finite and at least 0",
        )
    if not array.any():
        raise DataError("all weights are zero", where=what, fix="give at least one row a positive weight")
    _check_span(array, what)
    return array


def _check_span(weights: npt.NDArray[np.float64], what: str) -> None:
    """Refuse weights whose products, or whose sums, a float cannot hold."""
    least, most = float(weights[weights > 0].min()), float(weights.max())
    if most > HEAVIEST or least < 1 / HEAVIEST:
        size, which = (most, "large") if most > HEAVIEST else (least, "small")
        raise DataError(
            f"a weight of {size:g} is too {which} for multiplication",
            where=f"{what}, first: row {np.flatnonzero(weights == size)[0]}",
            fix="divide all weights by their mean",
        )
    if most / least > WIDEST:
        raise DataError(
            f"weights range from {least:g} to {most:g}: the small ones vanish in every sum",
            where=f"{what}, first: row {np.flatnonzero(weights == least)[0]}",
            fix="remove rows with a negligible weight, or set it to 0",
        )


def text_array(items: Sequence[str], what: str) -> npt.NDArray[np.str_]:
    r"""Return texts as an array of `str`, shape (n,), of which each is what it was.

    Raises
    ------
    DataError
        A text that ends in NUL, which NumPy would cut off, so that two labels become one; half of a
        surrogate pair.

    Examples
    --------
    >>> text_array(["a", "b\0"], "y_true")
    Traceback (most recent call last):
    evalreport.core.errors.DataError: y_true has text that ends in a NUL character (U+0000)
    """
    refuse_nul(items, what)
    array = np.asarray(items, dtype=str)
    check_text(array, what)
    return array


def refuse_nul(items: Sequence[object], what: str) -> None:
    """Refuse texts that end in NUL.

    Raises
    ------
    DataError
    """
    row = next((row for row, item in enumerate(items) if isinstance(item, str) and item.endswith("\0")), None)
    if row is not None:
        raise DataError(
            f"{what} has text that ends in a NUL character (U+0000)",
            where=f"{what}, first: row {row}, {str(items[row])[-80:]!r}",
            fix="write the values without NUL characters, or with another character at their end",
        )


def identity_texts(values: npt.ArrayLike | Sequence[Any], what: str) -> list[str | None]:
    """Return ids, groups or values of a slice as the texts by which they are compared; None in a gap.

    1, 1.0 and "1" are the same; whole numbers of any size are exact.

    Parameters
    ----------
    values : array-like, shape (n,)
    what : str
        Name of the column, for the error.

    Raises
    ------
    DataError
        Floats so large that different ids may have become equal, texts that end in NUL, lists, records.

    Examples
    --------
    >>> identity_texts([1.0, 2**64 + 1, "1", None], "id")
    ['1', '18446744073709551617', '1', None]
    """
    array = as_array(values)
    refuse_lost_identity(array, what)
    if array.dtype.kind in "mM":  # of nanoseconds NumPy makes whole numbers
        texts = array.astype(str).tolist()
        return [None if text == "NaT" else text for text in texts]
    return [None if is_gap(item) else _identity(item) for item in array.tolist()]


def refuse_lost_identity(array: npt.NDArray[Any], what: str) -> None:
    """Refuse values that lost precision, or that are not names.

    Raises
    ------
    DataError
    """
    if array.dtype.kind == "f":
        vague = np.flatnonzero(np.abs(array) >= exact_below(array.dtype))
        if vague.size:
            raise _precision_loss_error(what, int(vague[0]), array[vague[0]])
    if array.dtype.kind != "O":
        return
    items = array.tolist()
    kinds = set(map(type, items))
    if str in kinds:
        refuse_nul(items, what)
    for row, item in enumerate(items if kinds - {str, int, bool, type(None)} else ()):
        if isinstance(item, float) and abs(item) >= EXACT:
            raise _precision_loss_error(what, row, item)
        if isinstance(item, (list, dict, set, np.ndarray)):
            raise DataError(
                f"{what} holds values of type {type(item).__name__}, which cannot identify a row or group",
                where=f"{what}, first: row {row}",
                fix="write text or whole numbers, one per row",
            )


def _precision_loss_error(what: str, row: int, value: Any) -> DataError:
    return DataError(
        f"{what} has floating-point numbers so large that different values may have become equal",
        where=f"{what}, first: row {row}, {float(value):.17g}",
        fix="write the column as whole numbers or as text, from the original values",
    )


def _identity(item: object) -> str:
    is_whole = isinstance(item, float) and item.is_integer()
    if isinstance(item, Decimal):
        is_whole = item.is_finite() and item == item.to_integral_value()
    return str(int(item)) if is_whole else str(item)  # type: ignore[call-overload]


def ids_as_text(ids: npt.ArrayLike) -> npt.NDArray[np.str_]:
    """Return ids as text, shape (n,), read-only.

    Raises
    ------
    DataError
        More than one axis, gaps, or values that `identity_texts` refuses.

    Examples
    --------
    >>> ids_as_text([3, 1])
    array(['3', '1'], dtype='<U21')
    """
    held = _one_per_row(ids, "ids", "id")
    gaps = gaps_of(held)
    if gaps.size:
        raise DataError(
            f"{gaps.size} id{'s are' if gaps.size > 1 else ' is'} missing",
            where=f"ids, first: row {gaps[0]}",
            fix="give every row an id, or remove the ids",
        )
    if held.dtype.kind in "iu":
        return make_read_only(held.astype(str))  # type: ignore[no-any-return]
    return make_read_only(text_array([text or "" for text in identity_texts(held, "ids")], "ids"))  # type: ignore[no-any-return]


def id_keys(ids: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """Return a number for each id or row of flags: equal for equal ones, else by rare accident.

    A sum of characters times random odd factors (multiply-shift hashing, Dietzfelbinger et al. 1997), mixed
    so that the low bits are random, too (splitmix64). The width of the text does not matter.

    Parameters
    ----------
    ids : text or whole numbers of shape (n,), or bool of shape (n, k)

    Examples
    --------
    >>> (id_keys(np.array(["a", "b"])) == id_keys(np.array(["a", "xyz"]))).tolist()
    [True, False]
    """
    if ids.dtype.kind == "U":
        parts = np.ascontiguousarray(ids).view(np.uint32).reshape(len(ids), ids.itemsize // 4)
    else:
        parts = ids.reshape(len(ids), -1).astype(np.int64).view(np.uint64)
    factors = np.random.default_rng(0).integers(0, 2**63, parts.shape[1], dtype=np.uint64) | np.uint64(1)
    keys: npt.NDArray[np.uint64] = np.einsum("ij,j->i", parts, factors, dtype=np.uint64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        keys = (keys ^ keys >> np.uint64(shift)) * np.uint64(factor)
    return keys ^ keys >> np.uint64(31)


class Repeated(NamedTuple):
    """Ids of several rows: how many, the first of them, and two of its rows."""

    shown: str
    times: int
    id: str
    rows: str

    @property
    def first_example(self) -> str:
        """The first with its rows; it names an example."""
        return f"first: {self.id!r} in {self.rows}"


def repeated_ids(ids: npt.NDArray[np.str_]) -> Repeated | None:
    """Return which of some ids, shape (n,), stand in more than one row; None where each has its own.

    Examples
    --------
    >>> repeated_ids(np.array(["a", "b", "a"]))
    Repeated(shown='1 id occurs more than once', times=1, id='a', rows='rows 0 and 2')
    >>> repeated_ids(np.array(["a", "b"])) is None
    True
    """
    keys = np.sort(id_keys(ids))
    if (keys[1:] != keys[:-1]).all():
        return None  # equal ids have equal keys: numbers are sorted in a tenth of the time of texts
    order = np.argsort(ids, kind="stable")
    same = np.flatnonzero(ids[order][1:] == ids[order][:-1])
    if not same.size:
        return None
    count = len(np.unique(ids[order[same]]))
    row = int(order[same + 1].min())
    shown = "1 id occurs more than once" if count == 1 else f"{count:,} ids occur more than once"
    return Repeated(shown, count, str(ids[row]), f"rows {np.flatnonzero(ids == ids[row])[0]} and {row}")


def make_read_only(array: Any) -> Any:
    """Return an array that cannot be written through, contiguous."""
    array = np.ascontiguousarray(array)
    if array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array


MOST_VALUES: Final = 20
"""Distinct numbers up to which each number is a separate slice."""
BINS: Final = 5
"""Quantile bins of a numeric column with more values."""
MOST_BINS: Final = 100


def check_bins(bins: int) -> None:
    """Check the number of quantile bins; 0 makes each value a slice.

    Raises
    ------
    UsageError
        One bin, or a number that is negative or above 100.
    """
    if bins == 1 or not 0 <= bins <= MOST_BINS:
        raise UsageError(
            f"{bins} quantile bins cannot divide the rows",
            where="--set slice_bins",
            fix=f"pass 2 to {MOST_BINS}, or 0 for a slice of each value",
        )


def has_many_numbers(values: npt.NDArray[Any]) -> bool:
    """Return whether a column is numeric with more than 20 values.

    Examples
    --------
    >>> has_many_numbers(np.arange(30)), has_many_numbers(np.arange(20)), has_many_numbers(np.array(["a"]))
    (True, False, False)
    """
    numbers = _as_numbers(values)
    return numbers is not None and _count_distinct(numbers) > MOST_VALUES


def bin_slices(
    slices: Mapping[str, npt.NDArray[Any]], bins: int = BINS
) -> tuple[dict[str, npt.NDArray[Any]], tuple[str, ...]]:
    """Return columns with the numeric ones of many values cut into quantile bins, and notes that say so.

    A missing value remains missing.

    Parameters
    ----------
    slices : mapping from a column's name to an array of shape (n,)
    bins : int
        Quantile bins; 0 keeps each value.

    Raises
    ------
    UsageError
        As of `check_bins`.

    Examples
    --------
    >>> ages, notes = bin_slices({"age": np.array([*range(20, 80), None], dtype=object)}, bins=3)
    >>> sorted({str(value) for value in ages["age"]})
    ['None', 'over 39, up to 59', 'over 59', 'up to 39']
    >>> notes
    ('Column age has 60 different numbers: its slices are 3 quantile bins (--set slice_bins=N)',)
    """
    check_bins(bins)
    found, notes = dict(slices), []
    for name, values in slices.items():
        numbers = _as_numbers(values) if bins else None
        distinct = 0 if numbers is None else _count_distinct(numbers)
        if numbers is None or distinct <= MOST_VALUES:
            continue
        known = np.isfinite(numbers)
        edges = quantile_edges(numbers[known], np.arange(1, bins) / bins)
        ends = [f"{edge:.15g}" for edge in edges]
        words = np.array([range_text(ends, k, k) for k in range(len(edges) + 1)], dtype=object)
        binned = np.full(len(numbers), None, dtype=object)
        binned[known] = words[np.searchsorted(edges, numbers[known], side="left")]
        found[name] = binned
        notes.append(
            f"Column {name} has {distinct:,} different numbers: its slices are "
            f"{len(words)} quantile bins (--set slice_bins=N)"
        )
    return found, tuple(notes)


def quantile_edges(
    numbers: npt.NDArray[np.float64], quantiles: Sequence[float] | npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Return the upper ends of all bins but the last one.

    They have four digits, so that an edge in words is exact; each bin between contains a number.

    Examples
    --------
    >>> quantile_edges(np.array([1.0, 2.0, 3.0, 4.0]), [0.5])
    array([2.])
    """
    edges = np.quantile(numbers, quantiles, method="inverted_cdf")
    edges = np.unique([float(f"{edge:.4g}") for edge in edges])
    counts = np.bincount(np.searchsorted(edges, numbers, side="left"), minlength=len(edges) + 1)
    return np.asarray(edges[(counts[:-1] > 0) & (counts[::-1].cumsum()[::-1][1:] > 0)])


def range_text(edges: Sequence[str], first: int, last: int) -> str:
    """Return a range of bins in words; the edges are the upper ends of all but the last bin.

    Examples
    --------
    >>> [range_text(["20", "30"], *part) for part in ((0, 0), (1, 1), (1, 2))]
    ['up to 20', 'over 20, up to 30', 'over 20']
    """
    low = None if first == 0 else edges[first - 1]
    high = None if last == len(edges) else edges[last]
    if low is None:
        return f"up to {high}"
    return f"over {low}" if high is None else f"over {low}, up to {high}"


def _count_distinct(numbers: npt.NDArray[np.float64]) -> int:
    return len(np.unique(numbers[np.isfinite(numbers)]))


def _as_numbers(values: npt.NDArray[Any]) -> npt.NDArray[np.float64] | None:
    """Return a numeric column as floats, NaN where a value is missing; None for any other column."""
    if values.dtype.kind in "iuf" and values.ndim == 1:
        return values.astype(np.float64)
    if values.dtype != object or values.ndim != 1:
        return None
    cells = [None if is_gap(cell) else cell for cell in values.tolist()]
    if any(isinstance(cell, bool) or not isinstance(cell, (int, float, type(None))) for cell in cells):
        return None
    return np.array([np.nan if cell is None else float(cell) for cell in cells], dtype=np.float64)

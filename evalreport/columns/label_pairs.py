"""Labels of two columns in one spelling, columns of labels as codes, and how often labels occur in pairs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.columns.column_request import list_names
from evalreport.core.errors import DataError, some_of
from evalreport.data.arrays import plain
from evalreport.data.labels import CLOSE, Label
from evalreport.statistics.confusion import Counts

Array = npt.NDArray[Any]
Places = npt.NDArray[np.intp]
MOST_CLASSES = 1000
"""Most labels for which every pair of labels is counted."""


def distinct(values: Array) -> Array:
    """Return the distinct labels in order; close integers are counted instead of sorted, text is not sorted.

    Examples
    --------
    >>> distinct(np.array([3, 1, 3]))
    array([1, 3])
    """
    if values.dtype.kind in "bi" and values.size:
        least, most = int(values.min()), int(values.max())
        if most - least < CLOSE:
            return (np.flatnonzero(np.bincount(values.astype(np.intp) - least)) + least).astype(values.dtype)
    return np.array(sorted(set(values.tolist()))) if values.dtype.kind == "U" else np.unique(values)


def rows_as_codes(truth: Array) -> npt.NDArray[np.intp]:
    """Return one code for each distinct true label, or set of labels, shape (n,)."""
    if truth.ndim == 2:
        packed = np.ascontiguousarray(np.packbits(truth.astype(bool), axis=1))
        truth = packed.view(f"V{packed.shape[1]}").reshape(-1)
    elif truth.dtype == object:  # gaps among labels
        truth = truth.astype(str)
    return np.unique(truth, return_inverse=True)[1].reshape(-1)


def spell(value: Any) -> str:
    """Return a label in one spelling: small letters, whole numbers without a point.

    Examples
    --------
    >>> spell(" Spam"), spell(1.0), spell("2.0"), spell(True)
    ('spam', '1', '2', 'true')
    """
    text = str(value).strip().casefold()
    bare = text.removeprefix("-").removesuffix(".0")
    if bare.isdecimal():
        return text.removesuffix(".0")
    return " ".join(text.replace("_", " ").replace("-", " ").split()) or text


def usual_orders(labels: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the orders in which programs write the scores of labels: as text, as given, as numbers.

    Examples
    --------
    >>> usual_orders(["2", "10"])
    [('10', '2'), ('2', '10')]
    """
    found = [tuple(sorted(labels)), tuple(labels)]
    if all(label.lstrip("-").isdecimal() for label in labels):
        found.append(tuple(sorted(labels, key=int)))
    return list(dict.fromkeys(found))


@dataclass(frozen=True, eq=False)
class Coded:
    """A column as codes: its distinct values and each row's position among them, -1 for a gap."""

    values: tuple[Any, ...]
    codes: npt.NDArray[np.intp]

    @classmethod
    def from_column(cls, column: Array) -> Coded | None:
        """Return labels, names or integers as codes; None for numbers with fractions and for lists."""
        if column.ndim != 1 or column.dtype.kind not in "biuUOf":
            return None
        if column.dtype.kind == "f" and not (column == np.rint(column)).all():
            return None
        if column.dtype.kind != "O":
            values, codes = np.unique(column, return_inverse=True)
            return cls(tuple(values.tolist()), codes)
        place: dict[Any, int] = {}
        try:
            found = [place.setdefault(cell, len(place)) for cell in column.tolist()]
        except TypeError:  # lists and mappings
            return None
        return cls(tuple(place), np.array(found, dtype=np.intp))

    def __len__(self) -> int:
        return len(self.values)

    def cross_codes(self, other: Coded) -> Coded:
        """Return the pairs of values that occur together, as codes."""
        pairs, codes = np.unique(self.codes * len(other) + other.codes, return_inverse=True)
        values = tuple((self.values[k // len(other)], other.values[k % len(other)]) for k in pairs.tolist())
        return Coded(values, codes)

    @property
    def names(self) -> frozenset[str]:
        """The distinct values as text, in lower case."""
        return frozenset(str(value).strip().casefold() for value in self.values)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The values in one spelling, in the order of `values`."""
        return tuple(map(spell, self.values))

    @cached_property
    def counts(self) -> npt.NDArray[np.intp]:
        """Number of rows with each value."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self))


@dataclass(frozen=True, eq=False)
class LabelPairs:
    """Number of rows with each pair of labels of two columns; labels as text.

    Parameters
    ----------
    one, other : tuple of str
        The labels that occur.
    table : float64 array of shape (len(one), len(other))
        Number of rows.

    Examples
    --------
    >>> pairs = LabelPairs.from_labels(np.array([0, 1, 1, 0]), np.array(["x", "y", "y", "x"]))
    >>> pairs.best.tolist(), pairs.agreement(pairs.same), pairs.agreement(pairs.best)
    ([0, 1], 0.0, 1.0)
    """

    one: tuple[str, ...]
    other: tuple[str, ...]
    table: npt.NDArray[np.float64]

    @classmethod
    def from_labels(cls, one: Array, other: Array) -> LabelPairs | None:
        """Return the pairs of two arrays of labels of shape (n,); None for very many labels."""
        first, second = Coded.from_column(one), Coded.from_column(other)
        return None if first is None or second is None else cls.from_codes(first, second)

    @classmethod
    def from_codes(cls, one: Coded, other: Coded) -> LabelPairs | None:
        """Return the pairs of two columns; None for more than `MOST_CLASSES` labels."""
        shape = len(one), len(other)
        if max(shape) > MOST_CLASSES:
            return None
        table = np.bincount(one.codes * len(other) + other.codes, minlength=shape[0] * shape[1])
        first, second = (tuple(map(str, column.values)) for column in (one, other))
        return cls(first, second, table.reshape(shape).astype(np.float64))

    @classmethod
    def from_counts(cls, counts: Counts, texts: Sequence[str]) -> LabelPairs | None:
        """Return the pairs of a confusion matrix, without unparsed rows; None for very many labels."""
        if counts.size > MOST_CLASSES:
            return None
        table = np.zeros((counts.size, counts.size + 1))
        table[counts.rows, counts.columns] = counts.weight
        table = table[:, :-1]
        rows, columns = (np.flatnonzero(table.any(axis=axis)) for axis in (1, 0))
        first, second = (tuple(texts[place] for place in places.tolist()) for places in (rows, columns))
        return cls(first, second, table[np.ix_(rows, columns)])

    @cached_property
    def rows(self) -> float:
        """Number of rows."""
        return float(self.table.sum())

    @cached_property
    def same(self) -> Places:
        """For each label of the other column, the position of the same text in the first; -1 without one."""
        return self.rename_labels({})

    def rename_labels(self, names: Mapping[str, str]) -> Places:
        """Return the position of each renamed label of the other column in the first; -1 without one."""
        place = {text: code for code, text in enumerate(self.one)}
        found = [place.get(names.get(text, text), -1) for text in self.other]
        return np.array(found, dtype=np.intp)

    @cached_property
    def best(self) -> Places | None:
        """For each label of the other column the matching one of the first, most frequent pairs first.

        None unless both columns have equally many labels.
        """
        size = len(self.one)
        if size != len(self.other):
            return None
        table = self.table.T
        best: dict[int, int] = {}
        left = dict.fromkeys(range(size))
        cells = np.flatnonzero(table)
        for cell in cells[np.argsort(-table.ravel()[cells], kind="stable")].tolist():
            row, column = divmod(cell, size)
            if row not in best and column in left:
                best[row] = column
                del left[column]
        best |= dict(zip([row for row in range(size) if row not in best], left, strict=True))
        return np.array([best[row] for row in range(size)], dtype=np.intp)

    def names(self, places: Places) -> dict[str, str]:
        """Return the label of the first column for each of the other."""
        return {text: self.one[place] for text, place in zip(self.other, places.tolist(), strict=True)}

    def agreement(self, places: Places) -> float:
        """Return the proportion of rows with the same label in both columns, by positions in the first."""
        known = np.flatnonzero(places >= 0)
        return float(self.table[places[known], known].sum() / self.rows) if self.rows else 0.0

    def kappa(self, places: Places) -> float:
        """Return the agreement beyond chance (Cohen's kappa)."""
        known = np.flatnonzero(places >= 0)
        ours, theirs = (self.table.sum(axis=axis) / self.rows for axis in (1, 0))
        chance = float(ours[places[known]] @ theirs[known])
        return 1.0 if chance == 1 else (self.agreement(places) - chance) / (1 - chance)


_TWO: Mapping[str, int] = {
    **dict.fromkeys(("yes", "y", "true", "t", "positive", "pos", "1", "on"), 1),
    **dict.fromkeys(("no", "n", "false", "f", "negative", "neg", "0", "off"), 0),
}
"""Words for one of two labels that do not name the label."""


_NUMBERED = re.compile(r"\D*?[_\- ]?(\d+)(?:\.0)?")


_SHOWN = 3
"""Most pairs of spellings in a note."""


def one_spelling(y_true: Array, y_pred: Array) -> tuple[Array, str]:
    """Return the predictions in the spelling of the true labels, and a note; unchanged if they agree.

    ``LABEL_1`` and ``label 1`` are 1, ``Yes`` is True or 1, ``Spam`` is ``spam``, ``"1"`` is 1,
    ``__label__x`` and ``1:x`` are ``x``; labels -1 and 1 match 0 and 1 in order. Each rule applies only if
    every label of one side has exactly one match on the other.

    Examples
    --------
    >>> one_spelling(np.array(["Yes", "No"]), np.array([1, 0]))
    (array(['Yes', 'No'], dtype='<U3'), 'predictions matched to the true labels: 0 is No, 1 is Yes')
    """
    right, predicted = np.unique(y_true).tolist(), np.unique(y_pred).tolist()
    same = isinstance(right[0], str) == isinstance(predicted[0], str)
    if {tuple(right), tuple(predicted)} == _SIGNS:
        return _rewrite_labels(y_true, y_pred, predicted, dict(zip(predicted, right, strict=True)))
    if same and set(predicted) & set(right):
        return y_pred, ""
    for key in (str, _normalise_label, _number, _number_of_two):
        matched = _match_labels(right, predicted, key)
        if matched is not None:
            return _rewrite_labels(y_true, y_pred, predicted, matched)
    bare = _without_affix(list(map(str, right)), list(map(str, predicted)))
    if bare is None or (not same and not set(bare.values()) <= set(map(str, right))):
        return y_pred, ""
    written = {str(label): label for label in right}
    matched = {label: written.get(bare[str(label)], bare[str(label)]) for label in predicted}
    return _rewrite_labels(y_true, y_pred, predicted, matched)


_SIGNS = {(-1, 1), (0, 1)}
"""Two codings of a pair of labels."""


_COUNTED = re.compile(r"\W*\d+\s*[:.)_\- ]\s*|\s*[:(_\- ]\s*\d+\W*$")


def _without_affix(right: Sequence[str], predicted: Sequence[str]) -> Mapping[Any, Any] | None:
    """Return the true label for each prediction if the labels of one side have an additional affix.

    The affix is the same for all its labels, or a number of each: ``1:sports``.
    """
    stripped: list[Callable[[str], str]] = [*_affixes(predicted, right), *_affixes(right, predicted)]
    stripped += [_strip_numbering, _strip_punctuation]
    for bare in stripped:
        ours, theirs = {bare(label): label for label in right}, {bare(label): label for label in predicted}
        if len(ours) < len(right) or len(theirs) < len(predicted) or "" in ours or "" in theirs:
            continue
        shared = ours.keys() & theirs.keys()
        if shared and (len(shared) == len(ours) or len(shared) == len(theirs)):
            return {label: ours.get(name, name) for name, label in theirs.items()}
    return None


def _affixes(longer: Sequence[str], shorter: Sequence[str]) -> list[Callable[[str], str]]:
    """Functions that remove the prefix and suffix around the longest label of the other side."""
    inner = _normalise_label(max(shorter, key=len))
    plain = list(map(_normalise_label, longer))
    found: list[Callable[[str], str]] = []
    for label in plain if inner else ():
        before, middle, after = label.partition(inner)
        if middle and before + after and all(x.startswith(before) and x.endswith(after) for x in plain):
            found.append(partial(_strip_affixes, before, after))
    return found


def _strip_affixes(before: str, after: str, label: str) -> str:
    return str(_normalise_label(label)).removeprefix(before).removesuffix(after)


@lru_cache(4096)
def _strip_numbering(label: str) -> str:
    return _strip_punctuation(_COUNTED.sub("", label, count=1))


@lru_cache(4096)
def _strip_punctuation(label: str) -> str:
    return str(_normalise_label(re.sub(r"^\W+|\W+$", "", label)))


@lru_cache(4096, typed=True)
def _normalise_label(label: Any) -> Any:
    return " ".join(str(label).casefold().replace("_", " ").replace("-", " ").split())


def _number(label: Any) -> Any:
    found = _NUMBERED.fullmatch(str(label).strip())
    return int(found.group(1)) if found else None


def _number_of_two(label: Any) -> Any:
    return _TWO.get(str(label).strip().casefold())


def _match_labels(right: Sequence[Any], predicted: Sequence[Any], key: Any) -> Mapping[Any, Any] | None:
    """Return the true label for each prediction if the keys are distinct on both sides."""
    ours, theirs = {key(label): label for label in right}, {key(label): label for label in predicted}
    if None in ours or None in theirs or len(ours) < len(right) or len(theirs) < len(predicted):
        return None
    shared = theirs.keys() & ours.keys()
    if not shared or (len(shared) < len(theirs) and len(shared) < len(ours)):
        return None
    if len(shared) < len(theirs) and isinstance(right[0], str) and key is not _number:
        return None
    return {label: ours.get(name, name if key is _number else label) for name, label in theirs.items()}


def _rewrite_labels(
    y_true: Array, y_pred: Array, predicted: Sequence[Any], matched: Mapping[Any, Any]
) -> tuple[Array, str]:
    values = [matched[label] for label in predicted]
    if isinstance(y_true[0].item(), str):
        values = [str(value) for value in values]
    _, codes = np.unique(y_pred, return_inverse=True)
    renamed = [f"{label} is {matched[label]}" for label in predicted if str(label) != str(matched[label])]
    some = some_of(renamed, _SHOWN) or "equal names, numbers here and text there"
    note = f"predictions matched to the true labels: {some}"
    return np.asarray(values)[codes], note


def harmonise_labels(y_true: Array, y_pred: Array | None) -> tuple[Array, Array | None]:
    """Return labels of which 0/1 and False/True are one kind.

    Examples
    --------
    >>> harmonise_labels(np.array([0, 1]), np.array([True, False]))[1]
    array([1, 0])
    """
    if y_pred is None or {y_true.dtype.kind, y_pred.dtype.kind} != {"b", "i"}:
        return y_true, y_pred
    return y_true.astype(np.int64), y_pred.astype(np.int64)


def as_text(y_true: Array, y_pred: Array | None) -> tuple[Array, Array | None]:
    """Return both sides as text where one is text and has numbers of the other among it.

    A CSV has no types: labels may be digits in one column, and digits among words in another.

    Examples
    --------
    >>> as_text(np.array([101, 102]), np.array(["101", "foo"]))[0]
    array(['101', '102'], dtype='<U21')
    """
    if y_pred is None or (y_true.dtype.kind == "U") == (y_pred.dtype.kind == "U"):
        return y_true, y_pred
    if not set(np.unique(y_true).astype(str)) & set(np.unique(y_pred).astype(str)):
        return y_true, y_pred
    return y_true.astype(str), y_pred.astype(str)


def cast_label(label: Label, others: Iterable[Label], what: str) -> Label:
    """Return a label that was written as text in the type of the labels that occur.

    Raises
    ------
    DataError
        Text where the labels are numbers.

    Examples
    --------
    >>> cast_label("1", [0], "--positive")
    1
    """
    known = list(others)
    kind = type(known[0])
    text = str(plain([label])[0])
    if kind is str:
        return text
    if kind is bool and text.lower() in ("true", "1", "false", "0"):
        return text.lower() in ("true", "1")
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if kind is bool or not number.is_integer():
        raise DataError(
            f"{what} {text!r} has a different type than the labels of the data, which are {kind.__name__}",
            where=f"{what} {text!r}",
            fix=f"labels are: {list_names([str(one) for one in plain(known)])}",
        )
    return int(number)

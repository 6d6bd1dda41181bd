"""Readings that cannot be meant are refused, whichever rule found them.

A reading gives columns their parts: the truth, the prediction, the scores. These checks compare it with the
data: small functions over columns as codes, each of which either has nothing to say or names what contradicts
the reading, and the options that give another one.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.core.errors import DataError, some_of
from evalreport.core.format import counted
from evalreport.data.arrays import reads_as_number
from evalreport.data.labels import CLOSE

Array = npt.NDArray[Any]
_SHOWN = 5
MOST_CLASSES = 1000
"""Labels up to which every pair of a true and a predicted one is counted."""
IGNORED = -100
"""What loss functions of deep learning skip; never a class."""


def refuse_labels(y_true: Array, y_pred: Array | None, truth: str, scores: Sequence[str] = ()) -> None:
    """Refuse labels that cannot be of one problem.

    Parameters
    ----------
    y_true, y_pred : labels of shape (n,), in one spelling where there is one
    truth : str
        Column of the truth.
    scores : sequence of str
        Columns of the scores.

    Raises
    ------
    DataError
        An ignore index among the true labels; truth and predictions without a label in common.
    """
    right, told = distinct(y_true), None if y_pred is None else distinct(y_pred)
    ignored = ignored_label(right, told, len(scores))
    if ignored is not None:
        rows = np.flatnonzero(y_true == ignored)
        raise _ignored(ignored, truth, f"column {truth!r}, {counted(rows.size, 'row')}, first: row {rows[0]}")
    if told is None or y_pred is None:
        return
    if disjoint(right, told):
        raise _disjoint(right, told, truth, _other_names(y_true, y_pred))
    some = slice(None, None, max(1, len(y_true) // MOST_COMPARED))
    _refuse_permuted(y_true[some], y_pred[some], truth)


def refuse_label_sets(right: Array, told: Array | None, truth: str, columns: int) -> None:
    """Refuse distinct labels of truth and predictions that cannot be of one problem, as `refuse_labels`.

    Raises
    ------
    DataError
    """
    ignored = ignored_label(right, told, columns)
    if ignored is not None:
        raise _ignored(ignored, truth, f"column {truth!r}")
    if told is not None and disjoint(right, told):
        raise _disjoint(right, told, truth, "name other columns with --truth and --pred")


def distinct(values: Array) -> Array:
    """Return the distinct labels in order; whole numbers close together are counted, and text is not sorted.

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


def _ignored(code: int, truth: str, where: str) -> DataError:
    return DataError(
        f"{truth} is {code} in some rows, and no prediction is: an ignore index",
        where=where,
        fix=f'leave those rows out: --where "{truth}!={code}"',
    )


def _disjoint(right: Array, told: Array, truth: str, fix: str) -> DataError:
    return DataError(
        "truth and predictions have no label in common",
        where=f"{truth}: {_some(right)}; predictions: {_some(told)}",
        fix=fix,
    )


def _refuse_permuted(y_true: Array, y_pred: Array, truth: str) -> None:
    """Refuse predictions that agree with the truth only under other labels, such as codes from 0."""
    one, other = Coded.of(y_true), Coded.of(y_pred)
    if one is None or other is None or len(one.codes) < _SOME:
        return
    same = one.names == other.names
    if (same and len(one) < 3) or len(one) != len(other) or len(one) > MOST_CLASSES:
        return  # a model of two labels may be worse than chance
    agreement = _agree(y_true.astype(str), y_pred.astype(str))
    best = _best_agreement(Coded(one.values, one.codes), Coded(tuple(map(_apart, other.values)), other.codes))
    if best > _ALIKE and agreement < best / 3:
        raise DataError(
            f"{agreement:.0%} of the predictions are right, but nearly all fit the truth by other labels",
            where=f"{truth}: {_some(np.array(one.values))}; predictions: {_some(np.array(other.values))}",
            fix=_other_names(y_true, y_pred),
        )


def _apart(value: Any) -> str:
    return f"predicted {value}"


def ignored_label(right: Array, told: Array | None, columns: int = 0) -> int | None:
    """Return the one negative code among the true labels that is no class; None where there is none.

    Parameters
    ----------
    right, told : distinct labels of truth and predictions
    columns : int
        How many score columns there are.

    Examples
    --------
    >>> ignored_label(np.array([-100, 0, 1]), None), ignored_label(np.array([-1, 1]), np.array([-1, 1]))
    (-100, None)
    """
    if right.dtype.kind != "i" or (told is not None and told.dtype.kind != "i"):
        return None
    below = right[right < 0]
    if below.size != 1 or (told is not None and below[0] in told) or columns == len(right):
        return None
    code = int(below[0])
    return code if code == IGNORED or (right.size > 2 and (right >= 0).sum() >= 2) else None


def disjoint(right: Array, told: Array) -> bool:
    """Tell whether truth and predictions have no label in common, although one would be expected.

    One label on each side may be a small sample, or a model that never finds it.

    Examples
    --------
    >>> disjoint(np.array(["a", "b"]), np.array(["x", "y"])), disjoint(np.array([0]), np.array([1]))
    (True, False)
    """
    if (right.size < 2 and told.size < 2) or {right.dtype.kind, told.dtype.kind} == {"b", "i"}:
        return False
    return not set(map(str, right.tolist())) & set(map(str, told.tolist()))


def _some(labels: Array) -> str:
    return some_of([str(label) for label in labels.tolist()], _SHOWN)


def _other_names(y_true: Array, y_pred: Array) -> str:
    """The fix for two sets of labels: which is which, as most rows show it."""
    pairs = best_pairs(y_true, y_pred)
    columns = "name other columns with --truth and --pred"
    if pairs is None:
        return columns
    names = ",".join(f"{label}={name}" for name, label in pairs.items())
    shown = shlex.quote(names)
    return f"if the predictions have names of their own pass --label-names {shown}; else {columns}"


def best_pairs(y_true: Array, y_pred: Array) -> dict[Any, Any] | None:
    """Return one true label for each predicted one, pairs of most rows first; None unless as many of both.

    Examples
    --------
    >>> best_pairs(np.array([0, 1, 1, 0]), np.array(["x", "y", "y", "x"]))
    {'x': 0, 'y': 1}
    """
    (right, codes), (told, others) = (np.unique(side, return_inverse=True) for side in (y_true, y_pred))
    if right.size != told.size or right.size > MOST_CLASSES:
        return None
    table = np.bincount(others * right.size + codes, minlength=right.size**2).reshape(told.size, right.size)
    best: dict[int, int] = {}
    left = dict.fromkeys(range(right.size))
    cells = np.flatnonzero(table)
    for cell in cells[np.argsort(-table.ravel()[cells], kind="stable")].tolist():
        row, column = divmod(cell, right.size)
        if row not in best and column in left:
            best[row] = column
            del left[column]
    best |= dict(zip([row for row in range(told.size) if row not in best], left, strict=True))
    return {told[row].item(): right[best[row]].item() for row in range(told.size)}


@dataclass(frozen=True, eq=False)
class Coded:
    """A column as codes: its distinct values in order, and the place of each row's value among them."""

    values: tuple[Any, ...]
    codes: npt.NDArray[np.intp]

    @classmethod
    def of(cls, column: Array) -> Coded | None:
        """Return labels, names or whole numbers as codes; None for numbers with fractions and lists."""
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

    def crossed(self, other: Coded) -> Coded:
        """Return the pairs of values that occur together, as codes."""
        pairs, codes = np.unique(self.codes * len(other) + other.codes, return_inverse=True)
        values = tuple((self.values[k // len(other)], other.values[k % len(other)]) for k in pairs.tolist())
        return Coded(values, codes)

    @property
    def names(self) -> frozenset[str]:
        """The distinct values as text, in small letters."""
        return frozenset(str(value).strip().casefold() for value in self.values)

    @property
    def counts(self) -> npt.NDArray[np.intp]:
        """Rows of each value."""
        return np.bincount(self.codes, minlength=len(self))


def rows_as_codes(truth: Array) -> npt.NDArray[np.intp]:
    """Return one code for each distinct true label, or set of labels, of shape (n,)."""
    if truth.ndim == 2:
        packed = np.ascontiguousarray(np.packbits(truth.astype(bool), axis=1))
        truth = packed.view(f"V{packed.shape[1]}").reshape(-1)
    elif truth.dtype == object:  # gaps among labels
        truth = truth.astype(str)
    return np.unique(truth, return_inverse=True)[1].reshape(-1)


MOST_ROWS = 1_000_000
"""Rows up to which all columns are compared to see whether there are several evaluations."""
MOST_EVALUATIONS = 100
_FEWEST = 10
"""Repeated rows from which chance does not explain that each value has every example once."""


@dataclass(frozen=True)
class Several:
    """Several evaluations in one table: the columns that separate them, their values, the repeated key."""

    columns: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]
    key: str


def several_evaluations(
    columns: Mapping[str, Array], truth: npt.NDArray[np.intp], groups: Collection[str] = ()
) -> Several | None:
    """Return the columns, one or two, of which each value has the same examples with the same true labels.

    An example is known by a column whose values are distinct within each evaluation and repeat across
    them, or by the sequence of true labels.

    Parameters
    ----------
    columns : mapping from name to array of shape (n,)
        Those that are neither label, prediction nor score.
    truth : codes of shape (n,)
    groups : collection of str
        Columns that identify rows of one group. With them, equal sequences are not enough, and rows that
        repeat by one of them are pooled on purpose.

    Examples
    --------
    >>> columns = {"model": np.repeat(["a", "b"], 12), "case": np.tile(np.arange(12), 2)}
    >>> truth = np.tile([0, 1, 1, 0, 0, 1, 0, 1, 1, 1, 0, 0], 2)
    >>> several_evaluations(columns, truth).columns, several_evaluations(columns, truth, ["case"])
    (('model',), None)
    """
    n = len(truth)
    if n < 2 * _FEWEST:
        return None
    coded = {name: found for name, column in columns.items() if (found := Coded.of(column)) is not None}
    few = {name: one for name, one in coded.items() if 2 <= len(one) <= min(MOST_EVALUATIONS, n // 5)}
    few = dict(sorted(few.items(), key=lambda item: not isinstance(item[1].values[0], str)))
    keys = {name: other for name, other in coded.items() if _repeats(other, n) and _fixes(other, truth)}
    for names in (*((name,) for name in few), *(combinations(few, 2) if keys else ())):
        one = few[names[0]] if len(names) == 1 else few[names[0]].crossed(few[names[1]])
        if len(one) > MOST_EVALUATIONS:
            continue
        repeated = [key for key, other in keys.items() if key not in names and _is_once(one, other)]
        if repeated:
            pooled = {*names, *repeated} & {*groups}
            return None if pooled else Several(names, tuple(few[name].values for name in names), repeated[0])
        if len(names) == 1 and not groups and _same_truth(one, truth):
            return Several(names, (one.values,), "")
    return None


def _repeats(key: Coded, n: int) -> bool:
    """Whether values of a column repeat in at least a quarter of n rows."""
    repeated = n - len(key)
    return repeated >= _FEWEST and 4 * repeated >= n and len(key) >= _FEWEST // 2


def _is_once(one: Coded, other: Coded) -> bool:
    """Whether no pair of values of two columns is in two rows."""
    if int(other.counts.max()) > len(one):
        return False
    pairs = one.codes * len(other) + other.codes
    return np.unique(pairs).size == pairs.size


def _fixes(key: Coded, truth: npt.NDArray[np.intp]) -> bool:
    """Whether rows of one key have one true label, which the key does not repeat by being the label."""
    of_key = np.zeros(len(key), dtype=np.intp)
    of_key[key.codes] = truth
    return bool((of_key[key.codes] == truth).all()) and np.unique(truth).size > 1


def _same_truth(one: Coded, truth: npt.NDArray[np.intp]) -> bool:
    """Whether the truth is the same sequence in the rows of each value, and neither sorted nor a cycle."""
    counts = one.counts
    size = int(counts[0])
    if size < _FEWEST or (counts != size).any():
        return False
    order = np.argsort(one.codes, kind="stable")
    rows = truth[order].reshape(len(one), size)
    first = rows[0]
    if (rows != first).any():
        return False
    changes = int((first[1:] != first[:-1]).sum())
    cycle = any((first[period:] == first[:-period]).all() for period in range(1, size // 2))
    return changes > np.unique(first).size and not cycle


class SeveralEvaluationsError(DataError):
    """A table with several evaluations of the same examples."""


def refuse_several(
    columns: Mapping[str, Array], truth: npt.NDArray[np.intp], source: str, groups: Collection[str]
) -> None:
    """Refuse a table of several evaluations: pooled, its rows describe none of them.

    Parameters
    ----------
    groups : collection of str
        As of `several_evaluations`.

    Raises
    ------
    SeveralEvaluationsError
        Names the column, its values and how to choose one.
    """
    found = several_evaluations(columns, truth, groups)
    if found is None:
        return
    names = " and ".join(map(repr, found.columns))
    several = len(found.columns) > 1
    shown = "; ".join(some_of([str(value) for value in values], _SHOWN) for values in found.values)
    repeats = f"the values of {found.key} repeat" if found.key else "the same true labels follow each other"
    keep = f"; to pool them by example: --group {shlex.quote(found.key)}" if found.key else ""
    one = " ".join(
        f'--where "{name}={values[0]}"' for name, values in zip(found.columns, found.values, strict=True)
    )
    raise SeveralEvaluationsError(
        f"{'columns' if several else 'column'} {names} {'separate' if several else 'separates'} "
        f"{'several' if several else len(found.values[0])} evaluations of the same examples",
        where=f"{source}, {'columns' if several else 'column'} {names}: {shown}; {repeats} within each",
        fix=f"choose one, as in {one}{keep}",
    )


PROVEN = 0.99
"""Proportion of rows that agree from which one column is what another decides."""
_SOME = 20
"""Rows from which agreement in nearly all of them is not chance."""
_BY_CHANCE = 3.0
"""Standard errors of an agreement that is chance (1 / √n is one, or more), up to which it may be."""
_ASSOCIATED = 0.2
"""Agreement beyond chance (kappa) from which two columns of 0 and 1 may be truth and prediction."""
MOST_COMPARED = 20_000
"""Rows on which columns are compared."""


@dataclass(frozen=True, eq=False)
class LabelColumns:
    """What a reading with one label per row says of the columns; labels as text.

    Parameters
    ----------
    truth : str
        Column of the truth.
    pred : str or None
    score : str or None
        Column or columns of the scores.
    y_true, y_pred : text of shape (n,); `y_pred` or None
    decided : text of shape (n,), or None
        The label of the greatest score.
    confidence : bool
        Whether one column of scores is never below one half, as that of the predicted label.
    """

    truth: str
    pred: str | None
    score: str | None
    y_true: Array
    y_pred: Array | None
    decided: Array | None
    confidence: bool = False


def rivals(columns: Mapping[str, Array], reading: LabelColumns) -> tuple[str, ...]:
    """Return the columns that contain the same labels as the truth, and could be truth or prediction as well.

    Columns of numbers or truth values are features as often: they count where they agree with the truth.
    """
    labels = Coded.of(reading.y_true)
    if labels is None or not 2 <= len(labels) <= MOST_CLASSES:
        return ()
    found = []
    for name, column in columns.items():
        coded = Coded.of(column)
        if coded is None or not 2 <= len(coded) <= MOST_CLASSES:
            continue
        same = coded.names == labels.names
        words = not all(reads_as_number(value) or value in _TRUTH_VALUES for value in labels.names)
        agreement = kappa(labels, coded) if same else _best_agreement(labels, coded)
        least = max(_ASSOCIATED if same else _ALIKE, _BY_CHANCE / np.sqrt(len(labels.codes)))
        if (same and words) or agreement > least:
            found.append(name)
    return tuple(found)


_TRUTH_VALUES = ("true", "false")


def kappa(one: Coded, other: Coded) -> float:
    """Return the agreement of two columns with the same labels beyond chance.

    Examples
    --------
    >>> kappa(Coded.of(np.array([0, 1, 1, 0])), Coded.of(np.array([0, 1, 1, 0])))
    1.0
    """
    place = {str(value).strip().casefold(): code for code, value in enumerate(one.values)}
    codes = np.array([place.get(str(value).strip().casefold(), -1) for value in other.values])[other.codes]
    agreement = float((codes == one.codes).mean())
    ours, theirs = one.counts / len(codes), np.bincount(codes[codes >= 0], minlength=len(one)) / len(codes)
    chance = float(ours @ theirs)
    return 1.0 if chance == 1 else (agreement - chance) / (1 - chance)


def refuse_rivals(columns: Mapping[str, Array], reading: LabelColumns, *, named: bool) -> None:
    """Refuse a truth that is chosen by its name alone while another column contains the same labels.

    Parameters
    ----------
    columns : mapping from name to array
        Those without a part.
    named : bool
        Whether the truth was named with an option.

    Raises
    ------
    DataError
    """
    answer = reading.truth
    if reading.pred is not None and reading.y_pred is not None and reading.decided is not None:
        ours, theirs = (_agree(reading.decided, side) for side in (reading.y_true, reading.y_pred))
        if ours >= PROVEN and theirs < PROVEN and not named and len(reading.y_true) >= _SOME:
            raise DataError(
                f"the scores decide {answer!r} in every row, and not the prediction {reading.pred!r}",
                where=f"columns {answer!r} and {reading.pred!r}, scores {reading.score}",
                fix=f"name both, as in --truth {_quoted(reading.pred)} --pred {_quoted(answer)}",
            )
        if ours < PROVEN or theirs >= PROVEN:
            return
    if reading.pred is not None or (named and not reading.confidence):
        return
    found = rivals(columns, reading) if len(reading.y_true) >= _FEWEST else ()
    if not found:
        return
    other = found[0]
    proven = reading.confidence or (
        reading.decided is not None and _agree(reading.decided, reading.y_true) >= PROVEN
    )
    likely = f"--truth {_quoted(other)} --pred {_quoted(answer)}"
    if named:
        likely = f"--truth {_quoted(answer)} --pred {_quoted(other)}"
    fix = f"say which is which: {likely}"
    if not proven:
        fix += f"; or --truth {_quoted(answer)} where {', '.join(found)} is something else"
    raise DataError(
        f"{answer!r} and {listed_names(found)} contain the same labels: which is the truth is not known",
        where=f"columns {listed_names((answer, *found))}: {', '.join(sorted(set(reading.y_true))[:_SHOWN])}",
        fix=fix,
    )


def listed_names(names: Sequence[str]) -> str:
    """Return names of columns in quotes."""
    return some_of([repr(name) for name in names], _SHOWN)


def _quoted(name: str) -> str:
    return shlex.quote(name)


def _agree(one: Array, other: Array) -> float:
    return float((one == other).mean())


def refuse_constant(reading: LabelColumns, *, named: bool) -> None:
    """Refuse a truth with one label in all of some rows: it may be anything else that never changes.

    Raises
    ------
    DataError
    """
    if named or len(reading.y_true) < _FEWEST or (reading.y_true != reading.y_true[0]).any():
        return
    raise DataError(
        f"the truth {reading.truth!r} is {reading.y_true[0]} in every row",
        where=f"column {reading.truth!r}, {counted(len(reading.y_true), 'row')}",
        fix=f"if it is the truth pass --truth {_quoted(reading.truth)}; else name another column",
    )


def refuse_order(reading: LabelColumns, labels: Sequence[str], *, places: bool) -> None:
    """Refuse scores whose greatest is of one label where another is predicted, label by label.

    Parameters
    ----------
    labels : sequence of str
        In the order of the scores.
    places : bool
        Whether the scores are a list, whose places ``--labels`` names.

    Raises
    ------
    DataError
    """
    if reading.decided is None or len(reading.decided) < _SOME or len(labels) > MOST_CLASSES:
        return
    given = reading.y_pred is not None
    known = reading.y_true if reading.y_pred is None else reading.y_pred
    agreement = _agree(reading.decided, known)
    if agreement >= 0.5 or (not given and len(labels) < 3):
        return  # a model of two labels may be worse than chance
    as_text = dict(zip(labels, sorted(labels), strict=True))
    for pairs in (as_text, best_pairs(known, reading.decided)):
        moved = [] if pairs is None else [pairs[label] for label in reading.decided.tolist()]
        best = _agree(np.array(moved), known) if moved else 0.0
        if pairs is not None and (best >= PROVEN if given else best > max(_ALIKE, 3 * agreement)):
            break
    else:
        return
    order = ",".join(str(pairs.get(label, label)) for label in labels)
    of = "predicted" if given else "true"
    ways = [f"pass the order of the scores, --labels {_quoted(order)}"] if places else []
    ways += ["leave the scores out: --no-scores"] if given else []
    raise DataError(
        f"the greatest score of {reading.score} is of the {of} label in {agreement:.0%} of the rows",
        where=f"{reading.score}, labels {', '.join(labels)}; the {of} labels fit the order {order}",
        fix="; or ".join(ways) or "name the score columns after the labels that they are of",
    )


def refuse_reversed(reading: LabelColumns, scores: Array, labels: Sequence[str], *, plain: bool) -> None:
    """Refuse scores that rank the rows of their own label last: of the positive label, or of every label.

    Parameters
    ----------
    scores : of the positive label, shape (n,), or of each label, shape (n, labels)
    labels : negative and positive, or in the order of the scores
    plain : bool
        Whether one column has the scores, without the name of its label.

    Raises
    ------
    DataError
    """
    known = reading.y_pred if reading.y_pred is not None else reading.y_true
    if scores.ndim == 2 and (reading.decided is None or _agree(reading.decided, known) * len(labels) >= 1):
        return  # the greatest score is right at least as often as chance
    columns = [(scores, labels[1])] if scores.ndim == 1 else list(zip(scores.T, labels, strict=True))
    areas = [area_under(column, known == label) for column, label in columns]
    defined = [(area, error) for area, error in areas if error > 0]
    if not defined or any(
        area > _REVERSED or (area - 0.5) / error > -_SIGNIFICANT for area, error in defined
    ):
        return
    of = "predicted" if reading.y_pred is not None else "true"
    worst = max(area for area, _ in defined)
    if scores.ndim == 2:
        raise DataError(
            f"the scores {reading.score} rank every {of} label last (area under ROC at most {worst:.2f})",
            where=f"{reading.score}, labels {listed_names(labels)}",
            fix="write distances or costs with the opposite sign, or leave the scores out: --no-scores",
        )
    other = f"--positive {_quoted(labels[0])}" if plain else "--no-scores"
    raise DataError(
        f"the scores {reading.score} rank {of} {labels[1]} last (area under ROC {worst:.2f}): pass {other}",
        where=f"{reading.score}, labels {labels[0]} and {labels[1]}",
        fix=f"if they are of {labels[0]} pass {other}; if they are right, --positive {_quoted(labels[1])}",
    )


_REVERSED = 0.25
_SIGNIFICANT = 4.0
"""Standard errors below one half from which a reversed ranking is not chance."""


def area_under(scores: Array, positive: npt.NDArray[np.bool_]) -> tuple[float, float]:
    """Return the area under ROC, and its standard error where scores rank nothing (0 where it is undefined).

    Examples
    --------
    >>> area_under(np.array([0.1, 0.9]), np.array([False, True]))[0]
    1.0
    """
    ones = int(positive.sum())
    zeros = len(positive) - ones
    if not ones or not zeros:
        return 0.5, 0.0
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    area = (ranks[positive].sum() - ones * (ones + 1) / 2) / (ones * zeros)
    return float(area), float(np.sqrt((ones + zeros + 1) / (12 * ones * zeros)))


_MOST_PAIRED = 20
_FEWEST_EACH = 3
"""Rows of a label, on average, from which a column is one of labels."""
_ALIKE = 0.4
"""Agreement beyond chance from which two columns are truth and prediction of one problem, in any spelling."""


def likely_labels(columns: Mapping[str, Array]) -> tuple[tuple[str, str], ...]:
    """Return pairs of columns that agree as truth and prediction do, the best first, in either order.

    Examples
    --------
    >>> topic, told = np.array(list("aabbccaabb")), np.array(list("aabbccaabc"))
    >>> likely_labels({"topic": topic, "age": np.arange(10), "told": told})
    (('topic', 'told'),)
    """
    coded = label_like(columns)
    names, found = list(coded), []
    for place, one in enumerate(names):
        for other in names[place + 1 :]:
            agreement = _best_agreement(coded[one], coded[other])
            if agreement > _ALIKE:
                found.append((agreement, one, other))
    return tuple((one, other) for _, one, other in sorted(found, key=lambda pair: -pair[0]))


def label_like(columns: Mapping[str, Array]) -> dict[str, Coded]:
    """Return the columns of few values, as codes; at most twenty of them."""
    found: dict[str, Coded] = {}
    for name, column in columns.items():
        one = Coded.of(column[:MOST_COMPARED]) if column.ndim == 1 else None
        if one is not None and 2 <= len(one) <= min(MOST_CLASSES, len(one.codes) // _FEWEST_EACH):
            found[name] = one
    return dict(list(found.items())[:_MOST_PAIRED])


def _best_agreement(one: Coded, other: Coded) -> float:
    """Agreement beyond chance, where each label of one is matched to the one that it is mostly beside."""
    if one.names == other.names:
        return kappa(one, other)
    if len(one) != len(other):
        return 0.0
    pairs = best_pairs(one.codes, other.codes)
    if pairs is None:
        return 0.0
    moved = np.array([pairs[code] for code in range(len(other))])[other.codes]
    chance = float((one.counts / len(moved)) @ (np.bincount(moved, minlength=len(one)) / len(moved)))
    agreement = _agree(moved, one.codes)
    return 1.0 if chance == 1 else (agreement - chance) / (1 - chance)

"""Checks that reject an assignment of roles that the data contradict, whatever rule proposed it.

An assignment gives each column a role: label, prediction, scores. Most checks use counts of pairs of labels
(`LabelPairs`) or areas under ROC, which add up, so that rows in memory, streams and Spark use the same
functions. A check returns nothing, or raises an error with the contradiction and the options that fix it.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.columns.label_pairs import MOST_CLASSES, Coded, LabelPairs, Places, distinct
from evalreport.columns.names import INDEX
from evalreport.core.errors import DataError, some_of
from evalreport.core.format import pluralize
from evalreport.data.arrays import reads_as_number

Array = npt.NDArray[Any]
_SHOWN = 5
IGNORED = -100
"""The index that loss functions of deep learning ignore; never a class."""


def refuse_labels(y_true: Array, y_pred: Array | None, truth: str, scores: Sequence[str] = ()) -> None:
    """Raise an error if true and predicted labels cannot belong to one problem.

    Parameters
    ----------
    y_true, y_pred : labels of shape (n,), in one spelling if possible
    truth : str
        Label column.
    scores : sequence of str
        Score columns.

    Raises
    ------
    DataError
        There is an ignore index among the true labels, or true and predicted labels have no common label or
        agree only if labels are exchanged.
    """
    refuse_label_sets(
        distinct(y_true), None if y_pred is None else distinct(y_pred), truth, len(scores), (y_true, y_pred)
    )
    if y_pred is not None:
        some = slice(None, None, max(1, len(y_true) // MOST_COMPARED))
        refuse_permuted(LabelPairs.from_labels(y_true[some], y_pred[some]), truth)


def refuse_label_sets(
    right: Array,
    predicted: Array | None,
    truth: str,
    columns: int,
    rows: tuple[Array, Array | None] | None = None,
) -> None:
    """Raise an error if distinct true and predicted labels cannot belong to one problem: see `refuse_labels`.

    Parameters
    ----------
    columns : int
        Number of score columns.
    rows : labels of shape (n,), optional
        True and predicted labels of all rows, for the message.

    Raises
    ------
    DataError
    """
    ignored = ignored_label(right, predicted, columns)
    if ignored is not None:
        found = None if rows is None else np.flatnonzero(rows[0] == ignored)
        shown = "" if found is None else f", {pluralize(found.size, 'row')}, first: row {found[0]}"
        raise DataError(
            f"{truth} is {ignored} in some rows, and no prediction is: an ignore index",
            where=f"column {truth!r}{shown}",
            fix=f'exclude these rows: --where "{truth}!={ignored}"',
        )
    if predicted is not None and disjoint(right, predicted):
        raise DataError(
            "true and predicted labels have no label in common",
            where=f"{truth}: {_some(right.tolist())}; predictions: {_some(predicted.tolist())}",
            fix=_fix_of_names(
                None if rows is None or rows[1] is None else LabelPairs.from_labels(rows[0], rows[1])
            ),
        )


def ignored_label(right: Array, predicted: Array | None, columns: int = 0) -> int | None:
    """Return the only negative code among the true labels that is not a class, or None.

    Parameters
    ----------
    right, predicted : distinct true and predicted labels
    columns : int
        Number of score columns.

    Examples
    --------
    >>> ignored_label(np.array([-100, 0, 1]), None), ignored_label(np.array([-1, 1]), np.array([-1, 1]))
    (-100, None)
    """
    if right.dtype.kind != "i" or (predicted is not None and predicted.dtype.kind != "i"):
        return None
    below = right[right < 0]
    if below.size != 1 or (predicted is not None and below[0] in predicted) or columns == len(right):
        return None
    code = int(below[0])
    return code if code == IGNORED or (right.size > 2 and (right >= 0).sum() >= 2) else None


def disjoint(right: Array, predicted: Array) -> bool:
    """Return whether true and predicted labels have no common label, although one is expected.

    With one label on each side, the sample may be small, or the model may never predict the label.

    Examples
    --------
    >>> disjoint(np.array(["a", "b"]), np.array(["x", "y"])), disjoint(np.array([0]), np.array([1]))
    (True, False)
    """
    if (right.size < 2 and predicted.size < 2) or {right.dtype.kind, predicted.dtype.kind} == {"b", "i"}:
        return False
    return not set(map(str, right.tolist())) & set(map(str, predicted.tolist()))


def _some(labels: Sequence[Any]) -> str:
    return some_of([str(label) for label in labels], _SHOWN)


def refuse_permuted(pairs: LabelPairs | None, truth: str) -> None:
    """Raise an error for predictions that agree with the true labels only under other labels, like codes.

    Parameters
    ----------
    pairs : LabelPairs, optional
        True against predicted labels.
    truth : str
        Label column.

    Raises
    ------
    DataError
    """
    if pairs is None or pairs.rows < SOME or pairs.best is None:
        return
    one, other = ({text.strip().casefold() for text in texts} for texts in (pairs.one, pairs.other))
    if one == other and len(one) < 3:
        return  # a binary model may be worse than chance
    agreement = pairs.agreement(pairs.same)
    if pairs.kappa(pairs.best) > _ALIKE and agreement < pairs.agreement(pairs.best) / 3:
        raise DataError(
            f"{agreement:.0%} of the predictions are right, but nearly all are with exchanged labels",
            where=f"{truth}: {_some(pairs.one)}; predictions: {_some(pairs.other)}",
            fix=_fix_of_names(pairs),
        )


def _fix_of_names(pairs: LabelPairs | None) -> str:
    """The fix for two sets of labels: the pairs that most rows show."""
    columns = "name other columns with --truth and --pred"
    if pairs is None or pairs.best is None:
        return columns
    names = ",".join(f"{label}={name}" for name, label in pairs.names(pairs.best).items())
    shown = shlex.quote(names)
    return f"if the predictions have names of their own pass --set label_names={shown}; else {columns}"


MOST_ROWS = 1_000_000
"""Rows up to which all columns are searched for several evaluations."""
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

    Examples are identified by a column whose values are distinct within each evaluation and repeat across
    evaluations, or by the sequence of true labels.

    Parameters
    ----------
    columns : mapping from name to array of shape (n,)
        Columns that are neither label, prediction nor score.
    truth : codes of shape (n,)
    groups : collection of str
        Columns that identify the rows of a group. With them equal sequences are not enough, and rows that
        repeat a value of one of them are pooled on purpose.

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
    coded = {
        name: found for name, column in columns.items() if (found := Coded.from_column(column)) is not None
    }
    few = {name: one for name, one in coded.items() if 2 <= len(one) <= min(MOST_EVALUATIONS, n // 5)}
    few = dict(sorted(few.items(), key=lambda item: not isinstance(item[1].values[0], str)))
    keys = {name: other for name, other in coded.items() if _repeats(other, n) and _fixes(other, truth)}
    for names in (*((name,) for name in few), *(combinations(few, 2) if keys else ())):
        one = few[names[0]] if len(names) == 1 else few[names[0]].cross_codes(few[names[1]])
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
    """Whether all rows of one key have the same true label, and several labels occur."""
    of_key = np.zeros(len(key), dtype=np.intp)
    of_key[key.codes] = truth
    return bool((of_key[key.codes] == truth).all()) and np.unique(truth).size > 1


def _same_truth(one: Coded, truth: npt.NDArray[np.intp]) -> bool:
    """Whether each value has the same sequence of true labels, which is neither sorted nor periodic."""
    counts = one.counts
    size = int(counts[0])
    if size < _FEWEST or (counts != size).any():
        return False
    order = np.argsort(one.codes, kind="stable")
    rows = truth[order].reshape(len(one), size)
    return bool((rows == rows[0]).all()) and is_one_sequence(rows[0])


def is_one_sequence(labels: npt.NDArray[Any]) -> bool:
    """Return whether labels are a sequence that identifies examples: neither sorted nor periodic."""
    size = len(labels)
    changes = int((labels[1:] != labels[:-1]).sum())
    periodic = any((labels[period:] == labels[:-period]).all() for period in range(1, size // 2))
    return size >= _FEWEST and changes > np.unique(labels).size and not periodic


class SeveralEvaluationsError(DataError):
    """A table with several evaluations of the same examples."""


def refuse_several(
    columns: Mapping[str, Array], truth: npt.NDArray[np.intp], source: str, groups: Collection[str]
) -> None:
    """Raise an error for a table of several evaluations: metrics of the pooled rows describe none of them.

    Parameters
    ----------
    groups : collection of str
        As in `several_evaluations`.

    Raises
    ------
    SeveralEvaluationsError
        The message names the column, its values and how to choose one.
    """
    found = several_evaluations(columns, truth, groups)
    if found is not None:
        raise several_error(found, source)


def several_error(found: Several, source: str) -> SeveralEvaluationsError:
    """Return the error for several evaluations."""
    names = " and ".join(map(repr, found.columns))
    several = len(found.columns) > 1
    shown = "; ".join(some_of([str(value) for value in values], _SHOWN) for values in found.values)
    repeats = f"the values of {found.key} repeat" if found.key else "the same true labels follow each other"
    keep = f"; to pool them by example: --set group={shlex.quote(found.key)}" if found.key else ""
    one = " ".join(
        f'--where "{name}={values[0]}"' for name, values in zip(found.columns, found.values, strict=True)
    )
    return SeveralEvaluationsError(
        f"{'columns' if several else 'column'} {names} {'separate' if several else 'separates'} "
        f"{'several' if several else len(found.values[0])} evaluations of the same examples",
        where=f"{source}, {'columns' if several else 'column'} {names}: {shown}; {repeats} within each",
        fix=f"choose one, as in {one}{keep}",
    )


PROVEN = 0.99
"""Proportion of rows that agree from which one column is derived from another."""
SOME = 20
"""Rows from which agreement in nearly all of them is not chance."""
_BY_CHANCE = 3.0
"""Standard errors of an agreement by chance (1 / √n is one, or more) that are tolerated."""
_ASSOCIATED = 0.2
"""Agreement beyond chance (kappa) from which two columns of 0 and 1 may be label and prediction."""
MOST_COMPARED = 20_000
"""Rows on which columns are compared."""


@dataclass(frozen=True, eq=False)
class LabelColumns:
    """The columns of an assignment with one label per row; labels as text.

    Parameters
    ----------
    truth : str
        Label column.
    pred : str or None
    score : str or None
        Score column or columns.
    y_true, y_pred : text of shape (n,); `y_pred` or None
    decided : text of shape (n,), or None
        The label of the greatest score.
    confidence : bool
        Whether one score column is never below one half, as the confidence of a prediction.
    """

    truth: str
    pred: str | None
    score: str | None
    y_true: Array
    y_pred: Array | None
    decided: Array | None
    confidence: bool = False


def rivals(columns: Mapping[str, Array], reading: LabelColumns) -> tuple[str, ...]:
    """Return the columns that contain the same labels as the label column, and could be label or prediction.

    Columns of numbers or booleans are often features: they count if they agree with the true labels.
    """
    labels = Coded.from_column(reading.y_true)
    if labels is None or not 2 <= len(labels) <= MOST_CLASSES:
        return ()
    found = []
    for name, column in columns.items():
        coded = Coded.from_column(column)
        if coded is None or not 2 <= len(coded) <= MOST_CLASSES:
            continue
        same = coded.names == labels.names
        words = not all(reads_as_number(value) or value in _TRUTH_VALUES for value in labels.names)
        least = max(_ASSOCIATED if same else _ALIKE, _BY_CHANCE / np.sqrt(len(labels.codes)))
        if (same and words) or _best_agreement(labels, coded) > least:
            found.append(name)
    return tuple(found)


_TRUTH_VALUES = ("true", "false")


def refuse_rivals(columns: Mapping[str, Array], reading: LabelColumns, *, named: bool) -> None:
    """Raise an error for a label column chosen only by name while another column contains the same labels.

    Parameters
    ----------
    columns : mapping from name to array
        Columns without a role.
    named : bool
        Whether the label column was named with an option.

    Raises
    ------
    DataError
    """
    answer = reading.truth
    if reading.pred is not None and reading.y_pred is not None and reading.decided is not None:
        ours, theirs = (float((reading.decided == side).mean()) for side in (reading.y_true, reading.y_pred))
        if ours >= PROVEN and theirs < PROVEN and not named and len(reading.y_true) >= SOME:
            raise DataError(
                f"the highest score belongs to {answer!r} in every row, not to the prediction "
                f"{reading.pred!r}",
                where=f"columns {answer!r} and {reading.pred!r}, scores {reading.score}",
                fix=f"name both, as in --truth {shlex.quote(reading.pred)} --pred {shlex.quote(answer)}",
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
        reading.decided is not None and float((reading.decided == reading.y_true).mean()) >= PROVEN
    )
    likely = f"--truth {shlex.quote(other)} --pred {shlex.quote(answer)}"
    if named or (not proven and other in INDEX):
        likely = f"--truth {shlex.quote(answer)} --pred {shlex.quote(other)}"
    fix = f"name label and prediction: {likely}"
    if not proven:
        fix += f"; or --truth {shlex.quote(answer)} if {', '.join(found)} is something else"
    raise DataError(
        f"{answer!r} and {listed_names(found)} contain the same labels: either may be the label column",
        where=f"columns {listed_names((answer, *found))}: {', '.join(sorted(set(reading.y_true))[:_SHOWN])}",
        fix=fix,
    )


def listed_names(names: Sequence[str]) -> str:
    """Return column names in quotes."""
    return some_of([repr(name) for name in names], _SHOWN)


def refuse_constant(truth: str, labels: Sequence[Any], rows: int, *, named: bool) -> None:
    """Raise an error for a label column with one label in all rows: it may be any constant column.

    Parameters
    ----------
    labels : the labels that occur in the column
    rows : int
    named : bool
        Whether the label column was named with an option.

    Raises
    ------
    DataError
    """
    if named or rows < _FEWEST or len(labels) != 1:
        return
    raise DataError(
        f"the label column {truth!r} is {labels[0]} in every row",
        where=f"column {truth!r}, {pluralize(rows, 'row')}",
        fix=f"if it contains the labels pass --truth {shlex.quote(truth)}; else name another column",
    )


_QUANTITIES = 30
"""Distinct whole numbers from which true values and predictions may be quantities."""
_RARELY_EQUAL = 0.3
_CORRELATED = 0.8
"""Proportion of equal values below which, and correlation from which, whole numbers are quantities."""
_ROWS_OF_A_CLASS = 5
"""Rows of each label, on average, from which labels are classes whether they agree or not."""


def refuse_quantities(y_true: Array, y_pred: Array, truth: str, *, scored: bool = False) -> None:
    """Refuse whole numbers that are predicted as quantities: rarely equal, and strongly correlated.

    Many different numbers that are equal only as often as by chance are quantities as well: classes would
    have several rows each, some agreement, codes from 0 or 1, or scores (`scored`).

    Examples
    --------
    >>> ages = np.arange(100) % 60
    >>> refuse_quantities(ages, ages + 1, "age")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    evalreport.core.errors.DataError: 'age' looks like a quantity (regression), not like classes

    Raises
    ------
    DataError
    """
    if y_true.dtype.kind not in "iu" or y_pred.dtype.kind not in "iu":
        return
    (ours, counts), (theirs, their_counts) = (
        np.unique(side, return_counts=True) for side in (y_true, y_pred)
    )
    rows, labels, equal = len(y_true), len(ours), int((y_true == y_pred).sum())
    if labels < _QUANTITIES or equal >= _RARELY_EQUAL * rows or len(theirs) < 2:
        return
    correlation = float(np.corrcoef(y_true.astype(float), y_pred.astype(float))[0, 1])
    _, mine, yours = np.intersect1d(ours, theirs, assume_unique=True, return_indices=True)
    chance = float(counts[mine].astype(float) @ their_counts[yours]) / rows
    is_chance = chance >= 1 and equal <= chance + 2 * np.sqrt(chance)
    are_many = rows < _ROWS_OF_A_CLASS * min(labels, len(theirs))
    are_codes = scored or min(int(ours[0]), int(theirs[0])) in (0, 1)
    if correlation >= _CORRELATED or (is_chance and are_many and not are_codes):
        raise DataError(
            f"{truth!r} looks like a quantity (regression), not like classes",
            where=f"column {truth!r}: {labels} whole numbers, correlation {correlation:.2f} with the "
            f"predictions, {equal / rows:.0%} of the rows equal",
            fix="evalreport evaluates classification; if these are classes pass --set task=multiclass",
        )


_COUNTS = {"count", "counts", "n", "frequency", "support", "rows"}
"""Names of a column with the number of rows that each row represents."""


def refuse_counts(columns: Mapping[str, Array], y_true: Array, y_pred: Array) -> None:
    """Raise an error for cells of a confusion matrix (one per row, with a count) used as rows of predictions.

    Parameters
    ----------
    columns : columns without a role
    y_true, y_pred : labels of shape (n,)

    Raises
    ------
    DataError
    """
    pairs = set(zip(y_true.tolist(), y_pred.tolist(), strict=True))
    for name, values in columns.items():
        if name.lower() not in _COUNTS or values.dtype.kind not in "iu" or not 3 <= len(pairs) == len(values):
            continue
        if values.min() >= 0 and values.max() > 1:
            raise DataError(
                f"each pair of labels occurs once, and {name!r} may be the number of rows",
                where=f"column {name!r}, {pluralize(len(values), 'row')}",
                fix=f"count them: --set weight={shlex.quote(name)} --set weight_kind=count",
            )


def refuse_order(
    pairs: LabelPairs | None, score: str, labels: Sequence[str], *, given: bool, places: bool
) -> None:
    """Refuse scores whose greatest is of one label while another is predicted, label by label.

    Parameters
    ----------
    pairs : LabelPairs, optional
        Predicted labels (true labels without predictions) against the labels of the greatest score.
    score : str
        Score columns.
    labels : sequence of str
        Labels in the order of the scores.
    given : bool
        Whether predictions are given.
    places : bool
        Whether the scores are a list, whose positions ``--labels`` names.

    Raises
    ------
    DataError
    """
    if pairs is None or pairs.rows < SOME:
        return
    agreement = pairs.agreement(pairs.same)
    if agreement >= 0.5 or (not given and len(labels) < 3):
        return  # a binary model may be worse than chance
    as_text = dict(zip(labels, sorted(labels), strict=True))
    ways = [(as_text, pairs.rename_labels(as_text))]
    ways += [] if pairs.best is None else [(pairs.names(pairs.best), pairs.best)]

    def fits(moved: Places) -> bool:
        best = pairs.agreement(moved)
        return best >= PROVEN if given else pairs.kappa(moved) > _ALIKE and best > 3 * agreement

    names = next((names for names, moved in ways if fits(moved)), None)
    if names is None:
        return
    order = ",".join(names.get(label, label) for label in labels)
    of = "predicted" if given else "true"
    fixes = [f"pass the order of the scores, --labels {shlex.quote(order)}"] if places else []
    fixes += ["leave the scores out: --set no_scores"] if given else []
    raise DataError(
        f"the highest score of {score} belongs to the {of} label in {agreement:.0%} of the rows",
        where=f"{score}, labels {', '.join(labels)}; the {of} labels fit the order {order}",
        fix="; or ".join(fixes) or "name the score columns after their labels",
    )


def refuse_reversed(
    areas: Sequence[tuple[float, float]], score: str, labels: Sequence[str], *, of: str, plain: bool
) -> None:
    """Raise an error for scores that rank the rows of their label last: the positive label, or every label.

    Parameters
    ----------
    areas : sequence of (area under ROC, its standard error for random scores)
        One of the positive label, or one of each label, as of `area_under`.
    score : str
        Score columns.
    labels : negative and positive, or in the order of the scores
    of : {"true", "predicted"}
        Labels with which the areas are computed.
    plain : bool
        Whether the scores are one column, without the name of its label.

    Raises
    ------
    DataError
    """
    defined = [(area, error) for area, error in areas if error > 0]
    if not defined or any(
        area > _REVERSED or (area - 0.5) / error > -_SIGNIFICANT for area, error in defined
    ):
        return
    worst = max(area for area, _ in defined)
    if len(areas) > 1:
        raise DataError(
            f"the scores {score} rank every {of} label last (area under ROC at most {worst:.2f})",
            where=f"{score}, labels {listed_names(labels)}",
            fix="write distances or costs with the opposite sign, or leave the scores out: --set no_scores",
        )
    other = f"--positive {shlex.quote(labels[0])}" if plain else "--set no_scores"
    raise DataError(
        f"the scores {score} rank {of} {labels[1]} last (area under ROC {worst:.2f}): pass {other}",
        where=f"{score}, labels {labels[0]} and {labels[1]}",
        fix=f"if they are of {labels[0]} pass {other}; "
        f"if they are right, --positive {shlex.quote(labels[1])}",
    )


_REVERSED = 0.25
_SIGNIFICANT = 4.0
"""Standard errors below one half from which a reversed ranking is not chance."""


def ranking_error(positives: float, negatives: float) -> float:
    """Return the standard error of the area under ROC of random scores; 0 if it is undefined.

    Examples
    --------
    >>> ranking_error(1, 0), round(ranking_error(50, 50), 3)
    (0.0, 0.058)
    """
    if not positives or not negatives:
        return 0.0
    return float(np.sqrt((positives + negatives + 1) / (12 * positives * negatives)))


def area_under(scores: Array, positive: npt.NDArray[np.bool_]) -> tuple[float, float]:
    """Return the area under ROC, and its standard error for random scores (0 if it is undefined).

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
    return float(area), ranking_error(ones, zeros)


def label_areas(
    scores: Array, known: Array, labels: Sequence[str], pairs: LabelPairs | None
) -> list[tuple[float, float]]:
    """Return the areas for `refuse_reversed`; empty if the highest score is right only as often as by chance.

    Parameters
    ----------
    scores : of the positive label, shape (n,), or of each label, shape (n, labels)
    known : text of shape (n,)
        Predicted labels, or true labels without predictions.
    labels : negative and positive, or in the order of the scores
    pairs : LabelPairs, optional
        As in `refuse_order`.
    """
    if scores.ndim == 2 and len(labels) > 2:
        if pairs is None or pairs.agreement(pairs.same) * len(labels) >= 1:
            return []
        return [area_under(column, known == label) for column, label in zip(scores.T, labels, strict=True)]
    return [area_under(scores if scores.ndim == 1 else scores[:, 1] - scores[:, 0], known == labels[1])]


_ALIKE = 0.4
"""Agreement beyond chance from which two columns are label and prediction of one problem, in any spelling."""


def _best_agreement(one: Coded, other: Coded) -> float:
    """Agreement beyond chance: by the same labels, or else by the most frequent pairs of labels."""
    first, second = (
        Coded(tuple(str(value).strip().casefold() for value in column.values), column.codes)
        for column in (one, other)
    )
    pairs = LabelPairs.from_codes(first, second)
    if pairs is None:
        return 0.0
    if one.names == other.names:
        return pairs.kappa(pairs.same)
    return 0.0 if pairs.best is None else pairs.kappa(pairs.best)

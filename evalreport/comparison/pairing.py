"""Matching the rows of two runs, by id or by order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.core.errors import DataError, UsageError
from evalreport.core.format import pluralize
from evalreport.data.arrays import repeated_ids
from evalreport.data.labels import UNPARSED, Binary, Graded, Label, LabelSpace, Multiclass, Multilabel
from evalreport.data.predictions import Predictions
from evalreport.data.scores import Decisions, KnownScores, NoScores
from evalreport.evaluation.evaluation import Evaluation


def union_space(a: LabelSpace, b: LabelSpace) -> LabelSpace:
    """Return the label space of both runs: the first's labels, then what the second adds.

    Raises
    ------
    UsageError
        The tasks differ, or binary problems have other labels or another positive label.

    Examples
    --------
    >>> union_space(Multiclass(["a", "b"]), Multiclass(["b", "c"])).labels
    ('a', 'b', 'c')
    """
    if a == b:
        return a
    if a.task != b.task:
        raise UsageError(
            f"a {a.task} run cannot be compared with a {b.task} run",
            fix="declare the task of both with --set task, if one was inferred wrongly",
        )
    if isinstance(a, Graded) and isinstance(b, Graded):
        raise UsageError(
            f"grades on the scale {a.scale!r} cannot be compared with grades on the scale {b.scale!r}",
            fix="make a pass of both with --set pass, such as --set pass='>=4'",
        )
    known = set(a.names)
    labels: list[Label] = [*a.labels, *(label for label in b.labels if str(label) not in known)]
    match a, b:
        case Multiclass(), Multiclass():
            return Multiclass(labels, ordered=a.ordered and a.labels == b.labels)
        case Multilabel(), _:
            return Multilabel(labels)
        case _:
            raise UsageError(
                f"the binary runs differ in their labels: {' / '.join(a.names)} and {' / '.join(b.names)}",
                where="negative / positive",
                fix="name the same --positive label for both",
            )


def recode(p: Predictions, space: LabelSpace) -> Predictions:
    """Return predictions in the codes of a wider label space; an unknown label has the lowest score.

    Examples
    --------
    >>> from evalreport.data.predictions import predictions
    >>> p = predictions(Multiclass(["b", "c"]), ["b", "c"], ["b", "b"])
    >>> recode(p, Multiclass(["a", "b", "c"])).y_true
    array([1, 2], dtype=int32)
    """
    if p.space == space or isinstance(space, Binary):
        return p
    place = np.array([space.code_of[name] for name in p.space.texts], dtype=np.int32)
    return replace(
        p,
        space=space,
        y_true=_remap_codes(p.y_true, place, len(space)),
        y_pred=None if p.y_pred is None else _remap_codes(p.y_pred, place, len(space)),
        scores=_widen(p.scores, place, len(space)),
    )


def _widen(scores: KnownScores, place: npt.NDArray[np.int32], size: int) -> KnownScores:
    if isinstance(scores, NoScores):
        return scores
    lowest = scores.values.min(initial=0) - 1 if isinstance(scores, Decisions) else 0
    wide = np.full((len(scores.values), size), lowest, dtype=scores.values.dtype)
    wide[:, place] = scores.values
    return replace(scores, values=wide)


def _remap_codes(codes: npt.NDArray[Any], place: npt.NDArray[np.int32], size: int) -> npt.NDArray[Any]:
    if codes.ndim == 2:
        wide = np.zeros((len(codes), size), dtype=bool)
        wide[:, place] = codes
        return wide
    return np.where(codes == UNPARSED, UNPARSED, place[codes]).astype(np.int32)


Kind: TypeAlias = Literal["paired", "unpaired"]
Rows: TypeAlias = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Pairing:
    """Whether and how the examples of two runs were matched.

    Parameters
    ----------
    kind : {"paired", "unpaired"}
    n_shared : int
        Examples that both runs have; 0 when unpaired.
    reason : str
        The proof of the match, or the reason for none.
    only_run, only_baseline : int
        Examples that only one of them has.
    """

    kind: Kind
    n_shared: int
    reason: str
    only_run: int = 0
    only_baseline: int = 0


@dataclass(frozen=True, eq=False)
class PairedPredictions:
    """Two runs on their shared examples, in the same order; None for both when unpaired."""

    pairing: Pairing
    run: Predictions | None = None
    baseline: Predictions | None = None


SIDES = ("the run", "the baseline")
EXAMPLES = ("example", "examples")


def pair(
    run: Evaluation, baseline: Evaluation, *, unpaired: bool = False, names: tuple[str, str] = SIDES
) -> PairedPredictions:
    """Match the examples of two runs by id, or without ids by order if the true labels are equal.

    Parameters
    ----------
    unpaired : bool
        Whether the examples are known to differ: no match is tried.
    names : (str, str)
        Names of the runs in errors.

    Raises
    ------
    UsageError
        The runs have different tasks.
    DataError
        An id is repeated, an example has different true labels or weights, or runs without ids have equally
        many rows but other true labels.

    Examples
    --------
    >>> from evalreport.evaluation.evaluate import evaluate_predictions
    >>> from evalreport.data.labels import Binary
    >>> from evalreport.data.predictions import predictions
    >>> space = Binary(0, 1)
    >>> a = evaluate_predictions(predictions(space, [0, 1, 1], [0, 1, 0], ids=list("abc")))
    >>> b = evaluate_predictions(predictions(space, [1, 0], [1, 1], ids=list("ba")))
    >>> pair(a, b).pairing.reason
    'matched by id; 1 example is in one run only'
    """
    space = union_space(run.space, baseline.space)
    a, b = run.predictions, baseline.predictions
    if unpaired:
        return _unpaired_predictions("other examples, as declared")
    if a is None or b is None:
        known = bool(run.label_digest) and run.label_digest == baseline.label_digest
        how = "the examples are the same (equal digests), but " if known else ""
        return _unpaired_predictions(f"{how}the predictions of a run are missing")
    run.refuse_pair(baseline)
    unit = run.row_unit if isinstance(space, Graded) else EXAMPLES
    return match_rows(recode(a, space), recode(b, space), names, unit)


def match_rows(
    a: Predictions, b: Predictions, names: tuple[str, str] = SIDES, unit: tuple[str, str] = EXAMPLES
) -> PairedPredictions:
    """Match the rows of two runs over one label space, as `pair` does."""
    return _by_id(a, b, names, unit) if a.ids is not None and b.ids is not None else _by_order(a, b)


def _unpaired_predictions(reason: str, only: tuple[int, int] = (0, 0)) -> PairedPredictions:
    return PairedPredictions(Pairing("unpaired", 0, reason, *only))


def _by_order(a: Predictions, b: Predictions) -> PairedPredictions:
    if isinstance(a.space, Graded):
        return _unpaired_predictions("no ids on both sides: grades are matched by id only")
    if len(a) != len(b):
        return _unpaired_predictions(
            f"no ids in both runs, and {len(a):,} and {len(b):,} rows: the rows cannot be matched"
        )
    differs = _rows_of_other_truth(a, b)
    if differs.size:
        row = int(differs[0])
        raise DataError(
            f"no ids, and the true labels differ in {differs.size:,} of {len(a):,} rows: the rows are in"
            " a different order, or the test sets differ",
            where=f"first: row {row}, {_truth(a, row)} and {_truth(b, row)}",
            fix="name the column of ids with --id, or pass --unpaired if these are different examples",
        )
    _same_weights(a, b)
    return _paired_predictions(a, b, "no ids; same true labels in the same order")


def _by_id(
    a: Predictions, b: Predictions, names: tuple[str, str], unit: tuple[str, str]
) -> PairedPredictions:
    _refuse_repeated(a, names[0])
    _refuse_repeated(b, names[1])
    rows_a, rows_b = _match_ids(np.asarray(a.ids), np.asarray(b.ids))
    only = (len(a) - len(rows_a), len(b) - len(rows_b))
    if not len(rows_a):
        return _unpaired_predictions("the runs have no example ids in common", only)
    a, b = _take_rows(a, rows_a), _take_rows(b, rows_b)
    differs = _rows_of_other_truth(a, b)
    if differs.size:
        row = int(differs[0])
        raise DataError(
            f"the true labels of {differs.size:,} of {len(a):,} shared examples differ between the runs",
            where=f"first: id {str(np.asarray(a.ids)[row])!r}, {_truth(a, row)} and {_truth(b, row)}",
            fix="score both runs against one version of the test set",
        )
    _same_weights(a, b)
    lost = sum(only)
    left = f"; {pluralize(lost, *unit)} {'are' if lost > 1 else 'is'} in one run only" if lost else ""
    return _paired_predictions(a, b, f"matched by id{left}", only)


def _refuse_repeated(p: Predictions, which: str) -> None:
    again = repeated_ids(np.asarray(p.ids))
    if again is not None:
        raise DataError(
            f"{again.shown}, so examples cannot be matched by id",
            where=f"{again.first_example} of {which}",
            fix="name a column of unique ids with --id, or pass --unpaired",
        )


def _match_ids(a: npt.NDArray[np.str_], b: npt.NDArray[np.str_]) -> tuple[Rows, Rows]:
    """Rows of the ids that both have, in the order of the first."""
    if np.array_equal(a, b):
        return np.arange(len(a)), np.arange(len(b))
    place = dict(zip(b.tolist(), range(len(b)), strict=True))
    found = np.fromiter((place.get(name, -1) for name in a.tolist()), dtype=np.intp, count=len(a))
    rows = np.flatnonzero(found >= 0)
    return rows, found[rows]


def _take_rows(p: Predictions, rows: Rows) -> Predictions:
    whole = len(rows) == len(p) and np.array_equal(rows, np.arange(len(p)))
    return p if whole else p.take(rows)


def _rows_of_other_truth(a: Predictions, b: Predictions) -> Rows:
    other = a.y_true != b.y_true
    return np.flatnonzero(other.any(axis=1) if other.ndim == 2 else other)


def _same_weights(a: Predictions, b: Predictions) -> None:
    scale = a.weights.sum() / (b.weights.sum() or 1.0)  # weights are relative to the rows of each run
    differs = np.flatnonzero(~np.isclose(a.weights, scale * b.weights))
    if differs.size:
        row = int(differs[0])
        raise DataError(
            f"the weights of {differs.size:,} of {len(a):,} shared examples differ between the runs",
            where=f"first: row {row}, {a.weights[row]:g} and {b.weights[row]:g}",
            fix="name one --set weight column that both runs have, or none",
        )


def _paired_predictions(
    a: Predictions, b: Predictions, reason: str, only: tuple[int, int] = (0, 0)
) -> PairedPredictions:
    """The rows of both; groups and slices are the run's, or the baseline's where it has none."""
    groups, slices = a.groups or b.groups, a.slices or b.slices
    if groups is not a.groups or slices is not a.slices:
        a = replace(a, groups=groups, slices=slices)
    return PairedPredictions(Pairing("paired", len(a), reason, *only), a, b)


def _truth(p: Predictions, row: int) -> str:
    code = p.y_true[row]
    if np.ndim(code):
        return "[" + ", ".join(p.space.names[label] for label in np.flatnonzero(code)) + "]"
    return repr(p.space.names[int(code)])

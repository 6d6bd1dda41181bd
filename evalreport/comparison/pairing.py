"""The proof that two runs were scored on the same examples, and the rows that both share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.errors import DataError, UsageError
from evalreport.evaluation.model import Evaluation
from evalreport.labels import UNPARSED, Binary, Label, LabelSpace, Multiclass, Multilabel
from evalreport.predictions import Predictions
from evalreport.scores import NoScores

Kind: TypeAlias = Literal["paired", "unpaired"]


@dataclass(frozen=True)
class Pairing:
    """Whether and how the examples of two runs were matched.

    Parameters
    ----------
    kind : {"paired", "unpaired"}
    n_shared : int
        Examples that both runs have; 0 when unpaired.
    reason : str
        The proof, or why there is none.
    only_run, only_baseline : int
        Examples that only one of them has.
    """

    kind: Kind
    n_shared: int
    reason: str
    only_run: int = 0
    only_baseline: int = 0


@dataclass(frozen=True, eq=False)
class Pair:
    """Two runs on their shared examples, row by row in one order; None for both when unpaired."""

    pairing: Pairing
    run: Predictions | None = None
    baseline: Predictions | None = None


def pair(run: Evaluation, baseline: Evaluation) -> Pair:
    """Match the examples of two runs by id, or without ids by order when the truth is equal.

    Raises
    ------
    UsageError
        The runs have different tasks.
    DataError
        The same id has another truth, or the runs share no label or no example.
    """
    space = union_space(run.space, baseline.space)
    a, b = run.predictions, baseline.predictions
    if a is None or b is None:
        known = run.truth_digest == baseline.truth_digest
        how = "the examples are the same (equal digests), but " if known else ""
        return Pair(
            Pairing("unpaired", 0, f"{how}the predictions of a run are not at hand, only its evaluation")
        )
    a, b = recoded(a, space), recoded(b, space)
    if a.ids is not None and b.ids is not None:
        return _by_id(a, b)
    if len(a) == len(b) and np.array_equal(a.y_true, b.y_true):
        return Pair(Pairing("paired", len(a), "no ids; equal truth in the same order"), a, b)
    what = f"{len(a):,} and {len(b):,} rows" if len(a) != len(b) else "truth columns that differ"
    return Pair(Pairing("unpaired", 0, f"no ids on both sides, and {what}: the same examples are not proven"))


def _by_id(a: Predictions, b: Predictions) -> Pair:
    ids = (np.asarray(a.ids), np.asarray(b.ids))
    shared, rows_a, rows_b = np.intersect1d(*ids, assume_unique=True, return_indices=True)
    only = (len(a) - len(shared), len(b) - len(shared))
    if not len(shared):
        return Pair(Pairing("unpaired", 0, "the runs share no example id", *only))
    order = np.argsort(rows_a, kind="stable")
    a, b, shared = a.take(rows_a[order]), b.take(rows_b[order]), shared[order]
    other = a.y_true != b.y_true
    differs = np.flatnonzero(other.any(axis=1) if other.ndim == 2 else other)
    if differs.size:
        raise DataError(
            f"the truth of {differs.size:,} of {len(shared):,} shared examples differs between the runs",
            where=f"first: id {shared[differs[0]]!r}, {_truth(a, differs[0])} and {_truth(b, differs[0])}",
            fix="score both runs against one version of the test set",
        )
    reason = "matched by id" + (
        f"; {only[0]:,} and {only[1]:,} examples are in one run only" if any(only) else ""
    )
    return Pair(Pairing("paired", len(shared), reason, *only), a, b)


def _truth(p: Predictions, row: int) -> str:
    code = p.y_true[row]
    if np.ndim(code):
        return "[" + ", ".join(p.space.names[label] for label in np.flatnonzero(code)) + "]"
    return repr(p.space.names[int(code)])


def union_space(a: LabelSpace, b: LabelSpace) -> LabelSpace:
    """Return the label space of both runs: the first's labels, then what the second adds.

    Raises
    ------
    UsageError
        Different tasks, or binary problems with other labels or another positive.

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
            fix="declare the task of both with --task, if one was inferred wrongly",
        )
    known = set(a.names)
    labels: list[Label] = [*a.labels, *(x for x in b.labels if str(x) not in known)]
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


def recoded(p: Predictions, space: LabelSpace) -> Predictions:
    """Return predictions in the codes of a wider label space; a label that was unknown has score 0."""
    if p.space == space or isinstance(space, Binary):
        return p
    place = np.array([space.code_of[name] for name in p.space.names], dtype=np.int32)
    scores = p.scores
    if not isinstance(scores, NoScores):
        wide = np.zeros((len(p), len(space)), dtype=scores.values.dtype)
        wide[:, place] = scores.values
        scores = replace(scores, values=wide)
    return replace(
        p,
        space=space,
        y_true=_moved(p.y_true, place, len(space)),
        y_pred=None if p.y_pred is None else _moved(p.y_pred, place, len(space)),
        scores=scores,
    )


def _moved(codes: npt.NDArray[Any], place: npt.NDArray[np.int32], size: int) -> npt.NDArray[Any]:
    if codes.ndim == 2:
        wide = np.zeros((len(codes), size), dtype=bool)
        wide[:, place] = codes
        return wide
    return np.where(codes == UNPARSED, UNPARSED, place[codes]).astype(np.int32)


def described(pairs: Sequence[Pairing]) -> str:
    """Return one sentence on how the runs were matched.

    Examples
    --------
    >>> described([Pairing("paired", 285, "matched by id")])
    'Paired: 285 shared examples, matched by id.'
    """
    first = pairs[0]
    if first.kind == "unpaired":
        return f"Not paired: {first.reason}."
    return f"Paired: {first.n_shared:,} shared examples, {first.reason}."

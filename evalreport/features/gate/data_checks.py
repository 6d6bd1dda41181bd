"""The data themselves: gaps, ranges, sums, duplicates, and test rows that were trained on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, assert_never

import numpy as np
import numpy.typing as npt

from evalreport.data.arrays import repeated_ids
from evalreport.data.labels import UNPARSED, Multiclass
from evalreport.data.predictions import Predictions
from evalreport.data.scores import Decisions, NoScores, Probabilities
from evalreport.features.gate.rules import CheckResult

FIRST = 3
"""Examples that are named in a line."""


@dataclass(frozen=True)
class TrainingRows:
    """What is known of the rows that a model was trained on.

    Parameters
    ----------
    name : str
        The file's name.
    ids : sequence of str or None
    texts : sequence of str or None
        Of the same length, in the same order.
    """

    name: str
    ids: Sequence[str] | None = None
    texts: Sequence[str] | None = None


def data_checks(
    rows: Predictions, train: TrainingRows | None = None, *, named: bool = True
) -> tuple[CheckResult, ...]:
    """Check the rows of an evaluation.

    Gaps, scores outside their range and rows that do not sum to one never come this far: they are refused
    where the file is read, with their first row. Here they are reported with their counts.

    Parameters
    ----------
    rows : Predictions
    train : TrainingRows, optional
        Held against the rows by id and by text.
    named : bool
        Whether ids of examples may be shown.

    Examples
    --------
    >>> from evalreport.data.labels import Binary
    >>> from evalreport.data.predictions import predictions
    >>> space = Binary("ham", "spam")
    >>> rows = predictions(space, ["ham", "spam"], ["ham", "spam"], ids=["7", "8"])
    >>> for check in data_checks(rows, TrainingRows("train.csv", ids=["8", "9"])):
    ...     print(check.outcome, check.name, check.shown, sep=" | ")
    passed | truth | 2 rows, no gaps; 2 of 2 labels occur
    passed | predictions | 2 rows, no gaps
    passed | ids | 2, all distinct
    failed | leakage | 1 row of the test set also occurs in train.csv (id 8)
    """
    found = [_truth(rows), *_predictions(rows), *_scores(rows)]
    if rows.ids is not None:
        found.append(_ids(rows.ids, named))
    if rows.texts is not None:
        found.append(_duplicates(rows, named))
    if train is not None:
        found.append(_leakage(rows, train, named))
    return tuple(found)


def _data(name: str, broken: int, shown: str, detail: str = "") -> CheckResult:
    return CheckResult(
        name, "failed" if broken else "passed", shown, detail, kind="data", value=float(broken), bound=0.0
    )


def _truth(rows: Predictions) -> CheckResult:
    occurring = int(rows.y_true.any(axis=0).sum() if rows.y_true.ndim == 2 else len(np.unique(rows.y_true)))
    shown = f"{len(rows):,} rows, no gaps; {occurring:,} of {len(rows.space):,} labels occur"
    return _data("truth", 0, shown)


def _ids(ids: npt.NDArray[np.str_], named: bool) -> CheckResult:
    again = repeated_ids(ids)
    if again is None:
        return _data("ids", 0, f"{len(ids):,}, all distinct")
    return _data("ids", again.times, again.shown, again.first if named else "")


def _predictions(rows: Predictions) -> list[CheckResult]:
    if rows.y_pred is None:
        return []
    unread = int((rows.y_pred == UNPARSED).sum()) if rows.parsed is not None else 0
    tail = f"; {unread:,} could not be read and count as wrong" if unread else ""
    return [_data("predictions", 0, f"{len(rows):,} rows, no gaps{tail}")]


def _scores(rows: Predictions) -> list[CheckResult]:
    match rows.scores:
        case NoScores():
            return []
        case Decisions():
            return [_data("scores", 0, "no gaps, all finite")]
        case Probabilities():
            sums = ", sums to 1" if isinstance(rows.space, Multiclass) else ""
            return [_data("scores", 0, f"no gaps, all in [0, 1]{sums}", "; ".join(rows.scores.notes))]
        case never:
            assert_never(never)


def _duplicates(rows: Predictions, named: bool) -> CheckResult:
    keys = _keys(rows.texts or ())
    seen: dict[str, int] = {}
    first = np.array(
        [seen.setdefault(key, row) if key else row for row, key in enumerate(keys)], dtype=np.intp
    )
    again = np.flatnonzero(first != np.arange(len(keys)))
    apart = again if rows.groups is None else again[_split(rows.groups.codes, again, first)]
    if not apart.size:
        together = f"{_rows(again.size)}, each in one group with its first" if again.size else "none"
        return _data("duplicate texts", 0, together)
    return _data(
        "duplicate texts",
        apart.size,
        f"{_rows(apart.size)} with the text of an earlier row{_which(rows, apart, named)}",
        "they count twice and make the intervals too narrow: drop them, or name a --group that holds them",
    )


def _split(
    codes: npt.NDArray[np.int32], again: npt.NDArray[np.intp], first: npt.NDArray[np.intp]
) -> npt.NDArray[np.bool_]:
    return np.asarray(codes[again] != codes[first[again]])


def _leakage(rows: Predictions, train: TrainingRows, named: bool) -> CheckResult:
    by_id = _shared(rows.ids, train.ids)
    texts = _keys(rows.texts or ())
    trained = _keys(train.texts or ())
    by_text = _shared(texts, [text for text in trained if text]) if texts and trained else None
    how = [
        what
        for what, found in (("id", by_id), ("text (case and spaces aside)", by_text))
        if found is not None
    ]
    detail = f"compared by {' and '.join(how)}"
    if by_id is not None and by_text is not None and 2 * (by_id & by_text).sum() < by_id.sum():
        by_id, detail = None, "compared by text (case and spaces aside); the ids count anew in each file"
    parts = [found for found in (by_id, by_text) if found is not None]
    if not parts:
        return CheckResult(
            "leakage",
            "inconclusive",
            f"nothing to compare with {train.name} by",
            "name a column that both files have, with --id or --example-text",
            kind="data",
        )
    shared = np.flatnonzero(np.logical_or.reduce(parts))
    if not shared.size:
        return _data("leakage", 0, f"no row of the test set occurs in {train.name}", detail)
    verb = "occurs" if shared.size == 1 else "occur"
    words = f"{_rows(shared.size)} of the test set also {verb} in {train.name}"
    return _data("leakage", shared.size, words + _which(rows, shared, named), detail)


def _shared(ours: Sequence[str] | Any | None, theirs: Sequence[str] | None) -> npt.NDArray[np.bool_] | None:
    if ours is None or theirs is None:
        return None
    known = set(theirs)
    return np.fromiter((str(key) in known for key in ours), dtype=bool, count=len(ours))


def _keys(texts: Sequence[str]) -> list[str]:
    """Return texts as they are compared: case and runs of white space make no difference."""
    return [" ".join(text.casefold().split()) for text in texts]


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"


def _which(rows: Predictions, found: npt.NDArray[np.intp], named: bool) -> str:
    if not named:
        return ""
    first = [str(row) if rows.ids is None else str(rows.ids[row]) for row in found[:FIRST]]
    noun = "row" if rows.ids is None else "id"
    more = ", …" if found.size > FIRST else ""
    return f" ({noun if found.size == 1 else noun + 's'} {', '.join(first)}{more})"

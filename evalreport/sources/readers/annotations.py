"""True labels from what several people annotated: which annotations count, and what is said of the rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from evalreport.errors import DataError
from evalreport.format import counted

UNFINISHED = ("discarded", "cancelled", "draft", "pending", "rejected", "ignored")
"""States of an annotation that is no true label."""


class Annotation(NamedTuple):
    """The labels that one person gave to a record, None for no answer, and the state of the annotation."""

    labels: list[Any] | None
    state: str = "submitted"


class Agreed(NamedTuple):
    """The true labels of each record, None for a record that is skipped, and what is reported of the rest."""

    labels: list[list[Any] | None]
    notes: tuple[str, ...]


def agree(records: Sequence[Sequence[Annotation]]) -> Agreed:
    """Return the labels that most annotators of each record gave.

    Discarded annotations and drafts do not count. A record without a submitted annotation, or without one
    answer that is more frequent than every other, has no true label.

    Raises
    ------
    DataError
        No record has a true label.

    Examples
    --------
    >>> one, other = Annotation(["ham"]), Annotation(["spam"], "discarded")
    >>> agree([[one, other], [other]]).labels
    [['ham'], None]
    >>> for note in agree([[one, other], [other]]).notes:
    ...     print(note)
    2 annotations are not used as true labels (2 discarded)
    1 of 2 records has no submitted annotation and is skipped
    """
    states: Counter[str] = Counter()
    labels: list[list[Any] | None] = []
    empty = majority = tied = 0
    for made in records:
        states.update(one.state for one in made if one.state in UNFINISHED)
        given = [one.labels for one in made if one.labels is not None and one.state not in UNFINISHED]
        votes = Counter(_key(one) for one in given).most_common(2)
        is_tie = len(votes) > 1 and votes[0][1] == votes[1][1]
        empty, tied = empty + (not given), tied + is_tie
        majority += len(votes) > 1 and not is_tie
        agreed = votes and not is_tie
        labels.append(next(one for one in given if _key(one) == votes[0][0]) if agreed else None)
    notes = _notes(len(records), states, empty, majority, tied)
    if records and not any(one is not None for one in labels):
        raise DataError(
            "no record has a submitted annotation that most annotators agree on",
            where="; ".join(notes),
            fix="submit annotations in the tool, and export again",
        )
    return Agreed(labels, notes)


def _key(labels: Sequence[Any]) -> tuple[str, ...]:
    return tuple(sorted(map(str, labels)))


def _notes(n: int, states: Counter[str], empty: int, majority: int, tied: int) -> tuple[str, ...]:
    notes = []
    if states:
        kinds = ", ".join(f"{count:,} {state}" for state, count in sorted(states.items()))
        verb = "is" if states.total() == 1 else "are"
        notes.append(f"{counted(states.total(), 'annotation')} {verb} not used as true labels ({kinds})")
    if empty:
        verbs = "has no submitted annotation and is" if empty == 1 else "have no submitted annotation and are"
        notes.append(f"{empty:,} of {n:,} records {verbs} skipped")
    if majority or tied:
        notes.append(
            f"annotators disagree on {majority + tied:,} of {n:,} records: {majority:,} decided by the "
            f"majority, {tied:,} without a majority skipped"
        )
    return tuple(notes)

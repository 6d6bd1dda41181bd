"""Several files of a run that belong together: parts of one data set, or truth and answers apart."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TypeVar

from evalreport.errors import UsageError
from evalreport.sources.request import listed
from evalreport.sources.shapes.arrays import ALONE
from evalreport.sources.shapes.naming import PARTS, TESTS, role, words
from evalreport.sources.tables import ARRAYS, RawTable, unpacked_name
from evalreport.text import printable

Named = tuple[str, RawTable]
T = TypeVar("T")
_WORD = re.compile(r"[A-Za-z]+")


def one_of(fitting: Sequence[tuple[str, T]]) -> tuple[tuple[str, T], tuple[str, ...]]:
    """Return the one with its name; of several that are parts of one data set the test rows, which is said.

    Raises
    ------
    UsageError
        Several could be meant; lists them.
    """
    if len(fitting) == 1:
        return fitting[0], ()
    found = _test_file(fitting)
    if found is not None:
        return found[0], (found[1],)
    names = [printable(name) for name, _ in fitting]
    raise UsageError(
        f"{len(names)} artifacts hold predictions: {listed(names)}",
        fix=f"say which, as in --artifact {names[0]}",
    )


def _test_file(fitting: Sequence[tuple[str, T]]) -> tuple[tuple[str, T], str] | None:
    """Return the test file among files whose names differ by a part of the data alone, and what is said.

    None where they differ otherwise, or no one is the test file.
    """
    parts = [_part(name) for name, _ in fitting]
    alike = {_without_part(name) for name, _ in fitting}
    if len(alike) > 1 or None in parts or len(set(parts)) < len(parts):
        return None
    tests = [place for place, part in enumerate(parts) if part in TESTS]
    if len(tests) != 1:
        return None
    chosen = fitting[tests[0]]
    others = [printable(name) for name, _ in fitting if name != chosen[0]]
    note = (
        f"of files that differ by the part of the data alone {printable(chosen[0])} is taken; "
        f"others: {listed(others)}; for another pass --artifact {others[-1]}"
    )
    return chosen, note


def _part(name: str) -> str | None:
    """Return the part of a data set that a path names, in its folders or its file."""
    found = [word.lower() for word in _WORD.findall(name) if word.lower() in PARTS]
    return found[0] if len(found) == 1 else None


def _without_part(name: str) -> str:
    return _WORD.sub(lambda word: "*" if word.group().lower() in PARTS else word.group(), name)


@dataclass(frozen=True, eq=False)
class PairedTables:
    """Answers and truth of two files (or three: labels, scores and truth), and how they are named."""

    table: RawTable
    truth: RawTable
    taken: str


def paired(tables: Sequence[Named]) -> PairedTables | None:
    """Return truth and answers of two files that are named as such and have as many rows.

    ``y_test.csv`` beside ``y_pred.csv``; arrays of labels and of scores may lie apart as well.
    """
    truths = [named for named in tables if _role(named[0]) == "truth"]
    answers = [named for named in tables if _role(named[0]) in ("prediction", "score")]
    if len(truths) != 1 or not answers or any(table.n != truths[0][1].n for _, table in answers):
        return None
    table = answers[0][1] if len(answers) == 1 else _merged(answers)
    if table is None:
        return None
    names = [printable(name) for name, _ in answers]
    return PairedTables(
        table, truths[0][1], f"artifacts {listed(names)}, truth from {printable(truths[0][0])}"
    )


def _role(path: str) -> str | None:
    """Return what a file's name says that it holds: ``y_test`` is truth, ``y_proba_test`` scores."""
    stem = unpacked_name(PurePosixPath(path).name).partition(".")[0]
    bare = "_".join(word for word in words(stem) if word not in PARTS or words(stem) == ["y", word])
    return role(bare)


def _merged(answers: Sequence[Named]) -> RawTable | None:
    """Return arrays of labels and of scores as one table, each named like its file."""
    if any(table.format not in ARRAYS or ALONE not in table.columns for _, table in answers):
        return None
    columns = {PurePosixPath(name).name.partition(".")[0]: table.columns[ALONE] for name, table in answers}
    digest = hashlib.sha256("".join(table.sha256 for _, table in answers).encode()).hexdigest()
    source = " and ".join(name for name, _ in answers)
    return replace(answers[0][1], columns=columns, names=tuple(columns), source=source, sha256=digest)

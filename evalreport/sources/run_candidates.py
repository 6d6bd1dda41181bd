"""What of a run may hold its predictions: files in the order in which they count, and how each is read.

Several files may belong together: parts of one data set, or truth and answers apart.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Self, TypeAlias, TypeVar

from evalreport.errors import EvalreportError, UsageError
from evalreport.report.names import is_ours
from evalreport.sources.artifacts import Artifact, downloaded, with_parts
from evalreport.sources.mlflow_client import Store
from evalreport.sources.places import local_path
from evalreport.sources.reading import read_for
from evalreport.sources.request import Columns, listed
from evalreport.sources.runs import DatasetSource, RunInfo
from evalreport.sources.shapes.arrays import ALONE
from evalreport.sources.shapes.naming import PARTS, TESTS, role, words
from evalreport.sources.streams import PredictionStream
from evalreport.sources.tables import ACCEPTED, ARRAYS, RawTable, unpacked_name
from evalreport.text import printable

EVALUATOR_TABLE = "per_class_metrics.csv"
"""What `mlflow.models.evaluate` logs of several classes: metrics, no predictions."""
TABLES_TAG = "mlflow.loggedArtifacts"
_KNOWN = re.compile(
    r"(^|[_.\- ])(predictions?|preds?|oof|generations|scores|eval(uation)?_results(_table)?)($|[_.\- ])",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class RunRequest:
    """What was said about where a run keeps its predictions.

    Parameters
    ----------
    artifact : str, optional
        Path inside the run, or a glob.
    format : str, optional
        Format of the artifact, where its name does not tell.
    columns : Columns
    truth_elsewhere : bool
        Whether the truth comes from another file (``--truth-file``).
    """

    artifact: str | None = None
    format: str | None = None
    columns: Columns = field(default_factory=Columns)
    truth_elsewhere: bool = False


class RunFileReader:
    """How files of a run are read: whole, or opened to be counted batch by batch.

    Parameters
    ----------
    opened : callable, optional
        From a file or folder to its stream, None where memory is to hold it; without it memory holds all.
    """

    def __init__(self, opened: Callable[[str], PredictionStream | None] | None = None) -> None:
        self.opened, self._kept = opened, ExitStack()
        self._folders: list[Path] = []

    @contextmanager
    def keeping(self) -> Iterator[Self]:
        """Keep the copies of what is opened while inside; errors name the files as the run does."""
        with self._kept, self._as_in_run():
            yield self

    @contextmanager
    def _as_in_run(self) -> Iterator[None]:
        try:
            yield
        except EvalreportError as error:
            texts = [error.message, error.where, error.fix]
            for folder in self._folders:
                texts = [text.replace(f"{folder}{os.sep}", "") for text in texts]
            raise type(error)(texts[0], where=texts[1], fix=texts[2]) from error

    def read(self, store: Store, run: RunInfo, artifact: Artifact, request: RunRequest) -> Rows:
        """Download an artifact, and read it or open it."""
        with ExitStack() as copies:
            large = self.opened is not None and artifact.is_streamed(request.format)
            copy = downloaded(store, run, artifact, any_size=large)
            local = copies.enter_context(copy)
            self._folders.append(local.parents[artifact.path.count("/")])
            with self._as_in_run():
                rows = self.read_copy(local, request, artifact.path)
            if isinstance(rows, PredictionStream):
                self._kept.push(copies.pop_all())
        return rows

    def read_copy(self, path: Path, request: RunRequest, name: str | None = None) -> Rows:
        """Read a file of this machine, or open it."""
        is_streamed = os.path.isdir(path) or Artifact(path.name).is_streamed(request.format)
        stream = self.opened(str(path)) if self.opened is not None and is_streamed else None
        return stream or read_for(path, request.columns, format=request.format, name=name)


Rows: TypeAlias = RawTable | PredictionStream
"""What a file was read as."""


@dataclass(frozen=True)
class Candidate:
    """What may hold the predictions, by its name in messages."""

    name: str
    read: Callable[[], Rows]


@dataclass(frozen=True)
class CandidateKind:
    """Candidates that count alike; `meant` where a tag or a usual name says that they hold predictions."""

    candidates: tuple[Candidate, ...]
    meant: bool = False


def kinds_of(
    store: Store, run: RunInfo, request: RunRequest, files: list[Artifact], reader: RunFileReader
) -> Iterator[CandidateKind]:
    """Yield the candidates kind by kind, in the order in which they count."""
    models = {str(PurePosixPath(f.path).parent) for f in files if PurePosixPath(f.path).name == "MLmodel"}
    models.discard(".")  # beside a model at the root lies everything else
    readable = [
        file
        for file in _as_tables(files, request)
        if all(_is_readable(part.path) for part in file.files)
        and not is_ours(file.path)
        and PurePosixPath(file.path).name != EVALUATOR_TABLE
        and not models & set(map(str, PurePosixPath(file.path).parents))
    ]
    tables = set(_logged_tables(run))
    kinds: tuple[list[Artifact], ...] = ([], [], [])
    for file in readable:
        usual = _KNOWN.search(PurePosixPath(file.path).name.partition(".")[0])
        kinds[0 if file.path in tables else 1 if usual else 2].append(file)
    for number, kind in enumerate(kinds):
        made = (Candidate(file.path, partial(reader.read, store, run, file, request)) for file in kind)
        yield CandidateKind(tuple(made), meant=number < 2)
    yield CandidateKind(tuple(_datasets(store, run, request, reader)))


def _as_tables(files: list[Artifact], request: RunRequest) -> Iterator[Artifact]:
    """Files, with the parts of a table that can be read one after the other as one."""
    for file in with_parts(files):
        yield from (file,) if file.is_streamed(request.format) or not file.parts else file.parts


def _is_readable(path: str) -> bool:
    return unpacked_name(path).endswith(ACCEPTED)


def _logged_tables(run: RunInfo) -> list[str]:
    try:
        entries = json.loads(run.tags.get(TABLES_TAG, "[]"))
        return [str(entry["path"]) for entry in entries if entry["type"] == "table"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return []  # the tag is anybody's to write; without it the names decide


def _datasets(store: Store, run: RunInfo, request: RunRequest, reader: RunFileReader) -> Iterator[Candidate]:
    seen = set()
    for dataset in run.datasets:
        path = None if store.remote else dataset_path(dataset)
        if path is not None and path not in seen and _is_readable(path.name):
            seen.add(path)
            yield Candidate(f"dataset {dataset.name} ({path.name})", partial(reader.read_copy, path, request))


def dataset_path(dataset: DatasetSource) -> Path | None:
    """Return the local file that a dataset was logged from; None for code, memory and the network.

    Examples
    --------
    >>> dataset_path(DatasetSource("test", "ab", "local", '{"uri": "preds.csv"}')).name
    'preds.csv'
    >>> dataset_path(DatasetSource("test", "ab", "http", '{"url": "https://h/preds.csv"}')) is None
    True
    """
    if dataset.kind != "local":
        return None
    try:
        uri = json.loads(dataset.source)["uri"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    if not isinstance(uri, str) or "\0" in uri:
        return None
    return local_path(uri)


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

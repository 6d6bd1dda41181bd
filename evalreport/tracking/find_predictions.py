"""Find the predictions of a run: possible files in a fixed order, and how each is read.

A source is used only if it is the only one of its kind, and its name is always printed. Several files may
belong together: parts of one data set, or true labels and predictions in separate files.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial
from glob import has_magic
from operator import methodcaller
from pathlib import Path, PurePosixPath
from typing import Any, Self, TypeAlias, TypeVar, overload

from evalreport.columns.assign import roles_of_table
from evalreport.columns.column_request import Columns, list_names
from evalreport.columns.decide import MARGIN
from evalreport.columns.graded import refuse_grade
from evalreport.columns.names import (
    ID,
    INDEX,
    LABEL_NAMES,
    PARTS,
    TESTS,
    WEIGHT,
    is_beside,
    name_weights,
    words,
)
from evalreport.columns.nested import as_columns, fill_from_format
from evalreport.core.errors import (
    ArtifactNotFoundError,
    ColumnNotFoundError,
    EvalreportError,
    GradedError,
    NoPredictionsError,
    NoTableError,
    NotFoundError,
    ServerError,
    UnsafeFileError,
    UsageError,
    some_of,
)
from evalreport.core.text import printable
from evalreport.page.payload import SITE, is_ours
from evalreport.readers.formats import ARRAYS, PICKLES, RawTable, accepted_suffixes, unpacked_name
from evalreport.readers.read import read_requested_columns
from evalreport.tracking.artifact_locations import local_path
from evalreport.tracking.artifacts import (
    Artifact,
    download_artifact,
    find_artifact,
    is_safe,
    list_artifacts,
    with_parts,
)
from evalreport.tracking.client import Store
from evalreport.tracking.runs import ANSWER, DatasetSource, RunInfo, has_traces, parent_alone, read_traces

EVALUATOR_TABLE = "per_class_metrics.csv"
"""What `mlflow.models.evaluate` logs of several classes: metrics, no predictions."""
TABLES_TAG = "mlflow.loggedArtifacts"
_KNOWN = re.compile(
    r"(^|[_.\- ])(predictions?|preds?|oof|generations|scores|eval(uation)?_results(_table)?)($|[_.\- ])",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class RunRequest:
    """The user's options about a run's predictions.

    Parameters
    ----------
    artifact : str, optional
        Path inside the run, or a glob.
    format : str, optional
        Format of the artifact, if its name does not show it.
    columns : Columns
    label_file : bool
        Whether the true labels come from another file (``--set truth_file``).
    """

    artifact: str | None = None
    format: str | None = None
    columns: Columns = field(default_factory=Columns)
    label_file: bool = False


class RunFileReader:
    """Reader of the files of a run: whole, or opened to be counted batch by batch.

    Parameters
    ----------
    opened : callable, optional
        From a file or folder to a stream of an engine, or None to read it into memory. Without it everything
        is read into memory.
    """

    def __init__(self, opened: Callable[[str], Any] | None = None) -> None:
        self.opened, self._kept = opened, ExitStack()
        self._folders: list[Path] = []

    @contextmanager
    def keeping(self) -> Iterator[Self]:
        """Keep the copies of opened files in a context; errors show file names as in the run."""
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

    def read_artifact(self, store: Store, run: RunInfo, artifact: Artifact, request: RunRequest) -> Rows:
        """Download an artifact, and read or open it."""
        with ExitStack() as copies:
            large = self.opened is not None and artifact.is_streamed(request.format)
            copy = download_artifact(store, run, artifact, any_size=large)
            local = copies.enter_context(copy)
            self._folders.append(local.parents[artifact.path.count("/")])
            with self._as_in_run():
                rows = self.read_copy(local, request, artifact.path)
            if not isinstance(rows, RawTable):
                self._kept.push(copies.pop_all())
        return rows

    def read_copy(self, path: Path, request: RunRequest, name: str | None = None) -> Rows:
        """Read or open a file of this machine."""
        is_streamed = os.path.isdir(path) or Artifact(path.name).is_streamed(request.format)
        stream = self.opened(str(path)) if self.opened is not None and is_streamed else None
        return stream or read_requested_columns(path, request.columns, format=request.format, name=name)


Rows: TypeAlias = RawTable | Any
"""The contents of a file; any class other than `RawTable` is a stream that an engine opened."""


@dataclass(frozen=True)
class Candidate:
    """A possible source of predictions, with its name in messages."""

    name: str
    read: Callable[[], Rows]


@dataclass(frozen=True)
class CandidateKind:
    """Candidates of equal priority; `meant` if a tag or a common name marks them as predictions."""

    candidates: tuple[Candidate, ...]
    meant: bool = False


def kinds_of(
    store: Store, run: RunInfo, request: RunRequest, files: list[Artifact], reader: RunFileReader
) -> Iterator[CandidateKind]:
    """Yield the candidates by kind, in the order of priority."""
    models = {str(PurePosixPath(f.path).parent) for f in files if PurePosixPath(f.path).name == "MLmodel"}
    models.discard(".")  # a model at the root has all other files next to it
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
        made = (
            Candidate(file.path, partial(reader.read_artifact, store, run, file, request)) for file in kind
        )
        yield CandidateKind(tuple(made), meant=number < 2)
    yield CandidateKind(tuple(_datasets(store, run, request, reader)))


def _as_tables(files: list[Artifact], request: RunRequest) -> Iterator[Artifact]:
    """Files; parts of a table that can be read one after the other are one file."""
    for file in with_parts(files):
        yield from (file,) if file.is_streamed(request.format) or not file.parts else file.parts


def _is_readable(path: str) -> bool:
    return unpacked_name(path).endswith(accepted_suffixes())


def _logged_tables(run: RunInfo) -> list[str]:
    try:
        entries = json.loads(run.tags.get(TABLES_TAG, "[]"))
        return [str(entry["path"]) for entry in entries if entry["type"] == "table"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return []  # anyone can write the tag; without it the names decide


def _datasets(store: Store, run: RunInfo, request: RunRequest, reader: RunFileReader) -> Iterator[Candidate]:
    seen = set()
    for dataset in run.datasets:
        path = None if store.remote else dataset_path(dataset)
        if path is not None and path not in seen and _is_readable(path.name):
            seen.add(path)
            yield Candidate(f"dataset {dataset.name} ({path.name})", partial(reader.read_copy, path, request))


def dataset_path(dataset: DatasetSource) -> Path | None:
    """Return the local file of a logged dataset; None for code, memory and network sources.

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
    """Return the only one, with its name; of several parts of a data set the test rows, with a note.

    Raises
    ------
    UsageError
        Several are possible; the message lists them.
    """
    if len(fitting) == 1:
        return fitting[0], ()
    found = _test_file(fitting)
    if found is not None:
        return found[0], (found[1],)
    names = [printable(name) for name, _ in fitting]
    raise UsageError(
        f"{len(names)} artifacts contain predictions: {list_names(names)}",
        fix=f"choose one, as in --artifact {names[0]}",
    )


def _test_file(fitting: Sequence[tuple[str, T]]) -> tuple[tuple[str, T], str] | None:
    """Return the test file among files whose names differ only by a part of the data, with a note.

    None if they differ in another way, or none of them is the test file.
    """
    parts = [_part(name) for name, _ in fitting]
    names = {_without_part(name) for name, _ in fitting}
    if len(names) > 1 or None in parts or len(set(parts)) < len(parts):
        return None
    tests = [place for place, part in enumerate(parts) if part in TESTS]
    if len(tests) != 1:
        return None
    chosen = fitting[tests[0]]
    others = [printable(name) for name, _ in fitting if name != chosen[0]]
    note = (
        f"of files that differ by the part of the data alone {printable(chosen[0])} is taken; "
        f"others: {list_names(others)}; for another pass --artifact {others[-1]}"
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
    """Predictions and labels of several files; `weight` is that of the evidence."""

    table: RawTable
    truth: RawTable
    files: tuple[str, ...]
    """The label file, then those of the predictions and scores."""
    weight: float
    columns: frozenset[str]

    @property
    def taken(self) -> str:
        """The column mapping, for printing."""
        truth, *answers = map(printable, self.files)
        return f"artifacts {list_names(answers)}, truth from {truth}"


MOST_PAIRED = 8
"""Most files without a complete assignment that are compared with each other."""


def pair_tables(tables: Sequence[Named], request: Columns) -> PairedTables | None:
    """Return the files that together have labels and predictions or scores, by the evidence of their columns.

    A file's name counts as the name of its only column: ``y_test.csv`` and ``y_pred.csv``. Rows are joined by
    ids, or in order if the files have equally many. Arrays may be in more than two files.

    Raises
    ------
    UsageError
        Several pairs have nearly the same weight.
    """
    known = [(name, _named_after_file(name, table)) for name, table in tables[:MOST_PAIRED]]
    found = [pair for truth in known for pair in _pairs_with(truth, known, request)]
    found.sort(key=lambda pair: -pair.weight)
    if not found:
        return None
    best = found[0]
    rivals = [
        pair for pair in found if pair.weight > best.weight - MARGIN and not pair.columns <= best.columns
    ]
    if rivals:
        truth, answer = best.files[:2]
        raise UsageError(
            f"{len(rivals) + 1} pairs of files could be labels and predictions",
            where="; ".join(printable(" and ".join(pair.files)) for pair in (best, *rivals[:2])),
            fix=f"download them, and name both: evalreport report {printable(answer)} "
            f"--set truth_file={printable(truth)}",
        )
    return best


def _pairs_with(truth: Named, known: Sequence[Named], request: Columns) -> Iterator[PairedTables]:
    """Yield the pairs with one file of labels that have a complete assignment."""
    others = [one for one in known if one[0] != truth[0]]
    arrays = [one for one in others if one[1].format in ARRAYS and one[1].n == truth[1].n]
    for answers in [[one] for one in others] + ([arrays] if len(arrays) > 1 else []):
        table = answers[0][1] if len(answers) == 1 else _merge_arrays(answers)
        with suppress(EvalreportError):
            roles = roles_of_table(table, request, truth[1])
            parts = [part for part in (roles.pred, roles.score) if part is not None]
            if roles.decision is not None and (parts or roles.text):
                columns = [name for part in parts for name in part.columns] + [roles.text or ""]
                used = frozenset(f"{truth[0]} {roles.truth.display_name} {name}" for name in columns if name)
                files = (truth[0], *(name for name, _ in answers))
                yield PairedTables(table, truth[1], files, roles.decision.weight, used)


def _named_after_file(path: str, table: RawTable) -> RawTable:
    """Return a table whose only value column has the name of the file, if its own name has no known word."""
    values = [name for name in table.columns if name not in INDEX and name not in ID]
    stem = unpacked_name(PurePosixPath(path).name).partition(".")[0]
    bare = "_".join(word for word in words(stem) if word not in PARTS or words(stem) == ["y", word])
    bare = "label" if bare in LABEL_NAMES else bare
    if len(values) != 1 or not bare or bare in table.columns or max(name_weights(values[0]).values()) >= 2:
        return table
    columns = {bare if name == values[0] else name: array for name, array in table.columns.items()}
    return replace(table, columns=columns, names=tuple(columns))


def _merge_arrays(answers: Sequence[Named]) -> RawTable:
    """Return arrays of labels and of scores as one table."""
    columns = {name: array for _, table in answers for name, array in table.columns.items()}
    digest = hashlib.sha256("".join(table.sha256 for _, table in answers).encode()).hexdigest()
    source = " and ".join(name for name, _ in answers)
    return replace(answers[0][1], columns=columns, names=tuple(columns), source=source, sha256=digest)


MAX_OPENED = 20
"""Most files of one kind that are opened to find those with predictions."""
_LISTED = 10  # most files named in an error; the others are counted
_SKIPPED = ("images", SITE)
LOGGING = (
    'table = {"y_true": y_test, "y_pred": model.predict(X_test)}; '
    'mlflow.MlflowClient().log_table(run_id, table, "predictions.json")'
)
"""Code that logs predictions, for a run that was logged only by `mlflow.autolog`."""
AUTOLOG_TAG = "mlflow.autologging"
EVALUATOR_FILES = frozenset(
    {
        *(EVALUATOR_TABLE, "confusion_matrix.png", "roc_curve_plot.png", "lift_curve_plot.png"),
        *("precision_recall_curve_plot.png", "calibration_curve_plot.png"),
    }
)
"""Files that the default evaluator of `mlflow.models.evaluate` logs for a classifier."""
Aside: TypeAlias = list[tuple[str, EvalreportError]]
"""Candidates without predictions, and why."""


@dataclass(frozen=True, eq=False)
class RunTable:
    """The table with the predictions of a run.

    Parameters
    ----------
    table : RawTable
    columns : Columns
        The request, completed by what the source defines (for traces: which column is the response).
    taken : str
        The column mapping, for printing: ``artifact predictions.parquet``.
    notes : tuple of str
        What was skipped.
    truth : RawTable or None
        The true labels, if the run has them in a separate file.
    artifact : str, path of the only file of the run with the predictions, "" if there is none
    """

    table: RawTable
    columns: Columns
    taken: str
    notes: tuple[str, ...] = ()
    truth: RawTable | None = None
    artifact: str = ""


@dataclass(frozen=True, eq=False)
class RunStream:
    """The predictions of a run as a stream; `taken`, `notes` and `artifact` as in a `RunTable`.

    For a folder of parts `artifact` is the first part.
    """

    stream: Any
    taken: str
    notes: tuple[str, ...] = ()
    artifact: str = ""


@dataclass(frozen=True)
class _Opened:
    """The contents of the candidates of a kind."""

    fitting: tuple[tuple[str, Rows], ...]
    broken: tuple[tuple[str, EvalreportError], ...]
    halves: tuple[tuple[str, RawTable], ...] = ()
    graded: tuple[tuple[str, Rows], ...] = ()


@overload
def read_run(store: Store, run: RunInfo, request: RunRequest | None = None) -> RunTable: ...
@overload
def read_run(
    store: Store, run: RunInfo, request: RunRequest | None, reader: RunFileReader
) -> RunTable | RunStream: ...
def read_run(
    store: Store, run: RunInfo, request: RunRequest | None = None, reader: RunFileReader | None = None
) -> RunTable | RunStream:
    """Return the predictions of a run: their table, or their stream if the reader opens one.

    Search order: the named artifact; tables of `log_table`; artifacts with a common name (``predictions.*``,
    ``eval_results_table.json``, …); any other readable artifact; the file of a logged dataset; traces of
    `mlflow.genai.evaluate`. A table needs a column of true labels and one of predictions. The first kind with
    such a table decides; more than one in it is an error. A file that a tag or its name marks as predictions
    but that cannot be read is also an error: no other file replaces it.

    Parameters
    ----------
    store : Store
    run : RunInfo
    request : RunRequest, optional
    reader : RunFileReader, optional
        Reader of the files; by default they are read whole.

    Raises
    ------
    ArtifactNotFoundError
        There are no predictions; the message lists what there is.
    ColumnNotFoundError
        There is one table, without the requested columns.
    UsageError
        Several are possible; the message lists them.
    DataError, UnsafeFileError, ServerError
    """
    try:
        return _read_run(store, run, request or RunRequest(), reader or RunFileReader())
    except EvalreportError as error:
        raise error if run.display_name in error.where else error.with_location(run.display_name)  # noqa: B904 (its own kind)


def _read_run(store: Store, run: RunInfo, request: RunRequest, reader: RunFileReader) -> RunTable | RunStream:
    if request.artifact is not None:
        return _read_named_artifact(store, run, request, reader)
    files = list_artifacts(store, run, skip=_SKIPPED)
    aside: Aside = []
    halves: list[tuple[str, RawTable]] = []
    graded: list[tuple[str, Rows]] = []
    weak: RunTable | RunStream | None = None
    unlike: list[str] = []
    kinds = kinds_of(store, run, request, files, reader)
    for kind in kinds:
        opened = _open_candidates(kind.candidates, request, aside)
        if opened.broken and (kind.meant or not opened.fitting) and weak is None:
            raise _unreadable_file_error(opened, kinds, request)
        halves += opened.halves
        graded += opened.graded
        supported = tuple(one for one in opened.fitting if _is_supported(one[1], request))
        if opened.fitting and (supported or weak is None):
            (name, rows), notes_of_choice = one_of(supported or opened.fitting)
            unlike += [printable(other) for other, one in opened.fitting if (other, one) not in supported]
            notes = [f"{other} set aside: only the names of its columns fit" for other in unlike if supported]
            notes += [f"{printable(other)} set aside: {error.message}" for other, error in aside]
            inside = (file.path for file in files if file.path == name or file.path.startswith(f"{name}/"))
            made = _make_run_rows(rows, request, name, next(inside, ""), (*notes_of_choice, *notes))
            if supported:
                return made
            weak = made
    if weak is not None:
        return weak
    pair = None if request.label_file else pair_tables(halves, request.columns)
    if pair is not None:
        spare = [printable(name) for name, _ in halves if name not in pair.files]
        unused = (f"not used: {list_names(spare)}",) if spare else ()
        return RunTable(pair.table, request.columns, pair.taken, unused, truth=pair.truth)
    if graded:
        (name, rows), notes_of_choice = one_of(graded)
        inside = (file.path for file in files if file.path == name)
        return _make_run_rows(rows, request, name, next(inside, ""), notes_of_choice)
    if has_traces(store, run, untagged=not aside):
        return _from_traces(store, run, request)
    raise _nothing(run, files, aside, () if aside else _children(store, run))


def _is_supported(rows: Rows, request: RunRequest) -> bool:
    """Return whether the contents of a table, not only its names, show labels and predictions or scores."""
    if request.label_file or request.columns.truth is not None or not isinstance(rows, RawTable):
        return True
    try:
        decision = roles_of_table(rows, request.columns).decision
    except EvalreportError:  # the columns need a decision by the user, as for a table with a grade
        return True
    return decision is not None and decision.content_weight > 0


def _make_run_rows(
    rows: Rows, request: RunRequest, name: str, artifact: str, notes: tuple[str, ...] = ()
) -> RunTable | RunStream:
    what = f"artifact {printable(name)}"
    if isinstance(rows, RawTable):
        return RunTable(rows, request.columns, what, notes, artifact=artifact)
    return RunStream(rows, what, notes, artifact)


def _open_candidates(candidates: Sequence[Candidate], request: RunRequest, aside: Aside) -> _Opened:
    """Read candidates: those with the needed columns, and those that cannot be read at all.

    Raises
    ------
    ServerError
        Raised immediately, because a failed download does not mean that the file is broken.
    """
    fitting: list[tuple[str, Rows]] = []
    broken: list[tuple[str, EvalreportError]] = []
    halves: list[tuple[str, RawTable]] = []
    graded: list[tuple[str, Rows]] = []
    for candidate in candidates[:MAX_OPENED]:
        table = None
        try:
            rows = candidate.read()
            if isinstance(rows, RawTable):  # a stream that was opened has the needed columns
                table = rows
                check_columns(table, request)
            fitting.append((candidate.name, rows))
        except ServerError:
            raise
        except EvalreportError as error:
            aside.append((candidate.name, error))
            if not isinstance(error, NotFoundError | NoTableError | GradedError):
                broken.append((candidate.name, error))
            elif isinstance(error, GradedError) and table is not None:
                graded.append((candidate.name, table))
            elif table is not None:
                halves.append((candidate.name, table))
    return _Opened(tuple(fitting), tuple(broken), tuple(halves), tuple(graded))


def _unreadable_file_error(
    opened: _Opened, later: Iterator[CandidateKind], request: RunRequest
) -> EvalreportError:
    """Return the error of a file that cannot be read, with another file of the run to use instead."""
    name, error = opened.broken[0]
    fitting = opened.fitting
    while not fitting and (kind := next(later, None)) is not None:
        fitting = _open_candidates(kind.candidates, request, []).fitting
    if not fitting:
        return error
    other = printable(fitting[0][0])
    message = error.message if name in error.message else f"{printable(name)} cannot be read: {error.message}"
    return type(error)(message, where=error.where, fix=f"log it again, or take the other: --artifact {other}")


def check_columns(table: RawTable, request: RunRequest) -> None:
    """Reject a table without a column of true labels, or without predictions, scores or responses.

    Raises
    ------
    ColumnNotFoundError
    GradedError
        The table has a grade per item.
    """
    if request.columns.graded.main_grade in table.columns:
        return
    try:
        _check_columns(table, request)
    except NotFoundError:
        refuse_grade(table, request.columns)
        raise


def _check_columns(table: RawTable, request: RunRequest) -> None:
    if request.label_file:
        columns, named = as_columns(table, fill_from_format(table, request.columns))
        beside = {*ID, *WEIGHT, *LABEL_NAMES, *INDEX} - set(named.named_columns)
        is_complete = not all(name in beside or is_beside(name) for name in columns.columns)
    else:
        try:
            roles = roles_of_table(table, request.columns)
            is_complete = any((roles.pred, roles.score, roles.text))
        except UsageError:  # several columns may have one role: the table has predictions
            is_complete = True
    if not is_complete:
        raise ColumnNotFoundError(
            f"no column of predictions or scores is in {table.name}",
            fix=f"columns are: {list_names(table.names)}. Use --pred COLUMN or --score COLUMN",
        )


def _read_named_artifact(
    store: Store, run: RunInfo, request: RunRequest, reader: RunFileReader
) -> RunTable | RunStream:
    pattern = request.artifact or ""
    exact = find_artifact(store, run, pattern)
    if exact is None and is_safe(pattern) and not has_magic(pattern):
        inside = [file for file in list_artifacts(store, run, pattern) if file.is_streamed(request.format)]
        exact = Artifact.folder(pattern, inside) if inside else None
    files = [exact] if exact else list_artifacts(store, run, skip=_SKIPPED)
    whole = [file for file in files if fnmatchcase(file.path, pattern)]
    bare = [file for file in files if fnmatchcase(PurePosixPath(file.path).name, pattern)]
    found = [exact] if exact else whole or bare
    if not found:
        raise ArtifactNotFoundError(
            f"there is no artifact {printable(pattern)}", fix=f"artifacts are: {_some(files)}"
        )
    if len(found) > 1:
        raise UsageError(
            f"--artifact {printable(pattern)} matches {len(found)} artifacts: {_some(found)}",
            fix="name one of them",
        )
    rows = reader.read_artifact(store, run, found[0], request)
    return _make_run_rows(rows, request, found[0].path, found[0].files[0].path)


def _some(files: list[Artifact]) -> str:
    return some_of([printable(file.path) for file in files], _LISTED) or "none"


def _from_traces(store: Store, run: RunInfo, request: RunRequest) -> RunTable:
    table = read_traces(store, run, expected=not request.label_file)
    columns = request.columns
    expected = [name for part, name in table.parts.items() if part.startswith("expectation")]
    if not expected and not request.label_file:
        return RunTable(table, columns, f"{table.n} traces with feedback")
    if columns.truth is None and not request.label_file:
        if len(expected) > 1:
            raise UsageError(
                f"the traces have {len(expected)} expectations: {list_names(expected)}",
                fix=f"name the label, as in --truth {expected[0]}",
            )
        columns = replace(columns, truth=expected[0])
    if columns.text is None and columns.pred is None:
        columns = replace(columns, text=ANSWER)
    return RunTable(table, columns, f"{table.n} traces, answers against expectation {columns.truth}")


def _children(store: Store, run: RunInfo) -> tuple[str, ...]:
    """Return the ids of the run's finished children, newest first."""
    query = f"tags.mlflow.parentRunId = '{run.run_id}' and attributes.status = 'FINISHED'"
    found = store.ask(methodcaller("search_runs", [run.experiment_id], query, 1, MAX_OPENED))
    return tuple(str(child.info.run_id) for child in found)


def _nothing(run: RunInfo, files: list[Artifact], aside: Aside, children: tuple[str, ...]) -> EvalreportError:
    tables = [(name, error) for name, error in aside if not isinstance(error, NoTableError)]
    if len(tables) == 1:
        name, error = tables[0]
        return error if name in f"{error.message}{error.where}" else error.with_location(printable(name))
    aside = tables
    pickles = [file.path for file in files if PurePosixPath(file.path).suffix.lower() in PICKLES]
    if pickles and not aside:
        return UnsafeFileError(
            f"{printable(pickles[0])} may be a pickle, which is never loaded",
            fix="log the predictions as Parquet, CSV, JSON or NPZ",
        )
    if aside:
        looked = "; ".join(f"{printable(name)}: {error.message}" for name, error in aside[:_LISTED])
        return ArtifactNotFoundError(
            "no artifact contains true labels and predictions",
            where=looked,
            fix="name the columns with --truth and --pred",
        )
    remote = [dataset for dataset in run.datasets if dataset_path(dataset) is None and dataset.kind != "code"]
    where = f"artifacts: {_some(files)}"
    if remote:
        where += f"; dataset {printable(remote[0].name)} is not on this machine"
    if children:
        return parent_alone(where, children)
    kept, remedy = _missing_predictions_hint(run, files)
    return NoPredictionsError(
        f"the run has no predictions{kept}",
        where=where,
        fix=f'log them in Python: run_id = "{run.run_id}"; {remedy}',
    )


def _missing_predictions_hint(run: RunInfo, files: list[Artifact]) -> tuple[str, str]:
    """Return what a run has in place of predictions, and the call that logs them."""
    names = {PurePosixPath(file.path).name for file in files}
    predict = f"evalreport log --run-id {run.run_id[:8]} --predict-on test.csv --truth COLUMN"
    predict = f"or let its model predict a file, which runs its code: {predict}"
    if names & EVALUATOR_FILES:
        call = LOGGING.replace("y_test", "data[targets]").replace(
            "model.predict(X_test)", "data[predictions]"
        )
        later = 'or evaluate again with evaluators=["default", "evalreport"]'
        if run.models or "MLmodel" in names:
            later = predict
        return ": it has the metrics and figures of mlflow.models.evaluate, but no rows", f"{call}; {later}"
    if AUTOLOG_TAG in run.tags or run.models or "MLmodel" in names:
        return ": autologging logs the model and its metrics only", f"{LOGGING}; {predict}"
    return "", f'{LOGGING}; or log a file: mlflow.MlflowClient().log_artifact(run_id, "predictions.csv")'

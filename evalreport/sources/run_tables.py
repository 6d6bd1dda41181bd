"""Predictions of a run: looked for in a fixed order, taken only where there is no doubt, and always said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from glob import has_magic
from operator import methodcaller
from pathlib import PurePosixPath
from typing import TypeAlias, overload

from evalreport.errors import (
    ArtifactNotFoundError,
    ColumnNotFoundError,
    EvalreportError,
    GradedError,
    NoTableError,
    NotFoundError,
    ServerError,
    UnsafeFileError,
    UsageError,
    some_of,
)
from evalreport.report.names import SITE
from evalreport.sources.artifacts import Artifact, find_artifact, is_safe, list_artifacts
from evalreport.sources.graded import refuse_grade
from evalreport.sources.mlflow_client import Store
from evalreport.sources.request import Columns, listed
from evalreport.sources.run_candidates import (
    EVALUATOR_TABLE,
    Candidate,
    CandidateKind,
    Rows,
    RunFileReader,
    RunRequest,
    dataset_path,
    kinds_of,
    one_of,
    paired,
)
from evalreport.sources.runs import RunInfo, parent_alone
from evalreport.sources.shapes.arrays import as_columns
from evalreport.sources.shapes.naming import GRADES, is_beside, plain_name
from evalreport.sources.shapes.roles import ID, INDEX, LABEL_NAMES, TRUTH, WEIGHT
from evalreport.sources.shapes.unfold import completed, truth_of
from evalreport.sources.streams import PredictionStream
from evalreport.sources.tables import PICKLES, RawTable
from evalreport.sources.traces import ANSWER, has_traces, read_traces
from evalreport.sources.traces import ID as TRACE_ID
from evalreport.text import printable

MAX_OPENED = 20
"""Files of one kind that are opened to see which holds predictions."""
_LISTED = 10  # files that an error names; the rest is counted
_SKIPPED = ("images", SITE)
LOGGING = (
    'table = {"y_true": y_test, "y_pred": model.predict(X_test)}; '
    'mlflow.MlflowClient().log_table(run_id, table, "predictions.json")'
)
"""What a run needs that was logged by `mlflow.autolog` alone."""
AUTOLOG_TAG = "mlflow.autologging"
EVALUATOR_FILES = frozenset(
    {
        *(EVALUATOR_TABLE, "confusion_matrix.png", "roc_curve_plot.png", "lift_curve_plot.png"),
        *("precision_recall_curve_plot.png", "calibration_curve_plot.png"),
    }
)
"""What the default evaluator of `mlflow.models.evaluate` logs of a classifier."""
Aside: TypeAlias = list[tuple[str, EvalreportError]]
"""What was looked at and not taken, and why."""


@dataclass(frozen=True, eq=False)
class RunTable:
    """The table that was taken from a run.

    Parameters
    ----------
    table : RawTable
    columns : Columns
        The request, completed by what the source itself knows (of traces: which column is the answer).
    taken : str
        What was taken, to be printed: ``artifact predictions.parquet``.
    notes : tuple of str
        What was set aside.
    truth : RawTable or None
        The truth, where the run holds it in a file of its own.
    artifact : str, path of the one file of the run that all of it comes from, "" where there is no such
    """

    table: RawTable
    columns: Columns
    taken: str
    notes: tuple[str, ...] = ()
    truth: RawTable | None = None
    artifact: str = ""


@dataclass(frozen=True, eq=False)
class RunStream:
    """The predictions of a run as a stream; `taken`, `notes` and `artifact` as of a `RunTable`.

    Of a folder of parts `artifact` is the first of them.
    """

    stream: PredictionStream
    taken: str
    notes: tuple[str, ...] = ()
    artifact: str = ""


@dataclass(frozen=True)
class _Opened:
    """What the candidates of a kind were found to be."""

    fitting: tuple[tuple[str, Rows], ...]
    broken: tuple[tuple[str, EvalreportError], ...]
    halves: tuple[tuple[str, RawTable], ...] = ()


@overload
def read_run(store: Store, run: RunInfo, request: RunRequest | None = None) -> RunTable: ...
@overload
def read_run(
    store: Store, run: RunInfo, request: RunRequest | None, reader: RunFileReader
) -> RunTable | RunStream: ...
def read_run(
    store: Store, run: RunInfo, request: RunRequest | None = None, reader: RunFileReader | None = None
) -> RunTable | RunStream:
    """Return the predictions of a run: their table, or their stream where the reader opens one.

    Looked for in this order: the artifact that was named; tables of `log_table`; artifacts with a usual
    name (``predictions.*``, ``eval_results_table.json``, …); any other artifact that can be read; the file
    of a logged dataset; traces of `mlflow.genai.evaluate`. A table counts when it has a column of truth
    and one of predictions. The first kind with one such table decides; with several it is an error. A file
    that by its tag or name is meant and cannot be read is an error too: no other is taken in its place.

    Parameters
    ----------
    store : Store
    run : RunInfo
    request : RunRequest, optional
    reader : RunFileReader, optional
        How files are read: whole, unless it says otherwise.

    Raises
    ------
    ArtifactNotFoundError
        Nothing that holds predictions; lists what there is.
    ColumnNotFoundError
        One table, but not with the columns that were asked for.
    UsageError
        Several could be meant; lists them.
    DataError, UnsafeFileError, ServerError
    """
    try:
        return _read(store, run, request or RunRequest(), reader or RunFileReader())
    except EvalreportError as error:
        raise error if run.shown in error.where else error.located(run.shown)  # noqa: B904 (its own kind)


def _read(store: Store, run: RunInfo, request: RunRequest, reader: RunFileReader) -> RunTable | RunStream:
    if request.artifact is not None:
        return _named(store, run, request, reader)
    files = list_artifacts(store, run, skip=_SKIPPED)
    aside: Aside = []
    halves: list[tuple[str, RawTable]] = []
    kinds = kinds_of(store, run, request, files, reader)
    for kind in kinds:
        opened = _opened(kind.candidates, request, aside)
        if opened.broken and (kind.meant or not opened.fitting):
            raise _broken(opened, kinds, request)
        halves += opened.halves
        if opened.fitting:
            (name, rows), said = one_of(opened.fitting)
            notes = tuple(f"{printable(other)} set aside: {error.message}" for other, error in aside)
            inside = (file.path for file in files if file.path == name or file.path.startswith(f"{name}/"))
            return _taken(rows, request, name, next(inside, ""), (*said, *notes))
    pair = None if request.truth_elsewhere else paired(halves)
    if pair is not None:
        return RunTable(pair.table, request.columns, pair.taken, truth=pair.truth)
    if has_traces(store, run, untagged=not aside):
        return _from_traces(store, run, request)
    raise _nothing(run, files, aside, () if aside else _children(store, run))


def _taken(
    rows: Rows, request: RunRequest, name: str, artifact: str, notes: tuple[str, ...] = ()
) -> RunTable | RunStream:
    what = f"artifact {printable(name)}"
    if isinstance(rows, PredictionStream):
        return RunStream(rows, what, notes, artifact)
    return RunTable(rows, request.columns, what, notes, artifact=artifact)


def _opened(candidates: Sequence[Candidate], request: RunRequest, aside: Aside) -> _Opened:
    """Read candidates: those with the columns it takes, and those that cannot be read at all.

    Raises
    ------
    ServerError
        At once: a file that did not arrive is not one that is broken.
    """
    fitting: list[tuple[str, Rows]] = []
    broken: list[tuple[str, EvalreportError]] = []
    halves: list[tuple[str, RawTable]] = []
    for candidate in candidates[:MAX_OPENED]:
        table = None
        try:
            rows = candidate.read()
            if isinstance(rows, RawTable):  # a stream that was opened has what it takes
                table = rows
                check_columns(table, request)
            fitting.append((candidate.name, rows))
        except ServerError:
            raise
        except EvalreportError as error:
            aside.append((candidate.name, error))
            if not isinstance(error, NotFoundError | NoTableError | GradedError):
                broken.append((candidate.name, error))
            elif table is not None:
                halves.append((candidate.name, table))
    return _Opened(tuple(fitting), tuple(broken), tuple(halves))


def _broken(opened: _Opened, later: Iterator[CandidateKind], request: RunRequest) -> EvalreportError:
    """Return the error of a file that cannot be read, with another of the run that can be taken instead."""
    name, error = opened.broken[0]
    fitting = opened.fitting
    while not fitting and (kind := next(later, None)) is not None:
        fitting = _opened(kind.candidates, request, []).fitting
    if not fitting:
        return error
    other = printable(fitting[0][0])
    message = error.message if name in error.message else f"{printable(name)} cannot be read: {error.message}"
    return type(error)(message, where=error.where, fix=f"log it again, or take the other: --artifact {other}")


def check_columns(table: RawTable, request: RunRequest) -> None:
    """Refuse a table without a column of truth, or with nothing to compare it with.

    Raises
    ------
    ColumnNotFoundError
    GradedError
        It has a grade per item instead.
    """
    try:
        _check_columns(table, request)
    except NotFoundError:
        refuse_grade(table, request.columns)
        raise


def _check_columns(table: RawTable, request: RunRequest) -> None:
    columns, named = as_columns(table, completed(table, request.columns))
    truth = () if request.truth_elsewhere else truth_of(columns, named)[0].columns
    grades = {name for name in columns.columns if name != "score" and plain_name(name) in GRADES}
    beside = {*grades, *truth, *TRUTH, *ID, *WEIGHT, *LABEL_NAMES, *INDEX} - set(named.named)
    if all(name in beside or is_beside(name) for name in columns.columns if name not in truth):
        raise ColumnNotFoundError(
            f"no column of predictions or scores is in {table.name}",
            fix=f"columns are: {listed(columns.names)}. Use --pred COLUMN or --score COLUMN",
        )


def _named(store: Store, run: RunInfo, request: RunRequest, reader: RunFileReader) -> RunTable | RunStream:
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
            f"--artifact {printable(pattern)} means {len(found)} artifacts: {_some(found)}",
            fix="name one of them",
        )
    rows = reader.read(store, run, found[0], request)
    return _taken(rows, request, found[0].path, found[0].files[0].path)


def _some(files: list[Artifact]) -> str:
    return some_of([printable(file.path) for file in files], _LISTED) or "none"


def _from_traces(store: Store, run: RunInfo, request: RunRequest) -> RunTable:
    table = read_traces(store, run, expected=not request.truth_elsewhere)
    columns = request.columns
    expected = [name for name in table.names if name not in {TRACE_ID, ANSWER}]
    if columns.truth is None and not request.truth_elsewhere:
        if len(expected) > 1:
            raise UsageError(
                f"the traces hold {len(expected)} expectations: {listed(expected)}",
                fix=f"say which is the label, as in --truth {expected[0]}",
            )
        columns = replace(columns, truth=expected[0])
    if columns.text is None and columns.pred is None:
        columns = replace(columns, text=ANSWER)
    return RunTable(table, columns, f"{table.n} traces, answers against expectation {columns.truth}")


def _children(store: Store, run: RunInfo) -> tuple[str, ...]:
    """Return the ids of the run's finished children, the newest first."""
    query = f"tags.mlflow.parentRunId = '{run.run_id}' and attributes.status = 'FINISHED'"
    found = store.ask(methodcaller("search_runs", [run.experiment_id], query, 1, MAX_OPENED))
    return tuple(str(child.info.run_id) for child in found)


def _nothing(run: RunInfo, files: list[Artifact], aside: Aside, children: tuple[str, ...]) -> EvalreportError:
    tables = [(name, error) for name, error in aside if not isinstance(error, NoTableError)]
    if len(tables) == 1:
        name, error = tables[0]
        return error if name in f"{error.message}{error.where}" else error.located(printable(name))
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
            "no artifact holds truth and predictions",
            where=looked,
            fix="name the columns with --truth and --pred",
        )
    remote = [dataset for dataset in run.datasets if dataset_path(dataset) is None and dataset.kind != "code"]
    where = f"artifacts: {_some(files)}"
    if remote:
        where += f"; dataset {printable(remote[0].name)} is not on this machine"
    if children:
        return parent_alone(where, children)
    kept, remedy = _kept(run, files)
    return ArtifactNotFoundError(
        f"the run holds no predictions{kept}",
        where=where,
        fix=f'log them in Python: run_id = "{run.run_id}"; {remedy}',
    )


def _kept(run: RunInfo, files: list[Artifact]) -> tuple[str, str]:
    """Return what a run keeps in place of predictions, and the call that logs them."""
    names = {PurePosixPath(file.path).name for file in files}
    if AUTOLOG_TAG in run.tags:
        return ": autologging keeps the model and its metrics alone", LOGGING
    if names & EVALUATOR_FILES:
        call = LOGGING.replace("y_test", "data[targets]").replace(
            "model.predict(X_test)", "data[predictions]"
        )
        later = 'or evaluate again with evaluators=["default", "evalreport"]'
        return ": it has figures and metrics, as of mlflow.models.evaluate, not the rows", f"{call}; {later}"
    return "", f'{LOGGING}; or log a file: mlflow.MlflowClient().log_artifact(run_id, "predictions.csv")'

"""Predictions from a file or a run, with the columns in use and their origin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from evalreport.columns.column_request import list_names
from evalreport.columns.find_columns import Found, find, find_folds, find_in_files, to_predictions
from evalreport.columns.graded import refuse_unparsed
from evalreport.core.errors import (
    ArtifactNotFoundError,
    EvalreportError,
    GradedError,
    NotFoundError,
    UsageError,
)
from evalreport.core.extensions import extension, load_extensions
from evalreport.core.progress import report_progress
from evalreport.core.result import Provenance
from evalreport.data.labels import Binary, LabelSpace, Multiclass, Parsed, parse_texts, rename_labels
from evalreport.data.predictions import Predictions
from evalreport.evaluation.evaluation import Evaluation
from evalreport.evaluation.parts import RepeatedResponses
from evalreport.intervals.interval_settings import Sampling
from evalreport.page.payload import UNIT_TAG
from evalreport.readers.formats import RawTable
from evalreport.readers.read import read_requested_columns, read_truth
from evalreport.tracking.client import Store
from evalreport.tracking.find_predictions import RunRequest, RunTable, read_run
from evalreport.tracking.runs import RunInfo, child_runs
from evalreport.workflow.request import Request

SENSITIVE_TAG = "evalreport.sensitive"
"""A run with this tag shows no examples, whatever was asked for."""


@dataclass(frozen=True, eq=False)
class Collected:
    """Validated predictions, the columns in use, and their origin.

    `artifact` is the path of the one file of the run that all of it comes from, "" where there is no such;
    `response_metrics` returns the metrics of several responses to each row: at the point "responses" a
    feature adds a function from predictions, with ids that repeat, to one row for each id and this function.
    `completed` returns the evaluation with what a feature adds to it.
    """

    predictions: Predictions
    taken: tuple[tuple[str, str], ...]
    provenance: Provenance
    sensitive: bool = False
    artifact: str = ""
    response_metrics: Callable[[Sampling], RepeatedResponses] | None = None
    completed: Callable[[Evaluation], Evaluation] | None = None


def collect_file(path: Path | BinaryIO, request: Request) -> Collected:
    """Read predictions from a file or a stream.

    Raises
    ------
    EvalreportError
        Whatever keeps the file from being evaluated.
    """
    truth = None if request.truth_file is None else Path(request.truth_file)
    try:
        found = find_in_files(path, request.columns, truth=truth, format=request.format)
        stem = found.files[0].name.split(".", 1)[0]
        return _collect_found(found, request, Provenance(run_name=stem))
    except GradedError as error:
        return _collect_grades(error, request)


def collect_fold_files(paths: Sequence[Path], request: Request) -> Collected:
    """Read the out-of-fold predictions of a cross-validation from one file for each fold.

    Raises
    ------
    EvalreportError
        Whatever keeps it from being evaluated; folds that share a row, or whose columns differ.
    """
    tables = [read_requested_columns(path, request.columns, format=request.format) for path in paths]
    names = _distinct([path.name.split(".", 1)[0] for path in paths])
    truth = (
        None
        if request.truth_file is None
        else read_truth(Path(request.truth_file), tables[0], request.columns)
    )
    found = find_folds(tables, names, request.columns, truth)
    return _collect_found(found, request, Provenance(run_name="cross-validation"))


def collect_fold_runs(store: Store, parent: RunInfo, request: Request) -> Collected:
    """Read the out-of-fold predictions of a cross-validation from the child runs of a run.

    Children that have not finished are skipped, with a note.

    Raises
    ------
    EvalreportError
        Whatever keeps it from being evaluated; folds that share a row, or whose columns differ.
    """
    asked = make_run_request(request)
    read: list[tuple[RunInfo, RunTable]] = []
    left: list[str] = []
    for child in child_runs(store, parent):
        try:
            if child.status != "FINISHED":
                left.append(f"{child.display_name} has not finished ({child.status}) and is skipped")
            else:
                read.append((child, read_run(store, child, asked)))
        except NotFoundError as error:
            raise ArtifactNotFoundError(
                f"the fold {child.display_name} cannot be used: {error.message}",
                where="; ".join((parent.display_name, error.where)),
                fix=error.fix,
            ) from None
    if len(read) < 2:
        raise ArtifactNotFoundError(
            f"a cross-validation needs two or more folds; child runs with predictions: {len(read)}",
            where="; ".join((parent.display_name, *left[:5])),
            fix="log the predictions of each fold into its child run",
        )
    tables, first = [table.table for _, table in read], read[0][1]
    truth = first.truth
    if request.truth_file is not None:
        truth = read_truth(Path(request.truth_file), first.table, first.columns)
    names = _distinct([child.name or child.run_id[:8] for child, _ in read])
    noted = (note for _, table in read for note in table.notes)
    origin = replace(run_origin(store, parent), notes=(*left, *dict.fromkeys(noted)))
    found = find_folds(tables, names, first.columns, truth)
    collected = _collect_found(found, with_unit(request, parent), origin)
    taken = (("source", f"{len(read)} child runs: {list_names(names)}"), *collected.taken)
    return replace(collected, taken=taken, sensitive=any(map(is_hidden, (parent, *(run for run, _ in read)))))


def _distinct(names: list[str]) -> list[str]:
    """Number names that stand several times."""
    return [name if names.count(name) == 1 else f"{name} {place}" for place, name in enumerate(names, 1)]


def collect_table(table: RawTable, request: Request) -> Collected:
    """Find predictions in a table that is held in memory.

    Raises
    ------
    EvalreportError
        Whatever keeps it from being evaluated.
    """
    try:
        return _collect_found(find(table, request.columns), request, Provenance())
    except GradedError as error:
        return _collect_grades(error, request, Provenance())


def _collect_grades(error: GradedError, request: Request, origin: Provenance | None = None) -> Collected:
    """Read grades in place of labels: at the point "grades" a feature adds a function from the table."""
    reading = load_extensions("grades")
    if error.table is None or not reading:
        raise error
    origin = origin or Provenance(run_name=error.table.name.split(".", 1)[0])
    made: Collected = reading[0](error.table, request, origin)
    return made


def collect_run(store: Store, run: RunInfo, request: Request) -> Collected:
    """Read predictions from a run.

    Raises
    ------
    EvalreportError
        Whatever keeps the run from being evaluated; it names the run.
    """
    report_progress("reading the predictions")
    return collect_run_table(read_run(store, run, make_run_request(request)), store, run, request)


def make_run_request(request: Request) -> RunRequest:
    """Return what was said about where a run keeps its predictions."""
    return RunRequest(request.artifact, request.format, request.columns, request.truth_file is not None)


def collect_run_table(table: RunTable, store: Store, run: RunInfo, request: Request) -> Collected:
    """Find predictions in the table that was taken from a run; as `collect_run`."""
    truth = table.truth
    if request.truth_file is not None:
        truth = read_truth(Path(request.truth_file), table.table, table.columns)
    origin = run_origin(store, run)
    origin = replace(origin, notes=(*origin.notes, *table.notes))
    try:
        try:
            found = find(table.table, table.columns, truth)
            collected = _collect_found(found, with_unit(request, run), origin)
        except GradedError as error:
            collected = _collect_grades(error, with_unit(request, run), origin)
    except EvalreportError as error:
        raise error if run.display_name in error.where else error.with_location(run.display_name)  # noqa: B904 (its own kind)
    taken = (("source", table.taken), *collected.taken)
    return replace(collected, taken=taken, sensitive=is_hidden(run), artifact=table.artifact)


def run_origin(store: Store, run: RunInfo) -> Provenance:
    """Return what a run says of where its predictions come from."""
    return Provenance(
        run_id=run.run_id,
        run_name=run.name,
        experiment=run.experiment,
        dataset=", ".join(dataset.name for dataset in run.datasets),
        tracking=store.display_name,
        model=run.model,
        commit=run.tags.get("mlflow.source.git.commit", ""),
        notes=(*_unfinished_run_notes(run), *(f"{run.display_name}: {remark}" for remark in run.remarks)),
    )


def is_hidden(run: RunInfo) -> bool:
    """Tell whether a run shows no examples, whatever was asked for."""
    return run.tags.get(SENSITIVE_TAG, "false").lower() not in ("", "0", "false", "no")


def with_unit(request: Request, run: RunInfo) -> Request:
    """Return the request with the unit of an earlier logging, where none is set."""
    one, _, many = run.tags.get(UNIT_TAG, "").partition(",")
    return replace(request, unit=(one, many)) if one and many and request.unit == Request.unit else request


def _unfinished_run_notes(run: RunInfo) -> tuple[str, ...]:
    if run.status == "FINISHED":
        return ()
    if run.running:
        return (f"{run.display_name} has not ended ({run.status}): what it holds may still change",)
    return (f"{run.display_name} did not finish ({run.status}): rows of it may be missing",)


def _collect_found(found: Found, request: Request, origin: Provenance) -> Collected:
    if request.approximate:
        raise UsageError(
            "only a stream or Spark counts scores in bins",
            where="--set approximate",
            fix="pass --set engine=stream with Parquet, Arrow, CSV or JSON lines, or leave --set "
            "approximate out",
        )
    if found.text is None and (request.fuzzy or request.parse != "auto"):
        option = "--set fuzzy" if request.fuzzy else "--set parse"
        raise UsageError(
            f"{option} applies to generated responses, and no column is read as text",
            where=option,
            fix=f"name their column with --response COLUMN, or leave {option} out",
        )
    rows, response_metrics = _predictions(found, request), None
    if request.columns.several_answers:
        rows, response_metrics = extension("responses", "combining repeated responses")(rows)
    rows = replace(rows, space=rename_labels(rows.space, dict(request.label_names)))
    if found.text is not None and request.columns.labels is None:
        found = replace(found, taken=(*found.taken, ("labels", "those of the true labels")))
    first = found.files[0]
    provenance = replace(
        origin,
        source=first.name,
        sha256=first.sha256,
        columns=found.taken,
        column_decision=found.decision,
        parser=_parser_name(rows),
        **request.origin(),
        notes=(*origin.notes, *(note for file in found.files for note in file.notes), *found.unused_note),
    )
    return Collected(rows, found.taken, provenance, response_metrics=response_metrics)


def _parser_name(rows: Predictions) -> str:
    if rows.parsed is None:
        return ""
    report = rows.parsed.report
    return f"{report.parser} (source {report.digest[:12]})"


def _predictions(found: Found, request: Request) -> Predictions:
    found = replace(found, space=with_label_order(found.space, request))
    try:
        answers, missing = _answers(found, request), request.columns.missing if found.text is None else None
    except EvalreportError as error:
        raise error.with_location(found.files[0].source)  # noqa: B904 (its own kind)
    if answers is not None:
        refuse_unparsed(found.files[0], answers, request.columns)
    return to_predictions(found, answers, missing=missing, weight_kind=request.columns.weight_kind)


def with_label_order(space: LabelSpace, request: Request) -> LabelSpace:
    """Return the labels with an order that means something, where that was declared.

    Raises
    ------
    UsageError
        The labels were not declared, or are not of several classes.
    """
    if not request.ordered:
        return space
    if not isinstance(space, Multiclass) or request.columns.labels is None:
        raise UsageError(
            "--set ordered needs declared multiclass labels", fix="pass --labels A,B,C in their order"
        )
    return Multiclass(space.labels, ordered=True)


def _answers(found: Found, request: Request) -> Parsed | None:
    """Return the labels of the responses; None without a response column."""
    if found.text is None:
        return None
    space = found.space
    if not isinstance(space, Multiclass | Binary):
        raise UsageError(
            "several labels cannot be parsed from one response",
            fix="parse them first, and name the column of label lists with --pred",
        )
    return parse_texts(found.text.tolist(), space.texts, request.parse, fuzzy=request.fuzzy)

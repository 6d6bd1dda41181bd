"""The Python face: arrays, files or runs in; an `Evaluation` that can be read, drawn and logged out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.api.comparisons import Comparison, compare
from evalreport.api.given import (
    asked,
    by_name,
    check_order,
    given,
    rows_of,
    sampling_of,
    threshold_of,
)
from evalreport.api.sweeps import sweep
from evalreport.api.views import Evaluation, viewed
from evalreport.cells import as_array
from evalreport.comparison import values as compared
from evalreport.errors import EvalreportError, UsageError
from evalreport.evaluation import model
from evalreport.evaluation import threshold_selection as selections
from evalreport.labels import Binary, Label, LabelSpace, Multiclass, Multilabel
from evalreport.parsing import Parsed, make_parser, parse_all
from evalreport.predictions import predictions
from evalreport.provenance import Provenance
from evalreport.report.render import render, render_comparison
from evalreport.scores import Decisions, Logits, Probabilities, Scores
from evalreport.sinks.folder import write_page
from evalreport.sinks.mlflow import MlflowSink
from evalreport.sources.mlflow_client import connect
from evalreport.sources.runs import active_run_id, find_run
from evalreport.sources.shapes.extras import texts_of
from evalreport.study import Trials
from evalreport.study import judged as studies
from evalreport.study.judged import Judging
from evalreport.values import Estimate, Finding, Undefined
from evalreport.workflow.collect import Collected
from evalreport.workflow.documents import sweep_page
from evalreport.workflow.evaluate import evaluated
from evalreport.workflow.in_run import document_in_run
from evalreport.workflow.request import Request
from evalreport.workflow.runs import Item

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Binary",
    "Comparison",
    "Decisions",
    "Estimate",
    "EvalreportError",
    "Evaluation",
    "Finding",
    "Judging",
    "Logits",
    "Multiclass",
    "Multilabel",
    "Probabilities",
    "Trials",
    "Undefined",
    "compare",
    "evaluate",
    "evaluate_file",
    "evaluate_run",
    "log",
    "parse",
    "report",
    "sweep",
    "to_html",
]


def evaluate(
    y_true: npt.ArrayLike | Sequence[Any],
    y_pred: npt.ArrayLike | Sequence[Any] | Parsed | None = None,
    scores: Scores | None = None,
    labels: LabelSpace | Sequence[Label] | None = None,
    threshold: float | np.floating[Any] | Sequence[float] | str | None = None,
    weights: npt.ArrayLike | None = None,
    ids: npt.ArrayLike | None = None,
    groups: npt.ArrayLike | None = None,
    slices: Mapping[str, npt.ArrayLike] | pd.DataFrame | None = None,
    texts: Sequence[str] | None = None,
    tune_on: Evaluation | None = None,
    missing: Literal["wrong"] | None = None,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    hold: float | None = None,
) -> Evaluation:
    """Evaluate predictions held in memory.

    Parameters
    ----------
    y_true : array-like of shape (n,), or (n, labels) indicators, or one list of names per row
    y_pred : the same, or `Parsed` (see `parse`), optional
        Without it, the threshold (0.5) or the greatest score decides.
    scores : Probabilities, Logits or Decisions, optional
        Shape (n,) for a binary problem: of the positive label. Else one column per label.
    labels : Binary, Multiclass, Multilabel, or a sequence of labels, optional
        The label space. Without it two labels make a binary problem (the greater is positive), more a
        multiclass one; indicators and lists a multilabel one.
    threshold : float, one per label, or str, optional
        A number or numbers, or an objective such as ``max-f1``; chosen on `tune_on`, else cross-fitted.
    weights, ids, groups : array-like of shape (n,), optional
    slices : mapping from name to array-like of shape (n,), or a frame, optional
    texts : sequence of str, optional
        Example texts that the report may show.
    tune_on : Evaluation, optional
        Other rows, on which an objective chooses the threshold.
    missing : str, optional
        ``wrong``: a row of `y_pred` without an answer (None, NaN) counts as one that could not be read:
        wrong, in a column of its own, in every denominator. Without it such a row is an error.
    confidence, resamples, seed
        Of the intervals.
    hold : float, optional
        Confidence with which a threshold that is chosen under a bound has to keep it on new rows.

    Raises
    ------
    EvalreportError
        Data that cannot be evaluated as they are; says what, where and how to mend it.

    Examples
    --------
    >>> ev = evaluate(["a", "b", "b"], ["a", "b", "a"])
    >>> ev["accuracy"].value, ev.space.positive
    (0.6666666666666666, 'b')
    """
    found = given(y_true, y_pred, scores, labels, missing)
    numbers, objective = threshold_of(threshold)
    columns = {"weights": weights, "ids": ids, "groups": groups, "texts": texts}
    check_order({"y_true": y_true, **columns})
    read = {name: rows_of(values, name) for name, values in columns.items()}
    if texts is not None:
        read["texts"] = texts_of(as_array(read["texts"])).tolist()
    rows = predictions(
        found.space,
        found.y_true,
        found.y_pred,
        scores,
        threshold=numbers,
        slices=by_name(slices),
        missing=missing,
        **read,
    )
    request = Request(sampling=sampling_of(confidence, resamples, seed, hold), threshold=objective)
    if tune_on is not None and tune_on.predictions is None:
        raise UsageError(
            "tune_on holds no predictions",
            where="tune_on",
            fix="evaluate them in this session, not from JSON",
        )
    other = None if tune_on is None else tune_on.predictions
    if other is not None and numbers is not None:
        raise UsageError(
            "there are rows to tune on, and nothing to choose",
            where="tune_on",
            fix='say what the threshold is chosen by, as in threshold="max-f1"',
        )
    return viewed(Evaluation, evaluated(Collected(rows, (), Provenance()), request, other))


def parse(texts: Sequence[Any], labels: Sequence[str], how: str = "auto", *, fuzzy: bool = False) -> Parsed:
    """Read labels from generated texts, to be passed to `evaluate` as `y_pred`.

    Parameters
    ----------
    texts : sequence of str
    labels : sequence of str
    how : str
        ``auto``, ``exact``, ``json``, ``regex:PATTERN`` or ``module:function``.
    fuzzy : bool
        Whether the nearest label of a misspelt answer counts.

    Raises
    ------
    EvalreportError
        Labels that differ only by case or spaces, an unknown parser, or one that fails.

    Examples
    --------
    >>> parse(["Answer: b.", "no idea"], ["a", "b"]).codes
    array([ 1, -1], dtype=int32)
    """
    return parse_all(texts, make_parser(how, labels, fuzzy=fuzzy))


def evaluate_file(path: str | Path, *, request: Request | None = None, **columns: Any) -> Evaluation:
    """Evaluate a file of predictions.

    Parameters
    ----------
    path : str or Path
        CSV, Parquet, Feather, JSON, JSON lines, NPZ or NPY.
    request : Request, optional
        Everything at once, as the command line makes it.
    **columns
        Names of columns (``truth``, ``pred``, ``score``, ``scores``, ``id``, ``group``, ``slices``, …), the
        problem (``labels``, ``positive``, ``task``, ``score_kind``), and ``threshold``, ``confidence``,
        ``resamples``, ``seed``, as `--truth` and the other options do.

    Raises
    ------
    EvalreportError
        Whatever keeps the file from being evaluated: what, where, how to mend it.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "predictions.csv"
    ...     _ = path.write_text("diagnosis,p\\nsick,0.9\\nwell,0.2\\nsick,0.4\\n")
    ...     ev = evaluate_file(path, truth="diagnosis", score="p", positive="sick")
    >>> ev["recall"].value
    0.5
    """
    wanted = asked(request, columns)
    item = Item(path=str(path))
    return viewed(Evaluation, evaluated(item.collect(wanted), wanted, item.tuning_rows(wanted)))


def evaluate_run(
    run_id: str, *, tracking_uri: str | None = None, request: Request | None = None, **columns: Any
) -> Evaluation:
    """Evaluate the predictions of an MLflow run; nothing is written.

    Parameters
    ----------
    run_id : str
        Id, or its first six or more characters.
    tracking_uri : str, optional
        Of the store; MLflow's own setting without it.
    request, **columns
        As of `evaluate_file`; also ``artifact``, the path of the predictions inside the run.

    Raises
    ------
    EvalreportError
        No such run, no predictions in it, no server; says what, where and how to mend it.

    Examples
    --------
    >>> evaluate_run("3f9c1e0a7b", tracking_uri="sqlite:///no-such-store.db")
    Traceback (most recent call last):
    evalreport.errors.FileMissingError: there is no MLflow database no-such-store.db
    """
    wanted = asked(request, columns)
    store = connect(tracking_uri)
    item = Item(run=find_run(store, run_id), store=store)
    return viewed(Evaluation, evaluated(item.collect(wanted), wanted, item.tuning_rows(wanted)))


Made: TypeAlias = model.Evaluation | compared.Comparison | studies.Study | selections.ThresholdSelection
"""What has a page."""


def to_html(ev: Made, *, checklist: str | None = None) -> str:
    """Return the page of an evaluation, of a comparison of several, or of what `sweep` found.

    Parameters
    ----------
    ev : Evaluation, Comparison, Study or ThresholdSelection
    checklist : str, optional
        ``tripod-ai``, of an evaluation: what a medical reviewer will ask.

    Raises
    ------
    UsageError
        No such checklist.

    Examples
    --------
    >>> to_html(evaluate(["a", "b"], ["a", "b"])).splitlines()[0]
    '<!doctype html>'
    """
    match ev:
        case studies.Study() | selections.ThresholdSelection():
            return sweep_page(ev)
        case compared.Comparison():
            return render_comparison(ev)
        case _:
            return render(ev, checklist=checklist)


def report(ev: Made, path: str | Path, *, checklist: str | None = None, force: bool = False) -> Path:
    """Write the page of `to_html` to a file and return its path.

    Parameters
    ----------
    ev : Evaluation, Comparison, Study or ThresholdSelection
    path : str or Path
        Written beside and renamed, so that nobody sees half of it.
    checklist : str, optional
        ``tripod-ai``.
    force : bool
        Whether to replace a file that evalreport did not write.

    Raises
    ------
    UsageError
        The file cannot be written, is a link, or was not written by evalreport.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     report(evaluate(["a", "b"], ["a", "b"]), f"{folder}/report.html").name
    'report.html'
    """
    return write_page(Path(path), to_html(ev, checklist=checklist).encode(), force=force)


def log(
    ev: model.Evaluation | studies.Study | selections.ThresholdSelection,
    run_id: str | None = None,
    *,
    tracking_uri: str | None = None,
    prefix: str = "eval/",
    force: bool = False,
    allow_running: bool = False,
    dry_run: bool = False,
) -> Any:
    """Log an evaluation, or what `sweep` found, into a run; a second identical call writes nothing.

    Parameters
    ----------
    ev : Evaluation, Study or ThresholdSelection
    run_id : str, optional
        Id, or its first six or more characters. Left out: the active run (of `mlflow.start_run`), which goes
        on. Status and end time of the run stay as they are.
    tracking_uri : str, optional
    prefix : str
        Of the metrics' names.
    force : bool
        Whether to write over files that evalreport did not write.
    allow_running : bool
        Whether to write to a run that is named and has not ended.
    dry_run : bool
        Whether to check everything and write nothing.

    Returns
    -------
    Logged
        What was written: state, metrics, files.

    Raises
    ------
    EvalreportError
        No such run, none active, a deleted or a running one, files of others in the way, no server.

    Examples
    --------
    >>> log(evaluate([0, 1], [0, 1]), "3f9c1e0a7b", tracking_uri="sqlite:///no-such-store.db")
    Traceback (most recent call last):
    evalreport.errors.FileMissingError: there is no MLflow database no-such-store.db
    """
    store = connect(tracking_uri)
    run = find_run(store, run_id or active_run_id())
    payload = document_in_run(ev, run).payload(prefix, False)
    sink = MlflowSink(store, run.run_id, force, allow_running or run_id is None)
    return sink.log(payload, dry_run=dry_run)

"""Arrays, frames, files and runs evaluated in Python; a result as a notebook shows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from evalreport import figures
from evalreport.adapters.frames import is_frame, table_of
from evalreport.api.input import (
    bare_scores,
    build_request,
    by_name,
    check_order,
    named_hints,
    one_of,
    parse_inputs,
    public_api,
    refuse_misread,
    rows_of,
    sampling_of,
    score_of_positive,
    threshold_of,
    tuning_rows,
    with_positive,
)
from evalreport.columns.join import texts_of
from evalreport.core.errors import UsageError, nearest
from evalreport.core.extensions import extension
from evalreport.core.result import Provenance
from evalreport.data.arrays import BINS, as_array, bin_slices
from evalreport.data.labels import Graded, Label, LabelSpace, Parsed
from evalreport.data.predictions import Predictions, WeightKind, predictions
from evalreport.data.scores import Scores
from evalreport.evaluation import evaluation
from evalreport.evaluation import evaluation as model
from evalreport.figures.plots import drawing_on
from evalreport.page.render import Result, render_brief
from evalreport.page.sections.headline import headline
from evalreport.tracking.client import connect
from evalreport.tracking.runs import find_run
from evalreport.workflow.collect import Collected, collect_table
from evalreport.workflow.evaluate import evaluate_collected
from evalreport.workflow.items import Item
from evalreport.workflow.request import Request

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


T = TypeVar("T")


def draw(function: Callable[[T], Figure], result: T, ax: Axes | None) -> Figure:
    """Return the figure of a result, drawn on given axes where there are any.

    Raises
    ------
    UsageError
        The figure has several charts, and axes are given.
    """
    if ax is None:
        return function(result)
    with drawing_on(ax):
        return function(result)


View = TypeVar("View")


def convert_to_view(kind: type[View], value: Any) -> View:
    """Return a value as the class of this face that adds views, and no fields, to its own.

    A kind of result that a feature adds has its own class, which stays.
    """
    if not issubclass(kind, type(value)):
        return value  # type: ignore[no-any-return]
    return kind(**{field.name: vars(value)[field.name] for field in fields(value)})


class Evaluation(Result, model.Evaluation):
    """Everything known of one set of predictions; made by `evaluate`, `evaluate_file` or `evaluate_run`.

    Frozen. ``ev[name]`` is an `Estimate` or `Undefined`; equal when the JSON is.

    Parameters
    ----------
    space : Binary, Multiclass or Multilabel
    rows : int
    weight : float
        Sum of weights (the number of rows without weights).
    metrics : mapping from name to Estimate or Undefined
        The catalogue of the task, in its order.
    findings : tuple of Finding
        What is wrong, in plain English, the weightiest first.
    sweep : Sweep or None
        Every threshold of a binary problem with scores.

    Examples
    --------
    >>> import evalreport as er
    >>> ev = er.evaluate(["ham", "spam", "spam", "ham"], ["ham", "spam", "ham", "ham"])
    >>> ev
    Evaluation(binary, 4 rows: recall 50%, specificity 100%, precision 100%, … 56 metrics, 2 findings)
    >>> ev.verdict.partition(":")[0]
    'Not significantly better than always predicting “ham”'
    >>> er.Evaluation.from_json(ev.to_json()) == ev
    True
    """

    @property
    def plot(self) -> Plots:
        """The figures of this evaluation, each a matplotlib `Figure`."""
        return Plots(self)

    @property
    def verdict(self) -> str:
        """What the model gets wrong, in one sentence: the headline of its page."""
        return headline(self).text

    def _repr_html_(self) -> str:
        return render_brief(self)


@dataclass(frozen=True)
class Plots:
    """The figures of an evaluation, each a matplotlib `Figure`; with `ax` it is drawn on these axes."""

    evaluation: model.Evaluation

    def confusion_matrix(self, ax: Axes | None = None) -> Figure:
        """True labels against predictions."""
        return draw(figures.confusion_matrix, self.evaluation, ax)

    def roc(self, ax: Axes | None = None) -> Figure:
        """True positive rate against false positive rate, with the confidence band."""
        return draw(figures.roc_curve, self.evaluation, ax)

    def precision_recall(self, ax: Axes | None = None) -> Figure:
        """Precision against recall, with the confidence band."""
        return draw(figures.pr_curve, self.evaluation, ax)

    def calibration(self, ax: Axes | None = None) -> Figure:
        """Observed rates against mean predicted probabilities."""
        return draw(figures.reliability, self.evaluation, ax)

    def coverage(self, ax: Axes | None = None) -> Figure:
        """Accuracy against the proportion of rows with a prediction."""
        return draw(figures.coverage, self.evaluation, ax)

    def scores(self, ax: Axes | None = None) -> Figure:
        """Scores by true class; for several classes the confidence of right and wrong predictions."""
        return draw(figures.score_distributions, self.evaluation, ax)

    def classes(self, ax: Axes | None = None) -> Figure:
        """F1 of each class or label with its interval, the lowest on top."""
        return draw(figures.class_forest, self.evaluation, ax)

    def thresholds(self, ax: Axes | None = None) -> Figure:
        """Precision, recall and F1 at every threshold."""
        return draw(figures.thresholds, self.evaluation, ax)


@public_api
def evaluate(
    y_true: npt.ArrayLike | Sequence[Any],
    y_pred: npt.ArrayLike | Sequence[Any] | Parsed | None = None,
    scores: Scores | npt.ArrayLike | str | None = None,
    labels: LabelSpace | Sequence[Label] | None = None,
    threshold: float | np.floating[Any] | Sequence[float] | str | None = None,
    weights: npt.ArrayLike | None = None,
    ids: npt.ArrayLike | None = None,
    groups: npt.ArrayLike | None = None,
    folds: npt.ArrayLike | None = None,
    slices: Mapping[str, npt.ArrayLike] | pd.DataFrame | str | Sequence[str] | None = None,
    texts: npt.ArrayLike | None = None,
    tune_on: evaluation.Evaluation | None = None,
    missing: Literal["wrong"] | None = None,
    weight_kind: WeightKind = "sampling",
    confidence: float | None = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    constraint_confidence: float | None = None,
    prevalence: float | None = None,
    extra_metrics: Mapping[str, Any] | None = None,
    extra_columns: Mapping[str, npt.ArrayLike] | pd.DataFrame | None = None,
    find_slices: bool = True,
    slice_bins: int = BINS,
    *,
    y_score: npt.ArrayLike | None = None,
    y_proba: npt.ArrayLike | None = None,
    y_prob: npt.ArrayLike | None = None,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Label | None = None,
    **columns: Any,
) -> Evaluation:
    """Evaluate predictions held in memory: arrays, or the columns of a frame.

    Parameters
    ----------
    y_true : array-like of shape (n,), or (n, labels) indicators, or one list of names per row; or a frame
        A frame (pandas, Polars, PyArrow, a DuckDB relation, anything with the Arrow C stream) without
        `y_pred` and `scores` is read like a file: its columns are named in `columns`, or found.
    y_pred : the same, or `Parsed` (see `parse`), optional
        Without it, the threshold (0.5) or the greatest score decides.
    scores : array-like, Probabilities, Logits or Decisions, optional
        Shape (n,) for a binary problem: of the positive label. Else one column per label, as
        ``predict_proba`` returns them. A bare array in [0, 1] is taken as probabilities; wrap other scores.
        Of a frame the names of its columns, such as ``p_*``.
    labels : Binary, Multiclass, Multilabel, Graded, or a sequence of labels, optional
        The label space. Without it two labels make a binary problem (the greater is positive), more a
        multiclass one; indicators and lists a multilabel one. With `Graded`, `y_true` is a grade per attempt.
    threshold : float, one per label, or str, optional
        A number or numbers, or an objective such as ``max-f1``; chosen on `tune_on`, else cross-fitted.
    weights, ids, groups, folds : array-like of shape (n,), optional
        Folds say in which fold of a cross-validation a row was tested: see `Evaluation.folds`.
    slices : mapping from name to array-like of shape (n,), or a frame, optional
    texts : sequence of str, optional
        Example texts that the report may show.
    tune_on : Evaluation, optional
        Other rows, on which an objective chooses the threshold.
    missing : str, optional
        ``wrong``: a row of `y_pred` without an answer (None, NaN) counts as one that could not be read:
        wrong, in a separate column, in every denominator. Without it such a row is an error.
    weight_kind : {"sampling", "count"}
        Whether `weights` are relative (a common factor changes nothing), or each a number of equal rows.
    confidence, resamples, seed
        Of the intervals. ``confidence=None``: values without intervals, for loops and simulations: a metric
        is worked out when it is read, and curves, classes and findings when one of them is.
    constraint_confidence : float, optional
        Confidence with which a threshold that is chosen under a bound has to keep it on new rows.
    prevalence : float, optional
        Prevalence in deployment: adds PPV, NPV, net benefit and alerts per 1,000 there,
        such as ``ev["precision@prevalence=0.01"]``.
    extra_metrics : mapping from name to function, optional
        Metrics of your own: ``fn(y_true, y_pred, y_score, weight, columns) -> float``, or a scikit-learn
        scorer. The interval is that of the bootstrap. Higher is better, unless ``fn.better = "lower"``.
    extra_columns : mapping from name to array-like of shape (n,), or a frame, optional
        Other columns, such as amounts: for these functions, and to search for weak slices. A frame with the
        predictions in it has its own.
    find_slices : bool
        Whether these columns are searched for weak slices: see ``ev.weak_slices``.
    slice_bins : int
        Quantile bins of a numeric column of `slices` with more than 20 values; 0 keeps each value.
    y_score, y_proba, y_prob, sample_weight : array-like, optional
        The names of scikit-learn for `scores` and `weights`.
    pos_label : label, optional
        The positive label of two, as in scikit-learn.
    **columns
        Of a frame: ``truth``, ``pred``, ``score``, ``scores``, ``id``, ``group``, … as of `evaluate_file`;
        `slices` are then names of columns.

    Raises
    ------
    EvalreportError
        Data that cannot be evaluated; the error has the fix.

    Examples
    --------
    >>> ev = evaluate(["a", "b", "b"], ["a", "b", "a"])
    >>> ev["accuracy"].value, ev.space.positive
    (0.6666666666666666, 'b')
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"diagnosis": ["sick", "well", "sick"], "p": [0.9, 0.2, 0.4]})
    >>> evaluate(frame, truth="diagnosis", score="p", positive="sick")["recall"].value
    0.5
    """
    scores = one_of(scores=scores, y_score=y_score, y_proba=y_proba, y_prob=y_prob)
    weights = one_of(weights=weights, sample_weight=sample_weight)
    own: dict[str, Any] = {"prevalence": prevalence, "extra_metrics": extra_metrics or {}}
    own["find_slices"] = find_slices
    if is_frame(y_true) and y_pred is None and (scores is None or isinstance(scores, str)):
        if pos_label is not None:
            columns["positive"] = pos_label
        arrays = {"weights": weights, "ids": ids, "groups": groups, "folds": folds, "texts": texts}
        settings = {"labels": labels, "threshold": threshold, "slices": slices, "missing": missing}
        settings |= {"weight_kind": weight_kind, "scores": scores, "slice_bins": slice_bins}
        columns |= {name: value for name, value in settings.items() if value is not None}
        columns |= {
            "confidence": confidence,
            "resamples": resamples,
            "seed": seed,
            "constraint_confidence": constraint_confidence,
        }
        columns |= {name: value for name, value in own.items() if value is not None}
        return _of_frame(y_true, columns, arrays | {"extra_columns": extra_columns}, tune_on)
    if columns or isinstance(scores, str):
        raise _no_frame(next(iter(columns), "scores"))
    order = {"y_true": y_true, "y_pred": y_pred, "scores": scores}
    sliced = slices if isinstance(slices, Mapping) else {"": slices}
    beside = {"weights": weights, "ids": ids, "groups": groups, "folds": folds, "texts": texts}
    check_order({**order, **beside, **{f"slices {name}": part for name, part in sliced.items()}})
    if isinstance(labels, Graded):
        sampling = sampling_of(confidence, resamples, seed, constraint_confidence)
        named = {"ids": ids, "groups": groups, "weights": weights, "texts": texts, "slice_bins": slice_bins}
        evaluating = extension("api", "evaluating grades")
        return evaluating(y_true, labels, sampling, slices=by_name(slices), **named)  # type: ignore[no-any-return]
    known_scores: Scores | None
    known_scores, notes = bare_scores(scores)
    labels = with_positive(y_true, labels, pos_label)
    found = parse_inputs(y_true, y_pred, known_scores, labels, missing)
    known_scores = score_of_positive(found.space, known_scores) if notes else known_scores
    numbers, objective = threshold_of(threshold)
    read = {name: rows_of(values, name) for name, values in beside.items()}
    if texts is not None:
        read["texts"] = texts_of(as_array(read["texts"])).tolist()
    binned, bin_notes = bin_slices(by_name(slices) or {}, slice_bins)
    rows = predictions(
        found.space,
        found.y_true,
        found.y_pred,
        known_scores,
        threshold=numbers,
        slices=binned,
        missing=missing,
        weight_kind=weight_kind,
        columns=by_name(extra_columns, "extra_columns"),
        **read,
    )
    refuse_misread(rows, given=y_pred is not None, declared=labels is not None)
    sampling = sampling_of(confidence, resamples, seed, constraint_confidence)
    request = Request(sampling=sampling, threshold=objective, **own)
    other = _tuning_rows(tune_on, chosen=numbers is None)
    return convert_to_view(
        Evaluation,
        evaluate_collected(Collected(rows, (), Provenance(notes=(*notes, *bin_notes))), request, other),
    )


def _of_frame(
    frame: Any, named: Mapping[str, Any], arrays: Mapping[str, Any], tune_on: evaluation.Evaluation | None
) -> Evaluation:
    """Evaluate a frame as a file of its columns would be."""
    for name, values in arrays.items():
        if values is not None:
            raise UsageError(
                f"{name} are given in addition to a frame",
                where=name,
                fix="put them into the frame and name the column, as in group='site'",
            )
    request = build_request(None, named)
    table = table_of(frame, request.columns)
    collected = collect_table(table, request)
    return convert_to_view(
        Evaluation, evaluate_collected(collected, request, _tuning_rows(tune_on, chosen=True))
    )


def _no_frame(name: str) -> UsageError:
    if name not in named_hints():
        known = [known for known in signature(evaluate).parameters if known != "columns"]
        return UsageError(f"there is no argument {name!r}", where=name, fix=nearest(name, known))
    return UsageError(
        f"{name} needs a frame: y_true is not a frame with the predictions",
        where=name,
        fix="pass only the frame, or arrays: y_true, y_pred=, scores=, labels=er.Binary(no, yes), …",
    )


def _tuning_rows(tune_on: evaluation.Evaluation | None, *, chosen: bool) -> Predictions | None:
    """The rows that choose the threshold, where it is to be chosen."""
    rows = tuning_rows(tune_on)
    if rows is not None and not chosen:
        raise UsageError(
            "there are rows to tune on, but no objective",
            where="tune_on",
            fix='pass an objective, as in threshold="max-f1"',
        )
    return rows


@public_api
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
        The file cannot be evaluated; the error has the fix.

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
    wanted = build_request(request, columns)
    item = Item(path=str(path))
    return convert_to_view(Evaluation, item.evaluate(wanted)[0])


@public_api
def evaluate_files(
    paths: str | Path | Sequence[str | Path], *, request: Request | None = None, **columns: Any
) -> Evaluation:
    """Evaluate files that hold one table, batch by batch: more rows than fit into memory.

    Counts, curves, thresholds, areas and intervals are exact, as of `evaluate_file`. What needs all rows at
    once (groups, weights, example texts, several labels) is refused.

    Parameters
    ----------
    paths : str or Path, or a sequence of them
        Files, folders, and patterns such as ``"scores/*.parquet"``: Parquet, Arrow, Feather, CSV and JSON
        lines, also packed with gzip or Zstandard.
    request, **columns
        As of `evaluate_file`; also ``memory``, the bytes that scores may take (a gigabyte) before they
        go to temporary files (TMPDIR), and ``approximate=True``: scores of two labels are counted in bins, in
        fixed memory; areas come with proven bounds, and what bins do not bound is undefined.

    Raises
    ------
    EvalreportError
        The files cannot be evaluated; the error names file and row, and has the fix.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for part in ("a", "b"):
    ...         path = Path(folder) / f"{part}.csv"
    ...         _ = path.write_text("y_true,p\\nsick,0.9\\nwell,0.2\\nsick,0.4\\n")
    ...     ev = evaluate_files(folder, positive="sick")
    >>> ev.rows, ev["recall"].value
    (6, 0.5)
    """
    several = (paths,) if isinstance(paths, (str, Path)) else paths
    if not len(several):
        raise UsageError("no file is named", where="paths", fix="name a file, a folder or a pattern")
    wanted = build_request(request, {"engine": "stream", **columns})
    item = Item(path=str(several[0]), files=tuple(map(str, several)))
    return convert_to_view(Evaluation, item.evaluate(wanted)[0])


@public_api
def evaluate_spark(frame: Any, *, request: Request | None = None, **columns: Any) -> Evaluation:
    """Evaluate the predictions of a Spark DataFrame where its rows are.

    Each task counts its rows and sorts their scores into ranges, which one task reads for all metrics; the
    driver gets their values. Nothing is sampled: the numbers are those of `evaluate_files` on the same rows.
    The session stays as it is.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        Of a session that runs: of a notebook, a cluster or Spark Connect; the workers need evalreport, too.
        It is read two to four times: cache what is dear to make.
    request, **columns
        As of `evaluate_files`: ``truth``, ``score`` or ``pred``, ``positive``, ``slices``, ``threshold`` …

    Raises
    ------
    EvalreportError
        The rows cannot be evaluated; the error names partition and row, and has the fix.

    Examples
    --------
    >>> evaluate_spark([0.1, 0.9])
    Traceback (most recent call last):
    evalreport.core.errors.UsageError: the frame is list, not a Spark DataFrame
    """
    if not hasattr(frame, "mapInArrow"):
        raise UsageError(
            f"the frame is {type(frame).__name__}, not a Spark DataFrame",
            where="frame",
            fix="pass spark.table(name), or evaluate(frame) for a frame in memory",
        )
    wanted = replace(build_request(request, columns), engine="spark")
    return convert_to_view(Evaluation, Item(table=frame).evaluate(wanted)[0])


@public_api
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
        No such run, a run without predictions, or no server; the error has the fix.

    Examples
    --------
    >>> evaluate_run("3f9c1e0a7b", tracking_uri="sqlite:///no-such-store.db")
    Traceback (most recent call last):
    evalreport.core.errors.FileMissingError: there is no MLflow database no-such-store.db
    """
    wanted = build_request(request or Request(engine="auto"), columns)
    store = connect(tracking_uri)
    item = Item(run=find_run(store, run_id), store=store)
    return convert_to_view(Evaluation, item.evaluate(wanted)[0])

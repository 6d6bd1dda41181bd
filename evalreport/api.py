"""The Python face: arrays, files or runs in; an `Evaluation` that can be read, drawn and logged out."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from evalreport.cells import to_labels
from evalreport.comparison.compare import compare
from evalreport.comparison.values import Comparison
from evalreport.errors import EvalreportError, UsageError
from evalreport.evaluation import model
from evalreport.evaluation.parts import Provenance
from evalreport.evaluation.study import NOT_SAID, Judging, Study, studied
from evalreport.intervals import Sampling
from evalreport.labels import Binary, Label, LabelSpace, Multiclass, Multilabel
from evalreport.parsing import Parsed, make_parser, parse_all
from evalreport.predictions import predictions
from evalreport.report.render import render, render_comparison, render_trials
from evalreport.scores import Decisions, Logits, NoScores, Probabilities, Scores
from evalreport.sinks.folder import write_file
from evalreport.sources.mlflow_client import connect
from evalreport.sources.request import Columns
from evalreport.sources.runs import find_run
from evalreport.sources.shapes.spaces import single_label
from evalreport.trials import Trials
from evalreport.values import Estimate, Finding, Undefined
from evalreport.workflow.collect import Collected
from evalreport.workflow.evaluate import evaluated
from evalreport.workflow.log import LogOptions, log_evaluation
from evalreport.workflow.request import Request
from evalreport.workflow.runs import Item
from evalreport.workflow.sweep_thresholds import Asked, chosen

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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


class Evaluation(model.Evaluation):
    """An evaluation with its views: figures, the page, and how a notebook shows it."""

    @classmethod
    def of(cls, ev: model.Evaluation) -> Self:
        """Return the same evaluation with views."""
        return cls(**{field.name: getattr(ev, field.name) for field in fields(model.Evaluation)})

    @property
    def plot(self) -> Plots:
        """The figures of this evaluation, each a matplotlib `Figure`."""
        return Plots(self)

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(_shown(self, name))}</td></tr>" for name in self.metrics
        )
        found = "".join(f"<li>{escape(finding.claim)}</li>" for finding in self.findings)
        return f"<ul>{found}</ul><table>{rows}</table>"


def _shown(ev: model.Evaluation, name: str) -> str:
    result = ev.metrics[name]
    if isinstance(result, Undefined):
        return f"undefined: {result.reason}"
    limits = "" if result.low is None else f" ({result.low:.4g} to {result.high:.4g})"
    return f"{result.value:.4g}{limits}"


@dataclass(frozen=True)
class Plots:
    """The figures of an evaluation."""

    evaluation: model.Evaluation

    def confusion_matrix(self) -> Figure:
        """Truth against predictions."""
        from evalreport import figures

        return figures.confusion_matrix(self.evaluation)

    def roc(self) -> Figure:
        """True against false positive rates, with the band."""
        from evalreport import figures

        return figures.roc_curve(self.evaluation)

    def pr(self) -> Figure:
        """Precision against recall, with the band."""
        from evalreport import figures

        return figures.pr_curve(self.evaluation)

    def reliability(self) -> Figure:
        """Observed shares against mean scores."""
        from evalreport import figures

        return figures.reliability(self.evaluation)

    def coverage(self) -> Figure:
        """Accuracy against the share answered."""
        from evalreport import figures

        return figures.coverage(self.evaluation)

    def thresholds(self) -> Figure:
        """Precision, recall and F1 at every threshold."""
        from evalreport import figures

        return figures.thresholds(self.evaluation)


def evaluate(
    y_true: npt.ArrayLike | Sequence[Any],
    y_pred: npt.ArrayLike | Sequence[Any] | Parsed | None = None,
    scores: Scores | None = None,
    labels: LabelSpace | Sequence[Label] | None = None,
    threshold: float | str | None = None,
    weights: npt.ArrayLike | None = None,
    ids: npt.ArrayLike | None = None,
    groups: npt.ArrayLike | None = None,
    slices: Mapping[str, npt.ArrayLike] | None = None,
    texts: Sequence[str] | None = None,
    tune_on: Evaluation | None = None,
    confidence: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
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
    threshold : float or str, optional
        A number, or an objective such as ``max-f1``; chosen on `tune_on`, else cross-fitted.
    weights, ids, groups : array-like of shape (n,), optional
    slices : mapping from name to array-like of shape (n,), optional
    confidence, resamples, seed
        Of the intervals.

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
    space = _space(y_true, y_pred, scores, labels)
    number = threshold if isinstance(threshold, (int, float)) else None
    rows = predictions(
        space,
        y_true,
        y_pred,
        scores,
        threshold=number,
        weights=weights,
        ids=ids,
        groups=groups,
        slices=slices,
        texts=texts,
    )
    request = Request(
        sampling=Sampling(confidence, resamples, seed),
        threshold=threshold if isinstance(threshold, str) else None,
    )
    other = None if tune_on is None else tune_on.predictions
    return Evaluation.of(evaluated(Collected(rows, (), Provenance()), request, other))


def _space(y_true: Any, y_pred: Any, scores: Scores | None, labels: Any) -> LabelSpace:
    if isinstance(labels, (Binary, Multiclass, Multilabel)):
        return labels
    truth = list(y_true) if not isinstance(y_true, np.ndarray) else y_true
    if _is_multilabel(truth):
        return Multilabel(labels if labels is not None else _names_of(truth, y_pred))
    answers = None if y_pred is None or isinstance(y_pred, Parsed) else to_labels(y_pred, "y_pred")
    wide = scores is not None and not isinstance(scores, NoScores) and scores.values.ndim == 2
    columns = Columns(labels=None if labels is None else tuple(labels))
    found = single_label(to_labels(truth, "y_true"), answers, (), columns, isinstance(y_pred, Parsed))
    if wide and labels is None and isinstance(scores, (Probabilities, Logits, Decisions)):
        _check_width(found.space, scores.values.shape[1])
    return found.space


def _check_width(space: LabelSpace, width: int) -> None:
    if width != len(space):
        raise UsageError(
            f"there are {width} score columns and {len(space)} labels in the data",
            fix="declare the labels in the order of the columns: labels=er.Multiclass([...])",
        )


def _is_multilabel(truth: Any) -> bool:
    if isinstance(truth, np.ndarray) and truth.dtype != object:
        return bool(truth.ndim == 2)
    return len(truth) > 0 and isinstance(truth[0], (list, tuple, set, np.ndarray))


def _names_of(truth: Any, y_pred: Any) -> list[Label]:
    if isinstance(truth, np.ndarray) and truth.ndim == 2:
        return list(range(truth.shape[1]))
    rows = [*truth, *(y_pred if y_pred is not None and not isinstance(y_pred, Parsed) else ())]
    return sorted({label for row in rows for label in row}, key=str)


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

    Examples
    --------
    >>> parse(["Answer: b.", "no idea"], ["a", "b"]).codes
    array([ 1, -1], dtype=int32)
    """
    return parse_all(texts, make_parser(how, labels, fuzzy=fuzzy))


def evaluate_file(path: str | Path, *, request: Request | None = None, **columns: Any) -> Evaluation:
    """Evaluate a file of predictions; keyword arguments name its columns, as `--truth`, `--score`, … do.

    Raises
    ------
    EvalreportError
    """
    asked = _asked(request, columns)
    item = Item(path=str(path))
    return Evaluation.of(evaluated(item.collect(asked), asked, item.tuning_rows(asked)))


def evaluate_run(
    run_id: str, *, tracking_uri: str | None = None, request: Request | None = None, **columns: Any
) -> Evaluation:
    """Evaluate the predictions of an MLflow run; nothing is written.

    Raises
    ------
    EvalreportError
    """
    asked = _asked(request, columns)
    store = connect(tracking_uri)
    item = Item(run=find_run(store, run_id), store=store)
    return Evaluation.of(evaluated(item.collect(asked), asked, item.tuning_rows(asked)))


def _asked(request: Request | None, columns: Mapping[str, Any]) -> Request:
    named = {field.name for field in fields(Columns)}
    whole = {name: value for name, value in columns.items() if name not in named}
    asked = replace(request or Request(), **whole)
    return replace(asked, columns=replace(asked.columns, **{n: v for n, v in columns.items() if n in named}))


def to_html(ev: model.Evaluation | Comparison | Study, *, checklist: str | None = None) -> str:
    """Return the report, the comparison of several, or the study of a sweep, as one HTML page."""
    if isinstance(ev, Study):
        return render_trials(ev)
    return render_comparison(ev) if isinstance(ev, Comparison) else render(ev, checklist=checklist)


def report(ev: model.Evaluation, path: str | Path, *, checklist: str | None = None) -> Path:
    """Write the report to a file and return its path."""
    return write_file(Path(path), render(ev, checklist=checklist).encode())


def log(
    ev: model.Evaluation,
    run_id: str,
    *,
    tracking_uri: str | None = None,
    prefix: str = "eval/",
    force: bool = False,
    dry_run: bool = False,
) -> Any:
    """Log an evaluation into a finished run; a second identical call writes nothing.

    Raises
    ------
    EvalreportError
    """
    store = connect(tracking_uri)
    run = find_run(store, run_id)
    origin = replace(ev.provenance, run_id=run.run_id, run_name=run.name, experiment=run.experiment)
    if not origin.made:
        origin = replace(origin, made=time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()))
    return log_evaluation(store, run.run_id, ev.with_provenance(origin), LogOptions(prefix, force, dry_run))


def sweep(
    what: model.Evaluation | Trials,
    objective: str | None = None,
    *,
    tune_on: model.Evaluation | None = None,
    judging: Judging = NOT_SAID,
) -> Any:
    """Return what is best for an objective: a threshold, thresholds of labels, or how a sweep's trials stand.

    Parameters
    ----------
    what : Evaluation or Trials
        Trials give a `Study`: best, importance, and how lucky the best is (see `judging`). `to_html` and
        `log` take it.
    objective : str, optional
        As on the command line (``f1``, ``recall>=0.95``, ``f1_macro``, ``accuracy>=0.95``); of trials, the
        name of one of several objectives.
    tune_on : Evaluation, optional
        Other rows that the threshold is chosen on; without them its honest value is cross-fitted.
    judging : Judging
        How many examples judged each trial.

    Raises
    ------
    EvalreportError
        No such objective; nothing to choose from; no trial completed.

    Examples
    --------
    >>> ev = evaluate([0, 0, 1, 1], scores=Probabilities([0.1, 0.4, 0.35, 0.8]))
    >>> sweep(ev, "recall>=1").threshold
    0.35
    >>> sweep(Trials.from_records([{"value": 0.7}, {"value": 0.8}], objectives="f1")).best.number
    1
    """
    if isinstance(what, Trials):
        return studied(what, objective, judging=judging)
    if what.predictions is None:
        if what.sweep is None:
            raise UsageError("there is no threshold to sweep", fix="evaluate scores of a binary problem")
        return what.sweep.best(objective or "f1")
    goal = objective or {"binary": "f1", "multilabel": "f1_macro"}.get(what.task, "accuracy>=0.95")
    rows = Collected(what.predictions, (), what.provenance)
    other = None if tune_on is None else tune_on.predictions
    found = chosen(rows, Request(sampling=what.sampling), other, Asked((goal,)))
    return next(iter(found.found.values()))

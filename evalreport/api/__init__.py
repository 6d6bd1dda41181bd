"""The Python interface: evaluate arrays, files or runs; read, draw and log the `Evaluation`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from evalreport.api.compare import Comparison, compare, sweep
from evalreport.api.estimators import cross_evaluate, evaluate_estimator
from evalreport.api.evaluate import (
    Evaluation,
    evaluate,
    evaluate_file,
    evaluate_files,
    evaluate_run,
    evaluate_spark,
)
from evalreport.api.input import public_api
from evalreport.core.errors import EvalreportError, UsageError
from evalreport.core.extensions import extension
from evalreport.core.result import Estimate, Finding, Undefined
from evalreport.data.labels import Binary, Graded, Multiclass, Multilabel, Parsed
from evalreport.data.scores import Decisions, Logits, Probabilities
from evalreport.page.render import render
from evalreport.thresholds.trial import Judging
from evalreport.thresholds.trial_search import Trials
from evalreport.tracking.client import connect
from evalreport.tracking.folder import write_page
from evalreport.tracking.log_results import MlflowSink
from evalreport.tracking.runs import active_run_id, find_run
from evalreport.workflow.deliver import document_in_run
from evalreport.workflow.request import Destination

__all__ = [
    "Binary",
    "Comparison",
    "Decisions",
    "Estimate",
    "EvalreportError",
    "Evaluation",
    "Finding",
    "Graded",
    "Judging",
    "Logits",
    "Multiclass",
    "Multilabel",
    "Probabilities",
    "Trials",
    "Undefined",
    "assert_that",
    "compare",
    "cross_evaluate",
    "evaluate",
    "evaluate_estimator",
    "evaluate_file",
    "evaluate_files",
    "evaluate_run",
    "evaluate_spark",
    "log",
    "parse",
    "report",
    "sweep",
    "to_html",
]


@public_api
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
    from evalreport.data.labels import parse_texts
    from evalreport.data.scores import keep_index

    parsed = parse_texts(texts, labels, how, fuzzy=fuzzy)
    keep_index(parsed, texts)
    return parsed


def assert_that(
    result: Evaluation | Comparison, *rules: str, test_on: Literal["interval", "estimate"] = "interval"
) -> None:
    """Raise an AssertionError unless a result satisfies rules, for tests with pytest.

    Parameters
    ----------
    result : Evaluation or Comparison
        A comparison of two runs for rules of a change, such as ``recall drops <= 0.02``.
    *rules : str
        As of `evalreport check --require`.
    test_on : {"interval", "estimate"}
        Whether the whole confidence interval has to satisfy a rule, or the point estimate.

    Raises
    ------
    AssertionError
        A rule fails, or is inconclusive.
    UsageError
        A text that is not a rule, or a metric that the result does not have.

    Examples
    --------
    >>> ev = evaluate(["a", "b"] * 50, ["a", "b"] * 50)
    >>> assert_that(ev, "accuracy >= 0.9", "recall > 90%")
    >>> assert_that(ev, "accuracy <= 0.5")
    Traceback (most recent call last):
    AssertionError: failed: accuracy <= 0.5: 1.000 (0.964 to 1.000)
    """
    broken = extension("api", "checking rules")(result, rules, test_on)
    if broken:
        raise AssertionError("; ".join(broken))


@public_api
def to_html(ev: Any) -> str:
    """Return the page of an evaluation, of a comparison of several, or of what `sweep` found.

    Parameters
    ----------
    ev : Evaluation, Comparison, SystemsComparison, Study or ThresholdSelection

    Raises
    ------
    UsageError
        Something that is not a result.

    Examples
    --------
    >>> to_html(evaluate(["a", "b"], ["a", "b"])).splitlines()[0]
    '<!doctype html>'
    """
    return render(ev)


@public_api
def report(ev: Any, path: str | Path, *, force: bool = False) -> Path:
    """Write the page of `to_html` to a file and return its path.

    Parameters
    ----------
    ev : Evaluation, Comparison, SystemsComparison, Study or ThresholdSelection
    path : str or Path
        Written to a temporary file and renamed, so that the page is never incomplete.
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
    return write_page(Path(path), to_html(ev).encode(), force=force)


@public_api
def log(
    ev: Any,
    run_id: str | None = None,
    *,
    tracking_uri: str | None = None,
    prefix: str = "eval/",
    log_all: bool = False,
    force: bool = False,
    allow_running: bool = False,
    dry_run: bool = False,
) -> Any:
    """Log an evaluation, or what `sweep` found, into a run; a second identical call writes nothing.

    Parameters
    ----------
    ev : Evaluation, Study or ThresholdSelection
    run_id : str, optional
        Id, or its first six or more characters. Default: the active run (of `mlflow.start_run`), which goes
        on. Status and end time of the run stay as they are.
    tracking_uri : str, optional
    prefix : str
        Of the metrics' names.
    log_all : bool
        Whether to log every metric, interval, class and curve, not only the headline metrics.
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
    evalreport.core.errors.FileMissingError: there is no MLflow database no-such-store.db
    """
    if not hasattr(ev, "with_provenance"):
        raise UsageError(
            f"ev is {type(ev).__name__}, which er.log does not accept",
            where="ev",
            fix="pass an evaluation, or what er.sweep found; log comparisons with evalreport compare --log",
        )
    store = connect(tracking_uri)
    run = find_run(store, run_id or active_run_id())
    where = Destination(log=True, prefix=prefix, log_all=log_all)
    payload = document_in_run(ev, run).payload(where)
    sink = MlflowSink(store, run.run_id, force, allow_running or run_id is None)
    return sink.log(payload, dry_run=dry_run)

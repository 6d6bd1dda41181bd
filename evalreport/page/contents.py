"""An evaluation as it is shown, written and logged; the order of its sections."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from evalreport import __version__
from evalreport.core.extensions import load_extensions
from evalreport.core.progress import report_progress
from evalreport.core.result import Estimate, Provenance, Undefined, format_estimate, interval
from evalreport.data.labels import Multiclass, Task
from evalreport.evaluation.evaluation import CLASS_KEYS, Evaluation
from evalreport.metrics.catalogue import LOGGED, LOGGED_OF_TEXT, SAME, find
from evalreport.page.csv_tables import (
    as_csv,
    as_parquet,
    classes_table,
    confusions_table,
    grids,
    metrics_table,
    predictions_table,
    thresholds_table,
)
from evalreport.page.elements import Section
from evalreport.page.evaluation_terms import whole_sweep
from evalreport.page.payload import (
    CLASSES_TABLE,
    EVALUATION,
    FIGURES,
    LONGEST_VERDICT,
    METRICS_TABLE,
    MOST_CLASSES,
    MOST_KEYS,
    PAGE,
    ROWS,
    THRESHOLDS_TABLE,
    UNIT_TAG,
    Presentation,
    Series,
    lasting,
    metric_keys,
    objective_keys,
    with_metric_keys,
)
from evalreport.page.sections import (
    appendix,
    calibration,
    choices,
    classes,
    confusion_matrix,
    cross_validation,
    curves,
    first_screen,
    label_table,
    threshold,
)
from evalreport.page.sections.confusion_matrix import BLOCKS_FROM
from evalreport.page.sections.headline import headline
from evalreport.page.text_summary import MOST_FINDINGS, ResultSummary, described_metrics, title
from evalreport.thresholds.best_threshold import Optimum

if TYPE_CHECKING:
    from matplotlib.figure import Figure


Panel: TypeAlias = Callable[[Evaluation], Section | None]

PANELS: Mapping[Task, tuple[Panel, ...]] = {
    "binary": (
        first_screen.first_screen,
        threshold.threshold_section,
        curves.curves_section,
        calibration.calibration_section,
        choices.utility_section,
        choices.deployment_section,
    ),
    "multiclass": (
        first_screen.first_screen,
        confusion_matrix.confusions_section,
        classes.classes_section,
        choices.cutoff_section,
        calibration.calibration_section,
        curves.averaged_section,
    ),
    "multilabel": (
        first_screen.first_screen,
        label_table.micro_section,
        curves.curves_section,
        classes.classes_section,
        confusion_matrix.swaps,
        calibration.calibration_section,
    ),
    "graded": (),
}
"""Panels of each task in the order of the page; one that does not apply returns None."""

OF_ANY_TASK: tuple[Panel, ...] = (classes.groups_section, cross_validation.folds_section)
"""What follows, whatever the task; then what features add: at the point "sections" each adds a `Panel`."""
LAST: tuple[Panel, ...] = (
    confusion_matrix.examples_section,
    appendix.metrics_section,
    appendix.provenance_section,
)


def sections(ev: Evaluation) -> tuple[Section, ...]:
    """Return the sections of a page in order."""
    made = (panel(ev) for panel in (*PANELS[ev.task], *OF_ANY_TASK, *load_extensions("sections"), *LAST))
    return tuple(section for section in made if section is not None)


METHODS = {"wilson": "Wilson for proportions", "delong": "DeLong for ROC AUC"}
"""Interval methods that the last line of the page names."""


class EvaluationPresentation(Presentation[Evaluation]):
    """The report of an evaluation."""

    page_name = PAGE
    document = EVALUATION
    noun = "report"
    part = "evaluation"
    cards = FIGURES

    @property
    def title(self) -> str:
        """Title of the page."""
        p = self.of.provenance
        return p.title or f"{p.run_name or 'Evaluation'}: {p.dataset or self.of.task} evaluation"

    @cached_property
    def headline(self) -> str:
        """The verdict in one sentence, plain text."""
        return headline(self.of).text

    def sections(self) -> Sequence[Section]:
        """Return the sections of the page, the verdict first."""
        return sections(self.of)

    def summary(self) -> ResultSummary:
        """Return the evaluation in a few lines."""
        ev = self.of
        known = [(find(name, ev.task), result) for name, result in described_metrics(ev)]
        return ResultSummary(
            self.headline,
            title(ev),
            ("Metric", "Estimate", f"{ev.sampling.level * 100:g}% interval"),
            tuple(
                (metric.title, format_estimate(r, metric.style), interval(r, metric.style))
                for metric, r in known
            ),
            tuple(finding.claim for finding in ev.findings if finding.severity != "note")[:MOST_FINDINGS],
        )

    @property
    def intervals(self) -> str:
        """What the last line of the page says of the intervals."""
        if not self.of.sampling.intervals:
            return ""
        used = {result.method for result in self.of.metrics.values() if isinstance(result, Estimate)}
        named = ", ".join(words for method, words in METHODS.items() if method in used)
        rest = "the method of each is in evaluation.json"
        how = f"{named}; {rest}" if named else rest
        return f" · intervals are {self.of.sampling.level * 100:.10g}%: {how}"

    @cached_property
    def figures(self) -> Mapping[str, bytes]:
        """The figures that this evaluation has, as PNG, by the names that MLflow pairs."""
        from evalreport import figures

        ev = self.of
        draw: dict[str, tuple[Any, Callable[[Evaluation], Figure]]] = {
            "confusion_matrix.png": (ev.confusion, figures.confusion_matrix),
            "roc_curve.png": (getattr(ev.curves, "roc", None), figures.roc_curve),
            "pr_curve.png": (getattr(ev.curves, "pr", None), figures.pr_curve),
        }
        known = {
            name: draw
            for name, (of, draw) in draw.items()
            if of is not None and not isinstance(of, Undefined)
        }
        made = {}
        with figures.style() if known else nullcontext():
            for name, figure in known.items():
                report_progress("drawing figures", FIGURES.index(name), len(FIGURES))
                made[name] = figures.png(figure(ev))
        return made

    def logged_content(self) -> dict[str, Any]:
        """Return the JSON of a run; with the keys of its classes, where these are logged."""
        keys = {CLASS_KEYS: class_keys(self.of, self.prefix)} if self.log_all else {}
        return {**self.encoded_result, **keys}

    def lasting(self) -> tuple[Any, ...]:
        """Return what the digest is made of."""
        more = {"notes": self.notes} if self.notes else {}
        return (
            lasting(self.encoded_result),
            sorted(self.figures),
            self.headline,
            __version__,
            self.prefix,
            more,
        )

    def metrics(self) -> dict[str, float]:
        """Return every number that can be logged, by key."""
        return metrics(self.of, self.prefix, class_keys(self.of, self.prefix))

    def headline_metrics(self) -> dict[str, float]:
        """Return the headline metrics of the task, or all where few were asked for, and the threshold."""
        ev = self.of
        names = tuple(ev.metrics) if len(ev.metrics) <= MOST_KEYS else _headline_names(ev)
        known = {name: result for name in names if isinstance(result := ev.metrics.get(name), Estimate)}
        return with_metric_keys(
            {name: result.value for name, result in known.items()}, self.prefix
        ) | _threshold(ev, self.prefix)

    def series(self) -> dict[str, Series]:
        """Return the curves that can be logged, on integer steps."""
        return {self.prefix + key: series for key, series in grids(self.of).items()}

    def tags(self) -> dict[str, str]:
        """Return the tags of a run."""
        ev = self.of
        tags = {"evalreport.task": ev.task, "evalreport.verdict": self.headline[:LONGEST_VERDICT]}
        if ev.provenance.unit != Provenance.unit:
            tags[UNIT_TAG] = ",".join(ev.provenance.unit)
        return tags

    def artifacts(self) -> dict[str, bytes]:
        """Return how each row's text was read, where labels were read from text."""
        rows = {} if self.of.parsing is None else predictions_table(self.of)
        return {ROWS: as_parquet(rows)} if rows else {}

    def tables(self) -> dict[str, dict[str, list[Any]]]:
        """Return the tables that MLflow shows, by their path."""
        tables = {METRICS_TABLE: metrics_table(self.of)}
        if self.of.classes:
            tables[CLASSES_TABLE] = classes_table(self.of)
        if self.of.sweep is not None:
            tables[THRESHOLDS_TABLE] = thresholds_table(self.of.sweep)
        return tables

    def exports(self) -> dict[str, bytes]:
        """Return tables as CSV; with the predictions at hand also every row and every threshold."""
        ev, files = self.of, {}
        if ev.classes:
            files["classes.csv"] = as_csv(classes_table(ev))
        if ev.confusion is not None and isinstance(ev.space, Multiclass) and len(ev.space) > BLOCKS_FROM:
            files["confusions.csv"] = as_csv(confusions_table(ev.space, ev.confusion))
        if (sweep := whole_sweep(ev)) is not None:
            files["thresholds.parquet"] = as_parquet(thresholds_table(sweep))
        if rows := predictions_table(ev):
            files["predictions.parquet"] = as_parquet(rows)
        return files

    @property
    def model(self) -> str:
        """Id of the MLflow model that the metrics are of as well."""
        return self.of.provenance.model


def metrics(ev: Evaluation, prefix: str, keys: Mapping[str, str]) -> dict[str, float]:
    """Return the metrics that are defined, their intervals, thresholds, and F1 class by class.

    Parameters
    ----------
    ev : Evaluation
    prefix : str
    keys : mapping from class name to key
        See `class_keys`.

    Examples
    --------
    >>> from evalreport.evaluation.evaluate import evaluate_predictions
    >>> from evalreport.data.labels import Multiclass
    >>> from evalreport.data.predictions import predictions
    >>> ev = evaluate_predictions(predictions(Multiclass(["a", "b"]), ["a", "b", "b"], ["a", "b", "a"]))
    >>> found = metrics(ev, "eval/", class_keys(ev, "eval/"))
    >>> found["eval/classes/f1/b"], "eval/log_loss" in found
    (0.6666666666666666, False)
    """
    known = {
        name: result
        for name, result in ev.metrics.items()
        if isinstance(result, Estimate) and not _is_repeated(ev, name, result)
    }
    found = with_metric_keys({name: result.value for name, result in known.items()}, prefix)
    ends = metric_keys(known, f"{prefix}ci/")
    for name, result in known.items():
        if result.low is not None and result.high is not None:
            found |= {f"{ends[name]}_low": result.low, f"{ends[name]}_high": result.high}
    found |= _threshold(ev, prefix)
    found |= _best_thresholds(ev, prefix)
    found |= _gaps(ev, prefix)
    if ev.repeated_responses is not None:
        several = {
            "one": ev.repeated_responses.one,
            "majority": ev.repeated_responses.majority,
            "agreement": ev.repeated_responses.agreement,
        }
        several |= {f"pass_at_{k}": result for k, result in ev.repeated_responses.pass_at.items()}
        known = {name: result for name, result in several.items() if isinstance(result, Estimate)}
        found |= {f"{prefix}responses/{name}": result.value for name, result in known.items()}
    for entry in ev.classes:
        f1 = entry.metrics.get("f1")
        if str(entry.label) in keys and isinstance(f1, Estimate):
            found[keys[str(entry.label)]] = f1.value
    return found


def _headline_names(ev: Evaluation) -> tuple[str, ...]:
    """The headline metrics of the task, the parse rate of text, and operating points that were asked for."""
    parsed = () if ev.parsing is None else LOGGED_OF_TEXT
    return (*LOGGED[ev.task], *parsed, *(name for name in ev.metrics if "@" in name))


def _is_repeated(ev: Evaluation, name: str, result: Estimate) -> bool:
    """Tell whether a metric equals another by definition, on these data: micro averages are the accuracy."""
    base, declared = name, ("_supported", "_declared")
    for ending in declared:
        base = base.removesuffix(ending)
    other = ev.metrics.get(SAME[ev.task].get(base, base))
    return other is not result and isinstance(other, Estimate) and math.isclose(other.value, result.value)


def _threshold(ev: Evaluation, prefix: str) -> dict[str, float]:
    """The one threshold of a binary evaluation."""
    at = None if ev.threshold is None else ev.threshold.value
    return {f"{prefix}threshold": at} if isinstance(at, float) and math.isfinite(at) else {}


def _gaps(ev: Evaluation, prefix: str) -> dict[str, float]:
    """The greatest difference between the groups of each column, metric by metric."""
    known = {f"{one.metric} by {one.column}": one.difference for one in ev.disparities}
    gaps = with_metric_keys(known, f"{prefix}gaps/")
    return {key: gap.value for key, gap in gaps.items() if isinstance(gap, Estimate)}


def _best_thresholds(ev: Evaluation, prefix: str) -> dict[str, float]:
    optima = {} if ev.sweep is None else ev.sweep.optima
    best = {name: choice for name, choice in optima.items() if isinstance(choice, Optimum)}
    keys = objective_keys(best, f"{prefix}optima/")
    known = {name: found.threshold for name, found in best.items() if math.isfinite(found.threshold)}
    return {f"{keys[name]}_threshold": threshold for name, threshold in known.items()}


def class_keys(ev: Evaluation, prefix: str) -> dict[str, str]:
    """Return the key of each class with separate metrics: the hundred with the most examples.

    Parameters
    ----------
    ev : Evaluation
    prefix : str
    """
    largest = sorted(ev.classes, key=lambda entry: -entry.support)[:MOST_CLASSES]
    return metric_keys((str(entry.label) for entry in largest), f"{prefix}classes/f1/")

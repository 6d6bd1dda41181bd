"""What of an evaluation stands where: in an MLflow run, and in a folder."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from evalreport.core.json_codec import dumps, encode
from evalreport.core.result import Estimate, Provenance
from evalreport.data.labels import Multiclass
from evalreport.evaluation.evaluation import CLASS_KEYS, Evaluation
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
from evalreport.page.evaluation_terms import whole_sweep
from evalreport.page.payload import (
    CLASSES_TABLE,
    EVALUATION,
    METRICS_TABLE,
    PAGE,
    ROWS,
    THRESHOLDS_TABLE,
    UNIT_TAG,
    VERSION_TAG,
    Payload,
    content_digest,
    in_run,
    keyed,
    metric_keys,
    objective_keys,
    split_json,
)
from evalreport.page.sections.confusions import BLOCKS_FROM
from evalreport.page.summary import described
from evalreport.thresholds.best_threshold import Optimum

PREFIX = "eval/"
MOST_CLASSES = 100
"""Classes with a metric of their own, those with most examples; all are in the table of classes."""
PASSING = ("made", "command", "tracking")
"""Parts of the provenance that differ from call to call without changing what is said: one server has many
addresses."""
LONGEST_VERDICT = 250
"""Characters of a tag that the verdict may take: columns of a run list show no more."""


def payload(
    ev: Evaluation,
    page: str,
    figures: Mapping[str, bytes],
    *,
    verdict: str,
    version: str,
    prefix: str = PREFIX,
    notes: str = "",
) -> Payload:
    """Return everything that is logged of an evaluation.

    Parameters
    ----------
    ev : Evaluation
    page : str
        The report, HTML.
    figures : mapping from file name to PNG
        See `in_run` for where they stand.
    verdict : str
        One sentence, plain text.
    version : str
        Of evalreport.
    prefix : str
        Of every metric key.
    notes : str
        Of the page, Markdown.
    """
    whole = encode(ev)
    more = {"notes": notes} if notes else {}
    digest = content_digest(lasting(whole), sorted(figures), verdict, version, prefix, more)
    keys = class_keys(ev, prefix)
    document = dumps({**whole, CLASS_KEYS: keys})
    images = {in_run(name): png for name, png in figures.items()}
    return Payload(
        digest=digest,
        metrics=metrics(ev, prefix, keys),
        series={prefix + key: series for key, series in grids(ev).items()},
        tags=_tags(ev, verdict, version),
        description=described(ev, PAGE),
        artifacts={PAGE: page.encode(), EVALUATION: document.encode(), **_rows(ev), **images},
        tables={path: split_json(table) for path, table in _tables(ev).items()},
        images={f"{prefix}{name.removesuffix('.png')}": png for name, png in figures.items()},
        model=ev.provenance.model,
    )


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
    known = {name: result for name, result in ev.metrics.items() if isinstance(result, Estimate)}
    found = keyed({name: result.value for name, result in known.items()}, prefix)
    ends = metric_keys(known, f"{prefix}ci/")
    for name, result in known.items():
        if result.low is not None and result.high is not None:
            found |= {f"{ends[name]}_low": result.low, f"{ends[name]}_high": result.high}
    if (
        ev.threshold is not None
        and isinstance(ev.threshold.value, float)
        and math.isfinite(ev.threshold.value)
    ):
        found[f"{prefix}threshold"] = ev.threshold.value
    found |= _best_thresholds(ev, prefix)
    found |= _gaps(ev, prefix)
    if ev.answers is not None:
        several = {"one": ev.answers.one, "majority": ev.answers.majority, "agreement": ev.answers.agreement}
        several |= {f"pass_at_{k}": result for k, result in ev.answers.pass_at.items()}
        known = {name: result for name, result in several.items() if isinstance(result, Estimate)}
        found |= {f"{prefix}answers/{name}": result.value for name, result in known.items()}
    for entry in ev.classes:
        f1 = entry.metrics.get("f1")
        if str(entry.label) in keys and isinstance(f1, Estimate):
            found[keys[str(entry.label)]] = f1.value
    return found


def _gaps(ev: Evaluation, prefix: str) -> dict[str, float]:
    """The greatest difference between the groups of each column, metric by metric."""
    known = {f"{one.metric} by {one.column}": one.difference for one in ev.disparities}
    gaps = keyed(known, f"{prefix}gaps/")
    return {key: gap.value for key, gap in gaps.items() if isinstance(gap, Estimate)}


def _best_thresholds(ev: Evaluation, prefix: str) -> dict[str, float]:
    optima = {} if ev.sweep is None else ev.sweep.optima
    best = {name: choice for name, choice in optima.items() if isinstance(choice, Optimum)}
    keys = objective_keys(best, f"{prefix}optima/")
    known = {name: found.threshold for name, found in best.items() if math.isfinite(found.threshold)}
    return {f"{keys[name]}_threshold": threshold for name, threshold in known.items()}


def class_keys(ev: Evaluation, prefix: str) -> dict[str, str]:
    """Return the key of each class that has a metric of its own: the hundred with most examples.

    Parameters
    ----------
    ev : Evaluation
    prefix : str
    """
    largest = sorted(ev.classes, key=lambda entry: -entry.support)[:MOST_CLASSES]
    return metric_keys((str(entry.label) for entry in largest), f"{prefix}classes/f1/")


def lasting(whole: Mapping[str, Any]) -> dict[str, Any]:
    """Return an encoded evaluation without what passes: the same for two calls that say the same."""
    provenance = {name: value for name, value in whole["provenance"].items() if name not in PASSING}
    return {**whole, "provenance": provenance}


def _tags(ev: Evaluation, verdict: str, version: str) -> dict[str, str]:
    tags = {VERSION_TAG: version, "evalreport.task": ev.task, "evalreport.verdict": verdict[:LONGEST_VERDICT]}
    if ev.provenance.unit != Provenance.unit:
        tags[UNIT_TAG] = ",".join(ev.provenance.unit)
    if ev.threshold is not None and isinstance(ev.threshold.value, float):
        tags["evalreport.threshold"] = f"{ev.threshold.value:.6g} ({ev.threshold.origin})"
    return tags


def _rows(ev: Evaluation) -> dict[str, bytes]:
    rows = {} if ev.parsing is None else predictions_table(ev)
    return {ROWS: as_parquet(rows)} if rows else {}


def _tables(ev: Evaluation) -> dict[str, dict[str, list[Any]]]:
    tables = {METRICS_TABLE: metrics_table(ev)}
    if ev.classes:
        tables[CLASSES_TABLE] = classes_table(ev)
    if ev.sweep is not None:
        tables[THRESHOLDS_TABLE] = thresholds_table(ev.sweep)
    return tables


def folder_files(ev: Evaluation, page: str, figures: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files of ``--out``: the page, the evaluation, figures and tables, all by their bare names.

    Parameters
    ----------
    ev : Evaluation
        With its predictions, `predictions.parquet` (row by row) and every threshold are among them.
    page : str
    figures : mapping from file name to PNG
    """
    files = {PAGE: page.encode(), "evaluation.json": ev.to_json().encode(), **figures}
    if ev.classes:
        files["classes.csv"] = as_csv(classes_table(ev))
    if ev.confusion is not None and isinstance(ev.space, Multiclass) and len(ev.space) > BLOCKS_FROM:
        files["confusions.csv"] = as_csv(confusions_table(ev.space, ev.confusion))
    sweep = whole_sweep(ev)
    if sweep is not None:
        files["thresholds.parquet"] = as_parquet(thresholds_table(sweep))
    rows = predictions_table(ev)
    if rows:
        files["predictions.parquet"] = as_parquet(rows)
    return files

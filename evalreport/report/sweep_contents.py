"""What of a sweep stands where: in an MLflow run, and in a folder."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeAlias, assert_never

from evalreport.codec import dumps, encode
from evalreport.evaluation.threshold_selection import ThresholdSelection, written
from evalreport.labels import Binary, Multiclass, Multilabel
from evalreport.provenance import Provenance
from evalreport.report.contents import LONGEST_VERDICT, PASSING, PREFIX
from evalreport.report.names import (
    FOLDER,
    OPTIMA_TABLE,
    SWEEP,
    SWEEP_PAGE,
    SWEEP_POINTS,
    SWEEP_TAGS,
    TRIALS_TABLE,
    VERSION_TAG,
)
from evalreport.report.payload import Payload, content_digest, split_json
from evalreport.report.summary import described
from evalreport.report.sweep_numbers import (
    chosen_metrics,
    chosen_series,
    chosen_tags,
    study_metrics,
    study_series,
    study_tags,
)
from evalreport.report.tables import Columns, as_csv, as_parquet, thresholds_table
from evalreport.study.judged import Study
from evalreport.thresholds.points import every_threshold
from evalreport.thresholds.sweep import Sweep

CHOICE = ("threshold", "low", "high", "apparent", "honest")


def trials_table(study: Study) -> Columns:
    """Return one row per trial, in the order of the study; what is not finite is null.

    Parameters
    ----------
    study : Study
    """
    trials = study.trials
    columns: Columns = {
        "trial": [trial.number for trial in trials.trials],
        "state": [trial.state for trial in trials.trials],
    }
    for at, goal in enumerate(trials.objectives):
        columns[f"values.{goal.name}"] = [
            _finite(trial.values[at]) if len(trial.values) > at else None for trial in trials.trials
        ]
    columns["tied_with_best"] = [trial.number in study.tied for trial in trials.trials]
    for column in trials.columns:
        number = column.kind == "number"
        given = [trial.params.get(column.name) for trial in trials.trials]
        columns[f"params.{column.name}"] = given if number else list(column.values)
    for name in ("started", "duration", "run_id"):
        columns[name] = [getattr(trial, name) for trial in trials.trials]
    return columns


def optima_table(chosen: ThresholdSelection) -> Columns:
    """Return one row per objective: the threshold with its interval, its value here and elsewhere.

    Parameters
    ----------
    chosen : ThresholdSelection
    """
    rows = [written(found) for found in chosen.found.values()]
    columns: Columns = {"objective": list(chosen.found)}
    for name in CHOICE:
        columns[name] = [row[name] for row in rows]
    ends = [row.get("honest_estimate") or row.get("honest_coverage") or {} for row in rows]
    for end in ("low", "high"):
        columns[f"honest_{end}"] = [row.get(end) for row in ends]
    for name in ("honest_method", "reason"):
        columns[name] = [row.get(name) for row in rows]
    return columns


def labels_table(chosen: ThresholdSelection) -> Columns:
    """Return one row per label, and for each objective its threshold (or weight); none is null.

    Parameters
    ----------
    chosen : ThresholdSelection
    """
    columns: Columns = {"label": list(chosen.evaluation.space.names)}
    for name, tuned in chosen.tuned.items():
        columns[name] = [_finite(tuned.values[label]) for label in columns["label"]]
    return columns


def points_table(chosen: ThresholdSelection) -> Columns:
    """Return one row per threshold with its counts: of the score, of each label, or of the confidence.

    Without the predictions at hand there are no rows of labels or of confidence.

    Parameters
    ----------
    chosen : ThresholdSelection
    """
    ev = chosen.evaluation
    if isinstance(ev.space, Binary):
        return {} if chosen.whole is None else thresholds_table(chosen.whole)
    sweeps = {} if ev.predictions is None else every_threshold(ev.predictions)
    match ev.space:
        case Multilabel():
            return _of_labels({name: thresholds_table(sweep) for name, sweep in sweeps.items()})
        case Multiclass():
            return _of_confidence(sweeps[""]) if sweeps else {}
        case never:
            assert_never(never)


def _of_labels(tables: Mapping[str, Columns]) -> Columns:
    columns: Columns = {"label": [name for name, table in tables.items() for _ in table["threshold"]]}
    for table in tables.values():
        for name, values in table.items():
            columns.setdefault(name, []).extend(values)
    return columns if tables else {}


def _of_confidence(sweep: Sweep) -> Columns:
    """Right and wrong answers from each confidence on."""
    answered, weight = sweep.tp + sweep.fp, sweep.positives + sweep.negatives
    columns = {"answered": answered, "right": sweep.tp, "wrong": sweep.fp, "coverage": answered / weight}
    shares = [right / n if n else None for right, n in zip(sweep.tp.tolist(), answered.tolist(), strict=True)]
    named = {name: values.tolist() for name, values in columns.items()}
    return {"confidence": [_finite(at) for at in sweep.thresholds.tolist()], **named, "accuracy": shares}


def _finite(value: Any) -> Any:
    return value if not isinstance(value, float) or math.isfinite(value) else None


CARDS = ("sweep_thresholds.png", "sweep_history.png", "sweep_front.png")
"""Figures that are cards among the charts of MLflow, a run below the other; all are files in the run."""

Swept: TypeAlias = Study | ThresholdSelection


def sweep_payload(
    swept: Swept,
    page: str,
    figures: Mapping[str, bytes],
    *,
    verdict: str,
    version: str,
    prefix: str = PREFIX,
    notes: str = "",
) -> Payload:
    """Return everything that is logged of a sweep.

    Parameters
    ----------
    swept : Study or ThresholdSelection
    page : str
        HTML.
    figures : mapping from file name to PNG
    verdict : str
        One sentence, plain text.
    version : str
        Of evalreport.
    prefix : str
        Of every metric key.
    notes : str
        Of the page.
    """
    origin = provenance_of(swept)
    lasting = {name: value for name, value in encode(origin).items() if name not in PASSING}
    tags = study_tags(swept) if isinstance(swept, Study) else chosen_tags(swept)
    return Payload(
        digest=content_digest(encode(swept), lasting, sorted(figures), verdict, version, prefix, notes),
        metrics=study_metrics(swept, prefix) if isinstance(swept, Study) else chosen_metrics(swept, prefix),
        series=study_series(swept, prefix) if isinstance(swept, Study) else chosen_series(swept, prefix),
        tags={VERSION_TAG: version, f"{SWEEP_TAGS}verdict": verdict[:LONGEST_VERDICT], **tags},
        description=described(swept, SWEEP_PAGE),
        artifacts={
            SWEEP_PAGE: page.encode(),
            SWEEP: dumps(swept).encode(),
            **_points_of_run(swept),
            **{f"{FOLDER}/{name}": png for name, png in figures.items()},
        },
        tables={path: split_json(table) for path, table in _tables_of_run(swept).items()},
        images={f"{prefix}{name.removesuffix('.png')}": figures[name] for name in CARDS if name in figures},
        part="sweep",
    )


def sweep_files(swept: Swept, page: str, figures: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files of ``--out``: the page, all that is known as JSON, figures and tables.

    Parameters
    ----------
    swept : Study or ThresholdSelection
    page : str
    figures : mapping from file name to PNG
    """
    files = {SWEEP_PAGE: page.encode(), "sweep.json": dumps(swept).encode(), **figures}
    if isinstance(swept, Study):
        return {**files, "trials.csv": as_csv(trials_table(swept))}
    files["optima.csv"] = as_csv(optima_table(swept))
    if swept.tuned:
        files["labels.csv"] = as_csv(labels_table(swept))
    return files | {name.rpartition("/")[2]: data for name, data in _points_of_run(swept).items()}


def provenance_of(swept: Swept) -> Provenance:
    """Return where a sweep comes from."""
    return swept.provenance if isinstance(swept, Study) else swept.evaluation.provenance


def _points_of_run(swept: Swept) -> dict[str, bytes]:
    columns = {} if isinstance(swept, Study) else points_table(swept)
    return {SWEEP_POINTS: as_parquet(columns)} if columns else {}


def _tables_of_run(swept: Swept) -> dict[str, dict[str, list[Any]]]:
    if isinstance(swept, Study):
        return {TRIALS_TABLE: trials_table(swept)}
    return {OPTIMA_TABLE: optima_table(swept)}

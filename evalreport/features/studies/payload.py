"""What MLflow is told of a sweep: chosen thresholds, or the best trial, and what they reach.

What of a sweep stands where: in an MLflow run, and in a folder.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from itertools import islice
from typing import Any, TypeAlias, assert_never

import numpy as np

from evalreport.core.json_codec import dumps, encode
from evalreport.core.result import Estimate, Provenance, Undefined
from evalreport.curves.curve import Curve
from evalreport.curves.multiclass import MulticlassCurves
from evalreport.data.labels import Binary, Multiclass, Multilabel
from evalreport.evaluation.threshold_selection import ThresholdSelection, written
from evalreport.features.studies.study import Study
from evalreport.features.studies.trial import is_number
from evalreport.page.contents import LONGEST_VERDICT, MOST_CLASSES, PASSING, PREFIX
from evalreport.page.csv_tables import PERCENT, Columns, as_csv, as_parquet, at, series_of, thresholds_table
from evalreport.page.payload import (
    FOLDER,
    LONGEST_TAG,
    OPTIMA_TABLE,
    SWEEP,
    SWEEP_PAGE,
    SWEEP_POINTS,
    SWEEP_TAGS,
    TRIALS_TABLE,
    VERSION_TAG,
    Payload,
    Series,
    content_digest,
    keyed,
    metric_keys,
    objective_keys,
    split_json,
)
from evalreport.page.summary import described
from evalreport.thresholds.best_threshold import Cutoff, Optimum, Tuned
from evalreport.thresholds.sweep import Sweep
from evalreport.thresholds.sweep_rows import every_threshold

Made = Optimum | Cutoff | Tuned


def chosen_metrics(chosen: ThresholdSelection, prefix: str) -> dict[str, float]:
    """Return the chosen thresholds, their limits, and what they reach here and elsewhere.

    Parameters
    ----------
    chosen : ThresholdSelection
    prefix : str
    """
    names = objective_keys(chosen.found, f"{prefix}sweep/")
    found: dict[str, float | None] = {}
    for name, best in chosen.optima.items():
        found |= _of_threshold(names[name], best.threshold, best.low, best.high)
        found[f"{names[name]}_apparent"] = best.apparent
    for name, cut in chosen.cutoffs.items():
        found |= _of_threshold(names[name], cut.threshold, cut.low, cut.high)
        found[f"{names[name]}_coverage"] = cut.coverage
    for name, tuned in chosen.tuned.items():
        found[f"{names[name]}_apparent"] = tuned.apparent
        found |= _of_labels(chosen, tuned, f"{names[name]}/")
    whole: Mapping[str, Made] = {**chosen.optima, **chosen.cutoffs, **chosen.tuned}
    for name, made in whole.items():
        value = None if made.out_of_sample is None else made.out_of_sample.value
        if isinstance(value, Estimate):
            found[f"{names[name]}_honest"] = value.value
            found[f"{names[name]}_honest_low"] = value.low
            found[f"{names[name]}_honest_high"] = value.high
    return {key: value for key, value in found.items() if value is not None and math.isfinite(value)}


def _of_threshold(
    start: str, threshold: float, low: float | None, high: float | None
) -> dict[str, float | None]:
    key = f"{start}_threshold"
    return {key: threshold, f"{key}_low": low, f"{key}_high": high}


def _of_labels(chosen: ThresholdSelection, tuned: Tuned, start: str) -> dict[str, float]:
    """The number of each label, of those with most examples."""
    largest = sorted(chosen.evaluation.classes, key=lambda entry: -entry.support)[:MOST_CLASSES]
    return keyed({str(entry.label): tuned.values[str(entry.label)] for entry in largest}, start)


def chosen_series(chosen: ThresholdSelection, prefix: str) -> dict[str, Series]:
    """Return the value of each objective by threshold and by share flagged, on integer percents.

    Parameters
    ----------
    chosen : ThresholdSelection
    prefix : str
    """
    names = objective_keys(chosen.found)
    found: dict[str, Series] = {}
    sweep = chosen.whole
    for name, objective in chosen.objectives.items() if sweep is not None else ():
        assert sweep is not None  # noqa: S101  asked in the line above
        at_share = sweep.at(_thresholds_by_share(sweep))
        found[f"{prefix}sweep/{names[name]}_by_flagged_pct"] = series_of(objective.value(at_share))
        if chosen.evaluation.score_kind == "probability":
            at_threshold = sweep.at(PERCENT / 100)
            found[f"{prefix}sweep/{names[name]}_by_threshold_pct"] = series_of(objective.value(at_threshold))
    for name, series in chosen.common.items():
        found[f"{prefix}sweep/{names[name]}_by_common_threshold_pct"] = series
    curves = chosen.evaluation.curves
    if chosen.cutoffs and isinstance(curves, MulticlassCurves) and isinstance(curves.coverage, Curve):
        found[f"{prefix}sweep/accuracy_by_coverage_pct"] = series_of(at(curves.coverage, PERCENT / 100))
    return {key: series for key, series in found.items() if series}


def _thresholds_by_share(sweep: Sweep) -> Any:
    """The lowest threshold that flags no more than each percent of the rows."""
    flagged = (sweep.tp + sweep.fp) / (sweep.positives + sweep.negatives)
    places = np.searchsorted(-flagged, -PERCENT / 100 - 1e-12, side="left")
    return sweep.thresholds[np.minimum(places, len(sweep) - 1)]


def chosen_tags(chosen: ThresholdSelection) -> dict[str, str]:
    """Return each chosen threshold as text, with how it was chosen; of several labels, all as JSON.

    Parameters
    ----------
    chosen : ThresholdSelection
    """
    names = objective_keys(chosen.found, f"{SWEEP_TAGS}threshold/")
    how = "chosen on other rows" if chosen.tuned_on else "cross-fitted"
    single: Mapping[str, Optimum | Cutoff] = {**chosen.optima, **chosen.cutoffs}
    tags = {names[name]: f"{best.threshold:.6g} ({how})" for name, best in single.items()}
    for name, tuned in chosen.tuned.items():
        shown = {label: at if math.isfinite(at) else None for label, at in tuned.values.items()}
        tags[names[name]] = json.dumps(shown, ensure_ascii=False)
    return {key: text for key, text in tags.items() if len(text) <= LONGEST_TAG}


MOST_PARAMS = 50
"""Parameters of the best trial that get a tag of their own; all are in `sweep.json`."""


def study_metrics(study: Study, prefix: str) -> dict[str, float]:
    """Return the best value of each objective, its luck, and the best trial's numbers.

    Parameters
    ----------
    study : Study
    prefix : str

    Examples
    --------
    >>> from evalreport.features.studies.trials import Trials
    >>> found = study_metrics(Study(Trials.from_records([{"value": 0.5}], objectives="f1")), "")
    >>> found["sweep/best/f1"], found["sweep/n_trials"]
    (0.5, 1.0)
    """
    trials, start = study.trials, f"{prefix}sweep/"
    goals = [goal.name for goal in trials.objectives]
    found = {f"{start}n_trials": float(len(trials)), f"{start}n_complete": float(len(trials.contenders))}
    if trials.counts["infeasible"]:
        found[f"{start}n_infeasible"] = float(trials.counts["infeasible"])
    found |= keyed({goal: trials.best(goal).values[at] for at, goal in enumerate(goals)}, f"{start}best/")
    ends = metric_keys(goals, "/") if study.several else {goals[0]: ""}
    for one in study.each:
        found |= _luck(one, start, ends[one.objective.name])
    if study.several:
        found[f"{start}n_front"] = float(len(trials.pareto()))
    drawn = study.best.params
    numbers = {name: float(str(value)) for name, value in drawn.items() if is_number(value)}
    return found | keyed(dict(islice(numbers.items(), MOST_PARAMS)), f"{start}best_param/")


def _luck(study: Study, start: str, end: str) -> dict[str, float]:
    """Of one objective: how lucky its best is, and what mattered for it."""
    found: dict[str, float] = {}
    if not isinstance(study.curse, Undefined):
        found |= {
            f"{start}optimism{end}": study.curse.optimism,
            f"{start}corrected{end}": study.curse.corrected,
            f"{start}n_tied{end}": float(len(study.curse.tied)),
        }
    if not isinstance(study.importance, Undefined):
        found |= keyed(dict(study.importance.shares[:MOST_PARAMS]), f"{start}importance{end}/")
    return found


def study_series(study: Study, prefix: str) -> dict[str, Series]:
    """Return the best value so far by percent of the trials, so that sweeps of any length overlay.

    Parameters
    ----------
    study : Study
    prefix : str

    Examples
    --------
    >>> from evalreport.features.studies.trials import Trials
    >>> rows = [{"value": 0.5}, {"value": 0.4}, {"value": 0.7}]
    >>> series = study_series(Study(Trials.from_records(rows, objectives="f1")), "")
    >>> dict(series["sweep/best_so_far_by_trials_pct/f1"])[100]
    0.7
    """
    names = [goal.name for goal in study.trials.objectives]
    keys = metric_keys(names, f"{prefix}sweep/best_so_far_by_trials_pct/")
    found: dict[str, Series] = {}
    for name, key in keys.items():
        course = study.trials.history(name)
        done = [course[max(math.ceil(share * len(course) / 100), 1) - 1].best for share in PERCENT.tolist()]
        found[key] = tuple((step, best) for step, best in enumerate(done) if best is not None)
    return found


def study_tags(study: Study) -> dict[str, str]:
    """Return the best trial and its parameters as text, whole and one by one.

    Parameters
    ----------
    study : Study
    """
    best = study.best
    params = {name: str(value) for name, value in islice(best.params.items(), MOST_PARAMS)}
    tags = {f"{SWEEP_TAGS}best_trial": str(best.number), **keyed(params, f"{SWEEP_TAGS}best/")}
    if study.several:
        tags[f"{SWEEP_TAGS}front"] = ", ".join(str(trial.number) for trial in study.trials.pareto())
    tags[f"{SWEEP_TAGS}best_params"] = json.dumps(dict(best.params), ensure_ascii=False)
    return {key: text for key, text in tags.items() if len(text) <= LONGEST_TAG}


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
    for index, goal in enumerate(trials.objectives):
        columns[f"values.{goal.name}"] = [
            _finite(trial.values[index]) if len(trial.values) > index else None for trial in trials.trials
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
            return _sweep_contents_of_labels(
                {name: thresholds_table(sweep) for name, sweep in sweeps.items()}
            )
        case Multiclass():
            return _of_confidence(sweeps[""]) if sweeps else {}
        case never:
            assert_never(never)


def _sweep_contents_of_labels(tables: Mapping[str, Columns]) -> Columns:
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

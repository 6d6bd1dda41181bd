"""Chosen thresholds as they are shown, written and logged, with the rows of their sweep."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar, assert_never

import numpy as np

from evalreport import __version__
from evalreport.core.format import threshold as threshold_text
from evalreport.core.json_codec import encode
from evalreport.core.result import Estimate, Result, Undefined, value_and_interval
from evalreport.curves.class_curves import MulticlassCurves
from evalreport.curves.curve import Curve
from evalreport.data.labels import Binary, Multiclass, Multilabel, Task
from evalreport.data.predictions import Predictions
from evalreport.data.scores import NoScores
from evalreport.evaluation.evaluation import ThresholdSelection, encode_choice
from evalreport.page.csv_tables import (
    PERCENT,
    Columns,
    as_csv,
    as_parquet,
    interpolate_curve,
    series_of,
    thresholds_table,
)
from evalreport.page.elements import Section
from evalreport.page.evaluation_terms import objective_style, objective_title
from evalreport.page.payload import (
    LONGEST_TAG,
    LONGEST_VERDICT,
    MOST_CLASSES,
    OPTIMA_TABLE,
    PASSING,
    SWEEP,
    SWEEP_PAGE,
    SWEEP_POINTS,
    SWEEP_TAGS,
    Presentation,
    Series,
    objective_keys,
    with_metric_keys,
)
from evalreport.page.sections import appendix, choices, chosen_thresholds, curves, label_table, threshold
from evalreport.page.text_summary import MOST_FINDINGS, ResultSummary, title
from evalreport.statistics.score_table import ScoreTable
from evalreport.thresholds.best_threshold import Cutoff, Optimum, Tuned
from evalreport.thresholds.cross_fitting import answers
from evalreport.thresholds.sweep import Sweep, scores_of_rows

MOST = 1_000_000
"""Thresholds of all labels together that are kept; above it those of each label are thinned."""


def every_threshold(rows: Predictions) -> Mapping[str, Sweep]:
    """Return the counts at every threshold, by label where each label has its own.

    Parameters
    ----------
    rows : Predictions

    Returns
    -------
    mapping from label to Sweep
        Multilabel: of each label, thinned where all of them together have more than a million
        thresholds; the optima of the labels stay the same. Otherwise one sweep under an empty name: binary
        of the score; multiclass of the confidence, where a positive is a correct prediction. Empty without
        scores, and for a multiclass problem without probabilities.

    Examples
    --------
    >>> from evalreport.data.predictions import predictions
    >>> from evalreport.data.scores import Probabilities
    >>> scores = Probabilities([[0.2, 0.7], [0.6, 0.3], [0.1, 0.2]])
    >>> found = every_threshold(predictions(Multilabel("ab"), [["b"], ["a"], []], scores=scores))
    >>> {label: sweep.tp.tolist() for label, sweep in found.items()}
    {'a': [1.0, 1.0, 1.0, 0.0], 'b': [1.0, 1.0, 1.0, 0.0]}
    """
    if isinstance(rows.scores, NoScores):
        return {}
    match rows.space:
        case Binary():
            return {"": Sweep.from_table(scores_of_rows(rows))}
        case Multiclass():
            found = answers(rows)
            return {} if isinstance(found, Undefined) else {"": Sweep.from_table(scores_of_rows(found))}
        case Multilabel():
            return _sweep_each_label(rows)
        case never:
            assert_never(never)


def _sweep_each_label(rows: Predictions) -> dict[str, Sweep]:
    assert not isinstance(rows.scores, NoScores)  # noqa: S101  asked before
    weights, scores, truth = rows.weights if rows.weighted else None, rows.scores.values, rows.y_true
    found: dict[str, Sweep] = {}
    for place, name in enumerate(rows.space.names):
        sweep = Sweep.from_table(
            ScoreTable.from_scores(scores[:, place], truth[:, place].astype(bool), weights)
        )
        found[name] = (
            sweep if scores.size <= MOST else sweep.thin(max(MOST // len(rows.space), 300))
        )  # 300: both grids of `thin`, and bends
    return found


R = TypeVar("R")
PANELS: Mapping[Task, tuple[Callable[[ThresholdSelection], Section | None], ...]] = {
    "binary": (
        chosen_thresholds.verdict_section,
        lambda found: threshold.threshold_section(found.evaluation, found.optima, found.whole),
        chosen_thresholds.course,
        choices.thresholds_at_prevalence_section,
        lambda found: curves.curves_section(found.evaluation),
    ),
    "multiclass": (
        chosen_thresholds.verdict_section,
        chosen_thresholds.cutoffs,
        chosen_thresholds.bounds,
        lambda found: choices.cutoff_section(found.evaluation, found.cutoffs.values()),
        chosen_thresholds.tuned_section,
        chosen_thresholds.labels_section,
        chosen_thresholds.searches,
    ),
    "multilabel": (
        chosen_thresholds.verdict_section,
        chosen_thresholds.bounds,
        chosen_thresholds.tuned_section,
        chosen_thresholds.labels_section,
        chosen_thresholds.searches,
        lambda found: label_table.micro_section(found.evaluation),
    ),
}
"""Sections of each task in the order of the page; one that does not apply returns None."""


class SweepPresentation(Presentation[R]):
    """The base of the pages of thresholds and of studies."""

    page_name = SWEEP_PAGE
    document = SWEEP
    noun = "sweep"
    part = "sweep"
    cards = ("sweep_thresholds.png", "sweep_history.png", "sweep_front.png")

    def lasting(self) -> tuple[Any, ...]:
        """Return the values that the digest covers."""
        origin: Any = self.of
        origin = {name: value for name, value in encode(origin.provenance).items() if name not in PASSING}
        return (
            self.encoded_result,
            origin,
            sorted(self.figures),
            self.headline,
            __version__,
            self.prefix,
            self.notes,
        )

    def tags(self) -> dict[str, str]:
        """Return the tags of a run."""
        return {f"{SWEEP_TAGS}verdict": self.headline[:LONGEST_VERDICT]}


class SelectionPresentation(SweepPresentation[ThresholdSelection]):
    """The page of chosen thresholds."""

    @property
    def title(self) -> str:
        """Title of the page."""
        p = self.of.provenance
        return f"{p.title or p.run_name or 'Thresholds'}: thresholds"

    @cached_property
    def headline(self) -> str:
        """The headline as plain text."""
        return chosen_thresholds.headline(self.of).text

    def sections(self) -> Sequence[Section]:
        """Return the sections of the page, the first screen first."""
        made = [panel(self.of) for panel in PANELS[self.of.evaluation.task]]
        made.append(appendix.provenance_section(self.of.evaluation))
        return [section for section in made if section is not None]

    def summary(self) -> ResultSummary:
        """Return the choice of each objective with its held-out estimate."""
        found = self.of
        values: list[tuple[str, str, str, Result | None]] = []
        for name, best in found.optima.items():
            value = None if best.out_of_sample is None else best.out_of_sample.value
            values.append((name, threshold_text(best.threshold), best.metric, value))
        for name, cut in found.cutoffs.items():
            values.append((name, threshold_text(cut.threshold), "accuracy", cut.out_of_sample.kept))
        for name, chosen in found.tuned_choices.items():
            values.append((name, f"{len(chosen.values)} values", name, chosen.out_of_sample.value))
        return ResultSummary(
            self.headline,
            title(found.evaluation),
            ("Chosen for", "Threshold", "Held-out", f"{found.evaluation.sampling.level * 100:g}% interval"),
            tuple(
                (objective_title(name), at, *value_and_interval(value, objective_style(metric)))
                for name, at, metric, value in values
            ),
            found.doubts[:MOST_FINDINGS],
        )

    @cached_property
    def figures(self) -> Mapping[str, bytes]:
        """Each objective over the threshold, where there is a single score."""
        from evalreport import figures

        single = self.of.evaluation.sweep is not None  # thresholds of labels are of several scores
        shown = single and any(math.isfinite(best.threshold) for best in self.of.optima.values())
        return {"sweep_thresholds.png": figures.png(figures.objective_curves(self.of))} if shown else {}

    def headline_metrics(self) -> dict[str, float]:
        """Return the threshold of each objective, and its held-out estimate."""
        every = self.metrics()
        stems = objective_keys(self.of.found, f"{self.prefix}sweep/").values()
        keys = [f"{stem}_{name}" for stem in stems for name in ("threshold", "held_out")]
        return {key: every[key] for key in keys if key in every}

    def metrics(self) -> dict[str, float]:
        """Return the chosen thresholds with their intervals, and their values here and on held-out data."""
        chosen, prefix = self.of, self.prefix
        names = objective_keys(chosen.found, f"{prefix}sweep/")
        found: dict[str, float | None] = {}
        for name, best in chosen.optima.items():
            found |= _of_threshold(names[name], best.threshold, best.low, best.high)
            found[f"{names[name]}_apparent"] = best.apparent
        for name, cut in chosen.cutoffs.items():
            found |= _of_threshold(names[name], cut.threshold, cut.low, cut.high)
            found[f"{names[name]}_coverage"] = cut.coverage
        for name, tuned in chosen.tuned_choices.items():
            found[f"{names[name]}_apparent"] = tuned.apparent
            found |= _of_labels(chosen, tuned, f"{names[name]}/")
        whole: Mapping[str, Optimum | Cutoff | Tuned] = {
            **chosen.optima,
            **chosen.cutoffs,
            **chosen.tuned_choices,
        }
        for name, made in whole.items():
            value = None if made.out_of_sample is None else made.out_of_sample.value
            if isinstance(value, Estimate):
                found[f"{names[name]}_held_out"] = value.value
                found[f"{names[name]}_held_out_low"] = value.low
                found[f"{names[name]}_held_out_high"] = value.high
        return {key: value for key, value in found.items() if value is not None and math.isfinite(value)}

    def series(self) -> dict[str, Series]:
        """Return the value of each objective by threshold and by flagged proportion, on integer percents."""
        chosen, prefix = self.of, self.prefix
        names = objective_keys(chosen.found)
        found: dict[str, Series] = {}
        sweep = chosen.whole
        for name, objective in chosen.objectives.items() if sweep is not None else ():
            assert sweep is not None  # noqa: S101  asked in the line above
            at_share = sweep.counts_at_threshold(_thresholds_by_share(sweep))
            found[f"{prefix}sweep/{names[name]}_by_flagged_pct"] = series_of(objective.value(at_share))
            if chosen.evaluation.score_kind == "probability":
                at_threshold = sweep.counts_at_threshold(PERCENT / 100)
                found[f"{prefix}sweep/{names[name]}_by_threshold_pct"] = series_of(
                    objective.value(at_threshold)
                )
        for name, series in chosen.common.items():
            found[f"{prefix}sweep/{names[name]}_by_common_threshold_pct"] = series
        curves = chosen.evaluation.curves
        if chosen.cutoffs and isinstance(curves, MulticlassCurves) and isinstance(curves.coverage, Curve):
            found[f"{prefix}sweep/accuracy_by_coverage_pct"] = series_of(
                interpolate_curve(curves.coverage, PERCENT / 100)
            )
        return {key: series for key, series in found.items() if series}

    def tags(self) -> dict[str, str]:
        """Return the verdict; with `log_all` each chosen threshold as well, those of labels as JSON."""
        chosen = self.of
        if not self.log_all:
            return super().tags()
        names = objective_keys(chosen.found, f"{SWEEP_TAGS}threshold/")
        how = "chosen on other rows" if chosen.tuned_on else "cross-fitted"
        single: Mapping[str, Optimum | Cutoff] = {**chosen.optima, **chosen.cutoffs}
        tags = {names[name]: f"{best.threshold:.6g} ({how})" for name, best in single.items()}
        for name, tuned in chosen.tuned_choices.items():
            shown = {label: at if math.isfinite(at) else None for label, at in tuned.values.items()}
            tags[names[name]] = json.dumps(shown, ensure_ascii=False)
        return super().tags() | {key: text for key, text in tags.items() if len(text) <= LONGEST_TAG}

    def artifacts(self) -> dict[str, bytes]:
        """Return every threshold with its counts."""
        columns = points_table(self.of)
        return {SWEEP_POINTS: as_parquet(columns)} if columns else {}

    def tables(self) -> dict[str, dict[str, list[Any]]]:
        """Return the tables that MLflow shows, by their path."""
        return {OPTIMA_TABLE: optima_table(self.of)}

    def exports(self) -> dict[str, bytes]:
        """Return the choices as CSV, and every threshold."""
        labels = {"labels.csv": as_csv(labels_table(self.of))} if self.of.tuned_choices else {}
        points = {path.rpartition("/")[2]: data for path, data in self.artifacts().items()}
        return {"optima.csv": as_csv(optima_table(self.of)), **labels, **points}


def _of_threshold(
    start: str, threshold: float, low: float | None, high: float | None
) -> dict[str, float | None]:
    key = f"{start}_threshold"
    return {key: threshold, f"{key}_low": low, f"{key}_high": high}


def _of_labels(chosen: ThresholdSelection, tuned: Tuned, start: str) -> dict[str, float]:
    """The threshold or weight of each label, of those with most examples."""
    largest = sorted(chosen.evaluation.classes, key=lambda entry: -entry.support)[:MOST_CLASSES]
    return with_metric_keys({str(entry.label): tuned.values[str(entry.label)] for entry in largest}, start)


def _thresholds_by_share(sweep: Sweep) -> Any:
    """The lowest threshold that flags no more than each percent of the rows."""
    flagged = (sweep.tp + sweep.fp) / (sweep.positives + sweep.negatives)
    places = np.searchsorted(-flagged, -PERCENT / 100 - 1e-12, side="left")
    return sweep.thresholds[np.minimum(places, len(sweep) - 1)]


CHOICE = ("threshold", "low", "high", "apparent", "held_out")


def optima_table(chosen: ThresholdSelection) -> Columns:
    """Return one row per objective: the threshold with its interval, its value here and held-out.

    Parameters
    ----------
    chosen : ThresholdSelection
    """
    rows = [encode_choice(found) for found in chosen.found.values()]
    columns: Columns = {"objective": list(chosen.found)}
    for name in CHOICE:
        columns[name] = [row[name] for row in rows]
    ends = [row.get("held_out_estimate") or row.get("held_out_coverage") or {} for row in rows]
    for end in ("low", "high"):
        columns[f"held_out_{end}"] = [row.get(end) for row in ends]
    for name in ("held_out_method", "reason"):
        columns[name] = [row.get(name) for row in rows]
    return columns


def labels_table(chosen: ThresholdSelection) -> Columns:
    """Return one row per label, and for each objective its threshold (or weight); none is null.

    Parameters
    ----------
    chosen : ThresholdSelection
    """
    columns: Columns = {"label": list(chosen.evaluation.space.names)}
    for name, tuned in chosen.tuned_choices.items():
        columns[name] = [finite(tuned.values[label]) for label in columns["label"]]
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
            return _of_labels_together({name: thresholds_table(sweep) for name, sweep in sweeps.items()})
        case Multiclass():
            return _of_confidence(sweeps[""]) if sweeps else {}
        case never:
            assert_never(never)


def _of_labels_together(tables: Mapping[str, Columns]) -> Columns:
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
    return {"confidence": [finite(at) for at in sweep.thresholds.tolist()], **named, "accuracy": shares}


def finite(value: Any) -> Any:
    """Return a value, or None for a number that is not finite."""
    return value if not isinstance(value, float) or math.isfinite(value) else None

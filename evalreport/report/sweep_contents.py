"""What of a sweep stands where: in an MLflow run, and in a folder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from evalreport.codec import dumps, encode
from evalreport.evaluation.threshold_selection import ThresholdSelection
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
from evalreport.report.study_numbers import study_metrics, study_series, study_tags
from evalreport.report.summary import described
from evalreport.report.sweep_tables import labels_table, optima_table, points_table, trials_table
from evalreport.report.tables import as_csv, as_parquet
from evalreport.report.threshold_numbers import chosen_metrics, chosen_series, chosen_tags
from evalreport.study.judged import Study

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
            **_points(swept),
            **{f"{FOLDER}/{name}": png for name, png in figures.items()},
        },
        tables={path: split_json(table) for path, table in _tables(swept).items()},
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
    return files | {name.rpartition("/")[2]: data for name, data in _points(swept).items()}


def provenance_of(swept: Swept) -> Provenance:
    """Return where a sweep comes from."""
    return swept.provenance if isinstance(swept, Study) else swept.evaluation.provenance


def _points(swept: Swept) -> dict[str, bytes]:
    columns = {} if isinstance(swept, Study) else points_table(swept)
    return {SWEEP_POINTS: as_parquet(columns)} if columns else {}


def _tables(swept: Swept) -> dict[str, dict[str, list[Any]]]:
    if isinstance(swept, Study):
        return {TRIALS_TABLE: trials_table(swept)}
    return {OPTIMA_TABLE: optima_table(swept)}

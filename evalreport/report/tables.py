"""Tables of an evaluation as plain columns, for MLflow's table view, for CSV and for Parquet."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from evalreport.codec import encode
from evalreport.evaluation.model import Evaluation
from evalreport.evaluation.parts import ClassResult
from evalreport.facts import Counts
from evalreport.labels import UNPARSED, Multiclass, Multilabel
from evalreport.metrics.catalogue import find
from evalreport.parsing.outcomes import REASONS, text_digest
from evalreport.thresholds.objectives import Objective
from evalreport.thresholds.sweep import Sweep
from evalreport.values import Undefined

Columns: TypeAlias = dict[str, list[Any]]

PER_CLASS = ("f1", "recall", "precision", "roc_auc", "average_precision")
WITH_INTERVAL = PER_CLASS[:3]
_FORMULA = re.compile(r"^[\s\0]*[=+\-@＝＋－＠\t\r]")


def metrics_table(ev: Evaluation) -> Columns:
    """Return one row per metric: its value, interval, how that was made, and why there is none.

    MLflow's table view groups by the first column and compares the second across runs.

    Parameters
    ----------
    ev : Evaluation
    """
    columns: Columns = {"metric": list(ev.metrics)}
    rows = [encode(result) for result in ev.metrics.values()]
    for name in ("value", "low", "high"):
        columns[name] = [row[name] for row in rows]
    columns["no_skill"] = [ev.no_skill.get(name) for name in ev.metrics]
    for name in ("n", "method", "reason"):
        columns[name] = [row[name] for row in rows]
    columns["title"] = [find(name, ev.task).title for name in ev.metrics]
    return columns


def classes_table(ev: Evaluation) -> Columns:
    """Return one row per label: metrics with intervals, counts, state, what it is mistaken for.

    No rows for a binary problem: its two labels are the metrics themselves.

    Parameters
    ----------
    ev : Evaluation
    """
    columns: Columns = {"label": [str(entry.label) for entry in ev.classes]}
    for name in PER_CLASS:
        columns[name] = [_of(entry, name, "value") for entry in ev.classes]
    for name in ("support", "predicted", "state"):
        columns[name] = [getattr(entry, name) for entry in ev.classes]
    for name in WITH_INTERVAL:
        for end in ("low", "high"):
            columns[f"{name}_{end}"] = [_of(entry, name, end) for entry in ev.classes]
    columns["mistaken_for"] = [_mistaken(entry) for entry in ev.classes]
    return columns


def _of(entry: ClassResult, name: str, part: str) -> float | None:
    result = entry.metrics.get(name)
    return None if result is None or isinstance(result, Undefined) else getattr(result, part)


def _mistaken(entry: ClassResult) -> str:
    named = ("(not readable)" if other.label is None else str(other.label) for other in entry.confusions)
    return ", ".join(f"{name} {other.weight:g}" for name, other in zip(named, entry.confusions, strict=True))


def confusions_table(space: Multiclass, counts: Counts) -> Columns:
    """Return one row per mix-up, the most frequent first: truth, answer, weight; an unread answer is null.

    Parameters
    ----------
    space : Multiclass
    counts : Counts
    """
    cells, answers = counts.mix_ups, (*space.names, None)
    return {
        "truth": [space.names[code] for code in counts.rows[cells].tolist()],
        "answer": [answers[code] for code in counts.columns[cells].tolist()],
        "weight": counts.weight[cells].tolist(),
    }


def thresholds_table(sweep: Sweep) -> Columns:
    """Return one row per threshold: F1, precision, recall and the four counts; infinity is null.

    Parameters
    ----------
    sweep : Sweep
    """
    counts = sweep.counts
    columns: Columns = {"threshold": _numbers(sweep.thresholds)}
    for name in ("f1", "precision", "recall"):
        columns[name] = _numbers(Objective(name).value(counts))
    for name in ("tp", "fp", "fn", "tn"):
        columns[name] = _numbers(getattr(counts, name))
    return columns


def _numbers(values: Any) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in values.tolist()]


def predictions_table(ev: Evaluation) -> Columns:
    """Return one row per example: id, truth, prediction, whether it was right, and why it was not read.

    Labels read from text also have the digest of the text, never the text itself. Multilabel truth and
    predictions are lists of labels. Without predictions at hand there are no rows.

    Parameters
    ----------
    ev : Evaluation
    """
    p = ev.predictions
    if p is None:
        return {}
    ids = [str(row) for row in range(len(p))] if p.ids is None else p.ids.tolist()
    columns: Columns = {"example_id": ids, "y_true": _labels(ev, p.y_true)}
    if p.y_pred is None:
        return {
            **columns,
            "y_pred": [None] * len(p),
            "status": ["undecided"] * len(p),
            "reason": [""] * len(p),
        }
    same = p.y_true == p.y_pred
    right = same.all(axis=1) if same.ndim == 2 else same
    unread = [False] * len(p) if same.ndim == 2 else (p.y_pred == UNPARSED).tolist()
    columns["y_pred"] = _labels(ev, p.y_pred)
    columns["status"] = [
        "unparsed" if lost else "right" if good else "wrong"
        for lost, good in zip(unread, right.tolist(), strict=True)
    ]
    reasons = [0] * len(p) if p.parsed is None else p.parsed.reasons.tolist()
    columns["reason"] = [REASONS[reason] for reason in reasons]
    if p.parsed is not None:
        columns["text_digest"] = [text_digest(text) for text in p.parsed.texts]
    return columns


def _labels(ev: Evaluation, codes: Any) -> list[Any]:
    names = [str(label) for label in ev.space.labels]
    if isinstance(ev.space, Multilabel):
        return [[names[code] for code in row.nonzero()[0]] for row in codes]
    return [None if code == UNPARSED else names[code] for code in codes.tolist()]


def as_csv(columns: Mapping[str, Sequence[Any]]) -> bytes:
    """Return columns as CSV that no spreadsheet takes for formulas; numbers stay numbers.

    Text that begins like a formula gets an apostrophe before it.

    Examples
    --------
    >>> as_csv({"label": ["=1+1", "a,b"], "f1": [-0.5, None]}).decode().split()
    ['label,f1', "'=1+1,-0.5", '"a,b",']
    """
    return csv_rows([list(columns), *map(list, zip(*columns.values(), strict=True))])


def csv_rows(rows: Iterable[Sequence[Any]]) -> bytes:
    """Return rows as CSV, as `as_csv` does."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)  # lines end in CR LF, so that a CR inside a text is quoted
    writer.writerows(map(_cell, row) for row in rows)
    return stream.getvalue().encode("utf-8", "replace")


def _cell(value: Any) -> Any:
    if isinstance(value, str) and _FORMULA.match(value):
        return "'" + value
    return value


def as_parquet(columns: Mapping[str, Sequence[Any]]) -> bytes:
    """Return columns as a Parquet file.

    Examples
    --------
    >>> as_parquet({"y_true": ["a"]})[:4]
    b'PAR1'
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    stream = io.BytesIO()
    pq.write_table(pa.table({name: list(column) for name, column in columns.items()}), stream)
    return stream.getvalue()

"""Problems with one label per row: a column of labels, scores, or answers still to be read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from evalreport.errors import DataError, UsageError
from evalreport.labels import Binary, LabelSpace, distinct_labels
from evalreport.sources.request import Columns
from evalreport.sources.shapes.extras import text_column
from evalreport.sources.shapes.join import Rows
from evalreport.sources.shapes.layout import (
    Array,
    Parts,
    RawScores,
    aligned,
    never_scored,
    raw_scores,
    taken,
    used,
)
from evalreport.sources.shapes.roles import Part, pred_part, score_part
from evalreport.sources.shapes.spaces import labels_of, like, single_label


def find_single(rows: Rows, truth: Part, request: Columns, file: str) -> Parts:
    """Find labels and scores of a binary or multiclass problem.

    Raises
    ------
    ColumnNotFoundError, UsageError, DataError
    """
    if truth.labels:
        raise UsageError(
            f"{truth.shown} hold one column per label, which makes a multilabel problem",
            fix="leave --task out, or name the column of labels with --truth",
        )
    pred = None if request.text and not request.pred else pred_part(rows.names, request, truth, file)
    y_true = _labels(rows.truth, truth)
    y_pred = None if pred is None else _labels(rows.columns, pred)
    known = {str(label) for label in (*distinct_labels(y_true), *(request.labels or ()))}
    part = score_part(rows.names, request, known, file)
    text = text_column(rows, request, pred is not None or part is not None, file)
    found = single_label(y_true, y_pred, () if part is None else part.labels, request, text is not None)
    scored, note = _usable(part, found.space, request)
    raw = None if scored is None else _named_like(raw_scores(rows, scored, request.score_kind), found.space)
    scores, lost = (None, ()) if raw is None else _scores(raw, found.space)
    kind = None if raw is None else raw.kind
    return Parts(
        found.space,
        found.y_true,
        found.y_pred,
        scores,
        kind,
        text,
        taken(truth, pred, scored, kind),
        tuple(filter(None, (found.note, note, *never_scored(lost)))),
        used(truth, pred, scored),
    )


def _labels(columns: Mapping[str, Array], part: Part) -> Array:
    if part.labels:
        raise UsageError(
            f"{part.shown} hold one column per label, which makes a multilabel problem",
            fix="pass --task multilabel, or name one column of labels",
        )
    return labels_of(columns[part.columns[0]], part.columns[0])


def _usable(part: Part | None, space: LabelSpace, request: Columns) -> tuple[Part | None, str]:
    """Return the scores if they can rank these labels: one plain column cannot rank three."""
    if part is None or part.labels or isinstance(space, Binary):
        return part, ""
    if request.score is None:
        return None, f"{part.shown} is one score column for {len(space)} labels and was not used"
    raise DataError(
        f"one score column cannot rank {len(space)} labels",
        where=f"column {part.shown!r}",
        fix="name one score column per label, as in --scores 'proba_*'",
    )


def _named_like(raw: RawScores, space: LabelSpace) -> RawScores:
    """Write the labels of score columns as the labels are written: ``1.0`` as ``1``."""
    labels = (str(like(label, space.labels, "score column for label")) for label in raw.labels)
    return replace(raw, labels=tuple(labels))


def _scores(raw: RawScores, space: LabelSpace) -> tuple[Array, tuple[str, ...]]:
    """Return scores of shape (n,) for P(positive), else (n, labels)."""
    if not isinstance(space, Binary) or len(raw.labels) > 1:
        return aligned(raw, space.names)
    if raw.labels and raw.labels[0] != str(space.positive):
        raise UsageError(
            f"the scores are of {raw.labels[0]}, and the positive label is {space.positive}",
            where=f"labels {space.names[0]} and {space.names[1]}",
            fix=f"pass --positive {raw.labels[0]}, or name the score column of {space.positive} with --score",
        )
    return raw.values[:, 0], ()

"""The forest table of the first screen: which metrics, and what each is in plain words."""

from __future__ import annotations

from dataclasses import replace

from evalreport.evaluation.model import Evaluation
from evalreport.format import Style
from evalreport.labels import Binary, Multiclass, Multilabel
from evalreport.panels.about import (
    confidence_percent,
    is_text,
    metric,
    missed,
    negative,
    positive,
    units,
    unread,
)
from evalreport.panels.parts import Forest, ForestRow, forest_row
from evalreport.panels.words import Value, say
from evalreport.values import Estimate

ROWS = 7
"""Most rows of the table."""
TOP = 8
"""Classes from which on the right answer among the top three says something."""

Entry = tuple[str, str, str, Style]
"""Name, title, gloss, style of a metric."""


def forest(ev: Evaluation) -> Forest:
    """Return the headline metrics with interval and no-skill value."""
    rows = [_row(ev, *entry) for entry in _entries(ev)[:ROWS]]
    return Forest(tuple(rows), heads=("Metric", "Estimate", f"{confidence_percent(ev)} interval", "No-skill"))


def _row(ev: Evaluation, name: str, title: str, gloss: str, style: Style) -> ForestRow:
    words = say(gloss, _names(ev), units=units(ev))
    result = metric(ev, name)
    row = forest_row(name, title, words, result, style, reference=ev.no_skill.get(name))
    return replace(row, missed=missed(ev.space.task, name, result))


def _names(ev: Evaluation) -> dict[str, Value]:
    names: dict[str, Value] = {"unread": unread(ev), "rows": ev.weight}
    if isinstance(ev.space, Binary):
        names |= {"positives": positive(ev), "negatives": negative(ev)}
    return names


def _entries(ev: Evaluation) -> tuple[Entry, ...]:
    match ev.space:
        case Binary():
            return _binary(ev)
        case Multiclass():
            return _multiclass(ev)
        case Multilabel():
            return _multilabel(ev)


def _binary(ev: Evaluation) -> tuple[Entry, ...]:
    decisions: tuple[Entry, ...] = (
        ("recall", "Recall", "{positives} found (sensitivity)", "percent"),
        ("specificity", "Specificity", "{negatives} left alone", "percent"),
        ("precision", "Precision", "alarms that were real (PPV)", "percent"),
    )
    ranking: tuple[Entry, ...] = (
        ("roc_auc", "ROC AUC", "ranks {positives} above {negatives}", "ratio"),
        ("average_precision", "Average precision", "area under precision–recall", "ratio"),
    )
    agreement: tuple[Entry, ...] = (("mcc", "MCC", "balanced agreement at this threshold", "ratio"),)
    brier: tuple[Entry, ...] = (("brier", "Brier score", "probability error, lower is better", "ratio"),)
    if ev.score_kind is None:
        rest: tuple[Entry, ...] = (
            ("f1", "F1", "precision and recall in one number", "ratio"),
            ("balanced_accuracy", "Balanced accuracy", "mean of recall and specificity", "percent"),
            ("accuracy", "Accuracy", "{units} called right", "percent"),
        )
        text: tuple[Entry, ...] = (_READ,) if is_text(ev) else ()
        return (*decisions, *text, rest[0], *agreement, *rest[2:], *rest[1:2])
    return (
        *(decisions if ev.confusion is not None else ()),
        *ranking,
        *(agreement if ev.confusion is not None else ()),
        *(brier if ev.score_kind != "decision" else ()),
    )


_READ: Entry = ("parse_rate", "Readable answers", "exactly one label found", "percent")


def _multiclass(ev: Evaluation) -> tuple[Entry, ...]:
    top: tuple[Entry, ...] = ()
    if len(ev.space) >= TOP and isinstance(metric(ev, "top_3_accuracy"), Estimate):
        top = (("top_3_accuracy", "Top-3 accuracy", "right label among three best", "percent"),)
    text: tuple[Entry, ...] = ()
    gloss = "{units} labelled right"
    if is_text(ev):
        gloss = "unreadable answers count as wrong"
        text = (("accuracy_parsed", "Accuracy, readable only", "{units} with a readable answer", "percent"),)
    return (
        ("accuracy", "Accuracy, all " + units(ev) if is_text(ev) else "Accuracy", gloss, "percent"),
        *text,
        *top,
        ("f1_macro", "Macro F1", "every class counts the same", "ratio"),
        ("balanced_accuracy", "Balanced accuracy", "mean recall over classes", "ratio"),
        ("mcc", "MCC", "agreement beyond chance", "ratio"),
        *((_READ,) if is_text(ev) else ()),
    )


def _multilabel(ev: Evaluation) -> tuple[Entry, ...]:
    decisions: tuple[Entry, ...] = (
        ("f1_micro", "Micro F1", "every label decision counts the same", "ratio"),
        ("f1_macro", "Macro F1", "every label counts the same", "ratio"),
        ("precision_micro", "Precision", "added labels that belong (micro)", "percent"),
        ("recall_micro", "Recall", "labels found (micro)", "percent"),
        ("subset_accuracy", "Exact match", "{units} with every label right", "percent"),
        ("label_accuracy", "Label accuracy", "single yes-or-no label decisions right", "percent"),
    )
    ranking: tuple[Entry, ...] = (
        ("average_precision_samples", "Ranking precision", "true labels ranked on top (LRAP)", "ratio"),
    )
    undecided: tuple[Entry, ...] = (
        ("average_precision_macro", "Macro average precision", "ranks rows for each label", "ratio"),
        ("roc_auc_macro", "Macro ROC AUC", "ranks rows that carry a label above those that do not", "ratio"),
    )
    ranks = ranking if ev.score_kind is not None else ()
    return (*decisions, *ranks) if ev.classes else (*undecided, *ranks)

"""The forest table of the first screen: which metrics, and what each is in plain words."""

from __future__ import annotations

from dataclasses import replace

from evalreport.evaluation.model import Evaluation
from evalreport.findings.chance import by_order
from evalreport.labels import Binary, Multiclass, Multilabel
from evalreport.metrics.catalogue import find
from evalreport.metrics.named_sets import OF_ORDER
from evalreport.metrics.record import Better
from evalreport.panels.about import confidence_percent, is_text, metric, tell, unread
from evalreport.panels.intervals import Forest, ForestRow, forest_row, magnified
from evalreport.values import Estimate

ROWS = 7
"""Most rows of the table."""
AXIS = 1000
"""Units of the axis of a row."""
TOP = 8
"""Classes from which on the right answer among the top three says something."""

Entry = tuple[str, str]
"""Name and gloss of a metric; its title and how it is shown are the catalogue's."""


def forest(ev: Evaluation) -> Forest:
    """Return the headline metrics with interval and no-skill value."""
    rows = [_row(ev, *entry) for entry in _entries(ev)[:ROWS]]
    heads = ("Metric", "Estimate", f"{confidence_percent(ev)} interval", "No-skill")
    return magnified(Forest(tuple(rows), heads=heads))


def _row(ev: Evaluation, name: str, gloss: str) -> ForestRow:
    words = tell(ev, gloss, unread=unread(ev), rows=ev.weight)
    result, known = metric(ev, name), find(name, ev.task)
    row = forest_row(name, known.title, words, result, known.style, reference=ev.no_skill.get(name))
    return replace(row, missed=ev.off_coverage.get(name, ""), lucky=_lucky(known.better, row.zero))


def _lucky(better: Better, no_skill: float | None) -> tuple[float, float] | None:
    """The part of the axis that a model which knows nothing reaches, too."""
    match better:
        case "higher" if no_skill:
            return 0, no_skill
        case "lower" if no_skill is not None:
            return no_skill, AXIS
        case _:
            return None


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
        ("recall", "{positives} found"),
        ("specificity", "{negatives} left alone"),
        ("precision", "alarms that were real"),
    )
    ranking: tuple[Entry, ...] = (
        ("roc_auc", "ranks {positives} above {negatives}"),
        ("average_precision", "area under precision–recall"),
    )
    agreement: tuple[Entry, ...] = (("mcc", "balanced agreement at this threshold"),)
    brier: tuple[Entry, ...] = (("brier", "probability error, lower is better"),)
    if ev.score_kind is None:
        rest: tuple[Entry, ...] = (
            ("f1", "precision and recall in one number"),
            ("balanced_accuracy", "mean of recall and specificity"),
            ("accuracy", "{units} called right"),
        )
        text: tuple[Entry, ...] = (_READ,) if is_text(ev) else ()
        return (*decisions, *text, rest[0], *agreement, *rest[2:], *rest[1:2])
    return (
        *(decisions if ev.confusion is not None else ()),
        *ranking,
        *(agreement if ev.confusion is not None else ()),
        *(brier if ev.score_kind != "decision" else ()),
    )


_READ: Entry = ("parse_rate", "exactly one label found")


def _multiclass(ev: Evaluation) -> tuple[Entry, ...]:
    top: tuple[Entry, ...] = ()
    if len(ev.space) >= TOP and isinstance(metric(ev, "top_3_accuracy"), Estimate):
        top = (("top_3_accuracy", "right label among three best"),)
    glosses = (
        "agreement by distance in the order",
        "steps from the true label, lower is better",
        "error of the cumulative probabilities, lower is better",
    )
    order: tuple[Entry, ...] = ()
    if by_order(ev) is not None:
        known = zip(OF_ORDER, glosses, strict=True)
        order = tuple(entry for entry in known if isinstance(metric(ev, entry[0]), Estimate))
    text: tuple[Entry, ...] = ()
    gloss = "{units} labelled right"
    if is_text(ev):
        gloss = "unreadable answers count as wrong"
        text = (("accuracy_parsed", "{units} with a readable answer"),)
    return (
        *order,
        ("accuracy", gloss),
        *text,
        *top,
        ("f1_macro", "every class counts the same"),
        ("balanced_accuracy", "mean recall over classes"),
        ("mcc", "agreement beyond chance"),
        *((_READ,) if is_text(ev) else ()),
    )


def _multilabel(ev: Evaluation) -> tuple[Entry, ...]:
    decisions: tuple[Entry, ...] = (
        ("f1_micro", "every label decision counts the same"),
        ("f1_macro", "every label counts the same"),
        ("precision_micro", "added labels that belong"),
        ("recall_micro", "labels found"),
        ("subset_accuracy", "{units} with every label right"),
        ("label_accuracy", "single yes-or-no label decisions right"),
    )
    ranking: tuple[Entry, ...] = (("average_precision_samples", "true labels ranked on top"),)
    undecided: tuple[Entry, ...] = (
        ("average_precision_macro", "ranks rows for each label"),
        ("roc_auc_macro", "ranks rows that carry a label above those that do not"),
    )
    ranks = ranking if ev.score_kind is not None else ()
    return (*decisions, *ranks) if ev.classes else (*undecided, *ranks)

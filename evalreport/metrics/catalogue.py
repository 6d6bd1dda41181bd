"""Named sets of metrics for each table, summary and page, by task.

Listing a metric here adds it to a table. Code that makes the table uses the set, not metric names.

The catalogue: every metric of every task, in order.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from itertools import chain

from evalreport.core.errors import UsageError, nearest
from evalreport.core.extensions import load_extensions
from evalreport.data.labels import Binary, LabelSpace, Task
from evalreport.metrics import binary_decisions, binary_probability, binary_ranking, multiclass, multilabel
from evalreport.metrics.operating_points import operating_point
from evalreport.metrics.own import Direction, add_own_names, is_own, own_metric
from evalreport.metrics.record import Metric, Proportion, lacks, one_vs_rest
from evalreport.statistics.class_scores import RankedScores
from evalreport.statistics.confusion import BinaryCounts
from evalreport.statistics.summary import RowSums, Summary

HEADLINE: Mapping[str, tuple[str, ...]] = {
    "binary": ("recall", "specificity", "precision", "roc_auc", "average_precision", "mcc", "brier"),
    "multiclass": ("accuracy", "top_3_accuracy", "f1_macro", "balanced_accuracy", "mcc"),
    "multilabel": (
        "f1_micro",
        "f1_macro",
        "precision_micro",
        "recall_micro",
        "subset_accuracy",
        "average_precision_samples",
    ),
    "text": ("accuracy", "accuracy_parsed", "f1_macro", "mcc", "parse_rate"),
    "graded": ("pass_rate", "mean_score", "pass_rate_graded", "no_grade_rate"),
}
"""The first table of a report; ``text`` for labels read from text."""
COMPARED: Mapping[str, tuple[str, ...]] = {
    "binary": (*HEADLINE["binary"], "f1", "accuracy", "balanced_accuracy", "log_loss"),
    "multiclass": (*HEADLINE["multiclass"], "f1_weighted", "log_loss", "brier"),
    "multilabel": (*HEADLINE["multilabel"], "label_accuracy", "roc_auc_macro", "average_precision_macro"),
    "text": HEADLINE["text"],
    "graded": ("pass_rate", "mean_score", "no_grade_rate"),
}
"""The table that compares runs."""
DESCRIBED: Mapping[Task, tuple[str, ...]] = {
    "binary": ("recall", "specificity", "precision", "f1", "roc_auc", "average_precision", "brier"),
    "multiclass": ("accuracy", "balanced_accuracy", "f1_macro", "mcc", "top_3_accuracy", "log_loss"),
    "multilabel": ("f1_micro", "f1_macro", "f1_samples", "subset_accuracy", "hamming_loss", "roc_auc_macro"),
    "graded": HEADLINE["graded"],
}
"""The table in the description of an MLflow run; undefined metrics are omitted."""
LOGGED: Mapping[Task, tuple[str, ...]] = {
    "binary": ("recall", "specificity", "precision", "f1", "roc_auc", "average_precision", "mcc", "brier"),
    "multiclass": (
        "accuracy",
        "f1_macro",
        "balanced_accuracy",
        "top_3_accuracy",
        "mcc",
        "log_loss",
        "ece",
    ),
    "multilabel": ("subset_accuracy", "label_accuracy", "f1_micro", "f1_macro", "average_precision_macro"),
    "graded": HEADLINE["graded"],
}
"""The metrics that are logged to MLflow by default, as far as they are defined."""
LOGGED_OF_TEXT = ("parse_rate",)
"""What is logged as well where labels are parsed from text."""
OF_CHOICES: Mapping[str, str] = {
    "missed": "recall",
    "false positives": "specificity",
    "ranking": "roc_auc",
    "labels": "f1_micro",
    "sets": "subset_accuracy",
    "rows": "accuracy",
    "class": "f1",
}
"""What runs are chosen by for a purpose."""
LOSSES: Mapping[str, tuple[str, ...]] = {
    "binary": ("brier", "log_loss"),
    "multiclass": ("log_loss", "brier"),
}
"""What compares probabilities, the first one that every run has."""
WITHOUT_PREDICTION = ("n_unparsed", "n_ambiguous")
"""Rows of text without a prediction."""
SAME: Mapping[Task, Mapping[str, str]] = {
    "binary": {},
    "multiclass": {
        "precision_micro": "accuracy",
        "recall_micro": "accuracy",
        "f1_micro": "accuracy",
        "recall_weighted": "accuracy",
        "recall_macro": "balanced_accuracy",
    },
    "multilabel": {},
    "graded": {},
}
"""Averages that equal another metric unless labels are missing; only the other is logged where they do."""
PRIMARY: Mapping[Task, tuple[str, ...]] = {
    "binary": ("roc_auc", "mcc", "accuracy"),
    "multiclass": ("accuracy", "roc_auc_ovr_macro"),
    "multilabel": ("f1_micro", "average_precision_macro"),
    "graded": ("pass_rate", "mean_score"),
}
"""Primary metric of a comparison: the first one that every run has."""
ERROR_KINDS: Mapping[Task, tuple[str, ...]] = {
    "binary": ("recall", "specificity"),
    "multiclass": (),
    "multilabel": (),
    "graded": (),
}
"""Metrics of one kind of error over all rows; for multiclass, the recall of each class is used."""
CLIPPED = ("log_loss", "calibration_slope", "calibration_intercept")
"""Metrics that depend on the clipping of probabilities of exactly 0 and 1."""
OF_SLICES: Mapping[Task, tuple[str, ...]] = {
    "binary": ("recall", "specificity", "roc_auc", "f1"),
    "multiclass": ("accuracy", "f1_macro"),
    "multilabel": ("f1_micro", "subset_accuracy"),
    "graded": ("pass_rate", "mean_score"),
}
"""Metrics used to evaluate slices if they are defined, in order of priority."""
OF_CALIBRATION: Mapping[Task, tuple[str, ...]] = {
    "binary": ("observed_expected_ratio", "calibration_slope"),
    "multiclass": (),
    "multilabel": (),
    "graded": (),
}
"""Metrics used to evaluate the probabilities of a slice; the target is 1."""
OF_GROUPS: Mapping[Task, tuple[str, ...]] = {
    "binary": ("predicted_positive_rate", "recall", "fpr", "precision", "accuracy", "roc_auc"),
    "multiclass": ("accuracy", "f1_macro"),
    "multilabel": ("f1_micro", "subset_accuracy"),
    "graded": ("pass_rate", "mean_score"),
}
"""Metrics whose gap and ratio between groups are reported."""
OF_SWEEP: Mapping[Task, tuple[str, ...]] = {
    "binary": ("roc_auc", "average_precision"),
    "multiclass": ("accuracy",),
    "multilabel": ("precision_micro", "recall_micro", "average_precision_micro"),
    "graded": ("pass_rate",),
}
"""Metrics shown on the page of a threshold sweep."""
OF_RANKING: Mapping[Task, str] = {
    "binary": "roc_auc",
    "multiclass": "roc_auc_ovr_macro",
    "multilabel": "roc_auc_macro",
    "graded": "pass_rate",
}
"""Metric used to evaluate a ranking."""
OF_ORDER = ("cohen_kappa_quadratic", "mean_absolute_error", "ranked_probability_score")
"""Metrics of ordered grades: errors count by distance; the first metric is corrected for chance."""
BALANCED = "f1"
"""Default objective of a threshold; its value for predicting everything positive is shown next to it."""
OF_CLASS = ("precision", "recall", "f1", "roc_auc", "average_precision")
"""One-vs-rest metrics of each class or label."""
AT_THRESHOLDS = ("f1", "precision", "recall", "specificity", "mcc")
"""Metrics logged at each threshold if scores are probabilities."""
OF_FOUR = ("recall", "specificity", "precision", "npv", "f1", "predicted_positive_rate")
"""Metrics shown next to a binary confusion matrix, in this order."""
OF_ALL: Mapping[str, str] = {
    "precision_micro": "precision",
    "recall_micro": "recall",
    "f1_micro": "f1",
    "jaccard_micro": "jaccard",
    "label_accuracy": "accuracy",
}
"""Metrics of the summed counts of all labels, and the binary metric that each one applies to them."""


BINARY: tuple[Metric, ...] = (
    *binary_decisions.COUNTS,
    *binary_decisions.AGREEMENT,
    *binary_ranking.RANKING,
    *binary_probability.PROBABILITY,
)
MULTICLASS: tuple[Metric, ...] = (
    *multiclass.RIGHT,
    *multiclass.AVERAGES,
    *multiclass.AGREEMENT,
    *multiclass.PROBABILITIES,
    *multiclass.RANKING,
    *multiclass.COLLAPSE,
)
MULTILABEL: tuple[Metric, ...] = (
    *multilabel.SETS,
    *multilabel.AVERAGES,
    *multilabel.RANKING,
    *multilabel.SHAPE,
)
CORE: Mapping[Task, tuple[Metric, ...]] = {
    "binary": BINARY,
    "multiclass": MULTICLASS,
    "multilabel": MULTILABEL,
    "graded": (),
}


@cache
def added_metrics() -> tuple[Metric, ...]:
    """Return the metrics that features add: each adds a tuple of `Metric` to the point "metrics"."""
    return tuple(chain.from_iterable(load_extensions("metrics")))


def catalogue(space: LabelSpace, *, text: bool = False) -> tuple[Metric, ...]:
    """Return the metrics of a task, in order.

    Parameters
    ----------
    space : Binary, Multiclass or Multilabel
    text : bool
        Whether the labels were parsed from generated text; if so, the metrics that need text come first.

    Examples
    --------
    >>> from evalreport.data.labels import Multilabel
    >>> [metric.name for metric in catalogue(Multilabel(["a", "b"]))][:2]
    ['subset_accuracy', 'label_accuracy']
    """
    more = [metric for metric in added_metrics() if metric.task == space.task]
    of_text = [metric for metric in more if metric.needs == "text" and text]
    return (*of_text, *CORE[space.task], *(metric for metric in more if metric.needs != "text"))


def everything() -> tuple[Metric, ...]:
    """Return every record of every task, in order.

    Examples
    --------
    >>> len({(metric.task, metric.name) for metric in everything()}) == len(everything())
    True
    """
    return (*chain.from_iterable(CORE.values()), *added_metrics())


def find(name: str, task: Task | None = None) -> Metric:
    """Return the metric with a name.

    Parameters
    ----------
    name : str
    task : {"binary", "multiclass", "multilabel"}, optional
        Without it, the first of binary, multiclass and multilabel that has the name.

    A name with an ``@`` is an operating point: ``recall@fpr=0.02`` (see `operating_point`);
    a name with a colon is a user-defined function (see `own_metric`).

    Raises
    ------
    UsageError
        The metric does not exist; the error shows the nearest names.

    Examples
    --------
    >>> find("f1").title, find("log_loss", "multiclass").reads
    ('F1', 'tally')
    """
    if is_own(name):
        return own_metric(name)
    point = operating_point(name) if task in (None, "binary") else None
    if point is not None:
        return point
    for metrics in (*CORE.values(), None):  # features are loaded only if the core has no such name
        for metric in added_metrics() if metrics is None else metrics:
            if metric.name == name and task in (None, metric.task):
                return metric
    known = dict.fromkeys(metric.name for metric in everything() if task in (None, metric.task))
    raise UsageError(f"there is no {task + ' ' if task else ''}metric {name!r}", fix=nearest(name, known))


_OWN_NAME = re.compile(r"[A-Za-z]\w*(?:[.:][A-Za-z_]\w*)*")


def describe_own(names: Mapping[str, Direction]) -> None:
    """Make `find` return records for the names of own metrics.

    Raises
    ------
    UsageError
        A name is not an identifier, or the catalogue has a metric of that name.
    """
    known = {metric.name for metric in everything()} if names else set()
    for name in names:
        if name in known or not _OWN_NAME.fullmatch(name):
            why = "is a metric of the catalogue" if name in known else "is not a name"
            raise UsageError(
                f"{name!r} {why}", where="extra_metrics", fix='choose another name, such as "my_cost"'
            )
    add_own_names(names)


PER_CLASS: tuple[Metric, ...] = tuple(find(name, "binary") for name in OF_CLASS)
"""One-vs-rest metrics of each class or label."""


def one_label(summary: Summary, code: int) -> Summary:
    """Return the one-vs-rest statistics of one class or label, to which every binary metric applies.

    Parameters
    ----------
    summary : Summary
        The summary of a multiclass or multilabel problem.
    code : int
        Position of the label.

    Examples
    --------
    >>> import numpy as np
    >>> from evalreport.data.labels import Multiclass
    >>> from evalreport.statistics.confusion import Counts
    >>> counts = Counts.from_codes(np.array([0, 1, 1]), np.array([0, 1, 0]), 2)
    >>> whole = Summary(Multiclass(["a", "b"]), 3, 3.0, RowSums.from_rows({}, np.ones(3)), counts)
    >>> find("recall").compute_value(one_label(whole, 1))
    0.5
    """
    name = summary.space.names[code]
    counts, point = one_vs_rest(summary), summary.threshold
    if point is not None and isinstance(point.value, tuple):
        point = replace(point, value=point.value[code])
    return replace(
        summary,
        space=Binary(negative=f"not {name}", positive=name),
        tally=RowSums((), summary.tally.sums[:0], summary.tally.squares[:0], summary.tally.weight),
        counts=None if counts is None else BinaryCounts(*(float(part) for part in counts[code].parts)),
        scores=summary.scores.table(code) if isinstance(summary.scores, RankedScores) else None,
        confidence=None,
        bins=None,
        cardinality=None,
        together=None,
        threshold=point,
    )


def certain(metric: Metric, labels: int) -> bool:
    """Return whether a metric is 1 for every model, with this number of labels.

    Examples
    --------
    >>> certain(find("top_3_accuracy"), 3), certain(find("top_3_accuracy"), 4)
    (True, False)
    """
    return isinstance(metric.strategy, Proportion) and metric.strategy.certain >= labels


def telling(names: Iterable[str], space: LabelSpace) -> tuple[str, ...]:
    """Return the names of the metrics that depend on the model, with this number of labels.

    Examples
    --------
    >>> from evalreport.data.labels import Multiclass
    >>> telling(["accuracy", "top_3_accuracy"], Multiclass("abc"))
    ('accuracy',)
    """
    return tuple(name for name in names if not certain(find(name, space.task), len(space)))


def no_skill(metric: Metric, summary: Summary) -> float | None:
    """Return the no-skill level of a metric on these data; None if the level is not unique.

    Examples
    --------
    >>> import numpy as np
    >>> from evalreport.data.labels import Multiclass
    >>> from evalreport.statistics.confusion import Counts
    >>> counts = Counts.from_codes(np.array([0, 1, 1]), np.array([0, 1, 0]), 2)
    >>> no_skill(find("precision"), Summary(Binary(0, 1), 3, 3.0, RowSums.from_rows({}, np.ones(3)), counts))
    0.6666666666666666
    """
    if metric.no_skill is None or lacks(metric, summary) is not None:
        return None
    level = metric.no_skill(summary)
    return level if math.isfinite(level) else None

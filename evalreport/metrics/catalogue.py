"""The catalogue: every metric of every task, in order."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import assert_never

from evalreport.errors import UsageError, nearest
from evalreport.facts import BinaryCounts, Summary, Tally
from evalreport.facts.classes import RankedScores
from evalreport.labels import Binary, LabelSpace, Multiclass, Multilabel, Task
from evalreport.metrics.entries import (
    binary_agreement,
    binary_counts,
    binary_probability,
    binary_ranking,
    multiclass,
    multiclass_scores,
    multilabel,
    text,
)
from evalreport.metrics.entries.operating_points import operating_point
from evalreport.metrics.named_sets import OF_CLASS
from evalreport.metrics.record import Metric, lacks, one_vs_rest
from evalreport.metrics.strategies import Proportion

BINARY: tuple[Metric, ...] = (
    *binary_counts.COUNTS,
    *binary_agreement.AGREEMENT,
    *binary_ranking.RANKING,
    *binary_probability.PROBABILITY,
)
MULTICLASS: tuple[Metric, ...] = (
    *multiclass.RIGHT,
    *multiclass.AVERAGES,
    *multiclass.AGREEMENT,
    *multiclass_scores.PROBABILITIES,
    *multiclass_scores.RANKING,
    *multiclass.COLLAPSE,
)
MULTILABEL: tuple[Metric, ...] = (
    *multilabel.SETS,
    *multilabel.AVERAGES,
    *multilabel.RANKING,
    *multilabel.SHAPE,
)
TEXT: tuple[Metric, ...] = text.TEXT
"""What multiclass labels read from text have beside the multiclass list."""
TEXT_BINARY: tuple[Metric, ...] = text.TEXT_BINARY
"""The same beside the binary list."""


def catalogue(space: LabelSpace, *, text: bool = False) -> tuple[Metric, ...]:
    """Return the metrics of a task, in order.

    Parameters
    ----------
    space : Binary, Multiclass or Multilabel
    text : bool
        Whether the labels were read from generated text.

    Examples
    --------
    >>> [metric.name for metric in catalogue(Multilabel(["a", "b"]))][:2]
    ['subset_accuracy', 'label_accuracy']
    """
    match space:
        case Binary():
            return (*TEXT_BINARY, *BINARY) if text else BINARY
        case Multiclass():
            return (*TEXT, *MULTICLASS) if text else MULTICLASS
        case Multilabel():
            return MULTILABEL
        case never:
            assert_never(never)


def everything() -> tuple[Metric, ...]:
    """Return every record of every task, in order.

    Examples
    --------
    >>> len({(metric.task, metric.name) for metric in everything()}) == len(everything())
    True
    """
    return (*BINARY, *MULTICLASS, *MULTILABEL, *TEXT, *TEXT_BINARY)


def find(name: str, task: Task | None = None) -> Metric:
    """Return the metric of a name.

    Parameters
    ----------
    name : str
    task : {"binary", "multiclass", "multilabel"}, optional
        Without it, the first of binary, multiclass, multilabel that has the name.

    A name with an ``@`` is an operating point of the user's own: ``recall@fpr=0.02`` (see `operating_point`).

    Raises
    ------
    UsageError
        No such metric, with the nearest names.

    Examples
    --------
    >>> find("f1").title, find("log_loss", "multiclass").reads
    ('F1', 'tally')
    """
    point = operating_point(name) if task in (None, "binary") else None
    if point is not None:
        return point
    known = {metric.name: metric for metric in reversed(everything()) if task in (None, metric.task)}
    if name not in known:
        raise UsageError(
            f"there is no {task + ' ' if task else ''}metric {name!r}", fix=nearest(name, reversed(known))
        )
    return known[name]


PER_CLASS: tuple[Metric, ...] = tuple(find(name, "binary") for name in OF_CLASS)
"""What each class or label has against all others."""


def one_label(summary: Summary, code: int) -> Summary:
    """Return the facts of one class or label against all others, for which every binary metric is defined.

    Parameters
    ----------
    summary : Summary
        Of a multiclass or multilabel problem.
    code : int
        Position of the label.

    Examples
    --------
    >>> import numpy as np
    >>> from evalreport.facts import Counts
    >>> counts = Counts.of(np.array([0, 1, 1]), np.array([0, 1, 0]), 2)
    >>> whole = Summary(Multiclass(["a", "b"]), 3, 3.0, Tally.of({}, np.ones(3)), counts)
    >>> find("recall").of(one_label(whole, 1))
    0.5
    """
    name = summary.space.names[code]
    counts, point = one_vs_rest(summary), summary.threshold
    if point is not None and isinstance(point.value, tuple):
        point = replace(point, value=point.value[code])
    return replace(
        summary,
        space=Binary(negative=f"not {name}", positive=name),
        tally=Tally((), summary.tally.sums[:0], summary.tally.squares[:0], summary.tally.weight),
        counts=None if counts is None else BinaryCounts(*(float(part) for part in counts[code].parts)),
        scores=summary.scores.table(code) if isinstance(summary.scores, RankedScores) else None,
        confidence=None,
        bins=None,
        cardinality=None,
        together=None,
        threshold=point,
    )


def certain(metric: Metric, labels: int) -> bool:
    """Return whether a metric is 1 whatever the model, with so many labels.

    Examples
    --------
    >>> certain(find("top_3_accuracy"), 3), certain(find("top_3_accuracy"), 4)
    (True, False)
    """
    return isinstance(metric.strategy, Proportion) and metric.strategy.certain >= labels


def telling(names: Iterable[str], space: LabelSpace) -> tuple[str, ...]:
    """Return the names of the metrics that depend on the model, with so many labels.

    Examples
    --------
    >>> telling(["accuracy", "top_3_accuracy"], Multiclass("abc"))
    ('accuracy',)
    """
    return tuple(name for name in names if not certain(find(name, space.task), len(space)))


def no_skill(metric: Metric, summary: Summary) -> float | None:
    """Return the value of a model that knows nothing, on these data; None where there is no one such value.

    Examples
    --------
    >>> import numpy as np
    >>> from evalreport.facts import Counts
    >>> counts = Counts.of(np.array([0, 1, 1]), np.array([0, 1, 0]), 2)
    >>> no_skill(find("precision"), Summary(Binary(0, 1), 3, 3.0, Tally.of({}, np.ones(3)), counts))
    0.6666666666666666
    """
    if metric.no_skill is None or lacks(metric, summary) is not None:
        return None
    level = metric.no_skill(summary)
    return level if math.isfinite(level) else None

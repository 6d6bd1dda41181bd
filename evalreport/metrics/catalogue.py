"""The catalogue: every metric of every task, in order."""

from __future__ import annotations

from evalreport.errors import UsageError, nearest
from evalreport.labels import Task
from evalreport.metrics.entries.binary_agreement import AGREEMENT
from evalreport.metrics.entries.binary_counts import COUNTS
from evalreport.metrics.entries.binary_probability import PROBABILITY
from evalreport.metrics.entries.binary_ranking import RANKING
from evalreport.metrics.record import Metric

BINARY: tuple[Metric, ...] = (*COUNTS, *AGREEMENT, *RANKING, *PROBABILITY)


def find(name: str, task: Task | None = None) -> Metric:
    """Return the metric of a name.

    Parameters
    ----------
    name : str
    task : {"binary", "multiclass", "multilabel"}, optional
        Without it, the first task that has the name.

    Raises
    ------
    UsageError
        No such metric, with the nearest names.

    Examples
    --------
    >>> find("f1").title
    'F1'
    """
    known = {metric.name: metric for metric in reversed(BINARY) if task in (None, metric.task)}
    if name not in known:
        raise UsageError(f"there is no metric {name!r}", where=task or "", fix=nearest(name, known))
    return known[name]

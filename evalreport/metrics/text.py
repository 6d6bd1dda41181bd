"""Functions of the counts of answers read from generated text.

Each takes the `BinaryCounts` or `Marginals` of a text problem, where an answer that gave no label counts as
wrong.
"""

from __future__ import annotations

from typing import Any

from evalreport.facts import BinaryCounts, Marginals
from evalreport.metrics.record import divide


def n_unparsed(c: BinaryCounts | Marginals) -> Any:
    """Return the weight of answers from which no label could be read.

    >>> float(n_unparsed(BinaryCounts(tp=2, fp=1, fn=0, tn=0, unread=1)))
    1.0
    """
    return c.unparsed


def parse_rate(c: BinaryCounts | Marginals) -> Any:
    """Return the share of answers from which a label could be read, in [0, 1].

    >>> float(parse_rate(BinaryCounts(tp=2, fp=1, fn=0, tn=0, unread=1)))
    0.75
    """
    return divide(c.parsed, c.total)


def accuracy_parsed(c: BinaryCounts | Marginals) -> Any:
    """Return the share of right answers among those that could be parsed, in [0, 1]; NaN without any.

    >>> float(accuracy_parsed(BinaryCounts(tp=3, fp=1, fn=0, tn=0, unread=1)))
    0.75
    """
    return divide(c.right, c.parsed)

"""Metrics of labels read from generated text: an unparsed response counts as wrong.

Each function takes the `BinaryCounts` or `Marginals` of a problem with unparsed responses.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from evalreport.data.labels import Task
from evalreport.metrics.record import Metric, NoInterval, Proportion, divide
from evalreport.statistics.confusion import BinaryCounts, Marginals


def n_unparsed(c: BinaryCounts | Marginals) -> Any:
    """Return the weight of answers from which no label could be read.

    >>> float(n_unparsed(BinaryCounts(tp=2, fp=1, fn=0, tn=0, unread=1)))
    1.0
    """
    return c.unparsed_weight


def parse_rate(c: BinaryCounts | Marginals) -> Any:
    """Return the proportion of responses with a parsed label, in [0, 1].

    >>> float(parse_rate(BinaryCounts(tp=2, fp=1, fn=0, tn=0, unread=1)))
    0.75
    """
    return divide(c.parsed_weight, c.total)


def accuracy_parsed(c: BinaryCounts | Marginals) -> Any:
    """Return the accuracy among parsed responses, in [0, 1]; NaN without any.

    >>> float(accuracy_parsed(BinaryCounts(tp=3, fp=1, fn=0, tn=0, unread=1)))
    0.75
    """
    return divide(c.right, c.parsed_weight)


SOURCE = "this project: every answer counts"


def _records(task: Task) -> tuple[Metric, ...]:
    metric = partial(Metric, task=task, needs="text", reads="counts", low=0.0, source=SOURCE)
    return (
        metric(
            name="parse_rate",
            title="Parse rate",
            meaning="proportion of responses with a parsed label",
            formula="parsed responses / n",
            high=1.0,
            better="higher",
            strategy=Proportion(),
            function=parse_rate,
            use="next to every other metric: unparsed responses count as wrong",
            trap="depends on the parser as much as on the model: evaluate with your production parser",
        ),
        metric(
            name="n_unparsed",
            title="Unparsed responses",
            meaning="responses without exactly one label, the ambiguous ones included",
            formula="#(no label)",
            high=math.inf,
            better="lower",
            strategy=NoInterval(),
            function=n_unparsed,
            use="to see how many responses need inspection",
            trap="tools that drop these rows report the accuracy of fewer rows",
        ),
        metric(
            name="n_ambiguous",
            title="Ambiguous responses",
            meaning="responses with two different labels and no final one",
            formula="#(several labels, none final)",
            reads="tally",
            high=math.inf,
            better="lower",
            strategy=NoInterval(),
            function=lambda row_sums: row_sums.total("ambiguous"),
            undefined="it was not recorded why responses were not parsed",
            use="to see whether the prompt should ask for a final answer",
            trap="a part of the unparsed, not in addition to them",
        ),
        metric(
            name="accuracy_parsed",
            title="Accuracy of parsed responses",
            meaning="accuracy among responses with a label",
            formula="right responses / parsed responses",
            high=1.0,
            better="higher",
            strategy=Proportion(),
            function=accuracy_parsed,
            undefined="no response could be parsed",
            over="parsed_weight",
            use="to separate format failures from wrong labels: accuracy = accuracy_parsed * parse_rate",
            trap="flatters a model that refuses what is difficult: never read it alone",
        ),
    )


METRICS: tuple[Metric, ...] = (*_records("multiclass"), *_records("binary"))

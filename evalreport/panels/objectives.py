"""What an objective is called on a page."""

from __future__ import annotations

from evalreport.errors import UsageError
from evalreport.format import Style
from evalreport.metrics.catalogue import find
from evalreport.metrics.record import Metric

SIGNS = {">=": "≥", "<=": "≤", ">": ">", "<": "<"}
OWN = {"cost": "Cost per row", "net_benefit": "Net benefit per row"}
"""Objectives that are no metric of the catalogue, or another than the one of their name."""


def objective_title(name: str) -> str:
    """Return the title of an objective or metric; of one that is not known, its name.

    Examples
    --------
    >>> objective_title("f1_macro"), objective_title("recall[joy]>=0.95"), objective_title("module:gain")
    ('Macro F1', 'Recall (sensitivity) of joy ≥ 0.95', 'module:gain')
    """
    for sign, shown in SIGNS.items():
        metric, found, bound = name.rpartition(sign)
        if found:
            metric, _, label = metric.removesuffix("]").partition("[")
            return f"{objective_title(metric)}{label and f' of {label}'} {shown} {bound}"
    metric_of = metric_named(name)
    return OWN.get(name) or (name if metric_of is None else metric_of.title)


def metric_named(name: str) -> Metric | None:
    """Return the metric of a name, or None.

    Examples
    --------
    >>> metric_named("val_score") is None
    True
    """
    try:
        return find(name)
    except UsageError:
        return None


def objective_style(name: str) -> Style:
    """Return how values of an objective's metric are shown: as those of its metric, else as a number.

    Examples
    --------
    >>> objective_style("f1"), objective_style("recall"), objective_style("cost"), objective_style("m:gain")
    ('ratio', 'percent', 'number', 'number')
    """
    metric = None if name in OWN else metric_named(name)
    return "number" if metric is None else metric.style

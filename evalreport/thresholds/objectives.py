"""Objectives of thresholds: a metric, a cost, a net benefit, or a constraint with a metric to maximise.

Also the costs of predictions, and the rule of least expected cost.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.core.bounds import CLOSE, Bound, is_bound, number
from evalreport.core.errors import DataError, UsageError, nearest
from evalreport.data.scores import FloatArray
from evalreport.metrics.catalogue import BINARY, find
from evalreport.metrics.record import CurvePoint, Metric, divide
from evalreport.statistics.confusion import Array, BinaryCounts, Places


@dataclass(frozen=True, eq=False)
class CostMatrix:
    """The cost of each prediction for each true label; a gain is negative.

    Parameters
    ----------
    cells : array-like of shape (K, K)
        Rows are true labels, columns are predictions, both in the order of the labels.

    Raises
    ------
    DataError
        The matrix is not square, or a cost is not finite.

    Examples
    --------
    >>> costs = CostMatrix([[0, 1], [10, 0]])
    >>> costs.by_truth()
    array([ 1., 10.])
    """

    cells: npt.ArrayLike

    def __post_init__(self) -> None:
        try:
            cells = np.array(self.cells, dtype=np.float64)
        except (TypeError, ValueError):
            raise DataError("the costs are not numbers", where="costs", fix="pass a list of lists") from None
        if cells.ndim != 2 or cells.shape[0] != cells.shape[1] or not np.isfinite(cells).all():
            raise DataError(
                f"the cost matrix has shape {cells.shape}, or costs that are not finite",
                where="costs",
                fix="give one row per true label and one column per predicted label, all finite",
            )
        cells.flags.writeable = False
        object.__setattr__(self, "cells", cells)

    @property
    def array(self) -> Array:
        """The cells, shape (K, K)."""
        return np.asarray(self.cells)

    def extra(self) -> Array:
        """Return the cost of wrong predictions minus that of the right one, shape (K, K - 1)."""
        extra = self.array - self.array.diagonal()[:, None]
        apart: Array = extra[~np.eye(len(extra), dtype=bool)].reshape(len(extra), -1)
        return apart

    def by_truth(self) -> Array | None:
        """Return the cost of a wrong prediction for each true label, if it depends only on the true label.

        Then the costs separate: the label with the greatest probability times cost has the least expected
        cost (Elkan 2001). None if they do not, or if a wrong prediction costs no more than the right one.
        """
        extra = self.extra()
        # equal differences of the given costs can still differ by rounding
        same = np.allclose(extra, extra[:, :1], rtol=1e-12, atol=0)
        return extra[:, 0] if same and (extra > 0).all() else None

    def answers(self, probabilities: FloatArray) -> Places:
        """Return the label of least expected cost for each row (Bayes' rule), exact for true probabilities.

        Parameters
        ----------
        probabilities : float array of shape (n, K)

        Returns
        -------
        int array of shape (n,)

        Examples
        --------
        >>> CostMatrix([[0, 1], [10, 0]]).answers(np.array([[0.8, 0.2], [0.95, 0.05]]))
        array([1, 0])
        """
        answers: Places = (probabilities @ self.array).argmin(axis=1)
        return answers


def predict_weighted(probabilities: FloatArray, log_weights: Array) -> Places:
    """Return the label with the greatest weighted probability; of equal ones the first.

    Examples
    --------
    >>> predict_weighted(np.array([[0.6, 0.4]]), np.log([1.0, 2.0]))
    array([1])
    """
    answers: Places = (probabilities * np.exp(log_weights)).argmax(axis=1)
    return answers


_NAME_ONE = "pass a number, or an objective such as max-f1, youden, recall>=0.95 or cost:10"
METRICS: dict[str, Metric] = {metric.name: metric for metric in BINARY if metric.needs == "counts"}
"""Binary count metrics, which depend on the threshold; `net_benefit` has its own objective."""

WORDS = {"youden": "youden_j"}
"""Command-line aliases of metrics."""
WITH_NUMBERS = ("cost", "net_benefit")
"""Objectives with numbers after a colon, as in ``cost:10``."""
MISS = 10.0
"""Cost of a miss in false positives for `cost` without a number; a convention that shows the form, so that
users can pass their own."""
EVEN = 0.5
"""Default threshold probability of `net_benefit`: a miss and a false positive cost the same."""
_SPECIFIC = ("npv", "lr_negative")
"""Constrained metrics of the unflagged rows: of the thresholds that meet the constraint, the one with the
highest specificity is chosen."""
_POINTS = {"tpr at fpr": "fpr<=", "precision at recall": "recall>=", "recall at precision": "precision>="}
"""Constraints whose best threshold is that of an operating point."""
_PRECISE = ("recall", "fnr", "fn", "tp")
"""Constrained metrics of the positives: of thresholds that meet the constraint, the most precise is best."""


@dataclass(frozen=True)
class Costs:
    """The cost of each outcome, in any unit; a gain is negative.

    Examples
    --------
    >>> str(Costs(fn=10))
    'fp=1,fn=10,tp=0,tn=0'
    """

    fp: float = 1.0
    fn: float = 1.0
    tp: float = 0.0
    tn: float = 0.0

    def __str__(self) -> str:
        return ",".join(f"{name}={getattr(self, name):g}" for name in ("fp", "fn", "tp", "tn"))

    def mean(self, c: BinaryCounts) -> Any:
        """Return the mean cost per row."""
        spent = self.fp * c.fp + self.fn * c.fn + self.tp * c.tp + self.tn * c.tn
        return divide(spent, c.total)


@dataclass(frozen=True)
class Constraint(Bound):
    """A constraint on a binary count metric at a threshold.

    Examples
    --------
    >>> Constraint("recall", ">=", 0.95).key
    'recall>=0.95'
    """

    @property
    def kept_by_better(self) -> bool:
        """Whether more true positives and fewer false positives never violate it."""
        monotone = METRICS[self.metric].monotone
        return monotone == "always" or (monotone == "above 0" and self.number > 0)

    def margin(self, c: BinaryCounts) -> Any:
        """Return by how much the constraint is met (negative: violated; NaN: the metric is undefined)."""
        value = METRICS[self.metric].function(c)
        return value - self.number if self.demands == "high" else self.number - value

    def keeps(self, c: BinaryCounts) -> Any:
        """Return whether the constraint is met; equality, up to rounding, is enough unless it is strict."""
        margin = np.asarray(self.margin(c))
        return margin > CLOSE if self.strict else margin >= -CLOSE


@dataclass(frozen=True)
class Objective:
    """What a threshold is chosen for.

    Parameters
    ----------
    metric : str
        The metric to maximise (or minimise if lower is better): a binary count metric, ``cost`` (mean cost
        per row) or ``net_benefit``.
    constraint : Constraint, optional
        Thresholds that violate it are not candidates. `metric` is then precision for recall, FNR and FN;
        specificity for npv and LR−; recall for everything else that limits false positives (precision, fpr,
        specificity, predicted_positive_rate<= …).
    costs : Costs, optional
        For ``cost``. ``cost:10`` is a miss that costs ten false positives.
    at : float, optional
        For ``net_benefit``: the threshold probability p, which sets the exchange rate of one true positive
        for (1 - p) / p false ones. It is fixed while the threshold varies. If both varied (as on the
        decision curve), flagging all at p = 0 would always win. With calibrated probabilities the best
        threshold is p itself; its distance from p shows how miscalibrated they are.

    Examples
    --------
    >>> Objective.parse("max-f1")
    Objective(metric='f1', constraint=None, costs=None, at=None)
    >>> Objective.parse("recall>=0.95").metric
    'precision'
    >>> Objective.parse("cost:10").costs
    Costs(fp=1.0, fn=10.0, tp=0.0, tn=0.0)
    """

    metric: str
    constraint: Constraint | None = None
    costs: Costs | None = None
    at: float | None = None

    @classmethod
    def parse(cls, text: str) -> Objective:
        """Parse an objective from the command line.

        Parameters
        ----------
        text : str
            ``f1``, ``max-f1``, ``youden``, any binary count metric, ``cost:10``,
            ``cost:fp=1,fn=10,tp=0,tn=0``, ``net_benefit:0.2``, ``recall>=0.95``, ``fpr <= 1%``,
            ``recall@fpr=0.02`` (the same as ``fpr<=0.02``) …

        Raises
        ------
        UsageError
            The metric is unknown (the message names the nearest) or has no better direction, or the
            constraint cannot be met.
        """
        text = text.strip()
        name, _, rest = text.partition(":")
        if "@" in text and not is_bound(text.replace(" ", "")):
            return _parse_constrained(_at_point(text))
        if is_bound(text):
            return _parse_constrained(text)
        if name == "cost":
            return cls("cost", costs=_costs(text, rest))
        if name == "net_benefit":
            return cls("net_benefit", at=_rate(text, rest))
        name = re.sub(r"^(max|min)-", "", text)
        name = WORDS.get(name, name)
        if _find_metric(name).better in ("neither", "one", "zero"):
            raise UsageError(
                f"{name} has no better direction, so no threshold is best for it",
                where=f"objective {text!r}",
                fix=f"use it as a constraint, for example {name}<=0.1, or choose another metric",
            )
        return cls(name)

    @property
    def name(self) -> str:
        """Key in `evaluation.json` and MLflow: ``f1``, ``cost``, ``recall>=0.95``."""
        return self.constraint.key if self.constraint else self.metric

    @property
    def text(self) -> str:
        """The full objective, as `parse` accepts it."""
        if self.constraint:
            return self.constraint.key
        if self.costs:
            return f"cost:{self.costs}"
        return self.metric if self.at is None else f"net_benefit:{self.at:.12g}"

    @property
    def lower(self) -> bool:
        """Whether a lower value is better."""
        return self.metric == "cost" or (self.metric in METRICS and METRICS[self.metric].better == "lower")

    @property
    def monotone_above(self) -> float | None:
        """Score above which more true positives and fewer false positives never make it worse; else None.

        Some metrics are undefined if nothing (or all) is flagged; scores of 0 or less are not reported.
        """
        costs, bound = self.costs, self.constraint
        if costs is not None and (costs.fn < costs.tp or costs.fp < costs.tn):
            return None
        if bound is not None and not bound.kept_by_better:
            return None
        own = METRICS.get(self.metric)
        monotone = "always" if own is None else own.monotone  # None: a cost, or a net benefit at a fixed rate
        return {"always": -math.inf, "above 0": 0.0, None: None}[monotone]

    def value(self, c: BinaryCounts) -> Any:
        """Return the value of the metric at counts; NaN if it is undefined."""
        if self.costs:
            return self.costs.mean(c)
        if self.at is not None:
            return divide(c.tp - c.fp * (self.at / (1 - self.at)), c.total)
        return METRICS[self.metric].function(c)

    def score(self, c: BinaryCounts) -> Array:
        """Return the value to maximise; minus infinity if the threshold is not a candidate."""
        kept = np.asarray(True if self.constraint is None else self.constraint.keeps(c))
        if not kept.any():
            return np.full(kept.shape, -np.inf)
        value = np.asarray(self.value(c), dtype=np.float64)
        return np.where(kept & np.isfinite(value), -value if self.lower else value, -np.inf)

    def margin(self, c: BinaryCounts) -> Array:
        """Return the margin of the constraint; it selects the nearest threshold if none meets it."""
        if self.constraint is None:
            return np.full(np.shape(c.tp), -np.inf)
        margin = np.asarray(self.constraint.margin(c), dtype=np.float64)
        return np.where(np.isfinite(margin), margin, -np.inf)


def _find_metric(name: str) -> Metric:
    if any(metric.name == name and metric.needs == "truth" for metric in BINARY):
        raise UsageError(f"{name} does not depend on the threshold", fix="choose another metric")
    if name not in METRICS:
        near = nearest(name, [*METRICS, "cost", "net_benefit", "max-f1", "youden"])
        raise UsageError(
            f"there is no objective {name!r}",
            fix=_NAME_ONE if near.startswith("Known") else near,
        )
    return METRICS[name]


def _at_point(text: str) -> str:
    """Return the constraint that chooses an operating point: ``fpr<=0.02`` for ``recall@fpr=0.02``.

    Raises
    ------
    UsageError
        It is not an operating point, or no single threshold reaches it.
    """
    point = find(text, "binary")
    if not isinstance(point.strategy, CurvePoint) or point.strategy.reading not in _POINTS:
        raise UsageError(
            f"{point.name} does not determine a threshold",
            where=f"objective {text!r}",
            fix="use a constraint, as in fpr<=0.02 or recall>=0.95",
        )
    return f"{_POINTS[point.strategy.reading]}{point.strategy.at:.12g}"


def _number(text: str, value: str) -> float:
    found = number(value)
    if found is None:
        raise UsageError(
            f"{value!r} is not a number", where=f"objective {text!r}", fix="write it as in cost:10"
        )
    return found


def _parse_constrained(text: str) -> Objective:
    where = f"objective {text!r}"
    bound = Bound.parse(text, where=where)
    if bound.part or bound.change:
        raise UsageError(
            f"{text!r} constrains a part of the rows, or a change",
            where=where,
            fix="a threshold decides all rows: write METRIC >= NUMBER, as in recall>=0.95",
        )
    metric = _find_metric(WORDS.get(bound.metric, bound.metric))
    if (metric.better, bound.demands) in (("higher", "low"), ("lower", "high")):
        other = bound.operator.translate(str.maketrans("<>", "><"))
        raise UsageError(
            f"{bound.key} requires a worse value",
            where=where,
            fix=f"{bound.metric}{other}{bound.number:.12g}",
        )
    bound.check_possible(metric.low, metric.high, where=where)
    constraint = Constraint(metric.name, bound.operator, bound.number)
    return Objective(_metric_under_constraint(constraint), constraint)


def _metric_under_constraint(constraint: Constraint) -> str:
    if constraint.metric in _SPECIFIC:
        return "specificity"
    flags_more = constraint.metric == "predicted_positive_rate" and constraint.demands == "high"
    return "precision" if constraint.metric in _PRECISE or flags_more else "recall"


def _costs(text: str, rest: str) -> Costs:
    if "=" not in rest:
        return Costs(fn=_number(text, rest) if rest else MISS)
    given = dict(part.partition("=")[::2] for part in rest.replace(" ", "").split(","))
    unknown = sorted(set(given) - {"fp", "fn", "tp", "tn"})
    if unknown:
        raise UsageError(
            f"there is no outcome {unknown[0]!r}",
            where=f"objective {text!r}",
            fix="outcomes are fp, fn, tp and tn, as in cost:fp=1,fn=10",
        )
    return Costs(**{name: _number(text, value) for name, value in given.items()})


def stated_costs(text: str) -> Costs:
    """Parse the costs of outcomes from ``--cost``.

    Raises
    ------
    UsageError

    Examples
    --------
    >>> stated_costs("10")
    Costs(fp=1.0, fn=10.0, tp=0.0, tn=0.0)
    """
    return _costs(f"cost:{text}", text)


def _rate(text: str, rest: str) -> float:
    rate = _number(text, rest) if rest else EVEN
    if not 0 < rate < 1:
        raise UsageError(
            f"{rate:g} is not a threshold probability",
            where=f"objective {text!r}",
            fix="give one between 0 and 1, as in net_benefit:0.2",
        )
    return rate


STANDARD: tuple[Objective, ...] = tuple(
    Objective.parse(text)
    for text in (
        *("f1", "f05", "f2", "jaccard", "fowlkes_mallows", "mcc", "cohen_kappa", "accuracy"),
        *("balanced_accuracy", "youden_j", "g_mean", "markedness", f"cost:{MISS:g}", f"net_benefit:{EVEN:g}"),
        *("recall>=0.95", "precision>=0.9", "fpr<=0.01", "predicted_positive_rate<=0.02"),
    )
)
"""The objectives of every sweep."""

"""The bound that a threshold was chosen under, and the threshold that keeps it with a stated confidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from evalreport.bounds import Operator
from evalreport.codec import Mass

HoldMethod: TypeAlias = Literal["exact binomial limit", "fixed-sequence test", ""]


@dataclass(frozen=True)
class BoundKept:
    """A bound that a threshold was chosen under, and the value of its metric there.

    Parameters
    ----------
    metric : str
    operator : {">=", "<=", ">", "<"}
    number : float
        What was asked for.
    here : float
        Value of `metric` on the rows of the choice.
    """

    metric: str
    operator: Operator
    number: float
    here: float


@dataclass(frozen=True)
class HoldCosts:
    """What is given up for a bound that holds: the metric that is maximised under it.

    Parameters
    ----------
    metric : str
        ``coverage`` of a cut-off of confidence: the share that is answered.
    value : float or None
        At the threshold that holds; None where it is undefined.
    instead_of : float
        At the threshold that the sample alone suggests.
    tp, fp : float
        Counts at the threshold that holds.
    """

    metric: str
    value: float | None
    instead_of: float
    tp: Mass
    fp: Mass


@dataclass(frozen=True)
class Hold:
    """A threshold that keeps a bound with a stated confidence, or why there is none.

    Parameters
    ----------
    confidence : float
        Probability with which the method finds only thresholds that keep the bound in the population.
    threshold : float or None
        None where no threshold can be held.
    method : str
        ``exact binomial limit`` (rates of one class), ``fixed-sequence test`` (everything else); empty for
        a number of rows, of which nothing can be promised.
    costs : HoldCosts or None
        None without a threshold.
    reason : str or None
        Why there is no threshold.
    """

    confidence: float
    threshold: float | None
    method: HoldMethod
    costs: HoldCosts | None = None
    reason: str | None = None

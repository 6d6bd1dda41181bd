"""Why a number of a class is not known better: few rows, few groups behind them, or few that carry the weight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from evalreport.data.labels import Binary
from evalreport.evaluation.evaluation import Evaluation
from evalreport.findings.chance import margins

FEW_EVENTS = 100
"""Examples of a class below which it is small (Collins, Ogundimu & Altman 2016)."""
HEAVY = 0.3
"""Part of the weight of a class from which on one row decides what is measured of it."""
Cause: TypeAlias = Literal["rows", "groups", "weight", "weights"]
ADVICE: Mapping[Cause, str] = {
    "rows": "Add examples of this class: more of another hardly narrow the interval.",
    "groups": "Add groups: more rows of the same groups hardly narrow the interval.",
    "weight": "Check this weight: as long as one row has so much of it, more rows hardly narrow the interval.",
    "weights": "Check the largest weights: while they are so uneven, more rows hardly narrow the interval.",
}


@dataclass(frozen=True)
class Scarcity:
    """What makes intervals wide.

    Parameters
    ----------
    kind : str
    why : str
        A clause over the evidence: "40 examples of the rarest class are too few to tell".
    evidence : mapping from name to number
    n : float
        About how many independent rows there are.
    """

    kind: Cause
    why: str
    evidence: Mapping[str, float]
    n: float


def scarcest(ev: Evaluation, support: float) -> Scarcity | None:
    """Return what most limits what is known of all classes, the rarest of which has so many examples.

    Of two classes the rows of each are counted; of several only all rows are.
    """
    if not isinstance(ev.space, Binary):
        return scarcity(ev, None, support)
    found = [
        scarcity(ev, code, max(margins(ev)[code].support, support) if margins(ev) else support)
        for code in (0, 1)
    ]
    return min(filter(None, found), key=lambda cause: cause.n, default=None)


def scarcity(ev: Evaluation, code: int | None, support: float) -> Scarcity | None:
    """Return what most limits what is known of a class; None where there is enough of everything.

    Parameters
    ----------
    ev : Evaluation
    code : int or None
        The class of a binary problem, whose own rows are counted; None for all rows.
    support : float
        Its examples.
    """
    which = "" if code is None else f"_{code}"
    groups = ev.clusters if code is None else ev.data_checks.get(f"groups{which}", ev.clusters)
    effective = ev.data_checks.get(f"effective_weights{which}", support) if ev.weighted else support
    if code is None and ev.weighted:
        effective *= support / ev.rows
    top = ev.data_checks.get(f"largest_weight{which}", 0.0) if ev.weighted else 0.0
    of = "" if code is None else " of one class"
    # what is scarcest is the cause: more of the others would not help
    words = "{fewest:examples} of the rarest class {fewest:is|are} too few to tell"
    found = [Scarcity("rows", words, {"fewest": support}, support)]
    if groups is not None:
        words = f"{{groups:count}} {{groups:group|groups}}{of} {{groups:is|are}} too few to tell"
        found.append(Scarcity("groups", words, {"groups": groups}, groups))
    if top >= HEAVY:
        words = f"one row has {{largest:whole}} of the weight{of}"
        found.append(Scarcity("weight", words, {"largest": top}, effective))
    elif effective < support / 2:
        words = f"the weights are so uneven that the rows{of} count as {{effective:about}}"
        found.append(Scarcity("weights", words, {"effective": effective}, effective))
    least = min(found, key=lambda cause: (cause.n, cause.kind == "rows"))
    return least if least.n < FEW_EVENTS else None

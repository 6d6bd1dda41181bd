"""The verdict on a pair of runs: over the errors of each kind, beside the metric that they are judged by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evalreport.comparison.values import Difference, PairOutcome, PairVerdict

FEWEST_OF_CLASS = 20
"""Examples of a class from which on its recall is part of the verdict: fewer are mostly chance, and each
class more makes the correction for their number harder on all others."""


def pair_verdict(
    run: str, baseline: str, differences: Sequence[Difference], recalls: Iterable[tuple[str, Difference]] = ()
) -> PairVerdict:
    """Return better, worse, a trade-off (demonstrated both ways) or nothing demonstrated.

    Parameters
    ----------
    differences : sequence of Difference
        Of the primary metric and of the kinds of errors.
    recalls : iterable of (class, Difference)
        Of the recall of each class, corrected for their number.

    Examples
    --------
    >>> more = Difference("recall", "new", "old", (0.9, 0.8), 0.1, verdict="better")
    >>> less = Difference("specificity", "new", "old", (0.8, 0.9), -0.1, verdict="worse")
    >>> pair_verdict("new", "old", [more, less])
    PairVerdict(run='new', baseline='old', verdict='trade_off', better=('recall',), worse=('specificity',))
    """
    named = [(d.metric, d) for d in differences] + [(f"recall[{label}]", d) for label, d in recalls]
    better, worse = (
        tuple(dict.fromkeys(name for name, d in named if d.verdict == word)) for word in ("better", "worse")
    )
    return PairVerdict(run, baseline, _outcome(bool(better), bool(worse)), better, worse)


def _outcome(better: bool, worse: bool) -> PairOutcome:
    match better, worse:
        case True, True:
            return "trade_off"
        case True, False:
            return "better"
        case False, True:
            return "worse"
        case _:
            return "not_demonstrated"

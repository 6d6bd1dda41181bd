"""Records of operating points of the user's own: ``recall@fpr=0.02``, ``pauc@fpr<=0.05`` and the like."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from evalreport.errors import UsageError
from evalreport.facts import ScoreTable
from evalreport.metrics import binary_ranking as rank
from evalreport.metrics import derivatives
from evalreport.metrics.entries.binary_counts import NO_POSITIVE, always
from evalreport.metrics.entries.binary_ranking import RANKING
from evalreport.metrics.record import Metric
from evalreport.metrics.strategies import CurvePoint

PATTERN = re.compile(
    r"(?P<read>[a-z]+)@(?:(?P<at>[a-z]+)(?:<=|>=|=))?(?P<limit>\d*\.?\d+(?:e-?\d+)?)(?P<cent>%?)"
)
EXAMPLES = (
    "recall@fpr=0.02, fpr@recall=0.9, precision@recall=0.8, recall@precision=0.95, lift@0.05, pauc@fpr<=0.05"
)


def operating_point(name: str) -> Metric | None:
    """Return the binary metric that a name with an ``@`` asks for; None for a name without.

    Parameters
    ----------
    name : str
        What is read, ``@``, and where; spaces and per cent may stand in it.

    Raises
    ------
    UsageError
        An ``@``, and no such reading or limit.

    Examples
    --------
    >>> import numpy as np
    >>> table = ScoreTable.of(np.array([0.1, 0.2, 0.4]), np.array([True, False, True]))
    >>> point = operating_point("recall @ fpr = 2%")
    >>> point.name, point.function(table)
    ('recall@fpr=0.02', 0.5)
    """
    if "@" not in name:
        return None
    found = PATTERN.fullmatch(name.replace(" ", "").replace("tpr", "recall"))
    make = found and READINGS.get((found["read"], found["at"]))
    limit = float(found["limit"]) / (100 if found["cent"] else 1) if found else 0.0
    if not make or not 0 < limit < 1:
        what = "its limit is no share between 0 and 1" if make else "it is no reading of a curve at a limit"
        raise UsageError(f"there is no metric {name!r}: {what}", where=name, fix=f"name one like {EXAMPLES}")
    return make(limit)


def _base(name: str) -> Metric:
    return next(metric for metric in RANKING if metric.name == name)


def _recall_at_fpr(limit: float) -> Metric:
    return replace(
        _base("tpr_at_fpr05"),
        name=f"recall@fpr={limit:g}",
        title=f"Recall at FPR {limit:g}",
        meaning=f"share of positives found while at most {limit:.4g} of the negatives are flagged",
        formula=f"max TPR over thresholds with FPR <= {limit:g}",
        strategy=CurvePoint("tpr at fpr", limit),
        function=partial(rank.tpr_at_fpr, limit=limit),
        no_skill=always(limit),
        trap=f"real thresholds only. Below {1 / limit:,.0f} negatives no false alarm is allowed",
    )


def _fpr_at_recall(limit: float) -> Metric:
    return replace(
        _base("fpr_at_tpr95"),
        name=f"fpr@recall={limit:g}",
        title=f"FPR at recall {limit:g}",
        meaning=f"share of negatives flagged while at least {limit:.4g} of the positives are found",
        formula=f"min FPR over thresholds with TPR >= {limit:g}",
        strategy=CurvePoint("fpr at tpr", limit),
        function=partial(rank.fpr_at_tpr, recall=limit),
        no_skill=always(limit),
        trap="rests on the lowest-scored positives alone: unstable when positives are few",
    )


def _precision_at_recall(limit: float) -> Metric:
    return replace(
        _base("precision_at_recall90"),
        name=f"precision@recall={limit:g}",
        title=f"Precision at recall {limit:g}",
        meaning=f"best precision while at least {limit:.4g} of the positives are found",
        formula=f"max precision over thresholds with recall >= {limit:g}",
        strategy=CurvePoint("precision at recall", limit),
        function=partial(rank.precision_at_recall, recall=limit),
        use=f"{limit:.4g} of the positives must be found",
    )


def _recall_at_precision(limit: float) -> Metric:
    def unreached(t: ScoreTable) -> str:
        if t.positives == 0:
            return NO_POSITIVE[1]
        return f"no threshold reaches a precision of {limit:g}; the best is {rank.best_precision(t):.3g}"

    return replace(
        _base("recall_at_precision90"),
        name=f"recall@precision={limit:g}",
        title=f"Recall at precision {limit:g}",
        meaning=f"most positives found while at least {limit:.4g} of the alarms are right",
        formula=f"max recall over thresholds with precision >= {limit:g}",
        strategy=CurvePoint("recall at precision", limit),
        function=partial(rank.recall_at_precision, precision=limit),
        undefined=unreached,
        use=f"{limit:.4g} of the alarms must be right",
        trap="a lucky first rank reaches precision 1 at a tiny recall; where it is never reached it is "
        "undefined here, 0 elsewhere",
    )


def _lift(limit: float) -> Metric:
    return replace(
        _base("lift_at_10"),
        name=f"lift@{limit:g}",
        title=f"Lift in the top {limit:g}",
        meaning=f"how many times more frequent positives are among the highest {limit:.4g} of scores",
        formula=f"precision among the top {limit:g} / prevalence",
        high=1 / limit,
        strategy=CurvePoint("lift", limit),
        function=partial(rank.lift, share=limit),
        use=f"a campaign or an inspection can reach {limit:.4g} of all cases",
        trap=f"cannot exceed 1 / prevalence, nor {1 / limit:g}. Scores tied across the cut count in part",
    )


def _partial_auc(limit: float) -> Metric:
    chance = limit * limit / 2
    return replace(
        _base("partial_auc_fpr10"),
        name=f"pauc@fpr<={limit:g}",
        title=f"Partial ROC AUC (FPR up to {limit:g})",
        formula=f"(1 + (A - {chance:g}) / ({limit:g} - {chance:g})) / 2, A the area up to FPR {limit:g}",
        low=(1 - chance / (limit - chance)) / 2,
        function=partial(rank.partial_auc, max_fpr=limit),
        derivative=partial(derivatives.partial_auc, limit=limit),
        source=f"McClish 1989, Medical Decision Making 9:190; scikit-learn roc_auc_score(max_fpr={limit:g})",
        trap=f"the raw partial area goes to {limit:g}, not to 1: this one is standardised",
    )


READINGS: Mapping[tuple[str, str | None], Callable[[float], Metric]] = {
    ("recall", "fpr"): _recall_at_fpr,
    ("fpr", "recall"): _fpr_at_recall,
    ("precision", "recall"): _precision_at_recall,
    ("recall", "precision"): _recall_at_precision,
    ("lift", None): _lift,
    ("pauc", "fpr"): _partial_auc,
}
"""By what is read, and along what the limit is."""

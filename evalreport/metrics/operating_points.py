"""Records of the user's own: ``recall@fpr=0.02``, ``pauc@fpr<=0.05``, ``npv@prevalence=0.01`` and more."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial

from evalreport.core.errors import UsageError
from evalreport.metrics import influence
from evalreport.metrics import ranking_functions as rank
from evalreport.metrics.binary_decisions import (
    AGREEMENT,
    COUNTS,
    NO_POSITIVE,
    ONE_CLASS,
    constant_level,
    predicted_positive_rate,
    reweight_to_prevalence,
)
from evalreport.metrics.binary_ranking import RANKING
from evalreport.metrics.record import CountDraws, CurvePoint, Metric, Proportion, because
from evalreport.statistics.confusion import BinaryCounts
from evalreport.statistics.score_table import ScoreTable

PATTERN = re.compile(
    r"(?P<read>[a-z]\w*)@(?:(?P<at>[a-z]+)(?:<=|>=|=))?(?P<limit>\d*\.?\d+(?:e-?\d+)?)(?P<cent>%?)"
)
EXAMPLES = (
    "recall@fpr=0.02, fpr@recall=0.9, precision@recall=0.8, recall@precision=0.95, lift@0.05, "
    "pauc@fpr<=0.05, precision@prevalence=0.01"
)
ALARMS = "alarms_per_1000"
AT_PREVALENCE = ("precision", "npv", "net_benefit", ALARMS)
"""What a stated prevalence of deployment is asked for; any other rate of the counts can be."""


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
    >>> table = ScoreTable.from_scores(np.array([0.1, 0.2, 0.4]), np.array([True, False, True]))
    >>> point = operating_point("recall @ fpr = 2%")
    >>> point.name, point.function(table)
    ('recall@fpr=0.02', 0.5)
    """
    if "@" not in name:
        return None
    found = PATTERN.fullmatch(name.replace(" ", "").replace("tpr", "recall"))
    make = found and (READINGS.get((found["read"], found["at"])) or _of_counts(found["read"], found["at"]))
    limit = float(found["limit"]) / (100 if found["cent"] else 1) if found else 0.0
    if not make or not 0 < limit < 1:
        what = "its limit is no share between 0 and 1" if make else "it is no reading of a curve at a limit"
        raise UsageError(f"there is no metric {name!r}: {what}", where=name, fix=f"name one like {EXAMPLES}")
    return make(limit)


def stated_prevalence(names: Iterable[str]) -> float | None:
    """Return the prevalence of deployment that metrics are named after; None where none is.

    Examples
    --------
    >>> stated_prevalence(["f1", "npv@prevalence=0.01"]), stated_prevalence(["f1"])
    (0.01, None)
    """
    found = (name.partition("@prevalence=")[2] for name in names)
    return next((float(limit) for limit in found if limit), None)


def at_prevalence(share: float) -> tuple[str, ...]:
    """Return the names of what a stated prevalence of deployment is asked for.

    Examples
    --------
    >>> at_prevalence(0.01)[0]
    'precision@prevalence=0.01'
    """
    return tuple(f"{name}@prevalence={share:g}" for name in AT_PREVALENCE)


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
        no_skill=constant_level(limit),
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
        no_skill=constant_level(limit),
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
    def explain_unreached_precision(t: ScoreTable) -> str:
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
        undefined=explain_unreached_precision,
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
        derivative=partial(influence.partial_auc, limit=limit),
        source=f"McClish 1989, Medical Decision Making 9:190; scikit-learn roc_auc_score(max_fpr={limit:g})",
        trap=f"the raw partial area goes to {limit:g}, not to 1: this one is standardised",
    )


def _of_counts(read: str, at: str | None) -> Callable[[float], Metric] | None:
    """What makes the record of a function of the counts at a stated prevalence."""
    known = {metric.name: metric for metric in (*COUNTS, *AGREEMENT)}
    known[ALARMS] = replace(
        known["predicted_positive_rate"],
        name=ALARMS,
        title="Alarms per 1,000",
        meaning="of 1,000 cases, how many are called positive",
        formula="1000 (TP + FP) / n",
        high=1000.0,
        function=lambda c: 1000 * predicted_positive_rate(c),
    )
    base = known.get(read)
    moves = base is not None and isinstance(base.strategy, Proportion | CountDraws) and read != "prevalence"
    return partial(_at_prevalence, base) if base is not None and moves and at == "prevalence" else None


def _at_prevalence(base: Metric, limit: float) -> Metric:
    def explain_undefined(c: BinaryCounts) -> str:
        reason = base.undefined if isinstance(base.undefined, str) else base.undefined(c)
        return because(ONE_CLASS, (lambda _: True, reason))(c)

    levels = {"precision": limit, "npv": 1 - limit}
    return replace(
        base,
        name=f"{base.name}@prevalence={limit:g}",
        title=f"{base.title} at prevalence {limit:g}",
        meaning=f"{base.meaning}, where {limit:.4g} of all are positive",
        formula=f"{base.formula}, with TPR and FPR as here and a prevalence of {limit:g}",
        strategy=CountDraws(),
        rate=base.style == "percent" and base.high <= 1,
        over=None,
        monotone=None,
        function=lambda c: base.function(reweight_to_prevalence(c, limit)),
        undefined=explain_undefined,
        no_skill=constant_level(levels[base.name]) if base.name in levels else None,
        source="Altman & Bland 1994, BMJ 309:102; " + base.source,
        use="the model goes where positives are rarer, or more frequent, than in these data",
        trap="recall and FPR are taken to stay as they are, which they do not where the cases differ in kind",
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

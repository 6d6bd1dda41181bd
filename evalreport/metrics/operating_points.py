"""Metrics at named operating points: ``recall@fpr=0.02``, ``pauc@fpr<=0.05``, ``npv@prevalence=0.01``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial

from evalreport.core.errors import UsageError
from evalreport.metrics import binary_ranking as rank
from evalreport.metrics import influence
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
ALERTS = "alerts_per_1000"
AT_PREVALENCE = ("precision", "npv", "net_benefit", ALERTS)
"""Default metrics at a stated prevalence of deployment; other functions of counts are available."""


def operating_point(name: str) -> Metric | None:
    """Return the binary metric of a name with an ``@``; None for a name without one.

    Parameters
    ----------
    name : str
        Metric, ``@``, and limit; the name may contain spaces and a percent sign.

    Raises
    ------
    UsageError
        The name has an ``@``, but the metric or the limit is not valid.

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
        what = "the limit must be between 0 and 1" if make else "the part around the @ is not supported"
        raise UsageError(f"unknown metric {name!r}: {what}", where=name, fix=f"use a name such as {EXAMPLES}")
    return make(limit)


def stated_prevalence(names: Iterable[str]) -> float | None:
    """Return the prevalence of deployment in the metric names; None if no name has one.

    Examples
    --------
    >>> stated_prevalence(["f1", "npv@prevalence=0.01"]), stated_prevalence(["f1"])
    (0.01, None)
    """
    found = (name.partition("@prevalence=")[2] for name in names)
    return next((float(limit) for limit in found if limit), None)


def at_prevalence(share: float) -> tuple[str, ...]:
    """Return the names of the metrics reported at a stated prevalence of deployment.

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
        meaning=f"fraction of positives found while at most {limit:.4g} of negatives are predicted positive",
        formula=f"max TPR over thresholds with FPR <= {limit:g}",
        strategy=CurvePoint("tpr at fpr", limit),
        function=partial(rank.tpr_at_fpr, limit=limit),
        no_skill=constant_level(limit),
        trap=f"observed thresholds only. With fewer than {1 / limit:,.0f} negatives, none may be flagged",
    )


def _fpr_at_recall(limit: float) -> Metric:
    return replace(
        _base("fpr_at_tpr95"),
        name=f"fpr@recall={limit:g}",
        title=f"FPR at recall {limit:g}",
        meaning=f"fraction of negatives predicted positive while at least {limit:.4g} of positives are found",
        formula=f"min FPR over thresholds with TPR >= {limit:g}",
        strategy=CurvePoint("fpr at tpr", limit),
        function=partial(rank.fpr_at_tpr, recall=limit),
        no_skill=constant_level(limit),
        trap="depends only on the lowest-scored positives: unstable if positives are few",
    )


def _precision_at_recall(limit: float) -> Metric:
    return replace(
        _base("precision_at_recall90"),
        name=f"precision@recall={limit:g}",
        title=f"Precision at recall {limit:g}",
        meaning=f"highest precision while at least {limit:.4g} of the positives are found",
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
        meaning=f"highest recall while at least {limit:.4g} of the predicted positives are positive",
        formula=f"max recall over thresholds with precision >= {limit:g}",
        strategy=CurvePoint("recall at precision", limit),
        function=partial(rank.recall_at_precision, precision=limit),
        undefined=explain_unreached_precision,
        use=f"{limit:.4g} of the predicted positives must be positive",
        trap="if the highest score is a positive by chance, precision is 1 at a very low recall. If no "
        "threshold reaches the limit, it is undefined here; other tools return 0",
    )


def _lift(limit: float) -> Metric:
    return replace(
        _base("lift_at_10"),
        name=f"lift@{limit:g}",
        title=f"Lift in the top {limit:g}",
        meaning=f"prevalence among the highest {limit:.4g} of scores, divided by the overall prevalence",
        formula=f"precision among the top {limit:g} / prevalence",
        high=1 / limit,
        strategy=CurvePoint("lift", limit),
        function=partial(rank.lift, share=limit),
        use=f"a campaign or an inspection can cover {limit:.4g} of all cases",
        trap=f"cannot exceed 1 / prevalence, nor {1 / limit:g}. Ties at the cutoff count proportionally",
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
        trap=f"the raw partial area has a maximum of {limit:g}, not 1; this value is standardized",
    )


def _of_counts(read: str, at: str | None) -> Callable[[float], Metric] | None:
    """Return a function that makes the record of a metric of counts at a stated prevalence."""
    known = {metric.name: metric for metric in (*COUNTS, *AGREEMENT)}
    known[ALERTS] = replace(
        known["predicted_positive_rate"],
        name=ALERTS,
        title="Alerts per 1,000",
        meaning="number of predicted positives per 1,000 cases",
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
        meaning=f"{base.meaning}, at a prevalence of {limit:.4g}",
        formula=f"{base.formula}, with TPR and FPR as here and a prevalence of {limit:g}",
        strategy=CountDraws(),
        rate=base.style == "percent" and base.high <= 1,
        over=None,
        monotone=None,
        function=lambda c: base.function(reweight_to_prevalence(c, limit)),
        undefined=explain_undefined,
        no_skill=constant_level(levels[base.name]) if base.name in levels else None,
        source="Altman & Bland 1994, BMJ 309:102; " + base.source,
        use="the prevalence of deployment differs from the prevalence of the evaluated data",
        trap="assumes that recall and FPR stay the same, which is wrong if the kind of cases changes",
    )


READINGS: Mapping[tuple[str, str | None], Callable[[float], Metric]] = {
    ("recall", "fpr"): _recall_at_fpr,
    ("fpr", "recall"): _fpr_at_recall,
    ("precision", "recall"): _precision_at_recall,
    ("recall", "precision"): _recall_at_precision,
    ("lift", None): _lift,
    ("pauc", "fpr"): _partial_auc,
}
"""Functions that make the records, by metric and by the quantity that the limit applies to."""

"""Ranking metrics of binary scores: functions, bounds from counts in bins, and records.

The bounds are valid for any order of the scores within a bin.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import partial

import numpy as np

from evalreport.metrics import influence
from evalreport.metrics.binary_decisions import NO_POSITIVE, ONE_CLASS, constant_level
from evalreport.metrics.record import BestThreshold, CurvePoint, DeLong, Metric, Smooth, because, divide, view
from evalreport.statistics.confusion import Array, inner
from evalreport.statistics.score_table import BinnedTable, Bounds, ScoreTable
from evalreport.statistics.summary import Summary

ROUNDING = 1e-12
"""Tolerance for comparing a rate with its limit, because sums of weights are not exact."""


def roc_auc(t: ScoreTable) -> float:
    """Return the probability that a positive scores above a negative, with ties counting one half.

    >>> roc_auc(ScoreTable.from_scores(np.array([0.1, 0.4, 0.4]), np.array([False, True, False])))
    0.75
    """
    return float(divide(t.ranking.outranked, t.positives * t.negatives))


def gini(t: ScoreTable) -> float:
    """Return 2 AUC - 1 (Somers' D), in [-1, 1].

    >>> gini(ScoreTable.from_scores(np.array([0.1, 0.4, 0.4]), np.array([False, True, False])))
    0.5
    """
    return 2 * roc_auc(t) - 1


def average_precision(t: ScoreTable) -> float:
    """Return the sum over thresholds of the gain in recall times the precision there, in [0, 1].

    >>> average_precision(ScoreTable.from_scores(np.array([0.1, 0.4, 0.4]), np.array([False, True, False])))
    0.5
    """
    return float(divide(t.ranking.precision, t.positives))


def partial_auc(t: ScoreTable, max_fpr: float) -> float:
    """Return the area under ROC up to a false positive rate, on McClish's scale: 0.5 chance, 1 perfect.

    >>> partial_auc(ScoreTable.from_scores(np.array([0.1, 0.4]), np.array([False, True])), 0.1)
    1.0
    """
    if not _both(t):
        return float("nan")
    edge = max_fpr * t.negatives
    inside = int(np.searchsorted(t.fp[::-1], edge, side="right"))
    top = slice(len(t) - inside, len(t))
    # a step is a trapezoid under the line
    area = sum(inner(t.neg[b], t.tp[b] - t.pos[b] / 2) for b in t.blocks(top.start, top.stop))
    found, flagged = (float(t.tp[top.start]), float(t.fp[top.start])) if inside else (0.0, 0.0)
    left, slope = edge - flagged, t.pos[top.start - 1] / t.neg[top.start - 1]
    area = (area + left * (found + left * slope / 2)) / (t.positives * t.negatives)
    chance = max_fpr * max_fpr / 2
    return float((1 + (area - chance) / (max_fpr - chance)) / 2)


def partial_auc_fpr10(t: ScoreTable) -> float:
    """Return `partial_auc` up to a false positive rate of 0.1, in [9/19, 1].

    >>> partial_auc_fpr10(ScoreTable.from_scores(np.array([0.1, 0.4]), np.array([False, True])))
    1.0
    """
    return partial_auc(t, 0.1)


def ks(t: ScoreTable) -> float:
    """Return the largest TPR - FPR over all thresholds, in [0, 1].

    >>> ks(ScoreTable.from_scores(np.array([0.1, 0.4, 0.4]), np.array([False, True, False])))
    0.5
    """
    return t.ranking.gap


def eer(t: ScoreTable) -> float:
    """Return the error rate where FPR and FNR are equal, interpolated linearly between adjacent ROC points.

    >>> eer(ScoreTable.from_scores(np.array([0.1, 0.4, 0.4]), np.array([False, True, False])))
    0.3333333333333333
    """
    if not _both(t):
        return float("nan")
    fp, tp = t.fp[::-1], t.tp[::-1]

    def point(i: int) -> tuple[float, float]:
        """Return FPR and FPR - FNR if the i + 1 highest scores are predicted positive."""
        fpr, tpr = (float(fp[i]) / t.negatives, float(tp[i]) / t.positives) if i >= 0 else (0.0, 0.0)
        return fpr, fpr + tpr - 1

    after = bisect_left(range(len(t) - 1), 0.0, key=lambda i: point(i)[1])
    (low, below), (high, above) = point(after - 1), point(after)
    return low + below / (below - above) * (high - low)


def tpr_at_fpr(t: ScoreTable, limit: float) -> float:
    """Return the highest TPR of a threshold whose FPR is at most `limit`; 0 if no threshold satisfies it.

    >>> tpr_at_fpr(ScoreTable.from_scores(np.array([0.1, 0.2, 0.4]), np.array([True, False, True])), 0.5)
    0.5
    """
    if not _both(t):
        return float("nan")
    allowed = int(np.searchsorted(t.fp[::-1], (limit + ROUNDING) * t.negatives, side="right"))
    return float(t.tp[::-1][allowed - 1]) / t.positives if allowed else 0.0


def tpr_at_fpr01(t: ScoreTable) -> float:
    """Return `tpr_at_fpr` at 0.01, in [0, 1].

    >>> tpr_at_fpr01(ScoreTable.from_scores(np.array([0.1, 0.4]), np.array([False, True])))
    1.0
    """
    return tpr_at_fpr(t, 0.01)


def tpr_at_fpr05(t: ScoreTable) -> float:
    """Return `tpr_at_fpr` at 0.05, in [0, 1].

    >>> tpr_at_fpr05(ScoreTable.from_scores(np.array([0.1, 0.4]), np.array([False, True])))
    1.0
    """
    return tpr_at_fpr(t, 0.05)


def fpr_at_tpr(t: ScoreTable, recall: float) -> float:
    """Return the smallest FPR of a threshold whose TPR is at least `recall`, in [0, 1].

    >>> fpr_at_tpr(ScoreTable.from_scores(np.array([0.1, 0.2, 0.4]), np.array([True, False, True])), 0.5)
    0.0
    """
    return float(t.fp[::-1][_reaching(t, recall)]) / t.negatives if _both(t) else float("nan")


def fpr_at_tpr95(t: ScoreTable) -> float:
    """Return `fpr_at_tpr` at 0.95, in [0, 1].

    >>> fpr_at_tpr95(ScoreTable.from_scores(np.array([0.1, 0.4]), np.array([False, True])))
    0.0
    """
    return fpr_at_tpr(t, 0.95)


def precision_at_recall(t: ScoreTable, recall: float) -> float:
    """Return the highest precision of a threshold whose recall is at least `recall`, in [0, 1].

    >>> precision_at_recall(
    ...     ScoreTable.from_scores(np.array([0.1, 0.2, 0.4]), np.array([True, False, True])), 0.5
    ... )
    1.0
    """
    if t.positives == 0:
        return float("nan")
    reaching = t.blocks(stop=len(t) - _reaching(t, recall))
    return max(float(_precision(t, b).max()) for b in reaching)


def precision_at_recall90(t: ScoreTable) -> float:
    """Return `precision_at_recall` at 0.9, in [0, 1].

    >>> precision_at_recall90(
    ...     ScoreTable.from_scores(np.array([0.1, 0.4, 0.4]), np.array([False, True, False]))
    ... )
    0.5
    """
    return precision_at_recall(t, 0.9)


def recall_at_precision(t: ScoreTable, precision: float) -> float:
    """Return the highest recall of a threshold whose precision is at least this; NaN if none reaches it.

    >>> recall_at_precision(
    ...     ScoreTable.from_scores(np.array([0.1, 0.2, 0.4]), np.array([True, False, True])), 0.6
    ... )
    1.0
    """
    for b in t.blocks(stop=_count_weighted_scores(t)):  # the lowest threshold first
        reached = np.flatnonzero(_precision(t, b) >= precision - ROUNDING)
        if len(reached):
            return float(t.tp[b][reached[0]]) / t.positives
    return float("nan")


def recall_at_precision90(t: ScoreTable) -> float:
    """Return `recall_at_precision` at 0.9; NaN if none reaches it.

    >>> recall_at_precision90(ScoreTable.from_scores(np.array([0.1, 0.4]), np.array([False, True])))
    1.0
    """
    return recall_at_precision(t, 0.9)


def best_precision(t: ScoreTable) -> float:
    """Return the highest precision of any threshold.

    >>> best_precision(ScoreTable.from_scores(np.array([0.1, 0.4, 0.4]), np.array([False, True, False])))
    0.5
    """
    return max((float(_precision(t, b).max()) for b in t.blocks(stop=_count_weighted_scores(t))), default=0.0)


def lift(t: ScoreTable, share: float) -> float:
    """Return the prevalence among the top `share` of rows, relative to that of all rows.

    Of scores tied across the cut, a proportionate part counts: what a random order of them gives on
    average.

    >>> round(lift(ScoreTable.from_scores(np.arange(10.0), np.arange(10) > 7), 0.1), 12)
    5.0
    """
    if t.positives == 0:
        return float("nan")
    cut = share * t.total
    fp, tp = t.fp[::-1], t.tp[::-1]
    after = bisect_left(range(len(t) - 1), cut, key=lambda i: float(tp[i] + fp[i]))
    found, flagged = (float(tp[after - 1]), float(tp[after - 1] + fp[after - 1])) if after else (0.0, 0.0)
    part = (cut - flagged) / (float(tp[after] + fp[after]) - flagged)
    return (found + part * (float(tp[after]) - found)) / (share * t.positives)


def lift_at_10(t: ScoreTable) -> float:
    """Return `lift` among the top tenth of rows, in [0, 10].

    >>> round(lift_at_10(ScoreTable.from_scores(np.arange(10.0), np.arange(10) > 7)), 12)
    5.0
    """
    return lift(t, 0.1)


def _both(t: ScoreTable) -> bool:
    return t.positives > 0 and t.negatives > 0


def _count_weighted_scores(t: ScoreTable) -> int:
    """Return the number of scores with weight at or above them; the others have no precision."""
    return len(t) - min(int(np.searchsorted(found[::-1], 0.0, side="right")) for found in (t.tp, t.fp))


def _precision(t: ScoreTable, b: slice) -> Array:
    """Return the precision with each score of a block as threshold."""
    tp = t.tp[b]
    precision: Array = tp / (tp + t.fp[b])
    return precision


def _reaching(t: ScoreTable, recall: float) -> int:
    """Return how many of the highest scores do not reach a recall."""
    return int(np.searchsorted(t.tp[::-1], (recall - ROUNDING) * t.positives))


def roc_auc_bounds(t: BinnedTable) -> Bounds:
    """Bound AUC: pairs in one bin count one half, and each may count 0 or 1: AUC ± Σ pᵦ nᵦ / 2PN.

    Examples
    --------
    >>> t = BinnedTable(np.array([0.25, 0.5]), np.array([1.0, 1.0]), np.array([1.0, 1.0]))
    >>> roc_auc_bounds(t)
    (0.25, 0.75)
    """
    pairs = t.positives * t.negatives
    far = float(t.pos @ t.neg) / 2 / pairs
    return t.ranking.outranked / pairs - far, t.ranking.outranked / pairs + far


def gini_bounds(t: BinnedTable) -> Bounds:
    """Bound 2 AUC - 1."""
    low, high = roc_auc_bounds(t)
    return 2 * low - 1, 2 * high - 1


def average_precision_bounds(t: BinnedTable) -> Bounds:
    """Best case: a bin's positives tie and precede its negatives; worst case: they follow, one by one.

    With T positives and G negatives at or before them, the i-th of p adds (T + i) / (T + i + G); the sum is
    at least its integral p - G ln((T + p + G) / (T + G)), and at least p times its first term.
    """
    some = t.pos > 0
    p, n, tp, fp = t.pos[some], t.neg[some], t.tp[some], t.fp[some]
    before = tp - p
    first = p * (before + 1) / (before + 1 + fp)
    integral = p - fp * np.log((tp + fp) / np.maximum(before + fp, 1))
    low = np.where(before + fp > 0, np.maximum(first, integral), p)
    high = p * tp / (tp + fp - n)
    return float(low.sum()) / t.positives, float(high.sum()) / t.positives


def ks_bounds(t: BinnedTable) -> Bounds:
    """Lower: largest gap at an edge; upper: all positives of a bin precede all its negatives."""
    at_most = t.tp / t.positives - (t.fp - t.neg) / t.negatives
    return t.ranking.gap, max(float(at_most.max()), 0.0)


def partial_auc_bounds(t: BinnedTable, limit: float) -> Bounds:
    """Like the bounds on the whole area, over the bins that begin below the limit."""
    far = float((t.pos * t.neg)[t.fp - t.neg < limit * t.negatives].sum()) / 2
    far /= t.positives * t.negatives * 2 * (limit - limit * limit / 2)
    return partial_auc(t, limit) - far, partial_auc(t, limit) + far


def eer_bounds(t: BinnedTable) -> Bounds:
    """The error rates are equal within one bin: the bounds are the rates at its two edges."""
    fpr, tpr = t.fp / t.negatives, t.tp / t.positives
    at = int(np.flatnonzero(fpr + tpr >= 1)[-1])
    before = (t.fp[at] - t.neg[at]) / t.negatives, (t.tp[at] - t.pos[at]) / t.positives
    return float(max(before[0], 1 - tpr[at])), float(min(fpr[at], 1 - before[1]))


def tpr_at_fpr_bounds(t: BinnedTable, limit: float) -> Bounds:
    """Lower: best edge within the limit; upper: all positives of the next bin precede its negatives."""
    reached = t.fp - t.neg <= (limit + ROUNDING) * t.negatives
    return tpr_at_fpr(t, limit), float(t.tp[reached].max()) / t.positives


def fpr_at_tpr_bounds(t: BinnedTable, recall: float) -> Bounds:
    """Use the best edge that reaches the recall; best case: its bin's positives precede its negatives."""
    reached = t.tp >= (recall - ROUNDING) * t.positives
    return float((t.fp - t.neg)[reached].min()) / t.negatives, fpr_at_tpr(t, recall)


def precision_at_recall_bounds(t: BinnedTable, recall: float) -> Bounds:
    """Use the best edge that reaches the recall; best case: its bin's positives precede its negatives."""
    reached = t.tp >= (recall - ROUNDING) * t.positives
    tp, fp = t.tp[reached], (t.fp - t.neg)[reached]
    return precision_at_recall(t, recall), float((tp / (tp + fp)).max())


def lift_bounds(t: BinnedTable, share: float) -> Bounds:
    """The cutoff is within one bin: its negatives or its positives may come first."""
    cut, flagged = share * t.total, t.tp + t.fp
    at = int(np.flatnonzero(flagged >= cut)[-1])
    found, left = t.tp[at] - t.pos[at], cut - (flagged[at] - t.pos[at] - t.neg[at])
    least, most = found + max(left - t.neg[at], 0.0), found + min(left, t.pos[at])
    return float(least) / (share * t.positives), float(most) / (share * t.positives)


_metric = partial(
    Metric,
    task="binary",
    needs="scores",
    reads="scores",
    low=0.0,
    high=1.0,
    better="higher",
    undefined=because(ONE_CLASS),
)


def share(summary: Summary) -> float:
    """Return the prevalence: the precision of a random ranking."""
    table = view(summary, "scores")
    return float(divide(table.positives, table.positives + table.negatives))


def _explain_unreached_precision(t: ScoreTable) -> str:
    if t.positives == 0:
        return NO_POSITIVE[1]
    return f"no threshold reaches a precision of 0.9; the best is {best_precision(t):.3g}"


RANKING: tuple[Metric, ...] = (
    _metric(
        name="roc_auc",
        title="ROC AUC",
        meaning="probability that a positive has a higher score than a negative",
        formula="P(s+ > s-) + P(s+ = s-) / 2",
        strategy=DeLong(),
        function=roc_auc,
        bounds=roc_auc_bounds,
        derivative=influence.roc_auc,
        no_skill=constant_level(0.5),
        source="Hanley & McNeil 1982, Radiology 143:29; scikit-learn roc_auc_score",
        use="to evaluate a ranking before a threshold is chosen, at any prevalence",
        trap="at low prevalence, most predicted positives can be false even at 0.95: look at average "
        "precision. Undefined if only one class occurs among the true labels; some tools return 0.5 or "
        "0. Ties count one half",
    ),
    _metric(
        name="gini",
        title="Gini coefficient",
        meaning="ROC AUC rescaled so that chance level is 0",
        formula="2 AUC - 1",
        low=-1.0,
        strategy=DeLong(),
        function=gini,
        bounds=gini_bounds,
        derivative=influence.gini,
        no_skill=constant_level(0.0),
        source="Somers 1962 (D); Thomas, Edelman & Crook 2002, Credit Scoring and Its Applications",
        use="in fields that expect it, such as credit scoring",
        trap="contains the same information as ROC AUC. Not the Gini impurity of decision trees",
    ),
    _metric(
        name="average_precision",
        title="Average precision",
        meaning="mean of the precision at the rank of each positive",
        formula="sum over thresholds of (R_i - R_(i-1)) P_i",
        strategy=Smooth("ranking", merged=True),
        function=average_precision,
        bounds=average_precision_bounds,
        derivative=influence.average_precision,
        undefined=because(NO_POSITIVE),
        no_skill=share,
        source="Buckland & Gey 1994, JASIS 45:12; Zhu 2004, University of Waterloo; scikit-learn "
        "average_precision_score",
        use="positives are rare and the top of the ranking matters most",
        trap="its no-skill level is the prevalence, so values from different data sets are not comparable. "
        "The trapezoid area under the precision-recall curve is a different, larger number, because "
        "linear interpolation is too optimistic. Without positives, scikit-learn returns 0; here it is "
        "undefined",
    ),
    _metric(
        name="partial_auc_fpr10",
        title="Partial ROC AUC (FPR up to 0.1)",
        meaning="ROC AUC over the region of low false positive rates, rescaled so that chance level is 0.5",
        formula="(1 + (A - 0.005) / (0.1 - 0.005)) / 2, A the area up to FPR 0.1",
        low=9 / 19,
        strategy=Smooth("ranking"),
        function=partial_auc_fpr10,
        bounds=partial(partial_auc_bounds, limit=0.1),
        derivative=partial(influence.partial_auc, limit=0.1),
        no_skill=constant_level(0.5),
        source="McClish 1989, Medical Decision Making 9:190; scikit-learn roc_auc_score(max_fpr=0.1)",
        use="only thresholds with few false positives are usable",
        trap="the raw partial area has a maximum of 0.1, not 1; this value is standardized",
    ),
    _metric(
        name="ks",
        title="Kolmogorov-Smirnov statistic",
        meaning="largest gap between the cumulative score distributions of positives and negatives",
        formula="max over thresholds of TPR - FPR",
        strategy=BestThreshold(),
        function=ks,
        bounds=ks_bounds,
        no_skill=constant_level(0.0),
        source="Kolmogorov 1933; Smirnov 1939; the greatest Youden's J of the ROC curve",
        use="in fields that expect it, such as credit scoring",
        trap="the maximum over all thresholds on the evaluated rows, so it is optimistic: above 0 for random"
        " scores, too. One-sided: a two-sided KS test also counts FPR - TPR",
    ),
    _metric(
        name="eer",
        rate=True,
        title="Equal error rate",
        meaning="error rate at which false positive rate and false negative rate are equal",
        formula="FPR = FNR, on the line between neighbouring ROC points",
        better="lower",
        strategy=CurvePoint("equal errors"),
        function=eer,
        bounds=eer_bounds,
        no_skill=constant_level(0.5),
        source="Martin et al. 1997, Eurospeech (the DET curve)",
        use="to compare systems in biometrics and detection",
        trap="the system may not operate at this threshold. Tools interpolate between ROC points differently",
    ),
    _metric(
        name="tpr_at_fpr01",
        rate=True,
        title="Recall at FPR 0.01",
        meaning="fraction of positives found while at most 1% of negatives are predicted positive",
        formula="max TPR over thresholds with FPR <= 0.01",
        strategy=CurvePoint("tpr at fpr", 0.01),
        function=tpr_at_fpr01,
        bounds=partial(tpr_at_fpr_bounds, limit=0.01),
        no_skill=constant_level(0.01),
        source="Egan 1975, Signal Detection Theory and ROC Analysis",
        use="false positives must be very rare",
        trap="uses observed thresholds, without interpolation. With fewer than 100 negatives, no false "
        "positive is allowed",
    ),
    _metric(
        name="tpr_at_fpr05",
        rate=True,
        title="Recall at FPR 0.05",
        meaning="fraction of positives found while at most 5% of negatives are predicted positive",
        formula="max TPR over thresholds with FPR <= 0.05",
        strategy=CurvePoint("tpr at fpr", 0.05),
        function=tpr_at_fpr05,
        bounds=partial(tpr_at_fpr_bounds, limit=0.05),
        no_skill=constant_level(0.05),
        source="Egan 1975, Signal Detection Theory and ROC Analysis",
        use="false positives must be rare",
        trap="uses observed thresholds, without interpolation. With fewer than 20 negatives, no false "
        "positive is allowed",
    ),
    _metric(
        name="fpr_at_tpr95",
        rate=True,
        title="FPR at recall 0.95",
        meaning="fraction of negatives predicted positive while at least 95% of positives are found",
        formula="min FPR over thresholds with TPR >= 0.95",
        better="lower",
        strategy=CurvePoint("fpr at tpr", 0.95),
        function=fpr_at_tpr95,
        bounds=partial(fpr_at_tpr_bounds, recall=0.95),
        no_skill=constant_level(0.95),
        source="Liang, Li & Srikant 2018, ICLR (FPR at 95% TPR)",
        use="only few positives may be missed, for example in screening and novelty detection",
        trap="depends only on the lowest-scored 5% of the positives: unstable if positives are few",
    ),
    _metric(
        name="precision_at_recall90",
        rate=True,
        title="Precision at recall 0.9",
        meaning="highest precision while at least 90% of positives are found",
        formula="max precision over thresholds with recall >= 0.9",
        strategy=CurvePoint("precision at recall", 0.9),
        function=precision_at_recall90,
        bounds=partial(precision_at_recall_bounds, recall=0.9),
        undefined=because(NO_POSITIVE),
        no_skill=share,
        source="Eban et al. 2017, AISTATS",
        use="nine in ten positives must be found",
        trap="the threshold is chosen on the evaluated rows: expect a lower precision on new data",
    ),
    _metric(
        name="recall_at_precision90",
        rate=True,
        title="Recall at precision 0.9",
        meaning="highest recall while at least 90% of predicted positives are positive",
        formula="max recall over thresholds with precision >= 0.9",
        strategy=CurvePoint("recall at precision", 0.9),
        function=recall_at_precision90,
        undefined=_explain_unreached_precision,
        source="Eban et al. 2017, AISTATS",
        use="nine in ten predicted positives must be positive",
        trap="if the highest score is a positive by chance, precision is 1 at a very low recall. If no "
        "threshold reaches 0.9, it is undefined here; other tools return 0",
    ),
    _metric(
        name="lift_at_10",
        title="Lift in the top 10%",
        meaning="prevalence among the top 10% of scores, divided by the overall prevalence",
        formula="precision among the top 10% / prevalence",
        high=10.0,
        strategy=CurvePoint("lift", 0.1),
        function=lift_at_10,
        bounds=partial(lift_bounds, share=0.1),
        undefined=because(NO_POSITIVE),
        no_skill=constant_level(1.0),
        source="Provost & Fawcett 2013, Data Science for Business",
        use="a campaign or an inspection can cover a tenth of all cases",
        trap="cannot exceed 1 / prevalence, nor 10. Scores tied at the cutoff count proportionally",
    ),
)

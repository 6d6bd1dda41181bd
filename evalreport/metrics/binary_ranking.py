"""Records of the binary ranking metrics."""

from __future__ import annotations

from functools import partial

from evalreport.metrics import binned_bounds, influence
from evalreport.metrics import ranking_functions as rank
from evalreport.metrics.binary_decisions import NO_POSITIVE, ONE_CLASS, constant_level
from evalreport.metrics.record import BestThreshold, CurvePoint, DeLong, Metric, Smooth, because, divide, view
from evalreport.statistics.score_table import ScoreTable
from evalreport.statistics.summary import Summary

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
    return f"no threshold reaches a precision of 0.9; the best is {rank.best_precision(t):.3g}"


RANKING: tuple[Metric, ...] = (
    _metric(
        name="roc_auc",
        title="ROC AUC",
        meaning="probability that a positive has a higher score than a negative",
        formula="P(s+ > s-) + P(s+ = s-) / 2",
        strategy=DeLong(),
        function=rank.roc_auc,
        bounds=binned_bounds.roc_auc_bounds,
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
        function=rank.gini,
        bounds=binned_bounds.gini_bounds,
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
        function=rank.average_precision,
        bounds=binned_bounds.average_precision_bounds,
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
        function=rank.partial_auc_fpr10,
        bounds=partial(binned_bounds.partial_auc_bounds, limit=0.1),
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
        function=rank.ks,
        bounds=binned_bounds.ks_bounds,
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
        function=rank.eer,
        bounds=binned_bounds.eer_bounds,
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
        function=rank.tpr_at_fpr01,
        bounds=partial(binned_bounds.tpr_at_fpr_bounds, limit=0.01),
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
        function=rank.tpr_at_fpr05,
        bounds=partial(binned_bounds.tpr_at_fpr_bounds, limit=0.05),
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
        function=rank.fpr_at_tpr95,
        bounds=partial(binned_bounds.fpr_at_tpr_bounds, recall=0.95),
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
        function=rank.precision_at_recall90,
        bounds=partial(binned_bounds.precision_at_recall_bounds, recall=0.9),
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
        function=rank.recall_at_precision90,
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
        function=rank.lift_at_10,
        bounds=partial(binned_bounds.lift_bounds, share=0.1),
        undefined=because(NO_POSITIVE),
        no_skill=constant_level(1.0),
        source="Provost & Fawcett 2013, Data Science for Business",
        use="a campaign or an inspection can cover a tenth of all cases",
        trap="cannot exceed 1 / prevalence, nor 10. Scores tied at the cutoff count proportionally",
    ),
)

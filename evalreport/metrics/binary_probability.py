"""Records of the binary metrics of probabilities."""

from __future__ import annotations

import math
from functools import partial

from evalreport.metrics import binned_bounds, influence
from evalreport.metrics import probability_functions as prob
from evalreport.metrics.binary_decisions import ONE_CLASS, constant_level
from evalreport.metrics.record import (
    CalibrationGaps,
    Metric,
    NoMethod,
    Smooth,
    SmoothGaps,
    because,
    view,
)
from evalreport.statistics.score_table import ScoreTable
from evalreport.statistics.summary import Summary

_metric = partial(
    Metric,
    task="binary",
    needs="probabilities",
    reads="scores",
    low=0.0,
    high=1.0,
    better="lower",
    strategy=Smooth("probabilities"),
)

BINS = "Tools differ in the number of bins, in width or mass, and in the side that a bin's edge belongs to"


def _uncertainty(summary: Summary) -> float:
    return prob.brier_uncertainty(view(summary, "scores"))


def _entropy(summary: Summary) -> float:
    share: float = view(summary, "scores").positives / summary.weight
    return -sum(p * math.log(p) for p in (share, 1 - share) if p > 0)


AUSTIN = "Austin & Steyerberg 2019, Statistics in Medicine 38:4051"
CORP = "Dimitriadis, Gneiting & Jordan 2021, PNAS 118:e2016191118"
CURVE = (
    "The curve is a logistic regression on a restricted cubic spline of the logit, with 4 knots at the 5, "
    "35, 65 and 95% quantiles of the rows"
)


def _no_fit(t: ScoreTable) -> str:
    if t.positives == 0 or t.negatives == 0:
        return ONE_CLASS[1]
    if len(t) == 1:
        return "all scores are equal"
    return "the scores separate the classes: the logistic fit has no finite solution"


PROBABILITY: tuple[Metric, ...] = (
    _metric(
        name="log_loss",
        title="Log loss",
        meaning="mean surprise at the truth, in nats",
        formula="-mean(y ln p + (1 - y) ln(1 - p))",
        high=math.inf,
        strategy=Smooth("mean"),
        function=prob.log_loss,
        bounds=binned_bounds.log_loss_bounds,
        derivative=influence.log_loss,
        no_skill=_entropy,
        source="Good 1952; scikit-learn log_loss",
        use="probabilities feed decisions with unknown costs; models are compared on the same rows",
        trap="one sure and wrong answer can rule it: probabilities are clipped at the float64 epsilon, "
        "2.2e-16; a tool that clips elsewhere gives another value. Its no-skill level depends on prevalence",
    ),
    _metric(
        name="brier",
        title="Brier score",
        meaning="mean squared error of the probability of the positive class",
        formula="mean((p - y)^2)",
        strategy=Smooth("mean"),
        function=prob.brier,
        bounds=binned_bounds.brier_bounds,
        derivative=influence.brier,
        no_skill=_uncertainty,
        source="Brier 1950; scikit-learn brier_score_loss",
        use="probabilities matter: it asks for calibration and for discrimination at once",
        trap="Brier's own definition sums over both classes and is twice this. "
        "Small by itself at low prevalence: compare with prevalence times (1 - prevalence)",
    ),
    _metric(
        name="brier_skill",
        title="Brier skill score",
        meaning="share of the Brier score of always answering the prevalence that is saved",
        formula="1 - Brier / (prevalence (1 - prevalence))",
        low=-math.inf,
        better="higher",
        function=prob.brier_skill,
        bounds=binned_bounds.brier_skill_bounds,
        derivative=influence.brier_skill,
        undefined=because(ONE_CLASS),
        no_skill=constant_level(0.0),
        source="Murphy 1973; scikit-learn d2_brier_score",
        use="to compare the Brier score across prevalences",
        trap="the reference is the prevalence of these very rows, which no forecast knew",
    ),
    _metric(
        name="brier_reliability",
        title="Brier reliability",
        meaning="part of the Brier score that comes from miscalibration",
        formula="sum over distinct scores of w (p - outcome rate)^2 / n",
        strategy=NoMethod("probabilities"),
        function=prob.brier_reliability,
        derivative=influence.brier_reliability,
        source="Murphy 1973, J. Applied Meteorology 12:595",
        use="scores take few distinct values",
        trap="over distinct scores: when nearly each row has its own, it is nearly the Brier score itself, "
        "and resolution nearly the uncertainty. Tools that bin the scores get other parts. Never 0 in a "
        "sample, so that the interval may lie below the value; it needs 5 rows or more per distinct score",
    ),
    _metric(
        name="brier_resolution",
        title="Brier resolution",
        meaning="part of the outcome's variance that the scores sort out",
        formula="sum over distinct scores of w (outcome rate - prevalence)^2 / n",
        high=0.25,
        better="higher",
        strategy=NoMethod("probabilities"),
        function=prob.brier_resolution,
        derivative=influence.brier_resolution,
        no_skill=constant_level(0.0),
        source="Murphy 1973, J. Applied Meteorology 12:595",
        use="scores take few distinct values",
        trap="grows with the number of distinct scores, skill or none: see Brier reliability",
    ),
    _metric(
        name="brier_uncertainty",
        title="Brier uncertainty",
        meaning="Brier score of always answering the prevalence",
        formula="prevalence (1 - prevalence)",
        high=0.25,
        better="neither",
        strategy=NoMethod("probabilities"),
        function=prob.brier_uncertainty,
        bounds=binned_bounds.brier_uncertainty_bounds,
        derivative=influence.brier_uncertainty,
        source="Murphy 1973, J. Applied Meteorology 12:595",
        use="Brier = reliability - resolution + uncertainty",
        trap="describes the data, not the model",
    ),
    _metric(
        name="ece",
        title="Expected calibration error",
        meaning="mean gap between probability and frequency, over 15 equal-width bins",
        formula="sum over bins of |sum p - sum y| / n",
        strategy=CalibrationGaps("width"),
        function=prob.ece,
        source="Naeini, Cooper & Hauskrecht 2015, AAAI; bins right-closed, the first holding 0",
        use="a first look at calibration",
        trap="of P(positive); for networks it is often the ECE of the top label, another number. "
        + BINS
        + ". "
        "Never 0 for a finite sample, and blind to errors that cancel inside a bin",
    ),
    _metric(
        name="ece_equal_mass",
        title="Expected calibration error (equal-mass bins)",
        meaning="mean gap between probability and frequency, over 15 bins of equal weight",
        formula="sum over bins of |sum p - sum y| / n",
        strategy=CalibrationGaps("mass"),
        function=prob.ece_equal_mass,
        source="Nixon et al. 2019, CVPR workshops (adaptive calibration error, there of each class)",
        use="scores crowd together, so that most equal-width bins are empty",
        trap="of P(positive) alone, where the source averages over bins of each class. "
        + BINS
        + ". Tied scores stay in one bin, that of the middle of their weight",
    ),
    _metric(
        name="ici",
        title="Integrated calibration index",
        meaning="mean gap between probability and smooth calibration curve",
        formula="mean(|p - c(p)|), c the share of positives on a restricted cubic spline of logit(p)",
        strategy=SmoothGaps(),
        function=prob.smooth_gap,
        undefined=_no_fit,
        source=AUSTIN,
        use="one number for calibration that no choice of bins moves",
        trap=CURVE + "; a local regression gives a slightly other number. Never 0 for a finite sample",
    ),
    _metric(
        name="corp_miscalibration",
        title="CORP miscalibration",
        meaning="what the best monotone recalibration takes off the Brier score",
        formula="Brier - Brier of the isotonic fit",
        strategy=NoMethod("probabilities"),
        function=prob.corp_miscalibration,
        source=CORP,
        use="to see how much of the Brier score recalibration could save, without a choice of bins",
        trap="of the rows that the isotonic fit was made on: never below 0, and above it in a finite sample. "
        "It has no interval here",
    ),
    _metric(
        name="corp_discrimination",
        title="CORP discrimination",
        meaning="by how much the recalibrated scores beat the prevalence, in Brier score",
        formula="prevalence (1 - prevalence) - Brier of the isotonic fit",
        high=0.25,
        better="higher",
        strategy=NoMethod("probabilities"),
        function=prob.corp_discrimination,
        no_skill=constant_level(0.0),
        source=CORP,
        use="Brier = miscalibration - discrimination + uncertainty, stable where each row has its own score",
        trap="of the rows that the isotonic fit was made on: above 0 in a finite sample, skill or none. "
        "It has no interval here",
    ),
    _metric(
        name="calibration_in_the_large",
        title="Calibration in the large",
        meaning="log-odds to add to every probability: above 0, risks are too low",
        formula="a in logit P(y = 1) = a + logit(p), the slope fixed at 1",
        low=-math.inf,
        high=math.inf,
        better="zero",
        function=prob.calibration_in_the_large,
        derivative=influence.calibration_in_the_large,
        undefined=because(ONE_CLASS, (lambda _: True, "every probability is 0 or 1")),
        source="Steyerberg 2019, Clinical Prediction Models; scores clipped to [1e-6, 1 - 1e-6]",
        use="a model goes to a place where the outcome is more, or less, frequent",
        trap="0 of a model that is too high at one end and too low at the other: read it beside the slope",
    ),
    _metric(
        name="observed_expected_ratio",
        title="Observed / expected",
        meaning="how many positives there are for each that the probabilities promise",
        formula="P / sum of p",
        high=math.inf,
        better="one",
        function=prob.observed_expected_ratio,
        bounds=binned_bounds.observed_expected_ratio_bounds,
        derivative=influence.observed_expected_ratio,
        undefined="all probabilities are 0, or next to it: nothing is expected",
        source="Debray et al. 2017, BMJ 356:i6460",
        use="numbers of cases are planned from the probabilities",
        trap="1 of a model that is too high at one end and too low at the other: read it beside the slope",
    ),
    _metric(
        name="calibration_intercept",
        title="Calibration intercept",
        meaning="log-odds to add after the slope: above 0, risks are too low",
        formula="a in logit P(y = 1) = a + b logit(p), fitted jointly",
        low=-math.inf,
        high=math.inf,
        better="zero",
        function=prob.calibration_intercept,
        derivative=partial(influence.recalibration, which=0),
        undefined=_no_fit,
        source="Cox 1958, Biometrika 45:562; scores clipped to [1e-6, 1 - 1e-6]",
        use="probabilities will be shown to people",
        trap="of the joint fit; calibration-in-the-large fixes the slope at 1 and is another number. "
        "Only together with a slope near 1 does it say that risks are too low or too high",
    ),
    _metric(
        name="calibration_slope",
        title="Calibration slope",
        meaning="below 1, probabilities are too extreme; above 1, too timid",
        formula="b in logit P(y = 1) = a + b logit(p), fitted jointly",
        low=-math.inf,
        high=math.inf,
        better="one",
        function=prob.calibration_slope,
        derivative=partial(influence.recalibration, which=1),
        undefined=_no_fit,
        source="Cox 1958, Biometrika 45:562; Miller, Hui & Tierney 1991",
        use="to see overfitting: its mark is a slope below 1",
        trap="1 does not make a model calibrated, only neither too extreme nor too timid on average",
    ),
)

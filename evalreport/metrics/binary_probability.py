"""Records of the binary metrics of probabilities, and their bounds from counts in bins."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from evalreport.metrics import influence
from evalreport.metrics import probability_functions as prob
from evalreport.metrics.binary_decisions import ONE_CLASS, constant_level
from evalreport.metrics.probability_functions import brier_uncertainty
from evalreport.metrics.record import (
    CalibrationGaps,
    Metric,
    NoMethod,
    Smooth,
    SmoothGaps,
    because,
    divide,
    view,
)
from evalreport.statistics.score_table import EPS, BinnedTable, Bounds, ScoreTable
from evalreport.statistics.summary import Summary


def brier_bounds(t: BinnedTable) -> Bounds:
    """Extreme cases: all probabilities of a bin are at one of its ends."""
    low, high = t.scores, np.minimum(t.ends, 1)
    least = t.pos @ (1 - high) ** 2 + t.neg @ low**2
    most = t.pos @ (1 - low) ** 2 + t.neg @ high**2
    return float(least) / t.total, float(most) / t.total


def brier_skill_bounds(t: BinnedTable) -> Bounds:
    """Bounds from those of the Brier score; the reference (prevalence) is exact."""
    least, most = brier_bounds(t)
    return 1 - most / brier_uncertainty(t), 1 - least / brier_uncertainty(t)


def brier_uncertainty_bounds(t: BinnedTable) -> Bounds:
    """The value is exact: it depends only on the true labels."""
    return brier_uncertainty(t), brier_uncertainty(t)


def observed_expected_ratio_bounds(t: BinnedTable) -> Bounds:
    """Extreme cases: all probabilities of a bin are at one of its ends."""
    weight = t.pos + t.neg
    expected = weight @ np.minimum(t.ends, 1), weight @ t.scores
    low, high = (divide(t.positives, each) for each in expected)
    return float(low), float(high)


def log_loss_bounds(t: BinnedTable) -> Bounds:
    """Extreme cases: all probabilities of a bin are at one of its ends."""
    low, high = (np.clip(ends, EPS, 1 - EPS) for ends in (t.scores, t.ends))
    least = -(t.pos @ np.log(high) + t.neg @ np.log(1 - low))
    most = -(t.pos @ np.log(low) + t.neg @ np.log(1 - high))
    return float(least) / t.total, float(most) / t.total


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

BINS = "Tools differ in the number of bins, in equal width or equal mass, and in which bin includes an edge"


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
    return "the scores separate the classes perfectly: the logistic fit has no finite solution"


PROBABILITY: tuple[Metric, ...] = (
    _metric(
        name="log_loss",
        title="Log loss",
        meaning="negative mean log-likelihood of the true labels, in nats",
        formula="-mean(y ln p + (1 - y) ln(1 - p))",
        high=math.inf,
        strategy=Smooth("mean"),
        function=prob.log_loss,
        bounds=log_loss_bounds,
        derivative=influence.log_loss,
        no_skill=_entropy,
        source="Good 1952; scikit-learn log_loss",
        use="probabilities feed decisions with unknown costs; models are compared on the same rows",
        trap="can be dominated by one confident, wrong prediction. Probabilities are clipped at the float64 "
        "epsilon, 2.2e-16; tools that clip at another value give another result. The no-skill level "
        "depends on prevalence",
    ),
    _metric(
        name="brier",
        title="Brier score",
        meaning="mean squared error of the probability of the positive class",
        formula="mean((p - y)^2)",
        strategy=Smooth("mean"),
        function=prob.brier,
        bounds=brier_bounds,
        derivative=influence.brier,
        no_skill=_uncertainty,
        source="Brier 1950; scikit-learn brier_score_loss",
        use="probabilities matter: it measures calibration and discrimination together",
        trap="Brier's original definition sums over both classes and is twice this value. Small for any "
        "model at low prevalence: compare with prevalence times (1 - prevalence)",
    ),
    _metric(
        name="brier_skill",
        title="Brier skill score",
        meaning="reduction of the Brier score relative to always predicting the prevalence, as a fraction",
        formula="1 - Brier / (prevalence (1 - prevalence))",
        low=-math.inf,
        better="higher",
        function=prob.brier_skill,
        bounds=brier_skill_bounds,
        derivative=influence.brier_skill,
        undefined=because(ONE_CLASS),
        no_skill=constant_level(0.0),
        source="Murphy 1973; scikit-learn d2_brier_score",
        use="to compare the Brier score across prevalences",
        trap="the reference is the prevalence of the evaluated rows, which is unknown at prediction time",
    ),
    _metric(
        name="brier_reliability",
        title="Brier reliability",
        meaning="component of the Brier score due to miscalibration",
        formula="sum over distinct scores of w (p - outcome rate)^2 / n",
        strategy=NoMethod("probabilities"),
        function=prob.brier_reliability,
        derivative=influence.brier_reliability,
        source="Murphy 1973, J. Applied Meteorology 12:595",
        use="scores take few distinct values",
        trap="computed over distinct scores: if almost every row has its own score, it is close to the Brier"
        " score, and resolution is close to the uncertainty. Tools that bin the scores get other "
        "components. Greater than 0 in a finite sample even for a calibrated model, so the interval may"
        " be below the value. The interval needs at least 5 rows per distinct score",
    ),
    _metric(
        name="brier_resolution",
        title="Brier resolution",
        meaning="component of the outcome variance that the scores explain",
        formula="sum over distinct scores of w (outcome rate - prevalence)^2 / n",
        high=0.25,
        better="higher",
        strategy=NoMethod("probabilities"),
        function=prob.brier_resolution,
        derivative=influence.brier_resolution,
        no_skill=constant_level(0.0),
        source="Murphy 1973, J. Applied Meteorology 12:595",
        use="scores take few distinct values",
        trap="increases with the number of distinct scores, even without skill: see Brier reliability",
    ),
    _metric(
        name="brier_uncertainty",
        title="Brier uncertainty",
        meaning="Brier score of always predicting the prevalence",
        formula="prevalence (1 - prevalence)",
        high=0.25,
        better="neither",
        strategy=NoMethod("probabilities"),
        function=prob.brier_uncertainty,
        bounds=brier_uncertainty_bounds,
        derivative=influence.brier_uncertainty,
        source="Murphy 1973, J. Applied Meteorology 12:595",
        use="Brier = reliability - resolution + uncertainty",
        trap="describes the data, not the model",
    ),
    _metric(
        name="ece",
        title="Expected calibration error",
        meaning="mean gap between predicted probability and observed rate, over 15 equal-width bins",
        formula="sum over bins of |sum p - sum y| / n",
        strategy=CalibrationGaps("width"),
        function=prob.ece,
        source="Naeini, Cooper & Hauskrecht 2015, AAAI; bins right-closed, the first holding 0",
        use="a first look at calibration",
        trap="computed from P(positive); for neural networks, ECE often means the ECE of the top label. "
        + BINS
        + ". "
        "Greater than 0 for a finite sample, and does not show errors that cancel inside a bin",
    ),
    _metric(
        name="ece_equal_mass",
        title="Expected calibration error (equal-mass bins)",
        meaning="mean gap between predicted probability and observed rate, over 15 bins of equal weight",
        formula="sum over bins of |sum p - sum y| / n",
        strategy=CalibrationGaps("mass"),
        function=prob.ece_equal_mass,
        source="Nixon et al. 2019, CVPR workshops (adaptive calibration error, there of each class)",
        use="scores are concentrated, so most equal-width bins are empty",
        trap="computed from P(positive) only; the source averages over bins of each class. "
        + BINS
        + ". Tied scores stay in one bin: the bin that contains the middle of their weight",
    ),
    _metric(
        name="ici",
        title="Integrated calibration index",
        meaning="mean gap between predicted probability and smooth calibration curve",
        formula="mean(|p - c(p)|), c the fraction of positives on a restricted cubic spline of logit(p)",
        strategy=SmoothGaps(),
        function=prob.smooth_gap,
        undefined=_no_fit,
        source=AUSTIN,
        use="one calibration metric that does not depend on bins",
        trap=CURVE
        + ". A local regression gives a slightly different value. Greater than 0 for a finite sample",
    ),
    _metric(
        name="corp_miscalibration",
        title="CORP miscalibration",
        meaning="reduction of the Brier score by the best monotone recalibration",
        formula="Brier - Brier of the isotonic fit",
        strategy=NoMethod("probabilities"),
        function=prob.corp_miscalibration,
        source=CORP,
        use="to measure how much recalibration could reduce the Brier score, without a choice of bins",
        trap="computed on the rows that the isotonic fit uses: never below 0, and greater than 0 in a finite"
        " sample. No interval is computed",
    ),
    _metric(
        name="corp_discrimination",
        title="CORP discrimination",
        meaning="Brier score of the prevalence minus the Brier score of the recalibrated scores",
        formula="prevalence (1 - prevalence) - Brier of the isotonic fit",
        high=0.25,
        better="higher",
        strategy=NoMethod("probabilities"),
        function=prob.corp_discrimination,
        no_skill=constant_level(0.0),
        source=CORP,
        use="Brier = miscalibration - discrimination + uncertainty, stable if each row has its own score",
        trap="computed on the rows that the isotonic fit uses: greater than 0 in a finite sample, even "
        "without skill. No interval is computed",
    ),
    _metric(
        name="calibration_in_the_large",
        title="Calibration in the large",
        meaning="log-odds to add to every probability: above 0, probabilities are too low",
        formula="a in logit P(y = 1) = a + logit(p), the slope fixed at 1",
        low=-math.inf,
        high=math.inf,
        better="zero",
        function=prob.calibration_in_the_large,
        derivative=influence.calibration_in_the_large,
        undefined=because(ONE_CLASS, (lambda _: True, "every probability is 0 or 1")),
        source="Steyerberg 2019, Clinical Prediction Models; scores clipped to [1e-6, 1 - 1e-6]",
        use="the model moves to a population with a different prevalence",
        trap="also 0 if probabilities are too high at one end and too low at the other: read it together "
        "with the slope",
    ),
    _metric(
        name="observed_expected_ratio",
        title="Observed / expected",
        meaning="number of positives divided by the sum of the probabilities",
        formula="P / sum of p",
        high=math.inf,
        better="one",
        function=prob.observed_expected_ratio,
        bounds=observed_expected_ratio_bounds,
        derivative=influence.observed_expected_ratio,
        undefined="all probabilities are 0 or almost 0, so no positives are expected",
        source="Debray et al. 2017, BMJ 356:i6460",
        use="to plan numbers of cases from the probabilities",
        trap="also 1 if probabilities are too high at one end and too low at the other: read it together "
        "with the slope",
    ),
    _metric(
        name="calibration_intercept",
        title="Calibration intercept",
        meaning="log-odds to add after scaling by the slope: above 0, probabilities are too low",
        formula="a in logit P(y = 1) = a + b logit(p), fitted jointly",
        low=-math.inf,
        high=math.inf,
        better="zero",
        function=prob.calibration_intercept,
        derivative=partial(influence.recalibration, which=0),
        undefined=_no_fit,
        source="Cox 1958, Biometrika 45:562; scores clipped to [1e-6, 1 - 1e-6]",
        use="probabilities are shown to people",
        trap="belongs to the joint fit; calibration in the large fixes the slope at 1 and has another value."
        " It shows that probabilities are too low or too high only if the slope is close to 1",
    ),
    _metric(
        name="calibration_slope",
        title="Calibration slope",
        meaning="below 1, probabilities are overconfident; above 1, underconfident",
        formula="b in logit P(y = 1) = a + b logit(p), fitted jointly",
        low=-math.inf,
        high=math.inf,
        better="one",
        function=prob.calibration_slope,
        derivative=partial(influence.recalibration, which=1),
        undefined=_no_fit,
        source="Cox 1958, Biometrika 45:562; Miller, Hui & Tierney 1991",
        use="to detect overfitting, which gives a slope below 1",
        trap="a slope of 1 does not imply calibration: the model is neither overconfident nor underconfident"
        " on average",
    ),
)

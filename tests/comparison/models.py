"""Correlated models of known skill: what simulations and tests of comparisons start from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from evalreport.comparison.comparison import Difference
from evalreport.comparison.differences import PairedSamples, adjusted_verdicts, paired_difference
from evalreport.data.labels import Binary, Multiclass, Multilabel
from evalreport.data.predictions import Predictions, predictions
from evalreport.data.scores import Probabilities
from evalreport.evaluation.evaluate import evaluate_predictions
from evalreport.evaluation.evaluation import Evaluation
from evalreport.intervals.interval_settings import Sampling
from evalreport.intervals.row_influence import Counted
from evalreport.metrics.record import Metric

QUICK = Sampling(resamples=1000)


def binary(
    rng: np.random.Generator,
    n: int,
    prevalence: float = 0.3,
    skills: Sequence[float] = (1.8, 1.8),
    correlation: float = 0.6,
    threshold: float = 0.35,
    per_cluster: int = 1,
) -> list[Predictions]:
    """Calibrated scores of binormal models whose noise is shared in part.

    With several rows per cluster half of all noise, and most of the truth, is the cluster's.
    """
    clusters = np.arange(n) // per_cluster
    own = rng.random(clusters[-1] + 1) < prevalence
    truth = own[clusters] if per_cluster > 1 else own
    truth = np.where(rng.random(n) < 0.3, rng.random(n) < prevalence, truth) if per_cluster > 1 else truth
    truth[:2] = [True, False]

    def noise_of(part: float) -> npt.NDArray[np.float64]:
        """Normal noise of a variance, half of it the cluster's where there are clusters."""
        alone = rng.standard_normal(n)
        if per_cluster > 1:
            alone = (alone + rng.standard_normal(clusters[-1] + 1)[clusters]) / np.sqrt(2)
        return np.asarray(np.sqrt(part) * alone)

    shared = noise_of(correlation)
    found = []
    for skill in skills:
        noise = shared + noise_of(1 - correlation)
        logit = skill * (skill * truth + noise) - skill**2 / 2 + np.log(prevalence / (1 - prevalence))
        scores = Probabilities(1 / (1 + np.exp(-logit)))
        found.append(predictions(Binary(0, 1), truth.astype(int), scores=scores, threshold=threshold))
    return found


def multiclass(
    rng: np.random.Generator,
    n: int,
    shares: npt.NDArray[np.float64],
    skills: Sequence[float] = (1.8, 1.8),
    correlation: float = 0.6,
) -> list[Predictions]:
    """Softmax models over classes of given shares."""
    size = len(shares)
    truth = rng.choice(size, n, p=shares)
    shared = rng.standard_normal((n, size))
    space = Multiclass([f"class {code}" for code in range(size)])
    found = []
    for skill in skills:
        logit = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * rng.standard_normal((n, size))
        logit[np.arange(n), truth] += skill
        chances = np.exp(skill * logit) * shares
        scores = Probabilities(chances / chances.sum(axis=1, keepdims=True))
        found.append(predictions(space, np.asarray(space.names)[truth], scores=scores))
    return found


def multilabel(
    rng: np.random.Generator,
    n: int,
    shares: npt.NDArray[np.float64],
    skills: Sequence[float] = (1.8, 1.8),
    correlation: float = 0.6,
) -> list[Predictions]:
    """Labels of given prevalence, scored one by one, with noise that labels and models share."""
    size = len(shares)
    truth = rng.random((n, size)) < shares
    shared = 0.8 * rng.standard_normal((n, size)) + 0.6 * rng.standard_normal((n, 1))
    space = Multilabel([f"tag {code}" for code in range(size)])
    found = []
    for skill in skills:
        noise = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * rng.standard_normal((n, size))
        logit = skill * (skill * truth + noise) - skill**2 / 2 + np.log(shares / (1 - shares))
        scores = Probabilities(1 / (1 + np.exp(-logit)))
        found.append(predictions(space, truth, scores=scores, threshold=0.3))
    return found


def sides(pair: Sequence[Predictions], sampling: Sampling = QUICK) -> PairedSamples:
    """Two sets of predictions of the same rows."""
    return PairedSamples(Counted.from_predictions(pair[0]), Counted.from_predictions(pair[1]), sampling)


def paired(metric: Metric, samples: PairedSamples, names: tuple[str, str] = ("a", "b")) -> Difference:
    """One difference on the same rows, judged alone."""
    found = paired_difference(metric, samples, names)
    return adjusted_verdicts([found], {metric.name: metric.better}, samples.sampling.level)[0]


def reach(found: Difference) -> float:
    """What would have been demonstrated, in standard errors: 2.80 of them."""
    assert found.detectable is not None, found.reason
    assert found.detectable.difference is not None
    return found.detectable.difference


def evaluations(runs: Sequence[Predictions]) -> list[Evaluation]:
    """The runs, evaluated."""
    return [evaluate_predictions(run, QUICK) for run in runs]


def bare(p: Predictions, sampling: Sampling = QUICK) -> Evaluation:
    """Predictions as an evaluation of which nothing else is known: what a paired comparison reads."""
    return Evaluation(p.space, len(p), float(p.weights.sum()), sampling, {}, predictions=p)

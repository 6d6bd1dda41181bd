"""Simulated problems: how rows are drawn, at which size and prevalence, with how many labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.data.labels import UNPARSED, Binary, Multiclass, Multilabel, Task
from evalreport.data.predictions import Predictions, predictions
from evalreport.data.scores import Probabilities

Array: TypeAlias = npt.NDArray[np.float64]
SIZES = (50, 200, 2000)
GROUP = 8
"""Rows of a cluster, about."""


@dataclass(frozen=True)
class Setting:
    """One kind of data.

    Parameters
    ----------
    task : str
    kind : str
        Binary: ``equal`` or ``unequal`` spread of the scores of the classes, the first calibrated, the
        second overconfident; ``steps``: as equal, in steps of a tenth. Multiclass: ``even`` or ``uneven``
        classes (largest ten times the smallest or more). Multilabel: ``labels``, correlated within rows.
        ``clusters``, ``weights``: binary. ``groups``: multiclass, about eight rows each. ``text``: one answer
        in ten cannot be read. ``apart``: classes that hardly overlap (AUC 0.999). ``hundredths``: as equal,
        in steps of a hundredth. ``heavy``: weights whose logarithm has the standard deviation 1.2.
        ``rare``: a class of a few rows in a hundred, of which most are answered wrong. ``grades``: ordered
        labels of which neighbours are confused, the last one rare.
    n : int
        Rows.
    prevalence : float
        Of the positive class, of each label or of the rare class; 0 for other multiclass.
    labels : int
    """

    task: Task
    kind: str
    n: int
    prevalence: float
    labels: int = 2

    @property
    def what(self) -> str:
        """The setting in words."""
        return {
            "steps": f"prevalence {self.prevalence:g}, scores in steps of a tenth",
            "hundredths": f"prevalence {self.prevalence:g}, scores in steps of a hundredth",
            "apart": f"prevalence {self.prevalence:g}, AUC 0.999",
            "equal": f"prevalence {self.prevalence:g}, calibrated",
            "unequal": f"prevalence {self.prevalence:g}, unequal spread, overconfident",
            "even": f"{self.labels} even classes",
            "uneven": f"{self.labels} uneven classes",
            "labels": f"{self.labels} labels of prevalence about {self.prevalence:g}",
            "clusters": f"{self.labels} clusters, prevalence about {self.prevalence:g}",
            "groups": f"{self.n // GROUP} clusters, {self.labels} classes",
            "text": f"{self.labels} labels read from text, one in ten unread",
            "weights": f"rows sampled unequally, prevalence about {self.prevalence:g}",
            "heavy": f"very uneven weights, prevalence {self.prevalence:g}",
            "grades": f"{self.labels} ordered grades, the last one of 1.4%",
            "rare": f"{self.labels} classes, one of {self.prevalence:.0%} that is mostly missed",
        }[self.kind]

    def draw(self, rng: np.random.Generator, n: int | None = None) -> Predictions:
        """Draw one data set, of another size when `n` is given."""
        rows = self.n if n is None else n
        if self.kind in ("text", "groups", "grades"):
            return {"text": _text, "groups": _grouped, "grades": _grades}[self.kind](self, rows, rng)
        if self.task == "multiclass":
            return _multiclass(self, rows, rng)
        if self.task == "multilabel":
            return _multilabel(self, rows, rng)
        special = {"clusters": _clusters, "weights": _weighted, "heavy": _heavy}
        return special.get(self.kind, _binary)(self, rows, rng)


APART = 4.37
"""Standard deviations between the classes at which a score has the AUC 0.999."""
STEPS = {"steps": 10, "hundredths": 100}
"""Steps of the scores."""


def sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def _binary(s: Setting, n: int, rng: np.random.Generator) -> Predictions:
    return _decided(*_rows(s, n, rng), s.prevalence)


def _rows(s: Setting, n: int, rng: np.random.Generator) -> tuple[npt.NDArray[np.bool_], Array]:
    truth = rng.random(n) < s.prevalence
    prior = np.log(s.prevalence / (1 - s.prevalence))
    if s.kind != "unequal":
        apart = APART if s.kind == "apart" else 1.5
        scores = sigmoid(prior + apart * (rng.normal(size=n) + apart * truth) - apart**2 / 2)
        if s.kind in STEPS:
            scores = (np.floor(STEPS[s.kind] * scores) + 0.5) / STEPS[s.kind]
    else:
        spread = rng.normal(size=n) * np.where(truth, 2.0, 1.0)
        scores = sigmoid(prior + 2.5 * (spread + 1.5 * truth) - 1.5)
    return truth, scores


def _decided(truth: npt.NDArray[np.bool_], scores: Array, threshold: float, **more: Any) -> Predictions:
    space = Binary(0, 1)
    return predictions(space, truth.astype(int), scores=Probabilities(scores), threshold=threshold, **more)


def _clusters(s: Setting, n: int, rng: np.random.Generator) -> Predictions:
    """Clusters of about eight rows that share how hard they are, how they score and how often positive."""
    number = max(1, round(s.labels * n / s.n))
    cluster = np.repeat(np.arange(number), rng.integers(1, 16, number))
    level, hardness, rate = (rng.normal(size=number)[cluster] for _ in range(3))
    truth = rng.random(len(cluster)) < sigmoid(np.log(s.prevalence / (1 - s.prevalence)) + 1.2 * rate)
    scores = sigmoid(rng.normal(size=len(cluster)) + level + (2 + hardness) * truth - 1.5)
    return _decided(truth, scores, 0.5, groups=cluster)


def _weighted(s: Setting, n: int, rng: np.random.Generator) -> Predictions:
    """Rows of a population kept with unequal probability and weighted by its inverse."""
    many = 6 * n
    easy = rng.random(many)
    truth = rng.random(many) < s.prevalence
    scores = sigmoid(rng.normal(size=many) + (1 + 2 * easy) * truth - 1 + easy)
    chance = 0.1 + 0.4 * easy
    kept = np.flatnonzero(rng.random(many) < chance)[:n]
    return _decided(truth[kept], scores[kept], 0.5, weights=1 / chance[kept])


def _heavy(s: Setting, n: int, rng: np.random.Generator) -> Predictions:
    """Rows whose weights are lognormal, whatever the scores: a few hold most of the mass."""
    truth, scores = _rows(s, n, rng)
    return _decided(truth, scores, s.prevalence, weights=np.exp(1.2 * rng.normal(size=n)))


def _multiclass(s: Setting, n: int, rng: np.random.Generator) -> Predictions:
    share = np.ones(s.labels)
    if s.kind == "uneven":
        share = np.array([0.8, 0.15, 0.05]) if s.labels == 3 else np.linspace(1, 0.1, s.labels)
    if s.kind == "rare":
        share[-1] = (s.labels - 1) * s.prevalence / (1 - s.prevalence)
    share = share / share.sum()
    truth = rng.choice(s.labels, n, p=share)
    logit = rng.normal(size=(n, s.labels)) + np.log(share)
    logit[np.arange(n), truth] += np.where(truth % 2, 2.0, 3.0)
    scores = np.exp(1.3 * logit)
    space = Multiclass(range(s.labels), ordered=True)
    return predictions(space, truth, scores=Probabilities(scores / scores.sum(axis=1, keepdims=True)))


def _grouped(s: Setting, n: int, rng: np.random.Generator) -> Predictions:
    """Clusters that share which classes are frequent and how hard they are."""
    number = n // GROUP
    cluster = np.repeat(np.arange(number), rng.integers(1, 2 * GROUP, number))
    frequent = np.log(np.linspace(1, 0.1, s.labels)) + rng.normal(size=(number, s.labels))[cluster]
    truth = (frequent + rng.gumbel(size=(len(cluster), s.labels))).argmax(axis=1)
    right = rng.random(len(cluster)) < sigmoid(1 + rng.normal(size=number)[cluster])
    answer = np.where(right, truth, rng.integers(0, s.labels, len(cluster)))
    return predictions(Multiclass(range(s.labels)), truth, answer, groups=cluster)


def _grades(s: Setting, n: int, rng: np.random.Generator) -> Predictions:
    """Grades of a latent quality, which the answers see with noise."""
    cuts = np.append(np.linspace(-0.5, 1.6, s.labels - 2), 2.2)
    quality = rng.normal(size=n)
    seen = (quality + 0.5 * rng.normal(size=n)) / np.sqrt(1.25)
    truth, answer = (np.searchsorted(cuts, values) for values in (quality, seen))
    return predictions(Multiclass(range(s.labels), ordered=True), truth, answer)


def _text(s: Setting, n: int, rng: np.random.Generator) -> Predictions:
    """Answers right four times in five, and one in ten of all unread."""
    truth = rng.integers(0, s.labels, n)
    answer = np.where(rng.random(n) < 0.8, truth, rng.integers(0, s.labels, n))
    space = Multiclass(range(s.labels)) if s.task == "multiclass" else Binary(0, 1)
    read = predictions(space, truth, answer)
    codes = np.where(rng.random(n) < 0.1, UNPARSED, np.asarray(read.y_pred))
    return replace(read, y_pred=codes.astype(np.asarray(read.y_pred).dtype))


def _multilabel(s: Setting, n: int, rng: np.random.Generator) -> Predictions:
    shared = rng.normal(size=(n, 1))
    level = NormalDist().inv_cdf(1 - s.prevalence) + 0.3 * np.cos(np.arange(s.labels))
    truth = np.sqrt(0.3) * shared + np.sqrt(0.7) * rng.normal(size=(n, s.labels)) > level
    logit = 2.5 * truth - 2 + 0.5 * rng.normal(size=(n, 1)) + rng.normal(size=(n, s.labels))
    space = Multilabel([f"label {k}" for k in range(s.labels)])
    return predictions(space, truth, scores=Probabilities(sigmoid(logit)))


BINARY = tuple(
    Setting("binary", kind, n, prevalence)
    for kind in ("equal", "unequal")
    for prevalence in (0.5, 0.2, 0.05)
    for n in SIZES
) + tuple(Setting("binary", "steps", n, prevalence) for prevalence in (0.5, 0.2) for n in SIZES[1:])
MULTICLASS = tuple(
    Setting("multiclass", kind, n, 0.0, labels)
    for labels in (3, 20)
    for kind in ("even", "uneven")
    for n in SIZES
)
MULTILABEL = tuple(
    Setting("multilabel", "labels", n, prevalence, labels)
    for labels in (3, 20)
    for prevalence in (0.2, 0.05)
    for n in SIZES
)
DEPENDENT = (
    Setting("binary", "clusters", 240, 0.3, 30),
    Setting("binary", "clusters", 800, 0.3, 100),
    Setting("binary", "weights", 500, 0.3),
    Setting("binary", "weights", 2000, 0.1),
)
GROUPED = (Setting("multiclass", "groups", 240, 0.0, 5), Setting("multiclass", "groups", 1200, 0.0, 5))
HARD = (
    Setting("binary", "apart", 100, 0.3),
    Setting("binary", "apart", 200, 0.3),
    Setting("binary", "apart", 2000, 0.3),
    Setting("binary", "hundredths", 200, 0.5),
    Setting("binary", "hundredths", 2000, 0.2),
    Setting("binary", "heavy", 500, 0.3),
    Setting("binary", "heavy", 2000, 0.3),
    Setting("binary", "clusters", 400, 0.1, 50),
    Setting("multiclass", "rare", 500, 0.01, 3),
    Setting("multiclass", "rare", 2000, 0.01, 3),
    Setting("multiclass", "rare", 500, 0.03, 10),
    *(Setting("multiclass", "grades", n, 0.0, 5) for n in SIZES[:2]),
    Setting("binary", "equal", 5000, 0.002),
)
"""Where intervals are known to have it hard."""
TEXT = (
    *(Setting("binary", "text", n, 0.5) for n in SIZES),
    *(Setting("multiclass", "text", n, 0.0, 5) for n in SIZES),
)

"""Functions of the marginals of a multiclass confusion matrix, and of the label distribution.

Each takes `Marginals` whose fields have shape (..., K) and returns shape (...): a single matrix or
bootstrap replicates alike. Unparsed answers are wrong: they count in the total and as a predicted category
of their own in MCC and kappa.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.facts import ClassBins, Marginals
from evalreport.facts.counts import Array
from evalreport.metrics.averages import Average, Gap, Pooled
from evalreport.metrics.binary_counts import f1, recall
from evalreport.metrics.record import divide


def accuracy(m: Marginals) -> Any:
    """Return the share of right answers, in [0, 1].

    >>> float(accuracy(Marginals(np.array([1.0, 2]), np.array([2.0, 2]), np.array([1.0, 3]), 4.0, 1.0)))
    0.75
    """
    return divide(m.right, m.total)


def no_information_rate(m: Marginals) -> Any:
    """Return the accuracy of always answering the most frequent class, in [1 / K, 1].

    >>> float(no_information_rate(Marginals(np.ones(2), np.array([1.0, 3]), np.array([1.0, 3]), 4.0, 1.0)))
    0.75
    """
    return divide(m.support.max(axis=-1), m.total)


def accuracy_gain(m: Marginals) -> Any:
    """Return accuracy minus the no-information rate, in [-1, 1).

    >>> float(accuracy_gain(Marginals(np.array([1.0, 2]), np.ones(2) * 2, np.array([1.0, 3]), 4.0, 1.0)))
    0.25
    """
    return accuracy(m) - no_information_rate(m)


balanced_accuracy = Average(recall, "macro_supported")
"""Mean recall over classes with true examples, in [0, 1]."""
micro_macro_gap = Gap(Pooled(f1), Average(f1, "macro"))
"""Micro F1 minus macro F1, in [-1, 1]."""


def _agreement(m: Marginals) -> Any:
    """Right answers beyond what the marginals alone would give, times n."""
    return m.right * m.total - (m.support * m.predicted).sum(axis=-1)


def _spread(marginal: Array, rest: Any) -> Any:
    """n² minus the sum of squares of a marginal, without their cancellation; `rest` is one class more."""
    others = marginal.sum(axis=-1, keepdims=True) - marginal
    return (marginal * np.maximum(others, 0)).sum(axis=-1) + 2 * rest * marginal.sum(axis=-1)


def mcc(m: Marginals) -> Any:
    """Return Gorodkin's (2004) multiclass Matthews correlation; NaN when truth or answers are constant.

    >>> float(mcc(Marginals(np.array([4.0, 4]), np.array([5.0, 5]), np.array([5.0, 5]), 10.0, 2.0)))
    0.6
    """
    predicted, true = _spread(m.predicted, m.unparsed), _spread(m.support, 0.0)
    return divide(_agreement(m), np.sqrt(_less_noise(predicted, m) * _less_noise(true, m)))


def _less_noise(spread: Any, m: Marginals) -> Any:
    """The spread of a constant marginal is 0, whatever its sums of weights round to (1e-13 of a million)."""
    return np.where(spread > 1e-12 * np.square(m.total), spread, 0.0)


def cohen_kappa(m: Marginals) -> Any:
    """Return Cohen's kappa, in [-1, 1]; NaN when truth and answers are constant and equal.

    >>> float(cohen_kappa(Marginals(np.array([4.0, 4]), np.array([5.0, 5]), np.array([5.0, 5]), 10.0, 2.0)))
    0.6
    """
    chance = np.square(m.total) - (m.support * m.predicted).sum(axis=-1)
    return divide(_agreement(m), _less_noise(chance, m))


def cohen_kappa_quadratic(m: Marginals) -> Any:
    """Return kappa weighted by the squared distance of positions in the order of the labels.

    NaN when an answer could not be parsed (it stands nowhere in the order), or without any spread.

    >>> m = Marginals(np.array([4.0, 4]), np.array([5.0, 5]), np.array([5.0, 5]), 10.0, 2.0)
    >>> float(cohen_kappa_quadratic(m))
    0.6
    """
    place = np.arange(m.support.shape[-1], dtype=np.float64)

    def moment(marginal: Array, power: int) -> Any:
        return marginal @ place**power

    apart = m.total * (moment(m.support, 2) + moment(m.predicted, 2))
    apart = apart - 2 * moment(m.support, 1) * moment(m.predicted, 1)
    return 1 - divide(m.squared_distance * m.total, _less_noise(apart, m))


def cohen_kappa_linear(m: Marginals) -> Any:
    """Return kappa weighted by the distance of positions in the order of the labels; NaN as above.

    >>> m = Marginals(np.array([4.0, 4]), np.array([5.0, 5]), np.array([5.0, 5]), 10.0, 2.0, 2.0)
    >>> round(float(cohen_kappa_linear(m)), 12)
    0.6
    """
    # The mean distance of two independent draws is the sum over cuts of one being below it and one above.
    true, said = m.support.cumsum(axis=-1), m.predicted.cumsum(axis=-1)
    total = np.asarray(m.total)[..., None]
    apart = (true * (total - said) + said * (total - true)).sum(axis=-1)
    return 1 - divide(m.distance * m.total, _less_noise(apart, m))


def n_labels(m: Marginals) -> Any:
    """Return the number of declared labels.

    >>> int(n_labels(Marginals(np.ones(2), np.ones(2), np.ones(2), 2.0, 0.0)))
    2
    """
    return np.full(m.support.shape[:-1], m.support.shape[-1])


def n_absent(m: Marginals) -> Any:
    """Return the number of labels without a true example.

    >>> int(n_absent(Marginals(np.array([1.0, 0]), np.array([1.0, 0]), np.ones(2), 2.0, 0.0)))
    1
    """
    return (m.support == 0).sum(axis=-1)


def n_never_predicted(m: Marginals) -> Any:
    """Return the number of labels that have true examples and are never predicted.

    >>> int(n_never_predicted(Marginals(np.array([1.0, 0]), np.ones(2), np.array([2.0, 0]), 2.0, 1.0)))
    1
    """
    return ((m.support > 0) & (m.predicted == 0)).sum(axis=-1)


def n_spurious(m: Marginals) -> Any:
    """Return the number of labels that are predicted and have no true example.

    >>> int(n_spurious(Marginals(np.array([1.0, 0]), np.array([2.0, 0]), np.ones(2), 2.0, 1.0)))
    1
    """
    return ((m.support == 0) & (m.predicted > 0)).sum(axis=-1)


def effective_labels(marginal: Array) -> Any:
    """Return exp(entropy) of a distribution over labels: how many equally frequent ones it is worth.

    >>> float(effective_labels(np.array([2.0, 2.0, 0.0])))
    2.0
    """
    share = divide(marginal, marginal.sum(axis=-1, keepdims=True))
    surprise = np.log(share, out=np.zeros_like(share), where=share > 0)
    return np.exp(-(share * surprise).sum(axis=-1))


def effective_labels_true(m: Marginals) -> Any:
    """Return `effective_labels` of the truth, in [1, K].

    >>> float(effective_labels_true(Marginals(np.ones(2), np.ones(2), np.ones(2), 2.0, 0.0)))
    2.0
    """
    return effective_labels(m.support)


def effective_labels_predicted(m: Marginals) -> Any:
    """Return `effective_labels` of the answers, in [1, K]; NaN when none could be parsed.

    >>> float(effective_labels_predicted(Marginals(np.ones(2), np.ones(2), np.ones(2), 2.0, 0.0)))
    2.0
    """
    return effective_labels(m.predicted)


def top_predicted_share(m: Marginals) -> Any:
    """Return the share of all answers that the most frequent one takes, in [0, 1].

    >>> float(top_predicted_share(Marginals(np.ones(2), np.ones(2) * 2, np.array([3.0, 1]), 4.0, 2.0)))
    0.75
    """
    return divide(m.predicted.max(axis=-1), m.total)


def class_gaps(bins: ClassBins) -> Array:
    """Return the ECE of each label's probability, 15 equal-width bins, shape (K,).

    >>> class_gaps(ClassBins.of(np.array([[1.0, 0.5]]), np.array([[True, False]]), np.ones(1)))
    array([0. , 0.5])
    """
    found: Array = divide(np.abs(bins.probability - bins.positives).sum(axis=1), bins.weight.sum(axis=1))
    return found


def with_gaps(bins: ClassBins, *, declared: bool) -> npt.NDArray[np.bool_]:
    """Return which labels `classwise_ece` is over, shape (K,): those with examples, or all declared.

    >>> with_gaps(ClassBins.of(np.array([[1.0, 0.5]]), np.array([[True, False]])), declared=False)
    array([ True, False])
    """
    counted: npt.NDArray[np.bool_] = (bins.positives.sum(axis=1) > 0) | declared
    return counted


def classwise_ece(bins: ClassBins, *, declared: bool = False) -> float:
    """Return the mean over labels of `class_gaps`, in [0, 1].

    >>> classwise_ece(ClassBins.of(np.array([[1.0, 0.0]]), np.array([[True, False]]), np.ones(1)))
    0.0
    """
    return float(class_gaps(bins)[with_gaps(bins, declared=declared)].mean())


def always_majority(m: Marginals) -> Marginals:
    """Return the marginals of always answering the most frequent class: the no-skill model.

    >>> always_majority(Marginals(np.ones(2), np.array([1.0, 3]), np.array([2.0, 2]), 4.0, 2.0)).tp
    array([0., 3.])
    """
    top = int(np.argmax(m.support))
    chosen = np.arange(len(m.support)) == top
    apart = float(m.support @ (np.arange(len(m.support)) - top) ** 2)
    return Marginals(
        np.where(chosen, m.support, 0.0), m.support, np.where(chosen, m.total, 0.0), m.total, apart
    )

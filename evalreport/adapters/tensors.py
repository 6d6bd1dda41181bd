"""Outputs of networks, as frameworks hand them over, evaluated as what they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.api import Evaluation, Logits, Multilabel, Probabilities, evaluate
from evalreport.errors import DataError, UsageError
from evalreport.labels import Binary, Label, LabelSpace, Multiclass

Array: TypeAlias = npt.NDArray[Any]
Kind: TypeAlias = Literal["logits", "probabilities"]
IGNORED = -100
"""Label of rows that no loss counts: the padding of PyTorch's `CrossEntropyLoss` and of the Trainer."""


def evaluation_of(
    outputs: Any,
    targets: Any,
    labels: Sequence[Label] | None = None,
    *,
    kind: Kind = "logits",
    **settings: Any,
) -> Evaluation:
    """Evaluate outputs of a network against the targets of its loss.

    Parameters
    ----------
    outputs : array of shape (n, labels), (n,) or (n, 1), with any batch axes before, or a list of batches
    targets : array of codes of shape (n,), or (n, labels) of indicators, batched alike
        Rows with the code -100 are padding and left out.
    labels : sequence of labels, optional
        Their names in the order of the columns; else 0, 1, ….
    kind : {"logits", "probabilities"}
    **settings
        ``ids``, ``confidence``, ``resamples``, … of `er.evaluate`.

    Raises
    ------
    DataError
        Outputs and targets whose shapes do not fit.
    UsageError
        An unknown kind, or labels of another number.

    Examples
    --------
    >>> evaluation_of([[2.0, -1.0], [0.5, 0.7]], [0, 1], ["ham", "spam"])["accuracy"].value
    1.0
    """
    if kind not in ("logits", "probabilities"):
        raise UsageError(f"there is no kind {kind!r}", where="kind", fix="pass 'logits' or 'probabilities'")
    scores, truth = _joined(outputs), _joined(targets)
    alike = scores.shape == truth.shape and scores.ndim > 1
    width = scores.shape[-1] if alike or scores.ndim > truth.ndim else 1
    several = alike and width > 1
    scores = scores.reshape(-1, width)
    truth = truth.reshape(-1, width) if several else truth.reshape(-1)
    if len(scores) != len(truth):
        raise DataError(
            f"there are {len(scores):,} outputs and {len(truth):,} targets",
            where="outputs",
            fix="hand over one target per row of outputs",
        )
    wrap = Logits if kind == "logits" else Probabilities
    if several:
        space: LabelSpace = Multilabel(_names(labels, width))
        return evaluate(truth > 0, scores=wrap(scores), labels=space, **settings)
    kept = truth != IGNORED
    scores, truth = scores[kept], truth[kept].astype(np.int64)
    names = _names(labels, max(width, 2))
    space = Binary(*names) if len(names) == 2 else Multiclass(names)
    return evaluate(_named(truth, names), scores=wrap(_columns(scores, kind)), labels=space, **settings)


def _joined(batches: Any) -> Array:
    """Batches one after the other; a tensor as an array."""
    if isinstance(batches, (list, tuple)) and batches and hasattr(batches[0], "shape"):
        return np.concatenate([_array(batch) for batch in batches])
    return _array(batches)


def _array(values: Any) -> Array:
    """An array of whatever holds one, on any device and with any gradient."""
    if hasattr(values, "detach"):
        values = values.detach().cpu().float() if values.is_floating_point() else values.detach().cpu()
    return np.asarray(values)


def _names(labels: Sequence[Label] | None, width: int) -> list[Label]:
    names: list[Label] = list(range(width)) if labels is None else list(labels)
    if len(names) != width:
        raise UsageError(
            f"there are {len(names)} labels and {width} columns of outputs",
            where="labels",
            fix="name each column once, in their order",
        )
    return names


def _named(codes: Array, names: list[Label]) -> list[Label]:
    if codes.size and not 0 <= int(codes.min()) <= int(codes.max()) < len(names):
        raise DataError(
            f"the targets go from {codes.min()} to {codes.max()}, and there are {len(names)} labels",
            where="targets",
            fix="hand over codes 0, 1, … in the order of the labels",
        )
    return [names[code] for code in codes.tolist()]


def _columns(scores: Array, kind: Kind) -> Array:
    """Scores of two classes as one of the second: the difference of logits is the logit of the softmax."""
    match scores.shape[1]:
        case 1:
            return scores[:, 0]
        case 2:
            return scores[:, 1] - scores[:, 0] if kind == "logits" else scores[:, 1]
        case _:
            return scores

"""The parts of an evaluation that are not numbers of their own floor: classes, slices, mistakes, origin."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias

from evalreport.labels import Label
from evalreport.values import Result, result_from_dict

State: TypeAlias = Literal["ok", "absent", "never_predicted", "spurious"]
"""``absent``: no true example, cannot be measured; ``never_predicted``: has true examples and recall 0
because no prediction names it; ``spurious``: predicted, but no true example."""
SHOWN = ("precision", "recall", "f1", "roc_auc", "average_precision")
"""Values that stand by themselves in a class entry of `evaluation.json`; intervals are beside."""


@dataclass(frozen=True)
class Confusion:
    """Another label that examples of this one were given: how many, and their share of the class."""

    label: Label | None
    weight: float
    share: float


@dataclass(frozen=True)
class ClassResult:
    """One label against all others.

    Parameters
    ----------
    label : str, int or bool
    state : str
    support, predicted, right : float
        Weight of true examples, of predictions, and of examples that are both.
    metrics : mapping from metric name to Estimate or Undefined
        Multiclass: precision, recall, f1, roc_auc, average_precision. Multilabel: the binary list.
    confusions : tuple of Confusion
        The (up to three) labels that its examples were most often given; label None is unparsed.
    threshold : float or None
        Multilabel: where this label was decided; infinite for one that is never flagged.
    best : (float, float) or None
        Multilabel with scores: the threshold with the highest F1 on these rows, and that F1; an upper
        bound, for it was chosen on the rows that judge it.
    """

    label: Label
    state: State
    support: float
    predicted: float
    right: float
    metrics: Mapping[str, Result]
    confusions: tuple[Confusion, ...] = ()
    threshold: float | None = None
    best: tuple[float, float] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the class as `evaluation.json` holds it."""
        return {
            "label": self.label,
            "state": self.state,
            "support": self.support,
            "predicted": self.predicted,
            "right": self.right,
            **{name: self.metrics[name].value if name in self.metrics else None for name in SHOWN},
            "metrics": {name: result.as_dict() for name, result in self.metrics.items()},
            "confusions": [asdict(confusion) for confusion in self.confusions],
            "threshold": None if self.threshold == math.inf else self.threshold,
            "best": None if self.best is None else list(self.best),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ClassResult:
        """Rebuild a class from its `as_dict()`."""
        return cls(
            label=data["label"],
            state=data["state"],
            support=data["support"],
            predicted=data["predicted"],
            right=data["right"],
            metrics=results_from_dict(data["metrics"]),
            confusions=tuple(Confusion(**entry) for entry in data["confusions"]),
            threshold=data["threshold"],
            best=None if data["best"] is None else (data["best"][0], data["best"][1]),
        )


@dataclass(frozen=True)
class Slice:
    """The headline metrics of the rows that share one value of a column.

    Parameters
    ----------
    column, value : str
    rows : int
    weight : float
    metrics : mapping from name to Estimate or Undefined
    differences : mapping from name to Estimate or Undefined
        Slice minus the rest, with its interval.
    p_adjusted : mapping from name to float
        p-value of each difference, Holm-corrected over the slices of the column.
    too_few : bool
        Fewer than ten rows: counts only, nothing is claimed.
    """

    column: str
    value: str
    rows: int
    weight: float
    metrics: Mapping[str, Result] = field(default_factory=dict)
    differences: Mapping[str, Result] = field(default_factory=dict)
    p_adjusted: Mapping[str, float] = field(default_factory=dict)
    too_few: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return the slice as `evaluation.json` holds it."""
        return {
            "column": self.column,
            "value": self.value,
            "rows": self.rows,
            "weight": self.weight,
            "metrics": {name: result.as_dict() for name, result in self.metrics.items()},
            "differences": {name: result.as_dict() for name, result in self.differences.items()},
            "p_adjusted": dict(self.p_adjusted),
            "too_few": self.too_few,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Slice:
        """Rebuild a slice from its `as_dict()`."""
        return cls(
            **{
                **data,
                "metrics": results_from_dict(data["metrics"]),
                "differences": results_from_dict(data["differences"]),
            }
        )


@dataclass(frozen=True)
class Mistake:
    """One wrong answer.

    Parameters
    ----------
    row : int
        Position in the predictions, from 0.
    id : str
        Its id, or the row as text.
    truth, predicted : tuple of str
        Labels; `predicted` is empty where nothing was predicted or read.
    confidence : float or None
        Score of what was predicted.
    text : str or None
        The example's own text, cut, only when its column was named.
    """

    row: int
    id: str
    truth: tuple[str, ...]
    predicted: tuple[str, ...]
    confidence: float | None = None
    text: str | None = None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Mistake:
        """Rebuild a mistake from its fields."""
        return cls(**{**data, "truth": tuple(data["truth"]), "predicted": tuple(data["predicted"])})


@dataclass(frozen=True)
class Swap:
    """Multilabel: one label left out while another was added wrongly, on the same row.

    `by_chance` is the count that independent errors would give.
    """

    left_out: str
    added: str
    rows: float
    by_chance: float


def results_from_dict(data: Mapping[str, Any]) -> dict[str, Result]:
    """Rebuild named values."""
    return {name: result_from_dict(entry) for name, entry in data.items()}


def from_dicts(kind: Any, data: Sequence[Mapping[str, Any]]) -> tuple[Any, ...]:
    """Rebuild a list of parts by their `from_dict`."""
    return tuple(kind.from_dict(entry) for entry in data)

"""What findings need of the rows of a stream of scores of several labels, counted batch by batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalreport.engines.stream import KeyHolder
from evalreport.evaluation.row_facts import Repeats, row_keys, unlike_scores
from evalreport.labels import Multiclass
from evalreport.predictions import Predictions
from evalreport.scores import NoScores, Probabilities


class RowFacts:
    """What `row_facts` says of scores of several labels.

    Examples
    --------
    >>> from evalreport.predictions import predictions
    >>> from evalreport.facts.words import Budget
    >>> facts = RowFacts(Budget().keys())
    >>> for scores in ([[0.9, 0.1]], [[0.0, 1.0]]):
    ...     facts.add(predictions(Multiclass("ab"), ["a"], scores=Probabilities(scores)))
    >>> facts.found()
    {'constant_scores': 0.0, 'hard_scores': 0.0, 'off_scores': 0.0}
    """

    def __init__(self, keys: KeyHolder) -> None:
        self.keys = keys
        self.repeats = Repeats()
        """Of rows that were looked at elsewhere."""
        self._seen: dict[str, Any] = {"cells": 0, "first": None, "constant": True, "hard": True, "off": None}

    def add(self, batch: Predictions) -> None:
        """Look at a batch."""
        if isinstance(batch.scores, NoScores):
            return
        values = batch.scores.values
        first, known = values.flat[0].item(), batch.y_pred is not None and isinstance(batch.space, Multiclass)
        self.take(
            {
                "cells": values.size,
                "first": first,
                "constant": bool((values == first).all()),
                "hard": isinstance(batch.scores, Probabilities) and not (values % 1).any(),
                "off": unlike_scores(batch) if known else None,
            }
        )
        self.keys.add(row_keys(batch, values))

    def state(self) -> dict[str, Any]:
        """Return what was seen as what JSON can hold, but for the keys of rows."""
        return self._seen

    def take(self, seen: Mapping[str, Any]) -> None:
        """Add what was seen of other rows."""
        if not self._seen["cells"] or not seen["cells"]:
            self._seen = dict(seen if seen["cells"] else self._seen)
            return
        one, off = self._seen, [part["off"] for part in (self._seen, seen) if part["off"] is not None]
        self._seen = {
            "cells": one["cells"] + seen["cells"],
            "first": one["first"],
            "constant": one["constant"] and seen["constant"] and one["first"] == seen["first"],
            "hard": one["hard"] and seen["hard"],
            "off": sum(off) if off else None,
        }

    def found(self) -> dict[str, float]:
        """Return the facts; nothing can be added after it."""
        if not self._seen["cells"]:
            return {}
        off, hard = self._seen["off"], self._seen["hard"]
        constant = self._seen["constant"] and self._seen["cells"] > 1
        facts = {"constant_scores": float(constant), "hard_scores": float(hard and not constant)}
        facts |= (self.repeats + Repeats.of(self.keys.times())).facts()
        return facts if off is None else {**facts, "off_scores": off}

    def close(self) -> None:
        """Give back memory and files, whatever happened."""
        self.keys.close()

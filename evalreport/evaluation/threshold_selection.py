"""Thresholds chosen for each objective, with their values here and on held-out data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeAlias

from evalreport.core.errors import UsageError, nearest
from evalreport.core.json_codec import dumps, encode
from evalreport.core.result import Provenance, Result, Undefined
from evalreport.evaluation.evaluation import Evaluation
from evalreport.thresholds.best_threshold import Choice, Cutoff, Optimum, Tuned, Unreachable, choice_to_wire
from evalreport.thresholds.cross_fitting import CutoffChoice
from evalreport.thresholds.objectives import Objective
from evalreport.thresholds.sweep import Sweep

PLAIN = {"0.5": "0.5 for all labels", "equal": "equal weights"}
"""What would be taken without a choice, by the name of that starting point."""

Selected: TypeAlias = Choice | Tuned | CutoffChoice
"""What was chosen for one objective."""


@dataclass(frozen=True, eq=False)
class ThresholdSelection:
    """What was chosen for each objective, and the evaluation of the rows that it is reported on.

    Parameters
    ----------
    evaluation : Evaluation
        Of the rows as they are decided without a choice.
    found : mapping from an objective's name to what was chosen for it
        Binary: `Optimum`, `Unreachable` or `Undefined`. Multilabel: `Tuned` thresholds. Multiclass: a
        `Cutoff` of confidence for a wanted accuracy, `Tuned` weights of classes for anything else.
    objectives : mapping from an objective's name to Objective
        Binary alone.
    whole : Sweep or None
        Binary: the counts at every threshold, where they were asked for.
    tuned_on : str
        Where the rows of the choice come from; empty when they are the same.
    common : mapping from an objective's name to ((percent, value), …)
        Multilabel: its value where all labels have the same threshold.
    deployed : mapping from an objective's name to (metric name to Estimate or Undefined)
        Binary, where a prevalence of deployment was stated: what its threshold does there.
    notes : tuple of str
        What else to know of the choice, in sentences.
    """

    evaluation: Evaluation
    found: Mapping[str, Selected]
    objectives: Mapping[str, Objective] = field(default_factory=dict)
    whole: Sweep | None = None
    tuned_on: str = ""
    common: Mapping[str, tuple[tuple[int, float], ...]] = field(default_factory=dict)
    deployed: Mapping[str, Mapping[str, Result]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __getitem__(self, objective: str) -> Selected:
        """Return what was chosen for an objective.

        Raises
        ------
        UsageError
            It was not asked for.
        """
        if objective not in self.found:
            raise UsageError(
                f"nothing was chosen for {objective!r}", fix=nearest(objective, list(self.found))
            )
        return self.found[objective]

    @property
    def provenance(self) -> Provenance:
        """Where the evaluation comes from."""
        return self.evaluation.provenance

    def with_provenance(self, provenance: Provenance) -> Self:
        """Return the same choice with its origin filled in."""
        return replace(self, evaluation=self.evaluation.with_provenance(provenance))

    @property
    def best(self) -> Selected:
        """What was chosen for the first objective."""
        return next(iter(self.found.values()))

    @property
    def optima(self) -> Mapping[str, Optimum]:
        """Thresholds of a binary problem that were found."""
        return {name: best for name, best in self.found.items() if isinstance(best, Optimum)}

    @property
    def tuned_choices(self) -> Mapping[str, Tuned]:
        """Thresholds of labels, or weights of classes."""
        return {name: best for name, best in self.found.items() if isinstance(best, Tuned)}

    @property
    def cutoffs(self) -> Mapping[str, Cutoff]:
        """Cut-offs of confidence."""
        return {name: best for name, best in self.found.items() if isinstance(best, Cutoff)}

    @property
    def missing(self) -> Mapping[str, str]:
        """Objectives for which nothing was found, and why."""
        none = (Unreachable, Undefined)
        return {name: best.reason for name, best in self.found.items() if isinstance(best, none)}

    @property
    def doubts(self) -> tuple[str, ...]:
        """What makes a choice uncertain."""
        told = []
        if self.whole is not None:
            if len(self.whole) == 2:
                told.append("All scores are equal: every threshold flags all rows or none.")
            sides = (("positive", self.whole.positives), ("negative", self.whole.negatives))
            told += [f"The data contain no {name} example." for name, weight in sides if not weight]
        if not self.tuned_on:
            several = self.evaluation.provenance.unit[1]
            told.append(
                f"Thresholds were chosen on the {several} they are reported on. Use the held-out "
                "estimates, or choose thresholds on other data."
            )
        told += [
            f"{name} has no held-out estimate: {best.out_of_sample.value.reason}."
            for name, best in self.tuned_choices.items()
            if isinstance(best.out_of_sample.value, Undefined)
        ]
        told += [
            f"{name}: the search found nothing better than {PLAIN[start]}."
            for name, best in self.tuned_choices.items()
            for start in PLAIN
            if best.method != "bayes" and best.apparent == best.starts.get(start)
        ]
        return (*told, *self.notes, *(f"{name}: {reason}." for name, reason in self.missing.items()))

    def to_wire(self) -> dict[str, Any]:
        """Return the choices as in their file, with the thresholds that the page shows."""
        return self.record()

    def _deployment_entry(self, objective: str) -> dict[str, Any]:
        """The metrics of a threshold at the given prevalence, as a separate entry."""
        return {"deployment": encode(self.deployed[objective])} if objective in self.deployed else {}

    def to_json(self) -> str:
        """Return what was chosen as JSON: the same text for the same value; what is not finite is null."""
        return dumps(self)

    def record(self, *, whole: bool = False) -> dict[str, Any]:
        """Return what was chosen, as `--json` prints it.

        Parameters
        ----------
        whole : bool
            Of a binary problem, give every threshold instead of those that the page shows.
        """
        ev = self.evaluation
        points = self.whole if whole else ev.sweep
        return {
            "kind": "thresholds",
            "task": ev.task,
            "n": ev.rows,
            "positive": ev.space.display_labels[1] if ev.task == "binary" else None,
            "score_kind": ev.score_kind,
            "tuned_on": self.tuned_on or None,
            "objectives": list(self.found),
            "optima": {
                name: encode_choice(best) | self._deployment_entry(name) for name, best in self.found.items()
            },
            "points": () if points is None else points.points,
        }


def encode_choice(found: Selected) -> dict[str, Any]:
    """Return what was chosen as plain data: always with the five keys of a threshold.

    Of a cut-off, `apparent` and `honest` are the share that is answered.

    Examples
    --------
    >>> encode_choice(Undefined("no scores"))["reason"]
    'no scores'
    """
    match found:
        case Tuned():
            return {**encode(found), "reason": None}
        case Cutoff():
            out_of_sample = found.out_of_sample.value.value
            return {**encode(found), "apparent": found.coverage, "held_out": out_of_sample, "reason": None}
        case _:
            plain: dict[str, Any] = encode(choice_to_wire(found))
            return plain

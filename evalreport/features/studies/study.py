"""A sweep that others ran, and what was worked out of it: what mattered, how lucky the best was."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

from evalreport.core.json_codec import dumps, encode
from evalreport.core.result import Provenance, Undefined
from evalreport.features.studies.importance import Importance, importance
from evalreport.features.studies.winners_curse import MEANS, PROPORTIONS, WinnersCurse, winners_curse
from evalreport.thresholds.trial import StudyObjective, Trial
from evalreport.thresholds.trials import Trials

UNNAMED = "value"
"""What Optuna calls an objective that has no name."""
NOT_ASKED = Undefined("it was not asked for")
SHORT = {"acc": "accuracy"}
"""What training scripts call a metric."""
_SPLIT = re.compile(r"^(val|valid|validation|dev|test|eval|cv|mean|holdout)[_-]")


@dataclass(frozen=True)
class Judging:
    """How the trials were judged, as far as the user says.

    Parameters
    ----------
    n : int or None
        Examples that judged each trial; of a share of some of them (recall, precision), their number.
    standard_error : float, sequence of float or None
        Of each value, for metrics whose error does not follow from `n`.
    correlation : float or None
        Mean correlation between the errors of two trials; None: unknown. The interval then holds whatever it
        is, and the optimism is the greatest there can be, that of independent errors.
    confidence : float
        Level of the intervals.

    Examples
    --------
    >>> Judging(n=400).confidence
    0.95
    """

    n: int | None = None
    standard_error: float | Sequence[float] | None = None
    correlation: float | None = None
    confidence: float = 0.95


@dataclass(frozen=True)
class Study:
    """The trials with what was worked out of them.

    Parameters
    ----------
    trials : Trials
    at : int
        Position of the objective that it is about.
    importance : Importance or Undefined
    curse : WinnersCurse or Undefined
    provenance : Provenance
    others : tuple of Study
        The same trials, about each of the other objectives.
    """

    trials: Trials
    at: int = 0
    importance: Importance | Undefined = NOT_ASKED
    curse: WinnersCurse | Undefined = NOT_ASKED
    provenance: Provenance = field(default_factory=Provenance)
    others: tuple[Study, ...] = ()

    @property
    def objective(self) -> StudyObjective:
        """What it is about."""
        return self.trials.objectives[self.at]

    @property
    def each(self) -> tuple[Study, ...]:
        """The study of every objective, this one first."""
        return (self, *self.others)

    @property
    def several(self) -> bool:
        """Whether the study has more than one objective."""
        return len(self.trials.objectives) > 1

    @property
    def best(self) -> Trial:
        """The best trial of the objective.

        Raises
        ------
        DataError
            No trial completed with a finite value.
        """
        return self.trials.best(self.objective.name)

    @cached_property
    def tied_trials(self) -> frozenset[int]:
        """Numbers of the trials that cannot be told apart from the best."""
        return frozenset() if isinstance(self.curse, Undefined) else frozenset(self.curse.tied)

    def with_provenance(self, provenance: Provenance) -> Self:
        """Return the same study with its origin filled in."""
        return replace(self, provenance=provenance)

    def leading(self, most: int) -> tuple[str, ...]:
        """Return the names of the parameters that matter most, the most important first.

        Parameters
        ----------
        most : int
            How many; where no importance is known, the first so many.
        """
        shares = {} if isinstance(self.importance, Undefined) else dict(self.importance.shares)
        ranked = sorted(self.trials.params, key=lambda name: -shares.get(name, 0.0))
        return tuple(ranked[:most])

    def to_wire(self) -> dict[str, Any]:
        """Return everything as it stands in a file: what was worked out, then the trials themselves."""
        trials, some = self.trials, bool(self.trials.contenders)
        written = encode(trials)
        return {
            "kind": "trials",
            "study_name": written.pop("study_name"),
            "objective": self.objective.name,
            "n_trials": len(trials),
            "counts": trials.counts,
            "n_non_finite": trials.n_non_finite,
            "best": self._best() if some else None,
            "front": [trial.number for trial in trials.pareto()] if some else [],
            "winners_curse": _or_reason(self.curse),
            "winner": None if isinstance(self.curse, Undefined) else self.curse.winner,
            "importance": _or_reason(self.importance),
            "others": {
                other.objective.name: {
                    "best": other.best.number if some else None,
                    "winners_curse": _or_reason(other.curse),
                    "importance": _or_reason(other.importance),
                }
                for other in self.others
            },
            **{name: value for name, value in written.items() if name != "schema"},
        }

    def to_json(self) -> str:
        """Return everything as JSON: the same text for the same value; what is not finite is null."""
        return dumps(self)

    def _best(self) -> dict[str, Any]:
        best = self.best
        values = dict(zip((goal.name for goal in self.trials.objectives), best.values, strict=True))
        told = {name: getattr(best, name) for name in ("params", "duration", "run_id")}
        return {"number": best.number, "values": values, **told}


def _or_reason(found: WinnersCurse | Importance | Undefined) -> dict[str, Any]:
    if isinstance(found, Undefined):
        return {"reason": found.reason}
    return {**encode(found), "reason": None}


NOT_SAID = Judging()


def analyse_study(
    trials: Trials,
    objective: str | None = None,
    *,
    judging: Judging = NOT_SAID,
    seed: int = 0,
    provenance: Provenance | None = None,
) -> Study:
    """Return a study with the importance of its parameters and the luck of its best trial.

    Parameters
    ----------
    trials : Trials
    objective : str, optional
        Which one, of several; the first otherwise.
    judging : Judging
        How many examples judged each trial, and what else is known of the error. A standard error is that
        of the named objective alone.
    seed : int
        Of the importance.
    provenance : Provenance, optional

    Raises
    ------
    DataError
        No trial completed with a finite value; a share outside [0, 1].
    UsageError
        No such objective; a setting of `judging` out of range.
    MissingExtraError
        Optuna is not installed.

    Examples
    --------
    >>> rows = [{"params": {"C": c}, "value": 0.8 + 0.01 * (c % 3)} for c in range(12)]
    >>> study = analyse_study(Trials.from_records(rows, objectives="accuracy"), judging=Judging(n=400))
    >>> study.best.number, len(study.tied_trials)
    (2, 11)
    """
    at = trials.index_of(objective or trials.objectives[0].name)
    known = replace(judging, standard_error=None)
    origin = provenance or Provenance()
    others = tuple(
        _analyse_objective(trials, place, known, seed, origin)
        for place in range(len(trials.objectives))
        if place != at
    )
    return replace(_analyse_objective(trials, at, judging, seed, origin), others=others)


def _analyse_objective(trials: Trials, at: int, judging: Judging, seed: int, provenance: Provenance) -> Study:
    """The study of one objective."""
    goal = trials.objectives[at]
    trials.best(goal.name)
    curse = winners_curse(
        trials,
        judging.n,
        metric_of(goal.name),
        standard_error=judging.standard_error,
        correlation=judging.correlation,
        objective=goal.name,
        confidence=judging.confidence,
    )
    return Study(trials, at, importance(trials, goal.name, seed=seed), curse, provenance)


def metric_of(name: str) -> str:
    """Return the metric that an objective's name means, where it names one on some split.

    Examples
    --------
    >>> metric_of("val_accuracy"), metric_of("eval/f1_micro"), metric_of("loss"), metric_of("test-loss")
    ('accuracy', 'f1_micro', 'loss', 'test-loss')
    >>> metric_of("val_acc"), metric_of("Accuracy")
    ('accuracy', 'accuracy')
    """
    names = (SHORT.get(known, known) for known in bare_name(name.lower()))
    return next((known for known in names if known in PROPORTIONS | MEANS), name)


def bare_name(name: str) -> tuple[str, str]:
    """Return the names that an objective may have in the catalogue: the last part, and without its split.

    Examples
    --------
    >>> bare_name("eval/val_accuracy")
    ('val_accuracy', 'accuracy')
    """
    last = name.rpartition("/")[2]
    return last, _SPLIT.sub("", last)

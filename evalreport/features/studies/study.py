"""A sweep that others ran, with its constraints, the importance of parameters, selection bias, warnings."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Self

from evalreport.core.format import significant
from evalreport.core.json_codec import dumps, encode
from evalreport.core.result import Provenance, Undefined
from evalreport.core.sentences import NOTHING, with_options
from evalreport.features.studies.winners_curse import MEANS, PROPORTIONS, WinnersCurse, winners_curse
from evalreport.page.sections.headline import WORDS, Warned
from evalreport.thresholds.trial import (
    Direction,
    Judging,
    ParameterColumn,
    Space,
    StudyObjective,
    Trial,
    is_number,
)
from evalreport.thresholds.trial_search import Trials, quiet_optuna, trials_of

KEY = "constraints"
"""Optuna's attribute: a list of all values, or ``constraints:NAME`` for each of them; 0 or less is met."""

Constraints = Mapping[str, float]
"""Value of each constraint of a trial by its name; empty where none is recorded."""


def constraints_of(attributes: Mapping[str, object]) -> Constraints:
    """Return the constraint values among the attributes of a trial.

    Parameters
    ----------
    attributes : mapping
        As Optuna stores them; what is not a number counts as not met.

    Examples
    --------
    >>> constraints_of({"constraints": [0.5, -1.0], "other": 3})
    {'0': 0.5, '1': -1.0}
    >>> constraints_of({"constraints:latency": -2.0})
    {'latency': -2.0}
    """
    found: dict[str, float] = {}
    for name, value in attributes.items():
        if name == KEY and isinstance(value, list | tuple):
            found |= {str(place): _number(one) for place, one in enumerate(value)}
        elif name == KEY and value is not None:
            found["0"] = _number(value)
        elif name.startswith(f"{KEY}:"):
            found[name.removeprefix(f"{KEY}:")] = _number(value)
    return found


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else float("nan")


def mark_infeasible(
    trials: Sequence[Trial], constraints: Sequence[Constraints]
) -> tuple[tuple[Trial, ...], tuple[str, ...]]:
    """Return the trials, the complete ones that break a constraint as infeasible, and notes on them.

    In a study with constraints, a complete trial without any recorded value is not known to meet them and
    counts as infeasible, which a note says: Optuna's samplers differ by release, and its `best_trial`
    would accept such a trial.

    Parameters
    ----------
    trials : sequence of Trial
    constraints : sequence of mapping from name to value
        Of each trial, in the same order.

    Examples
    --------
    >>> trials = [Trial(0, "complete", (0.9,)), Trial(1, "complete", (0.8,))]
    >>> [trial.state for trial in mark_infeasible(trials, [{"0": 0.1}, {"0": 0.0}])[0]]
    ['infeasible', 'complete']
    """
    if not any(constraints):
        return tuple(trials), ()
    made, unknown = [], 0
    for trial, values in zip(trials, constraints, strict=True):
        met = bool(values) and all(value <= 0 for value in values.values())  # NaN is not met
        broken = trial.state == "complete" and not met
        unknown += broken and not values
        made.append(replace(trial, state="infeasible") if broken else trial)
    note = (
        f"complete trials without a recorded constraint value, counted as infeasible: {unknown:,}"
        " (Optuna's best_trial accepts them)"
    )
    return tuple(made), ((note,) if unknown else ())


def constrained_trials(study: Any, source: str) -> Trials:
    """Return all that an Optuna study tried, those that break its constraints as infeasible."""
    found = trials_of(study, source)
    frozen = sorted(study.get_trials(deepcopy=False), key=lambda trial: trial.number)
    constraints = [constraints_of(trial.system_attrs) for trial in frozen]
    trials, notes = mark_infeasible(found.trials, constraints)
    return replace(found, trials=trials, notes=notes)


Method = Literal["fANOVA", "PED-ANOVA"]

LEAST_TRIALS = 10
"""Below this many completed trials a share says nothing (chosen by hand)."""
MOST_TRIALS = 200
"""Up to here fANOVA takes about a second; PED-ANOVA serves beyond."""
_TREES = 16
"""Trees of the forest of fANOVA, and their depth: chosen by hand for speed, a quarter of Optuna's 64."""

MEANINGS: Mapping[Method, str] = {
    "fANOVA": "proportion of the variance over the searched space that each parameter causes alone",
    "PED-ANOVA": "how far each parameter's settings in the best tenth of the trials differ from those in all",
}


@dataclass(frozen=True, slots=True)
class Importance:
    """Share of each parameter in what made the values differ.

    Parameters
    ----------
    objective : str
    method : {"fANOVA", "PED-ANOVA"}
    shares : tuple of (str, float)
        Parameters with their shares, greatest first; the shares are in [0, 1] and sum to 1.
    left_out : tuple of (str, str)
        Parameters without a share, and why.
    n_trials : int
        Completed trials that it rests on.
    """

    objective: str
    method: Method
    shares: tuple[tuple[str, float], ...]
    left_out: tuple[tuple[str, str], ...]
    n_trials: int

    @property
    def meaning(self) -> str:
        """What a share says, in words."""
        return MEANINGS[self.method]

    def to_wire(self) -> dict[str, Any]:
        """Return the shares by parameter."""
        return {
            "method": self.method,
            "meaning": self.meaning,
            "shares": dict(self.shares),
            "left_out": dict(self.left_out),
            "n_trials": self.n_trials,
        }


def importance(trials: Trials, objective: str | None = None, *, seed: int = 0) -> Importance | Undefined:
    """Return the importance of every parameter for an objective.

    fANOVA (Hutter, Hoos & Leyton-Brown 2014) where every trial has every parameter and there are at most
    `MOST_TRIALS` trials; PED-ANOVA (Watanabe, Bansal & Hutter 2023), which allows for conditional
    parameters, otherwise. Parameters on a logarithmic scale are taken by their logarithm.

    Parameters
    ----------
    trials : Trials
    objective : str
        Which one, when the study has several.
    seed : int
        Of the forest of fANOVA.

    Returns
    -------
    Importance or Undefined
        Undefined for fewer than `LEAST_TRIALS` completed trials, equal values, or constant parameters.

    Raises
    ------
    MissingExtraError
        Optuna is not installed.
    UsageError
        No such objective, or several and none named.

    Examples
    --------
    >>> rows = [{"params": {"C": c, "noise": c * 7 % 5}, "value": c / 20} for c in range(20)]
    >>> found = importance(Trials.from_records(rows, objectives="f1"))
    >>> found.method, found.shares[0][0]
    ('fANOVA', 'C')
    """
    at = trials.index_of(objective)
    goal, rivals = trials.objectives[at], trials.contenders
    columns, left_out = _usable(trials)
    values = [trial.values[at] for trial in rivals]
    if reason := _why_not(values, columns):
        return Undefined(reason, len(rivals))
    conditional = any(column.gaps for column in columns)
    method: Method = "PED-ANOVA" if conditional or len(rivals) > MOST_TRIALS else "fANOVA"
    if method == "fANOVA":  # its trees would look at a logarithmic parameter on the plain scale
        columns = [_by_logarithm(column) if column.log else column for column in columns]
    found = _evaluate(goal.direction, values, columns, _evaluator(method, seed))
    total = sum(found.values())
    if not total > 0 or not math.isfinite(total):
        return Undefined("no parameter sets the better trials apart from the others", len(rivals))
    shares = sorted(((name, share / total) for name, share in found.items()), key=lambda pair: -pair[1])
    return Importance(goal.name, method, tuple(shares), left_out, len(rivals))


def _usable(trials: Trials) -> tuple[list[ParameterColumn], tuple[tuple[str, str], ...]]:
    """Columns over the completed trials that vary, and the parameters left out with the reason."""
    columns, left_out = [], []
    for column in trials.columns_over(trials.contenders):
        if column.gaps == len(trials.contenders):
            left_out.append((column.name, "in no completed trial"))
        elif column.constant:
            left_out.append((column.name, "the same in every completed trial"))
        else:
            columns.append(column)
    return columns, tuple(left_out)


def _why_not(values: Sequence[float], columns: Sequence[ParameterColumn]) -> str | None:
    if len(values) < LEAST_TRIALS:
        return f"importance needs at least {LEAST_TRIALS} completed trials; there are {len(values)}"
    if len(set(values)) == 1:
        return "every completed trial has the same value"
    if not columns:
        return "no parameter differs between the completed trials"
    return None


def _evaluator(method: Method, seed: int) -> Callable[[Any], Any]:
    if method == "fANOVA":
        return lambda kinds: kinds.FanovaImportanceEvaluator(n_trees=_TREES, max_depth=_TREES, seed=seed)
    return lambda kinds: kinds.PedAnovaImportanceEvaluator()


def _evaluate(
    direction: Direction,
    values: Sequence[float],
    columns: Sequence[ParameterColumn],
    evaluator: Callable[[Any], Any],
) -> dict[str, float]:
    with quiet_optuna() as optuna:
        distributions = {column.name: _distribution(optuna, column) for column in columns}
        study = optuna.create_study(direction=direction)
        rows = enumerate(values)
        study.add_trials([_rebuilt(optuna, value, row, columns, distributions) for row, value in rows])
        try:
            found = evaluator(optuna.importance).evaluate(study)
        except (RuntimeError, AssertionError):  # a forest of leaves alone, or a variance lost in rounding
            return {}
    return {name: max(float(share), 0.0) for name, share in found.items()}


def _by_logarithm(column: ParameterColumn) -> ParameterColumn:
    values = tuple(None if value is None else math.log(float(value)) for value in column.values)
    low, high = math.log(column.low), math.log(column.high)
    return replace(column, values=values, low=low, high=high, log=False, whole=False)


def _distribution(optuna: Any, column: ParameterColumn) -> Any:
    kinds = optuna.distributions
    if column.kind == "categorical":
        return kinds.CategoricalDistribution(column.choices)
    if column.whole:
        return kinds.IntDistribution(math.floor(column.low), math.ceil(column.high), log=column.log)
    return kinds.FloatDistribution(column.low, column.high, log=column.log)


def _rebuilt(
    optuna: Any, value: float, row: int, columns: Sequence[ParameterColumn], distributions: Mapping[str, Any]
) -> Any:
    entries = {column.name: column.values[row] for column in columns}
    params = {name: entry for name, entry in entries.items() if entry is not None}
    drawn = {name: distributions[name] for name in params}
    return optuna.trial.create_trial(value=value, params=params, distributions=drawn)


UNNAMED = "value"
"""What Optuna calls an objective that has no name."""
NOT_ASKED = Undefined("it was not asked for")
SHORT = {"acc": "accuracy"}
"""What training scripts call a metric."""
_SPLIT = re.compile(r"^(val|valid|validation|dev|test|eval|cv|mean|holdout)[_-]")


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
        """Numbers of the trials not significantly different from the best."""
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
        """Return everything as it is stored: the analysis, then the trials."""
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
        described = {name: getattr(best, name) for name in ("params", "duration", "run_id")}
        return {"number": best.number, "values": values, **described}


def _or_reason(found: WinnersCurse | Importance | Undefined) -> dict[str, Any]:
    if isinstance(found, Undefined):
        return {"reason": found.reason}
    return {**encode(found), "reason": None}


DEFAULT_JUDGING = Judging()


def analyse_study(
    trials: Trials,
    objective: str | None = None,
    *,
    judging: Judging = DEFAULT_JUDGING,
    seed: int = 0,
    provenance: Provenance | None = None,
) -> Study:
    """Return a study with the importance of its parameters and the selection bias of its best trial.

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


EDGE = 0.02
"""Proportion of a searched range that counts as its end."""
LATE = 0.1
"""Last part of a study in which a new best value shows that the search was still improving."""
SOME = 20
"""Fewest trials for that warning."""


def doubts(study: Study) -> tuple[Warned, ...]:
    """Return what is wrong with the search or its trials, the most important first."""
    found = [*_edges(study), *_late(study), *_never_better(study), *_lost_trial_warnings(study)]
    return (*found, *(Warned("note", WORDS["note"], f"{note}.", NOTHING, "") for note in study.trials.notes))


def _caution(claim: str, action: str, section: str) -> Warned:
    return Warned("caution", WORDS["caution"], claim, with_options(action), section)


def _edges(study: Study) -> Iterator[Warned]:
    if study.several or not study.trials.contenders:
        return
    best = study.best
    for space in study.trials.space:
        value = best.params.get(space.name)
        end = _end(space, float(str(value))) if is_number(value) else None
        if end is None:
            continue
        at, low, high = (significant(float(str(x))) for x in (value, space.low, space.high))
        yield _caution(
            f"The best {space.name}, {at}, is at the {end} end of the searched range, {low} to {high}.",
            "Search a wider range: a better value may be outside it.",
            "slices",
        )


def _end(space: Space, value: float) -> str | None:
    """The end of the range that a value is at; none for a range of few integers."""
    if space.low is None or space.high is None or space.high <= space.low:
        return None
    if all(float(x).is_integer() for x in (space.low, space.high, value)) and space.high - space.low < SOME:
        return None
    logs = space.log and space.low > 0 and value > 0
    low, high, at = (
        (math.log(x) for x in (space.low, space.high, value)) if logs else (space.low, space.high, value)
    )
    share = (at - low) / (high - low)
    return "lower" if share < EDGE else "upper" if share > 1 - EDGE else None


def _late(study: Study) -> Iterator[Warned]:
    trials = study.trials
    if study.several or not trials.contenders or len(trials) < SOME:
        return
    place = [trial.number for trial in trials.trials].index(study.best.number)
    if place >= (1 - LATE) * len(trials):
        yield _caution(
            f"The best trial was number {place + 1:,} of {len(trials):,}: the search was still improving.",
            "Run more trials.",
            "history",
        )


def _never_better(study: Study) -> Iterator[Warned]:
    """The search did not improve on its first trial."""
    trials = study.trials
    if study.several or len(trials.contenders) < SOME:
        return
    if trials.trials[0].number == study.best.number:
        claim = f"No later trial is better than the first one, trial {study.best.number}."
        yield _caution(claim, "", "history")


def _lost_trial_warnings(study: Study) -> Iterator[Warned]:
    gone, failed = study.trials.n_non_finite, study.trials.counts["failed"]
    broken = study.trials.counts["infeasible"]
    if broken:
        yield _caution(
            f"{broken:,} of {len(study.trials):,} trials are infeasible: they violate a constraint "
            "of the study and cannot be the best.",
            "",
            "trials",
        )
    if gone:
        words = "trial ended" if gone == 1 else "trials ended"
        yield _caution(f"{gone:,} {words} with a NaN or infinite value and cannot be the best.", "", "trials")
    if failed:
        yield _caution(
            f"{failed:,} of {len(study.trials):,} trials failed.",
            "Find out why before you trust the others.",
            "trials",
        )

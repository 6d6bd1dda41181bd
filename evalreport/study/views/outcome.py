"""What the sweep found: the trials as a table, and the front of two objectives."""

from __future__ import annotations

import math

from evalreport.errors import UsageError
from evalreport.study import Param, Trial, Trials
from evalreport.study.views.axes import MOST_POINTS, best_first, thinned


def ranked_trials(trials: Trials, most: int = MOST_POINTS) -> tuple[Trial, ...]:
    """Return the trials of a table: best first (the front first, of several objectives), then the rest.

    Parameters
    ----------
    trials : Trials
    most : int
        Rows at most.

    Examples
    --------
    >>> trials = Trials.from_records([{}, {"value": 0.4}, {"value": 0.5}], objectives="f1")
    >>> [trial.number for trial in ranked_trials(trials)]
    [2, 1, 0]
    """
    ranked = [trials.contenders[position] for position in best_first(trials, 0)]
    if len(trials.objectives) > 1 and ranked:
        front = {trial.number for trial in trials.pareto()}
        ranked.sort(key=lambda trial: trial.number not in front)
    placed = {trial.number for trial in ranked}
    ranked += [trial for trial in trials.trials if trial.number not in placed]
    return tuple(ranked[:most])


def drawn(trial: Trial, name: str) -> Param:
    """Return a parameter as a table shows it: a drawn None as text, None for what was not drawn.

    Examples
    --------
    >>> trial = Trial(0, "failed", params={"depth": None})
    >>> drawn(trial, "depth"), drawn(trial, "C")
    ('None', None)
    """
    value = trial.params.get(name)
    return "None" if value is None and name in trial.params else value


def front_view(trials: Trials) -> tuple[tuple[Trial, bool], ...]:
    """Return completed trials, each with whether it is on the Pareto front of all objectives.

    Raises
    ------
    UsageError
        One objective alone has no front.
    DataError
        No trial completed with finite values.

    Examples
    --------
    >>> from evalreport.study import StudyObjective
    >>> rows = [{"values": (0.9, 2.0)}, {"values": (0.8, 1.0)}, {"values": (0.7, 3.0)}]
    >>> goals = [StudyObjective("f1"), StudyObjective("seconds", "minimize")]
    >>> [on_front for _, on_front in front_view(Trials.from_records(rows, objectives=goals))]
    [True, True, False]
    """
    if len(trials.objectives) < 2:
        raise UsageError("one objective has no front", fix="look at the history of the study instead")
    front = {trial.number for trial in trials.pareto()}
    rivals = trials.contenders
    kept = thinned(len(rivals), [at for at, trial in enumerate(rivals) if trial.number in front])
    return tuple((rivals[at], rivals[at].number in front) for at in kept)


def infeasible_view(trials: Trials) -> tuple[Trial, ...]:
    """Return trials with finite values that break a constraint, to be drawn beside those that compete.

    Examples
    --------
    >>> rows = [{"value": 0.9, "state": "infeasible"}, {"value": 0.8}]
    >>> [trial.number for trial in infeasible_view(Trials.from_records(rows, objectives="f1"))]
    [0]
    """
    broken = [t for t in trials.trials if t.state == "infeasible" and all(map(math.isfinite, t.values))]
    return tuple(broken[place] for place in thinned(len(broken), []))

"""The one door to Optuna: imported late, never heard, and its studies read as `Trials`."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from evalreport.errors import MissingExtraError
from evalreport.study import Space, State, StudyObjective, Trial, Trials
from evalreport.study.constraints import constraints_of, mark_infeasible
from evalreport.study.values import joined, plain

_STATES: dict[str, State] = {
    "COMPLETE": "complete",
    "PRUNED": "pruned",
    "FAIL": "failed",
    "RUNNING": "running",
    "WAITING": "waiting",
}
RUN_ID = "mlflow_run_id"


@contextmanager
def quiet_optuna() -> Iterator[Any]:
    """Give the `optuna` module for a while, its log lines and warnings kept from the user.

    Raises
    ------
    MissingExtraError
        Optuna is not installed.

    Examples
    --------
    >>> with quiet_optuna() as optuna:
    ...     study = optuna.create_study(direction="maximize")
    >>> study.direction.name
    'MAXIMIZE'
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            import optuna
        except ImportError:
            raise MissingExtraError(
                "optuna is not installed", fix="pip install 'evalreport[optuna]'"
            ) from None
        before = optuna.logging.get_verbosity()
        optuna.logging.set_verbosity(optuna.logging.CRITICAL + 1)
        try:
            yield optuna
        finally:
            optuna.logging.set_verbosity(before)


def trials_of(study: Any, source: str) -> Trials:
    """Return all that an Optuna study tried.

    Parameters
    ----------
    study : optuna.Study
        With at least one trial.
    source : str
        Where it was read, for the reader.

    Examples
    --------
    >>> with quiet_optuna() as optuna:
    ...     study = optuna.create_study(direction="maximize", study_name="demo")
    ...     study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=2)
    ...     trials = trials_of(study, "memory")
    >>> len(trials), trials.objectives[0].direction
    (2, 'maximize')
    """
    frozen = study.get_trials(deepcopy=False)
    constraints = [constraints_of(trial.system_attrs) for trial in frozen]
    trials, notes = mark_infeasible([_trial(trial) for trial in frozen], constraints)
    drawn = dict.fromkeys(pair for trial in frozen for pair in trial.distributions.items())
    spaces = joined(_space(*pair) for pair in drawn)
    return Trials(_objectives(study), trials, source, study.study_name, spaces, notes)


def _objectives(study: Any) -> tuple[StudyObjective, ...]:
    directions = study.directions
    several = [f"value_{at}" for at in range(len(directions))]
    names = study.metric_names or (several if len(directions) > 1 else ["value"])
    return tuple(
        StudyObjective(name, "minimize" if direction.name == "MINIMIZE" else "maximize")
        for name, direction in zip(names, directions, strict=True)
    )


def _trial(frozen: Any) -> Trial:
    attributes = {**frozen.user_attrs, **frozen.system_attrs}
    start, end = frozen.datetime_start, frozen.datetime_complete
    return Trial(
        number=frozen.number,
        state=_STATES[frozen.state.name],
        values=tuple(frozen.values or ()),
        params={name: plain(value) for name, value in frozen.params.items()},
        intermediate=tuple(frozen.intermediate_values.items()),
        started=start.timestamp() if start else None,
        finished=end.timestamp() if end else None,
        run_id=attributes.get(RUN_ID),
    )


def _space(name: str, distribution: Any) -> Space:
    if hasattr(distribution, "choices"):
        return Space(name, choices=tuple(plain(choice) for choice in distribution.choices))
    return Space(name, float(distribution.low), float(distribution.high), bool(distribution.log))

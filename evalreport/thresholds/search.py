"""The one door to Optuna, imported late and never heard: its studies as `Trials`, and a search by it.

A search is for what does not fall apart: started from good points, seeded, and kept."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from evalreport.core.errors import EvalreportError, MissingExtraError, UsageError
from evalreport.core.text import redact
from evalreport.thresholds.trial import Direction, Space, State, StudyObjective, Trial, merge_spaces, plain
from evalreport.thresholds.trials import Trials

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
    trials = tuple(_trial(trial) for trial in frozen)
    drawn = dict.fromkeys(pair for trial in frozen for pair in trial.distributions.items())
    spaces = merge_spaces(_space(*pair) for pair in drawn)
    return Trials(_objectives(study), trials, source, study.study_name, spaces)


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


@dataclass(frozen=True)
class SearchProgress:
    """How far a search has come.

    Parameters
    ----------
    done, of : int
        Trials finished, and the most there will be.
    best : float
        Best value so far.

    Examples
    --------
    >>> SearchProgress(3, 100, 0.8).done
    3
    """

    done: int
    of: int
    best: float


@dataclass(frozen=True)
class Search:
    """How long to search, and where the study is kept.

    Parameters
    ----------
    trials : int
        The most trials, the starting points included; those are tried in any case.
    patience : int
        Stop after this many trials in a row without a better value.
    timeout : float, optional
        Stop after this many seconds beyond the starting points; a search that ends by time is not
        reproducible.
    seed : int
        Of the sampler (TPE).
    storage : str, optional
        ``sqlite:///study.db`` or another database URL, or the path of a journal file; made when it is
        not there. Without it the study lives in memory and is exported as `Trials`.
    study_name : str, optional
    progress : callable, optional
        Called with a `SearchProgress` after every trial.

    Examples
    --------
    >>> Search(trials=50).patience
    100
    """

    trials: int = 200
    patience: int = 100
    timeout: float | None = None
    seed: int = 0
    storage: str | None = None
    study_name: str | None = None
    progress: Callable[[SearchProgress], None] | None = None


@dataclass(frozen=True)
class Dimension:
    """One number that is searched.

    Parameters
    ----------
    name : str
    low, high : float
        Bounds, both included.
    log : bool
        Whether it is drawn on a logarithmic scale.

    Examples
    --------
    >>> Dimension("threshold: joy", 0.01, 1.0, log=True).clip_value(2.0)
    1.0
    """

    name: str
    low: float
    high: float
    log: bool = False

    def clip_value(self, value: float) -> float:
        """Return a value moved to the nearest bound where it lies outside."""
        return min(max(value, self.low), self.high)


@dataclass(frozen=True)
class SearchResult:
    """The best point of a search, its value, and everything that was tried."""

    point: tuple[float, ...]
    value: float
    trials: Trials


def optimise(
    value: Callable[[tuple[float, ...]], float],
    dimensions: Sequence[Dimension],
    starts: Sequence[Sequence[float]],
    search: Search,
    name: str,
    direction: Direction = "maximize",
) -> SearchResult:
    """Return the point with the best value that a seeded TPE search finds.

    Parameters
    ----------
    value : callable
        From a point (one float per dimension) to a float; NaN fails the trial.
    dimensions : sequence of Dimension
    starts : sequence of points
        Tried first, so that the result is never worse than the best of them.
    search : Search
    name : str
        Name of what is sought, for the study.
    direction : {"maximize", "minimize"}

    Raises
    ------
    UsageError
        A study of that name is there already, the storage cannot be opened, or no trial had a value.
    MissingExtraError
        Optuna is not installed.

    Examples
    --------
    >>> way = "minimize"
    >>> found = optimise(lambda p: abs(p[0] - 0.3), [Dimension("x", 0, 1)], [(0.5,)], Search(30), "off", way)
    >>> found.value <= 0.2, len(found.trials)
    (True, 30)
    """
    with quiet_optuna() as optuna:
        study = _study(optuna, search, name, direction)
        for start in starts:
            pairs = zip(dimensions, start, strict=True)
            study.enqueue_trial({d.name: d.clip_value(at) for d, at in pairs}, skip_if_exists=True)

        def objective(trial: Any) -> float:
            return value(tuple(trial.suggest_float(d.name, d.low, d.high, log=d.log) for d in dimensions))

        watch = _Watch(search, StudyObjective(name, direction), len(study.get_trials(deepcopy=False)))
        study.optimize(objective, n_trials=watch.starts, callbacks=[watch])
        left = max(0, search.trials - watch.starts)
        study.optimize(objective, n_trials=left, timeout=search.timeout, callbacks=[watch])
        source = redact(search.storage) if search.storage else "a study in memory"
        trials = _reproducible(trials_of(study, source), search.study_name or name)
    if not trials.contenders:
        raise UsageError(
            f"{name} had no value at any of {len(trials)} trials",
            where="objective",
            fix="return a finite number for at least one set of thresholds",
        )
    best = trials.best()
    return SearchResult(tuple(float(best.params[d.name] or 0.0) for d in dimensions), best.values[0], trials)


def _reproducible(trials: Trials, name: str) -> Trials:
    """The trials without what differs from run to run: times, and the name that Optuna makes up.

    Bounds are left out, too: they hold every decision that there is, so that no better one lies beyond.
    """
    timeless = tuple(replace(trial, started=None, finished=None) for trial in trials.trials)
    scales = tuple(Space(space.name, log=space.log) for space in trials.space)
    return replace(trials, trials=timeless, study_name=name, space=scales)


class _Watch:
    """Called after every trial: tells the progress, and stops when nothing has become better for long."""

    def __init__(self, search: Search, goal: StudyObjective, starts: int) -> None:
        self.search = search
        self.goal = goal
        self.starts = starts
        self.best = -math.inf * goal.sign
        self.since = 0

    def __call__(self, study: Any, trial: Any) -> None:
        better = trial.value is not None and self.goal.better(trial.value, self.best)
        self.since = 0 if better else self.since + 1
        self.best = trial.value if better else self.best
        if self.search.progress is not None:
            most = max(self.search.trials, self.starts)
            self.search.progress(SearchProgress(trial.number + 1, most, self.best))
        if self.since >= self.search.patience and trial.number >= self.starts:
            study.stop()


def _study(optuna: Any, search: Search, name: str, direction: Direction) -> Any:
    try:
        study = optuna.create_study(
            storage=_storage(optuna, search.storage),
            study_name=search.study_name or (name if search.storage else None),
            direction=direction,
            sampler=optuna.samplers.TPESampler(seed=search.seed, multivariate=True),
        )
    except optuna.exceptions.DuplicatedStudyError:
        raise UsageError(
            f"the storage already holds a study {search.study_name or name!r}",
            where=redact(search.storage or ""),
            fix="name another with --study-name; a study is not continued, since its rows may be others",
        ) from None
    except EvalreportError:
        raise
    except Exception as error:
        raise UsageError(
            f"the storage cannot be opened: {type(error).__name__}",
            where=redact(search.storage or ""),
            fix="give a database URL such as sqlite:///study.db, or the path of a journal file",
        ) from None
    study.set_metric_names([name])
    return study


def _storage(optuna: Any, storage: str | None) -> Any:
    if storage is None or "://" in storage:
        return storage
    return optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(storage))

"""Trials of a sweep, from records or from a search with Optuna: the best one, the history and the columns."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from evalreport.core.errors import DataError, EvalreportError, MissingExtraError, UsageError, nearest
from evalreport.core.json_codec import decode, encode
from evalreport.core.text import redact
from evalreport.thresholds.trial import (
    STATES,
    Direction,
    Param,
    ParameterColumn,
    Space,
    State,
    StudyObjective,
    Trial,
    is_number,
    merge_spaces,
    plain,
)

if TYPE_CHECKING:
    import pandas as pd


_KEYS = (
    "number",
    "state",
    "value",
    "values",
    "params",
    "intermediate",
    "started",
    "finished",
    "run_id",
)


def trial_from_record(row: Mapping[str, Any], position: int) -> Trial:
    """Return one trial from a user's mapping; see `Trials.from_records`.

    Raises
    ------
    DataError
        A key is unknown, or a value is not a number.
    """
    unknown = [key for key in row if key not in _KEYS]
    if unknown:
        raise DataError(
            f"a trial has no field {unknown[0]!r}",
            where=f"record {position}",
            fix=nearest(str(unknown[0]), _KEYS),
        )
    values = _values(row, position)
    return Trial(
        int(row.get("number", position)),
        row.get("state", "complete" if values else "failed"),
        values,
        {str(name): plain(value) for name, value in row.get("params", {}).items()},
        tuple((int(step), float(value)) for step, value in row.get("intermediate", {}).items()),
        row.get("started"),
        row.get("finished"),
        row.get("run_id"),
    )


def _values(row: Mapping[str, Any], position: int) -> tuple[float, ...]:
    given = row.get("values", row.get("value"))
    if given is None:
        return ()
    try:
        return tuple(float(value) for value in (given if isinstance(given, list | tuple) else [given]))
    except (TypeError, ValueError):
        raise DataError(
            f"value {given!r} is not a number",
            where=f"record {position}",
            fix="give a number, or omit the value of a trial without one",
        ) from None


@dataclass(frozen=True, slots=True)
class HistoryPoint:
    """One trial in the order of the study.

    Parameters
    ----------
    number : int
        Trial.
    state : str
    value : float or None
        Value of the objective; None if it is missing or not finite.
    best : float or None
        Best value of the complete trials up to and with this one; None before the first.
    """

    number: int
    state: State
    value: float | None
    best: float | None


@dataclass(frozen=True)
class Trials:
    """The trials of a sweep.

    Parameters
    ----------
    objectives : tuple of StudyObjective
        At least one.
    trials : tuple of Trial
        At least one; kept in the order of their numbers.
    source : str
        Where they were read from, for display.
    study_name : str or None
    space : tuple of Space
        Declared parameter spaces; may be empty.
    notes : tuple of str
        Notes about reading the trials (an assumed direction, …).

    Raises
    ------
    DataError
        There is no trial or no objective, a number is repeated, or a complete trial lacks values.

    Examples
    --------
    >>> trials = Trials.from_records(
    ...     [{"params": {"C": 0.1}, "value": 0.7}, {"params": {"C": 1.0}, "value": 0.8}],
    ...     objectives="f1",
    ... )
    >>> trials.best().params["C"]
    1.0
    """

    KEYS: ClassVar = ("schema", "source", "study_name", "objectives", "space", "notes", "trials")
    schema: ClassVar = 1
    objectives: tuple[StudyObjective, ...]
    trials: tuple[Trial, ...]
    source: str
    study_name: str | None = None
    space: tuple[Space, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check(self)
        ordered = tuple(sorted(self.trials, key=lambda trial: trial.number))
        object.__setattr__(self, "trials", ordered)

    def __repr__(self) -> str:
        goals = ", ".join(f"{goal.name} ({goal.direction})" for goal in self.objectives)
        return f"Trials({len(self.trials)} trials of {goals}: {len(self.completed_trials)} complete)"

    def __len__(self) -> int:
        return len(self.trials)

    @property
    def counts(self) -> dict[State, int]:
        """Number of trials in each state, including 0."""
        found = Counter(trial.state for trial in self.trials)
        return {state: found[state] for state in STATES}

    @cached_property
    def completed_trials(self) -> tuple[Trial, ...]:
        """Trials that completed and meet the constraints, with or without non-finite values."""
        return tuple(trial for trial in self.trials if trial.state == "complete")

    @cached_property
    def wordy(self) -> frozenset[str]:
        """Names of the parameters with text or a bool in some trial."""
        return frozenset(
            name
            for trial in self.trials
            for name, value in trial.params.items()
            if isinstance(value, bool | str)
        )

    @cached_property
    def contenders(self) -> tuple[Trial, ...]:
        """Completed trials whose values are all finite: the only ones that can be best."""
        return tuple(trial for trial in self.trials if trial.finite)

    @property
    def n_non_finite(self) -> int:
        """Number of completed trials with a NaN or infinite value."""
        return len(self.completed_trials) - len(self.contenders)

    def index_of(self, objective: str | None = None) -> int:
        """Return the position of an objective; None means the only one.

        Raises
        ------
        UsageError
            The objective does not exist, or there are several and none is named.
        """
        names = [known.name for known in self.objectives]
        if objective is None and len(names) == 1:
            return 0
        if objective is None:
            raise UsageError(
                f"the study has {len(names)} objectives", fix=f"name one of them: {', '.join(names)}"
            )
        if objective not in names:
            raise UsageError(f"the study has no objective {objective!r}", fix=nearest(objective, names))
        return names.index(objective)

    def best(self, objective: str | None = None) -> Trial:
        """Return the best completed trial; of equal ones the earliest.

        Raises
        ------
        DataError
            No trial completed with a finite value, or none of those meets the constraints.
        UsageError
            There are several objectives, and none is named.
        """
        at = self.index_of(objective)
        sign = self.objectives[at].sign
        return max(self._some_contenders(), key=lambda trial: (sign * trial.values[at], -trial.number))

    def pareto(self) -> tuple[Trial, ...]:
        """Return the completed trials that are not dominated: no other is better in one objective and equal
        or better in all.

        Raises
        ------
        DataError
            No trial completed with finite values, or none of those meets the constraints.
        """
        signs = [objective.sign for objective in self.objectives]
        scored = [
            (tuple(sign * value for sign, value in zip(signs, trial.values, strict=True)), trial)
            for trial in self._some_contenders()
        ]
        front: list[tuple[tuple[float, ...], Trial]] = []
        last = len(signs) <= 2  # with two objectives the first falls, so only the last trial can dominate
        for point, trial in sorted(scored, key=lambda pair: pair[0], reverse=True):
            if not any(_dominates(other, point) for other, _ in (front[-1:] if last else front)):
                front.append((point, trial))
        return tuple(sorted((trial for _, trial in front), key=lambda trial: trial.number))

    def history(self, objective: str | None = None) -> tuple[HistoryPoint, ...]:
        """Return value and best so far of each trial, in the order of the study.

        Raises
        ------
        UsageError
            There are several objectives, and none is named.
        """
        at = self.index_of(objective)
        goal = self.objectives[at]
        best: float | None = None
        points = []
        for trial in self.trials:
            value = trial.value_of(at)
            if value is not None and not math.isfinite(value):
                value = None
            if trial.finite and value is not None and (best is None or goal.better(value, best)):
                best = value
            points.append(HistoryPoint(trial.number, trial.state, value, best))
        return tuple(points)

    @cached_property
    def params(self) -> tuple[str, ...]:
        """Names of all parameters, in the order of their first appearance."""
        return tuple(dict.fromkeys(name for trial in self.trials for name in trial.params))

    def column(self, name: str) -> ParameterColumn:
        """Return one typed parameter over all trials, with gaps where it was not sampled.

        Raises
        ------
        UsageError
            The parameter does not exist.
        """
        if name not in self.params:
            raise UsageError(f"the study has no parameter {name!r}", fix=nearest(name, self.params))
        return self.columns[self.params.index(name)]

    @property
    def columns(self) -> tuple[ParameterColumn, ...]:
        """Every parameter as a column over all trials."""
        return self.columns_over(self.trials)

    def columns_over(self, trials: Sequence[Trial]) -> tuple[ParameterColumn, ...]:
        """Return every parameter as a column over some of the trials."""
        declared = {space.name: space for space in self.space}
        rows = [trial.params for trial in trials]
        return tuple(make_column(name, rows, declared.get(name)) for name in self.params)

    @classmethod
    def from_records(
        cls,
        rows: Iterable[Mapping[str, Any]],
        *,
        objectives: str | StudyObjective | Sequence[str | StudyObjective],
        source: str = "records",
        study_name: str | None = None,
    ) -> Trials:
        """Build trials from plain mappings, for sweeps without a reader.

        Parameters
        ----------
        rows : iterable of mapping
            Keys ``params`` and ``value`` (or ``values``, one per objective); optional ``number``,
            ``state``, ``intermediate`` (mapping of step to value), ``started``, ``finished``,
            ``run_id``. Without ``state`` a row with a value is complete, one without has failed.
        objectives : str, StudyObjective or a sequence of them
            A name without a direction is maximised.
        source, study_name : str
            For display.

        Raises
        ------
        DataError
            A key is unknown, a value is not a number, or `Trials` rejects the trials.

        Examples
        --------
        >>> rows = [{"params": {"lr": 0.1}, "value": 0.4}, {"params": {"lr": 9.0}}]
        >>> Trials.from_records(rows, objectives=StudyObjective("loss", "minimize")).counts["failed"]
        1
        """
        given: Any = objectives
        single = isinstance(given, str) or not isinstance(given, Iterable)
        named = [given] if single else list(given)
        if not all(isinstance(goal, str | StudyObjective) for goal in named):
            raise DataError(
                "an objective is not a name", where="objectives", fix="name the metric, as in 'f1'"
            )
        goals = tuple(goal if isinstance(goal, StudyObjective) else StudyObjective(goal) for goal in named)
        trials = tuple(trial_from_record(row, position) for position, row in enumerate(rows))
        return cls(goals, trials, source, study_name)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""
        data: dict[str, Any] = encode(self)
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Trials:
        """Rebuild the value from `to_dict()`.

        Raises
        ------
        DataError
            The data have another schema version, or are incomplete or changed.
        """
        made: Trials = decode(cls, data, "trials")
        return made

    def to_frame(self) -> pd.DataFrame:
        """Return one row per trial: number, state, objectives, ``params.*``, times and run."""
        import pandas as pd

        frame = {"number": [trial.number for trial in self.trials]}
        columns: dict[str, list[Any]] = {**frame, "state": [trial.state for trial in self.trials]}
        for at, goal in enumerate(self.objectives):
            columns[goal.name] = [trial.value_of(at) for trial in self.trials]
        for name in self.params:
            columns[f"params.{name}"] = [trial.params.get(name) for trial in self.trials]
        for key in ("started", "finished", "duration", "run_id"):
            columns[key] = [getattr(trial, key) for trial in self.trials]
        return pd.DataFrame(columns)

    def _some_contenders(self) -> tuple[Trial, ...]:
        if self.contenders:
            return self.contenders
        states = ", ".join(f"{count} {state}" for state, count in self.counts.items() if count)
        odd = f", {self.n_non_finite} of them with NaN or infinite values" if self.n_non_finite else ""
        where = f"{self.source}: {states}{odd}"
        if self.counts["infeasible"]:
            raise DataError(
                "no trial meets the constraints of the study, so there is no best trial",
                where=where,
                fix="run more trials, or relax the constraints",
            )
        raise DataError(
            "no trial completed with a finite value",
            where=where,
            fix="let at least one trial finish, or look at why they failed",
        )


def _dominates(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one != other and all(a >= b for a, b in zip(one, other, strict=True))


def _check(study: Trials) -> None:
    if not study.objectives:
        raise DataError("the study has no objective name", where=study.source, fix="name the metric")
    if not study.trials:
        raise DataError("the study has no trials", where=study.source, fix="run the sweep first")
    _check_distinct([goal.name for goal in study.objectives], "objective", study.source)
    _check_distinct([trial.number for trial in study.trials], "trial number", study.source)
    for trial in study.trials:
        if trial.state in {"complete", "infeasible"} and len(trial.values) != len(study.objectives):
            raise DataError(
                f"trial {trial.number} is {trial.state} with {len(trial.values)} values "
                f"for {len(study.objectives)} objectives",
                where=f"{study.source}, trial {trial.number}",
                fix="give one value per objective, or another state",
            )


def _check_distinct(items: Sequence[object], what: str, where: str) -> None:
    item, count = Counter(items).most_common(1)[0]
    if count > 1:
        raise DataError(
            f"{what} {item} appears {count} times in the study", where=where, fix=f"give each {what} once"
        )


def make_column(name: str, rows: Sequence[Mapping[str, Param]], space: Space | None) -> ParameterColumn:
    """Return one parameter as a typed column.

    Parameters
    ----------
    name : str
    rows : sequence of mapping
        Parameters of each trial.
    space : Space or None
        Its declared space.

    Examples
    --------
    >>> make_column("depth", [{"depth": 3}, {}], None).values
    (3.0, None)
    """
    present = [row[name] for row in rows if name in row]
    declared = bool(space and space.choices)
    if not declared and present and all(is_number(value) for value in present):
        return _numeric(name, rows, space)
    values = tuple(str(row[name]) if name in row else None for row in rows)
    order = list(space.choices) if space else []
    extra = sorted({value for value in present if value not in order}, key=_by_size)
    choices = tuple(dict.fromkeys(str(choice) for choice in (*order, *extra)))
    return ParameterColumn(name, "categorical", values, choices=choices)


def _numeric(name: str, rows: Sequence[Mapping[str, Param]], space: Space | None) -> ParameterColumn:
    values = tuple(float(row[name]) if name in row else None for row in rows)  # type: ignore[arg-type]
    ends = [value for value in values if value is not None]
    ends += [end for end in ((space.low, space.high) if space else ()) if end is not None]
    low, high = min(ends), max(ends)
    log = low > 0 and (space.log if space else high >= 100 * low)
    whole = all(isinstance(row[name], int) for row in rows if name in row)
    return ParameterColumn(name, "number", values, low, high, log, whole)


def _by_size(value: Param) -> tuple[bool, float, str]:
    """Sort key: numbers by size, then text alphabetically."""
    number = is_number(value)
    return not number, float(value) if number else 0.0, str(value)  # type: ignore[arg-type]


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
    """Provide the `optuna` module without its log lines and warnings.

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
    """Return all trials of an Optuna study.

    Parameters
    ----------
    study : optuna.Study
        With at least one trial.
    source : str
        Where it was read from, for display.

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
    """Progress of a search.

    Parameters
    ----------
    done, of : int
        Finished trials, and the most there can be.
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
    """Limits of a search, and the storage of its study.

    Parameters
    ----------
    trials : int
        Most trials, including the starting points, which are always tried.
    patience : int
        Stop after this many trials in a row without a better value.
    timeout : float, optional
        Stop this many seconds after the starting points; a search that ends by time is not reproducible.
    seed : int
        Seed of the sampler (TPE).
    storage : str, optional
        ``sqlite:///study.db`` or another database URL, or the path of a journal file; created if it does not
        exist. Without it the study is in memory and is exported as `Trials`.
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
    """One searched number.

    Parameters
    ----------
    name : str
    low, high : float
        Bounds, inclusive.
    log : bool
        Whether it is sampled on a logarithmic scale.

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
        """Return a value clipped to the bounds."""
        return min(max(value, self.low), self.high)


@dataclass(frozen=True)
class SearchResult:
    """The best point of a search, its value, and all trials."""

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
        Name of the objective, for the study.
    direction : {"maximize", "minimize"}

    Raises
    ------
    UsageError
        The study already exists, the storage cannot be opened, or no trial had a value.
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
    """The trials without what differs between runs: times, and the name that Optuna generates.

    The bounds of the spaces are removed, too: they include every possible decision, so a best value
    at a bound does not mean that the space is too small.
    """
    timeless = tuple(replace(trial, started=None, finished=None) for trial in trials.trials)
    scales = tuple(Space(space.name, log=space.log) for space in trials.space)
    return replace(trials, trials=timeless, study_name=name, space=scales)


class _Watch:
    """Callback after every trial: reports the progress, and stops a search without improvement."""

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
            fix="name another with --study-name; studies are not continued, because the rows may differ",
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

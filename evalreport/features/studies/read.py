"""How sweeps lay out trials as MLflow child runs: Optuna's callback, MLflow's Optuna storage, by hand.

Trials from the child runs of an MLflow run, in any known layout.

Trials from an Optuna storage: an SQLite database or a journal file, opened for reading only.
"""

from __future__ import annotations

import ast
import json
import math
import os
import re
import sqlite3
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evalreport.core.errors import (
    DataError,
    EvalreportError,
    FileMissingError,
    NotFoundError,
    UnsafeFileError,
    UsageError,
    nearest,
)
from evalreport.core.progress import report_progress
from evalreport.core.text import redact
from evalreport.features.studies.study import (
    KEY,
    Constraints,
    constrained_trials,
    constraints_of,
    mark_infeasible,
)
from evalreport.features.studies.study import KEY as CONSTRAINTS
from evalreport.metrics.catalogue import find
from evalreport.thresholds.trial import (
    Direction,
    Param,
    Space,
    State,
    StudyObjective,
    Trial,
    is_number,
    merge_spaces,
    plain,
)
from evalreport.thresholds.trial_search import RUN_ID, Trials, quiet_optuna
from evalreport.tracking.client import Store
from evalreport.tracking.runs import PARENT_TAG, all_experiments, pages, valid_time

Distribution = tuple[str, Mapping[str, Any]]
"""An Optuna distribution: the name of its class, and its attributes."""

_STATUS: Mapping[str, State] = {
    "FINISHED": "complete",
    "KILLED": "pruned",
    "FAILED": "failed",
    "RUNNING": "running",
    "SCHEDULED": "waiting",
}
"""MLflow's own Optuna storage ends a pruned trial as KILLED; a run that raises ends as FAILED."""
_CALLBACK_STATE: Mapping[str, State] = {"COMPLETE": "complete", "PRUNED": "pruned", "FAIL": "failed"}
_STUDY_TAG = "optuna.study_direction"
_CALLBACK_TAGS = {"number", "state", "direction"}
_WHOLE = re.compile(r"[+-]?(0|[1-9]\d*)")
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_WORDS: Mapping[str, Param] = {"True": True, "False": False, "None": None}
_QUARTER = 900
"""Seconds of which all time zones are multiples."""
_FARTHEST = 14 * 3600
"""Seconds that a time zone may be from UTC: Kiribati is 14 hours ahead."""

Times = tuple[float | None, float | None]


@dataclass(frozen=True)
class Layout:
    """How to read a child run as a trial.

    Parameters
    ----------
    directions : tuple of str
        Of the study's objectives; empty where nothing says them.
    is_trial : callable
        Tells trials from other child runs.
    number : callable
        The trial number that the run states, or None.
    state : callable
        How the trial ended.
    times : callable
        Start and end in seconds since 1970.
    distributions : callable
        Pairs of parameter and distribution that the run declares.
    objectives : callable
        From the names of the metrics that are there to the objectives; empty where they are not plain.
    constraints : callable
        Values of the constraints that the run states; empty where it states none.
    reported : str or None
        The metric whose steps are intermediate values; None where it is the objective itself.
    """

    directions: tuple[Direction, ...]
    is_trial: Callable[[Any], bool]
    number: Callable[[Any], int | None]
    state: Callable[[Any], State]
    times: Callable[[Any], Times]
    distributions: Callable[[Any], Iterable[tuple[str, Distribution]]]
    objectives: Callable[[Collection[str]], tuple[StudyObjective, ...]]
    constraints: Callable[[Any], Constraints]
    reported: str | None = None

    def params(self, run: Any) -> dict[str, Param]:
        """Return the parameters with the types that are declared, else as they look."""
        declared = dict(self.distributions(run))
        return {name: _parse_param(text, declared.get(name)) for name, text in run.data.params.items()}

    def spaces(self, run: Any) -> tuple[Space, ...]:
        """Return what the run declares of the searched space."""
        return tuple(_space(name, kind, facts) for name, (kind, facts) in self.distributions(run))


def layout_of(parent: Any, children: Sequence[Any]) -> Layout:
    """Return the layout that the tags of parent and children tell."""
    if _STUDY_TAG in parent.data.tags:
        return storage_layout(_directions(parent.data.tags[_STUDY_TAG]))
    for run in children:
        if _of_callback(run):
            return callback_layout(_directions(run.data.tags["direction"]))
    return NESTED


def storage_layout(directions: tuple[Direction, ...]) -> Layout:
    """`mlflow.optuna.storage.MlflowStorage`: the parent is the study, the children its trials."""
    return Layout(
        directions,
        is_trial=lambda _: True,
        number=lambda run: _as_number(run.data.tags.get("numbers")),
        state=_by_status,
        times=_run_times,
        distributions=_of_json,
        objectives=lambda _: _numbered_objectives("value", directions),
        constraints=_stored_constraints,
        reported="intermediate_value",
    )


def callback_layout(directions: tuple[Direction, ...]) -> Layout:
    """Optuna's `MLflowCallback` with nested runs, which are FINISHED whatever became of the trial."""
    return Layout(
        directions,
        is_trial=_of_callback,
        number=lambda run: _as_number(run.data.tags["number"]),
        state=lambda run: _CALLBACK_STATE.get(run.data.tags["state"], "failed"),
        times=_tagged_times,
        distributions=_of_tags,
        objectives=lambda there: _infer_objectives(directions, there),
        constraints=_tagged_constraints,
    )


def _by_status(run: Any) -> State:
    return _STATUS.get(run.info.status, "failed")


def _run_times(run: Any) -> Times:
    start, end = valid_time(run.info.start_time), valid_time(run.info.end_time)
    return start / 1000 if start else None, end / 1000 if end else None


def _stored_constraints(run: Any) -> Constraints:
    """Constraints as MLflow's storage writes them: JSON in tags of Optuna's own attributes."""
    tags = run.data.tags.items()
    return constraints_of(
        {
            name: _json(text)
            for key, text in tags
            if (name := key.removeprefix("sys_")) != key and name.startswith(KEY)
        }
    )


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _tagged_constraints(run: Any) -> Constraints:
    """Constraints in a tag of the user: the callback writes user attributes of a trial, none of Optuna's own.

    The tag is ``constraints``, or ``constraint`` as in Optuna's examples; other text than numbers is another
    tag of the same name.
    """
    for key in (KEY, KEY.removesuffix("s")):
        try:
            read = ast.literal_eval(run.data.tags.get(key, ""))
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            continue
        values = read if isinstance(read, list | tuple) else (read,)
        if values and all(isinstance(value, int | float) for value in values):
            return constraints_of({KEY: values})
    return {}


NESTED = Layout(
    (),
    is_trial=lambda _: True,
    number=lambda _: None,
    state=_by_status,
    times=_run_times,
    distributions=lambda _: (),
    objectives=lambda _: (),
    constraints=_tagged_constraints,
)
"""Plain nested runs with parameters and a metric: nothing is declared."""


def _of_callback(run: Any) -> bool:
    return set(run.data.tags) >= _CALLBACK_TAGS


def _directions(text: str) -> tuple[Direction, ...]:
    found = re.findall("MINIMIZE|MAXIMIZE", text)
    return tuple("minimize" if word == "MINIMIZE" else "maximize" for word in found)


def _as_number(text: str | None) -> int | None:
    return int(text) if text is not None and re.fullmatch(r"\d{1,9}", text) else None


def _numbered_objectives(base: str, directions: Sequence[Direction]) -> tuple[StudyObjective, ...]:
    """Objectives named as both Optuna layouts name them: ``value``, or ``value_0``, ``value_1``, …"""
    names = [base] if len(directions) == 1 else [f"{base}_{at}" for at in range(len(directions))]
    return tuple(StudyObjective(name, way) for name, way in zip(names, directions, strict=True))


def _infer_objectives(directions: Sequence[Direction], there: Collection[str]) -> tuple[StudyObjective, ...]:
    """The only metric that is there, or ``NAME_0``, ``NAME_1``, … of several objectives."""
    if len(directions) == 1 and len(there) == 1:
        return (StudyObjective(next(iter(there)), directions[0]),)
    bases = ["value", *sorted(name.removesuffix("_0") for name in there if name.endswith("_0"))]
    named = (_numbered_objectives(base, directions) for base in bases)
    return next((goals for goals in named if goals and {goal.name for goal in goals} <= set(there)), ())


def _tagged_times(run: Any) -> Times:
    """Times of the trial from the tags, as the run begins when the trial is over.

    They are clock times without a zone; the zone is the whole number of quarters of an hour by which the
    trial's end differs from the start of its run.
    """
    start, end = (_wall(run.data.tags.get(f"datetime_{which}")) for which in ("start", "complete"))
    if start is None or end is None:
        return _run_times(run)
    zone = _QUARTER * round((end - (run.info.start_time or 0) / 1000) / _QUARTER)
    zone = zone if abs(zone) <= _FARTHEST else 0
    return start - zone, end - zone


def _wall(text: str | None) -> float | None:
    """Seconds of a clock time without a zone, read as UTC."""
    try:
        return datetime.fromisoformat(text or "").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


def _of_json(run: Any) -> Iterator[tuple[str, Distribution]]:
    """Distributions as MLflow's storage writes them: one tag, JSON of JSON."""
    try:
        texts = json.loads(run.data.tags.get("param_directions", "{}"))
        for name, inner in ((name, json.loads(text)) for name, text in texts.items()):
            yield name, (inner["name"], dict(inner["attributes"]))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return


def _of_tags(run: Any) -> Iterator[tuple[str, Distribution]]:
    """Distributions as the callback writes them: a tag each, such as ``IntDistribution(high=5, …)``."""
    for key, text in run.data.tags.items():
        name = key.removesuffix("_distribution")
        if name != key and (read := _call(text)):
            yield name, read


def _call(text: str) -> Distribution | None:
    """Name and keywords of a call written out as text; None for anything else."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(text, mode="eval").body
        if not isinstance(body, ast.Call) or not isinstance(body.func, ast.Name):
            return None
        return body.func.id, {str(word.arg): ast.literal_eval(word.value) for word in body.keywords}
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None


def _parse_param(text: str, declared: Distribution | None) -> Param:
    kind, facts = declared or ("", {})
    try:
        match kind:
            case "CategoricalDistribution":
                return next((plain(choice) for choice in facts["choices"] if str(choice) == text), text)
            case "IntDistribution":
                return int(float(text))
            case "FloatDistribution":
                return float(text)
    except (ValueError, TypeError, KeyError, OverflowError):
        return text
    return literal(text)


def literal(text: str) -> Param:
    """Return a parameter of a hand-made run, which MLflow holds as text, as what it most likely was.

    Examples
    --------
    >>> literal("0.5"), literal("3"), literal("None"), literal("007"), literal("rbf")
    (0.5, 3, None, '007', 'rbf')
    """
    if text in _WORDS:
        return _WORDS[text]
    if _WHOLE.fullmatch(text):
        return int(text) if len(text) < 19 else float(text)
    return float(text) if _DECIMAL.fullmatch(text) and not re.match(r"[+-]?0\d", text) else text


def _space(name: str, kind: str, facts: Mapping[str, Any]) -> Space:
    choices = facts.get("choices") if kind == "CategoricalDistribution" else ()
    low, high = (end if is_number(end := facts.get(which)) else None for which in ("low", "high"))
    listed = tuple(plain(choice) for choice in choices) if isinstance(choices, list | tuple) else ()
    return Space(name, low, high, facts.get("log") is True, listed)


_LARGEST = 1.797e308
"""MLflow's SQL stores hold ±inf as the greatest finite number."""
_STEPWISE = ("intermediate_value",)
"""Metrics that are reports even when there is but one, at step 0."""
_SMALLER = frozenset(
    ["loss", "error", "rmse", "mse", "mae", "nll", "perplexity", "latency", "seconds", "duration", "cost"]
)

Metric = str | StudyObjective | Sequence[str | StudyObjective]


def trials_from_children(store: Store, parent_run_id: str, metric: Metric | None = None) -> Trials:
    """Read the child runs of a run as the trials of a sweep.

    Three layouts are known by their tags: those of Optuna's MLflow callback, of MLflow's own Optuna
    storage, and plain nested runs with parameters and a metric.

    Parameters
    ----------
    store : Store
    parent_run_id : str
    metric : str, StudyObjective or a sequence of them, optional
        What was optimised. Left out: the objectives of the study, or the only metric that plain nested runs
        have. A bare name takes the direction that the study or evalreport's catalogue knows; a direction
        that only the name suggests is reported in the notes.

    Returns
    -------
    Trials
        A run that ended without a value of every objective counts as failed, which the notes say.

    Raises
    ------
    RunNotFoundError
        No such run.
    DataError
        The run has no child runs, or none with a metric.
    UsageError
        Several metrics and none named, or no such metric.
    ServerError
        The store cannot be reached.
    """
    parent = store.ask(lambda client: client.get_run(parent_run_id), f"run {parent_run_id}")
    runs = _children(store, parent)
    layout = layout_of(parent, runs)
    trial_runs = [run for run in runs if layout.is_trial(run)]
    others = len(runs) - len(trial_runs)
    notes = [f"{others} child runs are not trials of the study and are left out"] if others else []
    goals = _objectives(layout, trial_runs, metric, notes)
    numbered = zip(trial_runs, _numbers(layout, trial_runs), strict=True)
    ended = _mark_failed(
        [_trial(store, layout, run, number, goals) for run, number in numbered], goals, notes
    )
    trials, unknown = mark_infeasible(ended, [layout.constraints(run) for run in trial_runs])
    notes += unknown
    name = parent.info.run_name or parent_run_id
    spaces = merge_spaces(space for run in trial_runs for space in layout.spaces(run))
    return Trials(goals, trials, f"child runs of the MLflow run {name}", name, spaces, tuple(notes))


def with_runs(trials: Trials, store: Store, parent_run_id: str) -> Trials:
    """Return the trials of a study with the MLflow run of each, found among the children of a run.

    Runs are matched by the trial number that they state, else by their order where there are as many
    runs as trials that were started.

    Parameters
    ----------
    trials : Trials
    store : Store
    parent_run_id : str

    Raises
    ------
    RunNotFoundError
        No such run.
    DataError
        The run has no child runs.
    """
    parent = store.ask(lambda client: client.get_run(parent_run_id), f"run {parent_run_id}")
    runs = _children(store, parent)
    layout = layout_of(parent, runs)
    runs = [run for run in runs if layout.is_trial(run)]
    started = [trial.number for trial in trials.trials if trial.state != "waiting"]
    stated = [layout.number(run) for run in runs]
    if None in stated and len(runs) != len(started):
        note = (
            f"{len(runs)} child runs state no trial number and are not as many as the {len(started)} trials"
        )
        return replace(trials, notes=(*trials.notes, note))
    numbers = started if None in stated else stated
    found = {number: run.info.run_id for number, run in zip(numbers, runs, strict=True)}
    joined_trials = [replace(trial, run_id=found.get(trial.number, trial.run_id)) for trial in trials.trials]
    return replace(trials, trials=tuple(joined_trials))


def _children(store: Store, parent: Any) -> list[Any]:
    """All child runs by start: of the parent's experiment, or of any where Optuna's callback put them."""
    query, where = f"tags.{PARENT_TAG} = '{parent.info.run_id}'", f"run {parent.info.run_id}"
    found = list(pages(store, query, [parent.info.experiment_id], where=where))
    if not found:
        every = [experiment.experiment_id for experiment in all_experiments(store)]
        found = list(pages(store, query, every, where=where))
    if not found:
        raise DataError(
            "the run has no child runs",
            where=where,
            fix="name the parent run of the sweep; its trials are nested runs",
        )
    return sorted(found, key=lambda run: (run.info.start_time or 0, run.info.run_id))


def _objectives(
    layout: Layout, runs: Sequence[Any], metric: Metric | None, notes: list[str]
) -> tuple[StudyObjective, ...]:
    there = Counter(key for run in runs for key in run.data.metrics if not key.startswith("system/"))
    own = layout.objectives(there)
    if metric is None:
        return own or (_single_objective(there, notes),)
    wanted = [metric] if isinstance(metric, str | StudyObjective) else list(metric)
    names = [goal if isinstance(goal, str) else goal.name for goal in wanted]
    for name in names:
        if name not in there:
            raise UsageError(f"no child run has the metric {name!r}", fix=nearest(name, there))
    known = {goal.name: goal for goal in own}
    if not own and len(wanted) == len(layout.directions):
        known = {name: StudyObjective(name, way) for name, way in zip(names, layout.directions, strict=True)}
    return tuple(
        goal if isinstance(goal, StudyObjective) else known.get(goal) or _by_name(goal, notes)
        for goal in wanted
    )


def _single_objective(there: Counter[str], notes: list[str]) -> StudyObjective:
    if not there:
        raise DataError("no child run has a metric", fix="log what the sweep optimises in every child run")
    if len(there) > 1:
        listed = ", ".join(f"{key} ({count} runs)" for key, count in sorted(there.items())[:20])
        raise UsageError(
            f"the child runs have {len(there)} metrics",
            fix=f"name what was optimised with --metric: {listed}",
        )
    return _by_name(next(iter(there)), notes)


def _by_name(name: str, notes: list[str]) -> StudyObjective:
    """An objective with the direction of the catalogue, else the one that its name suggests."""
    last = name.rpartition("/")[2]
    try:
        lower = find(last).better in {"lower", "zero"}
    except UsageError:
        lower = any(word in _SMALLER for word in last.lower().replace("-", "_").split("_"))
        notes.append(f"{name} taken as {'smaller' if lower else 'greater'} is better, by its name")
    return StudyObjective(name, "minimize" if lower else "maximize")


def _numbers(layout: Layout, runs: Sequence[Any]) -> Sequence[int]:
    """The numbers that the runs state, or their order by start where not every run states its own."""
    stated = [number for run in runs if (number := layout.number(run)) is not None]
    return stated if len(set(stated)) == len(runs) else range(len(runs))


def _trial(store: Store, layout: Layout, run: Any, number: int, goals: tuple[StudyObjective, ...]) -> Trial:
    metrics = run.data.metrics
    values = tuple(_infinite(metrics[goal.name]) for goal in goals if goal.name in metrics)
    started, finished = layout.times(run)
    return Trial(
        number=number,
        state=layout.state(run),
        values=values if len(values) == len(goals) else (),
        params=layout.params(run),
        intermediate=_intermediate_values(store, run, layout.reported or goals[0].name),
        started=started,
        finished=finished,
        run_id=run.info.run_id,
    )


def _intermediate_values(store: Store, run: Any, key: str) -> tuple[tuple[int, float], ...]:
    """Values by step; asked of the store only where the run's last step is not its first."""
    last = {metric.key: metric.step for metric in run.data.to_proto().metrics}.get(key)
    if last is None or (last < 1 and key not in _STEPWISE):
        return ()
    history = store.ask(
        lambda client: client.get_metric_history(run.info.run_id, key), f"run {run.info.run_id}"
    )
    return tuple({point.step: _infinite(point.value) for point in history}.items())


def _infinite(value: float) -> float:
    return math.copysign(math.inf, value) if abs(value) >= _LARGEST else value


def _mark_failed(
    trials: list[Trial], goals: tuple[StudyObjective, ...], notes: list[str]
) -> tuple[Trial, ...]:
    """Trials, those that ended without a value of every objective as failed."""
    ended = {trial.number for trial in trials if trial.state == "complete" and not trial.values}
    if ended:
        names = " and ".join(goal.name for goal in goals)
        notes.append(f"runs that ended without {names}, counted as failed: {len(ended)}")
    return tuple(replace(trial, state="failed") if trial.number in ended else trial for trial in trials)


_SQLITE_URL = re.compile(r"sqlite(?:\+\w+)?:///(?P<path>[^?]*)")
_VIEWS = """
CREATE TEMP VIEW trial_user_attributes AS
  SELECT * FROM main.trial_user_attributes WHERE key = '$run';
CREATE TEMP VIEW trial_system_attributes AS
  SELECT * FROM main.trial_system_attributes
  WHERE key = '$run' OR key = '$constraints' OR key LIKE '$constraints:%';
CREATE TEMP VIEW study_user_attributes AS
  SELECT * FROM main.study_user_attributes WHERE FALSE;
CREATE TEMP VIEW study_system_attributes AS
  SELECT * FROM main.study_system_attributes WHERE key LIKE 'study:%';
""".replace("$run", RUN_ID).replace("$constraints", CONSTRAINTS)
"""Of the attributes, those that are read: the MLflow run and the constraints of a trial, the names of the
objectives."""
MOST_VALUES = 500_000
"""Of trials, parameters and reported values: Optuna takes 1.8 kB and 50 µs for each (measured), so 1 GB."""
MOST_JOURNAL = 100_000_000
"""Bytes: a line of about 200 for each of as many values."""
_COUNTS = (
    "SELECT count(*) FROM trials JOIN studies USING (study_id) WHERE study_name = ?",
    "SELECT count(*) FROM trial_params JOIN trials USING (trial_id) JOIN studies USING (study_id) "
    "WHERE study_name = ?",
    "SELECT count(*) FROM trial_intermediate_values JOIN trials USING (trial_id) "
    "JOIN studies USING (study_id) WHERE study_name = ?",
    "SELECT ifnull(sum(length(value_json)), 0) / 64 FROM trial_system_attributes "
    "JOIN trials USING (trial_id) JOIN studies USING (study_id) "
    "WHERE study_name = ? AND key LIKE '$constraints%'".replace("$constraints", CONSTRAINTS),
)
_SQLITE_MAGIC = b"SQLite format 3\x00"


def trials_from_optuna(storage: str | Path, study_name: str | None = None) -> Trials:
    """Read a study from an Optuna storage.

    The storage is never created, upgraded or written: an SQLite database is opened read-only.

    Parameters
    ----------
    storage : str or Path
        ``sqlite:///study.db``, or the path of an SQLite or journal file.
    study_name : str
        May be left out when the storage holds one study.

    Returns
    -------
    Trials
        Times are those of the storage, which Optuna writes in the local time of the sweep's machine.

    Raises
    ------
    FileMissingError
        No such file.
    NotFoundError
        No such study; the remedy lists the studies there.
    UsageError
        Several studies and none named, or a storage of another kind.
    DataError
        Not an Optuna storage, one of another version, or a study without trials.
    UnsafeFileError
        A study of more than `MOST_VALUES` values, or a journal of more than `MOST_JOURNAL` bytes.
    MissingExtraError
        Optuna is not installed.
    """
    path = _file(str(storage))
    with quiet_optuna() as optuna, _storage(optuna, path) as opened:
        name = _choose(_ask(path, optuna.get_all_study_names, opened), study_name, path)
        _ask(path, _refuse_large, path, name)
        report_progress("reading the study")
        study = _ask(path, optuna.load_study, study_name=name, storage=opened)
        if not _ask(path, study.get_trials, deepcopy=False):
            raise DataError(f"the study {name!r} has no trials", where=path.name, fix="run the sweep first")
        trials: Trials = _ask(path, constrained_trials, study, f"Optuna study in {path.name}")
    return trials


def _file(storage: str) -> Path:
    matched = _SQLITE_URL.fullmatch(storage.partition("?")[0])
    if matched is None and re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", storage):
        raise UsageError(
            f"cannot read trials from a storage of kind {storage.partition(':')[0]!r}",
            fix="name an SQLite database (sqlite:///study.db) or a journal file",
        )
    path = Path(matched["path"] if matched else storage)
    if not os.path.isfile(path):
        raise FileMissingError(
            f"no Optuna storage at {path}", fix="give the path of an existing SQLite or journal file"
        )
    return path


@contextmanager
def _storage(optuna: Any, path: Path) -> Iterator[Any]:
    with path.open("rb") as file:
        first = file.readline(1_000_000)
    if not first.startswith(_SQLITE_MAGIC):
        yield _journal(optuna, path, first)
        return
    storage = _ask(path, _database, optuna, path)
    try:
        yield storage
    finally:
        storage.remove_session()
        storage.engine.dispose()


def _database(optuna: Any, path: Path) -> Any:
    uri = f"{path.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    if not {"studies", "trials", "version_info"} <= tables:
        raise DataError(
            "the database holds no Optuna studies",
            where=path.name,
            fix="name the database that was given to Optuna as its storage",
        )
    how = {"creator": lambda: _connect_database(uri)}
    return optuna.storages.RDBStorage("sqlite://", engine_kwargs=how)


def _refuse_large(path: Path, name: str) -> None:
    """Count what Optuna would build, which it builds whole, before it does."""
    with path.open("rb") as file:
        is_journal = not file.read(len(_SQLITE_MAGIC)).startswith(_SQLITE_MAGIC)
    if is_journal:
        found, most, what = path.stat().st_size, MOST_JOURNAL, "bytes of journal"
    else:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            counts = [connection.execute(query, (name,)).fetchone()[0] for query in _COUNTS]
        found, most, what = sum(counts), MOST_VALUES, "trials, parameters, constraints and reported values"
    if found > most:
        raise UnsafeFileError(
            f"the study {name!r} has {found:,} {what}, more than {most:,}",
            where=path.name,
            fix="copy some of its trials into a study of their own: other.add_trials(study.trials[-10000:])",
        )


def _connect_database(uri: str) -> sqlite3.Connection:
    """Connect, with the attributes that nobody reads hidden by views: they may be as large as one likes."""
    connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
    connection.executescript(_VIEWS)
    return connection


def _journal(optuna: Any, path: Path, first: bytes) -> Any:
    try:
        is_journal = "op_code" in json.loads(first)
    except (ValueError, TypeError):
        is_journal = False
    if not is_journal:
        raise DataError(
            "the file is neither an SQLite database nor an Optuna journal",
            where=path.name,
            fix="name the file that was given to Optuna as its storage",
        )
    backend = optuna.storages.journal.JournalFileBackend(str(path))
    return _ask(path, optuna.storages.JournalStorage, backend)


def _ask(path: Path, call: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """Call the library; whatever it raises over a broken file becomes an error with a remedy."""
    try:
        return call(*args, **named)
    except EvalreportError:
        raise
    except Exception as error:
        raise _unreadable(error, path) from None


def _unreadable(error: Exception, path: Path) -> DataError:
    message = redact(str(error)).partition("\n")[0]
    if "storage upgrade" in message:
        return DataError(
            "the study was written by another release of Optuna",
            where=path.name,
            fix="copy the file and run `optuna storage upgrade --storage URL` on the copy",
        )
    return DataError(
        f"Optuna cannot read the storage: {type(error).__name__}: {message}",
        where=path.name,
        fix="check that the file is whole and that no sweep is locking it",
    )


def _choose(names: list[str], wanted: str | None, path: Path) -> str:
    if not names:
        raise DataError("the storage holds no study", where=path.name, fix="run the sweep first")
    if wanted is None and len(names) > 1:
        raise UsageError(
            f"the storage holds {len(names)} studies",
            where=path.name,
            fix=f"name one with --study-name: {', '.join(sorted(names))}",
        )
    if wanted is not None and wanted not in names:
        raise NotFoundError(
            f"no study {wanted!r}", where=path.name, fix=f"studies there: {', '.join(sorted(names))}"
        )
    return wanted or names[0]

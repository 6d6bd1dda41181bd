"""Select runs by id (also shortened), or by experiment, filter and age; traces of a run as a table."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial
from inspect import signature
from itertools import islice
from operator import methodcaller
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from evalreport.core.errors import (
    ArtifactNotFoundError,
    DataError,
    EndpointMissingError,
    EvalreportError,
    RunNotFoundError,
    UsageError,
    nearest,
)
from evalreport.page.payload import Payload
from evalreport.readers.formats import RawTable
from evalreport.readers.limits import MAX_ROWS, refuse_cell
from evalreport.tracking.client import Store, quiet

PARENT_TAG = "mlflow.parentRunId"
SHORTEST_ID = 6
"""Fewest characters of a shortened id: 16 million prefixes, as for commits."""
FULL_ID = 32
"""Characters of a run id: a UUID in hexadecimal digits."""
PAGE = 1000
"""Runs, or experiments, per request."""
MOST_CHILDREN = 10
"""Most child runs that are named if a run has no predictions but its children do."""
NEWEST_FIRST = ["attributes.start_time DESC"]
YEAR_10000 = 253_402_300_800_000
"""Milliseconds since 1970 from which a time is not a valid date."""
_ID = re.compile(r"[A-Za-z0-9][\w-]{0,255}", re.ASCII)
_EXPERIMENTS_AT_ONCE = 200
"""Experiments per search: their ids must fit in one request (chosen by hand)."""


@dataclass(frozen=True)
class DatasetSource:
    """A dataset logged with `log_input`: its location, without the roles of the columns."""

    name: str
    digest: str
    kind: str
    source: str = field(repr=False)


@dataclass(frozen=True)
class RunInfo:
    """A run of a tracking store.

    Parameters
    ----------
    run_id, name : str
    experiment_id, experiment : str
        Id and name.
    status : str
        ``FINISHED``, ``FAILED``, ``KILLED``, ``RUNNING`` or ``SCHEDULED``.
    started : int or None
        Milliseconds since 1970, UTC; None if the run has no time, or an invalid one.
    artifact_uri : str
    tags, params : mapping
    datasets : tuple of DatasetSource
    models : tuple of str
        Ids of the logged models that are outputs or inputs of the run, each once.
    remarks : tuple of str
        What was ignored of the run, and why.

    Examples
    --------
    >>> RunInfo("3f9c1e0a7b", "calm-heron-412", "3", "triage", "FINISHED").display_name
    'run 3f9c1e0a (calm-heron-412)'
    """

    run_id: str
    name: str
    experiment_id: str
    experiment: str
    status: str
    started: int | None = None
    artifact_uri: str = field(default="", repr=False)
    tags: Mapping[str, str] = field(default_factory=dict, repr=False)
    params: Mapping[str, str] = field(default_factory=dict, repr=False)
    datasets: tuple[DatasetSource, ...] = field(default=(), repr=False)
    models: tuple[str, ...] = field(default=(), repr=False)
    remarks: tuple[str, ...] = field(default=(), repr=False)

    @property
    def display_name(self) -> str:
        """Name of the run in messages."""
        return f"run {self.run_id[:8]} ({self.name})" if self.name else f"run {self.run_id[:8]}"

    @property
    def running(self) -> bool:
        """Whether the run has not ended, so that its contents may change."""
        return self.status in {"RUNNING", "SCHEDULED"}

    @property
    def model(self) -> str:
        """The model that made the run's predictions, if the run has exactly one; else empty."""
        return self.models[0] if len(self.models) == 1 else ""


@dataclass(frozen=True)
class Selection:
    """A selection of runs.

    Parameters
    ----------
    run_ids : tuple of str
        Ids, or their first six or more characters.
    experiment : str, optional
        Name or glob.
    filter : str
        MLflow's search expression, passed through.
    latest : int, optional
        Only this many of the newest runs; without an experiment, of all experiments.
    max_runs : int
        More runs are an error.
    every_status : bool
        Whether to include runs that have not finished.

    Examples
    --------
    >>> Selection(filter="metrics.loss < 0.3")
    Traceback (most recent call last):
    evalreport.core.errors.UsageError: --filter is given without --experiment
    """

    run_ids: tuple[str, ...] = ()
    experiment: str | None = None
    filter: str = ""
    latest: int | None = None
    max_runs: int = 100
    every_status: bool = False

    def __post_init__(self) -> None:
        searched = self.experiment is not None or self.latest is not None
        if self.run_ids and (searched or self.filter):
            raise UsageError(
                "run ids and a search are both given",
                fix="use --run-id, or --experiment with --filter and --latest",
            )
        if self.filter and not searched:
            raise UsageError("--filter is given without --experiment", fix="add --experiment NAME")
        if not self.run_ids and not searched:
            raise UsageError("no run is named", fix="pass --run-id ID, --experiment NAME or --latest")
        for option, number in (("--latest", self.latest), ("--set max_runs", self.max_runs)):
            if number is not None and number < 1:
                raise UsageError(f"{option} is {number}", fix="pass 1 or more")


def select_runs(store: Store, selection: Selection) -> tuple[RunInfo, ...]:
    """Return the runs of a selection, each once: as named, or newest first.

    Named runs may have any status except deleted; searched runs must have finished.

    Parameters
    ----------
    store : Store
    selection : Selection

    Raises
    ------
    RunNotFoundError
        An id, an experiment or a finished run does not exist, or the run is deleted.
    UsageError
        An id is too short or not unique, MLflow rejects a filter, or there are too many runs.
    ServerError
    """
    if selection.run_ids:
        if len(set(selection.run_ids)) > selection.max_runs:
            raise _too_many(selection)
        named = [find_run(store, run_id) for run_id in selection.run_ids]
        return tuple({run.run_id: run for run in named}.values())
    experiments = _experiments(store, selection.experiment)
    found = _search(store, selection, experiments)
    if not found:
        raise _none_finished(store, selection, experiments)
    return tuple(found)


def find_run(store: Store, run_id: str) -> RunInfo:
    """Return the run with an id, or with its first six or more characters.

    Raises
    ------
    RunNotFoundError
        The run is unknown or deleted.
    UsageError
        The id is too short or not unique.
    """
    if not _ID.fullmatch(run_id):
        raise RunNotFoundError(f"{run_id!r} is not a run id", fix="copy the id from the MLflow UI")
    if len(run_id) < SHORTEST_ID:
        raise UsageError(
            f"the run id {run_id} is too short",
            fix=f"give at least {SHORTEST_ID} of its {FULL_ID} characters",
        )
    full = run_id if len(run_id) >= FULL_ID else _complete_run_id(store, run_id)
    run = store.ask(methodcaller("get_run", full), f"run {run_id}")
    if run.info.lifecycle_stage == "deleted":
        raise RunNotFoundError(
            f"run {full[:8]} ({run.info.run_name}) is deleted",
            where=store.display_name,
            fix=f"restore it with `mlflow runs restore --run-id {full}`",
        )
    experiment = store.ask(methodcaller("get_experiment", run.info.experiment_id))
    return run_info(run, experiment.name)


def parent_alone(where: str, children: tuple[str, ...]) -> ArtifactNotFoundError:
    """Return a note about a parent run without predictions, such as that of a cross-validation."""
    named = " ".join(f"--run-id {child[:8]}" for child in children[:MOST_CHILDREN])
    more = f" (and {len(children) - MOST_CHILDREN} more)" if len(children) > MOST_CHILDREN else ""
    has = f"has {len(children)} finished child run{'' if len(children) == 1 else 's'}"
    return ArtifactNotFoundError(
        f"the run has no predictions and {has}",
        where=where,
        fix=f"pass --children where they are the folds of a cross-validation; else name them: {named}{more}",
    )


def child_runs(store: Store, parent: RunInfo) -> tuple[RunInfo, ...]:
    """Return the child runs of a run that are not deleted, of any status, by start."""
    query = f"tags.{PARENT_TAG} = '{parent.run_id}'"
    found = list(pages(store, query, [parent.experiment_id]))
    found.sort(key=lambda run: (run.info.start_time or 0, run.info.run_id))
    return tuple(run_info(run, parent.experiment) for run in found)


def active_run_id() -> str:
    """Return the id of the active run of `mlflow.start_run` in this thread.

    Raises
    ------
    UsageError
        There is no active run.
    """
    with quiet():
        import mlflow

        run = mlflow.active_run()
    if run is None:
        raise UsageError(
            "no run is named and none is active", fix="pass run_id=, or log within mlflow.start_run()"
        )
    return str(run.info.run_id)


def _complete_run_id(store: Store, start: str) -> str:
    """Return the only id with a prefix; deleted runs are included, so that an error can name them."""
    known = {experiment.experiment_id: experiment.name for experiment in all_experiments(store, view=3)}
    query = f"attributes.run_id LIKE '{start}%'"
    found = [run for run in pages(store, query, list(known), view=3) if run.info.run_id.startswith(start)]
    if not found:
        raise RunNotFoundError(
            f"no run id begins with {start}",
            where=store.display_name,
            fix="check the id and the tracking URI",
        )
    if len(found) > 1:
        listed = ", ".join(f"{run.info.run_id[:12]} ({run.info.run_name})" for run in found[:5])
        raise UsageError(f"{len(found)} run ids begin with {start}", where=listed, fix="give more characters")
    return str(found[0].info.run_id)


def valid_time(at: float | None) -> float | None:
    """Return a time in milliseconds since 1970 if it is a valid date, else None.

    Examples
    --------
    >>> valid_time(0), valid_time(-(10**15)), valid_time(9 * 10**17), valid_time(None)
    (0, None, None, None)
    """
    return at if at is not None and 0 <= at < YEAR_10000 else None


def run_info(run: Any, experiment: str) -> RunInfo:
    """Return the used parts of an MLflow `Run`; before MLflow 3 runs have no models."""
    inputs = run.inputs.dataset_inputs if run.inputs else ()
    datasets = [entry.dataset for entry in inputs]
    at, started = run.info.start_time, valid_time(run.info.start_time)
    odd = at is not None and started is None
    return RunInfo(
        run_id=run.info.run_id,
        name=run.info.run_name or "",
        experiment_id=run.info.experiment_id,
        experiment=experiment,
        status=run.info.status,
        started=None if started is None else int(started),
        artifact_uri=run.info.artifact_uri,
        tags=dict(run.data.tags),
        params=dict(run.data.params),
        datasets=tuple(DatasetSource(d.name, d.digest, d.source_type, d.source) for d in datasets),
        models=_models(run),
        remarks=(f"its start time {at} is not a date and is ignored",) if odd else (),
    )


def _models(run: Any) -> tuple[str, ...]:
    made = getattr(getattr(run, "outputs", None), "model_outputs", None) or ()
    taken = getattr(run.inputs, "model_inputs", None) or ()
    return tuple(dict.fromkeys(entry.model_id for entry in (*made, *taken)))


def iterate_pages(
    store: Store, search: Callable[[str | None], Callable[[Any], Any]], where: str = ""
) -> Iterator[Any]:
    """Yield the entries of all pages of a result; `search` is called with the token of a page."""
    token = None
    while True:
        page = store.ask(search(token), where)
        yield from page
        token = page.token
        if not token:
            return


def all_experiments(store: Store, view: int = 1) -> list[Any]:
    """Return all experiments; views have MLflow's numbers: 1 active, 2 deleted, 3 both."""
    return list(
        iterate_pages(store, lambda token: methodcaller("search_experiments", view, PAGE, page_token=token))
    )


def _experiments(store: Store, pattern: str | None) -> dict[str, str]:
    """Return the experiments (id to name) with a name or glob; without one, all active experiments."""
    active = {experiment.experiment_id: experiment.name for experiment in all_experiments(store)}
    if pattern is None:
        return active
    exact = {key: name for key, name in active.items() if name == pattern}
    found = exact or {key: name for key, name in active.items() if fnmatchcase(name, pattern)}
    if not found:
        raise RunNotFoundError(
            f"there is no experiment {pattern!r}",
            where=store.display_name,
            fix=nearest(pattern, active.values()),
        )
    return found


def pages(
    store: Store,
    query: str,
    experiments: list[str],
    *,
    view: int = 1,
    at_most: int | None = None,
    where: str = "",
) -> Iterator[Any]:
    """Yield the runs of a search, newest first within each batch of experiments."""
    for start in range(0, len(experiments), _EXPERIMENTS_AT_ONCE):
        batch = experiments[start : start + _EXPERIMENTS_AT_ONCE]
        size = min(PAGE, at_most or PAGE)
        search = partial(methodcaller, "search_runs", batch, query, view, size, NEWEST_FIRST)
        yield from islice(iterate_pages(store, search, where), at_most)


def _search(store: Store, selection: Selection, experiments: Mapping[str, str]) -> list[RunInfo]:
    finished = "" if selection.every_status else "attributes.status = 'FINISHED'"
    query = " and ".join(filter(None, (finished, selection.filter)))
    enough = selection.latest or selection.max_runs + 1
    try:
        found = list(pages(store, query, list(experiments), at_most=enough))
    except UsageError as error:
        raise _bad_filter(error, selection) from None
    found.sort(key=lambda run: (-(run.info.start_time or 0), run.info.run_id))
    found = found[: selection.latest]
    if len(found) > selection.max_runs:
        raise _too_many(selection)
    return [run_info(run, experiments[run.info.experiment_id]) for run in found]


def _bad_filter(error: EvalreportError, selection: Selection) -> UsageError:
    return UsageError(
        f"MLflow does not understand the filter: {error.message}",
        where=f"--filter {selection.filter!r}",
        fix="write it as in \"metrics.loss < 0.3 and tags.split = 'test'\"",
    )


def _too_many(selection: Selection) -> UsageError:
    return UsageError(
        f"the selection has more than {selection.max_runs} runs",
        fix="narrow it with --filter or --latest N, or raise --set max_runs",
    )


def _none_finished(store: Store, selection: Selection, experiments: Mapping[str, str]) -> RunNotFoundError:
    where = f"experiment {selection.experiment}" if selection.experiment else store.display_name
    query = " and ".join(filter(None, ("attributes.status != 'FINISHED'", selection.filter)))
    others = len(list(pages(store, query, list(experiments), at_most=PAGE)))
    if others:
        return RunNotFoundError(
            f"no run has finished; {others} are running or have failed",
            where=where,
            fix="wait for them, or name one with --run-id",
        )
    matching = " that matches the filter" if selection.filter else ""
    return RunNotFoundError(
        f"there is no finished run{matching}", where=where, fix="check --experiment and --filter"
    )


State: TypeAlias = Literal["written", "unchanged", "dry run"]


@dataclass(frozen=True)
class Logged:
    """The result of a logging.

    Parameters
    ----------
    state : str
        ``written``, ``unchanged`` (the place already has this payload: nothing was written) or ``dry run``.
    metrics, files : tuple of str
        Keys (including series) and paths of the payload in the place.
    replaced : tuple of str
        Those of `files` that existed before.
    left : tuple of str
        Keys and paths of an earlier logging that are not in this one, and remain.
    notes : tuple of str
        Notes for the user.
    page : str
        Address of the run's artifacts in the MLflow UI; empty without a server.
    model : str or None
        Id of the logged model that also shows the metrics; None if the run has none or several.
    values : mapping from key to float
        Values of the metrics, without series.
    """

    KEYS: ClassVar = ("state", "metrics", "files", "replaced", "left", "page", "model")

    state: State
    metrics: tuple[str, ...]
    files: tuple[str, ...]
    replaced: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    page: str = ""
    model: str | None = None
    values: Mapping[str, float] = field(default_factory=dict, repr=False)


class Sink(Protocol):
    """A place for payloads; `tests/tracking/test_contract.py` tests what all of them guarantee."""

    def log(self, payload: Payload, *, dry_run: bool = False) -> Logged:
        """Write what the place lacks of a payload; in a dry run, check everything and write nothing."""
        ...


T = TypeVar("T")


class Tracking(Protocol):
    """Interface of a tracking store, such as `evalreport.tracking.client.Store`."""

    def ask(self, call: Callable[[Any], T], where: str = "") -> T:
        """Return the result of a call of the client, or raise one of evalreport's errors."""
        ...

    def page_of_run(self, experiment_id: str, run_id: str) -> str:
        """Return the address of the run's artifacts in the UI; it may be empty."""
        ...

    def artifact_root(self, uri: str, where: str) -> Path | None:
        """Return the folder of the run's artifacts if it is on this machine; reject locations not allowed."""
        ...


GENAI_TAG = ("mlflow.runType", "genai_evaluate")
ANSWER = "generation"
ID = "example_id"
_PAGE = 500
"""Traces per request: the most that MLflow returns."""
_SOURCE_RUN = "mlflow.assessment.sourceRunId"


def has_traces(store: Store, run: RunInfo, *, untagged: bool) -> bool:
    """Return whether a run has traces, from the tag of `mlflow.genai.evaluate`, else by requesting one.

    Parameters
    ----------
    untagged : bool
        Request a trace if there is no tag, which clients up to MLflow 3.4 did not set. A server without
        traces has none.

    Raises
    ------
    ServerError
        The request fails, so that it is unknown whether there are traces.
    """
    if run.tags.get(GENAI_TAG[0]) == GENAI_TAG[1]:
        return True
    if not untagged:
        return False
    try:
        return next(_pages(store, run), None) is not None
    except EndpointMissingError:
        return False


def read_traces(store: Store, run: RunInfo, *, expected: bool = True) -> RawTable:
    """Return one row per trace of a run: its id, its response, and each expectation as a column.

    The response is text; a response of another type (a dict) becomes JSON. A trace without a response,
    because the program failed, has an empty response, which counts as wrong. The id is a digest of the input,
    so that two runs over the same data can be paired; if inputs are missing or all equal, it is the trace's
    own id.

    Parameters
    ----------
    store : Store
    run : RunInfo
    expected : bool
        Whether the true label must be among the expectations.

    Raises
    ------
    DataError
        The run has no traces, or none with an expectation.
    ServerError
    """
    traces = list(_pages(store, run))
    found = [_expectations(trace, run.run_id) for trace in traces]
    graded = [_feedback(trace, run.run_id) for trace in traces]
    names = tuple(dict.fromkeys(name for row in found for name in row))
    grades = tuple(dict.fromkeys(name for row in graded for name in row if name not in names))
    if not traces or (expected and not names and not grades):
        raise DataError(
            f"the run has {len(traces)} traces and no expectation to compare responses with",
            where=run.display_name,
            fix="pass expectations to mlflow.genai.evaluate, or the true labels with --set truth_file",
        )
    answers = [_text(trace.data.response) for trace in traces]
    refuse_cell(max(map(len, answers)), ANSWER)
    columns = {ID: _column(_ids(traces)), ANSWER: _column(answers)}
    columns |= {name: _column([row.get(name) for row in found]) for name in names if name not in columns}
    columns |= {name: _column([row.get(name) for row in graded]) for name in grades if name not in columns}
    for column in columns.values():
        column.flags.writeable = False
    parts = {"id": ID} | {f"grade {place}" if place else "grade": name for place, name in enumerate(grades)}
    parts |= {f"expectation {place}": name for place, name in enumerate(names)}
    source = f"traces of {run.display_name}"
    return RawTable(columns, len(traces), source, _digest(columns), "traces", tuple(columns), parts)


def _pages(store: Store, run: RunInfo) -> Iterator[Any]:
    asked = {**_where(store, run), "run_id": run.run_id, "max_results": _PAGE}
    asked["order_by"] = ["timestamp_ms ASC"]

    def search(token: str | None) -> methodcaller:
        return methodcaller("search_traces", **asked, page_token=token)

    return islice(iterate_pages(store, search, run.display_name), MAX_ROWS + 1)


def _where(store: Store, run: RunInfo) -> dict[str, Any]:
    """Return the experiment with the argument name of the client: older clients use another one."""
    known = signature(store.client.search_traces).parameters
    return {"locations" if "locations" in known else "experiment_ids": [run.experiment_id]}


def _expectations(trace: Any, run_id: str) -> dict[str, Any]:
    """Return the valid expectations by name: if there are several, this run's, and of those the latest."""
    best: dict[str, tuple[bool, int, Any]] = {}
    for assessment in trace.info.assessments or ():
        expectation = getattr(assessment, "expectation", None)
        if expectation is None or assessment.valid is False:
            continue
        own = (assessment.metadata or {}).get(_SOURCE_RUN) == run_id
        rank = (own, assessment.last_update_time_ms or 0)
        if assessment.name not in best or rank >= best[assessment.name][:2]:
            best[assessment.name] = (*rank, expectation.value)
    return {name: value for name, (_, _, value) in best.items()}


HUMAN = "HUMAN"
"""Source type of a human assessment."""


def _feedback(trace: Any, run_id: str) -> dict[str, Any]:
    """Return the valid feedback by name, as `_expectations`; names of human feedback end in ``(human)``.

    Feedback with an error is an attempt without a grade.
    """
    best: dict[str, tuple[bool, int, Any]] = {}
    for assessment in trace.info.assessments or ():
        feedback = getattr(assessment, "feedback", None)
        if feedback is None or assessment.valid is False:
            continue
        is_human = getattr(getattr(assessment, "source", None), "source_type", "") == HUMAN
        name = f"{assessment.name} (human)" if is_human else str(assessment.name)
        own = (assessment.metadata or {}).get(_SOURCE_RUN) == run_id
        rank = (own, assessment.last_update_time_ms or 0)
        value = None if getattr(feedback, "error", None) else feedback.value
        is_grade = value is None or isinstance(value, (str, bool, int, float))
        if is_grade and (name not in best or rank >= best[name][:2]):
            best[name] = (*rank, value)
    return {name: value for name, (_, _, value) in best.items()}


def _text(response: str | None) -> str:
    if not response:
        return ""
    try:
        value = json.loads(response)
    except (ValueError, RecursionError):
        return response
    if value is None:
        return ""
    return value if isinstance(value, str) else response


def _ids(traces: Sequence[Any]) -> list[str]:
    named = [trace.info.client_request_id for trace in traces]
    asked = [trace.data.request or "" for trace in traces]
    if all(named) and len(set(named)) == len(named):
        return named
    if all(asked) and len(set(asked)) > 1:  # a repeated input becomes a repeated id
        return [hashlib.sha256(text.encode()).hexdigest()[:16] for text in asked]
    return [trace.info.trace_id for trace in traces]


def _column(values: Sequence[Any]) -> npt.NDArray[Any]:
    return np.fromiter(values, dtype=object, count=len(values))


def _digest(columns: dict[str, npt.NDArray[Any]]) -> str:
    """Return a digest of the contents of the traces, in any order."""
    names = [name for name in columns if name != ID]
    rows = sorted(zip(*(map(str, columns[name]) for name in (ID, *names)), strict=True))
    return hashlib.sha256(json.dumps([names, rows]).encode()).hexdigest()

"""Traces of `mlflow.genai.evaluate`, with responses and expectations, as a table."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from inspect import signature
from itertools import islice
from operator import methodcaller
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.core.errors import DataError, EndpointMissingError
from evalreport.readers.formats import RawTable
from evalreport.readers.limits import MAX_ROWS, refuse_cell
from evalreport.tracking.client import Store
from evalreport.tracking.runs import RunInfo, iterate_pages

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

"""A comparison to where it is wanted, a run among them: the parent of the compared runs, or the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evalreport.codec import encode
from evalreport.errors import UsageError
from evalreport.gate.documents import as_dicts
from evalreport.panels.comparison.words import headline
from evalreport.panels.systems.words import headline as systems_headline
from evalreport.sinks.mlflow import MlflowSink
from evalreport.sources.mlflow_client import connect
from evalreport.sources.runs import PARENT_TAG, RunInfo, find_run
from evalreport.workflow.compare import Compared
from evalreport.workflow.deliver import Delivered, deliver, files_read, sink_in
from evalreport.workflow.documents import comparison_document
from evalreport.workflow.request import Destination, Request
from evalreport.workflow.runs import Item
from evalreport.workflow.systems import ComparedSystems


def deliver_comparison(
    done: Compared | ComparedSystems,
    request: Request,
    where: Destination,
    *,
    log_to: str | None,
    tracking_uri: str | None,
) -> Delivered[Any]:
    """Deliver a comparison, of runs or of systems.

    Parameters
    ----------
    log_to : str or None
        Id of the run that it is logged into; else the parent that all compared runs share, else the baseline.
    tracking_uri : str or None
        Of the store, where no run was compared.

    Raises
    ------
    UsageError
        What is read would be written over, or there is no run to log into.
    """
    place = None if isinstance(done, ComparedSystems) else done.comparison.baseline
    base = None if place is None else done.items[place].run
    run = run_for(done.items, base, where, log_to, tracking_uri) if where.log else None
    document = comparison_document(done.comparison, as_record(done), request.title, request.notes)
    return deliver(document, where, run=run, read=files_read(request, done.items))


def as_record(done: Compared | ComparedSystems) -> dict[str, Any]:
    """Return `comparison` of the JSON as plain data: the comparison, its verdict in words, and the rules."""
    if isinstance(done, ComparedSystems):
        return {**encode(done.comparison), "headline": systems_headline(done.comparison).text}
    return {
        **encode(done.comparison),
        "headline": headline(done.comparison).text,
        "checks": [check for run in done.checked for check in as_dicts(run)],
    }


def run_for(
    items: Sequence[Item],
    base: RunInfo | None,
    where: Destination,
    log_to: str | None,
    tracking_uri: str | None,
) -> MlflowSink:
    """Return the run to log into: it has to be finished, and hold nothing of others under our names.

    Parameters
    ----------
    items : sequence of Item
        What was compared: the run is the parent that all of them share, unless `log_to` names one.
    base : RunInfo or None
        The run in place of a parent.
    """
    stores = [item.store for item in items if item.store is not None]
    store = stores[0] if stores else connect(tracking_uri)
    run_id = find_run(store, log_to).run_id if log_to else _home(items, base)
    return sink_in(store, run_id, where)


def _home(items: Sequence[Item], base: RunInfo | None) -> str:
    runs = [item.run for item in items if item.run is not None]
    parents = {run.tags.get(PARENT_TAG, "") for run in runs}
    if len(runs) == len(items) and len(parents) == 1 and "" not in parents:
        return parents.pop()
    if base is None:
        raise UsageError(
            "there is no run to log the comparison into", where="--log", fix="name one with --log-to ID"
        )
    return base.run_id

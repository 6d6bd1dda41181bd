"""The report of one item: evaluated, and delivered to a page, a folder and its run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from evalreport.evaluation.model import Evaluation
from evalreport.sinks.mlflow import MlflowSink, check_run
from evalreport.workflow.deliver import Delivered, deliver, files_read
from evalreport.workflow.documents import evaluation_document
from evalreport.workflow.request import Destination, Request
from evalreport.workflow.runs import Item
from evalreport.workflow.standing import StandingRun, inputs_tag, standing


def report_item(item: Item, request: Request, where: Destination) -> Delivered[Evaluation]:
    """Evaluate a run or a file and deliver its report; nothing is written before all is known to be good.

    Raises
    ------
    EvalreportError
        Whatever keeps it from being evaluated, or its report from being written.
    """
    run = run_of(item, where)
    ev, read = item.evaluate(request)
    tags = inputs_tag(item, read.artifact, request, where) if run is not None else {}
    done = deliver_evaluation(ev, item, request, where, run=run, tags=tags)
    return replace(done, taken=read.taken)


def log_item(item: Item, request: Request, where: Destination) -> Delivered[Evaluation] | StandingRun:
    """Log the report of a run as `report_item` does, unless it stands there: one request tells."""
    return standing(item, request, where) or report_item(item, request, where)


def deliver_evaluation(
    ev: Evaluation,
    item: Item,
    request: Request,
    where: Destination,
    *,
    run: MlflowSink | None = None,
    tags: Mapping[str, str] = MappingProxyType({}),
) -> Delivered[Evaluation]:
    """Deliver the report of an evaluation of an item."""
    document = evaluation_document(ev, request.checklist, request.notes)
    key = ev.provenance.run_id or ev.provenance.sha256
    read = files_read(request, [item])
    return deliver(document, where, run=run, name=item.name, key=key, read=read, tags=tags)


def run_of(item: Item, where: Destination) -> MlflowSink | None:
    """Return the run of an item where it is logged into; refused before anything is worked out.

    Raises
    ------
    EvalreportError
        It is deleted, or has not ended.
    """
    if not where.log or item.run is None:
        return None
    check_run(item.opened, item.run.run_id, allow_running=where.allow_running)
    return MlflowSink(item.opened, item.run.run_id, where.force, where.allow_running)

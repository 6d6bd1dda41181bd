"""The report of one item: evaluated, and delivered to a page, a folder and its run."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from operator import methodcaller
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from evalreport.codec import dumps
from evalreport.evaluation.model import Evaluation
from evalreport.report.names import FOLDER, INPUTS_TAG, SITE, digest_tag, is_ours
from evalreport.report.render import templates_of
from evalreport.sinks.mlflow import MlflowSink
from evalreport.sinks.writer import UNFINISHED
from evalreport.sources.mlflow_client import Store
from evalreport.sources.runs import RunInfo
from evalreport.workflow.collect import SENSITIVE_TAG, with_unit
from evalreport.workflow.deliver import Delivered, deliver, files_read, sink_in
from evalreport.workflow.documents import evaluation_document
from evalreport.workflow.request import Destination, Request
from evalreport.workflow.runs import Item

_COMMIT_TAG = "mlflow.source.git.commit"


@dataclass(frozen=True)
class StandingRun:
    """A run that holds what would be logged into it: its item, and the verdict that stands there."""

    item: Item
    verdict: str


@cache
def code_digest(package: Path) -> str:
    """Return a digest of the files and templates of a package.

    Parameters
    ----------
    package : Path
        Its folder.
    """
    digest = hashlib.sha256()
    for folder in (package, templates_of(package)):
        # what Python caches comes and goes, under passing names while it is written
        for path in sorted(one for one in folder.rglob("*") if "__pycache__" not in one.parts):
            if not os.path.isfile(path):
                continue
            digest.update(f"{path.relative_to(folder).as_posix()}\0{path.stat().st_size}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def inputs_tag(item: Item, path: str, request: Request, where: Destination) -> dict[str, str]:
    """Return the tag of a run whose predictions are the artifact at `path`; nothing where none can tell.

    A truth file and rows for the threshold are not of the run, and may change without it.
    """
    if item.run is None or not path or request.truth_file is not None or request.tune_on is not None:
        return {}
    folder = str(PurePosixPath(path).parent)
    return {INPUTS_TAG: f"{_inputs_digest(item.opened, item.run, folder, request, where)} {folder}"}


def standing(item: Item, request: Request, where: Destination) -> StandingRun | None:
    """Return a run that holds what would be logged into it; None where that has to be worked out."""
    run = item.run
    if run is None or item.children or where.force or where.out is not None or where.dry_run:
        return None
    whole = run.tags.get(digest_tag("evaluation"), UNFINISHED)
    if whole.startswith(UNFINISHED) or not same_inputs(item, run.tags.get(INPUTS_TAG, ""), request, where):
        return None
    return StandingRun(item, run.tags.get("evalreport.verdict", ""))


def same_inputs(item: Item, tag: str, request: Request, where: Destination) -> bool:
    """Tell whether a run holds what an evaluation was made of; one request."""
    digest, _, folder = tag.partition(" ")
    if item.run is None or not folder:
        return False
    return digest == _inputs_digest(item.opened, item.run, folder, request, where)


def _inputs_digest(store: Store, run: RunInfo, folder: str, request: Request, where: Destination) -> str:
    listing = methodcaller("list_artifacts", run.run_id, None if folder == "." else folder)
    entries = store.ask(listing, run.shown)
    files = sorted(
        (entry.path, entry.file_size)
        for entry in entries
        if not is_ours(entry.path) and entry.path not in (FOLDER, SITE, "images")
    )
    lasting = replace(with_unit(request, run), command="", made="")
    told = [run.name, run.experiment, run.models, run.datasets]
    tags = [run.tags.get(name, "") for name in (SENSITIVE_TAG, _COMMIT_TAG)]
    parts = [code_digest(Path(__file__).parents[1]), where.prefix, dumps(lasting), dumps(told), tags, files]
    return hashlib.sha256(dumps(parts).encode()).hexdigest()[:32]


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
    return deliver(
        document, where, run=run, name=item.page, key=key, origin=item.origin, read=read, tags=tags
    )


def run_of(item: Item, where: Destination) -> MlflowSink | None:
    """Return the run of an item where it is logged into; refused before anything is worked out.

    Raises
    ------
    EvalreportError
        It is deleted, or has not ended.
    """
    if not where.log or item.run is None:
        return None
    return sink_in(item.opened, item.run.run_id, where)

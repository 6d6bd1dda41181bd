"""A result with its page, files and metrics, delivered to a page, a folder or a run, and verified."""

from __future__ import annotations

import hashlib
import logging
import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from operator import methodcaller
from pathlib import Path, PurePosixPath
from typing import Any, Generic, TypeVar, get_args

from evalreport.core.errors import EvalreportError, NotFoundError, ServerError, UsageError, some_of
from evalreport.core.format import pluralize
from evalreport.core.json_codec import dumps, encode
from evalreport.core.progress import report_progress
from evalreport.core.result import Provenance
from evalreport.evaluation.evaluation import Evaluation
from evalreport.page.csv_tables import PARTS, extracts
from evalreport.page.payload import (
    EVALUATION,
    FOLDER,
    SITE,
    Part,
    Payload,
    Presentation,
    is_ours,
    present,
    state_tag,
)
from evalreport.page.render import render_page, templates_of
from evalreport.tracking.client import Store
from evalreport.tracking.folder import FolderSink, check_page, of_input, write_page
from evalreport.tracking.log_results import MlflowSink, check_run
from evalreport.tracking.ownership import UNFINISHED, CheckedPart, check_part, content, list_file_sizes
from evalreport.tracking.runs import Logged, RunInfo
from evalreport.workflow.collect import SENSITIVE_TAG, with_unit
from evalreport.workflow.items import Item
from evalreport.workflow.request import STDOUT, Destination, Request

T = TypeVar("T")
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Deliverable(Generic[T]):
    """A result with its page, and the payload that goes with it, each made when it is wanted.

    Parameters
    ----------
    of : evaluation, sweep or comparison
        What it is of.
    title : str
        Of the page, instead of its own.
    notes, extra
        See `Presentation`.
    """

    of: T
    title: str = ""
    notes: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def result_presentation(self) -> Presentation[T]:
        """How it is shown, written and logged."""
        return present(self.of, notes=self.notes, extra=self.extra)

    @cached_property
    def html(self) -> str:
        """The page, rendered once."""
        html = render_page(self.result_presentation, self.title)
        logger.debug("made the page, %.0f kB", len(html.encode()) / 1000)
        return html

    def payload(self, where: Destination, *, folder: bool = False, inputs: str = "") -> Payload:
        """Return what is logged, and with a folder its files: every figure and table is among them."""
        shown, html = replace(self.result_presentation, prefix=where.prefix, log_all=where.log_all), self.html
        made = replace(shown.payload(html), inputs=inputs)
        return replace(made, exports={**shown.files(html), **extracts(html)}) if folder else made


def document_in_run(of: Any, run: RunInfo) -> Deliverable[Any]:
    """Return the document of a logged result, as in the run."""
    return Deliverable(of.with_provenance(_with_run_provenance(of.provenance, run)))


def _with_run_provenance(origin: Provenance, run: RunInfo) -> Provenance:
    """The provenance with the run that is logged into, and the time where there is none."""
    made = origin.made or time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    return replace(
        origin, run_id=run.run_id, run_name=run.name, experiment=run.experiment, model=run.model, made=made
    )


@dataclass(frozen=True)
class Delivered(Generic[T]):
    """A document and its location.

    Parameters
    ----------
    document : Deliverable
    paths : tuple of Path
        Files outside of a run, the page first; in a dry run those that would be written.
    logged : Logged or None
        What was logged into a run.
    run_id : str
        Of that run.
    dry_run : bool
    warnings : tuple of str
        What the user should know of the places, and of what an earlier logging left there.
    taken : tuple of (part, value)
        The column mapping of the input.
    """

    document: Deliverable[T]
    paths: tuple[Path, ...] = ()
    logged: Logged | None = None
    run_id: str = ""
    dry_run: bool = False
    warnings: tuple[str, ...] = ()
    taken: tuple[tuple[str, str], ...] = ()

    @property
    def delivered_result(self) -> T:
        """What the document is of."""
        return self.document.of

    @property
    def files(self) -> list[str]:
        """The files that were written outside of a run, for JSON."""
        return [] if self.dry_run else list(map(str, self.paths))

    @property
    def lines(self) -> tuple[str, ...]:
        """What became of it, as a command prints it; of a dry run, everything that would be."""
        would = "would write " if self.dry_run else ""
        files = tuple(f"{would}{line}" for line in _list_paths(self.paths))
        if self.logged is None:
            return files
        page = (self.logged.page,) if self.logged.page else ()
        what = f"{_summarise_logged(self.logged, self.document)} into run {self.run_id[:8]}"
        return (*_logged_lines(self.logged, what), *files, *page)

    @property
    def logged_json(self) -> dict[str, Any] | None:
        """What was logged into a run, for JSON."""
        return None if self.logged is None else {"run_id": self.run_id, **encode(self.logged)}


def deliver(
    document: Deliverable[T],
    where: Destination,
    *,
    run: MlflowSink | None = None,
    name: str = "",
    key: str = "",
    origin: str = "",
    read: Sequence[str | None] = (),
    inputs: str = "",
) -> Delivered[T]:
    """Write a document to a page, a folder and a run, as far as they are asked for.

    Every place is checked before the first is written to, so that a refusal leaves all of them as they were.

    Parameters
    ----------
    document : Deliverable
    where : Destination
    run : MlflowSink, optional
        The run that it is logged into, where `where` says so.
    name, key : str
        What its page is called, and of one of several its folder.
    origin : str
        What the input is, by which its page is known from that of another of the same name; else the key.
    read : sequence of str or None
        Files that were read, which are not written over.
    inputs : str
        See `Payload`.

    Raises
    ------
    EvalreportError
        A place that cannot be written to, or holds what evalreport did not write.
    """
    report_progress("writing figures and page")
    made_of = hashlib.sha256((origin or key).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    page, folder = where.page_of(name, made_of), where.folder_of(name, key)
    outer = None if folder is None else FolderSink(folder, where.force)
    inner = run if where.log else None
    payload = None
    if outer or inner:
        payload = document.payload(where, folder=outer is not None, inputs=inputs)
    paths = (*([] if page is None else [page]), *_paths(payload, folder))
    refuse_inputs(paths, read)
    if page is not None:
        check_page(page, force=where.force)
    kept = logged = None
    if payload is not None:
        kept, logged = _log_payload(payload, outer, inner, dry_run=where.dry_run)
    if page is not None and not where.dry_run:
        content = document.html.encode()
        write_page(
            page, content if where.output is not None else of_input(content, made_of), force=where.force
        )
    warnings = (*_warnings(logged, IN_RUN), *_warnings(kept, IN_FOLDER))
    run_id = "" if inner is None else inner.run_id
    return Delivered(document, paths, logged, run_id, where.dry_run, warnings)


def sink_in(store: Store, run_id: str, where: Destination, *, repair: bool = False) -> MlflowSink:
    """Return the sink of a run that takes what is to be logged; asked before anything is worked out."""
    check_run(store, run_id, allow_running=where.allow_running)
    return MlflowSink(store, run_id, where.force, where.allow_running, repair=repair)


def _paths(payload: Payload | None, folder: Path | None) -> tuple[Path, ...]:
    return () if payload is None or folder is None else tuple(folder / path for path in payload.exports)


def _list_paths(paths: Sequence[Path]) -> Iterator[str]:
    """A line per file; figures and tables of a page are counted."""
    inner = Counter(path.parent for path in paths if path.parent.name in PARTS)
    yield from (str(path) for path in paths if path.parent not in inner)
    yield from (f"{folder} ({pluralize(n, 'file')})" for folder, n in inner.items())


def _log_payload(
    payload: Payload, folder: FolderSink | None, run: MlflowSink | None, *, dry_run: bool
) -> tuple[Logged | None, Logged | None]:
    """Write into the folder and the run; the run checks itself before it writes, the folder before that."""
    if folder is not None and run is not None and not dry_run:
        folder.log(payload, dry_run=True)
    logged = None if run is None else run.log(payload, dry_run=dry_run)
    return None if folder is None else folder.log(payload, dry_run=dry_run), logged


IN_RUN = "MLflow cannot delete it, so it stays"
IN_FOLDER = "it stays in the folder"


def _warnings(logged: Logged | None, stays: str) -> tuple[str, ...]:
    """Return what the user should know of a place, with what an earlier logging left there."""
    if logged is None or not logged.left:
        return () if logged is None else logged.notes
    left = f"an earlier logging left what this one does not have: {some_of(logged.left)}; {stays}"
    return (*logged.notes, left)


def _logged_lines(logged: Logged, what: str) -> tuple[str, ...]:
    """Return what became of a logging; of a dry run, everything that would be logged."""
    match logged.state:
        case "unchanged":
            return ("unchanged: the run holds exactly this, nothing was written",)
        case "dry run":
            return (f"would log {what}", *_in_full(logged))
        case _:
            verified = (
                f"verified {pluralize(len(logged.files), 'file')}, {pluralize(len(logged.metrics), 'metric')}"
            )
            return (f"logged {what}", verified)


def _summarise_logged(logged: Logged, document: Deliverable[Any]) -> str:
    figures = sum(path.endswith(".png") and "/" not in path for path in logged.files)
    page = f"{document.result_presentation.page_name} ({len(document.html.encode()) / 1000:.0f} kB)"
    parts = [
        pluralize(len(logged.metrics), "metric"),
        page,
        *([pluralize(figures, "figure")] if figures else []),
    ]
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def _in_full(logged: Logged) -> list[str]:
    """Every metric with its value, every curve and every file, a line each."""
    width = max(map(len, logged.values), default=0)
    shown = (
        f"{name:{width}}  {logged.values[name]:.6g}" if name in logged.values else f"{name:{width}}  a curve"
        for name in logged.metrics
    )
    return [f"  {line}" for line in (*shown, *logged.files)]


def files_read(request: Request, items: Iterable[Item] = ()) -> tuple[str | None, ...]:
    """Return the files that a request reads, of these items."""
    return (
        *(path for item in items for path in (item.path, *item.folds)),
        request.truth_file,
        request.tune_on,
    )


def refuse_inputs(places: Iterable[Path], read: Iterable[str | None]) -> None:
    """Refuse to write over files that are read.

    Raises
    ------
    UsageError
        One of the places is one of the files.

    Examples
    --------
    >>> refuse_inputs([Path("report.html")], ["rows.csv", None])
    >>> refuse_inputs([Path("out/../rows.csv")], ["rows.csv", None])
    Traceback (most recent call last):
    evalreport.core.errors.UsageError: rows.csv is an input and would be overwritten
    """
    inputs = {Path(os.path.realpath(path)) for path in read if path is not None and path != STDOUT}
    for place in places:
        if Path(os.path.realpath(place)) in inputs:
            raise UsageError(
                f"{place.name} is an input and would be overwritten",
                where=str(place),
                fix="name another place with -o",
            )


_COMMIT_TAG = "mlflow.source.git.commit"


@dataclass(frozen=True)
class StandingRun:
    """A run that already contains the result: its item, and the logged verdict."""

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


def inputs_of(item: Item, path: str, request: Request, where: Destination) -> str:
    """Return a digest of what a report is made of, with the folder of the predictions at `path`.

    Empty where the run alone does not determine it.

    A truth file and rows for the threshold are not of the run, and may change without it.
    """
    if item.run is None or not path or request.truth_file is not None or request.tune_on is not None:
        return ""
    folder = str(PurePosixPath(path).parent)
    return f"{_inputs_digest(item.tracking_store, item.run, folder, request, where)} {folder}"


def standing(item: Item, request: Request, where: Destination) -> StandingRun | None:
    """Return a run that holds what would be logged into it; None where that has to be worked out."""
    run = item.run
    if run is None or item.children or where.force or where.out is not None or where.dry_run:
        return None
    digest, _, inputs = run.tags.get(state_tag("evaluation"), UNFINISHED).partition(" ")
    if digest == UNFINISHED or not same_inputs(item, inputs, request, where):
        return None
    return StandingRun(item, run.tags.get("evalreport.verdict", ""))


def same_inputs(item: Item, inputs: str, request: Request, where: Destination) -> bool:
    """Tell whether a run still contains what an evaluation was made of; one request."""
    digest, _, folder = inputs.partition(" ")
    if item.run is None or not folder:
        return False
    return digest == _inputs_digest(item.tracking_store, item.run, folder, request, where)


def _inputs_digest(store: Store, run: RunInfo, folder: str, request: Request, where: Destination) -> str:
    listing = methodcaller("list_artifacts", run.run_id, None if folder == "." else folder)
    entries = store.ask(listing, run.display_name)
    files = sorted(
        (entry.path, entry.file_size)
        for entry in entries
        if not is_ours(entry.path) and entry.path not in (FOLDER, SITE, "images")
    )
    lasting = replace(with_unit(request, run), command="", made="")
    logged_to = [run.name, run.experiment, run.models, run.datasets]
    tags = [run.tags.get(name, "") for name in (SENSITIVE_TAG, _COMMIT_TAG)]
    parts = [code_digest(Path(__file__).parents[1]), where.prefix, where.log_all]
    parts += [dumps(lasting), dumps(logged_to), tags, files]
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
    inputs = inputs_of(item, read.artifact, request, where) if run is not None else ""
    done = deliver_evaluation(ev, item, request, where, run=run, inputs=inputs)
    return replace(done, taken=read.taken)


def log_item(item: Item, request: Request, where: Destination) -> Delivered[Evaluation] | StandingRun:
    """Log the report of a run as `report_item` does, unless it is there, which one request shows."""
    return standing(item, request, where) or report_item(item, request, where)


def deliver_evaluation(
    ev: Evaluation,
    item: Item,
    request: Request,
    where: Destination,
    *,
    run: MlflowSink | None = None,
    inputs: str = "",
) -> Delivered[Evaluation]:
    """Deliver the report of an evaluation of an item."""
    document = Deliverable(ev, notes=request.notes)
    key = ev.provenance.run_id or ev.provenance.sha256
    read = files_read(request, [item])
    return deliver(
        document, where, run=run, name=item.page, key=key, origin=item.origin, read=read, inputs=inputs
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
    return sink_in(item.tracking_store, item.run.run_id, where)


@dataclass(frozen=True)
class VerifiedRuns:
    """What a run was found to hold of each of its parts.

    Parameters
    ----------
    item : Item
        The run.
    before : tuple of CheckedPart
        As it was found.
    after : tuple of CheckedPart
        As it is now; the same where nothing was repaired.
    repair : bool
        Whether it was to be repaired.
    """

    item: Item
    before: tuple[CheckedPart, ...]
    after: tuple[CheckedPart, ...]
    repair: bool = False

    @property
    def warnings(self) -> tuple[str, ...]:
        """What could not be repaired here."""
        parts = [checked.part for checked in self.after if self.repair and not checked.whole]
        return tuple(f"the command that logged the {part} sends it again" for part in parts)

    @property
    def whole(self) -> bool:
        """Whether the run holds all that was logged into it."""
        return all(checked.whole for checked in self.after)

    @property
    def lines(self) -> tuple[str, ...]:
        """What was found, as the command prints it."""
        mended = (
            f"{now.part}: repaired, it had {then.trouble}"
            for then, now in zip(self.before, self.after, strict=True)
            if now.whole and not then.whole
        )
        return (*mended, *(f"{checked.part}: {checked}" for checked in self.after))

    def to_wire(self) -> dict[str, Any]:
        """Return the run as an element of `runs` of the JSON."""
        run = self.item.run
        return {
            "run_id": None if run is None else run.run_id,
            "run_name": self.item.name,
            "source": self.item.display_name,
            "ok": self.whole,
            "verified": [
                encode(checked) | {"repaired": checked.whole and not then.whole}
                for then, checked in zip(self.before, self.after, strict=True)
            ],
        }


def verify_item(item: Item, request: Request, where: Destination, *, repair: bool = False) -> VerifiedRuns:
    """Compare a run with its manifests, and repair its evaluation on request.

    What is missing comes from the run's own `evaluation.json`, if that is whole; else it is evaluated again.

    Raises
    ------
    NotFoundError
        Nothing of evalreport's is in the run.
    EvalreportError
        Whatever keeps it from being evaluated, or written to.
    """
    found = _check_parts(item)
    broken = any(checked.part == "evaluation" and not checked.whole for checked in found)
    if not repair or not broken:
        return VerifiedRuns(item, found, found, repair)
    sink = sink_in(item.tracking_store, _run_id(item), where, repair=True)
    (evaluation,) = (checked for checked in found if checked.part == "evaluation")
    kept = _read_kept_evaluation(item, evaluation)
    made = None if kept is None else _logged_payload(kept, evaluation, request, where)
    if made is None:
        ev, _ = item.evaluate(request)
        made = _logged_payload(ev, evaluation, request, where)
    if made is None:
        made = Deliverable(ev, notes=request.notes).payload(where)
    sink.log(made)
    return VerifiedRuns(item, found, _check_parts(item), repair)


def _logged_payload(
    ev: Evaluation, found: CheckedPart, request: Request, where: Destination
) -> Payload | None:
    """Return the payload with the digest of what was logged, with or without `log_all`; else None."""
    for log_all in (where.log_all, not where.log_all):
        made = Deliverable(ev, notes=request.notes).payload(replace(where, log_all=log_all))
        if made.digest == found.digest:
            return made
    return None


def _run_id(item: Item) -> str:
    return "" if item.run is None else item.run.run_id


def _check_parts(item: Item) -> tuple[CheckedPart, ...]:
    store, where = item.tracking_store, item.display_name
    run = store.ask(methodcaller("get_run", _run_id(item)), where)
    checks = (check_part(store, run, part, where) for part in get_args(Part))
    found = tuple(checked for checked in checks if checked is not None)
    if not found:
        raise NotFoundError(
            "nothing of evalreport's is in this run", where=where, fix="log it with `evalreport log`"
        )
    return found


def _read_kept_evaluation(item: Item, evaluation: CheckedPart) -> Evaluation | None:
    """Return the evaluation in the run, unless it is known to be changed."""
    store, where = item.tracking_store, item.display_name
    sizes = list_file_sizes(store, _run_id(item), {EVALUATION}, where)
    if EVALUATION not in sizes or EVALUATION in evaluation.missing.files:
        return None
    try:
        return Evaluation.from_json(content(store, _run_id(item), EVALUATION, sizes, where))
    except ServerError:
        raise
    except EvalreportError:
        return None

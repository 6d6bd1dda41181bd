"""A document to where it is wanted: a page, a folder, a run, all of them, or none in a dry run."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from evalreport.codec import encode
from evalreport.errors import UsageError, some_of
from evalreport.format import counted
from evalreport.report.extracts import PARTS
from evalreport.report.payload import Payload
from evalreport.sinks.folder import FolderSink, check_page, of_input, write_page
from evalreport.sinks.mlflow import MlflowSink, check_run
from evalreport.sinks.sink import Logged
from evalreport.sources.mlflow_client import Store
from evalreport.stages import stage
from evalreport.workflow.documents import Deliverable
from evalreport.workflow.request import STDOUT, Destination, Request
from evalreport.workflow.runs import Item

T = TypeVar("T")


@dataclass(frozen=True)
class Delivered(Generic[T]):
    """A document, and where it stands now.

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
        What of the input was taken for what.
    """

    document: Deliverable[T]
    paths: tuple[Path, ...] = ()
    logged: Logged | None = None
    run_id: str = ""
    dry_run: bool = False
    warnings: tuple[str, ...] = ()
    taken: tuple[tuple[str, str], ...] = ()

    @property
    def made(self) -> T:
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
        files = tuple(f"{would}{line}" for line in _listed(self.paths))
        if self.logged is None:
            return files
        page = (self.logged.page,) if self.logged.page else ()
        what = f"{_counted(self.logged, self.document)} into run {self.run_id[:8]}"
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
    tags: Mapping[str, str] = MappingProxyType({}),
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
    tags : mapping
        Of the run, beside those of the document.

    Raises
    ------
    EvalreportError
        A place that cannot be written to, or holds what evalreport did not write.
    """
    stage("writing figures and page")
    made_of = hashlib.sha256((origin or key).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    page, folder = where.page_of(name, made_of), where.folder_of(name, key)
    outer = None if folder is None else FolderSink(folder, where.force)
    inner = run if where.log else None
    payload = document.payload(where.prefix, outer is not None) if outer or inner else None
    if payload is not None and tags:
        payload = replace(payload, tags={**payload.tags, **tags})
    made: dict[Path, Callable[[], bytes]] = {}
    if page is not None:
        named = where.output is not None
        made[page] = document.html.encode if named else lambda: of_input(document.html.encode(), made_of)
    if where.pdf is not None:
        made[Path(where.pdf)] = document.paper
    paths = (*made, *_paths(payload, folder))
    refuse_inputs(paths, read)
    for place in made:
        check_page(place, force=where.force)
    kept = logged = None
    if payload is not None:
        kept, logged = _logged(payload, outer, inner, dry_run=where.dry_run)
    told = [] if where.dry_run else [told for item in made.items() for told in _written(*item, where)]
    told += (*_warnings(logged, IN_RUN), *_warnings(kept, IN_FOLDER))
    run_id = "" if inner is None else inner.run_id
    return Delivered(document, paths, logged, run_id, where.dry_run, tuple(told))


def sink_in(store: Store, run_id: str, where: Destination, *, repair: bool = False) -> MlflowSink:
    """Return the sink of a run that takes what is to be logged; asked before anything is worked out."""
    check_run(store, run_id, allow_running=where.allow_running)
    return MlflowSink(store, run_id, where.force, where.allow_running, repair=repair)


def _written(place: Path, content: Callable[[], bytes], where: Destination) -> list[str]:
    """Write a page or a PDF, and return what its drawing warns of."""
    with warnings.catch_warnings(record=True) as told:
        warnings.filterwarnings("always", category=UserWarning, message="the PDF")
        write_page(place, content(), force=where.force)
    return [str(one.message) for one in told]


def _paths(payload: Payload | None, folder: Path | None) -> tuple[Path, ...]:
    return () if payload is None or folder is None else tuple(folder / path for path in payload.exports)


def _listed(paths: Sequence[Path]) -> Iterator[str]:
    """A line per file; figures and tables of a page are counted."""
    inner = Counter(path.parent for path in paths if path.parent.name in PARTS)
    yield from (str(path) for path in paths if path.parent not in inner)
    yield from (f"{folder} ({counted(n, 'file')})" for folder, n in inner.items())


def _logged(
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
                f"verified {counted(len(logged.files), 'file')}, {counted(len(logged.metrics), 'metric')}"
            )
            return (f"logged {what}", verified)


def _counted(logged: Logged, document: Deliverable[Any]) -> str:
    figures = sum(path.endswith(".png") and "/" not in path for path in logged.files)
    page = f"{document.name} ({len(document.html.encode()) / 1000:.0f} kB)"
    parts = [counted(len(logged.metrics), "metric"), page, *([counted(figures, "figure")] if figures else [])]
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
    evalreport.errors.UsageError: rows.csv is read, and would be written over
    """
    inputs = {Path(os.path.realpath(path)) for path in read if path is not None and path != STDOUT}
    for place in places:
        if Path(os.path.realpath(place)) in inputs:
            raise UsageError(
                f"{place.name} is read, and would be written over",
                where=str(place),
                fix="name another place with -o or --out",
            )

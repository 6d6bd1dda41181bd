"""A payload into a finished MLflow run: through the client alone, in place, and only when it changed.

Nothing is written before everything has been checked. While a logging is under way the digest tag says so;
the digest comes last, so that one that was cut short is done again.
"""

from __future__ import annotations

import logging
import re
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import methodcaller
from pathlib import Path, PurePosixPath
from typing import Any, Literal, Protocol, TypeAlias, TypeVar
from uuid import uuid4

from evalreport.errors import RunNotFoundError, UsageError
from evalreport.report.names import FOLDER, TIME_TAG, digest_tag, manifest_of
from evalreport.report.payload import LONGEST_TAG, Payload
from evalreport.sinks.folder import refuse_link
from evalreport.sinks.images import IMAGES_TAG, image_files
from evalreport.sinks.manifest import Manifest
from evalreport.sinks.models import Link, link_of
from evalreport.sinks.tags import NOTE_TAG, TABLES_TAG, with_block, with_tables

T = TypeVar("T")
told = logging.getLogger(__name__)
State: TypeAlias = Literal["written", "unchanged", "dry run"]
UNFINISHED = "unfinished"
"""What the digest tag begins with while a logging is under way, or since it was cut short."""
_YEAR = 366 * 24 * 3600 * 1000
MAX_COMPARED = 256 * 1024**2
"""Bytes; a file of our name that is larger is not ours."""


class Tracking(Protocol):
    """A tracking store, as `evalreport.sources.mlflow_client.Store` is."""

    def ask(self, call: Callable[[Any], T], where: str = "") -> T:
        """Return what the call gets from the client, or raise one of our errors."""
        ...

    def page_of_run(self, experiment_id: str, run_id: str) -> str:
        """Return the address of the run's artifacts in the UI; may be empty."""
        ...

    def artifact_root(self, uri: str, where: str) -> Path | None:
        """Return the folder of the run's artifacts if it is on this machine; refuse strange addresses."""
        ...


@dataclass(frozen=True)
class Logged:
    """What a logging did.

    Parameters
    ----------
    state : str
        ``written``, ``unchanged`` (the run holds this very payload: nothing was written) or ``dry run``.
    metrics, files : tuple of str
        Keys (series included) and paths of the payload.
    replaced : tuple of str
        Those of `files` that were there before.
    left : tuple of str
        Keys and paths of an earlier logging that this one does not have; MLflow keeps them.
    notes : tuple of str
        What the user should know.
    page : str
        Address of the run's artifacts in the MLflow UI; empty for a store without a server.
    model : str
        Id of the logged model that the metrics show on as well; empty where the run has none or several.
    values : mapping from key to float
        Of those metrics that are no series.
    """

    state: State
    metrics: tuple[str, ...]
    files: tuple[str, ...]
    replaced: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    page: str = ""
    model: str = ""
    values: Mapping[str, float] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class _Held:
    """What the run holds before we write.

    `sizes` are of files that bear names we are about to give; `ours` is the content of those that we wrote.
    """

    run: Any
    where: str
    sizes: Mapping[str, int | None]
    manifest_path: str
    manifest: Manifest
    ours: Mapping[str, bytes]

    @property
    def foreign(self) -> list[str]:
        """Files of our names that we did not write."""
        return [path for path in self.sizes if path != self.manifest_path and path not in self.ours]


@dataclass(frozen=True)
class _Plan:
    """Everything that will be written, decided before the first write."""

    payload: Payload
    run_id: str
    files: Mapping[str, bytes]
    manifest: Manifest
    tags: Mapping[str, str]
    timestamp: int
    where: str
    link: Link


def check_run(tracking: Tracking, run_id: str, *, force: bool = False) -> Any:
    """Return the MLflow run if it can be written to.

    Parameters
    ----------
    tracking : Tracking
    run_id : str
    force : bool
        Whether a run that has not ended is written to as well.

    Raises
    ------
    RunNotFoundError
        Unknown or deleted; a deleted run refuses metrics but takes artifacts.
    UsageError
        Still running.
    ServerError
    """
    run = tracking.ask(methodcaller("get_run", run_id), f"run {run_id[:8]}")
    name = f"run {run_id[:8]} ({run.info.run_name})"
    if run.info.lifecycle_stage == "deleted":
        raise RunNotFoundError(
            f"{name} is deleted", fix=f"restore it with `mlflow runs restore --run-id {run_id}`"
        )
    if run.info.status in {"RUNNING", "SCHEDULED"} and not force:
        raise UsageError(
            f"{name} has not ended: its status is {run.info.status}",
            fix="wait until it has ended, or pass --force",
        )
    return run


def log(
    payload: Payload,
    run_id: str,
    tracking: Tracking,
    *,
    timestamp: int,
    force: bool = False,
    dry_run: bool = False,
) -> Logged:
    """Log a payload into a run; its status and end time stay as they are.

    Parameters
    ----------
    payload : Payload
    run_id : str
        Full id.
    tracking : Tracking
    timestamp : int
        Now, in milliseconds since 1970. Of all metrics of one logging; where the run already has one that
        is later (a clock that went back), the next millisecond after that, or the values would not show.
    force : bool
        Whether to write to a run that has not ended, over files of others, and again what is unchanged.
    dry_run : bool
        Whether to check everything and write nothing.

    Raises
    ------
    RunNotFoundError, UsageError
        See `check_run`; also files of our names that we did not write, which are listed, or are links.
    UnsafeFileError
        The run's artifacts are at an address where we do not go.
    ServerError
    """
    run = check_run(tracking, run_id, force=force)
    where = f"run {run_id[:8]} ({run.info.run_name})"
    files = {**payload.files, **image_files(payload.images, run.info.start_time or 0)}
    manifest_path = manifest_of(payload.part)
    root = tracking.artifact_root(run.info.artifact_uri, where)
    if root is not None:
        for path in (*files, manifest_path):
            refuse_link(root / path, root)
    held = _held(tracking, run, files, manifest_path, digest_tag(payload.part), where)
    keys = [*payload.metrics, *payload.series]
    tags, notes = _tags(payload, run.data.tags)
    plan = _Plan(
        payload=payload,
        run_id=run_id,
        files=files,
        manifest=Manifest.of(files, keys, held.manifest, held.ours),
        tags=tags,
        timestamp=_later(timestamp, run.data.tags.get(TIME_TAG, "")),
        where=where,
        link=link_of(tracking, run, payload.model, where),
    )
    unchanged = not force and _is_unchanged(payload, files, held)
    if held.foreign and not force and not unchanged:
        _check_alone(tracking, held, payload)
        raise _not_ours(held)
    state: State = "unchanged" if unchanged else "dry run" if dry_run else "written"
    if state == "written":
        _write(plan, tracking)
    return Logged(
        state=state,
        metrics=tuple(keys),
        files=tuple(files),
        replaced=tuple(path for path in files if path in held.sizes),
        left=_left(keys, files, held.manifest),
        notes=(*notes, *_theirs(keys, held)),
        page=tracking.page_of_run(run.info.experiment_id, run_id),
        model=plan.link.model_id,
        values=payload.metrics,
    )


def _held(
    tracking: Tracking, run: Any, files: Mapping[str, bytes], manifest_path: str, tag: str, where: str
) -> _Held:
    run_id = run.info.run_id
    names = {*files, manifest_path}
    folders = sorted({str(PurePosixPath(path).parent) for path in names})
    sizes: dict[str, int | None] = {}
    for folder in folders:
        listing = methodcaller("list_artifacts", run_id, None if folder == "." else folder)
        entries = tracking.ask(listing, where)
        sizes |= {
            entry.path: entry.file_size for entry in entries if not entry.is_dir and entry.path in names
        }
    manifest = Manifest()
    if (sizes.get(manifest_path) or 0) <= MAX_COMPARED and manifest_path in sizes:
        manifest = Manifest.read(_content(tracking, run_id, manifest_path, where))
    mixed = run.data.tags.get(tag, "").startswith(UNFINISHED)  # two loggings at once, or one cut short
    ours: dict[str, bytes] = {}
    for path, size in sizes.items():
        if path in manifest.files and (size or 0) <= MAX_COMPARED:
            data = _content(tracking, run_id, path, where)
            if mixed or manifest.wrote(path, data):
                ours[path] = data
    return _Held(run, where, sizes, manifest_path, manifest, ours)


def _content(tracking: Tracking, run_id: str, path: str, where: str) -> bytes:
    with tempfile.TemporaryDirectory(prefix="evalreport-") as folder:
        place = tracking.ask(methodcaller("download_artifacts", run_id, path, folder), where)
        return Path(place).read_bytes()


def _is_unchanged(payload: Payload, files: Mapping[str, bytes], held: _Held) -> bool:
    whole = held.run.data.tags.get(digest_tag(payload.part)) == payload.digest
    return whole and all(path in held.ours for path in files)


def _not_ours(held: _Held) -> UsageError:
    names = ", ".join(held.foreign[:5])
    return UsageError(
        f"the run has {len(held.foreign)} files of our names that evalreport did not write: {names}",
        where=held.where,
        fix="move them, or pass --force to write over them",
    )


def _left(keys: list[str], files: Mapping[str, bytes], before: Manifest) -> tuple[str, ...]:
    return (*sorted(before.metrics.difference(keys)), *(path for path in before.files if path not in files))


def _theirs(keys: list[str], held: _Held) -> list[str]:
    names = [key for key in keys if key in held.run.data.metrics and key not in held.manifest.metrics]
    if not names:
        return []
    return [f"{len(names)} metrics of our names came from elsewhere before: {', '.join(names[:5])}"]


def _tags(payload: Payload, held: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Return the tags to set, and what could not be set; a shared tag that would be cut is left alone."""
    tags, notes = dict(payload.tags), []
    shared = {
        NOTE_TAG: _note(payload, held),
        TABLES_TAG: with_tables(held.get(TABLES_TAG, ""), list(payload.tables)) if payload.tables else None,
    }
    tags |= {name: value for name, value in shared.items() if value and len(value) <= LONGEST_TAG}
    if payload.description and NOTE_TAG not in tags:
        notes.append("the run's description is too long for our part of it")
    if payload.tables and TABLES_TAG not in tags:
        notes.append("the run's list of tables cannot be added to; the tables are among its artifacts")
    if payload.images:
        tags[IMAGES_TAG] = "True"
    return {name: value for name, value in tags.items() if held.get(name) != value}, notes


def _later(now: int, before: str) -> int:
    """Return now, or the millisecond after the logging before, if a clock went back by less than a year."""
    known = int(before) if re.fullmatch(r"[0-9]{1,15}", before) else 0
    return known + 1 if now <= known < now + _YEAR else now


def _note(payload: Payload, held: Mapping[str, str]) -> str | None:
    if not payload.description:
        return None
    return with_block(held.get(NOTE_TAG, ""), payload.description, payload.part)


def _check_alone(tracking: Tracking, held: _Held, payload: Payload) -> None:
    """Refuse to take for strangers' what another logging is writing at this moment."""
    run = tracking.ask(methodcaller("get_run", held.run.info.run_id), held.where)
    tag = digest_tag(payload.part)
    if run.data.tags.get(tag) != held.run.data.tags.get(tag):
        raise _not_alone(held.where)


def _not_alone(where: str) -> UsageError:
    return UsageError(
        "another logging is writing into this run", where=where, fix="wait until it has ended, and log again"
    )


def _write(plan: _Plan, tracking: Tracking) -> None:
    """Write in an order that can be cut anywhere: the manifest before its files, the digest last.

    The first write is a mark of our own: a store that takes none is known before anything lies there, and
    another logging that comes in between is known by its own mark. Then neither of the two counts as whole.
    """
    tag, path = digest_tag(plan.payload.part), manifest_of(plan.payload.part)
    mark = f"{UNFINISHED} {uuid4().hex[:12]}"
    tracking.ask(methodcaller("set_tag", plan.run_id, tag, mark), plan.where)
    with tempfile.TemporaryDirectory(prefix="evalreport-") as folder:
        manifest = _put(Path(folder), path, plan.manifest.as_bytes())
        tracking.ask(methodcaller("log_artifact", plan.run_id, str(manifest), FOLDER), plan.where)
        for name, data in plan.files.items():
            _put(Path(folder) / "files", name, data)
        if plan.files:
            tracking.ask(methodcaller("log_artifacts", plan.run_id, str(Path(folder) / "files")), plan.where)
    tracking.ask(lambda client: client.log_batch(plan.run_id, **_batch(plan)), plan.where)
    now = tracking.ask(methodcaller("get_run", plan.run_id), plan.where)
    if now.data.tags.get(tag) != mark:
        tracking.ask(methodcaller("set_tag", plan.run_id, tag, UNFINISHED), plan.where)
        raise _not_alone(plan.where)
    tracking.ask(methodcaller("set_tag", plan.run_id, tag, plan.payload.digest), plan.where)
    metrics = len(plan.payload.metrics) + len(plan.payload.series)
    told.info("wrote %d metrics and %d files into %s", metrics, len(plan.files), plan.where)


def _put(folder: Path, path: str, data: bytes) -> Path:
    place = folder / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)
    return place


def _batch(plan: _Plan) -> dict[str, Any]:
    """Return metrics and tags as one batch: scalars at step 0, series at their steps, one timestamp.

    Scalars show on the run's model, too; a curve would fill its page with points.
    """
    from mlflow.entities import Metric, RunTag

    metrics = [
        Metric(key, value, plan.timestamp, 0, **plan.link.named)
        for key, value in plan.payload.metrics.items()
    ]
    metrics += [
        Metric(key, value, plan.timestamp, step)
        for key, series in plan.payload.series.items()
        for step, value in series
    ]
    tags = {**plan.tags, TIME_TAG: str(plan.timestamp)}
    return {
        "metrics": metrics,
        "tags": [RunTag(name, value) for name, value in tags.items()],
    }

"""Log a payload into a finished MLflow run: through the client only, in place, and only if it changed.

A plan lists what the run lacks of the payload; everything is checked before the first write. While a logging
is in progress the digest tag shows it. The digest is written last, so an interrupted logging is repeated. The
run's description and its list of tables are shared with others: only evalreport's block and lines are
changed.
"""

from __future__ import annotations

import io
import json
import logging
import re
import tempfile
import time
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import methodcaller
from pathlib import Path
from typing import Any

from evalreport.core.errors import LoggingInterrupted, NotFoundError, UsageError
from evalreport.core.format import pluralize
from evalreport.core.progress import report_progress
from evalreport.page.payload import LONGEST_TAG, Part, Payload, digest_in, manifest_of, state_tag
from evalreport.tracking.folder import refuse_link
from evalreport.tracking.ownership import (
    UNFINISHED,
    ExistingArtifacts,
    Manifest,
    MissingParts,
    OtherSizeError,
    Points,
    Sent,
    Writer,
    busy,
    concurrent_logging_error,
    history,
    lacking_files,
    missing_points,
    not_stored,
    read_held_files,
    refuse_deleted,
)
from evalreport.tracking.runs import Logged, State, Tracking

NOTE_TAG = "mlflow.note.content"
"""Tag of the run's description in Markdown, which belongs to the user."""
TABLES_TAG = "mlflow.loggedArtifacts"
"""Tag of `log_table`: a JSON list of ``{"path": …, "type": "table"}``."""
BEGIN = "<!-- evalreport:begin -->"
END = "<!-- evalreport:end -->"


def with_block(note: str, block: str, part: Part = "evaluation") -> str:
    """Return a description with evalreport's block in it, otherwise unchanged.

    An existing block of the same part is replaced in place; a new one comes last.

    Examples
    --------
    >>> first = with_block("My notes.", "recall 0.72")
    >>> print(first)
    My notes.
    <BLANKLINE>
    <!-- evalreport:begin -->
    recall 0.72
    <!-- evalreport:end -->
    >>> with_block(first, "recall 0.72") == first
    True
    """
    begin, end = (mark if part == "evaluation" else mark.replace(":", f":{part}-") for mark in (BEGIN, END))
    ours = f"{begin}\n{block.replace('<!--', '').strip()}\n{end}"
    held = re.compile(rf"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    if held.search(note):
        return held.sub(lambda _: ours, note, count=1)
    return f"{note.rstrip()}\n\n{ours}" if note.strip() else ours


def with_tables(tag: str, paths: Collection[str]) -> str | None:
    """Return the list of logged tables with evalreport's in it; None if the tag is not such a list.

    Examples
    --------
    >>> with_tables('[{"path": "a.json", "type": "table"}]', ["b.json", "a.json"])
    '[{"path": "a.json", "type": "table"}, {"path": "b.json", "type": "table"}]'
    >>> [with_tables(tag, ["b.json"]) for tag in ("{}", "null", "[3]", "[" * 5000)]
    [None, None, None, None]
    """
    try:
        entries = json.loads(tag) if tag.strip() else []
        known = {entry["path"] for entry in entries}
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    if not isinstance(entries, list):
        return None
    entries += [{"path": path, "type": "table"} for path in paths if path not in known]
    return json.dumps(entries)


IMAGES_TAG = "mlflow.loggedImages"
FOLDER = "images"
THUMBNAIL = 256
"""Pixels of the longer side of the preview image."""


def image_files(images: Mapping[str, bytes], timestamp: int) -> dict[str, bytes]:
    """Return the files of images: each PNG and its small WebP preview.

    Parameters
    ----------
    images : mapping from key to PNG
    timestamp : int
        Milliseconds, the same in every logging of the run.

    Examples
    --------
    >>> from PIL import Image
    >>> png = io.BytesIO()
    >>> Image.new("RGB", (8, 4)).save(png, "PNG")
    >>> [name.partition("+timestamp")[0] for name in image_files({"eval/roc": png.getvalue()}, 0)]
    ['images/eval~roc+step+0', 'images/eval~roc+step+0']
    """
    files: dict[str, bytes] = {}
    for key, png in images.items():
        name = uuid.uuid5(uuid.NAMESPACE_URL, f"evalreport:{key}")
        stem = f"{FOLDER}/{key.replace('/', '~')}+step+0+timestamp+{timestamp}+{name}"
        files[f"{stem}.png"] = png
        files[f"{stem}+compressed.webp"] = thumbnail(png)
    return files


def thumbnail(png: bytes) -> bytes:
    """Return an image as WebP, its longer side at most 256 pixels."""
    from PIL import Image

    stream = io.BytesIO()
    with Image.open(io.BytesIO(png)) as image:
        image.thumbnail((THUMBNAIL, THUMBNAIL))
        image.save(stream, "WEBP")
    return stream.getvalue()


@dataclass(frozen=True)
class Link:
    """The model and the dataset of the metrics of a run, as MLflow names them; empty for none.

    Parameters
    ----------
    model_id, model : str
        Id and name of the logged model.
    dataset_name, dataset_digest : str
        Of the run's dataset, if it has exactly one.
    """

    model_id: str = ""
    model: str = ""
    dataset_name: str = ""
    dataset_digest: str = ""

    @property
    def metric_arguments(self) -> dict[str, str]:
        """The arguments of an MLflow `Metric`.

        Examples
        --------
        >>> Link("m-1", "tagger", "dev", "5f1c").metric_arguments
        {'model_id': 'm-1', 'dataset_name': 'dev', 'dataset_digest': '5f1c'}
        >>> Link(dataset_name="dev", dataset_digest="5f1c").metric_arguments  # a dataset alone is no model's
        {}
        """
        if not self.model_id:
            return {}
        dataset = {"dataset_name": self.dataset_name, "dataset_digest": self.dataset_digest}
        return {"model_id": self.model_id, **(dataset if self.dataset_name else {})}


def link_of(tracking: Tracking, run: Any, model_id: str, where: str) -> Link:
    """Return the model that made the predictions, if it still exists, and the only dataset of the run.

    Parameters
    ----------
    tracking : Tracking
    run : mlflow.entities.Run
    model_id : str
        Empty if unknown.
    where : str

    Raises
    ------
    ServerError
        The store cannot be reached.
    """
    if not model_id:
        return Link()
    try:
        model = tracking.ask(methodcaller("get_logged_model", model_id), where)
    except NotFoundError:  # deleted in the meantime
        return Link()
    datasets = [entry.dataset for entry in run.inputs.dataset_inputs] if run.inputs else []
    if len(datasets) != 1:
        return Link(model.model_id, model.name)
    return Link(model.model_id, model.name, datasets[0].name, datasets[0].digest)


LATEST = 2**63 - 1
"""Greatest timestamp that a store can save."""


@dataclass(frozen=True)
class Job:
    """A payload and the settings of its logging; see `MlflowSink.log`."""

    payload: Payload
    tracking: Tracking
    run_id: str
    where: str
    timestamp: int
    force: bool = False
    repair: bool = False

    @property
    def tag(self) -> str:
        """Name of the tag that contains the state."""
        return state_tag(self.payload.part)

    @cached_property
    def _files(self) -> dict[int, dict[str, bytes]]:
        return {}

    def files(self, started: int) -> Mapping[str, bytes]:
        """Return the files of the payload, images with their previews; cached, because two plans use them."""
        if started not in self._files:
            self._files[started] = {**self.payload.files, **image_files(self.payload.images, started)}
        return self._files[started]


@dataclass(frozen=True)
class Plan:
    """The complete contents of the run after a logging, and the part to be written.

    Parameters
    ----------
    held : ExistingArtifacts
    files : mapping from path to bytes
        All files after the logging.
    manifest : Manifest
    sent : Sent
        All metrics of the payload, and their timestamp.
    tags : mapping from name to text
        Tags to set, including the shared ones.
    todo : MissingParts
        What must be written; empty if only the digest is missing.
    nothing : bool
        Whether the run already has everything, including the digest.
    link : Link
    notes : tuple of str
    """

    held: ExistingArtifacts
    files: Mapping[str, bytes]
    manifest: Manifest
    sent: Sent
    tags: Mapping[str, str]
    todo: MissingParts
    nothing: bool
    link: Link
    notes: tuple[str, ...]


def plan_logging(job: Job, run: Any) -> Plan:
    """Return the plan for logging a payload into a run.

    Parameters
    ----------
    job : Job
    run : mlflow.entities.Run

    Raises
    ------
    UsageError
        Files with evalreport's names were not written by evalreport, or are links.
    UnsafeFileError
        The run's artifacts are at a location that is not allowed.
    ServerError
    """
    tag = run.data.tags.get(job.tag, "")
    new = job.files(run.info.start_time or 0)
    held = _check_held_files(job, run, new, tag)
    unchanged = {path for path in new if _is_already_logged(job, held, path)}
    same, timestamp = _timestamp(job, held)
    files = {path: held.ours[path] if path in unchanged else data for path, data in new.items()}
    sent = Sent.from_payload(job.payload, timestamp, files)
    absent = missing_points(job.tracking, run, sent.metrics, timestamp, job.where) if same else sent.metrics
    if same and _is_overwritten(job, run, absent, timestamp):
        sent = Sent.from_payload(job.payload, _fresh(job, run), files)
        absent = sent.metrics
    tags, notes = _tags(job.payload, run.data.tags)
    todo = MissingParts({path: "missing" for path in new if path not in unchanged}, absent, tags)
    whole = tag == job.payload.state
    if whole and todo and not job.force:
        notes.append(f"the run had lost {todo}")
    return Plan(
        held=held,
        files=files,
        manifest=Manifest.from_files(files, list(sent.metrics), held.manifest, held.ours, sent),
        sent=sent,
        tags=tags,
        todo=MissingParts(todo.files, absent, tags),
        nothing=whole and not todo,
        link=link_of(job.tracking, run, job.payload.model, job.where),
        notes=tuple(notes),
    )


def _check_held_files(job: Job, run: Any, files: Mapping[str, bytes], tag: str) -> ExistingArtifacts:
    """Return the contents of the run; raise an error for files with evalreport's names from others."""
    path = manifest_of(job.payload.part)
    root = job.tracking.artifact_root(run.info.artifact_uri, job.where)
    if root is not None:
        for name in (*files, path):
            refuse_link(root / name, root)
    try:
        held = read_held_files(job.tracking, run, files, path, tag, job.where, repair=job.repair)
    except OtherSizeError:
        _check_alone(job, run)
        raise
    foreign = [name for name in held.foreign if not (job.repair and name in held.manifest.files)]
    if foreign and not job.force:
        _check_alone(job, run)
        raise _not_ours(foreign, job.where)
    return held


def _is_already_logged(job: Job, held: ExistingArtifacts, path: str) -> bool:
    """Return whether a file of this payload is already there."""
    before = held.manifest.sent
    return (
        not job.force
        and before is not None
        and before.digest == job.payload.digest
        and path in held.ours
        and held.manifest.is_unchanged(path, held.ours[path])
    )


def _timestamp(job: Job, held: ExistingArtifacts) -> tuple[bool, int]:
    """Return whether this payload was logged before, completely or in part, and the timestamp to use.

    The same payload keeps its timestamp; otherwise the histories of its metrics would be doubled. Another
    payload gets a new one.
    """
    before = held.manifest.sent
    if before is not None and before.digest == job.payload.digest and 0 < before.timestamp <= LATEST:
        return True, before.timestamp
    if job.repair and before is None and digest_in(held.tag) == job.payload.digest:
        return True, _find_logging_time(job)
    return False, _fresh(job, held.run)


def _fresh(job: Job, run: Any) -> int:
    """Return the current time, or the millisecond after the latest value that the run shows.

    Later values would hide the new ones, if a clock was wrong then or is wrong now. MLflow gives the time of
    a metric only with the metric itself.
    """
    keys = {*job.payload.metrics, *job.payload.series}
    shown = (int(metric.timestamp) + 1 for metric in run.data._metric_objs if metric.key in keys)
    return min(max(job.timestamp, 0, *shown), LATEST)


def _find_logging_time(job: Job) -> int:
    """Return when the metrics of this payload were logged, without a manifest."""
    key = next(iter(job.payload.metrics), "")
    points = job.tracking.ask(methodcaller("get_metric_history", job.run_id, key), job.where) if key else ()
    return max((point.timestamp for point in points), default=job.timestamp)


def _is_overwritten(job: Job, run: Any, absent: Mapping[str, Points], timestamp: int) -> bool:
    """Return whether another process has overwritten a metric, so only a later value would show."""
    return any(
        points[0][1] in history(job.tracking, job.run_id, key, timestamp, job.where).get(0, ())
        for key, points in absent.items()
        if key in job.payload.metrics and key in run.data.metrics
    )


def _tags(payload: Payload, held: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Return the tags to set, and notes on shared tags that are skipped because they would be cut."""
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


def _note(payload: Payload, held: Mapping[str, str]) -> str | None:
    if not payload.description:
        return None
    return with_block(held.get(NOTE_TAG, ""), payload.description, payload.part)


def _check_alone(job: Job, before: Any) -> None:
    """Raise an error if another process is writing files at this moment."""
    run = job.tracking.ask(methodcaller("get_run", job.run_id), job.where)
    if run.data.tags.get(job.tag) != before.data.tags.get(job.tag):
        raise busy(job.where)


def _not_ours(foreign: list[str], where: str) -> UsageError:
    names = ", ".join(foreign[:5])
    return UsageError(
        f"the run has {pluralize(len(foreign), 'file')} with evalreport's names that it did not "
        f"write: {names}",
        where=where,
        fix="move them, or pass --force to overwrite them",
    )


logger = logging.getLogger(__name__)

TOGETHER = 8
"""Files that are sent between two checks of the run: a local store writes them in a third of the time of
eight checks."""


@dataclass(frozen=True)
class MlflowSink:
    """A finished run of a tracking store.

    Parameters
    ----------
    tracking : Tracking
    run_id : str
        Full id.
    force : bool
        Whether to overwrite files of others, and to write unchanged files again.
    allow_running : bool
        Whether to write to a run that has not ended.
    repair : bool
        Whether to restore changed files of evalreport.
    """

    tracking: Tracking
    run_id: str
    force: bool = False
    allow_running: bool = False
    repair: bool = False

    def log(self, payload: Payload, *, dry_run: bool = False, timestamp: int | None = None) -> Logged:
        """Log a payload into the run; the run's status and end time are not changed.

        Parameters
        ----------
        payload : Payload
        dry_run : bool
            Whether to check everything and write nothing.
        timestamp : int, optional
            Timestamp of all metrics, in milliseconds since 1970; default is now. If the run has a later one
            (a clock that went back), the next millisecond after that is used; otherwise the values would not
            show.

        Raises
        ------
        RunNotFoundError, UsageError
            See `check_run`. Also: files with evalreport's names were not written by evalreport (they are
            listed) or are links; another process is logging to the run.
        LoggingInterrupted
            The user stopped it after the run was changed.
        UnsafeFileError
            The run's artifacts are at a location that is not allowed.
        ServerError
        """
        run = check_run(self.tracking, self.run_id, allow_running=self.allow_running)
        where = f"run {self.run_id[:8]} ({run.info.run_name})"
        at = time.time_ns() // 1_000_000 if timestamp is None else timestamp
        job = Job(payload, self.tracking, self.run_id, where, at, self.force, self.repair)
        plan = plan_logging(job, run)
        if not plan.nothing and not dry_run:
            plan = _apply_plan(job, plan)
        keys = (*payload.metrics, *payload.series)
        state: State = "unchanged" if plan.nothing else "dry run" if dry_run else "written"
        return Logged(
            state=state,
            metrics=keys,
            files=tuple(plan.files),
            replaced=tuple(path for path in plan.files if path in plan.held.sizes),
            left=_leftover_names(keys, plan.files, plan.held.manifest),
            notes=(*plan.notes, *_theirs(keys, plan.held)),
            page=self.tracking.page_of_run(run.info.experiment_id, self.run_id),
            model=plan.link.model_id or None,
            values=dict(payload.metrics),
        )


def check_run(tracking: Tracking, run_id: str, *, allow_running: bool = False) -> Any:
    """Return the MLflow run if it can be written to.

    Parameters
    ----------
    tracking : Tracking
    run_id : str
    allow_running : bool
        Whether to accept a run that has not ended.

    Raises
    ------
    RunNotFoundError
        The run is unknown or deleted; a deleted run rejects metrics but accepts artifacts.
    UsageError
        The run has not ended.
    ServerError
    """
    run = tracking.ask(methodcaller("get_run", run_id), f"run {run_id[:8]}")
    name = f"run {run_id[:8]} ({run.info.run_name})"
    refuse_deleted(run, name)
    if run.info.status in {"RUNNING", "SCHEDULED"} and not allow_running:
        raise UsageError(
            f"{name} has not ended: its status is {run.info.status}",
            fix="wait until it has ended, or pass --set allow_running",
        )
    return run


def _leftover_names(keys: Sequence[str], files: Mapping[str, bytes], before: Manifest) -> tuple[str, ...]:
    return (*sorted(before.metrics.difference(keys)), *(path for path in before.files if path not in files))


def _theirs(keys: Sequence[str], held: ExistingArtifacts) -> list[str]:
    names = [key for key in keys if key in held.run.data.metrics and key not in held.manifest.metrics]
    if not names or held.tag.startswith(UNFINISHED):
        return []
    return [
        f"{pluralize(len(names), 'metric')} with evalreport's names already came from another source: "
        f"{', '.join(names[:5])}"
    ]


def _apply_plan(job: Job, plan: Plan) -> Plan:
    """Write, and return the plan that was used: a new one if another process has logged in the meantime."""
    run = job.tracking.ask(methodcaller("get_run", job.run_id), job.where)
    refuse_deleted(run, job.where)
    if run.data.tags.get(job.tag, "") != plan.held.tag:
        plan = plan_logging(job, run)
    if not plan.nothing:
        try:
            _write(job, plan, Writer(job.tracking, job.run_id, job.tag, plan.held.tag, job.where))
        except KeyboardInterrupt:
            raise LoggingInterrupted(job.where) from None
    return plan


def _write(job: Job, plan: Plan, writer: Writer) -> None:
    """Write in an order that can be interrupted: the manifest before its files, the digest last.

    Missing parts are sent once more; the digest confirms that all of them were read back.
    """
    logger.info("writing %s into %s", plan.todo or "the digest", job.where)
    path = plan.held.manifest_path
    record = {path: plan.manifest.as_bytes()}
    writer.begin()
    _send_files(job, writer, record)
    if _lacking_files(job, plan, record):
        _send_files(job, writer, record)
        if _lacking_files(job, plan, record):
            raise not_stored(path, job.where)
    _send(job, plan, writer, plan.todo)
    lacking = _lacking(job, plan, writer.look())
    if lacking:
        logger.info("sent once more: %s", lacking)
        _send(job, plan, writer, lacking)
        lacking = _lacking(job, plan, writer.look())
    if lacking:
        raise not_stored(str(lacking), job.where)
    writer.end(job.payload.state)
    if _lacking_files(job, plan, record):
        raise concurrent_logging_error(job.run_id, job.where)
    logger.info("verified %d files and %d metrics of %s", len(plan.files), len(plan.sent.metrics), job.where)


def _lacking(job: Job, plan: Plan, run: Any) -> MissingParts:
    """Return what the run lacks of the plan."""
    return MissingParts(
        _lacking_files(job, plan, plan.files),
        missing_points(job.tracking, run, plan.sent.metrics, plan.sent.timestamp, job.where),
        {name: text for name, text in plan.tags.items() if run.data.tags.get(name) != text},
    )


def _lacking_files(job: Job, plan: Plan, files: Mapping[str, bytes]) -> dict[str, str]:
    """Return the files that the run lacks; those whose size was the same before are compared by content."""
    sizes = {path: len(data) for path, data in files.items()}
    before = {**plan.held.sizes, plan.held.manifest_path: sizes.get(plan.held.manifest_path)}
    read = [path for path, size in sizes.items() if before.get(path) == size]

    def is_sent(path: str, data: bytes) -> bool:
        return data == files[path]

    return lacking_files(job.tracking, job.run_id, sizes, is_sent, read, job.where)


def _send(job: Job, plan: Plan, writer: Writer, what: MissingParts) -> None:
    _send_files(job, writer, {path: plan.files[path] for path in what.files if path in plan.files})
    if what.metrics or what.tags:
        batch = _batch(job, plan, what)
        writer.write(lambda client: client.log_batch(job.run_id, **batch))


def _send_files(job: Job, writer: Writer, files: Mapping[str, bytes]) -> None:
    sent = 0
    for parent, names in _batch_by_folder(files):
        report_progress("sending files", sent, len(files))
        with tempfile.TemporaryDirectory(prefix="evalreport-") as folder:
            for name in names:
                _make(Path(folder) / name, files[f"{parent}/{name}" if parent else name])
            writer.write(methodcaller("log_artifacts", job.run_id, folder, parent or None))
        sent += len(names)


def _batch_by_folder(files: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield a folder of the run, and the names of files that are sent to it together."""
    folders: dict[str, list[str]] = {}
    for path in files:
        parent, _, name = path.rpartition("/")
        folders.setdefault(parent, []).append(name)
    for parent, names in folders.items():
        yield from ((parent, names[at : at + TOGETHER]) for at in range(0, len(names), TOGETHER))


def _make(place: Path, data: bytes) -> None:
    """Write a file into the temporary folder from which it is sent."""
    try:
        place.write_bytes(data)
    except OSError as error:
        raise UsageError(
            f"{place.name} cannot be made ready: {(error.strerror or 'input/output error').lower()}",
            where=str(place.parent.parent),
            fix="make room there, or set TMPDIR to another folder",
        ) from error


def _batch(job: Job, plan: Plan, what: MissingParts) -> dict[str, Any]:
    """Return metrics and tags as one batch: scalars at step 0, series at their steps, one timestamp.

    Scalars are also shown on the run's model; a curve would fill its page with points.
    """
    from mlflow.entities import Metric, RunTag

    single = job.payload.metrics
    metrics = [
        Metric(key, value, plan.sent.timestamp, step, **(plan.link.metric_arguments if key in single else {}))
        for key, points in what.metrics.items()
        for step, value in points
    ]
    return {"metrics": metrics, "tags": [RunTag(name, text) for name, text in what.tags.items()]}

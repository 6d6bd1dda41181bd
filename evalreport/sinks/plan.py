"""What a logging will write, decided before its first write: what the run lacks of a payload."""

from __future__ import annotations

import io
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import methodcaller
from typing import Any

from evalreport.errors import NotFoundError, UsageError
from evalreport.format import counted
from evalreport.report.names import digest_tag, manifest_of
from evalreport.report.payload import LONGEST_TAG, Payload
from evalreport.sinks.folder import refuse_link
from evalreport.sinks.held import Held, OtherSizeError, held_by
from evalreport.sinks.manifest import Manifest, Points, Sent
from evalreport.sinks.sink import Tracking
from evalreport.sinks.tags import NOTE_TAG, TABLES_TAG, with_block, with_tables
from evalreport.sinks.verify import Lacking, history, missing_points
from evalreport.sinks.writer import busy

IMAGES_TAG = "mlflow.loggedImages"
FOLDER = "images"
THUMBNAIL = 256
"""Pixels of the longer side of the preview beside each image."""


def image_files(images: Mapping[str, bytes], timestamp: int) -> dict[str, bytes]:
    """Return the files of images: each PNG, and its small WebP preview.

    Parameters
    ----------
    images : mapping from key to PNG
    timestamp : int
        Milliseconds, the same at every logging of the run.

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
    """What the metrics of a run belong to, as MLflow names it; empty is nothing.

    Parameters
    ----------
    model_id, model : str
        Id and name of the logged model.
    dataset_name, dataset_digest : str
        Of the run's dataset, where it has exactly one.
    """

    model_id: str = ""
    model: str = ""
    dataset_name: str = ""
    dataset_digest: str = ""

    @property
    def named(self) -> dict[str, str]:
        """The arguments of an MLflow `Metric`.

        Examples
        --------
        >>> Link("m-1", "tagger", "dev", "5f1c").named
        {'model_id': 'm-1', 'dataset_name': 'dev', 'dataset_digest': '5f1c'}
        >>> Link(dataset_name="dev", dataset_digest="5f1c").named  # a dataset alone is no model's
        {}
        """
        if not self.model_id:
            return {}
        dataset = {"dataset_name": self.dataset_name, "dataset_digest": self.dataset_digest}
        return {"model_id": self.model_id, **(dataset if self.dataset_name else {})}


def link_of(tracking: Tracking, run: Any, model_id: str, where: str) -> Link:
    """Return the model that predicted, if it is still there, and the one dataset of the run.

    Parameters
    ----------
    tracking : Tracking
    run : mlflow.entities.Run
    model_id : str
        Empty where nobody can tell.
    where : str

    Raises
    ------
    ServerError
        The store cannot be asked.
    """
    if not model_id:
        return Link()
    try:
        model = tracking.ask(methodcaller("get_logged_model", model_id), where)
    except NotFoundError:  # deleted since
        return Link()
    datasets = [entry.dataset for entry in run.inputs.dataset_inputs] if run.inputs else []
    if len(datasets) != 1:
        return Link(model.model_id, model.name)
    return Link(model.model_id, model.name, datasets[0].name, datasets[0].digest)


LATEST = 2**63 - 1
"""The greatest timestamp that a store can hold."""


@dataclass(frozen=True)
class Job:
    """What is to be logged, and how; see `MlflowSink.log`."""

    payload: Payload
    tracking: Tracking
    run_id: str
    where: str
    timestamp: int
    force: bool = False
    repair: bool = False

    @property
    def tag(self) -> str:
        """Name of the tag that holds the digest."""
        return digest_tag(self.payload.part)

    @cached_property
    def _files(self) -> dict[int, dict[str, bytes]]:
        return {}

    def files(self, started: int) -> Mapping[str, bytes]:
        """Return the files of the payload, its images with their previews; made once, as two plans ask."""
        if started not in self._files:
            self._files[started] = {**self.payload.files, **image_files(self.payload.images, started)}
        return self._files[started]


@dataclass(frozen=True)
class Plan:
    """What is to stand in the run, and what of it has to be written.

    Parameters
    ----------
    held : Held
    files : mapping from path to bytes
        As they are to stand.
    manifest : Manifest
    sent : Sent
        All metrics of the payload, and their timestamp.
    tags : mapping from name to text
        Those to set, the shared ones too.
    todo : Lacking
        What is written; empty where only the digest is missing.
    nothing : bool
        Whether the run holds all of it already, the digest too.
    link : Link
    notes : tuple of str
    """

    held: Held
    files: Mapping[str, bytes]
    manifest: Manifest
    sent: Sent
    tags: Mapping[str, str]
    todo: Lacking
    nothing: bool
    link: Link
    notes: tuple[str, ...]


def planned(job: Job, run: Any) -> Plan:
    """Return what has to be written into a run so that it holds a payload.

    Parameters
    ----------
    job : Job
    run : mlflow.entities.Run

    Raises
    ------
    UsageError
        Files of our names that we did not write, or that are links.
    UnsafeFileError
        The run's artifacts are at an address where we do not go.
    ServerError
    """
    tag = run.data.tags.get(job.tag, "")
    new = job.files(run.info.start_time or 0)
    held = _held(job, run, new, tag)
    stand = {path for path in new if _stands(job, held, path)}
    same, timestamp = _timestamp(job, held)
    files = {path: held.ours[path] if path in stand else data for path, data in new.items()}
    sent = Sent.of(job.payload, timestamp, files)
    absent = missing_points(job.tracking, run, sent.metrics, timestamp, job.where) if same else sent.metrics
    if same and _covered(job, run, absent, timestamp):
        sent = Sent.of(job.payload, _fresh(job, run), files)
        absent = sent.metrics
    tags, notes = _tags(job.payload, run.data.tags)
    todo = Lacking({path: "missing" for path in new if path not in stand}, absent, tags)
    whole = tag == job.payload.digest
    if whole and todo and not job.force:
        notes.append(f"the run had lost {todo}")
    return Plan(
        held=held,
        files=files,
        manifest=Manifest.of(files, list(sent.metrics), held.manifest, held.ours, sent),
        sent=sent,
        tags=tags,
        todo=Lacking(todo.files, absent, tags),
        nothing=whole and not todo,
        link=link_of(job.tracking, run, job.payload.model, job.where),
        notes=tuple(notes),
    )


def _held(job: Job, run: Any, files: Mapping[str, bytes], tag: str) -> Held:
    """Return what the run holds, or refuse what is not ours."""
    path = manifest_of(job.payload.part)
    root = job.tracking.artifact_root(run.info.artifact_uri, job.where)
    if root is not None:
        for name in (*files, path):
            refuse_link(root / name, root)
    try:
        held = held_by(job.tracking, run, files, path, tag, job.where, repair=job.repair)
    except OtherSizeError:
        _check_alone(job, run)
        raise
    foreign = [name for name in held.foreign if not (job.repair and name in held.manifest.files)]
    if foreign and not job.force:
        _check_alone(job, run)
        raise _not_ours(foreign, job.where)
    return held


def _stands(job: Job, held: Held, path: str) -> bool:
    """Tell whether a file of this very payload is there already."""
    before = held.manifest.sent
    return (
        not job.force
        and before is not None
        and before.digest == job.payload.digest
        and path in held.ours
        and held.manifest.stands(path, held.ours[path])
    )


def _timestamp(job: Job, held: Held) -> tuple[bool, int]:
    """Return whether this payload was logged before, wholly or in part, and the timestamp to use.

    The same payload keeps its timestamp, or the histories of its metrics would be doubled. Another one uses
    a fresh one.
    """
    before = held.manifest.sent
    if before is not None and before.digest == job.payload.digest and 0 < before.timestamp <= LATEST:
        return True, before.timestamp
    if job.repair and before is None and held.tag == job.payload.digest:
        return True, _logged_at(job)
    return False, _fresh(job, held.run)


def _fresh(job: Job, run: Any) -> int:
    """Return now, or the millisecond after the values that the run shows.

    They would hide the new ones if a clock was wrong then or is wrong now. A run gives the time of a metric
    only with the metric itself.
    """
    keys = {*job.payload.metrics, *job.payload.series}
    shown = (int(metric.timestamp) + 1 for metric in run.data._metric_objs if metric.key in keys)
    return min(max(job.timestamp, 0, *shown), LATEST)


def _logged_at(job: Job) -> int:
    """Return when the metrics of this payload were logged, where no manifest tells."""
    key = next(iter(job.payload.metrics), "")
    points = job.tracking.ask(methodcaller("get_metric_history", job.run_id, key), job.where) if key else ()
    return max((point.timestamp for point in points), default=job.timestamp)


def _covered(job: Job, run: Any, absent: Mapping[str, Points], timestamp: int) -> bool:
    """Tell whether somebody has logged over a metric of ours, so that only a later value would show."""
    return any(
        points[0][1] in history(job.tracking, job.run_id, key, timestamp, job.where).get(0, ())
        for key, points in absent.items()
        if key in job.payload.metrics and key in run.data.metrics
    )


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


def _note(payload: Payload, held: Mapping[str, str]) -> str | None:
    if not payload.description:
        return None
    return with_block(held.get(NOTE_TAG, ""), payload.description, payload.part)


def _check_alone(job: Job, before: Any) -> None:
    """Refuse to take for strangers' what another logging is writing at this moment."""
    run = job.tracking.ask(methodcaller("get_run", job.run_id), job.where)
    if run.data.tags.get(job.tag) != before.data.tags.get(job.tag):
        raise busy(job.where)


def _not_ours(foreign: list[str], where: str) -> UsageError:
    names = ", ".join(foreign[:5])
    return UsageError(
        f"the run has {counted(len(foreign), 'file')} of our names that evalreport did not write: {names}",
        where=where,
        fix="move them, or pass --force to write over them",
    )

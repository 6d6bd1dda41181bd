"""A payload into a finished MLflow run: through the client alone, in place, and only when it changed.

Nothing is written before everything has been checked. While a logging is in progress the digest tag shows it;
the digest comes last, so that one that was interrupted is done again.
"""

from __future__ import annotations

import logging
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import methodcaller
from pathlib import Path
from typing import Any

from evalreport.errors import LoggingInterrupted, UsageError
from evalreport.format import counted
from evalreport.report.payload import Payload
from evalreport.sinks.held import Held
from evalreport.sinks.manifest import Manifest
from evalreport.sinks.plan import Job, Plan, planned
from evalreport.sinks.sink import Logged, State, Tracking
from evalreport.sinks.verify import Lacking, lacking_files, missing_points
from evalreport.sinks.writer import UNFINISHED, Writer, mixed, not_stored, refuse_deleted
from evalreport.stages import stage

logger = logging.getLogger(__name__)

TOGETHER = 8
"""Files that are sent between two looks at the run: a local store stores them in a third of the time of eight
looks."""


@dataclass(frozen=True)
class MlflowSink:
    """A finished run of a tracking store.

    Parameters
    ----------
    tracking : Tracking
    run_id : str
        Full id.
    force : bool
        Whether to write over files of others, and files again that stand.
    allow_running : bool
        Whether to write to a run that has not ended.
    repair : bool
        Whether files of ours that somebody has changed since are put as they were.
    """

    tracking: Tracking
    run_id: str
    force: bool = False
    allow_running: bool = False
    repair: bool = False

    def log(self, payload: Payload, *, dry_run: bool = False, timestamp: int | None = None) -> Logged:
        """Log a payload into the run; its status and end time stay as they are.

        Parameters
        ----------
        payload : Payload
        dry_run : bool
            Whether to check everything and write nothing.
        timestamp : int, optional
            Of all metrics of one logging, in milliseconds since 1970, else now. Where the run already has one
            that is later (a clock that went back), it is the next millisecond after that, or the values would
            not show.

        Raises
        ------
        RunNotFoundError, UsageError
            See `check_run`; also files of our names that we did not write, which are listed, or are links;
            another logging of the run at the same time.
        LoggingInterrupted
            The user has stopped it after the run was changed.
        UnsafeFileError
            The run's artifacts are at an address where we do not go.
        ServerError
        """
        run = check_run(self.tracking, self.run_id, allow_running=self.allow_running)
        where = f"run {self.run_id[:8]} ({run.info.run_name})"
        at = time.time_ns() // 1_000_000 if timestamp is None else timestamp
        job = Job(payload, self.tracking, self.run_id, where, at, self.force, self.repair)
        plan = planned(job, run)
        if not plan.nothing and not dry_run:
            plan = _written(job, plan)
        keys = (*payload.metrics, *payload.series)
        state: State = "unchanged" if plan.nothing else "dry run" if dry_run else "written"
        return Logged(
            state=state,
            metrics=keys,
            files=tuple(plan.files),
            replaced=tuple(path for path in plan.files if path in plan.held.sizes),
            left=_left(keys, plan.files, plan.held.manifest),
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
    refuse_deleted(run, name)
    if run.info.status in {"RUNNING", "SCHEDULED"} and not allow_running:
        raise UsageError(
            f"{name} has not ended: its status is {run.info.status}",
            fix="wait until it has ended, or pass --allow-running",
        )
    return run


def _left(keys: Sequence[str], files: Mapping[str, bytes], before: Manifest) -> tuple[str, ...]:
    return (*sorted(before.metrics.difference(keys)), *(path for path in before.files if path not in files))


def _theirs(keys: Sequence[str], held: Held) -> list[str]:
    names = [key for key in keys if key in held.run.data.metrics and key not in held.manifest.metrics]
    if not names or held.tag.startswith(UNFINISHED):
        return []
    return [
        f"{counted(len(names), 'metric')} of our names came from elsewhere before: {', '.join(names[:5])}"
    ]


def _written(job: Job, plan: Plan) -> Plan:
    """Write, and return the plan that was followed: another one if the run was logged meanwhile."""
    run = job.tracking.ask(methodcaller("get_run", job.run_id), job.where)
    refuse_deleted(run, job.where)
    if run.data.tags.get(job.tag, "") != plan.held.tag:
        plan = planned(job, run)
    if not plan.nothing:
        try:
            _write(job, plan, Writer(job.tracking, job.run_id, job.tag, plan.held.tag, job.where))
        except KeyboardInterrupt:
            raise LoggingInterrupted(job.where) from None
    return plan


def _write(job: Job, plan: Plan, writer: Writer) -> None:
    """Write in an order that can be cut anywhere: the manifest before its files, the digest last.

    What the run does not hold afterwards is sent once more; the digest says that all of it was seen there.
    """
    logger.info("writing %s into %s", plan.todo or "the digest", job.where)
    path = plan.held.manifest_path
    record = {path: plan.manifest.as_bytes()}
    writer.begin()
    _put(job, writer, record)
    if _lacking_files(job, plan, record):
        _put(job, writer, record)
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
    writer.end(job.payload.digest)
    if _lacking_files(job, plan, record):
        raise mixed(job.run_id, job.where)
    logger.info("verified %d files and %d metrics of %s", len(plan.files), len(plan.sent.metrics), job.where)


def _lacking(job: Job, plan: Plan, run: Any) -> Lacking:
    """Return what the run does not hold of the plan."""
    return Lacking(
        _lacking_files(job, plan, plan.files),
        missing_points(job.tracking, run, plan.sent.metrics, plan.sent.timestamp, job.where),
        {name: text for name, text in plan.tags.items() if run.data.tags.get(name) != text},
    )


def _lacking_files(job: Job, plan: Plan, files: Mapping[str, bytes]) -> dict[str, str]:
    """Return the files that the run does not hold; a size that was there before proves nothing."""
    sizes = {path: len(data) for path, data in files.items()}
    before = {**plan.held.sizes, plan.held.manifest_path: sizes.get(plan.held.manifest_path)}
    read = [path for path, size in sizes.items() if before.get(path) == size]

    def stands(path: str, data: bytes) -> bool:
        return data == files[path]

    return lacking_files(job.tracking, job.run_id, sizes, stands, read, job.where)


def _send(job: Job, plan: Plan, writer: Writer, what: Lacking) -> None:
    _put(job, writer, {path: plan.files[path] for path in what.files if path in plan.files})
    if what.metrics or what.tags:
        batch = _batch(job, plan, what)
        writer.write(lambda client: client.log_batch(job.run_id, **batch))


def _put(job: Job, writer: Writer, files: Mapping[str, bytes]) -> None:
    sent = 0
    for parent, names in _together(files):
        stage("sending files", sent, len(files))
        with tempfile.TemporaryDirectory(prefix="evalreport-") as folder:
            for name in names:
                _make(Path(folder) / name, files[f"{parent}/{name}" if parent else name])
            writer.write(methodcaller("log_artifacts", job.run_id, folder, parent or None))
        sent += len(names)


def _together(files: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield a folder of the run and the names of files that are sent into it together."""
    folders: dict[str, list[str]] = {}
    for path in files:
        parent, _, name = path.rpartition("/")
        folders.setdefault(parent, []).append(name)
    for parent, names in folders.items():
        yield from ((parent, names[at : at + TOGETHER]) for at in range(0, len(names), TOGETHER))


def _make(place: Path, data: bytes) -> None:
    """Write a file that is to be sent, in the folder of temporary files."""
    try:
        place.write_bytes(data)
    except OSError as error:
        raise UsageError(
            f"{place.name} cannot be made ready: {(error.strerror or 'input/output error').lower()}",
            where=str(place.parent.parent),
            fix="make room there, or set TMPDIR to another folder",
        ) from error


def _batch(job: Job, plan: Plan, what: Lacking) -> dict[str, Any]:
    """Return metrics and tags as one batch: scalars at step 0, series at their steps, one timestamp.

    Scalars show on the run's model, too; a curve would fill its page with points.
    """
    from mlflow.entities import Metric, RunTag

    single = job.payload.metrics
    metrics = [
        Metric(key, value, plan.sent.timestamp, step, **(plan.link.named if key in single else {}))
        for key, points in what.metrics.items()
        for step, value in points
    ]
    return {"metrics": metrics, "tags": [RunTag(name, text) for name, text in what.tags.items()]}

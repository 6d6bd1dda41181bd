"""The files that evalreport wrote into a run: their record, a new logging over them, and their check."""

from __future__ import annotations

import hashlib
import math
import re
import tempfile
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from operator import methodcaller
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar, Literal, TypeAlias
from uuid import uuid4

from evalreport.core.errors import DataError, RunNotFoundError, ServerError, UsageError, some_of
from evalreport.core.format import pluralize
from evalreport.core.json_codec import decode, dumps, loads
from evalreport.page.payload import Part, Payload, digest_in, manifest_of, state_tag
from evalreport.tracking.runs import Tracking

UNFINISHED = "unfinished"
"""Prefix of the digest tag while a logging is in progress, or after it was interrupted."""


@dataclass
class Writer:
    """One logging into a run.

    Parameters
    ----------
    tracking : Tracking
    run_id : str
    tag : str
        Name of the digest tag.
    before : str
        Value of the tag before this logging.
    where : str
        The run, for errors.
    mark : str
        Value of the tag while this logging is in progress.
    wrote : bool
        Whether anything but the tag was sent.
    """

    tracking: Tracking
    run_id: str
    tag: str
    before: str
    where: str
    mark: str = field(default_factory=lambda: f"{UNFINISHED} {uuid4().hex[:12]}")
    wrote: bool = False

    def begin(self) -> None:
        """Set the tag, and check that it is set.

        Raises
        ------
        UsageError
            Another logging started at the same time.
        ServerError
            The tag was not set.
        """
        try:
            self.tracking.ask(methodcaller("set_tag", self.run_id, self.tag, self.mark), self.where)
        except ServerError:
            # A database rejects the second of two that create the tag; or the response was lost.
            if self._run().data.tags.get(self.tag, "") == self.before:
                raise
        self.look()

    def look(self) -> Any:
        """Return the run, if it still exists and no other logging has started.

        Raises
        ------
        RunNotFoundError
            It was deleted in the meantime; it would still accept artifacts.
        UsageError
            Another logging has started.
        ServerError
            The server did not store the tag.
        """
        run = self._run()
        refuse_deleted(run, self.where)
        tag = run.data.tags.get(self.tag, "")
        if tag == self.before:
            raise not_stored(f"the tag {self.tag}", self.where)
        if tag != self.mark:
            raise concurrent_logging_error(self.run_id, self.where) if self.wrote else busy(self.where)
        return run

    def write(self, call: Callable[[Any], object]) -> None:
        """Write, if no other logging has started."""
        self.look()
        self.wrote = True
        try:
            self.tracking.ask(call, self.where)
        except UsageError:
            self.look()  # for a run deleted in the meantime MLflow reports a wrong parameter
            raise

    def end(self, state: str) -> None:
        """Set the state of a complete logging, and check that it is set.

        Raises
        ------
        UsageError
            Another logging has started.
        ServerError
            The server did not store it.
        """
        for _ in range(2):
            self.write(methodcaller("set_tag", self.run_id, self.tag, state))
            tag = self._run().data.tags.get(self.tag, "")
            if tag == state:
                return
            if tag != self.mark:
                raise concurrent_logging_error(self.run_id, self.where)
        raise not_stored(f"the tag {self.tag}", self.where)

    def _run(self) -> Any:
        return self.tracking.ask(methodcaller("get_run", self.run_id), self.where)


def refuse_deleted(run: Any, where: str) -> None:
    """Reject a deleted run: it rejects metrics but accepts artifacts.

    Raises
    ------
    RunNotFoundError
    """
    if run.info.lifecycle_stage == "deleted":
        command = f"mlflow runs restore --run-id {run.info.run_id}"
        raise RunNotFoundError(f"{where} is deleted", fix=f"restore it with `{command}`")


def busy(where: str) -> UsageError:
    """Return the error for a run into which another process logs, before this one has written anything."""
    return UsageError(
        "another process is logging to this run", where=where, fix="wait until it has ended, and log again"
    )


def concurrent_logging_error(run_id: str, where: str) -> UsageError:
    """Return the error for a run into which two processes have logged at the same time."""
    return UsageError(
        "another process is logging to this run, which may now contain parts of both results",
        where=where,
        fix=f"wait until it has ended, then run `evalreport verify --run-id {run_id} --repair`",
    )


def not_stored(what: str, where: str) -> ServerError:
    """Return the error for a server that accepts data without storing it."""
    return ServerError(
        f"the server accepted the upload but does not have {what}",
        where=where,
        fix="look for another logging at the same time, or a proxy that answers in the server's place; "
        "the same command sends what is missing",
    )


Points: TypeAlias = tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class Sent:
    """Metrics, tags and the timestamp of one logging.

    Parameters
    ----------
    digest : str
        Digest of the payload.
    timestamp : int
        Timestamp of all metrics, milliseconds since 1970. A repeated logging uses the same one; otherwise the
        histories of the metrics would be doubled.
    metrics : mapping from key to ((step, value), …)
        A single value has step 0.
    tags : mapping from name to text
        Only evalreport's own tags, not those shared with others.
    sizes : mapping from path to int
        Size of each file in bytes.

    Examples
    --------
    >>> from evalreport.core.json_codec import decode, encode
    >>> sent = Sent("ab12", 5, {"eval/f1": ((0, 0.75),)}, {"evalreport.task": "binary"}, {"a.json": 2})
    >>> decode(Sent, encode(sent)) == sent
    True
    """

    digest: str
    timestamp: int
    metrics: Mapping[str, Points] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def from_payload(cls, payload: Payload, timestamp: int, files: Mapping[str, bytes]) -> Sent:
        """Return the record of logging a payload."""
        single = {key: ((0, value),) for key, value in payload.metrics.items()}
        sizes = {path: len(data) for path, data in files.items()}
        return cls(payload.digest, timestamp, {**single, **payload.series}, dict(payload.tags), sizes)


SCHEMA: Literal[2] = 2
"""Version of the manifest."""
HEAD = 1024
"""Bytes at the beginning of a file with a separate digest, to recognize a half-written file."""


@dataclass(frozen=True)
class ManifestRecord:
    """A manifest as it is stored."""

    schema: Literal[2]
    files: Mapping[str, tuple[str, ...]]
    metrics: tuple[str, ...]
    heads: Mapping[str, str]
    sent: Sent | None


@dataclass(frozen=True)
class Manifest:
    """Digests of evalreport's files, the names of everything that was ever logged, and the last logging.

    Parameters
    ----------
    files : mapping from path to digests
        The digest of the file to be written, and of the file that it replaces, so that an interrupted logging
        can be repeated.
    metrics : frozenset of str
        Keys of metrics and series, which MLflow cannot delete.
    heads : mapping from path to digest
        Digest of the first `HEAD` bytes of the file to be written.
    sent : Sent or None
        The last logging; None in a folder.

    Examples
    --------
    >>> manifest = Manifest.from_files({"a.json": b"new"}, ["f1"], Manifest(), {})
    >>> manifest.wrote("a.json", b"new"), manifest.wrote("a.json", b"theirs")
    (True, False)
    >>> manifest.is_unchanged("a.json", b"new"), manifest.began("a.json", b"")
    (True, True)
    >>> Manifest.from_json_bytes(manifest.as_bytes()) == manifest
    True
    """

    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    metrics: frozenset[str] = frozenset()
    heads: Mapping[str, str] = field(default_factory=dict)
    sent: Sent | None = None

    @classmethod
    def from_files(
        cls,
        files: Mapping[str, bytes],
        metrics: list[str],
        before: Manifest,
        present: Mapping[str, bytes],
        sent: Sent | None = None,
    ) -> Manifest:
        """Return the manifest of a logging after an earlier one.

        Parameters
        ----------
        files : files to be written
        metrics : keys to be written
        before : manifest of the earlier logging
        present : existing files that will be replaced
        sent : what is sent in addition to the files
        """
        digests = {path: [_digest(data)] for path, data in files.items()}
        for path, data in present.items():
            digests[path].append(_digest(data))
        kept = {path: list(known) for path, known in before.files.items() if path not in digests}
        both = {path: tuple(dict.fromkeys(known)) for path, known in sorted({**kept, **digests}.items())}
        heads = {path: _digest(data[:HEAD]) for path, data in sorted(files.items())}
        return cls(both, before.metrics.union(metrics), heads, sent)

    def wrote(self, path: str, data: bytes) -> bool:
        """Return whether evalreport wrote this content there, in the last logging or the one before."""
        return _digest(data) in self.files.get(path, ())

    def is_unchanged(self, path: str, data: bytes) -> bool:
        """Return whether this is the content of the last logging."""
        return self.files.get(path, ("",))[0] == _digest(data)

    def began(self, path: str, data: bytes) -> bool:
        """Return whether this is the beginning of the content of the last logging.

        With fewer than `HEAD` bytes this cannot be determined; then only an empty file counts as
        evalreport's.
        """
        return path in self.heads and (not data or self.heads[path] == _digest(data[:HEAD]))

    def to_wire(self) -> ManifestRecord:
        """Return the record of the manifest."""
        return ManifestRecord(SCHEMA, self.files, tuple(sorted(self.metrics)), self.heads, self.sent)

    @classmethod
    def from_wire(cls, wire: ManifestRecord) -> Manifest:
        """Return the manifest of a record, without names outside of the folder: evalreport writes none."""
        files = {path: known for path, known in wire.files.items() if is_inside(path)}
        heads = {path: head for path, head in wire.heads.items() if path in files}
        return cls(files, frozenset(wire.metrics), heads, wire.sent)

    def as_bytes(self) -> bytes:
        """Return the content of the manifest file."""
        return dumps(self).encode()

    @classmethod
    def from_json_bytes(cls, data: bytes) -> Manifest:
        """Return the manifest of a file; if it is invalid an empty one, so that no file is evalreport's."""
        try:
            made: Manifest = decode(cls, loads(data))
        except DataError:
            return cls()
        return made


def is_inside(path: str) -> bool:
    r"""Return whether a name, written with ``/``, is a file inside the folder that it is relative to.

    Examples
    --------
    >>> [is_inside(path) for path in ("runs/a.html", "../a", "/a", "a/../../b", "C:\\a", "a\0", "", "./a")]
    [True, False, False, False, False, False, False, False]
    """
    strange = re.match("[A-Za-z]:", path) or "\\" in path or "\0" in path
    return not strange and not {"", ".", ".."} & set(path.split("/"))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


MAX_COMPARED = 256 * 1024**2
"""Largest file in bytes that is compared; a larger one is not evalreport's."""


class OtherSizeError(ServerError):
    """A downloaded file has another size than the server's listing."""


@dataclass(frozen=True)
class ExistingArtifacts:
    """Contents of a run before writing.

    Parameters
    ----------
    run : mlflow.entities.Run
    where : str
        The run, for errors.
    sizes : mapping from path to int or None
        Existing files with names that will be written; None if the store does not report the size.
    manifest_path : str
    manifest : Manifest
    ours : mapping from path to bytes
        Content of those that evalreport wrote.
    tag : str
        The digest tag before writing.
    """

    run: Any
    where: str
    sizes: Mapping[str, int | None]
    manifest_path: str
    manifest: Manifest
    ours: Mapping[str, bytes]
    tag: str

    @property
    def foreign(self) -> list[str]:
        """Existing files with evalreport's names that evalreport did not write."""
        return [path for path in self.sizes if path != self.manifest_path and path not in self.ours]


def read_held_files(
    tracking: Tracking,
    run: Any,
    names: Collection[str],
    manifest_path: str,
    tag: str,
    where: str,
    *,
    repair: bool = False,
) -> ExistingArtifacts:
    """Return the contents of a run before writing.

    Parameters
    ----------
    tracking : Tracking
    run : mlflow.entities.Run
    names : paths to be written
    manifest_path : str
    tag : str
        The digest tag before writing, which shows whether a logging was interrupted.
    where : str
    repair : bool
        Whether files with evalreport's names are evalreport's if the manifest is lost and the digest tag
        exists: they were when it was set, because a logging rejects files of others.
    """
    sizes = list_file_sizes(tracking, run.info.run_id, {*names, manifest_path}, where)
    manifest, cut = Manifest(), tag.startswith(UNFINISHED)
    if manifest_path in sizes and (sizes[manifest_path] or 0) <= MAX_COMPARED:
        manifest = Manifest.from_json_bytes(content(tracking, run.info.run_id, manifest_path, sizes, where))
    lost = manifest == Manifest() and ((cut and manifest_path in sizes) or (repair and bool(tag)))
    ours: dict[str, bytes] = {}
    for path, size in sizes.items():
        if path != manifest_path and (lost or path in manifest.files) and (size or 0) <= MAX_COMPARED:
            data = content(tracking, run.info.run_id, path, sizes, where)
            if lost or manifest.wrote(path, data) or (cut and _is_half(manifest, path, data)):
                ours[path] = data
    return ExistingArtifacts(run, where, sizes, manifest_path, manifest, ours, tag)


def _is_half(manifest: Manifest, path: str, data: bytes) -> bool:
    """Return whether a file is the beginning of a file whose writing was interrupted."""
    sizes = {} if manifest.sent is None else manifest.sent.sizes
    return len(data) < sizes.get(path, 0) and manifest.began(path, data)


def list_file_sizes(
    tracking: Tracking, run_id: str, names: Collection[str], where: str
) -> dict[str, int | None]:
    """Return the names that are files of a run, with their sizes."""
    sizes: dict[str, int | None] = {}
    for folder in sorted({str(PurePosixPath(path).parent) for path in names}):
        listing = methodcaller("list_artifacts", run_id, None if folder == "." else folder)
        entries = tracking.ask(listing, where)
        sizes |= {
            entry.path: entry.file_size for entry in entries if not entry.is_dir and entry.path in names
        }
    return sizes


def content(tracking: Tracking, run_id: str, path: str, sizes: Mapping[str, int | None], where: str) -> bytes:
    """Return the bytes of an artifact.

    Raises
    ------
    OtherSizeError
        The received bytes differ in length from the stored file.
    """
    with tempfile.TemporaryDirectory(prefix="evalreport-") as folder:
        place = tracking.ask(methodcaller("download_artifacts", run_id, path, folder), where)
        data = Path(place).read_bytes()
    size = sizes.get(path)
    if size is not None and len(data) != size:
        raise OtherSizeError(
            f"the server sent {len(data)} bytes of {path}, which has {size}",
            where=where,
            fix="try again; if it stays so, check for a proxy that answers instead of the server",
        )
    return data


@dataclass(frozen=True)
class MissingParts:
    """What was logged into a run but is missing or changed there.

    Parameters
    ----------
    files : mapping from path to str
        ``missing`` or ``changed``.
    metrics : mapping from key to ((step, value), …)
        The missing points.
    tags : mapping from name to text
        The expected values.

    Examples
    --------
    >>> lacking = MissingParts({"a.json": "missing"}, {"f1": ((0, 0.5),), "auc": ((0, 0.7),)})
    >>> print(lacking)
    1 file and 2 metrics: a.json, auc, f1
    >>> bool(lacking), bool(MissingParts())
    (True, False)
    """

    files: Mapping[str, str] = field(default_factory=dict)
    metrics: Mapping[str, Points] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)

    def to_wire(self) -> dict[str, Any]:
        """Return the names of the missing parts."""
        return {"files": self.files, "metrics": sorted(self.metrics), "tags": sorted(self.tags)}

    def __bool__(self) -> bool:
        return bool(self.files or self.metrics or self.tags)

    def __str__(self) -> str:
        kinds = (("file", self.files), ("metric", self.metrics), ("tag", self.tags))
        counts = [f"{len(of)} {kind}{'s' if len(of) != 1 else ''}" for kind, of in kinds if of]
        names = [name for _, of in kinds for name in sorted(of)]
        return f"{' and '.join(counts)}: {some_of(names)}"


@dataclass(frozen=True)
class CheckedPart:
    """A part of a run compared with its manifest.

    Parameters
    ----------
    part : str
    missing : MissingParts
    files, metrics : int
        Number of checked files and metrics.
    incomplete : bool
        Whether a logging is in progress or was interrupted.
    manifest : Manifest
    digest : str
        Digest of the logged payload, from the manifest, or from the tag if that is lost.
    """

    KEYS: ClassVar = ("part", "whole", "incomplete", "files", "metrics", "missing")

    part: Part
    missing: MissingParts
    files: int
    metrics: int
    incomplete: bool
    manifest: Manifest
    digest: str

    @property
    def whole(self) -> bool:
        """Whether nothing is missing or changed."""
        return not self.missing and not self.incomplete

    @property
    def trouble(self) -> str:
        """Description of the problem, as the object of "it had"."""
        lost = f"lost or changed {self.missing}" if self.missing else ""
        return " and ".join(filter(None, ("an unfinished logging" if self.incomplete else "", lost)))

    def __str__(self) -> str:
        if self.whole:
            return f"verified {pluralize(self.files, 'file')}, {pluralize(self.metrics, 'metric')}"
        return f"not whole: {self.trouble}"


def check_part(tracking: Tracking, run: Any, part: Part, where: str) -> CheckedPart | None:
    """Compare a part of a run with its manifest: every file by its content, every point of every metric.

    Returns
    -------
    CheckedPart or None
        None if this part was never logged.

    Raises
    ------
    ServerError
    """
    tag, path = run.data.tags.get(state_tag(part), ""), manifest_of(part)
    sizes = list_file_sizes(tracking, run.info.run_id, {path}, where)
    manifest = Manifest()
    if path in sizes:
        manifest = Manifest.from_json_bytes(content(tracking, run.info.run_id, path, sizes, where))
    sent = manifest.sent
    if sent is None:
        lost = MissingParts({path: "changed" if path in sizes else "missing"})
        if not tag and not sizes:
            return None
        return CheckedPart(part, lost, 0, 0, tag.startswith(UNFINISHED), manifest, digest_in(tag))
    lacking = MissingParts(
        lacking_files(tracking, run.info.run_id, sent.sizes, manifest.is_unchanged, sent.sizes, where),
        missing_points(tracking, run, sent.metrics, sent.timestamp, where),
        {name: text for name, text in sent.tags.items() if run.data.tags.get(name) != text},
    )
    unfinished = digest_in(tag) != sent.digest
    return CheckedPart(part, lacking, len(sent.sizes), len(sent.metrics), unfinished, manifest, sent.digest)


def lacking_files(
    tracking: Tracking,
    run_id: str,
    sizes: Mapping[str, int],
    is_sent: Callable[[str, bytes], bool],
    read: Collection[str],
    where: str,
) -> dict[str, str]:
    """Return the files that are missing or changed, by size, and for some by content.

    Parameters
    ----------
    tracking : Tracking
    run_id : str
    sizes : mapping from path to bytes
        Sizes of the files that were sent.
    is_sent : callable
        From path and content to whether it is the content that was sent.
    read : paths whose content is compared
    where : str
    """
    there = list_file_sizes(tracking, run_id, sizes, where)

    def is_changed(path: str) -> bool:
        known = there[path]
        if known is None or (known == sizes[path] and path in read):
            return not is_sent(path, content(tracking, run_id, path, there, where))
        return known != sizes[path]

    missing = {path: "missing" for path in sizes if path not in there}
    return missing | {path: "changed" for path in sizes if path in there and is_changed(path)}


def missing_points(
    tracking: Tracking, run: Any, metrics: Mapping[str, Points], timestamp: int, where: str
) -> dict[str, Points]:
    """Return the missing points of metrics.

    A single value is compared with the value that the run shows. A run shows only the last point of a curve,
    so for curves the history is requested.

    Parameters
    ----------
    tracking : Tracking
    run : mlflow.entities.Run
    metrics : mapping from key to ((step, value), …)
    timestamp : int
        Timestamp of the points of a curve.
    where : str
    """
    found = {}
    for key, points in metrics.items():
        shown = run.data.metrics.get(key)
        if shown is None or (len(points) == 1 and not _equal(shown, points[0][1])):
            found[key] = points
        elif len(points) > 1:
            held = history(tracking, run.info.run_id, key, timestamp, where)
            absent = tuple(
                (step, value)
                for step, value in points
                if not any(_equal(value, known) for known in held.get(step, ()))
            )
            found |= {key: absent} if absent else {}
    return found


def history(tracking: Tracking, run_id: str, key: str, timestamp: int, where: str) -> dict[int, list[float]]:
    """Return the values of a metric with a timestamp, by step."""
    held: dict[int, list[float]] = {}
    for entry in tracking.ask(methodcaller("get_metric_history", run_id, key), where):
        if entry.timestamp == timestamp:
            held.setdefault(entry.step, []).append(entry.value)
    return held


def _equal(one: float, other: float) -> bool:
    """Return whether two values are equal to 12 digits: databases keep at least 15."""
    return math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-300)

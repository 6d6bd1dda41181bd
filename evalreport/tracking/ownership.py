"""The record of the files that evalreport wrote into a run, and what the run has before a new logging."""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from operator import methodcaller
from pathlib import Path, PurePosixPath
from typing import Any, Literal, TypeAlias
from uuid import uuid4

from evalreport.core.errors import DataError, RunNotFoundError, ServerError, UsageError
from evalreport.core.json_codec import decode, dumps, loads
from evalreport.page.payload import Payload
from evalreport.tracking.runs import Tracking

UNFINISHED = "unfinished"
"""How the digest tag begins while a logging is in progress, or after it was interrupted."""


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
            Another logging began at the same time.
        ServerError
            The tag was not set.
        """
        try:
            self.tracking.ask(methodcaller("set_tag", self.run_id, self.tag, self.mark), self.where)
        except ServerError:
            # Of two that create the tag at once a database refuses one; or only the answer was lost.
            if self._run().data.tags.get(self.tag, "") == self.before:
                raise
        self.look()

    def look(self) -> Any:
        """Return the run, if it still exists and no other logging has begun.

        Raises
        ------
        RunNotFoundError
            It was deleted meanwhile: it would still accept artifacts.
        UsageError
            Another logging has begun.
        ServerError
            The server did not store our tag.
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
        """Write, if no other logging has begun."""
        self.look()
        self.wrote = True
        try:
            self.tracking.ask(call, self.where)
        except UsageError:
            self.look()  # a run that was deleted meanwhile is refused as a wrong parameter
            raise

    def end(self, state: str) -> None:
        """Set the state of a complete logging, and check that it is set.

        Raises
        ------
        UsageError
            Another logging has begun.
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
    """Refuse a deleted run: it refuses metrics but accepts artifacts.

    Raises
    ------
    RunNotFoundError
    """
    if run.info.lifecycle_stage == "deleted":
        command = f"mlflow runs restore --run-id {run.info.run_id}"
        raise RunNotFoundError(f"{where} is deleted", fix=f"restore it with `{command}`")


def busy(where: str) -> UsageError:
    """Return the error of a run that another logging writes into, before this one has written anything."""
    return UsageError(
        "another process is logging to this run", where=where, fix="wait until it has ended, and log again"
    )


def concurrent_logging_error(run_id: str, where: str) -> UsageError:
    """Return the error of a run that two loggings have written into at the same time."""
    return UsageError(
        "another process is logging to this run, which may now contain parts of both results",
        where=where,
        fix=f"wait until it has ended, then run `evalreport verify --run-id {run_id} --repair`",
    )


def not_stored(what: str, where: str) -> ServerError:
    """Return the error of a server that accepts something and does not store it."""
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
        Of the payload.
    timestamp : int
        Of all its metrics, milliseconds since 1970. Who takes up the same logging again takes this one, or
        the histories of the metrics would be doubled.
    metrics : mapping from key to ((step, value), …)
        A single value has step 0.
    tags : mapping from name to text
        Ours alone, not those that are shared with others.
    sizes : mapping from path to int
        Bytes of each file.

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
        """Return what a logging of a payload sends."""
        single = {key: ((0, value),) for key, value in payload.metrics.items()}
        sizes = {path: len(data) for path, data in files.items()}
        return cls(payload.digest, timestamp, {**single, **payload.series}, dict(payload.tags), sizes)


SCHEMA: Literal[2] = 2
"""Version of the manifest."""
HEAD = 1024
"""Bytes at the beginning of a file with a separate digest, to recognize a half-written file."""


@dataclass(frozen=True)
class ManifestRecord:
    """A manifest as in its file."""

    schema: Literal[2]
    files: Mapping[str, tuple[str, ...]]
    metrics: tuple[str, ...]
    heads: Mapping[str, str]
    sent: Sent | None


@dataclass(frozen=True)
class Manifest:
    """Digests of our files, the names of all that was ever logged, and what the last logging sent.

    Parameters
    ----------
    files : mapping from path to digests
        The digest of what is to stand there, and of what stood there when that was about to be written, so
        that a logging that was cut short can be taken up.
    metrics : frozenset of str
        Keys of metrics and series, which MLflow cannot delete.
    heads : mapping from path to digest
        Of the first `HEAD` bytes of what is to stand there.
    sent : Sent or None
        Of the last logging; None in a folder.

    Examples
    --------
    >>> manifest = Manifest.from_files({"a.json": b"new"}, ["f1"], Manifest(), {})
    >>> manifest.wrote("a.json", b"new"), manifest.wrote("a.json", b"theirs")
    (True, False)
    >>> manifest.stands("a.json", b"new"), manifest.began("a.json", b"")
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
        """Return the manifest of a logging that comes after another.

        Parameters
        ----------
        files : what is to stand there
        metrics : keys that are to be written
        before : what was written earlier
        present : files that will be replaced, as they are now
        sent : what is sent beside the files
        """
        digests = {path: [_digest(data)] for path, data in files.items()}
        for path, data in present.items():
            digests[path].append(_digest(data))
        kept = {path: list(known) for path, known in before.files.items() if path not in digests}
        both = {path: tuple(dict.fromkeys(known)) for path, known in sorted({**kept, **digests}.items())}
        heads = {path: _digest(data[:HEAD]) for path, data in sorted(files.items())}
        return cls(both, before.metrics.union(metrics), heads, sent)

    def wrote(self, path: str, data: bytes) -> bool:
        """Tell whether this is what we have written there, at the last logging or before it."""
        return _digest(data) in self.files.get(path, ())

    def stands(self, path: str, data: bytes) -> bool:
        """Tell whether this is what the last logging was to write there."""
        return self.files.get(path, ("",))[0] == _digest(data)

    def began(self, path: str, data: bytes) -> bool:
        """Tell whether this is the beginning of what the last logging was to write there.

        Of less than `HEAD` bytes nobody can tell; only an empty file is then taken for ours.
        """
        return path in self.heads and (not data or self.heads[path] == _digest(data[:HEAD]))

    def to_wire(self) -> ManifestRecord:
        """Return the manifest as in its file."""
        return ManifestRecord(SCHEMA, self.files, tuple(sorted(self.metrics)), self.heads, self.sent)

    @classmethod
    def from_wire(cls, wire: ManifestRecord) -> Manifest:
        """Return the manifest of a file, without names that lead out: we wrote none of those."""
        files = {path: known for path, known in wire.files.items() if is_inside(path)}
        heads = {path: head for path, head in wire.heads.items() if path in files}
        return cls(files, frozenset(wire.metrics), heads, wire.sent)

    def as_bytes(self) -> bytes:
        """Return the manifest as the file in the run."""
        return dumps(self).encode()

    @classmethod
    def from_json_bytes(cls, data: bytes) -> Manifest:
        """Return the manifest of a file; an empty one, of a file that is none: then nothing is ours."""
        try:
            made: Manifest = decode(cls, loads(data))
        except DataError:
            return cls()
        return made


def is_inside(path: str) -> bool:
    r"""Return whether a name, written with ``/``, is that of a file inside the folder it is relative to.

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
"""Bytes; a file of our name that is larger is not ours."""


class OtherSizeError(ServerError):
    """A file came longer or shorter than the server's list says."""


@dataclass(frozen=True)
class ExistingArtifacts:
    """What the run holds before we write.

    Parameters
    ----------
    run : mlflow.entities.Run
    where : str
        The run, for errors.
    sizes : mapping from path to int or None
        Of files that bear names that we are about to give; None where the store does not say.
    manifest_path : str
    manifest : Manifest
    ours : mapping from path to bytes
        The content of those that we wrote.
    tag : str
        The digest tag before we wrote anything.
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
        """Files of our names that we did not write."""
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
    """Return what a run holds.

    Parameters
    ----------
    tracking : Tracking
    run : mlflow.entities.Run
    names : paths that we are about to write
    manifest_path : str
    tag : str
        The digest tag before anything was written: whether a logging was cut short.
    where : str
    repair : bool
        Whether files of our names are ours where the manifest is lost and the digest tag stands: they were
        when it was set, as a logging refuses those of others.
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
    """Tell whether a file is the beginning of what a logging was writing when it was cut short."""
    sizes = {} if manifest.sent is None else manifest.sent.sizes
    return len(data) < sizes.get(path, 0) and manifest.began(path, data)


def list_file_sizes(
    tracking: Tracking, run_id: str, names: Collection[str], where: str
) -> dict[str, int | None]:
    """Return those of the names that are files of a run, with their sizes."""
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

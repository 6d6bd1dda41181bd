"""What evalreport has written into a run, by which its files are told from others of the same name."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from evalreport.codec import decode, dumps, loads
from evalreport.errors import DataError
from evalreport.report.payload import Payload

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
    >>> from evalreport.codec import decode, encode
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
    def of(cls, payload: Payload, timestamp: int, files: Mapping[str, bytes]) -> Sent:
        """Return what a logging of a payload sends."""
        single = {key: ((0, value),) for key, value in payload.metrics.items()}
        sizes = {path: len(data) for path, data in files.items()}
        return cls(payload.digest, timestamp, {**single, **payload.series}, dict(payload.tags), sizes)


SCHEMA: Literal[2] = 2
"""Version of the manifest."""
HEAD = 1024
"""Bytes of a file's beginning with a digest of its own: by it the half of a file is known."""


@dataclass(frozen=True)
class ManifestRecord:
    """A manifest as it stands in its file."""

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
    >>> manifest = Manifest.of({"a.json": b"new"}, ["f1"], Manifest(), {})
    >>> manifest.wrote("a.json", b"new"), manifest.wrote("a.json", b"theirs")
    (True, False)
    >>> manifest.stands("a.json", b"new"), manifest.began("a.json", b"")
    (True, True)
    >>> Manifest.read(manifest.as_bytes()) == manifest
    True
    """

    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    metrics: frozenset[str] = frozenset()
    heads: Mapping[str, str] = field(default_factory=dict)
    sent: Sent | None = None

    @classmethod
    def of(
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
        """Return the manifest as it stands in its file."""
        return ManifestRecord(SCHEMA, self.files, tuple(sorted(self.metrics)), self.heads, self.sent)

    @classmethod
    def from_wire(cls, wire: ManifestRecord) -> Manifest:
        """Return the manifest of a file, without names that lead out: we wrote none of those."""
        files = {path: known for path, known in wire.files.items() if is_inside(path)}
        heads = {path: head for path, head in wire.heads.items() if path in files}
        return cls(files, frozenset(wire.metrics), heads, wire.sent)

    def as_bytes(self) -> bytes:
        """Return the manifest as the file that lies in the run."""
        return dumps(self).encode()

    @classmethod
    def read(cls, data: bytes) -> Manifest:
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

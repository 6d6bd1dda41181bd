"""What a run holds before we write: which files of our names are there, and which of them are ours."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from operator import methodcaller
from pathlib import Path, PurePosixPath
from typing import Any

from evalreport.errors import ServerError
from evalreport.sinks.manifest import Manifest
from evalreport.sinks.sink import Tracking
from evalreport.sinks.writer import UNFINISHED

MAX_COMPARED = 256 * 1024**2
"""Bytes; a file of our name that is larger is not ours."""


class OtherSizeError(ServerError):
    """A file came longer or shorter than the server's list says."""


@dataclass(frozen=True)
class Held:
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


def held_by(
    tracking: Tracking,
    run: Any,
    names: Collection[str],
    manifest_path: str,
    tag: str,
    where: str,
    *,
    repair: bool = False,
) -> Held:
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
    sizes = listed(tracking, run.info.run_id, {*names, manifest_path}, where)
    manifest, cut = Manifest(), tag.startswith(UNFINISHED)
    if manifest_path in sizes and (sizes[manifest_path] or 0) <= MAX_COMPARED:
        manifest = Manifest.read(content(tracking, run.info.run_id, manifest_path, sizes, where))
    lost = manifest == Manifest() and ((cut and manifest_path in sizes) or (repair and bool(tag)))
    ours: dict[str, bytes] = {}
    for path, size in sizes.items():
        if path != manifest_path and (lost or path in manifest.files) and (size or 0) <= MAX_COMPARED:
            data = content(tracking, run.info.run_id, path, sizes, where)
            if lost or manifest.wrote(path, data) or (cut and _is_half(manifest, path, data)):
                ours[path] = data
    return Held(run, where, sizes, manifest_path, manifest, ours, tag)


def _is_half(manifest: Manifest, path: str, data: bytes) -> bool:
    """Tell whether a file is the beginning of what a logging was writing when it was cut short."""
    sizes = {} if manifest.sent is None else manifest.sent.sizes
    return len(data) < sizes.get(path, 0) and manifest.began(path, data)


def listed(tracking: Tracking, run_id: str, names: Collection[str], where: str) -> dict[str, int | None]:
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
        What came is longer or shorter than what lies there.
    """
    with tempfile.TemporaryDirectory(prefix="evalreport-") as folder:
        place = tracking.ask(methodcaller("download_artifacts", run_id, path, folder), where)
        data = Path(place).read_bytes()
    size = sizes.get(path)
    if size is not None and len(data) != size:
        raise OtherSizeError(
            f"the server sent {len(data)} bytes of {path}, which has {size}",
            where=where,
            fix="try again; if it stays so, look for a proxy that answers in the server's place",
        )
    return data

"""Files of a run: listed recursively, and downloaded into a private folder.

Names, paths and addresses come from a server that anyone may have written to; each is checked before use.
"""

from __future__ import annotations

import logging
import os
import re
import stat
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from operator import methodcaller
from pathlib import Path, PurePosixPath

from evalreport.core.errors import (
    ArtifactNotFoundError,
    DataError,
    EvalreportError,
    NotFoundError,
    ServerError,
    UnsafeFileError,
)
from evalreport.core.text import printable
from evalreport.readers.data_sets import STREAMED
from evalreport.readers.formats import reader_of
from evalreport.readers.limits import MAX_FILE, check_room
from evalreport.tracking.client import Store
from evalreport.tracking.runs import RunInfo

logger = logging.getLogger(__name__)
MAX_ARTIFACTS = 10_000
"""Most artifacts of a run that are listed: each folder is a request."""
MAX_DEPTH = 20
"""Most levels of folders: a store that returns itself as a folder would never end."""
LONGEST_NAME = 255
"""Longest name that file systems allow."""
_AGAIN = "try again; if it stays so, look at the server's log and at proxies on the way"
_PART = re.compile(r"part[-_.]?\d", re.IGNORECASE)
"""Prefixes that Spark, Dask and Arrow give the files of one table."""
_UNSAFE = re.compile(r"[\x00-\x1f\x7f\\#?]|%(?:2e|2f|5c|00|25)", re.IGNORECASE)


@dataclass(frozen=True)
class Artifact:
    """A file of a run: its path inside the run, and its size in bytes if the store reports it.

    A folder of `parts` is one table in several files.
    """

    path: str
    size: int | None = None
    parts: tuple[Artifact, ...] = ()

    @classmethod
    def folder(cls, path: str, parts: Sequence[Artifact]) -> Artifact:
        """Return a folder of parts as one artifact."""
        return cls(path, sum(part.size or 0 for part in parts), tuple(parts))

    @property
    def files(self) -> tuple[Artifact, ...]:
        """The files of the artifact."""
        return self.parts or (self,)

    def is_streamed(self, format: str | None) -> bool:
        """Whether its formats can be read batch by batch."""
        try:
            found = {reader_of(PurePosixPath(file.path).name, format).name for file in self.files}
        except EvalreportError:
            return False
        return found <= STREAMED.keys()


def with_parts(files: Sequence[Artifact]) -> list[Artifact]:
    """Return files; files of a folder whose names mark them as parts of one table become one artifact.

    Examples
    --------
    >>> names = ("preds/part-0.parquet", "preds/part-1.parquet", "truth.csv")
    >>> [(one.path, len(one.parts)) for one in with_parts([Artifact(name) for name in names])]
    [('truth.csv', 0), ('preds', 2)]
    """
    folders: dict[str, list[Artifact]] = defaultdict(list)
    for file in files:
        place = PurePosixPath(file.path)
        if _PART.match(place.name) and str(place.parent) != ".":
            folders[str(place.parent)].append(file)
    whole = {path: parts for path, parts in folders.items() if len(parts) > 1}
    inside = {part.path for parts in whole.values() for part in parts}
    alone = [file for file in files if file.path not in inside]
    return [*alone, *(Artifact.folder(path, parts) for path, parts in whole.items())]


def is_safe(path: str) -> bool:
    """Return whether an artifact path stays inside its run under every interpretation.

    Examples
    --------
    >>> is_safe("tables/predictions.parquet"), is_safe("../x"), is_safe("a%2e%2e/x"), is_safe("C:/x")
    (True, False, False, False)
    """
    parts = path.split("/")
    return not (
        _UNSAFE.search(path)
        or any(part in {"", ".", ".."} or len(part) > LONGEST_NAME for part in parts)
        or re.match(r"[A-Za-z]:", path)
    )


def list_artifacts(
    store: Store, run: RunInfo, folder: str = "", *, skip: tuple[str, ...] = ()
) -> list[Artifact]:
    """Return all files of a run, or of a folder in it, in the order of their paths.

    Names that could point outside of the run are ignored.

    Parameters
    ----------
    store : Store
    run : RunInfo
    folder : str
    skip : tuple of str
        Folders that are not entered.

    Raises
    ------
    UnsafeFileError
        The artifact store is at a location that is not allowed.
    ServerError
    DataError
        Over 10,000 files.
    """
    store.artifact_root(run.artifact_uri, run.display_name)
    found: list[Artifact] = []
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        entries = store.ask(methodcaller("list_artifacts", run.run_id, here or None), run.display_name)
        for entry in entries:
            inside = str(PurePosixPath(entry.path).parent) == (here or ".")
            if not (inside and is_safe(entry.path)) or entry.path in skip:
                continue
            if entry.is_dir and entry.path.count("/") < MAX_DEPTH:
                waiting.append(entry.path)
            elif not entry.is_dir:
                found.append(Artifact(entry.path, entry.file_size))
        if len(found) + len(waiting) > MAX_ARTIFACTS:
            raise DataError(
                f"the run has over {MAX_ARTIFACTS:,} artifacts",
                where=run.display_name,
                fix="name one with --artifact",
            )
    return sorted(found, key=lambda artifact: artifact.path)


def find_artifact(store: Store, run: RunInfo, path: str) -> Artifact | None:
    """Return the file of a run at exactly this path, or None; only its folder is listed.

    Raises
    ------
    UnsafeFileError, ServerError
        See `list_artifacts`.
    """
    if not is_safe(path):
        return None
    store.artifact_root(run.artifact_uri, run.display_name)
    folder = str(PurePosixPath(path).parent)
    entries = store.ask(
        methodcaller("list_artifacts", run.run_id, None if folder == "." else folder), run.display_name
    )
    found = (entry for entry in entries if entry.path == path and not entry.is_dir)
    return next((Artifact(entry.path, entry.file_size) for entry in found), None)


@contextmanager
def download_artifact(
    store: Store, run: RunInfo, artifact: Artifact, *, any_size: bool = False
) -> Iterator[Path]:
    """Yield a copy of an artifact, in a folder that is removed afterwards.

    Parameters
    ----------
    store : Store
    run : RunInfo
    artifact : Artifact
    any_size : bool
        Whether it may be larger than memory.

    Raises
    ------
    ArtifactNotFoundError
        The artifact does not exist.
    UnsafeFileError
        The path is outside of the run or a link, or the artifact store is not allowed.
    DataError
        It is larger than 2 GB, or than the free disk space.
    ServerError
        Also if the size differs from the listing.
    """
    root = store.artifact_root(run.artifact_uri, run.display_name)
    most = None if any_size else MAX_FILE
    for file in artifact.files:
        _check(file, root, _place(run, file), most)
    with tempfile.TemporaryDirectory(prefix="evalreport-") as folder:
        check_room(
            Path(folder),
            artifact.size or 0,
            "the artifact needs",
            where=f"{_place(run, artifact)}, to {Path(folder).parent}",
            fix="make room, or name another folder with TMPDIR",
        )
        copies = [_download(store, run, file, Path(folder), most) for file in artifact.files]
        yield Path(folder) / artifact.path if artifact.parts else copies[0]


def _place(run: RunInfo, artifact: Artifact) -> str:
    return f"{run.display_name}, artifact {printable(artifact.path)}"


def _check(file: Artifact, root: Path | None, where: str, most: int | None) -> None:
    if not is_safe(file.path):
        raise UnsafeFileError(
            "the artifact's path could lead outside of the run",
            where=where,
            fix="log it again with a plain name",
        )
    _check_size(file.size or 0, where, most)
    if root is not None:
        refuse_links(root, file.path, where)


def _check_size(size: int, where: str, most: int | None) -> None:
    if most is not None and size > most:
        raise DataError(
            "the artifact is larger than 2 GB", where=where, fix="log it as Parquet or CSV, or log a sample"
        )


def _download(store: Store, run: RunInfo, artifact: Artifact, folder: Path, most: int | None) -> Path:
    path, where = artifact.path, _place(run, artifact)
    try:
        place = Path(store.ask(methodcaller("download_artifacts", run.run_id, path, str(folder)), where))
    except NotFoundError as error:
        if artifact.size is not None:
            raise ServerError(
                "the server lists the artifact but does not return it", where=where, fix=_AGAIN
            ) from error
        raise ArtifactNotFoundError(
            f"there is no artifact {printable(path)}",
            where=run.display_name,
            fix="look at the run's artifacts",
        ) from error
    status = place.lstat()
    inside = Path(os.path.realpath(place)).is_relative_to(Path(os.path.realpath(folder)))
    if not inside or not stat.S_ISREG(status.st_mode):
        raise UnsafeFileError(
            "the artifact is not a plain file of the run", where=where, fix="log the file itself"
        )
    _check_size(status.st_size, where, most)
    if artifact.size is not None and status.st_size != artifact.size:
        raise ServerError(
            f"the artifact is incomplete: {status.st_size:,} of {artifact.size:,} bytes",
            where=where,
            fix=_AGAIN,
        )
    logger.info("downloaded artifact %s of %s, %.0f kB", path, run.display_name, status.st_size / 1000)
    return place


def refuse_links(root: Path, path: str, where: str) -> None:
    """Reject an artifact that is a link, or is behind one: it could be any file of this machine.

    Raises
    ------
    UnsafeFileError
    """
    place = root
    for part in path.split("/"):
        place /= part
        try:
            status = place.lstat()
        except OSError:
            return  # it does not exist; MLflow's error is better
        linked = stat.S_ISREG(status.st_mode) and status.st_nlink > 1
        if stat.S_ISLNK(status.st_mode) or linked:
            raise UnsafeFileError(
                "the artifact is a link, which is not followed", where=where, fix="log the file itself"
            )

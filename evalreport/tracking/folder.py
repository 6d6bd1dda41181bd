"""Write a payload into a folder: all or nothing, never through a link, never over other files.

A manifest in the folder lists evalreport's files; a page contains a mark.
"""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from uuid import uuid4

from evalreport.core.errors import UsageError, some_of
from evalreport.core.text import slug
from evalreport.page.payload import Payload
from evalreport.tracking.ownership import Manifest
from evalreport.tracking.runs import Logged

logger = logging.getLogger(__name__)
MANIFESTS = ".evalreport"
"""Folder of the manifests, one per part; hidden, because it is not a result."""
MARK = b'<meta name="generator" content="evalreport '
"""Mark in the head of every page that evalreport writes, for any file name."""
HEAD = 4096
"""Greatest position of the mark in bytes: only short tags come before it."""


@dataclass(frozen=True)
class FolderSink:
    """A folder, which is created if it does not exist.

    Parameters
    ----------
    folder : Path
    force : bool
        Whether to overwrite files that evalreport did not write.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> payload = Payload("ab12", exports={"evaluation.json": b"{}"})
    >>> with TemporaryDirectory() as place:
    ...     FolderSink(Path(place) / "out").log(payload).files
    ('evaluation.json',)
    """

    folder: Path
    force: bool = False

    def log(self, payload: Payload, *, dry_run: bool = False) -> Logged:
        """Write the exports of a payload.

        Raises
        ------
        UsageError
            The folder cannot be written to, or one of its files is a link or was not written by evalreport.
        """
        try:
            return self._log(payload, dry_run=dry_run)
        except OSError as error:
            raise _cannot(self.folder, error) from error

    def _log(self, payload: Payload, *, dry_run: bool) -> Logged:
        files, record = payload.exports, f"{MANIFESTS}/{payload.part}.json"
        for path in (*files, record):
            refuse_link(self.folder / path, self.folder)
        earlier = {path.stem: _read_manifest(path) for path in (self.folder / MANIFESTS).glob("*.json")}
        there = [path for path in files if os.path.exists(self.folder / path)]
        ours = {path: data for path in there if (data := self._ours(path, earlier.values())) is not None}
        if len(ours) < len(there) and not self.force:
            raise _not_ours([path for path in there if path not in ours], self.folder)
        before = earlier.get(payload.part, Manifest())
        if not dry_run:
            # The manifest comes first: after an interruption, its files are recognized as evalreport's.
            manifest = Manifest.from_files(files, [], before, ours).as_bytes()
            write_files({self.folder / path: data for path, data in {record: manifest, **files}.items()})
        left = [path for path in before.files if path not in files and os.path.isfile(self.folder / path)]
        return Logged("dry run" if dry_run else "written", (), tuple(files), tuple(there), tuple(left))

    def _ours(self, path: str, manifests: Iterable[Manifest]) -> bytes | None:
        """Return the content of a file that evalreport wrote, by any manifest, as parts share names."""
        place = self.folder / path
        known = [manifest for manifest in manifests if path in manifest.files]
        if not os.path.isfile(place) or not (known or is_page(place)):
            return None
        data = place.read_bytes()
        return data if MARK in data[:HEAD] or any(one.wrote(path, data) for one in known) else None


def _read_manifest(path: Path) -> Manifest:
    with suppress(OSError):
        return Manifest.from_json_bytes(path.read_bytes())
    return Manifest()


def is_page(place: Path) -> bool:
    """Return whether a file is a page that evalreport wrote."""
    with suppress(OSError), place.open("rb") as stream:
        head = stream.read(HEAD)
        return MARK in head
    return False


def of_input(page: bytes, origin: str) -> bytes:
    """Return a page with the mark of its input in addition to that of evalreport."""
    end = page.index(b">", page.index(MARK)) + 1
    return page[:end] + _input_mark(origin) + page[end:]


def free_page(stem: str, origin: str) -> Path:
    """Return the file for the page of an input: ``STEM.html``, or a numbered one if that is another file.

    Parameters
    ----------
    stem : str
        Name of the input, as a file name.
    origin : str
        Digest that identifies the input.
    """
    names = chain((f"{stem}.html",), (f"{stem}-{number}.html" for number in count(2)))
    return next(place for place in map(Path, names) if _is_free(place, origin))


def _is_free(place: Path, origin: str) -> bool:
    if not os.path.lexists(place):
        return True
    with suppress(OSError), place.open("rb") as stream:
        head = stream.read(HEAD)
        return MARK in head and _input_mark(origin) in head
    return False


def _input_mark(origin: str) -> bytes:
    return f'<meta name="evalreport-input" content="{origin}">'.encode()


def _not_ours(names: Sequence[str], where: Path) -> UsageError:
    return UsageError(
        f"evalreport did not write {some_of(names)}, so it stays",
        where=str(where),
        fix="move it, name another place, or pass --force to replace it",
    )


def write_page(place: Path, page: bytes, *, force: bool = False) -> Path:
    """Write a page to a file; an existing file is replaced if it is evalreport's page, or with force.

    Raises
    ------
    UsageError
        It is a link or a folder, contains something else, or cannot be written.
    """
    check_page(place, force=force)
    return write_file(place, page)


def check_page(place: Path, *, force: bool = False) -> None:
    """Reject replacing a file that is not an evalreport page.

    Raises
    ------
    UsageError
    """
    refuse_link(place, place.parent)
    if not force and os.path.isfile(place) and place.stat().st_size and not is_page(place):
        raise _not_ours([place.name], place)


def write_file(place: Path, data: bytes) -> Path:
    """Write one file; see `write_files`.

    Pipes and devices are written to, never replaced.

    Raises
    ------
    UsageError
        It is a link or a folder, or cannot be written.
    """
    refuse_link(place, place.parent)
    if not os.path.exists(place) or os.path.isfile(place) or os.path.isdir(place):
        write_files({place: data})
        return place
    try:
        place.write_bytes(data)
    except OSError as error:
        raise _cannot(place, error) from error
    return place


def write_files(files: Mapping[Path, bytes]) -> None:
    """Write all files completely or none: next to their places first, renamed when all of them exist.

    So a full disk changes nothing, and no file is ever visible half-written.

    Raises
    ------
    UsageError
        One cannot be written.
    """
    beside = {place: place.parent / f".evalreport-{uuid4().hex}" for place in files}
    made: list[Path] = []
    place = Path()
    try:
        for place, data in files.items():
            _make_folder(place, made)
            with beside[place].open("xb") as stream:
                stream.write(data)
        for place in files:
            beside[place].replace(place)
            logger.info("wrote %s, %.0f kB", place, len(files[place]) / 1000)
    except OSError as error:
        raise _cannot(place, error) from error
    finally:
        _remove(beside.values(), made)


def remove_file(place: Path) -> None:
    """Remove a file.

    Raises
    ------
    UsageError
        It cannot be removed.
    """
    try:
        place.unlink()
    except OSError as error:
        raise _cannot(place, error, "removed") from error


def _make_folder(place: Path, made: list[Path]) -> None:
    """Create the folder of a file, and note the folders that are created."""
    if os.path.isdir(place):  # else a rename would fail after other files were renamed
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    made += (parent for parent in place.parents if not os.path.exists(parent))
    place.parent.mkdir(parents=True, exist_ok=True)


def _remove(files: Iterable[Path], folders: Iterable[Path]) -> None:
    """Remove the remains of a failed write: its files, and empty folders that it created."""
    for path in files:
        with suppress(OSError):
            path.unlink()
    for folder in sorted(folders, key=lambda folder: -len(folder.parts)):
        with suppress(OSError):
            folder.rmdir()


def run_folder(out: Path, name: str, run_id: str) -> Path:
    """Return the folder of one of several runs: its name as a valid file name, and its id.

    Examples
    --------
    >>> run_folder(Path("out"), "../calm heron", "3f9c1e0a7b2d").as_posix()
    'out/calm-heron-3f9c1e0a'
    """
    return out / f"{slug(name)}-{slug(run_id)[:8]}"


def refuse_link(place: Path, folder: Path) -> None:
    """Reject a path that is a link, or has one below the folder.

    Raises
    ------
    UsageError
    """
    link = link_on_the_way(place, folder)
    if link is not None:
        raise UsageError(
            f"{link.name} is a link; evalreport does not write through links",
            where=str(link),
            fix="remove the link, or name another place",
        )


def link_on_the_way(place: Path, folder: Path) -> Path | None:
    """Return the link that a path is or goes through, below the folder; None if there is none."""
    inside = (parent for parent in place.parents if parent.is_relative_to(folder) and parent != folder)
    return next((step for step in (place, *inside) if os.path.islink(step)), None)


def _cannot(place: Path, error: OSError, verb: str = "written") -> UsageError:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    fix = "make room" if full else "check the folder's permissions"
    return UsageError(
        f"{place.name} cannot be {verb}: {(error.strerror or 'input/output error').lower()}",
        where=str(place),
        fix=f"{fix}, or name another place with -o",
    )

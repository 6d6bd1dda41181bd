"""Files into a folder: whole or not at all, never through a link, never out of the folder."""

from __future__ import annotations

import errno
import logging
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from evalreport.errors import UsageError
from evalreport.text import printable, slug

told = logging.getLogger(__name__)


def write_folder(files: Mapping[str, bytes], folder: Path) -> tuple[Path, ...]:
    """Write files into a folder, which is made if it is not there.

    Parameters
    ----------
    files : mapping from path inside the folder to bytes
    folder : Path

    Returns
    -------
    tuple of Path
        The files, in order.

    Raises
    ------
    UsageError
        The folder cannot be written to, a file of it is a link, or a path leads out of it.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as place:
    ...     written = write_folder({"evaluation.json": b"{}"}, Path(place) / "out")
    ...     [path.name for path in written]
    ['evaluation.json']
    """
    places = {_inside(folder, path): data for path, data in files.items()}
    for place in places:
        refuse_link(place, folder)
    return tuple(write_file(place, data) for place, data in places.items())


def write_file(place: Path, data: bytes) -> Path:
    """Write one file: beside its place first, then renamed, so that nobody ever sees half of it.

    What is there and is no file (a pipe, a device) is written into, never replaced.

    Raises
    ------
    UsageError
        It is a link or a folder, or cannot be written.
    """
    refuse_link(place, place.parent)
    try:
        if place.exists() and not place.is_file() and not place.is_dir():
            place.write_bytes(data)
        else:
            _replace(place, data)
    except OSError as error:
        raise _cannot(place, error) from error
    told.info("wrote %s, %.0f kB", place, len(data) / 1000)
    return place


def _replace(place: Path, data: bytes) -> None:
    beside = place.with_name(f".evalreport-{uuid4().hex}")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("xb") as stream:
            stream.write(data)
        beside.replace(place)
    finally:
        with suppress(OSError):
            beside.unlink()


def run_folder(out: Path, name: str, run_id: str) -> Path:
    """Return the folder of one of several runs: its name as far as a file name allows, and its id.

    Examples
    --------
    >>> run_folder(Path("out"), "../calm heron", "3f9c1e0a7b2d").as_posix()
    'out/calm-heron-3f9c1e0a'
    """
    return out / f"{slug(name)}-{slug(run_id)[:8]}"


def _inside(folder: Path, path: str) -> Path:
    parts = Path(path).parts
    if not parts or Path(path).is_absolute() or ".." in parts or "\0" in path:
        raise UsageError(
            f"{printable(path)!r} is not a name inside the folder",
            where=str(folder),
            fix="name another place",
        )
    return folder / path


def refuse_link(place: Path, folder: Path) -> None:
    """Refuse a place that is a link or lies behind one, from below the folder on.

    Raises
    ------
    UsageError
    """
    steps = [
        place,
        *(parent for parent in place.parents if parent.is_relative_to(folder) and parent != folder),
    ]
    for step in steps:
        if step.is_symlink():
            raise UsageError(
                f"{step.name} is a link, which is not written through",
                where=str(step),
                fix="remove the link, or name another place",
            )


def _cannot(place: Path, error: OSError) -> UsageError:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    mend = "make room" if full else "check the folder's permissions"
    return UsageError(
        f"{place.name} cannot be written: {(error.strerror or 'input/output error').lower()}",
        where=str(place),
        fix=f"{mend}, or name another place with --out",
    )

"""The folder of a site: our files are known by a manifest, others' are left alone, stale ones of ours go."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from evalreport.codec import dumps
from evalreport.errors import DataError, some_of
from evalreport.sinks.folder import MANIFESTS, is_page, refuse_link, write_file, write_files
from evalreport.sinks.manifest import Manifest

RECORD = f"{MANIFESTS}/site.json"


@dataclass
class SiteFolder:
    """A folder that holds a site, or will.

    Parameters
    ----------
    folder : Path
    force : bool
        Whether to write over files that are not ours.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as place:
    ...     site = SiteFolder(Path(place))
    ...     SiteFolder(Path(place)).write({"index.html": b"new", "old.html": b"old"})
    ...     site = SiteFolder(Path(place))
    ...     site.write({"index.html": b"new"}), site.finish(["index.html"])
    2
    (0, ['old.html'])
    """

    folder: Path
    force: bool = False
    manifest: Manifest = field(init=False)

    def __post_init__(self) -> None:
        refuse_link(self.folder / RECORD, self.folder)
        self.manifest = Manifest()
        with suppress(OSError):
            self.manifest = Manifest.read((self.folder / RECORD).read_bytes())

    def stands(self, path: str) -> bool:
        """Tell whether a file is there as it was last written."""
        return self.manifest.stands(path, self.read(path) or b"")

    def read(self, path: str) -> bytes | None:
        """Return a file of ours; None where there is none."""
        place = self.folder / path
        with suppress(OSError):
            return None if place.is_symlink() else place.read_bytes()
        return None

    def check(self, paths: Collection[str]) -> None:
        """Refuse to replace files that are not ours.

        Raises
        ------
        DataError
        UsageError
            A place is a link.
        """
        for path in paths:
            refuse_link(self.folder / path, self.folder)
        theirs = [path for path in sorted(paths) if not self._ours(path)]
        if theirs and not self.force:
            raise DataError(
                f"evalreport did not write {some_of(theirs)}, so nothing is replaced",
                where=str(self.folder),
                fix="move them, name another folder, or pass --force to replace them",
            )

    def _ours(self, path: str) -> bool:
        place = self.folder / path
        if not place.exists():
            return True
        return is_page(place) or self.manifest.wrote(path, self.read(path) or b"")

    def write(self, files: Mapping[str, bytes]) -> int:
        """Write those files that do not stand, the manifest before them; return how many."""
        self.check(files)
        new = {path: data for path, data in files.items() if self.read(path) != data}
        present = {path: data for path in new if (data := self.read(path)) is not None}
        self.manifest = Manifest.of(files, [], self.manifest, present)
        self._note()
        write_files({self.folder / path: data for path, data in new.items()})
        return len(new)

    def finish(self, kept: Collection[str]) -> list[str]:
        """Remove the files of ours that the site no longer has, unless somebody has changed them since."""
        stale = sorted(path for path in self.manifest.files if path not in kept)
        gone = []
        for path in stale:
            data = self.read(path)
            if data is not None and self.manifest.wrote(path, data):
                (self.folder / path).unlink()
                gone.append(path)
        whole = {path: data for path in kept if (data := self.read(path)) is not None}
        self.manifest = Manifest.of(whole, [], Manifest(), {})
        self._note()
        return gone

    def _note(self) -> None:
        write_file(self.folder / RECORD, self.manifest.as_bytes())


def digest_of(*parts: object) -> str:
    """Return a digest of values that have a JSON.

    Examples
    --------
    >>> len(digest_of("a", 1))
    32
    """
    return hashlib.sha256(dumps(parts).encode()).hexdigest()[:32]

"""The folder of a site: our files are known by a manifest, others' are left alone, stale ones of ours go.

The folder may have come with a repository, its manifest too: what that lists is ours only where it has a name
of a site's files, and is no link and behind none.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from evalreport.core.errors import DataError, some_of
from evalreport.core.json_codec import dumps
from evalreport.tracking.folder import (
    MANIFESTS,
    is_page,
    link_on_the_way,
    refuse_link,
    remove_file,
    write_file,
    write_files,
)
from evalreport.tracking.ownership import Manifest

RECORD = f"{MANIFESTS}/site.json"
KEPT = f"{MANIFESTS}/site"
"""Folder of what is kept of each run, so that it is evaluated once."""
_NAMES = re.compile(
    r"index\.html|runs\.(csv|json)|pairs\.csv|(runs|compare)/[^/]+\.(html|json)"
    rf"|{re.escape(KEPT)}/[^/]+\.(json|npy)"
)
"""All names that a site gives its files."""


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
    ...     SiteFolder(Path(place)).write({"index.html": b"new", "runs/old.html": b"old"})
    ...     site = SiteFolder(Path(place))
    ...     site.write({"index.html": b"new"}), site.finish(["index.html"])
    2
    (0, ['runs/old.html'])
    """

    folder: Path
    force: bool = False
    manifest: Manifest = field(init=False)

    def __post_init__(self) -> None:
        refuse_link(self.folder / RECORD, self.folder)
        self.manifest = Manifest()
        with suppress(OSError):
            known = Manifest.read((self.folder / RECORD).read_bytes())
            self.manifest = replace(
                known, files={path: one for path, one in known.files.items() if _NAMES.fullmatch(path)}
            )

    def stands(self, path: str) -> bool:
        """Tell whether a file is there as it was last written."""
        return self.manifest.stands(path, self.read(path) or b"")

    def read(self, path: str) -> bytes | None:
        """Return a file of ours; None where there is none, or a link on the way to it."""
        place = self.folder / path
        if link_on_the_way(place, self.folder) is not None:
            return None
        with suppress(OSError):
            return place.read_bytes()
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
        if not os.path.exists(place):
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
        """Remove the files of ours that the site no longer has, unless somebody has changed them since.

        Raises
        ------
        UsageError
            One cannot be removed.
        """
        stale = sorted(path for path in self.manifest.files if path not in kept)
        gone = []
        for path in stale:
            data = self.read(path)
            if data is not None and self.manifest.wrote(path, data):
                remove_file(self.folder / path)
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

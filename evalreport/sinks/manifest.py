"""What evalreport has written into a run, by which its files are told from others of the same name."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

SCHEMA = 1


@dataclass(frozen=True)
class Manifest:
    """Digests of our files, and the names of all that was ever logged.

    Parameters
    ----------
    files : mapping from path to digests
        The digest of what is to stand there, and of what stood there when that was about to be written, so
        that a logging that was cut short can be taken up.
    metrics : frozenset of str
        Keys of metrics and series, which MLflow cannot delete.

    Examples
    --------
    >>> manifest = Manifest.of({"a.json": b"new"}, ["f1"], Manifest(), {})
    >>> manifest.wrote("a.json", b"new"), manifest.wrote("a.json", b"theirs")
    (True, False)
    >>> Manifest.read(manifest.as_bytes()) == manifest
    True
    """

    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    metrics: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls, files: Mapping[str, bytes], metrics: list[str], before: Manifest, present: Mapping[str, bytes]
    ) -> Manifest:
        """Return the manifest of a logging that comes after another.

        Parameters
        ----------
        files : what is to be written
        metrics : keys that are to be written
        before : what was written earlier
        present : files that will be replaced, as they are now
        """
        digests = {path: [_digest(data)] for path, data in files.items()}
        for path, data in present.items():
            digests[path].append(_digest(data))
        kept = {path: list(known) for path, known in before.files.items() if path not in digests}
        both = {path: tuple(dict.fromkeys(known)) for path, known in sorted({**kept, **digests}.items())}
        return cls(both, before.metrics.union(metrics))

    def wrote(self, path: str, data: bytes) -> bool:
        """Tell whether this is what we have written there."""
        return _digest(data) in self.files.get(path, ())

    def as_bytes(self) -> bytes:
        """Return the manifest as the file that lies in the run."""
        content = {"schema": SCHEMA, "files": self.files, "metrics": sorted(self.metrics)}
        return json.dumps(content, indent=1).encode()

    @classmethod
    def read(cls, data: bytes) -> Manifest:
        """Return the manifest of a file; an empty one, of a file that is none: then nothing is ours."""
        try:
            content = json.loads(data)
            files = {str(path): tuple(map(str, known)) for path, known in content["files"].items()}
            return cls(files, frozenset(map(str, content["metrics"])))
        except (ValueError, TypeError, KeyError, AttributeError):
            return cls()


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()

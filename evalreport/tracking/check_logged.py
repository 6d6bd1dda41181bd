"""Check that a run contains what was logged: files by size or content, every point of metrics, tags."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from operator import methodcaller
from typing import Any, ClassVar

from evalreport.core.errors import some_of
from evalreport.core.format import pluralize
from evalreport.page.payload import Part, digest_in, manifest_of, state_tag
from evalreport.tracking.ownership import UNFINISHED, Manifest, Points, content, list_file_sizes
from evalreport.tracking.runs import Tracking


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
        lacking_files(tracking, run.info.run_id, sent.sizes, manifest.stands, sent.sizes, where),
        missing_points(tracking, run, sent.metrics, sent.timestamp, where),
        {name: text for name, text in sent.tags.items() if run.data.tags.get(name) != text},
    )
    unfinished = digest_in(tag) != sent.digest
    return CheckedPart(part, lacking, len(sent.sizes), len(sent.metrics), unfinished, manifest, sent.digest)


def lacking_files(
    tracking: Tracking,
    run_id: str,
    sizes: Mapping[str, int],
    stands: Callable[[str, bytes], bool],
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
    stands : callable
        From path and content to whether it is the content that was sent.
    read : paths whose content is compared
    where : str
    """
    there = list_file_sizes(tracking, run_id, sizes, where)

    def is_changed(path: str) -> bool:
        known = there[path]
        if known is None or (known == sizes[path] and path in read):
            return not stands(path, content(tracking, run_id, path, there, where))
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

"""Whether a run holds what was sent into it: files by size or content, metrics point by point, tags."""

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
    """What a run does not hold of what was sent into it.

    Parameters
    ----------
    files : mapping from path to str
        ``missing`` or ``changed``.
    metrics : mapping from key to ((step, value), …)
        The points that are not there.
    tags : mapping from name to text
        As they should be.

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
        """Return the names of what is lacking."""
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
    lacking : Lacking
    files, metrics : int
        How many were looked at.
    unfinished : bool
        Whether a logging is under way or was cut short.
    manifest : Manifest
    digest : str
        Of what was logged, by the manifest, or by the tag where that is lost.
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
        """Whether all is there and as it was sent."""
        return not self.missing and not self.incomplete

    @property
    def trouble(self) -> str:
        """What is wrong, to follow "it had"."""
        lost = f"lost or changed {self.missing}" if self.missing else ""
        return " and ".join(filter(None, ("an unfinished logging" if self.incomplete else "", lost)))

    def __str__(self) -> str:
        if self.whole:
            return f"verified {pluralize(self.files, 'file')}, {pluralize(self.metrics, 'metric')}"
        return f"not whole: {self.trouble}"


def check_part(tracking: Tracking, run: Any, part: Part, where: str) -> CheckedPart | None:
    """Hold a part of a run against its manifest: every file by its content, every point of every metric.

    Returns
    -------
    CheckedPart or None
        None where nothing of this part was ever logged.

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
    """Return the files that are missing or changed: by their sizes, and some by their content.

    Parameters
    ----------
    tracking : Tracking
    run_id : str
    sizes : mapping from path to bytes
        Of what was sent.
    stands : callable
        From path and content to whether that is what was sent.
    read : paths whose content is looked at
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
    """Return the points that a run does not hold.

    A single value is there when it is what the run shows; of a curve, of which a run shows the last point
    alone, the history is asked for.

    Parameters
    ----------
    tracking : Tracking
    run : mlflow.entities.Run
    metrics : mapping from key to ((step, value), …)
    timestamp : int
        That the points of a curve bear.
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
    """Return the values of a metric that bear a timestamp, by step."""
    held: dict[int, list[float]] = {}
    for entry in tracking.ask(methodcaller("get_metric_history", run_id, key), where):
        if entry.timestamp == timestamp:
            held.setdefault(entry.step, []).append(entry.value)
    return held


def _equal(one: float, other: float) -> bool:
    """Tell whether two values are one: databases keep 15 digits at least."""
    return math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-300)

"""What one logging sent into a run: kept there, so that the run can be checked against it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

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
    >>> sent = Sent("ab12", 5, {"eval/f1": ((0, 0.75),)}, {"evalreport.task": "binary"}, {"a.json": 2})
    >>> Sent.read(sent.as_dict()) == sent
    True
    >>> Sent.read({"digest": "ab12"}) is None
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

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        return {
            "digest": self.digest,
            "timestamp": self.timestamp,
            "metrics": {key: list(map(list, points)) for key, points in self.metrics.items()},
            "tags": dict(self.tags),
            "sizes": dict(self.sizes),
        }

    @classmethod
    def read(cls, data: Any) -> Sent | None:
        """Return what JSON holds; None of what is no such thing."""
        try:
            metrics = {str(key): tuple(map(_point, points)) for key, points in data["metrics"].items()}
            tags = {str(name): str(text) for name, text in data["tags"].items()}
            sizes = {str(path): int(size) for path, size in data["sizes"].items()}
            return cls(str(data["digest"]), int(data["timestamp"]), metrics, tags, sizes)
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
            return None


def _point(pair: Any) -> tuple[int, float]:
    step, value = pair
    if not math.isfinite(value):
        raise ValueError(value)
    return int(step), float(value)

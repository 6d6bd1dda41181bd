"""What one logging sent into a run: kept there, so that the run can be checked against it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

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
    >>> from evalreport.codec import decode, encode
    >>> sent = Sent("ab12", 5, {"eval/f1": ((0, 0.75),)}, {"evalreport.task": "binary"}, {"a.json": 2})
    >>> decode(Sent, encode(sent)) == sent
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

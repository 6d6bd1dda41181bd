"""Whose turn it is to write into a run: a mark in a tag, the last of which wins.

MLflow has no locks and its tags know no "set unless it is set". So whoever wants to write sets its own mark
where no living one stands, waits until all who saw the same emptiness have set theirs, and writes if its
own is still there; before every further write it looks again (Fischer's algorithm, as in L. Lamport, "A
fast mutual exclusion algorithm", ACM TOCS 5, 1987). Only the one whose mark stands goes on, and a mark that
stands is always somebody's: of several at once exactly one completes.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

UNFINISHED = "unfinished"
"""What the digest tag begins with while a logging is under way, or since it was cut short."""
SETTLE = 0.3
"""Seconds between setting a mark and believing it: longer than a tag takes to be set after it was read.
One that takes still longer is noticed at the next write."""
STALE = 10 * 60 * 1000
"""Milliseconds after which a mark of another machine is taken for one of the dead. The longest step between
two renewals, the upload of a few files, ends after the time limits of its requests."""
RENEWED = 60 * 1000
"""Milliseconds after which a mark is renewed while its owner writes."""
_FORM = re.compile(
    rf"{UNFINISHED} (?P<token>\w{{1,32}}) on (?P<machine>\w{{1,32}})/(?P<process>\d{{1,10}}) "
    r"since (?P<since>\d{1,15}) at (?P<timestamp>\d{1,15}) of (?P<digest>\S+)"
)
_LIVING: set[str] = set()
"""Tokens of the loggings under way in this process."""
_LOCK = threading.Lock()


@dataclass(frozen=True)
class Mark:
    """A logging that is under way, or was cut short.

    Parameters
    ----------
    token : str
        Of this logging alone.
    machine : str
        Digest of the machine, its start, and its space of process numbers.
    process : int
    since : int
        When it was set or renewed, milliseconds since 1970.
    timestamp : int
        Of the metrics that are being written.
    digest : str
        Of the payload.

    Examples
    --------
    >>> mark = Mark("ab", "cd", 7, 1000, 900, "ef")
    >>> mark.text
    'unfinished ab on cd/7 since 1000 at 900 of ef'
    >>> Mark.read(mark.text) == mark, Mark.read("unfinished") is None
    (True, True)
    >>> mark.alive(1000 + STALE), mark.alive(1001 + STALE)
    (True, False)
    """

    token: str
    machine: str
    process: int
    since: int
    timestamp: int
    digest: str

    @classmethod
    def new(cls, timestamp: int, digest: str) -> Mark:
        """Return a mark of this process and this moment."""
        return cls(uuid4().hex[:12], _machine(), os.getpid(), now(), timestamp, digest)

    @property
    def text(self) -> str:
        """The value of the tag."""
        return (
            f"{UNFINISHED} {self.token} on {self.machine}/{self.process} "
            f"since {self.since} at {self.timestamp} of {self.digest}"
        )

    @classmethod
    def read(cls, tag: str) -> Mark | None:
        """Return the mark that a tag holds, if it holds one."""
        found = _FORM.fullmatch(tag)
        if found is None:
            return None
        numbers = {name: int(found[name]) for name in ("process", "since", "timestamp")}
        return cls(token=found["token"], machine=found["machine"], digest=found["digest"], **numbers)

    def alive(self, at: int) -> bool:
        """Tell whether its logging may be under way: seen exactly on the same machine, else by its age."""
        if self.machine == _machine():
            if self.process == os.getpid():
                return self.token in _LIVING
            if os.name == "posix":
                return _runs(self.process)
        return at - self.since <= STALE


@contextmanager
def living(mark: Mark) -> Iterator[None]:
    """Count a logging as under way while inside."""
    with _LOCK:
        _LIVING.add(mark.token)
    try:
        yield
    finally:
        with _LOCK:
            _LIVING.discard(mark.token)


def now() -> int:
    """Return the time in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _machine() -> str:
    parts = [platform.node()]
    for path in ("/proc/sys/kernel/random/boot_id", "/proc/self/ns/pid"):
        try:
            place = Path(path)
            parts.append(str(place.readlink()) if place.is_symlink() else place.read_text(encoding="ascii"))
        except OSError:
            parts.append("")
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]

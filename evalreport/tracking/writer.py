"""Writing into a run, while its digest tag shows that a logging is in progress.

MLflow has no locks, and a tag cannot be set on the condition that it is not set yet. So nobody waits: the
last one that sets the tag goes on, and every other one notices it before its next write and stops with an
error. A logging that has died blocks nobody, whatever its tag contains. Whether one logging is complete is
decided by what the run contains at the end: files, metrics, tags, and last the digest and the manifest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from operator import methodcaller
from typing import Any
from uuid import uuid4

from evalreport.core.errors import RunNotFoundError, ServerError, UsageError
from evalreport.tracking.interface import Tracking

UNFINISHED = "unfinished"
"""How the digest tag begins while a logging is in progress, or after it was interrupted."""


@dataclass
class Writer:
    """One logging into a run.

    Parameters
    ----------
    tracking : Tracking
    run_id : str
    tag : str
        Name of the digest tag.
    before : str
        Value of the tag before this logging.
    where : str
        The run, for errors.
    mark : str
        Value of the tag while this logging is in progress.
    wrote : bool
        Whether anything but the tag was sent.
    """

    tracking: Tracking
    run_id: str
    tag: str
    before: str
    where: str
    mark: str = field(default_factory=lambda: f"{UNFINISHED} {uuid4().hex[:12]}")
    wrote: bool = False

    def begin(self) -> None:
        """Set the tag, and check that it is set.

        Raises
        ------
        UsageError
            Another logging began at the same time.
        ServerError
            The tag was not set.
        """
        try:
            self.tracking.ask(methodcaller("set_tag", self.run_id, self.tag, self.mark), self.where)
        except ServerError:
            # Of two that create the tag at once a database refuses one; or only the answer was lost.
            if self._run().data.tags.get(self.tag, "") == self.before:
                raise
        self.look()

    def look(self) -> Any:
        """Return the run, if it still exists and no other logging has begun.

        Raises
        ------
        RunNotFoundError
            It was deleted meanwhile: it would still accept artifacts.
        UsageError
            Another logging has begun.
        ServerError
            The server did not store our tag.
        """
        run = self._run()
        refuse_deleted(run, self.where)
        tag = run.data.tags.get(self.tag, "")
        if tag == self.before:
            raise not_stored(f"the tag {self.tag}", self.where)
        if tag != self.mark:
            raise concurrent_logging_error(self.run_id, self.where) if self.wrote else busy(self.where)
        return run

    def write(self, call: Callable[[Any], object]) -> None:
        """Write, if no other logging has begun."""
        self.look()
        self.wrote = True
        try:
            self.tracking.ask(call, self.where)
        except UsageError:
            self.look()  # a run that was deleted meanwhile is refused as a wrong parameter
            raise

    def end(self, state: str) -> None:
        """Set the state of a complete logging, and check that it is set.

        Raises
        ------
        UsageError
            Another logging has begun.
        ServerError
            The server did not store it.
        """
        for _ in range(2):
            self.write(methodcaller("set_tag", self.run_id, self.tag, state))
            tag = self._run().data.tags.get(self.tag, "")
            if tag == state:
                return
            if tag != self.mark:
                raise concurrent_logging_error(self.run_id, self.where)
        raise not_stored(f"the tag {self.tag}", self.where)

    def _run(self) -> Any:
        return self.tracking.ask(methodcaller("get_run", self.run_id), self.where)


def refuse_deleted(run: Any, where: str) -> None:
    """Refuse a deleted run: it refuses metrics but accepts artifacts.

    Raises
    ------
    RunNotFoundError
    """
    if run.info.lifecycle_stage == "deleted":
        command = f"mlflow runs restore --run-id {run.info.run_id}"
        raise RunNotFoundError(f"{where} is deleted", fix=f"restore it with `{command}`")


def busy(where: str) -> UsageError:
    """Return the error of a run that another logging writes into, before this one has written anything."""
    return UsageError(
        "another logging is writing into this run", where=where, fix="wait until it has ended, and log again"
    )


def concurrent_logging_error(run_id: str, where: str) -> UsageError:
    """Return the error of a run that two loggings have written into at the same time."""
    return UsageError(
        "another logging is writing into this run, which may now contain parts of both",
        where=where,
        fix=f"wait until it has ended, then run `evalreport verify --run-id {run_id} --repair`",
    )


def not_stored(what: str, where: str) -> ServerError:
    """Return the error of a server that accepts something and does not store it."""
    return ServerError(
        f"the server accepted what was sent, and does not hold {what}",
        where=where,
        fix="look for another logging at the same time, or a proxy that answers in the server's place; "
        "the same command sends what is missing",
    )

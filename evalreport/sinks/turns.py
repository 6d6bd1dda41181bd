"""One logging's turn to write into a run: taken, looked after at every write, and ended by the digest."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from operator import methodcaller
from typing import Any

from evalreport.errors import EvalreportError, LoggingInterrupted, RunNotFoundError, ServerError, UsageError
from evalreport.sinks.marks import RENEWED, SETTLE, Mark, living, now
from evalreport.sinks.sink import Tracking


@dataclass
class Turn:
    """The turn of one logging.

    Parameters
    ----------
    tracking : Tracking
    run_id : str
    tag : str
        The digest tag, which holds the mark meanwhile.
    before : str
        What the tag held before.
    mark : Mark
    where : str
    wrote : bool
        Whether anything but the mark was sent.
    """

    tracking: Tracking
    run_id: str
    tag: str
    before: str
    mark: Mark
    where: str
    wrote: bool = False

    def look(self) -> Any:
        """Return the run if it is still there and ours to write into; keep the mark fresh.

        Raises
        ------
        RunNotFoundError
            It was deleted meanwhile: it would still take artifacts.
        UsageError
            Another logging has taken its turn.
        """
        run = self._ours(self.tracking.ask(methodcaller("get_run", self.run_id), self.where))
        if now() - self.mark.since > RENEWED:
            self.mark = replace(self.mark, since=now())
            self._set(self.mark.text)
        return run

    def _ours(self, run: Any) -> Any:
        refuse_deleted(run, self.where)
        held = Mark.read(run.data.tags.get(self.tag, ""))
        if held is None or held.token != self.mark.token:
            raise busy(self.where)
        return run

    def write(self, call: Callable[[Any], object]) -> None:
        """Write, after a look at the run."""
        self.look()
        self.wrote = True
        try:
            self.tracking.ask(call, self.where)
        except UsageError:
            self.look()  # a run that was deleted meanwhile is refused as a wrong parameter
            raise

    def end(self, digest: str) -> None:
        """Set the digest, and see that it is there.

        Raises
        ------
        ServerError
        """
        for _ in range(2):
            self.write(methodcaller("set_tag", self.run_id, self.tag, digest))
            if self._tag() == digest:
                return
        raise swallowed(f"the tag {self.tag}", self.where)

    def give_back(self) -> None:
        """Put the tag as it was, if our mark still stands and nothing was written."""
        held = Mark.read(self._tag())
        if self.wrote or held is None or held.token != self.mark.token:
            return
        if self.before:
            self._set(self.before)
        else:
            self.tracking.ask(methodcaller("delete_tag", self.run_id, self.tag), self.where)

    def _tag(self) -> str:
        run = self.tracking.ask(methodcaller("get_run", self.run_id), self.where)
        return str(run.data.tags.get(self.tag, ""))

    def _set(self, text: str) -> None:
        self.tracking.ask(methodcaller("set_tag", self.run_id, self.tag, text), self.where)

    def take(self) -> Any:
        """Set the mark, wait until whoever saw the same has set theirs, and return the run.

        Raises
        ------
        UsageError
            Another logging writes already, or was later than we and so has the turn.
        ServerError
            The mark was taken and is not there.
        """
        run = self.tracking.ask(methodcaller("get_run", self.run_id), self.where)
        refuse_deleted(run, self.where)
        if run.data.tags.get(self.tag, "") != self.before:
            raise busy(self.where)
        try:
            self._set(self.mark.text)
        except ServerError:  # two that make one tag at the same moment: a database refuses the second
            held = Mark.read(self._tag())
            if held is None:
                raise
            if held.token != self.mark.token:  # else only the answer was lost
                raise busy(self.where) from None
        time.sleep(SETTLE)
        run = self.tracking.ask(methodcaller("get_run", self.run_id), self.where)
        if run.data.tags.get(self.tag, "") == self.before:
            raise swallowed(f"the tag {self.tag}", self.where)
        return self._ours(run)


@contextmanager
def turn(
    tracking: Tracking, run_id: str, tag: str, before: str, mark: Mark, where: str
) -> Iterator[tuple[Turn, Any]]:
    """Have the turn, and the run as it is then, while inside; what wrote nothing leaves it as it was.

    Raises
    ------
    LoggingInterrupted
        The user has stopped it after something was written.
    """
    mine = Turn(tracking, run_id, tag, before, mark, where)
    with living(mark):
        try:
            run = mine.take()
            yield mine, run
        except BaseException as error:
            with suppress(EvalreportError):
                mine.give_back()
            if mine.wrote and isinstance(error, KeyboardInterrupt):
                raise LoggingInterrupted(where) from None
            raise


def refuse_deleted(run: Any, where: str) -> None:
    """Refuse a deleted run: it refuses metrics but takes artifacts.

    Raises
    ------
    RunNotFoundError
    """
    if run.info.lifecycle_stage == "deleted":
        command = f"mlflow runs restore --run-id {run.info.run_id}"
        raise RunNotFoundError(f"{where} is deleted", fix=f"restore it with `{command}`")


def busy(where: str) -> UsageError:
    """Return the error of a run that somebody else writes into."""
    return UsageError(
        "another logging is writing into this run", where=where, fix="wait until it has ended, and log again"
    )


def swallowed(what: str, where: str) -> ServerError:
    """Return the error of a server that takes something and does not keep it."""
    return ServerError(
        f"the server took what was sent, and does not hold {what}",
        where=where,
        fix="look for a proxy that answers in the server's place; the same command sends what is missing",
    )

"""All cases: each request of a logging with each kind of fault, each end at each question to the store."""

from __future__ import annotations

import re
import signal
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from evalreport.tracking.client import Store, connect
from tests.faults.harness import (
    LABELS,
    SCORES,
    check_claims,
    check_mended,
    check_words,
    ended_at,
    ended_together,
    fresh_run,
    log_command,
    quick,
    said,
)
from tests.faults.proxy import KINDS, FaultyProxy

SERVER_FAULT = (4,)
ANY = re.compile(r"[0-9a-f]{32}|(?<=metric_key=)[^&]*|(?<=experiment_id=)\d+|(?<=facts/)\d+|(?<=\?path=)\d+")
"""Names of runs, experiments and metrics in a request."""
SIGNALS = {"SIGINT": signal.SIGINT, "SIGKILL": signal.SIGKILL}


@dataclass(frozen=True)
class Faults:
    """A proxy before a server, and the address of each."""

    proxy: FaultyProxy
    uri: str
    server: str

    @property
    def store(self) -> Store:
        """The server without the proxy."""
        return connect(self.server)

    def requests(self, table: str = LABELS) -> list[str]:
        """Return the requests that a logging takes when nothing fails, without ids."""
        made = fresh_run(self.store, table=table)
        self.proxy.plan()
        done = said(*log_command(self.uri, made.run_id))
        assert done.code == 0, done.err
        return [ANY.sub("*", request) for request in self.proxy.requests]

    def case(self, at: int, kind: str, *, lasting: bool, table: str = LABELS) -> int:
        """Let request `at` fail, once or from there on, and check what must hold; the exit code."""
        made = fresh_run(self.store, table=table)
        self.proxy.plan(at, kind, lasting=lasting)
        with quick():
            done = said(*log_command(self.uri, made.run_id))
        self.proxy.plan()
        check_words(done, SERVER_FAULT)
        check_claims(self.store, made.run_id, complete=done.code == 0)
        check_mended(self.store, made)
        return done.code


def end_case(store: Store, folder: Path | None, at: int, name: str, *, after: bool) -> int:
    """End the command at a question to the store, and check what must hold; its exit code."""
    made = fresh_run(store, folder)
    code, err = ended_at(log_command(store.uri, made.run_id), at, SIGNALS[name], after=after)
    assert code in (0, 130 if name == "SIGINT" else -9), f"exit {code}: {err}"
    run = store.ask(lambda client: client.get_run(made.run_id))
    if code == 130:
        half = f"interrupted; run {made.run_id[:8]} ({run.info.run_name}) is half logged"
        wrote = bool(run.data.metrics) or listing(store, made.run_id) != ["predictions.csv"]
        assert half in err or ("no half-written file" in err and not wrote), err
    check_claims(store, made.run_id, complete=code == 0)
    check_mended(store, made)
    return code


def together_case(store: Store, folder: Path | None, count: int) -> int:
    """Log one run by several processes at once: a mixture is reported by one of them, and repaired; 0."""
    made = fresh_run(store, folder)
    ends = ended_together(log_command(store.uri, made.run_id), count)
    codes = Counter(code for code, _ in ends)
    assert set(codes) <= {0, 2}, ends
    assert all("another process is logging to this run" in err for code, err in ends if code == 2), ends
    if not any("parts of both" in err for _, err in ends):
        check_claims(store, made.run_id, complete=True)
    check_mended(store, made, "--repair")
    return 0


def listing(store: Store, run_id: str) -> list[str]:
    """Return what stands at the artifact root."""
    return [entry.path for entry in store.ask(lambda client: client.list_artifacts(run_id))]


Attempt: TypeAlias = Callable[[], int]


def server_cases(faults: Faults) -> dict[tuple[str, str], Attempt]:
    """Return every case of the proxy.

    Every request of a small logging, and of a large one those that the small one does not make.
    """
    small, large = faults.requests(), faults.requests(SCORES)
    places = [(LABELS, at) for at in range(1, len(small) + 1)]
    places += [(SCORES, large.index(request) + 1) for request in dict.fromkeys(large) if request not in small]
    cases = [(*place, kind, lasting) for place in places for lasting in (False, True) for kind in KINDS]

    def attempt(table: str, at: int, kind: str, lasting: bool) -> Attempt:
        return lambda: faults.case(at, kind, lasting=lasting, table=table)

    return {
        (
            f"{kind}, {'from there on' if lasting else 'once'}",
            f"{'labels' if table == LABELS else 'scores'}, request {at}",
        ): attempt(table, at, kind, lasting)
        for table, at, kind, lasting in cases
    }


def end_cases(store: Store, folder: Path | None, most: int) -> dict[tuple[str, str], Attempt]:
    """Return every end of the command."""
    cases = [(at, name, after) for at in range(1, most + 1) for name in SIGNALS for after in (False, True)]

    def attempt(at: int, name: str, after: bool) -> Attempt:
        return lambda: end_case(store, folder, at, name, after=after)

    return {
        (f"{name} {'after' if after else 'before'} the answer", f"question {at}"): attempt(at, name, after)
        for at, name, after in cases
    }


def together_cases(stores: dict[str, tuple[Store, Path | None]]) -> dict[tuple[str, str], Attempt]:
    """Return six and ten processes on each store, thrice."""

    def attempt(name: str, count: int) -> Attempt:
        return lambda: together_case(*stores[name], count)

    return {
        (f"{count} processes, {name}", f"time {time}"): attempt(name, count)
        for name in stores
        for count in (6, 10)
        for time in range(1, 4)
    }

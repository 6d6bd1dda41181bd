"""What benchmarks share: CPU seconds, and results that are told line by line with their bars.

Times are CPU seconds of all threads, imports and first calls left out; ratios are taken in one run, on the
same work. A bar is printed, never asserted: a machine with other things to do must not fail a build.
"""

from __future__ import annotations

import json
import logging
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Result:
    """One measurement.

    Parameters
    ----------
    what : str
        The work.
    figure : str
        What it took, or how fast it went.
    against : str
        The named peer with its own figure, and the ratio.
    bar : str
        What was promised.
    passed : bool or None
        Whether it was kept; None without a bar.
    """

    what: str
    figure: str
    against: str = ""
    bar: str = ""
    passed: bool | None = None

    @property
    def outcome(self) -> str:
        """``pass``, ``missed`` or nothing."""
        return {True: "pass", False: "missed", None: ""}[self.passed]


def cpu(work: Callable[[], Any], times: int = 1) -> float:
    """Return the median CPU seconds of some work."""
    taken = []
    for _ in range(times):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return statistics.median(taken)


def ratio(what: str, own: float, peer: str, other: float, at_least: float | None = None) -> Result:
    """Return how many times longer the peer takes."""
    times = other / own
    against = f"{times:.1f} × {peer} ({other:.2f} s)"
    if at_least is None:
        return Result(what, f"{own:.3f} s", against)
    return Result(what, f"{own:.3f} s", against, f"≥ {at_least:g} ×", times >= at_least)


def limit(what: str, value: float, unit: str, at_most: float | None = None) -> Result:
    """Return a value that should be small."""
    figure = f"{value:.3f} {unit}"
    if at_most is None:
        return Result(what, figure)
    return Result(what, figure, "", f"≤ {at_most:g} {unit}", value <= at_most)


def show(results: Iterable[Result]) -> None:
    """Print results as they come; with ``--to FILE`` also write them as JSON."""
    found = []
    with quiet():
        for result in results:
            found.append(result)
            took = f"{result.what:<64}{result.figure:>12}"
            print(f"{took}  {result.against:<52}{result.bar:>10}  {result.outcome}", flush=True)
    if len(sys.argv) == 3 and sys.argv[1] == "--to":
        Path(sys.argv[2]).write_text(json.dumps([asdict(result) for result in found]), encoding="utf-8")


def table(results: Iterable[Result]) -> str:
    """Return results as a table of Markdown."""
    rows = (f"| {r.what} | {r.figure} | {r.against} | {r.bar} | {r.outcome} |\n" for r in results)
    return "| work | took | against | bar | |\n|---|---|---|---|---|\n" + "".join(rows)


@contextmanager
def quiet() -> Iterator[None]:
    """Leave out what the peers warn of and log."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logging.disable(logging.WARNING)
        yield
        logging.disable(logging.NOTSET)

"""Every fault at every request, tried by several processes and counted."""

from __future__ import annotations

import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import reduce
from multiprocessing import get_context
from pathlib import Path

from evalreport.sources.mlflow_client import connect
from tests.faults.cases import Attempt, Faults, end_cases, server_cases, together_cases
from tests.faults.proxy import FaultyProxy
from tests.tracking import MlflowServer, empty_store, new_database

RESULTS = Path(__file__).with_name("RESULTS.md")
WORKERS = 4
QUESTIONS = 45
"""More than a small logging asks of a store; a signal that would come later does not come."""


@dataclass
class Tried:
    """Cases of one sort: the exit codes of those that held, and what became of the others."""

    title: str
    codes: dict[str, Counter[int]] = field(default_factory=dict)
    broken: list[tuple[str, str]] = field(default_factory=list)
    seconds: float = 0.0

    def __add__(self, other: Tried) -> Tried:
        """Return what two workers have tried."""
        kinds = {**self.codes, **other.codes}
        codes = {kind: self.codes.get(kind, Counter()) + other.codes.get(kind, Counter()) for kind in kinds}
        return Tried(self.title, codes, self.broken + other.broken, max(self.seconds, other.seconds))

    def all(self, cases: Mapping[tuple[str, str], Attempt], worker: int) -> None:
        """Try a worker's share of cases, and tell of each that does not hold."""
        mine = list(cases.items())[worker::WORKERS]
        print(f"{self.title}: {len(mine)} of {len(cases)} cases", flush=True)
        began = time.monotonic()
        for number, ((kind, place), attempt) in enumerate(mine, 1):
            codes = self.codes.setdefault(kind, Counter())
            try:
                codes[attempt()] += 1
            except Exception as error:
                first = str(error).split("\n", 1)[0]
                self.broken.append((kind, f"{place}: {type(error).__name__} {first}"))
                print(f"  does not hold: {kind}, {place}: {first}", flush=True)
                traceback.print_exc(limit=3)
            if number % 20 == 0:
                print(f"  {number} tried, {time.monotonic() - began:.0f} s", flush=True)
        self.seconds = time.monotonic() - began

    def lines(self) -> list[str]:
        """Return the table of what was tried."""
        count = sum(sum(codes.values()) for codes in self.codes.values()) + len(self.broken)
        lost = Counter(kind for kind, _ in self.broken)
        rows = [
            f"| {kind} | {sum(codes.values()) + lost[kind]} | {lost[kind]} | {_told(codes)} |"
            for kind, codes in self.codes.items()
        ]
        head = ["| fault | cases | do not hold | of those that hold |", "|---|---|---|---|"]
        broken = [f"- {kind}: {what}" for kind, what in self.broken]
        return [
            f"## {self.title}",
            "",
            f"{count} cases in {self.seconds / 60:.0f} minutes.",
            "",
            *head,
            *rows,
            "",
            *broken,
        ]


def _told(codes: Counter[int]) -> str:
    return ", ".join(f"{count} exit {code}" for code, count in sorted(codes.items()))


HEAD = """# Faults: what the last whole run found

Written by `python -m tests.faults`. Each request of a logging fails in each way, once and from there on.
A case holds when a failure is told in three lines with exit 4, what the run and the command claim is so,
and the same command, undisturbed, makes the run whole with each point in it once.
"""


def report(tried: list[Tried]) -> str:
    """Return what was found as Markdown."""
    return "\n".join([HEAD, *(line for part in tried for line in part.lines())]).rstrip() + "\n"


def share(worker: int, every: int) -> list[Tried]:
    """Try one worker's share of all, on a server behind the proxy and on SQLite."""
    parts = [Tried(title) for title in ("Faults of a server", "Ends on SQLite", "Several at once")]
    served, ended, together = parts
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name in ("server", "sqlite"):
            (folder / name).mkdir()
        template = new_database(folder / "template.db")
        local = empty_store(template, folder / "sqlite")
        with MlflowServer.started(template, folder / "server") as server:
            proxy = FaultyProxy(server.uri)
            with proxy.running() as uri:
                served.all(server_cases(Faults(proxy, uri, server.uri), every), worker)
            stores = {"a server": (connect(server.uri), None), "SQLite": (local, folder / "sqlite")}
            together.all(together_cases(stores), worker)
        ended.all(end_cases(local, folder / "sqlite", QUESTIONS, every), worker)
    return parts


def main(every: int = 1) -> int:
    """Try all, by several processes at once: much of a case is waiting."""
    with ProcessPoolExecutor(WORKERS, get_context("spawn")) as pool:
        shares = list(pool.map(share, range(WORKERS), [every] * WORKERS))
    tried = [reduce(Tried.__add__, parts) for parts in zip(*shares, strict=True)]
    found = report(tried)
    print(found)
    if every == 1:
        RESULTS.write_text(found, encoding="utf-8")
    return int(any(part.broken for part in tried))

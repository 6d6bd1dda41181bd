"""Every fault at every request, tried by several processes in a seeded order, and counted."""

from __future__ import annotations

import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import reduce
from importlib.util import find_spec
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path

from evalreport.tracking.client import connect, quiet
from tests.faults.cases import Attempt, Faults, end_cases, server_cases, together_cases
from tests.faults.proxy import FaultyProxy
from tests.tracking import MlflowServer, empty_store, new_database

RESULTS = Path(__file__).with_name("RESULTS.md")
HEAD = """# Faults: what the last run found

Written by `python -m tests.faults`. Each request of a logging fails in each way, once and from there on.
A case holds when a failure is told in three lines with exit 4, what the run and the command claim is so,
and the same command, undisturbed, makes the run whole with each point in it once.
"""
WORKERS = 4
SEED = 11
QUESTIONS = 45
"""More than a small logging asks of a store; a signal that would come later does not come."""
ABSENT = ("dbruntime", "pyspark", "IPython")
"""Packages that MLflow looks for at every request, in vain a fifth of a case's time."""


@dataclass
class Tried:
    """Cases of one sort: how many there are, the exit codes of those that held, and the others."""

    title: str
    known: int
    codes: dict[str, Counter[int]] = field(default_factory=dict)
    broken: list[tuple[str, str]] = field(default_factory=list)

    def __add__(self, other: Tried) -> Tried:
        """Return what two workers have tried."""
        kinds = sorted({**self.codes, **other.codes})
        codes = {kind: self.codes.get(kind, Counter()) + other.codes.get(kind, Counter()) for kind in kinds}
        return Tried(self.title, self.known, codes, self.broken + other.broken)

    def one(self, kind: str, place: str, attempt: Attempt) -> None:
        """Try a case, and tell of it where it does not hold."""
        codes = self.codes.setdefault(kind, Counter())
        try:
            codes[attempt()] += 1
        except Exception as error:
            first = str(error).split("\n", 1)[0]
            self.broken.append((kind, f"{place}: {first or type(error).__name__}"))
            print(f"  does not hold: {kind}, {place}: {first}", flush=True)
            traceback.print_exc(limit=3)

    def lines(self) -> list[str]:
        """Return the table of what was tried."""
        lost = Counter(kind for kind, _ in self.broken)
        rows = [
            f"| {kind} | {sum(codes.values()) + lost[kind]} | {lost[kind]} | {_listed(codes)} |"
            for kind, codes in self.codes.items()
        ]
        tried = sum(sum(codes.values()) for codes in self.codes.values()) + len(self.broken)
        head = [
            f"## {self.title}",
            "",
            f"{tried} of {self.known} cases tried, {len(self.broken)} do not hold.",
        ]
        table = ["", "| fault | tried | do not hold | of those that hold |", "|---|---|---|---|", *rows, ""]
        return [*head, *table, *(f"- {kind}: {what}" for kind, what in self.broken)]


def _listed(codes: Counter[int]) -> str:
    return ", ".join(f"{count} exit {code}" for code, count in sorted(codes.items()))


def share(worker: int, every: int, until: float, template: Path) -> list[Tried]:
    """Try one worker's share of all, on a server behind the proxy and on SQLite, until time is over."""
    for name in ABSENT:
        if find_spec(name) is None:
            sys.modules[name] = None  # type: ignore[assignment]
    with quiet(), tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name in ("server", "sqlite"):
            (folder / name).mkdir()
        local = empty_store(template, folder / "sqlite")
        with MlflowServer.started(template, folder / "server") as server:
            proxy = FaultyProxy(server.uri)
            with proxy.running() as uri:
                stores = {"a server": (connect(server.uri), None), "SQLite": (local, folder / "sqlite")}
                sorts = {
                    "Faults of a server": server_cases(Faults(proxy, uri, server.uri)),
                    "Ends on SQLite": end_cases(local, folder / "sqlite", QUESTIONS),
                    "Several at once": together_cases(stores),
                }
                parts = [Tried(title, len(cases)) for title, cases in sorts.items()]
                whole = [
                    (part, *case)
                    for part, cases in zip(parts, sorts.values(), strict=True)
                    for case in cases.items()
                ]
                random.Random(SEED).shuffle(whole)  # noqa: S311
                mine = whole[worker * every :: WORKERS * every]
                for number, (part, (kind, where), attempt) in enumerate(mine, 1):
                    if time.time() > until:
                        break
                    part.one(kind, where, attempt)
                    if number % 20 == 0:
                        print(f"  {time.strftime('%X')} worker {worker}: {number} of {len(mine)}", flush=True)
    return parts


def main(every: int = 1, minutes: float = 600) -> int:
    """Try all, by several processes at once, as much of a case is waiting; write what a whole run found."""
    until = time.time() + 60 * minutes
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(WORKERS, get_context("spawn")) as pool:
        same = (repeat(every), repeat(until), repeat(new_database(Path(folder) / "template.db")))
        shares = list(pool.map(share, range(WORKERS), *same))
    tried = [reduce(Tried.__add__, parts) for parts in zip(*shares, strict=True)]
    found = "\n".join([HEAD, *(line for part in tried for line in part.lines())]).rstrip() + "\n"
    print(found)
    if every == 1:
        RESULTS.write_text(found, encoding="utf-8")
    return int(any(part.broken for part in tried))

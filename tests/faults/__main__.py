"""Every fault at every request: `python -m tests.faults [EVERY]` tries each EVERYth case and counts."""

from __future__ import annotations

import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from evalreport.sources.mlflow_client import connect
from tests.faults.cases import Attempt, Faults, end_cases, server_cases, together_cases
from tests.faults.proxy import FaultyProxy
from tests.tracking import MlflowServer, empty_store, new_database

QUESTIONS = 60
"""More than a logging asks of a store; a signal that would come later does not come."""


def tried(title: str, cases: Mapping[tuple[str, str], Attempt]) -> int:
    """Try cases, print a line for each kind and one for each that does not hold; how many do not."""
    print(f"{title}: {len(cases)} cases", flush=True)
    ends: dict[str, Counter[int]] = {}
    wrong, began = 0, time.monotonic()
    for (kind, place), attempt in cases.items():
        try:
            ends.setdefault(kind, Counter())[attempt()] += 1
        except Exception as error:
            wrong += 1
            first = str(error).split("\n", 1)[0]
            print(f"  does not hold: {kind}, {place}: {type(error).__name__} {first}", flush=True)
            traceback.print_exc(limit=3)
    for kind, codes in ends.items():
        told = ", ".join(f"{count} exit {code}" for code, count in sorted(codes.items()))
        print(f"  {kind}: {sum(codes.values())} held ({told})")
    print(f"  {wrong} do not hold, {time.monotonic() - began:.0f} s", flush=True)
    return wrong


def main(every: int = 1) -> int:
    """Try all on a server behind the proxy, and on SQLite."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name in ("server", "sqlite"):
            (folder / name).mkdir()
        template = new_database(folder / "template.db")
        local = empty_store(template, folder / "sqlite")
        with MlflowServer.started(template, folder / "server") as server:
            proxy = FaultyProxy(server.uri)
            with proxy.running() as uri:
                wrong = tried("faults of a server", server_cases(Faults(proxy, uri, server.uri), every))
            stores = {"a server": (connect(server.uri), None), "SQLite": (local, folder / "sqlite")}
            wrong += tried("several at once", together_cases(stores))
        wrong += tried("ends on SQLite", end_cases(local, folder / "sqlite", QUESTIONS, every))
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))

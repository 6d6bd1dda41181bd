"""One small fault at a time: `python -m tests.mutants [COUNT [MINUTES]]` tries COUNT of them.

A fault is put into a copy of the checkout, never into the checkout, and is tried by the tests that run its
line, then by their neighbours, the fastest first. What RESULTS.md says of a survivor stays while it survives.
"""

from __future__ import annotations

import compileall
import json
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Generator, Sequence
from pathlib import Path
from py_compile import PycInvalidationMode
from types import FrameType
from typing import Any, NamedTuple

import pytest

from tests.mutants.sites import Site, sites

ROOT = Path(__file__).parents[2]
RESULTS = Path(__file__).with_name("RESULTS.md")
FLOORS = ("gate", "intervals", "comparison", "thresholds")
SEED = 12
TRY = 8.0
"""Seconds of tests for one fault, as they took without it; six times that must be an endless loop."""
MODES = ("-p", "no:cacheprovider", "-p", "no:xdist", "-q", "-m", "not server and not browser and not slow")
HEAVY = ("numpy", "pandas", "scipy.stats", "scipy.optimize", "sklearn.metrics", "pyarrow.parquet")
"""Imported once, before the processes part: none of them imports the package."""


class Mutant(NamedTuple):
    """A fault in a module."""

    path: str
    site: Site

    def shown(self, copy: Path) -> str:
        """Return the line before and after, as a cell of a table."""
        source = (copy / self.path).read_bytes()
        after = self.site.put(source).splitlines()[self.site.line - 1].decode().strip()
        before = source.splitlines()[self.site.line - 1].decode().strip()
        return f"`{before}` → `{after}`".replace("|", "\\|")


class Tracer:
    """Which test runs which line of the floors, and how long it takes."""

    def __init__(self, copy: Path) -> None:
        self.lines: dict[str, set[str]] = {}
        self.seconds: dict[str, float] = {}
        self._folders = tuple(f"{copy / 'evalreport' / floor}{os.sep}" for floor in FLOORS)
        self._root = len(str(copy)) + 1
        self._test = ""

    def _trace(self, frame: FrameType, _event: str, _arg: object) -> Any:
        name = frame.f_code.co_filename
        if not name.startswith(self._folders):
            return None
        self.lines.setdefault(f"{name[self._root :]}:{frame.f_lineno}", set()).add(self._test)
        return self._trace

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Trace one test with its fixtures."""
        self._test, began = item.nodeid, time.monotonic()
        sys.settrace(self._trace)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            self.seconds[item.nodeid] = time.monotonic() - began

    def tests(self, path: str, line: int) -> list[str]:
        """Return the tests of a line, the fastest first, then others of their files: it may be cached.

        A line outside of functions is run by the import: every test of its module stands for it.
        """
        module = (tests for place, tests in self.lines.items() if place.startswith(f"{path}:"))
        hit = self.lines.get(f"{path}:{line}") or set().union(*module)
        files = {test.split("::")[0] for test in hit}
        near = [test for test in self.seconds if test.split("::")[0] in files]
        chosen, left = list[str](), TRY
        for test in sorted(near, key=lambda test: (test not in hit, self.seconds[test])):
            left -= self.seconds[test]
            if chosen and left < 0:
                break
            chosen.append(test)
        return chosen


def _pytest(copy: Path, words: Sequence[str], kept: Path | None = None) -> None:
    """Run tests in the copy, in a process of its own; keep what a tracer saw."""
    os.chdir(copy)
    sys.path[:] = [str(copy), *(entry for entry in sys.path if Path(entry).resolve() != ROOT)]
    os.environ["PYTHONPATH"] = str(copy)
    for name in [name for name in sys.modules if name.split(".")[0] in {"tests", "evalreport"}]:
        del sys.modules[name]
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    tracer = Tracer(copy)
    code = pytest.main([*MODES, *words], plugins=[tracer] if kept else [])
    if kept:
        kept.write_text(json.dumps([{k: sorted(v) for k, v in tracer.lines.items()}, tracer.seconds]))
    os._exit(int(code))


def _apart(copy: Path, words: Sequence[str], seconds: float, kept: Path | None = None) -> int | None:
    """Return the exit code of tests in a process of its own, None where time ended it."""
    process = multiprocessing.get_context("fork").Process(target=_pytest, args=(copy, words, kept))
    process.start()
    process.join(seconds)
    process.kill()
    process.join()
    return None if process.exitcode == -9 else process.exitcode


def sample(copy: Path, count: int) -> list[Mutant]:
    """Return a seeded sample, as many of each folder, in turns."""
    draw, folders = random.Random(SEED), []  # noqa: S311
    for floor in FLOORS:
        modules = sorted((copy / "evalreport" / floor).glob("*.py"))
        found = [(m, site) for m in modules for site in sites(m.read_bytes())]
        every = [Mutant(m.relative_to(copy).as_posix(), site) for m, site in found]
        folders.append(draw.sample(every, len(every)))
    return [mutant for turn in zip(*folders, strict=False) for mutant in turn][:count]


def attempt(copy: Path, tracer: Tracer, mutant: Mutant) -> str:
    """Return what becomes of a fault: killed, out of time, survived, or not run by any test."""
    tests = tracer.tests(mutant.path, mutant.site.line)
    if not tests:
        return "not run"
    path = copy / mutant.path
    source = path.read_bytes()
    path.write_bytes(mutant.site.put(source))
    code = _apart(copy, ["-x", *tests], 6 * TRY)
    path.write_bytes(source)
    return {None: "out of time", 0: "survived"}.get(code, "killed")


def write(copy: Path, found: dict[Mutant, str]) -> None:
    """Write the shares and the survivors; what was said of one stays."""
    old = RESULTS.read_text(encoding="utf-8") if RESULTS.exists() else ""
    rows = [line[2:-1].split(" | ") for line in old.splitlines() if line.startswith("| evalreport/")]
    said = {(row[0].split(":")[0], row[1]): row[3].strip() for row in rows}
    lines = [
        "# Mutants: what the last run found\n",
        "Written by `python -m tests.mutants`: a seeded sample of small faults, as many in each folder,",
        f"each tried by {TRY:.0f} seconds of tests that run its line. The last column is written by hand.\n",
        "| folder | tried | killed | out of time | survived | not run by a test | share killed |",
        "|---|---|---|---|---|---|---|",
    ]
    for floor in FLOORS:
        tally = Counter(end for mutant, end in found.items() if mutant.path.split("/")[1] == floor)
        ends = [tally[end] for end in ("killed", "out of time", "survived", "not run")]
        share = f"{ends[0] / max(sum(ends), 1):.0%}"
        lines.append(f"| {' | '.join(map(str, [floor, sum(ends), *ends, share]))} |")
    lines += ["\n## Survivors\n", "| place | before → after | outcome | why |", "|---|---|---|---|"]
    for mutant, end in sorted(found.items()):
        if end != "killed":
            key = (mutant.path, mutant.shown(copy))
            lines.append(f"| {mutant.path}:{mutant.site.line} | {key[1]} | {end} | {said.get(key, '')} |")
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main(count: int = 160, minutes: int = 60) -> int:
    """Trace the tests once, then try the faults."""
    end, found = time.monotonic() + 60 * minutes, dict[Mutant, str]()
    for name in HEAVY:
        __import__(name)
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name).resolve() / "copy"
        left = shutil.ignore_patterns(".*", "__pycache__", "gallery", "demo-output")
        shutil.copytree(ROOT, copy, ignore=left)
        compileall.compile_dir(copy, quiet=2, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
        floors = [f"{top}/{floor}" for floor in FLOORS for top in ("tests", "evalreport")]
        kept, tracer = copy.with_name("traced.json"), Tracer(copy)
        if code := _apart(copy, floors, 60.0 * minutes, kept):
            print(f"The tests fail without a fault: exit {code}.", file=sys.stderr)
            return 1
        lines, tracer.seconds = json.loads(kept.read_text())
        tracer.lines = {place: set(tests) for place, tests in lines.items()}
        for mutant in sample(copy, count):
            if time.monotonic() > end:
                break
            found[mutant] = attempt(copy, tracer, mutant)
            print(found[mutant], f"{mutant.path}:{mutant.site.line}", mutant.shown(copy), flush=True)
            write(copy, found)
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3])))

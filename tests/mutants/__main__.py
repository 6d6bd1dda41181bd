"""One small fault at a time: `python -m tests.mutants [COUNT [MINUTES]]` tries COUNT of them.

A fault is put into a copy of the checkout, never into the checkout, and is tried by the tests of its folder
that import its module, and by the module's own examples. What RESULTS.md says of a survivor stays while it
survives.
"""

from __future__ import annotations

import compileall
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import NamedTuple

import pytest

from tests.mutants.sites import Site, sites

ROOT = Path(__file__).parents[2]
RESULTS = Path(__file__).with_name("RESULTS.md")
FOLDERS = ("features/gate", "intervals", "comparison", "thresholds")
"""Packages in which faults are put; their tests are in the folder of the same name."""
SEED = 27
LONGEST = 150.0
"""Seconds of tests of one fault, which need 30 on an idle core: longer is an endless loop."""
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


def folder_of(path: str) -> str:
    """Return the package of a module, as its folder below `evalreport`."""
    return Path(path).parent.relative_to("evalreport").as_posix()


def tests_of(copy: Path, path: str) -> list[str]:
    """Return a module, for its examples, and the tests of its folder that import it; all where none does."""
    folder, module = folder_of(path), path.removesuffix(".py").replace("/", ".")
    every = sorted((copy / "tests" / folder).glob("test_*.py"))
    own = [file for file in every if f"{module} import" in file.read_text("utf-8")]
    return [path, *(file.relative_to(copy).as_posix() for file in own or every)]


def _pytest(copy: Path, words: Sequence[str]) -> None:
    """Run tests in the copy, in a process of its own."""
    os.chdir(copy)
    sys.path[:] = [str(copy), *(entry for entry in sys.path if Path(entry).resolve() != ROOT)]
    os.environ["PYTHONPATH"] = str(copy)
    for name in [name for name in sys.modules if name.split(".")[0] in {"tests", "evalreport"}]:
        del sys.modules[name]
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os._exit(int(pytest.main([*MODES, *words])))


def _apart(copy: Path, words: Sequence[str]) -> int | None:
    """Return the exit code of tests in a process of its own, None where time ended it."""
    process = multiprocessing.get_context("fork").Process(target=_pytest, args=(copy, words))
    process.start()
    process.join(LONGEST)
    process.kill()
    process.join()
    return None if process.exitcode == -9 else process.exitcode


def sample(copy: Path, count: int) -> list[Mutant]:
    """Return a seeded sample, as many of each folder, in turns."""
    draw, folders = random.Random(SEED), []  # noqa: S311
    for folder in FOLDERS:
        modules = sorted((copy / "evalreport" / folder).glob("*.py"))
        found = [(m, site) for m in modules for site in sites(m.read_bytes())]
        every = [Mutant(m.relative_to(copy).as_posix(), site) for m, site in found]
        folders.append(draw.sample(every, len(every)))
    return [mutant for turn in zip(*folders, strict=False) for mutant in turn][:count]


def attempt(copy: Path, mutant: Mutant) -> str:
    """Return what becomes of a fault: killed, out of time, or survived."""
    path = copy / mutant.path
    source = path.read_bytes()
    path.write_bytes(mutant.site.put(source))
    code = _apart(copy, ["-x", *tests_of(copy, mutant.path)])
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
        "each tried by the tests of its folder that import its module, and by the module's examples.",
        "The last column is written by hand.\n",
        "| folder | tried | killed | out of time | survived | share killed |",
        "|---|---|---|---|---|---|",
    ]
    for folder in FOLDERS:
        tally = Counter(end for mutant, end in found.items() if folder_of(mutant.path) == folder)
        ends = [tally[end] for end in ("killed", "out of time", "survived")]
        share = f"{ends[0] / max(sum(ends), 1):.0%}"
        lines.append(f"| {' | '.join(map(str, [folder, sum(ends), *ends, share]))} |")
    lines += ["\n## Survivors\n", "| place | before → after | outcome | why |", "|---|---|---|---|"]
    for mutant, end in sorted(found.items()):
        if end != "killed":
            key = (mutant.path, mutant.shown(copy))
            lines.append(f"| {mutant.path}:{mutant.site.line} | {key[1]} | {end} | {said.get(key, '')} |")
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main(count: int = 160, minutes: int = 60) -> None:
    """Try the faults."""
    end, found = time.monotonic() + 60 * minutes, dict[Mutant, str]()
    for name in HEAVY:
        __import__(name)
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name).resolve() / "copy"
        left = shutil.ignore_patterns(".*", "__pycache__", "gallery", "demo-output")
        shutil.copytree(ROOT, copy, ignore=left)
        compileall.compile_dir(copy, quiet=2, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
        for mutant in sample(copy, count):
            if time.monotonic() > end:
                break
            found[mutant] = attempt(copy, mutant)
            print(found[mutant], f"{mutant.path}:{mutant.site.line}", mutant.shown(copy), flush=True)
            write(copy, found)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))

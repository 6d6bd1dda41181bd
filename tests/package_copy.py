"""A copy of the package, for tests that follow the recipes of CONTRIBUTING.md in it."""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from multiprocessing import get_context
from multiprocessing.context import ForkServerContext
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "evalreport"
LIBRARIES = [
    "mlflow.store.tracking.sqlalchemy_store",
    "pyarrow.parquet",
    "scipy.stats",
    "seaborn",
    "sklearn.metrics",
]
"""Importing them takes seconds, several times what most commands do after it."""


def copy_package(folder: Path) -> Path:
    """Return the folder, with a copy of the package and its templates in it."""
    shutil.copytree(PACKAGE, folder / "evalreport")  # with compiled modules, which stay valid
    shutil.copytree(PACKAGE.parent / "templates", folder / "templates")
    return folder


def insert(path: Path, after: str, text: str) -> None:
    """Put lines after a piece of text that occurs once."""
    known = path.read_text(encoding="utf-8")
    assert known.count(after) == 1, (path, after)
    path.write_text(known.replace(after, after + text), encoding="utf-8")


def run_python(copy: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python on the copy: `-c` with code, or `-m` with a module.

    The process is forked from one that has imported the libraries, and none of our modules.
    """
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        process = _with_libraries().Process(target=_run, args=(copy, words, dict(os.environ), out, err))
        process.start()
        process.join(120)
        assert process.exitcode is not None, f"{words} takes more than two minutes"
        reported = (path.read_text(encoding="utf-8") for path in (out, err))
        return subprocess.CompletedProcess(words, process.exitcode, *reported)


@cache
def _with_libraries() -> ForkServerContext:
    context = get_context("forkserver")
    context.set_forkserver_preload(LIBRARIES)
    return context


def _run(copy: Path, words: Sequence[str], environment: dict[str, str], out: Path, err: Path) -> None:
    for number, path in enumerate((out, err), start=1):
        with path.open("wb") as stream:
            os.dup2(stream.fileno(), number)
    assert not any(name.split(".")[0] == PACKAGE.name for name in sys.modules)
    os.environ.clear()
    os.environ.update(environment | {"PYTHONPATH": str(copy)})
    os.chdir(copy)
    sys.path.insert(0, str(copy))
    option, what, *arguments = words
    sys.argv = [option, *arguments]
    if option == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})  # noqa: S102

"""A copy of the package, for tests that follow the recipes of CONTRIBUTING.md in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "evalreport"


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
    """Run Python on the copy."""
    return subprocess.run(
        [sys.executable, *words],
        env={**os.environ, "PYTHONPATH": str(copy)},
        cwd=copy,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

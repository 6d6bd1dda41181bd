"""CONTRIBUTING.md is true: the files that a logging enters, and every path that a document names."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

from evalreport.tracking.client import Store
from tests.cli.running import run
from tests.tracking import make_run

ROOT = Path(__file__).parents[1]
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
STEP = re.compile(r"^\d+\. `([\w/]+\.py)`, `([\w.]+)`:", re.MULTILINE)
NAMED = re.compile(r"(?<![\w/.}])(?:tests|evalreport|docs|examples|templates)/[\w/]+\.(?:py|md|json|js)\b")
RUN_AS_MODULE = re.compile(r"python3? -m (tests[.\w]*)")


def test_a_logging_enters_these_files_in_this_order(
    sqlite_store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = "y_true,score\n" + "".join(f"{k % 3 == 0:d},{(k * 37 % 101) / 101}\n" for k in range(60))
    made = make_run(sqlite_store, {"predictions.csv": table}, folder=tmp_path)
    entered: dict[tuple[str, str], None] = {}
    package = f"{ROOT / 'evalreport'}/"

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and (code := frame.f_code).co_filename.startswith(package):
            entered[code.co_filename.removeprefix(package), code.co_qualname] = None

    sys.setprofile(note)
    try:
        done = run(capsys, "log", "--run-id", made.run_id, "--tracking-uri", sqlite_store.uri)
    finally:
        sys.setprofile(None)
    assert done.code == 0, done.err
    steps = STEP.findall(CONTRIBUTING)
    assert len(steps) == 10
    assert [step for step in entered if step in steps] == steps


def files() -> Iterator[Path]:
    """Yield every text file of the repository that people write."""
    for pattern in ("*.md", "Makefile", "docs/**/*.md", "docs/*.py", "tests/**/*.py", "examples/*.*"):
        yield from ROOT.glob(pattern)
    for pattern in ("evalreport/**/*.py", "templates/**/*.*", ".github/**/*.yml"):
        yield from ROOT.glob(pattern)


def test_every_file_that_is_named_exists() -> None:
    missing = []
    for path in files():
        text = path.read_text(encoding="utf-8", errors="replace")
        names = [*NAMED.findall(text), *(f"{name.replace('.', '/')}" for name in RUN_AS_MODULE.findall(text))]
        for name in names:
            places = (ROOT / name, ROOT / f"{name}.py", ROOT / name / "__main__.py")
            if not any(place.is_file() for place in places) and path != Path(__file__):
                missing.append(f"{path.relative_to(ROOT)}: {name}")
    made_by_commands = re.compile(r": evalreport/(\w+\.json|check\.md)$")
    assert not [text for text in missing if not made_by_commands.search(text)]


def test_the_tests_of_the_makefile_exist() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = re.findall(r"(?<![\w/.$(])(?:tests|evalreport)(?:/[\w.]+)+", text)
    assert len(named) > 10
    assert not [name for name in named if not (ROOT / name).exists()]


def test_make_demo_needs_no_tools_of_the_tests() -> None:
    done = subprocess.run(["make", "-n", "-B", "demo"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "'.[optuna]'" in done.stdout
    assert "test" not in done.stdout

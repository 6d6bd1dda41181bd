"""Every page is run, in order: its Python in one namespace, its commands in the same folder."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from evalreport.tracking.client import Store
from tests.cli.running import run
from tests.tracking import fluent

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in (DOCS / "start.md", *DOCS.glob("recipes/*.md")))
BLOCK = re.compile(r"```(python|console)\n(.*?)```", re.DOTALL)
HEAVY = ("xgboost", "transformers", "lightning", "keras")
"""Libraries whose recipes run in `make test-frameworks` alone."""


def steps(page: str) -> Iterator[tuple[str, str]]:
    """The Python blocks and the single commands of a page, in order."""
    for kind, body in BLOCK.findall((DOCS / page).read_text(encoding="utf-8")):
        if kind == "python":
            yield kind, body
        else:
            yield from (
                (kind, line.removeprefix("$ evalreport "))
                for line in body.splitlines()
                if line.startswith("$ evalreport ")
            )


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sqlite_store: Store) -> Store:
    """A folder with the examples in it, a store of its own, few resamples and few thresholds."""
    (tmp_path / "examples").symlink_to(DOCS.parent / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", sqlite_store.uri)
    monkeypatch.setenv("EVALREPORT_RESAMPLES", "200")
    monkeypatch.setattr("evalreport.thresholds.own_objective.CANDIDATES", 50)
    monkeypatch.setattr("evalreport.thresholds.own_objective.IN_FOLDS", 10)
    return sqlite_store


@pytest.mark.filterwarnings("default")  # those of the frameworks are theirs
@pytest.mark.parametrize("page", [page for page in PAGES if any(steps(page))])
def test_the_page_runs(
    page: str, checkout: Store, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    text = (DOCS / page).read_text()
    missing = [name for name in HEAVY if name in text and not find_spec(name)]
    if missing:
        pytest.skip(f"needs {missing[0]}: make test-frameworks")
    if "pyspark" in text:
        request.getfixturevalue("spark")
    names: dict[str, Any] = {}
    for kind, body in steps(page):
        if kind == "python":
            with fluent(checkout):
                exec(compile(body, page, "exec"), names)  # noqa: S102
        else:
            words = [names["run"].info.run_id if word == "RUN_ID" else word for word in shlex.split(body)]
            done = run(capsys, *words)
            assert done.code == 0, f"{body}\n{done.err}"
    written = {word for _, body in steps(page) for word in re.findall(r"-o (\S+\.html)", body)}
    assert all(Path(name).read_text(encoding="utf-8").startswith("<!doctype html>") for name in written)

"""Log into servers of several releases of MLflow, log again, and compare; write down what happened.

    python -m tests.servers [--cache FOLDER] [--write] [RELEASE ...]

Environments are made once, in the cache folder. Ends with 1 when something failed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from evalreport.tracking.client import Store, connect
from tests.tracking import end, make_run, port_when_healthy

RELEASES = ("2.22", "3.1", "3.6", "newest")
OF_THEIR_TIME = ("sqlalchemy<2.1",)
"""What old servers cannot do with: 2.22 imports a class that SQLAlchemy 2.1 no longer has."""
RESULTS = Path(__file__).with_name("RESULTS.md")
ROOT = Path(__file__).parents[2]
ROWS = [("yes" if i % 3 else "no", (i * 7 % 20) / 20) for i in range(60)]
FIRST = "y_true,p\n" + "".join(f"{truth},{p}\n" for truth, p in ROWS)
SECOND = "y_true,p\n" + "".join(f"{truth},{1 - p}\n" for truth, p in ROWS)
HOW = ("--positive", "yes", "--score", "p", "--set", "resamples=100")


@dataclass(frozen=True)
class Call:
    """A call of the command: what it printed as JSON, and its exit code."""

    code: int
    body: dict[str, Any]
    err: str


def environment(release: str, cache: Path) -> str:
    """Return the Python of an environment with this release of MLflow; made where it is not there."""
    if release == "newest":
        return sys.executable
    folder = cache / f"mlflow-{release}"
    python = folder / "bin" / "python"
    if not (folder / "whole").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        wanted = [f"mlflow=={release}.*", *OF_THEIR_TIME]
        subprocess.run([python, "-m", "pip", "install", "--quiet", *wanted], check=True)
        (folder / "whole").touch()
    return str(python)


@contextmanager
def serving(python: str, folder: Path) -> Iterator[str]:
    """Start `mlflow server` of an environment on an empty database, and yield its address."""
    command = [python, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", "0", "--workers", "1"]
    command += ["--backend-store-uri", f"sqlite:///{folder / 'mlflow.db'}"]
    command += ["--artifacts-destination", str(folder / "artifacts")]
    path = f"{Path(python).parent}{os.pathsep}{os.environ['PATH']}"  # the server starts gunicorn by its name
    own = {**os.environ, "PATH": path, "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    own.pop("PYTHONPATH", None)
    log = folder / "server.log"
    with log.open("wb") as stream:
        process = subprocess.Popen(
            command, stdout=stream, stderr=stream, cwd=folder, env=own, start_new_session=True
        )
        try:
            yield f"http://127.0.0.1:{port_when_healthy(process, log)}"
        finally:
            end(process)


def evalreport(uri: str, *arguments: str) -> Call:
    """Run the command as a user does."""
    command = [sys.executable, "-m", "evalreport", "--tracking-uri", uri, "--json", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    return Call(done.returncode, json.loads(done.stdout or "{}"), done.stderr)


def log(uri: str, run_id: str, *more: str) -> str:
    """Log, and return what became of it; an error where it fails."""
    call = evalreport(uri, "log", "--run-id", run_id, *HOW, *more)
    assert call.code == 0, call.err
    return str(call.body["runs"][0]["logged"]["state"])


def logs(store: Store, first: str, _second: str) -> str:
    """Log for the first time: metrics, files and description are there; the run stays as it ended."""
    before = store.client.get_run(first).info
    assert log(store.uri, first) == "written"
    run = store.client.get_run(first)
    assert (run.info.status, run.info.end_time) == (before.status, before.end_time)
    assert "mlflow.note.content" in run.data.tags
    files = [
        *store.client.list_artifacts(first),
        *store.client.list_artifacts(first, "evalreport"),
    ]
    names = {entry.path for entry in files}
    assert {"evalreport.html", "evalreport/evaluation.json"} <= names, names
    ours = [key for key in run.data.metrics if key.startswith("eval/")]
    assert "eval/recall" in ours
    return f"{len(ours)} metrics, {len(names)} files"


def logs_again(store: Store, first: str, _second: str) -> str:
    """Log the same again: nothing is written."""
    state = log(store.uri, first)
    assert state == "unchanged", state
    return state


def replaces(store: Store, first: str, _second: str) -> str:
    """Log something else into a run whose folder is there."""
    state = log(store.uri, first, "--title", "Another title")
    assert state == "written", state
    return "replaced"


def compares(store: Store, first: str, second: str) -> str:
    """Compare two runs and log the comparison."""
    call = evalreport(store.uri, "compare", "--run-id", first, "--run-id", second, *HOW, "--log")
    assert call.code == 0, call.err
    assert call.body["logged"]["state"] == "written"
    return f"{len(call.body['comparison']['differences'])} differences"


def finds_nothing(store: Store, _first: str, _second: str) -> str:
    """A run without predictions holds none, whatever this release knows of traces."""
    empty = make_run(store).run_id
    call = evalreport(store.uri, "log", "--run-id", empty)
    assert call.code == 3, call.err
    return str(call.body["runs"][0]["error"]["code"] if call.body.get("runs") else call.body["error"]["code"])


STEPS: tuple[tuple[str, Callable[[Store, str, str], str]], ...] = (
    ("log", logs),
    ("log again", logs_again),
    ("log over it", replaces),
    ("compare --log", compares),
    ("a run without predictions", finds_nothing),
)


def tried(release: str, cache: Path) -> list[str]:
    """Return a line of the table: release, and what became of each step."""
    python = environment(release, cache)
    asked = [python, "-c", "from importlib.metadata import version; print(version('mlflow'))"]
    known = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    cells = [known]
    with tempfile.TemporaryDirectory() as folder, serving(python, Path(folder)) as uri:
        store = connect(uri)
        made = [make_run(store, {"predictions.csv": text}, name=text[9:12]) for text in (FIRST, SECOND)]
        for name, step in STEPS:
            try:
                cells.append(step(store, made[0].run_id, made[1].run_id))
            except AssertionError as error:
                print(f"{release}, {name}: {error}", file=sys.stderr)
                cells.append("FAILED")
    return cells


def as_table(rows: Sequence[Sequence[str]]) -> str:
    """Return the results as Markdown."""
    heads = ["server", *(name for name, _ in STEPS)]
    lines = [heads, ["---"] * len(heads), *rows]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return (
        "# Servers\n\n"
        "Written by `make test-servers`: each server is the real one, with an SQLite database and its own "
        f"folder of artifacts.\nClient: MLflow {version('mlflow')}, "
        f"Python {sys.version_info.major}.{sys.version_info.minor}.\n\n{table}\n"
    )


def main() -> int:
    """Try the servers that were named, or all."""
    parser = argparse.ArgumentParser(prog="python -m tests.servers")
    parser.add_argument("releases", nargs="*", default=RELEASES)
    parser.add_argument("--cache", type=Path, default=ROOT / ".servers")
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name}")
    given = parser.parse_args()
    rows = []
    for release in given.releases:
        began = time.monotonic()
        rows.append(tried(release, given.cache))
        print(f"{release}: {', '.join(rows[-1])} ({time.monotonic() - began:.0f} s)", file=sys.stderr)
    text = as_table(rows)
    print(text)
    if given.write:
        RESULTS.write_text(text, encoding="utf-8")
    return 1 if any("FAILED" in row for row in rows) else 0


if __name__ == "__main__":
    raise SystemExit(main())

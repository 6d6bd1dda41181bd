"""One fault, and what must hold of the run and of what was said: nothing lost, nothing believed."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalreport.cli import main
from evalreport.report.names import DIGEST_TAG
from evalreport.sinks.marks import UNFINISHED
from evalreport.sinks.verify import check_part
from evalreport.sources.mlflow_client import Store
from tests.tracking import MadeRun, make_run

TABLE = "y_true,score\n" + "".join(f"{k % 3 == 0:d},{(k * 37 % 101) / 101}\n" for k in range(60))
LIMITS = {"MLFLOW_HTTP_REQUEST_TIMEOUT": "2", "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1"}
DRIVER = (sys.executable, "-m", "tests.faults.driver")


@dataclass(frozen=True)
class Said:
    """Exit code and words of a command."""

    code: int
    out: str
    err: str


@contextmanager
def quick() -> Iterator[None]:
    """Have MLflow wait for two seconds only."""
    before = {name: os.environ.get(name) for name in LIMITS}
    os.environ.update(LIMITS)
    try:
        yield
    finally:
        for name, text in before.items():
            os.environ.pop(name, None) if text is None else os.environ.update({name: text})


def said(*arguments: str) -> Said:
    """Run the command in this process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    code: Any = 0
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main(arguments)
        except SystemExit as stop:
            code = stop.code
    texts = (stream.buffer.getvalue().decode() for stream in (out, err))
    return Said(int(code or 0), *texts)


def log_command(uri: str, run_id: str) -> tuple[str, ...]:
    """Return the arguments that log a run."""
    return ("log", "--run-id", run_id, "--tracking-uri", uri)


def fresh_run(store: Store, folder: Path | None = None) -> MadeRun:
    """Make a finished run with predictions."""
    return make_run(store, {"predictions.csv": TABLE}, folder=folder)


def check_words(done: Said, codes: Sequence[int]) -> None:
    """A failure is told in three lines with one of the codes; nothing of it is claimed to be logged."""
    assert done.code in (0, *codes), f"exit {done.code}: {done.err}{done.out}"
    assert "Traceback" not in done.err
    if done.code:
        assert "logged" not in done.out, done.out
        lines = [line for line in done.err.splitlines() if not line.startswith("warning:")]
        assert [line[:5] for line in lines] == ["error", "  at ", "  fix"], done.err
    else:
        assert re.search(r"^verified \d+ files, \d+ metrics$|^unchanged", done.out, re.MULTILINE), done.out


def check_claims(store: Store, run_id: str, *, complete: bool) -> None:
    """What the digest says is so; what the command said is so.

    Parameters
    ----------
    complete : bool
        Whether the command said that all is logged.
    """
    run = store.ask(lambda client: client.get_run(run_id))
    digest = run.data.tags.get(DIGEST_TAG, "")
    if complete or (digest and not digest.startswith(UNFINISHED)):
        checked = check_part(store, run, "evaluation", f"run {run_id[:8]}")
        assert checked is not None
        assert checked.whole, str(checked)


def check_mended(store: Store, made: MadeRun) -> None:
    """A second, undisturbed call makes the run whole; each point stands in it once."""
    done = said(*log_command(store.uri, made.run_id))
    assert done.code == 0, done.err
    check_claims(store, made.run_id, complete=True)
    run = store.ask(lambda client: client.get_run(made.run_id))
    checked = check_part(store, run, "evaluation", "")
    assert checked is not None
    assert checked.manifest.sent is not None
    for key, points in checked.manifest.sent.metrics.items():
        history = store.ask(lambda client, key=key: client.get_metric_history(made.run_id, key))  # type: ignore[misc]
        steps = [(entry.step, entry.value) for entry in history]
        assert sorted(steps) == sorted(points), f"the history of {key} is doubled"


def ended_at(
    arguments: Sequence[str], at: int, number: signal.Signals, folder: Path, *, after: bool = False
) -> tuple[int, str]:
    """Run the command in a process of its own that gets a signal at its `at`th question to the store.

    Returns
    -------
    (int, str)
        Exit code and stderr.
    """
    driver = [*DRIVER, str(at), str(int(number)), str(int(after))]
    environment = {**os.environ, **LIMITS}
    command = [*driver, *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment, timeout=300)
    return done.returncode, done.stderr


def ended_together(arguments: Sequence[str], count: int, folder: Path) -> list[tuple[int, str]]:
    """Run the command in several processes that all begin when all are ready; exit codes and stderr."""
    command = [*DRIVER, "together", str(count), str(folder), *arguments]
    processes = [
        subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for _ in range(count)
    ]
    words = [process.communicate(timeout=600)[1] for process in processes]
    return [(process.returncode, err) for process, err in zip(processes, words, strict=True)]

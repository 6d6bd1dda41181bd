"""One fault, and what must hold of the run and of what was said: nothing lost, nothing believed."""

from __future__ import annotations

import io
import multiprocessing
import os
import re
import signal
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalreport.cli import main
from evalreport.page.payload import STATE_TAG
from evalreport.tracking.client import Store
from evalreport.tracking.ownership import UNFINISHED, check_part
from tests.faults import driver
from tests.tracking import MadeRun, make_run

LABELS = "y_true,y_pred\n" + "".join(f"{k % 3 == 0:d},{k % 4 == 0:d}\n" for k in range(60))
"""Predictions whose logging asks little: a page, one figure, a dozen metrics."""
SCORES = "y_true,score\n" + "".join(f"{k % 3 == 0:d},{(k * 37 % 101) / 101}\n" for k in range(60))
"""Predictions whose logging asks all that there is to ask: figures of curves, and metrics with steps, too."""
LIMITS = {
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "2",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_HTTP_REQUEST_BACKOFF_JITTER": "0",
}
CONTEXT = multiprocessing.get_context("forkserver")
LONGEST = 300
"""Seconds after which a process that has not ended is a defect."""


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


def log_command(uri: str, run_id: str, command: str = "log") -> tuple[str, ...]:
    """Return the arguments that log (or verify) a run quickly: no intervals, few metrics."""
    less = ("--set", "confidence=none", "--metrics", "accuracy,f1")
    everything = ("--log-all",) if command == "log" else ()
    return (command, "--run-id", run_id, "--tracking-uri", uri, *everything, *less)


def fresh_run(store: Store, folder: Path | None = None, table: str = LABELS) -> MadeRun:
    """Make a finished run with predictions."""
    return make_run(store, {"predictions.csv": table}, folder=folder)


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
    digest = run.data.tags.get(STATE_TAG, "")
    if complete or (digest and not digest.startswith(UNFINISHED)):
        checked = check_part(store, run, "evaluation", f"run {run_id[:8]}")
        assert checked is not None
        assert checked.whole, str(checked)


def check_mended(store: Store, made: MadeRun, *more: str) -> None:
    """A second, undisturbed call makes the run whole; of one logging alone, each point is in it once."""
    done = said(*log_command(store.uri, made.run_id, "verify" if more else "log"), *more)
    assert done.code == 0, done.err
    run = store.ask(lambda client: client.get_run(made.run_id))
    checked = check_part(store, run, "evaluation", "")
    assert checked is not None
    assert checked.whole, str(checked)
    assert checked.manifest.sent is not None
    for key, points in checked.manifest.sent.metrics.items():
        history = store.ask(lambda client, key=key: client.get_metric_history(made.run_id, key))  # type: ignore[misc]
        steps = [(entry.step, entry.value) for entry in history]
        known = sorted(set(steps) if more else steps)
        assert known == sorted(points), f"the history of {key} is doubled"


def ended_at(
    arguments: Sequence[str], at: int, number: signal.Signals, *, after: bool = False
) -> tuple[int, str]:
    """Run the command in a process of its own that gets a signal at its `at`th question to the store.

    Returns
    -------
    (int, str)
        Exit code and stderr.
    """
    (ended,) = _processes(1, driver.end_at, (at, int(number), after, LIMITS), arguments)
    return ended


def ended_together(arguments: Sequence[str], count: int) -> list[tuple[int, str]]:
    """Run the command in several processes that all begin when all are ready; exit codes and stderr.

    They have MLflow's own time limit: ten at once make a busy server wait for longer than two seconds.
    """
    return _processes(count, driver.begin_together, (CONTEXT.Barrier(count), {}), arguments)


def ended_powerless(arguments: Sequence[str]) -> tuple[int, str]:
    """Run the command in a process whom permissions bind, though it be root's; exit code and stderr."""
    (ended,) = _processes(1, driver.run_powerless, ({},), arguments)
    return ended


def _processes(
    count: int, work: Callable[..., None], how: Sequence[object], arguments: Sequence[str]
) -> list[tuple[int, str]]:
    """Fork processes from one that has imported all that takes long and has opened nothing."""
    CONTEXT.set_forkserver_preload(["tests.faults.preload"])
    with tempfile.TemporaryDirectory() as folder:
        words = [Path(folder) / str(number) for number in range(count)]
        processes = [CONTEXT.Process(target=work, args=(*how, str(file), arguments)) for file in words]
        for process in processes:
            process.start()
        for process in processes:
            process.join(LONGEST)
            if process.exitcode is None:
                process.kill()
                process.join()
        said = [file.read_text(encoding="utf-8") for file in words]
        return [(int(process.exitcode or 0), err) for process, err in zip(processes, said, strict=True)]

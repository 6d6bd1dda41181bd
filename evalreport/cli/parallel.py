"""Work on several items in processes of their own: the end of one ends no other, and none outlives us.

One piece of work for each of several runs: progress, failures that do not stop the others, JSON.
"""

from __future__ import annotations

import logging
import os
import signal
import traceback
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pickle import PicklingError
from typing import TYPE_CHECKING, Any, TypeVar

from evalreport.cli.console import Console, Progress, error_as_json, internal, show_error, warn_of_skipped
from evalreport.cli.stdio import interrupt
from evalreport.core.errors import EvalreportError, LoggingInterrupted, NoPredictionsError
from evalreport.core.lazy import sharing

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

PAYS_FROM = 4
"""Number of items from which a separate process pays: starting one costs 2.3 s of CPU, most of them for
importing MLflow, and a run of 1,000 rows 0.6 to 1.5 s."""
AHEAD = 4
"""Items per process that may be finished before their turn to be shown: each holds its evaluation."""
PATIENCE = 20
"""Seconds that a process has to end what it is writing when the user stops us."""


def processes_for(items: int, asked: int | None) -> int:
    """Return how many processes work on so many items: as asked for, else as many cores as pay.

    Examples
    --------
    >>> processes_for(3, None), processes_for(3, 8), processes_for(1000, 2)
    (1, 3, 2)
    """
    if asked is not None:
        return min(asked, items)
    return max(1, min(_cores(), items // PAYS_FROM))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_catching_errors(work: Callable[[Any], Any], item: Any) -> Any:
    """Return the result of work on an item, or the error that it ended with."""
    try:
        return work(item)
    except EvalreportError as error:
        return error
    except Exception as error:
        return internal(error)


THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
"""How many threads NumPy's linear algebra starts; read when NumPy is imported."""


@dataclass
class _Worker:
    """A process that does one piece of work after the other; `place` is that of the item in its hands."""

    process: Any
    link: Connection
    place: int | None = None

    @classmethod
    def start_process(cls, work: Callable[[Any], Any]) -> _Worker:
        """Start a process that a Ctrl-C of the terminal does not reach: we tell it ourselves, once."""
        from multiprocessing import get_context

        context = get_context("spawn")
        ours, its = context.Pipe()
        level = logging.getLogger("evalreport").getEffectiveLevel()
        process = context.Process(target=_serve, args=(its, work, level), daemon=True)
        with _child_environment():
            process.start()
        its.close()
        return cls(process, ours)

    def give(self, place: int, item: Any) -> None:
        """Hand over an item; a process that is gone is noticed when its answer is read."""
        self.place = place
        with suppress(BrokenPipeError):
            self.link.send(item)

    def answer(self) -> tuple[bool, Any]:
        """Return whether it is the last word on the item, and the outcome; else it was a line of the log."""
        try:
            kind, content = self.link.recv()
        except (EOFError, OSError):
            self.process.join()
            return True, _lost_worker_error(self.process.exitcode)
        if kind == "log":
            logging.getLogger("evalreport").log(*content)
        return kind != "log", content


def _lost_worker_error(code: int) -> EvalreportError:
    how = f"killed by signal {-code}" if code < 0 else f"ended with code {code}"
    return EvalreportError(
        f"the process that worked on it was {how}",
        where="only this run; the others continue",
        fix="check the free memory, and try again with fewer --set jobs",
    )


@contextmanager
def _child_environment() -> Iterator[None]:
    """What a child inherits: no Ctrl-C, and one thread of linear algebra, since each core has its process."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    ours = {name: os.environ[name] for name in THREADS if name in os.environ}
    os.environ.update({name: ours.get(name, "1") for name in THREADS})
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        for name in THREADS:
            del os.environ[name]
        os.environ.update(ours)


def in_processes(
    work: Callable[[Any], Any], items: Sequence[Any], jobs: int, begin: Callable[[Any], None]
) -> Generator[tuple[Any, Any], None, None]:
    """Yield each item with its result or its error, in their order.

    Parameters
    ----------
    work : callable
        Can be pickled, and so can items and results.
    items : sequence
    jobs : int
        Processes.
    begin : callable
        Called with each item before its work.

    Raises
    ------
    LoggingInterrupted
        The user stopped us, and something is half logged.
    """
    workers = [_Worker.start_process(work) for _ in range(jobs)]
    found: dict[int, Any] = {}
    given = 0
    try:
        for place, item in enumerate(items):
            while place not in found:
                for number, worker in enumerate(workers):
                    if worker.place is None and given < min(len(items), place + AHEAD * jobs):
                        begin(items[given])
                        workers[number] = worker if worker.process.is_alive() else _Worker.start_process(work)
                        workers[number].give(given, items[given])
                        given += 1
                _hear(workers, found)
            yield item, found.pop(place)
    except KeyboardInterrupt as stop:
        raise _stop_workers(workers) or stop from None
    finally:
        _end(workers)


def _hear(workers: Sequence[_Worker], found: dict[int, Any]) -> None:
    """Wait until a process says something, and note what it has finished."""
    from multiprocessing.connection import wait

    busy = {worker.link: worker for worker in workers if worker.place is not None}
    for link in wait(list(busy)):
        worker = busy[link]  # type: ignore[index]
        last, outcome = worker.answer()
        if last and worker.place is not None:
            found[worker.place], worker.place = outcome, None


def _stop_workers(workers: Sequence[_Worker]) -> LoggingInterrupted | None:
    """Tell every process once to stop, and return what one of them had to leave half written."""
    half = None
    for worker in workers:
        worker.process.terminate()
    for worker in workers:
        worker.process.join(PATIENCE)
        with suppress(EOFError, OSError):
            while worker.link.poll():
                kind, content = worker.link.recv()
                half = content if kind == "half" else half
    return half


def _end(workers: Sequence[_Worker]) -> None:
    """End all processes: an idle process ends when its pipe closes."""
    for worker in workers:
        worker.link.close()
        if worker.place is not None:
            worker.process.terminate()
    for worker in workers:
        worker.process.join(PATIENCE)
        worker.process.kill()
        worker.process.join()


class _Forwarding(logging.Handler):
    """Lines of the log to the process that shows them."""

    def __init__(self, link: Connection) -> None:
        super().__init__()
        self.link = link

    def emit(self, record: logging.LogRecord) -> None:
        self.link.send(("log", (record.levelno, "%s", record.getMessage())))


def _serve(link: Connection, work: Callable[[Any], Any], level: int) -> None:
    """Do work until the pipe closes."""
    signal.signal(signal.SIGTERM, interrupt)
    logger = logging.getLogger("evalreport")
    logger.addHandler(_Forwarding(link))
    logger.setLevel(level)
    logger.propagate = False
    try:
        with sharing():
            while True:
                _hand_back(link, run_catching_errors(work, link.recv()))
    except LoggingInterrupted as half:
        link.send(("half", half))
    except (EOFError, BrokenPipeError, KeyboardInterrupt):
        pass


def _hand_back(link: Connection, outcome: Any) -> None:
    if isinstance(outcome, EvalreportError) and outcome.__cause__ is not None:
        outcome.add_note("".join(traceback.format_exception(outcome.__cause__)))  # no pickle keeps it
    try:
        link.send(("done", outcome))
    except (TypeError, AttributeError, PicklingError) as error:
        link.send(("done", internal(error)))


T = TypeVar("T")
CHECK_FAILED = 1
"""Exit code of work that was done, with an answer that is not the wanted one."""


def each_run(
    console: Console,
    items: Sequence[Any],
    work: Callable[[Any], T],
    show: Callable[[T], dict[str, Any]],
    options: dict[str, Any],
    failed: Callable[[Any, EvalreportError], None] | None = None,
    **parts: Any,
) -> int:
    """Do the work for every item, show each result in order, and return the worst exit code.

    Parameters
    ----------
    items : sequence
        Runs or files.
    work : callable
        From an item to its result; may raise `EvalreportError`. Done in several processes it is pickled,
        and so are items and results.
    show : callable
        Prints a result and returns it as the element of `runs` in the JSON, with its ``ok``.
    failed : callable, optional
        Called with an item that failed and its error.
    """
    found: list[dict[str, Any]] = []
    without: dict[str, EvalreportError] = {}
    worst = 0
    console.json = console.json or bool(options.get("jsonl"))
    stdin = any(getattr(item, "path", None) == "-" for item in items)  # no other process can read ours
    jobs = 1 if stdin else processes_for(len(items), options.get("jobs", 1) or jobs_in_spark(items, options))
    with Progress(console, len(items)) as progress, closing(outcomes(items, work, jobs, progress)) as done:
        for item, outcome in done:
            progress.end()
            if isinstance(outcome, EvalreportError):
                if failed is not None:
                    failed(item, outcome)
                if len(items) == 1 and not options.get("jsonl"):
                    raise outcome
                worst = max(worst, outcome.exit_code)
                if isinstance(outcome, NoPredictionsError) and len(items) > 1:
                    without[_item_name(item)] = outcome
                else:
                    show_error(console, outcome)
                found.append(_report_failure(console, item, outcome))
            else:
                found.append(show(outcome))
                worst = max(worst, 0 if found[-1]["ok"] else CHECK_FAILED)
            if options.get("jsonl"):
                console.line(found.pop())
            if worst and options.get("fail_fast"):
                break
    warn_of_skipped(console, without)
    if not options.get("jsonl"):
        console.emit(runs=found, ok=worst == 0, **parts)
    return worst


def jobs_in_spark(items: Sequence[Any], options: Mapping[str, Any]) -> int | None:
    """Return one process where most items are tables of Spark: a session for each would take all cores."""
    tables = sum(getattr(item, "is_tagged", False) for item in items)
    return 1 if options.get("engine") == "spark" or 2 * tables > len(items) else None


def outcomes(
    items: Sequence[Any], work: Callable[[Any], T], jobs: int, progress: Progress
) -> Generator[tuple[Any, T | EvalreportError], None, None]:
    """Yield each item with what came of it, in order."""

    def begin(item: Any) -> None:
        progress.begin(_item_name(item))

    if jobs > 1:
        moves = progress.console.terminal
        with closing(in_processes(work, items, jobs, begin if moves else lambda _: None)) as done:
            for item, outcome in done:
                if not moves:  # a line that stays heads what is printed of its run
                    begin(item)
                yield item, outcome
        return
    with sharing():
        for item in items:
            begin(item)
            yield item, run_catching_errors(work, item)


def _report_failure(console: Console, item: Any, error: EvalreportError) -> dict[str, Any]:
    """Return the element of `runs` of a run that failed."""
    run = getattr(item, "run", item)
    names = {
        "run_id": getattr(run, "run_id", None),
        "run_name": getattr(run, "name", getattr(item, "name", "")),
    }
    return {**names, "source": _item_name(item), "ok": False, "error": error_as_json(console, error)}


def _item_name(item: Any) -> str:
    return str(getattr(item, "display_name", item))

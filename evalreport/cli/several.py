"""One piece of work for each of several runs: progress, failures that do not stop the others, JSON."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from evalreport.cli.console import Console, internal, show_error, told
from evalreport.cli.progress import Progress
from evalreport.errors import EvalreportError

T = TypeVar("T")
CHECK_FAILED = 1
"""Exit code of work that was done, with an answer that is not the wanted one."""


def each_run(
    console: Console,
    items: Sequence[Any],
    work: Callable[[Any], T],
    show: Callable[[T], dict[str, Any]],
    options: dict[str, Any],
    **parts: Any,
) -> int:
    """Do the work for every item, show each result in order, and return the worst exit code.

    Parameters
    ----------
    items : sequence
        Runs or files.
    work : callable
        From an item to its result; may raise `EvalreportError`.
    show : callable
        Prints a result and returns it as the element of `runs` in the JSON, with its ``ok``.
    """
    found: list[dict[str, Any]] = []
    worst = 0
    console.json = console.json or bool(options.get("jsonl"))
    with Progress(console, len(items)) as progress:
        for item, outcome in _outcomes(items, work, options.get("jobs", 1), progress):
            progress.end()
            if isinstance(outcome, EvalreportError):
                if len(items) == 1 and not options.get("jsonl"):
                    raise outcome
                worst = max(worst, outcome.exit_code)
                found.append(_failed(console, item, outcome))
            else:
                found.append(show(outcome))
                worst = max(worst, 0 if found[-1]["ok"] else CHECK_FAILED)
            if options.get("jsonl"):
                console.line(found.pop())
            if worst and options.get("fail_fast"):
                break
    if not options.get("jsonl"):
        console.emit(runs=found, ok=worst == 0, **parts)
    return worst


def _outcomes(
    items: Sequence[Any], work: Callable[[Any], T], jobs: int, progress: Progress
) -> Iterator[tuple[Any, T | EvalreportError]]:
    """Yield each item with what came of it, in order; at most `jobs` are worked on ahead."""

    def attempt(item: Any) -> T | EvalreportError:
        progress.begin(_named(item))
        try:
            return work(item)
        except EvalreportError as error:
            return error
        except Exception as error:
            return internal(error)

    if jobs == 1:
        yield from ((item, attempt(item)) for item in items)
        return
    waiting: deque[tuple[Any, Future[T | EvalreportError]]] = deque()
    pool = ThreadPoolExecutor(jobs)
    try:
        for item in items:
            waiting.append((item, pool.submit(attempt, item)))
            if len(waiting) > jobs:
                yield _finished(waiting)
        while waiting:
            yield _finished(waiting)
    finally:
        pool.shutdown(cancel_futures=True)


def _finished(waiting: deque[tuple[Any, Future[T]]]) -> tuple[Any, T]:
    item, future = waiting.popleft()
    return item, future.result()


def _failed(console: Console, item: Any, error: EvalreportError) -> dict[str, Any]:
    """Tell of a run that failed, and return its element of `runs`."""
    show_error(console, error)
    run = getattr(item, "run", item)
    names = {
        "run_id": getattr(run, "run_id", None),
        "run_name": getattr(run, "name", getattr(item, "name", "")),
    }
    return {**names, "source": _named(item), "ok": False, "error": told(console, error)}


def _named(item: Any) -> str:
    return str(getattr(item, "shown", item))

"""One piece of work for each of several runs: progress, failures that do not stop the others, JSON."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from typing import Any, TypeVar

from evalreport.cli.console import Console, error_as_json, show_error
from evalreport.cli.processes import attempted, in_processes, processes_for
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
        Told of an item that failed, and its error.
    """
    found: list[dict[str, Any]] = []
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


def jobs_in_spark(items: Sequence[Any], options: Mapping[str, Any]) -> int | None:
    """Return one process where most items are tables of Spark: a session for each would take all cores."""
    tables = sum(getattr(item, "tagged", None) is not None for item in items)
    return 1 if options.get("engine") == "spark" or 2 * tables > len(items) else None


def outcomes(
    items: Sequence[Any], work: Callable[[Any], T], jobs: int, progress: Progress
) -> Generator[tuple[Any, T | EvalreportError], None, None]:
    """Yield each item with what came of it, in order."""

    def begin(item: Any) -> None:
        progress.begin(_named(item))

    if jobs > 1:
        moves = progress.console.terminal
        with closing(in_processes(work, items, jobs, begin if moves else lambda _: None)) as done:
            for item, outcome in done:
                if not moves:  # a line that stays heads what is printed of its run
                    begin(item)
                yield item, outcome
        return
    from evalreport.sources.spark_session import one_session

    with one_session():
        for item in items:
            begin(item)
            yield item, attempted(work, item)


def _failed(console: Console, item: Any, error: EvalreportError) -> dict[str, Any]:
    """Tell of a run that failed, and return its element of `runs`."""
    show_error(console, error)
    run = getattr(item, "run", item)
    names = {
        "run_id": getattr(run, "run_id", None),
        "run_name": getattr(run, "name", getattr(item, "name", "")),
    }
    return {**names, "source": _named(item), "ok": False, "error": error_as_json(console, error)}


def _named(item: Any) -> str:
    return str(getattr(item, "shown", item))

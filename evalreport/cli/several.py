"""One piece of work for each of several runs: progress, failures that do not stop the others, JSON."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import click

from evalreport.cli.console import Console, fail
from evalreport.errors import EvalreportError

T = TypeVar("T")
QUIET_FOR = 1.0
"""Seconds before progress is shown."""


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
        Prints a result and returns it as the element of `runs` in the JSON.
    """
    found: list[dict[str, Any]] = []
    worst = 0
    for item, outcome in _outcomes(items, work, options.get("jobs", 1)):
        _progress(console, len(found), len(items))
        if isinstance(outcome, EvalreportError):
            worst = max(worst, outcome.exit_code)
            if len(items) == 1 or options.get("fail_fast"):
                raise outcome
            found.append({"source": _named(item), "ok": False, "error": outcome.as_dict()})
            fail(Console(verbosity=console.verbosity, color=console.color), outcome)
        else:
            found.append(show(outcome))
        if options.get("jsonl"):
            click.echo(json.dumps(found[-1], ensure_ascii=False, allow_nan=False, default=float))
    if not options.get("jsonl"):
        console.emit(runs=found, ok=worst == 0, **parts)
    return worst


def _outcomes(
    items: Sequence[Any], work: Callable[[Any], T], jobs: int
) -> Iterator[tuple[Any, T | EvalreportError]]:
    def attempt(item: Any) -> T | EvalreportError:
        try:
            return work(item)
        except EvalreportError as error:
            return error

    if jobs == 1:
        for item in items:
            yield item, attempt(item)
        return
    with ThreadPoolExecutor(jobs) as pool:
        yield from zip(items, pool.map(attempt, items), strict=True)


def _named(item: Any) -> str:
    return str(getattr(item, "shown", item))


def _progress(console: Console, done: int, total: int) -> None:
    if total == 1 or console.verbosity < 0 or time.monotonic() - console.started < QUIET_FOR:
        return
    end = "\r" if sys.stderr.isatty() else "\n"
    click.echo(f"{done + 1}/{total} runs{end}", nl=False, err=True)

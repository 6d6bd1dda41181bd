"""A metric of an experiment's runs over time: each evaluated by itself, in the order of their start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evalreport.comparison.over_time import OverTime, TimedRun, in_order
from evalreport.errors import EvalreportError, UsageError
from evalreport.evaluation.model import Evaluation
from evalreport.metrics.catalogue import find
from evalreport.metrics.named_sets import PRIMARY
from evalreport.values import Estimate
from evalreport.workflow.compare import evaluation_of
from evalreport.workflow.request import Request
from evalreport.workflow.runs import Item


def over_time(
    items: Sequence[Item], request: Request, metric: str | None
) -> tuple[OverTime, dict[str, EvalreportError]]:
    """Return a metric of runs by their start, and the errors of those that have no value.

    Raises
    ------
    UsageError
        Files, fewer than two runs with a value, an unknown metric.
    """
    plain = replace(request, title="", metrics=() if metric is None else (metric,))
    found: list[tuple[Item, Evaluation]] = []
    failed: dict[str, EvalreportError] = {}
    for item in items:
        if item.run is None:
            raise UsageError(
                "a file has no time", where=item.shown, fix="name runs, as with --experiment NAME"
            )
        try:
            found.append((item, evaluation_of(item, plain)))
        except EvalreportError as error:
            failed[item.name] = error
    tasks = {ev.task for _, ev in found}
    if len(tasks) > 1:
        raise UsageError(
            f"the runs are of several tasks: {', '.join(sorted(tasks))}", fix="choose with --filter"
        )
    name = metric if metric is not None or not found else PRIMARY[found[0][1].task][0]
    runs = [run for item, ev in found if (run := _timed(item, ev, str(name))) is not None]
    if len(runs) < 2:
        raise UsageError(
            f"{len(runs)} of the runs have a value: nothing changes over time",
            where="; ".join(f"{name}: {error.message}" for name, error in list(failed.items())[:3]),
            fix="name two runs or more, and a metric that they have, with --metric",
        )
    level = found[0][1].sampling.level
    return OverTime(find(str(name), found[0][1].task), level, in_order(runs)), failed


def _timed(item: Item, ev: Evaluation, metric: str) -> TimedRun | None:
    result = ev[find(metric, ev.task).name]
    run = item.run
    if run is None or not isinstance(result, Estimate):
        return None
    return TimedRun(
        item.name, run.run_id, run.started or 0, result.value, result.low, result.high, ev.truth_digest
    )

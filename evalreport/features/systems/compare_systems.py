"""Systems of several runs: grouped by what was logged of the runs, or named; read, evaluated, compared."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from evalreport.comparison.compare import distinct_names
from evalreport.core.errors import DataError, UsageError, nearest
from evalreport.core.format import pluralize
from evalreport.evaluation.evaluation import Evaluation
from evalreport.features.systems.compare import compare_systems
from evalreport.features.systems.result import SystemsComparison
from evalreport.tracking.client import connect
from evalreport.tracking.runs import PARENT_TAG, RunInfo, find_run
from evalreport.workflow.items import Item, work_on_each
from evalreport.workflow.request import Request

KINDS = ("params", "tags")
"""Where a key is looked up in a run."""
MOST_NAMED = 5
"""Keys that a remedy lists."""


@dataclass(frozen=True)
class ComparedSystems:
    """A comparison of systems, the items that it was made of, and what was left out."""

    comparison: SystemsComparison
    items: tuple[Item, ...]
    evaluations: tuple[Evaluation, ...]


@dataclass(frozen=True)
class GroupedItems:
    """Runs and files by the system that they belong to.

    Parameters
    ----------
    systems : mapping from a system's name to its items
    by : tuple of str
        Keys that runs were grouped by.
    notes : tuple of str
        Runs that belong to none.
    """

    systems: Mapping[str, tuple[Item, ...]]
    by: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def group_items(items: Sequence[Item], keys: Sequence[str]) -> GroupedItems:
    """Return runs grouped by what was logged of them.

    Parameters
    ----------
    items : sequence of Item
        Runs.
    keys : sequence of str
        ``params.NAME`` or ``tags.NAME``, one or several.

    Raises
    ------
    UsageError
        A file, no such key in any run, or keys that are alike in all runs.
    """
    files = [item.display_name for item in items if item.run is None]
    if files:
        raise UsageError(
            "a file has no parameters to be grouped by",
            where=files[0],
            fix="name the systems: --system A=FILE,FILE --system B=FILE,FILE",
        )
    runs = [(item, item.run) for item in items if item.run is not None]
    for key in keys:
        _check_key(key, [run for _, run in runs])
    systems: dict[str, tuple[Item, ...]] = {}
    without = []
    for item, run in runs:
        values = [_value(run, key) for key in keys]
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            without.append(item.display_name)
            continue
        name = ", ".join(known)
        systems[name] = (*systems.get(name, ()), item)
    if len(systems) < 2:
        raise _single_system_error(keys, next(iter(systems), ""), [run for _, run in runs])
    lost = (
        f"{pluralize(len(without), 'run')} without {' or '.join(keys)} left out: {without[0]}"
        if without
        else ""
    )
    ordered = {
        name: tuple(reversed(own)) for name, own in systems.items()
    }  # the store gives the newest first
    return GroupedItems(ordered, tuple(keys), (lost,) if lost else ())


def _value(run: RunInfo, key: str) -> str | None:
    kind, _, name = key.partition(".")
    return (run.params if kind == "params" else run.tags).get(name)


def _keys(runs: Sequence[RunInfo]) -> list[str]:
    """What runs can be grouped by, but for MLflow's own tags."""
    params = {f"params.{name}" for run in runs for name in run.params}
    tags = {
        f"tags.{name}" for run in runs for name in run.tags if not name.startswith(("mlflow.", "evalreport."))
    }
    return sorted(params | tags)


def _check_key(key: str, runs: Sequence[RunInfo]) -> None:
    if key.partition(".")[0] not in KINDS:
        raise UsageError(
            f"--by {key} is neither a parameter nor a tag",
            where="--by",
            fix=f"write params.NAME or tags.NAME; {nearest(f'params.{key}', _keys(runs))}",
        )
    if all(_value(run, key) is None for run in runs):
        raise UsageError(
            f"no run has {key}",
            where=f"--by, {pluralize(len(runs), 'run')}",
            fix=nearest(key, _keys(runs)),
        )


def _single_system_error(keys: Sequence[str], value: str, runs: Sequence[RunInfo]) -> UsageError:
    found = (key for key in _keys(runs) if len({_value(run, key) for run in runs} - {None}) > 1)
    differ = [key for key, _ in zip(found, range(MOST_NAMED), strict=False)]
    return UsageError(
        f"every run has {' and '.join(keys)} = {value}: there is one system",
        where=f"--by, {pluralize(len(runs), 'run')}",
        fix=f"name what differs: {', '.join(differ)}" if differ else "name the systems with --system",
    )


def named_systems(words: Sequence[str], tracking_uri: str | None, *, children: bool = False) -> GroupedItems:
    """Return systems as they are named: ``NAME=RUN,FILE,…``; with `children` each run is a cross-validation.

    Raises
    ------
    UsageError
        No name, no run or file behind it, or a name that stands twice.
    """
    systems: dict[str, tuple[Item, ...]] = {}
    store = None
    for word in words:
        name, _, rest = (part.strip() for part in word.partition("="))
        members = [part.strip() for part in rest.split(",") if part.strip()]
        if not name or not members or name in systems:
            raise UsageError(
                f"--system {word!r} "
                + ("names a system again" if name in systems else "is no NAME=RUN,FILE,…"),
                where="--system",
                fix="write --system A=RUN,RUN --system B=FILE,FILE",
            )
        items = []
        for member in members:
            if os.path.isfile(member):
                items.append(Item(path=member))
                continue
            store = store or connect(tracking_uri)
            items.append(Item(run=find_run(store, member), store=store, children=children))
        systems[name] = tuple(items)
    return GroupedItems(systems)


def compared_systems(groups: GroupedItems, request: Request, primary: str | None) -> ComparedSystems:
    """Evaluate every run of every system, and compare the systems.

    Runs that cannot be evaluated are skipped, which the notes say; their values alone are made, since the
    intervals are those of the systems.

    Raises
    ------
    UsageError
        Fewer than two systems with predictions, different tasks, an unknown metric.
    DataError
        No row that all runs share, or another truth of the same row.
    """
    plain = replace(request, title="", sampling=request.sampling.with_confidence(None))
    systems: dict[str, list[Evaluation]] = {}
    system_of = {id(item): name for name, items in groups.systems.items() for item in items}
    every = [item for items in groups.systems.values() for item in items]
    done, lost = work_on_each(every, lambda item: item.evaluate(plain)[0])
    for item, ev in done:
        systems.setdefault(system_of[id(item)], []).append(replace(ev, sampling=request.sampling))
    names = iter(distinct_names([item.name for item, _ in done]))
    called = {name: [next(names) for _ in runs] for name, runs in systems.items()}
    try:
        found = compare_systems(systems, metrics=request.metrics, primary=primary, names=called, by=groups.by)
    except DataError as error:
        runs = [item.run for item, _ in done if item.run is not None and not item.children]
        if "share no rows" not in error.message or not any(PARENT_TAG in run.tags for run in runs):
            raise
        fix = "pass --children, where these child runs are the folds of cross-validations"
        raise DataError(error.message, where=error.where, fix=fix) from None
    skipped = (f"{name} is skipped: {error.message}" for name, error in lost.items())
    found = replace(found, notes=(*groups.notes, *skipped, *found.notes))
    evaluations = tuple(ev for runs in systems.values() for ev in runs)
    return ComparedSystems(found, tuple(item for item, _ in done), evaluations)

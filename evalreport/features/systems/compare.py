"""Systems compared, each as several runs, so that a good seed is not mistaken for a better system.

Runs are grouped into systems by `--by` or `--system`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations

import numpy as np
import numpy.typing as npt

from evalreport.comparison.changed_predictions import Mask, correct_rows
from evalreport.comparison.compare import (
    MOST_RANKED,
    MOST_RUNS,
    common_level,
    distinct_names,
    equal_predictions,
    headline_metrics,
    name_of,
)
from evalreport.comparison.comparison import match_rows, recode, union_space
from evalreport.comparison.differences import PairedSamples, adjusted_verdicts
from evalreport.core.errors import DataError, EvalreportError, UsageError, nearest
from evalreport.core.format import pluralize
from evalreport.core.format import pluralize as numbered
from evalreport.data.predictions import Predictions
from evalreport.evaluation.evaluation import Evaluation
from evalreport.evaluation.parts import answer_names, example_id, truncate_text
from evalreport.features.systems.variance import (
    ChangingAnswer,
    Churn,
    SeededMetric,
    SystemDifference,
    SystemResult,
    SystemsComparison,
    system_difference,
    system_value,
)
from evalreport.intervals.row_influence import Counted
from evalreport.metrics.catalogue import PRIMARY, find
from evalreport.metrics.record import Metric
from evalreport.statistics.confusion import Array
from evalreport.tracking.client import connect
from evalreport.tracking.runs import PARENT_TAG, RunInfo, find_run
from evalreport.workflow.items import Item, work_on_each
from evalreport.workflow.request import Request


@dataclass(frozen=True, eq=False)
class AlignedRuns:
    """Runs on the rows that all of them share.

    Parameters
    ----------
    runs : mapping from a run's name to its predictions
    left_out : mapping from a run's name to the number of its rows that other runs lack
    """

    runs: Mapping[str, Predictions]
    left_out: Mapping[str, int]


def align_runs(evaluations: Mapping[str, Evaluation]) -> AlignedRuns:
    """Match the rows of several runs by id, or without ids by order when the truth is equal.

    Parameters
    ----------
    evaluations : mapping from a run's name to its evaluation

    Raises
    ------
    UsageError
        The runs have different tasks.
    DataError
        A run without rows of its own, no row that all share, another truth or weight of the same row.

    Examples
    --------
    >>> from evalreport.evaluation.evaluate import evaluate_predictions
    >>> from evalreport.data.labels import Binary
    >>> from evalreport.data.predictions import predictions
    >>> space = Binary(0, 1)
    >>> a = evaluate_predictions(predictions(space, [0, 1, 1], [0, 1, 0], ids=list("abc")))
    >>> b = evaluate_predictions(predictions(space, [1, 0], [1, 1], ids=list("ba")))
    >>> found = align_runs({"one": a, "two": b})
    >>> found.left_out, found.runs["two"].y_pred
    ({'one': 1, 'two': 0}, array([1, 1], dtype=int32))
    """
    space = reduce(union_space, (ev.space for ev in evaluations.values()))
    every = {name: recode(_rows(name, ev), space) for name, ev in evaluations.items()}
    (first, shared), *others = every.items()
    for name, p in others:
        shared, _ = _match_pair(shared, p, first, name)
    on_shared = {name: _match_pair(shared, p, first, name)[1] for name, p in every.items()}
    same = {name: replace(p, groups=shared.groups, slices=shared.slices) for name, p in on_shared.items()}
    return AlignedRuns(same, {name: len(p) - len(shared) for name, p in every.items()})


def _rows(name: str, ev: Evaluation) -> Predictions:
    if ev.predictions is None:
        raise DataError(
            "the predictions of the run are not at hand, only its evaluation",
            where=name,
            fix="name a run or a file that holds the predictions: rows are matched one by one",
        )
    return ev.predictions


def _match_pair(
    shared: Predictions, p: Predictions, first: str, name: str
) -> tuple[Predictions, Predictions]:
    """Both on the rows that they share; a run that lacks one row of all is refused."""
    try:
        found = match_rows(shared, p)
    except EvalreportError as error:
        raise error.with_location(f"{first} and {name}") from error
    if found.run is None or found.baseline is None:
        raise DataError(
            f"the runs share no rows: {found.pairing.reason}",
            where=f"{name}, {pluralize(len(p), 'row')}",
            fix="leave this run out, or score every run against the same examples",
        )
    return found.run, found.baseline


SHOWN = 12
"""Rows that are kept as examples: those whose runs are most divided (chosen by hand)."""


def churn(runs: Sequence[Predictions]) -> tuple[Churn, dict[str, Churn]] | None:
    """Return how many answers change, over all rows and by true class; None of one run, or without answers.

    Parameters
    ----------
    runs : sequence of Predictions
        Of the same rows in the same order.

    Examples
    --------
    >>> from evalreport.data.labels import Binary
    >>> from evalreport.data.predictions import predictions
    >>> runs = [predictions(Binary(0, 1), [0, 1, 1, 1], y) for y in ([0, 1, 1, 0], [0, 1, 0, 0])]
    >>> found = churn(runs)
    >>> found[0], found[1]["0"].any
    (Churn(any=0.25, two=0.25, correctness=0.25), 0.0)
    """
    if len(runs) < 2 or any(p.y_pred is None for p in runs):
        return None
    first, weights = runs[0], runs[0].weights
    apart = [_differing(a.y_pred, b.y_pred) for a, b in combinations(runs, 2)]
    found = (np.any(apart, axis=0), np.mean(apart, axis=0), discordant_rows(runs))
    kinds = [np.asarray(kind, dtype=np.float64) for kind in found]
    classes = {}
    if first.y_true.ndim == 1:
        held = [(name, first.y_true == code) for code, name in enumerate(first.space.names)]
        classes = {name: _shares(kinds, weights * rows) for name, rows in held if (weights * rows).any()}
    return _shares(kinds, weights), classes


def _differing(a: npt.NDArray[np.generic] | None, b: npt.NDArray[np.generic] | None) -> Mask:
    other = np.asarray(a != b)
    return np.asarray(other.any(axis=1)) if other.ndim == 2 else other


def _shares(kinds: Sequence[Array], weights: Array) -> Churn:
    return Churn(*(float(weights @ kind / weights.sum()) for kind in kinds))


def discordant_rows(runs: Sequence[Predictions]) -> Mask:
    """Return which rows some runs get right and others wrong, shape (n,)."""
    rights = np.array([correct_rows(p) for p in runs])
    return np.asarray(rights.any(axis=0) & ~rights.all(axis=0))


def changing(runs: Sequence[Predictions]) -> tuple[ChangingAnswer, ...]:
    """Return the rows on which the runs are most divided between right and wrong."""
    rights = np.array([correct_rows(p) for p in runs])
    rows = np.flatnonzero(discordant_rows(runs))
    order = np.argsort(np.abs(rights[:, rows].mean(axis=0) - 0.5), kind="stable")[:SHOWN]
    return tuple(_example(runs, rights, int(row)) for row in rows[order])


def _example(runs: Sequence[Predictions], rights: Mask, row: int) -> ChangingAnswer:
    first = runs[0]
    texts = next((p.texts for p in runs if p.texts is not None), None)
    return ChangingAnswer(
        id=example_id(first, row),
        truth=answer_names(first, first.y_true, row),
        right=tuple(rights[:, row].tolist()),
        answers=tuple(answer_names(p, p.y_pred, row) for p in runs),
        text=None if texts is None else truncate_text(texts[row]),
    )


@dataclass(frozen=True, eq=False)
class CountedSystem:
    """A system with its runs on the shared rows, each counted once, and its metrics."""

    name: str
    names: tuple[str, ...]
    runs: tuple[Counted, ...]
    metrics: Mapping[str, SeededMetric]

    @property
    def rows(self) -> list[Predictions]:
        """The predictions of the runs."""
        return [run.predictions for run in self.runs]

    @property
    def mostly_right(self) -> Mask | None:
        """Which rows more than half of the runs get right; None without answers."""
        if any(p.y_pred is None for p in self.rows):
            return None
        return np.asarray(np.mean([correct_rows(p) for p in self.rows], axis=0) > 0.5)


def compare_systems(
    systems: Mapping[str, Sequence[Evaluation]],
    *,
    metrics: Sequence[str] = (),
    primary: str | None = None,
    names: Mapping[str, Sequence[str]] | None = None,
    by: Sequence[str] = (),
    detailed: bool = True,
) -> SystemsComparison:
    """Compare systems, each of several runs, on the rows that all runs share.

    Parameters
    ----------
    systems : mapping from a system's name to its evaluations
        Two to twenty systems, of any numbers of runs.
    metrics : sequence of str
        Instead of the headline metrics.
    primary : str, optional
        The metric that the verdict is about.
    names : mapping from a system's name to the names of its runs, optional
    by : sequence of str
        What the runs were grouped by.
    detailed : bool
        Whether answers that change are looked for, too.

    Raises
    ------
    UsageError
        Fewer than two or too many systems, one without runs, different tasks or levels, an unknown metric.
    DataError
        No row that all runs share, or the same row with another truth in two runs.

    Examples
    --------
    >>> from evalreport.evaluation.evaluate import evaluate_predictions
    >>> from evalreport.data.labels import Multiclass
    >>> from evalreport.data.predictions import predictions
    >>> truth = ["a", "b"] * 20
    >>> answers = (truth, ["b", *truth[1:]], ["a"] * 40, ["b"] * 40)
    >>> runs = [evaluate_predictions(predictions(Multiclass("ab"), truth, answer)) for answer in answers]
    >>> found = compare_systems({"new": runs[:2], "old": runs[2:]}, primary="accuracy")
    >>> found.differences_for("accuracy")[0].verdict, found.differences_for("accuracy")[0].pairs
    ('better', SeedPairs(ahead=4, ties=0, of=4))
    """
    every = _check_systems(systems)
    level, first = common_level(every, MOST_RANKED), every[0]
    given = [name for runs in (names or {}).values() for name in runs]
    called = distinct_names(given or [name_of(ev, place) for place, ev in enumerate(every)])
    runs = align_runs(dict(zip(called, every, strict=True)))
    chosen = headline_metrics(every, metrics, primary)
    counted = _count_systems(systems, runs.runs, chosen)
    samples = PairedSamples(counted[0].runs[0], counted[0].runs[0], first.sampling)
    main = find(primary or _primary(first, counted), first.task)
    order = sorted(counted, key=lambda one: _place(main, one.metrics[main.name].mean))
    withheld = any(ev.data_checks.get("withheld") for ev in every)
    datasets = {ev.provenance.dataset for ev in every}
    found = SystemsComparison(
        level=level,
        primary=main.name,
        task=first.task,
        rows=len(samples),
        left_out=runs.left_out,
        systems=tuple(_result(one, main.name, samples, detailed, withheld) for one in order),
        differences=_differences(order, chosen, samples),
        unit=first.row_unit,
        by=tuple(by),
        dataset=datasets.pop() if len(datasets) == 1 else "",
        right_by=_right_by(order),
    )
    return replace(found, notes=tuple(system_notes(found, [one.rows for one in order])))


def _check_systems(systems: Mapping[str, Sequence[Evaluation]]) -> list[Evaluation]:
    if not 2 <= len(systems) <= MOST_RUNS:
        raise UsageError(
            f"{numbered(len(systems), 'system')} cannot be compared",
            fix=f"name 2 to {MOST_RUNS} systems",
        )
    empty = [name for name, runs in systems.items() if not runs]
    if empty:
        raise UsageError("a system has no runs", where=str(empty[0]), fix="name its runs, or leave it out")
    return [ev for runs in systems.values() for ev in runs]


def _count_systems(
    systems: Mapping[str, Sequence[Evaluation]], rows: Mapping[str, Predictions], metrics: Sequence[Metric]
) -> list[CountedSystem]:
    names, found = iter(rows), []
    for name, evaluations in systems.items():
        own = tuple(next(names) for _ in evaluations)
        runs = tuple(Counted.from_predictions(rows[run]) for run in own)
        measured = {metric.name: SeededMetric.from_runs(metric, runs) for metric in metrics}
        found.append(CountedSystem(str(name), own, runs, measured))
    return found


def _primary(first: Evaluation, systems: Sequence[CountedSystem]) -> str:
    """The metric that the verdict is about: one that every system has."""
    names = (*PRIMARY[first.task], *systems[0].metrics)
    shared = [n for n in names if all(n in s.metrics and s.metrics[n].mean is not None for s in systems)]
    if not shared:
        raise UsageError(
            "the systems have no metric in common",
            where=", ".join(systems[0].metrics),
            fix="name metrics that every run has; see `evalreport metrics`",
        )
    return shared[0]


def _place(metric: Metric, mean: float | None) -> tuple[bool, float]:
    """Best first; undefined values last."""
    return mean is None, 0.0 if mean is None else mean if metric.better == "lower" else -mean


def _result(
    system: CountedSystem, primary: str, samples: PairedSamples, detailed: bool, withheld: bool
) -> SystemResult:
    task = samples.run.predictions.space.task
    found = SystemResult(
        system=system.name,
        runs=system.names,
        primary=primary,
        metrics={name: system_value(find(name, task), one, samples) for name, one in system.metrics.items()},
    )
    changed = churn(system.rows) if detailed else None
    if changed is None:
        return found
    return replace(
        found,
        churn=changed[0],
        churn_by_class=changed[1],
        only_sometimes_right=int(discordant_rows(system.rows).sum()),
        examples=() if withheld else changing(system.rows),
    )


def _differences(
    systems: Sequence[CountedSystem], metrics: Sequence[Metric], samples: PairedSamples
) -> tuple[SystemDifference, ...]:
    """All pairs, metric by metric, corrected for their number; the better system by the main metric first."""
    pairs = list(combinations(systems, 2))
    found = [
        system_difference(metric, a.metrics[metric.name], b.metrics[metric.name], samples, (a.name, b.name))
        for metric in metrics
        for a, b in pairs
    ]
    only = {(a.name, b.name): _only_right(a, b) for a, b in pairs}
    made = adjusted_verdicts(
        found, {metric.name: metric.better for metric in metrics}, samples.sampling.level
    )
    return tuple(
        replace(d, only_right=only[d.run, d.baseline]) for d in made if isinstance(d, SystemDifference)
    )


def _only_right(a: CountedSystem, b: CountedSystem) -> tuple[int, int] | None:
    first, second = a.mostly_right, b.mostly_right
    return (
        None
        if first is None or second is None
        else (int((first & ~second).sum()), int((second & ~first).sum()))
    )


def _right_by(systems: Sequence[CountedSystem]) -> tuple[int, int, int] | None:
    """How many rows all, some and none of the systems get right, each by the majority of its runs."""
    right = [one.mostly_right for one in systems]
    known = [rows for rows in right if rows is not None]
    if len(known) < len(right):
        return None
    number = np.sum(known, axis=0)
    every, none = int((number == len(known)).sum()), int((number == 0).sum())
    return every, len(number) - every - none, none


HALF = 0.5
"""Share of a run's rows that all runs have: below it the comparison may be of another population."""


def system_notes(found: SystemsComparison, runs: Sequence[Sequence[Predictions]]) -> Iterator[str]:
    """Yield sentences on rows that are not shared, few runs, cross-validations, and runs that are the same.

    Parameters
    ----------
    found : SystemsComparison
    runs : sequence of the runs of each system, on the shared rows
    """
    unit = found.unit[1]
    gaps = [(name, lost) for name, lost in found.left_out.items() if lost]
    if gaps:
        name, most = max(gaps, key=lambda gap: gap[1])
        lead = f"Compared on the {found.rows:,} {unit} that all runs have; "
        yield f"{lead}{len(gaps)} of {pluralize(len(found.left_out), 'run')} have more, “{name}” {most:,}."
        if found.rows < HALF * (found.rows + most):
            yield f"That is under half of the {unit} of “{name}”: the rest may be easier or harder."
    for one in found.systems:
        if len(one.runs) == 1:
            yield f"“{one.system}” is one run: its interval covers new {unit} alone, seeds unknown."
        if len(one.runs) == 2:
            yield f"“{one.system}” has two runs: what two seeds tell is little, so its intervals are wide."
    if any(p.folds is not None for own in runs for p in own):
        yield (
            f"Runs are cross-validations: intervals hold for models that are trained on these {unit}; "
            "trained on others they vary more."
        )
    for one, own in zip(found.systems, runs, strict=True):
        again = sum(equal_predictions(a, b) for a, b in combinations(own, 2))
        if again:
            what = "all its runs" if again == len(own) * (len(own) - 1) // 2 else "some of its runs"
            yield f"“{one.system}”: {what} are the same predictions, so the seed changes nothing there."


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
        No name, no run or file behind it, or a name that occurs twice.
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

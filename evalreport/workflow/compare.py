"""Compare runs and files: read, evaluate, compare, check rules.

A comparison to where it is wanted, a run among them: the parent of the compared runs, or the baseline.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from evalreport.comparison.compare import MOST_RUNS, compare
from evalreport.comparison.comparison import Comparison
from evalreport.comparison.sample_size import RowsNeeded, rows_for_difference
from evalreport.core.bounds import Bound
from evalreport.core.errors import (
    ArtifactNotFoundError,
    DataError,
    EvalreportError,
    NotFoundError,
    UsageError,
    nearest,
)
from evalreport.core.format import pluralize
from evalreport.data.labels import Task
from evalreport.evaluation.evaluation import Evaluation
from evalreport.metrics.catalogue import COMPARED, find
from evalreport.metrics.own import is_own
from evalreport.page.payload import EVALUATION
from evalreport.thresholds.objectives import Costs
from evalreport.tracking.artifacts import Artifact, download_artifact
from evalreport.tracking.client import connect
from evalreport.tracking.log_results import MlflowSink
from evalreport.tracking.runs import PARENT_TAG, RunInfo, find_run
from evalreport.workflow.deliver import Deliverable, Delivered, deliver, files_read, sink_in
from evalreport.workflow.evaluate import deployment_metrics
from evalreport.workflow.items import STDIN, Item, are_facts, work_on_each
from evalreport.workflow.request import Destination, Request

T = TypeVar("T")
LARGEST = 100 * 1024**2
"""Bytes of an evaluation.json that is read."""
RUN_ID = re.compile(r"[0-9a-f]{6,32}")


class Rules(Protocol):
    """Rules for every run but the baseline, as a feature adds them."""

    @property
    def bounds(self) -> tuple[Bound, ...]:
        """What they demand of metrics."""

    def check(self, found: Comparison) -> Checks:
        """Return how the compared runs keep them."""


class Checks(Protocol):
    """How rules came out."""

    @property
    def all_passed(self) -> bool:
        """Whether no rule makes the command fail."""

    def lines(self) -> Iterable[str]:
        """Return what a terminal shows."""

    def records(self) -> list[dict[str, Any]]:
        """Return the elements of `checks` in the JSON."""


@dataclass(frozen=True)
class CompareRequest:
    """What is compared with what.

    Parameters
    ----------
    baseline : str or None
        Name, id, file or position (from 1); the first, or with `sort_by` the best, when None.
    all_pairs : bool
    sort_by : str or None
        Metric by which the runs are ordered, best first; over twenty runs are only ranked by it.
    unpaired : bool
        Take the runs for independent samples, whatever their ids and truth.
    detect : float or None
        A difference for which the needed number of rows is reported.
    costs : Costs or None
        What outcomes of two classes cost.
    skip : bool
        Whether runs that cannot be evaluated are skipped: of an experiment, not of runs that were named.
    rules : Rules or None
    """

    baseline: str | None = None
    all_pairs: bool = False
    sort_by: str | None = None
    unpaired: bool = False
    detect: float | None = None
    costs: Costs | None = None
    skip: bool = False
    rules: Rules | None = None

    @property
    def bounds(self) -> tuple[Bound, ...]:
        """What the rules demand."""
        return () if self.rules is None else self.rules.bounds

    def __post_init__(self) -> None:
        if self.all_pairs and self.baseline is not None:
            raise UsageError("--all-pairs has no baseline", fix="leave --baseline or --all-pairs out")
        if self.all_pairs and any(bound.change for bound in self.bounds):
            raise UsageError("a change needs one baseline", where="--require", fix="leave --all-pairs out")


@dataclass(frozen=True)
class Compared:
    """A comparison with what was asked of it.

    Parameters
    ----------
    items : tuple of Item
        In the order of the comparison's names.
    checks : Checks or None
        How the rules came out.
    needed : tuple of RowsNeeded
        For the difference that is to be detected.
    skipped : mapping from a run, as messages name it, to its error
        Runs of an experiment that cannot be evaluated.
    """

    comparison: Comparison
    items: tuple[Item, ...]
    checks: Checks | None = None
    needed: tuple[RowsNeeded, ...] = ()
    skipped: Mapping[str, EvalreportError] = field(default_factory=dict)

    @property
    def all_passed(self) -> bool:
        """Whether no rule makes the command fail."""
        return self.checks is None or self.checks.all_passed

    @property
    def base(self) -> RunInfo | None:
        """The run of the baseline."""
        place = self.comparison.baseline
        return None if place is None else self.items[place].run

    def document(self, request: Request) -> Deliverable[Comparison]:
        """Return the page of the comparison, whose JSON holds the rules, too."""
        checks = [] if self.checks is None else self.checks.records()
        return Deliverable(self.comparison, request.title, request.notes, extra={"checks": checks})


@dataclass(frozen=True)
class _Rival:
    item: Item
    evaluation: Evaluation

    @property
    def name(self) -> str:
        origin = self.evaluation.provenance
        stored = self.evaluation.predictions is None and self.item.run is None
        return (origin.run_name if stored and origin.run_name else "") or self.item.name


def compare_items(items: Sequence[Item], request: Request, how: CompareRequest) -> Compared:
    """Evaluate the items and compare them.

    Raises
    ------
    NotFoundError
        The baseline is none of the items, and no file or run either.
    UsageError
        Fewer than two runs, different tasks, an unknown metric.
    DataError
        The same example has another truth in two runs.
    """
    every, place = with_baseline(items, how.baseline)
    if any(are_facts(item.files) for item in every):
        raise UsageError("statistics files have no rows to pair", fix="name the prediction files")
    if len(every) < 2:
        raise UsageError(
            "a comparison needs at least two runs or files", fix="name 2 to 20 different runs or files"
        )
    sorting = () if how.sort_by is None or not is_own(how.sort_by) else (how.sort_by,)
    plain = with_metrics(replace(request, title=""), how.bounds, *sorting)
    rivals, skipped = _evaluate_items(every, plain, None if place is None else every[place], skip=how.skip)
    place = None if place is None else [rival.item for rival in rivals].index(every[place])
    task = rivals[0].evaluation.task
    if how.costs is not None and task != "binary":
        raise UsageError("a cost of misses is for two classes", where="--cost", fix="leave --cost out")
    there = deployment_metrics(rivals[0].evaluation.space, request.prevalence)
    metrics = select_metrics(request.metrics, how.bounds, task, there)
    primary = None if how.sort_by is None else find(how.sort_by, task).name
    if primary is not None:
        chosen = None if place is None else rivals[place]
        rivals = _sort_rivals(rivals, primary)
        place = None if chosen is None else rivals.index(chosen)
    ranked_alone = primary is not None and len(rivals) > MOST_RUNS and not (how.all_pairs or how.bounds)
    found = _compare(
        rivals,
        place or 0,
        (primary,) if ranked_alone and primary else metrics,
        primary,
        how,
        not ranked_alone,
    )
    items = tuple(rival.item for rival in rivals)
    checks = None if how.rules is None else how.rules.check(found)
    needed = () if how.detect is None else rows_for_difference(found, how.detect)
    return Compared(found, items, checks, needed, skipped)


def _evaluate_items(
    items: Sequence[Item], request: Request, baseline: Item | None, *, skip: bool
) -> tuple[list[_Rival], dict[str, EvalreportError]]:
    """Evaluate the items; with `skip` those that cannot be are returned by name, but for the baseline."""
    if not skip:
        return [_Rival(item, evaluation_of(item, request)) for item in items], {}
    done, failed = work_on_each(items, lambda item: evaluation_of(item, request))
    if baseline is not None and baseline.display_name in failed:
        raise failed[baseline.display_name]
    if len(done) < 2:
        raise UsageError(
            f"one run cannot be compared, and {pluralize(len(failed), 'run')} cannot be evaluated",
            where="; ".join(f"{name}: {error.message}" for name, error in list(failed.items())[:5]),
            fix="`evalreport report --run-id ID` shows the error of one run",
        )
    return [_Rival(*one) for one in done], failed


def select_metrics(
    metrics: Sequence[str], bounds: Sequence[Bound], task: Task, more: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the metrics that are compared: those asked for, or the headline ones, those of changes, more.

    Raises
    ------
    UsageError
        A rule names an unknown metric.
    """
    named = [find(bound.metric, task).name for bound in bounds if bound.change and not bound.part]
    named += more
    if not named:
        return tuple(metrics)
    usual = () if any(not is_own(name) for name in metrics) else COMPARED[task]
    return tuple(dict.fromkeys((*usual, *metrics, *named)))


def with_metrics(request: Request, bounds: Sequence[Bound], *more: str) -> Request:
    """Return a request that also evaluates what rules, or `more`, name and nothing else asks for."""
    named = [*(bound.metric for bound in bounds if not bound.part), *more]
    if not request.metrics:
        asked = (name for name in named if "@" in name or is_own(name))
        return replace(request, points=tuple(dict.fromkeys(asked)))
    return replace(request, metrics=tuple(dict.fromkeys((*request.metrics, *named))))


def _compare(
    rivals: Sequence[_Rival],
    baseline: int,
    metrics: Sequence[str],
    primary: str | None,
    how: CompareRequest,
    details: bool,
) -> Comparison:
    found = compare(
        [rival.evaluation for rival in rivals],
        None if how.all_pairs else baseline,
        names=[rival.name for rival in rivals],
        metrics=metrics,
        primary=primary,
        details=details,
        unpaired=how.unpaired,
        costs=how.costs,
    )
    if not found.differences:
        raise UsageError(
            "the runs have no metric in common",
            where=", ".join(metrics),
            fix="name metrics that every run has; see `evalreport metrics`",
        )
    return (
        found if found.differences_for(found.primary) else replace(found, primary=found.differences[0].metric)
    )


def _sort_rivals(rivals: Sequence[_Rival], metric: str) -> list[_Rival]:
    """Best first; undefined values last."""
    sign = 1 if find(metric, rivals[0].evaluation.task).better == "lower" else -1

    def key(rival: _Rival) -> tuple[bool, float]:
        value = rival.evaluation[metric].value
        return value is None, 0.0 if value is None else sign * value

    return sorted(rivals, key=key)


def with_baseline(items: Sequence[Item], baseline: str | None) -> tuple[tuple[Item, ...], int | None]:
    """Return the items with the baseline among them, and its place; None when none is named.

    Raises
    ------
    NotFoundError
        It is none of the items, and neither a file nor a run; names the nearest.
    """
    every = tuple(items)
    if baseline is None:
        return every, None
    for place, item in enumerate(every):
        if is_item(item, baseline):
            return every, place
    numbered = {str(place + 1): place for place in range(len(every))}
    if baseline in numbered:
        return every, numbered[baseline]
    extra = _other(every, baseline)
    if extra is None:
        raise NotFoundError(
            f"the baseline {baseline} is not among the compared runs or files",
            where="--baseline",
            fix=nearest(baseline, [item.name for item in every]),
        )
    return (extra, *every), 0


def is_item(item: Item, word: str) -> bool:
    """Return whether a word names an item: by run id, name, path, or another path to the same file."""
    if item.run is not None:
        short = RUN_ID.fullmatch(word) is not None and item.run.run_id.startswith(word)
        return short or word in (item.run.run_id, item.run.name)
    return word in (item.path, item.name) or _same_file(item.path, word)


def _same_file(path: str | None, word: str) -> bool:
    if path in (None, STDIN):
        return False
    with suppress(OSError, ValueError):
        return Path(str(path)).samefile(word)
    return False


def _other(items: Sequence[Item], word: str) -> Item | None:
    """A file, or a run of the store that the others are from."""
    with suppress(OSError, ValueError):
        if os.path.isfile(word):
            return Item(path=word)
    other = next((item for item in items if item.store is not None), None)
    if other is None or not RUN_ID.fullmatch(word):
        return None
    return replace(other, run=find_run(other.tracking_store, word), called="")


def evaluation_of(item: Item, request: Request) -> Evaluation:
    """Return the evaluation of an item: made of its predictions, or read from an `evaluation.json`.

    Raises
    ------
    EvalreportError
    """
    if item.run is None:
        stored = _read_stored_evaluation(item)
        return stored if stored is not None else item.evaluate(request)[0]
    try:
        return item.evaluate(request)[0]
    except ArtifactNotFoundError as error:
        stored = None if request.artifact is not None else _read_logged_evaluation(item)
        if stored is None:
            raise error from None
        if stored.folds is None:
            return stored
        note = "a cross-validation is compared row by row with --children"
        return stored.with_provenance(replace(stored.provenance, notes=(*stored.provenance.notes, note)))


def _read_stored_evaluation(item: Item) -> Evaluation | None:
    """The evaluation in a file that begins as `evaluation.json` does."""
    if item.path in (None, STDIN):
        return None
    path = Path(str(item.path))
    try:
        with path.open("rb") as stream:
            if not stream.read(64).lstrip().startswith(b'{"schema"'):
                return None
    except OSError:
        return None
    return _load_evaluation(path, item.display_name)


def _read_logged_evaluation(item: Item) -> Evaluation | None:
    """The evaluation that was logged into a run; None when there is none."""
    if item.run is None:
        return None
    with (
        suppress(ArtifactNotFoundError),
        download_artifact(item.tracking_store, item.run, Artifact(EVALUATION, None)) as path,
    ):
        found = _load_evaluation(path, item.display_name)
        origin = replace(found.provenance, run_id=item.run.run_id, run_name=item.run.name)
        return found.with_provenance(origin)
    return None


def _load_evaluation(path: Path, where: str) -> Evaluation:
    if path.stat().st_size > LARGEST:
        raise DataError("the evaluation is larger than 100 MB", where=where, fix="name the predictions")
    try:
        return Evaluation.from_json(path.read_bytes())
    except EvalreportError as error:
        raise error.with_location(where) from None


def deliver_comparison(
    document: Deliverable[T],
    items: Sequence[Item],
    request: Request,
    where: Destination,
    *,
    base: RunInfo | None = None,
    log_to: str | None = None,
    tracking_uri: str | None = None,
) -> Delivered[T]:
    """Deliver a comparison, of runs or of systems.

    Parameters
    ----------
    document : Deliverable
    items : sequence of Item
        What was compared.
    base : RunInfo or None
        The run that it is logged into where the compared runs share no parent.
    log_to : str or None
        Id of the run that it is logged into instead.
    tracking_uri : str or None
        Of the store, where no run was compared.

    Raises
    ------
    UsageError
        An input would be overwritten, or there is no run to log into.
    """
    run = run_for(items, base, where, log_to, tracking_uri) if where.log else None
    return deliver(document, where, run=run, read=files_read(request, items))


def run_for(
    items: Sequence[Item],
    base: RunInfo | None,
    where: Destination,
    log_to: str | None,
    tracking_uri: str | None,
) -> MlflowSink:
    """Return the run to log into: it has to be finished, and hold nothing of others under our names.

    Parameters
    ----------
    items : sequence of Item
        What was compared: the run is the parent that all of them share, unless `log_to` names one.
    base : RunInfo or None
        The run in place of a parent.
    """
    stores = [item.store for item in items if item.store is not None]
    store = stores[0] if stores else connect(tracking_uri)
    run_id = find_run(store, log_to).run_id if log_to else _home(items, base)
    return sink_in(store, run_id, where)


def _home(items: Sequence[Item], base: RunInfo | None) -> str:
    runs = [item.run for item in items if item.run is not None]
    parents = {run.tags.get(PARENT_TAG, "") for run in runs}
    if len(runs) == len(items) and len(parents) == 1 and "" not in parents:
        return parents.pop()
    if base is None:
        raise UsageError(
            "there is no run to log the comparison into", where="--log", fix="name one with --log-to ID"
        )
    return base.run_id

"""Predictions that are counted as a stream: which engine reads what, and the evaluation of its facts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Generic, TypeVar

from evalreport.errors import EvalreportError, UsageError
from evalreport.evaluation.evaluate import evaluate_facts
from evalreport.evaluation.model import Evaluation
from evalreport.evaluation.observed import Observed
from evalreport.evaluation.streamed import Watch
from evalreport.facts import ScoreTable
from evalreport.facts.binned import BinnedTable, ScoreBins
from evalreport.facts.spill import check_room, temporary_folder
from evalreport.facts.words import Budget
from evalreport.findings import find
from evalreport.labels import Binary, Multiclass, Multilabel, renamed
from evalreport.metrics.binned import roc_auc_bounds
from evalreport.predictions import Threshold
from evalreport.provenance import Provenance
from evalreport.scores import on_scale
from evalreport.sources.datasets import STREAMED, DataSet, data_set, is_several
from evalreport.sources.mlflow_client import Store
from evalreport.sources.readers.content import in_file
from evalreport.sources.run_candidates import RunFileReader
from evalreport.sources.run_tables import RunTable, read_run
from evalreport.sources.runs import RunInfo
from evalreport.sources.shapes.roles import wanted
from evalreport.sources.stream_columns import open_stream
from evalreport.sources.streams import MEMORY, PredictionStream
from evalreport.stages import stage
from evalreport.thresholds.labels import rounds_of
from evalreport.thresholds.records import Tuned
from evalreport.thresholds.sweep import Sweep
from evalreport.workflow.collect import (
    Collected,
    asked_of,
    collect_run_table,
    is_hidden,
    ordered,
    run_origin,
    with_unit,
)
from evalreport.workflow.evaluate import deployed
from evalreport.workflow.label_aims import goals_of_stream, passed_again
from evalreport.workflow.request import Request
from evalreport.workflow.thresholds import (
    check_threshold_holdable,
    chosen_on,
    no_scores_to_decide,
    no_threshold,
    number_of,
)

T = TypeVar("T")
ROW = 105
"""Bytes of memory that the engine in memory takes for a row (measured: 1e7 rows of truth and score)."""
CELL = 24
"""Bytes that it takes for a row and column, where the columns are many (measured: 1e6 rows of 20 classes)."""
PACKED = 4
"""Times that a text or a file without a count of rows grows in memory (chosen by hand)."""
SMALL = 256 << 20
"""Bytes in memory up to which nobody asks how much is free."""
SHARE = 4
"""`auto` streams what would take over one part in so many of the memory that is free."""


@dataclass(frozen=True, eq=False)
class CollectedFacts:
    """What was counted of a stream, what was taken for what, and its origin."""

    seen: Observed
    taken: tuple[tuple[str, str], ...]
    provenance: Provenance
    sweep: Sweep | None = None
    tuned: Mapping[str, Tuned] = field(default_factory=dict)
    """Thresholds of several labels, by the objective that they were chosen for."""
    artifact: str = ""
    sensitive: bool = False


@dataclass(frozen=True, eq=False)
class MadeOfFacts(Generic[T]):
    """What was made of what was counted, what was taken for what, and the file of the run that held it."""

    made: T
    taken: tuple[tuple[str, str], ...]
    artifact: str = ""

    @classmethod
    def of(cls, counted: CollectedFacts, work: Callable[[CollectedFacts], T]) -> MadeOfFacts[T]:
        """Do the work."""
        return cls(work(counted), counted.taken, counted.artifact)


def streams(paths: Sequence[str], request: Request) -> DataSet | None:
    """Return the files as a data set where they are to be streamed; None where memory is to hold them.

    Raises
    ------
    UsageError
        Several files for the engine in memory.
    EvalreportError
        Files that cannot be opened.
    """
    if request.engine == "memory":
        if len(paths) > 1:
            raise UsageError(
                "the engine in memory reads one file, folder or pattern",
                where=f"{paths[0]} and {len(paths) - 1} more",
                fix="put them into one folder, or leave the engine out: several are a stream",
            )
        return None
    several = len(paths) > 1 or is_several(paths[0])
    chosen = several or request.approximate or _is_large(paths[0], request)
    if request.engine == "auto" and not chosen:
        return None
    return data_set(paths, request.format)


def _is_large(path: str, request: Request) -> bool:
    """Whether a file would take too much of the memory that is free."""
    try:
        if Path(path).stat().st_size * PACKED < SMALL:
            return False
        data = data_set([path], request.format)
    except (EvalreportError, OSError):
        return False  # the reader of whole files says what is wrong
    if data.format not in STREAMED:
        return False
    columns = len(wanted(request.columns)(data.names))
    need = data.size * PACKED if data.rows is None else data.rows * max(ROW, CELL * columns)
    return need > _free() // SHARE


def _free() -> int:
    """Bytes of memory that are free, as the system says it; without its word, four gigabytes."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError):
        return 4 << 30


def collect_stream(data: DataSet, request: Request, sought: Sequence[str] | None = None) -> CollectedFacts:
    """Count the predictions of some files without holding them.

    Parameters
    ----------
    data : DataSet
    request : Request
    sought : sequence of str, optional
        Objectives for which thresholds are sought, empty for those of the task.

    Raises
    ------
    EvalreportError
        Whatever keeps them from being counted; nothing is left behind.
    """
    return _counted(stream_of(data, request), request, Provenance(), sought)


def collect_run_rows(
    store: Store, run: RunInfo, request: Request, sought: Sequence[str] | None = None
) -> Collected | CollectedFacts:
    """Read predictions from a run, or count them where they are a stream; copies of files are removed.

    Raises
    ------
    EvalreportError
        Whatever keeps the run from being evaluated; it names the run.
    """
    stage("reading the predictions")

    def opened(path: str) -> PredictionStream | None:
        data = streams((path,), request)
        return None if data is None else stream_of(data, request)

    with RunFileReader(opened).keeping() as reader:
        found = read_run(store, run, asked_of(request), reader)
        if isinstance(found, RunTable):
            if request.engine == "stream":
                raise UsageError(
                    f"{found.taken} is read as a whole",
                    where=f"{run.shown}, --engine stream",
                    fix=f"log the predictions as one of {', '.join(STREAMED)}, or leave the engine out",
                )
            return collect_run_table(found, store, run, request)
        origin = run_origin(store, run)
        origin = replace(origin, notes=(*origin.notes, *found.notes))
        with in_file(run.shown):
            counted = _counted(found.stream, with_unit(request, run), origin, sought)
    taken = (("source", found.taken), *counted.taken)
    return replace(counted, taken=taken, artifact=found.artifact, sensitive=is_hidden(run))


def check_bins(stream: PredictionStream, request: Request) -> None:
    """Refuse bins for what is not scores of two labels.

    Raises
    ------
    UsageError
    """
    if request.approximate and not (isinstance(stream.space, Binary) and stream.score is not None):
        what = "there are no scores" if stream.score is None else f"these are {len(stream.space)} labels"
        raise UsageError(
            f"--approximate counts scores of two labels in bins, and {what}", fix="leave --approximate out"
        )


def _counted(
    stream: PredictionStream, request: Request, origin: Provenance, sought: Sequence[str] | None
) -> CollectedFacts:
    """Count what is left of a stream, and say where it comes from."""
    space = renamed(ordered(stream.space, request), dict(request.label_names))
    check_bins(stream, request)
    goals = goals_of_stream(stream, request, sought)
    budget = budget_of(request)
    if not request.approximate:
        _check_room(stream, budget, chosen=bool(goals))
    holders = ScoreBins(budget) if request.approximate else budget
    with Watch(space, holders, answered=stream.pred is not None, at=point_of(request)) as watch:
        _count(stream, watch)
        tuned = passed_again(stream, watch, goals, request)
        seen, sweep = observed(watch, stream, request)
    taken = (*stream.found.taken, ("engine", _engine_words(stream.data, request)))
    return CollectedFacts(seen, taken, _origin(origin, stream, request, taken), sweep, tuned)


def stream_of(data: DataSet, request: Request) -> PredictionStream:
    """Settle what the columns of a data set mean, and refuse what a stream cannot do.

    Raises
    ------
    EvalreportError
    """
    _refuse(request)
    stream = open_stream(data, request.columns)
    _check_threshold(stream, request)
    if request.for_facts and isinstance(stream.space, Multiclass) and stream.found.scores is not None:
        raise UsageError(
            "facts of scores of several classes hold their rows, and a stream does not",
            where="--facts",
            fix=f"pass {MEMORY}, or leave the scores out (--no-scores)",
        )
    return stream


def budget_of(request: Request) -> Budget:
    """Return what scores may take, and where they go beyond it."""
    return Budget(request.memory, temporary_folder())


def point_of(request: Request) -> Threshold | None:
    """Return the threshold where a number was given."""
    number = None if request.threshold is None else number_of(request.threshold)
    return None if number is None else Threshold(number, "given")


def observed(watch: Watch, stream: PredictionStream, request: Request) -> tuple[Observed, Sweep | None]:
    """Return what was observed of all rows, decided as it is asked for, and the sweep where one chose."""
    point = point_of(request)
    seen = watch.observed(point, stream.notes(watch.rows))
    if isinstance(seen.summary.scores, BinnedTable):
        seen = replace(seen, notes=(*seen.notes, binned_note(seen.summary.scores)))
    if request.threshold is None or point is not None or not isinstance(seen.summary.space, Binary):
        return seen, None
    point, sweep = chosen_on(table_in(seen), request.threshold, request.sampling)
    return watch.decided(seen, point, again=point), sweep


def binned_note(table: BinnedTable) -> str:
    """Return what is to be said of scores in bins."""
    low, high = roc_auc_bounds(table) if table.positives and table.negatives else (0.0, 1.0)
    return (
        f"scores are counted in {len(table):,} bins (--approximate): ROC AUC is surely within "
        f"{(high - low) / 2:.2g} of its exact value; thresholds are edges of bins, where counts are exact"
    )


def table_in(seen: Observed) -> ScoreTable:
    """Return the score table of what was observed.

    Raises
    ------
    UsageError
        There are no scores.
    """
    if isinstance(seen.summary.scores, ScoreTable):
        return seen.summary.scores
    raise no_scores_to_decide()


def _refuse(request: Request) -> None:
    bare = "--approximate" if request.approximate else "--facts" if request.for_facts else None
    for option in ("weight", "group"):  # in memory, too: there is no other engine to name
        if bare is not None and getattr(request.columns, option):
            raise UsageError(
                f"{bare} does not know which rows weigh more or belong together",
                where=f"--{option}",
                fix=f"leave --{option} or {bare} out",
            )
    for given, what, option in (
        (request.truth_file, "a truth file is joined row by row", "--truth-file"),
        (request.tune_on, "other rows to choose on are read as a whole", "--tune-on"),
    ):
        if given is not None:
            raise UsageError(
                f"{what}: a stream cannot", where=option, fix=f"pass {MEMORY}, or leave {option} out"
            )


def _check_threshold(stream: PredictionStream, request: Request) -> None:
    check_threshold_holdable(stream.space, request.sampling, request.threshold)
    number = None if request.threshold is None else number_of(request.threshold)
    if number is not None:
        on_scale([number], probabilities=stream.found.score_kind in ("probability", "logit"))
    if request.threshold is None or isinstance(stream.space, Binary):
        return
    if isinstance(stream.space, Multiclass):
        raise no_threshold()
    if stream.found.scores is None:
        raise no_scores_to_decide()


def _check_room(stream: PredictionStream, budget: Budget, *, chosen: bool) -> None:
    """Refuse a temporary folder without room for scores that memory does not hold.

    Thresholds that are chosen deal the scores into folds, too. Files that do not say how many rows they have
    are not looked at: what a disk takes is seen when it is full.
    """
    rows = stream.data.rows or 0
    wide = 4 if stream.found.scores is not None and stream.found.scores.itemsize == 4 else 8
    again = rows * len(stream.space) if chosen else 0
    need = (cells_of(stream, rows) + again * rounds_of(again)) * wide
    if budget.spill is not None and need > budget.words:
        check_room(budget.spill, need)


def cells_of(stream: PredictionStream, rows: int) -> int:
    """Return how many scores are kept of some rows."""
    tables = len(stream.space) if isinstance(stream.space, Multilabel) else 1 + len(stream.request.slices)
    return rows * tables * (1 if stream.pred is None else 2)


def _count(stream: PredictionStream, watch: Watch) -> None:
    for batch, ids in stream.batches():
        watch.add(batch, ids)
        stage("rows counted", watch.rows, stream.data.rows or 0)


def _engine_words(data: DataSet, request: Request) -> str:
    count = f"{len(data.files)} files" if len(data.files) > 1 else "1 file"
    why = "" if request.engine == "stream" else ", by itself"
    return f"stream of {count}{why}"


def _origin(
    origin: Provenance, stream: PredictionStream, request: Request, taken: tuple[tuple[str, str], ...]
) -> Provenance:
    data, first = stream.data, stream.data.files[0]
    several = f"{first.parent.name or first.name} ({len(data.files)} files)"
    name = first.name.split(".", 1)[0] if len(data.files) == 1 else first.parent.name
    return replace(
        origin,
        run_name=origin.run_name or name,
        source=first.name if len(data.files) == 1 else several,
        sha256=data.sha256,
        columns=taken,
        **request.origin(),
        notes=(*origin.notes, *stream.found.unused_note),
    )


def evaluated_facts(collected: CollectedFacts, request: Request) -> Evaluation:
    """Evaluate what was counted of a stream."""
    seen = collected.seen
    stage(f"evaluating {seen.summary.rows:,} rows")
    ev = evaluate_facts(
        seen,
        request.sampling,
        only=request.metrics,
        more=(*deployed(seen.summary.space, request.prevalence), *request.points),
        sweep=collected.sweep,
        tuned=None if request.threshold is None else next(iter(collected.tuned.values()), None),
    )
    ev = replace(ev, provenance=collected.provenance)
    if request.no_examples or collected.sensitive:
        ev = replace(ev, mistakes=(), facts={**ev.facts, "withheld": 1.0})
    return replace(ev, findings=find(ev))

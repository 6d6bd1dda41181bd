"""Thresholds of several labels of rows that stream: chosen of tables, judged on rows that go by again.

What thresholds of several labels are sought for, and how they are chosen of rows that stream.

Predictions that are counted as a stream: which engine reads what, and the evaluation of its facts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from evalreport.columns.names import wanted
from evalreport.core.bounds import is_bound
from evalreport.core.errors import EvalreportError, UsageError
from evalreport.core.progress import stage
from evalreport.core.result import Provenance
from evalreport.data.labels import Binary, LabelSpace, Multiclass, Multilabel, renamed
from evalreport.data.predictions import Predictions, Threshold
from evalreport.data.scores import NoScores, on_scale
from evalreport.evaluation.evaluate import Observed, evaluate_facts
from evalreport.evaluation.evaluation import Evaluation
from evalreport.features.large.evaluation import Watch
from evalreport.features.large.read import MEMORY, PredictionStream, open_stream
from evalreport.features.large.score_words import Budget, ScoreBins, ScoreWords
from evalreport.features.large.second_pass import LabelTables
from evalreport.features.large.spill import temporary_folder
from evalreport.findings.catalogue import find
from evalreport.intervals.settings import Sampling
from evalreport.metrics.binned_bounds import roc_auc_bounds
from evalreport.readers.content import in_file
from evalreport.readers.data_sets import STREAMED, DataSet, data_set, is_several
from evalreport.readers.limits import check_room
from evalreport.statistics.binned_tables import BinnedTable
from evalreport.statistics.class_scores import RankedScores
from evalreport.statistics.confusion import Array, BinaryCounts
from evalreport.statistics.score_table import ScoreTable
from evalreport.thresholds.best_threshold import OutOfSample, Tuned
from evalreport.thresholds.cross_fitting import FOLDS, estimated
from evalreport.thresholds.one_against_rest import PartBound, part_bounds
from evalreport.thresholds.per_label import (
    EACH,
    Corners,
    LabelObjective,
    corners_of,
    counts_of_sums,
    dealt,
    drawn_sums,
    each_alone,
    middle_of_rounds,
    of_corners,
    pooled,
    rounds_of,
    too_few,
)
from evalreport.thresholds.sweep import Sweep
from evalreport.tracking.client import Store
from evalreport.tracking.find_predictions import RunFileReader, RunTable, read_run
from evalreport.tracking.runs import RunInfo
from evalreport.workflow.collect import (
    Collected,
    asked_of,
    collect_run_table,
    is_hidden,
    ordered,
    run_origin,
    with_unit,
)
from evalreport.workflow.evaluate import (
    check_threshold_holdable,
    chosen_label_by_label,
    chosen_on,
    deployed,
    label_bounds,
    label_goal,
    no_scores,
    no_scores_to_decide,
    no_threshold,
    number_of,
)
from evalreport.workflow.request import Request


def common_values(scores: RankedScores, goal: LabelObjective, at: Array) -> Array:
    """Return the value of an objective of counts where all labels have one threshold, at each of some.

    Examples
    --------
    >>> from evalreport.statistics.class_scores import ClassScores
    >>> rows = np.array([[0.2, 0.7], [0.6, 0.3]]), np.array([[False, True], [True, True]])
    >>> common_values(ClassScores(*rows, None), LabelObjective.parse("f1_micro"), np.array([0.3, 0.9]))
    array([1., 0.])
    """
    counts = [Sweep.of(scores.table(label)).at(at) for label in range(scores.size)]
    return np.asarray(goal.of_counts(_side_by_side(counts)))


def _side_by_side(counts: Sequence[BinaryCounts]) -> BinaryCounts:
    cells = zip(*((one.tp, one.fp, one.fn, one.tn) for one in counts), strict=True)
    return BinaryCounts(*(np.stack(each, axis=-1) for each in cells))


class StreamedLabels:
    """Thresholds of several labels, by the rules of rows in memory.

    They are chosen of the table of each label. What they are worth elsewhere takes the same rows twice more:
    first each goes into the table of its fold (`deal`), then each is decided by the thresholds that the
    other folds chose, and drawn anew (`judge`).

    Parameters
    ----------
    names : sequence of str
        The labels.
    tables : LabelTables
        Of all rows.
    goals : sequence of LabelObjective
        Of counts: of each label alone, or pooled.
    holders : Budget
        What the scores of folds go into.
    sampling : Sampling
    probabilities : bool
        Whether 0.5 is a threshold that nobody chose.
    """

    def __init__(
        self,
        names: Sequence[str],
        tables: LabelTables,
        goals: Sequence[LabelObjective],
        holders: Budget,
        sampling: Sampling,
        *,
        probabilities: bool,
    ) -> None:
        self._names, self._tables, self._goals, self._sampling = names, tables, goals, sampling
        self._probabilities = probabilities
        rows, rng = len(tables), sampling.generator(7)
        rounds = 0 if rows < FOLDS else rounds_of(rows * len(names))
        self._folds = [dealt(np.arange(rows), FOLDS, rng).astype(np.uint8) for _ in range(rounds)]
        self._held = [[[holders.holder() for _ in names] for _ in range(FOLDS)] for _ in self._folds]
        self._in_folds: dict[str, list[Array]] = {}
        self._drawn = drawn_sums(rows, len(names), sampling)
        self._gone = 0

    def __enter__(self) -> StreamedLabels:
        return self

    def __exit__(self, *_: object) -> None:
        for held in (one for folds in self._held for labels in folds for one in labels):
            held.close()

    @property
    def is_folded(self) -> bool:
        """Whether there are rows enough to choose on some and judge on others."""
        return bool(self._folds)

    @cached_property
    def points(self) -> dict[str, Array]:
        """The threshold of each label that all rows choose, by objective."""
        return {goal.name: self._point(goal) for goal in self._goals}

    def _point(self, goal: LabelObjective) -> Array:
        tables = (self._tables.table(label) for label in range(len(self._names)))
        return each_alone(tables, EACH[goal.name]) if goal.kind == "each" else pooled(tables)

    def deal(self, batch: Predictions) -> None:
        """Take a batch that goes by for the second time."""
        values, truth, here = self._passed(batch)
        for fold_of, folds in zip(self._folds, self._held, strict=True):
            for number, labels in enumerate(folds):
                rows = np.flatnonzero(fold_of[here] == number)
                for held, column, flags in zip(labels, values[rows].T, truth[rows].T, strict=True):
                    if len(rows):
                        held.add(np.ascontiguousarray(column), np.ascontiguousarray(flags))

    def settle(self) -> None:
        """Let the rows outside of each fold choose, once all have gone by."""
        self._gone = 0
        alone: dict[str, list[list[Array]]] = {
            goal.name: [[] for _ in self._parts] for goal in self._goals if goal.kind == "each"
        }
        corners: list[list[Corners]] = [[] for _ in self._parts]
        for label in range(len(self._names)):
            for place, labels in enumerate(self._parts):
                rest = self._tables.without(label, labels[label].table())
                for name, found in alone.items():
                    found[place].append(each_alone([rest], EACH[name]))
                if len(alone) < len(self._goals):
                    corners[place].append(corners_of(rest))
            stage("labels settled in folds", label + 1, len(self._names))
        together = [of_corners(each) for each in corners if each]
        for goal in self._goals:
            points = [np.concatenate(each) for each in alone[goal.name]] if goal.name in alone else together
            self._in_folds[goal.name] = [
                np.stack(points[start : start + FOLDS]) for start in range(0, len(points), FOLDS)
            ]

    @property
    def _parts(self) -> list[list[ScoreWords]]:
        return [labels for folds in self._held for labels in folds]

    def judge(self, batch: Predictions) -> None:
        """Take a batch that goes by for the third time."""
        values, truth, here = self._passed(batch)
        columns = [np.ones((len(values), 1), dtype=np.bool_), truth]
        for points in self._in_folds.values():
            for fold_of, thresholds in zip(self._folds, points, strict=True):
                decided = values >= thresholds[fold_of[here]]
                columns += [decided, truth & decided]
        self._drawn.add(np.hstack(columns).astype(np.float32))

    def _passed(self, batch: Predictions) -> tuple[npt.NDArray[np.floating], npt.NDArray[np.bool_], slice]:
        assert not isinstance(batch.scores, NoScores)  # noqa: S101  tables are of scores
        here = slice(self._gone, self._gone + len(batch))
        self._gone = here.stop
        return batch.scores.values, batch.y_true.astype(bool), here

    def found(self) -> dict[str, Tuned]:
        """Return what was chosen for each objective, and what it is worth elsewhere."""
        width, rounds = len(self._names), len(self._folds)
        total, *parts = np.split(self._drawn.sums, range(1, self._drawn.sums.shape[1], width), axis=1)
        made = {}
        for place, goal in enumerate(self._goals):
            own = parts[1 + 2 * place * rounds : 1 + 2 * (place + 1) * rounds]
            pairs = zip(own[::2], own[1::2], strict=True)
            sums = [np.hstack([total, parts[0], decided, both]) for decided, both in pairs]
            made[goal.name] = self._tuned(goal, self.points[goal.name], sums)
        return made

    def _tuned(self, goal: LabelObjective, point: Array, sums: Sequence[Array]) -> Tuned:
        plain = {"0.5": np.full(len(self._names), 0.5)} if self._probabilities else {}
        starts = {name: self._value(goal, at) for name, at in (plain | {goal.kind: point}).items()}
        elsewhere = too_few()
        if sums:
            elsewhere = middle_of_rounds([self._measured(goal, each) for each in sums])
        values = dict(zip(self._names, point.tolist(), strict=True))
        apparent, told = starts[goal.kind], (elsewhere.value, elsewhere.method)
        return Tuned(goal.name, values, apparent, *told, "exact", starts, without=starts.get("0.5"))

    def _value(self, goal: LabelObjective, point: Array) -> float:
        counts = [Sweep.of(self._tables.table(label)).at(at) for label, at in enumerate(point.tolist())]
        return float(goal.of_counts(_side_by_side(counts)))

    def _measured(self, goal: LabelObjective, sums: Array) -> OutOfSample:
        value, *drawn = goal.of_counts(counts_of_sums(sums))
        rows = float(len(self._tables))
        return OutOfSample(
            estimated(goal.name, float(value), np.array(drawn), rows, self._sampling), None, "cross-fitted"
        )


EACH_LABEL = ("f1_macro", "f1_micro")
ADVICE = f"pass {MEMORY}, or ask for f1_macro, f1_micro or a bound of each label, such as recall>=0.9"


@dataclass(frozen=True)
class LabelAims:
    """Bounds of labels, and objectives of all labels, each by its name."""

    bounds: Mapping[str, PartBound]
    goals: Mapping[str, LabelObjective]


def label_aims(objectives: Sequence[str], space: LabelSpace) -> LabelAims:
    """Read what is asked for; without anything, what is usual.

    Raises
    ------
    UsageError
        An objective that is not known, or stands twice.

    Examples
    --------
    >>> list(label_aims(["max-f1", "recall[a]>=0.9"], Multilabel("ab")).goals)
    ['f1_macro']
    """
    check_cost(objectives, "several labels", "an objective of yours: --objective module:function")
    objectives = objectives or EACH_LABEL
    bounds = {bound.name: bound for name in objectives for bound in part_bounds(name, space)}
    names = [label_goal(name) for name in objectives if not is_bound(name)]
    check_distinct(names)
    return LabelAims(bounds, {name: LabelObjective.parse(name) for name in names})


def check_cost(objectives: Sequence[str], what: str, instead: str) -> None:
    """Refuse a cost of misses where there are more than two classes.

    Raises
    ------
    UsageError
    """
    if any(name.split(":")[0] == "cost" for name in objectives):
        raise UsageError(
            f"a cost of misses is for two classes; these are {what}", where="--cost", fix=f"use {instead}"
        )


def check_distinct(names: Sequence[str]) -> None:
    """Refuse an objective that stands twice.

    Raises
    ------
    UsageError
    """
    twice = next((name for name in names if list(names).count(name) > 1), None)
    if twice is not None:
        raise UsageError(
            f"two objectives are named {twice}", where="--objective", fix="ask for one of them at a time"
        )


def goals_of_stream(
    stream: PredictionStream, request: Request, sought: Sequence[str] | None
) -> tuple[LabelObjective, ...]:
    """Return the objectives that thresholds of several labels are chosen by; none where nothing asks.

    Raises
    ------
    UsageError
        What is chosen on rows that are held; no scores to choose by.
    """
    if sought is not None and isinstance(stream.space, Multiclass):
        raise chosen_by_row()
    asked = _asked(request) if sought is None else sought
    if not isinstance(stream.space, Multilabel) or asked is None:
        return ()
    if stream.found.scores is None:
        raise no_scores()
    if sought is None:
        label_bounds(asked[0], stream.space)  # refused before a row is counted
    aims = label_aims(asked, stream.space)
    alone = [goal.name for goal in aims.goals.values() if goal.kind not in ("each", "pooled")]
    alone += [name for name, bound in aims.bounds.items() if bound.label is None]
    if alone:
        raise UsageError(
            f"thresholds for {alone[0]} are chosen and judged on label sets of rows: a stream cannot",
            where="--threshold" if sought is None else "--objective",
            fix=ADVICE,
        )
    return tuple(aims.goals.values())


def chosen_by_row() -> UsageError:
    """Return the error of what is chosen of several classes where no rows are held."""
    return UsageError(
        "cut-offs and weights of classes are chosen row by row: a stream cannot",
        fix=f"pass the rows, with {MEMORY}",
    )


def not_at_hand(name: str) -> UsageError:
    """Return the error of an objective that needs rows where facts are all there is."""
    return UsageError(f"thresholds for {name} are judged on rows, which are not at hand", fix=ADVICE)


def _asked(request: Request) -> tuple[str] | None:
    """What `--threshold` seeks."""
    wanted = request.threshold
    return None if wanted is None or number_of(wanted) is not None else (wanted,)


def passed_again(
    stream: PredictionStream, watch: Watch, goals: Sequence[LabelObjective], request: Request
) -> Mapping[str, Tuned]:
    """Let the rows of a stream go by again, as often as is needed, once all were counted.

    Returns
    -------
    What was chosen for each objective.
    """
    scores = watch.label_scores()
    if scores is None or not goals:
        if scores is not None and _asked(request) and request.threshold is not None:
            point = chosen_label_by_label(scores, watch.space, request.threshold, request.sampling)
            watch.decide_anew(point)
        if watch.again(request.sampling):
            _pass(stream, watch, "rows placed", watch.place)
        return {}
    names, likely = watch.space.names, stream.found.score_kind != "decision"
    held = watch.holders.budget
    with StreamedLabels(names, scores, goals, held, request.sampling, probabilities=likely) as choice:
        if request.threshold is not None:
            first = choice.points[goals[0].name]
            watch.decide_anew(Threshold(tuple(first.tolist()), "cross-fitted"))
        watch.again(request.sampling)

        def placed(batch: Predictions, ids: Any) -> None:
            watch.place(batch, ids)
            choice.deal(batch)

        _pass(stream, watch, "rows placed", placed)
        choice.settle()
        if choice.is_folded:
            _pass(stream, watch, "rows judged", lambda batch, _: choice.judge(batch))
        return choice.found()


def _pass(
    stream: PredictionStream, watch: Watch, what: str, take: Callable[[Predictions, Any], None]
) -> None:
    """Read the rows again."""
    done = 0
    for batch, ids in stream.batches():
        take(batch, ids)
        done += len(batch)
        stage(what, done, watch.rows)


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

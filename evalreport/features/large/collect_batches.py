"""Thresholds of several labels in a stream: chosen from tables, evaluated in a second pass over the rows.

What thresholds of several labels are sought for, and how they are chosen of rows that stream.

Streams of predictions: the choice of the engine, and the evaluation from its statistics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from evalreport.core.errors import UsageError
from evalreport.core.progress import report_progress
from evalreport.core.result import Provenance
from evalreport.data.labels import Binary, Multiclass, Multilabel, rename_labels
from evalreport.data.predictions import Predictions, Threshold
from evalreport.data.scores import NoScores, on_scale
from evalreport.evaluation.evaluate import Observed
from evalreport.features.large.read import PredictionStream, open_stream
from evalreport.features.large.score_words import Budget, ScoreBins, ScoreWords
from evalreport.features.large.second_pass import LabelTables
from evalreport.features.large.spill import temporary_folder
from evalreport.features.large.streamed_evaluation import StreamingEvaluation
from evalreport.intervals.interval_settings import Sampling
from evalreport.metrics.binary_ranking import roc_auc_bounds
from evalreport.readers.data_sets import DataSet, data_set
from evalreport.readers.limits import check_room
from evalreport.statistics.confusion import Array
from evalreport.statistics.score_table import BinnedTable, ScoreTable
from evalreport.thresholds.best_threshold import OutOfSample, Tuned
from evalreport.thresholds.cross_fitting import FOLDS, estimate_from_draws
from evalreport.thresholds.per_label import (
    EACH,
    Corners,
    LabelObjective,
    corners_of,
    counts_of_sums,
    dealt,
    drawn_sums,
    each_alone,
    fold_generator,
    maximize_micro_f1,
    middle_of_rounds,
    of_corners,
    rounds_of,
    too_few,
)
from evalreport.thresholds.sweep import Sweep
from evalreport.workflow.choose_thresholds import ADVICE, chosen_by_row, label_aims, side_by_side
from evalreport.workflow.collect import with_label_order
from evalreport.workflow.evaluate import (
    check_threshold_holdable,
    choose_threshold,
    chosen_label_by_label,
    label_bounds,
    no_scores,
    no_scores_to_decide,
    no_threshold,
    number_of,
)
from evalreport.workflow.items import Item
from evalreport.workflow.request import MEMORY, CollectedFacts, MadeOfFacts, Request


class StreamedLabels:
    """Thresholds of several labels, by the rules of rows in memory.

    They are chosen of the table of each label. What they are worth elsewhere takes the same rows twice more:
    first each goes into the table of its fold (`deal`), then each is decided by the thresholds that the
    other folds chose, and resampled (`judge`).

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
        Whether 0.5 is the default threshold.
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
        rows, rng = len(tables), fold_generator(sampling)
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
        return each_alone(tables, EACH[goal.name]) if goal.kind == "each" else maximize_micro_f1(tables)

    def deal(self, batch: Predictions) -> None:
        """Take a batch that goes by for the second time."""
        values, truth, here = self._unpack_batch(batch)
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
                rest = self._tables.subtract_part(label, labels[label].table())
                for name, found in alone.items():
                    found[place].append(each_alone([rest], EACH[name]))
                if len(alone) < len(self._goals):
                    corners[place].append(corners_of(rest))
            report_progress("labels settled in folds", label + 1, len(self._names))
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
        values, truth, here = self._unpack_batch(batch)
        columns = [np.ones((len(values), 1), dtype=np.bool_), truth]
        for points in self._in_folds.values():
            for fold_of, thresholds in zip(self._folds, points, strict=True):
                decided = values >= thresholds[fold_of[here]]
                columns += [decided, truth & decided]
        self._drawn.add(np.hstack(columns).astype(np.float32))

    def _unpack_batch(
        self, batch: Predictions
    ) -> tuple[npt.NDArray[np.floating], npt.NDArray[np.bool_], slice]:
        assert not isinstance(batch.scores, NoScores)  # noqa: S101  tables are of scores
        here = slice(self._gone, self._gone + len(batch))
        self._gone = here.stop
        return batch.scores.values, batch.y_true.astype(bool), here

    def tuned_thresholds(self) -> dict[str, Tuned]:
        """Return the choice for each objective, with its held-out value."""
        width, rounds = len(self._names), len(self._folds)
        total, *parts = np.split(self._drawn.sums, range(1, self._drawn.sums.shape[1], width), axis=1)
        made = {}
        for place, goal in enumerate(self._goals):
            own = parts[1 + 2 * place * rounds : 1 + 2 * (place + 1) * rounds]
            pairs = zip(own[::2], own[1::2], strict=True)
            sums = [np.hstack([total, parts[0], decided, both]) for decided, both in pairs]
            made[goal.name] = self._build_tuned(goal, self.points[goal.name], sums)
        return made

    def _build_tuned(self, goal: LabelObjective, point: Array, sums: Sequence[Array]) -> Tuned:
        plain = {"0.5": np.full(len(self._names), 0.5)} if self._probabilities else {}
        starts = {name: self._value(goal, at) for name, at in (plain | {goal.kind: point}).items()}
        held_out = too_few()
        if sums:
            held_out = middle_of_rounds([self._estimate_out_of_sample(goal, each) for each in sums])
        values = dict(zip(self._names, point.tolist(), strict=True))
        apparent, estimate = starts[goal.kind], (held_out.value, held_out.method)
        return Tuned(goal.name, values, apparent, *estimate, "exact", starts, without=starts.get("0.5"))

    def _value(self, goal: LabelObjective, point: Array) -> float:
        counts = [
            Sweep.from_table(self._tables.table(label)).counts_at_threshold(at)
            for label, at in enumerate(point.tolist())
        ]
        return float(goal.of_counts(side_by_side(counts)))

    def _estimate_out_of_sample(self, goal: LabelObjective, sums: Array) -> OutOfSample:
        value, *drawn = goal.of_counts(counts_of_sums(sums))
        rows = float(len(self._tables))
        return OutOfSample(
            estimate_from_draws(goal.name, float(value), np.array(drawn), rows, self._sampling),
            None,
            "cross-fitted",
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
    asked = _requested_objective(request) if sought is None else sought
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
            f"thresholds for {alone[0]} need the label sets of all rows, which a stream does not keep",
            where="--threshold" if sought is None else "--objective",
            fix=ADVICE,
        )
    return tuple(aims.goals.values())


def _requested_objective(request: Request) -> tuple[str] | None:
    """What `--threshold` seeks."""
    wanted = request.threshold
    return None if wanted is None or number_of(wanted) is not None else (wanted,)


def read_rows_again(
    stream: PredictionStream, watch: StreamingEvaluation, goals: Sequence[LabelObjective], request: Request
) -> Mapping[str, Tuned]:
    """Let the rows of a stream go by again, as often as is needed, once all were counted.

    Returns
    -------
    What was chosen for each objective.
    """
    scores = watch.label_scores()
    if scores is None or not goals:
        if scores is not None and _requested_objective(request) and request.threshold is not None:
            point = chosen_label_by_label(scores, watch.space, request.threshold, request.sampling)
            watch.decide_in_second_pass(point)
        if watch.prepare_second_pass(request.sampling):
            _pass(stream, watch, "rows placed", watch.place)
        return {}
    names, likely = watch.space.names, stream.found.score_kind != "decision"
    held = watch.holders.budget
    with StreamedLabels(names, scores, goals, held, request.sampling, probabilities=likely) as choice:
        if request.threshold is not None:
            first = choice.points[goals[0].name]
            watch.decide_in_second_pass(Threshold(tuple(first.tolist()), "cross-fitted"))
        watch.prepare_second_pass(request.sampling)

        def place_batch(batch: Predictions, ids: Any) -> None:
            watch.place(batch, ids)
            choice.deal(batch)

        _pass(stream, watch, "rows placed", place_batch)
        choice.settle()
        if choice.is_folded:
            _pass(stream, watch, "rows evaluated", lambda batch, _: choice.judge(batch))
        return choice.tuned_thresholds()


def _pass(
    stream: PredictionStream, watch: StreamingEvaluation, what: str, take: Callable[[Predictions, Any], None]
) -> None:
    """Read the rows again."""
    done = 0
    for rows, ids, _ in replace(stream, beside=()).batches():
        take(rows, ids)
        done += len(rows)
        report_progress(what, done, watch.rows)


def check_bins(stream: PredictionStream, request: Request) -> None:
    """Refuse bins for what is not scores of two labels.

    Raises
    ------
    UsageError
    """
    if request.approximate and not (isinstance(stream.space, Binary) and stream.score is not None):
        what = "there are no scores" if stream.score is None else f"these are {len(stream.space)} labels"
        raise UsageError(
            f"--set approximate is for scores of two labels, and {what}",
            fix="leave --set approximate out",
        )


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
            "statistics of scores of several classes keep all rows, and a stream does not",
            where="--save-statistics",
            fix=f"pass {MEMORY}, or ignore the scores (--set no_scores)",
        )
    return stream


def point_of(request: Request) -> Threshold | None:
    """Return the threshold where a number was given."""
    number = None if request.threshold is None else number_of(request.threshold)
    return None if number is None else Threshold(number, "given")


def observe_stream(
    watch: StreamingEvaluation, stream: PredictionStream, request: Request
) -> tuple[Observed, Sweep | None]:
    """Return what was observed of all rows, decided as it is asked for, and the sweep where one chose."""
    point = point_of(request)
    seen = watch.build_observed(point, stream.notes(watch.rows))
    watch.refuse_misread(stream, request.columns, seen)
    if isinstance(seen.summary.scores, BinnedTable):
        seen = replace(seen, notes=(*seen.notes, binned_note(seen.summary.scores)))
    if request.threshold is None or point is not None or not isinstance(seen.summary.space, Binary):
        return seen, None
    point, sweep = choose_threshold(table_in(seen), request.threshold, request.sampling)
    return watch.apply_threshold(seen, point, again=point), sweep


def binned_note(table: BinnedTable) -> str:
    """Return what is to be said of scores in bins."""
    low, high = roc_auc_bounds(table) if table.positives and table.negatives else (0.0, 1.0)
    return (
        f"scores are counted in {len(table):,} bins (--set approximate): ROC AUC is surely within "
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
    bare = "--set approximate" if request.approximate else "--save-statistics" if request.for_facts else None
    for option in ("weight", "group"):  # in memory, too: there is no other engine to name
        if bare is not None and getattr(request.columns, option):
            raise UsageError(
                f"{bare} does not support weights and groups",
                where=f"--set {option}",
                fix=f"leave --set {option} or {bare} out",
            )
    for given, what, option in (
        (request.truth_file, "a truth file is joined row by row", "--set truth_file"),
        (request.tune_on, "other rows to choose on are read as a whole", "--tune-on"),
    ):
        if given is not None:
            raise UsageError(
                f"{what}, which a stream does not support",
                where=option,
                fix=f"pass {MEMORY}, or leave {option} out",
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
    need += rows * RANKED if isinstance(stream.space, Multiclass) and stream.found.scores is not None else 0
    if budget.spill is not None and need > budget.words:
        check_room(budget.spill, need)


RANKED = 52
"""Bytes of a row of several classes by which its scores are ranked: own score, class, and two placings."""


def cells_of(stream: PredictionStream, rows: int) -> int:
    """Return how many scores are kept of some rows."""
    tables = len(stream.space) if isinstance(stream.space, Multilabel) else 1 + len(stream.request.slices)
    return rows * tables * (1 if stream.pred is None else 2)


T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class StreamCounting:
    """A stream whose columns are known; a `Counting`."""

    stream: PredictionStream
    request: Request

    def run_on_counts(
        self,
        work: Callable[[CollectedFacts], T],
        origin: Provenance | None = None,
        *,
        sought: Sequence[str] | None = None,
        sensitive: bool = False,
    ) -> MadeOfFacts[T]:
        """Count the rows, and do work on the counts.

        Raises
        ------
        EvalreportError
            Whatever keeps them from being counted; nothing is left behind.
        """
        stream, request = self.stream, self.request
        space = rename_labels(with_label_order(stream.space, request), dict(request.label_names))
        check_bins(stream, request)
        goals = goals_of_stream(stream, request, sought)
        budget = Budget(request.memory, temporary_folder())
        if not request.approximate:
            _check_room(stream, budget, chosen=bool(goals))
        holders = ScoreBins(budget) if request.approximate else budget
        with StreamingEvaluation(
            space, holders, answered=stream.pred is not None, at=point_of(request)
        ) as watch:
            for batch in stream.batches():
                watch.add(*batch)
                report_progress("rows counted", watch.rows, stream.data.rows or 0)
            tuned = read_rows_again(stream, watch, goals, request)
            seen, sweep = observe_stream(watch, stream, request)
        provenance = self._provenance(origin or Provenance())
        facts = CollectedFacts(seen, provenance.columns, provenance, sweep, tuned, sensitive=sensitive)
        return MadeOfFacts.from_collected(facts, work)

    def _provenance(self, origin: Provenance) -> Provenance:
        files, first = self.stream.data.files, self.stream.data.files[0]
        several = f"{len(files)} files"
        engine = f"stream of {several if len(files) > 1 else '1 file'}"
        engine += "" if self.request.engine == "stream" else ", by itself"
        name = first.name.split(".", 1)[0] if len(files) == 1 else first.parent.name
        return replace(
            origin,
            run_name=origin.run_name or name,
            source=first.name if len(files) == 1 else f"{first.parent.name or first.name} ({several})",
            sha256=self.stream.data.sha256,
            columns=(*self.stream.found.taken, ("engine", engine)),
            column_decision=self.stream.found.decision,
            **self.request.origin(),
            notes=(*origin.notes, *self.stream.found.unused_note),
        )


def open_files(item: Item, request: Request) -> StreamCounting:
    """Open the files of an item as a stream; an `Engine`.

    Raises
    ------
    EvalreportError
        Files that cannot be opened, or what a stream cannot do.
    """
    data = data_set(item.files or (str(item.path),), request.format)
    return StreamCounting(stream_of(data, request), request)

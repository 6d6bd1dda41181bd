"""Thresholds of several labels of rows that stream: chosen of tables, judged on rows that go by again."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from evalreport.facts import BinaryCounts
from evalreport.facts.classes import RankedScores
from evalreport.facts.counts import Array
from evalreport.facts.label_tables import LabelTables
from evalreport.facts.words import Budget, ScoreWords
from evalreport.intervals.sampling import Sampling
from evalreport.predictions import Predictions
from evalreport.scores import NoScores
from evalreport.stages import stage
from evalreport.thresholds.cross_fitting import FOLDS, estimated
from evalreport.thresholds.label_optima import (
    EACH,
    Corners,
    LabelObjective,
    corners_of,
    each_alone,
    of_corners,
    pooled,
)
from evalreport.thresholds.labels import counts_of_sums, drawn_sums, rounds_of
from evalreport.thresholds.records import OutOfSample, Tuned
from evalreport.thresholds.sweep import Sweep
from evalreport.thresholds.tuned import dealt, middle_of_rounds, too_few


def common_values(scores: RankedScores, goal: LabelObjective, at: Array) -> Array:
    """Return the value of an objective of counts where all labels have one threshold, at each of some.

    Examples
    --------
    >>> from evalreport.facts import ClassScores
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

"""Every threshold at once: the counts at every distinct score, and the best threshold for an objective."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
import numpy.typing as npt

from evalreport.core.bounds import CLOSE
from evalreport.core.result import Undefined
from evalreport.curves.curve import bends, evenly_spaced_places
from evalreport.data.predictions import Predictions
from evalreport.data.scores import NoScores
from evalreport.statistics.confusion import Array, BinaryCounts, Places, run_starts
from evalreport.statistics.score_table import ScoreTable, hull
from evalreport.statistics.stored_columns import is_stored
from evalreport.thresholds.best_threshold import (
    Choice,
    Optimum,
    SweepPoint,
    SweepRecord,
    Tuned,
    Unreachable,
    choice_from_wire,
    choice_to_wire,
)
from evalreport.thresholds.objectives import STANDARD, Objective

if TYPE_CHECKING:
    import pandas as pd

POINTS = 400
"""Most thresholds of a thinned sweep."""
GRID = 101
"""Thresholds of the even grid, and quantiles of the scores, in a thinned sweep."""
BLOCK = 1 << 13
"""Thresholds evaluated together: few enough to stay in cache."""
STEP = 32
"""Every how many-th threshold is evaluated first, with an upper limit for those in between. A smaller step
needs more evaluations; a larger one excludes fewer blocks."""


@dataclass(frozen=True)
class _Span:
    """Thresholds with a value equal to the maximum: that value, and their first and last position."""

    least: float
    first: int
    last: int


def scores_of_rows(rows: Predictions) -> ScoreTable:
    """Return the score table of rows with two labels, and scores."""
    assert not isinstance(rows.scores, NoScores)  # noqa: S101  checked by the caller
    weights = rows.weights if rows.weighted else None
    return ScoreTable.from_scores(rows.scores.values, rows.y_true.astype(bool), weights)


@dataclass(frozen=True, eq=False)
class Sweep:
    """The counts at every threshold.

    Parameters
    ----------
    thresholds : float64 array of shape (m,), ascending
        Every distinct score (positive when ``score >= threshold``), then infinity, which flags nothing.
    tp, fp : float64 arrays of shape (m,)
        Weight of the flagged positives and negatives.
    positives, negatives : float
        Total weight of positives and negatives.
    optima : mapping from an objective's name to Optimum, Unreachable or Undefined
        The choices, with held-out values if they were computed.

    Examples
    --------
    >>> table = ScoreTable.from_scores(np.array([0.1, 0.4, 0.6, 0.9]), np.array([False, True, False, True]))
    >>> sweep = Sweep.from_table(table)
    >>> sweep.best("recall>=1").threshold
    0.4
    >>> sweep.counts_at_threshold([0.5, 0.95]).fp
    array([1., 0.])
    """

    thresholds: Array
    tp: Array
    fp: Array
    positives: float
    negatives: float
    optima: Mapping[str, Choice] = field(default_factory=dict)

    @classmethod
    def from_table(cls, table: ScoreTable) -> Self:
        """Return the exact sweep of a score table, one threshold for each distinct score."""
        tp, fp = table.path
        scores = table.scores
        ends = scores.append_value(np.inf) if is_stored(scores) else np.append(scores, np.inf)
        return cls(cast(Array, ends), tp[::-1], fp[::-1], table.positives, table.negatives)

    def __len__(self) -> int:
        return len(self.thresholds)

    @property
    def counts(self) -> BinaryCounts:
        """Counts at all thresholds, arrays of shape (m,)."""
        return self.counts_at(slice(None))

    @property
    def points(self) -> tuple[SweepPoint, ...]:
        """The counts at every threshold, as records."""
        rows = zip(*(column.tolist() for column in self._columns().values()), strict=True)
        return tuple(SweepPoint(*row) for row in rows)

    def counts_at_threshold(self, threshold: npt.ArrayLike) -> BinaryCounts:
        """Return the counts at any threshold or thresholds.

        A thinned sweep is exact at its thresholds, which include the even grid of hundredths; for others it
        returns the counts at the next higher one.
        """
        wanted = np.asarray(threshold, dtype=np.float64)
        return replace(self.counts_at(np.searchsorted(self.thresholds, wanted)), threshold=wanted)

    def best(self, objective: str | Objective) -> Choice:
        """Return the best threshold for an objective.

        Parameters
        ----------
        objective : str or Objective
            See `Objective.parse`.

        Returns
        -------
        Optimum, or Unreachable (no threshold meets the constraint), or Undefined (the metric is undefined at
        every threshold). Ties go to the middle of the longest run of equal optimum.

        Raises
        ------
        UsageError
            The objective is unknown; the message names the nearest.
        """
        sought = Objective.parse(objective) if isinstance(objective, str) else objective
        known = self.optima.get(sought.name)
        if known is not None and (isinstance(known, Undefined) or known.text == sought.text):
            return known
        return self.choose((sought,))[0]

    def choose(self, objectives: Sequence[Objective]) -> tuple[Choice, ...]:
        """Return the best threshold for each objective, in one pass over the thresholds."""
        return tuple(
            self._choice(objective, place)
            for objective, place in zip(objectives, self._places(objectives), strict=True)
        )

    def with_optima(self, objectives: Sequence[Objective] = STANDARD) -> Self:
        """Return the sweep with the best threshold of each objective in `optima`."""
        names = (objective.name for objective in objectives)
        return replace(self, optima=dict(zip(names, self.choose(objectives), strict=True)))

    def thin(self, limit: int = POINTS, keep: Sequence[int] = (), corners: Places | None = None) -> Self:
        """Return the sweep at no more than `limit` thresholds.

        Kept are the optima (also of the standard objectives), the positions `keep`, an even grid of
        hundredths, the percentiles of the scores, the ends, and as many vertices of the ROC curve's convex
        hull as fit, sharpest bends first. `corners` are the vertices if they are known, as from `ScoreTable`.
        """
        if len(self) <= limit:
            return self
        whole = self if self.optima else self.with_optima()
        kept = np.unique(np.concatenate([whole.optimal(), keep, self._grid()]))
        kept = np.union1d(kept.astype(np.intp), self._hull(max(2, limit - len(kept)), corners))
        return replace(whole, thresholds=self.thresholds[kept], tp=self.tp[kept], fp=self.fp[kept])

    def to_frame(self) -> pd.DataFrame:
        """Return one row per threshold: the four counts, precision, recall, FPR and F1."""
        import pandas as pd

        counts = self.counts
        columns = {name: Objective(name).value(counts) for name in ("precision", "recall", "fpr", "f1")}
        return pd.DataFrame({**self._columns(), **columns})

    def to_wire(self) -> SweepRecord:
        """Return the record of the thinned sweep in `evaluation.json`: points and optima."""
        thin = self.thin()
        optima = {name: choice_to_wire(found) for name, found in thin.optima.items()}
        return SweepRecord(thin.points, optima)

    @classmethod
    def from_wire(cls, wire: SweepRecord) -> Self:
        """Return the (thinned) sweep from its record in `evaluation.json`.

        Raises
        ------
        ValueError
            There are no points, or the thresholds do not ascend to infinity.
        """
        columns = [
            np.array([getattr(point, one.name) for point in wire.points]) for one in fields(SweepPoint)
        ]
        thresholds, tp, fp, fn, tn = columns
        if not (np.diff(thresholds) > 0).all() or thresholds[-1] != math.inf:
            raise ValueError("the thresholds do not ascend to one that flags nothing")
        optima = {
            name: choice_from_wire(name, found)
            for name, found in wire.optima.items()
            if not isinstance(found, Tuned)
        }
        return cls(thresholds, tp, fp, float(tp[-1] + fn[-1]), float(fp[-1] + tn[-1]), optima)

    def _columns(self) -> dict[str, Array]:
        counts = self.counts
        return {
            "threshold": self.thresholds,
            "tp": counts.tp,
            "fp": counts.fp,
            "fn": counts.fn,
            "tn": counts.tn,
        }

    def counts_at(self, where: Any) -> BinaryCounts:
        """Return the counts at positions of `thresholds`: an index, several of them, or a slice."""
        return self._make_counts(self.tp[where], self.fp[where], self.thresholds[where])

    def _make_counts(self, tp: Array, fp: Array, threshold: Any = np.nan) -> BinaryCounts:
        # Weights that are summed in another order may exceed their total by rounding.
        fn, tn = np.maximum(self.positives - tp, 0.0), np.maximum(self.negatives - fp, 0.0)
        return BinaryCounts(tp, fp, fn, tn, threshold=threshold)

    def _places(self, objectives: Sequence[Objective]) -> list[int | None]:
        """Position of the optimum of each objective."""
        steps = self._steps()
        return [self._middle(objective, self._span(objective, steps)) for objective in objectives]

    def _steps(self) -> tuple[Array, Array]:
        """True and false positives at every `STEP`-th threshold, and at the end."""
        pieces = [slice(start, start + BLOCK) for start in range(0, len(self), BLOCK)]
        tp, fp = (  # copies: a view would keep the whole block in memory
            np.concatenate([*(part[piece][::STEP].copy() for piece in pieces), part[-1:]])
            for part in (self.tp, self.fp)
        )
        return tp, fp

    def _looks(self, objective: Objective, steps: tuple[Array, Array]) -> Iterator[tuple[float, list[float]]]:
        """The best value at some steps, and for each block between them an upper limit of all thresholds."""
        tp, fp = steps
        for start in range(0, len(tp) - 1, BLOCK):
            stop = min(start + BLOCK, len(tp) - 1)
            here, following = slice(start, stop), slice(start + 1, stop + 1)
            found = objective.score(self._make_counts(tp[here], fp[here]))
            could = objective.score(self._make_counts(tp[here], fp[following]))
            yield (
                float(found.max()),
                np.maximum.reduceat(could, np.arange(0, len(could), BLOCK // STEP)).tolist(),
            )

    def _blocks(self, objective: Objective, steps: tuple[Array, Array]) -> list[slice]:
        """Blocks of thresholds, without those that cannot be as good as an evaluated threshold."""
        blocks = [slice(start, start + BLOCK) for start in range(0, len(self), BLOCK)]
        if objective.monotone_above is None or len(blocks) == 1:
            return blocks
        found, could = zip(*self._looks(objective, steps), strict=True)
        best = max(found)
        floor = best - 2 * CLOSE * max(1.0, abs(best))
        if not floor > objective.monotone_above:
            return blocks
        return [block for block, most in zip(blocks, chain(*could), strict=True) if most >= floor]

    def _span(self, objective: Objective, steps: tuple[Array, Array]) -> _Span | None:
        """The thresholds at which an objective is greatest; None if it has no value."""
        blocks = self._blocks(objective, steps)
        tops = np.array([objective.score(self.counts_at(block)).max() for block in blocks])
        best = float(tops.max())
        if best == -np.inf:
            return None
        least = best - CLOSE * max(1.0, abs(best))
        hit = np.flatnonzero(tops >= least).tolist()
        first, last = (
            blocks[place].start + np.flatnonzero(objective.score(self.counts_at(blocks[place])) >= least)
            for place in (hit[0], hit[-1])
        )
        return _Span(least, int(first[0]), int(last[-1]))

    def _middle(self, objective: Objective, span: _Span | None) -> int | None:
        """Position of the middle of the longest run of equal optimum."""
        if span is None:
            return None
        longest, end, running = 0, span.first, 0  # first of equal runs; length of the unfinished run
        for start in range(span.first, span.last + 1, BLOCK):
            block = slice(start, min(start + BLOCK, span.last + 1))
            apart = np.flatnonzero(~(objective.score(self.counts_at(block)) >= span.least))
            stops = np.append(apart, block.stop - start)
            runs = np.diff(stops, prepend=-1) - 1
            runs[0] += running
            if runs.max() > longest:
                longest, end = int(runs.max()), start + int(stops[runs.argmax()]) - 1
            running = int(runs[-1])
        return end - longest // 2

    def _choice(self, objective: Objective, place: int | None) -> Choice:
        if place is None:
            return self._no_choice(objective)
        counts = self.counts_at(place)
        tp, fp, fn, tn = map(float, (counts.tp, counts.fp, counts.fn, counts.tn))
        return Optimum(
            objective.name,
            objective.text,
            objective.metric,
            float(self.thresholds[place]),
            float(objective.value(counts)),
            *(tp, fp, fn, tn),
        )

    def _no_choice(self, objective: Objective) -> Choice:
        margin = objective.margin(self.counts)
        nearest = int(margin.argmax())
        bound = objective.constraint
        if bound is None or margin[nearest] == -np.inf or bool(bound.keeps(self.counts_at(nearest))):
            lacking = [f"no {name} example" for name, n in self._classes() if n == 0]
            reason = ", ".join([f"{objective.metric} is undefined at every threshold", *lacking])
            return Undefined(reason, self.positives + self.negatives)
        value = bound.number + margin[nearest] * (1 if bound.demands == "high" else -1)
        return Unreachable(
            objective.name,
            objective.text,
            bound.metric,
            bound.number,
            float(value),
            float(self.thresholds[nearest]),
        )

    def _classes(self) -> tuple[tuple[str, float], ...]:
        return ("positive", self.positives), ("negative", self.negatives)

    def optimal(self) -> Places:
        """Return the positions of the `optima`."""
        found = [o.threshold for o in self.optima.values() if not isinstance(o, Undefined)]
        return np.searchsorted(self.thresholds, found)

    def _grid(self) -> Places:
        least, greatest = self.thresholds[0], self.thresholds[-2]
        unit = least >= 0 and greatest <= 1
        even = np.arange(GRID) / (GRID - 1) if unit else np.linspace(least, greatest, GRID)
        spread = evenly_spaced_places(lambda place: -(self.tp[place] + self.fp[place]), len(self), GRID)
        return np.concatenate([np.searchsorted(self.thresholds, even), spread])

    def _hull(self, room: int, corners: Places | None) -> Places:
        x, y = self.fp[::-1], self.tp[::-1]
        vertices = hull(x, y) if corners is None else corners
        if len(vertices) > room:
            scaled = (x[vertices] / max(self.negatives, 1), y[vertices] / max(self.positives, 1))
            vertices = vertices[bends(*scaled, np.array([], dtype=int), room, 0.0)]
        return len(self) - 1 - vertices


def middle_of_longest_run(equal: npt.NDArray[np.bool_]) -> Places:
    """Return the middle of the longest run of true values along the last axis; of equal runs the first.

    Examples
    --------
    >>> int(middle_of_longest_run(np.array([True, False, True, True, True, False, True])))
    3
    """
    middle: Places = np.array(equal.argmax(axis=-1))
    several = np.count_nonzero(equal, axis=-1) > 1
    if several.any():
        some = np.pad(equal[several], ((0, 0), (1, 1)))
        first, beyond = np.flatnonzero(some[:, 1:] != some[:, :-1]).reshape(-1, 2).T
        size, (row, end) = beyond - first, np.divmod(beyond - 1, some.shape[1] - 1)
        longest = np.flatnonzero(size == np.maximum.reduceat(size, run_starts(row))[row])
        chosen = longest[run_starts(row[longest])]
        middle[several] = end[chosen] - size[chosen] // 2
    return middle

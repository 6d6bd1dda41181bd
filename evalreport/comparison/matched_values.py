"""What two binary runs reach where they decide alike: matched points, numbers of alarms, crossings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from evalreport.codec import Infinite, Mass

MatchKind: TypeAlias = Literal["own_thresholds", "equal_recall", "equal_alarms", "lowest_cost"]
MatchVerdict: TypeAlias = Literal[
    "better", "worse", "not_demonstrated", "equal_by_design", "too_few_to_say", "undefined"
]


@dataclass(frozen=True)
class MatchedCount:
    """A count of both runs at a matched point, in rows: run first, and run minus baseline.

    `low` and `high` are None, and `verdict` is ``undefined``, where no resample differs or there were none;
    ``too_few_to_say`` where the runs decide so few rows differently that no count of these would demonstrate
    anything: the limits are then those of resamples where they hold 0, else None.
    """

    values: tuple[float, float]
    difference: float
    low: float | None = None
    high: float | None = None
    verdict: MatchVerdict = "undefined"


@dataclass(frozen=True)
class MatchedPoint:
    """Two binary runs where they decide alike: at their own thresholds, equal recall, equal alarms, a cost.

    Parameters
    ----------
    run, baseline : str
    kind : {"own_thresholds", "equal_recall", "equal_alarms", "lowest_cost"}
    thresholds : (float, float)
        Of the run, which moved, and of the baseline, which stayed; at the lowest cost both moved.
    found, false_alarms : MatchedCount
        Positives at or above the thresholds, and negatives. At the lowest cost they are cross-fitted: counted
        on rows that took no part in the choice of the threshold that decides them.
    cost : MatchedCount or None
        What 1,000 rows cost; None where no cost was stated.
    between : bool
        Whether the run finds, or flags, just as many at no threshold, as scores are tied or rows weigh: its
        counts are then those on the straight line from this threshold, which flags more, to the next.
    """

    run: str
    baseline: str
    kind: MatchKind
    thresholds: tuple[Infinite, Infinite]
    found: MatchedCount
    false_alarms: MatchedCount
    cost: MatchedCount | None = None
    between: bool = False


@dataclass(frozen=True)
class AlarmPlace:
    """Both runs at a number of alarms, within a tie as many of its rows as there are alarms left for.

    Parameters
    ----------
    alarms : float
        Rows that are flagged.
    thresholds : (float, float)
        The lowest of each that flags no more, run first; infinite (null in JSON) where the top tie alone is
        larger.
    found : MatchedCount
        With an interval at nine of the places.
    false_alarms : (float, float)
    """

    alarms: Mass
    thresholds: tuple[Infinite, Infinite]
    found: MatchedCount
    false_alarms: tuple[Mass, Mass]


@dataclass(frozen=True)
class AlarmList:
    """Two binary runs over the number of alarms, evenly on a logarithmic scale.

    Parameters
    ----------
    run, baseline : str
    rows, positives : float
    own : (float or None, float or None)
        Alarms at the threshold of each.
    places : tuple of AlarmPlace
    """

    run: str
    baseline: str
    rows: Mass
    positives: Mass
    own: tuple[float | None, float | None]
    places: tuple[AlarmPlace, ...]


@dataclass(frozen=True)
class RocCrossing:
    """Where the ROC curves of two runs meet or are nearest, and which finds more below and above that FPR."""

    run: str
    baseline: str
    fpr: float
    recall: float
    ahead_below: str
    ahead_above: str

"""What a sweep tried: `Trials` with their objectives, parameters and states, and how lucky the best was."""

from evalreport.trials.luck import WinnersCurse, error_correlation, winners_curse
from evalreport.trials.selection import expected_maximum
from evalreport.trials.study import HistoryPoint, Trials
from evalreport.trials.values import (
    STATES,
    Column,
    Direction,
    Objective,
    Param,
    Space,
    State,
    Trial,
)

__all__ = [
    "STATES",
    "Column",
    "Direction",
    "HistoryPoint",
    "Objective",
    "Param",
    "Space",
    "State",
    "Trial",
    "Trials",
    "WinnersCurse",
    "error_correlation",
    "expected_maximum",
    "winners_curse",
]

"""What a sweep tried: `Trials` with their objectives, parameters and states, and how lucky the best was."""

from evalreport.study.luck import WinnersCurse, error_correlation, winners_curse
from evalreport.study.selection import expected_maximum
from evalreport.study.trials import HistoryPoint, Trials
from evalreport.study.values import (
    STATES,
    Direction,
    Param,
    ParameterColumn,
    Space,
    State,
    StudyObjective,
    Trial,
)

__all__ = [
    "STATES",
    "Direction",
    "HistoryPoint",
    "Param",
    "ParameterColumn",
    "Space",
    "State",
    "StudyObjective",
    "Trial",
    "Trials",
    "WinnersCurse",
    "error_correlation",
    "expected_maximum",
    "winners_curse",
]

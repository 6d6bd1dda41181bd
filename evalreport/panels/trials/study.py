"""What the page of a sweep is made from."""

from __future__ import annotations

from dataclasses import dataclass, field

from evalreport.evaluation.parts import Provenance
from evalreport.sweep.importance import Importance
from evalreport.trials import Objective, State, Trials, WinnersCurse
from evalreport.values import Undefined

NOT_ASKED = Undefined("it was not asked for")
STATES: dict[State, str] = {
    "complete": "complete",
    "pruned": "pruned",
    "failed": "failed",
    "running": "still running",
    "waiting": "waiting",
}


@dataclass(frozen=True)
class Study:
    """The trials with what was worked out of them.

    Parameters
    ----------
    trials : Trials
    at : int
        Position of the objective that the page is about.
    importance : Importance or Undefined
    curse : WinnersCurse or Undefined
    provenance : Provenance
    """

    trials: Trials
    at: int = 0
    importance: Importance | Undefined = NOT_ASKED
    curse: WinnersCurse | Undefined = NOT_ASKED
    provenance: Provenance = field(default_factory=Provenance)

    @property
    def objective(self) -> Objective:
        """What the page is about."""
        return self.trials.objectives[self.at]

    @property
    def several(self) -> bool:
        """Whether the study has more than one objective."""
        return len(self.trials.objectives) > 1

"""How Optuna searched, where an objective did not fall apart into labels."""

from __future__ import annotations

from evalreport.evaluation.chosen import Chosen
from evalreport.evaluation.study import Study
from evalreport.panels.parts import Section
from evalreport.panels.trials import course


def panel(found: Chosen) -> Section | None:
    """Return the history of the first search."""
    trials = next((best.trials for best in found.tuned.values() if best.trials is not None), None)
    return None if trials is None else course.history(Study(trials))

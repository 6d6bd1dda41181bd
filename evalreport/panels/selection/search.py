"""How Optuna searched, where an objective did not fall apart into labels."""

from __future__ import annotations

from evalreport.evaluation.threshold_selection import ThresholdSelection
from evalreport.panels.parts import Beside, Section
from evalreport.panels.study.course import READ, history_chart
from evalreport.panels.words import say
from evalreport.study.views import history_view


def panel(found: ThresholdSelection) -> Section | None:
    """Return the history of each search."""
    searched = [best.trials for best in found.tuned.values() if best.trials is not None]
    if not searched:
        return None
    charts = (history_chart(history_view(trials), place) for place, trials in enumerate(searched))
    summary = READ + say("The first trials are the starting points.")
    return Section.of("history", "Search", "How the search went", summary, Beside(tuple(charts)))

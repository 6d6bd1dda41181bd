"""The forest table of a page of thresholds: what each choice is worth elsewhere."""

from __future__ import annotations

import math

from evalreport.evaluation.threshold_selection import Selected, ThresholdSelection
from evalreport.format import threshold as threshold_text
from evalreport.panels.about import confidence_percent
from evalreport.panels.intervals import Forest, ForestRow, forest_row
from evalreport.panels.objectives import objective_style, objective_title
from evalreport.panels.tuned import how
from evalreport.panels.words import Sentence, say
from evalreport.thresholds.cutoff import Cutoff
from evalreport.thresholds.optimum import Optimum, OutOfSample
from evalreport.thresholds.tuned import Tuned
from evalreport.values import Undefined

ROWS = 7
"""Objectives that the first screen has room for; all are in the table."""
MIDDLE = 0.5
"""The threshold that everybody has who chose none."""
NO_VALUE = OutOfSample(Undefined("not worked out"), None, "")


def forest(found: ThresholdSelection) -> Forest:
    """Return each choice with its value elsewhere, and what is reached without it."""
    rows = [row for name, best in found.found.items() if (row := _row(found, name, best)) is not None]
    without = "At 0.5" if found.evaluation.task == "binary" else "Without"
    heads = (
        "Chosen for",
        "Elsewhere",
        f"{confidence_percent(found.evaluation)} interval",
        without,
    )
    return Forest(tuple(rows[:ROWS]), heads=heads)


def _row(found: ThresholdSelection, name: str, best: Selected) -> ForestRow | None:
    """A row where values lie between 0 and 1, or -1 and 1."""
    match best:
        case Optimum() if (style := objective_style(best.metric)) != "number":
            out_of_sample = best.out_of_sample or NO_VALUE
            gloss = _gloss(name, best)
            return forest_row(
                name,
                objective_title(name),
                gloss,
                out_of_sample.value,
                style,
                reference=_at_half(found, name),
            )
        case Cutoff():
            gloss = say("share answered, from a confidence of {at} on", at=threshold_text(best.threshold))
            return forest_row(
                name, objective_title(name), gloss, best.out_of_sample.value, "percent", reference=1.0
            )
        case Tuned() if (style := objective_style(name)) != "number":
            gloss = say("{how}", how=how(best))
            value, title = best.out_of_sample.value, objective_title(name)
            return forest_row(name, title, gloss, value, style, reference=best.without)
        case _:
            return None


def _gloss(name: str, best: Optimum) -> Sentence:
    at = threshold_text(best.threshold)
    if name == best.metric:
        return say("at a threshold of {at}", at=at)
    return say("{metric} at a threshold of {at}", metric=objective_title(best.metric), at=at)


def _at_half(found: ThresholdSelection, name: str) -> float | None:
    """The value at a threshold of 0.5, of probabilities; none where the bound is missed there."""
    if found.whole is None or found.evaluation.score_kind != "probability":
        return None
    objective = found.objectives[name]
    score = float(objective.score(found.whole.at(MIDDLE)))
    return (-score if objective.lower else score) if math.isfinite(score) else None

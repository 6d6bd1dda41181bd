"""Cut-offs of confidence: how much is answered, and how often rightly."""

from __future__ import annotations

from evalreport.estimates import beside, interval, valued
from evalreport.evaluation.threshold_selection import Selected, ThresholdSelection
from evalreport.format import threshold as threshold_text
from evalreport.panels.about import confidence_percent
from evalreport.panels.objectives import objective_title
from evalreport.panels.parts import Cell, Column, Noted, Section, Table
from evalreport.panels.words import NOTHING, say
from evalreport.thresholds.cutoff import Cutoff
from evalreport.thresholds.optimum import Unreachable
from evalreport.thresholds.tuned import Tuned
from evalreport.values import Undefined


def panel(found: ThresholdSelection) -> Section | None:
    """Return one row per wanted accuracy."""
    wanted = {name: best for name, best in found.found.items() if not isinstance(best, Tuned)}
    if not wanted:
        return None
    level = confidence_percent(found.evaluation)
    heads = ("Wanted", "Confidence from", "Its interval", "Answered", "Right", "Answered elsewhere")
    titles = (*heads, f"{level} interval", "Right elsewhere", f"{level} interval")
    columns = tuple(Column(title, "n" if place else "") for place, title in enumerate(titles))
    rows = tuple(_row(name, best) for name, best in wanted.items())
    body = Noted(
        Table("cutoffs-table", "Cut-offs", columns, rows),
        say("What is less sure than the cut-off is left to a person, or to another model."),
    )
    return Section("cutoffs", "Wanted accuracy", "How sure is sure enough", "shares", NOTHING, body)


def _row(name: str, best: Selected) -> tuple[Cell, ...]:
    title = objective_title(name)
    if not isinstance(best, Cutoff):
        reason = best.reason if isinstance(best, Undefined | Unreachable) else ""
        return (Cell(title, sub=reason), *(Cell("–", "n") for _ in range(8)))
    coverage, kept = best.out_of_sample.value, best.out_of_sample.kept or Undefined("not worked out")
    return (
        Cell(title),
        Cell(threshold_text(best.threshold), "n"),
        Cell(f"{threshold_text(best.low)} to {threshold_text(best.high)}", "n"),
        Cell(beside(best.coverage, coverage, "percent"), "n"),
        Cell(beside(best.accuracy, kept, "percent"), "n"),
        *(
            cell
            for result in (coverage, kept)
            for cell in (
                Cell("–" if isinstance(result, Undefined) else valued(result, "percent"), "n"),
                Cell(interval(result, "percent"), "n"),
            )
        ),
    )

"""Cut-offs of confidence: how much is answered, and how often rightly."""

from __future__ import annotations

from evalreport.estimates import beside, interval, valued
from evalreport.evaluation.threshold_selection import Selected, ThresholdSelection
from evalreport.format import percent
from evalreport.format import threshold as threshold_text
from evalreport.panels.about import confidence_percent
from evalreport.panels.objectives import objective_title
from evalreport.panels.operating import ROUGH
from evalreport.panels.parts import Cell, Note, Row, Section, Table
from evalreport.panels.selection.bounds import held_cell
from evalreport.panels.words import NOTHING, say
from evalreport.thresholds.cutoff import Cutoff
from evalreport.thresholds.optimum import Optimum, Unreachable
from evalreport.thresholds.tuned import Tuned
from evalreport.values import Undefined


def panel(found: ThresholdSelection) -> Section | None:
    """Return one row per wanted accuracy."""
    others = (Tuned, Optimum)
    wanted = {
        name: best for name, best in found.found.items() if not isinstance(best, others) and "[" not in name
    }
    if not wanted:
        return None
    level = confidence_percent(found.evaluation)
    heads = ("Wanted", "Confidence from", "Its interval", "Answered", "Right", "Answered elsewhere")
    titles: tuple[str, ...] = (*heads, f"{level} interval", "Right elsewhere", f"{level} interval")
    hold = found.evaluation.sampling.hold
    titles += () if hold is None else (f"Held with {percent(hold, ROUGH)}",)
    table = Table.of(
        "cutoffs-table", "Cut-offs", titles, (_row(name, best, hold) for name, best in wanted.items())
    )
    note = Note(say("What is less sure than the cut-off is left to a person, or to another model."))
    return Section.of("cutoffs", "Wanted accuracy", "How sure is sure enough", NOTHING, table, note)


def _row(name: str, best: Selected, hold: float | None) -> Row:
    title = objective_title(name)
    if not isinstance(best, Cutoff):
        reason = best.reason if isinstance(best, Undefined | Unreachable) else ""
        return (Cell(title, sub=reason), *["–"] * (8 if hold is None else 9))
    coverage, kept = best.out_of_sample.value, best.out_of_sample.kept or Undefined("not worked out")
    return (
        title,
        threshold_text(best.threshold),
        f"{threshold_text(best.low)} to {threshold_text(best.high)}",
        beside(best.coverage, coverage, "percent"),
        beside(best.accuracy, kept, "percent"),
        *(
            shown
            for result in (coverage, kept)
            for shown in (
                "–" if isinstance(result, Undefined) else valued(result, "percent"),
                interval(result, "percent"),
            )
        ),
        *(() if best.hold is None else (held_cell(best.hold),)),
    )

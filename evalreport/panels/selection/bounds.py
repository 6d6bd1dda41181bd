"""Bounds and cut-offs: what the sample suggests, how likely it is to last, and what holds."""

from __future__ import annotations

from evalreport.estimates import beside, interval, shown_value, valued
from evalreport.evaluation.threshold_selection import Selected, ThresholdSelection
from evalreport.format import percent, show
from evalreport.format import threshold as threshold_text
from evalreport.panels.about import confidence_percent, objective_style, objective_title
from evalreport.panels.operating import ROUGH
from evalreport.panels.parts import Cell, Note, Row, Section, Table
from evalreport.panels.words import NOTHING, say
from evalreport.thresholds.optimum import Optimum, Unreachable
from evalreport.thresholds.records import Cutoff, Hold, Tuned
from evalreport.values import Estimate, Undefined


def bounds(found: ThresholdSelection) -> Section | None:
    """Return one row per bound of a label or class, or of all labels together."""
    wanted = {name: best for name, best in found.found.items() if isinstance(best, Optimum)}
    if not wanted:
        return None
    hold = found.evaluation.sampling.hold
    heads = ("Bound", "Threshold here", "Kept here", "Chance on new rows", "Expect elsewhere")
    titles = heads if hold is None else (*heads, f"Held with {percent(hold, ROUGH)}")
    table = Table.of("bounds-table", "Bounds", titles, (_bound_row(*pair) for pair in wanted.items()))
    summary = say("A label is set when its score is at least its threshold; each bound is kept by itself.")
    if hold is not None and len(wanted) > 1:
        summary += say(
            "Of {bounds:count} bounds that hold with {hold:percent} confidence each, {broken} may break.",
            bounds=len(wanted),
            hold=hold,
            broken=f"{(1 - hold) * len(wanted):.2g}",
            of=ROUGH,
        )
    note = Note(say("“Elsewhere” is on rows that took no part in the choice."))
    return Section.of("bounds", "Bounds", "Bounds and what holds them", summary, table, note)


def _bound_row(name: str, best: Optimum) -> Row:
    bound, other = best.bound, best.out_of_sample
    kept = "–" if bound is None else show(bound.here, objective_style(bound.metric))
    value = None if other is None else other.value
    expected = Cell("–")
    if isinstance(value, Estimate):
        style, title = objective_style(best.metric), objective_title(best.metric)
        limits = interval(value, style)
        expected = Cell(valued(value, style), sub=title if limits == "–" else f"{title}, {limits}")
    return (
        objective_title(name),
        threshold_text(best.threshold),
        kept,
        "–" if best.chance is None else percent(best.chance, ROUGH),
        expected,
        *(() if best.hold is None else (held_cell(best.hold),)),
    )


def held_cell(hold: Hold) -> Cell:
    """Return the threshold that holds with what it costs, or why none does."""
    if hold.threshold is None or hold.costs is None:
        return Cell("–", sub=hold.reason or "")
    costs = hold.costs
    if costs.value is None:
        return Cell(threshold_text(hold.threshold))
    style, title = objective_style(costs.metric), objective_title(costs.metric)
    if costs.metric == "coverage":
        style, title = "percent", "answered"
    told = f"{title} {show(costs.value, style)}, not {show(costs.instead_of, style)}"
    return Cell(threshold_text(hold.threshold), sub=told)


def cutoffs(found: ThresholdSelection) -> Section | None:
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
        "cutoffs-table", "Cut-offs", titles, (_cutoff_row(name, best, hold) for name, best in wanted.items())
    )
    note = Note(say("What is less sure than the cut-off is left to a person, or to another model."))
    return Section.of("cutoffs", "Wanted accuracy", "How sure is sure enough", NOTHING, table, note)


def _cutoff_row(name: str, best: Selected, hold: float | None) -> Row:
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
            told
            for result in (coverage, kept)
            for told in (shown_value(result, "percent"), interval(result, "percent"))
        ),
        *(() if best.hold is None else (held_cell(best.hold),)),
    )

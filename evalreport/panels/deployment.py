"""What to expect where positives are rarer, or more frequent, than in these data."""

from __future__ import annotations

from collections.abc import Mapping

from evalreport.estimates import interval, valued
from evalreport.evaluation.model import Evaluation
from evalreport.evaluation.threshold_selection import ThresholdSelection
from evalreport.format import Style
from evalreport.metrics.catalogue import find
from evalreport.metrics.entries.operating_points import ALARMS, AT_PREVALENCE, stated_prevalence
from evalreport.panels.about import confidence_percent, estimate, four_counts, objective_title, tell
from evalreport.panels.parts import Cell, Row, Section, Table
from evalreport.panels.words import Sentence, paragraph, say
from evalreport.values import Result, Undefined

TITLES: Mapping[str, str] = {
    "precision": "Alarms that are right (PPV)",
    "npv": "Others that are right (NPV)",
    "net_benefit": "Net benefit",
    ALARMS: "Alarms per 1,000",
}
"""What is asked for at a stated prevalence, in words of a table."""


def share_text(prevalence: float) -> str:
    """Return a stated prevalence as it was stated.

    Examples
    --------
    >>> share_text(0.0125)
    '1.25%'
    """
    return f"{100 * prevalence:.6g}%"


def panel(ev: Evaluation) -> Section | None:
    """Return what the model does at the prevalence that was stated; None where none was."""
    prevalence = stated_prevalence(ev.metrics)
    if prevalence is None:
        return None
    rows = ((TITLES[name], _both(result, style)) for name, result, style in _of_interest(ev, prevalence))
    heads = ("At this prevalence", f"Estimate, {confidence_percent(ev)} interval")
    table = Table.of("deployment-table", f"At a prevalence of {share_text(prevalence)}", heads, rows)
    title = f"What to expect at a prevalence of {share_text(prevalence)}"
    return Section.of("deployment", "Prevalence", title, _summary(ev, prevalence), table)


def _of_interest(ev: Evaluation, prevalence: float) -> list[tuple[str, Result, Style]]:
    found = []
    for name in AT_PREVALENCE:
        key = f"{name}@prevalence={prevalence:g}"
        if key in ev.metrics:
            found.append((name, ev.metrics[key], find(key).style))
    return found


def _both(result: Result, style: Style) -> Cell:
    """An estimate over its interval."""
    if isinstance(result, Undefined):
        return Cell("undefined", sub=result.reason)
    return Cell(valued(result, style), sub=interval(result, style))


def _summary(ev: Evaluation, prevalence: float) -> Sentence:
    alarms = estimate(ev, f"{ALARMS}@prevalence={prevalence:g}")
    right = estimate(ev, f"precision@prevalence={prevalence:g}") if alarms else None
    counts = four_counts(ev)
    if counts is None:
        return say("Nothing decides here: without a threshold there are no alarms.")
    would = "Of {thousand:count} {units} there {alarms:number} would be alarms."
    words = "Recall and false-alarm rate are taken to stay as they are in these data, of which "
    return paragraph(
        tell(ev, would, thousand=1000, alarms=alarms),
        tell(ev, "Of the alarms {right_there:percent} would be right.", right_there=right),
        tell(ev, words + "{prevalence:percent} are {positives}.", prevalence=counts.positives / counts.total),
    )


def chosen(found: ThresholdSelection) -> Section | None:
    """Return what the best threshold of each objective does at the prevalence that was stated."""
    named = dict.fromkeys(name for results in found.deployed.values() for name in results)
    prevalence = stated_prevalence(named)
    if prevalence is None:
        return None
    rows: list[Row] = []
    for objective, results in found.deployed.items():
        shown = (_both(result, find(name).style) for name, result in results.items())
        rows.append((objective_title(objective), *shown))
    title = f"The same thresholds at a prevalence of {share_text(prevalence)}"
    summary = say("Recall and false-alarm rate are taken to stay as they are in these data.")
    table = Table.of("deployment-table", title, ("For", *TITLES.values()), rows)
    return Section.of("deployment", "Prevalence", title, summary, table)

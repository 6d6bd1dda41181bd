"""Where the uncertainty of a system comes from, and what would lessen it."""

from __future__ import annotations

from evalreport.comparison.system_values import SystemResult, SystemsComparison, SystemValue
from evalreport.panels.parts import Cell, Column, Empty, Note, Row, Section, Table, share_cell
from evalreport.panels.systems.words import main_metric, points
from evalreport.panels.words import NOTHING, Sentence, say, shortened

HARDLY = 0.9
"""Of the half-width now: more runs that leave so much of it hardly narrow it."""
TITLE = "Where the uncertainty comes from"


def panel(found: SystemsComparison) -> Section:
    """Return the shares of each system's variance, and its interval with more runs or more rows."""
    known = [(one, value) for one in found.systems if (value := one.metrics[found.primary]).variance]
    if not known:
        empty = Empty(
            say("Nothing is known of the seeds."),
            say("That takes two runs of a system, and a metric to which each row has its share."),
        )
        return Section.of("sources", "Uncertainty", TITLE, NOTHING, empty)
    rows, unit = (_row(found, one, value) for one, value in known), found.unit[1]
    heads = (
        "System",
        Column(f"By {unit}", "q"),
        Column("By seeds", "q"),
        Column("By both", "q"),
        "Interval now",
        "With 20 runs",
        f"With 4 × {unit}",
    )
    table = Table.of("sources-table", "Shares of the variance of each system", heads, rows)
    key = say(
        "By {units}: some are hard for every run. Seeds: some runs are better on all. Both: a run gets other "
        "{units} right. Negative estimates are 0.",
        units=unit,
    )
    return Section.of("sources", "Uncertainty", TITLE, _summary(found, *known[0]), table, Note(key))


def _summary(found: SystemsComparison, one: SystemResult, value: SystemValue) -> Sentence:
    shares, widths = value.variance, value.half_widths
    if shares is None or widths is None:
        return NOTHING
    hardly = "hardly narrow it" if widths.runs_20 > HARDLY * widths.now else "narrow it to {runs:percent}"
    return say(
        "*{rows:percent} of it for {system} comes from which {units} were drawn*, {rest:percent} from the "
        "seeds, alone or together with the {units}. Twenty runs would "
        + hardly
        + ", four times the {units} would "
        "leave {more:percent} of it.",
        rows=shares.rows,
        rest=1 - shares.rows,
        system=shortened(one.system),
        units=found.unit[1],
        runs=widths.runs_20 / widths.now,
        more=widths.rows_4 / widths.now,
    )


def _row(found: SystemsComparison, one: SystemResult, value: SystemValue) -> Row:
    shares, widths, style = value.variance, value.half_widths, main_metric(found).style
    if shares is None or widths is None:
        return (one.system, *("–",) * 6)
    told = (
        points(width, value.low, value.high, style).text
        for width in (widths.now, widths.runs_20, widths.rows_4)
    )
    return (
        one.system,
        *(share_cell(share) for share in (shares.rows, shares.seeds, shares.both)),
        *(Cell(f"± {width}") for width in told),
    )

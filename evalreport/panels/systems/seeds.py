"""What the seeds do: where the uncertainty of a system comes from, and which answers change with the seed."""

from __future__ import annotations

from evalreport.comparison.system_values import (
    ChangingAnswer,
    Churn,
    SystemResult,
    SystemsComparison,
    SystemValue,
)
from evalreport.format import percent
from evalreport.panels.examples import UNREADABLE, numbered
from evalreport.panels.parts import (
    Beside,
    Cell,
    Column,
    Empty,
    Folded,
    Heading,
    Note,
    PagePart,
    Row,
    Section,
    Table,
    share_cell,
)
from evalreport.panels.systems.words import main_metric, points
from evalreport.panels.words import NOTHING, Sentence, say

MOST = 5
"""Examples that are shown of each system."""
CLASSES = 12
"""Classes that are shown of each system: those with most answers that change."""
KINDS = ("Not all the same", "Two runs differ", "Right or wrong")
ANSWERS = "Answers that change with the seed"


def answers(found: SystemsComparison) -> Section:
    """Return how many answers the seed decides."""
    known = [(one, one.churn) for one in found.systems if one.churn is not None]
    if not known:
        empty = Empty(
            say("Nothing can be said of changing answers."),
            say("That takes two runs of a system that decide on the same {units}.", units=found.unit[1]),
        )
        return Section.of("answers", "Changing answers", ANSWERS, NOTHING, empty)
    heads = ("System", *KINDS)
    rows = ((one.system, *_shares(found, churn)) for one, churn in known)
    table = Table.of("churn-table", "Shares of answers that change", heads, rows)
    hang = [(one, one.examples[:MOST]) for one, _ in known if one.examples]
    parts: list[PagePart] = [table]
    if hang:
        one, shown = hang[0]
        parts = [
            Beside(
                (
                    table,
                    (
                        Heading(f"Right or wrong by the seed, {one.system}"),
                        _examples(found, 0, one.system, shown),
                    ),
                )
            )
        ]
        parts += [
            Folded(f"The same of {other.system}", (_examples(found, k, other.system, more),))
            for k, (other, more) in enumerate(hang[1:], 1)
        ]
    classes = [_classes(found, one, k) for k, (one, _) in enumerate(known) if one.churn_by_class]
    folded = Folded("By class", tuple(classes)) if classes else None
    return Section.of(
        "answers", "Changing answers", ANSWERS, _churn_summary(found, *known[0]), *parts, folded
    )


def _shares(found: SystemsComparison, churn: Churn) -> tuple[str, str, str]:
    first, second, third = (percent(s, found.rows) for s in (churn.any, churn.two, churn.correctness))
    return first, second, third


def _churn_summary(found: SystemsComparison, one: SystemResult, churn: Churn) -> Sentence:
    return say(
        "For *{churn.any:percent} of the {units}* the {runs:count} runs of {system:short} do not all give "
        "the same answer; two of its runs differ on {churn.two:percent}. On {churn.correctness:percent} "
        "({rows:count} of {n:count}) the seed decides between right and wrong.",
        {"churn": churn, "system": one.system, "units": found.unit[1]},
        of=found.rows,
        rows=one.only_sometimes_right or 0,
        n=found.rows,
        runs=len(one.runs),
    )


def _examples(found: SystemsComparison, k: int, system: str, shown: tuple[ChangingAnswer, ...]) -> Table:
    heads = (found.unit[0].capitalize(), Column("Truth"), Column("Runs in order"), Column("Else answered"))
    rows = (_example(entry) for entry in shown)
    name = f"Answers that some runs of {system} get right and others wrong"
    return Table.of(f"changing-{k}", name, heads, rows)


def _example(entry: ChangingAnswer) -> Row:
    wrong = [
        ", ".join(answer) or UNREADABLE
        for answer, right in zip(entry.answers, entry.right, strict=True)
        if not right
    ]
    marks = " ".join("✓" if right else "✗" for right in entry.right)
    return (
        Cell(numbered(entry.id)) if entry.text is None else Cell(entry.text, sub=numbered(entry.id)),
        ", ".join(entry.truth),
        Cell(marks, sub=f"{sum(entry.right)} of {len(entry.right)} right"),
        "; ".join(dict.fromkeys(wrong)),
    )


def _classes(found: SystemsComparison, one: SystemResult, k: int) -> Table:
    most = sorted(one.churn_by_class.items(), key=lambda entry: -entry[1].correctness)[:CLASSES]
    heads = (f"Class, {one.system}", *KINDS)
    rows = ((name, *_shares(found, churn)) for name, churn in most)
    return Table.of(f"churn-{k}", f"Classes whose answers change most, {one.system}", heads, rows)


HARDLY = 0.9
"""Of the half-width now: more runs that leave so much of it hardly narrow it."""
SOURCES = "Where the uncertainty comes from"


def sources(found: SystemsComparison) -> Section:
    """Return the shares of each system's variance, and its interval with more runs or more rows."""
    known = [(one, value) for one in found.systems if (value := one.metrics[found.primary]).variance]
    if not known:
        remedy = "That takes two runs of a system, and a metric to which each row has its share."
        empty = Empty(say("Nothing is known of the seeds."), say(remedy))
        return Section.of("sources", "Uncertainty", SOURCES, NOTHING, empty)
    rows, unit = (_source_row(found, one, value) for one, value in known), found.unit[1]
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
    return Section.of("sources", "Uncertainty", SOURCES, _sources_summary(found, *known[0]), table, Note(key))


def _sources_summary(found: SystemsComparison, one: SystemResult, value: SystemValue) -> Sentence:
    shares, widths = value.variance, value.half_widths
    if shares is None or widths is None:
        return NOTHING
    hardly = "hardly narrow it" if widths.runs_20 > HARDLY * widths.now else "narrow it to {runs:percent}"
    return say(
        "*{rows:percent} of it for {system:short} comes from which {units} were drawn*, {rest:percent} from "
        f"the seeds, alone or together with the {{units}}. Twenty runs would {hardly}, four times the "
        "{units} would leave {more:percent} of it.",
        {"system": one.system, "units": found.unit[1]},
        rows=shares.rows,
        rest=1 - shares.rows,
        runs=widths.runs_20 / widths.now,
        more=widths.rows_4 / widths.now,
    )


def _source_row(found: SystemsComparison, one: SystemResult, value: SystemValue) -> Row:
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

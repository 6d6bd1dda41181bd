"""Weak slices on the page and as a finding."""

from __future__ import annotations

from evalreport.comparison.comparison import Comparison
from evalreport.core.estimate_format import format_estimate, interval
from evalreport.core.format import count, percent
from evalreport.core.result import Estimate
from evalreport.core.sentences import say
from evalreport.evaluation.evaluation import Evaluation
from evalreport.evaluation.parts import WeakSlice
from evalreport.findings.rule import AddedRule, FindingDraft, rule
from evalreport.page.elements import Column, Heading, Note, PagePart, Row, Table
from evalreport.page.evaluation_terms import confidence_percent

MOST_SHOWN = 10


def group_part(ev: Evaluation) -> tuple[PagePart, ...]:
    """Return the confirmed weak slices as a table, or that none was confirmed."""
    found = ev.weak_slices
    if found is None or (found.reason and not ev.slices):
        return ()
    if not found.confirmed:
        return (Note(say("{summary}.", summary=found.summary)),)
    words = (
        "{looked:count} slices of the other columns were searched on each half of the rows. Those with the "
    )
    words += (
        "greatest excess were tested on the other half ({tested:count}). The numbers are of that half, and p "
    )
    words += "is adjusted for the number of tests (Holm)."
    note = Note(say(words, looked=found.looked, tested=found.tested))
    heads = (
        "Slice",
        Column("Rows", "n"),
        Column("Errors", "n"),
        "Error rate",
        f"{confidence_percent(ev)} interval",
        "Other rows",
        "p",
    )
    parts: list[PagePart] = [Heading("Weak slices, found by a search"), note]
    errors = [one for one in found.confirmed if one.kind == "error"][:MOST_SHOWN]
    gaps = [one for one in found.confirmed if one.kind == "calibration"][:MOST_SHOWN]
    if errors:
        parts.append(Table.from_rows("weak-slices", "Slices with more errors", heads, map(_row, errors)))
    if gaps:
        heads = (
            "Slice",
            Column("Rows", "n"),
            Column("Positives", "n"),
            "Observed minus predicted",
            f"{confidence_percent(ev)} interval",
            "Other rows",
            "p",
        )
        parts.append(Table.from_rows("gaps-by-slice", "Calibration in slices", heads, map(_row, gaps)))
    return tuple(parts)


def _row(one: WeakSlice) -> Row:
    return (
        one.slice,
        count(one.n),
        count(one.errors),
        format_estimate(one.rate, "percent") if isinstance(one.rate, Estimate) else "–",
        interval(one.rate, "percent"),
        percent(one.rate_outside, one.n),
        _p_text(one.p),
    )


def _p_text(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def comparison_part(comparison: Comparison) -> tuple[PagePart, ...]:
    """Return the slices in which a run makes more errors than its baseline, as a table."""
    found = [(one, each) for one in comparison.weak_slices for each in one.confirmed[:MOST_SHOWN]]
    if not found:
        return ()
    words = "Each half of the rows was searched for slices with more errors of the run. Those with the "
    words += "greatest excess were tested on the other half. The numbers are of that half, and p is "
    words += "adjusted for the number of tests (Holm)."
    heads = (
        "Pair",
        "Slice",
        Column("Rows", "n"),
        Column("Errors of the run", "n"),
        "Difference in error rate",
        f"{comparison.level * 100:.10g}% interval",
        "Other rows",
        "p",
    )
    rows = [
        (
            f"{one.run} − {one.baseline}",
            each.slice,
            count(each.n),
            count(each.errors),
            "–" if each.difference.value is None else f"{100 * each.difference.value:+.1f} points",
            interval(each.difference, "percent"),
            percent(each.difference_outside, each.n),
            _p_text(each.p),
        )
        for one, each in found
    ]
    table = Table.from_rows("worse-slices", "Slices with more errors than the baseline", heads, rows)
    return Heading("Slices in which a run is worse"), Note(say(words)), table


@rule(
    section="groups",
    action="Look at the errors in this group; with --slice COLUMN the page has all metrics by its values.",
)
def weak_slice(ev: Evaluation) -> FindingDraft | None:
    """A group of rows, found by a search, in which the model makes significantly more errors."""
    found = () if ev.weak_slices is None else ev.weak_slices.confirmed
    errors = [one for one in found if one.kind == "error" and one.rate.value is not None]
    if ev.weak_slices is None or not errors:
        return None
    first = errors[0]
    return FindingDraft(
        "The error rate is {rate:whole} where {slice} ({errors:count} of {n:rows}), and {outside:whole} "
        "otherwise. This was found on one half of the rows and confirmed on the other, among {looked:count} "
        "slices searched.",
        {
            "rate": first.rate.value,
            "slice": first.slice,
            "errors": first.errors,
            "n": first.n,
            "outside": first.rate_outside,
            "looked": ev.weak_slices.looked,
        },
    )


WEAK_SLICE = AddedRule(weak_slice, before="slice_gap")

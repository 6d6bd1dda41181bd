"""Answers that change with the seed: how many, in which classes, and some of them."""

from __future__ import annotations

from evalreport.comparison.system_values import ChangingAnswer, Churn, SystemResult, SystemsComparison
from evalreport.format import percent
from evalreport.panels.examples import UNREADABLE, numbered
from evalreport.panels.parts import (
    Beside,
    Cell,
    Column,
    Empty,
    Folded,
    Heading,
    PagePart,
    Row,
    Section,
    Table,
)
from evalreport.panels.words import NOTHING, Sentence, say, shortened

MOST = 5
"""Examples that are shown of each system."""
CLASSES = 12
"""Classes that are shown of each system: those with most answers that change."""
KINDS = ("Not all the same", "Two runs differ", "Right or wrong")
TITLE = "Answers that change with the seed"


def panel(found: SystemsComparison) -> Section:
    """Return how many answers the seed decides."""
    known = [(one, one.churn) for one in found.systems if one.churn is not None]
    if not known:
        empty = Empty(
            say("Nothing can be said of changing answers."),
            say("That takes two runs of a system that decide on the same {units}.", units=found.unit[1]),
        )
        return Section.of("answers", "Changing answers", TITLE, NOTHING, empty)
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
    return Section.of("answers", "Changing answers", TITLE, _summary(found, *known[0]), *parts, folded)


def _shares(found: SystemsComparison, churn: Churn) -> tuple[str, str, str]:
    first, second, third = (percent(s, found.rows) for s in (churn.any, churn.two, churn.correctness))
    return first, second, third


def _summary(found: SystemsComparison, one: SystemResult, churn: Churn) -> Sentence:
    return say(
        "For *{any:percent} of the {units}* the {runs:count} runs of {system} do not all give the same "
        "answer; two of its runs differ on {two:percent}. On {hang:percent} ({rows:count} of {n:count}) the "
        "seed decides between right and wrong.",
        of=found.rows,
        any=churn.any,
        two=churn.two,
        hang=churn.correctness,
        rows=one.only_sometimes_right or 0,
        n=found.rows,
        runs=len(one.runs),
        system=shortened(one.system),
        units=found.unit[1],
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

"""Several answers to each row: one of them, the majority, any of k, and how far they agree."""

from __future__ import annotations

from collections.abc import Iterator

from evalreport.core.estimate_format import interval, shown_value
from evalreport.core.format import count, percent
from evalreport.core.result import Result
from evalreport.evaluation.evaluation import Evaluation
from evalreport.features.text_labels.repeated_answers import AgreementGroup, RepeatedAnswers
from evalreport.page.elements import Column, Forest, ForestRow, Heading, Row, Section, Table, forest_row
from evalreport.page.evaluation_terms import confidence_percent, tell, units
from evalreport.page.sentences import say


def repeated_section(ev: Evaluation) -> Section | None:
    """Return what several answers to each row say; None where there is one."""
    found = ev.answers
    if found is None:
        return None
    fewest, most = count(found.fewest), count(found.most)
    words = "{answers:count} answers to {rows:count} {units}, {each} to each. All other numbers of this page "
    words += "are of the most frequent answer. Intervals are over {units}, not over answers."
    each = fewest if fewest == most else f"{fewest} to {most}"
    summary = tell(ev, words, answers=found.answers, rows=found.rows, each=each)
    heads = ("Accuracy", "Estimate", f"{confidence_percent(ev)} interval", "")
    forest = Forest(tuple(_row(*line) for line in lines(found)), heads=heads)
    groups = Table.of(
        "agreement-table",
        "Accuracy by the agreement of the answers",
        ("Its share of the answers", units(ev).capitalize(), "It is right in", Column("Interval", "n")),
        (_group(group) for group in found.by_agreement),
    )
    title = "Several answers: is it right where it is sure?"
    agree = Heading("The most frequent answer, by how many of the answers it has")
    return Section.of("answers", "Several answers", title, summary, forest, agree, groups)


def lines(found: RepeatedAnswers) -> Iterator[tuple[str, str, Result]]:
    """Yield the name, the words and the value of everything that several answers say, in order."""
    yield "one answer", "drawn from those to a row", found.one
    yield "majority", "the most frequent answer", found.majority
    for k, result in found.pass_at.items():
        if k != "1":
            yield f"pass@{k}", f"one of {k} answers is right", result
    yield "agreement", "two answers are the same, right or wrong", found.agreement


def _row(name: str, gloss: str, result: Result) -> ForestRow:
    return forest_row(name, name.capitalize(), say(gloss), result, "percent")


def _group(group: AgreementGroup) -> Row:
    span = "all" if group.low == group.high else f"over {percent(group.low)}, up to {percent(group.high)}"
    if group.high == 1 > group.low:
        span = f"over {percent(group.low)}, not all"
    result = group.accuracy
    return span, count(group.rows), shown_value(result, "percent"), interval(result, "percent")

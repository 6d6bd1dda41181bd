"""Argilla, records as JSON: responses of people beside the suggestions of a model.

Read are the records of Argilla 2 (a mapping from question to responses), those of Argilla 1 (a list of
responses with a value for each question), and the columns of both in datasets of the Hugging Face Hub.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evalreport.sources.readers.annotations import Annotation, agree
from evalreport.sources.readers.records import Records, are_records, at, one_or_list

RESPONSES, SUGGESTION = ".responses", (".suggestion", "-suggestion")


def fits(document: Any) -> bool:
    """Return whether records are those of a dataset with suggestions and responses."""
    if are_records(document, "fields", "suggestions", "responses"):
        return True
    return are_records(document) and any(_flat_questions(record) for record in document[:10])


def records(document: Any) -> Records:
    """Return one row a record that has a submitted response: the agreed response, and the suggestion.

    Of several questions the first with a suggestion is read.

    Examples
    --------
    >>> told = {"suggestions": {"label": {"value": "spam", "score": 0.75}}, "fields": {}, "id": "a"}
    >>> records([{**told, "responses": {"label": [{"value": "ham"}]}}]).rows
    [{'id': 'a', 'responses': 'ham', 'suggestions': 'spam', 'score': 0.75}]
    """
    suggested = [_suggestions(record) for record in document]
    questions = list(dict.fromkeys(name for one in suggested for name in one))
    question = questions[0] if questions else ""
    agreed = agree([_responses(record, question) for record in document])
    kept = [row for row, labels in enumerate(agreed.labels) if labels is not None]
    right = [agreed.labels[row] for row in kept]
    told = [_labels(at(suggested[row].get(question), "value")) for row in kept]
    cells = one_or_list([*right, *told])
    rows = []
    for row, label, answer in zip(kept, cells[: len(kept)], cells[len(kept) :], strict=True):
        found = {"id": document[row].get("id"), "responses": label, "suggestions": answer}
        score = at(suggested[row].get(question), "score")
        rows.append({**found, "score": score} if isinstance(score, float) else found)
    others = f"question {question!r} is evaluated, not {', '.join(questions[1:])}"
    notes = (*agreed.notes, *((others,) if len(questions) > 1 else ()))
    return Records(rows, {"truth": "responses", "pred": "suggestions", "id": "id"}, notes)


def _flat_questions(record: Mapping[str, Any]) -> list[str]:
    """Return the questions of a record whose responses and suggestions are columns of their own."""
    names = [name.removesuffix(end) for name in record for end in SUGGESTION if name.endswith(end)]
    return [name for name in names if f"{name}{RESPONSES}" in record or _is_answered(record.get(name))]


def _is_answered(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, dict) and "value" in one for one in value)


def _suggestions(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return value and score of the suggestion to each question."""
    made = record.get("suggestions")
    if isinstance(made, dict):
        return made
    if isinstance(made, list):
        return {str(at(one, "question_name")): one for one in made if isinstance(one, dict)}
    return {
        name: {"value": record.get(f"{name}{end}"), "score": record.get(f"{name}{end}.score")}
        for name in _flat_questions(record)
        for end in SUGGESTION
        if f"{name}{end}" in record
    }


def _responses(record: Mapping[str, Any], question: str) -> list[Annotation]:
    """Return the responses to a question; those of a record that was discarded as a whole are, too."""
    whole = str(record.get("status") or "submitted")
    whole = whole if whole in ("discarded", "draft") else "submitted"
    return [
        Annotation(_labels(value), whole if whole != "submitted" else str(state or "submitted"))
        for value, state in _answers(record, question)
    ]


def _answers(record: Mapping[str, Any], question: str) -> Iterator[tuple[Any, Any]]:
    """Yield value and state of each response."""
    made = record.get("responses")
    if isinstance(made, dict):
        yield from ((at(one, "value"), at(one, "status")) for one in made.get(question) or ())
    elif isinstance(made, list):
        yield from ((at(one, "values", question, "value"), at(one, "status")) for one in made)
    elif _is_answered(record.get(question)):
        yield from ((one["value"], one.get("status")) for one in record[question])
    else:
        values = record.get(f"{question}{RESPONSES}") or ()
        states = record.get(f"{question}{RESPONSES}.status") or [None] * len(values)
        yield from zip(values, states, strict=False)


def _labels(value: Any) -> list[Any] | None:
    return None if value is None else value if isinstance(value, list) else [value]

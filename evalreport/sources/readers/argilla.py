"""Argilla, records as JSON: responses of people beside the suggestions of a model."""

from __future__ import annotations

from typing import Any

from evalreport.sources.readers.records import Records, are_records, at, one_or_list


def fits(document: Any) -> bool:
    """Tell whether records are those of a dataset with suggestions and responses."""
    return are_records(document, "fields", "suggestions", "responses")


def records(document: Any) -> Records:
    """Return one row a record that has a response: the first response, and the suggestion, to one question.

    Examples
    --------
    >>> told = {"suggestions": {"label": {"value": "spam", "score": 0.75}}, "fields": {}, "id": "a"}
    >>> records([{**told, "responses": {"label": [{"value": "ham"}]}}]).rows
    [{'id': 'a', 'responses': 'ham', 'suggestions': 'spam', 'score': 0.75}]
    """
    question = next((name for record in document for name in record.get("suggestions") or {}), "")
    answered = [
        record for record in document if question and at(record, "responses", question, 0) is not None
    ]
    right = one_or_list([_labels(at(one, "responses", question, 0, "value")) for one in answered])
    told = one_or_list([_labels(at(one, "suggestions", question, "value")) for one in answered])
    rows = []
    for record, label, answer in zip(answered, right, told, strict=True):
        row = {"id": record.get("id"), "responses": label, "suggestions": answer}
        score = at(record, "suggestions", question, "score")
        rows.append({**row, "score": score} if isinstance(score, float) else row)
    return Records(rows, {"truth": "responses", "pred": "suggestions", "id": "id"})


def _labels(value: Any) -> list[Any] | None:
    return None if value is None else value if isinstance(value, list) else [value]

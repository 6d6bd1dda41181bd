"""OpenAI's batch output: answers by `custom_id`, of chats or responses; the truth is elsewhere."""

from __future__ import annotations

from typing import Any

from evalreport.sources.readers.records import Records, are_records, at, text_of


def fits(document: Any) -> bool:
    """Tell whether records are lines of a batch."""
    return are_records(document, "custom_id", "response")


def records(document: Any) -> Records:
    """Return one row a request; a request that failed has the empty answer.

    Examples
    --------
    >>> body = {"choices": [{"message": {"content": "ham"}}]}
    >>> records([{"custom_id": "r1", "response": {"body": body}}]).rows
    [{'custom_id': 'r1', 'content': 'ham'}]
    """
    rows = [
        {"custom_id": line.get("custom_id"), "content": _content(at(line, "response", "body"))}
        for line in document
    ]
    return Records(rows, {"text": "content", "id": "custom_id"})


def _content(body: Any) -> str:
    told = at(body, "choices", 0, "message", "content")
    if told is None:
        told = at(body, "choices", 0, "text")
    if told is None:
        parts = [
            at(part, "text")
            for item in at(body, "output") or []
            for part in at(item, "content") or []
            if at(part, "type") == "output_text"
        ]
        told = "".join(map(text_of, parts))
    return text_of(told)

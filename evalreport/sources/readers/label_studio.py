"""Label Studio, JSON export: choices of annotators beside those of a model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from evalreport.sources.readers.records import Records, are_records, at, one_or_list


def fits(document: Any) -> bool:
    """Tell whether records are tasks with annotations."""
    return are_records(document, "annotations", "data")


def records(document: Any) -> Records:
    """Return one row a task: the choices of the first annotation that was not cancelled, and of the model.

    Examples
    --------
    >>> def choice(label): return [{"result": [{"type": "choices", "value": {"choices": [label]}}]}]
    >>> task = {"id": 7, "data": {}, "annotations": choice("ham"), "predictions": choice("spam")}
    >>> records([task]).rows
    [{'id': 7, 'annotations': 'ham', 'predictions': 'spam'}]
    """
    question = next((at(part, "from_name") for task in document for part in _parts(_chosen(task))), None)
    right = one_or_list([_choices(_chosen(task), question) for task in document])
    told = one_or_list([_choices(at(task, "predictions", 0), question) for task in document])
    rows = []
    for task, label, answer in zip(document, right, told, strict=True):
        row = {"id": task.get("id"), "annotations": label, "predictions": answer}
        score = at(task, "predictions", 0, "score")
        rows.append(row if score is None else {**row, "score": score})
    return Records(rows, {"truth": "annotations", "pred": "predictions", "id": "id"})


def _chosen(task: Any) -> Any:
    made = at(task, "annotations") or []
    return next((one for one in made if not at(one, "was_cancelled")), None)


def _parts(made: Any) -> Iterable[Any]:
    return (part for part in at(made, "result") or [] if at(part, "type") == "choices")


def _choices(made: Any, question: Any) -> list[Any] | None:
    found = [at(part, "value", "choices") for part in _parts(made) if at(part, "from_name") == question]
    return found[0] if found and isinstance(found[0], list) else None

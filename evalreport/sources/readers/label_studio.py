"""Label Studio, JSON export: choices of annotators beside those of a model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from evalreport.sources.readers.annotations import Annotation, agree
from evalreport.sources.readers.records import Records, are_records, at, one_or_list


def fits(document: Any) -> bool:
    """Tell whether records are tasks with annotations."""
    return are_records(document, "annotations", "data")


def records(document: Any) -> Records:
    """Return one row a task with a submitted annotation: the agreed choices, and those of the model.

    Annotations that are marked as ground truth win over others of their task; cancelled ones do not count.

    Examples
    --------
    >>> def choice(label): return [{"result": [{"type": "choices", "value": {"choices": [label]}}]}]
    >>> task = {"id": 7, "data": {}, "annotations": choice("ham"), "predictions": choice("spam")}
    >>> records([task]).rows
    [{'id': 7, 'annotations': 'ham', 'predictions': 'spam'}]
    """
    made = [_annotations(task) for task in document]
    question = next((at(part, "from_name") for one in made for each in one for part in _parts(each)), None)
    agreed = agree([[_annotation(each, question) for each in one] for one in made])
    kept = [task for task, labels in zip(document, agreed.labels, strict=True) if labels is not None]
    right = [labels for labels in agreed.labels if labels is not None]
    told = [_choices(at(task, "predictions", 0), question) for task in kept]
    cells = one_or_list([*right, *told])
    rows = []
    for task, label, answer in zip(kept, cells[: len(kept)], cells[len(kept) :], strict=True):
        row = {"id": task.get("id"), "annotations": label, "predictions": answer}
        score = at(task, "predictions", 0, "score")
        rows.append(row if score is None else {**row, "score": score})
    return Records(rows, {"truth": "annotations", "pred": "predictions", "id": "id"}, agreed.notes)


def _annotations(task: Any) -> list[Any]:
    made = [one for one in at(task, "annotations") or [] if isinstance(one, dict)]
    return [one for one in made if one.get("ground_truth") and not one.get("was_cancelled")] or made


def _annotation(made: Any, question: Any) -> Annotation:
    return Annotation(_choices(made, question), "cancelled" if made.get("was_cancelled") else "submitted")


def _parts(made: Any) -> Iterable[Any]:
    return (part for part in at(made, "result") or [] if at(part, "type") == "choices")


def _choices(made: Any, question: Any) -> list[Any] | None:
    found = [at(part, "value", "choices") for part in _parts(made) if at(part, "from_name") == question]
    return found[0] if found and isinstance(found[0], list) else None

"""Prodigy, annotations as JSON lines: the options that were accepted, beside columns of a model."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from evalreport.errors import GradedError
from evalreport.sources.readers.annotations import Annotation, agree
from evalreport.sources.readers.records import Records, are_records, one_or_list, scalars

HASH = "_task_hash"
STATES = {"accept": "submitted", "reject": "rejected", "ignore": "ignored"}


def fits(document: Any) -> bool:
    """Return whether records are annotated tasks."""
    return are_records(document, HASH, "answer")


def records(document: Any) -> Records:
    """Return one row a task with the options that most annotators accepted; others are skipped.

    Raises
    ------
    GradedError
        Tasks without options: `answer` grades a label that was suggested.

    Examples
    --------
    >>> task = {"text": "x", "_task_hash": 7, "accept": ["ham"], "answer": "accept", "pred": "spam"}
    >>> records([task]).rows
    [{'text': 'x', 'pred': 'spam', '_task_hash': 7, 'accept': 'ham'}]
    """
    if not any(isinstance(task.get("accept"), list) for task in document):
        raise GradedError(
            "the file has a grade per item (accept or reject, column 'answer'), not two columns of labels",
            where="column 'answer'",
            fix="grades are not evaluated; annotate with Prodigy's interface 'choice', and export again",
        )
    tasks: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for task in document:
        tasks[task[HASH]].append(task)
    agreed = agree([[_annotation(task) for task in made] for made in tasks.values()])
    kept = [(key, labels) for key, labels in zip(tasks, agreed.labels, strict=True) if labels is not None]
    right = one_or_list([labels for _, labels in kept])
    rows = [
        {**_about(tasks[key][0]), HASH: key, "accept": label}
        for (key, _), label in zip(kept, right, strict=True)
    ]
    return Records(rows, {"truth": "accept", "id": HASH}, agreed.notes)


def _annotation(task: dict[str, Any]) -> Annotation:
    accepted = task.get("accept")
    state = STATES.get(str(task.get("answer")), "ignored")
    return Annotation(accepted if isinstance(accepted, list) else None, state)


def _about(task: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in scalars(task).items() if name != "answer" and name[:1] != "_"}

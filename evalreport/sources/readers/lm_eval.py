"""lm-evaluation-harness, `--log_samples`: generated answers, or a log-likelihood for each choice."""

from __future__ import annotations

from typing import Any

from evalreport.sources.readers.records import Records, are_records, at, scalars, text_of

ANSWER = "filtered_resps"
GRADES = ("exact_match", "acc", "acc_norm", "em", "f1")
"""Metrics that older releases write for each sample without a list of their names."""


def fits(document: Any) -> bool:
    """Tell whether records are samples of the harness."""
    return are_records(document, "doc_id", "target", ANSWER)


def records(document: Any) -> Records:
    """Return one row a sample; of several choices the answer is the one of the greatest log-likelihood.

    A choice is a pair of its log-likelihood and whether greedy decoding would give it.

    Examples
    --------
    >>> choices = [["-2.5", "False"], ["-0.5", "True"]]
    >>> found = records([{"doc_id": 0, "target": "1", "filtered_resps": choices}])
    >>> found.rows[0]["filtered_resps"], found.parts["pred"]
    ('1', 'filtered_resps')
    """
    choices = [_choice(sample.get(ANSWER)) for sample in document]
    is_choice = all(choice is not None for choice in choices)
    rows = [
        {
            **scalars(sample),
            "target": str(sample["target"]),
            ANSWER: str(choice) if is_choice else text_of(_first(sample.get(ANSWER))),
        }
        for sample, choice in zip(document, choices, strict=True)
    ]
    parts = {"truth": "target", "pred" if is_choice else "text": ANSWER, "id": "doc_id"}
    grade = next((name for name in (*(at(document, 0, "metrics") or ()), *GRADES) if name in rows[0]), None)
    return Records(rows, parts if grade is None else {**parts, "grade": grade})


def _first(answers: Any) -> Any:
    inner = at(answers, 0)
    return inner[0] if isinstance(inner, list) and inner else inner


def _choice(answers: Any) -> int | None:
    if not isinstance(answers, list) or len(answers) < 2:
        return None
    try:
        values = [float(answer[0]) for answer in answers if isinstance(answer, list)]
    except (ValueError, TypeError, IndexError):
        return None
    return values.index(max(values)) if len(values) == len(answers) else None

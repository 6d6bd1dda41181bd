"""Inspect AI, logs in JSON: one sample each with its target and the model's completion."""

from __future__ import annotations

from typing import Any

from evalreport.sources.readers.records import Records, at, scalars, text_of


def fits(document: Any) -> bool:
    """Tell whether a document is a log of an evaluation with its samples."""
    return isinstance(document, dict) and isinstance(document.get("eval"), dict) and _has_samples(document)


def _has_samples(document: dict[str, Any]) -> bool:
    samples = document.get("samples")
    return isinstance(samples, list) and isinstance(at(samples, 0, "output"), dict)


def records(document: Any) -> Records:
    """Return one row a sample with what its scorers gave; of a list of targets the first counts.

    Examples
    --------
    >>> sample = {"id": 1, "epoch": 1, "target": "ham", "output": {"completion": "ham."}}
    >>> records({"eval": {}, "samples": [sample]}).rows
    [{'id': 1, 'epoch': 1, 'target': 'ham', 'completion': 'ham.'}]
    """
    rows = [
        {
            **scalars(sample),
            **_grades(sample),
            "target": _target(sample.get("target")),
            "completion": _completion(sample),
        }
        for sample in document["samples"]
        if isinstance(sample, dict)
    ]
    parts = {"truth": "target", "text": "completion", "id": "id"}
    scorer = next((name for sample in document["samples"] for name in _grades(sample)), None)
    return Records(rows, parts if scorer is None else {**parts, "grade": scorer})


def _grades(sample: Any) -> dict[str, Any]:
    """Return the value that each scorer gave, under the scorer's name."""
    scores = at(sample, "scores") or {}
    values = {name: at(score, "value") for name, score in scores.items()} if isinstance(scores, dict) else {}
    return scalars({name: value for name, value in values.items() if value is not None})


def _target(target: Any) -> Any:
    return at(target, 0) if isinstance(target, list) else target


def _completion(sample: dict[str, Any]) -> str:
    output = sample.get("output")
    told = at(output, "completion")
    return text_of(told if told is not None else at(output, "choices", 0, "message", "content"))

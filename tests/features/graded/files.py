"""Logs of evaluation tools with grades, in the documented form of each tool."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

BOTH, FIXED, BROKEN, NEITHER = 100, 51, 40, 29
"""Items that both runs pass, the second alone, the first alone, neither: 220 in all."""


def grades_of(run: str) -> list[int]:
    """Return the grades of run a or b, as of two logs of lm-evaluation-harness that differ in 91 grades."""
    second, first = int(run == "b"), int(run == "a")
    return [1] * BOTH + [second] * FIXED + [first] * BROKEN + [0] * NEITHER


def write_lines(path: Path, records: Iterable[Any]) -> Path:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


def lm_eval(path: Path, grades: Sequence[float], **more: Sequence[Any]) -> Path:
    """Write ``samples_*.jsonl`` as ``lm_eval --log_samples`` does: free text, and a metric per sample."""
    return write_lines(
        path,
        (
            {
                "doc_id": item,
                "doc": {"question": f"q{item}"},
                "target": f"steps ... #### {7 * item + 10}",
                "arguments": [],
                "resps": [[f"so the answer is {7 * item + 10 if grade else 3}"]],
                "filtered_resps": [f"{7 * item + 10 if grade else 3}"],
                "exact_match": float(grade),
                **{name: values[item] for name, values in more.items()},
            }
            for item, grade in enumerate(grades)
        ),
    )


def inspect_log(grades: Sequence[Any], epochs: int = 1, scorer: str = "model_graded_qa") -> dict[str, Any]:
    """Return a log of Inspect AI; a grade that is None is a sample that ended in an error."""
    samples = []
    for place, grade in enumerate(grades):
        item, epoch = divmod(place, epochs)
        sample: dict[str, Any] = {
            "id": item,
            "epoch": epoch + 1,
            "input": f"q{item}",
            "target": f"A free text criterion {item}",
            "output": {"completion": f"free text answer number {item}"},
        }
        if grade is None:
            sample["error"] = {"message": "timeout"}
        else:
            sample["scores"] = {scorer: {"value": grade, "explanation": "..."}}
        samples.append(sample)
    return {"version": 2, "status": "success", "eval": {"task": "qa", "model": "a"}, "samples": samples}


def promptfoo(path: Path, successes: Sequence[bool | None]) -> Path:
    """Write the results of ``promptfoo eval -o`` in JSON, in the documented form; None ended in an error.

    The file in JSON lines of `made` is of the tool itself.
    """
    results = [
        {
            "testIdx": place,
            "promptIdx": 0,
            "vars": {"question": f"q{place}"},
            "provider": {"id": "openai:gpt"},
            "response": {"output": f"free text {place}"},
            "success": bool(success),
            "score": float(bool(success)),
            "failureReason": 2 if success is None else 0 if success else 1,
            "latencyMs": 100 + place,
            "cost": 0.001 * place,
        }
        for place, success in enumerate(successes)
    ]
    path.write_text(json.dumps({"evalId": "e", "results": {"version": 3, "results": results}}))
    return path

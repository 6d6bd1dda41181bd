"""promptfoo, `eval -o results.json`: one result for each test, prompt and provider."""

from __future__ import annotations

from typing import Any

from evalreport.sources.readers.records import Records, at, scalars

EXPECTED = "expected"


def fits(document: Any) -> bool:
    """Tell whether a document is the output of an evaluation."""
    return isinstance(document, dict) and isinstance(at(document, "results", "results", 0, "vars"), dict)


def records(document: Any) -> Records:
    """Return one row a result: the variables of its test, what was expected, and the output.

    What was expected is a variable, or the value that an assertion compares the output with.

    Examples
    --------
    >>> test = {"vars": {"expected": "ham"}, "response": {"output": "ham"}, "testIdx": 0}
    >>> records({"results": {"results": [test]}}).rows
    [{'expected': 'ham', 'testIdx': 0, 'output': 'ham'}]
    """
    rows = []
    for result in at(document, "results", "results"):
        told = at(result, "response", "output")
        told = "" if told is None else str(told)
        variables = scalars(at(result, "vars") or {})
        row = {**variables, **_about(result), "output": told}
        if EXPECTED not in row and (value := _asserted(result)) is not None:
            row[EXPECTED] = value
        rows.append(row)
    parts = {"text": "output"}
    parts |= {"truth": EXPECTED} if any(EXPECTED in row for row in rows) else {}
    parts |= {"grade": "success"} if any("success" in row for row in rows) else {}
    parts |= {"id": "testIdx"} if all("testIdx" in row for row in rows) else {}
    return Records(rows, parts)


def _about(result: Any) -> dict[str, Any]:
    about = {name: result[name] for name in ("testIdx", "promptIdx", "success") if name in result}
    provider = at(result, "provider", "id")
    return about if provider is None else {**about, "provider": provider}


def _asserted(result: Any) -> Any:
    for check in at(result, "testCase", "assert") or []:
        value = at(check, "value")
        if (
            at(check, "type") in ("equals", "iequals", "icontains")
            and isinstance(value, str)
            and "{{" not in value
        ):
            return value
    return None

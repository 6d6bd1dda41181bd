"""What the readers of tools share: flat records out of nested ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class Records(NamedTuple):
    """Flat records, and which of their columns plays which part (`truth`, `pred`, `text`, `id`, `grade`).

    The notes report records that were skipped.
    """

    rows: Sequence[dict[str, Any]]
    parts: Mapping[str, str]
    notes: tuple[str, ...] = ()


def at(value: Any, *path: str | int) -> Any:
    """Return what stands at a path of keys and places, or None where the path breaks off.

    Examples
    --------
    >>> at({"choices": [{"text": "a"}]}, "choices", 0, "text")
    'a'
    >>> at({"choices": []}, "choices", 0, "text") is None
    True
    """
    for step in path:
        if isinstance(step, str) and isinstance(value, dict):
            value = value.get(step)
        elif isinstance(step, int) and isinstance(value, list) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def are_records(document: Any, *keys: str) -> bool:
    """Tell whether a document is a list of records that all of the first few have these keys.

    Examples
    --------
    >>> are_records([{"a": 1}, {"a": 2, "b": 3}], "a")
    True
    """
    if not isinstance(document, list) or not document:
        return False
    return all(isinstance(record, dict) and record.keys() >= set(keys) for record in document[:10])


def scalars(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a record that are neither lists nor records themselves."""
    return {name: value for name, value in record.items() if not isinstance(value, (dict, list))}


def text_of(value: Any) -> str:
    """Return an answer as text: none at all is the empty text, which counts as unread."""
    return value if isinstance(value, str) else "" if value is None else str(value)


def one_or_list(column: Sequence[Sequence[Any] | None]) -> list[Any]:
    """Return chosen labels as one a row where every row has one, else as lists.

    Examples
    --------
    >>> one_or_list([["a"], None]), one_or_list([["a"], ["a", "b"]])
    (['a', None], [['a'], ['a', 'b']])
    """
    if all(cell is None or len(cell) == 1 for cell in column):
        return [None if cell is None else cell[0] for cell in column]
    return [None if cell is None else list(cell) for cell in column]

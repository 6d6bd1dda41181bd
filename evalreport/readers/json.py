"""JSON (records, columns, and the split form of MLflow's `log_table`) and JSON lines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from evalreport.core.errors import DataError, NoTableError, UsageError
from evalreport.core.extensions import extension, extensions, load_extensions
from evalreport.data.arrays import EXACT
from evalreport.readers.content import Array, Content, to_arrays, whole_numbers
from evalreport.readers.csv import decode, sample_lines
from evalreport.readers.limits import Select, choose, refuse_cell, refuse_decoded

Columns = Mapping[str, Sequence[Any]]
PROBE = 1000
"""Lines of a block from which its columns are inspected."""
LONGEST = 1 << 31
"""Bytes that Arrow does not read at once."""
FORMS = 'a list of records [{"y_true": …}, …], {"columns": […], "data": [[…], …]}, or one record a line'


class Records(NamedTuple):
    """Flat records, and which of their columns plays which part (`truth`, `pred`, `text`, `id`, `grade`).

    The notes report records that were skipped.
    """

    rows: Sequence[dict[str, Any]]
    parts: Mapping[str, str]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tool:
    """One tool that writes JSON or JSON lines; a feature adds it at the point "tools", under the same name.

    Parameters
    ----------
    name : str
        As `--set format` names it.
    fits : callable
        Whether a parsed document is one of this tool.
    records : callable
        From the document to flat records and what their columns are.
    """

    name: str
    fits: Callable[[Any], bool]
    records: Callable[[Any], Records]


def tool_of(document: Any) -> Tool | None:
    """Return the tool that wrote a parsed document, or None.

    Examples
    --------
    >>> tool_of([{"custom_id": "r1", "response": {"body": {}}}]).name
    'openai-batch'
    >>> tool_of([{"y_true": 1, "y_pred": 0}]) is None
    True
    """
    return next((tool for tool in load_extensions("tools") if tool.fits(document)), None)


def read_json(data: bytes, select: Select | None) -> Content:
    """Return the wanted columns of a JSON document.

    Raises
    ------
    DataError
        Broken JSON (names the line), another form, rows of unequal length.
    """
    text = decode(data)
    document = _parse(text, "the file")
    tool = tool_of(document)
    if tool is not None:
        return _of_tool(tool, document, select, len(data))
    match document:
        case {"columns": list(names), "data": list(rows)} if all(isinstance(name, str) for name in names):
            columns = _split_into_columns(names, rows)
        case dict() if document and all(isinstance(column, list) for column in document.values()):
            columns = _equal(document)
        case list():
            return _records(document, "record", select, len(data))
        case _:
            missing = [one for one in extensions("tools") if not one.is_installed]
            if (found := _only_records(document)) is not None and not missing:
                return _records(found, "record", select, len(data))
            tools = ", ".join(one.name for one in missing)
            hint = f"; files of {tools} need the feature {missing[0].feature}" if missing else ""
            raise NoTableError("the JSON contains no table", fix=f"write {FORMS}{hint}")
    chosen = choose(list(columns), select)
    return Content(tuple(columns), {name: _array(columns[name], name) for name in chosen})


def read_json_lines(data: bytes, select: Select | None, *, sample: bool = False) -> Content:
    """Return the wanted columns of one JSON record a line, or of a sample; blank lines are skipped.

    Raises
    ------
    DataError
        A line that is not a JSON record (names the line).
    """
    data = sample_lines(data) if sample else data
    lines = decode(data).split("\n")
    numbered = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    records = [_parse(line, "the line", number) for number, line in numbered]
    tool = tool_of(records)
    if tool is not None:
        return _of_tool(tool, records, select, len(data))
    return _records(records, "line", select, len(data), [number for number, _ in numbered])


def records_of(
    lines: Sequence[bytes], first: int, names: Sequence[str] | None = None
) -> tuple[tuple[str, ...], Mapping[str, Array]]:
    """Return the columns of some lines with one JSON record each, and the names of all that they have.

    Parameters
    ----------
    lines : sequence of bytes
    first : int
        Number of the first line in its file, for messages.
    names : sequence of str, optional
        The wanted columns; none without it.

    Raises
    ------
    DataError
        A line that is not a JSON record (names the line).
    UsageError
        The file of a tool, which is read as a whole.

    Examples
    --------
    >>> records_of([b'{"y": 1}\\n', b'{"y": 0}\\n'], 1, ["y"])
    (('y',), {'y': array([1, 0])})
    """
    numbers = [number for number, line in enumerate(lines, start=first) if line.strip()]
    texts = [decode(line) for line in lines if line.strip()]
    records = [_parse(text, "the line", number) for text, number in zip(texts, numbers, strict=True)]
    if first == 1 and (tool := tool_of(records)) is not None:
        raise UsageError(
            f"the file is from {tool.name}, where a record is not a row",
            where="--set engine=stream",
            fix="pass --set engine=memory",
        )
    size = sum(map(len, lines))
    content = _records(records, "line", lambda _: names or (), size, numbers)
    lacking = {name: _array([None] * len(records), name) for name in names or () if name not in content.names}
    return content.names, {**content.columns, **lacking}


def columns_of(lines: Sequence[bytes], first: int, names: Sequence[str]) -> Mapping[str, Array]:
    """Return wanted columns of some lines with one JSON record each.

    Columns of numbers, texts and truths are read by Arrow, six times as fast; what it refuses is read by
    `records_of`, which has the same parameters and errors, but looks for repeated names in the whole record.

    Examples
    --------
    >>> columns_of([b'{"y": 1, "p": 0.5}\\n', b'{"y": null}\\n'], 1, ["y", "p"])
    {'y': array([ 1., nan]), 'p': array([0.5, nan])}
    """
    import pyarrow as pa
    from pyarrow import json as arrow_json

    filled = [line for line in lines if line.strip()]
    types, data = _types(filled[:PROBE], names), b"".join(filled)
    if types is not None and len(data) < LONGEST and all(line.lstrip().startswith(b"{") for line in filled):
        read = arrow_json.ReadOptions(use_threads=False, block_size=len(data))
        schema = pa.schema([(name, getattr(pa, kind)()) for name, kind in types.items()])
        parse = arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
        try:
            data.decode("utf-8")
            table = arrow_json.read_json(pa.BufferReader(data), read, parse)
            if len(table) == len(filled):
                return to_arrays(table)
        except (pa.ArrowException, UnicodeDecodeError, DataError):
            pass  # read again below, with the line number
    return records_of(lines, first, names)[1]


def _types(lines: Sequence[bytes], names: Sequence[str]) -> dict[str, str] | None:
    """Return in Arrow's words what some lines tell of columns; None where these are not plain, or mixed."""
    plain = {
        (int,): "int64",
        (float,): "float64",
        (float, int): "float64",
        (str,): "string",
        (bool,): "bool_",
    }
    try:
        records = [json.loads(line) for line in lines]
        kinds = {name: {type(record.get(name)) for record in records} - {type(None)} for name in names}
    except (ValueError, AttributeError, RecursionError):
        return None
    found = {name: plain.get(tuple(sorted(held, key=str)), "") for name, held in kinds.items()}
    return found if found and all(found.values()) else None


def read_tool(name: str) -> Callable[[bytes, Select | None], Content]:
    """Return the reader of one tool's files, JSON or JSON lines, which refuses those of others.

    Raises
    ------
    UsageError
        The feature that reads them is not installed.
    DataError
        The content is not of this tool.
    """

    def read_tool_output(data: bytes, select: Select | None) -> Content:
        tool: Tool = extension("tools", name)
        if is_lines(data):
            lines = enumerate(decode(data).split("\n"), start=1)
            document = [_parse(line, "the line", number) for number, line in lines if line.strip()]
        else:
            document = _parse(decode(data), "the file")
        if not tool.fits(document):
            raise DataError(
                f"the file is not what {name} writes", fix="leave --set format out, or name another"
            )
        return _of_tool(tool, document, select, len(data))

    return read_tool_output


def _of_tool(tool: Tool, document: Any, select: Select | None, packed: int) -> Content:
    rows, parts, notes = tool.records(document)
    wanted = None if select is None else lambda names: {*select(names), *parts.values()}
    return replace(_records(rows, "record", wanted, packed), parts=parts, notes=notes)


def is_lines(data: bytes) -> bool:
    """Tell whether a `.json` file holds one record a line, as some programs write it."""
    first, _, rest = data.lstrip().partition(b"\n")
    if not (first.startswith(b"{") and first.rstrip().endswith(b"}") and rest.lstrip().startswith(b"{")):
        return False
    try:
        return isinstance(json.loads(first), dict)
    except ValueError:
        return False


def _parse(text: str, what: str, line: int | None = None) -> Any:
    place = f"line {line}" if line else ""
    try:
        return _READ(text)
    except json.JSONDecodeError as error:
        at = line or error.lineno
        raise DataError(
            f"line {at} is not valid JSON: {error.msg}",
            where=f"line {at}, column {error.colno}",
            fix="the file may be cut off; write it again",
        ) from error
    except RecursionError as error:
        raise DataError(f"{what} nests too deeply", where=place, fix=f"write {FORMS}") from error
    except ValueError as error:  # a number of over 4300 digits
        raise DataError(
            f"{what} holds a number that is too long", where=place, fix=f"write {FORMS}"
        ) from error
    except DataError as error:
        raise error.with_location(place) from None


def _reject_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        twice = next(name for name, count in counts.items() if count > 1)
        raise DataError(f"{twice!r} appears twice in one record", fix="give each column a unique name")
    return record


_READ = json.JSONDecoder(object_pairs_hook=_reject_duplicate_keys).decode


def _split_into_columns(names: list[str], rows: list[Any]) -> Columns:
    choose(names, None)
    for number, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != len(names):
            got = f"{len(row)} values" if isinstance(row, list) else type(row).__name__
            raise DataError(
                f"row {number} has {got} and there are {len(names)} columns",
                where=f"row {number}",
                fix="write the table again",
            )
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)) if rows else {}


def _only_records(document: Any) -> list[Any] | None:
    """Return the only list of records among the values of a document; None without one or with several."""
    found = [
        value
        for value in (document.values() if isinstance(document, dict) else ())
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value)
    ]
    return found[0] if len(found) == 1 else None


def _equal(columns: dict[str, list[Any]]) -> Columns:
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name} {length}" for name, length in list(lengths.items())[:5])
        raise DataError(
            "the columns have unequal lengths", where=shown, fix="every column describes the same rows"
        )
    return columns


def _records(
    records: Sequence[Any],
    what: str,
    select: Select | None,
    packed: int,
    numbers: Sequence[int] | None = None,
) -> Content:
    """Return the wanted columns of records; a key that a record lacks is a gap.

    A key in each record makes a table of their square, so the cells are counted before one is made.
    """
    for index, record in enumerate(records):
        if not isinstance(record, dict):
            number = numbers[index] if numbers else index
            raise DataError(
                f"{what} {number} is not a record but {type(record).__name__}",
                where=f"{what} {number}",
                fix=f"write {FORMS}",
            )
    names = list(dict.fromkeys(name for record in records for name in record))
    chosen = choose(names, select)
    refuse_decoded(len(records) * len(chosen), packed)
    return Content(
        tuple(names), {name: _array([record.get(name) for record in records], name) for name in chosen}
    )


def _array(values: Sequence[Any], name: str) -> Array:
    """Numbers become int64 or float64 (gaps NaN); all else, and what a float does not hold exactly, stays."""
    kinds = set(map(type, values))
    known = kinds - {type(None)}
    if str in known:
        refuse_cell(max(_lengths(values)), name)
    if known == {bool} and kinds == known:
        return np.array(values, dtype=bool)
    if known == {int}:
        return whole_numbers(values)
    is_exact = not any(isinstance(value, int) and abs(value) >= EXACT for value in values)
    if known and known <= {int, float} and is_exact:
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    return np.fromiter(values, dtype=object, count=len(values))


def _lengths(values: Sequence[Any]) -> Iterator[int]:
    return (len(value) for value in values if isinstance(value, str))

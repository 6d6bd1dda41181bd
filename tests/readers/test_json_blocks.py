"""Lines of JSON that Arrow reads are those that Python reads: the same columns, the same errors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalreport.core.errors import DataError
from evalreport.readers import json as jsons
from evalreport.readers.json import columns_of, records_of

NAMES = ("a", "b")
CELLS = st.one_of(
    st.integers(-9, 9),
    st.floats(),
    st.sampled_from([2**53 + 1, 2**63, 2**70, -0.0, "", "é", "\ud800", "1", "true", "2020-01-01", "NaN"]),
    st.booleans(),
    st.none(),
    st.sampled_from([[0.5], {"z": 1}]),
)
COLUMNS = st.lists(CELLS, min_size=1, max_size=2).flatmap(
    lambda some: st.lists(st.sampled_from(some), min_size=4, max_size=4)
)
DEEP = b"[" * 9999 + b"]" * 9999
BROKEN = (
    b"[1]\n",
    b"\n",
    b'{"a": 1\n',
    b'{"a": 1, "a": 2}\n',
    b'{"a": 1}{"a": 2}\n',
    b'{"a": "\xe9"}\n',
    b'{"a": 01}\n',
    b'\xef\xbb\xbf{"a": 1}\n',
    b' {"a": 1e400, "c": "x"} \r\n',
    b'{"a": 1, "x": %b}\n' % DEEP,
)


def read(lines: list[bytes], *, blocks: bool) -> Any:
    """Columns with their types, or what is said of the lines."""
    try:
        found: Mapping[str, Any] = columns_of(lines, 7, NAMES) if blocks else records_of(lines, 7, NAMES)[1]
    except DataError as error:
        return str(error), error.where
    return {name: (found[name].dtype, repr(found[name].tolist())) for name in NAMES}


@given(st.tuples(COLUMNS, COLUMNS), st.booleans(), st.sampled_from([None, *BROKEN]))
def test_blocks_and_lines_are_read_alike(columns: Any, plain: bool, other: bytes | None) -> None:
    rows = (dict(zip(NAMES, cells, strict=True)) for cells in zip(*columns, strict=True))
    texts = (json.dumps(row, ensure_ascii=plain) + "\n" for row in rows)
    lines = [text.encode("utf-8", "surrogatepass") for text in texts]
    lines += [] if other is None else [other]
    assert read(lines, blocks=True) == read(lines, blocks=False)


def test_plain_columns_are_not_read_line_by_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsons, "records_of", None)
    lines = [b'{"id": "r1", "y": 1, "p": 0.5, "rest": {"t": []}}\n', b'{"id": "r2", "y": 0, "p": null}\n']
    found = columns_of(lines, 1, ["id", "y", "p"])
    assert [found[name].tolist()[0] for name in found] == ["r1", 1, 0.5]

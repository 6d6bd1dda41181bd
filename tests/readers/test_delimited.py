"""CSV: what is written is what is read, and types follow one plain rule."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalreport.core.errors import DataError
from evalreport.readers.data_sets import data_set, open_delimited
from evalreport.readers.formats import RawTable, read_table
from tests.readers.writers import WRITERS, Data

# Python 3.11 writes a lone carriage return without quotes, which no reader can tell from a line end.
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), max_size=20)
LINE = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), max_size=20)
NAMES = st.lists(LINE.filter(bool), min_size=2, max_size=6, unique=True)
SEPARATORS = st.sampled_from(",;\t|")
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


def table(text: str | bytes) -> RawTable:
    return read_table(io.BytesIO(text.encode() if isinstance(text, str) else text), format="csv")


@settings(max_examples=200)
@given(
    rows=st.lists(st.tuples(TEXT, NUMBERS, st.integers(-(2**62), 2**62)), min_size=1, max_size=8),
    separator=SEPARATORS,
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_round_trip(rows: list[tuple[str, float, int]], separator: str, quoting: Any, end: str) -> None:
    """Text in quotes, with separators, quotes and line breaks in it; numbers to the last bit."""
    rows = [(f"x{text}", score, code) for text, score, code in rows]
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=separator, lineterminator=end, quoting=quoting)
    writer.writerow(["text", "score", "code"])
    writer.writerows(rows)
    columns = table(out.getvalue()).columns
    assert columns["text"].tolist() == [text for text, _, _ in rows]
    assert columns["score"].tolist() == [score for _, score, _ in rows]
    assert columns["code"].tolist() == [code for _, _, code in rows]


@settings(max_examples=100)
@given(names=NAMES, separator=st.sampled_from(",;\t|"))
def test_any_header(names: list[str], separator: str) -> None:
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=separator, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerows([names, ["x"] * len(names)])
    assert table(out.getvalue()).names == tuple(names)


@pytest.mark.parametrize(
    ("cells", "expected", "kind"),
    [
        ("1,x\n-2,x\n", [1, -2], "i"),
        ("1,x\n2.5,x\n", [1.0, 2.5], "f"),
        (" 1 ,x\n2,x\n", [1, 2], "i"),
        ("1e-3,x\n2,x\n", [0.001, 2.0], "f"),
        ("+1,x\n2,x\n", [1.0, 2.0], "f"),
        ("007,x\n8,x\n", ["007", "8"], "O"),
        ("0,x\n10,x\n", [0, 10], "i"),
        ("0x10,x\n1,x\n", ["0x10", "1"], "O"),
        ("1_0,x\n1,x\n", ["1_0", "1"], "O"),
        ("2024-01-05,x\n2024-01-06,x\n", ["2024-01-05", "2024-01-06"], "O"),
        ("12:30,x\n12:31,x\n", ["12:30", "12:31"], "O"),
        ("N/A,x\nnull,x\n", ["N/A", "null"], "O"),
        ("True,x\nFalse,x\n", [True, False], "b"),
        ("true,x\nfalse,x\n", ["true", "false"], "O"),
        (',x\n"",x\na,x\n', [None, "", "a"], "O"),
        (",x\n,x\n", [None, None], "O"),
        ("99999999999999999999,x\n1,x\n", [99999999999999999999, 1], "O"),
        ("9007199254740993,x\n,x\n", [9007199254740993, None], "O"),
    ],
)
def test_types_of_columns(cells: str, expected: list[Any], kind: str) -> None:
    column = table(f"a,b\n{cells}").columns["a"]
    assert column.dtype.kind == kind
    assert column.tolist() == expected


def test_gaps_in_numbers_are_nan() -> None:
    for cells in ("1,x\n,x\n", '"1",x\n"",x\n', "1,x\nnan,x\n", "1,x\nNaN,x\n"):
        assert np.isnan(table(f"a,b\n{cells}").columns["a"]).tolist() == [False, True]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a;b,c\n1;2\n", ("a", "b,c")),
        ('a,"b;c;d"\n1,2\n', ("a", "b;c;d")),
        ("text\tlabel\nhello, world; you\tx\n", ("text", "label")),
        ("a|b|c\n1|2|3\n", ("a", "b", "c")),
        ("only\n1\n", ("only",)),
        ("\n\na,b\n1,2\n", ("a", "b")),
        (",a\n0,1\n", ("", "a")),
    ],
)
def test_separators(text: str, names: tuple[str, ...]) -> None:
    assert table(text).names == names


@pytest.mark.parametrize("line", ["sep=;\n", '"sep=;"\r\n', "\ufeffsep=;\n"])
def test_the_separator_may_be_declared_before_the_header(line: str, tmp_path: Path) -> None:
    text = line + "y,a,b;score\nx,y,z;1\nx,y,w;2\n"
    assert table(text).names == ("y,a,b", "score")
    assert table(text).columns["score"].tolist() == [1, 2]
    path = tmp_path / "declared.csv"
    path.write_bytes(text.encode())
    opened = open_delimited(path)
    assert opened.settle is not None and opened.settle(["score"])
    parts = [part["score"].tolist() for part in opened.batches(["score"])]
    assert parts == [table(text).columns["score"].tolist()]


def test_a_last_line_without_an_end_and_blank_lines() -> None:
    assert table("a,b\n1,2\n\n3,4").columns["a"].tolist() == [1, 3]


def test_quotes_may_hold_line_breaks_across_blocks() -> None:
    long = "line\n" * 50_000
    column = table('a,b\n"' + long + '",1\nx,2\n').columns["a"]
    assert column.tolist() == [long, "x"]


def test_invalid_bytes_matter_only_where_they_are_read() -> None:
    data = b"y_true,note\n1,caf\xe9\n"
    assert read_table(io.BytesIO(data), format="csv", columns=lambda names: names[:1]).n == 1


FILES = """
import sys
from pathlib import Path
from evalreport.columns.find_columns import find_in_files, to_predictions
from evalreport.columns.column_request import Columns
for name in sys.argv[1:]:
    to_predictions(find_in_files(Path(name), Columns(score="score")))
print(*{"pandas", "mlflow", "scipy", "sklearn", "matplotlib"}.intersection(sys.modules))
"""


def test_no_format_imports_pandas(tmp_path: Path) -> None:
    data: Data = {"example_id": ["a", "b", "c"], "y_true": ["x", "y", "x"], "score": [0.25, 0.5, 1.0]}
    paths = []
    for name, write in WRITERS.items():
        write(tmp_path / name, data)
        paths.append(str(tmp_path / name))
    done = subprocess.run([sys.executable, "-c", FILES, *paths], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


@pytest.mark.parametrize("read", ["batches", "distinct"])
def test_a_column_has_one_type_in_all_files(read: str, tmp_path: Path) -> None:
    """The first file has only digits, the second has words: labels are text in both."""
    (tmp_path / "a.csv").write_text("label,score\n07,0.5\n1,1\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("label,score\nham,1\n", encoding="utf-8")
    data = data_set([tmp_path])
    found = [batch["label"].tolist() for *_, batch in getattr(data, read)(["label"])]
    assert found == [["07", "1"], ["ham"]]


def test_files_without_the_same_columns_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("label,score\n1,1\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("truth,score\n1,1\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"b.csv has no column 'label', and a.csv has"):
        next(data_set([tmp_path]).distinct(["label"]))

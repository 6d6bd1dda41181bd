"""Bytes to text: UTF-8, with or without a byte order mark, and nothing else.

CSV and its kin: the separator is detected, and the types of columns follow one plain rule.

Every cell is read as text first. A column whose cells are all whole numbers is int64 (Python's own whole
numbers where one is too large for that), all numbers float64, all ``True`` or ``False`` bool; anything
else stays the text that it is: ``007``, ``2024-01-05`` and ``N/A`` are labels as good as others. An empty
cell is a gap; ``""`` in quotes is an empty text.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from mmap import mmap
from typing import Any

import numpy as np

from evalreport.core.errors import DataError
from evalreport.data.arrays import reads_as_number
from evalreport.readers.content import Array, Content, to_array, wrap_format_errors
from evalreport.readers.limits import MAX_ROWS, Select, choose

UTF32 = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
"""To be looked for first: one begins like UTF-16."""
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
UNMARKED = ([False, True, False, True], [True, False, True, False])
"""Which of the first four bytes are zero in UTF-16 without a mark, of a text that begins with ASCII."""


def without_mark(data: bytes) -> bytes:
    """Return the bytes after the UTF-8 byte order mark, if there is one.

    Raises
    ------
    DataError
        A file of UTF-16 or UTF-32.

    Examples
    --------
    >>> without_mark(b"\\xef\\xbb\\xbfa,b")
    b'a,b'
    """
    if data.startswith(UTF32) or data[:4].count(0) == 3:
        raise DataError("the file is UTF-32", fix="save it as UTF-8")
    if data.startswith(UTF16) or [byte == 0 for byte in data[:4]] in UNMARKED:
        raise DataError("the file is UTF-16", fix="save it as UTF-8")
    return data.removeprefix(codecs.BOM_UTF8)


def decode(data: bytes) -> str:
    """Return the text of UTF-8 bytes.

    Raises
    ------
    DataError
        Not UTF-8; names the line.

    Examples
    --------
    >>> decode(b"a\\ncaf\\xe9")
    Traceback (most recent call last):
    evalreport.core.errors.DataError: line 2 is not UTF-8
    """
    try:
        return without_mark(data).decode("utf-8")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"line {line} is not UTF-8",
            where=f"line {line}, byte {error.object[error.start]:#04x}",
            fix="save the file as UTF-8",
        ) from error


SEPARATORS = (",", ";", "\t", "|")
UNREADABLE = "\N{REPLACEMENT CHARACTER}"
"""Where bytes were not UTF-8; they matter only in columns that are read."""
HEAD = 4 * 1024**2
"""Bytes in which the header must end."""
PROBE = 100
"""Cells that are looked at first."""
DECLARED = re.compile(r'"?sep=(.)"?\r?\n')
"""What Excel writes, and reads, before the header."""
MOST_DIGITS = 4000
"""Characters of a whole number; Python reads 4300 digits."""
_BELOW = 20
"""Rows below the header that it is compared with."""
BLOCK = 16 * 1024**2
"""Bytes of the longest line."""


PIECE = 256 * 1024
"""Bytes of each part of a sample."""


def sample_lines(data: bytes | mmap, *, quoted: bool = False) -> bytes:
    r"""Return whole lines from the beginning, the middle and the end of a text.

    Parameters
    ----------
    data : bytes, or a mapped file
    quoted : bool
        Whether a line break between quotes does not end a line; of bytes.

    Examples
    --------
    >>> sample_lines(b"a,b\n1,2\n")
    b'a,b\n1,2\n'
    """
    if len(data) <= 3 * PIECE:
        return data[:]

    def next_line(at: int) -> int:
        inside = quoted and _has_open_quote(data, 0, at)
        while (end := data.find(b"\n", at) + 1) and quoted:
            inside ^= _has_open_quote(data, at, end)
            if not inside:
                break
            at = end
        return end or len(data)

    starts = (0, next_line(len(data) // 2), next_line(len(data) - PIECE))
    return b"".join(data[start : next_line(start + PIECE)] for start in starts)


def _has_open_quote(text: bytes | mmap, start: int, end: int) -> bool:
    return not isinstance(text, mmap) and text.count(b'"', start, end) % 2 == 1


def read_delimited(data: bytes, select: Select | None, *, sample: bool = False) -> Content:
    """Return the wanted columns of a CSV, TSV, semicolon- or pipe-separated file, or of a sample of it.

    Raises
    ------
    DataError
        A line with too few or too many cells, bytes that are not UTF-8 (both name the line), a
        header with a name twice.
    """
    data = without_mark(data)
    data = sample_lines(data, quoted=b'"' in data) if sample else data
    if data.count(b"\n") > MAX_ROWS + 1:
        raise DataError(f"the file has over {MAX_ROWS:,} lines", fix="evaluate a sample")
    head = text_head(data)
    chosen = choose(head.names, select)
    if not chosen:
        return Content(head.names, {})
    table = _parse_csv(data, head, chosen)
    return Content(head.names, {name: _infer_typed_array(table.column(name), name) for name in chosen})


@dataclass(frozen=True)
class TextHead:
    """What the beginning of a file tells: separator, names of columns, whether any cell is quoted.

    `skipped` is 1 where a line before the header declares the separator, as Excel writes it (``sep=;``).
    """

    separator: str
    names: tuple[str, ...]
    quoted: bool
    skipped: int = 0


def text_head(data: bytes) -> TextHead:
    """Return the layout of a file, from all of it or from its first megabytes.

    Raises
    ------
    DataError
        Only blank lines, or a first line that is not a header.

    Examples
    --------
    >>> text_head(b"y_true;score\\n1;0.5\\n").names
    ('y_true', 'score')
    """
    head = _head(without_mark(data))
    if not head.strip():
        raise DataError("the file has only blank lines", fix="check the program that wrote it")
    if len(data) > HEAD and "\n" not in head:
        raise DataError("the first line is longer than 4 MB", fix="check that the file is a table of rows")
    declared = DECLARED.match(head)
    head = head[declared.end() :] if declared else head
    separator = declared[1] if declared else _separator(head)
    if not separator.isascii() or separator in '"\0':
        raise DataError(
            f"the first line declares the separator {separator!r}, which is not supported",
            where="row 0",
            fix="separate columns by a comma, semicolon, tab or |, and remove the first line",
        )
    names, *rows = _cells(head, separator, _BELOW + 1)
    if any(UNREADABLE in name for name in names):
        decode(data)
    _refuse_data(names, rows)
    return TextHead(separator, tuple(names), b'"' in data, int(declared is not None))


def _refuse_data(names: list[str], rows: list[list[str]]) -> None:
    """Refuse a first line that is a row of the table: every cell of it is a value like those below.

    A frame without names is written with 0, 1, 2, … as its header.
    """
    rows = [row for row in rows if len(row) == len(names)]
    if len(rows) < 2 or len(names) < 2 or names in ([*map(str, range(len(names)))], [""] * len(names)):
        return
    for name, below in zip(names, zip(*rows, strict=True), strict=True):
        all_numbers = reads_as_number(name) and all(map(reads_as_number, below))
        if not (name.strip() and (all_numbers or name in below)):
            return
    raise DataError(
        "the file has no header: its first line looks like data",
        where=f"line 1: {', '.join(names)[:80]}",
        fix="write a first line with a name for each column, such as "
        + ",".join(("y_true", *(f"x{place}" for place in range(1, len(names) - 1)), "score")),
    )


def text_batches(stream: Any, head: TextHead, chosen: tuple[str, ...]) -> Iterator[Any]:
    """Yield the wanted columns of a stream of bytes as Arrow tables of texts.

    Raises
    ------
    DataError
        A row with too few or too many cells, bytes that are not UTF-8.
    """
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    read = arrow_csv.ReadOptions(  # one thread knows the row's number
        use_threads=False, block_size=BLOCK, skip_rows=head.skipped
    )
    options = _options(head.separator, chosen, head.quoted)
    with wrap_format_errors("CSV", pa.ArrowException):
        try:
            for batch in arrow_csv.open_csv(stream, read, *options):
                yield pa.Table.from_batches([batch])
        except pa.ArrowInvalid as error:
            if "Expected" not in str(error):
                raise
            raise _ragged_row_error(str(error), head.quoted) from error


@dataclass(frozen=True)
class Kind:
    """What all cells of a column are, as far as they were seen.

    Examples
    --------
    >>> import pyarrow as pa
    >>> seen = (
    ...     Kind.from_column(pa.chunked_array([["1", None]])),
    ...     Kind.from_column(pa.chunked_array([["0.5"]])),
    ... )
    >>> (seen[0] & seen[1]).convert_part(pa.chunked_array([["1"]]), "p")
    array([1.])
    """

    number: bool
    whole: bool
    large: bool
    truth: bool
    empty: bool

    @classmethod
    def from_column(cls, column: Any) -> Kind:
        """Return the kind of a column of texts."""
        import pyarrow as pa

        def casts(kind: Any) -> bool:
            try:
                return _cast(column, kind) is not None
            except pa.ArrowInvalid:
                return False

        number = casts(pa.float64())
        words = set() if number else {*column.unique().to_pylist()}
        whole = number and not _has_zero_padding(column) and (casts(pa.int64()) or _is_whole(column))
        return cls(
            number,
            whole,
            whole and not casts(pa.int64()),
            not number and words <= {"True", "False", None},
            column.null_count == len(column),
        )

    def __and__(self, other: Kind) -> Kind:
        if self.empty or other.empty:
            return other if self.empty else self
        return Kind(
            self.number and other.number,
            self.whole and other.whole,
            self.large or other.large,
            self.truth and other.truth,
            False,
        )

    def convert_part(self, column: Any, name: str) -> Array:
        """Return a part of the column as an array of the type of all of it."""
        import pyarrow as pa

        if self.whole and self.large and not self.empty:
            return _large_numbers(column)
        if self.number and not self.empty:
            return to_array(_cast(column, pa.int64() if self.whole else pa.float64()), name)
        return _words(column, name) if self.truth else to_array(column, name)


def _head(data: bytes) -> str:
    start = data[:HEAD].lstrip(b"\r\n")
    cut = start.rfind(b"\n") + 1 if len(data) > HEAD else len(start)
    return start[: cut or len(start)].decode("utf-8", errors="replace")


def _cells(head: str, separator: str, rows: int, *, strict: bool = False) -> list[list[str]]:
    try:
        lines = csv.reader(io.StringIO(head, newline=""), delimiter=separator, strict=strict)
        return list(islice((line for line in lines if line), rows))
    except csv.Error as error:
        if rows > 1:
            return _cells(head, separator, rows - 1, strict=strict)
        raise DataError(f"the header is not CSV: {error}", where="line 1", fix="check the quotes") from error


def _separator(head: str) -> str:
    """Return the separator that cuts header and first row into the same, greatest number of cells."""

    def fit(separator: str) -> tuple[bool, int]:
        try:
            widths = [len(row) for row in _cells(head, separator, 2, strict=True)]
        except DataError:
            return False, 0
        return len(widths) == 2 and widths[0] == widths[1] > 1, widths[0] if widths else 0

    return max(SEPARATORS, key=fit)


def _parse_csv(data: bytes, head: TextHead, chosen: tuple[str, ...]) -> Any:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    parse, convert = _options(head.separator, chosen, head.quoted)

    def attempt(threads: bool) -> Any:
        size = min(BLOCK, max(len(data), 1024))
        read = arrow_csv.ReadOptions(use_threads=threads, block_size=size, skip_rows=head.skipped)
        return arrow_csv.read_csv(
            pa.BufferReader(data), read_options=read, parse_options=parse, convert_options=convert
        )

    with wrap_format_errors("CSV", pa.ArrowException):
        try:
            return attempt(threads=True)
        except pa.ArrowInvalid as error:
            decode(data)  # names the line, when that was the reason
            if "Expected" not in str(error):
                raise
        try:  # with one thread the parser knows the number of the row
            return attempt(threads=False)
        except pa.ArrowInvalid as error:
            raise _ragged_row_error(str(error), head.quoted) from error


def _options(separator: str, chosen: tuple[str, ...], quoted: bool) -> tuple[Any, Any]:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    convert = arrow_csv.ConvertOptions(
        include_columns=chosen,
        column_types=dict.fromkeys(chosen, pa.large_string()),
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )
    return arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=quoted), convert


def _ragged_row_error(reason: str, quoted: bool) -> DataError:
    found = re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", reason)
    if not found:
        return DataError(f"the file is not CSV: {reason[:160]}", fix="check quotes and separators")
    line, expected, got = found.groups()
    place = "record" if quoted else "line"
    return DataError(
        f"{place} {line} has {got} cells and the header has {expected}",
        where=f"{place} {line}",
        fix="quote texts that contain the separator or a line break",
    )


def _infer_typed_array(column: Any, name: str) -> Array:
    import pyarrow as pa

    if column.null_count == len(column):
        return to_array(column, name)
    try:
        _cast(column.slice(0, PROBE), pa.float64())  # text is mostly known by its first cells
        numbers = _cast(column, pa.float64())
    except pa.ArrowInvalid:
        return _words(column, name)
    try:
        whole = _cast(column, pa.int64())
    except pa.ArrowInvalid:
        large = _is_whole(column) and not _has_zero_padding(column)
        return _large_numbers(column) if large else to_array(numbers, name)
    return to_array(column if _has_zero_padding(column) else whole, name)


def _is_whole(column: Any) -> bool:
    """Whether all cells are whole numbers, of any size that is read."""
    import pyarrow.compute as pc

    whole = pc.match_substring_regex(column, r"^\s*(-?[0-9]+)?\s*$")
    return bool(pc.all(whole).as_py()) and pc.max(pc.utf8_length(column)).as_py() <= MOST_DIGITS


def _large_numbers(column: Any) -> Array:
    """Return whole numbers of which one is too large for int64 as Python's own."""
    cells = (cell.strip() if cell is not None else None for cell in column.to_pylist())
    return np.array([int(cell) if cell else None for cell in cells], dtype=object)


def _has_zero_padding(column: Any) -> bool:
    """Whether a number begins with a needless zero: then it is a name."""
    import pyarrow.compute as pc

    return bool(pc.any(pc.match_substring_regex(column, r"^\s*[+-]?0[0-9]")).as_py())


def _cast(column: Any, kind: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        return column.cast(kind)
    except pa.ArrowInvalid:  # spaces round a number; a quoted gap
        bare = pc.utf8_trim_whitespace(column)
        filled = pc.utf8_length(bare).cast(pa.bool_())
        return pc.if_else(filled, bare, pa.nulls(len(bare), bare.type)).cast(kind)


def _words(column: Any, name: str) -> Array:
    words = to_array(column, name)
    truth = {"True": True, "False": False, None: None}
    if not all(set(part.tolist()) <= set(truth) for part in (words[:PROBE], words)):
        return words
    values = [truth[word] for word in words.tolist()]
    return np.array(values, dtype=object if None in values else bool)

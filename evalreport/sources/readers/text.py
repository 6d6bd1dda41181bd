"""Bytes to text: UTF-8, with or without a byte order mark, and nothing else."""

from __future__ import annotations

import codecs

from evalreport.errors import DataError

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
    evalreport.errors.DataError: line 2 is not UTF-8
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

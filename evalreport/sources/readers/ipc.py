"""What the batches of an Arrow file would expand to, by their own headers, before one of them is expanded.

pyarrow expands a batch as it reads it. The size of each buffer stands before it, and where the buffers
are stands in the message's head, a FlatBuffer (Arrow columnar format, "Encapsulated message format").
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

_RECORD_BATCH, _DICTIONARY_BATCH = 3, 2
"""Kinds of message: the tags of `MessageHeader` in Arrow's Message.fbs."""
_HEADER_TYPE, _HEADER = 1, 2
"""Places of the fields of a message."""
_DATA = 1
"""Place of the batch within a dictionary."""
_BUFFERS, _COMPRESSION = 2, 3
"""Places of the fields of a batch."""
FILE = b"ARROW1"
_MAGIC = 8
"""Bytes before the first message of a file: the six letters, padded to eight."""


def claims(data: bytes) -> Iterator[int]:
    """Yield how many bytes each batch of a file or stream expands to.

    Parameters
    ----------
    data : bytes

    Raises
    ------
    struct.error
        A head that leads out of itself.
    """
    import pyarrow as pa

    start = _MAGIC if data.startswith(FILE) else 0
    reader = pa.ipc.MessageReader.open_stream(pa.py_buffer(data).slice(start))
    try:
        for message in reader:
            yield _claim(message.metadata.to_pybytes(), message.body)
    except pa.ArrowException:  # after the last message: the reader of the file says what is broken
        return


def _claim(head: bytes, body: Any) -> int:
    message = _root(head)
    kind = _field(head, message, _HEADER_TYPE)
    batch = _table(head, message, _HEADER)
    if kind is None or batch is None or head[kind] not in (_RECORD_BATCH, _DICTIONARY_BATCH):
        return 0
    if head[kind] == _DICTIONARY_BATCH:
        batch = _table(head, batch, _DATA)
    buffers = None if batch is None else _table(head, batch, _BUFFERS)
    if batch is None or buffers is None or _field(head, batch, _COMPRESSION) is None:
        return 0 if body is None else int(body.size)
    (count,) = struct.unpack_from("<I", head, buffers)
    places = struct.iter_unpack("<qq", head[buffers + 4 : buffers + 4 + 16 * count])
    return sum(_expanded(body, offset, length) for offset, length in places)


def _expanded(body: Any, offset: int, length: int) -> int:
    """Return the size of a buffer, which stands before it; -1 says that it is as it is."""
    if length < 8:
        return 0
    (size,) = struct.unpack("<q", body.slice(offset, 8).to_pybytes())
    return length if size < 0 else int(size)


def _root(head: bytes) -> int:
    (root,) = struct.unpack_from("<I", head, 0)
    return int(root)


def _field(head: bytes, table: int, place: int) -> int | None:
    """Return where a field of a table stands; None where it is not set."""
    (back,) = struct.unpack_from("<i", head, table)
    known, _ = struct.unpack_from("<HH", head, table - back)
    if 4 + 2 * place >= known:
        return None
    (offset,) = struct.unpack_from("<H", head, table - back + 4 + 2 * place)
    return table + offset if offset else None


def _table(head: bytes, table: int, place: int) -> int | None:
    """Return where the table or vector is that a field points to."""
    at = _field(head, table, place)
    if at is None:
        return None
    (offset,) = struct.unpack_from("<I", head, at)
    return at + int(offset)

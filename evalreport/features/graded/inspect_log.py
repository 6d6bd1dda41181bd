"""Logs of Inspect AI in their binary form, ``.eval``: a zip archive with a member for each sample.

Members are compressed by Zstandard (method 93), which `zipfile` reads from Python 3.14 on; pyarrow
decompresses them here.
"""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any, Final

from evalreport.core.errors import DataError
from evalreport.readers.content import Content
from evalreport.readers.formats import Reader
from evalreport.readers.json import read_json
from evalreport.readers.limits import MAX_ROWS, Select, decompress_limited, refuse_expansion

HEADER: Final = "header.json"
STARTED: Final = "_journal/start.json"
"""The header of a log whose evaluation has not ended."""
ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")
SAMPLES: Final = "samples/"
ZSTANDARD: Final = 93
LOCAL_HEADER: Final = 30
"""Bytes of a member's own header before its name."""
KEPT: Final = ("id", "epoch", "target", "scores", "error", "total_time", "model_usage")


def read_eval(data: bytes, select: Select | None) -> Content:
    """Return the samples of an ``.eval`` file as columns, like those of a log in JSON.

    Raises
    ------
    DataError
        A file that is not a log of Inspect AI, or a broken one.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        names = set(archive.namelist())
        header = next((name for name in (HEADER, STARTED) if name in names), None)
        if header is None:
            raise DataError("the file is not a log of Inspect AI", fix="pass what `inspect eval` wrote")
        members = [one for one in archive.infolist() if one.filename.startswith(SAMPLES)][: MAX_ROWS + 1]
        refuse_expansion(sum(one.file_size for one in members), len(data))
        samples = [_sample(_member(archive, one, data)) for one in members]
        log = _member(archive, archive.getinfo(header), data)
    except (zipfile.BadZipFile, EOFError, RuntimeError, NotImplementedError, ValueError) as error:
        raise DataError(f"the log is broken: {error}", fix="copy it again, or write it as JSON") from error
    if not samples:
        raise DataError("the log has no samples", fix="run the evaluation again with --log-samples")
    document = {"eval": value if isinstance(value := log.get("eval"), dict) else {}, "samples": samples}
    return read_json(json.dumps(document).encode(), select)


def _member(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, data: bytes) -> dict[str, Any]:
    if entry.compress_type == ZSTANDARD:
        start = entry.header_offset + LOCAL_HEADER
        name, extra = (int.from_bytes(data[start - 4 + at : start - 2 + at], "little") for at in (0, 2))
        begin = start + name + extra
        text = decompress_limited(data[begin : begin + entry.compress_size])
    else:
        text = archive.read(entry)
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError(f"{entry.filename} is not a record")
    return found


def _sample(sample: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a sample that are used; messages and events are dropped."""
    output = sample.get("output")
    completion = output.get("completion") if isinstance(output, dict) else None
    return {name: sample[name] for name in KEPT if name in sample} | {"output": {"completion": completion}}


READERS: tuple[Reader, ...] = (Reader("inspect-eval", (".eval",), ZIP, read_eval),)

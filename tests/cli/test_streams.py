"""Streams as shells hand them over: other encodings, closed, full; and places that are no files."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from evalreport.core.errors import UsageError
from evalreport.tracking.folder import write_file
from tests.cli.running import run

ROOT = Path(__file__).parents[2]
ROWS = "y_true,score\n" + "".join(f"{'é' if k % 2 else 'ß↕'},0.{k % 7 + 1}\n" for k in range(40))
Capture = pytest.CaptureFixture[str]
needs_full = pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="no /dev/full here")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text(ROWS, encoding="utf-8")


def shell(command: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run a line of bash in which `evalreport` is this copy."""
    line = f'evalreport() {{ "{sys.executable}" -m evalreport "$@"; }}; {command}'
    return subprocess.run(
        ["bash", "-c", line],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
    )


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_documents_are_utf_8_and_lines_lose_nothing(encoding: str) -> None:
    command = "report rows.csv --positive 'ß↕'"
    commands = (f"{command} --json -q", f"{command} -o - > page.html")
    done = shell("; ".join(f"evalreport {each}" for each in commands), PYTHONIOENCODING=encoding)
    assert done.returncode == 0, done.stderr
    first = done.stdout.splitlines()[0]
    assert json.loads(first.decode("utf-8"))["runs"][0]["labels"] == ["é", "ß↕"]
    assert Path("page.html").read_text(encoding="utf-8").rstrip().endswith("</html>")
    sign = "↕".encode() if encoding == "ascii" else b"\\u2195"  # click takes ASCII for an oversight: UTF-8
    assert sign in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_name_that_is_no_text_is_reported_in_valid_json() -> None:
    Path(os.fsdecode(b"bad\xff.csv")).write_text(ROWS, encoding="utf-8")
    done = shell("evalreport report $'bad\\xff.csv' --json -q")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.decode("utf-8"))["runs"][0]["run_name"].startswith("bad")


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("evalreport metrics >&-", 0),
        ("evalreport report rows.csv 2>&-", 0),
        ("evalreport report none.csv 2>&-", 3),
        ("evalreport report - --set format=csv <&-", 5),
    ],
)
def test_a_closed_stream_is_nobody_listening(command: str, code: int) -> None:
    done = shell(command)
    assert done.returncode == code
    assert b"internal" not in done.stderr
    assert b"Traceback" not in done.stderr


@needs_full
@pytest.mark.parametrize(
    "command",
    [
        "evalreport metrics > /dev/full",
        "evalreport report rows.csv --json -q > /dev/full",
        "evalreport report rows.csv -o - -q > /dev/full",
        "evalreport completion bash > /dev/full",
    ],
)
def test_a_full_disk_behind_stdout_is_said_on_stderr(command: str) -> None:
    done = shell(command)
    assert done.returncode == 2
    assert done.stderr.decode().splitlines() == [
        "error: the result cannot be written: no space left on device",
        "  at   stdout",
        "  fix  name a file with -o, or make room",
    ]


@needs_full
def test_a_full_disk_behind_stderr_does_not_lose_the_result() -> None:
    done = shell("evalreport report rows.csv 2> /dev/full")
    assert (done.returncode, done.stdout) == (0, b"rows.html\n")


@needs_full
def test_a_device_is_written_into_and_stays_one() -> None:
    with pytest.raises(UsageError, match="cannot be written: no space left") as caught:
        write_file(Path("/dev/full"), b"x" * 10_000)
    assert caught.value.fix == "make room, or name another place with -o"
    assert Path("/dev/full").is_char_device()
    assert write_file(Path("/dev/null"), b"x") == Path("/dev/null")
    assert Path("/dev/null").is_char_device()


def test_a_pipe_is_written_into_and_stays_one(tmp_path: Path) -> None:
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_file(pipe, b"whole")
    reader.join(60)
    assert read == [b"whole"]
    assert pipe.is_fifo()


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO])
def test_a_disk_that_fails_half_way_leaves_nothing(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    whole = Path.replace
    written: list[Path] = []

    def fails(self: Path, target: Any) -> Path:
        written.append(self)
        if len(written) == 3:
            raise OSError(code, os.strerror(code))
        return whole(self, target)

    monkeypatch.setattr(Path, "replace", fails)
    done = run(capsys, "report", "rows.csv", "--output", "out")
    assert (done.code, done.out) == (2, "")
    message, _, fix = done.err.splitlines()[-3:]
    assert message.endswith(f"cannot be written: {os.strerror(code).lower()}")
    full = code in (errno.ENOSPC, errno.EDQUOT)
    assert fix.startswith("  fix  make room" if full else "  fix  check the folder's permissions")
    assert not list(Path("out").rglob(".evalreport-*"))


@pytest.mark.parametrize("columns", ["1", "20", "400"])
def test_any_width_of_a_terminal(capsys: Capture, monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    for command in ("--help", "log --help", "metrics", "report rows.csv -o page.html"):
        assert run(capsys, *command.split()).code == 0


@pytest.mark.parametrize(
    "name", ["C:\\data\\preds.csv", "sp ace é.csv", "-dash.csv", "a'b\"c.csv", "%2e%2e.csv"]
)
def test_names_of_files_are_names(capsys: Capture, name: str) -> None:
    given = f"./{name}" if name.startswith("-") else name
    assert run(capsys, "report", given).code == 3
    Path(name).write_text(ROWS, encoding="utf-8")
    assert run(capsys, "report", given, "-q").code == 0

"""Stores, folders and files that may not be written or read: three lines, the right words, no crash."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from evalreport.tracking.client import Store
from tests.faults.harness import LABELS, ended_powerless, fresh_run, log_command

pytestmark = pytest.mark.skipif(
    os.name != "posix" or (os.geteuid() == 0 and not hasattr(ctypes.CDLL(None), "capset")),
    reason="permissions do not bind root",
)


@contextmanager
def without(path: Path, mode: int) -> Iterator[None]:
    """Take permissions of a file or folder away while inside."""
    before = path.stat().st_mode
    path.chmod(mode)
    try:
        yield
    finally:
        path.chmod(before)


def ended(*arguments: str) -> tuple[int, str]:
    """Run the command as somebody whom permissions bind; exit code and stderr."""
    code, err = ended_powerless((*arguments, "-q"))
    assert "Traceback" not in err
    return code, err


CASES: dict[str, tuple[Callable[[Path, Path], Path], int, str]] = {
    "a database to read": (lambda base, _: base / "mlflow.db", 0o444, "the database cannot be written to"),
    "a database of others": (lambda base, _: base / "mlflow.db", 0, "cannot be read: permission denied"),
    "artifacts to read": (lambda _, run: run, 0o555, "the artifact folder cannot be written to or read"),
    "predictions of others": (
        lambda _, run: run / "predictions.csv",
        0,
        "the artifact folder cannot be written to or read",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_store_that_is_not_ours(sqlite_store: Store, tmp_path: Path, case: str) -> None:
    place, mode, words = CASES[case]
    made = fresh_run(sqlite_store, tmp_path)
    with without(place(tmp_path, tmp_path / "artifacts" / made.run_id / "artifacts"), mode):
        code, err = ended(*log_command(sqlite_store.uri, made.run_id))
    assert (code, words in err) == (4, True), err
    run = sqlite_store.client.get_run(made.run_id)
    assert not run.data.metrics


def test_a_folder_that_is_not_ours(tmp_path: Path) -> None:
    file, folder = tmp_path / "rows.csv", tmp_path / "theirs"
    file.write_text(LABELS)
    folder.mkdir()
    with without(folder, 0o555):
        code, err = ended("report", str(file), "--output", str(folder))
    assert (code, "cannot be written: permission denied" in err) == (2, True), err
    assert list(folder.iterdir()) == []

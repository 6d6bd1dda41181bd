"""Limits of memory that a test can reach, and temporary files where it looks for them."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def no_floor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `--set memory` be what the scores may take: a test has few."""
    monkeypatch.setattr("evalreport.cli.requests.PAGE", 0)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make temporary files in the folder of the test, which then sees what is left."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path

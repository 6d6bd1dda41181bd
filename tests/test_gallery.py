"""The gallery: every kind of page from real data, each within its budget."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BUDGETS = {
    "thousand-classes": 1_000_000,
    "banking77": 250_000,
    "banking77-collapsed": 250_000,
    "banking77-logits": 250_000,
    "goemotions-search": 260_000,
    "banking77-generated": 155_000,
}
DEFAULT = 150_000


def test_the_gallery_is_written_and_stays_within_its_budgets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["gallery.py", str(tmp_path)])
    runpy.run_path(str(ROOT / "examples" / "gallery.py"), run_name="__main__")
    linked = re.findall(r'href="([^"]+)"', (tmp_path / "index.html").read_text(encoding="utf-8"))
    assert len(linked) >= 11
    for name in linked:
        assert (tmp_path / name).stat().st_size < BUDGETS.get(Path(name).stem, DEFAULT), name
    headline = (tmp_path / "banking77-collapsed.html").read_text(encoding="utf-8")
    assert "71 of 77 classes are never predicted" in re.sub(r"<[^>]*>", "", headline)

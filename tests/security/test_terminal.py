"""Names from strangers reach a terminal, a log and a file system as harmless text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evalreport.tracking.client import Store
from tests.cli.running import Ran, run
from tests.tracking import make_run

Capture = pytest.CaptureFixture[str]
ESCAPES = (
    "\x1b]8;;http://evil\x07link",
    "line\rover",
    "\u202eevil",
    "\x9b31m",
    "new\nerror: line",
    "\u2066x",
)
DANGEROUS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def harmless(done: Ran) -> None:
    assert not DANGEROUS.search(done.out), repr(DANGEROUS.search(done.out))
    assert not DANGEROUS.search(done.err), repr(DANGEROUS.search(done.err))
    assert "\nerror: line" not in done.err


def rows(first: str, second: str, column: str = "user") -> str:
    quoted = column.replace('"', '""')
    lines = [f'"{first}","{second}",g', f'"{second}","{second}",g', f'"{first}","{first}",g'] * 12
    return f'y_true,y_pred,"{quoted}"\n' + "\n".join(lines)


@pytest.mark.parametrize("name", ESCAPES, ids=ascii)
def test_labels_columns_and_titles(capsys: Capture, name: str) -> None:
    Path("rows.csv").write_text(rows(name, "plain", name), newline="")
    harmless(run(capsys, "report", "rows.csv", "--positive", "plain", "--title", name, "-vv"))
    harmless(run(capsys, "report", "rows.csv", "--positive", "plain", "--slice", name, "-vv"))
    harmless(run(capsys, "report", "rows.csv", "--truth", name + "x", "-vv"))
    harmless(run(capsys, "report", "rows.csv", "--labels", "a,b", "-vv"))
    harmless(run(capsys, "report", name, "-vv"))
    harmless(run(capsys, name))
    harmless(run(capsys, "metrics", name))


@pytest.mark.parametrize(
    "name", [*ESCAPES, "../../x", "CON", "n" * 300, "..", "/etc/passwd", "a/b"], ids=ascii
)
def test_names_of_runs(sqlite_store: Store, tmp_path: Path, capsys: Capture, name: str) -> None:
    for k in range(2):
        text = rows("no", "yes") + f"\nno,yes,{k}"
        make_run(sqlite_store, {"predictions.csv": text}, name=name, folder=tmp_path)
    arguments = [
        "report",
        "--latest",
        "2",
        "--tracking-uri",
        sqlite_store.uri,
        "-v",
        "--set",
        "confidence=none",
    ]
    before = set(tmp_path.rglob("*"))
    for place in (["--output", "out"], []):
        done = run(capsys, *arguments, *place)
        assert done.code == 0, done.err
        harmless(done)
    new = set(tmp_path.rglob("*")) - before
    assert len([path for path in new if path.suffix == ".html"]) == 4
    assert all(len(path.name) < 120 and not DANGEROUS.search(path.name) for path in new)
    assert not (tmp_path.parent / "x").exists()

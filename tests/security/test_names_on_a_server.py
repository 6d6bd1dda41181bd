"""Hostile names of runs, experiments and artifacts on a real server: text everywhere, one file each."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalreport.tracking.client import connect
from tests.faults.harness import LABELS, log_command, said
from tests.tracking import MlflowServer, make_run

NAMES = (
    "<script>alert(1)</script>",
    "a\nb\rc",
    "../../etc/passwd",
    "\u202egnp.exe\u2066",
    "x" * 250,
    "\x1b]8;;http://evil\x07 👩‍🔬 {{7*7}}",
)
ARTIFACTS = (
    "<b>x</b>.csv",
    "pre dictions 👩‍🔬.csv",
    "x" * 240 + ".csv",
    "..csv.csv",
    "\u202evsc.csv",
    "=1+1.csv",
)
HIDDEN = ("\x1b", "\x07", "\r", "\u202e", "\u2066")


@pytest.mark.server
@pytest.mark.parametrize(("name", "artifact"), list(zip(NAMES, ARTIFACTS, strict=True)))
def test_hostile_names(mlflow_server: MlflowServer, tmp_path: Path, name: str, artifact: str) -> None:
    store = connect(mlflow_server.uri)
    made = make_run(store, {artifact: LABELS}, name=name, experiment=name)
    logged = said(*log_command(store.uri, made.run_id))
    found = said("log", "--experiment", name, "--tracking-uri", store.uri, "-n", "--set", "confidence=none")
    out = tmp_path / "out"
    written = said(
        *log_command(store.uri, made.run_id, "report"), "--output", str(out), "--artifact", artifact
    )
    (path,) = out.glob("*.html")
    page = path.read_text(encoding="utf-8")
    for done in (logged, found, written):
        assert done.code == 0, done.err
        assert not any(char in done.out + done.err + page + path.name for char in HIDDEN)
    assert page.count("<script") == 2
    assert "<b>x" not in page
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]

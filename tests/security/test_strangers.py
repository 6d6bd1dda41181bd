"""What a stranger's run may make us do: no request of its choosing, no YAML, no code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from evalreport.tracking.client import Store
from tests.cli.running import run
from tests.tracking import make_run

ROOT = Path(__file__).parents[2]
ROWS = "y_true,score,text\n" + "".join(f"{k % 2},0.{k % 7 + 1},http://example.org/{k}\n" for k in range(40))
GUARDED = """
import os, sys
for name in ("CI", "PYTEST_CURRENT_TEST", "MLFLOW_DISABLE_TELEMETRY", "DO_NOT_TRACK"):
    os.environ.pop(name, None)
def heard(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "urllib.Request"):
        print("NETWORK", event, arguments[1:], file=sys.__stderr__, flush=True)
sys.addaudithook(heard)
from evalreport.cli import main
while (words := sys.stdin.readline().split()):
    try:
        main(words)
    except SystemExit as stop:
        print("ENDED", stop.code, file=sys.__stderr__, flush=True)
"""
"""Commands, one a line, with an ear on every connection; libraries are not told that these are tests."""

LONGEST = 120
"""Seconds that a command may take: it needs about 6, nearly all for importing MLflow and seaborn."""


def test_a_file_and_a_run_of_a_database_are_reported_without_a_request(
    sqlite_store: Store, tmp_path: Path
) -> None:
    """And the guard hears: a server that is named is asked."""
    (tmp_path / "rows.csv").write_text(ROWS)
    tags = {"mlflow.source.name": "http://169.254.169.254/latest", "mlflow.user": "http://example.org"}
    made = make_run(sqlite_store, {"predictions.csv": ROWS}, tags=tags, folder=tmp_path)
    commands = (
        "report rows.csv --output out --set show_text=text",
        f"log --run-id {made.run_id} --tracking-uri {sqlite_store.uri}",
        f"log --run-id {'f' * 32} --tracking-uri http://127.0.0.1:9",
    )
    done = subprocess.run(
        [sys.executable, "-c", GUARDED],
        input="\n".join(commands),
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0"},
        timeout=LONGEST,
    )
    file, run_of, server, _ = done.stderr.split("ENDED")
    assert "NETWORK" not in file + run_of and "NETWORK" in server, done.stderr
    assert (run_of.split()[0], server.split()[0]) == ("0", "0"), done.stderr
    assert "logged " in done.stdout


@pytest.mark.parametrize("name", ["m/MLmodel", "MLmodel", "conda.yaml", "predictions.yaml"])
def test_yaml_of_a_run_is_never_parsed(
    sqlite_store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    marker = tmp_path / "ran"
    payload = f"!!python/object/apply:os.system ['touch {marker}']\n"
    artifacts = {name: payload, "results/predictions.csv": ROWS}
    made = make_run(sqlite_store, dict(artifacts), folder=tmp_path)
    done = run(capsys, "log", "--run-id", made.run_id, "--tracking-uri", sqlite_store.uri, "-n")
    assert done.code == 0, done.err
    named = run(
        capsys, "log", "--run-id", made.run_id, "--tracking-uri", sqlite_store.uri, "--artifact", name, "-n"
    )
    assert named.code == 2
    assert not marker.exists()


LINKS = (
    "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:x",
    "//evil.example",
    "http://evil.example",
)


@pytest.mark.parametrize("link", LINKS)
def test_an_address_in_a_name_is_text_and_no_link(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], link: str
) -> None:
    rows = "y_true,y_pred,site,text\n" + f'"{link}",other,"{link}","{link}"\nother,"{link}",b,"{link}"\n' * 20
    path = tmp_path / "rows.csv"
    path.write_text(rows)
    page = tmp_path / "page.html"
    options = ("--slice", "site", "--set", "show_text=text", "--title", link, "-o", str(page), "-q")
    assert run(capsys, "report", str(path), *options).code == 0
    text = page.read_text(encoding="utf-8")
    assert link.split("<", maxsplit=1)[0] in text
    assert f'href="{link}' not in text
    assert f"href={link}" not in text
    assert 'href="#' in text

"""No secret of the environment or of an address is ever shown or stored, on success, on failure, with -vv."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from evalreport.core.text import redact
from evalreport.tracking.client import Store
from tests.cli.running import Ran, run
from tests.tracking import make_run

ROOT = Path(__file__).parents[2]
CANARY = "canary7secret"
NAMES = (
    *(
        "MLFLOW_TRACKING_USERNAME",
        "MLFLOW_TRACKING_PASSWORD",
        "MLFLOW_TRACKING_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
    ),
    *("AWS_SESSION_TOKEN", "GITHUB_TOKEN", "SOME_API_KEY", "CLIENT_SECRET", "DB_PASSWORD"),
)
REFUSED = f"http://ada:{CANARY}@127.0.0.1:9/team?token={CANARY}#{CANARY}"
ROWS = "y_true,score\n" + "".join(f"{k % 2},0.{k % 7 + 1}\n" for k in range(40))


class Inside:
    """The command in this process, where every secret is a canary."""

    def __init__(self, capfd: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch, folder: Path) -> None:
        self.capfd, self.patch = capfd, patch
        patch.chdir(folder)

    def __call__(self, *arguments: str, **variables: str) -> Ran:
        for name, value in {**dict.fromkeys(NAMES, CANARY), **variables}.items():
            self.patch.setenv(name, value)
        self.patch.setattr(sys, "argv", ["evalreport", *arguments])
        return run(self.capfd, *arguments)


@pytest.fixture
def inside(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Inside:
    return Inside(capfd, monkeypatch, tmp_path)


def written(folder: Path) -> str:
    """Every byte below a folder, save the rows that were put there."""
    return "".join(path.read_bytes().decode("latin-1") for path in folder.rglob("*") if path.is_file())


def test_a_report_of_a_file_holds_no_secret(tmp_path: Path, inside: Inside) -> None:
    (tmp_path / "rows.csv").write_text(ROWS)
    done = inside("--tracking-uri", REFUSED, "report", "rows.csv", "--output", "out", "-vv", "--title", "A")
    assert done.code == 0, done.err
    assert "--tracking-uri" in written(tmp_path / "out")  # the command stands in the provenance
    assert CANARY not in done.out + done.err + written(tmp_path / "out")
    whole = inside("report", "rows.csv", "--json", MLFLOW_TRACKING_URI=REFUSED)
    assert CANARY not in whole.out + whole.err


FAILING = [
    ("log", "--latest", "-vv"),
    ("report", "--run-id", "0" * 32, "--jsonl"),
    ("config", "--json"),
    ("--tracking-uri", REFUSED, "log"),
    ("--tracking-uri", REFUSED, "log", "--nope"),
    ("--tracking-uri", REFUSED, "--json", "metrics", "nope"),
    ("report", f"{CANARY[:5]}.csv", "--set", f"truth_file={REFUSED}", "-vv"),
]


@pytest.mark.parametrize("arguments", FAILING, ids=lambda value: " ".join(value)[:40])
def test_no_failure_tells_a_secret(inside: Inside, arguments: tuple[str, ...]) -> None:
    variables = {} if "--tracking-uri" in arguments else {"MLFLOW_TRACKING_URI": REFUSED}
    done = inside(*arguments, MLFLOW_HTTP_REQUEST_MAX_RETRIES="0", **variables)
    assert CANARY not in done.out + done.err
    assert done.out + done.err


def test_a_logged_run_holds_no_secret(sqlite_store: Store, tmp_path: Path, inside: Inside) -> None:
    made = make_run(sqlite_store, {"predictions.csv": ROWS}, folder=tmp_path)
    done = inside("log", "--run-id", made.run_id, "--tracking-uri", sqlite_store.uri, "-vv")
    assert done.code == 0, done.err
    held = sqlite_store.client.get_run(made.run_id)
    assert CANARY not in done.out + done.err + written(tmp_path) + str(held.to_dictionary())
    again = inside("log", "--run-id", made.run_id, "--tracking-uri", sqlite_store.uri, "--json")
    assert CANARY not in again.out + again.err


def test_an_internal_error_with_its_traceback_tells_no_secret(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(ROWS)
    (tmp_path / "broken.py").write_text(
        "import os, sys\nfrom evalreport.workflow import items\nfrom evalreport.cli import main\n"
        "def collect(self, request):\n"
        "    raise RuntimeError('at http://ada:' + os.environ['DB_PASSWORD'] + '@host/?x='"
        " + os.environ['GITHUB_TOKEN'])\n"
        "items.Item.collect = collect\n"
        "for last in ('-vv', '--json'):\n"
        "    try:\n        main(['report', 'rows.csv', last])\n"
        "    except SystemExit as stop:\n        print('ended', stop.code)\n"
    )
    done = subprocess.run(
        [sys.executable, "broken.py"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, **dict.fromkeys(NAMES, CANARY), "PYTHONPATH": str(ROOT)},
    )
    assert done.stdout.count("ended 101") == 2
    assert "RuntimeError" in done.stdout and "RuntimeError" in done.stderr
    assert CANARY not in done.stdout + done.stderr


def test_passwords_inside_addresses_of_the_environment_are_secrets_too() -> None:
    environment = {
        "DATABASE_URL": f"postgresql://ada:{CANARY}@host/db",
        "MLFLOW_TRACKING_USERNAME": "ada.lovelace",
    }
    assert (
        redact(f"login of ada.lovelace with {CANARY} failed", environment) == "login of *** with *** failed"
    )


def test_params_and_foreign_tags_stay_in_the_run(sqlite_store: Store, tmp_path: Path, inside: Inside) -> None:
    """A report says nothing of a run's parameters, nor of tags that nobody allowed."""
    made = make_run(
        sqlite_store,
        {"predictions.csv": ROWS},
        tags={"password": CANARY, "note": CANARY},
        folder=tmp_path,
    )
    sqlite_store.client.log_param(made.run_id, "secret", CANARY)
    where = ("--tracking-uri", sqlite_store.uri, "--output", "out", "-vv")
    done = inside("report", "--run-id", made.run_id, *where)
    assert done.code == 0, done.err
    assert CANARY not in done.out + done.err + written(tmp_path / "out")


def test_no_report_holds_the_rows(tmp_path: Path, inside: Inside) -> None:
    """The page carries counts and cut texts of what was named, never columns that nobody asked to show."""
    frame = pd.DataFrame(
        {"y_true": [0, 1] * 30, "score": [0.2, 0.9] * 30, "patient": [f"{CANARY}{k}" for k in range(60)]}
    )
    frame.to_csv(tmp_path / "rows.csv", index=False)
    done = inside("report", "rows.csv", "--output", "out")
    assert done.code == 0, done.err
    assert CANARY not in written(tmp_path / "out")

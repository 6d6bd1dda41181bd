"""Optuna storages of strangers, cut, changed, with hostile names and values: read or refused, no crash."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path

import pytest

from tests.cli.running import run
from tests.security.test_secrets import CANARY
from tests.sweeping import optuna_study

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def storage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """An SQLite database of one study whose every name is hostile."""
    monkeypatch.chdir(tmp_path)

    def objective(trial: object) -> float:
        kinds = trial.suggest_categorical("k", ["<i>", "b"])  # type: ignore[attr-defined]
        return trial.suggest_float("<b>x</b>", 0, 1) + len(kinds)  # type: ignore[attr-defined, no-any-return]

    optuna_study("sqlite:///good.db", "<script>alert(1)</script>\n\u202e", objective, 12)
    return Path("good.db").read_bytes()


def test_names_are_text(capsys: Capture) -> None:
    done = run(capsys, "sweep", "optuna", "--study", "sqlite:///good.db", "-o", "page.html")
    assert done.code == 0, done.err
    page = Path("page.html").read_text(encoding="utf-8").partition("</style>")[2]
    assert page.count("<script") == 2
    assert not any(tag in page for tag in ("<b>x", "<i>"))
    assert "\u202e" not in page + done.out + done.err


def test_half_of_a_database_and_flipped_bits_are_refused(capsys: Capture, storage: bytes) -> None:
    draw = random.Random(11)  # noqa: S311
    for place in range(12):
        broken = bytearray(storage[: draw.randrange(len(storage))] if place % 2 else storage)
        for _ in range(100):
            broken[draw.randrange(len(broken))] = draw.randrange(256)
        Path("broken.db").write_bytes(broken)
        done = run(capsys, "sweep", "optuna", "--study", "sqlite:///broken.db", "-o", "page.html")
        assert done.code in (0, 5), f"{place}: {done.err}"


VALUES = ("1e308", "1e149", "1e-320", "CASE WHEN trial_id % 2 THEN 1e149 ELSE -1e149 END", "0")


@pytest.mark.parametrize("value", VALUES)
def test_values_that_no_float_can_square(capsys: Capture, value: str) -> None:
    with sqlite3.connect("good.db") as database:
        database.execute(f"UPDATE trial_values SET value = {value}")  # noqa: S608
    database.close()
    done = run(capsys, "sweep", "optuna", "--study", "sqlite:///good.db", "-o", "page.html")
    assert done.code == (5 if value == "1e308" else 0), done.err


def test_what_is_no_storage_is_refused_and_no_password_reported(capsys: Capture) -> None:
    Path("x.csv").write_text("a,b\n1,2\n")
    Path("j.log").write_text('{"op_code": 0, "worker_id": "x", "study_name": "s", "directions": [7]}\n')
    Path("k.log").write_text('{"op_code": 99999}\n[1]\n{{{\n')
    strange = ("x.csv", "/", "/dev/zero", "sqlite:///none.db", "sqlite:///:memory:", "j.log", "k.log")
    servers = [f"{kind}://ada:{CANARY}@127.0.0.1:9/db" for kind in ("postgresql", "mysql+pymysql", "redis")]
    for name in (*strange, *servers):
        done = run(capsys, "sweep", "optuna", "--study", name, "-vv")
        assert done.code in (2, 3, 5), f"{name}: {done.err}"
        assert CANARY not in done.out + done.err

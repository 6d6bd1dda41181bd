"""On a terminal every line keeps within its width and nothing is lost; elsewhere no byte changes."""

from __future__ import annotations

import fcntl
import os
import pickle
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path
from unicodedata import east_asian_width

import numpy as np
import pandas as pd
import pytest

from evalreport.cli.console import align_columns, indent_lines, wrap_line
from evalreport.tracking.client import Store
from tests.cli.running import Ran, run
from tests.sweeping import optuna_study, two_params
from tests.tracking import make_run

Capture = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch
FEW = " --set resamples=100"
MARKS = {"✓", "✗", "?", "ok", "FAILED", "inconclusive"}
"""A terminal has signs where a file has words."""
COMMANDS = [
    ("report one.csv" + FEW, 0),
    ("report one.csv --markdown -" + FEW, 0),
    ("report labels.csv other.csv" + FEW, 0),
    ("compare one.csv two.csv --require recall>=0.2" + FEW, 0),
    ("compare one.csv two.csv three.csv" + FEW, 0),
    ("compare --system a=one.csv,two.csv --system b=three.csv,four.csv" + FEW, 0),
    ("check one.csv --require recall>=0.99 --require precision>=0.5" + FEW, 1),
    ("plan one.csv --metric recall --half-width 0.02" + FEW, 0),
    ("sweep thresholds one.csv --objective f1 --objective recall>=0.9 --cost 3" + FEW, 0),
    ("sweep optuna --study journal.log", 0),
    ("verify --run-id RUN", 3),
    ("metrics", 0),
    ("metrics mcc --coverage", 0),
    ("config", 0),
    ("report no-such-file-of-predictions-anywhere-in-this-folder.csv", 3),
    ("report one.csv --truth nothing-of-this-name", 3),
]


@pytest.fixture
def written(tmp_path: Path, monkeypatch: Patch, sqlite_store: Store) -> str:
    """Small files, a study, and a run, whose id is returned."""
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(3)
    truth, noise = draw.integers(0, 2, 200), draw.normal(size=(4, 200))
    for name, own in zip(("one", "two", "three", "four"), noise, strict=True):
        score = 1 / (1 + np.exp(-(2.0 * truth - 1 + own)))
        pd.DataFrame({"y_true": truth, "score": score}).to_csv(f"{name}.csv", index=False)
    names = np.array(["模型模型模型", "an ordinary label", "card_payment_fee_charged_to_a_new_account"])
    labels = names[draw.integers(0, 3, 200)]
    for name in ("labels", "other"):
        site = np.where(draw.random(200) < 0.5, "北京市", "Rome")
        answers = np.where(draw.random(200) < 0.7, labels, names[0])
        pd.DataFrame({"y_true": labels, "y_pred": answers, "site": site}).to_csv(f"{name}.csv", index=False)
    optuna_study("journal.log", "two", two_params, n=4)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", sqlite_store.uri)
    return make_run(sqlite_store, {"predictions.csv": Path("one.csv").read_text()}, folder=tmp_path).run_id


def on_terminal(monkeypatch: Patch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "dumb")  # no line of progress
    for stream in ("stdout", "stderr"):
        monkeypatch.setattr(f"sys.{stream}.isatty", lambda: True)


def words(done: Ran) -> list[str]:
    return sorted(word for word in (done.out + done.err).split() if word not in MARKS)


def width(line: str) -> int:
    return len(line) + sum(east_asian_width(char) in "WF" for char in line)


@pytest.mark.parametrize(("command", "code"), COMMANDS)
def test_lines_keep_within_the_terminal(
    written: str, capsys: Capture, monkeypatch: Patch, command: str, code: int
) -> None:
    arguments = command.replace("RUN", written).split()
    plain = run(capsys, *arguments)
    assert plain.code == code, plain.err
    for columns in (40, 80, 200):
        with monkeypatch.context() as terminal:
            on_terminal(terminal, columns)
            done = run(capsys, *arguments)
        document = "--markdown" in command
        for line in (done.err if document else done.out + done.err).splitlines():
            assert width(line) <= columns or len(line.split()) == 1, line
        assert words(done) == words(plain)
        assert done.out == plain.out or not document


def test_a_real_terminal(written: str) -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
    command = [sys.executable, "-m", "evalreport", "metrics", "mcc"]
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, env=environment | {"TERM": "dumb"}):
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 4096):
                shown += part
        except OSError:  # how Linux says that the other end is closed
            pass
    os.close(ours)
    lines = shown.decode().splitlines()
    assert 55 <= max(map(width, lines)) <= 60
    assert "  formula      (TP TN - FP FN) / sqrt((TP + FP) P N (TN +" in lines
    assert "               FN))" in lines


def test_elsewhere_no_width_matters(written: str, capsys: Capture, monkeypatch: Patch) -> None:
    command = ["compare", "one.csv", "two.csv", *FEW.split()]
    plain = run(capsys, *command)
    monkeypatch.setenv("COLUMNS", "40")
    assert run(capsys, *command) == plain
    assert max(map(len, plain.out.splitlines())) > 80


def test_a_table_folds_whole_columns_and_long_words_stay_whole() -> None:
    rows = [("", "threshold", "interval", ""), ("模型", "0.351", "0.24 to 0.48", "not demonstrated by far")]
    table = indent_lines(pickle.loads(pickle.dumps(align_columns(rows, left=(0, 3)))))
    assert [part for line in table for part in wrap_line(line, 32)] == [
        "        threshold      interval",
        "  模型      0.351  0.24 to 0.48",
        "    not demonstrated by far",
    ]
    path = "/a/very/long/path/of-a-file/that-nobody/breaks.csv"
    assert wrap_line(f"  at   {path} and ± 0.02", 40) == ["  at", f"    {path}", "    and ± 0.02"]
    assert wrap_line("an interval of ± 0.02", 16) == ["an interval of", "  ± 0.02"]
    assert wrap_line(table[1], None) == [str(table[1])]

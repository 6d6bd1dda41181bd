"""What goes to stdout and what to stderr, colour, verbosity, progress, names of files, completion."""

from __future__ import annotations

import ast
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Event

import pytest

from evalreport.cli.console import CLEAR, Console, Progress, Pulse, describe_stage, draw
from evalreport.core import errors
from evalreport.core.errors import EvalreportError
from evalreport.core.progress import report_progress
from tests.cli.running import run

Capture = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch
ROOT = Path(__file__).parents[2]
ROWS = "y_true,score\n" + "".join(f"{k % 2},0.{k % 7 + 1}\n" for k in range(40))
TERMINAL = {"TERM": "xterm", "NO_COLOR": "", "FORCE_COLOR": ""}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    Path("rows.csv").write_text(ROWS)


def test_stdout_is_the_result_and_stderr_the_conversation(capsys: Capture) -> None:
    done = run(capsys, "report", "rows.csv", "-o", "page.html")
    assert (done.code, done.out) == (0, "page.html\n")
    assert "finds 8 of 20 positive cases" in done.err


def test_quiet_and_quieter(capsys: Capture) -> None:
    assert run(capsys, "report", "rows.csv", "-q").err == ""
    assert run(capsys, "report", "rows.csv", "-q").out == "rows.html\n"
    assert run(capsys, "report", "rows.csv", "-qq").out == ""
    failed = run(capsys, "report", "none.csv", "-q")
    assert failed.err.startswith("error: ")
    silent = run(capsys, "report", "none.csv", "-qq")
    assert (silent.code, silent.out, silent.err) == (3, "", "")
    assert run(capsys, "-q", "report", "rows.csv").err == ""


def test_verbose_tells_what_is_read_and_written_and_twice_when(capsys: Capture) -> None:
    once = run(capsys, "report", "rows.csv", "-v").err
    assert "read rows.csv: csv, 40 rows, columns y_true, score\n" in once
    assert re.search(r"^wrote rows.html, \d+ kB$", once, re.MULTILINE)
    twice = run(capsys, "report", "rows.csv", "-vv").err
    assert re.search(r"^\[ +\d+\.\d\d s\] read rows.csv", twice, re.MULTILINE)
    assert "evaluated 40 rows" in twice
    assert "read rows.csv" not in run(capsys, "report", "rows.csv").err


def test_a_traceback_only_when_asked_for(capsys: Capture) -> None:
    assert "Traceback" not in run(capsys, "report", "none.csv", "-v").err
    assert "Traceback" in run(capsys, "report", "none.csv", "-vv").err


@pytest.mark.parametrize(
    ("arguments", "environment", "colored"),
    [
        ((), {}, False),
        (("--color", "always"), {}, True),
        (("--color=always",), {"NO_COLOR": "1"}, True),
        ((), {"FORCE_COLOR": "1"}, True),
        ((), {"EVALREPORT_COLOR": "always"}, True),
        (("--color", "never"), {"FORCE_COLOR": "1"}, False),
    ],
)
def test_colour_of_what_is_piped(
    capsys: Capture,
    monkeypatch: Patch,
    arguments: tuple[str, ...],
    environment: dict[str, str],
    colored: bool,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    done = run(capsys, "report", "none.csv", *arguments)
    assert ("\x1b[" in done.err) is colored
    assert "\x1b" not in run(capsys, *arguments, "report", "rows.csv").out


@pytest.mark.parametrize(
    ("environment", "colored"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False), ({"FORCE_COLOR": "1"}, True)],
    ids=str,
)
def test_colour_on_a_terminal(monkeypatch: Patch, environment: dict[str, str], colored: bool) -> None:
    for name, value in {**TERMINAL, **environment}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert Console().uses_color is colored
    assert Console(color="never").uses_color is False


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_one_long_piece_of_work_shows_what_it_does(capsys: Capture, monkeypatch: Patch, columns: int) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    console, beats = Console(started=time.monotonic() - 20), Event()

    def drawing(console: Console) -> None:
        draw(console)
        beats.set()

    monkeypatch.setattr("evalreport.cli.console.draw", drawing)
    with Pulse(console), Progress(console, 1) as progress:
        progress.begin("calm-heron-412")
        report_progress("bootstrap draws", 1200, 2000)
        beats.clear()
        assert beats.wait(60)
        shown = capsys.readouterr().err.rpartition(CLEAR)[2]
        assert shown[8:] == "[00:20] calm-heron-412: bootstrap draws 1,200 of 2,000"[8 : columns - 1]
        console.say("a word")
        assert f"{CLEAR}a word\n" in capsys.readouterr().err
        console.print_result("the result")
        capsys.readouterr()
        beats.clear()
        assert beats.wait(60)
    assert capsys.readouterr().err == ""
    report_progress("unheard")
    assert console.stage is None


def test_the_pace_of_a_stage_is_that_since_it_began() -> None:
    console = Console(started=time.monotonic() - 20)
    console.show_progress("reading the predictions", 0, 0)
    console.show_progress("rows counted", 1_000_000, 9_000_000)
    begun, first = console.stage_from
    console.show_progress("rows counted", 5_000_000, 9_000_000)
    assert console.stage_from == (begun, first) and first == 1_000_000
    assert describe_stage("rows counted", 5_000_000, 9_000_000, 2.0, first).endswith("00:02 left, 2.0M/s")
    assert describe_stage("rows counted", 9_000_000, 9_000_000, 60.0, first).endswith("of 9,000,000")


@pytest.mark.parametrize(("isatty", "verbosity"), [(False, 0), (True, -1)])
def test_nothing_moves_where_nobody_looks(
    capsys: Capture, monkeypatch: Patch, isatty: bool, verbosity: int
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stderr.isatty", lambda: isatty)
    console = Console(started=time.monotonic() - 20, verbosity=verbosity)
    with Pulse(console), Progress(console, 1) as progress:
        progress.begin("calm-heron-412")
        report_progress("bootstrap draws", 1200, 2000)
    assert capsys.readouterr().err == ""
    assert console.stage is None


def test_progress_moves_on_a_terminal_after_a_second_and_is_taken_away(
    capsys: Capture, monkeypatch: Patch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with Progress(Console(started=time.monotonic() + 3600), 3) as progress:
        progress.begin("early")
        assert capsys.readouterr().err == ""
    console = Console(started=time.monotonic() - 20)
    with Progress(console, 3) as progress:
        progress.begin("first \x1b]8;;x")
        shown = capsys.readouterr().err
        assert "0/3" in shown
        assert "\x1b]8" not in shown
        assert "\n" not in shown
        progress.end()
        console.say("done with it")
        assert capsys.readouterr().err.endswith("\r\x1b[Kdone with it\n")
        progress.begin("second")
        assert "1/3" in capsys.readouterr().err
    assert capsys.readouterr().err.endswith("\r\x1b[K")


def test_progress_is_one_line_per_run_elsewhere(capsys: Capture) -> None:
    Path("other.csv").write_text(ROWS)
    done = run(capsys, "report", "rows.csv", "other.csv")
    assert [line for line in done.err.splitlines() if re.match(r"\d/2 ", line)] == [
        "1/2 rows.csv",
        "2/2 other.csv",
    ]
    assert "\r" not in done.err
    assert "1/2" not in run(capsys, "report", "rows.csv", "other.csv", "-q").err


def test_files_of_one_name_do_not_share_a_report(capsys: Capture) -> None:
    for folder in ("a", "b"):
        Path(folder).mkdir()
    Path("a/rows.csv").write_text(ROWS)
    Path("b/rows.csv").write_text(ROWS + "1,0.95\n")
    done = run(capsys, "report", "a/rows.csv", "b/rows.csv", "a/rows.csv")
    assert done.out.splitlines() == ["rows.html", "rows-2.html"]
    done = run(capsys, "report", "a/rows.csv", "b/rows.csv", "--output", "all", "-q")
    assert len({Path(path).parent for path in done.out.splitlines()}) == 2


def test_what_is_read_is_not_written_over(capsys: Capture) -> None:
    for arguments in (["rows.csv", "-o", "rows.csv"], ["rows.csv", "-o", "./rows.csv", "--force"][:3]):
        done = run(capsys, "report", *arguments)
        assert done.code == 2
        assert "overwritten" in done.err
        assert Path("rows.csv").read_text() == ROWS
    run(capsys, "report", "rows.csv", "--output", "first", "-q")
    again = [
        "report",
        "first/predictions.parquet",
        "--truth",
        "y_true",
        "--pred",
        "y_pred",
        "--output",
        "first",
    ]
    before = Path("first/predictions.parquet").read_bytes()
    assert run(capsys, *again).code == 2
    assert Path("first/predictions.parquet").read_bytes() == before


def test_worst_exit_code_and_all_are_tried(capsys: Capture) -> None:
    Path("bad.csv").write_text("y_true,y_pred\na,\nb,b\na,a\n")
    done = run(capsys, "report", "none.csv", "bad.csv", "rows.csv", "--jsonl")
    assert done.code == 5
    lines = [line for line in done.out.splitlines() if line]
    assert len(lines) == 3
    stopped = run(capsys, "report", "none.csv", "bad.csv", "rows.csv", "--set", "fail_fast", "--json")
    assert stopped.code == 3
    assert [entry["ok"] for entry in stopped.json["runs"]] == [False]
    assert stopped.json["ok"] is False


def test_an_internal_error_of_one_is_reported_and_the_others_are_tried(
    capsys: Capture, monkeypatch: Patch
) -> None:
    from evalreport.workflow.items import Item

    whole = Item.collect

    def collect(self: Item, request: object) -> object:
        if self.path == "broken.csv":
            raise RuntimeError("a defect")
        return whole(self, request)  # type: ignore[arg-type]

    monkeypatch.setattr(Item, "collect", collect)
    done = run(capsys, "report", "broken.csv", "rows.csv", "--json")
    assert done.code == 101
    assert [entry["ok"] for entry in done.json["runs"]] == [False, True]
    alone = run(capsys, "report", "broken.csv", "-vv")
    assert alone.code == 101
    assert alone.err.splitlines()[0] == "error: internal error: RuntimeError: a defect"
    assert "Traceback" in alone.err


def test_jobs_give_the_same_numbers_in_the_same_order(capsys: Capture) -> None:
    names = []
    for k in range(4):
        Path(f"r{k}.csv").write_text(ROWS + f"{k % 2},0.9\n")
        names.append(f"r{k}.csv")
    one, two = (
        run(capsys, "report", *names, "--json", "-q", "--set", f"jobs={jobs}").json for jobs in ("1", "2")
    )
    assert [entry["source"] for entry in two["runs"]] == names
    for entry in (*one["runs"], *two["runs"]):
        del entry["provenance"]
    assert one == two


def test_numbers_do_not_lie_at_the_ends(capsys: Capture) -> None:
    rows = ["y_true,score"] + ["0,0.1"] * 4999 + ["0,0.9"] + ["1,0.8"] * 50
    Path("ends.csv").write_text("\n".join(rows))
    done = run(capsys, "report", "ends.csv")
    (line,) = (line for line in done.err.splitlines() if "specificity" in line)
    assert line.split()[1] == "0.9998"
    assert "Finds all 50 positive cases; 1 of 5,000 negative cases is flagged by mistake." in done.err


def test_a_list_of_metrics_is_printed_whole(capsys: Capture) -> None:
    done = run(capsys, "report", "rows.csv", "--metrics", "f1,tpr_at_fpr05")
    shown = [line.split()[0] for line in done.err.splitlines() if line.startswith("  ")]
    assert shown[:3] == ["metric", "f1", "tpr_at_fpr05"]


def completed(words: str) -> list[str]:
    environment = {
        **os.environ,
        "_EVALREPORT_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, "-m", "evalreport"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return done.stdout.split()


def test_completion_of_commands_options_values_and_files(capsys: Capture) -> None:
    assert completed("evalreport conf") == ["plain,config"]
    assert completed("evalreport report --score-") == ["plain,--score-kind"]
    assert completed("evalreport report --set task=multil") == ["plain,task=multilabel"]
    assert completed("evalreport report r") == ["file,r"]
    assert completed("evalreport log --run-id a") == []
    for shell in ("bash", "zsh", "fish"):
        done = run(capsys, "completion", shell)
        assert done.code == 0
        assert "_EVALREPORT_COMPLETE" in done.out


def test_a_reader_that_has_enough_is_no_failure() -> None:
    code = f"{sys.executable} -m evalreport metrics | head -c 10; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert (done.returncode, done.stderr) == (0, "")


SLOW_WRITE = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background begins without
from pathlib import Path
from evalreport.tracking import folder
from evalreport.cli import main
whole = Path.replace
def slow(self, target):
    print("writing", flush=True)
    time.sleep(600)
    return whole(self, target)
Path.replace = slow
main(["report", "rows.csv", "--output", "out"])
"""


def test_an_interrupt_leaves_no_half_written_file() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    started = subprocess.Popen(
        [sys.executable, "-c", SLOW_WRITE],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert started.stdout is not None
    assert started.stdout.readline() == "writing\n"
    started.send_signal(signal.SIGINT)
    _, err = started.communicate(timeout=600)
    assert started.returncode == 130
    assert err.splitlines()[-1] == "interrupted; no half-written file remains"
    assert [path.name for path in Path().iterdir()] == ["rows.csv"]  # the folder that it made is gone, too


def test_every_error_says_how_to_mend_it() -> None:
    """All that is raised has a remedy of its own; the place may be added by who catches it."""
    known = vars(errors).items()
    kinds = {name for name, kind in known if isinstance(kind, type) and issubclass(kind, EvalreportError)}
    for path in (ROOT / "evalreport").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in kinds:
                assert any(word.arg in ("fix", None) for word in node.keywords), f"{path.name}:{node.lineno}"

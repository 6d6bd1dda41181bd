"""Whatever a path, a number or a stream is: an exit code of ours, three lines, no traceback."""

from __future__ import annotations

import ast
import decimal
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import evalreport as er
from evalreport.cli.settings import KNOWN
from evalreport.core.errors import UsageError
from evalreport.features.gate.documents import CheckedRun, markdown
from evalreport.features.gate.rules import CheckResult
from tests.cli.running import Ran, run

Capture = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch
PACKAGE = Path(er.__file__).parent
ROWS = "y_true,p,user\n" + "".join(f"{k % 2},0.{k % 7 + 1},u{k // 3}\n" for k in range(40))
QUICK = ("--set", "resamples=100")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text(ROWS)
    Path("loop").symlink_to("loop")
    Path("ring").mkdir()
    Path("ring/again").symlink_to("..")


LONG = "x" * 300
PATHS = (f"{LONG}.csv", "loop/rows.csv", "ring", "/proc/self/mem")
"""Names that no system accepts, loops of links, and what is no file of rows."""
READING = (
    ("report", "PATH"),
    ("report", "rows.csv", "--set", "truth_file=PATH"),
    ("report", "rows.csv", "--threshold", "max-f1", "--tune-on", "PATH"),
    ("report", "rows.csv", "--labels", "@PATH"),
    ("report", "rows.csv", "--set", "notes=PATH"),
    ("compare", "PATH", "rows.csv"),
    ("compare", "rows.csv", "--baseline", "PATH"),
    ("compare", "--system", "a=PATH", "--system", "b=rows.csv"),
    ("check", "PATH", "--require", "f1 >= 0"),
    ("check", "rows.csv", "--require", "f1 drops <= 1", "--baseline", "PATH"),
    ("check", "rows.csv", "--train", "PATH"),
    ("plan", "PATH", "--half-width", "0.1"),
    ("sweep", "thresholds", "PATH"),
    ("sweep", "thresholds", "rows.csv", "--cost", "PATH"),
    ("sweep", "optuna", "--study", "PATH"),
    ("sweep", "runs", "--run-id", "PATH", "--tracking-uri", "sqlite:///none.db"),
    ("log", "--run-id", "PATH", "--tracking-uri", "sqlite:///none.db"),
    ("site", "--experiment", "PATH", "-o", "site", "--tracking-uri", "sqlite:///none.db"),
    ("site", "--experiment", "x", "-o", "PATH", "--tracking-uri", "sqlite:///none.db"),
    ("metrics", "--config", "PATH"),
    ("config", "--config", "PATH"),
    ("report", "--experiment", "x", "--tracking-uri", "PATH"),
    ("report", "--experiment", "x", "--tracking-uri", "sqlite:///PATH"),
)
WRITING = (
    ("report", "rows.csv", "-o", "PATH"),
    ("report", "rows.csv", "--output", "PATH"),
    ("report", "rows.csv", "--save-statistics", "PATH/x.stats"),
    ("check", "rows.csv", "--require", "f1 >= 0", "--junit", "PATH"),
    ("check", "rows.csv", "--require", "f1 >= 0", "--markdown", "PATH"),
    ("sweep", "thresholds", "rows.csv", "-o", "PATH"),
    ("compare", "rows.csv", "rows.csv", "-o", "PATH"),
)


def is_clean(done: Ran) -> bool:
    """Return whether a command ended with a code of ours, and reported any error in three lines."""
    error = done.err[done.err.rfind("error:") :] if "error:" in done.err else ""
    three = len(error.splitlines()) == 3 if error else done.code in (0, 1)
    return done.code in range(6) and three and "Traceback" not in done.err


@pytest.mark.parametrize("path", PATHS, ids=[path[:12] + path[-5:] for path in PATHS])
@pytest.mark.parametrize("words", READING, ids=[" ".join(words) for words in READING])
def test_any_path_is_read_or_refused(capsys: Capture, words: tuple[str, ...], path: str) -> None:
    done = run(capsys, *(word.replace("PATH", path) for word in words))
    assert is_clean(done), done


@pytest.mark.parametrize("path", [LONG, f"{LONG}/x", "loop", "rows.csv/x"])
@pytest.mark.parametrize("words", WRITING, ids=[" ".join(words) for words in WRITING])
def test_any_place_is_written_or_refused(capsys: Capture, words: tuple[str, ...], path: str) -> None:
    done = run(capsys, *(word.replace("PATH", path) for word in words))
    assert is_clean(done), done
    assert done.code == 2, done
    assert sorted(os.listdir()) == ["loop", "ring", "rows.csv"]  # noqa: PTH208 (a loop of links among them)


NUMBERS = ("1" + "0" * 400, "9" * 5000, "1e400", "²")
NUMBERED = ("--threshold", "--latest", "--metrics", "--labels", "--positive", "--score")
SET = (
    "confidence",
    "resamples",
    "seed",
    "constraint_confidence",
    "prevalence",
    "memory",
    "jobs",
    "max_runs",
    "unit",
)


@pytest.mark.parametrize("value", NUMBERS, ids=[value[:4] for value in NUMBERS])
@pytest.mark.parametrize("option", NUMBERED)
def test_any_number_is_taken_or_refused(capsys: Capture, option: str, value: str) -> None:
    assert is_clean(run(capsys, "report", "rows.csv", option, value))


@pytest.mark.parametrize("value", NUMBERS, ids=[value[:4] for value in NUMBERS])
@pytest.mark.parametrize("key", SET)
def test_any_number_of_a_setting_is_taken_or_refused(capsys: Capture, key: str, value: str) -> None:
    assert is_clean(run(capsys, "report", "rows.csv", "--set", f"{key}={value}"))


@pytest.mark.parametrize("name", [*KNOWN, "quiet", "verbose", "json", "jsonl", "config", "output"])
def test_any_variable_is_taken_or_refused(capsys: Capture, monkeypatch: Patch, name: str) -> None:
    monkeypatch.setenv(f"EVALREPORT_{name.upper()}", "9" * 5000)
    assert is_clean(run(capsys, "report", "rows.csv"))


@pytest.mark.parametrize("value", [NUMBERS[0], "'a\\u0000b'", "1979-05-27", "true", "[1, [2]]"])
@pytest.mark.parametrize("name", KNOWN)
def test_any_setting_is_taken_or_refused(capsys: Capture, name: str, value: str) -> None:
    Path("evalreport.toml").write_text(f"{name} = {value.replace(chr(39), chr(34))}\n")
    assert is_clean(run(capsys, "report", "rows.csv"))


def test_a_name_is_looked_up_so_that_the_system_may_refuse_it() -> None:
    """`Path.exists` and its like raise where a name is too long; `os.path` says no."""
    raising = {"exists", "is_file", "is_dir", "is_symlink", "resolve"}
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                place = f"{path.name}:{node.lineno}"
                known = ast.unparse(node.func.value) == "os.path" or path.name == "untrusted.py"
                assert node.func.attr not in raising or known, place


@pytest.mark.parametrize("first", ["sep=é", 'sep="'])
def test_a_declared_separator_that_is_not_supported(capsys: Capture, first: str) -> None:
    Path("sep.csv").write_text(f"{first}\n{ROWS.replace(',', first[-1])}", encoding="utf-8")
    done = run(capsys, "report", "sep.csv")
    assert done.code == 5
    assert f"the separator {first[-1]!r}, which is not supported" in done.err


def test_an_empty_separator_of_lists(capsys: Capture) -> None:
    done = run(capsys, "report", "rows.csv", "--set", "list_separator=")
    assert done.err.splitlines()[0] == "error: the setting list_separator is empty"


def test_slices_that_are_no_column() -> None:
    for slices in ({"site": 1}, {"site": None}, {"site": "north"}):
        with pytest.raises(UsageError, match="not one value per row"):
            er.evaluate(["a", "b"] * 10, ["a", "b"] * 10, slices=slices)  # type: ignore[arg-type]


def outside(*words: str, python: tuple[str, ...] = (), **how: object) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    command = [sys.executable, *python, "-m", "evalreport", *words]
    named = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **how}
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    return subprocess.run(command, check=False, env=environment, **named)  # type: ignore[call-overload,no-any-return]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--help",), 2),
        (("--version",), 2),
        (("metrics", "--json"), 2),
        (("report", "none.csv", "--json"), 3),
        (("completion", "bash"), 2),
    ],
)
def test_a_full_device_as_stdout(words: tuple[str, ...], code: int) -> None:
    with Path("/dev/full").open("w") as full:
        done = outside(*words, stdout=full)
    assert done.returncode == code
    assert "error: the result cannot be written: no space left on device" in done.stderr
    assert "Traceback" not in done.stderr and "internal" not in done.stderr


def test_a_working_folder_that_was_deleted(tmp_path: Path) -> None:
    script = (
        "import os, sys; os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone')\n"
        "from evalreport.cli import main; main(sys.argv[1:])"
    )
    for words, code in (
        (("metrics",), 0),
        (("config",), 0),
        (("report", "rows.csv"), 2),
        (("report", str(tmp_path / "rows.csv"), "-o", "page.html"), 2),
        (("report", str(tmp_path / "rows.csv"), "-o", str(tmp_path / "page.html")), 0),
    ):
        done = subprocess.run(
            [sys.executable, "-c", script, *words],
            check=False,
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(PACKAGE.parent)},
        )
        assert "Traceback" not in done.stderr and "internal" not in done.stderr, done.stderr
        assert done.returncode in (code, 3) if code else done.returncode == 0, (words, done.stderr)


STRICT = (
    ("report", "rows.csv", "--output", "out", *QUICK),
    ("check", "rows.csv", "--require", "f1 >= 0", "--junit", "a.xml", "--markdown", "a.md", *QUICK),
    ("sweep", "thresholds", "rows.csv", "-o", "sweep.html", *QUICK),
    ("plan", "rows.csv", "--metric", "recall", "--half-width", "0.1"),
)


@pytest.mark.parametrize("words", STRICT, ids=[words[0] for words in STRICT])
def test_no_command_compares_bytes_with_text(words: tuple[str, ...]) -> None:
    done = outside(*words, python=("-bb",))
    assert done.returncode in (0, 1), done.stderr
    assert "BytesWarning" not in done.stderr


@pytest.fixture
def strict_decimals() -> Iterator[decimal.Context]:
    """A context of few digits that raises on whatever can happen, and notes it."""
    with decimal.localcontext() as context:
        context.prec = 2
        context.Emax, context.Emin = 1, -1
        for signal in context.traps:
            context.traps[signal] = True
        yield context


def test_the_decimal_context_of_the_caller_stays(
    strict_decimals: decimal.Context,
) -> None:
    before = strict_decimals.copy()
    truth, predicted = ["a", "b", "b"] * 40, ["a", "b", "a"] * 40
    found = er.evaluate(truth, predicted)
    assert "<" in found._repr_html_()
    assert decimal.getcontext() is strict_decimals
    assert repr(strict_decimals) == repr(before)
    assert not any(strict_decimals.flags.values())


def test_a_check_in_markdown_links_nowhere() -> None:
    text = "www.evil.org ada@evil.org https://evil.org ftp://evil.org @ada #12 GH-12"
    (line,) = [
        line
        for line in markdown([CheckedRun("a", (CheckResult("ids", "passed", text),))]).splitlines()
        if "evil" in line
    ]
    for linked in ("www.evil", "&#64;ada", "&#64;evil", "://", "#12", "GH-12"):
        assert linked not in line.replace("&#35;", "#"), linked

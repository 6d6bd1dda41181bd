"""A settings file that came with a clone chooses no code, no server, and no place outside the clone."""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from evalreport.cli import group
from evalreport.cli.options import Setting
from evalreport.cli.settings import OF_CHECK, RENAMED, SETTINGS
from tests.cli.running import run

Capture = pytest.CaptureFixture[str]
PACKAGE = Path(__file__).parents[2] / "evalreport"
MODULE = "import pathlib\npathlib.Path('ran').touch()\ndef go(*given):\n    return 0.5\n"
DATA = {"labels.jsonl": (), "answers.csv": ("--response", "answer")}
"""Rows of several labels, and generated text, each with the options that it needs."""
NAMING = (
    "helpers.scoring:go",
    "max-helpers.scoring:go",
    "max-max-helpers.scoring:go",
    " helpers.scoring:go ",
)
"""Ways to name code, of which a reader of options may know some."""


@pytest.fixture(autouse=True)
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository with data, and a module that leaves a mark when it is imported."""
    monkeypatch.chdir(tmp_path)
    Path("helpers").mkdir()
    Path("helpers/scoring.py").write_text(MODULE)
    draw = random.Random(3)  # noqa: S311 (rows, not secrets)
    with Path("labels.jsonl").open("w") as rows:
        for _ in range(12):
            true = [label for label in "abc" if draw.random() < 0.5]
            scores = {label: round(draw.random(), 2) for label in "abc"}
            rows.write(json.dumps({"y_true": true, "scores": scores}) + "\n")
    Path("answers.csv").write_text("y_true,answer\n" + "a,a\nb,b\nc,c\na,b\n" * 3)
    for name in DATA:
        Path(f"again-{name}").write_text(Path(name).read_text())


def code_ran() -> bool:
    """Return whether the module was imported, and have it forgotten."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "helpers"]:
        del sys.modules[name]
    ran = Path("ran").exists()
    Path("ran").unlink(missing_ok=True)
    return ran


def commands() -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield all commands with their words."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield (name,), command
        if isinstance(command, click.Group):
            for word in command.list_commands(context):
                below = command.get_command(context, word)
                assert below is not None
                yield (name, word), below


def calls(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield calls of a command on data of this folder, as far as it takes files."""
    for file, more in DATA.items():
        files = (file, f"again-{file}") if words == ("compare",) else (file,)
        rule = ("--require", "accuracy >= 0") if words == ("check",) else ()
        quick = (
            ("--set", "confidence=none") if words in (("report",), ("check",)) else ("--set", "resamples=100")
        )
        yield (*words, *files, *more, *rule, *quick, "-qq")


READ_FILES = [
    (words, command) for words, command in commands() if any(one.name == "files" for one in command.params)
]


def takes_text(param: click.Parameter) -> bool:
    """Return whether a value can be any text."""
    flag = isinstance(param, click.Option) and (param.is_flag or param.count)
    return isinstance(param, click.Option) and not flag and not isinstance(param.type, click.Choice)


def test_exactly_the_declared_options_run_code(capsys: Capture) -> None:
    """Give every option of every command a function: where it ran, the option reaches code."""
    found, seen = set(), set()
    for words, command in READ_FILES:
        for param in filter(takes_text, command.params):
            if param.name in seen:
                continue
            seen.add(param.name)
            value = f"{NAMING[0]} >= 0" if param.name == "require" else NAMING[0]
            for call in calls(words):
                typed = ("--set", f"{param.name}={value}")
                run(capsys, *call, *(typed if isinstance(param, Setting) else (param.opts[0], value)))
                if code_ran():
                    found.add(param.name)
    declared = {name for name, reach in {**SETTINGS, **OF_CHECK}.items() if reach == "code"}
    assert found == declared | {"objectives"}, "declare what reaches code in cli/settings.py"
    assert "objectives" not in {**SETTINGS, **OF_CHECK}


def test_code_is_imported_for_these_options_only() -> None:
    """A module of the user's is imported in one place, which four readers of options call."""
    importing, loading = set(), set()
    for path in sorted(PACKAGE.rglob("*.py")):
        source, place = path.read_text(encoding="utf-8"), path.relative_to(PACKAGE).as_posix()
        if re.search(r"\b(import_module|__import__|spec_from_file_location|run_path|run_module)\(", source):
            importing.add(place)
        if re.search(r"core\.extensions import [^(\n]*\bload_function\b", source):
            loading.add(place)
    assert importing == {
        "__init__.py",
        "cli/__init__.py",
        "core/extensions.py",
    }
    assert loading == {
        "features/text_labels/parser.py",
        "metrics/own.py",
        "thresholds/class_thresholds.py",
        "thresholds/per_label.py",
        "workflow/evaluate.py",
    }


def write_settings(name: str, value: str) -> None:
    table = "tool.evalreport.check" if name in OF_CHECK else "tool.evalreport"
    Path("pyproject.toml").write_text(f"[{table}]\n{name} = {json.dumps(value)}\n")


@pytest.mark.parametrize("name", [*SETTINGS, *OF_CHECK])
def test_no_setting_of_a_clone_runs_code(capsys: Capture, name: str) -> None:
    reach = {**SETTINGS, **OF_CHECK}[name]
    for words, command in READ_FILES:
        if all(param.name != RENAMED.get(name, name) for param in command.params):
            continue
        for call, naming in (
            (call, naming) for call in calls(words) for naming in NAMING[: 4 if reach == "code" else 1]
        ):
            write_settings(name, naming)
            run(capsys, *call)
            assert not code_ran(), (name, call, naming)
        if reach != "code":
            return


@pytest.mark.parametrize("name", [name for name, reach in SETTINGS.items() if reach == "code"])
def test_code_in_a_setting_is_reported_and_ignored(capsys: Capture, name: str) -> None:
    file, more = next(reversed(DATA.items())) if name == "parse" else next(iter(DATA.items()))
    expected = run(capsys, "report", file, *more, "-o", "page.html", "--json").json["runs"][0]["metrics"]
    write_settings(name, "max-helpers.scoring:go")
    done = run(capsys, "report", file, *more, "-o", "page.html", "--json")
    assert done.code == 0
    assert done.json["runs"][0]["metrics"] == expected
    (warning,) = [text for text in done.json["warnings"] if "pyproject.toml" in text]
    assert warning.startswith(
        f"{name} in pyproject.toml is ignored: a cloned repository must not choose code"
    )
    assert f"--set {name}=VALUE" in warning


@pytest.mark.parametrize("value", ["0.4", "max-f1", "recall>=0.9", "cost:10", "net_benefit:0.2"])
def test_thresholds_without_code_are_kept(capsys: Capture, value: str) -> None:
    write_settings("threshold", value)
    done = run(capsys, "config", "--json")
    assert done.json["settings"]["threshold"] == {"value": value, "origin": "pyproject.toml"}


@pytest.mark.parametrize("value", ["auto", "exact", "json", "regex:(?P<label>[a-c])"])
def test_parsers_without_code_are_kept(capsys: Capture, value: str) -> None:
    write_settings("parse", value)
    done = run(capsys, "config", "--json")
    assert done.json["settings"]["parse"] == {"value": value, "origin": "pyproject.toml"}


@pytest.mark.parametrize("path", ["li*/secret.csv", "inside", "inside/*.csv"])
@pytest.mark.parametrize("name", ["truth_file", "tune_on", "notes", "baseline", "train"])
def test_no_pattern_and_no_folder_of_links_leads_out(
    capsys: Capture, tmp_path_factory: pytest.TempPathFactory, name: str, path: str
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.csv").write_text("y_true,p\n1,0.2\n")
    Path("link").symlink_to(outside)
    Path("inside").mkdir()
    Path("inside/part.csv").symlink_to(outside / "secret.csv")
    write_settings(name, path)
    done = run(capsys, "check", "labels.jsonl")
    assert done.code == 2
    assert done.err.startswith(f"error: {name} is outside the folder of pyproject.toml: ")

"""Option > EVALREPORT_* > pyproject.toml > evalreport.toml > built-in; what a repository may not set."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

import click
import pytest

from evalreport.cli import group as command
from evalreport.cli.settings import KNOWN, RENAMED
from tests.cli.running import run

Capture = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch
ROWS = "y_true,p,q,user\n" + "".join(f"{k % 2},0.{k % 7 + 1},0.{k % 5 + 1},u{k // 3}\n" for k in range(40))


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text(ROWS)


def settings(text: str, name: str = "pyproject.toml") -> None:
    head = "[tool.evalreport]\n" if name == "pyproject.toml" else ""
    Path(name).write_text(head + text)


def effective(capsys: Capture, *arguments: str) -> dict[str, tuple[object, str]]:
    done = run(capsys, *arguments, "config", "--json")
    assert done.code == 0, done.out
    return {name: (found["value"], found["origin"]) for name, found in done.json["settings"].items()}


def test_each_layer_beats_the_one_below(capsys: Capture, monkeypatch: Patch) -> None:
    assert effective(capsys)["confidence"] == (0.95, "built-in")
    settings("confidence = 0.8\nscore = 'q'", "evalreport.toml")
    assert effective(capsys)["confidence"] == (0.8, "evalreport.toml")
    settings("confidence = 0.9")
    assert effective(capsys)["confidence"] == (0.9, "pyproject.toml")
    assert effective(capsys)["score"] == ("q", "evalreport.toml")
    monkeypatch.setenv("EVALREPORT_CONFIDENCE", "0.99")
    assert effective(capsys)["confidence"] == ("0.99", "EVALREPORT_CONFIDENCE")
    done = run(capsys, "report", "rows.csv", "--json", "--set", "confidence=0.75", "--score", "p")
    assert done.json["runs"][0]["sampling"]["level"] == 0.75
    assert run(capsys, "report", "rows.csv", "--json").json["runs"][0]["sampling"]["level"] == 0.99


def test_the_nearest_pyproject_counts(capsys: Capture, monkeypatch: Patch) -> None:
    settings("score = 'q'")
    Path("inner").mkdir()
    monkeypatch.chdir("inner")
    assert effective(capsys)["score"] == ("q", str(Path("..") / "pyproject.toml"))


def test_an_option_before_the_command_beats_the_environment(capsys: Capture, monkeypatch: Patch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:9")
    assert effective(capsys)["tracking_uri"] == ("http://127.0.0.1:9", "MLFLOW_TRACKING_URI")
    assert effective(capsys, "--tracking-uri", "http://other")["tracking_uri"] == (
        "http://other",
        "--tracking-uri",
    )
    done = run(capsys, "--tracking-uri", "sqlite:///none.db", "log", "--latest")
    assert done.code == 3
    assert "none.db" in done.err


def test_config_as_text_names_values_and_origins(capsys: Capture) -> None:
    settings("group = ['user', 'y_true']\n[tool.evalreport.check]\nrequire = ['f1 >= 0.1']")
    lines = run(capsys, "config").out.splitlines()
    assert any(line.split() == ["group", "user,", "y_true", "pyproject.toml"] for line in lines)
    assert any(line.split()[0] == "check.require" and line.endswith("pyproject.toml") for line in lines)
    assert any(line.split() == ["truth", "-", "built-in"] for line in lines)


def test_lists_reach_the_options_that_take_several(capsys: Capture) -> None:
    settings(
        "score = 'p'\nslice = 'user'\ngroup = ['user', 'y_true']\n"
        "metrics = ['recall', 'roc_auc']\nlabels = ['0', '1']\nunit = ['tumour', 'tumours']"
    )
    (one,) = run(capsys, "report", "rows.csv", "--json").json["runs"]
    assert set(one["metrics"]) == {"recall", "roc_auc"}
    assert one["clusters"] == 27
    assert one["labels"] == [0, 1] or one["labels"] == ["0", "1"]
    assert one["slices"]


OF_ONE_CALL = {"children", "latest", "folds", "min_difference", "equivalent"}
"""Options that name the data or the question of one call, and are no settings."""


def test_what_describes_the_data_and_the_report_is_a_setting() -> None:
    context = click.Context(command)
    inside = {RENAMED.get(key, key) for key in KNOWN} | OF_ONE_CALL
    for name in ("report", "log", "compare", "check"):
        one = command.get_command(context, name)
        assert one is not None
        for param in one.params:
            section = getattr(param, "section", "")
            assert section not in ("Data", "Statistics", "Large data", "Page") or param.name in inside | {
                "save_statistics"
            }, param.name


def test_new_settings_work_as_their_options_do(capsys: Capture) -> None:
    Path("notes.md").write_text("For **screening** alone.")
    settings(
        "score = 'p'\nprevalence = 0.01\nlabel_names = '1=failure,0=fine'\n"
        "notes = 'notes.md'\nwhere = 'user=u3'"
    )
    options = (
        "--set",
        "prevalence=0.01",
        "--set",
        "label_names=1=failure,0=fine",
        "--where",
        "user=u3",
        "--score",
        "p",
    )
    first = run(capsys, "report", "rows.csv", "-o", "first.html", "--json").json["runs"][0]
    Path("pyproject.toml").unlink()
    second = run(
        capsys, "report", "rows.csv", *options, "--set", "notes=notes.md", "-o", "second.html", "--json"
    ).json["runs"][0]
    assert {**first, "files": []} == {**second, "files": []}
    assert first["n"] == 3
    assert "<strong>screening</strong>" in Path("first.html").read_text()


BAD = [
    ("scroe = 'p'", "unknown setting 'scroe'", "score"),
    ("max_runs = 'many'", "--set max_runs", "max_runs=N"),
    ("tracking_uri = 'http://ada:pw@host'", "credentials", "MLFLOW_TRACKING_USERNAME"),
    ("tracking_uri = 'postgresql://host/db?password=pw'", "credentials", "MLFLOW_TRACKING_USERNAME"),
    ("title = { a = 1 }", "title is a table", "one value"),
    ("seed = [1]", "seed is a list", "one value"),
    ("positive = ['1']", "positive is a list", "one value"),
    ("check = 1", "check is not a table", "[check]"),
    ("[broken", "not valid TOML", "fix the file"),
    ("a = " + "[" * 5000, "nested too deeply", "fix the file"),
    ("seed = 1" + "0" * 5000, "not valid TOML", "fix the file"),
]


@pytest.mark.parametrize(("text", "message", "more"), BAD, ids=[text[:20] for text, _, _ in BAD])
def test_bad_settings_are_named(capsys: Capture, text: str, message: str, more: str) -> None:
    settings(text)
    done = run(capsys, "report", "rows.csv", "--score", "p")
    assert done.code == 2
    lines = done.err.splitlines()
    assert len(lines) == 3
    assert message in lines[0]
    assert lines[1] == "  at   pyproject.toml"
    assert more in done.err
    assert "pw" not in done.err


def test_a_wrong_variable_is_named(capsys: Capture, monkeypatch: Patch) -> None:
    monkeypatch.setenv("EVALREPORT_MAX_RUNS", "many")
    done = run(capsys, "report", "rows.csv")
    assert done.code == 2
    assert "  at   the environment, EVALREPORT_MAX_RUNS" in done.err


MARKER = "import pathlib\npathlib.Path('ran').touch()\ndef read(text):\n    return text\n"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("tracking_uri = 'http://127.0.0.1:9'", "tracking_uri"),
        ("spark_master = 'spark://127.0.0.1:9'", "spark_master"),
        ("parse = 'evil:read'", "parse"),
    ],
)
def test_a_cloned_repository_chooses_neither_server_nor_code(
    capsys: Capture, monkeypatch: Patch, text: str, name: str
) -> None:
    Path("evil.py").write_text(MARKER)
    Path("answers.csv").write_text("y_true,answer\na,a\nb,b\nc,c\n")
    settings(text)
    done = run(capsys, "report", "answers.csv", "--response", "answer", "--json")
    assert done.code == 0, done.out
    assert not Path("ran").exists()
    assert any(
        warning.startswith(f"{name} in pyproject.toml is ignored") for warning in done.json["warnings"]
    )
    assert effective(capsys)[name] == (None, "built-in")
    assert effective(capsys, "--config", "pyproject.toml")[name][1] == "pyproject.toml"
    monkeypatch.setenv("EVALREPORT_TRUST_CONFIG", "1")
    assert effective(capsys)[name][1] == "pyproject.toml"


OUTSIDE = [
    ("output = '{outside}'", "output"),
    ("output = '../elsewhere'", "output"),
    ("output = 'link/reports'", "output"),
    ("labels = '@{outside}/secret'", "labels"),
    ("labels = '@link/secret'", "labels"),
    ("truth_file = '../outside/secret'", "truth_file"),
    ("tune_on = '{outside}/secret'", "tune_on"),
    ("notes = '{outside}/secret'", "notes"),
    ("[tool.evalreport.check]\ntrain = '../outside/secret'", "train"),
    ("[tool.evalreport.check]\nbaseline = '../outside/secret'", "baseline"),
]


@pytest.mark.parametrize(("text", "name"), OUTSIDE, ids=[text for text, _ in OUTSIDE])
def test_a_cloned_repository_writes_and_reads_inside_itself(
    capsys: Capture, monkeypatch: Patch, tmp_path: Path, text: str, name: str
) -> None:
    outside, repository = tmp_path / "outside", tmp_path / "repository"
    outside.mkdir()
    repository.mkdir()
    (outside / "secret").write_text("hunter2\nsecret\n")
    (repository / "rows.csv").write_text(ROWS)
    (repository / "link").symlink_to(outside)
    monkeypatch.chdir(repository)
    settings(text.format(outside=outside))
    done = run(capsys, "check", "rows.csv", "--score", "p")
    assert (done.code, done.out) == (2, "")
    lines = done.err.splitlines()
    assert lines[0].startswith(f"error: {name} is outside the folder of pyproject.toml: ")
    assert lines[1] == "  at   pyproject.toml"
    assert "--config" in lines[2]
    assert len(lines) == 3
    assert "hunter2" not in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["outside", "repository", "rows.csv"]
    assert [path.name for path in outside.iterdir()] == ["secret"]


def test_a_trusted_file_may_name_places_outside(capsys: Capture, monkeypatch: Patch, tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    repository.mkdir()
    (repository / "rows.csv").write_text(ROWS)
    monkeypatch.chdir(repository)
    settings("output = '../reports'")
    words = ("report", "rows.csv", "--score", "p", "-q")
    assert run(capsys, *words).code == 2
    assert run(capsys, *words, "--config", "pyproject.toml").code == 0
    assert (tmp_path / "reports" / "evalreport.html").is_file()
    monkeypatch.setenv("EVALREPORT_TRUST_CONFIG", "1")
    assert run(capsys, *words).code == 0


def test_paths_below_the_repository_are_free(capsys: Capture, monkeypatch: Patch) -> None:
    Path("inner").mkdir()
    Path("labels.txt").write_text("0\n1\n")
    settings("output = 'reports'\nlabels = '@../labels.txt'")
    monkeypatch.chdir("inner")
    done = run(capsys, "report", "../rows.csv", "--score", "p", "-q")
    assert done.code == 0, done.err
    assert Path("reports/evalreport.html").is_file()


def test_a_file_that_cannot_be_read_is_named_and_replaced(capsys: Capture, monkeypatch: Patch) -> None:
    """Not even the command of the fix worked: the file was read before `--config` was."""
    settings("score = 'q'")
    Path("inner").mkdir()
    Path("inner/rows.csv").write_text(ROWS)
    Path("inner/own.toml").write_text("score = 'p'\n")
    monkeypatch.chdir("inner")
    read = Path.read_text

    def refuse(path: Path, *arguments: object, **named: object) -> str:
        if path.name == "pyproject.toml":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return read(path, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Path, "read_text", refuse)
    done = run(capsys, "report", "rows.csv")
    assert done.code == 2
    assert done.err.splitlines() == [
        "error: pyproject.toml cannot be read: permission denied",
        f"  at   {Path('..') / 'pyproject.toml'}",
        "  fix  make it readable, or name another settings file with --config",
    ]
    done = run(capsys, "report", "rows.csv", "--config", "own.toml")
    assert done.code == 0, done.err


def test_a_settings_file_that_is_not_there(capsys: Capture) -> None:
    done = run(capsys, "report", "rows.csv", "--config", "none.toml")
    assert done.code == 3
    assert "none.toml" in done.err


def test_a_setting_for_one_call(capsys: Capture, monkeypatch: Patch) -> None:
    settings("score = 'q'\nconfidence = 0.8")
    monkeypatch.setenv("EVALREPORT_CONFIDENCE", "0.99")
    asked = ("--set", "confidence=90%", "--set", "score=p", "--set", "group=user")
    one = run(capsys, "report", "rows.csv", *asked, "--json").json["runs"][0]
    assert one["sampling"]["level"] == 0.9
    assert one["clusters"] == 14
    assert ["scores", "p"] in [list(pair) for pair in one["provenance"]["columns"]] or "p" in str(
        one["provenance"]["columns"]
    )
    before = run(capsys, "--set", "confidence=90%", "report", "rows.csv", "--score", "p", "--json")
    assert before.json["runs"][0]["sampling"]["level"] == 0.9
    assert effective(capsys, "--set", "seed=7")["seed"] == ("7", "--set")


@pytest.mark.parametrize(
    ("words", "message", "fix"),
    [
        (("--set", "wieght=w"), "unknown setting 'wieght'", "Did you mean weight"),
        (("--set", "weight"), "the setting weight has no value", "write --set weight=COL"),
        (("--set", "weight="), "the setting weight is empty", "--set weight=VALUE"),
        (
            ("--set", "seed=1", "--set", "seed=2"),
            "the setting seed is given twice: 1 and 2",
            "pass one of them",
        ),
        (
            ("--truth", "y_true", "--set", "truth=p"),
            "--truth and --set truth have different values",
            "pass one",
        ),
        (("--set", "confidence=2"), "invalid value for '--set confidence': 2.0 is not", "confidence=P|none"),
        (("--set", "champion=x"), "the setting champion has no effect on `evalreport report`", "remove it"),
        (("--set", "check.require=f1 > 0"), "the setting check.require has no effect", "remove it"),
        (
            ("--set", "tracking_uri=http://a:b@host"),
            "tracking_uri contains credentials",
            "MLFLOW_TRACKING_USERNAME",
        ),
        (("--weight", "w"), "no such option: --weight", "it is a setting: write --set weight=COL"),
        (("--no-scores",), "no such option: --no-scores", "it is a setting: write --set no_scores"),
    ],
)
def test_a_wrong_assignment_is_refused(
    capsys: Capture, words: tuple[str, ...], message: str, fix: str
) -> None:
    done = run(capsys, "report", "rows.csv", *words)
    assert done.code == 2, done.err
    first, place, last = done.err.splitlines()
    assert first.startswith(f"error: {message}")
    assert place.startswith("  at   ")
    assert fix in last
    assert not Path("rows.html").exists()


def test_rules_of_check_are_settings_too(capsys: Capture) -> None:
    done = run(capsys, "check", "rows.csv", "--score", "p", "--set", "check.require=recall >= 2%", "-q")
    assert "recall >= 0.02" in done.out or "recall >= 2%" in done.out


def test_an_option_and_a_setting_may_agree(capsys: Capture) -> None:
    assert run(capsys, "report", "rows.csv", "--score", "p", "--set", "score=p", "-q").code == 0


@pytest.mark.parametrize("name", ["page.html", "notes.md", "-"])
def test_a_cloned_repository_names_no_file_as_output(capsys: Capture, name: str) -> None:
    settings(f"output = '{name}'")
    done = run(capsys, "report", "rows.csv", "--score", "p")
    assert (done.code, done.out) == (2, "")
    assert f"output in pyproject.toml is a file: {name}" in done.err


def test_temporary_files_go_to_the_folder_of_the_setting(capsys: Capture, monkeypatch: Patch) -> None:
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setenv("TMPDIR", "/tmp")  # noqa: S108 (undone with the test)
    Path("room").mkdir()
    assert run(capsys, "report", "rows.csv", "--score", "p", "-q", "--set", "temp_dir=room").code == 0
    assert tempfile.gettempdir().endswith("room")
    refused = run(capsys, "report", "rows.csv", "--score", "p", "--set", "temp_dir=none")
    assert refused.code == 2 and "no such folder: none" in refused.err

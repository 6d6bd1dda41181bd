"""`evalreport demo` and `evalreport init`: from the installed package to a page of one's own data."""

from __future__ import annotations

import shlex
import tomllib
from pathlib import Path

import pytest

from evalreport.tracking.client import Store
from tests.cli.running import run
from tests.tracking import make_run

Capture = pytest.CaptureFixture[str]
ROWS = "id,diagnosis,p_malignant,site\n" + "".join(
    f"c{k},{'malignant' if k % 3 == 0 else 'benign'},0.{(k * 37) % 97:02},{'ab'[k % 2]}\n" for k in range(60)
)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_demo_prints_the_commands_that_it_ran(capsys: Capture) -> None:
    done = run(capsys, "demo", "-o", "my demo")
    assert (done.code, done.err) == (0, "")
    typed = [shlex.split(line.removeprefix("$ "))[1:] for line in done.out.splitlines() if line[:2] == "$ "]
    assert [words[0] for words in typed] == ["report", "compare", "sweep"]
    pages = {words[-1]: Path(words[-1]).read_bytes() for words in typed}
    for words in typed:  # what is printed can be pasted, and makes the same page
        assert run(capsys, *words, "-q").code == 0
        assert len(Path(words[-1]).read_bytes()) == pytest.approx(len(pages[words[-1]]), rel=0.01)


def test_the_demo_keeps_files_of_others(capsys: Capture) -> None:
    Path("mine").mkdir()
    Path("mine/spam-new.csv").write_text("y_true,y_pred\na,a\n")
    done = run(capsys, "demo", "-o", "mine")
    assert done.code == 2
    assert "spam-new.csv is in the folder and is not from the demo" in done.err
    assert [path.name for path in Path("mine").iterdir()] == ["spam-new.csv"]


def test_the_demo_as_json_and_in_the_browser(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    done = run(capsys, "demo", "--json", "--open")
    assert all(Path(name).is_file() for name in done.json["files"])
    assert opened == [Path("evalreport-demo/report.html").resolve().as_uri()]


def test_init_writes_what_report_needs(capsys: Capture) -> None:
    Path("rows.csv").write_text(ROWS)
    refused = run(capsys, "init", "rows.csv", "-o", "-")
    assert refused.code == 3 and "diagnosis, p_malignant, site. Use --truth COLUMN" in refused.err
    reported = run(capsys, "init", "rows.csv", "--truth", "diagnosis", "-o", "-")
    settings = tomllib.loads(reported.out)["tool"]["evalreport"]
    assert settings == {"truth": "diagnosis", "score": "p_malignant", "id": "id", "positive": "malignant"}
    assert run(capsys, "init", "rows.csv", "--truth", "diagnosis").code == 0
    assert tomllib.loads(Path("evalreport.toml").read_text())["tool"]["evalreport"] == settings
    shown = run(capsys, "config", "--json").json["settings"]["truth"]
    assert shown == {"value": "diagnosis", "origin": "evalreport.toml"}
    assert run(capsys, "report", "rows.csv", "-q").code == 0
    again = run(capsys, "init", "rows.csv", "--truth", "diagnosis")
    assert again.code == 2 and "evalreport.toml already has settings" in again.err


def test_init_appends_to_a_project_and_keeps_the_rest(capsys: Capture) -> None:
    Path("rows.csv").write_text(ROWS)
    Path("pyproject.toml").write_text("[project]\nname = 'x'")
    asked = ("init", "rows.csv", "--truth", "diagnosis", "-o", "pyproject.toml")
    assert run(capsys, *asked).code == 0
    known = tomllib.loads(Path("pyproject.toml").read_text())
    assert known["project"] == {"name": "x"} and known["tool"]["evalreport"]["truth"] == "diagnosis"
    assert run(capsys, *asked).code == 2


def test_init_reads_a_run(capsys: Capture, sqlite_store: Store, tmp_path: Path) -> None:
    made = make_run(sqlite_store, {"predictions.csv": ROWS}, folder=tmp_path)
    done = run(
        capsys,
        "init",
        "--run-id",
        made.run_id,
        "--truth",
        "diagnosis",
        "--tracking-uri",
        sqlite_store.uri,
        "-o",
        "-",
    )
    assert tomllib.loads(done.out)["tool"]["evalreport"]["score"] == "p_malignant"


@pytest.mark.parametrize("words", [("init",), ("init", "rows.csv", "--run-id", "abc")])
def test_init_reads_one_thing(capsys: Capture, words: tuple[str, ...]) -> None:
    done = run(capsys, *words)
    assert done.code == 2 and "one file or one run" in done.err

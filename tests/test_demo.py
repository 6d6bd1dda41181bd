"""The demo goes the whole way: runs are logged, evaluated and reported; nothing of anybody is deleted."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from evalreport.tracking.client import Store, connect
from tests.cli.test_log import paths

ROOT = Path(__file__).parents[1]


def demo(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "examples" / "demo.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


def test_every_task_of_the_demo_has_its_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    options, tasks = (import_module(name) for name in ("demo", "train"))
    assert list(options.OPTIONS) == list(tasks.TASKS)


def test_the_demo_goes_the_whole_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALREPORT_RESAMPLES", "100")
    output = tmp_path / "demo"
    output.mkdir()
    for name in ("mlflow.db", "old.txt"):  # an earlier demo is made anew
        (output / name).touch()
    done = demo(str(output), "machine-failure")
    assert done.returncode == 0, done.stderr
    assert not (output / "old.txt").exists()
    assert "== machine-failure: evalreport log --positive 1" in done.stdout
    assert done.stdout.count("logged ") == 2
    pages = sorted((output / "reports").rglob("*.html"))
    assert len(pages) == 2
    assert all(str(page) in done.stdout for page in pages)
    found = re.search(r"mlflow ui --backend-store-uri (\S+)$", done.stdout.strip())
    assert found is not None
    store = connect(found[1])
    (experiment,) = [e for e in store.client.search_experiments() if e.name == "machine-failure"]
    runs = store.client.search_runs([experiment.experiment_id])
    assert {run.info.run_name for run in runs} == {"boosting", "balanced-logistic"}
    for run in runs:
        assert run.info.status == "FINISHED"
        assert "evalreport.html" in paths(store, run.info.run_id)
        assert 0.8 < run.data.metrics["eval/roc_auc"] < 1


def test_the_demo_deletes_nothing_of_others(tmp_path: Path) -> None:
    mine = tmp_path / "thesis.txt"
    mine.write_text("years of work")
    done = demo(str(tmp_path))
    assert done.returncode == 1
    assert "holds other things than a demo" in done.stderr
    assert mine.read_text() == "years of work"


def test_the_registrys_story_promotes_twice_and_refuses_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sqlite_store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    monkeypatch.setenv("MLFLOW_TRACKING_URI", sqlite_store.uri)
    story = import_module("registry")
    assert story.main(sqlite_store.uri, tmp_path) == [(0, "1"), (0, "2"), (1, "2")]
    out, err = capsys.readouterr()
    assert re.search(r"FAILED +precision >= 0.97 +0\.944 \(0\.924 to 0\.959\)", out)
    assert "@champion is not set: a check failed or is inconclusive" in err
    found = [sqlite_store.client.get_model_version(story.NAME, number) for number in "123"]
    assert [v.tags["evalreport.gate.outcome"] for v in found] == ["passed", "passed", "failed"]
    assert [v.tags["evalreport.gate.run"] for v in found] == [f"runs:/{v.run_id}" for v in found]
    assert all(f"**Gate {v.tags['evalreport.gate.outcome']}**" in v.description for v in found)

"""Several runs worked on in processes: order, failures of one run alone, Ctrl-C, what stands already."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from evalreport.cli.parallel import in_processes, jobs_in_spark
from evalreport.core.errors import DataError, EvalreportError
from evalreport.tracking.client import Store
from evalreport.tracking.runs import RunInfo
from evalreport.workflow.items import Item
from tests.cli.piecework import threads, worked
from tests.cli.running import run
from tests.tracking import make_run

Capture = pytest.CaptureFixture[str]


def test_a_process_that_is_killed_costs_its_own_item_alone() -> None:
    begun: list[int] = []
    items = [4, 3, 5, 7, 8, 10, 11]
    done = list(in_processes(partial(worked, dies=5), items, 2, begun.append))
    assert [item for item, _ in done] == items == begun
    found = dict(done)
    assert [found[item] for item in (4, 7, 8, 10, 11)] == [16, 49, 64, 100, 121]
    assert isinstance(found[3], DataError)
    assert (found[3].where, found[3].fix) == ("here", "take another")
    assert isinstance(found[5], EvalreportError)
    assert "killed by signal 9" in found[5].message


def test_runs_that_name_a_table_of_spark_are_worked_on_by_one_process() -> None:
    def item(**tags: str) -> Item:
        run = RunInfo(
            "3f9c1e0a7b", "", "0", "", "FINISHED", tags={f"evalreport.{k}": v for k, v in tags.items()}
        )
        return Item(run=run, store=Store(None, "sqlite:///mlflow.db"))

    table, file = item(table="db.rows"), item()
    assert jobs_in_spark([table, table, file], {"engine": "auto"}) == 1
    assert jobs_in_spark([file], {"engine": "spark"}) == 1
    assert jobs_in_spark([table, file], {"engine": "auto"}) is None


@pytest.mark.parametrize("asked", [None, "3"])
def test_each_process_has_one_thread_of_linear_algebra(
    asked: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    if asked:
        monkeypatch.setenv("OPENBLAS_NUM_THREADS", asked)
    assert [found for _, found in in_processes(threads, [1, 2], 2, lambda _: None)] == [asked or "1"] * 2
    assert os.environ.get("OPENBLAS_NUM_THREADS") == asked


def rows(k: int) -> str:
    table = pd.DataFrame({"y_true": ["a", "b"] * 40})
    table["y_pred"] = table["y_true"].where(table.index % (3 + k) > 0, "a")
    return table.to_csv(index=False)


def experiment(store: Store, folder: Path, runs: int) -> list[str]:
    return [
        make_run(store, {"predictions.csv": rows(k)}, folder=folder, experiment="many").run_id
        for k in range(runs)
    ]


def test_log_in_processes_keeps_the_order_and_passes_over_what_stands(
    sqlite_store: Store, tmp_path: Path, capsys: Capture
) -> None:
    ids = experiment(sqlite_store, tmp_path, 3)
    make_run(sqlite_store, {"notes.txt": "nothing"}, folder=tmp_path, experiment="many")
    call = ["log", "--experiment", "many", "--tracking-uri", sqlite_store.uri, "--metrics", "accuracy"]
    done = run(capsys, *call, "--json", "--set", "jobs=2")
    assert done.code == 3
    assert [entry["run_id"] for entry in done.json["runs"] if entry["ok"]] == ids[::-1]
    reported = [line[:4] for line in done.err.splitlines() if re.match(r"\d/4|error|Using", line)]
    assert reported == ["1/4 ", "2/4 ", "Usin", "3/4 ", "Usin", "4/4 ", "Usin"]
    assert "is skipped: the run has no predictions" in done.err
    again = run(capsys, *call)
    assert again.out.count("unchanged since it was logged") == 3
    changed = Path(sqlite_store.client.get_run(ids[1]).info.artifact_uri.removeprefix("file://"))
    (changed / "predictions.csv").write_text(rows(0) + "a,a\n")
    third = run(capsys, *call)
    assert third.out.count("unchanged since it was logged") == 2
    assert "81 cases" in third.out
    other = run(capsys, *call, "--set", "confidence=0.9")
    assert "unchanged" not in other.out


WAITS = """
import signal, sys, time
from pathlib import Path
from evalreport.cli import main
from evalreport.workflow import items as runs

def collect(self, request):
    Path(self.path + ".begun").touch()
    time.sleep(120)

runs.Item.collect = collect
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that starts us may ignore it
    main(["report", "a.csv", "b.csv", "c.csv", "--set", "jobs=2"])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of a terminal")
def test_ctrl_c_ends_all_processes_and_says_so_once(tmp_path: Path) -> None:
    (tmp_path / "waits.py").write_text(WAITS)
    for name in "abc":
        (tmp_path / f"{name}.csv").write_text(rows(0))
    process = subprocess.Popen(
        [sys.executable, "waits.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    until = time.monotonic() + 60
    while len(list(tmp_path.glob("*.begun"))) < 2 and time.monotonic() < until:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert err.splitlines()[-1] == "interrupted; no half-written file remains"
    assert "Traceback" not in err
    while group_lives(process.pid):
        assert time.monotonic() < until + 60, "a process outlived the command"
        time.sleep(0.05)


def group_lives(leader: int) -> bool:
    try:
        os.killpg(leader, 0)
    except ProcessLookupError:
        return False
    return True

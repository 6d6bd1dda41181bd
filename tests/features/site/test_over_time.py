"""A metric over time: changes that are there, none that are not, and no line across another test set."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evalreport.features.site.leaderboard import OverTime, TimedRun, over_time
from evalreport.features.site.page import over_time_headline
from evalreport.metrics.catalogue import find
from evalreport.tracking.client import Store
from evalreport.workflow.items import Item
from evalreport.workflow.request import Request
from tests.cli.running import run
from tests.tracking import log_bytes

Capture = pytest.CaptureFixture[str]
DAY = 86_400_000


def put(store: Store, folder: Path, day: int, right: float, rows: int = 300) -> str:
    client = store.client
    known = client.get_experiment_by_name("drift")
    key = known.experiment_id if known else client.create_experiment("drift", (folder / "a").as_uri())
    truth = np.array(["a", "b"] * (rows // 2))
    hit = np.arange(rows) % 100 < 100 * right
    table = pd.DataFrame({"id": np.arange(rows), "y_true": truth, "y_pred": np.where(hit, truth, "a")})
    made = client.create_run(key, run_name=f"day-{day}", start_time=day * DAY).info.run_id
    log_bytes(client, made, "predictions.csv", table.to_csv(index=False).encode())
    client.set_terminated(made)
    return str(made)


def test_a_drop_and_a_new_test_set_are_told(sqlite_store: Store, tmp_path: Path, capsys: Capture) -> None:
    for day, right, rows in ((1, 0.9, 300), (2, 0.88, 300), (5, 0.4, 300), (7, 0.42, 300), (9, 0.95, 200)):
        put(sqlite_store, tmp_path, day, right, rows)
    page = tmp_path / "time.html"
    call = ["compare", "--experiment", "drift", "--tracking-uri", sqlite_store.uri, "--over-time"]
    done = run(capsys, *call, "--metric", "accuracy", "-o", str(page), "--json")
    assert done.code == 0, done.err
    body = done.json["over_time"]
    assert [entry["run"] for entry in body["runs"]] == ["day-1", "day-2", "day-5", "day-7", "day-9"]
    assert [(entry["run"], entry["since"]) for entry in body["changes"]] == [("day-5", "day-1")]
    assert body["test_set_changed_at"] == ["day-9"]
    html = page.read_text(encoding="utf-8")
    assert html.count('class="step"') == 3 and html.count('class="guide"') == 1
    told = run(capsys, *call, "--metric", "accuracy").out
    assert "Accuracy changed once; the test set changed once." in told
    assert " points at day-5 (" in told, "a difference of rates is in points, not in per cent"
    assert run(capsys, *call, "--sort-by", "accuracy").code == 2
    unknown = run(capsys, *call, "--metric", "acuracy")
    assert (unknown.code, unknown.err.splitlines()[-1]) == (
        2,
        "  fix  Did you mean accuracy or accuracy_parsed?",
    )


def test_files_have_no_time() -> None:
    with pytest.raises(Exception, match="a file has no time"):
        over_time([Item(path="a.csv")], Request(), "accuracy")


def test_twenty_equal_runs_seldom_change() -> None:
    rng, n, told = np.random.default_rng(5), 500, 0
    for _ in range(1000):
        right = rng.binomial(n, 0.8, 20) / n
        half = 1.96 * np.sqrt(right * (1 - right) / n)
        runs = [
            TimedRun(f"r{k}", f"{k}", k, v, v - h, v + h, "x")
            for k, (v, h) in enumerate(zip(right, half, strict=True))
        ]
        found = OverTime(find("accuracy"), 0.95, tuple(runs))
        told += bool(found.changes)
        assert bool(found.changes) == ("No change" not in over_time_headline(found).text)
    assert told / 1000 <= 0.05


def test_runs_without_predictions_are_one_line_each_and_the_others_go_on(
    sqlite_store: Store, tmp_path: Path, capsys: Capture
) -> None:
    bare = "a run with another file"
    named = [put(sqlite_store, tmp_path, day, right) for day, right in ((1, 0.9), (2, 0.5))]
    key = sqlite_store.client.get_run(named[0]).info.experiment_id
    for day, run_id in zip((1, 2), named, strict=True):
        sqlite_store.client.log_param(run_id, "day", day)
    for name in ("bare", "barer"):
        made = sqlite_store.client.create_run(key, run_name=name, start_time=3 * DAY).info.run_id
        log_bytes(sqlite_store.client, made, "notes.txt", bare.encode())
        sqlite_store.client.log_param(made, "day", name)
        sqlite_store.client.set_terminated(made)
    where = ("--tracking-uri", sqlite_store.uri)
    selected = (*where, "--experiment", "drift")
    for how in (("--metrics", "accuracy"), ("--over-time", "--metric", "accuracy"), ("--by", "params.day")):
        done = run(capsys, "compare", *selected, *how)
        assert done.code == 0, done.err
        lines = [line for line in done.err.splitlines() if "is skipped: the run holds no predictions" in line]
        assert sorted(line.partition("(")[2].partition(")")[0] for line in lines) == ["bare", "barer"]
    one = run(capsys, "compare", *selected, "--latest", "3")
    assert (one.code, "2 runs cannot be evaluated" in one.err, "(bare)" in one.err) == (2, True, True), (
        one.err
    )
    none = run(capsys, "compare", *selected, "--filter", "params.day LIKE 'bare%'")
    assert (none.code, "the run holds no predictions" in none.err) == (3, True), none.err
    baseline = run(capsys, "compare", *selected, "--baseline", "bare")
    assert (baseline.code, "the run holds no predictions" in baseline.err) == (3, True), baseline.err
    by_id = run(capsys, "compare", *where, "--run-id", named[0], "--run-id", made)
    assert by_id.code == 3, "a run that is named is not skipped"

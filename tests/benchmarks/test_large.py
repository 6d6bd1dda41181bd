"""What is kept of the large benchmarks: measured numbers as they are, the model's from them, and a figure."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evalreport.tracking.client import connect
from tests.benchmarks import bench_scale, experiment, growth, large
from tests.benchmarks.measure import Result

SIZES = (10**6, 10**7, 10**8)


def grid() -> growth.Grid:
    """A second for a million rows, 0.2 GB and 4 bytes a row; the engine in memory up to ten million."""
    works = list(bench_scale.WORKS)
    seconds = {work: {rows: rows / 1e6 for rows in SIZES} for work in works}
    seconds["the engine in memory"].pop(SIZES[-1])
    memory = {work: {rows: 0.2 + 4e-9 * rows for rows in points} for work, points in seconds.items()}
    memory[growth.SPILT] = dict(zip(SIZES, (0.2, 0.24, 0.25), strict=True))
    seconds |= {growth.SPARK: {10**7: 20.0, 10**8: 85.0}, growth.OWN: {10**7: 4.0, 10**8: 8.0}}
    reported = {growth.SPARK: {10**7: 273_087.0, 10**8: 315_317.0}}
    return {growth.SECONDS: seconds, growth.MEMORY: memory, growth.BYTES: reported}


def row(text: str, unit: str, work: str) -> list[str]:
    part = text.partition(f"## {unit}\n")[2].partition("\n## ")[0]
    (line,) = (line for line in part.splitlines() if line.startswith(f"| {work} |"))
    return [cell.strip() for cell in line.split("|")[2:-1]]


def test_the_page_tells_what_was_measured_and_marks_what_was_not(tmp_path: Path) -> None:
    large.write([Result("work", "1 s", "", "≤ 2 s", True)], grid(), tmp_path)
    text = (tmp_path / "LARGE.md").read_text(encoding="utf-8")
    assert "| work | 1 s |  | ≤ 2 s | pass |" in text
    assert row(text, "CPU seconds", "decode alone") == ["1.00", "10.00", "100", "*1,000*", "*10,000*"]
    assert row(text, "CPU seconds", "the engine in memory") == [
        "1.00",
        "10.00",
        "*100*",
        "*1,000*",
        "*10,000*",
    ]
    assert row(text, "CPU seconds", "evaluation in Spark") == ["", "20.00", "85.00", "*735*", "*7,235*"]
    assert row(text, growth.MEMORY, "decode alone")[2:] == ["0.60", "*4.20*", "*40.20*"]
    assert row(text, growth.BYTES, "evaluation in Spark")[1:3] == ["273,087", "315,317"]
    missed = "misses 100,000,000 rows by +0% to +0% of CPU seconds and +0% to +156% of greatest memory"
    assert missed in " ".join(text.split())
    assert "(growth.svg)" in text


def test_the_figure_names_every_line_and_says_where_the_model_begins(tmp_path: Path) -> None:
    growth.draw(grid(), tmp_path / "one.svg")
    growth.draw(grid(), tmp_path / "two.svg")
    drawn = (tmp_path / "one.svg").read_text(encoding="utf-8")
    words = re.findall(r"<text[^>]*>([^<]*)</text>", drawn)
    assert {*bench_scale.WORKS, growth.SPARK, "model, not measured", growth.MEMORY} <= set(words)
    assert len(drawn) < 60_000
    assert drawn == (tmp_path / "two.svg").read_text(encoding="utf-8")


def test_bars_are_held_where_they_were_promised() -> None:
    found = {(result.what, result.bar): result for result in growth.bars(grid())}
    whole = "100,000,000 rows: stream, evaluation and page, memory"
    assert found[whole, "≤ 1 GB"].passed
    assert found["with less memory: memory of 100,000,000 rows over that of 10,000,000", "≤ 1.3 ×"].passed
    assert not found["100,000,000 rows in Spark: evaluation", "≤ 6 ×"].passed
    assert not any(what.startswith("1,000,000 rows") for what, _ in found)


def test_a_child_measures_itself_alone(tmp_path: Path) -> None:
    path = tmp_path / "scores.parquet"
    bench_scale.written(path, 1500)
    held = bytearray(300_000_000)
    held[::4096] = b"x" * len(held[::4096])
    cost = bench_scale.child("work = lambda: open(f'{folder}/more', 'wb').write(bytes(2_000_000))", path)
    assert cost.memory < 0.1
    assert cost.disk == pytest.approx(0.002, rel=0.01)
    assert bench_scale.child(bench_scale.DECODE, path).seconds > 0


def test_an_experiment_of_the_benchmark_is_logged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiment, "RUNS", 2)
    monkeypatch.setattr(experiment, "ROWS", 20)
    uri = experiment.written(tmp_path)
    took, seconds = experiment.logged(uri, "--set", "jobs=1")
    assert min(took, seconds) > 0
    runs = connect(uri).client.search_runs(["1"])
    assert [run.info.run_name for run in runs] == ["run-0001", "run-0000"]
    assert all("eval/f1" in run.data.metrics for run in runs)

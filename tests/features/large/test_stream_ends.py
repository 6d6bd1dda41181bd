"""Where engines, facts and bins meet: the same mistakes, bounds that hold, and advice that helps."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import evalreport as er
from evalreport.core.errors import ColumnNotFoundError, DataError, FileMissingError
from evalreport.core.progress import on_progress
from evalreport.core.result import Estimate
from tests.cli.running import run
from tests.features.large.test_stream import FEW, FORMATS, N, parquet, parts, plain, table


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("threshold", [None, "1e-9"])
def test_the_surest_mistakes_are_those_of_memory(kind: type, threshold: str | None, tmp_path: Path) -> None:
    """Scores so near to 0 that their distance from 1 is 1: the surest are told by the scores themselves."""
    rng = np.random.default_rng(1)
    score: Any = (rng.random(900) ** 40).astype(kind)
    truth = (rng.random(900) < 0.5).astype(int)
    _, many = parts(pa.table({"y_true": truth, "score": score}), tmp_path, ".parquet")
    held = er.evaluate_files(many, engine="memory", threshold=threshold, **FEW)
    assert plain(er.evaluate_files(many, threshold=threshold, **FEW)) == plain(held)
    missed = [score[one.row] for one in held.mistakes if one.truth == ("1",)]
    if threshold is None:
        assert missed == sorted(missed)
        assert missed[0] == score[truth == 1].min()


def test_columns_of_which_none_is_there_are_reported(tmp_path: Path) -> None:
    parquet(table(), tmp_path / "a.parquet")
    with pytest.raises(ColumnNotFoundError, match=r'column "out\.y" is not in a\.parquet') as caught:
        er.evaluate_files(tmp_path, truth="out.y", score="out.score", **FEW)
    assert "columns are: y_true, score" in caught.value.fix


def test_feather_of_the_first_version_is_reported(tmp_path: Path) -> None:
    (tmp_path / "a.feather").write_bytes(b"FEA1" + bytes(100))
    with pytest.raises(DataError, match="Feather version 1"):
        er.evaluate_files(tmp_path / "a.feather", engine="stream", **FEW)


@pytest.mark.parametrize("bare", [("--save-statistics", "x.stats"), ("--set", "approximate")])
@pytest.mark.parametrize("setting", ["weight", "group"])
def test_memory_is_not_advised_where_it_refuses(
    bare: tuple[str, ...], setting: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parquet(table(site=np.arange(1, N + 1)), tmp_path / "a.parquet")
    done = run(capsys, "report", str(tmp_path), *bare, "--set", f"{setting}=site")
    assert done.code == 2
    assert f"leave --set {setting} or {' '.join(bare).removesuffix(' x.stats')} out" in done.err


def test_facts_are_of_their_labels_and_reported_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parquet(table(), tmp_path / "a.parquet")
    made, few = str(tmp_path / "a.stats"), ("--set", "resamples=100", "--json")
    assert run(capsys, "report", str(tmp_path), "--positive", "ill", "--save-statistics", made).code == 0
    same = ("--positive", "ill", "--labels", "ill,well")
    assert run(capsys, "report", made, *same, *few).json["runs"][0]["n"] == N
    for option, other in (("--positive", "well"), ("--labels", "ill,well,dead")):
        refused = run(capsys, "report", made, option, other)
        assert refused.code == 2
        assert f"the statistics file was created with {option}" in refused.err
    shutil.copy(made, tmp_path / "b.stats")
    (twice,) = run(capsys, "report", str(tmp_path / "*.stats"), *few).json["runs"]
    assert twice["n"] == 2 * N
    assert any("b.stats have the same statistics, and both are counted" in note for note in twice["notes"])


def test_bounds_are_rounded_away_from_what_they_bound(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = pa.table({"y_true": (rng.random(700) < 0.3).astype(int), "score": rng.random(700)})
    parquet(rows, tmp_path / "a.parquet")
    exact = er.evaluate_file(tmp_path / "a.parquet", **FEW)
    bins = er.evaluate_files(tmp_path / "a.parquet", approximate=True, **FEW)
    reported = 0
    for name, known in exact.metrics.items():
        found = bins[name]
        if isinstance(known, Estimate) and isinstance(found, Estimate) and "from " in str(found.method):
            low, high = map(float, str(found.method).split("exact value from ")[1].split(" to "))
            assert low - 1e-15 <= known.value <= high + 1e-15, name
            reported += 1
    assert reported > 10


def test_a_text_among_numbers_is_reported_with_its_own_file_and_row(tmp_path: Path) -> None:
    for number in range(3):
        lines = [f"{row % 2},0.{row:03}" for row in range(300)]
        if number == 1:
            lines[123] = "1,n/a"
        (tmp_path / f"part-{number}.csv").write_text("\n".join(("y_true,score", *lines)))
    with pytest.raises(DataError, match="column 'score' holds text, not numbers") as caught:
        er.evaluate_files(tmp_path, **FEW)
    assert caught.value.where == f"{tmp_path / 'part-1.csv'}, column 'score', first: row 123, 'n/a'"


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_link_that_leads_nowhere_is_a_part_that_is_missing(suffix: str, tmp_path: Path) -> None:
    FORMATS[suffix](table(), tmp_path / f"part-0{suffix}")
    (tmp_path / f"part-1{suffix}").symlink_to(tmp_path / "not-fetched")
    for engine in ("stream", "memory"):
        with pytest.raises(FileMissingError, match=f"file part-1{suffix} does not exist") as caught:
            er.evaluate_files(tmp_path, engine=engine, **FEW)
        assert str(tmp_path / f"part-1{suffix}") in caught.value.where


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_part_that_vanishes_while_rows_are_counted_is_named(suffix: str, tmp_path: Path) -> None:
    _, many = parts(table(), tmp_path, suffix)

    def vanish(what: str, *_: int) -> None:
        if what == "rows counted":
            (many / f"part-3{suffix}").unlink(missing_ok=True)

    with on_progress(vanish), pytest.raises(FileMissingError, match="does not exist") as caught:
        er.evaluate_files(many, memory=100, **FEW)
    assert caught.value.where == str(many / f"part-3{suffix}")

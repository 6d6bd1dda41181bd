"""The streaming engine gives, to the last bit, what the engine in memory gives of the same rows."""

from __future__ import annotations

import json
import os
import tracemalloc
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.feather as pa_feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evalreport as er
from evalreport.core.errors import DataError, EvalreportError, UsageError
from evalreport.core.progress import on_progress
from evalreport.features.large.collect_batches import open_files
from evalreport.features.large.score_words import Budget, ScoreWords
from evalreport.features.large.spill import FILES, Spill, StoredColumns
from evalreport.features.large.streamed_evaluation import StreamingEvaluation
from evalreport.readers.data_sets import data_set
from evalreport.readers.limits import check_room
from evalreport.statistics.score_table import ScoreTable
from evalreport.statistics.stored_columns import is_stored
from evalreport.thresholds.bounds_on_new_rows import find_limit_place
from evalreport.thresholds.objectives import Constraint
from evalreport.thresholds.sweep import Sweep
from evalreport.workflow.items import Item
from evalreport.workflow.request import Request
from tests.cli.running import run

FEW: dict[str, Any] = {"resamples": 100, "find_slices": False}
N = 900


def table(n: int = N, *, precision: type = np.float64, **more: Any) -> pa.Table:
    rng = np.random.default_rng(3)
    score: Any = (1 / (1 + np.exp(-rng.normal(size=n)))).astype(precision)
    ill = rng.random(n) < score
    score[: n // 3] = 0.5  # a third of the rows on one score
    columns = {"y_true": np.where(ill, "ill", "well"), "score": score, **more}
    return pa.table(columns)


def csv(rows: pa.Table, path: Path) -> None:
    pa_csv.write_csv(rows, path)


def csv_gz(rows: pa.Table, path: Path) -> None:
    with pa.CompressedOutputStream(str(path), "gzip") as sink:
        pa_csv.write_csv(rows, sink)


def jsonl_zst(rows: pa.Table, path: Path) -> None:
    lines = "".join(json.dumps(row) + "\n" for row in rows.to_pylist())
    with pa.CompressedOutputStream(str(path), "zstd") as sink:
        sink.write(lines.encode())


def arrow(rows: pa.Table, path: Path) -> None:
    pa_feather.write_feather(rows, path, chunksize=100)


def parquet(rows: pa.Table, path: Path) -> None:
    pq.write_table(rows, path, row_group_size=70)


FORMATS: Mapping[str, Callable[[pa.Table, Path], None]] = {
    ".csv": csv,
    ".csv.gz": csv_gz,
    ".jsonl.zst": jsonl_zst,
    ".arrow": arrow,
    ".parquet": parquet,
}


def parts(
    rows: pa.Table, folder: Path, suffix: str, cuts: tuple[int, ...] = (1, 400, 401)
) -> tuple[Path, Path]:
    """The rows as one file, and as a folder of parts."""
    whole, many = folder / f"whole{suffix}", folder / "parts"
    many.mkdir()
    FORMATS[suffix](rows, whole)
    ends = (0, *cuts, len(rows))
    for number, (start, stop) in enumerate(pairwise(ends)):
        FORMATS[suffix](rows.slice(start, stop - start), many / f"part-{number}{suffix}")
    (many / "_SUCCESS").touch()
    return whole, many


def plain(ev: er.Evaluation) -> dict[str, Any]:
    """Everything but where it comes from, and but what a stream says that it does not look for."""
    found: dict[str, Any] = json.loads(ev.to_json())
    for key in ("notes", "findings"):
        found[key] = [one for one in found[key] if "stand twice" not in str(one)]
    return {key: value for key, value in found.items() if key != "provenance"}


@pytest.mark.parametrize("suffix", FORMATS)
def test_every_format_in_parts_is_the_whole_file(suffix: str, tmp_path: Path) -> None:
    whole, many = parts(table(site=np.arange(N) % 3), tmp_path, suffix)
    expected = plain(er.evaluate_file(whole, slices="site", positive="ill", **FEW))
    assert plain(er.evaluate_files(many, slices="site", positive="ill", **FEW)) == expected
    tight = er.evaluate_files(many, slices="site", positive="ill", memory=1 << 12, **FEW)
    assert plain(tight) == expected


ASKED: Mapping[str, dict[str, Any]] = {
    "half": {},
    "number": {"threshold": "0.3"},
    "objective": {"threshold": "max-f1"},
    "bound": {"threshold": "recall>=0.9", "constraint_confidence": 0.9},
    "metrics alone": {"confidence": None, "prevalence": 0.01},
    "ids": {"id": "name"},
    "some rows": {"where": ("part=b",)},
    "answers": {"pred": "answer"},
    "gaps": {"pred": "gapped", "missing": "wrong"},
    "labels": {"pred": "answer", "no_scores": True},
    "margins": {"score": "margin", "score_kind": "decision"},
    "margins and answers": {"pred": "answer", "score": "margin", "score_kind": "decision"},
    "logits": {"score": "margin", "score_kind": "logit"},
    "noise": {"score": "noisy"},
    "declared": {"labels": ("well", "ill")},
}
WITH_ANSWERS = ("half", "number", "objective", "bound", "answers", "gaps")


@pytest.mark.parametrize("asked", ASKED)
def test_whatever_is_asked(asked: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    rows = table(precision=np.float32)
    answer = np.where(rows["score"].to_numpy() + rng.normal(scale=0.2, size=N) > 0.6, "ill", "well")
    gapped = [None if row % 50 == 7 else given for row, given in enumerate(answer.tolist())]
    more = {
        "answer": pa.array(answer),
        "gapped": pa.array(gapped),
        "noisy": pa.array(np.where(np.arange(N) % 200 == 0, 1 + 1e-9, rows["score"].to_numpy())),
        "margin": pa.array(np.round(rng.normal(size=N), 2) - 0.5),
        "name": pa.array([f"case {row}" for row in range(N)]),
        "part": pa.array(np.where(np.arange(N) < 300, "a", "b")),
    }
    known = {"truth": "y_true", "score": "score", "positive": "ill", **FEW, **ASKED[asked]}
    unmeant = {"answer", "gapped"} - {known.get("pred")}  # columns that could be the prediction
    for name, column in more.items():
        if asked in WITH_ANSWERS or name not in unmeant:
            rows = rows.append_column(name, column)
    whole, many = parts(rows, tmp_path, ".parquet")
    if known.get("no_scores"):
        known.pop("score")
    expected, found = er.evaluate_file(whole, **known), er.evaluate_files(many, **known)
    one, other = plain(expected), plain(found)
    if "id" in known:
        assert other.pop("label_digest") == ""  # of rows in the order of their ids
        one.pop("label_digest")
    assert other == one


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([0.0, -0.0, 5e-324, 1e-310, 0.25, 0.5, 1.0 - 2**-53, 1.0, -3.5, 1e300, -1e-320]),
            st.booleans(),
        ),
        min_size=1,
        max_size=60,
    ),
    st.lists(st.integers(0, 60), max_size=5),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_words_of_any_split_make_the_same_table(
    rows: list[tuple[float, bool]], cuts: list[int], unit: bool, tight: bool, parted: bool
) -> None:
    """All ties, one class, signed zeros, subnormals, negatives, empty parts."""
    some = [(abs(score) if abs(score) <= 1 else 0.125, truth) for score, truth in rows] if unit else rows
    scores = np.array([score for score, _ in some])
    truth = np.array([truth for _, truth in some])
    budget = Budget(64, Path(os.curdir)) if tight else Budget()
    with pytest.MonkeyPatch.context() as patch, ScoreWords(budget) as words:
        if parted:
            patch.setattr("evalreport.features.large.score_words.WHOLE", 20)
            patch.setattr("evalreport.features.large.score_words.PART", 3)
        for part in np.split(np.arange(len(some)), sorted(cut for cut in cuts if cut < len(some))):
            words.add(scores[part], truth[part])
        found = words.table()
    expected = ScoreTable.from_scores(scores, truth)
    for name in ("scores", "pos", "neg"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()


@pytest.mark.parametrize("digits", [1, 3, 9])
def test_a_range_that_is_counted_in_parts_makes_the_same_table(
    digits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalreport.features.large.score_words.PART", 16)
    rng = np.random.default_rng(0)
    scores = rng.random(5_000).round(digits)
    truth = rng.random(len(scores)) < scores
    with ScoreWords(Budget()) as words:
        for part in np.split(np.arange(len(scores)), 5):
            words.add(scores[part], truth[part])
        found = words.table()
    expected = ScoreTable.from_scores(scores, truth)
    for name in ("scores", "pos", "neg"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()


def test_memory_of_a_spilt_table_and_its_thresholds_stays_far_below_that_of_its_scores() -> None:
    rng = np.random.default_rng(0)
    rows = 2_000_000
    with ScoreWords(Budget(1 << 20, Path(os.curdir))) as words:
        for _ in range(20):
            scores = rng.random(rows // 20)
            words.add(scores, rng.random(rows // 20) < scores)
        tracemalloc.start()
        try:
            table = words.table()
            Sweep.from_table(table).with_optima()
            bound = Constraint("recall", ">=", 0.8)
            assert find_limit_place(Sweep.from_table(table), bound, 0.95) is not None
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert is_stored(table.scores)
    assert peak < 4 * rows


def test_nearly_all_rows_on_one_score_after_a_head_that_did_not_know_it() -> None:
    rng = np.random.default_rng(0)
    scores = np.concatenate([np.sort(rng.random(5_000)), np.full(95_000, 0.75)]).astype(np.float32)
    truth = rng.random(len(scores)) < 0.5
    with ScoreWords(Budget(1 << 14, Path(os.curdir))) as words:
        for start in range(0, len(scores), 5_000):
            words.add(scores[start : start + 5_000], truth[start : start + 5_000])
        found = words.table()
    expected = ScoreTable.from_scores(scores, truth)
    assert (found.pos == expected.pos).all() and (found.scores == expected.scores).all()


def test_holders_of_one_budget_share_its_memory_and_its_files() -> None:
    rng = np.random.default_rng(4)
    budget = Budget(1 << 18, Path(os.curdir))
    holders = [budget.holder() for _ in range(FILES + 6)]
    rows = [(rng.random(1500).astype(np.float32), rng.random(1500) < 0.5) for _ in holders]
    for part in np.split(np.arange(1500), 3):
        for holder, (scores, truth) in zip(holders, rows, strict=True):
            holder.add(scores[part], truth[part])
            assert budget.ledger.held_bytes <= budget.memory // 2
    spill = budget.files()
    assert spill is not None and FILES // 2 < spill.number <= FILES
    for holder, (scores, truth) in zip(holders, rows, strict=True):
        found, expected = holder.table(), ScoreTable.from_scores(scores, truth)
        assert found.scores.tolist() == expected.scores.tolist()
        assert found.pos.tolist() == expected.pos.tolist()
    assert spill.number == 0


@pytest.mark.usefixtures("temporary")
def test_a_nan_in_a_part_is_named_with_file_and_row_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, many = parts(table(), tmp_path, ".parquet")
    rows = pq.read_table(many / "part-3.parquet")
    score = rows["score"].to_numpy().copy()
    score[77] = np.nan
    pq.write_table(rows.set_column(1, "score", pa.array(score)), many / "part-3.parquet")
    page = tmp_path / "page.html"
    done = run(capsys, "report", str(many), "-o", str(page), "--set", "memory=1KB")
    assert done.code == 5
    assert "part-3.parquet" in done.err and "row 77, nan" in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["parts", "whole.parquet"]


def test_files_named_one_by_one_are_reported_as_tables_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [str(tmp_path / f"{name}.parquet") for name in "ab"]
    for path in paths:
        parquet(table(), Path(path))
    done = run(capsys, "report", *paths, "--set", "engine=stream", "--set", "resamples=100", "--json")
    assert [found["n"] for found in done.json["runs"]] == [N, N]
    assert "name the files of one table by their folder or a quoted pattern" in done.err
    assert "quoted pattern" not in run(capsys, "report", paths[0], "--set", "engine=stream", "--json").err


def test_a_row_is_counted_from_the_first_of_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalreport.readers.data_sets.ROWS", 100)
    rows = table()
    score = rows["score"].to_numpy().copy()
    score[345] = 1.5
    parquet(rows.set_column(1, "score", pa.array(score)), tmp_path / "a.parquet")
    with pytest.raises(DataError, match=r"first: row 345, 1\.5"):
        er.evaluate_files(tmp_path / "a.parquet", **FEW)


def test_drift_is_reported_before_a_page_is_read(tmp_path: Path) -> None:
    parquet(table(20), tmp_path / "a.parquet")
    parquet(pa.table({"y_true": ["ill"], "score": ["0.5"]}), tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"column 'score' is double in a\.parquet and text in b\.parquet"):
        er.evaluate_files(tmp_path, **FEW)
    parquet(pa.table({"y_true": ["ill"]}), tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"b\.parquet has no column 'score'"):
        er.evaluate_files(tmp_path, **FEW)


@pytest.mark.parametrize(
    ("parts", "reported"),
    [
        ([[0, 1], [1, 1]], {0, 1}),
        ([[5, 5]], {5}),
        ([[0, 2]], set()),
        ([[0, 1], [3, 3]], {0, 1, 3}),
        ([[0, 1, None]], set()),
        ([["0", "1"]], set()),
        ([[0, 1], []], set()),
    ],
)
def test_labels_that_are_neighbouring_numbers_are_reported_by_footers(
    parts: list[list[Any]], reported: set[int], tmp_path: Path
) -> None:
    kind = pa.string() if "0" in parts[0] else pa.int8()
    for number, part in enumerate(parts):
        rows = {"y_true": pa.array(part, kind), "score": np.full(len(part), 0.5)}
        pq.write_table(pa.table(rows), tmp_path / f"{number}.parquet")
    data = data_set([tmp_path])
    assert data.neighbours("y_true") == reported and data.neighbours("score") == set()
    seen: set[Any] = set()
    for _, _, batch in data.distinct(["y_true"]):
        seen |= set(batch["y_true"].tolist())
    assert not reported or seen == reported


def test_numbers_of_two_precisions_are_widened_for_all(tmp_path: Path) -> None:
    one, other = table(200, precision=np.float32), table(200)
    parquet(one, tmp_path / "a.parquet")
    parquet(other, tmp_path / "b.parquet")
    both = pa.concat_tables([one.cast(other.schema), other])
    parquet(both, tmp_path.parent / "both.parquet")
    found, expected = (
        er.evaluate_files(path, **FEW) for path in (tmp_path, tmp_path.parent / "both.parquet")
    )
    assert plain(found) == plain(expected)


@pytest.mark.parametrize(
    "log", ["_delta_log/0.json", ".hoodie/hoodie.properties", "metadata/v1.metadata.json"]
)
@pytest.mark.parametrize("named", ["", "country=de/*.parquet"])
def test_files_of_a_table_that_may_have_dropped_them_are_refused(
    log: str, named: str, tmp_path: Path
) -> None:
    for place in (tmp_path / log, tmp_path / "country=de" / "part-0.parquet"):
        place.parent.mkdir()
        place.write_text("{}")
    with pytest.raises(DataError, match="table: its files also contain deleted rows") as caught:
        er.evaluate_files(str(tmp_path / named), **FEW)
    assert caught.value.where == str(tmp_path) and "with er.evaluate_spark" in caught.value.fix


def test_a_broken_part_is_named(tmp_path: Path) -> None:
    _, many = parts(table(), tmp_path, ".parquet")
    whole = (many / "part-1.parquet").read_bytes()
    (many / "part-1.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(EvalreportError) as caught:
        er.evaluate_files(many, **FEW)
    assert "part-1.parquet" in caught.value.where
    csv(table(20), tmp_path / "a.csv")
    (tmp_path / "b.csv").write_text("y_true,score\nill,0.5\nwell\n")
    with pytest.raises(DataError, match="line 3 has 1 cells") as torn:
        er.evaluate_files([tmp_path / "a.csv", tmp_path / "b.csv"], **FEW)
    assert "b.csv" in torn.value.where


REFUSED: Mapping[str, Any] = {
    "group": "site",
    "weight": "site",
    "fold": "site",
    "example_text": "y_true",
    "truth_file": "truth.csv",
    "tune_on": "other.csv",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_stream_cannot_do_is_refused_with_the_option_that_can(name: str, tmp_path: Path) -> None:
    parquet(table(site=np.arange(N)), tmp_path / "a.parquet")
    with pytest.raises(UsageError) as caught:
        er.evaluate_files(tmp_path, **{name: REFUSED[name], "threshold": "max-f1"}, **FEW)
    assert 'engine="memory"' in caught.value.fix and f"{name}=" in caught.value.fix


def test_a_disk_without_room_is_reported_beforehand(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"need 1,000,000,000,000\.0 MB of disk and"):
        check_room(tmp_path, 10**18)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_disk_that_fills_up_is_an_error_of_three_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = Path("/dev/full")
    monkeypatch.setattr("tempfile.TemporaryFile", lambda **_: full.open("r+b", buffering=0))
    parquet(table(), tmp_path / "a.parquet")
    with pytest.raises(DataError, match="the folder has less") as caught:
        er.evaluate_files(tmp_path, memory=100, **FEW)
    assert "TMPDIR" in caught.value.where


def test_rows_are_reported_while_they_are_counted(tmp_path: Path) -> None:
    parquet(table(), tmp_path / "a.parquet")
    request, reported = Request(engine="stream"), list[tuple[str, int, int]]()
    stream = open_files(Item(path=str(tmp_path / "a.parquet")), request)
    with on_progress(lambda *said: reported.append(said)):
        stream.run_on_counts(lambda counted: counted)
    rows = [done for what, done, of in reported if (what, of) == ("rows counted", N)]
    assert rows == sorted(rows)
    assert rows[-1] == N


def test_the_engine_is_chosen_by_size_and_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.csv"
    csv(table(), path)
    assert "engine" not in run(capsys, "report", str(path), "--output", str(tmp_path / "one")).err
    monkeypatch.setattr("evalreport.workflow.request.SMALL", 0)
    monkeypatch.setattr("evalreport.workflow.request._free", lambda: 1 << 10)
    done = run(capsys, "report", str(path), "--output", str(tmp_path / "two"))
    assert "engine=stream of 1 file, by itself" in done.err
    assert (tmp_path / "two" / "evaluation.json").is_file()
    rows, parts = table(site=np.arange(N) // 7), tmp_path / "parts"
    parts.mkdir()
    for start in range(0, N, 400):
        csv(rows.slice(start, 400), parts / f"{start:05}.csv")
    asked = (
        "--set",
        "engine=memory",
        "--set",
        "group=site",
        "--json",
    )  # what a stream refuses, with its remedy
    csv(rows, path)
    held = [run(capsys, "report", str(where), *asked).json["runs"][0] for where in (parts, path)]
    assert held[0]["metrics"] == held[1]["metrics"] and held[0]["clusters"] == held[1]["clusters"] > 1


@pytest.mark.usefixtures("temporary")
@pytest.mark.parametrize("tight", [False, True])
def test_a_table_that_is_read_where_it_is_looked_at(tight: bool, tmp_path: Path) -> None:
    """Enough distinct scores that their columns are stored, some of them of more rows than a byte counts."""
    rng = np.random.default_rng(0)
    score = rng.random(40_000).astype(np.float32)
    score[:9_000], score[10_000:10_300] = 0.5, 0.25
    parquet(
        pa.table({"y_true": (rng.random(40_000) < score).astype(int), "score": score}), tmp_path / "a.parquet"
    )
    asked: dict[str, Any] = {"threshold": "recall>=0.9", "constraint_confidence": 0.9, **FEW}
    expected = plain(er.evaluate_file(tmp_path / "a.parquet", **asked))
    budget: dict[str, Any] = {"memory": 1000} if tight else {"memory": 100_000_000}
    assert plain(er.evaluate_files(tmp_path, **asked, **budget)) == expected
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 600), st.integers(0, 3)), min_size=1, max_size=300), st.data())
def test_a_stored_column_is_the_array(counts: list[tuple[int, int]], data: st.DataObject) -> None:
    rows = np.array(counts, dtype=float)
    scores = np.arange(len(rows)) / 1024
    stored = StoredColumns(np.float64, Spill(Path(os.curdir)) if data.draw(st.booleans()) else None)
    for part in np.array_split(np.arange(len(rows)), data.draw(st.integers(1, 5))):
        stored.append(scores[part], rows[part, 0], rows[part, 1])
    held, table = ScoreTable(scores, rows[:, 0], rows[:, 1]), ScoreTable.from_stored_columns(stored)
    places = data.draw(st.lists(st.integers(-len(rows), len(rows) - 1), min_size=1, max_size=9))
    start, stop = (data.draw(st.integers(0, len(rows))) for _ in range(2))
    for name in ("scores", "pos", "neg", "tp", "fp"):
        column, array = getattr(table, name), getattr(held, name)
        for turned, plainly in ((column, array), (column[::-1], array[::-1])):
            assert turned[np.array(places)].tolist() == plainly[np.array(places)].tolist()
            assert np.asarray(turned[start:stop]).tolist() == plainly[start:stop].tolist()
        assert column.sum() == array.sum()
    wanted = np.array([0.0, 1.0, 300.5, rows[:, 0].sum()])
    for side in ("left", "right"):
        found = np.searchsorted(table.path[0], wanted, side=side)
        assert found.tolist() == np.searchsorted(held.path[0], wanted, side=side).tolist()


@pytest.mark.usefixtures("temporary")
def test_an_interrupt_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, many = parts(table(), tmp_path, ".parquet")
    added = StreamingEvaluation.add
    batches = iter(range(9))

    def stopped(self: StreamingEvaluation, *batch: Any) -> None:
        if next(batches) == 2:
            raise KeyboardInterrupt
        added(self, *batch)

    monkeypatch.setattr(StreamingEvaluation, "add", stopped)
    page = tmp_path / "page.html"
    done = run(capsys, "report", str(many), "-o", str(page), "--set", "memory=100B")
    assert done.code == 130
    assert sorted(path.name for path in tmp_path.iterdir()) == ["parts", "whole.parquet"]

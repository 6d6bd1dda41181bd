"""Several classes as a stream: what the engine in memory gives of the same rows."""

from __future__ import annotations

import gc
import math
import tracemalloc
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evalreport as er
from evalreport.core.errors import DataError, UsageError
from evalreport.core.progress import on_progress
from evalreport.data.labels import Multiclass
from evalreport.data.predictions import Predictions, predictions
from evalreport.data.scores import Probabilities
from evalreport.features.large.engine import ClassCells, ClassStream, placed_range
from evalreport.features.large.score_words import Budget
from evalreport.features.large.second_pass import OwnScores, ScorePlaces
from evalreport.features.large.spill import StoredColumns
from evalreport.readers.data_sets import DataSet
from evalreport.statistics.class_scores import ClassScores, LabelScores
from evalreport.workflow.request import Request, is_streamed
from tests.cli.running import run
from tests.features.large.test_stream import FEW, FORMATS, parts, plain

N = 900
SIZES = ("small", "mid", "large", "huge")


def classes(n: int = N) -> pa.Table:
    rng = np.random.default_rng(11)
    truth = rng.choice(SIZES, n, p=[0.5, 0.3, 0.17, 0.03])
    truth[:5] = "mid"  # the first part of the files holds one label alone
    answer = np.where(rng.random(n) < 0.7, truth, rng.choice(SIZES, n))
    gapped = [None if row % 50 == 7 else given for row, given in enumerate(answer.tolist())]
    return pa.table(
        {
            "y_true": truth,
            "y_pred": answer,
            "gapped": pa.array(gapped),
            "name": [f"case {row}" for row in range(n)],
            "site": np.arange(n) % 3,
            "part": np.where(np.arange(n) % 4 == 0, "a", "b"),
        }
    )


ASKED: Mapping[str, dict[str, Any]] = {
    "labels": {"slices": "site"},
    "gaps": {"pred": "gapped", "missing": "wrong", "slices": "site"},
    "ordered": {"labels": SIZES, "ordered": True, "slices": "site"},
    "ordered and gaps": {"labels": SIZES, "ordered": True, "pred": "gapped", "missing": "wrong"},
    "ids": {"id": "name"},
    "some rows": {"where": ("part=b",)},
    "metrics alone": {"confidence": None},
}


def agree(found: er.Evaluation, expected: er.Evaluation, *, digest: bool = True) -> None:
    """Whatever is counted is equal; sums in another order may differ in their last digits."""
    one, other = plain(expected), plain(found)
    if not digest:  # of rows in the order of their ids
        assert other.pop("label_digest") == ""
        one.pop("label_digest")
    same(other, one, "")


def same(found: Any, expected: Any, where: str) -> None:
    assert type(found) is type(expected), where
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), where
        for key, value in expected.items():
            same(found[key], value, f"{where}/{key}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for place, value in enumerate(expected):
            same(found[place], value, f"{where}/{place}")
    elif isinstance(expected, float):
        assert math.isclose(found, expected, rel_tol=1e-11, abs_tol=1e-13), (where, found, expected)
    else:
        assert found == expected, where


@pytest.mark.parametrize("asked", ASKED)
def test_labels_alone(asked: str, tmp_path: Path) -> None:
    whole, many = parts(classes(), tmp_path, ".parquet")
    known = {"truth": "y_true", "pred": "y_pred", **FEW, **ASKED[asked]}
    agree(er.evaluate_files(many, **known), er.evaluate_file(whole, **known), digest="id" not in known)


def scored(n: int = N) -> pa.Table:
    """Probabilities with ties, margins, and lists of the probabilities."""
    rng = np.random.default_rng(4)
    rows = classes(n)
    code = np.searchsorted(np.sort(SIZES), rows["y_true"].to_numpy(zero_copy_only=False))
    margins = rng.normal(size=(n, len(SIZES))).round(2)
    margins[np.arange(n), code] += 1.2
    odds = np.exp(margins)
    odds[n // 2 :] = np.exp(margins[n // 2 :].round())  # many rows with the same scores
    chances = odds / odds.sum(axis=1, keepdims=True)
    for place, label in enumerate(np.sort(SIZES)):
        rows = rows.append_column(f"proba_{label}", pa.array(chances[:, place].astype(np.float32)))
        rows = rows.append_column(f"margin_{label}", pa.array(margins[:, place]))
        rows = rows.append_column(f"col_{place}", pa.array(chances[:, place]))
    lists = [dict(zip(np.sort(SIZES).tolist(), row, strict=True)) for row in chances.tolist()]
    return rows.append_column("probs", pa.array(map(str, lists))).append_column(
        "list", pa.array(chances.tolist())
    )


RANKED: Mapping[str, dict[str, Any]] = {
    "probabilities": {"scores": "proba_*", "slices": "site"},
    "and answers": {"scores": "proba_*", "pred": "y_pred"},
    "and gaps": {"truth": "y_true", "scores": "proba_*", "pred": "gapped", "missing": "wrong"},
    "ids": {"scores": "proba_*", "id": "name"},
    "margins": {"scores": "margin_*", "score_kind": "decision", "labels": SIZES, "ordered": True},
    "logits": {"scores": "margin_*", "score_kind": "logit", "where": ("part=b",)},
    "in their order": {"scores": "col_*", "labels": sorted(SIZES), "ordered": True},
    "a label too many": {"scores": "proba_*", "labels": (*sorted(SIZES), "none")},
    "mappings": {"score": "probs"},
    "lists": {"score": "list", "labels": sorted(SIZES)},
    "metrics alone": {"scores": "proba_*", "confidence": None},
}


@pytest.mark.parametrize("asked", RANKED)
def test_scores_of_each_class(asked: str, tmp_path: Path) -> None:
    whole, many = parts(scored(), tmp_path, ".parquet")
    known = {"truth": "y_true", **FEW, **RANKED[asked]}
    expected = er.evaluate_file(whole, **known)
    tight: dict[str, Any] = {"memory": 64 << 10}
    for budget in ({}, tight):
        agree(er.evaluate_files(many, **known, **budget), expected, digest="id" not in known)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["parts", "whole.parquet"]


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 2**32 - 1), st.integers(1, 60), st.integers(2, 5), st.lists(st.integers(0, 60), max_size=4)
)
def test_places_of_any_split_are_the_ranks_of_the_matrix(
    seed: int, n: int, size: int, cuts: list[int]
) -> None:
    """Ties within and between classes, classes without an example, empty parts."""
    rng = np.random.default_rng(seed)
    scores, truth = rng.integers(0, 4, (n, size)) / 4, rng.integers(0, rng.integers(1, size + 1), n)
    pieces = np.split(np.arange(n), [*sorted(cut for cut in cuts if cut < n), n])
    own, wanted = OwnScores(size, Budget()), np.flatnonzero(rng.random(n) < 0.5)
    for piece in pieces:
        own.add(scores[piece], truth[piece])
    for ranked in (own, of_ranges(scores, truth, pieces, rng)):
        places = ranked.build_places(wanted)
        for piece in pieces:
            places.add(scores[piece], truth[piece])
        assert_ranks(places.scores(), ClassScores(scores, truth, None))
        np.testing.assert_array_equal(places.scores().take(wanted).scores, scores[wanted])


def of_ranges(
    scores: npt.NDArray[Any],
    truth: npt.NDArray[Any],
    pieces: list[npt.NDArray[Any]],
    rng: np.random.Generator,
) -> ClassCells:
    """The cells of each piece in ranges between some edges, or in one; of equal ones some are sent once."""
    size, edges = scores.shape[1], (0.0, 0.25, 0.3, 0.75, 2.0)[rng.integers(6) :]
    parts: dict[int, list[bytes]] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("evalreport.features.large.engine.HEAVY", 5)
        for piece in pieces:
            cells = ClassCells(size, edges)
            cells.add(scores[piece].astype(("f4", "f8")[rng.integers(2)]), truth[piece])
            for bucket, data in cells.pop_packed():
                parts.setdefault(bucket, []).append(data)
    whole = ClassCells(size, edges)
    ranges = [placed_range(parts[bucket], size) for bucket in sorted(parts, reverse=True)]
    whole.take(lambda: ranges)
    return whole


def assert_ranks(found: LabelScores, held: ClassScores) -> None:
    for name in ("roc_auc", "average_precision", "positives", "pairs"):
        np.testing.assert_array_equal(getattr(found.rankings, name), getattr(held.rankings, name))
    tables = zip(found.rankings.tables, held.rankings.tables, strict=True)
    for one, other in ((found.pooled_merged_table(), held.pooled_merged_table()), *tables):
        for name in ("scores", "pos", "neg"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    np.testing.assert_allclose(found.pooled_areas, held.pooled_areas, rtol=1e-12)


def test_where_ranges_come_together_a_row_takes_little() -> None:
    """A score of single precision, how many have it and what lies beside it, in its class and in all."""
    rng, n, share = np.random.default_rng(5), 200_000, [0.4, 0.3, 0.2, 0.0999, 0.0001]
    scores, truth = rng.random((n, 5), dtype=np.float32), rng.choice(5, n, p=share)
    cells = ClassCells(5, tuple(np.linspace(0.0, 1.0, 33)[1:-1]))
    cells.add(scores, truth)
    ranges = [placed_range([part], 5) for _, part in cells.pop_packed()][::-1]
    tracemalloc.start()
    cells.take(lambda: ranges)
    held, peak = tracemalloc.get_traced_memory()
    places = cells.build_places(np.empty(0, dtype=int))
    places.add(scores, truth)
    found = places.scores()
    pooled = found.pooled_merged_table()
    bins = StoredColumns(np.float32, None)
    bins.append(*(np.asarray(column[:n]) for column in (pooled.scores, pooled.pos, pooled.neg)))
    more = tracemalloc.get_traced_memory()[0] - held
    tracemalloc.stop()
    assert held <= 18 * n and peak <= 28 * n
    assert more <= 12 * n  # of which the last are 6
    assert_ranks(found, ClassScores(scores, truth, None))


def test_files_that_grow_between_two_readings_are_refused() -> None:
    own = OwnScores(2, Budget())
    own.add(np.array([[0.9, 0.1]]), np.array([0]))
    places = own.build_places(np.empty(0, dtype=int))
    with pytest.raises(DataError, match="held 1 rows when they were read first, and 0 then"):
        places.scores()


def test_facts_of_scores_of_several_classes_hold_the_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, many = parts(scored(), tmp_path, ".parquet")
    stages: list[str] = []
    with on_progress(lambda what, *_: stages.append(what)):
        done = run(
            capsys, "report", str(many), "--scores", "proba_*", "--save-statistics", str(tmp_path / "x.stats")
        )
    assert "rows counted" not in stages  # it is said before, not after
    assert done.code == 2
    assert "--set engine=memory" in done.err
    assert not (tmp_path / "x.stats").exists()


@pytest.mark.parametrize("suffix", FORMATS)
def test_every_format_in_parts_is_the_whole_file(suffix: str, tmp_path: Path) -> None:
    whole, many = parts(classes().select(["y_true", "y_pred", "site"]), tmp_path, suffix)
    agree(er.evaluate_files(many, slices="site", **FEW), er.evaluate_file(whole, slices="site", **FEW))


def test_over_twenty_mix_ups_show_one_row_of_each(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 9, 2000)
    table = pa.table({"y_true": truth, "y_pred": np.where(rng.random(2000) < 0.8, truth, truth * 2 % 9)})
    few = table.slice(0, 120)  # of these there are fewer mix-ups than are shown
    for rows in (table, few):
        folder = tmp_path / str(len(rows))
        folder.mkdir()
        whole, many = parts(rows, folder, ".parquet", (1, 40, 100))
        agree(er.evaluate_files(many, **FEW), er.evaluate_file(whole, **FEW))


def test_a_file_is_streamed_for_its_columns_as_for_its_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, path = classes(), tmp_path / "a.parquet"
    monkeypatch.setattr("evalreport.workflow.request.SMALL", 0)
    monkeypatch.setattr(
        "evalreport.workflow.request._free", lambda: 4 * 200 * N
    )  # 200 bytes a row may be taken
    pq.write_table(rows, path)
    assert not is_streamed([str(path)], Request(engine="auto"))
    for place in range(20):
        rows = rows.append_column(f"proba_{place}", pa.array(np.zeros(N)))
    pq.write_table(rows, path)
    assert is_streamed([str(path)], Request(engine="auto"))


def test_what_several_classes_cannot_have(tmp_path: Path) -> None:
    _, many = parts(classes(), tmp_path, ".parquet")
    with pytest.raises(UsageError, match="a multiclass problem has no decision threshold"):
        er.evaluate_files(many, threshold="max-f1", **FEW)
    with pytest.raises(UsageError, match="ordered=True needs declared"):
        er.evaluate_files(many, ordered=True, **FEW)


def test_declared_labels_spare_a_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, many = parts(classes(), tmp_path, ".csv")
    readings: list[tuple[str, ...]] = []
    batches = DataSet.batches

    def read(self: DataSet, wanted: Collection[str]) -> Iterator[Any]:
        readings.append(tuple(wanted))
        return batches(self, wanted)

    monkeypatch.setattr(DataSet, "batches", read)
    er.evaluate_files(many, **FEW)
    assert len(readings) == 3  # the head, the labels, the rows
    readings.clear()
    er.evaluate_files(many, labels=SIZES, **FEW)
    assert len(readings) == 2
    with pytest.raises(DataError, match="labels outside the label set"):
        er.evaluate_files(many, labels=SIZES[:3], **FEW)


def test_numbers_are_not_taken_for_classes_row_by_row(tmp_path: Path) -> None:
    rows = pa.table({"y_true": np.arange(20_000), "y_pred": np.arange(20_000)})
    _, many = parts(rows, tmp_path, ".parquet")
    with pytest.raises(DataError, match=r"distinct labels; at most 10,000 are classes"):
        er.evaluate_files(many, **FEW)


def places_of(rows: int, memory: int, folder: Path) -> tuple[int, list[float]]:
    """Bytes at the peak of ranking some rows in batches of 2,000, and the areas."""
    budget, space = Budget(memory, folder), Multiclass("abc")

    def batches() -> Iterator[Predictions]:
        rng = np.random.default_rng(4)
        for _ in range(rows // 2000):
            values = rng.dirichlet(np.ones(3), 2000)
            truth = [space.labels[code] for code in rng.integers(3, size=2000)]
            yield predictions(space, truth, scores=Probabilities(values))

    gc.collect()
    tracemalloc.start()
    try:
        stream = ClassStream(space, budget)
        for batch in batches():
            stream.add(batch)
        stream.prepare_second_pass(np.empty(0, dtype=np.intp))
        for batch in batches():
            stream.place(batch)
        assert isinstance(stream.places, ScorePlaces)
        found = stream.places.scores()
        areas = [*found.rankings.roc_auc, *found.pooled_areas]
        stream.close()
        return tracemalloc.get_traced_memory()[1], areas
    finally:
        tracemalloc.stop()


def test_memory_of_ranked_classes_does_not_grow_with_the_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond the budget arrays are in the folder; pieces of them are as small as a batch here."""
    monkeypatch.setattr("evalreport.features.large.second_pass.PIECE", 2000)
    monkeypatch.setattr("evalreport.statistics.rankings.BLOCK", 2000)
    small, large = 10_000, 50_000
    tight = [places_of(rows, 1 << 16, tmp_path) for rows in (small, large)]
    wide = [places_of(rows, 1 << 30, tmp_path) for rows in (small, large)]
    growth = [(peaks[1][0] - peaks[0][0]) / (large - small) for peaks in (tight, wide)]
    assert growth[0] < 10 and growth[1] > 40, growth
    assert [areas for _, areas in tight] == [areas for _, areas in wide]
    assert not list(tmp_path.iterdir())

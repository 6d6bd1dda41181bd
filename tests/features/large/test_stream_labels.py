"""Several labels per row as a stream: what the engine in memory gives of the same rows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evalreport as er
from evalreport.columns.column_request import Columns
from evalreport.core.errors import UsageError
from evalreport.data.labels import Multilabel
from evalreport.data.predictions import predictions
from evalreport.data.scores import Decisions
from evalreport.features.large.engine import LabelStream
from evalreport.features.large.read import open_stream
from evalreport.features.large.score_words import Budget
from evalreport.readers.data_sets import data_set
from evalreport.statistics.class_scores import ClassScores
from evalreport.statistics.summary import LabelMoments
from tests.cli.running import run
from tests.features.large.test_stream import FEW, parts
from tests.features.large.test_stream_classes import agree

N = 900
LABELS = ("joy", "anger", "fear", "grief")


def labelled(n: int = N) -> pa.Table:
    rng = np.random.default_rng(8)
    truth = rng.random((n, len(LABELS))) < [0.4, 0.3, 0.1, 0.01]
    truth[:450, 3] = False  # the first parts of the files hold no grief
    score = np.clip(rng.random(truth.shape) * 0.6 + truth * 0.3, 0, 1).round(2)
    given = score + rng.normal(scale=0.1, size=truth.shape) > 0.5
    columns: dict[str, Any] = {"name": [f"case {row}" for row in range(n)], "site": np.arange(n) % 3}
    for place, label in enumerate(LABELS):
        columns |= {f"true_{label}": truth[:, place], f"pred_{label}": given[:, place].astype(int)}
        columns[f"proba_{label}"] = score[:, place].astype(np.float32)
        columns[f"margin_{label}"] = (6 * score[:, place] - 3).round(1)
    sets = [[label for label, has in zip(LABELS, row, strict=True) if has] for row in truth.tolist()]
    answers = [[label for label, has in zip(LABELS, row, strict=True) if has] for row in given.tolist()]
    texts = {"sets": ["|".join(one) for one in sets], "answers": ["|".join(one) for one in answers]}
    return pa.table({**columns, "truth": sets, "given": answers, **texts})


FLAGS: Mapping[str, Any] = {"truth": "true_*", "pred": "pred_*", "no_scores": True}
LISTS: Mapping[str, Any] = {"truth": "truth", "pred": "given", "no_scores": True}
ASKED: Mapping[str, dict[str, Any]] = {
    "columns": {**FLAGS, "slices": "site"},
    "lists": {**LISTS, "slices": "site"},
    "texts": {**LISTS, "truth": "sets", "pred": "answers", "list_separator": "|"},
    "some labels": {**FLAGS, "labels": LABELS[::2]},
    "ids": {**LISTS, "id": "name"},
    "some rows": {**FLAGS, "where": ("site=1",)},
}


@pytest.mark.parametrize("asked", ASKED)
def test_labels_alone(asked: str, tmp_path: Path) -> None:
    plain = labelled().drop_columns([f"{kind}_{label}" for kind in ("proba", "margin") for label in LABELS])
    whole, many = parts(plain, tmp_path, ".parquet")
    known = {**FEW, **ASKED[asked]}
    agree(er.evaluate_files(many, **known), er.evaluate_file(whole, **known), digest="id" not in known)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl.zst"])
def test_texts_and_records_in_parts_are_the_whole_file(suffix: str, tmp_path: Path) -> None:
    names = ["site", "sets", "answers"] if suffix == ".csv" else ["site", "truth", "given"]
    asked = ASKED["texts"] if suffix == ".csv" else ASKED["lists"]
    whole, many = parts(labelled(300).select(names), tmp_path, suffix, (1, 100))
    agree(er.evaluate_files(many, **asked, **FEW), er.evaluate_file(whole, **asked, **FEW))


def test_labels_are_those_of_all_files_before_a_row_is_counted(tmp_path: Path) -> None:
    _, many = parts(labelled(), tmp_path, ".parquet")
    stream = open_stream(data_set([many]), Columns(truth="truth", pred="given", no_scores=True))
    assert stream.space.labels == tuple(sorted(LABELS))


SCORED: Mapping[str, dict[str, Any]] = {
    "probabilities": {"truth": "true_*", "scores": "proba_*", "slices": "site"},
    "lists": {"truth": "truth", "scores": "proba_*"},
    "and answers": {"truth": "true_*", "pred": "pred_*", "scores": "proba_*"},
    "margins": {"truth": "true_*", "scores": "margin_*", "score_kind": "decision"},
    "margins and answers": {
        "truth": "true_*",
        "pred": "pred_*",
        "scores": "margin_*",
        "score_kind": "decision",
    },
    "a number": {"truth": "true_*", "scores": "proba_*", "threshold": "0.3"},
    "a bound of each": {
        "truth": "true_*",
        "pred": "pred_*",
        "scores": "proba_*",
        "threshold": "recall>=0.9",
        "slices": "site",
    },
    "the best of each": {
        "truth": "true_*",
        "pred": "pred_*",
        "scores": "proba_*",
        "threshold": "max-f1",
        "slices": "site",
    },
    "the best of all": {
        "truth": "truth",
        "scores": "margin_*",
        "score_kind": "decision",
        "threshold": "max-f1_micro",
    },
    "logits": {"truth": "true_*", "scores": "margin_*", "score_kind": "logit", "where": ("site=1",)},
    "some labels": {"truth": "true_*", "scores": "proba_*", "labels": LABELS[:2]},
    "ids": {"truth": "truth", "pred": "given", "scores": "proba_*", "id": "name"},
    "metrics alone": {"truth": "true_*", "scores": "proba_*", "confidence": None},
}


@pytest.mark.parametrize("asked", SCORED)
def test_scores_of_each_label(asked: str, tmp_path: Path) -> None:
    whole, many = parts(labelled(), tmp_path, ".parquet")
    known = {**FEW, **SCORED[asked]}
    expected = er.evaluate_file(whole, **known)
    tight: dict[str, Any] = {"memory": 64 << 10}
    for budget in ({}, tight):
        agree(er.evaluate_files(many, **known, **budget), expected, digest="id" not in known)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["parts", "whole.parquet"]


@pytest.mark.parametrize("threshold", ["f1_samples", "recall_micro>=0.9", "recall[joy]>=0.9"])
def test_thresholds_of_whole_label_sets_are_refused_with_what_helps(threshold: str, tmp_path: Path) -> None:
    _, many = parts(labelled(), tmp_path, ".parquet")
    reported = "to one label" if "[" in threshold else "label sets of all rows, which a stream does not keep"
    with pytest.raises(UsageError, match=reported) as caught:
        er.evaluate_files(many, truth="true_*", scores="proba_*", threshold=threshold, **FEW)
    assert "recall>=0.9" in caught.value.fix
    with pytest.raises(UsageError, match="there is no constraint"):
        er.evaluate_files(many, truth="true_*", scores="proba_*", constraint_confidence=0.9, **FEW)


SOUGHT: Mapping[str, tuple[str, ...]] = {
    "usual": (),
    "several": ("f1_micro", "label_accuracy", "jaccard_macro", "f1_weighted"),
    "bounds": ("recall[joy]>=0.9", "precision>=0.6", "jaccard_micro"),
}


@pytest.mark.usefixtures("temporary")
@pytest.mark.parametrize("sought", SOUGHT)
def test_thresholds_of_a_stream_are_those_of_memory(
    sought: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also with folds in three rounds, scores that go to disk, and rows that come in other batches."""
    whole, many = parts(labelled(), tmp_path, ".parquet")
    columns = ("--truth", "true_*", "--scores", "proba_*", "--set", "resamples=100", "--json")
    asked = tuple(part for name in SOUGHT[sought] for part in ("--objective", name))
    expected = run(capsys, "sweep", "thresholds", str(whole), *columns, *asked).json
    for tight in ((), ("--set", "memory=64KB")):
        found = run(capsys, "sweep", "thresholds", str(many), *columns, *asked, *tight).json
        assert found["sweep"] == expected["sweep"]
        assert found["sweep"]["optima"], found
    assert sorted(path.name for path in tmp_path.iterdir()) == ["parts", "whole.parquet"]


def test_thresholds_of_few_rows_and_of_rows_without_scores(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few, no_scores = (
        parts(labelled(900).slice(440, 8), tmp_path, ".parquet", (1, 3))[1],
        (
            "--set",
            "no_scores",
        ),
    )
    columns = ("sweep", "thresholds", str(few), "--truth", "true_*")
    found = run(capsys, *columns, "--scores", "proba_*", "--json").json["sweep"]["optima"]["f1_macro"]
    assert found["held_out"] is None and "at least 10 rows" in str(found)
    assert "no scores to sweep" in run(capsys, *columns, "--pred", "pred_*", *no_scores).err
    assert "label sets of all rows" in run(capsys, *columns, "--objective", "subset_accuracy").err


@pytest.mark.usefixtures("temporary")
def test_bad_rows_of_a_part_are_named_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, many = parts(labelled(), tmp_path, ".parquet")
    last = many / "part-3.parquet"
    rows = pq.read_table(last)
    place = rows.column_names.index("proba_fear")
    bad = rows["proba_fear"].to_numpy().copy()
    bad[33] = np.nan
    strange = [["rage"] if row == 7 else given for row, given in enumerate(rows["truth"].to_pylist())]
    lists = ("--truth", "truth", "--scores", "proba_*")
    for changed, asked, reported in (
        (rows.set_column(place, "proba_fear", pa.array(bad)), ("--truth", "true_*"), "row 33"),
        (rows.drop_columns(["proba_fear"]), ("--truth", "true_*"), "has no column 'proba_fear'"),
        (rows.set_column(rows.column_names.index("truth"), "truth", pa.array(strange)), lists, "rage"),
    ):
        pq.write_table(changed, last)
        page = tmp_path / "page.html"
        tight = ("--set", "memory=1KB", "-o", str(page))
        labels = ("--labels", ",".join(LABELS), "--scores", "proba_*")
        done = run(capsys, "report", str(many), *asked, *labels, *tight)
        assert done.code == 5, done.err
        assert "part-3.parquet" in done.err and reported in done.err
        assert sorted(path.name for path in tmp_path.iterdir()) == ["parts", "whole.parquet"]


def test_a_gate_passes_over_labels_that_stream(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, many = parts(labelled(), tmp_path, ".parquet")
    asked = ("--truth", "true_*", "--scores", "proba_*", "--set", "resamples=100")
    for rule, code in (("roc_auc_macro > 0.5", 0), ("roc_auc_macro > 0.999", 1)):
        assert (
            run(capsys, "check", str(many), *asked, "--require", rule, "--test-on", "estimate").code == code
        )


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.integers(1, 4), st.integers(1, 30), st.booleans())
def test_tables_of_labels_tell_what_their_matrix_tells(
    seed: int, n: int, size: int, levels: int, tight: bool
) -> None:
    """Ties within and between labels, labels that no row or every row carries, pieces of few scores."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(-levels, levels, (n, size)) / levels
    truth = rng.random((n, size)) < rng.choice([0.0, 0.3, 1.0], size)
    space, held = Multilabel(LABELS[:size]), ClassScores(scores, truth, None)
    with pytest.MonkeyPatch.context() as patch:
        if tight:
            patch.setattr("evalreport.features.large.second_pass.PIECE", 4)
            patch.setattr("evalreport.features.large.second_pass.STRIDE", 2)
        stream = LabelStream(space, Budget())
        for part in np.array_split(np.arange(n), 3):
            if len(part):
                stream.add(predictions(space, truth[part], scores=Decisions(scores[part])))
        found = stream.scores()
        found.pooled_table()
    at = np.unique(rng.integers(-levels, levels, 5) / levels)
    stream.prepare_second_pass(np.arange(n))
    stream.place(predictions(space, truth, scores=Decisions(scores)))
    for name in ("roc_auc", "positives", "pairs"):
        np.testing.assert_array_equal(getattr(found.rankings, name), getattr(held.rankings, name))
    np.testing.assert_allclose(found.rankings.average_precision, held.rankings.average_precision, rtol=1e-12)
    both = zip(found.rankings.tables, held.rankings.tables, strict=True)
    pooled = (
        (found.pooled_table(), held.pooled_table()),
        (found.pooled_merged_table(), held.pooled_merged_table()),
    )
    for one, other in (*both, *pooled):
        for name in ("scores", "pos", "neg"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    np.testing.assert_allclose(found.pooled_areas, held.pooled_areas, rtol=1e-12)
    np.testing.assert_array_equal(found.wholly_right(at), held.wholly_right(at))
    np.testing.assert_array_equal(found.take(np.arange(n)).scores, scores)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(0, 40))
def test_moments_of_any_split_tell_how_the_rows_vary(seed: int, n: int, cut: int) -> None:
    rng = np.random.default_rng(seed)
    truth, given_ = rng.random((n, 3)) < 0.4, rng.random((n, 3)) < 0.5
    slopes = rng.normal(size=(9, 2))
    moves = np.hstack([truth, given_, truth & given_]) @ slopes
    some = LabelMoments.from_flags(truth[:cut], given_[:cut]) + LabelMoments.from_flags(
        truth[cut:], given_[cut:]
    )
    np.testing.assert_allclose(some.variation(slopes), n * moves.var(axis=0), rtol=1e-9, atol=1e-9)
    swapped, left, added = some.count_swaps()
    wrong = truth & ~given_, given_ & ~truth
    np.testing.assert_array_equal(swapped, wrong[0].T.astype(int) @ wrong[1].astype(int))
    np.testing.assert_array_equal(np.stack([left, added]), [one.sum(axis=0) for one in wrong])

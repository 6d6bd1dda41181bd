"""Several labels per row as a stream: what the engine in memory gives of the same rows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import evalreport as er
from evalreport.errors import UsageError
from evalreport.facts.moments import LabelMoments
from evalreport.sources.datasets import data_set
from evalreport.sources.request import Columns
from evalreport.sources.stream_columns import open_stream
from tests.engines.test_stream import FEW, parts
from tests.engines.test_stream_classes import agree

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
    plain = labelled().drop_columns([f"proba_{label}" for label in LABELS])
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


def test_scores_of_several_labels_per_row_are_refused_with_what_helps(tmp_path: Path) -> None:
    _, many = parts(labelled(), tmp_path, ".parquet")
    with pytest.raises(UsageError, match="there are scores of several labels per row") as caught:
        er.evaluate_files(many, truth="true_*", scores="proba_*", **FEW)
    assert "--engine memory" in caught.value.fix


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(0, 40))
def test_moments_of_any_split_tell_how_the_rows_vary(seed: int, n: int, cut: int) -> None:
    rng = np.random.default_rng(seed)
    truth, given_ = rng.random((n, 3)) < 0.4, rng.random((n, 3)) < 0.5
    slopes = rng.normal(size=(9, 2))
    moves = np.hstack([truth, given_, truth & given_]) @ slopes
    some = LabelMoments.of(truth[:cut], given_[:cut]) + LabelMoments.of(truth[cut:], given_[cut:])
    np.testing.assert_allclose(some.variation(slopes), n * moves.var(axis=0), rtol=1e-9, atol=1e-9)
    swapped, left, added = some.swapped()
    wrong = truth & ~given_, given_ & ~truth
    np.testing.assert_array_equal(swapped, wrong[0].T.astype(int) @ wrong[1].astype(int))
    np.testing.assert_array_equal(np.stack([left, added]), [one.sum(axis=0) for one in wrong])

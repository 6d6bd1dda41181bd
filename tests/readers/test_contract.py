"""One contract over all formats: the same table is the same predictions, whatever file it comes in."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evalreport.columns.column_request import Columns
from evalreport.columns.find_columns import Found, find_in_files, to_predictions
from evalreport.data.labels import Binary, LabelSpace, Multiclass, Multilabel
from evalreport.readers.formats import read_table
from tests.readers.writers import ARRAYS, DELIMITED, WRITERS, Data


@dataclass(frozen=True)
class Case:
    data: Data
    space: LabelSpace
    y_true: Any
    y_pred: Any = None
    scores: Any = None
    kind: str | None = None
    request: Columns = field(default_factory=Columns)
    not_in: tuple[str, ...] = ()


CASES = {
    "binary, one score": Case(
        {"example_id": ["a", "b", "c"], "y_true": ["ham", "spam", "ham"], "score": [0.25, 0.75, 0.5]},
        Binary("ham", "spam"),
        ["ham", "spam", "ham"],
        scores=[0.25, 0.75, 0.5],
        kind="probability",
    ),
    "binary, numbers, predictions and logits": Case(
        {"target": [1, 0, 1], "prediction": [1, 1, 0], "logit": [2.5, 0.5, -3.0]},
        Binary(0, 1),
        [1, 0, 1],
        [1, 1, 0],
        [2.5, 0.5, -3.0],
        "logit",
    ),
    "binary, truth values": Case(
        {"label": [True, False, True], "p_True": [0.5, 0.25, 1.0]},
        Binary(False, True),
        [True, False, True],
        scores=[0.5, 0.25, 1.0],
        kind="probability",
    ),
    "binary, a column for each label": Case(
        {"y_true": [0, 1], "proba_1": [0.25, 0.5], "proba_0": [0.75, 0.5]},
        Binary(0, 1),
        [0, 1],
        scores=[[0.75, 0.25], [0.5, 0.5]],
        kind="probability",
    ),
    "multiclass, a column for some labels": Case(
        {
            "y_true": ["a", "b", "c", "ü"],
            "y_pred": ["a", "a", "a", "b"],
            "proba_b": [0.25, 0.5, 0.125, 0.75],
            "proba_a": [0.75, 0.5, 0.875, 0.25],
        },
        Multiclass(["a", "b", "c", "ü"]),
        ["a", "b", "c", "ü"],
        ["a", "a", "a", "b"],
        [[0.75, 0.25, 0, 0], [0.5, 0.5, 0, 0], [0.875, 0.125, 0, 0], [0.25, 0.75, 0, 0]],
        "probability",
    ),
    "multiclass, declared order, margins": Case(
        {"y": ["lo", "hi", "mid"], "m lo": [3.0, -2, 1], "m mid": [0.0, 1, 2], "m hi": [0.5, 7, 0]},
        Multiclass(["lo", "mid", "hi"]),
        ["lo", "hi", "mid"],
        scores=[[3, 0, 0.5], [-2, 1, 7], [1, 2, 0]],
        kind="decision",
        request=Columns(truth="y", scores="m *", score_kind="decision", labels=("lo", "mid", "hi")),
    ),
    "multilabel, indicators": Case(
        {
            "true_joy": [1, 0, 1],
            "true_fear": [0, 0, 1],
            "pred_fear": [0, 1, 1],
            "pred_joy": [1, 0, 0],
            "logit_joy": [1.5, -1, 0],
            "logit_fear": [0.5, -0.5, 2],
        },
        Multilabel(["joy", "fear"]),
        [[True, False], [False, False], [True, True]],
        [[True, False], [False, True], [False, True]],
        [[1.5, 0.5], [-1, -0.5], [0, 2]],
        "logit",
    ),
    "multilabel, lists": Case(
        {"labels": [["joy", "fear"], [], ["joy"]], "predicted": [["fear"], ["anger"], []]},
        Multilabel(["anger", "fear", "joy"]),
        [[False, True, True], [False, False, False], [False, False, True]],
        [[False, True, False], [True, False, False], [False, False, False]],
        not_in=ARRAYS,
    ),
}


def request_for(case: Case, path: Path) -> Columns:
    is_lists = any(isinstance(value, list) for column in case.data.values() for value in column)
    if is_lists and path.suffix in DELIMITED:
        return Columns(list_separator="/" if path.suffix == ".txt" else "|")
    return case.request


def read(case: Case, path: Path) -> Found:
    if path.suffix in case.not_in:
        pytest.skip("arrays hold no lists")
    WRITERS[path.name](path, case.data)
    return find_in_files(path, request_for(case, path))


@pytest.mark.parametrize("file_name", WRITERS)
@pytest.mark.parametrize("name", CASES)
def test_every_format_gives_the_same(name: str, file_name: str, tmp_path: Path) -> None:
    case = CASES[name]
    found = read(case, tmp_path / file_name)
    assert found.space == case.space
    assert found.y_true.tolist() == case.y_true
    assert (None if found.y_pred is None else found.y_pred.tolist()) == case.y_pred
    assert (None if found.scores is None else found.scores.tolist()) == case.scores
    assert found.score_kind == case.kind
    assert len(to_predictions(found)) == len(case.y_true)


@pytest.mark.parametrize("file_name", WRITERS)
def test_what_goes_with_the_rows(file_name: str, tmp_path: Path) -> None:
    data: Data = {
        "y_true": [0, 1, 1],
        "score": [0.25, 0.5, 0.75],
        "user": ["u1", "u2", "u1"],
        "site": [3, 3, 4],
        "sample_weight": [1.0, 2.5, 0.0],
        "note": ["one, two", 'say "hi"', "line\nbreak" if file_name != "windows.csv" else "line"],
        "case": ["x", "y", "z"],
        "other": [1, 2, 3],
    }
    WRITERS[file_name](tmp_path / file_name, data)
    request = Columns(group="user", slices=("site",), example_text="note", id="case")
    found = find_in_files(tmp_path / file_name, request)
    assert found.groups is not None and found.groups.tolist() == data["user"]
    assert found.slices["site"].tolist() == data["site"]
    assert found.weights is not None and found.weights.tolist() == data["sample_weight"]
    assert found.example_texts is not None and found.example_texts.tolist() == data["note"]
    assert found.ids is not None and found.ids.tolist() == data["case"]
    assert found.unused == ("other",)
    assert dict(found.taken) == {
        "truth": "y_true",
        "score": "score",
        "score kind": "probability",
        "id": "case",
        "group": "user",
        "weight": "sample_weight",
        "slice": "site",
        "example text": "note",
        "task": "binary",
        "positive": "1",
    }
    predictions = to_predictions(found)
    np.testing.assert_allclose(predictions.weights / predictions.weights[0], data["sample_weight"])
    assert predictions.texts == data["note"]
    assert predictions.slices["site"].values == ("3", "4")


@pytest.mark.parametrize("file_name", [name for name in WRITERS if not name.endswith(ARRAYS)])
def test_gaps_keep_their_row(file_name: str, tmp_path: Path) -> None:
    data: Data = {
        "y_true": ["a", None, "b"],
        "n": [1, None, 3],
        "score": [0.5, 0.25, None],
        "flag": [True, None, False],
    }
    WRITERS[file_name](tmp_path / file_name, data)
    table = read_table(tmp_path / file_name)
    assert table.columns["y_true"].tolist() == ["a", None, "b"]
    assert np.isnan(table.columns["n"]).tolist() == [False, True, False]
    assert np.isnan(table.columns["score"]).tolist() == [False, False, True]
    assert table.columns["flag"].tolist() == [True, None, False]


@pytest.mark.parametrize("file_name", WRITERS)
def test_the_digest_is_of_the_bytes_and_arrays_are_read_only(file_name: str, tmp_path: Path) -> None:
    path = tmp_path / file_name
    WRITERS[file_name](path, {"y_true": [0, 1], "text": ["a", "b"]})
    table = read_table(path)
    assert table.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert table.n == 2
    assert table.source == str(path)
    with pytest.raises(ValueError, match="read-only"):
        table.columns["y_true"][0] = 1


@pytest.mark.parametrize("file_name", WRITERS)
def test_only_wanted_columns_are_read(file_name: str, tmp_path: Path) -> None:
    path = tmp_path / file_name
    WRITERS[file_name](path, {"a": [1, 2], "a.b": [3, 4], "c": ["x", "y"]})
    table = read_table(path, columns=lambda names: [name for name in names if name != "a.b"])
    assert list(table.columns) == ["a", "c"]
    assert table.names == ("a", "a.b", "c")
    assert list(read_table(path, columns=lambda names: names[1:2]).columns) == ["a.b"]

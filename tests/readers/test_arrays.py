"""NPZ and NPY: matrices, label names, codes and the batch axis."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evalreport.columns.column_request import Columns
from evalreport.columns.find_columns import Found, find_in_files, to_predictions
from evalreport.core.errors import DataError, UsageError
from evalreport.data.labels import Binary, Multiclass, Multilabel
from evalreport.data.scores import Probabilities

RNG = np.random.default_rng(0)
THREE = RNG.dirichlet(np.ones(3), size=6).astype(np.float32)


@pytest.fixture
def found(tmp_path: Path) -> Any:
    def read(request: Columns | None = None, **arrays: Any) -> Found:
        np.savez(tmp_path / "p.npz", **arrays)
        return find_in_files(tmp_path / "p.npz", request)

    return read


def test_a_matrix_of_scores_with_label_names(found: Any) -> None:
    result = found(
        y_true=np.array(["a", "b", "c", "a", "b", "c"]),
        proba=THREE,
        labels=np.array(["c", "a", "b"]),
        ids=np.arange(6),
        weights=np.ones(6),
        groups=np.array(list("xxyyzz")),
    )
    assert result.space == Multiclass(["c", "a", "b"])
    assert result.scores.dtype == np.float32
    assert np.array_equal(result.scores, THREE)
    assert dict(result.taken) == {
        "truth": "y_true",
        "scores": "proba[*] (3 columns)",
        "score kind": "probability",
        "id": "ids",
        "group": "groups",
        "weight": "weights",
        "task": "multiclass, 3 labels",
    }
    assert result.groups.tolist() == list("xxyyzz")


@pytest.mark.parametrize("code", [np.int8, np.uint8, np.int64])
def test_codes_stand_for_the_named_labels(found: Any, code: Any) -> None:
    result = found(
        y_true=np.array([0, 2, 1], dtype=code),
        y_pred=np.array([0, 1, 1], dtype=code),
        labels=np.array(["lo", "mid", "hi"]),
    )
    assert result.y_true.tolist() == ["lo", "hi", "mid"]
    assert result.y_pred.tolist() == ["lo", "mid", "mid"]
    assert result.space == Multiclass(["lo", "mid", "hi"])


def test_codes_outside_the_labels(found: Any) -> None:
    with pytest.raises(DataError, match="y_true holds 1 code outside the 3 labels") as caught:
        found(y_true=np.array([0, 3, 1]), y_pred=np.array([0, 0, 0]), labels=np.array(["a", "b", "c"]))
    assert "first: row 1, 3" in caught.value.where


def test_columns_without_names_are_numbered(found: Any) -> None:
    result = found(y_true=np.array([0, 1, 2, 0, 1, 2]), logits=THREE)
    assert result.space == Multiclass([0, 1, 2])
    assert result.score_kind == "logit"


def test_text_labels_need_names_of_the_columns(found: Any) -> None:
    truth = np.array(list("abcabc"))
    with pytest.raises(DataError, match="no score column belongs to a label that occurs") as caught:
        found(y_true=truth, proba=THREE)
    assert "labels" in caught.value.fix
    assert found(Columns(labels=("a", "b", "c")), y_true=truth, proba=THREE).space == Multiclass("abc")


def test_scores_for_two_labels_or_one(found: Any) -> None:
    both = np.array([[0.75, 0.25], [0.5, 0.5]])
    two = found(y_true=np.array([0, 1]), scores=both)
    assert two.space == Binary(0, 1)
    scores = to_predictions(two).scores
    assert isinstance(scores, Probabilities)
    assert scores.values.tolist() == [0.25, 0.5]
    one = found(y_true=np.array([0, 1]), scores=both[:, 1:])
    assert one.scores.tolist() == [0.25, 0.5]


def test_multilabel_matrices(found: Any) -> None:
    truth = RNG.integers(0, 2, (6, 3))
    result = found(y_true=truth, y_pred=truth, scores=THREE, labels=np.array(["x", "y", "z"]))
    assert result.space == Multilabel(["x", "y", "z"])
    assert np.array_equal(result.y_true, truth.astype(bool))
    assert np.array_equal(result.y_pred, truth.astype(bool))
    assert np.array_equal(result.scores, THREE)


def test_a_declared_batch_axis_is_flattened_to_rows(found: Any) -> None:
    flat: dict[str, Any] = {"y_true": RNG.integers(0, 2, (6, 3)), "probs": THREE, "ids": np.arange(6)}
    expected = found(**flat)
    batched = {name: array.reshape(2, 3, *array.shape[1:]) for name, array in flat.items()}
    result = found(Columns(batch_axis=True), **batched)
    assert np.array_equal(result.y_true, expected.y_true)
    assert np.array_equal(result.scores, expected.scores)
    assert result.ids.tolist() == list(range(6))
    with pytest.raises(DataError, match=r"has shape \(2, 3, 3\); expected \[n\] or \[n, labels\]") as caught:
        found(**batched)
    assert caught.value.fix == "if the first axis is a batch, pass --set batch_axis"
    with pytest.raises(DataError, match=r"'ids' has shape|unequal"):
        found(Columns(batch_axis=True, id="ids"), **{**batched, "ids": np.arange(6)})


def test_batches_of_single_labels(found: Any) -> None:
    truth = RNG.integers(0, 3, (2, 3))
    result = found(Columns(batch_axis=True), y_true=truth, logits=THREE.reshape(2, 3, 3))
    assert result.y_true.tolist() == truth.ravel().tolist()
    assert np.array_equal(result.scores, THREE)


def test_arrays_of_unequal_length(found: Any) -> None:
    with pytest.raises(DataError, match="unequal numbers of rows") as caught:
        found(y_true=np.zeros(6, dtype=int), y_pred=np.zeros(5, dtype=int))
    assert "y_true (6,), y_pred (5,)" in caught.value.where


def test_more_names_than_columns(found: Any) -> None:
    with pytest.raises(DataError, match="array 'proba' has 3 columns and there are 2 labels"):
        found(y_true=np.arange(6) % 3, proba=THREE, labels=np.array(["a", "b"]))


def test_two_arrays_of_scores(found: Any) -> None:
    with pytest.raises(UsageError, match="2 sets of scores could be meant: proba"):
        found(y_true=np.arange(6) % 3, proba=THREE, logits=THREE)
    result = found(Columns(score="proba"), y_true=np.arange(6) % 3, proba=THREE, logits=THREE)
    assert result.score_kind == "probability"


def test_bytes_are_text(found: Any) -> None:
    assert found(y_true=np.array([b"a", b"b"]), y_pred=np.array([b"a", b"a"])).space == Binary("a", "b")
    with pytest.raises(DataError, match="not whole UTF-8"):
        found(y_true=np.array([b"\xff", b"b"]), y_pred=np.array([b"a", b"a"]))


def test_arrays_of_other_types(found: Any) -> None:
    with pytest.raises(DataError, match="dtype complex128"):
        found(y_true=np.array([1j, 2j]), y_pred=np.array([1, 1]))


def test_one_array_with_truth_in_another_file(tmp_path: Path) -> None:
    np.save(tmp_path / "scores.npy", THREE)
    np.save(tmp_path / "truth.npy", np.arange(6) % 3)
    result = find_in_files(tmp_path / "scores.npy", truth=tmp_path / "truth.npy")
    assert dict(result.taken)["joined"] == "rows by their order"
    assert result.space == Multiclass([0, 1, 2])
    assert np.array_equal(result.scores, THREE)  # type: ignore[arg-type]
    np.save(tmp_path / "labels.npy", np.arange(6) % 2)
    decided = find_in_files(tmp_path / "labels.npy", truth=tmp_path / "truth.npy")
    assert decided.y_pred is not None
    np.save(tmp_path / "truth.npy", np.arange(5) % 3)
    with pytest.raises(DataError, match=r"scores\.npy has 6 rows and the true labels in truth\.npy have 5"):
        find_in_files(tmp_path / "scores.npy", truth=tmp_path / "truth.npy")


def test_fortran_order_and_half_floats(found: Any) -> None:
    scores = np.asfortranarray(THREE.astype(np.float16))
    result = found(Columns(score_kind="decision"), y_true=np.arange(6) % 3, scores=scores)
    assert np.array_equal(result.scores, scores)

"""The data that ship with the project: what is found in them, and that they stay small."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evalreport.columns.column_request import Columns, read_labels
from evalreport.columns.find_columns import find_in_files, to_predictions
from evalreport.core.errors import ColumnNotFoundError, DataError, UsageError
from evalreport.data.labels import Binary, Multiclass, Multilabel
from evalreport.data.scores import Probabilities

DATA = Path(__file__).parents[2] / "examples" / "data"
BANKING = DATA / "banking77"
EMOTIONS = DATA / "goemotions"


def test_the_data_stay_under_six_megabytes_and_say_where_they_come_from() -> None:
    files = [path for path in DATA.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 6_000_000
    for folder in (path for path in DATA.iterdir() if path.is_dir()):
        text = (folder / "ORIGIN.md").read_text(encoding="utf-8")
        assert "Origin:" in text
        assert "Licence:" in text
        for path in folder.iterdir():
            assert path.name == "ORIGIN.md" or path.name in text, path.name


def test_multiclass_probabilities() -> None:
    found = find_in_files(BANKING / "pred_tfidf_lr.parquet")
    assert isinstance(found.space, Multiclass)
    assert len(found.space) == 77
    assert found.scores is not None
    assert found.scores.dtype == np.float32
    assert found.taken == (
        ("truth", "y_true"),
        ("prediction", "y_pred"),
        ("scores", "proba_* (77 columns)"),
        ("score kind", "probability"),
        ("id", "example_id"),
        ("task", "multiclass, 77 labels"),
    )
    assert found.unused == ()
    p = to_predictions(found)
    assert isinstance(p.scores, Probabilities)
    assert p.y_pred is not None
    assert np.mean(p.y_true == p.y_pred) == pytest.approx(0.8906, abs=5e-5)
    assert np.mean(p.scores.values.argmax(axis=1) == p.y_pred) == 1


def test_scores_for_six_of_seventy_seven_labels() -> None:
    found = find_in_files(BANKING / "pred_collapsed6.parquet")
    assert found.scores is not None
    assert found.scores.shape == (3080, 77)
    assert (found.scores.max(axis=0) > 0).sum() == 6
    assert found.notes[0].startswith("71 labels without a score column, probability 0 assumed: ")
    p = to_predictions(found)
    assert np.mean(p.y_true == p.y_pred) == pytest.approx(0.0756, abs=5e-5)


def test_the_answers_of_a_language_model() -> None:
    labels = read_labels(f"@{BANKING / 'labels.json'}")
    found = find_in_files(BANKING / "llm_generations.jsonl", Columns(labels=labels, example_text="text"))
    assert found.space == Multiclass(labels)
    assert dict(found.taken)["text"] == "generation"
    assert found.text is not None
    assert found.text[0] == "ORDER_PHYSICAL_CARD"
    assert found.y_pred is None
    assert found.example_texts is not None
    assert found.example_texts[0] == "How do I locate my card?"


def test_truth_from_another_file_joined_by_id() -> None:
    own = find_in_files(BANKING / "pred_tfidf_lr.parquet")
    found = find_in_files(BANKING / "pred_tfidf_lr.parquet", truth=BANKING / "test.csv")
    assert dict(found.taken)["truth"] == "label"
    assert dict(found.taken)["joined"] == "rows by example_id"
    assert found.y_true.tolist() == own.y_true.tolist()
    assert [table.name for table in found.files] == ["pred_tfidf_lr.parquet", "test.csv"]


def test_the_key_of_the_answers_has_gaps() -> None:
    with pytest.raises(DataError, match="intended_label is missing for 212 rows") as caught:
        find_in_files(
            BANKING / "llm_generations_key.csv", Columns(pred="intended_label"), truth=BANKING / "test.csv"
        )
    assert "first: row 21" in caught.value.where


def test_several_score_columns_are_never_chosen_among() -> None:
    path = DATA / "sms_spam" / "oof_scores.parquet"
    with pytest.raises(UsageError, match="score_lr, score_nb, score_rf, score_histgb") as caught:
        find_in_files(path)
    assert caught.value.fix == "say which with --score, as in --score score_lr"
    found = find_in_files(path, Columns(score="score_nb"))
    assert found.space == Binary("ham", "spam")
    assert found.unused == ("fold", "score_lr", "score_rf", "score_histgb")
    assert dict(found.taken)["positive"] == "spam"


def test_slices_of_machines() -> None:
    request = Columns(score="score_rf", slices=("product_type", "fold"))
    p = to_predictions(find_in_files(DATA / "ai4i_failure" / "oof_scores.parquet", request))
    assert p.space == Binary(0, 1)
    assert p.slices["product_type"].values == ("H", "L", "M")
    assert int(p.y_true.sum()) == 339


@pytest.mark.parametrize("part", ["dev", "test"])
def test_multilabel_truth_lives_in_another_file(part: str) -> None:
    scores = EMOTIONS / f"pred_{part}_ovr_lr_proba.parquet"
    with pytest.raises(ColumnNotFoundError, match="no column of true labels") as caught:
        find_in_files(scores)
    assert caught.value.fix == (
        "columns are: example_id, proba_* (28). Use --truth COLUMN, or --set truth_file=FILE"
    )
    found = find_in_files(scores, truth=EMOTIONS / f"y_true_{part}.parquet")
    assert found.space == Multilabel(read_labels(f"@{EMOTIONS / 'labels.json'}"))
    assert found.y_true.shape == (5426 + (part == "test"), 28)
    assert found.notes == ()


def test_truth_of_other_examples() -> None:
    with pytest.raises(DataError, match="the true label is missing for 5427 of 5427 rows") as caught:
        find_in_files(EMOTIONS / "pred_test_ovr_lr_proba.parquet", truth=EMOTIONS / "y_true_dev.parquet")
    assert "first: example_id 'eecwqtt'" in caught.value.where


def test_lists_of_names_are_the_indicator_matrix() -> None:
    lists = find_in_files(EMOTIONS / "pred_test_label_lists.jsonl.gz")
    joined = find_in_files(
        EMOTIONS / "pred_test_label_lists.jsonl.gz", truth=EMOTIONS / "y_true_test.parquet"
    )
    scores = find_in_files(
        EMOTIONS / "pred_test_ovr_lr_proba.parquet", truth=EMOTIONS / "y_true_test.parquet"
    )
    assert dict(lists.taken)["truth"] == "labels"
    order = [lists.space.names.index(name) for name in scores.space.names]
    assert np.array_equal(lists.y_true[:, order], scores.y_true)
    assert np.array_equal(joined.y_true, scores.y_true)
    assert lists.y_pred is not None
    assert scores.scores is not None
    assert np.array_equal(lists.y_pred[:, order], scores.scores >= 0.2)

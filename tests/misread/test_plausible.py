"""What contradicts a reading, column by column."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import evalreport as er
from evalreport.columns.label_pairs import LabelPairs
from evalreport.columns.plausible import (
    label_areas,
    refuse_constant,
    refuse_labels,
    refuse_order,
    refuse_quantities,
    refuse_reversed,
    refuse_several,
    several_evaluations,
)
from evalreport.core.errors import DataError

LABELS = [str(label) for label in range(12)]
TRUTH = np.array(LABELS * 6)


def test_scores_in_text_order_are_refused_by_the_true_labels() -> None:
    place = {label: position for position, label in enumerate(sorted(LABELS))}
    decided = np.array([LABELS[place[label]] for label in TRUTH])
    with pytest.raises(DataError, match="belongs to the true label in") as caught:
        refuse_order(LabelPairs.from_labels(TRUTH, decided), "p[*]", LABELS, given=False, places=True)
    assert caught.value.fix == f"pass the order of the scores, --labels {','.join(sorted(LABELS))}"
    refuse_order(LabelPairs.from_labels(TRUTH, TRUTH), "p[*]", LABELS, given=False, places=True)


def test_codes_from_0_beside_codes_from_1_are_refused() -> None:
    truth = np.arange(60) % 5
    with pytest.raises(DataError, match="with exchanged labels") as caught:
        refuse_labels(truth + 1, truth, "y")
    assert "--set label_names=1=0,2=1,3=2,4=3,5=4" in caught.value.fix
    refuse_labels(truth, (truth + 1) % 5 * (truth > 1) + truth * (truth <= 1), "y")


def numbers_by_chance(classes: int, rows: int, first: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    return first + rng.integers(0, classes, rows), first + rng.integers(0, classes, rows)


def test_many_whole_numbers_that_agree_only_by_chance_are_quantities() -> None:
    truth, predicted = numbers_by_chance(600, 1500, 20)
    with pytest.raises(DataError, match=r"looks like a quantity \(regression\)") as caught:
        refuse_quantities(truth, predicted, "y")
    assert "--set task=multiclass" in caught.value.fix
    refuse_quantities(truth, predicted, "y", scored=True)


@pytest.mark.parametrize(
    ("classes", "rows", "right", "first"),
    [
        (3_000, 9_000, 0.02, 1_000),  # agreement beyond chance
        (1_000, 6_000, 0.0, 1_000),  # several rows of each class
        (3_000, 6_000, 0.0, 0),  # codes from 0
        (9_000, 3_000, 0.0, 1_000),  # too few rows to tell
    ],
)
def test_thousands_of_classes_are_read_at_low_accuracy(
    classes: int, rows: int, right: float, first: int
) -> None:
    truth, predicted = numbers_by_chance(classes, rows, first)
    refuse_quantities(truth, np.where(np.arange(rows) < right * rows, truth, predicted), "y")


def test_a_constant_label_column_is_refused_unless_it_was_named() -> None:
    with pytest.raises(DataError, match="is a in every row"):
        refuse_constant("y", ["a"], 12, named=False)
    refuse_constant("y", ["a"], 12, named=True)
    refuse_constant("y", ["a", "b"], 12, named=False)


def test_reversed_scores_are_refused() -> None:
    truth = np.array(["a", "b"] * 40)
    scores = np.where(truth == "a", 0.8, 0.2)

    def read(values: np.ndarray) -> None:
        areas = label_areas(values, truth, ("a", "b"), None)
        refuse_reversed(areas, "s", ("a", "b"), of="true", plain=True)

    with pytest.raises(DataError, match="--positive a"):
        read(scores)
    read(1 - scores)


def test_scores_that_rank_every_label_last_are_refused() -> None:
    rng = np.random.default_rng(1)
    labels = ("a", "b", "c")
    codes = np.arange(90) % 3
    truth = np.array(labels)[codes]
    distances = rng.random((90, 3)) + 1.0 - np.eye(3)[codes]

    def read(scores: np.ndarray) -> None:
        pairs = LabelPairs.from_labels(truth, np.array(labels)[scores.argmax(axis=1)])
        refuse_reversed(label_areas(scores, truth, labels, pairs), "d_*", labels, of="true", plain=False)

    with pytest.raises(DataError, match="rank every true label last") as caught:
        read(distances)
    assert "--set no_scores" in caught.value.fix
    read(-distances)
    read(rng.random((90, 3)))


def test_two_columns_together_separate_evaluations() -> None:
    truth = np.tile(np.random.default_rng(0).integers(2, size=30), 4)
    columns = {
        "model": np.repeat(["m", "n"], 60),
        "temperature": np.tile(np.repeat([0, 1], 30), 2),
        "id": np.tile(np.arange(30), 4),
    }
    order = np.random.default_rng(2).permutation(120)
    columns, truth = {name: column[order] for name, column in columns.items()}, truth[order]
    found = several_evaluations(columns, truth)
    assert found is not None
    assert (found.columns, found.key) == (("model", "temperature"), "id")
    with pytest.raises(DataError, match="'model' and 'temperature' separate several evaluations") as caught:
        refuse_several(columns, truth, "a.csv", ())
    assert '--where "model=m" --where "temperature=0"' in caught.value.fix


def test_annotators_and_folds_are_not_several_evaluations() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=60)
    assert several_evaluations({"fold": np.arange(60) % 5, "id": np.arange(60)}, truth) is None
    twice = np.r_[truth, truth]
    columns = {"annotator": np.repeat(["x", "y"], 60), "id": np.tile(np.arange(60), 2)}
    assert several_evaluations(columns, np.r_[truth, rng.integers(2, size=60)]) is None
    found = several_evaluations(columns, twice)
    assert found is not None
    assert (found.columns, found.key) == (("annotator",), "id")


def test_pairs_of_labels_are_one_to_one() -> None:
    pairs = LabelPairs.from_labels(np.array([0, 0, 0, 1]), np.array(["x", "x", "y", "x"]))
    assert pairs is not None and pairs.best is not None
    assert pairs.names(pairs.best) == {"x": "0", "y": "1"}


def test_a_rare_label_makes_a_column_of_labels(tmp_path: Path) -> None:
    """One row of 60,000 has another label: a sample of the rows may not contain it."""
    truth = [0] * 60_000
    truth[33_333] = 1
    path = tmp_path / "rows.csv"
    path.write_text("y_true,y_pred\n" + "".join(f"{y},{y}\n" for y in truth), encoding="utf-8")
    assert er.evaluate_file(path, confidence=None).rows == 60_000


def test_rows_that_repeat_by_a_group_are_pooled_on_purpose() -> None:
    truth = np.tile(np.random.default_rng(0).integers(2, size=30), 2)
    case = np.tile(np.arange(30), 2)
    columns = {"text": 7 * case, "model": np.repeat(["m", "n"], 30), "id": case}
    assert several_evaluations(columns, truth, ["id"]) is None
    assert several_evaluations(columns, truth, ["model"]) is None
    assert several_evaluations(columns, truth, ["site"]) is not None


def test_the_fix_that_groups_by_example_is_accepted(tmp_path: Path) -> None:
    truth = np.random.default_rng(0).integers(2, size=30).tolist()
    rows = [f"{model},{case},text {case},{y},{y}" for case, y in enumerate(truth) for model in "mn"]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["model,case,text,y_true,y_pred", *rows, ""]), encoding="utf-8")
    with pytest.raises(DataError, match="'model' separates 2 evaluations") as caught:
        er.evaluate_file(path, confidence=None)
    assert 'group="case"' in caught.value.fix
    assert er.evaluate_file(path, group="case", confidence=None).rows == 60

"""Which columns may be scores: by name, by the labels that are known, and by their values."""

from __future__ import annotations

import numpy as np
import pytest

from evalreport.columns.column_request import Columns
from evalreport.columns.names import Part, named_scores, score_candidates

BINARY, THREE = ("benign", "malignant"), ("cat", "dog", "fox")


def parts(names: list[str], known: tuple[str, ...], *, single: bool = True) -> list[Part]:
    columns = dict.fromkeys(names, np.full(4, 1 / max(len(names), 1)))
    return score_candidates(columns, names, known, single=single, several=len(known) > 2)


@pytest.mark.parametrize(
    ("names", "known", "columns", "labels"),
    [
        (["score", "age"], BINARY, ("score",), ()),
        (["p_malignant", "age"], BINARY, ("p_malignant",), ("malignant",)),
        (["p_cat", "p_dog", "p_fox"], THREE, ("p_cat", "p_dog", "p_fox"), THREE),
        (["cat", "dog", "fox"], THREE, ("cat", "dog", "fox"), THREE),
    ],
)
def test_scores_are_found_by_their_names(
    names: list[str], known: tuple[str, ...], columns: tuple[str, ...], labels: tuple[str, ...]
) -> None:
    assert (columns, labels) in [(found.columns, found.labels) for found in parts(names, known)]


def test_columns_of_the_classes_alone_count_only_as_probabilities() -> None:
    columns = {name: np.full(4, 2.0) for name in THREE}
    assert score_candidates(columns, THREE, THREE, single=True, several=True) == []


def test_one_column_cannot_score_several_labels() -> None:
    assert parts(["score"], THREE, single=False) == []


def test_scores_that_the_user_names_are_taken() -> None:
    names = ["p_malignant", "risk"]
    assert named_scores(names, Columns(score="risk"), BINARY, "rows.csv").columns == ("risk",)

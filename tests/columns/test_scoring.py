"""Which columns hold the scores: by name, by the labels that are known, and what is asked about."""

from __future__ import annotations

import numpy as np
import pytest

from evalreport.columns.names import Part
from evalreport.columns.request import Columns
from evalreport.columns.single_label import score_part
from evalreport.core.errors import UsageError

BINARY, THREE = ("benign", "malignant"), ("cat", "dog", "fox")


def part(
    names: list[str], known: tuple[str, ...], request: Columns | None = None, *, single: bool = True
) -> Part | None:
    chances = np.full(4, 1 / max(len(names), 1))
    columns = dict.fromkeys(names, chances)
    return score_part(columns, names, request or Columns(), known, "rows.csv", single=single)


@pytest.mark.parametrize(
    ("names", "known", "columns", "labels"),
    [
        (["score", "age"], BINARY, ("score",), ()),
        (["p_malignant", "age"], BINARY, ("p_malignant",), ("malignant",)),
        (["p_cat", "p_dog", "p_fox"], THREE, ("p_cat", "p_dog", "p_fox"), THREE),
        (["cat", "dog", "fox"], THREE, ("cat", "dog", "fox"), THREE),
        (["age", "site"], BINARY, None, None),
    ],
)
def test_scores_are_found_by_their_names(
    names: list[str], known: tuple[str, ...], columns: tuple[str, ...] | None, labels: tuple[str, ...] | None
) -> None:
    found = part(names, known)
    assert (found and found.columns, found and found.labels) == (columns, labels)


def test_columns_of_the_classes_alone_count_only_as_probabilities() -> None:
    columns = {name: np.full(4, 2.0) for name in THREE}
    assert score_part(columns, THREE, Columns(), THREE, "rows.csv") is None


def test_one_column_cannot_score_several_labels() -> None:
    assert part(["score"], THREE, single=False) is None


def test_what_is_named_or_ruled_out_is_not_guessed() -> None:
    names = ["p_malignant", "risk"]
    named = part(names, BINARY, Columns(score="risk"))
    assert named is not None and named.columns == ("risk",)
    assert part(names, BINARY, Columns(no_scores=True)) is None


def test_two_sets_of_scores_are_asked_about() -> None:
    names = [f"{head}_{label}" for head in ("prob", "logit") for label in THREE]
    with pytest.raises(UsageError, match="2 sets of scores could be meant") as caught:
        part(names, THREE)
    assert "--scores" in caught.value.fix

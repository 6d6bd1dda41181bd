"""Duplicates and leakage, by id and by text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from evalreport.data.labels import Binary, Multiclass, Multilabel
from evalreport.data.predictions import Predictions, predictions
from evalreport.data.scores import Decisions, Probabilities
from evalreport.features.gate.check import TrainingRows, data_checks
from evalreport.features.gate.rules import CheckResult
from evalreport.features.text_labels.parser import make_parser, parse_all

SPACE = Binary("ham", "spam")


def rows(texts: Sequence[str] | None = None, ids: Sequence[str] | None = None, n: int = 4) -> Predictions:
    n = len(texts) if texts is not None else len(ids) if ids is not None else n
    return predictions(SPACE, ["ham", "spam"] * (n // 2), ["ham"] * n, ids=ids, texts=texts)


def found(checks: tuple[CheckResult, ...], name: str) -> CheckResult:
    (one,) = [check for check in checks if check.name == name]
    return one


def test_ids_that_repeat_fail_with_their_count() -> None:
    ids = ["a", "b", "a", "a", "b", "c"]
    again = found(data_checks(rows(ids=ids)), "ids")
    assert (again.outcome, again.value, again.shown) == ("failed", 2, "2 ids occur more than once")
    assert again.detail == "first: 'a' in rows 0 and 2"
    assert not found(data_checks(rows(ids=ids), named=False), "ids").detail
    assert found(data_checks(rows(ids=list("abcdef"))), "ids").outcome == "passed"


def test_what_the_door_has_refused_already_is_reported_with_counts() -> None:
    checks = data_checks(rows())
    assert [check.name for check in checks] == ["truth", "predictions"]
    assert {check.outcome for check in checks} == {"passed"}
    assert found(checks, "truth").shown == "4 rows, none missing; 2 of 2 labels occur"
    wide = predictions(
        Multiclass("abc"), ["a", "b"], scores=Probabilities(np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1]]))
    )
    assert found(data_checks(wide), "scores").shown == "none missing, all in [0, 1], sums to 1"
    assert found(data_checks(wide), "truth").shown == "2 rows, none missing; 2 of 3 labels occur"
    ranked = predictions(SPACE, ["ham", "spam"], scores=Decisions(np.array([-3.0, 4.0])))
    assert [check.name for check in data_checks(ranked)] == ["truth", "scores"]
    several = predictions(Multilabel("ab"), [["a"], []], [["a"], ["b"]])
    assert found(data_checks(several), "truth").shown == "2 rows, none missing; 1 of 2 labels occur"


def test_answers_that_could_not_be_read_are_counted() -> None:
    parsed = parse_all(["ham", "no idea", "spam"], make_parser("exact", SPACE.names))
    checks = data_checks(predictions(SPACE, ["ham", "spam", "spam"], parsed))
    assert "1 could not be read" in found(checks, "predictions").shown


def test_duplicate_texts_are_found_whatever_their_case_and_spaces() -> None:
    check = found(
        data_checks(rows(["Win  now", "hi", "win now ", "", "", "yo"], list("abcdef"))), "duplicate texts"
    )
    assert (check.outcome, check.value) == ("failed", 1.0)
    assert check.shown == "1 row with the text of an earlier row (id c)"
    assert "intervals too narrow" in check.detail
    assert found(data_checks(rows(["a", "b"])), "duplicate texts").outcome == "passed"


def test_duplicates_within_a_declared_group_are_known() -> None:
    base = {"y_true": ["ham", "spam"] * 2, "y_pred": ["ham"] * 4, "texts": ["a", "a", "b", "c"]}
    together = predictions(SPACE, **base, groups=[1, 1, 2, 3])  # type: ignore[arg-type]
    apart = predictions(SPACE, **base, groups=[1, 2, 3, 4])  # type: ignore[arg-type]
    assert found(data_checks(together), "duplicate texts").outcome == "passed"
    assert found(data_checks(apart), "duplicate texts").shown.endswith("(row 1)")


def test_leakage_by_id_names_the_first_ids() -> None:
    test = rows(ids=[str(number) for number in range(8)])
    check = found(data_checks(test, TrainingRows("train.csv", ids=["7", "1", "3", "5", "99"])), "leakage")
    assert (check.outcome, check.value) == ("failed", 4.0)
    assert check.shown == "4 rows of the test set also occur in train.csv (ids 1, 3, 5, …)"
    hidden = found(data_checks(test, TrainingRows("train.csv", ids=["7"]), named=False), "leakage")
    assert hidden.shown == "1 row of the test set also occurs in train.csv"


def test_leakage_by_text_does_not_need_ids() -> None:
    test = rows(["Call me", "b", "c", "d"])
    check = found(data_checks(test, TrainingRows("t", texts=["call  ME", "x", ""])), "leakage")
    assert (check.outcome, check.shown) == ("failed", "1 row of the test set also occurs in t (row 0)")
    assert check.detail == "compared by text (ignoring case and spaces)"


def test_either_proof_suffices_but_row_numbers_prove_nothing() -> None:
    test = rows(["a", "b", "c", "d"], ["1", "2", "3", "4"])
    both = TrainingRows("t", ids=["1", "2", "9"], texts=["a", "b, tidied", "d"])
    assert found(data_checks(test, both), "leakage").value == 3.0
    numbered = TrainingRows("t", ids=["1", "2", "3"], texts=["x", "y", "z"])
    check = found(data_checks(test, numbered), "leakage")
    assert (check.outcome, check.detail) == (
        "passed",
        "compared by text (ignoring case and spaces); both files number their rows, so ids do not count",
    )
    a_third = TrainingRows("t", ids=["1", "2", "3"], texts=["a", "y", "z"])
    assert found(data_checks(test, a_third), "leakage").value == 1.0


@pytest.mark.parametrize("train", [TrainingRows("t", ids=["1"]), TrainingRows("t", texts=["x"])])
def test_what_cannot_be_compared_is_not_called_clean(train: TrainingRows) -> None:
    check = found(data_checks(rows(), train), "leakage")
    assert check.outcome == "inconclusive"
    assert "--id" in check.detail

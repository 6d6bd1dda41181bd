"""Arrays and lists in Python are checked as files are."""

from __future__ import annotations

import pandas as pd
import pytest

import evalreport as er
from evalreport.core.errors import DataError


def test_lists_of_0_and_1_are_indicators() -> None:
    truth, told = [[0, 1, 1], [1, 0, 0], [0, 0, 1]], [[0, 1, 1], [1, 0, 1], [0, 0, 1]]
    found = er.evaluate(truth, told, confidence=None)
    assert found.task == "multilabel"
    assert found["subset_accuracy"].value == pytest.approx(2 / 3)


def test_labels_without_one_in_common_are_refused() -> None:
    with pytest.raises(DataError, match="no label in common"):
        er.evaluate(["a", "b", "a"], ["x", "y", "x"])


def test_several_evaluations_in_a_frame_are_refused() -> None:
    truth = list("abbabaabbbaaba")
    frame = pd.DataFrame({"model": ["m"] * 14 + ["n"] * 14, "y_true": truth * 2, "y_pred": truth * 2})
    with pytest.raises(DataError, match="'model' separates 2 evaluations"):
        er.evaluate(frame)
    assert er.evaluate(frame, where="model=m").rows == 14

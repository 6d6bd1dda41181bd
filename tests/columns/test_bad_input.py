"""Tables that do not say what they contain: a question with options that work, or the one right reading."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from evalreport.columns.column_request import Columns
from evalreport.core.errors import EvalreportError
from evalreport.data.predictions import Predictions
from tests.misread.generated import _read as read_bytes
from tests.misread.generated import ways

RNG = np.random.default_rng(8)
N = 240
NAMES = np.array(["oslo", "paris", "rome"])
K = RNG.integers(3, size=N)
Y = RNG.integers(2, size=N)
P = np.clip(0.3 * Y + 0.7 * RNG.random(N), 0, 1).round(4)
H = (P > 0.5).astype(int)
DAYS = pd.date_range("2026-01-01", periods=N).strftime("%Y-%m-%d")
MANY = RNG.integers(10_000, size=20_000)
GUESSED = np.where(RNG.random(20_000) < 0.2, RNG.integers(10_000, size=20_000), MANY)


def noisy(labels: Any, share: float) -> Any:
    return np.where(RNG.random(N) < share, RNG.permutation(labels), labels)


def gaps(values: Any) -> list[Any]:
    return [None if place % 20 == 0 else value for place, value in enumerate(values.tolist())]


G = noisy(K, 0.3)
WORSE = noisy(K, 0.4)
MODELS = ("lr", "nb", "rf", "svm", "knn", "mlp", "gb", "xgb", "lgb", "cat")
SCORES = {f"score_{name}": np.clip(P + RNG.normal(0, 0.1, N), 0, 1).round(4) for name in MODELS}
Table = dict[str, Any]

ASKED: dict[str, tuple[Table, int]] = {
    "two labels": ({"first": NAMES[K], "second": NAMES[noisy(K, 0.1)], "model_says": NAMES[G]}, 2),
    "two labels by their names": ({"gold_class": Y, "actual_class": noisy(Y, 0.1), "predicted": H}, 2),
    "two labels and a score": ({"diag_a": Y, "diag_b": noisy(Y, 0.1), "p": P}, 2),
    "two predictions": ({"y_true": NAMES[K], "pred_a": NAMES[G], "pred_b": NAMES[WORSE]}, 2),
    "two predictions by their contents": (
        {"species": NAMES[K], "knn": NAMES[G], "svm": NAMES[WORSE]},
        3,
    ),
    "a constant label": ({"label": ["oslo"] * N, "prediction": NAMES[K]}, 1),
    "ten scores beside a prediction": ({"y_true": Y, "y_pred": H, **SCORES}, 2),
    "ten scores": ({"y_true": Y, **SCORES}, 1),
    "a missing label": ({"y_true": gaps(NAMES[K]), "y_pred": NAMES[G]}, 1),
    "a missing prediction": ({"y_true": NAMES[K], "y_pred": gaps(NAMES[G])}, 1),
    "a missing score": ({"y_true": Y, "y_proba": gaps(P)}, 1),
    "cells of a confusion matrix": (
        {"true": ["a", "a", "b", "b"], "predicted": ["a", "b", "a", "b"], "count": [5, 1, 2, 9]},
        1,
    ),
}
READ: dict[str, tuple[Table, Any, Any]] = {
    "a constant prediction": ({"label": NAMES[K], "prediction": ["oslo"] * N}, K, K * 0),
    "constant columns beside": ({"version": [1] * N, "label": Y, "prediction": H, "batch": [0] * N}, Y, H),
    "ids like classes": ({"id": np.arange(N) % 3, "target": K, "pred": G}, K, G),
    "whole numbers like classes": ({"patient": np.arange(N) % 2, "y_true": Y, "y_pred": H}, Y, H),
    "dates": ({"date": DAYS, "label": Y, "prediction": H}, Y, H),
    "10,000 labels": ({"label": MANY, "prediction": GUESSED, "user": MANY[::-1]}, MANY, GUESSED),
}


def read(table: Table, request: Columns) -> Predictions:
    return read_bytes(pd.DataFrame(table).to_csv(index=False).encode(), "csv", request)


@pytest.mark.parametrize("name", ASKED)
def test_a_question_has_options_that_work(name: str) -> None:
    table, least = ASKED[name]
    with pytest.raises(EvalreportError) as caught:
        read(table, Columns())
    assert caught.value.fix and caught.value.exit_code in (2, 3, 5)
    working = 0
    for request in ways(caught.value.fix, Columns()):
        try:
            working += len(read(table, request)) > 0
        except EvalreportError:
            continue
    assert working >= least, caught.value.as_lines()


@pytest.mark.parametrize("name", READ)
def test_what_has_one_sensible_reading_is_read(name: str) -> None:
    table, label, prediction = READ[name]
    rows = read(table, Columns())
    assert rows.y_pred is not None
    assert float((rows.y_true == rows.y_pred).mean()) == pytest.approx(float((label == prediction).mean()))


@pytest.mark.parametrize(
    "table",
    [
        {"date": DAYS, "day": DAYS, "value": P},
        {"label": DAYS, "prediction": np.roll(DAYS, 1)},
        {"one": MANY, "two": GUESSED},
        {"sample": np.arange(N), "label": Y},
        {"y_true": NAMES[K], "y_pred": [None] * N},
        {"y_true": [None] * N, "y_pred": NAMES[K]},
        {"label": ["a"] * N, "prediction": ["a"] * N},
    ],
)
def test_what_has_no_sensible_reading_is_refused(table: Table) -> None:
    with pytest.raises(EvalreportError) as caught:
        read(table, Columns())
    assert caught.value.where and caught.value.fix and caught.value.exit_code in (2, 3, 5)

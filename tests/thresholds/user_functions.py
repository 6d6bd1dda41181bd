"""Objectives as a user would write them, named `module:function` in the tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def forgiving(truth: npt.NDArray[Any], predicted: npt.NDArray[Any]) -> float:
    """Share of rows with at most one wrong label and at least one right one."""
    wrong = (truth != predicted).sum(axis=1)
    return float(np.mean((wrong <= 1) & ((truth & predicted).sum(axis=1) > 0)))


def least_recall(truth: npt.NDArray[Any], answers: npt.NDArray[Any]) -> float:
    """Recall of the class with the least."""
    return float(min(np.mean(answers[truth == label] == label) for label in np.unique(truth)))


def broken(truth: npt.NDArray[Any], predicted: npt.NDArray[Any]) -> float:
    raise RuntimeError("no such thing")


def words(truth: npt.NDArray[Any], predicted: npt.NDArray[Any]) -> str:
    return "good"


def nothing(truth: npt.NDArray[Any], predicted: npt.NDArray[Any]) -> float:
    return float("nan")

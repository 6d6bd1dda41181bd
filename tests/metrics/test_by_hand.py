"""Worked by hand, in fractions: what a reader can check with a pencil."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from evalreport.intervals.curve_points import delong
from evalreport.metrics.averages import AreaAverage
from evalreport.metrics.probability_functions import brier, brier_reliability, brier_resolution
from evalreport.statistics.class_scores import ClassScores
from evalreport.statistics.score_table import ScoreTable


def test_delong_with_ties() -> None:
    """Positives 2, 3, 3 and negatives 1, 2, 3, a tie counting one half.

    Placements of positives: 1/2, 5/6, 5/6, of variance 1/27; of negatives: 1, 5/6, 1/3, of variance 13/108.
    Both have the mean 13/18; the variance is 1/81 + 13/324.
    """
    table = ScoreTable.from_scores(np.array([2.0, 3, 3, 1, 2, 3]), np.array([1, 1, 1, 0, 0, 0], bool))
    auc, variance = delong(table)
    assert auc == pytest.approx(float(Fraction(13, 18)), abs=1e-15)
    assert variance == pytest.approx(float(Fraction(17, 324)), abs=1e-15)


def test_hand_and_till() -> None:
    """Two rows of each of three classes: A(a|b) = 3/4 and A(b|a) = 7/8, all other pairs apart: M = 15/16."""
    tenths = [[6, 3, 1], [4, 4, 2], [5, 4, 1], [2, 7, 1], [1, 3, 6], [3, 2, 5]]
    scores = ClassScores(np.array(tenths) / 10, np.array([0, 0, 1, 1, 2, 2]), None)
    assert AreaAverage("roc_auc", "pairs")(scores) == pytest.approx(float(Fraction(15, 16)), abs=1e-15)


def test_murphy() -> None:
    """Said 1/5 to five rows, one positive, and 4/5 to ten, six positive: of 15 rows 7 are positive.

    Reliability (5 · 0 + 10 · 1/25) / 15 = 2/75; resolution (5 · (4/15)² + 10 · (2/15)²) / 15 = 8/225;
    uncertainty 56/225; Brier score 2/75 - 8/225 + 56/225 = 6/25.
    """
    table = ScoreTable(np.array([0.2, 0.8]), np.array([1.0, 6.0]), np.array([4.0, 4.0]))
    assert brier_reliability(table) == pytest.approx(float(Fraction(2, 75)), abs=1e-15)
    assert brier_resolution(table) == pytest.approx(float(Fraction(8, 225)), abs=1e-15)
    assert brier(table) == pytest.approx(float(Fraction(6, 25)), abs=1e-15)

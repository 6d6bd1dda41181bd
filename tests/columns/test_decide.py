"""The evidence of a pair of columns, and the decision between hypotheses."""

from __future__ import annotations

import numpy as np
import pytest

from evalreport.columns.column_request import Columns
from evalreport.columns.decide import AmbiguousColumnsError, decide
from evalreport.columns.evidence import agreement, pair_of, profile_of

RNG = np.random.default_rng(1)
Y = RNG.integers(3, size=90)
P = np.eye(3)[Y] * 2 + RNG.random((90, 3)) * 3
WORDS = np.array(["ham", "promo", "spam"], dtype=object)
TOP = WORDS[P.argmax(axis=1)]


def test_columns_that_agree_are_a_pair_and_unrelated_ones_are_not() -> None:
    truth, other = profile_of("a", WORDS[Y]), profile_of("c", WORDS[RNG.permutation(Y)])
    pair, unrelated = pair_of(truth, profile_of("b", TOP)), pair_of(truth, other)
    assert pair is not None and agreement(pair).weight > 2
    assert unrelated is not None and agreement(unrelated).weight < 0


def test_scores_prove_which_column_is_the_prediction() -> None:
    columns = {"label": TOP, "topic": WORDS[Y], "scores": P / P.sum(axis=1, keepdims=True)}
    best = decide(columns, Columns(), "rows.csv")
    assert best is not None and best.key == ("topic", "label")
    with pytest.raises(AmbiguousColumnsError) as caught:
        decide({"label": TOP, "topic": WORDS[Y]}, Columns(), "rows.csv")
    assert "--truth topic --pred label" in caught.value.fix

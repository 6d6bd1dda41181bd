"""One column of scores that the user names: its name declares the kind, and three labels need more."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from evalreport.columns.column_request import Columns
from evalreport.columns.find_columns import Found, find
from evalreport.core.errors import DataError
from evalreport.data.scores import ScoreKind
from evalreport.readers.formats import RawTable

RNG = np.random.default_rng(5)
Y = RNG.integers(2, size=80)
Z = RNG.normal(size=80) + 2.0 * Y - 1.0


def read(name: str, request: Columns, labels: int = 2) -> Found:
    true = np.where(np.arange(80) % labels == 2, 2, Y)
    columns = {"y_true": true, "answer": (Z > 0).astype(np.int64), name: Z}
    frame = pd.DataFrame(columns)
    made = {str(one): frame[one].to_numpy() for one in frame}
    return find(RawTable(made, 80, "p.csv", "", "csv", tuple(made)), request)


@pytest.mark.parametrize(("name", "kind"), [("margin", "decision"), ("logit", "logit")])
def test_the_name_of_a_named_column_declares_its_kind(name: str, kind: ScoreKind) -> None:
    found = read(name, Columns(score=name))
    assert found.score_kind == kind == read(name, Columns()).score_kind
    assert dict(found.taken)["prediction"] == "answer"


def test_a_name_without_a_kind_is_asked_about() -> None:
    with pytest.raises(DataError, match=r"outside \[0, 1\]") as caught:
        read("points", Columns(score="points"))
    assert "--score-kind" in caught.value.fix


def test_one_score_for_three_labels_can_be_left_out() -> None:
    with pytest.raises(DataError, match="one score column cannot rank 3 labels") as caught:
        read("margin", Columns(score="margin"), labels=3)
    assert caught.value.fix.endswith("leave the option for the scores out")
    assert read("margin", Columns(), labels=3).scores is None

"""Facts of shards add up, and nothing is lost on the way."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from evalreport.core.errors import DataError
from evalreport.data.labels import Binary
from evalreport.data.predictions import predictions
from evalreport.data.scores import Probabilities
from evalreport.statistics.class_scores import ClassScores
from evalreport.statistics.score_table import ScoreTable
from evalreport.statistics.summary import AGREEING, SUMS, RowSums, Summary, merge, summarise
from tests import factories


@pytest.mark.parametrize("make", [factories.binary, factories.multiclass, factories.multilabel])
def test_shards_in_any_number_are_the_whole(make: object) -> None:
    p = make()  # type: ignore[operator]
    whole = summarise(p)
    shards = [summarise(p.take(rows)) for rows in np.array_split(np.arange(len(p)), 7)]
    found = merge(shards)
    assert (found.rows, found.weight) == (whole.rows, whole.weight)
    assert found.tally.sums == pytest.approx(whole.tally.sums, rel=1e-12)
    assert found.threshold == whole.threshold
    if isinstance(whole.scores, ScoreTable) and isinstance(found.scores, ScoreTable):
        assert (found.scores.pos == whole.scores.pos).all()
    if isinstance(whole.scores, ClassScores) and isinstance(found.scores, ClassScores):
        assert (found.scores.scores == whole.scores.scores).all()


def test_every_field_is_either_summed_or_compared() -> None:
    assert {*AGREEING, *SUMS, "rows", "weight"} == {one.name for one in fields(Summary)}


def test_a_fact_that_one_shard_lacks_is_not_dropped() -> None:
    whole = summarise(factories.binary())
    with pytest.raises(DataError, match="shard 2 has no scores, and others have"):
        merge([whole, replace(whole, scores=None)])
    with pytest.raises(DataError, match="the shards have different row sums: loss"):
        merge([whole, replace(whole, tally=RowSums.from_rows({"loss": np.ones(3)}, np.ones(3)))])


@pytest.mark.parametrize("change", [{"score_kind": "decision"}, {"space": Binary("a", "b")}])
def test_shards_of_other_things_do_not_add_up(change: dict[str, object]) -> None:
    whole = summarise(factories.binary())
    with pytest.raises(DataError, match="shards 1 and 3 differ in"):
        merge([whole, whole, replace(whole, **change)])  # type: ignore[arg-type]


def test_answers_that_agree_with_one_half_in_one_shard_only_have_no_threshold() -> None:
    def shard(answers: list[int]) -> Summary:
        return summarise(predictions(Binary(0, 1), [0, 1], answers, Probabilities([0.2, 0.9])))

    assert (shard([0, 1]) + shard([0, 0])).threshold is None
    agreed = (shard([0, 1]) + shard([0, 1])).threshold
    assert agreed is not None and agreed.origin == "predictions"


def test_the_cost_of_many_shards_is_linear() -> None:
    """One copy of the rows, however many the shards: adding one by one would copy them again each time."""
    copied = 0

    class Counted(np.ndarray):
        def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
            nonlocal copied
            found = super().__array_function__(func, types, args, kwargs)
            copied += found.size if func is np.concatenate else 0
            return found

    rows = np.zeros((10, 3)).view(Counted)
    ClassScores.merge_parts([ClassScores(rows, np.zeros(10, dtype=np.int32), None) for _ in range(50)])
    assert copied == 50 * rows.size


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("digits", [1, 2, 9])
def test_sorted_words_tell_what_rows_that_weigh_one_do(kind: type, digits: int) -> None:
    rng = np.random.default_rng(digits)
    scores: npt.NDArray[Any] = rng.random((400, 5)).round(digits).astype(kind)
    truth = rng.random((400, 5)) < np.array([0.1, 0.5, 0, 1, 0.9])
    words, rows = ClassScores(scores, truth, None), ClassScores(scores, truth, np.ones(400))
    for name in ("roc_auc", "average_precision", "positives"):
        np.testing.assert_array_equal(getattr(words.rankings, name), getattr(rows.rankings, name))
    assert words.pooled_areas == rows.pooled_areas
    tables = (
        (*one.tables(), *one.rankings.tables, one.pooled_table(), one.pooled_merged_table())
        for one in (words, rows)
    )
    for found, expected in zip(*tables, strict=True):
        for column in ("scores", "pos", "neg"):
            np.testing.assert_array_equal(getattr(found, column), getattr(expected, column))

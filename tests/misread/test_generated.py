"""Tables with a known value: none is read wrong, and most refusals have a way out that works."""

from __future__ import annotations

import pytest

from tests.misread.generated import counts, outcome, tables

COUNT = 400
SHARDS = 4


@pytest.mark.parametrize("seed", range(SHARDS))
def test_no_reading_that_is_accepted_is_wrong(seed: int) -> None:
    found = counts(seed, COUNT // SHARDS)
    assert found["wrong"] == 0
    assert found["right"] >= 0.35 * COUNT / SHARDS
    assert found["refused"] <= 0.15 * COUNT / SHARDS


def test_several_evaluations_are_never_pooled() -> None:
    several = [known for known in tables(99, 120) if known.several]
    assert len(several) > 10
    assert {outcome(known)[0] for known in several} <= {"refused", "refused with a way that works"}

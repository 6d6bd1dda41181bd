"""How many rows all, some and none of the runs get right, counted again row by row."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import evalreport as er
from evalreport.comparison.changed_predictions import agreement
from evalreport.evaluation.evaluation import Evaluation

LABELS = [*"abcd"]


def votes(skills: tuple[float, ...], n: int = 300, seed: int = 1) -> tuple[list[str], list[list[str]]]:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, n)
    runs = [np.where(rng.random(n) < skill, truth, rng.integers(0, 4, n)) for skill in skills]
    return [LABELS[c] for c in truth], [[LABELS[c] for c in run] for run in runs]


def evaluated(truth: list[str], run: list[str], order: list[int] | None = None) -> Evaluation:
    rows = list(range(len(truth))) if order is None else order
    return er.evaluate(
        [truth[k] for k in rows],
        [run[k] for k in rows],
        labels=er.Multiclass(LABELS),
        ids=[f"r{k}" for k in rows],
        resamples=20,
    )


@pytest.mark.parametrize("skills", [(0.8, 0.7), (0.8, 0.7, 0.6), (0.6, 0.8, 0.7, 0.75)])
def test_counts_and_majority_are_those_of_the_rows(skills: tuple[float, ...]) -> None:
    truth, runs = votes(skills)
    shuffled = np.random.default_rng(2).permutation(len(truth)).tolist()
    made = [evaluated(truth, run, shuffled if place else None) for place, run in enumerate(runs)]
    found = agreement([f"run{k}" for k in range(len(runs))], made)
    assert found is not None
    right = np.array([[a == t for a, t in zip(run, truth, strict=True)] for run in runs])
    assert found.all_right == right.all(axis=0).sum()
    assert found.none_right == (~right.any(axis=0)).sum()
    assert found.all_right + found.some_right + found.none_right == found.rows == len(truth)
    order = [int(name.removeprefix("run")) for name in found.runs]
    assert list(found.right) == sorted(right.sum(axis=1).tolist(), reverse=True)
    if len(runs) == 2:
        assert found.majority is None
        return
    majority = 0
    for k, label in enumerate(truth):
        counts = Counter(run[k] for run in runs)
        most = max(counts.values())
        tied = [name for name, n in counts.items() if n == most]
        best = runs[order[0]][k]
        majority += (best if best in tied else tied[0]) == label if len(tied) == 1 or best in tied else 0
    ties = sum(
        1
        for k in range(len(truth))
        if (c := Counter(run[k] for run in runs))
        and list(c.values()).count(max(c.values())) > 1
        and c[runs[order[0]][k]] < max(c.values())
    )
    assert abs((found.majority or 0) - majority) <= ties


def test_a_run_that_is_far_behind_is_not_counted() -> None:
    truth, runs = votes((0.9, 0.85, 0.0))
    found = agreement([*"xyz"], [evaluated(truth, run) for run in runs])
    assert found is not None
    assert found.runs == ("x", "y")


def test_nothing_is_counted_over_other_rows() -> None:
    truth, runs = votes((0.9, 0.8))
    whole, part = evaluated(truth, runs[0]), evaluated(truth, runs[1], list(range(200)))
    assert agreement(["whole", "part"], [whole, part]) is None
    assert er.compare([whole, part]).run_agreement is None


def test_a_response_that_is_not_parsed_has_no_vote() -> None:
    labels = er.Multiclass(["ham", "spam"])
    truth, none = ["spam", "ham", "spam"], "I cannot answer"
    answers = (["spam", none, "spam"], ["spam", "ham", "ham"], [none, "ham", "spam"])
    runs = [er.evaluate(truth, er.parse(run, ["ham", "spam"]), labels=labels) for run in answers]
    found = agreement([*"xyz"], runs)
    assert found is not None
    assert found.majority == 3
    assert (found.all_right, found.some_right, found.none_right) == (0, 3, 0)

"""The laws over the whole catalogue, and the proof that they catch a broken metric."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalreport.data.labels import Binary, LabelSpace, Multiclass, Multilabel
from evalreport.metrics import binary_decisions, binary_ranking
from evalreport.metrics.catalogue import catalogue, find
from evalreport.metrics.record import Metric, divide
from tests.metrics.cases import Case
from tests.metrics.laws import LAWS, Law

QUICK = settings(max_examples=15)


@st.composite
def weights(draw: st.DrawFn, n: int) -> Any:
    kind = draw(st.sampled_from(["none", "integer", "real"]))
    if kind == "none":
        return None
    drawn = draw(hnp.arrays(np.int64, n, elements=st.integers(0, 4)))
    drawn[0] = max(1, drawn[0])
    return drawn.astype(float) * (1 if kind == "integer" else 0.37)


@st.composite
def binary(draw: st.DrawFn) -> Case:
    n = draw(st.integers(1, 24))
    y = draw(hnp.arrays(np.int64, n, elements=st.integers(0, 1)))
    score = draw(hnp.arrays(np.int64, n, elements=st.integers(0, 16))) / 16
    threshold = draw(st.sampled_from([0.5, 0.25, 1.0]))
    case = Case(Binary(0, 1), y, score, draw(weights(n)), threshold)
    if draw(st.booleans()):
        unparsed = draw(hnp.arrays(np.bool_, n))
        case = replace(case, codes=np.where(unparsed, -1, case.pred), threshold=None)
    return case


@st.composite
def multiclass(draw: st.DrawFn) -> Case:
    n, size = draw(st.integers(1, 24)), draw(st.integers(2, 4))
    y = draw(hnp.arrays(np.int64, n, elements=st.integers(0, size - 1)))
    # Rows are rotations of few distributions: ties between rows, none within one.
    turn = draw(hnp.arrays(np.int64, n, elements=st.integers(0, size - 1)))
    base = np.array([np.arange(1.0, size + 1), np.arange(1.0, size + 1) ** 3])
    base /= base.sum(axis=1, keepdims=True)
    score = base[draw(hnp.arrays(np.int64, n, elements=st.integers(0, 1)))]
    score = np.take_along_axis(score, (np.arange(size) + turn[:, None]) % size, axis=1)
    codes = score.argmax(axis=1)
    if draw(st.booleans()):
        codes = np.where(draw(hnp.arrays(np.bool_, n)), -1, codes)
    space = Multiclass([f"c{k}" for k in range(size)], ordered=draw(st.booleans()))
    return Case(space, y, score, draw(weights(n)), codes=codes)


@st.composite
def multilabel(draw: st.DrawFn) -> Case:
    n, size = draw(st.integers(1, 20)), draw(st.integers(1, 4))
    y = draw(hnp.arrays(np.bool_, (n, size)))
    score = draw(hnp.arrays(np.int64, (n, size), elements=st.integers(0, 16))) / 16
    space = Multilabel([f"l{k}" for k in range(size)])
    return Case(space, y, score, draw(weights(n)), threshold=draw(st.sampled_from([0.5, 0.25])))


def metrics_of(space: LabelSpace) -> tuple[Metric, ...]:
    return catalogue(space, text=True)


@pytest.mark.parametrize(
    "cases", [binary(), multiclass(), multilabel()], ids=["binary", "multiclass", "multilabel"]
)
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_law(law: Law, cases: st.SearchStrategy[Case]) -> None:
    @QUICK
    @given(cases)
    def check(case: Case) -> None:
        pair = law.made(case)
        if pair is not None:
            broken = [metric.name for metric in metrics_of(case.space) if not law.holds(metric, *pair)]
            assert not broken

    check()


def _case(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 30)
    score = rng.integers(0, 17, 30) if seed else np.where(y, 16, rng.integers(0, 9, 30))
    return Case(Binary(0, 1), y, score / 16, rng.integers(1, 4, 30) * 1.0, 0.5)


def _classes(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    score = rng.dirichlet(np.ones(3), 30)
    return Case(Multiclass("abc"), rng.integers(0, 3, 30), score, codes=score.argmax(axis=1))


MUTANTS: dict[str, tuple[str, Callable[[Any], Any], Callable[[int], Case]]] = {
    "a sum passed off as a rate": ("recall", lambda c: c.tp, _case),
    "the wrong denominator": ("recall", lambda c: divide(c.tp, c.predicted_positives), _case),
    "beyond its range": ("f1", lambda c: 1.2 * binary_decisions.f1(c), _case),
    "no reason for what is undefined": ("mcc", lambda _: math.nan, _case),
    "ties count nothing": (
        "roc_auc",
        lambda t: divide(t.pos @ (t.negatives - t.fp), t.positives * t.negatives),
        _case,
    ),
    "distinct scores counted, not weighed": ("ks", lambda t: 1 / len(t), _case),
    "the scores themselves in a ranking": ("gini", lambda t: t.pos @ t.scores / 100, _case),
    "prevalence upside down": ("prevalence", lambda c: divide(c.negatives, c.total + c.tp), _case),
    "higher for worse": ("average_precision", lambda t: 1 - binary_ranking.average_precision(t), _case),
    "the first row alone": ("roc_auc_ovr_macro", lambda s: s.scores[0, 0], _classes),
    "the first class alone": ("f1_macro", lambda m: divide(m.tp[0], m.support[0]), _classes),
    "not for replicates": ("accuracy", lambda m: m.tp.sum() / np.sum(m.total), _classes),
}


@pytest.mark.parametrize("fault", MUTANTS)
def test_laws_catch_a_broken_metric(fault: str) -> None:
    name, function, make = MUTANTS[fault]
    cases = [make(seed) for seed in range(5)]
    sound = find(name, "binary" if make is _case else "multiclass")
    broken = replace(sound, function=function, undefined="0/0" if "reason" in fault else sound.undefined)
    caught = [law.name for law in LAWS for case in cases if law.breaks(broken, case)]
    assert caught, f"no law notices {fault}"
    assert not [law.name for law in LAWS for case in cases if law.breaks(sound, case)]


def test_inverted_predictions() -> None:
    y = np.array([0, 0, 1, 1, 1])
    summary = Case(Binary(0, 1), y, 1.0 - y, threshold=0.5).summary
    expected = {
        "accuracy": 0,
        "balanced_accuracy": 0,
        "recall": 0,
        "specificity": 0,
        "precision": 0,
        "npv": 0,
        "fpr": 1,
        "fnr": 1,
        "f1": 0,
        "jaccard": 0,
        "mcc": -1,
        "youden_j": -1,
        "markedness": -1,
        "roc_auc": 0,
        "gini": -1,
        "ks": 0,
        "eer": 1,
        "tpr_at_fpr01": 0,
        "brier": 1,
        "ece": 1,
    }
    for name, worst in expected.items():
        assert find(name).compute_value(summary) == pytest.approx(worst), name

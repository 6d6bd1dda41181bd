"""Chosen thresholds of every kind that a page has to show, small and seeded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np

from evalreport.data.predictions import Predictions, predictions
from evalreport.data.scores import Decisions, Probabilities
from evalreport.evaluation.evaluation import ThresholdSelection
from evalreport.thresholds.class_thresholds import class_weights
from evalreport.thresholds.objectives import CostMatrix
from evalreport.thresholds.trial_search import Search
from evalreport.workflow.choose_thresholds import ThresholdRequest, select_thresholds
from evalreport.workflow.collect import Collected
from evalreport.workflow.request import Request
from tests.page.made import (
    PROVENANCE,
    QUICK,
    TUMOUR,
    binary,
    binary_weighted,
    constant,
    multiclass,
    multilabel,
    multilabel_ranking,
    named,
    noisy,
    renamed,
)

FEW = Search(trials=12)


def swept(
    rows: Predictions, *objectives: str, tune_on: Predictions | None = None, search: Search | None = None
) -> ThresholdSelection:
    """What is chosen on rows for objectives, quickly."""
    asked = ThresholdRequest(objectives, search=search)
    return select_thresholds(Collected(rows, (), PROVENANCE), Request(sampling=QUICK), tune_on, asked)


def other_rows() -> Predictions:
    truth, scores = noisy(400, seed=5)
    return predictions(TUMOUR, named(truth), scores=Probabilities(scores))


def margins() -> Predictions:
    truth, scores = noisy(150)
    return predictions(TUMOUR, named(truth), scores=Decisions(np.log(scores / (1 - scores))))


def halves(rows: Predictions) -> tuple[Predictions, Predictions]:
    """Every other row, and the rest."""
    scores = rows.scores
    assert isinstance(scores, Probabilities)
    first, second = (
        predictions(
            rows.space,
            rows.y_true[at::2].astype(bool)
            if rows.y_true.ndim == 2
            else [rows.space.labels[code] for code in rows.y_true[at::2]],
            scores=Probabilities(scores.values[at::2]),
        )
        for at in (0, 1)
    )
    return first, second


def of_labels(*objectives: str) -> ThresholdSelection:
    own, other = halves(multilabel())
    return swept(own, *objectives, tune_on=other, search=FEW)


def of_classes() -> ThresholdSelection:
    """Cut-offs, weights for a metric, and weights for costs, all chosen on other rows."""
    own, other = halves(multiclass(5, 400))
    found = swept(own, "accuracy>=0.9", "accuracy>=0.95", "f1_macro", tune_on=other, search=FEW)
    costs = CostMatrix(np.abs(np.subtract.outer(np.arange(5), np.arange(5))) ** 1.5)
    weights = class_weights(own, costs, tune_on=other, sampling=QUICK)
    return replace(found, found={**found.found, "cost": weights})


def hostile(task: str, names: Sequence[str]) -> ThresholdSelection:
    """Thresholds of an evaluation whose every name is a stranger's."""
    ev = renamed(task, names)
    rows = ev.predictions
    assert rows is not None
    if task == "multiclass":
        matrix = np.random.default_rng(3).random((len(rows), len(rows.space))) + 0.1
        matrix[np.arange(len(rows)), rows.y_true] += 2
        rows = replace(rows, scores=Probabilities(matrix / matrix.sum(axis=1, keepdims=True)))
    goals = {"binary": ("f1", "recall>=0.9"), "multilabel": ("f1_macro",), "multiclass": ("accuracy>=0.5",)}
    asked = ThresholdRequest(goals[task])
    request = Request(sampling=QUICK, tune_on=names[0])
    return select_thresholds(Collected(rows, (), ev.provenance), request, rows, asked)


KINDS: Mapping[str, Callable[[], ThresholdSelection]] = {
    "binary": lambda: swept(binary(), "f1", "recall>=0.95", "cost:10", "net_benefit:0.2", "mcc"),
    "binary-standard": lambda: swept(binary()),
    "binary-tuned": lambda: swept(binary(), "f1", "precision>=0.9", tune_on=other_rows()),
    "binary-weighted": lambda: swept(binary_weighted(), "f1", "youden"),
    "binary-margins": lambda: swept(margins(), "f1", "fpr<=0.1"),
    "constant": lambda: swept(constant(), "f1", "precision>=0.9"),
    "multilabel": lambda: swept(multilabel(), "f1_macro", "f1_micro", "subset_accuracy"),
    "multilabel-tuned": partial(of_labels, "f1_macro", "subset_accuracy", "f1_samples"),
    "multilabel-margins": lambda: swept(multilabel_ranking(), "f1_macro"),
    "multiclass": lambda: swept(multiclass(5, 300)),
    "multiclass-tuned": of_classes,
    "multiclass-77": lambda: swept(multiclass(77, 1500), "accuracy>=0.9", "f1_macro", search=FEW),
}
"""Every kind of a page of thresholds, by name."""


@lru_cache
def made(kind: str) -> ThresholdSelection:
    """What is chosen, once for a session."""
    return KINDS[kind]()

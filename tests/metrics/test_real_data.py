"""The public data sets: every value that scikit-learn has, on predictions of trained models.

More predictions than are shipped are read from the folder named in EVALREPORT_EXTRA_DATA, laid out alike.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evalreport.core.result import Undefined
from evalreport.data.labels import Binary, Multiclass, Multilabel, Task
from evalreport.data.predictions import predictions
from evalreport.data.scores import Logits, NoScores
from evalreport.metrics.catalogue import find
from tests.metrics.cases import Case
from tests.metrics.test_scikit_learn import REFERENCES, quietly

SHIPPED = Path(__file__).parents[2] / "examples" / "data"
EXTRA = os.environ.get("EVALREPORT_EXTRA_DATA")
SCORE_COLUMNS = (
    ("sms_spam", "spam", ("score_lr", "score_nb", "score_rf", "score_histgb")),
    ("ai4i_failure", 1, ("score_lr", "score_lr_balanced", "score_rf", "score_histgb")),
)


def folder(name: str) -> Path | None:
    """Where a file is: among the shipped, else in the extra folder, else nowhere."""
    places = [SHIPPED, *([Path(EXTRA)] if EXTRA else [])]
    return next((place for place in places if (place / name).exists()), None)


def table(name: str) -> pd.DataFrame:
    place = folder(name)
    if place is None:
        pytest.skip(f"{name} is not shipped; name its folder in EVALREPORT_EXTRA_DATA")
    return pd.read_parquet(place / name)


def labels(name: str) -> list[str]:
    found: list[str] = json.loads((SHIPPED / name / "labels.json").read_text(encoding="utf-8"))
    return found


def binary(source: str, positive: Any, column: str) -> Case:
    frame = table(f"{source}/oof_scores.parquet")
    truth = (frame["y_true"] == positive).to_numpy().astype(int)
    return Case(Binary(0, 1), truth, frame[column].to_numpy(), threshold=0.5)


def probabilities(space: Multiclass | Multilabel, logits: Any, truth: Any) -> Any:
    made = predictions(space, truth, scores=Logits(logits)).scores
    assert not isinstance(made, NoScores)
    return made.values


def intents(file: str) -> Case:
    frame, names = table(f"banking77/{file}.parquet"), labels("banking77")
    space = Multiclass(names)
    truth, codes = (np.array([space.code_of[v] for v in frame[c]]) for c in ("y_true", "y_pred"))
    logit = f"logit_{names[0]}" in frame
    kind = "logit" if logit else "proba"
    scores = np.stack([frame.get(f"{kind}_{name}", pd.Series(0.0, frame.index)) for name in names], axis=1)
    if logit:
        scores = probabilities(space, scores, np.array(names)[truth])
    else:
        scores = scores.astype(np.float64) / scores.astype(np.float64).sum(axis=1, keepdims=True)
    return Case(space, truth, scores, codes=codes)


def emotions(part: str, model: str, kind: str) -> Case:
    truth, frame = table(f"goemotions/y_true_{part}.parquet"), table(f"goemotions/{model}.parquet")
    names = labels("goemotions")
    indicator = truth[[f"true_{name}" for name in names]].to_numpy().astype(bool)
    scores = frame[[f"{kind}_{name}" for name in names]].to_numpy()
    if kind == "logit":
        scores = probabilities(Multilabel(names), scores, indicator)
    return Case(Multilabel(names), indicator, scores, threshold=0.3)


@cache
def load(task: Task, *which: str) -> Case:
    match task:
        case "binary":
            source, column = which
            return binary(source, next(p for s, p, _ in SCORE_COLUMNS if s == source), column)
        case "multiclass":
            return intents(*which)
        case "multilabel":
            return emotions(*which)
    raise AssertionError(task)


def datasets() -> Iterator[tuple[Task, tuple[str, ...]]]:
    for source, _, columns in SCORE_COLUMNS:
        for column in columns:
            yield "binary", (source, column)
    for file in ("pred_tfidf_lr", "pred_collapsed6", "pred_char_svm_logits"):
        yield "multiclass", (file,)
    for part in ("test", "dev"):
        for model, kind in (("ovr_lr_proba", "proba"), ("ovr_svm_logits", "logit")):
            yield "multilabel", (part, f"pred_{part}_{model}", kind)


def pairs_by_hand(case: Case) -> float:
    """Hand & Till's M pair by pair, as scikit-learn has it, without its cost for many classes."""
    own = {k: case.score[case.y == k] for k in np.unique(case.y).tolist()}
    areas = []
    for a, b in permutations(own, 2):
        above = own[a][:, a][:, None] - own[b][:, a]
        areas.append((above > 0).mean() + (above == 0).mean() / 2)
    return float(np.mean(areas))


@pytest.mark.slow
@pytest.mark.parametrize(("task", "which"), list(datasets()), ids=str)
def test_real_predictions_agree_with_scikit_learn(task: Task, which: tuple[str, ...]) -> None:
    case, undefined = load(task, *which), []
    for name, reference in REFERENCES[task].items():
        if name in ("cohen_kappa_quadratic", "cohen_kappa_linear"):
            continue  # these labels have no order
        ours = find(name, task).compute_value(case.summary)
        theirs = pairs_by_hand(case) if name == "roc_auc_ovo_macro" else quietly(reference, case)
        if isinstance(ours, Undefined):
            undefined.append(name)
        else:
            assert ours == pytest.approx(theirs, rel=1e-12, abs=1e-12), name
    assert set(undefined) <= {"lr_positive"}  # no false positive: infinite in scikit-learn


def test_the_collapsed_model_is_seen_through() -> None:
    found = {
        m: find(m, "multiclass").compute_value(load("multiclass", "pred_collapsed6").summary)
        for m in COLLAPSED
    }
    assert found == COLLAPSED


COLLAPSED = {
    "accuracy": pytest.approx(0.0756, abs=5e-5),
    "n_labels": 77,
    "n_absent": 0,
    "n_never_predicted": 71,
    "n_spurious": 0,
}
PUBLISHED = {
    "sms_spam": {"score_lr": 0.9935, "score_nb": 0.9825, "score_rf": 0.9811, "score_histgb": 0.9854},
    "ai4i_failure": {"score_lr": 0.896, "score_lr_balanced": 0.9, "score_rf": 0.967, "score_histgb": 0.978},
}


@pytest.mark.parametrize("source", PUBLISHED)
def test_areas_of_the_data_sheet(source: str) -> None:
    for column, area in PUBLISHED[source].items():
        found = find("roc_auc").compute_value(load("binary", source, column).summary)
        assert found == pytest.approx(area, abs=6e-4)

"""Outputs of networks in every shape; the libraries themselves are tried in `tests/frameworks`."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score, log_loss, roc_auc_score

import evalreport as er
from evalreport.adapters.training_callbacks import (
    TrainerMetrics,
    evaluation_of,
    keras_callback,
    lightning_callback,
    trainer_callback,
)
from evalreport.core.errors import EvalreportError, MissingExtraError

RNG = np.random.default_rng(0)
N = 60
CODES = RNG.integers(0, 3, N)
LOGITS = RNG.normal(size=(N, 3)) + 2 * np.eye(3)[CODES]
SOFTMAX = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=1, keepdims=True)
FEW: dict[str, Any] = {"resamples": 50}


def test_logits_of_several_classes() -> None:
    ev = evaluation_of(LOGITS, CODES, ["a", "b", "c"], **FEW)
    assert ev.space == er.Multiclass(["a", "b", "c"])
    assert ev["accuracy"].value == pytest.approx(accuracy_score(CODES, LOGITS.argmax(axis=1)))
    assert ev["log_loss"].value == pytest.approx(log_loss(CODES, SOFTMAX))


@pytest.mark.parametrize("batch", [4, 7], ids=["even batches", "a smaller last batch"])
def test_batches_are_rows(batch: int) -> None:
    """Of an even number an array [batch, n, labels], else a list, as Trainer and loaders hand them over."""
    starts = range(0, N, batch)
    outputs: Any = [LOGITS[start : start + batch] for start in starts]
    codes: Any = [CODES[start : start + batch] for start in starts]
    if batch == 4:
        outputs, codes = np.stack(outputs), np.stack(codes)
    assert evaluation_of(outputs, codes, **FEW).metrics == evaluation_of(LOGITS, CODES, **FEW).metrics


def test_padding_is_left_out() -> None:
    codes = np.where(np.arange(N) % 5 == 0, -100, CODES)
    kept = codes >= 0
    ev = evaluation_of(LOGITS.reshape(12, 5, 3), codes.reshape(12, 5), **FEW)
    assert ev.rows == kept.sum()
    assert ev["accuracy"].value == pytest.approx(accuracy_score(CODES[kept], LOGITS[kept].argmax(axis=1)))


@pytest.mark.parametrize("kind", ["logits", "probabilities"])
@pytest.mark.parametrize("width", [0, 1, 2])
def test_two_classes_in_one_column_or_two(kind: Any, width: int) -> None:
    logit = RNG.normal(size=N)
    p = 1 / (1 + np.exp(-logit))
    two = np.c_[-logit / 2, logit / 2] if kind == "logits" else np.c_[1 - p, p]
    one = logit if kind == "logits" else p
    outputs = {0: one, 1: one[:, None], 2: two}[width]
    codes = CODES % 2
    ev = evaluation_of(outputs, codes, ["ham", "spam"], kind=kind, **FEW)
    assert ev["log_loss"].value == pytest.approx(log_loss(codes, p))
    assert ev["roc_auc"].value == pytest.approx(roc_auc_score(codes, p))


def test_several_labels_per_row() -> None:
    tags = (RNG.random((N, 3)) > 0.5).astype(float)
    ev = evaluation_of(LOGITS, tags, ["joy", "anger", "fear"], **FEW)
    assert ev.space == er.Multilabel(["joy", "anger", "fear"])
    assert ev["f1_micro"].value == pytest.approx(f1_score(tags, LOGITS >= 0, average="micro"))


WRONG: dict[str, Any] = {
    "more targets": (lambda: evaluation_of(LOGITS, CODES[:-1]), "60 outputs and 59 targets"),
    "labels of another number": (lambda: evaluation_of(LOGITS, CODES, ["a", "b"]), "2 labels and 3 columns"),
    "codes beyond the labels": (lambda: evaluation_of(LOGITS, CODES + 1), "from 1 to 3"),
    "an unknown kind": (lambda: evaluation_of(LOGITS, CODES, kind="odds"), "'odds'"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said(case: str) -> None:
    call, words = WRONG[case]
    with pytest.raises(EvalreportError, match=words):
        call()


MAKE: dict[str, Any] = {
    "transformers": lambda: trainer_callback(TrainerMetrics()),
    "lightning": lightning_callback,
    "keras": lambda: keras_callback(LOGITS, CODES),
}


@pytest.mark.parametrize("library", MAKE)
def test_a_library_that_is_missing_is_named_with_its_command(library: str) -> None:
    if find_spec(library):
        pytest.skip(f"{library} is installed")
    with pytest.raises(MissingExtraError) as caught:
        MAKE[library]()
    assert caught.value.fix == f"pip install 'evalreport[{library}]'"

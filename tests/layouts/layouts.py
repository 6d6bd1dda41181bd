"""Files of predictions as tools and people leave them, drawn from one seeded truth, and what they say."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
from pyarrow import parquet

from evalreport.columns.column_request import Columns

Array: TypeAlias = npt.NDArray[Any]
Y2, Y3 = 60, 45
"""Rows of the problem of two classes and of that of three."""
CITIES = np.array(["oslo", "paris", "rome"])


def softmax(z: Array) -> Array:
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return np.asarray(e / e.sum(axis=1, keepdims=True))


RNG = np.random.default_rng(7)
Y = RNG.integers(2, size=Y2)
P = 1 / (1 + np.exp(-(2.0 * Y - 1 + RNG.normal(size=Y2))))
H = (P >= 0.5).astype(int)
K = np.arange(Y3) % 3
Q = softmax(1.5 * np.eye(3)[K] + RNG.normal(size=(Y3, 3)))
G = Q.argmax(axis=1)
S = np.maximum(P, 1 - P)
"""Truth, P(1) and answers of two classes; truth, P of each and answers of three; confidence of the answer."""


@dataclass(frozen=True)
class Layout:
    """What is written, and what must be found: labels as text, and scores in the order of the labels."""

    write: Callable[[Path], Path]
    truth: Array
    answers: Array | None = None
    scores: Array | None = None
    said: tuple[str, ...] = ()
    request: Columns = field(default_factory=Columns)


def csv(**columns: Any) -> Callable[[Path], Path]:
    return frame(columns, "p.csv")


def frame(columns: Mapping[str, Any], name: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        data = pd.DataFrame(dict(columns))
        data.to_parquet(folder / name) if name.endswith("parquet") else data.to_csv(
            folder / name, index=False
        )
        return folder / name

    return write


def arrays(**columns: Any) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        np.savez(folder / "p.npz", **columns)
        return folder / "p.npz"

    return write


def lines(rows: list[dict[str, Any]]) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        (folder / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return folder / "p.jsonl"

    return write


def document(value: Any) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        (folder / "p.json").write_text(json.dumps(value), encoding="utf-8")
        return folder / "p.json"

    return write


def table(name: str, **columns: Any) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        parquet.write_table(pa.table(columns), folder / name)
        return folder / name

    return write


def binary(**columns: Any) -> Layout:
    return Layout(csv(**columns), Y, H, P)


def sparse(row: Array) -> dict[str, Any]:
    return {"type": 0, "size": 3, "indices": [0, 1, 2], "values": row.tolist()}


def ranked(row: Array) -> list[dict[str, Any]]:
    return [{"label": str(CITIES[i]), "score": float(row[i])} for i in np.argsort(-row)]


CK, CG = CITIES[K], CITIES[G]
PAIRS = list(zip(CK, Q, strict=True))
FIXED = pa.FixedSizeListArray.from_arrays(pa.array(Q.ravel()), 3)
SPLIT = np.where(np.arange(Y2) % 3 == 0, "Train", "Test")
TEST = SPLIT == "Test"
LOGITS = np.log(Q).astype("float32")
ONE_HOT = np.eye(3)

NAMED = dict(zip(CITIES, Q.T, strict=True))
PARTED = {"subset": SPLIT, "y_true": Y, "y_pred": H, "proba": P}
FOLD = np.arange(Y2) % 4

SPELLINGS: Mapping[str, tuple[str, str, str]] = {
    "words with spaces": ("True Label", "Predicted Label", "Predicted Probability"),
    "camel case": ("trueLabel", "predictedLabel", "predictedProba"),
    "capitals": ("ACTUAL", "PREDICTION", "PROB"),
    "of the split": ("y_test", "y_hat", "y_test_proba"),
    "short": ("gt", "preds", "score"),
    "with slashes": ("expected/value", "prediction/label", "probability/positive"),
    "of a gold standard": ("gold_label", "guess", "probability"),
    "reference": ("reference", "predict", "softmax"),
    "one word": ("groundtruth", "yhat", "likelihood"),
    "class": ("class", "class_pred", "class_proba"),
}

LAYOUTS: dict[str, Layout] = {
    **{
        f"names: {name}": binary(**{truth: Y, pred: H, score: P})
        for name, (truth, pred, score) in SPELLINGS.items()
    },
    "columns: classes": Layout(csv(**NAMED, y=CK), CK, CG, Q),
    "columns: numbers": Layout(csv(**{str(i): Q[:, i] for i in range(3)}, label=K, pred=G), K, G, Q),
    "columns: letter and number": Layout(
        csv(c=P + 1, label=Y, pred=H, c0=1 - P, c1=P), Y, H, np.c_[1 - P, P]
    ),
    "columns: round brackets": Layout(
        csv(**{f"P({c})": Q[:, i] for i, c in enumerate(CITIES)}, label=CK), CK, CG, Q
    ),
    "columns: ending": Layout(
        csv(**{f"{c}_prob": Q[:, i] for i, c in enumerate(CITIES)}, label=CK, pred=CG),
        CK,
        CG,
        Q,
    ),
    "columns: of a class alone are features": Layout(
        csv(x0=np.arange(Y2) + 0.5, x1=-P, label=Y, prediction=H), Y, H
    ),
    "truth: the column without a name of its own": Layout(
        csv(city=CK, predicted=CG, note=["text"] * Y3),
        CK,
        CG,
        said=("city is used",),
    ),
    "lists: in Parquet": Layout(frame({"label": K, "pred": G, "probas": list(Q)}, "p.parquet"), K, G, Q),
    "lists: of fixed size": Layout(table("p.parquet", label=K, pred=G, softmax=FIXED), K, G, Q),
    "lists: as text": Layout(csv(label=K, probs=[str(q.tolist()) for q in Q]), K, G, Q),
    "lists: as tuples": Layout(csv(label=K, probs=[str(tuple(q.tolist())) for q in Q]), K, G, Q),
    "mappings": Layout(
        lines([{"label": c, "probabilities": dict(zip(CITIES, q, strict=True))} for c, q in PAIRS]),
        CK,
        CG,
        Q,
    ),
    "mappings: as text of Python": Layout(
        csv(label=CK, probs=[str(dict(zip(CITIES.tolist(), q.tolist(), strict=True))) for q in Q]),
        CK,
        CG,
        Q,
    ),
    "pairs of label and score": Layout(
        lines([{"label": c, "scores": ranked(q)} for c, q in PAIRS]),
        CK,
        CG,
        Q,
    ),
    "vectors: sparse": Layout(
        table("p.parquet", label=K.astype(float), probability=pa.array([sparse(q) for q in Q])), K, G, Q
    ),
    "lists: in the order of the labels, as predictions confirm": Layout(
        frame({"label": CK, "pred": CG, "proba": list(Q)}, "p.parquet"),
        CK,
        CG,
        Q,
        ("order of labels: oslo, paris, rome",),
    ),
    "arrays: Trainer": Layout(arrays(predictions=LOGITS, label_ids=K), K, G, LOGITS),
    "arrays: labels beside logits": Layout(arrays(logits=LOGITS, labels=K), K, G, LOGITS),
    "arrays: one-hot truth": Layout(arrays(y_true=ONE_HOT[K], y_pred=Q), K, G, Q),
    "arrays: one-hot both": Layout(arrays(y_true=ONE_HOT[K], y_pred=ONE_HOT[G]), K, G),
    "arrays: test in the name": Layout(arrays(y_test=K, y_prob=Q), K, G, Q),
    "a prediction of fractions is a score": Layout(csv(y_true=Y, y_pred=P), Y, H, P, ("score",)),
    "confidence: two classes": Layout(
        csv(label=Y, prediction=H, confidence=S), Y, H, P, ("confidence of the predicted label, converted",)
    ),
    "confidence: words": Layout(
        csv(label=np.array(["no", "yes"])[Y], pred=np.array(["no", "yes"])[H], score=S),
        np.array(["no", "yes"])[Y],
        np.array(["no", "yes"])[H],
        P,
        ("converted to that of yes",),
    ),
    "confidence: three classes": Layout(
        csv(label=K, prediction=G, confidence=Q.max(axis=1)),
        K,
        G,
        said=("confidence of the predicted class",),
    ),
    "spelling: LABEL_1": Layout(
        csv(label=Y, prediction=[f"LABEL_{h}" for h in H]), Y, H, said=("LABEL_1 is 1",)
    ),
    "spelling: yes and 1": Layout(
        csv(y_true=np.array(["No", "Yes"])[Y], y_pred=H),
        np.array(["No", "Yes"])[Y],
        np.array(["No", "Yes"])[H],
        said=("1 is Yes",),
    ),
    "spelling: POSITIVE": Layout(
        csv(y_true=Y, y_pred=np.array(["NEGATIVE", "POSITIVE"])[H]), Y, H, said=("POSITIVE is 1",)
    ),
    "spelling: capitals": Layout(
        csv(y_true=CK, y_pred=np.char.upper(CITIES)[G]), CK, CG, said=("ROME is rome",)
    ),
    "split: test rows": Layout(
        csv(**PARTED),
        Y[TEST],
        H[TEST],
        P[TEST],
        ("subset", "Test 40", "--where"),
    ),
    "split: others": Layout(
        csv(**PARTED),
        Y[~TEST],
        H[~TEST],
        P[~TEST],
        ("20 of 60 rows",),
        Columns(where=("subset=Train",)),
    ),
    "fold: one sample": Layout(csv(fold=FOLD, y_true=Y, y_proba=P), Y, H, P, ("4 folds", "out-of-fold")),
    "fold: one of them": Layout(
        csv(fold=FOLD, y_true=Y, y_proba=P),
        Y[2::4],
        H[2::4],
        P[2::4],
        ("15 of 60 rows",),
        Columns(where=("fold=2",)),
    ),
    "scores that are none block nothing": Layout(
        csv(y_true=Y, y_pred=H, proba=12 * P), Y, H, said=("proba are not used", "outside [0, 1]")
    ),
    "scores left alone": Layout(
        csv(y_true=Y, y_pred=H, proba=P),
        Y,
        H,
        said=("proba looks like a score",),
        request=Columns(no_scores=True),
    ),
    "a feature that is called a score": Layout(
        csv(target=Y, prediction=H, credit_score=300 + P), Y, H, said=("credit_score", "not used")
    ),
}
"""By what they show; each is read without an option, or with the request that it names."""

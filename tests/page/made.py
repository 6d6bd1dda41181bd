"""Evaluations of every kind that a page has to show, small and seeded; made once for a session."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from evalreport.core.result import Provenance
from evalreport.data.labels import Binary, Multiclass, Multilabel
from evalreport.data.predictions import Predictions, predictions
from evalreport.data.scores import Decisions, Probabilities
from evalreport.evaluation.evaluate import evaluate_predictions
from evalreport.evaluation.evaluation import Evaluation
from evalreport.features.text_labels.parser import make_parser, parse_all
from evalreport.findings.ordered_rules import find
from evalreport.intervals.interval_settings import Sampling

QUICK = Sampling(resamples=100)
PROVENANCE = Provenance(
    run_id="3f9c1e0a7b5544d2",
    run_name="calm-heron-412",
    experiment="triage",
    dataset="held-out",
    source="predictions.parquet",
    sha256="9b1f" * 16,
    columns=(("truth", "diagnosis"), ("score", "p")),
    made="2026-11-21T15:40:00Z",
    command="evalreport log --run-id 3f9c1e0a --truth diagnosis --score p",
    commit="a41d9c2",
    software=(("evalreport", "0.1.0"), ("Python", "3.11.7")),
    unit=("tumour", "tumours"),
)


def evaluation(p: Predictions, provenance: Provenance = PROVENANCE, sampling: Sampling = QUICK) -> Evaluation:
    """Everything known of predictions, findings included."""
    ev = evaluate_predictions(p, sampling).with_provenance(provenance)
    return replace(ev, findings=find(ev))


def noisy(n: int, seed: int = 0, prevalence: float = 0.35) -> tuple[np.ndarray, np.ndarray]:
    """Binary truth and probabilities that know something of it."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < prevalence
    return truth, 1 / (1 + np.exp(-rng.normal(np.where(truth, 1.3, -1.3), 1.4)))


def named(truth: np.ndarray) -> list[str]:
    return ["malignant" if value else "benign" for value in truth]


TUMOUR = Binary("benign", "malignant")


def binary(n: int = 300, **options: object) -> Predictions:
    truth, scores = noisy(n)
    return predictions(TUMOUR, named(truth), scores=Probabilities(scores), **options)  # type: ignore[arg-type]


def binary_labels() -> Predictions:
    truth, scores = noisy(80)
    return predictions(Binary(0, 1), truth.astype(int), (scores > 0.5).astype(int))


def binary_ranking() -> Predictions:
    truth, scores = noisy(120)
    return predictions(TUMOUR, named(truth), scores=Decisions(np.log(scores / (1 - scores))))


def binary_slices() -> Predictions:
    rng = np.random.default_rng(3)
    return binary(
        400,
        slices={"site": rng.choice(["a", "b", "<c>"], 400, p=[0.6, 0.38, 0.02])},
        ids=[f"case-{row}" for row in range(400)],
        texts=[f"note {row} {'long ' * 40}" for row in range(400)],
    )


def binary_weighted() -> Predictions:
    return binary(200, weights=np.random.default_rng(4).random(200) * 3)


def binary_text() -> Predictions:
    truth, scores = noisy(150)
    answers = np.where(scores > 0.5, "Answer: malignant", "benign").tolist()
    answers[::20] = ["I cannot say."] * len(answers[::20])
    return predictions(TUMOUR, named(truth), parse_all(answers, make_parser("auto", TUMOUR.names)))


def one_class() -> Predictions:
    return predictions(TUMOUR, ["benign"] * 40, scores=Probabilities(np.linspace(0, 1, 40)))


def one_row() -> Predictions:
    return predictions(TUMOUR, ["malignant"], scores=Probabilities(np.array([0.9])))


def no_mistakes() -> Predictions:
    truth, _ = noisy(60)
    return predictions(TUMOUR, named(truth), scores=Probabilities(np.where(truth, 0.9, 0.1)))


def constant() -> Predictions:
    truth, _ = noisy(200)
    return predictions(TUMOUR, named(truth), scores=Probabilities(np.full(200, 0.1)))


def multiclass(k: int, n: int, *, scores: bool = True, seed: int = 0, right: float = 0.75) -> Predictions:
    rng = np.random.default_rng(seed)
    names = [f"intent_{code:04d}" for code in range(k)]
    truth = rng.integers(0, k, n)
    near = np.minimum(truth // 4 * 4 + rng.integers(0, 4, n), k - 1)
    answer = np.where(rng.random(n) < right, truth, near)
    if not scores:
        return predictions(Multiclass(names), np.array(names)[truth], np.array(names)[answer])
    matrix = rng.random((n, k)) + 0.01
    matrix[np.arange(n), answer] += 1 + rng.random(n) * k
    return predictions(
        Multiclass(names),
        np.array(names)[truth],
        scores=Probabilities(matrix / matrix.sum(axis=1, keepdims=True)),
        texts=[f"text of row {row}" for row in range(n)],
    )


def multiclass_text() -> Predictions:
    rng = np.random.default_rng(6)
    names = ["urgent", "soon", "routine", "not a request"]
    truth = rng.integers(0, 4, 300)
    answers = [
        names[code] if rng.random() < 0.8 else names[(code + 1) % 4] if rng.random() < 0.8 else "I cannot."
        for code in truth
    ]
    return predictions(
        Multiclass(names), np.array(names)[truth], parse_all(answers, make_parser("auto", names))
    )


def collapsed() -> Predictions:
    names = [f"intent_{code}" for code in range(20)]
    truth = np.arange(400) % 20
    answer = np.where(np.random.default_rng(7).random(400) < 0.8, truth % 3, 1)
    return predictions(Multiclass(names), np.array(names)[truth], np.array(names)[answer])


def multilabel(k: int = 6, n: int = 250, threshold: float | None = None) -> Predictions:
    rng = np.random.default_rng(8)
    truth = rng.random((n, k)) < np.linspace(0.1, 0.4, k)
    scores = 1 / (1 + np.exp(-rng.normal(np.where(truth, 1.0, -1.2), 1.2)))
    space = Multilabel([f"label-{code}" for code in range(k)])
    return predictions(space, truth, scores=Probabilities(scores), threshold=threshold)


def multilabel_labels() -> Predictions:
    p = multilabel()
    return predictions(p.space, np.asarray(p.y_true), np.asarray(p.y_pred))


def multilabel_ranking() -> Predictions:
    rng = np.random.default_rng(9)
    truth = rng.random((80, 4)) < 0.3
    scores = Decisions(rng.normal(truth * 1.0, 1))
    return predictions(Multilabel(["a", "b", "c", "d"]), truth, scores=scores)


def multilabel_thresholds() -> Predictions:
    p = multilabel()
    return predictions(
        p.space, np.asarray(p.y_true), scores=p.scores, threshold=[0.3, 0.4, 0.5, 0.5, 0.6, 0.7]
    )


KINDS: Mapping[str, Callable[[], Predictions]] = {
    "binary": binary,
    "binary-labels": binary_labels,
    "binary-ranking": binary_ranking,
    "binary-slices": binary_slices,
    "binary-weighted": binary_weighted,
    "binary-text": binary_text,
    "one-class": one_class,
    "one-row": one_row,
    "no-mistakes": no_mistakes,
    "constant": constant,
    "three": lambda: multiclass(3, 90),
    "twenty": lambda: multiclass(20, 600),
    "labels-twenty": lambda: multiclass(20, 300, scores=False),
    "text": multiclass_text,
    "collapsed": collapsed,
    "multilabel": multilabel,
    "multilabel-labels": multilabel_labels,
    "multilabel-ranking": multilabel_ranking,
    "multilabel-thresholds": multilabel_thresholds,
}
"""Every kind of page, by name."""


@lru_cache
def made(kind: str) -> Evaluation:
    """The evaluation of a kind."""
    return evaluation(KINDS[kind]())


def renamed(kind: str, names: Sequence[str]) -> Evaluation:
    """A small evaluation in which every text of a stranger is one of the given ones, in turn."""
    rng = np.random.default_rng(1)
    n = 60

    def some(count: int) -> list[str]:
        return [f"{names[place % len(names)]}" + "\u200b" * (place // len(names)) for place in range(count)]

    rows = some(n)
    options: dict[str, object] = {
        "ids": [f"{name}{row}" for row, name in enumerate(rows)],
        "texts": rows,
        "slices": {rows[0]: rng.choice(some(3), n)},
    }
    truth, scores = noisy(n, prevalence=0.5)
    match kind:
        case "binary":
            labels = some(2)
            p = predictions(
                Binary(*labels),
                np.array(labels)[truth.astype(int)],
                scores=Probabilities(scores),
                **options,  # type: ignore[arg-type]
            )
        case "multiclass":
            labels = some(14)
            codes, answers = rng.integers(0, 14, n), rng.integers(0, 14, n)
            answers[: n // 2] = codes[: n // 2]
            p = predictions(
                Multiclass(labels),
                np.array(labels)[codes],
                np.array(labels)[answers],
                **options,  # type: ignore[arg-type]
            )
        case _:
            labels = some(4)
            p = predictions(
                Multilabel(labels),
                rng.random((n, 4)) < 0.4,
                scores=Probabilities(rng.random((n, 4))),
                **options,  # type: ignore[arg-type]
            )
    name = rows[0]
    texts = ("run_id", "run_name", "experiment", "dataset", "source", "sha256", "parser", "model", "tracking")
    provenance = replace(
        PROVENANCE,
        **dict.fromkeys((*texts, "made", "command", "commit"), name),  # type: ignore[arg-type]
        label_names=((name, name),),
        columns=((name, name),),
        software=((name, name),),
        unit=(name, name),
        notes=(name,),
    )
    return evaluation(p, provenance)

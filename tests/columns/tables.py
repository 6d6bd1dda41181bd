"""Tables in the forms that tools write, under usual names, names of other domains and random names.

A family is one way of naming and one way of writing. The margin of the decision is fixed on the families with
an even number (`development`) and checked on the others (`unknown`).
"""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.misread.generated import WORDS, Known, outcome

Array = npt.NDArray[Any]
Cells = dict[str, list[Any]]


@dataclass(frozen=True, eq=False)
class Drawn:
    """Labels, predictions and probabilities of a table, before it is written."""

    labels: list[Any]
    y: Array
    predicted: Array
    p: Array
    truth: str
    pred: str

    @property
    def given(self) -> list[Any]:
        return [self.labels[code] for code in self.predicted]

    @property
    def top(self) -> Array:
        return self.p[np.arange(len(self.p)), self.predicted]


def scores_of_columns(pattern: str) -> Callable[[Drawn], Cells]:
    def write(drawn: Drawn) -> Cells:
        names = [
            pattern.format(label=label, truth=drawn.truth, pred=drawn.pred, place=place)
            for place, label in enumerate(drawn.labels)
        ]
        return dict(zip(names, drawn.p.T.tolist(), strict=True))

    return write


def commas(drawn: Drawn) -> Cells:
    cells = scores_of_columns("prob_{label}")(drawn)
    return {name: [str(value).replace(".", ",") for value in column] for name, column in cells.items()}


def ranked(drawn: Drawn) -> list[list[dict[str, Any]]]:
    order = np.argsort(-drawn.p, axis=1)
    return [
        [{"label": str(drawn.labels[place]), "score": float(row[place])} for place in places]
        for row, places in zip(drawn.p, order, strict=True)
    ]


def logits(drawn: Drawn) -> Cells:
    return {"logits": np.log(drawn.p + 1e-9).round(6).tolist()}


def mapped(drawn: Drawn) -> Cells:
    names = [str(label) for label in drawn.labels]
    return {"proba": [dict(zip(names, row, strict=True)) for row in drawn.p.tolist()]}


def record(drawn: Drawn) -> Cells:
    cells = zip(drawn.given, drawn.p.tolist(), strict=True)
    return {"prediction": [{"predicted_class": given, "scores": row} for given, row in cells]}


def ranked_lists(drawn: Drawn) -> Cells:
    found = [
        {"classes": [entry["label"] for entry in row], "confidences": [entry["score"] for entry in row]}
        for row in ranked(drawn)
    ]
    return {"prediction": found}


def second_model(drawn: Drawn) -> Cells:
    """Predictions of another model, which is better or worse in the rows with a low greatest score."""
    other = drawn.p.argsort(axis=1)[:, -2] if len(drawn.y) % 2 else drawn.y
    low = drawn.top < np.quantile(drawn.top, 0.3)
    return {"knn": [drawn.labels[code] for code in np.where(low, other, drawn.predicted)]}


def second_reviewer(drawn: Drawn) -> Cells:
    """Labels of another person, who disagrees in every ninth row."""
    codes = drawn.y.copy()
    codes[::9] = np.roll(drawn.y, 1)[::9]
    return {"reviewer": [drawn.labels[code] for code in codes]}


Way = tuple[str, Callable[[Drawn], Cells], bool, bool]
"""Name, scores, whether there is a column of predictions, whether the scores prove which it is."""
WAYS: tuple[Way, ...] = (
    ("none", lambda _: {}, True, False),
    ("prob_label", scores_of_columns("prob_{label}"), True, True),
    ("tidymodels", scores_of_columns(".pred_{label}"), True, True),
    ("mlr3", scores_of_columns("prob.{label}"), True, True),
    ("knime", scores_of_columns("P ({truth}={label})"), True, True),
    ("rapidminer", scores_of_columns("confidence({label})"), True, True),
    ("orange", scores_of_columns("{pred} ({label})"), True, True),
    ("datarobot", scores_of_columns("{truth}_{label}_PREDICTION"), True, True),
    ("classes alone", scores_of_columns("{label}"), True, True),
    ("numbered", scores_of_columns("class_{place}_score"), True, True),
    ("list", lambda drawn: {"probabilities": drawn.p.tolist()}, True, True),
    ("list alone", lambda drawn: {"scores": drawn.p.tolist()}, False, True),
    ("list of logits", logits, True, True),
    ("mapping", mapped, True, True),
    ("pairs", lambda drawn: {f"{drawn.pred}_probs": ranked(drawn)}, True, True),
    ("pairs alone", lambda drawn: {"output": ranked(drawn)}, False, True),
    ("records", record, False, True),
    ("ranked lists", ranked_lists, False, True),
    ("decimal commas", commas, True, True),
    ("confidence", lambda drawn: {"confidence": drawn.top.tolist()}, True, False),
    ("second model", second_model, True, False),
    ("second reviewer", second_reviewer, True, False),
)
NAMES: dict[str, list[tuple[str, str]]] = {
    "usual": [
        ("y_true", "y_pred"),
        ("label", "prediction"),
        ("actual", "predicted"),
        ("target", "target_pred"),
        ("truth", "response"),
        ("obs", "pred"),
        (".true", ".pred_class"),
        ("Class", "Prediction (Class)"),
        ("gold_label", "label"),
    ],
    "domain": [
        ("species", "species_predicted"),
        ("diagnosis", "model_diagnosis"),
        ("sentiment", "label"),
        ("topic", "predicted_topic"),
        ("ground_truth_intent", "intent"),
        ("churned", "churn_prediction"),
    ],
    "random": [("", "")],
}
FAMILIES = [(names, way) for names in NAMES for way in WAYS]


def tables(half: int, seed: int, count: int) -> Iterator[tuple[Known, bool]]:
    """Yield tables of every second family, and whether a table has exactly one sensible reading."""
    chosen = FAMILIES[half::2]
    for place in range(count):
        rng = np.random.default_rng([seed, half, place])
        yield drawn(rng, *chosen[place % len(chosen)])


def drawn(rng: np.random.Generator, names: str, way: Way) -> tuple[Known, bool]:
    k = int(rng.choice([2, 2, 3, 4, 6, 10, 20, 40]))
    m = int(rng.integers(80, 160)) + 8 * k
    y = np.concatenate([np.arange(k), rng.integers(k, size=m - k)])
    rng.shuffle(y)
    z = rng.normal(size=(m, k))
    z[np.arange(m), y] += 2.0 + 0.3 * np.log(k)
    p = np.exp(z - z.max(axis=1, keepdims=True))
    p = np.asarray(np.round(p / p.sum(axis=1, keepdims=True), 9))
    labels = _labels(rng, k)
    truth, pred = _names(rng, names)
    made = Drawn(labels, y, p.argmax(axis=1), p, truth, pred)
    name, scores, beside, proves = way
    columns: Cells = {truth: [labels[code] for code in y]}
    if beside:
        columns[pred] = made.given
    columns |= scores(made)
    columns |= {key: value for key, value in _distractors(rng, m).items() if key not in columns}
    has_scores = name not in ("none", "confidence", *_RIVALS) or (name == "confidence" and k == 2)
    known = Known(
        _mixed(rng, columns),
        "csv" if name in ("decimal commas",) or (rng.random() < 0.5 and name not in _NESTED) else "jsonl",
        m,
        float((made.predicted == y).mean()),
        float(p[np.arange(m), y].mean()) if has_scores else None,
        what=(names, name, f"{k} labels"),
    )
    is_named = names != "random" and pred not in ("label", "intent") and name not in _RIVALS
    return known, proves or is_named


_RIVALS = ("second model", "second reviewer")
"""Families with a third column of the same labels: only names can say which two are meant."""
_NESTED = (
    "records",
    "ranked lists",
    "pairs",
    "pairs alone",
    "mapping",
    "list",
    "list alone",
    "list of logits",
)


def _labels(rng: np.random.Generator, k: int) -> list[Any]:
    many = [f"kind{chr(97 + place // 26)}{chr(97 + place % 26)}" for place in range(k)]
    words = sorted(WORDS[:k]) if k <= len(WORDS) else many
    choices: list[list[Any]] = [words, list(range(k)), [str(word).upper() for word in words]]
    if k == 2:
        choices += [["no", "yes"], [False, True]]
    return choices[int(rng.integers(len(choices)))]


def _names(rng: np.random.Generator, names: str) -> tuple[str, str]:
    if names == "random":
        letters = np.array(list(string.ascii_lowercase))
        one, other = ("".join(rng.choice(letters, size=6)) for _ in range(2))
        return one, other
    return NAMES[names][int(rng.integers(len(NAMES[names])))]


def _distractors(rng: np.random.Generator, n: int) -> Cells:
    every: Cells = {
        "age": rng.integers(18, 90, size=n).tolist(),
        "member": rng.integers(2, size=n).tolist(),
        "income": rng.normal(size=n).round(4).tolist(),
        "ratio": rng.random(size=n).round(4).tolist(),
        "site": [str(value) for value in rng.choice(["north", "south", "east"], size=n)],
        "id": [int(value) for value in np.arange(n) + 1000],
        "text": [f"text number {place}" for place in range(n)],
        "day": [f"2026-01-{1 + place % 28:02}" for place in range(n)],
        "constant": [1] * n,
        "rank": [int(value) for value in rng.permutation(n)],
    }
    return {name: cells for name, cells in every.items() if rng.random() < 0.35}


def _mixed(rng: np.random.Generator, columns: Cells) -> Cells:
    names = list(columns)
    rng.shuffle(names)
    return {name: columns[name] for name in names}


def counts(half: int, seed: int, count: int) -> Counter[str]:
    """Return how many tables came to which outcome; prints those that were read wrong or not read."""
    found: Counter[str] = Counter()
    for place, (known, is_clear) in enumerate(tables(half, seed, count)):
        what, why = outcome(known)
        found[what] += 1
        found[f"clear: {what}"] += is_clear
        if what == "wrong" or (is_clear and what != "right"):
            shown = {name: cells[0] for name, cells in list(known.columns.items())[:6]}
            print(place, what, known.what, shown, known.format, why.replace("\n", " | "), sep=" | ")
    return found


if __name__ == "__main__":
    import sys

    print(counts(int(sys.argv[1]), int(sys.argv[3]) if len(sys.argv) > 3 else 0, int(sys.argv[2])))

"""Tables with a known value: truth, predictions and scores under many names, beside other columns.

`tables` draws them from a seed, `outcome` reads one and compares what was accepted with what is known.
"""

from __future__ import annotations

import io
import json
import re
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from evalreport.columns.column_request import Columns
from evalreport.columns.find_columns import find, to_predictions
from evalreport.columns.names import column_selector
from evalreport.core.errors import EvalreportError
from evalreport.data.labels import Multilabel, parse_texts
from evalreport.data.predictions import Predictions
from evalreport.data.scores import Probabilities
from evalreport.readers.formats import read_table
from evalreport.readers.read import named_after_labels

Array = npt.NDArray[Any]
Outcome = Literal["right", "refused with a way that works", "refused", "wrong"]
WORDS = [
    "baking",
    "food-safety",
    "equipment",
    "tools",
    "storage",
    "knives",
    "ovens",
    "plates",
    "cups",
    "bowls",
]
NAMES = {
    "truth": ["y_true", "label", "target", "gold_label", "actual", "class", "Outcome", "Purchase", "topic"],
    "pred": ["y_pred", "prediction", "predicted_label", "pred", "Label", "label", "class", "model_says"],
    "score": ["score", "y_proba", "probability", "prob", "confidence", "Score"],
    "vector": ["probabilities", "scores", "y_prob", "probs"],
}
OPTION = re.compile(r"(--[a-z-]+) ((?:\w+=)?(?:\"[^\"]*\"|'[^']*'|[^\s;]+))")


@dataclass(frozen=True, eq=False)
class Known:
    """A table as it was drawn, and what every right reading of it gives.

    Parameters
    ----------
    columns : name to list of cells
    accuracy : float
        Proportion of rows (several labels: of sets) that are right.
    of_truth : float or None
        Mean probability of the true label, where there are scores.
    several : bool
        Whether the table has several evaluations; the values are those of the first.
    """

    columns: dict[str, list[Any]]
    format: str
    n: int
    accuracy: float
    of_truth: float | None
    several: bool = False
    what: tuple[str, ...] = field(default=())


def tables(seed: int, count: int) -> Iterator[Known]:
    for place in range(count):
        yield _drawn(np.random.default_rng([seed, place]))


def _drawn(rng: np.random.Generator) -> Known:
    return _of_sets(rng) if rng.random() < 0.15 else _of_labels(rng)


def _spelled(rng: np.random.Generator, k: int) -> tuple[str, list[Any]]:
    """Return labels in the order of their codes."""
    kind = str(rng.choice(["words", "numbers", "from one", "texts of numbers", "truth", "signs", "yes"]))
    if kind in ("truth", "signs", "yes") and k > 2:
        kind = "words"
    labels: dict[str, list[Any]] = {
        "words": sorted(WORDS[:k]) if k <= len(WORDS) else [f"class {place:02}" for place in range(k)],
        "numbers": list(range(k)),
        "from one": list(range(1, k + 1)),
        "texts of numbers": sorted(map(str, range(k))),
        "truth": [False, True],
        "signs": [-1, 1],
        "yes": ["No", "Yes"],
    }
    return kind, labels[kind]


def _other_spelling(rng: np.random.Generator, kind: str, labels: list[Any]) -> tuple[str, list[Any]]:
    """Return the labels as another program writes them, by code."""
    ways: dict[str, list[Any]] = {
        "prefix": [f"__label__{label}" for label in labels],
        "number before": [f"{place}:{label}" for place, label in enumerate(labels, 1)],
        "quotes": [f"'{label}'" for label in labels],
        "capitals": [str(label).upper() for label in labels],
        "LABEL_": [f"LABEL_{place}" for place in range(len(labels))],
        "codes": list(range(len(labels))),
        "letters": [chr(ord("A") + place) for place in range(len(labels))],
        "from one": list(range(1, len(labels) + 1)),
    }
    way = str(rng.choice(list(ways)))
    return (way, ways[way]) if rng.random() < 0.35 else ("", labels)


def _of_labels(rng: np.random.Generator) -> Known:
    k = int(rng.choice([2, 2, 2, 3, 4, 7, 12, 25]))
    m = int(rng.integers(60, 140)) + 4 * k
    kind, labels = _spelled(rng, k)
    way, others = _other_spelling(rng, kind, labels)
    evaluations = int(rng.choice([1, 1, 1, 1, 1, 2, 3]))
    truth = np.concatenate([np.arange(k), rng.integers(k, size=m - k)])
    rng.shuffle(truth)
    parts = [_scored(rng, truth, k) for _ in range(evaluations)]
    predicted = np.concatenate([part.argmax(axis=1) for part in parts])
    p, y = np.concatenate(parts), np.tile(truth, evaluations)
    given = rng.random() < 0.8
    shape = str(rng.choice(["none", "one", "confidence", "columns", "list", "mapping"]))
    if shape == "one" and k > 2:
        shape = "columns"
    if not given and shape in ("none", "confidence"):
        shape = "list"
    name = {part: str(rng.choice(names)) for part, names in NAMES.items()}
    if name["truth"].lower() == name["pred"].lower():
        name["pred"] = "y_pred"
    columns = {name["truth"]: [labels[code] for code in y]}
    if given:
        columns[name["pred"]] = [others[code] for code in predicted]
    columns |= _scores(shape, p, predicted, labels, name)
    columns |= _beside(rng, y, evaluations, m, labels)
    proba = (
        p if shape in ("columns", "list", "mapping", "one") or (shape == "confidence" and k == 2) else None
    )
    first = slice(0, m)
    return Known(
        _shuffled(rng, columns),
        str(rng.choice(["csv", "jsonl"])),
        m,
        float((predicted[first] == truth).mean()),
        None if proba is None else float(proba[np.arange(m), truth].mean()),
        evaluations > 1,
        (
            kind,
            way,
            shape,
            f"{k} labels",
            f"{evaluations} evaluations",
            "predictions" if given else "scores alone",
        ),
    )


def _scored(rng: np.random.Generator, truth: Array, k: int) -> Array:
    z = rng.normal(size=(len(truth), k))
    z[np.arange(len(truth)), truth] += 2.0
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return np.asarray(np.round(e / e.sum(axis=1, keepdims=True), 9))


def _scores(
    shape: str, p: Array, predicted: Array, labels: list[Any], name: dict[str, str]
) -> dict[str, list[Any]]:
    match shape:
        case "one":
            return {name["score"]: p[:, 1].tolist()}
        case "confidence":
            return {name["score"]: p[np.arange(len(p)), predicted].tolist()}
        case "columns":
            return {f"proba_{label}": p[:, place].tolist() for place, label in enumerate(labels)}
        case "list":
            return {name["vector"]: [row.tolist() for row in p]}
        case "mapping":
            return {name["vector"]: [dict(zip(map(str, labels), row.tolist(), strict=True)) for row in p]}
    return {}


def _beside(
    rng: np.random.Generator, y: Array, evaluations: int, m: int, labels: Sequence[Any]
) -> dict[str, list[Any]]:
    """Return columns that are none of truth, prediction and scores."""
    n = len(y)
    found: dict[str, list[Any]] = {}
    if evaluations > 1:
        name = str(rng.choice(["model", "provider", "filter", ".config", "alpha"]))
        found[name] = [f"m{place // m}" for place in range(n)]
    if rng.random() < 0.5:
        found[str(rng.choice(["id", "example_id", "row", "uuid"]))] = [
            int(value) for value in np.tile(np.arange(m) + int(rng.choice([0, 10**15, 10**18])), evaluations)
        ]
    if rng.random() < 0.4:
        found["age"] = rng.integers(18, 90, size=n).tolist()
    if rng.random() < 0.4:
        found["member"] = rng.integers(2, size=n).tolist()
    if rng.random() < 0.4:
        found["income"] = np.round(rng.normal(size=n), 4).tolist()
    if rng.random() < 0.3:
        found["site"] = [str(value) for value in rng.choice(["north", "south", "east"], size=n)]
    if rng.random() < 0.15:
        found[str(rng.choice(["labels", "classes"]))] = [list(labels)] * n
    return found


def _of_sets(rng: np.random.Generator) -> Known:
    k, n = int(rng.integers(2, 7)), int(rng.integers(60, 140))
    truth = rng.random((n, k)) < 0.4
    predicted = truth ^ (rng.random((n, k)) < 0.12)
    shape = str(rng.choice(["indicators", "truth values", "names", "columns"]))
    right, answer = ("labels", "predicted_labels") if rng.random() < 0.5 else ("y_true", "y_pred")
    names = sorted(WORDS[:k])
    columns: dict[str, list[Any]] = {}
    for part, name, rows in (("true", right, truth), ("pred", answer, predicted)):
        match shape:
            case "indicators":
                columns[name] = rows.astype(int).tolist()
            case "truth values":
                columns[name] = rows.tolist()
            case "names":
                columns[name] = [[names[place] for place in np.flatnonzero(row)] for row in rows]
            case _:
                columns |= {
                    f"{part}_{label}": rows[:, j].astype(int).tolist() for j, label in enumerate(names)
                }
    if rng.random() < 0.4:
        columns["id"] = list(range(n))
    accuracy = float((truth == predicted).all(axis=1).mean())
    form = str(rng.choice(["csv", "jsonl"]))
    return Known(_shuffled(rng, columns), form, n, accuracy, None, what=("sets", shape, f"{k} labels"))


def _shuffled(rng: np.random.Generator, columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    names = list(columns)
    rng.shuffle(names)
    return {name: columns[name] for name in names}


def written(known: Known) -> bytes:
    if known.format == "csv":
        return pd.DataFrame(known.columns).to_csv(index=False).encode()
    rows = zip(*known.columns.values(), strict=True)
    return "".join(json.dumps(dict(zip(known.columns, row, strict=True))) + "\n" for row in rows).encode()


def outcome(known: Known) -> tuple[Outcome, str]:
    """Read a table without an option: what was accepted is right or wrong; a refusal may have a way out."""
    data = written(known)
    try:
        read = _read(data, known.format, Columns())
    except EvalreportError as error:
        works = any(_leads(data, known, way) for way in ways(error.fix, Columns()))
        return "refused with a way that works" if works else "refused", error.as_lines()
    if known.several:
        return "wrong", "several evaluations are pooled"
    difference = _difference(read, known)
    return ("wrong", difference) if difference else ("right", "")


def _read(data: bytes, form: str, request: Columns) -> Predictions:
    further = named_after_labels(request)
    table = read_table(io.BytesIO(data), format=form, columns=column_selector(request), further=further)
    found = find(table, request)
    if found.text is None:
        return to_predictions(found, missing=request.missing)
    return to_predictions(found, parse_texts(found.text.tolist(), found.space.texts, "auto", fuzzy=False))


STEPS = 4
"""Refusals in a row, each followed by its fix, that still count as a way out."""


def _leads(data: bytes, known: Known, request: Columns, steps: int = STEPS) -> bool:
    try:
        return not _difference(_read(data, known.format, request), known)
    except EvalreportError as error:
        return steps > 1 and any(_leads(data, known, way, steps - 1) for way in ways(error.fix, request))


def _difference(read: Predictions, known: Known) -> str:
    if len(read) != known.n:
        return f"{len(read)} rows, not {known.n}"
    if read.y_pred is None:
        return "no decision"
    same = read.y_true == read.y_pred
    accuracy = float((same.all(axis=1) if isinstance(read.space, Multilabel) else same).mean())
    if abs(accuracy - known.accuracy) > 1e-9:
        return f"accuracy {accuracy}, not {known.accuracy}"
    if known.of_truth is None or not isinstance(read.scores, Probabilities):
        return ""
    p = read.scores.values
    of_truth = np.where(read.y_true == 1, p, 1 - p) if p.ndim == 1 else p[np.arange(len(p)), read.y_true]
    off = abs(float(of_truth.mean()) - known.of_truth)
    return f"mean probability of the true label {of_truth.mean()}, not {known.of_truth}" if off > 1e-6 else ""


def ways(fix: str, request: Columns) -> Iterator[Columns]:
    """Yield the request with what a fix proposes: each alternative for itself."""
    known = {each.name for each in fields(Columns)}
    for alternative in re.split(r"; |, or ", fix):
        given: dict[str, Any] = {}
        for option, value in OPTION.findall(alternative):
            name, word = option, (shlex.split(value.rstrip(",")) or [""])[0]
            if name == "--set":
                name, _, word = word.partition("=")
            name = name.removeprefix("--").replace("-", "_")
            if name in known:
                given[name] = _as_asked(name, word)
        if all(len(pair) == 2 for pair in given.get("label_names", ())):
            try:
                yield replace(request, **given)
            except EvalreportError:
                continue


def _as_asked(name: str, word: str) -> Any:
    match name:
        case "no_scores" | "several_answers":
            return True
        case "where":
            return (word,)
        case "labels":
            return tuple(word.split(","))
        case "label_names":
            return tuple(tuple(pair.split("=", 1)) for pair in word.split(","))
    return word


def counts(seed: int, count: int) -> Counter[str]:
    """Return how many tables came to which outcome; prints those that were read wrong or have no way out."""
    found: Counter[str] = Counter()
    for place, known in enumerate(tables(seed, count)):
        what, why = outcome(known)
        found[what] += 1
        if what in ("wrong", "refused"):
            print(place, what, known.what, list(known.columns), known.format, why, sep=" | ")
    return found


if __name__ == "__main__":
    import sys

    print(counts(int(sys.argv[2]) if len(sys.argv) > 2 else 0, int(sys.argv[1])))

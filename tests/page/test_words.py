"""No sentence that its own table contradicts: every number of every sentence, held against the JSON.

Each number of a sentence has a name; what the name may stand for is worked out here a second time, from
`evaluation.json` alone. Digits that no name accounts for are an error, too.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain, product
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from evalreport.core.result import Estimate, Provenance
from evalreport.core.sentences import Sentence, join_as_list, say
from evalreport.data.labels import Binary, Multiclass, Multilabel
from evalreport.data.predictions import Predictions, predictions
from evalreport.data.scores import Probabilities
from evalreport.evaluation.evaluate import evaluate_predictions
from evalreport.evaluation.evaluation import Evaluation
from evalreport.features.text_labels.parser import make_parser, parse_all
from evalreport.findings.ordered_rules import find
from evalreport.findings.score_quality import gains
from evalreport.intervals.interval_settings import Sampling
from evalreport.metrics.operating_points import at_prevalence
from evalreport.page.contents import sections
from evalreport.page.sections.first_screen import first_screen
from tests.page.made import KINDS, made

LITERALS = re.compile(
    r"F1|add up to 100%|15 bins|; 1 is ideal|\(1 is ideal\)|\(0 is ideal\)|per 100 |Elkin 2006|sha256|"
    r"threshold of 0\.10 |95% intervals|Shaded: 95%"
)
"""Numbers that the sentences state of themselves, not of the data."""


def sentences(value: Any) -> Iterator[Sentence]:
    """Every sentence inside a value of a panel."""
    if isinstance(value, Sentence):
        yield value
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from sentences(getattr(value, field.name))
    elif isinstance(value, tuple):
        for part in value:
            yield from sentences(part)


class Facts:
    """What `evaluation.json` says, added up a second time."""

    def __init__(self, ev: Evaluation) -> None:
        self.json = json.loads(ev.to_json())

    def metric(self, name: str) -> float:
        value = self.json["metrics"].get(name, {}).get("value")
        return math.nan if value is None else float(value)

    @cached_property
    def matrix(self) -> Any:
        size = len(self.json["labels"])
        dense = np.zeros((size, size + 1))
        for row, column, weight in self.json["confusion"]["cells"] if self.json["confusion"] else ():
            dense[int(row), int(column)] = weight
        return dense

    @property
    def support(self) -> Any:
        return self.matrix.sum(axis=1)

    @property
    def right(self) -> Any:
        return np.diag(self.matrix)

    @property
    def off(self) -> Any:
        wrong = self.matrix.copy()
        np.fill_diagonal(wrong, 0)
        return wrong

    @property
    def total(self) -> float:
        return float(self.json["weight"])

    @property
    def negative(self) -> float:
        return float(self.support[0])

    @property
    def positive(self) -> float:
        return float(self.support[1])

    def classes(self, name: str) -> list[float]:
        return [float(entry[name]) for entry in self.json["classes"] if entry[name] is not None]

    @property
    def mistakes(self) -> list[float]:
        if self.json["confusion"]:
            return [float(self.off.sum())]
        return [
            sum(entry["support"] + entry["predicted"] - 2 * entry["right"] for entry in self.json["classes"])
        ]

    @property
    def families(self) -> tuple[int, float]:
        from evalreport.findings.confusions import kinship

        confusion = Evaluation.from_json(json.dumps(self.json)).confusion
        assert confusion is not None
        kin = kinship(confusion)
        inside = 0.0
        for family in kin.families:
            block = self.matrix[np.ix_(family.members, family.members)]
            inside += block.sum() - np.trace(block)
        return len(kin.families), inside

    @property
    def independent(self) -> list[float]:
        """How many rows, or groups, are independent."""
        least = min(
            self.json["data_checks"].get("effective_n", math.inf), self.json["clusters"] or self.json["n"]
        )
        return [round(min(least, self.json["n"]))]

    @property
    def lowest(self) -> list[float]:
        """The lower ends of Wilson's interval of the recall of each class of which all are right."""
        rows = [
            n * s / self.total for s in (*self.support, *self.classes("support")) for n in self.independent
        ]
        return [m / (m + 1.959963984540054**2) for m in rows]

    @property
    def points(self) -> list[dict[str, float]]:
        """Points of the sweep, best F1 first."""
        found: list[dict[str, float]] = self.json["thresholds"]["points"]
        return sorted(found, key=lambda point: -f1_of(point))

    @property
    def f1_points(self) -> list[dict[str, float]]:
        """Points of the sweep with the best F1."""
        return [p for p in self.points if f1_of(p) >= f1_of(self.points[0]) - 1e-12]

    @property
    def half(self) -> float:
        """How few cells hold half of the mistakes."""
        cells = np.sort(self.off[self.off > 0])[::-1]
        return float(np.searchsorted(cells.cumsum(), cells.sum() / 2) + 1)


def f1_of(point: Mapping[str, float]) -> float:
    return 2 * point["tp"] / max(2 * point["tp"] + point["fp"] + point["fn"], 1e-300)


def safe_points(facts: Facts) -> list[dict[str, float]]:
    """The highest threshold that is sure to keep 95 % of positives: with so many misses 5 % would be rare."""
    points = sorted(facts.json["thresholds"]["points"], key=lambda p: -(p["threshold"] or math.inf))
    good = [p for p in points if binom.sf(p["fn"], p["tp"] + p["fn"], 0.05) >= 0.95]
    return good[:1]


def suggested(facts: Facts) -> dict[str, Any]:
    found: dict[str, Any] = facts.json["thresholds"]["optima"]["recall>=0.95"]
    return found


Oracle = Callable[[Facts], Iterable[float]]


def _values(found: list[Any], part: str, key: str = "value") -> list[float]:
    return [one[part].get(key) for one in found]


def of_metric(name: str) -> Oracle:
    return lambda f: [f.metric(name)]


ORACLES: Mapping[str, Oracle] = {
    **{
        name: of_metric(name)
        for name in (
            *(
                "roc_auc",
                "average_precision",
                "accuracy",
                "ece",
                "ici",
            ),
            *("roc_auc_ovr_macro", "average_precision_macro"),
            *("f1_micro",),
        )
    },
    "auc": lambda f: [f.metric(n) for n in ("roc_auc", "roc_auc_ovr_macro", "roc_auc_macro")],
    "slope": of_metric("calibration_slope"),
    "slope_low": lambda f: [f.json["metrics"]["calibration_slope"]["low"]],
    "ici_low": lambda f: [f.json["metrics"]["ici"]["low"]],
    "ici_high": lambda f: [f.json["metrics"]["ici"]["high"]],
    "slope_high": lambda f: [f.json["metrics"]["calibration_slope"]["high"]],
    "n": lambda f: [
        *(f.total, f.negative, f.json["n"], *f.independent),
        *([f.json["parsing"]["n"]] if f.json["parsing"] else []),
    ],
    "p": lambda f: [f.positive],
    "tp": lambda f: [f.matrix[1, 1]],
    "fn": lambda f: [f.positive - f.matrix[1, 1]],
    "fp": lambda f: [f.matrix[0, 1]],
    "right": lambda f: [f.right.sum(), *f.right],
    "always": lambda f: [f.support.max()],
    "share": lambda f: [f.right.sum() / f.total],
    "false": lambda f: [1 - f.metric("precision_micro")],
    "level": lambda f: [f.json["no_skill"].get("f1_micro", math.nan)],
    "blind": lambda f: [sum(entry["state"] == "never_predicted" for entry in f.json["classes"])],
    "classes": lambda f: [len(f.json["labels"])],
    "absent": lambda f: [sum(entry["support"] == 0 for entry in f.json["classes"])],
    "support": lambda f: f.classes("support"),
    "found": lambda f: f.classes("right"),
    "occurring": lambda f: [sum(entry["support"] > 0 for entry in f.json["classes"])],
    "poor": lambda f: [sum(f.right[f.support > 0] / f.support[f.support > 0] < 0.2)],
    "pairs": lambda f: [(f.off > 0).sum()],
    "cells": lambda f: [(f.off > 0).sum()],
    "half": lambda f: [f.half],
    "pair": lambda f: [f.off[:, :-1].max()],
    "families": lambda f: [f.families[0]],
    "inside": lambda f: [f.families[1] / f.off.sum()],
    "unparsed": lambda f: [f.matrix[:, -1].sum()],
    "read": lambda f: [f.matrix[:, :-1].sum()],
    "wanted": lambda f: [sum(f.classes("support"))],
    "hit": lambda f: [sum(f.classes("right"))],
    "added": lambda f: [sum(f.classes("predicted"))],
    "wrong": lambda f: [*f.mistakes, sum(f.classes("predicted")) - sum(f.classes("right"))],
    "shown": lambda f: [len(f.json["mistakes"])],
    "recall_low": lambda f: f.lowest,
    "kappa": of_metric("cohen_kappa_quadratic"),
    "near": lambda f: [np.diag(f.off, 1).sum() + np.diag(f.off[:, :-1], -1).sum()],
    "whole": lambda _: [1.0],
    "rarest": lambda f: [min(n for n in (*f.support, *f.classes("support")) if n)],
    "specificity_low": lambda f: f.lowest,
    "to": lambda f: [point["threshold"] for point in f.f1_points],
    "found_more": lambda f: [point["tp"] - f.matrix[1, 1] for point in f.f1_points],
    "found_fewer": lambda f: [f.matrix[1, 1] - point["tp"] for point in f.f1_points],
    "fp_more": lambda f: [point["fp"] - f.matrix[0, 1] for point in f.f1_points],
    "fp_fewer": lambda f: [f.matrix[0, 1] - point["fp"] for point in f.f1_points],
    "recall": lambda f: [f.metric(name) for name in ("recall", "recall_micro")],
    "fpr": of_metric("fpr"),
    "found_share": lambda f: [point["tp"] / (point["tp"] + point["fn"]) for point in f.f1_points],
    "flagged_share": lambda f: [point["fp"] / (point["fp"] + point["tn"]) for point in f.f1_points],
    "suggested": lambda f: [suggested(f)["threshold"]],
    "reached": lambda f: [suggested(f)["constraint"]["in_sample"]],
    "chance": lambda f: [suggested(f)["constraint"]["chance"]],
    "sure": lambda _: [0.95],
    "needed": lambda _: [59, 299],
    "few": lambda f: [f.points[0]["tp"] + f.points[0]["fn"], f.points[0]["fp"] + f.points[0]["tn"]],
    "tp_here": lambda f: [suggested(f)["counts"]["tp"]],
    "fp_here": lambda f: [suggested(f)["counts"]["fp"]],
    "safe": lambda f: [point["threshold"] for point in safe_points(f)],
    "safe_tp": lambda f: [point["tp"] for point in safe_points(f)],
    "safe_fp": lambda f: [point["fp"] for point in safe_points(f)],
    "observed": lambda f: [f.positive],
    "average_precision_micro": of_metric("average_precision_micro"),
    "expected": lambda f: [round(np.dot(*(f.json["curves"]["reliability"][key] for key in ("n", "score"))))],
    "bins": lambda f: [len(f.json["curves"]["reliability"]["n"])],
    "least": lambda f: [min(f.json["curves"]["reliability"]["n"])],
    "most": lambda f: [max(f.json["curves"]["reliability"]["n"])],
    "metrics": lambda f: [len(f.json["metrics"])],
    "undefined": lambda f: [sum(entry["value"] is None for entry in f.json["metrics"].values())],
    "times": lambda _: [4],
    "thousand": lambda _: [1000],
    "prevalence": lambda f: [f.positive / f.total],
    "alerts": lambda f: [f.metric("alerts_per_1000@prevalence=0.01")],
    "right_there": lambda f: [f.metric("precision@prevalence=0.01")],
    "gap": lambda f: _values(f.json["disparities"], "difference"),
    "gap_low": lambda f: _values(f.json["disparities"], "difference", "low"),
    "gap_high": lambda f: _values(f.json["disparities"], "difference", "high"),
    "smallest_rows": lambda f: [one["smallest_rows"] for one in f.json["disparities"]],
    "smallest_value_low": lambda f: _values(f.json["disparities"], "smallest_value", "low"),
    "smallest_value_high": lambda f: _values(f.json["disparities"], "smallest_value", "high"),
    "slice_low": lambda f: [
        entry["value"]
        for part in f.json["slices"]
        for entry in part["metrics"].values()
        if entry["value"] is not None
    ],
}


def check(
    sentence: Sentence, facts: Any, oracles: Mapping[str, Callable[[Any], Iterable[float]]] = ORACLES
) -> None:
    for number in sentence.numbers:
        assert number.name in oracles, f"no oracle for {number.name!r} in: {sentence.text}"
        wanted = [float(value) for value in oracles[number.name](facts) if value is not None]
        near = [value for value in wanted if math.isclose(value, number.value, rel_tol=1e-9, abs_tol=1e-9)]
        assert near, f"{number} is none of {wanted[:20]} in: {sentence.text}"
    own = "".join("\x00" if run.foreign else run.text for run in sentence.runs)
    rest = ""
    for number in sentence.numbers:
        before, shown, own = LITERALS.sub("#", own).partition(number.shown)
        assert shown, f"{number} is not in: {sentence.text}"
        rest += before
    assert not re.search(r"\d", LITERALS.sub("#", rest + own)), (
        f"{rest + own!r} states a number without a name"
    )


def check_page(ev: Evaluation) -> int:
    """Check every sentence of a page, and return how many there are."""
    facts, rows = Facts(ev), Facts(ev.in_rows())
    found = of_page(ev)
    for sentence in found:
        try:
            check(sentence, facts)
        except AssertionError:  # where rows weigh, sentences count rows
            if ev.row_counts is None:
                raise
            check(sentence, rows)
    return len(found)


def of_page(ev: Evaluation) -> list[Sentence]:
    """Every sentence of a page but its provenance, whose digests and names are no findings."""
    return [s for section in sections(ev) for s in sentences(section) if section.id != "provenance"]


RARE = (
    *(("binary scores", 26), ("binary scores", 13), ("multilabel", 37), ("multilabel scores", 31)),
    *(("multiclass", 43), ("multiclass", 9), ("multiclass", 8)),
)
"""Generated evaluations that ask for what the shown ones do not; the test goes on to others."""


def silent(rng: np.random.Generator) -> Predictions:
    """Rows of uneven weight of which none is predicted positive, though many are and the scores rank them."""
    truth = rng.random(900) < 0.3
    scores = 1 / (1 + np.exp(4 - 0.7 * (rng.normal(0, 1, 900) + 1.5 * truth)))
    names = np.where(truth, "fraud", "ok").tolist()
    weights = rng.lognormal(0, 0.9, 900)
    return predictions(Binary("ok", "fraud"), names, scores=Probabilities(scores), weights=weights)


def ordered_and_flawless() -> list[Evaluation]:
    """Grades of which some are a step off, and two classes without a mistake."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, 200)
    chances = rng.dirichlet(np.ones(4), 200) + np.eye(4)[np.minimum(truth + (rng.random(200) < 0.3), 3)]
    scores = Probabilities(chances / chances.sum(axis=1, keepdims=True))
    rows = [
        predictions(Multiclass([1, 2, 3, 4], ordered=True), (truth + 1).tolist(), scores=scores),
        predictions(Multiclass("abc"), list("aabbc" * 9), list("aabbc" * 9)),
        predictions(Binary("ok", "fraud"), ["ok", "fraud", "ok"] * 9, ["ok", "fraud", "ok"] * 9),
    ]
    return [evaluate_predictions(p, Sampling(resamples=20)) for p in rows]


def test_every_oracle_is_asked() -> None:
    """A number whose oracle no page needs any more would be checked by nobody when it comes back."""
    weighted = evaluate_predictions(silent(np.random.default_rng(0)), Sampling(resamples=20))
    every = (*map(made, KINDS), weighted, *ordered_and_flawless())
    left = set(ORACLES) - {number.name for ev in every for s in of_page(ev) for number in s.numbers}
    for task, seed in chain(RARE, product(RANDOM, range(60))):
        if not left:
            return
        p = RANDOM[task][0](np.random.default_rng(seed))
        more = at_prevalence(0.01) if isinstance(p.space, Binary) else ()
        ev = evaluate_predictions(p, Sampling(resamples=20), more=more)
        left -= {number.name for s in of_page(ev) for number in s.numbers}
    assert left == set()


@pytest.mark.parametrize("kind", KINDS)
def test_every_number_of_a_page_is_in_the_json(kind: str) -> None:
    assert check_page(made(kind)) > 5


def words(ev: Evaluation) -> tuple[Sentence, Sentence]:
    body = first_screen(ev).body
    return body.headline, body.step


def random_binary(rng: np.random.Generator, *, scored: bool = False) -> Predictions:
    n = int(rng.integers(1, 120))
    truth = rng.random(n) < rng.choice([0.02, 0.1, 0.5, 0.9])
    skill = rng.choice([-1.0, 0.0, 0.5, 2.0, 6.0])
    scores = 1 / (1 + np.exp(-rng.normal(np.where(truth, skill, -skill) + rng.normal(), 1.5)))
    labels = Binary("ham", "spam") if rng.random() < 0.7 else Binary(0, 1)
    names = [labels.labels[int(value)] for value in truth]
    if not scored:
        return predictions(labels, names, [labels.labels[int(score > 0.5)] for score in scores])
    threshold = None if rng.random() < 0.5 else round(float(rng.random()), 2)
    return predictions(labels, names, scores=Probabilities(scores), threshold=threshold)


def random_biased(rng: np.random.Generator) -> Predictions:
    """Scores that rank well and are far too low or too high, so that another threshold is worth its price."""
    n = int(rng.integers(400, 1200))
    truth = rng.random(n) < 0.3
    logit = 2.2 * (rng.normal(0, 1, n) + 2.2 * (truth - 0.5)) + rng.choice([-3.0, 3.0])
    names = np.where(truth, "spam", "ham").tolist()
    return predictions(Binary("ham", "spam"), names, scores=Probabilities(1 / (1 + np.exp(-logit))))


def size(rng: np.random.Generator, most: int) -> int:
    """A few rows, or once in a while so many that sentences give shares in place of counts."""
    return 1200 if rng.random() < 0.08 else int(rng.integers(2, most))


def random_multiclass(rng: np.random.Generator) -> Predictions:
    k, n = int(rng.integers(2, 18)), size(rng, 150)
    names = [f"c{code}" for code in range(k)]
    truth = rng.choice(k, n, p=rng.dirichlet(np.full(k, rng.choice([0.3, 3.0]))))
    style = rng.choice(["noise", "sink", "pairs", "right"])
    other = {
        "noise": rng.integers(0, k, n),
        "sink": np.zeros(n, dtype=int),
        "pairs": np.minimum(truth ^ 1, k - 1),
        "right": truth,
    }[style]
    answer = np.where(rng.random(n) < rng.random(), truth, other)
    return predictions(Multiclass(names), [names[c] for c in truth], [names[c] for c in answer])


def random_multilabel(rng: np.random.Generator) -> Predictions:
    k, n = int(rng.integers(1, 6)), size(rng, 80)
    truth = rng.random((n, k)) < rng.random(k) * 0.6
    answer = np.where(rng.random((n, k)) < rng.random(), truth, rng.random((n, k)) < rng.random())
    return predictions(Multilabel([f"l{code}" for code in range(k)]), truth, answer)


def random_multiclass_scores(rng: np.random.Generator) -> Predictions:
    k, n = int(rng.integers(2, 16)), int(rng.integers(2, 120))
    names = [f"c{code}" for code in range(k)]
    truth = rng.choice(k, n, p=rng.dirichlet(np.full(k, rng.choice([0.3, 3.0]))))
    scores = rng.random((n, k)) + rng.choice([0.0, 0.3, 1.0, 9.0]) * (truth[:, None] == np.arange(k))
    found = Probabilities(scores / scores.sum(axis=1, keepdims=True))
    slices = {"site": rng.choice(["north", "south"], n)} if rng.random() < 0.5 else None
    return predictions(Multiclass(names), [names[c] for c in truth], scores=found, slices=slices)


def random_multilabel_scores(rng: np.random.Generator) -> Predictions:
    k, n = int(rng.integers(2, 6)), size(rng, 80)
    truth = rng.random((n, k)) < rng.random(k) * 0.6
    scores = Probabilities(np.clip(rng.random((n, k)) * 0.6 + truth * rng.choice([0, 0.2, 0.4]), 0, 1))
    threshold = [None, 0.3, rng.random(k).round(2).tolist()][int(rng.integers(3))]
    return predictions(
        Multilabel([f"l{code}" for code in range(k)]), truth, scores=scores, threshold=threshold
    )


def random_text(rng: np.random.Generator) -> Predictions:
    names = [f"c{code}" for code in range(int(rng.integers(2, 16)))]
    n = int(rng.integers(1, 120))
    truth = rng.choice(names, n)
    spoken = ["{}", "Label: {}", "It is {}.", "I cannot say.", "", "c0 or c1"]
    forms = rng.choice(spoken, n, p=rng.dirichlet([5, 2, 2, 1, 1, 1]))
    answers = [
        form.format(t if rng.random() < 0.7 else rng.choice(names))
        for form, t in zip(forms, truth, strict=True)
    ]
    parsed = parse_all(answers, make_parser("auto", names))
    return predictions(Multiclass(names), truth, parsed)


RANDOM: Mapping[str, tuple[Callable[[np.random.Generator], Predictions], int]] = {
    "binary labels": (random_binary, 1200),
    "binary scores": (partial(random_binary, scored=True), 120),
    "binary biased": (random_biased, 12),
    "multiclass": (random_multiclass, 700),
    "multiclass scores": (random_multiclass_scores, 60),
    "multilabel": (random_multilabel, 120),
    "multilabel scores": (random_multilabel_scores, 60),
    "text": (random_text, 300),
}
SHARE = 1 if "FUZZ_EXAMPLES" in os.environ else 12
"""One in so many of them is made here, but fifteen at least; all of them by `make fuzz`."""
EVERY = 4
"""Of so many generated evaluations one has all sentences of its page checked, the others the verdict."""


@pytest.mark.parametrize("task", RANDOM)
def test_verdicts_of_generated_evaluations_are_true(task: str) -> None:
    make, count = RANDOM[task]
    seen: set[str] = set()
    for seed in range(min(count, max(count // SHARE, 15))):
        p = make(np.random.default_rng(seed))
        sampling = Sampling(resamples=20)
        ev = evaluate_predictions(p, sampling).with_provenance(Provenance(unit=("note", "notes")))
        facts = Facts(ev)
        headline, step = words(ev)
        assert headline.text.strip(), seed
        assert len(headline.text) <= 120, headline.text
        for sentence in (headline, step):
            check(sentence, facts)
        check_claims(ev, facts, headline, step)
        if seed % EVERY == 0:
            for sentence in of_page(replace(ev, findings=find(ev))):
                check(sentence, facts)
        seen.add(re.sub(r"[\d,.]+|[“(].*?[”)]|\bc\d+|\bl\d+", "#", headline.text))
    assert len(seen) >= {"multilabel scores": 3, "binary biased": 1, "text": 1}.get(task, 4), (
        "the generator makes too few kinds of headline"
    )


def check_claims(ev: Evaluation, facts: Facts, headline: Sentence, step: Sentence) -> None:
    """What sentences claim in words, recomputed from the JSON."""
    metrics = facts.json["metrics"]
    check_skill(ev, facts, headline)
    if "No mistakes" in headline.text:
        assert facts.mistakes == [0]
    if "the threshold to about" in step.text:
        then = facts.json["thresholds"]["optima"]["f1"]["held_out"]
        assert then - metrics["f1"]["value"] > max(0.01, (metrics["f1"]["high"] - metrics["f1"]["low"]) / 2)
        assert ": and" not in step.text and ": ." not in step.text
        assert (
            "calibration_slope" not in metrics or not is_calibrated(metrics) or not facts.matrix[:, 1].sum()
        )


WITNESSES: Mapping[str, Callable[[Facts], dict[str, float]]] = {
    "binary": lambda f: {"balanced_accuracy" if f.json["confusion"] else "roc_auc": 0.5},
    "multiclass": lambda f: {"accuracy": f.support.max() / f.total, "mcc": 0.0},
    "multilabel": lambda f: {"f1_micro": f.json["no_skill"].get("f1_micro", math.nan)},
}


def is_calibrated(metrics: Mapping[str, Any]) -> bool:
    """Whether slope and intercept are demonstrated to be off in neither."""
    ideal = {"calibration_slope": 1.0, "calibration_intercept": 0.0}
    return all(
        metrics[name]["low"] is not None and metrics[name]["low"] <= wanted <= metrics[name]["high"]
        for name, wanted in ideal.items()
    )


def check_skill(ev: Evaluation, facts: Facts, headline: Sentence) -> None:
    """Skill that is denied, doubted or turned round, held against the intervals."""
    known = {name: facts.json["metrics"].get(name, {}) for name in WITNESSES[ev.task](facts)}
    ends = {name: (one.get("low"), one.get("high")) for name, one in known.items()}
    for name, level in WITNESSES[ev.task](facts).items():
        low, high = ends[name]
        if low is None or high is None:
            continue
        if re.match("No better than|Not significantly better than|Worse than", headline.text):
            assert low <= level, headline.text
        if headline.text.startswith("Worse than") and name != "accuracy":
            assert high < level, headline.text
        one_answer = sum(entry["predicted"] > 0 for entry in facts.json["classes"]) < 2
        if headline.text.startswith("No better than") and name != "accuracy" and facts.json["classes"]:
            assert one_answer or high < level + 0.2, headline.text


def test_a_contradiction_would_be_caught() -> None:
    facts = Facts(made("binary"))
    check(say("Finds {tp:count}.", tp=facts.matrix[1, 1]), facts)
    with pytest.raises(AssertionError, match="none of"):
        check(say("Finds {tp:count}.", tp=facts.matrix[1, 1] + 1), facts)
    with pytest.raises(AssertionError, match="without a name"):
        check(say("Finds 12."), facts)
    with pytest.raises(AssertionError, match="no oracle"):
        check(say("Finds {luck:count}.", luck=3), facts)


def test_a_gain_within_the_noise_is_none() -> None:
    assert not gains(Estimate(0.85, 100, 0.84, 0.86), 0.855)
    assert not gains(Estimate(0.85, 100, 0.75, 0.9), 0.9)
    assert not gains(Estimate(0.85, 100), 0.95)
    assert gains(Estimate(0.85, 100, 0.84, 0.86), 0.88)


def test_values_never_become_markup() -> None:
    sentence = say("*{name}* is `{code}`", name="*_`{x}", code="_y_")
    assert sentence.text == "*_`{x} is _y_"
    assert [run.stress for run in sentence.runs] == ["strong", "", "code"]
    assert join_as_list([say("{a}", a="x"), say("{a}", a="y")]).text == "x and y"

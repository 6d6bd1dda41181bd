"""The page of chosen thresholds: every kind has one, and each number of a sentence stands in its JSON."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import html5lib
import numpy as np
import pytest

from evalreport.core.json_codec import encode
from evalreport.core.result import Estimate
from evalreport.data.predictions import predictions
from evalreport.data.scores import Probabilities
from evalreport.evaluation.evaluation import ThresholdSelection
from evalreport.page.elements import Section
from evalreport.page.render import render
from evalreport.page.sections import chosen_thresholds
from evalreport.page.selection import PANELS
from tests.page.made import TUMOUR, multiclass, multilabel, named
from tests.page.sweeps import KINDS, hostile, made, other_rows, swept
from tests.page.test_shape import CORPUS, TASKS, shape
from tests.page.test_words import ORACLES, Facts, check, sentences

OWN = ("verdict", "optima", "course", "cutoffs", "tuned", "labels", "classes", "history")
"""Sections of this page alone; the others are those of an evaluation."""


class Swept(Facts):
    """What the JSON of a sweep says, beside that of its evaluation."""

    def __init__(self, found: ThresholdSelection) -> None:
        super().__init__(found.evaluation)
        self.sweep = encode(found)
        self.in_rows = Facts(found.evaluation.in_rows())

    def of(self, *keys: str) -> list[float]:
        found = (best.get(key) for best in self.sweep["optima"].values() for key in keys)
        return [value for value in found if isinstance(value, float | int)]

    def out_of_sample(self, name: str) -> list[float]:
        ends = [best.get(name) for best in self.sweep["optima"].values()]
        return [end["value"] for end in ends if end and end.get("value") is not None]

    def decided(self) -> list[tuple[dict[str, Any], float]]:
        """Each accuracy target with the number of rows that it decides."""
        optima = self.sweep["optima"].values()
        return [(best, best["coverage"] * self.json["n"]) for best in optima if "coverage" in best]

    def bounds(self) -> list[dict[str, Any]]:
        return [best for best in self.sweep["optima"].values() if best.get("constraint")]

    @property
    def now(self) -> dict[str, float]:
        return {"tp": self.matrix[1, 1], "fp": self.matrix[0, 1]}

    def trials(self) -> list[dict[str, Any]]:
        studies = [best.get("trials") for best in self.sweep["optima"].values()]
        return [study for study in studies if study]


def count_rows(name: str, s: Swept) -> Iterable[float]:
    """A count of the picture, which is in rows where rows weigh."""
    return ORACLES[name](s.in_rows)


NUMBERS: Mapping[str, Callable[[Swept], Iterable[float]]] = {
    "threshold": lambda s: [*s.of("threshold"), s.json["threshold"]],
    "to": lambda s: [
        *s.of("threshold"),
        *(h["threshold"] for best in s.bounds() if (h := best.get("at_confidence"))),
    ],
    "found_more": lambda s: [point["tp"] - s.now["tp"] for point in s.sweep["points"]],
    "found_fewer": lambda s: [s.now["tp"] - point["tp"] for point in s.sweep["points"]],
    "fp_more": lambda s: [point["fp"] - s.now["fp"] for point in s.sweep["points"]],
    "fp_fewer": lambda s: [s.now["fp"] - point["fp"] for point in s.sweep["points"]],
    "suggested": lambda s: s.of("threshold"),
    "reached": lambda s: [best["constraint"]["in_sample"] for best in s.bounds()],
    "sure": lambda _: [0.95],
    **{name: ORACLES[name] for name in ("few", "needed")},
    "tp_here": lambda s: [best["counts"]["tp"] for best in s.bounds()],
    "fp_here": lambda s: [best["counts"]["fp"] for best in s.bounds()],
    "safe": lambda s: [point["threshold"] for point in s.sweep["points"]],
    "safe_tp": lambda s: [point["tp"] for point in s.sweep["points"]],
    "safe_fp": lambda s: [point["fp"] for point in s.sweep["points"]],
    "held_out": lambda s: s.of("held_out"),
    "apparent": lambda s: s.of("apparent"),
    "no_skill": lambda s: s.of("no_skill"),
    "without": lambda s: s.of("without"),
    "in_use": lambda s: [2 * s.now["tp"] / (s.matrix[1].sum() + s.now["tp"] + s.now["fp"])],
    "chance": lambda s: [best["constraint"]["chance"] for best in s.bounds()],
    "confidence": lambda s: [best["at_confidence"]["confidence"] for best in s.bounds()],
    "held": lambda s: [best["at_confidence"]["threshold"] for best in s.bounds()],
    "held_value": lambda s: [best["at_confidence"]["costs"]["value"] for best in s.bounds()],
    "labels": lambda s: [
        sum(0 <= (at if at is not None else 2) <= 1 for at in best["values"].values())
        for best in s.sweep["optima"].values()
        if "values" in best
    ],
    "correct": lambda s: [best["accuracy"] * rows for best, rows in s.decided()],
    "wrong": lambda s: [(1 - best["accuracy"]) * rows for best, rows in s.decided()],
    "others": lambda s: [s.json["n"] - rows for _, rows in s.decided()],
    "right": lambda s: [*s.out_of_sample("held_out_accuracy"), *s.of("accuracy")],
    "left": lambda s: [1 - share for share in (*s.out_of_sample("held_out_coverage"), *s.of("coverage"))],
    "n": lambda s: [s.json["n"], s.total, s.in_rows.matrix[0].sum()],
    **{name: partial(count_rows, name) for name in ("p", "tp", "fn", "fp")},
    "drawn": lambda _: [6],
    "trials": lambda s: [len(study["trials"]) for study in s.trials()],
    "last": lambda s: [max(t["values"][0] for t in study["trials"]) for study in s.trials()],
}


def sections(found: ThresholdSelection) -> list[Section]:
    every = (panel(found) for panel in PANELS[found.evaluation.task])
    return [section for section in every if section is not None]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_page(kind: str) -> None:
    found = made(kind)
    page = render(found)
    assert page == render(found)
    root = html5lib.parse(page, treebuilder="etree")
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    named = ["".join(e.itertext()) for e in root.iter() if (e.get("id") or "").endswith("-title")]
    named += [e.get("aria-label") for e in root.iter() if e.get("role") == "region"]
    assert len(named) == len(set(named)), "two regions have one name"
    links = [
        e.get("aria-label") or "".join(e.itertext())
        for e in root.iter()
        if (e.get("href") or "").startswith("#")
    ]
    assert len(links) == len(set(links)), "two places have one name in the contents"
    heads = [e for e in root.iter() if str(e.tag).endswith("}h1")]
    assert len(heads) == 1
    texts = [text for e in root.iter() if str(e.tag).endswith("}main") for text in e.itertext()]
    for word in ("nan", "None", "inf", "Undefined"):
        assert not any(re.search(rf"(?<![\w-]){word}(?![\w-])", text) for text in texts), word
    assert len(page.encode()) < 150_000


@pytest.mark.parametrize("kind", KINDS)
def test_sentences_say_what_the_json_says(kind: str) -> None:
    found = made(kind)
    facts = Swept(found)
    seen = 0
    for section in sections(found):
        oracles = (
            {**ORACLES, **NUMBERS}
            if section.id in ("verdict", "threshold")
            else NUMBERS
            if section.id in OWN
            else ORACLES
        )
        for sentence in sentences(section):
            check(sentence, facts, oracles)
            seen += len(sentence.numbers)
    assert seen > 1


def test_many_classes_and_labels_stay_within_their_budget() -> None:
    pages = [
        render(swept(multiclass(77, 800))),
        render(swept(multilabel(77, 800), "f1_macro", "f1_micro", "label_accuracy")),
    ]
    for page in pages:
        assert len(page.encode()) < 150_000


def test_a_thousand_classes_stay_within_their_budget() -> None:
    assert len(render(swept(multiclass(1000, 3000), "accuracy>=0.9")).encode()) < 250_000


def headline(kind: str) -> str:
    return chosen_thresholds.headline(made(kind)).text


def test_headlines() -> None:
    assert re.fullmatch(
        r"F1 is best at threshold 0\.\d+: 0\.\d+ on held-out data, 0\.\d+ in-sample\.",
        headline("binary"),
    )
    assert re.fullmatch(
        r"At a confidence of at least 0\.\d+, [\d.]+% of predictions are correct "
        r"and [\d.]+% of \w+ are left undecided\.",
        headline("multiclass"),
    )
    assert headline("multilabel-tuned").startswith("One threshold per label for Macro F1: 0.")
    step = chosen_thresholds.verdict_section(made("multilabel-tuned")).body.step.text
    assert re.fullmatch(
        r"(Use these thresholds: with 0\.5 for all labels macro F1 would be 0\.\d+"
        r"|Keep 0\.5 for all labels: on held-out data macro F1 is 0\.\d+ with it)\.",
        step,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_headline_never_sets_a_number_against_itself(kind: str) -> None:
    shown = [
        number.shown
        for number in chosen_thresholds.headline(made(kind)).numbers
        if number.name != "threshold"
    ]
    assert len(shown) == len(set(shown)) or "also on held-out data" in headline(kind)


def test_equal_values_are_said_once() -> None:
    held_out = Estimate(0.9011, 200, 0.861, 0.933)
    assert chosen_thresholds._in_sample_and_held_out(0.9012, held_out, "f1").text == (
        "0.901, also on held-out data."
    )
    worse = chosen_thresholds._in_sample_and_held_out(0.912, held_out, "f1").text
    assert worse == "0.901 on held-out data, 0.912 in-sample."


@pytest.mark.parametrize("task", TASKS)
def test_hostile_names_keep_the_tree(task: str) -> None:
    page = render(hostile(task, CORPUS))
    plain = render(hostile(task, [f"name{place}" for place in range(len(CORPUS))]))
    bad, good = shape(page), shape(plain)
    assert {tag for _, tag, _ in bad} == {tag for _, tag, _ in good}
    assert len([tag for _, tag, _ in bad if tag.endswith("script")]) == 2
    assert not [names for _, _, names in bad if any(name.startswith("on") for name in names)]
    assert not re.search("[\x00\x1b\u202e]", page)


def test_labels_keep_their_order_by_support() -> None:
    section = next(s for s in sections(made("multilabel")) if s.id == "labels")
    counts = [row[1].sort for row in section.body[0].rows]
    assert counts == sorted(counts, reverse=True)
    assert np.isfinite([float(value) for value in counts]).all()


def test_a_choice_that_is_no_better_on_held_out_data_is_not_recommended() -> None:
    """The best F1 here may be worse, on other rows, than the threshold that is in use."""
    rng = np.random.default_rng(1)
    truth = rng.random(300) < 0.3
    scores = Probabilities(1 / (1 + np.exp(-(2.2 * (truth - 0.5) + rng.normal(size=300) - 0.3))))
    found = swept(predictions(TUMOUR, named(truth), scores=scores), "f1")
    best, counts = found.optima["f1"], found.evaluation.confusion
    assert counts is not None and best.out_of_sample is not None
    (_, fp), (fn, tp) = counts.dense()[:, :2]
    now = 2 * tp / (2 * tp + fp + fn)
    held_out = best.out_of_sample.value.value
    assert held_out is not None and best.apparent > now >= held_out, "the case that is meant"
    text = " ".join(sentence.text for section in sections(found) for sentence in sentences(section))
    assert "on held-out data the chosen one is not better than" in text and "recommended" not in text


def test_flags_of_thresholds_have_room_on_a_phone() -> None:
    rows = other_rows()
    found = swept(rows, "recall>=0.95", "cost:10")
    page = render(found)
    flags = re.findall(r'id="flag-.*?<text[^>]*>(.*?)</text>', page, re.DOTALL)
    assert flags and not any("(sensitivity)" in flag for flag in flags)

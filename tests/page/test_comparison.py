"""The page of a comparison: every kind has one, its policy holds, its sentences say what the JSON says."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import evalreport as er
from evalreport.comparison.compare import compare
from evalreport.comparison.comparison import Comparison
from evalreport.core.json_codec import encode
from evalreport.data.labels import Multiclass
from evalreport.data.predictions import Predictions, predictions
from evalreport.evaluation.evaluation import Evaluation
from evalreport.page.comparison.comparison_charts import STYLES
from evalreport.page.comparison.sections import PANELS, differences
from evalreport.page.comparison.wording import baseline_counts, headline
from evalreport.page.elements import Section
from evalreport.page.payload import present
from evalreport.page.render import render
from tests.page.made import KINDS, evaluation, made, renamed
from tests.page.test_shape import CORPUS, shape
from tests.page.test_words import sentences


def changed(p: Predictions, seed: int = 0, share: float = 0.2) -> Predictions:
    """The same rows, some with the answer of another row."""
    if p.y_pred is None:
        return p
    rng = np.random.default_rng(seed)
    rows = np.flatnonzero(rng.random(len(p)) < share)
    answers = p.y_pred.copy()
    answers[rows] = answers[rng.permutation(rows)]
    return replace(p, y_pred=answers, parsed=None, threshold=None)


@cache
def rival(kind: str, seed: int) -> Evaluation:
    """The run of a kind; with a seed some of its answers are changed."""
    run = KINDS[kind]()
    return evaluation(changed(run, seed) if seed else run)


@cache
def several(kind: str, count: int = 2, baseline: int | None = 0) -> Comparison:
    names = [f"run-{place}" for place in range(count)]
    return compare([rival(kind, place) for place in range(count)], baseline, names=names)


@pytest.mark.parametrize("kind", ["binary-slices", "binary-ranking", "binary-labels", "twenty", "multilabel"])
@pytest.mark.parametrize(("count", "baseline"), [(2, 0), (3, 1), (3, None)])
def test_every_kind_has_a_page(kind: str, count: int, baseline: int | None) -> None:
    found = several(kind, count, baseline)
    page = render(found)
    text = html.unescape(re.sub(r"<[^>]*>", "", page))
    assert count > 2 or page == render(found)
    assert all(name in text for name in found.names)
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert len(page.encode()) < 300_000
    assert "http" not in page.replace("http-equiv", "")
    assert page.count("<script") == 2


def leaves(value: Any) -> Iterator[float]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from leaves(part)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield float(value)


@pytest.mark.parametrize("kind", ["binary-slices", "twenty", "multilabel"])
@pytest.mark.parametrize(("count", "baseline"), [(2, 0), (4, 0), (4, None)])
def test_every_number_of_a_sentence_stands_in_the_json(kind: str, count: int, baseline: int | None) -> None:
    found = several(kind, count, baseline)
    known = {round(value, 9) for value in leaves(encode(found))}
    verdicts = [d.verdict for d in found.differences_for(found.primary)]
    known |= {count, count - 1, len(found.pairings), len(found.parts), verdicts.count("better")}
    known |= {verdicts.count("worse"), len([d for d in found.parts if d.verdict in ("better", "worse")])}
    best = [entry for entry in found.ranking if entry.best_group]
    ranked = [entry.value for entry in found.ranking if entry.value is not None]
    known |= {len(best), len(ranked)} | {abs(ranked[0] - value) for value in ranked}
    known |= {r.value for ev in found.evaluations for r in ev.metrics.values() if r.value is not None}
    ofs = [[d for d in found.parts if d.scope.startswith("class: ") and d.metric == "f1"]]
    ofs.append([d for d in found.parts if not d.scope.startswith("class: ")])
    known |= {n for part in ofs for n in (len(part), len([d for d in part if d.is_significant]))}
    near = found.names if found.run_agreement is None else found.run_agreement.runs
    known.add(len({d.scope for d in ofs[0] if d.is_significant and d.run in near and d.baseline in near}))
    known |= {min(len(part), 30 // len(found.pairings) * len(found.pairings)) for part in ofs}
    every = [d.verdict for d in found.differences]
    known |= {len(every), every.count("better"), every.count("worse"), *map(abs, known)}
    known |= {0.5}
    outcomes = [one.verdict for one in found.verdicts]
    known |= {
        *map(outcomes.count, outcomes),
        *(len([n for n in one.over if "[" in n]) for one in found.verdicts),
    }
    for panel in PANELS:
        section = panel(found)
        for sentence in () if section is None else (*sentences(section.summary), *sentences(section.body)):
            for number in sentence.numbers:
                assert any(abs(number.value - value) < 1e-8 for value in known), (sentence.text, number)


def test_the_headline_agrees_with_the_verdict() -> None:
    for kind in ("binary", "twenty", "multilabel"):
        found = several(kind)
        (body,) = [s.body for s in (PANELS[0](found),) if s is not None]
        words = {
            "better": "is better",
            "worse": "is worse",
            "trade_off": "but",
            "not_significant": "No significant",
        }
        assert words[found.verdicts[0].verdict] in body.headline.text


def test_the_headline_of_several_counts_who_is_better_and_worse() -> None:
    truth = ["a", "b"] * 50
    wrong = ["b", "a"] * 25
    ev, half, none = (
        evaluation(predictions(Multiclass("ab"), truth, answer))
        for answer in (truth, wrong + truth[50:], ["b", "a"] * 50)
    )
    found = compare([half, none, ev], 0, names=["half", "none", "whole"])
    assert baseline_counts(found).text == (
        "Compared with the baseline, half: whole is better and none is worse."
    )
    assert headline(found).text == (
        "whole is significantly better than all 2 others by Accuracy; the next, half, is 50.0 points behind."
    )
    found = compare([ev, half, none], 0, names=["whole", "half", "none"])
    assert baseline_counts(found).text == "Compared with the baseline, whole: half and none are worse."
    same = compare([ev, ev, none], 0, names=["one", "two", "none"])
    assert (
        headline(same).text == "one and two are tied for best by Accuracy (difference not significant); "
        "the next, none, is 100 points behind."
    )
    compared = compare([ev, ev, ev], 0, names=["one", "two", "three"])
    assert headline(compared).text == (
        "No run is significantly best by Accuracy: none of 3 is significantly worse than one."
    )


def test_more_runs_than_line_styles_draw_the_baseline_and_the_best() -> None:
    found = several("binary", 6, 5)
    (section,) = [s for s in (panel(found) for panel in PANELS) if s is not None and s.id == "curves"]
    assert "Drawn are 4 of 6 runs" in section.summary.text
    (roc, _) = section.body[0].parts
    assert {path.shape for path in roc.paths} == {"guide", *STYLES}
    assert any(label.text.startswith("run-5") for label in roc.labels)


def movement_of(found: Comparison) -> Section:
    (section,) = [s for s in (panel(found) for panel in PANELS) if s is not None and s.id == "movement"]
    return section


@pytest.mark.parametrize("kind", ["binary-slices", "twenty", "multilabel"])
def test_changed_answers_are_shown_by_class_and_one_by_one(kind: str) -> None:
    found = several(kind)
    (moved,) = found.movement
    _, *folds, lists = movement_of(found).body
    where, answers = (fold.parts[0] for fold in folds)
    counts = {**moved.by_class, **moved.by_slice}
    for row in where.rows:
        assert tuple(cell.sort for cell in row[1:]) == counts[row[0].text]
    changes = [row[1].sort + row[2].sort for row in where.rows]
    assert changes == sorted(changes, reverse=True)
    assert len(answers.rows) == len(moved.examples)
    reported = [row[1].text.text for row in answers.rows]
    assert reported == ["fixed" if one.id in moved.fixed_ids else "broken" for one in moved.examples]
    ids = {
        head.text.partition(":")[0]: note.words
        for head, note in zip(lists.parts[::2], lists.parts[1::2], strict=True)
    }
    for name, wanted in (("Fixed", moved.fixed_ids), ("Both wrong", moved.both_wrong_ids)):
        stated = [run.text for run in ids[name].runs if run.foreign] if wanted else []
        assert stated == list(wanted)
    page = render(found)
    assert all(f"<bdi>{one.id}</bdi>" in page or f"<bdi>#{one.id}</bdi>" in page for one in moved.examples)


@pytest.mark.parametrize(("count", "baseline", "pairs"), [(4, 0, 3), (8, 0, 7), (7, None, 0)])
def test_many_runs_have_less_of_each(count: int, baseline: int | None, pairs: int) -> None:
    found = several("binary-slices", count, baseline)
    table, *parts = movement_of(found).body
    assert len(table.rows) == len(found.pairings)
    names = [f"{moved.run} against {moved.baseline}" for moved in found.movement]
    assert [part.title for part in parts] == names[:pairs]
    inner = [part.title for fold in parts for part in fold.parts]
    assert any("class" in title for title in inner) == (0 < pairs <= 6)
    assert len(render(found).encode()) < 700_000


def test_without_predictions_it_says_so() -> None:
    runs = [replace(made("binary"), predictions=None), made("binary")]
    page = er.to_html(compare(runs, names=["a", "b"]))
    assert "Not paired" in page
    assert "No example can be matched" in page


@pytest.mark.parametrize("task", ["binary", "multiclass", "multilabel"])
def test_hostile_names_do_not_change_the_tree(task: str) -> None:
    def page(names: list[str]) -> str:
        return render(compare([renamed(task, names), renamed(task, names)], names=names[:2]))

    hostile = page(list(CORPUS))
    plain = page([f"name{place}" for place in range(len(CORPUS))])
    found = shape(hostile)
    assert {tag for _, tag, _ in found} == {tag for _, tag, _ in shape(plain)}
    assert len([entry for entry in found if entry[1].endswith("script")]) == 2
    assert not [names for _, _, names in found if any(name.startswith("on") for name in names)]
    assert "\u202e" not in hostile
    assert "\x00" not in hostile


def test_what_is_logged() -> None:
    two = several("binary")
    assert {"compare/recall_difference", "compare/recall_difference_low"} <= set(differences(two))
    ends = [f"compare/{two.primary}_difference{end}" for end in ("", "_low", "_high")]
    assert [*present(two).payload("").metrics] == ends
    assert present(two, log_all=True).payload("").metrics == differences(two)
    three = several("binary", 3)
    assert [*present(three).payload("").metrics] == [
        f"compare/run-{k}/{three.primary}_difference" for k in (1, 2)
    ]
    assert {"compare/run-1/recall_difference", "compare/run-2/recall_difference"} <= set(differences(three))
    hostile = replace(three, names=three.names)
    payload = present(hostile).payload("<html>")
    assert set(payload.artifacts) == {"evalreport_comparison.html", "evalreport/comparison.json"}
    assert payload.part == "comparison"
    assert payload.digest == present(hostile).payload("<other>").digest


def test_names_stand_beside_their_curves_where_each_is_nearest_to_its_own() -> None:
    rng = np.random.default_rng(3)
    truth = rng.random(800) < 0.4
    runs = []
    for strength in (0.4, 4.0):
        scores = 1 / (1 + np.exp(2 - strength * truth - rng.normal(size=800)))
        runs.append(er.evaluate(truth.astype(int), scores=er.Probabilities(scores), resamples=100))
    apart = compare(runs, names=["weak", "strong"])
    near = compare([runs[0], runs[0]], names=["one", "other"])
    for found, keys in ((apart, 0), (near, 2)):
        curves = next(s for panel in PANELS if (s := panel(found)) is not None and s.id == "curves")
        (roc, _) = curves.body[0].parts
        samples = [path for path in roc.paths if path.d.endswith("h28")]
        assert (len(samples), len(roc.labels)) == (keys, 2)
    assert [label.text.split()[0] for label in roc.labels] == ["one", "other"]

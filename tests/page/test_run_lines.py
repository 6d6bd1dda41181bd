"""The first screen of a comparison: lines, choices and common mistakes say what the data say."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import evalreport as er
from evalreport.comparison.comparison import Comparison
from evalreport.core.result import Estimate
from evalreport.evaluation.parts import WorseSlice, WorseSlices
from evalreport.page.comparison.comparison_choices import (
    LEVELS,
    agreement_bars,
    choice_table,
    overlap_sentence,
    run_lines,
)
from evalreport.page.comparison.sections import parts, verdict_section
from evalreport.page.render import render

NAMES = ("good", "fine", "weak", "broken")


@cache
def classes() -> Comparison:
    """Four runs of twelve classes, the last of which predicts three of them only."""
    rng = np.random.default_rng(3)
    n, k = 900, 12
    truth = rng.integers(0, k, n)
    labels = [f"c{code:02d}" for code in range(k)]
    runs = []
    for skill in (0.9, 0.89, 0.6, 0.0):
        other = rng.integers(0, 3 if not skill else k, n)
        answer = np.where(rng.random(n) < skill, truth, other)
        runs.append(
            er.evaluate(
                [labels[c] for c in truth],
                [labels[c] for c in answer],
                labels=er.Multiclass(labels),
                ids=np.arange(n).astype(str),
                resamples=50,
            )
        )
    return er.compare(runs, names=list(NAMES))


@cache
def binary(runs: int = 3) -> Comparison:
    rng = np.random.default_rng(7)
    truth = rng.random(800) < 0.2
    made = []
    for strength in (1.0, 3.0, 2.9)[:runs]:
        scores = 1 / (1 + np.exp(1.5 - strength * truth - rng.normal(size=800)))
        made.append(er.evaluate(truth.astype(int), scores=er.Probabilities(scores), resamples=50))
    return er.compare(made, names=["old", "new", "newer"][:runs])


def test_bars_and_strips_are_counts_and_f1_of_the_runs() -> None:
    found, comparison = run_lines(classes()), classes()
    by_name = dict(zip(comparison.names, comparison.evaluations, strict=True))
    assert [line.name for line in found.lines] == [entry.run for entry in comparison.ranking]
    strips = []
    for line in found.lines:
        ev = by_name[line.name]
        assert ev.confusion is not None
        right = ev.confusion.marginals.tp.sum()
        assert line.described == f"{right:.0f} right, {ev.rows - right:.0f} wrong, 0 unparsed"
        widths = {share.look: share.width for share in line.bar}
        assert widths["ok"] == pytest.approx(100 * right / ev.rows, abs=0.01)
        assert sum(widths.values()) == pytest.approx(100, abs=0.02)
        f1 = sorted(entry.metrics["f1"].value or 0.0 for entry in ev.classes)
        levels = [next(k for k, (end, _) in enumerate(LEVELS) if value < end) for value in f1]
        assert sorted(line.strip) == sorted(levels)
        strips.append(line.strip)
    assert len({len(strip) for strip in strips}) == 1, "one order for all"


def test_the_status_of_each_run_is_its_place_in_the_ranking() -> None:
    found = run_lines(classes())
    status = {line.name: (line.status.text, line.look) for line in found.lines}
    best = [entry.run for entry in classes().ranking if entry.best_group]
    assert best in (["good", "fine"], ["fine", "good"])
    assert all(status[name] == ("tied for best", "best") for name in best)
    assert re.fullmatch(r"\d+(\.\d+)? points worse", status["weak"][0]) and status["weak"][1] == "worse"
    assert status["broken"] == ("predicts 3 of 12 classes", "worse")
    assert found.lines[-1].track is not None and found.lines[-1].track.past == "left"


def test_two_runs_have_the_words_of_their_verdict() -> None:
    comparison = binary(2)
    words = {line.name: line.status.text for line in run_lines(comparison).lines}
    expected = {"better": "better", "worse": "worse", "trade_off": "partly better, partly worse"}
    assert words["new"] == expected[comparison.verdicts[0].verdict]
    assert words["old"] == "baseline"


def test_mistakes_of_two_classes_are_missed_positives_and_false_alarms() -> None:
    for line in run_lines(binary()).lines:
        ev = binary().evaluations[binary().names.index(line.name)]
        fn, fp = (ev.metrics[name].value or 0.0 for name in ("fn", "fp"))
        assert line.described == f"{fn:.0f} missed, {fp:.0f} false positives"
        assert line.bar[-1].text == f"{fn:.0f} + {fp:.0f}"


def test_values_have_one_number_of_decimals() -> None:
    for comparison in (classes(), binary()):
        shown = [line.value.rstrip("%") for line in run_lines(comparison).lines]
        assert len({len(value.partition(".")[2]) for value in shown}) == 1


def test_choices_never_contradict_the_ranking() -> None:
    for comparison in (classes(), binary()):
        table = choice_table(comparison)
        assert table is not None
        rows = {row[0].words: (row[1].words, row[2].words) for row in table.rows}
        best = [entry.run for entry in comparison.ranking if entry.best_group]
        purpose = "the best ranking" if comparison is binary() else "the most cases right"
        used = rows[purpose][0]
        assert all(name in used for name in best) or used in ("any", "either")
        assert not any(name in used.split() for name in comparison.names if name not in best)


def test_a_class_of_a_broken_run_is_no_reason() -> None:
    table = choice_table(classes())
    assert table is not None
    row = next(row for row in table.rows if row[0].words == "one class in particular")
    assert "broken" not in row[1].words + row[2].words


def test_common_mistakes_of_two_runs_are_their_movement() -> None:
    bars = agreement_bars(binary(2))
    (moved,) = binary(2).movement
    assert bars is not None
    assert [row.text for row in bars.rows] == [
        str(n) for n in (moved.both_right, moved.fixed, moved.broken, moved.both_wrong)
    ]


def test_common_mistakes_of_several_runs_add_up() -> None:
    bars, found = agreement_bars(classes()), classes().run_agreement
    assert bars is not None and found is not None
    assert sum(int(row.text) for row in bars.rows) == found.rows == 900
    assert str(found.majority) in bars.vote.text and found.runs[0] in bars.vote.text
    assert "Without" in bars.note.text and "broken" in bars.note.text


@pytest.mark.parametrize(
    ("majority", "said"),
    [
        (831, "A majority vote gets 7 more right than fine: 831 instead of 824."),
        (824, "A majority vote does not help: it is right for 824, fine alone for 824."),
        (None, ""),
    ],
)
def test_a_majority_vote_helps_only_where_it_gets_more_rows_right(majority: int | None, said: str) -> None:
    found = classes().run_agreement
    assert found is not None and (found.runs[0], found.right[0]) == ("fine", 824)
    bars = agreement_bars(replace(classes(), run_agreement=replace(found, majority=majority)))
    assert bars is not None and bars.vote.text == said


def test_the_ends_of_the_axis_and_the_shaded_interval_are_explained() -> None:
    found, page = run_lines(classes()), render(classes())
    assert len(found.ends) == 2 and all(f"<span>{end}</span>" in page for end in found.ends)
    assert ("r1", f"interval of {classes().ranking[0].run}") in found.keys


def test_it_is_said_where_a_worse_run_overlaps_the_best() -> None:
    best, other, *rest = (replace(entry, best_group=k == 0) for k, entry in enumerate(classes().ranking))
    said = "good is significantly worse although the intervals overlap"
    assert overlap_sentence([best, replace(other, low=best.low, high=best.high), *rest]).text.startswith(said)
    assert not overlap_sentence([best, replace(other, low=0.0, high=(best.low or 0.0) - 0.01), *rest])
    assert not overlap_sentence([best, replace(other, best_group=True), *rest])


def test_a_worse_slice_is_no_matter_of_trust() -> None:
    """It is in the table of slices, under where the runs differ."""
    one = WorseSlice("error", "kind = L", ("kind",), ("L",), 9, 3, Estimate(0.1, 9), 0.0, 0.01)
    found = replace(classes(), weak_slices=(WorseSlices("weak", "good", 1, 1, (one,)),))
    body = verdict_section(found).body
    assert [item.title for item in body.checks] == ["All runs on the same cases"]
    assert "kind = L" in str(parts(found))


def test_the_page_has_lines_choices_and_common_mistakes() -> None:
    page = render(classes())
    assert page.count('<div class="runline" role="row">') == 4
    assert "Next step: which one to use" in page and "Do they make the same mistakes?" in page
    assert 'style="' not in page, "the policy allows none"


def close(noise: float = 0.02) -> Comparison:
    """Two runs that rank almost perfectly, compared by ROC AUC."""
    rng = np.random.default_rng(11)
    truth = rng.random(600) < 0.3
    made = []
    for extra in (0.0, noise):
        scores = 1 / (1 + np.exp(2.05 - 4.1 * truth - rng.normal(size=600) * (1 + extra)))
        made.append(er.evaluate(truth.astype(int), scores=er.Probabilities(scores), resamples=50))
    return er.compare(made, names=["good", "fine"], primary="roc_auc")


def best_ranking(comparison: Comparison) -> tuple[str, str]:
    table = choice_table(comparison)
    assert table is not None
    return next((row[1].words, row[2].words) for row in table.rows if row[0].words == "the best ranking")


def test_a_value_below_one_is_not_printed_as_one() -> None:
    comparison = close()
    values = [ev.metrics["roc_auc"].value or 0.0 for ev in comparison.evaluations]
    assert all(0.995 < value < 1 for value in values)
    shown = re.findall(r"\d[\d.]*", best_ranking(comparison)[1])
    assert len(shown) == 2 and all(float(value) < 1 for value in shown)


def test_no_run_has_the_best_ranking_where_the_interval_of_the_headline_contains_zero() -> None:
    """The headline corrects for all metrics that it looks at, the ranking for its pairs alone."""
    comparison = close()
    verdict = comparison.verdicts[0]
    main = verdict.primary
    assert main is not None and main.adjusted is not None
    for low, used in ((-0.001, "either"), (0.001, comparison.ranking[0].run)):
        adjusted = replace(main.adjusted, low=low, high=0.002)
        entries = [replace(entry, best_group=place == 0) for place, entry in enumerate(comparison.ranking)]
        changed = replace(verdict, primary=replace(main, adjusted=adjusted))
        found = best_ranking(replace(comparison, verdicts=(changed,), ranking=tuple(entries)))
        assert found[0] == used
        assert ("not significant" in found[1]) == (used == "either")

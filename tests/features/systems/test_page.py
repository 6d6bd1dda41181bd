"""The page of several systems: what stands in each section is what the comparison says."""

from __future__ import annotations

import numpy as np
import pytest

import evalreport as er
from evalreport.features.systems import page
from evalreport.features.systems.compare import system_notes
from evalreport.features.systems.page import headline, summary, systems_table
from evalreport.features.systems.variance import SystemsComparison
from evalreport.page.comparison.comparison_choices import BESIDE
from evalreport.page.elements import Section, Table
from evalreport.page.payload import present
from evalreport.page.text_summary import markdown
from tests.features.systems.test_compare_systems import runs_of


def drawn(shares: dict[str, float], runs: int = 3) -> SystemsComparison:
    """Systems that are right on given shares of 300 rows, some of which are hard for all."""
    rng = np.random.default_rng(11)
    hard = rng.random(300)
    rights = {
        name: [(0.7 * hard + 0.3 * rng.random(300) < share).astype(int) for _ in range(runs)]
        for name, share in shares.items()
    }
    return er.compare(systems={name: runs_of(np.array(right)) for name, right in rights.items()})


@pytest.fixture(scope="module")
def found() -> SystemsComparison:
    return drawn({"new": 0.8, "old": 0.6, "older": 0.59})


def tables(section: Section) -> list[Table]:
    return [part for part in section.body if isinstance(part, Table)]


def test_the_headline_says_who_wins_by_how_much(
    found: SystemsComparison,
) -> None:
    d = found.differences_for("accuracy")[0]
    assert d.difference is not None
    assert d.limits is not None
    low, gap, high = (f"{100 * value:.1f}" for value in (d.limits[0], d.difference, d.limits[1]))
    said = f"new is better than old in Accuracy by {gap} points ({low} to {high})."
    assert headline(found).text == said
    assert "No significant difference between old and older" in summary(found).text
    assert f"**{said}**" in markdown(present(found).summary())
    equal = drawn({"a": 0.7, "b": 0.7})
    assert "No significant difference between" in headline(equal).text


def test_two_systems_that_do_not_differ_are_not_called_best() -> None:
    equal = drawn({"a": 0.7, "b": 0.7})
    assert not equal.differences_for("accuracy")[0].is_significant
    lines = page.run_lines(equal).lines
    assert [(line.status.text, line.look) for line in lines] == [("mean of 3 runs", "")] * 2
    bars = page.agreement(equal)
    assert bars is not None and bars.rows[-1].words.text == "both wrong"


def test_the_best_run_is_compared_with_the_difference_of_the_systems() -> None:
    ends = {("a", "b"): "the two systems differ.", ("a", "b", "c"): "some systems differ."}
    for names, end in ends.items():
        equal = drawn(dict.fromkeys(names, 0.7))
        gaps = [abs(d.difference or 0.0) for d in equal.differences_for("accuracy")]
        most = max(one.metrics["accuracy"].best_run_flatters or 0.0 for one in equal.systems)
        assert (min(gaps) < most) == (f"more than {end}" in summary(equal).text)
        assert "Report the mean: the best of 3 runs of " in summary(equal).text


def test_every_system_has_its_dots_shares_and_changing_answers(found: SystemsComparison) -> None:
    lines = page.run_lines(found).lines
    assert [(line.name, len(line.track.dots if line.track else ())) for line in lines] == [
        ("new", 3),
        ("old", 3),
        ("older", 3),
    ]
    assert [line.look for line in lines] == ["best", "worse", "worse"]
    for one, line in zip(found.systems, lines, strict=True):
        assert one.churn is not None
        changed = round(one.churn.any * found.rows)
        assert line.described == f"{changed} change" and line.bar[-1].text == str(changed)
        most = max(other.churn.any for other in found.systems if other.churn is not None)
        assert line.bar[0].width == pytest.approx(BESIDE * changed / (most * found.rows), abs=0.01)
    (pairs, *_) = tables(page.differences(found))
    assert [row[3].words for row in pairs.rows][:2] == ["9 of 9", "9 of 9"]
    (shares,) = tables(page.sources(found))
    for one, row in zip(found.systems, shares.rows, strict=True):
        split = one.metrics["accuracy"].variance
        assert split is not None
        assert row[1].sort == pytest.approx(split.rows, abs=1e-6)
    section = page.answers(found)
    churn = found.systems[0].churn
    assert churn is not None
    assert section.summary.numbers[0].value == churn.any
    assert tables(section)[0].rows[0][0].words == "new"
    (fold,) = page.values(found).body
    assert "Macro F1" in {row[0].words for row in fold.parts[0].rows}


def test_what_is_logged_is_what_the_comparison_says(found: SystemsComparison) -> None:
    default = present(found).payload("<html>")
    assert [*default.metrics] == [f"systems/{one.system}/{found.primary}" for one in found.systems]
    assert not default.series
    made = present(found, log_all=True).payload("<html>")
    value = found.system_value("old")
    assert made.metrics["systems/old/accuracy"] == value.value
    assert made.metrics["systems/old/accuracy_high"] == value.high
    assert [number for _, number in made.series["systems/old/accuracy_by_run"]] == list(value.values)
    rows = systems_table(found)
    assert set(zip(rows["system"], rows["metric"], rows["value"], strict=True)) == {
        (one.system, name, metric.value) for one in found.systems for name, metric in one.metrics.items()
    }


def test_nothing_is_claimed_of_seeds_that_are_unknown() -> None:
    alone = drawn({"a": 0.8, "b": 0.6}, runs=1)
    for panel in (page.sources, page.answers):
        assert tables(panel(alone)) == []
    assert len(list(system_notes(alone, [[], []]))) == 2
    assert "<h1" in er.to_html(alone)

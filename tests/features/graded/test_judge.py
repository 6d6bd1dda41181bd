"""A judge against people: agreement, the corrected pass rate, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score, recall_score

import evalreport as er
from evalreport.core.errors import DataError
from evalreport.core.result import Estimate
from evalreport.features.graded.evaluation import GradedEvaluation
from evalreport.features.graded.judge import corrected_difference, corrected_rate
from evalreport.intervals.interval_settings import Sampling
from evalreport.page.payload import present
from evalreport.page.text_summary import markdown
from tests.cli.running import run
from tests.features.graded.simulate import CLOSE, MANY, PAIRED, TIMES, TIMES_OF_PAIRED, row_of, settings

N, PEOPLE = 1000, 120


def frame(seed: int = 0, people: int = PEOPLE) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    human = rng.random(N) < 0.6
    judge = rng.random(N) < np.where(human, 0.9, 0.3)
    words = np.where(human, "yes", "no").astype(object)
    words[people:] = None
    topic = np.where(np.arange(N) % 2, "a", "b")
    return pd.DataFrame({"id": range(N), "judge": judge, "human": words, "topic": topic})


def judged(rows: pd.DataFrame, **named: Any) -> GradedEvaluation:
    ev = er.evaluate(rows, judge="judge", human="human", **named)
    assert isinstance(ev, GradedEvaluation)
    return ev


def value(result: Any) -> float:
    assert isinstance(result, Estimate)
    return result.value


def test_agreement_is_that_of_scikit_learn() -> None:
    rows = frame()
    found = judged(rows, slices="topic").judge
    assert found is not None
    people, judge = rows["human"][:PEOPLE] == "yes", rows["judge"][:PEOPLE]
    assert (found.n_judge, found.n_human) == (N, PEOPLE)
    assert value(found.agreement) == pytest.approx((people == judge).mean())
    assert value(found.kappa) == pytest.approx(cohen_kappa_score(people, judge))
    assert value(found.sensitivity) == pytest.approx(recall_score(people, judge))
    assert value(found.specificity) == pytest.approx(recall_score(~people, ~judge))
    assert found.base_rates == {"judge": judge.mean(), "human": people.mean()}
    assert found.always_pass == people.mean()
    assert value(found.judge_rate) == rows["judge"].mean()
    assert value(found.human_rate) == people.mean()
    assert {one.value for one in found.slices} == {"a", "b"}
    for one in found.slices:
        inside = (rows["topic"] == one.value)[:PEOPLE]
        assert value(one.metrics["accuracy"]) == pytest.approx((people == judge)[inside].mean())
    assert {one.judge for one in found.disagreements} == {"pass", "fail"}


def test_a_summary_in_markdown_has_the_judge() -> None:
    ev = judged(frame())
    assert ev.statements[0] in markdown(present(ev).summary()).replace("\u200b", "")


def test_the_corrected_rate_weighs_both_parts() -> None:
    rows = frame()
    people, judge = (rows["human"][:PEOPLE] == "yes").to_numpy(), rows["judge"].to_numpy()
    inside = [people[judge[:PEOPLE] == side].mean() for side in (True, False)]
    expected = judge.mean() * inside[0] + (1 - judge.mean()) * inside[1]
    found = judged(rows).judge
    assert found is not None and isinstance(found.corrected, Estimate)
    assert found.corrected.value == pytest.approx(expected)
    assert isinstance(found.human_rate, Estimate)
    assert (found.corrected.width or 1) < (found.human_rate.width or 0), "the judge adds information"


def test_the_grades_needed_halve_the_interval() -> None:
    rows = frame(people=100)
    found = judged(rows).judge
    assert found is not None and found.human_needed is not None
    more = judged(frame(people=found.human_needed)).judge
    assert more is not None
    first, second = found.corrected, more.corrected
    assert isinstance(first, Estimate) and isinstance(second, Estimate)
    assert (second.width or 1) / (first.width or 1) == pytest.approx(0.5, abs=0.07)


def test_clusters_widen_the_interval() -> None:
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(100), 10)
    human = (rng.random(100) < 0.5)[groups]
    judge = np.where(rng.random(N) < 0.8, human, ~human)
    codes = np.where(np.arange(N) % 10 < 3, np.where(human, 0, 1), -1)
    plain, _ = corrected_rate(judge, codes, Sampling())
    clustered, _ = corrected_rate(judge, codes, Sampling(), groups)
    assert isinstance(plain, Estimate) and isinstance(clustered, Estimate)
    assert plain.value == pytest.approx(clustered.value)
    assert (clustered.width or 0) > 1.3 * (plain.width or 1)


def test_an_unlike_sample_is_reported() -> None:
    rows = frame()
    rows.loc[: PEOPLE - 1, "topic"] = "a"
    assert any("topic = a" in note for note in judged(rows, slices="topic").remarks)
    assert not any("differ in" in note for note in judged(frame(), slices="topic").remarks)


@pytest.mark.parametrize(
    ("human", "words"),
    [
        ([None] * N, "no item has a human grade"),
        (["yes"] * 50 + [None] * (N - 50), "all 50 human grades are 'pass'"),
        (["maybe"] + [None] * (N - 1), "'maybe' is not a grade"),
    ],
)
def test_human_grades_that_say_nothing(human: list[Any], words: str) -> None:
    with pytest.raises(DataError, match=words) as caught:
        judged(frame().assign(human=human))
    assert caught.value.fix


def test_two_systems_through_one_judge() -> None:
    rng = np.random.default_rng(2)
    truth = [rng.random(N) < rate for rate in (0.7, 0.6)]
    judges = [np.where(np.where(rng.random(N) < 0.9, one, ~one), 0, 1) for one in truth]
    people = [np.where(np.arange(N) < 200, np.where(one, 0, 1), -1) for one in truth]
    pair = [(judge, human) for judge, human in zip(judges, people, strict=True)]
    found = corrected_difference(pair[0], pair[1], Sampling())
    assert isinstance(found, Estimate) and found.low is not None and found.high is not None
    assert found.low < 0.1 < found.high
    alone = (people[0][:200] == 0).astype(float) - (people[1][:200] == 0)
    assert found.width is not None and found.width < 2 * 1.97 * alone.std(ddof=1) / 200**0.5
    assert found.value == pytest.approx(truth[0].mean() - truth[1].mean(), abs=0.08)


def test_a_comparison_has_the_corrected_rates_of_both_runs() -> None:
    first, second = judged(frame(0), id="id"), judged(frame(5), id="id")
    found = er.compare([first, second])
    (pair,) = found.judge
    assert (pair.baseline, pair.run, pair.n_human) == (*found.names, PEOPLE)
    assert first.judge is not None and second.judge is not None
    assert pair.rates == (second.judge.corrected, first.judge.corrected)
    low, high = pair.corrected.low, pair.corrected.high
    assert low is not None and high is not None and low < pair.corrected.difference < high
    assert pair.corrected.difference == pytest.approx(value(pair.rates[0]) - value(pair.rates[1]), abs=0.02)
    stored = json.loads(found.to_json())["judge"][0]
    assert stored["corrected"] == {
        "difference": pair.corrected.difference,
        "low": low,
        "high": high,
        "method": "PPI++",
    }
    assert stored["rates"][1]["value"] == value(first.judge.corrected)
    (note,) = [one for one in found.notes if "corrected by people" in one]
    assert note.endswith("is +5 points (−6 to +16; 120 items with human grades).")


def test_the_corrected_rates_are_on_the_page_and_in_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [tmp_path / f"{name}.csv" for name in "ab"]
    for path, seed in zip(paths, (0, 5), strict=True):
        frame(seed).to_csv(path, index=False)
    asked = ["--set", "judge=judge", "--set", "human=human", "--id", "id"]
    done = run(capsys, "compare", *map(str, paths), *asked, "-o", str(tmp_path / "page.html"))
    assert done.code == 0
    assert "is +5 points (−6 to +16; 120 items with human grades)" in done.err
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Pass rates corrected by people" in page and "b minus a" in page


def test_runs_without_a_judge_have_no_corrected_rates() -> None:
    plain = er.evaluate(frame(0), grade="judge", id="id")
    assert er.compare([judged(frame(5), id="id"), plain]).judge == ()


def test_intervals_cover_in_simulation() -> None:
    """`simulate.py` writes the table; a setting near the limit has more data sets than the others."""
    rows = json.loads((Path(__file__).parent / "coverage.json").read_text())
    known = [{"interval": name, **setting} for name, setting, _ in settings()]
    assert [{key: row[key] for key in one} for one, row in zip(known, rows, strict=True)] == known
    assert not [row for row in rows if row["coverage"] < 0.92]
    for paired, (few, many) in ((False, (TIMES, MANY)), (True, TIMES_OF_PAIRED)):
        some = [row for row in rows if (row["interval"] == PAIRED) == paired]
        assert {row["simulations"] for row in some if row["coverage"] < CLOSE} == {many}
        assert {row["simulations"] for row in some} == {few, many}
    wide = [row for row in rows if row.get("width", 0) > 1.05]
    assert not wide, wide


def test_a_row_of_the_table_is_simulated_again() -> None:
    rows = json.loads((Path(__file__).parent / "coverage.json").read_text())
    place = next(place for place, row in enumerate(rows) if row["interval"] == "mean_score")
    assert row_of(*list(settings())[place], place) == rows[place]

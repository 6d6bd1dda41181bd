"""Graded runs on pages of comparisons, systems and sites, and their stored evaluations."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import evalreport as er
from evalreport.core.errors import DataError
from evalreport.tracking.client import Store
from tests.cli.running import run
from tests.features.graded.files import grades_of, lm_eval
from tests.tracking import make_run

ITEMS = 60
RATES = {"pass_rate", "pass_rate_graded", "no_grade_rate"}


def graded_table(seed: int = 0, repeats: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    item = np.repeat(np.arange(ITEMS), repeats)
    rating = rng.integers(1, 6, len(item)).astype(float)
    rating[3] = np.nan
    topic = np.where(item % 2, "a", "b")
    return pd.DataFrame(
        {"id": item, "rating": rating, "cost": rng.lognormal(0, 1, len(item)), "topic": topic}
    )


def text_of(page: Path) -> str:
    """Return the words of a page, without those of scripts and styles."""
    content = re.sub(r"<(style|script|svg).*?</\1>", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", content)))


@pytest.mark.parametrize("repeats", [1, 3])
def test_a_stored_evaluation_is_read_back(repeats: int) -> None:
    frame = graded_table(repeats=repeats)
    ev = er.evaluate(frame, grade="rating", passing=">=4", id="id", measures="cost", slices="topic")
    back = er.Evaluation.from_json(ev.to_json())
    assert back == ev
    assert (back.verdict, back.lines, back.size) == (ev.verdict, ev.lines, ev.size)
    assert back.to_json() == ev.to_json()


def test_a_changed_evaluation_is_refused() -> None:
    stored = json.loads(er.evaluate([True, False, True], labels=er.Graded()).to_json())
    with pytest.raises(DataError, match="'attempts' is missing"):
        er.Evaluation.from_json(json.dumps({key: stored[key] for key in stored if key != "attempts"}))
    with pytest.raises(DataError, match="cannot be read"):
        er.Evaluation.from_json(json.dumps(stored | {"scale": "stars"}))


def test_a_stored_evaluation_is_compared_unpaired(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = (lm_eval(tmp_path / f"{name}.jsonl", grades_of(name)) for name in "ab")
    assert run(capsys, "report", str(first), "-o", str(tmp_path / "out")).code == 0
    stored = tmp_path / "out" / "evaluation.json"
    found = run(capsys, "compare", str(stored), str(second), "--json").json["comparison"]
    assert found["pairing"]["kind"] == "unpaired"
    assert "predictions of a run are missing" in found["pairing"]["reason"]
    (difference,) = [one for one in found["differences"] if one["metric"] == "pass_rate"]
    assert difference["difference"] == pytest.approx(11 / 220)
    ruled = run(
        capsys, "check", str(second), "--baseline", str(stored), "--require", "pass_rate drops <= 0.1"
    )
    assert ruled.code == 0, ruled.err


def test_a_comparison_has_no_labels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = (lm_eval(tmp_path / f"{name}.jsonl", grades_of(name)) for name in "ab")
    page = tmp_path / "page.html"
    assert run(capsys, "compare", str(first), str(second), "-o", str(page)).code == 0
    words = text_of(page)
    assert "Which items changed Fixed: passes only in the run." in words
    for missing in ("True class", "Truth", "truth", "Which predictions changed", "same labels"):
        assert missing not in words, missing
    found = run(capsys, "compare", str(first), str(second), "--json").json["comparison"]
    assert found["movement"]["by_class"] == {}


def test_items_that_fail_are_listed_by_what_varies(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for repeats, heads in ((1, "Item No grade"), (3, "Item Passes Attempts No grade")):
        path = tmp_path / f"{repeats}.csv"
        graded_table(repeats=repeats).to_csv(path, index=False)
        asked = ("--grade", "rating", "--set", "pass=>=4", "-o", str(tmp_path / "page.html"))
        assert run(capsys, "report", str(path), *asked).code == 0
        assert heads in text_of(tmp_path / "page.html")


def test_slices_have_the_metrics_of_the_grades() -> None:
    plain = er.evaluate(
        graded_table().assign(rating=lambda rows: rows["rating"] > 3), grade="rating", slices="topic"
    )
    assert {name for one in plain.slices for name in one.metrics} == RATES
    ratings = er.evaluate(graded_table(), grade="rating", slices="topic")
    assert {name for one in ratings.slices for name in one.metrics} == {"mean_score"}
    assert {one.metric for one in ratings.disparities} == {"mean_score"}


@pytest.fixture
def experiment(sqlite_store: Store, tmp_path: Path) -> Store:
    """Two models with three runs each, as logs of lm-evaluation-harness."""
    rng = np.random.default_rng(0)
    hard = rng.random(120)
    for model, skill in (("base", 0.45), ("tuned", 0.7)):
        for seed in range(3):
            grades = (rng.normal(skill, 0.15, 120) > hard).astype(float).tolist()
            path = lm_eval(tmp_path / "samples_sums.jsonl", grades)
            made = make_run(
                sqlite_store, {path.name: path.read_bytes()}, experiment="bench", name=f"{model}-{seed}"
            )
            sqlite_store.client.log_param(made.run_id, "model", model)
    return sqlite_store


def test_systems_of_graded_runs(
    experiment: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "systems.html"
    asked = ("--experiment", "bench", "--tracking-uri", experiment.uri, "--by", "params.model")
    done = run(capsys, "compare", *asked, "-o", str(page))
    assert done.code == 0, done.err
    assert "tuned is better than base in Pass rate" in done.out
    words = text_of(page)
    assert "tuned is better than base in Pass rate" in words and "By items" in words
    for missing in ("True label", "Wrong predictions", "By class"):
        assert missing not in words, missing


def test_a_site_of_graded_runs_is_built_again_from_stored_evaluations(
    experiment: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = tmp_path / "site"
    asked = ("--experiment", "bench", "--tracking-uri", experiment.uri, "-o", str(site))
    first = run(capsys, "site", *asked)
    assert first.code == 0, first.err
    words = text_of(site / "index.html")
    assert "Pass rate of" in words and "the same 120 items" in words.replace(" ,", ",")
    pages = sorted((site / "compare").glob("*.html"))
    assert len(pages) == 5 and "Which items changed" in text_of(pages[0])
    for page in pages:
        page.unlink()
    again = run(capsys, "site", *asked)
    assert again.code == 0, again.err
    assert "6 runs ranked, 0 not; 0 evaluated" in again.out + again.err
    assert sorted((site / "compare").glob("*.html")) == pages


def test_the_plan_of_a_pass_rate_counts_items(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An interval of ± 2 points around a rate p takes about p (1 - p) (1.96 / 0.02)² items."""
    path = lm_eval(tmp_path / "samples.jsonl", grades_of("a"))
    done = run(capsys, "plan", str(path), "--metric", "pass_rate", "--half-width", "0.02", "--json")
    assert done.code == 0, done.err
    rate = 140 / 220
    (found,) = done.json["runs"][0]["rows_needed"]
    assert found["needed"] == pytest.approx(rate * (1 - rate) * (1.96 / 0.02) ** 2, rel=0.05)


def test_plans_and_rules_count_items_not_attempts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """60 items with 3 attempts each are 60 units: as many items as the width of the interval requires."""
    paths = [tmp_path / f"{name}.csv" for name in "ab"]
    for seed, path in enumerate(paths):
        rows = graded_table(seed, repeats=3)
        rows.assign(passed=rows["rating"] > 2).to_csv(path, index=False)
    asked = ("--grade", "passed")
    done = run(capsys, "plan", str(paths[0]), *asked, "--metric", "pass_rate", "--half-width", "2%", "--json")
    (found,) = done.json["runs"][0]["rows_needed"]
    interval = done.json["runs"][0]["metric"]
    half = (interval["high"] - interval["low"]) / 2
    assert (found["rows"], found["needed"]) == (60, pytest.approx(60 * (half / 0.02) ** 2, abs=1))
    plan = run(capsys, "plan", str(paths[0]), *asked, "--metric", "pass_rate", "--min-difference", "2%").out
    checked = run(capsys, "check", str(paths[0]), *asked, "--require", "pass_rate >= 0.6").out
    compared = run(capsys, "compare", *map(str, paths), *asked, "--min-difference", "2%").out
    assert " items instead of 60" in checked and "on other items" in plan
    assert all(
        re.search(r"needs about [0-9,]+ items.* \(these 60 detect ", words) for words in (plan, compared)
    )
    assert " rows" not in plan + checked + compared


def test_a_summary_in_markdown_has_repeats_and_measures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, summary = tmp_path / "rows.csv", tmp_path / "summary.md"
    rows = graded_table(repeats=4)
    rows.to_csv(path, index=False)
    asked = ("--grade", "rating", "--set", "pass=>=4", "--set", "measure=cost", "-o", str(summary))
    assert run(capsys, "report", str(path), *asked).code == 0
    text = summary.read_text(encoding="utf-8").replace("\u200b", "")
    table = dict(re.findall(r"^\| (.+?) \| (.+?) \|", text, re.MULTILINE))
    ev = er.evaluate(rows, grade="rating", passing=">=4", id="id", measures="cost")
    for name, title in (
        ("pass_at_4", "Pass@4"),
        ("pass_hat_2", "Pass^2"),
        ("agreement", "Agreement of repeats"),
    ):
        assert float(table[title].rstrip("%")) / 100 == pytest.approx(ev[name].value, abs=0.006)
    assert float(table["cost, mean"]) == pytest.approx(rows.groupby("id")["cost"].mean().mean(), rel=0.02)
    assert {"cost, median", "cost, 95th percentile", "Mean score"} < table.keys()
    assert "Pass@3" not in table
    assert f"- {ev.lines[0]}" in text and "in some attempts only" in ev.lines[0]


def test_a_page_of_grades_has_no_words_of_labels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, page = tmp_path / "rows.csv", tmp_path / "page.html"
    graded_table(repeats=3).to_csv(path, index=False)
    asked = ("--grade", "rating", "--set", "pass=>=4", "--slice", "topic", "-o", str(page))
    assert run(capsys, "report", str(path), *asked).code == 0
    words = text_of(page)
    assert "180 attempts at 60 items; intervals are over items" in words
    assert "item ids, sha256" in words
    for wrong in ("true label", "ROC", "alibration", "by cluster", "no scores", "Group Items"):
        assert wrong not in words, wrong
    assert "Group Attempts" in words


def test_ratings_without_a_rule_have_no_items_that_fail(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, page = tmp_path / "rows.csv", tmp_path / "page.html"
    graded_table().to_csv(path, index=False)
    assert run(capsys, "report", str(path), "--grade", "rating", "-o", str(page)).code == 0
    words = text_of(page)
    assert "do not pass" not in words and "Mean score" in words and " 1 metric." in words


def test_a_mean_rating_is_not_drawn_on_the_axis_of_rates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, path, page = graded_table(), tmp_path / "rows.csv", tmp_path / "page.html"
    rows.to_csv(path, index=False)
    run(capsys, "report", str(path), "--grade", "rating", "-o", str(page))
    (table,) = re.findall(
        r'<table class="forest good".*?</table>', page.read_text(encoding="utf-8"), re.DOTALL
    )
    mean = er.evaluate(rows, grade="rating", id="id")["mean_score"].value
    assert f">{mean:.2f}<small>" in table and "<svg" not in table
    assert "No skill" not in text_of(page)


def test_the_first_screen_counts_items(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of repeats: items that pass in every attempt, in some, in none; else pass, fail, no grade."""
    path, page = tmp_path / "rows.csv", tmp_path / "page.html"
    for repeats in (1, 3):
        rows = graded_table(repeats=repeats)
        rows["passed"] = (rows["rating"] > 2).astype(float).where(rows["rating"].notna())
        rows.to_csv(path, index=False)
        assert run(capsys, "report", str(path), "--grade", "passed", "-o", str(page)).code == 0
        rate = rows["passed"].fillna(0).groupby(rows["id"]).mean()
        counts = (int((rate == 1).sum()), int(((rate > 0) & (rate < 1)).sum()), int((rate == 0).sum()))
        words = f"{counts[0]} pass in every attempt {counts[1]} in some {counts[2]} never pass"
        if repeats == 1:
            words = f"{counts[0]} pass {counts[2] - 1} fail 1 no grade"
        assert sum(counts) == ITEMS
        picture, _, lists = text_of(page).partition("How good is it?")
        first = lists.partition("The command of this page")[0]
        assert words in picture
        missing = "1 item without a grade" if repeats == 1 else "1 attempt without a grade"
        assert missing in first and "Can the numbers be trusted?" in first
        assert ("Pass@3" in first) == (repeats == 3)


def test_few_full_scores_are_not_reversed_labels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """To the checks of labels, a low pass rate looks like predictions of the other class."""
    rng = np.random.default_rng(5)
    path = tmp_path / "rows.csv"
    unit = rng.beta(2, 0.5, 120).round(3)
    pd.DataFrame({"id": range(120), "doc": np.arange(120) // 4, "unit": unit}).to_csv(path, index=False)
    for more in ((), ("--set", "group=doc")):
        done = run(capsys, "report", str(path), "--grade", "unit", *more, "-o", str(tmp_path / "page.html"))
        assert done.code == 0, done.err
        assert "swapped" not in done.err and "inverted" not in done.err


def test_numeric_slices_are_binned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = graded_table().assign(length=np.arange(ITEMS) * 10)
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    asked = ("--grade", "rating", "--slice", "length", "--set", "slice_bins=3", "--json")
    slices = run(capsys, "report", str(path), *asked).json["runs"][0]["slices"]
    assert len({one["value"] for one in slices}) == 3
    assert {one["rows"] for one in slices} == {20}
    for bins in (3, 0):
        ev = er.evaluate(
            [True, False] * 30, labels=er.Graded(), slices={"length": frame["length"]}, slice_bins=bins
        )
        assert len(ev.slices) == (bins or ITEMS)
        assert any("3 quantile bins" in note for note in ev.remarks) == bool(bins)


def test_a_measure_without_an_interval_has_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, page = tmp_path / "rows.csv", tmp_path / "page.html"
    cost = np.random.default_rng(0).lognormal(0, 1.5, 30)
    rows = pd.DataFrame({"id": range(30), "passed": [True, False] * 15, "cost": cost, "seconds": cost})
    rows.to_csv(path, index=False)
    asked = ("--set", "measure=cost", "--set", "measure=seconds", "-o", str(page))
    assert run(capsys, "report", str(path), *asked).code == 0
    words = text_of(page).replace(" ,", ",").replace(" :", ":").replace(" .", ".")
    assert words.count("Mean: no interval: a few large values can change a mean; the median has one.") == 1
    assert words.count("95th percentile: too few items for an interval of this percentile.") == 1


def test_repeats_are_compared_as_attempts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No run has an attempt without a grade: that difference is exact, without rounding errors as limits."""
    paths = [tmp_path / f"{name}.csv" for name in "ab"]
    for seed, path in enumerate(paths):
        rows = graded_table(seed, repeats=3)
        rows.assign(passed=rows["rating"] > 2, doc=rows["id"] // 3).to_csv(path, index=False)
    page = tmp_path / "page.html"
    asked = ("--grade", "passed", "--slice", "topic", "--set", "group=doc")
    done = run(capsys, "compare", *map(str, paths), *asked, "-o", str(page))
    assert "Paired on 180 shared attempts, matched by id." in done.out
    words = text_of(page)
    assert "By slice, most changes first" in words and "0.0000" not in words
    found = run(capsys, "compare", *map(str, paths), *asked, "--json").json["comparison"]["differences"]
    missing = [one for one in found if one["metric"] == "no_grade_rate"]
    assert missing and all(one["difference"] == 0 for one in missing)
    assert not [one for one in missing if one["low"] and abs(one["low"]) < 1e-6]


def test_slices_with_repeats_have_the_intervals_of_their_items() -> None:
    """The slice alone, evaluated as a file of its own, has the same interval."""
    rows = graded_table(repeats=3)
    whole = er.evaluate(rows, grade="rating", passing=">=4", id="id", slices="topic")
    for one in whole.slices:
        inside = rows[rows["topic"] == one.value]
        alone = er.evaluate(inside, grade="rating", passing=">=4", id="id")
        for name in ("pass_rate", "mean_score"):
            assert one.metrics[name] == alone[name]
        assert set(one.p_adjusted) >= {"pass_rate", "mean_score"}
    first, second = whole.slices
    gap, opposite = (one.differences["pass_rate"] for one in (first, second))
    higher, lower = (one.metrics["pass_rate"].value for one in (first, second))
    assert higher is not None and lower is not None
    assert gap.value == pytest.approx(higher - lower)
    assert opposite.value == pytest.approx(lower - higher)

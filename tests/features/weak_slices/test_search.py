"""Weak slices: what is found, what is not searched, and where it is shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import evalreport as er
from evalreport.cli import main
from evalreport.core.result import Estimate
from evalreport.data.labels import Binary
from evalreport.data.predictions import Predictions, predictions
from evalreport.features.weak_slices.find import weak_slices, worse_slices
from evalreport.features.weak_slices.search import (
    Data,
    Quantity,
    _fisher,
    _sign_test,
    search,
    search_columns,
    split_halves,
)
from evalreport.intervals.interval_settings import Sampling
from evalreport.page.payload import present
from evalreport.statistics.resampling import Stream
from evalreport.tracking.client import Store
from tests.features.weak_slices.rank_by_sliceline import RANKED, data_sets
from tests.features.weak_slices.simulate import PLANTED, RESULTS, columns, planted
from tests.tracking import fluent

N = 3_000
ALL = np.ones(N, dtype=bool)


def rows(
    found: dict[str, npt.NDArray[Any]], error: npt.ArrayLike, *, seed: int = 0, groups: Any = None
) -> Predictions:
    generator = np.random.default_rng((9, seed))
    n = len(next(iter(found.values())))
    truth = generator.integers(0, 2, n)
    answer = np.where(generator.random(n) < np.asarray(error, dtype=np.float64), 1 - truth, truth)
    return predictions(Binary(0, 1), truth, answer, columns=found, groups=groups)


@pytest.mark.parametrize(
    ("how", "wanted"), [("number", ("age",)), ("value", ("site",)), ("crossing", ("device", "site"))]
)
def test_planted_slice_is_confirmed(how: str, wanted: tuple[str, ...]) -> None:
    found, inside = planted(np.random.default_rng(4), N, 0.1, how)
    p = rows(found, np.where(inside, 0.4, 0.08))
    search = weak_slices(p, Sampling())
    assert search is not None
    first = search.confirmed[0]
    assert tuple(sorted(first.columns)) == wanted
    assert isinstance(first.rate, Estimate)
    assert first.rate.low is not None
    assert first.rate.high is not None
    assert first.rate.low <= 0.4 <= first.rate.high + 0.02
    assert first.rate_outside == pytest.approx(0.08, abs=0.03)
    assert first.slice in search.summary


def test_numbers_are_of_the_half_that_did_not_choose() -> None:
    found, inside = planted(np.random.default_rng(4), N, 0.1, "value")
    p = rows(found, np.where(inside, 0.4, 0.08))
    search = weak_slices(p, Sampling(seed=3))
    assert search is not None
    wrong, rare = p.y_true != p.y_pred, found["site"] == "rare"
    half = split_halves(N, None, Sampling(seed=3).generator(Stream.WEAK_SLICES))
    counts = [(int((rare & part).sum()), int((wrong & rare & part).sum())) for part in (half, ~half)]
    (found_slice,) = [one for one in search.confirmed if one.slice == "site = rare"]
    assert (found_slice.n, found_slice.errors) in counts


def test_rows_that_chose_a_slice_do_not_confirm_it() -> None:
    """A slice with errors in one half only: that half proposes it, and the other half contains no error."""
    found = {"site": np.where(np.arange(N) % 10 == 0, "rare", "other").astype(object)}
    half = split_halves(N, None, Sampling().generator(Stream.WEAK_SLICES))
    search = weak_slices(rows(found, np.where((found["site"] == "rare") & half, 0.9, 0.0)), Sampling())
    assert search is not None
    assert search.tested == 1
    assert not search.confirmed


def test_groups_are_not_divided() -> None:
    groups = np.arange(N, dtype=np.int64) // 7
    first = split_halves(N, groups, np.random.default_rng(0))
    assert all(len(set(first[groups == group].tolist())) == 1 for group in range(0, N // 7, 13))
    assert 0.4 < first.mean() < 0.6


def test_few_rows_and_few_groups_are_not_searched() -> None:
    found = {name: values[:150] for name, values in columns(np.random.default_rng(0), N).items()}
    search = weak_slices(rows(found, 0.1), Sampling())
    assert search is not None
    assert search.reason == "too few rows to search: 150; at least 200 are needed"
    found = columns(np.random.default_rng(0), N)
    search = weak_slices(rows(found, 0.1, groups=np.arange(N) % 5), Sampling())
    assert search is not None
    assert search.reason == "too few groups to search: 5; at least 20 are needed"


def test_without_columns_there_is_no_search() -> None:
    p = predictions(Binary(0, 1), [0, 1] * 200, [0, 1] * 200)
    assert weak_slices(p, Sampling()) is None


@pytest.mark.parametrize("name", ["confidence", "score", "proba_of_b", "fold"])
def test_output_of_a_model_and_folds_are_not_searched(name: str) -> None:
    found = columns(np.random.default_rng(0), N)
    values = next(iter(found.values()))
    assert weak_slices(rows({name: values}, 0.1), Sampling()) is None
    beside = weak_slices(rows({"credit_score": values, name: values}, 0.1), Sampling())
    assert beside is not None and beside.searched > 0


def only(values: npt.NDArray[Any]) -> Any:
    (found,) = search_columns({"c": values}, ["c"], [ALL[: len(values)]])
    return found[0] if found else None


def test_kinds_of_columns() -> None:
    generator = np.random.default_rng(0)
    assert only(np.arange(N)) is None, "ids"
    assert only(np.full(N, 3.0)) is None, "one value"
    assert only(np.array([f"row {k:05}" for k in range(N)], dtype=object)) is None, "texts of one length: ids"
    texts = np.array(["x" * k for k in generator.integers(1, 900, N)], dtype=object)
    texts[:] = [text + str(k) for k, text in enumerate(texts)]
    assert only(texts).name == "length of c"
    days = np.datetime64("2024-01-01") + generator.integers(0, 500, N)
    dates = only(np.array(days.astype(str), dtype=object))
    assert "over 2024-" in dates.text(5, dates.ordered_levels - 1)
    many = np.array([f"v{k}" for k in generator.integers(0, 10_000, N)], dtype=object)
    assert only(many) is None or only(many).name == "length of c"
    numbers = generator.normal(size=N)
    numbers[::3] = np.nan
    gaps = only(numbers)
    assert gaps.text(gaps.missing, gaps.missing) == "= (missing)"
    assert (gaps.codes[::3] == gaps.missing).all()


def test_boundaries_in_words_are_exact() -> None:
    numbers = np.random.default_rng(0).lognormal(3, 1, N)
    column = only(numbers)
    for first in range(1, column.ordered_levels):
        edge = float(column.text(first, column.ordered_levels - 1).removeprefix("over "))
        assert ((column.codes >= first) == (numbers > edge)).all()


def test_missing_values_are_a_slice() -> None:
    generator = np.random.default_rng(0)
    numbers = generator.normal(size=N)
    lost = generator.random(N) < 0.1
    numbers[lost] = np.nan
    search = weak_slices(rows({"income": numbers}, np.where(lost, 0.4, 0.08)), Sampling())
    assert search is not None
    assert search.confirmed[0].slice == "income = (missing)"


def test_exact_tests_against_enumeration() -> None:
    """The oracles: scipy's Fisher and binomial tests."""
    from scipy.stats import binomtest, fisher_exact

    inside, outside = np.array([1.0] * 7 + [0.0] * 13), np.array([1.0] * 9 + [0.0] * 91)
    table = [[7, 13], [9, 91]]
    assert _fisher(inside, outside) == pytest.approx(fisher_exact(table, alternative="greater").pvalue)
    changed = np.array([1.0] * 9 + [-1.0] * 2 + [0.0] * 30)
    assert _sign_test(changed) == pytest.approx(binomtest(9, 11, 0.5, alternative="greater").pvalue)


def test_slice_in_which_a_run_is_worse() -> None:
    found, inside = planted(np.random.default_rng(4), N, 0.1, "number")
    baseline = rows(found, 0.08)
    generator = np.random.default_rng(1)
    broken = inside & (generator.random(N) < 0.3)
    run = predictions(
        Binary(0, 1),
        baseline.y_true,
        np.where(broken, 1 - baseline.y_true, np.asarray(baseline.y_pred)),
        columns=found,
    )
    search = worse_slices(run, baseline, ("new", "old"), Sampling())
    assert search is not None
    first = search.confirmed[0]
    assert first.columns == ("age",)
    assert first.difference.value is not None
    assert first.difference.value > 0.15
    assert first.difference.low is not None
    assert first.difference.low > 0


def test_calibration_gap() -> None:
    found, inside = planted(np.random.default_rng(4), N, 0.1, "value")
    generator = np.random.default_rng(1)
    score = generator.uniform(0.1, 0.6, N)
    truth = (generator.random(N) < np.where(inside, score + 0.3, score)).astype(int)
    ev = er.evaluate(truth, scores=er.Probabilities(score), extra_columns=found, resamples=200)
    assert ev.weak_slices is not None
    gaps = [one for one in ev.weak_slices.confirmed if one.kind == "calibration"]
    assert gaps[0].slice == "site = rare"
    assert gaps[0].rate.value == pytest.approx(0.3, abs=0.1)
    assert gaps[0].expected is not None


def write(path: str, p: Predictions, found: dict[str, npt.NDArray[Any]]) -> None:
    assert p.y_pred is not None
    lines = zip(range(len(p)), p.y_true.tolist(), p.y_pred.tolist(), found["age"].round(3), strict=True)
    Path(path).write_text("id,y_true,y_pred,age\n" + "".join(",".join(map(str, one)) + "\n" for one in lines))


def test_report_and_comparison(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    found, inside = planted(np.random.default_rng(4), N, 0.1, "number")
    write("old.csv", rows(found, 0.08), found)
    write("new.csv", rows(found, np.where(inside, 0.4, 0.08)), found)

    def ran(*words: str) -> dict[str, Any]:
        with pytest.raises(SystemExit):
            main((*words, "--json"))
        made: dict[str, Any] = json.loads(capsys.readouterr().out)
        return made

    (run,) = ran("report", "new.csv", "-o", "new.html")["runs"]
    assert run["weak_slices"]["confirmed"][0]["columns"] == ["age"]
    assert set(run["weak_slices"]["confirmed"][0]) >= {
        *("kind", "slice", "columns", "values", "n", "errors", "rate", "rate_outside", "p")
    }
    assert any(finding["rule"] == "weak_slice" for finding in run["findings"])
    page = Path("new.html").read_text(encoding="utf-8")
    assert "Weak slices, found by a search" in page
    (plain,) = ran("report", "old.csv", "-o", "old.html")["runs"]
    assert not plain["weak_slices"]["confirmed"]
    assert "No weak slice confirmed among" in Path("old.html").read_text(encoding="utf-8")
    (off,) = ran("report", "new.csv", "--no-find-slices", "-o", "new.html")["runs"]
    assert off["weak_slices"] is None
    words = ("compare", "old.csv", "new.csv", "-o", "compared.html")
    compared = ran(*words)["comparison"]["weak_slices"]
    assert compared[0]["confirmed"][0]["columns"] == ["age"]
    assert set(compared[0]["confirmed"][0]) >= {"difference", "difference_outside", "p"}
    page = Path("compared.html").read_text(encoding="utf-8")
    assert "Slices in which a run is worse" in page
    assert f">{compared[0]['confirmed'][0]['slice']}<" in page


def test_description_of_a_run_names_the_slice() -> None:
    found, inside = planted(np.random.default_rng(4), N, 0.1, "number")
    p = rows(found, np.where(inside, 0.4, 0.08))
    ev = er.evaluate(p.y_true, p.y_pred, extra_columns=found, resamples=200)
    assert ev.weak_slices is not None
    assert f"where {ev.weak_slices.confirmed[0].slice} (" in present(ev).description


def test_site_has_weak_slices_and_worse_slices(
    sqlite_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    found, inside = planted(np.random.default_rng(4), N, 0.1, "number")
    with fluent(sqlite_store):
        import mlflow

        mlflow.set_experiment("ages")
        for name, error in (("old", 0.08), ("new", np.where(inside, 0.4, 0.08))):
            write("predictions.csv", rows(found, error), found)
            with mlflow.start_run(run_name=name):
                mlflow.log_artifact("predictions.csv")
    with pytest.raises(SystemExit) as stop:
        main(("site", "--experiment", "ages", "-o", "out", "--tracking-uri", sqlite_store.uri))
    assert not stop.value.code, capsys.readouterr().err
    pages = {path.parent.name: path.read_text(encoding="utf-8") for path in Path("out").glob("*/new-*.html")}
    assert "Weak slices, found by a search" in pages["runs"]
    assert "Slices in which a run is worse" in pages["compare"]


def test_file_with_columns_of_all_kinds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ids, dates, free text, one value, many values and missing values: a report, and no false slice."""
    import pandas as pd

    monkeypatch.chdir(tmp_path)
    generator, truth = np.random.default_rng(5), np.arange(N) % 2
    days = np.datetime64("2024-01-01") + generator.integers(0, 400, N)
    frame = pd.DataFrame(
        {
            "y_true": truth,
            "y_pred": np.where(generator.random(N) < 0.1, 1 - truth, truth),
            "case": [f"case-{k:05}" for k in range(N)],
            "row_number": np.arange(N) + 7,
            "day": days.astype("datetime64[D]").astype(str),
            "note": ["word " * int(k) for k in generator.integers(1, 90, N)],
            "constant": "x",
            "many": [f"v{k}" for k in generator.integers(0, 10_000, N)],
            "income": np.where(generator.random(N) < 0.2, np.nan, generator.normal(size=N)),
            "empty": np.nan,
        }
    )
    for rows_kept, reason in ((N, ""), (150, "too few rows to search: 150; at least 200 are needed")):
        frame[:rows_kept].to_csv("all.csv", index=False)
        with pytest.raises(SystemExit) as stop:
            main(("report", "all.csv", "-o", "page.html", "--json"))
        assert not stop.value.code
        (run,) = json.loads(capsys.readouterr().out)["runs"]
        assert run["weak_slices"]["reason"] == reason
        assert not run["weak_slices"]["confirmed"]
        assert bool(run["weak_slices"]["searched"]) == (not reason)


def test_ranking_against_sliceline() -> None:
    """The oracle: SliceLine on the same rows, as `rank_by_sliceline` stored it."""
    stored, first_is_same, best_is_tested = json.loads(RANKED.read_text()), 0, 0
    for row, (name, p, first) in zip(stored, data_sets(), strict=True):
        assert row == name | {"best": row["best"]}
        (columns,) = search_columns(p.columns, list(p.columns), [first])
        error = Quantity("error", (p.y_true != p.y_pred).astype(np.float64), is_binary=True)
        _, tested = search(Data(columns, first, np.ones(len(p))), [error])
        ours = [
            {
                columns[part.column].name: columns[part.column].text(part.first, part.last)[2:]
                for part in one.conditions
            }
            for one in tested
        ]
        first_is_same += ours[0] == row["best"][0]
        best_is_tested += row["best"][0] in ours
    assert len(stored) == 40
    assert first_is_same >= 36
    assert best_is_tested >= 38


SIMULATED: dict[str, list[dict[str, Any]]] = json.loads(RESULTS.read_text())


@pytest.mark.parametrize("row", SIMULATED["power"], ids=lambda row: f"{row['planted']} {row['size']}")
def test_simulated_power(row: dict[str, Any]) -> None:
    """Each planted slice is confirmed in 80% of the data sets, and others in at most 5%."""
    assert row["sets"] >= 200
    assert row["confirmed"] >= 0.8
    assert row["other"] <= 0.05


def test_simulated_settings_are_complete() -> None:
    power = {(row["planted"], row["size"]) for row in SIMULATED["power"]}
    assert power == {(how, size) for how in (*PLANTED, "worse run") for size in (0.02, 0.05, 0.1)}
    kinds = {"two classes", "three classes", "groups", "calibrated scores", "two equal runs"}
    assert {row["of"] for row in SIMULATED["false"]} == kinds
    assert {row["metric"] for row in SIMULATED["coverage"]} == {"money", "f_beta_3", "top_decile_lift"}


@pytest.mark.parametrize("row", SIMULATED["false"], ids=lambda row: row["of"])
def test_simulated_false_slices(row: dict[str, Any]) -> None:
    """Where no slice is planted, one is confirmed in at most 5% of 1,000 data sets."""
    assert row["sets"] >= 1_000
    assert row["false"] <= 0.05


@pytest.mark.parametrize("row", SIMULATED["coverage"], ids=lambda row: row["metric"])
def test_simulated_coverage_of_own_metrics(row: dict[str, Any]) -> None:
    assert row["sets"] >= 500
    assert row["coverage"] >= 0.92

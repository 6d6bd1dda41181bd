"""A numeric column with many values is cut into quantile bins, and the report says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evalreport as er
from evalreport.cli import main
from evalreport.core.errors import UsageError
from evalreport.data.arrays import MOST_VALUES, bin_slices, quantile_edges

N = 600
AGE = np.random.default_rng(0).uniform(18, 90, N).round(1)


def bounds(text: str) -> tuple[float, float]:
    """Return the limits of a bin in words."""
    parts = dict(part.rsplit(" ", 1) for part in text.split(", "))
    return float(parts.get("over", "-inf")), float(parts.get("up to", "inf"))


@pytest.mark.parametrize("bins", [2, 5, 10])
def test_each_row_is_in_the_bin_of_its_words(bins: int) -> None:
    found, notes = bin_slices({"age": AGE}, bins)
    values, counts = np.unique(found["age"].astype(str), return_counts=True)
    assert len(values) == bins
    assert counts.min() >= 0.9 * N / bins
    assert all(low < age <= high for age, (low, high) in zip(AGE, map(bounds, found["age"]), strict=True))
    assert f"{bins} quantile bins" in notes[0]


def test_quintiles_against_pandas() -> None:
    """The oracle: `pandas.qcut` of numbers without ties."""
    import pandas as pd

    numbers = np.random.default_rng(1).permutation(1_000).astype(float)
    edges = quantile_edges(numbers, np.arange(1, 5) / 5)
    theirs = pd.qcut(numbers, 5, labels=False)
    assert (np.searchsorted(edges, numbers) == theirs).mean() >= 0.995


@pytest.mark.parametrize(
    "values",
    [
        np.arange(N) % MOST_VALUES,
        np.array([f"site {k}" for k in range(N)], dtype=object),
        np.array([True, False] * (N // 2)),
        np.array([str(k) for k in range(N)], dtype=object),
        np.full(N, np.nan),
    ],
    ids=["twenty numbers", "texts", "booleans", "digits as text", "missing"],
)
def test_other_columns_keep_their_values(values: Any) -> None:
    found, notes = bin_slices({"c": values})
    assert found["c"] is values
    assert not notes


def test_zero_bins_keep_each_value() -> None:
    assert bin_slices({"age": AGE}, 0)[0]["age"] is AGE


def test_tied_numbers_share_a_bin() -> None:
    many = np.concatenate([np.zeros(N), np.arange(30)])
    found, _ = bin_slices({"count": many})
    assert len({found["count"][k] for k in range(N)}) == 1
    assert None not in found["count"].tolist()


@pytest.mark.parametrize("bins", [1, -1, 101])
def test_impossible_numbers_of_bins_are_refused(bins: int) -> None:
    with pytest.raises(UsageError, match=f"{bins} quantile bins cannot divide the rows") as caught:
        bin_slices({"age": AGE}, bins)
    assert caught.value.where == "--set slice_bins"


def test_missing_values_are_a_slice_of_arrays_and_frames() -> None:
    import pandas as pd

    age, y = np.where(np.arange(N) % 20 == 0, np.nan, AGE), np.arange(N) % 2
    frame = pd.DataFrame({"y_true": y, "y_pred": y, "age": age})
    arrays = er.evaluate(y, y, slices={"age": age}, slice_bins=3, confidence=None)
    for ev in (arrays, er.evaluate(frame, slices="age", slice_bins=3, confidence=None)):
        counts = {part.value: part.rows for part in ev.slices}
        assert counts["(missing)"] == N // 20
        assert len(counts) == 4
        assert any("3 quantile bins" in note for note in (*ev.notes, *ev.provenance.notes))


@pytest.fixture
def ages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [f"{k},{k % 2},{k % 3 % 2},{age}" for k, age in enumerate(AGE)]
    Path("ages.csv").write_text("\n".join(["id,y_true,y_pred,age", *lines]) + "\n")


def ran(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    with pytest.raises(SystemExit):
        main((*words, "--json"))
    made: dict[str, Any] = json.loads(capsys.readouterr().out)
    return made


@pytest.mark.usefixtures("ages")
def test_report_says_how_a_column_is_cut(capsys: pytest.CaptureFixture[str]) -> None:
    (run,) = ran(capsys, "report", "ages.csv", "--slice", "age", "-o", "page.html")["runs"]
    assert len(run["slices"]) == 5
    assert any("5 quantile bins" in note for note in run["notes"])
    assert "5 quantile bins" in Path("page.html").read_text(encoding="utf-8")
    (run,) = ran(capsys, "report", "ages.csv", "--slice", "age", "--set", "slice_bins=4", "-o", "page.html")[
        "runs"
    ]
    assert len(run["slices"]) == 4


@pytest.mark.usefixtures("ages")
def test_stream_refuses_quantile_bins(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(("report", "ages.csv", "--slice", "age", "--set", "engine=stream", "-o", "page.html"))
    assert stop.value.code == 2
    what, where, fix = capsys.readouterr().err.splitlines()
    assert "the quantile bins of age need all rows" in what
    assert where.endswith("ages.csv, --slice age")
    assert "--set slice_bins=0" in fix

"""The reasons of a column decision: their weights add up, and every output has them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

from evalreport.columns.column_request import Columns
from evalreport.columns.decide import decide
from evalreport.core.json_codec import decode, encode
from evalreport.core.result import ColumnDecision
from tests.cli.running import Ran, run

RNG = np.random.default_rng(31)
Y = RNG.integers(2, size=80)
P = np.clip(0.45 * Y + 0.55 * RNG.random(80), 0, 1).round(4)
H = (P >= 0.5).astype(int)
BINARY: dict[str, Any] = {"score": P, "Label": H, "diagnosis": Y, "age": RNG.integers(18, 90, size=80)}
NAMES = np.array(["oslo", "paris", "rome"])
K = RNG.integers(3, size=80)
TABLES: dict[str, dict[str, Any]] = {
    "scores": BINARY,
    "no scores": {"topic": NAMES[K], "topic_pred": NAMES[np.where(RNG.random(80) < 0.8, K, 0)]},
    "no predictions": {"y_true": Y, "y_proba": P},
    "responses": {"label": NAMES[K], "generation": [f"I think {name}." for name in NAMES[K]]},
    "lists": {
        "labels": [["a", "b"] if row else ["b"] for row in Y],
        "predicted_labels": [["a", "b"] if row else ["b"] for row in H],
    },
}


def arrays(columns: Mapping[str, Any]) -> dict[str, npt.NDArray[Any]]:
    return {name: pd.Series(list(cells)).to_numpy() for name, cells in columns.items()}


@pytest.mark.parametrize("name", TABLES)
def test_the_weights_of_the_reasons_add_up_to_that_of_the_decision(name: str) -> None:
    best = decide(arrays(TABLES[name]), Columns(), "p.csv")
    assert best is not None
    reasons = best.decision.reasons
    assert sum(one.weight for one in reasons) == pytest.approx(best.weight, abs=0.05)
    assert {(one.role, one.column) for one in reasons} == set(best.roles)
    assert all(one.reason for one in reasons)


def test_the_runner_up_has_another_result_and_less_weight() -> None:
    best = decide(arrays(BINARY), Columns(), "p.csv")
    assert best is not None
    assert best.decision.margin is not None and best.decision.margin >= 2
    assert best.decision.runner_up and best.decision.runner_up != best.roles


def reported(capsys: pytest.CaptureFixture[str], path: Path, *options: str) -> Ran:
    page = str(path.with_name("page.html"))
    return run(capsys, "report", str(path), *options, "--set", "resamples=100", "-o", page)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    pd.DataFrame(BINARY).to_csv(path, index=False)
    return path


def test_json_has_the_reasons_and_they_are_read_back(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = reported(capsys, table, "--json").json["runs"][0]
    decision = body["provenance"]["column_decision"]
    roles = {(one["role"], one["column"]) for one in decision["reasons"]}
    assert roles == {("label", "diagnosis"), ("prediction", "Label"), ("scores", "score")}
    assert "a threshold separates the predictions" in {one["reason"] for one in decision["reasons"]}
    read = decode(ColumnDecision, decision)
    assert read.margin == decision["margin"] and encode(read) == decision


def test_a_column_that_an_option_names_says_so(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = reported(capsys, table, "--truth", "diagnosis", "-v")
    assert "label diagnosis: an option or the file format names it" in shown.err
    assert "prediction Label: " in shown.err


def test_settings_have_a_comment_for_each_column(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = run(capsys, "init", str(table), "-o", "-").out.splitlines()
    shown = {"label": 'truth = "diagnosis"', "prediction": 'pred = "Label"', "scores": 'score = "score"'}
    for role, line in shown.items():
        assert lines[lines.index(line) - 1].startswith(f"# {role} ")
    body = run(capsys, "init", str(table), "--json", "-o", "-").json
    assert {one["role"] for one in body["column_decision"]["reasons"]} == {*shown}

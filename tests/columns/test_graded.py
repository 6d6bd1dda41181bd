"""A file with a grade per item is graded: never "accuracy 0 %", never "the same predictions"."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import evalreport as er
from evalreport.columns.column_request import Columns
from evalreport.columns.find_columns import find_in_files
from evalreport.core.errors import ColumnNotFoundError
from tests.cli.running import Ran, run

FILES = Path(__file__).parents[1] / "misread" / "files"
N = 60
RNG = np.random.default_rng(5)
RIGHT = RNG.random(N) < 0.6
TEXTS = [f"free text {k}" for k in range(N)]
YES = np.where(RNG.random(N) < 0.6, "yes", "no")
ANSWERED = np.where(RIGHT, YES, np.where(YES == "yes", "no", "yes"))

TABLES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "booleans": ("correct", {"id": range(N), "question": TEXTS, "response": TEXTS, "correct": RIGHT}),
    "only a grade": ("is_correct", {"is_correct": RIGHT.astype(int)}),
    "camel case": ("isCorrect", {"id": range(N), "isCorrect": RIGHT}),
    "words": ("passed", {"task": TEXTS, "passed": np.where(RIGHT, "pass", "fail")}),
    "letters of Inspect": ("grade", {"input": TEXTS, "output": TEXTS, "grade": np.where(RIGHT, "C", "I")}),
    "fractions": ("acc", {"input": TEXTS, "acc": np.where(RIGHT, 1.0, 0.5)}),
    "a truth without answers": ("correct", {"id": range(N), "y_true": YES, "correct": RIGHT}),
    "texts on both sides": (
        "exact_match",
        {"target": TEXTS, "prediction": [f"x{k}" for k in range(N)], "exact_match": RIGHT.astype(float)},
    ),
    "a score of 0 and 1 beside answers": (
        "score",
        {"target": YES, "response": TEXTS, "score": RIGHT.astype(float)},
    ),
    "answers that hold no label": ("passed", {"expected": YES, "output": ["blah"] * N, "passed": RIGHT}),
    "a grade as the truth": ("correct", {"prompt": TEXTS, "pred": ANSWERED == "yes", "correct": RIGHT}),
}


def refused(ran: Ran, column: str) -> None:
    assert ran.code == 5, ran.out
    error = ran.json["error"]
    assert error["message"].startswith("the file has a grade per item (right or wrong, column")
    assert repr(column) in error["message"]
    assert error["where"].count(column) >= 1
    assert "--truth" in error["fix"]


def graded(ran: Ran, column: str, rate: float = float(RIGHT.mean())) -> None:
    assert ran.code == 0, ran.out
    found = ran.json["runs"][0]
    assert found["task"] == "graded"
    assert ["grade", column] in found["provenance"]["columns"]
    assert found["metrics"]["pass_rate"]["value"] == pytest.approx(rate)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_with_a_grade_is_graded_by_its_column(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    column, table = TABLES[name]
    path = tmp_path / "rows.csv"
    pd.DataFrame(table).to_csv(path, index=False)
    graded(run(capsys, "report", str(path), "--json"), column)


@pytest.mark.parametrize("name", ["only a grade", "booleans"])
def test_a_stream_with_a_grade_is_refused_too(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    column, table = TABLES[name]
    path = tmp_path / "rows.parquet"
    pd.DataFrame(table).to_parquet(path, index=False)
    refused(run(capsys, "report", str(path), "--json", "--set", "engine=stream"), column)


def test_a_frame_with_a_grade_is_graded_too() -> None:
    assert er.evaluate(pd.DataFrame(TABLES["booleans"][1])).task == "graded"


@pytest.mark.parametrize(
    ("name", "column", "rate"),
    [
        ("samples_gsm8k_a.jsonl", "exact_match", 140 / 220),
        ("samples_gsm8k_b.jsonl", "exact_match", 151 / 220),
        ("inspect_a.json", "model_graded_qa", 82 / 120),
    ],
)
def test_logs_of_graded_answers_are_graded(
    name: str, column: str, rate: float, capsys: pytest.CaptureFixture[str]
) -> None:
    graded(run(capsys, "report", str(FILES / name), "--json"), column, rate)


def test_two_logs_of_graded_answers_are_not_the_same_predictions(capsys: pytest.CaptureFixture[str]) -> None:
    paths = [str(FILES / f"samples_gsm8k_{run}.jsonl") for run in "ab"]
    found = run(capsys, "compare", *paths, "--json").json["comparison"]
    assert (found["movement"]["fixed"], found["movement"]["broken"]) == (51, 40)


def test_promptfoo_with_other_assertions_is_graded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = [
        {"vars": {"topic": text}, "response": {"output": text}, "success": bool(right), "testIdx": k}
        for k, (text, right) in enumerate(zip(TEXTS, RIGHT, strict=True))
    ]
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"results": {"results": results}}))
    graded(run(capsys, "report", str(path), "--json"), "success")


def test_a_pair_of_labels_wins_and_the_grade_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    pd.DataFrame({"y_true": YES, "y_pred": ANSWERED, "correct": RIGHT}).to_csv(path, index=False)
    found = find_in_files(path)
    assert found.unused == ("correct",)
    assert (found.y_true == found.y_pred).tolist() == RIGHT.tolist()


def test_answers_that_can_be_read_win(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "rows.csv"
    said = [f"It is {word}." for word in ANSWERED]
    pd.DataFrame({"target": YES, "response": said, "exact_match": RIGHT}).to_csv(path, index=False)
    ran = run(capsys, "report", str(path), "--json")
    assert ran.code == 0, ran.out
    assert ran.json["runs"][0]["metrics"]["accuracy"]["value"] == pytest.approx(RIGHT.mean())


def test_classes_in_a_column_named_correct_are_labels(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    kinds = [f"kind {k % 3}" for k in range(N)]
    pd.DataFrame({"correct": kinds, "predicted": kinds[::-1]}).to_csv(path, index=False)
    assert find_in_files(path).y_true.tolist() == kinds


def test_a_grade_is_no_score_of_a_class(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "rows.csv"
    pd.DataFrame({"y_true": YES, "y_pred": ANSWERED, "score": RIGHT.astype(int)}).to_csv(path, index=False)
    ran = run(capsys, "report", str(path), "--json")
    assert ran.code == 0
    assert ran.json["runs"][0]["metrics"]["accuracy"]["value"] == pytest.approx(RIGHT.mean())
    assert ran.json["runs"][0]["score_kind"] is None


@pytest.mark.parametrize(
    ("columns", "values"),
    [
        (("passed",), ["often", "never"]),
        (("grade",), [3, 5]),
        (("score",), [0.25, 0.75]),
        (("acc",), [None, None]),
    ],
)
def test_other_values_are_no_grades(columns: Sequence[str], values: list[Any], tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    table = {"question": ["a", "b"], **dict.fromkeys(columns, values)}
    pd.DataFrame(table).to_csv(path, index=False)
    with pytest.raises(ColumnNotFoundError):
        find_in_files(path)


def test_named_columns_are_meant(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    pd.DataFrame({"said": RIGHT[::-1], "correct": RIGHT}).to_csv(path, index=False)
    found = find_in_files(path, Columns(truth="correct", pred="said"))
    assert found.y_true.tolist() == RIGHT.tolist()
    with pytest.raises(ColumnNotFoundError, match="nowhere"):
        find_in_files(path, Columns(truth="nowhere", pred="said"))

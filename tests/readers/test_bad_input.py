"""Each kind of bad input gets one clear error: what, where, how to mend it, and its exit code."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from evalreport.columns.column_request import Columns, read_labels
from evalreport.columns.find_columns import Found, find, find_in_files, to_predictions
from evalreport.core.errors import (
    ColumnNotFoundError,
    DataError,
    EvalreportError,
    FileMissingError,
    UsageError,
)
from evalreport.readers.formats import read_table


def found(text: str, request: Columns | None = None, format: str = "csv") -> Found:
    return find(read_table(io.BytesIO(text.encode()), format=format, name="p.csv"), request)


def lines(text: str, request: Columns | None = None) -> list[str]:
    with pytest.raises(EvalreportError) as caught:
        to_predictions(found(text, request))
    return [str(caught.value.exit_code), *caught.value.as_lines().split("\n")]


def test_missing_column_in_three_lines(tmp_path: Path) -> None:
    path = tmp_path / "predictions.parquet"
    parquet.write_table(pa.table({"case_id": [1], "diagnosis": ["b"], "p_malignant": [0.5]}), path)
    with pytest.raises(ColumnNotFoundError) as caught:
        find_in_files(path, Columns(truth="diagnoses"))
    assert caught.value.exit_code == 3
    assert caught.value.as_lines() == (
        'error: column "diagnoses" is not in predictions.parquet\n'
        f"  at   {path}\n"
        "  fix  columns are: case_id, diagnosis, p_malignant. Use --truth diagnosis"
    )


OPTIONS = {
    "pred": "--pred ",
    "score": "--score ",
    "text": "--response ",
    "id": "--id ",
    "group": "--set group=",
    "weight": "--set weight=",
    "example_text": "--set show_text=",
}


@pytest.mark.parametrize("role", OPTIONS)
def test_each_named_column_that_is_missing(role: str) -> None:
    named: dict[str, Any] = {role: "score"}
    code, message, _, fix = lines("y_true,scoore\n1,0.5\n", Columns(**named))
    assert code == "3"
    assert message == 'error: column "score" is not in p.csv'
    assert fix == f"  fix  columns are: y_true, scoore. Use {OPTIONS[role]}scoore"


def test_missing_slice_and_pattern() -> None:
    assert lines("y_true,score\n1,0.5\n", Columns(slices=("site",)))[:2] == [
        "3",
        'error: column "site" is not in p.csv',
    ]
    assert lines("y_true,score\n1,0.5\n", Columns(scores="proba_*"))[:2] == [
        "3",
        "error: no column of p.csv matches proba_*",
    ]


def test_no_truth_names_the_one_column_that_is_left() -> None:
    assert lines("case_id,diagnosis,p_malignant\n1,b,0.5\n") == [
        "3",
        "error: no column of true labels in p.csv; looked for y_true, label, target and true_<label>",
        "  at   p.csv",
        "  fix  columns are: case_id, diagnosis, p_malignant. Use --truth diagnosis",
    ]


def test_no_predictions() -> None:
    code, message, *_ = lines("y_true,age\n1,30\n")
    assert code == "3"
    assert message.startswith("error: no predictions are in p.csv")


def test_nan_and_infinite_scores() -> None:
    assert lines("y_true,score\n1,0.5\n0,nan\n1,\n0,inf\n") == [
        "5",
        "error: column 'score' has 3 values that are NaN or infinite",
        "  at   p.csv, column 'score', first: row 1, nan",
        "  fix  fix or drop these rows before the predictions are logged",
    ]


def test_scores_outside_zero_and_one() -> None:
    text = "y_true,score\n" + "0,0.5\n" * 17 + "1,1.8\n1,-3\n"
    assert lines(text) == [
        "5",
        "error: column 'score' has 2 values outside [0, 1] (first: row 17, 1.8)",
        "  at   p.csv, column 'score', first: row 17",
        "  fix  if these are logits, pass --score-kind logit (er.Logits); if they are margins, --score-kind "
        "decision (er.Decisions)",
    ]
    assert found(text, Columns(score_kind="logit")).score_kind == "logit"
    message = lines("y_true,proba_1\n0,0.5\n1,1.5\n")[1]
    assert message == "error: column 'proba_1' has 1 value outside [0, 1] (first: row 1, 1.5)"


def test_probabilities_that_do_not_sum_to_one() -> None:
    assert lines("y_true,proba_a,proba_b,proba_c\na,0.5,0.5,0\nb,0.9,0.9,0\nc,0,0,1\n")[1:3] == [
        "error: the probabilities of 1 row do not sum to one",
        "  at   p.csv, first: row 1, sum 1.8",
    ]


def test_scores_that_are_text() -> None:
    commas = found("y_true;score\n1;0,5\n0;0,25\n")
    assert commas.scores is not None and commas.scores.tolist() == [0.5, 0.25]
    assert lines("y_true,score\n1,0.5\n0,oops\n")[2] == "  at   p.csv, column 'score', first: row 1, 'oops'"


def test_labels_of_mixed_types() -> None:
    data = '{"y_true": 1, "y_pred": 1}\n{"y_true": "one", "y_pred": 1}\n'
    with pytest.raises(DataError, match="y_true mixes types of labels") as caught:
        found(data, format="jsonl")
    assert caught.value.where == "p.csv, y_true: number (first: row 0), text (first: row 1)"
    with pytest.raises(DataError, match="true and predicted labels have no label in common"):
        found("y_true,y_pred\na,1\nb,2\n")


def test_truth_missing_for_a_row() -> None:
    assert lines("y_true,y_pred\na,a\n,b\nb,b\n")[1:3] == [
        "error: y_true is missing for 1 row",
        "  at   p.csv, y_true, first: row 1",
    ]
    assert lines("y_true,y_pred\n1,1\n,0\n0,0\n")[1] == "error: y_true is missing for 1 row"


def test_duplicate_ids_are_reported_with_their_count() -> None:
    reported = to_predictions(found("id,y_true,y_pred\nx,1,1\ny,1,0\nx,0,0\nx,0,0\n"))
    assert reported.notes == (
        "1 id occurs more than once (first: rows 0 and 2): each row counts; --set group holds rows together",
    )
    assert len(reported) == 4
    assert not to_predictions(found("id,y_true,y_pred\nx,1,1\ny,0,0\n")).notes
    assert found("id,y_true,y_pred\nx,1,1\nx,0,0\n", Columns(group="id")).ids is None


def test_an_id_that_is_missing() -> None:
    assert lines("id,y_true,y_pred\nx,1,1\n,0,0\n")[1:3] == [
        "error: id is missing for 1 row",
        "  at   p.csv, column id, first: row 1",
    ]


def test_labels_outside_the_declared_set() -> None:
    assert lines("y_true,y_pred\nham,spam\nham,spma\n", Columns(labels=("ham", "spam", "eggs")))[1:] == [
        "error: y_pred has 1 label outside the label set",
        "  at   p.csv, y_pred, first: row 1, 'spma'",
        "  fix  Did you mean spam?",
    ]


def test_a_positive_label_that_is_none() -> None:
    assert lines("y_true,score\nham,0.5\nspam,0.5\n", Columns(positive="spma")) == [
        "2",
        "error: positive label 'spma' is not among the labels",
        "  at   p.csv, --positive",
        "  fix  Did you mean spam?",
    ]


def test_weights_that_are_bad() -> None:
    assert lines("y_true,y_pred,w\n1,1,1\n0,0,-2\n", Columns(weight="w"))[1:3] == [
        "error: 1 weight is negative or not finite",
        "  at   p.csv, column 'w', first: row 1, -2.0",
    ]
    assert (
        lines("y_true,y_pred,w\n1,1,much\n", Columns(weight="w"))[1]
        == "error: column 'w' holds text, not numbers"
    )


def test_indicators_that_are_no_indicators() -> None:
    assert lines("true_a,true_b,pred_a,pred_b\n1,0,2,1\n")[1:3] == [
        "error: column 'pred_a' has 1 value other than 0 and 1",
        "  at   p.csv, column 'pred_a', first: row 0, '2'",
    ]


def test_labels_without_columns() -> None:
    assert lines("true_a,true_b,pred_a\n1,0,1\n")[1:3] == [
        "error: 1 label without a column like pred_*",
        "  at   p.csv, first: pred_b",
    ]
    assert lines("true_a,true_b,proba_a,proba_c\n1,0,0.5,0.5\n")[1:3] == [
        "error: 1 score column that match no label of the label set",
        "  at   p.csv, first: 'c'",
    ]


def test_one_column_is_no_table_of_predictions() -> None:
    assert lines("y_true&score\n1&0.5\n")[1:] == [
        "error: p.csv has only one column, y_true&score, and no true labels",
        "  at   p.csv",
        "  fix  separate columns by a comma, semicolon, tab or |; labels in another file: --set "
        "truth_file=FILE",
    ]


def test_one_score_column_for_three_labels() -> None:
    text = "y_true,score\na,0.5\nb,0.5\nc,0.5\n"
    reported = lines(text, Columns(score="score"))
    assert reported[1] == "error: one score column cannot rank 3 labels"
    assert lines(text) == reported  # not that there are no predictions
    assert lines(text, Columns(labels=("a", "b")))[2] == "  at   p.csv, y_true, first: row 2, 'c'"
    for name in ("p_b", "logit_b"):  # named after a label it ranks the others no better
        text = f"y_true,{name}\na,0.5\nb,0.5\nc,0.5\n"
        named = [reported[0], reported[1], reported[2].replace("score", name), reported[3]]
        assert lines(text) == named == lines(text, Columns(scores=name.replace("_b", "_*")))


def test_lists_without_a_separator() -> None:
    assert lines("labels,predicted\na|b,a\nb,b\n", Columns(task="multilabel"))[1:] == [
        "error: column 'labels' contains no lists of labels",
        "  at   p.csv, column 'labels', first: row 0, 'a|b'",
        "  fix  for text cells declare the separator, as in --set list_separator='|'",
    ]


BROKEN = [
    ("p.csv", b"", "the file is empty", ""),
    ("p.csv", b"y_true,score\n", "the file has a header but no rows", ""),
    ("p.csv", b"y_true,score\n1,0.5\n0,0.5,7\n", "line 3 has 3 cells and the header has 2", "line 3"),
    (
        "p.csv",
        b'y_true,text,score\n1,"a,\nb",0.5\n0,x\n',
        "record 3 has 2 cells",
        "record 3",
    ),
    ("p.csv", b"y_true,score\na,0.5\ncaf\xe9,0.5\n", "line 3 is not UTF-8", "line 3, byte 0xe9"),
    ("p.csv", "y_true,score\na,0.5\n".encode("utf-16"), "the file is UTF-16", ""),
    ("p.csv", "y_true,score\na,0.5\n".encode("utf-16-le"), "the file is UTF-16", ""),
    ("p.csv", "y_true,score\na,0.5\n".encode("utf-16-be"), "the file is UTF-16", ""),
    ("p.csv", "y_true,score\na,0.5\n".encode("utf-32"), "the file is UTF-32", ""),
    ("p.csv", "y_true,score\na,0.5\n".encode("utf-32-le"), "the file is UTF-32", ""),
    ("p.csv", "y_true,score\na,0.5\n".encode("utf-32-be"), "the file is UTF-32", ""),
    ("p.csv", b"PK\x03\x04[Content_Types].xml xl/workbook.xml", "the file is an Excel workbook", ""),
    ("p.csv", b"\n  \n\n", "the file has only blank lines", ""),
    (
        "p.csv",
        b"y_true,score,y_true\n1,0.5,1\n",
        "column 'y_true' appears twice",
        "columns 1 and 3",
    ),
    ("p.csv", b"PAR1xxxx", "the file is parquet, not csv", ""),
    ("p.csv.gz", b"\x1f\x8b\x08\0", "the gzip data are cut off or broken", ""),
    ("p.parquet", b"PAR1" + b"\0" * 40, "the file is not whole Parquet", ""),
    ("p.parquet", b"y_true,score\n1,0.5\n", "the file is not parquet", ""),
    ("p.feather", b"FEA1" + b"\0" * 40, "the file is Feather version 1", ""),
    ("p.feather", b"ARROW1\0\0" + b"\0" * 40, "the file is not whole Arrow", ""),
    ("p.npz", b"PK\x03\x04" + b"\0" * 40, "the file is not whole NPZ", ""),
    ("p.jsonl", b'{"y_true": 1}\n\n{"y_true": 0\n', "line 3 is not valid JSON", "line 3, column"),
    ("p.jsonl", b'{"y_true": 1}\n[1]\n', "line 2 is not a record but list", "line 2"),
    ("p.jsonl", b'{"y_true": 1, "y_true": 0}\n', "'y_true' appears twice in one record", "line 1"),
    ("p.jsonl", b"\n\n", "the file has no rows", ""),
    ("p.json", b"[]", "the file has no rows", ""),
    ("p.json", b'[{"y_true": 1},\n {"y_true": }]', "line 2 is not valid JSON", "line 2"),
    ("p.json", b"3", "the JSON contains no table", ""),
    ("p.json", b"[" * 100_000, "the file nests too deeply", ""),
    ("p.json", b'[{"y_true": 1' + b"0" * 5_000 + b"}]", "the file holds a number that is too long", ""),
    ("p.json", b'{"columns": ["a", "b"], "data": [[1, 2], [3]]}', "row 1 has 1 values", "row 1"),
    (
        "p.json",
        b'{"columns": ["a", "a"], "data": [[1, 2]]}',
        "column 'a' appears twice",
        "columns 1 and 2",
    ),
    ("p.json", b'{"a": [1, 2], "b": [1]}', "the columns have unequal lengths", "a 2, b 1"),
    ("p.npy", b"\x93NUMPY\x01\0\x10\0not a header at all", "the file is not whole NPY", ""),
]


@pytest.mark.parametrize(("name", "content", "message", "where"), BROKEN)
def test_broken_files(name: str, content: bytes, message: str, where: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        read_table(path)
    assert caught.value.exit_code == 5
    assert caught.value.message.startswith(message)
    assert caught.value.where.startswith(f"{path}, {where}" if where else str(path))
    assert caught.value.fix


def test_truncated_parquet(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    parquet.write_table(pa.table({"y_true": np.arange(1_000)}), path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(DataError, match="the file is not whole Parquet"):
        read_table(path)


def test_duplicate_parquet_columns(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    parquet.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]), path)
    with pytest.raises(DataError, match="column 'a' appears twice"):
        read_table(path)


def test_missing_file_names_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "preds.csv").write_text("a\n1\n", encoding="utf-8")
    with pytest.raises(FileMissingError, match=r"file pred\.csv does not exist") as caught:
        read_table(tmp_path / "pred.csv")
    assert caught.value.exit_code == 3
    assert caught.value.fix == "files in this folder: preds.csv"
    with pytest.raises(FileMissingError) as caught:
        read_table(tmp_path / "nowhere" / "pred.csv")
    assert caught.value.fix == "the folder nowhere does not exist either"
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(FileMissingError, match=r"folder\.csv is a folder"):
        read_table(tmp_path / "folder.csv")


@pytest.mark.parametrize("name", ["p.xlsx", "predictions", "p.csv.zip"])
def test_unknown_names_list_what_is_accepted(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("a\n1\n", encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        read_table(tmp_path / name)
    assert caught.value.exit_code == 2
    assert ".csv, .tsv, .txt, .parquet, .pq, .arrow" in caught.value.fix
    assert read_table(tmp_path / name, format="csv").n == 1


def test_unknown_format() -> None:
    with pytest.raises(UsageError, match="there is no format 'excel'"):
        read_table(io.BytesIO(b"a"), format="excel")
    with pytest.raises(UsageError, match="the format is not known"):
        read_table(io.BytesIO(b"a\n1\n"))


def test_label_files(tmp_path: Path) -> None:
    path = tmp_path / "labels"
    path.write_text('\ufeff["a", "b,c", 3]', encoding="utf-8")
    assert read_labels(f"@{path}") == ("a", "b,c", 3)
    path.write_text("a\n\nb,c\n", encoding="utf-8")
    assert read_labels(f"@{path}") == ("a", "b,c")
    path.write_text('["a", ["b"]]', encoding="utf-8")
    with pytest.raises(DataError, match="label 1 of the list is list"):
        read_labels(f"@{path}")
    path.write_text('["a", ', encoding="utf-8")
    with pytest.raises(DataError, match="not valid JSON"):
        read_labels(f"@{path}")
    with pytest.raises(UsageError, match="contains no label"):
        read_labels(" , ")
    with pytest.raises(FileMissingError):
        read_labels(f"@{tmp_path / 'nothing'}")


@pytest.mark.parametrize(
    ("scores", "remedy"),
    [
        (("12.5", "88"), "if these are percents, divide them by 100"),
        (("-0.2", "-3.1"), "if these are logarithms of probabilities, log exp(score)"),
        (("-0.2", "3.1"), "if these are logits, pass --score-kind logit"),
        (("0.5", "140"), "if these are logits, pass --score-kind logit"),
    ],
)
def test_the_remedy_follows_from_the_range_of_the_scores(scores: tuple[str, str], remedy: str) -> None:
    code, *_, fix = lines(f"y_true,score\n0,{scores[0]}\n1,{scores[1]}\n")
    assert code == "5"
    assert fix.startswith(f"  fix  {remedy}")


@pytest.mark.parametrize(
    ("scores", "remedy"),
    [
        ("0.33,0.33,0.33", "if they are rounded to 2 digits, log more of them"),
        ("0.3,0.3,0.3", "if they are rounded to 1 digit, log more of them"),
        ("0.9,0.8,0.7", "for logits pass --score-kind logit"),
    ],
)
def test_rows_that_do_not_sum_to_one_may_be_rounded(scores: str, remedy: str) -> None:
    code, message, place, fix = lines(f"y_true,proba_a,proba_b,proba_c\na,{scores}\nb,0,1,0\n")
    assert (code, message) == ("5", "error: the probabilities of 1 row do not sum to one")
    assert "first: row 0" in place
    assert fix.startswith(f"  fix  {remedy}")


def test_weights_are_named_by_their_column() -> None:
    code, message, place, _ = lines("y_true,y_pred,sample_weight\n1,1,1\n0,0,-1\n")
    assert (code, message) == ("5", "error: 1 weight is negative or not finite")
    assert place == "  at   p.csv, column 'sample_weight', first: row 1, -1.0"
    _, message, place, fix = lines("y_true,y_pred,sample_weight\n1,1,x\n0,0,y\n")
    assert message == "error: column 'sample_weight' holds text, not numbers"
    assert fix == "  fix  pass numbers, with a decimal point"


@pytest.mark.parametrize("number", ["99999999999999999999999", "1e300", "inf"])
def test_a_label_that_is_too_large_a_number(number: str) -> None:
    code, message, place, fix = lines(f"y_true,y_pred\n1,1\n{number},1\n")
    assert (code, message) == ("5", "error: y_true holds a number that is too large for a label")
    assert place.startswith("  at   p.csv, y_true, first: row 1, ")
    assert fix == "  fix  write such labels as text, in a CSV with a letter in front"


def test_a_column_without_a_name_is_said_so() -> None:
    code, *_, fix = lines(",kind,reply\n0,a,a\n")
    assert code == "3"
    assert "columns are: (no name), kind, reply" in fix

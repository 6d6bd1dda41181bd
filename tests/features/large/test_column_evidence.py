"""The columns of a stream are decided by the evidence of its first rows, in every format."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evalreport.columns.column_request import Columns
from evalreport.columns.find_columns import find_in_files
from evalreport.core.errors import UsageError
from evalreport.features.large.read import open_stream
from evalreport.readers.data_sets import Batch, DataSet, data_set

RNG = np.random.default_rng(4)
N = 1500
NAMES = np.array(["oslo", "paris", "rome"])
K = RNG.integers(3, size=N)
Q = RNG.dirichlet(np.ones(3), size=N) * 0.6 + 0.4 * np.eye(3)[K]
Q = Q / Q.sum(axis=1, keepdims=True)
G = Q.argmax(axis=1)
BESIDE = {
    "age": RNG.integers(18, 90, size=N),
    "member": RNG.integers(2, size=N),
    "income": RNG.normal(size=N),
}
UNUSUAL = {**BESIDE, "city": NAMES[K], "city_guess": NAMES[G]}
RIVALS = {"first": NAMES[K], "second": NAMES[np.where(RNG.random(N) < 0.1, 0, K)], "third": NAMES[G]}


def written(folder: Path, columns: dict[str, object], form: str) -> Path:
    frame, path = pd.DataFrame(columns), folder / f"rows.{form}"
    match form:
        case "csv":
            frame.to_csv(path, index=False)
        case "jsonl":
            frame.to_json(path, orient="records", lines=True)
        case _:
            frame.to_parquet(path)
    return path


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_columns_with_unusual_names_are_read(form: str, tmp_path: Path) -> None:
    stream = open_stream(data_set([written(tmp_path, UNUSUAL, form)], None), Columns())
    assert (stream.truth, stream.pred) == ("city", "city_guess")
    assert not {*BESIDE} & {*stream.columns}
    rows = [batch.rows for batch in stream.batches()]
    right = sum(int((one.y_true == one.y_pred).sum()) for one in rows)
    assert right == int((K == G).sum()) and sum(map(len, rows)) == N


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_rows_are_sampled_once(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    samples: list[list[str]] = []
    sample = DataSet.sample

    def counted(data: DataSet, wanted: Collection[str]) -> Batch:
        samples.append(list(wanted))
        return sample(data, wanted)

    monkeypatch.setattr(DataSet, "sample", counted)
    open_stream(data_set([written(tmp_path, UNUSUAL, form)], None), Columns())
    assert samples == [list(UNUSUAL)]


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_a_question_of_a_table_is_a_question_of_a_stream(form: str, tmp_path: Path) -> None:
    path = written(tmp_path, RIVALS, form)
    with pytest.raises(UsageError, match=r"assignments of the columns|columns could be the") as whole:
        find_in_files(path)
    with pytest.raises(UsageError) as streamed:
        open_stream(data_set([path], None), Columns())
    assert streamed.value.message == whole.value.message
    with pytest.raises(UsageError):
        open_stream(data_set([path], None), Columns(truth="first"))
    chosen = open_stream(data_set([path], None), Columns(truth="first", pred="third"))
    assert (chosen.truth, chosen.pred) == ("first", "third")

"""Predictions of a run: found in the promised order, never guessed, and said."""

from __future__ import annotations

import io
import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evalreport.columns.column_request import Columns
from evalreport.columns.find_columns import find
from evalreport.core.errors import (
    ArtifactNotFoundError,
    ColumnNotFoundError,
    EvalreportError,
    GradedError,
    UsageError,
)
from evalreport.tracking.client import Store
from evalreport.tracking.find_predictions import LOGGING, RunRequest, RunTable, dataset_path, read_run
from evalreport.tracking.runs import DatasetSource, RunInfo, find_run
from tests.tracking import make_run

CSV = "example_id,y_true,y_pred\n1,a,a\n2,b,a\n"
TABLE = {"y_true": ["a", "b"], "y_pred": ["a", "a"], "example_id": [1, 2]}
RUN = RunInfo("f" * 32, "r", "1", "e", "FINISHED", artifact_uri="mlflow-artifacts:/1/f/artifacts")
FEATURES = "example_id,x1,x2\n1,0.5,0.5\n"


def read(
    store: Store,
    folder: Path,
    files: dict[str, str | bytes] | None = None,
    tables: dict[str, object] | None = None,
    request: RunRequest | None = None,
) -> RunTable:
    made = make_run(store, files, tables=tables, folder=None if store.uri.startswith("http") else folder)
    return read_run(store, find_run(store, made.run_id), request)


def failing(
    store: Store,
    folder: Path,
    files: dict[str, str | bytes],
    request: RunRequest | None = None,
) -> EvalreportError:
    with pytest.raises(EvalreportError) as caught:
        read(store, folder, files, request=request)
    assert "calm-heron-412" in caught.value.where
    return caught.value


def parquet() -> bytes:
    stream = io.BytesIO()
    pd.DataFrame(TABLE).to_parquet(stream)
    return stream.getvalue()


def npz() -> bytes:
    stream = io.BytesIO()
    np.savez(stream, y_true=np.array(["a", "b"]), y_pred=np.array(["a", "a"]))
    return stream.getvalue()


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("predictions.csv", CSV),
        ("deep/down/test_predictions.parquet", parquet()),
        (
            "eval_results_table.json",
            json.dumps({"columns": list(TABLE), "data": [["a", "a", 1], ["b", "a", 2]]}),
        ),
        ("preds.jsonl", '{"y_true": "a", "y_pred": "a"}\n{"y_true": "b", "y_pred": "a"}\n'),
        ("oof.npz", npz()),
        ("results of monday.csv", CSV),
    ],
)
def test_an_artifact_of_any_form_is_found(
    store: Store, tmp_path: Path, path: str, content: str | bytes
) -> None:
    found = read(store, tmp_path, {path: content, "model.txt": "weights", "features.csv": FEATURES})
    assert found.taken == f"artifact {path}"
    assert found.table.source == path
    assert find(found.table, found.columns).y_true.tolist() == ["a", "b"]


def test_a_logged_table_is_found_by_its_tag(store: Store, tmp_path: Path) -> None:
    found = read(store, tmp_path, {"predictions.csv": CSV}, {"what/ever.json": TABLE})
    assert found.taken == "artifact what/ever.json"
    assert find(found.table, found.columns).y_pred is not None


def test_a_logged_table_may_be_parquet(sqlite_store: Store, tmp_path: Path) -> None:
    found = read(sqlite_store, tmp_path, {}, {"what/ever.parquet": pd.DataFrame(TABLE)})
    assert (found.taken, found.table.format) == ("artifact what/ever.parquet", "parquet")


def test_what_was_named_comes_first(sqlite_store: Store, tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"a/test.csv": CSV, "predictions.csv": CSV, "b/dev.csv": CSV}
    for name in ("a/test.csv", "a/*", "test.*"):
        found = read(sqlite_store, tmp_path, files, {"t.json": TABLE}, RunRequest(artifact=name))
        assert found.taken == "artifact a/test.csv"


def test_a_usual_name_comes_before_others(sqlite_store: Store, tmp_path: Path) -> None:
    found = read(sqlite_store, tmp_path, {"aaa.csv": CSV, "predictions.csv": CSV})
    assert found.taken == "artifact predictions.csv"


def test_a_table_without_truth_is_set_aside_and_said(sqlite_store: Store, tmp_path: Path) -> None:
    found = read(sqlite_store, tmp_path, {"results.csv": CSV}, {"losses.json": {"epoch": [1], "loss": [0.5]}})
    assert found.taken == "artifact results.csv"
    assert len(found.notes) == 1
    assert found.notes[0].startswith("losses.json set aside: no column of true labels")


def test_a_table_of_features_and_labels_is_not_one_of_predictions(
    sqlite_store: Store, tmp_path: Path
) -> None:
    training = "example_id,x1,label\n1,0.5,a\n"
    found = read(sqlite_store, tmp_path, {"train.csv": training, "results.csv": CSV})
    assert found.taken == "artifact results.csv"
    error = failing(sqlite_store, tmp_path, {"train.csv": training})
    assert "no column of predictions or scores" in error.message


def test_several_that_fit_are_listed(store: Store, tmp_path: Path) -> None:
    error = failing(store, tmp_path, {"dev_predictions.csv": CSV, "x/test_predictions.csv": CSV})
    assert isinstance(error, UsageError)
    assert "dev_predictions.csv, x/test_predictions.csv" in error.message
    assert "--artifact dev_predictions.csv" in error.fix


def test_a_glob_that_means_several_lists_them(sqlite_store: Store, tmp_path: Path) -> None:
    error = failing(sqlite_store, tmp_path, {"a.csv": CSV, "b.csv": CSV}, RunRequest(artifact="*.csv"))
    assert "matches 2 artifacts: a.csv, b.csv" in error.message


def test_an_unknown_artifact_lists_what_there_is(store: Store, tmp_path: Path) -> None:
    error = failing(store, tmp_path, {"a.csv": CSV}, RunRequest(artifact="b.csv"))
    assert (error.exit_code, error.code) == (3, "ARTIFACT_NOT_FOUND")
    assert "a.csv" in error.fix


def test_a_run_without_predictions_is_exit_3(store: Store, tmp_path: Path) -> None:
    error = failing(store, tmp_path, {"model.bin": b"1"})
    assert isinstance(error, ArtifactNotFoundError)
    assert "model.bin" in error.where
    assert "log_table" in error.fix


def test_a_text_is_no_table(sqlite_store: Store, tmp_path: Path) -> None:
    error = failing(sqlite_store, tmp_path, {"notes.txt": "trained on Monday\nby hand\n"})
    assert error.message == "the run has no predictions"


def test_the_one_table_with_other_names_lists_its_columns(sqlite_store: Store, tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"predictions.csv": "case,diagnosis,y_pred\n1,a,a\n"}
    error = failing(sqlite_store, tmp_path, files)
    assert isinstance(error, ColumnNotFoundError)
    assert "case, diagnosis, y_pred" in error.fix
    found = read(sqlite_store, tmp_path, files, request=RunRequest(columns=Columns(truth="diagnosis")))
    assert find(found.table, found.columns).y_true.tolist() == ["a"]


def test_truth_may_live_elsewhere(sqlite_store: Store, tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"predictions.csv": "example_id,y_pred\n1,a\n"}
    assert failing(sqlite_store, tmp_path, files).exit_code == 3
    found = read(sqlite_store, tmp_path, files, request=RunRequest(label_file=True))
    assert found.taken == "artifact predictions.csv"


def test_our_own_tables_are_no_predictions(sqlite_store: Store, tmp_path: Path) -> None:
    tables: dict[str, object] = {"evalreport/classes.json": TABLE, "evalreport/thresholds.json": TABLE}
    found = read(sqlite_store, tmp_path, {"evalreport/predictions.csv": CSV}, tables)
    assert found.taken == "artifact evalreport/predictions.csv"


def test_files_of_a_model_are_no_predictions(sqlite_store: Store, tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"m/MLmodel": "x", "m/a/input_example.csv": CSV, "results.csv": CSV}
    assert read(sqlite_store, tmp_path, files).taken == "artifact results.csv"


@pytest.mark.parametrize("tag", ["not json", "{}", "[1]", '[{"path": "gone.json", "type": "table"}]'])
def test_a_broken_tag_leaves_the_names_to_decide(sqlite_store: Store, tmp_path: Path, tag: str) -> None:
    made = make_run(
        sqlite_store, {"predictions.csv": CSV}, tags={"mlflow.loggedArtifacts": tag}, folder=tmp_path
    )
    assert read_run(sqlite_store, find_run(sqlite_store, made.run_id)).taken == "artifact predictions.csv"


def test_a_broken_file_is_exit_5(sqlite_store: Store, tmp_path: Path) -> None:
    error = failing(sqlite_store, tmp_path, {"predictions.parquet": parquet()[:50]})
    assert error.exit_code == 5
    assert "predictions.parquet" in error.where
    assert str(tmp_path) not in error.as_lines()


@pytest.mark.parametrize("other", ["old_predictions.csv", "monday.csv"])
def test_a_broken_file_is_not_replaced_by_another(sqlite_store: Store, tmp_path: Path, other: str) -> None:
    files: dict[str, str | bytes] = {"predictions.parquet": parquet()[:50], other: CSV}
    error = failing(sqlite_store, tmp_path, files)
    assert (error.exit_code, error.message[:19]) == (5, "predictions.parquet")
    assert error.fix == f"log it again, or take the other: --artifact {other}"
    found = read(sqlite_store, tmp_path, files, request=RunRequest(artifact=other))
    assert found.taken == f"artifact {other}"


def test_a_broken_table_of_the_tag_is_not_replaced_either(sqlite_store: Store, tmp_path: Path) -> None:
    tag = json.dumps([{"path": "what.json", "type": "table"}])
    files: dict[str, str | bytes] = {"what.json": '{"columns": ["y_true"', "predictions.csv": CSV}
    made = make_run(sqlite_store, files, tags={"mlflow.loggedArtifacts": tag}, folder=tmp_path)
    with pytest.raises(EvalreportError, match=r"what\.json cannot be read"):
        read_run(sqlite_store, find_run(sqlite_store, made.run_id))


def test_what_by_its_name_is_no_prediction_is_set_aside(sqlite_store: Store, tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"scores.json": '{"f1": 0.9}', "cut.csv": "a,b\n1\n", "results.csv": CSV}
    found = read(sqlite_store, tmp_path, files)
    assert found.taken == "artifact results.csv"
    assert [note.partition(" set aside")[0] for note in found.notes] == ["scores.json", "cut.csv"]


class Bomb:
    """Unpickling it leaves a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (Path.touch, (Path(self.path),))  # type: ignore[return-value]


@pytest.mark.parametrize(
    "name", ["predictions.pkl", "predictions.parquet", "predictions.csv", "predictions.npy"]
)
def test_a_pickle_is_refused_under_every_name(sqlite_store: Store, tmp_path: Path, name: str) -> None:
    marker = tmp_path / "ran"
    error = failing(sqlite_store, tmp_path, {name: pickle.dumps(Bomb(marker))})
    assert (error.exit_code, error.code) == (5, "UNSAFE_FILE")
    assert "pickle" in error.message
    assert not marker.exists()


def with_dataset(store: Store, folder: Path, kind: str, source: str) -> RunTable:
    run = find_run(store, make_run(store, folder=folder).run_id)
    return read_run(store, replace(run, datasets=(DatasetSource("test set", "ab", kind, source),)))


def test_the_file_of_a_dataset_is_read_from_a_local_store(sqlite_store: Store, tmp_path: Path) -> None:
    file = tmp_path / "logged.csv"
    file.write_text(CSV)
    for uri in (str(file), file.as_uri()):
        found = with_dataset(sqlite_store, tmp_path, "local", json.dumps({"uri": uri}))
        assert found.taken == "artifact dataset test set (logged.csv)"
    with pytest.raises(EvalreportError, match="does not exist"):
        with_dataset(sqlite_store, tmp_path, "local", json.dumps({"uri": str(tmp_path / "gone.csv")}))


def test_a_dataset_of_the_network_is_not_fetched(sqlite_store: Store, tmp_path: Path) -> None:
    with pytest.raises(ArtifactNotFoundError) as caught:
        with_dataset(sqlite_store, tmp_path, "http", json.dumps({"url": "http://169.254.169.254/a.csv"}))
    assert "dataset test set is not on this machine" in caught.value.where


def test_a_server_cannot_name_a_file_of_this_machine(tmp_path: Path) -> None:
    file = tmp_path / "private.csv"
    file.write_text(CSV)

    class Empty:
        """A server whose run has no artifact, no trace and no child."""

        def list_artifacts(self, *_: object) -> list[object]:
            return []

        def search_runs(self, *_: object) -> list[object]:
            return []

        def search_traces(self, **_: object) -> Any:
            return type("Page", (list,), {"token": None})()

    dataset = DatasetSource("x", "ab", "local", json.dumps({"uri": str(file)}))
    run = replace(RUN, datasets=(dataset,))
    with pytest.raises(ArtifactNotFoundError):
        read_run(Store(Empty(), "https://host"), run)


@pytest.mark.parametrize("source", ["", "[]", "{}", '{"uri": 3}', '{"uri": "a\\u0000b"}'])
def test_a_broken_dataset_source_is_none(source: str) -> None:
    assert dataset_path(DatasetSource("x", "ab", "local", source)) is None


def test_a_parent_without_predictions_names_a_child(sqlite_store: Store, tmp_path: Path) -> None:
    parent = make_run(sqlite_store, folder=tmp_path)
    tags = {"mlflow.parentRunId": parent.run_id}
    child = make_run(
        sqlite_store, {"predictions.csv": CSV}, tags=tags, experiment=parent.experiment, folder=tmp_path
    )
    with pytest.raises(ArtifactNotFoundError) as caught:
        read_run(sqlite_store, find_run(sqlite_store, parent.run_id))
    assert caught.value.message == "the run has no predictions and has 1 finished child run"
    assert caught.value.fix == (
        "pass --children where they are the folds of a cross-validation; "
        f"else name them: --run-id {child.run_id[:8]}"
    )


def test_a_run_of_autolog_alone_is_shown_the_lines_that_log_predictions(
    sqlite_store: Store, tmp_path: Path
) -> None:
    files: dict[str, str | bytes] = {"metric_info.json": '{"f1": 0.9}', "estimator.html": "<html>"}
    made = make_run(sqlite_store, files, tags={"mlflow.autologging": "sklearn"}, folder=tmp_path)
    with pytest.raises(ArtifactNotFoundError, match="autologging logs the model") as caught:
        read_run(sqlite_store, find_run(sqlite_store, made.run_id))
    assert caught.value.exit_code == 3
    assert LOGGING in caught.value.fix


def test_a_run_of_the_default_evaluator_is_not_asked_for_columns(sqlite_store: Store, tmp_path: Path) -> None:
    """Its one table holds metrics of the classes: no choice of columns makes predictions of them."""
    table = "positive_class,true_negatives,false_positives,recall_score\n0,9,1,0.5\n1,9,1,0.5\n"
    files: dict[str, str | bytes] = {"per_class_metrics.csv": table, "confusion_matrix.png": b"png"}
    for names in (files, {"confusion_matrix.png": b"png"}):
        made = make_run(sqlite_store, dict(names), folder=tmp_path)
        with pytest.raises(
            ArtifactNotFoundError, match=r"metrics and figures of mlflow\.models\.evaluate"
        ) as caught:
            read_run(sqlite_store, find_run(sqlite_store, made.run_id))
        assert "--pred" not in caught.value.fix
        assert "log_table(run_id, table" in caught.value.fix
        assert 'evaluators=["default", "evalreport"]' in caught.value.fix


def test_a_table_of_grades_does_not_stand_before_one_of_predictions(
    sqlite_store: Store, tmp_path: Path
) -> None:
    found = read(
        sqlite_store, tmp_path, {"eval_results.csv": "id,correct\n1,True\n2,False\n", "other.csv": CSV}
    )
    assert found.taken == "artifact other.csv"


def test_a_table_of_grades_alone_is_read(sqlite_store: Store, tmp_path: Path) -> None:
    found = read(sqlite_store, tmp_path, {"eval_results.csv": "id,y_true,correct\n1,a,True\n2,b,False\n"})
    assert found.taken == "artifact eval_results.csv"
    with pytest.raises(GradedError, match="column 'correct'"):
        find(found.table, found.columns)

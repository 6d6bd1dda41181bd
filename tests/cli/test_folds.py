"""Cross-validations from files, from one table and from the children of a run."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evalreport.sources.mlflow_client import Store
from tests.cli.running import run
from tests.tracking import files_of, make_run

Capture = pytest.CaptureFixture[str]
N, K = 90, 3
RNG = np.random.default_rng(1)
Y = RNG.integers(0, 2, N)
ROWS = pd.DataFrame(
    {"example_id": np.arange(N), "y_true": Y, "score": (0.3 * Y + 0.7 * RNG.random(N)).round(4)}
)
part_of = np.arange(N) % K
QUICK = ("--resamples", "100")


def written(rows: pd.DataFrame, folder: Path) -> list[str]:
    paths = [folder / f"fold-{k}.csv" for k in range(K)]
    for k, path in enumerate(paths):
        rows[part_of == k].to_csv(path, index=False)
    return list(map(str, paths))


def test_files_and_a_column_say_the_same(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = written(ROWS, tmp_path)
    done = run(capsys, "report", "--folds", *files, "-o", "page.html", "--json", *QUICK)
    assert done.code == 0, done.err
    body = done.json["runs"][0]
    assert (body["n"], body["folds"]["names"]) == (N, ["fold-0", "fold-1", "fold-2"])
    ROWS.assign(fold=part_of).to_csv("oof.csv", index=False)
    one = run(capsys, "report", "oof.csv", "--fold", "fold", "--json", *QUICK).json["runs"][0]
    assert one["folds"]["metrics"] == body["folds"]["metrics"]
    for end in ("value", "low", "high"):
        assert one["metrics"]["roc_auc"][end] == pytest.approx(body["metrics"]["roc_auc"][end])
    page = Path("page.html").read_text(encoding="utf-8")
    assert "How far do the folds agree?" in page
    assert page.count('class="dots"') >= 5
    untold = run(capsys, "report", "oof.csv", "--json", *QUICK)
    assert "pass --fold fold" in untold.err
    assert untold.json["runs"][0]["folds"] is None


@pytest.mark.parametrize(
    ("break_it", "code", "words"),
    [
        (lambda files: pd.read_csv(files[0]).to_csv(files[1], index=False), 5, "30 ids occur more than once"),
        (
            lambda files: pd.read_csv(files[1]).drop(columns="score").to_csv(files[1], index=False),
            5,
            "column 'score' is in 2 of 3",
        ),
    ],
)
def test_what_is_no_cross_validation_is_refused(
    tmp_path: Path, capsys: Capture, break_it: object, code: int, words: str
) -> None:
    files = written(ROWS.assign(y_pred=Y), tmp_path)
    assert callable(break_it)
    break_it(files)
    done = run(capsys, "report", "--folds", *files, "--json")
    assert (done.code, words in done.json["error"]["message"]) == (code, True), done.out


def test_a_missing_fold_is_told(tmp_path: Path, capsys: Capture) -> None:
    files = written(ROWS, tmp_path)
    done = run(capsys, "report", "--folds", files[0], files[2], "--json", *QUICK)
    assert done.code == 0
    assert "fold 1 is not there: the folds are numbered 0 to 2" in done.err


def test_children_are_logged_into_their_parent(sqlite_store: Store, tmp_path: Path, capsys: Capture) -> None:
    server = ("--tracking-uri", sqlite_store.uri)
    parent = make_run(sqlite_store, experiment="cv", folder=tmp_path, name="search")
    for k in range(K):
        make_run(
            sqlite_store,
            {"predictions.csv": ROWS[part_of == k].to_csv(index=False)},
            experiment="cv",
            name=f"fold-{k}",
            tags={"mlflow.parentRunId": parent.run_id},
        )
    make_run(
        sqlite_store,
        experiment="cv",
        name="lost",
        tags={"mlflow.parentRunId": parent.run_id},
        status="FAILED",
    )
    told = run(capsys, *server, "log", "--run-id", parent.run_id)
    assert (told.code, "pass --children" in told.err) == (3, True)
    done = run(capsys, *server, "log", "--run-id", parent.run_id, "--children", "--json", *QUICK)
    assert done.code == 0, done.out
    assert "lost) has not finished (FAILED) and is left out" in done.err
    body = done.json["runs"][0]
    assert body["folds"]["rows"] == [30, 30, 30]
    logged = sqlite_store.client.get_run(parent.run_id).data.metrics
    assert logged["eval/roc_auc"] == body["metrics"]["roc_auc"]["value"]
    history = sqlite_store.client.get_metric_history(parent.run_id, "eval/folds/roc_auc")
    assert [point.value for point in history] == pytest.approx(body["folds"]["metrics"]["roc_auc"]["folds"])
    again = run(capsys, *server, "log", "--run-id", parent.run_id, "--children", "--json", *QUICK)
    assert again.json["runs"][0]["logged"]["state"] == "unchanged"
    whole = json.loads(
        (files_of(sqlite_store, parent.run_id, tmp_path / "got") / "evalreport/evaluation.json").read_text()
    )
    assert whole["folds"]["names"] == ["fold-0", "fold-1", "fold-2"]

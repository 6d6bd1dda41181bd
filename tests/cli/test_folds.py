"""Cross-validations from files, from one table and from the children of a run."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from evalreport.tracking.client import Store
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
QUICK = ("--set", "resamples=100")


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
    one = run(capsys, "report", "oof.csv", "--set", "fold=fold", "--json", *QUICK).json["runs"][0]
    assert one["folds"]["metrics"] == body["folds"]["metrics"]
    for end in ("value", "low", "high"):
        assert one["metrics"]["roc_auc"][end] == pytest.approx(body["metrics"]["roc_auc"][end])
    page = Path("page.html").read_text(encoding="utf-8")
    assert "How far do the folds agree?" in page
    assert page.count('class="dots"') >= 5
    unreported = run(capsys, "report", "oof.csv", "--json", *QUICK)
    assert "pass --set fold=fold" in unreported.err
    assert unreported.json["runs"][0]["folds"] is None


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


def test_a_missing_fold_is_reported(tmp_path: Path, capsys: Capture) -> None:
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
    reported = run(capsys, *server, "log", "--run-id", parent.run_id)
    assert (reported.code, "pass --children" in reported.err) == (3, True)
    command = (*server, "log", "--run-id", parent.run_id, "--children", "--json", "--log-all", *QUICK)
    done = run(capsys, *command)
    assert done.code == 0, done.out
    assert "lost) has not finished (FAILED) and is skipped" in done.err
    body = done.json["runs"][0]
    assert body["folds"]["rows"] == [30, 30, 30]
    logged = sqlite_store.client.get_run(parent.run_id).data.metrics
    assert logged["eval/roc_auc"] == body["metrics"]["roc_auc"]["value"]
    history = sqlite_store.client.get_metric_history(parent.run_id, "eval/folds/roc_auc")
    assert [point.value for point in history] == pytest.approx(body["folds"]["metrics"]["roc_auc"]["folds"])
    again = run(
        capsys, *server, "log", "--run-id", parent.run_id, "--children", "--json", "--log-all", *QUICK
    )
    assert again.json["runs"][0]["logged"]["state"] == "unchanged"
    whole = json.loads(
        (files_of(sqlite_store, parent.run_id, tmp_path / "got") / "evalreport/evaluation.json").read_text()
    )
    assert whole["folds"]["names"] == ["fold-0", "fold-1", "fold-2"]


def children(store: Store, *tables: pd.DataFrame | None, last: str = "FINISHED") -> str:
    """A parent with a child run for each table; None logs nothing, and the last ends as it is said."""
    parent = make_run(store, experiment="bad").run_id
    for place, table in enumerate(tables):
        made = make_run(
            store,
            {} if table is None else {"predictions.csv": table.to_csv(index=False)},
            experiment="bad",
            name=f"part-{place}",
            tags={"mlflow.parentRunId": parent},
            status="RUNNING" if last == "RUNNING" and place == len(tables) - 1 else "FINISHED",
        )
    if last == "DELETED":
        store.client.delete_run(made.run_id)
    return parent


LABELS = pd.DataFrame(
    {"id": np.arange(40), "y_true": ["a", "b"] * 20, "y_pred": ["a", "b"] * 19 + ["b", "a"]}
)
ELSEWHERE = LABELS.assign(id=LABELS.id + 100)
OTHER = ELSEWHERE.replace({"a": "x", "b": "y"})
LISTS = ELSEWHERE.assign(y_true='["a", "b"]', y_pred='["a"]')


REPORTED: tuple[tuple[tuple[pd.DataFrame | None, ...], str, bool, int, str], ...] = (
    ((LABELS, ELSEWHERE), "FINISHED", True, 0, "no row has two responses"),
    ((LABELS, LABELS, LABELS[:10]), "FINISHED", True, 0, "30 of 40 rows have fewer responses than 3"),
    ((LABELS, OTHER.assign(id=LABELS.id)), "FINISHED", True, 5, "the true labels of one row differ"),
    ((LABELS, LABELS, LABELS), "RUNNING", True, 0, "has not finished (RUNNING) and is skipped"),
    ((LABELS, LABELS, LABELS), "DELETED", True, 0, "2 child runs: part-0, part-1,"),
    (
        (LABELS, None, ELSEWHERE),
        "FINISHED",
        False,
        3,
        "(part-1) cannot be used: the run has no",
    ),
    ((LABELS, ELSEWHERE), "RUNNING", False, 3, "child runs with predictions: 1"),
    ((LABELS, OTHER), "FINISHED", False, 0, "fold part-1 holds other labels than the rest, such as “x”, “y”"),
    ((), "FINISHED", False, 3, "child runs with predictions: 0"),
)
"""Tables of child runs, how the last ended, whether they are answers; the exit code and what is said."""


def test_children_that_are_no_folds_or_samples_are_reported(sqlite_store: Store, capsys: Capture) -> None:
    for tables, last, answers, code, words in REPORTED:
        parent = children(sqlite_store, *tables, last=last)
        how = ("--children", "--repeats") if answers else ("--children",)
        asked = ("report", "--run-id", parent, *how, "--set", "confidence=none", "--json")
        done = run(capsys, "--tracking-uri", sqlite_store.uri, *asked)
        assert (done.code, words in done.out + done.err) == (code, True), done.out + done.err
        assert "(fold)" not in done.err or not answers
        assert "undefined in every fold" not in done.out


def cross_validation(store: Store, folder: Path, name: str, rows: pd.DataFrame, dealt: object) -> str:
    """A parent whose child runs hold a fold each."""
    parent = make_run(store, experiment="cvs", folder=folder, name=name).run_id
    store.client.log_param(parent, "model", name[0])
    for k in range(K):
        made = make_run(
            store,
            {"predictions.csv": rows[dealt == k].to_csv(index=False)},
            experiment="cvs",
            name=f"{name}-{k}",
            tags={"mlflow.parentRunId": parent},
        )
        store.client.log_param(made.run_id, "model", name[0])
    return parent


def test_cross_validations_are_compared_row_by_row_and_as_systems(
    sqlite_store: Store, tmp_path: Path, capsys: Capture
) -> None:
    """AI4I: two models on the same five folds; then each dealt anew, as two runs of a system."""
    data = pd.read_parquet(Path(__file__).parents[2] / "examples/data/ai4i_failure/oof_scores.parquet")
    data = pd.concat([data[data.y_true == 1], data[data.y_true == 0][:700]])
    server, parents = ("--tracking-uri", sqlite_store.uri), {}
    for name, score in (
        ("forest-1", "rf"),
        ("boosting-1", "histgb"),
        ("forest-2", "rf"),
        ("boosting-2", "histgb"),
    ):
        rows = data[["example_id", "y_true"]].assign(score=data[f"score_{score}"])
        dealt = data["fold"] % K if name[-1] == "1" else np.arange(len(data)) % K
        parents[name] = cross_validation(sqlite_store, tmp_path, name, rows, dealt)
        data[name] = dealt
    chosen = ("--run-id", parents["forest-1"], "--run-id", parents["boosting-1"])
    reported = run(capsys, *server, "compare", *chosen)
    assert (reported.code, "pass --children" in reported.err) == (3, True)
    words = (*chosen, "--children", "--metrics", "roc_auc,accuracy", "--json")
    done = run(capsys, *server, "compare", *words)
    assert done.code == 0, done.err
    auc, accuracy = (d for d in done.json["comparison"]["differences"])
    assert done.json["comparison"]["pairings"][0]["n_shared"] == len(data)

    def mean_auc(score: str, fold: str) -> float:
        return float(np.mean([roc_auc_score(part.y_true, part[score]) for _, part in data.groupby(fold)]))

    assert auc["difference"] == pytest.approx(
        mean_auc("score_histgb", "boosting-1") - mean_auc("score_rf", "forest-1")
    )
    right = [((data[s] >= 0.5) == data.y_true) for s in ("score_histgb", "score_rf")]
    assert accuracy["difference"] == pytest.approx(np.mean(right[0]) - np.mean(right[1]))

    by = ("--experiment", "cvs", "--by", "params.model", "--metrics", "roc_auc", "--json")
    apart = run(capsys, *server, "compare", *by)
    assert (apart.code, "--children" in apart.json["error"]["fix"]) == (5, True)
    together = run(capsys, *server, "compare", *by, "--children")
    assert together.code == 0, together.err
    systems = {one["system"]: one for one in together.json["comparison"]["systems"]}
    assert {name: set(one["runs"]) for name, one in systems.items()} == {
        "f": {"forest-1", "forest-2"},
        "b": {"boosting-1", "boosting-2"},
    }
    each = [mean_auc("score_rf", f"forest-{k}") for k in (1, 2)]
    assert systems["f"]["value"] == pytest.approx(np.mean(each))
    assert "cross-validations: intervals hold for models that are trained on these cases" in together.err

"""`evalreport sweep` on real predictions and real studies: what is found, and what its JSON holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evalreport.tracking.client import Store
from tests.cli.running import Ran, run
from tests.cli.test_json import WHOLE, refuse_constants
from tests.sweeping import GRID, emotions, intents, nested_runs, optuna_study, spam, two_params

Capture = pytest.CaptureFixture[str]
QUICK = ("--set", "resamples=200")
EVERY = ("f1_macro", "f1_micro", "subset_accuracy", "f1_samples", "jaccard_samples")
FAMILIES = {"cards": "card", "transfers": "transfer", "other": ""}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def checked(done: Ran) -> dict[str, Any]:
    """The JSON of a command, held to the stored schema."""
    assert done.code == 0, done.err
    body: dict[str, Any] = json.loads(done.out, parse_constant=refuse_constants)
    WHOLE.validate(body)
    return body


def families() -> pd.DataFrame:
    """The 77 intents as three unequal classes, their probabilities added up."""
    table = intents()
    labels = [name.removeprefix("proba_") for name in map(str, table) if name.startswith("proba_")]
    family = {label: next(name for name, word in FAMILIES.items() if word in label) for label in labels}
    made = pd.DataFrame({"y_true": table["y_true"].map(family)})
    for name in FAMILIES:
        own = [f"proba_{label}" for label in labels if family[label] == name]
        made[f"proba_{name}"] = table[own].astype(float).sum(axis=1)
    return made


def halves(table: pd.DataFrame) -> None:
    table[::2].to_parquet("report.parquet")
    table[1::2].to_parquet("tune.parquet")


def test_emotions_are_tuned_on_dev_and_reported_on_test(capsys: Capture) -> None:
    emotions("dev").to_parquet("dev.parquet")
    emotions("test").to_parquet("test.parquet")
    goals = [word for name in EVERY for word in ("--objective", name)]
    command = ["sweep", "thresholds", "test.parquet", "--tune-on", "dev.parquet", *goals]
    sweep = checked(run(capsys, *command, "--trials", "40", *QUICK, "--json", "-q"))["sweep"]
    assert sweep["tuned_on"] == "dev.parquet"
    for name in EVERY:
        best = sweep["optima"][name]
        assert best["apparent"] >= max(best["starts"].values()) - 1e-12, name
        assert best["held_out"] > best["without"] + 0.05, name
        assert best["held_out_method"] == "other rows"
    methods = [sweep["optima"][name]["method"] for name in EVERY]
    assert methods == ["exact", "exact", "optuna", "optuna", "optuna"]
    study = sweep["optima"]["f1_samples"]["trials"]
    assert len(study["trials"]) == 40


def test_studies_of_a_search_are_kept_in_a_journal_and_read_back(capsys: Capture) -> None:
    emotions("dev", 5).to_parquet("dev.parquet")
    emotions("test", 5).to_parquet("test.parquet")
    goals = ["--objective", "subset_accuracy", "--objective", "f1_samples"]
    kept = ["--study", "kept.log", "--study-name", "emotions", "--trials", "20"]
    command = ["sweep", "thresholds", "test.parquet", "--tune-on", "dev.parquet", *goals, *kept, *QUICK]
    found = checked(run(capsys, *command, "--json", "-q"))["sweep"]["optima"]
    names = [f"emotions {name}" for name in ("subset_accuracy", "f1_samples")]
    chosen = [word for name in names for word in ("--study-name", name)]
    done = run(capsys, "sweep", "optuna", "--study", "kept.log", *chosen, "--json", "-q")
    runs = checked(done)["runs"]
    assert [entry["sweep"]["study_name"] for entry in runs] == names
    for entry in runs:
        goal = entry["sweep"]["objective"]
        assert entry["sweep"]["best"]["values"][goal] == found[goal]["apparent"]
    again = run(capsys, *command, "-q")
    assert (again.code, again.out) == (2, "")
    assert "already holds a study 'emotions subset_accuracy'" in again.err
    several = run(capsys, "sweep", "optuna", "--study", "kept.log", "-q")
    assert several.code == 2
    assert "emotions f1_samples, emotions subset_accuracy" in several.err


def test_costs_that_depend_on_the_truth_give_weights_by_the_rule_of_bayes(capsys: Capture) -> None:
    families().to_parquet("families.parquet")
    costs = pd.DataFrame([[0, 10, 10], [1, 0, 1], [1, 1, 0]], index=list(FAMILIES), columns=list(FAMILIES))
    costs.to_csv("costs.csv", index_label="truth")
    command = ["sweep", "thresholds", "families.parquet", "--cost"]
    best = checked(run(capsys, *command, "costs.csv", "--json", "-q"))["sweep"]["optima"]["cost"]
    assert best["method"] == "bayes"
    weights = np.array([best["values"][name] for name in FAMILIES])
    assert weights / weights[1] == pytest.approx([10, 1, 1])
    table = families()
    scores = table[[f"proba_{name}" for name in FAMILIES]].to_numpy()
    truth = table["y_true"].map(list(FAMILIES).index).to_numpy()

    def spent(factors: Any) -> float:
        return float(costs.to_numpy()[truth, (scores * factors).argmax(axis=1)].mean())

    assert best["apparent"] == pytest.approx(spent(weights))
    assert best["without"] == pytest.approx(spent(np.ones(3)))
    assert best["held_out"] == best["apparent"] < best["without"]
    Path("costs.json").write_text(costs.to_json(orient="index"), encoding="utf-8")
    again = checked(run(capsys, *command, "costs.json", "--json", "-q"))["sweep"]["optima"]["cost"]
    assert again == best


def test_other_costs_and_macro_f1_are_fitted_on_other_rows(capsys: Capture) -> None:
    halves(families())
    Path("costs.json").write_text("[[0, 3, 9], [2, 0, 1], [1, 2, 0]]", encoding="utf-8")
    command = ["sweep", "thresholds", "report.parquet", "--tune-on", "tune.parquet", "--cost", "costs.json"]
    command += ["--labels", ",".join(FAMILIES), "--objective", "f1_macro", "--trials", "60", *QUICK]
    found = checked(run(capsys, *command, "--json", "-q"))["sweep"]["optima"]
    cost, macro = found["cost"], found["f1_macro"]
    assert cost["apparent"] <= min(v for k, v in cost["starts"].items() if k != "bayes rule") + 1e-12
    assert cost["held_out"] < cost["without"]
    assert macro["method"] == "optuna"
    assert macro["apparent"] >= max(macro["starts"].values()) - 1e-12
    assert len(macro["trials"]["trials"]) == 60
    assert macro["held_out_estimate"]["low"] <= macro["held_out"] <= macro["held_out_estimate"]["high"]


COSTS = [
    ("none.json", None, 3, "no such file"),
    ("short.csv", "truth,cards,other\ncards,0,1\nother,1,0\n", 5, "lacks the true label 'transfers'"),
    ("words.json", "{", 5, "does not contain costs"),
    ("small.json", "[[0, 1], [1, 0]]", 2, "2 rows of costs for 3 labels"),
    (
        "text.csv",
        "truth,cards,transfers,other\ncards,0,x,1\ntransfers,1,0,1\nother,1,1,0\n",
        5,
        "does not contain costs",
    ),
    ("infinite.json", "[[0, Infinity, 1], [1, 0, 1], [1, 1, 0]]", 5, "cost"),
]


@pytest.mark.parametrize(("name", "text", "code", "said"), COSTS, ids=[entry[0] for entry in COSTS])
def test_costs_that_cannot_be_read(
    capsys: Capture, name: str, text: str | None, code: int, said: str
) -> None:
    families()[::75].to_parquet("families.parquet")
    if text is not None:
        Path(name).write_text(text, encoding="utf-8")
    done = run(capsys, "sweep", "thresholds", "families.parquet", "--cost", name, "-q")
    assert (done.code, done.out) == (code, ""), done.err
    assert [line[:6] for line in done.err.splitlines()] == ["error:", "  at  ", "  fix "]
    assert said in done.err


def test_trials_are_joined_with_their_runs(sqlite_store: Store, tmp_path: Path, capsys: Capture) -> None:
    storage = optuna_study("sqlite:///study.db", "triage", two_params)
    made = nested_runs(sqlite_store, [{}] * 14, tmp_path)
    command = ["sweep", "optuna", "--study", storage, "--metric", "accuracy", "--json", "-q"]
    uri = ["--tracking-uri", sqlite_store.uri]
    body = checked(run(capsys, *command, "--run-id", made.run_id, *uri))
    children = sqlite_store.client.search_runs([made.experiment_id], order_by=["attributes.start_time"])
    by_start = [child.info.run_id for child in children if child.info.run_id != made.run_id]
    assert [trial["run_id"] for trial in body["sweep"]["trials"]] == by_start
    assert body["sweep"]["best"]["run_id"] == body["runs"][0]["run_id"]
    values = [entry["values"]["accuracy"] for entry in body["runs"]]
    assert (len(values), values) == (14, sorted(values, reverse=True))
    table = run(capsys, *command[:-2], "--run-id", made.run_id, *uri, "--top", "3")
    assert by_start[body["runs"][0]["trial"]][:8] in table.out
    fewer = nested_runs(sqlite_store, [{}] * 3, tmp_path)
    lone = checked(run(capsys, *command, "--run-id", fewer.run_id, *uri))
    assert (lone["runs"], lone["sweep"]["best"]["run_id"]) == ([], None)
    assert "3 child runs state no trial number" in " ".join(lone["sweep"]["notes"])


def test_several_files_several_parents_each_its_line(
    sqlite_store: Store, tmp_path: Path, capsys: Capture
) -> None:
    spam(1000).to_parquet("one.parquet")
    spam(2000).to_parquet("two.parquet")
    files = ["sweep", "thresholds", "one.parquet", "none.parquet", "two.parquet", "--objective", "f1", *QUICK]
    done = run(capsys, *files, "--jsonl", "-qq")
    assert done.code == 3
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert [line["ok"] for line in lines] == [True, False, True]
    assert lines[0]["sweep"]["optima"]["f1"]["threshold"] > 0
    whole = json.loads(run(capsys, *files, "--json", "-qq").out)
    WHOLE.validate(whole)
    assert whole["runs"] == lines
    assert "sweep" not in whole
    parents = [nested_runs(sqlite_store, GRID[:count], tmp_path) for count in (6, 10)]
    ids = [word for made in parents for word in ("--run-id", made.run_id)]
    command = ["sweep", "runs", *ids, "--tracking-uri", sqlite_store.uri, "--output", "pages"]
    body = checked(run(capsys, *command, "--json", "-q"))
    assert [entry["sweep"]["n_trials"] for entry in body["runs"]] == [6, 10]
    assert [len(entry["trials"]) for entry in body["runs"]] == [6, 10]
    assert len(list(Path("pages").glob("*/evalreport_sweep.html"))) == 2
    assert run(capsys, *command[:-2], "--jsonl", "-q").out.count("\n") == 2
    refused = run(capsys, "sweep", "runs", *ids, "-o", "one.html", "-q")
    assert (refused.code, "or a folder: -o DIR" in refused.err) == (2, True)

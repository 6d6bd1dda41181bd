"""`evalreport compare --by` and `--system`: from runs and files to numbers, page and run."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evalreport.tracking.client import Store
from tests.cli.running import run
from tests.tracking import make_run

Capture = pytest.CaptureFixture[str]
Write = Callable[[str, float, int], str]


def predictions(skill: float, seed: int, n: int = 240) -> pd.DataFrame:
    """Answers of one run: rows are as hard for every run."""
    shared = np.random.default_rng(1)
    truth, hard = shared.integers(0, 2, n), shared.normal(size=n)
    noise = hard + 0.6 * np.random.default_rng(seed).normal(size=n)
    score = 1 / (1 + np.exp(-(skill * (2 * truth - 1) + noise)))
    return pd.DataFrame({"id": np.arange(n), "y_true": truth, "score": score})


@pytest.fixture
def files(tmp_path: Path) -> Write:
    def write(name: str, skill: float, runs: int) -> str:
        paths = [tmp_path / f"{name}{seed}.csv" for seed in range(runs)]
        for seed, path in enumerate(paths):
            predictions(skill, 10 * len(name) + seed).to_csv(path, index=False)
        return f"{name}=" + ",".join(map(str, paths))

    return write


def test_systems_of_files(files: Write, tmp_path: Path, capsys: Capture) -> None:
    page, folder = tmp_path / "page.html", tmp_path / "all"
    named = ["--system", files("new", 1.6, 3), "--system", files("older", 0.6, 2)]
    done = run(capsys, "compare", *named, "--json", "-o", str(page), "--output", str(folder))
    assert done.code == 0, done.err
    found = done.json["comparison"]
    assert [(one["system"], len(one["runs"])) for one in found["systems"]] == [("new", 3), ("older", 2)]
    assert found["headline"].startswith("new is better than older in ROC AUC by ")
    assert found["differences"][0]["pairs"]["of"] == 6
    shown = page.read_text(encoding="utf-8")
    assert "First is ahead in" in shown and "pairs of runs" in shown
    for reported in (done.err, shown, " ".join(found["notes"])):
        assert "“older” has two runs: what two seeds tell is little" in reported
    assert {path.name for path in folder.iterdir()} >= {"systems.csv", "differences.csv", "comparison.json"}
    plain = run(capsys, "compare", *named, "--markdown", "-")
    assert plain.code == 0
    assert "| new |" in plain.out


def test_a_run_outside_of_the_interval_of_its_system(files: Write, tmp_path: Path, capsys: Capture) -> None:
    """The mean of five runs is known better than a run: the best one need not lie in its interval."""
    for seed in range(5):
        predictions(2.5 if seed == 4 else 0.3, seed).to_csv(tmp_path / f"wide{seed}.csv", index=False)
    wide = "wide=" + ",".join(str(tmp_path / f"wide{seed}.csv") for seed in range(5))
    page = tmp_path / "page.html"
    named = ["--system", wide, "--system", files("new", 1.6, 3), "--sort-by", "accuracy"]
    done = run(capsys, "compare", *named, "--json", "-o", str(page))
    assert done.code == 0, done.err
    system = next(one for one in done.json["comparison"]["systems"] if one["system"] == "wide")
    accuracy = system["metrics"]["accuracy"]
    best = max(accuracy["values"])
    assert best > accuracy["high"]
    (line,) = re.findall(r"<bdi>wide</bdi></b>.*?</svg>", page.read_text(encoding="utf-8"), re.DOTALL)
    assert ", 5 runs</small>" in line
    (end,) = {float(at) for at in re.findall(r'class="ci" d="M[\d.]+ 12H([\d.]+)"', line)}
    dots = [float(at) for at in re.findall(r"M([\d.]+) 3h0", line)]
    assert len(dots) == 5
    assert max(dots) > end  # drawn where it is, outside of the interval
    assert np.argmax(dots) == np.argmax(accuracy["values"])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--system", "a=p.csv", "--baseline", "a"], "applies to single runs only"),
        (["--system", "nothing"], "no NAME=RUN,FILE"),
        (["p.csv", "--system", "a=p.csv"], "already names its runs"),
        (["p.csv", "--by", "params.model"], "no parameters"),
        (["--system", "a=p.csv"], "1 system cannot be compared"),
    ],
)
def test_what_is_misused_is_reported(
    words: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    predictions(1.0, 0).to_csv("p.csv", index=False)
    done = run(capsys, "compare", *words)
    assert done.code == 2
    assert says in done.err


@pytest.fixture
def parent(sqlite_store: Store, tmp_path: Path) -> str:
    """An experiment of two models of three seeds, their parent, and a run without predictions."""
    parent = make_run(sqlite_store, experiment="seeds", name="search", folder=tmp_path)
    for model, skill in (("svm", 1.6), ("bayes", 0.6)):
        for seed in range(3):
            rows = predictions(skill, seed + 5).to_csv(index=False)
            tags = {"mlflow.parentRunId": parent.run_id}
            made = make_run(
                sqlite_store, {"predictions.csv": rows}, experiment="seeds", name=f"{model}-{seed}", tags=tags
            )
            for name, value in {"model": model, "seed": seed, "rows": 240}.items():
                sqlite_store.client.log_param(made.run_id, name, value)
    empty = make_run(sqlite_store, experiment="seeds", name="empty")
    sqlite_store.client.log_param(empty.run_id, "model", "svm")
    return parent.run_id


def test_runs_are_grouped_by_what_was_logged_of_them(
    parent: str, sqlite_store: Store, capsys: Capture
) -> None:
    words = ("compare", "--experiment", "seeds", "--tracking-uri", sqlite_store.uri)
    done = run(capsys, *words, "--by", "params.model", "--json", "--log-to", parent, "--log-all")
    assert done.code == 0, done.err
    found = done.json["comparison"]
    assert [(one["system"], one["runs"]) for one in found["systems"]] == [
        ("svm", ["svm-0", "svm-1", "svm-2"]),
        ("bayes", ["bayes-0", "bayes-1", "bayes-2"]),
    ]
    assert "(empty) is skipped: the run has no predictions" in " ".join(found["notes"])
    client = sqlite_store.client
    metrics = client.get_run(parent).data.metrics
    assert metrics["systems/svm/roc_auc_low"] < metrics["systems/svm/roc_auc"] < 1
    history = client.get_metric_history(parent, "systems/svm/roc_auc_by_run")
    assert [point.step for point in history] == [1, 2, 3]
    assert np.mean([point.value for point in history]) == pytest.approx(metrics["systems/svm/roc_auc"])
    for key, says in (
        ("params.modle", "no run has params.modle"),
        ("params.rows", "name what differs: params.model"),
        ("model", "neither a parameter nor a tag"),
    ):
        wrong = run(capsys, *words, "--by", key)
        assert wrong.code == 2
        assert says in wrong.err
        assert "params.model" in wrong.err

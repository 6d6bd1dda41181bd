"""`evalreport compare`: real runs side by side, rules, baselines, and what goes wrong in three lines."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from evalreport.tracking.client import Store
from tests.cli.running import run
from tests.tracking import make_run

Capture = pytest.CaptureFixture[str]
DATA = Path(__file__).parents[2] / "examples" / "data"
BANKING = [str(DATA / "banking77" / f"pred_{name}.parquet") for name in ("tfidf_lr", "collapsed6")]
MODELS = ("lr", "nb", "rf", "histgb")


@pytest.fixture(scope="module")
def spam(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The four models of the SMS data, one file each."""
    folder = tmp_path_factory.mktemp("spam")
    table = pd.read_parquet(DATA / "sms_spam" / "oof_scores.parquet")
    for model in MODELS:
        one = table[["example_id", "y_true"]].assign(score=table[f"score_{model}"])
        one.to_parquet(folder / f"{model}.parquet", index=False)
    return folder


@pytest.fixture(autouse=True)
def here(spam: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(spam)


def small(path: Path, rows: list[tuple[Any, ...]]) -> str:
    pd.DataFrame(rows, columns=["example_id", "y_true", "y_pred"]).to_csv(path, index=False)
    return str(path)


def test_two_runs_side_by_side(capsys: Capture) -> None:
    done = run(capsys, "compare", "lr.parquet", "nb.parquet")
    assert done.code == 0
    assert done.out.startswith(
        "nb has 7 fewer false positives but finds 160 fewer “spam” and has the worse ROC AUC"
    )
    (auc,) = (line for line in done.out.splitlines() if line.split()[:1] == ["roc_auc"])
    assert re.search(r"0\.\d{4} +0\.\d{4} +−0\.01\d\d +−0\.01\d\d to −0\.00\d\d +worse$", auc)
    assert "both wrong 64, only lr wrong 8, only nb wrong 161; McNemar p < 0.001" in done.out
    assert "Paired on 5,572 shared cases, matched by id." in done.out


def test_rows_are_called_what_the_user_calls_them(capsys: Capture) -> None:
    done = run(
        capsys, "compare", "lr.parquet", "nb.parquet", "--set", "unit=message,messages", "-o", "page.html"
    )
    assert "Paired on 5,572 shared messages, matched by id." in done.out
    page = Path("page.html").read_text(encoding="utf-8")
    assert "Paired on 5,572 shared <bdi>messages</bdi>" in page
    assert "shared cases" not in page


def test_the_words_say_what_the_json_says(capsys: Capture) -> None:
    said = run(capsys, "compare", "nb.parquet", "rf.parquet").out
    reported = run(capsys, "compare", "nb.parquet", "rf.parquet", "--json").json["comparison"]
    assert said.startswith(reported["headline"])
    assert reported["pairing"] == {"kind": "paired", "n_shared": 5572, "reason": "matched by id"}
    for entry in reported["differences"]:
        (line,) = (line for line in said.splitlines() if line.split()[:1] == [entry["metric"]])
        assert entry["verdict"].replace("_", " ") in line
        assert entry["difference"] == pytest.approx(entry["values"][0] - entry["values"][1])
        assert (entry["verdict"] == "not_significant") == (entry["low"] <= 0 <= entry["high"])
        value = entry["values"][1]
        assert set(line.split()) & {f"{value:.{n}{kind}}" for n in range(5) for kind in "%f"}


def test_mcnemar_and_movement_count_the_same_rows(capsys: Capture) -> None:
    reported = run(capsys, "compare", "lr.parquet", "histgb.parquet", "--json").json["comparison"]
    table = pd.read_parquet(DATA / "sms_spam" / "oof_scores.parquet")
    truth = table["y_true"].to_numpy() == "spam"
    lr, other = ((table[f"score_{name}"].to_numpy() >= 0.5) == truth for name in ("lr", "histgb"))
    moved = reported["movement"]
    assert (moved["fixed"], moved["broken"]) == (int((other & ~lr).sum()), int((lr & ~other).sum()))
    assert (moved["both_wrong"], moved["both_right"]) == (int((~lr & ~other).sum()), int((lr & other).sum()))
    (test,) = reported["mcnemar"]
    assert (test["only_first"], test["only_second"]) == (moved["fixed"], moved["broken"])
    exact = binomtest(moved["fixed"], moved["fixed"] + moved["broken"]).pvalue
    assert np.log10(test["p"]) == pytest.approx(np.log10(exact), abs=1.5)
    ids = set(table["example_id"][other & ~lr].astype(str))
    assert set(moved["fixed_ids"]) <= ids


def test_multiclass_names_the_classes_that_moved(capsys: Capture) -> None:
    done = run(capsys, "compare", *BANKING)
    assert done.out.startswith("pred_collapsed6 is worse than pred_tfidf_lr: Accuracy −81.5")
    assert "class: " in done.out


def test_rules(capsys: Capture) -> None:
    failed = run(capsys, "compare", "lr.parquet", "nb.parquet", "--require", "recall drops <= 0.02", "--json")
    assert (failed.code, failed.json["ok"]) == (1, False)
    (check,) = failed.json["comparison"]["checks"]
    assert (check["run"], check["outcome"], check["kind"]) == ("nb", "failed", "change")
    passed = run(capsys, "compare", "nb.parquet", "lr.parquet", "--require", "recall drops <= 0.02")
    assert (passed.code, passed.out.splitlines()[-1]) == (0, "1 of 1 passed")
    risen = run(capsys, "compare", "lr.parquet", "nb.parquet", "--require", "log_loss rises <= 0.02")
    assert risen.out.splitlines()[-2].startswith("FAILED       log_loss rises <= 0.02  difference +0.052")


def test_what_the_sample_cannot_decide_keeps_the_gate_closed(tmp_path: Path, capsys: Capture) -> None:
    rows = [(k, "ab"[k % 2], "ab"[k % 2]) for k in range(40)]
    worse = [(k, t, p if k else "b") for k, t, p in rows]
    files = small(tmp_path / "old.csv", rows), small(tmp_path / "new.csv", worse)
    asked = ("compare", *files, "--require", "accuracy drops <= 0.001")
    done = run(capsys, *asked)
    assert done.code == 1
    assert "not significant (detectable at 80% power: 0." in done.out
    assert "detectable at 80% power" in done.out
    assert done.out.splitlines()[-1] == "1 of 1 inconclusive"
    assert run(capsys, *asked, "--inconclusive", "pass").code == 0
    assert run(capsys, *asked, "--test-on", "estimate").out.splitlines()[-1] == "1 of 1 failed"


RULES = (
    *("recall >= 0.9", "recall > 0.8", "roc_auc drops <= 0.001", "roc_auc drops <= 0.02", "mcc rises > 0"),
    *("log_loss rises <= 0.01", "f1 drops <= 1 %", "brier <= 0.02", "recall[part=0] drops <= 0.1"),
)


Checks = list[dict[str, Any]]


def same_answers(capsys: Capture, files: list[str], rules: Iterable[str], *more: str) -> Checks:
    """Ask both commands the same; what both answer to the rules."""
    asked = ["--baseline", files[0], "--set", "resamples=100", "--json", *more]
    asked += [word for rule in rules for word in ("--require", rule)]
    checked, compared = (run(capsys, command, *files, *asked) for command in ("check", "compare"))
    assert (checked.code, checked.json["ok"]) == (compared.code, compared.json["ok"])
    answers: Checks = [check for check in checked.json["checks"] if check["kind"] != "data"]
    assert answers == compared.json["comparison"]["checks"]
    return answers


@pytest.mark.parametrize("use", ["interval", "estimate"])
def test_check_and_compare_answer_alike(use: str, capsys: Capture, tmp_path: Path) -> None:
    """The same rule on the same runs has the same outcome, the same numbers and the same exit code."""
    files = [str(tmp_path / f"{model}.parquet") for model in ("lr", "nb", "rf")]
    for file in files:
        table = pd.read_parquet(Path(file).name)[::4]
        table["part"] = np.arange(len(table)) % 2
        table.to_parquet(file)
    answers = same_answers(capsys, files, RULES, "--slice", "part", "--test-on", use)
    assert [check["run"] for check in answers] == [*["nb"] * len(RULES), *["rf"] * len(RULES)]
    first = {check["outcome"]: check["name"] for check in reversed(answers) if check["run"] == "nb"}
    assert set(first) == {"passed", "failed", *(["inconclusive"] if use == "interval" else [])}
    if use == "interval":
        assert same_answers(capsys, files[:2], [first["passed"]])
        for more in ((), ("--inconclusive", "pass")):
            assert same_answers(capsys, files[:2], [first["inconclusive"]], *more)


@pytest.mark.parametrize("baseline", ["nb", "nb.parquet", "2", "./nb.parquet"])
def test_the_baseline_by_name_file_or_position(baseline: str, capsys: Capture) -> None:
    done = run(capsys, "compare", "lr.parquet", "nb.parquet", "--baseline", baseline, "--json")
    assert done.json["comparison"]["baseline"] == "nb"


def test_a_baseline_beside_the_runs(capsys: Capture) -> None:
    done = run(capsys, "compare", "lr.parquet", "nb.parquet", "--baseline", "rf.parquet", "--json")
    assert done.json["comparison"]["baseline"] == "rf"
    assert len(done.json["runs"]) == 3


def test_all_pairs_and_ranking(capsys: Capture) -> None:
    files = [f"{model}.parquet" for model in MODELS]
    done = run(capsys, "compare", *files, "--all-pairs")
    assert done.out.startswith("lr is significantly better than all 3 others by ROC AUC; the next, ")
    shown = [line.split() for line in done.out.splitlines()[1:] if line.strip().startswith(MODELS)]
    assert [words[0] for words in shown[:4]] == ["lr", "histgb", "nb", "rf"]
    assert (shown[0][1:2], shown[1][1:4]) == (["1"], ["2", "to", "4"])
    assert (shown[0][-3:], shown[1][-4:-1]) == (["the", "best", "value"], ["significantly", "worse", "by"])
    reported = run(capsys, "compare", *files, "--sort-by", "mcc", "--json").json["comparison"]
    assert (reported["baseline"], reported["primary"], reported["ranking"][0]["run"]) == ("lr", "mcc", "lr")
    assert [entry["run"] for entry in reported["ranking"]] == ["lr", "histgb", "rf", "nb"]
    said = run(capsys, "compare", *files[1:], "--sort-by", "roc_auc").out
    best = "No run is significantly best by ROC AUC"
    assert said.startswith(f"{best}: none of 3 is significantly worse than histgb.")


def test_values_stand_right_beneath_the_names_of_their_runs(capsys: Capture) -> None:
    files = [f"{model}.parquet" for model in MODELS]
    brief = run(capsys, "compare", *files).out
    assert "McNemar" not in brief and not any(line.split() == list(MODELS) for line in brief.splitlines())
    lines = run(capsys, "compare", *files, "-v").out.splitlines()
    start = next(at for at, line in enumerate(lines) if line.split() == list(MODELS))
    assert {len(line) for line in lines[start : lines.index("", start)]} == {len(lines[start])}


def test_very_many_runs_are_ranked(tmp_path: Path, capsys: Capture) -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 100)
    files = []
    for place in range(25):
        wrong = rng.random(100) < (0.1 if place < 3 else 0.5)
        rows = [(k, "ab"[t], "ab"[t ^ int(w)]) for k, (t, w) in enumerate(zip(truth, wrong, strict=True))]
        files.append(small(tmp_path / f"model{place:02d}.csv", rows))
    done = run(capsys, "compare", *files, "--sort-by", "accuracy", "--metrics", "accuracy")
    assert done.code == 0
    assert " are tied for best by Accuracy (difference not significant); the next, model" in done.out
    assert run(capsys, "compare", *files).code == 2


def test_an_evaluation_without_predictions_is_unpaired(tmp_path: Path, capsys: Capture) -> None:
    run(capsys, "report", "lr.parquet", "--output", str(tmp_path / "lr"), "-q")
    done = run(capsys, "compare", str(tmp_path / "lr" / "evaluation.json"), "nb.parquet")
    assert done.code == 0
    assert "Not paired: the examples are the same (equal digests)" in done.out
    assert "warning: nb and lr: not paired" in done.err
    assert "McNemar" not in done.out


def log(store: Store, tmp_path: Path, model: str) -> str:
    out = io.BytesIO()
    pd.read_parquet(f"{model}.parquet").to_parquet(out, index=False)
    return make_run(store, {"out/predictions.parquet": out.getvalue()}, folder=tmp_path, name=model).run_id


def test_page_and_folder(tmp_path: Path, capsys: Capture) -> None:
    page, out = tmp_path / "page.html", tmp_path / "all"
    done = run(capsys, "compare", "lr.parquet", "nb.parquet", "-o", str(page), "--output", str(out))
    assert str(page) in done.out.splitlines()
    assert done.out.splitlines()[-2:] == [f"{out / 'figures'} (5 files)", f"{out / 'tables'} (14 files)"]
    assert page.read_text().startswith("<!doctype html>")
    assert {file.name for file in out.iterdir()} == {
        ".evalreport",
        "evalreport_comparison.html",
        "comparison.json",
        "differences.csv",
        "ranking.csv",
        "figures",
        "tables",
    }
    stream = run(capsys, "compare", "lr.parquet", "nb.parquet", "-o", "-")
    assert stream.out.startswith("<!doctype html>")
    assert (
        "nb has 7 fewer false positives but finds 160 fewer “spam” and has the worse ROC AUC than lr."
        in stream.err
    )
    over = run(capsys, "compare", "lr.parquet", "nb.parquet", "-o", "lr.parquet")
    assert (over.code, "would be overwritten" in over.err) == (2, True)


def test_no_examples_shows_no_id(capsys: Capture) -> None:
    reported = run(capsys, "compare", "lr.parquet", "nb.parquet", "--set", "no_examples", "--json").json[
        "comparison"
    ]
    assert (reported["movement"]["fixed"], reported["movement"]["fixed_ids"]) == (8, [])


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["lr.parquet"], 2, "a comparison needs at least two"),
        (["lr.parquet", BANKING[0]], 2, "a multiclass run cannot be compared with a binary run"),
        (["lr.parquet", "nb.parquet", "--baseline", "lrr"], 3, "fix  Did you mean lr?"),
        (["lr.parquet", "nb.parquet", "--require", "recal drops <= 0.1"], 2, "fix  Did you mean recall?"),
        (["lr.parquet", "nb.parquet", "--require", "recall falls"], 2, "is not a bound"),
        (["lr.parquet", "nb.parquet", "--all-pairs", "--require", "mcc drops <= 1 %"], 2, "one baseline"),
        (["lr.parquet", "nb.parquet", "--sort-by", "roc_acu"], 2, "fix  Did you mean roc_auc"),
        (["lr.parquet", "nb.parquet", "--all-pairs", "--baseline", "lr"], 2, "--all-pairs has no baseline"),
        (["lr.parquet", "not_there.parquet"], 3, "not_there.parquet"),
    ],
)
def test_what_goes_wrong(arguments: list[str], code: int, words: str, capsys: Capture) -> None:
    done = run(capsys, "compare", *arguments)
    assert (done.code, done.out) == (code, "")
    assert words in done.err


def test_a_changed_truth_is_refused(tmp_path: Path, capsys: Capture) -> None:
    rows = [(k, "ab"[k % 2], "ab"[k % 2]) for k in range(20)]
    changed = [(k, "b" if k == 4 else t, p) for k, t, p in rows]
    done = run(capsys, "compare", small(tmp_path / "a.csv", rows), small(tmp_path / "b.csv", changed))
    assert done.code == 5
    assert "the true labels of 1 of 20 shared examples differ" in done.err


def test_other_examples_are_compared_when_that_is_said(tmp_path: Path, capsys: Capture) -> None:
    files = []
    for name, truth in (("one", "abab"), ("two", "baba")):
        files.append(str(tmp_path / f"{name}.csv"))
        pd.DataFrame({"y_true": list(truth) * 20, "y_pred": list("abab") * 20}).to_csv(files[-1], index=False)
    refused = run(capsys, "compare", *files)
    assert refused.code == 5
    assert "--unpaired" in refused.err
    done = run(capsys, "compare", *files, "--unpaired", "--json")
    assert done.code == 0, done.err
    assert done.json["comparison"]["pairing"]["kind"] == "unpaired"


def test_half_an_evaluation_is_refused(tmp_path: Path, capsys: Capture) -> None:
    half = tmp_path / "evaluation.json"
    half.write_text(json.dumps({"schema": 2, "task": "binary"}))
    done = run(capsys, "compare", str(half), "lr.parquet")
    assert done.code == 5
    assert "evaluation.json cannot be read" in done.err


def test_runs_of_a_store(sqlite_store: Store, tmp_path: Path, capsys: Capture) -> None:
    ids = [log(sqlite_store, tmp_path, model) for model in ("lr", "nb")]
    where = ["--tracking-uri", sqlite_store.uri]
    chosen = ["--run-id", ids[0], "--run-id", ids[1], "--baseline", ids[1][:8], *where]
    reported = run(capsys, "compare", *chosen, "--json").json
    assert reported["comparison"]["baseline"] == "nb"
    assert [one["run_id"] for one in reported["runs"]] == ids
    mixed = run(capsys, "compare", "rf.parquet", "--run-id", ids[0], *where)
    assert mixed.out.startswith("lr is better than rf")


def test_a_run_that_holds_only_its_evaluation(sqlite_store: Store, tmp_path: Path, capsys: Capture) -> None:
    run(capsys, "report", "lr.parquet", "--output", str(tmp_path / "lr"), "-q")
    stored = (tmp_path / "lr" / "evaluation.json").read_bytes()
    made = make_run(sqlite_store, {"evalreport/evaluation.json": stored}, folder=tmp_path, name="old")
    done = run(capsys, "compare", "nb.parquet", "--run-id", made.run_id, "--tracking-uri", sqlite_store.uri)
    assert done.out.startswith("old has the better ROC AUC and recall but has the worse specificity than nb.")
    assert "Not paired" in done.out


def test_a_comparison_is_logged_in_place(sqlite_store: Store, tmp_path: Path, capsys: Capture) -> None:
    ids = [log(sqlite_store, tmp_path, model) for model in ("lr", "nb")]
    chosen = ["--run-id", ids[0], "--run-id", ids[1], "--tracking-uri", sqlite_store.uri]
    chosen.append("--log-all")
    dry = run(capsys, "compare", *chosen, "--log", "-n")
    assert "would log 33 metrics" in dry.out
    assert "compare/" not in str(sqlite_store.client.get_run(ids[0]).data.metrics)
    done = run(capsys, "compare", *chosen, "--log", "--json")
    assert (done.json["logged"]["state"], done.json["logged"]["run_id"]) == ("written", ids[0])
    held = sqlite_store.client.get_run(ids[0])
    assert held.data.metrics["compare/recall_difference"] == pytest.approx(-0.2142, abs=1e-3)
    assert "finds 160 fewer “spam”" in held.data.tags["mlflow.note.content"]
    files = {entry.path for entry in sqlite_store.client.list_artifacts(ids[0])}
    assert "evalreport_comparison.html" in files
    assert run(capsys, "compare", *chosen, "--log", "--json").json["logged"]["state"] == "unchanged"
    moved = run(capsys, "compare", *chosen, "--log-to", ids[1], "--json")
    assert moved.json["logged"]["run_id"] == ids[1]
    files_only = run(
        capsys, "compare", "lr.parquet", "nb.parquet", "--log", "--tracking-uri", sqlite_store.uri
    )
    assert (files_only.code, "no run to log the comparison into" in files_only.err) == (2, True)


def test_the_positive_label_is_reported(capsys: Capture, tmp_path: Path) -> None:
    """Without it nobody knows whose recall is compared."""
    rows = [f"{row},{'Spam' if row % 2 else 'ham'},{0.9 if row % 3 else 0.2}\n" for row in range(30)]
    for name, kept in (("a", rows), ("b", rows[:25])):
        (tmp_path / f"{name}.csv").write_text("id,y_true,score\n" + "".join(kept), encoding="utf-8")
    files, page = [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")], tmp_path / "c.html"
    for label in ("Spam", "ham"):
        done = run(capsys, "compare", *files, "--positive", label, "-o", str(page))
        assert f"Positive label {label}." in done.out.splitlines()
        assert f"positive label {label}" in page.read_text(encoding="utf-8")

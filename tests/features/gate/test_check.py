"""`evalreport check`: exit codes, what is printed and written, settings, runs and files."""

from __future__ import annotations

import io
import json
import re
import shlex
import xml.etree.ElementTree as ET
from pathlib import Path

import pandas as pd
import pytest

from evalreport.comparison.sample_size import about_rows
from evalreport.features.gate.documents import marks_for
from evalreport.tracking.client import Store, connect
from tests.cli.running import run
from tests.tracking import MlflowServer, make_run

DATA = Path(__file__).parents[3] / "examples" / "data"
BANKING = DATA / "banking77"
LR = str(BANKING / "pred_tfidf_lr.parquet")
COLLAPSED = str(BANKING / "pred_collapsed6.parquet")
FAST = ("--set", "resamples=100")
Capture = pytest.CaptureFixture[str]


def spam(column: str = "score_lr") -> pd.DataFrame:
    table = pd.read_parquet(DATA / "sms_spam" / "oof_scores.parquet")
    return table[["example_id", "y_true"]].assign(score=table[column])


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    spam().to_parquet("lr.parquet")
    spam("score_nb").to_parquet("nb.parquet")
    spam("score_rf").to_parquet("rf.parquet")
    return tmp_path


def parsed(path: str) -> ET.Element:
    return ET.fromstring(Path(path).read_text("utf-8"))  # noqa: S314


def test_rules_that_hold_open_the_gate(capsys: Capture) -> None:
    done = run(capsys, "check", "lr.parquet", *FAST, "--require", "recall >= 0.88", "--require", "ece <= 6%")
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0].startswith("ok           recall >= 0.88  0.913 (0.89")
    assert lines[-1] == "6 of 6 passed"
    assert "Using: truth=y_true" in done.err


def test_what_the_interval_leaves_open_closes_it_and_says_how_many_rows_would_tell(capsys: Capture) -> None:
    asked = ("check", "lr.parquet", *FAST, "--require", "recall >= 0.9")
    done = run(capsys, *asked)
    assert done.code == 1
    first = done.out.splitlines()[0]
    assert first.startswith("inconclusive recall >= 0.9  0.913 (0.89")
    assert re.search(
        r"at 80% power, values at least 0\.0\d+ from it pass or fail; this value needs about", first
    )
    assert done.out.endswith("1 of 5 inconclusive\n")
    assert run(capsys, *asked, "--inconclusive", "pass").code == 0
    by_value = run(capsys, *asked, "--test-on", "estimate")
    assert (by_value.code, by_value.out.splitlines()[-1]) == (0, "5 of 5 passed")
    failed = run(capsys, "check", "lr.parquet", *FAST, "--require", "recall > 0.95", "--inconclusive", "pass")
    assert (failed.code, failed.out.splitlines()[-1]) == (1, "1 of 5 failed")


def test_without_rules_the_data_are_checked(capsys: Capture) -> None:
    done = run(capsys, "check", "lr.parquet", *FAST)
    assert (done.code, done.out.splitlines()[-1]) == (0, "4 of 4 passed")
    assert "5,572 rows, none missing; 2 of 2 labels occur" in done.out


def test_the_verdict_against_a_baseline_is_that_of_compare(capsys: Capture) -> None:
    rows = ("--score", "score", *FAST)
    done = run(capsys, "check", "nb.parquet", *rows, "--baseline", "lr.parquet", "--markdown", "check.md")
    both = run(capsys, "compare", "lr.parquet", "nb.parquet", *rows)
    assert done.out.splitlines()[0] == both.out.splitlines()[0]
    assert done.out.startswith("nb has 7 fewer false positives but finds 160 fewer “spam”")
    assert "nb has 7 fewer false positives" in Path("check.md").read_text("utf-8")
    reported = json.loads(run(capsys, "check", "nb.parquet", *rows, "--baseline", "lr.parquet", "--json").out)
    other = json.loads(run(capsys, "compare", "lr.parquet", "nb.parquet", *rows, "--json").out)
    (verdict,) = other["comparison"]["verdicts"]
    against = reported["runs"][0]["against"]
    assert against == {**verdict, "headline": other["comparison"]["headline"]}


def test_a_baseline_on_paired_rows(capsys: Capture) -> None:
    passed = run(capsys, "check", LR, *FAST, "--baseline", COLLAPSED, "--require", "f1_macro drops <= 0.01")
    assert passed.code == 0
    assert "f1_macro drops <= 0.01  difference +0.8" in passed.out
    failed = run(capsys, "check", COLLAPSED, *FAST, "--baseline", LR, "--require", "f1_macro drops <= 0.01")
    assert failed.code == 1
    assert "FAILED       f1_macro drops <= 0.01" in failed.out
    assert "(paired on 3,080 examples, matched by id)" in failed.out


def test_what_the_sample_cannot_decide(capsys: Capture) -> None:
    asked = (
        "check",
        "rf.parquet",
        *FAST,
        "--baseline",
        "nb.parquet",
        "--require",
        "roc_auc drops <= 0.0001",
        "--json",
    )
    closed = run(capsys, *asked)
    check = closed.json["checks"][0]
    assert (closed.code, closed.json["ok"], check["outcome"]) == (1, False, "inconclusive")
    assert check["detectable"]["difference"] > 0
    assert check["rows_needed"] > 5572
    assert f"about {about_rows(check['rows_needed'])} instead of 5,572" in check["detail"]
    opened = run(capsys, *asked, "--inconclusive", "pass")
    assert (opened.code, opened.json["ok"]) == (0, True)


def test_json_holds_the_checks_beside_the_runs(capsys: Capture) -> None:
    done = run(capsys, "check", "lr.parquet", "nb.parquet", *FAST, "--require", "recall >= 0.8", "--json")
    assert done.code == 1
    assert done.json["ok"] is False
    assert [entry["ok"] for entry in done.json["runs"]] == [True, False]
    rules = [entry for entry in done.json["checks"] if entry["kind"] == "rule"]
    assert [(entry["run"], entry["outcome"]) for entry in rules] == [("lr", "passed"), ("nb", "failed")]
    assert rules[0]["bound"] == 0.8
    assert rules[0]["low"] < rules[0]["value"] < rules[0]["high"]


def test_leakage_by_text(capsys: Capture) -> None:
    test, train = (pd.read_csv(BANKING / name) for name in ("test.csv", "train.csv"))
    copied = test.iloc[[12, 77]].assign(example_id=["a", "b"], text=lambda rows: rows["text"].str.upper())
    pd.concat([train, copied]).to_csv("train.csv", index=False)
    asked: tuple[str, ...] = (
        "check",
        LR,
        *FAST,
        "--set",
        f"truth_file={BANKING / 'test.csv'!s}",
        "--truth",
        "label",
    )
    asked += ("--set", "show_text=text", "--metrics", "accuracy", "--json")
    words = [" ".join(text.lower().split()) for text in train["text"]]
    already = int(test["text"].str.lower().str.split().str.join(" ").isin(words).sum())
    before = run(capsys, *asked, "--train", str(BANKING / "train.csv"))
    after = run(capsys, *asked, "--train", "train.csv")
    found = [{entry["name"]: entry for entry in done.json["checks"]} for done in (before, after)]
    assert [checks["leakage"]["value"] for checks in found] == [already, already + 2]
    assert after.code == 1
    assert "also occur in train.csv (ids test-00012, test-00077, " in found[1]["leakage"]["shown"]


def test_files_for_ci_are_written_whatever_the_outcome(capsys: Capture) -> None:
    files = ("--junit", "out/checks.xml", "--markdown", "summary.md")
    done = run(capsys, "check", "lr.parquet", "nb.parquet", *FAST, "--require", "recall >= 0.8", *files)
    assert done.code == 1
    root = parsed("out/checks.xml")
    assert (root.get("failures"), [suite.get("name") for suite in root]) == ("1", ["lr", "nb"])
    text = Path("summary.md").read_text("utf-8")
    assert text.startswith("### evalreport check: 1 of 10 failed\n")
    assert "| ✗ failed | recall >= 0.8 | 0." in text


def test_a_run_that_cannot_be_read_is_an_error_in_the_files(capsys: Capture) -> None:
    Path("broken.csv").write_text("y_true,y_pred\n", encoding="utf-8")
    done = run(capsys, "check", "broken.csv", "--junit", "checks.xml", "--markdown", "summary.md")
    assert done.code == 5
    assert done.out == ""
    assert parsed("checks.xml").get("errors") == "1"
    assert "1 could not be evaluated" in Path("summary.md").read_text("utf-8")


def test_markdown_on_stdout_is_alone_there(capsys: Capture) -> None:
    done = run(capsys, "check", "lr.parquet", *FAST, "--require", "recall >= 0.99", "--markdown", "-")
    assert done.code == 1
    assert done.out.startswith("### evalreport check: 1 of 5 failed")
    assert "FAILED" not in done.out
    assert "FAILED" in done.err
    both = run(capsys, "check", "lr.parquet", "--markdown", "-", "--json")
    assert both.code == 2


def test_rules_from_the_settings(capsys: Capture) -> None:
    Path("pyproject.toml").write_text(
        "[tool.evalreport]\nresamples = 100\n[tool.evalreport.check]\n"
        'require = ["recall >= 0.9", "ece <= 0.001", "roc_auc drops <= 0.5"]\nbaseline = "nb.parquet"\n'
        'test_on = "interval"\ninconclusive = "pass"\n',
        encoding="utf-8",
    )
    done = run(capsys, "check", "lr.parquet")
    assert done.code == 1
    assert "inconclusive recall >= 0.9" in done.out
    assert "FAILED       ece <= 0.001" in done.out
    assert "ok           roc_auc drops <= 0.5" in done.out
    chosen = run(capsys, "check", "lr.parquet", "--require", "recall >= 0.5")
    assert chosen.code == 0
    assert "ece" not in chosen.out


def test_rules_from_the_environment(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALREPORT_REQUIRE", "recall >= 0.99; ece <= 0.06")
    done = run(capsys, "check", "lr.parquet", *FAST)
    assert done.code == 1
    assert "FAILED       recall >= 0.99" in done.out
    assert "ok           ece <= 0.06" in done.out


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--require", "recal >= 0.9"), 2, "recall"),
        (("--require", "recall"), 2, "is not a bound"),
        (("--require", "recall >= 90"), 2, "can never be met"),
        (("--require", "recall drops <= 0.1"), 2, "--baseline"),
        (("--baseline", "gone.parquet"), 3, "no baseline gone.parquet"),
        (("--baseline", "nb.parquet", "--require", "recall rises <= 0.1"), 2, "requires a worse value"),
        (("--test-on", "lower"), 2, "interval"),
        (("--train", "gone.csv"), 3, "gone.csv"),
        (("--train", "columns.csv"), 3, "columns are: word, class"),
    ],
)
def test_bad_input_in_three_lines(capsys: Capture, arguments: tuple[str, ...], code: int, said: str) -> None:
    Path("columns.csv").write_text("word,class\na,b\n", encoding="utf-8")
    done = run(capsys, "check", "lr.parquet", *FAST, *arguments)
    assert (done.code, done.out) == (code, "")
    assert said in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("option", ["--junit", "--markdown"])
@pytest.mark.parametrize("name", ["lr.parquet", "nb.parquet", "rf.parquet"])
def test_what_is_read_is_not_written_over(capsys: Capture, option: str, name: str) -> None:
    before = Path(name).read_bytes()
    asked = (
        "--baseline",
        "nb.parquet",
        "--require",
        "recall drops <= 0.1",
        "--train",
        "rf.parquet",
        option,
        name,
    )
    done = run(capsys, "check", "lr.parquet", *FAST, *asked)
    assert (done.code, done.out) == (2, "")
    assert Path(name).read_bytes() == before


def test_the_step_of_the_worked_workflow_runs(capsys: Capture) -> None:
    text = (DATA.parent / "github-actions.yml").read_text("utf-8")
    step = text.partition("run: >-\n")[2].partition("\n\n")[0]
    _, *arguments = shlex.split(step)
    for folder in ("baseline", "data"):
        Path(folder).mkdir()
    rows = spam().assign(text=lambda table: "message " + table["example_id"].astype(str))
    rows.to_parquet("predictions.parquet")
    spam("score_nb").assign(text="").to_parquet("baseline/predictions.parquet")
    pd.DataFrame({"example_id": ["train-1"], "text": ["elsewhere"]}).to_parquet("data/train.parquet")
    done = run(capsys, *arguments, *FAST)
    assert (done.code, done.out.splitlines()[-1:]) == (1, ["1 of 9 inconclusive"]), done.err
    assert (
        Path("report/summary.md").read_text("utf-8").startswith("### evalreport check: 1 of 9 inconclusive")
    )
    assert parsed("report/checks.xml").get("tests") == "9"
    assert Path("report/evalreport.html").is_file()


def test_an_evaluation_without_its_predictions(capsys: Capture) -> None:
    run(capsys, "report", "nb.parquet", *FAST, "--output", "nb")
    drop = run(
        capsys,
        "check",
        "lr.parquet",
        *FAST,
        "--baseline",
        "nb/evaluation.json",
        "--require",
        "roc_auc drops <= 0.1",
    )
    assert drop.code == 0
    assert "not paired" in drop.out
    alone = run(capsys, "check", "nb/evaluation.json", "--require", "recall >= 0.1")
    assert (alone.code, alone.out.splitlines()[-1]) == (0, "1 of 1 passed")


def test_runs_of_a_store(capsys: Capture, sqlite_store: Store, tmp_path: Path) -> None:
    runs = [
        make_run(sqlite_store, {"predictions.parquet": _bytes(column)}, folder=tmp_path).run_id
        for column in ("score_lr", "score_nb")
    ]
    asked = ("--tracking-uri", sqlite_store.uri, "--run-id", runs[0], *FAST)
    done = run(capsys, "check", *asked, "--baseline", runs[1], "--require", "roc_auc drops <= 0.1")
    assert done.code == 0
    assert "roc_auc drops <= 0.1" in done.out
    missing = run(capsys, "check", *asked, "--baseline", "0123456789", "--require", "roc_auc drops <= 0.1")
    assert missing.code == 3


@pytest.mark.server
def test_runs_of_a_server(capsys: Capture, mlflow_server: MlflowServer) -> None:
    store = connect(mlflow_server.uri)
    made = [
        make_run(store, {"predictions.parquet": _bytes(f"score_{name}")}, name=name) for name in ("lr", "nb")
    ]
    before = store.client.get_run(made[0].run_id)
    asked = ("--tracking-uri", store.uri, "--run-id", made[0].run_id, "--baseline", made[1].run_id, *FAST)
    done = run(
        capsys, "check", *asked, "--require", "recall >= 0.8", "--require", "roc_auc drops <= 0.01", "--jsonl"
    )
    (line,) = map(json.loads, done.out.splitlines())
    assert (done.code, line["ok"], line["run_id"]) == (0, True, made[0].run_id)
    assert {check["outcome"] for check in line["checks"]} == {"passed"}
    after = store.client.get_run(made[0].run_id)
    assert (after.data.metrics, after.info.end_time) == (before.data.metrics, before.info.end_time)


@pytest.mark.parametrize("hidden", [False, True])
def test_a_sensitive_run_names_no_example(
    capsys: Capture, sqlite_store: Store, tmp_path: Path, hidden: bool
) -> None:
    tags = {"evalreport.sensitive": "true"} if hidden else {}
    made = make_run(sqlite_store, {"predictions.parquet": _bytes("score_lr")}, folder=tmp_path, tags=tags)
    pd.DataFrame({"example_id": spam()["example_id"].iloc[[3]]}).to_csv("train.csv", index=False)
    name = str(spam()["example_id"].iloc[3])
    asked = ("--tracking-uri", sqlite_store.uri, "--run-id", made.run_id, *FAST, "--train", "train.csv")
    done = run(capsys, "check", *asked, "--markdown", "summary.md")
    assert done.code == 1
    assert "1 row of the test set also occurs in train.csv" in done.out
    assert (f"(id {name})" in done.out) is not hidden
    assert (f"(id {name})" in Path("summary.md").read_text("utf-8")) is not hidden


def _bytes(column: str) -> bytes:
    out = io.BytesIO()
    spam(column).to_parquet(out, index=False)
    return out.getvalue()


def test_signs_only_on_a_terminal_that_shows_them() -> None:
    assert marks_for(utf8=True) == {"passed": "✓", "failed": "✗", "inconclusive": "?"}
    assert marks_for(utf8=False)["inconclusive"] == "inconclusive"


def test_rules_name_operating_points_and_a_prevalence(capsys: Capture) -> None:
    """Nothing else asks for them: "binary evaluations have no metric" was the answer."""
    rules = ("recall@fpr=2% >= 0.5", "pauc@fpr<=0.05 >= 0.6", "npv@prevalence=0.01 >= 0.9")
    asked = [word for rule in rules for word in ("--require", rule)]
    for engine in ("memory", "stream"):
        done = run(capsys, "check", "nb.parquet", *FAST, "--set", f"engine={engine}", *asked, "--json")
        found = done.json["runs"][0]["metrics"]
        names = ("recall@fpr=0.02", "pauc@fpr<=0.05", "npv@prevalence=0.01")
        assert [check["outcome"] for check in done.json["checks"][:3]] == ["passed"] * 3
        assert [check["value"] for check in done.json["checks"][:3]] == [found[n]["value"] for n in names]

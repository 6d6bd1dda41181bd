"""`evalreport report` on files: what is written, what is printed, and what goes wrong in three lines."""

from __future__ import annotations

import gzip
import io
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from evalreport.cli.print_evaluation import bar
from evalreport.tracking.client import Store
from tests.cli.running import run
from tests.tracking import make_run

DATA = Path(__file__).parents[2] / "examples" / "data"
SPAM = str(DATA / "sms_spam" / "oof_scores.parquet")
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_path_is_the_result(capsys: Capture) -> None:
    done = run(capsys, "report", SPAM, "--score", "score_lr", "-o", "page.html")
    assert (done.code, done.out) == (0, "page.html\n")
    assert "Using: truth=y_true" in done.err
    assert "roc_auc" in done.err
    assert "\x1b" not in done.err
    assert Path("page.html").read_text().startswith("<!doctype html>")


def test_page_on_stdout(capsys: Capture) -> None:
    done = run(capsys, "report", SPAM, "--score", "score_lr", "-o", "-", "-q")
    assert done.out.startswith("<!doctype html>")
    assert done.err == ""
    assert not list(Path.cwd().iterdir())


def test_json_holds_the_evaluation_and_writes_nothing(capsys: Capture) -> None:
    done = run(capsys, "report", SPAM, "--score", "score_lr", "--json")
    assert done.json["ok"] is True
    (one,) = done.json["runs"]
    wanted = {"schema", "task", "n", "labels", "positive", "threshold", "score_kind", "metrics", "classes"}
    wanted |= {"confusion", "findings", "thresholds", "parsing", "slices", "provenance"}
    assert wanted <= set(one)
    assert (one["n"], one["positive"], one["threshold"], one["score_kind"]) == (
        5572,
        "spam",
        0.5,
        "probability",
    )
    assert set(one["metrics"]["roc_auc"]) >= {"value", "low", "high", "method", "n", "reason"}
    f1 = one["thresholds"]["optima"]["f1"]
    assert f1["held_out"] <= f1["apparent"]
    assert not list(Path.cwd().iterdir())


def test_out_writes_everything(capsys: Capture) -> None:
    done = run(capsys, "report", str(DATA / "banking77" / "pred_collapsed6.parquet"), "--output", "all", "-q")
    assert done.code == 0
    names = {path.name for path in Path("all").iterdir()}
    assert names >= {
        "evalreport.html",
        "evaluation.json",
        "confusion_matrix.png",
        "classes.csv",
        "predictions.parquet",
    }
    rows = pq.read_table("all/predictions.parquet")
    assert rows.num_rows == 3080
    assert {"example_id", "y_true", "y_pred", "status", "reason"} <= set(rows.column_names)
    assert len(pd.read_csv("all/classes.csv")) == 77


def test_two_calls_write_the_same_numbers(capsys: Capture) -> None:
    first, second = (run(capsys, "report", SPAM, "--score", "score_rf", "--json").json for _ in range(2))
    for body in (first, second):
        body["runs"][0].pop("provenance")
    assert first == second


def test_several_files_and_one_that_fails(capsys: Capture) -> None:
    Path("bad.csv").write_text("y_true,y_pred\na,\n")
    Path("good.csv").write_text("y_true,y_pred\na,a\nb,b\n")
    done = run(capsys, "report", "good.csv", "bad.csv", "--json")
    assert done.code == 5
    assert [entry["ok"] for entry in done.json["runs"]] == [True, False]


def test_stdin(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(b"y_true,y_pred\na,a\nb,a\n")

    monkeypatch.setattr("sys.stdin", Stdin())
    done = run(capsys, "report", "-", "--set", "format=csv", "--json")
    assert done.json["runs"][0]["metrics"]["accuracy"]["value"] == 0.5


def test_text_is_parsed_and_accounted_for(capsys: Capture) -> None:
    file = str(DATA / "banking77" / "llm_generations.jsonl")
    done = run(capsys, "report", file, "--truth", "label", "--response", "generation", "--json")
    (one,) = done.json["runs"]
    assert round(one["metrics"]["accuracy"]["value"], 4) == 0.8393
    assert one["parsing"]["n_unparsed"] == 212
    assert one["confusion"]["predicted_labels"][-1] == "(unparsed)"
    assert "unread" not in one["labels"]


def test_threshold_is_chosen_out_of_sample(capsys: Capture) -> None:
    tuned = run(capsys, "report", SPAM, "--score", "score_nb", "--threshold", "max-f1", "--json").json
    assert tuned["runs"][0]["threshold_origin"] == "cross-fitted"
    assert any(finding["rule"] == "same_rows" for finding in tuned["runs"][0]["findings"])
    other = run(
        capsys,
        "report",
        SPAM,
        "--score",
        "score_nb",
        "--threshold",
        "recall>=0.95",
        "--tune-on",
        SPAM,
        "--json",
    ).json
    assert other["runs"][0]["threshold_origin"] == "tuned"
    assert other["runs"][0]["metrics"]["recall"]["value"] >= 0.95


FILES = {
    "empty.csv": b"",
    "head.csv": b"y_true,y_pred\n",
    "gap.csv": b"y_true,y_pred\na,a\n,b\n",
    "nan.csv": b"y_true,score\n1,0.5\n0,nan\n",
    "wide.csv": b"y_true,score\n1,1.5\n0,0.2\n",
    "sums.csv": b"y_true,proba_a,proba_b,proba_c\na,0.5,0.2,0.1\nb,0.1,0.8,0.1\nc,0,0,1\n",
    "line.jsonl": b'{"y_true": 1, "y_pred": 1}\n{"y_true": 1, \n',
    "cut.parquet": b"PAR1\x00\x00",
    "half.csv": b"y_true,score\n1,0.5\n0,0.2\n",
    "pickle.parquet": pickle.dumps({"y_true": [1]}),
    "names.csv": b"diagnosis,p\n1,0.5\n",
    "zipped.csv.gz": gzip.compress(b"a,b\n1,2\n"),
}
ERRORS = [
    ("empty.csv", (), 5, "DATA_INVALID", "empty"),
    ("head.csv", (), 5, "DATA_INVALID", "no rows"),
    ("gap.csv", (), 5, "DATA_INVALID", "missing"),
    ("nan.csv", (), 5, "DATA_INVALID", "row 1"),
    ("wide.csv", (), 5, "DATA_INVALID", "--score-kind"),
    ("sums.csv", (), 5, "DATA_INVALID", "sum"),
    ("line.jsonl", (), 5, "DATA_INVALID", "line 2"),
    ("cut.parquet", (), 5, "DATA_INVALID", "cut.parquet"),
    ("pickle.parquet", (), 5, "UNSAFE_FILE", "pickle"),
    ("names.csv", ("--truth", "diagnosys"), 3, "COLUMN_NOT_FOUND", "Use --truth diagnosis"),
    ("zipped.csv.gz", (), 3, "COLUMN_NOT_FOUND", "columns are: a, b"),
    ("nothing.csv", (), 3, "FILE_NOT_FOUND", "nothing.csv"),
    ("gap.csv", ("--metrics", "f1_marco"), 2, "USAGE", "f1_macro"),
    ("gap.csv", ("--set", "unit=a,b,c"), 2, "USAGE", "--set unit"),
    ("half.csv", ("--threshold", "1.5"), 2, "USAGE", "1.5 is outside [0, 1]"),
    ("half.csv", ("--threshold=-0.1", "--set", "engine=stream"), 2, "USAGE", "--score-kind decision"),
    ("half.csv", ("--threshold", "2", "--score-kind", "logit"), 2, "USAGE", "turned into probabilities"),
]


@pytest.mark.parametrize(("file", "more", "code", "name", "said"), ERRORS, ids=lambda value: str(value)[:24])
def test_each_error_is_three_lines(
    capsys: Capture, file: str, more: tuple[str, ...], code: int, name: str, said: str
) -> None:
    for path, data in FILES.items():
        Path(path).write_bytes(data)
    if "--metrics" in more:
        Path(file).write_text("y_true,y_pred\na,a\nb,b\nc,c\n")
    done = run(capsys, "report", file, *more)
    assert done.code == code
    assert done.out == ""
    lines = done.err.splitlines()
    assert lines[0].startswith("error: ")
    assert [line[:5] for line in lines[1:]] in (["  at ", "  fix"], ["  fix "[:5]])
    assert said in done.err
    assert not list(Path.cwd().glob("*.html"))
    again = run(capsys, "report", file, *more, "--json")
    assert again.json["ok"] is False
    assert again.json["error"]["code"] == name
    assert again.code == code


def test_no_file_is_half_written(capsys: Capture) -> None:
    Path("taken.html").mkdir()
    done = run(capsys, "report", SPAM, "--score", "score_lr", "-o", "taken.html")
    assert done.code == 2
    assert [path.name for path in Path.cwd().iterdir()] == ["taken.html"]


@pytest.mark.parametrize("n_classes", [1, 3000])
def test_extremes_make_a_report(capsys: Capture, n_classes: int) -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(n_classes, size=max(n_classes, 1))
    pd.DataFrame(
        {"y_true": [f"<b>{{{{{k}}}}}" for k in truth], "y_pred": [f"<b>{{{{{k}}}}}" for k in truth]}
    ).to_csv("extreme.csv", index=False)
    done = run(capsys, "report", "extreme.csv", "-o", "page.html")
    assert done.code == 0, done.err
    page = Path("page.html").read_text()
    assert "<b>{{" not in page
    assert len(page) < 1_000_000


def test_a_prevalence_is_of_a_share_and_of_two_classes(capsys: Capture, tmp_path: Path) -> None:
    table = tmp_path / "p.csv"
    table.write_text("y_true,y_pred\n" + "a,a\nb,b\nc,a\n" * 20, encoding="utf-8")
    done = run(capsys, "report", str(table), "--set", "prevalence=0.1")
    assert done.code == 2
    assert "a prevalence needs two classes; these are 3 labels" in done.err
    assert run(capsys, "report", str(table), "--set", "prevalence=120%").code == 2


def test_weights_that_are_numbers_of_rows(capsys: Capture) -> None:
    Path("counted.csv").write_text("y_true,y_pred,times\n1,1,30\n1,0,10\n0,0,50\n0,1,10\n")
    rows = ["y_true,y_pred"] + ["1,1"] * 30 + ["1,0"] * 10 + ["0,0"] * 50 + ["0,1"] * 10
    Path("whole.csv").write_text("\n".join(rows))
    counted = ["counted.csv", "--set", "weight=times", "--set", "weight_kind=count"]
    reported, plain = (run(capsys, "report", *files, "--json").json for files in (counted, ["whole.csv"]))
    (counted_run,), (plain_run,) = reported["runs"], plain["runs"]
    assert counted_run["n"] == plain_run["n"] == 100
    assert counted_run["metrics"] == plain_run["metrics"]
    relative = run(capsys, "report", "counted.csv", "--set", "weight=times", "--json").json["runs"][0]
    assert (relative["n"], relative["metrics"]["accuracy"]["value"]) == (4, pytest.approx(0.8))


def test_a_page_is_named_after_its_input_and_replaces_no_other_page(capsys: Capture) -> None:
    for name in ("fair.csv", "other/fair.csv", "fair.jsonl"):
        Path(name).parent.mkdir(exist_ok=True)
    Path("fair.csv").write_text("y_true,y_pred\na,a\nb,b\n")
    Path("other/fair.csv").write_text("y_true,y_pred\na,b\nb,b\n")
    Path("fair.jsonl").write_text('{"y_true": "a", "y_pred": "a"}\n{"y_true": "b", "y_pred": "a"}\n')
    Path("mine.csv").write_text("y_true,y_pred\na,a\nb,b\n")
    Path("mine.html").write_text("my own page")

    def written(*files: str) -> list[str]:
        done = run(capsys, "report", *files, "-q")
        assert done.code == 0, done.err
        return done.out.split()

    assert written("fair.csv") == ["fair.html"]
    first = Path("fair.html").read_bytes()
    assert written("other/fair.csv") == ["fair-2.html"]
    assert written("fair.jsonl") == ["fair-3.html"]
    assert Path("fair.html").read_bytes() == first
    Path("other/fair.csv").write_text("y_true,y_pred\na,a\nb,a\n")
    before = Path("fair-2.html").read_bytes()
    assert written("other/../other/fair.csv") == ["fair-2.html"], "its own page is renewed"
    assert Path("fair-2.html").read_bytes() != before
    assert written("mine.csv") == ["mine-2.html"]
    assert Path("mine.html").read_text() == "my own page"
    assert written("fair.csv", "other/fair.csv") == ["fair.html", "fair-2.html"]
    run(capsys, "report", "fair.jsonl", "-q", "-o", "fair.html")
    assert written("fair.csv") == ["fair-4.html"], "a page that was named with -o is not known to be of it"


def test_the_page_of_a_run_has_its_name_and_id(
    sqlite_store: Store, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = {"predictions.csv": "y_true,y_pred\na,a\nb,b\n"}
    made = [make_run(sqlite_store, rows, name="calm heron", folder=tmp_path).run_id for _ in range(2)]
    for run_id in (*made, made[0]):
        done = run(capsys, "report", "--run-id", run_id, "--tracking-uri", sqlite_store.uri, "-q")
        assert done.out == f"calm-heron-{run_id[:8]}.html\n", done.err


def test_the_verdict_the_metrics_and_the_number_of_findings_are_printed(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(5)
    truth = rng.random(400) < 0.3
    score = 1 / (1 + np.exp(-(3 * truth - 3 + rng.normal(size=400))))
    file = tmp_path / "rows.csv"
    pd.DataFrame({"y_true": truth.astype(int), "score": score}).to_csv(file, index=False)
    done = run(capsys, "report", str(file), "-o", str(tmp_path / "page.html"))
    body = run(capsys, "report", str(file), "--json").json["runs"][0]
    lines = done.err.splitlines()
    found = body["metrics"]["recall"]["value"]
    assert lines[1].startswith(f"Finds {round(found * truth.sum())} of {truth.sum()}")
    at = next(place for place, line in enumerate(lines) if line.split()[:2] == ["metric", "value"])
    table = [line for line in lines[at + 1 :] if line.split()[0] in body["metrics"]]
    assert len(table) > 5
    assert table[0].split()[:3] == ["recall", f"{found:.2f}", bar(found)]
    values = [line.split()[1] for line in table]
    assert {len(value.partition(".")[2]) for value in values} == {2}, "one number of decimals"
    assert len({line.index(value) + len(value) for line, value in zip(table, values, strict=True)}) == 1
    cautions = [one["claim"] for one in body["findings"] if one["severity"] != "note"]
    notes = len(body["findings"]) - len(cautions)
    assert f"{len(cautions)} caution" in lines[-1] and f"{notes} note" in lines[-1]
    assert lines[-1].endswith(" (-v shows them)")
    assert "warning:" not in done.err and done.out.splitlines()[-1].endswith("page.html")
    loud = run(capsys, "report", str(file), "-o", str(tmp_path / "page.html"), "-v")
    assert all(f"warning: {claim}" in loud.err for claim in cautions)
    assert "-v shows" not in loud.err


def test_a_terminal_shows_the_verdict_in_bold(capsys: Capture, tmp_path: Path) -> None:
    files = []
    for name, skill in (("old", 0.7), ("new", 0.95)):
        rng = np.random.default_rng(7)
        truth = rng.integers(0, 2, 300)
        answers = np.where(rng.random(300) < skill, truth, 1 - truth)
        files.append(str(tmp_path / f"{name}.csv"))
        pd.DataFrame({"y_true": truth, "y_pred": answers}).to_csv(files[-1], index=False)
    plain = run(capsys, "compare", *files)
    colored = run(capsys, "compare", *files, "--color", "always")
    assert "\x1b" not in plain.out
    assert colored.out.startswith(f"\x1b[1m{plain.out.splitlines()[0]}\x1b[0m")
    assert "\x1b[32mbetter\x1b[0m" in colored.out

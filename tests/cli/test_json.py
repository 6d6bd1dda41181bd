"""`--json` of every command keeps to the stored schema, in success and in failure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from evalreport.tracking.client import Store
from tests.cli.running import run
from tests.tracking import make_run

Capture = pytest.CaptureFixture[str]
DATA = Path(__file__).parents[2] / "examples" / "data"
SCHEMA = json.loads((Path(__file__).parent / "output.schema.json").read_text(encoding="utf-8"))
WHOLE = jsonschema.Draft202012Validator(SCHEMA)
LINE = jsonschema.Draft202012Validator({"$ref": "#/$defs/run", "$defs": SCHEMA["$defs"]})
LLM = (str(DATA / "banking77" / "llm_generations.jsonl"), "--truth", "label", "--response", "generation")

GOOD = [
    ("report", str(DATA / "sms_spam" / "oof_scores.parquet"), "--score", "score_lr"),
    ("report", str(DATA / "banking77" / "pred_collapsed6.parquet")),
    ("report", *LLM),
    ("metrics",),
    ("metrics", "f1"),
    ("config",),
]
BAD = [
    (("report", "none.csv"), "FILE_NOT_FOUND"),
    (("report", "rows.csv", "--truth", "nope"), "COLUMN_NOT_FOUND"),
    (("report", "gap.csv"), "DATA_INVALID"),
    (("report", "rows.pkl"), "UNSAFE_FILE"),
    (("report", "--nope"), "USAGE"),
    (("nonsense",), "USAGE"),
    ((), "USAGE"),
    (("metrics", "f1_marco"), "USAGE"),
    (("log", "--latest", "--tracking-uri", "http://127.0.0.1:9"), "SERVER"),
    (("log", "--latest", "--tracking-uri", "sqlite:///none.db"), "FILE_NOT_FOUND"),
]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("y_true,y_pred\na,a\nb,b\n")
    Path("gap.csv").write_text("y_true,y_pred\na,\na,a\nb,b\n")
    Path("rows.pkl").write_bytes(b"\x80\x04N.")


def refuse_constants(name: str) -> Any:
    raise AssertionError(f"{name} is not JSON")


@pytest.mark.parametrize(
    "arguments", GOOD, ids=lambda value: " ".join(Path(word).name for word in value)[:40]
)
def test_success(capsys: Capture, arguments: tuple[str, ...]) -> None:
    done = run(capsys, *arguments, "--json", "-q")
    assert (done.code, done.err) == (0, "")
    body = json.loads(done.out, parse_constant=refuse_constants)
    WHOLE.validate(body)
    assert (body["ok"], body["command"]) == (True, arguments[0])
    assert done.out.count("\n") == 1


@pytest.mark.parametrize(("arguments", "code"), BAD, ids=[" ".join(arguments)[:40] for arguments, _ in BAD])
def test_failure(capsys: Capture, arguments: tuple[str, ...], code: str) -> None:
    done = run(capsys, *arguments, "--json")
    WHOLE.validate(done.json)
    assert done.json["error"]["code"] == code
    assert done.err == ""
    plain = run(capsys, *arguments)
    assert plain.code == done.code
    assert plain.out == ""
    if arguments:
        reported = done.json["error"]
        assert plain.err.splitlines() == [
            f"error: {reported['message']}",
            f"  at   {reported['where']}",
            f"  fix  {reported['fix']}",
        ]


def test_several_and_lines(capsys: Capture) -> None:
    done = run(capsys, "report", "rows.csv", "gap.csv", "none.csv", "--json", "-qq")
    WHOLE.validate(done.json)
    assert done.code == 5
    assert [entry["ok"] for entry in done.json["runs"]] == [True, False, False]
    lines = run(capsys, "report", "rows.csv", "gap.csv", "--jsonl", "-qq").out.splitlines()
    assert len(lines) == 2
    for line in lines:
        LINE.validate(json.loads(line))


def test_runs(sqlite_store: Store, tmp_path: Path, capsys: Capture) -> None:
    made = make_run(sqlite_store, {"predictions.csv": "y_true,y_pred\na,a\nb,b\na,b\n"}, folder=tmp_path)
    empty = make_run(sqlite_store, {"notes.md": "nothing"}, folder=tmp_path)
    ids = ["--run-id", made.run_id, "--run-id", empty.run_id, "--tracking-uri", sqlite_store.uri]
    done = run(capsys, "log", *ids, "--json")
    WHOLE.validate(done.json)
    assert [entry["run_id"] for entry in done.json["runs"]] == [made.run_id, empty.run_id]
    assert done.json["runs"][1]["error"]["code"] == "ARTIFACT_NOT_FOUND"
    assert done.json["runs"][0]["logged"]["state"] == "written"
    assert done.code == 3


def test_a_threshold_above_all_and_undefined_values_are_null(capsys: Capture) -> None:
    Path("one.csv").write_text("y_true,score\n" + "0,0.5\n" * 20)
    done = run(capsys, "report", "one.csv", "--labels", "0,1", "--json")
    assert done.code == 0, done.out
    WHOLE.validate(json.loads(done.out, parse_constant=refuse_constants))
    assert done.json["runs"][0]["metrics"]["recall"]["value"] is None


def test_the_schema_refuses_what_it_should() -> None:
    for body in (
        {},
        {"schema": 1, "ok": True, "command": "log"},
        {"schema": 1, "ok": False, "command": "log", "error": {}},
    ):
        with pytest.raises(jsonschema.ValidationError):
            WHOLE.validate(body)


CHECKS = jsonschema.Draft202012Validator({"$ref": "#/$defs/checks", "$defs": SCHEMA["$defs"]})
SMS = str(DATA / "sms_spam" / "oof_scores.parquet")
GATE = ("--score", "score_lr", "--require", "recall >= 0.8")


def test_checks_keep_to_the_schema_whatever_their_outcome(capsys: Capture) -> None:
    base = ("--baseline", SMS, "--require", "roc_auc drops <= 0.01")
    for rule, code in (("ece <= 0.9", 0), ("recall >= 0.99", 1), ("recall >= 0.91", 1)):
        done = run(capsys, "check", SMS, *GATE, "--require", rule, *base, "--json", "-q")
        body = json.loads(done.out, parse_constant=refuse_constants)
        WHOLE.validate(body)
        CHECKS.validate(body["checks"])
        assert (done.code, body["ok"], body["runs"][0]["ok"]) == (code, code == 0, code == 0)
        assert {"rule", "change", "data"} == {check["kind"] for check in body["checks"]}
    refused = run(capsys, "check", SMS, "--score", "score_lr", "--require", "recal >= 0.9", "--json")
    WHOLE.validate(refused.json)
    assert refused.code == 2


def test_checks_line_by_line(capsys: Capture) -> None:
    done = run(
        capsys,
        "check",
        "rows.csv",
        "gap.csv",
        "--require",
        "accuracy >= 0.5",
        "--test-on",
        "estimate",
        "--jsonl",
        "-qq",
    )
    good, bad = map(json.loads, done.out.splitlines())
    LINE.validate(good)
    LINE.validate(bad)
    CHECKS.validate(good["checks"])
    assert good["checks"][0]["name"] == "accuracy >= 0.5"
    assert (good["ok"], bad["ok"], bad["error"]["code"], done.code) == (True, False, "DATA_INVALID", 5)


def test_comparisons_keep_to_the_schema(capsys: Capture) -> None:
    Path("one.csv").write_text("y_true,y_pred\n" + "a,a\nb,b\n" * 10)
    Path("two.csv").write_text("y_true,y_pred\n" + "a,a\nb,b\n" * 8 + "a,b\nb,b\n" * 2)
    for more in ((), ("--all-pairs",), ("--sort-by", "accuracy"), ("--require", "accuracy drops <= 0.9")):
        done = run(capsys, "compare", "one.csv", "two.csv", *more, "--json", "-q")
        assert done.code == 0, done.err
        WHOLE.validate(json.loads(done.out, parse_constant=refuse_constants))
    Path("low.csv").write_text("y_true,score\n" + "1,0.7\n0,0.3\n1,0.4\n0,0.6\n" * 10)
    Path("high.csv").write_text("y_true,score\n" + "1,0.9\n0,0.2\n1,0.6\n0,0.4\n" * 10)
    for more in ((), ("--cost", "5")):
        WHOLE.validate(run(capsys, "compare", "low.csv", "high.csv", *more, "--json", "-q").json)
    refused = run(capsys, "compare", "rows.csv", "gap.csv", "--json")
    WHOLE.validate(refused.json)
    assert (refused.code, refused.json["error"]["code"]) == (5, "DATA_INVALID")

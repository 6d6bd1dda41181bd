"""Native logs of evaluation tools, feedback in MLflow, and logging into a run."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

import evalreport as er
from evalreport.core.errors import DataError
from evalreport.core.result import Estimate
from evalreport.features.graded.evaluation import GradedEvaluation
from evalreport.tracking.client import Store
from tests.cli.running import run
from tests.features.graded.files import grades_of, inspect_log, lm_eval, promptfoo
from tests.tracking import make_run
from tests.tracking.test_traces import Traces, trace


def read(path: Path, **named: Any) -> GradedEvaluation:
    ev = er.evaluate_file(str(path), **named)
    assert isinstance(ev, GradedEvaluation)
    return ev


def rate(ev: GradedEvaluation, name: str = "pass_rate") -> float:
    found = ev[name]
    assert isinstance(found, Estimate)
    return found.value


def write_eval(path: Path, log: dict[str, Any], *, zstandard: bool) -> Path:
    """Write an ``.eval`` file: members by deflate, or as Inspect does by Zstandard (method 93)."""
    members = {"header.json": {"version": 2, "eval": log["eval"]}}
    members |= {f"samples/{one['id']}_epoch_{one['epoch']}.json": one for one in log["samples"]}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED if zstandard else zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            text = json.dumps(content).encode()
            packed = pa.compress(text, codec="zstd", asbytes=True) if zstandard else text
            archive.writestr(name, packed)
    if zstandard:
        path.write_bytes(marked_as_zstandard(path.read_bytes(), members))
    return path


def marked_as_zstandard(data: bytes, members: dict[str, Any]) -> bytes:
    """Set the method and the size before compression in the headers of all members."""
    whole = bytearray(data)
    for head, method, size, name_at in ((b"PK\3\4", 8, 22, 30), (b"PK\1\2", 10, 24, 46)):
        at = whole.find(head)
        while at >= 0:
            length = int.from_bytes(whole[at + name_at - (4 if name_at == 30 else 18) :][:2], "little")
            name = whole[at + name_at : at + name_at + length].decode()
            whole[at + method : at + method + 2] = (93).to_bytes(2, "little")
            plain = len(json.dumps(members[name]).encode())
            whole[at + size : at + size + 4] = plain.to_bytes(4, "little")
            at = whole.find(head, at + 4)
    return bytes(whole)


@pytest.mark.parametrize("zstandard", [False, True])
def test_eval_files_of_inspect(zstandard: bool, tmp_path: Path) -> None:
    grades = ["C"] * 29 + ["I"] * 8 + [None] * 3
    path = write_eval(tmp_path / "log.eval", inspect_log(grades), zstandard=zstandard)
    ev = read(path)
    assert (ev.items, rate(ev), rate(ev, "pass_rate_graded")) == (40, 29 / 40, 29 / 37)
    plain = tmp_path / "log.json"
    plain.write_text(json.dumps(inspect_log(grades)))
    assert read(plain).metrics == ev.metrics


def test_other_archives_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data.txt", "text")
    with pytest.raises(DataError, match="not a log of Inspect AI"):
        er.evaluate_file(str(path))
    path.write_bytes(b"PK\3\4 broken")
    with pytest.raises(DataError, match="broken"):
        er.evaluate_file(str(path))


def test_several_scorers_are_refused(tmp_path: Path) -> None:
    log = inspect_log(["C", "I", "C"])
    for one, grade in zip(log["samples"], ("I", "I", "C"), strict=True):
        one["scores"]["includes"] = {"value": grade}
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log))
    with pytest.raises(DataError, match="2 grades for each item: model_graded_qa, includes"):
        er.evaluate_file(str(path))
    assert rate(read(path, grade="includes")) == pytest.approx(1 / 3)


def test_promptfoo_has_grades_and_measures(tmp_path: Path) -> None:
    path = promptfoo(tmp_path / "results.json", [True] * 29 + [False] * 8 + [None] * 3)
    ev = read(path, measures=["latencyMs", "cost"])
    assert (rate(ev), rate(ev, "pass_rate_graded")) == (29 / 40, 29 / 37)
    assert set(ev.measures) == {"latencyMs", "cost"}
    mean = ev.measures["latencyMs"]["mean"]
    assert isinstance(mean, Estimate) and mean.value == 119.5


def feedback(value: Any, source: str = "LLM_JUDGE", name: str = "correctness", error: Any = None) -> Any:
    return SimpleNamespace(
        name=name,
        feedback=SimpleNamespace(value=value, error=error),
        source=SimpleNamespace(source_type=source),
        metadata={},
        last_update_time_ms=1,
        valid=True,
    )


def test_feedback_of_traces_is_graded() -> None:
    from evalreport.tracking.runs import read_traces
    from evalreport.workflow.collect import collect_table
    from evalreport.workflow.evaluate import evaluate_collected
    from evalreport.workflow.request import Request
    from tests.tracking.test_traces import RUN

    made = []
    for number in range(60):
        judge = feedback("yes" if number % 3 else "no") if number else feedback(None, error="timeout")
        human = [feedback("yes" if number % 4 else "no", "HUMAN")] if 0 < number < 30 else []
        made.append(trace(judge, *human, number=number, response=f'"response {number}"'))
    table = read_traces(Store(Traces(*made, page=100), "http://h"), RUN)
    ev = evaluate_collected(collect_table(table, Request()), Request())
    assert isinstance(ev, GradedEvaluation)
    assert (ev.items, ev.no_grade, rate(ev)) == (60, 1, 40 / 60)
    assert ev.judge is not None
    assert (ev.judge.n_judge, ev.judge.n_human) == (60, 29)


def test_grades_of_people_for_every_item_are_no_labels() -> None:
    from evalreport.tracking.runs import read_traces
    from evalreport.workflow.collect import collect_table
    from evalreport.workflow.request import Request
    from tests.tracking.test_traces import RUN

    made = []
    for number in range(60):
        judge, human = (
            feedback("yes" if number % step else "no", *who) for step, who in ((3, ()), (4, ("HUMAN",)))
        )
        made.append(trace(judge, human, number=number, response=f'"response {number}"'))
    table = read_traces(Store(Traces(*made, page=100), "http://h"), RUN)
    collected = collect_table(table, Request())
    assert dict(collected.taken)["task"] == "graded"
    assert dict(collected.taken)["human"] == "correctness (human)"


def test_a_run_with_graded_samples_is_logged(
    sqlite_store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = lm_eval(tmp_path / "samples_gsm8k.jsonl", grades_of("a"))
    run_id = make_run(sqlite_store, {path.name: path.read_bytes()}).run_id
    done = run(capsys, "log", "--run-id", run_id, "--tracking-uri", sqlite_store.uri)
    assert done.code == 0, done.err
    logged = sqlite_store.client.get_run(run_id).data
    assert logged.metrics["eval/pass_rate"] == pytest.approx(140 / 220)
    assert logged.tags["evalreport.verdict"] == "Passes 140 of 220 items (64%)."
    again = run(capsys, "log", "--run-id", run_id, "--tracking-uri", sqlite_store.uri)
    assert again.code == 0 and "unchanged" in again.out

"""Traces of a real `mlflow.genai.evaluate`, and of servers that hold anything."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from evalreport.columns.column_request import Columns
from evalreport.columns.find_columns import find
from evalreport.core.errors import DataError, EvalreportError, UsageError
from evalreport.tracking.client import Store, connect
from evalreport.tracking.find_predictions import RunRequest, read_run
from evalreport.tracking.runs import RunInfo, find_run, read_traces
from tests.tracking import empty_store, fluent

QUESTIONS = ["win a prize", "see you at six", "free entry", "call me", "ok"]
TRUTH = ["spam", "ham", "spam", "ham", "ham"]
ANSWERS = ["spam", "ham", "Label: ham", "ham", "spam"]


def expected_label(**_: Any) -> bool:
    return True


@pytest.fixture(scope="module", params=["sqlite", pytest.param("http", marks=pytest.mark.server)])
def evaluated(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Store, str, str]:
    """A store with two evaluations of the same questions: given answers, and a program's own (dicts)."""
    if request.param == "http":
        store = connect(request.getfixturevalue("mlflow_server").uri)
    else:
        template: Path = request.getfixturevalue("template_database")
        store = empty_store(template, tmp_path_factory.mktemp("genai"))

    def program(q: str) -> dict[str, str]:
        if q == "ok":
            raise RuntimeError("no answer")
        return {"label": ANSWERS[QUESTIONS.index(q)]}

    with fluent(store) as mlflow:
        mlflow.set_experiment("genai")
        scorer = mlflow.genai.scorer(expected_label)
        rows = [
            {"inputs": {"q": q}, "expectations": {"label": t}} for q, t in zip(QUESTIONS, TRUTH, strict=True)
        ]
        given = [{**row, "outputs": answer} for row, answer in zip(rows, ANSWERS, strict=True)]
        first = mlflow.genai.evaluate(data=given, scorers=[scorer]).run_id
        second = mlflow.genai.evaluate(data=rows, predict_fn=program, scorers=[scorer]).run_id
    return store, first, second


def by_id(store: Store, run_id: str) -> dict[str, tuple[str, str]]:
    table = read_run(store, find_run(store, run_id)).table
    rows = zip(*(table.columns[name] for name in ("example_id", "generation", "label")), strict=True)
    return {example: (answer, truth) for example, answer, truth in rows}


def test_answers_and_expectations_become_a_table(evaluated: tuple[Store, str, str]) -> None:
    store, run_id, _ = evaluated
    found = read_run(store, find_run(store, run_id))
    assert found.taken == "5 traces, answers against expectation label"
    assert found.columns == Columns(truth="label", text="generation")
    parts = find(found.table, found.columns)
    assert parts.text is not None
    assert sorted(zip(parts.y_true, parts.text, strict=True)) == sorted(zip(TRUTH, ANSWERS, strict=True))


def test_a_program_that_answers_dicts_or_fails(evaluated: tuple[Store, str, str]) -> None:
    store, _, run_id = evaluated
    answers = sorted(by_id(store, run_id).values())
    expected = [json.dumps({"label": answer}) for answer in ANSWERS[:4]] + [""]
    assert answers == sorted(zip(expected, TRUTH, strict=True))


def test_ids_pair_two_evaluations_of_the_same_data(evaluated: tuple[Store, str, str]) -> None:
    store, first, second = evaluated
    a, b = by_id(store, first), by_id(store, second)
    assert a.keys() == b.keys()
    assert all(a[example][1] == b[example][1] for example in a)


def test_what_was_asked_for_wins(evaluated: tuple[Store, str, str]) -> None:
    store, run_id, _ = evaluated
    run = find_run(store, run_id)
    request = RunRequest(columns=Columns(truth="other", pred="generation"))
    assert read_run(store, run, request).columns == request.columns
    elsewhere = read_run(store, run, RunRequest(label_file=True))
    assert elsewhere.columns == Columns(text="generation")


def test_reading_twice_gives_the_same_digest(evaluated: tuple[Store, str, str]) -> None:
    store, run_id, second = evaluated
    run = find_run(store, run_id)
    assert read_traces(store, run).sha256 == read_traces(store, run).sha256
    assert read_traces(store, run).sha256 != read_traces(store, find_run(store, second)).sha256


RUN = RunInfo(
    "f" * 32,
    "r",
    "1",
    "e",
    "FINISHED",
    artifact_uri="mlflow-artifacts:/1/f/artifacts",
    tags={"mlflow.runType": "genai_evaluate"},
)


def expectation(
    value: Any, name: str = "label", *, run: str = RUN.run_id, at: int = 1, valid: bool = True
) -> Any:
    return SimpleNamespace(
        name=name,
        expectation=SimpleNamespace(value=value),
        metadata={"mlflow.assessment.sourceRunId": run},
        last_update_time_ms=at,
        valid=valid,
    )


def trace(
    *assessments: Any, response: str | None = '"a"', request: str | None = None, number: int = 0
) -> Any:
    info = SimpleNamespace(assessments=list(assessments), client_request_id=None, trace_id=f"tr-{number}")
    return SimpleNamespace(info=info, data=SimpleNamespace(response=response, request=request))


class Traces:
    """A server with these traces, given out page by page."""

    def __init__(self, *traces: Any, page: int = 2) -> None:
        self.traces, self.page = traces, page

    def search_traces(self, *, page_token: str | None, **_: Any) -> Any:
        start = int(page_token or 0)
        end = start + self.page
        page = type("Page", (list,), {"token": str(end) if end < len(self.traces) else None})
        return page(self.traces[start:end])

    def list_artifacts(self, *_: Any) -> list[Any]:
        return []


def table_of(*traces: Any) -> dict[str, list[Any]]:
    table = read_traces(Store(Traces(*traces), "http://h"), RUN)
    return {name: column.tolist() for name, column in table.columns.items()}


def test_of_several_expectations_this_run_and_then_the_latest_count() -> None:
    other = expectation("theirs", run="e" * 32, at=9)
    assert table_of(trace(expectation("old", at=1), other, expectation("new", at=2)))["label"] == ["new"]
    assert table_of(trace(expectation("new", at=2), expectation("old", at=1), other))["label"] == ["new"]
    assert table_of(trace(other))["label"] == ["theirs"]
    assert table_of(trace(expectation("gone", at=9, valid=False), expectation("kept")))["label"] == ["kept"]


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ('"a"', "a"),
        ('{"label": "a"}', '{"label": "a"}'),
        ("not json", "not json"),
        ("null", ""),
        ("", ""),
        (None, ""),
    ],
)
def test_answers_are_text(response: str | None, answer: str) -> None:
    assert table_of(trace(expectation("a"), response=response))["generation"] == [answer]


def test_pages_are_read_to_the_end_and_equal_inputs_keep_their_trace_ids() -> None:
    rows = [trace(expectation("a"), request="same", number=i) for i in range(5)]
    assert table_of(*rows)["example_id"] == [f"tr-{i}" for i in range(5)]
    apart = [trace(expectation("a"), request=f"q{i}", number=i) for i in range(5)]
    assert len(set(table_of(*apart)["example_id"])) == 5


def test_two_evaluations_of_the_same_examples_are_distinguished_from_twice_as_many() -> None:
    """The same input has the same id, of which `--set group` and `--repeats` make one case."""
    twice = [trace(expectation("a"), request=f"q{i % 5}", number=i) for i in range(10)]
    ids = table_of(*twice)["example_id"]
    assert ids[:5] == ids[5:] and len(set(ids)) == 5


def test_a_trace_without_expectation_leaves_a_gap() -> None:
    assert table_of(trace(expectation("a")), trace())["label"] == ["a", None]


@pytest.mark.parametrize("traces", [(), (trace(),)], ids=["no trace", "no expectation"])
def test_nothing_to_compare_with_is_exit_5(traces: tuple[Any, ...]) -> None:
    with pytest.raises(DataError, match=r"no expectation") as caught:
        read_run(Store(Traces(*traces), "http://h"), RUN)
    assert "run ffffffff" in caught.value.where


def test_several_expectations_ask_for_one() -> None:
    store = Store(Traces(trace(expectation("a"), expectation("b", "tone"))), "http://h")
    with pytest.raises(UsageError, match=r"2 expectations: label, tone") as caught:
        read_run(store, RUN)
    assert "--truth label" in caught.value.fix
    assert read_run(store, RUN, RunRequest(columns=Columns(truth="tone"))).columns.truth == "tone"


def test_a_server_without_traces_is_one_of_our_errors() -> None:
    with pytest.raises(EvalreportError) as caught:
        read_traces(connect("http://127.0.0.1:9"), RUN)
    assert caught.value.exit_code == 4

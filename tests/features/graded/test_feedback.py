"""Feedback on traces of a real MLflow store: grades of a judge, of people, and failed judges."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from evalreport.tracking.client import Store
from tests.cli.running import run
from tests.tracking import empty_store, fluent

ITEMS = 40
JUDGE = [place % 3 > 0 for place in range(ITEMS)]
PEOPLE = {place: place % 4 > 0 for place in range(0, ITEMS, 2)}
FAILED = 5


@pytest.fixture(scope="module")
def feedback(
    template_database: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Store, str]]:
    """A run with traces that a judge graded, and people every second one."""
    store = empty_store(template_database, tmp_path_factory.mktemp("feedback"))
    with fluent(store) as mlflow:
        from mlflow.entities import AssessmentError, AssessmentSource

        judge = AssessmentSource(source_type="LLM_JUDGE", source_id="judge-model")
        person = AssessmentSource(source_type="HUMAN", source_id="reviewer")
        mlflow.set_experiment("assistant")
        with mlflow.start_run() as made:
            traces = []
            for place in range(ITEMS):
                with mlflow.start_span(f"request {place}") as span:
                    span.set_inputs({"question": f"question {place}"})
                    span.set_outputs(f"a long response to question {place}")
                traces.append(span.trace_id)
        mlflow.flush_trace_async_logging()
        for place, trace in enumerate(traces):
            if place == FAILED:
                error = AssessmentError(error_code="TIMEOUT", error_message="the judge did not respond")
                mlflow.log_feedback(trace_id=trace, name="correctness", error=error, source=judge)
            else:
                value = "yes" if JUDGE[place] else "no"
                mlflow.log_feedback(trace_id=trace, name="correctness", value=value, source=judge)
            if place in PEOPLE:
                mlflow.log_feedback(trace_id=trace, name="correctness", value=PEOPLE[place], source=person)
        yield store, made.info.run_id


def test_feedback_of_a_real_store_is_graded(
    feedback: tuple[Store, str], capsys: pytest.CaptureFixture[str]
) -> None:
    store, run_id = feedback
    done = run(capsys, "report", "--run-id", run_id, "--tracking-uri", store.uri, "--json")
    assert done.code == 0, done.err
    found = done.json["runs"][0]
    passed = sum(one for place, one in enumerate(JUDGE) if place != FAILED)
    assert (found["task"], found["n"]) == ("graded", ITEMS)
    assert found["metrics"]["pass_rate"]["value"] == pytest.approx(passed / ITEMS)
    assert found["metrics"]["no_grade_rate"]["value"] == pytest.approx(1 / ITEMS)
    agree = sum(one == JUDGE[place] for place, one in PEOPLE.items())
    assert found["judge"]["n_human"] == len(PEOPLE)
    assert found["judge"]["agreement"]["value"] == pytest.approx(agree / len(PEOPLE))


def test_feedback_is_logged_and_gated(
    feedback: tuple[Store, str], capsys: pytest.CaptureFixture[str]
) -> None:
    store, run_id = feedback
    done = run(capsys, "log", "--run-id", run_id, "--tracking-uri", store.uri)
    assert done.code == 0, done.err
    metrics = store.client.get_run(run_id).data.metrics
    assert 0 < metrics["eval/judge/corrected"] < 1 and 0 < metrics["eval/judge/agreement"] < 1
    asked = ("--run-id", run_id, "--tracking-uri", store.uri, "--require", "pass_rate >= 0.2")
    assert run(capsys, "check", *asked).code == 0

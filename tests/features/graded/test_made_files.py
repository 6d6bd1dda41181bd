"""Files that the evaluation tools wrote themselves; `made/README.md` has the commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import evalreport as er
from evalreport.core.errors import DataError, EvalreportError
from evalreport.core.result import Estimate
from evalreport.features.graded.evaluation import GradedEvaluation
from tests.cli.running import run

MADE = Path(__file__).parent / "made"


def read(name: str, **named: Any) -> GradedEvaluation:
    ev = er.evaluate_file(str(MADE / name), **named)
    assert isinstance(ev, GradedEvaluation)
    return ev


def rate(ev: GradedEvaluation, name: str = "pass_rate") -> float:
    found = ev[name]
    assert isinstance(found, Estimate)
    return found.value


def test_a_log_of_inspect_has_the_rates_of_its_own_samples() -> None:
    log = json.loads((MADE / "inspect.json").read_text(encoding="utf-8"))
    values = [one.get("scores", {}).get("includes", {}).get("value") for one in log["samples"]]
    assert (len(values), values.count(None)) == (16, 2)
    for name in ("inspect.eval", "inspect.json"):
        ev = read(name)
        assert (ev.items, ev.rows, ev.no_grade) == (8, 16, 2)
        assert rate(ev) == pytest.approx(values.count("C") / 16)
        assert rate(ev, "pass_rate_graded") == pytest.approx(values.count("C") / 14)
    (own,) = log["results"]["scores"]
    assert own["metrics"]["accuracy"]["value"] == pytest.approx(rate(ev, "pass_rate_graded"))


def test_names_of_people_are_not_labels() -> None:
    """Each target occurs in one item only: read as labels, the log would have 8 classes and 16 rows."""
    ev = read("inspect.eval")
    assert ev.task == "graded" and ev.repeats is not None


def test_two_scorers_of_inspect_are_two_evaluations() -> None:
    with pytest.raises(DataError, match="2 grades for each item: includes, match"):
        er.evaluate_file(str(MADE / "inspect_two_scorers.eval"))
    assert rate(read("inspect_two_scorers.eval", grade="includes")) == 6 / 8
    assert rate(read("inspect_two_scorers.eval", grade="match")) == 0


def test_a_log_whose_samples_all_failed_has_no_pass_rate() -> None:
    with pytest.raises(DataError, match="all 3 samples ended in an error") as caught:
        er.evaluate_file(str(MADE / "inspect_all_failed.eval"))
    assert "the tool did not respond" in caught.value.fix
    assert str(MADE / "inspect_all_failed.eval") in caught.value.where


def test_samples_of_lm_eval_have_the_rates_of_its_table() -> None:
    """lm-eval itself printed acc 0.30 and 0.20, and exact_match 0.35 of the filter `flexible`."""
    assert rate(read("samples_choice.jsonl", grade="acc")) == pytest.approx(0.3)
    assert rate(read("samples_choice_seed_7.jsonl", grade="acc")) == pytest.approx(0.2)
    flexible = read("samples_sums.jsonl", grade="exact_match", where="filter=flexible")
    assert flexible.items == 20
    assert rate(flexible) == pytest.approx(0.35)


def test_a_choice_of_labels_has_the_same_accuracy_as_its_grade() -> None:
    ev = er.evaluate_file(str(MADE / "samples_choice.jsonl"))
    assert ev.task == "multiclass"
    found = ev["accuracy"]
    assert isinstance(found, Estimate) and found.value == pytest.approx(0.3)


def test_two_filters_of_lm_eval_are_two_evaluations() -> None:
    with pytest.raises(EvalreportError, match="2 evaluations") as caught:
        er.evaluate_file(str(MADE / "samples_sums.jsonl"))
    assert "filter=" in caught.value.fix


def test_two_runs_of_lm_eval_are_compared_by_item(capsys: pytest.CaptureFixture[str]) -> None:
    paths = [str(MADE / name) for name in ("samples_choice.jsonl", "samples_choice_seed_7.jsonl")]
    found = run(capsys, "compare", *paths, "--grade", "acc", "--json").json["comparison"]
    grades = [
        {line["doc_id"]: line["acc"] for line in map(json.loads, Path(path).read_text().splitlines())}
        for path in paths
    ]
    fixed = sum(grades[1][item] > grades[0][item] for item in grades[0])
    broken = sum(grades[1][item] < grades[0][item] for item in grades[0])
    assert (found["movement"]["fixed"], found["movement"]["broken"]) == (fixed, broken)
    assert found["pairing"]["n_shared"] == 20


@pytest.mark.parametrize(
    ("rule", "code", "outcome"),
    [
        ("pass_rate >= 0.2", 0, "passed"),
        ("pass_rate >= 0.95", 1, "failed"),
        ("pass_rate >= 0.5", 1, "inconclusive"),
    ],
)
def test_a_log_of_inspect_is_checked(
    rule: str, code: int, outcome: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """9 of 16 attempts at 8 items pass, with an interval of 0.29 to 0.80."""
    done = run(capsys, "check", str(MADE / "inspect.eval"), "--require", rule, "--json")
    assert done.code == code
    assert [one["outcome"] for one in done.json["checks"] if one["kind"] == "rule"] == [outcome]


def test_lines_of_promptfoo_have_its_successes() -> None:
    """promptfoo itself printed 3 successes and 3 failures; a grader that throws is a failure for it."""
    ev = read("promptfoo.jsonl", measures="latencyMs")
    assert (ev.items, rate(ev), ev.no_grade) == (6, 0.5, 0)
    mean = ev.measures["latencyMs"]["mean"]
    lines = (MADE / "promptfoo.jsonl").read_text(encoding="utf-8").splitlines()
    assert isinstance(mean, Estimate)
    assert mean.value == pytest.approx(sum(json.loads(line)["latencyMs"] for line in lines) / 6)

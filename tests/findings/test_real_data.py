"""What is said of the shipped data: predictions of really trained models, and answers rendered as text."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from evalreport.columns.column_request import Columns
from evalreport.columns.find_columns import find_in_files, to_predictions
from evalreport.data.predictions import predictions
from evalreport.evaluation.evaluation import Evaluation
from evalreport.features.text_labels.parser import make_parser, parse_all
from evalreport.findings.ordered_rules import find
from evalreport.intervals.interval_settings import Sampling
from evalreport.workflow.collect import collect_file
from evalreport.workflow.evaluate import evaluate_collected
from evalreport.workflow.request import Request
from tests.findings.light import light

DATA = Path(__file__).parents[2] / "examples" / "data"
BANKING = DATA / "banking77"


@cache
def evaluation(file: str, unit: tuple[str, str] = ("message", "messages"), **columns: Any) -> Evaluation:
    request = Request(columns=Columns(**columns), unit=unit, sampling=Sampling(resamples=200))
    return evaluate_collected(collect_file(DATA / file, request), request)


def claims(ev: Evaluation) -> dict[str, str]:
    return {finding.rule: finding.claim for finding in ev.findings}


def test_the_collapsed_model() -> None:
    ev = evaluation("banking77/pred_collapsed6.parquet")
    first = ev.findings[0]
    assert first.severity == "error"
    assert first.claim == (
        "71 of 77 classes are never predicted: every prediction is “card_payment_fee_charged”, "
        "“balance_not_updated_after_cheque_or_cash_deposit”, “direct_debit_payment_not_recognised”, "
        "“wrong_amount_of_cash_received”, “cash_withdrawal_charge” or “transaction_charged_twice”. "
        "Their 2,840 messages are wrong."
    )
    assert first.evidence["n_never_predicted"] == 71
    alone = "“card_payment_fee_charged” alone is predicted 1,040 times for 40 examples."
    assert alone in claims(ev)["overpredicted_labels"]
    assert claims(ev)["miscalibrated"].startswith("The confidence is too high: ")


def test_the_sound_model_of_the_same_messages() -> None:
    found = evaluation("banking77/pred_tfidf_lr.parquet").findings
    assert [(finding.rule, finding.severity) for finding in found] == [
        ("families", "caution"),
        ("miscalibrated", "caution"),
    ]


def test_answers_of_a_language_model() -> None:
    labels = tuple(json.loads((BANKING / "labels.json").read_text(encoding="utf-8")))
    ev = evaluation("banking77/llm_generations.jsonl", labels=labels)
    said = claims(ev)
    assert next(iter(said)) == "parse_failures"
    assert said["parse_failures"].startswith("212 of 3,080 responses (6.88%) could not be parsed: ")
    assert said["parse_failures"].endswith("accuracy is 83.9%, and 90.1% among the parsed responses.")
    assert "format_drift" in said
    assert not {"never_predicted", "overpredicted_labels", "no_skill"} & set(said)


def test_collapse_reported_in_text() -> None:
    """The collapsed model's labels, answered as text: nothing is unreadable, and still it is told."""
    rows = evaluation("banking77/pred_collapsed6.parquet").predictions
    assert rows is not None
    assert rows.y_pred is not None
    names = rows.space.names
    answers = [f"Intent: {names[code]}." for code in rows.y_pred.tolist()]
    parsed = parse_all(answers, make_parser("auto", names))
    found = find(light(predictions(rows.space, [names[code] for code in rows.y_true], parsed)))
    assert parsed.report.n_unparsed == 0
    assert found[0].claim.startswith("71 of 77 labels are never predicted: every prediction is ")


@pytest.mark.parametrize(
    ("score", "reported", "unreported"),
    [
        ("score_lr", {"imbalance", "miscalibrated"}, {"default_threshold", "no_skill"}),
        ("score_nb", {"imbalance", "miscalibrated", "default_threshold"}, {"no_skill", "too_perfect"}),
    ],
)
def test_spam(score: str, reported: set[str], unreported: set[str]) -> None:
    said = claims(evaluation("sms_spam/oof_scores.parquet", score=score))
    assert reported <= set(said)
    assert not unreported & set(said)


def test_balanced_class_weights_spoil_the_probabilities() -> None:
    ev = evaluation("ai4i_failure/oof_scores.parquet", ("machine", "machines"), score="score_lr_balanced")
    said = claims(ev)
    assert said["miscalibrated"] == (
        "The probabilities are too high: of 10,000 machines, 2,686 are expected to be “1”, and 339 are."
    )
    assert said["imbalance"].endswith("the model, at 82.10%, is 14.51 points worse (13.68 to 15.34).")


def test_emotions() -> None:
    folder = DATA / "goemotions"
    rows = find_in_files(folder / "pred_test_ovr_lr_proba.parquet", truth=folder / "y_true_test.parquet")
    said = {finding.rule: finding.claim for finding in find(light(to_predictions(rows)))}
    assert (
        said["never_predicted"] == "1 of 28 labels is never predicted: “grief”. Its 6 occurrences are missed."
    )
    assert said["empty_predictions"].startswith("2,419 of 5,427 cases (44.6%) get no predicted label, ")
    assert {"two_accuracies", "one_threshold", "micro_macro_gap"} <= set(said)

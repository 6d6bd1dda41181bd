"""No rule speaks of a clean, calibrated, balanced evaluation: under one in a hundred, for each rule and task.

Five hundred rows keep `few_events` (fewer than 100 examples) and `small_classes` (fewer than 20) quiet; on
smaller samples these two state what is so, and so does `other_threshold` of decisions that were taken
elsewhere.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable

import pytest

from evalreport.data.predictions import Predictions
from evalreport.evaluation.evaluate import evaluate_predictions
from evalreport.findings.ordered_rules import find
from tests import factories
from tests.findings import faults
from tests.findings.light import FEW, light
from tests.findings.wild import wild

EACH = 1000 if "FUZZ_EXAMPLES" in os.environ else 51
"""Evaluations of each kind, of which none is an alarm; `make fuzz` looks at a thousand."""
ROWS = 500
CLEAN: dict[str, Callable[[int], Predictions]] = {
    "binary": lambda seed: factories.binary(ROWS, prevalence=0.5, seed=seed),
    "four classes": lambda seed: factories.multiclass(ROWS, 4, seed=seed),
    "ten classes": lambda seed: factories.multiclass(ROWS, 10, seed=seed),
    "five labels": lambda seed: factories.multilabel(ROWS, 5, seed=seed),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", CLEAN)
def test_false_alarms_are_rarer_than_one_in_a_hundred(kind: str) -> None:
    findings = Counter(finding.rule for seed in range(EACH) for finding in find(light(CLEAN[kind](seed))))
    assert all(count < EACH / 100 for count in findings.values()), findings


SIMILAR: dict[str, Callable[[], Predictions]] = {
    "bent probabilities": lambda: faults.mail(1500, bend=lambda logit: logit - 2),
    "rare positives": lambda: faults.mail(1500, share=0.03),
    "families": lambda: faults.intent_rows(faults.relate),
    "abandoned": lambda: faults.intent_rows(faults.abandon),
    "few labels set": lambda: faults.tag_rows(bend=lambda logit: logit - 2),
    "weighted": lambda: wild(4),
    "text": lambda: wild(7),
}


@pytest.mark.parametrize("kind", SIMILAR)
def test_the_light_evaluation_finds_what_the_whole_one_finds(kind: str) -> None:
    found = find(light(SIMILAR[kind]()))
    assert found
    whole = find(evaluate_predictions(SIMILAR[kind](), FEW))  # its claims have decimals of intervals
    assert [(f.rule, f.severity, [*f.evidence]) for f in found] == [
        (f.rule, f.severity, [*f.evidence]) for f in whole
    ]

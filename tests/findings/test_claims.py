"""No claim states a number that its evidence and the JSON of the evaluation do not hold."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from evalreport.core.format import count, format_decimals, format_fixed, number, percent, ratio, threshold
from evalreport.core.json_codec import encode
from evalreport.core.result import Estimate, Finding
from evalreport.data.labels import Binary, Multiclass
from evalreport.data.predictions import predictions
from evalreport.evaluation.evaluate import evaluate_predictions
from evalreport.evaluation.evaluation import Evaluation
from evalreport.findings.ordered_rules import find
from evalreport.metrics.catalogue import find as metric
from evalreport.page.contents import sections
from tests.findings.faults import PLANTED, UNIT
from tests.findings.light import FEW, light
from tests.findings.wild import wild

SEEDS = range(800 if "FUZZ_EXAMPLES" in os.environ else 80)
QUOTED = re.compile("“[^”]*”")
UNCOUNTED = re.compile("“[^”]*”|F1")
"""Names of the data, and the only name of a metric that has a digit."""
NUMBER = re.compile(r"[−<>]?\d{1,3}(?:,\d{3})*(?:\.\d+)?%?")
LONGEST = 340
"""Characters of a claim; only the list of labels that absorb all others makes one that long."""


@cache
def generated() -> tuple[Evaluation, ...]:
    """Evaluations of many kinds, each with its findings."""
    made = [light(wild(seed)) for seed in SEEDS] + [planted.fault() for planted in PLANTED.values()]
    named = [ev.with_provenance(replace(ev.provenance, unit=UNIT)) for ev in made]
    return tuple(replace(ev, findings=find(ev)) for ev in named)


def claims() -> Iterator[tuple[Evaluation, Finding]]:
    return ((ev, finding) for ev in generated() for finding in ev.findings)


def values(evidence: Any) -> Iterator[float]:
    """Every number of the evidence, and how many names of a list a claim may leave out."""
    match evidence:
        case bool() | None | str():
            return
        case int() | float():
            yield evidence
        case dict():
            for value in evidence.values():
                yield from values(value)
        case list() | tuple():
            yield from (len(evidence) - shown for shown in range(len(evidence)))
            for value in evidence:
                yield from values(value)


def shown(value: float, rows: int) -> set[str]:
    """Every way in which a claim may show a number."""
    forms = {count(value), ratio(value), number(value), threshold(value)}
    forms |= {format_fixed(value, digits) for digits in range(3)}
    forms |= {percent(value), percent(value, rows), format_fixed(100 * abs(value), 0)}
    forms |= {
        format_decimals(value, places, style)
        for places in range(6)
        for style in ("percent", "ratio", "number")
    }
    forms |= {format_fixed(100 * value, digits) for digits in range(6)}  # points
    return forms


@pytest.mark.slow
def test_many_rules_are_tried() -> None:
    assert len({finding.rule for _, finding in claims()}) == len(PLANTED)


def test_every_number_of_a_claim_is_in_its_evidence() -> None:
    for ev, finding in claims():
        if finding.rule == "data_notes":
            continue
        known = {form for value in values(dict(finding.evidence)) for form in shown(value, ev.rows)}
        stated = NUMBER.findall(UNCOUNTED.sub("", finding.claim))
        missing = [token for token in stated if token.lstrip("±") not in known]
        assert not missing, (finding, missing)


def test_evidence_named_as_a_metric_is_that_metric() -> None:
    compared = 0
    for ev, finding in claims():
        for name, value in finding.evidence.items():
            result = ev.metrics.get(name)
            if isinstance(result, Estimate) and isinstance(value, float):
                assert value == pytest.approx(result.value, abs=1e-12), (finding, name)
                compared += 1
    assert compared > 200


def test_a_metric_has_two_digits_of_the_half_width_of_its_interval() -> None:
    """By hand: the decimal at which half the interval's width has its second digit."""
    reported = 0
    for ev, finding in claims():
        for name, value in finding.evidence.items():
            result = ev.metrics.get(name)
            if not isinstance(result, Estimate) or result.low is None or result.high in (None, result.low):
                continue
            if result.high - result.low < 1e-9:  # no width but that of rounding
                continue
            scale = 100 if metric(name, ev.task).style == "percent" else 1
            half = scale * (result.high - result.low) / 2
            places = max(0, 1 - math.floor(math.log10(float(f"{half:.1e}"))))
            exact = scale * result.value in (0, scale)
            digits = 0 if exact else places
            expected = {  # either way where it stands in the middle
                f"{scale * result.value + slack:,.{digits}f}".replace("-", "−") for slack in (-1e-9, 1e-9)
            }
            coarse = {
                percent(value),
                percent(value, ev.rows),
                ratio(value),
                format_fixed(value, 2),
                format_fixed(value, 1),
            }
            tokens = {token.rstrip("%") for token in NUMBER.findall(UNCOUNTED.sub("", finding.claim))}
            if expected & tokens:
                reported += 1
            else:
                assert not tokens & {form.rstrip("%") for form in coarse}, (finding, name, expected)
    assert reported > 60


def test_counts_are_those_of_the_evaluation() -> None:
    for ev, finding in claims():
        evidence, total = finding.evidence, max(ev.weight, ev.rows) * len(ev.space)
        assert all(value <= total * (1 + 1e-9) for value in values(dict(evidence)) if value > 1000), finding
        if finding.rule == "absent_classes" and ev.classes:
            absent = [c.label for c in ev.classes if c.state in ("absent", "spurious")]
            assert evidence["labels"] == absent
        if finding.rule == "never_predicted" and ev.classes:
            silent = {c.label for c in ev.classes if c.state == "never_predicted"}
            assert set(evidence["labels"]) <= silent


def test_findings_survive_json() -> None:
    for ev in generated():
        plain = [encode(finding) for finding in ev.findings]
        assert json.loads(json.dumps(plain, allow_nan=False)) == plain


def test_claims_are_plain_sentences() -> None:
    for _, finding in claims():
        said = finding.claim
        outside = QUOTED.sub("“x”", said)
        assert said.endswith(("”.", ".")) or finding.rule == "data_notes", said
        assert outside[0].isupper() or outside[0] in "“0123456789" or finding.rule == "data_notes", said
        assert len(said) <= LONGEST, (len(said), said)
        assert not re.search(r"[{}!]|  |\bnan\b|None|\binf", outside), said
        assert not re.search(
            r"(?<![\d,.])1 (messages|classes|labels|examples|occurrences|times|predictions)\b", outside
        ), said
        assert len(finding.action) <= 160
        assert finding.action.endswith(".") or finding.rule == "data_notes"


def test_most_claims_are_short() -> None:
    lengths = [len(finding.claim) for _, finding in claims()]
    assert np.quantile(lengths, 0.95) <= 240


HOSTILE = ("{n}", "a\nb", "“x”", "<b>bold</b>", "\x1b[31mred", "\u202eright", "x" * 500, "")


def test_hostile_labels_are_quoted_in_one_line() -> None:
    truth = [label for label in HOSTILE[:-1] for _ in range(30)]
    answers = [HOSTILE[0]] * len(truth)
    found = find(evaluate_predictions(predictions(Multiclass(HOSTILE[:-1]), truth, answers), FEW))
    assert found
    for finding in found:
        assert finding.claim.isprintable(), finding.claim
        assert len(finding.claim) < 800
        assert finding.action.isprintable()


def test_a_hostile_label_stays_out_of_the_command() -> None:
    space = Binary("a\n--force", "b")
    truth = ["a\n--force", "b"] * 100
    found = find(evaluate_predictions(predictions(space, truth, truth[::-1]), FEW))
    assert all(finding.action.isprintable() for finding in found)


def test_findings_lead_to_sections_of_the_page() -> None:
    for ev in generated():
        shown = {section.id for section in sections(ev)}
        lost = [(finding.rule, finding.section) for finding in ev.findings if finding.section not in shown]
        assert not lost, (ev.task, lost)


def test_errors_come_first_and_the_order_is_stable() -> None:
    order = {"error": 0, "caution": 1, "note": 2}
    for ev in generated():
        severities = [order[finding.severity] for finding in ev.findings]
        assert severities == sorted(severities)
        assert find(ev) == ev.findings
        assert len({finding.rule for finding in ev.findings}) == len(ev.findings)

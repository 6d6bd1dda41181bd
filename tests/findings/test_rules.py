"""Each rule fires on its planted fault, keeps quiet without it, and stands in the catalogue once."""

from __future__ import annotations

import pytest

from evalreport.findings.ordered_rules import SEVERITIES, SUPPRESSED_BY, find, rules
from tests.findings.faults import PLANTED

BY_NAME = {rule.__name__: rule for rule in rules()}


def test_every_rule_has_a_planted_fault() -> None:
    assert list(BY_NAME) == [rule.__name__ for rule in rules()]
    assert set(BY_NAME) == set(PLANTED)


@pytest.mark.parametrize("name", PLANTED)
def test_fires_on_its_fault(name: str) -> None:
    found = BY_NAME[name](PLANTED[name].fault())
    assert found is not None
    assert found.rule == name
    assert found.severity in SEVERITIES
    assert name in {finding.rule for finding in find(PLANTED[name].fault())}


@pytest.mark.parametrize("name", PLANTED)
def test_is_quiet_without_it(name: str) -> None:
    assert BY_NAME[name](PLANTED[name].sound()) is None


def test_what_is_left_out_names_rules() -> None:
    assert set(SUPPRESSED_BY) <= set(BY_NAME)
    assert {cause for causes in SUPPRESSED_BY.values() for cause in causes} <= set(BY_NAME)

"""JUnit and Markdown: valid, complete, and safe with any name."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from evalreport.core.errors import DataError
from evalreport.core.json_codec import decode, encode
from evalreport.features.gate.documents import CheckedRun, as_dicts, junit, markdown
from evalreport.features.gate.rules import CheckResult

NASTY = "a\"<b>&'|`@team #12 ]]>\x1b[31m\x00\ufffe\u202e\nhttps://example.org ![x](y)"
RESULTS = (
    CheckResult("recall >= 0.9", "passed", "0.95"),
    CheckResult("ece <= 0.06", "failed", "0.083", "estimate 0.07"),
    CheckResult("f1 drops by at most 0.01", "inconclusive", "difference 0.000", "neither"),
)


def parsed(text: str) -> ET.Element:
    assert "<!" not in text  # no document type, so no entity that could expand
    return ET.fromstring(text)  # noqa: S314


def test_every_check_is_one_case_and_the_counts_agree() -> None:
    broken = CheckedRun("gone.csv", error=DataError("no rows", where="gone.csv", fix="write some"))
    root = parsed(junit([CheckedRun("calm", RESULTS), broken]))
    assert root.attrib == {
        "name": "evalreport check",
        "tests": "4",
        "failures": "2",
        "errors": "1",
        "skipped": "0",
    }
    cases = {case.get("name"): [child.tag for child in case] for case in root.iter("testcase")}
    assert cases == {
        "recall >= 0.9": ["system-out"],
        "ece <= 0.06": ["failure"],
        "f1 drops by at most 0.01": ["failure"],
        "can be evaluated": ["error"],
    }
    error = root.find(".//error")
    assert error is not None
    assert error.get("message") == "error: no rows"
    assert "fix  write some" in (error.text or "")


def test_what_was_undecided_is_skipped_where_it_does_not_close_the_gate() -> None:
    root = parsed(junit([CheckedRun("calm", RESULTS)], inconclusive_fails=False))
    assert (root.get("failures"), root.get("skipped")) == ("1", "1")
    skipped = root.find(".//skipped")
    assert skipped is not None
    assert skipped.get("message") == "inconclusive: difference 0.000; neither"


def test_any_name_makes_valid_xml() -> None:
    root = parsed(junit([CheckedRun(NASTY, (CheckResult(NASTY, "failed", NASTY, NASTY),))]))
    case = root.find(".//testcase")
    assert case is not None
    name = case.get("name") or ""
    assert name.startswith("a\"<b>&'|`@team #12 ]]>")
    assert "\x1b" not in name
    assert "\\x1b" in name


def test_failures_come_first_in_the_summary() -> None:
    lines = markdown(
        [CheckedRun("calm", RESULTS, "binary, 285 cases", ("“b” is never predicted.",))]
    ).splitlines()
    assert lines[0] == "### evalreport check: 1 of 3 failed, 1 of 3 inconclusive"
    assert lines[2] == "**calm** · binary, 285 cases"
    assert lines[6] == "| ✗ failed | ece <= 0.06 | 0.083<br>estimate 0.07 |"
    assert lines[7].startswith("| ? inconclusive |")
    assert lines[8] == "| ✓ passed | recall >= 0.9 | 0.95 |"
    assert lines[-1] == "- “b” is never predicted."


def test_a_run_that_could_not_be_read_is_in_the_summary() -> None:
    text = markdown([CheckedRun("gone.csv", error=DataError("no rows", fix="write some"))])
    assert text.startswith("### evalreport check: nothing was checked, 1 could not be evaluated")
    assert "✗ error: no rows<br>fix  write some" in text


@pytest.mark.parametrize("mark", ["<b>", "@team", "![x]", " #12", "://", "|`", "\x1b", "\u202e"])
def test_a_name_cannot_leave_its_cell(mark: str) -> None:
    text = markdown([CheckedRun(NASTY, (CheckResult(NASTY, "failed", NASTY),))])
    assert mark not in text
    (row,) = [line for line in text.splitlines() if line.startswith("| ✗")]
    assert row.count("|") == 4


def test_json_elements_name_their_run() -> None:
    first, *rest = as_dicts(CheckedRun("calm", RESULTS))
    assert (first["run"], first["name"], first["outcome"]) == ("calm", "recall >= 0.9", "passed")
    assert len(rest) == 2
    for result in RESULTS:
        assert decode(CheckResult, encode(result)) == result

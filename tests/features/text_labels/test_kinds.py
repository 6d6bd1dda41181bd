"""The parsers beside `auto`: exact, json, regex, the served function; and guessing by similarity."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from evalreport.core.errors import UsageError
from evalreport.data.labels import REASONS
from evalreport.features.text_labels.parser import make_parser, parse_all
from tests.features.text_labels.answers import BANK, read_one


def test_exact_compares_letter_for_letter() -> None:
    parser = make_parser("exact", ["a", "A", "b c"])
    done = parse_all(["a", " A\n", "b c", "B c", "a.", "", None], parser)
    assert done.codes.tolist() == [0, 1, 2, -1, -1, -1, -1]
    assert [REASONS[reason] for reason in done.reasons[3:]] == [
        "unknown_label",
        "unknown_label",
        "empty",
        "empty",
    ]


JSON_CASES = (
    ('{"intent": "card_arrival"}', "card_arrival", ""),
    ('```json\n{"intent": "Card Arrival"}\n```', "card_arrival", ""),
    ("card_arrival", "", "no_label"),
    ("Intent: card_arrival", "", "no_label"),
    ('{"intent": "It is card_arrival"}', "", "no_label"),
    ('{"intent": "lost_card"}', "", "unknown_label"),
    ('{"intent": null}', "", "empty"),
    ("I cannot help with that.", "", "refusal"),
    ('{"intent": ["card_arrival", "card_linking"]}', "", "ambiguous"),
    ("[" * 100_000, "", "empty"),
)


@pytest.mark.parametrize(("text", "label", "reason"), JSON_CASES, ids=range(len(JSON_CASES)))
def test_json_reads_documents_alone(text: str, label: str, reason: str) -> None:
    assert read_one(text, make_parser("json", BANK))[:2] == (label, reason)


REGEX_CASES = (
    (r"intent=(\w+)", "x intent=card_arrival y", "card_arrival", ""),
    (r"(?i)INTENT=(?P<label>\w+);(\d)", "intent=card_arrival;1", "card_arrival", ""),
    (r"(?P<label>card_\w+)", "so: card_arrival!", "card_arrival", ""),
    (r"card_\w+", "so: card_arrival!", "card_arrival", ""),
    (r"(a|b)=(\w+)", "a=card_arrival", "", "unknown_label"),
    (r"(?:a|b)=(\w+)", "a=card_arrival", "card_arrival", ""),
    (r"intent=(\w+)", "intent=lost_card", "", "unknown_label"),
    (r"intent=(\w+)", "I cannot help with that.", "", "refusal"),
    (r"intent=(\w+)", "nothing of the kind is in here, as far as one sees", "", "no_label"),
    (r"intent=(\w*)", "intent=", "", "empty"),
    (r"[(](\w+)[)]", "(card_arrival)", "card_arrival", ""),
    (r"\((\w+)\)", "(card_arrival)", "card_arrival", ""),
    (r"\{(\w+)\}", "{card_arrival}", "card_arrival", ""),
)


@pytest.mark.parametrize(("pattern", "text", "label", "reason"), REGEX_CASES)
def test_regex_reads_what_it_captures(pattern: str, text: str, label: str, reason: str) -> None:
    assert read_one(text, make_parser(f"regex:{pattern}", BANK))[:2] == (label, reason)


@pytest.mark.parametrize(
    "pattern",
    [
        "(",
        "a)|(?:b",
        "\ud800",
        "(?P<label>a)(?P<label>b)",
        "a{2,1}",
        r"(?<=a)b",
        r"(a)\1",
        "(a{1,900}){1,900}",
        "[z-a]",
    ],
    ids=range(9),
)
def test_a_pattern_that_cannot_be_run_is_refused(pattern: str) -> None:
    with pytest.raises(UsageError, match="regex"):
        make_parser(f"regex:{pattern}", BANK)


SERVED = """
import enum
class Intent(enum.Enum):
    ARRIVAL = "card_arrival"
def parse(text):
    if "boom" in text:
        raise KeyError("no such thing")
    if "enum" in text:
        return Intent.ARRIVAL
    return {"": None, "odd": "lost_card", "list": ["card_arrival"]}.get(text, text.strip().lower())
class Parser:
    def __call__(self, text):
        return "card_linking"
parser = Parser()
number = 3
"""


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "served_parser.py").write_text(SERVED, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "served_parser", raising=False)
    return "served_parser"


def test_the_served_function_is_the_parser(served: str) -> None:
    texts = ["CARD_ARRIVAL ", "boom", "odd", "list", "", "enum", "none of it"]
    done = parse_all(texts, make_parser(f"{served}:parse", BANK))
    assert done.codes.tolist() == [0, -1, -1, -1, -1, 0, -1]
    assert [REASONS[reason] for reason in done.reasons[1:5]] == ["parser_error"] * 3 + ["empty"]
    first, second, third = done.report.reason_examples["parser_error"]
    assert (first.row, first.note) == (1, "KeyError: 'no such thing'")
    assert (second.row, second.note) == (2, "returned 'lost_card', which is not a label")
    assert third.row == 3
    assert done.report.formats == {"function": 2}


def test_the_digest_is_that_of_the_source(served: str, tmp_path: Path) -> None:
    one = make_parser(f"{served}:parse", BANK)
    instance = make_parser(f"{served}:parser", BANK)
    assert parse_all(["x"], instance).codes.tolist() == [1]
    (tmp_path / "other_parser.py").write_text(SERVED.replace("boom", "bang"), encoding="utf-8")
    other = make_parser("other_parser:parse", BANK)
    assert len({one.digest, other.digest, instance.digest, make_parser("auto", BANK).digest}) == 4
    assert make_parser("regex:a", BANK).digest != make_parser("regex:b", BANK).digest
    assert make_parser("auto", BANK).digest == make_parser("auto", BANK[:2]).digest


@pytest.mark.parametrize(
    "spec",
    [
        "no_such_module_x:f",
        "served_parser:absent",
        "served_parser:number",
        "builtins:len",
        "autoo",
        "regex:",
        ":",
        "",
    ],
)
def test_a_parser_that_is_none_is_a_usage_error(served: str, spec: str) -> None:
    with pytest.raises(UsageError):
        make_parser(spec, BANK)


def test_an_error_while_importing_is_a_usage_error(served: str, tmp_path: Path) -> None:
    (tmp_path / "broken_parser.py").write_text("1 / 0\n", encoding="utf-8")
    with pytest.raises(UsageError, match="ZeroDivisionError"):
        make_parser("broken_parser:parse", BANK)


FUZZY = (
    ("card_arri", "card_arrival"),
    ("Intent: card_arival", "card_arrival"),
    ("card_linkng", "card_linking"),
    ("card", ""),
    ("mortgage_question", ""),
    ("I cannot help with that.", ""),
    ("card_arrival or card_linking", ""),
)


@pytest.mark.parametrize(("text", "label"), FUZZY)
def test_similarity_counts_only_where_it_is_asked_for(text: str, label: str) -> None:
    fuzzy = make_parser("auto", BANK, fuzzy=True)
    assert read_one(text, make_parser("auto", BANK))[0] == ""
    assert read_one(text, fuzzy)[0] == label
    assert parse_all([text], fuzzy).report.fuzzy
    if label:
        assert read_one(text, fuzzy)[2] == "fuzzy"


def test_fuzzy_goes_with_auto_alone() -> None:
    with pytest.raises(UsageError, match="auto"):
        make_parser("exact", BANK, fuzzy=True)

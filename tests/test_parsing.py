"""Labels read from generated text: what is read, what is not and why, and that nothing takes long."""

from __future__ import annotations

import csv
import json
import string
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalreport.errors import DataError, UsageError
from evalreport.parsing import FORMATS, REASONS, Parser, ParsingReport, make_parser, parse_all
from tests.parsing_formats import BANK, READ, UNREAD

BANKING = Path(__file__).parents[1] / "examples" / "data" / "banking77"


def read_one(text: object, parser: Parser) -> tuple[str, str, str]:
    """Label, reason and format of one text."""
    done = parse_all([text], parser)
    code = int(done.codes[0])
    label = parser.labels[code] if code >= 0 else ""
    return label, REASONS[done.reasons[0]], FORMATS[done.formats[0]]


# --- the parser auto -------------------------------------------------------------------------------


@pytest.mark.parametrize(("labels", "text", "label"), READ, ids=[repr(text)[:60] for _, text, _ in READ])
def test_auto_reads_the_answer(labels: tuple[str, ...], text: str, label: str) -> None:
    found, reason, dress = read_one(text, make_parser("auto", labels))
    assert (found, reason) == (label, "")
    assert dress


@pytest.mark.parametrize(("labels", "text", "reason"), UNREAD, ids=[repr(text)[:60] for _, text, _ in UNREAD])
def test_auto_says_why_there_is_no_answer(labels: tuple[str, ...], text: str, reason: str) -> None:
    assert read_one(text, make_parser("auto", labels)) == ("", reason, "")


def generations() -> tuple[list[dict[str, str]], list[dict[str, str]], list[str]]:
    lines = (BANKING / "llm_generations.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    with (BANKING / "llm_generations_key.csv").open(encoding="utf-8", newline="") as file:
        key = list(csv.DictReader(file))
    return rows, key, json.loads((BANKING / "labels.json").read_text(encoding="utf-8"))


def test_auto_agrees_with_the_key_of_banking77() -> None:
    rows, key, labels = generations()
    parser = make_parser("auto", labels)
    codes = parse_all([row["generation"] for row in rows], parser).codes
    found = ["" if code < 0 else labels[code] for code in codes]
    agree = np.mean([label == item["intended_label"] for label, item in zip(found, key, strict=True)])
    right = np.mean([label == row["label"] for label, row in zip(found, rows, strict=True)])
    assert agree >= 0.995
    assert round(float(right), 4) == 0.8393


def test_auto_reads_banking77_with_other_labels_in_the_set() -> None:
    """Three thousand labels more, each near to a true one, change nothing."""
    rows, _, labels = generations()
    texts = [row["generation"] for row in rows]
    more = [f"{label.strip('?')}_{number}_x" for label in labels for number in range(39)]
    few = parse_all(texts, make_parser("auto", labels)).codes
    many = parse_all(texts, make_parser("auto", [*labels, *more])).codes
    np.testing.assert_array_equal(few, many)


FORMAT_CASES = (
    ("card_arrival", "bare"),
    ("Card arrival", "spaced"),
    ("'card_arrival'", "quoted"),
    ("**card_arrival**", "markdown"),
    ("```\ncard_arrival\n```", "code_fence"),
    ('{"intent": "card_arrival"}', "json"),
    ("{'intent': 'card_arrival'}", "json"),
    ("<intent>card_arrival</intent>", "xml"),
    ("Intent: card_arrival", "prefix"),
    ("I think that this is card_arrival.", "sentence"),
    ("It may be age_limit.\nFinal answer: card_arrival", "final_answer"),
    ("It is not age_limit; it is card_arrival.", "negated"),
)


@pytest.mark.parametrize(("text", "dress"), FORMAT_CASES)
def test_auto_names_the_format(text: str, dress: str) -> None:
    assert read_one(text, make_parser("auto", BANK)) == ("card_arrival", "", dress)


NAMES = st.lists(
    st.text(string.ascii_letters + string.digits, min_size=2, max_size=9), min_size=1, max_size=4
).map("_".join)
WRAPPERS: tuple[Callable[[str], str], ...] = (
    str,
    str.upper,
    lambda label: f"  {label}\n",
    lambda label: f"{label}.",
    lambda label: f'"{label}"',
    lambda label: f"„{label}“",
    lambda label: f"`{label}`",
    lambda label: f"**{label}**",
    lambda label: f"Intent: {label}",
    lambda label: f"**Answer:** {label}.",
    lambda label: json.dumps({"label": label, "confidence": 0.91}),
    lambda label: json.dumps({"reason": "it says so", "label": label}, indent=1),
    lambda label: f"```json\n{json.dumps({'label': label})}\n```",
    lambda label: f"<label>{label}</label>",
    lambda label: f"The label is {label}.",
    lambda label: f"<think>Let me see.</think>\n{label}",
    lambda label: f"After some thought.\n\nFinal answer: {label}",
    lambda label: rf"\boxed{{{label}}}",
    lambda label: f"1. {label}",
)


def distinct(labels: list[str]) -> bool:
    try:
        make_parser("auto", labels)
    except DataError:
        return False
    return True


@settings(max_examples=150, deadline=None)
@given(st.lists(NAMES, min_size=2, max_size=6, unique=True).filter(distinct), st.data())
def test_any_label_in_any_dress_is_read(labels: list[str], data: st.DataObject) -> None:
    label = data.draw(st.sampled_from(labels))
    wrapper = data.draw(st.sampled_from(WRAPPERS))
    assert read_one(wrapper(label), make_parser("auto", labels))[0] == label


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.text(min_size=1, max_size=12), min_size=2, max_size=5, unique=True).filter(distinct),
    st.data(),
)
def test_any_label_at_all_is_read_bare_and_from_json(labels: list[str], data: st.DataObject) -> None:
    label = data.draw(st.sampled_from(labels))
    parser = make_parser("auto", labels)
    assert read_one(label, parser)[0] == label
    assert read_one(json.dumps({"label": label}), parser)[0] == label


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=300))
def test_any_text_has_a_label_or_a_reason(text: str) -> None:
    label, reason, dress = read_one(text, make_parser("auto", BANK))
    assert bool(label) == bool(dress) == (not reason)


# --- time ------------------------------------------------------------------------------------------

HOSTILE = {
    "letters": "a" * 1_000_000,
    "words": "card arrival is not " * 50_000,
    "labels": "card_arrival " * 76_000,
    "keys": "answer " * 140_000,
    "openers": "{[" * 500_000,
    "tags": "<think>" * 140_000,
    "fences": "```\n" * 250_000,
    "quotes": "\"'" * 500_000,
    "backslashes": "\\" * 1_000_000,
    "entities": "&" * 1_000_000,
    "newlines": "\n" * 1_000_000,
    "spaces": " " * 1_000_000,
    "ligatures": "\ufdfa" * 1_000_000,
    "negators": "not " * 250_000,
    "examples": "card_arrival\nText:" * 50_000,
    "commas": "card_arrival," * 70_000,
    "reasons": "\nReason:" * 120_000,
    "refusals": "cannot " * 140_000,
    "prose": "the customer would like to know about it. " * 24_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_million_characters_never_take_a_second(name: str) -> None:
    parser = make_parser("auto", BANK)
    start = time.process_time()
    parse_all([HOSTILE[name]], parser)
    assert time.process_time() - start < 1


@pytest.mark.parametrize(
    "pattern", [r"(a+)+$", r"(a|aa)+$", r"(a|a?)+!", r"(.*a){20}b", r"(?:(?:a?){30})*(b)", r"(\w+\s?)*:"]
)
def test_a_hostile_pattern_never_takes_a_second(pattern: str) -> None:
    parser = make_parser(f"regex:{pattern}", BANK)
    start = time.process_time()
    parse_all(["a" * 1_000_000 + "!", "a" * 1_000_000 + "b"], parser)
    assert time.process_time() - start < 2


def test_the_end_of_a_long_text_is_read() -> None:
    text = "The customer says a lot. " * 30_000 + "\n\nFinal answer: card_arrival"
    assert read_one(text, make_parser("auto", BANK))[0] == "card_arrival"


# --- the other parsers -----------------------------------------------------------------------------


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


@pytest.mark.parametrize("pattern", ["(", "a{2,1}", r"(?<=a)b", r"(a)\1", "(a{1,900}){1,900}", "[z-a]"])
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
    monkeypatch.delitem(__import__("sys").modules, "served_parser", raising=False)
    return "served_parser"


def test_the_served_function_is_the_parser(served: str) -> None:
    texts = ["CARD_ARRIVAL ", "boom", "odd", "list", "", "enum", "none of it"]
    done = parse_all(texts, make_parser(f"{served}:parse", BANK))
    assert done.codes.tolist() == [0, -1, -1, -1, -1, 0, -1]
    assert [REASONS[reason] for reason in done.reasons[1:5]] == ["parser_error"] * 3 + ["empty"]
    first, second, third = done.summary().reason_examples["parser_error"]
    assert (first.row, first.note) == (1, "KeyError: 'no such thing'")
    assert (second.row, second.note) == (2, "returned 'lost_card', which is no label")
    assert third.row == 3
    assert done.summary().formats == {"function": 2}


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


# --- fuzzy -----------------------------------------------------------------------------------------

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
    assert parse_all([text], fuzzy).summary().fuzzy
    if label:
        assert read_one(text, fuzzy)[2] == "fuzzy"


def test_fuzzy_goes_with_auto_alone() -> None:
    with pytest.raises(UsageError, match="auto"):
        make_parser("exact", BANK, fuzzy=True)


# --- bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "labels",
    [
        ("top_up", "Top Up"),
        ("a b", "a_b"),
        ("A", "a"),
        ("a", " a"),
        ("topUp", "top_up"),
        ("top-up", "top_up"),
    ],
)
def test_labels_that_text_cannot_tell_apart_are_named(labels: tuple[str, str]) -> None:
    with pytest.raises(DataError) as caught:
        make_parser("auto", labels)
    assert repr(labels[0]) in caught.value.message
    assert repr(labels[1]) in caught.value.message
    assert make_parser("exact", labels).labels == labels


@pytest.mark.parametrize("label", ["", " ", "\n"])
def test_a_blank_label_is_an_error(label: str) -> None:
    with pytest.raises(DataError, match="blank"):
        make_parser("auto", ["a", label])


@pytest.mark.parametrize("value", [3, 3.5, ["card_arrival"], b"card_arrival", {"a": 1}, True])
def test_a_column_that_holds_no_text_is_an_error_with_its_row(value: object) -> None:
    with pytest.raises(DataError) as caught:
        parse_all(["card_arrival", None, value], make_parser("auto", BANK))
    assert type(value).__name__ in caught.value.message
    assert "row 2" in caught.value.where


def test_a_text_over_the_limit_is_an_error_with_its_row() -> None:
    with pytest.raises(DataError) as caught:
        parse_all(["card_arrival", "x" * 1_048_577], make_parser("auto", BANK))
    assert "row 1" in caught.value.where


def test_missing_texts_are_empty() -> None:
    import pandas as pd

    texts = [None, float("nan"), pd.NA, pd.NaT, np.nan]
    done = parse_all(texts, make_parser("auto", BANK))
    assert done.summary().reasons == {"empty": 5}
    frame = pd.Series(["card_arrival", None, "age_limit"])
    assert parse_all(frame, make_parser("auto", BANK)).codes.tolist() == [0, -1, 10]
    assert parse_all([], make_parser("auto", BANK)).summary().n == 0


# --- the report ------------------------------------------------------------------------------------


def test_the_report_accounts_for_every_row() -> None:
    texts = [
        "card_arrival",
        "Intent: age_limit",
        "card_arrival or age_limit",
        "",
        "lost_card",
        "x" * 500,
        "\ud800 \x00",
    ]
    done = parse_all(texts * 2, make_parser("auto", BANK))
    report = done.summary()
    assert (report.n, report.n_unparsed, report.n_ambiguous) == (14, 10, 2)
    assert sum(report.reasons.values()) == report.n_unparsed == int((done.codes == -1).sum())
    assert sum(report.formats.values()) == report.n - report.n_unparsed
    assert report.formats == {"bare": 2, "prefix": 2}
    assert [example.row for example in report.reason_examples["ambiguous"]] == [2, 9]
    for kinds in (report.reason_examples, report.format_examples):
        assert all(len(item.text) <= 140 and len(items) <= 3 for items in kinds.values() for item in items)
    assert ParsingReport.from_dict(json.loads(json.dumps(report.as_dict()))) == report
    json.dumps(report.as_dict(), ensure_ascii=False).encode("utf-8")


def test_reports_of_two_shards_add_up() -> None:
    texts = ["card_arrival", "", "Intent: age_limit", "lost_card", "N/A", "Age limit", "null", "none"]
    parser = make_parser("auto", BANK)
    whole = parse_all(texts, parser).summary()
    for cut in range(len(texts) + 1):
        assert parse_all(texts[:cut], parser).summary() + parse_all(texts[cut:], parser).summary() == whole


def test_arrays_are_typed_and_cannot_be_changed() -> None:
    done = parse_all(["card_arrival", ""], make_parser("auto", BANK))
    assert [str(array.dtype) for array in (done.codes, done.reasons, done.formats)] == [
        "int32",
        "int8",
        "int8",
    ]
    with pytest.raises(ValueError, match="read-only"):
        done.codes[0] = 1

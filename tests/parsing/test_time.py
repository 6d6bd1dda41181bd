"""No text and no expression takes long."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import pytest

from evalreport.parsing.parser import make_parser, parse_all
from tests.parsing.answers import BANK, generations, read_one


def seconds(action: Callable[[], object]) -> float:
    """Return the CPU seconds that an action takes."""
    start = time.process_time()
    action()
    return time.process_time() - start


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
    "ends": " " * 500_000 + "</s>" * 120_000,
    "finals": "so: " * 200_000 + "card_arrival",
    "fence and spaces": "```" + " " * 1_000_000,
    "ratios": "4/5 " * 250_000,
    "digits": "1" * 1_000_000,
    "versions": "a1.1" * 250_000,
    "struck": "~~a" * 300_000,
    "nested": "[" * 1_000_000,
    "values": json.dumps([f"x{number}" for number in range(90_000)]),
    "fewer values": json.dumps([f"x{number}" for number in range(9_000)]),
    "names": json.dumps({f"x{number}": number for number in range(50_000)}),
    "records": json.dumps([{"label": "card_arrival", "score": number} for number in range(4_000)]),
    "prose": "the customer would like to know about it. " * 24_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_million_characters_never_take_long(name: str) -> None:
    parser = make_parser("auto", (*BANK, "1", "2", "3", "4", "5"))
    assert seconds(lambda: parse_all([HOSTILE[name]], parser)) < 5  # what is quadratic takes minutes


@pytest.mark.parametrize(
    "pattern", [r"(a+)+$", r"(a|aa)+$", r"(a|a?)+!", r"(.*a){20}b", r"(?:(?:a?){30})*(b)", r"(\w+\s?)*:"]
)
def test_a_hostile_pattern_never_takes_a_second(pattern: str) -> None:
    parser = make_parser(f"regex:{pattern}", BANK)
    assert seconds(lambda: parse_all(["a" * 1_000_000 + "!", "a" * 1_000_000 + "b"], parser)) < 2


def test_the_end_of_a_long_text_is_read() -> None:
    text = "The customer says a lot. " * 30_000 + "\n\nFinal answer: card_arrival"
    assert read_one(text, make_parser("auto", BANK))[0] == "card_arrival"


def test_a_million_short_texts_parse_within_a_minute() -> None:
    """Each differs from the others, so that none is read from memory: 60 microseconds for one."""
    rows, _, labels = generations()
    texts = [f"{row['generation']} ({number / 10_000:.4f})" for number, row in enumerate(rows * 4)]
    assert len(set(texts)) == len(texts)
    parser = make_parser("auto", labels)
    best = min(seconds(lambda: parse_all(texts, parser)) for _ in range(2))
    assert best < 60e-6 * len(texts)


def test_equal_texts_are_read_once() -> None:
    rows, _, labels = generations()
    texts = [row["generation"] for row in rows] * 20
    start = time.process_time()
    assert len(parse_all(texts, make_parser("auto", labels)).codes) == len(texts)
    assert time.process_time() - start < 30e-6 * len(texts)

"""The work on a text grows with its length, counted: how long it takes is measured by `bench_parsing`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow.compute
import pytest

from evalreport.features.text_labels import parser as parsers
from evalreport.features.text_labels.parser import make_parser, parse_all
from evalreport.features.text_labels.parsing_rules import Outcome
from tests.features.text_labels.answers import BANK, generations, read_one
from tests.features.text_labels.hostile import HOSTILE, PATTERNS

LABELS = (*BANK, "1", "2", "3", "4", "5")
SIZE = 8_000
A_FEW = 3_000
"""Calls that do not grow with the text."""


def calls(action: Callable[[], object]) -> int:
    """Return how many functions an action calls, those of C too."""
    found = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal found
        found += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        action()
    finally:
        sys.setprofile(before)
    return found


@pytest.mark.parametrize("name", HOSTILE)
def test_the_work_on_a_text_grows_no_faster_than_its_length(name: str) -> None:
    parser = make_parser("auto", LABELS)
    parse_all(["card_arrival"], parser)  # what is made once is made
    texts = [HOSTILE[name](size) for size in (SIZE, 4 * SIZE)]
    once, four_times = (calls(partial(parse_all, [text], parser)) for text in texts)
    assert four_times < 5 * once + A_FEW  # what is quadratic takes sixteen times as many


@pytest.mark.parametrize("expression", PATTERNS)
def test_a_pattern_searches_no_more_than_its_size_allows(
    expression: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """RE2 does not backtrack: its work is the characters times the states, which are bounded."""
    searched: list[int] = []
    whole = pyarrow.compute.extract_regex

    def extract(strings: Any, *more: Any) -> Any:
        searched.extend(map(len, strings.to_pylist()))
        return whole(strings, *more)

    parser = make_parser(f"regex:{expression}", BANK)
    monkeypatch.setattr(pyarrow.compute, "extract_regex", extract)
    parse_all(["a" * 1_000_000 + "!", "a" * 1_000_000 + "b"], parser)
    assert len(searched) == 2
    assert max(searched) <= parsers._WORK // parsers.compile_pattern(expression).size + 1


def test_the_end_of_a_long_text_is_read() -> None:
    text = "The customer says a lot. " * 30_000 + "\n\nFinal answer: card_arrival"
    assert read_one(text, make_parser("auto", BANK))[0] == "card_arrival"


def test_equal_texts_are_read_once() -> None:
    rows, _, labels = generations()
    texts = [row["generation"] for row in rows]
    parser = make_parser("auto", labels)
    read: list[str] = []

    def reading(distinct: Sequence[str]) -> list[Outcome]:
        read.extend(distinct)
        return parser.read(distinct)

    assert len(parse_all(texts * 20, replace(parser, read=reading)).codes) == 20 * len(texts)
    assert sorted(read) == sorted(set(texts))

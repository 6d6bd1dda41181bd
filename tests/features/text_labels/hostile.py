"""Texts of any length on which a careless parser takes quadratic time, and expressions that backtrack."""

from __future__ import annotations

import json
from collections.abc import Callable


def _repeated(unit: str, before: str = "", after: str = "") -> Callable[[int], str]:
    return lambda size: before + unit * (size // len(unit)) + after


HOSTILE: dict[str, Callable[[int], str]] = {
    "letters": _repeated("a"),
    "words": _repeated("card arrival is not "),
    "labels": _repeated("card_arrival "),
    "keys": _repeated("answer "),
    "openers": _repeated("{["),
    "tags": _repeated("<think>"),
    "fences": _repeated("```\n"),
    "quotes": _repeated("\"'"),
    "backslashes": _repeated("\\"),
    "entities": _repeated("&"),
    "newlines": _repeated("\n"),
    "spaces": _repeated(" "),
    "ligatures": _repeated("\ufdfa"),
    "negators": _repeated("not "),
    "examples": _repeated("card_arrival\nText:"),
    "commas": _repeated("card_arrival,"),
    "reasons": _repeated("\nReason:"),
    "refusals": _repeated("cannot "),
    "ends": lambda size: " " * (size // 2) + "</s>" * (size // 8),
    "finals": _repeated("so: ", after="card_arrival"),
    "fence and spaces": _repeated(" ", before="```"),
    "ratios": _repeated("4/5 "),
    "digits": _repeated("1"),
    "versions": _repeated("a1.1"),
    "struck": _repeated("~~a"),
    "nested": _repeated("["),
    "values": lambda size: json.dumps([f"x{number}" for number in range(size // 11)]),
    "names": lambda size: json.dumps({f"x{number}": number for number in range(size // 20)}),
    "records": lambda size: json.dumps(
        [{"label": "card_arrival", "score": number} for number in range(size // 45)]
    ),
    "prose": _repeated("the customer would like to know about it. "),
}
"""From a number of characters, about, to a text."""
PATTERNS = (r"(a+)+$", r"(a|aa)+$", r"(a|a?)+!", r"(.*a){20}b", r"(?:(?:a?){30})*(b)", r"(\w+\s?)*:")

"""The answers that the tests read, each with what is to be read from it.

``answers.jsonl``: one answer a line, with the name of its label set (``label_sets.json``) and its label, or
the reason why it has none. Add a line for every answer of the wild that was read wrongly.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from evalreport.data.labels import FORMATS, REASONS
from evalreport.features.text_labels.parser import Parser, parse_all

HERE = Path(__file__).parent
BANKING = HERE.parents[2] / "examples" / "data" / "banking77"


def label_sets() -> dict[str, list[str]]:
    """Return the label sets by name."""
    sets: dict[str, list[str]] = json.loads((HERE / "label_sets.json").read_text(encoding="utf-8"))
    return sets


def answers() -> list[dict[str, str]]:
    """Return the answers in order."""
    return [json.loads(line) for line in (HERE / "answers.jsonl").read_text(encoding="utf-8").splitlines()]


BANK = tuple(label_sets()["bank"])


def read_one(text: object, parser: Parser) -> tuple[str, str, str]:
    """Return label, reason and format of one text."""
    done = parse_all([text], parser)
    code = int(done.codes[0])
    label = parser.labels[code] if code >= 0 else ""
    return label, REASONS[done.reasons[0]], FORMATS[done.formats[0]]


def generations() -> tuple[list[dict[str, Any]], list[dict[str, str]], list[str]]:
    """Return banking77's generated answers, their key and the label set."""
    lines = (BANKING / "llm_generations.jsonl").read_text(encoding="utf-8").splitlines()
    with (BANKING / "llm_generations_key.csv").open(encoding="utf-8", newline="") as file:
        key = list(csv.DictReader(file))
    labels = json.loads((BANKING / "labels.json").read_text(encoding="utf-8"))
    return [json.loads(line) for line in lines], key, labels


def queries() -> list[str]:
    """Return the customers' messages of banking77's test set."""
    with (BANKING / "test.csv").open(encoding="utf-8", newline="") as file:
        return [row["text"] for row in csv.DictReader(file)]

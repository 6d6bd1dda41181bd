"""How many generated texts a second the parsers read: ``python -m tests.benchmarks.bench_parsing [ROWS]``.

Every text is different (a confidence is added), so that reading equal texts once does not help.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from evalreport.parsing import make_parser, parse_all

BANKING = Path(__file__).parents[2] / "examples" / "data" / "banking77"
ROWS = 50_000


def generations(rows: int) -> tuple[list[str], list[str]]:
    """Return the label set of banking77 and its generated texts, repeated up to `rows`."""
    lines = (BANKING / "llm_generations.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line)["generation"] for line in lines]
    return json.loads((BANKING / "labels.json").read_text(encoding="utf-8")), (
        texts * (rows // len(texts) + 1)
    )[:rows]


def measure(name: str, texts: list[str], labels: list[str], spec: str) -> float:
    """Print and return the rows a CPU second that a parser reads."""
    parser = make_parser(spec, labels)
    start = time.process_time()
    parse_all(texts, parser)
    taken = time.process_time() - start
    print(f"{name:<44} {len(texts):>9,} rows {taken:>7.2f} s {len(texts) / taken:>12,.0f} rows/s")
    return len(texts) / taken


def main(rows: int = ROWS) -> None:
    """Print rows a second for each parser, for equal and different texts, and for 3,000 labels."""
    labels, texts = generations(rows)
    different = [f"{text} (confidence 0.{row})" for row, text in enumerate(texts)]
    many = [*labels, *(f"{label.strip('?')}_{number}" for label in labels for number in range(38))]
    prose = [
        f"{row}. " + "The customer would like to know about it. " * 20 + text
        for row, text in enumerate(texts[: rows // 10])
    ]
    measure("auto, the texts as they are", texts, labels, "auto")
    measure("auto, every text different", different, labels, "auto")
    measure(f"auto, every text different, {len(many):,} labels", different, many, "auto")
    measure("auto, 900 characters of prose before each", prose, labels, "auto")
    measure("exact", different, labels, "exact")
    measure("json", different, labels, "json")
    measure("regex", different, labels, r"regex:([A-Za-z_?]+)")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS)

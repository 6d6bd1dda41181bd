"""How many generated texts a second the parsers read: ``python -m tests.benchmarks.bench_parsing``.

Every text is different (a confidence is added), so that reading equal texts once does not help.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from evalreport.features.text_labels.parser import make_parser, parse_all
from tests.benchmarks.measure import Result, cpu, limit, show
from tests.features.text_labels.hostile import HOSTILE, PATTERNS

BANKING = Path(__file__).parents[2] / "examples" / "data" / "banking77"
ROWS = 50_000


def generations(rows: int) -> tuple[list[str], list[str]]:
    """Return the label set of banking77 and its generated texts, repeated up to `rows`."""
    lines = (BANKING / "llm_generations.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line)["generation"] for line in lines]
    return json.loads((BANKING / "labels.json").read_text(encoding="utf-8")), (
        texts * (rows // len(texts) + 1)
    )[:rows]


def measure(name: str, texts: list[str], labels: list[str], spec: str) -> Result:
    """Return the rows a CPU second that a parser reads."""
    parser = make_parser(spec, labels)
    taken = cpu(lambda: parse_all(texts, parser))
    return Result(
        f"parser {name}, {len(texts):,} texts", f"{taken:.3f} s", f"{len(texts) / taken:,.0f} a second"
    )


def results(rows: int = ROWS) -> Iterator[Result]:
    """Yield rows a second for each parser, for equal and different texts, and for 3,000 labels."""
    labels, texts = generations(rows)
    different = [f"{text} (confidence 0.{row})" for row, text in enumerate(texts)]
    many = [*labels, *(f"{label.strip('?')}_{number}" for label in labels for number in range(38))]
    prose = [
        f"{row}. " + "The customer would like to know about it. " * 20 + text
        for row, text in enumerate(texts[: rows // 10])
    ]
    yield measure("auto, the texts as they are", texts, labels, "auto")
    yield measure("auto, every text different", different, labels, "auto")
    yield measure(f"auto, every text different, {len(many):,} labels", different, many, "auto")
    yield measure("auto, 900 characters of prose before each", prose, labels, "auto")
    yield measure("exact", different, labels, "exact")
    yield measure("json", different, labels, "json")
    yield measure("regex", different, labels, r"regex:([A-Za-z_?]+)")
    yield from hostile(labels)


def hostile(labels: list[str]) -> Iterator[Result]:
    """Yield the slowest of texts of a million characters, and of expressions that backtrack elsewhere."""
    auto = make_parser("auto", labels)
    taken = {name: cpu(partial(parse_all, [text(10**6)], auto)) for name, text in HOSTILE.items()}
    worst = max(taken, key=lambda name: taken[name])
    yield limit(f"hostile text of a million characters ({worst})", taken[worst], "s", 5)
    texts = ["a" * 10**6 + "!", "a" * 10**6 + "b"]
    each = [cpu(partial(parse_all, texts, make_parser(f"regex:{one}", labels))) for one in PATTERNS]
    yield limit("hostile expression on a million characters", max(each), "s", 2)


if __name__ == "__main__":
    show(results())

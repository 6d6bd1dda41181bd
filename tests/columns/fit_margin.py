"""Fit the margin of the decision on one half of the families of tables, and check it on the other.

Run by hand: ``python -m tests.columns.fit_margin``. It takes some minutes, and writes `margin.json`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from unittest.mock import patch

from tests.columns.tables import FAMILIES, tables
from tests.misread.generated import outcome

PLACE = Path(__file__).with_name("margin.json")
MARGINS = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0)
SEED = 31
FITTED = 3
"""Tables of each family of one half for which each margin is tried."""
CHECKED = 31
"""Tables of each family of both halves that are read with the fitted margin."""
OUTCOMES = ("right", "refused with a way that works", "refused", "wrong")
Counts = dict[str, int]


def counts_of(found: Mapping[str, int]) -> Counts:
    return {name: found.get(name, 0) for name in OUTCOMES}


def fitted(counts: Mapping[str, Counts]) -> float:
    """Return the smallest margin without a wrong table, with which all larger ones have none either."""
    safe = []
    for margin in sorted(counts, key=float, reverse=True):
        if counts[margin]["wrong"]:
            break
        safe.append(float(margin))
    return min(safe)


def by_family(half: int, seed: int, count: int) -> Iterator[tuple[str, str]]:
    """Yield the family of each table, and its outcome."""
    for known, _ in tables(half, seed, count * len(FAMILIES[half::2])):
        what, why = outcome(known)
        if what == "wrong":
            print(known.what, list(known.columns), why)
        yield ", ".join(known.what[:2]), what


def fit() -> dict[str, Counts]:
    found = {}
    for margin in MARGINS:
        with patch("evalreport.columns.decide.MARGIN", margin):
            found[str(margin)] = counts_of(Counter(what for _, what in by_family(0, SEED, FITTED)))
        print(margin, found[str(margin)], flush=True)
    return found


def check() -> dict[str, dict[str, Counts]]:
    found: dict[str, dict[str, Counts]] = {}
    for half, name in enumerate(("development", "held-out")):
        counted: dict[str, Counter[str]] = {}
        for family, what in by_family(half, SEED + 1, CHECKED):
            counted.setdefault(family, Counter())[what] += 1
        found[name] = {family: counts_of(one) for family, one in counted.items()}
        total = sum((Counter(one) for one in counted.values()), Counter())
        print(name, dict(total), flush=True)
    return found


if __name__ == "__main__":
    margins = fit()
    body = {"margin": fitted(margins), "development": margins, "families": check()}
    PLACE.write_text(json.dumps(body, indent=1) + "\n", encoding="utf-8")

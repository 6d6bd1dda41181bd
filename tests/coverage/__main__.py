"""`make coverage`: simulate every setting; write `coverage.json` into the package, and the table here.

The first argument is the number of simulations of a setting (1,000 without it).
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path

from evalreport.intervals.measured import ENOUGH, NEAR, Measured
from tests.coverage.measure import measured
from tests.coverage.settings import BINARY, DEPENDENT, MULTICLASS, MULTILABEL, Setting

HERE = Path(__file__).parent
JSON = HERE.parents[1] / "evalreport" / "intervals" / "coverage.json"
TABLE = HERE / "COVERAGE.md"
SEED = 20240607


def rows_of(job: tuple[Setting, int]) -> list[Measured]:
    """Simulate one setting."""
    setting, simulations = job
    found = measured(setting, simulations, SEED)
    return [
        Measured(
            setting.task,
            name,
            ", ".join(sorted(count.methods)),
            setting.what,
            setting.n,
            count.given,
            round(count.coverage, 4),
        )
        for name, count in found.items()
        if count.given
    ]


def as_markdown(rows: list[Measured], simulations: int) -> str:
    """Return the table: one line per metric and size, worst and median setting, and what is off."""
    off = [row for row in rows if row.n >= ENOUGH and not row.near]
    settings, large = len({(r.setting, r.n, r.task) for r in rows}), sum(r.n >= ENOUGH for r in rows)
    lines = [
        "# Measured coverage of the 95 % intervals",
        "",
        f"Made by `make coverage` ({simulations:,} simulations of each of {settings} settings); not typed. A",
        "share is off when, from 200 rows on, it lies outside 93 to 97 % by more than two standard errors",
        "of the simulation.",
        "",
        f"{len(off)} of {large} shares from {ENOUGH} rows on are off.",
        "",
        "| task | metric | method | n | settings | lowest | median | highest |",
        "|---|---|---|---|---|---|---|---|",
    ]
    groups: dict[tuple[str, str, str, int], list[float]] = {}
    for row in rows:
        groups.setdefault((row.task, row.metric, row.method, row.n), []).append(row.coverage)
    for (task, metric, method, n), shares in groups.items():
        low, middle, high = min(shares), sorted(shares)[len(shares) // 2], max(shares)
        ends = f"{low:.1%} | {middle:.1%} | {high:.1%}"
        lines.append(f"| {task} | `{metric}` | {method} | {n} | {len(shares)} | {ends} |")
    lines += ["", f"## Off {NEAR[0]:.0%} to {NEAR[1]:.0%}, from {ENOUGH} rows on", ""]
    lines += ["| task | metric | setting | n | coverage |", "|---|---|---|---|---|"]
    lines += [f"| {r.task} | `{r.metric}` | {r.setting} | {r.n} | {r.coverage:.1%} |" for r in off]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Simulate and write both files."""
    simulations = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    jobs = [(setting, simulations) for setting in (*BINARY, *MULTICLASS, *MULTILABEL, *DEPENDENT)]
    with ProcessPoolExecutor(2) as pool:
        rows = [row for part in pool.map(rows_of, jobs) for row in part]
    text = ",\n".join(json.dumps(asdict(row), ensure_ascii=False) for row in rows)
    JSON.write_text(f"[\n{text}\n]\n", encoding="utf-8")
    TABLE.write_text(as_markdown(rows, simulations), encoding="utf-8")
    print(f"wrote {JSON.name} ({len(rows)} rows) and {TABLE.name}")


if __name__ == "__main__":
    main()

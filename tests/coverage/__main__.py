"""`make coverage`: simulate every setting; write `coverage.json` into the package, and the table here.

The first argument is the number of simulations of a setting (1,000 without it), made in blocks of 50.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path

from evalreport.intervals.measured import ENOUGH, NEAR, Measured
from evalreport.intervals.methods import METHODS
from tests.coverage.measure import Count, measured, population
from tests.coverage.settings import BINARY, DEPENDENT, GROUPED, HARD, MULTICLASS, MULTILABEL, TEXT, Setting

HERE = Path(__file__).parent
JSON = HERE.parents[1] / "evalreport" / "intervals" / "coverage.json"
TABLE = HERE / "COVERAGE.md"
SEED = 20240607
BLOCK = 50
SHARE = f"{NEAR[0]:.0%} to {NEAR[1]:.0%}"
TRUTH = (
    "The truth is the value that the metric has on the population: the same model, on a sample so large that",
    "its error does not matter. That is not what a small sample gives on average. Macro averages are where",
    "it matters: a class that 200 rows never predict counts as 0 there, as in scikit-learn, while the",
    "population, in which it is predicted now and then, has a precision for it. The population value is the",
    "one to cover, because it alone says how good the model is; the value of a small sample depends on",
    "how many classes it happened to miss. Calibration errors keep their bins: theirs is the binned error of",
    "the population.",
    "",
    "Some intervals are wider than they need be, and known to be: where the truth stands at the end of its",
    "range (a calibrated model's ECE of 0, as many effective labels as there are) it can only be missed on",
    "one side; where the most frequent class is one of several about equal, no shorter limit holds for all",
    "of them; and a limit beyond the last rows seen (recall at an FPR of 1 % of a hundred negatives) is",
    "known to half a row at best. Some are too narrow: with few distinct scores a curve jumps from step to",
    "step, and what it reads at a limit that falls between two steps is one or the other.",
    "",
    "Some settings are there because intervals have it hard in them: a class of which there",
    "are a handful of rows, weights of which a few hold most of the mass, classes that hardly overlap, tied",
    "scores, a rare class in clusters.",
)
"""What the simulations hold intervals against."""


def counts_of(job: tuple[Setting, int, int, dict[str, float]]) -> dict[str, Count]:
    """Simulate one setting, a number of times from a seed, against its true values."""
    setting, simulations, seed, truth = job
    return measured(setting, simulations, seed, truth=truth)


def rows_of(setting: Setting, found: Mapping[str, Count]) -> list[Measured]:
    """Return the coverage of each metric in one setting."""
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


def as_markdown(rows: list[Measured]) -> str:
    """Return the document: what the truth is, the methods, a line per metric and size, and what is off."""
    large = [row for row in rows if row.n >= ENOUGH]
    outside = [row for row in large if not row.within]
    settings = len({(row.setting, row.n, row.task) for row in rows})
    off = sum(not row.near for row in large)
    lines = [
        "# Measured coverage of the 95 % intervals",
        "",
        f"Made by `make coverage` ({_times(rows)} of each of {settings} settings); not typed.",
        f"From {ENOUGH} rows on an interval is meant to hold the truth in {SHARE} of data sets. Of",
        f"{len(large):,} shares {len(large) - len(outside):,} are within that; {len(outside):,} are outside",
        f"(the list at the end), {off:,} of them by more than two standard errors of the simulation: reports",
        "mark these, and `evalreport metrics NAME` tells all.",
        "",
        *TRUTH,
        "",
        "## Methods",
        "",
        *(f"- *{name}*: {text}." for name, text in METHODS.items()),
        "",
        *tables(rows),
    ]
    return "\n".join(lines) + "\n"


def _times(rows: list[Measured]) -> str:
    """How often settings were simulated, those below 200 rows apart."""
    most, small = (
        max((r.simulations for r in rows if (r.n >= ENOUGH) == large), default=0) for large in (True, False)
    )
    return f"{most:,} simulations, below {ENOUGH} rows {small:,},"


def tables(rows: list[Measured]) -> list[str]:
    """Return the lines of two tables: by metric and size, and all that lies outside what is meant."""
    return [
        "## By metric and size",
        "",
        "| task | metric | method | n | settings | lowest | median | highest |",
        "|---|---|---|---|---|---|---|---|",
        *_summary(rows),
        "",
        f"## Outside {SHARE}, from {ENOUGH} rows on",
        "",
        "| task | metric | setting | n | coverage | simulations | by more than their error |",
        "|---|---|---|---|---|---|---|",
        *(
            f"| {r.task} | `{r.metric}` | {r.setting} | {r.n} | {r.coverage:.1%} | {r.simulations} "
            f"| {'no' if r.near else 'yes'} |"
            for r in rows
            if r.n >= ENOUGH and not r.within
        ),
    ]


def _summary(rows: list[Measured]) -> list[str]:
    groups: dict[tuple[str, str, str, int], list[float]] = {}
    for row in rows:
        groups.setdefault((row.task, row.metric, row.method, row.n), []).append(row.coverage)
    lines = []
    for (task, metric, method, n), shares in groups.items():
        low, middle, high = min(shares), sorted(shares)[len(shares) // 2], max(shares)
        ends = f"{low:.1%} | {middle:.1%} | {high:.1%}"
        lines.append(f"| {task} | `{metric}` | {method} | {n} | {len(shares)} | {ends} |")
    return lines


def main() -> None:
    """Simulate block by block, and write both files after each: it can be stopped at any time."""
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    settings = (*BINARY, *MULTICLASS, *MULTILABEL, *DEPENDENT, *GROUPED, *TEXT, *HARD)
    totals: list[dict[str, Count]] = [{} for _ in settings]
    with ProcessPoolExecutor(2) as pool:
        truths = list(pool.map(population, settings))
        for done in range(0, wanted, BLOCK):
            size = min(BLOCK, wanted - done)
            # Below 200 rows nothing is promised: a half of the simulations is enough to tell of it.
            asked = [s.n >= ENOUGH or done // BLOCK % 2 == 0 for s in settings]
            jobs = [
                (s, size, SEED + done, t) for s, t, ask in zip(settings, truths, asked, strict=True) if ask
            ]
            some = [total for total, ask in zip(totals, asked, strict=True) if ask]
            for total, part in zip(some, pool.map(counts_of, jobs), strict=True):
                for name, count in part.items():
                    total.setdefault(name, Count()).merge(count)
            _write([row for pair in zip(settings, totals, strict=True) for row in rows_of(*pair)])


def _write(rows: list[Measured]) -> None:
    text = ",\n".join(json.dumps(asdict(row), ensure_ascii=False) for row in rows)
    JSON.write_text(f"[\n{text}\n]\n", encoding="utf-8")
    TABLE.write_text(as_markdown(rows), encoding="utf-8")
    most = max(row.simulations for row in rows)
    print(f"{most} simulations: wrote {JSON.name} ({len(rows)} rows) and {TABLE.name}", flush=True)


if __name__ == "__main__":
    main()

"""`make coverage`: simulate every setting; write `coverage.json` into the package, and the table here.

The first argument is the number of simulations of a setting (1,000 without it; half of them below 200 rows),
the second one the kinds of settings, the third one metrics, both all without it: what is simulated replaces
its rows of the table, setting by setting, and the others stay. With ``outside`` for the metrics those are
simulated whose share lies outside of what is meant, on either side, and was simulated less often.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path

from evalreport.intervals.estimates import ENOUGH, METHODS, NEAR, Measured
from evalreport.metrics.catalogue import find
from evalreport.metrics.record import (
    CalibrationGaps,
    CurvePoint,
    Proportion,
    SmoothGaps,
)
from tests.coverage.attainable import attainable
from tests.coverage.measure import Count, measured
from tests.coverage.settings import BINARY, DEPENDENT, GROUPED, HARD, MULTICLASS, MULTILABEL, TEXT, Setting

EVERY = (*BINARY, *MULTICLASS, *MULTILABEL, *DEPENDENT, *GROUPED, *TEXT, *HARD)
HERE = Path(__file__).parent
JSON = HERE.parents[1] / "evalreport" / "intervals" / "coverage.json"
TABLE = HERE / "COVERAGE.md"
SEED = 20240607
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
    "A truth at the end of its range (a calibrated model's ECE of 0),",
    "beyond the last row seen (recall at an FPR of 1% of a hundred negatives) or of several about equal",
    "can be missed on one side alone: the whole 5% are then on that side (Feldman & Cousins 1998). So they",
    "are where noise adds so much to a sum of gaps that no sample",
    "falls short of its truth. Some intervals stay wider than they need be:",
    "of a class of a few rows counts jump. Some are too narrow:",
    "with few distinct scores a curve jumps from step to step, and what it reads at a limit between two",
    "steps is one or the other: each step has limits of its own, the less likely it is the narrower.",
    "Average precision of classes of one to five rows is too high; what is told of that and taken off",
    "is half of it, and the lower end holds the rest. Where scores leave doubt about less than five rows,",
    "gaps from the smooth curve have no interval: those that were given held the truth in 74%.",
    "Of ten positives among 5,000 rows the Brier skill depends on a few of them, and what a sample without",
    "the rarest does not know is missing from its interval: it held the truth in 87%, the EER in 92%.",
    "",
    "A share of 200 simulations is known to three points, and one of 1,000 to one and a half.",
    "",
    "Some settings are there because intervals have it hard in them: a class of which there",
    "are a handful of rows, weights of which a few hold most of the mass, classes that hardly overlap, tied",
    "scores, a rare class in clusters.",
)
"""What the simulations hold intervals against."""


LEAST = 50
"""Intervals given from which on their share is kept: of fewer it is known to no more than ten points."""
FAR = (0.92, 0.98)
"""Shares beyond which the causes are counted."""
CAUSES: Mapping[str, tuple[type[object], ...]] = {
    "the truth may stand at the end of its range, and is then missed on one side alone: no sample has a "
    "calibration error of 0": (CalibrationGaps, SmoothGaps),
    "read at a limit, of few rows beyond it or in steps of tied scores; or few mistakes: counts jump, and "
    "what never falls short of 95% exceeds it elsewhere (Brown, Cai & DasGupta 2001)": (
        CurvePoint,
        Proportion,
    ),
    "a class of a few rows, whose own limits make those of the whole: too wide as a rule, too narrow where "
    "some of them decide a sum, as of the Brier skill": (object,),
}
"""Why shares lie far off, by the strategy of the interval: the first that holds."""


def cause(row: Measured) -> str:
    """Return why a share is far off."""
    name = row.metric.removeprefix("label: ")
    strategy = find(name, "binary" if name != row.metric else row.task).strategy  # type: ignore[arg-type]
    return next(words for words, kinds in CAUSES.items() if isinstance(strategy, kinds))


def causes(rows: Sequence[Measured]) -> list[str]:
    """Return the lines of a table: how many shares lie far off for which cause."""
    low, high = ([row for row in rows if beyond(row.coverage)] for beyond in (FAR[0].__gt__, FAR[1].__lt__))
    sure = [row for row in high if row.inevitable]
    lines = [
        f"## Below {FAR[0]:.0%}: {len(low)}; above {FAR[1]:.0%}: {len(high)}, {len(sure)} of them inevitable",
        "",
        "Inevitable: neighbouring counts of so few rows have 95% or more in no lower share than is told as",
        "attainable in the list at the end (`attainable.py`), or exact tests leave so many thresholds that",
        "what is read at them holds it as often (`limits.py`), give or take the error of the simulation.",
        "",
        f"| cause | below {FAR[0]:.0%} | above {FAR[1]:.0%} | inevitable |",
        "|---|---|---|---|",
    ]
    for words in CAUSES:
        parts = (sum(cause(row) == words for row in part) for part in (low, high, sure))
        lines.append(f"| {words} | {' | '.join(map(str, parts))} |")
    return [*lines, ""]


def counts_of(job: tuple[Setting, int, Sequence[str]]) -> dict[str, Count]:
    """Simulate one setting, a number of times; below 200 rows, where nothing is promised, half as often."""
    setting, simulations, only = job
    return measured(setting, simulations if setting.n >= ENOUGH else simulations // 2, SEED, only)


def rows_of(setting: Setting, found: Mapping[str, Count]) -> list[Measured]:
    """Return the coverage of each metric in one setting."""
    return [
        Measured(
            setting.task,
            name,
            "; ".join(sorted(count.methods)),
            setting.what,
            setting.n,
            count.given,
            round(count.coverage, 4),
        )
        for name, count in found.items()
        if count.given >= LEAST
    ]


def as_markdown(rows: list[Measured]) -> str:
    """Return the document: what the truth is, the methods, a line per metric and size, and what is off."""
    large = [row for row in rows if row.n >= ENOUGH]
    outside = [row for row in large if not row.is_within_target]
    settings = len({(row.setting, row.n, row.task) for row in rows})
    off = sum(not row.is_near_target for row in large)
    least, most = _simulations(rows)
    lines = [
        "# Measured coverage of the 95% intervals",
        "",
        f"Made by `make coverage` ({least:,} to {most:,} simulations of each of {settings} settings, fewer",
        "where a metric is undefined); not typed.",
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
        *causes(large),
        *tables(rows),
    ]
    return "\n".join(lines) + "\n"


def _simulations(rows: list[Measured]) -> tuple[int, int]:
    """Fewest and most simulations of a setting."""
    most: dict[tuple[str, str, int], int] = {}
    for row in rows:
        key = (row.task, row.setting, row.n)
        most[key] = max(row.simulations, most.get(key, 0))
    return min(most.values()), max(most.values())


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
        "| task | metric | setting | n | coverage | attainable | simulations | by more than their error |",
        "|---|---|---|---|---|---|---|---|",
        *(
            f"| {r.task} | `{r.metric}` | {r.setting} | {r.n} | {r.coverage:.1%} "
            f"| {'' if r.attainable is None else f'{r.attainable:.1%}'} | {r.simulations} "
            f"| {'no' if r.is_near_target else 'yes'} |"
            for r in rows
            if r.n >= ENOUGH and not r.is_within_target
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


def main(simulations: str = "1000", kinds: str = "", metrics: str = "", processes: str = "2") -> None:
    """Simulate setting by setting, and write both files after each: it can be stopped at any time."""
    order: dict[tuple[str, str, int], int] = {(s.task, s.what, s.n): i for i, s in enumerate(EVERY)}
    settings = [s for s in EVERY if not kinds or s.kind in kinds.split(",")]
    before = [Measured(**row) for row in json.loads(JSON.read_text("utf-8"))]
    table = {_key(row): row for row in before}
    chosen = {s: _chosen(s, int(simulations), metrics, before) for s in settings}
    settings = [s for s in settings if chosen[s] or not metrics]
    with ProcessPoolExecutor(int(processes)) as pool:
        found = pool.map(counts_of, [(s, int(simulations), chosen[s]) for s in settings])
        for setting, counts in zip(settings, found, strict=True):
            only = chosen[setting]
            gone = [k for k in table if k[:3] == (setting.task, setting.what, setting.n) and not only]
            table = {key: row for key, row in table.items() if key not in gone and key[:3] in order}
            table |= {_key(row): row for row in rows_of(setting, counts)}
            _write(sorted(table.values(), key=lambda row: order[_key(row)[:3]]))


def _chosen(s: Setting, simulations: int, metrics: str, rows: Sequence[Measured]) -> tuple[str, ...]:
    """The metrics to simulate in a setting; all of them where there is none."""
    if metrics != "outside":
        return tuple(filter(None, metrics.split(",")))
    own = (row for row in rows if _key(row)[:3] == (s.task, s.what, s.n) and s.n >= ENOUGH)
    return tuple(
        row.metric for row in own if not row.is_within_target and row.simulations < 0.7 * simulations
    )


def _key(row: Measured) -> tuple[str, str, int, str]:
    return row.task, row.setting, row.n, row.metric


def _explained(row: Measured) -> Measured:
    """A row far above with the share that its counts allow, where counts decide."""
    if row.n < ENOUGH or row.coverage <= FAR[1] or row.attainable is not None:
        return row
    setting = next(s for s in EVERY if (s.task, s.what, s.n) == _key(row)[:3])
    found = attainable(setting, row.metric)
    return row if found is None else replace(row, attainable=round(found, 4))


def written(row: Measured) -> str:
    """Return a row as JSON, without what it has not."""
    known = {name: value for name, value in asdict(row).items() if value is not None}
    return json.dumps(known, ensure_ascii=False)


def _write(rows: Sequence[Measured]) -> None:
    rows = [_explained(row) for row in rows]
    text = ",\n".join(map(written, rows))
    JSON.write_text(f"[\n{text}\n]\n", encoding="utf-8")
    TABLE.write_text(as_markdown(rows), encoding="utf-8")
    print(f"wrote {JSON.name} ({len(rows)} rows) and {TABLE.name}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

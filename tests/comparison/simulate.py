"""How often intervals of differences hold the true difference, and how often equal runs are told apart.

Models of known skill answer simulated test sets; their noise is shared in part, as that of models that were
trained on the same data is. `make coverage` runs it and keeps the result in
`evalreport/comparison/coverage.json` and, as tables, in `COVERAGE.md` beside this file.
"""

from __future__ import annotations

import json
import math
import sys
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from evalreport.comparison.compare import compare
from evalreport.comparison.differences import paired_difference
from evalreport.data.labels import Task
from evalreport.data.predictions import Categorical, Predictions
from evalreport.intervals.estimates import Measured
from evalreport.metrics.catalogue import COMPARED, find
from evalreport.statistics.summary import summarise
from tests.comparison import models
from tests.coverage.__main__ import SHARE, tables, written

RESULT = Path(__file__).parents[2] / "evalreport" / "comparison" / "coverage.json"
TABLE = Path(__file__).parent / "COVERAGE.md"
POPULATION = 2_000_000
"""(row, label) cells of the sample that stands for the population."""


@dataclass(frozen=True)
class Setting:
    """One kind of test set and pair of models.

    Parameters
    ----------
    shares : tuple of float
        Binary: the prevalence; else the share of each class or label.
    skills : (float, float)
        Distance of the two models' scores of positives from those of negatives.
    correlation : float
        Of the two models' noise.
    per_cluster : int
        Rows that share their noise, 1 for independent rows.
    weighted : bool
    """

    task: Task
    n: int
    shares: tuple[float, ...]
    skills: tuple[float, ...]
    correlation: float
    per_cluster: int = 1
    weighted: bool = False

    @property
    def what(self) -> str:
        """The setting in words."""
        size, first, last = len(self.shares), self.shares[0], self.shares[-1]
        kind = {"multiclass": f"{size} classes", "multilabel": f"{size} labels"}.get(self.task, "prevalence")
        share = f"{first:.3g}" if first == last else f"{first:.3g} to {last:.2g}"
        skills = " and ".join(f"{skill:g}" for skill in dict.fromkeys(self.skills))
        parts = [f"{kind} {share}", f"skill {skills}", f"shared noise {self.correlation:g}"]
        parts += [f"clusters of {self.per_cluster}"] if self.per_cluster > 1 else []
        return ", ".join([*parts, "weighted"] if self.weighted else parts)

    def draw(self, rng: np.random.Generator, n: int = 0) -> list[Predictions]:
        """Draw one test set with the answers of all models."""
        rows = n or self.n
        match self.task:
            case "binary":
                threshold = {0.5: 0.5, 0.2: 0.3, 0.05: 0.2}.get(self.shares[0], 0.3)
                found = models.binary(
                    rng, rows, self.shares[0], self.skills, self.correlation, threshold, self.per_cluster
                )
            case "multiclass":
                found = models.multiclass(rng, rows, np.array(self.shares), self.skills, self.correlation)
            case "multilabel":
                found = models.multilabel(rng, rows, np.array(self.shares), self.skills, self.correlation)
        if self.per_cluster > 1:
            codes = np.arange(rows, dtype=np.int32) // self.per_cluster
            groups = Categorical(codes, tuple(map(str, range(codes[-1] + 1))))
            found = [replace(p, groups=groups) for p in found]
        if self.weighted:
            weights = rng.lognormal(0, 0.7, rows)
            found = [replace(p, weights=weights, weighted=True) for p in found]
        return found


@cache
def truth(setting: Setting, names: tuple[str, ...]) -> dict[str, float]:
    """Return the true differences: 0 of equal models, else from a very large sample."""
    if len(set(setting.skills)) == 1:
        return dict.fromkeys(names, 0.0)
    plain = replace(setting, per_cluster=1, weighted=False)
    both = [
        summarise(p) for p in plain.draw(np.random.default_rng(99), POPULATION // max(1, len(setting.shares)))
    ]
    values = {name: [find(name, setting.task).compute_value(facts) for facts in both] for name in names}
    return {
        name: pair[0] - pair[1]
        for name, pair in values.items()
        if isinstance(pair[0], float) and isinstance(pair[1], float)
    }


def coverage(setting: Setting, times: int, names: Sequence[str] = (), seed: int = 0) -> dict[str, Measured]:
    """Return how often the intervals of each metric held the true difference.

    Metrics whose value never varies in the setting are left out.
    """
    rng = np.random.default_rng([seed, setting.n])
    true = truth(setting, tuple(names) or COMPARED[setting.task])
    held: dict[str, list[bool]] = defaultdict(list)
    methods: dict[str, set[str]] = defaultdict(set)
    wanted = [name for name in true if not (name == "top_3_accuracy" and len(setting.shares) < 4)]
    for _ in range(times):
        both = models.sides(setting.draw(rng))
        for name in wanted:
            found = paired_difference(find(name, setting.task), both, ("a", "b")).difference
            if found.low is not None and found.high is not None:
                held[name].append(found.low - 1e-12 <= true[name] <= found.high + 1e-12)
                methods[name].add(found.method)
    return {
        name: Measured(
            setting.task,
            name,
            ", ".join(sorted(methods[name])),
            setting.what,
            setting.n,
            len(hits),
            round(float(np.mean(hits)), 4),
        )
        for name, hits in held.items()
    }


def false_alarms(
    setting: Setting, runs: int, times: int, names: Sequence[str] = (), seed: int = 0
) -> dict[str, float]:
    """Return for each metric how often any two of several equally good runs were called different."""
    rng = np.random.default_rng([seed, setting.n, runs])
    equal = replace(setting, skills=setting.skills[:1] * runs)
    wanted = names or COMPARED[setting.task]
    raised = dict.fromkeys(wanted, 0)
    for _ in range(times):
        result = compare([models.bare(p) for p in equal.draw(rng)], None, metrics=wanted, details=False)
        for name in wanted:
            raised[name] += any(d.verdict in ("better", "worse") for d in result.differences_for(name))
    return {name: count / times for name, count in raised.items()}


def zipf(size: int) -> tuple[float, ...]:
    """Shares that fall as 1, 1/2, 1/3, …"""
    shares = 1 / np.arange(1, size + 1)
    return tuple((shares / shares.sum()).tolist())


def steps(size: int) -> tuple[float, ...]:
    """Shares from 0.4 to 0.03, each the same part of the one before."""
    return tuple(np.geomspace(0.4, 0.03, size).tolist())


PAIRS = (((2.0, 1.5), 0.3), ((1.8, 1.8), 0.7), ((2.0, 2.0), 0.95), ((3.0, 2.8), 0.6))
SETTINGS = (
    *(
        Setting("binary", n, (share,), skills, correlation)
        for n in (200, 1000)
        for share in (0.5, 0.2, 0.05)
        for skills, correlation in PAIRS
    ),
    *(
        Setting("multiclass", 200, shares, skills, correlation)
        for shares in ((1 / 3,) * 3, zipf(3), (1 / 20,) * 20, zipf(20))
        for skills, correlation in (((2.0, 1.6), 0.3), ((2.0, 2.0), 0.8))
    ),
    *(
        Setting("multilabel", 200, shares, skills, correlation)
        for shares in ((0.2,) * 5, steps(5), steps(20))
        for skills, correlation in (((2.0, 1.6), 0.3), ((2.0, 2.0), 0.8))
    ),
    *(Setting("binary", 400, (0.3,), skills, correlation, 4) for skills, correlation in PAIRS[:2]),
    *(Setting("binary", 400, (0.3,), skills, correlation, 1, True) for skills, correlation in PAIRS[:2]),
)
EQUAL = (
    Setting("binary", 300, (0.3,), (1.8,), 0.6),
    Setting("binary", 300, (0.1,), (1.8,), 0.3),
    Setting("binary", 200, (0.05,), (1.8,), 0.6),
    Setting("multiclass", 300, (0.2,) * 5, (1.8,), 0.5),
    Setting("multilabel", 300, (0.2,) * 5, (1.8,), 0.5),
)


RESAMPLED = (
    (Setting("binary", 400, (0.3,), (2.0, 1.5), 0.3), ("ks", "tpr_at_fpr05", "ece")),
    (Setting("binary", 400, (0.3,), (1.8, 1.8), 0.7), ("ks", "tpr_at_fpr05", "ece")),
    (Setting("binary", 400, (0.3,), (1.8, 1.8), 0.7, 4), ("ks", "tpr_at_fpr05", "ece")),
    (Setting("multiclass", 400, zipf(3), (2.0, 1.6), 0.3), ("ece", "classwise_ece")),
)
"""Metrics whose difference takes the paired bootstrap, which is slow: an eighth as often."""
RUNS = 10
PROCESSES = 1


def _covered(job: tuple[Setting, int, tuple[str, ...]]) -> list[Measured]:
    setting, times, names = job
    found = list(coverage(setting, times, names).values())
    print(setting.what, {row.metric: row.coverage for row in found}, flush=True)
    return found


def _named(setting: Setting, metrics: str) -> tuple[str, ...]:
    return tuple(name for name in metrics.split(",") if name in COMPARED[setting.task])


def _raised(job: tuple[Setting, int, tuple[str, ...]]) -> dict[str, Any]:
    setting, times, names = job
    found = false_alarms(setting, RUNS, times, names)
    print(setting.what, found, flush=True)
    return {"task": setting.task, "n": setting.n, "setting": setting.what, "times": times, "raised": found}


def as_markdown(rows: Sequence[Measured], significant: Sequence[dict[str, Any]]) -> str:
    """Return the document: coverage, and how often equal runs were told apart."""
    settings, outside = (
        len({(row.setting, row.n, row.task) for row in rows}),
        sum(not r.is_within_target for r in rows),
    )
    times = {row.simulations for row in rows if "bootstrap" not in row.method}
    # where a model hardly ever differs a few samples have no interval
    least, most = math.floor(min(times) / 500 + 0.5) * 500, max(times)
    lines = [
        "# Measured coverage of the 95% intervals of differences",
        "",
        f"Made by `make coverage` ({least:,} to {most:,} simulations of each of {settings} settings, fewer",
        "of the paired bootstrap, which is slow); not typed. An interval is meant to hold the true",
        f"difference of two models in {SHARE} of test sets. Of {len(rows):,} shares",
        f"{len(rows) - outside:,} are within that.",
        "Most others have ten positives, on which two models hardly ever differ: too coarse for 95%, so",
        "that their intervals hold the truth more often.",
        "",
        *tables(list(rows)),
        "",
        f"## {RUNS} equally good runs, all pairs: any two called different",
        "",
        "Holm's correction over all pairs by one metric; promised: at most 5%.",
        "",
        "| task | setting | n | times | metric | called different |",
        "|---|---|---|---|---|---|",
    ]
    for row in significant:
        head = f"| {row['task']} | {row['setting']} | {row['n']} | {row['times']} |"
        lines += [f"{head} `{name}` | {share:.1%} |" for name, share in row["raised"].items()]
    return "\n".join(lines) + "\n"


def write(rows: Sequence[Measured], significant: Sequence[dict[str, Any]]) -> None:
    """Replace the stored results of the same settings, in JSON for the tests and as tables for people."""
    before = json.loads(RESULT.read_text("utf-8"))
    table = {(r.task, r.metric, r.setting, r.n): r for r in (Measured(**row) for row in before["coverage"])}
    table |= {(r.task, r.metric, r.setting, r.n): r for r in rows}
    called: dict[Any, dict[str, Any]] = {}
    for found in (*before["false_alarms"], *significant):
        old = called.setdefault((found["task"], found["setting"], found["n"]), found)
        old |= {**found, "raised": old["raised"] | found["raised"]}
    rows, significant = list(table.values()), list(called.values())
    reported, raised = (",\n  ".join(part) for part in (map(written, rows), map(json.dumps, significant)))
    whole = f'{{\n "coverage": [\n  {reported}\n ],\n "false_alarms": [\n  {raised}\n ]\n}}\n'
    RESULT.write_text(whole, encoding="utf-8")
    TABLE.write_text(as_markdown(rows, significant), encoding="utf-8")


def main(times: str = "2000", words: str = "", metrics: str = "") -> None:
    """Measure settings one by one, and write each at once.

    The arguments are the number of simulations, parts of the descriptions of settings, separated by
    semicolons, and names of metrics, separated by commas; all settings and metrics by default.
    """

    def wanted(setting: Setting) -> bool:
        return any(word in f"{setting.task}, {setting.what}" for word in words.split(";"))

    often = int(times)
    slow = [(setting, often // 8, names) for setting, names in RESAMPLED if wanted(setting) and not metrics]
    jobs = [*slow, *((setting, often, _named(setting, metrics)) for setting in SETTINGS if wanted(setting))]
    with ProcessPoolExecutor(PROCESSES) as pool:
        for rows in pool.map(_covered, jobs):
            write(rows, [])
        for found in pool.map(
            _raised, [(setting, often // 5, _named(setting, metrics)) for setting in EQUAL if wanted(setting)]
        ):
            write([], [found])


if __name__ == "__main__":
    main(*sys.argv[1:])

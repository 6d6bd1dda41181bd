"""Simulations of weak slices and of own metrics: power, false slices, and coverage of intervals.

``python -m tests.features.weak_slices.simulate`` takes about ten minutes of CPU and writes `simulated.json`,
which the tests read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.data.labels import Binary, Multiclass
from evalreport.data.predictions import Predictions, predictions
from evalreport.data.scores import Probabilities
from evalreport.evaluation.parts import WeakSlices, WorseSlices
from evalreport.features.weak_slices.find import weak_slices, worse_slices
from evalreport.intervals.bootstrap import own_estimates
from evalreport.intervals.interval_settings import Sampling
from evalreport.metrics.own import own_metric

RESULTS = Path(__file__).with_name("simulated.json")
Columns = dict[str, npt.NDArray[Any]]
ROWS, ERROR, TIMES = 5_000, 0.1, 3
"""Rows, error rate outside of a planted slice, and how many times as high it is inside."""
KINDS = ("two classes", "three classes", "groups", "calibrated scores", "two equal runs")
PLANTED = {"number": {"age"}, "value": {"site"}, "crossing": {"site", "device"}}


def letters(generator: np.random.Generator, n: int) -> npt.NDArray[Any]:
    """Return a column of six values."""
    return np.array(list("abcdef"), dtype=object)[generator.integers(0, 6, n)]


def columns(generator: np.random.Generator, n: int) -> Columns:
    """Return columns of all kinds that have nothing to do with the errors."""
    return {
        "age": generator.uniform(18, 90, n),
        "amount": generator.lognormal(3, 1, n),
        "site": letters(generator, n),
        "device": letters(generator, n),
        "days": generator.integers(0, 400, n),
        "note": np.array(["x" * k for k in range(60)], dtype=object)[generator.integers(0, 60, n)],
    }


def planted(
    generator: np.random.Generator, n: int, size: float, how: str
) -> tuple[Columns, npt.NDArray[np.bool_]]:
    """Return columns, and which rows are in the planted slice."""
    found = columns(generator, n)
    if how == "number":
        return found, found["age"] > 90 - 72 * size
    if how == "value":
        inside = generator.random(n) < size
        found["site"] = np.where(inside, "rare", found["site"])
        return found, inside
    both = [generator.random(n) < np.sqrt(size) for _ in range(2)]
    found["site"], found["device"] = (np.where(part, "p", "q").astype(object) for part in both)
    return found, both[0] & both[1]


def decided(
    generator: np.random.Generator,
    found: Columns,
    error: npt.ArrayLike,
    *,
    classes: int = 2,
    groups: npt.NDArray[Any] | None = None,
    scores: bool = False,
) -> Predictions:
    """Return predictions that are wrong with a probability."""
    n = len(next(iter(found.values())))
    if scores:
        score = generator.beta(0.6, 1.4, n)
        truth = (generator.random(n) < score).astype(np.int64)
        return predictions(Binary(0, 1), truth, scores=Probabilities(score), columns=found, groups=groups)
    truth = generator.integers(0, classes, n)
    answer = np.where(generator.random(n) < np.asarray(error, dtype=np.float64), (truth + 1) % classes, truth)
    space = Binary(0, 1) if classes == 2 else Multiclass(list(range(classes)))
    return predictions(space, truth, answer, columns=found, groups=groups)


def second_run(
    generator: np.random.Generator,
    run: Predictions,
    redone: float,
    error: float,
    broken: float | npt.NDArray[np.floating[Any]] = 0.0,
) -> Predictions:
    """Return predictions of which some are made again with an error rate, and some become wrong."""
    again, wrong = generator.random(len(run)) < redone, generator.random(len(run)) < error
    answer = np.where(again, np.where(wrong, 1 - run.y_true, run.y_true), np.asarray(run.y_pred))
    breaks = (answer == run.y_true) & (generator.random(len(run)) < broken)
    answer = np.where(breaks, 1 - run.y_true, answer)
    return predictions(Binary(0, 1), run.y_true, answer, columns=dict(run.columns))


def power(sets: int, kinds: Sequence[str] = (*PLANTED, "worse run")) -> list[dict[str, Any]]:
    """Return how often a planted slice is confirmed, and one of other columns is."""
    results = []
    for how in kinds:
        wanted = PLANTED.get(how, {"site"})
        for size in (0.02, 0.05, 0.1):
            hits = others = 0
            for seed in range(sets):
                generator = np.random.default_rng((1, seed, int(1000 * size)))
                found, inside = planted(generator, ROWS, size, "value" if how == "worse run" else how)
                search: WeakSlices | WorseSlices | None
                if how == "worse run":
                    old = decided(generator, found, ERROR)
                    broken = inside * (TIMES - 1) * ERROR / (1 - ERROR)
                    new = second_run(generator, old, 0.2, ERROR, broken)
                    search = worse_slices(new, old, ("new", "old"), Sampling(seed=seed))
                else:
                    p = decided(generator, found, np.where(inside, TIMES * ERROR, ERROR))
                    search = weak_slices(p, Sampling(seed=seed))
                assert search is not None
                hits += any(wanted & {*one.columns} for one in search.confirmed)
                others += any(not wanted & {*one.columns} for one in search.confirmed)
            row = {
                "planted": how,
                "size": size,
                "sets": sets,
                "confirmed": hits / sets,
                "other": others / sets,
            }
            results.append(row)
            print(row, flush=True)
    return results


def grouped(generator: np.random.Generator, n: int) -> tuple[Columns, npt.NDArray[Any], npt.NDArray[Any]]:
    """Return columns that are the same within groups of ten rows, the groups, and errors that go together."""
    number = n // 10
    groups = np.repeat(np.arange(number), 10)
    found = {name: values[groups] for name, values in columns(generator, number).items()}
    return found, groups, generator.beta(1, 9, number)[groups]


def false_slices(sets: int, kinds: Sequence[str] = KINDS) -> list[dict[str, Any]]:
    """Return how often a slice is confirmed where none is planted."""
    results = []
    for kind in kinds:
        false, n = 0, 2_000
        for seed in range(sets):
            generator = np.random.default_rng((2, seed))
            if kind == "groups":
                found, groups, error = grouped(generator, n)
                p = decided(generator, found, error, groups=groups)
            else:
                found = columns(generator, n)
                p = decided(
                    generator,
                    found,
                    ERROR,
                    classes=3 if kind == "three classes" else 2,
                    scores=kind == "calibrated scores",
                )
            search: WeakSlices | WorseSlices | None
            if kind == "two equal runs":
                old, new = (second_run(generator, p, 0.2, ERROR) for _ in range(2))
                search = worse_slices(new, old, ("new", "old"), Sampling(seed=seed))
            else:
                search = weak_slices(p, Sampling(seed=seed))
            assert search is not None
            false += bool(search.confirmed)
        results.append({"of": kind, "rows": n, "sets": sets, "false": false / sets})
        print(results[-1], flush=True)
    return results


def money(
    y_true: Any, y_pred: Any, y_score: Any, weight: Any, columns: Mapping[str, npt.NDArray[Any]]
) -> float:
    """Return the mean loss of a decision: a missed amount, or five for a false positive."""
    missed = (y_true == 1) & (y_pred == 0)
    return float((missed * columns["amount"] + 5.0 * ((y_true == 0) & (y_pred == 1))).mean())


def f_beta_3(y_true: Any, y_pred: Any, y_score: Any, weight: Any, columns: Any) -> float:
    """Return F-beta with a recall three times as important as precision."""
    tp = float(((y_true == 1) & (y_pred == 1)).sum())
    fp, fn = float(((y_true == 0) & (y_pred == 1)).sum()), float(((y_true == 1) & (y_pred == 0)).sum())
    return 10 * tp / (10 * tp + 9 * fn + fp)


def top_decile_lift(y_true: Any, y_pred: Any, y_score: Any, weight: Any, columns: Any) -> float:
    """Return the prevalence among the tenth of the rows with the highest scores, relative to that of all."""
    size = len(y_score) // 10
    top = np.argpartition(-y_score, size)[:size]
    return float(y_true[top].mean() / y_true.mean())


METRICS = {"money": money, "f_beta_3": f_beta_3, "top_decile_lift": top_decile_lift}


def scored(generator: np.random.Generator, n: int) -> Predictions:
    """Return predictions with amounts, for own metrics."""
    truth = (generator.random(n) < 0.15).astype(np.int64)
    score = 1 / (1 + np.exp(-(generator.normal(size=n) + 1.6 * truth - 1.5)))
    p = predictions(
        Binary(0, 1),
        truth,
        scores=Probabilities(score),
        columns={"amount": generator.lognormal(3, 0.8, n)},
    )
    object.__setattr__(p, "own_metrics", METRICS)
    return p


def coverage(sets: int) -> list[dict[str, Any]]:
    """Return how often the bootstrap interval of an own metric contains the value of a million rows."""
    n, records = 1_000, [own_metric(name) for name in METRICS]
    truth = own_estimates(
        records, scored(np.random.default_rng(0), 1_000_000), 1e6, Sampling(intervals=False)
    )
    covered = dict.fromkeys(METRICS, 0)
    for seed in range(sets):
        p = scored(np.random.default_rng((3, seed)), n)
        for name, result in own_estimates(records, p, n, Sampling(seed=seed)).items():
            low, high, value = result.low, result.high, truth[name].value  # type: ignore[union-attr]
            assert low is not None and high is not None and value is not None
            covered[name] += low <= value <= high
    return [{"metric": name, "rows": n, "sets": sets, "coverage": k / sets} for name, k in covered.items()]


def main() -> None:
    """Simulate and write the results."""
    found = {"coverage": coverage(500), "power": power(200), "false": false_slices(1_000)}
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()

"""A judge compared with people, and the pass rate corrected by the grades of people.

Where a model graded all items and people some of them, the rates of people within the items that the judge
passes and fails are combined by the judge's own proportions. This is prediction-powered inference
(Angelopoulos et al. 2023) for a judge of two values: with the best weight of the judge (PPI++) it is the
same estimator. Intervals are Wilson's within each part, combined by MOVER (Zou & Donner 2008): at rates
near 0 or 1 they cover what the normal interval of PPI++ does not (`coverage.json`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from evalreport.core.errors import DataError
from evalreport.core.json_codec import Whole
from evalreport.core.result import Estimate, Result, Undefined
from evalreport.data.labels import Binary, Multiclass
from evalreport.data.predictions import Predictions, predictions
from evalreport.evaluation.evaluate import evaluate_predictions
from evalreport.evaluation.parts import Slice
from evalreport.evaluation.slices import judged_slices, slice_facts
from evalreport.features.graded.metrics import OF_JUDGE
from evalreport.features.graded.repeats import bounded_limits
from evalreport.intervals.distributions import t_quantile, wilson
from evalreport.intervals.interval_settings import Sampling
from evalreport.intervals.paired import effective
from evalreport.statistics.confusion import Array

MOST: Final = 50
"""Disagreements that are listed."""
LARGE_DIFFERENCE: Final = 3.3
"""Standard errors from which a slice is reported to differ between items with and without human grades."""
Codes = npt.NDArray[np.integer]


@dataclass(frozen=True)
class Disagreement:
    """An item that the judge and people grade differently."""

    id: str
    judge: str
    human: str
    text: str | None = None


@dataclass(frozen=True)
class JudgeResult:
    """Agreement of a judge with people, and the corrected pass rate.

    Parameters
    ----------
    n_judge, n_human : int
        Items with a grade of the judge, and with grades of both.
    agreement, kappa, sensitivity, specificity : Estimate or Undefined
        Of the judge against people.
    base_rates : mapping
        Pass rates of both on the items with both grades.
    always_pass : float
        Agreement of a judge that always says pass.
    corrected : Estimate or Undefined
        The pass rate as people would grade all items.
    judge_rate, human_rate : Estimate or Undefined
        Of the judge over all items, and of people over theirs.
    human_needed : int or None
        Grades of people that halve the interval of `corrected`; None where only more items do.
    slices : tuple of Slice
        Agreement by slice.
    disagreements : tuple of Disagreement
    """

    n_judge: Whole
    n_human: Whole
    agreement: Result
    kappa: Result
    sensitivity: Result
    specificity: Result
    base_rates: Mapping[str, float]
    always_pass: float
    corrected: Result
    judge_rate: Result
    human_rate: Result
    human_needed: Whole | None
    slices: tuple[Slice, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()

    def estimates(self) -> dict[str, Result]:
        """Return the estimates by name."""
        names = (*OF_JUDGE, "corrected", "judge_rate", "human_rate")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, eq=False)
class JudgedItems:
    """Grades of the judge for all items and of people for some, as a comparison needs them."""

    made: Predictions
    human: Codes


def judge_result(
    made: Predictions, human: Codes, judge_rate: Result, sampling: Sampling, *, withheld: bool = False
) -> JudgeResult:
    """Return how a judge agrees with people.

    Parameters
    ----------
    made : Predictions
        Items with the grade of the judge.
    human : int array of shape (n,)
        0 pass, 1 fail, -1 without a grade of people.
    judge_rate : Estimate or Undefined
        Pass rate of the judge over all items.

    Raises
    ------
    DataError
        No item has a human grade, or all human grades are the same.
    """
    judge, rows = np.asarray(made.y_pred), np.flatnonzero(human >= 0)
    if not len(rows):
        raise DataError(
            "no item has a human grade", where="--set human", fix="let people grade a random sample"
        )
    if len({*human[rows].tolist()}) < 2:
        only = ("pass", "fail")[int(human[rows[0]])]
        subject = "the only human grade is" if len(rows) == 1 else f"all {len(rows)} human grades are"
        raise DataError(
            f"{subject} {only!r}: the judge cannot be compared with it",
            where="--set human",
            fix="let people grade more items",
        )
    by_people, by_judge = (np.where(codes[rows] == 0, "pass", "fail") for codes in (human, judge))
    groups = None if made.groups is None else made.groups.codes[rows]
    both = predictions(Binary("fail", "pass"), by_people, by_judge, groups=groups)
    found = evaluate_predictions(both, sampling, only=tuple(OF_JUDGE.values()))
    slices = {name: np.asarray(one.values)[one.codes[rows]] for name, one in made.slices.items()}
    by_slice = predictions(Multiclass(("fail", "pass")), by_people, by_judge, groups=groups, slices=slices)
    passed, people = judge == 0, human[rows] == 0
    clusters = None if made.groups is None else made.groups.codes
    corrected, needed = corrected_rate(passed, human, sampling, clusters)
    differs = rows[passed[rows] != people]
    return JudgeResult(
        n_judge=len(judge),
        n_human=len(rows),
        **{name: found[metric] for name, metric in OF_JUDGE.items()},
        base_rates={"judge": float(passed[rows].mean()), "human": float(people.mean())},
        always_pass=float(people.mean()),
        corrected=corrected,
        judge_rate=judge_rate,
        human_rate=_rate(people, sampling, None if clusters is None else clusters[rows]),
        human_needed=needed,
        slices=judged_slices(slice_facts(by_slice), sampling, by_slice),
        disagreements=() if withheld else tuple(_disagreement(made, human, row) for row in differs[:MOST]),
    )


def _disagreement(made: Predictions, human: Codes, row: int) -> Disagreement:
    return Disagreement(
        str(row if made.ids is None else made.ids[row]),
        "pass" if np.asarray(made.y_pred)[row] == 0 else "fail",
        "pass" if human[row] == 0 else "fail",
        None if made.texts is None else str(made.texts[row]),
    )


def _rate(passed: npt.NDArray[np.bool_], sampling: Sampling, clusters: Codes | None) -> Result:
    value, n = float(passed.mean()), len(passed)
    if clusters is not None:
        return _of_parts(value, (passed - value) / n, clusters, n, sampling)
    low, high = (float(end) for end in wilson(passed.sum(), n, sampling.level))
    return Estimate(value, n, low, high, "wilson")


def _of_parts(value: float, parts: Array, clusters: Codes, n: float, sampling: Sampling) -> Result:
    sums = np.bincount(np.unique(clusters, return_inverse=True)[1], parts).astype(np.float64)
    if len(sums) < 2:
        return Estimate(value, n, reason="an interval needs at least 2 groups")
    error = effective(sums).standard_error
    low, high = bounded_limits(value, error, len(sums), sampling, (0.0, 1.0))
    return Estimate(value, n, low, high, "score, by cluster", error)


def corrected_rate(
    judge: npt.NDArray[np.bool_], human: Codes, sampling: Sampling, clusters: Codes | None = None
) -> tuple[Result, int | None]:
    """Return the pass rate as people would grade all items, and the human grades that halve its interval.

    Parameters
    ----------
    judge : bool array of shape (n,)
        Whether the judge passes an item.
    human : int array of shape (n,)
        0 pass, 1 fail, -1 without a grade of people.
    clusters : int array of shape (n,), optional
        Items that belong together.

    Examples
    --------
    >>> judge, human = np.repeat([True, False], 500), np.full(1000, -1)
    >>> human[:50], human[500:550] = np.repeat([0, 1], [40, 10]), np.repeat([0, 1], [5, 45])
    >>> found, needed = corrected_rate(judge, human, Sampling())
    >>> round(found.value, 2), round(found.low, 2), round(found.high, 2), needed
    (0.45, 0.38, 0.52, 567)
    """
    known = human >= 0
    n, size = int(known.sum()), len(judge)
    weight = np.array([float((~judge).mean()), float(judge.mean())])
    counts = np.array([int((known & (judge == side)).sum()) for side in (False, True)])
    passed = np.array([int((known & (judge == side) & (human == 0)).sum()) for side in (False, True)])
    if ((counts == 0) & (weight > 0)).any():
        side = "passes" if counts[1] == 0 else "fails"
        return Undefined(f"people graded no item that the judge {side}", n), None
    used = counts > 0
    rate = np.divide(passed, counts, out=np.zeros(2), where=used)
    value = float(weight @ rate)
    spread = (rate[1] - rate[0]) ** 2 * weight[0] * weight[1] / size
    inner = np.divide(rate * (1 - rate), counts, out=np.zeros(2), where=used)
    needed = _grades_needed(float(weight**2 @ inner), float(spread), n)
    if clusters is not None:
        by = judge.astype(np.intp)
        share = np.divide(weight, counts, out=np.zeros(2), where=used)
        parts = np.where(known, ((human == 0) - rate[by]) * share[by], 0.0)
        parts = parts + (rate[by] - value) / size
        return _of_parts(value, parts, clusters, n, sampling), needed
    ends = [np.where(used, end, 0.0) for end in wilson(passed, np.maximum(counts, 1), sampling.level)]
    down, up = weight * (rate - ends[0]), weight * (ends[1] - rate)
    beside = sampling.z**2 * spread
    low = max(value - math.sqrt(float(down @ down) + beside), 0.0)
    high = min(value + math.sqrt(float(up @ up) + beside), 1.0)
    error = math.sqrt(float(weight**2 @ inner) + float(spread))
    return Estimate(value, n, low, high, "Wilson by the judge's grade, MOVER", error), needed


def _grades_needed(inner: float, beside: float, n: int) -> int | None:
    """Return the human grades that halve the standard error; None where only more items do."""
    left = (inner + beside) / 4 - beside
    return None if left <= 0 else math.ceil(inner * n / left)


def differing_slices(made: Predictions, human: Codes) -> list[str]:
    """Return the slices whose proportion differs between items with and without human grades."""
    known, found = human >= 0, []
    n, rest = int(known.sum()), int((~known).sum())
    if not n or not rest:
        return []
    for name, column in made.slices.items():
        for code, text in enumerate(column.values):
            inside = column.codes == code
            a, b, pooled = inside[known].mean(), inside[~known].mean(), inside.mean()
            error = math.sqrt(pooled * (1 - pooled) * (1 / n + 1 / rest))
            if error and abs(a - b) > LARGE_DIFFERENCE * error:
                found.append(f"{name} = {text}")
    return found


def shared_items(a: JudgedItems, b: JudgedItems) -> tuple[tuple[Codes, Codes], tuple[Codes, Codes]] | None:
    """Return the grades of judge and people on the items of both, matched by id; None without ids."""
    if a.made.ids is None or b.made.ids is None:
        return None
    _, first, second = np.intersect1d(a.made.ids, b.made.ids, return_indices=True)
    one, other = np.asarray(a.made.y_pred)[first], np.asarray(b.made.y_pred)[second]
    return (one, a.human[first]), (other, b.human[second])


def corrected_difference(
    first: tuple[Codes, Codes], second: tuple[Codes, Codes], sampling: Sampling
) -> Result:
    """Return the difference of two pass rates as people would grade all items, through one judge (PPI++).

    Parameters
    ----------
    first, second : (judge, human) of each system on the same items
        0 pass, 1 fail, -1 without a grade.

    Examples
    --------
    >>> judge, human = np.array([0, 1] * 100), np.full(200, -1)
    >>> human[:40] = judge[:40]
    >>> corrected_difference((judge, human), (judge, human), Sampling()).value
    0.0
    """
    known = (first[1] >= 0) & (second[1] >= 0)
    judge = (first[0] == 0).astype(np.float64) - (second[0] == 0)
    people = ((first[1] == 0).astype(np.float64) - (second[1] == 0))[known]
    n = len(people)
    if n < 2:
        return Undefined("people graded fewer than 2 items of both systems", n)
    inside, outside = judge[known], judge[~known]
    if not len(outside):
        return _student(float(people.mean()), _difference_variance(people) / n, n, sampling)
    both = float(inside.var(ddof=1))
    covariance = float(np.cov(people, inside, ddof=1)[0, 1])
    weight = min(max(covariance / (both * (1 + n / len(outside))), 0.0), 1.0) if both else 0.0
    value = weight * float(outside.mean()) + float((people - weight * inside).mean())
    variance = weight**2 * float(judge.var(ddof=1)) / len(outside)
    variance += _difference_variance(people - weight * inside) / n
    return _student(value, variance, n, sampling)


def _difference_variance(values: Array) -> float:
    """Return the variance of differences with one more item, half at -1 and half at 1.

    Without it, two systems that differ in no item with human grades would have an interval of no width.
    """
    n = len(values)
    return (float(values.var(ddof=1)) * (n - 1) + 1) / n


def _student(value: float, variance: float, n: int, sampling: Sampling) -> Result:
    half = t_quantile(sampling.upper, n - 1) * math.sqrt(variance)
    low, high = max(value - half, -1.0), min(value + half, 1.0)
    return Estimate(value, n, min(low, value), max(high, value), "PPI++", math.sqrt(variance))

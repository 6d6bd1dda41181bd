"""Slow, obvious second implementations, row by row, of what scikit-learn lacks; and published numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

from evalreport.core.result import Undefined
from evalreport.data.labels import Binary, Multiclass, Task
from evalreport.data.predictions import predictions
from evalreport.features.text_labels.parser import make_parser, parse_all
from evalreport.metrics import binary_decisions, binary_ranking
from evalreport.metrics.catalogue import added_metrics, catalogue, find, one_label
from evalreport.statistics.confusion import BinaryCounts
from evalreport.statistics.score_table import ScoreTable
from evalreport.statistics.summary import summarise
from tests.metrics.cases import Case, binary_cases, multiclass_cases, multilabel_cases
from tests.metrics.test_scikit_learn import REFERENCES

Oracle = Callable[[Case], float]
NAN = math.nan


def weigh(case: Case) -> list[float]:
    return [1.0] * len(case.y) if case.weights is None else case.weights.tolist()


def triples(case: Case) -> list[tuple[int, float, float]]:
    """(truth, score, weight) of the rows that weigh anything."""
    rows = zip(case.y.tolist(), case.score.astype(float).tolist(), weigh(case), strict=True)
    return [row for row in rows if row[2] > 0]


@dataclass
class Cells:
    """The four counts, added up row by row."""

    tp: float = 0
    fp: float = 0
    fn: float = 0
    tn: float = 0

    @property
    def n(self) -> float:
        return self.tp + self.fp + self.fn + self.tn

    @property
    def recall(self) -> float:
        return self.tp / (self.tp + self.fn)

    @property
    def specificity(self) -> float:
        return self.tn / (self.tn + self.fp)

    @property
    def precision(self) -> float:
        return self.tp / (self.tp + self.fp)

    @property
    def npv(self) -> float:
        return self.tn / (self.tn + self.fn)

    @property
    def majority(self) -> float:
        return max(self.tp + self.fn, self.fp + self.tn) / self.n


def of_cells(function: Callable[[Cells], float]) -> Oracle:
    def oracle(case: Case) -> float:
        cells = Cells()
        for y, p, w in zip(case.y.tolist(), case.pred.tolist(), weigh(case), strict=True):
            name = {(1, 1): "tp", (0, 1): "fp", (1, 0): "fn", (0, 0): "tn"}[y, p]
            setattr(cells, name, getattr(cells, name) + w)
        try:
            return function(cells)
        except ZeroDivisionError:
            return NAN

    return oracle


def points(case: Case) -> list[tuple[float, float, float]]:
    """(FPR, TPR, precision) at every threshold, the strictest first, by counting again at each."""
    rows = triples(case)
    positives = sum(w for y, _, w in rows if y)
    negatives = sum(w for y, _, w in rows if not y)
    found = []
    for threshold in sorted({s for _, s, _ in rows}, reverse=True):
        tp = sum(w for y, s, w in rows if y and s >= threshold)
        fp = sum(w for y, s, w in rows if not y and s >= threshold)
        found.append((fp / negatives, tp / positives, tp / (tp + fp)))
    return found


def at_points(function: Callable[[list[tuple[float, float, float]]], float]) -> Oracle:
    return lambda case: function(points(case))


def equal_error(found: list[tuple[float, float, float]]) -> float:
    before = (0.0, 0.0)
    for fpr, tpr, _ in found:
        if 1 - tpr <= fpr:
            gap, past = 1 - before[1] - before[0], 1 - tpr - fpr
            return before[0] + gap / (gap - past) * (fpr - before[0])
        before = (fpr, tpr)
    return NAN


def lift10(case: Case) -> float:
    """Expected positives among the top tenth, over all orders of ties."""
    rows = triples(case)
    room = total = 0.1 * sum(w for *_, w in rows)
    found = 0.0
    for score in sorted({s for _, s, _ in rows}, reverse=True):
        here = sum(w for _, s, w in rows if s == score)
        good = sum(w for y, s, w in rows if s == score and y)
        found += good * min(1.0, room / here)
        room = max(0.0, room - here)
    return found / total / (sum(w for y, _, w in rows if y) / (10 * total))


def murphy(case: Case) -> dict[str, float]:
    rows = triples(case)
    total = sum(w for *_, w in rows)
    base = sum(w for y, _, w in rows if y) / total
    reliability = resolution = 0.0
    for score in {s for _, s, _ in rows}:
        here = sum(w for _, s, w in rows if s == score)
        rate = sum(w for y, s, w in rows if s == score and y) / here
        reliability += here * (score - rate) ** 2 / total
        resolution += here * (rate - base) ** 2 / total
    return {"reliability": reliability, "resolution": resolution, "uncertainty": base * (1 - base)}


def bin_number(p: float, bins: int = 15) -> int:
    """Right-closed, the first holding 0; against the same edges as floats."""
    edges = np.linspace(0, 1, bins + 1)
    return next(b for b in range(bins) if p <= edges[b + 1])


def gaps(rows: list[tuple[float, float, float]], number: Callable[[int], int]) -> list[tuple[float, float]]:
    """(weight, mean gap) per bin of (outcome, probability, weight) rows."""
    bins: dict[int, list[tuple[float, float, float]]] = {}
    for i, row in enumerate(rows):
        bins.setdefault(number(i), []).append(row)
    found = []
    for held in bins.values():
        weight = sum(w for *_, w in held)
        found.append((weight, abs(sum(w * (p - y) for y, p, w in held)) / weight))
    return found


def width_gaps(rows: list[tuple[float, float, float]]) -> list[tuple[float, float]]:
    return gaps(rows, lambda i: bin_number(rows[i][1]))


def mean_gap(found: list[tuple[float, float]]) -> float:
    return sum(w * g for w, g in found) / sum(w for w, _ in found)


def mass_gaps(rows: list[tuple[int, float, float]]) -> list[tuple[float, float]]:
    total = sum(w for *_, w in rows)

    def number(i: int) -> int:
        below = sum(w for _, s, w in rows if s < rows[i][1])
        tied = sum(w for _, s, w in rows if s == rows[i][1])
        return min(14, math.floor(15 * (below + tied / 2) / total + 1e-9))

    return gaps(rows, number)  # type: ignore[arg-type]


def recalibrated(case: Case) -> tuple[float, float]:
    import statsmodels.api as sm

    rows = np.array(triples(case))
    p = np.clip(rows[:, 1], 1e-6, 1 - 1e-6)
    design = sm.add_constant(np.log(p / (1 - p)), has_constant="add")
    fit = sm.GLM(rows[:, 0], design, family=sm.families.Binomial(), freq_weights=rows[:, 2])
    found = fit.fit(tol=1e-13, maxiter=200).params
    return float(found[0]), float(found[1])


def isotonic(case: Case) -> tuple[float, float]:
    """Brier score, and that after scikit-learn's isotonic regression on the same rows."""
    y, p, w = np.array(triples(case)).T
    fit = IsotonicRegression(y_min=0, y_max=1).fit(p, y, w).predict(p)
    return float(np.average((p - y) ** 2, weights=w)), float(np.average((fit - y) ** 2, weights=w))


def smooth_gaps(case: Case) -> list[tuple[float, float]]:
    """(gap, weight) of each row from a logistic fit by statsmodels on a natural spline of SciPy's."""
    import statsmodels.api as sm
    from scipy.interpolate import CubicSpline

    y, p, w = np.array(sorted(triples(case), key=lambda row: row[1])).T
    x = np.log(np.clip(p, 1e-6, 1 - 1e-6) / (1 - np.clip(p, 1e-6, 1 - 1e-6)))
    share = np.cumsum(w) / w.sum()
    knots = np.unique([x[np.argmax(share >= q - 1e-9)] for q in (0.05, 0.35, 0.65, 0.95)])
    columns = [np.ones(len(x)), x]
    if len(knots) > 2:
        spline = CubicSpline(knots, np.eye(len(knots)), bc_type="natural")
        inside, slopes = np.clip(x, knots[0], knots[-1]), spline(knots[[0, -1]], 1)
        basis = spline(inside) + np.minimum(x - knots[0], 0)[:, None] * slopes[0]
        columns = list((basis + np.maximum(x - knots[-1], 0)[:, None] * slopes[1]).T)
    fit = sm.GLM(y, np.stack(columns, 1), family=sm.families.Binomial(), freq_weights=w).fit(tol=1e-13)
    return sorted(zip(np.abs(p - fit.fittedvalues).tolist(), w.tolist(), strict=True))


def net_benefit(case: Case) -> float:
    assert case.threshold is not None
    odds = case.threshold / (1 - case.threshold)
    return of_cells(lambda c: (c.tp - c.fp * odds) / c.n)(case)


BINARY: dict[str, Oracle] = {
    "prevalence": of_cells(lambda c: (c.tp + c.fn) / c.n),
    "predicted_positive_rate": of_cells(lambda c: (c.tp + c.fp) / c.n),
    "no_information_rate": of_cells(lambda c: c.majority),
    "fpr": of_cells(lambda c: 1 - c.specificity),
    "fnr": of_cells(lambda c: 1 - c.recall),
    "youden_j": of_cells(lambda c: c.recall + c.specificity - 1),
    "markedness": of_cells(lambda c: c.precision + c.npv - 1),
    "g_mean": of_cells(lambda c: math.sqrt(c.recall * c.specificity)),
    "fowlkes_mallows": of_cells(lambda c: math.sqrt(c.precision * c.recall)),
    "diagnostic_odds_ratio": of_cells(lambda c: c.tp * c.tn / (c.fp * c.fn)),
    "net_benefit": net_benefit,
    "ks": at_points(lambda found: max(0.0, *(tpr - fpr for fpr, tpr, _ in found))),
    "eer": at_points(equal_error),
    "tpr_at_fpr01": at_points(lambda found: max([0.0] + [t for f, t, _ in found if f <= 0.01 + 1e-12])),
    "tpr_at_fpr05": at_points(lambda found: max([0.0] + [t for f, t, _ in found if f <= 0.05 + 1e-12])),
    "fpr_at_tpr95": at_points(lambda found: min(f for f, t, _ in found if t >= 0.95 - 1e-12)),
    "precision_at_recall90": at_points(lambda found: max(p for _, t, p in found if t >= 0.9 - 1e-12)),
    "recall_at_precision90": at_points(
        lambda found: max([t for _, t, p in found if p >= 0.9 - 1e-12], default=NAN)
    ),
    "lift_at_10": lift10,
    "brier_reliability": lambda case: murphy(case)["reliability"],
    "brier_resolution": lambda case: murphy(case)["resolution"],
    "brier_uncertainty": lambda case: murphy(case)["uncertainty"],
    "corp_miscalibration": lambda case: isotonic(case)[0] - isotonic(case)[1],
    "corp_discrimination": lambda case: murphy(case)["uncertainty"] - isotonic(case)[1],
    "ece": lambda case: mean_gap(width_gaps(triples(case))),  # type: ignore[arg-type]
    "ece_equal_mass": lambda case: mean_gap(mass_gaps(triples(case))),
}


def class_weights(codes: Any, case: Case) -> list[float]:
    found = [0.0] * len(case.space)
    for code, w in zip(codes.tolist(), weigh(case), strict=True):
        if code >= 0:
            found[code] += w
    return found


def states(case: Case) -> list[tuple[bool, bool]]:
    """(occurs, is predicted) per class."""
    return [
        (s > 0, p > 0)
        for s, p in zip(class_weights(case.y, case), class_weights(case.pred, case), strict=True)
    ]


def right(case: Case) -> float:
    return sum(w for y, p, w in zip(case.y.tolist(), case.pred.tolist(), weigh(case), strict=True) if y == p)


def f1s(case: Case) -> tuple[float, float]:
    """(micro, macro over the classes that occur or are predicted)."""
    support, predicted = class_weights(case.y, case), class_weights(case.pred, case)
    hits = class_weights(np.where(case.y == case.pred, case.y, -1), case)
    each = [2 * h / (s + p) for h, s, p in zip(hits, support, predicted, strict=True) if s + p]
    return 2 * sum(hits) / (sum(support) + sum(predicted)), sum(each) / len(each)


def top_label_gap(case: Case) -> float:
    rows = [
        (float(scores.argmax() == y), float(scores.max()), w)
        for scores, y, w in zip(case.score, case.y.tolist(), weigh(case), strict=True)
        if w
    ]
    return mean_gap(width_gaps(rows))


def class_gap(case: Case, *, declared: bool = False) -> float:
    found = []
    for k in range(len(case.space)):
        rows = [
            (float(y == k), float(s[k]), w)
            for s, y, w in zip(case.score, case.y.tolist(), weigh(case), strict=True)
            if w
        ]
        if declared or any(y for y, _, _ in rows):
            found.append(mean_gap(width_gaps(rows)))
    return sum(found) / len(found)


def in_the_large(case: Case) -> float:
    """By halving, row by row."""
    rows = [
        (math.log(q / (1 - q)), y, w)
        for s, y, w in zip(case.score, case.y.tolist(), weigh(case), strict=True)
        if w
        for q in [min(max(float(s), 1e-6), 1 - 1e-6)]
    ]
    certain = math.log(1e-6 / (1 - 1e-6))
    if len({y for _, y, _ in rows}) < 2 or all(abs(x) >= -certain - 1e-9 for x, _, _ in rows):
        return math.nan
    low, high = -40.0, 40.0
    for _ in range(100):
        at = (low + high) / 2
        gap = sum(w * (y - 1 / (1 + math.exp(-(x + at)))) for x, y, w in rows)
        low, high = (at, high) if gap > 0 else (low, at)
    return low


def expected_ratio(case: Case) -> float:
    pairs = list(zip(case.score.tolist(), case.y.tolist(), weigh(case), strict=True))
    expected = sum(w * s for s, _, w in pairs)
    return sum(w * y for _, y, w in pairs) / expected if expected else math.nan


BINARY |= {"calibration_in_the_large": in_the_large, "observed_expected_ratio": expected_ratio}
MULTICLASS: dict[str, Oracle] = {
    "no_information_rate": lambda case: max(class_weights(case.y, case)) / sum(weigh(case)),
    "micro_macro_gap": lambda case: f1s(case)[0] - f1s(case)[1],
    "ece": top_label_gap,
    "classwise_ece": class_gap,
    "classwise_ece_declared": lambda case: class_gap(case, declared=True),
    "n_labels": lambda case: len(case.space),
    "n_absent": lambda case: sum(not occurs for occurs, _ in states(case)),
    "n_never_predicted": lambda case: sum(occurs and not said for occurs, said in states(case)),
    "n_spurious": lambda case: sum(said and not occurs for occurs, said in states(case)),
}


def mean_row(quantity: Callable[[Case, int], float]) -> Oracle:
    def oracle(case: Case) -> float:
        return sum(w * quantity(case, row) for row, w in enumerate(weigh(case))) / sum(weigh(case))

    return oracle


def top_is_wrong(case: Case, row: int) -> float:
    top = np.flatnonzero(case.score[row] == case.score[row].max())
    return float(np.mean([not case.y[row, k] for k in top]))


MULTILABEL: dict[str, Oracle] = {
    "one_error": mean_row(top_is_wrong),
    "cardinality_true": mean_row(lambda case, row: case.y[row].sum()),
    "cardinality_predicted": mean_row(lambda case, row: case.pred[row].sum()),
    "empty_prediction_rate": mean_row(lambda case, row: not case.pred[row].any()),
}


def distance(case: Case, row: int) -> float:
    return abs(int(case.y[row]) - int(case.pred[row]))


def ranked_score(case: Case, row: int) -> float:
    cuts = [
        (math.fsum(case.score[row, : k + 1].tolist()) - (case.y[row] <= k)) ** 2
        for k in range(len(case.space) - 1)
    ]
    return float(sum(cuts) / len(cuts))


def in_order(oracle: Oracle, *, read: bool = False) -> Oracle:
    """Where the labels are ordered, and (`read`) every answer was."""

    def known(case: Case) -> float:
        ordered = isinstance(case.space, Multiclass) and case.space.ordered
        return oracle(case) if ordered and not (read and (case.pred < 0).any()) else math.nan

    return known


MULTICLASS |= {
    "mean_absolute_error": in_order(mean_row(distance), read=True),
    "ranked_probability_score": in_order(mean_row(ranked_score)),
}
ORACLES: dict[Task, dict[str, Oracle]] = {
    "binary": BINARY,
    "multiclass": MULTICLASS,
    "multilabel": MULTILABEL,
}
CASES: dict[Task, list[Case]] = {
    "binary": [case for case in binary_cases(40, seed=1) if len(case.y) <= 200],
    "multiclass": [case for case in multiclass_cases(16, seed=1) if len(case.y) <= 60],
    "multilabel": [case for case in multilabel_cases(16, seed=1) if len(case.y) <= 60],
}


@pytest.mark.parametrize(("task", "name"), [(task, name) for task in ORACLES for name in ORACLES[task]])
def test_agrees_with_the_slow_way(task: Task, name: str) -> None:
    metric, defined = find(name, task), 0
    for case in CASES[task]:
        ours, slow = metric.compute_value(case.summary), ORACLES[task][name](case)
        if isinstance(ours, Undefined):
            assert math.isnan(slow), (name, slow, ours)
        else:
            defined += 1
            assert ours == pytest.approx(slow, rel=1e-11, abs=1e-12)
    assert defined >= 3


def test_recalibration_agrees_with_statsmodels() -> None:
    checked = 0
    for case in CASES["binary"]:
        ours = (
            find("calibration_intercept").compute_value(case.summary),
            find("calibration_slope").compute_value(case.summary),
        )
        if isinstance(ours[0], Undefined) or isinstance(ours[1], Undefined):
            continue
        assert ours == pytest.approx(recalibrated(case), rel=1e-6, abs=1e-6)
        checked += 1
    assert checked > 10


def test_the_smooth_curve_agrees_with_statsmodels_on_another_basis() -> None:
    cases = [
        case
        for case in binary_cases(24, seed=5)  # scores of 0 and 1 have logits that no fit is sure about
        if len(case.y) == 1000 and case.score.min() > 0 and case.score.max() < 1
    ]
    for case in cases:
        gaps = smooth_gaps(case)
        assert find("ici").compute_value(case.summary) == pytest.approx(
            mean_gap([(w, g) for g, w in gaps]), abs=1e-4
        )
    assert len(cases) >= 4


def test_recalibration_of_a_large_table_finds_the_same_optimum() -> None:
    rng = np.random.default_rng(0)
    p = rng.beta(1, 3, 60_000)
    table = ScoreTable.from_scores(
        p, rng.random(60_000) < 1 / (1 + np.exp(-(0.3 + 0.7 * np.log(p / (1 - p)))))
    )
    intercept, slope = table.recalibration
    clipped = np.clip(table.scores, 1e-6, 1 - 1e-6)
    z = intercept + slope * np.log(clipped / (1 - clipped))
    left = table.pos - (table.pos + table.neg) / (1 + np.exp(-z))
    assert abs(left.sum()) < 1e-6 and abs(left @ z) < 1e-6  # the score equations of the maximum
    assert (intercept, slope) == pytest.approx((0.3, 0.7), abs=0.05)


@pytest.mark.parametrize("task", ["binary", "multiclass", "multilabel"])
def test_every_metric_has_a_second_implementation(task: Task) -> None:
    space = CASES[task][0].space
    apart = {"calibration_intercept", "calibration_slope", "ici"} if task == "binary" else set()
    assert {m.name for m in catalogue(space)} == set(REFERENCES[task]) | set(ORACLES[task]) | apart


def test_text_metrics() -> None:
    space = Multiclass(["card", "loan"])
    texts = ["card", "loan", "It is card.", "card or loan", "I cannot help with that."]
    read = parse_all(texts, make_parser("auto", list(space.names)))
    facts = summarise(predictions(space, ["card", "card", "card", "loan", "loan"], read))
    read_from_text = [m for m in added_metrics() if (m.task, m.needs) == ("multiclass", "text")]
    found = {metric.name: metric.compute_value(facts) for metric in read_from_text}
    assert found == {
        "parse_rate": 0.6,
        "n_unparsed": 2,
        "n_ambiguous": 1,
        "accuracy_parsed": pytest.approx(2 / 3),
    }
    assert find("accuracy", "multiclass").compute_value(facts) == 0.4


def test_hanley_and_mcneil_1982() -> None:
    """109 CT images rated 1 to 5; the area is 0.893 in their paper."""
    normal, abnormal = [33, 6, 6, 11, 2], [3, 2, 2, 11, 33]
    table = ScoreTable(np.arange(1.0, 6), np.array(abnormal, float), np.array(normal, float))
    assert round(binary_ranking.roc_auc(table), 3) == 0.893


def test_altman_and_bland_1994() -> None:
    """Liver scans of 344 patients (BMJ 308:1552 and 309:102)."""
    counts = BinaryCounts(tp=231, fp=32, fn=27, tn=54)
    found = [
        round(float(f(counts)), 2)
        for f in (binary_decisions.recall, binary_decisions.specificity, binary_decisions.precision)
    ]
    assert found == [0.90, 0.63, 0.88]
    assert round(float(binary_decisions.prevalence(counts)), 2) == 0.75


def test_murphy_parts_add_up() -> None:
    for case in CASES["binary"]:
        rel, res, unc, brier = (
            find(name).compute_value(case.summary)
            for name in ("brier_reliability", "brier_resolution", "brier_uncertainty", "brier")
        )
        assert rel - res + unc == pytest.approx(brier, abs=1e-12)  # type: ignore[operator]


def test_two_classes_are_the_binary_case() -> None:
    for case in CASES["binary"][:10]:
        both = np.stack([1 - case.score.astype(float), case.score], axis=1)
        classes = Case(Multiclass(["n", "p"]), case.y, both, case.weights, codes=case.pred)
        for name, binary in (("mcc", "mcc"), ("cohen_kappa", "cohen_kappa"), ("accuracy", "accuracy")):
            assert find(name, "multiclass").compute_value(classes.summary) == pytest.approx(
                find(binary, "binary").compute_value(case.summary), abs=1e-12
            ) or isinstance(find(binary).compute_value(case.summary), Undefined)
        brier = find("brier", "multiclass").compute_value(classes.summary)
        assert brier == pytest.approx(2 * float(find("brier").compute_value(case.summary)), abs=1e-7)  # type: ignore[arg-type]


def test_one_label_has_the_whole_binary_list() -> None:
    case = next(iter(multilabel_cases(1)))
    label = Case(Binary(0, 1), case.y[:, 0].astype(int), case.score[:, 0], case.weights, case.threshold)
    for metric in catalogue(Binary(0, 1)):
        ours, alone = metric.compute_value(one_label(case.summary, 0)), metric.compute_value(label.summary)
        if isinstance(alone, Undefined):
            assert isinstance(ours, Undefined) and ours.reason == alone.reason
        else:
            assert ours == pytest.approx(alone, rel=1e-12)

"""Laws that hold of every metric by what it is; a metric is tested by being listed.

A law makes two summaries of one case and says how the values of a metric on them are related.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evalreport.core.result import Undefined
from evalreport.data.labels import Binary, Multiclass, Multilabel
from evalreport.metrics.record import Metric, view
from evalreport.statistics.confusion import Marginals
from evalreport.statistics.score_table import ScoreTable
from evalreport.statistics.summary import Summary, summarise
from tests.metrics.cases import Case

Value = float | None
Pair = tuple[Summary, Summary] | None

EXTENSIVE = {"tp", "fp", "fn", "tn", "n_unparsed", "n_ambiguous"}
"""Sums, not rates: they grow with the weights."""
ORDERED = {
    "cohen_kappa_quadratic",
    "cohen_kappa_linear",
    "mean_absolute_error",
    "ranked_probability_score",
}
"""What depends on the order of the labels."""


def value(metric: Metric, summary: Summary) -> Value:
    found = metric.compute_value(summary)
    return None if isinstance(found, Undefined) else found


def same(a: Value, b: Value) -> bool:
    if a is None or b is None:
        return a is b
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)


@dataclass(frozen=True)
class Law:
    name: str
    made: Callable[[Case], Pair]
    holds: Callable[[Metric, Summary, Summary], bool]

    def breaks(self, metric: Metric, case: Case) -> bool:
        pair = self.made(case)
        return pair is not None and not self.holds(metric, *pair)


def equal(metric: Metric, a: Summary, b: Summary) -> bool:
    return same(value(metric, a), value(metric, b))


def rows(case: Case, index: Any, weights: Any = None) -> Case:
    return replace(
        case,
        y=case.y[index],
        score=case.score[index],
        codes=None if case.codes is None else case.codes[index],
        weights=weights if weights is not None or case.weights is None else case.weights[index],
    )


def _reversed(case: Case) -> Pair:
    return case.summary, rows(case, slice(None, None, -1)).summary


def _integers(case: Case) -> Any:
    return 1 + (np.arange(len(case.y)) * 7) % 3


def _repeated(case: Case) -> Pair:
    times = _integers(case)
    plain = replace(case, weights=None)
    repeated = rows(plain, np.repeat(np.arange(len(times)), times))
    return replace(case, weights=times.astype(float)).summary, repeated.summary


def _removed(case: Case) -> Pair:
    weights = np.where(np.arange(len(case.y)) % 3 == 1, 0.0, 1.25)
    kept = weights > 0
    return replace(case, weights=weights).summary, rows(case, kept, weights[kept]).summary


def _heavier(case: Case) -> Pair:
    weights = np.ones(len(case.y)) if case.weights is None else case.weights
    return replace(case, weights=weights).summary, replace(case, weights=2.5 * weights).summary


def _grows_only_if_sum(metric: Metric, a: Summary, b: Summary) -> bool:
    before = value(metric, a)
    if metric.name in EXTENSIVE and before is not None:
        before *= 2.5
    return same(before, value(metric, b))


def _shards(case: Case) -> Pair:
    cut = len(case.y) // 2
    if not cut:
        return None
    weights = np.ones(len(case.y)) if case.weights is None else case.weights
    if not weights[:cut].any() or not weights[cut:].any():
        return None
    return case.summary, rows(case, slice(None, cut)).summary + rows(case, slice(cut, None)).summary


def _relabelled(case: Case) -> Pair:
    if isinstance(case.space, Binary):
        return None
    order = np.roll(np.arange(len(case.space)), 1)
    place = np.append(np.argsort(order), -1)
    labels = [case.space.labels[k] for k in order]
    score = case.score[:, order]
    if isinstance(case.space, Multilabel):
        return case.summary, replace(case, space=Multilabel(labels), y=case.y[:, order], score=score).summary
    codes = None if case.codes is None else place[case.codes]
    space = Multiclass(labels, ordered=case.space.ordered)
    return case.summary, replace(case, space=space, y=place[case.y], score=score, codes=codes).summary


def _equal_unless_ordered(metric: Metric, a: Summary, b: Summary) -> bool:
    return metric.name in ORDERED or equal(metric, a, b)


SWAPPED: dict[str, str] = {
    "tp": "tn",
    "fp": "fn",
    "recall": "specificity",
    "precision": "npv",
    "fpr": "fnr",
}
COMPLEMENT = {"prevalence", "predicted_positive_rate"}
INVARIANT = {
    "accuracy",
    "no_information_rate",
    "balanced_accuracy",
    "mcc",
    "cohen_kappa",
    "youden_j",
    "markedness",
    "g_mean",
    "diagnostic_odds_ratio",
    "roc_auc",
    "gini",
    "ks",
    "eer",
    "log_loss",
    "brier",
    "brier_skill",
    "brier_reliability",
    "brier_resolution",
    "brier_uncertainty",
    "calibration_slope",
}


def _swapped(case: Case) -> Pair:
    if not isinstance(case.space, Binary) or (case.pred < 0).any():
        return None
    codes = replace(case, codes=case.pred)
    return codes.summary, replace(case, y=1 - case.y, score=1 - case.score, codes=1 - case.pred).summary


def _swaps(metric: Metric, a: Summary, b: Summary) -> bool:
    from evalreport.metrics.catalogue import find

    partner = {**SWAPPED, **{new: old for old, new in SWAPPED.items()}}.get(metric.name)
    if partner is not None:
        return same(value(metric, a), value(find(partner, "binary"), b))
    before, after = value(metric, a), value(metric, b)
    if metric.name in COMPLEMENT:
        return same(before, None if after is None else 1 - after)
    if metric.name == "calibration_intercept":
        return same(before, None if after is None else -after)
    return metric.name not in INVARIANT or same(before, after)


def _itself(case: Case) -> Pair:
    return case.summary, case.summary


def _inside(metric: Metric, a: Summary, _: Summary) -> bool:
    found = metric.compute_value(a)
    if isinstance(found, Undefined):
        return bool(found.reason) and "0/0" not in found.reason
    return metric.low <= found <= metric.high


def _perfect(case: Case) -> Pair:
    truth = case.y if case.y.ndim == 2 or isinstance(case.space, Binary) else _indicator(case)
    codes = None if isinstance(case.space, Multilabel) else case.y
    made = replace(case, score=truth.astype(float), codes=codes)
    return case.summary, summarise(made.predictions)


def _indicator(case: Case) -> Any:
    return case.y[:, None] == np.arange(len(case.space))


def _never_better(metric: Metric, a: Summary, best: Summary) -> bool:
    """No predictions are better than the truth itself."""
    ours, top = value(metric, a), value(metric, best)
    if ours is None or top is None:
        return True
    match metric.better:
        case "higher":
            return ours <= top + 1e-9
        case "lower":
            return ours >= top - 1e-9
        case "zero":
            return abs(ours) >= abs(top) - 1e-9
        case "one":
            return abs(ours - 1) >= abs(top - 1) - 1e-9
        case _:
            return True


def _stretched(case: Case) -> Pair:
    ranked = replace(case, decisions=True, codes=case.pred, threshold=None)
    if isinstance(case.space, Multilabel):
        ranked = replace(case, decisions=True, codes=None)
        point = _stretch(np.array(0.5 if case.threshold is None else case.threshold))
        return ranked.summary, replace(ranked, score=_stretch(case.score), threshold=point).summary
    return ranked.summary, replace(ranked, score=_stretch(case.score)).summary


def _stretch(scores: Any) -> Any:
    """Strictly increasing, and no longer probabilities."""
    stretched = 10 * scores**3 - 4
    return stretched.item() if stretched.ndim == 0 else stretched


def _stacked(metric: Metric, a: Summary, b: Summary) -> bool:
    """Functions of counts take replicates: on a stack they give what they give one by one."""
    if metric.reads != "counts" or value(metric, a) is None:
        return True
    facts = [view(a, "counts"), view(b, "counts")]
    kind = type(facts[0])
    fields = list(kind.__dataclass_fields__)
    shape = np.shape(facts[0].tp)
    stack = kind(
        *(np.stack([np.broadcast_to(getattr(f, n), _shape(kind, n, shape)) for f in facts]) for n in fields)
    )
    each, at_once = [float(metric.function(fact)) for fact in facts], metric.function(stack)
    return np.shape(at_once) == (2,) and bool(
        np.allclose(at_once, each, rtol=1e-9, atol=1e-9, equal_nan=True)
    )


def _shape(kind: type, name: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    return () if kind is Marginals and name in ("total", "squared_distance", "distance") else shape


def _turned(case: Case) -> Pair:
    if not isinstance(case.space, Binary):
        return None
    codes = replace(case, codes=case.pred)
    return codes.summary, replace(codes, score=1 - case.score).summary


def _turns(metric: Metric, a: Summary, b: Summary) -> bool:
    before, after = value(metric, a), value(metric, b)
    match metric.name:
        case "roc_auc":
            return same(before, None if after is None else 1 - after)
        case "gini" | "calibration_slope":
            return same(before, None if after is None else -after)
        case "net_benefit":
            return True
        case _:
            return metric.reads != "counts" or same(before, after)


def _with_reversed_truth(case: Case) -> Pair:
    if case.weights is not None and case.weights.min() == 0:
        return None
    return case.summary, replace(case, y=case.y[::-1]).summary


def _with_weightless_scores(case: Case) -> Pair:
    table = case.summary.scores
    if not isinstance(table, ScoreTable):
        return None
    scores = np.union1d(table.scores, [0.0, 0.013, 0.51, 0.97, 1.0])
    place = np.searchsorted(scores, table.scores)
    pos, neg = np.zeros(len(scores)), np.zeros(len(scores))
    pos[place], neg[place] = table.pos, table.neg
    return case.summary, replace(case.summary, scores=ScoreTable(scores, pos, neg))


LAWS: tuple[Law, ...] = (
    Law("row order does not matter", _reversed, equal),
    Law("integer weight is repetition", _repeated, equal),
    Law("zero weight is removal", _removed, equal),
    Law("only sums grow with the weights", _heavier, _grows_only_if_sum),
    Law("two shards added are the whole", _shards, equal),
    Law("relabelling permutes", _relabelled, _equal_unless_ordered),
    Law("swapping the positive class swaps the roles", _swapped, _swaps),
    Law("a value lies in its range, or says why there is none", _itself, _inside),
    Law("no predictions are better than the truth", _perfect, _never_better),
    Law("ranking needs the order of scores alone", _stretched, equal),
    Law("scores turned round turn the ranking round", _turned, _turns),
    Law("functions of counts take replicates", _with_reversed_truth, _stacked),
    Law("scores without weight change nothing", _with_weightless_scores, equal),
)

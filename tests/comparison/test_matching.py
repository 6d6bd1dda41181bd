"""Runs at matched operating points, against counts by hand and resamples one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from evalreport.comparison.compare import compare
from evalreport.comparison.comparison import MatchedPoint
from evalreport.comparison.matched_thresholds import (
    MatchedRuns,
    limits_at_recall,
    matched_runs,
    resampled_choices,
    roc_crossings,
)
from evalreport.core.json_codec import encode
from evalreport.data.labels import Binary
from evalreport.data.predictions import Categorical, Predictions, predictions
from evalreport.data.scores import Decisions, NoScores, Probabilities
from evalreport.evaluation.evaluate import evaluate_predictions
from evalreport.page.comparison.matched import matched_sentence, points_table
from evalreport.statistics.score_table import ScoreTable
from evalreport.thresholds.objectives import Costs
from tests.comparison import models
from tests.comparison.decisions import FEW, Recall

Bools = npt.NDArray[np.bool_]


def scores_of(p: Predictions) -> npt.NDArray[np.float64]:
    assert not isinstance(p.scores, NoScores)
    return np.asarray(p.scores.values, dtype=np.float64)


def points(pair: list[Predictions]) -> dict[str, MatchedPoint]:
    return {point.kind: point for point in runs(pair).points}


def runs(pair: list[Predictions], costs: Costs | None = None) -> MatchedRuns:
    found = matched_runs(models.sides(pair), ("new", "old"), costs)
    assert found is not None
    return found


def by_hand(kind: str, pair: list[Predictions], rows: npt.NDArray[np.intp]) -> tuple[int, int, int, int]:
    """Found and false alarms of the run, then of the baseline, by trying every score as a threshold."""
    truth = pair[0].y_true[rows] == 1
    new, old = (scores_of(p)[rows] for p in pair)
    flagged = old >= 0.35
    base = int((flagged & truth).sum()), int((flagged & ~truth).sum())
    tried = [*np.unique(new), np.inf]
    counts = [(int(((new >= t) & truth).sum()), int(((new >= t) & ~truth).sum())) for t in tried]
    if kind == "equal_recall":
        found = [count for count in counts if count[0] >= base[0]][-1][0]
        step = [count for count in counts if count[0] == found]
        chosen = step[len(step) // 2]
    elif kind == "equal_alerts":
        chosen = next(count for count in counts if sum(count) <= sum(base))
    else:
        chosen = (int(((new >= 0.35) & truth).sum()), int(((new >= 0.35) & ~truth).sum()))
    return (*chosen, *base)


@pytest.mark.parametrize("kind", ["own_thresholds", "equal_recall", "equal_alerts"])
def test_counts_and_intervals_are_those_of_a_search_by_hand(kind: str) -> None:
    pair = models.binary(np.random.default_rng(2), 300, 0.3, (2.4, 1.5), 0.4)
    found = points(pair)[kind]
    expected = by_hand(kind, pair, np.arange(300))
    counted = [*zip(found.found.values, found.false_positives.values, strict=True)]
    assert counted == [expected[:2], expected[2:]]
    assert found.found.difference == expected[0] - expected[2]
    rng = np.random.default_rng(5)
    again = [by_hand(kind, pair, rng.integers(0, 300, 300)) for _ in range(200)]
    spread = np.std([a[1] - a[3] for a in again])
    assert found.false_positives.low is not None
    assert found.false_positives.high is not None
    half = (found.false_positives.high - found.false_positives.low) / 2
    assert half == pytest.approx(1.97 * spread, rel=0.3)
    if kind == "equal_recall":
        assert (found.found.verdict, found.found.low) == ("equal_by_design", None)
        assert found.false_positives.verdict == "better", "2.4 against 1.5 is a better model at any recall"


def at_equal_recall(case: Recall, rng: np.random.Generator, times: int) -> list[MatchedPoint]:
    found = [matched_runs(models.sides(case.draw(rng), FEW), ("a", "b")) for _ in range(times)]
    return [point for both in found if both for point in both.points if point.kind == "equal_recall"]


def test_few_positives_that_are_missed_do_not_tell_equal_runs_apart() -> None:
    """By resamples 11 of 159 pairs, nine of them "better"."""
    rng, case = np.random.default_rng(3), Recall(50, 0.99, 0.7)
    verdicts = [point.false_positives.verdict for point in at_equal_recall(case, rng, 400)]
    assert 140 <= len(verdicts) <= 180
    assert sum(verdict in ("better", "worse") for verdict in verdicts) <= 0.02 * len(verdicts)


def test_tied_scores_favour_neither_run_at_equal_recall() -> None:
    """At the lowest threshold that finds as many all verdicts on equal runs were "worse": 38 of 600."""
    rng, case = np.random.default_rng(4), Recall(100, 0.9, 0.3, step=0.5)
    found = at_equal_recall(case, rng, 300)
    gaps = [point.false_positives.difference for point in found]
    assert abs(np.mean(gaps)) < 0.3 * np.std(gaps), "it was 0.74"
    assert {point.found.difference for point in found} == {0.0}
    compared = compare([models.bare(p) for p in case.draw(rng)])
    assert "moved to about" in str(points_table(compared))


def test_groups_and_weights_of_one_row_each_change_nothing_at_equal_recall() -> None:
    """Sums over groups are those over rows; a row of weight 2 is two rows of one group."""
    pair = models.binary(np.random.default_rng(2), 200, 0.3, (2.4, 1.8), 0.4)
    twice = [
        predictions(
            Binary(0, 1),
            np.repeat(p.y_true, 2),
            scores=Probabilities(np.repeat(scores_of(p), 2)),
            threshold=0.35,
            groups=np.repeat(np.arange(200), 2),
        )
        for p in pair
    ]
    plain, doubled = (limits_at_recall(models.sides(both), 0.35, 0.95) for both in (pair, twice))
    assert doubled == pytest.approx(2 * np.array(plain), abs=0.5), "but for Student's degrees of freedom"


def test_a_stretched_copy_differs_at_its_own_threshold_alone() -> None:
    old = models.binary(np.random.default_rng(0), 400, 0.3, (1.8,))[0]
    stretched = scores_of(old) * 3
    new = replace(old, scores=Decisions(stretched), y_pred=(stretched >= 0.35).astype(np.int32))
    found = compare([models.bare(old), models.bare(old)], names=["old", "new"]).matched
    assert {point.found.difference for point in found} == {0.0}
    assert not {point.false_positives.verdict for point in found} & {"better", "worse"}
    moved = points([new, old])
    again = [models.binary(np.random.default_rng(seed), 200, 0.3, (1.8,))[0] for seed in range(12)]
    gaps = [points([p, p])["equal_recall"].false_positives.difference for p in again]
    assert abs(np.mean(gaps)) < 2, "the step between two positives is no gain for either"
    assert moved["equal_alerts"].found.difference == 0
    assert moved["equal_recall"].thresholds[0] > 0.35, "three times the score, three times the threshold"


def test_matched_points_are_in_the_json_of_binary_runs_with_scores_alone() -> None:
    pair = models.binary(np.random.default_rng(0), 200)
    reported = encode(compare([models.bare(p) for p in pair]))
    assert [point["kind"] for point in reported["matched"]] == [
        "own_thresholds",
        "equal_recall",
        "equal_alerts",
    ]
    labels = [models.bare(replace(p, scores=NoScores())) for p in pair]
    assert compare(labels).matched == ()
    classes = models.multiclass(np.random.default_rng(0), 100, np.full(3, 1 / 3))
    assert compare([models.bare(p) for p in classes]).matched == ()


def binormal(rng: np.random.Generator, n: int, mean: float, spread: float) -> Predictions:
    truth = np.arange(n) % 4 == 0
    scores = np.where(truth, mean + spread * rng.standard_normal(n), rng.standard_normal(n))
    return predictions(Binary(0, 1), truth.astype(int), scores=Decisions(scores), threshold=0.0)


def test_curves_cross_where_those_of_the_populations_do() -> None:
    """Of N(1, 1) and N(1.5, 2) against N(0, 1): 1 + z = (1.5 + z) / 2 at z = -0.5, an FPR of 30.9%."""
    rng = np.random.default_rng(0)
    pair = [binormal(rng, 20_000, 1.0, 1.0), binormal(rng, 20_000, 1.5, 2.0)]
    (found,) = roc_crossings(models.sides(pair), ("even", "wide"))
    assert found.fpr == pytest.approx(0.309, abs=0.04)
    assert (found.ahead_below, found.ahead_above) == ("wide", "even")
    reported = encode(compare([models.bare(p) for p in pair], names=["even", "wide"]))
    assert [one["ahead_below"] for one in reported["crossings"]] == ["wide"]


def test_noise_is_no_crossing() -> None:
    rng, reported = np.random.default_rng(1), 0
    for _ in range(40):
        reported += bool(roc_crossings(models.sides(models.binary(rng, 400)), ("a", "b")))
    assert reported <= 2


def test_alerts_are_those_of_a_search_by_hand() -> None:
    pair = models.binary(np.random.default_rng(3), 500, 0.2, (2.4, 1.5), 0.4)
    found, truth = runs(pair).alerts, pair[0].y_true == 1
    marked = [place for place in found.places if place.found.low is not None]
    assert 100 <= len(found.places) <= 190 and len(marked) == 9
    for place in found.places[::20]:
        for side, p in enumerate(pair):
            flagged = scores_of(p) >= place.thresholds[side]
            assert flagged.sum() <= place.alerts
            assert (flagged & truth).sum() == place.found.values[side]
            assert (flagged & ~truth).sum() == place.false_positives[side]
            lower = scores_of(p)[~flagged]
            assert not lower.size or (scores_of(p) >= lower.max()).sum() > place.alerts
    own = next(place for place in marked if place.alerts == found.own[1])
    rng, again = np.random.default_rng(5), []
    for _ in range(200):
        rows = rng.integers(0, 500, 500)
        best = [np.argsort(-scores_of(p)[rows])[: int(own.alerts)] for p in pair]
        again.append(np.subtract(*(truth[rows][top].sum() for top in best)))
    assert own.found.low is not None and own.found.high is not None
    assert (own.found.high - own.found.low) / 2 == pytest.approx(1.97 * np.std(again), rel=0.3)
    assert own.found.verdict == "better"


def test_the_lowest_cost_is_counted_on_rows_that_took_no_part() -> None:
    """On the same rows the cheapest thresholds look cheaper than they are elsewhere."""
    pair = models.binary(np.random.default_rng(4), 400, 0.2, (2.0, 1.0), 0.4)
    found = {point.kind: point for point in runs(pair, Costs(fn=5)).points}
    lowest, truth = found["lowest_cost"], pair[0].y_true == 1
    assert lowest.cost is not None and lowest.cost.verdict == "better"
    for side, p in enumerate(pair):
        scores = scores_of(p)
        costs = [5 * (truth & (scores < t)).sum() + (~truth & (scores >= t)).sum() for t in [*scores, np.inf]]
        assert lowest.cost.values[side] >= 1000 * min(costs) / 400
        at = lowest.thresholds[side]
        assert 5 * (truth & (scores < at)).sum() + (~truth & (scores >= at)).sum() == min(costs)
        missed = truth.sum() - lowest.found.values[side]
        spent = 1000 * (5 * missed + lowest.false_positives.values[side]) / 400
        assert lowest.cost.values[side] == pytest.approx(spent)
    own = found["own_thresholds"]
    assert own.cost is not None
    missed = truth.sum() - own.found.values[0]
    assert own.cost.values[0] == pytest.approx(1000 * (5 * missed + own.false_positives.values[0]) / 400)
    reported = encode(compare([models.bare(p) for p in pair[::-1]], costs=Costs(fn=5)))
    assert reported["costs"] == {"fp": 1, "fn": 5, "tp": 0, "tn": 0}
    assert [point["cost"] is not None for point in reported["matched"]] == [True] * 4
    assert len(reported["alerts"]) == 1


def test_thresholds_that_are_chosen_again_have_the_least_cost() -> None:
    pair = models.binary(np.random.default_rng(1), 300)
    run, baseline = (ScoreTable.from_scores(scores_of(p), p.y_true == 1) for p in pair)
    tp, fp = resampled_choices((run, baseline), [(run, baseline)], Costs(fp=2, fn=5, tp=-1, tn=0.5))
    for side, table in enumerate((run, baseline)):
        found, raised = np.append(table.tp, tp[0, side]), np.append(table.fp, fp[0, side])
        spent = 2 * raised + 5 * (table.positives - found) - found + 0.5 * (table.negatives - raised)
        assert spent[-1] == spent.min() < spent[0]


def test_equal_runs_seldom_differ_in_their_lowest_cost() -> None:
    """At most one in twenty, give or take three standard errors; 23 of 410 in a longer run."""
    rng, reported = np.random.default_rng(8), 0
    for _ in range(20):
        pair = models.sides(models.binary(rng, 200, 0.3, (1.8, 1.8), 0.5))
        found = matched_runs(pair, ("a", "b"), Costs(fn=3))
        assert found is not None and found.points[-1].cost is not None
        reported += found.points[-1].cost.verdict in ("better", "worse")
    assert reported <= 20 * 0.05 + 3 * np.sqrt(20 * 0.05 * 0.95)


def test_what_changed_at_equal_recall_is_counted_by_hand() -> None:
    pair = models.binary(np.random.default_rng(5), 400, 0.3, (2.4, 1.2), 0.4)
    found = compare([evaluate_predictions(p) for p in pair[::-1]], names=["old", "new"])
    (moved,) = found.movement
    threshold = next(point.thresholds[0] for point in found.matched if point.kind == "equal_recall")
    truth = pair[0].y_true == 1
    now = (scores_of(pair[0]) >= threshold) == truth
    before = (pair[1].y_pred == 1) == truth
    for name, rows in (("0", ~truth), ("1", truth)):
        wanted = tuple(int((kind & rows).sum()) for kind in (now & ~before, before & ~now, ~now & ~before))
        assert moved.at_equal_recall[name] == wanted
    fixed, broken, _ = moved.at_equal_recall["1"]
    assert fixed == broken, "as many positives are found"


def few_false_positives(moved: int) -> list[Predictions]:
    """Two runs that find all positives; the second raises so many false alarms more."""
    truth = np.arange(200) < 60
    old = np.where(truth, 0.9, 0.1)
    new = np.where(np.arange(200) >= 200 - moved, 0.8, old)
    scores = (Decisions(old), Decisions(new))
    return [predictions(Binary(0, 1), truth.astype(int), scores=s, threshold=0.5) for s in scores]


@pytest.mark.parametrize("moved", [3, 4, 5, 20])
def test_few_rows_that_differ_are_too_few_to_say(moved: int) -> None:
    """All on one side: McNemar's mid-p is 1 / 2^moved, above 0.05 up to four of them."""
    found = points(few_false_positives(moved))["own_thresholds"].false_positives
    assert list(found.values) == [0, moved]
    low, high = found.low or 0.0, found.high or 0.0
    assert str(found.verdict) == ("better" if 1 / 2**moved < 0.05 else "too_few_to_say")
    assert moved > 4 or low <= 0 <= high


def test_rows_of_one_group_are_one_of_the_few() -> None:
    pair = [replace(p, groups=Categorical.from_values(np.arange(200) // 20)) for p in few_false_positives(20)]
    assert points(pair)["own_thresholds"].false_positives.verdict == "too_few_to_say"


def test_two_rows_have_one_degree_of_freedom() -> None:
    """The share of one row in resamples of two has a spread of 0.38, times Student's 12.71 (of two: 4.30)."""
    scores = (Decisions(np.array([1.0, 1.0])), Decisions(np.array([1.0, 0.0])))
    pair = [predictions(Binary(0, 1), [1, 0], scores=s, threshold=0.5) for s in scores]
    cost = runs(pair, Costs()).points[0].cost
    assert cost is not None and cost.low is not None and cost.high is not None
    assert (cost.high - cost.low) / 2 == pytest.approx(1000 * 0.38 * 12.71, rel=0.1)


def test_who_finds_all_is_not_matched_in_the_middle_of_all_negatives() -> None:
    """Two perfect rankings were told apart by half of the negatives: "Matched, it is worse"."""
    truth = np.arange(60) % 2
    runs = [
        predictions(Binary(0, 1), truth, scores=Probabilities(0.5 * truth + 0.5 * rng.random(60)))
        for rng in map(np.random.default_rng, (0, 1))
    ]
    found = compare([models.bare(p) for p in runs], names=["old", "new"])
    assert [point.kind for point in found.matched] == ["own_thresholds", "equal_alerts"]
    assert not {point.false_positives.verdict for point in found.matched} & {"better", "worse"}
    assert matched_sentence(found).text.startswith("old finds all positive")


def test_the_sentence_between_tied_scores_tells_whole_rows() -> None:
    rng = np.random.default_rng(3)
    truth = (rng.random(400) < 0.3).astype(int)
    runs = [
        predictions(
            Binary(0, 1),
            truth,
            scores=Decisions(np.round(apart * truth + rng.normal(size=400))),
            threshold=1.0,
        )
        for apart in (1.4, 2.0)
    ]
    found = compare([evaluate_predictions(p) for p in runs], names=["old", "new"])
    (false_positives,) = (point.false_positives for point in found.matched if point.kind == "equal_recall")
    raised = false_positives.values[0]
    assert raised % 1 and f"new has {round(raised)} false positives" in matched_sentence(found).text


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ((0.0, 0.0), "At equal recall both have 0 false positives."),
        (
            (3.0, 1.0),
            "At equal recall, where too few rows differ for a test, new has 3 false positives instead of 1.",
        ),
    ],
)
def test_equal_counts_at_equal_recall_need_no_test(values: tuple[float, float], said: str) -> None:
    found = compare([models.bare(p) for p in few_false_positives(3)], names=["old", "new"])
    own = found.matched[0]
    few = replace(own.false_positives, values=values, verdict="too_few_to_say")
    points = (own, replace(own, kind="equal_recall", false_positives=few))
    assert matched_sentence(replace(found, matched=points)).text == said


def rounded_runs(
    steps: float, apart: tuple[float, ...] = (1.4,), threshold: float = 1.0
) -> list[Predictions]:
    """Runs with scores in steps, which tie many rows."""
    rng = np.random.default_rng(3)
    truth = (rng.random(400) < 0.1).astype(int)
    return [
        predictions(
            Binary(0, 1),
            truth,
            scores=Decisions(np.round((shift * truth + rng.normal(size=400)) / steps) * steps),
            threshold=threshold,
        )
        for shift in apart
    ]


@pytest.mark.parametrize("steps", [1e-6, 0.5, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_identical_predictions_differ_by_exactly_0_at_every_matched_point(
    steps: float, weighted: bool
) -> None:
    (p,) = rounded_runs(steps)
    if weighted:
        p = replace(p, weights=np.random.default_rng(0).uniform(0.5, 2, 400), weighted=True)
    found = runs([p, p], Costs(fn=5))
    assert [point.kind for point in found.points] == [
        "own_thresholds",
        "equal_recall",
        "equal_alerts",
        "lowest_cost",
    ]
    for point in found.points:
        for counted in (point.found, point.false_positives, point.cost):
            assert counted is not None
            assert counted.difference == 0 and counted.values[0] == counted.values[1]
            assert counted.verdict not in ("better", "worse")
            assert (counted.low or 0.0) <= 0 <= (counted.high or 0.0)
    assert all(place.found.difference == 0 for place in found.alerts.places)
    assert not found.points[2].between


def test_a_tie_at_the_top_is_divided_and_nothing_is_compared_where_a_run_flags_nothing() -> None:
    """A run whose top tie holds 40 rows flagged none where its baseline flagged three: "1 → 0, 2 → 0"."""
    truth = np.arange(200) < 50
    new = np.where(np.arange(200) % 5 == 0, 0.9, 0.1)
    old = np.where(np.isin(np.arange(200), (0, 60, 70)), 0.9, 0.2)
    pair = [
        predictions(Binary(0, 1), truth.astype(int), scores=Decisions(s), threshold=0.5) for s in (new, old)
    ]
    point = points(pair)["equal_alerts"]
    assert point.between and point.thresholds[0] == 0.9
    assert list(point.found.values) == pytest.approx([3 * 10 / 40, 1])
    assert list(point.false_positives.values) == pytest.approx([3 * 30 / 40, 2])
    for place in runs(pair).alerts.places:
        for side in (0, 1):
            assert place.found.values[side] + place.false_positives[side] == pytest.approx(place.alerts)


def test_a_baseline_that_flags_nothing_has_no_matched_point() -> None:
    new, old = rounded_runs(1e-6, (1.4, 1.4))
    silent = replace(old, y_pred=np.zeros(400, dtype=np.int32), threshold=replace(old.threshold, value=99.0))  # type: ignore[type-var]
    assert [*points([new, silent])] == ["own_thresholds"]
    assert runs([silent, silent]).points == ()
    found = compare([evaluate_predictions(p) for p in (silent, new)], names=["old", "new"])
    assert (
        matched_sentence(found).text
        == "old finds no positive cases at its threshold, so the runs cannot be compared at equal recall."
    )
    assert matched_sentence(compare([evaluate_predictions(silent)] * 2)).text == ""


def test_a_count_at_own_thresholds_has_the_interval_and_verdict_of_its_rate() -> None:
    for seed in range(6):
        pair = models.binary(np.random.default_rng(seed), 300, 0.3, (2.4, 1.9), 0.4)
        found = compare([models.bare(p) for p in pair[::-1]], metrics=["recall", "fpr"])
        own = found.matched[0]
        for counted, metric, rows in (
            (own.found, "recall", pair[0].y_true.sum()),
            (own.false_positives, "fpr", (1 - pair[0].y_true).sum()),
        ):
            (rate,) = found.differences_for(metric)
            assert (counted.low, counted.high) == pytest.approx(
                (rows * (rate.low or 0), rows * (rate.high or 0))
            )
            assert counted.verdict in (rate.verdict, "too_few_to_say")

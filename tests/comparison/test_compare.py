"""Whole comparisons: several runs, verdicts, groups, parts, moved examples, bad input, JSON."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evalreport.comparison.compare import class_recalls, compare, equal_predictions
from evalreport.comparison.comparison import Comparison, Difference
from evalreport.core.errors import UsageError
from evalreport.core.json_codec import decode, dumps, encode
from evalreport.core.result import Provenance
from evalreport.data.labels import Binary, Multiclass, Multilabel
from evalreport.data.predictions import Categorical, Predictions, predictions
from evalreport.data.scores import Logits, NoScores, Probabilities
from evalreport.evaluation.evaluation import Evaluation
from evalreport.features.text_labels.parser import make_parser, parse_all
from evalreport.intervals.interval_settings import Sampling
from evalreport.page.comparison.sections import leaderboard
from evalreport.page.comparison.wording import headline
from tests.comparison import models

DATA = Path(__file__).parents[2] / "examples" / "data"
EXTRA = os.environ.get("EVALREPORT_EXTRA_DATA")


def four() -> list[Evaluation]:
    """The spam filters: logistic regression, naive Bayes, forest, boosting."""
    frame = pd.read_parquet(DATA / "sms_spam" / "oof_scores.parquet")
    ids = frame["example_id"].astype(str).to_numpy()
    return [
        models.bare(
            predictions(
                Binary("ham", "spam"),
                frame["y_true"].to_numpy(),
                scores=Probabilities(frame[f"score_{name}"].to_numpy()),
                ids=ids,
            )
        )
        for name in NAMES
    ]


NAMES = ("lr", "nb", "rf", "histgb")


@pytest.fixture(scope="module")
def spam() -> Comparison:
    return compare(four(), None, names=NAMES, metrics=["roc_auc", "mcc", "brier"])


def test_against_a_baseline_every_other_run_has_its_row() -> None:
    result = compare(four(), 1, names=NAMES, metrics=["roc_auc"], details=False)
    assert [(d.run, d.baseline) for d in result.differences] == [("lr", "nb"), ("rf", "nb"), ("histgb", "nb")]
    assert [d.verdict for d in result.differences] == ["better", "not_significant", "not_significant"]
    assert result.ranking[0].run == "lr", "all pairs are ranked, whatever the baseline"


def test_all_against_all_are_corrected_together_and_grouped(spam: Comparison) -> None:
    found = spam.differences_for("roc_auc")
    assert len(found) == 6
    assert all((d.p_adjusted or 0) >= (d.p or 0) for d in found)
    lowest = min(found, key=lambda d: d.p or 0)
    assert lowest.p_adjusted == pytest.approx(6 * (lowest.p or 0))
    for d in found:
        assert spam.differ_significantly("roc_auc", d.run, d.baseline) == (d.verdict != "not_significant")


def test_groups_hold_runs_without_significant_differences() -> None:
    runs = models.evaluations(models.binary(np.random.default_rng(0), 400, skills=(2.4, 2.35, 1.2, 1.15)))
    result = compare(runs, None, names=["a", "b", "c", "d"])
    assert {entry.run: entry.ranks for entry in result.ranking} == {
        **dict.fromkeys("ab", (1, 2)),
        **dict.fromkeys("cd", (3, 4)),
    }
    assert {entry.run for entry in result.ranking if entry.best_group} == {"a", "b"}
    assert result.primary == "roc_auc"
    one = compare(runs, 2, names=["a", "b", "c", "d"])
    assert one.ranking == result.ranking, "the baseline has no part in it"
    loss = compare(runs, 2, names=["a", "b", "c", "d"], primary="log_loss", details=False)
    assert loss.primary == "log_loss"
    values = [entry.value or 0.0 for entry in loss.ranking]
    assert values == sorted(values)


def test_a_run_without_a_value_has_no_rank() -> None:
    runs = models.evaluations(models.binary(np.random.default_rng(0), 200, skills=(2.4, 1.0)))
    rows = runs[0].predictions
    assert rows is not None
    labels = models.bare(replace(rows, scores=NoScores()))
    found = compare([*runs, labels], names=["a", "b", "c"], primary="roc_auc")
    assert [(entry.run, entry.ranks) for entry in found.ranking][-1] == ("c", None)
    assert found.ranking[0].ranks == (1, 1)


def test_more_finds_for_more_false_alarms_are_a_trade_off() -> None:
    rng = np.random.default_rng(0)
    truth = rng.random(600) < 0.5
    score = np.clip(0.5 + 0.2 * (2 * truth - 1) + rng.normal(0, 0.2, 600), 0, 1)
    rows = [
        predictions(Binary(0, 1), truth.astype(int), scores=Probabilities(score), threshold=threshold)
        for threshold in (0.6, 0.4)
    ]
    found = compare([models.bare(p) for p in rows], names=["high", "low"], metrics=["accuracy"])
    (verdict,) = found.verdicts
    assert (verdict.verdict, verdict.better, verdict.worse) == ("trade_off", ("recall",), ("specificity",))
    more = int(((score >= 0.4) & (score < 0.6) & truth).sum())
    false_positives = int(((score >= 0.4) & (score < 0.6) & ~truth).sum())
    assert headline(found).text == (
        f"low finds {more} more “1” but has {false_positives} more false positives than high."
    )
    same = compare([models.bare(rows[0])] * 2, names=["a", "b"])
    assert (same.verdicts[0].verdict, same.verdicts[0].better) == ("not_significant", ())


def test_several_classes_are_judged_by_the_recall_of_each_with_twenty_examples() -> None:
    truth = np.array(["a"] * 60 + ["b"] * 60 + ["c"] * 15)
    first = np.array(["a"] * 60 + ["a"] * 30 + ["b"] * 30 + ["c"] * 15)
    second = np.array(["b"] * 30 + ["a"] * 30 + ["b"] * 60 + ["a"] * 15)
    runs = [models.bare(predictions(Multiclass("abc"), truth, answers)) for answers in (first, second)]
    (verdict,) = compare(runs, names=["old", "new"]).verdicts
    assert verdict.verdict == "trade_off"
    assert (verdict.better, verdict.worse) == (("recall[b]",), ("recall[a]",)), "c has too few examples"
    assert headline(compare(runs, names=["old", "new"])).text == (
        "new finds 30 more “b” but finds 30 fewer “a” than old."
    )


def test_a_lower_loss_is_better(spam: Comparison) -> None:
    known = [d for d in spam.differences_for("brier") if d.verdict in ("better", "worse")]
    assert known
    assert all((d.verdict == "better") == ((d.difference or 0) < 0) for d in known)


def test_a_verdict_needs_the_interval_and_the_corrected_p() -> None:
    """One difference of 45 that alone would count for one, and together does not."""
    runs = [models.bare(p) for p in models.binary(np.random.default_rng(1), 150, skills=(1.8,) * 10)]
    found = compare(runs, None, metrics=["accuracy"], details=False).differences_for("accuracy")
    alone = [d for d in found if d.low is not None and d.high is not None and (d.low > 0 or d.high < 0)]
    assert alone, "of 45 intervals of 95% some lie beside 0 by chance"
    assert all(d.verdict == "not_significant" for d in found)


def test_moved_examples_are_counted_and_named(spam: Comparison) -> None:
    moved, test = spam.movement[0], spam.mcnemar[0]
    assert (moved.fixed, moved.broken) == (test.only_first, test.only_second)
    assert moved.fixed + moved.broken + moved.both_wrong + moved.both_right == 5572
    assert len(moved.broken_ids) == min(50, moved.broken)
    assert sum(up for up, _, _ in moved.by_class.values()) == moved.fixed
    assert sum(down for _, down, _ in moved.by_class.values()) == moved.broken
    shown = [entry for entry in moved.examples if entry.id in moved.broken_ids]
    assert all(entry.baseline == entry.truth != entry.run for entry in shown)


def test_withheld_examples_are_not_named() -> None:
    runs = [replace(ev, data_checks={"withheld": 1.0}) for ev in four()[:2]]
    moved = compare(runs, metrics=["roc_auc"]).movement[0]
    assert moved.fixed + moved.broken > 0
    assert moved.fixed_ids == moved.broken_ids == ()
    assert moved.examples == ()


def test_slices_and_classes_are_compared_and_corrected() -> None:
    pair = models.multiclass(np.random.default_rng(0), 600, np.array([0.5, 0.3, 0.2]), skills=(2.6, 1.2))
    sliced = [replace(p, slices=_sites(p)) for p in pair]
    parts = compare(models.evaluations(sliced)).parts
    scopes = {part.scope for part in parts}
    assert {"class: class 0", "class: class 2", "site = north", "site = south"} <= scopes
    classes = [part for part in parts if part.scope.startswith("class:")]
    assert {part.metric for part in classes} == {
        "recall",
        "precision",
        "f1",
        "roc_auc",
        "average_precision",
    }
    sizes = [abs(part.difference or 0) for part in classes]
    assert sizes == sorted(sizes, reverse=True)
    assert all((part.p_adjusted or 0) >= (part.p or 0) for part in parts)


def test_recalls_of_classes_are_counted_by_hand() -> None:
    run, baseline = models.multiclass(np.random.default_rng(0), 400, np.full(3, 1 / 3), skills=(2.6, 1.2))
    found = class_recalls(models.sides([run, baseline]), ("new", "old"))
    assert [label for label, _ in found] == list(run.space.names)
    for code, (_, one) in enumerate(found):
        d = one.difference
        rows = run.y_true == code
        values = tuple(float((np.asarray(p.y_pred)[rows] == code).mean()) for p in (run, baseline))
        assert d.values == pytest.approx(values) and d.difference == pytest.approx(values[0] - values[1])


def _sites(p: Predictions) -> dict[str, Categorical]:
    return {"site": Categorical.from_values(np.where(np.arange(len(p)) % 2, "north", "south"))}


def test_classes_with_weights_or_clusters_go_by_rows() -> None:
    pair = models.multiclass(np.random.default_rng(0), 300, np.array([0.5, 0.5]), skills=(2.4, 1.4))
    weights = np.random.default_rng(1).random(300) + 0.5
    weighted = [models.bare(replace(p, weights=weights, weighted=True)) for p in pair]
    parts = compare(weighted, metrics=["accuracy"]).parts
    methods = {part.metric: part.method for part in parts if part.scope}
    assert methods.pop("recall") == "paired score"
    assert set(methods.values()) == {"paired contributions"}


def test_labels_of_a_multilabel_problem_are_compared_one_by_one() -> None:
    pair = models.multilabel(np.random.default_rng(0), 500, np.array([0.3, 0.3, 0.01]), skills=(1.4, 2.6))
    parts = compare(models.evaluations(pair)).parts
    assert {part.scope for part in parts} == {"class: tag 0", "class: tag 1"}, "tag 2 has fewer than ten"
    assert {part.verdict for part in parts if part.metric == "roc_auc"} == {"better"}


def test_a_run_compared_with_itself_says_so() -> None:
    ev = four()[0]
    result = compare([ev, ev], names=["new", "old"], metrics=["roc_auc", "mcc"])
    assert result.notes == ("“new” and “old” have the same predictions, so they do not differ.",)
    assert {d.verdict for d in result.differences} == {"not_significant"}
    assert all(d.difference == 0 for d in result.differences)
    moved = result.movement[0]
    assert (moved.fixed, moved.broken) == (0, 0)
    assert result.delong[0].z is None


def test_a_run_of_easier_rows_stands_behind_those_that_beat_it_there() -> None:
    """It led with "none is told apart" where both others were demonstrated better on the rows it has."""
    rng, truth, hard = np.random.default_rng(0), np.arange(1200) % 3, np.arange(1200) < 600
    space, runs = Multiclass(("x", "y", "z")), []
    for chance, rows in (((0.5, 0.97), 0), ((0.5, 0.8), 600), ((0.4, 0.9), 0)):
        answer = np.where(rng.random(1200) < np.where(hard, *chance), truth, (truth + 1) % 3)
        true, said = (np.asarray(space.names)[codes] for codes in (truth, answer))
        whole = predictions(space, true, said, ids=[str(row) for row in range(1200)])
        runs.append(whole.take(np.arange(rows, 1200)))
    found = compare(models.evaluations(runs), names=["wide", "easy", "weak"], primary="accuracy")
    assert [(entry.run, entry.best_group) for entry in found.ranking] == [
        ("wide", True),
        ("weak", False),
        ("easy", False),
    ]
    last, gap = found.ranking[2], found.differences_for("accuracy", "easy")[0].difference
    assert gap is not None and last.value is not None
    assert last.value > (found.ranking[0].value or 0.0)
    assert last.behind == pytest.approx(-gap)
    assert headline(found).text.startswith(
        "wide is significantly better than all 2 others by Accuracy; the next, weak, is "
    )
    assert f" by {-100 * gap:.1f} points" in str(leaderboard(found))


def test_tests_of_independent_rows_are_of_such_rows_alone() -> None:
    """Each of 60 rows ten times: McNemar's p was far below 0.001 where nothing was demonstrated."""
    pair = models.binary(np.random.default_rng(0), 60, skills=(1.8, 1.4))
    assert len(compare([models.bare(p) for p in pair]).mcnemar) == 1
    tenfold = [p.take(np.repeat(np.arange(60), 10)) for p in pair]
    groups = Categorical.from_values(np.repeat(np.arange(60), 10))
    weights = np.where(np.arange(600) % 10, 0.5, 5.5)
    for change in ({"groups": groups}, {"weights": weights, "weighted": True}):
        found = compare([models.bare(replace(p, **change)) for p in tenfold])
        assert (found.mcnemar, found.delong) == ((), ())
        assert found.movement


def test_other_answers_without_scores_are_other_predictions() -> None:
    truth, answers = np.array([0, 1, 1, 0]), np.array([[0, 1, 1, 0], [0, 1, 0, 0]])
    one, other = (predictions(Binary(0, 1), truth, each, NoScores()) for each in answers)
    assert equal_predictions(one, one) and not equal_predictions(one, other)


def test_label_sets_that_differ_are_joined_and_said() -> None:
    truth = list("abab") * 10
    a = models.bare(predictions(Multiclass("ab"), truth, truth))
    b = models.bare(predictions(Multiclass("abc"), truth, list("abca") * 10))
    assert compare([a, b], names=["x", "y"]).notes == (
        "“x” lacks the labels “c”: compared over the union of the label sets.",
    )


def test_thresholds_that_differ_are_said() -> None:
    rng = np.random.default_rng(0)
    a, b = models.binary(rng, 60, threshold=0.3)[0], models.binary(rng, 60, threshold=0.5)[0]
    (note,) = compare(models.evaluations([a, b]), names=["x", "y"], unpaired=True).notes
    assert note == "The runs use different thresholds: “x” 0.3, “y” 0.5."


def test_names_are_made_distinct() -> None:
    runs = [ev.with_provenance(Provenance(run_name="calm")) for ev in four()[:3]]
    assert compare(runs, details=False, metrics=["mcc"]).names == ("calm", "calm (2)", "calm (3)")


@pytest.mark.parametrize(
    ("runs", "reported"),
    [
        (lambda: four()[:1], "1 run cannot be compared"),
        (lambda: four() * 6, "24 runs cannot be compared"),
        (
            lambda: [four()[0], replace(four()[1], sampling=Sampling(level=0.9))],
            "confidence: 0.9 and 0.95",
        ),
    ],
)
def test_what_cannot_be_compared_is_an_error(runs: object, reported: str) -> None:
    with pytest.raises(UsageError, match=reported):
        compare(runs())  # type: ignore[operator]


def test_an_unknown_metric_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="no binary metric 'roc_auk'") as caught:
        compare(four()[:2], metrics=["roc_auk"])
    assert "roc_auc" in caught.value.fix


def test_evaluations_alone_are_compared_by_their_own_intervals() -> None:
    runs = models.evaluations(models.binary(np.random.default_rng(0), 300, skills=(2.6, 1.2)))
    stored = [Evaluation.from_json(ev.to_json()) for ev in runs]
    result = compare(stored, names=["a", "b"])
    found = result.differences_for("roc_auc")[0]
    paired = compare(runs, names=["a", "b"]).differences_for("roc_auc")[0]
    assert found.difference == paired.difference
    assert models.reach(found) > models.reach(paired), "what is not paired knows less"
    assert not (result.parts or result.movement)
    assert encode(result)["pairing"]["kind"] == "unpaired"
    few = Evaluation.from_json(replace(runs[0], metrics={}).to_json())
    assert (
        compare([few, stored[1]], names=["a", "b"]).differences_for("mcc")[0].reason
        == "a: not in this evaluation"
    )


def test_labels_read_from_text_are_compared_with_the_unread_counted_wrong() -> None:
    truth = ["yes", "no"] * 30
    answers = [["yes", "no"] * 29 + ["?", "?"], ["yes"] * 60]
    space = Binary("no", "yes")
    runs = [
        models.bare(predictions(space, truth, parse_all(answer, make_parser("exact", space.names))))
        for answer in answers
    ]
    result = compare(runs, names=["a", "b"], metrics=["accuracy", "parse_rate", "f1", "npv"])
    assert result.differences_for("accuracy")[0].values == pytest.approx((0.5, 58 / 60))
    assert result.differences_for("parse_rate")[0].difference == pytest.approx(2 / 60)
    assert result.differences_for("f1")[0].verdict == "worse"
    assert result.differences_for("npv")[0].reason.startswith("b: ")


def test_decisions_without_scores_and_scores_without_decisions() -> None:
    whole = models.binary(np.random.default_rng(0), 200)[0]
    names = np.asarray([0, 1])
    labels = predictions(whole.space, names[whole.y_true], names[np.asarray(whole.y_pred)], NoScores())
    result = compare([models.bare(whole), models.bare(labels)], names=["a", "b"])
    assert result.differences_for("roc_auc")[0].reason == "b: needs scores; got only labels"
    both = compare([models.bare(labels), models.bare(labels)], names=["a", "b"])
    assert both.differences_for("roc_auc")[0].reason == "needs scores; got only labels"
    assert result.differences_for("recall")[0].difference == 0
    assert result.delong == ()


def test_json_is_plain_and_has_the_documented_keys(spam: Comparison) -> None:
    data = json.loads(dumps(spam))
    assert set(data["pairing"]) == {"kind", "n_shared", "reason"}
    keys = {"metric", "run", "baseline", "difference", "low", "high", "p", "p_adjusted", "method", "verdict"}
    assert keys <= set(data["differences"][0])
    assert {"run", "baseline", "only_first", "only_second", "p"} <= set(data["mcnemar"][0])
    assert {"run", "baseline", "z", "p"} <= set(data["delong"][0])
    one = encode(compare(four()[:2], metrics=["mcc"]))["movement"]
    assert {"fixed", "broken", "both_wrong", "both_right"} <= set(one)
    fields = ("run", "baseline", "kind", "n_shared", "reason", "only_run", "only_baseline")
    assert list(data["pairings"][0]) == [*fields]
    assert decode(tuple[Difference, ...], data["differences"]) == spam.differences


def test_a_verdict_is_whether_the_adjusted_interval_excludes_0(spam: Comparison) -> None:
    assert any(d.is_significant for d in spam.differences)
    for d in (*spam.differences, *spam.parts):
        assert d.adjusted is not None
        assert d.p_adjusted is not None
        apart = d.adjusted.low > 0 or d.adjusted.high < 0
        assert d.is_significant == apart == (d.p_adjusted < 0.05), d
        assert d.limits == (d.adjusted.low, d.adjusted.high)


def test_difference_defaults_say_nothing() -> None:
    assert Difference("f1", "a", "b", (None, None)).verdict == "undefined"


needs_extra = pytest.mark.skipif(
    EXTRA is None, reason="name the folder of more data in EVALREPORT_EXTRA_DATA"
)


@needs_extra
def test_checkpoints_of_one_training_have_distinct_names() -> None:
    frame = pd.read_parquet(Path(str(EXTRA)) / "banking77" / "pred_checkpoints_long.parquet")
    labels = json.loads((DATA / "banking77" / "labels.json").read_text(encoding="utf-8"))
    runs = [
        models.bare(
            predictions(
                Multiclass(labels), part["y_true"], part["y_pred"], ids=part["example_id"].astype(str)
            )
        )
        for _, part in frame.groupby("run", sort=False)
    ]
    result = compare(runs, None, names=[str(name) for name in frame["run"].unique()])
    assert {d.verdict for d in result.differences_for("accuracy")} == {"better"}
    assert [entry.ranks for entry in result.ranking] == [(1, 1), (2, 2), (3, 3), (4, 4)]


@needs_extra
def test_two_intent_classifiers_and_two_emotion_classifiers() -> None:
    folder = Path(str(EXTRA))
    labels = json.loads((DATA / "banking77" / "labels.json").read_text(encoding="utf-8"))
    runs = []
    for name, kind, prefix in (("char_svm_logits", Logits, "logit_"), ("tfidf_lr", Probabilities, "proba_")):
        frame = pd.read_parquet(folder / "banking77" / f"pred_{name}.parquet")
        scores = kind(frame[[f"{prefix}{label}" for label in labels]].to_numpy())
        ids = frame["example_id"].astype(str)
        runs.append(
            models.bare(predictions(Multiclass(labels), frame["y_true"], frame["y_pred"], scores, ids=ids))
        )
    result = compare(runs, baseline=1, names=["svm", "lr"])
    assert (result.mcnemar[0].only_first, result.mcnemar[0].only_second) == (114, 80)
    assert result.differences_for("accuracy")[0].verdict == "better"
    assert result.differences_for("top_3_accuracy")[0].verdict == "not_significant"
    emotions = json.loads((DATA / "goemotions" / "labels.json").read_text(encoding="utf-8"))
    truth = pd.read_parquet(DATA / "goemotions" / "y_true_test.parquet")
    pair = []
    for name, kind, prefix in (("svm_logits", Logits, "logit_"), ("lr_proba", Probabilities, "proba_")):
        frame = pd.read_parquet(folder / "goemotions" / f"pred_test_ovr_{name}.parquet")
        scores = kind(frame[[f"{prefix}{label}" for label in emotions]].to_numpy())
        indicators = truth[[f"true_{label}" for label in emotions]].to_numpy()
        ids = frame["example_id"].astype(str)
        pair.append(models.bare(predictions(Multilabel(emotions), indicators, scores=scores, ids=ids)))
    result = compare(pair, baseline=1, names=["svm", "lr"])
    assert result.differences_for("f1_macro")[0].verdict == "better"
    assert len({part.scope for part in result.parts if part.metric == "roc_auc"}) == 27

"""What sections of a page say, counted again from the rows that they are about."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.metrics import roc_auc_score

from evalreport.core.sentences import Sentence
from evalreport.data.predictions import Predictions, predictions
from evalreport.data.scores import NoScores, Probabilities
from evalreport.evaluation.evaluation import Evaluation
from evalreport.features.text_labels.reporting import parsing_section
from evalreport.page.elements import Section, Table
from evalreport.page.sections import (
    appendix,
    calibration,
    choices,
    chosen_thresholds,
    confusion_matrix,
    curves,
    label_table,
)
from evalreport.page.sections.chosen_thresholds import forest
from evalreport.page.sections.first_screen import next_step
from evalreport.page.sections.headline import forest as headline
from evalreport.thresholds.best_threshold import Optimum
from tests.page.made import TUMOUR, evaluation, made, named, noisy
from tests.page.sweeps import made as chosen

Floats = npt.NDArray[np.float64]


def rows_of(ev: Evaluation) -> Predictions:
    assert ev.predictions is not None
    return ev.predictions


def scores_of(ev: Evaluation) -> Floats:
    scores = rows_of(ev).scores
    assert not isinstance(scores, NoScores)
    return np.asarray(scores.values, dtype=np.float64)


def of(section: Section | None) -> Section:
    assert section is not None
    return section


def texts(table: Any) -> list[list[str]]:
    """The words of a table's cells."""
    assert isinstance(table, Table)
    return [[c.text.text if isinstance(c.text, Sentence) else c.text for c in row] for row in table.rows]


def test_one_threshold_for_all_labels_finds_and_adds_so_many() -> None:
    ev = made("multilabel")
    section, truth, scores = of(label_table.micro_section(ev)), rows_of(ev).y_true.astype(bool), scores_of(ev)
    points = zip(*(section.data[key] for key in ("t", "tp", "fp", "exact")), strict=True)
    for t, found, wrong, exact in points:
        added = scores >= t - 1e-9
        assert (found, wrong) == ((added & truth).sum(), (added & ~truth).sum())
        assert exact == (added == truth).all(axis=1).sum()
    tp = (truth & (scores >= 0.5)).sum()
    assert (section.body.found, section.body.left) == (str(tp), str(truth.sum() - tp))


def test_a_cut_off_answers_so_many_rightly() -> None:
    ev = made("twenty")
    section, truth, scores = of(choices.cutoff_section(ev)), rows_of(ev).y_true, scores_of(ev)
    sure, right = scores.max(axis=1), scores.argmax(axis=1) == truth
    for t, answered, well in zip(*(section.data[key] for key in ("t", "answered", "right")), strict=True):
        assert (answered, well) == ((sure >= t - 1e-9).sum(), right[sure >= t - 1e-9].sum())


def test_confusions_are_counted() -> None:
    ev = made("three")
    p, table = rows_of(ev), of(confusion_matrix.confusions_section(ev)).body.plain
    assert p.y_pred is not None
    for truth, (_, boxes) in enumerate(table.rows):
        for answer, box in enumerate(boxes):
            n = ((p.y_true == truth) & (p.y_pred == answer)).sum()
            assert box.count == str(n)
            assert box.share == f"{100 * n / (p.y_true == truth).sum():.0f}%"


def test_swaps_are_rows_on_which_one_label_is_left_out_and_another_added() -> None:
    ev = made("multilabel")
    truth, added = rows_of(ev).y_true.astype(bool), scores_of(ev) >= 0.5
    (table,) = of(confusion_matrix.swaps(ev)).body
    names, left, wrong = ev.space.names, truth & ~added, added & ~truth
    by_hand = {
        f"{names[a]} instead: {names[b]}": int((left[:, a] & wrong[:, b]).sum())
        for a, b in product(range(len(names)), repeat=2)
    }
    reported = {row[0]: int(row[1]) for row in texts(table)}
    assert reported == {
        pair: rows for pair, rows in by_hand.items() if rows >= confusion_matrix.OFTEN_SWAPPED
    }


def test_expected_are_as_many_as_the_scores_add_up_to() -> None:
    ev = made("binary")
    facts, total = calibration.calibration_facts(ev), scores_of(ev).sum()
    assert facts is not None
    text = " ".join(
        f"{name if isinstance(name, str) else name.text}: {value.text}." for name, value in facts.pairs
    )
    assert calibration.expected_positives(ev) == pytest.approx(total)
    assert f"Expected malignant tumours: {total:.0f}; observed {rows_of(ev).y_true.sum()}." in text
    assert "underconfident" in text


def test_net_benefit_weighs_false_positives_by_the_odds_of_the_threshold() -> None:
    ev = made("binary")
    both, truth, scores = choices.benefits(ev), rows_of(ev).y_true.astype(bool), scores_of(ev)
    assert both is not None and choices.utility_section(ev) is not None
    for curve, scored in zip(both, (scores, np.ones(len(scores))), strict=True):  # the second flags all
        for t, benefit in zip(curve.x, curve.y, strict=True):
            hits, false_positive_rate = ((scored >= t) & truth).mean(), ((scored >= t) & ~truth).mean()
            assert benefit == pytest.approx(hits - false_positive_rate * t / (1 - t))


def test_the_hardest_classes_are_those_of_the_lowest_area() -> None:
    ev = made("twenty")
    truth, scores = rows_of(ev).y_true, scores_of(ev)
    areas = {name: roc_auc_score(truth == code, scores[:, code]) for code, name in enumerate(ev.space.names)}
    (table,) = of(curves.averaged_section(ev)).body[-1].parts
    assert [row[0] for row in texts(table)] == sorted(areas, key=lambda name: areas[name])[: curves.HARDEST]


def test_every_metric_has_its_row() -> None:
    ev = made("binary-labels")
    section = of(appendix.metrics_section(ev))
    undefined = [name for name, result in ev.metrics.items() if result.value is None]
    assert f"{len(ev.metrics)} metrics, {len(undefined)} of them undefined" in section.summary.text
    rows = section.body[-1].parts[-1].rows
    assert [row[0].sub for row in rows] == list(ev.metrics)
    assert [row[0].sub for row in rows if row[1].text.startswith("undefined")] == undefined


def test_answers_that_could_not_be_read_are_wrong() -> None:
    ev = made("text")
    section, p = of(parsing_section(ev)), rows_of(ev)
    assert p.y_pred is not None
    unparsed = int((p.y_pred < 0).sum())
    assert section.summary.text.startswith(
        f"{300 - unparsed} of 300 responses contain exactly one label; {unparsed} do not"
    )
    table = texts(section.body[0])
    assert sum(int(row[1]) for row in table) == 300
    assert sum(int(row[1]) for row in table if row[4] == "wrong") == unparsed


def test_the_first_rows_of_the_forest_are_counts_by_hand() -> None:
    ev = made("binary")
    truth, flagged = rows_of(ev).y_true.astype(bool), scores_of(ev) >= 0.5
    shown = {row.title: float(row.estimate.rstrip("%")) for row in headline(ev).rows}
    by_hand = (flagged[truth].mean(), truth[flagged].mean())
    assert list(shown)[:2] == ["Recall", "Precision"]
    assert list(shown.values())[:2] == pytest.approx([100 * share for share in by_hand], abs=0.5)


def test_a_better_threshold_has_its_price() -> None:
    truth, scores = noisy(600)
    ev = evaluation(predictions(TUMOUR, named(truth), scores=Probabilities(scores**4)))
    said = next_step(ev)
    numbers = {number.name: number.value for number in said.numbers}
    now, then = scores**4 >= 0.5, scores**4 >= numbers["to"]
    assert numbers["found_more"] == (then & truth).sum() - (now & truth).sum() > 0
    assert numbers["fp_more"] == (then & ~truth).sum() - (now & ~truth).sum()


def test_chosen_cut_offs_and_thresholds_are_those_found() -> None:
    found = chosen("multiclass-tuned")
    (table, _) = of(chosen_thresholds.cutoffs(found)).body
    scores, truth = scores_of(found.evaluation), rows_of(found.evaluation).y_true
    for row in texts(table):
        kept = scores.max(axis=1) >= float(row[1])
        assert row[5] == f"{100 * kept.mean():.1f}%"
        assert row[7] == f"{100 * (scores.argmax(axis=1) == truth)[kept].mean():.0f}%"
    tuned = chosen("multilabel-tuned")
    (numbers,) = of(chosen_thresholds.labels_section(tuned)).body
    positives = rows_of(tuned.evaluation).y_true.sum(axis=0)
    assert [row[1] for row in texts(numbers)] == [str(n) for n in sorted(positives, reverse=True)]
    assert len(texts(of(chosen_thresholds.tuned_section(tuned)).body[0])) == len(tuned.tuned_choices) == 3
    (history,) = of(chosen_thresholds.searches(tuned)).body
    assert len(history.parts) == sum(best.trials is not None for best in tuned.tuned_choices.values())


def test_the_course_of_an_objective_is_best_at_its_threshold() -> None:
    found = chosen("binary")
    charts = of(chosen_thresholds.course(found)).body[0].parts
    scored = {name: best for name, best in found.found.items() if isinstance(best, Optimum)}
    assert charts[0].title == "F1" and len(charts) == len(scored)
    truth, scores = rows_of(found.evaluation).y_true.astype(bool), scores_of(found.evaluation)

    def f1(at: float) -> float:
        flagged = scores >= at
        return 2 * float((truth & flagged).sum()) / float(flagged.sum() + truth.sum())

    assert f1(scored["f1"].threshold) == pytest.approx(max(map(f1, scores.tolist())))
    assert float(forest(found).rows[0].reference) == pytest.approx(f1(0.5), abs=5e-4)

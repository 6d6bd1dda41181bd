"""What sections of a comparison, of a study and of a cross-validation say, counted again."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from evalreport.features.studies import page, presentation
from evalreport.features.studies.study import Study, analyse_study, doubts
from evalreport.page.comparison import sections
from evalreport.page.sections import cross_validation
from evalreport.thresholds.trial import StudyObjective
from evalreport.thresholds.trial_search import Trials
from tests.features.studies.test_page import single, two_goals
from tests.intervals.test_folds import evaluated
from tests.page.test_by_hand import of, rows_of, texts
from tests.page.test_comparison import several


def test_answers_that_moved_are_counted() -> None:
    compared = several("binary-slices", 3)
    section = of(sections.changed_predictions_section(compared))
    rows = [rows_of(ev) for ev in compared.evaluations]
    right = [np.equal(p.y_true, np.asarray(p.y_pred)) for p in rows]
    counted = {row[0]: [int(cell) for cell in row[1:5]] for row in texts(section.body[0])}
    for run in (1, 2):
        now, before = right[run], right[0]
        kinds = (now & ~before, before & ~now, ~now & ~before, now & before)
        assert counted[f"run-{run} against run-0"] == [int(np.sum(kind)) for kind in kinds]
    said = [words.text for _, words in of(sections.provenance(compared)).body[-1].parts[0].pairs]
    assert all(f"paired on {len(right[0])} shared tumours" in text for text in said) and len(said) == 2
    facts = {str(name): words.text for name, words in of(sections.provenance(compared)).body[0].pairs}
    assert all(facts[name].startswith("400 rows") for name in compared.names)


def test_labels_alone_tell_of_no_sure_mistakes() -> None:
    for kind, reported in (("binary-slices", True), ("binary-labels", False)):
        said = str(sections.changed_predictions_section(several(kind, 2)))
        assert "Examples" in said
        assert ("the most confident mistakes first" in said) == reported


def test_runs_stand_in_the_order_of_their_value_and_the_baseline_is_the_first_column() -> None:
    compared = several("binary-slices", 3)
    metric = compared.primary
    best_first = sorted(compared.evaluations, key=lambda ev: -(ev[metric].value or 0.0))
    names = dict(zip(map(id, compared.evaluations), compared.names, strict=True))
    shown = [row[1] if row[0][:1].isdigit() else row[0] for row in texts(sections.leaderboard(compared))]
    assert [text.split(" ")[0] for text in shown] == [names[id(ev)] for ev in best_first]
    assert sections.order(compared) == [0, 1, 2]
    ranked = sections.leaderboard(replace(compared, primary="accuracy"))
    assert re.fullmatch(r"95% interval, [\d.]+% to [\d.]+%", ranked.columns[3].title), "as the values are"
    reported = of(sections.parts(compared)).summary.text
    slices = [d for d in compared.parts if " = " in d.scope]
    assert reported.startswith(f"{sum(d.is_significant for d in slices)} of {len(slices)} differences")


def study_of(values_of: list[float]) -> Study:
    rows = [
        {"params": {"rate": 10.0 ** -(k % 9), "depth": 3}, "value": value}
        for k, value in enumerate(values_of)
    ]
    return analyse_study(Trials.from_records(rows, objectives=StudyObjective("accuracy", "maximize")))


def test_doubts_are_said_where_there_are_some() -> None:
    rising = [0.5 + k / 1000 for k in range(40)]
    (late,) = [one.claim for one in doubts(study_of(rising)) if one.section == "history"]
    assert late == "The best trial was number 40 of 40: the search was still improving."
    (first,) = [one.claim for one in doubts(study_of(rising[::-1])) if one.section == "history"]
    assert first == "No later trial is better than the first one, trial 0."
    assert not [one for one in doubts(study_of([*rising[20:], *rising[:20]])) if one.section == "history"]
    lost = doubts(study_of([*rising[::-1], math.nan]))
    assert "1 trial ended with a NaN or infinite value and cannot be the best." in [one.claim for one in lost]


def test_every_trial_has_its_row_and_the_best_is_the_first() -> None:
    study = single()
    rows = texts(of(presentation.table(study)).body[0].parts[0])
    assert len(rows) == len(study.trials)
    assert rows[0][0].split(" ")[0] == str(study.best.number)
    assert presentation.front(study) is None and presentation.front(two_goals()) is not None
    assert page.own(study, "bias") == of(page.bias_section(study)).id == "bias"
    assert page.against_the_best(study, study.best.number) == "best"
    shown = of(presentation.importance(study)).body[0].parts[0]
    assert {row[0] for row in texts(shown)} <= set(study.trials.params)
    assert presentation.slices(study) is not None and presentation.parallel(study) is not None


def test_the_mean_of_the_folds_is_the_value_that_is_shown() -> None:
    ev = evaluated()
    table, each = of(cross_validation.folds_section(ev)).body
    (auc,) = [row for row in texts(table) if row[0] == "ROC AUC"]
    (one_by_one,) = [row for row in texts(each.parts[0]) if row[0] == "ROC AUC"]
    assert float(auc[1]) == pytest.approx(np.mean([float(value) for value in one_by_one[1:]]), abs=6e-3)
    assert sum(int(rows) for rows in texts(each.parts[0])[0][1:]) == ev.rows

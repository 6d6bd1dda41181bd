"""The checklist and the sections that it speaks of do not contradict each other."""

from __future__ import annotations

import pytest

from evalreport.panels.checklist import panel
from evalreport.report.render import render
from tests.report.made import KINDS, made

SHOWN = {"Calibration?": 'id="reliability"', "Clinical utility?": 'id="utility"'}


@pytest.mark.parametrize("kind", KINDS)
def test_a_question_is_answered_where_its_figure_stands_on_the_page(kind: str) -> None:
    ev = made(kind)
    page = render(ev)
    (table,) = panel(ev).body
    for question, answer in table.rows:
        if question.text in SHOWN:
            assert answer.words.startswith("Yes.") == (SHOWN[question.text] in page), (kind, answer)

"""The checklist and the sections that it speaks of do not contradict each other."""

from __future__ import annotations

import pytest

from evalreport.page.render import render
from evalreport.page.sections.checklist import checklist_section
from tests.report.made import KINDS, made

SHOWN = {"Calibration?": 'id="reliability"', "Clinical utility?": 'id="utility"'}


@pytest.mark.parametrize("kind", KINDS)
def test_a_question_is_answered_where_its_figure_stands_on_the_page(kind: str) -> None:
    ev = made(kind)
    page = render(ev)
    (table,) = checklist_section(ev).body
    for question, answer in table.rows:
        if question.text in SHOWN:
            assert answer.words.startswith("Yes.") == (SHOWN[question.text] in page), (kind, answer)

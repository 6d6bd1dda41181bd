"""Any table is evaluated, written, read back, described and shown, or refused in three lines: never a crash.

`make fuzz` looks at more of them; what one of them broke stands in `test_corpus.py`.
"""

from __future__ import annotations

import os
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalreport.core.errors import EvalreportError
from evalreport.data.predictions import Predictions
from evalreport.evaluation.evaluate import evaluate_predictions
from evalreport.evaluation.evaluation import Evaluation
from evalreport.findings.ordered_rules import find
from evalreport.intervals.interval_settings import Sampling
from evalreport.page.render import render, render_brief
from tests.fuzz.tables import LEVELS, tables

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "25"))
MANY = settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))


def whole_way(p: Predictions, level: float) -> None:
    try:
        ev = evaluate_predictions(p, Sampling(level=level, resamples=50))
        ev = replace(ev, findings=find(ev))
    except EvalreportError:
        return
    text = ev.to_json()
    again = Evaluation.from_json(text.encode())
    assert again.to_json() == text
    assert render(again) == render(ev)
    assert render_brief(ev)
    repr(ev)


@given(made=tables(), level=st.sampled_from(LEVELS))
@MANY
def test_any_table_goes_the_whole_way(made: Predictions, level: float) -> None:
    whole_way(made, level)

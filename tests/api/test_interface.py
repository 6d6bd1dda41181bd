"""The names of the package stay what they are; what is given to them is checked, and errors speak Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import evalreport as er
from evalreport.core.errors import EvalreportError


def test_every_name_is_there() -> None:
    for name in er.__all__:
        assert getattr(er, name) is not None
    assert dir(er) == er.__all__


def absurd() -> list[Any]:
    values = [None, 3, -1, True, float("nan"), "", "x", b"x", [], [None], [[]], {}, {1}, object(), len]
    frames = [pd.DataFrame(), pd.DataFrame(index=range(3))]
    return [*values, *frames, np.array(3), np.zeros((2, 2, 2)), Path("nope"), (n for n in (1, 2))]


Y = [0, 1] * 10
EV = er.evaluate(Y, Y, confidence=None)
CALLS: dict[str, Any] = {
    "evaluate": er.evaluate,
    "to tune on": lambda what: er.evaluate(Y, Y, tune_on=what, threshold="max-f1"),
    "confidence, seed": lambda what: er.evaluate(Y, Y, confidence=what, seed=what),
    "file": er.evaluate_file,
    "labels of a frame": lambda what: er.evaluate(pd.DataFrame({"y_true": Y}), labels=what),
    "column": lambda what: er.evaluate(pd.DataFrame({"y_true": Y, "y_pred": Y}), group=what, unit=what),
    "files": er.evaluate_files,
    "run": lambda what: er.evaluate_run(what, tracking_uri="sqlite:///no-such-store.db"),
    "store": lambda what: er.evaluate_run("3f9c1e0a7b", tracking_uri=[what]),  # type: ignore[arg-type]
    "spark": er.evaluate_spark,
    "estimator": lambda what: er.evaluate_estimator(what, [[1.0]] * 20, Y),
    "folds": lambda what: er.cross_evaluate(what, [[1.0]] * 20, Y),
    "compare": lambda what: er.compare(what, what),
    "compared": lambda what: er.compare([EV, what], names=what),
    "systems": lambda what: er.compare(systems={"a": [EV, what], "b": what}),
    "sweep": lambda what: er.sweep(what, what),
    "log": er.log,
    "report": lambda what: er.report(what, "page.html"),
    "page": er.to_html,
    "parse": lambda what: er.parse(what, [what]),
}


@pytest.mark.parametrize("name", CALLS)
def test_whatever_is_given_an_error_says_what_where_and_how_to_mend_it(name: str) -> None:
    for what in absurd():
        with pytest.raises(EvalreportError) as caught:
            CALLS[name](what)
        assert caught.value.fix


def test_what_is_wrong_inside_is_named_by_its_place() -> None:
    with pytest.raises(EvalreportError, match="evaluations\\[1\\] is 3, not Evaluation") as caught:
        er.compare([EV, 3])  # type: ignore[list-item]
    assert caught.value.where == "evaluations[1]"


def test_errors_name_keywords_where_the_command_line_names_options(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    pd.DataFrame({"y": Y, "score": np.linspace(0, 1, 20), "w": 1.0}).to_csv(path, index=False)
    with pytest.raises(EvalreportError) as caught:
        er.evaluate_files(path, truth="y", weight="w")
    assert caught.value.as_lines().splitlines()[1:] == [
        '  at   engine="stream"',
        '  fix  pass engine="memory", or leave weight= out',
    ]
    assert er.evaluate_files(path, truth="y", weight="w", engine="memory").rows == 20
    with pytest.raises(EvalreportError) as caught:
        er.evaluate_file(path, truth="")
    assert caught.value.fix == 'columns are: y, score, w. Use truth="COLUMN"'
    with pytest.raises(EvalreportError) as caught:
        er.evaluate(Y, [None, *Y[1:]])
    assert caught.value.fix.startswith('to count such rows as wrong pass missing="wrong"; else')


def test_what_is_said_of_columns_is_said_of_arrays_where_arrays_are_given() -> None:
    with pytest.raises(EvalreportError) as caught:
        er.compare([EV, er.evaluate(Y[::-1], Y, confidence=None)])
    assert caught.value.fix.startswith("name the column of ids with ids=, or pass unpaired=True if")
    with pytest.raises(EvalreportError) as caught:
        er.evaluate(Y, scores=er.Probabilities(np.linspace(0, 1, 20)), threshold=2)
    assert caught.value.fix.endswith("have a scale of their own: scores=er.Decisions(…)")
    with pytest.raises(EvalreportError) as caught:
        er.evaluate(y_true=pd.DataFrame({"y": Y, "score": 0.5}), truth="y", score="score", threshold=2)
    assert caught.value.fix.endswith('have a scale of their own: score_kind="decision"')
    with pytest.raises(EvalreportError) as caught:
        er.Probabilities([-1.0, 2.0])
    assert "logits, pass --score-kind logit (er.Logits); if" in caught.value.fix

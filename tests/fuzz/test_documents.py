"""An `evaluation.json` that somebody changed is read as what it says, or refused: never a crash.

`make fuzz` looks at more of them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalreport.core.errors import DataError, EvalreportError
from evalreport.evaluation.evaluation import Evaluation
from evalreport.page.render import render
from tests.cli.running import run
from tests.fuzz.test_tables import MANY
from tests.page import made

KINDS = ("binary", "binary-slices", "binary-weighted", "three", "text", "multilabel-thresholds")
ODD: tuple[Any, ...] = (
    *(None, True, -1, 0, 1, 2, -5, 0.5, 1e308, -1e308, 1e-308, 10**400, 2**63),
    *("", "x", "5", "\ud800", "nan", [], {}, [1], [[1, 2, 3]], {"a": 1}),
)
FEW = 4
"""Entries of a list that are looked at: the others are alike."""


@cache
def document(kind: str) -> str:
    return made.made(kind).to_json()


def places(data: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    few = min(len(data), FEW) if isinstance(data, list) else 0
    steps: Any = data if isinstance(data, dict) else range(few)
    for step in steps:
        yield (*path, step)
        yield from places(data[step], (*path, step))


@cache
def all_places(kind: str) -> list[tuple[str | int, ...]]:
    return list(places(json.loads(document(kind))))


def change(data: Any, path: tuple[str | int, ...], how: str, value: Any) -> None:
    """Replace, drop, add beside, or scale what stands at a path that may be gone by now."""
    for step in path[:-1]:
        data = data[step]
    last = path[-1]
    match how:
        case "replace":
            data[last] = value
        case "drop":
            del data[last]
        case "add" if isinstance(data, dict):
            data["added"] = value
        case "scale" if isinstance(data[last], int | float):
            data[last] = data[last] * -3
        case _:
            data[last] = [data[last], data[last]]


@st.composite
def changed(draw: st.DrawFn) -> Any:
    kind = draw(st.sampled_from(KINDS))
    data = json.loads(document(kind))
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(all_places(kind)))
        how = draw(st.sampled_from(("replace", "drop", "add", "scale", "double")))
        value = draw(st.sampled_from(ODD))
        try:
            change(data, path, how, value)
        except (KeyError, IndexError, TypeError):
            continue
    return data


@given(data=changed())
@MANY
def test_a_changed_document_is_read_or_refused(data: Any) -> None:
    try:
        ev = Evaluation.from_json(json.dumps(data))
    except EvalreportError as error:
        assert error.exit_code == 5
        return
    assert json.loads(ev.to_json()) == data
    render(ev)


@pytest.mark.parametrize(
    ("path", "value", "where"),
    [
        (("n",), 10**400, "n"),
        (("n",), "5", "n"),
        (("n",), -5, "n"),
        (("weight",), -1.0, "weight"),
        (("labels",), ["a", "b", "c"], ""),
        (("confusion", "cells", 0, 0), 7, ""),
        (("confusion", "cells", 0, 2), -1.0, "confusion.cells[0][2]"),
        (("confusion", "cells", 0, 2), math.inf, "not JSON"),
        (("metrics", "recall", "low"), 2.0, "metrics.recall"),
        (("metrics", "recall", "n"), "many", "metrics.recall.n"),
        (("sampling", "level"), 1.5, "sampling"),
        (("thresholds", "points"), [], ""),
        (("curves", "roc", "x"), [0.0], "curves.roc"),
        (("provenance", "unit"), ["case"], "provenance.unit"),
        (("more",), 1, ""),
    ],
)
def test_the_commands_and_the_constructor_refuse_alike(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, path: tuple[str | int, ...], value: Any, where: str
) -> None:
    data = json.loads(document("binary"))
    change(data, path, "replace", value)
    text = json.dumps(data)
    with pytest.raises(DataError) as refused:
        Evaluation.from_json(text)
    assert where in f"{refused.value.where} {refused.value.message}"
    bad, good = tmp_path / "bad.json", tmp_path / "good.json"
    bad.write_text(text, encoding="utf-8")
    good.write_text(document("binary"), encoding="utf-8")
    done = run(capsys, "compare", str(good), str(bad))
    assert done.code == 5, done.err
    assert "bad.json" in done.err
    assert "Traceback" not in done.err

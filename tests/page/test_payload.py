"""A payload that MLflow would refuse cannot be made; keys are stable and never two the same."""

from __future__ import annotations

import json
import math
import posixpath
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalreport.page.payload import (
    LONGEST_KEY,
    MAX_STEPS,
    Payload,
    content_digest,
    is_ours,
    metric_keys,
    split_json,
)


def mlflow_takes(key: str, *, windows: bool = False) -> bool:
    """MLflow's own rule, written out: a character class, a length, and a path that stays itself."""
    allowed = r"^[/\w.\- ]*$" if windows else r"^[/\w.\- :]*$"
    norm = posixpath.normpath(key)
    odd = norm != key or norm == "." or norm.startswith(("..", "/"))
    return bool(re.match(allowed, key)) and not odd and len(key) <= 250


@given(st.lists(st.text(), unique=True), st.booleans())
def test_every_key_is_taken_and_none_twice(names: list[str], windows: bool) -> None:
    keys = metric_keys(names, "eval/classes/f1/", windows=windows)
    assert list(keys) == names
    assert len({key.casefold() for key in keys.values()}) == len(names)
    for key in keys.values():
        assert mlflow_takes(key, windows=windows)
        assert key.count("/") == 3
        Payload(metrics={key: 0.5}, digest="d")


@given(st.lists(st.text(max_size=5), unique=True), st.text(max_size=5))
def test_a_class_has_the_same_key_in_every_run(names: list[str], name: str) -> None:
    alone = metric_keys([name])[name]
    lower = {other.casefold() for other in metric_keys(names).values()}
    if name not in names and alone.casefold() not in lower:
        assert metric_keys([*names, name])[name] == alone


@pytest.mark.parametrize("name", ["spam", "neutral joy", "a.b-c_d", "größe", "模型"])
def test_a_name_that_mlflow_takes_is_its_own_key(name: str) -> None:
    assert metric_keys([name], "eval/")[name] == f"eval/{name}"


def test_a_name_that_mlflow_refuses_stays_readable() -> None:
    assert re.fullmatch(
        r"reverted_card_payment_-[0-9a-f]{6}", metric_keys(["reverted_card_payment?"]).popitem()[1]
    )


@pytest.mark.parametrize(
    ("a", "b"), [("C++", "C#"), ("a/b", "a_b"), ("Refund", "refund"), ("x" * 400, "x" * 401)]
)
def test_names_that_look_alike_keep_apart(a: str, b: str) -> None:
    keys = metric_keys([a, b], "eval/")
    assert keys[a].casefold() != keys[b].casefold()
    assert max(map(len, keys.values())) <= LONGEST_KEY


def test_a_colon_is_kept_where_mlflow_takes_it() -> None:
    assert metric_keys(["a:b"], windows=False)["a:b"] == "a:b"
    assert ":" not in metric_keys(["a:b"], windows=True)["a:b"]


@pytest.mark.parametrize("key", ["a@b", "a//b", "/a", "a/", "..", "a/../b", "a/./b", "", "x" * 251, "a\n"])
def test_a_bad_metric_key_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match="refuses the metric key"):
        Payload(metrics={key: 1.0}, digest="d")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_undefined_values_cannot_be_logged(value: float) -> None:
    with pytest.raises(ValueError, match="are skipped"):
        Payload(metrics={"f1": value}, digest="d")
    with pytest.raises(ValueError, match="are skipped"):
        Payload(series={"roc": ((0, value),)}, digest="d")


@pytest.mark.parametrize(
    "steps", [[], [1, 0], [0, 0], list(range(MAX_STEPS + 1))], ids=["none", "down", "twice", "too many"]
)
def test_a_series_is_a_short_ascending_grid(steps: list[int]) -> None:
    with pytest.raises(ValueError, match="steps"):
        Payload(series={"roc": tuple((step, 0.5) for step in steps)}, digest="d")


@pytest.mark.parametrize(
    "bad",
    [
        {"artifacts": {"../x": b""}},
        {"artifacts": {"/x": b""}},
        {"artifacts": {"a//b": b""}},
        {"artifacts": {"a#b": b""}},
        {"artifacts": {"a": b""}, "tables": {"a": "{}"}},
        {"metrics": {"a": 1.0}, "series": {"a": ((0, 1.0),)}},
        {"images": {"a+b": b""}},
        {"tags": {"evalreport.a": "x" * 8001}},
        {"tags": {"mlflow.note.content": "x"}},
    ],
)
def test_what_mlflow_would_refuse_half_way_cannot_be_made(bad: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"twice|inside a run|refuses"):
        Payload(digest="d", **bad)


def test_a_payload_cannot_be_changed() -> None:
    given_metrics = {"f1": 0.5}
    payload = Payload(metrics=given_metrics, digest="d")
    given_metrics["f1"] = 0.9
    assert payload.metrics == {"f1": 0.5}
    with pytest.raises(TypeError):
        payload.metrics["f1"] = 0.9  # type: ignore[index]


def test_tables_have_the_form_of_log_table() -> None:
    text = split_json({"label": ["a", "naïve"], "f1": [0.5, None]})
    assert json.loads(text) == {"columns": ["label", "f1"], "data": [["a", 0.5], ["naïve", None]]}
    payload = Payload(artifacts={"a.json": b"1"}, tables={"b.json": text}, digest="d")
    assert payload.files == {"a.json": b"1", "b.json": text.encode()}


def test_the_digest_is_of_the_content() -> None:
    assert content_digest({"a": 1}, "x") != content_digest({"a": 2}, "x")
    assert content_digest(["é"]) == content_digest(["é"])


@pytest.mark.parametrize(
    "path", ["evalreport.html", "evalreport_roc_curve.png", "evalreport/classes.json", "images/a.png"]
)
def test_our_own_files_are_known(path: str) -> None:
    assert is_ours(path)
    assert not is_ours(f"x/{path}")

"""The Python face as a notebook uses it: what goes in, what comes out, and what is said when it cannot."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import html5lib
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_array, csr_matrix

import evalreport as er
from evalreport.core.errors import DataError, UsageError
from evalreport.thresholds.best_threshold import Optimum

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, 60)
P = np.clip(0.4 * Y + 0.6 * RNG.random(60), 0, 1)
NAMED = np.array(["ham", "spam"])[Y]
TAGS = np.c_[Y, 1 - Y, RNG.integers(0, 2, 60)]
SECTIONS = ("Parameters", "Examples")
RAISERS = ("Binary", "Multiclass", "Multilabel", "Probabilities", "Logits", "Decisions", "Trials")


class Tensor:
    """An array of another library: it has a length and `__array__`, and cannot be iterated."""

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values)

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.values if dtype is None else self.values.astype(dtype)


class Elsewhere(Tensor):
    """A tensor on another device."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise TypeError("can't convert cuda:0 device type tensor to numpy")


def whole() -> er.Evaluation:
    return er.evaluate(NAMED, scores=er.Probabilities(P))


# --- what is documented ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in er.__all__ if name != "__version__"])
def test_every_name_is_documented_with_an_example(name: str) -> None:
    public = getattr(er, name)
    text = inspect.getdoc(public) or ""
    for section in SECTIONS:
        assert re.search(rf"^{section}\n-+$", text, re.MULTILINE), f"{name} has no {section}"
    assert ">>> " in text
    if inspect.isfunction(public) or name in RAISERS:
        assert "Raises\n------" in text, f"{name} does not say what it raises"


def test_every_argument_is_documented() -> None:
    for name in er.__all__:
        public = getattr(er, name)
        if inspect.isfunction(public):
            text = inspect.getdoc(public) or ""
            for argument in inspect.signature(public).parameters:
                assert re.search(rf"\b{argument}\b", text), f"{name} does not say what {argument} is"


# --- what goes in ------------------------------------------------------------------------------------

FORMS: dict[str, Callable[[Any], Any]] = {
    "list": list,
    "tuple": tuple,
    "array": np.asarray,
    "series": pd.Series,
    "series with another index": lambda values: pd.Series(values, index=np.arange(len(values))[::-1] + 7),
    "categorical": pd.Categorical,
    "index": pd.Index,
    "tensor": Tensor,
    "generator": lambda values: (value for value in values),
    "objects": lambda values: np.array(list(values), dtype=object),
    "frame of one column": lambda values: pd.DataFrame({"y": values}),
}


@pytest.mark.parametrize("form", FORMS)
def test_truth_and_answers_in_any_form(form: str) -> None:
    answers = np.where(P > 0.5, "spam", "ham")
    expected = er.evaluate(NAMED, answers)
    assert er.evaluate(FORMS[form](NAMED), FORMS[form](answers)) == expected


@pytest.mark.parametrize("form", ["list", "tuple", "array", "series", "series with another index", "tensor"])
def test_everything_beside_them_in_any_form(form: str) -> None:
    make = FORMS[form]
    beside: dict[str, Any] = {
        "weights": np.arange(60) % 3 + 1.0,
        "ids": [f"id {row}" for row in range(60)],
        "groups": np.arange(60) // 4,
        "texts": [f"text {row}" for row in range(60)],
    }
    site = np.array(["north", "south"])[np.arange(60) % 2]
    expected = er.evaluate(NAMED, scores=er.Probabilities(P), slices={"site": site}, **beside)
    made = {name: make(values) for name, values in beside.items()}
    found = er.evaluate(NAMED, scores=er.Probabilities(make(P)), slices={"site": make(site)}, **made)
    assert found == expected
    as_frame = er.evaluate(NAMED, scores=er.Probabilities(P), slices=pd.DataFrame({"site": site}), **beside)
    assert as_frame == expected


def test_several_labels_in_any_form() -> None:
    names = ["a", "b", "c"]
    expected = er.evaluate(TAGS, TAGS[:, [1, 1, 2]], labels=er.Multilabel(names))
    frame = pd.DataFrame(TAGS, columns=names)
    answers = pd.DataFrame(TAGS[:, [1, 1, 2]], columns=names)
    lists = [[name for name, has in zip(names, row, strict=True) if has] for row in TAGS]
    assert er.evaluate(frame, answers) == expected
    assert er.evaluate(frame, answers[["c", "a", "b"]]) == expected
    assert er.evaluate(frame[["b", "a", "c"]], answers, labels=er.Multilabel(names)) == expected
    for form in (Tensor, csr_matrix, coo_array):
        assert er.evaluate(form(TAGS), form(TAGS[:, [1, 1, 2]]), labels=names) == expected
    assert er.evaluate(lists, answers, labels=names) == expected
    assert er.evaluate([set(row) for row in lists], answers, labels=names) == expected


@pytest.mark.parametrize("kind", [er.Probabilities, er.Logits, er.Decisions])
def test_columns_of_a_frame_of_scores_are_matched_by_name(kind: Any) -> None:
    labels = np.array(["a", "b", "c"])[RNG.integers(0, 3, 60)]
    values = RNG.dirichlet([1, 1, 1], 60)
    expected = er.evaluate(labels, scores=kind(values))
    frame = pd.DataFrame(values, columns=["a", "b", "c"])
    assert er.evaluate(labels, scores=kind(frame)) == expected
    assert er.evaluate(labels, scores=kind(frame[["c", "a", "b"]])) == expected
    assert er.evaluate(labels, scores=kind(frame[["c", "a", "b"]].add_prefix("proba_"))) == expected
    assert er.evaluate(labels, scores=kind(pd.DataFrame(values))) == expected  # numbered, not named


def test_a_frame_of_two_classes_is_matched_by_name() -> None:
    frame = pd.DataFrame({"spam": P, "ham": 1 - P})
    assert er.evaluate(NAMED, scores=er.Probabilities(frame))["roc_auc"] == whole()["roc_auc"]
    assert er.evaluate(NAMED, scores=er.Probabilities(frame[["spam"]]))["roc_auc"] == whole()["roc_auc"]


def test_columns_named_otherwise_are_refused() -> None:
    frame = pd.DataFrame({"p_malign": P, "p_benign": 1 - P})
    with pytest.raises(DataError, match="columns of scores are not named after the labels") as caught:
        er.evaluate(NAMED, scores=er.Probabilities(frame))
    assert caught.value.where == "scores: p_malign, p_benign; labels: ham, spam"


def test_a_series_in_another_order_is_refused() -> None:
    truth = pd.Series(NAMED, index=[f"row {i}" for i in range(60)])
    with pytest.raises(DataError, match="same index in another order") as caught:
        er.evaluate(truth, truth.iloc[::-1])
    assert caught.value.where == "y_pred, first: row 0"
    assert "y_pred.loc[y_true.index]" in caught.value.fix
    assert (
        er.evaluate(truth, truth.iloc[::-1].loc[truth.index])["accuracy"]
        == er.evaluate(truth, truth)["accuracy"]
    )


def test_what_a_mask_hides_is_a_gap_and_no_row() -> None:
    hidden = np.ma.masked_array([0, 1, 1, 0], mask=[True, False, False, False])
    with pytest.raises(DataError, match="y_true is missing for 1 row"):
        er.evaluate(hidden, [0, 1, 1, 0])
    with pytest.raises(DataError, match="scores have 1 value that is NaN"):
        er.Probabilities(hidden * 0.5)
    assert er.evaluate(np.ma.masked_array([0, 1], mask=False), [0, 1])["accuracy"].value == 1


def test_columns_of_a_frame_may_be_numbered() -> None:
    frame = pd.DataFrame({0: Y, 1: P})
    found = er.evaluate(frame, truth=0, score=1, confidence=None)["roc_auc"]
    assert found == er.evaluate(Y, scores=er.Probabilities(P), confidence=None)["roc_auc"]


@pytest.mark.parametrize("kind", [er.Probabilities, er.Logits, er.Decisions, "slice", "frame", "answers"])
def test_scores_slices_and_answers_read_from_texts_remember_the_order_of_a_series(kind: Any) -> None:
    truth = pd.Series(NAMED, index=np.arange(60) * 7)
    other = pd.Series(P, index=truth.index).iloc[::-1]
    given: dict[str, Any]
    answers: Any = truth.iloc[::-1]
    match kind:
        case "slice":
            given = {"y_pred": NAMED, "slices": {"site": other > 0.5}}
        case "frame":
            given = {"y_pred": NAMED, "slices": (other > 0.5).to_frame("site")}
        case "answers":
            given = {"y_pred": er.parse(answers, sorted(set(NAMED)))}
        case _:
            given = {"scores": kind(other)}
    with pytest.raises(DataError, match="same index in another order"):
        er.evaluate(truth, **given, confidence=None)


@pytest.mark.parametrize(
    "truth",
    [[True, False, True], np.array([True, False, True]), pd.array([True, False, True], dtype="boolean")],
)
def test_truth_values_and_zero_and_one_are_the_same_labels(truth: Any) -> None:
    ev = er.evaluate(truth, [1, 0, 0])
    assert ev.space == er.Binary(0, 1)
    assert ev["accuracy"].value == 2 / 3


# --- what is refused ---------------------------------------------------------------------------------

WRONG: dict[str, tuple[Callable[[], Any], str, str]] = {
    "no truth": (lambda: er.evaluate(None, [1]), "y_true is NoneType, not one value per row", "y_true"),  # type: ignore[arg-type]
    "a number": (lambda: er.evaluate(5, 5), "y_true is int, not one value per row", "y_true"),
    "a text": (lambda: er.evaluate("ab", "ab"), "y_true is str, not one value per row", "y_true"),
    "a mapping": (lambda: er.evaluate({0: 1}, [1]), "y_true is dict, not one value per row", "y_true"),  # type: ignore[arg-type]
    "a set": (lambda: er.evaluate([1, 0], {1, 0}), "y_pred is set, not one value per row", "y_pred"),  # type: ignore[arg-type]
    "a scalar array": (lambda: er.evaluate(np.array(1), [1]), "y_true is ndarray, not one value", "y_true"),
    "on a device": (lambda: er.evaluate(Elsewhere(Y), Y), "can't convert cuda:0 device type", "y_true"),
    "nothing": (lambda: er.evaluate([], []), "y_true is empty", "y_true"),
    "neither": (lambda: er.evaluate(Y), "there are neither predictions nor scores", "y_pred"),
    "unequal answers": (lambda: er.evaluate(Y, Y[1:]), "y_pred has 59 rows and y_true has 60", "y_pred"),
    "unequal scores": (
        lambda: er.evaluate(Y, scores=er.Probabilities(P[1:])),
        "scores has 59 rows and y_true has 60",
        "scores",
    ),
    "unequal slices": (
        lambda: er.evaluate(Y, Y, slices={"site": [1]}),
        "site has 1 rows and y_true has 60",
        "site",
    ),
    "scores without predictions": (lambda: er.evaluate(Y, scores=P * 2), "their kind is unknown", "scores"),
    "scores as answers": (
        lambda: er.evaluate(Y, P),
        "y_pred has 60 values that are not whole numbers",
        f"y_pred, first: row 0, {P[0]}",
    ),
    "ragged scores": (
        lambda: er.Probabilities([[0.1, 0.9], [1.0]]),
        "scores cannot be read as an array",
        "scores",
    ),
    "scores in three axes": (
        lambda: er.Probabilities(np.zeros((2, 2, 2))),
        "scores have shape \\(2, 2, 2\\)",
        "scores",
    ),
    "scores of a device": (
        lambda: er.Probabilities(Elsewhere(P)),
        "can't convert cuda:0",
        "scores",
    ),
    "text as scores": (lambda: er.Logits(["a"]), "scores are of type <U1, not numbers", "scores"),
    "too wide": (
        lambda: er.evaluate(Y, scores=er.Probabilities(np.full((60, 3), 1 / 3))),
        "there are 3 score columns and 2 labels",
        "",
    ),
    "one weight": (lambda: er.evaluate(Y, Y, weights=2.0), "weights is float, not one value", "weights"),
    "text as weights": (
        lambda: er.evaluate(Y, Y, weights=["x"] * 60),
        "weights holds text, not numbers",
        "weights, first: row 0, 'x'",
    ),
    "ids in two axes": (lambda: er.evaluate(Y, Y, ids=TAGS), "ids have shape \\(60, 3\\)", "ids"),
    "slices without names": (
        lambda: er.evaluate(Y, Y, slices=["a"] * 60),
        "slices are list, without names",
        "slices",
    ),
    "labels as a text": (lambda: er.evaluate(Y, Y, labels="01"), "labels is '01', not", "labels"),
    "threshold nan": (
        lambda: er.evaluate(Y, scores=er.Probabilities(P), threshold=float("nan")),
        "threshold nan is not finite",
        "threshold",
    ),
    "threshold true": (
        lambda: er.evaluate(Y, scores=er.Probabilities(P), threshold=True),
        "threshold is True, not a number",
        "threshold",
    ),
    "nothing to choose": (
        lambda: er.evaluate(Y, scores=er.Probabilities(P), tune_on=whole()),
        "rows to tune on, but no objective",
        "tune_on",
    ),
    "a number and rows to tune on": (
        lambda: er.evaluate(Y, scores=er.Probabilities(P), threshold=0.3, tune_on=whole()),
        "rows to tune on, but no objective",
        "tune_on",
    ),
    "tuning from JSON": (
        lambda: er.evaluate(
            Y,
            scores=er.Probabilities(P),
            threshold="max-f1",
            tune_on=er.Evaluation.from_json(whole().to_json()),
        ),
        "tune_on has no predictions",
        "tune_on",
    ),
    "confidence in percent": (
        lambda: er.evaluate(Y, Y, confidence=95),
        "confidence 95 is out of",
        "confidence",
    ),
    "no resamples": (lambda: er.evaluate(Y, Y, resamples=0), "resamples 0 is out of range", "resamples"),
    "negative seed": (lambda: er.evaluate(Y, Y, seed=-1), "seed -1 is out of range", "seed"),
    "no seed": (lambda: er.evaluate(Y, Y, seed=None), "seed is None, not a whole number", "seed"),  # type: ignore[arg-type]
    "a name of an argument": (
        lambda: er.evaluate_file("p.csv", truht="y"),
        "there is no argument 'truht'",
        "truht",
    ),
    "one evaluation": (
        lambda: er.compare(whole()),  # type: ignore[call-overload]
        "not a sequence of Evaluations",
        "evaluations",
    ),
    "no such baseline": (lambda: er.compare([whole()] * 2, 2), "there is no run 2", "baseline"),
    "a name too few": (lambda: er.compare([whole()] * 2, names=["a"]), "1 names for 2 runs", "names"),
    "labels in a text": (lambda: er.Multiclass(3), "labels are int, not a sequence", ""),  # type: ignore[arg-type]
    "costs in words": (lambda: er.sweep(whole(), costs="x"), "the costs are not numbers", "costs"),
    "no files": (lambda: er.evaluate_files([]), "no file is named", "paths"),
    "a file without a name": (lambda: er.report(whole(), ""), "is a directory", "."),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said_and_where(case: str) -> None:
    call, message, where = WRONG[case]
    with pytest.raises((DataError, UsageError), match=message) as caught:
        call()
    assert caught.value.where == where
    assert "cpu()" in caught.value.fix if "device" in case else caught.value.fix


# --- what comes out ----------------------------------------------------------------------------------


def test_thresholds_of_any_kind_of_number_decide() -> None:
    at = er.evaluate(Y, scores=er.Probabilities(P), threshold=np.float32(0.25)).threshold
    assert at is not None
    assert (at.value, at.origin) == (0.25, "given")
    several = er.evaluate(TAGS, scores=er.Probabilities(np.c_[P, P, P]), threshold=[0.2, 0.3, 0.4]).threshold
    assert several is not None
    assert several.value == (0.2, 0.3, 0.4)


def test_nothing_can_be_changed() -> None:
    ev = whole()
    made = (ev, ev["f1"], er.Undefined("x"), ev.space, er.Probabilities(P), er.Finding("r", "note", "c", {}))
    for value in made:
        name = dataclasses.fields(value)[0].name
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, name, 1)
    assert ev.predictions is not None
    for array in (ev.predictions.y_true, ev.predictions.weights, er.Probabilities(P).values):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_what_was_given_can_change_without_harm() -> None:
    given = P.copy()
    scores = er.Probabilities(given)
    given[:] = 0.5
    assert er.evaluate(Y, scores=scores)["roc_auc"] == er.evaluate(Y, scores=er.Probabilities(P))["roc_auc"]


def test_short_words_for_long_things() -> None:
    ev = whole()
    assert repr(ev).startswith("Evaluation(binary, 60 rows: recall ")
    wide = er.evaluate(NAMED, np.where(P > 0.5, "spam", "ham"), labels=er.Multiclass(["ham", "spam", "egg"]))
    assert repr(wide).startswith("Evaluation(multiclass, 3 labels, 60 rows: accuracy ")
    compared = er.compare([ev, ev])
    assert repr(compared).startswith("Comparison(run 1 and run 2: paired, ")
    trials = er.Trials.from_records([{"value": value / 100} for value in range(50)], objectives="f1")
    assert repr(trials) == "Trials(50 trials of f1 (maximize): 50 complete)"
    assert repr(er.Logits(np.zeros((9, 3)))) == "Logits(shape=(9, 3), dtype=float64)"
    for value in (ev, ev.plot, wide, compared, trials, ev["f1"], er.Probabilities(P)):
        assert len(repr(value)) < 200
        assert "\n" not in repr(value)


def test_a_notebook_shows_one_small_table_with_intervals() -> None:
    page = html5lib.parse(whole()._repr_html_(), namespaceHTMLElements=False)
    (table,) = page.iter("table")
    rows = [[cell.text or "" for cell in row] for row in table.iter("tr")]
    assert rows[0] == ["metric", "value", "95% interval", "0 to 1, no-skill dashed"]
    assert 5 <= len(rows) <= 13
    ev = whole()
    recall = ev["recall"]
    assert isinstance(recall, er.Estimate)
    assert rows[1][:2] == ["recall", f"{recall.value:.0%}"]
    assert rows[1][2] == f"{recall.low:.0%} to {recall.high:.0%}"
    assert (table.find("caption").text or "") == "binary, 60 cases, threshold 0.500 (default)"
    items = [item.text or "" for item in page.iter("li")]
    assert items == [f"{finding.severity}: {finding.claim}" for finding in ev.findings]
    assert not [element for element in page.iter() if "style" in element.attrib or element.tag == "style"]


def test_a_notebook_says_why_a_value_is_missing() -> None:
    shown = er.evaluate(NAMED, NAMED)._repr_html_()
    assert "undefined: needs scores; got only labels" in shown


def test_a_notebook_shows_a_comparison_in_one_small_table() -> None:
    ev = whole()
    other = er.evaluate(NAMED, scores=er.Probabilities(1 - P), labels=ev.space)
    for baseline, rows in ((0, len(er.compare([ev, other]).differences)), (None, 3)):
        runs = [ev, other] if baseline == 0 else [ev, other, ev]
        found = er.compare(runs, baseline, names=["<b>old", "new", "more"][: len(runs)])
        page = html5lib.parse(found._repr_html_(), namespaceHTMLElements=False)
        (table,) = page.iter("table")
        assert len(list(table.iter("tr"))) == rows + 1
        assert not list(page.iter("b"))
        shown = ["".join(cell.itertext()) for cell in table.iter("td")]
        assert any(text in ("better", "worse", "significantly worse") for text in shown)
        assert "Paired on 60 shared cases" in "".join(page.itertext())


def test_a_notebook_shows_estimates_and_choices() -> None:
    recall = er.Estimate(0.71698, n=106, low=0.625, high=0.794, method="wilson")
    assert recall._repr_html_() == "<b>0.717</b> (0.625 to 0.794; n 106, wilson)"
    assert er.Undefined("<b>no\u202e rows")._repr_html_() == "<i>undefined</i>: &lt;b&gt;no\\u202e rows"
    found = er.sweep(whole(), ["f1", "recall>=0.9"])
    page = html5lib.parse(found._repr_html_(), namespaceHTMLElements=False)
    heads = [head.text for head in page.iter("th")]
    assert heads[:2] == ["Chosen for", "Threshold"]
    assert heads[-2:] == ["F1", "Recall (sensitivity) ≥ 0.9"]
    choices = [choice for choice in found.found.values() if isinstance(choice, Optimum)]
    reported = "".join(choice._repr_html_() for choice in choices)
    assert f"f1: threshold <b>{choices[0].threshold:.3f}</b>" in reported
    assert "recall&gt;=0.9: threshold" in reported
    rows = [{"params": {"<i>": k}, "value": k / 50} for k in range(50)]
    study = er.sweep(er.Trials.from_records(rows, objectives="f1"))
    page = html5lib.parse(study._repr_html_(), namespaceHTMLElements=False)
    assert [cell.text for cell in page.iter("td")] == ["49"]
    assert [head.text for head in page.iter("th")][-1] == "<i>"


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", "</table><img src=x onerror=alert(1)>", "a\u202eb"]
)
def test_a_notebook_runs_nothing_of_a_label(name: str) -> None:
    labels = np.array([name, "ok", "fine"])[RNG.integers(0, 3, 60)]
    shown = er.evaluate(labels, np.full(60, "ok"), labels=[name, "ok", "fine"])._repr_html_()
    plain = er.evaluate(
        np.where(labels == name, "plain", labels), np.full(60, "ok"), labels=["plain", "ok", "fine"]
    )._repr_html_()

    def tags(text: str) -> list[str]:
        return [element.tag for element in html5lib.parse(text, namespaceHTMLElements=False).iter()]

    assert tags(shown) == tags(plain)
    assert "\u202e" not in shown


def test_a_file_takes_the_same_words_as_an_array(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    pd.DataFrame({"y": NAMED, "p": P, "site": ["n", "s"] * 30}).to_csv(path, index=False)
    ev = er.evaluate_file(
        path,
        truth="y",
        score="p",
        labels=er.Binary("ham", "spam"),
        slices="site",
        threshold=0.3,
        confidence=0.9,
        seed=1,
    )
    assert ev.sampling.level == 0.9
    assert ev.threshold is not None
    assert ev.threshold.value == 0.3
    assert {part.column for part in ev.slices} == {"site"}
    again = er.evaluate(NAMED, scores=er.Probabilities(P), threshold=0.3, confidence=0.9, seed=1)
    assert ev["f1"] == again["f1"]


@pytest.mark.parametrize(
    ("truth", "answers", "accuracy", "right"),
    [
        ([1, 0, 1, 0], [1, 0, None, 1], "accuracy", 0.5),
        ([1, 0, 1, 0], [1, 0, float("nan"), 1], "accuracy", 0.5),
        (["a", "b", "c", "b"], ["a", None, "c", "b"], "accuracy", 0.75),
        ([["a"], [], ["b"], ["a"]], [["a"], None, ["b"], None], "subset_accuracy", 0.5),
    ],
    ids=["binary", "a NaN", "multiclass", "multilabel"],
)
def test_an_answer_that_is_missing_counts_as_wrong_where_that_is_said(
    truth: list[Any], answers: list[Any], accuracy: str, right: float
) -> None:
    ev = er.evaluate(truth, answers, missing="wrong")
    estimate = ev[accuracy]
    assert isinstance(estimate, er.Estimate)
    assert estimate.value == right
    assert estimate.n == 4
    assert any("counted as wrong" in note for note in ev.notes)
    with pytest.raises(DataError):
        er.evaluate(truth, answers)

"""Two spellings of one class are named, with what they cost and how they differ."""

from __future__ import annotations

import unicodedata

import pytest

from evalreport.data.labels import Binary, Multiclass, Multilabel
from evalreport.data.predictions import predictions
from evalreport.findings.predicted_labels import lookalikes
from tests.findings.light import light

COMPOSED, DECOMPOSED = (unicodedata.normalize(form, "caf\u00e9") for form in ("NFC", "NFD"))


@pytest.mark.parametrize(
    ("other", "how"),
    [
        (" caf\u00e9", "spaces"),
        ("CAF\u00c9", "case"),
        (DECOMPOSED, "the form of their Unicode characters"),
        (COMPOSED + "\u200b", "invisible characters"),
        ("CAF\u00c9 ", "spaces and case"),
        (DECOMPOSED + " ", "the form of their Unicode characters and spaces"),
    ],
)
def test_says_how_they_differ_and_what_it_costs(other: str, how: str) -> None:
    truth = [COMPOSED, "tea"] * 50
    answers = [other, "tea"] * 50
    found = lookalikes(light(predictions(Multiclass([COMPOSED, other, "tea"]), truth, answers)))
    assert found is not None
    assert f"differ only in {how}. 50 cases are counted as wrong" in found.claim
    assert found.severity == "error"
    assert found.evidence["mistaken"] == 50


def test_several_are_counted_and_the_costliest_named() -> None:
    space = Multiclass(["a", "A", "b", "b "])
    truth = ["a", "A", "b", "b"] * 10
    found = lookalikes(light(predictions(space, truth, ["a", "A", "b", "b "] * 10)))
    assert found is not None
    assert found.claim.startswith(
        "\u201cb\u201d and \u201cb \u201d differ only in spaces; "
        "2 sets of labels differ only in spelling. 10 cases"
    )


def test_without_a_row_to_blame_it_is_a_caution() -> None:
    found = lookalikes(light(predictions(Binary("Co", "CO"), ["CO", "Co"] * 10, ["CO", "Co"] * 10)))
    assert found is not None
    assert found.severity == "caution"
    assert found.claim == "\u201cCo\u201d and \u201cCO\u201d differ only in case."


def test_several_labels_per_row_have_them_as_well() -> None:
    found = lookalikes(light(predictions(Multilabel(["joy", "Joy"]), [["joy"], ["Joy"]], [["joy"], []])))
    assert found is not None
    assert found.evidence["mistaken"] == 0


@pytest.mark.parametrize("names", [("a", "b"), ("1", "1.0"), ("a_b", "a b"), ("e", "\u00e9")])
def test_other_names_are_names_of_their_own(names: tuple[str, str]) -> None:
    assert lookalikes(light(predictions(Binary(*names), list(names) * 5, list(names) * 5))) is None

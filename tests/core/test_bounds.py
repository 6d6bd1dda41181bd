"""One grammar for every bound, whatever its spaces, signs and per cent."""

from __future__ import annotations

import itertools

import pytest

from evalreport.core.bounds import Bound, is_bound, number
from evalreport.core.errors import UsageError


@pytest.mark.parametrize("operator", [">=", "<=", ">", "<", "≥", "≤"])
def test_every_way_to_write_a_bound_is_the_same_bound(operator: str) -> None:
    gaps, amounts = ("", " ", "  "), ("0.9", ".9", "90%", "90 %", "9e-1")
    for before, after, amount in itertools.product(gaps, gaps, amounts):
        found = Bound.parse(f" recall{before}{operator}{after}{amount} ")
        assert (found.metric, found.number, found.part, found.change) == ("recall", 0.9, "", "")
        assert found.operator == {"≥": ">=", "≤": "<="}.get(operator, operator)


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("f1[card arrival] >= 0.5", Bound("f1", ">=", 0.5, "card arrival")),
        ("f1[x >= 2] > 50%", Bound("f1", ">", 0.5, "x >= 2")),
        ("recall[site=a]>=0.7", Bound("recall", ">=", 0.7, "site=a")),
        ("f1[a[0]] < 1", Bound("f1", "<", 1.0, "a[0]")),
        ("recall drops<=0.02", Bound("recall", "<=", 0.02, "", "drops")),
        ("log_loss  rises < 2 %", Bound("log_loss", "<", 0.02, "", "rises")),
        ("f1[spam] drops <= 0", Bound("f1", "<=", 0.0, "spam", "drops")),
        ("f1[it drops]drops<=0", Bound("f1", "<=", 0.0, "it drops", "drops")),
        ("drops >= 0.1", Bound("drops", ">=", 0.1)),
        ("recall@fpr=0.02 >= 0.8", Bound("recall@fpr=0.02", ">=", 0.8)),
        ("pauc@fpr<=0.05>=0.9", Bound("pauc@fpr<=0.05", ">=", 0.9)),
        ("recall@5>=0.9", Bound("recall@5", ">=", 0.9)),
        ("mcc >= -0.2", Bound("mcc", ">=", -0.2)),
    ],
)
def test_what_a_text_means_and_that_it_is_read_back(text: str, bound: Bound) -> None:
    assert Bound.parse(text) == bound
    assert Bound.parse(bound.text) == bound
    assert Bound.parse(bound.key) == bound
    assert is_bound(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "recall", "recall 0.9", "recall = 0.9", "recall == 0.9", "recall >= much", "recall >= nan"),
        *(">= 1", "recall >= 1_0", "recall >= > 2", "recall >= 0,9", "recall >= inf", "recall => 0.9"),
        *("recall drops 0.02", "recall drops = 0.1", "0.9 <= recall", "recall >= 0.9 0.8", "recall[] >= 0.9"),
    ],
)
def test_what_is_no_bound(text: str) -> None:
    with pytest.raises(UsageError, match="is not a bound") as error:
        Bound.parse(text, where="objective")
    assert (error.value.where, "recall >= 0.9" in error.value.fix) == ("objective", True)


def test_a_change_has_no_sign() -> None:
    with pytest.raises(UsageError, match="negative number") as error:
        Bound.parse("recall drops <= -0.1")
    assert "recall rises" in error.value.fix


def test_all_digits_are_kept() -> None:
    assert Bound.parse("recall>=0.123456789").text == "recall >= 0.123456789"


@pytest.mark.parametrize(
    ("operator", "below", "at", "above"),
    [
        (">=", False, True, True),
        (">", False, False, True),
        ("<=", True, True, False),
        ("<", True, False, False),
    ],
)
def test_strict_is_strict(operator: str, below: bool, at: bool, above: bool) -> None:
    bound = Bound.parse(f"recall {operator} 0.3")
    assert [bound.holds(value) for value in (0.3 - 1e-9, 0.1 + 0.2, 0.3 + 1e-9)] == [below, at, above]


def test_what_can_never_hold() -> None:
    Bound.parse("recall >= 1").check_possible(0, 1)
    for text in ("recall > 1", "recall >= 90", "recall < 0", "recall drops < 0", "recall rises > 1"):
        with pytest.raises(UsageError, match="can never be met"):
            Bound.parse(text).check_possible(0, 1)


def test_what_is_meant_as_a_bound() -> None:
    assert all(map(is_bound, ("recall=0.9", "recall == 0.9", "fpr<=0.01", "recall > much", "recall≥1")))
    assert not any(map(is_bound, ("f1", "cost:10", "cost:fp=1,fn=10,tp=0", "net_benefit:0.2", "a.b:f")))
    assert not is_bound("recall@fpr=0.02"), "a metric at an operating point is no bound of it"


def test_numbers() -> None:
    assert [number(text) for text in ("0.9", " 90 % ", "1_0", "inf", "")] == [0.9, 0.9, None, None, None]

"""Which run, at what price, is it demonstrated, which threshold, will the bound hold: read off the page.

A reader sees words, not JSON. Here each answer is taken from the visible text alone, by rules that a person
could follow, and only then held against what the result says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from evalreport.comparison.compare import compare
from evalreport.comparison.comparison import Comparison
from evalreport.core.json_codec import encode
from evalreport.data.predictions import Predictions, predictions
from evalreport.data.scores import Probabilities
from evalreport.evaluation.evaluation import ThresholdSelection
from evalreport.page.render import render
from tests.browser.conftest import patient
from tests.comparison import models
from tests.page.made import TUMOUR, evaluation, named, noisy
from tests.page.sweeps import swept

if TYPE_CHECKING:
    from playwright.sync_api import Browser


NUMBER = r"[+−]?[\d,]*\.?\d+"


def number(text: str) -> float:
    return float(text.replace(",", "").replace("−", "-"))


@dataclass(frozen=True)
class Reader:
    """The visible text of a page, read from top to bottom."""

    head: str
    text: str

    def found(self, rule: str) -> tuple[str, ...]:
        """What the first sentence of that form says, nothing where there is none."""
        match = re.search(rule, self.text)
        return match.groups() if match else ()

    @cached_property
    def winners(self) -> set[str]:
        """The runs that the headline puts first; none where it names no winner."""
        if match := re.match(r"(.+?) is better than ", self.head):
            return {match[1]}
        if match := re.match(r".+? is worse than (.+?): ", self.head):
            return {match[1]}
        if match := re.match(r"(.+?) (?:is|are) (?:tied for )?best by ", self.head):
            return set(re.split(r", | and ", match[1]))
        return set()

    @property
    def demonstrated(self) -> bool:
        """Whether the headline claims a difference."""
        return not re.search(r"No significant difference|No run is significantly best", self.head)

    @property
    def price(self) -> tuple[tuple[float, str], tuple[float, str]] | float | None:
        """What is won and what it costs, in rows; else the distance to the other, or to the next."""
        if " but " in self.head:
            won, lost = (re.search(r"(\d[\d,]*) (more|fewer)", half) for half in self.head.split(" but "))
            assert won and lost
            return (number(won[1]), won[2]), (number(lost[1]), lost[2])
        gap = re.search(rf"({NUMBER})(?: points)? (?:\(|behind)", self.head)
        return number(gap[1]) if gap else None

    @property
    def tally(self) -> dict[str, int]:
        """How many metrics each verdict stands beside, line by line."""
        lines = re.findall(
            r"(?<!by )(?<![\d.])[+−]?[\d.]+(?: points)? (better|worse|not significant)\b(?! ←)", self.text
        )
        return {word: lines.count(word) for word in ("better", "worse", "not significant")}

    @property
    def threshold(self) -> float | None:
        """The one that the page recommends."""
        found = self.found(rf"(?:Use the threshold|the threshold to about) ({NUMBER}):")
        return number(found[0]) if found else None


@pytest.fixture(scope="module")
def read(browser: Browser) -> Iterator[Callable[[str], Reader]]:
    """Opens a page and returns what can be seen of it."""
    context = patient(browser, viewport={"width": 1400, "height": 900})
    page = context.new_page()

    def seen(page_text: str) -> Reader:
        page.set_content(page_text)
        page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true; })")
        text = re.sub(r"\s+", " ", page.inner_text("main"))
        return Reader(page.inner_text("h1").strip(), text)

    yield seen
    context.close()


def runs(seed: int, rows: int, skills: Sequence[float], *thresholds: float) -> Comparison:
    """Runs of given skills on the same rows, each with its own threshold."""
    made = [
        models.binary(np.random.default_rng(seed), rows, 0.3, skills, threshold=at)[k]
        for k, at in enumerate(thresholds)
    ]
    names = [f"run-{letter}" for letter in "abc"[: len(made)]]
    return compare([models.bare(p) for p in made], names=names)


def of_json(found: Comparison) -> dict[str, Any]:
    reported: dict[str, Any] = encode(found)
    return reported


def words_of_verdicts(reported: dict[str, Any]) -> dict[str, int]:
    every = [one["verdict"].replace("not_significant", "not significant") for one in reported["differences"]]
    return {word: every.count(word) for word in ("better", "worse", "not significant")}


@pytest.mark.parametrize(("skills", "winner"), [((1.0, 2.5), "run-b"), ((2.5, 1.0), "run-a")])
def test_of_two_runs_the_page_names_the_better_one(
    read: Callable[[str], Reader], skills: tuple[float, float], winner: str
) -> None:
    found = runs(2, 600, skills, 0.35, 0.35)
    page, reported = read(render(found)), of_json(found)
    assert page.winners == {winner} and page.demonstrated
    assert reported["verdicts"][0]["verdict"] == ("better" if winner == "run-b" else "worse")
    main = next(one for one in reported["differences"] if one["metric"] == reported["primary"])
    assert page.price == pytest.approx(main["difference"], abs=0.0006)
    assert page.tally == words_of_verdicts(reported)
    point = next(one for one in reported["matched"] if one["kind"] == "equal_recall")
    moved, instead = page.found(
        rf"At equal recall [\w ]+: run-b has ({NUMBER}) false positives? instead of ({NUMBER})"
    )
    assert [number(moved), number(instead)] == point["false_positives"]["values"]
    (at,) = page.found(rf"At equal recall run-b moved to ({NUMBER})")
    assert number(at) <= point["thresholds"][0] < number(at) + 0.001, "rounded down"
    assert ("At equal recall it is better" in page.text) == (point["false_positives"]["verdict"] == "better")


def test_of_a_trade_off_the_page_says_both_sides_in_rows(read: Callable[[str], Reader]) -> None:
    found = runs(2, 600, (2.0, 2.0), 0.5, 0.15)
    page, reported = read(render(found)), of_json(found)
    assert reported["verdicts"][0]["verdict"] == "trade_off"
    assert page.winners == set() and page.demonstrated, "neither is better: it is a choice"
    moved = reported["movement"]["by_class"]
    nets = {label: fixed - broken for label, (fixed, broken, _) in moved.items()}
    assert page.price == ((nets["1"], "more"), (-nets["0"], "more"))
    assert "At equal recall the difference is not significant" in page.text
    own = next(one for one in reported["matched"] if one["kind"] == "own_thresholds")
    before, after = page.found(rf"At their own thresholds {NUMBER} and {NUMBER} ({NUMBER}) → ({NUMBER})")
    assert [number(after), number(before)] == own["found"]["values"]
    assert page.tally == words_of_verdicts(reported)


def test_of_a_tie_the_page_names_nobody_and_says_what_would_show(read: Callable[[str], Reader]) -> None:
    found = runs(3, 300, (1.8, 1.8), 0.35, 0.35)
    page, reported = read(render(found)), of_json(found)
    assert reported["verdicts"][0]["verdict"] == "not_significant"
    assert page.winners == set() and not page.demonstrated
    main = reported["verdicts"][0]["primary"]
    (would,) = page.found(
        rf"The minimum detectable difference in [\w ]+ is ({NUMBER})(?: points)? at 80% power"
    )
    assert number(would) == pytest.approx(main["detectable"]["difference"], abs=0.0006)
    assert page.tally == words_of_verdicts(reported)


def test_of_three_runs_the_page_ranks_all(read: Callable[[str], Reader]) -> None:
    found = runs(4, 800, (1.0, 2.4, 2.5), 0.35, 0.35, 0.35)
    page, reported = read(render(found)), of_json(found)
    ranking = reported["ranking"]
    assert page.winners == {one["run"] for one in ranking if one["best_group"]}
    after = next(one for one in ranking if not one["best_group"])
    assert page.price == pytest.approx(ranking[0]["value"] - after["value"], abs=0.0006)
    order = [re.search(rf"(?<![\d.])(\d(?: to \d)?) {one['run']} ({NUMBER})", page.text) for one in ranking]
    for line, one in zip(order, ranking, strict=True):
        assert line is not None
        first, last = one["ranks"]
        assert line[1] == (f"{first} to {last}" if last > first else f"{first}")
        assert number(line[2]) == pytest.approx(one["value"], abs=0.0051)


def rows_of(n: int, sharper: float = 1.0) -> Predictions:
    truth, scores = noisy(n, seed=5)
    odds = (scores / (1 - scores)) ** sharper
    return predictions(TUMOUR, named(truth), scores=Probabilities(odds / (odds + 3)))


def chosen_of(found: ThresholdSelection, name: str) -> dict[str, Any]:
    reported: dict[str, Any] = encode(found.optima)[name]
    return reported


@pytest.mark.parametrize("objectives", [("f1", "recall>=0.95"), ("f1",)])
def test_a_page_recommends_one_threshold_with_its_price(
    read: Callable[[str], Reader], objectives: tuple[str, ...]
) -> None:
    found = swept(rows_of(400), *objectives)
    page, best = read(render(found)), chosen_of(found, "f1")
    assert page.threshold is not None and page.threshold == pytest.approx(best["threshold"], abs=0.0011)
    slider, finds, misses, false_positives = (
        number(text)
        for text in page.found(
            rf"score is at least ({NUMBER}).*? ({NUMBER}) found .*?({NUMBER}) missed .*?({NUMBER}) false pos"
        )
    )
    assert slider == page.threshold, "the slider stands where the words say"
    rows = found.evaluation.predictions
    assert rows is not None and isinstance(rows.scores, Probabilities)
    flagged, positive = rows.scores.values >= best["threshold"], rows.y_true == 1
    printed = rows.scores.values >= page.threshold
    assert (printed | ~flagged).all() and (printed & ~flagged).sum() <= 2, "typed, it flags no row less"
    counted = [int(side.sum()) for side in (flagged & positive, ~flagged & positive, flagged & ~positive)]
    assert [finds, misses, false_positives] == counted
    now = rows.scores.values >= 0.5
    more, extra = page.found(rf"({NUMBER}) more found for ({NUMBER}) more false positives? than at 0.500")
    assert number(more) == counted[0] - (now & positive).sum()
    assert number(extra) == counted[2] - (now & ~positive).sum()


def test_a_bound_that_will_not_hold_is_reported_as_a_chance(read: Callable[[str], Reader]) -> None:
    found = swept(rows_of(400), "recall>=0.95")
    page, best = read(render(found)), chosen_of(found, "recall>=0.95")
    (chance,) = page.found(rf"on new data with a probability of ({NUMBER})%")
    assert number(chance) == pytest.approx(100 * best["constraint"]["chance"], abs=0.51)
    again, safe, finds = page.found(
        rf"new tumours meet the constraint is ({NUMBER})%\. ({NUMBER}) meets it with 95% confidence: "
        rf"({NUMBER}) found"
    )
    assert again == chance, "one page, one chance"
    rows = found.evaluation.predictions
    assert rows is not None and isinstance(rows.scores, Probabilities)
    positives = np.sort(rows.scores.values[rows.y_true == 1])
    missed = int((positives < number(safe)).sum())
    assert len(positives) - missed == number(finds)
    lost = np.random.default_rng(0).binomial(len(positives), 0.05, 200_000)
    assert (lost > missed).mean() >= 0.945, "a model that misses 5 % would mostly have missed more here"


def test_a_bound_that_too_few_rows_can_promise_is_refused(read: Callable[[str], Reader]) -> None:
    page = read(render(swept(rows_of(90), "recall>=0.95")))
    few, needed = page.found(rf"({NUMBER}) malignant tumours are too few to guarantee it .* needs ({NUMBER})")
    assert number(few) < number(needed) == 59
    assert not page.found(r"meets it with 95% confidence")


@pytest.mark.parametrize("sharper", [1.0, 3.0])
def test_a_report_recommends_what_its_own_table_does(read: Callable[[str], Reader], sharper: float) -> None:
    ev = evaluation(rows_of(400, sharper))
    page, reported = read(render(ev)), json.loads(ev.to_json())
    best = reported["thresholds"]["optima"]["f1"]["threshold"]
    marked = page.found(rf"Recommended ({NUMBER}) ")
    if page.threshold is None:
        assert not marked and "ecommended" not in page.text
    else:
        assert marked and number(marked[0]) == page.threshold == pytest.approx(best, abs=0.0011)
    chance, bound = (
        page.found(rf"new tumours meet the constraint is ({NUMBER})%"),
        reported["thresholds"]["optima"],
    )
    if chance:
        assert number(chance[0]) == pytest.approx(
            100 * bound["recall>=0.95"]["constraint"]["chance"], abs=0.51
        )


def test_a_report_and_a_sweep_of_one_run_name_one_safe_threshold(read: Callable[[str], Reader]) -> None:
    """Of many rows the report keeps few thresholds: the safe one is among them."""
    rows = rows_of(3000)
    rule = rf"meet the constraint is ({NUMBER})%\. ({NUMBER}) meets .*? ({NUMBER}) found and ({NUMBER})"
    report = read(render(evaluation(rows))).found(rule)
    assert report and report == read(render(swept(rows, "recall>=0.95"))).found(rule)

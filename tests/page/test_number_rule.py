"""One number rule in every place: two significant digits of the half-width decide the decimals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

from evalreport.cli.print_evaluation import metric_line
from evalreport.comparison.comparison import Comparison
from evalreport.core.result import Estimate, Result
from evalreport.data.labels import Binary, Multiclass
from evalreport.data.predictions import predictions
from evalreport.data.scores import Probabilities
from evalreport.evaluation.evaluate import evaluate_predictions
from evalreport.evaluation.evaluation import Evaluation
from evalreport.metrics.catalogue import everything, find
from evalreport.metrics.record import NoMethod
from evalreport.page.comparison.comparison_charts import Differences
from evalreport.page.comparison.sections import PANELS
from evalreport.page.comparison.table import DIFFERENCE_COLUMNS, row_texts
from evalreport.page.contents import sections
from evalreport.page.elements import Cell, Table
from evalreport.page.payload import present
from evalreport.page.sections.threshold import threshold_section as threshold_panel
from evalreport.page.text_summary import brief, comparison_brief, headline_names
from tests.page.made import KINDS, evaluation, made
from tests.page.test_comparison import several

NUMBER = r"[−+]?[\d,]+(?:\.\d+)?%?"
BETWEEN = re.compile(f"({NUMBER}) to ({NUMBER})")
RATES = {"accuracy", "precision", "recall", "specificity", "npv", "prevalence", "balanced_accuracy", "fpr"}
DECIMALS = {"roc_auc", "average_precision", "mcc", "f1", "f1_macro", "cohen_kappa", "brier", "log_loss"}


@dataclass(frozen=True)
class Stated:
    """An estimate as a place states it."""

    place: str
    name: str
    result: Estimate
    value: str
    interval: str


def wanted(result: Estimate, *, percent: bool) -> int:
    """The decimals that the rule asks for, counted off Python's own two significant digits."""
    assert result.low is not None and result.high is not None
    half = (result.high - result.low) / 2 * (100 if percent else 1)
    plain = f"{float(f'{half:.1e}'):.12f}"
    if half >= 9.5:
        return 0
    first = next(at for at, char in enumerate(plain.replace(".", "")) if char != "0")
    return max(0, first + 1 - plain.index(".") + 1)


def decimals(text: str) -> int:
    return len(text.rstrip("%").partition(".")[2])


def check(stated: Stated) -> None:
    result, percent = stated.result, stated.value.endswith("%")
    ends = BETWEEN.search(stated.interval)
    assert ends, stated
    due = wanted(result, percent=percent)
    shown = [(result.value, stated.value), (result.low, ends[1]), (result.high, ends[2])]
    rounded = [text for value, text in shown if value not in (0, 1, -1)]
    assert {decimals(text) for text in rounded} <= ({due} if due else {0, 1}), stated
    assert len({decimals(text) for text in rounded}) <= 1, stated
    for value, text in shown:
        assert text.endswith("%") == percent, stated
        if value in (0, 1, -1) and (percent or abs(value) == 0):
            assert decimals(text) == 0, stated
        number = float(text.rstrip("%").replace(",", "").replace("−", "-").replace("+", ""))
        step = 0.5 * 10.0 ** -decimals(text) * (1 + 1e-6)
        assert abs(number - value * (100 if percent else 1)) <= step, stated  # type: ignore[operator]
        assert value in (0, 1, None) or text not in ("0%", "100%", "0"), stated


def known(result: Result) -> bool:
    """Whether it has an interval, of more width than rounding gives."""
    if not isinstance(result, Estimate) or result.low is None or result.high is None:
        return False
    return result.high - result.low > 1e-9


def table(ev: Evaluation) -> Iterator[Stated]:
    (section,) = (s for s in sections(ev) if s.id == "metrics")
    titles = {find(name, ev.task).title: name for name in ev.metrics}
    *_, every = section.body[-1].parts  # before it, what keeps several undefined
    for row in every.rows:
        name = titles[row[0].words]  # under the catalogue's name and no other
        yield from stated("table", name, ev.metrics[name], row[1].words, row[2].words)


def terminal(ev: Evaluation) -> Iterator[Stated]:
    for name, result in ev.metrics.items():
        value, _, limits = metric_line(ev, name).removeprefix(name).strip().partition(" ")
        yield from stated("terminal", name, result, value, limits)


def notebook(ev: Evaluation) -> Iterator[Stated]:
    for line in brief(ev).lines:
        yield from stated("notebook", line.name, ev.metrics[line.name], line.value, line.interval)
    assert {line.name for line in brief(ev).lines} >= set(headline_names(ev))


def markdown(ev: Evaluation) -> Iterator[Stated]:
    titles = {find(name, ev.task).title: name for name in ev.metrics}
    for row in re.findall(r"^\| (.+?) \| (.+?) \| (.+?) \|$", present(ev).description, re.MULTILINE)[1:]:
        name = titles[row[0]]
        yield from stated("description", name, ev.metrics[name], row[1], row[2])


def stated(place: str, name: str, result: Result, value: str, interval: str) -> Iterator[Stated]:
    if isinstance(result, Estimate) and known(result):
        yield Stated(place, name, result, value, interval)


PLACES = (table, terminal, notebook, markdown)


@pytest.mark.parametrize("kind", KINDS)
def test_estimate_and_both_ends_have_the_same_decimals_everywhere(kind: str) -> None:
    ev = made(kind)
    by_name: dict[str, set[tuple[str, str]]] = {}
    for place in PLACES:
        for one in place(ev):
            check(one)
            by_name.setdefault(one.name, set()).add((one.value, one.interval.split("*")[0].strip()))
    for name, reported in by_name.items():
        assert len(reported) == 1, f"{name} differs between places: {reported}"


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_screen_is_in_whole_per_cent(kind: str) -> None:
    """One decimal below 1 % and above 99 %; never 100 % for less than all, nor 0 % for more than none."""
    (section,) = (s for s in sections(made(kind)) if s.id == "verdict")
    for row in section.body.forest.rows:
        result = made(kind).metrics[row.name]
        if not isinstance(result, Estimate) or not row.estimate.endswith("%"):
            continue
        near = 0 < result.value < 0.01 or 0.99 < result.value < 1
        assert decimals(row.estimate) == (1 if near else 0) or result.value > 0.9995, row
        assert (row.estimate == "100%") == (result.value == 1), row
        assert (row.estimate == "0%") == (result.value == 0), row
        assert abs(float(row.estimate.strip("<>%")) - 100 * result.value) <= 0.51, row


@cache
def ordered() -> Evaluation:
    """Ordered labels with probabilities: metrics that no other kind has."""
    rng = np.random.default_rng(2)
    grades = np.array([1, 2, 3])
    truth = rng.integers(0, 3, 150)
    matrix = rng.random((150, 3)) + np.eye(3)[truth] / 2
    scores = Probabilities(matrix / matrix.sum(axis=1, keepdims=True))
    return evaluation(predictions(Multiclass([1, 2, 3], ordered=True), grades[truth], scores=scores))


def test_every_metric_with_an_interval_is_held_to_the_rule() -> None:
    found = [(ev.task, one) for ev in (*map(made, KINDS), ordered()) for one in table(ev)]
    for _, one in found:
        check(one)
    tasks = {task for task, _ in found}  # graded answers have a page of their own
    every = [m for m in everything() if m.task in tasks]
    rest = {(m.task, m.name) for m in every if m.interval != "none"} - {(t, s.name) for t, s in found}
    assert rest == {(m.task, m.name) for m in every if isinstance(m.strategy, NoMethod)}


def test_rates_are_in_per_cent_and_areas_are_decimals() -> None:
    style = {metric.name: metric.style for metric in everything()}
    assert {style[name] for name in RATES} == {"percent"}
    assert "percent" not in {style[name] for name in DECIMALS}


def tables(value: object) -> Iterator[Table]:
    if isinstance(value, Table):
        yield value
    elif isinstance(value, tuple | list):
        for item in value:
            yield from tables(item)
    elif hasattr(value, "__dataclass_fields__") and not isinstance(value, Cell):
        for field in value.__dataclass_fields__:
            yield from tables(getattr(value, field))


@pytest.mark.parametrize("kind", KINDS)
def test_no_bin_and_no_interval_of_a_page_has_equal_ends(kind: str) -> None:
    for section in sections(made(kind)):
        for found in tables(section.body):
            for row in found.rows:
                for cell in row:
                    both = re.fullmatch(BETWEEN, cell.words)
                    assert both is None or both[1] != both[2] or cell.look == "n", (found.id, cell.words)


def differences(comparison: Comparison) -> Iterator[tuple[str, str, str, str]]:
    """Place, metric, difference and interval, as the places of a comparison state them."""
    made_of = [panel(comparison) for panel in PANELS]
    (section,) = (s for s in made_of if s is not None and s.id == "differences")
    task = comparison.evaluations[0].task
    names = {find(d.metric, task).title: d.metric for d in comparison.differences}
    plots = [part for part in section.body if isinstance(part, Differences)]
    for line in (line for plot in plots for group in plot.groups for line in group.rows):
        yield "page", names[line.title], line.shown["difference"], line.shown["interval"]
    for cells in comparison_brief(comparison).rows:
        yield "notebook", cells[0], cells[3], cells[4]
    for d in comparison.differences:
        shown = row_texts(DIFFERENCE_COLUMNS, d)
        yield "terminal", d.metric, shown["difference"], shown["interval"]


@pytest.mark.parametrize("kind", ["binary", "binary-labels", "twenty", "multilabel"])
def test_differences_have_the_decimals_of_their_interval_everywhere(kind: str) -> None:
    comparison = several(kind)
    reported: dict[str, set[tuple[str, str]]] = {}
    for _, name, gap, limits in differences(comparison):
        reported.setdefault(name, set()).add((gap, limits))
    assert reported
    for d in comparison.differences:
        if d.limits is None or d.limits[1] - d.limits[0] < 1e-9:
            continue
        ((gap, limits),) = reported[d.metric]
        percent = find(d.metric).style == "percent"
        assert gap.endswith(" points") == percent, (d.metric, gap)
        ends = BETWEEN.fullmatch(limits)
        assert ends, limits
        shown = zip((d.difference, *d.limits), (gap.removesuffix(" points"), ends[1], ends[2]), strict=True)
        rounded = [text for value, text in shown if value != 0]
        due = wanted(Estimate(d.difference or 0.0, 0, *d.limits), percent=percent)
        assert {decimals(text) for text in rounded} <= ({due} if due else {0, 1}), (d.metric, rounded)
        assert len({decimals(text) for text in rounded}) <= 1, (d.metric, rounded)


def test_a_column_of_shares_has_one_number_of_decimals() -> None:
    """Precision is of 4,000 flagged rows here and of 90 there: "43.1%" stood above "96%"."""
    rng = np.random.default_rng(0)
    truth = rng.random(5000) < 0.2
    scores = Probabilities(np.clip(0.35 + 0.25 * truth + 0.15 * rng.normal(size=5000), 0, 1))
    rows = predictions(Binary(0, 1), truth.astype(int), scores=scores)
    section = threshold_panel(evaluate_predictions(rows))
    assert section is not None
    columns = list(zip(*section.body.values.rows, strict=True))[5:]
    for column in columns:
        shares = [cell.text for cell in column]
        plain = {decimals(text) for text in shares if text.endswith("%") and float(text[:-1]) < 99}
        assert len(plain) <= 1, shares

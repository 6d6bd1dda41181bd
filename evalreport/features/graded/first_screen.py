"""The first screen of graded items: what passes, the first rates, what goes wrong, checks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from evalreport.core.format import Style, brief, count, pluralize
from evalreport.core.result import Estimate
from evalreport.core.sentences import NOTHING, say
from evalreport.features.graded.evaluation import FULL, GradedEvaluation
from evalreport.features.graded.metrics import AGREEMENT, JUDGE_TITLES, NO_GRADE, PASS, PASS_GRADED, SCORE
from evalreport.metrics.catalogue import find
from evalreport.page.elements import Forest, ForestRow, Section, forest_row
from evalreport.page.evaluation_terms import confidence_percent, tell
from evalreport.page.sections.first_screen import (
    MOST,
    NARROW,
    CountBars,
    FirstScreen,
    Look,
    SummaryItem,
    check_groups,
    find_weakest_group,
    make_bar,
)
from evalreport.page.sections.headline import brief_row, format_day

SHOWN_RATES = 4
"""Rates on the first screen."""
GLOSS = {
    PASS: "attempts without a grade count as not passed",
    PASS_GRADED: "attempts with a grade only",
    NO_GRADE: "error, timeout or no grade",
    AGREEMENT: "two attempts at one item have the same outcome",
}


def shown_metrics(ev: GradedEvaluation) -> list[tuple[str, Estimate]]:
    """Return the metrics of a summary; of repeats those of two attempts and of all.

    Where every attempt has a grade, the rates of missing grades say nothing.
    """
    at_k = [name for name in ev.metrics if name.startswith("pass_at_")]
    kept = {name.removeprefix("pass_at_") for name in (*at_k[:1], *at_k[-1:])}
    return [
        (name, result)
        for name, result in ev.metrics.items()
        if isinstance(result, Estimate)
        and (ev.no_grade or name not in (PASS_GRADED, NO_GRADE))
        and (not name.startswith(("pass_at_", "pass_hat_")) or name.rsplit("_", 1)[1] in kept)
    ]


def first_screen(ev: GradedEvaluation) -> Section:
    """Return the first screen: headline, counts of items, rates, problems and checks."""
    words = "An attempt passes with a score {rule}. " if ev.rule else ""
    if ev.rule == FULL:
        words = "An attempt passes with a score of 1. "
    words += "Attempts without a grade count as not passed." if ev.no_grade else ""
    rows = [_row(ev, name, result) for name, result in _first_rates(ev)]
    if ev.judge is not None and isinstance(corrected := ev.judge.corrected, Estimate):
        row = forest_row("corrected", JUDGE_TITLES["corrected"], NOTHING, corrected, "percent")
        rows.insert(1, replace(brief_row(row, corrected, "percent"), reference=""))
    body = FirstScreen(
        task="Graded items",
        run=ev.provenance.run_name,
        kicker=tuple(filter(None, (ev.provenance.dataset, ev.size, format_day(ev.provenance.made)))),
        headline=ev.own_headline,
        left=_bars(ev),
        right=None,
        step=NOTHING,
        forest=Forest(
            tuple(rows[:SHOWN_RATES]), heads=("Metric", "Estimate", f"{confidence_percent(ev)} interval", "")
        ),
        wrong=tuple(_problems(ev))[:MOST],
        checks=tuple(_checks(ev)),
        author=(),
        hints=(),
        command=ev.provenance.command,
        below=say(words.strip(), rule=ev.rule),
    )
    return Section("verdict", "Summary", "Summary", "first_screen", NOTHING, body)


def _first_rates(ev: GradedEvaluation) -> list[tuple[str, Estimate]]:
    """Return the pass rate or score, then those of all repeats, then those of missing grades."""
    shown = shown_metrics(ev)
    first = [one for one in shown if one[0] in (PASS, SCORE)]
    repeats = [one for one in shown if one[0].startswith(("pass_at_", "pass_hat_"))][-2:]
    rest = [one for one in shown if one[0] in (PASS_GRADED, NO_GRADE, AGREEMENT)]
    return [*first, *repeats, *rest][:SHOWN_RATES]


def _row(ev: GradedEvaluation, name: str, result: Estimate) -> ForestRow:
    metric = find(name, "graded")
    if metric.high <= 1 or ev.scale == "unit":
        style: Style = "percent" if metric.high <= 1 else "ratio"
        gloss = GLOSS[name] if name in GLOSS and (ev.no_grade or name == AGREEMENT) else ""
        row = forest_row(name, metric.title, say(gloss), result, style)
        return replace(brief_row(row, result, style), reference="")
    row = forest_row(name, metric.title, NOTHING, result, "number")  # ratings have no axis of rates
    return replace(row, at=None, low=None, high=None, past="", reference="")


def _bars(ev: GradedEvaluation) -> CountBars | None:
    """Return how many items pass: with repeats in every attempt, in some, in none."""
    rate = ev.metrics.get(PASS)
    if not isinstance(rate, Estimate):
        return None
    parts: list[tuple[Look, float, str]]
    if ev.repeats is not None:
        never, some = ev.repeats.never, ev.repeats.some
        parts = [("ok", ev.items - never - some, "pass in every attempt")]
        parts += [("none", some, "in some"), ("no", never, "never pass")]
    elif ev.rows > ev.items or ev.weighted:
        return None
    else:
        passed = round(rate.value * ev.items)
        parts = [("ok", passed, "pass"), ("no", ev.items - passed - ev.no_grade, "fail")]
        parts += [("none", ev.no_grade, "no grade")] if ev.no_grade else []
    listed = ", ".join(f"{{part_{k}:count}} {one[2]}" for k, one in enumerate(parts))
    numbers = {f"part_{k}": one[1] for k, one in enumerate(parts)}
    key = tuple((look, count(n), text) for look, n, text in parts)
    bar = make_bar(ev.provenance.unit[1].capitalize(), parts, words=False)
    return CountBars(
        (bar,), tell(ev, f"Of {{n:count}} {{n:units}}: {listed}.", {"n": ev.items, **numbers}), key
    )


def _problems(ev: GradedEvaluation) -> Iterator[SummaryItem]:
    """Yield items that never pass, missing grades, the weakest group and what the judge passes too often."""
    if ev.repeats is not None and ev.repeats.never:
        title = f"{pluralize(ev.repeats.never, *ev.provenance.unit)} never passed"
        yield SummaryItem(title, f"{count(ev.repeats.some)} in some attempts only", "repeats", "failed")
    if ev.no_grade:
        missing = pluralize(ev.no_grade, *ev.row_unit)
        yield SummaryItem(f"{missing} without a grade", "error, timeout or not graded", "metrics", "failed")
    yield from find_weakest_group(ev)
    if ev.judge is not None and isinstance(ev.judge.specificity, Estimate) and ev.judge.disagreements:
        passes = 1 - ev.judge.specificity.value
        detail = f"the judge passes {brief(passes, 'percent')} of what people fail"
        yield SummaryItem("Judge and people differ", detail, "judge", "failed")


def _checks(ev: GradedEvaluation) -> Iterator[SummaryItem]:
    """Yield how well the first rate is known, what the intervals account for; judge and groups."""
    name, known = next(iter(_first_rates(ev)), ("", None))
    in_points = find(name, "graded").high <= 1 if name else False
    if in_points and known is not None and known.low is not None and known.high is not None:
        half = max(known.value - known.low, known.high - known.value)
        title, units = find(name, "graded").title.lower(), ev.provenance.unit[1]
        known_to = f"±{brief(half, 'percent').replace('%', ' points')}"
        if half <= NARROW:
            yield SummaryItem(f"Enough {units}", f"{title} is known to {known_to}")
        else:
            yield SummaryItem(f"Few {units}", f"{title} is known only to {known_to}", "", "failed")
    if ev.clusters is not None and ev.clusters < ev.items:
        yield SummaryItem("Intervals account for groups of items", pluralize(ev.clusters, "group"))
    elif ev.rows > ev.items:
        yield SummaryItem("Intervals are over items", "attempts at an item are not independent")
    if ev.judge is not None:
        found = ev.judge
        agree = brief(found.agreement.value, "percent") if isinstance(found.agreement, Estimate) else "–"
        yield SummaryItem(f"Judge checked by {count(found.n_human)} human grades", f"{agree} agree", "judge")
    if ev.slices:
        yield check_groups(ev, {})

"""The first screen: how good the model is, what goes wrong, what to do, and whether the numbers can be trusted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from evalreport.core.format import brief, count, format_fixed
from evalreport.core.format import confidence as confidence_text
from evalreport.core.result import Finding
from evalreport.core.sentences import NOTHING, Sentence, quote_name, say, with_options
from evalreport.data.labels import Binary
from evalreport.evaluation.evaluation import Evaluation
from evalreport.findings.chance import (
    by_order,
    decision_skill,
    gain_over_majority_class,
    margins,
    only_labels,
    ranking_skill,
)
from evalreport.findings.rule import fill, spoken
from evalreport.findings.scores import RecommendedThreshold, recommend_threshold
from evalreport.findings.short_claims import find_short_claim, format_short
from evalreport.metrics.catalogue import OF_RANKING
from evalreport.page.elements import Forest, PagePart, Section
from evalreport.page.evaluation_terms import bounds_of_none, estimate, mistakes, positive, tell, units
from evalreport.page.sections.headline import headline
from evalreport.page.sections.missing import find_missing
from evalreport.page.sections.pictures import pictures
from evalreport.page.sections.verdict import Warned, forest, kicker, task_name, warn

MOST = 3
"""Things that go wrong, at most."""
CHECKS = 5
"""Checks, at most."""
NARROW = 0.06
"""Half of an interval up to which a metric is called well known."""
EVENTS = 10
"""Examples that a class needs before it is called the weakest."""
CONFIDENT = 0.9
"""Confidence from which on an error is worth a look."""

F1 = "f1_micro"

State: TypeAlias = Literal["passed", "failed", "unchecked"]


@dataclass(frozen=True)
class SummaryItem:
    """A line of a list: its mark, what is the case, one number, and the section that shows more."""

    title: str
    detail: str | Sentence = ""
    section: str = ""
    state: State = "passed"


@dataclass(frozen=True)
class FirstScreen:
    """Headline, picture, next step, three lists, and notes for the author of the page.

    Parameters
    ----------
    task, run : str
        First parts of the kicker.
    kicker : tuple of str
        Its other parts: data set, number of examples, date.
    left, right : PagePart or None
        The two halves of the picture.
    author : tuple of Warned
        Every finding in full.
    hints : tuple of Sentence
        How the author adds what is not on the page.
    command : str
        The command that makes the page again.
    """

    task: str
    run: str
    kicker: tuple[str, ...]
    headline: Sentence
    left: PagePart | None
    right: PagePart | None
    step: Sentence
    forest: Forest
    wrong: tuple[SummaryItem, ...]
    checks: tuple[SummaryItem, ...]
    author: tuple[Warned, ...]
    hints: tuple[Sentence, ...]
    command: str


def first_screen(ev: Evaluation) -> Section:
    """Return the first screen of an evaluation."""
    left, right = pictures(ev)
    body = FirstScreen(
        task=task_name(ev),
        run=ev.provenance.run_name,
        kicker=kicker(ev),
        headline=headline(ev),
        left=left,
        right=right,
        step=next_step(ev),
        forest=forest(ev),
        wrong=tuple(find_problems(ev))[:MOST],
        checks=tuple(run_checks(ev))[:CHECKS],
        author=tuple(map(warn, ev.findings)),
        hints=tuple(with_options(one.action) for one in find_missing(ev)),
        command=ev.provenance.command,
    )
    return Section("verdict", "Summary", "Summary", "first_screen", NOTHING, body)


def rank_problems(ev: Evaluation) -> list[Finding]:
    """Return what goes wrong with the model: errors first, then by the mistakes that it explains."""

    def key(finding: Finding) -> tuple[bool, float]:
        explained = finding.evidence.get(find_short_claim(finding).mistakes, 0.0)
        return finding.severity != "error", -float(explained or 0.0)

    return sorted((one for one in ev.findings if find_short_claim(one).about == "model"), key=key)


def find_problems(ev: Evaluation) -> Iterator[SummaryItem]:
    """Yield what goes wrong: findings about the model, the weakest class, confident errors."""
    for finding in rank_problems(ev):
        yield _failed(ev, finding)
    rows = ev.in_rows()
    known = [entry for entry in rows.classes if entry.support >= EVENTS and entry.right < entry.support]
    if known and not isinstance(ev.space, Binary):
        worst = min(known, key=lambda entry: entry.right / entry.support)
        noun = "label" if ev.task == "multilabel" else "class"
        found = f"{count(worst.right)} of {count(worst.support)} found"
        section = "labels" if ev.task == "multilabel" else "classes"
        yield SummaryItem(f"Weakest {noun}: {quote_name(str(worst.label))}", found, section, "failed")
    sure = [
        one.confidence for one in ev.mistakes if one.confidence is not None and one.confidence >= CONFIDENT
    ]
    if sure:
        title = f"Errors with confidence above {confidence_text(min(sure))[:4]}"
        yield SummaryItem(title, "some labels may be wrong", "examples", "failed")


def run_checks(ev: Evaluation) -> Iterator[SummaryItem]:
    """Yield what speaks for and against the numbers, checks that passed too."""
    seen = {finding.rule: finding for finding in ev.findings}
    yield from _enough(ev, seen)
    yield from _better(ev)
    yield from _repeats(ev, seen)
    covered = ("few_events", "small_classes", "duplicates", "repeated_rows", "effective_rows")
    for finding in ev.findings:
        if find_short_claim(finding).about == "data" and finding.rule not in covered:
            yield _failed(ev, finding)
    yield _groups(ev, seen)


def _failed(ev: Evaluation, finding: Finding) -> SummaryItem:
    return SummaryItem(*format_short(ev, finding), finding.section, "failed")


def _enough(ev: Evaluation, seen: dict[str, Finding]) -> Iterator[SummaryItem]:
    """How well the headline metric is known."""
    for rule in ("few_events", "small_classes", "effective_rows"):
        if rule in seen:
            yield _failed(ev, seen[rule])
            return
    if mistakes(ev) == 0:
        yield SummaryItem("No mistakes so far", bounds_of_none(ev), "metrics", "passed")
        return
    row = forest(ev).rows[0]
    known = estimate(ev, row.name)
    if known is None or known.low is None or known.high is None:
        return
    half = max(known.value - known.low, known.high - known.value)
    title = spoken(row.title)
    points = format_fixed(100 * half, 0 if half >= 0.01 else 1)
    what = positive(ev) if ev.task == "binary" else units(ev)
    if half <= NARROW:
        yield SummaryItem(f"Enough {what}", f"{title} is known to ±{points} points")
    else:
        yield SummaryItem(f"Few {what}", f"{title} is known only to ±{points} points", "", "failed")


def _better(ev: Evaluation) -> Iterator[SummaryItem]:
    """Whether the model beats a prediction that never looks at the row."""
    if not margins(ev):
        auc = estimate(ev, OF_RANKING[ev.task])
        if auc is not None and ranking_skill(ev) == "demonstrated":
            yield SummaryItem("Ranks better than chance", f"ROC AUC {brief(auc.value, 'ratio')} against 0.5")
        return
    if only_labels(ev) is not None or decision_skill(ev) is None:
        return
    kappa, f1 = by_order(ev), estimate(ev, F1)
    skilled = decision_skill(ev) == "demonstrated"
    if kappa is not None:
        detail = f"quadratic weighted kappa {brief(kappa.value, 'ratio')}"
        yield _compare_with_reference(skilled, "chance", detail)
    elif ev.task == "multilabel":
        if f1 is not None and F1 in ev.no_skill:
            level = brief(ev.no_skill[F1], "ratio")
            yield _compare_with_reference(
                skilled, "always the same labels", f"micro F1 {brief(f1.value, 'ratio')} against {level}"
            )
    else:
        _, low, _ = gain_over_majority_class(ev)
        known = margins(ev)
        most = max(known, key=lambda margin: margin.support)
        name = ev.space.names[ev.space.display_labels.index(most.label)]
        right, always = sum(one.right for one in known) / ev.weight, most.support / ev.weight
        detail = f"accuracy {brief(right, 'percent')} against {brief(always, 'percent')}"
        yield _compare_with_reference(low > 0, f"always {quote_name(name)}", detail)


def _compare_with_reference(better: bool, rival: str, detail: str) -> SummaryItem:
    how = "Better" if better else "Not significantly better"
    return SummaryItem(f"{how} than {rival}", detail, "metrics", "passed" if better else "failed")


def _repeats(ev: Evaluation, seen: dict[str, Finding]) -> Iterator[SummaryItem]:
    """Whether rows are independent, as far as is known."""
    again = next((seen[rule] for rule in ("duplicates", "repeated_rows") if rule in seen), None)
    if again is not None:
        yield _failed(ev, again)
    elif ev.clusters is not None:
        yield SummaryItem("Intervals account for groups of rows", f"{count(ev.clusters)} groups")
    elif "duplicate_texts" in ev.data_checks:
        yield SummaryItem(
            "Few repeated texts", f"{count(ev.data_checks['duplicate_texts'])} of {count(ev.rows)}"
        )


def _groups(ev: Evaluation, seen: dict[str, Finding]) -> SummaryItem:
    """Whether groups were compared, and whether one is worse."""
    if not ev.slices:
        return SummaryItem("Not compared by group", "no group column", "", "unchecked")
    columns = len({part.column for part in ev.slices})
    over = f"{count(len(ev.slices))} groups of {count(columns)} {'column' if columns == 1 else 'columns'}"
    if "slice_gap" in seen:
        return SummaryItem("One group is significantly worse", over, "groups", "failed")
    return SummaryItem("No group is significantly worse", over, "groups")


def next_step(ev: Evaluation) -> Sentence:
    """Return the one thing to do; nothing where there is none."""
    better = recommend_threshold(ev)
    if better is not None:
        return _weighted_threshold(ev, better) if ev.weighted else _threshold(ev, better)
    serious = ("one_class", "own_scores", "lookalikes", "too_perfect")
    data = [one for one in ev.findings if one.rule in serious]
    for finding in (*rank_problems(ev), *data):
        short = find_short_claim(finding).step
        step = fill(ev, short, finding.evidence) if short else finding.action
        if step and "--" not in step and finding.severity != "note":
            return say("{step}", step=step)
    return NOTHING


def _threshold(ev: Evaluation, better: RecommendedThreshold) -> Sentence:
    """What the recommended threshold finds and flags, compared with the one in use."""
    found, flagged = better.tp - better.now.tp, better.fp - better.now.fp
    gains = []
    if found:
        gains.append("{found_more:count} more found" if found > 0 else "{found_fewer:count} fewer found")
    if flagged:
        words = "{alarms_more:count} more" if flagged > 0 else "{alarms_fewer:count} fewer"
        number = "alarms_more" if flagged > 0 else "alarms_fewer"
        gains.append(f"{words} {{{number}:false positive|false positives}}")
    move = "Lower" if better.threshold < _now(ev) else "Raise"
    return say(
        f"{move} the threshold to about *{{to:threshold}}*: {' and '.join(gains)}. Check it on held-out data first.",
        {"found_more": found, "found_fewer": -found, "alarms_more": flagged, "alarms_fewer": -flagged},
        to=better.threshold,
    )


def _now(ev: Evaluation) -> float:
    at = None if ev.threshold is None else ev.threshold.value
    return at if isinstance(at, float) else 0.5


def _weighted_threshold(ev: Evaluation, better: RecommendedThreshold) -> Sentence:
    """The same where rows weigh: in proportions, because counts above a threshold are sums of weights."""
    return tell(
        ev,
        "Move the threshold to about *{to:threshold}*: it finds {found_share:percent} of {positives} instead of {recall:percent} and flags {flagged_share:percent} of {negatives} instead of {fpr:percent}. Check it on held-out data first.",
        of=ev.rows,
        to=better.threshold,
        found_share=better.tp / better.now.positives,
        flagged_share=better.fp / better.now.negatives,
    )

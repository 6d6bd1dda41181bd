"""The first screen: how good the model is, what goes wrong, what to do, and whether the numbers can be trusted."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol, TypeAlias

import numpy as np

from evalreport.core.format import brief, count, pluralize
from evalreport.core.format import confidence as confidence_text
from evalreport.core.format import threshold as threshold_text
from evalreport.core.result import Estimate, Finding
from evalreport.core.sentences import NOTHING, Sentence, quote_name, say, truncate_name, with_options
from evalreport.data.labels import Binary, Multiclass
from evalreport.evaluation.evaluation import Evaluation
from evalreport.evaluation.parts import ClassResult
from evalreport.findings.chance import (
    by_order,
    decision_skill,
    gain_over_majority_class,
    margins,
    only_labels,
    ranking_skill,
)
from evalreport.findings.rule import fill, find_short_claim, format_short, spoken
from evalreport.findings.score_quality import RecommendedThreshold, recommend_threshold
from evalreport.metrics.catalogue import OF_RANKING, find
from evalreport.page.elements import Forest, PagePart, Section
from evalreport.page.evaluation_terms import (
    bounds_of_none,
    display_label,
    estimate,
    four_counts,
    is_text,
    mistakes,
    one_threshold,
    positive,
    tell,
    units,
    unparsed_weight,
)
from evalreport.page.sections.appendix import find_missing
from evalreport.page.sections.classes import find_worse_groups
from evalreport.page.sections.headline import Warned, forest, headline, kicker, task_name, warn

FEW = 6
"""Maximum number of classes with one bar each."""
INSIDE = 26.0
"""Part of a bar, in per cent, from which on its words have room in it."""
LEFT, RIGHT, TOP, BOTTOM = 9.0, 99.0, 14.0, 166.0
"""Ends of a plot: per cent of the width, pixels of the height."""

Look: TypeAlias = Literal["ok", "no", "none"]


@dataclass(frozen=True)
class BarPart:
    """A part of a bar: where it begins and how wide it is in per cent, and its words with their place."""

    look: Look
    start: float
    width: float
    number: str
    words: str
    at: float
    end: bool


@dataclass(frozen=True)
class CountBar:
    """One bar with its name; a thin one is what another threshold would do."""

    name: str
    parts: tuple[BarPart, ...]
    thin: bool = False


@dataclass(frozen=True)
class CountBars:
    """What is right and what is wrong, in counts.

    Parameters
    ----------
    bars : tuple of CountBar
    description : Sentence
    key : tuple of (look, number, words)
        In place of words inside the bars.
    """

    kind: ClassVar[str] = "bars"
    bars: tuple[CountBar, ...]
    description: Sentence
    key: tuple[tuple[Look, str, str], ...] = ()


def make_bar(
    name: str, parts: Sequence[tuple[Look, float, str]], *, thin: bool = False, words: bool = True
) -> CountBar:
    """Return a bar of parts that add up to the whole; the first is named at the left, the last at the right.

    Examples
    --------
    >>> bar = make_bar("spam", [("ok", 30, "found"), ("no", 10, "missed")])
    >>> [(part.start, part.width, part.at, part.end) for part in bar.parts]
    [(0.0, 75.0, 0.0, False), (75.0, 25.0, 75.0, True)]
    """
    whole = sum(n for _, n, _ in parts) or 1.0
    made, start = [], 0.0
    widths = [100 * n / whole for _, n, _ in parts]
    for place, ((look, n, text), width) in enumerate(zip(parts, widths, strict=True)):
        last = place == len(parts) - 1 and place > 0
        at = (100.0 if width >= INSIDE else start) if last else 0.0 if width >= INSIDE else width
        shown = words and (place == 0 or last) and not (n == 0 and last)
        made.append(
            BarPart(
                look,
                round(start, 2),
                round(width, 2),
                count(n) if shown else "",
                text if shown else "",
                round(at, 2),
                last,
            )
        )
        start += width
    return CountBar(name, tuple(made), thin)


class MarkedThreshold(Protocol):
    """A threshold beside the one in use, with what is found and flagged at it."""

    @property
    def threshold(self) -> float:
        """The threshold."""

    @property
    def tp(self) -> float:
        """Positives found."""

    @property
    def fp(self) -> float:
        """False positives."""


def make_bars(ev: Evaluation, better: MarkedThreshold | None) -> CountBars | None:
    """Return the bars of an evaluation; None without decisions."""
    ev = ev.in_rows()
    counts = four_counts(ev)
    if counts is not None and not unparsed_weight(ev):
        return _binary(ev, better)
    if isinstance(ev.space, Binary | Multiclass):
        return _classes(ev)
    return _labels(ev) if ev.classes else None


def _binary(ev: Evaluation, better: MarkedThreshold | None) -> CountBars | None:
    c = four_counts(ev)
    if c is None:
        return None
    names = display_label(ev, ev.space.display_labels[1]), display_label(ev, ev.space.display_labels[0])
    flagged = "false positive" if c.fp == 1 else "false positives"
    bars = [make_bar(names[0], [("ok", c.tp, "found"), ("no", c.fn, "missed")])]
    other = make_bar(names[1], [("ok", c.tn, "correct"), ("no", c.fp, flagged)])
    if better is not None and not ev.weighted:
        name, p, n = "recommended", c.positives, c.negatives
        bars.append(make_bar(name, [("ok", better.tp, ""), ("no", p - better.tp, "missed")], thin=True))
        flagged = "false positive" if better.fp == 1 else "false positives"
        bars += [other, make_bar(name, [("ok", n - better.fp, ""), ("no", better.fp, flagged)], thin=True)]
    else:
        bars.append(other)
    words = "Of {p:count} {positive} {tp:count} are found and {fn:count} missed. "
    words += "Of {n:count} {negative} {fp:count} are false positives."
    description = say(
        words,
        {"p": c.positives, "tp": c.tp, "fn": c.fn, "n": c.negatives, "fp": c.fp},
        positive=names[0],
        negative=names[1],
    )
    return CountBars(tuple(bars), description)


def _classes(ev: Evaluation) -> CountBars | None:
    if ev.confusion is None:
        return None
    right, lost = float(ev.confusion.marginals.tp.sum()), unparsed_weight(ev)
    wrong = ev.confusion.total - right - lost
    parts: list[tuple[Look, float, str]] = [("ok", right, "right"), ("no", wrong, "wrong")]
    if is_text(ev):
        parts.append(("none", lost, "unparsed"))
    keyed = is_text(ev) or 0 < wrong < INSIDE / 100 * ev.confusion.total  # too narrow for its words
    bars = [make_bar(units(ev).capitalize(), parts, words=not keyed)]
    known = [c for c in ev.classes if c.support]
    if by_order(ev) is None:
        known.sort(key=lambda c: c.right / c.support)
    if len(ev.space) <= FEW and not is_text(ev):
        bars += [
            make_bar(truncate_name(str(c.label), 18), [("ok", c.right, ""), ("no", c.support - c.right, "")])
            for c in known
        ]
    description = say(
        "Of {n:count} {units} {right:count} are right and {wrong:count} wrong.",
        {"n": ev.confusion.total, "right": right, "wrong": wrong + lost},
        units=units(ev),
    )
    key = tuple((look, count(n), text) for look, n, text in parts) if keyed else ()
    return CountBars(tuple(bars), description, key)


def _labels(ev: Evaluation) -> CountBars:
    true, made, right = (
        sum(getattr(entry, name) for entry in ev.classes) for name in ("support", "predicted", "right")
    )
    return CountBars(
        (
            make_bar("True labels", [("ok", right, "found"), ("no", true - right, "missed")]),
            make_bar("Predicted", [("ok", right, "correct"), ("no", made - right, "wrong")]),
        ),
        say(
            "Of {wanted:count} true labels {hit:count} are found; of {added:count} predicted labels {wrong:count} are wrong.",
            {"wanted": true, "hit": right, "added": made, "wrong": made - right},
        ),
    )


@dataclass(frozen=True)
class Tick:
    """A mark of an axis: its place and its text."""

    at: float
    text: str


@dataclass(frozen=True)
class Mark:
    """A threshold on the price curve: its place, its name, and the side of the name."""

    look: Literal["now", "best"]
    x: float
    y: float
    name: str
    end: bool
    below: bool = False


@dataclass(frozen=True)
class Price:
    """What each threshold costs, as a curve with marks: misses against false positives, or another pair."""

    kind: ClassVar[str] = "price"
    id: str
    title: str
    description: Sentence
    path: str
    x: tuple[Tick, ...]
    y: tuple[Tick, ...]
    marks: tuple[Mark, ...]
    y_title: str = "Missed"
    x_title: str = "False positives (log scale, zero included)"


def make_price(ev: Evaluation, better: MarkedThreshold | None) -> Price | None:
    """Return what each threshold costs; None without scores, or where rows weigh."""
    if not isinstance(ev.space, Binary) or ev.sweep is None or ev.weighted or len(ev.sweep) < 2:
        return None
    points = ev.sweep.counts_at_threshold(ev.sweep.thresholds)
    tp, fp = np.asarray(points.tp, float), np.asarray(points.fp, float)
    p, n = float(ev.sweep.positives), float(ev.sweep.negatives)
    if not p or not n:
        return None
    now = four_counts(ev)
    marks = [] if now is None else [("now", one_threshold(ev), float(now.tp), float(now.fp))]
    if better is not None:
        marks.append(("best", better.threshold, better.tp, better.fp))
    most = min(p, max([1.3 * (p - t) for _, _, t, _ in marks] or [p]) or p)
    path = "M" + "L".join(_corners(tp, fp, (p, n, most)))
    return Price(
        "price",
        "Misses and false positives by threshold",
        say("Missed {what} against false positives, threshold by threshold.", what=positive(ev)),
        path,
        tuple(Tick(float(_x_position(np.array([at]), n)[0]), count(at)) for at in _powers(n)),
        tuple(Tick(float(_y_position(np.array([at]), most)[0]), count(at)) for at in _even(most)),
        tuple(_mark(look, at, t, f, (p, n, most)) for look, at, t, f in marks),
    )


def _corners(tp: np.ndarray, fp: np.ndarray, ends: tuple[float, float, float]) -> list[str]:
    """Return the places of the curve: fewest and most misses at each number of false positives.

    The points of all other thresholds are on the lines between them. The curve begins at the lower end of
    the plot.
    """
    p, n, most = ends
    order = np.lexsort((tp, fp))
    at, missed = fp[order], p - tp[order]
    step = np.diff(at) > 0
    kept = (np.append(True, step) | np.append(step, True)) & (missed <= most)
    at, missed = at[kept], missed[kept]
    if len(at) and (p - tp[fp == at[0]]).max() > most:
        at, missed = np.append(at[0], at), np.append(most, missed)
    places = zip(_x_position(at, n).tolist(), _y_position(missed, most).tolist(), strict=True)
    return list(dict.fromkeys(f"{x:.1f} {y:.1f}" for x, y in places))


def _x_position(fp: np.ndarray, n: float) -> np.ndarray:
    placed: np.ndarray = LEFT + (RIGHT - LEFT) * np.log1p(fp) / math.log1p(n)
    return placed


def _y_position(missed: np.ndarray, most: float) -> np.ndarray:
    placed: np.ndarray = TOP + (BOTTOM - TOP) * np.minimum(missed / most, 1.0)
    return placed


def _powers(n: float) -> list[float]:
    return [0.0, *(10.0**k for k in range(1, int(math.log10(max(n, 1))) + 1, 2))]


def _even(most: float) -> list[float]:
    step = 10.0 ** math.floor(math.log10(max(most, 1) / 2))
    step *= next(m for m in (1, 2, 5, 10) if most / (m * step) < 2)
    step = max(step, 1.0)
    return [step * k for k in range(int(most / step) + 1)]


def _mark(look: str, at: float | None, tp: float, fp: float, ends: tuple[float, float, float]) -> Mark:
    p, n, most = ends
    x, y = float(_x_position(np.array([fp]), n)[0]), float(_y_position(np.array([p - tp]), most)[0])
    name = "" if at is None else f" {threshold_text(at)}"
    return Mark(
        "now" if look == "now" else "best",
        round(x, 2),
        round(y, 1),
        ("In use" if look == "now" else "Recommended") + name,
        x > 50,
    )


@dataclass(frozen=True)
class Strip:
    """All classes by recall, hardest left, with their intervals."""

    kind: ClassVar[str] = "strip"
    id: str
    title: str
    description: Sentence
    dots: str
    whiskers: str
    y: tuple[Tick, ...]
    first: str
    last: str
    names: tuple[Tick, ...] = ()


DRAWN = 400
"""Classes above which no strip is drawn: a class would be less than two pixels wide."""


def make_strip(ev: Evaluation) -> Strip | None:
    """Return all classes by recall; None for two classes, and for very many."""
    known = [entry for entry in ev.classes if entry.support]
    if isinstance(ev.space, Binary) or not 1 < len(known) <= DRAWN:
        return None
    known.sort(key=lambda entry: (entry.right / entry.support, -entry.support))
    one, noun = ("label", "labels") if ev.task == "multilabel" else ("class", "classes")
    step = (RIGHT - LEFT) / len(known)
    places = [LEFT + step * (k + 0.5) for k in range(len(known))]
    return Strip(
        "strip",
        f"Recall of each {one}, hardest first",
        say(
            "Recall of {occurring:count} {noun} with intervals, the lowest first.",
            occurring=len(known),
            noun=noun,
        ),
        "".join(
            f"M{x:.1f} {score_height(c.right / c.support)}h0" for x, c in zip(places, known, strict=True)
        ),
        "".join(_whisker(c, x) for x, c in zip(places, known, strict=True)),
        tuple(Tick(score_height(at), f"{100 * at:g}%") for at in (0.0, 0.5, 1.0)),
        truncate_name(str(known[0].label), 24),
        truncate_name(str(known[-1].label), 24),
        tuple(Tick(round(x, 1), truncate_name(str(c.label), 12)) for x, c in zip(places, known, strict=True))
        if len(known) <= FEW
        else (),
    )


def score_height(value: float) -> float:
    """Return the height of a value between 0 and 1 on a plot."""
    return round(BOTTOM - (BOTTOM - TOP) * value, 1)


def _whisker(entry: ClassResult, x: float) -> str:
    recall = entry.metrics.get("recall")
    if not isinstance(recall, Estimate) or recall.low is None or recall.high is None:
        return ""
    return f"M{x:.1f} {score_height(recall.low)}V{score_height(recall.high)}"


def pictures(ev: Evaluation, better: MarkedThreshold | None) -> tuple[PagePart | None, PagePart | None]:
    """Return the bars, and beside them the price of thresholds or the strip of classes."""
    return make_bars(ev, better), make_price(ev, better) or make_strip(ev)


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
    below : Sentence
        A line below the picture.
    no_problem : str
        In place of the list of what goes wrong where it is empty.
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
    below: Sentence = NOTHING
    no_problem: str = "No problem was found."


def first_screen(ev: Evaluation) -> Section:
    """Return the first screen of an evaluation."""
    left, right = pictures(ev, recommend_threshold(ev))
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
        yield _failed_item(ev, finding)
    yield from find_weakest_group(ev)
    rows = ev.in_rows()
    known = [entry for entry in rows.classes if entry.support >= EVENTS and entry.right < entry.support]
    if known and not isinstance(ev.space, Binary):
        worst = min(known, key=lambda entry: entry.right / entry.support)
        noun = "label" if ev.task == "multilabel" else "class"
        found = f"{count(worst.right)} of {count(worst.support)} found"
        section = "labels" if ev.task == "multilabel" else "classes"
        yield SummaryItem(f"Weakest {noun}: {quote_name(str(worst.label))}", found, section, "failed")
    if sure := _sure(ev):
        title = f"Errors with confidence above {confidence_text(min(sure))[:4]}"
        yield SummaryItem(title, "check their labels", "examples", "failed")


def _sure(ev: Evaluation) -> list[float]:
    """The confidence of the most confident errors."""
    known = (one.confidence for one in ev.mistakes)
    return [confidence for confidence in known if confidence is not None and confidence >= CONFIDENT]


def find_weakest_group(ev: Evaluation) -> Iterator[SummaryItem]:
    """Yield the worst of the groups that are significantly worse, unless a finding names one."""
    worse = find_worse_groups(ev)
    if not worse or any(one.rule == "slice_gap" for one in ev.findings):
        return
    one = min(worse, key=lambda each: each.gap)
    own, rest = (brief(value, one.metric.style) for value in (one.value, one.value - one.gap))
    title = f"{one.column} {quote_name(one.group)} is significantly worse"
    yield SummaryItem(title, f"{spoken(one.metric.title)} {own}, {rest} in the rest", "groups", "failed")


def run_checks(ev: Evaluation) -> Iterator[SummaryItem]:
    """Yield what speaks for and against the numbers, checks that passed too."""
    seen = {finding.rule: finding for finding in ev.findings}
    yield from _enough(ev, seen)
    yield from check_skill(ev)
    yield from _repeats(ev, seen)
    covered = ("few_events", "small_classes", "duplicates", "repeated_rows", "effective_rows")
    for finding in ev.findings:
        if find_short_claim(finding).about == "data" and finding.rule not in covered:
            yield _failed_item(ev, finding)
    yield check_groups(ev, seen)


def _failed_item(ev: Evaluation, finding: Finding) -> SummaryItem:
    return SummaryItem(*format_short(ev, finding), finding.section, "failed")


def _enough(ev: Evaluation, seen: dict[str, Finding]) -> Iterator[SummaryItem]:
    """How well the headline metric is known."""
    for rule in ("few_events", "small_classes", "effective_rows"):
        if rule in seen:
            yield _failed_item(ev, seen[rule])
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
    known_to = f"±{brief(half, find(row.name, ev.task).style).replace('%', ' points')}"
    what = positive(ev) if ev.task == "binary" else units(ev)
    if half <= NARROW:
        yield SummaryItem(f"Enough {what}", f"{title} is known to {known_to}")
    else:
        yield SummaryItem(f"Few {what}", f"{title} is known only to {known_to}", "", "failed")


def check_skill(ev: Evaluation) -> Iterator[SummaryItem]:
    """Whether the model beats a prediction that never looks at the row."""
    if not margins(ev):
        auc = estimate(ev, OF_RANKING[ev.task])
        if auc is not None and ranking_skill(ev) == "significant":
            yield SummaryItem("Ranks better than chance", f"ROC AUC {brief(auc.value, 'ratio')} against 0.5")
        return
    if only_labels(ev) is not None or decision_skill(ev) is None:
        return
    kappa, f1 = by_order(ev), estimate(ev, F1)
    skilled = decision_skill(ev) == "significant"
    if kappa is not None:
        detail = f"quadratic weighted kappa {brief(kappa.value, 'ratio')}"
        yield _compare_with_reference(skilled, "chance", detail)
    elif ev.task == "multilabel":
        if f1 is not None and F1 in ev.no_skill:
            level = brief(ev.no_skill[F1], "ratio")
            yield _compare_with_reference(
                skilled, "a constant prediction", f"micro F1 {brief(f1.value, 'ratio')} against {level}"
            )
    else:
        _, low, _ = gain_over_majority_class(ev)
        known = margins(ev)
        most = max(known, key=lambda margin: margin.support)
        name = ev.space.names[ev.space.display_labels.index(most.label)]
        right, always = sum(one.right for one in known) / ev.weight, most.support / ev.weight
        detail = f"accuracy {brief(right, 'percent')} against {brief(always, 'percent')}"
        barely = low > 0 and decision_skill(ev) == "barely"
        yield _compare_with_reference(low > 0, f"always {quote_name(name)}", detail, barely=barely)


def _compare_with_reference(better: bool, rival: str, detail: str, *, barely: bool = False) -> SummaryItem:
    how = "Barely better" if barely else "Better" if better else "Not significantly better"
    passed = better and not barely
    return SummaryItem(f"{how} than {rival}", detail, "metrics", "passed" if passed else "failed")


def _repeats(ev: Evaluation, seen: dict[str, Finding]) -> Iterator[SummaryItem]:
    """Whether rows are independent, as far as is known."""
    again = next((seen[rule] for rule in ("duplicates", "repeated_rows") if rule in seen), None)
    if again is not None:
        yield _failed_item(ev, again)
    elif ev.clusters is not None:
        yield SummaryItem("Intervals account for groups of rows", f"{count(ev.clusters)} groups")
    elif "duplicate_texts" in ev.data_checks:
        texts = ev.data_checks["duplicate_texts"]
        title = "Few repeated texts" if texts else "No repeated texts"
        yield SummaryItem(title, f"{count(texts)} of {count(ev.rows)}" if texts else "")


def check_groups(ev: Evaluation, seen: dict[str, Finding]) -> SummaryItem:
    """Return whether groups were compared, and whether one is worse."""
    search = ev.weak_slices
    if not ev.slices and search is not None and search.searched and not search.reason:
        n = len(search.confirmed)
        title = f"{pluralize(n, 'weak slice')} found by a search" if n else "No weak slice confirmed"
        return SummaryItem(
            title, f"{count(search.searched)} slices searched", "groups", "failed" if n else "passed"
        )
    if not ev.slices:
        return SummaryItem("Not compared by group", "no group column", "", "unchecked")
    columns = len({part.column for part in ev.slices})
    over = f"of {pluralize(len(ev.slices), 'group')} in {pluralize(columns, 'column')}"
    worse = len({(one.column, one.group) for one in find_worse_groups(ev)})
    if "slice_gap" in seen:
        worse = max(worse, 1 + int(seen["slice_gap"].evidence["more"]))
    if worse:
        who = "One group is" if worse == 1 else f"{count(worse)} groups are"
        return SummaryItem(f"{who} significantly worse", over, "groups", "failed")
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
    if worse := find_worse_groups(ev):
        one = min(worse, key=lambda each: each.gap)
        words = "Look at the mistakes where {column} is {group} before you rely on the overall number."
        return say(words, column=one.column, group=quote_name(one.group))
    if _sure(ev):
        return say("Look at the most confident errors, and check their labels.")
    return NOTHING


def _threshold(ev: Evaluation, better: RecommendedThreshold) -> Sentence:
    """What the recommended threshold finds and flags, compared with the one in use."""
    found, flagged = better.tp - better.now.tp, better.fp - better.now.fp
    gains = []
    if found:
        gains.append("{found_more:count} more found" if found > 0 else "{found_fewer:count} fewer found")
    if flagged:
        words = "{fp_more:count} more" if flagged > 0 else "{fp_fewer:count} fewer"
        number = "fp_more" if flagged > 0 else "fp_fewer"
        gains.append(f"{words} {{{number}:false positive|false positives}}")
    move = "Lower" if better.threshold < _now(ev) else "Raise"
    return say(
        f"{move} the threshold to about *{{to:threshold}}*: {' and '.join(gains)}. Check it on held-out data first.",
        {"found_more": found, "found_fewer": -found, "fp_more": flagged, "fp_fewer": -flagged},
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

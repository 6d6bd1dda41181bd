"""Sentences of a comparison: the verdict, the differences, and how the rows were paired."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evalreport.comparison.comparison import (
    ChangedPredictions,
    Comparison,
    Detectable,
    Difference,
    McNemarResult,
    Pairing,
    PairOutcome,
    PairVerdict,
    RankedRun,
)
from evalreport.core.format import Style, decimals, format_decimals, gap_decimals, plural
from evalreport.core.result import NONE
from evalreport.core.result import gap as signed_gap
from evalreport.core.sentences import (
    NOTHING,
    Number,
    Run,
    Sentence,
    interval_sentence,
    join_as_list,
    join_sentences,
    quote_name,
    say,
)
from evalreport.data.labels import Binary, LabelSpace, Multilabel
from evalreport.findings.rule import spoken
from evalreport.metrics.catalogue import ERROR_KINDS, find

_CLASS = re.compile(r"recall\[(.*)\]", re.DOTALL)


@dataclass(frozen=True)
class DifferenceTexts:
    """The values of baseline and run, their difference and its interval, all with the same decimals."""

    before: str
    after: str
    gap: str
    limits: str


def difference_texts(d: Difference) -> DifferenceTexts:
    """Return the texts of a difference; the interval is the one behind the verdict.

    Examples
    --------
    >>> difference_texts(Difference("recall", "a", "b", (0.684, 0.814), -0.13, -0.185, -0.076))
    DifferenceTexts(before='81.4%', after='68.4%', gap='−13.0 points', limits='−18.5 to −7.6')
    """
    style = style_of(d)
    low, high = d.limits or (None, None)
    places = None if low is None or high is None else gap_decimals(low, high, style)
    after, before = (NONE if value is None else format_decimals(value, places, style) for value in d.values)
    shown = (NONE, NONE) if d.difference is None else signed_gap(d.difference, low, high, style)
    return DifferenceTexts(before, after, *shown)


def style_of(d: Difference) -> Style:
    """Return how values of the metric of a difference are shown."""
    return find(d.metric).style


def difference_phrase(d: Difference) -> Sentence:
    """Return a difference with its interval in brackets, as part of a sentence.

    Examples
    --------
    >>> difference_phrase(Difference("f1", "a", "b", (0.81, 0.8), 0.01, -0.02, 0.04)).text
    '+0.010 (−0.020 to +0.040)'
    """
    if d.difference is None:
        return NOTHING
    shown, (low, high) = difference_texts(d), d.limits or (None, None)
    return interval_sentence(shown.gap, shown.limits, difference=d.difference, low=low, high=high)


def difference_size(name: str, value: float, low: float | None, high: float | None, style: Style) -> Sentence:
    """Return the size of a difference, without its sign, with the decimals of an interval.

    Examples
    --------
    >>> [difference_size("gap", 0.0412, 0.8, 0.9, style).text for style in ("percent", "ratio")]
    ['4.1 points', '0.041']
    """
    shown = signed_gap(value, low, high, style)[0]
    if low is not None and high is not None:
        shown = format_decimals(value, decimals(low, high, style), style).replace("%", " points")
    shown = shown.removeprefix("+")
    return Sentence((Run(shown),), (Number(name, value, shown),))


def trade_off_sentence(comparison: Comparison, verdict: PairVerdict) -> Sentence:
    """Return both sides of a trade-off, each in counts.

    Examples
    --------
    >>> import evalreport as er
    >>> truth = [1] * 100 + [0] * 100
    >>> careful, eager = [1] * 60 + [0] * 140, [1] * 140 + [0] * 60
    >>> found = er.compare([er.evaluate(truth, answers) for answers in (careful, eager)])
    >>> trade_off_sentence(found, found.verdicts[0]).text
    'run 2 finds 40 more “1” but has 40 more false positives than run 1.'
    """
    moved = _movement(comparison, verdict)
    sides = [
        join_as_list(list(_phrases(comparison, metrics, moved, gain=gain)))
        for metrics, gain in ((verdict.better, True), (verdict.worse, False))
    ]
    words = "{verdict.run:short} {gains} but {losses} than {verdict.baseline:short}."
    return say(words, {"verdict": verdict}, gains=sides[0], losses=sides[1])


def _phrases(
    comparison: Comparison, metrics: Sequence[str], moved: ChangedPredictions | None, *, gain: bool
) -> Iterator[Sentence]:
    """Phrases for what is better, or worse: errors as counts of rows, other metrics by name."""
    space = comparison.evaluations[0].space
    mark = "*" if gain else "_"
    labels = [match[1] for name in metrics if (match := _CLASS.fullmatch(name))]
    if labels:
        counted = moved is not None and not isinstance(space, Multilabel)
        yield _recall_phrase(labels, moved if counted else None, mark, gain=gain)
    uncounted = []
    for name in (name for name in metrics if not _CLASS.fullmatch(name)):
        words = _error_phrase(space, name, moved, mark, gain=gain)
        if words:
            yield words
        else:
            uncounted.append(say("{title}", title=spoken(find(name, space.task).title)))
    if uncounted:
        yield say(
            f"has the {mark}{'better' if gain else 'worse'}{mark} {{titles}}", titles=join_as_list(uncounted)
        )


def _error_phrase(
    space: LabelSpace, name: str, moved: ChangedPredictions | None, mark: str, *, gain: bool
) -> Sentence:
    """A phrase for true or false positives: the net of fixed and broken rows of that class.

    Empty where rows were not counted, or where they contradict the (weighted) metric.
    """
    if not isinstance(space, Binary) or moved is None or name not in ERROR_KINDS["binary"]:
        return NOTHING
    label = space.names[1] if name == "recall" else space.names[0]
    fixed, broken, _ = moved.by_class.get(label, (0, 0, 0))
    if (fixed > broken) != gain or fixed == broken:
        return NOTHING
    rows = abs(fixed - broken)
    if name == "recall":
        word = "more" if gain else "fewer"
        return say(f"finds {mark}{{rows:count}} {word}{mark} {{label}}", rows=rows, label=quote_name(label))
    word = "fewer" if gain else "more"
    noun = plural(rows, ("false positive", "false positives"))
    return say(f"has {mark}{{rows:count}} {word}{mark} {{noun}}", rows=rows, noun=noun)


def _recall_phrase(
    labels: Sequence[str], moved: ChangedPredictions | None, mark: str, *, gain: bool
) -> Sentence:
    """A phrase for the net over all classes whose recall differs; for multilabel, the number of labels."""
    classes = quote_name(labels[0]) if len(labels) == 1 else f"{len(labels)} classes"
    nets = [] if moved is None else [moved.by_class.get(label, (0, 0, 0)) for label in labels]
    net = sum(fixed - broken for fixed, broken, _ in nets)
    if (net > 0) != gain or net == 0:
        word = "better" if gain else "worse"
        return say(f"has the {mark}{word}{mark} recall of {{classes}}", classes=classes)
    word = "more" if gain else "fewer"
    of = "{classes}" if len(labels) == 1 else "of {classes}"
    return say(f"finds {mark}{{rows:count}} {word}{mark} {of}", rows=abs(net), classes=classes)


MOST_NAMED = 3
"""Maximum number of runs that a headline names."""


def title_of_metric(comparison: Comparison, name: str) -> str:
    """Return the name of a metric in words."""
    return find(name, comparison.evaluations[0].task).title


def headline(comparison: Comparison) -> Sentence:
    """Return the verdict of two runs, or the ranking of several.

    Every output that states the result of a comparison in words uses this sentence, or that of a pair.
    """
    if len(comparison.names) > 2:
        return ranking_sentence(comparison)
    return verdict_sentence(comparison, comparison.verdicts[0])


def verdict_sentence(comparison: Comparison, verdict: PairVerdict) -> Sentence:
    """Return the verdict of a pair: what is better and worse in counts, else the primary metric.

    Examples
    --------
    >>> import evalreport as er
    >>> truth = [1] * 100 + [0] * 100
    >>> some, none = [1] * 60 + [0] * 140, [0] * 200
    >>> found = er.compare([er.evaluate(truth, answers) for answers in (some, none)], primary="specificity")
    >>> verdict_sentence(found, found.verdicts[0]).text
    'run 2 is worse than run 1: it finds 60 fewer “1”; Specificity 0 points (−3.7 to +3.7).'
    """
    main = verdict.primary
    gap = NOTHING if main is None else difference_phrase(main)
    title = title_of_metric(comparison, comparison.primary)
    known = {"verdict": verdict}
    match verdict.verdict:
        case "trade_off":
            return trade_off_sentence(comparison, verdict)
        case "better" | "worse":
            mark = "*" if verdict.verdict == "better" else "_"
            lead = say(
                f"{{verdict.run:short}} is {mark}{verdict.verdict}{mark} than {{verdict.baseline:short}}:",
                known,
            )
            return lead + _difference_clause(comparison, verdict, gap)
        case "not_significant":
            words = "*No significant difference* between {verdict.run:short} and {verdict.baseline:short}"
            return say(words + (": {title} {gap}." if gap else "."), known, title=title, gap=gap)
        case "undefined":
            words = "{verdict.run:short} and {verdict.baseline:short} cannot be compared by {title}: {why}."
            return say(
                words, known, title=title, why="it is undefined" if main is None else missing_reason(main)
            )


def _difference_clause(comparison: Comparison, verdict: PairVerdict, gap: Sentence) -> Sentence:
    """The errors that differ in counts, then the primary metric."""
    gain = verdict.verdict == "better"
    side = verdict.better if gain else verdict.worse
    names = [name for name in side if name != comparison.primary]
    if comparison.primary in side:  # the primary metric covers the classes
        names = [name for name in names if not _CLASS.fullmatch(name)]
    moved = _movement(comparison, verdict)
    differs = join_as_list(list(_phrases(comparison, names, moved, gain=gain)))
    main = (
        say("{title} {gap}", title=title_of_metric(comparison, comparison.primary), gap=gap)
        if gap
        else NOTHING
    )
    if not differs:
        return join_sentences(main, say("."))
    return join_sentences(
        say("it {differs}", differs=differs), say("; {main}.", main=main) if main else say(".")
    )


def _movement(comparison: Comparison, verdict: PairVerdict) -> ChangedPredictions | None:
    pair = (verdict.run, verdict.baseline)
    return next((entry for entry in comparison.movement if (entry.run, entry.baseline) == pair), None)


def missing_reason(d: Difference) -> str:
    """Return why there is no verdict."""
    return d.reason or "it is undefined"


AGAINST: Mapping[PairOutcome, str] = {
    "better": "{n:is|are} *better*",
    "worse": "{n:is|are} _worse_",
    "trade_off": "{n:is|are} partly better, partly worse",
    "not_significant": "{n:is|are} not significantly different",
    "undefined": "cannot be compared",
}
"""How the runs with each verdict are reported."""


def baseline_counts(comparison: Comparison) -> Sentence:
    """Return which of several runs are better, worse or neither compared with the baseline; of many how many."""
    if comparison.baseline is None or len(comparison.names) < 3:
        return NOTHING
    parts = []
    for outcome, words in AGAINST.items():
        runs = [one.run for one in comparison.verdicts if one.verdict == outcome]
        named = join_as_list([say("{run:short}", run=run) for run in runs])
        who = "{named} " if len(runs) <= MOST_NAMED else "{n:count} runs "
        parts += [say(who + words, n=len(runs), named=named)] if runs else []
    base = comparison.names[comparison.baseline]
    return say("Compared with the baseline, {base:short}: {parts}.", base=base, parts=join_as_list(parts))


def ranking_sentence(comparison: Comparison) -> Sentence:
    """Return the best run, the runs tied with it, and the gap to the next run."""
    by = title_of_metric(comparison, comparison.primary)
    known = [entry for entry in comparison.ranking if entry.ranks is not None]
    best = [entry for entry in known if entry.best_group]
    rest = [entry for entry in known if not entry.best_group]
    if not known:
        return say(f"*No run* has a value by {by}.")
    counts = {"runs": len(known), "tied": len(best), "others": len(rest)}
    named = join_as_list([say("{run:short}", run=entry.run) for entry in best[:MOST_NAMED]])
    top = best[0].run
    if not rest:
        words = f"*No run is significantly best* by {by}: none of {{runs:count}} is significantly worse than "
        return say(words + "{top:short}.", counts, top=top)
    if len(best) == 1:
        than = "all {others:count} others" if len(rest) > 1 else "the other run"
        words = f"{{top:short}} is *significantly better* than {than} by {by};"
    elif len(best) > MOST_NAMED:
        words = f"*{{tied:count}} of {{runs:count}} runs* are tied for best by {by}, {{top:short}} first;"
    else:
        words = f"{{named}} are *tied for best* by {by} (difference not significant);"
    return say(words, counts, top=top, named=named) + _gap_to_next(comparison.primary, rest[0])


def _gap_to_next(metric: str, after: RankedRun) -> Sentence:
    """The gap from the best run to the first one that is significantly worse."""
    gap = difference_size("gap", after.behind or 0.0, after.low, after.high, find(metric).style)
    return say("the next, {run:short}, is {gap} behind.", run=after.run, gap=gap)


def detectable_size(d: Difference, found: Detectable) -> Sentence:
    """Return the minimum detectable difference, with the decimals of the observed one."""
    if found.difference is None:
        return say("no possible difference")
    low, high = d.limits or (None, None)
    return difference_size("difference", found.difference, low, high, style_of(d))


def verdict(d: Difference) -> Sentence:
    """Return better, worse or "not significant", with the minimum detectable difference.

    Examples
    --------
    >>> from evalreport.comparison.comparison import Detectable
    >>> verdict(Difference("f1", "a", "b", (0.8, 0.79), 0.01, -0.02, 0.04, verdict="not_significant",
    ...                    detectable=Detectable(0.8, 0.043))).text
    'not significant (detectable at 80% power: 0.043)'
    """
    match d.verdict:
        case "better":
            return say("*better*")
        case "worse":
            return say("_worse_")
        case "not_significant" if d.detectable is not None:
            return say(
                "not significant (detectable at {power:percent} power: {difference})",
                difference=detectable_size(d, d.detectable),
                power=d.detectable.power,
            )
        case "not_significant":
            return say("not significant")
        case "undefined":
            return say("{why}", why=missing_reason(d))


def mistake_counts(moved: ChangedPredictions, test: McNemarResult | None) -> Sentence:
    """Return how many rows only one run has wrong, with McNemar's test.

    Examples
    --------
    >>> moved = ChangedPredictions("new", "old", 9, 6, 21, 249)
    >>> mistake_counts(moved, McNemarResult("new", "old", 9, 6, 0.454)).text
    'both wrong 21, only old wrong 9, only new wrong 6; McNemar p = 0.45'
    """
    words = say(
        "both wrong {moved.both_wrong:count}, only {moved.baseline} wrong {moved.fixed:count}, only "
        "{moved.run} wrong {moved.broken:count}",
        {"moved": moved},
    )
    return words if test is None else join_sentences(words, p_value(test.p))


def p_value(p: float) -> Sentence:
    """Return McNemar's p-value, below 0.001 as such."""
    if p < 0.001:
        return say("; McNemar p < 0.001")
    return say("; McNemar p = {p:two}" if p >= 0.1 else "; McNemar p = {p:three}", p=p)


def pairing_sentence(
    run: str, baseline: str, how: Pairing, unit: tuple[str, str] = ("case", "cases")
) -> Sentence:
    """Return how the rows of two runs were paired; `unit` is the noun for one and for several rows.

    Examples
    --------
    >>> pairing_sentence("new", "old", Pairing("paired", 285, "matched by id")).text
    'new and old: paired on 285 shared cases (matched by id).'
    """
    words = "_not paired_" if how.kind == "unpaired" else "paired on {shared:count} shared {units}"
    shared = {"shared": how.n_shared, "units": plural(how.n_shared, unit)}
    return say(f"{{run}} and {{base}}: {words} ({{why}}).", shared, run=run, base=baseline, why=how.reason)


def positive_label(comparison: Comparison) -> str:
    """Return the positive label; empty for other tasks."""
    space = comparison.evaluations[0].space
    return f"positive label {space.display_labels[1]}" if isinstance(space, Binary) else ""


def shared_pairing(comparison: Comparison) -> Sentence:
    """Return one sentence for all pairs if they were paired in the same way, else nothing."""
    kinds = {(how.kind, how.n_shared, how.reason) for _, _, how in comparison.pairings}
    if len(kinds) > 1:
        return NOTHING
    how = comparison.pairings[0][2]
    words = (
        "_Not paired_: {why}."
        if how.kind == "unpaired"
        else "Paired on {shared:count} shared {units}, {why}."
    )
    return say(words, shared=how.n_shared, units=plural(how.n_shared, comparison.unit), why=how.reason)

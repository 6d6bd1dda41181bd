"""What a comparison says in sentences: the verdict, what each difference is worth, and how it was matched."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from evalreport.comparison.pairing import Pairing
from evalreport.comparison.values import (
    DEMONSTRATED,
    Comparison,
    Detectable,
    Difference,
    McNemarResult,
    Movement,
    PairVerdict,
    RankedRun,
)
from evalreport.findings.words import spoken
from evalreport.format import plural
from evalreport.labels import Binary, Multilabel
from evalreport.metrics.catalogue import find
from evalreport.metrics.named_sets import ERROR_KINDS
from evalreport.panels.comparison.stated import in_words, size, style_of
from evalreport.panels.words import NOTHING, Sentence, joined, listed, quoted, say

_CLASS = re.compile(r"recall\[(.*)\]", re.DOTALL)


def both_sides(comparison: Comparison, verdict: PairVerdict) -> Sentence:
    """Return both sides of a trade-off, each in counts.

    Examples
    --------
    >>> import evalreport as er
    >>> truth = [1] * 100 + [0] * 100
    >>> careful, eager = [1] * 60 + [0] * 140, [1] * 140 + [0] * 60
    >>> found = er.compare([er.evaluate(truth, answers) for answers in (careful, eager)])
    >>> both_sides(found, found.verdicts[0]).text
    'run 2 finds 40 more “1” but raises 40 more false alarms than run 1.'
    """
    pair = (verdict.run, verdict.baseline)
    moved = next((entry for entry in comparison.movement if (entry.run, entry.baseline) == pair), None)
    sides = [
        listed(list(_phrases(comparison, metrics, moved, gain=gain)))
        for metrics, gain in ((verdict.better, True), (verdict.worse, False))
    ]
    words = "{verdict.run:short} {gains} but {losses} than {verdict.baseline:short}."
    return say(words, {"verdict": verdict}, gains=sides[0], losses=sides[1])


def _phrases(
    comparison: Comparison, metrics: Sequence[str], moved: Movement | None, *, gain: bool
) -> Iterator[Sentence]:
    space = comparison.evaluations[0].space
    labels = [match[1] for name in metrics if (match := _CLASS.fullmatch(name))]
    counted = moved is not None and not isinstance(space, Multilabel)
    mark = "*" if gain else "_"
    if labels:
        yield _of_classes(labels, moved if counted else None, mark, gain=gain)
    plain = [name for name in metrics if not _CLASS.fullmatch(name)]
    if isinstance(space, Binary) and moved is not None:
        for name in (name for name in plain if name in ERROR_KINDS["binary"]):
            yield _of_kind(space, name, moved, mark, gain=gain)
        plain = [name for name in plain if name not in ERROR_KINDS["binary"]]
    if plain:
        titles = listed([say("{title}", title=spoken(find(name, space.task).title)) for name in plain])
        yield say(f"has the {mark}{'better' if gain else 'worse'}{mark} {{titles}}", titles=titles)


def _of_kind(space: Binary, name: str, moved: Movement, mark: str, *, gain: bool) -> Sentence:
    """Positives that are found, or false alarms: the net of what was fixed and broken in that class."""
    label = space.names[1] if name == "recall" else space.names[0]
    fixed, broken, _ = moved.by_class.get(label, (0, 0, 0))
    rows = abs(fixed - broken)
    if name == "recall":
        word = "more" if gain else "fewer"
        return say(f"finds {mark}{{rows:count}} {word}{mark} {{label}}", rows=rows, label=quoted(label))
    word = "fewer" if gain else "more"
    alarms = plural(rows, ("false alarm", "false alarms"))
    return say(f"raises {mark}{{rows:count}} {word}{mark} {{alarms}}", rows=rows, alarms=alarms)


def _of_classes(labels: Sequence[str], moved: Movement | None, mark: str, *, gain: bool) -> Sentence:
    """The net of all classes whose recall differs; of labels of a set, which share rows, their number."""
    classes = quoted(labels[0]) if len(labels) == 1 else f"{len(labels)} classes"
    if moved is None:
        word = "better" if gain else "worse"
        return say(f"has the {mark}{word}{mark} recall of {{classes}}", classes=classes)
    nets = [moved.by_class.get(label, (0, 0, 0)) for label in labels]
    rows = abs(sum(fixed - broken for fixed, broken, _ in nets))
    word = "more" if gain else "fewer"
    of = "{classes}" if len(labels) == 1 else "of {classes}"
    return say(f"finds {mark}{{rows:count}} {word}{mark} {of}", rows=rows, classes=classes)


MOST_NAMED = 3
"""Runs of the best group that a headline names."""


def title_of_metric(comparison: Comparison, name: str) -> str:
    """Return the name of a metric in words."""
    return find(name, comparison.evaluations[0].task).title


def headline(comparison: Comparison) -> Sentence:
    """Return which run is better, how sure that is, and of a trade-off both sides."""
    if len(comparison.names) > 2:
        return ranked(comparison)
    if comparison.verdicts and comparison.verdicts[0].verdict == "trade_off":
        return both_sides(comparison, comparison.verdicts[0])
    return _of_two(comparison, comparison.of(comparison.primary)[0])


def _of_two(comparison: Comparison, d: Difference) -> Sentence:
    run, base, title = "{d.run:short}", "{d.baseline:short}", title_of_metric(comparison, d.metric)
    match d.verdict:
        case "better":
            words = f"{run} is *better* than {base}: {title} {{gap}}."
        case "worse":
            words = f"{run} is _worse_ than {base}: {title} {{gap}}."
        case "not_demonstrated":
            words = f"*No difference is demonstrated* between {run} and {base}: {title} {{gap}}."
        case "undefined":
            return say(f"{run} and {base} cannot be compared by {title}: {{why}}.", {"d": d}, why=because(d))
    return say(words, {"d": d}, gap=in_words(d))


def because(d: Difference) -> str:
    """Return why there is no verdict."""
    return d.reason or "it is undefined"


def against(comparison: Comparison) -> Sentence:
    """Return how many of several runs are better and worse than the baseline, by the primary metric."""
    if comparison.baseline is None or len(comparison.names) < 3:
        return NOTHING
    main = comparison.of(comparison.primary)
    better, worse = ([d for d in main if d.verdict == word] for word in DEMONSTRATED)
    base = comparison.names[comparison.baseline]
    by = title_of_metric(comparison, comparison.primary)
    told = "*None of {rivals:count} runs* is demonstrated to differ from"
    if better or worse:
        told = " and ".join(_counted(better, worse, len(main))) + " than"
    words = f"{told} {{base:short}} by {by}."
    return say(words, rivals=len(main), better=len(better), worse=len(worse), base=base)


def _counted(better: Sequence[Difference], worse: Sequence[Difference], rivals: int) -> Iterator[str]:
    whole = " of {rivals:count} runs"
    for name, found, word in (("better", better, "*better*"), ("worse", worse, "_worse_")):
        if len(found) == rivals:
            yield f"{'Both' if rivals == 2 else 'All {rivals:count}'} runs are {word}"
        elif found:
            yield f"{{{name}:count}}{whole} {{{name}:is|are}} {word}"
            whole = ""


def ranked(comparison: Comparison) -> Sentence:
    """Return the winner, who ties with it, and what the next run would cost."""
    by = title_of_metric(comparison, comparison.primary)
    known = [entry for entry in comparison.ranking if entry.ranks is not None]
    best = [entry for entry in known if entry.best_group]
    rest = [entry for entry in known if not entry.best_group]
    if not known:
        return say(f"*No run* has a value by {by}.")
    counts = {"runs": len(known), "tied": len(best)}
    named = listed([say("{run:short}", run=entry.run) for entry in best[:MOST_NAMED]])
    top = best[0].run
    if not rest:
        words = f"*No run is demonstrated to be best* by {by}: none of {{runs:count}} is told apart from "
        return say(words + "{top:short}.", counts, top=top)
    if len(best) == 1:
        words = f"{{top:short}} is *best* by {by};"
    elif len(best) > MOST_NAMED:
        words = f"*{{tied:count}} of {{runs:count}} runs* are best by {by}, {{top:short}} first;"
    else:
        words = f"{{named}} are *best* by {by}, not told apart;"
    return say(words, counts, top=top, named=named) + _price(comparison.primary, best[0], rest[0])


def _price(metric: str, best: RankedRun, after: RankedRun) -> Sentence:
    """What the first run behind the best group gives up, of the best one's value."""
    gap = size("gap", after.behind or 0.0, best.low, best.high, find(metric).style)
    return say("the next, {run:short}, is {gap} behind.", run=after.run, gap=gap)


def detectable(d: Difference, found: Detectable) -> Sentence:
    """Return the difference that the sample would have demonstrated, with the decimals of the one it has."""
    if found.difference is None:
        return say("no possible difference")
    low, high = d.limits or (None, None)
    return size("difference", found.difference, low, high, style_of(d))


def verdict(d: Difference) -> Sentence:
    """Return better, worse or "not demonstrated", with the difference that would have been.

    Examples
    --------
    >>> from evalreport.comparison.values import Detectable
    >>> verdict(Difference("f1", "a", "b", (0.8, 0.79), 0.01, -0.02, 0.04, verdict="not_demonstrated",
    ...                    detectable=Detectable(0.8, 0.043))).text
    'not demonstrated (0.043 would be, with 80% probability)'
    """
    match d.verdict:
        case "better":
            return say("*better*")
        case "worse":
            return say("_worse_")
        case "not_demonstrated" if d.detectable is not None:
            return say(
                "not demonstrated ({difference} would be, with {power:percent} probability)",
                difference=detectable(d, d.detectable),
                power=d.detectable.power,
            )
        case "not_demonstrated":
            return say("not demonstrated")
        case "undefined":
            return say("{why}", why=because(d))


def mistakes(moved: Movement, test: McNemarResult | None) -> Sentence:
    """Return who is wrong where the other is right, and McNemar's test of it.

    Examples
    --------
    >>> moved = Movement("new", "old", 9, 6, 21, 249)
    >>> mistakes(moved, McNemarResult("new", "old", 9, 6, 0.607, 0.454)).text
    'both wrong 21, only old wrong 9, only new wrong 6; McNemar p = 0.61'
    """
    words = say(
        "both wrong {moved.both_wrong:count}, only {moved.baseline} wrong {moved.fixed:count}, only "
        "{moved.run} wrong {moved.broken:count}",
        {"moved": moved},
    )
    return words if test is None else joined(words, p_value(test.p))


def p_value(p: float) -> Sentence:
    """Return McNemar's p-value, small ones as such."""
    if p < 0.001:
        return say("; McNemar p < 0.001")
    return say("; McNemar p = {p:two}" if p >= 0.1 else "; McNemar p = {p:three}", p=p)


def matching(run: str, baseline: str, how: Pairing, unit: tuple[str, str] = ("case", "cases")) -> Sentence:
    """Return how the rows of two runs were matched; `unit` is the word for one and for several of them.

    Examples
    --------
    >>> matching("new", "old", Pairing("paired", 285, "matched by id")).text
    'new and old: paired on 285 shared cases (matched by id).'
    """
    words = "_not paired_" if how.kind == "unpaired" else "paired on {shared:count} shared {units}"
    shared = {"shared": how.n_shared, "units": plural(how.n_shared, unit)}
    return say(f"{{run}} and {{base}}: {words} ({{why}}).", shared, run=run, base=baseline, why=how.reason)


def positive_label(comparison: Comparison) -> str:
    """Return which label recall and precision are of; empty where there is no such one."""
    space = comparison.evaluations[0].space
    return f"positive label {space.shown[1]}" if isinstance(space, Binary) else ""


def same_matching(comparison: Comparison) -> Sentence:
    """Return one sentence on all pairs when they were matched alike, else nothing."""
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

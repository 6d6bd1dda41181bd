"""What a comparison says in sentences: the verdict, what each difference is worth, and how it was matched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evalreport.comparison.pairing import Pairing
from evalreport.comparison.values import (
    DEMONSTRATED,
    Comparison,
    Difference,
    McNemarResult,
    Movement,
)
from evalreport.format import plural
from evalreport.metrics.catalogue import find
from evalreport.panels.words import NOTHING, Sentence, quoted, say, shortened


def title_of_metric(comparison: Comparison, name: str) -> str:
    """Return the name of a metric in words."""
    return find(name, comparison.evaluations[0].task).title


def headline(comparison: Comparison) -> Sentence:
    """Return which run is better, by the primary metric, and how sure that is."""
    main = comparison.of(comparison.primary)
    if len(main) == 1:
        return _of_two(comparison, main[0])
    return _of_all(comparison) if comparison.baseline is None else _against(comparison, main)


def _of_two(comparison: Comparison, d: Difference) -> Sentence:
    called = {"run": shortened(d.run), "base": shortened(d.baseline)}
    title = title_of_metric(comparison, d.metric)
    match d.verdict:
        case "better":
            lead = "{run} is *better* than {base}: " + title + " {difference:change}"
        case "worse":
            lead = "{run} is _worse_ than {base}: " + title + " {difference:change}"
        case "not_demonstrated":
            lead = (
                "*No difference is demonstrated* between {run} and {base}: " + title + " {difference:change}"
            )
        case "undefined":
            return say("{run} and {base} cannot be compared by " + title + ": {why}.", called, why=because(d))
    return say(lead + _limits(d) + ".", called, **numbers(d))


def _limits(d: Difference) -> str:
    return "" if d.limits is None else " ({low:change} to {high:change})"


def numbers(d: Difference) -> dict[str, float]:
    """Return the numbers of a difference that are known, by their names."""
    known = {} if d.difference is None else {"difference": d.difference}
    return known if d.limits is None else known | {"low": d.limits[0], "high": d.limits[1]}


def because(d: Difference) -> str:
    """Return why there is no verdict."""
    return d.reason or "it is undefined"


def _against(comparison: Comparison, main: Sequence[Difference]) -> Sentence:
    better, worse = ([d for d in main if d.verdict == verdict] for verdict in DEMONSTRATED)
    base = shortened(main[0].baseline)
    by = title_of_metric(comparison, comparison.primary)
    if not better and not worse:
        lead = "*None of {rivals:count} runs* is demonstrated to differ from {base} by "
        return say(lead + by + ".", rivals=len(main), base=base)
    told = " and ".join(_counted(better, worse, len(main)))
    return say(
        told + " than {base} by " + by + ".",
        rivals=len(main),
        better=len(better),
        worse=len(worse),
        base=base,
    )


def _counted(better: Sequence[Difference], worse: Sequence[Difference], rivals: int) -> Iterator[str]:
    whole = " of {rivals:count} runs"
    for name, found, word in (("better", better, "*better*"), ("worse", worse, "_worse_")):
        if len(found) == rivals:
            yield f"All {{rivals:count}} runs are {word}"
        elif found:
            yield f"{{{name}:count}}{whole} {'is' if len(found) == 1 else 'are'} {word}"
            whole = ""


def _of_all(comparison: Comparison) -> Sentence:
    by = title_of_metric(comparison, comparison.primary)
    runs = len(comparison.names)
    if not comparison.groups:
        return say("*No order* of {runs:count} runs is demonstrated by " + by + ".", runs=runs)
    first = comparison.groups[0]
    if len(first) == 1:
        return say(
            "{best} is *better* than each of the other {rest:count} runs by " + by + ".",
            best=shortened(first[0]),
            rest=runs - 1,
        )
    return say(
        "*{tied:count} of {runs:count} runs cannot be told apart* at the top by " + by + ": {named}.",
        tied=len(first),
        runs=runs,
        named=", ".join(shortened(name) for name in first[:4]) + ("…" if len(first) > 4 else ""),
    )


def verdict(d: Difference) -> Sentence:
    """Return better, worse or "not demonstrated", with the difference that would have been.

    Examples
    --------
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
                "not demonstrated ({difference:three} would be, with {power:percent} probability)",
                difference=d.detectable.difference,
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
        "both wrong {both_wrong:count}, only {base} wrong {fixed:count}, only {run} wrong {broken:count}",
        both_wrong=moved.both_wrong,
        fixed=moved.fixed,
        broken=moved.broken,
        base=moved.baseline,
        run=moved.run,
    )
    if test is None:
        return words
    shown = p_value(test.p)
    return Sentence((*words.runs, *shown.runs), words.numbers + shown.numbers)


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
    named = {"run": run, "base": baseline, "why": how.reason, "units": plural(how.n_shared, unit)}
    if how.kind == "unpaired":
        return say("{run} and {base}: _not paired_ ({why}).", named)
    return say(
        "{run} and {base}: paired on {shared:count} shared {units} ({why}).", named, shared=how.n_shared
    )


def same_matching(comparison: Comparison) -> Sentence:
    """Return one sentence on all pairs when they were matched alike, else nothing."""
    kinds = {(how.kind, how.n_shared, how.reason) for _, _, how in comparison.pairings}
    if len(kinds) > 1:
        return NOTHING
    how = comparison.pairings[0][2]
    if how.kind == "unpaired":
        return say("_Not paired_: {why}.", why=how.reason)
    return say(
        "Paired on {shared:count} shared {units}, {why}.",
        shared=how.n_shared,
        units=plural(how.n_shared, comparison.unit),
        why=how.reason,
    )


def ranked(comparison: Comparison, metric: str) -> Sentence:
    """Return how many runs cannot be told from the best, which is the baseline.

    Parameters
    ----------
    comparison : Comparison
        Of every run against the best one by the metric.
    """
    tied = [d for d in comparison.of(metric) if d.verdict not in DEMONSTRATED]
    runs, best = len(comparison.names), comparison.names[comparison.baseline or 0]
    by = title_of_metric(comparison, metric)
    if not tied:
        return say(
            "{best} is better than each of the other {rest:count} by " + by + ".",
            best=quoted(best),
            rest=runs - 1,
        )
    return say(
        "{tied:count} of {rest:count} others cannot be told from the best, {best}, by " + by + ".",
        tied=len(tied),
        rest=runs - 1,
        best=quoted(best),
    )

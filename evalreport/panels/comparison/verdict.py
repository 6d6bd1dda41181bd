"""The first screen of a comparison: which run is better, how sure that is, and the differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evalreport.comparison.values import DEMONSTRATED, Comparison, Difference
from evalreport.evaluation.model import Evaluation
from evalreport.findings.words import spoken
from evalreport.format import count, plural
from evalreport.panels.about import one_threshold, tell
from evalreport.panels.comparison.axis import differences_of
from evalreport.panels.comparison.leaderboard import every_value, leaderboard
from evalreport.panels.comparison.matched import points_table, sentence
from evalreport.panels.comparison.words import (
    against,
    detectable,
    headline,
    matching,
    p_value,
    positive_label,
    same_matching,
    title_of_metric,
)
from evalreport.panels.parts import Facts, Folded, PagePart, Section
from evalreport.panels.provenance import origin
from evalreport.panels.words import NOTHING, Sentence, joined, listed, paragraph, say


@dataclass(frozen=True)
class Versus:
    """Kicker, headline, summary, and the figures that decide."""

    runs: int
    kicker: tuple[str, ...]
    headline: Sentence
    summary: Sentence
    parts: tuple[PagePart, ...]
    notes: tuple[str, ...]


def panel(comparison: Comparison) -> Section:
    """Return the verdict: two binary runs at matched points; else all runs, ranked."""
    two = len(comparison.names) == 2
    matched = points_table(comparison)
    parts = [matched] if two and matched is not None else [leaderboard(comparison), matched]
    body = Versus(
        runs=len(comparison.names),
        kicker=_kicker(comparison),
        headline=headline(comparison),
        summary=summary(comparison),
        parts=tuple(part for part in parts if part is not None),
        notes=comparison.notes,
    )
    return Section("verdict", "Verdict", "Verdict", "versus", NOTHING, body)


def _kicker(comparison: Comparison) -> tuple[str, ...]:
    first = comparison.evaluations[0]
    datasets = {ev.provenance.dataset for ev in comparison.evaluations if ev.provenance.dataset}
    base = (
        "all against all"
        if comparison.baseline is None
        else f"baseline {comparison.names[comparison.baseline]}"
    )
    known = (first.task, positive_label(comparison), *(datasets if len(datasets) == 1 else ()), base)
    return tuple(filter(None, known))


def summary(comparison: Comparison) -> Sentence:
    """Return what the verdict rests on: the examples that moved, and how the runs were matched."""
    return paragraph(
        sentence(comparison),
        against(comparison),
        _moved(comparison),
        _could(comparison),
        same_matching(comparison),
        _corrected(comparison),
    )


def _moved(comparison: Comparison) -> Sentence:
    if len(comparison.pairings) != 1 or not comparison.movement:
        return NOTHING
    (moved,) = comparison.movement
    words = say(
        "{moved.run} is right on {moved.fixed:count} {units} that {moved.baseline} gets wrong, and wrong on "
        "{moved.broken:count} that {moved.baseline} gets right",
        {"moved": moved},
        units=plural(moved.fixed, comparison.unit),
    )
    tests = [p_value(test.p) for test in comparison.mcnemar]
    return joined(words, *tests, say("."))


def _could(comparison: Comparison) -> Sentence:
    """The smallest difference of the primary metric that a verdict of so many rows finds."""
    (first, *others) = comparison.verdicts
    main = first.primary
    if others or first.verdict != "not_demonstrated" or main is None or main.detectable is None:
        return NOTHING
    words = "Too few rows: no possible difference"
    if main.detectable.difference is not None:
        words = f"A difference of {{difference}} in {spoken(title_of_metric(comparison, comparison.primary))}"
    return say(
        words + " would be significant with {power:percent} probability.",
        difference=detectable(main, main.detectable),
        power=main.detectable.power,
    )


def _corrected(comparison: Comparison) -> Sentence:
    """What verdicts are about, and for how many numbers they are corrected."""
    if not any(one.over for one in comparison.verdicts):
        return NOTHING
    over = max((one.over for one in comparison.verdicts), key=len)
    classes = sum(name.startswith("recall[") for name in over)
    titles = [spoken(title_of_metric(comparison, name)) for name in over if not name.startswith("recall[")]
    named = listed([say("{title}", title=title) for title in titles])
    words = "Verdicts are by {named}"
    if classes:
        words += " and the recall of {classes:count} {classes:class|classes}"
    pairs = len(comparison.pairings)
    if len(over) > 1 or pairs > 1:
        words += ", with Holm's correction"
        words += " for {pairs:count} comparisons" if pairs > 1 else ""
    return say(words + ".", named=named, classes=classes, pairs=pairs)


def pairs(comparison: Comparison) -> Section | None:
    """Return every difference of two runs; of more the grid of values states them."""
    if len(comparison.names) != 2:
        return None
    run, base, _ = comparison.pairings[0]
    plot = differences_of(comparison, comparison.differences, f"{run} against {base}")
    values = Folded("Values of each run with their intervals", (every_value(comparison),))
    summary = _tallied(comparison.differences, run)
    return Section.of("differences", "Differences", "Every difference", summary, plot, values)


def _tallied(found: Sequence[Difference], run: str) -> Sentence:
    """How many metrics say what: right of zero is better for every one of them."""
    better, worse = (sum(d.verdict == word for d in found) for word in DEMONSTRATED)
    words = (
        "Right of zero {run:short} is better, left of it worse: by {better:count} of {metrics:count} metrics "
        "it is demonstrated *better*, by {worse:count} _worse_. Hollow: no difference is demonstrated. "
        "Whiskers: the interval of the paired difference. The verdict is corrected for all metrics that it "
        "uses; single rows beyond it are exploratory."
    )
    return say(words, run=run, better=better, worse=worse, metrics=len(found))


def pairing(comparison: Comparison) -> Section:
    """Return the proof that each two runs have the same examples, or why there is none."""
    facts = [
        (f"{run} against {base}", matching(run, base, how, comparison.unit))
        for run, base, how in comparison.pairings
    ]
    summary = say("A paired comparison needs the same examples with the same truth.")
    title = "Were they scored on the same examples?"
    return Section.of("pairing", "Same examples", title, summary, Facts(tuple(facts)))


def provenance(comparison: Comparison) -> Section:
    """Return the origin of each run, and the command."""
    facts = [
        (name, _run_facts(ev)) for name, ev in zip(comparison.names, comparison.evaluations, strict=True)
    ]
    made = comparison.evaluations[0].provenance
    if made.made:
        facts.append(("Made", say("{made}", made=made.made)))
    commands = {ev.provenance.command for ev in comparison.evaluations if ev.predictions is not None}
    return origin("Where the numbers come from", facts, commands.pop() if len(commands) == 1 else "")


def _run_facts(ev: Evaluation) -> Sentence:
    p = ev.provenance
    parts = (
        say("{rows} rows", rows=count(ev.rows)),
        tell(ev, "`{source}`", source=p.source or None),
        tell(ev, "run `{run}`", run=p.run_id[:8] or None),
        tell(ev, "sha256 `{digest}`", digest=p.sha256[:12] or None),
        tell(ev, "truth `{digest}`", digest=ev.truth_digest[:12] or None),
        tell(ev, "threshold {threshold:threshold}", threshold=one_threshold(ev)),
    )
    return listed([part for part in parts if part], ",")

"""Whether the runs were scored on the same examples, and where each comes from."""

from __future__ import annotations

from evalreport.comparison.values import Comparison
from evalreport.evaluation.model import Evaluation
from evalreport.format import count
from evalreport.panels.about import one_threshold
from evalreport.panels.comparison.words import matching
from evalreport.panels.parts import Facts, Section
from evalreport.panels.provenance import origin
from evalreport.panels.words import Sentence, listed, say


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
    facts = [(name, _facts(ev)) for name, ev in zip(comparison.names, comparison.evaluations, strict=True)]
    made = comparison.evaluations[0].provenance
    if made.made:
        facts.append(("Made", say("{made}", made=made.made)))
    commands = {ev.provenance.command for ev in comparison.evaluations if ev.predictions is not None}
    return origin("Where the numbers come from", facts, commands.pop() if len(commands) == 1 else "")


def _facts(ev: Evaluation) -> Sentence:
    p = ev.provenance
    parts = [say("{rows} rows", rows=count(ev.rows))]
    if p.source:
        parts.append(say("`{source}`", source=p.source))
    if p.run_id:
        parts.append(say("run `{run}`", run=p.run_id[:8]))
    if p.sha256:
        parts.append(say("sha256 `{digest}`", digest=p.sha256[:12]))
    if ev.truth_digest:
        parts.append(say("truth `{digest}`", digest=ev.truth_digest[:12]))
    cut = one_threshold(ev)
    if cut is not None:
        parts.append(say("threshold {threshold:threshold}", threshold=cut))
    return listed(parts, ",")

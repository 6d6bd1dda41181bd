"""Where the numbers come from: enough to repeat or to doubt them."""

from __future__ import annotations

from collections.abc import Iterable

from evalreport.evaluation.model import Evaluation
from evalreport.format import count
from evalreport.format import threshold as threshold_text
from evalreport.labels import Binary
from evalreport.panels.about import one_threshold, tell
from evalreport.panels.parts import Command, Facts, Heading, Section
from evalreport.panels.words import Sentence, dotted, joined, listed, say

ORIGINS = {
    "default": "the default, not a choice",
    "given": "given",
    "tuned": "chosen on other rows",
    "cross-fitted": "cross-fitted on these rows",
    "predictions": "the logged predictions agree with it",
}


def panel(ev: Evaluation) -> Section:
    """Return the origin of an evaluation."""
    return origin("Where the numbers come from", _facts(ev), ev.provenance.command)


def origin(title: str, facts: Iterable[tuple[str, Sentence]], command: str) -> Section:
    """Return names and values, empty ones left out, and the command that makes the page again."""
    again = (Heading("Make this report again"), Command(command)) if command else ()
    summary = say("Enough to repeat or to doubt them.")
    told = Facts(tuple((name, value) for name, value in facts if value))
    return Section.of("provenance", "Provenance", title, summary, told, *again)


def _facts(ev: Evaluation) -> list[tuple[str, Sentence]]:
    p = ev.provenance
    known = {name: value for name in KEPT if (value := str(getattr(p, name)))}
    run, experiment = tell(ev, "`{run_id}`", known), tell(ev, "in experiment “{experiment}”", known)
    rows, digest = say("{rows:count} {rows:row|rows}", rows=ev.rows), tell(ev, ", sha256 `{sha256}`", known)
    made = tell(ev, "{made}", made=in_utc(p.made) or None)
    clustered, clusters = "{clusters} of {rows} rows; intervals are by cluster", ev.clusters
    counted = {"rows": count(ev.rows), "clusters": None if clusters is None else count(clusters)}
    whole = "truth and ids of the {units}, sha256 `{digest}`"
    return [
        ("MLflow run", run + experiment),
        ("Data set", say("{dataset}", dataset=p.dataset)),
        ("Predictions", tell(ev, "`{source}`,", known) + joined(rows, digest)),
        ("Columns", listed([say("{role} `{name}`", role=role, name=name) for role, name in p.columns])),
        ("Positive class", _positive(ev)),
        ("Threshold", _threshold(ev)),
        ("Parser", tell(ev, "`{parser}`", known)),
        ("Weights", say("each row counts by its weight" if ev.weighted else "")),
        ("Clusters", tell(ev, clustered, counted)),
        ("Rows", tell(ev, whole, digest=ev.truth_digest or None)),
        ("Model", tell(ev, "`{model}`", known)),
        ("Notes", dotted([say("{note}", note=note) for note in ev.remarks])),
        ("Example texts", _texts(ev)),
        ("Software", listed([say("{name} {version}", name=a, version=b) for a, b in p.software])),
        ("Made", made + tell(ev, "from commit `{commit}`", known)),
        ("Tracking server", tell(ev, "`{tracking}`", known)),
    ]


KEPT = ("run_id", "experiment", "source", "sha256", "parser", "model", "commit", "tracking")
"""What a provenance may hold, told where it does."""


def _positive(ev: Evaluation) -> Sentence:
    if not isinstance(ev.space, Binary):
        return Sentence()
    raw = {name: label for label, name in ev.provenance.label_names}
    shown = [f"“{name}”" + (f" ({raw[name]} in the data)" if name in raw else "") for name in ev.space.names]
    return say("{positive}, against {negative}", positive=shown[1], negative=shown[0])


def _threshold(ev: Evaluation) -> Sentence:
    if ev.threshold is None:
        return Sentence()
    now = one_threshold(ev)
    if now is None:
        return say("one per label: {origin}", origin=ORIGINS[ev.threshold.origin])
    return say("{threshold}: " + ORIGINS[ev.threshold.origin], threshold=threshold_text(now))


def _texts(ev: Evaluation) -> Sentence:
    inside = any(entry.text or entry.answer for entry in ev.mistakes) or any(
        texts for _, _, texts in ev.pair_texts
    )
    return say("this page holds texts of examples") if inside else say("none are in this page")


def in_utc(made: str) -> str:
    """Return an ISO 8601 time in UTC as people write it; other text as it stands.

    Examples
    --------
    >>> in_utc("2026-11-21T15:40:00Z"), in_utc("2026-11-21 15:40 UTC")
    ('2026-11-21 15:40:00 UTC', '2026-11-21 15:40 UTC')
    """
    return made.removesuffix("Z").replace("T", " ", 1) + " UTC" if made.endswith("Z") else made

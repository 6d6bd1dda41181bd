"""Where the numbers come from: enough to repeat or to doubt them."""

from __future__ import annotations

from collections.abc import Iterable

from evalreport.evaluation.model import Evaluation
from evalreport.format import count
from evalreport.format import threshold as threshold_text
from evalreport.labels import Binary
from evalreport.panels.about import one_threshold, units
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
    return [
        ("MLflow run", _run(ev)),
        ("Data set", say("{dataset}", dataset=p.dataset)),
        ("Predictions", _predictions(ev)),
        (
            "Columns",
            listed([say("{role} `{column}`", role=role, column=column) for role, column in p.columns]),
        ),
        ("Positive class", _positive(ev)),
        ("Threshold", _threshold(ev)),
        ("Parser", say("`{parser}`", parser=p.parser) if p.parser else say("")),
        ("Weights", say("each row counts by its weight") if ev.weighted else say("")),
        ("Clusters", _clusters(ev)),
        ("Rows", _rows(ev)),
        ("Model", say("`{model}`", model=p.model) if p.model else say("")),
        ("Notes", dotted([say("{note}", note=note) for note in ev.remarks])),
        ("Example texts", _texts(ev)),
        ("Software", listed([say("{name} {version}", name=a, version=b) for a, b in p.software])),
        ("Made", _made(ev)),
        ("Tracking server", say("`{tracking}`", tracking=p.tracking) if p.tracking else say("")),
    ]


def _run(ev: Evaluation) -> Sentence:
    p = ev.provenance
    if not p.run_id and not p.experiment:
        return Sentence()
    where = say("in experiment “{experiment}”", experiment=p.experiment) if p.experiment else Sentence()
    return (say("`{run_id}`", run_id=p.run_id) if p.run_id else Sentence()) + where


def _predictions(ev: Evaluation) -> Sentence:
    p = ev.provenance
    source = say("`{source}`,", source=p.source) if p.source else Sentence()
    digest = say(", sha256 `{sha}`", sha=p.sha256) if p.sha256 else Sentence()
    rows = say("{rows:count} " + ("row" if ev.rows == 1 else "rows"), rows=ev.rows)
    return source + joined(rows, digest)


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


def _clusters(ev: Evaluation) -> Sentence:
    if ev.clusters is None:
        return Sentence()
    words = "{clusters} of {rows} rows; intervals are by cluster"
    return say(words, clusters=count(ev.clusters), rows=count(ev.rows))


def _rows(ev: Evaluation) -> Sentence:
    if not ev.truth_digest:
        return Sentence()
    return say("truth and ids of the {units}, sha256 `{digest}`", units=units(ev), digest=ev.truth_digest)


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


def _made(ev: Evaluation) -> Sentence:
    p = ev.provenance
    made = say("{made}", made=in_utc(p.made)) if p.made else Sentence()
    return made + (say("from commit `{commit}`", commit=p.commit) if p.commit else Sentence())

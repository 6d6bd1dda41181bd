"""The end of the page: all metrics and which to use, what the authors add, missing parts, provenance.

Text of the authors is parsed as CommonMark with tables, and only its shape is kept: headings, paragraphs,
lists, quotes, tables, code, emphasis, and links to other pages. The page's template places the pieces, escaped
as all else; HTML is shown as text, and images, which would be fetched, as their alternative text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, assert_never
from urllib.parse import urlsplit

from evalreport.core.format import Style, count
from evalreport.core.format import threshold as threshold_text
from evalreport.core.result import Estimate, Result, Undefined, format_estimate, format_reference, interval
from evalreport.core.sentences import (
    NOTHING,
    Sentence,
    join_as_list,
    join_sentences,
    join_with_dots,
    say,
    with_options,
)
from evalreport.data.labels import Binary, Multiclass, Multilabel
from evalreport.evaluation.evaluation import Evaluation
from evalreport.findings.chance import margins
from evalreport.findings.rule import in_words, value
from evalreport.findings.score_quality import clip_note
from evalreport.metrics.catalogue import catalogue, find
from evalreport.metrics.own import is_own
from evalreport.metrics.record import Metric
from evalreport.page.elements import Cell, Column, Command, Facts, Folded, Note, Row, Section, Table
from evalreport.page.evaluation_terms import confidence_percent, is_text, one_threshold, tell

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode


RARE = 0.2
"""Share below which a class of two counts as rare."""
UNEQUAL = 3
"""Ratio of the most to the least frequent class from which on classes count as unequal."""
MANY = 5
"""Minimum number of classes for top-3 accuracy."""


@dataclass(frozen=True)
class Advice:
    """One piece of the guide.

    Parameters
    ----------
    question : str
        What holds, or may be asked for, here.
    metrics : tuple of str
        The metrics that answer, the best first; all of them have a value here.
    reason : str
        Why these.
    """

    question: str
    metrics: tuple[str, ...]
    reason: str


def guide(ev: Evaluation) -> tuple[Advice, ...]:
    """Return which metrics answer which question for this evaluation.

    The questions are the ones that decide: are the classes balanced, is the threshold known, do the
    mistakes cost the same, is the probability itself used?

    Examples
    --------
    >>> from evalreport.evaluation.evaluate import evaluate_predictions
    >>> from evalreport.data.predictions import predictions
    >>> ev = evaluate_predictions(predictions(Multiclass(["a", "b", "c"]), ["a", "b", "c"], ["a", "b", "b"]))
    >>> guide(ev)[0].metrics
    ('accuracy', 'f1_macro')
    """
    match ev.space:
        case Binary():
            advice = (*_balance(ev), *_threshold_advice(ev), *_costs(ev))
        case Multiclass():
            advice = tuple(_multiclass(ev, ev.space))
        case Multilabel():
            advice = tuple(_multilabel(ev))
        case never:
            assert_never(never)
    valued = {name for name, result in ev.metrics.items() if isinstance(result, Estimate)}
    known = [replace(one, metrics=tuple(m for m in one.metrics if m in valued)) for one in advice]
    return tuple(one for one in known if one.metrics)


def _is_probability(ev: Evaluation) -> bool:
    return ev.score_kind in ("probability", "logit")


def _balance(ev: Evaluation) -> Iterator[Advice]:
    share = value(ev, "prevalence")
    if share is None:
        return
    if share in (0, 1):
        return  # nothing to weigh against each other
    if RARE <= share <= 1 - RARE:
        yield Advice(
            "The classes are balanced",
            ("accuracy", "f1", "mcc"),
            "With balanced classes, accuracy is not misleading.",
        )
        return
    metrics = ("recall", "precision", "average_precision") if share < RARE else ("specificity", "npv")
    yield Advice(
        "The classes are imbalanced",
        (*metrics, "mcc"),
        "One class is rare: accuracy mostly measures the frequent class; these metrics do not.",
    )


def _threshold_advice(ev: Evaluation) -> Iterator[Advice]:
    if ev.score_kind is None or (ev.threshold is not None and ev.threshold.origin in ("given", "tuned")):
        yield Advice(
            "The threshold is fixed",
            ("recall", "precision", "specificity"),
            "The decisions are evaluated at this threshold.",
        )
        return
    rare = (value(ev, "prevalence") or 0.0) < RARE
    yield Advice(
        "No threshold is chosen yet",
        ("average_precision", "roc_auc") if rare else ("roc_auc", "average_precision"),
        "The ranking is evaluated over all thresholds"
        + ("; with few positives ROC AUC looks good despite many false positives." if rare else "."),
    )


def _costs(ev: Evaluation) -> Iterator[Advice]:
    if _is_probability(ev):
        yield Advice(
            "Misses and false positives have different costs",
            ("net_benefit",),
            "It weighs false positives by the odds of the threshold.",
        )
        yield Advice(
            "You use the probabilities themselves",
            ("brier", "log_loss", "calibration_slope"),
            "Wrong probabilities are penalized, even if the decision is right.",
        )
    else:
        yield Advice(
            "Misses and false positives have different costs",
            ("recall", "specificity"),
            "Each measures one kind of mistake.",
        )


def _multiclass(ev: Evaluation, space: Multiclass) -> Iterator[Advice]:
    support = [margin.support for margin in margins(ev) if margin.support > 0]
    if support and max(support) <= UNEQUAL * min(support):
        yield Advice(
            "The classes are balanced",
            ("accuracy", "f1_macro"),
            "They are about equal here, unless some classes are never predicted.",
        )
    else:
        yield Advice(
            "The classes are imbalanced",
            ("f1_macro", "balanced_accuracy", "mcc"),
            "Frequent classes dominate accuracy and micro F1; these count every class, or correct for chance.",
        )
    if space.ordered:
        yield Advice(
            "The classes are ordered",
            ("cohen_kappa_quadratic",),
            "An error of two steps counts four times as much as an error of one.",
        )
    if ev.parsing is not None:
        yield Advice(
            "The labels are parsed from text",
            ("accuracy", "parse_rate"),
            "Unparsed responses count as wrong in accuracy; accuracy of parsed responses ignores them.",
        )
    if len(space) >= MANY:
        yield Advice(
            "You show several predictions",
            ("top_3_accuracy",),
            "It counts a row as correct if the true label is among the top three.",
        )
    if _is_probability(ev):
        yield Advice(
            "A person decides uncertain cases",
            ("ece", "log_loss"),
            "A confidence threshold works only if the confidence is calibrated.",
        )


def _multilabel(ev: Evaluation) -> Iterator[Advice]:
    yield Advice(
        "Every label of a row must be right",
        ("subset_accuracy",),
        "One wrong label makes the whole row wrong.",
    )
    yield Advice(
        "Each label decision counts the same",
        ("f1_micro", "precision_micro", "recall_micro"),
        "Frequent labels weigh more. Label accuracy is high even if no label is ever predicted.",
    )
    yield Advice("Every label counts the same", ("f1_macro",), "Rare labels weigh as much as frequent ones.")
    if ev.score_kind is not None:
        yield Advice(
            "No thresholds are chosen yet",
            ("average_precision_macro", "average_precision_samples"),
            "The ranking is evaluated: of the rows for each label, of the labels for each row.",
        )


@dataclass(frozen=True)
class Missing:
    """A part that is not on the page: what it is with the reason, and how the author adds it."""

    what: str
    action: str


def find_missing(ev: Evaluation) -> tuple[Missing, ...]:
    """Return the parts that this evaluation does not have."""
    return tuple(_missing(ev))


def _missing(ev: Evaluation) -> Iterator[Missing]:
    if not ev.slices:
        yield Missing("metrics by group (no group column)", "Name a group column: --slice language.")
    selective = ["selective prediction"] if isinstance(ev.space, Multiclass) else []
    if ev.score_kind is None and ev.task != "graded":
        parts = [*([] if ev.parsing else ["ROC", "calibration"]), *selective]
        if parts:
            yield Missing(f"{in_words(parts)} (no scores)", "Log one probability for each row.")
    if ev.score_kind == "decision" and ev.task != "graded":
        calibrated = in_words(["calibration", *selective])
        yield Missing(
            f"{calibrated} (scores are not probabilities)", "Declare logits: --set score_kind=logit."
        )
    streamed = "engine" in dict(ev.provenance.columns)  # a stream refuses texts
    if ev.mistakes and not streamed and all(one.text is None for one in ev.mistakes):
        yield Missing("texts of the errors (no text column)", "Name a text column: --set show_text=COLUMN.")


OFTEN = 3
"""Number of metrics from which a shared reason is shown once above the table, with a mark at each."""
MARKS = "*†‡§"


def metrics_section(ev: Evaluation) -> Section:
    """Return the guide and every metric of the evaluation."""
    known = {metric.name: metric for metric in catalogue(ev.space, text=is_text(ev))}
    known |= {name: find(name) for name in ev.metrics if "@" in name or is_own(name)}
    tips = tuple((advice.question, _tip(known, advice)) for advice in guide(ev))
    guided = (Folded("Which metric to use", (Facts(tips),)),) if tips else ()
    undefined = sum(isinstance(result, Undefined) for result in ev.metrics.values())
    rest = ", {undefined:count} of them undefined." if undefined else "."
    summary = tell(
        ev, "{metrics:count} {metrics:metric|metrics}" + rest, metrics=len(ev.metrics), undefined=undefined
    )
    shared = _shared_reason_marks(ev)
    notes = (Note(say("{mark} {reason}.", mark=mark, reason=reason)) for reason, mark in shared.items())
    every = Folded("Table of all metrics", (*notes, _table(ev, known, shared)))
    return Section.from_parts("metrics", "All metrics", "All metrics", summary, *guided, every)


def _tip(known: Mapping[str, Metric], advice: Advice) -> Sentence:
    """Which metrics answer the question, and why."""
    named = [say("*{title}*", title=known[name].title if name in known else name) for name in advice.metrics]
    return say("{metrics}.", metrics=join_as_list(named)) + with_options(advice.reason)


def _shared_reason_marks(ev: Evaluation) -> dict[str, str]:
    """The mark of each reason for several undefined metrics, which is shown once."""
    times = Counter(result.reason for result in ev.metrics.values() if isinstance(result, Undefined))
    often = (reason for reason, number in times.items() if number >= OFTEN)
    return dict(zip(often, MARKS, strict=False))


def _table(ev: Evaluation, known: Mapping[str, Metric], shared: Mapping[str, str]) -> Table:
    rows = (_row(ev, name, result, known.get(name), shared) for name, result in ev.metrics.items())
    level = f"{confidence_percent(ev)} interval"
    reference = ("No skill",) if ev.no_skill else ()
    heads = ("Metric", "Estimate", level, *reference, Column("Note", "text"))
    return Table.from_rows("metrics-table", "Every metric", heads, rows, tall=True)


def _row(ev: Evaluation, name: str, result: Result, metric: Metric | None, shared: Mapping[str, str]) -> Row:
    style: Style = "number" if metric is None else metric.style
    level = ev.no_skill.get(name)
    shown = "–" if level is None else format_reference(level, result, style)
    title = name if metric is None else metric.title
    reason = result.reason if isinstance(result, Undefined) else ""
    mark = f" {shared[reason]}" if reason in shared else ""
    return (
        Cell(title, sub=name),
        _value(result, metric, style) + mark,
        Cell(interval(result, style), sub=ev.off_coverage.get(name, "")),
        *((shown,) if ev.no_skill else ()),
        clip_note(ev, name) if not reason else "" if mark else reason,
    )


def _value(result: Result, metric: Metric | None, style: Style) -> str:
    if isinstance(result, Undefined):
        return "undefined"
    if metric is not None and metric.interval == "none" and float(result.value).is_integer():
        return count(result.value)
    return format_estimate(result, style)


LINE_ENDS = {"softbreak": " ", "hardbreak": "\n"}
"""Ends of lines in a paragraph."""
PLACED = {
    "paragraph": "p",
    "blockquote": "blockquote",
    "bullet_list": "ul",
    "ordered_list": "ol",
    "list_item": "li",
    "strong": "strong",
    "em": "em",
    "s": "s",
    "table": "table",
    "thead": "thead",
    "tbody": "tbody",
    "tr": "tr",
    "th": "th",
    "td": "td",
    "code_inline": "code",
    "code_block": "pre",
    "fence": "pre",
    "hr": "hr",
}
"""Elements that a note may hold, by the parser's name; of all else the words stand alone."""
LINKS = ("http", "https", "mailto")


@dataclass(frozen=True)
class NotePiece:
    """A piece of a note: an element with its pieces, or text where there is no element.

    Parameters
    ----------
    tag : str
    text : str
    inner : tuple of NotePiece
    href : str
        Of a link.
    """

    tag: str
    text: str = ""
    inner: tuple[NotePiece, ...] = ()
    href: str = ""


def with_notes(made: Sequence[Section], text: str) -> tuple[Section, ...]:
    """Return the sections of a page with the notes before the origin of the numbers."""
    if not text.strip():
        return tuple(made)
    note = Section("notes", "Notes", "Intended use, limits, approval", "notes", NOTHING, nodes(text))
    places = [place for place, section in enumerate(made) if section.id == "provenance"]
    place = places[0] if places else len(made)
    return (*made[:place], note, *made[place:])


def nodes(text: str) -> tuple[NotePiece, ...]:
    """Return the pieces of a Markdown text.

    Examples
    --------
    >>> [(node.tag, [inner.tag for inner in node.inner]) for node in nodes("# For *triage* <b>")]
    [('h3', ['', 'em', ''])]
    """
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

    reader = MarkdownIt("commonmark", {"html": False}).enable("table").enable("strikethrough")
    return tuple(_child_pieces(SyntaxTreeNode(reader.parse(text))))


def _child_pieces(parent: SyntaxTreeNode) -> Iterator[NotePiece]:
    for node in parent.children:
        yield from _node(node)


def _node(node: SyntaxTreeNode) -> Iterator[NotePiece]:
    if node.type in LINE_ENDS or node.type == "text":
        yield NotePiece("", LINE_ENDS.get(node.type, node.content))
    elif node.type == "heading":
        yield NotePiece("h3" if node.tag in ("h1", "h2") else "h4", inner=tuple(_child_pieces(node)))
    elif node.type == "link" and urlsplit(href := str(node.attrs.get("href", ""))).scheme in LINKS:
        yield NotePiece("a", inner=tuple(_child_pieces(node)), href=href)
    elif node.type == "image":
        yield NotePiece("", node.content)
    elif node.type in PLACED:
        yield NotePiece(
            PLACED[node.type], node.content, () if node.is_nested is False else tuple(_child_pieces(node))
        )
    else:
        yield from _child_pieces(node)


ORIGINS = {
    "default": "the default, not a choice",
    "given": "given",
    "tuned": "chosen on held-out rows",
    "cross-fitted": "cross-fitted on these rows",
    "predictions": "derived from the logged predictions",
}


def provenance_section(ev: Evaluation, replaced: Mapping[str, Sentence] | None = None) -> Section:
    """Return the origin of an evaluation, with the values of some entries replaced."""
    facts = ((name, (replaced or {}).get(name, value)) for name, value in _facts(ev))
    section = origin("Provenance", facts, first=FIRST)
    missing = find_missing(ev)
    if not missing:
        return section
    words = say("Not on this page: {missing}.", missing=join_as_list([say(one.what) for one in missing]))
    return replace(section, body=(*section.body, Note(words)))


def origin(
    title: str, facts: Iterable[tuple[str, Sentence]], command: str = "", first: Sequence[str] = ()
) -> Section:
    """Return names and values without empty ones; with `first`, the others are folded."""
    known = [(name, value) for name, value in facts if value]
    shown = tuple((name, value) for name, value in known if not first or name in first)
    rest = tuple((name, value) for name, value in known if first and name not in first)
    details = Folded("Details", (Facts(rest),)) if rest else None
    again = Folded("Make this report again", (Command(command),)) if command else None
    return Section.from_parts("provenance", "Provenance", title, NOTHING, Facts(shown), details, again)


FIRST = ("MLflow run", "Data set", "Positive class", "Threshold", "Made")
"""Entries that are not folded."""


def _facts(ev: Evaluation) -> list[tuple[str, Sentence]]:
    p = ev.provenance
    known = {name: value for name in KEPT if (value := str(getattr(p, name)))}
    if "sha256" in known:
        known["sha256"] = known["sha256"][:DIGEST]
    run, experiment = tell(ev, "`{run_id}`", known), tell(ev, "in experiment “{experiment}”", known)
    rows, digest = say("{rows:count} {rows:row|rows}", rows=ev.rows), tell(ev, ", sha256 `{sha256}`", known)
    made = tell(ev, "{made}", made=in_utc(p.made) or None)
    clustered, clusters = "{clusters} of {rows} rows; intervals are by cluster", ev.clusters
    counted = {"rows": count(ev.rows), "clusters": None if clusters is None else count(clusters)}
    whole = "true labels and ids, sha256 `{digest}`"
    return [
        ("MLflow run", run + experiment),
        ("Data set", say("{dataset}", dataset=p.dataset)),
        ("Predictions", tell(ev, "`{source}`,", known) + join_sentences(rows, digest)),
        ("Columns", join_as_list([say("{role} `{name}`", role=role, name=name) for role, name in p.columns])),
        ("Positive class", _positive(ev)),
        ("Threshold", _threshold(ev)),
        ("Parser", tell(ev, "`{parser}`", known)),
        ("Weights", say("each row counts by its weight" if ev.weighted else "")),
        ("Clusters", tell(ev, clustered, counted)),
        ("Rows", tell(ev, whole, digest=ev.label_digest[:DIGEST] or None)),
        ("Model", tell(ev, "`{model}`", known)),
        (
            "Notes",
            join_with_dots([say("{note}", note=note) for note in map(_without_options, ev.remarks) if note]),
        ),
        ("Example texts", _texts(ev)),
        ("Software", join_as_list([say("{name} {version}", name=a, version=b) for a, b in p.software])),
        ("Made", made + tell(ev, "from commit `{commit}`", known)),
        ("Tracking server", tell(ev, "`{tracking}`", known)),
    ]


DIGEST = 12
"""Characters of a digest that are shown; the JSON has all."""
KEPT = ("run_id", "experiment", "source", "sha256", "parser", "model", "commit", "tracking")
"""What a provenance may contain, shown where it does."""


def _without_options(note: str) -> str:
    """The clauses of a note that name no option of the command line, which is for the author."""
    return "; ".join(clause for clause in note.split("; ") if "--" not in clause)


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
    inside = any(entry.text or entry.response for entry in ev.mistakes) or any(
        texts for _, _, texts in ev.pair_texts
    )
    return say("this page contains example texts") if inside else say("not on this page")


def in_utc(made: str) -> str:
    """Return an ISO 8601 time in UTC in readable form; other text unchanged.

    Examples
    --------
    >>> in_utc("2026-11-21T15:40:00Z"), in_utc("2026-11-21 15:40 UTC")
    ('2026-11-21 15:40:00 UTC', '2026-11-21 15:40 UTC')
    """
    return made.removesuffix("Z").replace("T", " ", 1) + " UTC" if made.endswith("Z") else made

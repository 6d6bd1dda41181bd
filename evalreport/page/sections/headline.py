"""The headline: one sentence of counts, the failing half in the colour of errors; and the headline metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from evalreport.core.format import Style, brief, count, format_date
from evalreport.core.result import Estimate, Finding, Result
from evalreport.core.sentences import (
    NOTHING,
    Sentence,
    quote_name,
    reference_sentence,
    say,
    truncate_name,
    with_options,
)
from evalreport.data.labels import Binary, Multiclass, Multilabel
from evalreport.evaluation.evaluation import Evaluation
from evalreport.evaluation.parts import ClassResult
from evalreport.findings.chance import Skill, by_order, decision_skill, ranking_skill
from evalreport.findings.confusions import kinship
from evalreport.findings.skill import REVERSED
from evalreport.metrics.catalogue import OF_ORDER, find
from evalreport.page.elements import Forest, ForestRow, forest_row
from evalreport.page.evaluation_terms import (
    SMALL_TABLE,
    confidence_percent,
    estimate,
    four_counts,
    is_text,
    majority,
    metric,
    mistakes,
    tell,
    units,
    unparsed_weight,
)
from evalreport.statistics.confusion import BinaryCounts

SMALL = 1000
"""Rows below which counts stand in place of percentages."""
POOR = 0.2
"""Recall below which a class is named in the headline."""
MANY = 0.25
"""Minimum proportion of mistakes inside families for the families to be in the headline."""


def headline(ev: Evaluation) -> Sentence:
    """Return the verdict in one sentence, with counts of whole rows."""
    if ev.own_headline is not None:
        return ev.own_headline
    ev = ev.in_rows()
    if mistakes(ev) == 0 and not _one_sided(ev):
        return tell(ev, "No mistakes in {n:count} {n:units}.", n=ev.rows)
    skill = ranking_skill(ev) if mistakes(ev) is None else decision_skill(ev)
    if skill is not None and skill != "significant":
        return _no_better(ev, skill)
    match ev.space:
        case Binary():
            return _text(ev) if is_text(ev) else _binary(ev)
        case Multiclass():
            return _text(ev) if is_text(ev) else _multiclass(ev)
        case Multilabel():
            return _multilabel(ev)


def _one_sided(ev: Evaluation) -> bool:
    counts = four_counts(ev)
    return counts is not None and (counts.positives == 0 or counts.negatives == 0)


LACKING: Mapping[Skill, str] = {
    "none": "_No better than {rival}:_",
    "barely": "_Barely better than {rival}:_",
    "not_significant": "_Not significantly better than {rival}:_",
    "reversed": "_Worse than {rival}:_",
}
"""The first words about a model without significant skill."""


def _no_better(ev: Evaluation, skill: Skill) -> Sentence:
    match ev.space:
        case Binary():
            return _binary_no_better(ev, skill)
        case Multiclass():
            return _multiclass_no_better(ev, skill)
        case Multilabel():
            f1 = estimate(ev, "f1_micro")
            if f1 is None:
                return say(LACKING[skill], rival="chance") + _multilabel(ev)
            level = reference_sentence("level", ev.no_skill["f1_micro"], f1, "ratio")
            words = "micro F1 {f1_micro:ratio} against {level}."
            return say(LACKING[skill], rival="assigning labels at random") + tell(ev, words, level=level)


def _binary_no_better(ev: Evaluation, skill: Skill) -> Sentence:
    counts = four_counts(ev)
    if counts is None:
        words = "it ranks {positives} above {negatives} {auc:percent} of the time."
        auc = estimate(ev, "roc_auc")
        return say(LACKING[skill], rival="chance") + tell(ev, words, auc=0.5 if auc is None else auc)
    always = ev.space.names[0] if counts.negatives >= counts.positives else ev.space.names[1]
    words = "it finds {tp:count} of {p:count} {p:positives} and flags {fp:count} of {n:count} {n:negatives}."
    return say(LACKING[skill], rival=_constant_prediction_sentence(always)) + _outcome_counts_sentence(
        ev, words, counts
    )


def _outcome_counts_sentence(ev: Evaluation, words: str, counts: BinaryCounts) -> Sentence:
    """Say with these words how many of the {p} positives and {n} negatives are right or wrong."""
    four = {"tp": counts.tp, "fn": counts.fn, "fp": counts.fp}
    return tell(ev, words, p=counts.positives, n=counts.negatives, **four)


def _constant_prediction_sentence(label: str) -> Sentence:
    return say("_always predicting {label:quoted}_", label=label)


AGAINST_ORDER: Mapping[Skill, str] = {
    "none": "_No better than chance:_",
    "not_significant": "_Not significantly better than chance:_",
    "reversed": "_The predictions contradict the order:_",
}
"""The first words about predictions that do not follow the order of the labels."""


def _ordered_no_better(ev: Evaluation, skill: Skill, kappa: Estimate) -> Sentence:
    lead = say("_The order is reversed:_" if kappa.value < REVERSED else AGAINST_ORDER[skill])
    words = "quadratic weighted kappa is {kappa:ratio} ({kappa:ratio interval})."
    return lead + tell(ev, words, kappa=kappa)


def _multiclass_no_better(ev: Evaluation, skill: Skill) -> Sentence:
    counts, kappa = ev.confusion, by_order(ev)
    if counts is None:
        return NOTHING
    if kappa is not None:
        return _ordered_no_better(ev, skill, kappa)
    right, most = float(counts.marginals.tp.sum()), float(counts.marginals.support.max())
    words = "right for {right:count} of {n:count} {n:units}, against {always:count}."
    accuracy = tell(ev, words, right=right, n=counts.total, always=most)
    return say(LACKING[skill], rival=_constant_prediction_sentence(majority(ev, counts))) + accuracy


def _binary(ev: Evaluation) -> Sentence:
    counts = four_counts(ev)
    if counts is None:
        words = "Ranks {positives} above {negatives} {auc:percent} of the time; _no threshold was given_, so "
        one = "All {n:count} {n:units} are of one class, and _no threshold was given_: there is nothing to evaluate."
        ranks = tell(ev, words + "it decides nothing.", auc=estimate(ev, "roc_auc"))
        return ranks or tell(ev, one, n=ev.rows)
    return recall_sentence(ev, counts) + flagged_sentence(ev, counts)


def recall_sentence(ev: Evaluation, counts: BinaryCounts) -> Sentence:
    """Return the first half of a binary headline: positives found and missed."""
    if counts.positives == 0:
        return tell(ev, "_No {positive} occurs_, so recall cannot be measured;")
    if counts.fn == 0:
        every = "the only {positive};" if counts.positives == 1 else "all {p:count} {p:positives};"
        return _outcome_counts_sentence(ev, "Finds " + every, counts)
    return _outcome_counts_sentence(
        ev, "Finds {tp:count} of {p:count} {p:positives} and _misses {fn:count}_;", counts
    )


def flagged_sentence(ev: Evaluation, counts: BinaryCounts) -> Sentence:
    """Return the second half of a binary headline: negatives flagged."""
    if counts.negatives == 0:
        return tell(ev, "_no {negative} occurs_, so false positives cannot be measured.")
    if counts.fp == 0:
        return _outcome_counts_sentence(ev, "none of {n:count} {n:negatives} is flagged by mistake.", counts)
    words = "{fp:count} of {n:count} {n:negatives} {fp:is|are} flagged by mistake."
    return _outcome_counts_sentence(ev, words, counts)


def _multiclass(ev: Evaluation) -> Sentence:
    if ev.confusion is None:
        return NOTHING
    lead = right_for(ev)
    if by_order(ev) is not None:
        return lead + (_blind(ev) or _near_misses(ev))
    for rest in (_blind(ev), _poor(ev), _families(ev), _top_pair(ev)):
        if rest:
            return lead + rest
    return lead


def _near_misses(ev: Evaluation) -> Sentence:
    """How many mistakes on an order are but one step off."""
    counts, wrong = ev.confusion, mistakes(ev)
    if counts is None or not wrong:
        return NOTHING
    near = float(counts.weight[abs(counts.rows - counts.columns) == 1].sum())
    words = "{near:count} of {wrong:count} {wrong:mistake|mistakes} {near:is|are} one step off; "
    words += "quadratic weighted kappa {kappa:ratio}."
    return tell(ev, words, near=near, wrong=wrong, kappa=by_order(ev))


def right_for(ev: Evaluation) -> Sentence:
    """Return how many predictions are right: a count below 1,000 rows, else a percentage."""
    if ev.confusion is None:
        return NOTHING
    total, right = ev.confusion.total, float(ev.confusion.marginals.tp.sum())
    if total < SMALL:
        return tell(ev, "Right for {right:count} of {n:count} {n:units}.", right=right, n=total)
    return tell(
        ev, "Right for {share:percent} of {n:count} {n:units}.", of=ev.rows, share=right / total, n=total
    )


def never_predicted_classes(ev: Evaluation) -> list[ClassResult]:
    """Return classes that occur and are never predicted."""
    return [entry for entry in ev.classes if entry.state == "never_predicted"]


def _blind(ev: Evaluation) -> Sentence:
    blind = never_predicted_classes(ev)
    if not blind:
        return NOTHING
    if len(blind) == 1:
        words = "_It never predicts {label:quoted}_, although {support:count} {support:example has|examples have} that label."
        return say(words, label=str(blind[0].label), support=blind[0].support)
    return tell(ev, "_{blind:count} of {classes:count} classes are never predicted._", blind=len(blind))


def _poor(ev: Evaluation) -> Sentence:
    poor = [entry for entry in ev.classes if entry.support > 0 and entry.right / entry.support < POOR]
    if not poor:
        return NOTHING
    if len(poor) == 1:
        words = "_It finds only {found:count} of {one.support:count} {label:quoted}._"
        return say(words, {"one": poor[0]}, found=poor[0].right, label=str(poor[0].label))
    words = "_Of {poor:count} of {classes:count} classes it finds less than a fifth._"
    return tell(ev, words, poor=len(poor))


def _families(ev: Evaluation) -> Sentence:
    if len(ev.space) <= SMALL_TABLE or ev.confusion is None:
        return NOTHING
    kin, wrong = kinship(ev.confusion), mistakes(ev) or 1.0
    if kin.mistakes < MANY * wrong:
        off = ev.confusion.rows != ev.confusion.columns
        return say("Its mistakes are _spread over {pairs:count} pairs_ of classes.", pairs=int(off.sum()))
    return say(
        "_{inside:percent} of its mistakes_ are confusions within {families:count} small {families:group|groups} of similar classes.",
        inside=kin.mistakes / wrong,
        families=len(kin.families),
    )


def most_frequent_confusion(ev: Evaluation, words: str, named: Callable[[str], str] = quote_name) -> Sentence:
    """Return these words with the most frequent confusion: {pair} of {support} rows of {truth} predicted as {answer}."""
    counts = ev.confusion
    if counts is None or not len(counts.misread):
        return NOTHING
    cell = counts.misread[0]
    row = int(counts.rows[cell])
    return say(
        words,
        truth=named(ev.space.names[row]),
        answer=named(ev.space.names[int(counts.columns[cell])]),
        pair=float(counts.weight[cell]),
        support=float(counts.marginals.support[row]),
    )


def _top_pair(ev: Evaluation) -> Sentence:
    """The most frequent confusion, for few classes."""
    words = "Most often _{truth} is misclassified as {answer}_: {pair:count} of {support:count}."
    return most_frequent_confusion(ev, words, lambda name: quote_name(truncate_name(name, 20)))


def _text(ev: Evaluation) -> Sentence:
    """Right out of all, then what is unparsed; of two classes the positives first."""
    counts, lost = four_counts(ev), unparsed_weight(ev)
    lead = right_for(ev) if counts is None else _overlooks(ev, counts)
    if not lost:
        return lead + (_blind(ev) or say("Every response was parsed."))
    words = "_{unparsed:count} {unparsed:response|responses} could not be parsed_ and {unparsed:counts|count} as wrong."
    return lead + say(words, unparsed=lost)


def _overlooks(ev: Evaluation, counts: BinaryCounts) -> Sentence:
    words = "Misses _{fn:count} of {p:count}_" if counts.fn else "Finds all {p:count}"
    return _outcome_counts_sentence(ev, words + " {p:positives}.", counts)


def _multilabel(ev: Evaluation) -> Sentence:
    recall, precision = estimate(ev, "recall_micro"), estimate(ev, "precision_micro")
    if not ev.classes or recall is None:
        return say("_No decisions were logged_, so only the ranking of labels can be evaluated.")
    return _found_labels_sentence(ev, recall) + _added_labels_sentence(ev, precision)


def _found_labels_sentence(ev: Evaluation, recall: Estimate) -> Sentence:
    wanted = sum(entry.support for entry in ev.classes)
    if ev.rows < SMALL:
        hit = sum(entry.right for entry in ev.classes)
        return say(
            "Finds _{hit:count} of {wanted:count}_ true {wanted:label|labels};", wanted=wanted, hit=hit
        )
    return say("Finds _{recall:percent}_ of {wanted:count} true labels;", recall=recall.value, wanted=wanted)


def _added_labels_sentence(ev: Evaluation, precision: Estimate | None) -> Sentence:
    if precision is None:
        return say("it predicts no label at all.")
    if ev.rows < SMALL:
        added = sum(entry.predicted for entry in ev.classes)
        wrong = sum(entry.predicted - entry.right for entry in ev.classes)
        if added == 1:
            return say("its only predicted label is {wrong:wrong|right}.", wrong=wrong)
        return say("{wrong:count} of its {added:count} predicted labels are wrong.", wrong=wrong, added=added)
    return say("{false:percent} of its predicted labels are wrong.", false=1 - precision.value)


ROWS = 4
"""Most rows of the table."""
TOP = 8
"""Minimum number of classes for top-3 accuracy."""

Entry = tuple[str, str]
"""Name and gloss of a metric; its title and how it is shown are the catalogue's."""


def forest(ev: Evaluation) -> Forest:
    """Return the headline metrics with interval and no-skill value, as whole per cent or two decimals."""
    rows = [_row(ev, *entry) for entry in _entries(ev)[:ROWS]]
    return Forest(tuple(rows), heads=("Metric", "Estimate", f"{confidence_percent(ev)} interval", "No skill"))


def _row(ev: Evaluation, name: str, gloss: str) -> ForestRow:
    """A row whose interval is in its gloss."""
    result, known = metric(ev, name), find(name, ev.task)
    words = tell(ev, gloss, unparsed=unparsed_weight(ev), rows=ev.weight)
    row = forest_row(
        name, known.title.partition(" (")[0], words, result, known.style, reference=ev.no_skill.get(name)
    )
    return replace(brief_row(row, result, known.style), missed=ev.off_coverage.get(name, ""))


def brief_row(row: ForestRow, result: Result, style: Style) -> ForestRow:
    """Return a row with its numbers as whole per cent or two decimals."""
    if not isinstance(result, Estimate):
        return row
    low, high = ("" if end is None else brief(end, style) for end in (result.low, result.high))
    limits = f"{low.removesuffix('%')} to {high}" if low and high else ""
    return replace(row, estimate=brief(result.value, style), interval=limits)


def _entries(ev: Evaluation) -> tuple[Entry, ...]:
    match ev.space:
        case Binary():
            return _binary_entries(ev)
        case Multiclass():
            return _multiclass_entries(ev)
        case Multilabel():
            return _multilabel_entries(ev)


def _binary_entries(ev: Evaluation) -> tuple[Entry, ...]:
    recall: Entry = ("recall", "{positives} found")
    precision: Entry = ("precision", "predicted {positives} that are correct")
    f1: Entry = ("f1", "recall and precision combined")
    if ev.score_kind is None:
        text: Entry = _READ if is_text(ev) else ("specificity", "{negatives} not flagged")
        return recall, precision, text, f1
    ranking: tuple[Entry, ...] = (("roc_auc", "ranks {positives} above {negatives}"),)
    if ev.confusion is None:
        probability: Entry = ("brier", "probability error, lower is better")
        average: Entry = ("average_precision", "area under precision–recall")
        return (*ranking, average, *((probability,) if ev.score_kind != "decision" else ()))
    return (recall, precision, *ranking, f1)


_READ: Entry = ("parse_rate", "responses with exactly one label")


def _multiclass_entries(ev: Evaluation) -> tuple[Entry, ...]:
    glosses = (
        "agreement by distance in the order",
        "steps from the true label, lower is better",
        "error of the cumulative probabilities, lower is better",
    )
    order: tuple[Entry, ...] = ()
    if by_order(ev) is not None:
        known = zip(OF_ORDER, glosses, strict=True)
        order = tuple(entry for entry in known if isinstance(metric(ev, entry[0]), Estimate))
    text: tuple[Entry, ...] = ()
    if is_text(ev):
        text = (("accuracy_parsed", "correct among parsed responses"), _READ)
    top: tuple[Entry, ...] = ()
    if len(ev.space) >= TOP and isinstance(metric(ev, "top_3_accuracy"), Estimate):
        top = (("top_3_accuracy", "true label among the top three"),)
    return (
        *order,
        ("accuracy", "{units} classified correctly"),
        *text,
        *top,
        ("f1_macro", "every class counts the same"),
        ("balanced_accuracy", "mean recall over classes"),
        ("mcc", "agreement beyond chance"),
    )


def _multilabel_entries(ev: Evaluation) -> tuple[Entry, ...]:
    if not ev.classes:
        return (
            ("average_precision_macro", "ranks rows for each label"),
            ("roc_auc_macro", "ranks rows with a label above those without"),
            *((("average_precision_samples", "true labels ranked on top"),) if ev.score_kind else ()),
        )
    return (
        ("recall_micro", "true labels found"),
        ("precision_micro", "correct predicted labels"),
        ("f1_macro", "every label counts the same"),
        ("subset_accuracy", "{units} with every label correct"),
    )


MOST = 5
"""Warnings that are shown; the others are folded away."""
WORDS = {"error": "Warning.", "caution": "Caution.", "note": "Note."}


@dataclass(frozen=True)
class Warned:
    """A finding as the page shows it: its word, claim, what to do, and the section that shows more."""

    severity: str
    word: str
    claim: str
    action: Sentence
    section: str


def task_name(ev: Evaluation) -> str:
    """Return the kind of problem in words."""
    text = ", labels read from text" if is_text(ev) else ""
    match ev.space:
        case Binary():
            return f"Binary classification{text}"
        case Multiclass():
            return f"{count(len(ev.space))}-class classification{text}"
        case Multilabel():
            return f"Multilabel classification{text}"


def kicker(ev: Evaluation) -> tuple[str, ...]:
    """Return what follows task and run above the headline: data set, rows, date."""
    labels = f", {count(len(ev.space))} labels" if isinstance(ev.space, Multilabel) else ""
    known = ev.data_checks.get("effective_n")
    effective = "" if known is None else f" (effective {count(round(known))})"
    weighted = ", weighted" if ev.weighted else ""
    rows = f"{count(ev.rows)} {units(ev, ev.rows)}{labels}{weighted}{effective}"
    return tuple(filter(None, (ev.provenance.dataset, rows, format_day(ev.provenance.made))))


def format_day(made: str) -> str:
    """Return the day of an ISO 8601 time, "21 Nov 2026"; other text unchanged."""
    try:
        return format_date(datetime.fromisoformat(made[:10]), year=True)
    except ValueError:
        return made


def warn(finding: Finding) -> Warned:
    """Return a finding as the page shows it."""
    return Warned(
        finding.severity,
        WORDS[finding.severity],
        finding.claim,
        with_options(finding.action),
        finding.section,
    )

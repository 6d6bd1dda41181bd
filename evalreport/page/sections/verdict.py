"""The forest table of the first screen: which metrics, and what each is in plain words.

The summary: at most three sentences on what to do about it. No gain is claimed within the noise.

The first screen: what the model gets wrong, in counts of real things, and how sure that is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from evalreport.core.format import count, format_date, significant
from evalreport.core.result import Estimate, Finding
from evalreport.core.sentences import (
    NOTHING,
    Sentence,
    join_as_list,
    paragraph,
    reference_sentence,
    say,
    with_options,
)
from evalreport.data.labels import Binary, Multiclass, Multilabel
from evalreport.evaluation.evaluation import Evaluation
from evalreport.evaluation.parts import ClassResult
from evalreport.findings.chance import by_order, decision_skill, ranking_skill
from evalreport.findings.scores import (
    RecommendedThreshold,
    gains,
    recommend_threshold,
    unchosen,
    value_elsewhere,
)
from evalreport.metrics.catalogue import BALANCED, OF_ORDER, find
from evalreport.metrics.record import Better
from evalreport.page.elements import Forest, ForestRow, Section, forest_row, magnify_axis
from evalreport.page.evaluation_terms import (
    SMALL_TABLE,
    bounds_of_none,
    complement,
    confidence_percent,
    estimate,
    four_counts,
    is_text,
    metric,
    mistakes,
    one_threshold,
    tell,
    units,
    unread,
)
from evalreport.page.sections.headline import (
    headline,
    most_frequent_mix_up,
    never_predicted_classes,
    right_for,
)
from evalreport.thresholds.best_threshold import Optimum

ROWS = 7
"""Most rows of the table."""
AXIS = 1000
"""Units of the axis of a row."""
TOP = 8
"""Classes from which on the right answer among the top three says something."""

Entry = tuple[str, str]
"""Name and gloss of a metric; its title and how it is shown are the catalogue's."""


def forest(ev: Evaluation) -> Forest:
    """Return the headline metrics with interval and no-skill value."""
    rows = [_row(ev, *entry) for entry in _entries(ev)[:ROWS]]
    heads = ("Metric", "Estimate", f"{confidence_percent(ev)} interval", "No-skill")
    return magnify_axis(Forest(tuple(rows), heads=heads))


def _row(ev: Evaluation, name: str, gloss: str) -> ForestRow:
    words = tell(ev, gloss, unread=unread(ev), rows=ev.weight)
    result, known = metric(ev, name), find(name, ev.task)
    row = forest_row(name, known.title, words, result, known.style, reference=ev.no_skill.get(name))
    return replace(row, missed=ev.off_coverage.get(name, ""), chance_level=_lucky(known.better, row.zero))


def _lucky(better: Better, no_skill: float | None) -> tuple[float, float] | None:
    """The part of the axis that a model which knows nothing reaches, too."""
    match better:
        case "higher" if no_skill:
            return 0, no_skill
        case "lower" if no_skill is not None:
            return no_skill, AXIS
        case _:
            return None


def _entries(ev: Evaluation) -> tuple[Entry, ...]:
    match ev.space:
        case Binary():
            return _binary(ev)
        case Multiclass():
            return _multiclass(ev)
        case Multilabel():
            return _multilabel(ev)


def _binary(ev: Evaluation) -> tuple[Entry, ...]:
    decisions: tuple[Entry, ...] = (
        ("recall", "{positives} found"),
        ("specificity", "{negatives} left alone"),
        ("precision", "alarms that were real"),
    )
    ranking: tuple[Entry, ...] = (
        ("roc_auc", "ranks {positives} above {negatives}"),
        ("average_precision", "area under precision–recall"),
    )
    agreement: tuple[Entry, ...] = (("mcc", "balanced agreement at this threshold"),)
    brier: tuple[Entry, ...] = (("brier", "probability error, lower is better"),)
    if ev.score_kind is None:
        rest: tuple[Entry, ...] = (
            ("f1", "precision and recall in one number"),
            ("balanced_accuracy", "mean of recall and specificity"),
            ("accuracy", "{units} called right"),
        )
        text: tuple[Entry, ...] = (_READ,) if is_text(ev) else ()
        return (*decisions, *text, rest[0], *agreement, *rest[2:], *rest[1:2])
    return (
        *(decisions if ev.confusion is not None else ()),
        *ranking,
        *(agreement if ev.confusion is not None else ()),
        *(brier if ev.score_kind != "decision" else ()),
    )


_READ: Entry = ("parse_rate", "exactly one label found")


def _multiclass(ev: Evaluation) -> tuple[Entry, ...]:
    top: tuple[Entry, ...] = ()
    if len(ev.space) >= TOP and isinstance(metric(ev, "top_3_accuracy"), Estimate):
        top = (("top_3_accuracy", "right label among three best"),)
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
    gloss = "{units} labelled right"
    if is_text(ev):
        gloss = "unreadable answers count as wrong"
        text = (("accuracy_parsed", "{units} with a readable answer"),)
    return (
        *order,
        ("accuracy", gloss),
        *text,
        *top,
        ("f1_macro", "every class counts the same"),
        ("balanced_accuracy", "mean recall over classes"),
        ("mcc", "agreement beyond chance"),
        *((_READ,) if is_text(ev) else ()),
    )


def _multilabel(ev: Evaluation) -> tuple[Entry, ...]:
    decisions: tuple[Entry, ...] = (
        ("f1_micro", "every label decision counts the same"),
        ("f1_macro", "every label counts the same"),
        ("precision_micro", "added labels that belong"),
        ("recall_micro", "labels found"),
        ("subset_accuracy", "{units} with every label right"),
        ("label_accuracy", "single yes-or-no label decisions right"),
    )
    ranking: tuple[Entry, ...] = (("average_precision_samples", "true labels ranked on top"),)
    undecided: tuple[Entry, ...] = (
        ("average_precision_macro", "ranks rows for each label"),
        ("roc_auc_macro", "ranks rows that carry a label above those that do not"),
    )
    ranks = ranking if ev.score_kind is not None else ()
    return (*decisions, *ranks) if ev.classes else (*undecided, *ranks)


def better_threshold(ev: Evaluation) -> Sentence:
    """Return what the recommended threshold would do, or that none was chosen, or that no other one helps."""
    better = recommend_threshold(ev)
    if better is not None:
        return _price_in_shares(ev, better) if ev.weighted else _price(better)
    if unchosen(ev):
        words = (
            "That threshold was not chosen: choose one by what a miss costs, or by a constraint on recall."
        )
        return say(words)
    return _no_other(ev)


def _no_other(ev: Evaluation) -> Sentence:
    """That no other threshold is better; nothing where the one in use may be what fails."""
    if ev.sweep is None or one_threshold(ev) is None:
        return NOTHING
    if ranking_skill(ev) != "demonstrated" or decision_skill(ev) != "demonstrated":
        return NOTHING
    now, best = estimate(ev, "f1"), ev.sweep.best(BALANCED)
    then = value_elsewhere(best)
    if not isinstance(best, Optimum) or then is None or now is None or now.width is None:
        return NOTHING
    if gains(now, then.value):  # F1 alone does not recommend: what mistakes cost decides
        return NOTHING
    shown = reference_sentence("f1_best", best.apparent, now, "ratio")
    return say("No other threshold is demonstrated to help (best F1 {f1_best}).", f1_best=shown)


def _price(better: RecommendedThreshold) -> Sentence:
    """What is found and flagged beside now; counts that do not change are not named."""
    found, flagged = better.tp - better.now.tp, better.fp - better.now.fp
    parts = []
    if found > 0:
        parts.append("finds {found_more:count} more of {p:count}")
    elif found < 0:
        parts.append("misses {found_fewer:count} more of {p:count}")
    if flagged > 0:
        each = ", {price} for each" if found > 0 else ""
        parts.append("flags {alarms_more:count} more by mistake" + each)
    elif flagged < 0:
        parts.append("spares {alarms_fewer:count} of {fp:count} false alarms")
    return say(
        f"A threshold of *{{to:threshold}}* {' and '.join(parts)}; on rows that took no part in its choice, F1 is {{f1_elsewhere}} instead of {{f1:ratio}} (flagging all: {{no_skill}}).",
        {"found_more": found, "found_fewer": -found, "alarms_more": flagged, "alarms_fewer": -flagged},
        to=better.threshold,
        price=significant(flagged / found, 2) if found > 0 else "",
        p=better.now.positives,
        fp=better.now.fp,
        f1=better.f1_now,
        f1_elsewhere=reference_sentence("f1_elsewhere", better.f1.value, better.f1_now, "ratio"),
        no_skill=reference_sentence("no_skill", better.no_skill or 0.0, better.f1_now, "ratio"),
    )


def _price_in_shares(ev: Evaluation, better: RecommendedThreshold) -> Sentence:
    """The same where rows weigh: what lies above a threshold is a sum of weights, not a number of rows."""
    return tell(
        ev,
        "A threshold of *{to:threshold}* finds {found_share:percent} of {positives} instead of {recall:percent} and flags {flagged_share:percent} of {negatives} instead of {fpr:percent}; on rows that took no part in its choice, F1 is {f1_elsewhere} instead of {f1:ratio} (flagging all: {no_skill}).",
        of=ev.rows,
        to=better.threshold,
        found_share=better.tp / better.now.positives,
        flagged_share=better.fp / better.now.negatives,
        f1_elsewhere=reference_sentence("f1_elsewhere", better.f1.value, better.f1_now, "ratio"),
        no_skill=reference_sentence("no_skill", better.no_skill or 0.0, better.f1_now, "ratio"),
    )


WEAK = 3
"""Classes that the summary names."""
CLOSE = 0.1
"""Relative error up to which "one in four" may stand for a share."""
SPOKEN = 20
"""Rarest "one in so many" that is spoken of; beyond that counts are plainer."""
EVENTS = 10
"""Examples that a class needs before the summary names it as weak."""


def summary(ev: Evaluation) -> Sentence:
    """Return what to do about it, in at most three sentences, with counts of whole rows."""
    better, ev = better_threshold(ev), ev.in_rows()
    parts: tuple[Sentence, ...]
    if mistakes(ev) == 0:
        return bounds_of_none(ev)
    match ev.space:
        case Binary():
            parts = (_missed_positives_sentence(ev), _readable(ev), better, _ranking(ev))
        case Multiclass():
            parts = _summary_multiclass(ev)
        case Multilabel():
            exact = tell(ev, "The full label set is exactly right for {subset_accuracy:percent} of {units}.")
            weak = _weak_classes_sentence(weakest(ev.classes), "Weakest {n:label|labels}: {list}.")
            parts = (exact, _cautious(ev), better, weak)
    return paragraph(*[part for part in parts if part][:3])


def _missed_positives_sentence(ev: Evaluation) -> Sentence:
    counts = four_counts(ev)
    if counts is None or counts.positives == 0 or counts.fn == 0:
        return NOTHING
    at, threshold = "", one_threshold(ev)
    if threshold is not None and ev.threshold is not None:
        origin = "default " if ev.threshold.origin == "default" else ""
        at = "At the " + origin + "threshold of {threshold:threshold}, "
    share = counts.fn / counts.positives
    every = round(1 / share)
    if counts.tp == 0:
        words = "every {positive} goes unnoticed."
    elif 1 < every <= SPOKEN and abs(every * share - 1) < CLOSE:
        words = "about one in {every:count} {positives} goes unnoticed."
    else:
        words = "{fn:count} of {p:count} {positives} {fn:goes|go} unnoticed."
    return tell(ev, _sentence(at, words), every=every, fn=counts.fn, p=counts.positives, threshold=threshold)


def _sentence(at: str, words: str) -> str:
    return at + words if at else words[0].upper() + words[1:]


def _ranking(ev: Evaluation) -> Sentence:
    auc, poor = estimate(ev, "roc_auc"), decision_skill(ev) not in (None, "demonstrated")
    if auc is None or auc.low is None or ev.confusion is None:  # else the headline says it
        return NOTHING
    match ranking_skill(ev):
        case "none":
            words = "The scores rank no better than chance (ROC AUC {roc_auc:ratio})."
        case "barely":
            words = "The scores rank barely better than chance (ROC AUC {roc_auc:ratio}, "
            words += "{roc_auc:ratio interval})."
        case "not_demonstrated":
            words = "Better ranking than chance is not demonstrated (ROC AUC {roc_auc:ratio}, "
            words += "{roc_auc:ratio interval})."
        case "reversed":
            words = "The scores rank {negatives} above {positives} {turned:percent} of the time: "
            words += "they point the wrong way."
        case "demonstrated":
            words = "The scores rank {positives} above {negatives} {roc_auc:percent} of the time"
            words += "; the threshold is the problem." if poor else "."
        case None:
            return NOTHING
    return tell(ev, words, turned=complement(auc), of=ev.rows)


def _readable(ev: Evaluation) -> Sentence:
    """Text: what leaving unreadable answers out would do."""
    if not is_text(ev) or not unread(ev):
        return NOTHING
    words = "Leaving unreadable answers out would move accuracy from *{accuracy:percent}* to "
    return tell(ev, words + "{accuracy_parsed:percent}; both are shown.")


def _summary_multiclass(ev: Evaluation) -> tuple[Sentence, ...]:
    spoken = right_for(ev) if is_text(ev) and ev.confusion is not None else NOTHING
    if by_order(ev) is not None:
        return (spoken, _distance(ev), _weakest(ev), _readable(ev))
    blind = len(never_predicted_classes(ev)) > 1
    said = len(ev.space) <= SMALL_TABLE and not is_text(ev)  # by the headline
    return (
        spoken,
        _favourites(ev) if blind else _weakest(ev),
        _readable(ev),
        NOTHING if said else _mix_up(ev),
        _among_three(ev),
    )


def _distance(ev: Evaluation) -> Sentence:
    """How far predictions are from ordered labels."""
    words = "Predictions are on average {mean_absolute_error:number} steps from the true label"
    scored = tell(ev, words + "; the ranked probability score is {ranked_probability_score:ratio}.")
    return scored or tell(ev, words + ".")


def _favourites(ev: Evaluation) -> Sentence:
    """Classes that take the answers which others never get."""
    used = sorted((entry for entry in ev.classes if entry.predicted), key=lambda entry: -entry.predicted)
    if not used:
        return NOTHING
    first = used[0]
    return say(
        "All answers go to {used:count} {used:class|classes}, {predicted:count} of them to *{label}*, which is right for {right:count}.",
        {"used": len(used), "predicted": first.predicted, "label": str(first.label), "right": first.right},
    )


def _weakest(ev: Evaluation) -> Sentence:
    weak = weakest(ev.classes)[: 1 if len(ev.space) <= 2 * WEAK else WEAK]
    return _weak_classes_sentence(weak, "Weakest {n:class|classes}: {list}.")


def _weak_classes_sentence(weak: Sequence[ClassResult], words: str) -> Sentence:
    """Say with these words which the {n} classes in the {list} are; nothing of none."""
    found = join_as_list([_with_f1(entry, place == 0) for place, entry in enumerate(weak)])
    return say(words, n=len(weak), list=found) if weak else NOTHING


def weakest(classes: Sequence[ClassResult]) -> list[ClassResult]:
    """Return the classes of lowest F1 among those with enough examples to say so."""
    judged = [
        entry
        for entry in classes
        if entry.support >= EVENTS and isinstance(entry.metrics.get("f1"), Estimate)
    ]
    return sorted(judged, key=lambda entry: entry.metrics["f1"].value or 0.0)[:WEAK]


def _with_f1(entry: ClassResult, first: bool) -> Sentence:
    name, f1 = "F1 " if first else "", entry.metrics["f1"]
    class_f1 = f1 if isinstance(f1, Estimate) else 0.0
    return say("*{label}* (" + name + "{class_f1:ratio})", label=str(entry.label), class_f1=class_f1)


def _mix_up(ev: Evaluation) -> Sentence:
    words = "Most frequent mix-up: {pair:count} of {support:count} *{truth}* read as *{answer}*."
    return most_frequent_mix_up(ev, words)


def _among_three(ev: Evaluation) -> Sentence:
    if len(ev.space) <= 2 * WEAK:
        return NOTHING
    return tell(ev, "The right answer is among the top three {top_3_accuracy:percent} of the time.")


def _cautious(ev: Evaluation) -> Sentence:
    true, predicted = estimate(ev, "cardinality_true"), estimate(ev, "cardinality_predicted")
    if true is None or predicted is None:
        return NOTHING
    if abs(predicted.value - true.value) < 0.1 * true.value:
        return NOTHING
    manner = "cautious" if predicted.value < true.value else "eager"
    words = f"The model is too {manner}: it adds {{cardinality_predicted:number}} labels per {{unit}} where "
    return tell(ev, words + "{cardinality_true:number} belong.")


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


@dataclass(frozen=True)
class Verdict:
    """Kicker, headline, summary, forest table and warnings.

    Parameters
    ----------
    task, run : str
        First parts of the kicker.
    kicker : tuple of str
        Its other parts: data set, number of examples, date.
    """

    task: str
    run: str
    kicker: tuple[str, ...]
    headline: Sentence
    summary: Sentence
    forest: Forest
    warnings: tuple[Warned, ...]
    more: tuple[Warned, ...]


def verdict_section(ev: Evaluation) -> Section:
    """Return the verdict of an evaluation."""
    warnings = tuple(map(_make_warning, ev.findings))
    body = Verdict(
        task=task_name(ev),
        run=ev.provenance.run_name,
        kicker=_kicker(ev),
        headline=headline(ev),
        summary=summary(ev),
        forest=forest(ev),
        warnings=warnings[:MOST],
        more=warnings[MOST:],
    )
    return Section("verdict", "Verdict", "Verdict", "verdict", Sentence(), body)


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


def _kicker(ev: Evaluation) -> tuple[str, ...]:
    labels = f", {count(len(ev.space))} labels" if isinstance(ev.space, Multilabel) else ""
    known = ev.data_checks.get("effective_n")
    effective = "" if known is None else f" (effective {count(round(known))})"
    weighted = ", weighted" if ev.weighted else ""
    rows = f"{count(ev.rows)} {units(ev, ev.rows)}{labels}{weighted}{effective}"
    return tuple(filter(None, (ev.provenance.dataset, rows, _date(ev.provenance.made))))


def _date(made: str) -> str:
    """The day of a time that begins as ISO 8601 does: "21 Nov 2026"; other text as it stands."""
    try:
        return format_date(datetime.fromisoformat(made[:10]), year=True)
    except ValueError:
        return made


def _make_warning(finding: Finding) -> Warned:
    return Warned(
        finding.severity,
        WORDS[finding.severity],
        finding.claim,
        with_options(finding.action),
        finding.section,
    )

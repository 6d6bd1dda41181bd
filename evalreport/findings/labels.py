"""Labels that are never answered, labels that absorb others, and averages that hide it."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence

import numpy as np

from evalreport.evaluation.model import Evaluation
from evalreport.findings.chance import (
    LUCK,
    SURE,
    Margin,
    deviation,
    informative,
    margins,
    poisson_tail,
    ranking_skill,
)
from evalreport.findings.words import CLASSES, Told, class_noun, rule, value
from evalreport.labels import Label, Task
from evalreport.values import Estimate, Result

FEW = 6
"""Labels that a claim spells out whatever their length: who absorbs the others."""
BROKEN = 0.1
"""Share of the rows (and a quarter of the labels) from which on silence is no longer a detail."""
FAVOURED = 1.5
"""Ratio of predictions to examples from which on a label is a favourite."""
ABSORBED = 0.25
"""Part of all predictions, beyond their due, from which on over-predicted labels break a model that does not
know them."""
LESS_VARIED = 0.8
"""Ratio of the effective numbers of labels in answers and truth below which it is worth a sentence."""
SPURIOUS = 0.05
"""Share of the rows whose answer has no example from which on that is no detail."""
GAP = 0.1
"""Difference of averages that is worth a sentence."""
FAVOURITES: Mapping[Task, str] = dict.fromkeys(CLASSES, "confusions") | {"multilabel": "labels"}
"""Section that shows what is absorbed."""
AVERAGES = {
    "f1_macro": "over what occurs in truth or predictions (as scikit-learn does)",
    "f1_macro_supported": "over what has examples",
    "f1_macro_declared": "over all that is declared",
}


@rule(section=CLASSES)
def never_predicted(ev: Evaluation) -> Told | None:
    """Labels that have examples and no prediction, when that is not the luck of tiny classes.

    Labels of which no answer at all could be read are left to `unread_labels`.
    """
    known = [margin for margin in margins(ev) if margin.support > 0]
    silent = sorted((m for m in known if m.predicted == 0 and m.unread < m.support), key=lambda m: -m.support)
    if not silent or _is_luck(ev, known, silent):
        return None
    weight = sum(margin.support for margin in silent)
    spoken = [m.label for m in sorted(margins(ev), key=lambda m: -m.predicted) if m.predicted > 0]
    broken = weight >= BROKEN * ev.weight or 4 * len(silent) >= len(known)  # a quarter of the labels
    return Told(
        _silence(ev, silent, spoken),
        {
            "n_never_predicted": len(silent),
            "n_with_examples": len(known),
            "support": weight,
            "labels": [margin.label for margin in silent],
            "predicted_labels": spoken[: 2 * FEW],
            "absorbing": _absorbing(ev, silent),
        },
        severity="error" if broken else "caution",
        action=_advice(ev),
    )


def _advice(ev: Evaluation) -> str:
    """What to do about silence: a ranking that knows the label needs another threshold, not other data."""
    if ev.task == "binary" and ranking_skill(ev) == "demonstrated":
        return "The scores do rank it: choose another threshold, --threshold max-f1 --tune-on FILE."
    return "Check that they were in the training data, and in the list of answers that the model may give."


def _is_luck(ev: Evaluation, known: Sequence[Margin], silent: Sequence[Margin]) -> bool:
    """Whether a model without preferences would be silent on as many labels, and on the greatest of them.

    Predictions of a label with s examples are then about Poisson(s), none of them with probability exp(-s).
    """
    scale = informative(ev)
    none = [math.exp(-margin.support * scale) for margin in known]
    greatest = math.exp(-silent[0].support * scale)
    return poisson_tail(len(silent), sum(none)) > LUCK and len(known) * greatest > LUCK


def _silence(ev: Evaluation, silent: Sequence[Margin], spoken: Sequence[Label]) -> str:
    who = "{n_never_predicted:count} of {n_with_examples:classes} {n_never_predicted:is|are} never predicted"
    wrong = (
        "{n_never_predicted:Its|Their} {support:occurrences} {support:is|are} missed"
        if ev.task == "multilabel"
        else "{n_never_predicted:Its|Their} {support:weight} {support:is|are} wrong"
    )
    if len(spoken) <= FEW and len(silent) > len(spoken):
        only = "no answer is given" if not spoken else "every answer is {predicted_labels:either}"
        return f"{who}: {only}. {wrong}."
    to = ", most often labelled {absorbing:labels}" if _absorbing(ev, silent) else ""
    return f"{who}: {{labels:labels}}. {wrong}{to}."


def _absorbing(ev: Evaluation, silent: Sequence[Margin]) -> list[Label]:
    """The labels that most examples of silent labels are given, up to three."""
    if ev.confusion is None or len(ev.space) == 2:
        return []
    place = {label: code for code, label in enumerate(ev.space.shown)}
    rows = np.isin(ev.confusion.rows, [place[margin.label] for margin in silent])
    given = np.zeros(ev.confusion.size + 1)
    np.add.at(given, ev.confusion.columns[rows], ev.confusion.weight[rows])
    order = np.argsort(-given[:-1], kind="stable")[:3]
    return [ev.space.shown[code] for code in order.tolist() if given[code] > 0]


@rule(
    section=FAVOURITES,
    action="See what is absorbed, then how often it stood in the training data or in the prompt.",
)
def favourite_labels(ev: Evaluation) -> Told | None:
    """Labels that absorb others: far more predictions than examples, beyond chance."""
    known = margins(ev)
    made, due = sum(m.predicted for m in known), sum(m.support for m in known)
    chosen = [m for m in known if len(known) > 2 and _is_favourite(ev, m, made / due if due else 0.0)]
    if not chosen:
        return None
    chosen.sort(key=lambda margin: -margin.excess)
    share, part = sum(m.predicted for m in chosen) / made, sum(m.support for m in chosen) / due
    spread = {name: value(ev, name) for name in ("effective_labels_predicted", "effective_labels_true")}
    claim = "{top:label} {alone}is predicted {predicted:count} {predicted:time|times} for {support:examples}"
    if len(chosen) > 1:
        claim = (
            "{labels:few} take {share_of_predictions:whole} of all predictions but are {share_of_truth:whole} of the truth; "
            + claim
        )
    claim += "."
    if (spread["effective_labels_predicted"] or math.inf) < LESS_VARIED * (
        spread["effective_labels_true"] or 0
    ):
        claim += (
            " The answers are as varied as {effective_labels_predicted:tenths} equally frequent labels, the truth as "
            "{effective_labels_true:tenths}."
        )
    return Told(
        claim,
        {
            "labels": [margin.label for margin in chosen],
            "share_of_predictions": share,
            "share_of_truth": part,
            "top": chosen[0].label,
            "alone": "alone " if len(chosen) > 1 else "",
            "predicted": chosen[0].predicted,
            "support": chosen[0].support,
            **spread,
        },
        severity="error" if share - part > ABSORBED and not _known(ev, chosen) else "caution",
    )


def _known(ev: Evaluation, chosen: Sequence[Margin]) -> bool:
    """Whether predictions of these labels are right more often than shuffled ones: too many, but not blind."""
    due = [margin.support * margin.predicted / ev.weight for margin in chosen]
    spread = sum(
        one * (1 - margin.support / ev.weight) * (1 - margin.predicted / ev.weight)
        for one, margin in zip(due, chosen, strict=True)
    )
    return deviation(ev, sum(margin.right for margin in chosen) - sum(due), spread) > SURE


def _is_favourite(ev: Evaluation, margin: Margin, more: float) -> bool:
    """Whether a label has half as many predictions again as examples, also beside all other labels."""
    often = margin.predicted > FAVOURED * margin.support * max(1.0, more) and margin.support > 0
    return often and deviation(ev, margin.excess, margin.discordant) > SURE


@rule(
    section="parsing",
    action="Read these answers: the model may refuse, or name the label in words that the parser does not know.",
)
def unread_labels(ev: Evaluation) -> Told | None:
    """Labels of which no answer could be read: nothing is known of how well the model knows them."""
    lost = [m for m in margins(ev) if m.support > 0 and m.unread == m.support]
    if not lost or ev.confusion is None or ev.confusion.unparsed == ev.confusion.total:
        return None
    return Told(
        "No answer to the {support:weight} of {labels:labels} could be read: what the model knows of {n:it|them} cannot be told.",
        {"labels": [m.label for m in lost], "n": len(lost), "support": sum(m.support for m in lost)},
    )


@rule(section=CLASSES, action="Quote the average over what has examples, or add examples of what is missing.")
def absent_classes(ev: Evaluation) -> Told | None:
    """Labels without an example in this sample: nothing is known of them, and the model is not to blame."""
    known = margins(ev)
    missing = [margin.label for margin in known if margin.support == 0]
    if not missing or len(missing) >= len(known) - 1:
        return None
    supported, declared = value(ev, "f1_macro_supported"), value(ev, "f1_macro_declared")
    claim = (
        "{n_absent:count} of {n_labels:classes} {n_absent:has|have} no example in this sample: {labels:labels}. That is a gap "
        "of the sample, not a failure of the model."
    )
    if (
        supported is not None and declared is not None and supported - declared > 0.001
    ):  # three decimals are shown
        claim += " Counting {n_absent:it|them} as zero lowers macro F1 from {f1_macro_supported:ratio} to {f1_macro_declared:of f1_macro_supported}."
    if ev.score_kind is not None:
        claim += " Averages of areas and of calibration errors leave {n_absent:it|them} out."
    return Told(
        claim,
        {
            "n_absent": len(missing),
            "n_labels": len(known),
            "labels": missing,
            "f1_macro_supported": supported,
            "f1_macro_declared": declared,
        },
    )


@rule(section=CLASSES, action="Look at a few: the truth may lack the label, rather than the answer be wrong.")
def spurious_classes(ev: Evaluation) -> Told | None:
    """Labels that are predicted and have no example."""
    extra = [m for m in margins(ev) if m.support == 0 and m.predicted > 0]
    weight = sum(margin.predicted for margin in extra)
    if weight < 0.005 * ev.weight or not extra:  # fewer are slips in the truth: chosen by hand
        return None
    return Told(
        "{predicted:count} {predicted:prediction|predictions} {predicted:names|name} {n:classes} without any example here: {labels:labels}.",
        {"labels": [margin.label for margin in extra], "n": len(extra), "predicted": weight},
        severity="caution" if weight >= SPURIOUS * ev.weight else "note",
    )


@rule("note", section="metrics", action="Say which one is quoted, and compare runs by the same one.")
def macro_definitions(ev: Evaluation) -> Told | None:
    """The three macro averages of F1 differ, and which tool would say which."""
    found = {name: number for name in AVERAGES if (number := value(ev, name)) is not None}
    if len(found) < 2 or max(found.values()) - min(found.values()) <= 0.001:  # as they are shown
        return None
    parts = [f"{{{name}:ratio}} {AVERAGES[name]}" for name in found]
    return Told("Macro F1 has several definitions, which differ here: " + "; ".join(parts) + ".", found)


@rule(section=CLASSES, action="Read the table line by line, the weakest first, before one number is quoted.")
def micro_macro_gap(ev: Evaluation) -> Told | None:
    """Micro F1 far above macro F1 over the labels that have examples: one number hides the others."""
    micro, macro = value(ev, "f1_micro"), value(ev, "f1_macro_supported")
    known = [entry for entry in ev.classes if entry.support > 0]
    if micro is None or macro is None or micro - macro < GAP:
        return None
    weak = [entry for entry in known if _below(entry.metrics.get("f1"), micro / 2)]
    if not any(_below(entry.metrics.get("f1"), micro, sure=True) for entry in weak):
        return None
    surely = [entry for entry in known if _below(entry.metrics.get("f1"), micro / 2, sure=True)]
    broken = macro < micro / 2 and 2 * len(surely) >= len(known)
    return Told(
        "Micro F1 hides weak {nouns}: micro F1 is {f1_micro:ratio}, but macro F1, where every {noun} counts the same, is {f1_macro_supported:ratio}. "
        "{n_weak:count} of {n_with_examples:classes} {n_weak:has|have} an F1 below {half:of f1_micro}.",
        {
            "f1_micro": micro,
            "f1_macro_supported": macro,
            "gap": micro - macro,
            "half": micro / 2,
            "n_weak": len(weak),
            "n_with_examples": len(known),
            "noun": class_noun(ev)[0],
            "nouns": class_noun(ev)[1],
            "weak": [entry.label for entry in sorted(weak, key=lambda e: -e.support)],
        },
        severity="error" if broken else "caution",
    )


def _below(result: Result | None, level: float, *, sure: bool = False) -> bool:
    """Whether a value (or, to be sure, its whole interval) lies below a level; undefined counts as zero."""
    if not isinstance(result, Estimate):
        return True
    high = result.high if sure and result.high is not None else result.value
    return high < level


MISREAD = 0.01
"""Share of the rows, wrong by their spelling alone, from which on the numbers mean little."""


@rule(
    section=CLASSES,
    action="If they are one class, write it alike in truth and predictions; nothing is put together unasked.",
)
def lookalikes(ev: Evaluation) -> Told | None:
    """Labels that differ only in spaces, in case, in what cannot be seen or in how Unicode writes them."""
    groups = _groups(ev.space.names)
    if not groups:
        return None
    first = max(groups, key=lambda codes: _mistaken(ev, [codes]))
    one, other = (ev.space.shown[code] for code in first[:2])
    mistaken = _mistaken(ev, groups)
    claim = "{first:label} and {second:label} differ only in {how}"
    if len(groups) > 1:
        claim += ", as do {n:count} sets of labels in all"
    claim += "."
    if mistaken:
        claim += " {mistaken:weight} {mistaken:is|are} counted as wrong for no other reason."
    return Told(
        claim,
        {
            "first": one,
            "second": other,
            "how": _how(str(one), str(other)),
            "n": len(groups),
            "mistaken": mistaken,
        },
        severity="error" if mistaken >= MISREAD * ev.weight else "caution",
    )


def _groups(names: Sequence[str]) -> list[list[int]]:
    """Codes of labels that are one when folded, two or more of each, in the order of the labels."""
    found: dict[str, list[int]] = {}
    for code, name in enumerate(names):
        found.setdefault(_folded(name), []).append(code)
    return [codes for codes in found.values() if len(codes) > 1]


def _folded(name: str) -> str:
    return " ".join(_seen(unicodedata.normalize("NFKC", name)).casefold().split())


def _seen(name: str) -> str:
    """A name without what leaves no mark, such as a zero-width space or the choice of an emoji's look."""
    return "".join(
        one for one in name if unicodedata.category(one) != "Cf" and not "\ufe00" <= one <= "\ufe0f"
    )


def _how(one: str, other: str) -> str:
    """Which of the differences there are, in words."""
    forms = [unicodedata.normalize("NFKC", name) for name in (one, other)]
    seen = [*map(_seen, forms)]
    spaced = [" ".join(form.split()) for form in seen]
    found = [
        ("the form of their Unicode characters", forms[0] != one or forms[1] != other),
        ("characters that cannot be seen", forms != seen),
        ("spaces", seen != spaced),
        ("case", spaced[0] != spaced[1]),
    ]
    return " and ".join(what for what, is_so in found if is_so)


def _mistaken(ev: Evaluation, groups: Sequence[Sequence[int]]) -> float:
    """Weight of the rows whose answer is another spelling of their truth."""
    if ev.confusion is None:
        return 0.0
    group = np.arange(len(ev.space) + 1)
    for codes in groups:
        group[list(codes)] = codes[0]
    rows, columns = ev.confusion.rows, ev.confusion.columns
    alike = (rows != columns) & (group[rows] == group[columns])
    return float(ev.confusion.weight[alike].sum())

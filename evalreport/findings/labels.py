"""Labels that are never answered, labels that swallow others, and what is mistaken for what."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from evalreport.evaluation.model import Evaluation
from evalreport.evaluation.parts import ClassResult
from evalreport.facts import Counts
from evalreport.findings.words import in_words, listed, quoted, rows, some, value
from evalreport.format import count, percent, ratio, signed
from evalreport.values import Finding

SURE = 4.0
"""Standard errors beyond which a difference of counts is claimed: one false alarm in 16,000 tries."""
CHANCE = 0.01
"""Probability below which "by luck of a small class" is ruled out."""


def label_noun(ev: Evaluation) -> tuple[str, str]:
    """Return what a class is called: label or class."""
    return ("label", "labels") if ev.task == "multilabel" or ev.parsing is not None else ("class", "classes")


def never_predicted(ev: Evaluation) -> Finding | None:
    """Labels that have examples and no prediction, when that is not the luck of tiny classes.

    A label with share s of the truth gets no prediction in n answers of an unbiased model with
    probability about exp(-support); the finding needs evidence beyond that.
    """
    silent = [entry for entry in ev.classes if entry.state == "never_predicted"]
    if not silent:
        return None
    luck = [math.exp(-entry.support) for entry in ev.classes if entry.support > 0]
    if (
        len(silent) <= sum(luck) + 3 * math.sqrt(sum(luck))
        and min(len(luck) * math.exp(-entry.support) for entry in silent) > CHANCE
    ):
        return None
    silent.sort(key=lambda entry: -entry.support)
    weight, known = sum(entry.support for entry in silent), sum(1 for e in ev.classes if e.support > 0)
    one, many = label_noun(ev)
    verb = "is" if len(silent) == 1 else "are"
    claim = (
        f"{count(len(silent))} of {some(known, one, many)} with examples {verb} never predicted: "
        f"{listed([entry.label for entry in silent])}. "
        f"Every one of their {count(weight)} {_examples(ev, weight)} is wrong."
    )
    return Finding(
        "never_predicted",
        "error" if weight >= 0.1 * ev.weight else "caution",
        claim,
        {
            "n_never_predicted": len(silent),
            "n_with_examples": known,
            "support": weight,
            "labels": [entry.label for entry in silent],
        },
        f"Check that these {many} were in the training data and in the list of answers the model may give.",
        "classes" if ev.task == "multiclass" else "labels",
    )


def _examples(ev: Evaluation, weight: float) -> str:
    return ev.provenance.unit[0 if weight == 1 else 1] if ev.task != "multilabel" else "occurrences"


def absent_classes(ev: Evaluation) -> Finding | None:
    """Labels without an example in this sample: nothing is known of them, and the model is not to blame."""
    missing = [entry for entry in ev.classes if entry.support == 0]
    if not missing:
        return None
    one, many = label_noun(ev)
    supported, declared = value(ev, "f1_macro_supported"), value(ev, "f1_macro_declared")
    claim = (
        f"{some(len(missing), one, many)} of {count(len(ev.classes))} "
        f"{'has' if len(missing) == 1 else 'have'} no example in this sample: "
        f"{listed([entry.label for entry in missing])}. This is a gap of the sample, not a failure of the model."
    )
    evidence: dict[str, Any] = {"n_absent": len(missing), "labels": [entry.label for entry in missing]}
    if supported is not None and declared is not None and supported - declared > 0.001:
        claim += (
            f" Counted as zero, as an average over all declared {many} does, they lower macro F1 from "
            f"{ratio(supported)} to {ratio(declared)}."
        )
        evidence |= {"f1_macro_supported": supported, "f1_macro_declared": declared}
    return Finding(
        "absent_classes",
        "note",
        claim,
        evidence,
        "Quote the average over the classes that have examples, or add examples of the missing ones.",
        "classes",
    )


def spurious_classes(ev: Evaluation) -> Finding | None:
    """Labels that are predicted and have no example."""
    extra = [entry for entry in ev.classes if entry.state == "spurious"]
    weight = sum(entry.predicted for entry in extra)
    if not extra or weight < 0.005 * ev.weight:
        return None
    one, many = label_noun(ev)
    return Finding(
        "spurious_classes",
        "note",
        f"{some(weight, 'answer names', 'answers name')} {some(len(extra), one, many)} without any example "
        f"here: {listed([entry.label for entry in extra])}. Each of these answers is wrong.",
        {"n_spurious": len(extra), "predicted": weight, "labels": [entry.label for entry in extra]},
        "Look at a few of them: the label may be missing from the truth rather than wrong in the answer.",
        "classes",
    )


def macro_definitions(ev: Evaluation) -> Finding | None:
    """The three macro averages of F1 differ, and which tool would say which."""
    names = ("f1_macro", "f1_macro_supported", "f1_macro_declared")
    found = {name: number for name in names if (number := value(ev, name)) is not None}
    if len(found) < 2 or max(found.values()) - min(found.values()) <= 0.001:
        return None
    words = {
        "f1_macro": "over the labels that occur in truth or predictions (scikit-learn's default)",
        "f1_macro_supported": "over the labels that have examples",
        "f1_macro_declared": "over all declared labels, absent ones counted as zero",
    }
    parts = [f"{ratio(number)} {words[name]}" for name, number in found.items()]
    return Finding(
        "macro_definitions",
        "note",
        f"Macro F1 has more than one definition, and here they differ: {in_words(parts)}.",
        found,
        "State which one is quoted; compare runs by the same one.",
        "classes",
    )


def micro_macro_gap(ev: Evaluation) -> Finding | None:
    """Micro F1 far above macro F1 over the same labels: the frequent ones hide the others."""
    micro, macro = value(ev, "f1_micro"), value(ev, "f1_macro_supported")
    if micro is None or macro is None or micro - macro < 0.1:
        return None
    weak = [entry for entry in ev.classes if entry.support > 0 and _f1(entry) < 0.5 * micro]
    if not weak:
        return None
    one, many = label_noun(ev)
    return Finding(
        "micro_macro_gap",
        "caution",
        f"Micro F1 is {ratio(micro)} but macro F1 is {ratio(macro)}: counted by {ev.provenance.unit[0]} the model "
        f"looks {signed(micro - macro).lstrip('+')} better than counted by {one}. "
        f"{some(len(weak), one, many)} {'has' if len(weak) == 1 else 'have'} less than half of the micro F1.",
        {"f1_micro": micro, "f1_macro_supported": macro, "gap": micro - macro, "n_weak": len(weak)},
        "Read the table by class before quoting one number.",
        "classes" if ev.task == "multiclass" else "labels",
    )


def _f1(entry: ClassResult) -> float:
    result = entry.metrics.get("f1")
    return 0.0 if result is None or result.value is None else result.value


def favourite_labels(ev: Evaluation) -> Finding | None:
    """Labels that absorb others: far more predictions than examples, beyond chance.

    Predictions minus examples of a label is a difference of discordant counts, whose variance under no
    preference is their sum (Stuart-Maxwell margins).
    """
    chosen = [entry for entry in ev.classes if _is_favourite(entry)]
    if not chosen:
        return None
    chosen.sort(key=lambda entry: entry.support - entry.predicted)
    answers = sum(entry.predicted for entry in ev.classes)
    taken = sum(entry.predicted for entry in chosen[:6])
    own = sum(entry.support for entry in chosen[:6])
    truth = sum(entry.support for entry in ev.classes)
    share, due = taken / answers, own / truth
    effective = {
        key: value(ev, f"effective_labels_{key}") or float(len(ev.classes)) for key in ("true", "predicted")
    }
    first = chosen[0]
    named = listed([entry.label for entry in chosen[:6]])
    claim = (
        f"{named} {'takes' if len(chosen[:6]) == 1 else 'take'} {percent(share)} of all predictions and "
        f"{'is' if len(chosen[:6]) == 1 else 'are'} {percent(due)} of the truth; {quoted(first.label)} alone is "
        f"answered {count(first.predicted)} times for {count(first.support)} examples."
    )
    if ev.task == "multiclass":
        claim += (
            f" The answers are spread as over {effective['predicted']:.1f} equally used labels, the truth as over "
            f"{effective['true']:.1f}."
        )
    return Finding(
        "favourite_labels",
        "error" if share - due > 0.25 else "caution",
        claim,
        {
            "labels": [entry.label for entry in chosen[:6]],
            "share_of_predictions": share,
            "share_of_truth": due,
            "predicted": first.predicted,
            "support": first.support,
            "effective_labels_predicted": effective["predicted"],
            "effective_labels_true": effective["true"],
        },
        "Look at what these labels absorb in the confusion matrix, then at the balance of the training data.",
        "confusions" if ev.task == "multiclass" else "labels",
    )


def _is_favourite(entry: ClassResult) -> bool:
    excess = entry.predicted - entry.support
    discordant = entry.predicted + entry.support - 2 * entry.right
    return excess > SURE * math.sqrt(discordant) > 0 and entry.predicted > 1.5 * entry.support


def top_confusions(ev: Evaluation) -> Finding | None:
    """What is mistaken for what, in words: the mix-ups that take a good part of a class."""
    if ev.confusion is None or ev.task != "multiclass":
        return None
    found = _mixups(ev.confusion)
    if not found:
        return None
    names, shown = ev.space.names, found[:3]
    dense = _lookup(ev.confusion)
    support = ev.confusion.marginals.support
    parts = []
    for row, column, weight in shown:
        back = dense.get((column, row), 0.0)
        both = (
            f" (and {count(back)} the other way)" if back >= 0.5 * weight else " (hardly ever the other way)"
        )
        parts.append(
            f"{count(weight)} of {count(support[row])} {quoted(names[row])} are read as {quoted(names[column])}"
            + (both if len(names) > 2 else "")
        )
    total = sum(weight for _, _, weight in found)
    wrong = ev.confusion.total - float(ev.confusion.marginals.tp.sum())
    return Finding(
        "top_confusions",
        "caution",
        f"{in_words(parts)}. "
        f"{some(len(found), 'such mix-up holds', 'such mix-ups hold')} {percent(total / wrong)} of all mistakes.",
        {
            "pairs": [
                {"truth": names[r], "predicted": names[c], "weight": w, "support": float(support[r])}
                for r, c, w in found
            ],
            "weight": total,
            "mistakes": wrong,
        },
        "Read a few examples of each pair: the definitions may overlap, or the truth may be wrong.",
        "confusions",
    )


def _mixups(counts: Counts) -> list[tuple[int, int, float]]:
    """Off-diagonal cells that hold a quarter of a class, five rows or more, and far more than their due.

    Due is the class's mistakes spread evenly over the other labels.
    """
    support, right = counts.marginals.support, counts.marginals.tp
    found = []
    for row, column, weight in zip(
        counts.rows.tolist(), counts.columns.tolist(), counts.weight.tolist(), strict=True
    ):
        due = (support[row] - right[row]) / max(1, counts.size - 1)
        much = weight >= max(5, 0.25 * support[row]) and weight > due + SURE * math.sqrt(due)
        if much and row != column < counts.size:
            found.append((row, column, weight))
    return sorted(found, key=lambda cell: -cell[2])


def _lookup(counts: Counts) -> Mapping[tuple[int, int], float]:
    return dict(
        zip(
            zip(counts.rows.tolist(), counts.columns.tolist(), strict=True),
            counts.weight.tolist(),
            strict=True,
        )
    )


def class_shares(ev: Evaluation) -> Finding | None:
    """The shares of predicted classes differ from those of the truth, beyond chance and noticeably."""
    if ev.confusion is None or ev.confusion.total == 0:
        return None
    margins = ev.confusion.marginals
    apart = margins.predicted - margins.support
    discordant = margins.predicted + margins.support - 2 * margins.tp
    moved = float(np.abs(apart).sum() / 2 / ev.confusion.total)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.nan_to_num(np.abs(apart) / np.sqrt(discordant))
    if moved < 0.05 or z.max() < SURE:
        return None
    most, least = int(apart.argmax()), int(apart.argmin())
    names, n = ev.space.names, ev.confusion.total
    return Finding(
        "class_shares",
        "note",
        f"The shares of the classes drift: {quoted(names[most])} is {percent(margins.predicted[most] / n)} of the "
        f"predictions and {percent(margins.support[most] / n)} of the truth, {quoted(names[least])} "
        f"{percent(margins.predicted[least] / n)} and {percent(margins.support[least] / n)}. "
        f"{percent(moved)} of the answers would have to change to restore the balance.",
        {
            "moved": moved,
            "most": names[most],
            "least": names[least],
            "predicted_most": float(margins.predicted[most] / n),
            "true_most": float(margins.support[most] / n),
        },
        f"If {rows(ev, 2).split(' ', 1)[1]} in use have other shares than this sample, expect other errors.",
        "confusions" if ev.task == "multiclass" else "threshold",
    )

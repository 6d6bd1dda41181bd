"""Labels that are never answered, labels that absorb others, and averages that hide it.

What only rows with several labels can show: two accuracies, empty answers, too many or too few labels.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evalreport.core.result import Estimate, Result
from evalreport.curves.class_curves import MultilabelCurves
from evalreport.curves.curve import Curve
from evalreport.data.labels import Label, Multilabel, Task
from evalreport.evaluation.evaluation import Evaluation
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
from evalreport.findings.rule import CLASSES, FindingDraft, class_noun, estimate, rule, value

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
def never_predicted(ev: Evaluation) -> FindingDraft | None:
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
    return FindingDraft(
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
    place = {label: code for code, label in enumerate(ev.space.display_labels)}
    rows = np.isin(ev.confusion.rows, [place[margin.label] for margin in silent])
    given = np.zeros(ev.confusion.size + 1)
    np.add.at(given, ev.confusion.columns[rows], ev.confusion.weight[rows])
    order = np.argsort(-given[:-1], kind="stable")[:3]
    return [ev.space.display_labels[code] for code in order.tolist() if given[code] > 0]


@rule(
    section=FAVOURITES,
    action="See what is absorbed, then how often it stood in the training data or in the prompt.",
)
def favourite_labels(ev: Evaluation) -> FindingDraft | None:
    """Labels that absorb others: far more predictions than examples, beyond chance."""
    known = margins(ev)
    made, due = sum(m.predicted for m in known), sum(m.support for m in known)
    chosen = [m for m in known if len(known) > 2 and _is_favourite(ev, m, made / due if due else 0.0)]
    if not chosen:
        return None
    chosen.sort(key=lambda margin: -margin.excess)
    share, part = sum(m.predicted for m in chosen) / made, sum(m.support for m in chosen) / due
    varied = _effective_labels([m.predicted for m in known]), _effective_labels([m.support for m in known])
    claim = "{top:label} {alone}is predicted {predicted:count} {predicted:time|times} for {support:examples}"
    if len(chosen) > 1:
        claim = (
            "{labels:few} take {share_of_predictions:whole} of all predictions but are {share_of_truth:whole} of the truth; "
            + claim
        )
    claim += "."
    if ev.task == "multiclass" and varied[0] < LESS_VARIED * varied[1]:
        claim += " The answers are as varied as {effective_labels_predicted:tenths} equally frequent labels, the truth as {effective_labels_true:tenths}."
    return FindingDraft(
        claim,
        {
            "labels": [margin.label for margin in chosen],
            "share_of_predictions": share,
            "share_of_truth": part,
            "top": chosen[0].label,
            "alone": "alone " if len(chosen) > 1 else "",
            "predicted": chosen[0].predicted,
            "support": chosen[0].support,
            "effective_labels_predicted": varied[0],
            "effective_labels_true": varied[1],
        },
        severity="error" if share - part > ABSORBED and not _exceeds_chance(ev, chosen) else "caution",
    )


def _effective_labels(rows: Sequence[float]) -> float:
    """How many equally frequent labels are as varied: exp(entropy) (Hill 1973, Ecology 54:427, order 1)."""
    part = np.array([number for number in rows if number > 0]) / sum(rows)
    return float(np.exp(-(part * np.log(part)).sum()))


def _exceeds_chance(ev: Evaluation, chosen: Sequence[Margin]) -> bool:
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
def unread_labels(ev: Evaluation) -> FindingDraft | None:
    """Labels of which no answer could be read: nothing is known of how well the model knows them."""
    lost = [m for m in margins(ev) if m.support > 0 and m.unread == m.support]
    if not lost or ev.confusion is None or ev.confusion.unparsed_weight == ev.confusion.total:
        return None
    return FindingDraft(
        "No answer to the {support:weight} of {labels:labels} could be read: what the model knows of {n:it|them} cannot be told.",
        {"labels": [m.label for m in lost], "n": len(lost), "support": sum(m.support for m in lost)},
    )


@rule(section=CLASSES, action="Quote the average over what has examples, or add examples of what is missing.")
def absent_classes(ev: Evaluation) -> FindingDraft | None:
    """Labels without an example in this sample: nothing is known of them, and the model is not to blame."""
    known = margins(ev)
    missing = [margin.label for margin in known if margin.support == 0]
    if not missing or len(missing) >= len(known) - 1:
        return None
    supported, declared = value(ev, "f1_macro_supported"), value(ev, "f1_macro_declared")
    claim = "{n_absent:count} of {n_labels:classes} {n_absent:has|have} no example in this sample: {labels:labels}. That is a gap of the sample, not a failure of the model."
    if (
        supported is not None and declared is not None and supported - declared > 0.001
    ):  # three decimals are shown
        claim += " Counting {n_absent:it|them} as zero lowers macro F1 from {f1_macro_supported:ratio} to {f1_macro_declared:of f1_macro_supported}."
    if ev.score_kind is not None:
        claim += " Averages of areas and of calibration errors leave {n_absent:it|them} out."
    return FindingDraft(
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
def spurious_classes(ev: Evaluation) -> FindingDraft | None:
    """Labels that are predicted and have no example."""
    extra = [m for m in margins(ev) if m.support == 0 and m.predicted > 0]
    weight = sum(margin.predicted for margin in extra)
    if weight < 0.005 * ev.weight or not extra:  # fewer are slips in the truth: chosen by hand
        return None
    return FindingDraft(
        "{predicted:count} {predicted:prediction|predictions} {predicted:names|name} {n:classes} without any example here: {labels:labels}.",
        {"labels": [margin.label for margin in extra], "n": len(extra), "predicted": weight},
        severity="caution" if weight >= SPURIOUS * ev.weight else "note",
    )


@rule("note", section="metrics", action="Say which one is quoted, and compare runs by the same one.")
def macro_definitions(ev: Evaluation) -> FindingDraft | None:
    """The three macro averages of F1 differ, and which tool would say which."""
    found = {name: number for name in AVERAGES if (number := value(ev, name)) is not None}
    if len(found) < 2 or max(found.values()) - min(found.values()) <= 0.001:  # as they are shown
        return None
    parts = [f"{{{name}:ratio}} {AVERAGES[name]}" for name in found]
    return FindingDraft(
        "Macro F1 has several definitions, which differ here: " + "; ".join(parts) + ".", found
    )


@rule(section=CLASSES, action="Read the table line by line, the weakest first, before one number is quoted.")
def micro_macro_gap(ev: Evaluation) -> FindingDraft | None:
    """Micro F1 far above macro F1 over the labels that have examples: one number hides the others."""
    micro, macro = value(ev, "f1_micro"), value(ev, "f1_macro_supported")
    known = [entry for entry in ev.classes if entry.support > 0]
    if micro is None or macro is None or micro - macro < GAP:
        return None
    weak = [entry for entry in known if _is_below_level(entry.metrics.get("f1"), micro / 2)]
    if not any(_is_below_level(entry.metrics.get("f1"), micro, sure=True) for entry in weak):
        return None
    surely = [entry for entry in known if _is_below_level(entry.metrics.get("f1"), micro / 2, sure=True)]
    broken = macro < micro / 2 and 2 * len(surely) >= len(known)
    return FindingDraft(
        "Micro F1 hides weak {nouns}: micro F1 is {f1_micro:ratio}, but macro F1, where every {noun} counts the same, is {f1_macro_supported:ratio}. {n_weak:count} of {n_with_examples:classes} {n_weak:has|have} an F1 below {half:of f1_micro}.",
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


def _is_below_level(result: Result | None, level: float, *, sure: bool = False) -> bool:
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
def lookalikes(ev: Evaluation) -> FindingDraft | None:
    """Labels that differ only in spaces, in case, in what cannot be seen or in how Unicode writes them."""
    groups = _groups(ev.space.names)
    if not groups:
        return None
    first = max(groups, key=lambda codes: _mistaken(ev, [codes]))
    one, other = (ev.space.display_labels[code] for code in first[:2])
    mistaken = _mistaken(ev, groups)
    claim = "{first:label} and {second:label} differ only in {how}"
    if len(groups) > 1:
        claim += ", as do {n:count} sets of labels in all"
    claim += "."
    if mistaken:
        claim += " {mistaken:weight} {mistaken:is|are} counted as wrong for no other reason."
    return FindingDraft(
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
        plain = _visible_characters(unicodedata.normalize("NFKC", name)).casefold()
        found.setdefault(" ".join(plain.split()), []).append(code)
    return [codes for codes in found.values() if len(codes) > 1]


def _visible_characters(name: str) -> str:
    """A name without what leaves no mark, such as a zero-width space or the choice of an emoji's look."""
    return "".join(
        one for one in name if unicodedata.category(one) != "Cf" and not "\ufe00" <= one <= "\ufe0f"
    )


def _how(one: str, other: str) -> str:
    """Which of the differences there are, in words."""
    forms = [unicodedata.normalize("NFKC", name) for name in (one, other)]
    seen = [*map(_visible_characters, forms)]
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


SPARSE = 0.8
"""Share of label decisions that are "no" from which on their accuracy flatters."""
EMPTY = 0.05
"""Share of rows, beyond those that truly carry nothing, which get no label."""
LOAD = 1.25
"""Ratio of labels set to labels carried, either way, that is worth a sentence."""
GAIN = 0.02
"""Gain in micro F1 below which no other threshold is recommended."""


@rule(section="verdict", action="Quote subset accuracy, or F1 averaged over labels; never “accuracy” alone.")
def two_accuracies(ev: Evaluation) -> FindingDraft | None:
    """Accuracy over label decisions flatters when most decisions are "no"."""
    exact, each, carried = (
        value(ev, name) for name in ("subset_accuracy", "label_accuracy", "cardinality_true")
    )
    if exact is None or each is None or carried is None:
        return None
    none = 1 - carried / len(ev.space)
    if none < SPARSE or each - exact < 0.2:  # nearer ones mislead nobody: chosen by hand
        return None
    known = estimate(ev, "label_accuracy")
    low, high = (each, each) if known is None else (known.low or 0.0, known.high or 1.0)
    clear = low > none and each - none > (1 - none) / 2
    side = "better" if each > none else "worse"
    verdict = f"{{less:apart least most}} points {side}"
    if known is not None:
        verdict += " ({least:apart least most} to {most:apart least most})"
    if low <= none <= high:
        verdict = "no better" if each == none else f"not significantly {side}"
    gains = (each - none, low - none, high - none) if each > none else (none - each, none - high, none - low)
    return FindingDraft(
        "“Accuracy” is two numbers: {subset_accuracy:percent} of {n:units} have every label right, and {label_accuracy:percent} of single label decisions are right. Setting no label at all would get {all_zeros:of label_accuracy} of these right: the model is "
        + verdict
        + ".",
        {
            "subset_accuracy": exact,
            "label_accuracy": each,
            "all_zeros": none,
            "cardinality_true": carried,
            "n": ev.rows,
            "judged_by": "label_accuracy",
            **dict(zip(("less", "least", "most"), gains, strict=True)),
        },
        severity="note" if clear else "caution",
    )


@rule(section="threshold", action="Lower the threshold, or always set the label with the highest score.")
def empty_predictions(ev: Evaluation) -> FindingDraft | None:
    """Rows that get no label although they carry some."""
    empty, truly = value(ev, "empty_prediction_rate"), ev.no_skill.get("subset_accuracy")
    if empty is None or truly is None:
        return None
    got, bare = empty * ev.weight, truly * ev.weight
    if got - bare < EMPTY * ev.weight or deviation(ev, got - bare, got + bare) < SURE:
        return None
    return FindingDraft(
        "{empty:count} of {n:weight} ({share:of empty_prediction_rate}) get no label at all, "
        + ("and {bare:count} carry none" if bare >= 1 else "though all carry some")
        + ". On average {set:of cardinality_predicted} labels are set where {carried:of cardinality_true} belong.",
        {
            "empty": round(got, 9),
            "share": empty,
            "bare": round(bare, 9),
            "n": ev.weight,
            "set": sum(m.predicted for m in margins(ev)) / ev.weight,
            "carried": sum(m.support for m in margins(ev)) / ev.weight,
        },
        section="labels" if ev.score_kind is None else None,
    )


@rule(section="threshold", action="Move the threshold, or choose one for each label on validation data.")
def label_load(ev: Evaluation) -> FindingDraft | None:
    """Many more, or many fewer, labels are set than rows carry."""
    known = margins(ev)
    made, due = sum(m.predicted for m in known), sum(m.support for m in known)
    if not isinstance(ev.space, Multilabel) or not made or not due:
        return None
    off = deviation(ev, made - due, sum(m.discordant for m in known) * len(ev.space) ** 0.5)
    if max(made / due, due / made) < LOAD or abs(off) < SURE:
        return None
    return FindingDraft(
        "Too {many} labels are set: {made:count} in {n:weight}, where {carried:count} belong.",
        {"made": made, "carried": due, "n": ev.weight, "many": "many" if made > due else "few"},
        section="labels" if ev.score_kind is None else None,
    )


@rule(
    section="threshold",
    action="Choose one threshold, or one for each label, on validation data (--tune-on FILE).",
)
def one_threshold(ev: Evaluation) -> FindingDraft | None:
    """All labels are decided at the default although another common threshold is better by F1 and by MCC.

    The other is the best on these very rows, so that its gain has to exceed the whole width of the interval.
    """
    point, now = ev.threshold, ev.metrics.get("f1_micro")
    if not isinstance(ev.curves, MultilabelCurves) or not isinstance(ev.curves.pr, Curve):
        return None
    if point is None or point.origin not in ("default", "predictions") or not isinstance(now, Estimate):
        return None
    carried = sum(margin.support for margin in margins(ev))
    curve = ev.curves.pr
    rows = zip(curve.threshold or (), curve.x, curve.y, strict=True)
    points = [_Point(*row) for row in rows if math.isfinite(row[0]) and row[1] > 0]
    best = max(points, key=lambda point: point.f1, default=None)
    width = now.width if now.width is not None else 2 / math.sqrt(max(carried * informative(ev), 1.0))
    if best is None or best.f1 - now.value <= max(GAIN, width):
        return None
    cells, made = ev.weight * len(ev.space), sum(margin.predicted for margin in margins(ev))
    right = sum(margin.right for margin in margins(ev))
    if best.mcc(carried, cells) - _mcc(right, made, carried, cells) <= max(GAIN, width / 2):
        return None
    return FindingDraft(
        "All labels are decided at the default threshold {threshold:threshold}: at {best_threshold:threshold} micro F1 would be {best_f1:of f1_micro} instead of {f1:of f1_micro} on these {n:units}.",
        {
            "threshold": point.value,
            "f1": now.value,
            "best_threshold": best.threshold,
            "best_f1": best.f1,
            "n": ev.rows,
        },
    )


@dataclass(frozen=True)
class _Point:
    """A threshold with the recall and precision of all label decisions there."""

    threshold: float
    recall: float
    precision: float

    @property
    def f1(self) -> float:
        return 2 * self.recall * self.precision / (self.recall + self.precision)

    def mcc(self, carried: float, cells: float) -> float:
        right = self.recall * carried
        return _mcc(right, right / self.precision, carried, cells)


def _mcc(right: float, made: float, carried: float, cells: float) -> float:
    """Matthews correlation of label decisions from the hits and the margins; 0 where one margin is empty."""
    spread = made * (cells - made) * carried * (cells - carried)
    return (right * cells - made * carried) / math.sqrt(spread) if spread > 0 else 0.0

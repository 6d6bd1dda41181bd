"""Findings about predicted labels: labels never predicted, over-predicted labels, averages that hide them.

For multilabel problems also: two accuracies, empty predictions, too many or too few labels.
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
from evalreport.evaluation.parts import ClassResult
from evalreport.findings.chance import (
    BY_CHANCE,
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
"""Number of predicted labels that a claim spells out whatever their length."""
BROKEN = 0.1
"""Proportion of the rows (or a quarter of the labels) above which missing predictions are an error."""
MANY_TIMES = 1.5
"""Minimum ratio of predictions to examples of an over-predicted label."""
EXCESSIVE = 0.25
"""Excess of over-predicted labels, as a proportion of all predictions, above which they are an error unless they
are right more often than by chance."""
LESS_VARIED = 0.8
"""Ratio of the effective numbers of predicted and true labels below which the claim reports them."""
SPURIOUS = 0.05
"""Proportion of rows predicted as a label without examples above which the finding is a caution."""
GAP = 0.1
"""Minimum difference of averages for a finding."""
SHOWN_IN: Mapping[Task, str] = dict.fromkeys(CLASSES, "confusions") | {"multilabel": "labels"}
"""Section that shows over-predicted labels."""
AVERAGES = {
    "f1_macro": "over labels that occur as true label or prediction (as in scikit-learn)",
    "f1_macro_supported": "over labels with examples",
    "f1_macro_declared": "over all declared labels",
}


@rule(section=CLASSES)
def never_predicted(ev: Evaluation) -> FindingDraft | None:
    """Labels with examples and without predictions, when small classes do not explain it by chance.

    Labels without any parsed response are reported by `unparsed_labels`.
    """
    known = [margin for margin in margins(ev) if margin.support > 0]
    silent = sorted(
        (m for m in known if m.predicted == 0 and m.unparsed < m.support), key=lambda m: -m.support
    )
    if not silent or _is_by_chance(ev, known, silent):
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
            "predicted_instead": _predicted_instead(ev, silent),
        },
        severity="error" if broken else "caution",
        action=_advice(ev),
    )


def _advice(ev: Evaluation) -> str:
    """Advice for labels that are never predicted: another threshold where the scores rank the label well."""
    if ev.task == "binary" and ranking_skill(ev) == "significant":
        return "The scores rank it better than chance: choose another threshold, --threshold max-f1 --tune-on FILE."
    return "Check that they are in the training data, and among the labels that the model may return."


def _is_by_chance(ev: Evaluation, known: Sequence[Margin], silent: Sequence[Margin]) -> bool:
    """Whether an unbiased model would also miss so many labels, or the largest of them.

    Its predictions of a label with s examples are about Poisson(s): none with probability exp(-s).
    """
    scale = informative(ev)
    none = [math.exp(-margin.support * scale) for margin in known]
    greatest = math.exp(-silent[0].support * scale)
    return poisson_tail(len(silent), sum(none)) > BY_CHANCE and len(known) * greatest > BY_CHANCE


def _silence(ev: Evaluation, silent: Sequence[Margin], spoken: Sequence[Label]) -> str:
    who = "{n_never_predicted:count} of {n_with_examples:classes} {n_never_predicted:is|are} never predicted"
    wrong = (
        "{n_never_predicted:Its|Their} {support:occurrences} {support:is|are} missed"
        if ev.task == "multilabel"
        else "{n_never_predicted:Its|Their} {support:weight} {support:is|are} wrong"
    )
    if len(spoken) <= FEW and len(silent) > len(spoken):
        only = "no label is predicted" if not spoken else "every prediction is {predicted_labels:either}"
        return f"{who}: {only}. {wrong}."
    to = ", most often predicted as {predicted_instead:labels}" if _predicted_instead(ev, silent) else ""
    return f"{who}: {{labels:labels}}. {wrong}{to}."


def _predicted_instead(ev: Evaluation, silent: Sequence[Margin]) -> list[Label]:
    """The labels that are predicted most often for examples of these labels, up to three."""
    if ev.confusion is None or len(ev.space) == 2:
        return []
    place = {label: code for code, label in enumerate(ev.space.display_labels)}
    rows = np.isin(ev.confusion.rows, [place[margin.label] for margin in silent])
    given = np.zeros(ev.confusion.size + 1)
    np.add.at(given, ev.confusion.columns[rows], ev.confusion.weight[rows])
    order = np.argsort(-given[:-1], kind="stable")[:3]
    return [ev.space.display_labels[code] for code in order.tolist() if given[code] > 0]


@rule(
    section=SHOWN_IN,
    action="Look at the false positives of this label, and check its frequency in the training data.",
)
def overpredicted_labels(ev: Evaluation) -> FindingDraft | None:
    """Labels with significantly more predictions than examples."""
    known = margins(ev)
    made, due = sum(m.predicted for m in known), sum(m.support for m in known)
    chosen = [m for m in known if len(known) > 2 and _is_overpredicted(ev, m, made / due if due else 0.0)]
    if not chosen:
        return None
    chosen.sort(key=lambda margin: -margin.excess)
    share, part = sum(m.predicted for m in chosen) / made, sum(m.support for m in chosen) / due
    varied = _effective_labels([m.predicted for m in known]), _effective_labels([m.support for m in known])
    claim = "{top:label} {alone}is predicted {predicted:count} {predicted:time|times} for {support:examples}"
    if len(chosen) > 1:
        claim = (
            "{labels:few} are {share_of_predictions:whole} of all predictions but {share_of_truth:whole} of the true labels; "
            + claim
        )
    claim += "."
    if ev.task == "multiclass" and varied[0] < LESS_VARIED * varied[1]:
        claim += " The effective number of labels is {effective_labels_predicted:tenths} among the predictions and {effective_labels_true:tenths} among the true labels."
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
            "excess": sum(margin.excess for margin in chosen),
            "effective_labels_predicted": varied[0],
            "effective_labels_true": varied[1],
        },
        severity="error" if share - part > EXCESSIVE and not _exceeds_chance(ev, chosen) else "caution",
    )


def _effective_labels(rows: Sequence[float]) -> float:
    """The effective number of labels: exp(entropy) (Hill 1973, Ecology 54:427, order 1)."""
    part = np.array([number for number in rows if number > 0]) / sum(rows)
    return float(np.exp(-(part * np.log(part)).sum()))


def _exceeds_chance(ev: Evaluation, chosen: Sequence[Margin]) -> bool:
    """Whether predictions of these labels are right more often than shuffled ones."""
    due = [margin.support * margin.predicted / ev.weight for margin in chosen]
    spread = sum(
        one * (1 - margin.support / ev.weight) * (1 - margin.predicted / ev.weight)
        for one, margin in zip(due, chosen, strict=True)
    )
    return deviation(ev, sum(margin.right for margin in chosen) - sum(due), spread) > SURE


def _is_overpredicted(ev: Evaluation, margin: Margin, more: float) -> bool:
    """Whether a label has 1.5 times as many predictions as examples, also relative to all other labels."""
    often = margin.predicted > MANY_TIMES * margin.support * max(1.0, more) and margin.support > 0
    return often and deviation(ev, margin.excess, margin.discordant) > SURE


@rule(
    section="parsing",
    action="Read these responses: the model may refuse, or name the label in words that the parser does not know.",
)
def unparsed_labels(ev: Evaluation) -> FindingDraft | None:
    """Labels for which no response could be parsed."""
    lost = [m for m in margins(ev) if m.support > 0 and m.unparsed == m.support]
    if not lost or ev.confusion is None or ev.confusion.unparsed_weight == ev.confusion.total:
        return None
    return FindingDraft(
        "No response could be parsed for the {support:weight} of {labels:labels}: the model's performance on {n:it|them} is unknown.",
        {"labels": [m.label for m in lost], "n": len(lost), "support": sum(m.support for m in lost)},
    )


@rule(
    section=CLASSES,
    action="Quote the average over classes with examples, or add examples of the missing ones.",
)
def absent_classes(ev: Evaluation) -> FindingDraft | None:
    """Labels without an example in this sample."""
    known = margins(ev)
    missing = [margin.label for margin in known if margin.support == 0]
    if not missing or len(missing) >= len(known) - 1:
        return None
    supported, declared = value(ev, "f1_macro_supported"), value(ev, "f1_macro_declared")
    claim = "{n_absent:count} of {n_labels:classes} {n_absent:has|have} no example in this sample: {labels:labels}. The sample lacks {n_absent:it|them}; the model did not fail."
    if (
        supported is not None and declared is not None and supported - declared > 0.001
    ):  # three decimals are shown
        claim += " Counting {n_absent:it|them} as zero lowers macro F1 from {f1_macro_supported:ratio} to {f1_macro_declared:of f1_macro_supported}."
    if ev.score_kind is not None:
        claim += " Averages of areas under curves and of calibration errors skip {n_absent:it|them}."
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


@rule(section=CLASSES, action="Look at a few: true labels may be incomplete, and these predictions right.")
def spurious_classes(ev: Evaluation) -> FindingDraft | None:
    """Labels that are predicted and have no example."""
    extra = [m for m in margins(ev) if m.support == 0 and m.predicted > 0]
    weight = sum(margin.predicted for margin in extra)
    if weight < 0.005 * ev.weight or not extra:  # fewer are labelling errors: chosen by hand
        return None
    return FindingDraft(
        "{predicted:count} {predicted:prediction|predictions} {predicted:names|name} {n:classes} without any example here: {labels:labels}.",
        {"labels": [margin.label for margin in extra], "n": len(extra), "predicted": weight},
        severity="caution" if weight >= SPURIOUS * ev.weight else "note",
    )


@rule("note", section="metrics", action="State which one you quote, and compare runs by the same one.")
def macro_definitions(ev: Evaluation) -> FindingDraft | None:
    """The three macro averages of F1 differ."""
    found = {name: number for name in AVERAGES if (number := value(ev, name)) is not None}
    if len(found) < 2 or max(found.values()) - min(found.values()) <= 0.001:  # as they are shown
        return None
    parts = [f"{{{name}:ratio}} {AVERAGES[name]}" for name in found]
    return FindingDraft(
        "Macro F1 has several definitions, which differ here: " + "; ".join(parts) + ".", found
    )


@rule(section=CLASSES, action="Read the table of classes, weakest first, before you quote one number.")
def micro_macro_gap(ev: Evaluation) -> FindingDraft | None:
    """Micro F1 far above macro F1 over the labels with examples: weak classes are hidden."""
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
            "weak": [entry.label for entry in sorted(weak, key=_weakest_first)],
        },
        severity="error" if broken else "caution",
    )


def _weakest_first(entry: ClassResult) -> tuple[float, float]:
    f1 = entry.metrics.get("f1")
    return (f1.value if isinstance(f1, Estimate) else 0.0, -entry.support)


def _is_below_level(result: Result | None, level: float, *, sure: bool = False) -> bool:
    """Whether a value (with `sure`, its whole interval) is below a level; undefined counts as zero."""
    if not isinstance(result, Estimate):
        return True
    high = result.high if sure and result.high is not None else result.value
    return high < level


MISREAD = 0.01
"""Proportion of rows wrong only by their spelling above which the finding is an error."""


@rule(
    section=CLASSES,
    action="If they are one class, spell it the same in labels and predictions; labels are never merged automatically.",
)
def lookalikes(ev: Evaluation) -> FindingDraft | None:
    """Labels that differ only in spaces, case, invisible characters or Unicode form."""
    groups = _groups(ev.space.names)
    if not groups:
        return None
    first = max(groups, key=lambda codes: _mistaken(ev, [codes]))
    one, other = (ev.space.display_labels[code] for code in first[:2])
    mistaken = _mistaken(ev, groups)
    claim = "{first:label} and {second:label} differ only in {how}"
    if len(groups) > 1:
        claim += "; {n:count} sets of labels differ only in spelling"
    claim += "."
    if mistaken:
        claim += " {mistaken:weight} {mistaken:is|are} counted as wrong only because of the spelling."
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
    """Codes of labels that are equal after folding, two or more of each, in the order of the labels."""
    found: dict[str, list[int]] = {}
    for code, name in enumerate(names):
        plain = _visible_characters(unicodedata.normalize("NFKC", name)).casefold()
        found.setdefault(" ".join(plain.split()), []).append(code)
    return [codes for codes in found.values() if len(codes) > 1]


def _visible_characters(name: str) -> str:
    """A name without invisible characters, such as zero-width spaces and variation selectors."""
    return "".join(
        one for one in name if unicodedata.category(one) != "Cf" and not "\ufe00" <= one <= "\ufe0f"
    )


def _how(one: str, other: str) -> str:
    """The differences between two names, in words."""
    forms = [unicodedata.normalize("NFKC", name) for name in (one, other)]
    seen = [*map(_visible_characters, forms)]
    spaced = [" ".join(form.split()) for form in seen]
    found = [
        ("the form of their Unicode characters", forms[0] != one or forms[1] != other),
        ("invisible characters", forms != seen),
        ("spaces", seen != spaced),
        ("case", spaced[0] != spaced[1]),
    ]
    return " and ".join(what for what, is_so in found if is_so)


def _mistaken(ev: Evaluation, groups: Sequence[Sequence[int]]) -> float:
    """Weight of the rows whose prediction is another spelling of the true label."""
    if ev.confusion is None:
        return 0.0
    group = np.arange(len(ev.space) + 1)
    for codes in groups:
        group[list(codes)] = codes[0]
    rows, columns = ev.confusion.rows, ev.confusion.columns
    only_spelling = (rows != columns) & (group[rows] == group[columns])
    return float(ev.confusion.weight[only_spelling].sum())


SPARSE = 0.8
"""Proportion of negative label decisions above which their accuracy is misleadingly high."""
EMPTY = 0.05
"""Minimum excess of rows without a predicted label over rows without a true label, as a proportion of rows."""
LOAD = 1.25
"""Minimum ratio of predicted to true labels, in either direction."""
GAIN = 0.02
"""Gain in micro F1 below which no other threshold is recommended."""


@rule(section="verdict", action="Quote subset accuracy, or F1 averaged over labels, not just “accuracy”.")
def two_accuracies(ev: Evaluation) -> FindingDraft | None:
    """Accuracy over label decisions is misleadingly high when most decisions are negative."""
    exact, each, carried = (
        value(ev, name) for name in ("subset_accuracy", "label_accuracy", "cardinality_true")
    )
    if exact is None or each is None or carried is None:
        return None
    none = 1 - carried / len(ev.space)
    if none < SPARSE or each - exact < 0.2:  # a smaller difference does not mislead: chosen by hand
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
        "“Accuracy” has two meanings: {subset_accuracy:percent} of {n:units} have every label right, and {label_accuracy:percent} of single label decisions are right. Never predicting a label would get {all_zeros:of label_accuracy} of these right: the model is "
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


@rule(section="threshold", action="Lower the threshold, or always predict the label with the highest score.")
def empty_predictions(ev: Evaluation) -> FindingDraft | None:
    """Rows without a predicted label, more than rows without a true label."""
    empty, truly = value(ev, "empty_prediction_rate"), ev.no_skill.get("subset_accuracy")
    if empty is None or truly is None:
        return None
    got, bare = empty * ev.weight, truly * ev.weight
    if got - bare < EMPTY * ev.weight or deviation(ev, got - bare, got + bare) < SURE:
        return None
    return FindingDraft(
        "{empty:count} of {n:weight} ({share:of empty_prediction_rate}) get no predicted label, "
        + ("and {bare:count} have no true label" if bare >= 1 else "although all have true labels")
        + ". On average {set:of cardinality_predicted} labels are predicted and {carried:of cardinality_true} are true.",
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
    """Many more, or many fewer, labels are predicted than true."""
    known = margins(ev)
    made, due = sum(m.predicted for m in known), sum(m.support for m in known)
    if not isinstance(ev.space, Multilabel) or not made or not due:
        return None
    off = deviation(ev, made - due, sum(m.discordant for m in known) * len(ev.space) ** 0.5)
    if max(made / due, due / made) < LOAD or abs(off) < SURE:
        return None
    return FindingDraft(
        "Too {many} labels are predicted: {made:count} in {n:weight}, with {carried:count} true labels.",
        {"made": made, "carried": due, "n": ev.weight, "many": "many" if made > due else "few"},
        section="labels" if ev.score_kind is None else None,
    )


@rule(
    section="threshold",
    action="Choose one threshold, or one for each label, on validation data (--tune-on FILE).",
)
def one_threshold(ev: Evaluation) -> FindingDraft | None:
    """All labels use the default threshold although another common threshold has better F1 and MCC.

    The other one is chosen on the same rows, so its gain has to exceed the whole width of the interval.
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
        "All labels use the default threshold {threshold:threshold}: at {best_threshold:threshold} micro F1 would be {best_f1:of f1_micro} instead of {f1:of f1_micro} on these {n:units}.",
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

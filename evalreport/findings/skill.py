"""Is the model any better than an answer that ignores the input, and is a number too good to be true?"""

from __future__ import annotations

from evalreport.evaluation.model import Evaluation
from evalreport.findings.words import estimate, listed, quoted, rows, value
from evalreport.format import count, percent, ratio
from evalreport.labels import Binary
from evalreport.values import Estimate, Finding, Undefined

FEW_EVENTS = 100
"""Positives (or negatives) below which a binary sample is small; the usual rule for validation studies."""
FEW_ROWS = 20
"""Examples of a class below which its own numbers are mostly chance."""


def one_class(ev: Evaluation) -> Finding | None:
    """Only one class occurs in the truth: half of the metrics are undefined."""
    if ev.confusion is None:
        return None
    support = ev.confusion.marginals.support
    if (support > 0).sum() != 1:
        return None
    name = ev.space.names[int(support.argmax())]
    undefined = [key for key, result in ev.metrics.items() if isinstance(result, Undefined)]
    return Finding(
        "one_class",
        "error",
        f"Only {quoted(name)} occurs in the truth, so {count(len(undefined))} metrics are undefined, "
        "among them every comparison between classes.",
        {"label": name, "n_undefined": len(undefined)},
        "Evaluate on a sample that holds every class.",
        "provenance",
    )


def no_skill(ev: Evaluation) -> Finding | None:
    """The interval of the main metric covers what an answer that ignores the input would reach."""
    for name in ("roc_auc", "accuracy", "f1_micro"):
        result, level = estimate(ev, name), ev.no_skill.get(name)
        if result is None or level is None or result.low is None or result.low > level:
            continue
        if name == "accuracy" and ev.task == "binary" and _ranks(ev):
            continue  # under imbalance accuracy cannot beat the majority answer: `imbalance` says so
        return Finding(
            "no_skill",
            "error",
            f"{_title(name)} is {ratio(result.value)} ({ratio(result.low)} to {ratio(result.high or 1.0)}), and "
            f"{_ignoring(name)} reaches {ratio(level)}: no skill is shown on this sample.",
            {"metric": name, "value": result.value, "low": result.low, "no_skill": level},
            "Check that truth and predictions belong to the same rows in the same order, then the model.",
            "verdict",
        )
    return None


def _title(name: str) -> str:
    return {"roc_auc": "ROC AUC", "accuracy": "Accuracy", "f1_micro": "Micro F1"}[name]


def _ignoring(name: str) -> str:
    return {
        "roc_auc": "a ranking by chance",
        "accuracy": "always giving the most frequent answer",
        "f1_micro": "an answer that ignores the input",
    }[name]


def _ranks(ev: Evaluation) -> bool:
    auc = estimate(ev, "roc_auc")
    return auc is not None and auc.low is not None and auc.low > 0.5


def imbalance(ev: Evaluation) -> Finding | None:
    """Accuracy misleads: one answer, always given, would already reach most of it."""
    accuracy, base = value(ev, "accuracy"), value(ev, "no_information_rate")
    if accuracy is None or base is None or base < 0.8 or len(ev.space) > 2:
        return None
    if ev.confusion is None:
        return None
    support = ev.confusion.marginals.support
    name = ev.space.names[int(support.argmax())]
    verdict = "no better than that" if accuracy <= base else "hardly better than that"
    clear = accuracy - base > 0.5 * (1 - base)
    if clear:
        verdict = f"right for {percent(1 - (1 - accuracy) / (1 - base))} of what that answer gets wrong"
    return Finding(
        "imbalance",
        "note" if clear else "caution",
        f"Accuracy misleads here: always answering {quoted(name)} is right for {percent(base, ev.rows)}; the "
        f"model, at {percent(accuracy, ev.rows)}, is {verdict}.",
        {"accuracy": accuracy, "no_information_rate": base, "majority": name},
        "Judge by recall and precision of the rare class, by average precision, or by MCC.",
        "verdict",
    )


def too_perfect(ev: Evaluation) -> Finding | None:
    """Everything right, which real data hardly ever are."""
    auc = value(ev, "roc_auc")
    exact = value(ev, "subset_accuracy" if ev.task == "multilabel" else "accuracy")
    if ev.rows < 50 or 1.0 not in (auc, exact):
        return None
    what = (
        "Every answer is right" if exact == 1.0 else "The scores separate the classes without one exception"
    )
    return Finding(
        "too_perfect",
        "caution",
        f"{what} in {rows(ev, ev.rows)}. Real data are seldom that clean: the truth may have leaked into the "
        "predictions.",
        {"n": ev.rows, "accuracy": exact, "roc_auc": auc},
        "Check that no feature holds the answer and that no row of the test set was in training.",
        "verdict",
    )


def inverted(ev: Evaluation) -> Finding | None:
    """The ranking is worse than chance: the scores point the other way."""
    auc = estimate(ev, "roc_auc")
    if auc is None or auc.high is None or auc.high >= 0.5 or not isinstance(ev.space, Binary):
        return None
    return Finding(
        "inverted",
        "error",
        f"ROC AUC is {ratio(auc.value)}, clearly below 0.50: the scores rank {quoted(ev.space.negative)} above "
        f"{quoted(ev.space.positive)}. Turned round they would reach {ratio(1 - auc.value)}.",
        {"roc_auc": auc.value, "high": auc.high},
        f"Name the positive class (--positive {ev.space.negative}), or use the other score column.",
        "curves",
    )


def constant_scores(ev: Evaluation) -> Finding | None:
    """All scores are equal."""
    if not ev.facts.get("constant_scores"):
        return None
    return Finding(
        "constant_scores",
        "error",
        "All scores are equal: the model ranks nothing, and a threshold flags every row or none.",
        {"constant_scores": 1},
        "Check that the right column was taken.",
        "curves",
    )


def few_events(ev: Evaluation) -> Finding | None:
    """Fewer than 100 examples of the rarer class of a binary problem."""
    if not isinstance(ev.space, Binary) or ev.confusion is None:
        return None
    support = ev.confusion.marginals.support
    least = int(support.argmin())
    if not 0 < support[least] < FEW_EVENTS:
        return None
    recall = ev.metrics.get("recall" if least == 1 else "specificity")
    known = ""
    if isinstance(recall, Estimate) and recall.low is not None and recall.high is not None:
        half = (recall.high - recall.low) / 2
        known = f" The share of them that is found is known to about ±{count(round(100 * half))} points."
    return Finding(
        "few_events",
        "caution",
        f"Only {count(support[least])} {quoted(ev.space.names[least])} in {rows(ev, ev.weight)}.{known}",
        {"label": ev.space.names[least], "support": float(support[least])},
        "Differences between runs smaller than the intervals mean nothing; more examples narrow them.",
        "verdict",
    )


def small_classes(ev: Evaluation) -> Finding | None:
    """Classes with fewer than 20 examples."""
    small = [entry for entry in ev.classes if 0 < entry.support < FEW_ROWS]
    if not small:
        return None
    known = sum(entry.support > 0 for entry in ev.classes)
    names = [entry.label for entry in sorted(small, key=lambda entry: entry.support)]
    least = min(entry.support for entry in small)
    return Finding(
        "small_classes",
        "caution",
        f"{count(len(small))} of {count(known)} labels {'has' if len(small) == 1 else 'have'} fewer than "
        f"{FEW_ROWS} examples: {listed(names)}; the fewest is {count(least)}. Their own numbers move by luck alone.",
        {"n_small": len(small), "labels": names, "least": least},
        "Read their rows with the intervals.",
        "classes" if ev.task == "multiclass" else "labels",
    )

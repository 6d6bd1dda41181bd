"""Findings as templates over their evidence: every number of a claim is in the evidence. Also short claims."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial, wraps
from typing import Any, Literal, TypeAlias

from evalreport.core.extensions import load_extensions
from evalreport.core.format import (
    brief,
    count,
    decimals,
    format_decimals,
    format_fixed,
    percent,
    plural,
    pluralize,
)
from evalreport.core.result import Estimate, Finding, Severity, Undefined, format_estimate, format_reference
from evalreport.core.sentences import say
from evalreport.core.text import printable
from evalreport.data.labels import Task
from evalreport.evaluation.evaluation import Evaluation
from evalreport.evaluation.parts import truncate_text
from evalreport.metrics.catalogue import find

SHOWN = 6
"""Number of names that a list spells out."""
FEW = 3
"""Number of names in a list within a sentence of many numbers."""
ROOM = 150
"""Length in characters at which a list of names is cut and the rest is counted; two names are always shown."""
NAME = 60
"""Characters of a name that are shown."""
NOTE = 160
"""Characters of a note about the input that are shown."""
CLASSES: Mapping[Task, str] = {"binary": "threshold", "multiclass": "classes", "multilabel": "labels"}
"""Section that shows every label, by task."""
ESTIMATED = ("percent", "ratio", "number", "two", "tenths")
"""Styles of a number that may be an estimate; without an interval the style decides the decimals."""


@dataclass(frozen=True)
class FindingDraft:
    """The template and evidence of a finding, before the claim is filled.

    Parameters
    ----------
    template : str
        A template of `say` with fields of the evidence (nested as in ``{pairs[0][weight]:count}``) in one of
        its styles or of `STYLES`; it contains no digits. A metric under its own name has the decimals of its
        interval, and so has ``{low:of roc_auc}``. ``{own:within least most}`` has the decimals of the interval
        from least to most, in the style of the metric ``judged_by`` of the evidence; ``apart`` is the same for
        a difference; ``{own:brief}`` is the number as on the first screen.
    evidence : mapping from name to a number, a text, or a list of texts
    severity, section, action : str, optional
        Override those of the rule.
    """

    template: str
    evidence: Mapping[str, Any]
    severity: Severity | None = None
    section: str | None = None
    action: str | None = None


Rule: TypeAlias = Callable[[Evaluation], Finding | None]


@dataclass(frozen=True)
class ShortClaim:
    """A finding in one line of the first screen, with one number below it.

    Parameters
    ----------
    title, detail : str or callable
        Templates over the evidence, as in `FindingDraft`; a callable returns the template for the evidence. Without a
        title, the first clause of the claim is used.
    about : {"model", "data", "author"}
        ``model``: what goes wrong; ``data``: whether the numbers can be trusted; ``author``: only for the
        author of the page.
    mistakes : str
        Name of the evidence that counts the mistakes that the finding explains.
    step : str
        The next step, without options of the command line; empty: the action of the finding.
    """

    title: str | Callable[[Mapping[str, Any]], str] = ""
    detail: str | Callable[[Mapping[str, Any]], str] = ""
    about: Literal["model", "data", "author"] = "model"
    mistakes: str = ""
    step: str = ""


@dataclass(frozen=True)
class AddedRule:
    """A rule that a feature adds at the point "findings".

    Parameters
    ----------
    rule : callable
    before : str
        Name of the rule before which it comes among findings of its severity; the last one without it.
    short : ShortClaim
    """

    rule: Rule
    before: str = ""
    short: ShortClaim = ShortClaim()


def rule(
    severity: Severity = "caution", *, section: str | Mapping[Task, str], action: str = ""
) -> Callable[[Callable[[Evaluation], FindingDraft | None]], Rule]:
    """Make a rule from a function: its findings have its name, and a claim filled from the evidence.

    Parameters
    ----------
    severity, section, action : str
        As in `Finding`; the section may depend on the task.

    Examples
    --------
    >>> from evalreport.evaluation.evaluate import evaluate_predictions
    >>> from evalreport.data.labels import Binary
    >>> from evalreport.data.predictions import predictions
    >>> @rule("note", section="verdict")
    ... def called(ev):
    ...     return FindingDraft("{n:rows} {n:is|are} called {label:label}.", {"n": 1, "label": "ham"})
    >>> found = called(evaluate_predictions(predictions(Binary("ham", "spam"), ["ham"], ["ham"])))
    >>> found.rule, found.claim
    ('called', '1 case is called “ham”.')
    """

    def make_rule(write_draft: Callable[[Evaluation], FindingDraft | None]) -> Rule:
        @wraps(write_draft)
        def make_finding(ev: Evaluation) -> Finding | None:
            draft = write_draft(ev)
            if draft is None:
                return None
            where = draft.section or (section if isinstance(section, str) else section[ev.task])
            claim = fill(ev, draft.template, draft.evidence)
            level = draft.severity or severity
            return Finding(write_draft.__name__, level, claim, draft.evidence, draft.action or action, where)

        return make_finding

    return make_rule


def fill(ev: Evaluation, template: str, evidence: Mapping[str, Any]) -> str:
    """Return the text of a template, filled from the evidence of a finding."""
    return say(template, evidence, of=ev.rows, words=partial(_format_field, ev, evidence)).text


def _format_field(
    ev: Evaluation, evidence: Mapping[str, Any], name: str, known: Any, style: str
) -> str | None:
    """A formatted field: estimates, and numbers shown next to one, have the decimals of the interval."""
    if "|" in style:
        return None
    kind, _, names = style.partition(" ")
    if kind in ("within", "apart"):
        low, high = (evidence[end] for end in names.split())
        scale = find(evidence["judged_by"]).style
        text = format_decimals(known, decimals(low, high, scale, known), scale)
        return text if kind == "within" else text.removesuffix("%")
    if kind == "brief":
        return brief(known, find(evidence.get("judged_by", name)).style)
    own = ev.metrics.get(name)
    alone = isinstance(own, Estimate) and own.low != own.high  # without width it does not determine decimals
    of = name if kind in ESTIMATED or (kind == "of" and alone) else names
    result = ev.metrics.get(of)
    if isinstance(result, Estimate) and result.low is not None and math.isclose(known, result.value):
        return format_estimate(result, find(of, ev.task).style)
    if kind == "of":
        return format_reference(known, Undefined("") if result is None else result, find(of, ev.task).style)
    return STYLES[style](ev, known) if style in STYLES else None


def class_noun(ev: Evaluation) -> tuple[str, str]:
    """Return the noun for a class: "label" for multilabel problems and parsed text, else "class"."""
    return ("label", "labels") if ev.task == "multilabel" or ev.parsing is not None else ("class", "classes")


def _format_row_count(ev: Evaluation, n: float, noun: tuple[str, str]) -> str:
    """A number of rows; a sum of weights is named as such."""
    weights = ev.weighted and ev.row_counts is not None
    return f"{count(n)} {'weighted ' if weights else ''}{plural(n, noun)}"


STYLES: dict[str, Callable[[Evaluation, Any], str]] = {
    "": lambda _, text: printable(text),
    "label": lambda _, name: quote_label(name),
    "labels": lambda _, names: join_quoted_names(names),
    "few": lambda _, names: join_quoted_names(names, FEW),
    "either": lambda _, names: in_words(map(quote_label, names), "or"),
    "notes": lambda _, notes: "; ".join(truncate_text(printable(note), NOTE) for note in notes),
    "about": lambda _, n: format_fixed(n, 0),
    "tenths": lambda _, n: format_fixed(n, 1),
    "whole": lambda _, share: percent(share),
    "points": lambda _, share: pluralize(max(1, round(100 * share)), "point", "points"),
    "units": lambda ev, n: ("weighted " if ev.weighted else "") + plural(n, ev.provenance.unit),
    "rows": lambda ev, n: pluralize(n, *ev.provenance.unit),
    "weight": lambda ev, n: _format_row_count(ev, n, ev.provenance.unit),
    "classes": lambda ev, n: pluralize(n, *class_noun(ev)),
    "occurrences": lambda ev, n: _format_row_count(ev, n, ("occurrence", "occurrences")),
    "examples": lambda ev, n: _format_row_count(ev, n, ("example", "examples")),
    "carried": lambda ev, n: _format_row_count(ev, n, ("label", "labels")),
    "false_positives": lambda ev, n: _format_row_count(ev, n, ("false positive", "false positives")),
}
"""Styles of a field in addition to those of `say`: ``{n:rows}`` is "40 messages", ``{support:weight}`` the same
for a sum of weights."""


def quote_label(name: object) -> str:
    r"""Return a label in quotation marks, printable, cut where it is long.

    Examples
    --------
    >>> quote_label("card_arrival"), quote_label("a\nb")
    ('“card_arrival”', '“a\\nb”')
    """
    text = printable(str(name))
    return f"“{text if len(text) <= NAME else text[: NAME - 1] + '…'}”"


def join_quoted_names(names: Sequence[object], shown: int = SHOWN) -> str:
    """Return quoted names as a list in words; the last ones are only counted.

    Examples
    --------
    >>> join_quoted_names(["a", "b", "c"]), join_quoted_names(["a", "b", "c", "d"], 2)
    ('“a”, “b” and “c”', '“a”, “b” and 2 more')
    """
    parts = [quote_label(name) for name in names[:shown]]
    while len(parts) > 2 and sum(map(len, parts)) > ROOM:
        parts.pop()
    rest = len(names) - len(parts)
    return in_words([*parts, f"{rest:,} more"] if rest else parts)


def spoken(title: str) -> str:
    """Return a metric's title within a sentence.

    Examples
    --------
    >>> spoken("Recall (sensitivity)"), spoken("ROC AUC")
    ('recall', 'ROC AUC')
    """
    plain = title.split(" (", maxsplit=1)[0]
    return plain if plain[1:2].isupper() or plain[1:2].isdigit() else plain[0].lower() + plain[1:]


def in_words(parts: Iterable[str], last_word: str = "and") -> str:
    """Join parts with commas and a last "and".

    Examples
    --------
    >>> in_words(["a"]), in_words(["a", "b"]), in_words(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    *head, last = parts
    return f"{', '.join(head)} {last_word} {last}" if head else last


def value(ev: Evaluation, name: str) -> float | None:
    """Return the value of a metric, None where it is undefined or was not computed."""
    result = ev.metrics.get(name)
    return result.value if isinstance(result, Estimate) else None


def estimate(ev: Evaluation, name: str) -> Estimate | None:
    """Return a metric that has an interval, else None."""
    result = ev.metrics.get(name)
    return result if isinstance(result, Estimate) and result.low is not None else None


def _no_skill(evidence: Mapping[str, Any]) -> str:
    if "roc_auc" in evidence:
        return "ROC AUC {roc_auc:two}"
    if "kappa" in evidence:
        return "quadratic weighted kappa {kappa:two}"
    if "found" in evidence:
        return "{found:count} of {carried:count} labels found"
    return "{right:count} of {n:count} right, {shuffled:about} by chance"


def _miscalibration_detail(evidence: Mapping[str, Any]) -> str:
    if "expected" not in evidence:
        return "calibration slope {calibration_slope:two}"
    if evidence["expected"] > 1:
        what = "{what}" if "what" in evidence else "{label:label}"
        return f"{{expected:about}} {what} expected, {{observed:count}} observed"
    return "predicted {expected:whole}: {observed:count} of {n:count}"


SKILL = ShortClaim("No better than chance", _no_skill)
SHORT: Mapping[str, ShortClaim] = {
    "one_class": ShortClaim("Only one class occurs", "{n_undefined:count} metrics are undefined", "data"),
    "lookalikes": ShortClaim(
        "Labels differ only in {how}", "{mistaken:weight} counted as wrong", "data", "mistaken"
    ),
    "own_scores": ShortClaim("Scores of the predicted label", "not of {positive:label}", "data"),
    "no_skill": SKILL,
    "inverted": ShortClaim("Worse than chance", _no_skill),
    "barely_better": ShortClaim("Barely better than chance", _no_skill),
    "skill_not_significant": ShortClaim("Not significantly better than chance", _no_skill),
    "constant_scores": ShortClaim("All scores are equal", "no ranking is possible"),
    "never_predicted": ShortClaim(
        "{n_never_predicted:count} of {n_with_examples:classes} never predicted",
        "{support:count} {support:mistake|mistakes}",
        mistakes="support",
        step="Check that the classes that are never predicted occur in the training data and among the allowed predictions.",
    ),
    "micro_macro_gap": ShortClaim(
        "{n_weak:count} weak {nouns}",
        "F1 < {half:two}, half of micro F1: {weak:few}",
        step="Add examples of the weak {nouns}, or choose a threshold for each.",
    ),
    "overpredicted_labels": ShortClaim(
        "{top:label} is over-predicted",
        "{predicted:count} predicted, {support:count} true",
        mistakes="excess",
        step="Look at the false positives of {top:label}, and check its frequency in the training data.",
    ),
    "too_perfect": ShortClaim("No mistakes at all", "check for leaked labels", "data"),
    "imbalance": ShortClaim("Accuracy misleads", "always {majority:label}: {always:whole}", "author"),
    "off_scores": ShortClaim(
        "Predictions do not follow the scores", "{off:count} of {n:count} differ", "data"
    ),
    "hard_scores": ShortClaim("Scores are only zero or one", "no ranking, no calibration", "data"),
    "unknown_threshold": ShortClaim("No threshold is given", "only the ranking is measured", "data"),
    "two_accuracies": ShortClaim(
        "“Accuracy” has two meanings",
        "all labels: {subset_accuracy:whole}; single labels: {label_accuracy:whole}",
        "data",
    ),
    "empty_predictions": ShortClaim(
        "{empty:count} of {n:weight} get no label", "{bare:count} {bare:has|have} no true label", mistakes="empty"
    ),
    "label_load": ShortClaim("Too {many} labels predicted", "{made:count} predicted, {carried:count} true"),
    "default_threshold": ShortClaim(
        "Threshold left at {threshold:threshold}", "the default"
    ),
    "threshold_not_chosen": ShortClaim(
        "Threshold left at {threshold:threshold}",
        "{found:count} of {positives:count} found",
        step="Choose the threshold on validation data, by the cost of a miss or by a constraint on recall.",
    ),
    "one_threshold": ShortClaim(
        "Threshold left at {threshold:threshold}",
        "micro F1 {best_f1:two} at {best_threshold:threshold}, now {f1:two}",
        step="Choose one threshold, or one for each label, on validation data.",
    ),
    "slice_gap": ShortClaim(
        "{column} {value:label} is significantly worse",
        "{metric} {own:brief}, {less:brief} lower",
        step="Look at the mistakes where {column} is {value:label} before you rely on the overall number.",
    ),
    "slice_calibration": ShortClaim(
        "Miscalibrated for {column} {value:label}", "{metric} {own:within low high}, ideal is one"
    ),
    "families": ShortClaim(
        "Similar classes are confused",
        "{inside:count} of {mistakes:count} mistakes",
        mistakes="inside",
        step="Decide whether {families[0][labels]:few} need to be distinguished: merge them, or add examples that differ.",
    ),
    "top_confusions": ShortClaim(
        "{pairs[0][truth]:label} misclassified as {pairs[0][predicted]:label}",
        "{pairs[0][weight]:count} of {pairs[0][support]:count}",
        mistakes="weight",
    ),
    "miscalibrated": ShortClaim(detail=_miscalibration_detail),
    "certain_scores": ShortClaim(
        "Probabilities of exactly zero or one", "{ruled_out:count} of them wrong", "data"
    ),
    "unparsed_labels": ShortClaim(
        "No response parsed for {labels:few}", "{support:weight}", mistakes="support"
    ),
    "few_events": ShortClaim("Few {label:label}", "{support:count} of {n:count}", "data"),
    "small_classes": ShortClaim(
        "{n_small:count} of {n:classes} have few examples", "under {few:count} each", "data"
    ),
    "duplicates": ShortClaim("{again:count} texts repeat", "intervals may be too narrow", "data"),
    "repeated_rows": ShortClaim("{again:count} rows repeat", "intervals may be too narrow", "data"),
    "effective_rows": ShortClaim("Uneven or grouped rows", "count as {effective_n:about}", "data"),
    "class_shares": ShortClaim("Class frequencies are off", "{label:label}: {predicted:count} predicted, {support:count} true"),
    "spurious_classes": ShortClaim(
        "Predicts classes without examples", "{predicted:count} {predicted:prediction|predictions}"
    ),
    "absent_classes": ShortClaim("{n_absent:count} of {n_labels:classes} have no example", "{labels:few}", "data"),
    "macro_definitions": ShortClaim("Macro F1 has several definitions", "", "author"),
    "other_threshold": ShortClaim("Another threshold decided", "about {near_threshold:threshold}", "author"),
    "same_rows": ShortClaim("Threshold chosen on these rows", "metrics are optimistic", "data"),
    "data_notes": ShortClaim(about="author"),
}  # fmt: skip
"""By rule; features add theirs with the rule (`AddedRule.short`)."""


@cache
def _every() -> Mapping[str, ShortClaim]:
    return {**SHORT, **{one.rule.__name__: one.short for one in load_extensions("findings")}}


def find_short_claim(finding: Finding) -> ShortClaim:
    """Return the short form of a finding; of an unknown rule, its claim."""
    return _every().get(finding.rule, ShortClaim())


def format_short(ev: Evaluation, finding: Finding) -> tuple[str, str]:
    """Return title and detail of a finding.

    Examples
    --------
    >>> from evalreport.evaluation.evaluate import evaluate_predictions
    >>> from evalreport.data.labels import Multiclass
    >>> from evalreport.data.predictions import predictions
    >>> from evalreport.findings.ordered_rules import find
    >>> ev = evaluate_predictions(predictions(Multiclass("abc"), ["a", "b", "c"] * 40, ["a"] * 120))
    >>> [format_short(ev, finding) for finding in find(ev) if finding.rule == "never_predicted"]
    [('2 of 3 classes never predicted', '80 mistakes')]
    """
    short = find_short_claim(finding)
    first = finding.claim.partition(": ")[0].partition(". ")[0].removesuffix(".").removeprefix("The ")
    title, detail = (_fill_gaps(ev, part, finding) for part in (short.title, short.detail))
    return title or first[:1].upper() + first[1:], detail


def _fill_gaps(ev: Evaluation, part: object, finding: Finding) -> str:
    template = part(finding.evidence) if callable(part) else str(part)
    return fill(ev, template, finding.evidence) if template else ""

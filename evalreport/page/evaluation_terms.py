"""What the panels ask of an evaluation: names of things in the user's words, counts, thresholds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from evalreport.core.errors import UsageError
from evalreport.core.format import Style, plural
from evalreport.core.result import Estimate, Result, Undefined
from evalreport.core.sentences import FIELDS, NOTHING, Sentence, Value, say
from evalreport.data.labels import Binary, Label
from evalreport.data.scores import NoScores
from evalreport.evaluation.evaluation import Evaluation
from evalreport.findings.chance import margins
from evalreport.intervals.distributions import wilson
from evalreport.metrics.catalogue import find
from evalreport.metrics.record import Metric
from evalreport.page.elements import Empty
from evalreport.statistics.confusion import BinaryCounts, Counts
from evalreport.thresholds.sweep import Sweep, scores_of_rows

SMALL_TABLE = 12
"""Classes up to which the confusion matrix is a plain table."""
AMBIGUOUS = frozenset(
    ("no", "yes", "n", "y", "not", "none", "other", "any", "all", "true", "false", "t", "f", "null", "nan")
)
"""Labels that would be read as a word of the sentence."""
FEWEST = 4
"""Minimum number of independent rows for a statement about the next one."""
MATRIX = 1000
"""Classes up to which the confusion matrix is drawn."""

Part = TypeVar("Part")


def defined_or_none(part: Part | Undefined) -> Part | None:
    """Return a part of an evaluation, or None where it is undefined."""
    return None if isinstance(part, Undefined) else part


def metric(ev: Evaluation, name: str) -> Result:
    """Return a metric, undefined where the evaluation does not have it."""
    return ev.metrics.get(name, Undefined("was not computed"))


def estimate(ev: Evaluation, name: str) -> Estimate | None:
    """Return a metric, or None where it is missing or undefined."""
    return defined_or_none(metric(ev, name))


def units(ev: Evaluation, n: float = 2) -> str:
    """Return the user's word for what was classified, for n of them."""
    return plural(n, ev.provenance.unit)


def display_label(ev: Evaluation, label: Label) -> str:
    """Return what a label of a binary problem is called in a sentence.

    Numbers, truth values and words such as "no", which read as something else there, become positive and
    negative; the page says in its provenance which is which.
    """
    space = ev.space
    name = str(label)
    plain = isinstance(label, str) and any(map(str.isalpha, name)) and name.casefold() not in AMBIGUOUS
    if isinstance(space, Binary) and not plain:
        return "positive" if label == space.display_labels[1] else "negative"
    return name


def some(ev: Evaluation, label: Label, n: float = 2) -> str:
    """Return n examples of a label of a binary problem in words: "malignant tumours"."""
    return f"{display_label(ev, label)} {units(ev, n)}"


def positive(ev: Evaluation, n: float = 2) -> str:
    """Return n positive examples of a binary problem in words."""
    return some(ev, ev.space.display_labels[1], n)


def negative(ev: Evaluation, n: float = 2) -> str:
    """Return n negative examples of a binary problem in words."""
    return some(ev, ev.space.display_labels[0], n)


def confidence_percent(ev: Evaluation) -> str:
    """Return the level of the intervals: "95%"."""
    return f"{ev.sampling.level * 100:.10g}%"


NOUNS: Mapping[str, Callable[..., str]] = {"units": units, "positives": positive, "negatives": negative}
"""Words for one or several (`n`) of what a number counts: ``{n:units}`` is "messages"."""
KNOWN: Mapping[str, Callable[[Evaluation], Value | None]] = {
    **{name: partial(word, n=2) for name, word in NOUNS.items()},
    **{name[:-1]: partial(word, n=1) for name, word in NOUNS.items()},
    "Units": lambda ev: units(ev).capitalize(),
    "level": confidence_percent,
    "classes": lambda ev: len(ev.space),
}
"""What a sentence may name of any evaluation."""


def tell(
    ev: Evaluation,
    template: str,
    given: Mapping[str, Any] = MappingProxyType({}),
    /,
    *,
    of: float | None = None,
    **values: Value | None,
) -> Sentence:
    """Return a sentence about an evaluation, which knows what is not given: the user's words, its metrics.

    The sentence is empty where a field is None, or names a metric without a value.

    Parameters
    ----------
    template : str
        As of `say`; ``{units}`` and the others of `KNOWN` need no value, nor does a metric, ``{f1:ratio}``;
        ``{n:units}`` is the user's word for n rows.
    given : mapping, optional
    of : float, optional
    **values : float, str, Sentence or Estimate

    Examples
    --------
    >>> from evalreport.evaluation.evaluate import evaluate_predictions
    >>> from evalreport.data.predictions import predictions
    >>> ev = evaluate_predictions(predictions(Binary("ham", "spam"), ["ham"], ["ham"]))
    >>> tell(ev, "Right for {accuracy:percent}: {n:count} {n:units}.", n=1).text
    'Right for 100%: 1 case.'
    >>> tell(ev, "The area is {roc_auc:ratio}.").text
    ''
    """
    known: dict[str, Any] = {**given, **values}
    for name in {field.partition(".")[0] for _, field, _, _ in FIELDS.parse(template) if field}:
        known[name] = known[name] if name in known else _known_value(ev, name)
        if known[name] is None:
            return NOTHING
    return say(template, known, of=of, words=lambda _, n, form: NOUNS[form](ev, n) if form in NOUNS else None)


def _known_value(ev: Evaluation, name: str) -> Value | None:
    return KNOWN[name](ev) if name in KNOWN else estimate(ev, name)


def four_counts(ev: Evaluation) -> BinaryCounts | None:
    """Return true and false positives and negatives of a binary evaluation, None without decisions."""
    if not isinstance(ev.space, Binary) or ev.confusion is None:
        return None
    return ev.confusion.binary(float("nan"))


def one_threshold(ev: Evaluation) -> float | None:
    """Return the threshold where there is one for all."""
    if ev.threshold is None or isinstance(ev.threshold.value, tuple):
        return None
    return ev.threshold.value


def is_text(ev: Evaluation) -> bool:
    """Whether labels were read from generated text."""
    return "parse_rate" in ev.metrics


def majority(ev: Evaluation, counts: Counts) -> str:
    """Return the label that occurs most often in truth."""
    return ev.space.names[int(np.argmax(counts.marginals.support))]


def complement(share: Estimate) -> Estimate:
    """Return what is left of a share, with its interval.

    Examples
    --------
    >>> rest = complement(Estimate(0.75, 40, 0.5, 0.875))
    >>> rest.value, rest.low, rest.high
    (0.25, 0.125, 0.5)
    """
    low, high = (None if end is None else 1 - end for end in (share.high, share.low))
    return Estimate(1 - share.value, share.n, low, high, share.method)


def unparsed_weight(ev: Evaluation) -> float:
    """Return the weight of answers from which no label could be read."""
    return 0.0 if ev.confusion is None else ev.confusion.unparsed_weight


def mistakes(ev: Evaluation) -> float | None:
    """Return the weight of wrong predictions (multilabel: label decisions), None without decisions."""
    if ev.confusion is not None:
        return ev.confusion.total - float(ev.confusion.marginals.tp.sum())
    if ev.classes:
        return sum(c.support + c.predicted - 2 * c.right for c in ev.classes)
    return None


def of_weights(ev: Evaluation) -> Sentence:
    """Return that the counts of a section are sums of weights; nothing where each row counts once."""
    return say("Counts here are weighted: sums of weights that average one.") if ev.weighted else NOTHING


def bounds_of_none(ev: Evaluation) -> Sentence:
    """Return how good a flawless result is for sure: the interval of recall of each class, or the rarest.

    Wilson's interval, as that of recall; its n is what is independent: rows, their groups, or the effective
    number of weighted rows.
    """
    n = round(min(ev.data_checks.get("effective_n", ev.rows), ev.clusters or ev.rows))
    if n < FEWEST:
        what = units(ev) if n == ev.rows else f"independent {'groups' if n == ev.clusters else units(ev)}"
        return say("Too few {what} to expect the same of new ones.", what=what)
    counts = {margin.label: margin.support for margin in margins(ev) if margin.support > 0}
    low = {
        label: float(wilson(m := support * n / ev.weight, m, ev.sampling.level)[0])
        for label, support in counts.items()
    }
    found = _of_classes(ev, counts, low)
    if n == ev.rows:
        return found
    what = "groups" if n == ev.clusters else units(ev, n)
    return found + say("All are counted as {n:count} independent {what}.", n=n, what=what)


def _of_classes(ev: Evaluation, counts: Mapping[Label, float], low: Mapping[Label, float]) -> Sentence:
    if isinstance(ev.space, Binary):
        no, yes = ev.space.display_labels
        words = "Recall is between {recall_low:percent} and {whole:percent} ({p:count} {p:positives})."
        found = tell(ev, words, whole=1.0, recall_low=low.get(yes), p=counts.get(yes))
        words = (
            "Specificity is between {specificity_low:percent} and {whole:percent} ({n:count} {n:negatives})."
        )
        return found + tell(ev, words, whole=1.0, specificity_low=low.get(no), n=counts.get(no))
    name = min(counts, key=lambda label: counts[label], default=None)
    if name is None:
        return NOTHING
    noun = "label" if ev.task == "multilabel" else "class"
    words = "Recall of {label:quoted} is between {recall_low:percent} and {whole:percent} "
    words += "({rarest:count} {rarest:example|examples}, the fewest of a {noun})."
    return say(words, label=str(name), rarest=counts[name], recall_low=low[name], noun=noun, whole=1.0)


def no_mistakes(ev: Evaluation) -> Empty:
    """Return the text shown instead of mistakes where there are none."""
    return Empty(tell(ev, "No mistakes in {n:count} {n:units}.", n=ev.weight), bounds_of_none(ev))


def whole_sweep(ev: Evaluation) -> Sweep | None:
    """Return every threshold, where the predictions are at hand; else those that the evaluation kept.

    Parameters
    ----------
    ev : Evaluation
    """
    p = ev.predictions
    if p is None or isinstance(p.scores, NoScores) or not isinstance(ev.space, Binary):
        return ev.sweep
    return Sweep.from_table(scores_of_rows(p))


SIGNS = {">=": "≥", "<=": "≤", ">": ">", "<": "<"}
OWN = {"cost": "Cost per row", "net_benefit": "Net benefit per row"}
"""Objectives that are not in the catalogue of metrics, or differ from the metric of their name."""


def objective_title(name: str) -> str:
    """Return the title of an objective or metric; of one that is not known, its name.

    Examples
    --------
    >>> objective_title("f1_macro"), objective_title("recall[joy]>=0.95"), objective_title("module:gain")
    ('Macro F1', 'Recall (sensitivity) of joy ≥ 0.95', 'module:gain')
    """
    for sign, shown in SIGNS.items():
        metric, found, bound = name.rpartition(sign)
        if found:
            metric, _, label = metric.removesuffix("]").partition("[")
            return f"{objective_title(metric)}{label and f' of {label}'} {shown} {bound}"
    metric_of = metric_named(name)
    return OWN.get(name) or (name if metric_of is None else metric_of.title)


def metric_named(name: str) -> Metric | None:
    """Return the metric of a name, or None.

    Examples
    --------
    >>> metric_named("val_score") is None
    True
    """
    try:
        return find(name)
    except UsageError:
        return None


def objective_style(name: str) -> Style:
    """Return how values of an objective's metric are shown: as those of its metric, else as a number.

    Examples
    --------
    >>> objective_style("f1"), objective_style("recall"), objective_style("cost"), objective_style("m:gain")
    ('ratio', 'percent', 'number', 'number')
    """
    metric = None if name in OWN else metric_named(name)
    return "number" if metric is None else metric.style

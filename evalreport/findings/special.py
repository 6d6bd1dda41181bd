"""What only several labels, generated text, slices or the sample itself can show."""

from __future__ import annotations

import math

from evalreport.curves import Cardinality
from evalreport.evaluation.model import Evaluation
from evalreport.evaluation.parts import Slice
from evalreport.evaluation.rows import cut
from evalreport.findings.words import in_words, quoted, rows, some, value
from evalreport.format import count, percent, ratio
from evalreport.values import Estimate, Finding

SURE = 4.0


def two_accuracies(ev: Evaluation) -> Finding | None:
    """The accuracy over label decisions flatters when most decisions are "no"."""
    exact, each = value(ev, "subset_accuracy"), value(ev, "label_accuracy")
    true = value(ev, "cardinality_true")
    if exact is None or each is None or true is None:
        return None
    nothing = 1 - true / len(ev.space)
    if nothing < 0.8 or each - exact < 0.2:
        return None
    one = ev.provenance.unit[0]
    verdict = (
        "no better than" if each <= nothing else "hardly better than" if each - nothing < 0.02 else "beside"
    )
    return Finding(
        "two_accuracies",
        "caution",
        f"“Accuracy” is two numbers here: {percent(exact, ev.rows)} of {ev.provenance.unit[1]} have every label "
        f"right, and {percent(each, ev.rows)} of single label decisions are right. The second flatters: a {one} "
        f"carries {true:.1f} of {len(ev.space)} labels, so setting no label at all would reach "
        f"{percent(nothing, ev.rows)}; the model is {verdict} that.",
        {"subset_accuracy": exact, "label_accuracy": each, "all_zeros": nothing, "cardinality_true": true},
        "Quote subset accuracy, or F1 averaged over labels; never “accuracy” alone.",
        "verdict",
    )


def empty_predictions(ev: Evaluation) -> Finding | None:
    """Rows that get no label although they carry some."""
    empty, cardinality = value(ev, "empty_prediction_rate"), getattr(ev.curves, "cardinality", None)
    if empty is None:
        return None
    truly = cardinality.true[0] / sum(cardinality.true) if isinstance(cardinality, Cardinality) else 0.0
    spread = math.sqrt(max(empty * (1 - empty), 1e-9) / max(ev.weight, 1))
    if empty - truly < max(0.05, SURE * spread):
        return None
    return Finding(
        "empty_predictions",
        "caution",
        f"{percent(empty, ev.rows)} of {ev.provenance.unit[1]} get no label at all; "
        f"{percent(truly, ev.rows)} carry none.",
        {"empty_prediction_rate": empty, "truly_empty": truly},
        "Lower the threshold, or always set the label with the highest score.",
        "threshold",
    )


def parse_failures(ev: Evaluation) -> Finding | None:
    """Answers from which no label could be read, by reason."""
    report = ev.parsing
    if report is None or not report.n_unparsed:
        return None
    share = report.n_unparsed / report.n
    reasons = sorted(((n, reason) for reason, n in report.reasons.items() if reason and n), reverse=True)
    words = {
        "refusal": "refusals",
        "empty": "empty answers",
        "unknown_label": "labels that do not exist",
        "ambiguous": "answers with several labels and no final one",
        "no_label": "answers without any label",
        "parser_error": "failures of the parser itself",
    }
    named = in_words([f"{count(n)} {words[reason]}" for n, reason in reasons])
    with_, without = value(ev, "accuracy"), value(ev, "accuracy_parsed")
    effect = ""
    if with_ is not None and without is not None:
        effect = (
            f" They count as wrong: accuracy is {percent(with_, ev.rows)}, and {percent(without, ev.rows)} "
            "among the readable."
        )
    return Finding(
        "parse_failures",
        "error" if share >= 0.1 else "caution" if share >= 0.01 else "note",
        f"{some(report.n_unparsed, 'answer', 'answers')} of {count(report.n)} ({percent(share, ev.rows)}) could "
        f"not be read as a label: {named}.{effect}",
        {"n_unparsed": report.n_unparsed, "n": report.n, **{reason: n for n, reason in reasons}},
        "Constrain the output to the list of labels, or serve with the same parser as here.",
        "parsing",
    )


def refusals(ev: Evaluation) -> Finding | None:
    """The model declines to answer."""
    report = ev.parsing
    n = 0 if report is None else report.reasons.get("refusal", 0)
    if report is None or n < 0.01 * report.n or n < 5:
        return None
    return Finding(
        "refusals",
        "caution",
        f"The model declines {some(n, 'question', 'questions')} of {count(report.n)} ({percent(n / report.n, ev.rows)}).",
        {"refusal": n, "n": report.n},
        "Read a few: the prompt may trigger a safety rule, or leave the model without a fitting label.",
        "parsing",
    )


def format_drift(ev: Evaluation) -> Finding | None:
    """Answers come in several formats, which the serving parser has to know all."""
    report = ev.parsing
    if report is None:
        return None
    found = sorted(((n, name) for name, n in report.formats.items() if name and n), reverse=True)
    parsed = sum(n for n, _ in found)
    if len(found) < 2 or found[0][0] > 0.9 * parsed:
        return None
    top = in_words([f"{name.replace('_', ' ')} ({percent(n / parsed)})" for n, name in found[:4]])
    return Finding(
        "format_drift",
        "note",
        f"The answers come in {some(len(found), 'format', 'formats')}; the most frequent are {top}.",
        {"formats": {name: n for n, name in found}},
        "A parser that knows only one of them loses the rest: ask for one format, or serve with this parser.",
        "parsing",
    )


def slice_gap(ev: Evaluation) -> Finding | None:
    """A slice that is worse than the rest, after correction for looking at all of them."""
    gaps = [(gap, part, name) for part in ev.slices for name, gap in _gaps(part)]
    if not gaps:
        return None
    gap, part, name = min(gaps, key=lambda entry: entry[0].value)
    own = part.metrics[name]
    return Finding(
        "slice_gap",
        "caution",
        f"{part.column} = {quoted(part.value)} does worse than the rest: {name} is {ratio(own.value or 0.0)}, "
        f"{ratio(-gap.value)} lower ({ratio(-(gap.high or 0.0))} to {ratio(-(gap.low or 0.0))}), in "
        f"{rows(ev, part.rows)}.",
        {
            "column": part.column,
            "value": part.value,
            "metric": name,
            "difference": gap.value,
            "slices": len(gaps),
        },
        "Look at this group's mistakes before the overall number is used for it.",
        "groups",
    )


def _gaps(part: Slice) -> list[tuple[str, Estimate]]:
    return [
        (name, difference)
        for name, difference in part.differences.items()
        if isinstance(difference, Estimate)
        and difference.high is not None
        and difference.high < 0
        and part.p_adjusted.get(name, 1.0) < 0.01
    ]


def duplicates(ev: Evaluation) -> Finding | None:
    """Texts that occur more than once."""
    again = ev.facts.get("duplicate_texts", 0)
    if again < max(2, 0.01 * ev.rows):
        return None
    return Finding(
        "duplicates",
        "caution",
        f"{rows(ev, again)} of {count(ev.rows)} {'repeats' if again == 1 else 'repeat'} a text that stands "
        "elsewhere in the sample: the intervals are too narrow by that much.",
        {"duplicate_texts": again, "n": ev.rows},
        "Drop the repeats, or name what belongs together with --group.",
        "provenance",
    )


def data_notes(ev: Evaluation) -> Finding | None:
    """What was done to the data at the door."""
    if not ev.notes:
        return None
    return Finding(
        "data_notes", "note", "; ".join(map(cut, ev.notes)) + ".", {"notes": list(ev.notes)}, "", "provenance"
    )

"""Sections and findings: how labels were read from generated text; and several responses to each row."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.core.errors import DataError, UsageError
from evalreport.core.format import count, percent, plural
from evalreport.core.result import Estimate, Result, Undefined, interval, shown_value
from evalreport.core.sentences import say
from evalreport.data.arrays import repeated_ids
from evalreport.data.predictions import Categorical, Predictions
from evalreport.data.scores import NoScores
from evalreport.evaluation.evaluation import Evaluation
from evalreport.evaluation.parts import AgreementGroup, RepeatedResponses
from evalreport.findings.rule import AddedRule, FindingDraft, ShortClaim, in_words, rule, value
from evalreport.intervals.distributions import score_limits, t_quantile
from evalreport.intervals.interval_settings import FEWEST, NOT_ASKED, Sampling
from evalreport.intervals.paired import effective
from evalreport.page.elements import Cell, Column, Forest, Heading, Note, Row, Section, Table, forest_row
from evalreport.page.evaluation_terms import confidence_percent, tell, units
from evalreport.statistics.confusion import Array

REASONS = {
    "refusal": "refused to answer",
    "empty": "empty response",
    "unknown_label": "names a label that does not exist",
    "ambiguous": "names several labels",
    "no_label": "contains no label",
    "parser_error": "the parser failed",
}
FORMATS = {
    "bare": "the label alone",
    "spaced": "the label with spaces",
    "quoted": "in quotation marks",
    "markdown": "in Markdown",
    "code_fence": "in a code block",
    "json": "in JSON",
    "xml": "in a tag",
    "prefix": "after a name (“Label: x”)",
    "sentence": "within a sentence",
    "final_answer": "after reasoning, as final answer",
    "negated": "beside a label that is ruled out",
    "fuzzy": "by similarity",
    "pattern": "by the given pattern",
    "function": "by the given function",
}


def parsing_section(ev: Evaluation) -> Section | None:
    """Return the outcome of reading labels from text."""
    report = ev.parsing
    if report is None:
        return None
    words = "{read:count} of {n:count} responses contain exactly one label; "
    words += "{unparsed:count} {unparsed:does|do} not and {unparsed:counts|count} as wrong."
    summary = say(words, read=report.n - report.n_unparsed, n=report.n, unparsed=report.n_unparsed)
    rows: list[Row] = []
    for counts, examples, names, treated in (
        (report.formats, report.format_examples, FORMATS, Cell("counted")),
        (report.reasons, report.reason_examples, REASONS, Cell("wrong", "wrong")),
    ):
        for key, n in counts.items():
            example = examples[key][0].text if examples.get(key) else ""
            shown = say("`{text}`", text=example) if example else "(nothing)"
            rows.append((names.get(key, key), count(n), percent(n / report.n, report.n), shown, treated))
    heads = ("Outcome", "Responses", "Proportion", Column("For example", "text"), Column("Treated as"))
    guess = "Labels were also guessed by similarity." if report.fuzzy else "No label is guessed."
    words = "Parser `{parser}`, source sha256 `{digest}`. " + guess
    return Section.from_parts(
        "parsing",
        "Parsing",
        "Parsing",
        summary,
        Table.from_rows("parsing-table", "How labels were read", heads, rows),
        Note(say(words, parser=report.parser, digest=report.digest[:12] + "…")),
    )


def repeated_section(ev: Evaluation) -> Section | None:
    """Return the section on several responses to each row; None where there is one."""
    found = ev.repeated_responses
    if found is None:
        return None
    fewest, most = count(found.fewest), count(found.most)
    words = (
        "{responses:count} responses to {rows:count} {units}, {each} to each. All other numbers on this page "
    )
    words += "use the most frequent response. Intervals are over {units}, not over responses."
    each = fewest if fewest == most else f"{fewest} to {most}"
    summary = tell(ev, words, responses=found.responses, rows=found.rows, each=each)
    heads = ("Accuracy", "Estimate", f"{confidence_percent(ev)} interval", "")
    forest = Forest(
        tuple(
            forest_row(name, name.capitalize(), say(gloss), result, "percent")
            for name, gloss, result in found.results()
        ),
        heads=heads,
    )
    groups = Table.from_rows(
        "agreement-table",
        "Accuracy by agreement of the responses",
        ("Proportion of the responses", units(ev).capitalize(), "Accuracy", Column("Interval", "n")),
        (_agreement_row(group) for group in found.by_agreement),
    )
    title = "Repeated responses"
    agree = Heading("Accuracy of the most frequent response, by its proportion of the responses")
    return Section.from_parts("answers", "Repeated responses", title, summary, forest, agree, groups)


def _agreement_row(group: AgreementGroup) -> Row:
    span = "all" if group.low == group.high else f"over {percent(group.low)}, up to {percent(group.high)}"
    if group.high == 1 > group.low:
        span = f"over {percent(group.low)}, not all"
    result = group.accuracy
    return span, count(group.rows), shown_value(result, "percent"), interval(result, "percent")


REASON_NOUNS = {
    "refusal": ("refusal", "refusals"),
    "empty": ("empty response", "empty responses"),
    "unknown_label": ("label that does not exist", "labels that do not exist"),
    "ambiguous": (
        "response with several labels and no final one",
        "responses with several labels and no final one",
    ),
    "no_label": ("response without a label", "responses without a label"),
    "parser_error": ("failure of the parser itself", "failures of the parser itself"),
}
FORMAT_NAMES = {
    **FORMATS,
    "code_fence": "in a code fence",
    "json": "JSON",
    "xml": "XML",
    "prefix": "after a name and a colon",
    "final_answer": "after reasoning",
}
BROKEN = 0.1
NOTICED = 0.01
"""Proportions of unparsed responses above which a finding is an error, and a caution."""
ONE_FORMAT = 0.9
"""Minimum proportion of the parsed responses with the most frequent format."""
MOST_FORMATS = 4
"""Formats that a claim names."""


@rule(
    section="parsing",
    action="Constrain the output to the list of labels, and evaluate with your production parser.",
)
def parse_failures(ev: Evaluation) -> FindingDraft | None:
    """Answers from which no label could be read, by reason.

    Examples
    --------
    >>> import pandas as pd
    >>> import evalreport as er
    >>> rows = {"y_true": ["spam", "ham", "spam"] * 20, "answer": ["spam", "ham", "no idea"] * 20}
    >>> finding = parse_failures(er.evaluate(pd.DataFrame(rows), text="answer"))
    >>> finding.claim
    '20 of 60 responses (33%) could not be parsed: 20 labels that do not exist. They count as
    wrong: accuracy is 67%, and 100% among the parsed responses.'
    """
    report = ev.parsing
    if report is None or not report.n_unparsed:
        return None
    share = report.n_unparsed / report.n
    reasons = dict(sorted(report.reasons.items(), key=lambda entry: -entry[1]))
    named = [f"{{reasons[{key}]:count}} {plural(n, REASON_NOUNS[key])}" for key, n in reasons.items()]
    whole, readable = value(ev, "accuracy"), value(ev, "accuracy_parsed")
    claim = (
        "{n_unparsed:count} of {n:count} responses ({share:of parse_rate}) could not be parsed: "
        + in_words(named)
    )
    if whole is not None and readable is not None:
        claim += ". They count as wrong: accuracy is {accuracy:percent}, "
        claim += "and {accuracy_parsed:percent} among the parsed responses"
    broken = share >= BROKEN or "parser_error" in reasons
    return FindingDraft(
        claim + ".",
        {
            "n_unparsed": report.n_unparsed,
            "n": report.n,
            "share": share,
            "reasons": reasons,
            "accuracy": whole,
            "accuracy_parsed": readable,
        },
        severity="error" if broken else "caution" if share >= NOTICED else "note",
    )


@rule(
    section="parsing",
    action="Read a few of them: the prompt may trigger a safety rule, or may offer no label that fits.",
)
def refusals(ev: Evaluation) -> FindingDraft | None:
    """The model declines to answer."""
    report = ev.parsing
    declined = 0 if report is None else report.reasons.get("refusal", 0)
    if report is None or declined < max(5, NOTICED * report.n):  # a handful at least: chosen by hand
        return None
    return FindingDraft(
        "The model declines to answer {refusals:count} of {n:rows} ({share:percent}).",
        {
            "refusals": declined,
            "n": report.n,
            "share": declined / report.n,
            "n_unparsed": report.n_unparsed,
        },
    )


@rule(
    "note",
    section="parsing",
    action="Ask for one format, or use this parser in production: one for a single format loses the rest.",
)
def format_drift(ev: Evaluation) -> FindingDraft | None:
    """Answers come in several formats, all of which the serving parser has to know."""
    report = ev.parsing
    if report is None:
        return None
    found = dict(sorted(report.formats.items(), key=lambda entry: -entry[1]))
    readable = sum(found.values())
    if len(found) < 2 or max(found.values()) > ONE_FORMAT * readable:
        return None
    shares = {name: n / readable for name, n in found.items()}
    top = [f"{FORMAT_NAMES[name]} ({{shares[{name}]:whole}})" for name in list(shares)[:MOST_FORMATS]]
    return FindingDraft(
        "The parsed responses have {n_formats:count} {n_formats:format|formats}, most often "
        + in_words(top)
        + ".",
        {"n_formats": len(found), "formats": found, "shares": shares},
    )


@rule(
    section="parsing", action="Remove --set fuzzy unless your parser in production guesses in the same way."
)
def fuzzy_labels(ev: Evaluation) -> FindingDraft | None:
    """Labels that were guessed by similarity."""
    report = ev.parsing
    guessed = 0 if report is None else report.formats.get("fuzzy", 0)
    if report is None or not guessed:
        return None
    return FindingDraft(
        "{guessed:count} of {n:count} labels were guessed by similarity, not read.",
        {"guessed": guessed, "n": report.n},
    )


PARSE_FAILURES = AddedRule(
    parse_failures,
    "too_perfect",
    ShortClaim(
        "{n_unparsed:count} {n_unparsed:response|responses} unparsed",
        "{share:whole} of responses, counted as wrong",
        mistakes="n_unparsed",
        step="Constrain the output to the list of labels.",
    ),
)
REFUSALS = AddedRule(
    refusals,
    "unparsed_labels",
    ShortClaim(
        "{refusals:count} {refusals:refusal|refusals}",
        "part of the {n_unparsed:count} unparsed",
        mistakes="refusals",
    ),
)
FUZZY_LABELS = AddedRule(
    fuzzy_labels,
    "class_shares",
    ShortClaim("{guessed:count} labels guessed by similarity", "{guessed:count} of {n:count}", "data"),
)
FORMAT_DRIFT = AddedRule(
    format_drift, "data_notes", ShortClaim("{n_formats:count} response formats", about="author")
)


ABSENT = -2
"""Code of a response that a row does not have; an unparsed one is -1."""
TRIES = (1, 2, 5, 10, 20, 50, 100)
"""Numbers of tries k of which pass@k is reported, if every row has as many responses."""
EDGES = (0.0, 0.5, 0.7, 0.9, 1.0)
"""Limits of the groups by the proportion of the most frequent response; 1 is a separate group."""


@dataclass(frozen=True, eq=False)
class ResponseSamples:
    """All responses to each row.

    Parameters
    ----------
    truth : int codes of shape (n,)
    codes : int codes of shape (n, most responses)
        In the order given; `ABSENT` behind a row's last one.
    weights : float64 of shape (n,)
    groups : Categorical or None
        Rows that belong together.
    """

    truth: npt.NDArray[np.integer]
    codes: npt.NDArray[np.integer]
    weights: Array
    groups: Categorical | None = None

    @cached_property
    def responses(self) -> npt.NDArray[np.intp]:
        """Responses to each row."""
        return np.asarray((self.codes != ABSENT).sum(axis=1))

    @cached_property
    def pairs(self) -> npt.NDArray[np.bool_]:
        """Which responses to a row are the same, shape (n, most, most); an unparsed one equals none."""
        parsed = self.codes >= 0
        same = self.codes[:, :, None] == self.codes[:, None, :]
        return np.asarray(same & parsed[:, :, None] & parsed[:, None, :])

    def majority(self) -> tuple[npt.NDArray[Any], Array]:
        """Return the most frequent parsed response to each row, the first of several, and its share."""
        votes = self.pairs.sum(axis=2)
        place = votes.argmax(axis=1)
        rows = np.arange(len(place))
        response = np.where(votes[rows, place] > 0, self.codes[rows, place], -1)
        return response, votes[rows, place] / self.responses

    def metrics(self, sampling: Sampling) -> RepeatedResponses:
        """Return the metrics of the responses, with intervals over rows.

        References
        ----------
        Chen et al. 2021, "Evaluating large language models trained on code" (pass@k without bias).

        Examples
        --------
        >>> codes = np.array([[0, 0, 1], [1, 1, 1], [0, 1, 2]])
        >>> found = ResponseSamples(np.array([0, 1, 0]), codes, np.ones(3)).metrics(Sampling())
        >>> round(found.one.value, 3), round(found.majority.value, 3), round(found.agreement.value, 3)
        (0.667, 1.0, 0.444)
        >>> {k: round(result.value, 3) for k, result in found.pass_at.items()}
        {'1': 0.667, '2': 0.889, '3': 1.0}
        """
        n, right = self.responses, (self.codes == self.truth[:, None]).sum(axis=1)
        response, share = self.majority()
        hit = (response == self.truth).astype(np.float64)
        every = np.ones(len(n), dtype=bool)
        fewest, most = int(n.min()), int(n.max())
        same = self.pairs.sum(axis=(1, 2)) - (self.codes >= 0).sum(axis=1)
        agreement = same / np.maximum(n * (n - 1), 1)
        groups = []
        for low, high in (*pairwise(EDGES), (1.0, 1.0)):
            rows = share == 1 if low == high else (share > low) & (share <= high) & (share < 1)
            rows = rows | (share == 0) if low == 0 else rows
            if rows.any():
                groups.append(AgreementGroup(low, high, int(rows.sum()), self._mean(hit, rows, sampling)))
        tries = sorted({k for k in TRIES if k <= fewest} | {fewest})
        return RepeatedResponses(
            rows=len(n),
            responses=int(n.sum()),
            fewest=fewest,
            most=most,
            one=self._mean(right / n, every, sampling),
            majority=self._mean(hit, every, sampling),
            agreement=self._mean(agreement, n > 1, sampling),
            pass_at={str(k): self._mean(_pass_at(n, right, k), every, sampling) for k in tries},
            by_agreement=tuple(groups),
        )

    def _mean(self, values: Array, rows: npt.NDArray[np.bool_], sampling: Sampling) -> Result:
        """The weighted mean of a number of each row, with score limits of its spread over rows or groups."""
        weights = self.weights * rows
        total = float(weights.sum())
        if total <= 0:
            return Undefined("no row has two responses")
        value = float(weights @ values / total)
        n = float(total**2 / (weights @ weights))
        parts = weights * (values - value) / total
        if self.groups is not None:
            parts = np.bincount(self.groups.codes, parts).astype(np.float64)
        parts = parts[rows] if self.groups is None else parts
        if not sampling.intervals or len(parts) < FEWEST:
            return Estimate(value, n, reason="" if sampling.intervals else NOT_ASKED)
        spread = effective(np.asarray(parts, dtype=np.float64))
        ends = score_limits(value, spread.standard_error, n, t_quantile(sampling.upper, max(n - 1, 1)))
        low, high = float(ends[0]), float(ends[1])
        error = spread.standard_error if math.isfinite(spread.standard_error) else None
        return Estimate(value, n, min(low, value), max(high, value), "score, by row", error)


def combine_responses(p: Predictions) -> tuple[Predictions, Callable[[Sampling], RepeatedResponses]]:
    """Return one row for each id, with its most frequent response as prediction, and the metrics of all.

    Parameters
    ----------
    p : Predictions
        A row for each response, with ids that repeat; of one label each.

    Raises
    ------
    UsageError
        No ids, no answers, or several labels per row.
    DataError
        Rows of one id differ in their truth.

    Examples
    --------
    >>> from evalreport.data.labels import Multiclass
    >>> from evalreport.data.predictions import predictions
    >>> p = predictions(Multiclass("abc"), list("aaab"), list("abbb"), ids=[1, 1, 1, 2])
    >>> one, metrics = combine_responses(p)
    >>> one.y_pred, metrics(Sampling()).most
    (array([1, 1], dtype=int32), 3)
    """
    if p.ids is None or p.y_pred is None or p.y_true.ndim == 2:
        what = "ids" if p.ids is None else "single-label predictions"
        raise UsageError(
            f"several responses per row need {what}",
            where="--repeats",
            fix="name the id of each question with --id, and the responses with --pred or --response",
        )
    _, first, place = np.unique(p.ids, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))  # rows in the order in which they come
    row, first = rank[place], np.sort(first)
    differs = np.flatnonzero(p.y_true != p.y_true[first][row])
    if differs.size:
        raise DataError(
            f"the true labels of one row differ, in {differs.size:,} responses",
            where=f"first: id {str(p.ids[differs[0]])!r}",
            fix="name an --id that is unique for each question",
        )
    order = np.argsort(row, kind="stable")
    counts = np.bincount(row)
    codes = np.full((len(first), counts.max()), ABSENT)
    within = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    codes[row[order], within] = np.asarray(p.y_pred)[order]
    one = p.take(first)
    again = repeated_ids(p.ids)
    notes = tuple(note for note in p.notes if again is None or not note.startswith(again.shown))
    notes += _count_notes(counts)
    samples = ResponseSamples(one.y_true.astype(np.int64), codes, one.weights, one.groups)
    decided = samples.majority()[0].astype(np.int32)
    made = replace(one, y_pred=decided, scores=NoScores(), threshold=None, parsed=None, notes=notes)
    return made, samples.metrics


def _count_notes(answers: npt.NDArray[np.integer]) -> tuple[str, ...]:
    """Return notes on unequal numbers of responses: other rows may have been read as responses."""
    most, fewer = answers.max(), int((answers < answers.max()).sum())
    if most == 1:
        return ("no row has two responses: their agreement is not known",)
    noun = "row has" if fewer == 1 else "rows have"
    return (f"{fewer:,} of {len(answers):,} {noun} fewer responses than {most}",) if fewer else ()


def _pass_at(given: npt.NDArray[np.intp], right: npt.NDArray[np.intp], k: int) -> Array:
    """1 - C(n - c, k) / C(n, k) of each row: the chance that one of k of n responses is right, if c are."""
    missed = np.ones(len(given))
    for drawn in range(k):
        missed *= np.maximum(given - right - drawn, 0) / (given - drawn)
    found: Array = 1 - missed
    return found

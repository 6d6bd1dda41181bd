"""What a medical reviewer will ask, answered from the evaluation where it can be.

After the topics of TRIPOD+AI (Collins et al. 2024). Item numbers are left out: they have not been verified.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from evalreport.data.labels import Binary
from evalreport.data.predictions import Origin
from evalreport.evaluation.evaluation import Evaluation
from evalreport.metrics.catalogue import OF_RANKING
from evalreport.page.elements import Cell, Column, Section, Table
from evalreport.page.evaluation_terms import estimate, four_counts, tell
from evalreport.page.sections.calibration import reliability
from evalreport.page.sections.utility import benefits
from evalreport.page.sentences import Sentence, listed, say

NAMES = ("tripod-ai",)
Answer: TypeAlias = Literal["Yes", "Partly", "Not supplied"]
EVENTS = 100
"""A common floor for the validation of a model (Collins, Ogundimu & Altman 2016)."""


@dataclass(frozen=True)
class Topic:
    """One question on a topic: whether the page answers it, and what and where."""

    question: str
    answer: Answer
    what: Sentence
    section: str = ""


CHOSEN: Mapping[Origin, tuple[Answer, str]] = {
    "tuned": ("Yes", "On rows that took no part in this evaluation."),
    "cross-fitted": ("Yes", "Cross-fitted on these rows."),
    "given": ("Partly", "It was given; say why, and on which data it was chosen."),
    "default": ("Not supplied", "0.5 by default; say why, and on which data."),
    "predictions": ("Not supplied", "0.5 by default; say why, and on which data."),
}
"""What is answered of a threshold, by where it comes from."""


def checklist_section(ev: Evaluation) -> Section:
    """Return the checklist."""
    left_out = say("No column says who was left out; state it beside this page.")
    flow = Topic("Participant flow, exclusions, missing data?", "Not supplied", left_out)
    items = (
        *(_discrimination(ev), _calibration(ev), _utility(ev), _threshold(ev), _subgroups(ev)),
        *(flow, _size(ev), _availability(ev)),
    )
    summary = say("Filled from the run where it can be. The rest is for the author to state.")
    rows = ((item.question, Cell(_answered(item), section=item.section)) for item in items)
    heads = ("A reviewer asks", Column("In this report"))
    table = Table.of("checklist-table", "Checklist", heads, rows)
    return Section.of("checklist", "Checklist", "What a medical reviewer will ask", summary, table)


def _answered(item: Topic) -> Sentence:
    return say(f"*{item.answer}.*") + item.what


def _discrimination(ev: Evaluation) -> Topic:
    question = "Discrimination with uncertainty?"
    found = estimate(ev, OF_RANKING[ev.task])
    if found is not None:
        answer: Answer = "Partly" if found.low is None else "Yes"
        words = "{title} {auc:ratio}" + (" without interval." if found.low is None else " with interval.")
        title = "ROC AUC" if ev.task == "binary" else "ROC AUC, macro"
        section = {"binary": "verdict", "multiclass": "curves", "multilabel": "metrics"}[ev.task]
        return Topic(question, answer, say(words, title=title, auc=found), section)
    reason = "No scores were logged." if ev.score_kind is None else "It is undefined on these {units}."
    return Topic(question, "Not supplied", tell(ev, reason))


def _calibration(ev: Evaluation) -> Topic:
    question = "Calibration?"
    if reliability(ev) is None:
        return Topic(question, "Not supplied", say("No probabilities were logged."))
    numbers = {"ece": "calibration error", "calibration_slope": "slope"}
    given = [said for name, said in numbers.items() if estimate(ev, name) is not None]
    return Topic(question, "Yes", say("Plot" + "".join(f", {said}" for said in given) + "."), "calibration")


def _utility(ev: Evaluation) -> Topic:
    if benefits(ev) is not None:
        return Topic("Clinical utility?", "Yes", say("Decision curve."), "utility")
    words = "A decision curve is for two classes; state what each mistake costs."
    if isinstance(ev.space, Binary):
        words = "A decision curve needs probabilities, and both classes in the truth."
    return Topic("Clinical utility?", "Not supplied", say(words))


def _threshold(ev: Evaluation) -> Topic:
    question = "How were thresholds chosen?"
    if ev.threshold is None:
        words = "The logged predictions name no threshold; say how they were made."
        return Topic(question, "Not supplied", say(words))
    answer, words = CHOSEN[ev.threshold.origin]
    return Topic(question, answer, say(words), "threshold")


def _subgroups(ev: Evaluation) -> Topic:
    names = list(dict.fromkeys(part.column for part in ev.slices))
    question = "Performance in relevant subgroups?"
    if not names:
        return Topic(question, "Not supplied", say("No slice column was named."), "groups")
    which = listed([say("{name}", name=name) for name in names])
    told = say("By {which}; say whether these are the relevant ones.", which=which)
    return Topic(question, "Partly", told, "groups")


def _size(ev: Evaluation) -> Topic:
    question = "Why this sample size?"
    counts = four_counts(ev)
    if counts is None:
        fewest = min((entry.support for entry in ev.classes), default=ev.weight)
        where = " in the smallest class." if ev.classes else " in all."
        what = tell(ev, "{fewest:count} {fewest:units}" + where, fewest=fewest)
    else:
        words = "{events:count} events; {floor} is a common floor for validation."
        what = say(words, events=min(counts.positives, counts.negatives), floor=str(EVENTS))
    return Topic(question, "Not supplied", what)


def _availability(ev: Evaluation) -> Topic:
    known = {"commit": ev.provenance.commit, "data digest": ev.provenance.sha256 or ev.truth_digest}
    which = listed([say("{name}", name=name) for name, value in known.items() if value])
    answer: Answer = "Partly" if which else "Not supplied"
    told = say("Recorded: {which}. Say where both can be had.", which=which)
    told = told if which else say("Neither commit nor data digest is recorded.")
    return Topic("Data and code available?", answer, told, "provenance")

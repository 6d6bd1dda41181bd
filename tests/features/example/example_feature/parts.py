"""A metric, a reader, a section of the page and a finding."""

from __future__ import annotations

import numpy as np

from evalreport.core.sentences import say
from evalreport.evaluation.evaluation import Evaluation
from evalreport.findings.rule import AddedRule, FindingDraft, rule
from evalreport.metrics.record import Metric, Proportion, divide
from evalreport.page.elements import Note, Section
from evalreport.readers.content import Content
from evalreport.readers.formats import Reader
from evalreport.readers.limits import Select, choose

METRICS = (
    Metric(
        name="false_omission_rate",
        title="False omission rate",
        meaning="share of negative predictions that are wrong",
        formula="FN / (TN + FN)",
        task="binary",
        needs="counts",
        reads="counts",
        low=0.0,
        high=1.0,
        better="lower",
        strategy=Proportion(),
        function=lambda c: divide(c.fn, c.predicted_negatives),
        over="predicted_negatives",
        source="1 - npv",
        use="a negative prediction is relied upon",
        trap="near 0 when positives are rare",
    ),
)


def wrong_rate(y_true, y_pred, y_score, weight, columns):  # type: ignore[no-untyped-def]
    """Return the proportion of wrong predictions: an own metric for everyone who installs the package."""
    return float((y_true != y_pred).mean())


wrong_rate.better = "lower"  # type: ignore[attr-defined]


def read_pairs(data: bytes, select: Select | None) -> Content:
    """Read lines such as ``y_true=1 score=0.25``."""
    rows = [dict(pair.split("=") for pair in line.split()) for line in data.decode().splitlines()]
    names = tuple(rows[0])
    return Content(
        names, {name: np.array([float(row[name]) for row in rows]) for name in choose(names, select)}
    )


READERS = (Reader("pairs", (".pairs",), (), read_pairs),)


def row_count_section(ev: Evaluation) -> Section:
    """Return how many rows there are."""
    summary = say("{rows:count} rows were counted.", rows=ev.rows)
    return Section.from_parts(
        "row-count", "Rows", "How many rows", summary, Note(say("Added by an example."))
    )


@rule("note", section="metrics")
def even_rows(ev: Evaluation) -> FindingDraft | None:
    """The number of rows is even."""
    return None if ev.rows % 2 else FindingDraft("{n:rows} is an even number.", {"n": ev.rows})


EVEN_ROWS = AddedRule(even_rows)

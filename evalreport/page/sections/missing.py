"""What a page could show and does not: named in one line for readers, with the option for the author."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evalreport.evaluation.evaluation import Evaluation


@dataclass(frozen=True)
class Missing:
    """A part that is not on the page: what it is with the reason, and how the author adds it."""

    what: str
    action: str


def find_missing(ev: Evaluation) -> tuple[Missing, ...]:
    """Return the parts that this evaluation does not have."""
    return tuple(_missing(ev))


def _missing(ev: Evaluation) -> Iterator[Missing]:
    if not ev.slices:
        yield Missing("performance by group (no group column)", "Name a column of groups: --slice language.")
    if ev.score_kind is None and ev.parsing is None:
        yield Missing("ROC and calibration (no scores)", "Log one probability for each row.")
    if ev.score_kind == "decision":
        yield Missing("calibration (scores are not probabilities)", "Declare logits: --set score_kind=logit.")
    streamed = "engine" in dict(ev.provenance.columns)  # a stream refuses texts
    if ev.mistakes and not streamed and all(one.text is None for one in ev.mistakes):
        yield Missing(
            "texts of the errors (no text column)", "Name a column of texts: --set show_text=COLUMN."
        )

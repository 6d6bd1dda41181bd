"""What one text gives, and the outcomes of many as arrays with their report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evalreport.data.labels import UNPARSED
from evalreport.data.parsing_outcomes import EXAMPLES, FORMATS, REASONS, Example, Parsed, ParsingReport

LONGEST_EXAMPLE = 140
"""Characters of a text that the report keeps."""


class Outcome(NamedTuple):
    """What one text gave: code of the label or -1, reason, format, and a note on an error."""

    code: int
    reason: str = ""
    format: str = ""
    note: str = ""


def parsed(code: int, format_: str) -> Outcome:
    """Return the outcome of a text that gave a label.

    Examples
    --------
    >>> parsed(3, "json")
    Outcome(code=3, reason='', format='json', note='')
    """
    return Outcome(code, "", format_)


def unparsed(reason: str, note: str = "") -> Outcome:
    """Return the outcome of a text that gave none.

    Examples
    --------
    >>> unparsed("refusal").code
    -1
    """
    return Outcome(UNPARSED, reason, "", note)


def collect(
    texts: Sequence[str], outcomes: Iterable[Outcome], *, spec: str, digest: str, fuzzy: bool
) -> Parsed:
    """Return the outcomes of the texts as arrays with their report.

    Examples
    --------
    >>> outcomes = [parsed(0, "bare"), unparsed("empty")]
    >>> done = collect(["a", ""], outcomes, spec="exact", digest="", fuzzy=False)
    >>> done.codes, done.summary().reasons
    (array([ 0, -1], dtype=int32), {'empty': 1})
    """
    rows = list(outcomes)
    codes = np.fromiter((row.code for row in rows), np.int32, len(rows))
    reason_of = {name: code for code, name in enumerate(REASONS)}
    format_of = {name: code for code, name in enumerate(FORMATS)}
    reasons = np.fromiter((reason_of[row.reason] for row in rows), np.int8, len(rows))
    formats = np.fromiter((format_of[row.format] for row in rows), np.int8, len(rows))
    for array in (codes, reasons, formats):
        array.setflags(write=False)
    reason_counts, reason_examples = _tally(reasons, REASONS, texts, rows)
    format_counts, format_examples = _tally(formats, FORMATS, texts, rows)
    report = ParsingReport(
        parser=spec,
        digest=digest,
        fuzzy=fuzzy,
        n=len(rows),
        n_unparsed=int(np.count_nonzero(codes == UNPARSED)),
        n_ambiguous=reason_counts.get("ambiguous", 0),
        reasons=reason_counts,
        formats=format_counts,
        reason_examples=reason_examples,
        format_examples=format_examples,
    )
    return Parsed(codes, reasons, formats, report, texts)


def _tally(
    kinds: npt.NDArray[np.int8], names: Sequence[str], texts: Sequence[str], rows: Sequence[Outcome]
) -> tuple[dict[str, int], dict[str, tuple[Example, ...]]]:
    counts: dict[str, int] = {}
    examples: dict[str, tuple[Example, ...]] = {}
    for code, name in enumerate(names[1:], start=1):
        hits = np.flatnonzero(kinds == code)
        if hits.size:
            counts[name] = int(hits.size)
            examples[name] = tuple(
                Example(int(row), _cut(texts[row]), rows[row].note) for row in hits[:EXAMPLES]
            )
    return counts, examples


def _cut(text: str) -> str:
    short = text if len(text) <= LONGEST_EXAMPLE else text[: LONGEST_EXAMPLE - 1] + "…"
    return short.encode("utf-8", "replace").decode("utf-8")

"""What came of reading labels from texts: codes, reasons, formats, and their report."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evalreport.core.json_codec import Whole
from evalreport.data.labels import UNPARSED

REASONS = (
    "",
    "refusal",
    "empty",
    "unknown_label",
    "ambiguous",
    "no_label",
    "parser_error",
)
"""Why no label was read; the first, empty, stands for a parsed text."""

FORMATS = (
    "",
    "bare",
    "spaced",
    "quoted",
    "markdown",
    "code_fence",
    "json",
    "xml",
    "prefix",
    "sentence",
    "final_answer",
    "negated",
    "fuzzy",
    "pattern",
    "function",
)
"""In which dress the label stood; the first, empty, stands for an unparsed text.

``bare``: the label alone. ``spaced``: alone, as plain words. ``quoted``, ``markdown``, ``code_fence``,
``json``, ``xml``: so set off. ``prefix``: after a name and a sign ("Intent: x"). ``sentence``: within prose.
``final_answer``: after reasoning. ``negated``: beside a label that is ruled out. ``fuzzy``: by similarity.
``pattern``, ``function``: by the user's expression or function.
"""

LONGEST_EXAMPLE = 140
"""Characters of a text that the report keeps."""
_EXAMPLES = 3
"""Texts that are kept of each reason: a reader sees the pattern in three."""


def text_digest(text: object) -> str:
    """Return what stands for a text in a table of rows: 16 hexadecimal digits of its SHA-256.

    Examples
    --------
    >>> text_digest("card_arrival"), text_digest(None)
    ('ba019bc8c8fb8436', '')
    """
    if not isinstance(text, str):
        return ""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


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


@dataclass(frozen=True, slots=True)
class Example:
    """One text of a kind: its row (counted from 0), its beginning, and what went wrong if something did.

    Examples
    --------
    >>> Example(17, "I cannot help with that.").row
    17
    """

    row: int
    text: str
    note: str = ""


@dataclass(frozen=True)
class ParsingReport:
    """How the labels were read, and what came of it.

    Parameters
    ----------
    parser : str
        The declared parser: ``auto``, ``regex:…``, ``module:function``.
    digest : str
        SHA-256 of the parser's source.
    fuzzy : bool
        Whether labels were guessed by similarity.
    n, n_unparsed, n_ambiguous : int
        Texts; those that gave no label; those of them that named several.
    reasons, formats : mapping of str to int
        Counts of what occurs, in the order of `REASONS` and `FORMATS`.
    reason_examples, format_examples : mapping of str to tuple of Example
        Up to three of each, the first ones.

    Examples
    --------
    >>> report = ParsingReport("exact", "0" * 64, False, 4, 1, 0, {"empty": 1}, {"bare": 3}, {}, {})
    >>> (report + report).n
    8
    """

    parser: str
    digest: str
    fuzzy: bool
    n: Whole
    n_unparsed: Whole
    n_ambiguous: Whole
    reasons: Mapping[str, Whole]
    formats: Mapping[str, Whole]
    reason_examples: Mapping[str, tuple[Example, ...]]
    format_examples: Mapping[str, tuple[Example, ...]]

    def __add__(self, other: ParsingReport) -> ParsingReport:
        """Return the report on both, the rows of `other` following these."""
        return ParsingReport(
            self.parser,
            self.digest,
            self.fuzzy,
            self.n + other.n,
            self.n_unparsed + other.n_unparsed,
            self.n_ambiguous + other.n_ambiguous,
            _add(self.reasons, other.reasons, REASONS),
            _add(self.formats, other.formats, FORMATS),
            _join(self.reason_examples, other.reason_examples, REASONS, self.n),
            _join(self.format_examples, other.format_examples, FORMATS, self.n),
        )


def _add(one: Mapping[str, int], two: Mapping[str, int], order: Sequence[str]) -> dict[str, int]:
    return {key: one.get(key, 0) + two.get(key, 0) for key in order if key in one or key in two}


def _join(
    one: Mapping[str, tuple[Example, ...]],
    two: Mapping[str, tuple[Example, ...]],
    order: Sequence[str],
    offset: int,
) -> dict[str, tuple[Example, ...]]:
    moved = {
        key: tuple(Example(item.row + offset, item.text, item.note) for item in items)
        for key, items in two.items()
    }
    keys = [key for key in order if key in one or key in moved]
    return {key: (one.get(key, ()) + moved.get(key, ()))[:_EXAMPLES] for key in keys}


@dataclass(frozen=True)
class Parsed:
    """Labels read from texts, one per row, and the report on the reading.

    Parameters
    ----------
    codes : ndarray, shape (n,), int32
        Position of the label in the label set, -1 where none was read. Read-only.
    reasons : ndarray, shape (n,), int8
        Position in `REASONS`; 0 where a label was read. Read-only.
    formats : ndarray, shape (n,), int8
        Position in `FORMATS`; 0 where none was read. Read-only.
    report : ParsingReport
    texts : sequence of str
        What was read, one per row; kept in memory alone, for digests of rows.
    """

    codes: npt.NDArray[np.int32]
    reasons: npt.NDArray[np.int8]
    formats: npt.NDArray[np.int8]
    report: ParsingReport
    texts: Sequence[str] = field(default=(), repr=False)

    def take(self, rows: npt.NDArray[np.intp]) -> Parsed:
        """Return the outcomes of some rows, with the report on all of them."""
        return replace(
            self,
            codes=self.codes[rows],
            reasons=self.reasons[rows],
            formats=self.formats[rows],
            texts=[self.texts[int(row)] for row in rows],
        )

    def summary(self) -> ParsingReport:
        """Return the report on the reading."""
        return self.report


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
                Example(int(row), _cut(texts[row]), rows[row].note) for row in hits[:_EXAMPLES]
            )
    return counts, examples


def _cut(text: str) -> str:
    short = text if len(text) <= LONGEST_EXAMPLE else text[: LONGEST_EXAMPLE - 1] + "…"
    return short.encode("utf-8", "replace").decode("utf-8")

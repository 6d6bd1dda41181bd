"""The outcome of reading labels from generated texts, as data: codes, reasons, formats, and their report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from evalreport.core.extensions import extension
from evalreport.core.json_codec import Whole

REASONS = (
    "",
    "refusal",
    "empty",
    "unknown_label",
    "ambiguous",
    "no_label",
    "parser_error",
)
"""Why no label was read; the first, empty, means a parsed text."""

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
"""The format of the label within the text; the first, empty, means an unparsed text.

``bare``: only the label. ``spaced``: only the label, in plain words. ``quoted``, ``markdown``,
``code_fence``, ``json``, ``xml``: so set off. ``prefix``: after a name and a sign ("Intent: x").
``sentence``: within prose.
``final_answer``: after reasoning. ``negated``: beside a label that is ruled out. ``fuzzy``: by similarity.
``pattern``, ``function``: by the user's expression or function.
"""

EXAMPLES = 3
"""Texts that are kept of each reason: a reader sees the pattern in three."""


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
    return {key: (one.get(key, ()) + moved.get(key, ()))[:EXAMPLES] for key in keys}


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
        What was read, one per row; kept in memory only, for digests of rows.
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


def parse_texts(
    texts: Iterable[object], labels: Sequence[str], how: str = "auto", *, fuzzy: bool = False
) -> Parsed:
    """Return the labels that the parser of the extension point ``responses`` reads from texts.

    The extension is a function of texts, labels, the declared parser (``auto``, ``regex:PATTERN``, …) and
    whether to guess by similarity, and returns `Parsed`.

    Raises
    ------
    UsageError
        The feature is not installed, or there is no such parser.

    Examples
    --------
    >>> parse_texts(["Answer: b.", "no idea"], ["a", "b"]).codes
    array([ 1, -1], dtype=int32)
    """
    outcome: Parsed = extension("responses", "reading labels from text")(texts, labels, how, fuzzy)
    return outcome

"""The declared parser, and reading a column of texts with it."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TypeAlias

from evalreport import __version__
from evalreport.core.errors import DataError, UsageError, nearest
from evalreport.core.user_functions import is_function, load_function
from evalreport.data.parsing_outcomes import Parsed
from evalreport.features.text_labels import auto, documents, function, pattern, reasons, rules
from evalreport.features.text_labels.folding import normalise
from evalreport.features.text_labels.fuzzy import guess
from evalreport.features.text_labels.labelset import LabelIndex
from evalreport.features.text_labels.outcomes import Outcome, collect, parsed, unparsed

LONGEST_TEXT = 1_048_576
"""Characters of one text; a longer one is an error."""

BUILT_IN = ("auto", "exact", "json")

Reader: TypeAlias = Callable[[Sequence[str]], list[Outcome]]


@dataclass(frozen=True)
class Parser:
    """How labels are read from texts: declared, and named in the report by its source's digest.

    Made by `make_parser`.

    Parameters
    ----------
    spec : str
        ``auto``, ``exact``, ``json``, ``regex:PATTERN`` or ``module:function``.
    digest : str
        SHA-256 of the source: of the function, or of this package with its version (and the pattern).
    fuzzy : bool
        Whether a text that gives no label is matched to the label most like it.
    labels : tuple of str
        The label set, in the order of codes.
    """

    spec: str
    digest: str
    fuzzy: bool
    labels: tuple[str, ...]
    read: Reader = field(repr=False, compare=False)


def make_parser(spec: str, labels: Sequence[str], *, fuzzy: bool = False) -> Parser:
    """Return the parser that `spec` declares, for a label set.

    Parameters
    ----------
    spec : str
        ``auto``; ``exact`` (the text is the label, save space around it); ``json`` (a JSON document with the
        label in it); ``regex:PATTERN`` (RE2 syntax; the group ``label``, or the first, is the label);
        ``module:function`` (takes the text, returns the label or None).
    labels : sequence of str
        Distinct; save for ``exact`` and ``module:function`` also without case, spaces and underscores.
    fuzzy : bool
        With ``auto``: guess by similarity where nothing else is found. Never the default.

    Raises
    ------
    UsageError
        An unknown parser, a bad expression, a function that cannot be imported.
    DataError
        Labels that texts cannot tell apart; the message names both.

    Examples
    --------
    >>> parser = make_parser("auto", ["card_arrival", "card_linking"])
    >>> parse_all(["Intent: card_linking.", "Sorry, I can't help with that."], parser).codes
    array([ 1, -1], dtype=int32)
    """
    if fuzzy and spec.partition(":")[0] != "auto":
        raise UsageError(
            "fuzzy works with the parser 'auto' alone", where=f"parser {spec!r}", fix="drop fuzzy"
        )
    names = tuple(labels)
    kind, _, rest = spec.partition(":")
    if spec in BUILT_IN:
        return _built_in(spec, names, fuzzy)
    if rest and kind == "regex":
        return _pattern_parser(spec, rest, LabelIndex(names))
    if is_function(spec):
        return _function_parser(spec, names)
    raise UsageError(
        f"there is no parser {spec!r}",
        where="parser",
        fix=f"{nearest(spec, BUILT_IN)}; or regex:PATTERN, or module:function",
    )


def parse_texts(texts: Iterable[object], labels: Sequence[str], how: str, fuzzy: bool) -> Parsed:
    """Return the labels read from texts by a declared parser: see `make_parser` and `parse_all`."""
    return parse_all(texts, make_parser(how, labels, fuzzy=fuzzy))


def parse_all(texts: Iterable[object], parser: Parser) -> Parsed:
    """Return the labels read from texts, with the report on the reading.

    Equal texts are read once. None and NaN are empty texts.

    Parameters
    ----------
    texts : iterable of str or None
        One per row.
    parser : Parser

    Returns
    -------
    Parsed
        Codes of shape (n,).

    Raises
    ------
    DataError
        A value that is no text, or a text of over `LONGEST_TEXT` characters, with its row.

    Examples
    --------
    >>> done = parse_all(["yes", "Yes.", "maybe", None], make_parser("auto", ["yes", "no"]))
    >>> done.codes, done.summary().reasons
    (array([ 0,  0, -1, -1], dtype=int32), {'empty': 1, 'unknown_label': 1})
    """
    rows = _texts(texts)
    distinct = list(dict.fromkeys(rows))
    outcomes = dict(zip(distinct, parser.read(distinct), strict=True))
    return collect(
        rows, [outcomes[text] for text in rows], spec=parser.spec, digest=parser.digest, fuzzy=parser.fuzzy
    )


def _texts(values: Iterable[object]) -> list[str]:
    """Return the values as text, those that are missing as empty; raise on what is no text."""
    rows = ["" if _is_missing(value) else value for value in values]
    for row, value in enumerate(rows):
        if not isinstance(value, str):
            raise DataError(
                f"the text column holds a {type(value).__name__}, not text",
                where=f"first: row {row}, {str(value)[:60]}",
                fix="name the column of generated texts with --text; a column of labels is named with --pred",
            )
        if len(value) > LONGEST_TEXT:
            raise DataError(
                f"a text has {len(value)} characters, over {LONGEST_TEXT}",
                where=f"row {row}",
                fix="cut the generations before they are logged",
            )
    return rows  # type: ignore[return-value]


def _is_missing(value: object) -> bool:
    if isinstance(value, str):
        return False
    return (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or (isinstance(value, float) and math.isnan(value))
    )


def _built_in(spec: str, names: tuple[str, ...], fuzzy: bool) -> Parser:
    if spec == "exact":
        read = _exact({name: code for code, name in enumerate(names)})
    else:
        index = LabelIndex(names)
        read = _json(index) if spec == "json" else _auto(index, fuzzy)
    return Parser(spec, _own_digest(""), fuzzy, names, read)


def _auto(index: LabelIndex, fuzzy: bool) -> Reader:
    def one(text: str) -> Outcome:
        outcome = auto.read(text, index)
        return guess(text, index, outcome) if fuzzy else outcome

    return lambda texts: [one(text) for text in texts]


def _exact(codes: dict[str, int]) -> Reader:
    nothing = LabelIndex(())

    def one(text: str) -> Outcome:
        code = codes.get(text, codes.get(text.strip(), -1))
        return parsed(code, "bare") if code >= 0 else unparsed(_why(text, nothing))

    return lambda texts: [one(text) for text in texts]


def _json(index: LabelIndex) -> Reader:
    def value(text: str) -> Outcome:
        code = index.whole(text)
        return parsed(code, "json") if code >= 0 else unparsed(_why(text, index))

    def one(text: str) -> Outcome:
        document = auto.document_in(text)
        if document is documents.NOT_JSON:
            return unparsed(_why(text, index))
        return documents.answer(document, value, index.whole)

    return lambda texts: [one(text) for text in texts]


def _pattern_parser(spec: str, expression: str, index: LabelIndex) -> Parser:
    compiled = pattern.compile_pattern(expression)

    def read(texts: Sequence[str]) -> list[Outcome]:
        return pattern.search(compiled, texts, index, lambda text: _why(text, index))

    return Parser(spec, _own_digest(expression), False, index.labels, read)


def _function_parser(spec: str, names: tuple[str, ...]) -> Parser:
    user = load_function(spec)
    codes = {name: code for code, name in enumerate(names)}
    return Parser(
        spec,
        function.digest(user, spec),
        False,
        names,
        lambda texts: [function.call(user, text, codes) for text in texts],
    )


def _why(text: str, index: LabelIndex) -> str:
    """Return why a parser that does not read prose finds no label in a text."""
    plain = normalise(text)
    shape = index.shape(plain)
    reading = rules.read(shape)
    return "no_label" if len(reading.codes) == 1 else reasons.reason(plain, shape, reading)


@cache
def _own_digest(extra: str) -> str:
    """Return the SHA-256 of this package's source and version, and of what the user adds to it."""
    sources = [path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py"))]
    return hashlib.sha256(
        b"\0".join([__version__.encode(), *sources, extra.encode("utf-8", "replace")])
    ).hexdigest()
